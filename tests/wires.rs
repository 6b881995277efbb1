//! The wire to PostgreSQL is cut, reset and hung at each request of a write; processes and backends are stopped and killed.
//! What was acknowledged is there once, what was not is not or is told as unknown, and service resumes by itself.

use crate::harness::books::{connected, literal};
use crate::harness::postgres::{Cluster, fresh_database};
use crate::harness::process::eventually;
use crate::harness::server::{DIALECTS, OWNER_EMAIL, OWNER_PASSWORD, Said};
use crate::harness::wire::{Fault, Side, Wire};
use crate::harness::{Company, Dialect, Engine, Options, Request, Server};
use sea_orm::{ConnectionTrait, DatabaseConnection, Statement};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A database behind the back of whoever uses it.
struct Behind {
    runtime: tokio::runtime::Runtime,
    database: DatabaseConnection,
}

impl Behind {
    fn of(url: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let database = runtime.block_on(connected(url)).unwrap();
        Self { runtime, database }
    }

    fn number(&self, sql: &str) -> i64 {
        let asked = Statement::from_string(self.database.get_database_backend(), sql);
        let row = self.runtime.block_on(self.database.query_one_raw(asked)).unwrap().unwrap();
        row.try_get_by_index(0).unwrap()
    }

    fn journals(&self) -> i64 {
        self.number("SELECT count(*) FROM documents WHERE kind = 'J'")
    }
}

fn wire_to(url: &str) -> Wire {
    let place = url.split_once('@').unwrap().1.split('/').next().unwrap();
    Wire::to(place.parse().unwrap())
}

fn behind_a_wire(wire: &Wire, direct: &str, custom: Value) -> Server {
    let options = Options { database: Some(wire.url(direct)), custom: Some(custom.to_string()), ..Options::default() };
    Server::start(Engine::Postgres, options).unwrap()
}

fn rent(company: &Company<'_>) -> Value {
    company.journal_body("2026-03-05", &[("6200", "1"), ("1010", "-1")])
}

fn post(company: &Company<'_>, body: &Value, dialect: Dialect, key: &str) -> Said {
    let request = company.request(dialect, "POST", "journals", "").json(body).header("Idempotency-Key", key);
    company.say(dialect, request)
}

/// Asks with one key until the write is answered.
fn insist(company: &Company<'_>, body: &Value, dialect: Dialect, key: &str) {
    eventually("the write", || {
        let said = post(company, body, dialect, key);
        assert!(matches!(said.status, 201 | 409 | 503), "{}", said.answer.text);
        (said.status == 201).then_some(())
    });
}

/// Every request that a posting makes of the database meets this fault once, on its way there or on its way back.
fn at_each_request(fault: Fault) {
    let Some(direct) = fresh_database() else { return };
    let wire = wire_to(&direct);
    let custom = json!({"Database": {"WriteTimeout": "300ms"}});
    let server = behind_a_wire(&wire, &direct, custom);
    let company = server.company();
    let body = rent(&company);
    let behind = Behind::of(&direct);
    // What is prepared and remembered is so from the third on.
    for index in 0..2 {
        insist(&company, &body, Dialect::A, &format!("before {index}"));
    }
    wire.plan(None);
    insist(&company, &body, Dialect::A, "counted");
    let requests = wire.requests();
    assert!(requests > 5, "{requests}");
    let mut written = behind.journals();
    let mut met = 0;
    for at in 1..=requests {
        for side in [Side::BeforeRequest, Side::BeforeAnswer] {
            let (dialect, key) = (DIALECTS[at % 2], format!("{fault:?} {side:?} {at}"));
            wire.plan(Some((at, side, fault)));
            let said = post(&company, &body, dialect, &key);
            let happened = wire.happened();
            met += usize::from(happened);
            wire.plan(None);
            let found = behind.journals();
            match (said.status, said.code.as_deref()) {
                (201, _) => assert_eq!(found, written + 1, "{key}: what was acknowledged is there"),
                (503, Some("commit_outcome_unknown")) => {
                    assert!(happened && (written..=written + 1).contains(&found), "{key}");
                }
                (503, _) => assert_eq!(found, written, "{key}: {} was told", said.answer.text),
                _ => panic!("{key}: {}", said.answer.text),
            }
            insist(&company, &body, dialect, &key);
            written += 1;
            assert_eq!(behind.journals(), written, "{key}: one, however often it is repeated");
        }
    }
    // A posting may need a request fewer than the one that was counted.
    assert!(met * 10 >= requests * 2 * 9, "{met} faults at {requests} requests");
    assert_eq!(behind.number("SELECT max(number) - count(*) FROM entries"), 0);
    assert_eq!(company.failed_checks(), [""; 0]);
    assert_eq!(server.command(&["verify"], "").status.code(), Some(0));
}

#[test]
fn a_connection_that_is_cut_at_any_request_of_a_write_loses_and_doubles_nothing() {
    at_each_request(Fault::Cut);
}

#[test]
fn a_connection_that_is_reset_at_any_request_of_a_write_loses_and_doubles_nothing() {
    at_each_request(Fault::Reset);
}

#[test]
fn a_connection_that_hangs_at_any_request_of_a_write_loses_and_doubles_nothing() {
    at_each_request(Fault::Hang);
}

fn status(server: &Server, path: &str) -> u16 {
    server.send(&Request::new("GET", path)).status
}

/// No deadline of the product is near: what is answered is answered because it is known.
fn unhurried() -> Value {
    json!({"Database": {"ConnectTimeout": "100s", "StatementTimeout": "100s", "WriteTimeout": "100s"},
        "Limits": {"Request": "120s"}, "Shutdown": {"Grace": "2s"}, "Logging": {"Format": "json"}})
}

