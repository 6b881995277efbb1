//! What strangers send is read in steps that its bytes bound, and quoted back at no length.

use crate::harness::examples::creatable;
use crate::harness::http::{Answer, connect};
use crate::harness::server::DIALECTS;
use crate::harness::{Engine, Options, Request, Server, on_both_engines};
use ledger_core::resource::operation::Verb;
use ledger_core::resource::registry::registry;
use serde_json::{Value, json};
use std::io::Write;

/// One letter more than may be quoted of anything.
fn at_length(text: &str) -> bool {
    text.contains(&"Q".repeat(65))
}

fn long() -> String {
    "Q".repeat(5_000)
}

/// A name of half a megabyte, and under it a quarter of a million numbers.
fn bomb() -> String {
    let numbers = vec!["0"; 260_000].join(",");
    format!(r#"{{"email":"a@b.test","password":"x","{}":[{numbers}]}}"#, "Q".repeat(520_000))
}

#[test]
fn bombs_of_strangers_hold_up_nobody_on_a_single_worker() {
    let environment = vec![("TOKIO_WORKER_THREADS".to_owned(), "1".to_owned())];
    let server = Server::start(Engine::Sqlite, Options { environment, ..Options::default() }).expect("SQLite");
    let company = server.company();
    let signed_in = DIALECTS.map(|dialect| (company.request(dialect, "POST", "parties", ""), 400));
    // Of whom nobody knows, so much is not even read.
    let strangers = ["/b/api/auth/login", "/a/api/Users/login"].map(|path| (Request::new("POST", path), 413));
    for (request, status) in signed_in.into_iter().chain(strangers) {
        let request = request.text("application/json", &bomb()).bytes("close");
        let mut bombs: Vec<_> = (0..8).map(|_| connect(server.address)).collect();
        for stream in &mut bombs {
            stream.write_all(&request).expect("it is taken");
        }
        // All of them have arrived; nobody has looked at an answer.
        server.send(&Request::new("GET", "/healthz")).expect(200);
        for stream in &mut bombs {
            let answer = Answer::read(stream, true).expect(status);
            if status == 413 {
                continue;
            }
            assert_eq!(answer.header("x-error-code"), Some("validation_failed"));
            let (field, why) = (format!("{}…", "Q".repeat(64)), "is a name of more than 256 bytes");
            let errors = answer.json().get("errors").cloned().unwrap_or_default();
            assert_eq!(errors[&field], json!([why]), "{}", answer.text);
        }
    }
}

/// The body with each of its values, and then each of its names, replaced by what is far too long.
fn replaced(body: &Value, at: &mut Vec<Value>, whole: &Value, pointer: &str) {
    let with = |change: &dyn Fn(&mut Value)| {
        let mut copy = whole.clone();
        change(copy.pointer_mut(pointer).expect("it is there"));
        copy
    };
    match body {
        Value::Object(members) => {
            at.push(with(&|place| place[long()] = 1.into()));
            for (name, member) in members {
                replaced(member, at, whole, &format!("{pointer}/{name}"));
            }
        }
        Value::Array(elements) => {
            at.push(with(&|place| *place = json!([long()])));
            for (index, element) in elements.iter().enumerate() {
                replaced(element, at, whole, &format!("{pointer}/{index}"));
            }
        }
        _ => {
            for text in [long(), format!("expected {}, expected {}", long(), long())] {
                at.push(with(&|place| *place = text.clone().into()));
            }
        }
    }
}

on_both_engines! {
    fn no_fault_quotes_a_body_at_length(server) {
        let company = server.company();
        let mut refused = 0;
        for operations in creatable() {
            let example = &operations.example;
            let mut bodies = Vec::new();
            replaced(example, &mut bodies, example, "");
            for (place, body) in bodies.iter().enumerate() {
                let dialect = DIALECTS[place % 2];
                let said = company.ask(dialect, "POST", operations.key.stem(), "?dryRun=true", Some(body));
                if said.status >= 400 {
                    refused += 1;
                    assert!(!at_length(&said.answer.text), "{:?}: {}", operations.key, said.answer.text);
                }
            }
        }
        assert!(refused > 300, "{refused}");
    }

    fn no_fault_quotes_a_query_at_length(server) {
        let company = server.company();
        for operations in registry().iter().filter(|one| one.verbs().any(|verb| verb == Verb::List)) {
            let offered = operations.parameters.iter().map(|parameter| parameter.name.to_owned());
            let names = offered.chain(["sort", "q", "page", "updatedSince"].map(str::to_owned)).chain([long()]);
            for (place, name) in names.enumerate() {
                for query in [format!("?{name}={}", long()), format!("?{name}=%ff"), format!("?{name}=1&{name}=1")] {
                    let said =
                        company.ask(DIALECTS[place % 2], "GET", operations.key.stem(), &query, None);
                    let by_text = said.status < 400;
                    assert!(by_text || !at_length(&said.answer.text), "{:?} {name}", operations.key);
                }
            }
        }
        for dialect in DIALECTS {
            let many: Vec<String> = (0..101).map(|n| format!("n{n}=1")).collect();
            let said = company.ask(dialect, "GET", "parties", &format!("?{}", many.join("&")), None).expect(400);
            assert_eq!(said.errors, json!({"query": ["must have at most 100 parameters"]}));
        }
    }

    fn a_body_is_as_deep_and_as_wide_as_records_are(server) {
        let company = server.company();
        let nested = format!(r#"{{"name":{}1{}}}"#, "[".repeat(100), "]".repeat(100));
        let lines = format!(r#"{{"lines":[{}]}}"#, vec!["{}"; 1_001].join(","));
        let wide = format!(r#"{{"lines":[{}]}}"#, vec!["0"; 10_001].join(","));
        for dialect in DIALECTS {
            for (body, field, why) in [
                (&nested, format!("name{}", "[0]".repeat(31)), "must not be nested more than 32 deep"),
                (&lines, "lines".into(), "must be at most 1000"),
                (&wide, "lines".into(), "must be at most 10000"),
            ] {
                let request = company.request(dialect, "POST", "journals", "");
                let said = company.say(dialect, request.text("application/json", body)).expect(400);
                assert_eq!(said.errors[&field][0], why, "{}", said.answer.text);
            }
        }
    }
}
