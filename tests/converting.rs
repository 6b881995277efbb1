//! Books of before come into a new database, of either engine, to the last figure; or nothing does.

use crate::harness::books::connected;
use crate::harness::postgres::fresh_database;
use crate::harness::process::{eventually, fresh_folder};
use crate::harness::server::{Company, DIALECTS, OWNER_PASSWORD, run};
use crate::harness::shop::Shop;
use crate::harness::{Dialect, Engine, Options, Server};
use async_compression::tokio::bufread::ZstdDecoder;
use convert::Place;
use migrations::UNFINISHED;
use sea_orm::{ConnectionTrait, DbBackend, Statement};
use sea_orm_migration::{MigratorTrait, SchemaManager};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::io::AsyncReadExt;

/// Books that were kept by a duet of before, as their file was: the last step that they had been through, the file packed,
/// and their master key, where they had one.
struct Old {
    version: &'static str,
    file: &'static [u8],
    key: Option<&'static [u8]>,
}

/// The sample company of the last duet before the first schema.
const LAST: Old = Old {
    version: "m0042_packed",
    file: include_bytes!("books/of_m0042.db.zst"),
    key: Some(include_bytes!("books/of_m0042.key")),
};

/// The sample company of the first releases, which had thirteen steps, no seals, no master key and no facts of stock or tax.
/// Of ten pieces that were delivered some were invoiced, one invoice was taken back, and a bill was dearer than its note.
const FIRST: Old = Old { version: "m0013_dialect_usage", file: include_bytes!("books/of_m0013.db.zst"), key: None };

