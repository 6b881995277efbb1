//! What is asked of records: some of their members by `fields`, less of each by `view=summary`.
//!
//! Whatever is left out, what is answered is the same as of the whole record.

use crate::harness::server::DIALECTS;
use crate::harness::shop::{Shop, id};
use crate::harness::{Dialect, on_both_engines};
use ledger_core::books::tables::DocumentKind;
use ledger_core::resource::operation::ResourceOperations;
use ledger_core::resource::registry::registry;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A shop whose documents stand in every way: drafts, posted ones, some settled, delivered or invoiced in part or whole, void.
fn lively(server: &crate::harness::Server) -> Shop<'_> {
    let shop = Shop::open(server, Dialect::B);
    let vat = shop.vat("20");
    let item = shop.item(json!({"name": "Beans"}));
    let lines =
        |quantity: &str| json!([{"itemId": item, "quantity": quantity, "unitPrice": "12.50", "taxCodeId": vat}]);
    shop.purchase("2026-01-05", lines("100"));
    let mut sales = Vec::new();
    for (due, amount) in [("2026-01-20", "0"), ("2026-02-01", "10"), ("2099-01-01", "45"), ("2026-01-31", "0")] {
        let body = json!({"date": "2026-01-10", "dueDate": due, "partyId": shop.customer, "lines": lines("3"), "tags": ["web"]});
        let sale = shop.make("salesInvoices", &body);
        if amount != "0" {
            let body = json!({
                "date": "2026-01-15", "partyId": shop.customer, "accountId": shop.company.account("1010"), "amount": amount,
                "allocations": [{"targetId": id(&sale), "amount": amount}]
            });
            shop.make("receipts", &body);
        }
        sales.push(sale);
    }
    shop.void("salesInvoices", &sales[3]);
    shop.make(
        "salesInvoices",
        &json!({"date": "2026-01-11", "status": "draft", "partyId": shop.customer, "lines": lines("1")}),
    );
    let dollars = json!({"date": "2026-01-12", "partyId": shop.customer, "currency": "USD", "exchangeRate": "0.9", "lines": lines("2")});
    shop.make("salesInvoices", &dollars);
    for delivered in ["0", "2", "5"] {
        let order =
            shop.make("salesOrders", &json!({"date": "2026-01-12", "partyId": shop.customer, "lines": lines("5")}));
        if delivered != "0" {
            let line = &order["lines"][0]["id"];
            let body = json!({"date": "2026-01-13", "lines": [{"lineId": line, "quantity": delivered}]});
            shop.act("POST", "salesOrders", &order, "delivery-notes", Some(&body)).expect(201);
        }
    }
    let credit =
        json!({"date": "2026-01-20", "partyId": shop.customer, "salesInvoiceId": id(&sales[0]), "lines": lines("1")});
    shop.ask("POST", "creditNotes", "", Some(&credit));
    shop.company.journal("2026-01-30", &[("6200", "10"), ("1010", "-10")]);
    shop
}

/// Of every kind one that is posted, a draft that changed, and one that was taken back; and a party that became part of another.
fn with_every_kind(shop: &Shop<'_>) {
    for resource in outlined().map(|one| one.key.stem()) {
        let body = |reference: &str, status: &str| {
            let mut body = shop.company.example(resource);
            (body["reference"], body["narration"], body["status"]) =
                (reference.into(), reference.into(), status.into());
            body["externalId"] = format!("{resource} {reference}").into();
            body
        };
        shop.make(resource, &body("posted", "posted"));
        let draft = body("first words", "draft");
        let path = format!("/{}", id(&shop.make(resource, &draft)));
        let mut changed = draft;
        changed["reference"] = "other words".into();
        changed["tags"] = json!(["late", "\"quoted\""]);
        if changed.get("dueDate").is_some() {
            changed["dueDate"] = "2027-02-03".into();
        }
        shop.ask("PUT", resource, &path, Some(&changed)).expect(200);
        shop.void(resource, &shop.make(resource, &body("taken back", "posted")));
    }
    for (resource, party) in [("salesInvoices", &shop.customer), ("payments", &shop.supplier)] {
        let other =
            id(&shop.company.party(json!({"name": "Merged", "isCustomer": true, "isSupplier": true}))).to_owned();
        let mut body = shop.company.example(resource);
        (body["partyId"], body["reference"]) = (other.clone().into(), "merged".into());
        shop.make(resource, &body);
        let into = json!({"intoPartyId": party});
        shop.act("POST", "parties", &json!({"id": other}), "merge", Some(&into)).expect(200);
    }
}

