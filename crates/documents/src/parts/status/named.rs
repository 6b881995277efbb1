//! What documents are called by how far they have got, and how they are linked.

use crate::ids::RecordId;
use crate::wire_enum;
use schema::tables::{DocumentKind, DocumentStatus, Relation, Stage};
use schemars::JsonSchema;
use serde::Serialize;

wire_enum! {
    /// Where an invoice stands.
    pub enum InvoiceStatus {
        /// Not in the books, and without a number.
        Draft = "draft",
        /// In the books, and nothing of it is paid.
        #[default]
        Open = "open",
        PartiallyPaid = "partiallyPaid",
        /// Nothing is left to pay.
        Paid = "paid",
        /// Taken back by a reversal; it keeps its number.
        Void = "void",
    }
}

wire_enum! {
    /// Where a note stands.
    pub enum NoteStatus {
        /// Not in the books, and without a number.
        Draft = "draft",
        /// In the books, and nothing of it is allocated or refunded.
        #[default]
        Open = "open",
        PartiallyAllocated = "partiallyAllocated",
        /// Nothing of it is left.
        Closed = "closed",
        /// Taken back by a reversal; it keeps its number.
        Void = "void",
    }
}

wire_enum! {
    /// Where a sales order stands.
    pub enum SalesOrderStatus {
        /// Without a number, and nothing is promised.
        Draft = "draft",
        /// Nothing of it is delivered.
        #[default]
        Open = "open",
        PartiallyFulfilled = "partiallyFulfilled",
        /// All its goods are delivered; of services, all is invoiced.
        Fulfilled = "fulfilled",
        /// All of it is delivered and invoiced, or the rest was given up.
        Closed = "closed",
        /// Nothing came of it.
        Cancelled = "cancelled",
    }
}

wire_enum! {
    /// Where a purchase order stands.
    pub enum PurchaseOrderStatus {
        /// Without a number, and nothing is ordered.
        Draft = "draft",
        /// Nothing of it is received.
        #[default]
        Open = "open",
        PartiallyReceived = "partiallyReceived",
        /// All its goods are received; of services, all is billed.
        Received = "received",
        /// All of it is received and billed, or the rest was given up.
        Closed = "closed",
        /// Nothing came of it.
        Cancelled = "cancelled",
    }
}

wire_enum! {
    /// Where a delivery note stands.
    pub enum DeliveryStatus {
        /// No goods moved, and it has no number.
        Draft = "draft",
        /// The goods moved, and nothing of it is invoiced.
        #[default]
        Posted = "posted",
        PartiallyInvoiced = "partiallyInvoiced",
        /// Nothing of it is left to be invoiced.
        Invoiced = "invoiced",
        /// Taken back by a reversal; it keeps its number.
        Void = "void",
    }
}

wire_enum! {
    /// Where a receipt note stands.
    pub enum ReceiptStatus {
        /// No goods moved, and it has no number.
        Draft = "draft",
        /// The goods moved, and nothing of it is billed.
        #[default]
        Posted = "posted",
        PartiallyBilled = "partiallyBilled",
        /// Nothing of it is left to be billed.
        Billed = "billed",
        /// Taken back by a reversal; it keeps its number.
        Void = "void",
    }
}

/// What a document is called that stands like this: its words from one that came to nothing to one of which all is done.
macro_rules! called {
    ($name:ident: $draft:ident, $open:ident, $partly:ident, $done:ident, $closed:ident, $void:ident) => {
        impl $name {
            pub(crate) const fn of(status: DocumentStatus, stage: Option<Stage>) -> Self {
                match (status, stage) {
                    (DocumentStatus::Draft, _) => Self::$draft,
                    (DocumentStatus::Void, _) => Self::$void,
                    (DocumentStatus::Posted, None | Some(Stage::Open)) => Self::$open,
                    (DocumentStatus::Posted, Some(Stage::Partial)) => Self::$partly,
                    (DocumentStatus::Posted, Some(Stage::Done)) => Self::$done,
                    (DocumentStatus::Posted, Some(Stage::Closed)) => Self::$closed,
                }
            }
        }
    };
}

