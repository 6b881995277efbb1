//! Locks as they are kept.

use crate::clock::Instant;
use crate::day::Day;
use crate::ids::{BusinessId, RecordId, UserId};
use crate::stored::AsJson;
use schemars::JsonSchema;
use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

/// A user for whom the locks do not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LockException {
    /// The user.
    pub user_id: UserId,
    /// Until when; as long as the lock is in force when null.
    pub until: Option<Instant>,
    /// Why.
    pub reason: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "locks")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub business_id: BusinessId,
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: RecordId,
    pub sequence: i64,
    pub lock_date: Option<Day>,
    pub sales_lock_date: Option<Day>,
    pub purchase_lock_date: Option<Day>,
    pub bank_lock_date: Option<Day>,
    pub stock_lock_date: Option<Day>,
    pub journal_lock_date: Option<Day>,
    pub hard_lock_date: Option<Day>,
    pub reason: Option<String>,
    pub exceptions: AsJson<Vec<LockException>>,
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

#[cfg(any(test, feature = "samples"))]
impl Model {
    pub fn sample() -> Self {
        Self {
            business_id: BusinessId::default(),
            id: RecordId::default(),
            sequence: 1,
            lock_date: None,
            sales_lock_date: None,
            purchase_lock_date: None,
            bank_lock_date: None,
            stock_lock_date: None,
            journal_lock_date: None,
            hard_lock_date: None,
            reason: None,
            exceptions: AsJson(Vec::new()),
            search: String::new(),
            version: 1,
            created_at: Instant::default(),
            created_by: UserId::default(),
            updated_at: Instant::default(),
            updated_by: UserId::default(),
        }
    }
}
