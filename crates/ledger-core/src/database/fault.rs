//! What the database's complaints mean to a caller, the same on both engines.

use crate::error::{Conflict, Error, FieldErrors, Unavailable};
use sea_orm::{DbErr, RuntimeErr, SqlErr};

/// The engine's own code: SQLite's number or PostgreSQL's five characters.
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

pub(crate) fn explain(error: &DbErr) -> Error {
    match error.sql_err() {
        Some(SqlErr::UniqueConstraintViolation(_)) => {
            return Error::Conflict(Conflict {
                code: "duplicate",
                title: "Another record already has this value".into(),
                errors: FieldErrors::default(),
            });
        }
        Some(SqlErr::ForeignKeyConstraintViolation(_)) => {
            return Error::conflict("in_use", "Other records refer to this one");
        }
        _ => {}
    }
    match engine_code(error).as_deref() {
        // SQLITE_BUSY, LOCKED, BUSY_RECOVERY, BUSY_SNAPSHOT; serialization failure, deadlock, lock timeout.
        Some("5" | "6" | "261" | "517" | "40001" | "40P01" | "55P03") => Error::Unavailable(Unavailable::Overloaded),
        // A sum beyond what the books can keep: SQLITE_CONSTRAINT_CHECK; check violation, number out of range.
        Some("275" | "23514" | "22003") => crate::books::desk::too_large(),
        // SQLITE_FULL; disk full.
        Some("13" | "53100") => Error::Unavailable(Unavailable::StorageFull),
        // Admin shutdown, crash shutdown, cannot connect now, too many connections, read-only after fail-over.
        Some("57P01" | "57P02" | "57P03" | "53300" | "25006") => Error::Unavailable(Unavailable::DatabaseAway),
        Some(code) if code.starts_with("08") => Error::Unavailable(Unavailable::DatabaseAway),
        _ if connection_lost(error) => Error::Unavailable(Unavailable::DatabaseAway),
        _ => Error::internal(error),
    }
}
