//! Codes and passwords that are guessed where somebody could hope that nobody counts.
//!
//! Each test has a server of its own: guesses of one network are counted together.

use crate::harness::books::behind_the_back;
use crate::harness::people::{ACCEPT, fresh_email};
use crate::harness::server::{Company, DIALECTS, OWNER_EMAIL, OWNER_PASSWORD, Said, authorised};
use crate::harness::{Dialect, Engine, Options, Request, Server, on_both_engines};
use crate::signin::{PASSWORD, added};
use serde_json::{Value, json};

fn trusting(engine: Engine) -> Server {
    let arguments = ["--set", "TrustedProxies=127.0.0.1"].map(str::to_owned).to_vec();
    Server::start(engine, Options { arguments, ..Options::default() }).unwrap()
}

/// An act of somebody with a token or a code, from an address.
fn ask(server: &Server, (dialect, path): (Dialect, &str), token: &str, address: &str, body: &Value) -> Said {
    let request = authorised(Request::new("POST", path), token).header("X-Forwarded-For", address);
    Said::of(dialect, server.send(&request.json(body)))
}

fn own(dialect: Dialect, path: &str) -> (Dialect, String) {
    let base = if dialect == Dialect::A { "/a/api/Users/me" } else { "/b/api/auth/me" };
    (dialect, format!("{base}{path}"))
}

fn login_from_with(server: &Server, address: &str, body: &Value) -> u16 {
    let request = Request::new("POST", "/b/api/auth/login").header("X-Forwarded-For", address);
    server.send(&request.json(body)).status
}

