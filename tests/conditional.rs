//! Reads on condition: 304 means that the very same would be said once more, whatever it is that moved meanwhile.

use crate::harness::examples::{creatable, operations};
use crate::harness::server::{Company, DIALECTS, Said};
use crate::harness::shop::{Shop, id};
use crate::harness::{Dialect, on_both_engines};
use ledger_core::resource::operation::{ResourceOperations, Verb};
use ledger_core::resource::registry::registry;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A record as it was read, and by what it was told apart.
struct Read {
    of: &'static ResourceOperations,
    id: String,
    data: Value,
    tag: String,
}

fn read(company: &Company, dialect: Dialect, of: &ResourceOperations, path: &str, tag: Option<&str>) -> Said {
    let request = company.request_for(dialect, "GET", of, path);
    let request = match tag {
        Some(tag) => request.header("If-None-Match", tag),
        None => request,
    };
    company.say(dialect, request)
}

fn tag_of(said: &Said) -> String {
    said.answer.header("etag").expect("a tag").to_owned()
}

/// A record of every resource that answers one by itself.
fn one_of_each(company: &Company) -> Vec<Read> {
    let made: BTreeSet<&str> = creatable().map(|of| of.key.stem()).collect();
    let read_alone = registry().iter().filter(|of| of.verbs().any(|verb| verb == Verb::Get));
    let one = |of: &'static ResourceOperations| {
        let stem = of.key.stem();
        let id = if stem == "businesses" {
            company.id.clone()
        } else if made.contains(stem) {
            company.make(stem)["id"].as_str().unwrap().to_owned()
        } else {
            let listed = read(company, Dialect::B, of, "", None).expect(200).data;
            listed["items"][0]["id"].as_str().unwrap_or_else(|| panic!("there is no {stem}: {listed}")).to_owned()
        };
        let said = read(company, Dialect::B, of, &format!("/{id}"), None).expect(200);
        Read { of, id, tag: tag_of(&said), data: said.data }
    };
    read_alone.map(one).collect()
}

/// Reads all of it again after something was written. Where it says the same it is 304, and else it is said anew. Answers
/// the resources of which more is said, or something else, in the version that they had.
fn reads_again(company: &Company, dialect: Dialect, known: &mut [Read], after: &str) -> BTreeSet<&'static str> {
    let mut moved = BTreeSet::new();
    for one in known {
        let (stem, path) = (one.of.key.stem(), format!("/{}", one.id));
        let now = read(company, dialect, one.of, &path, None).expect(200);
        let said = read(company, dialect, one.of, &path, Some(&one.tag));
        if now.data == one.data {
            assert_eq!((said.status, tag_of(&said)), (304, tag_of(&now)), "{stem} after {after}");
            continue;
        }
        assert_eq!((said.status, &said.data), (200, &now.data), "{stem} after {after}");
        assert_ne!(tag_of(&said), one.tag, "{stem} after {after}");
        if now.data["version"] == one.data["version"] {
            moved.insert(stem);
        }
        (one.tag, one.data) = (tag_of(&said), said.data);
    }
    moved
}

