//! What is open with parties, and what settled it.

use super::table;
use crate::ids::RecordId;
use sea_orm::ColumnTrait;
use sea_orm::sea_query::{Condition, Expr, ExprTrait};

table! {
    /// What is open with a party: one a document, which has its identifier, or one a line of a journal, which has
    /// that of the line. Debits are positive.
    open_items = "open_items" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: RecordId,
        pub document_id: RecordId,
        pub kind: DocumentKind,
        pub party_id: Named,
        pub account_id: RecordId,
        pub currency: String,
        pub date: Day,
        pub due_date: Option<Day>,
        /// What it began with, in its currency.
        pub amount: Money,
        /// The same in the company's.
        pub base: BookMoney,
        /// What is left of it, in its currency.
        pub open: Money,
        /// What that is carried at.
        pub base_open: BookMoney,
    }
}

/// The items of these documents: the one that is called as its document is, and those that are called as lines of it.
pub fn items_of(documents: &[RecordId]) -> Condition {
    use open_items::Column;
    let of_lines = Condition::all()
        .add(Column::DocumentId.is_in(documents.iter().copied()))
        .add(Expr::col(Column::DocumentId.as_column_ref()).ne(Expr::col(Column::Id.as_column_ref())));
    Condition::any().add(Column::Id.is_in(documents.iter().copied())).add(of_lines)
}

table! {
    /// What happened to open items, by the day it counts for. It grows only.
    open_item_moves = "open_item_moves" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: RecordId,
        /// Which leads its key: what happened to an item lies together.
        #[sea_orm(primary_key, auto_increment = false)]
        pub open_item_id: RecordId,
        pub document_id: RecordId,
        pub party_id: Named,
        pub account_id: RecordId,
        pub currency: String,
        pub date: Day,
        pub recorded_at: Instant,
        pub amount: Money,
        pub base: BookMoney,
        pub allocation_id: Option<RecordId>,
    }
}

table! {
    allocations = "allocations" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: RecordId,
        pub party_id: Named,
        pub source_kind: DocumentKind,
        /// Its open item.
        pub source_id: RecordId,
        pub source_document_id: RecordId,
        pub target_kind: DocumentKind,
        /// Its open item.
        pub target_id: RecordId,
        pub target_document_id: RecordId,
        pub date: Day,
        pub currency: String,
        /// What of the source settles the target, in the target's currency; more than 0.
        pub amount: Money,
        pub source_currency: String,
        pub source_amount: Money,
        pub discount: Money,
        pub write_off: Money,
        pub write_off_account_id: Option<RecordId>,
        pub withheld: Money,
        /// What the source was carried at.
        pub source_base: BookMoney,
        /// What the target was carried at, discount and the like included.
        pub target_base: BookMoney,
        pub exchange_gain: BookMoney,
        pub entry: Option<AsJson<EntryRef>>,
        pub removed_on: Option<Day>,
        pub removed_at: Option<Instant>,
        pub created_at: Instant,
        pub created_by: UserId,
    }
}
