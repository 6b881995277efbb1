//! Accounts as they are kept.

use crate::bank::BankDetails;
use crate::clock::Instant;
use crate::ids::{BusinessId, RecordId, UserId};
use crate::stored::AsJson;
pub use rules::account::{AccountClass, AccountStatus, AccountType, CashFlowSection};
pub use rules::keeper::Keeper;
use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "accounts")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub business_id: BusinessId,
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: RecordId,
    pub code: String,
    pub name: String,
    pub name_key: String,
    pub r#type: AccountType,
    pub class: AccountClass,
    pub parent_id: Option<RecordId>,
    pub is_group: bool,
    pub currency: Option<String>,
    pub description: Option<String>,
    pub cash_flow_section: Option<CashFlowSection>,
    pub allow_manual_posting: bool,
    pub keeper: Keeper,
    /// Entries up to this one moved money in other currencies at what they said it was worth: they were posted before
    /// there was a rule.
    pub as_said_until: i64,
    pub bank_details: Option<AsJson<BankDetails>>,
    pub status: AccountStatus,
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

impl Model {
    /// Where its movements stand in the cash flow: where it says, else where accounts of its type do.
    pub fn cash_flow(&self) -> CashFlowSection {
        cash_flow(self.cash_flow_section, self.r#type)
    }
}

fn cash_flow(said: Option<CashFlowSection>, r#type: AccountType) -> CashFlowSection {
    let own = said.filter(|own| (*own == CashFlowSection::Cash) == r#type.holds_money());
    own.unwrap_or(r#type.cash_flow_section())
}

/// An account as far as figures need it.
#[derive(Clone, Debug, PartialEq, Eq, DerivePartialModel)]
#[sea_orm(entity = "Entity")]
pub struct Charted {
    pub id: RecordId,
    pub code: String,
    pub name: String,
    pub r#type: AccountType,
    pub class: AccountClass,
    pub cash_flow_section: Option<CashFlowSection>,
    pub keeper: Keeper,
}

impl Charted {
    /// Where its movements stand in the cash flow.
    pub fn cash_flow(&self) -> CashFlowSection {
        cash_flow(self.cash_flow_section, self.r#type)
    }
}
