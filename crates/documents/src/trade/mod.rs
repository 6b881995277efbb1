//! Trade documents: orders, notes of goods that were delivered or received, invoices, and what credits them.
//!
//! Owns: what they have in common, which is nearly everything: lines with prices, discounts and tax, totals, what
//! is open, what goods cost. A kind says which way it goes and what its own fields are called ([`kinds`]).
//! [`figures`] computes, [`posting`] posts; they know no database. [`complete`] fills in what is left out, [`follow`]
//! says what comes of the lines that a document follows, [`judge`] what may be so, [`moving`] how stock moves, [`settle`]
//! what it comes to, [`live`] where it stands. [`convert`] makes the next document of one, [`credit`] a note of an invoice.
//! What is made of a part takes a share of what is left: [`lefts`] finds what that is, [`shares`] takes it, [`origin`] keeps
//! what was taken.

mod complete;
mod convert;
mod credit;
mod derived;
pub(crate) use rules::tax::figures;
mod follow;
mod judge;
mod kinds;
mod landed;
mod lefts;
pub(crate) mod line;
mod live;
mod moving;
mod origin;
mod posting;
mod settle;
mod shares;

use crate::clock::Instant;
use crate::day::Day;
use crate::document::{
    self, Before, Change, Content, Document, Draft, Edition, Head, HeadInput, Purpose, Settled, document_operations,
    document_rows,
};
use crate::error::{FieldErrors, Result};
use crate::ids::RecordId;
use crate::money::{Amount, Money, Percent, Rate};
use crate::settlement;
use crate::settlement::allocating::{self, AllocationAsked};
use books::Leaving;
use books::access::Business;
use books::cx::Cx;
use books::periods::Module;
use figures::{Discount, Totals};
pub use kinds::{
    CreditNotes, DebitNotes, DeliveryNotes, PurchaseInvoices, PurchaseOrders, ReceiptNotes, SalesInvoices, SalesOrders,
};
use kit::extra::Extra;
use kit::list::Reads;
use kit::reference::Held;
use kit::resource::{About, Record, Resource, Scope};
use kit::rows::{Filter, Rows};
use line::{LineKept, TradeLineAsked};
pub use live::Standing;
use rules::tax::{TaxDirection, TaxKind};
use schema::address::Address;
use schema::key::ResourceKey;
use schema::tables::documents::{self, Column};
use schema::tables::{DocumentKind, DocumentStatus, Stage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub(crate) use settle::{country_of, stated_too_far};
use std::collections::HashMap;
use std::marker::PhantomData;

/// A trade document of a kind.
pub struct Trade<K>(PhantomData<fn() -> K>);

/// Which way a document goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    SalesOrder,
    DeliveryNote,
    SalesInvoice,
    CreditNote,
    PurchaseOrder,
    ReceiptNote,
    PurchaseInvoice,
    DebitNote,
}

impl Direction {
    pub(crate) const fn is_sale(self) -> bool {
        matches!(self, Self::SalesOrder | Self::DeliveryNote | Self::SalesInvoice | Self::CreditNote)
    }

    /// Whether it takes back what an invoice did.
    pub(crate) const fn credits(self) -> bool {
        matches!(self, Self::CreditNote | Self::DebitNote)
    }

    /// Whether it charges a party, or credits one.
    pub(crate) const fn bills(self) -> bool {
        matches!(self, Self::SalesInvoice | Self::PurchaseInvoice | Self::CreditNote | Self::DebitNote)
    }

    pub(crate) const fn is_order(self) -> bool {
        matches!(self, Self::SalesOrder | Self::PurchaseOrder)
    }

    /// Whether it says that goods came or went, and not for how much.
    pub(crate) const fn is_goods(self) -> bool {
        matches!(self, Self::DeliveryNote | Self::ReceiptNote)
    }

    /// Whether what it leaves open is a debit.
    const fn debits_control(self) -> bool {
        matches!(self, Self::SalesInvoice | Self::DebitNote)
    }

    const fn tax(self) -> TaxDirection {
        if self.is_sale() { TaxDirection::Sales } else { TaxDirection::Purchase }
    }
}

