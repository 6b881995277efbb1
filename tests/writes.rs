//! Versions, repeats and rehearsals of writes, the same in both dialects.

use crate::harness::server::DIALECTS;
use crate::harness::{Dialect, on_both_engines};
use serde_json::{Value, json};

fn path(record: &Value) -> String {
    format!("/{}", record["id"].as_str().unwrap())
}

on_both_engines! {
    fn a_version_is_told_and_asked_for(server) {
        let company = server.company();
        let party = company.party(json!({}));
        let version = format!("{}-1", party["id"].as_str().unwrap());
        let tag = company.ask(Dialect::A, "GET", "parties", &path(&party), None).expect(200).answer.header("etag").unwrap().to_owned();
        assert!(tag.starts_with(&format!("\"{version}-")), "{tag}");
        for dialect in DIALECTS {
            let get = |header: &str| company.say(dialect, company.request(dialect, "GET", "parties", &path(&party)).header("If-None-Match", header));
            assert_eq!(get("\"other\"").expect(200).answer.header("etag"), Some(tag.as_str()));
            for known in [tag.clone(), format!("W/{tag}"), format!("\"x\", {tag}"), "*".into()] {
                assert_eq!(get(&known).expect(304).answer.text, "");
            }
        }
        let change = |dialect, header: &str, name: &str| {
            let request = company.request(dialect, "PUT", "parties", &path(&party)).header("If-Match", header);
            company.say(dialect, request.json(&json!({"name": name, "isCustomer": true})))
        };
        assert_eq!(change(Dialect::A, "\"stale\"", "x").expect(412).code.as_deref(), Some("precondition_failed"));
        // A version alone tells nobody what is said of it by now.
        let request = company.request(Dialect::A, "GET", "parties", &path(&party)).header("If-None-Match", &format!("\"{version}\""));
        company.say(Dialect::A, request).expect(200);
        // A tag that one dialect gave is good in the other.
        change(Dialect::B, &tag, "second").expect(200);
        change(Dialect::A, &tag, "third").expect(412);
        change(Dialect::A, "*", "third").expect(200);
        for dialect in DIALECTS {
            let delete = company.request(dialect, "DELETE", "parties", &path(&party)).header("If-Match", &tag);
            company.say(dialect, delete).expect(412);
        }
        let read = company.ask(Dialect::B, "GET", "parties", &path(&party), None).expect(200);
        assert_eq!((&read.data["name"], &read.data["version"]), (&json!("third"), &json!(3)));
    }

    fn a_company_may_insist_on_versions(server) {
        let company = server.company_like(json!({"name": "Strict", "baseCurrency": "EUR", "settings": {"requireIfMatch": true}}));
        let party = company.party(json!({}));
        for dialect in DIALECTS {
            let body = json!({"name": "y", "isCustomer": true});
            let said = company.ask(dialect, "PUT", "parties", &path(&party), Some(&body)).expect(428);
            assert_eq!(said.code.as_deref(), Some("precondition_required"));
            company.ask(dialect, "DELETE", "parties", &path(&party), None).expect(428);
        }
    }

    fn of_parallel_changes_to_one_version_one_succeeds(server) {
        let company = server.company();
        let party = company.party(json!({}));
        let tag = format!("\"{}-1\"", party["id"].as_str().unwrap());
        let statuses: Vec<u16> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..12)
                .map(|index| {
                    let (company, party, tag) = (&company, &party, &tag);
                    scope.spawn(move || {
                        let dialect = DIALECTS[index % 2];
                        let request = company.request(dialect, "PUT", "parties", &path(party)).header("If-Match", tag);
                        company.say(dialect, request.json(&json!({"name": format!("n{index}"), "isCustomer": true}))).status
                    })
                })
                .collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).collect()
        });
        assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
        assert_eq!(statuses.iter().filter(|status| **status == 412).count(), 11, "{statuses:?}");
    }

    fn a_repeat_with_the_same_key_is_answered_alike_in_whichever_dialect(server) {
        let company = server.company();
        let key = format!("key {}", company.id);
        let create = |dialect, body: &str, key: &str| {
            company.say(dialect, company.request(dialect, "POST", "parties", "").header("Idempotency-Key", key).text("application/json", body))
        };
        let first = create(Dialect::A, r#"{"name":"Once","isCustomer":true,"creditLimit":5}"#, &key).expect(201);
        assert_eq!(first.answer.header("idempotency-replayed"), None);
        for (dialect, key) in [(Dialect::B, key.clone()), (Dialect::A, format!("\"{key}\""))] {
            // Another order of members is the same request.
            let again = create(dialect, r#"{ "creditLimit":5, "isCustomer":true, "name":"Once" }"#, &key).expect(201);
            assert_eq!(again.data, first.data);
            assert_eq!(again.answer.header("idempotency-replayed"), Some("true"));
            assert_eq!(again.answer.header("etag"), first.answer.header("etag"));
            assert!(again.answer.header("location").unwrap().ends_with(&first.id()));
        }
        let other = create(Dialect::B, r#"{"name":"Other","isCustomer":true}"#, &key).expect(422);
        assert_eq!(other.code.as_deref(), Some("idempotency_mismatch"));
        let count = company.ask(Dialect::B, "GET", "parties", "", None).expect(200).data["pagination"]["totalCount"].clone();
        assert_eq!(count, 1);

        let remove = |dialect| {
            let request = company.request(dialect, "DELETE", "parties", &path(&first.data)).header("Idempotency-Key", "remove");
            company.say(dialect, request).expect(200)
        };
        assert_eq!(remove(Dialect::B).data, remove(Dialect::A).data);
        // The answer outlives the record.
        create(Dialect::A, r#"{"name":"Once","isCustomer":true,"creditLimit":5}"#, &key).expect(201);
        for bad in ["", "é", &"k".repeat(256)] {
            assert_eq!(create(Dialect::B, r#"{"name":"x","isCustomer":true}"#, bad).expect(400).fields(), ["Idempotency-Key"]);
        }
    }

    fn a_request_that_failed_may_be_tried_again_with_its_key(server) {
        let company = server.company();
        let key = format!("retry {}", company.id);
        let create = |name: &str| {
            let request = company.request(Dialect::B, "POST", "parties", "").header("Idempotency-Key", &key);
            company.say(Dialect::B, request.json(&json!({"name": name, "isCustomer": true})))
        };
        create("").expect(400);
        create("Now with a name").expect(201);
    }

    fn parallel_repeats_write_once(server) {
        let company = server.company();
        let key = format!("storm {}", company.id);
        let statuses: Vec<u16> = std::thread::scope(|scope| {
            let send = |index: usize| {
                let dialect = DIALECTS[index % 2];
                let request = company.request(dialect, "POST", "parties", "").header("Idempotency-Key", &key);
                company.say(dialect, request.json(&json!({"name": "Storm", "isCustomer": true}))).status
            };
            let workers: Vec<_> = (0..16).map(|index| scope.spawn(move || send(index))).collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).collect()
        });
        assert!(statuses.iter().all(|status| matches!(status, 201 | 409)), "{statuses:?}");
        assert!(statuses.contains(&201));
        let count = company.ask(Dialect::B, "GET", "parties", "", None).expect(200).data["pagination"]["totalCount"].clone();
        assert_eq!(count, 1);
    }

    fn a_rehearsal_keeps_nothing(server) {
        let company = server.company();
        let party = company.party(json!({"name": "Stays"}));
        for dialect in DIALECTS {
            let body = json!({"name": "Rehearsed", "isCustomer": true});
            let said = company.ask(dialect, "POST", "parties", "?dryRun=true", Some(&body)).expect(201);
            assert_eq!(said.data["name"], "Rehearsed");
            assert_eq!(said.answer.header("x-dry-run"), Some("true"));
            assert_eq!(said.answer.header("location"), None);
            company.ask(dialect, "GET", "parties", &path(&said.data), None).expect(404);
            let said = company.ask(dialect, "PUT", "parties", &format!("{}?dryRun=true", path(&party)), Some(&body)).expect(200);
            assert_eq!(said.data["name"], "Rehearsed");
            company.ask(dialect, "DELETE", "parties", &format!("{}?dryRun=true", path(&party)), None).expect(200);
            company.ask(dialect, "POST", "parties", "?dryRun=true", Some(&json!({}))).expect(400);
            let read = company.ask(dialect, "GET", "parties", &path(&party), None).expect(200);
            assert_eq!(read.data, party);
        }
    }

    fn every_answer_names_its_request(server) {
        let company = server.company();
        for dialect in DIALECTS {
            let given = company.request(dialect, "GET", "parties", "").header("X-Request-Id", "trace-42.a");
            assert_eq!(company.say(dialect, given).answer.header("x-request-id"), Some("trace-42.a"));
            let wild = company.request(dialect, "GET", "parties", "/x").header("X-Request-Id", "a b<c>");
            let made = company.say(dialect, wild).answer;
            assert_eq!(made.header("x-request-id").unwrap().len(), 36);
            assert_eq!(made.header("x-content-type-options"), Some("nosniff"));
            assert_eq!(made.header("cache-control"), Some("no-store"));
            assert_eq!(made.header("access-control-allow-origin"), None);
            assert_eq!(made.header("server"), None);
            for coding in ["gzip", "br", "zstd"] {
                let list = company.request(dialect, "GET", "accounts", "?pageSize=500").header("Accept-Encoding", coding);
                let list = server.send(&list).expect(200);
                assert_eq!((list.coding.as_deref(), list.header("vary")), (Some(coding), Some("accept-encoding")));
            }
        }
    }
}
