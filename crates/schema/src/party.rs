//! Parties as they are kept.

use crate::address::Address;
use crate::bank::BankDetails;
use crate::clock::Instant;
use crate::ids::{BusinessId, RecordId, UserId};
use crate::money::{BookMoney, Percent};
use crate::stored::AsJson;
use crate::wire_enum;
use schemars::JsonSchema;
use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

wire_enum! {
    /// A company or a natural person.
    pub enum PartyKind {
        #[default]
        Company = "company",
        Person = "person",
    }
}

wire_enum! {
    /// Whether new documents may name the party.
    pub enum PartyStatus {
        #[default]
        Active = "active",
        Blocked = "blocked",
        Archived = "archived",
    }
}

wire_enum! {
    /// For which documents the party is blocked.
    pub enum PartyBlock {
        #[default]
        None = "none",
        Sales = "sales",
        Purchases = "purchases",
        All = "all",
    }
}

/// A person to talk to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContactPerson {
    /// The person's name.
    pub name: String,
    /// E-mail address.
    pub email: Option<String>,
    /// Telephone number.
    pub phone: Option<String>,
    /// Whether to turn to this person first.
    pub is_primary: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "parties")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub business_id: BusinessId,
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: RecordId,
    pub name: String,
    pub name_key: String,
    pub code: Option<String>,
    pub is_customer: bool,
    pub is_supplier: bool,
    pub kind: PartyKind,
    pub tax_number: Option<String>,
    pub registration_number: Option<String>,
    pub email: Option<String>,
    pub phone: Option<String>,
    pub website: Option<String>,
    pub billing_address: Option<AsJson<Address>>,
    pub shipping_address: Option<AsJson<Address>>,
    pub contacts: AsJson<Vec<ContactPerson>>,
    pub currency: Option<String>,
    pub payment_term_days: Option<i64>,
    pub payment_term_id: Option<RecordId>,
    pub receivable_account_id: Option<RecordId>,
    pub payable_account_id: Option<RecordId>,
    pub sales_account_id: Option<RecordId>,
    pub purchase_account_id: Option<RecordId>,
    pub sales_tax_code_id: Option<RecordId>,
    pub purchase_tax_code_id: Option<RecordId>,
    pub merged_into_id: Option<RecordId>,
    pub merged_at: Option<Instant>,
    pub credit_limit: Option<BookMoney>,
    pub prices_include_tax: Option<bool>,
    pub discount_percent: Option<Percent>,
    pub bank_details: Option<AsJson<BankDetails>>,
    pub peppol_id: Option<String>,
    pub status: PartyStatus,
    pub blocked: PartyBlock,
    pub notes: Option<String>,
    pub external_id: Option<String>,
    pub tags: AsJson<Vec<String>>,
    pub search: String,
    pub version: i64,
    pub created_at: Instant,
    pub created_by: UserId,
    pub updated_at: Instant,
    pub updated_by: UserId,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

answers::asked_whole!(Entity);