fn told(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// A folder with the old books in it, and their address.
fn laid_out(old: &Old) -> (PathBuf, String) {
    let folder = fresh_folder("old-books");
    let mut file = Vec::new();
    runtime().block_on(async { ZstdDecoder::new(old.file).read_to_end(&mut file).await }).unwrap();
    std::fs::write(folder.join("duet.db"), file).unwrap();
    if let Some(key) = old.key {
        std::fs::write(folder.join("master-key"), key).unwrap();
    }
    let url = format!("sqlite:{}", folder.join("duet.db").display());
    (folder, url)
}

/// The same books on PostgreSQL, by the steps of before.
fn on_postgres(url: &str) -> Option<String> {
    let there = fresh_database()?;
    runtime().block_on(async {
        let (from, to) = (Place::reading(url).await.unwrap(), Place::writing(&there).await.unwrap());
        let versions = migrations::versions(from.database()).await.unwrap();
        convert::take(&from, &to, &|_, _, _| ()).await.unwrap();
        to.database()
            .execute_unprepared(
                "CREATE TABLE seaql_migrations (version varchar PRIMARY KEY, applied_at bigint NOT NULL)",
            )
            .await
            .unwrap();
        for version in versions {
            let ran = format!("INSERT INTO seaql_migrations (version, applied_at) VALUES ('{version}', 0)");
            to.database().execute_unprepared(&ran).await.unwrap();
        }
        to.close().await.unwrap();
        from.close().await.unwrap();
    });
    Some(there)
}

fn words(all: &[&str]) -> Vec<String> {
    all.iter().map(ToString::to_string).collect()
}

fn converted(old: &str, new: &str, data: &Path, more: &[&str]) -> Output {
    let data = data.display().to_string();
    run(&words(&[&["convert", old, new, "--data", &data], more].concat()), "")
}

/// The digest of each ledger, once every check held.
fn proved(database: &str, data: &Path) -> BTreeMap<String, String> {
    let proof = run(&words(&["verify", "--json", "--database", database, "--data", &data.display().to_string()]), "");
    assert!(proof.status.success(), "{}", told(&proof));
    let proof: Value = serde_json::from_slice(&proof.stdout).unwrap();
    let of = |one: &Value| (one["businessId"].as_str().unwrap().into(), one["digest"].as_str().unwrap().into());
    proof["businesses"].as_array().unwrap().iter().map(of).collect()
}

/// Whoever converts books has them as they were; whoever reads the old ones finds nothing changed.
fn come_over(old: &str, new: &str, key: &[u8]) {
    let data = fresh_folder("new-books").join("data");
    std::fs::create_dir_all(&data).unwrap();
    std::fs::write(data.join("master-key"), key).unwrap();
    let done = converted(old, new, &data, &[]);
    assert!(done.status.success(), "{}", told(&done));
    assert!(told(&done).contains("every figure of every day is what it was"), "{}", told(&done));
    assert_eq!(proved(new, &data).len(), 1);
    // What is there is not written over.
    let again = converted(old, new, &data, &[]);
    assert!(!again.status.success() && told(&again).contains("is not empty"), "{}", told(&again));
    assert!(!data.join("conversion.scratch").exists());
}

fn new_file() -> String {
    format!("sqlite:{}", fresh_folder("new-file").join("duet.db").display())
}

#[test]
fn books_of_sqlite_come_into_sqlite() {
    let (folder, old) = laid_out(&LAST);
    let before = std::fs::read(folder.join("duet.db")).unwrap();
    come_over(&old, &new_file(), LAST.key.unwrap());
    assert!(std::fs::read(folder.join("duet.db")).unwrap() == before, "the old books are only read");
}

#[test]
fn books_of_sqlite_come_into_postgres() {
    let Some(new) = fresh_database() else { return };
    come_over(&laid_out(&LAST).1, &new, LAST.key.unwrap());
}

#[test]
fn books_of_postgres_come_into_sqlite() {
    let Some(old) = on_postgres(&laid_out(&LAST).1) else { return };
    come_over(&old, &new_file(), LAST.key.unwrap());
}

/// Goods that waited when there were no facts of stock wait in the facts for what was left of them. Where rules of before
/// carried them at another value, the days are told, with what sets them right.
fn first_release(old: &str, new: &str) {
    let data = fresh_folder("first-release").join("data");
    // Nothing in them proves what they say.
    let refused = converted(old, new, &data, &[]);
    assert_eq!(refused.status.code(), Some(1), "{}", told(&refused));
    assert!(told(&refused).contains("--seal-old-books"), "{}", told(&refused));
    let done = converted(old, new, &data, &["--seal-old-books"]);
    assert_eq!(done.status.code(), Some(3), "{}", told(&done));
    let said = told(&done);
    assert!(said.contains("every figure of every day is what it was"), "{said}");
    assert!(said.contains("D cost of sales 0.01, C goods delivered, not invoiced sets line"), "{said}");
    assert!(data.join("master-key").exists(), "they come under a key of their own");
    let proof = run(&words(&["verify", "--json", "--database", new, "--data", &data.display().to_string()]), "").stdout;
    // What is proved is followed by why it does not hold.
    let proof = String::from_utf8(proof).unwrap();
    let proof: Value = serde_json::from_str(proof.lines().next().unwrap()).unwrap();
    let checks = proof["businesses"][0]["checks"].as_array().unwrap().iter();
    let failed: Vec<&str> =
        checks.filter(|check| check["ok"] == false).map(|check| check["id"].as_str().unwrap()).collect();
    assert_eq!(failed, ["A2"], "{said}");
    let company = proof["businesses"][0]["businessId"].as_str().unwrap();
    tells_of_tax(new, &data, company);
    a_later_price_moves_nothing(new, &data, company);
}

/// In these books the stories of goods begin without a word of what a piece costs. A price that is set later is of later, and
/// the proof finds nothing more than before.
fn a_later_price_moves_nothing(database: &str, data: &Path, company: &str) {
    let (email, place) = ("price@example.test", data.display().to_string());
    let owner = ["user", "add", "--email", email, "--password-stdin", "--business", company, "--role", "owner"];
    let added = run(&words(&[&owner[..], &["--database", database, "--data", &place]].concat()), OWNER_PASSWORD);
    assert!(added.status.success(), "{}", told(&added));
    let engine = if database.starts_with("sqlite") { Engine::Sqlite } else { Engine::Postgres };
    let options = Options { database: Some(database.to_owned()), ..Options::default() };
    let server = Server::start_in(engine, data.parent().unwrap().to_owned(), options).unwrap();
    let company = Company { server: &server, id: company.to_owned(), token: server.login(email, OWNER_PASSWORD) };
    let shop = Shop { company, dialect: Dialect::B, customer: String::new(), supplier: String::new() };
    let worth = || {
        let days = ["2026-03-31", "2026-06-30", "2026-12-31"];
        days.map(|day| shop.rows(&format!("stock-valuation?asOf={day}")))
    };
    let failed = || {
        let proof = shop.company.request_at(Dialect::B, "GET", "verify");
        let proof = shop.company.say(Dialect::B, proof).expect(200).data;
        let checks = proof["checks"].as_array().unwrap().clone();
        checks.into_iter().filter(|check| check["ok"] == false).collect::<Vec<_>>()
    };
    let (was, lacked) = (worth(), failed());
    let items = shop.ask("GET", "items", "?type=stock", None).expect(200).data;
    let mut item = items["items"][0].clone();
    let path = format!("/{}", item["id"].as_str().unwrap());
    for price in [json!(777), json!(778)] {
        item["purchasePrice"] = price;
        item = shop.ask("PUT", "items", &path, Some(&item)).expect(200).data;
    }
    assert_eq!(worth(), was);
    assert_eq!(failed(), lacked);
}

/// The reports of tax reach back to days from before there were facts of it. The figures are those of the old documents,
/// added up by hand: 16 sales of 33 310.00 and 13 bills of 18 060.00 at 19 %, and one of 60.00 that was void after a week.
fn tells_of_tax(database: &str, data: &Path, company: &str) {
    let (email, place) = ("hand@example.test", data.display().to_string());
    let reader = ["user", "add", "--email", email, "--password-stdin", "--business", company, "--role", "auditor"];
    let added = run(&words(&[&reader[..], &["--database", database, "--data", &place]].concat()), OWNER_PASSWORD);
    assert!(added.status.success(), "{}", told(&added));
    let engine = if database.starts_with("sqlite") { Engine::Sqlite } else { Engine::Postgres };
    let options = Options { database: Some(database.to_owned()), ..Options::default() };
    let server = Server::start_in(engine, data.parent().unwrap().to_owned(), options).unwrap();
    let token = server.login(email, OWNER_PASSWORD);
    for dialect in DIALECTS {
        let company = Company { server: &server, id: company.to_owned(), token: token.clone() };
        let shop = Shop { company, dialect, customer: String::new(), supplier: String::new() };
        for (report, from, to, total) in [
            (
                "tax-summary",
                "2026-01-01",
                "2026-12-31",
                "salesBase 33310.00 outputTax 6328.93 purchaseBase 18060.00 inputTax 3431.40",
            ),
            (
                "tax-summary",
                "2026-03-01",
                "2026-03-31",
                "salesBase 2626.50 outputTax 499.04 purchaseBase 1504.00 inputTax 285.76",
            ),
            ("tax-summary", "2026-09-13", "2026-09-13", "salesBase 60.00 outputTax 11.40"),
            ("tax-summary", "2026-09-20", "2026-09-20", "salesBase -60.00 outputTax -11.40"),
        ] {
            let rows = shop.rows(&format!("{report}?from={from}&to={to}"));
            assert!(rows.contains(&format!("total {total}")), "{from}: {rows:?}");
        }
        // What is in no books was to be due as well.
        for view in ["full", "summary"] {
            let path = format!("?status=draft,void&view={view}");
            let found = shop.ask("GET", "salesInvoices", &path, None).expect(200).data;
            let due: Vec<&Value> = found["items"].as_array().unwrap().iter().map(|one| &one["dueDate"]).collect();
            assert!(!due.is_empty() && due.iter().all(|day| day.is_string()), "{view}: {due:?}");
        }
    }
}

#[test]
fn books_of_the_first_release_come_over() {
    let (_, old) = laid_out(&FIRST);
    first_release(&old, &new_file());
    if let (Some(there), Some(new)) = (on_postgres(&old), fresh_database()) {
        first_release(&there, &new);
    }
}

/// New books that have a master key of their own are under it, and what was signed before is still proved.
#[test]
fn old_books_come_under_the_key_of_the_new_ones() {
    let (folder, old) = laid_out(&LAST);
    let (new, data) = (new_file(), fresh_folder("own-key").join("data"));
    std::fs::create_dir_all(&data).unwrap();
    std::fs::write(data.join("master-key"), "a key that the new books have as their own").unwrap();
    let done = converted(&old, &new, &data, &[]);
    assert!(done.status.success(), "{}", told(&done));
    proved(&new, &data);
    // Without the old key nobody knows whose the old books are.
    std::fs::remove_file(folder.join("master-key")).unwrap();
    let refused = converted(&old, &new_file(), &data, &[]);
    assert!(!refused.status.success() && told(&refused).contains("--old-key"), "{}", told(&refused));
}

/// A duet that meets books of before says what to do, and changes nothing.
#[test]
fn old_books_are_refused_with_a_sentence_that_names_the_command() {
    let (folder, old) = laid_out(&LAST);
    for command in [&["migrate"][..], &["serve", "--listen", "127.0.0.1:0"], &["verify"]] {
        let data = folder.display().to_string();
        let all = [command, &["--database", &old, "--data", &data]].concat();
        let refused = run(&words(&all), "");
        assert_eq!(refused.status.code(), Some(1), "{}", told(&refused));
        assert!(told(&refused).contains("duet convert OLD NEW"), "{}", told(&refused));
    }
}

/// What somebody changed in the old books behind their server's back does not come over as if it had written it.
#[test]
fn old_books_that_were_tampered_with_do_not_come_over() {
    let changes = [
        "UPDATE parties SET email = 'evil@example.test'",
        "DELETE FROM stock_facts WHERE id = (SELECT MIN(id) FROM stock_facts)",
        "UPDATE progress SET begun = begun + 1",
        "UPDATE entry_lines SET description = 'evil' WHERE entry_number = 3",
        "UPDATE audit_log SET address = '10.0.0.1' WHERE sequence = 5",
        "UPDATE books SET sums = ''",
        "DELETE FROM audit_log WHERE sequence = (SELECT MAX(sequence) FROM audit_log)",
    ];
    for change in changes {
        let (folder, old) = laid_out(&LAST);
        tampered(&old, change);
        let refused = converted(&old, &new_file(), &folder, &[]);
        assert_eq!(refused.status.code(), Some(1), "{change}: {}", told(&refused));
        assert!(told(&refused).contains("not as they were written"), "{change}: {}", told(&refused));
    }
}

/// Behind the back of their server, without its guards.
fn tampered(old: &str, change: &str) {
    runtime().block_on(async {
        let database = connected(old).await.unwrap();
        let guards = "SELECT name AS text FROM sqlite_schema WHERE type = 'trigger'";
        let asked = Statement::from_string(DbBackend::Sqlite, guards);
        for guard in database.query_all_raw(asked).await.unwrap() {
            let name: String = guard.try_get("", "text").unwrap();
            database.execute_unprepared(&format!("DROP TRIGGER {name}")).await.unwrap();
        }
        database.execute_unprepared(change).await.unwrap();
        database.close().await.unwrap();
    });
}

/// Whoever has the old file may make it say that it belongs to nobody, or that nothing in it was ever sealed: such books are
/// taken only where whoever runs it says so, and their logs tell it for good.
#[test]
fn old_books_that_prove_nothing_do_not_come_over_by_themselves() {
    let seals_off = "UPDATE installation SET signature = '', sums = ''; UPDATE books SET signature = '', sums = ''";
    for change in ["DELETE FROM installation", seals_off] {
        let (folder, old) = laid_out(&LAST);
        tampered(&old, &format!("{change}; UPDATE parties SET email = 'evil@example.test'"));
        let refused = converted(&old, &new_file(), &folder, &[]);
        assert_eq!(refused.status.code(), Some(1), "{change}: {}", told(&refused));
        assert!(told(&refused).contains("nothing in the old books proves"), "{change}: {}", told(&refused));
        let new = new_file();
        let said = converted(&old, &new, &folder, &["--seal-old-books"]);
        assert!(said.status.success(), "{change}: {}", told(&said));
        proved(&new, &folder);
    }
}

/// What an interrupted run left is served by nobody, and the next run begins anew.
fn interrupted(new: &str) {
    let (folder, old) = laid_out(&LAST);
    let done = converted(&old, new, &folder, &[]);
    assert!(done.status.success(), "{}", told(&done));
    runtime().block_on(async {
        let place = Place::writing(new).await.unwrap();
        let mark = format!("INSERT INTO seaql_migrations (version, applied_at) VALUES ('{UNFINISHED}', 0)");
        place.database().execute_unprepared(&mark).await.unwrap();
        place.close().await.unwrap();
    });
    let data = folder.display().to_string();
    for command in ["serve", "migrate", "verify"] {
        let refused = run(&words(&[command, "--database", new, "--data", &data]), "");
        assert!(!refused.status.success() && told(&refused).contains("run it again"), "{command}: {}", told(&refused));
    }
    let again = converted(&old, new, &folder, &[]);
    assert!(again.status.success() && told(&again).contains("begun anew"), "{}", told(&again));
    proved(new, &folder);
}

#[test]
fn a_conversion_that_was_interrupted_begins_anew_on_sqlite() {
    interrupted(&new_file());
}

#[test]
fn a_conversion_that_was_interrupted_begins_anew_on_postgres() {
    let Some(new) = fresh_database() else { return };
    interrupted(&new);
}

/// What the planner of SQLite goes by.
fn planned_by(file: &str) -> BTreeSet<String> {
    let sql = "SELECT tbl || ' ' || idx || ' ' || stat AS line FROM sqlite_stat1";
    runtime().block_on(async {
        let database = connected(file).await.expect("the books");
        let rows = database.query_all_raw(Statement::from_string(DbBackend::Sqlite, sql)).await.expect("statistics");
        let lines = rows.iter().map(|row| row.try_get("", "line").expect("a line")).collect();
        database.close().await.expect("the end");
        lines
    })
}

#[test]
fn books_change_engines_and_back_to_the_last_row() {
    let Some(there) = fresh_database() else { return };
    let (folder, old) = laid_out(&LAST);
    let (first, last) = (new_file(), new_file());
    assert!(converted(&old, &first, &folder, &[]).status.success());
    let data = folder.display().to_string();
    for (from, to) in [(&first, &there), (&there, &last)] {
        let copied = run(&words(&["copy-database", from, to, "--data", &data]), "");
        assert!(copied.status.success(), "{}", told(&copied));
    }
    assert_eq!(proved(&first, &folder), proved(&there, &folder));
    assert_eq!(proved(&first, &folder), proved(&last, &folder));
    // The planner of SQLite is told of large books, as in those that were made empty.
    let empty = new_file();
    assert!(run(&words(&["migrate", "--data", &data, "--database", &empty]), "").status.success());
    let planned = planned_by(&empty);
    assert!(planned.len() > 50, "{planned:?}");
    assert!(planned_by(&first) == planned && planned_by(&last) == planned);
    let refused = run(&words(&["copy-database", &old, &new_file(), "--data", &data]), "");
    assert!(!refused.status.success() && told(&refused).contains("duet convert OLD NEW"), "{}", told(&refused));
}

/// A copy is of one moment. Where somebody writes meanwhile there is none, and that is no damage of the books.
#[test]
fn books_that_are_written_while_they_are_copied_are_copied_again() {
    for engine in [Engine::Sqlite, Engine::Postgres] {
        let Some(server) = Server::start(engine, Options::default()) else { return };
        let company = server.company();
        let write = || company.journal("2026-04-05", &[("6300", "1"), ("1010", "-1")]);
        write();
        let new = new_file();
        let asked = words(&[
            "copy-database",
            server.database_url(),
            &new,
            "--data",
            &server.folder.join("data").display().to_string(),
        ]);
        let (is_over, begun) = (AtomicBool::new(false), AtomicBool::new(false));
        let copied = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    write();
                    begun.store(true, Ordering::Relaxed);
                }
            });
            eventually("somebody writes", || begun.load(Ordering::Relaxed).then_some(()));
            let copied = run(&asked, "");
            is_over.store(true, Ordering::Relaxed);
            copied
        });
        assert!(
            !copied.status.success() && told(&copied).contains("were written while they were copied"),
            "{}",
            told(&copied)
        );
        let again = run(&asked, "");
        assert!(again.status.success() && told(&again).contains("begun anew"), "{}", told(&again));
    }
}

