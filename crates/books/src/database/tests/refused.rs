//! What is refused, or only rehearsed, is in nobody's books: not even where some of it was written, and a neighbour's is kept.
#![cfg(test)]

use super::aside::{lanes, order, two_companies, waiting_for};
use super::*;
use crate::audit::{AuditAction, Change, Origin};
use crate::clock::Clock;
use crate::database::lane::{Keep, Manner, Work};
use crate::error::Error;
use crate::ids::{BusinessId, RecordId};
use ::schema::key::ResourceKey;
use ::schema::tables::audit_log;
use answers::Ask;
use futures_util::future::join_all;
use sea_orm::{ColumnTrait, QueryFilter};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::Notify;
use uuid::Uuid;

/// A command that plans a note in the log of a company and has it written, and then is refused or not.
fn noting(company: BusinessId, is_refused: bool) -> Work<bool> {
    static NOTED: AtomicU64 = AtomicU64::new(1);
    let next = || RecordId(Uuid::from_u128(NOTED.fetch_add(1, Ordering::SeqCst).into()));
    Arc::new(move |session, desk| {
        Box::pin(async move {
            let change = Change {
                action: AuditAction::Created,
                resource: ResourceKey::Parties,
                id: next(),
                version_from: None,
                version_to: None,
                before: None,
                after: Some("{}".into()),
                note: None,
            };
            desk.record(company, next(), Clock::system().now(), &Origin::default(), change)?;
            desk.flush(session).await?;
            if is_refused { Err(Error::NotFound) } else { Ok(true) }
        })
    })
}

async fn leaves_nothing(database: Database) {
    const TURNS: usize = 3;
    const REFUSED: (bool, Keep) = (true, Keep::Effects);
    const REHEARSED: (bool, Keep) = (false, Keep::Nothing);
    let lanes = lanes(&database);
    let [own, other] = two_companies(&lanes).await;
    // Two of one company may fall over each other, and then all of the batch runs apart: so each by itself as well.
    let kinds: [&[(bool, Keep)]; TURNS] = [&[REFUSED], &[REHEARSED], &[REFUSED, REHEARSED]];
    for undone in kinds {
        let run = |company, (is_refused, keep)| {
            lanes.run(order(Some(company), (Manner::Planned, keep), noting(company, is_refused)))
        };
        // They come while another is at work, so that they are of one batch.
        let (begun, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let first = lanes.run(order(None, (Manner::Direct, Keep::Effects), waiting_for(&begun, &go)));
        let others = async {
            begun.notified().await;
            let all_wait = async { go.notify_one() };
            let own = join_all(undone.iter().map(|one| run(own, *one)));
            tokio::join!(own, run(other, (false, Keep::Effects)), all_wait)
        };
        let (first, (told, done, ())) = tokio::join!(first, others);
        for ((is_refused, _), told) in undone.iter().zip(told) {
            assert!(if *is_refused { matches!(told, Err(Error::NotFound)) } else { told.is_ok() }, "{told:?}");
        }
        assert!(first.is_ok() && done.is_ok(), "{first:?} {done:?}");
    }
    let now = database.snapshot().await.unwrap();
    for (company, notes) in [(own, 0), (other, TURNS)] {
        let kept = audit_log::Entity::find().filter(audit_log::Column::BusinessId.eq(company));
        assert_eq!(kept.models(&now).await.unwrap().len(), notes, "{company:?}");
    }
    drop(now);
    // And it goes on where it was.
    lanes.run(order(Some(own), (Manner::Planned, Keep::Effects), noting(own, false))).await.unwrap();
    lanes.close().await;
    database.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_planned_and_refused_leaves_nothing() {
    let place = Place::new("refused");
    let database = place.open(Purpose::Serving).await.unwrap();
    database.migrate(&|_| String::new()).await.unwrap();
    leaves_nothing(database).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_planned_and_refused_leaves_nothing_on_postgresql() {
    let Some(database) = on_postgres().await else { return };
    database.migrate(&|_| String::new()).await.unwrap();
    leaves_nothing(database).await;
}
