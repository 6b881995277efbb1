//! SQLite: one connection that writes, on the thread of its lane, and a few threads that read.
//!
//! Owns: the files, who may use them, and how the memory for their pages is shared out.

mod claim;
mod log;
mod readers;
mod turnstile;
mod writer;

pub use claim::copies;
pub use readers::{Reads, Snapshot};
pub use writer::{Transaction, Writer};

use super::standing::Standing;
use super::{DatabaseOptions, Purpose};
use claim::Claim;
use log::Log;
use migrations::Sign;
use migrations::schema::{self, Parts};
use readers::{Manner, Readers};
use sea_orm::{ConnectionTrait, DbBackend, DbErr, Statement};
use sqlite_kit::{Access, Checkpoint, Connection, Fault, Opening};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long a writer waits for another process that writes.
const PATIENCE: Duration = Duration::from_secs(10);
/// As many statements as a connection keeps prepared.
const STATEMENTS: usize = 256;
/// No connection works with less.
const LEAST_CACHE_KIB: u32 = 256;
/// What the engine needs beside the pages of its files.
const BESIDE_PAGES_KIB: u64 = 32 << 10;

/// How the process is ended.
type Ending = fn(&str) -> !;

/// What all databases of this process may hold in memory.
static MEMORY_KIB: Mutex<u64> = Mutex::new(0);

#[derive(Debug)]
pub struct Engine {
    writing: Opening,
    purpose: Purpose,
    readers: Arc<Readers>,
    quiet: Arc<Readers>,
    door: Arc<Readers>,
    /// The connection that the file was opened with; the first writer takes it.
    first: Mutex<Option<Connection>>,
    budget_kib: u64,
    /// Given up when the database is closed, or by the kernel when the process ends.
    claim: Mutex<Option<Claim>>,
    log: Arc<Log>,
    standing: Arc<Standing>,
    /// The files that are served, and which they were when they were opened.
    places: Vec<(PathBuf, claim::Which)>,
}

impl Engine {
    pub fn open(path: PathBuf, asked: &DatabaseOptions, standing: Arc<Standing>) -> Result<Self, DbErr> {
        let reads_only = asked.purpose == Purpose::Reading;
        if reads_only && !path.exists() {
            return Err(DbErr::Custom(format!("there is no database at {}", path.display())));
        }
        if !reads_only {
            make_folder(&path)?;
            claim::narrow(&path)?;
        }
        // One file is one file, by whatever links it is reached.
        let path = path.canonicalize().unwrap_or(path);
        let claim = match asked.purpose {
            Purpose::Serving => Some(Claim::on(&path)?),
            Purpose::Writing | Purpose::Reading => None,
        };
        let readers = asked.readers.max(1);
        // Where nobody writes, those who read have all of it.
        let half = if reads_only { asked.page_cache_kib } else { asked.page_cache_kib / 2 };
        // The door asks for a few rows by key, and shares with the readers.
        let share = (half / (readers + 1)).max(LEAST_CACHE_KIB);
        let opening = |access, cache_kib| Opening {
            path: path.clone(),
            access,
            cache_kib,
            statements: STATEMENTS,
            patience: PATIENCE,
        };
        let writing = opening(Access::Write, half.max(LEAST_CACHE_KIB));
        let first = if reads_only {
            None
        } else {
            Some(Connection::open(&Opening { access: Access::Create, ..writing.clone() })?)
        };
        let budget_kib = u64::from(asked.page_cache_kib);
        let reading = |named, most| Readers::of(named, most, opening(Access::Read, share), standing.clone());
        let many = readers as usize;
        let (readers, door) = (reading(("reader", Manner::Alike), many), reading(("door", Manner::Alike), 1));
        let quiet = reading(("quiet reader", Manner::GiveWay), many);
        let all = [readers.clone(), quiet.clone(), door.clone()];
        let log = Log::of(opening(Access::Write, LEAST_CACHE_KIB), asked.log_budget, all, end_process);
        let mut engine = Self {
            purpose: asked.purpose,
            readers,
            quiet,
            door,
            first: Mutex::new(None),
            writing,
            log,
            standing,
            budget_kib,
            claim: Mutex::new(claim),
            places: Vec::new(),
        };
        if let Some(first) = first {
            share_memory(&first, |all| all + budget_kib)?;
            if asked.purpose == Purpose::Serving {
                // A log that somebody left may be in memory alone, after a sync that failed: all of it goes to the disk
                // before anything new is chained behind it.
                first.batch("PRAGMA wal_checkpoint(TRUNCATE)")?;
            }
            *engine.first() = Some(first);
        }
        if asked.purpose == Purpose::Serving {
            let path = &engine.writing.path;
            // A file that was made just now may have been reached by another name before.
            let path = path.canonicalize().unwrap_or_else(|_| path.clone());
            engine.places = [sqlite_kit::beside(&path, "-server"), path]
                .into_iter()
                .filter_map(|path| claim::which(&path).map(|which| (path, which)))
                .collect();
        }
        Ok(engine)
    }