#[test]
fn the_old_books_are_what_is_said_of_them() {
    for books in [FIRST, LAST] {
        let (_, old) = laid_out(&books);
        runtime().block_on(async {
            let place = Place::reading(&old).await.unwrap();
            let versions = migrations::versions(place.database()).await.unwrap();
            assert_eq!(versions.last().map(String::as_str), Some(books.version));
            place.close().await.unwrap();
        });
    }
}

/// Columns and indexes of a schema on PostgreSQL, whatever the names of these.
async fn said(place: &Place) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for ((kind, name), definition) in migrations::schema::parts(place.database()).await.unwrap() {
        if kind == "table" && name != "seaql_migrations" {
            all.extend(definition.split(", ").map(|column| format!("{name}.{column}")));
        } else if kind.starts_with("index of ") && !kind.ends_with("seaql_migrations") {
            let words: Vec<&str> = definition.split(' ').collect();
            let at = words.iter().position(|word| *word == "ON").unwrap();
            all.insert(format!(
                "{} {}",
                if words.contains(&"UNIQUE") { "unique" } else { "found by" },
                words[at + 1..].join(" ")
            ));
        } else if kind.starts_with("constraint of ") && definition.starts_with("FOREIGN") {
            all.insert(format!("{kind} {definition}"));
        }
    }
    all
}

