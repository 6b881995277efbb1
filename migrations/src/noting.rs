//! Triggers that note what a sealed row was before it changed.
//!
//! Of an update the columns that changed are noted, of a row that is removed all that its seal covers, each as JSON. So the
//! server can tell what it sealed from what somebody else made of it, before it seals the row anew.
//!
//! The triggers name every column. They are made of the columns that there are whenever migrations ran, so that no
//! migration can forget them: one that adds a column needs to know nothing of this. Only one that takes a column away
//! drops them first.

use crate::distributing::{self, NOBODY};
use crate::{BETWEEN, FOR_OTHERS, TRIED, is_in_use};
use sea_orm_migration::sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, DbErr, Statement, TransactionTrait};
use std::fmt::Write;

/// Columns that no seal covers: where they alone change, nothing is noted.
const UNSEALED: &[(&str, &[&str])] =
    &[("sessions", &["seen_at"]), ("open_items", &["open", "base_open"]), ("stock_lines", &["cost", "was_missing"])];

/// What says that the triggers are to be made anew.
pub const DUE: &str = "triggers";

/// Which tables are asked for: those that note what changes in them, or one by its name.
const NOTING_ON_SQLITE: &str = "EXISTS (SELECT 1 FROM sqlite_schema AS g WHERE g.type = 'trigger' \
     AND g.tbl_name = t.name AND g.name = t.name || '_touched_by_update')";
const NOTING_ON_POSTGRES: &str = "EXISTS (SELECT 1 FROM pg_trigger g WHERE g.tgrelid = t.oid \
     AND g.tgname = t.relname || '_touched_by_update')";

/// Tables and their columns, with the place of each in the key.
const ON_SQLITE: &str = "\
 SELECT t.name AS relation, c.name AS name, lower(c.type) AS kind, c.pk AS place \
   FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c \
   WHERE t.type = 'table' AND {which} ORDER BY t.name, c.cid";

const ON_POSTGRES: &str = "\
 SELECT t.relname::text AS relation, a.attname::text AS name, format_type(a.atttypid, NULL) AS kind, \
     COALESCE(array_position(i.indkey::int2[], a.attnum) + 1, 0)::bigint AS place \
   FROM pg_class t JOIN pg_namespace n ON n.oid = t.relnamespace \
   JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped \
   LEFT JOIN pg_index i ON i.indrelid = t.oid AND i.indisprimary \
   WHERE n.nspname = current_schema() AND t.relkind = 'r' AND {which} ORDER BY t.relname, a.attnum";

/// How what a column holds is written as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Identifier,
    Bytes,
    Other,
}

