//! Orders: what a customer wants, and what is wanted of a supplier. They post nothing.

use super::super::convert::conversions;
use super::super::line::{OrderLineView, TradeLineInput, TradeLineView, check_discount, check_lines};
use super::super::live::{self, Extent, PurchaseOrderStatus, SalesOrderStatus, Standing};
use super::super::{Direction, Shown, Trade, TradeAsked, TradeBody, TradeKind};
use super::{Checked, chain_example_view, example_of};
use crate::currency::CurrencyCode;
use crate::day::Day;
use crate::document::head::AllowedAction;
use crate::document::{self, Abilities, HeadInput, HeadView};
use crate::error::{FieldErrors, Result};
use crate::field::{Each, Faults, Field, Label, Maybe, Text};
use crate::ids::RecordId;
use crate::money::{Money, Percent, Rate};
use crate::wire_enum;
use books::cx::Cx;
use kit::extra::Extra;
use kit::master::{RecordKeeping, kept};
use kit::resource::About;
use kit::rows::Looks;
use schema::address::{self, AddressInput, text};
use schema::key::ResourceKey;
use schema::tables::CLOSED;
use schema::tables::{DocumentKind, DocumentStatus, Stage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub type SalesOrders = Trade<SalesOrder>;
pub type PurchaseOrders = Trade<PurchaseOrder>;

pub struct SalesOrder;
pub struct PurchaseOrder;

/// What an order is to become, and what it is shown as.
macro_rules! order_status {
    ($name:ident, $partly:ident = $partly_text:literal, $fully:ident = $fully_text:literal) => {
        wire_enum! {
            /// What an order is to become: `draft`, `posted`, `closed`, or `cancelled`, for which `void` is another word.
            /// `open` opens a closed one again. What else it is shown as can be sent back and changes nothing.
            pub enum $name {
                Draft = "draft",
                #[default]
                Posted = "posted",
                Open = "open",
                $partly = $partly_text,
                $fully = $fully_text,
                Closed = "closed",
                Cancelled = "cancelled",
                Void = "void",
            }
        }

        impl From<$name> for DocumentStatus {
            fn from(asked: $name) -> Self {
                match asked {
                    $name::Draft => Self::Draft,
                    $name::Cancelled | $name::Void => Self::Void,
                    $name::Posted | $name::Open | $name::$partly | $name::$fully | $name::Closed => Self::Posted,
                }
            }
        }

        impl $name {
            /// Whether it is to be closed, or to be opened again.
            const fn closes(asked: &Maybe<Self>) -> Option<bool> {
                match asked {
                    Field::Given(Some(Self::Closed)) => Some(true),
                    Field::Given(Some(Self::Open)) => Some(false),
                    _ => None,
                }
            }
        }
    };
}

order_status!(SalesOrderStatusAsked, PartiallyFulfilled = "partiallyFulfilled", Fulfilled = "fulfilled");
order_status!(PurchaseOrderStatusAsked, PartiallyReceived = "partiallyReceived", Received = "received");

trade_input! {
    /// What a client sends to create or replace a sales order.
    SalesOrderInput, SalesOrderStatusAsked, {
        /// The customer.
        party_id: Field<RecordId>,
        /// When the goods are to be delivered.
        expected_date: Maybe<Day>,
        /// Until when the offer holds.
        valid_until: Maybe<Day>,
        /// How the goods are to be sent.
        shipping_method: Maybe<Text<100>>,
        /// The customer's own number of the order.
        customer_reference: Maybe<Text<100>>,
    }
}

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
    /// What a customer ordered, and how much of it is delivered and invoiced.
    SalesOrderView, "SalesOrder", SalesOrderStatus, OrderLineView, [], {
        /// When the goods are to be delivered.
        expected_date: Option<Day>,
        /// Until when the offer holds.
        valid_until: Option<Day>,
        /// How the goods are to be sent.
        shipping_method: Option<String>,
        /// The customer's own number of the order.
        customer_reference: Option<String>,
        /// How much of the goods is delivered; of an order without goods: how much is invoiced.
        fulfilment_status: Extent,
        /// How much is invoiced.
        invoice_status: Extent,
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

/// What can be done with an order, beside what every document can.
fn abilities(shown: &Shown, delivers: AllowedAction) -> Abilities {
    let closed = shown.row.subkind.as_deref() == Some(CLOSED);
    let mut offers = Vec::new();
    if shown.row.status == DocumentStatus::Posted {
        match shown.row.stage {
            Some(Stage::Closed) if closed => offers.push(AllowedAction::Reopen),
            Some(Stage::Closed) => {}
            Some(Stage::Done) => offers.extend([AllowedAction::Invoice, AllowedAction::Close]),
            _ => offers.extend([delivers, AllowedAction::Invoice, AllowedAction::Close]),
        }
        if !shown.standing.is_followed() && !closed {
            offers.push(AllowedAction::Cancel);
        }
    }
    Abilities { held: shown.standing.is_followed() || closed, fixed: closed, offers, ..Abilities::default() }
}

fn order_lines(lines: Vec<TradeLineView>, standing: &Standing) -> Vec<OrderLineView> {
    let of = |line: TradeLineView| {
        let progress = standing.progress(line.id);
        OrderLineView::of(line, progress)
    };
    lines.into_iter().map(of).collect()
}

fn order_example(more: serde_json::Value) -> serde_json::Value {
    let mut body = example_of(json!({ "validUntil": "2026-12-31", "shippingMethod": "Parcel" }));
    super::extend(&mut body, more);
    body
}

fn order_example_view(direction: Direction, more: serde_json::Value) -> serde_json::Value {
    let progress = |quantity: u32| {
        json!({ "fulfilledQuantity": 0, "invoicedQuantity": 0, "returnedQuantity": 0, "cancelledQuantity": 0,
                "openQuantity": quantity })
    };
    let mut view = chain_example_view(direction, [progress(10), progress(1)]);
    super::extend(&mut view, json!({ "entryIds": [] }));
    super::extend(&mut view, more);
    view
}

impl TradeKind for SalesOrder {
    const KEY: ResourceKey = ResourceKey::SalesOrders;
    const ABOUT: About = About {
        one: "a sales order",
        many: "sales orders",
        description: "What a customer wants. An order posts nothing; its goods count as committed until they are \
                      delivered or the rest is given up. Delivery notes and invoices are made of it.",
        sorts: document::SORTS,
        searched: "number, reference, narration, notes and the lines' descriptions",
    };
    const KIND: DocumentKind = DocumentKind::SalesOrder;
    const DIRECTION: Direction = Direction::SalesOrder;
    const STATUSES: &'static [&'static str] = SalesOrderStatus::TEXTS;
    const BY_STATUS: Looks = live::that_got_so_far;
    type Input = SalesOrderInput;
    type View = SalesOrderView;

    fn example() -> serde_json::Value {
        order_example(json!({ "expectedDate": "2026-11-27", "customerReference": "4711" }))
    }

    fn example_view() -> serde_json::Value {
        order_example_view(
            Self::DIRECTION,
            json!({
                "allowedActions": ["edit", "void", "copy", "deliver", "invoice", "close", "cancel"],
                "fulfilmentStatus": "none", "invoiceStatus": "none"
            }),
        )
    }

    fn check(input: SalesOrderInput) -> Result<(HeadInput, Checked), FieldErrors> {
        read!(input, |faults, asked| {
            asked.party = faults.required("partyId", input.party_id);
            asked.closed = SalesOrderStatusAsked::closes(&input.status);
            asked.logistics.expected_date = faults.optional("expectedDate", input.expected_date);
            asked.logistics.valid_until = faults.optional("validUntil", input.valid_until);
            asked.logistics.shipping_method = text(&mut faults, "shippingMethod", input.shipping_method);
            asked.logistics.customer_reference = text(&mut faults, "customerReference", input.customer_reference);
        })
    }

    fn view(cx: &Cx<'_>, shown: Shown) -> Result<SalesOrderView> {
        let row = &shown.row;
        let status = match (row.status, row.stage.unwrap_or(Stage::Open)) {
            (DocumentStatus::Draft, _) => SalesOrderStatus::Draft,
            (DocumentStatus::Void, _) => SalesOrderStatus::Cancelled,
            (DocumentStatus::Posted, Stage::Open) => SalesOrderStatus::Open,
            (DocumentStatus::Posted, Stage::Partial) => SalesOrderStatus::PartiallyFulfilled,
            (DocumentStatus::Posted, Stage::Done) => SalesOrderStatus::Fulfilled,
            (DocumentStatus::Posted, Stage::Closed) => SalesOrderStatus::Closed,
        };
        let abilities = abilities(&shown, AllowedAction::Deliver);
        let (fulfilment_status, invoice_status) = shown.standing.extents();
        let logistics = shown.asked.logistics.clone();
        Ok(SalesOrderView {
            keeping: kept!(row),
            head: HeadView::shown_as(cx, Self::KEY, row, status, &abilities)?,
            body: shown.body,
            lines: order_lines(shown.lines, &shown.standing),
            expected_date: logistics.expected_date,
            valid_until: logistics.valid_until,
            shipping_method: logistics.shipping_method,
            customer_reference: logistics.customer_reference,
            fulfilment_status,
            invoice_status,
        })
    }

    fn extras() -> Vec<Extra> {
        conversions::of_sales_orders()
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
        searched: "number, reference, narration, notes and the lines' descriptions",
    };
    const KIND: DocumentKind = DocumentKind::PurchaseOrder;
    const DIRECTION: Direction = Direction::PurchaseOrder;
    const STATUSES: &'static [&'static str] = PurchaseOrderStatus::TEXTS;
    const BY_STATUS: Looks = live::that_got_so_far;
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

    fn view(cx: &Cx<'_>, shown: Shown) -> Result<PurchaseOrderView> {
        let row = &shown.row;
        let status = match (row.status, row.stage.unwrap_or(Stage::Open)) {
            (DocumentStatus::Draft, _) => PurchaseOrderStatus::Draft,
            (DocumentStatus::Void, _) => PurchaseOrderStatus::Cancelled,
            (DocumentStatus::Posted, Stage::Open) => PurchaseOrderStatus::Open,
            (DocumentStatus::Posted, Stage::Partial) => PurchaseOrderStatus::PartiallyReceived,
            (DocumentStatus::Posted, Stage::Done) => PurchaseOrderStatus::Received,
            (DocumentStatus::Posted, Stage::Closed) => PurchaseOrderStatus::Closed,
        };
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
