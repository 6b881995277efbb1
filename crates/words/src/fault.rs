//! What the database's complaints mean to a caller, the same on both engines.

use crate::error::{Code, Conflict, Error, FieldErrors, Unavailable};
use sea_orm::DbErr;

/// What an engine can have against a statement, as far as callers are told apart by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Complaint {
    Duplicate,
    InUse,
    /// A sum beyond what the books can keep.
    TooLarge,
    /// Others hold what is needed; it may be tried again.
    Busy,
    /// The log grew too long beside a read.
    Outgrown,
    /// A read took longer than one may.
    TooSlow,
    Full,
    Away,
    Other,
}

pub fn explain(error: &DbErr) -> Error {
    match complaint(error) {
        Complaint::Duplicate => Error::Conflict(Conflict {
            code: Code::Duplicate,
            title: "Another record already has this value".into(),
            errors: FieldErrors::default(),
        }),
        Complaint::InUse => Error::conflict(Code::InUse, "Other records refer to this one"),
        Complaint::TooLarge => Error::too_large(),
        Complaint::Busy => Error::Unavailable(Unavailable::Overloaded),
        Complaint::Outgrown => Error::Unavailable(Unavailable::Outgrown),
        Complaint::TooSlow => Error::too_slow(),
        Complaint::Full => Error::Unavailable(Unavailable::StorageFull),
        Complaint::Away => Error::Unavailable(Unavailable::DatabaseAway),
        Complaint::Other => Error::internal(said(error)),
    }
}

/// What was said, without the kind of error that it came as where that is ours.
pub fn said(error: &DbErr) -> String {
    if let Some(fault) = postgres_kit::Fault::within(error) {
        return fault.to_string();
    }
    match (sqlite_kit::Fault::within(error), error) {
        // SQLITE_CORRUPT, NOTADB.
        (Some(fault), _) if matches!(fault.primary(), 11 | 26) => {
            format!("the file is damaged, or is no database; restore a backup: {fault}")
        }
        (Some(fault), _) => fault.to_string(),
        (None, DbErr::Custom(why)) => why.clone(),
        (None, other) => other.to_string(),
    }
}

/// By the extended result code, or by the code without its extension where that says enough.
fn of_sqlite(fault: &sqlite_kit::Fault) -> Complaint {
    match (fault.code(), fault.primary()) {
        // SQLITE_CONSTRAINT_UNIQUE, _PRIMARYKEY, _ROWID.
        (2067 | 1555 | 2579, _) => Complaint::Duplicate,
        // SQLITE_CONSTRAINT_FOREIGNKEY.
        (787, _) => Complaint::InUse,
        // SQLITE_CONSTRAINT_CHECK.
        (275, _) => Complaint::TooLarge,
        // SQLITE_BUSY_SNAPSHOT.
        (517, _) => Complaint::Outgrown,
        // SQLITE_BUSY, LOCKED; INTERRUPT: nobody waited any longer.
        (_, 5 | 6 | 9) => Complaint::Busy,
        // SQLITE_FULL.
        (_, 13) => Complaint::Full,
        // SQLITE_NOMEM, IOERR, CANTOPEN: another connection may fare better.
        (_, 7 | 10 | 14) => Complaint::Away,
        _ => Complaint::Other,
    }
}

/// By the server's five characters.
fn of_postgres(fault: &postgres_kit::Fault) -> Complaint {
    if fault.is_too_slow() {
        return Complaint::TooSlow;
    }
    match fault.code() {
        "23505" => Complaint::Duplicate,
        "23503" => Complaint::InUse,
        // Check violation, number out of range.
        "23514" | "22003" => Complaint::TooLarge,
        // Serialization failure, deadlock, lock timeout; given up, because nobody waited or because it took too long.
        "40001" | "40P01" | "55P03" | "57014" => Complaint::Busy,
        // Disk full.
        "53100" => Complaint::Full,
        // Too many connections, cannot connect now, read-only after a fail-over.
        "53300" | "57P03" | "25006" => Complaint::Away,
        _ if fault.is_away() => Complaint::Away,
        _ if fault.is_busy() => Complaint::Busy,
        _ => Complaint::Other,
    }
}

/// Whether a row with the same key is there already.
pub fn is_duplicate(error: &DbErr) -> bool {
    matches!(complaint(error), Complaint::Duplicate)
}

/// The same of one table.
pub fn is_duplicate_of(error: &DbErr, table: &str) -> bool {
    let of_postgres = postgres_kit::Fault::within(error).is_some_and(|fault| fault.table() == Some(table));
    let of_sqlite =
        || sqlite_kit::Fault::within(error).is_some_and(|fault| fault.to_string().contains(&format!("{table}.")));
    is_duplicate(error) && (of_postgres || of_sqlite())
}

fn complaint(error: &DbErr) -> Complaint {
    if let Some(fault) = postgres_kit::Fault::within(error) {
        return of_postgres(fault);
    }
    sqlite_kit::Fault::within(error).map_or(Complaint::Other, of_sqlite)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_engine_said_is_told_without_what_carried_it() {
        let folder = std::env::temp_dir().join(format!("duet-words-fault-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("no.db");
        std::fs::write(
            &path,
            "this is no database, and it is longer than the head of one would have to be; ".repeat(40),
        )
        .unwrap();
        let opening = sqlite_kit::Opening {
            path,
            access: sqlite_kit::Access::Read,
            cache_kib: 256,
            statements: 4,
            patience: std::time::Duration::ZERO,
        };
        let opened = sqlite_kit::Connection::open(&opening);
        let asked = opened.and_then(|connection| connection.batch("SELECT COUNT(*) FROM sqlite_master"));
        let told = said(&asked.unwrap_err().into());
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(told.starts_with("the file is damaged, or is no database; restore a backup: "), "{told}");
        assert!(!told.contains("Error converting"), "{told}");
        assert_eq!(said(&DbErr::Custom("as it is".into())), "as it is");
    }
}
