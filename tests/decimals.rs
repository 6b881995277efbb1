//! Decimals as texts, where a program asks for them so.

use crate::harness::server::DIALECTS;
use crate::harness::{Company, Dialect, Request, on_both_engines};
use ledger_core::resource::Scope;
use ledger_core::resource::extra::Media;
use ledger_core::resource::list::Reads;
use ledger_core::resource::operation::Method;
use ledger_core::resource::registry::registry;
use serde_json::{Value, json};

fn in_texts(request: Request) -> Request {
    request.header("X-Decimal-Format", "string")
}

/// How many numbers of one answer are texts in the other; all else must be the same, digit for digit.
fn texts(plain: &Value, said: &Value, place: &str) -> usize {
    match (plain, said) {
        (Value::Number(number), Value::String(text)) => {
            assert_eq!(&number.to_string(), text, "{place}");
            1
        }
        (Value::Array(plain), Value::Array(said)) => {
            assert_eq!(plain.len(), said.len(), "{place}");
            plain.iter().zip(said).map(|(plain, said)| texts(plain, said, place)).sum()
        }
        (Value::Object(plain), Value::Object(said)) => {
            assert_eq!(plain.keys().collect::<Vec<_>>(), said.keys().collect::<Vec<_>>(), "{place}");
            plain.iter().map(|(name, plain)| texts(plain, &said[name], &format!("{place}.{name}"))).sum()
        }
        // When it was made is another moment each time.
        (_, _) if place.ends_with(".generatedAt") => 0,
        (plain, said) => {
            assert_eq!(plain, said, "{place}");
            0
        }
    }
}

fn business(company: &Company<'_>) {
    for resource in [
        "salesInvoices",
        "purchaseInvoices",
        "receipts",
        "journals",
        "stockAdjustments",
        "salesOrders",
        "exchangeRates",
    ] {
        company.make(resource);
    }
}

on_both_engines! {
    fn every_read_tells_its_decimals_as_texts(server) {
        let company = server.company();
        business(&company);
        let (mut reads, mut found) = (0, 0);
        for operations in registry().iter().filter(|one| one.scope == Scope::Business) {
            let stem = operations.key.stem();
            let first = || {
                let listed = company.ask(Dialect::B, "GET", stem, "?pageSize=1", None);
                listed.data["items"][0]["id"].as_str().map(str::to_owned)
            };
            for verb in operations.verbs().filter(|verb| operations.method(*verb) == Method::Get) {
                if operations.media(verb)[0] != Media::Json {
                    continue;
                }
                let path = match operations.names_record(verb).then(first) {
                    Some(None) => continue,
                    Some(Some(id)) => operations.path(verb).replace("{id}", &id),
                    None => operations.path(verb),
                };
                let required = operations.offer(verb).parameters.iter().filter(|parameter| parameter.required);
                let query: Vec<String> = required.map(|parameter| format!("{}={}", parameter.name, match parameter.reads {
                    Reads::Day => "2026-12-31".to_owned(),
                    Reads::Party => company.partner(),
                    Reads::Identifier if parameter.name == "itemId" => company.goods(),
                    Reads::Identifier => company.account("1010"),
                    other => panic!("{stem} {verb:?} wants {other:?}"),
                })).collect();
                let path = format!("{path}?{}", query.join("&"));
                for dialect in DIALECTS {
                    let ask = || company.request_for(dialect, "GET", operations, &path);
                    let plain = server.send(&ask());
                    // What comes with the system has no history.
                    if plain.status == 404 && path.contains("/history") {
                        continue;
                    }
                    let plain = plain.expect(200);
                    // That every number which is one by the document is a text is asserted of each answer.
                    let said = server.send(&in_texts(ask())).expect(200);
                    assert_eq!((said.header("x-decimal-format"), plain.header("x-decimal-format")), (Some("string"), None));
                    // What the installation or somebody else does meanwhile is told as well.
                    if !["verification", "dialectUsage", "users"].contains(&stem) {
                        found += texts(&plain.json(), &said.json(), &path);
                    }
                    reads += 1;
                }
            }
        }
        assert!(reads > 150 && found > 1_000, "{reads} {found}");
    }

    fn what_is_written_is_answered_so_and_may_be_sent_back(server) {
        let company = server.company();
        let body = company.example("salesInvoices");
        for dialect in DIALECTS {
            let ask = |method: &str, path: &str, body: &Value| {
                company.say(dialect, in_texts(company.request(dialect, method, "salesInvoices", path)).json(body))
            };
            let made = ask("POST", "", &body).expect(201);
            assert!(made.data["total"].is_string() && made.data["lines"][0]["quantity"].is_string(), "{}", made.data);
            assert!(made.data["version"].is_number());
            let back = ask("PUT", &format!("/{}", made.id()), &made.data).expect(200);
            assert_eq!(back.data, made.data, "not even the version changes");
            let rehearsed = ask("POST", "?dryRun=true", &body).expect(201);
            assert!(rehearsed.data["postings"][0]["debit"].is_string(), "{}", rehearsed.data["postings"]);
            let batch = json!({"operations": [{"operation": "salesInvoicesCreate", "body": body}]});
            let said = company.say(dialect, in_texts(company.request_at(dialect, "POST", "batch")).json(&batch)).expect(200);
            let inner = &said.data["results"][0]["body"];
            let record = if dialect == Dialect::A { &inner["data"] } else { inner };
            assert!(record["total"].is_string() && said.data["results"][0]["status"].is_number(), "{said:?}");
            // One that is known from before is told as it is asked for.
            let read = |texts: bool| {
                let request = company.request(dialect, "GET", "salesInvoices", &format!("/{}", made.id()));
                company.say(dialect, if texts { in_texts(request) } else { request }).expect(200)
            };
            let tags = [true, false, true, false].map(|texts| {
                let said = read(texts);
                assert_eq!(said.data["total"].is_string(), texts);
                said.answer.header("etag").unwrap().to_owned()
            });
            assert_eq!((&tags[0], &tags[1]), (&tags[2], &tags[3]));
            assert_ne!(tags[0], tags[1], "what is said otherwise is told apart");
            // Either is the version that a write is judged by.
            let request = company.request(dialect, "PUT", "salesInvoices", &format!("/{}", made.id()));
            company.say(dialect, request.header("If-Match", &tags[0]).json(&made.data)).expect(200);
        }
    }

    fn one_word_or_the_other_and_nothing_else(server) {
        let company = server.company();
        for dialect in DIALECTS {
            let ask = |format: &str| company.say(dialect, company.request(dialect, "GET", "parties", "").header("X-Decimal-Format", format));
            ask("number").expect(200);
            for wrong in ["text", "", "String", "string, number"] {
                assert_eq!(ask(wrong).expect(400).fields(), ["X-Decimal-Format"], "{wrong}");
            }
            // What has no types is as it was.
            let csv = in_texts(company.request_at(dialect, "GET", "reports/trial-balance.csv"));
            server.send(&csv).expect(200);
        }
    }
}