crate::stored::wire_enum! {
    /// What a note is for.
    pub enum NoteKind {
        /// Goods come back.
        #[default]
        Return = "return",
        /// The price was too high.
        PriceAdjustment = "priceAdjustment",
        /// What is owed will not be paid.
        WriteOff = "writeOff",
    }
}

crate::stored::wire_enum! {
    /// At what cost goods come back.
    pub enum ReturnCost {
        /// At the cost with which they left.
        #[default]
        Original = "original",
        /// At what such goods cost now.
        Current = "current",
    }
}

/// Money that is received with the invoice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CashAsked {
    account: RecordId,
    amount: Option<Money>,
    reference: Option<String>,
}

/// How goods get to where they go, and what the other side calls things.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Logistics {
    expected_date: Option<Day>,
    valid_until: Option<Day>,
    shipping_method: Option<String>,
    customer_reference: Option<String>,
    carrier: Option<String>,
    tracking_number: Option<String>,
    delivered_at: Option<Instant>,
    supplier_delivery_number: Option<String>,
    supplier_invoice_date: Option<Day>,
}

impl Logistics {
    fn is_unsaid(&self) -> bool {
        *self == Self::default()
    }
}

/// A trade document, checked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TradeAsked {
    party: RecordId,
    currency: Option<String>,
    exchange_rate: Option<Rate>,
    inclusive: Option<bool>,
    discount: Option<Discount>,
    control_account: Option<RecordId>,
    due_date: Option<Day>,
    payment_term: Option<RecordId>,
    billing_address: Option<Address>,
    shipping_address: Option<Address>,
    notes: Option<String>,
    terms: Option<String>,
    private_note: Option<String>,
    update_stock: Option<bool>,
    is_opening: bool,
    /// The day that the tax counts for, where it is another than the document's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tax_date: Option<Day>,
    source: Option<RecordId>,
    reason: Option<String>,
    note_kind: Option<NoteKind>,
    return_cost: ReturnCost,
    cash: Option<CashAsked>,
    allocations: Vec<AllocationAsked>,
    lines: Vec<TradeLineAsked>,
    /// The order that it follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    order: Option<RecordId>,
    /// The notes of goods that it invoices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    goods_notes: Vec<RecordId>,
    /// Whether goods come back by it.
    #[serde(default, skip_serializing_if = "<&bool as std::ops::Not>::not")]
    is_return: bool,
    /// Whether nothing more is to come of an order; kept only where it is so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    closed: Option<bool>,
    #[serde(default, skip_serializing_if = "Logistics::is_unsaid")]
    logistics: Logistics,
    /// What the version before it named.
    #[serde(skip)]
    held: Held,
}

impl TradeAsked {
    /// The tax codes, items and terms that it names.
    fn names(&self) -> impl Iterator<Item = RecordId> + '_ {
        let of_lines = self.lines.iter().flat_map(|line| line.tax.code().into_iter().chain(line.item));
        of_lines.chain(self.payment_term)
    }
}

impl TradeAsked {
    /// What one of its currency is worth.
    fn rate(&self) -> Rate {
        self.exchange_rate.unwrap_or(Rate::OF_ITSELF)
    }
}

/// What the document came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TradeFigures {
    party_name: String,
    party_tax_number: Option<String>,
    currency: String,
    control_account: Option<RecordId>,
    lines: Vec<LineKept>,
    totals: Totals,
    base_total: Money,
    base_net: Money,
    base_tax: Money,
    summary: Vec<SummaryKept>,
    moves_stock: bool,
}

/// A component of the tax of a document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SummaryKept {
    code: RecordId,
    component: RecordId,
    name: String,
    kind: TaxKind,
    rate: Percent,
    base: Money,
    amount: Money,
    base_base: Money,
    base_amount: Money,
    recoverable: Money,
}

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
    name: String,
    /// How it works.
    kind: TaxKind,
    /// The rate, in percent.
    rate: Percent,
    /// What it was computed on.
    base: Amount,
    /// What it comes to.
    amount: Amount,
    /// What it was computed on, in the company's currency.
    base_amount_base: Amount,
    /// What it comes to in the company's currency.
    amount_base: Amount,
    /// What of it can be claimed back on purchases.
    recoverable: Amount,
}

