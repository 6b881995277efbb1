//! The parts of a proof, and the hands that do them: one, or as many as there are snapshots of the same moment.

use super::{Check, Progress, Reported, Verdict, audit_chain, beginning, beside, seals};
use crate::error::{Error, Result};
use ::books::BEFORE_THE_FIRST;
use ::books::aside;
use ::books::audit::{self, Beginning, Followed};
use ::books::cx::Cx;
use ::books::database::Session;
use ::books::seal::SignedHead;
use ::books::seal::proof::{self as rows, Parts, Span, tables};
use ::books::seal::tables::Table;
use proof::{By, Key, Part, Piece, Pieces, Proved, Range};
use schema::reader::{Alone, Host, Reader};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Notify;
use tokio::time::Instant;

/// What one hand does at a time.
enum Work {
    /// A part of the proof, from behind a key on. Whoever takes it leaves what comes after a while to others.
    Part(Part, By, Option<Key>),
    /// The chain of the audit log, from here on; the same.
    Chain(Beginning),
    /// The seals of a table, from here on; the same.
    Rows(&'static Table, Span),
}

impl Work {
    /// What the log calls it.
    fn named(&self) -> String {
        match self {
            Self::Part(part, By::Whole, _) => format!("{part:?}"),
            Self::Part(part, by, _) => format!("{part:?} by {by:?}"),
            Self::Chain(_) => "Chain".into(),
            Self::Rows(table, _) => table.name.into(),
        }
    }
}

/// What is found so far.
#[derive(Default)]
struct Found {
    parts: BTreeMap<Part, Vec<Check>>,
    /// What was found of parts that are not done.
    pieces: Pieces,
    digest: String,
    chain: Followed,
    rows: Parts,
    /// Parts that could not be read, and why.
    unread: BTreeMap<String, String>,
    failed: Option<Error>,
}

/// What there is to do.
#[derive(Default)]
struct Waiting {
    works: VecDeque<Work>,
    /// How many are being divided: more may come of them.
    divided: usize,
}

/// All that is to be done, and what was found.
struct Bench<'h> {
    /// A head that was kept when all before it was proved.
    since: Option<&'h SignedHead>,
    waiting: Mutex<Waiting>,
    /// Rung when what was divided is there.
    more: Notify,
    found: Mutex<Found>,
}

fn held<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

fn rows_of(count: i64) -> Result<usize> {
    usize::try_from(count).map_err(Error::internal)
}

/// While this is held, more may come of what is divided.
struct Divided<'b, 'h>(&'b Bench<'h>);

impl Divided<'_, '_> {
    /// What is left for others.
    fn leaves(self, rest: Option<Work>) {
        held(&self.0.waiting).works.extend(rest);
    }
}

impl Drop for Divided<'_, '_> {
    fn drop(&mut self) {
        held(&self.0.waiting).divided -= 1;
        self.0.more.notify_waiters();
    }
}

impl<'h> Bench<'h> {
    /// What cannot be divided first, so that no hand is left with it alone.
    fn new(since: Option<&'h SignedHead>) -> Self {
        let legs =
            Part::ALL.into_iter().flat_map(|(part, legs)| legs.iter().map(move |by| Work::Part(part, *by, None)));
        let rows = tables(true).map(|table| Work::Rows(table, Span::default()));
        let works = legs.chain([Work::Chain(beginning(since))]).chain(rows).collect();
        let waiting = Mutex::new(Waiting { works, divided: 0 });
        Self { since, waiting, more: Notify::new(), found: Mutex::default() }
    }

    /// What is to be done next, as soon as it is known; nothing where all of it is begun.
    async fn next(&self) -> Option<Work> {
        loop {
            let more = self.more.notified();
            tokio::pin!(more);
            more.as_mut().enable();
            {
                let mut waiting = held(&self.waiting);
                if let Some(work) = waiting.works.pop_front() {
                    waiting.divided += usize::from(!matches!(work, Work::Part(_, By::Whole, _)));
                    return Some(work);
                }
                if waiting.divided == 0 {
                    return None;
                }
            }
            more.await;
        }
    }

    /// Does what there is to do, until nothing is left.
    async fn work(&self, cx: &Cx<'_>, progress: Option<&Progress>) {
        if let Err(failed) = self.work_through(cx, progress).await {
            held(&self.waiting).works.clear();
            held(&self.found).failed.get_or_insert(failed);
        }
    }

