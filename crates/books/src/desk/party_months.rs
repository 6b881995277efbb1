//! What the lines of a batch add to the months of parties, and what happens to open items.

use crate::error::{Error, Result};
use crate::ids::{BusinessId, RecordId};
use crate::money::{BookMoney, Money};
use schema::aliases::Named;
use schema::tables::{entry_lines, open_item_moves, party_months};
use std::collections::BTreeMap;

type Key<'r> = (BusinessId, Named, RecordId, &'r str, String);

/// What is added to a month: by lines, in the company's currency and in their own; to open items, in their own and in the
/// company's.
type Sums = [i64; 4];

/// A row a key, in an order that every process shares.
pub(super) fn party_months(
    lines: &[entry_lines::Model],
    moves: &[open_item_moves::Model],
) -> Result<Vec<party_months::Model>> {
    let mut months: BTreeMap<Key<'_>, Sums> = BTreeMap::new();
    let mut add = |key, more: Sums| {
        let sums = months.entry(key).or_default();
        for (sum, more) in sums.iter_mut().zip(more) {
            *sum = sum.checked_add(more).ok_or_else(Error::too_large)?;
        }
        Ok::<(), Error>(())
    };
    for line in lines {
        let Some(party) = line.party_id else { continue };
        let key = (line.business_id, party, line.account_id, line.currency.as_str(), line.date.year_and_month());
        add(key, [line.amount.units(), line.own().units(), 0, 0])?;
    }
    for moved in moves {
        let month = moved.date.year_and_month();
        let key = (moved.business_id, moved.party_id, moved.account_id, moved.currency.as_str(), month);
        add(key, [0, 0, moved.amount.units(), moved.base.units()])?;
    }
    let row = |((business_id, party_id, account_id, currency, month), [amount, own, moved, base]): (Key<'_>, Sums)| {
        party_months::Model {
            business_id,
            party_id,
            account_id,
            currency: currency.to_owned(),
            month,
            amount: BookMoney::from_units(amount),
            currency_amount: Money::from_units(own),
            moved: Money::from_units(moved),
            base_moved: BookMoney::from_units(base),
        }
    };
    Ok(months.into_iter().map(row).collect())
}
