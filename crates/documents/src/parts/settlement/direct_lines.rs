//! What is earned or spent right away, without an invoice, line by line.

use super::MoneyAsked;
use crate::document::{self, TradedLine, identity};
use crate::error::Result;
use crate::field::{Each, Faults, Field, Maybe, Stated, Text};
use crate::ids::RecordId;
use crate::money::{Amount, BookMoney, Money, Quantity};
use crate::parts::line::TaxChoice;
use schema::address::text;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is earned or spent right away, without an invoice.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct DirectLineInput {
    /// The line's identifier, to keep its identity in an update.
    pub(crate) id: Maybe<RecordId>,
    /// The account.
    pub(crate) account_id: Field<RecordId>,
    /// How much of the money it is, tax included; more than 0.
    pub(crate) amount: Field<Money>,
    /// The tax inside the amount; none when absent.
    #[serde(default)]
    pub(crate) tax_code_id: Stated<RecordId>,
    /// The tax that the other side's paper says, where it differs by a few coins from what it comes to; the computed
    /// one when absent. How far it may differ is the setting `taxOverrideTolerance`.
    pub(crate) tax_amount: Maybe<Money>,
    /// What the line is about.
    pub(crate) description: Maybe<Text<1000>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DirectLineAsked {
    pub(crate) id: Option<RecordId>,
    pub(crate) account: RecordId,
    pub(crate) amount: Money,
    pub(crate) tax: TaxChoice,
    /// The tax as it was stated, where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stated_tax: Option<Money>,
    pub(crate) description: Option<String>,
}

document::identified!(DirectLineAsked);

pub(crate) fn check_lines(faults: &mut Faults, field: Each<DirectLineInput>) -> Vec<DirectLineAsked> {
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
    pub(crate) id: Option<RecordId>,
    /// Its place, from 1.
    pub(crate) line_no: i64,
    /// The account.
    pub(crate) account_id: RecordId,
    /// How much of the money it is, tax included.
    pub(crate) amount: Amount,
    /// The tax inside the amount.
    pub(crate) tax_code_id: Option<RecordId>,
    /// What the line is about.
    pub(crate) description: Option<String>,
    /// Without tax.
    pub(crate) net_amount: Amount,
    /// The tax.
    pub(crate) tax_amount: Amount,
    /// What of it is kept back as tax, and does not move.
    pub(crate) withheld_amount: Amount,
}

pub(crate) fn traded(asked: &MoneyAsked, base: &[BookMoney]) -> Result<Vec<TradedLine>> {
    let lines = asked.lines.iter().zip(base);
    lines
        .map(|(line, base_net)| {
            Ok(TradedLine {
                id: identity(line.id)?,
                item: None,
                account: Some(line.account),
                tax_code: line.tax.code(),
                quantity: Quantity::from_units(1_000_000),
                base_net: *base_net,
                source_line: None,
            })
        })
        .collect()
}
