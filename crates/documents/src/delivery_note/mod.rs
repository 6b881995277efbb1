//! Delivery notes: what was delivered to a customer, and what came back. They post what goods cost.

mod posting;
#[cfg(test)]
mod tests;

use crate::clock::Instant;
use crate::currency::CurrencyCode;
use crate::day::Day;
use crate::document::{self, HeadInput, HeadView};
use crate::error::{FieldErrors, Result};
use crate::field::{Each, Faults, Field, Label, Maybe, Text};
use crate::ids::RecordId;
use crate::money::{Amount, BookMoney, Money, Percent, Quantity, Rate};
use crate::parts::convert::conversions;
use crate::parts::goods_note::note_status;
use crate::parts::goods_note::{abilities, kinds, note_progress, party};
use crate::parts::line::{DeliveryLineView, TradeLineInput, check_discount, check_lines};
use crate::parts::status::{DeliveryStatus, Extent};
use crate::parts::wire::{Checked, chain_example_view, example_of};
use crate::parts::wire::{read, trade_input, trade_view};
use crate::parts::{Direction, Posts, Shown, Trade, TradeAsked, TradeBody, TradeKind};
use crate::wire_enum;
use books::cx::Cx;
use kit::extra::Extra;
use kit::master::{RecordKeeping, kept};
use kit::resource::About;
use kit::rows::Filter;
use schema::address::{self, AddressInput, text};
use schema::key::ResourceKey;
use schema::tables::documents::Column;
use schema::tables::{DocumentKind, DocumentStatus, Stage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub type DeliveryNotes = Trade<DeliveryNote>;

pub struct DeliveryNote;

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

note_status!(DeliveryStatusAsked, PartiallyInvoiced = "partiallyInvoiced", Invoiced = "invoiced");

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

impl TradeKind for DeliveryNote {
    const KEY: ResourceKey = ResourceKey::DeliveryNotes;
    const ABOUT: About = About {
        one: "a delivery note",
        many: "delivery notes",
        description: "What was delivered to a customer, or came back. Goods leave the stock at their cost, which waits \
                      until they are invoiced, or is a cost at once, as the company's `cogsTiming` says. Prices are for \
                      the invoice and may be left out.",
        sorts: document::SORTS,
        searched: "numbers that begin so, totals or, where there are none, in number, reference, narration, notes and the lines' descriptions, or else in their party, where that may be viewed",
    };
    const KIND: DocumentKind = DocumentKind::DeliveryNote;
    const DIRECTION: Direction = Direction::DeliveryNote;
    const POSTING: Posts = Posts::Goods(posting::lines);
    const STATUSES: &'static [&'static str] = DeliveryStatus::TEXTS;
    type Input = DeliveryNoteInput;
    type View = DeliveryNoteView;

    fn example() -> serde_json::Value {
        let mut body = example_of(json!({
            "kind": "delivery", "salesOrderId": null, "carrier": "DHL", "trackingNumber": "00340434161094000001",
            "deliveredAt": "2026-11-21T10:15:00Z"
        }));
        crate::parts::wire::only_goods(&mut body);
        body
    }

    fn example_view() -> serde_json::Value {
        let mut view = chain_example_view(Self::DIRECTION, [note_progress(10), json!({})]);
        crate::parts::wire::extend(
            &mut view,
            json!({
                "status": "posted", "allowedActions": ["edit", "void", "copy", "invoice", "return"],
                "deliveredAt": "2026-11-21T10:15:00.000000Z", "costTotal": 92.5, "invoiceStatus": "none", "returnedQuantity": 0
            }),
        );
        crate::parts::wire::only_goods(&mut view);
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

    fn called(status: DocumentStatus, stage: Option<Stage>) -> &'static str {
        DeliveryStatus::of(status, stage).as_str()
    }

    fn view(cx: &Cx<'_>, shown: Shown) -> Result<DeliveryNoteView> {
        let row = &shown.row;
        let status = DeliveryStatus::of(row.status, row.stage);
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
            cost_total: BookMoney::from_units(cost).shown(shown.base_decimals),
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
