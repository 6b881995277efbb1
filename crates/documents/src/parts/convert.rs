//! The next document of one: a note or an invoice of an order, an invoice or a return of a note, a credit of a return.
//! And what only orders can: be closed, be opened again, be cancelled.

use super::line::TradeLineAsked;
use super::{Trade, TradeAsked, TradeFigures, TradeKind};
use crate::credit_note::CreditNote;
use crate::day::Day;
use crate::debit_note::DebitNote;
use crate::delivery_note::DeliveryNote;
use crate::document::{self, Content, Draft, Head, invalid_state, load, load_source};
use crate::error::{Code, Conflict, Error, FieldErrors, Result};
use crate::field::{Each, Faults, Field, Maybe, Text};
use crate::ids::RecordId;
use crate::money::Quantity;
use crate::purchase_invoice::PurchaseInvoice;
use crate::purchase_order::PurchaseOrder;
use crate::receipt_note::ReceiptNote;
use crate::sales_invoice::SalesInvoice;
use crate::sales_order::SalesOrder;
use books::cx::Cx;
use books::progress::{self, less};
use kit::extra::{Act, Extra, NoWords, action};
use kit::operation::ReplyKind;
use kit::resource::Resource;
use rules::tax::figures::Discount;
use schema::address::text;
use schema::aliases::Aliases;
use schema::rights::Action;
use schema::tables::CLOSED;
use schema::tables::{DocumentStatus, documents};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::marker::PhantomData;

/// What of a document the next one is made of.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct ConversionInput {
    /// The day of the new document; today, or the day of this document if that is later, when absent.
    date: Maybe<Day>,
    /// `posted` or `draft`; as the company's settings say when absent.
    status: Maybe<DocumentStatus>,
    /// Its number, where the series takes numbers by hand.
    number: Maybe<Text<50>>,
    /// A number or text of the other side.
    reference: Maybe<Text<100>>,
    /// What it is about.
    narration: Maybe<Text<1000>>,
    /// The new document's identifier in another system.
    external_id: Maybe<Text<200>>,
    /// Which lines, and how many of each; all that is left when absent.
    #[schemars(extend("maxItems" = 1000))]
    lines: Each<ConvertedLineInput>,
}

/// A line, and how many of it.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct ConvertedLineInput {
    /// The line of this document.
    line_id: Field<RecordId>,
    /// How many; all that is left when absent.
    quantity: Maybe<Quantity>,
}

pub(crate) struct Conversion {
    date: Option<Day>,
    status: Option<DocumentStatus>,
    number: Option<String>,
    reference: Option<String>,
    narration: Option<String>,
    external_id: Option<String>,
    lines: Vec<(RecordId, Option<Quantity>)>,
}

/// What is made of what.
trait Step: Send + Sync + 'static {
    type From: TradeKind;
    type To: TradeKind;
    const NAME: &'static str;
    const SEGMENT: &'static str;
    const SUMMARY: &'static str;
    const DESCRIPTION: &'static str;
    /// Whether goods come back by it.
    const RETURNS: bool = false;
}

struct Convert<S>(PhantomData<fn() -> S>);

impl<S: Step> Act for Convert<S> {
    type Resource = Trade<S::From>;
    type Answers = Trade<S::To>;
    type Input = ConversionInput;
    type Words = Conversion;
    const NAME: &'static str = S::NAME;
    const SEGMENT: &'static str = S::SEGMENT;
    const ACTION: Action = Action::Create;
    const KIND: ReplyKind = ReplyKind::Created;
    const SUMMARY: &'static str = S::SUMMARY;
    const DESCRIPTION: &'static str = S::DESCRIPTION;

    fn check(input: ConversionInput) -> Result<Conversion, FieldErrors> {
        let mut faults = Faults::default();
        let words = Conversion {
            date: faults.optional("date", input.date),
            status: faults.optional("status", input.status),
            number: text(&mut faults, "number", input.number),
            reference: text(&mut faults, "reference", input.reference),
            narration: text(&mut faults, "narration", input.narration),
            external_id: text(&mut faults, "externalId", input.external_id),
            lines: faults.each("lines", input.lines, |faults, line| {
                let quantity = faults.optional("quantity", line.quantity);
                if quantity.is_some_and(|quantity| quantity <= Quantity::ZERO) {
                    faults.add("quantity", "must be greater than 0");
                }
                (faults.required("lineId", line.line_id), quantity)
            }),
        };
        faults.finish(words)
    }

