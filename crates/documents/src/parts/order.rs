//! Orders: what a customer wants, and what is wanted of a supplier. They post nothing.

use crate::document::Abilities;
use crate::document::head::AllowedAction;
use crate::parts::line::{OrderLineView, TradeLineView};
use crate::parts::status::Standing;
use crate::parts::wire::{chain_example_view, example_of};
use crate::parts::{Direction, Shown};
use schema::tables::CLOSED;
use schema::tables::{DocumentStatus, Stage};
use serde_json::json;

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
pub(crate) use order_status;

/// What can be done with an order, beside what every document can.
pub(crate) fn abilities(shown: &Shown, delivers: AllowedAction) -> Abilities {
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

pub(crate) fn order_lines(lines: Vec<TradeLineView>, standing: &Standing) -> Vec<OrderLineView> {
    let of = |line: TradeLineView| {
        let progress = standing.progress(line.id);
        OrderLineView::of(line, progress)
    };
    lines.into_iter().map(of).collect()
}

pub(crate) fn order_example(more: serde_json::Value) -> serde_json::Value {
    let mut body = example_of(json!({ "validUntil": "2026-12-31", "shippingMethod": "Parcel" }));
    crate::parts::wire::extend(&mut body, more);
    body
}

pub(crate) fn order_example_view(direction: Direction, more: serde_json::Value) -> serde_json::Value {
    let progress = |quantity: u32| {
        json!({ "fulfilledQuantity": 0, "invoicedQuantity": 0, "returnedQuantity": 0, "cancelledQuantity": 0,
                "openQuantity": quantity })
    };
    let mut view = chain_example_view(direction, [progress(10), progress(1)]);
    crate::parts::wire::extend(&mut view, json!({ "entryIds": [] }));
    crate::parts::wire::extend(&mut view, more);
    view
}
