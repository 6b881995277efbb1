//! What each entry says of tax.

use super::{entries, table};
use crate::ids::BusinessId;
use crate::money::{Money, of_home};
use sea_orm::ColumnTrait;
use sea_orm::sea_query::{Query, SimpleExpr};

table! {
    /// What is known of the tax on lines, by the entry that made it. It grows only.
    tax_facts = "tax_facts" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub entry_number: i64,
        #[sea_orm(primary_key, auto_increment = false)]
        pub place: i64,
        /// The line of the entry that carries its tax.
        pub position: Option<i64>,
        pub entry_date: Day,
        /// The day it counts for.
        pub date: Day,
        pub document_kind: DocumentKind,
        pub document_id: RecordId,
        pub document_version: i64,
        pub line_id: Option<RecordId>,
        /// The document that it settles, where it is of a settlement.
        pub settles_id: Option<RecordId>,
        /// The entry that it takes back.
        pub takes_back_id: Option<RecordId>,
        pub side: TaxSide,
        pub duty: TaxDuty,
        pub origin: TaxOrigin,
        pub tax_code_id: Option<RecordId>,
        pub component_id: Option<RecordId>,
        pub component: Option<String>,
        pub kind: Option<TaxKind>,
        pub rate: Option<Percent>,
        pub category: Option<String>,
        pub base_box: Option<String>,
        pub tax_box: Option<String>,
        pub leads: bool,
        pub party_id: Option<Named>,
        pub party_tax_number: Option<String>,
        pub country: Option<String>,
        pub currency: String,
        /// Nothing where it is the same in the company's: see [`tax_facts::Model::own_base`].
        pub base: Option<Money>,
        pub tax: Option<Money>,
        /// The same in the company's currency.
        pub home_base: BookMoney,
        pub home_tax: BookMoney,
        pub not_recoverable: BookMoney,
        pub account_id: Option<RecordId>,
    }
}

impl tax_facts::Model {
    /// What was taxed, in its currency.
    pub fn own_base(&self) -> Money {
        of_home(self.base, self.home_base)
    }

    /// The tax on it, in its currency.
    pub fn own_tax(&self) -> Money {
        of_home(self.tax, self.home_tax)
    }
}

/// Facts of documents, found by the entries that made them: each entry is of one document.
pub fn facts_of(business: BusinessId, documents: SimpleExpr) -> SimpleExpr {
    let mut made = Query::select();
    made.column(entries::Column::Number)
        .from(entries::Entity)
        .and_where(entries::Column::BusinessId.eq(business))
        .and_where(documents);
    tax_facts::Column::EntryNumber.in_subquery(made)
}

table! {
    /// Up to which entry books of before say nothing of tax but in ledger lines.
    tax_beginnings = "tax_beginnings" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        pub entry_number: i64,
    }
}

table! {
    /// What the facts of a month come to, of those that say the same. What a fact does not say is empty here, for it is
    /// part of the key.
    tax_months = "tax_months" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        /// Such as `2026-11`.
        #[sea_orm(primary_key, auto_increment = false)]
        pub month: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub tax_code_id: RecordId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub component_id: RecordId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub component: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub side: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub duty: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub origin: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub kind: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub base_box: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub tax_box: String,
        /// Of the facts that lead their lines.
        pub base: BookMoney,
        /// Of those beside them.
        pub base_beside: BookMoney,
        pub tax: BookMoney,
        pub not_recoverable: BookMoney,
        /// What the ledger lines move that carry it, each of them counted with the first fact that names it.
        pub posted: BookMoney,
    }
}
