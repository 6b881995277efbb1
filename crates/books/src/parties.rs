//! The parties that documents are judged by.

use crate::error::Result;
use crate::ids::{BusinessId, RecordId};
use schema::party as table;
use sea_orm::{ColumnTrait, ConnectionTrait, QueryFilter};
use std::collections::HashSet;
use std::hash::BuildHasher;
use table::Column;

/// Parties by their identifiers, as documents are judged by them.
pub async fn load(
    connection: &impl ConnectionTrait,
    business: BusinessId,
    asked: &HashSet<RecordId, impl BuildHasher>,
) -> Result<Vec<table::Model>> {
    let rows =
        table::Entity::find().filter(Column::BusinessId.eq(business)).filter(Column::Id.is_in(asked.iter().copied()));
    Ok(rows.all(connection).await?)
}
