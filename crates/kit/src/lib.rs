//! What every resource is made of: its declaration, how bodies and lists are read, rows, master data, actions, and the
//! table of operations in which types end.
//!
//! Owns: what all resources do alike. Refuses: to name any of them.

pub mod body;
pub mod changes;
mod cursor;
mod elsewhere;
pub mod expand;
pub mod extra;
pub mod feed;
pub mod fields;
pub mod json;
pub mod list;
pub mod master;
pub mod operation;
pub mod outline;
pub mod page;
mod part;
pub mod reference;
pub mod resource;
pub mod rows;
#[cfg(feature = "samples")]
pub mod samples;

pub(crate) use words::{clock, day, error, field, ids, money, quoting, texts};
