//! Notes of goods: what was delivered and received, and what came or went back. They post what goods cost.

use super::super::convert::conversions;
use super::super::line::{
    DeliveryLineView, ReceiptLineInput, ReceiptLineView, TradeLineInput, check_discount, check_lines,
};
use super::super::live::{self, DeliveryStatus, Extent, ReceiptStatus};
use super::super::{Direction, Shown, Trade, TradeAsked, TradeBody, TradeKind};
use super::{Checked, chain_example_view, example_of};
use crate::clock::Instant;
use crate::currency::CurrencyCode;
use crate::day::Day;
use crate::document::head::AllowedAction;
use crate::document::{self, Abilities, HeadInput, HeadView};
use crate::error::{FieldErrors, Result};
use crate::field::{Each, Faults, Field, Label, Maybe, Text};
use crate::ids::RecordId;
use crate::money::{Amount, Money, Percent, Quantity, Rate};
use crate::wire_enum;
use books::cx::Cx;
use kit::extra::Extra;
use kit::list::{FilterValue, Reads};
use kit::master::{RecordKeeping, kept};
use kit::resource::About;
use kit::rows::{Filter, Looks};
use schema::address::{self, AddressInput, text};
use schema::key::ResourceKey;
use schema::tables::documents::Column;
use schema::tables::{DocumentKind, DocumentStatus, Stage};
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, Condition};
use serde::{Deserialize, Serialize};
use serde_json::json;

pub type DeliveryNotes = Trade<DeliveryNote>;
pub type ReceiptNotes = Trade<ReceiptNote>;

pub struct DeliveryNote;
pub struct ReceiptNote;

/// What the row of a note says that brings goods back.
pub(in super::super) const RETURN: &str = "return";

wire_enum! {
    /// Which way goods go.
    pub enum DeliveryKind {
        /// To the customer.
        #[default]
        Delivery = "delivery",
        /// Back from the customer.
        Return = "return",
    }
}

wire_enum! {
    /// Which way goods go.
    pub enum ReceiptKind {
        /// From the supplier.
        #[default]
        Receipt = "receipt",
        /// Back to the supplier.
        Return = "return",
    }
}

/// What a note is to become, and what it is shown as.
macro_rules! note_status {
    ($name:ident, $partly:ident = $partly_text:literal, $fully:ident = $fully_text:literal) => {
        wire_enum! {
            /// What a note is to become: `draft`, `posted` or `void`. What else it is shown as can be sent back and
            /// changes nothing.
            pub enum $name {
                Draft = "draft",
                #[default]
                Posted = "posted",
                $partly = $partly_text,
                $fully = $fully_text,
                Void = "void",
            }
        }

        impl From<$name> for DocumentStatus {
            fn from(asked: $name) -> Self {
                match asked {
                    $name::Draft => Self::Draft,
                    $name::Void => Self::Void,
                    $name::Posted | $name::$partly | $name::$fully => Self::Posted,
                }
            }
        }
    };
}

note_status!(DeliveryStatusAsked, PartiallyInvoiced = "partiallyInvoiced", Invoiced = "invoiced");
note_status!(ReceiptStatusAsked, PartiallyBilled = "partiallyBilled", Billed = "billed");

trade_input! {
    /// What a client sends to create or replace a delivery note.
    DeliveryNoteInput, DeliveryStatusAsked, {
        /// The customer; that of the order or the note that it follows when absent.
        party_id: Maybe<RecordId>,
        /// Whether goods are delivered or come back; `delivery` when absent. Lines of a return may name the lines of the
        /// note that delivered them.
        kind: Maybe<DeliveryKind>,
        /// The sales order that it delivers. Lines may name lines of it; those that name none follow one of their item.
        sales_order_id: Maybe<RecordId>,
        /// Who carries the goods.
        carrier: Maybe<Text<100>>,
        /// The carrier's number of the consignment.
        tracking_number: Maybe<Text<100>>,
        /// When the goods arrived.
        delivered_at: Maybe<Instant>,
    }
}

trade_input! {
    /// What a client sends to create or replace a receipt note.
    ReceiptNoteInput, ReceiptStatusAsked, ReceiptLineInput, {
        /// The supplier; that of the order or the note that it follows when absent.
        party_id: Maybe<RecordId>,
        /// Whether goods are received or go back; `receipt` when absent. Lines of a return may name the lines of the
        /// note that brought them.
        kind: Maybe<ReceiptKind>,
        /// The purchase order that it receives. Lines may name lines of it; those that name none follow one of their
        /// item.
        purchase_order_id: Maybe<RecordId>,
        /// The supplier's number of the delivery.
        supplier_delivery_number: Maybe<Text<100>>,
    }
}