/// Notes of which some settles something, and all; orders and notes that are invoiced in part and whole, and one that is closed.
fn with_what_follows(shop: &Shop<'_>) {
    let lines = |quantity: u32| json!([{"description": "Hours", "quantity": quantity, "unitPrice": "10"}]);
    let body = |party: &str, quantity: u32| json!({"date": "2026-02-01", "partyId": party, "lines": lines(quantity)});
    for (notes, invoices, party) in
        [("creditNotes", "salesInvoices", &shop.customer), ("debitNotes", "purchaseInvoices", &shop.supplier)]
    {
        for amount in [10, 30] {
            let (note, invoice) = (shop.make(notes, &body(party, 3)), shop.make(invoices, &body(party, 3)));
            shop.make("allocations", &json!({"sourceId": id(&note), "targetId": id(&invoice), "amount": amount}));
        }
    }
    let item = shop.item(json!({"name": "Cups"}));
    let ten = |party: &str| json!({"date": "2026-02-01", "partyId": party, "lines": [{"itemId": item, "quantity": 10, "unitPrice": 2}]});
    for (orders, notes, segment, party) in [
        ("purchaseOrders", "receiptNotes", "receipt-notes", &shop.supplier),
        ("salesOrders", "deliveryNotes", "delivery-notes", &shop.customer),
    ] {
        for invoiced in [4, 10] {
            let order = shop.make(orders, &ten(party));
            let note = shop.act("POST", orders, &order, segment, None).expect(201).data;
            let part =
                json!({"date": "2026-02-02", "lines": [{"lineId": note["lines"][0]["id"], "quantity": invoiced}]});
            shop.act("POST", notes, &note, "invoices", Some(&part)).expect(201);
        }
        shop.act("POST", orders, &shop.make(orders, &ten(party)), "close", None).expect(200);
    }
}

/// Resources of whose records the columns say what `view=summary` shows.
fn outlined() -> impl Iterator<Item = &'static ResourceOperations> {
    registry().iter().filter(|one| !one.summary.is_empty())
}

/// What every document's summary says, and what none does.
const ALWAYS: [&str; 9] =
    ["id", "version", "number", "date", "status", "reference", "createdAt", "updatedAt", "externalId"];
const NEVER: [&str; 3] = ["lines", "allocations", "entries"];

fn items(shop: &Shop<'_>, dialect: Dialect, resource: &str, query: &str) -> Vec<Value> {
    let said = shop.company.ask(dialect, "GET", resource, query, None).expect(200);
    said.data["items"].as_array().unwrap().clone()
}

