//! The books of a company: what its write lane knows, and how a posting reaches the ledger.
//!
//! - What balances is [`rules::posting::Posting`]; nothing else can be built.
//! - [`desk`]: what a lane remembers between batches and what it is about to write.
//! - [`chart`], [`numbering`], [`periods`]: the facts that a document is judged by.
//! - [`seal`]: how every row is known to have been written by the server.
//! - [`limits`]: an entry that goes no further than its author may; the desk takes no other.
//! - [`balances`]: figures from the rollups. [`audit`]: who changed what. [`verify`]: proof of all of it.

pub(crate) mod abroad;
pub(crate) mod apart;
pub mod audit;
pub(crate) mod balances;
pub(crate) mod chart;
pub(crate) mod desk;
pub(crate) mod digest;
pub mod export;
pub(crate) mod gaps;
pub(crate) mod items;
pub(crate) mod limits;
pub(crate) mod mentions;
pub(crate) mod numbering;
pub(crate) mod open_items;
pub(crate) mod parties;
pub(crate) mod periods;
pub(crate) mod portions;
pub(crate) mod progress;
pub(crate) mod rates;
pub(crate) mod repeats;
pub mod seal;
pub(crate) mod stock;
pub(crate) mod sums;
pub(crate) mod tax_codes;
pub(crate) mod tax_facts;
pub(crate) mod terms;
pub mod verify;

pub use schema::tables;

/// Entries, records and facts are numbered from 1: what comes after this is all of them.
pub(crate) const BEFORE_THE_FIRST: i64 = 0;

/// How a document leaves the books.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leaving {
    ForGood,
    /// A new version takes its place.
    Replaced,
}
