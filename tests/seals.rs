//! Tampering is visible: whatever is changed behind the server's back, the proof of the books says so.
//!
//! No column is forgotten: the tables are asked for what they have, and each column of each is changed.

use crate::harness::books::{PATIENCE, behind_the_back, connected, literal, with_days};
use crate::harness::examples::creatable;
use crate::harness::{Company, Dialect, Engine, Options, Server};
use ledger_core::auth::TokenOptions;
use ledger_core::books::tables::documents;
use ledger_core::books::verify::{Check, Progress};
use ledger_core::clock::Clock;
use ledger_core::codes;
use ledger_core::database::{DatabaseOptions, Following, Purpose};
use ledger_core::ids::{BusinessId, RecordId, counted};
use ledger_core::keys::Keys;
use ledger_core::ledger::{Ledger, LedgerOptions};
use sea_orm::{ColumnTrait, ConnectionTrait, DatabaseConnection, DbBackend, QueryFilter, Statement};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;

pub(crate) const MASTER: &str = "a master key that nobody else has, for tests";

/// Tables of which nothing is proved, and why.
const EXCUSED: &[(&str, &str)] = &[
    ("access_changes", "a counter that tells servers to look again"),
    ("idempotency_keys", "an answer that is kept for a day; V9 proves that it is about a record"),
    ("dialect_usage", "who speaks which dialect: counted now and then, and no part of the books"),
    ("login_failures", "forgotten after a quarter of an hour"),
    ("mentions", "what may not be removed any more; whatever is removed stands in the audit log"),
    ("running_time", "how long keys of requests are kept: a clock, and no part of the books"),
    (
        "sign_in_places",
        "which networks somebody is known in: wrong passwords are counted apart there, and let nobody in",
    ),
    (
        "webhook_cursors",
        "how far somebody was told: whoever moves one has events sent again, or not; the feed has all of them",
    ),
    ("webhook_deliveries", "what became of attempts, kept for a month"),
    ("seaql_migrations", "the schema is held against what the migrations make"),
    ("touched", "what a batch notes of its own writes, and takes out before it commits"),
];

/// Tables that carry no seals, because they are computed anew or chained: what says so when one is changed.
const OTHERWISE: &[(&str, &[&str])] = &[
    ("account_days", &["V4a"]),
    ("account_months", &["V4b"]),
    ("party_balances", &["V4c", "V3"]),
    ("cash_days", &["V4j"]),
    ("document_counts", &["V4f"]),
    ("party_months", &["V4l"]),
    ("search_blocks", &["V4k"]),
    ("search_waiting", &["V4k"]),
    ("tax_months", &["V4h"]),
    ("trade_months", &["V4i"]),
    ("audit_log", &["V7", "V15"]),
    ("books", &["V7", "V15"]),
    ("installation", &["V15"]),
];

/// Columns under no seal of a table that has one.
const COLUMNS_OTHERWISE: &[(&str, &str, &[&str])] =
    &[("open_items", "open", &["V4d"]), ("open_items", "base_open", &["V4d"]), ("stock_lines", "cost", &["S2"])];

/// Columns of which nothing is proved, and why.
const EXCUSED_COLUMNS: &[(&str, &str, &str)] = &[
    ("sessions", "seen_at", "noted now and then; it ends no session and keeps none"),
    ("stock_lines", "was_missing", "a mark too many only has more read, and S2 tells one that is missing"),
];

pub(crate) struct Place {
    pub(crate) runtime: Runtime,
    pub(crate) ledger: Arc<Ledger>,
    database: DatabaseConnection,
}

/// What the proof says is wrong: the checks that fail, and the tables that they name.
#[derive(Debug, Default)]
pub(crate) struct Wrong {
    checks: BTreeSet<String>,
    pub(crate) tables: BTreeSet<String>,
    pub(crate) findings: Vec<String>,
    /// What cannot even be proved.
    pub(crate) error: Option<String>,
}

impl Wrong {
    fn add<E: Debug>(&mut self, proved: Result<impl IntoIterator<Item = Check>, E>) {
        let checks = match proved {
            Ok(checks) => checks,
            Err(error) => {
                self.error = Some(format!("{error:?}"));
                return;
            }
        };
        for check in checks.into_iter().filter(|check| !check.ok) {
            self.checks.insert(check.id);
            let tables = check.findings.iter().filter_map(|finding| finding.split_once(": "));
            self.tables.extend(tables.map(|(table, _)| table.to_owned()));
            self.findings.extend(check.findings);
        }
    }

    pub(crate) fn is_nothing(&self) -> bool {
        self.checks.is_empty() && self.error.is_none()
    }

    pub(crate) fn has(&self, checks: &[&str]) -> bool {
        // What cannot even be read is told by a check of its own.
        let told = checks.iter().chain(&["V18"]).any(|check| self.checks.contains(*check));
        self.error.is_some() || told
    }
}

/// Statements that put the contents of a company's documents back as they were before they were packed.
pub(crate) fn unpacked_contents(server: &Server, business: &str) -> Vec<String> {
    let place = Place::of(server);
    let of_company = documents::Column::BusinessId.eq(BusinessId::parse(business).expect("a company"));
    let all = documents::Entity::find().filter(of_company).all(&place.database);
    let all = place.runtime.block_on(all).expect("documents");
    let id = |id: RecordId| place.identifier(&id.to_string());
    let bytes = |text: &str| {
        let digits = text.bytes().fold(String::new(), |digits, byte| format!("{digits}{byte:02x}"));
        if place.is_postgres() { format!("'\\x{digits}'") } else { format!("X'{digits}'") }
    };
    let statement = |row: &documents::Model| {
        let content = bytes(row.content.json().expect("a content"));
        format!("UPDATE documents SET content = {content}, record = NULL WHERE id = {}", id(row.id))
    };
    all.iter().map(statement).collect()
}

impl Place {
    /// As the engine writes it in a statement.
    pub(crate) fn identifier(&self, id: &str) -> String {
        literal(if self.is_postgres() { Engine::Postgres } else { Engine::Sqlite }, id)
    }