/// How what is said of a column reads whose values are kept in fewer bytes than they were.
fn leaned(said: BTreeSet<String>) -> BTreeSet<String> {
    let lean: BTreeSet<String> = migrations::first::tables()
        .iter()
        .flat_map(|table| {
            let seal = table.columns().filter(|column| *column == "seal");
            let lean = table.days().chain(table.packed()).chain(table.digests()).chain(table.called()).chain(seal);
            lean.map(|column| format!("{}.{column}", table.name())).collect::<Vec<_>>()
        })
        .collect();
    let lean = |line: String| match line.split_once(' ') {
        Some((column, rest)) if lean.contains(column) => {
            let kinds = ["text", "integer", "bytea", "C", "default", "''::text", "'\\x'::bytea"];
            let rest: Vec<&str> = rest.split(' ').filter(|word| !kinds.contains(word)).collect();
            format!("{column} lean {}", rest.join(" "))
        }
        _ => line,
    };
    said.into_iter().map(lean).collect()
}

/// Sums that are made of the rows when they come over, and what books of before had nothing of.
const MADE: [&str; 10] = [
    "cash_days",
    "document_counts",
    "party_months",
    "search_blocks",
    "search_waiting",
    "tax_months",
    "trade_months",
    "webhooks",
    "webhook_cursors",
    "webhook_deliveries",
];

