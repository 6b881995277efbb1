//! The proof of the books: what crate `proof` makes of their rows, and what is proved with the key that sealed them.

mod hands;
mod progress;
mod seals;

use crate::day::Day;
use crate::error::Result;
use crate::ids::{BusinessId, RecordId};
use ::books::cx::Cx;
use ::books::seal::SignedHead;
use ::books::{BEFORE_THE_FIRST, aside, audit};
use answers::Ask;
pub(crate) use hands::{run, run_by};
pub use progress::Progress;
pub use proof::{Check, Kept, Off, Verdict};
use proof::{Findings, Told, Wide};
use reports::CashDue;
use schema::tables::books;
use std::collections::{BTreeSet, HashMap};
use std::future::{Future, poll_fn};

/// What the reports tell of a company.
struct Reported<'c, 'a>(&'c Cx<'a>);

#[async_trait::async_trait]
impl Told for Reported<'_, '_> {
    async fn due(&self, of: &[(RecordId, Day)]) -> Result<HashMap<(RecordId, Day), Wide>> {
        let documents: BTreeSet<RecordId> = of.iter().map(|(document, _)| *document).collect();
        let due = CashDue::of(self.0, &documents.into_iter().collect::<Vec<_>>()).await?;
        let figures = |(document, day): &(RecordId, Day)| {
            let figures = due.by(*document, *day)?;
            Ok(((*document, *day), figures.into_iter().map(|figure| Wide::from(figure.units())).sum()))
        };
        of.iter().map(figures).collect()
    }
}

/// Does something whose steps take longer than a moment, without holding up what else a thread would do.
async fn beside<T>(work: impl Future<Output = T>) -> T {
    let mut work = Box::pin(work);
    poll_fn(|context| aside::computed(|| work.as_mut().poll(context))).await
}

/// Where the chain of a company is begun to be followed: behind a head, where one is trusted.
fn beginning(since: Option<&SignedHead>) -> audit::Beginning {
    let since = since.filter(|head| head.sequence > BEFORE_THE_FIRST);
    since.map_or_else(audit::Beginning::default, |head| audit::Beginning::kept(head.sequence, &head.hash))
}

/// What was followed of the chain of a company, or of the installation.
async fn audit_chain(cx: &Cx<'_>, business: BusinessId, followed: audit::Followed) -> Result<Check> {
    let verdict = audit::end(cx, business, followed).await?;
    let mut findings = Findings::default();
    for problem in &verdict.problems {
        findings.add(format!("record {} {}", problem.sequence, problem.problem));
    }
    let head = books::Entity::find_by_id(business).model(&cx.db).await?;
    let head = head.map_or(BEFORE_THE_FIRST, |head| head.audit_sequence);
    Ok(Check::of("V7", "The audit log is whole", verdict.records, head, findings))
}

/// The checks of what belongs to no company.
pub(crate) async fn installation(cx: &Cx<'_>) -> Result<Vec<Check>> {
    let business = BusinessId::INSTALLATION;
    let followed = audit::followed(cx, business).await?;
    Ok(vec![audit_chain(cx, business, followed).await?, seals::of_installation(cx).await?])
}

/// The digest of the ledger of the company in scope.
pub(crate) async fn digest(cx: &Cx<'_>) -> Result<String> {
    beside(proof::digest(&cx.reader().await?)).await
}

/// Where its ledger is not what the facts of its stock come to, and the last day that is closed.
pub(crate) async fn off(cx: &Cx<'_>) -> Result<(Vec<Off>, Option<Day>)> {
    beside(proof::off(&cx.reader().await?)).await
}