/// What a trade document says beside its head and what only its kind has.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TradeBody {
    /// The party.
    party_id: RecordId,
    /// The party's name, as it was when the document was written.
    party_name: String,
    /// The party's tax number, as it was when the document was written.
    party_tax_number: Option<String>,
    /// Currency of the document.
    currency: String,
    /// What one unit of it is worth in the company's; null in the company's own.
    exchange_rate: Option<Rate>,
    /// The day that its tax counts for; the date when null.
    tax_date: Option<Day>,
    /// Whether prices include tax.
    prices_include_tax: bool,
    /// Discount of the document, in percent.
    discount_percent: Option<Percent>,
    /// Discount of the document, where it was given as an amount.
    discount_amount: Option<Amount>,
    /// Where the invoice goes.
    billing_address: Option<Address>,
    /// Where the goods go.
    shipping_address: Option<Address>,
    /// Words for the other side.
    notes: Option<String>,
    /// Terms and conditions.
    terms: Option<String>,
    /// Words for yourself.
    private_note: Option<String>,
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
    total: Amount,
    /// What the other side keeps back as tax when paying.
    withheld_total: Amount,
    /// The total in the company's currency.
    base_total: Amount,
    /// The net total in the company's currency.
    base_net_total: Amount,
    /// The tax in the company's currency.
    base_tax_total: Amount,
    /// The tax, component by component.
    tax_summary: Vec<TaxSummaryView>,
    /// The documents that it follows, and those that follow it.
    links: Vec<live::LinkView>,
}

/// What only a document has that charges or credits.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Charge {
    /// Whether lines of stock items move stock.
    update_stock: bool,
    /// What it was allocated to, or what was allocated to it.
    allocations: Vec<allocating::AllocationView>,
}

/// A document as it is answered, before its kind gives the parts their names.
pub struct Shown {
    pub(crate) row: documents::Model,
    pub(crate) body: TradeBody,
    pub(crate) lines: Vec<line::TradeLineView>,
    pub(crate) asked: TradeAsked,
    pub(crate) control_account: Option<RecordId>,
    pub(crate) standing: Standing,
    pub(crate) own_decimals: u32,
    pub(crate) base_decimals: u32,
}

