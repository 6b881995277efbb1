//! Where documents stand: what is left of them and how late it is; and as lists ask for it, what finds them, and by what they
//! are counted.
//!
//! A row says it by its stage, and where it has none by its status: no list asks what is open of each of them.

use crate::day::Day;
use crate::error::Result;
use crate::money::{BookMoney, Money};
use books::cx::Cx;
use kit::list::FilterValue;
use schema::some::{is_draft, is_left, is_posted, is_void};
use schema::tables::documents::Column;
use schema::tables::{DocumentKind, DocumentStatus, Stage};
use sea_orm::sea_query::{Expr, ExprTrait, Func, SimpleExpr};
use sea_orm::{ColumnTrait, Condition};

/// What is left of a document, in its currency and in the company's: what is open of it, as far as something was opened;
/// `whole` is what it comes to.
pub(crate) fn left(
    status: DocumentStatus,
    open: Option<(Money, BookMoney)>,
    whole: (Money, BookMoney),
) -> (Money, BookMoney) {
    match (open, status) {
        (Some((open, base_open)), _) => (open.size(), base_open.size()),
        (None, DocumentStatus::Void) => (Money::ZERO, BookMoney::ZERO),
        (None, DocumentStatus::Draft | DocumentStatus::Posted) => whole,
    }
}

/// How many days what is left of a document is overdue.
pub(crate) fn days_overdue(status: DocumentStatus, left: Money, due: Option<Day>, today: Day) -> i64 {
    let waits = status == DocumentStatus::Posted && left != Money::ZERO;
    due.filter(|due| waits && *due < today).iter().map(|due| today.days_since(*due)).sum()
}

/// How documents stand that are asked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    stages: Vec<Stage>,
    statuses: Vec<DocumentStatus>,
    is_overdue: bool,
}

impl Wanted {
    /// What the words of a kind mean.
    pub(crate) fn of(kind: DocumentKind, words: &[String]) -> Self {
        let mut wanted = Self::default();
        for word in words {
            match word.as_str() {
                "draft" => wanted.statuses.push(DocumentStatus::Draft),
                "cancelled" | "void" => wanted.statuses.push(DocumentStatus::Void),
                "posted" if kind.trade().is_none() => wanted.statuses.push(DocumentStatus::Posted),
                "overdue" => wanted.is_overdue = true,
                "partiallyFulfilled" | "partiallyReceived" | "partiallyInvoiced" | "partiallyBilled"
                | "partiallyPaid" | "partiallyAllocated" => wanted.stages.push(Stage::Partial),
                "closed" if kind.is_followed() => wanted.stages.push(Stage::Closed),
                "fulfilled" | "received" | "invoiced" | "billed" | "paid" | "closed" => wanted.stages.push(Stage::Done),
                _ => wanted.stages.push(Stage::Open),
            }
        }
        wanted
    }

    pub(crate) fn condition(&self, cx: &Cx<'_>) -> Result<Condition> {
        let mut any = Condition::any();
        for status in &self.statuses {
            any = any.add(match status {
                DocumentStatus::Draft => is_draft(),
                DocumentStatus::Void => is_void(),
                DocumentStatus::Posted => Column::Status.eq(DocumentStatus::Posted),
            });
        }
        if !self.stages.is_empty() {
            let mut stages = Condition::all().add(Column::Stage.is_in(self.stages.iter().copied()));
            if self.stages.iter().all(|stage| matches!(stage, Stage::Open | Stage::Partial)) {
                stages = stages.add(is_left());
            }
            any = any.add(stages);
        }
        Ok(if self.is_overdue { any.add(late(cx)?) } else { any })
    }

    /// What the counts call them; nothing where that is not counted.
    pub(crate) fn counted(&self) -> Option<Vec<&'static str>> {
        let stages = self.stages.iter().map(|stage| stage.code());
        (!self.is_overdue).then(|| stages.chain(self.statuses.iter().map(|status| status.code())).collect())
    }
}

/// Documents of which something was to be settled before today, and is not. They are looked for among what is left, which is
/// little: no index has the order of an expression, and most of what was due before today is settled.
pub(crate) fn late(cx: &Cx<'_>) -> Result<Condition> {
    let due = || Expr::col(Column::DueDate.as_column_ref());
    let due: SimpleExpr = Func::coalesce([due(), due()]).into();
    Ok(Condition::all().add(is_left()).add(due.lt(cx.today()?)))
}

/// The same of what was to be settled within so many days before today. Those are looked for by when they were due: few bills
/// are of any few days.
pub(crate) fn lately_late(cx: &Cx<'_>, days: i64) -> Result<Condition> {
    let today = cx.today()?;
    let in_the_books = Condition::all().add(is_posted()).add(is_left());
    Ok(in_the_books.add(Column::DueDate.gte(today.plus_days(-days))).add(Column::DueDate.lt(today)))
}

/// All others.
fn not_late(cx: &Cx<'_>) -> Result<Condition> {
    let any = Condition::any().add(Column::Stage.is_null()).add(is_left().not());
    Ok(any.add(Column::DueDate.is_null()).add(Column::DueDate.gte(cx.today()?)))
}

pub(crate) fn overdue(cx: &Cx<'_>, value: &FilterValue) -> Result<Condition> {
    match value {
        FilterValue::Flag(true) => late(cx),
        FilterValue::Flag(false) => not_late(cx),
        _ => Ok(Condition::any()),
    }
}

#[expect(clippy::unnecessary_wraps, reason = "filters that look elsewhere may fail")]
pub(crate) fn due_from(_: &Cx<'_>, value: &FilterValue) -> Result<Condition> {
    let FilterValue::Day(day) = value else { return Ok(Condition::any()) };
    Ok(Condition::all().add(is_posted()).add(Column::DueDate.gte(*day)))
}

#[expect(clippy::unnecessary_wraps, reason = "filters that look elsewhere may fail")]
pub(crate) fn due_to(_: &Cx<'_>, value: &FilterValue) -> Result<Condition> {
    let FilterValue::Day(day) = value else { return Ok(Condition::any()) };
    Ok(Condition::all().add(is_posted()).add(Column::DueDate.lte(*day)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(kind: DocumentKind, words: &[&str]) -> Wanted {
        Wanted::of(kind, &words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_word_means_what_its_kind_says() {
        let stage = |stage| Wanted { stages: vec![stage], ..Wanted::default() };
        for (kind, word, meant) in [
            (DocumentKind::SalesInvoice, "open", stage(Stage::Open)),
            (DocumentKind::SalesInvoice, "paid", stage(Stage::Done)),
            (DocumentKind::CreditNote, "closed", stage(Stage::Done)),
            (DocumentKind::SalesOrder, "closed", stage(Stage::Closed)),
            (DocumentKind::DeliveryNote, "posted", stage(Stage::Open)),
            (DocumentKind::DebitNote, "partiallyAllocated", stage(Stage::Partial)),
            (DocumentKind::Journal, "posted", Wanted { statuses: vec![DocumentStatus::Posted], ..Wanted::default() }),
        ] {
            assert_eq!(wanted(kind, &[word]), meant, "{kind} {word}");
        }
    }

    #[test]
    fn what_is_overdue_is_counted_nowhere() {
        assert_eq!(wanted(DocumentKind::SalesInvoice, &["paid", "overdue"]).counted(), None);
        let counted = wanted(DocumentKind::SalesInvoice, &["partiallyPaid", "void"]).counted();
        assert_eq!(counted, Some(vec![Stage::Partial.code(), DocumentStatus::Void.code()]));
    }
}
