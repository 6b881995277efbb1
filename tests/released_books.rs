//! Books that a release wrote open with this one, on either engine: they are proved, and answer what they answered then.
//!
//! For each release there is a file of its sample companies with its keys, and what was asked of it. `UPDATE_RELEASED=1`
//! makes those of the release that is being made; what was released is never made anew.

use crate::backups::AS_OF_0_2_0;
use crate::harness::books::{behind_the_back, connected};
use crate::harness::postgres::fresh_database;
use crate::harness::process::{eventually, fresh_folder};
use crate::harness::server::{authorised, run};
use crate::harness::{Engine, Options, Request, Server};
use async_compression::tokio::bufread::{ZstdDecoder, ZstdEncoder};
use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, Statement};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use tokio::io::AsyncReadExt;

const EMAIL: &str = "demo@duet.example";
const PASSWORD: &str = "two voices, one book";
/// On which the books of a release end, whenever it is made.
const DAY: &str = "2026-11-27";
/// The member that says when it was answered, which is another time.
const WHEN: &str = "generatedAt";
/// What is asked of each company. It names its days, so that the answer is the same on any other.
const ASKED: [&str; 12] = [
    "reports/trial-balance?from=2026-01-01&to=2026-11-27",
    "reports/pl?from=2026-01-01&to=2026-11-27",
    "reports/bs?asOf=2026-11-27",
    "reports/cash-flow?from=2026-01-01&to=2026-11-27",
    "reports/ar-aging?asOf=2026-11-27",
    "reports/ap-aging?asOf=2026-11-27",
    "reports/tax-summary?from=2026-01-01&to=2026-11-27",
    "reports/stock-valuation?asOf=2026-11-27",
    "reports/sales-by-customer?from=2026-01-01&to=2026-11-27",
    "reports/general-ledger?from=2026-11-01&to=2026-11-27&pageSize=100",
    "sales-invoices?sort=number&pageSize=50&fields=number,date,partyName,total,baseTotal,currency,balanceDue",
    "accounts?sort=code&pageSize=200&fields=code,name,type",
];

fn kept(version: &str, what: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("books").join(format!("of_{version}.{what}"))
}

/// The releases whose books are kept.
fn releases() -> Vec<String> {
    let files = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("books")).expect("a folder").flatten();
    let names = files.filter_map(|file| file.file_name().into_string().ok());
    let mut found: Vec<String> =
        names.filter_map(|name| Some(name.strip_prefix("of_")?.strip_suffix(".json")?.to_owned())).collect();
    found.sort();
    found
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

fn words(all: &[&str]) -> Vec<String> {
    all.iter().map(ToString::to_string).collect()
}

/// The digest of each ledger, once every check held.
fn digests(server: &Server) -> Value {
    let proof = server.command(&["verify", "--json"], "");
    assert!(proof.status.success(), "{}", String::from_utf8_lossy(&proof.stdout));
    let proof: Value = serde_json::from_slice(&proof.stdout).expect("JSON");
    let of = |one: &Value| (one["businessId"].as_str().expect("a company").to_owned(), one["digest"].clone());
    Value::Object(proof["businesses"].as_array().expect("companies").iter().map(of).collect())
}

/// What the books answer, by company and by what is asked.
fn answers(server: &Server) -> Value {
    let token = server.login(EMAIL, PASSWORD);
    let ask = |request: Request| server.send(&authorised(request, &token)).expect(200).json();
    let companies = ask(Request::new("GET", "/b/api/businesses?pageSize=50"));
    let mut all = Map::new();
    for company in companies["items"].as_array().expect("companies") {
        let id = company["id"].as_str().expect("an identifier");
        let of = |path: &&str| {
            let request = Request::new("GET", &format!("/b/api/{path}"));
            ((*path).to_owned(), ask(request.header("X-Business-Id", id)))
        };
        all.insert(id.to_owned(), Value::Object(ASKED.iter().map(of).collect()));
    }
    Value::Object(all)
}

/// Whether all that was answered once is answered now. What is answered beside it came with a later release.
fn is_within(then: &Value, now: &Value, place: &str) -> Result<(), String> {
    match (then, now) {
        (Value::Object(then), Value::Object(now)) => {
            then.iter().filter(|(name, _)| *name != WHEN).try_for_each(|(name, then)| {
                is_within(then, now.get(name).unwrap_or(&Value::Null), &format!("{place}/{name}"))
            })
        }
        (Value::Array(then), Value::Array(now)) if then.len() == now.len() => then
            .iter()
            .zip(now)
            .enumerate()
            .try_for_each(|(at, (then, now))| is_within(then, now, &format!("{place}/{at}"))),
        _ if then == now => Ok(()),
        // Whose document a line is of was not said of lines of money, income and expense.
        (Value::Null, Value::String(_)) if is_party_of_a_ledger(place) => Ok(()),
        _ => Err(format!("{place} was {then} and is {now}")),
    }
}

fn is_party_of_a_ledger(place: &str) -> bool {
    place.contains("/reports/general-ledger") && place.contains("/children/") && place.ends_with("/values/1")
}

fn unpacked(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    runtime().block_on(async { ZstdDecoder::new(bytes).read_to_end(&mut plain).await }).expect("it opens");
    plain
}

