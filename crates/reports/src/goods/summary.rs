//! What stock did over some days.

use super::{Stock, by_name, inventory, item_names, item_row, moved};
use crate::Report;
use crate::asked::{Asked, FORMAT, FROM, FROM_DATE, INCLUDE_ZERO, ITEM, KNOWN_AT, TO, TO_DATE};
use crate::error::Result;
use crate::form::{Example, Form, Holds};
use crate::ids::RecordId;
use crate::sheet::{Cell, Own, Row, RowType, Sheet};
use books::cx::Cx;
use kit::list::Parameter;
use std::collections::{HashMap, HashSet};
use words::sums::Sums as _;

pub(crate) struct StockSummary;

pub(crate) struct Summed {
    pub(super) own: Own,
    pub(super) before: HashMap<RecordId, Stock>,
    pub(super) came: HashMap<RecordId, Stock>,
    pub(super) all: HashMap<RecordId, Stock>,
    pub(super) names: HashMap<RecordId, String>,
    pub(super) inventory: Option<i64>,
}

impl Report for StockSummary {
    const NAME: &'static str = "stock-summary";
    const OPERATION: &'static str = "StockSummary";
    const TITLE: &'static str = "Summary of the stock";
    const ABOUT: &'static str = "What was there of each item before a period, what came in and went out, and what is \
                                 there then, in quantity and value.";
    const PARAMETERS: &'static [Parameter] = &[FROM, TO, FROM_DATE, TO_DATE, ITEM, INCLUDE_ZERO, KNOWN_AT, FORMAT];
    const FORM: Form = Form {
        columns: &[
            ("openingQuantity", "Opening, quantity", Holds::Quantity),
            ("openingValue", "Opening, value", Holds::Amount),
            ("inQuantity", "In, quantity", Holds::Quantity),
            ("inValue", "In, value", Holds::Amount),
            ("outQuantity", "Out, quantity", Holds::Quantity),
            ("outValue", "Out, value", Holds::Amount),
            ("closingQuantity", "Closing, quantity", Holds::Quantity),
            ("closingValue", "Closing, value", Holds::Amount),
        ],
        varying: None,
        totals: &[
            ("openingValue", "Opening, value", Holds::Amount),
            ("inValue", "In, value", Holds::Amount),
            ("outValue", "Out, value", Holds::Amount),
            ("closingValue", "Closing, value", Holds::Amount),
        ],
        example: Example {
            varying: &[],
            rows: &[(
                RowType::Item,
                "019a9f6e-6c00-7b21-8a10-5c7d9e0f1a21",
                "BEANS-1 Espresso beans",
                &["100", "9000.00", "50", "4875.00", "30", "2775.00", "120", "11100.00"],
            )],
            totals: &["9000.00", "4875.00", "2775.00", "11100.00"],
            check: (
                "What was there, less what went out and with what came in, is what is there",
                Holds::Amount,
                "11100.00",
            ),
        },
    };
    type Facts = Summed;

    async fn gather(cx: &Cx<'_>, asked: &Asked) -> Result<Summed> {
        let (from, to) = (asked.span.from.unwrap_or(asked.span.to), asked.span.to);
        let before = moved(cx, (None, from.previous()), asked, false).await?;
        let all = moved(cx, (Some(from), to), asked, false).await?;
        let came = moved(cx, (Some(from), to), asked, true).await?;
        let ids: HashSet<RecordId> = before.keys().chain(all.keys()).copied().collect();
        let inventory = if asked.item.is_none() { Some(inventory(cx, to, asked.point).await?) } else { None };
        Ok(Summed {
            own: Own(cx.business()?.currency_decimals),
            names: item_names(cx, ids.into_iter()).await?,
            before,
            came,
            all,
            inventory,
        })
    }

    fn fold(facts: Summed, asked: &Asked) -> Result<Sheet> {
        let Summed { own, before, came, all, names, inventory } = facts;
        let mut sums = [Stock::default(); 4];
        let mut rows = Vec::new();
        for id in by_name(&names, before.keys().chain(all.keys()).copied().collect()) {
            let of = |figures: &HashMap<RecordId, Stock>| figures.sum_of(&id);
            let (opening, moved, came) = (of(&before), of(&all), of(&came));
            let figures = [opening, came, came.minus(moved), opening.plus(moved)];
            for (sum, figure) in sums.iter_mut().zip(figures) {
                *sum = sum.plus(figure);
            }
            if asked.include_zero || figures.iter().any(|figure| *figure != Stock::default()) {
                rows.push(item_row(id, &names, figures.into_iter().flat_map(|figure| figure.cells(own)).collect()));
            }
        }
        let total = sums.into_iter().flat_map(|sum| [Cell::Nothing, own.cell(sum.value)]);
        rows.push(Row::total(RowType::Total, "total", "Total", total.collect()));
        let mut checks = vec![own.check(
            "What was there, less what went out and with what came in, is what is there",
            sums[0].value + sums[1].value - sums[2].value,
            sums[3].value,
        )];
        checks
            .extend(inventory.map(|balance| {
                own.check("The stock is worth what the inventory accounts say", sums[3].value, balance)
            }));
        let totals = Self::FORM.totals.iter().zip(sums);
        let totals = totals.map(|((key, ..), sum)| ((*key).to_owned(), own.cell(sum.value)));
        Ok(Sheet { columns: Self::FORM.columns(), rows, totals: totals.collect(), checks, ..Sheet::default() })
    }
}

// ── Ledger of an item ──
