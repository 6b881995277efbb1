//! The chart of accounts, read.

use crate::error::Result;
use crate::ids::{BusinessId, RecordId};
use crate::resource::account::{AccountStatus, table as accounts};
use crate::resource::business::table as businesses;
use crate::stored::AsJson;
pub(crate) use rules::chart::*;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect};
use std::collections::BTreeMap;

/// All accounts of a company, and what each is used for.
pub(crate) async fn load(connection: &impl ConnectionTrait, business: BusinessId) -> Result<Chart> {
    let rows = accounts::Entity::find().filter(accounts::Column::BusinessId.eq(business)).all(connection).await?;
    let held: Option<AsJson<BTreeMap<SystemRole, RecordId>>> = businesses::Entity::find_by_id(business)
        .select_only()
        .column(businesses::Column::SystemAccounts)
        .into_tuple()
        .one(connection)
        .await?;
    let roles = held.unwrap_or_default().0;
    let accounts = rows.into_iter().map(|row| Account {
        id: row.id,
        code: row.code,
        name: row.name,
        r#type: row.r#type,
        is_group: row.is_group,
        currency: row.currency,
        allow_manual_posting: row.allow_manual_posting,
        archived: row.status == AccountStatus::Archived,
    });
    Ok(Chart::new(accounts, roles))
}