    fn example() -> Option<fn() -> Value> {
        Some(|| {
            json!({
                "date": "2026-11-24",
                "lines": [{ "lineId": "019a9f6e-6c00-7b22-8b11-6d8eaf102b22", "quantity": 4 }]
            })
        })
    }

    async fn run(cx: &Cx<'_>, id: RecordId, words: &Conversion) -> Result<<Trade<S::To> as Resource>::View> {
        let old = load_source::<Trade<S::From>>(cx, id).await?;
        let asked = next::<S>(cx, &old.row, &old.content, words).await?;
        let head = Head {
            date: words.date.unwrap_or(Ord::max(cx.today()?, old.row.date)),
            status: words.status,
            number: words.number.clone(),
            series: None,
            reference: words.reference.clone().or_else(|| old.row.reference.clone()),
            narration: words.narration.clone(),
            external_id: words.external_id.clone(),
            tags: old.row.tags.0.clone(),
        };
        document::create::<Trade<S::To>>(cx, &Draft { head, asked }).await
    }
}

type Kept = Content<TradeAsked, TradeFigures>;

/// A line to be made, and of which line.
struct Part {
    source: RecordId,
    quantity: Quantity,
}

async fn next<S: Step>(cx: &Cx<'_>, row: &documents::Model, kept: &Kept, words: &Conversion) -> Result<TradeAsked> {
    check_may_go_on::<S>(row, kept)?;
    cx.flush().await?;
    let lines = progress::of_documents(cx, &[row.id]).await?;
    let lines: HashMap<RecordId, progress::Line> = lines.into_iter().map(|line| (line.line_id, line)).collect();
    let mut faults = FieldErrors::default();
    let mut wanted: Vec<(RecordId, Option<Quantity>)> = Vec::new();
    for (index, (id, quantity)) in words.lines.iter().enumerate() {
        if lines.contains_key(id) && kept.asked.lines.iter().any(|line| line.id == Some(*id)) {
            wanted.push((*id, *quantity));
        } else {
            faults.add(format!("lines[{index}].lineId"), "names no line of this document that can be followed");
        }
    }
    if !faults.is_empty() {
        return Err(faults.into());
    }
    if words.lines.is_empty() {
        wanted = kept.asked.lines.iter().filter_map(|line| Some((line.id?, None))).collect();
    }
    let notes = if S::From::DIRECTION.is_order() && S::To::DIRECTION.bills() {
        uninvoiced_notes(cx, &lines).await?
    } else {
        HashMap::new()
    };
    let mut parts = Vec::new();
    for (id, quantity) in wanted {
        let Some(line) = lines.get(&id) else { continue };
        if S::To::DIRECTION.is_goods() && line.item_id.is_none() {
            if let Some(at) = words.lines.iter().position(|(named, _)| *named == id) {
                faults.add(format!("lines[{at}].lineId"), "names a line without item, which is not delivered");
            }
            continue;
        }
        parts.extend(parts_of::<S>(line, quantity, notes.get(&id).map_or(&[], Vec::as_slice)));
    }
    if !faults.is_empty() {
        return Err(faults.into());
    }
    if parts.is_empty() {
        let title = "Nothing is left of its lines to go on with".into();
        let errors = FieldErrors::one("lines", "are all done");
        return Err(Error::Conflict(Conflict { code: Code::OverFulfilment, title, errors }));
    }
    Ok(assemble::<S>(row, kept, &parts, cx.aliases()?))
}

