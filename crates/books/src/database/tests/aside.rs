//! A command that is dear keeps its neighbours waiting for a moment at most, and a rehearsal everybody no longer than it may.
#![cfg(test)]

use super::*;
use crate::database::lane::{Keep, Lanes, Manner, Order, Stands, Work};
use crate::error::{Error, Unavailable};
use crate::ids::BusinessId;
use crate::keys::Keys;
use crate::seal::Seals;
use crate::shelf::Shelf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;
use uuid::Uuid;

/// More questions than fit in any share on whatever machine, and an end where there is none: a fast one asks a million in less than
/// the second that it may.
const ON_AND_ON: usize = 50_000_000;

pub(super) fn lanes(database: &Database) -> Arc<Lanes<bool>> {
    let seals = Seals::of(&Keys::of(b"a master key of a test")).unwrap();
    Arc::new(Lanes::new(database.clone(), seals, 64, Shelf::within(1 << 20)))
}

pub(super) fn order(company: Option<BusinessId>, (manner, keep): (Manner, Keep), work: Work<bool>) -> Order<bool> {
    Order { company, who: None, manner, keep, work, stands: Stands::default() }
}

async fn asks_on_and_on(session: &Session) -> crate::error::Result<()> {
    for _ in 0..ON_AND_ON {
        session.query_one_raw(Statement::from_string(session.get_database_backend(), "SELECT 1 AS n")).await?;
    }
    Ok(())
}

/// Something dear, which ends only once its neighbour was answered: in another batch, whichever of them comes first.
fn dear(runs: &Arc<AtomicUsize>, answered: &Arc<AtomicBool>) -> Work<bool> {
    let (runs, answered) = (runs.clone(), answered.clone());
    Arc::new(move |session, _| {
        let (runs, answered) = (runs.clone(), answered.clone());
        Box::pin(async move {
            runs.fetch_add(1, Ordering::SeqCst);
            for _ in 0..ON_AND_ON {
                if answered.load(Ordering::SeqCst) {
                    return Ok(true);
                }
                session.query_one_raw(Statement::from_string(session.get_database_backend(), "SELECT 1 AS n")).await?;
            }
            Ok(false)
        })
    })
}

/// Something that is over when it is told so, and at once where it is run again.
pub(super) fn waiting_for(begun: &Arc<Notify>, go: &Arc<Notify>) -> Work<bool> {
    let (begun, go, runs) = (begun.clone(), go.clone(), Arc::new(AtomicUsize::new(0)));
    Arc::new(move |_, _| {
        let (begun, go, runs) = (begun.clone(), go.clone(), runs.clone());
        Box::pin(async move {
            if runs.fetch_add(1, Ordering::SeqCst) == 0 {
                begun.notify_one();
                go.notified().await;
            }
            Ok(true)
        })
    })
}

