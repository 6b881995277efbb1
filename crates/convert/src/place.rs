//! A database, by one connection of this crate's own.

use postgres_kit::{Patience, Target};
use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, DbErr, Statement};
use sqlite_kit::{Access, Opening};
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Nobody else waits for what is done here.
const PATIENCE: Duration = Duration::from_hours(24);
const CONNECTING: Duration = Duration::from_secs(10);
const CACHE_KIB: u32 = 64 << 10;
const STATEMENTS: usize = 256;

enum Failure {
    Sqlite(sqlite_kit::Failure),
    Postgres(postgres_kit::Failure),
}

/// A database that is read or written.
pub struct Place {
    database: DatabaseConnection,
    failure: Failure,
    is_snapshot: bool,
}

fn opening(path: PathBuf, access: Access) -> Opening {
    Opening { path, access, cache_kib: CACHE_KIB, statements: STATEMENTS, patience: CONNECTING }
}

impl Place {
    async fn open(url: &str, access: Access) -> Result<Self, DbErr> {
        if let Some(path) = sqlite_kit::file_of(url) {
            if access != Access::Create && !path.exists() {
                return Err(DbErr::Custom(format!("there is no database at {}", path.display())));
            }
            let (database, failure) = sqlite_kit::proxied(&opening(path, access)).await?;
            return Ok(Self { database, failure: Failure::Sqlite(failure), is_snapshot: false });
        }
        if postgres_kit::is_postgres(url) {
            let patience = Patience { connect: CONNECTING, statement: PATIENCE, writer: PATIENCE };
            let target = Target::of(url, patience)?;
            let target = if access == Access::Read { target.of_reader() } else { target };
            let (database, failure) = postgres_kit::proxied(&target, PATIENCE).await?;
            migrations::without_hurry(&database).await?;
            return Ok(Self { database, failure: Failure::Postgres(failure), is_snapshot: false });
        }
        Err(DbErr::Custom("an address begins with sqlite: or postgres://".into()))
    }

    /// A database that is only read, as it stands now: whatever is written meanwhile is not seen, and nothing can be.
    pub async fn reading(url: &str) -> Result<Self, DbErr> {
        let place = Self::open(url, Access::Read).await?;
        let begin = match place.engine() {
            DbBackend::Postgres => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            _ => "BEGIN",
        };
        place.database.execute_unprepared(begin).await?;
        Ok(Self { is_snapshot: true, ..place })
    }

    /// A database that is written, and made where there is none.
    pub async fn writing(url: &str) -> Result<Self, DbErr> {
        let file = sqlite_kit::file_of(url);
        if let Some(folder) = file.as_deref().and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty()) {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
            made.map_err(|error| DbErr::Custom(format!("cannot make the folder {}: {error}", folder.display())))?;
        }
        Self::open(url, Access::Create).await
    }

    /// A file that is gone as soon as it was used: nothing of it need outlive a power cut.
    pub async fn scratch(path: &Path) -> Result<Self, DbErr> {
        let (database, failure) = sqlite_kit::proxied(&opening(path.to_owned(), Access::Create)).await?;
        database.execute_unprepared("PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF").await?;
        Ok(Self { database, failure: Failure::Sqlite(failure), is_snapshot: false })
    }

    pub fn database(&self) -> &DatabaseConnection {
        &self.database
    }

    pub fn engine(&self) -> DbBackend {
        self.database.get_database_backend()
    }

    /// Ends with it, and says what could not be told at its time.
    pub async fn close(self) -> Result<(), DbErr> {
        if self.is_snapshot {
            self.database.execute_unprepared("ROLLBACK").await?;
        }
        let told = match &self.failure {
            Failure::Sqlite(failure) => failure.told(),
            Failure::Postgres(failure) => failure.told(),
        };
        self.database.close().await?;
        told
    }

    /// The tables that there are.
    pub async fn tables(&self) -> Result<Vec<String>, DbErr> {
        self.texts(match self.engine() {
            DbBackend::Postgres => {
                "SELECT c.relname::text AS text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
                 WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') ORDER BY 1"
            }
            _ => "SELECT name AS text FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
                  ORDER BY name",
        })
        .await
    }

    /// The columns of a table, in order.
    pub async fn columns(&self, table: &str) -> Result<Vec<String>, DbErr> {
        self.texts(&match self.engine() {
            DbBackend::Postgres => format!(
                "SELECT a.attname::text AS text FROM pg_attribute a WHERE a.attrelid = '\"{table}\"'::regclass \
                 AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"
            ),
            _ => format!("SELECT name AS text FROM pragma_table_info('{table}') ORDER BY cid"),
        })
        .await
    }

    /// The key of a table, in order.
    pub async fn key(&self, table: &str) -> Result<Vec<String>, DbErr> {
        self.texts(&match self.engine() {
            DbBackend::Postgres => format!(
                "SELECT a.attname::text AS text FROM pg_index i \
                 JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey) \
                 WHERE i.indrelid = '\"{table}\"'::regclass AND i.indisprimary \
                 ORDER BY array_position(i.indkey::int2[], a.attnum)"
            ),
            _ => format!("SELECT name AS text FROM pragma_table_info('{table}') WHERE pk > 0 ORDER BY pk"),
        })
        .await
    }

    /// How many rows a table has.
    pub async fn count(&self, table: &str) -> Result<i64, DbErr> {
        let asked = Statement::from_string(self.engine(), format!("SELECT COUNT(*) AS count FROM \"{table}\""));
        let row = self.database.query_one_raw(asked).await?;
        row.ok_or_else(|| DbErr::Custom(format!("nobody says how many rows {table} has")))?.try_get("", "count")
    }

    /// The statements that take off what guards rows: triggers, and what rows of other tables must be there.
    pub(crate) async fn unguarding(&self) -> Result<Vec<String>, DbErr> {
        self.texts(match self.engine() {
            DbBackend::Postgres => {
                "SELECT 'DROP TRIGGER ' || g.tgname || ' ON ' || c.relname AS text \
                 FROM pg_trigger g JOIN pg_class c ON c.oid = g.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace \
                 WHERE n.nspname = current_schema() AND NOT g.tgisinternal \
                 UNION ALL SELECT 'ALTER TABLE ' || c.relname || ' DROP CONSTRAINT ' || f.conname \
                 FROM pg_constraint f JOIN pg_class c ON c.oid = f.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace \
                 WHERE n.nspname = current_schema() AND f.contype = 'f'"
            }
            _ => "SELECT 'DROP TRIGGER ' || name AS text FROM sqlite_schema WHERE type = 'trigger'",
        })
        .await
    }

    pub(crate) async fn texts(&self, sql: &str) -> Result<Vec<String>, DbErr> {
        let rows = self.database.query_all_raw(Statement::from_string(self.engine(), sql)).await?;
        rows.iter().map(|row| row.try_get("", "text")).collect()
    }

    pub(crate) async fn run(&self, sql: &str) -> Result<(), DbErr> {
        self.database.execute_unprepared(sql).await.map(drop)
    }
}
