//! The lines of an adjustment, as they are sent and shown.

use super::AdjustmentAsked;
use crate::document::{self, TradedLine, identity};
use crate::error::Result;
use crate::field::{Faults, Field, Maybe, Text};
use crate::ids::RecordId;
use crate::money::{Amount, BookMoney, Quantity, UnitPrice};
use crate::parts::goods::check_cost;
use books::chart::Chart;
use rules::exchange::Home;
use rules::posting::{Line, Subject, Unposted};
use rules::purpose::Purpose as For;
use schema::address::text;
use schema::tables::stock_facts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use words::sums::Sums as _;

/// One line of a stock adjustment.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct StockAdjustmentLineInput {
    /// The line's identifier, to keep its identity in an update.
    pub(super) id: Maybe<RecordId>,
    /// The item, which is kept in stock.
    pub(super) item_id: Field<RecordId>,
    /// How much more there is; less is negative. Not beside `countedQuantity`.
    pub(super) quantity_delta: Maybe<Quantity>,
    /// How much was counted, after what was posted for the day by then. What is entered late for a time before changes by
    /// how much it differs from the books, and not what there is. Not beside `quantityDelta`.
    pub(super) counted_quantity: Maybe<Quantity>,
    /// What one unit cost of what was found; what such things cost now when absent.
    pub(super) unit_cost: Maybe<UnitPrice>,
    /// What one unit is worth from this day on, of an item at standard cost. What is there is revalued before anything
    /// else moves it that day. Not beside a quantity.
    pub(super) standard_cost: Maybe<UnitPrice>,
    /// What the line is about.
    pub(super) description: Maybe<Text<1000>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct AdjustmentLineAsked {
    pub(super) id: Option<RecordId>,
    pub(super) item: RecordId,
    pub(super) delta: Option<Quantity>,
    pub(super) counted: Option<Quantity>,
    pub(super) unit_cost: Option<UnitPrice>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) standard: Option<UnitPrice>,
    pub(super) description: Option<String>,
}

document::identified!(AdjustmentLineAsked);

/// One line of a stock adjustment.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "StockAdjustmentLine")]
pub struct StockAdjustmentLineView {
    /// The line's identifier; it keeps its identity in an update.
    pub(super) id: Option<RecordId>,
    /// Its place, from 1.
    pub(super) line_no: i64,
    /// The item.
    pub(super) item_id: RecordId,
    /// How much more there is; less is negative. Null where it was counted.
    pub(super) quantity_delta: Option<Quantity>,
    /// How much was counted.
    pub(super) counted_quantity: Option<Quantity>,
    /// What one unit cost of what was found.
    pub(super) unit_cost: Option<UnitPrice>,
    /// What one unit is worth from this day on.
    pub(super) standard_cost: Option<UnitPrice>,
    /// What the line is about.
    pub(super) description: Option<String>,
    /// By how much the stock was adjusted.
    pub(super) adjusted_quantity: Quantity,
    /// What that is worth; a loss is negative.
    pub(super) value: Amount,
}

pub(super) fn check_lines(
    faults: &mut Faults,
    field: Field<Vec<Field<StockAdjustmentLineInput>>>,
) -> Vec<AdjustmentLineAsked> {
    let field = match field {
        Field::Missing => {
            faults.add("lines", "is required: an adjustment has at least one line");
            return Vec::new();
        }
        Field::Malformed(why) => Field::Malformed(why),
        Field::Given(lines) if lines.is_empty() || lines.len() > 1000 => {
            faults.add("lines", if lines.is_empty() { "must be at least one" } else { "must be at most 1000" });
            return Vec::new();
        }
        Field::Given(lines) => Field::Given(Some(lines)),
    };
    faults.each("lines", field, |faults, input| {
        let malformed = matches!(input.quantity_delta, Field::Malformed(_))
            || matches!(input.counted_quantity, Field::Malformed(_))
            || matches!(input.standard_cost, Field::Malformed(_));
        let delta = faults.optional("quantityDelta", input.quantity_delta);
        let counted = faults.optional("countedQuantity", input.counted_quantity);
        let standard = faults.optional("standardCost", input.standard_cost);
        if !malformed
            && [delta.is_some(), counted.is_some(), standard.is_some()].into_iter().filter(|is| *is).count() != 1
        {
            let why = "exactly one of quantityDelta, countedQuantity and standardCost is required";
            faults.add("quantityDelta", why);
        }
        check_cost(faults, "standardCost", standard);
        if delta == Some(Quantity::ZERO) {
            faults.add("quantityDelta", "must not be 0");
        }
        if counted.is_some_and(Quantity::is_negative) {
            faults.add("countedQuantity", "must not be negative");
        }
        let unit_cost = faults.optional("unitCost", input.unit_cost);
        check_cost(faults, "unitCost", unit_cost);
        AdjustmentLineAsked {
            id: faults.optional("id", input.id),
            item: faults.required("itemId", input.item_id),
            delta,
            counted,
            unit_cost,
            standard,
            description: text(faults, "description", input.description),
        }
    })
}

pub(super) fn lines(chart: &Chart, home: Home<'_>, moved: &[stock_facts::Model]) -> Result<Vec<Line>, Unposted> {
    let mut lines = Vec::new();
    for moved in moved {
        let goods = Subject { item: Some(moved.item_id), quantity: Some(moved.moves()), tax: None };
        let other = Subject { quantity: None, ..goods.clone() };
        let inventory = chart.standing(moved.inventory_account_id)?;
        lines.push(Line::on(inventory, home.alone(moved.booked_stock), goods.into())?);
        let side = chart.free(moved.cost_account_id, For::AdjustmentSide)?;
        lines.push(Line::on(side, home.alone(moved.booked_cost), other.clone().into())?);
        let variance = chart.standing(moved.variance_account_id)?;
        lines.push(Line::on(variance, home.alone(moved.booked_variance), other.into())?);
    }
    Ok(lines)
}

pub(super) fn traded(
    asked: &AdjustmentAsked,
    deltas: &[Quantity],
    moved: &[stock_facts::Model],
    account: RecordId,
) -> Result<Vec<TradedLine>> {
    let values: HashMap<RecordId, BookMoney> = moved.iter().map(|fact| (fact.line_id, fact.booked_stock)).collect();
    let line = |(line, delta): (&AdjustmentLineAsked, &Quantity)| {
        let id = identity(line.id)?;
        // What was counted as it is known moves nothing.
        let value = values.sum_of(&id);
        Ok(TradedLine {
            id,
            item: Some(line.item),
            account: Some(account),
            tax_code: None,
            quantity: *delta,
            base_net: value,
            source_line: None,
        })
    };
    asked.lines.iter().zip(deltas).map(line).collect()
}
