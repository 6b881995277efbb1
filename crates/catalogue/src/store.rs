//! What keeps the catalogue: a file, or a database that many share.

use crate::Hold;
use answers::Answer;
use postgres_kit::{Link, Patience, Server, Target};
use sea_orm::{DbBackend, DbErr, Statement, Value, Values};
use sqlite_kit::{Access, Connection, Opening};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// What is kept, in the order in which it came to be. What was released is never changed.
const STEPS: [&str; 1] = ["CREATE TABLE tenants (host text NOT NULL PRIMARY KEY, place text NOT NULL, secrets text, \
     state text NOT NULL, turn bigint NOT NULL, version text NOT NULL); \
     CREATE TABLE taken (tenant text NOT NULL, caller text NOT NULL, began bigint NOT NULL, count bigint NOT NULL, \
     PRIMARY KEY (tenant, caller)); \
     CREATE TABLE about (one bigint NOT NULL PRIMARY KEY, mark text NOT NULL)"];
/// Servers that begin at once make it one after the other.
const LOCK: i64 = 0x0064_7565_7463_6174;
/// Connections of one server: its callers come one by one, and ask for a row by its key.
const POOL: usize = 6;
const CACHE_KIB: u32 = 512;
const STATEMENTS: usize = 32;
const BUSY: Duration = Duration::from_secs(5);
const MOST_ROWS: usize = 1_000_000;

#[derive(Debug)]
pub(crate) enum Store {
    File { path: PathBuf, connection: Box<Mutex<Option<Connection>>> },
    Shared(Box<Server>),
}

/// A statement as the engine writes its places.
fn statement(backend: DbBackend, sql: &str, values: Vec<Value>) -> Statement {
    let sql = if backend == DbBackend::Postgres { sql.replace('?', "$") } else { sql.to_owned() };
    Statement { sql, values: Some(Values(values)), db_backend: backend }
}

fn made_by_newer(steps: usize) -> DbErr {
    DbErr::Custom(format!(
        "the catalogue of tenants was made by a newer duet: it has {steps} steps, and this one knows {}",
        STEPS.len()
    ))
}

impl Store {
    pub(crate) async fn open(url: &str, patience: Patience) -> Result<Self, DbErr> {
        if let Some(path) = sqlite_kit::file_of(url) {
            let connection = opened(&path)?;
            make_file(&connection)?;
            return Ok(Self::File { path, connection: Box::new(Mutex::new(Some(connection))) });
        }
        let target = Target::of(url, patience)?;
        let link = Link::open(&target, patience.statement).await?;
        let made = make_shared(&link).await;
        link.close().await;
        made?;
        Ok(Self::Shared(Box::new(Server::open(target, POOL).await?)))
    }

    pub(crate) const fn is_shared(&self) -> bool {
        matches!(self, Self::Shared(_))
    }

    pub(crate) fn target(&self) -> Option<&Target> {
        match self {
            Self::File { .. } => None,
            Self::Shared(server) => Some(server.target()),
        }
    }

    /// Asks without changing anything.
    pub(crate) async fn ask(&self, sql: &str, values: Vec<Value>) -> Result<Answer, DbErr> {
        match self {
            Self::File { path, connection } => of_file(path, connection, sql, values),
            Self::Shared(server) => {
                Ok(server.reads.query_some(statement(DbBackend::Postgres, sql, values), MOST_ROWS).await?)
            }
        }
    }

    /// Changes something by one statement, and answers what it returns.
    pub(crate) async fn write(&self, sql: &str, values: Vec<Value>) -> Result<Answer, DbErr> {
        match self {
            Self::File { path, connection } => of_file(path, connection, sql, values),
            Self::Shared(server) => {
                Ok(server.writes.query_some(statement(DbBackend::Postgres, sql, values), MOST_ROWS).await?)
            }
        }
    }

    pub(crate) async fn hold(&self, host: &str) -> Result<Option<Hold>, DbErr> {
        match self {
            Self::File { path, .. } => Hold::by_file(&path.with_extension("held"), host),
            Self::Shared(server) => Hold::by(Link::open(server.target(), BUSY).await?, host).await,
        }
    }

    pub(crate) async fn close(&self) {
        match self {
            Self::File { connection, .. } => {
                drop(connection.lock().unwrap_or_else(PoisonError::into_inner).take());
            }
            Self::Shared(server) => server.close().await,
        }
    }
}

fn opened(path: &std::path::Path) -> Result<Connection, DbErr> {
    let path = path.to_owned();
    let access = Access::Create;
    let opening = Opening { path, access, cache_kib: CACHE_KIB, statements: STATEMENTS, patience: BUSY };
    Ok(Connection::open(&opening)?)
}

/// One statement at a time; a connection that failed is opened anew.
fn of_file(
    path: &std::path::Path,
    connection: &Mutex<Option<Connection>>,
    sql: &str,
    values: Vec<Value>,
) -> Result<Answer, DbErr> {
    let mut held = connection.lock().unwrap_or_else(PoisonError::into_inner);
    let own = match held.take() {
        Some(own) => own,
        None => opened(path)?,
    };
    let answer = own.query(&statement(DbBackend::Sqlite, sql, values));
    if answer.as_ref().err().is_none_or(|fault| !fault.spoils_connection()) {
        *held = Some(own);
    }
    Ok(answer?)
}

fn make_file(connection: &Connection) -> Result<(), DbErr> {
    connection.batch("BEGIN IMMEDIATE")?;
    let made = (|| {
        let known = usize::try_from(connection.user_version()?).unwrap_or_default();
        if known > STEPS.len() {
            return Err(made_by_newer(known));
        }
        for step in &STEPS[known..] {
            connection.batch(step)?;
        }
        connection.batch(&format!("PRAGMA user_version = {}", STEPS.len()))?;
        Ok(())
    })();
    match made {
        Ok(()) => Ok(connection.batch("COMMIT")?),
        Err(error) => {
            connection.batch("ROLLBACK")?;
            Err(error)
        }
    }
}

async fn make_shared(link: &Link) -> Result<(), DbErr> {
    link.batch("BEGIN").await?;
    link.batch(format!("SELECT pg_advisory_xact_lock({LOCK})")).await?;
    link.batch("CREATE TABLE IF NOT EXISTS catalogue_steps (step bigint NOT NULL PRIMARY KEY)").await?;
    let asked = statement(DbBackend::Postgres, "SELECT count(*) FROM catalogue_steps", Vec::new());
    let known = link.query(asked).await?.column::<i64>()?.pop().unwrap_or_default();
    let known = usize::try_from(known).unwrap_or_default();
    if known > STEPS.len() {
        return Err(made_by_newer(known));
    }
    for (step, sql) in STEPS.iter().enumerate().skip(known) {
        link.batch(*sql).await?;
        link.batch(format!("INSERT INTO catalogue_steps (step) VALUES ({step})")).await?;
    }
    link.batch("COMMIT").await?;
    Ok(())
}
