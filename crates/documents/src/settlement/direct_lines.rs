//! What is earned or spent right away, without an invoice, line by line.

use super::{MoneyAsked, MoneyFigures};
use crate::document::{self, TradedLine, identity};
use crate::error::Result;
use crate::field::{Each, Faults, Field, Maybe, Stated, Text};
use crate::ids::RecordId;
use crate::money::{Amount, Money, Quantity};
use crate::trade::line::TaxChoice;
use schema::address::text;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is earned or spent right away, without an invoice.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct DirectLineInput {
    /// The line's identifier, to keep its identity in an update.
    pub(super) id: Maybe<RecordId>,
    /// The account.
    pub(super) account_id: Field<RecordId>,
    /// How much of the money it is, tax included; more than 0.
    pub(super) amount: Field<Money>,
    /// The tax inside the amount; none when absent.
    #[serde(default)]
    pub(super) tax_code_id: Stated<RecordId>,
    /// The tax that the other side's paper says, where it differs by a few coins from what it comes to; the computed
    /// one when absent. How far it may differ is the setting `taxOverrideTolerance`.
    pub(super) tax_amount: Maybe<Money>,
    /// What the line is about.
    pub(super) description: Maybe<Text<1000>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DirectLineAsked {
    pub(super) id: Option<RecordId>,
    pub(super) account: RecordId,
    pub(super) amount: Money,
    pub(super) tax: TaxChoice,
    /// The tax as it was stated, where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stated_tax: Option<Money>,
    pub(super) description: Option<String>,
}

document::identified!(DirectLineAsked);

pub(super) fn check_lines(faults: &mut Faults, field: Each<DirectLineInput>) -> Vec<DirectLineAsked> {
    let lines = faults.each("lines", field, |faults, input| {
        let given = matches!(input.amount, Field::Given(_));
        let amount = faults.required("amount", input.amount);
        if given && amount <= Money::ZERO {
            faults.add("amount", "must be greater than 0");
        }
        DirectLineAsked {
            id: faults.optional("id", input.id),
            account: faults.required("accountId", input.account_id),
            amount,
            tax: match input.tax_code_id {
                Stated::Given(id) => TaxChoice::Code(id),
                Stated::Unsaid | Stated::Nothing => TaxChoice::None,
                Stated::Malformed(why) => {
                    faults.add("taxCodeId", why);
                    TaxChoice::None
                }
            },
            stated_tax: faults.optional("taxAmount", input.tax_amount),
            description: text(faults, "description", input.description),
        }
    });
    if lines.len() > 1000 {
        faults.add("lines", "must be at most 1000");
    }
    lines
}

/// What is earned or spent right away, without an invoice.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "DirectLine")]
pub struct DirectLineView {
    /// The line's identifier; it keeps its identity in an update.
    pub(super) id: Option<RecordId>,
    /// Its place, from 1.
    pub(super) line_no: i64,
    /// The account.
    pub(super) account_id: RecordId,
    /// How much of the money it is, tax included.
    pub(super) amount: Amount,
    /// The tax inside the amount.
    pub(super) tax_code_id: Option<RecordId>,
    /// What the line is about.
    pub(super) description: Option<String>,
    /// Without tax.
    pub(super) net_amount: Amount,
    /// The tax.
    pub(super) tax_amount: Amount,
    /// What of it is kept back as tax, and does not move.
    pub(super) withheld_amount: Amount,
}

pub(super) fn traded(asked: &MoneyAsked, figures: &MoneyFigures, base: &[(Money, Money)]) -> Result<Vec<TradedLine>> {
    let lines = asked.lines.iter().zip(&figures.lines).zip(base);
    lines
        .map(|((line, figures), (base_net, base_tax))| {
            Ok(TradedLine {
                id: identity(line.id)?,
                item: None,
                account: Some(line.account),
                tax_code: line.tax.code(),
                quantity: Quantity::from_units(1_000_000),
                net: figures.net,
                tax: figures.tax,
                base_net: *base_net,
                base_tax: *base_tax,
                source_line: None,
            })
        })
        .collect()
}
