//! Several writes in one request: all of them or none, or each for itself.

use crate::harness::server::{DIALECTS, Said};
use crate::harness::shop::{Shop, id};
use crate::harness::{Company, Dialect, on_both_engines};
use ledger_core::resource::operation::{BodyNeed, Method, Verb};
use ledger_core::resource::registry::registry;
use serde_json::{Value, json};

fn send(company: &Company<'_>, dialect: Dialect, query: &str, body: &Value) -> Said {
    company.say(dialect, company.request_at(dialect, "POST", &format!("batch{query}")).json(body))
}

/// What an operation of a batch came to, out of its dialect's wrapping: its status, its code, and the record or the fields.
fn result(dialect: Dialect, said: &Said, place: usize) -> (u64, Value, Value) {
    let one = &said.data["results"][place];
    let (status, body) = (one["status"].as_u64().unwrap(), &one["body"]);
    let is_done = status < 400;
    let inner = match (dialect, is_done) {
        (Dialect::A, true) => {
            assert_eq!((&body["success"], &body["errors"]), (&json!(true), &Value::Null), "{body}");
            &body["data"]
        }
        (Dialect::A, false) => {
            assert_eq!((&body["success"], &body["data"]), (&json!(false), &Value::Null), "{body}");
            &body["errors"]
        }
        (Dialect::B, true) => body,
        (Dialect::B, false) => {
            assert_eq!(body["status"], status, "{body}");
            &body["errors"]
        }
    };
    (status, one["code"].clone(), inner.clone())
}

fn count(company: &Company<'_>, resource: &str, query: &str) -> u64 {
    let listed = company.ask(Dialect::B, "GET", resource, query, None).expect(200).data;
    listed["pagination"]["totalCount"].as_u64().unwrap()
}

/// A customer, an invoice of 119.00 to them, and a receipt that pays so much of it.
fn sale(company: &Company<'_>, paid: &str) -> Value {
    json!({"operations": [
        {"id": "who", "operation": "partiesCreate", "body": {"name": "Nordwind", "isCustomer": true}},
        {"id": "bill", "operation": "salesInvoicesCreate", "body": {
            "date": "2026-11-20", "partyId": {"$ref": "who.id"}, "lines": [{"quantity": 1, "unitPrice": "119.00"}]
        }},
        {"id": "money", "operation": "receiptsCreate", "body": {
            "date": "2026-11-20", "partyId": {"$ref": "who.id"}, "accountId": company.account("1010"), "amount": "200.00",
            "allocations": [{"targetId": {"$ref": "bill.id"}, "amount": paid}]
        }}
    ]})
}

