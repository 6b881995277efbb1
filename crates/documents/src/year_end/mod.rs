//! Closing a year and opening it again.
//!
//! What the year earned is brought to the retained earnings by a journal that the books make by themselves, on its last
//! day. It lies between the year and the next: no report counts it among the movements of either.

use crate::day::Day;
use crate::document::{self, Draft, Head};
use crate::error::{Code, Conflict, Error, FieldErrors, Result};
use crate::fiscal_year::{FiscalYearView, FiscalYears};
use crate::ids::RecordId;
use crate::journal::{JournalAsked, JournalKind, Journals};
use crate::money::BookMoney;
use answers::Ask;
use books::balances::{Balances, balances};
use books::chart::Chart;
use books::cx::{Cx, Point};
use kit::extra::{Act, Extra, NoWords, action};
use kit::master::{self, Columns};
use kit::resource::Resource;
use kit::rows::Rows;
use rules::account::AccountClass;
use schema::fiscal_year::FiscalYearStatus;
use schema::fiscal_year::{self as table, Column};
use schema::rights::Action;
use schema::tables::documents;
use schema::tables::{DocumentKind, DocumentStatus};
use sea_orm::{ColumnTrait, QueryFilter, QueryOrder, Value};
use std::collections::BTreeMap;
use words::sown::{Fault, sown};

pub(crate) fn extras() -> Vec<Extra> {
    vec![action::<Close>(), action::<Reopen>()]
}

struct Close;

impl Act for Close {
    type Resource = FiscalYears;
    type Answers = FiscalYears;
    type Input = NoWords;
    type Words = ();
    const NAME: &'static str = "Close";
    const SEGMENT: &'static str = "close";
    const ACTION: Action = Action::Edit;
    const SUMMARY: &'static str = "Close {one}";
    const DESCRIPTION: &'static str = "Brings what the year earned to the retained earnings, by a journal of kind `closing` \
                                       on its last day, and closes it for everybody. No figure of a report changes by it. \
                                       Years are closed in their order.";

    fn check(_: NoWords) -> Result<(), FieldErrors> {
        Ok(())
    }

    async fn run(cx: &Cx<'_>, id: RecordId, (): &()) -> Result<FiscalYearView> {
        cx.flush().await?;
        let year = year(cx, id).await?;
        cx.check_expectation(id, year.version)?;
        if year.status == FiscalYearStatus::Closed {
            return Err(invalid_state("The fiscal year is closed already".into()));
        }
        let earlier = table::Entity::find()
            .filter(FiscalYears::reach(cx)?)
            .filter(Column::Ends.lt(year.starts))
            .filter(Column::Status.ne(FiscalYearStatus::Closed))
            .order_by_asc(Column::Starts);
        if let Some(earlier) = earlier.model(&cx.db).await? {
            return Err(invalid_state(format!("Close the fiscal year {} first: it is before this one", earlier.name)));
        }
        if let Some(later) = closed_after(cx, year.ends).await? {
            return Err(invalid_state(format!("Reopen the fiscal year {} first: it is after this one", later.name)));
        }
        let amounts = what_closes(cx, &year).await?;
        if !amounts.is_empty() {
            let head = Head {
                date: year.ends,
                status: Some(DocumentStatus::Posted),
                number: None,
                series: None,
                reference: None,
                narration: Some(format!("Year end of {}", year.name)),
                external_id: None,
                tags: Vec::new(),
            };
            document::create::<Journals>(cx, &Draft { head, asked: JournalAsked::closing(id, amounts) }).await?;
        }
        set_status(cx, year, FiscalYearStatus::Closed).await
    }
}

struct Reopen;

impl Act for Reopen {
    type Resource = FiscalYears;
    type Answers = FiscalYears;
    type Input = NoWords;
    type Words = ();
    const NAME: &'static str = "Reopen";
    const SEGMENT: &'static str = "reopen";
    const ACTION: Action = Action::Edit;
    const SUMMARY: &'static str = "Reopen {one}";
    const DESCRIPTION: &'static str = "Opens a closed year again: what closed it is taken back on the same day. The newest \
                                       closed year is reopened first.";

    fn check(_: NoWords) -> Result<(), FieldErrors> {
        Ok(())
    }

