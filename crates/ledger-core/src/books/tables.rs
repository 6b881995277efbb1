//! The tables that only the lane writes.

use crate::clock::Instant;
use crate::database::stored::{AsJson, wire_enum};
use crate::day::Day;
use crate::ids::{BusinessId, RecordId, UserId};
use crate::money::Money;
use serde::{Deserialize, Serialize};

wire_enum! {
    /// What kind of document it is.
    pub enum DocumentKind {
        #[default]
        Journal = "journal",
        ContraEntry = "contraEntry",
    }
}

wire_enum! {
    /// Where a document stands.
    pub enum DocumentStatus {
        /// Not in the books, and without a number.
        Draft = "draft",
        /// In the books.
        #[default]
        Posted = "posted",
        /// Taken back by a reversal; it keeps its number.
        Void = "void",
    }
}

wire_enum! {
    /// Why an entry was made.
    pub enum EntryKind {
        /// What the document says.
        #[default]
        Normal = "normal",
        /// What the document says of the time before these books.
        Opening = "opening",
        /// Takes back an earlier entry, since its document was changed or voided.
        Reversal = "reversal",
        /// Takes back an accrual on the day that the document names.
        AutoReversal = "autoReversal",
    }
}

/// An entry that a document stands for at present.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryRef {
    pub id: RecordId,
    pub number: i64,
    pub date: Day,
}

macro_rules! table {
    ($(#[$about:meta])* $module:ident = $name:literal { $($body:tt)* }) => {
        $(#[$about])*
        pub mod $module {
            #[allow(unused_imports, reason = "each table needs some of them")]
            use super::{
                AsJson, BusinessId, Day, DocumentKind, DocumentStatus, EntryKind, EntryRef, Instant, Money, RecordId, UserId,
            };
            use sea_orm::entity::prelude::*;

            #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
            #[sea_orm(table_name = $name)]
            pub struct Model { $($body)* }

            #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
            pub enum Relation {}

            impl ActiveModelBehavior for ActiveModel {}
        }
    };
}

table! {
    /// Where the sequences of a company stand.
    books = "books" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        pub version: i64,
        pub entry_number: i64,
        pub recorded_at: Instant,
        pub audit_sequence: i64,
        pub audit_hash: String,
    }
}

table! {
    documents = "documents" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: RecordId,
        pub kind: DocumentKind,
        pub subkind: Option<String>,
        pub status: DocumentStatus,
        pub number: Option<String>,
        pub series_id: Option<RecordId>,
        pub period: Option<String>,
        pub sequence: Option<i64>,
        pub date: Day,
        pub party_id: Option<RecordId>,
        pub reference: Option<String>,
        pub narration: Option<String>,
        pub currency: String,
        pub total: Money,
        pub base_total: Money,
        pub content: String,
        pub entries: AsJson<Vec<EntryRef>>,
        pub posted_at: Option<Instant>,
        pub void_date: Option<Day>,
        pub void_reason: Option<String>,
        pub external_id: Option<String>,
        pub tags: AsJson<Vec<String>>,
        pub search: String,
        pub version: i64,
        pub created_at: Instant,
        pub created_by: UserId,
        pub updated_at: Instant,
        pub updated_by: UserId,
    }
}

table! {
    entries = "entries" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub number: i64,
        pub id: RecordId,
        pub date: Day,
        pub recorded_at: Instant,
        pub recorded_by: UserId,
        pub kind: EntryKind,
        pub document_kind: DocumentKind,
        pub document_id: RecordId,
        pub document_version: i64,
        pub document_number: Option<String>,
        pub reverses_id: Option<RecordId>,
        pub narration: Option<String>,
        pub total: Money,
        pub search: String,
    }
}

table! {
    entry_lines = "entry_lines" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub entry_number: i64,
        #[sea_orm(primary_key, auto_increment = false)]
        pub position: i64,
        pub account_id: RecordId,
        pub party_id: Option<RecordId>,
        pub date: Day,
        pub amount: Money,
        pub currency: String,
        pub currency_amount: Money,
        pub description: Option<String>,
        pub due_date: Option<Day>,
    }
}

table! {
    account_days = "account_days" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub account_id: RecordId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub currency: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub date: Day,
        pub debit: Money,
        pub credit: Money,
        pub currency_amount: Money,
    }
}

table! {
    account_months = "account_months" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub account_id: RecordId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub currency: String,
        /// Such as `2026-11`.
        #[sea_orm(primary_key, auto_increment = false)]
        pub month: String,
        pub debit: Money,
        pub credit: Money,
        pub currency_amount: Money,
    }
}

table! {
    /// What is open with a party on a control account.
    party_balances = "party_balances" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub party_id: RecordId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub account_id: RecordId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub currency: String,
        pub amount: Money,
        pub currency_amount: Money,
    }
}

table! {
    number_counters = "number_counters" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub series_id: RecordId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub period: String,
        pub last: i64,
        pub last_date: Day,
    }
}

table! {
    audit_log = "audit_log" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub sequence: i64,
        pub id: RecordId,
        pub at: Instant,
        pub user_id: Option<UserId>,
        pub address: Option<String>,
        pub dialect: Option<String>,
        pub request_id: Option<String>,
        pub action: String,
        pub resource: String,
        pub resource_id: RecordId,
        pub version_from: Option<i64>,
        pub version_to: Option<i64>,
        pub before: Option<String>,
        pub after: Option<String>,
        pub previous_hash: String,
        pub hash: String,
    }
}
