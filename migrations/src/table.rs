//! A table as it is said once: its columns, its key, what guards it and what finds its rows. Made on both engines.

use crate::noting;
use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend, DbErr};

/// What a column holds. There are no engine types beside these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// An identifier: sixteen bytes.
    Id,
    /// A whole number: amounts in ten-thousandths, quantities in millionths, instants in microseconds since 1970 (UTC).
    Number,
    Flag,
    Text,
    /// Text that is sorted or compared by bytes on both engines: PostgreSQL would else follow its locale.
    Word,
    /// How many days after the first of 1970.
    Day,
    /// A text that is kept packed.
    Packed,
    /// What nobody but its writer reads.
    Bytes,
    /// A digest.
    Digest,
    /// What a request is called.
    Called,
    /// A word of few, kept as letters.
    Code,
}

/// A column of a table.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    name: &'static str,
    kind: Kind,
    may_be_empty: bool,
    default: Option<&'static str>,
}

const fn column(name: &'static str, kind: Kind) -> Column {
    Column { name, kind, may_be_empty: false, default: None }
}

pub const fn id(name: &'static str) -> Column {
    column(name, Kind::Id)
}

pub const fn number(name: &'static str) -> Column {
    column(name, Kind::Number)
}

pub const fn flag(name: &'static str) -> Column {
    column(name, Kind::Flag)
}

pub const fn text(name: &'static str) -> Column {
    column(name, Kind::Text)
}

pub const fn word(name: &'static str) -> Column {
    column(name, Kind::Word)
}

pub const fn day(name: &'static str) -> Column {
    column(name, Kind::Day)
}

pub const fn packed(name: &'static str) -> Column {
    column(name, Kind::Packed)
}

pub const fn bytes(name: &'static str) -> Column {
    column(name, Kind::Bytes)
}

pub const fn digest(name: &'static str) -> Column {
    column(name, Kind::Digest)
}

pub const fn called(name: &'static str) -> Column {
    column(name, Kind::Called)
}

pub const fn code(name: &'static str) -> Column {
    column(name, Kind::Code)
}

/// A column that may hold nothing.
pub const fn maybe(column: Column) -> Column {
    Column { may_be_empty: true, ..column }
}

impl Column {
    /// What rows have that were there before, and those that say nothing of it.
    #[must_use]
    pub const fn or(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }

    fn definition(&self, on_postgres: bool) -> String {
        let kind = match (self.kind, on_postgres) {
            (Kind::Id, true) => "uuid",
            (Kind::Id, false) => "uuid_text",
            (Kind::Number, true) => "bigint",
            (Kind::Number, false) | (Kind::Day, _) => "integer",
            (Kind::Packed | Kind::Bytes | Kind::Digest | Kind::Called, true) => "bytea",
            (Kind::Packed | Kind::Bytes | Kind::Digest | Kind::Called, false) => "blob",
            (Kind::Flag, true) => "bool",
            (Kind::Flag, false) => "boolean",
            (Kind::Word, true) => "text COLLATE \"C\"",
            (Kind::Text | Kind::Code, _) | (Kind::Word, false) => "text",
        };
        let empty = if self.may_be_empty { "" } else { " NOT NULL" };
        let default = self.default.map_or_else(String::new, |default| format!(" DEFAULT {default}"));
        format!("\"{}\" {kind}{empty}{default}", self.name)
    }
}

/// A table.
#[derive(Debug, Clone)]
pub struct Table {
    name: &'static str,
    columns: Vec<Column>,
    key: Vec<&'static str>,
    constraints: Vec<String>,
    /// Whether its rows carry a seal: what is written without one is noted, and sealed before the batch is committed.
    is_sealed: bool,
    /// Whether its rows stay as they were put in.
    grows_only: bool,
    /// Whether `SQLite` keeps its rows in the key itself: one b-tree less. Good where rows are short.
    is_thin: bool,
    /// The company's column, where rows are kept apart by companies when the books are distributed; all others stay together.
    spread_by: Option<&'static str>,
    indexes: Vec<Index>,
    guards: Vec<Guard>,
}

/// What finds rows, on each engine.
#[derive(Debug, Clone)]
struct Index {
    on_sqlite: String,
    on_postgres: String,
}

/// What is made after the rows are there, on each engine.
#[derive(Debug, Clone)]
struct Guard {
    on_sqlite: Vec<String>,
    on_postgres: Vec<String>,
}

