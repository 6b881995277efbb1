//! What accounts were debited and credited with over a span of days.
//!
//! Whole months are read from what is kept by month, the days at both ends from what is kept by day: a span costs months
//! and days, however many entries there are. What is asked as it was known earlier is the same less the lines that were
//! recorded since.

use crate::among::among;
use crate::apart::{Apart, numbers_of};
use crate::balances::{last_known, sum};
use crate::cx::{Cx, Point};
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use answers::Ask;
use schema::tables::{EntryKind, account_days, account_months, entry_lines};
use sea_orm::sea_query::{CaseStatement, Expr, ExprTrait, SimpleExpr};
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QuerySelect, Select};
use std::collections::HashMap;
use words::sums::Figure;

/// Days from one to another, both included; from the beginning of the books where nothing is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub from: Option<Day>,
    pub to: Day,
}

/// A span as it is summed up: from what is kept by month, and by its days where a month is not whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts {
    pub months: Option<Months>,
    /// The first and the last day of each rest.
    pub days: Vec<[Day; 2]>,
}

/// Whole months, both included; from the first one on where nothing is said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Months {
    pub first: Option<Day>,
    pub last: Day,
}

impl Months {
    /// Whether a column is one of them.
    pub fn of<C: ColumnTrait>(&self, month: C) -> Condition {
        let until = Condition::all().add(month.lte(self.last.year_and_month()));
        match self.first {
            Some(first) => until.add(month.gte(first.year_and_month())),
            None => until,
        }
    }

    /// Whether a day lies in them.
    pub fn days<C: ColumnTrait>(&self, date: C) -> Condition {
        let until = Condition::all().add(date.lte(self.last.last_of_month()));
        match self.first {
            Some(first) => until.add(date.gte(first.first_of_month())),
            None => until,
        }
    }
}

impl Span {
    pub fn parts(self) -> Parts {
        let Self { from, to } = self;
        let ends_whole = to == to.last_of_month();
        let begins_whole = from.is_none_or(|from| from == from.first_of_month());
        let same = from.is_some_and(|from| from.first_of_month() == to.first_of_month());
        if let (Some(from), true) = (from, same && !(begins_whole && ends_whole)) {
            return Parts { months: None, days: vec![[from, to]] };
        }
        let first = if begins_whole { from } else { from.map(|from| from.last_of_month().next()) };
        let last = if ends_whole { to } else { to.first_of_month().previous() };
        let head = from.filter(|_| !begins_whole).map(|from| [from, from.last_of_month()]);
        let tail = Some([to.first_of_month(), to]).filter(|_| !ends_whole);
        Parts {
            months: Some(Months { first, last }).filter(|_| first.is_none_or(|first| first <= last)),
            days: head.into_iter().chain(tail).collect(),
        }
    }
}

/// What an account was moved by, in the company's currency.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Moved {
    pub debit: i64,
    pub credit: i64,
}

impl Figure for Moved {
    const NOTHING: Self = Self { debit: 0, credit: 0 };
}

impl Moved {
    pub const fn net(self) -> i64 {
        self.debit - self.credit
    }
}

pub type Sums = HashMap<RecordId, Moved>;

answers::of_row! {
    struct Row {
        account_id: RecordId,
        debit: i64,
        credit: i64,
    }
}

/// Those of these accounts that anything was ever posted to.
pub async fn ever_moved(cx: &Cx<'_>, accounts: &[RecordId]) -> Result<Vec<RecordId>> {
    let moved = account_months::Entity::find()
        .select_only()
        .column(account_months::Column::AccountId)
        .filter(account_months::Column::BusinessId.eq(cx.business_id()?))
        .filter(among(cx, account_months::Column::AccountId, accounts.iter().copied()))
        .distinct();
    Ok(moved.column_of(&cx.db).await?)
}

/// What every account was moved by in a span, but for what lies between two years, which is no business of either; and
/// that by itself.
pub async fn sums(cx: &Cx<'_>, span: Span, point: Point, apart: Apart) -> Result<(Sums, Sums)> {
    let mut sums = Sums::new();
    if span.from.is_some_and(|from| from > span.to) {
        return Ok((sums, Sums::new()));
    }
    let (months, days) = parts(span);
    if let Some(months) = months {
        let rows = account_months::Entity::find()
            .select_only()
            .column(account_months::Column::AccountId)
            .column_as(sum(cx, Expr::col(account_months::Column::Debit)), "debit")
            .column_as(sum(cx, Expr::col(account_months::Column::Credit)), "credit")
            .filter(account_months::Column::BusinessId.eq(cx.business_id()?))
            .filter(months)
            .group_by(account_months::Column::AccountId);
        gather(cx, rows, &mut sums, 1).await?;
    }
    if let Some(days) = days {
        let rows = account_days::Entity::find()
            .select_only()
            .column(account_days::Column::AccountId)
            .column_as(sum(cx, Expr::col(account_days::Column::Debit)), "debit")
            .column_as(sum(cx, Expr::col(account_days::Column::Credit)), "credit")
            .filter(account_days::Column::BusinessId.eq(cx.business_id()?))
            .filter(days)
            .group_by(account_days::Column::AccountId);
        gather(cx, rows, &mut sums, 1).await?;
    }
    let known = last_known(cx, point).await?;
    if let Some(known) = known {
        let since = of_lines(cx, span)?.filter(entry_lines::Column::EntryNumber.gt(known));
        gather(cx, since, &mut sums, -1).await?;
    }
    let between = between_years(cx, span, point, apart).await?;
    for (id, years) in &between {
        let of_account = sums.entry(*id).or_default();
        of_account.debit -= years.debit;
        of_account.credit -= years.credit;
    }
    sums.retain(|_, moved| *moved != Moved::default());
    Ok((sums, between))
}

