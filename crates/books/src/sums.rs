//! What accounts were debited and credited with over a span of days.
//!
//! Whole months are read from what is kept by month, the days at both ends from what is kept by day: a span costs months
//! and days, however many entries there are. What is asked as it was known earlier is the same less the lines that were
//! recorded since.

use crate::apart::{Apart, numbers_of};
use crate::balances::{last_known, sum};
use crate::cx::{Cx, Point};
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use schema::tables::{EntryKind, account_days, account_months, entry_lines};
use sea_orm::sea_query::{CaseStatement, Expr, ExprTrait, SimpleExpr};
use sea_orm::{ColumnTrait, Condition, EntityTrait, FromQueryResult, QueryFilter, QuerySelect, Select};
use std::collections::HashMap;
use words::sums::Figure;

/// Days from one to another, both included; from the beginning of the books where nothing is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub from: Option<Day>,
    pub to: Day,
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

#[derive(FromQueryResult)]
struct Row {
    account_id: RecordId,
    debit: i64,
    credit: i64,
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
    for row in rows.into_model::<Row>().all(&cx.db).await? {
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
    let month = account_months::Column::Month;
    let day = account_days::Column::Date;
    let begins = span.from.filter(|from| *from != from.first_of_month());
    let ends = Some(span.to).filter(|to| *to != to.last_of_month());
    if let (Some(from), true) =
        (span.from, span.from.is_some_and(|from| from.first_of_month() == span.to.first_of_month()))
        && (begins.is_some() || ends.is_some())
    {
        return (None, Some(Condition::all().add(day.between(from, span.to))));
    }
    let mut months = Condition::all();
    months = match (begins, span.from) {
        (Some(from), _) => months.add(month.gt(from.year_and_month())),
        (None, Some(from)) => months.add(month.gte(from.year_and_month())),
        (None, None) => months,
    };
    months = match ends {
        Some(to) => months.add(month.lt(to.year_and_month())),
        None => months.add(month.lte(span.to.year_and_month())),
    };
    let first = begins.map(|from| day.between(from, from.last_of_month()));
    let last = ends.map(|to| day.between(to.first_of_month(), to));
    let days = [first, last].into_iter().flatten().fold(Condition::any(), Condition::add);
    (Some(months), Some(days).filter(|days| !days.is_empty()))
}
