//! The lane that all companies share: nobody fills the queue in front of it alone, and what waits there together is written
//! together.

use crate::harness::books::literal;
use crate::harness::process::eventually;
use crate::harness::server::{Company, DIALECTS};
use crate::harness::shop::Shop;
use crate::harness::{Dialect, Engine, Options, Server};
use sea_orm::{ConnectionTrait, DbBackend, Statement};
use serde_json::json;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn one_company_leaves_room_in_the_queue_for_others() {
    let custom = Some(r#"{"Limits": {"WriteQueue": 8}}"#.to_owned());
    let server = Server::start(Engine::Sqlite, Options { custom, ..Options::default() }).expect("SQLite");
    let (busy, other) = (server.company(), server.company());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let held = runtime.block_on(async {
        let held = crate::harness::books::connected(server.database_url()).await.unwrap();
        held.execute_unprepared("BEGIN IMMEDIATE").await.unwrap();
        held
    });
    let (busy_away, other_away, other_taken) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let ask = |company: &Company<'_>, index: usize| {
        let body = json!({"name": format!("Party {index}"), "isCustomer": true});
        company.ask(DIALECTS[index % 2], "POST", "parties", "", Some(&body)).status
    };
    std::thread::scope(|scope| {
        for index in 0..40 {
            let (busy, away) = (&busy, &busy_away);
            scope.spawn(move || {
                if ask(busy, index) == 503 {
                    away.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        // All but the one that the lane has taken, and as many as one caller may have in the queue.
        eventually("those whom there is no room for", || (busy_away.load(Ordering::SeqCst) >= 36).then_some(()));
        for index in 0..10 {
            let (other, away, taken) = (&other, &other_away, &other_taken);
            scope.spawn(move || {
                let count = if ask(other, index) == 503 { away } else { taken };
                count.fetch_add(1, Ordering::SeqCst);
            });
        }
        eventually("the same of another company", || (other_away.load(Ordering::SeqCst) >= 7).then_some(()));
        runtime.block_on(async { held.execute_unprepared("ROLLBACK").await.unwrap() });
    });
    assert_eq!(other_taken.into_inner(), 3, "there was room for others");
}

/// How often books were written: each time raises their version, whatever was written then.
fn written(server: &Server, company: &str) -> i64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let books = crate::harness::books::connected(server.database_url()).await.unwrap();
        let version = format!("SELECT version FROM books WHERE business_id = {}", literal(Engine::Sqlite, company));
        let version = books.query_one_raw(Statement::from_string(DbBackend::Sqlite, version)).await.unwrap().unwrap();
        version.try_get("", "version").unwrap()
    })
}

/// What comes while nothing can be written waits, and is one batch afterwards: its members are written together, goods of one
/// item as well as services.
#[test]
fn what_waits_together_is_written_together() {
    let custom = Some(r#"{"Limits": {"WriteQueue": 24}}"#.to_owned());
    let server = Server::start(Engine::Sqlite, Options { custom, ..Options::default() }).expect("SQLite");
    let shop = Shop::open(&server, Dialect::B);
    let item = shop.item(json!({"salePrice": 10}));
    shop.purchase("2026-01-10", json!([{"itemId": item, "quantity": 100, "unitPrice": 4}]));
    let goods = json!([
        {"itemId": item, "quantity": 2, "unitPrice": 10},
        {"description": "Travel", "quantity": 1, "unitPrice": 5},
    ]);
    let body = json!({"date": "2026-01-12", "partyId": shop.customer, "lines": goods});
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let before = written(&server, &shop.company.id);
    let held = runtime.block_on(async {
        let held = crate::harness::books::connected(server.database_url()).await.unwrap();
        held.execute_unprepared("BEGIN IMMEDIATE").await.unwrap();
        held
    });
    let (away, costs) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..40 {
            scope.spawn(|| {
                let said = shop.ask("POST", "salesInvoices", "", Some(&body));
                match said.status {
                    503 => drop(away.fetch_add(1, Ordering::SeqCst)),
                    _ => costs.lock().unwrap().push(said.expect(201).data["lines"][0]["costAmount"].to_string()),
                }
            });
        }
        // All but the one that the lane has taken, and as many as one caller may have in the queue.
        eventually("those whom there is no room for", || (away.load(Ordering::SeqCst) >= 30).then_some(()));
        runtime.block_on(async { held.execute_unprepared("ROLLBACK").await.unwrap() });
    });
    let (away, costs) = (away.into_inner(), costs.into_inner().unwrap());
    // The server may have been at something of its own.
    assert!(away + costs.len() == 40 && (9..=10).contains(&costs.len()), "{away} were turned away");
    assert!(costs.iter().all(|cost| cost == "8.00"), "{costs:?}");
    // A batch ends where it has become long, which may be at any of them: in how few they are, is asked of the lane itself.
    let times = usize::try_from(written(&server, &shop.company.id) - before).unwrap();
    assert!((1..=costs.len()).contains(&times), "{} sales were written {times} times", costs.len());
    let (left, worth) = (100 - 2 * costs.len(), 400 - 8 * costs.len());
    assert_eq!(shop.stock(&item), (left.to_string(), format!("{worth}.00")));
    shop.proves();
}