on_both_engines! {
    fn a_summary_says_what_the_whole_record_says(server) {
        let shop = lively(server);
        with_every_kind(&shop);
        with_what_follows(&shop);
        let (mut met, mut said) = (BTreeSet::new(), BTreeSet::new());
        for (dialect, one) in DIALECTS.into_iter().flat_map(|dialect| outlined().map(move |one| (dialect, one))) {
            let (resource, summary) = (one.key.stem(), &one.summary);
            let whole = items(&shop, dialect, resource, "?sort=createdAt&pageSize=500");
            assert_eq!(whole, items(&shop, dialect, resource, "?sort=createdAt&pageSize=500&view=full"));
            for view in ["view=summary".to_owned(), format!("fields={}", summary.join(","))] {
                let brief = items(&shop, dialect, resource, &format!("?sort=createdAt&pageSize=500&{view}"));
                assert_eq!(whole.len(), brief.len(), "{resource}");
                for (whole, brief) in whole.iter().zip(&brief) {
                    met.insert(format!("{resource} {}", whole["status"].as_str().unwrap()));
                    let members = brief.as_object().unwrap();
                    assert!(members.keys().eq(summary.iter()), "{resource}: {brief}");
                    for figure in ["total", "amount", "balanceDue", "dueDate", "partyId", "currency"] {
                        assert_eq!(members.contains_key(figure), whole.get(figure).is_some(), "{resource}: {figure}");
                    }
                    for (name, value) in members {
                        assert_eq!(value, &whole[name], "{dialect:?} {resource} {name} of {whole:#}");
                        if !value.is_null() && value != 0 && value != false {
                            said.insert(format!("{resource} {name}"));
                        }
                    }
                    // One by itself is answered like those of a list.
                    let path = format!("/{}?{view}", id(whole));
                    let alone = shop.company.ask(dialect, "GET", resource, &path, None).expect(200);
                    assert_eq!(&alone.data, brief);
                }
            }
            // Some of them, and in whatever order they are named.
            let some = items(&shop, dialect, resource, "?sort=createdAt&pageSize=500&fields=status,number");
            for (whole, some) in whole.iter().zip(&some) {
                assert_eq!(some, &json!({"id": whole["id"], "version": whole["version"], "number": whole["number"], "status": whole["status"]}));
            }
        }
        assert_eq!(outlined().count(), DocumentKind::TEXTS.len(), "documents of every kind");
        for expected in [
            "salesInvoices draft", "salesInvoices open", "salesInvoices paid", "salesInvoices partiallyPaid", "salesInvoices void",
            "creditNotes partiallyAllocated", "creditNotes closed", "salesOrders partiallyFulfilled", "salesOrders cancelled",
            "salesOrders closed", "salesOrders fulfilled", "deliveryNotes partiallyInvoiced", "deliveryNotes invoiced",
            "debitNotes closed", "debitNotes partiallyAllocated", "purchaseOrders received", "purchaseOrders closed",
            "receiptNotes partiallyBilled", "receiptNotes billed",
            "receiptNotes void", "journals posted", "contraEntries draft", "revaluations void", "stockAdjustments posted",
        ] {
            assert!(met.contains(expected), "{expected} is not among {met:?}");
        }
        // Nothing is equal because it is never said.
        for one in outlined() {
            let unsaid = one.summary.iter().map(|name| format!("{} {name}", one.key.stem()));
            let unsaid: Vec<String> = unsaid.filter(|name| !said.contains(name)).collect();
            assert!(unsaid.is_empty(), "{unsaid:?}");
            let says = |name: &&str| one.summary.contains(name);
            assert!(ALWAYS.iter().all(says) && !NEVER.iter().any(says), "{}: {:?}", one.key.stem(), one.summary);
        }
        shop.proves();
    }

    fn when_it_is_due_is_said_of_what_is_in_no_books_and_looked_for_in_what_is(server) {
        let shop = lively(server);
        let body = |status: &str| json!({
            "date": "2031-01-10", "dueDate": "2031-02-03", "partyId": shop.customer, "lines": [{"unitPrice": 9}], "status": status
        });
        let due = |record: &Value| {
            let mut said = DIALECTS.map(|dialect| ["", "?view=summary", "?fields=dueDate"].map(|view| {
                let path = format!("/{}{view}", id(record));
                shop.company.ask(dialect, "GET", "salesInvoices", &path, None).expect(200).data["dueDate"].clone()
            })).concat();
            said.dedup();
            said
        };
        let (draft, posted) = (shop.make("salesInvoices", &body("draft")), shop.make("salesInvoices", &body("posted")));
        assert_eq!((due(&draft), due(&posted)), (vec![json!("2031-02-03")], vec![json!("2031-02-03")]));
        let mut later = body("draft");
        later["dueDate"] = "2031-02-04".into();
        shop.ask("PUT", "salesInvoices", &format!("/{}", id(&draft)), Some(&later)).expect(200);
        shop.void("salesInvoices", &posted);
        assert_eq!((due(&draft), due(&posted)), (vec![json!("2031-02-04")], vec![json!("2031-02-03")]));
        let found = |query: &str| items(&shop, Dialect::A, "salesInvoices", query).len();
        assert_eq!((found("?dueFrom=2031-02-03&dueTo=2031-02-04"), found("?isOverdue=true&dueFrom=2031-01-01")), (0, 0));
        shop.act("POST", "salesInvoices", &draft, "post", None).expect(200);
        assert_eq!((found("?dueFrom=2031-02-03&dueTo=2031-02-04"), due(&draft)), (1, vec![json!("2031-02-04")]));
        shop.proves();
    }

    fn what_is_named_is_answered_and_who_it_is_of(server) {
        let shop = lively(server);
        for dialect in DIALECTS {
            let found = items(&shop, dialect, "salesInvoices", "?fields=number,lines.quantity,partyName&sort=-createdAt&status=paid");
            let [paid] = &found[..] else { panic!("one is paid: {found:?}") };
            let members: Vec<&str> = paid.as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!(members, ["id", "version", "number", "partyName", "lines"]);
            assert_eq!((&paid["lines"], &paid["partyName"]), (&json!([{"quantity": 3}]), &json!("Customer")));
            let path = format!("/{}?fields=name", shop.customer);
            let said = shop.company.ask(dialect, "GET", "parties", &path, None).expect(200);
            assert_eq!(said.data, json!({"id": shop.customer, "version": 1, "name": "Customer"}));
            assert!(said.answer.header("etag").is_some(), "it is the same version");
            for (query, field, why) in [
                ("?fields=nmae", "fields", "nmae is not a known field"),
                ("?fields=Name", "fields", "Name is not a known field; did you mean name?"),
                ("?fields=", "fields", "names nothing between two commas, or nothing at all"),
                ("?fields=name.first", "fields", "name.first names something inside of a value that has no members"),
                ("?view=summary", "view", "is not a known parameter"),
            ] {
                let said = shop.company.ask(dialect, "GET", "parties", query, None).expect(400);
                assert_eq!(said.errors[field], json!([why]), "{query}");
            }
            for (query, why) in [
                ("?view=brief", "must be full or summary"),
                ("?fields=number&view=summary", "must not be given beside what else chooses fields"),
            ] {
                let said = shop.company.ask(dialect, "GET", "journals", query, None).expect(400);
                assert_eq!(said.errors["view"], json!([why]), "{query}");
            }
        }
    }
}