on_both_engines! {
    fn all_of_it_or_none(server) {
        for dialect in DIALECTS {
            let company = server.company();
            let counts = || ["parties", "salesInvoices", "receipts", "auditLog", "entries"].map(|resource| count(&company, resource, ""));
            let before = counts();
            let over = send(&company, dialect, "", &sale(&company, "119.01")).expect(409);
            assert_eq!(over.code.as_deref(), Some("over_allocated"));
            assert_eq!(over.fields(), ["operations[2].body.allocations[0].amount"]);
            assert_eq!(counts(), before, "nothing of it is kept, not even that it was tried");

            let done = send(&company, dialect, "", &sale(&company, "119.00")).expect(200);
            let records: Vec<Value> = (0..3).map(|place| {
                let (status, code, record) = result(dialect, &done, place);
                assert_eq!((status, code), (201, Value::Null), "{record}");
                record
            }).collect();
            let names: Vec<&Value> = done.data["results"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
            assert_eq!(names, ["who", "bill", "money"]);
            assert_eq!(records[1]["partyId"], records[0]["id"]);
            let bill = company.ask(dialect, "GET", "salesInvoices", &format!("/{}", id(&records[1])), None).expect(200).data;
            assert_eq!((bill["status"].as_str(), bill["balanceDue"].to_string().as_str()), (Some("paid"), "0.00"));
            // No number was used by the one that failed: it is the first of its series.
            let alone = company.example("salesInvoices");
            let next = company.ask(dialect, "POST", "salesInvoices", "", Some(&alone)).expect(201).data;
            let number = |record: &Value| record["number"].as_str().unwrap().rsplit('-').next().unwrap().parse::<u32>().unwrap();
            assert_eq!((number(&bill), number(&next)), (1, 2));
            assert_eq!(company.failed_checks(), Vec::<String>::new());
        }
    }

    fn each_for_itself(server) {
        for dialect in DIALECTS {
            let company = server.company();
            let mut batch = sale(&company, "119.01");
            batch["atomic"] = json!(false);
            let more = [
                json!({"operation": "partiesUpdate", "path": {"id": {"$ref": "who.id"}}, "body": {"name": "Südwind", "isCustomer": true}}),
                json!({"operation": "receiptsDelete", "path": {"id": {"$ref": "money.id"}}}),
                json!({"id": "again", "operation": "partiesCreate", "body": {"name": "Ostwind", "code": "E"}}),
                json!({"operation": "partiesCreate", "body": {"name": "Ostwind", "code": "E", "isCustomer": true}}),
                json!({"operation": "partiesCreate", "body": {"name": "Westwind", "code": "E", "isCustomer": true}}),
                json!({"operation": "journalsCreate", "body": company.journal_body("2026-11-21", &[("6200", "5.00"), ("1010", "-5.00")])}),
            ];
            batch["operations"].as_array_mut().unwrap().extend(more);
            let said = send(&company, dialect, "", &batch).expect(200);
            let all: Vec<(u64, Value, Value)> = (0..9).map(|place| result(dialect, &said, place)).collect();
            let told: Vec<(u64, &str)> = all.iter().map(|(status, code, _)| (*status, code.as_str().unwrap_or(""))).collect();
            assert_eq!(told, [
                (201, ""), (201, ""), (409, "over_allocated"), (200, ""), (400, "unknown_reference"),
                (400, "validation_failed"), (201, ""), (409, "duplicate"), (201, ""),
            ]);
            assert_eq!(all[2].2.as_object().unwrap().keys().collect::<Vec<_>>(), ["allocations[0].amount"], "as by itself");
            assert_eq!(all[4].2["path.id"][0], "money failed, so there is nothing to refer to");
            assert_eq!((&all[3].2["name"], &all[3].2["version"]), (&json!("Südwind"), &json!(2)));
            assert_eq!(count(&company, "receipts", ""), 0);
            assert_eq!(count(&company, "parties", ""), 2);
            // What failed between them left no hole, neither in the log nor in the ledger.
            let entries = company.ask(dialect, "GET", "entries", "", None).expect(200).data;
            let mut numbers: Vec<i64> = entries["items"].as_array().unwrap().iter().map(|one| one["entryNumber"].as_i64().unwrap()).collect();
            numbers.sort_unstable();
            assert_eq!(numbers, [1, 2]);
            assert_eq!(company.failed_checks(), Vec::<String>::new());
        }
    }

    fn one_key_covers_all_of_it_in_either_dialect(server) {
        let company = server.company();
        let batch = sale(&company, "19.00");
        let keyed = |dialect: Dialect, batch: &Value| {
            let request = company.request_at(dialect, "POST", "batch").header("Idempotency-Key", "a sale").json(batch);
            company.say(dialect, request)
        };
        let first = keyed(Dialect::A, &batch).expect(200);
        for dialect in DIALECTS {
            let again = keyed(dialect, &batch).expect(200);
            assert_eq!(again.answer.header("idempotency-replayed"), Some("true"));
            for place in 0..3 {
                assert_eq!(result(dialect, &again, place), result(Dialect::A, &first, place));
            }
        }
        assert_eq!(keyed(Dialect::B, &sale(&company, "20.00")).expect(422).code.as_deref(), Some("idempotency_mismatch"));
        assert_eq!((count(&company, "parties", ""), count(&company, "receipts", "")), (1, 1));
        // One that failed is not kept: it may be sent again, once it fits.
        let failing = |paid: &str| {
            let request = company.request_at(Dialect::B, "POST", "batch").header("Idempotency-Key", "another");
            company.say(Dialect::B, request.json(&sale(&company, paid)))
        };
        failing("500.00").expect(409);
        failing("1.00").expect(200);
        assert_eq!(company.failed_checks(), Vec::<String>::new());
    }

    fn a_rehearsal_of_it_leaves_nothing(server) {
        for dialect in DIALECTS {
            let company = server.company();
            let said = send(&company, dialect, "?dryRun=true", &sale(&company, "119.00")).expect(200);
            assert_eq!(said.answer.header("x-dry-run"), Some("true"));
            let posted = |place: usize| {
                let (_, _, record) = result(dialect, &said, place);
                record["postings"].as_array().unwrap().iter().map(|line| line["accountCode"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
            };
            // Each shows what it alone would post.
            assert_eq!((posted(0), posted(1).len(), posted(2).len()), (vec![], 2, 2));
            assert!(posted(2).contains(&"1010".to_owned()) && !posted(1).contains(&"1010".to_owned()));
            assert_eq!(["parties", "salesInvoices", "receipts", "entries"].map(|resource| count(&company, resource, "")), [0; 4]);
            let mut each = sale(&company, "119.01");
            each["atomic"] = json!(false);
            let said = send(&company, dialect, "?dryRun=true", &each).expect(200);
            let statuses: Vec<u64> = (0..3).map(|place| result(dialect, &said, place).0).collect();
            assert_eq!(statuses, [201, 201, 409]);
            assert_eq!(result(dialect, &said, 1).2["postings"].as_array().unwrap().len(), 2);
            assert_eq!(count(&company, "parties", ""), 0);
            assert_eq!(company.failed_checks(), Vec::<String>::new());
        }
    }

    fn it_tells_what_is_wrong_and_where(server) {
        let company = server.company();
        let party = |body: Value| json!({"operation": "partiesCreate", "body": body});
        let good = || party(json!({"name": "Fine", "isCustomer": true}));
        for dialect in DIALECTS {
            let said = |operations: Value, status: u16, code: &str| {
                let said = send(&company, dialect, "", &json!({"operations": operations})).expect(status);
                assert_eq!(said.code.as_deref(), Some(code), "{}", said.answer.text);
                said.fields()
            };
            // All faults of all bodies at once.
            assert_eq!(
                said(json!([good(), party(json!({"colour": 1, "isCustomer": true})), party(json!({"name": 7, "isCustomer": true}))]), 400, "validation_failed"),
                ["operations[1].body.colour", "operations[1].body.name", "operations[2].body.name"]
            );
            assert_eq!(
                said(json!([good(), party(json!({"name": {"$ref": "x.id"}}))]), 400, "unknown_reference"),
                ["operations[1].body.name"]
            );
            let named = json!({"id": "x", "operation": "partiesCreate", "body": {"name": "Fine", "isCustomer": true}});
            assert_eq!(
                said(json!([named, party(json!({"name": {"$ref": "x.colour"}}))]), 400, "unknown_reference"),
                ["operations[1].body.name"]
            );
            let nobody = "019a9f6e-6c00-7a31-8d2f-3b1c5e7f9a02";
            let gone = json!({"operation": "partiesDelete", "path": {"id": nobody}});
            assert_eq!(said(json!([good(), gone]), 404, "not_found"), ["operations[1]"]);
            let stale = json!({"operation": "partiesDelete", "path": {"id": {"$ref": "x.id"}}, "ifMatch": "\"x-1\""});
            assert_eq!(said(json!([named, stale]), 412, "precondition_failed"), ["operations[1]"]);
            assert_eq!(said(json!([good(), {"operation": "partiesList"}]), 400, "validation_failed"), ["operations[1].operation"]);
            let unbalanced = company.journal_body("2026-11-21", &[("6200", "5.00"), ("1010", "-4.00")]);
            let fields = said(json!([good(), {"operation": "journalsCreate", "body": unbalanced}]), 400, "validation_failed");
            assert!(fields.iter().all(|field| field.starts_with("operations[1].body.lines")), "{fields:?}");
            let expecting = company.request_at(dialect, "POST", "batch").header("If-Match", "\"x-1\"");
            let said = company.say(dialect, expecting.json(&json!({"operations": [good()]}))).expect(400);
            assert_eq!(said.fields(), ["If-Match"], "it is of no one record");
            // What stands for much more than it is: a list, a record, a long text.
            let long = json!({"id": "long", "operation": "partiesCreate", "body": {"name": "Long", "isCustomer": true, "notes": "n".repeat(201)}});
            for much in ["long.contacts", "long", "long.notes"] {
                let fields = send(&company, dialect, "", &json!({"operations": [long, party(json!({"name": {"$ref": much}}))]}));
                assert_eq!(fields.expect(400).fields(), ["operations[1].body.name"], "{much}");
            }
            // Everybody waits while it runs: it has so many lines in all.
            let long = json!({"operation": "journalsCreate", "body": {"lines": vec![json!({"debit": 1}); 60]}});
            let said = send(&company, dialect, "", &json!({"operations": vec![long; 100]})).expect(400);
            assert_eq!(said.fields(), ["operations"]);
            assert!(said.answer.text.contains("6000"), "{}", said.answer.text);
            assert_eq!(send(&company, dialect, "?page=1", &json!({"operations": [good()]})).expect(400).fields(), ["page"]);
        }
        assert_eq!(count(&company, "parties", ""), 0);
    }

    fn what_answers_too_much_is_sent_in_several(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let line = json!({"description": "ä".repeat(4_000), "quantity": 1, "unitPrice": "1.00"});
            let long = json!({"status": "draft", "date": "2026-11-02", "partyId": shop.customer, "lines": vec![line; 110]});
            let long = shop.company.ask(dialect, "POST", "salesInvoices", "", Some(&long)).expect(201).data;
            let copies = json!({"operation": "salesInvoicesCopy", "path": {"id": id(&long)}});
            let asked = |atomic: bool| json!({"atomic": atomic, "operations": vec![copies.clone(); 40]});
            let refused = send(&shop.company, dialect, "", &asked(true)).expect(400);
            // Each answers 880 kB and some.
            assert_eq!(refused.fields(), ["operations[19].operation"]);
            assert!(refused.answer.text.contains("16 MiB"), "{}", refused.answer.text);
            assert_eq!(count(&shop.company, "salesInvoices", ""), 1);
            let each = send(&shop.company, dialect, "", &asked(false)).expect(200);
            let statuses: Vec<u64> = (0..40).map(|place| result(dialect, &each, place).0).collect();
            assert_eq!(statuses, [[201; 19].as_slice(), &[400; 21]].concat());
            assert_eq!(count(&shop.company, "salesInvoices", ""), 20);
        }
    }

    fn one_finds_what_those_before_it_left(server) {
        // A batch knows no more than the requests one after the other would.
        let shop = Shop::open(server, Dialect::B);
        let goods = shop.item(json!({"salePrice": "9.00"}));
        let bank = shop.company.account("1010");
        let operations = json!({"operations": [
            {"id": "old", "operation": "partiesCreate", "body": {"name": "Old", "isCustomer": true}},
            {"id": "new", "operation": "partiesCreate", "body": {"name": "New", "isCustomer": true}},
            {"id": "in", "operation": "purchaseInvoicesCreate", "body": {"date": "2026-11-01", "partyId": shop.supplier,
                "lines": [{"itemId": goods, "quantity": 10, "unitPrice": "4.00"}]}},
            {"id": "out", "operation": "salesInvoicesCreate", "body": {"date": "2026-11-02", "partyId": {"$ref": "old.id"},
                "lines": [{"itemId": goods, "quantity": 3, "unitPrice": "9.00"}]}},
            {"operation": "partiesMerge", "path": {"id": {"$ref": "old.id"}}, "body": {"intoPartyId": {"$ref": "new.id"}}},
            {"id": "paid", "operation": "receiptsCreate", "body": {"date": "2026-11-03", "partyId": {"$ref": "old.id"},
                "accountId": bank, "amount": {"$ref": "out.total"},
                "allocations": [{"targetId": {"$ref": "out.id"}, "amount": {"$ref": "out.total"}}]}},
            {"operation": "salesInvoicesVoid", "path": {"id": {"$ref": "in.id"}}}
        ]});
        let failed = send(&shop.company, Dialect::B, "", &operations).expect(404);
        assert_eq!(failed.fields(), ["operations[6]"], "a bill is no sales invoice: {}", failed.answer.text);
        let mut fitting = operations.clone();
        fitting["operations"].as_array_mut().unwrap().pop();
        let done = send(&shop.company, Dialect::B, "", &fitting).expect(200);
        let (_, _, paid) = result(Dialect::B, &done, 5);
        let (_, _, new) = result(Dialect::B, &done, 1);
        assert_eq!(paid["partyId"], new["id"], "the party that it became");
        assert_eq!(shop.stock(&goods), ("7".to_owned(), "28.00".to_owned()));
        assert_eq!(shop.company.balance("1010", ""), "27.00");
        shop.proves();
    }

    fn it_lets_nobody_do_what_they_may_not_do_alone(server) {
        let company = server.company();
        let example = |stem: &str| company.example(stem);
        let mut judged = 0;
        for role in ["sales", "auditor", "accountant"] {
            let member = crate::access::member(&company, role);
            for operations in registry() {
                let stem = operations.key.stem();
                for verb in operations.verbs().filter(|verb| operations.writes(*verb)) {
                    let name = operations.operation_id(verb);
                    let mut operation = json!({"operation": name});
                    if verb == Verb::Create {
                        operation["body"] = example(stem);
                    } else if operations.body_need(verb) == BodyNeed::Required {
                        operation["body"] = operations.example.clone();
                    }
                    let nobody = "019a9f6e-6c00-7a31-8d2f-3b1c5e7f9a02";
                    if operations.names_record(verb) {
                        operation["path"] = json!({"id": nobody});
                    }
                    let batch = json!({"operations": [operation]});
                    let together = send(&member, Dialect::B, "?dryRun=true", &batch);
                    if together.fields() == ["operations[0].operation"] {
                        continue;
                    }
                    let method = match operations.method(verb) {
                        Method::Put => "PUT",
                        Method::Delete => "DELETE",
                        Method::Post | Method::Get => "POST",
                    };
                    let path = format!("{}?dryRun=true", operations.path(verb).replace("{id}", nobody));
                    let request = member.request_for(Dialect::B, method, operations, &path);
                    let request = match batch["operations"][0].get("body") {
                        Some(body) => request.json(body),
                        None => request,
                    };
                    let alone = member.say(Dialect::B, request);
                    let (status, code) = match together.status {
                        200 => (together.data["results"][0]["status"].as_u64().unwrap(), None),
                        failed => (failed.into(), together.code.clone()),
                    };
                    assert_eq!((status, code), (alone.status.into(), alone.code), "{role} {name}: {}", together.answer.text);
                    judged += 1;
                }
            }
        }
        assert!(judged > 300, "{judged}");
    }

    fn it_is_told_as_so_many_changes_of_one_request(server) {
        let company = server.company();
        let said = send(&company, Dialect::A, "", &sale(&company, "119.00")).expect(200);
        let request = said.answer.header("x-request-id").unwrap().to_owned();
        let log = company.ask(Dialect::B, "GET", "auditLog", "?pageSize=500", None).expect(200).data;
        let of_it: Vec<(&str, &str)> = log["items"].as_array().unwrap().iter()
            .filter(|row| row["requestId"] == request.as_str())
            .map(|row| (row["resource"].as_str().unwrap(), row["action"].as_str().unwrap()))
            .collect();
        let made = |resource: &str| of_it.iter().filter(|row| **row == (resource, "created")).count();
        assert_eq!(["parties", "salesInvoices", "receipts"].map(made), [1, 1, 1], "{of_it:?}");
    }

    fn what_comes_after_a_count_comes_after_it(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let company = &shop.company;
            for is_atomic in [true, false] {
                let item = shop.item(json!({}));
                let sold = |pieces: u8| json!({"operation": "salesInvoicesCreate", "body": {
                    "date": "2026-11-20", "partyId": shop.customer, "lines": [{"itemId": item, "quantity": pieces, "unitPrice": "5"}]
                }});
                let counted = |pieces: u8| json!({"operation": "stockAdjustmentsCreate", "body": {
                    "date": "2026-11-20", "reason": "Counted", "lines": [{"itemId": item, "countedQuantity": pieces}]
                }});
                shop.purchase("2026-11-10", json!([{"itemId": item, "quantity": 20, "unitPrice": "2"}]));
                let day = json!({"atomic": is_atomic, "operations": [counted(10), sold(2), counted(7), sold(1), sold(3)]});
                let said = send(company, dialect, "", &day).expect(200);
                for place in 0..5 {
                    let (status, code, record) = result(dialect, &said, place);
                    assert_eq!((status, code), (201, Value::Null), "{record}");
                }
                assert_eq!(shop.stock(&item).0, "3");
                shop.proves();
                // Whatever there was on the day before: both counts stand, and what was sold after each of them.
                shop.purchase("2026-11-19", json!([{"itemId": item, "quantity": 4, "unitPrice": "2"}]));
                assert_eq!(shop.stock(&item).0, "3");
                shop.proves();
            }
        }
    }

    fn each_operation_finds_the_company_as_those_before_it_left_it(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let company = &shop.company;
            let party = |name: &str| id(&company.party(json!({"name": name, "isCustomer": true}))).to_owned();
            for is_atomic in [true, false] {
                let (first, last) = (party("Nordwind"), party("Nordwind GmbH"));
                let sold = json!({"date": "2026-11-20", "partyId": first, "lines": [{"quantity": 1, "unitPrice": "5"}]});
                let sale = || json!({"operation": "salesInvoicesCreate", "body": sold});
                let merge = json!({"operation": "partiesMerge", "path": {"id": first}, "body": {"intoPartyId": last}});
                let body = json!({"atomic": is_atomic, "operations": [sale(), sale(), merge, sale(), sale()]});
                let said = send(company, dialect, "", &body).expect(200);
                let of = |place: usize| result(dialect, &said, place).2["partyId"].clone();
                // The last two are what the same would come to by itself, now that the party is part of another.
                let alone = company.ask(Dialect::B, "POST", "salesInvoices", "", Some(&sold)).expect(201).data["partyId"].clone();
                assert_eq!(alone, json!(last));
                assert_eq!([0, 1, 3, 4].map(of), [json!(first), json!(first), alone.clone(), alone]);
            }
            shop.proves();
        }
    }
}
