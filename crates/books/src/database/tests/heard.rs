//! Whoever listens to a company is told of what is committed there by the time its client is answered.
#![cfg(test)]

use super::*;
use crate::database::lane::{Keep, Lanes, Manner, Order, Stands, Work};
use crate::ids::BusinessId;
use crate::keys::Keys;
use crate::seal::Seals;
use crate::shelf::Shelf;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use uuid::Uuid;

async fn whoever_listens_is_told(database: &Database) {
    let seals = Seals::of(&Keys::of(b"a master key of a test")).unwrap();
    let lanes: Lanes<()> = Lanes::new(database.clone(), seals, 64, Shelf::within(1 << 20));
    let [one, other] = [1, 2].map(|number| Some(BusinessId(Uuid::from_u128(number))));
    let (mut here, mut elsewhere) = (lanes.news().listen(one), lanes.news().listen(other));
    let is_told = |listener: &mut crate::news::Listener| {
        pin!(listener.heard()).poll(&mut Context::from_waker(Waker::noop())).is_ready()
    };
    assert!(!is_told(&mut here));
    let founds: Work<()> = Arc::new(move |session, desk| {
        Box::pin(async move { desk.found(session, BusinessId(Uuid::from_u128(1))).await })
    });
    let stands = Stands::default();
    let order = Order {
        company: one,
        who: None,
        manner: Manner::Direct,
        keep: Keep::Effects,
        work: founds,
        stands: stands.clone(),
    };
    lanes.run(order).await.unwrap();
    assert!(is_told(&mut here) && !is_told(&mut elsewhere));
    lanes.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_committed_is_heard() {
    let place = Place::new("heard");
    let database = place.open(Purpose::Serving).await.unwrap();
    database.migrate(&|_| String::new()).await.unwrap();
    whoever_listens_is_told(&database).await;
    database.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_committed_is_heard_on_postgresql() {
    let Some(database) = on_postgres().await else { return };
    database.migrate(&|_| String::new()).await.unwrap();
    whoever_listens_is_told(&database).await;
    database.close().await;
}
