//! A connection for what can only speak to a whole database of sea-orm: the migrations, and tests.
//!
//! Whoever speaks through it cannot be told that BEGIN or COMMIT failed. So the first failure is kept, nothing more is
//! done after it, and whoever opened the connection asks for it at the end.

use crate::fault::Fault;
use crate::{Connection, Opening};
use sea_orm::{
    Database, DatabaseConnection, DbBackend, DbErr, ProxyDatabaseTrait, ProxyExecResult, ProxyRow, Statement,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Debug, Clone)]
struct Proxied(Arc<Mutex<Inner>>);

#[derive(Debug)]
struct Inner {
    connection: Connection,
    failure: Option<Fault>,
}

/// What went wrong where nobody could be told.
#[derive(Debug)]
pub struct Failure(Proxied);

impl Failure {
    /// Says what failed, and whether something was left half done.
    pub fn told(&self) -> Result<(), DbErr> {
        let inner = self.0.inner();
        if let Some(fault) = &inner.failure {
            return Err(fault.clone().into());
        }
        if !inner.connection.is_autocommit() {
            return Err(Fault::ours("a transaction was begun and never ended").into());
        }
        Ok(())
    }
}

/// Opens a file for what speaks to a whole database.
pub async fn proxied(opening: &Opening) -> Result<(DatabaseConnection, Failure), DbErr> {
    let connection = Connection::open(opening)?;
    let proxied = Proxied(Arc::new(Mutex::new(Inner { connection, failure: None })));
    let database = Database::connect_proxy(DbBackend::Sqlite, Arc::new(Box::new(proxied.clone()))).await?;
    Ok((database, Failure(proxied)))
}

impl Proxied {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T, DbErr> {
        let mut inner = self.inner();
        if let Some(fault) = &inner.failure {
            return Err(fault.clone().into());
        }
        let within = !inner.connection.is_autocommit();
        let done = work(&inner.connection);
        if let Err(fault) = &done
            && (fault.spoils_connection() || within && inner.connection.is_autocommit())
        {
            inner.failure = Some(fault.clone());
        }
        Ok(done?)
    }

    /// What has no way to tell of its failure.
    fn told_later(&self, sql: &str) {
        let mut inner = self.inner();
        if inner.failure.is_none() {
            inner.failure = inner.connection.batch(sql).err();
        }
    }
}

#[async_trait::async_trait]
impl ProxyDatabaseTrait for Proxied {
    async fn query(&self, statement: Statement) -> Result<Vec<ProxyRow>, DbErr> {
        self.run(|connection| connection.query(&statement))?.into_rows()
    }

    async fn execute(&self, statement: Statement) -> Result<ProxyExecResult, DbErr> {
        // What comes without values may be several statements.
        if statement.values.is_none() {
            return self.run(|connection| connection.batch(&statement.sql)).map(|()| ProxyExecResult::default());
        }
        self.run(|connection| connection.execute(&statement))
    }

    async fn begin(&self) {
        self.told_later("BEGIN IMMEDIATE");
    }

    async fn commit(&self) {
        self.told_later("COMMIT");
    }

    async fn rollback(&self) {
        // The engine may have done so by itself.
        if !self.inner().connection.is_autocommit() {
            self.told_later("ROLLBACK");
        }
    }

    fn start_rollback(&self) {
        if !self.inner().connection.is_autocommit() {
            self.told_later("ROLLBACK");
        }
    }

    async fn ping(&self) -> Result<(), DbErr> {
        self.run(|connection| connection.batch("SELECT 1"))
    }
}
