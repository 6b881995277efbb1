//! Where the lines of a page stand: found by how many lines accounts have in a month and on a day, so that a page costs its
//! own lines and those of one day before them, however long the books are.

use super::{lies_between, lies_within};
use crate::asked::{Asked, Fixed, Mark};
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::lines::{after, alone, amount};
use answers::Ask;
use books::balances::{last_known, sum};
use books::cx::Cx;
use schema::tables::{account_days, account_months, entry_lines};
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Select};
use std::collections::HashMap;
use words::sums::SummedUp as _;

/// Lines of an account that follow each other: of a month, or of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) first: Day,
    pub(super) last: Day,
    pub(super) lines: i64,
    pub(super) amount: i64,
}

/// What of an account is asked for: what lies on its days, in their order, and what lies between two years, which comes last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) stretches: Vec<Stretch>,
    pub(super) between: (i64, i64),
}

impl Held {
    fn within(&self) -> (i64, i64) {
        self.stretches.iter().fold((0, 0), |(lines, amount), one| (lines + one.lines, amount + one.amount))
    }

    pub(super) fn lines(&self) -> i64 {
        self.within().0 + self.between.0
    }
}

/// What every account holds of what is asked for.
pub(super) type All = HashMap<RecordId, Held>;

/// The first line of a page, as it is found: so many lines after the beginning of a day, or of what lies between two years.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) account: RecordId,
    /// The days that it is looked for in; none where it lies between two years.
    pub(super) among: Option<Stretch>,
    pub(super) passed: i64,
    /// What the lines of the account come to before that.
    pub(super) before: i64,
}

/// Where the line stands that comes after so many others, account by account.
pub(super) fn place(accounts: impl Iterator<Item = RecordId>, all: &All, mut passed: i64) -> Option<Place> {
    for account in accounts {
        let Some(held) = all.get(&account) else { continue };
        if passed >= held.lines() {
            passed -= held.lines();
            continue;
        }
        let mut before = 0;
        for stretch in &held.stretches {
            if passed < stretch.lines {
                return Some(Place { account, among: Some(*stretch), passed, before });
            }
            (passed, before) = (passed - stretch.lines, before + stretch.amount);
        }
        return Some(Place { account, among: None, passed, before });
    }
    None
}

answers::of_row! {
    struct OfMonth {
        account_id: RecordId,
        month: String,
        lines: i64,
        amount: i64,
    }
}

answers::of_row! {
    struct OfDay {
        account_id: RecordId,
        date: Day,
        lines: i64,
        amount: i64,
    }
}

fn of_account<E: EntityTrait>(rows: Select<E>, column: E::Column, account: Option<RecordId>) -> Select<E> {
    match account {
        Some(account) => rows.filter(column.eq(account)),
        None => rows,
    }
}

/// What is asked for of every account, or of the one that is asked for.
pub(super) async fn held(cx: &Cx<'_>, asked: &Asked, fixed: &Fixed) -> Result<All> {
    let parts = asked.span.parts();
    let mut all = All::new();
    if let Some(months) = parts.months {
        let rows = account_months::Entity::find()
            .select_only()
            .column(account_months::Column::AccountId)
            .column(account_months::Column::Month)
            .column_as(sum(cx, Expr::col(account_months::Column::Lines)), "lines")
            .column_as(
                sum(cx, Expr::col(account_months::Column::Debit).sub(Expr::col(account_months::Column::Credit))),
                "amount",
            )
            .filter(account_months::Column::BusinessId.eq(cx.business_id()?))
            .filter(months.of(account_months::Column::Month))
            .group_by(account_months::Column::AccountId)
            .group_by(account_months::Column::Month);
        for row in of_account(rows, account_months::Column::AccountId, asked.account).read::<OfMonth>(&cx.db).await? {
            let first: Day = format!("{}-01", row.month).parse().map_err(Error::internal)?;
            let stretch = Stretch { first, last: first.last_of_month(), lines: row.lines, amount: row.amount };
            all.entry(row.account_id).or_default().stretches.push(stretch);
        }
    }
    for days in parts.days {
        for (account, stretch) in days_of(cx, days, asked.account).await? {
            all.entry(account).or_default().stretches.push(stretch);
        }
    }
    for held in all.values_mut() {
        held.stretches.sort_unstable_by_key(|stretch| stretch.first);
    }
    for row in unknown(cx, asked, None).await? {
        take(&mut all, &row);
    }
    for row in between(cx, asked, fixed, None).await? {
        take(&mut all, &row);
        let held = all.entry(row.account_id).or_default();
        held.between = (held.between.0 + row.lines, held.between.1 + row.amount);
    }
    Ok(all)
}