fn check_may_go_on<S: Step>(row: &documents::Model, kept: &Kept) -> Result<()> {
    if row.status != DocumentStatus::Posted {
        return Err(invalid_state("Only a posted document can be gone on with"));
    }
    if row.subkind.as_deref() == Some(CLOSED) {
        return Err(invalid_state("The order is closed; reopen it first"));
    }
    let credits = S::To::DIRECTION.credits();
    if S::From::DIRECTION.is_goods() && kept.asked.is_return != credits {
        return Err(invalid_state(if credits {
            "Only a note that brings goods back is credited; this one is invoiced"
        } else {
            "A note that brings goods back is credited, neither invoiced nor returned"
        }));
    }
    Ok(())
}

/// The lines of notes that deliver lines of an order and are not yet invoiced, by the line of the order.
async fn uninvoiced_notes(
    cx: &Cx<'_>,
    lines: &HashMap<RecordId, progress::Line>,
) -> Result<HashMap<RecordId, Vec<progress::Line>>> {
    let mut notes: HashMap<RecordId, Vec<progress::Line>> = HashMap::new();
    for note in progress::followers(cx, lines.keys().copied()).await? {
        if let Some(order) = note.source_line_id.filter(|_| note.open() > Quantity::ZERO) {
            notes.entry(order).or_default().push(note);
        }
    }
    for of_line in notes.values_mut() {
        of_line.sort_by_key(|note| (note.date, note.line_id));
    }
    Ok(notes)
}

/// What is made of one line: what was delivered by notes is invoiced first, what is still to be delivered after it.
fn parts_of<S: Step>(line: &progress::Line, quantity: Option<Quantity>, notes: &[progress::Line]) -> Vec<Part> {
    let open = if S::RETURNS { less(line.quantity, line.returned) } else { line.open() };
    let mut parts = Vec::new();
    let mut left = quantity;
    for note in notes {
        let takes = left.map_or(note.open(), |left| Ord::min(left, note.open()));
        if takes > Quantity::ZERO {
            parts.push(Part { source: note.line_id, quantity: takes });
            left = left.map(|left| less(left, takes));
        }
    }
    // More than is left is asked for as it is, so that it is refused with its figures.
    let rest = left.unwrap_or(open);
    if rest > Quantity::ZERO {
        parts.push(Part { source: line.line_id, quantity: rest });
    }
    parts
}

/// The document that is asked for. What its lines leave out is taken from those that they follow.
fn assemble<S: Step>(row: &documents::Model, kept: &Kept, parts: &[Part], aliases: &Aliases) -> TradeAsked {
    let said = &kept.asked;
    let line = |part: &Part| TradeLineAsked {
        quantity: Some(part.quantity),
        source_line: Some(part.source),
        ..TradeLineAsked::default()
    };
    let priced = S::To::DIRECTION != ReceiptNote::DIRECTION && !S::To::DIRECTION.credits();
    let order = S::From::DIRECTION.is_order();
    TradeAsked {
        party: aliases.of_document(row).unwrap_or(said.party),
        order: if order { Some(row.id) } else { None },
        discount: said.discount.filter(|_| priced).and_then(|discount| match discount {
            Discount::Percent(percent) => Some(Discount::Percent(percent)),
            // The lines have their shares of it.
            Discount::Amount(_) => None,
        }),
        billing_address: said.billing_address.clone(),
        shipping_address: said.shipping_address.clone(),
        notes: said.notes.clone(),
        terms: said.terms.clone(),
        is_return: S::RETURNS,
        lines: parts.iter().map(line).collect(),
        ..TradeAsked::default()
    }
}

/// A conversion, as a row of the table below.
macro_rules! step {
    ($name:ident: $from:ident => $to:ident, $id:literal, $segment:literal, $summary:literal, $description:literal $(, $returns:literal)?) => {
        struct $name;

        impl Step for $name {
            type From = $from;
            type To = $to;
            const NAME: &'static str = $id;
            const SEGMENT: &'static str = $segment;
            const SUMMARY: &'static str = $summary;
            const DESCRIPTION: &'static str = $description;
            $(const RETURNS: bool = $returns;)?
        }
    };
}

step!(DeliverOrder: SalesOrder => DeliveryNote, "Deliver", "delivery-notes", "Make a delivery note of {one}",
    "Delivers what is left of the {noun}, or the lines and quantities that are named. Lines without item are not \
     delivered, only invoiced.");
