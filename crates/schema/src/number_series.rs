//! Number series as they are kept.

use crate::clock::Instant;
use crate::ids::{BusinessId, RecordId, UserId};
use crate::tables::DocumentKind;
use crate::wire_enum;
use sea_orm::entity::prelude::*;

wire_enum! {
    /// When the numbers of a series begin anew.
    pub enum ResetOn {
        Never = "never",
        #[default]
        FiscalYear = "fiscalYear",
        Month = "month",
    }
}

wire_enum! {
    /// Whether numbers must follow the order of dates.
    pub enum Chronology {
        #[default]
        Off = "off",
        /// A document dated before the last one numbered is refused.
        Block = "block",
    }
}

wire_enum! {
    /// Whether new documents may be numbered by the series.
    pub enum SeriesStatus {
        #[default]
        Active = "active",
        Archived = "archived",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "number_series")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub business_id: BusinessId,
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: RecordId,
    pub r#type: DocumentKind,
    pub name: String,
    pub name_key: String,
    pub pattern: String,
    pub first_number: i64,
    pub reset_on: ResetOn,
    pub allow_manual: bool,
    pub chronological: Chronology,
    pub is_default: bool,
    pub status: SeriesStatus,
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
