//! Tenants come and go: nobody meets one that is leaving, and nobody who is slow holds one.

use crate::harness::http::connect;
use crate::harness::process::eventually;
use crate::harness::server::authorised;
use crate::harness::{Engine, Options, Request, Server};
use serde_json::json;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

const PASSWORD: &str = "the first user of a tenant";

fn cloud(most: usize, hosts: usize) -> (Server, Vec<(String, String)>) {
    let custom = Some(format!(r#"{{"Edition": "Cloud", "Cloud": {{"MostOpen": {most}}}}}"#));
    let server = Server::start(Engine::Sqlite, Options { custom, ..Options::default() }).expect("SQLite");
    let tenants = (0..hosts).map(|number| {
        let host = format!("t{number}.example");
        let words = ["tenant", "add", &host, "--email", "first@example.test", "--password-stdin"];
        let added = server.command(&words, PASSWORD);
        assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
        let token = server.send(&log_in(&host)).expect(200).json()["token"].as_str().expect("a token").to_owned();
        (host, token)
    });
    let tenants = tenants.collect();
    (server, tenants)
}

fn log_in(host: &str) -> Request {
    let body = json!({"email": "first@example.test", "password": PASSWORD});
    Request::new("POST", "/b/api/auth/login").header("Host", host).json(&body)
}

fn companies((host, token): &(String, String)) -> Request {
    authorised(Request::new("GET", "/b/api/businesses").header("Host", host), token)
}

#[test]
fn whoever_asks_for_a_tenant_that_leaves_waits_for_it() {
    let (server, tenants) = cloud(3, 5);
    std::thread::scope(|scope| {
        for caller in 0..2_usize {
            let (server, tenants) = (&server, &tenants);
            scope.spawn(move || {
                for turn in 0..25 {
                    let tenant = &tenants[(turn * (caller + 1) + caller) % tenants.len()];
                    server.send(&companies(tenant)).expect(200);
                }
            });
        }
    });
}

/// Who is served keeps the place; who comes meanwhile waits for it for a second, and then hears that all are in use.
#[test]
fn a_newcomer_waits_for_a_place_before_it_hears_that_there_is_none() {
    let (server, tenants) = cloud(1, 2);
    let (host, token) = &tenants[0];
    let made = Request::new("POST", "/b/api/businesses").json(&json!({"name": "Held", "baseCurrency": "EUR"}));
    let made = server.send(&authorised(made.header("Host", host), token)).expect(201).json();
    let business = made["id"].as_str().expect("an identifier");
    let of_company = |method: &str, path: &str| {
        authorised(Request::new(method, path).header("Host", host).header("X-Business-Id", business), token)
    };
    let last = &server.send(&of_company("GET", "/b/api/events")).expect(200).json()["lastSequence"];
    std::thread::scope(|scope| {
        let held = scope.spawn(|| {
            let waits = of_company("GET", &format!("/b/api/events?after={last}&wait=55s"));
            eventually("a place", || Some(server.send(&waits)).filter(|answer| answer.status != 503))
        });
        for _ in 0..2 {
            // Once the other one is there, the place is taken.
            let (answer, took) = eventually("a refusal", || {
                let begun = Instant::now();
                let answer = server.send(&companies(&tenants[1]));
                (answer.status != 200).then(|| (answer, begun.elapsed()))
            });
            assert_eq!(answer.status, 503, "{}", answer.text);
            assert!(took >= Duration::from_secs(1), "{took:?}");
        }
        let party = json!({"name": "What it waits for", "isCustomer": true});
        server.send(&of_company("POST", "/b/api/parties").json(&party)).expect(201);
        held.join().expect("an answer").expect(200);
    });
    eventually("the place", || (server.send(&companies(&tenants[1])).status == 200).then_some(()));
}

#[test]
fn a_tenant_that_cannot_be_opened_is_away_and_is_told_once() {
    let (server, tenants) = cloud(1, 2);
    // The other one has taken its place.
    server.send(&companies(&tenants[1])).expect(200);
    let books = server.folder.join("data/tenants/t0.example/duet.db");
    eventually("it has left", || (!books.with_extension("db-wal").exists()).then_some(()));
    std::fs::rename(&books, books.with_extension("away")).expect("its books are elsewhere");
    for _ in 0..5 {
        let answer = server.send(&companies(&tenants[0]));
        assert_eq!((answer.status, answer.header("x-error-code")), (503, Some("unavailable")), "{}", answer.text);
        assert!(answer.header("retry-after").is_some());
    }
    assert_eq!(server.log().matches("a tenant cannot be opened").count(), 1, "{}", server.log());
    // Nothing was made in their place.
    assert!(!books.exists());
    server.send(&companies(&tenants[1])).expect(200);
}

#[test]
fn a_stranger_who_sends_slowly_holds_no_tenant() {
    let (server, tenants) = cloud(1, 2);
    let bytes = log_in(&tenants[0].0).header("Expect", "100-continue").bytes("close");
    let head = bytes.windows(4).position(|window| window == b"\r\n\r\n").expect("a head") + 4;
    let mut slow = connect(server.address);
    slow.write_all(&bytes[..head]).expect("it is taken");
    let mut asked = [0; 25];
    slow.read_exact(&mut asked).expect("an answer");
    assert_eq!(&asked[..], b"HTTP/1.1 100 Continue\r\n\r\n");
    // There is one place, and it is nobody's yet.
    server.send(&companies(&tenants[1])).expect(200);
    slow.write_all(&bytes[head..]).expect("it is taken");
    crate::harness::http::Answer::read(&mut slow, true).expect(200);
}