trade_view! {
    /// What was delivered, or came back, and how much of it is invoiced.
    DeliveryNoteView, "DeliveryNote", DeliveryStatus, DeliveryLineView, [], {
        /// Whether goods are delivered or come back.
        kind: DeliveryKind,
        /// The sales order that it delivers.
        sales_order_id: Option<RecordId>,
        /// Who carries the goods.
        carrier: Option<String>,
        /// The carrier's number of the consignment.
        tracking_number: Option<String>,
        /// When the goods arrived.
        delivered_at: Option<Instant>,
        /// What the goods cost, in the company's currency.
        cost_total: Amount,
        /// How much of it is invoiced; of a return: how much is credited.
        invoice_status: Extent,
        /// How many came back.
        returned_quantity: Quantity,
    }
}

trade_view! {
    /// What was received, or went back, and how much of it is billed.
    ReceiptNoteView, "ReceiptNote", ReceiptStatus, ReceiptLineView, [], {
        /// Whether goods are received or go back.
        kind: ReceiptKind,
        /// The purchase order that it receives.
        purchase_order_id: Option<RecordId>,
        /// The supplier's number of the delivery.
        supplier_delivery_number: Option<String>,
        /// What of it stands on the account of goods that are not invoiced, in the company's currency: what is still to
        /// be billed.
        grni_total: Amount,
        /// How much of it is billed; of a return: how much is credited.
        bill_status: Extent,
        /// How many went back.
        returned_quantity: Quantity,
    }
}

/// What can be done with a note, beside what every document can.
fn abilities(shown: &Shown) -> Abilities {
    let mut offers = Vec::new();
    let progress = || shown.standing.chain.lines.iter();
    if shown.row.status == DocumentStatus::Posted {
        let open = progress().any(|line| line.open() > Quantity::ZERO);
        match (shown.asked.is_return, open) {
            (true, true) => offers.push(AllowedAction::Credit),
            (false, true) => offers.push(AllowedAction::Invoice),
            (_, false) => {}
        }
        if !shown.asked.is_return && progress().any(|line| line.returned < line.quantity) {
            offers.push(AllowedAction::Return);
        }
    }
    Abilities { held: shown.standing.is_followed(), offers, ..Abilities::default() }
}

fn stands(row: &document::Row) -> (DocumentStatus, Stage) {
    (row.status, row.stage.unwrap_or(Stage::Open))
}

/// A note without order, or without the note that it takes back, says for whom it is.
fn party(faults: &mut Faults, party: Maybe<RecordId>, asked: &TradeAsked) -> RecordId {
    let party = faults.optional("partyId", party);
    let follows = asked.order.is_some() || asked.lines.iter().any(|line| line.source_line.is_some());
    if party.is_none() && !follows {
        faults.add("partyId", "is required");
    }
    party.unwrap_or(RecordId::NOBODY)
}

fn kinds(words: &'static [&'static str]) -> Vec<Filter<Column>> {
    vec![Filter::looking("kind", "Notes that bring goods, or that bring them back.", Reads::AnyOf(words), of_kind)]
}

#[expect(clippy::unnecessary_wraps, reason = "filters that look elsewhere may fail")]
fn of_kind(_: &Cx<'_>, value: &FilterValue) -> Result<Condition> {
    let FilterValue::AnyOf(words) = value else { return Ok(Condition::any()) };
    let found =
        words.iter().map(|word| if word == RETURN { Column::Subkind.eq(RETURN) } else { Column::Subkind.is_null() });
    Ok(found.fold(Condition::any(), Condition::add))
}

fn note_progress(quantity: u32) -> serde_json::Value {
    json!({ "invoicedQuantity": 0, "returnedQuantity": 0, "openQuantity": quantity })
}