on_both_engines! {
    fn a_wrong_code_is_counted_whatever_comes_with_it(server) {
        let server = &trusting(server.engine);
        // Refused for themselves, were the code right: too easy, somebody's name already.
        let bodies = [
            json!({"password": "passwordpassword"}),
            json!({"password": "a ferry at first light", "username": "owner"}),
            json!({"password": "a ferry at first light"}),
        ];
        for (number, (dialect, path)) in ACCEPT.into_iter().enumerate() {
            for (place, body) in bodies.iter().enumerate() {
                let (address, code) = (format!("10.{number}.{place}.1"), format!("join_{number}{place}{}", "a".repeat(30)));
                let told: Vec<u16> =
                    (0..12).map(|_| ask(server, (dialect, path), &code, &address, body).status).collect();
                assert_eq!(told, [[401; 10].as_slice(), &[429; 2]].concat(), "{path} {body}");
            }
        }
        for (number, dialect) in DIALECTS.into_iter().enumerate() {
            let (dialect, path) = own(dialect, "/invitations");
            let (address, body) = (format!("10.9.{number}.1"), json!({"invitationCode": "join_nothing"}));
            let token = server.token();
            let told: Vec<u16> =
                (0..12).map(|_| ask(server, (dialect, &path), token, &address, &body).status).collect();
            assert!(told[..10].iter().all(|one| *one == told[0] && *one != 429) && told[10..] == [429; 2], "{told:?}");
        }
    }

    fn a_success_forgives_its_own_guesses_and_no_others(server) {
        let server = &trusting(server.engine);
        let log_in = |address: &str, name: &str, password: &str| {
            login_from_with(server, address, &json!({"email": name, "password": password}))
        };
        let email = added(server, &[]);
        for _ in 0..3 {
            let told: Vec<u16> = (0..9).map(|_| log_in("10.40.0.1", &email, "wrong")).collect();
            assert_eq!((told, log_in("10.40.0.1", &email, PASSWORD)), (vec![401; 9], 200));
        }
        // What a network guessed for other names stays counted for them.
        let strange = |number: usize| log_in("10.41.0.1", &format!("somebody-{number}@example.test"), "wrong");
        let told: Vec<u16> = (0..19).map(strange).collect();
        assert_eq!((told, log_in("10.41.0.1", &email, PASSWORD)), (vec![401; 19], 200));
        assert_eq!([strange(20), strange(21)], [401, 429]);
        // Until a quarter of an hour is over.
        behind_the_back(server, &["UPDATE login_failures SET failed_at = failed_at - 901000000".into()]).unwrap();
        assert_eq!(strange(22), 401);
    }

    fn who_is_disabled_logs_in_no_more_than_a_stranger(server) {
        let server = &trusting(server.engine);
        let email = added(server, &[]);
        let log_in = |password: &str| {
            let request = Request::new("POST", "/b/api/auth/login").json(&json!({"email": email, "password": password}));
            let answer = server.send(&request);
            (answer.status, answer.header("x-error-code").map(str::to_owned))
        };
        assert_eq!(log_in(PASSWORD).0, 200);
        assert!(server.command(&["user", "disable", &email], "").status.success());
        assert_eq!((log_in(PASSWORD).0, log_in(PASSWORD)), (401, log_in("not the password")));
    }

    fn codes_and_keys_end_when_they_say(server) {
        let server = &trusting(server.engine);
        let company = server.company();
        let code = company.invite(Dialect::B, &fresh_email("invited"), &company.permission("sales")).expect(201).data;
        let key = |name: &str| {
            let made = company.ask(Dialect::B, "POST", "apiKeys", "", Some(&json!({"name": name}))).expect(201).data;
            Company { token: made["secret"].as_str().unwrap().to_owned(), ..company.clone() }
        };
        let (good, ended) = (key("Good"), key("Ended"));
        let end = ["UPDATE invitations SET expires_at = created_at", "UPDATE api_keys SET expires_at = 1 WHERE name = 'Ended'"];
        behind_the_back(server, &end.map(str::to_owned)).unwrap();
        for dialect in DIALECTS {
            assert_eq!(server.accept(dialect, code["invitationCode"].as_str().unwrap(), PASSWORD).status, 401);
            assert_eq!([&good, &ended].map(|key| key.ask(dialect, "GET", "parties", "", None).status), [200, 401]);
        }
    }

    fn codes_and_confirmations_wait_for_strangers_too(server) {
        let server = &trusting(server.engine);
        let company = server.company();
        let code = company.invite(Dialect::B, &fresh_email("invited"), &company.permission("sales")).expect(201);
        let code = code.data["invitationCode"].as_str().unwrap().to_owned();
        let (accept, wrong) = (ACCEPT[1], format!("join_{}", "b".repeat(32)));
        let password = json!({"password": "a ferry at first light"});
        let join = own(Dialect::B, "/invitations");
        let change = own(Dialect::A, "/password");
        let guessed = json!({"currentPassword": "not the password", "newPassword": "lanterns over the harbour"});
        let confirmed = json!({"currentPassword": OWNER_PASSWORD, "newPassword": "lanterns over the harbour"});
        let token = server.login(OWNER_EMAIL, OWNER_PASSWORD);
        let nothing = json!({"invitationCode": "join_nothing"});
        // What is guessed, and what would be right.
        for (number, (place, token, guess, right)) in [
            ((accept.0, accept.1), wrong.as_str(), &password, None),
            ((join.0, join.1.as_str()), token.as_str(), &nothing, Some(json!({"invitationCode": code}))),
            ((change.0, change.1.as_str()), token.as_str(), &guessed, Some(confirmed)),
        ].into_iter().enumerate() {
            // Each network guesses once: it is the account, or the code, that is counted.
            let from = |place: usize| format!("10.{}.{place}.1", 20 + number);
            let told: Vec<u16> = (0..40).map(|other| ask(server, place, token, &from(other), guess).status).collect();
            let judged = told.iter().filter(|one| **one != 429).count();
            assert!((30..40).contains(&judged) && told[39] == 429, "{}: {told:?}", place.1);
            if let Some(right) = right {
                let waits = ask(server, place, token, &from(100), &right).expect(429);
                assert!(waits.answer.header("retry-after").unwrap().parse::<u64>().unwrap() <= 61);
            }
        }
    }
}
