//! A tenant, held by whoever works on it: nobody else does so meanwhile.
//!
//! Where a tenant's books are is more than its row says: databases are closed and opened, files renamed. Whoever does that holds the
//! tenant for as long, and asks before each of it whether they hold it still. What holds it ends with its process or its
//! connection, so nobody has to take it away from anybody.

use postgres_kit::{Fault, Link};
use sea_orm::{DbBackend, DbErr, Statement, Value, Values};
use std::fs::{File, TryLockError};
use std::path::Path;

/// Sets these locks apart from others in a database.
const TENANTS: i64 = 0x6475_6574;

#[derive(Debug)]
pub struct Hold(Kept);

#[derive(Debug)]
enum Kept {
    /// By a file, on the one machine that there is.
    File(#[expect(dead_code, reason = "the lock lasts as long as the file is open")] File),
    /// By a connection.
    Shared(Box<Link>),
}

fn cannot(what: &Path, error: &std::io::Error) -> DbErr {
    Fault::ours(format!("cannot hold {}: {error}", what.display())).into()
}

impl Hold {
    /// Nothing where somebody else holds it.
    pub(crate) fn by_file(folder: &Path, host: &str) -> Result<Option<Self>, DbErr> {
        std::fs::create_dir_all(folder).map_err(|error| cannot(folder, &error))?;
        let place = folder.join(host);
        let file = File::options().create(true).truncate(false).write(true).open(&place);
        let file = file.map_err(|error| cannot(&place, &error))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(Kept::File(file)))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(cannot(&place, &error)),
        }
    }

    /// The same.
    pub(crate) async fn by(link: Link, host: &str) -> Result<Option<Self>, DbErr> {
        let sql = format!("SELECT pg_try_advisory_lock(hashtextextended($1, {TENANTS}))");
        let values = Some(Values(vec![Value::from(host)]));
        let held = link.query(Statement { sql, values, db_backend: DbBackend::Postgres }).await?.column::<bool>()?;
        Ok(held.contains(&true).then(|| Self(Kept::Shared(Box::new(link)))))
    }

    /// That it is held still: asked before anything is done that others could be doing otherwise.
    pub async fn still(&self) -> Result<(), DbErr> {
        match &self.0 {
            Kept::File(_) => Ok(()),
            Kept::Shared(link) => {
                let asked = Statement::from_string(DbBackend::Postgres, "SELECT true");
                link.query(asked).await?;
                Ok(())
            }
        }
    }
}
