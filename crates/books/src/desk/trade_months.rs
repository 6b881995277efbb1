//! What entries of trade add to the sums of their months: by party, by item, and what their other side comes to.

use super::gathering::NewEntry;
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::{BusinessId, RecordId};
use crate::money::BookMoney;
use schema::aliases::Named;
use schema::tables::{EntryRef, TradeGrouping, TradeSide, entry_lines, trade_months};
use std::collections::BTreeMap;

/// What is turnover: an entry that a document of trade posts or takes back by itself. What books begin with was traded
/// before them, and what is written off was sold all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trade {
    pub party: Option<Named>,
}

/// What an entry adds. A line of a party or of a tax is the other side of the rest.
pub(super) fn of_entry(
    business_id: BusinessId,
    entry: EntryRef,
    new: &NewEntry,
    lines: &[entry_lines::Model],
) -> Result<Vec<trade_months::Model>> {
    match new.trade.zip(new.document.turnover()) {
        Some((trade, side)) => of_lines(business_id, (side, trade.party), entry.date, lines),
        None => Ok(Vec::new()),
    }
}

/// The same by its lines.
pub fn of_lines(
    business_id: BusinessId,
    (side, party): (TradeSide, Option<Named>),
    date: Day,
    lines: &[entry_lines::Model],
) -> Result<Vec<trade_months::Model>> {
    let party = party.map_or(RecordId::NONE, Named::as_written);
    let mut sums: BTreeMap<(TradeGrouping, RecordId), BookMoney> = BTreeMap::new();
    let mut add = |grouping: TradeGrouping, of: RecordId, amount: BookMoney| -> Result<()> {
        let sum = sums.entry((grouping, of)).or_insert(BookMoney::ZERO);
        *sum = sum.checked_add(amount).ok_or_else(Error::too_large)?;
        Ok(())
    };
    for line in lines {
        if line.party_id.is_some() || line.tax_component.is_some() {
            add(TradeGrouping::OtherSide, RecordId::NONE, line.amount)?;
        } else {
            add(TradeGrouping::Party, party, line.amount)?;
            add(TradeGrouping::Item, line.item_id.unwrap_or(RecordId::NONE), line.amount)?;
        }
    }
    let month = date.year_and_month();
    let rows = sums.into_iter().filter(|(_, amount)| *amount != BookMoney::ZERO);
    let rows = rows.map(|((grouping, of_id), amount)| trade_months::Model {
        business_id,
        side: side.to_string(),
        grouping: grouping.to_string(),
        month: month.clone(),
        of_id,
        amount,
    });
    Ok(rows.collect())
}

/// What entries add together, a row a key, in an order that every process shares.
pub fn trade_months(rows: Vec<trade_months::Model>) -> Result<Vec<trade_months::Model>> {
    let mut sums: BTreeMap<_, trade_months::Model> = BTreeMap::new();
    for row in rows {
        let key = (row.business_id, row.side.clone(), row.grouping.clone(), row.month.clone(), row.of_id);
        if let Some(known) = sums.get_mut(&key) {
            known.amount = known.amount.checked_add(row.amount).ok_or_else(Error::too_large)?;
        } else {
            sums.insert(key, row);
        }
    }
    Ok(sums.into_values().collect())
}
