//! The kinds of documents: a line each, with all that is said of a kind where none is at hand.

use crate::key::ResourceKey;
use crate::settled::Settled;
use crate::tables::TradeSide;
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

/// How far a trade is with a document of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// What is promised.
    Order,
    /// What came or went.
    Goods,
    /// What is charged for it.
    Bill,
    /// What is taken back of that.
    Credit,
}

/// A line a kind: how it is written, whose records its documents are, what locks them, as what it settles, the stem of its
/// numbers in the series that every company has from the start, and, where it trades, on which side and how far that is.
macro_rules! kinds {
    ($($(#[$meta:meta])* $kind:ident = $word:literal: $key:ident, $module:ident, $settled:ident, $stem:literal
        $(, $side:ident $phase:ident)?;)*) => {
        wire_enum! {
            /// What kind of document it is.
            pub kept enum DocumentKind {
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

            /// On which side it trades, and how far a trade is with it.
            pub const fn trade(self) -> Option<(TradeSide, Phase)> {
                match self {
                    $(Self::$kind => trade!($($side $phase)?)),*
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

/// What a kind's line says of its trade.
macro_rules! trade {
    () => {
        None
    };
    ($side:ident $phase:ident) => {
        Some((TradeSide::$side, Phase::$phase))
    };
}

kinds! {
    #[default]
    Journal = "journal": Journals, Journal, JournalLine, "JV";
    ContraEntry = "contraEntry": ContraEntries, Bank, JournalLine, "CE";
    SalesInvoice = "salesInvoice": SalesInvoices, Sales, SalesInvoice, "INV", Sales Bill;
    CreditNote = "creditNote": CreditNotes, Sales, CreditNote, "CN", Sales Credit;
    PurchaseInvoice = "purchaseInvoice": PurchaseInvoices, Purchase, PurchaseInvoice, "BILL", Purchases Bill;
    DebitNote = "debitNote": DebitNotes, Purchase, DebitNote, "DN", Purchases Credit;
    Receipt = "receipt": Receipts, Bank, Receipt, "RC";
    Payment = "payment": Payments, Bank, Payment, "PM";
    StockAdjustment = "stockAdjustment": StockAdjustments, Stock, JournalLine, "SA";
    Revaluation = "revaluation": Revaluations, Journal, JournalLine, "RV";
    SalesOrder = "salesOrder": SalesOrders, Sales, JournalLine, "SO", Sales Order;
    PurchaseOrder = "purchaseOrder": PurchaseOrders, Purchase, JournalLine, "PO", Purchases Order;
    DeliveryNote = "deliveryNote": DeliveryNotes, Stock, JournalLine, "DEL", Sales Goods;
    ReceiptNote = "receiptNote": ReceiptNotes, Stock, JournalLine, "GRN", Purchases Goods;
}

impl DocumentKind {
    pub fn phase(self) -> Option<Phase> {
        self.trade().map(|(_, phase)| phase)
    }

    /// The side on which it counts as turnover: what is charged, and what is taken back of that.
    pub fn turnover(self) -> Option<TradeSide> {
        self.trade().filter(|(_, phase)| matches!(phase, Phase::Bill | Phase::Credit)).map(|(side, _)| side)
    }

    /// Whether a bill takes over what its lines say of prices: what was promised, and what went, but not what came, whose
    /// price is only guessed.
    pub fn is_priced(self) -> bool {
        matches!(self.trade(), Some((_, Phase::Order) | (TradeSide::Sales, Phase::Goods)))
    }

    /// Those with which a trade is so far.
    pub fn of_phase(wanted: Phase) -> impl Iterator<Item = Self> + Clone {
        Self::ALL.iter().copied().filter(move |kind| kind.phase() == Some(wanted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_of_a_trade_has_a_kind_on_either_side() {
        for phase in [Phase::Order, Phase::Goods, Phase::Bill, Phase::Credit] {
            for side in [TradeSide::Sales, TradeSide::Purchases] {
                let kinds = DocumentKind::ALL.iter().filter(|kind| kind.trade() == Some((side, phase)));
                assert_eq!(kinds.count(), 1, "{side} {phase:?}");
            }
        }
    }

    #[test]
    fn kinds_say_what_their_documents_are_to_others() {
        use DocumentKind::{CreditNote, DebitNote, DeliveryNote, Journal, PurchaseInvoice, ReceiptNote, SalesOrder};
        for (kind, turnover, is_priced) in [
            (SalesOrder, None, true),
            (DeliveryNote, None, true),
            (ReceiptNote, None, false),
            (PurchaseInvoice, Some(TradeSide::Purchases), false),
            (CreditNote, Some(TradeSide::Sales), false),
            (DebitNote, Some(TradeSide::Purchases), false),
            (Journal, None, false),
        ] {
            assert_eq!((kind.turnover(), kind.is_priced()), (turnover, is_priced), "{kind}");
        }
        assert_eq!(DocumentKind::of_phase(Phase::Credit).collect::<Vec<_>>(), [CreditNote, DebitNote]);
    }
}
