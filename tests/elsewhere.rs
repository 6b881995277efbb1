//! Records that are written by what another system calls them.

use crate::harness::examples::creatable;
use crate::harness::server::{DIALECTS, Said};
use crate::harness::{Company, Dialect, on_both_engines};
use ledger_core::resource::operation::{ResourceOperations, Verb};
use serde_json::{Value, json};

fn put(company: &Company<'_>, dialect: Dialect, resource: &str, external_id: &str, body: &Value) -> Said {
    company.ask(dialect, "PUT", resource, &format!("/by-external-id/{external_id}"), Some(body))
}

/// What is made, and replaced by what it is called elsewhere.
fn upserted() -> impl Iterator<Item = &'static ResourceOperations> {
    creatable().filter(|one| one.verbs().any(|verb| verb == Verb::Upsert))
}

on_both_engines! {
    fn what_is_sent_twice_is_done_once(server) {
        let company = server.company();
        let mut kinds = 0;
        for operations in upserted() {
            let resource = operations.key.stem();
            for (place, dialect) in DIALECTS.into_iter().enumerate() {
                let external_id = format!("shop-{place}");
                let body = company.example(resource);
                let made = put(&company, dialect, resource, &external_id, &body).expect(201);
                assert_eq!((&made.data["externalId"], &made.data["version"]), (&json!(external_id), &json!(1)), "{resource}");
                // Where it says it is, it is.
                let location = made.answer.header("location").unwrap();
                assert!(location.ends_with(&format!("/{}", made.id())) && !location.contains("external"), "{location}");
                let read = company.ask(dialect, "GET", resource, &format!("/{}", made.id()), None).expect(200);
                assert_eq!(read.data, made.data);
                for reader in DIALECTS {
                    let again = put(&company, reader, resource, &external_id, &made.data).expect(200);
                    assert_eq!(again.data, made.data, "{resource}: not even the version changes");
                }
                // Nor where lines come as they came first, without what we call them.
                let again = put(&company, dialect, resource, &external_id, &body).expect(200);
                assert_eq!(again.data, made.data, "{resource}: what was sent is sent once more");
                // Only who makes it says so.
                let new = company.request(dialect, "PUT", resource, &format!("/by-external-id/{external_id}"));
                company.say(dialect, new.header("If-None-Match", "*").json(&body)).expect(412);
                let tagged = company.request(dialect, "PUT", resource, &format!("/by-external-id/{external_id}"));
                let said = company.say(dialect, tagged.header("If-None-Match", "\"1\"").json(&body)).expect(400);
                assert_eq!(said.fields(), ["If-None-Match"], "nothing else can be expected so");
                let mut changed = made.data.clone();
                let words = ["name", "narration"].into_iter().find(|name| changed.get(name).is_some()).unwrap();
                changed[words] = "Another name".into();
                changed["externalId"] = Value::Null;
                let replaced = put(&company, dialect, resource, &external_id, &changed).expect(200);
                assert_eq!((replaced.id(), &replaced.data["version"]), (made.id(), &json!(2)));
                assert_eq!((&replaced.data[words], &replaced.data["externalId"]), (&json!("Another name"), &json!(external_id)));
            }
            let found = company.ask(Dialect::B, "GET", resource, "?externalId=shop-0", None).expect(200).data;
            assert_eq!(found["pagination"]["totalCount"], 1, "{resource}");
            kinds += 1;
        }
        // Parties, items, accounts, tax codes, terms, and every kind of document that is made and replaced.
        assert_eq!(kinds, 19, "which resources are written so has changed");
        assert_eq!(company.failed_checks(), Vec::<String>::new());
    }

    fn each_company_writes_its_own_by_the_same_name(server) {
        let (company, other) = (server.company(), server.company());
        for operations in upserted() {
            let resource = operations.key.stem();
            for dialect in DIALECTS {
                let external_id = format!("shared-{resource}-{dialect:?}");
                let own = put(&company, dialect, resource, &external_id, &company.example(resource)).expect(201);
                let others = put(&other, dialect, resource, &external_id, &other.example(resource)).expect(201);
                assert_ne!(own.id(), others.id(), "{resource}");
                let path = format!("/{}", own.id());
                let still = company.ask(dialect, "GET", resource, &path, None).expect(200);
                assert_eq!(still.data, own.data, "{resource}: another company's write changed it");
                other.ask(dialect, "GET", resource, &path, None).expect(404);
            }
        }
    }

    fn the_path_and_the_version_are_believed(server) {
        let company = server.company();
        let party = |name: &str| json!({"name": name, "isCustomer": true});
        for dialect in DIALECTS {
            let id = format!("a%2Fb-{dialect:?}");
            let made = put(&company, dialect, "parties", &id, &party("Elbe")).expect(201);
            assert_eq!(made.data["externalId"], id.replace("%2F", "/"));
            let other = json!({"name": "Elbe", "isCustomer": true, "externalId": "another"});
            assert_eq!(put(&company, dialect, "parties", &id, &other).expect(400).fields(), ["externalId"]);
            let long = "x".repeat(201);
            assert_eq!(put(&company, dialect, "parties", &long, &party("Elbe")).expect(400).fields(), ["externalId"]);
            assert_eq!(put(&company, dialect, "parties", "%20x", &party("Elbe")).expect(400).fields(), ["externalId"]);
            assert_eq!(put(&company, dialect, "parties", &id, &json!({"isCustomer": 7})).expect(400).fields(), ["isCustomer", "isSupplier", "name"]);
            let expecting = |external_id: &str, tag: &str| {
                let request = company.request(dialect, "PUT", "parties", &format!("/by-external-id/{external_id}"));
                company.say(dialect, request.header("If-Match", tag).json(&party("Oder")))
            };
            expecting(&id, "\"another\"").expect(412);
            expecting(&format!("new-{dialect:?}"), "*").expect(412);
            let tag = made.answer.header("etag").unwrap().to_owned();
            expecting(&id, &tag).expect(200);
            let new = company.request(dialect, "PUT", "parties", &format!("/by-external-id/only-new-{dialect:?}"));
            company.say(dialect, new.header("If-None-Match", "*").json(&party("Oder"))).expect(201);
            // A rehearsal makes nothing.
            let rehearsed = format!("/by-external-id/rehearsed-{dialect:?}?dryRun=true");
            company.ask(dialect, "PUT", "parties", &rehearsed, Some(&party("Rhein"))).expect(201);
            let found = company.ask(dialect, "GET", "parties", &format!("?externalId=rehearsed-{dialect:?}"), None).expect(200).data;
            assert_eq!(found["pagination"]["totalCount"], 0);
        }
    }

    fn one_who_may_change_and_not_make_changes_and_does_not_make(server) {
        let company = server.company();
        let grants = json!([{"resource": "party", "actions": ["view", "edit"]}]);
        let key = json!({"name": "Changes alone", "scopes": grants});
        let secret = company.ask(Dialect::B, "POST", "apiKeys", "", Some(&key)).expect(201).data["secret"].as_str().unwrap().to_owned();
        let changes = Company { token: secret, ..company.clone() };
        let party = json!({"name": "Elbe", "isCustomer": true});
        let refused = put(&changes, Dialect::A, "parties", "shop-1", &party).expect(403);
        assert!(refused.title.contains("party.create"), "{}", refused.title);
        put(&company, Dialect::A, "parties", "shop-1", &party).expect(201);
        put(&changes, Dialect::B, "parties", "shop-1", &json!({"name": "Oder", "isCustomer": true})).expect(200);
    }

    fn a_batch_writes_so_as_well(server) {
        let company = server.company();
        let shop = |number: u32| json!({"operations": [
            {"id": "who", "operation": "partiesUpsert", "path": {"id": "shop-7"}, "body": {"name": "Elbe", "isCustomer": true}},
            {"operation": "salesInvoicesUpsert", "path": {"id": format!("order-{number}")}, "body": {
                "date": "2026-11-20", "partyId": {"$ref": "who.id"}, "lines": [{"quantity": 1, "unitPrice": "10.00"}]
            }}
        ]});
        let statuses = |number: u32| {
            let said = company.say(Dialect::B, company.request_at(Dialect::B, "POST", "batch").json(&shop(number))).expect(200).data;
            said["results"].as_array().unwrap().iter().map(|one| one["status"].as_u64().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!([statuses(1), statuses(1), statuses(2)], [[201, 201], [200, 200], [200, 201]]);
        assert_eq!(company.failed_checks(), Vec::<String>::new());
    }
}
