//! Documents, one room a kind, and what they do to the books.
//!
//! Owns: what a document asks, what it comes to, what it posts and what stays open of it. What posts by itself stands here
//! as well: an item, whose standard cost is set by an adjustment of stock, and a fiscal year, which is closed by a journal.
//! Refuses: to write the books by itself; that is the desk's.

#[cfg(test)]
mod checks;
pub mod contra_entry;
pub mod credit_note;
pub mod debit_note;
pub mod delivery_note;
mod document;
pub mod entry;
pub mod fiscal_year;
pub mod item;
pub mod journal;
pub mod overdue;
mod parts;
pub mod payment;
pub mod purchase_invoice;
pub mod purchase_order;
pub mod receipt;
pub mod receipt_note;
pub mod revaluation;
pub mod sales_invoice;
pub mod sales_order;
#[cfg(test)]
mod samples;
pub mod stock_adjustment;
mod touching;
mod year_end;

use kit::operation::ResourceOperations;
pub(crate) use words::{clock, currency, day, error, field, ids, money, quoting, stored, texts, wire_enum};

/// What a write of anything leads to: counts of stock that it made wrong, tax that credits give back, what money in other currencies is carried at, and
/// revaluations of days that it changed. What it touched by then is told to the audit log, as it is, and of which items too few are
/// left.
pub async fn follow_up(cx: &books::cx::Cx<'_>) -> error::Result<()> {
    stock_adjustment::counting::recount(cx).await?;
    books::stock::judge_rest(cx).await?;
    let taxed = cx.taxed().take();
    if let Some(company) = taxed.rebased {
        books::carry::rebase(cx, company).await?;
    }
    let mut settled = taxed.settled.clone();
    settled.extend(parts::settlement::credited::keep(cx, taxed).await?);
    books::carry::keep(cx, settled).await?;
    books::purses::keep(cx).await?;
    Box::pin(revaluation::renew(cx)).await?;
    touching::tell(cx).await?;
    item::low::tell(cx).await
}

/// What can be done with each kind.
pub fn operations() -> Vec<ResourceOperations> {
    vec![
        ResourceOperations::of::<item::Items>(),
        ResourceOperations::of::<sales_order::SalesOrders>(),
        ResourceOperations::of::<delivery_note::DeliveryNotes>(),
        ResourceOperations::of::<sales_invoice::SalesInvoices>(),
        ResourceOperations::of::<credit_note::CreditNotes>(),
        ResourceOperations::of::<purchase_order::PurchaseOrders>(),
        ResourceOperations::of::<receipt_note::ReceiptNotes>(),
        ResourceOperations::of::<purchase_invoice::PurchaseInvoices>(),
        ResourceOperations::of::<debit_note::DebitNotes>(),
        ResourceOperations::of::<receipt::Receipts>(),
        ResourceOperations::of::<payment::Payments>(),
        ResourceOperations::of::<parts::settlement::allocation::Allocations>(),
        ResourceOperations::of::<stock_adjustment::StockAdjustments>(),
        ResourceOperations::of::<revaluation::Revaluations>(),
        ResourceOperations::of::<journal::Journals>(),
        ResourceOperations::of::<contra_entry::ContraEntries>(),
        ResourceOperations::of::<entry::Entries>(),
        ResourceOperations::of::<fiscal_year::FiscalYears>(),
    ]
}