    pub(crate) fn of(server: &Server) -> Self {
        Self::under(server, MASTER.as_bytes())
    }

    /// The same books, as whoever has this master key sees them.
    pub(crate) fn under(server: &Server, master: &[u8]) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let options = LedgerOptions {
            database: DatabaseOptions {
                url: server.database_url().into(),
                purpose: Purpose::Reading,
                pool_size: 4,
                patience: PATIENCE,
                readers: 2,
                page_cache_kib: 4_096,
                log_budget: 1 << 28,
                following: Following::default(),
            },
            tokens: TokenOptions {
                secret: vec![7; 32],
                issuer: "test".into(),
                audience: "test".into(),
                lifetime: Duration::from_mins(1),
            },
            keys: Keys::of(master),
            keys_are_new: false,
            write_queue: 8,
            answer_bytes: 1 << 20,
            remembered_bytes: 1 << 20,
            lane_bytes: 1 << 20,
            read_time: Duration::from_mins(10),
            clock: Clock::system(),
        };
        let ledger = runtime.block_on(Ledger::open(options)).unwrap();
        let database = runtime.block_on(connected(server.database_url()));
        let database = database.unwrap();
        Self { runtime, ledger, database }
    }

    pub(crate) fn is_postgres(&self) -> bool {
        self.database.get_database_backend() == DbBackend::Postgres
    }

    pub(crate) fn run(&self, sql: &str) {
        let done = self.runtime.block_on(self.database.execute_unprepared(sql));
        done.unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    pub(crate) fn try_to(&self, sql: &str) -> Result<(), String> {
        self.runtime
            .block_on(self.database.execute_unprepared(&with_days(sql)))
            .map(drop)
            .map_err(|error| error.to_string())
    }

    pub(crate) fn texts(&self, sql: &str) -> Vec<String> {
        let asked = Statement::from_string(self.database.get_database_backend(), sql);
        let rows =
            self.runtime.block_on(self.database.query_all_raw(asked)).unwrap_or_else(|error| panic!("{sql}: {error}"));
        rows.iter()
            .map(|row| row.try_get::<String>("", "text").unwrap_or_else(|error| panic!("{sql}: {error}")))
            .collect()
    }

    pub(crate) fn wrong(&self) -> Wrong {
        let mut wrong = self.wrong_in(None);
        self.add_installation(&mut wrong);
        wrong
    }

    /// The same of one company, or of all.
    fn wrong_in(&self, company: Option<BusinessId>) -> Wrong {
        let mut wrong = Wrong::default();
        let proved = self.runtime.block_on(self.ledger.verify(company, 2, &[], &Progress::default()));
        wrong.add(proved.map(|proofs| proofs.into_iter().flat_map(|proof| proof.verdict.checks)));
        wrong
    }

    fn add_installation(&self, wrong: &mut Wrong) {
        wrong.add(self.runtime.block_on(self.ledger.verify_installation()));
    }

    /// Whether the proof tells of what was changed. Who is likeliest to tell is asked first, and all only where nobody does: a
    /// company that cannot be asked by itself has told nothing.
    fn is_told(&self, likeliest: Option<BusinessId>, tells: impl Fn(&Wrong) -> bool) -> bool {
        let of_installation = || {
            let mut wrong = Wrong::default();
            self.add_installation(&mut wrong);
            tells(&wrong)
        };
        let alone = likeliest.map(|company| self.wrong_in(Some(company)));
        alone.is_some_and(|wrong| wrong.error.is_none() && tells(&wrong))
            || of_installation()
            || tells(&self.wrong_in(None))
    }

    /// What one check of the proof of one company finds.
    pub(crate) fn findings(&self, company: &Company<'_>, check: &str) -> Vec<String> {
        let business = BusinessId::parse(&company.id).unwrap();
        let proofs = self.runtime.block_on(self.ledger.verify(Some(business), 2, &[], &Progress::default())).unwrap();
        let checks = proofs.into_iter().flat_map(|proof| proof.verdict.checks).filter(|one| one.id == check);
        checks.flat_map(|one| one.findings).collect()
    }

    /// The tables that the proof of one company finds something wrong with.
    pub(crate) fn wrong_of(&self, company: &Company<'_>) -> BTreeSet<String> {
        let business = BusinessId::parse(&company.id).unwrap();
        let proofs = self.runtime.block_on(self.ledger.verify(Some(business), 2, &[], &Progress::default())).unwrap();
        let checks = proofs.into_iter().flat_map(|proof| proof.verdict.checks).filter(|check| !check.ok);
        let tables = checks.flat_map(|check| check.findings).filter_map(|one| Some(one.split_once(": ")?.0.to_owned()));
        tables.collect()
    }

    fn tables(&self) -> Vec<String> {
        self.texts(if self.is_postgres() {
            "SELECT tablename::text AS text FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1"
        } else {
            "SELECT name AS text FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name"
        })
    }

    /// The columns of a table, and their types.
    fn columns(&self, table: &str) -> Vec<(String, String)> {
        let sql = if self.is_postgres() {
            format!(
                "SELECT column_name || ' ' || data_type AS text FROM information_schema.columns \
                 WHERE table_schema = current_schema() AND table_name = '{table}' ORDER BY ordinal_position"
            )
        } else {
            format!("SELECT name || ' ' || lower(type) AS text FROM pragma_table_info('{table}') ORDER BY cid")
        };
        let split = |text: String| text.split_once(' ').map(|(name, kind)| (name.to_owned(), kind.to_owned())).unwrap();
        self.texts(&sql).into_iter().map(split).collect()
    }

    /// Takes off what guards the tables, for this connection's own doings.
    pub(crate) fn unguard(&self) {
        if self.is_postgres() {
            return self.run("SET session_replication_role = replica");
        }
        self.run("PRAGMA foreign_keys = OFF");
        for name in self.texts("SELECT name AS text FROM sqlite_schema WHERE type = 'trigger'") {
            self.run(&format!("DROP TRIGGER {name}"));
        }
    }

    /// One row of a table: its columns as they are written in SQL.
    fn a_row(&self, table: &str, columns: &[(String, String)]) -> Option<Vec<String>> {
        let quote = if self.is_postgres() { "quote_nullable" } else { "quote" };
        // One in which most is said.
        let said: Vec<String> =
            columns.iter().map(|(name, _)| format!("(CASE WHEN \"{name}\" IS NULL THEN 0 ELSE 1 END)")).collect();
        // At once, and taken apart again: not every table says which row is which but by its key.
        let between = if self.is_postgres() { " || chr(31) || " } else { " || char(31) || " };
        let all: Vec<String> = columns.iter().map(|(name, _)| format!("{quote}(\"{name}\")")).collect();
        let found = self.texts(&format!(
            "SELECT {} AS text FROM \"{table}\" ORDER BY {} DESC LIMIT 1",
            all.join(between),
            said.join(" + ")
        ));
        Some(found.first()?.split('\u{1f}').map(str::to_owned).collect())
    }

    fn within(&self, table: &str, columns: &[(String, String)], row: &[String]) -> String {
        let same = |((name, kind), value): (&(String, String), &String)| match value.as_str() {
            "NULL" => format!("\"{name}\" IS NULL"),
            value if self.is_postgres() => format!("\"{name}\" = {value}::{kind}"),
            value => format!("\"{name}\" IS {value}"),
        };
        let same: Vec<String> = columns.iter().zip(row).map(same).collect();
        format!("FROM_TABLE \"{table}\" WHERE {}", same.join(" AND "))
    }

    fn change(&self, table: &str, columns: &[(String, String)], row: &[String], (place, to): (usize, &str)) {
        let found = self.within(table, columns, row).split_once(" WHERE ").unwrap().1.to_owned();
        self.run(&format!("UPDATE \"{table}\" SET \"{}\" = {to} WHERE {found}", columns[place].0));
    }

    /// Another value of a column.
    fn another(&self, kind: &str, value: &str) -> String {
        let null = value == "NULL";
        match kind {
            "boolean" if self.is_postgres() => if value == "'true'" { "false" } else { "true" }.into(),
            "boolean" => if value == "1" { "0" } else { "1" }.into(),
            "bigint" | "integer" if null => "1".into(),
            "bigint" | "integer" if self.is_postgres() => format!("{value}::bigint + 1000003"),
            "bigint" | "integer" => format!("{value} + 1000003"),
            "bytea" if !null => format!("{value}::bytea || 'x'::bytea"),
            "blob" if !null => format!("CAST({value} || 'x' AS BLOB)"),
            "blob" => "X'78'".into(),
            "uuid" => "'00000000-0000-4000-8000-0000000000ff'".into(),
            "uuid_text" => "X'000000000000400080000000000000FF'".into(),
            _ if null => "'x'".into(),
            _ => format!("{value} || 'x'"),
        }
    }

    /// Keeps every table as it is now.
    pub(crate) fn keep(&self, under: &str) {
        for table in self.tables().iter().filter(|table| !table.starts_with("kept_")) {
            self.run(&format!("CREATE TABLE kept_{under}_{table} AS SELECT * FROM \"{table}\""));
        }
    }

    /// Puts a table back as it was kept.
    pub(crate) fn put_back(&self, under: &str, table: &str) {
        self.run(&format!("DELETE FROM \"{table}\""));
        self.run(&format!("INSERT INTO \"{table}\" SELECT * FROM kept_{under}_{table}"));
    }

    fn put_all_back(&self, under: &str) {
        for table in self.tables().iter().filter(|table| !table.starts_with("kept_")) {
            self.put_back(under, table);
        }
    }

    /// The same in SQL as it reads once it was changed.
    fn read_back(&self, columns: &[(String, String)], row: &[String], place: usize, to: &str) -> Vec<String> {
        let quote = if self.is_postgres() { "quote_nullable" } else { "quote" };
        let kind = &columns[place].1;
        let to = if self.is_postgres() { format!("({to})::{kind}") } else { to.to_owned() };
        let mut changed = row.to_vec();
        changed[place] = self.texts(&format!("SELECT {quote}({to}) AS text")).remove(0);
        changed
    }
}

