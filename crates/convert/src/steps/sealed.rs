//! What a table has so that its rows can be sealed: a column for the seal, and triggers that note which rows the server
//! has to seal before it commits.
//!
//! A row that was written without its seal, changed or removed is noted in `touched` with the seal that it had. The
//! server seals what its own transaction touched. Whoever writes behind its back leaves a row whose seal does not fit.

use super::columns;
use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend};

/// A column of a key, as it is written in `touched`.
#[derive(Clone, Copy)]
pub(crate) enum Key {
    Uuid(&'static str),
    Plain(&'static str),
}

pub(crate) struct Sealed {
    pub(crate) table: &'static str,
    /// Whose books the row is in; none is the installation's.
    pub(crate) company: Option<&'static str>,
    /// The rest of its key.
    pub(crate) key: &'static [Key],
    /// The columns under the seal, where it is not all of them.
    pub(crate) only: &'static [&'static str],
    /// Its rows are put in and stay: nothing else is ever noted.
    pub(crate) grows_only: bool,
}

impl Sealed {
    fn key(&self, row: &str, on_postgres: bool) -> String {
        let part = |key: &Key| match key {
            Key::Uuid(name) if on_postgres => format!("replace({row}.{name}::text, '-', '')"),
            Key::Uuid(name) => format!("lower(hex({row}.{name}))"),
            Key::Plain(name) if on_postgres => format!("{row}.{name}::text"),
            Key::Plain(name) => format!("CAST({row}.{name} AS TEXT)"),
        };
        let parts: Vec<String> = self.key.iter().map(part).collect();
        if parts.is_empty() { "''".into() } else { parts.join(" || '/' || ") }
    }

    fn note(&self, row: &str, old: &str, on_postgres: bool) -> String {
        let company = self.company.map_or_else(|| "NULL".into(), |column| format!("{row}.{column}"));
        let by = if on_postgres { "COALESCE(current_setting('duet.batch', true), '')" } else { "''" };
        let (table, key) = (self.table, self.key(row, on_postgres));
        format!(
            "INSERT INTO touched (relation, business_id, key, old, batch) VALUES ('{table}', {company}, {key}, {old}, {by})"
        )
    }

    fn triggers(&self, on_postgres: bool) -> Vec<String> {
        let table = self.table;
        let of = if self.only.is_empty() { String::new() } else { format!(" OF {}", self.only.join(", ")) };
        let mut made = Vec::new();
        for (event, when, row, old) in [
            ("INSERT".to_owned(), "NEW.seal = ''", "NEW", "''"),
            (format!("UPDATE{of}"), "OLD.seal <> ''", "NEW", "OLD.seal"),
            ("DELETE".to_owned(), "OLD.seal <> ''", "OLD", "OLD.seal"),
        ] {
            let word = event.split(' ').next().unwrap_or(&event).to_lowercase();
            if self.grows_only && word != "insert" {
                continue;
            }
            let (name, note) = (format!("{table}_touched_by_{word}"), self.note(row, old, on_postgres));
            if on_postgres {
                made.push(format!(
                    "CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {note}; RETURN NULL; END $$"
                ));
                made.push(format!(
                    "CREATE TRIGGER {name} AFTER {event} ON {table} FOR EACH ROW WHEN ({when}) EXECUTE FUNCTION {name}()"
                ));
            } else {
                made.push(format!("CREATE TRIGGER {name} AFTER {event} ON {table} WHEN {when} BEGIN {note}; END"));
            }
        }
        made
    }
}

/// Gives tables their seals. Rows that are there already have none until the server seals them.
pub(crate) async fn seal(manager: &SchemaManager<'_>, tables: &[Sealed]) -> Result<(), DbErr> {
    let on_postgres = manager.get_database_backend() == DbBackend::Postgres;
    for sealed in tables {
        let column = ColumnDef::new(Alias::new("seal")).text().not_null().default("").take();
        columns::add(manager, sealed.table, column).await?;
        for statement in sealed.triggers(on_postgres) {
            manager.get_connection().execute_unprepared(&statement).await?;
        }
    }
    Ok(())
}
