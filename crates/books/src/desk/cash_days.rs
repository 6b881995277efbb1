//! What entries that move money add to the sums of their days: what the accounts on their other side were moved by.

use crate::chart::Chart;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use schema::tables::{DocumentKind, EntryKind, cash_days, entry_lines};
use std::collections::BTreeMap;

/// What an entry adds; nothing where it moves no money.
pub(super) fn of_entry(
    (document_kind, kind): (DocumentKind, EntryKind),
    lines: &[entry_lines::Model],
    chart: &Chart,
) -> Vec<cash_days::Model> {
    let holds_money = |id: RecordId| chart.account(id).is_some_and(|account| account.r#type.holds_money());
    if !lines.iter().any(|line| holds_money(line.account_id)) {
        return Vec::new();
    }
    let others = lines.iter().filter(|line| !holds_money(line.account_id));
    let row = |line: &entry_lines::Model| cash_days::Model {
        business_id: line.business_id,
        date: line.date,
        account_id: line.account_id,
        document_kind,
        kind,
        amount: line.amount,
    };
    others.map(row).collect()
}

/// What entries add together, a row a key, in an order that every process shares.
pub(super) fn cash_days(rows: Vec<cash_days::Model>) -> Result<Vec<cash_days::Model>> {
    let mut sums: BTreeMap<_, cash_days::Model> = BTreeMap::new();
    for row in rows {
        let key = (row.business_id, row.date, row.account_id, row.document_kind.code(), row.kind.code());
        if let Some(known) = sums.get_mut(&key) {
            known.amount = known.amount.checked_add(row.amount).ok_or_else(Error::too_large)?;
        } else {
            sums.insert(key, row);
        }
    }
    Ok(sums.into_values().collect())
}
