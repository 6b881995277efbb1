//! Money: its worked examples over the wire, and the largest numbers there are, in every field of every document that takes one: each is kept to the last digit, or
//! refused by the name of its field. Nothing breaks by them, and nothing becomes another number.

use crate::harness::examples::creatable;
use crate::harness::server::{Company, DIALECTS, Said};
use crate::harness::shop::Shop;
use crate::harness::{Dialect, Request, Server, on_both_engines};
use ledger_core::resource::operation::ResourceOperations;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The most that an amount, what a document moves, a quantity, a price and a rate can be, what is around them, and their other
/// sides.
const EXTREMES: &[&str] = &[
    "922337203685477.5807",
    "922337203685477.58",
    "922337203685477.5808",
    "100000000000000",
    "100000000000000.01",
    "9223372036854.775807",
    "9223372036854",
    "9223372036854.775808",
    "922337203.6854775807",
    "99999999999999999999999999",
    "0.0000000001",
    "0.000001",
    "-9223372036854.775807",
];

/// A place in a body: members and the first of each list.
type Place = Vec<String>;

/// The places of decimals in what a request takes, as the document tells them.
fn decimals(document: &Value, schema: &Value, place: &[String], found: &mut BTreeSet<Place>) {
    let schema = match schema["$ref"].as_str() {
        Some(reference) => &document["components"]["schemas"][reference.rsplit('/').next().unwrap()],
        None => schema,
    };
    if schema["format"] == "decimal" {
        found.insert(place.to_vec());
    }
    for choice in ["anyOf", "oneOf", "allOf"] {
        for one in schema[choice].as_array().into_iter().flatten() {
            decimals(document, one, place, found);
        }
    }
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        decimals(document, member, &[place, std::slice::from_ref(name)].concat(), found);
    }
    if schema["items"].is_object() {
        decimals(document, &schema["items"], &[place, &["0".into()]].concat(), found);
    }
}

/// The fields of a resource that take decimals.
fn fields(server: &Server, resource: &str) -> Vec<Place> {
    let document = server.send(&Request::new("GET", "/swagger/b/swagger.json")).expect(200).json();
    let creates = |item: &&Value| item["post"]["operationId"] == format!("{resource}Create");
    let found = document["paths"].as_object().unwrap().values().find(creates);
    let item = found.unwrap_or_else(|| panic!("nothing creates {resource}"));
    let mut places = BTreeSet::new();
    decimals(&document, &item["post"]["requestBody"]["content"]["application/json"]["schema"], &[], &mut places);
    places.into_iter().collect()
}

/// A body with a number in one place.
fn with(body: &Value, place: &[String], number: &str) -> Value {
    let mut body = body.clone();
    let mut at = &mut body;
    for (index, name) in place.iter().enumerate() {
        let list = place.get(index + 1).is_some_and(|next| next == "0");
        at = if name == "0" {
            at.as_array_mut().unwrap().first_mut().unwrap()
        } else {
            if at[name].is_null() {
                at[name] = if list { json!([{}]) } else { json!({}) };
            }
            if at[name].as_array().is_some_and(Vec::is_empty) {
                at[name] = json!([{}]);
            }
            &mut at[name]
        };
    }
    *at = serde_json::from_str(number).unwrap();
    body
}

/// Members that say the same in another way, and must be gone where the other is given.
fn without_rivals(resource: &str, mut body: Value, place: &[String]) -> Value {
    let last = place.last().unwrap().as_str();
    let rivals: &[&str] = match last {
        "discountAmount" => &["discountPercent"],
        "discountPercent" => &["discountAmount"],
        "countedQuantity" => &["quantityDelta", "unitCost"],
        "standardCost" if resource == "stockAdjustments" => &["quantityDelta", "countedQuantity", "unitCost"],
        "debit" => &["credit"],
        "credit" => &["debit"],
        _ => &[],
    };
    let mut at = &mut body;
    for name in &place[..place.len() - 1] {
        at = if name == "0" { at.as_array_mut().unwrap().first_mut().unwrap() } else { &mut at[name] };
    }
    for rival in rivals {
        at.as_object_mut().unwrap().remove(*rival);
    }
    if last.starts_with("exchangeRate") || last == "rate" {
        at["currency"] = "USD".into();
    }
    body
}

/// The name of a field as a refusal says it.
fn named(place: &[String]) -> String {
    let mut name = String::new();
    for part in place {
        match (part.as_str(), name.is_empty()) {
            ("0", _) => name += "[0]",
            (part, true) => name += part,
            (part, false) => name = format!("{name}.{part}"),
        }
    }
    name
}

/// Whether a refusal names the field, or what it is a part of or makes up.
fn names(said: &Said, place: &[String]) -> bool {
    let top = &place[0];
    said.fields().iter().any(|field| {
        field == &named(place)
            || field.starts_with(top.as_str())
            // What a total comes to is named where its parts are many.
            || ["lines", "amount", "allocations", "rates"].iter().any(|sum| field.starts_with(sum))
            || field == "toAmount"
    })
}

fn is_document(operations: &ResourceOperations) -> bool {
    operations.example.get("lines").is_some()
        || ["receipts", "payments", "contraEntries", "revaluations", "allocations"].contains(&operations.key.stem())
}

