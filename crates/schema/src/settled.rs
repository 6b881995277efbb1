//! What settles, and what is settled.

use crate::tables::DocumentKind;
use crate::wire_enum;

wire_enum! {
    /// A document that settles or is settled.
    pub enum Settled {
        #[default]
        SalesInvoice = "salesInvoice",
        CreditNote = "creditNote",
        PurchaseInvoice = "purchaseInvoice",
        DebitNote = "debitNote",
        Receipt = "receipt",
        Payment = "payment",
        /// A line of a journal on a control account.
        JournalLine = "journalLine",
    }
}

impl From<DocumentKind> for Settled {
    fn from(kind: DocumentKind) -> Self {
        match kind {
            DocumentKind::SalesInvoice => Self::SalesInvoice,
            DocumentKind::CreditNote => Self::CreditNote,
            DocumentKind::PurchaseInvoice => Self::PurchaseInvoice,
            DocumentKind::DebitNote => Self::DebitNote,
            DocumentKind::Receipt => Self::Receipt,
            DocumentKind::Payment => Self::Payment,
            DocumentKind::Journal
            | DocumentKind::ContraEntry
            | DocumentKind::StockAdjustment
            | DocumentKind::Revaluation
            | DocumentKind::SalesOrder
            | DocumentKind::PurchaseOrder
            | DocumentKind::DeliveryNote
            | DocumentKind::ReceiptNote => Self::JournalLine,
        }
    }
}
