//! An allocation, as it is sent and as a document shows it.

use crate::currency::Currency;
use crate::day::Day;
use crate::error::Result;
use crate::field::{Each, Faults, Field, Maybe};
use crate::ids::RecordId;
use crate::money::{Amount, BookMoney, Money};
use schema::settled::Settled;
use schema::tables::{allocations, open_items};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What settles something.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct AllocationInput {
    /// The document that is settled, or the line of a journal.
    pub(crate) target_id: Field<RecordId>,
    /// What kind of document it is; it is looked up when absent.
    pub(crate) target_type: Maybe<Settled>,
    /// How much of it is settled, in its currency; more than 0.
    pub(crate) amount: Field<Money>,
    /// What is used up for that, in the currency of what settles; required when the currencies differ.
    pub(crate) source_amount: Maybe<Money>,
    /// What is taken off beside the amount, for paying early.
    pub(crate) discount_amount: Maybe<Money>,
    /// What is written off beside the amount.
    pub(crate) write_off_amount: Maybe<Money>,
    /// Where it is written off to; the company's account for bad debts, or for discounts received, when absent.
    pub(crate) write_off_account_id: Maybe<RecordId>,
    /// What is kept back as tax beside the amount.
    pub(crate) withheld_amount: Maybe<Money>,
    /// The day it counts for; that of the later document when absent.
    pub(crate) date: Maybe<Day>,
}

/// An allocation, checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllocationAsked {
    pub(crate) target: RecordId,
    pub(crate) target_type: Option<Settled>,
    pub(crate) amount: Money,
    pub(crate) source_amount: Option<Money>,
    pub(crate) discount: Money,
    pub(crate) write_off: Money,
    pub(crate) write_off_account: Option<RecordId>,
    pub(crate) withheld: Money,
    pub(crate) date: Option<Day>,
}

pub(crate) fn check(faults: &mut Faults, input: AllocationInput) -> AllocationAsked {
    let given = matches!(input.amount, Field::Given(_));
    let amount = faults.required("amount", input.amount);
    if given && amount <= Money::ZERO {
        faults.add("amount", "must be greater than 0");
    }
    let source_amount = faults.optional("sourceAmount", input.source_amount);
    if source_amount.is_some_and(|amount| amount <= Money::ZERO) {
        faults.add("sourceAmount", "must be greater than 0");
    }
    let mut beside = |name, field: Maybe<Money>| {
        let amount: Money = faults.optional(name, field).unwrap_or_default();
        if amount.is_negative() {
            faults.add(name, "must not be negative");
        }
        amount
    };
    let discount = beside("discountAmount", input.discount_amount);
    let write_off = beside("writeOffAmount", input.write_off_amount);
    let withheld = beside("withheldAmount", input.withheld_amount);
    AllocationAsked {
        target: faults.required("targetId", input.target_id),
        target_type: faults.optional("targetType", input.target_type),
        amount,
        source_amount,
        discount,
        write_off,
        write_off_account: faults.optional("writeOffAccountId", input.write_off_account_id),
        withheld,
        date: faults.optional("date", input.date),
    }
}

pub(crate) fn check_each(faults: &mut Faults, field: Each<AllocationInput>) -> Vec<AllocationAsked> {
    let asked = faults.each("allocations", field, check);
    if asked.len() > 100 {
        faults.add("allocations", "must be at most 100");
    }
    asked
}

/// What settled something.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AllocationOfDocument")]
pub struct AllocationView {
    /// The allocation; null while the document is a draft.
    pub(crate) id: Option<RecordId>,
    /// What settles.
    pub(crate) source_type: Option<Settled>,
    /// The document that settles, or the line of a journal.
    pub(crate) source_id: Option<RecordId>,
    /// What is settled.
    pub(crate) target_type: Option<Settled>,
    /// The document that is settled, or the line of a journal.
    pub(crate) target_id: RecordId,
    /// How much of it is settled, in its currency.
    pub(crate) amount: Amount,
    /// What is used up for that, in the currency of what settles.
    pub(crate) source_amount: Option<Amount>,
    /// The day it counts for.
    pub(crate) date: Option<Day>,
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

/// The currencies of what is settled and of what settles it.
pub(crate) fn currencies(row: &allocations::Model) -> Result<(Currency, Currency)> {
    let of = || format!("allocation {}", row.id);
    Ok((Currency::known(&row.currency, of())?, Currency::known(&row.source_currency, of())?))
}

pub(crate) fn decimals(item: &open_items::Model) -> Result<u32> {
    Ok(Currency::known(&item.currency, format_args!("open item {}", item.id))?.decimals())
}

pub(crate) fn view(row: &allocations::Model, base_decimals: u32) -> Result<AllocationView> {
    let (own, of_source) = currencies(row)?;
    let own = |money| own.amount(money);
    Ok(AllocationView {
        id: Some(row.id),
        source_type: Some(row.source_kind.into()),
        source_id: Some(row.source_id),
        target_type: Some(row.target_kind.into()),
        target_id: row.target_id,
        amount: own(row.amount),
        source_amount: Some(of_source.amount(row.source_amount)),
        date: Some(row.date),
        discount_amount: own(row.discount),
        write_off_amount: own(row.write_off),
        write_off_account_id: row.write_off_account_id,
        withheld_amount: own(row.withheld),
        fx_gain_loss: row.exchange_gain.shown(base_decimals),
        entry_id: row.entry.as_ref().map(|entry| entry.0.id),
    })
}

/// What a draft in a currency will settle when it is posted.
pub(crate) fn planned(asked: &AllocationAsked, own: Currency, base_decimals: u32) -> AllocationView {
    let own = |money| own.amount(money);
    AllocationView {
        id: None,
        source_type: None,
        source_id: None,
        target_type: asked.target_type,
        target_id: asked.target,
        amount: own(asked.amount),
        source_amount: asked.source_amount.map(own),
        date: asked.date,
        discount_amount: own(asked.discount),
        write_off_amount: own(asked.write_off),
        write_off_account_id: asked.write_off_account,
        withheld_amount: own(asked.withheld),
        fx_gain_loss: BookMoney::ZERO.shown(base_decimals),
        entry_id: None,
    }
}
