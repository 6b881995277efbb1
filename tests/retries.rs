//! A request that is repeated is answered as the first time, whatever happened to the server in between.

use crate::harness::books::behind_the_back;
use crate::harness::http::Request;
use crate::harness::people::{ACCEPT, fresh_email};
use crate::harness::process::fresh_folder;
use crate::harness::server::{Company, DIALECTS, Said, authorised};
use crate::harness::{Dialect, Engine, Options, Server, on_both_engines};
use serde_json::{Value, json};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

fn create(company: &Company<'_>, dialect: Dialect, resource: &str, key: &str, body: &Value) -> Said {
    let request = company.request(dialect, "POST", resource, "").header("Idempotency-Key", key);
    company.say(dialect, request.json(body))
}

fn is_replay(said: &Said) -> bool {
    said.answer.header("idempotency-replayed") == Some("true")
}

/// Another secret for tokens than the last server on these books had.
fn with_secret(engine: Engine, place: &(std::path::PathBuf, Option<String>), secret: &str) -> Server {
    let arguments = ["--set".to_owned(), format!("JwtSettings:Secret={secret}")].to_vec();
    let options = Options { arguments, database: place.1.clone(), ..Options::default() };
    Server::start_in(engine, place.0.clone(), options).expect("an engine")
}

on_both_engines! {
    fn an_invitation_that_was_accepted_is_answered_once_more_by_its_key(server) {
        // Codes that open nothing use up what one network may guess, which is not taken from the others.
        let server = with_secret(server.engine, &(fresh_folder("server"), None), "a secret of the tests, which is long enough");
        let company = server.company();
        for (dialect, path) in ACCEPT {
            let email = fresh_email("lost-answer");
            let code = company.invite(dialect, &email, &company.permission("bookkeeper")).expect(201).data["invitationCode"].clone();
            let accept = |path: &str, key: Option<&str>, password: &str| {
                let request = authorised(Request::new("POST", path), code.as_str().unwrap());
                let request = match key {
                    Some(key) => request.header("Idempotency-Key", key),
                    None => request,
                };
                server.send(&request.json(&json!({"password": password})))
            };
            accept(path, Some(&"k".repeat(256)), "a ferry at first light").expect(400);
            let first = Said::of(dialect, accept(path, Some("lost"), "a ferry at first light").expect(200));
            assert!(!is_replay(&first), "{email}");
            // In whichever dialect.
            for (other, path) in ACCEPT {
                let again = Said::of(other, accept(path, Some("lost"), "a ferry at first light").expect(200));
                assert!(is_replay(&again) && again.data == first.data, "{}", again.answer.text);
                // Another password is another request, another key or none finds nothing: the code is used up.
                accept(path, Some("lost"), "a ferry at last light").expect(422);
                accept(path, Some("found"), "a ferry at first light").expect(401);
                accept(path, None, "a ferry at first light").expect(401);
            }
            server.login(&email, "a ferry at first light");
        }
        // The key of one invitation is not that of another.
        let code = company.invite(Dialect::B, &fresh_email("other"), &company.permission("bookkeeper")).expect(201).data["invitationCode"].clone();
        let request = authorised(Request::new("POST", ACCEPT[0].1), code.as_str().unwrap()).header("Idempotency-Key", "lost");
        let own = Said::of(Dialect::A, server.send(&request.json(&json!({"password": "a ferry at first light"}))).expect(200));
        assert!(!is_replay(&own));
    }

    fn a_new_secret_for_tokens_forgets_no_request(server) {
        let folder = fresh_folder("server");
        let first = with_secret(server.engine, &(folder.clone(), None), "the secret of yesterday, which is long enough");
        let (body, key) = (json!({"name": "Elbe Books", "isCustomer": true}), "before");
        let company = first.company();
        let made = create(&company, Dialect::A, "parties", key, &body).expect(201);
        let (id, database) = (company.id.clone(), first.database_url().to_owned());
        drop(first);
        let second = with_secret(server.engine, &(folder, Some(database)), "the secret of today, which is as long");
        let company = Company { server: &second, id, token: second.token().to_owned() };
        for dialect in DIALECTS {
            let again = create(&company, dialect, "parties", key, &body).expect(201);
            assert!(is_replay(&again) && again.data == made.data, "{}", again.answer.text);
            let other = create(&company, dialect, "parties", key, &json!({"name": "Other", "isCustomer": true}));
            assert_eq!(other.expect(422).code.as_deref(), Some("idempotency_mismatch"));
        }
    }

    fn what_releases_before_kept_is_known_again(server) {
        const SECRET: &str = "a secret of the tests, which is long enough";
        let server = with_secret(server.engine, &(fresh_folder("server"), None), SECRET);
        let (company, elsewhere) = (server.company(), server.company());
        let body = json!({"isCustomer": true, "name": "Elbe Books"});
        // As the releases wrote it: the operation, the company, no record, the resource and the body in order.
        let command = format!("partiesCreate\n{}\n\nparties\n{body}", company.id);
        let of_tokens = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, SECRET.as_bytes());
        let gone = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, b"a secret that is gone");
        for (key, fingerprint) in [
            ("digested", hex(ring::digest::digest(&ring::digest::SHA256, command.as_bytes()).as_ref())),
            ("signed", hex(ring::hmac::sign(&of_tokens, command.as_bytes()).as_ref())),
            ("signed with what is gone", hex(ring::hmac::sign(&gone, command.as_bytes()).as_ref())),
        ] {
            let made = create(&company, Dialect::B, "parties", key, &body).expect(201);
            let old = format!("UPDATE idempotency_keys SET command = '{fingerprint}' WHERE key = '{key}'");
            behind_the_back(&server, &[old]).expect("it is written");
            for dialect in DIALECTS {
                let again = create(&company, dialect, "parties", key, &body).expect(201);
                assert!(is_replay(&again) && again.data == made.data, "{key}: {}", again.answer.text);
                // Another company, and another kind of record, are another request by any scheme.
                create(&elsewhere, dialect, "parties", key, &body).expect(422);
                let item = json!({"name": "Goods", "type": "service"});
                create(&company, dialect, "items", key, &item).expect(422);
            }
        }
    }
}