/// What of a stretch is no line of its days.
fn take(all: &mut All, row: &OfDay) {
    let stretches = all.get_mut(&row.account_id).into_iter().flat_map(|held| &mut held.stretches);
    for stretch in stretches.filter(|stretch| (stretch.first..=stretch.last).contains(&row.date)) {
        stretch.lines -= row.lines;
        stretch.amount -= row.amount;
    }
}

async fn days_of(cx: &Cx<'_>, [first, last]: [Day; 2], account: Option<RecordId>) -> Result<Vec<(RecordId, Stretch)>> {
    let rows = account_days::Entity::find()
        .select_only()
        .column(account_days::Column::AccountId)
        .column(account_days::Column::Date)
        .column_as(sum(cx, Expr::col(account_days::Column::Lines)), "lines")
        .column_as(
            sum(cx, Expr::col(account_days::Column::Debit).sub(Expr::col(account_days::Column::Credit))),
            "amount",
        )
        .filter(account_days::Column::BusinessId.eq(cx.business_id()?))
        .filter(account_days::Column::Date.between(first, last))
        .group_by(account_days::Column::AccountId)
        .group_by(account_days::Column::Date)
        .order_by_asc(account_days::Column::Date);
    let rows = of_account(rows, account_days::Column::AccountId, account).read::<OfDay>(&cx.db).await?;
    let stretch = |row: OfDay| {
        (row.account_id, Stretch { first: row.date, last: row.date, lines: row.lines, amount: row.amount })
    };
    Ok(rows.into_iter().map(stretch).collect())
}

/// How many lines an account has on each day.
fn by_day(cx: &Cx<'_>, lines: Select<entry_lines::Entity>) -> Select<entry_lines::Entity> {
    lines
        .column(entry_lines::Column::AccountId)
        .column(entry_lines::Column::Date)
        .column_as(entry_lines::Column::Position.count(), "lines")
        .column_as(amount(cx), "amount")
        .group_by(entry_lines::Column::AccountId)
        .group_by(entry_lines::Column::Date)
}

/// Lines that were recorded after what is asked for was known.
async fn unknown(cx: &Cx<'_>, asked: &Asked, account: Option<RecordId>) -> Result<Vec<OfDay>> {
    let Some(known) = last_known(cx, asked.point).await? else { return Ok(Vec::new()) };
    let mut since = entry_lines::Entity::find()
        .select_only()
        .filter(entry_lines::Column::BusinessId.eq(cx.business_id()?))
        .filter(entry_lines::Column::Date.lte(asked.span.to))
        .filter(entry_lines::Column::EntryNumber.gt(known));
    if let Some(from) = asked.span.from {
        since = since.filter(entry_lines::Column::Date.gte(from));
    }
    let since = of_account(since, entry_lines::Column::AccountId, account.or(asked.account));
    Ok(by_day(cx, since).read(&cx.db).await?)
}

/// Lines that lie between two years.
async fn between(cx: &Cx<'_>, asked: &Asked, fixed: &Fixed, account: Option<RecordId>) -> Result<Vec<OfDay>> {
    if fixed.between.is_empty() {
        return Ok(Vec::new());
    }
    let lines = alone(cx, asked.span, asked).await?.filter(lies_between(fixed));
    let lines = of_account(lines, entry_lines::Column::AccountId, account.or(asked.account));
    Ok(by_day(cx, lines).read(&cx.db).await?)
}

/// Where a portion of lines begins: within an account, from a day on or after a line of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Begin {
    pub(super) account: RecordId,
    /// Whether it begins with what lies between two years.
    pub(super) between: bool,
    pub(super) from: Option<Day>,
    pub(super) after: Option<Mark>,
}

impl Begin {
    pub(super) fn after(mark: &Mark) -> Self {
        Self { account: mark.account, between: mark.between, from: None, after: Some(mark.clone()) }
    }
}

