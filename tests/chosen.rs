//! What is asked of records: some of their members by `fields`, less of each by `view=summary`.
//!
//! Whatever is left out, what is answered is the same as of the whole record.

use crate::harness::server::DIALECTS;
use crate::harness::shop::{Shop, id};
use crate::harness::{Dialect, on_both_engines};
use serde_json::{Value, json};

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

const KINDS: [&str; 8] = [
    "salesInvoices",
    "purchaseInvoices",
    "salesOrders",
    "deliveryNotes",
    "creditNotes",
    "receipts",
    "journals",
    "payments",
];

fn items(shop: &Shop<'_>, dialect: Dialect, resource: &str, query: &str) -> Vec<Value> {
    let said = shop.company.ask(dialect, "GET", resource, query, None).expect(200);
    said.data["items"].as_array().unwrap().clone()
}

on_both_engines! {
    fn a_summary_says_what_the_whole_record_says(server) {
        let shop = lively(server);
        let mut met = std::collections::BTreeSet::new();
        for (dialect, resource) in DIALECTS.into_iter().flat_map(|dialect| KINDS.map(|kind| (dialect, kind))) {
            let whole = items(&shop, dialect, resource, "?sort=createdAt");
            let brief = items(&shop, dialect, resource, "?sort=createdAt&view=summary");
            assert_eq!(whole.len(), brief.len(), "{resource}");
            assert_eq!(whole, items(&shop, dialect, resource, "?sort=createdAt&view=full"));
            for (whole, brief) in whole.iter().zip(&brief) {
                met.insert(format!("{resource} {}", whole["status"]));
                let members = brief.as_object().unwrap();
                for (name, value) in members {
                    assert_eq!(value, &whole[name], "{dialect:?} {resource} {name} of {whole:#}");
                }
                for name in ["id", "version", "number", "date", "status", "updatedAt"] {
                    assert!(members.contains_key(name), "{resource}: {name} of {brief}");
                }
                let figures = ["total", "amount"].into_iter().filter(|name| whole.get(name).is_some());
                assert!(figures.into_iter().all(|name| members.contains_key(name)), "{brief} of {whole}");
                assert!(!members.contains_key("lines") && !members.contains_key("allocations"), "{brief}");
                // One by itself is answered like those of a list.
                let path = format!("/{}?view=summary", id(whole));
                assert_eq!(&shop.company.ask(dialect, "GET", resource, &path, None).expect(200).data, brief);
            }
        }
        for expected in [
            "salesInvoices \"draft\"", "salesInvoices \"open\"", "salesInvoices \"paid\"", "salesInvoices \"partiallyPaid\"",
            "salesInvoices \"void\"", "journals \"posted\"",
        ] {
            assert!(met.contains(expected), "{expected} is not among {met:?}");
        }
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
