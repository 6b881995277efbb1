//! A trade document, as it is answered.

use super::draft::{TradeAsked, TradeFigures};
use super::line;
use super::status::{self, Standing};
use crate::currency::Currency;
use crate::day::Day;
use crate::document::Content;
use crate::error::Result;
use crate::ids::RecordId;
use crate::money::{Amount, BookMoney, Percent, Rate};
use crate::parts::settlement::allocating;
use books::cx::Cx;
use rules::tax::TaxKind;
use rules::tax::figures::Discount;
use schema::address::Address;
use schema::tables::{DocumentStatus, documents};
use schemars::JsonSchema;
use serde::Serialize;

/// A component of the tax of a document.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "TaxSummary")]
pub struct TaxSummaryView {
    /// The tax code.
    tax_code_id: RecordId,
    /// The component of the tax code.
    component_id: RecordId,
    /// Its name.
    pub(crate) name: String,
    /// How it works.
    pub(crate) kind: TaxKind,
    /// The rate, in percent.
    pub(crate) rate: Percent,
    /// What it was computed on.
    pub(crate) base: Amount,
    /// What it comes to.
    pub(crate) amount: Amount,
    /// What it was computed on, in the company's currency.
    base_amount_base: Amount,
    /// What it comes to in the company's currency.
    amount_base: Amount,
    /// What of it can be claimed back on purchases.
    pub(crate) recoverable: Amount,
}

/// What a trade document says beside its head and what only its kind has.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TradeBody {
    /// The party.
    party_id: RecordId,
    /// The party's name, as it was when the document was written.
    pub(crate) party_name: String,
    /// The party's tax number, as it was when the document was written.
    pub(crate) party_tax_number: Option<String>,
    /// Currency of the document.
    pub(crate) currency: String,
    /// What one unit of it is worth in the company's; null in the company's own.
    pub(crate) exchange_rate: Option<Rate>,
    /// The day that its tax counts for; the date when null.
    pub(crate) tax_date: Option<Day>,
    /// Whether prices include tax.
    prices_include_tax: bool,
    /// Discount of the document, in percent.
    discount_percent: Option<Percent>,
    /// Discount of the document, where it was given as an amount.
    discount_amount: Option<Amount>,
    /// Where the invoice goes.
    pub(crate) billing_address: Option<Address>,
    /// Where the goods go.
    pub(crate) shipping_address: Option<Address>,
    /// Words for the other side.
    pub(crate) notes: Option<String>,
    /// Terms and conditions.
    pub(crate) terms: Option<String>,
    /// Words for yourself.
    pub(crate) private_note: Option<String>,
    /// Sum of quantity times price.
    subtotal: Amount,
    /// Sum of all discounts.
    discount_total: Amount,
    /// Without tax, after discounts.
    net_total: Amount,
    /// Sum of the tax.
    tax_total: Amount,
    /// What the total was rounded by.
    rounding_amount: Amount,
    /// What is to be paid.
    pub(crate) total: Amount,
    /// What the other side keeps back as tax when paying.
    withheld_total: Amount,
    /// The total in the company's currency.
    pub(crate) base_total: Amount,
    /// The net total in the company's currency.
    base_net_total: Amount,
    /// The tax in the company's currency.
    base_tax_total: Amount,
    /// The tax, component by component.
    tax_summary: Vec<TaxSummaryView>,
    /// The documents that it follows, and those that follow it.
    links: Vec<status::LinkView>,
}

/// What only a document has that charges or credits.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Charge {
    /// Whether lines of stock items move stock.
    pub(crate) update_stock: bool,
    /// What it was allocated to, or what was allocated to it.
    pub(crate) allocations: Vec<allocating::AllocationView>,
}

/// A document as it is answered, before its kind gives the parts their names.
pub struct Shown {
    pub(crate) row: documents::Model,
    pub(crate) body: TradeBody,
    pub(crate) lines: Vec<line::TradeLineView>,
    pub(crate) asked: TradeAsked,
    pub(crate) control_account: Option<RecordId>,
    pub(crate) standing: Standing,
    pub(crate) own: Currency,
    pub(crate) base_decimals: u32,
}

impl Shown {
    pub(crate) fn charge(&self) -> Result<Charge> {
        let allocations = if self.row.status == DocumentStatus::Draft {
            self.asked.allocations.iter().map(|one| allocating::planned(one, self.own, self.base_decimals)).collect()
        } else {
            self.standing
                .allocations
                .iter()
                .map(|one| allocating::view(one, self.base_decimals))
                .collect::<Result<_>>()?
        };
        Ok(Charge { update_stock: self.asked.update_stock.unwrap_or(true), allocations })
    }
}

pub(crate) fn shown(
    cx: &Cx<'_>,
    row: documents::Model,
    content: Content<TradeAsked, TradeFigures>,
    standing: Standing,
) -> Result<Shown> {
    let Content { asked, figures } = content;
    let base_decimals = cx.business()?.currency_decimals;
    let known = Currency::known(&figures.currency, format_args!("document {}", row.id))?;
    let own = |money| known.amount(money);
    let base = |money: BookMoney| money.shown(base_decimals);
    let (discount_percent, discount_amount) = match asked.discount {
        Some(Discount::Percent(percent)) => (Some(percent), None),
        Some(Discount::Amount(amount)) => (None, Some(own(amount))),
        None => (None, None),
    };
    let lines = asked.lines.iter().zip(&figures.lines).zip(1..).map(|((line, kept), line_no)| {
        let cost = line.id.and_then(|id| standing.costs.get(&id).copied());
        line::view((line_no, line, kept), own, base, cost)
    });
    let lines = lines.collect();
    let summary = figures.summary.iter().map(|tax| TaxSummaryView {
        tax_code_id: tax.code,
        component_id: tax.component,
        name: tax.name.clone(),
        kind: tax.kind,
        rate: tax.rate,
        base: own(tax.base),
        amount: own(tax.amount),
        base_amount_base: base(tax.base_base),
        amount_base: base(tax.base_amount),
        recoverable: own(tax.recoverable),
    });
    let totals = &figures.totals;
    let body = TradeBody {
        party_id: cx.aliases()?.of_document(&row).unwrap_or(asked.party),
        party_name: figures.party_name.clone(),
        party_tax_number: figures.party_tax_number.clone(),
        currency: figures.currency.clone(),
        exchange_rate: asked.exchange_rate,
        tax_date: asked.tax_date,
        prices_include_tax: asked.inclusive == Some(true),
        discount_percent,
        discount_amount,
        billing_address: asked.billing_address.clone(),
        shipping_address: asked.shipping_address.clone(),
        notes: asked.notes.clone(),
        terms: asked.terms.clone(),
        private_note: asked.private_note.clone(),
        subtotal: own(totals.subtotal),
        discount_total: own(totals.discount),
        net_total: own(totals.net),
        tax_total: own(totals.tax),
        rounding_amount: own(totals.rounding),
        total: own(totals.total),
        withheld_total: own(totals.withheld),
        base_total: base(figures.base_total),
        base_net_total: base(figures.base_net),
        base_tax_total: base(figures.base_tax),
        tax_summary: summary.collect(),
        links: standing.links.clone(),
    };
    let control_account = figures.control_account;
    Ok(Shown { row, body, lines, asked, control_account, standing, own: known, base_decimals })
}
