//! What the lines of a batch add to the sums of days, months and parties.

use super::inserting::plain;
use crate::database::rows::{Kept, Rows};
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::{BusinessId, RecordId};
use crate::money::{BookMoney, Money};
use schema::aliases::Named;
use schema::tables::{account_days, account_months, entry_lines, party_balances};
use std::collections::BTreeMap;

#[derive(Default, Clone, Copy)]
struct Turnover {
    debit: i64,
    credit: i64,
    currency: i64,
    lines: i64,
}

impl Turnover {
    pub(super) fn add(&mut self, line: &entry_lines::Model) -> Option<()> {
        let amount = line.amount.units();
        let side = if amount < 0 { &mut self.credit } else { &mut self.debit };
        *side = side.checked_add(amount.checked_abs()?)?;
        self.currency = self.currency.checked_add(line.own().units())?;
        self.lines += 1;
        Some(())
    }
}

/// What the lines add to each day, month and party, in an order that every process shares.
pub(super) fn rollups(lines: &[entry_lines::Model]) -> Result<[Rows; 3]> {
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
        debit: BookMoney::from_units(sums.debit),
        credit: BookMoney::from_units(sums.credit),
        currency_amount: Money::from_units(sums.currency),
        lines: sums.lines,
    });
    let months = months.into_iter().map(|((business_id, account_id, currency, month), sums)| account_months::Model {
        business_id,
        account_id,
        currency: currency.to_owned(),
        month,
        debit: BookMoney::from_units(sums.debit),
        credit: BookMoney::from_units(sums.credit),
        currency_amount: Money::from_units(sums.currency),
        lines: sums.lines,
    });
    let parties = parties.into_iter().map(|((business_id, party_id, account_id, currency), sums)| {
        let amount = BookMoney::from_units(sums.debit).minus(BookMoney::from_units(sums.credit));
        Ok(party_balances::Model {
            business_id,
            party_id,
            account_id,
            currency: currency.to_owned(),
            amount: amount.map_err(|_| Error::too_large())?,
            currency_amount: Money::from_units(sums.currency),
        })
    });
    Ok([
        plain::<account_days::Entity>(days.collect(), Kept::Grows),
        plain::<account_months::Entity>(months.collect(), Kept::Grows),
        plain::<party_balances::Entity>(parties.collect::<Result<_>>()?, Kept::Grows),
    ])
}
