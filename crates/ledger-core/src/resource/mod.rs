//! The resources, as dialects and the launcher know them.
//!
//! To add one: write its room in `masters` or `documents`, add its key in `schema`, and its line in the room's
//! `operations()`. Paths, permissions, documentation and the tests' matrices follow from that.

pub mod batch;
mod copying;
pub mod decimals;
pub mod named;
pub mod registry;
pub mod verification;

pub use documents::{
    contra_entry, credit_note, delivery_note, entry, item, journal, payment, purchase_invoice, purchase_order, receipt,
    receipt_note, sales_invoice, sales_order,
};
pub use kit::resource::{About, NoRecord, Record, Resource, Scope};
pub use kit::{body, expand, extra, list};
pub use masters::{account, api_key, business, party, tax_code};
pub use schema::key::ResourceKey;

/// What can be done with resources, and with all of them.
pub mod operation {
    pub use super::registry::{operations, registry};
    pub use kit::operation::*;
}
