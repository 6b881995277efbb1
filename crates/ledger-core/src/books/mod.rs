//! What of the books is seen from outside, and their proof.

pub use ::books::{audit, export, seal};
pub use ::proof as verify;
pub use schema::tables;
