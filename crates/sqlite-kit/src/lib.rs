//! `SQLite` by a plain driver, in the statements and rows that entities speak.
//!
//! Owns: a connection, how it is opened, what it binds and answers, and what the engine's complaints are called.
//! Refuses: to know what is asked, to begin or commit by itself, and to guess at a type.
//!
//! A connection is used where it is: no thread and no channel stands between a statement and its rows. What the engine
//! itself knows (whether a transaction is open, how many rows were changed) is asked of the engine.

mod copying;
pub mod counted;
mod fault;
mod kept;
mod open;
mod proxied;
mod rows;

pub use fault::Fault;
pub use open::{Access, Opening, beside, file_of};
pub use proxied::{Failure, proxied};
pub use rows::{Kind, kind_of};

use answers::Answer;
use kept::Kept;
use rusqlite::{Statement as Prepared, StatementStatus};
use sea_orm::{ProxyExecResult, Statement, Value};
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// So many steps of the engine lie between two looks at whether anybody still waits.
const STEPS_BETWEEN_LOOKS: i32 = 2_000;

/// Ends the one statement that it is given along with, and no other.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    pub fn now(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether it is the very same.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

#[derive(Debug)]
pub struct Connection {
    inner: rusqlite::Connection,
    /// What may end the statement that runs.
    running: Arc<Mutex<Option<Stop>>>,
    /// How long it waits for another that writes.
    patience: Duration,
    /// What stays prepared.
    kept: RefCell<Kept>,
    /// How many pages the write-ahead log had at its last commit, on whatever thread that was.
    log_pages: Cell<Option<i32>>,
}

thread_local! {
    /// How many pages the log has since the commit that this thread has just made; the connection takes it from here.
    static COMMITTED: Cell<Option<i32>> = const { Cell::new(None) };
}

/// How the log is copied to the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checkpoint {
    /// Beside all who read and write; what they keep from being copied stays.
    Beside,
    /// Nobody writes meanwhile, and who reads from the log is waited for, so long: the next one who writes begins it anew.
    Anew(Duration),
    /// The same, and the log is cut to nothing.
    Cut(Duration),
}

/// What copying the log came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checkpointed {
    /// Whether somebody was in the way.
    pub kept_from: bool,
    /// Pages in the log.
    pub pages: i64,
    /// How many of them are in the file as well.
    pub copied: i64,
}

impl Checkpointed {
    /// Whether all of the log is in the file, and whoever writes next begins it anew, if that was asked for.
    pub fn is_whole(&self) -> bool {
        !self.kept_from && self.pages == self.copied
    }
}

impl Connection {
    /// Every statement of the text, one after the other.
    pub fn batch(&self, sql: &str) -> Result<(), Fault> {
        let done = self.inner.execute_batch(sql).map_err(Fault::from);
        self.hear();
        done
    }

    /// Takes what was told of a commit of this connection, if there was one.
    fn hear(&self) {
        if let Some(pages) = COMMITTED.take() {
            self.log_pages.set(Some(pages));
        }
    }

    pub fn execute(&self, statement: &Statement) -> Result<ProxyExecResult, Fault> {
        let reads = self.prepared_for(statement, |_, prepared| {
            let reads = prepared.readonly();
            let mut rows = prepared.raw_query();
            // A statement may answer rows nobody asked for; it has happened when it has come to its end.
            while rows.next()?.is_some() {}
            drop(rows);
            tell_steps(prepared, &statement.sql, 0);
            Ok(reads)
        })?;
        let changed = if reads { 0 } else { self.inner.changes() };
        let last = u64::try_from(self.inner.last_insert_rowid()).unwrap_or(0);
        Ok(ProxyExecResult::new(last, changed))
    }

    /// Has a statement put in rows.
    pub fn put(&self, sql: &str, values: &[Value]) -> Result<(), Fault> {
        self.using(sql, |prepared| {
            bind(prepared, values)?;
            let mut rows = prepared.raw_query();
            while rows.next()?.is_some() {}
            drop(rows);
            tell_steps(prepared, sql, 0);
            Ok(())
        })
    }

    pub fn query(&self, statement: &Statement) -> Result<Answer, Fault> {
        self.query_some(statement, usize::MAX)
    }

    /// So many rows at most; what is beyond is not read.
    pub fn query_some(&self, statement: &Statement, most: usize) -> Result<Answer, Fault> {
        self.prepared_for(statement, |text, prepared| {
            let shape = self.shape(text, prepared)?;
            let (mut found, mut count) = (shape.answer(), 0);
            let mut rows = prepared.raw_query();
            while count < most
                && let Some(row) = rows.next()?
            {
                shape.read(row, &mut found)?;
                count += 1;
            }
            drop(rows);
            tell_steps(prepared, &statement.sql, count);
            Ok(found)
        })
    }

