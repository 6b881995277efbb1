//! Connections to the books: one writer and many readers on SQLite, one pool on PostgreSQL.
//!
//! Owns: how connections are opened and with which guarantees. Refuses: to run a query; that is `Cx`'s.

pub(crate) mod fault;
pub(crate) mod lane;
pub mod stored;

use migrations::schema;
use sea_orm::{
    AccessMode, ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, IsolationLevel,
    SqlxPostgresConnector, SqlxSqliteConnector, Statement, TransactionOptions, TransactionTrait,
};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// How to reach the database.
#[derive(Debug, Clone)]
pub struct DatabaseOptions {
    /// `sqlite:PATH` or `postgres://...`.
    pub url: String,
    /// Connections to PostgreSQL.
    pub pool_size: u32,
    /// Read-only connections to SQLite.
    pub readers: u32,
    /// How much of its file each connection to SQLite may hold in memory.
    pub page_cache_kib: u32,
}

/// The two ways to the books. On SQLite they differ: `write` is the only connection that may.
#[derive(Debug, Clone)]
pub struct Database {
    pub(crate) read: DatabaseConnection,
    pub(crate) write: DatabaseConnection,
}

/// How long a request waits for a free connection before it is told that the database is away.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);

impl Database {
    pub async fn open(options: &DatabaseOptions) -> Result<Self, DbErr> {
        if let Some(path) = sqlite_path(&options.url) {
            return Self::open_sqlite(path, options).await;
        }
        if options.url.starts_with("postgres://") || options.url.starts_with("postgresql://") {
            return Self::open_postgres(&options.url, options.pool_size).await;
        }
        Err(DbErr::Custom("the database URL must begin with sqlite: or postgres://".into()))
    }

    async fn open_sqlite(path: PathBuf, asked: &DatabaseOptions) -> Result<Self, DbErr> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder)
                .map_err(|error| DbErr::Custom(format!("cannot make the folder {}: {error}", folder.display())))?;
        }
        // FULL: with NORMAL a power cut loses commits that were already answered.
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(Duration::from_secs(10))
            .statement_cache_capacity(256)
            .pragma("cache_size", format!("-{}", asked.page_cache_kib))
            .pragma("temp_store", "MEMORY");
        let writer = SqlitePoolOptions::new()
            .max_connections(1)
            .min_connections(1)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .test_before_acquire(false)
            .idle_timeout(None)
            .max_lifetime(None)
            .connect_with(options.clone())
            .await
            .map_err(connection_error)?;
        let reader = SqlitePoolOptions::new()
            .max_connections(asked.readers.max(1))
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .test_before_acquire(false)
            .connect_lazy_with(options.read_only(true).create_if_missing(false));
        Ok(Self {
            read: SqlxSqliteConnector::from_sqlx_sqlite_pool(reader),
            write: SqlxSqliteConnector::from_sqlx_sqlite_pool(writer),
        })
    }

    async fn open_postgres(url: &str, pool_size: u32) -> Result<Self, DbErr> {
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
        let connection = SqlxPostgresConnector::from_sqlx_postgres_pool(pool);
        Ok(Self { read: connection.clone(), write: connection })
    }

    /// The connection that writes, for what measures how fast that can be.
    pub fn writer(&self) -> DatabaseConnection {
        self.write.clone()
    }

    /// A transaction that sees the books as they are now, whatever is written meanwhile.
    pub(crate) async fn snapshot(&self) -> Result<DatabaseTransaction, DbErr> {
        let mut options =
            TransactionOptions { access_mode: Some(AccessMode::ReadOnly), ..TransactionOptions::default() };
        if self.read.get_database_backend() == DbBackend::Postgres {
            options.isolation_level = Some(IsolationLevel::RepeatableRead);
        } else {
            // A read-only connection begins deferred, and its first read fixes what it sees.
            options.access_mode = None;
        }
        self.read.begin_with_options(options).await
    }

    /// Brings the schema up to date.
    pub async fn migrate(&self) -> Result<(), DbErr> {
        migrations::up(&self.write).await
    }

    /// How many migrations are still to run.
    pub async fn pending_migrations(&self) -> Result<usize, DbErr> {
        migrations::pending(&self.write).await
    }

    /// What SQLite finds wrong with its file. PostgreSQL has no such question; its own tools check it.
    pub(crate) async fn check_file(&self) -> Result<Option<Vec<String>>, DbErr> {
        if self.read.get_database_backend() == DbBackend::Postgres {
            return Ok(None);
        }
        let mut findings = Vec::new();
        for (pragma, column) in [("integrity_check", "integrity_check"), ("foreign_key_check", "table")] {
            let rows =
                self.read.query_all_raw(Statement::from_string(DbBackend::Sqlite, format!("PRAGMA {pragma}"))).await?;
            for row in rows {
                let found: String = row.try_get("", column)?;
                findings.push(format!("{pragma}: {found}"));
            }
        }
        findings.retain(|finding| finding != "integrity_check: ok");
        Ok(Some(findings))
    }

    /// Where the schema is not what the migrations make.
    pub(crate) async fn check_schema(&self) -> Result<Vec<String>, DbErr> {
        let found = schema::parts(&self.read).await?;
        if self.read.get_database_backend() != DbBackend::Postgres {
            return Ok(schema::differences(&schema::expected_on_sqlite().await?, &found));
        }
        // Made beside it, and taken back.
        let transaction = self.write.begin().await?;
        let expected = schema::expected_on_postgres(&transaction).await;
        transaction.rollback().await?;
        Ok(schema::differences(&expected?, &found))
    }

    /// Whether the database answers.
    pub async fn ping(&self) -> Result<(), DbErr> {
        self.read.ping().await
    }

    pub(crate) async fn close(&self) {
        for connection in [&self.read, &self.write] {
            if let Err(error) = connection.clone().close().await {
                tracing::warn!(%error, "a database connection did not close cleanly");
            }
        }
    }
}

