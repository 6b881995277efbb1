//! Lines of trade documents, as they are answered.

use super::{LineType, TradeLineAsked};
use crate::ids::RecordId;
use crate::money::{Amount, BookMoney, Money, Percent, Quantity, UnitPrice};
use crate::parts::landed::Landed;
use books::progress;
use rules::left::Share;
use rules::tax::TaxKind;
use rules::tax::figures::{Discount, LineFigures};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far a line of an order has got.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "OrderLine")]
pub struct OrderLineView {
    #[serde(flatten)]
    line: TradeLineView,
    /// How many were delivered, by notes or with invoices. What came back stays counted.
    fulfilled_quantity: Quantity,
    /// How many were invoiced, less what was credited of it.
    invoiced_quantity: Quantity,
    /// How many came back.
    returned_quantity: Quantity,
    /// How many will not be delivered.
    cancelled_quantity: Quantity,
    /// How many are still to be delivered.
    open_quantity: Quantity,
}

/// How far a line of a delivery note has got.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "DeliveryLine")]
pub struct DeliveryLineView {
    #[serde(flatten)]
    line: TradeLineView,
    #[serde(flatten)]
    progress: NoteProgress,
}

/// How far a line of a receipt note has got.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ReceiptLine")]
pub struct ReceiptLineView {
    #[serde(flatten)]
    line: TradeLineView,
    /// What one costs without tax.
    pub(crate) unit_cost: Option<UnitPrice>,
    /// How many were sent and not taken.
    pub(crate) rejected_quantity: Quantity,
    #[serde(flatten)]
    progress: NoteProgress,
}

/// How far a line of a note has got.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the wire calls them so")]
pub struct NoteProgress {
    /// How many were invoiced, less what was credited of it; of goods that came back: how many were credited.
    invoiced_quantity: Quantity,
    /// How many came back.
    returned_quantity: Quantity,
    /// How many are still to be invoiced, or credited.
    open_quantity: Quantity,
}

/// Of a draft nothing came yet.
const NOTHING_YET: Quantity = Quantity::ZERO;

impl NoteProgress {
    fn of(progress: Option<&progress::Line>) -> Self {
        let of = |figure: fn(&progress::Line) -> Quantity| progress.map_or(NOTHING_YET, figure);
        Self {
            invoiced_quantity: of(|line| line.invoiced),
            returned_quantity: of(|line| line.returned),
            open_quantity: Ord::max(of(progress::Line::open), Quantity::ZERO),
        }
    }
}

impl OrderLineView {
    pub(crate) fn of(line: TradeLineView, progress: Option<&progress::Line>) -> Self {
        let of = |figure: fn(&progress::Line) -> Quantity| progress.map_or(NOTHING_YET, figure);
        Self {
            line,
            fulfilled_quantity: of(|line| line.fulfilled),
            invoiced_quantity: of(|line| line.invoiced),
            returned_quantity: of(|line| line.returned),
            cancelled_quantity: of(|line| line.cancelled),
            open_quantity: Ord::max(of(progress::Line::open), Quantity::ZERO),
        }
    }
}

impl DeliveryLineView {
    pub(crate) fn of(line: TradeLineView, progress: Option<&progress::Line>) -> Self {
        Self { line, progress: NoteProgress::of(progress) }
    }
}

impl ReceiptLineView {
    pub(crate) fn of(line: TradeLineView, asked: &TradeLineAsked, progress: Option<&progress::Line>) -> Self {
        Self {
            line,
            unit_cost: asked.price,
            rejected_quantity: asked.rejected.unwrap_or(NOTHING_YET),
            progress: NoteProgress::of(progress),
        }
    }
}