    async fn work_through(&self, cx: &Cx<'_>, progress: Option<&Progress>) -> Result<()> {
        let (reader, told, company) = (cx.reader().await?, Reported(cx), cx.business_id()?);
        let host: &dyn Host = match progress {
            Some(progress) => progress,
            None => &Alone,
        };
        let trusted = self.since.map_or(BEFORE_THE_FIRST, |head| head.entry_number);
        let reader = if progress.is_some() { reader.reading_for(host) } else { reader };
        while let Some(work) = self.next().await {
            let (named, begun) = (work.named(), Instant::now());
            match work {
                Work::Part(part, by, after) => {
                    let divided = (by != By::Whole).then(|| Divided(self));
                    let until = by.end(&reader, after, trusted).await;
                    if let Some(divided) = divided {
                        let end = until.as_ref().ok().copied().flatten();
                        divided.leaves(end.map(|end| Work::Part(part, by, Some(end))));
                    }
                    let proved = async {
                        let range = Range { after, until: until? };
                        let piece = part.prove(&reader, &told, (by, range), trusted).await?;
                        self.join(&reader, part, (by, range), piece).await
                    };
                    if let Err(error) = proved.await {
                        self.unread(format!("{part:?}"), error)?;
                    }
                }
                Work::Chain(from) => {
                    let divided = Divided(self);
                    let next = audit::next_part(cx, company, &from).await?;
                    divided.leaves(next.clone().map(Work::Chain));
                    let followed = audit::follow(cx, company, (from, next.as_ref())).await?;
                    host.read(rows_of(followed.records())?);
                    held(&self.found).chain.add(followed);
                }
                Work::Rows(table, after) => {
                    let divided = Divided(self);
                    let span = rows::next_span(&cx.db, (table, Some(company)), after, trusted).await?;
                    divided.leaves(span.rest().map(|rest| Work::Rows(table, rest)));
                    let proved = rows::of(cx, (table, Some(company)), span, trusted).await?;
                    let read = held(&self.found).rows.add(proved);
                    host.read(rows_of(read)?);
                }
            }
            tracing::debug!(part = named, micros = begun.elapsed().as_micros(), "a part was proved");
        }
        Ok(())
    }

    /// Joins a range with the others of its part. Whoever brings the last one says what all of them come to.
    async fn join(&self, reader: &Reader<'_>, part: Part, range: (By, Range), piece: Piece) -> Result<()> {
        let whole = held(&self.found).pieces.add(part, range, piece)?;
        if let Some(whole) = whole {
            let Proved { checks, digest } = whole.close(reader).await?;
            let mut found = held(&self.found);
            found.parts.insert(part, checks);
            found.digest.extend(digest);
        }
        Ok(())
    }

    /// What was spoilt cannot even be read. All else is proved.
    fn unread(&self, part: String, error: Error) -> Result<()> {
        let why = error.of_the_books()?;
        tracing::warn!(%part, %why, "a part of the books cannot be recomputed");
        held(&self.found).unread.entry(part).or_insert(why);
        Ok(())
    }

    /// What all of it comes to.
    async fn verdict(self, cx: &Cx<'_>) -> Result<Verdict> {
        let mut found = self.found.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(failed) = found.failed {
            return Err(failed);
        }
        // A part of which a range is missing tells nothing, and nobody is to take that for proved.
        for part in Part::ALL.map(|(part, _)| part).into_iter().filter(|part| !found.parts.contains_key(part)) {
            found.unread.entry(format!("{part:?}")).or_insert_with(|| "since not all of it was proved".into());
        }
        let rows = seals::rows(found.rows, seals::signed(cx).await?.as_ref());
        let chain = audit_chain(cx, cx.business_id()?, found.chain).await?;
        // What was spoilt so that a part of the books cannot be recomputed; the rows mostly say where that is.
        let unread = (!found.unread.is_empty()).then(|| Check::of_unread(found.unread));
        let checks: Vec<Check> = found.parts.into_values().flatten().chain([chain, rows]).chain(unread).collect();
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
    bench.verdict(cx).await
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
    bench.verdict(&with(first)).await
}
