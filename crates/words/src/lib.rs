//! The words that the rest is written in: money, quantities, days, identifiers, currencies, errors, and how each is
//! read, shown and stored.
//!
//! Opens no database, reads no clock of its own accord and depends on nothing of ours but what the engines' faults are
//! called.

pub mod clock;
pub mod codes;
pub mod currency;
pub mod day;
pub mod digest;
mod digits;
pub mod error;
pub mod error_code;
pub mod exact;
pub mod fault;
pub mod field;
pub mod grams;
pub mod ids;
pub mod meant;
pub mod money;
pub mod packed;
pub mod portion;
pub mod quoting;
pub mod sown;
pub mod stored;
pub mod sums;
pub mod texts;