impl TradeKind for DeliveryNote {
    const KEY: ResourceKey = ResourceKey::DeliveryNotes;
    const ABOUT: About = About {
        one: "a delivery note",
        many: "delivery notes",
        description: "What was delivered to a customer, or came back. Goods leave the stock at their cost, which waits \
                      until they are invoiced, or is a cost at once, as the company's `cogsTiming` says. Prices are for \
                      the invoice and may be left out.",
        sorts: document::SORTS,
        searched: "number, reference, narration, notes and the lines' descriptions",
    };
    const KIND: DocumentKind = DocumentKind::DeliveryNote;
    const DIRECTION: Direction = Direction::DeliveryNote;
    const STATUSES: &'static [&'static str] = DeliveryStatus::TEXTS;
    const BY_STATUS: Looks = live::that_got_so_far;
    type Input = DeliveryNoteInput;
    type View = DeliveryNoteView;

    fn example() -> serde_json::Value {
        let mut body = example_of(json!({
            "kind": "delivery", "salesOrderId": null, "carrier": "DHL", "trackingNumber": "00340434161094000001",
            "deliveredAt": "2026-11-21T10:15:00Z"
        }));
        super::only_goods(&mut body);
        body
    }

    fn example_view() -> serde_json::Value {
        let mut view = chain_example_view(Self::DIRECTION, [note_progress(10), json!({})]);
        super::extend(
            &mut view,
            json!({
                "status": "posted", "allowedActions": ["edit", "void", "copy", "invoice", "return"],
                "deliveredAt": "2026-11-21T10:15:00.000000Z", "costTotal": 92.5, "invoiceStatus": "none", "returnedQuantity": 0
            }),
        );
        super::only_goods(&mut view);
        view
    }

    fn check(input: DeliveryNoteInput) -> Result<(HeadInput, Checked), FieldErrors> {
        read!(input, |faults, asked| {
            asked.order = faults.optional("salesOrderId", input.sales_order_id);
            asked.is_return = faults.optional("kind", input.kind) == Some(DeliveryKind::Return);
            asked.logistics.carrier = text(&mut faults, "carrier", input.carrier);
            asked.logistics.tracking_number = text(&mut faults, "trackingNumber", input.tracking_number);
            asked.logistics.delivered_at = faults.optional("deliveredAt", input.delivered_at);
            asked.party = party(&mut faults, input.party_id, &asked);
        })
    }

    fn view(cx: &Cx<'_>, shown: Shown) -> Result<DeliveryNoteView> {
        let row = &shown.row;
        let status = match stands(row) {
            (DocumentStatus::Draft, _) => DeliveryStatus::Draft,
            (DocumentStatus::Void, _) => DeliveryStatus::Void,
            (DocumentStatus::Posted, Stage::Open) => DeliveryStatus::Posted,
            (DocumentStatus::Posted, Stage::Partial) => DeliveryStatus::PartiallyInvoiced,
            (DocumentStatus::Posted, Stage::Done | Stage::Closed) => DeliveryStatus::Invoiced,
        };
        let abilities = abilities(&shown);
        let cost: i64 = shown.standing.costs.values().map(|cost| cost.units()).sum();
        let lines = shown.lines.into_iter().map(|line| {
            let progress = shown.standing.progress(line.id);
            DeliveryLineView::of(line, progress)
        });
        Ok(DeliveryNoteView {
            keeping: kept!(row),
            head: HeadView::shown_as(cx, Self::KEY, row, status, &abilities)?,
            lines: lines.collect(),
            kind: if shown.asked.is_return { DeliveryKind::Return } else { DeliveryKind::Delivery },
            sales_order_id: shown.asked.order,
            carrier: shown.asked.logistics.carrier.clone(),
            tracking_number: shown.asked.logistics.tracking_number.clone(),
            delivered_at: shown.asked.logistics.delivered_at,
            cost_total: Amount { money: Money::from_units(cost), currency_decimals: shown.base_decimals },
            invoice_status: shown.standing.extents().1,
            returned_quantity: shown.standing.returned()?,
            body: shown.body,
        })
    }

    fn filters() -> Vec<Filter<Column>> {
        kinds(DeliveryKind::TEXTS)
    }

    fn extras() -> Vec<Extra> {
        conversions::of_delivery_notes()
    }
}

