//! What documents trade, which follows which, and how far they have got.

use super::table;

table! {
    /// Items, tax codes and payment terms that a document in the books has ever named.
    mentions = "mentions" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub record_id: RecordId,
    }
}

table! {
    /// How many documents of a kind stand alike, counted by triggers.
    document_counts = "document_counts" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub kind: DocumentKind,
        #[sea_orm(primary_key, auto_increment = false)]
        /// The letters of the stage, or of the status of one that has none.
        pub standing: String,
        pub count: i64,
    }
}

table! {
    /// The lines of posted trade documents, as they stand.
    document_lines = "document_lines" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub document_id: RecordId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub line_no: i64,
        pub id: RecordId,
        pub kind: DocumentKind,
        pub date: Day,
        pub item_id: Option<RecordId>,
        pub account_id: Option<RecordId>,
        pub tax_code_id: Option<RecordId>,
        pub quantity: Quantity,
        /// Without tax, in the company's currency.
        pub base_net: BookMoney,
        pub source_line_id: Option<RecordId>,
    }
}

table! {
    /// Where a line of an order or of a note stands.
    progress = "progress" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub line_id: RecordId,
        pub document_id: RecordId,
        pub kind: DocumentKind,
        pub date: Day,
        pub party_id: Named,
        pub item_id: Option<RecordId>,
        /// Whether it is of something that is kept in stock.
        pub is_goods: bool,
        /// Whether its document brings goods back.
        pub is_return: bool,
        /// The line that it follows itself.
        pub source_line_id: Option<RecordId>,
        pub quantity: Quantity,
        pub fulfilled: Quantity,
        /// Less what was credited of it.
        pub invoiced: Quantity,
        pub returned: Quantity,
        pub cancelled: Quantity,
        /// Where the goods stand until they are invoiced.
        pub account_id: Option<RecordId>,
        /// What of it stands there now; a debit is positive.
        pub value: BookMoney,
    }
}

table! {
    /// Everything that ever happened to such a line, by the day it counts for. It grows only.
    progress_moves = "progress_moves" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: RecordId,
        pub line_id: RecordId,
        pub date: Day,
        pub recorded_at: Instant,
        /// The document that did it.
        pub document_id: RecordId,
        pub kind: DocumentKind,
        /// Whether the goods cost something else after all; then it is not undone with its document.
        pub is_correction: bool,
        pub quantity: Quantity,
        pub fulfilled: Quantity,
        pub invoiced: Quantity,
        pub returned: Quantity,
        pub cancelled: Quantity,
        pub account_id: Option<RecordId>,
        pub value: BookMoney,
    }
}

table! {
    /// Which posted document follows which.
    document_links = "document_links" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub document_id: RecordId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub source_document_id: RecordId,
        pub relation: crate::tables::Relation,
    }
}

table! {
    /// What was traded in a month, without tax, by party and by item; and what the other side of it comes to.
    trade_months = "trade_months" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub side: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub grouping: String,
        /// Such as `2026-11`.
        #[sea_orm(primary_key, auto_increment = false)]
        pub month: String,
        /// The party or the item; what has none is under none.
        #[sea_orm(primary_key, auto_increment = false)]
        pub of_id: RecordId,
        /// A debit positive.
        pub amount: BookMoney,
    }
}
