//! An allocation as a record of its own.

use super::wire::currencies;
use crate::day::Day;
use crate::error::Result;
use crate::ids::RecordId;
use crate::money::Amount;
use kit::master::RecordKeeping;
use schema::aliases::Aliases;
use schema::settled::Settled;
use schema::tables::allocations;
use schemars::JsonSchema;
use serde::Serialize;

/// An allocation by itself, as the lists of them show it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Allocation")]
pub struct AllocationRecord {
    #[serde(flatten)]
    pub(crate) keeping: RecordKeeping,
    /// The party on both sides.
    pub(crate) party_id: RecordId,
    /// What settles.
    pub(crate) source_type: Settled,
    /// The document that settles, or the line of a journal.
    pub(crate) source_id: RecordId,
    /// What is settled.
    pub(crate) target_type: Settled,
    /// The document that is settled, or the line of a journal.
    pub(crate) target_id: RecordId,
    /// The currency of what is settled.
    pub(crate) currency: String,
    /// How much of it is settled.
    pub(crate) amount: Amount,
    /// The currency of what settles.
    pub(crate) source_currency: String,
    /// What is used up for that.
    pub(crate) source_amount: Amount,
    /// The day it counts for.
    pub(crate) date: Day,
    /// What was taken off beside the amount, for paying early.
    pub(crate) discount_amount: Amount,
    /// What was written off beside the amount.
    pub(crate) write_off_amount: Amount,
    /// Where it was written off to.
    pub(crate) write_off_account_id: Option<RecordId>,
    /// What was kept back as tax beside the amount.
    pub(crate) withheld_amount: Amount,
    /// What was gained by the exchange, in the company's currency; a loss is negative.
    pub(crate) fx_gain_loss: Amount,
    /// The ledger entry it made, if it had to.
    pub(crate) entry_id: Option<RecordId>,
}

impl AsRef<RecordKeeping> for AllocationRecord {
    fn as_ref(&self) -> &RecordKeeping {
        &self.keeping
    }
}

impl AllocationRecord {
    pub(crate) fn of(row: &allocations::Model, base_decimals: u32, aliases: &Aliases) -> Result<Self> {
        let (own, of_source) = currencies(row)?;
        let own = |money| own.amount(money);
        Ok(Self {
            // An allocation never changes; it is removed and made anew.
            keeping: RecordKeeping {
                id: row.id,
                version: 1,
                created_at: row.created_at,
                created_by: row.created_by,
                updated_at: row.created_at,
                updated_by: row.created_by,
            },
            party_id: aliases.of(row.party_id),
            source_type: row.source_kind.into(),
            source_id: row.source_id,
            target_type: row.target_kind.into(),
            target_id: row.target_id,
            currency: row.currency.clone(),
            amount: own(row.amount),
            source_currency: row.source_currency.clone(),
            source_amount: of_source.amount(row.source_amount),
            date: row.date,
            discount_amount: own(row.discount),
            write_off_amount: own(row.write_off),
            write_off_account_id: row.write_off_account_id,
            withheld_amount: own(row.withheld),
            fx_gain_loss: row.exchange_gain.shown(base_decimals),
            entry_id: row.entry.as_ref().map(|entry| entry.0.id),
        })
    }
}
