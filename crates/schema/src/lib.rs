//! The rows of all tables of the books, and what their columns hold.
//!
//! Owns: how each record is kept, what resources are called, what roles and permission sets allow, and who a row's party
//! is by now, and the one way in which a company is read at one moment ([`reader`]). Refuses: to know which engine answers.

pub mod account;
pub mod address;
pub mod aliases;
pub mod among;
pub mod api_key;
pub mod bank;
pub mod business;
pub mod dialect_usage;
pub mod exchange_rate;
pub mod fiscal_year;
pub mod idempotency;
pub mod item;
pub mod key;
pub mod kind;
pub mod lock;
pub mod membership;
pub mod named;
pub mod number_series;
pub mod party;
pub mod payment_term;
pub mod permission;
pub mod reader;
pub mod recorded;
mod refs;
pub mod rights;
pub mod settled;
pub mod some;
pub mod standing;
pub mod tables;
pub mod tax_code;
pub mod webhook;
pub mod written;

pub(crate) use words::{clock, codes, currency, day, error, field, ids, money, packed, stored, texts, wire_enum};