impl Kind {
    fn of(declared: &str) -> Self {
        match declared {
            "uuid" | "uuid_text" => Self::Identifier,
            "blob" | "bytea" => Self::Bytes,
            _ => Self::Other,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Column {
    name: String,
    kind: Kind,
    /// From one on, where it is part of the key.
    place: i64,
}

/// A table whose rows change, and are sealed again.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Noted {
    table: String,
    columns: Vec<Column>,
    on_postgres: bool,
    /// Whether the notes are distributed by company: then that which is of none is noted under nobody's.
    is_distributed: bool,
}

/// Makes those of some tables in a transaction of their own, in which others are waited for but briefly.
async fn make_at_once(database: &DatabaseConnection, some: &[Noted], is_distributed: bool) -> Result<(), DbErr> {
    let transaction = database.begin().await?;
    if database.get_database_backend() == DbBackend::Postgres {
        transaction.execute_unprepared(FOR_OTHERS).await?;
    }
    if is_distributed {
        distributing::allow_triggers(&transaction).await?;
    }
    make_of(&transaction, some).await?;
    transaction.commit().await
}

/// Notes that the triggers are to be made anew. A process that ends before it did so leaves the note to the next one.
pub async fn is_due(connection: &impl ConnectionTrait) -> Result<(), DbErr> {
    let nobody = if connection.get_database_backend() == DbBackend::Postgres { NOBODY } else { "NULL" };
    let note = format!(
        "INSERT INTO touched (relation, business_id, key, old, was, step, batch) \
         VALUES ('', {nobody}, '', '', '', 0, '{DUE}')"
    );
    connection.execute_unprepared(&note).await.map(drop)
}

/// Whether they are to be made anew.
pub(crate) async fn are_due(connection: &impl ConnectionTrait) -> Result<bool, DbErr> {
    let engine = connection.get_database_backend();
    let asked = format!("SELECT batch FROM touched WHERE batch = '{DUE}' LIMIT 1");
    Ok(connection.query_one_raw(Statement::from_string(engine, asked)).await?.is_some())
}

/// What of a table is noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    Changes,
    /// Rows that are put in without a seal; nothing else ever happens to them.
    Insertions,
}

/// Makes the first triggers of a table.
pub(crate) async fn begin(connection: &impl ConnectionTrait, table: &str, what: What) -> Result<(), DbErr> {
    let own = named(connection, table).await?;
    let own = own.first().ok_or_else(|| DbErr::Custom(format!("there is no table {table} to note the changes of")))?;
    for statement in own.triggers(what)? {
        connection.execute_unprepared(&statement).await?;
    }
    Ok(())
}

/// Makes the triggers of all tables anew.
pub async fn make(database: &DatabaseConnection) -> Result<(), DbErr> {
    let is_distributed = distributing::is_distributed(database).await?;
    let all = all(database, is_distributed).await?;
    // Of one table after the other on PostgreSQL: whoever writes beside it waits for one, and never for each other.
    let at_once = if database.get_database_backend() == DbBackend::Postgres { 1 } else { all.len().max(1) };
    for portion in all.chunks(at_once) {
        let mut tried = 0;
        while let Err(error) = make_at_once(database, portion, is_distributed).await {
            tried += 1;
            if tried > TRIED || !is_in_use(&error) {
                return Err(error);
            }
            database.execute_unprepared(BETWEEN).await?;
        }
    }
    database.execute_unprepared(&format!("DELETE FROM touched WHERE batch = '{DUE}'")).await.map(drop)
}

/// The same within a transaction.
pub(crate) async fn make_within(connection: &impl ConnectionTrait, is_distributed: bool) -> Result<(), DbErr> {
    make_of(connection, &all(connection, is_distributed).await?).await
}

/// Makes those of a table anew, where it has them.
pub async fn make_of_table(connection: &impl ConnectionTrait, table: &str) -> Result<(), DbErr> {
    let is_distributed = distributing::is_distributed(connection).await?;
    let all = all(connection, is_distributed).await?;
    let own: Vec<Noted> = all.into_iter().filter(|noted| noted.table == table).collect();
    make_of(connection, &own).await
}

async fn make_of(connection: &impl ConnectionTrait, tables: &[Noted]) -> Result<(), DbErr> {
    for noted in tables {
        for statement in noted.triggers(What::Changes)? {
            connection.execute_unprepared(&statement).await?;
        }
    }
    Ok(())
}

/// All that note what changes in them.
async fn all(connection: &impl ConnectionTrait, is_distributed: bool) -> Result<Vec<Noted>, DbErr> {
    let on_postgres = connection.get_database_backend() == DbBackend::Postgres;
    let found = found(connection, if on_postgres { NOTING_ON_POSTGRES } else { NOTING_ON_SQLITE }).await?;
    Ok(found.into_iter().map(|noted| Noted { is_distributed, ..noted }).collect())
}

async fn named(connection: &impl ConnectionTrait, table: &str) -> Result<Vec<Noted>, DbErr> {
    let on_postgres = connection.get_database_backend() == DbBackend::Postgres;
    let name = if on_postgres { "t.relname" } else { "t.name" };
    found(connection, &format!("{name} = '{table}'")).await
}

async fn found(connection: &impl ConnectionTrait, which: &str) -> Result<Vec<Noted>, DbErr> {
    let engine = connection.get_database_backend();
    let on_postgres = engine == DbBackend::Postgres;
    let asked = if on_postgres { ON_POSTGRES } else { ON_SQLITE }.replace("{which}", which);
    let asked = Statement::from_string(engine, asked);
    let mut found: Vec<Noted> = Vec::new();
    for row in connection.query_all_raw(asked).await? {
        let table: String = row.try_get("", "relation")?;
        let kind: String = row.try_get("", "kind")?;
        let (name, place) = (row.try_get("", "name")?, row.try_get("", "place")?);
        let column = Column { name, kind: Kind::of(&kind), place };
        match found.last_mut().filter(|last| last.table == table) {
            Some(last) => last.columns.push(column),
            None => found.push(Noted { table, columns: vec![column], on_postgres, is_distributed: false }),
        }
    }
    Ok(found)
}

impl Noted {
    /// The column that says whose books a row is in. Of a company itself that is its key.
    fn company(&self) -> Option<&str> {
        let own = if self.table == "businesses" { "id" } else { "business_id" };
        self.columns.iter().find(|column| column.place > 0 && column.name == own).map(|column| column.name.as_str())
    }

    /// The rest of the key, in its order.
    fn key(&self) -> Vec<&Column> {
        let company = self.company();
        let mut key: Vec<&Column> =
            self.columns.iter().filter(|column| column.place > 0 && Some(column.name.as_str()) != company).collect();
        key.sort_by_key(|column| column.place);
        key
    }

    fn sealed(&self) -> impl Iterator<Item = &Column> {
        let unsealed = UNSEALED.iter().find(|(table, _)| *table == self.table).map_or(&[][..], |(_, columns)| *columns);
        self.columns.iter().filter(move |column| column.name != "seal" && !unsealed.contains(&column.name.as_str()))
    }

