//! PostgreSQL: one pool of connections for reading and writing.

use super::Committing;
use crate::error::{Error, Unavailable};
use migrations::schema::{self, Parts};
use sea_orm::{
    AccessMode, ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, ExecResult, IsolationLevel,
    QueryResult, SqlxPostgresConnector, Statement, TransactionOptions, TransactionTrait,
};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use std::future::Future;
use std::str::FromStr;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// How long a request waits for a free connection before it is told that the database is away.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Debug, Clone)]
pub(crate) struct Engine(DatabaseConnection);

/// Questions outside a transaction.
#[derive(Debug, Clone)]
pub(crate) struct Reads {
    pool: DatabaseConnection,
    until: Option<Instant>,
}

/// A transaction, or a snapshot.
#[derive(Debug)]
pub struct Session {
    transaction: DatabaseTransaction,
    until: Option<Instant>,
}

#[derive(Debug)]
pub struct Writer(DatabaseConnection);

impl Engine {
    pub(crate) async fn open(url: &str, pool_size: u32) -> Result<Self, DbErr> {
        // Deadlines live in the database: a dropped future must never be what ends a statement.
        let options = PgConnectOptions::from_str(url).map_err(connection_error)?.application_name("duet").options([
            ("client_min_messages", "error"),
            ("lock_timeout", "10s"),
            ("statement_timeout", "60s"),
            ("idle_in_transaction_session_timeout", "60s"),
        ]);
        let pool = PgPoolOptions::new()
            .max_connections(pool_size.max(2))
            .acquire_timeout(ACQUIRE_TIMEOUT)
            // A cancelled BEGIN can leave the session inside a transaction the driver does not know of; the
            // next write on it would be acknowledged and lost. Nothing leaves the pool in that state.
            .after_release(|connection, _| {
                Box::pin(async move {
                    sqlx::Executor::execute(&mut *connection, "ROLLBACK").await?;
                    Ok(true)
                })
            })
            .connect_with(options)
            .await
            .map_err(connection_error)?;
        Ok(Self(SqlxPostgresConnector::from_sqlx_postgres_pool(pool)))
    }

    pub(crate) fn reads(&self) -> Reads {
        Reads { pool: self.0.clone(), until: None }
    }

    pub(crate) fn door(&self) -> Reads {
        self.reads()
    }

    pub(crate) fn writer(&self) -> Writer {
        Writer(self.0.clone())
    }

    pub(crate) async fn migrate(&self) -> Result<(), DbErr> {
        migrations::up(&self.0).await
    }

    /// What the migrations make, made beside what is there and taken back.
    pub(crate) async fn expected_schema(&self) -> Result<Parts, DbErr> {
        let transaction = self.0.begin().await?;
        let expected = schema::expected_on_postgres(&transaction).await;
        transaction.rollback().await?;
        expected
    }

    pub(crate) async fn close(&self) {
        if let Err(error) = self.0.clone().close().await {
            tracing::warn!(%error, "the database connections did not close cleanly");
        }
    }
}

fn connection_error(error: sqlx::Error) -> DbErr {
    DbErr::Conn(sea_orm::RuntimeErr::SqlxError(std::sync::Arc::new(error)))
}

/// Waits until then at most.
async fn by<T>(until: Option<Instant>, work: impl Future<Output = Result<T, DbErr>>) -> Result<T, DbErr> {
    match until {
        Some(end) => timeout_at(end, work).await.unwrap_or_else(|_| Err(sqlite_kit::Fault::given_up().into())),
        None => work.await,
    }
}

impl Reads {
    pub(crate) fn until(&self, end: Instant) -> Self {
        Self { pool: self.pool.clone(), until: Some(end) }
    }

    pub(crate) async fn snapshot(&self) -> Result<Session, DbErr> {
        let options = TransactionOptions {
            access_mode: Some(AccessMode::ReadOnly),
            isolation_level: Some(IsolationLevel::RepeatableRead),
            ..TransactionOptions::default()
        };
        let transaction = by(self.until, self.pool.begin_with_options(options)).await?;
        Ok(Session { transaction, until: self.until })
    }
}

impl Session {
    pub(crate) async fn end(self) -> Result<(), DbErr> {
        self.transaction.rollback().await
    }
}

impl Writer {
    pub(crate) async fn begin(&self) -> Result<Session, DbErr> {
        Ok(Session { transaction: self.0.begin().await?, until: None })
    }

    pub(crate) async fn commit(&self, session: Session) -> Committing {
        let Err(error) = session.transaction.commit().await else { return Committing::Committed };
        match Error::from(error.clone()) {
            // The engine refused the commit and says so: nothing was written.
            Error::Unavailable(Unavailable::Overloaded | Unavailable::StorageFull) => Committing::Refused(error),
            _ => Committing::Unknown(error),
        }
    }

    pub(crate) async fn roll_back(&self, session: Session) -> Result<(), DbErr> {
        session.transaction.rollback().await
    }
}

/// Statements of both go to sea-orm's own connections.
macro_rules! passes_on {
    ($type:ty, $inner:ident) => {
        #[async_trait::async_trait]
        impl ConnectionTrait for $type {
            fn get_database_backend(&self) -> DbBackend {
                DbBackend::Postgres
            }

            async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
                by(self.until, self.$inner.execute_raw(statement)).await
            }

            async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
                by(self.until, self.$inner.execute_unprepared(sql)).await
            }

            async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
                by(self.until, self.$inner.query_one_raw(statement)).await
            }

            async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
                by(self.until, self.$inner.query_all_raw(statement)).await
            }
        }
    };
}

passes_on!(Reads, pool);
passes_on!(Session, transaction);
