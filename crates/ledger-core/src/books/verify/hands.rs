//! The parts of a proof, and the hands that do them: one, or as many as there are snapshots of the same moment.

use super::seals::{self, Rows};
use super::{Check, Progress, Reported, Verdict, audit_chain, beside};
use crate::error::{Error, Result};
use ::books::BEFORE_THE_FIRST;
use ::books::aside;
use ::books::cx::Cx;
use ::books::database::Session;
use ::books::seal::SignedHead;
use ::books::seal::proof::tables;
use ::books::seal::tables::Table;
use proof::{Part, Proved};
use schema::reader::{Alone, Host};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::runtime::{Handle, RuntimeFlavor};

/// What one hand does at a time.
#[derive(Clone, Copy)]
enum Work {
    Part(Part),
    /// The chain of the audit log.
    Chain,
    /// The seals of a table.
    Rows(&'static Table),
}

/// What is found so far.
#[derive(Default)]
struct Found {
    parts: BTreeMap<Part, Vec<Check>>,
    digest: String,
    chain: Option<Check>,
    rows: Rows,
    /// Why a part could not be read.
    unread: Option<String>,
    failed: Option<Error>,
}

/// All that is to be done, and what was found.
struct Bench<'h> {
    /// A head that was kept when all before it was proved.
    since: Option<&'h SignedHead>,
    waiting: Mutex<VecDeque<Work>>,
    found: Mutex<Found>,
}

fn held<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

fn rows_of(count: i64) -> Result<usize> {
    usize::try_from(count).map_err(Error::internal)
}

impl<'h> Bench<'h> {
    /// The dearest first, so that no hand is left with it alone.
    fn new(since: Option<&'h SignedHead>) -> Self {
        const DEAR: [&str; 2] = ["entries", "audit_log"];
        let (dear, other): (Vec<&Table>, Vec<&Table>) = tables(true).partition(|table| DEAR.contains(&table.name));
        let dear = dear.into_iter().map(Work::Rows);
        let parts = Part::ALL.map(Work::Part);
        let (ledger, rest) = parts.split_at(1);
        let (ledger, rest) = (ledger.iter().copied(), rest.iter().copied());
        let waiting = ledger.chain(dear).chain([Work::Chain]).chain(rest).chain(other.into_iter().map(Work::Rows));
        Self { since, waiting: Mutex::new(waiting.collect()), found: Mutex::default() }
    }

    /// Does what there is to do, until nothing is left.
    async fn work(&self, cx: &Cx<'_>, progress: Option<&Progress>) {
        if let Err(failed) = self.work_through(cx, progress).await {
            held(&self.waiting).clear();
            held(&self.found).failed.get_or_insert(failed);
        }
    }

    async fn work_through(&self, cx: &Cx<'_>, progress: Option<&Progress>) -> Result<()> {
        let (reader, told, signed) = (cx.reader().await?, Reported(cx), seals::signed(cx).await?);
        let host: &dyn Host = match progress {
            Some(progress) => progress,
            None => &Alone,
        };
        let trusted = self.since.map_or(BEFORE_THE_FIRST, |head| head.entry_number);
        let reader = if progress.is_some() { reader.reading_for(host) } else { reader };
        loop {
            let Some(work) = held(&self.waiting).pop_front() else { return Ok(()) };
            match work {
                Work::Part(part) => match part.prove(&reader, &told, trusted).await {
                    Ok(Proved { checks, digest }) => {
                        let mut found = held(&self.found);
                        found.parts.insert(part, checks);
                        found.digest.extend(digest);
                    }
                    // What was spoilt cannot even be read: the rows say where.
                    Err(Error::Internal(why)) => {
                        held(&self.found).unread.get_or_insert(why);
                    }
                    Err(other) => return Err(other),
                },
                Work::Chain => {
                    let chain = audit_chain(cx, cx.business_id()?, self.since).await?;
                    host.read(signed.as_ref().map_or(Ok(0), |sums| rows_of(sums.of("audit_log").count))?);
                    held(&self.found).chain = Some(chain);
                }
                Work::Rows(table) => {
                    let proved = seals::of_table(cx, table, signed.as_ref(), trusted).await?;
                    host.read(rows_of(proved.rows)?);
                    held(&self.found).rows.add(proved);
                }
            }
        }
    }

    /// What all of it comes to.
    fn verdict(self, is_signed: bool) -> Result<Verdict> {
        let found = self.found.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(failed) = found.failed {
            return Err(failed);
        }
        let rows = found.rows.check(is_signed);
        if let Some(why) = found.unread {
            if rows.ok {
                return Err(Error::internal(why));
            }
            tracing::warn!(%why, "the books cannot be recomputed");
            return Ok(Verdict { ok: false, checks: vec![rows], digest: String::new() });
        }
        let checks: Vec<Check> = found.parts.into_values().flatten().chain(found.chain).chain([rows]).collect();
        Ok(Verdict { ok: checks.iter().all(|check| check.ok), checks, digest: found.digest })
    }
}

/// Runs every check on the company in scope, by one hand.
pub(crate) async fn run(cx: &Cx<'_>) -> Result<Verdict> {
    run_since(cx, None).await
}

async fn run_since(cx: &Cx<'_>, since: Option<&SignedHead>) -> Result<Verdict> {
    let bench = Bench::new(since);
    beside(bench.work(cx, None)).await;
    bench.verdict(seals::signed(cx).await?.is_some())
}

/// The same by many hands, each with a snapshot of the same moment.
pub(crate) async fn run_by<'s>(
    snapshots: &'s [Session],
    with: impl Fn(&'s Session) -> Cx<'s> + Sync,
    since: Option<&SignedHead>,
    progress: &Progress,
) -> Result<Verdict> {
    let many = Handle::try_current().ok().filter(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
    let (Some(handle), [first, _, ..]) = (many, snapshots) else {
        let [first, ..] = snapshots else { return Err(Error::internal("there is no snapshot to prove")) };
        return Box::pin(run_since(&with(first), since)).await;
    };
    let bench = Bench::new(since);
    progress.expects(&with(first)).await?;
    aside::computed(|| {
        std::thread::scope(|threads| {
            for snapshot in snapshots {
                // A hand that breaks down fails the proof: the scope ends by its panic.
                threads.spawn(|| handle.block_on(Box::pin(bench.work(&with(snapshot), Some(progress)))));
            }
        });
    });
    let is_signed = seals::signed(&with(first)).await?.is_some();
    bench.verdict(is_signed)
}