/// What the steps came to on PostgreSQL, and the first schema has no more.
const GONE_ON_POSTGRES: &[&str] = &[
    // What nobody reads, and defaults of what is always said; and what finds documents by less than lists are
    // narrowed by.
    "audit_log.keyed boolean not null false",
    "audit_log.previous_hash text not null C",
    // What is kept of the document says it.
    "document_lines.base_tax bigint not null",
    "document_lines.net bigint not null",
    "document_lines.party_id uuid",
    "document_lines.tax bigint not null",
    // It stands in the audit log, once.
    "documents.content lean not null",
    // It is not said where the number beside it says it.
    "entry_lines.currency_amount bigint not null",
    // Who asks for lines by their names asks what these were made of, and nobody for the days of an item's but adjustments'.
    "found by document_lines USING btree (business_id, id)",
    "found by document_lines USING btree (business_id, item_id, date) WHERE (item_id IS NOT NULL)",
    "found by document_lines USING btree (business_id, tax_code_id, date) WHERE (tax_code_id IS NOT NULL)",
    "found by documents USING btree (business_id, id) WHERE (status = 'draft'::text)",
    "found by documents USING btree (business_id, kind, date, id)",
    "found by documents USING btree (business_id, kind, stage, date) WHERE (stage IS NOT NULL)",
    "found by documents USING btree (business_id, kind, updated_at, id)",
    "found by documents USING btree (business_id, party_id, kind, date) WHERE (party_id IS NOT NULL)",
    // Words are kept as letters.
    "found by entries USING btree (business_id, date) WHERE (kind = 'opening'::text)",
    "found by entries USING btree (business_id, date) WHERE (kind = 'yearEnd'::text)",
    // They lie by the item that they moved.
    "found by open_item_moves USING btree (business_id, open_item_id)",
    "found by open_items USING btree (business_id, document_id)",
    "found by open_items USING btree (business_id, due_date) WHERE (open <> 0)",
    "found by open_items USING btree (business_id, party_id) WHERE (open <> 0)",
    "found by stock_moves USING btree (business_id, document_id)",
    "found by tax_facts USING btree (business_id, document_id)",
    "found by tax_facts USING btree (business_id, tax_code_id, date) WHERE (tax_code_id IS NOT NULL)",
    "progress.begun bigint not null",
    "stock_lines.asked_cost bigint",
    "stock_lines.booked bigint not null",
    "stock_lines.cost_account_id uuid not null",
    "stock_lines.inventory_account_id uuid not null",
    "stock_lines.line_no bigint not null",
    "stock_lines.returns_line_id uuid",
    "tax_facts.base bigint not null",
    "tax_facts.recorded_at bigint not null",
    "tax_facts.tax bigint not null",
    "touched.step bigint not null 0",
    "touched.was text not null ''::text default",
    "unique document_counts USING btree (business_id, kind)",
    "unique documents USING btree (business_id, kind, external_id)",
    "unique open_item_moves USING btree (business_id, id)",
];

