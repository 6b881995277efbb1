//! What tax was charged and can be claimed back: by code and component, by the boxes of a return, and fact by fact.
//!
//! All of it is summed from the facts of tax and from nothing else; what proves it is summed from ledger lines.

mod cash;
mod detail;
mod facts;
mod months;
mod returns;
mod summary;

pub use cash::CashDue;
pub(super) use detail::TaxDetail;
pub(super) use returns::TaxReturn;
pub(super) use summary::TaxSummary;
