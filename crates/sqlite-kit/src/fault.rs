//! What the engine objects to, with its own code.

use rusqlite::ffi;
use sea_orm::DbErr;
use std::sync::Arc;

/// A complaint of `SQLite`, or of what stands between it and the entities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The extended result code; 0 where the engine itself had nothing to object to.
    code: i32,
    text: String,
}

impl Fault {
    /// Something that the engine did not say.
    pub fn ours(text: impl Into<String>) -> Self {
        Self { code: 0, text: text.into() }
    }

    /// Nobody waits for the answer any more.
    pub fn given_up() -> Self {
        Self { code: ffi::SQLITE_INTERRUPT, text: "nobody waits for this answer any more".into() }
    }

    /// A snapshot was held for so long that the log grew beyond its bounds.
    pub fn outgrown() -> Self {
        Self { code: ffi::SQLITE_BUSY_SNAPSHOT, text: "the log grew too long beside this snapshot".into() }
    }

    /// The extended result code.
    pub fn code(&self) -> i32 {
        self.code
    }

    /// The result code without its extension.
    pub fn primary(&self) -> i32 {
        self.code & 0xff
    }

    /// Whether the connection that said so is not to be trusted with anything more: what was begun may have been rolled
    /// back by the engine, or its view of the file may be wrong.
    pub fn spoils_connection(&self) -> bool {
        matches!(
            self.primary(),
            ffi::SQLITE_IOERR
                | ffi::SQLITE_FULL
                | ffi::SQLITE_NOMEM
                | ffi::SQLITE_CORRUPT
                | ffi::SQLITE_NOTADB
                | ffi::SQLITE_CANTOPEN
                | ffi::SQLITE_PROTOCOL
                | ffi::SQLITE_MISUSE
                | ffi::SQLITE_READONLY
                | ffi::SQLITE_INTERNAL
        )
    }

    /// Whether the disk would not say that it has what was written. Nothing is known of the file from then on.
    pub fn is_failed_sync(&self) -> bool {
        matches!(self.code, ffi::SQLITE_IOERR_FSYNC | ffi::SQLITE_IOERR_DIR_FSYNC)
    }

    /// Whether a commit that met this did not happen for certain: the engine never came to write its last page. A commit
    /// is the last page that is written to the log, and after it comes nothing but a sync, so a write that failed or
    /// ended short was that page or one before it. A call that fails has written nothing of what it was given.
    pub fn refuses_commit(&self) -> bool {
        self.code == ffi::SQLITE_IOERR_WRITE
            || matches!(
                self.primary(),
                ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED | ffi::SQLITE_FULL | ffi::SQLITE_CONSTRAINT
            )
    }

    /// Whether somebody else holds what is needed.
    pub fn is_busy(&self) -> bool {
        matches!(self.primary(), ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED)
    }

    /// Whether the disk has no room.
    pub fn is_full(&self) -> bool {
        self.primary() == ffi::SQLITE_FULL
    }

    /// Whether there was nothing that could be opened.
    pub fn is_missing(&self) -> bool {
        self.primary() == ffi::SQLITE_CANTOPEN
    }

    /// Whether it was ended because nobody waits, or because it was in the way.
    pub fn is_ended(&self) -> bool {
        self.primary() == ffi::SQLITE_INTERRUPT
    }

    /// The complaint inside an error that came from here.
    pub fn within(error: &DbErr) -> Option<&Self> {
        match error {
            DbErr::TryIntoErr { source, .. } => source.downcast_ref(),
            _ => None,
        }
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.code == 0 {
            return f.write_str(&self.text);
        }
        write!(f, "{} (SQLite {})", self.text, self.code)?;
        if matches!(self.code, ffi::SQLITE_READONLY_DIRECTORY | ffi::SQLITE_READONLY_CANTINIT) {
            // Whoever only reads is told that they write.
            f.write_str("; who reads a database shares files beside it with who writes: do this as the server's user")?;
        }
        Ok(())
    }
}

impl std::error::Error for Fault {}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        match error {
            rusqlite::Error::SqliteFailure(failure, text) => Self {
                code: failure.extended_code,
                text: text.unwrap_or_else(|| ffi::code_to_str(failure.extended_code).to_owned()),
            },
            rusqlite::Error::SqlInputError { error, msg, sql, .. } => {
                Self { code: error.extended_code, text: format!("{msg} in {sql}") }
            }
            other => Self::ours(other.to_string()),
        }
    }
}

/// The only error of entities that carries what another program said, as it was.
impl From<Fault> for DbErr {
    fn from(fault: Fault) -> Self {
        Self::TryIntoErr { from: "a statement", into: "an answer of SQLite", source: Arc::new(fault) }
    }
}
