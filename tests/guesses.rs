//! Guesses that come at once, and what proves a second factor.

use crate::harness::on_both_engines;
use crate::harness::people::{code, next_step};
use crate::harness::server::{DIALECTS, authorised};
use crate::harness::{Dialect, Options, Request, Server};
use crate::signin::{PASSWORD, added, guess, login_from, own, trusting, with_authenticator};
use serde_json::{Value, json};

/// What many who ask at the same moment are told.
fn at_once(count: usize, ask: impl Fn(usize) -> u16 + Sync) -> Vec<u16> {
    let (ask, begin) = (&ask, &std::sync::Barrier::new(count));
    std::thread::scope(|scope| {
        let one = |number| {
            move || {
                begin.wait();
                ask(number)
            }
        };
        let asking: Vec<_> = (0..count).map(|number| scope.spawn(one(number))).collect();
        asking.into_iter().map(|one| one.join().unwrap()).collect()
    })
}

fn of(told: &[u16], status: u16) -> usize {
    told.iter().filter(|one| **one == status).count()
}

/// As many rows of failures as there are.
fn failures(server: &Server) -> usize {
    crate::signin::texts(server, "SELECT subject FROM login_failures").len()
}

on_both_engines! {
    fn guesses_at_once_are_no_more_than_guesses_one_by_one(server) {
        let server = &trusting(server.engine);
        // Of a network.
        let told = at_once(60, |number| guess(server, "10.1.0.1", &format!("nobody-{number}@example.test")));
        assert_eq!((of(&told, 401), of(&told, 429)), (20, 40), "{told:?}");
        // Of an account, from many networks: thirty, and then one after another, after a second, two, four and so on.
        let email = added(server, &[]);
        let told = at_once(60, |number| guess(server, &format!("10.2.{number}.1"), &email));
        assert!((30..=36).contains(&of(&told, 401)) && of(&told, 401) + of(&told, 429) == 60, "{told:?}");
        // Of a code, by whoever has the password.
        let email = added(server, &[]);
        let (_, _, codes) = with_authenticator(server, &email);
        let with = |address: &str, code: &str| {
            let body = json!({"name": email, "password": PASSWORD, "totpCode": code});
            login_from(server, Dialect::B, address, &body).status
        };
        let told = at_once(60, |number| with(&format!("10.3.{number}.1"), "000000"));
        assert_eq!((of(&told, 401), of(&told, 429)), (20, 40), "{told:?}");
        // And no code is good for two.
        let told = at_once(8, |_| with("127.0.0.1", &codes[0]));
        assert_eq!((of(&told, 200), of(&told, 401)), (1, 7), "{told:?}");
    }

    fn who_is_right_is_waited_for_and_is_no_guess(server) {
        let server = &trusting(server.engine);
        let emails: Vec<String> = (0..4).map(|_| added(server, &[])).collect();
        // One guess is left to the network, and forty people come at once who know their passwords.
        for number in 0..19 {
            assert_eq!(guess(server, "10.1.0.1", &format!("nobody-{number}@example.test")), 401);
        }
        let counted = failures(server);
        let told = at_once(40, |number| {
            let body = json!({"name": emails[number % emails.len()], "password": PASSWORD});
            login_from(server, DIALECTS[number % 2], "10.1.0.1", &body).status
        });
        assert_eq!(of(&told, 200), 40, "{told:?}");
        assert_eq!(failures(server), counted, "what was right is given back");
        // Who is asked for a code has not guessed either.
        let (_, _, codes) = with_authenticator(server, &emails[0]);
        for _ in 0..12 {
            let body = json!({"name": emails[0], "password": PASSWORD});
            let asked = login_from(server, Dialect::B, "10.4.0.1", &body).expect(401);
            assert!(asked.answer.text.contains("totpCode") || asked.answer.text.contains("code"), "{}", asked.answer.text);
        }
        let body = json!({"name": emails[0], "password": PASSWORD, "totpCode": codes[0]});
        login_from(server, Dialect::B, "10.4.0.1", &body).expect(200);
        assert_eq!(failures(server), counted);
        assert_eq!([guess(server, "10.1.0.1", "nobody@example.test"), guess(server, "10.1.0.1", "nobody@example.test")], [401, 429]);
    }

    fn a_second_factor_is_changed_by_who_has_it(server) {
        let server = &trusting(server.engine);
        for dialect in DIALECTS {
            let email = added(server, &[]);
            let (secret, spent, codes) = with_authenticator(server, &email);
            let body = json!({"name": email, "password": PASSWORD, "totpCode": codes[0]});
            let said = login_from(server, Dialect::B, "10.1.0.1", &body).expect(200);
            let token = said.data["token"].as_str().unwrap();
            let prove = |path: &str, code: Option<&str>| {
                let mut body = json!({"currentPassword": PASSWORD});
                if let Some(code) = code { body["code"] = code.into(); }
                own(server, dialect, token, "POST", path, Some(&body))
            };
            for path in ["/totp-removal", "/recovery-codes"] {
                // The password alone, a code that was spent, and one that never was, change nothing.
                for code in [None, Some(codes[0].as_str()), Some("aaaa-bbbb-cccc-dddd"), Some(&code(&secret, spent))] {
                    let refused = prove(path, code).expect(400);
                    assert!(refused.errors.get("code").is_some(), "{path} {code:?}: {}", refused.answer.text);
                }
                // A rehearsal uses nothing up.
                prove(&format!("{path}?dryRun=true"), Some(&codes[1])).expect(200);
            }
            let enabled = || own(server, dialect, token, "GET", "", None).expect(200).data["twoFactorEnabled"].clone();
            assert_eq!(enabled(), true);
            let renewed = prove("/recovery-codes", Some(&codes[1])).expect(200).data;
            let fresh: Vec<Value> = renewed["recoveryCodes"].as_array().unwrap().clone();
            prove("/totp-removal", Some(&codes[2])).expect(400);
            // Repeated, it is answered once more, though the code is used up.
            let base = if dialect == Dialect::A { "/a/api/Users/me" } else { "/b/api/auth/me" };
            let body = json!({"currentPassword": PASSWORD, "code": fresh[0]});
            let request = Request::new("POST", &format!("{base}/totp-removal")).json(&body);
            let request = authorised(request, token).header("Idempotency-Key", "removal");
            for replayed in [None, Some("true")] {
                let answer = server.send(&request).expect(200);
                assert_eq!(answer.header("idempotency-replayed"), replayed);
            }
            assert_eq!(enabled(), false);
            // One that was never confirmed needs no code.
            own(server, dialect, token, "POST", "/totp", Some(&json!({"currentPassword": PASSWORD}))).expect(200);
            prove("/totp-removal", None).expect(200);
        }
    }

    fn codes_that_confirm_are_counted_with_those_of_log_ins(server) {
        let server = &trusting(server.engine);
        let email = added(server, &[]);
        let (secret, spent, codes) = with_authenticator(server, &email);
        let body = json!({"name": email, "password": PASSWORD, "totpCode": codes[0]});
        let said = login_from(server, Dialect::B, "10.1.0.1", &body).expect(200);
        let token = said.data["token"].as_str().unwrap();
        let prove = |code: &str| {
            let body = json!({"currentPassword": PASSWORD, "code": code});
            own(server, Dialect::B, token, "POST", "/totp-removal", Some(&body)).status
        };
        let told: Vec<u16> = (0..12).map(|_| prove("000000")).collect();
        assert_eq!((of(&told, 400), of(&told, 429)), (10, 2), "{told:?}");
        assert_eq!(prove(&code(&secret, next_step(spent))), 429);
    }

    fn keys_at_once_are_no_more_than_keys_one_by_one_and_good_ones_go_on_after_a_restart(server) {
        let server = Server::start(server.engine, Options::default()).unwrap();
        let company = server.company();
        let key = company.ask(Dialect::B, "POST", "apiKeys", "", Some(&json!({"name": "Program"}))).expect(201);
        let key = key.data["secret"].as_str().unwrap().to_owned();
        let id = company.id.clone();
        let ask = |server: &Server, key: &str| {
            let request = Request::new("GET", "/b/api/parties").header("X-Business-Id", &id);
            server.send(&authorised(request, key)).status
        };
        let guesses = |server: &Server| at_once(60, |number| ask(server, &format!("duet_{number:032}")));
        let told = guesses(&server);
        assert_eq!((of(&told, 401), of(&told, 429)), (30, 30), "{told:?}");
        assert_eq!(ask(&server, &key), 200, "it was never seen before");
        let server = server.restarted();
        let told = guesses(&server);
        assert_eq!((of(&told, 401), of(&told, 429)), (30, 30), "{told:?}");
        assert_eq!(ask(&server, &key), 200);
        assert_eq!(ask(&server, "duet_another"), 429);
    }
}
