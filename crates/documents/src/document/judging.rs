//! Judging: nothing of a document is written that was not held against the books.
//!
//! Owns: [`Judged`], what a kind made of a draft, of which [`Written`] is the text that is kept. A row takes no other text,
//! and only a judgement makes one, so that no way of changing a document can pass by the references in it.

use super::{Content, Document, Head, Kept, Purpose, Settled};
use crate::day::Day;
use crate::error::{Error, FieldErrors, Result};
use books::cx::Cx;
use books::limits;
use books::periods::Module;
use books::rates;
use books::years::Years;
use schema::tables::DocumentStatus;
use schema::written::Written;
use words::sown::{Fault, sown};

/// What is about to be written of a document.
pub(super) struct Judged<D: Document> {
    content: Kept<D>,
    pub(super) settled: Settled<D::Figures>,
}

impl<D: Document> Judged<D> {
    pub(super) fn asked(&self) -> &D::Asked {
        &self.content.asked
    }

    pub(super) fn written(&self, status: DocumentStatus) -> Result<Written> {
        Written::of(&self.content, status)
    }

    /// What is left when it is written.
    pub(super) fn apart(self) -> (Kept<D>, Settled<D::Figures>) {
        (self.content, self.settled)
    }
}

/// Judges what a document says, for what it is to become.
pub(super) async fn judge<D: Document>(
    cx: &Cx<'_>,
    head: &Head,
    asked: D::Asked,
    purpose: Purpose,
) -> Result<Judged<D>> {
    let settled = D::settle(cx, head, &asked, purpose).await?;
    if purpose == Purpose::Posting {
        limits::check_day(cx, head.date, "date")?;
        check_tax_date::<D>(cx, &asked).await?;
        check_tax_point::<D>(cx, head.date, &asked).await?;
        let currency = settled.total_in.as_ref().unwrap_or(&settled.currency);
        limits::check_total(cx, head.date, (currency, settled.total), settled.base_total).await?;
        if let Some(rate) = D::rate(&asked).filter(|_| D::RATE_IS_JUDGED) {
            rates::check_rate(cx, "exchangeRate", (&settled.currency, rate), head.date).await?;
        }
    }
    if purpose == Purpose::Posting && D::POSTS {
        let periods = cx.periods().await?;
        if settled.stock.is_some() {
            periods.check(Module::Stock, "date", head.date, cx.asker())?;
        }
        if settled.entries.is_empty() {
            periods.check(D::MODULE, "date", head.date, cx.asker())?;
        }
        for entry in &settled.entries {
            periods.check(D::MODULE, entry.field, entry.date, cx.asker())?;
        }
    }
    Ok(Judged { content: Content { asked, figures: settled.figures.clone() }, settled })
}

/// What a posted document that stays as it was asked for comes to by now.
pub(super) fn judged_anew<D: Document>(asked: D::Asked, settled: Settled<D::Figures>) -> Judged<D> {
    Judged { content: Content { asked, figures: settled.figures.clone() }, settled }
}

/// A day that tax counts for is one of the books like any other.
pub(super) async fn check_tax_date<D: Document>(cx: &Cx<'_>, asked: &D::Asked) -> Result<()> {
    let Some(day) = D::tax_date(asked).filter(|_| D::POSTS) else { return Ok(()) };
    limits::check_day(cx, day, "taxDate")?;
    cx.periods().await?.check(D::MODULE, "taxDate", day, cx.asker())
}

/// The tax of a document is told in a return that somebody files: not a year before the document, and not after the end of
/// the fiscal year that follows its own.
async fn check_tax_point<D: Document>(cx: &Cx<'_>, date: Day, asked: &D::Asked) -> Result<()> {
    let Some(day) = D::tax_date(asked).filter(|_| D::POSTS && !sown(Fault::TaxOfAnyDay)) else { return Ok(()) };
    let (business, years) = (cx.business()?, Years::of(cx).await?);
    let (first, last) = (date.plus_months(-12), years.end(business, years.end(business, date).next()));
    if day < first {
        return Err(Error::field("taxDate", format!("must not be before {first}, a year before the document's date")));
    }
    if day > last {
        let why = format!("must not be after {last}, the end of the fiscal year after the document's");
        return Err(Error::field("taxDate", why));
    }
    Ok(())
}

/// Judges the words of a posted document that change. What it named all along may stay: an item may have been archived
/// since. What is answered is kept with the figures that it has.
pub(super) async fn judge_words<D: Document>(
    cx: &Cx<'_>,
    (old_head, old): (&Head, &Kept<D>),
    head: &Head,
    (asked, status): (D::Asked, DocumentStatus),
) -> Result<(Kept<D>, Written)> {
    if let Err(now) = D::settle(cx, head, &asked, Purpose::Draft).await {
        let before = D::settle(cx, old_head, &old.asked, Purpose::Draft).await.err();
        if let Some(fault) = new_fault(now, before) {
            return Err(fault);
        }
    }
    let content = Content { figures: D::reworded(cx, &old.figures, &asked), asked };
    let written = Written::of(&content, status)?;
    Ok((content, written))
}

/// What is wrong now and was not before.
fn new_fault(now: Error, before: Option<Error>) -> Option<Error> {
    match (now, before) {
        (Error::Validation(now), Some(Error::Validation(before))) => {
            let mut new = FieldErrors::default();
            for (field, messages) in now.iter() {
                let known =
                    |message: &String| before.iter().any(|(other, said)| other == field && said.contains(message));
                messages.iter().filter(|message| !known(message)).for_each(|message| new.add(field, message));
            }
            if new.is_empty() { None } else { Some(new.into()) }
        }
        (Error::Conflict(now), Some(Error::Conflict(before))) if now.code == before.code => None,
        (now, _) => Some(now),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_wrong_before_may_stay_and_nothing_else() {
        let faults = |names: &[&str]| {
            let mut faults = FieldErrors::default();
            for name in names {
                faults.add(*name, "names nothing");
            }
            Error::Validation(faults)
        };
        let fresh = |now: &[&str], before: &[&str]| match new_fault(faults(now), Some(faults(before))) {
            Some(Error::Validation(faults)) => faults.iter().map(|(field, _)| field.clone()).collect(),
            _ => Vec::new(),
        };
        assert!(fresh(&["a"], &["a"]).is_empty());
        assert_eq!(fresh(&["a", "b"], &["a"]), ["b"]);
        assert!(new_fault(faults(&["a"]), None).is_some());
        assert!(new_fault(Error::NotFound, Some(faults(&["a"]))).is_some());
    }
}