    async fn run(cx: &Cx<'_>, id: RecordId, (): &()) -> Result<FiscalYearView> {
        cx.flush().await?;
        let year = year(cx, id).await?;
        cx.check_expectation(id, year.version)?;
        if year.status != FiscalYearStatus::Closed {
            return Err(invalid_state("The fiscal year is not closed".into()));
        }
        if let Some(later) = closed_after(cx, year.ends).await? {
            return Err(invalid_state(format!("Reopen the fiscal year {} first: it is after this one", later.name)));
        }
        let ends = year.ends;
        // Opened first, since nothing is taken back in a closed year.
        let view = set_status(cx, year, FiscalYearStatus::Open).await?;
        let journals = documents::Entity::find()
            .filter(documents::Column::BusinessId.eq(cx.business_id()?))
            .filter(documents::Column::Kind.eq(DocumentKind::Journal))
            .filter(documents::Column::Subkind.eq(JournalKind::Closing.as_str()))
            .filter(documents::Column::Status.eq(DocumentStatus::Posted))
            .filter(documents::Column::Date.eq(ends));
        for row in journals.models(&cx.db).await? {
            let old = document::load::<Journals>(cx, row.id).await?;
            if old.content.asked.closes(id) {
                cx.require(Journals::KEY, Action::Void)?;
                document::void(cx, old, Some(ends), Some("The year was reopened".into())).await?;
            }
        }
        Ok(view)
    }
}

/// The newest closed year after a day.
async fn closed_after(cx: &Cx<'_>, day: Day) -> Result<Option<table::Model>> {
    let later = table::Entity::find()
        .filter(FiscalYears::reach(cx)?)
        .filter(Column::Starts.gt(day))
        .filter(Column::Status.eq(FiscalYearStatus::Closed))
        .order_by_desc(Column::Starts);
    Ok(later.model(&cx.db).await?)
}

/// What a body says of the state of a year.
pub(crate) fn status_of(draft: &Columns<Column>) -> Option<FiscalYearStatus> {
    match draft.get(Column::Status) {
        Some(Value::String(Some(text))) => text.parse().ok(),
        _ => None,
    }
}

/// Changes what a body may change: not whether the year is closed, and not the days of one that is, since what closed it
/// lies on the last of them.
pub(crate) async fn replace(cx: &Cx<'_>, id: RecordId, draft: &Columns<Column>) -> Result<FiscalYearView> {
    let row = year(cx, id).await?;
    cx.check_expectation(id, row.version)?;
    let was_closed = row.status == FiscalYearStatus::Closed;
    if was_closed != (status_of(draft) == Some(FiscalYearStatus::Closed)) {
        let (title, why) = if was_closed {
            ("A closed fiscal year is reopened by its action", "must stay closed; reopen the year by its action")
        } else {
            ("A fiscal year is closed by its action", "must be open or softClosed; close the year by its action")
        };
        let errors = FieldErrors::one("status", why);
        return Err(Error::Conflict(Conflict { code: Code::InvalidState, title: title.into(), errors }));
    }
    if was_closed {
        let mut errors = FieldErrors::default();
        for (field, column, day) in [("start", Column::Starts, row.starts), ("end", Column::Ends, row.ends)] {
            if draft.get(column) != Some(&Value::from(day)) {
                errors.add(field, format!("must stay {day} while the year is closed"));
            }
        }
        if !errors.is_empty() {
            let title = "The fiscal year is closed; reopen it first".into();
            return Err(Error::Conflict(Conflict { code: Code::InUse, title, errors }));
        }
    }
    master::update::<FiscalYears>(cx, id, draft).await
}

/// Refuses to let go of what closed a year while it is closed.
pub(crate) async fn check_goes(cx: &Cx<'_>, closes: RecordId) -> Result<()> {
    let of = table::Entity::find().filter(FiscalYears::reach(cx)?).filter(Column::Id.eq(closes));
    match of.filter(Column::Status.eq(FiscalYearStatus::Closed)).model(&cx.db).await? {
        None => Ok(()),
        Some(year) => {
            let title = format!("It closed the fiscal year {}; reopen that instead", year.name);
            Err(Error::conflict(Code::InUse, title))
        }
    }
}

fn invalid_state(why: String) -> Error {
    Error::conflict(Code::InvalidState, why)
}