/// One line of a document that buys or sells.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "TradeLine")]
pub struct TradeLineView {
    /// The line's identifier; it keeps its identity in an update.
    pub(crate) id: Option<RecordId>,
    /// Its place, from 1.
    line_no: i64,
    /// What the line is.
    line_type: LineType,
    /// The item.
    pub(crate) item_id: Option<RecordId>,
    /// The account that its net amount goes to.
    pub(crate) account_id: Option<RecordId>,
    /// What the line is about.
    pub(crate) description: Option<String>,
    /// How many.
    pub(crate) quantity: Quantity,
    /// Unit of the quantity.
    pub(crate) unit: Option<String>,
    /// What one unit costs.
    pub(crate) unit_price: Option<UnitPrice>,
    /// What was taken off, in percent.
    pub(crate) discount_percent: Option<Percent>,
    /// What was taken off, where it was given as an amount.
    pub(crate) discount_amount: Option<Amount>,
    /// The tax code.
    pub(crate) tax_code_id: Option<RecordId>,
    /// The line of an earlier document that this one delivers, bills, returns or credits.
    pub(crate) source_line_id: Option<RecordId>,
    /// The goods that it is a part of the cost of; null where it is of none.
    pub(crate) landed_cost: Option<Landed>,
    /// Quantity times price.
    gross_amount: Amount,
    /// All that was taken off, its share of the document's discount included.
    discount_value: Amount,
    /// Without tax, after discounts.
    net_amount: Amount,
    /// The tax on it.
    pub(crate) tax_amount: Amount,
    /// The tax, component by component.
    taxes: Vec<LineTaxView>,
    /// The net amount in the company's currency.
    base_net_amount: Amount,
    /// The tax in the company's currency.
    base_tax_amount: Amount,
    /// What the goods cost, in the company's currency; null where it moves no stock.
    cost_amount: Option<Amount>,
}

/// A component of the tax on a line.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "LineTax")]
pub struct LineTaxView {
    /// The component of the tax code.
    component_id: RecordId,
    /// Its name.
    name: String,
    /// How it works.
    kind: TaxKind,
    /// The rate, in percent.
    rate: Percent,
    /// What it was computed on.
    base: Amount,
    /// What it comes to.
    pub(crate) amount: Amount,
}

/// What a line came to, as it is kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LineKept {
    pub(crate) figures: LineFigures,
    pub(crate) base_net: BookMoney,
    pub(crate) base_tax: BookMoney,
    /// The taxes in the company's currency, component by component.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) base_taxes: Vec<BookMoney>,
    /// What it took of the lines that it credits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) took: Vec<Took>,
}

/// What a line took of another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Took {
    /// The line of the invoice.
    pub(crate) of: RecordId,
    pub(crate) share: Share,
}

pub(crate) fn view(
    (line_no, asked, kept): (i64, &TradeLineAsked, &LineKept),
    own: impl Fn(Money) -> Amount,
    base: impl Fn(BookMoney) -> Amount,
    cost: Option<BookMoney>,
) -> TradeLineView {
    let figures = &kept.figures;
    let (percent, amount) = match asked.discount {
        Some(Discount::Percent(percent)) => (Some(percent), None),
        Some(Discount::Amount(amount)) => (None, Some(own(amount))),
        None => (None, None),
    };
    TradeLineView {
        id: asked.id,
        line_no,
        line_type: asked.line_type(),
        item_id: asked.item,
        account_id: asked.account,
        description: asked.description.clone(),
        quantity: asked.quantity(),
        unit: asked.unit.clone(),
        unit_price: asked.price,
        discount_percent: percent,
        discount_amount: amount,
        tax_code_id: asked.tax.code(),
        source_line_id: asked.source_line,
        landed_cost: asked.landed.clone(),
        gross_amount: own(figures.gross),
        discount_value: own(figures.discount),
        net_amount: own(figures.net),
        tax_amount: own(figures.tax),
        taxes: figures
            .taxes
            .iter()
            .map(|tax| LineTaxView {
                component_id: tax.component,
                name: tax.name.clone(),
                kind: tax.kind,
                rate: tax.rate,
                base: own(tax.base),
                amount: own(tax.amount),
            })
            .collect(),
        base_net_amount: base(kept.base_net),
        base_tax_amount: base(kept.base_tax),
        cost_amount: cost.map(base),
    }
}
