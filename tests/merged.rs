//! Parties that became part of one another: whoever of them is named, the one that they are by now is meant.

use crate::harness::examples::{creatable, operations};
use crate::harness::http::Request;
use crate::harness::server::{DIALECTS, authorised};
use crate::harness::shop::{Shop, id};
use crate::harness::{Dialect, Server, on_both_engines};
use serde_json::{Value, json};

/// Resources of which a record is made in the name of a party.
fn of_a_party() -> Vec<&'static str> {
    let named = creatable().filter(|one| one.example["partyId"].is_string());
    named.map(|one| one.key.stem()).collect()
}

/// A body that makes a record of a resource in the name of a party.
fn in_the_name_of(shop: &Shop, resource: &str, party: &str) -> Value {
    let mut body = shop.company.example(resource);
    body["partyId"] = party.into();
    body
}

fn journal(shop: &Shop, party: &str, status: &str) -> Value {
    json!({"date": "2026-11-20", "status": status, "narration": "By name", "lines": [
        {"accountId": shop.company.account("1200"), "partyId": party, "debit": 7},
        {"accountId": shop.company.account("4000"), "credit": 7},
    ]})
}

/// The reads of a dialect that name a party: by a parameter, or below the party itself; each with what else it is asked.
fn reads_by_party(server: &Server, dialect: Dialect) -> Vec<(String, bool)> {
    let prefix = if dialect == Dialect::A { "/a/api/" } else { "/b/api/" };
    let document = server.send(&Request::new("GET", "/swagger/v1/swagger.json")).expect(200).json();
    let mut reads = Vec::new();
    for (path, operations) in document["paths"].as_object().unwrap().iter().filter(|(path, _)| path.starts_with(prefix))
    {
        // Most are said once, and referred to.
        let whole = |one: &Value| match one["$ref"].as_str() {
            Some(reference) => document.pointer(reference.trim_start_matches('#')).unwrap().clone(),
            None => one.clone(),
        };
        let parameters = operations["get"]["parameters"].as_array().into_iter().flatten().map(whole);
        let in_query = parameters.filter(|one| one["in"] == "query");
        let asked: Vec<String> = in_query.map(|one| one["name"].as_str().unwrap().to_owned()).collect();
        let is_asked = |name: &str| asked.iter().any(|asked| asked == name);
        let days = [("from", "2026-01-01"), ("to", "2026-12-31"), ("asOf", "2026-12-31")];
        let days: Vec<String> =
            days.iter().filter(|(name, _)| is_asked(name)).map(|(name, day)| format!("{name}={day}")).collect();
        if is_asked("partyId") {
            reads.push((
                format!("{path}?partyId={{party}}&{}", days.join("&")),
                path.rsplit_once('.').is_none_or(|(_, form)| form != "csv"),
            ));
        }
        // The history of a record is its own.
        if path.contains("/parties/{id}/") && !path.ends_with("/history") && operations["get"].is_object() {
            reads.push((path.replace("{id}", "{party}"), true));
        }
    }
    reads
}

/// How much there is in an answer.
fn extent(data: &Value) -> usize {
    ["items", "rows"].iter().filter_map(|name| data[*name].as_array()).map(Vec::len).sum()
}