    fn first(&self) -> std::sync::MutexGuard<'_, Option<Connection>> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn reads(&self) -> Reads {
        Reads::from(&self.readers)
    }

    /// What is dear, read by threads that give way.
    pub fn quiet(&self) -> Reads {
        Reads::from(&self.quiet)
    }

    pub fn door(&self) -> Reads {
        Reads::from(&self.door)
    }

    pub fn writer(self: Arc<Self>) -> Writer {
        Writer::of(self)
    }

    /// A connection that writes.
    fn connect(&self) -> Result<Connection, Fault> {
        if self.purpose == Purpose::Reading {
            return Err(Fault::ours("the database was opened for reading only"));
        }
        if let Some(first) = self.first().take() {
            return Ok(first);
        }
        Connection::open(&self.writing)
    }

    /// A file that is served and is not where it was opened any more: what is written to it, nobody finds.
    fn moved(&self) -> Option<&Path> {
        let moved = self.places.iter().find(|(path, which)| claim::which(path) != Some(*which));
        moved.map(|(path, _)| path.as_path())
    }

    /// A connection that sees what others commit.
    fn witness(&self) -> Result<Connection, Fault> {
        let opening = Opening { access: Access::Read, cache_kib: LEAST_CACHE_KIB, ..self.writing.clone() };
        Connection::open(&opening)
    }

    pub async fn migrate(&self, sign: Sign<'_>) -> Result<i64, DbErr> {
        if migrations::pending(&self.reads()).await? == 0 {
            return Ok(0);
        }
        // One process after the other; whoever waited looks again.
        let _turn = claim::turn(&self.writing.path).await?;
        let (database, failure) = sqlite_kit::proxied(&self.writing).await?;
        let done = migrations::up(&database, sign).await;
        // What could not be told at its time comes first: the rest only follows from it.
        failure.told()?;
        done
    }

    /// What the migrations make, made in memory.
    pub async fn expected_schema(&self) -> Result<Parts, DbErr> {
        let memory = Opening { path: ":memory:".into(), access: Access::Write, ..self.writing.clone() };
        let (empty, failure) = sqlite_kit::proxied(&memory).await?;
        let expected = schema::expected_on_sqlite(&empty).await;
        failure.told()?;
        expected
    }

    /// Waits until the log is not being copied. How many pages were copied beside the lane, and how many by it.
    #[cfg(test)]
    pub fn settle_log(&self) -> (i64, i64) {
        self.log.settled()
    }

    pub async fn close(&self) {
        self.log.close().await;
        self.readers.close().await;
        self.quiet.close().await;
        self.door.close().await;
        // The last connection that may write takes the log into the file.
        let last = self.first().take();
        if self.purpose == Purpose::Reading {
            return;
        }
        let closed = last.map_or_else(|| Connection::open(&self.writing), Ok).and_then(|last| {
            share_memory(&last, |all| all.saturating_sub(self.budget_kib))?;
            last.close()
        });
        if let Err(error) = closed {
            tracing::warn!(%error, "the database did not close cleanly");
        }
        *self.claim.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Waits until no process serves a file, so long; whether none does, is answered.
pub async fn let_go(path: &Path, patience: Duration) -> Result<bool, DbErr> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    claim::let_go(&path, patience).await
}

