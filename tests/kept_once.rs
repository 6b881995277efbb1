//! What is kept of a document is written once, in the audit log; and is read from there like any other.

use crate::audit::{log, unguarded};
use crate::harness::books::behind_the_back;
use crate::harness::server::DIALECTS;
use crate::harness::shop::{Shop, id};
use crate::harness::{Company, Dialect, Options, Server, on_both_engines};
use crate::seals::Place;
use serde_json::{Value, json};
use std::collections::BTreeMap;

on_both_engines! {
    fn what_is_kept_of_a_document_is_written_once(server) {
        let own = Server::start(server.engine, Options::default()).unwrap();
        let company = own.company();
        let place = Place::of(&own);
        let business = place.identifier(&company.id);
        // Whether it has a content of its own, and whether its record does.
        let stands = || {
            place.texts(&format!(
                "SELECT CASE WHEN content IS NULL THEN 'apart ' ELSE 'own ' END || COALESCE(CAST(record AS TEXT), 'none') AS text \
                 FROM documents WHERE business_id = {business}"
            )).remove(0)
        };
        let mut body = company.journal_body("2026-03-05", &[("6200", "10"), ("1010", "-10")]);
        body["status"] = "draft".into();
        let draft = company.post_journal(&body).expect(201);
        assert_eq!(stands(), "own none");
        let path = format!("/{}", draft.id());
        company.ask(Dialect::A, "POST", "journals", &format!("{path}/post"), None).expect(200);
        let posted = stands();
        assert!(posted.starts_with("apart ") && posted != "apart none", "{posted}");
        let mut words = company.ask(Dialect::B, "GET", "journals", &path, None).expect(200).data;
        words["narration"] = "Other words".into();
        company.ask(Dialect::B, "PUT", "journals", &path, Some(&words)).expect(200);
        assert_eq!(stands(), posted, "nothing of what is kept changed");
        words["lines"][0]["description"] = "Of a line".into();
        let changed = company.ask(Dialect::A, "PUT", "journals", &path, Some(&words)).expect(200).data;
        let reworded = stands();
        assert!(reworded.starts_with("apart ") && reworded != posted, "{reworded}");
        company.ask(Dialect::A, "POST", "journals", &format!("{path}/void"), None).expect(200);
        assert_eq!(stands(), reworded);
        // Every version is shown whole, the ones that are over as well.
        let said = log(&company, &format!("&resource=journals&resourceId={}", draft.id()));
        let states: Vec<(&Value, &Value)> =
            said.iter().map(|one| (&one["before"]["lines"][0]["description"], &one["after"]["narration"])).collect();
        assert_eq!(said.len(), 5, "{states:?}");
        assert_eq!(said[3]["after"], changed);
        assert_eq!((&said[4]["before"]["lines"], &said[4]["after"]["status"]), (&changed["lines"], &json!("void")));
        let read = company.ask(Dialect::B, "GET", "journals", &path, None).expect(200).data;
        assert_eq!(read["lines"], changed["lines"]);
        assert_eq!(company.failed_checks(), [""; 0]);
        // Where it is gone, that is said.
        behind_the_back(&own, &unguarded(own.engine)).unwrap();
        let record = reworded.strip_prefix("apart ").unwrap();
        place.run(&format!("DELETE FROM audit_log WHERE business_id = {business} AND sequence = {record}"));
        assert!(company.failed_checks().contains(&"V7".to_owned()));
    }
}

/// Every version of a record that the log knows: what was done, the versions, and the record before and after.
fn told(company: &Company<'_>, dialect: Dialect, resource: &str, of: &str) -> Vec<Value> {
    let history = company.ask(dialect, "GET", resource, &format!("/{of}/history"), None).expect(200).data;
    let logged = log(company, &format!("&resource={resource}&resourceId={of}&sort=sequence"));
    let items = history["items"].as_array().unwrap().clone();
    assert_eq!(items, logged);
    items
}

