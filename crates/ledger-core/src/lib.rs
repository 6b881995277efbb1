//! The books of Duet: resources, rules, money, permissions and storage.
//!
//! Knows nothing of HTTP. A dialect calls [`ledger::Ledger`]; everything that it can call is in the registry,
//! [`resource::registry`].

pub mod answers;
pub mod books;
mod fingerprint;
mod idempotency;
pub mod ledger;
pub mod resource;
mod usage;

pub use ::books::{access, aside, auth, client, cx, database, fair, keys, news, security, strength, watch};
pub use kit::feed;
pub use words::{
    clock, codes, currency, day, error, fault, field, ids, meant, money, packed, quoting, sown, stored, texts,
};
