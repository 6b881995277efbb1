//! What the database's complaints mean to a caller, the same on both engines.

use crate::error::{Conflict, Error, FieldErrors, Unavailable};
use sea_orm::{DbErr, RuntimeErr, SqlErr};
use sqlite_kit::Fault;

/// What an engine can have against a statement, as far as callers are told apart by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Complaint {
    Duplicate,
    InUse,
    /// A sum beyond what the books can keep.
    TooLarge,
    /// Others hold what is needed; it may be tried again.
    Busy,
    Full,
    Away,
    Other,
}

pub(crate) fn explain(error: &DbErr) -> Error {
    let complaint = match Fault::within(error) {
        Some(fault) => of_sqlite(fault),
        None => of_postgres(error),
    };
    match complaint {
        Complaint::Duplicate => Error::Conflict(Conflict {
            code: "duplicate",
            title: "Another record already has this value".into(),
            errors: FieldErrors::default(),
        }),
        Complaint::InUse => Error::conflict("in_use", "Other records refer to this one"),
        Complaint::TooLarge => crate::books::desk::too_large(),
        Complaint::Busy => Error::Unavailable(Unavailable::Overloaded),
        Complaint::Full => Error::Unavailable(Unavailable::StorageFull),
        Complaint::Away => Error::Unavailable(Unavailable::DatabaseAway),
        Complaint::Other => Error::internal(error),
    }
}

/// By the extended result code, or by the code without its extension where that says enough.
fn of_sqlite(fault: &Fault) -> Complaint {
    match (fault.code(), fault.primary()) {
        // SQLITE_CONSTRAINT_UNIQUE, _PRIMARYKEY, _ROWID.
        (2067 | 1555 | 2579, _) => Complaint::Duplicate,
        // SQLITE_CONSTRAINT_FOREIGNKEY.
        (787, _) => Complaint::InUse,
        // SQLITE_CONSTRAINT_CHECK.
        (275, _) => Complaint::TooLarge,
        // SQLITE_BUSY, LOCKED; INTERRUPT: nobody waited any longer.
        (_, 5 | 6 | 9) => Complaint::Busy,
        // SQLITE_FULL.
        (_, 13) => Complaint::Full,
        // SQLITE_NOMEM, IOERR, CANTOPEN: another connection may fare better.
        (_, 7 | 10 | 14) => Complaint::Away,
        _ => Complaint::Other,
    }
}

fn of_postgres(error: &DbErr) -> Complaint {
    match error.sql_err() {
        Some(SqlErr::UniqueConstraintViolation(_)) => return Complaint::Duplicate,
        Some(SqlErr::ForeignKeyConstraintViolation(_)) => return Complaint::InUse,
        _ => {}
    }
    match engine_code(error).as_deref() {
        // Serialization failure, deadlock, lock timeout.
        Some("40001" | "40P01" | "55P03") => Complaint::Busy,
        // Check violation, number out of range.
        Some("23514" | "22003") => Complaint::TooLarge,
        // Disk full.
        Some("53100") => Complaint::Full,
        // Admin shutdown, crash shutdown, cannot connect now, too many connections, read-only after fail-over.
        Some("57P01" | "57P02" | "57P03" | "53300" | "25006") => Complaint::Away,
        Some(code) if code.starts_with("08") => Complaint::Away,
        _ if connection_lost(error) => Complaint::Away,
        _ => Complaint::Other,
    }
}

/// PostgreSQL's five characters.
fn engine_code(error: &DbErr) -> Option<String> {
    let (DbErr::Exec(runtime) | DbErr::Query(runtime) | DbErr::Conn(runtime)) = error else { return None };
    let RuntimeErr::SqlxError(sqlx) = runtime else { return None };
    sqlx.as_database_error()?.code().map(std::borrow::Cow::into_owned)
}

/// Whether the connection itself is gone, rather than a statement refused.
fn connection_lost(error: &DbErr) -> bool {
    match error {
        DbErr::ConnectionAcquire(_) => true,
        DbErr::Conn(RuntimeErr::SqlxError(sqlx))
        | DbErr::Exec(RuntimeErr::SqlxError(sqlx))
        | DbErr::Query(RuntimeErr::SqlxError(sqlx)) => matches!(
            **sqlx,
            sqlx::Error::Io(_)
                | sqlx::Error::PoolTimedOut
                | sqlx::Error::PoolClosed
                | sqlx::Error::WorkerCrashed
                | sqlx::Error::Protocol(_)
        ),
        _ => false,
    }
}
