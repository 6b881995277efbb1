//! Documents, one room a kind, and what they do to the books.
//!
//! Owns: what a document asks, what it comes to, what it posts and what stays open of it. What posts by itself stands here
//! as well: an item, whose standard cost is set by an adjustment of stock, and a fiscal year, which is closed by a journal.
//! Refuses: to write the books by itself; that is the desk's.

pub mod contra_entry;
mod document;
pub mod entry;
pub mod fiscal_year;
pub mod item;
pub mod journal;
pub mod revaluation;
pub mod settlement;
pub mod stock_adjustment;
pub mod trade;

use kit::operation::ResourceOperations;
pub(crate) use words::{clock, currency, day, error, field, ids, money, quoting, stored, texts, wire_enum};

/// What can be done with each kind.
pub fn operations() -> Vec<ResourceOperations> {
    vec![
        ResourceOperations::of::<item::Items>(),
        ResourceOperations::of::<trade::SalesOrders>(),
        ResourceOperations::of::<trade::DeliveryNotes>(),
        ResourceOperations::of::<trade::SalesInvoices>(),
        ResourceOperations::of::<trade::CreditNotes>(),
        ResourceOperations::of::<trade::PurchaseOrders>(),
        ResourceOperations::of::<trade::ReceiptNotes>(),
        ResourceOperations::of::<trade::PurchaseInvoices>(),
        ResourceOperations::of::<trade::DebitNotes>(),
        ResourceOperations::of::<settlement::Receipts>(),
        ResourceOperations::of::<settlement::Payments>(),
        ResourceOperations::of::<settlement::allocation::Allocations>(),
        ResourceOperations::of::<stock_adjustment::StockAdjustments>(),
        ResourceOperations::of::<revaluation::Revaluations>(),
        ResourceOperations::of::<journal::Journals>(),
        ResourceOperations::of::<contra_entry::ContraEntries>(),
        ResourceOperations::of::<entry::Entries>(),
        ResourceOperations::of::<fiscal_year::FiscalYears>(),
    ]
}