/// The file of an SQLite URL, in the spellings people use.
fn sqlite_path(url: &str) -> Option<PathBuf> {
    let rest = url.strip_prefix("sqlite:")?;
    let path = rest.strip_prefix("//").unwrap_or(rest);
    Some(PathBuf::from(path.split('?').next().unwrap_or(path)))
}

fn connection_error(error: sqlx::Error) -> DbErr {
    DbErr::Conn(sea_orm::RuntimeErr::SqlxError(std::sync::Arc::new(error)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sea_orm::{ConnectionTrait, Statement};

    #[test]
    fn sqlite_urls_name_files() {
        for (url, path) in [
            ("sqlite:./data/duet.db", Some("./data/duet.db")),
            ("sqlite:///srv/duet.db?mode=rwc", Some("/srv/duet.db")),
            ("postgres://h/d", None),
        ] {
            assert_eq!(sqlite_path(url), path.map(PathBuf::from), "{url}");
        }
    }

    #[tokio::test]
    async fn sqlite_is_opened_with_all_its_guarantees_and_readers_that_cannot_write() {
        let path = std::env::temp_dir().join(format!("duet-open-{}.db", std::process::id()));
        let url = format!("sqlite:{}", path.display());
        let database =
            Database::open(&DatabaseOptions { url, pool_size: 2, readers: 2, page_cache_kib: 1024 }).await.unwrap();
        database.migrate().await.unwrap();
        assert_eq!(database.pending_migrations().await.unwrap(), 0);
        for (pragma, expected) in [("synchronous", "2"), ("foreign_keys", "1"), ("journal_mode", "wal")] {
            let sql = format!("SELECT CAST({pragma} AS TEXT) AS value FROM pragma_{pragma}");
            let statement = Statement::from_string(DbBackend::Sqlite, sql);
            let row = database.write.query_one_raw(statement).await.unwrap().unwrap();
            assert_eq!(row.try_get::<String>("", "value").unwrap(), expected, "{pragma}");
        }
        assert!(database.read.execute_unprepared("DELETE FROM users").await.is_err());
        database.close().await;
        for suffix in ["", "-wal", "-shm"] {
            let _gone = std::fs::remove_file(format!("{}{suffix}", path.display()));
        }
    }
}