/// The column that says whose a row is.
const COMPANY: &str = "business_id";

/// The seal of a row: rows that are written without one have none until the batch is committed.
const SEAL: Column = bytes("seal").or("''");

/// What ends what grows only on PostgreSQL; one function for all of them.
pub(crate) const REFUSE_CHANGE: &str = "CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
     RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$";

/// Where bytes lie within others, on PostgreSQL as `SQLite` has it: from one on, 0 where they do not.
pub(crate) const INSTR: &str = "CREATE OR REPLACE FUNCTION instr(whole bytea, part bytea) RETURNS integer LANGUAGE sql \
     IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT position(part IN whole) $$";

/// What raises the counter of changes that nobody may forget, on PostgreSQL.
pub(crate) const COUNT_ACCESS_CHANGE: &str = "CREATE FUNCTION count_access_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
     UPDATE access_changes SET count = count + 1 WHERE id = 1; RETURN NULL; END $$";

/// What tells within a transaction that there is something to count at its end.
pub(crate) const NOTE_ACCESS_CHANGE: &str = "CREATE FUNCTION note_access_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
     PERFORM set_config('duet.access_changes', 'changed', true); RETURN NULL; END $$";

impl Table {
    /// A table of the installation.
    pub fn of_all(name: &'static str, key: &[&'static str], columns: &[Column]) -> Self {
        Self {
            name,
            columns: columns.to_vec(),
            key: key.to_vec(),
            constraints: Vec::new(),
            is_sealed: false,
            grows_only: false,
            is_thin: false,
            spread_by: None,
            indexes: Vec::new(),
            guards: Vec::new(),
        }
    }

    /// A table of companies: the company leads its key, and every index of it.
    pub fn of_company(name: &'static str, key: &[&'static str], columns: &[Column]) -> Self {
        let key: Vec<&'static str> = [COMPANY].iter().chain(key).copied().collect();
        let columns: Vec<Column> = [id(COMPANY)].iter().chain(columns).copied().collect();
        Self::of_all(name, &key, &columns).noted_by_company()
    }

    /// Of all, and yet each row is where its company is.
    #[must_use]
    pub fn noted_by_company(mut self) -> Self {
        self.spread_by = Some(COMPANY);
        self
    }

    /// Rows of companies that stay where people are: who may do what is asked across companies, and counted in one place.
    #[must_use]
    pub fn beside_people(mut self) -> Self {
        self.spread_by = None;
        self
    }

    /// The column by which its rows are kept apart when the books are distributed.
    pub fn spread_by(&self) -> Option<&'static str> {
        self.spread_by
    }

    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The names of its columns, in order.
    pub fn columns(&self) -> impl Iterator<Item = &'static str> {
        self.columns.iter().map(|column| column.name)
    }

    /// The names of those that hold days.
    pub fn days(&self) -> impl Iterator<Item = &'static str> {
        self.columns.iter().filter(|column| column.kind == Kind::Day).map(|column| column.name)
    }

    /// The names of those that hold what is packed.
    pub fn packed(&self) -> impl Iterator<Item = &'static str> {
        self.columns.iter().filter(|column| column.kind == Kind::Packed).map(|column| column.name)
    }

    /// The names of those that hold digests.
    pub fn digests(&self) -> impl Iterator<Item = &'static str> {
        self.columns.iter().filter(|column| column.kind == Kind::Digest).map(|column| column.name)
    }

    /// The names of those that hold what requests are called.
    pub fn called(&self) -> impl Iterator<Item = &'static str> {
        self.columns.iter().filter(|column| column.kind == Kind::Called).map(|column| column.name)
    }

    /// The names of those that hold words as letters.
    pub fn codes(&self) -> impl Iterator<Item = &'static str> {
        self.columns.iter().filter(|column| column.kind == Kind::Code).map(|column| column.name)
    }

    /// Its key, in order.
    pub fn key(&self) -> &[&'static str] {
        &self.key
    }

    /// Records that somebody made and changed, with the version that `ETag` is made from.
    #[must_use]
    pub fn with_versions(mut self) -> Self {
        let more = [number("version"), number("created_at"), id("created_by"), number("updated_at"), id("updated_by")];
        self.columns.extend(more);
        self
    }

    /// Its rows are sealed.
    #[must_use]
    pub fn sealed(mut self) -> Self {
        self.columns.push(SEAL);
        self.is_sealed = true;
        self
    }

    #[must_use]
    pub fn thin(mut self) -> Self {
        self.is_thin = true;
        self
    }

    #[must_use]
    pub fn check(mut self, rule: &str) -> Self {
        self.constraints.push(format!("CHECK ({rule})"));
        self
    }

    /// A row of another table that must be there.
    #[must_use]
    pub fn refers(mut self, name: &str, (own, table, theirs): (&[&str], &str, &[&str])) -> Self {
        let list =
            |columns: &[&str]| columns.iter().map(|column| format!("\"{column}\"")).collect::<Vec<_>>().join(", ");
        self.constraints.push(format!(
            "CONSTRAINT \"{name}\" FOREIGN KEY ({}) REFERENCES \"{table}\" ({})",
            list(own),
            list(theirs)
        ));
        self
    }

    fn indexed(mut self, how: &str, name: &str, columns: &str, needs_company: bool) -> Self {
        let lead = if self.key.first() == Some(&COMPANY) { "business_id, " } else { "" };
        let (columns, rest) = columns
            .split_once(" WHERE ")
            .map_or((columns, String::new()), |(columns, which)| (columns, format!(" WHERE {which}")));
        let led_by = |lead: &str| format!("CREATE {how} {name} ON {} ({lead}{columns}){rest}", self.name);
        let on_sqlite = led_by(if needs_company { lead } else { "" });
        self.indexes.push(Index { on_sqlite, on_postgres: led_by(lead) });
        self
    }

    /// Finds rows by these columns, of some of them where it says which.
    #[must_use]
    pub fn found_by(self, name: &str, columns: &str) -> Self {
        self.indexed("INDEX", name, columns, true)
    }

    /// Finds rows by columns of which the first is an identifier that no other company has. `SQLite` is told how many rows
    /// have the same ([`crate::statistics`]), so there the company need not stand in front of it.
    #[must_use]
    pub fn found_by_own(self, name: &str, columns: &str) -> Self {
        self.indexed("INDEX", name, columns, false)
    }

    /// The same of an identifier that no other row has.
    #[must_use]
    pub fn unique_by_own(self, name: &str, columns: &str) -> Self {
        self.indexed("UNIQUE INDEX", name, columns, false)
    }

    /// No two rows have the same in these columns.
    #[must_use]
    pub fn unique(self, name: &str, columns: &str) -> Self {
        self.indexed("UNIQUE INDEX", name, columns, true)
    }

    /// Over all companies.
    #[must_use]
    pub fn unique_everywhere(mut self, name: &str, column: &str) -> Self {
        let made = format!("CREATE UNIQUE INDEX {name} ON {} ({column})", self.name);
        self.indexes.push(Index { on_sqlite: made.clone(), on_postgres: made });
        self
    }

    #[must_use]
    pub fn guarded(mut self, on_sqlite: &[&str], on_postgres: &[&str]) -> Self {
        let owned = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect();
        self.guards.push(Guard { on_sqlite: owned(on_sqlite), on_postgres: owned(on_postgres) });
        self
    }

    /// Rows are put in and stay: the engine refuses to change, remove or replace them. `also` are other keys under which a
    /// row may be there already.
    #[must_use]
    pub fn grows_only(mut self, also: &[&[&str]]) -> Self {
        let name = self.name;
        let refuse = format!("BEGIN SELECT RAISE(ABORT, '{name} is append-only'); END");
        let there = |key: &[&str]| {
            let same: Vec<String> = key.iter().map(|column| format!("{column} = NEW.{column}")).collect();
            format!("EXISTS (SELECT 1 FROM {name} WHERE {})", same.join(" AND "))
        };
        // SQLite lets `INSERT OR REPLACE` pass the triggers that refuse a change; a rowid that is named may replace another
        // row as well.
        let by_place = format!("(NEW.rowid > 0 AND EXISTS (SELECT 1 FROM {name} WHERE rowid = NEW.rowid))");
        let keys = [self.key.as_slice()].into_iter().chain(also.iter().copied());
        let there: Vec<String> = keys.map(there).chain((!self.is_thin).then_some(by_place)).collect();
        self.guards.push(Guard {
            on_sqlite: vec![
                format!("CREATE TRIGGER {name}_are_not_updated BEFORE UPDATE ON {name} {refuse}"),
                format!("CREATE TRIGGER {name}_are_not_deleted BEFORE DELETE ON {name} {refuse}"),
                format!(
                    "CREATE TRIGGER {name}_are_not_replaced BEFORE INSERT ON {name} WHEN {} {refuse}",
                    there.join(" OR ")
                ),
            ],
            // There an upsert is an update, and refused as one.
            on_postgres: vec![format!(
                "CREATE TRIGGER {name}_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {name} \
                 FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
            )],
        });
        self.grows_only = true;
        self
    }

    /// What happens to its rows makes everybody look again who may do what. Each event has the name of its watch.
    ///
    /// On PostgreSQL it is counted at the end of the transaction: all of them count on one row, and whoever held it and waited
    /// for books would stand in the way of whoever holds books and waits for it. A setting tells those who judge meanwhile.
    #[must_use]
    pub fn counted(mut self, events: &[(&str, &str)]) -> Self {
        let table = self.name;
        for (name, event) in events {
            self.guards.push(Guard {
                on_sqlite: vec![format!(
                    "CREATE TRIGGER {table}_count_{name} AFTER {event} ON {table} \
                     BEGIN UPDATE access_changes SET count = count + 1 WHERE id = 1; END"
                )],
                on_postgres: vec![
                    format!(
                        "CREATE TRIGGER {table}_note_{name} AFTER {event} ON {table} \
                         FOR EACH STATEMENT EXECUTE FUNCTION note_access_change()"
                    ),
                    format!(
                        "CREATE CONSTRAINT TRIGGER {table}_count_{name} AFTER {event} ON {table} \
                         DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_access_change()"
                    ),
                ],
            });
        }
        self
    }

    /// The statement that makes it, without what is made once its rows are there.
    fn made(&self, on_postgres: bool) -> String {
        let columns = self.columns.iter().map(|column| column.definition(on_postgres));
        let key: Vec<String> = self.key.iter().map(|column| format!("\"{column}\"")).collect();
        let key = (!key.is_empty()).then(|| format!("PRIMARY KEY ({})", key.join(", ")));
        let parts: Vec<String> = columns.chain(key).chain(self.constraints.iter().cloned()).collect();
        let how = if self.is_thin && !on_postgres { " WITHOUT ROWID" } else { "" };
        format!("CREATE TABLE \"{}\" ({}){how}", self.name, parts.join(", "))
    }

    fn indexes_on(&self, on_postgres: bool) -> impl Iterator<Item = &String> {
        self.indexes.iter().map(move |index| if on_postgres { &index.on_postgres } else { &index.on_sqlite })
    }

    /// Everything that is said of it to an engine, but for what is noted of its rows, which follows from its columns.
    #[cfg(test)]
    pub(crate) fn said(&self, on_postgres: bool) -> Vec<String> {
        let guards =
            self.guards.iter().flat_map(|guard| if on_postgres { &guard.on_postgres } else { &guard.on_sqlite });
        [self.made(on_postgres)].into_iter().chain(self.indexes_on(on_postgres).chain(guards).cloned()).collect()
    }

    /// Makes it, bare: its key and what it refers to are there, and nothing else that looks at its rows.
    pub async fn make(&self, connection: &impl ConnectionTrait) -> Result<(), DbErr> {
        let on_postgres = connection.get_database_backend() == DbBackend::Postgres;
        connection.execute_unprepared(&self.made(on_postgres)).await.map(drop)
    }

    /// Makes what finds and what guards its rows.
    pub async fn guard(&self, connection: &impl ConnectionTrait) -> Result<(), DbErr> {
        let on_postgres = connection.get_database_backend() == DbBackend::Postgres;
        let guards =
            self.guards.iter().flat_map(|guard| if on_postgres { &guard.on_postgres } else { &guard.on_sqlite });
        for statement in self.indexes_on(on_postgres).chain(guards) {
            connection.execute_unprepared(statement).await?;
        }
        if self.is_sealed {
            let what = if self.grows_only { noting::What::Insertions } else { noting::What::Changes };
            noting::begin(connection, self.name, what).await?;
        }
        Ok(())
    }
}

/// Gives a table that is there another column. What is written to it from here on is noted like all else.
pub async fn add(connection: &impl ConnectionTrait, table: &str, column: Column) -> Result<(), DbErr> {
    let on_postgres = connection.get_database_backend() == DbBackend::Postgres;
    let added = format!("ALTER TABLE \"{table}\" ADD COLUMN {}", column.definition(on_postgres));
    connection.execute_unprepared(&added).await?;
    noting::make_of_table(connection, table).await
}
