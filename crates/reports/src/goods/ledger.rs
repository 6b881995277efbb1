//! What moved an item, line by line.

use super::{Stock, moved, pieces};
use crate::Report;
use crate::aging::documents_of;
use crate::asked::{Asked, FORMAT, FROM, FROM_DATE, KNOWN_AT, THE_ITEM, TO, TO_DATE};
use crate::day::Day;
use crate::error::{Error, Result};
use crate::form::{Example, Form, Holds};
use crate::ids::RecordId;
use crate::sheet::{Cell, Check, Own, Row, RowType, Sheet};
use answers::Ask;
use books::cx::Cx;
use kit::list::Parameter;
use schema::tables::{DocumentKind, stock_moves};
use sea_orm::{ColumnTrait, QueryFilter, QueryOrder};
use std::collections::{BTreeMap, HashMap};
use words::sums::Sums as _;

pub(crate) struct StockLedger;

pub(crate) struct Ledger {
    pub(super) own: Own,
    pub(super) opening: Stock,
    pub(super) moves: Vec<stock_moves::Model>,
    pub(super) named: HashMap<RecordId, (DocumentKind, Option<String>)>,
    /// What is there at the end, computed apart.
    pub(super) closing: Stock,
}

impl Report for StockLedger {
    const NAME: &'static str = "stock-ledger";
    const OPERATION: &'static str = "StockLedger";
    const TITLE: &'static str = "Ledger of an item";
    const ABOUT: &'static str = "Every movement of an item in a period, and what was there after it.";
    const PARAMETERS: &'static [Parameter] = &[THE_ITEM, FROM, TO, FROM_DATE, TO_DATE, KNOWN_AT, FORMAT];
    const FORM: Form = Form {
        columns: &[
            ("date", "Date", Holds::Day),
            ("quantity", "Quantity", Holds::Quantity),
            ("value", "Value", Holds::Amount),
            ("runningQuantity", "There, quantity", Holds::Quantity),
            ("runningValue", "There, value", Holds::Amount),
        ],
        varying: None,
        totals: &[("closingValue", "There then, value", Holds::Amount)],
        example: Example {
            varying: &[],
            rows: &[
                (RowType::Subtotal, "opening", "There before", &["2026-01-01", "", "", "100", "9000.00"]),
                (
                    RowType::Line,
                    "019a9f6e-6c00-7b26-8f15-a1c2e3546f26",
                    "BILL-2026-0007",
                    &["2026-11-20", "20", "2100.00", "120", "11100.00"],
                ),
            ],
            totals: &["11100.00"],
            check: ("The last line is the valuation", Holds::Amount, "11100.00"),
        },
    };
    type Facts = Ledger;

    async fn gather(cx: &Cx<'_>, asked: &Asked) -> Result<Ledger> {
        let item = asked.item.ok_or_else(|| Error::field("itemId", "is required"))?;
        let business = cx.business_id()?;
        let (from, to) = (asked.span.from.unwrap_or(asked.span.to), asked.span.to);
        let mut moves = stock_moves::Entity::find()
            .filter(stock_moves::Column::BusinessId.eq(business))
            .filter(stock_moves::Column::ItemId.eq(item))
            .filter(stock_moves::Column::Date.between(from, to));
        if let Some(at) = asked.point.known_at {
            moves = moves.filter(stock_moves::Column::RecordedAt.lte(at));
        }
        let moves = moves
            .order_by_asc(stock_moves::Column::Date)
            .order_by_asc(stock_moves::Column::RecordedAt)
            .order_by_asc(stock_moves::Column::Id)
            .models(&cx.db)
            .await?;
        let at = |found: &HashMap<RecordId, Stock>| found.sum_of(&item);
        Ok(Ledger {
            own: Own(cx.business()?.currency_decimals),
            opening: at(&moved(cx, (None, from.previous()), asked, false).await?),
            named: documents_of(cx, moves.iter().map(|one| one.document_id)).await?,
            moves,
            closing: at(&moved(cx, (None, to), asked, false).await?),
        })
    }

    fn fold(facts: Ledger, asked: &Asked) -> Result<Sheet> {
        let Ledger { own, opening, moves, named, closing } = facts;
        let (from, to) = (asked.span.from.unwrap_or(asked.span.to), asked.span.to);
        let edge = |key: &str, label: &str, day: Day, stock: Stock| {
            let values = [vec![Cell::Day(day), Cell::Nothing, Cell::Nothing], stock.cells(own).to_vec()].concat();
            Row::total(RowType::Subtotal, key, label, values)
        };
        let mut rows = vec![edge("opening", "There before", from, opening)];
        let mut stock = opening;
        for one in &moves {
            let by = Stock { quantity: one.quantity.units().into(), value: one.value.units() };
            stock = stock.plus(by);
            let (kind, number) = named.get(&one.document_id).cloned().unzip();
            let values = [vec![Cell::Day(one.date)], by.cells(own).to_vec(), stock.cells(own).to_vec()].concat();
            rows.push(Row {
                item_id: Some(one.item_id),
                document_id: Some(one.document_id),
                document_type: kind,
                ..Row::total(
                    RowType::Line,
                    &one.id.to_string(),
                    number.flatten().as_deref().unwrap_or("without a number"),
                    values,
                )
            });
        }
        rows.push(edge("closing", "There then", to, stock));
        Ok(Sheet {
            columns: Self::FORM.columns(),
            rows,
            totals: BTreeMap::from([("closingValue".to_owned(), own.cell(stock.value))]),
            checks: vec![
                Check {
                    name: "The last line is the quantity that is there".into(),
                    left: pieces(stock.quantity),
                    right: pieces(closing.quantity),
                    ok: stock.quantity == closing.quantity,
                },
                own.check("The last line is the valuation", stock.value, closing.value),
            ],
            ..Sheet::default()
        })
    }
}

// ── What waits for an invoice ──