#[test]
fn while_the_database_is_away_everybody_is_told_so_and_once_it_is_back_all_goes_on() {
    let Some(direct) = fresh_database() else { return };
    let wire = wire_to(&direct);
    let server = behind_a_wire(&wire, &direct, unhurried());
    let company = server.company();
    let body = rent(&company);
    assert_eq!(status(&server, "/readyz"), 200);
    for (round, silently) in [false, true].into_iter().enumerate() {
        let away = |away| if silently { wire.silence(away) } else { wire.refuse(away) };
        away(true);
        // Whoever asks hears how it is now, however lately it was well.
        assert_eq!(status(&server, "/readyz"), 503);
        eventually("the news", || (company.ask(Dialect::B, "GET", "parties", "", None).status == 503).then_some(()));
        assert_eq!(status(&server, "/healthz"), 200);
        for index in 0..20 {
            let login = json!({"email": OWNER_EMAIL, "password": OWNER_PASSWORD});
            let told = [
                company.ask(Dialect::A, "GET", "parties", "", None).answer,
                post(&company, &body, DIALECTS[index % 2], &format!("away {round}")).answer,
                server.send(&Request::new("POST", "/b/api/auth/login").json(&login)),
            ];
            for answer in told {
                assert_eq!(answer.status, 503, "{}", answer.text);
                assert_eq!(answer.header("x-error-code"), Some("unavailable"));
                assert!(answer.header("retry-after").is_some());
            }
        }
        away(false);
        eventually("the database's return", || (status(&server, "/readyz") == 200).then_some(()));
        insist(&company, &body, Dialect::B, &format!("away {round}"));
    }
    assert_eq!(Behind::of(&direct).journals(), 2);
    let log = server.log();
    assert_eq!(log.matches("\"database_away\"").count(), 2, "{log}");
    assert_eq!(log.matches("\"database_back\"").count(), 2, "{log}");
    assert_eq!(company.failed_checks(), [""; 0]);
    // It hangs again, and a write with it; the server ends when it is told to.
    std::thread::scope(|scope| {
        wire.silence(true);
        let (address, request) = (server.address, company.request(Dialect::A, "POST", "journals", "").json(&body));
        scope.spawn(move || unanswered(address, &request));
        server.signal("TERM");
    });
    assert_eq!(server.exit_code(), Some(0));
}

/// The status of an answer, where there is a whole one.
fn unanswered(address: SocketAddr, request: &Request) -> Option<u16> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.write_all(&request.bytes("close")).ok()?;
    let mut text = Vec::new();
    stream.read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    text.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok()
}

#[test]
fn a_server_whose_database_was_stopped_tells_so_and_ends_when_it_is_told_to() {
    let Some(cluster) = Cluster::start() else { return };
    let options = Options {
        database: Some(cluster.fresh_database()),
        custom: Some(unhurried().to_string()),
        ..Options::default()
    };
    let server = Server::start(Engine::Postgres, options).unwrap();
    let company = server.company();
    cluster.signal_all("STOP");
    eventually("the news", || (status(&server, "/readyz") == 503).then_some(()));
    assert_eq!(status(&server, "/healthz"), 200);
    assert_eq!(company.ask(Dialect::A, "GET", "parties", "", None).status, 503);
    server.signal("TERM");
    let code = server.exit_code();
    cluster.signal_all("CONT");
    assert_eq!(code, Some(0));
}

fn killed_under_load(engine: Engine) {
    let Some(server) = Server::start(engine, Options::default()) else { return };
    let company = server.company();
    let body = rent(&company);
    let acknowledged = Mutex::new(Vec::new());
    let answered = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for writer in 0..6 {
            let (company, body, acknowledged, answered) = (&company, &body, &acknowledged, &answered);
            scope.spawn(move || {
                for index in 0.. {
                    let key = format!("{writer} {index}");
                    let request = company.request(DIALECTS[writer % 2], "POST", "journals", "").json(body);
                    match unanswered(company.server.address, &request.header("Idempotency-Key", &key)) {
                        Some(201) => acknowledged.lock().unwrap().push(key),
                        Some(status) => panic!("{status}"),
                        None => return,
                    }
                    answered.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        eventually("some load", || (answered.load(Ordering::Relaxed) > 60).then_some(()));
        server.signal("KILL");
    });
    let (id, token) = (company.id.clone(), company.token.clone());
    let url = server.database_url().to_owned();
    let again = server.restarted();
    let company = Company { server: &again, token, id };
    let behind = Behind::of(&url);
    let acknowledged = acknowledged.into_inner().unwrap();
    let there = behind.journals();
    assert!(there >= i64::try_from(acknowledged.len()).unwrap(), "{there} of {}", acknowledged.len());
    // Each key finds its own, and makes no other.
    for key in &acknowledged {
        let writer: usize = key.split(' ').next().unwrap().parse().unwrap();
        let said = post(&company, &body, DIALECTS[writer % 2], key).expect(201);
        assert_eq!(said.answer.header("idempotency-replayed"), Some("true"), "{key}");
    }
    assert_eq!(behind.journals(), there);
    let holes =
        format!("SELECT max(number) - count(*) FROM entries WHERE business_id = {}", literal(engine, &company.id));
    assert_eq!(behind.number(&holes), 0);
    assert_eq!(company.failed_checks(), [""; 0]);
}

#[test]
fn what_was_acknowledged_under_load_is_there_once_after_a_kill_on_sqlite() {
    killed_under_load(Engine::Sqlite);
}

#[test]
fn what_was_acknowledged_under_load_is_there_once_after_a_kill_on_postgresql() {
    killed_under_load(Engine::Postgres);
}