/// A folder with the books of a release and their keys, as its server left them.
fn laid_out(version: &str) -> PathBuf {
    let folder = fresh_folder("released");
    let data = folder.join("data");
    std::fs::create_dir_all(&data).expect("a folder");
    std::fs::write(data.join("duet.db"), unpacked(&std::fs::read(kept(version, "db.zst")).expect("books")))
        .expect("a file");
    std::fs::copy(kept(version, "key"), data.join("master-key")).expect("its key");
    folder
}

fn check(version: &str, server: &Server) {
    let then: Value =
        serde_json::from_slice(&std::fs::read(kept(version, "json")).expect("what was answered")).expect("JSON");
    assert_eq!(digests(server), then["digests"], "{version}: the ledgers are others");
    let now = answers(server);
    if let Err(why) = is_within(&then["answers"], &now, version) {
        panic!("books of {version} answer something else: {why}");
    }
    assert_eq!(then["answers"].as_object().map(Map::len), now.as_object().map(Map::len));
}

#[test]
fn books_of_every_release_open_and_answer_the_same_on_sqlite() {
    if std::env::var("UPDATE_RELEASED").is_ok_and(|value| value == "1") {
        return make();
    }
    assert!(!releases().is_empty());
    for version in releases() {
        let folder = laid_out(&version);
        let server = Server::start_in(Engine::Sqlite, folder, Options::default()).expect("SQLite needs nothing");
        check(&version, &server);
    }
}

#[test]
fn books_of_every_release_open_and_answer_the_same_on_postgres() {
    for version in releases() {
        let Some(database) = fresh_database() else { return };
        let folder = laid_out(&version);
        let (from, data) =
            (format!("sqlite:{}", folder.join("data/duet.db").display()), folder.join("data").display().to_string());
        // Books that are not of today's schema yet are brought up to it where they are, and then copied.
        let place = ["--data", &data, "--database", &from];
        let migrated = run(&words(&[&["migrate"][..], &place].concat()), "");
        assert!(migrated.status.success(), "{}", String::from_utf8_lossy(&migrated.stderr));
        let copied = run(&words(&["copy-database", &from, &database, "--data", &data]), "");
        assert!(copied.status.success(), "{}", String::from_utf8_lossy(&copied.stderr));
        let options = Options { database: Some(database), ..Options::default() };
        let server = Server::start_in(Engine::Postgres, folder, options).expect("PostgreSQL");
        check(&version, &server);
    }
}

/// A step that wants a table for itself waits for who reads it, and nobody waits behind it.
#[test]
fn who_reads_for_long_is_waited_for_by_the_next_schema_and_by_nobody_else() {
    let Some(server) = Server::start(Engine::Postgres, Options::default()) else { return };
    behind_the_back(&server, &AS_OF_0_2_0.map(str::to_owned)).unwrap();
    let runtime = runtime();
    let [reading, looking] = runtime.block_on(async {
        let [reading, looking] = [connected(server.database_url()).await, connected(server.database_url()).await];
        [reading.expect("the books"), looking.expect("the books")]
    });
    let run = |database: &DatabaseConnection, sql: &str| runtime.block_on(database.execute_unprepared(sql)).unwrap();
    run(&reading, "BEGIN");
    run(&reading, "SELECT 1 FROM entries LIMIT 1");
    std::thread::scope(|scope| {
        let migrating = scope.spawn(|| server.command(&["migrate"], ""));
        let waiting = "SELECT 1 AS n FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock' \
                       AND relation IN ('entries'::regclass, 'entries_by_date'::regclass)";
        let asked = || Statement::from_string(DbBackend::Postgres, waiting);
        eventually("who changes the schema", || runtime.block_on(looking.query_one_raw(asked())).unwrap());
        // It would wait for who reads, which ends only after this.
        run(&looking, "SELECT COUNT(*) FROM entries");
        assert!(!migrating.is_finished());
        run(&reading, "COMMIT");
        let migrated = migrating.join().unwrap();
        assert!(migrated.status.success(), "{}", String::from_utf8_lossy(&migrated.stderr));
    });
    let left = "SELECT 1 AS n FROM pg_indexes WHERE indexname = 'entries_by_date' AND schemaname = current_schema()";
    let left = runtime.block_on(looking.query_one_raw(Statement::from_string(DbBackend::Postgres, left))).unwrap();
    assert!(left.is_none(), "the index is still there");
    runtime.block_on(async { (reading.close().await.unwrap(), looking.close().await.unwrap()) });
}

/// Keeps the books of the release that is being made.
fn make() {
    let version = env!("CARGO_PKG_VERSION");
    let folder = fresh_folder("releasing");
    let arguments = words(&["--demo=small", "--demo-seed", "1", "--demo-day", DAY]);
    let server = Server::start_in(Engine::Sqlite, folder.clone(), Options { arguments, ..Options::default() });
    let server = server.expect("SQLite needs nothing");
    let told = json!({"digests": digests(&server), "answers": answers(&server)});
    server.signal("TERM");
    assert_eq!(server.exit_code(), Some(0));
    let books = std::fs::read(folder.join("data/duet.db")).expect("books");
    let mut packed = Vec::new();
    let level = async_compression::Level::Best;
    runtime()
        .block_on(async { ZstdEncoder::with_quality(&books[..], level).read_to_end(&mut packed).await })
        .expect("it packs");
    std::fs::write(kept(version, "db.zst"), packed).expect("a file");
    std::fs::copy(folder.join("data/master-key"), kept(version, "key")).expect("its key");
    std::fs::write(kept(version, "json"), serde_json::to_vec(&told).expect("JSON")).expect("a file");
}
