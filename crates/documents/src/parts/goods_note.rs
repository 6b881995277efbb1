//! Notes of goods: what was delivered and received, and what came or went back. They post what goods cost.

use crate::document::Abilities;
use crate::document::head::AllowedAction;
use crate::error::Result;
use crate::field::{Faults, Maybe};
use crate::ids::RecordId;
use crate::money::Quantity;
use crate::parts::{Shown, TradeAsked};
use books::cx::Cx;
use kit::list::{FilterValue, Reads};
use kit::rows::Filter;
use schema::tables::DocumentStatus;
use schema::tables::documents::Column;
use sea_orm::{ColumnTrait, Condition};
use serde_json::json;

/// What the row of a note says that brings goods back.
pub(crate) const RETURN: &str = "return";

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
pub(crate) use note_status;

/// What can be done with a note, beside what every document can.
pub(crate) fn abilities(shown: &Shown) -> Abilities {
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

/// A note without order, or without the note that it takes back, says for whom it is.
pub(crate) fn party(faults: &mut Faults, party: Maybe<RecordId>, asked: &TradeAsked) -> RecordId {
    let party = faults.optional("partyId", party);
    let follows = asked.order.is_some() || asked.lines.iter().any(|line| line.source_line.is_some());
    if party.is_none() && !follows {
        faults.add("partyId", "is required");
    }
    party.unwrap_or(RecordId::NOBODY)
}

pub(crate) fn kinds(words: &'static [&'static str]) -> Vec<Filter<Column>> {
    vec![Filter::looking("kind", "Notes that bring goods, or that bring them back.", Reads::AnyOf(words), of_kind)]
}

#[expect(clippy::unnecessary_wraps, reason = "filters that look elsewhere may fail")]
pub(crate) fn of_kind(_: &Cx<'_>, value: &FilterValue) -> Result<Condition> {
    let FilterValue::AnyOf(words) = value else { return Ok(Condition::any()) };
    let found =
        words.iter().map(|word| if word == RETURN { Column::Subkind.eq(RETURN) } else { Column::Subkind.is_null() });
    Ok(found.fold(Condition::any(), Condition::add))
}

pub(crate) fn note_progress(quantity: u32) -> serde_json::Value {
    json!({ "invoicedQuantity": 0, "returnedQuantity": 0, "openQuantity": quantity })
}
