//! Receipt notes: what a supplier delivered, and what went back. They post what goods are to cost.

mod posting;
#[cfg(test)]
mod tests;

use crate::currency::CurrencyCode;
use crate::day::Day;
use crate::document::{self, HeadInput, HeadView};
use crate::error::{FieldErrors, Result};
use crate::field::{Each, Faults, Field, Label, Maybe, Text};
use crate::ids::RecordId;
use crate::money::{Amount, BookMoney, Quantity, Rate};
use crate::parts::convert::conversions;
use crate::parts::goods_note::note_status;
use crate::parts::goods_note::{abilities, kinds, note_progress, party};
use crate::parts::line::{ReceiptLineInput, ReceiptLineView, check_lines};
use crate::parts::status::{Extent, ReceiptStatus};
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

pub type ReceiptNotes = Trade<ReceiptNote>;

pub struct ReceiptNote;

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

note_status!(ReceiptStatusAsked, PartiallyBilled = "partiallyBilled", Billed = "billed");

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

impl TradeKind for ReceiptNote {
    const KEY: ResourceKey = ResourceKey::ReceiptNotes;
    const ABOUT: About = About {
        one: "a receipt note",
        many: "receipt notes",
        description: "What a supplier delivered, or took back. Goods come into stock at what they are to cost, which \
                      waits until they are billed; if the bill says otherwise, what is still there becomes dearer or \
                      cheaper, and so does what was sold of it.",
        sorts: document::SORTS,
        searched: "numbers that begin so, totals or, where there are none, in number, reference, narration, notes and the lines' descriptions, or else in their party, where that may be viewed",
    };
    const KIND: DocumentKind = DocumentKind::ReceiptNote;
    const DIRECTION: Direction = Direction::ReceiptNote;
    const POSTING: Posts = Posts::Goods(posting::lines);
    const STATUSES: &'static [&'static str] = ReceiptStatus::TEXTS;
    type Input = ReceiptNoteInput;
    type View = ReceiptNoteView;

    fn example() -> serde_json::Value {
        let mut body = example_of(json!({
            "kind": "receipt", "purchaseOrderId": null, "supplierDeliveryNumber": "LS-2026-118",
            "lines": [{
                "itemId": crate::parts::wire::ITEM, "description": "Espresso beans, dark roast", "quantity": 10, "unit": "kg",
                "unitCost": 9.25, "rejectedQuantity": 0
            }]
        }));
        crate::parts::wire::without_prices(&mut body);
        body
    }

    fn example_view() -> serde_json::Value {
        let mut progress = note_progress(10);
        crate::parts::wire::extend(
            &mut progress,
            json!({
                "unitPrice": 9.25, "unitCost": 9.25, "discountPercent": null, "taxCodeId": null, "grossAmount": 92.5,
                "discountValue": 0, "netAmount": 92.5, "taxAmount": 0, "baseNetAmount": 92.5, "baseTaxAmount": 0, "taxes": [],
                "rejectedQuantity": 0
            }),
        );
        let mut view = chain_example_view(Self::DIRECTION, [progress, json!({})]);
        crate::parts::wire::extend(
            &mut view,
            json!({
                "status": "posted", "allowedActions": ["edit", "void", "copy", "invoice", "return"], "pricesIncludeTax": false, "discountPercent": null, "discountAmount": null, "grniTotal": 92.5,
                "billStatus": "none", "returnedQuantity": 0, "subtotal": 92.5, "discountTotal": 0, "netTotal": 92.5,
                "taxTotal": 0, "total": 92.5, "baseTotal": 92.5, "baseNetTotal": 92.5, "baseTaxTotal": 0, "taxSummary": []
            }),
        );
        crate::parts::wire::only_goods(&mut view);
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

    fn called(status: DocumentStatus, stage: Option<Stage>) -> &'static str {
        ReceiptStatus::of(status, stage).as_str()
    }

    fn view(cx: &Cx<'_>, shown: Shown) -> Result<ReceiptNoteView> {
        let row = &shown.row;
        let status = ReceiptStatus::of(row.status, row.stage);
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
            grni_total: BookMoney::from_units(waits).shown(shown.base_decimals),
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