step!(InvoiceOrder: SalesOrder => SalesInvoice, "Invoice", "invoices", "Make an invoice of {one}",
    "Invoices what was delivered by notes and not yet invoiced, and after that what is left of the {noun}, whose goods \
     leave the stock with the invoice; or the lines and quantities that are named.");
step!(ReceiveOrder: PurchaseOrder => ReceiptNote, "Receive", "receipt-notes", "Make a receipt note of {one}",
    "Receives what is left of the {noun}, or the lines and quantities that are named. Lines without item are not \
     received, only billed.");
step!(BillOrder: PurchaseOrder => PurchaseInvoice, "Invoice", "invoices", "Make a purchase invoice of {one}",
    "Bills what was received by notes and not yet billed, and after that what is left of the {noun}, whose goods come \
     into stock with the invoice; or the lines and quantities that are named.");
step!(InvoiceDelivery: DeliveryNote => SalesInvoice, "Invoice", "invoices", "Make an invoice of {one}",
    "Invoices what is left of the {noun}, or the lines and quantities that are named. Prices are those of the order, \
     else of the note, else of the items.");
step!(ReturnDelivery: DeliveryNote => DeliveryNote, "Return", "returns", "Make a return of {one}",
    "Brings back what was delivered, or the lines and quantities that are named, at what it cost. What was not invoiced \
     is then not to be invoiced; the rest waits for a credit note.", true);
step!(CreditReturn: DeliveryNote => CreditNote, "Credit", "credit-notes", "Make a credit note of {one}",
    "Credits goods that came back and were invoiced as they were invoiced: at the prices, tax codes and exchange rate of \
     their invoices, a line for each line that billed them. A note is in one currency: of what was invoiced in several, \
     the lines and quantities of one are named, then those of the next. For a {noun} of the kind `return` only.");
step!(BillReceipt: ReceiptNote => PurchaseInvoice, "Invoice", "invoices", "Make a purchase invoice of {one}",
    "Bills what is left of the {noun}, or the lines and quantities that are named. Prices are those of the order, else \
     of the note.");
step!(ReturnReceipt: ReceiptNote => ReceiptNote, "Return", "returns", "Make a return of {one}",
    "Sends back what was received, or the lines and quantities that are named, at what it cost. What was not billed is \
     then not to be billed; the rest waits for a debit note.", true);
step!(DebitReturn: ReceiptNote => DebitNote, "Credit", "debit-notes", "Make a debit note of {one}",
    "Debits the supplier for goods that went back and were billed as they were billed: at the prices, tax codes and \
     exchange rate of their invoices, a line for each line that billed them. A note is in one currency: of what was billed \
     in several, the lines and quantities of one are named, then those of the next. For a {noun} of the kind `return` only.");

/// What can be made of each kind.
pub(crate) mod conversions {
    use super::{
        BillOrder, BillReceipt, Cancel, Close, Convert, CreditReturn, DebitReturn, DeliverOrder, Extra,
        InvoiceDelivery, InvoiceOrder, PurchaseOrder, ReceiveOrder, Reopen, ReturnDelivery, ReturnReceipt, SalesOrder,
        TradeKind, action,
    };

    fn of_orders<K: TradeKind>() -> [Extra; 3] {
        [action::<Close<K>>(), action::<Reopen<K>>(), action::<Cancel<K>>()]
    }

    pub(crate) fn of_sales_orders() -> Vec<Extra> {
        let mut extras = vec![action::<Convert<DeliverOrder>>(), action::<Convert<InvoiceOrder>>()];
        extras.extend(of_orders::<SalesOrder>());
        extras
    }

    pub(crate) fn of_purchase_orders() -> Vec<Extra> {
        let mut extras = vec![action::<Convert<ReceiveOrder>>(), action::<Convert<BillOrder>>()];
        extras.extend(of_orders::<PurchaseOrder>());
        extras
    }