impl Shown {
    fn charge(&self) -> Result<Charge> {
        let allocations = if self.row.status == DocumentStatus::Draft {
            self.asked.allocations.iter().map(|one| allocating::planned(one, self.own_decimals)).collect()
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

/// What a kind of trade document adds.
pub trait TradeKind: Send + Sync + 'static {
    const KEY: ResourceKey;
    const ABOUT: About;
    const KIND: DocumentKind;
    const DIRECTION: Direction;
    const STATUSES: &'static [&'static str];
    /// Finds documents by such a status.
    const BY_STATUS: kit::rows::Looks;
    /// What else it is found by.
    fn filters() -> Vec<Filter<Column>> {
        Vec::new()
    }
    type Input: serde::de::DeserializeOwned + JsonSchema + Send;
    type View: Record;

    fn example() -> serde_json::Value;
    fn example_view() -> serde_json::Value;
    fn check(input: Self::Input) -> Result<(HeadInput, kinds::Checked), FieldErrors>;
    fn view(cx: &Cx<'_>, shown: Shown) -> Result<Self::View>;
    fn extras() -> Vec<Extra>;
}

impl<K: TradeKind> Resource for Trade<K> {
    const KEY: ResourceKey = K::KEY;
    const SCOPE: Scope = Scope::Business;
    const ABOUT: About = K::ABOUT;
    type Input = K::Input;
    type Draft = Draft<TradeAsked>;
    type View = K::View;

    fn example() -> serde_json::Value {
        K::example()
    }

    fn example_view() -> serde_json::Value {
        K::example_view()
    }

    fn check(_: Option<&Business>, input: K::Input) -> Result<Self::Draft, FieldErrors> {
        let (head, checked) = K::check(input)?;
        let mut faults = checked.faults;
        let head = Head::check(&mut faults, head);
        let asked = checked.asked;
        if asked.due_date.is_some_and(|due| due < head.date && head.date != Day::default()) {
            faults.add("dueDate", "must not be before the date");
        }
        faults.finish(Draft { head, asked })
    }

    document_operations!(K::extras());
}

impl<K: TradeKind> Rows for Trade<K> {
    document_rows!();

    fn filters() -> Vec<Filter<Column>> {
        let mut filters = document::filters();
        filters.retain(|filter| filter.parameter.name != "status");
        let statuses = Reads::AnyOf(K::STATUSES);
        filters.extend([
            Filter::looking("status", "Documents that stand like this.", statuses, K::BY_STATUS),
            Filter::of_party("Documents of this party.", Column::PartyId),
            Filter::looking("itemId", "Posted documents that trade this item.", Reads::Identifier, live::trading),
        ]);
        filters.extend(K::filters());
        filters
    }
}

impl<K: TradeKind> Document for Trade<K> {
    const KIND: DocumentKind = K::KIND;
    const MODULE: Module = match (K::DIRECTION.is_goods(), K::DIRECTION.is_sale()) {
        (true, _) => Module::Stock,
        (false, true) => Module::Sales,
        (false, false) => Module::Purchase,
    };
    const POSTS: bool = !K::DIRECTION.is_order();
    type Asked = TradeAsked;
    type Figures = TradeFigures;
    type Live = Standing;

    fn words(asked: &TradeAsked) -> Vec<String> {
        let lines = asked.lines.iter().filter_map(|line| line.description.clone());
        lines.chain(asked.notes.clone()).chain(asked.reason.clone()).collect()
    }

    fn identify(cx: &Cx<'_>, asked: &TradeAsked, old: Option<Before<'_, TradeAsked>>) -> Result<TradeAsked> {
        let mut asked = asked.clone();
        let was_closed = old.as_ref().and_then(|old| old.asked.closed);
        let closed_by_itself = was_closed.is_none() && old.as_ref().is_some_and(|old| old.stage == Some(Stage::Closed));
        document::identify(cx, &mut asked.lines, old.as_ref().map(|old| old.asked.lines.as_slice()))?;
        if let Some(old) = old.as_ref().filter(|old| asked.discount.is_none() || asked.discount == old.asked.discount) {
            for line in &mut asked.lines {
                let before = old.asked.lines.iter().find(|known| known.id == line.id);
                line.is_share = before.is_some_and(|before| before.is_share && line.repeats(before));
            }
        }
        if let Some(old) = old.filter(|old| old.status != DocumentStatus::Draft) {
            // What came with the document when it was posted has a life of its own now.
            asked.allocations.clone_from(&old.asked.allocations);
            asked.cash.clone_from(&old.asked.cash);
            asked.held = old.asked.names().collect();
        }
        // An order that closed by itself is shown as closed; that sent back changes nothing.
        asked.closed = if closed_by_itself { was_closed } else { asked.closed.or(was_closed) }.filter(|closed| *closed);
        Ok(asked)
    }

    fn sent_back(mut asked: TradeAsked, old: &Content<TradeAsked, TradeFigures>) -> TradeAsked {
        for line in &mut asked.lines {
            let known = old.asked.lines.iter().zip(&old.figures.lines).find(|(known, _)| known.id == line.id);
            // A tax that was computed and is read and sent back says nothing.
            if let Some((known, kept)) = known
                && known.stated_tax.is_none()
                && line.stated_tax == Some(kept.figures.tax)
            {
                line.stated_tax = None;
            }
        }
        asked
    }

    fn copied(asked: TradeAsked) -> TradeAsked {
        // What credits an invoice is about that invoice; all else stands by itself.
        let lines = asked.lines.iter().map(|line| TradeLineAsked {
            source_line: line.source_line.filter(|_| asked.source.is_some()),
            is_share: line.is_share && asked.source.is_some(),
            ..line.clone()
        });
        TradeAsked { lines: lines.collect(), order: None, goods_notes: Vec::new(), closed: None, ..asked }
    }

    fn parties(asked: &mut TradeAsked) -> Vec<&mut RecordId> {
        vec![&mut asked.party]
    }

    async fn complete(cx: &Cx<'_>, head: &Head, asked: TradeAsked) -> Result<TradeAsked> {
        complete::complete(cx, K::DIRECTION, head, asked).await
    }

    async fn settle(cx: &Cx<'_>, head: &Head, asked: &TradeAsked, purpose: Purpose) -> Result<Settled<TradeFigures>> {
        settle::settle(cx, K::DIRECTION, head, asked, purpose).await
    }

    fn change(old: &TradeAsked, new: &TradeAsked) -> Change {
        if old == new {
            return Change::Nothing;
        }
        let in_books = |asked: &TradeAsked| TradeAsked {
            due_date: None,
            payment_term: None,
            billing_address: None,
            shipping_address: None,
            notes: None,
            terms: None,
            private_note: None,
            reason: None,
            closed: None,
            logistics: Logistics::default(),
            ..asked.clone()
        };
        if in_books(old) == in_books(new) { Change::Words } else { Change::Books }
    }

    async fn reword_beside(cx: &Cx<'_>, row: &documents::Model, asked: &TradeAsked) -> Result<documents::Model> {
        if K::DIRECTION.is_order() {
            return live::close(cx, row, asked.closed == Some(true)).await;
        }
        live::fall_due(cx, row, asked.due_date).await?;
        Ok(row.clone())
    }

    async fn release(cx: &Cx<'_>, row: &documents::Model, leaving: Leaving, on: Option<Day>) -> Result<()> {
        live::release(cx, K::DIRECTION, row, (leaving, on)).await
    }

    async fn outlasts(cx: &Cx<'_>, old: Edition<'_, Self>, new: Edition<'_, Self>) -> Result<()> {
        origin::outlasts(cx, K::DIRECTION, old, new).await
    }

    fn tax_date(asked: &TradeAsked) -> Option<Day> {
        asked.tax_date
    }

    fn rate(asked: &TradeAsked) -> Option<Rate> {
        asked.exchange_rate
    }

    async fn posted(cx: &Cx<'_>, row: &documents::Model, asked: &TradeAsked) -> Result<()> {
        if let Some(cash) = &asked.cash {
            let amount = cash.amount.unwrap_or(row.total);
            settlement::receive(cx, row, (cash.account, amount, cash.reference.clone())).await?;
        }
        allocating::allocate_all(cx, row, None, &asked.allocations).await
    }

    fn has_sequel(asked: &TradeAsked) -> bool {
        asked.cash.is_some() || !asked.allocations.is_empty()
    }

    async fn live(cx: &Cx<'_>, rows: &[documents::Model]) -> Result<HashMap<RecordId, Standing>> {
        live::standings(cx, rows).await
    }

    fn fresh(settled: &Settled<TradeFigures>) -> Standing {
        Standing::of_plan(settled.stock.as_ref(), settled.progress.as_ref())
    }

    fn view(
        cx: &Cx<'_>,
        row: documents::Model,
        content: Content<TradeAsked, TradeFigures>,
        standing: Standing,
    ) -> Result<K::View> {
        K::view(cx, shown(cx, row, content, standing)?)
    }
}

fn shown(
    cx: &Cx<'_>,
    row: documents::Model,
    content: Content<TradeAsked, TradeFigures>,
    standing: Standing,
) -> Result<Shown> {
    let Content { asked, figures } = content;
    let base_decimals = cx.business()?.currency_decimals;
    let known = crate::currency::Currency::known(&figures.currency, format_args!("document {}", row.id))?;
    let own = |money| known.amount(money);
    let base = |money| Amount { money, currency_decimals: base_decimals };
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
    Ok(Shown { row, body, lines, asked, control_account, standing, own_decimals: known.decimals(), base_decimals })
}
