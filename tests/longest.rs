//! Documents as long as they may be, each line of another item, or all of one: none is too long for an engine.

use crate::harness::books::behind_the_back;
use crate::harness::citus;
use crate::harness::process::eventually;
use crate::harness::server::DIALECTS;
use crate::harness::shop::{Shop, id};
use crate::harness::{Engine, Options, Server, on_both_engines};
use serde_json::{Value, json};
use std::sync::Mutex;

const MOST: usize = 1_000;

fn patient(engine: Engine) -> Option<Server> {
    let custom = Some(r#"{"Limits": {"Request": "10m"}, "Database": {"WriteTimeout": "2m"}}"#.to_owned());
    Server::start(engine, Options { custom, ..Options::default() })
}

/// As many items as a document may name.
fn items(shop: &Shop<'_>) -> Vec<String> {
    let made = Mutex::new(Vec::with_capacity(MOST));
    std::thread::scope(|scope| {
        for part in 0..8 {
            let made = &made;
            scope.spawn(move || {
                for number in (part..MOST).step_by(8) {
                    let item = shop.item(json!({"code": format!("I{number}"), "purchasePrice": 1, "salePrice": 2}));
                    made.lock().unwrap().push(item);
                }
            });
        }
    });
    made.into_inner().unwrap()
}

fn of_many_items(engine: Engine) {
    let Some(server) = patient(engine) else { return };
    let shop = Shop::open(&server, DIALECTS[0]);
    let items = items(&shop);
    let lines = |line: &dyn Fn(&str) -> Value| json!(items.iter().map(|item| line(item)).collect::<Vec<Value>>());
    let adjusted = |date: &str, line: &dyn Fn(&str) -> Value| {
        shop.make("stockAdjustments", &json!({"date": date, "lines": lines(line)}))
    };
    adjusted("2026-01-10", &|item| json!({"itemId": item, "quantityDelta": 5, "unitCost": 1}));
    let count = adjusted("2026-03-01", &|item| json!({"itemId": item, "countedQuantity": 4}));
    assert_eq!(count["lines"][0]["adjustedQuantity"].to_string(), "-1");
    // What comes late changes each line of the count.
    adjusted("2026-01-11", &|item| json!({"itemId": item, "quantityDelta": 2, "unitCost": 1}));
    let count = shop.get("stockAdjustments", &count);
    let changed = count["lines"].as_array().unwrap().iter().filter(|line| line["adjustedQuantity"] == -3);
    assert_eq!(changed.count(), MOST);
    let sold = lines(&|item| json!({"itemId": item, "quantity": 1, "unitPrice": 2}));
    let order =
        shop.make("salesOrders", &json!({"date": "2026-03-02", "partyId": shop.customer, "lines": sold.clone()}));
    let next = |resource: &str, record: &Value, action: &str, date: &str| {
        shop.act("POST", resource, record, action, Some(&json!({"date": date}))).expect(201).data
    };
    let note = next("salesOrders", &order, "delivery-notes", "2026-03-03");
    let invoice = next("deliveryNotes", &note, "invoices", "2026-03-04");
    next("salesInvoices", &invoice, "credit-notes", "2026-03-05");
    shop.sale("2026-03-06", sold);
    shop.proves();
}

/// Each line of what goes back names a line of what went.
fn of_one_item(engine: Engine) {
    let Some(server) = patient(engine) else { return };
    let shop = Shop::open(&server, DIALECTS[1]);
    let item = shop.item(json!({"code": "ONE", "purchasePrice": 1, "salePrice": 2}));
    let lines = json!(vec![json!({"itemId": item, "quantity": 1, "unitPrice": 1}); MOST]);
    let bill = shop.purchase("2026-03-01", lines);
    let credit = json!({"date": "2026-03-02"});
    let note = shop.act("POST", "purchaseInvoices", &bill, "debit-notes", Some(&credit)).expect(201).data;
    assert_eq!(shop.stock(&item).0, "0");
    shop.ask("POST", "debitNotes", &format!("/{}/void", id(&note)), None).expect(200);
    assert_eq!(shop.stock(&item).0, MOST.to_string());
    shop.proves();
}

on_both_engines! {
    // All of it would be in memory, several times over. What is asked for unasked is never too much.
    fn a_long_page_of_long_records_is_refused(server) {
        let shop = Shop::open(server, DIALECTS[0]);
        let line = json!({"description": "x".repeat(850), "unitPrice": 1});
        let draft = json!({"date": "2026-03-01", "partyId": shop.customer, "status": "draft", "lines": vec![line; MOST]});
        for _ in 0..20 {
            shop.make("salesInvoices", &draft);
        }
        for _ in 0..55 {
            shop.make("salesOrders", &json!({"date": "2026-03-01", "partyId": shop.customer, "lines": [{"unitPrice": 1}]}));
        }
        for dialect in DIALECTS {
            let page = |resource: &str, size: &str| shop.company.ask(dialect, "GET", resource, size, None);
            for resource in ["salesInvoices", "auditLog"] {
                assert_eq!(page(resource, "?pageSize=60").expect(400).fields(), ["pageSize"], "{resource}");
                page(resource, "").expect(200);
            }
            // A long page has the records of short ones, in their order.
            let ids = |query: &str| -> Vec<Value> {
                let listed = page("salesOrders", query).expect(200).data;
                listed["items"].as_array().unwrap().iter().map(|order| order["id"].clone()).collect()
            };
            for sort in ["sort=-number", "sort=date"] {
                let long = ids(&format!("?pageSize=60&{sort}"));
                let short = [1, 2].map(|page| ids(&format!("?pageSize=30&page={page}&{sort}"))).concat();
                assert_eq!((long.len(), long), (55, short), "{sort}");
            }
        }
    }
}

#[test]
fn a_document_has_a_thousand_items_on_sqlite() {
    of_many_items(Engine::Sqlite);
}

#[test]
fn a_document_has_a_thousand_items_on_postgresql() {
    of_many_items(Engine::Postgres);
}

#[test]
fn a_document_has_a_thousand_lines_of_one_item_on_sqlite() {
    of_one_item(Engine::Sqlite);
}

#[test]
fn a_document_has_a_thousand_lines_of_one_item_on_postgresql() {
    of_one_item(Engine::Postgres);
}

/// Else whatever is asked before the engine looks by itself takes the table for an empty one: a proof took minutes.
#[test]
fn a_table_that_one_write_made_long_is_looked_at_on_postgresql() {
    // Workers of Citus look by themselves.
    if citus::is_here() {
        return;
    }
    let Some(server) = patient(Engine::Postgres) else { return };
    let shop = Shop::open(&server, DIALECTS[0]);
    shop.sale("2026-03-01", json!(vec![json!({"description": "x", "unitPrice": 1}); MOST]));
    // The engine notes its own looks apart.
    let looked = "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_stat_user_tables \
                  WHERE relname = 'entry_lines' AND last_analyze IS NOT NULL) THEN RAISE 'not yet'; END IF; END $$";
    eventually("a look at what has grown", || behind_the_back(&server, &[looked.to_owned()]).ok());
}