/// A body that would be taken with an ordinary number in its place.
fn body(company: &Company<'_>, resource: &str) -> Value {
    let mut body = company.example(resource);
    body["status"] = "posted".into();
    if ["allocations", "revaluations"].contains(&resource) {
        body.as_object_mut().unwrap().remove("status");
    }
    if resource == "receiptNotes" {
        body["lines"][0]["unitCost"] = 10.into();
    }
    body
}

fn tried(server: &Server, dialect: Dialect) -> (usize, usize, Vec<String>) {
    let (mut taken, mut refused, mut wrong) = (0, 0, Vec::new());
    for operations in creatable().filter(|one| is_document(one)) {
        let resource = operations.key.stem();
        let places = fields(server, resource);
        assert!(!places.is_empty(), "{resource} takes no decimals");
        for place in places {
            let mut company = server.company();
            for number in EXTREMES {
                let ask = |company: &Company<'_>| {
                    let one = with(&body(company, resource), &place, "1");
                    let body = with(&without_rivals(resource, one, &place), &place, number);
                    company.ask(dialect, "POST", resource, "", Some(&body))
                };
                let mut said = ask(&company);
                if said.code.as_deref() == Some("amount_too_large") {
                    // What one number did to the sums of the books is none of the next one's business.
                    company = server.company();
                    said = ask(&company);
                }
                match said.status {
                    201 => taken += 1,
                    // A state of the books, such as too little in stock, is told by the field as well.
                    400 | 409 if names(&said, &place) => refused += 1,
                    status => wrong.push(format!(
                        "{status} {resource} {} = {number}: {} {}",
                        named(&place),
                        said.title,
                        said.errors
                    )),
                }
            }
        }
    }
    (taken, refused, wrong)
}

on_both_engines! {

    fn the_largest_numbers_are_kept_or_named(server) {
        for dialect in DIALECTS {
            let (taken, refused, wrong) = tried(server, dialect);
            assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), taken + refused, wrong.join("\n"));
            assert!(taken > 80 && refused > 100, "{taken} taken, {refused} refused");
        }
    }

    fn what_one_document_moves_leaves_room_for_the_sums(server) {
        const MOST: &str = "100000000000000.00";
        for dialect in DIALECTS {
            let company = server.company();
            let asked = |resource: &str, amount: &str| {
                let mut body = body(&company, resource);
                let amount: Value = serde_json::from_str(amount).unwrap();
                match resource {
                    "journals" => {
                        body["lines"][0]["debit"] = amount.clone();
                        body["lines"][1]["credit"] = amount;
                    }
                    // A price has more places, and ends sooner.
                    "salesInvoices" => body["lines"] = json!([{"quantity": 100, "unitPrice": "1000000000000.0001"}]),
                    "contraEntries" => {
                        body["toAmount"] = amount.clone();
                        body["amount"] = amount;
                    }
                    _ => body["amount"] = amount,
                }
                company.ask(dialect, "POST", resource, "", Some(&body))
            };
            for (resource, field) in [("journals", "lines"), ("salesInvoices", "lines"), ("receipts", "amount"), ("contraEntries", "amount")] {
                let beyond = asked(resource, "100000000000000.01").expect(400);
                assert_eq!(beyond.fields(), [field], "{resource}");
                assert!(beyond.errors.to_string().contains("100000000000000"), "{}", beyond.errors);
            }
            // A number with digits too many is a mistake: it is taken back, and each report still tells of it.
            for _ in 0..4 {
                let posted = asked("journals", MOST).expect(201).data;
                let path = format!("/{}/void", posted["id"].as_str().unwrap());
                company.ask(dialect, "POST", "journals", &path, Some(&json!({}))).expect(200);
            }
            for report in ["trial-balance", "pl", "general-ledger", "equity-changes", "cash-flow"] {
                company.ask(dialect, "GET", "reports", &format!("/{report}?to=2026-12-31"), None).expect(200);
            }
        }
    }

    /// What sums up more than one document moves: a year of two sales of sixty trillion, and money
    /// that is worth more.
    fn what_sums_up_more_is_taken_back_like_anything(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            for day in ["2025-03-10", "2025-04-10"] {
                shop.sale(day, json!([{"quantity": 10, "unitPrice": "6000000000000.00"}]));
            }
            let year = shop.make("fiscalYears", &json!({"name": "2025", "start": "2025-01-01", "end": "2025-12-31"}));
            for action in ["close", "reopen"] {
                shop.act("POST", "fiscalYears", &year, action, None).expect(200);
            }
            let shop = Shop::open(server, dialect);
            let abroad = json!({"date": "2026-01-10", "partyId": shop.customer, "currency": "USD", "exchangeRate": 1,
                "lines": [{"quantity": 10, "unitPrice": "6000000000000.00"}]});
            for _ in 0..2 {
                shop.make("salesInvoices", &abroad);
            }
            let rates = json!([{"currency": "USD", "rate": 1.95}]);
            let revaluation = shop.make("revaluations", &json!({"date": "2026-01-31", "rates": rates}));
            // What is entered before it has it made anew.
            let mut receipt = shop.receipt("2026-01-20", "100.00");
            receipt["currency"] = "USD".into();
            receipt["exchangeRate"] = 1.into();
            shop.make("receipts", &receipt);
            shop.void("revaluations", &revaluation);
            shop.proves();
        }
    }
}
