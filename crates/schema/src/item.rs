//! Items as they are kept.

use crate::clock::Instant;
use crate::ids::{BusinessId, RecordId, UserId};
use crate::money::{Quantity, UnitPrice};
use crate::payment_term::MasterStatus;
use crate::stored::AsJson;
use crate::wire_enum;
use sea_orm::entity::prelude::*;

wire_enum! {
    /// What kind of thing it is.
    pub enum ItemType {
        /// Goods whose quantity and value are kept.
        Stock = "stock",
        /// Goods that are not counted.
        NonStock = "nonStock",
        #[default]
        Service = "service",
    }
}

wire_enum! {
    /// How what goes out is valued.
    pub enum CostMethod {
        /// At the average of what is there.
        #[default]
        MovingAverage = "movingAverage",
        /// At the cost of what came in first.
        Fifo = "fifo",
        /// Goods come in at the standard cost; the difference to what was paid is a variance.
        Standard = "standard",
    }
}

wire_enum! {
    /// Whether more may go out than is there.
    pub enum NegativeStock {
        /// As the company does.
        #[default]
        Inherit = "inherit",
        Forbid = "forbid",
        Allow = "allow",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "items")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub business_id: BusinessId,
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: RecordId,
    pub name: String,
    pub name_key: String,
    pub code: Option<String>,
    pub r#type: ItemType,
    pub barcode: Option<String>,
    pub description: Option<String>,
    pub purchase_description: Option<String>,
    pub unit: Option<String>,
    pub category: Option<String>,
    pub sale_price: Option<UnitPrice>,
    pub purchase_price: Option<UnitPrice>,
    pub price_includes_tax: Option<bool>,
    pub sales_tax_code_id: Option<RecordId>,
    pub purchase_tax_code_id: Option<RecordId>,
    pub income_account_id: Option<RecordId>,
    pub expense_account_id: Option<RecordId>,
    pub inventory_account_id: Option<RecordId>,
    pub cogs_account_id: Option<RecordId>,
    pub cost_method: CostMethod,
    pub standard_cost: Option<UnitPrice>,
    pub negative_stock: NegativeStock,
    pub reorder_level: Option<Quantity>,
    pub status: MasterStatus,
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
