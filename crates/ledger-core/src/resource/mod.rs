//! The resources, room by room.

pub mod account;
pub mod api_key;
pub mod audit_log;
pub mod bank;
pub mod business;
pub mod contra_entry;
pub mod currency_list;
pub mod dialect_usage;
pub mod document;
pub mod entry;
pub mod exchange_rate;
pub mod fiscal_year;
pub mod installation_log;
pub mod invitation;
pub mod item;
pub mod journal;
pub mod lock;
pub mod number_series;
pub mod party;
pub mod payment_term;
pub mod permission;
pub mod profile;
pub mod registry;
pub mod report;
pub mod revaluation;
pub mod session;
pub mod settlement;
pub mod stock_adjustment;
pub mod tax_code;
pub mod trade;
pub mod user;
pub mod verification;

pub use kit::resource::{About, NoRecord, Record, Resource, Scope};
pub use kit::{body, extra, list, operation};
pub use schema::key::ResourceKey;