async fn neighbours_do_not_wait(database: &Database) {
    for manner in [Manner::Planned, Manner::Direct] {
        let lanes = lanes(database);
        let (runs, answered) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (begun, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let first = lanes.run(order(None, (Manner::Direct, Keep::Effects), waiting_for(&begun, &go)));
        let cheap: Work<bool> = Arc::new(|_, _| Box::pin(async { Ok(true) }));
        let others = async {
            begun.notified().await;
            let neighbour = async {
                lanes.run(order(None, (Manner::Planned, Keep::Effects), cheap)).await.unwrap();
                answered.store(true, Ordering::SeqCst);
            };
            let dear = lanes.run(order(None, (manner, Keep::Effects), dear(&runs, &answered)));
            // Both are in the line before the lane goes on.
            let all = async { tokio::join!(neighbour, dear) };
            let mut all = std::pin::pin!(all);
            tokio::select! {
                biased;
                _ = &mut all => panic!("{manner:?}: it was not waited for"),
                () = std::future::ready(()) => {}
            }
            go.notify_one();
            all.await.1
        };
        let (first, dear) = tokio::join!(first, others);
        assert!(first.unwrap(), "{manner:?}");
        assert!(dear.unwrap(), "{manner:?}: its neighbour waited for all of it");
        // Where the batch had become long before it, it was by itself at once.
        let runs = runs.load(Ordering::SeqCst);
        assert!(runs <= 2, "{manner:?}: once beside others and once by itself, not {runs} times");
        lanes.close().await;
    }
}

/// What waits together is written together: in one batch, or another where the first has become long.
async fn who_waits_together_is_together(database: &Database) {
    let lanes = lanes(database);
    let batches: Arc<Mutex<BTreeSet<u64>>> = Arc::default();
    let (begun, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let first = lanes.run(order(None, (Manner::Direct, Keep::Effects), waiting_for(&begun, &go)));
    let others = async {
        begun.notified().await;
        let run = (0..20).map(|_| {
            let batches = batches.clone();
            let noted: Work<bool> = Arc::new(move |_, desk| {
                batches.lock().unwrap().insert(desk.flushes());
                Box::pin(async { Ok(true) })
            });
            let lanes = lanes.clone();
            tokio::spawn(async move { lanes.run(order(None, (Manner::Planned, Keep::Effects), noted)).await })
        });
        let run: Vec<_> = run.collect();
        while lanes.waiting() < run.len() {
            tokio::task::yield_now().await;
        }
        go.notify_one();
        for one in run {
            assert!(one.await.unwrap().unwrap());
        }
    };
    assert!(tokio::join!(first, others).0.unwrap());
    let batches = batches.lock().unwrap().len();
    assert!(batches < 20, "twenty that waited together were written in {batches} batches");
    lanes.close().await;
}

async fn a_rehearsal_ends(database: &Database) {
    let lanes = lanes(database);
    let work: Work<bool> = Arc::new(|session, _| Box::pin(async move { asks_on_and_on(session).await.map(|()| true) }));
    let rehearsed = lanes.run(order(None, (Manner::Direct, Keep::Nothing), work)).await;
    assert!(matches!(rehearsed, Err(Error::Unavailable(Unavailable::TooLong))), "{rehearsed:?}");
    lanes.close().await;
}

/// Founded in the books of a lane.
pub(super) async fn two_companies(lanes: &Lanes<bool>) -> [BusinessId; 2] {
    let companies @ [own, other] = [1, 2].map(|number| BusinessId(Uuid::from_u128(number)));
    let founded: Work<bool> = Arc::new(move |session, desk| {
        Box::pin(async move {
            desk.found(session, own).await?;
            desk.found(session, other).await?;
            Ok(true)
        })
    });
    lanes.run(order(None, (Manner::Direct, Keep::Effects), founded)).await.unwrap();
    companies
}

/// Whether a lane that rehearsed in the books of one company still remembers those of another.
async fn books_of_others_stay(database: &Database) {
    let lanes = lanes(database);
    let [own, other] = two_companies(&lanes).await;
    let seen = Arc::new(AtomicBool::new(false));
    let refused: Work<bool> = Arc::new(|_, _| Box::pin(async { Err(Error::NotFound) }));
    let nothing: Work<bool> = Arc::new(|_, _| Box::pin(async { Ok(true) }));
    for (manner, keep, work) in [
        (Manner::Direct, Keep::Nothing, nothing),
        (Manner::Direct, Keep::Effects, refused.clone()),
        (Manner::Planned, Keep::Effects, refused),
    ] {
        drop(lanes.run(order(Some(own), (manner, keep), work)).await);
        let seen_by = seen.clone();
        let looks: Work<bool> = Arc::new(move |_, desk| {
            seen_by.store(desk.remembers(other), Ordering::SeqCst);
            Box::pin(async { Ok(true) })
        });
        lanes.run(order(None, (Manner::Direct, Keep::Effects), looks)).await.unwrap();
        assert!(seen.load(Ordering::SeqCst), "{manner:?} {keep:?}");
    }
    lanes.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_dear_is_run_by_itself() {
    let place = Place::new("aside");
    let database = place.open(Purpose::Serving).await.unwrap();
    database.migrate(&|_| String::new()).await.unwrap();
    neighbours_do_not_wait(&database).await;
    who_waits_together_is_together(&database).await;
    a_rehearsal_ends(&database).await;
    books_of_others_stay(&database).await;
    database.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_dear_is_run_by_itself_on_postgresql() {
    let Some(database) = on_postgres().await else { return };
    database.migrate(&|_| String::new()).await.unwrap();
    neighbours_do_not_wait(&database).await;
    who_waits_together_is_together(&database).await;
    a_rehearsal_ends(&database).await;
    database.close().await;
}
