//! Credit and debit notes: what is given back of what was sold and bought.

use crate::document::{Abilities, HeadView};
use crate::error::Result;
use crate::field::Faults;
use crate::ids::RecordId;
use crate::money::{Amount, Money};
use crate::parts::status::NoteStatus;
use crate::parts::{NoteKind, Shown};
use crate::wire_enum;
use books::cx::Cx;
use schema::key::ResourceKey;
use schema::tables::DocumentStatus;
use schemars::JsonSchema;
use serde::Serialize;
wire_enum! {
    /// What a note is to become: `draft`, `posted` or `void`. What it is shown as can be sent back and changes nothing.
    pub enum NoteStatusAsked {
        Draft = "draft",
        #[default]
        Posted = "posted",
        Open = "open",
        PartiallyAllocated = "partiallyAllocated",
        Closed = "closed",
        Void = "void",
    }
}

impl From<NoteStatusAsked> for DocumentStatus {
    fn from(asked: NoteStatusAsked) -> Self {
        match asked {
            NoteStatusAsked::Draft => Self::Draft,
            NoteStatusAsked::Void => Self::Void,
            NoteStatusAsked::Posted
            | NoteStatusAsked::Open
            | NoteStatusAsked::PartiallyAllocated
            | NoteStatusAsked::Closed => Self::Posted,
        }
    }
}

/// A note without invoice must say for whom it is.
pub(crate) fn check_party(faults: &mut Faults, party: Option<RecordId>, source: Option<RecordId>) -> RecordId {
    if party.is_none() && source.is_none() {
        faults.add("partyId", "is required");
    }
    party.unwrap_or(RecordId::NOBODY)
}

/// What only a note has.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NotePart {
    /// Why it is given.
    reason: Option<String>,
    /// What it is for.
    kind: NoteKind,
    /// What of it settles invoices.
    amount_allocated: Amount,
    /// What of it was paid out.
    amount_refunded: Amount,
    /// What is left of it.
    remaining_credit: Amount,
}

impl NotePart {
    pub(crate) fn of(shown: &Shown) -> Self {
        let own = |money| shown.own.amount(money);
        let id = shown.row.id;
        let allocated = shown.standing.allocations.iter().filter(|one| one.source_document_id == id);
        let refunded = shown.standing.allocations.iter().filter(|one| one.target_document_id == id);
        Self {
            reason: shown.asked.reason.clone(),
            kind: shown.asked.note_kind.unwrap_or(NoteKind::Return),
            amount_allocated: own(Money::from_units(allocated.map(|one| one.source_amount.units()).sum())),
            amount_refunded: own(Money::from_units(refunded.map(|one| one.amount.units()).sum())),
            remaining_credit: own(shown.standing.left(&shown.row).0),
        }
    }
}

pub(crate) fn note_head(cx: &Cx<'_>, key: ResourceKey, shown: &Shown) -> Result<HeadView<NoteStatus>> {
    let allocates = shown.row.status == DocumentStatus::Posted && shown.standing.left(&shown.row).0 != Money::ZERO;
    let abilities = Abilities { held: shown.standing.is_allocated(), allocates, ..Abilities::default() };
    let status = NoteStatus::of(shown.row.status, shown.standing.settled(&shown.row));
    HeadView::shown_as(cx, key, &shown.row, status, &abilities)
}