/// Books in which every table has something.
pub(crate) fn populated(server: &Server) -> Vec<Company<'_>> {
    let mut companies: Vec<Company<'_>> = crate::audit::every_kind_of_books(server).into();
    let all = server.company();
    for operations in creatable().filter(|one| one.key.stem() != "businesses") {
        let resource = operations.key.stem();
        all.ask(Dialect::B, "POST", resource, "", Some(&all.example(resource))).expect(201);
    }
    // So many that a block of them is made, and some wait.
    for _ in 0..2 * words::grams::FULL + 4 {
        all.post_journal(&all.journal_body("2026-03-05", &[("6200", "10"), ("1010", "-10")])).expect(201);
    }
    companies.push(all);
    companies.push(long_story(server));
    crate::signin::with_recovery_codes(server);
    companies
}

/// Goods of which so much happened that an evening is kept.
fn long_story(server: &Server) -> Company<'_> {
    let shop = crate::harness::shop::Shop::open(server, Dialect::B);
    let item = shop.item(json!({}));
    for (date, lines) in [("2026-03-01", 120), ("2026-03-02", 1)] {
        let found = json!({"itemId": item, "quantityDelta": 1, "unitCost": 2});
        shop.make("stockAdjustments", &json!({"date": date, "lines": vec![found; lines]}));
    }
    shop.company
}

pub(crate) fn start(engine: Engine) -> Option<Server> {
    let custom = json!({"Security": {"MasterKey": MASTER}}).to_string();
    Server::start(engine, Options { custom: Some(custom), ..Options::default() })
}

