//! What is said while the database does not do what it should: to who asks whether the server is ready, and to who waits
//! for a write.

use crate::harness::books::connected;
use crate::harness::process::eventually;
use crate::harness::{Company, Dialect, Engine, Options, Request, Server};
use sea_orm::{ConnectionTrait, DatabaseConnection, Statement};
use serde_json::Value;
use std::process::Command;

/// Somebody else at the same database.
struct Other {
    runtime: tokio::runtime::Runtime,
    database: DatabaseConnection,
}

impl Other {
    fn at(server: &Server) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let database = runtime.block_on(connected(server.database_url())).unwrap();
        Self { runtime, database }
    }

    fn run(&self, sql: &str) {
        self.runtime.block_on(self.database.execute_unprepared(sql)).unwrap();
    }

    fn number(&self, sql: &str) -> i64 {
        let asked = Statement::from_string(self.database.get_database_backend(), sql);
        self.runtime.block_on(self.database.query_one_raw(asked)).unwrap().unwrap().try_get("", "n").unwrap()
    }
}

fn started(engine: Engine, custom: &str) -> Option<Server> {
    Server::start(engine, Options { custom: Some(custom.to_owned()), ..Options::default() })
}

fn rent(company: &Company<'_>) -> Value {
    company.journal_body("2026-03-05", &[("6200", "1"), ("1010", "-1")])
}

fn ready(server: &Server) -> (u16, String) {
    let answer = server.send(&Request::new("GET", "/readyz"));
    (answer.status, answer.text)
}

const WELL: &str = r#"{"Logging": {"Format": "json"}}"#;

/// It is told while it lasts and taken back by itself: nobody writes but the server, which looks whether it can again.
fn told_and_taken_back(server: &Server, why: &str, fail: impl FnOnce(), mend: impl FnOnce()) {
    let company = server.company();
    let post = || company.ask(Dialect::B, "POST", "journals", "", Some(&rent(&company)));
    post().expect(201);
    assert_eq!(ready(server), (200, "ready".into()));
    fail();
    let said = post().expect(503);
    assert_ne!(said.code.as_deref(), Some("commit_outcome_unknown"), "it is known");
    for _ in 0..20 {
        assert_eq!(ready(server), (503, why.into()));
    }
    company.ask(Dialect::A, "GET", "journals", "", None).expect(200);
    assert_eq!(server.send(&Request::new("GET", "/healthz")).status, 200);
    mend();
    eventually("the return", || (ready(server).0 == 200).then_some(()));
    post().expect(201);
    let log = server.log();
    assert_eq!(log.matches("\"database_ill\"").count(), 1, "{log}");
    assert_eq!(log.matches("\"database_well\"").count(), 1, "{log}");
    assert_eq!(company.ask(Dialect::B, "GET", "journals", "", None).expect(200).data["pagination"]["totalCount"], 2);
}

#[test]
fn a_disk_that_takes_nothing_is_told_until_it_does_again() {
    let server = started(Engine::Sqlite, WELL).unwrap();
    // Every write to a file ends in an error, as with a quota that is used up.
    let limit = |bytes: &str| {
        let set =
            Command::new("prlimit").args(["--pid", &server.pid().to_string(), &format!("--fsize={bytes}:")]).status();
        assert!(set.expect("prlimit").success());
    };
    // The log of the server itself goes to a file as well, and has lines to come.
    let room = 256 << 10;
    let body = "x".repeat(900);
    let company = server.company();
    let wal = format!("{}-wal", server.database_url().strip_prefix("sqlite:").unwrap());
    while std::fs::metadata(&wal).unwrap().len() <= room {
        company.party(serde_json::json!({"name": "Filler", "notes": body}));
    }
    let why = "writes fail: the disk or the database file is at fault";
    told_and_taken_back(&server, why, || limit(&room.to_string()), || limit("unlimited"));
}

/// PostgreSQL says the same of its own disk.
#[test]
fn a_full_disk_of_postgresql_is_told_until_there_is_room() {
    let Some(server) = started(Engine::Postgres, WELL) else { return };
    let other = Other::at(&server);
    other.run(
        "CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$",
    );
    let tables = ["entries", "running_time"];
    let fail = || {
        for table in tables {
            other.run(&format!("CREATE TRIGGER no_room BEFORE INSERT OR UPDATE ON {table} EXECUTE FUNCTION no_room()"));
        }
    };
    let mend = || tables.iter().for_each(|table| other.run(&format!("DROP TRIGGER no_room ON {table}")));
    told_and_taken_back(&server, "writes fail: the disk is full", fail, mend);
}

/// A write that waits for somebody else. It is told as one that was not made, and is never made later; where it was sent along
/// with its commit nobody knows, and its key tells what became of it.
fn kept_waiting(engine: Engine, hold: &str, told: &[&str]) {
    let Some(server) = started(engine, r#"{"Limits": {"Request": "3s"}}"#) else { return };
    let company = server.company();
    let (other, body) = (Other::at(&server), rent(&company));
    let post = |key: &str| {
        let request = company.request(Dialect::B, "POST", "journals", "").json(&body).header("Idempotency-Key", key);
        company.say(Dialect::B, request)
    };
    let done = |key: &str| eventually(key, || (post(key).status == 201).then_some(()));
    let made = || other.number("SELECT COUNT(*) AS n FROM documents WHERE kind = 'J'");
    done("before");
    other.run(hold);
    let mut unknown = 0;
    for key in ["one", "two"] {
        let code = post(key).expect(503).code.expect("a code");
        assert!(told.contains(&code.as_str()), "{key}: {code}");
        unknown += i64::from(code == "commit_outcome_unknown");
    }
    other.run("ROLLBACK");
    done("last");
    // What was before it in the line has come to nothing, but for what nobody knows.
    assert!((2..=2 + unknown).contains(&made()), "{} of {unknown}", made());
    for key in ["one", "two"] {
        done(key);
    }
    assert_eq!(made(), 4, "each once");
    assert_eq!(server.command(&["verify"], "").status.code(), Some(0));
}

#[test]
fn who_waited_for_another_program_that_writes_is_told_that_nothing_was_written() {
    kept_waiting(Engine::Sqlite, "BEGIN IMMEDIATE", &["overloaded"]);
}

#[test]
fn who_waited_for_a_lock_of_postgresql_learns_by_its_key_what_became_of_it() {
    let hold = "BEGIN; LOCK TABLE entries IN EXCLUSIVE MODE";
    kept_waiting(Engine::Postgres, hold, &["overloaded", "commit_outcome_unknown"]);
}
