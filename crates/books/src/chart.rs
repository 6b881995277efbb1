//! The chart of accounts, read.

use crate::access::Business;
use crate::error::{Code, Error, Result};
use crate::ids::{BusinessId, RecordId};
use crate::stored::AsJson;
use rules::account::{AccountStatus, AccountType};
pub use rules::chart::*;
use schema::account::{self as accounts, Keeper};
use schema::business as businesses;
use sea_orm::{ColumnTrait, ConnectionTrait, DerivePartialModel, QueryFilter, QuerySelect};
use std::collections::BTreeMap;
use words::sown::{Fault, sown};

/// All accounts of a company, and what each is used for.
pub async fn load(connection: &impl ConnectionTrait, business: BusinessId) -> Result<Chart> {
    let held: Option<AsJson<BTreeMap<SystemRole, RecordId>>> = businesses::Entity::find_by_id(business)
        .select_only()
        .column(businesses::Column::SystemAccounts)
        .into_tuple()
        .one(connection)
        .await?;
    let held = held.ok_or_else(|| Error::internal("a company has no accounts in its roles"))?;
    load_with(connection, business, &held.0).await
}

/// All accounts of a company, with these in its roles.
pub async fn load_with(
    connection: &impl ConnectionTrait,
    business: BusinessId,
    roles: &BTreeMap<SystemRole, RecordId>,
) -> Result<Chart> {
    let rows = accounts::Entity::find()
        .filter(accounts::Column::BusinessId.eq(business))
        .into_partial_model::<Judged>()
        .all(connection)
        .await?;
    let accounts = rows.into_iter().map(|row| Account {
        id: row.id,
        code: row.code,
        name: row.name,
        r#type: row.r#type,
        keeper: if sown(Fault::KeeperOfTaxForgotten) && row.keeper == Keeper::Tax { Keeper::None } else { row.keeper },
        is_group: row.is_group,
        currency: row.currency,
        allow_manual_posting: row.allow_manual_posting,
        archived: row.status == AccountStatus::Archived,
    });
    Chart::new(accounts, roles).map_err(unfilled)
}

/// What of an account postings are judged by.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "accounts::Entity")]
struct Judged {
    id: RecordId,
    code: String,
    name: String,
    r#type: AccountType,
    keeper: Keeper,
    is_group: bool,
    currency: Option<String>,
    allow_manual_posting: bool,
    status: AccountStatus,
}

fn unfilled(role: SystemRole) -> Error {
    Error::conflict(
        Code::InvalidState,
        format!("No account has the role {role}; name one in the company's systemAccounts"),
    )
}

/// The account that a company has in a role. Who reads wants one of them, and not the chart.
pub fn in_role(business: &Business, role: SystemRole) -> Result<RecordId> {
    let held: BTreeMap<SystemRole, RecordId> =
        serde_json::from_str(&business.system_accounts).map_err(Error::internal)?;
    held.get(&role).copied().ok_or_else(|| unfilled(role))
}

#[cfg(any(test, feature = "samples"))]
pub use crate::samples::chart as sample;