fn every_column_is_proved(engine: Engine) {
    let Some(server) = start(engine) else { return };
    let _companies = populated(&server);
    let place = Place::of(&server);
    assert!(place.wrong().is_nothing(), "{:?}", place.wrong());
    place.unguard();
    let excused: BTreeMap<&str, &str> = EXCUSED.iter().copied().collect();
    let otherwise: BTreeMap<&str, &[&str]> = OTHERWISE.iter().copied().collect();
    let mut sealed = Vec::new();
    let mut unseen = Vec::new();
    for table in place.tables().into_iter().filter(|table| !excused.contains_key(table.as_str())) {
        let columns = place.columns(&table);
        let Some(row) = place.a_row(&table, &columns) else { panic!("{table} has no row to change") };
        let by_hand = |column: &str| {
            let own = COLUMNS_OTHERWISE.iter().find(|(of, name, _)| *of == table && *name == column);
            own.map(|(_, _, checks)| *checks).or_else(|| otherwise.get(table.as_str()).copied())
        };
        for (at, (column, kind)) in columns.iter().enumerate() {
            // What the company itself is read by is looked at alone: without it nothing else is proved.
            let alone = by_hand(column).or((table == "businesses").then_some(&["V15"][..]));
            let Some(checks) = alone else { continue };
            let to = place.another(kind, &row[at]);
            place.change(&table, &columns, &row, (at, &to));
            let changed = place.read_back(&columns, &row, at, &to);
            let own = company_of(&columns, &row);
            if !place.is_told(own, |wrong| wrong.has(checks)) {
                unseen.push(format!("{table}.{column}"));
            }
            place.change(&table, &columns, &changed, (at, &row[at]));
        }
        if !otherwise.contains_key(table.as_str()) && table != "businesses" {
            sealed.push((table, columns, row));
        }
    }
    assert!(place.wrong().is_nothing(), "all is as it was: {:?}", place.wrong());
    // One column of every table at a time: each table says for itself that it was changed.
    let most = sealed.iter().map(|(_, columns, _)| columns.len()).max().unwrap();
    for at in 0..most {
        let of_round = sealed
            .iter()
            .filter(|(table, columns, _)| columns.get(at).is_some_and(|(column, _)| !is_apart(table, column)));
        let of_round: Vec<_> = of_round.collect();
        let mut undo = Vec::new();
        for (table, columns, row) in &of_round {
            let to = place.another(&columns[at].1, &row[at]);
            place.change(table, columns, row, (at, &to));
            undo.push(place.read_back(columns, row, at, &to));
        }
        let wrong = place.wrong();
        for ((table, columns, row), changed) in of_round.iter().zip(undo) {
            // Lines are under the seal of their entry.
            let told = if table == "entry_lines" { "entries" } else { table.as_str() };
            if !wrong.tables.contains(told) {
                unseen.push(format!("{table}.{}", columns[at].0));
            }
            place.change(table, columns, &changed, (at, &row[at]));
        }
    }
    assert_eq!(unseen, [""; 0], "changed, and nothing says so");
    assert!(place.wrong().is_nothing(), "all is as it was: {:?}", place.wrong());
    every_row_is_missed(&place, &sealed);
}

/// The company whose row it is, as SQL has it.
fn company_of(columns: &[(String, String)], row: &[String]) -> Option<BusinessId> {
    let place = columns.iter().position(|(name, _)| name == "business_id")?;
    let digits: String = row[place].to_lowercase().chars().filter(char::is_ascii_hexdigit).collect();
    let groups = [0..8, 8..12, 12..16, 16..20, 20..32].map(|group| digits.get(group));
    BusinessId::parse(&groups.into_iter().collect::<Option<Vec<_>>>()?.join("-"))
}

/// Whether a column is under no seal of its table.
fn is_apart(table: &str, column: &str) -> bool {
    let of_others = COLUMNS_OTHERWISE.iter().map(|(of, name, _)| (*of, *name));
    let mut all = of_others.chain(EXCUSED_COLUMNS.iter().map(|(of, name, _)| (*of, *name)));
    all.any(|apart| apart == (table, column))
}

/// A table, its columns with their types, and its key.
type Table = (String, Vec<(String, String)>, Vec<String>);

/// A row that is taken out is missed; so is one that is put in beside it.
fn every_row_is_missed(place: &Place, sealed: &[Table]) {
    for (table, columns, row) in sealed {
        let found = place.within(table, columns, row).split_once(" WHERE ").unwrap().1.to_owned();
        place.run(&format!("DELETE FROM \"{table}\" WHERE {found}"));
    }
    let wrong = place.wrong();
    for (table, columns, row) in sealed {
        let told = if table == "entry_lines" { "entries" } else { table.as_str() };
        assert!(wrong.tables.contains(told), "{table}: a row was taken out, and nothing says so: {wrong:?}");
        let names: Vec<String> = columns.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        place.run(&format!("INSERT INTO \"{table}\" ({}) VALUES ({})", names.join(", "), row.join(", ")));
    }
    assert!(place.wrong().is_nothing(), "all is as it was: {:?}", place.wrong());
}

#[test]
fn every_column_of_every_table_is_proved_on_sqlite() {
    every_column_is_proved(Engine::Sqlite);
}

#[test]
fn every_column_of_every_table_is_proved_on_postgres() {
    every_column_is_proved(Engine::Postgres);
}