/// What lies between two years, as far as it stands on the days of a span.
pub async fn between_years(cx: &Cx<'_>, span: Span, point: Point, apart: Apart) -> Result<Sums> {
    let mut sums = Sums::new();
    if apart.year_ends {
        gather(cx, of_years(cx, span, last_known(cx, point).await?)?, &mut sums, 1).await?;
    }
    Ok(sums)
}

fn of_years(cx: &Cx<'_>, span: Span, known: Option<i64>) -> Result<Select<entry_lines::Entity>> {
    let of_years = entry_lines::Column::EntryNumber.in_subquery(numbers_of(cx, &[EntryKind::YearEnd])?);
    let lines = of_lines(cx, span)?.filter(of_years);
    Ok(match known {
        Some(known) => lines.filter(entry_lines::Column::EntryNumber.lte(known)),
        None => lines,
    })
}

/// The lines of a span, both sides of each account.
fn of_lines(cx: &Cx<'_>, span: Span) -> Result<Select<entry_lines::Entity>> {
    let side = |sign: i64| -> SimpleExpr {
        let amount = || Expr::col(entry_lines::Column::Amount);
        let positive = if sign > 0 { amount().gt(0) } else { amount().lt(0) };
        CaseStatement::new().case(positive, amount().mul(sign)).finally(0).into()
    };
    let mut rows = entry_lines::Entity::find()
        .select_only()
        .column(entry_lines::Column::AccountId)
        .column_as(sum(cx, side(1)), "debit")
        .column_as(sum(cx, side(-1)), "credit")
        .filter(entry_lines::Column::BusinessId.eq(cx.business_id()?))
        .filter(entry_lines::Column::Date.lte(span.to));
    if let Some(from) = span.from {
        rows = rows.filter(entry_lines::Column::Date.gte(from));
    }
    Ok(rows.group_by(entry_lines::Column::AccountId))
}

async fn gather<E: EntityTrait>(cx: &Cx<'_>, rows: Select<E>, sums: &mut Sums, sign: i64) -> Result<()> {
    for row in rows.read::<Row>(&cx.db).await? {
        let moved = sums.entry(row.account_id).or_default();
        let add = |left: i64, right: i64| left.checked_add(right * sign);
        *moved = add(moved.debit, row.debit)
            .zip(add(moved.credit, row.credit))
            .map(|(debit, credit)| Moved { debit, credit })
            .ok_or_else(|| Error::internal("a sum outgrew its number"))?;
    }
    Ok(())
}

/// The whole months of a span, and the days at its ends.
fn parts(span: Span) -> (Option<Condition>, Option<Condition>) {
    let Parts { months, days } = span.parts();
    let days = days.into_iter().map(|[first, last]| account_days::Column::Date.between(first, last));
    let days = days.fold(Condition::any(), Condition::add);
    (months.map(|months| months.of(account_months::Column::Month)), Some(days).filter(|days| !days.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_whole_months_and_the_days_at_its_ends() {
        let day = |text: &str| text.parse::<Day>().unwrap();
        let told = |from: Option<&str>, to: &str| {
            let Parts { months, days } = Span { from: from.map(day), to: day(to) }.parts();
            let months = months.map(|Months { first, last }| {
                (first.map_or_else(String::new, Day::year_and_month), last.year_and_month())
            });
            let months = months.map_or_else(String::new, |(first, last)| format!("{first}..{last}"));
            let days = days.iter().map(|[first, last]| format!(" {first}..{last}"));
            format!("{months}{}", days.collect::<String>())
        };
        for (from, to, expected) in [
            (Some("2026-01-01"), "2026-12-31", "2026-01..2026-12"),
            (Some("2026-02-01"), "2026-02-28", "2026-02..2026-02"),
            (Some("2026-02-03"), "2026-02-07", " 2026-02-03..2026-02-07"),
            (Some("2026-02-01"), "2026-02-07", " 2026-02-01..2026-02-07"),
            (Some("2026-02-03"), "2026-02-28", " 2026-02-03..2026-02-28"),
            (Some("2026-02-03"), "2026-03-07", " 2026-02-03..2026-02-28 2026-03-01..2026-03-07"),
            (Some("2026-02-03"), "2026-04-07", "2026-03..2026-03 2026-02-03..2026-02-28 2026-04-01..2026-04-07"),
            (Some("2026-02-01"), "2026-04-07", "2026-02..2026-03 2026-04-01..2026-04-07"),
            (Some("2026-02-03"), "2026-04-30", "2026-03..2026-04 2026-02-03..2026-02-28"),
            (None, "2026-04-30", "..2026-04"),
            (None, "2026-04-07", "..2026-03 2026-04-01..2026-04-07"),
        ] {
            assert_eq!(told(from, to), expected, "{from:?} {to}");
        }
    }
}
