//! What of the books is seen from outside, and their proof.

pub mod verify;

pub use ::books::{audit, desk, export, seal};
pub use schema::{recorded, tables};