async fn year(cx: &Cx<'_>, id: RecordId) -> Result<table::Model> {
    table::Entity::find()
        .filter(FiscalYears::reach(cx)?)
        .filter(Column::Id.eq(id))
        .model(&cx.db)
        .await?
        .ok_or(Error::NotFound)
}

/// What brings every account of income and expense to nothing at the end of a year, and what it earned to the retained
/// earnings.
async fn what_closes(cx: &Cx<'_>, year: &table::Model) -> Result<Vec<(RecordId, BookMoney)>> {
    let chart = cx.chart().await?;
    let is_earned = |class| matches!(class, AccountClass::Income | AccountClass::Expense);
    let earned: Vec<RecordId> = chart
        .accounts()
        .filter(|account| !account.is_group && is_earned(account.r#type.class()))
        .map(|account| account.id)
        .collect();
    closing(&chart, balances(cx, Some(&earned), Point { as_of: Some(year.ends), ..Point::default() }).await?)
}

/// The same, given what these accounts come to.
fn closing(chart: &Chart, at_end: Balances) -> Result<Vec<(RecordId, BookMoney)>> {
    let mut sums: BTreeMap<&str, (RecordId, BookMoney)> = BTreeMap::new();
    for ((id, _), balance) in at_end {
        let Some(account) = chart.account(id) else { continue };
        let (_, sum) = sums.entry(&account.code).or_insert((id, BookMoney::ZERO));
        *sum = sum.checked_add(balance.base).ok_or_else(Error::too_large)?;
    }
    let mut profit = BookMoney::ZERO;
    let mut amounts = Vec::new();
    for (id, sum) in sums.into_values().filter(|(_, sum)| *sum != BookMoney::ZERO) {
        profit = profit.checked_add(sum).ok_or_else(Error::too_large)?;
        amounts.push((id, sum.negated()));
    }
    if sown(Fault::YearEndTurned) {
        profit = profit.negated();
        for (_, amount) in &mut amounts {
            *amount = amount.negated();
        }
    }
    if profit != BookMoney::ZERO {
        amounts.push((chart.roles().retained_earnings.id(), profit));
    }
    Ok(amounts)
}

async fn set_status(cx: &Cx<'_>, year: table::Model, status: FiscalYearStatus) -> Result<FiscalYearView> {
    let mut row = Columns::new();
    row.set(Column::Starts, year.starts);
    row.set(Column::Ends, year.ends);
    row.set(Column::Status, status);
    master::update::<FiscalYears>(cx, year.id, &row).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{id, worth};
    use books::balances::Balance;

    /// What closes accounts that come to this: the lines, and the retained earnings.
    fn closed(of: &[(u128, &str, &str)]) -> String {
        let balance = |(code, currency, base): &(u128, &str, &str)| {
            ((id(*code), (*currency).to_owned()), Balance { base: worth(base), ..Balance::default() })
        };
        let amounts = closing(&books::chart::sample(), of.iter().map(balance).collect()).unwrap();
        let shown = amounts.iter().map(|(account, amount)| format!("{} {amount}", account.0.as_u128()));
        shown.collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn a_year_brings_what_it_earned_to_the_retained_earnings() {
        for (name, balances, lines) in [
            ("6.1", &[(4000, "EUR", "-1000"), (6000, "EUR", "300")][..], "4000 1000; 6000 -300; 3200 -700"),
            ("6.2", &[(4000, "EUR", "-1000"), (6000, "EUR", "350")], "4000 1000; 6000 -350; 3200 -650"),
            ("a loss", &[(4000, "EUR", "-100"), (6000, "EUR", "350")], "4000 100; 6000 -350; 3200 250"),
            ("neither", &[(4000, "EUR", "-350"), (6000, "EUR", "350")], "4000 350; 6000 -350"),
            ("nothing was earned or spent", &[], ""),
            ("what came back to nothing", &[(4000, "EUR", "0"), (6000, "EUR", "5")], "6000 -5; 3200 5"),
            // In whatever currencies: an account is closed by one line, in the company's.
            (
                "abroad",
                &[(4000, "EUR", "-100"), (4000, "USD", "-90"), (6000, "GBP", "12")],
                "4000 190; 6000 -12; 3200 -178",
            ),
            ("one currency against another", &[(4000, "EUR", "-90"), (4000, "USD", "90")], ""),
        ] {
            assert_eq!(closed(balances), lines, "{name}");
        }
    }
}
