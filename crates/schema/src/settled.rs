//! What settles, and what is settled.

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
