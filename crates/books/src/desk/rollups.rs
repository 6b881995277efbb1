//! What the lines of a batch add to the sums of days, months and parties.

use super::inserting::portions;
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::{BusinessId, RecordId};
use crate::money::Money;
use schema::aliases::Named;
use schema::tables::{account_days, account_months, entry_lines, party_balances};
use sea_orm::sea_query::{Alias, Expr, ExprTrait, OnConflict};
use sea_orm::{ActiveModelTrait, ConnectionTrait, EntityTrait, IntoActiveModel};
use std::collections::BTreeMap;

type Rollups = (Vec<account_days::Model>, Vec<account_months::Model>, Vec<party_balances::Model>);

#[derive(Default, Clone, Copy)]
struct Turnover {
    debit: i64,
    credit: i64,
    pub(super) currency: i64,
}

impl Turnover {
    pub(super) fn add(&mut self, line: &entry_lines::Model) -> Option<()> {
        let amount = line.amount.units();
        let side = if amount < 0 { &mut self.credit } else { &mut self.debit };
        *side = side.checked_add(amount.checked_abs()?)?;
        self.currency = self.currency.checked_add(line.currency_amount.units())?;
        Some(())
    }
}

/// What the lines add to each day, month and party, in an order that every process shares.
pub(super) fn rollups(lines: &[entry_lines::Model]) -> Result<Rollups> {
    let mut days: BTreeMap<(BusinessId, RecordId, &str, Day), Turnover> = BTreeMap::new();
    let mut months: BTreeMap<(BusinessId, RecordId, &str, String), Turnover> = BTreeMap::new();
    let mut parties: BTreeMap<(BusinessId, Named, RecordId, &str), Turnover> = BTreeMap::new();
    for line in lines {
        let (business, account, currency) = (line.business_id, line.account_id, line.currency.as_str());
        let mut added = days.entry((business, account, currency, line.date)).or_default().add(line);
        let month = (business, account, currency, line.date.year_and_month());
        added = added.and(months.entry(month).or_default().add(line));
        if let Some(party) = line.party_id {
            added = added.and(parties.entry((business, party, account, currency)).or_default().add(line));
        }
        added.ok_or_else(Error::too_large)?;
    }
    let days = days.into_iter().map(|((business_id, account_id, currency, date), sums)| account_days::Model {
        business_id,
        account_id,
        currency: currency.to_owned(),
        date,
        debit: Money::from_units(sums.debit),
        credit: Money::from_units(sums.credit),
        currency_amount: Money::from_units(sums.currency),
    });
    let months = months.into_iter().map(|((business_id, account_id, currency, month), sums)| account_months::Model {
        business_id,
        account_id,
        currency: currency.to_owned(),
        month,
        debit: Money::from_units(sums.debit),
        credit: Money::from_units(sums.credit),
        currency_amount: Money::from_units(sums.currency),
    });
    let parties = parties.into_iter().map(|((business_id, party_id, account_id, currency), sums)| {
        let amount = Money::from_units(sums.debit).minus(Money::from_units(sums.credit));
        Ok(party_balances::Model {
            business_id,
            party_id,
            account_id,
            currency: currency.to_owned(),
            amount: amount.map_err(|_| Error::too_large())?,
            currency_amount: Money::from_units(sums.currency),
        })
    });
    Ok((days.collect(), months.collect(), parties.collect::<Result<_>>()?))
}

/// Adds to the sums of rows that may be there already.
pub(super) async fn add_all<E>(
    connection: &impl ConnectionTrait,
    rows: Vec<E::Model>,
    same: &[E::Column],
    sums: &[E::Column],
) -> Result<()>
where
    E: EntityTrait,
    E::ActiveModel: ActiveModelTrait<Entity = E>,
    E::Model: IntoActiveModel<E::ActiveModel>,
{
    let mut conflict = OnConflict::columns(same.iter().copied());
    for &sum in sums {
        let added = Expr::col((Alias::new("excluded"), sum));
        conflict.value(sum, Expr::col((E::default(), sum)).add(added));
    }
    for portion in portions(rows, same.len() + sums.len()) {
        E::insert_many(portion.into_iter().map(IntoActiveModel::into_active_model))
            .on_conflict(conflict.clone())
            .exec_without_returning(connection)
            .await?;
    }
    Ok(())
}

pub(super) async fn add_days(connection: &impl ConnectionTrait, rows: Vec<account_days::Model>) -> Result<()> {
    use account_days::Column::{AccountId, BusinessId, Credit, Currency, CurrencyAmount, Date, Debit};
    let same = [BusinessId, AccountId, Currency, Date];
    add_all::<account_days::Entity>(connection, rows, &same, &[Debit, Credit, CurrencyAmount]).await
}

pub(super) async fn add_months(connection: &impl ConnectionTrait, rows: Vec<account_months::Model>) -> Result<()> {
    use account_months::Column::{AccountId, BusinessId, Credit, Currency, CurrencyAmount, Debit, Month};
    let same = [BusinessId, AccountId, Currency, Month];
    add_all::<account_months::Entity>(connection, rows, &same, &[Debit, Credit, CurrencyAmount]).await
}

pub(super) async fn add_parties(connection: &impl ConnectionTrait, rows: Vec<party_balances::Model>) -> Result<()> {
    use party_balances::Column::{AccountId, Amount, BusinessId, Currency, CurrencyAmount, PartyId};
    let same = [BusinessId, PartyId, AccountId, Currency];
    add_all::<party_balances::Entity>(connection, rows, &same, &[Amount, CurrencyAmount]).await
}
