//! Permission sets as they are kept.

use crate::clock::Instant;
use crate::ids::{BusinessId, RecordId, UserId};
use crate::money::BookMoney;
use crate::rights::{Grants, Role};
use crate::stored::AsJson;
use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "permission_sets")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub business_id: BusinessId,
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: RecordId,
    pub name: String,
    pub name_key: String,
    pub description: Option<String>,
    pub role: Option<Role>,
    pub grants: AsJson<Grants>,
    pub max_document_amount: Option<BookMoney>,
    pub backdate_days: Option<i64>,
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