on_both_engines! {
    /// Each version is shown as it was answered, whoever made it, and each change begins where the one before it ended.
    fn every_version_of_a_document_is_shown_whole(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            // What credits a document is linked to it, and makes no version of it by that.
            let own = |mut record: Value| {
                record.as_object_mut().map(|record| record.remove("links"));
                record
            };
            let read = |resource: &str, of: &str| own(shop.ask("GET", resource, &format!("/{of}"), None).expect(200).data);
            let mut seen: BTreeMap<String, Vec<Value>> = BTreeMap::new();
            let mut see = |resource: &str, of: &str| {
                let now = read(resource, of);
                let known = seen.entry(format!("{resource}/{of}")).or_default();
                if known.last() != Some(&now) {
                    known.push(now);
                }
            };
            let line = json!([{"description": "Work", "quantity": 2, "unitPrice": 50}]);
            let body = |words: &str| json!({"date": "2026-03-02", "partyId": shop.customer, "narration": words, "lines": line});
            let order = shop.make("salesOrders", &body("Ordered"));
            let (order, line_of_order) = (id(&order).to_owned(), order["lines"][0]["id"].clone());
            see("salesOrders", &order);
            let mut draft = body("A draft");
            draft["status"] = "draft".into();
            let sale = id(&shop.make("salesInvoices", &draft)).to_owned();
            see("salesInvoices", &sale);
            for words in ["Drafted anew", "Posted"] {
                let mut changed = body(words);
                changed["status"] = if words == "Posted" { "posted" } else { "draft" }.into();
                shop.ask("PUT", "salesInvoices", &format!("/{sale}"), Some(&changed)).expect(200);
                see("salesInvoices", &sale);
            }
            shop.ask("PUT", "salesInvoices", &format!("/{sale}"), Some(&body("Reworded"))).expect(200);
            see("salesInvoices", &sale);
            // Money that settles it as it comes in, and money that does later.
            let mut receipt = shop.receipt("2026-03-03", "70");
            receipt["allocations"] = json!([{"targetId": sale, "amount": 30}]);
            let made = shop.make("receipts", &receipt);
            let receipt = id(&made).to_owned();
            assert_eq!(made["allocations"].as_array().unwrap().len(), 1);
            see("receipts", &receipt);
            see("salesInvoices", &sale);
            let more = json!({"targetId": sale, "amount": 25});
            shop.ask("POST", "receipts", &format!("/{receipt}/allocations"), Some(&more)).expect(201);
            see("receipts", &receipt);
            see("salesInvoices", &sale);
            let allocation = read("receipts", &receipt)["allocations"][1]["id"].clone();
            shop.ask("DELETE", "allocations", &format!("/{}", allocation.as_str().unwrap()), None).expect(200);
            see("receipts", &receipt);
            see("salesInvoices", &sale);
            // A note that credits it is made of it and settles it, at once.
            let piece = json!({"date": "2026-03-04", "lines": [{"lineId": read("salesInvoices", &sale)["lines"][0]["id"], "quantity": 1}]});
            let note = shop.ask("POST", "salesInvoices", &format!("/{sale}/credit-notes"), Some(&piece)).expect(201).data;
            let note = id(&note).to_owned();
            see("creditNotes", &note);
            see("salesInvoices", &sale);
            // What was made of the order, and is taken back.
            let billed = json!({"date": "2026-03-05", "lines": [{"lineId": line_of_order, "quantity": 1}]});
            let bill = id(&shop.ask("POST", "salesOrders", &format!("/{order}/invoices"), Some(&billed)).expect(201).data).to_owned();
            see("salesOrders", &order);
            see("salesInvoices", &bill);
            for (resource, of) in [("creditNotes", &note), ("receipts", &receipt), ("salesInvoices", &bill), ("salesInvoices", &sale)] {
                shop.ask("POST", resource, &format!("/{of}/void"), None).expect(200);
                for (resource, of) in [("creditNotes", &note), ("receipts", &receipt), ("salesInvoices", &bill), ("salesInvoices", &sale), ("salesOrders", &order)] {
                    see(resource, of);
                }
            }
            for (name, versions) in seen {
                let (resource, of) = name.split_once('/').unwrap();
                let rows = told(&shop.company, dialect, resource, of);
                let mut shown: Vec<Value> = Vec::new();
                for row in &rows {
                    let is_touched = ["touched", "settled"].iter().any(|action| row["action"] == *action);
                    assert_eq!((is_touched, row["problem"].is_null()), (!row["note"].is_null(), true), "{row}");
                    assert_eq!(own(row["before"].clone()), shown.last().cloned().unwrap_or_default(), "{name}: {row}");
                    assert_eq!(row["versionTo"], row["after"]["version"], "{name}: {row}");
                    assert_eq!(row["versionFrom"], row["before"]["version"], "{name}: {row}");
                    shown.push(own(row["after"].clone()));
                }
                // What it settled by itself was told after it was made, of the same version.
                let mut last: BTreeMap<i64, Value> = BTreeMap::new();
                last.extend(shown.into_iter().map(|after| (after["version"].as_i64().unwrap(), after)));
                let versions_of = |of: &[Value]| of.iter().map(|one| format!("{} {}", one["version"], one["status"])).collect::<Vec<_>>();
                assert_eq!(last.len(), versions.len(), "{name}: {:?} and {:?}", last.keys(), versions_of(&versions));
                for (version, (is, was)) in last.values().zip(&versions).enumerate() {
                    assert_eq!(is, was, "{name}, version {}", version + 1);
                }
                assert_eq!(last.keys().copied().collect::<Vec<_>>(), (1..=i64::try_from(versions.len()).unwrap()).collect::<Vec<_>>());
            }
            assert_eq!(shop.company.failed_checks(), [""; 0]);
        }
    }
}
