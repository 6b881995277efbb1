//! Fiscal years as they are kept.

use crate::clock::Instant;
use crate::day::Day;
use crate::ids::{BusinessId, RecordId, UserId};
use crate::wire_enum;
use sea_orm::entity::prelude::*;

wire_enum! {
    /// Whether the year takes postings.
    pub enum FiscalYearStatus {
        #[default]
        Open = "open",
        /// Closed but for users whom the lock in force excepts.
        SoftClosed = "softClosed",
        Closed = "closed",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "fiscal_years")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub business_id: BusinessId,
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: RecordId,
    pub name: String,
    pub name_key: String,
    pub starts: Day,
    pub ends: Day,
    pub status: FiscalYearStatus,
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
