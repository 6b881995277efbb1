//! The books of a company: what its write lane knows, how a posting reaches the ledger, and who may bring one.
//!
//! - [`cx`]: the context of a request, and the only way to a query. [`access`], [`auth`]: who asks, and what they may.
//! - [`database`]: both engines, and the lane that alone writes. [`fair`]: whose turn it is.
//! - What balances is [`rules::posting::Posting`]; nothing else can be built.
//! - [`desk`]: what a lane remembers between batches and what it is about to write.
//! - [`chart`], [`numbering`], [`periods`]: the facts that a document is judged by.
//! - [`seal`]: how every row is known to have been written by the server.
//! - [`limits`]: an entry that goes no further than its author may; the desk takes no other.
//! - [`balances`], [`ends`]: figures from the rollups. [`audit`]: who changed what.

pub mod abroad;
pub mod access;
pub mod among;
pub mod apart;
pub mod api_keys;
pub mod aside;
pub mod audit;
pub mod auth;
pub mod balances;
pub mod carry;
pub mod cash;
pub mod chart;
pub mod client;
pub mod cx;
pub mod database;
pub mod desk;
pub mod ends;
pub mod export;
pub mod fair;
pub mod gaps;
pub mod installation;
pub mod items;
pub mod keys;
pub mod limits;
pub mod mentions;
pub mod news;
pub mod numbering;
pub mod open_items;
pub mod parties;
pub mod periods;
pub mod portions;
pub mod progress;
pub mod purses;
pub mod rates;
pub mod remembered;
pub mod repeats;
pub mod running;
mod samples;
pub mod seal;
pub mod search;
pub mod security;
pub mod settled;
mod several;
pub mod shelf;
pub mod stock;
pub mod strength;
pub mod sums;
pub mod tax_codes;
pub mod tax_facts;
pub mod taxed;
pub mod terms;
pub mod touched;
pub mod watch;
pub mod years;

pub(crate) use words::{
    clock, currency, day, digest, error, fault, field, ids, money, packed, quoting, stored, texts, wire_enum,
};

/// Entries, records and facts are numbered from 1: what comes after this is all of them.
pub const BEFORE_THE_FIRST: i64 = 0;

/// How a document leaves the books.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaving {
    ForGood,
    /// A new version takes its place.
    Replaced,
}
