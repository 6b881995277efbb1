//! The books of Duet: resources, rules, money, permissions and storage.
//!
//! Knows nothing of HTTP. A dialect calls [`ledger::Ledger`]; everything that it can call is in the registry,
//! [`resource::each_resource`].

pub mod access;
pub mod answers;
pub mod aside;
pub mod auth;
pub mod books;
pub mod clock;
mod currency;
pub mod cx;
pub mod database;
pub mod day;
pub mod error;
pub mod fair;
pub mod feed;
pub mod field;
mod fingerprint;
mod idempotency;
pub mod ids;
mod installation;
pub mod keys;
pub mod ledger;
pub mod money;
pub mod quoting;
mod remembered;
pub mod resource;
mod rules;
mod running;
pub mod security;
pub mod strength;
mod usage;
