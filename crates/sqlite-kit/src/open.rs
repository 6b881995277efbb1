//! How a file is opened, with which guarantees, and who may read it.

use crate::fault::Fault;
use crate::kept::Kept;
use crate::{COMMITTED, Connection};
use rusqlite::OpenFlags;
use rusqlite::config::DbConfig;
use std::cell::{Cell, RefCell};
use std::ffi::OsString;
use std::fs::{OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Between two looks at what another holds.
const PAUSE: Duration = Duration::from_millis(1);

/// What a connection may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Makes the file where there is none.
    Create,
    Write,
    Read,
}

/// How a file is opened.
#[derive(Debug, Clone)]
pub struct Opening {
    pub path: PathBuf,
    pub access: Access,
    /// How much this connection may hold in memory: pages of the file, and a quarter of it in statements.
    pub cache_kib: u32,
    /// How many statements it keeps prepared at most.
    pub statements: usize,
    /// How long it waits for another that writes.
    pub patience: Duration,
}

/// The file of an `SQLite` URL, in the spellings people use.
pub fn file_of(url: &str) -> Option<PathBuf> {
    let rest = url.strip_prefix("sqlite:")?;
    let path = rest.strip_prefix("//").unwrap_or(rest);
    Some(PathBuf::from(path.split('?').next().unwrap_or(path)))
}

/// A file that stands beside the database.
pub fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// So many bytes of the log stay when it is begun anew.
const LOG_KEPT: i64 = 16 << 20;

/// Only the owner reads and writes what is in the books.
const OWN: u32 = 0o600;

/// Makes the file if there is none, and takes from everybody else what they may do with what is there.
fn keep_private(path: &Path, create: bool) -> Result<(), Fault> {
    let failed = |path: &Path, error: io::Error| Fault::ours(format!("cannot open {}: {error}", path.display()));
    if create {
        let made = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(OWN).open(path);
        made.map_err(|error| failed(path, error))?;
    }
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let path = beside(path, suffix);
        let mode = match std::fs::metadata(&path) {
            Ok(found) => found.permissions().mode() & 0o7777,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(failed(&path, error)),
        };
        if mode != OWN {
            std::fs::set_permissions(&path, Permissions::from_mode(OWN)).map_err(|error| failed(&path, error))?;
        }
    }
    Ok(())
}

/// The first one who opens a file gives it a log. Of several who do so at once the engine refuses all but one, without the
/// patience that it has otherwise.
fn keep_a_log(connection: &rusqlite::Connection, patience: Duration) -> Result<(), Fault> {
    let came = Instant::now();
    loop {
        let kept = connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get::<_, String>(0));
        match kept.map_err(Fault::from) {
            Err(fault) if fault.is_busy() && came.elapsed() < patience => sleep(PAUSE),
            kept => return kept.map(drop),
        }
    }
}

/// As much as who writes keeps of pages between two transactions. To split a page the engine parks one behind the end of
/// the file for a moment, and at the commit it looks at every page that is kept for others that lie there. So it keeps what
/// it comes back to; what one transaction changes has all the room that there is.
const KEPT_BY_WRITER_KIB: u32 = 4 << 10;

impl Connection {
    pub fn open(opening: &Opening) -> Result<Self, Fault> {
        let Opening { path, access, cache_kib, statements, patience } = opening;
        let wanted = match access {
            Access::Create | Access::Write => {
                keep_private(path, *access == Access::Create)?;
                OpenFlags::SQLITE_OPEN_READ_WRITE
            }
            Access::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
        };
        // Each connection is used by one at a time; the engine need not lock it once more.
        let flags = wanted | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_EXRESCODE;
        let inner = rusqlite::Connection::open_with_flags(path, flags)?;
        // What makes room is chosen by what it weighs; the driver itself only has to have room for all of them.
        inner.set_prepared_statement_cache_capacity(statements.saturating_add(1));
        let for_statements = cache_kib / 4;
        let kept = RefCell::new(Kept::within(*statements, (for_statements as usize) << 10));
        // Else a statement is prepared anew each time that a value is bound by which a plan could be chosen. How many rows are
        // wanted is one of these, and every list says it.
        inner.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        inner.busy_timeout(*patience)?;
        if *access == Access::Read {
            inner.pragma_update(None, "query_only", true)?;
        } else {
            keep_a_log(&inner, *patience)?;
            // With NORMAL a power cut loses commits that were already answered.
            inner.pragma_update(None, "synchronous", "FULL")?;
            // A log that once grew long gives its room back when it is begun anew.
            inner.pragma_update_and_check(None, "journal_size_limit", LOG_KEPT, |row| row.get::<_, i64>(0))?;
            // Whoever commits copies the log when it is long, and hears what goes wrong with that.
            inner.wal_hook(Some(|_, pages| {
                COMMITTED.set(Some(pages));
                Ok(())
            }));
        }
        inner.pragma_update(None, "foreign_keys", true)?;
        let for_pages = cache_kib - for_statements;
        let kept_kib = if *access == Access::Read { for_pages } else { for_pages.min(KEPT_BY_WRITER_KIB) };
        inner.pragma_update(None, "cache_size", -i64::from(kept_kib))?;
        inner.pragma_update(None, "cache_spill", -i64::from(for_pages))?;
        inner.pragma_update(None, "temp_store", "MEMORY")?;
        let running: Arc<Mutex<Option<crate::Stop>>> = Arc::default();
        let watched = running.clone();
        let given_up = move || {
            let running = watched.lock().unwrap_or_else(PoisonError::into_inner);
            running.as_ref().is_some_and(crate::Stop::is_set)
        };
        inner.progress_handler(crate::STEPS_BETWEEN_LOOKS, Some(given_up))?;
        if *access != Access::Read {
            // The log and its index were made just now.
            inner.query_row("SELECT COUNT(*) FROM sqlite_master", [], |row| row.get::<_, i64>(0))?;
            keep_private(path, false)?;
        }
        Ok(Self { inner, running, patience: *patience, kept, log_pages: Cell::new(None) })
    }

    /// Bounds what all connections of this process may hold in memory together; the engine gives back pages first.
    pub fn bound_memory(&self, bytes: u64) -> Result<(), Fault> {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        Ok(self.inner.pragma_update(None, "soft_heap_limit", bytes)?)
    }
}