    pub(crate) fn of_delivery_notes() -> Vec<Extra> {
        vec![
            action::<Convert<InvoiceDelivery>>(),
            action::<Convert<ReturnDelivery>>(),
            action::<Convert<CreditReturn>>(),
        ]
    }

    pub(crate) fn of_receipt_notes() -> Vec<Extra> {
        vec![action::<Convert<BillReceipt>>(), action::<Convert<ReturnReceipt>>(), action::<Convert<DebitReturn>>()]
    }
}

/// Closes an order, or opens it again.
async fn set_closed<K: TradeKind>(cx: &Cx<'_>, id: RecordId, closes: bool) -> Result<<Trade<K> as Resource>::View> {
    let old = load::<Trade<K>>(cx, id).await?;
    if old.row.status != DocumentStatus::Posted {
        return Err(invalid_state("Only a posted order can be closed or reopened"));
    }
    let is_closed = old.row.subkind.as_deref() == Some(CLOSED);
    if is_closed == closes {
        let word = if closes { "closed" } else { "open" };
        return Err(invalid_state(format!("The order is {word} already")));
    }
    let asked = TradeAsked { closed: closes.then_some(true), ..old.content.asked.clone() };
    document::reword::<Trade<K>>(cx, old, asked).await
}

struct Close<K>(PhantomData<fn() -> K>);

impl<K: TradeKind> Act for Close<K> {
    type Resource = Trade<K>;
    type Answers = Trade<K>;
    type Input = NoWords;
    type Words = ();
    const NAME: &'static str = "Close";
    const SEGMENT: &'static str = "close";
    const ACTION: Action = Action::Edit;
    const SUMMARY: &'static str = "Close {one}";
    const DESCRIPTION: &'static str = "Gives up what is left of the {noun}: it becomes `cancelledQuantity`. The same as \
                                       `status` set to `closed` in a PUT.";

    fn check(_: NoWords) -> Result<(), FieldErrors> {
        Ok(())
    }

    async fn run(cx: &Cx<'_>, id: RecordId, (): &()) -> Result<<Trade<K> as Resource>::View> {
        set_closed::<K>(cx, id, true).await
    }
}

struct Reopen<K>(PhantomData<fn() -> K>);

impl<K: TradeKind> Act for Reopen<K> {
    type Resource = Trade<K>;
    type Answers = Trade<K>;
    type Input = NoWords;
    type Words = ();
    const NAME: &'static str = "Reopen";
    const SEGMENT: &'static str = "reopen";
    const ACTION: Action = Action::Edit;
    const SUMMARY: &'static str = "Reopen {one}";
    const DESCRIPTION: &'static str = "Takes back that the {noun} was closed: what was given up is open again. The same \
                                       as `status` set to `open` in a PUT.";

    fn check(_: NoWords) -> Result<(), FieldErrors> {
        Ok(())
    }

    async fn run(cx: &Cx<'_>, id: RecordId, (): &()) -> Result<<Trade<K> as Resource>::View> {
        set_closed::<K>(cx, id, false).await
    }
}

struct Cancel<K>(PhantomData<fn() -> K>);

impl<K: TradeKind> Act for Cancel<K> {
    type Resource = Trade<K>;
    type Answers = Trade<K>;
    type Input = document::VoidInput;
    type Words = document::VoidWords;
    const NAME: &'static str = "Cancel";
    const SEGMENT: &'static str = "cancel";
    const ACTION: Action = Action::Void;
    const SUMMARY: &'static str = "Cancel {one}";
    const DESCRIPTION: &'static str = "Calls off a {noun} of which nothing came yet; it keeps its number. Another word \
                                       for `void`, and the same as `status` set to `cancelled` in a PUT. An order in \
                                       progress is closed instead.";

    fn check(input: document::VoidInput) -> Result<document::VoidWords, FieldErrors> {
        document::check_void(input)
    }

    fn example() -> Option<fn() -> Value> {
        Some(|| json!({"reason": "Ordered twice"}))
    }

    async fn run(cx: &Cx<'_>, id: RecordId, words: &document::VoidWords) -> Result<<Trade<K> as Resource>::View> {
        document::run_void::<Trade<K>>(cx, id, words).await
    }
}