/// What the issue was made of, and what comes to mind beside it: each by itself, with the guards put back after it.
/// `{b}` is the company, `{nil}` nobody.
const HANDS: &[(&str, &str)] = &[
    (
        "a supplier's bank details",
        "UPDATE parties SET bank_details = '{\"iban\":\"GB00EVIL\"}' WHERE business_id = {b}",
    ),
    ("a party's name", "UPDATE parties SET name = 'Evil Ltd' WHERE business_id = {b}"),
    ("a party that is gone", "DELETE FROM parties WHERE business_id = {b} AND name = 'Somebody'"),
    ("what a document is about", "UPDATE documents SET content = '{}' WHERE business_id = {b}"),
    ("where that stands", "UPDATE documents SET record = record + 1 WHERE business_id = {b}"),
    ("what was done", "UPDATE audit_log SET record = NULL WHERE business_id = {b} AND sequence = 2"),
    ("whom a document is with", "UPDATE documents SET party_id = {nil} WHERE business_id = {b}"),
    ("what a document refers to", "UPDATE documents SET reference = 'EVIL' WHERE business_id = {b}"),
    ("a draft that is gone", "DELETE FROM documents WHERE business_id = {b}"),
    ("the words of an entry", "UPDATE entries SET narration = 'nothing to see' WHERE business_id = {b} AND number = 1"),
    ("who recorded an entry", "UPDATE entries SET recorded_by = {nil} WHERE business_id = {b} AND number = 1"),
    ("when an entry was recorded", "UPDATE entries SET recorded_at = 1 WHERE business_id = {b} AND number = 1"),
    ("the words of a line", "UPDATE entry_lines SET description = 'x' WHERE business_id = {b} AND entry_number = 1"),
    (
        "when a line is due",
        "UPDATE entry_lines SET due_date = '2030-01-01' WHERE business_id = {b} AND entry_number = 1",
    ),
    ("a password", "UPDATE users SET password_hash = 'x'"),
    ("an administrator", "UPDATE users SET is_system_admin = NOT is_system_admin"),
    ("an address to log in with", "UPDATE users SET email_key = email_key || 'x'"),
    ("a second factor", "UPDATE sign_ins SET totp_on = NOT totp_on"),
    ("a sign-in that is gone", "DELETE FROM sign_ins"),
    ("a member", "UPDATE memberships SET user_id = {nil} WHERE business_id = {b}"),
    (
        "a member put in",
        "INSERT INTO memberships (business_id, user_id, permission_id) SELECT business_id, {nil}, permission_id FROM memberships WHERE business_id = {b}",
    ),
    ("a member taken out", "DELETE FROM memberships WHERE business_id = {b}"),
    ("what a role may do", "UPDATE permission_sets SET role = 'owner' WHERE business_id = {b}"),
    (
        "how far a role may go",
        "UPDATE permission_sets SET max_document_amount = NULL, backdate_days = 1000 WHERE business_id = {b}",
    ),
    ("a key", "UPDATE api_keys SET digest = digest || 'x'"),
    ("what a key may do", "UPDATE api_keys SET scopes = NULL, allowed_addresses = '[]'"),
    ("a key that is gone", "DELETE FROM api_keys"),
    ("a lock that is gone", "DELETE FROM locks"),
    ("a lock of another day", "UPDATE locks SET hard_lock_date = NULL, lock_date = NULL, reason = 'x'"),
    ("the company's name", "UPDATE businesses SET name = 'Evil' WHERE id = {b}"),
    ("the company's settings", "UPDATE businesses SET settings = settings || ' ' WHERE id = {b}"),
    ("an item", "UPDATE items SET name = 'Evil'"),
    (
        "an account's type",
        "UPDATE accounts SET type = 'expense', class = 'expense' WHERE business_id = {b} AND code = '4000'",
    ),
    (
        "accounts nobody used",
        "DELETE FROM accounts WHERE business_id = {b} AND id NOT IN (SELECT account_id FROM entry_lines)",
    ),
    ("a tax code", "UPDATE tax_codes SET components = '[]'"),
    ("a payment term", "UPDATE payment_terms SET days = days + 1"),
    ("a rate", "UPDATE exchange_rates SET rate = rate + 1"),
    ("a fiscal year", "UPDATE fiscal_years SET status = 'open', ends = '2099-12-31'"),
    ("a series", "UPDATE number_series SET first_number = 7 WHERE business_id = {b}"),
    ("a counter", "UPDATE number_counters SET last_date = '2000-01-01'"),
    ("a link between documents", "DELETE FROM document_links"),
    ("what stock is made of", "UPDATE stock SET layers = layers || ' '"),
    ("when something is due", "UPDATE open_items SET due_date = '2030-01-01'"),
    ("why something was taken back", "UPDATE documents SET void_reason = 'x' WHERE business_id = {b}"),
    ("the log, cut off at its end", "DELETE FROM audit_log WHERE business_id = {b} AND sequence > 3"),
    (
        "the log cut off, and its head set back",
        "DELETE FROM audit_log WHERE business_id = {b} AND sequence > 3; \
         UPDATE books SET audit_sequence = 3, audit_hash = (SELECT hash FROM audit_log WHERE business_id = {b} AND sequence = 3) \
         WHERE business_id = {b}",
    ),
    ("a signature", "UPDATE books SET signature = '' WHERE business_id = {b}"),
    ("the signature of the installation", "UPDATE installation SET signature = ''"),
    ("a sum", "UPDATE books SET sums = '' WHERE business_id = {b}"),
    ("a session that does not end", "UPDATE sessions SET ended_at = NULL, ends_at = ends_at + 1000000"),
    ("whose session it is", "UPDATE sessions SET user_id = {nil}"),
    ("a recovery code", "UPDATE recovery_codes SET digest = digest || 'x'"),
    ("a recovery code put in", "INSERT INTO recovery_codes (user_id, digest) SELECT id, 'x' FROM users"),
    ("an invitation that does not end", "UPDATE invitations SET expires_at = expires_at + 1000000"),
    ("a key that did not end", "UPDATE api_keys SET ended_at = 1"),
    ("an invitation", "UPDATE invitations SET digest = digest || 'x'"),
    ("a company that is gone", "DELETE FROM businesses WHERE id = {b}; DELETE FROM books WHERE business_id = {b}"),
];

fn each_hand_is_seen(engine: Engine) {
    let Some(server) = start(engine) else { return };
    let companies = populated(&server);
    let company = &companies[0];
    let place = Place::of(&server);
    assert!(place.wrong().is_nothing(), "{:?}", place.wrong());
    place.unguard();
    let about = BusinessId::parse(&company.id).unwrap();
    let (own, nil) = (place.identifier(&company.id), place.identifier("00000000-0000-0000-0000-000000000000"));
    place.keep("all");
    for (what, statements) in HANDS {
        let statements: Vec<String> =
            statements.replace("{b}", &own).replace("{nil}", &nil).split("; ").map(str::to_owned).collect();
        for statement in &statements {
            place.run(&with_days(statement));
        }
        let told = place.is_told(Some(about), |wrong| !wrong.is_nothing());
        assert!(told, "{what}: nothing is said of it");
        let tables = statements.iter().filter_map(|statement| {
            let words = statement.strip_prefix("UPDATE ").or(statement.strip_prefix("DELETE FROM "));
            words.or(statement.strip_prefix("INSERT INTO "))?.split(' ').next()
        });
        tables.collect::<BTreeSet<_>>().iter().for_each(|table| place.put_back("all", table));
    }
    assert!(HANDS.len() >= 40 && place.wrong().is_nothing(), "all is as it was: {:?}", place.wrong());
}

