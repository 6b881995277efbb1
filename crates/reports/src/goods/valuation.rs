//! What stock is worth at the end of a day.

use super::{Stock, by_name, inventory, item_names, item_row, moved};
use crate::Report;
use crate::asked::{AS_OF, Asked, DATE, FORMAT, INCLUDE_ZERO, ITEM, KNOWN_AT};
use crate::error::Result;
use crate::form::{Example, Form, Holds};
use crate::ids::RecordId;
use crate::money::{Money, Quantity, UnitPrice};
use crate::sheet::{Cell, Own, Row, RowType, Sheet};
use books::cx::Cx;
use kit::list::Parameter;
use std::collections::{BTreeMap, HashMap};
use words::sums::Sums as _;

pub(crate) struct StockValuation;

pub(crate) struct Valued {
    pub(super) own: Own,
    pub(super) stock: HashMap<RecordId, Stock>,
    pub(super) names: HashMap<RecordId, String>,
    /// What the inventory accounts come to; unknown of one item.
    pub(super) inventory: Option<i64>,
}

impl Report for StockValuation {
    const NAME: &'static str = "stock-valuation";
    const OPERATION: &'static str = "StockValuation";
    const TITLE: &'static str = "Valuation of the stock";
    const ABOUT: &'static str = "What is there of each item at the end of a day, and what it is worth.";
    const PARAMETERS: &'static [Parameter] = &[AS_OF, DATE, ITEM, INCLUDE_ZERO, KNOWN_AT, FORMAT];
    const FORM: Form = Form {
        columns: &[
            ("quantity", "Quantity", Holds::Quantity),
            ("value", "Value", Holds::Amount),
            ("averageCost", "Average cost", Holds::Price),
        ],
        varying: None,
        totals: &[("value", "Value", Holds::Amount)],
        example: Example {
            varying: &[],
            rows: &[
                (
                    RowType::Item,
                    "019a9f6e-6c00-7b21-8a10-5c7d9e0f1a21",
                    "BEANS-1 Espresso beans",
                    &["120", "11100.00", "92.5"],
                ),
                (RowType::Total, "total", "Total", &["", "11100.00", ""]),
            ],
            totals: &["11100.00"],
            check: ("The stock is worth what the inventory accounts say", Holds::Amount, "11100.00"),
        },
    };
    type Facts = Valued;

    async fn gather(cx: &Cx<'_>, asked: &Asked) -> Result<Valued> {
        let stock = moved(cx, (None, asked.as_of), asked, false).await?;
        let inventory = if asked.item.is_none() { Some(inventory(cx, asked.as_of, asked.point).await?) } else { None };
        Ok(Valued {
            own: Own(cx.business()?.currency_decimals),
            names: item_names(cx, stock.keys().copied()).await?,
            stock,
            inventory,
        })
    }

    fn fold(facts: Valued, asked: &Asked) -> Result<Sheet> {
        let Valued { own, stock, names, inventory } = facts;
        let mut rows = Vec::new();
        let mut total = 0;
        for id in by_name(&names, stock.keys().copied().collect()) {
            let of = stock.sum_of(&id);
            if of == Stock::default() && !asked.include_zero {
                continue;
            }
            total += of.value;
            let mut values = of.cells(own).to_vec();
            values.push(average(of));
            rows.push(item_row(id, &names, values));
        }
        rows.push(Row::total(RowType::Total, "total", "Total", vec![Cell::Nothing, own.cell(total), Cell::Nothing]));
        let checks =
            inventory.map(|balance| own.check("The stock is worth what the inventory accounts say", total, balance));
        Ok(Sheet {
            columns: Self::FORM.columns(),
            rows,
            totals: BTreeMap::from([("value".to_owned(), own.cell(total))]),
            checks: checks.into_iter().collect(),
            ..Sheet::default()
        })
    }
}

fn average(of: Stock) -> Cell {
    let Some(quantity) = Quantity::fitting(of.quantity) else { return Cell::Nothing };
    let exact = Money::from_units(of.value).decimal().checked_div(quantity.decimal()).filter(|_| of.quantity > 0);
    let price = exact.and_then(|exact| UnitPrice::parse(&exact.round_dp(UnitPrice::PLACES).to_string()).ok());
    price.map_or(Cell::Nothing, Cell::Price)
}

// ── Summary ──
