//! Commands that nobody waits for any more keep nobody waiting, and take nothing along.
#![cfg(test)]

use super::*;
use crate::client::Client;
use crate::database::lane::{Keep, Lanes, Manner, Order, Stands, Work};
use crate::error::{Error, Unavailable};
use crate::fair::Who;
use crate::keys::Keys;
use crate::seal::Seals;
use crate::shelf::Shelf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use uuid::Uuid;

/// As many questions as whoever leaves would ask.
const ALL: usize = 100;
/// As many as they have asked when they leave.
const SOME: usize = 3;

fn order(manner: Manner, keep: Keep, work: Work<usize>) -> Order<usize> {
    Order { company: None, who: None, manner, keep, work, stands: Stands::default() }
}

/// A command that asks on and on, whose client leaves meanwhile.
fn dear(client: &Client, asked: &Arc<AtomicUsize>) -> Work<usize> {
    let (client, asked) = (client.clone(), asked.clone());
    Arc::new(move |transaction, _| {
        let (client, asked) = (client.clone(), asked.clone());
        Box::pin(async move {
            for _ in 0..ALL {
                let question = Statement::from_string(transaction.get_database_backend(), "SELECT 1 AS n");
                transaction.query_one_raw(question).await?;
                if asked.fetch_add(1, Ordering::SeqCst) + 1 == SOME {
                    client.leave();
                }
            }
            Ok(0)
        })
    })
}

async fn nobody_is_kept_waiting(database: Database) {
    let seals = Seals::of(&Keys::of(b"a master key of a test")).unwrap();
    let lanes = Arc::new(Lanes::new(database.clone(), seals, 64, Shelf::within(1 << 20)));
    for manner in [Manner::Planned, Manner::Direct] {
        for keep in [Keep::Effects, Keep::Nothing] {
            let (client, asked, served) = (Client::default(), Arc::default(), Arc::new(AtomicUsize::new(0)));
            let left = client.served(lanes.run(order(manner, keep, dear(&client, &asked))));
            let counted = served.clone();
            let other: Work<usize> = Arc::new(move |_, _| {
                let counted = counted.clone();
                Box::pin(async move { Ok(counted.fetch_add(1, Ordering::SeqCst)) })
            });
            let stays = lanes.run(order(Manner::Direct, Keep::Effects, other));
            let (left, stays) = tokio::join!(left, stays);
            assert!(matches!(left, Err(Error::Unavailable(Unavailable::Overloaded))), "{manner:?} {keep:?}: {left:?}");
            assert!(stays.is_ok(), "{manner:?} {keep:?}: {stays:?}");
            assert_eq!(asked.load(Ordering::SeqCst), SOME, "{manner:?} {keep:?}: it ends where its client leaves");
        }
    }
    lanes.close().await;
    database.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_waits_for_ends_inside_its_transaction() {
    let place = Place::new("left");
    let database = place.open(Purpose::Serving).await.unwrap();
    database.migrate(&|_| String::new()).await.unwrap();
    nobody_is_kept_waiting(database).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_waits_for_ends_inside_its_transaction_of_postgresql() {
    let Some(database) = on_postgres().await else { return };
    database.migrate(&|_| String::new()).await.unwrap();
    nobody_is_kept_waiting(database).await;
}

/// Whoever is cut off at the end of their time had the only lane of SQLite until then, and everybody waited for it.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_cut_off_counts_against_its_callers_minute() {
    let place = Place::new("cut_off");
    let database = place.open(Purpose::Serving).await.unwrap();
    database.migrate(&|_| String::new()).await.unwrap();
    let seals = Seals::of(&Keys::of(b"a master key of a test")).unwrap();
    let lanes = Lanes::new(database.clone(), seals, 64, Shelf::within(1 << 20));
    lanes.set_budget(Duration::from_millis(50));
    let of = |caller: u128, work: Work<usize>| {
        let who = Some(Who { company: None, caller: Uuid::from_u128(caller) });
        lanes.run(Order { who, ..order(Manner::Direct, Keep::Effects, work) })
    };
    let quick = || -> Work<usize> { Arc::new(|_, _| Box::pin(async { Ok(0) })) };
    let client = Client::default();
    let leaving = client.clone();
    let held: Work<usize> = Arc::new(move |transaction, _| {
        let client = leaving.clone();
        Box::pin(async move {
            let since = Instant::now();
            while since.elapsed() < Duration::from_millis(150) {
                std::hint::spin_loop();
            }
            client.leave();
            let question = Statement::from_string(transaction.get_database_backend(), "SELECT 1 AS n");
            transaction.query_one_raw(question).await.map(|_| 0).map_err(Error::from)
        })
    });
    assert!(client.served(of(1, held)).await.is_err());
    // The other's comes behind it.
    assert!(of(2, quick()).await.is_ok());
    assert!(matches!(of(1, quick()).await, Err(Error::RateLimited { .. })));
    lanes.close().await;
    database.close().await;
}