#[test]
fn each_hand_behind_the_servers_back_is_seen_on_sqlite() {
    each_hand_is_seen(Engine::Sqlite);
}

#[test]
fn each_hand_behind_the_servers_back_is_seen_on_postgres() {
    each_hand_is_seen(Engine::Postgres);
}

/// What was right once is not right for ever.
fn what_was_once_is_seen(engine: Engine) {
    let Some(server) = start(engine) else { return };
    let company = server.company();
    let party = company.party(json!({"name": "Before"}));
    let place = Place::of(&server);
    place.keep("then");
    let path = format!("/{}", party["id"].as_str().unwrap());
    let mut changed = party.clone();
    changed["name"] = "After".into();
    company.ask(Dialect::A, "PUT", "parties", &path, Some(&changed)).expect(200);
    company.ask(Dialect::A, "POST", "users", "", Some(&company.example("users"))).expect(201);
    assert!(place.wrong().is_nothing(), "{:?}", place.wrong());
    place.keep("now");
    let guards = guards(&server);
    place.unguard();
    for table in ["parties", "memberships", "users", "permission_sets"] {
        place.put_back("then", table);
        let wrong = place.wrong();
        let moved = table != "permission_sets";
        assert_eq!(wrong.tables.contains(table), moved, "{table}: {wrong:?}");
        place.put_back("now", table);
    }
    // All of it set back alike fits together; only who kept a head elsewhere can tell.
    let anchor = server.folder.join("anchor");
    let anchor = anchor.to_str().unwrap();
    let head = company.ask(Dialect::A, "GET", "auditLog", "/head", None).expect(200).answer.text;
    let same = company.ask(Dialect::B, "GET", "auditLog", "/head", None).expect(200).data;
    assert_eq!(same["entryNumber"], 0);
    let business = serde_json::to_string(&same["businessId"]).unwrap();
    let proves = |arguments: &[&str], what: &str| {
        let proof = server.command(&[&["verify", "--json"], arguments].concat(), "");
        let said: Value = serde_json::from_slice(&proof.stdout).unwrap_or_else(|_| panic!("{proof:?}"));
        let of_heads: Vec<&Value> =
            said["installation"].as_array().unwrap().iter().filter(|check| check["id"] == "V17").collect();
        assert_eq!(of_heads.len(), 1, "{said}");
        assert_eq!(of_heads[0]["ok"], what.is_empty(), "{said}");
        assert!(of_heads[0]["findings"].to_string().contains(what), "{said}");
        assert!(what.is_empty() || proof.status.code() == Some(1));
    };
    put_guards_back(&server, &guards);
    proves(&["--anchor", anchor], "");
    proves(&["--head", &head], "");
    let kept = std::fs::read_to_string(anchor).unwrap();
    assert!(kept.contains(&business) && kept.lines().all(|line| line.contains("\"signature\"")), "{kept}");
    company.party(json!({}));
    proves(&["--anchor", anchor], "");
    proves(&["--head", &kept], "");
    let newer = std::fs::read_to_string(anchor).unwrap();
    assert_ne!(newer, kept, "the anchor goes on with the books");
    proves(&["--head", &newer.replace("\"entryNumber\":0", "\"entryNumber\":1")], "was not signed");
    place.unguard();
    place.put_all_back("now");
    put_guards_back(&server, &guards);
    assert!(place.wrong().is_nothing(), "{:?}", place.wrong());
    proves(&["--head", &head], "");
    proves(&["--anchor", anchor], "went back from record");
    assert_eq!(std::fs::read_to_string(anchor).unwrap(), newer, "the anchor does not go back with the books");
}

/// The triggers of a file: their names, and how they were made.
pub(crate) fn guards(server: &Server) -> Vec<(String, String)> {
    if server.engine == Engine::Postgres {
        return Vec::new();
    }
    let place = Place::of(server);
    let all = |what: &str| {
        place.texts(&format!("SELECT {what} AS text FROM sqlite_schema WHERE type = 'trigger' ORDER BY name"))
    };
    all("name").into_iter().zip(all("sql")).collect()
}

/// Puts the triggers back that were taken off.
pub(crate) fn put_guards_back(server: &Server, guards: &[(String, String)]) {
    let there: BTreeSet<String> = self::guards(server).into_iter().map(|(name, _)| name).collect();
    let missing = guards.iter().filter(|(name, _)| !there.contains(name)).map(|(_, made)| made.clone());
    let statements: Vec<String> = match server.engine {
        Engine::Sqlite => missing.collect(),
        Engine::Postgres => [
            "entries",
            "entry_lines",
            "audit_log",
            "open_item_moves",
            "stock_facts",
            "stock_moves",
            "progress_moves",
            "tax_facts",
        ]
        .map(|table| format!("ALTER TABLE {table} ENABLE TRIGGER ALL"))
        .to_vec(),
    };
    behind_the_back(server, &statements).unwrap();
}

#[test]
fn what_was_right_once_is_seen_on_sqlite() {
    what_was_once_is_seen(Engine::Sqlite);
}

#[test]
fn what_was_right_once_is_seen_on_postgres() {
    what_was_once_is_seen(Engine::Postgres);
}