    /// With the values of the statement bound.
    fn prepared_for<T>(
        &self,
        statement: &Statement,
        work: impl FnOnce(&str, &mut Prepared<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let values = statement.values.as_ref().map(|values| values.0.as_slice());
        if let (Some(sql), Some([values @ .., _])) = (with_its_limit(&statement.sql, values), values) {
            return self.using(&sql, |prepared| {
                bind(prepared, values)?;
                work(&sql, prepared)
            });
        }
        self.using(&statement.sql, |prepared| {
            if let Some(values) = values {
                bind(prepared, values)?;
            }
            work(&statement.sql, prepared)
        })
    }

    /// Begins to read: what is read from here on is of one moment, until that ends.
    pub fn begin_reading(&self) -> Result<(), Fault> {
        self.using("BEGIN", |prepared| Ok(prepared.raw_execute()?))?;
        // The first look at the file fixes what is seen. Its head is enough.
        self.user_version().map(|_| ())
    }

    pub fn end_reading(&self) -> Result<(), Fault> {
        self.using("ROLLBACK", |prepared| Ok(prepared.raw_execute()?)).map(|_| ())
    }

    /// Runs something that ends early, inside the engine, once nobody waits for it any more.
    pub fn until<T>(&self, stop: &Stop, work: impl FnOnce(&Self) -> Result<T, Fault>) -> Result<T, Fault> {
        let running = || self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if stop.is_set() {
            return Err(Fault::given_up());
        }
        *running() = Some(stop.clone());
        let done = work(self);
        *running() = None;
        done
    }

    /// Whether no transaction is open, as the engine itself says.
    pub fn is_autocommit(&self) -> bool {
        self.inner.is_autocommit()
    }

    /// How many rows were ever changed by this connection, as the engine itself counts.
    pub fn changed(&self) -> u64 {
        self.inner.total_changes()
    }

    /// A number that stands in the head of the file and means what its writers want it to.
    pub fn user_version(&self) -> Result<i32, Fault> {
        self.using("PRAGMA user_version", |prepared| Ok(prepared.query_row([], |row| row.get(0))?))
    }

    /// How many pages the log had when this connection last committed; nothing where it has not yet.
    pub fn log_pages(&self) -> Option<i32> {
        self.log_pages.get()
    }

    /// Copies what it can from the log to the file.
    pub fn checkpoint(&self, how: Checkpoint) -> Result<Checkpointed, Fault> {
        let (mode, patience) = match how {
            Checkpoint::Beside => ("PASSIVE", None),
            Checkpoint::Anew(patience) => ("RESTART", Some(patience)),
            Checkpoint::Cut(patience) => ("TRUNCATE", Some(patience)),
        };
        if let Some(patience) = patience {
            self.inner.busy_timeout(patience)?;
        }
        let told = self.inner.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| {
            Ok(Checkpointed { kept_from: row.get::<_, i64>(0)? != 0, pages: row.get(1)?, copied: row.get(2)? })
        });
        if patience.is_some() {
            self.inner.busy_timeout(self.patience)?;
        }
        let told = told?;
        if told.is_whole() {
            self.log_pages.set(Some(0));
        }
        Ok(told)
    }

    /// How often a statement that was prepared had to be prepared anew.
    #[cfg(test)]
    fn prepared_anew(&self, sql: &str) -> i32 {
        self.using(sql, |prepared| Ok(prepared.get_status(StatementStatus::RePrepare))).unwrap_or(-1)
    }

    /// How many steps a statement took since it was last told.
    #[cfg(test)]
    fn steps(&self, sql: &str) -> i32 {
        self.using(sql, |prepared| Ok(prepared.get_status(StatementStatus::VmStep))).unwrap_or(-1)
    }

    /// Lets the connection go. What it had open is rolled back.
    pub fn close(self) -> Result<(), Fault> {
        self.inner.close().map_err(|(_, error)| error.into())
    }
}

/// So many steps of the engine and more are worth a word: most of what was read was not answered.
const LONG: i32 = 1_000_000;

/// Says what a question cost the engine, without the values that it was asked with.
fn tell_steps(prepared: &mut Prepared<'_>, sql: &str, rows: usize) {
    let steps = prepared.reset_status(StatementStatus::VmStep);
    if steps > LONG {
        tracing::debug!(steps, rows, sql, "a question took many steps");
    } else {
        tracing::trace!(steps, rows, sql, "a question was answered");
    }
}

/// How a question ends that is asked for so many rows.
const LIMITED: &str = " LIMIT ?";

/// A question for one row says so itself, as entities ask by: the engine plans by nothing that is bound.
fn with_its_limit(sql: &str, values: Option<&[Value]>) -> Option<String> {
    let question = sql.strip_suffix(LIMITED)?;
    matches!(values?.last(), Some(Value::BigUnsigned(Some(1)))).then(|| format!("{question} LIMIT 1"))
}

fn bind(prepared: &mut Prepared<'_>, values: &[Value]) -> Result<(), Fault> {
    let expected = prepared.parameter_count();
    if expected != values.len() {
        return Err(Fault::ours(format!("a statement wants {expected} values and was given {}", values.len())));
    }
    for (index, value) in values.iter().enumerate() {
        prepared.raw_bind_parameter(index + 1, rows::Bound::of(value))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
