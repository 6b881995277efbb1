//! Sales orders: what a customer wants. They post nothing.

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
use crate::parts::status::{Extent, SalesOrderStatus};
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

pub type SalesOrders = Trade<SalesOrder>;

pub struct SalesOrder;

order_status!(SalesOrderStatusAsked, PartiallyFulfilled = "partiallyFulfilled", Fulfilled = "fulfilled");

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

impl TradeKind for SalesOrder {
    const KEY: ResourceKey = ResourceKey::SalesOrders;
    const ABOUT: About = About {
        one: "a sales order",
        many: "sales orders",
        description: "What a customer wants. An order posts nothing; its goods count as committed until they are \
                      delivered or the rest is given up. Delivery notes and invoices are made of it.",
        sorts: document::SORTS,
        searched: "numbers that begin so, totals or, where there are none, in number, reference, narration, notes and the lines' descriptions, or else in their party, where that may be viewed",
    };
    const KIND: DocumentKind = DocumentKind::SalesOrder;
    const DIRECTION: Direction = Direction::SalesOrder;
    const POSTING: Posts = Posts::Nothing;
    const STATUSES: &'static [&'static str] = SalesOrderStatus::TEXTS;
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

    fn called(status: DocumentStatus, stage: Option<Stage>) -> &'static str {
        SalesOrderStatus::of(status, stage).as_str()
    }

    fn view(cx: &Cx<'_>, shown: Shown) -> Result<SalesOrderView> {
        let row = &shown.row;
        let status = SalesOrderStatus::of(row.status, row.stage);
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
