//! What accounts come to, at any day and as known at any time.
//!
//! A figure is a sum of months and of the days of one month, however many entries there are. What is asked as
//! it was known earlier is the same sum less the lines that were recorded since.

use crate::BEFORE_THE_FIRST;
use crate::cx::{Cx, Point};
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::{BookMoney, Money};
use answers::Ask;
use schema::tables::{account_days, account_months, entries, entry_lines, own_amount};
use sea_orm::sea_query::{Expr, ExprTrait, SimpleExpr};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect, Select};
use std::collections::HashMap;
use words::sums::{Figure, Sums as _};

/// What an account comes to in one currency. Credits are negative.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Balance {
    /// In the company's currency.
    pub base: BookMoney,
    /// In the currency of the lines.
    pub own: Money,
}

/// By account and currency.
pub type Balances = HashMap<(RecordId, String), Balance>;

answers::of_row! {
    struct Sum {
        account_id: RecordId,
        currency: String,
        base: BookMoney,
        own: Money,
    }
}

/// An exact sum: PostgreSQL would make it a decimal.
pub fn sum(cx: &Cx<'_>, expression: SimpleExpr) -> SimpleExpr {
    schema::reader::sum(cx.db.get_database_backend(), expression)
}

/// The same of what may be more than 64 bits hold, in two halves.
pub fn halves(cx: &Cx<'_>, expression: SimpleExpr) -> [SimpleExpr; 2] {
    schema::reader::halves(cx.db.get_database_backend(), expression)
}

/// Balances of these accounts, or of all.
pub async fn balances(cx: &Cx<'_>, accounts: Option<&[RecordId]>, point: Point) -> Result<Balances> {
    let mut balances = Balances::new();
    let mut months = account_months::Entity::find().filter(account_months::Column::BusinessId.eq(cx.business_id()?));
    let mut days = account_days::Entity::find().filter(account_days::Column::BusinessId.eq(cx.business_id()?));
    if let Some(accounts) = accounts {
        months = months.filter(account_months::Column::AccountId.is_in(accounts.iter().copied()));
        days = days.filter(account_days::Column::AccountId.is_in(accounts.iter().copied()));
    }
    if let Some(day) = point.as_of {
        months = months.filter(account_months::Column::Month.lt(day.year_and_month()));
        let within = account_days::Column::Date.between(day.first_of_month(), day);
        let days = days
            .select_only()
            .column(account_days::Column::AccountId)
            .column(account_days::Column::Currency)
            .column_as(sum(cx, net(account_days::Column::Debit, account_days::Column::Credit)), "base")
            .column_as(sum(cx, Expr::col(account_days::Column::CurrencyAmount)), "own")
            .filter(within)
            .group_by(account_days::Column::AccountId)
            .group_by(account_days::Column::Currency);
        gather(cx, days, &mut balances, Balance::plus).await?;
    }
    let months = months
        .select_only()
        .column(account_months::Column::AccountId)
        .column(account_months::Column::Currency)
        .column_as(sum(cx, net(account_months::Column::Debit, account_months::Column::Credit)), "base")
        .column_as(sum(cx, Expr::col(account_months::Column::CurrencyAmount)), "own")
        .group_by(account_months::Column::AccountId)
        .group_by(account_months::Column::Currency);
    gather(cx, months, &mut balances, Balance::plus).await?;
    if let Some(known) = last_known(cx, point).await? {
        let mut later = entry_lines::Entity::find()
            .filter(entry_lines::Column::BusinessId.eq(cx.business_id()?))
            .filter(entry_lines::Column::EntryNumber.gt(known));
        if let Some(accounts) = accounts {
            later = later.filter(entry_lines::Column::AccountId.is_in(accounts.iter().copied()));
        }
        if let Some(day) = point.as_of {
            later = later.filter(entry_lines::Column::Date.lte(day));
        }
        let later = later
            .select_only()
            .column(entry_lines::Column::AccountId)
            .column(entry_lines::Column::Currency)
            .column_as(sum(cx, Expr::col(entry_lines::Column::Amount)), "base")
            .column_as(sum(cx, own_amount()), "own")
            .group_by(entry_lines::Column::AccountId)
            .group_by(entry_lines::Column::Currency);
        gather(cx, later, &mut balances, Balance::minus).await?;
    }
    Ok(balances)
}

fn net(debit: impl sea_orm::sea_query::IntoColumnRef, credit: impl sea_orm::sea_query::IntoColumnRef) -> SimpleExpr {
    Expr::col(debit).sub(Expr::col(credit))
}

/// The number of the last entry that counts: that was recorded by then, or not after another, where that was asked for.
pub async fn last_known(cx: &Cx<'_>, point: Point) -> Result<Option<i64>> {
    let Some(at) = point.known_at else { return Ok(point.until) };
    let last: Option<Option<i64>> = entries::Entity::find()
        .select_only()
        .column_as(entries::Column::Number.max(), "last")
        .filter(entries::Column::BusinessId.eq(cx.business_id()?))
        .filter(entries::Column::RecordedAt.lte(at))
        .into_tuple()
        .one(&cx.db)
        .await?;
    let last = last.flatten().unwrap_or(BEFORE_THE_FIRST);
    Ok(Some(point.until.map_or(last, |until| Ord::min(until, last))))
}

async fn gather<E: EntityTrait>(
    cx: &Cx<'_>,
    rows: Select<E>,
    balances: &mut Balances,
    apply: fn(Balance, Balance) -> Option<Balance>,
) -> Result<()> {
    for row in rows.read::<Sum>(&cx.db).await? {
        let balance = balances.entry((row.account_id, row.currency)).or_default();
        let part = Balance { base: row.base, own: row.own };
        *balance = apply(*balance, part).ok_or_else(|| Error::internal("a balance outgrew its number"))?;
    }
    Ok(())
}

impl Figure for Balance {
    const NOTHING: Self = Self { base: BookMoney::ZERO, own: Money::ZERO };
}

impl Balance {
    pub fn plus(self, other: Self) -> Option<Self> {
        Some(Self { base: self.base.checked_add(other.base)?, own: self.own.checked_add(other.own)? })
    }

    fn minus(self, other: Self) -> Option<Self> {
        Some(Self { base: self.base.checked_sub(other.base)?, own: self.own.checked_sub(other.own)? })
    }
}

/// What one account holds in its currency at the end of a day, and what that is carried at.
pub async fn carried(cx: &Cx<'_>, account: RecordId, currency: &str, day: Day) -> Result<(Money, BookMoney)> {
    let point = Point { as_of: Some(day), ..Point::default() };
    let balances = balances(cx, Some(&[account]), point).await?;
    let balance = balances.sum_of(&(account, currency.to_owned()));
    Ok((balance.own, balance.base))
}
