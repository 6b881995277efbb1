//! The books of a company: what its write lane knows, and how a posting reaches the ledger.
//!
//! - What balances is [`rules::posting::Posting`]; nothing else can be built.
//! - [`desk`]: what a lane remembers between batches and what it is about to write.
//! - [`chart`], [`numbering`], [`periods`]: the facts that a document is judged by.
//! - [`aliases`]: who the party of a row is by now.
//! - [`seal`]: how every row is known to have been written by the server.
//! - [`limits`]: an entry that goes no further than its author may; the desk takes no other.
//! - [`purses`]: the keeper of money in other currencies.
//! - [`balances`]: figures from the rollups. [`audit`]: who changed what. [`verify`]: proof of all of it.

pub(crate) mod abroad;
pub mod aliases;
pub(crate) mod apart;
pub mod audit;
pub(crate) mod balances;
pub(crate) mod chart;
pub(crate) mod desk;
pub(crate) mod digest;
pub mod export;
pub(crate) mod limits;
pub(crate) mod numbering;
pub(crate) mod open_items;
pub(crate) mod periods;
pub(crate) mod portions;
pub(crate) mod progress;
pub(crate) mod purses;
pub mod seal;
pub(crate) mod stock;
pub(crate) mod sums;
pub mod tables;
pub(crate) mod tax_facts;
pub mod verify;

/// Entries, records and facts are numbered from 1: what comes after this is all of them.
pub(crate) const BEFORE_THE_FIRST: i64 = 0;
