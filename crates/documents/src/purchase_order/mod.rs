//! Purchase orders: what is wanted of a supplier. They post nothing.

use crate::currency::CurrencyCode;
use crate::day::Day;
use crate::document::head::AllowedAction;
use crate::document::{self, HeadInput, HeadView};
use crate::error::{FieldErrors, Result};
use crate::field::{Each, Faults, Field, Label, Maybe, Text};
use crate::ids::RecordId;
use crate::money::{Money, Percent, Rate};
use crate::parts::convert::conversions;
use crate::parts::line::{OrderLineView, TradeLineInput, check_discount, check_lines};
use crate::parts::order::order_status;
use crate::parts::order::{abilities, order_example, order_example_view, order_lines};
use crate::parts::status::{Extent, PurchaseOrderStatus};
use crate::parts::wire::Checked;
use crate::parts::wire::{read, trade_input, trade_view};
use crate::parts::{Direction, Posts, Shown, Trade, TradeAsked, TradeBody, TradeKind};
use crate::wire_enum;
use books::cx::Cx;
use kit::extra::Extra;
use kit::master::{RecordKeeping, kept};
use kit::resource::About;
use schema::address::{self, AddressInput, text};
use schema::key::ResourceKey;
use schema::tables::{DocumentKind, DocumentStatus, Stage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub type PurchaseOrders = Trade<PurchaseOrder>;

pub struct PurchaseOrder;

order_status!(PurchaseOrderStatusAsked, PartiallyReceived = "partiallyReceived", Received = "received");

trade_input! {
    /// What a client sends to create or replace a purchase order.
    PurchaseOrderInput, PurchaseOrderStatusAsked, {
        /// The supplier.
        party_id: Field<RecordId>,
        /// When the goods are to arrive.
        expected_arrival_date: Maybe<Day>,
        /// Until when the offer holds.
        valid_until: Maybe<Day>,
        /// How the goods are to be sent.
        shipping_method: Maybe<Text<100>>,
    }
}

trade_view! {
    /// What was ordered of a supplier, and how much of it is received and billed.
    PurchaseOrderView, "PurchaseOrder", PurchaseOrderStatus, OrderLineView, [], {
        /// When the goods are to arrive.
        expected_arrival_date: Option<Day>,
        /// Until when the offer holds.
        valid_until: Option<Day>,
        /// How the goods are to be sent.
        shipping_method: Option<String>,
        /// How much of the goods is received; of an order without goods: how much is billed.
        receipt_status: Extent,
        /// How much is billed.
        bill_status: Extent,
    }
}

impl TradeKind for PurchaseOrder {
    const KEY: ResourceKey = ResourceKey::PurchaseOrders;
    const ABOUT: About = About {
        one: "a purchase order",
        many: "purchase orders",
        description: "What is wanted of a supplier. An order posts nothing; its goods count as on order until they are \
                      received or the rest is given up. Receipt notes and purchase invoices are made of it.",
        sorts: document::SORTS,
        searched: "numbers that begin so, totals or, where there are none, in number, reference, narration, notes and the lines' descriptions, or else in their party, where that may be viewed",
    };
    const KIND: DocumentKind = DocumentKind::PurchaseOrder;
    const DIRECTION: Direction = Direction::PurchaseOrder;
    const POSTING: Posts = Posts::Nothing;
    const STATUSES: &'static [&'static str] = PurchaseOrderStatus::TEXTS;
    type Input = PurchaseOrderInput;
    type View = PurchaseOrderView;

    fn example() -> serde_json::Value {
        order_example(json!({ "expectedArrivalDate": "2026-11-27" }))
    }

    fn example_view() -> serde_json::Value {
        order_example_view(
            Self::DIRECTION,
            json!({
                "allowedActions": ["edit", "void", "copy", "receive", "invoice", "close", "cancel"],
                "receiptStatus": "none", "billStatus": "none"
            }),
        )
    }

    fn check(input: PurchaseOrderInput) -> Result<(HeadInput, Checked), FieldErrors> {
        read!(input, |faults, asked| {
            asked.party = faults.required("partyId", input.party_id);
            asked.closed = PurchaseOrderStatusAsked::closes(&input.status);
            asked.logistics.expected_date = faults.optional("expectedArrivalDate", input.expected_arrival_date);
            asked.logistics.valid_until = faults.optional("validUntil", input.valid_until);
            asked.logistics.shipping_method = text(&mut faults, "shippingMethod", input.shipping_method);
        })
    }

    fn called(status: DocumentStatus, stage: Option<Stage>) -> &'static str {
        PurchaseOrderStatus::of(status, stage).as_str()
    }

    fn view(cx: &Cx<'_>, shown: Shown) -> Result<PurchaseOrderView> {
        let row = &shown.row;
        let status = PurchaseOrderStatus::of(row.status, row.stage);
        let abilities = abilities(&shown, AllowedAction::Receive);
        let (receipt_status, bill_status) = shown.standing.extents();
        let logistics = shown.asked.logistics.clone();
        Ok(PurchaseOrderView {
            keeping: kept!(row),
            head: HeadView::shown_as(cx, Self::KEY, row, status, &abilities)?,
            body: shown.body,
            lines: order_lines(shown.lines, &shown.standing),
            expected_arrival_date: logistics.expected_date,
            valid_until: logistics.valid_until,
            shipping_method: logistics.shipping_method,
            receipt_status,
            bill_status,
        })
    }

    fn extras() -> Vec<Extra> {
        conversions::of_purchase_orders()
    }
}
