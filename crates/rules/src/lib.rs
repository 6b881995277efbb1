//! The rules of the books: pure functions over the words of the trade.
//!
//! No database, no clock, no waiting. Every rule stands here once, with its table of cases beside it.

pub mod account;
pub mod chart;
pub mod course;
pub mod exchange;
pub mod keeper;
pub mod left;
pub mod postable;
pub mod posting;
pub mod purpose;
pub mod purse;
pub mod refusal;
pub mod roles;
pub mod stock;
pub mod tax;
