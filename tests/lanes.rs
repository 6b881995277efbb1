//! The queue in front of the lane that all companies share: nobody fills it alone.

use crate::harness::process::eventually;
use crate::harness::server::{Company, DIALECTS};
use crate::harness::{Engine, Options, Server};
use sea_orm::ConnectionTrait;
use serde_json::json;
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
