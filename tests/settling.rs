//! Settling: what may settle what, never more than is open, and what follows when something changes.

use crate::harness::server::DIALECTS;
use crate::harness::shop::{Shop, cents, id};
use crate::harness::{Dialect, on_both_engines};
use serde_json::{Value, json};

fn text(value: &Value) -> String {
    value.to_string()
}

on_both_engines! {
    fn of_fifty_at_once_one_settles_an_invoice(server) {
        let shop = Shop::open(server, Dialect::B);
        let invoice = shop.sale("2026-03-10", json!([{"unitPrice": 100}]));
        let receipts: Vec<Value> = (0..50).map(|_| shop.make("receipts", &shop.receipt("2026-03-11", "100"))).collect();
        let body = json!({"targetId": id(&invoice), "amount": 100});
        let answers: Vec<(u16, Option<String>)> = std::thread::scope(|scope| {
            let (company, body) = (&shop.company, &body);
            let settle = |(index, receipt): (usize, &Value)| {
                let path = format!("/{}/allocations", id(receipt));
                scope.spawn(move || {
                    let said = company.ask(DIALECTS[index % 2], "POST", "receipts", &path, Some(body));
                    (said.status, said.code)
                })
            };
            let running: Vec<_> = receipts.iter().enumerate().map(settle).collect();
            running.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert_eq!(answers.iter().filter(|(status, _)| *status == 201).count(), 1);
        let refused = answers.iter().filter(|(status, code)| *status == 409 && code.as_deref() == Some("over_allocated"));
        assert_eq!(refused.count(), 49);
        let after = shop.get("salesInvoices", &invoice);
        assert_eq!((text(&after["balanceDue"]), &after["status"]), ("0.00".into(), &json!("paid")));
        shop.proves();
    }

    fn not_more_is_settled_than_is_open_on_either_side(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let invoice = shop.sale("2026-03-10", json!([{"unitPrice": 100}]));
            let other = shop.sale("2026-03-10", json!([{"unitPrice": 500}]));
            let receipt = shop.make("receipts", &shop.receipt("2026-03-11", "120"));
            let allocate = |body: Value| shop.act("POST", "receipts", &receipt, "allocations", Some(&body));
            for (body, status, fields) in [
                (json!({"targetId": id(&invoice), "amount": 101}), 409, vec!["amount"]),
                (json!({"targetId": id(&invoice), "amount": 100, "discountAmount": "0.01"}), 409, vec!["amount"]),
                (json!({"targetId": id(&other), "amount": "120.01"}), 409, vec!["amount"]),
                (json!({"targetId": id(&invoice), "amount": 0}), 400, vec!["amount"]),
                (json!({"targetId": id(&invoice), "amount": "0.001"}), 400, vec!["amount"]),
                (json!({"targetId": id(&invoice), "amount": -5}), 400, vec!["amount"]),
                (json!({"targetId": id(&receipt), "amount": 5}), 400, vec!["targetId"]),
                (json!({"targetId": "nobody", "amount": 5}), 400, vec!["targetId"]),
                (json!({"targetId": id(&invoice), "targetType": "creditNote", "amount": 5}), 400, vec!["targetType"]),
                (json!({"targetId": id(&invoice), "amount": 5, "date": "2026-03-10"}), 400, vec!["date"]),
                (json!({}), 400, vec!["amount", "targetId"]),
            ] {
                let said = allocate(body.clone()).expect(status);
                assert_eq!(said.fields(), fields, "{body}");
                if status == 409 {
                    assert_eq!(said.code.as_deref(), Some("over_allocated"));
                }
            }
            let elsewhere = shop.company.party(json!({"name": "Another"}));
            let theirs = shop.make("salesInvoices", &json!({"date": "2026-03-10", "partyId": id(&elsewhere), "lines": [{"unitPrice": 5}]}));
            assert_eq!(allocate(json!({"targetId": id(&theirs), "amount": 5})).expect(400).fields(), ["targetId"]);
            allocate(json!({"targetId": id(&invoice), "amount": 100})).expect(201);
            allocate(json!({"targetId": id(&other), "amount": 20})).expect(201);
            assert_eq!(allocate(json!({"targetId": id(&other), "amount": "0.01"})).expect(409).code.as_deref(), Some("over_allocated"));
            shop.proves();
        }
    }

    fn an_allocation_in_the_body_fails_as_a_whole(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let invoice = shop.sale("2026-03-10", json!([{"unitPrice": 100}]));
            let mut body = shop.receipt("2026-03-11", "200");
            body["allocations"] = json!([{"targetId": id(&invoice), "amount": 60}, {"targetId": id(&invoice), "amount": 60}]);
            let refused = shop.ask("POST", "receipts", "", Some(&body)).expect(409);
            assert_eq!(refused.fields(), ["allocations[1].amount"]);
            assert_eq!(text(&shop.get("salesInvoices", &invoice)["balanceDue"]), "100.00");
            let listed = shop.ask("GET", "receipts", "", None).expect(200).data;
            assert_eq!(listed["pagination"]["totalCount"], 0, "no number was taken");
            body["allocations"][1]["amount"] = 40.into();
            let rehearsed = shop.ask("POST", "receipts", "?dryRun=true", Some(&body)).expect(201).data;
            assert_eq!(text(&rehearsed["unallocatedAmount"]), "100.00");
            let shown = |line: &Value| format!("{} {} {} {}", line["entry"], line["accountCode"].as_str().unwrap(), line["debit"], line["credit"]);
            let posted: Vec<String> = rehearsed["postings"].as_array().unwrap().iter().map(shown).collect();
            assert_eq!(posted, ["1 1200 0.00 200.00", "1 1010 200.00 0.00"]);
            assert_eq!(text(&shop.get("salesInvoices", &invoice)["balanceDue"]), "100.00");
            assert_eq!(shop.make("receipts", &body)["number"], "RC-2026-0001");
            shop.proves();
        }
    }

    fn a_draft_settles_when_it_is_posted(server) {
        let shop = Shop::open(server, Dialect::A);
        let invoice = shop.sale("2026-03-10", json!([{"unitPrice": 100}]));
        let mut body = shop.receipt("2026-03-11", "100");
        body["status"] = "draft".into();
        body["allocations"] = json!([{"targetId": id(&invoice), "amount": 100}]);
        let draft = shop.make("receipts", &body);
        assert_eq!((&draft["status"], &draft["number"], &draft["entryIds"]), (&json!("draft"), &Value::Null, &json!([])));
        assert_eq!(text(&shop.get("salesInvoices", &invoice)["balanceDue"]), "100.00");
        // What was read can be sent back, with what it is going to settle.
        let back = shop.ask("PUT", "receipts", &format!("/{}", id(&draft)), Some(&draft)).expect(200).data;
        assert_eq!(back, draft);
        let posted = shop.act("POST", "receipts", &draft, "post", None).expect(200).data;
        assert_eq!((&posted["allocationStatus"], &posted["number"]), (&json!("allocated"), &json!("RC-2026-0001")));
        assert_eq!(shop.get("salesInvoices", &invoice)["status"], "paid");
        shop.proves();
    }

    fn money_that_comes_with_the_invoice_pays_it(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let body = json!({
                "date": "2026-03-10", "partyId": shop.customer, "lines": [{"unitPrice": 80}],
                "cashReceipt": {"accountId": shop.company.account("1000"), "amount": 50}
            });
            let invoice = shop.make("salesInvoices", &body);
            assert_eq!((text(&invoice["amountPaid"]), &invoice["status"]), ("50.00".into(), &json!("partiallyPaid")));
            assert_eq!(shop.company.balance("1000", ""), "50.00");
            let mut wrong = body.clone();
            wrong["cashReceipt"]["amount"] = 81.into();
            let refused = shop.ask("POST", "salesInvoices", "", Some(&wrong)).expect(409);
            assert_eq!(refused.code.as_deref(), Some("over_allocated"));
            wrong["cashReceipt"] = json!({"accountId": shop.company.account("4000")});
            assert_eq!(shop.ask("POST", "salesInvoices", "", Some(&wrong)).expect(400).fields(), ["cashReceipt.accountId"]);
            assert_eq!(shop.ask("GET", "salesInvoices", "", None).expect(200).data["pagination"]["totalCount"], 1);
            shop.proves();
        }
    }

    fn a_credit_is_paid_back(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let note = shop.make("creditNotes", &json!({
                "date": "2026-03-10", "partyId": shop.customer, "kind": "priceAdjustment", "lines": [{"description": "Sorry", "unitPrice": 54}]
            }));
            let mut body = shop.receipt("2026-03-11", "54");
            body["allocations"] = json!([{"targetId": id(&note), "targetType": "creditNote", "amount": 54}]);
            let payment = shop.make("payments", &body);
            assert_eq!(shop.posted(&payment), ["1010 -54.00", "1200 54.00"]);
            let after = shop.get("creditNotes", &note);
            assert_eq!((text(&after["amountRefunded"]), &after["status"]), ("54.00".into(), &json!("closed")));
            // An advance, paid back in part.
            let advance = shop.make("receipts", &shop.receipt("2026-03-12", "100"));
            body["amount"] = 40.into();
            body["allocations"] = json!([{"targetId": id(&advance), "amount": 40}]);
            shop.make("payments", &body);
            assert_eq!(text(&shop.get("receipts", &advance)["unallocatedAmount"]), "60.00");
            let refused = shop.ask("DELETE", "receipts", &format!("/{}", id(&advance)), None).expect(409);
            assert_eq!(refused.code.as_deref(), Some("has_allocations"));
            shop.proves();
        }
    }

    fn a_journal_on_a_control_account_is_settled_like_an_invoice(server) {
        let shop = Shop::open(server, Dialect::B);
        let mut body = shop.company.journal_body("2026-03-10", &[("1200", "70"), ("4700", "-70")]);
        body["lines"][0]["partyId"] = shop.customer.clone().into();
        let journal = shop.company.post_journal(&body).expect(201).data;
        let receipt = shop.make("receipts", &shop.receipt("2026-03-11", "70"));
        let line = journal["lines"][0]["id"].clone();
        let body = json!({"sourceId": id(&receipt), "targetId": line, "targetType": "journalLine", "amount": 70});
        let allocation = shop.make("allocations", &body);
        assert_eq!(shop.ask("DELETE", "journals", &format!("/{}", id(&journal)), None).expect(409).code.as_deref(), Some("has_allocations"));
        let mut changed = journal.clone();
        changed["lines"][0]["debit"] = 60.into();
        changed["lines"][1]["credit"] = 60.into();
        let refused = shop.ask("PUT", "journals", &format!("/{}", id(&journal)), Some(&changed)).expect(409);
        assert_eq!(refused.code.as_deref(), Some("has_allocations"));
        shop.proves();
        shop.ask("DELETE", "allocations", &format!("/{}", id(&allocation)), None).expect(200);
        shop.ask("DELETE", "journals", &format!("/{}", id(&journal)), None).expect(200);
        shop.proves();
    }

    fn what_is_settled_may_change_as_far_as_it_fits(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let invoice = shop.sale("2026-03-10", json!([{"unitPrice": 100}]));
            let mut body = shop.receipt("2026-03-11", "60");
            body["allocations"] = json!([{"targetId": id(&invoice), "amount": 60}]);
            let receipt = shop.make("receipts", &body);
            let read = shop.get("salesInvoices", &invoice);
            assert_eq!(read["version"], 2, "an allocation is a change of what is open");
            let path = format!("/{}", id(&invoice));
            let put = |change: &dyn Fn(&mut Value)| {
                let mut body = shop.get("salesInvoices", &invoice);
                change(&mut body);
                shop.ask("PUT", "salesInvoices", &path, Some(&body))
            };
            assert_eq!(put(&|_| {}).expect(200).data, read);
            let worded = put(&|body| body["notes"] = "Thanks".into()).expect(200).data;
            assert_eq!((&worded["entryIds"], &worded["notes"]), (&read["entryIds"], &json!("Thanks")));
            let dearer = put(&|body| body["lines"][0]["unitPrice"] = 110.into()).expect(200).data;
            assert_eq!((text(&dearer["balanceDue"]), &dearer["status"]), ("50.00".into(), &json!("partiallyPaid")));
            let exact = put(&|body| body["lines"][0]["unitPrice"] = 60.into()).expect(200).data;
            assert_eq!((text(&exact["balanceDue"]), &exact["status"]), ("0.00".into(), &json!("paid")));
            for change in [
                &(|body: &mut Value| body["lines"][0]["unitPrice"] = 59.into()) as &dyn Fn(&mut Value),
                &|body: &mut Value| (body["currency"], body["exchangeRate"]) = ("USD".into(), 1.into()),
            ] {
                assert_eq!(put(change).expect(409).code.as_deref(), Some("has_allocations"));
            }
            let other = shop.company.party(json!({"name": "Another"}));
            let moved = put(&|body| body["partyId"] = other["id"].clone()).expect(409);
            assert_eq!(moved.code.as_deref(), Some("has_allocations"));
            // The receipt grows, and shrinks no further than what it settles.
            let mut more = shop.get("receipts", &receipt);
            more["amount"] = 75.into();
            let path = format!("/{}", id(&receipt));
            let after = shop.ask("PUT", "receipts", &path, Some(&more)).expect(200).data;
            assert_eq!(text(&after["unallocatedAmount"]), "15.00");
            more["amount"] = 59.into();
            shop.ask("PUT", "receipts", &path, Some(&more)).expect(409);
            shop.proves();
        }
    }

    fn closed_periods_hold_for_all_that_is_derived(server) {
        let shop = Shop::open(server, Dialect::B);
        let invoice = shop.sale("2026-01-10", json!([{"unitPrice": 100}]));
        let receipt = shop.make("receipts", &shop.receipt("2026-01-15", "100"));
        let open = shop.sale("2026-02-10", json!([{"unitPrice": 100}]));
        shop.make("locks", &json!({"lockDate": "2026-01-31", "reason": "Filed"}));
        let locked = |said: crate::harness::server::Said| assert_eq!(said.expect(409).code.as_deref(), Some("period_locked"));
        let path = |record: &Value| format!("/{}", id(record));
        locked(shop.ask("POST", "salesInvoices", "", Some(&json!({"date": "2026-01-20", "partyId": shop.customer, "lines": [{"unitPrice": 1}]}))));
        let mut into = open.clone();
        into["date"] = "2026-01-20".into();
        locked(shop.ask("PUT", "salesInvoices", &path(&open), Some(&into)));
        let mut out = invoice.clone();
        (out["date"], out["dueDate"]) = ("2026-02-20".into(), Value::Null);
        locked(shop.ask("PUT", "salesInvoices", &path(&invoice), Some(&out)));
        locked(shop.act("POST", "receipts", &receipt, "allocations", Some(&json!({"targetId": id(&invoice), "amount": 10, "date": "2026-01-20"}))));
        locked(shop.ask("POST", "revaluations", "", Some(&json!({"date": "2026-01-31", "rates": []}))));
        // Words may change, and an allocation that names no day counts for the first open one.
        let mut worded = invoice.clone();
        (worded["notes"], worded["dueDate"]) = ("Reminded".into(), "2026-03-01".into());
        let worded = shop.ask("PUT", "salesInvoices", &path(&invoice), Some(&worded)).expect(200).data;
        assert_eq!((&worded["dueDate"], &worded["entryIds"]), (&json!("2026-03-01"), &invoice["entryIds"]));
        assert_eq!(shop.ask("GET", "salesInvoices", "?dueFrom=2026-03-01&dueTo=2026-03-01", None).expect(200).data["pagination"]["totalCount"], 1);
        let after = shop.act("POST", "receipts", &receipt, "allocations", Some(&json!({"targetId": id(&invoice), "amount": 10}))).expect(201).data;
        assert_eq!(after["allocations"][0]["date"], "2026-02-01");
        // A void of what lies behind the lock counts for the first open day.
        shop.ask("DELETE", "receipts", &path(&receipt), None).expect(200);
        assert_eq!(shop.get("receipts", &receipt)["voidDate"], "2026-02-01");
        shop.proves();
    }

    fn invoices_are_found_by_how_they_stand(server) {
        let shop = Shop::open(server, Dialect::A);
        let due = |date: &str, due: &str, price: i64| shop.make("salesInvoices", &json!({
            "date": date, "dueDate": due, "partyId": shop.customer, "lines": [{"unitPrice": price}]
        }));
        let (late, early) = (due("2020-01-10", "2020-02-10", 10), due("2026-03-10", "2999-02-10", 20));
        let half = due("2026-03-11", "2999-03-10", 30);
        let mut body = shop.receipt("2026-03-12", "15");
        body["allocations"] = json!([{"targetId": id(&half), "amount": 15}]);
        shop.make("receipts", &body);
        let gone = due("2026-03-12", "2999-03-12", 40);
        shop.ask("DELETE", "salesInvoices", &format!("/{}", id(&gone)), None).expect(200);
        let draft = json!({"date": "2026-03-13", "partyId": shop.customer, "status": "draft", "lines": [{"unitPrice": 50}]});
        shop.make("salesInvoices", &draft);
        let found = |query: &str| {
            let data = shop.ask("GET", "salesInvoices", query, None).expect(200).data;
            let totals: Vec<i64> = data["items"].as_array().unwrap().iter().map(|one| cents(&one["total"]) / 100).collect();
            totals
        };
        for (query, totals) in [
            ("", vec![10, 20, 30, 40, 50]),
            ("?status=open", vec![10, 20]),
            ("?status=partiallyPaid,draft", vec![30, 50]),
            ("?status=void", vec![40]),
            ("?status=paid", vec![]),
            ("?status=overdue", vec![10]),
            ("?isOverdue=true", vec![10]),
            ("?isOverdue=false", vec![20, 30, 40, 50]),
            ("?dueFrom=2999-03-01&dueTo=2999-03-11", vec![30]),
            ("?sort=-total&pageSize=2", vec![50, 40]),
            ("?minTotal=20&maxTotal=30", vec![20, 30]),
        ] {
            assert_eq!(found(query), totals, "{query}");
        }
        assert_eq!(found(&format!("?partyId={}", shop.customer)).len(), 5);
        assert_eq!(found(&format!("?partyId={}", shop.supplier)).len(), 0);
        assert_eq!(shop.ask("GET", "salesInvoices", "?status=late", None).expect(400).fields(), ["status"]);
        assert_eq!((&late["isOverdue"], &early["isOverdue"], &late["status"]), (&json!(true), &json!(false), &json!("open")));
    }

    fn bad_input_is_named_field_by_field(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let account = shop.company.account("1200");
            let unknown = "019a9f6e-6c00-7e75-8f21-6b8d0c2e4a05";
            for (body, fields) in [
                (json!({}), vec!["date", "lines", "partyId"]),
                (json!({"partyId": shop.customer, "lines": []}), vec!["date", "lines"]),
                (json!({"date": "2026-03-10", "partyId": "nobody", "lines": [{"unitPrice": 1}]}), vec!["partyId"]),
                (json!({"date": "2026-03-10", "partyId": shop.supplier, "lines": [{"unitPrice": 1}]}), vec!["partyId"]),
                (json!({"date": "2026-03-10", "partyId": shop.customer, "lines": [{"unitPrice": "1.2345678"}]}), vec!["lines[0].unitPrice"]),
                (json!({"date": "2026-03-10", "partyId": shop.customer, "lines": [{"unitPrice": 1, "quantity": 0}, {"unitPrice": -1}]}), vec!["lines[0].quantity"]),
                (json!({"date": "2026-03-10", "partyId": shop.customer, "lines": [{"unitPrice": -1}]}), vec!["lines"]),
                (json!({"date": "2026-03-10", "partyId": shop.customer, "lines": [{"description": "Only words"}]}), vec!["lines"]),
                (json!({"date": "2026-03-10", "partyId": shop.customer, "lines": [{"unitPrice": 1, "discountAmount": 2}]}), vec!["lines[0].discountAmount"]),
                (json!({"date": "2026-03-10", "partyId": shop.customer, "discountAmount": 2, "discountPercent": 3, "lines": [{"unitPrice": 1}]}), vec!["discountAmount"]),
                (json!({"date": "2026-03-10", "partyId": shop.customer, "lines": [{"unitPrice": 1, "accountId": account, "taxCodeId": unknown, "itemId": unknown}]}), vec!["lines[0].accountId", "lines[0].itemId", "lines[0].taxCodeId"]),
                (json!({"date": "2026-03-10", "partyId": shop.customer, "currency": "USD", "lines": [{"unitPrice": 1}]}), vec!["exchangeRate"]),
                (json!({"date": "2026-03-10", "partyId": shop.customer, "exchangeRate": 2, "lines": [{"unitPrice": 1}]}), vec!["exchangeRate"]),
                (json!({"date": "2026-03-10", "dueDate": "2026-03-09", "partyId": shop.customer, "lines": [{"unitPrice": 1}]}), vec!["dueDate"]),
                (json!({"date": "2026-03-10", "partyId": shop.customer, "lines": [{"unitPrice": 1, "sourceLineId": "z"}]}), vec!["lines[0].sourceLineId"]),
                (json!({"date": "2026-03-10", "partyId": shop.customer, "lines": [{"unitPrice": 1, "netAmount": 5, "colour": 1}]}), vec!["lines[0].colour"]),
            ] {
                let said = shop.ask("POST", "salesInvoices", "", Some(&body)).expect(400);
                assert_eq!(said.fields(), fields, "{body}");
                assert_eq!(said.title, "Validation failed");
            }
            let receipt = shop.receipt("2026-03-10", "10");
            for (change, fields) in [
                (json!({"amount": 0}), vec!["amount"]),
                (json!({"accountId": shop.company.account("4000")}), vec!["accountId"]),
                (json!({"feeAmount": 11}), vec!["feeAmount"]),
                (json!({"partyId": null}), vec!["partyId"]),
                (json!({"lines": [{"accountId": shop.company.account("4700"), "amount": 11}]}), vec!["lines"]),
                (json!({"lines": [{"accountId": shop.company.account("1200"), "amount": 1}]}), vec!["lines[0].accountId"]),
                (json!({"controlAccountId": shop.company.account("4000")}), vec!["controlAccountId"]),
            ] {
                let mut body = receipt.clone();
                body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
                assert_eq!(shop.ask("POST", "receipts", "", Some(&body)).expect(400).fields(), fields, "{change}");
            }
        }
    }

    fn money_is_earned_and_spent_without_an_invoice(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let vat = shop.vat("20");
            let mut body = shop.receipt("2026-03-10", "120");
            body["partyId"] = Value::Null;
            body["lines"] = json!([{"accountId": shop.company.account("4700"), "amount": 120, "taxCodeId": vat, "description": "At the fair"}]);
            let receipt = shop.make("receipts", &body);
            assert_eq!(shop.posted(&receipt), ["1010 120.00", "2200 -20.00", "4700 -100.00"]);
            body["lines"][0]["accountId"] = shop.company.account("6400").into();
            body["feeAmount"] = 2.into();
            let payment = shop.make("payments", &body);
            assert_eq!(shop.posted(&payment), ["1010 -122.00", "1400 20.00", "6400 100.00", "6800 2.00"]);
            let back = shop.ask("PUT", "payments", &format!("/{}", id(&payment)), Some(&payment)).expect(200).data;
            assert_eq!(back, payment);
            shop.proves();
        }
    }

    fn a_copy_is_a_draft_without_a_past(server) {
        let shop = Shop::open(server, Dialect::B);
        let vat = shop.vat("20");
        let invoice = shop.sale("2026-03-10", json!([{"unitPrice": 100, "taxCodeId": vat}, {"description": "Only words"}]));
        let copy = shop.act("POST", "salesInvoices", &invoice, "copy", None).expect(201).data;
        assert_eq!((&copy["status"], &copy["number"], text(&copy["total"])), (&json!("draft"), &Value::Null, "120.00".into()));
        assert_ne!(copy["lines"][0]["id"], invoice["lines"][0]["id"]);
        let posted = shop.act("POST", "salesInvoices", &copy, "post", None).expect(200).data;
        assert_eq!((&posted["status"], &posted["number"]), (&json!("open"), &json!("INV-2026-0002")));
        shop.ask("DELETE", "salesInvoices", &format!("/{}", id(&posted)), None).expect(200);
        assert_eq!(shop.posted(&posted), Vec::<String>::new());
        shop.proves();
    }

    fn a_party_shows_what_is_open_overdue_and_unallocated(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let due = |date: &str, due: &str, price: i64| shop.make("salesInvoices", &json!({
                "date": date, "dueDate": due, "partyId": shop.customer, "lines": [{"unitPrice": price}]
            }));
            let late = due("2020-01-10", "2020-02-10", 100);
            due("2026-03-10", "2999-02-10", 20);
            let receipt = shop.make("receipts", &shop.receipt("2026-03-12", "50"));
            shop.act("POST", "receipts", &receipt, "allocations", Some(&json!({"targetId": id(&late), "amount": 40}))).expect(201);
            let party = shop.ask("GET", "parties", &format!("/{}", shop.customer), None).expect(200).data;
            let figures = ["receivableBalance", "overdueAmount", "unallocatedCredit"].map(|name| text(&party[name]));
            assert_eq!(figures, ["70.00", "60.00", "10.00"]);
            let open = shop.ask("GET", "parties", &format!("/{}/open-items", shop.customer), None).expect(200).data;
            let shown: Vec<String> = open["items"].as_array().unwrap().iter().map(|one| format!("{} {}", one["type"], one["openAmount"])).collect();
            assert_eq!(shown, ["\"salesInvoice\" 60.00", "\"salesInvoice\" 20.00", "\"receipt\" -10.00"]);
        }
    }

    fn two_parties_that_are_one_become_one(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let twin = shop.company.party(json!({"name": "Customer again", "isSupplier": true}));
            let invoice = shop.make("salesInvoices", &json!({"date": "2026-03-10", "partyId": id(&twin), "lines": [{"unitPrice": 100}]}));
            let receipt = shop.make("receipts", &shop.receipt("2026-03-11", "60"));
            let settle = json!({"targetId": id(&invoice), "amount": 60});
            assert_eq!(shop.act("POST", "receipts", &receipt, "allocations", Some(&settle)).expect(400).fields(), ["targetId"]);
            assert_eq!(shop.act("POST", "parties", &twin, "merge", Some(&json!({"intoPartyId": id(&twin)}))).expect(400).fields(), ["intoPartyId"]);
            assert_eq!(shop.act("POST", "parties", &twin, "merge", None).expect(400).fields(), ["intoPartyId"]);
            let stays = shop.act("POST", "parties", &twin, "merge", Some(&json!({"intoPartyId": shop.customer}))).expect(200).data;
            assert_eq!((stays["id"].as_str(), text(&stays["receivableBalance"]), &stays["isSupplier"]), (Some(shop.customer.as_str()), "40.00".into(), &json!(true)));
            let gone = shop.get("parties", &twin);
            assert_eq!((&gone["status"], &gone["mergedIntoId"]), (&json!("archived"), &json!(shop.customer)));
            shop.act("POST", "receipts", &receipt, "allocations", Some(&settle)).expect(201);
            let read = shop.get("salesInvoices", &invoice);
            assert_eq!((text(&read["balanceDue"]), &read["partyId"]), ("40.00".into(), &json!(shop.customer)));
            let back = shop.ask("PUT", "salesInvoices", &format!("/{}", id(&invoice)), Some(&read)).expect(200).data;
            assert_eq!(back, read);
            shop.act("POST", "parties", &twin, "merge", Some(&json!({"intoPartyId": shop.customer}))).expect(409);
            shop.proves();
            shop.ask("DELETE", "receipts", &format!("/{}", id(&receipt)), None).expect(200);
            shop.ask("DELETE", "salesInvoices", &format!("/{}", id(&invoice)), None).expect(200);
            let after = shop.ask("GET", "parties", &format!("/{}", shop.customer), None).expect(200).data;
            assert_eq!((text(&after["receivableBalance"]), text(&after["unallocatedCredit"])), ("0.00".into(), "0.00".into()));
            shop.proves();
        }
    }

    fn a_rehearsal_shows_all_that_would_be_posted(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let item = shop.item(json!({"salePrice": 10}));
            shop.purchase("2026-03-01", json!([{"itemId": item, "quantity": 10, "unitPrice": 4}]));
            let invoice = shop.sale("2026-03-10", json!([{"itemId": item, "quantity": 2}]));
            let path = format!("/{}", id(&invoice));
            let posted = |said: crate::harness::server::Said| -> Vec<String> {
                let lines = said.expect(200).data["postings"].as_array().unwrap().clone();
                let shown = |line: &Value| format!("{} {} {}", line["entry"], line["accountCode"].as_str().unwrap(), cents(&line["debit"]) - cents(&line["credit"]));
                lines.iter().map(shown).collect()
            };
            let mut changed = invoice.clone();
            changed["lines"][0]["quantity"] = 3.into();
            let back = ["1 4000 2000", "1 1300 800", "1 5000 -800", "1 1200 -2000"];
            let again = ["2 4000 -3000", "2 1300 -1200", "2 5000 1200", "2 1200 3000"];
            assert_eq!(posted(shop.ask("PUT", "salesInvoices", &format!("{path}?dryRun=true"), Some(&changed))), [back, again].concat());
            assert_eq!(posted(shop.ask("POST", "salesInvoices", &format!("{path}/void?dryRun=true"), None)), back);
            // An earlier purchase at another price: what was sold is corrected, and the rehearsal says so.
            let late = json!({"date": "2026-03-05", "partyId": shop.supplier, "lines": [{"itemId": item, "quantity": 10, "unitPrice": 6}]});
            let said = shop.ask("POST", "purchaseInvoices", "?dryRun=true", Some(&late)).expect(201);
            assert_eq!(said.data["postings"].as_array().unwrap().len(), 4);
            assert_eq!(shop.get("salesInvoices", &invoice), invoice);
            shop.proves();
        }
    }
}
