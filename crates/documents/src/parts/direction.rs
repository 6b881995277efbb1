//! Which way a trade document goes.

use rules::tax::TaxDirection;

/// Which way a document goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    SalesOrder,
    DeliveryNote,
    SalesInvoice,
    CreditNote,
    PurchaseOrder,
    ReceiptNote,
    PurchaseInvoice,
    DebitNote,
}

impl Direction {
    pub(crate) const fn is_sale(self) -> bool {
        matches!(self, Self::SalesOrder | Self::DeliveryNote | Self::SalesInvoice | Self::CreditNote)
    }

    /// Whether it takes back what an invoice did.
    pub(crate) const fn credits(self) -> bool {
        matches!(self, Self::CreditNote | Self::DebitNote)
    }

    /// Whether it charges a party, or credits one.
    pub(crate) const fn bills(self) -> bool {
        matches!(self, Self::SalesInvoice | Self::PurchaseInvoice | Self::CreditNote | Self::DebitNote)
    }

    pub(crate) const fn is_order(self) -> bool {
        matches!(self, Self::SalesOrder | Self::PurchaseOrder)
    }

    /// Whether it says that goods came or went, and not for how much.
    pub(crate) const fn is_goods(self) -> bool {
        matches!(self, Self::DeliveryNote | Self::ReceiptNote)
    }

    /// Whether what it leaves open is a debit.
    pub(crate) const fn debits_control(self) -> bool {
        matches!(self, Self::SalesInvoice | Self::DebitNote)
    }

    pub(crate) const fn tax(self) -> TaxDirection {
        if self.is_sale() { TaxDirection::Sales } else { TaxDirection::Purchase }
    }
}