impl TradeKind for ReceiptNote {
    const KEY: ResourceKey = ResourceKey::ReceiptNotes;
    const ABOUT: About = About {
        one: "a receipt note",
        many: "receipt notes",
        description: "What a supplier delivered, or took back. Goods come into stock at what they are to cost, which \
                      waits until they are billed; if the bill says otherwise, what is still there becomes dearer or \
                      cheaper, and so does what was sold of it.",
        sorts: document::SORTS,
        searched: "number, reference, narration, notes and the lines' descriptions",
    };
    const KIND: DocumentKind = DocumentKind::ReceiptNote;
    const DIRECTION: Direction = Direction::ReceiptNote;
    const STATUSES: &'static [&'static str] = ReceiptStatus::TEXTS;
    const BY_STATUS: Looks = live::that_got_so_far;
    type Input = ReceiptNoteInput;
    type View = ReceiptNoteView;

    fn example() -> serde_json::Value {
        let mut body = example_of(json!({
            "kind": "receipt", "purchaseOrderId": null, "supplierDeliveryNumber": "LS-2026-118",
            "lines": [{
                "itemId": super::ITEM, "description": "Espresso beans, dark roast", "quantity": 10, "unit": "kg",
                "unitCost": 9.25, "rejectedQuantity": 0
            }]
        }));
        super::without_prices(&mut body);
        body
    }

    fn example_view() -> serde_json::Value {
        let mut progress = note_progress(10);
        super::extend(
            &mut progress,
            json!({
                "unitPrice": 9.25, "unitCost": 9.25, "discountPercent": null, "taxCodeId": null, "grossAmount": 92.5,
                "discountValue": 0, "netAmount": 92.5, "taxAmount": 0, "baseNetAmount": 92.5, "baseTaxAmount": 0, "taxes": [],
                "rejectedQuantity": 0
            }),
        );
        let mut view = chain_example_view(Self::DIRECTION, [progress, json!({})]);
        super::extend(
            &mut view,
            json!({
                "status": "posted", "allowedActions": ["edit", "void", "copy", "invoice", "return"], "pricesIncludeTax": false, "discountPercent": null, "discountAmount": null, "grniTotal": 92.5,
                "billStatus": "none", "returnedQuantity": 0, "subtotal": 92.5, "discountTotal": 0, "netTotal": 92.5,
                "taxTotal": 0, "total": 92.5, "baseTotal": 92.5, "baseNetTotal": 92.5, "baseTaxTotal": 0, "taxSummary": []
            }),
        );
        super::only_goods(&mut view);
        view
    }

    fn check(input: ReceiptNoteInput) -> Result<(HeadInput, Checked), FieldErrors> {
        read!(input, without prices, |faults, asked| {
            asked.order = faults.optional("purchaseOrderId", input.purchase_order_id);
            asked.is_return = faults.optional("kind", input.kind) == Some(ReceiptKind::Return);
            asked.logistics.supplier_delivery_number =
                text(&mut faults, "supplierDeliveryNumber", input.supplier_delivery_number);
            asked.party = party(&mut faults, input.party_id, &asked);
        })
    }

    fn view(cx: &Cx<'_>, shown: Shown) -> Result<ReceiptNoteView> {
        let row = &shown.row;
        let status = match stands(row) {
            (DocumentStatus::Draft, _) => ReceiptStatus::Draft,
            (DocumentStatus::Void, _) => ReceiptStatus::Void,
            (DocumentStatus::Posted, Stage::Open) => ReceiptStatus::Posted,
            (DocumentStatus::Posted, Stage::Partial) => ReceiptStatus::PartiallyBilled,
            (DocumentStatus::Posted, Stage::Done | Stage::Closed) => ReceiptStatus::Billed,
        };
        let abilities = abilities(&shown);
        // A credit is shown as what it is: something to be paid for.
        let waits: i64 = shown.standing.chain.lines.iter().map(|line| -line.value.units()).sum();
        let lines = shown.lines.into_iter().zip(&shown.asked.lines).map(|(line, asked)| {
            let progress = shown.standing.progress(line.id);
            ReceiptLineView::of(line, asked, progress)
        });
        Ok(ReceiptNoteView {
            keeping: kept!(row),
            head: HeadView::shown_as(cx, Self::KEY, row, status, &abilities)?,
            lines: lines.collect(),
            kind: if shown.asked.is_return { ReceiptKind::Return } else { ReceiptKind::Receipt },
            purchase_order_id: shown.asked.order,
            supplier_delivery_number: shown.asked.logistics.supplier_delivery_number.clone(),
            grni_total: Amount { money: Money::from_units(waits), currency_decimals: shown.base_decimals },
            bill_status: shown.standing.extents().1,
            returned_quantity: shown.standing.returned()?,
            body: shown.body,
        })
    }

    fn filters() -> Vec<Filter<Column>> {
        kinds(ReceiptKind::TEXTS)
    }

    fn extras() -> Vec<Extra> {
        conversions::of_receipt_notes()
    }
}