    /// A column as text; nothing where it holds nothing.
    fn text(&self, row: &str, column: &Column) -> String {
        let name = &column.name;
        match (self.on_postgres, column.kind) {
            (true, Kind::Identifier) => format!("replace({row}.\"{name}\"::text, '-', '')"),
            (true, Kind::Bytes) => format!("encode({row}.\"{name}\", 'hex')"),
            (true, Kind::Other) => format!("{row}.\"{name}\"::text"),
            // The digits of nothing would be an empty text.
            (false, Kind::Identifier | Kind::Bytes) => {
                format!("CASE WHEN {row}.\"{name}\" IS NOT NULL THEN lower(hex({row}.\"{name}\")) END")
            }
            (false, Kind::Other) => format!("CAST({row}.\"{name}\" AS TEXT)"),
        }
    }

    fn json(&self, column: &Column) -> String {
        let text = self.text("OLD", column);
        if self.on_postgres {
            format!("COALESCE(to_json({text})::text, 'null')")
        } else {
            format!("json_quote({text})")
        }
    }

    fn differs(&self, name: &str) -> String {
        let differs = if self.on_postgres { "IS DISTINCT FROM" } else { "IS NOT" };
        format!("OLD.\"{name}\" {differs} NEW.\"{name}\"")
    }

    /// What of the old row is noted: all of it, or what changed.
    fn was(&self, all: bool) -> String {
        let mut was = "'{'".to_owned();
        for column in self.sealed() {
            let member = format!("'\"{}\":' || {} || ','", column.name, self.json(column));
            let member = if all {
                member
            } else {
                format!("CASE WHEN {} THEN {member} ELSE '' END", self.differs(&column.name))
            };
            // A text is written for nothing but its reader.
            let _infallible = write!(was, " || {member}");
        }
        was + " || '\"\":null}'"
    }

    fn note(&self, row: &str, (old, was): (&str, &str)) -> String {
        let nobody = if self.is_distributed { NOBODY } else { "NULL" };
        let company = self.company().map_or_else(|| nobody.into(), |column| format!("{row}.\"{column}\""));
        let key: Vec<String> = self.key().into_iter().map(|column| self.text(row, column)).collect();
        let key = if key.is_empty() { "''".into() } else { key.join(" || '/' || ") };
        let (batch, step) = if self.on_postgres {
            (
                "COALESCE(current_setting('duet.batch', true), '')",
                "set_config('duet.step', \
                 (COALESCE(NULLIF(current_setting('duet.step', true), ''), '0')::bigint + 1)::text, true)::bigint",
            )
        } else {
            ("''", "(SELECT COALESCE(MAX(rowid), 0) + 1 FROM touched)")
        };
        format!(
            "INSERT INTO touched (relation, business_id, key, old, was, step, batch) \
             VALUES ('{}', {company}, {key}, {old}, {was}, {step}, {batch})",
            self.table
        )
    }

    fn triggers(&self, what: What) -> Result<Vec<String>, DbErr> {
        if !self.columns.iter().any(|column| column.name == "seal") || self.columns.iter().all(|one| one.place == 0) {
            return Err(DbErr::Custom(format!("{} notes what changes in it, and has no seal or no key", self.table)));
        }
        let changed: Vec<String> = self.sealed().map(|column| self.differs(&column.name)).collect();
        // Books of before have a text there.
        let changed = format!("length(OLD.seal) > 0 AND (OLD.seal <> NEW.seal OR {})", changed.join(" OR "));
        let seal = self.columns.iter().find(|column| column.name == "seal");
        let old = seal.map_or_else(String::new, |seal| self.text("OLD", seal));
        let (table, mut made) = (&self.table, Vec::new());
        for (event, when, note) in [
            ("INSERT", "length(NEW.seal) = 0", self.note("NEW", ("''", "''"))),
            ("UPDATE", changed.as_str(), self.note("NEW", (&old, &self.was(false)))),
            ("DELETE", "length(OLD.seal) > 0", self.note("OLD", (&old, &self.was(true)))),
        ] {
            if what == What::Insertions && event != "INSERT" {
                continue;
            }
            let name = format!("{table}_touched_by_{}", event.to_lowercase());
            if self.on_postgres {
                made.push(format!("DROP TRIGGER IF EXISTS {name} ON {table}"));
                made.push(format!(
                    "CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS \
                     $$ BEGIN {note}; RETURN NULL; END $$"
                ));
                made.push(format!(
                    "CREATE TRIGGER {name} AFTER {event} ON {table} FOR EACH ROW WHEN ({when}) EXECUTE FUNCTION {name}()"
                ));
            } else {
                made.push(format!("DROP TRIGGER IF EXISTS {name}"));
                made.push(format!("CREATE TRIGGER {name} AFTER {event} ON {table} WHEN {when} BEGIN {note}; END"));
            }
        }
        Ok(made)
    }
}
