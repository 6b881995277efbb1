//! Answers of writes, as they are kept for whoever repeats one.

use crate::clock::Instant;
use crate::ids::{BusinessId, RecordId, UserId};
use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "idempotency_keys")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub user_id: UserId,
    #[sea_orm(primary_key, auto_increment = false)]
    pub key: String,
    pub command: String,
    pub outcome: String,
    /// By the time that the books were served, which no clock sets: see `running` in the books.
    pub created_at: Instant,
    /// The company and the record that the answer is about, where there is one.
    pub business_id: Option<BusinessId>,
    pub record_id: Option<RecordId>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

answers::asked_whole!(Entity);