fn nothing_that_grows_is_replaced(engine: Engine) {
    let Some(server) = start(engine) else { return };
    let _companies = populated(&server);
    let place = Place::of(&server);
    for table in [
        "entries",
        "entry_lines",
        "audit_log",
        "open_item_moves",
        "stock_facts",
        "stock_moves",
        "progress_moves",
        "tax_facts",
    ] {
        let replace = match engine {
            Engine::Sqlite => format!("INSERT OR REPLACE INTO {table} SELECT * FROM {table} LIMIT 1"),
            Engine::Postgres => format!(
                "INSERT INTO {table} SELECT * FROM {table} LIMIT 1 \
                 ON CONFLICT ON CONSTRAINT {table}_pkey DO UPDATE SET business_id = excluded.business_id"
            ),
        };
        let done = place.runtime.block_on(place.database.execute_unprepared(&replace));
        let refused = done.expect_err(table).to_string();
        assert!(refused.contains("append-only"), "{table}: {refused}");
    }
    // What has no guard but its seal: the next batch of the server does not seal it.
    place.run("UPDATE parties SET name = 'Evil Ltd'");
    server.company();
    assert!(place.wrong().tables.contains("parties"));
}

#[test]
fn what_grows_only_is_not_replaced_on_sqlite() {
    nothing_that_grows_is_replaced(Engine::Sqlite);
}

#[test]
fn what_grows_only_is_not_replaced_on_postgres() {
    nothing_that_grows_is_replaced(Engine::Postgres);
}

/// A trigger that is dropped, switched off, or put in is told by name.
fn the_schema_is_held_against_the_migrations(engine: Engine) {
    let Some(server) = start(engine) else { return };
    let place = Place::of(&server);
    let proof = server.command(&["verify"], "");
    assert_eq!(proof.status.code(), Some(0), "{}", String::from_utf8_lossy(&proof.stdout));
    let changes: &[(&str, &str)] = match engine {
        Engine::Sqlite => &[
            ("DROP TRIGGER entries_are_not_updated", "entries_are_not_updated is missing"),
            ("DROP INDEX audit_log_id", "audit_log_id is missing"),
            ("CREATE TRIGGER hook AFTER INSERT ON parties BEGIN SELECT 1; END", "hook was put in"),
        ],
        Engine::Postgres => &[
            (
                "ALTER TABLE entries DISABLE TRIGGER entries_are_append_only",
                "entries_are_append_only is not as it was made",
            ),
            ("ALTER TABLE memberships DROP CONSTRAINT memberships_user", "memberships_user is missing"),
            (
                "CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$",
                "the function refuse_change is not as it was made",
            ),
            ("CREATE RULE hook AS ON DELETE TO parties DO INSTEAD NOTHING", "hook was put in"),
        ],
    };
    for (change, told) in changes {
        place.run(change);
        let proof = server.command(&["verify"], "");
        let said = String::from_utf8_lossy(&proof.stdout).into_owned();
        assert!(proof.status.code() == Some(1) && said.contains("V16") && said.contains(told), "{change}: {said}");
    }
}

#[test]
fn a_schema_that_was_changed_is_seen_on_sqlite() {
    the_schema_is_held_against_the_migrations(Engine::Sqlite);
}

#[test]
fn a_schema_that_was_changed_is_seen_on_postgres() {
    the_schema_is_held_against_the_migrations(Engine::Postgres);
}