on_both_engines! {
    fn what_moved_by_itself_is_told_and_what_did_not_is_304(server) {
        let shop = Shop::open(server, Dialect::B);
        let company = &shop.company;
        let mut known = one_of_each(company);
        assert!(known.len() > 25, "{}", known.len());
        let of = |known: &[Read], stem: &str| known.iter().find(|one| one.of.key.stem() == stem).unwrap().data.clone();
        let mut moved = reads_again(company, Dialect::A, &mut known, "what was made beside it");
        for dialect in DIALECTS {
            assert_eq!(reads_again(company, dialect, &mut known, "nothing"), BTreeSet::new());
        }
        for one in &known {
            // Less of a record is another answer.
            let path = format!("/{}?fields=id", one.id);
            let less = read(company, Dialect::A, one.of, &path, Some(&one.tag)).expect(200);
            read(company, Dialect::B, one.of, &path, Some(&tag_of(&less))).expect(304);
        }
        let partner = company.partner();
        let invoice = of(&known, "salesInvoices");
        let order = of(&known, "salesOrders");
        let item = of(&known, "items");
        let bill = json!({"date": "2026-11-20", "partyId": partner,
            "lines": [{"itemId": item["id"], "quantity": 1, "unitPrice": 9}]});
        let known_party = of(&known, "parties");
        let own = json!({"date": "2026-11-20", "partyId": known_party["id"], "lines": [{"unitPrice": 9}]});
        let zone = |name: &str| {
            let mut business = company.ask(Dialect::B, "GET", "businesses", &format!("/{}", company.id), None).expect(200).data;
            business["timezone"] = name.into();
            company.ask(Dialect::B, "PUT", "businesses", &format!("/{}", company.id), Some(&business)).expect(200);
        };
        let writes: [(&str, &dyn Fn()); 8] = [
            ("an invoice of the party", &|| drop(shop.make("salesInvoices", &own))),
            ("goods bought", &|| drop(shop.make("purchaseInvoices", &bill))),
            ("money for the invoice", &|| {
                let money = json!({"date": "2026-11-21", "partyId": partner, "accountId": company.account("1010"), "amount": 5,
                    "allocations": [{"targetId": invoice["id"], "amount": 5}]});
                shop.make("receipts", &money);
            }),
            ("a delivery of the order", &|| {
                let line = json!({"date": "2026-11-21", "lines": [{"lineId": order["lines"][0]["id"], "quantity": 1}]});
                shop.act("POST", "salesOrders", &order, "delivery-notes", Some(&line)).expect(201);
            }),
            ("a draft", &|| drop(shop.make("journals", &company.example("journals")))),
            ("the far west", &|| zone("Pacific/Pago_Pago")),
            ("the far east, where it is tomorrow", &|| zone("Pacific/Kiritimati")),
            ("a merge", &|| {
                let into = json!({"intoPartyId": known_party["id"]});
                shop.act("POST", "parties", &json!({"id": partner}), "merge", Some(&into)).expect(200);
            }),
        ];
        // One that is late, and later when the day ends.
        let late = json!({"date": "2026-01-10", "dueDate": "2026-01-20", "partyId": partner, "lines": [{"unitPrice": 9}]});
        let late = shop.make("salesInvoices", &late);
        let of_party = shop.make("salesInvoices", &own);
        let series = company.ask(Dialect::B, "GET", "numberSeries", "?pageSize=100", None).expect(200).data;
        let gives = |one: &&Value| one["nextNumber"].as_str().is_some_and(|number| number.starts_with("INV-"));
        let series = series["items"].as_array().unwrap().iter().find(gives).unwrap();
        let payable = company.account("2100");
        let invoices = [&late, &of_party].map(|one| ("salesInvoices", id(one)));
        let more = invoices.into_iter().chain([("accounts", payable.as_str()), ("numberSeries", id(series))]);
        for (stem, id) in more {
            let of = operations(stem);
            let said = read(company, Dialect::B, of, &format!("/{id}"), None).expect(200);
            known.push(Read { of, id: id.to_owned(), tag: tag_of(&said), data: said.data });
        }
        drop(reads_again(company, Dialect::A, &mut known, "two invoices"));
        for (turn, (what, write)) in writes.iter().enumerate() {
            let before: Vec<Value> = known.iter().map(|one| one.data.clone()).collect();
            write();
            let found = reads_again(company, DIALECTS[turn % 2], &mut known, what);
            let changed = |member: &str| known.iter().zip(&before).any(|(now, before)| now.data[member] != before[member]);
            let member = match *what {
                "an invoice of the party" => "receivableBalance",
                "goods bought" => "balance",
                "money for the invoice" => "balanceDue",
                "a delivery of the order" => "status",
                "the far east, where it is tomorrow" => "daysOverdue",
                "a merge" => "partyId",
                _ => "id",
            };
            assert_eq!(changed(member), member != "id", "{member} after {what}");
            moved.extend(found);
        }
        // Of what this is no version knows: nobody may think that a version tells all.
        for expected in [
            "accounts", "allocations", "businesses", "creditNotes", "debitNotes", "deliveryNotes", "entries", "items", "numberSeries",
            "parties", "payments", "purchaseInvoices", "purchaseOrders", "receiptNotes", "receipts", "salesInvoices", "salesOrders",
        ] {
            assert!(moved.contains(expected), "{expected} is not among {moved:?}");
        }
    }

    /// Whoever made a record has its tag: they need not read it to be told that it is as they know it.
    fn what_a_write_answers_is_told_apart_as_it_is_read(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            for of in creatable() {
                let stem = of.key.stem();
                if stem == "businesses" || !of.secrets.is_empty() {
                    continue;
                }
                let made = shop.company.ask(dialect, "POST", stem, "", Some(&shop.company.example(stem))).expect(201);
                let path = format!("/{}", id(&made.data));
                read(&shop.company, dialect, of, &path, Some(&tag_of(&made))).expect(304);
            }
        }
    }

    /// What is judged of a write is the version that was read, and not what moved beside it.
    fn a_balance_that_moved_stands_in_no_ones_way(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let party = shop.company.party(json!({"name": "First"}));
            let path = format!("/{}", id(&party));
            let ask = |method: &str| shop.company.request(dialect, method, "parties", &path);
            let tag = tag_of(&shop.company.say(dialect, ask("GET")).expect(200));
            shop.make("salesInvoices", &json!({"date": "2026-11-20", "partyId": party["id"], "lines": [{"unitPrice": 9}]}));
            let moved = shop.company.say(dialect, ask("GET").header("If-None-Match", &tag)).expect(200);
            assert_eq!((moved.data["receivableBalance"].to_string().as_str(), &moved.data["version"]), ("9.00", &json!(1)));
            let change = |tag: &str, name: &str| {
                let put = ask("PUT").header("If-Match", tag).json(&json!({"name": name, "isCustomer": true}));
                shop.company.say(dialect, put)
            };
            let written = tag_of(&change(&tag, "Second").expect(200));
            change(&tag, "Third").expect(412);
            change(&tag_of(&moved), "Third").expect(412);
            change(&written, "Third").expect(200);
        }
    }
}
