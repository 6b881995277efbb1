//! What a record that is named has within it: which identifiers its lines and its entries have, and
//! what the logs say of it.
//!
//! The records themselves are named by whoever knows the examples of the documents, `ledger_core::resource::named`.

use crate::ids::RecordId;
use uuid::Uuid;

/// A line of a record that is named, by its place.
pub fn line(of: RecordId, place: usize) -> RecordId {
    within(of, 1, place)
}

/// An entry in the ledger of a record that is named.
pub fn entry(of: RecordId, place: usize) -> RecordId {
    within(of, 2, place)
}

/// What the log says of the command that made it.
pub fn log(of: RecordId, place: usize) -> RecordId {
    within(of, 3, place)
}

/// Told apart from the record, and from what else it has, by what stands in the middle.
fn within(of: RecordId, part: u128, place: usize) -> RecordId {
    let [place, ..] = place.to_le_bytes();
    RecordId(Uuid::from_u128(of.0.as_u128() ^ (((part << 8) | (u128::from(place) + 1)) << 64)))
}