on_both_engines! {
    fn whoever_of_them_is_asked_for_the_same_is_answered(server) {
        let shop = Shop::open(server, Dialect::B);
        let again = |name: &str| id(&shop.company.party(json!({"name": name, "isSupplier": true}))).to_owned();
        let [first, second, last] = ["First", "Second", "Last"].map(again);
        assert!(of_a_party().len() >= 10, "{:?}", of_a_party());
        for party in [&first, &second, &last] {
            for resource in of_a_party() {
                shop.make(resource, &in_the_name_of(&shop, resource, party));
            }
            // Goods that wait for their invoice.
            let mut sent = in_the_name_of(&shop, "deliveryNotes", party);
            sent["lines"] = json!([{"itemId": shop.company.goods(), "quantity": 1}]);
            shop.make("deliveryNotes", &sent);
            shop.make("journals", &journal(&shop, party, "posted"));
            shop.make("journals", &journal(&shop, party, "draft"));
            let open = shop.ask("GET", "salesInvoices", &format!("?partyId={party}"), None).expect(200).data;
            let paid = shop.ask("GET", "receipts", &format!("?partyId={party}"), None).expect(200).data;
            let settles = json!({"sourceId": paid["items"][0]["id"], "targetId": open["items"][0]["id"], "amount": 1});
            shop.make("allocations", &settles);
        }
        let merge = |party: &str, into: &str| {
            shop.act("POST", "parties", &json!({"id": party}), "merge", Some(&json!({"intoPartyId": into}))).expect(200);
        };
        merge(&first, &second);
        merge(&second, &last);
        let mut alike = 0;
        for dialect in DIALECTS {
            for (path, is_json) in reads_by_party(server, dialect) {
                let ask = |party: &str| {
                    let path = path.replace("{businessId}", &shop.company.id).replace("{party}", party);
                    let request = authorised(Request::new("GET", &path), &shop.company.token);
                    let text = server.send(&request.header("X-Business-Id", &shop.company.id)).expect(200).text;
                    // But for the moment at which a report was made.
                    let (before, after) = text.split_once("\"generatedAt\":").unwrap_or((&text, ""));
                    before.to_owned() + after.split_once(',').map_or("", |(_, rest)| rest)
                };
                let meant = ask(&last);
                for old in [&first, &second] {
                    assert!(ask(old) == meant, "{path}: {} is not {meant}", ask(old));
                    assert!(!meant.contains(old.as_str()), "{path} names one that is gone: {meant}");
                }
                assert!(ask(&shop.customer) != meant, "{path} is answered of whomever");
                // What is alike because there is nothing in it proves nothing.
                if is_json {
                    let said: Value = serde_json::from_str(&meant).unwrap();
                    let data = if dialect == Dialect::A { &said["data"] } else { &said };
                    assert!(extent(data) > 0, "{path}: {meant}");
                    alike += 1;
                }
            }
        }
        assert!(alike > 40, "{alike}");
        shop.proves();
    }

    fn whoever_of_them_a_body_names_the_last_is_meant(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let again = |name: &str| id(&shop.company.party(json!({"name": name, "isSupplier": true}))).to_owned();
            let [first, second, last] = ["First", "Second", "Last"].map(again);
            let merge = |party: &str, into: &str| {
                shop.act("POST", "parties", &json!({"id": party}), "merge", Some(&json!({"intoPartyId": into}))).expect(200)
            };
            merge(&first, &second);
            merge(&second, &last);
            // Who is to take somebody in may be named by an old name too.
            let other = again("Other");
            assert_eq!(merge(&other, &first).id(), last);
            for old in [&first, &second, &other] {
                let mut bodies: Vec<(&str, Value)> =
                    of_a_party().into_iter().map(|one| (one, in_the_name_of(&shop, one, old))).collect();
                bodies.extend(["posted", "draft"].map(|status| ("journals", journal(&shop, old, status))));
                for (resource, body) in bodies {
                    let made = shop.make(resource, &body);
                    let named = if resource == "journals" { &made["lines"][0]["partyId"] } else { &made["partyId"] };
                    assert_eq!(*named, *last, "{resource}");
                    let said = shop.get(resource, &made).to_string();
                    assert!(!said.contains(old.as_str()) && said.contains(&last), "{resource}: {said}");
                    if operations(resource).verbs().any(|verb| verb == ledger_core::resource::operation::Verb::Update) {
                        let put = shop.ask("PUT", resource, &format!("/{}", id(&made)), Some(&body)).expect(200).data;
                        assert!(!put.to_string().contains(old.as_str()), "{resource}: {put}");
                    }
                }
            }
            shop.proves();
        }
    }

    /// What is in the books keeps its party, under whatever name it is there.
    fn one_that_is_in_the_books_never_goes(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let order = |party: &Value| json!({"date": "2026-11-20", "partyId": party["id"], "lines": [{"unitPrice": 5}]});
            for resource in ["salesInvoices", "salesOrders", "purchaseOrders"] {
                let party = shop.company.party(json!({"name": "Gone", "isSupplier": true}));
                shop.make(resource, &order(&party));
                let gone = || shop.ask("DELETE", "parties", &format!("/{}", id(&party)), None).expect(409);
                assert_eq!(gone().code.as_deref(), Some("in_use"), "{resource}");
                shop.act("POST", "parties", &party, "merge", Some(&json!({"intoPartyId": shop.customer}))).expect(200);
                assert_eq!(gone().code.as_deref(), Some("in_use"), "{resource}, merged");
            }
            // One that nothing names may go, merged or not.
            let unknown = shop.company.party(json!({"name": "Nobody"}));
            shop.act("POST", "parties", &unknown, "merge", Some(&json!({"intoPartyId": shop.customer}))).expect(200);
            shop.ask("DELETE", "parties", &format!("/{}", id(&unknown)), None).expect(200);
            shop.proves();
        }
    }
}
