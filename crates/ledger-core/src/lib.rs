//! The books of Duet: resources, rules, money, permissions and storage.
//!
//! Knows nothing of HTTP. A dialect calls [`ledger::Ledger`]; everything that it can call is in the registry,
//! [`resource::each_resource`].

pub mod access;
pub mod answers;
pub mod aside;
pub mod auth;
pub mod books;
pub mod client;
pub mod cx;
pub mod database;
pub mod fair;
pub mod feed;
mod fingerprint;
mod idempotency;
mod installation;
pub mod keys;
pub mod ledger;
mod remembered;
pub mod resource;
mod running;
pub mod security;
pub mod strength;
mod usage;

pub use words::{clock, currency, day, error, field, ids, money, packed, quoting, sown, stored};
pub(crate) use words::{fault, texts, wire_enum};