called!(InvoiceStatus: Draft, Open, PartiallyPaid, Paid, Paid, Void);
called!(NoteStatus: Draft, Open, PartiallyAllocated, Closed, Closed, Void);
called!(SalesOrderStatus: Draft, Open, PartiallyFulfilled, Fulfilled, Closed, Cancelled);
called!(PurchaseOrderStatus: Draft, Open, PartiallyReceived, Received, Closed, Cancelled);
called!(DeliveryStatus: Draft, Posted, PartiallyInvoiced, Invoiced, Invoiced, Void);
called!(ReceiptStatus: Draft, Posted, PartiallyBilled, Billed, Billed, Void);

wire_enum! {
    /// How much of something is done.
    pub enum Extent {
        #[default]
        None = "none",
        Partial = "partial",
        Full = "full",
    }
}

wire_enum! {
    /// What two documents have to do with each other, as the one that is shown sees it.
    pub enum LinkRelation {
        /// It delivers what the other ordered.
        #[default]
        Fulfils = "fulfils",
        FulfilledBy = "fulfilledBy",
        /// It invoices what the other ordered or delivered.
        Bills = "bills",
        BilledBy = "billedBy",
        /// It brings goods of the other back.
        Returns = "returns",
        ReturnedBy = "returnedBy",
        /// It credits what the other invoiced or brought back.
        Credits = "credits",
        CreditedBy = "creditedBy",
    }
}

impl LinkRelation {
    pub(crate) const fn of(relation: Relation, is_follower: bool) -> Self {
        match (relation, is_follower) {
            (Relation::Fulfils, true) => Self::Fulfils,
            (Relation::Fulfils, false) => Self::FulfilledBy,
            (Relation::Bills, true) => Self::Bills,
            (Relation::Bills, false) => Self::BilledBy,
            (Relation::Returns, true) => Self::Returns,
            (Relation::Returns, false) => Self::ReturnedBy,
            (Relation::Credits, true) => Self::Credits,
            (Relation::Credits, false) => Self::CreditedBy,
        }
    }
}

/// A document on the other end of a chain.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "DocumentLink")]
pub struct LinkView {
    /// What kind of document it is.
    pub(crate) r#type: DocumentKind,
    /// The document.
    pub(crate) id: RecordId,
    /// Its number.
    pub(crate) number: Option<String>,
    /// What this document has to do with it.
    pub(crate) relation: LinkRelation,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_words_for_how_far_a_document_has_got() {
        let words = |of: fn(DocumentStatus, Option<Stage>) -> &'static str| {
            let posted = [None, Some(Stage::Open), Some(Stage::Partial), Some(Stage::Done), Some(Stage::Closed)];
            let posted = posted.map(|stage| of(DocumentStatus::Posted, stage));
            let others = [DocumentStatus::Draft, DocumentStatus::Void].map(|status| of(status, Some(Stage::Done)));
            [&posted[..], &others].concat().join(" ")
        };
        for (of, said) in [
            (
                words(|status, stage| InvoiceStatus::of(status, stage).as_str()),
                "open open partiallyPaid paid paid draft void",
            ),
            (
                words(|status, stage| NoteStatus::of(status, stage).as_str()),
                "open open partiallyAllocated closed closed draft void",
            ),
            (
                words(|status, stage| SalesOrderStatus::of(status, stage).as_str()),
                "open open partiallyFulfilled fulfilled closed draft cancelled",
            ),
            (
                words(|status, stage| PurchaseOrderStatus::of(status, stage).as_str()),
                "open open partiallyReceived received closed draft cancelled",
            ),
            (
                words(|status, stage| DeliveryStatus::of(status, stage).as_str()),
                "posted posted partiallyInvoiced invoiced invoiced draft void",
            ),
            (
                words(|status, stage| ReceiptStatus::of(status, stage).as_str()),
                "posted posted partiallyBilled billed billed draft void",
            ),
        ] {
            assert_eq!(of, said);
        }
    }
}
