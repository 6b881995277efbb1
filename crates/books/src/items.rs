//! The items that documents are judged by.

use crate::error::Result;
use crate::ids::{BusinessId, RecordId};
use schema::item as table;
use sea_orm::{ColumnTrait, ConnectionTrait, QueryFilter};
use std::collections::HashSet;
use std::hash::BuildHasher;
use table::Column;
use words::sown::{Fault, sown};

/// Items by their identifiers, as documents are judged by them.
pub async fn load(
    connection: &impl ConnectionTrait,
    business: BusinessId,
    asked: &HashSet<RecordId, impl BuildHasher>,
) -> Result<Vec<table::Model>> {
    let rows =
        table::Entity::find().filter(Column::BusinessId.eq(business)).filter(Column::Id.is_in(asked.iter().copied()));
    let mut items = rows.all(connection).await?;
    if sown(Fault::ItemsAreAveraged) {
        for item in &mut items {
            item.cost_method = table::CostMethod::MovingAverage;
        }
    }
    Ok(items)
}