/// Where a page begins, and what its first account comes to before that.
pub(super) async fn begin(cx: &Cx<'_>, asked: &Asked, fixed: &Fixed, place: Place) -> Result<(Begin, i64)> {
    let place = on_its_day(cx, asked, fixed, place).await?;
    let Place { account, among, passed, before } = place;
    let begin = Begin { account, between: among.is_none(), from: among.map(|day| day.first), after: None };
    if passed == 0 {
        return Ok((begin, before));
    }
    let mut lines = alone(cx, asked.span, asked).await?.filter(entry_lines::Column::AccountId.eq(account));
    if let Some(day) = among {
        lines = lines.filter(entry_lines::Column::Date.eq(day.first));
    }
    if !fixed.between.is_empty() {
        lines = lines.filter(if begin.between { lies_between(fixed) } else { lies_within(fixed) });
    }
    let last: Vec<(Day, i64, i64)> = lines
        .clone()
        .columns([entry_lines::Column::Date, entry_lines::Column::EntryNumber, entry_lines::Column::Position])
        .order_by_asc(entry_lines::Column::Date)
        .order_by_asc(entry_lines::Column::EntryNumber)
        .order_by_asc(entry_lines::Column::Position)
        .offset(u64::try_from(passed - 1).map_err(Error::internal)?)
        .limit(1)
        .read(&cx.db)
        .await?;
    let Some((date, number, position)) = last.into_iter().next() else {
        return Err(Error::internal("an account has fewer lines than are counted"));
    };
    let mark = Mark { account, date, number, position, between: begin.between, ..Mark::default() };
    let before_it = match among {
        // By the numbers of entries, which the index has within a day.
        Some(_) => Condition::all().add(entry_lines::Column::EntryNumber.lte(number)).add(
            Condition::any()
                .add(entry_lines::Column::EntryNumber.lt(number))
                .add(entry_lines::Column::Position.lte(position)),
        ),
        None => after(&mark).not(),
    };
    let there: Vec<Option<i64>> = lines.filter(before_it).column_as(amount(cx), "amount").column_of(&cx.db).await?;
    Ok((Begin { after: Some(mark), ..begin }, before + there.into_iter().next().summed_up()))
}

/// The same place, looked for on one day.
async fn on_its_day(cx: &Cx<'_>, asked: &Asked, fixed: &Fixed, place: Place) -> Result<Place> {
    let Some(month) = place.among.filter(|one| one.first != one.last) else { return Ok(place) };
    let only = Some(place.account);
    let days = days_of(cx, [month.first, month.last], only).await?;
    let days = days.into_iter().map(|(_, day)| day).collect();
    let mut all = All::from([(place.account, Held { stretches: days, between: (0, 0) })]);
    let (unknown, between) = (unknown(cx, asked, only).await?, between(cx, asked, fixed, only).await?);
    for row in unknown.iter().chain(&between) {
        take(&mut all, row);
    }
    let found = self::place([place.account].into_iter(), &all, place.passed);
    let found = found.ok_or_else(|| Error::internal("a month has fewer lines than are counted"))?;
    Ok(Place { before: place.before + found.before, ..found })
}

#[cfg(test)]
mod tests {
    use super::super::super::samples::id;
    use super::*;

    fn stretch(month: u8, lines: i64, amount: i64) -> Stretch {
        let first: Day = format!("2026-{month:02}-01").parse().unwrap();
        Stretch { first, last: first.last_of_month(), lines, amount }
    }

    #[test]
    fn a_line_stands_in_the_month_that_it_is_counted_into() {
        let all = All::from([
            (id(1), Held { stretches: vec![stretch(1, 3, 30), stretch(2, 0, 0), stretch(4, 2, 5)], between: (2, 7) }),
            (id(3), Held { stretches: vec![stretch(1, 1, 9)], between: (0, 0) }),
        ]);
        let at = |passed| place([id(1), id(2), id(3)].into_iter(), &all, passed);
        let found = |account, among, passed, before| Some(Place { account: id(account), among, passed, before });
        assert_eq!(at(0), found(1, Some(stretch(1, 3, 30)), 0, 0));
        assert_eq!(at(2), found(1, Some(stretch(1, 3, 30)), 2, 0));
        assert_eq!(at(3), found(1, Some(stretch(4, 2, 5)), 0, 30));
        assert_eq!(at(5), found(1, None, 0, 35));
        assert_eq!(at(6), found(1, None, 1, 35));
        assert_eq!(at(7), found(3, Some(stretch(1, 1, 9)), 0, 0));
        assert_eq!(at(8), None);
    }
}