#[test]
fn the_first_schema_is_what_the_steps_came_to_on_postgres_too() {
    let (Some(old), Some(new)) = (fresh_database(), fresh_database()) else { return };
    let (old, new) = runtime().block_on(async {
        let (old, new) = (Place::writing(&old).await.unwrap(), Place::writing(&new).await.unwrap());
        for step in convert::steps::all() {
            step.up(&SchemaManager::new(old.database())).await.unwrap();
        }
        // What came later is no matter of theirs.
        migrations::Migrator::up(new.database(), Some(1)).await.unwrap();
        migrations::noting::make(new.database()).await.unwrap();
        (leaned(said(&old).await), leaned(said(&new).await))
    });
    let gone: Vec<&str> = old.difference(&new).map(String::as_str).collect();
    let came: Vec<&str> = new
        .difference(&old)
        .map(String::as_str)
        .filter(|line| !MADE.iter().any(|table| line.split([' ', '.']).any(|word| word == *table)))
        .collect();
    assert_eq!(gone, GONE_ON_POSTGRES, "{came:#?}");
    assert_eq!(
        came,
        [
            "account_days.lines bigint not null",
            "account_months.lines bigint not null",
            "audit_log.keyed boolean not null",
            "audit_log.record lean ",
            "businesses.is_trial boolean not null false",
            "businesses.told_today lean ",
            "documents.content lean ",
            "documents.due_date lean ",
            "documents.record bigint",
            "entry_lines.currency_amount bigint",
            "found by document_lines USING btree (business_id, id) WHERE (source_line_id IS NOT NULL)",
            "found by document_lines USING btree (business_id, item_id) WHERE (item_id IS NOT NULL)",
            "found by document_lines USING btree (business_id, item_id, date) WHERE (kind = 'A'::text)",
            "found by document_lines USING btree (business_id, tax_code_id, date) WHERE (kind <> ALL \
             (ARRAY['I'::text, 'N'::text, 'B'::text, 'D'::text]))",
            "found by documents USING btree (business_id, kind, base_total, id, date)",
            "found by documents USING btree (business_id, kind, base_total, id, stage, due_date) \
             WHERE (stage = ANY (ARRAY['o'::text, 'h'::text]))",
            "found by documents USING btree (business_id, kind, created_at, id)",
            "found by documents USING btree (business_id, kind, date, id, stage, due_date) \
             WHERE (stage = ANY (ARRAY['o'::text, 'h'::text]))",
            "found by documents USING btree (business_id, kind, date, id, status) WHERE (status = 'd'::text)",
            "found by documents USING btree (business_id, kind, date, id, status) WHERE (status = 'v'::text)",
            "found by documents USING btree (business_id, kind, date, id, status, stage, due_date, subkind, currency, base_total)",
            "found by documents USING btree (business_id, kind, due_date, date, id) \
             WHERE ((due_date IS NOT NULL) AND (status = 'p'::text))",
            "found by documents USING btree (business_id, kind, reference, date, id) WHERE (reference IS NOT NULL)",
            "found by documents USING btree (business_id, kind, updated_at, id, date)",
            "found by documents USING btree (business_id, party_id, kind, date, id, stage) WHERE (party_id IS NOT NULL)",
            "found by entries USING btree (business_id, date) WHERE (kind = 'b'::text)",
            "found by entries USING btree (business_id, date) WHERE (kind = 'y'::text)",
            "found by open_items USING btree (business_id, document_id) WHERE (document_id <> id)",
            "found by open_items USING btree (business_id, party_id, currency, due_date, date, account_id, kind, open, base_open) \
             WHERE (open <> 0)",
            "running_time.identifiers bigint not null 0",
            // Told of old books when they come over.
            "stock_lines.was_missing boolean not null",
            "tax_facts.base bigint",
            "tax_facts.tax bigint",
            "touched.step bigint not null",
            "touched.was text not null default",
            "unique documents USING btree (business_id, kind, external_id) WHERE (external_id IS NOT NULL)",
            "unique open_item_moves USING btree (business_id, open_item_id, id)",
        ]
    );
}

/// No guard asks for all rows of a statement: a distributed PostgreSQL refuses such.
#[test]
fn no_guard_on_postgres_sees_all_rows_of_a_statement() {
    let Some(new) = fresh_database() else { return };
    let transitions = runtime().block_on(async {
        let new = Place::writing(&new).await.unwrap();
        migrations::up(new.database(), &|text| text.len().to_string()).await.unwrap();
        let asked = "SELECT COUNT(*) AS guards FROM pg_trigger WHERE tgoldtable IS NOT NULL OR tgnewtable IS NOT NULL";
        let asked = Statement::from_string(DbBackend::Postgres, asked);
        let row = new.database().query_one_raw(asked).await.unwrap().unwrap();
        row.try_get::<i64>("", "guards").unwrap()
    });
    assert_eq!(transitions, 0);
}