fn bytes_of(digits: &str) -> Vec<u8> {
    let pair = |place: usize| u8::from_str_radix(&digits[place..place + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(pair).collect()
}

/// What a record of the log is chained with, in the order of the chain, and whether it is an identifier.
const CHAINED: &[(&str, bool)] = &[
    ("business_id", true),
    ("sequence", false),
    ("id", true),
    ("at", false),
    ("user_id", true),
    ("address", false),
    ("dialect", false),
    ("request_id", false),
    ("action", false),
    ("resource", false),
    ("resource_id", true),
    ("version_from", false),
    ("version_to", false),
    ("before", false),
    ("after", false),
];

/// What a request is called, of what is kept of that: sixteen bytes are an identifier, and a text stands as it is.
fn called(kept: &[u8]) -> String {
    match sea_orm::prelude::Uuid::from_slice(kept) {
        Ok(id) => id.to_string(),
        Err(_) => String::from_utf8(kept.strip_prefix(&[0xff]).unwrap_or(kept).to_vec()).unwrap(),
    }
}

/// Chains records of a log as they were chained before there was a key, after this hash. The last hash is answered.
pub(crate) fn chain_plainly_from(
    place: &Place,
    business: &str,
    which: RangeInclusive<usize>,
    mut previous: String,
) -> String {
    for sequence in which {
        let value = |(column, is_id): &(&str, bool)| {
            let is_packed = matches!(*column, "before" | "after" | "record");
            let is_bytes = is_packed || *column == "request_id";
            let text = match (place.is_postgres(), is_id | is_bytes) {
                (true, _) if is_bytes => format!("encode(\"{column}\", 'hex')"),
                (true, _) => format!("\"{column}\"::text"),
                (false, true) => format!("lower(hex(\"{column}\"))"),
                (false, false) => format!("CAST(\"{column}\" AS TEXT)"),
            };
            let sql = format!(
                "SELECT CASE WHEN \"{column}\" IS NULL THEN '-' ELSE '=' || {text} END AS text FROM audit_log \
                 WHERE business_id = {business} AND sequence = {sequence}"
            );
            let found = place.texts(&sql).remove(0);
            let mut text = found.strip_prefix('=')?.to_owned();
            if is_packed {
                text = ledger_core::packed::unpack(&bytes_of(&text))?;
            }
            if *column == "request_id" {
                text = called(&bytes_of(&text));
            }
            if matches!(*column, "action" | "resource") {
                text = codes::word_of(&text).map_or(text, str::to_owned);
            }
            let whole = |id: &str| counted::read(&bytes_of(id)).expect("an identifier").to_string();
            Some(if *is_id && !text.contains('-') { whole(&text) } else { text })
        };
        let mut digest = ring::digest::Context::new(&ring::digest::SHA256);
        let record = value(&("record", false)).map(|record| [Some("record".to_owned()), Some(record)]);
        let parts = std::iter::once(Some(previous.clone())).chain(CHAINED.iter().map(value));
        for part in parts.chain(record.into_iter().flatten()) {
            match part {
                Some(text) => digest.update(format!("{}:{text}", text.len()).as_bytes()),
                None => digest.update(b"-:"),
            }
        }
        let hash: String = digest.finish().as_ref().iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
        place.run(&format!(
            "UPDATE audit_log SET hash = '{hash}', keyed = false, search = NULL \
             WHERE business_id = {business} AND sequence = {sequence}"
        ));
        previous = hash;
    }
    previous
}

/// ... from the first one up to a place.
fn chain_plainly(place: &Place, business: &str, until: usize) -> String {
    chain_plainly_from(place, business, 1..=until, String::new())
}

/// A company's books as a release left them that had no seals: how its log ends, and how many records it has.
fn as_without_seals(server: &Server, place: &Place, own: &str) -> (String, usize) {
    let guards = guards(server);
    let count = |business: &str| {
        let sql = format!("SELECT CAST(COUNT(*) AS TEXT) AS text FROM audit_log WHERE business_id = {business}");
        place.texts(&sql)[0].parse::<usize>().unwrap()
    };
    place.unguard();
    for table in place.tables() {
        if place.columns(&table).iter().any(|(column, _)| column == "seal") {
            place.run(&format!("UPDATE \"{table}\" SET seal = ''"));
        }
    }
    let mut head = String::new();
    for business in [place.identifier("00000000-0000-0000-0000-000000000000"), own.to_owned()] {
        head = chain_plainly(place, &business, count(&business));
        place.run(&format!("UPDATE books SET audit_hash = '{head}' WHERE business_id = {business}"));
    }
    place.run("UPDATE books SET sums = '', signature = ''");
    place.run("UPDATE installation SET sums = '', signature = ''");
    put_guards_back(server, &guards);
    assert!(!place.wrong().is_nothing());
    (head, count(own))
}

/// Where no master key is beside them they cannot have been sealed: the first start makes one, and seals them.
fn books_without_a_key_are_sealed(engine: Engine) {
    let Some(server) = Server::start(engine, Options::default()) else { return };
    let company = server.company();
    company.party(json!({}));
    let id = company.id.clone();
    let key = server.folder.join("data/master-key");
    let first = std::fs::read(&key).unwrap();
    let place = Place::under(&server, &first);
    as_without_seals(&server, &place, &place.identifier(&id));
    let server = server.restarted_after(|command| {
        let migrated = || {
            let done = command(&["migrate"], "");
            (done.status.success(), String::from_utf8_lossy(&done.stderr).into_owned())
        };
        let (done, why) = migrated();
        assert!(!done && why.contains("their seals were taken off"), "{why}");
        place.run("DELETE FROM installation");
        let (done, why) = migrated();
        assert!(!done && why.contains("--seal-old-books"), "{why}");
        place.run("DELETE FROM installation");
        std::fs::remove_file(&key).unwrap();
        let (done, why) = migrated();
        assert!(done, "{why}");
    });
    let second = std::fs::read(&key).unwrap();
    assert_ne!(second, first);
    drop(place);
    let company = Company { server: &server, id, token: server.token().to_owned() };
    company.party(json!({"name": "After"}));
    let place = Place::under(&server, &second);
    assert!(place.wrong().is_nothing(), "{:?}", place.wrong());
}

/// Books from before there were seals are sealed when somebody says so, and what stood there then is held fast.
fn old_books_are_sealed(engine: Engine) {
    let Some(server) = start(engine) else { return };
    let company = server.company();
    company.party(json!({}));
    company.journal("2026-03-05", &[("6200", "10"), ("1010", "-10")]);
    let id = company.id.clone();
    let place = Place::of(&server);
    let own = place.identifier(&id);
    let (head, before) = as_without_seals(&server, &place, &own);
    let server = server.restarted_after(|command| {
        let said = |words: &[&str]| {
            let done = command(words, "");
            (done.status.success(), String::from_utf8_lossy(&done.stderr).into_owned())
        };
        // Whoever takes the seals off cannot say that there never were any ...
        for words in [&["migrate"][..], &["migrate", "--seal-old-books"]] {
            let (done, why) = said(words);
            assert!(!done && why.contains("their seals were taken off"), "{words:?}: {why}");
        }
        // ... and of a release that had none, somebody says so.
        place.run(&format!("UPDATE installation SET key_check = '{}'", crate::trusting::check_of_unsealed_books()));
        let (done, why) = said(&["migrate"]);
        assert!(!done && why.contains("--seal-old-books"), "{why}");
        assert!(!place.wrong().is_nothing());
        let (done, why) = said(&["migrate", "--seal-old-books"]);
        assert!(done, "{why}");
    });
    drop(place);
    let place = Place::of(&server);
    assert!(place.wrong().is_nothing(), "{:?}", place.wrong());
    let company = Company { server: &server, id, token: server.token().to_owned() };
    let log = company.ask(Dialect::A, "GET", "auditLog", "?pageSize=500", None).expect(200).data;
    let last = log["items"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&last["action"], &last["sequence"]), (&json!("sealed"), &json!(before + 1)));
    assert_eq!(last["after"]["sealed"], json!({"auditSequence": before, "auditHash": head, "entryNumber": 1}));
    company.party(json!({"name": "After"}));
    assert!(place.wrong().is_nothing(), "{:?}", place.wrong());
    // What is chained plainly, anybody can chain anew; the first record under the key does not follow from it.
    place.unguard();
    place.run(&format!("UPDATE audit_log SET address = '10.9.9.9' WHERE business_id = {own} AND sequence = 1"));
    chain_plainly(&place, &own, before);
    assert!(place.wrong().has(&["V7"]));
}

#[test]
fn books_from_before_there_were_seals_are_held_fast_on_sqlite() {
    old_books_are_sealed(Engine::Sqlite);
    books_without_a_key_are_sealed(Engine::Sqlite);
}

#[test]
fn books_from_before_there_were_seals_are_held_fast_on_postgres() {
    old_books_are_sealed(Engine::Postgres);
    books_without_a_key_are_sealed(Engine::Postgres);
}
