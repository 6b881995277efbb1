//! Keys of programs as they are kept.

use crate::clock::Instant;
use crate::ids::{BusinessId, RecordId, UserId};
use crate::rights::Grants;
use crate::stored::AsJson;
use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "api_keys")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub business_id: BusinessId,
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: RecordId,
    pub user_id: UserId,
    pub name: String,
    pub name_key: String,
    pub hint: String,
    pub digest: String,
    pub scopes: Option<AsJson<Grants>>,
    pub allowed_addresses: AsJson<Vec<String>>,
    pub expires_at: Option<Instant>,
    pub ended_at: Option<Instant>,
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
