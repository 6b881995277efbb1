//! The kinds of documents: a line each, with all that is said of a kind where none is at hand.

use crate::key::ResourceKey;
use crate::settled::Settled;
use crate::wire_enum;

/// The part of the books that a document belongs to; each may be locked by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Module {
    Sales,
    Purchase,
    Bank,
    Stock,
    Journal,
}

/// A line a kind: how it is written, whose records its documents are, what locks them, as what it settles, and the stem of
/// its numbers in the series that every company has from the start.
macro_rules! kinds {
    ($($(#[$meta:meta])* $kind:ident = $word:literal: $key:ident, $module:ident, $settled:ident, $stem:literal;)*) => {
        wire_enum! {
            /// What kind of document it is.
            pub enum DocumentKind {
                $($(#[$meta])* $kind = $word),*
            }
        }

        impl DocumentKind {
            pub const ALL: &'static [Self] = &[$(Self::$kind),*];

            /// The part of the books whose lock holds for it.
            pub const fn module(self) -> Module {
                match self {
                    $(Self::$kind => Module::$module),*
                }
            }

            /// What the numbers of its first series look like.
            pub const fn pattern(self) -> &'static str {
                match self {
                    $(Self::$kind => concat!($stem, "-{FY}-{0000}")),*
                }
            }
        }

        impl From<DocumentKind> for ResourceKey {
            fn from(kind: DocumentKind) -> Self {
                match kind {
                    $(DocumentKind::$kind => Self::$key),*
                }
            }
        }

        impl From<DocumentKind> for Settled {
            fn from(kind: DocumentKind) -> Self {
                match kind {
                    $(DocumentKind::$kind => Self::$settled),*
                }
            }
        }
    };
}

kinds! {
    #[default]
    Journal = "journal": Journals, Journal, JournalLine, "JV";
    ContraEntry = "contraEntry": ContraEntries, Bank, JournalLine, "CE";
    SalesInvoice = "salesInvoice": SalesInvoices, Sales, SalesInvoice, "INV";
    CreditNote = "creditNote": CreditNotes, Sales, CreditNote, "CN";
    PurchaseInvoice = "purchaseInvoice": PurchaseInvoices, Purchase, PurchaseInvoice, "BILL";
    DebitNote = "debitNote": DebitNotes, Purchase, DebitNote, "DN";
    Receipt = "receipt": Receipts, Bank, Receipt, "RC";
    Payment = "payment": Payments, Bank, Payment, "PM";
    StockAdjustment = "stockAdjustment": StockAdjustments, Stock, JournalLine, "SA";
    Revaluation = "revaluation": Revaluations, Journal, JournalLine, "RV";
    SalesOrder = "salesOrder": SalesOrders, Sales, JournalLine, "SO";
    PurchaseOrder = "purchaseOrder": PurchaseOrders, Purchase, JournalLine, "PO";
    DeliveryNote = "deliveryNote": DeliveryNotes, Stock, JournalLine, "DEL";
    ReceiptNote = "receiptNote": ReceiptNotes, Stock, JournalLine, "GRN";
}
