//! What all accounts come to at the ends of several days, asked at once.
//!
//! A report tells of two, three or fifty days. Each day by itself is a sum over the same months; so one question sums them
//! all, and the days within a month are asked only where a day is not the last of one.

use crate::balances::{last_known, sum};
use crate::cx::{Cx, Point};
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use schema::tables::{account_days, account_months, entry_lines};
use sea_orm::sea_query::{CaseStatement, Expr, ExprTrait, IntoColumnRef, SimpleExpr};
use sea_orm::{ColumnTrait, Condition, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect, QueryTrait, Select};
use std::collections::HashMap;

/// What accounts come to, in the company's currency.
pub type Ends = HashMap<RecordId, i64>;

/// The columns of a question: as many days as it tells of.
const PLACES: [&str; 8] = ["at0", "at1", "at2", "at3", "at4", "at5", "at6", "at7"];

/// For each of these days, in their order, what all accounts come to at its end.
pub async fn at_ends(cx: &Cx<'_>, days: &[Day], point: Point) -> Result<Vec<Ends>> {
    let mut asked = days.to_vec();
    asked.sort_unstable();
    asked.dedup();
    let known = last_known(cx, point).await?;
    let mut found: HashMap<Day, Ends> = HashMap::new();
    for some in asked.chunks(PLACES.len()) {
        for (day, ends) in some.iter().zip(of_some(cx, some, known).await?) {
            found.insert(*day, ends);
        }
    }
    let of_day = |day: &Day| found.get(day).cloned().ok_or_else(|| Error::internal("a day was not asked for"));
    days.iter().map(of_day).collect()
}

/// The same where it is known how many days there are.
pub async fn at<const DAYS: usize>(cx: &Cx<'_>, days: [Day; DAYS], point: Point) -> Result<[Ends; DAYS]> {
    let ends = at_ends(cx, &days, point).await?;
    ends.try_into().map_err(|_| Error::internal("other days were told of than were asked for"))
}

/// The same of a few days, each once, in their order.
async fn of_some(cx: &Cx<'_>, days: &[Day], known: Option<i64>) -> Result<Vec<Ends>> {
    let mut ends = vec![Ends::new(); days.len()];
    let whole = account_months::Entity::find()
        .select_only()
        .column(account_months::Column::AccountId)
        .filter(account_months::Column::BusinessId.eq(cx.business_id()?))
        .group_by(account_months::Column::AccountId);
    let net = || Expr::col(account_months::Column::Debit).sub(Expr::col(account_months::Column::Credit));
    gather(cx, told(cx, whole, days, |day| Some(months_to(day)), net), &mut ends, 1).await?;
    if days.iter().any(|day| !is_last(*day)) {
        let parts = account_days::Entity::find()
            .select_only()
            .column(account_days::Column::AccountId)
            .filter(account_days::Column::BusinessId.eq(cx.business_id()?))
            .group_by(account_days::Column::AccountId);
        let net = || Expr::col(account_days::Column::Debit).sub(Expr::col(account_days::Column::Credit));
        gather(cx, told(cx, parts, days, days_to, net), &mut ends, 1).await?;
    }
    if let Some(known) = known {
        let since = entry_lines::Entity::find()
            .select_only()
            .column(entry_lines::Column::AccountId)
            .filter(entry_lines::Column::BusinessId.eq(cx.business_id()?))
            .filter(entry_lines::Column::EntryNumber.gt(known))
            .group_by(entry_lines::Column::AccountId);
        let to = |day: Day| Some(entry_lines::Column::Date.lte(day));
        gather(cx, told(cx, since, days, to, || col(entry_lines::Column::Amount)), &mut ends, -1).await?;
    }
    Ok(ends)
}

fn col(column: impl IntoColumnRef) -> SimpleExpr {
    Expr::col(column)
}

fn is_last(day: Day) -> bool {
    day == day.last_of_month()
}

/// The whole months up to a day.
fn months_to(day: Day) -> SimpleExpr {
    let month = account_months::Column::Month;
    if is_last(day) { month.lte(day.year_and_month()) } else { month.lt(day.year_and_month()) }
}

/// The days up to one within its month; none where the month is whole.
fn days_to(day: Day) -> Option<SimpleExpr> {
    (!is_last(day)).then(|| account_days::Column::Date.between(day.first_of_month(), day))
}

/// A sum for each day of what counts for it, of the rows that count for any.
fn told<E: EntityTrait>(
    cx: &Cx<'_>,
    mut rows: Select<E>,
    days: &[Day],
    counts: impl Fn(Day) -> Option<SimpleExpr>,
    net: impl Fn() -> SimpleExpr,
) -> (Select<E>, Vec<usize>) {
    let mut any = Condition::any();
    let mut places = Vec::new();
    for (place, (name, day)) in PLACES.iter().zip(days).enumerate() {
        let Some(counts) = counts(*day) else { continue };
        any = any.add(counts.clone());
        places.push(place);
        let part: SimpleExpr =
            if days.len() == 1 { net() } else { CaseStatement::new().case(counts, net()).finally(0).into() };
        rows = rows.column_as(sum(cx, part), *name);
    }
    (rows.filter(any), places)
}

async fn gather<E: EntityTrait>(
    cx: &Cx<'_>,
    (rows, places): (Select<E>, Vec<usize>),
    ends: &mut [Ends],
    sign: i64,
) -> Result<()> {
    for row in cx.db.query_all_raw(rows.build(cx.db.get_database_backend())).await? {
        let account: RecordId = row.try_get("", "account_id")?;
        for place in &places {
            let moved: i64 = row.try_get("", PLACES[*place])?;
            if moved == 0 {
                continue;
            }
            let end = ends[*place].entry(account).or_insert(0);
            *end = moved
                .checked_mul(sign)
                .and_then(|moved| end.checked_add(moved))
                .ok_or_else(|| Error::internal("a balance outgrew its number"))?;
        }
    }
    Ok(())
}