/// Copies a file that others may write, to another that is not there yet. It takes as long as it takes; how far it has got,
/// in pages of so many, is told.
pub fn copy(path: &Path, to: &Path, told: &mut dyn FnMut(u64, u64)) -> Result<(), DbErr> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let _copied = copies(&path)?;
    let access = Access::Read;
    let opening = Opening { path, access, cache_kib: LEAST_CACHE_KIB, statements: STATEMENTS, patience: PATIENCE };
    let connection = Connection::open(&opening)?;
    Ok(connection.copy(to, told)?)
}

/// Takes into a file what its log has; then nothing is beside it.
pub fn settle(path: &Path) -> Result<(), DbErr> {
    let access = Access::Write;
    let path = path.to_owned();
    let opening = Opening { path, access, cache_kib: LEAST_CACHE_KIB, statements: STATEMENTS, patience: PATIENCE };
    let connection = Connection::open(&opening)?;
    connection.checkpoint(Checkpoint::Cut(PATIENCE))?;
    Ok(connection.close()?)
}

/// A copy of a file is that one file, and nothing beside it; its records are counted on by moments.
pub async fn stand_alone(path: &Path) -> Result<(), DbErr> {
    let access = Access::Write;
    let path = path.to_owned();
    let opening = Opening { path, access, cache_kib: LEAST_CACHE_KIB, statements: STATEMENTS, patience: PATIENCE };
    let (database, failure) = sqlite_kit::proxied(&opening).await?;
    // Books of an older release may not know how they are counted.
    let counts = migrations::has_table(&database, "running_time").await?;
    let moved = if counts { crate::running::move_on(&database, None).await } else { Ok(()) };
    let settled = database.execute_unprepared("PRAGMA journal_mode = DELETE").await;
    failure.told()?;
    moved.map_err(|error| DbErr::Custom(format!("{error:?}")))?;
    settled?;
    database.close().await
}

/// Changes what all databases of this process may hold, and tells the engine.
fn share_memory(connection: &Connection, change: impl FnOnce(u64) -> u64) -> Result<(), Fault> {
    let mut all = MEMORY_KIB.lock().unwrap_or_else(PoisonError::into_inner);
    *all = change(*all);
    connection.bound_memory((*all + BESIDE_PAGES_KIB) << 10)
}

/// A write beyond the size that a file may have is to be an error like any other, and not a signal that ends the process.
pub(super) fn outlive_limits() -> Result<(), DbErr> {
    const XFSZ: i32 = 25;
    static TAKEN: std::sync::Once = std::sync::Once::new();
    let mut taken = Ok(());
    // Once there is somebody for it, the signal has lost its own effect for good.
    TAKEN.call_once(|| {
        let signal = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::from_raw(XFSZ));
        taken = signal.map(drop).map_err(|error| DbErr::Custom(format!("no handler for SIGXFSZ: {error}")));
    });
    taken
}

fn make_folder(path: &Path) -> Result<(), DbErr> {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else { return Ok(()) };
    std::fs::create_dir_all(folder)
        .map_err(|error| DbErr::Custom(format!("cannot make the folder {}: {error}", folder.display())))
}

/// What the engine finds wrong with its file.
pub async fn check_file(reads: &impl ConnectionTrait) -> Result<Vec<String>, DbErr> {
    let mut findings = Vec::new();
    for (pragma, column) in [("integrity_check", "integrity_check"), ("foreign_key_check", "table")] {
        let rows = reads.query_all_raw(Statement::from_string(DbBackend::Sqlite, format!("PRAGMA {pragma}"))).await?;
        for row in rows {
            let found: String = row.try_get("", column)?;
            findings.push(format!("{pragma}: {found}"));
        }
    }
    findings.retain(|finding| finding != "integrity_check: ok");
    Ok(findings)
}

/// Ends the process: what is acknowledged from here on could be lost.
pub fn end_process(why: &str) -> ! {
    supervise::end_process(why, "Nothing that was acknowledged is lost; look at the disk, then start duet again.")
}
