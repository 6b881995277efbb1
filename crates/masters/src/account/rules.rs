//! What an account may become, given the rest of the chart and what was posted to it.

use crate::business;
use crate::error::{Conflict, Error, FieldErrors, Result};
use crate::ids::RecordId;
use answers::Ask;
use books::balances::{Balance, balances};
use books::chart::Blueprint;
use books::cx::{Cx, Point};
use rules::account::{AccountClass, AccountStatus, AccountType};
use schema::account::{self as table, Column};
use schema::tables::account_months;
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};

/// What a body wants an account to be, as far as it depends on the rest of the books.
pub(super) struct Wanted {
    pub(super) r#type: AccountType,
    pub(super) class: AccountClass,
    pub(super) parent: Option<RecordId>,
    pub(super) is_group: bool,
    pub(super) currency: Option<String>,
    pub(super) status: AccountStatus,
}

pub(super) async fn check_parent(
    cx: &Cx<'_>,
    row: Option<&table::Model>,
    wanted: &Wanted,
    faults: &mut FieldErrors,
) -> Result<()> {
    let Some(parent) = wanted.parent else { return Ok(()) };
    let places: Vec<table::Model> =
        table::Entity::find().filter(Column::BusinessId.eq(cx.business_id()?)).models(&cx.db).await?;
    let place = |id: RecordId| places.iter().find(|place| place.id == id);
    match place(parent) {
        None => faults.add("parentId", "names no account"),
        Some(group) if !group.is_group => faults.add("parentId", "names an account that is not a group"),
        Some(group) if group.class != wanted.class => {
            faults.add("parentId", format!("names a group of {}, not of {}", group.class, wanted.class));
        }
        Some(group) => {
            let mut at = Some(group);
            while let Some(above) = at {
                if row.is_some_and(|row| row.id == above.id) {
                    faults.add("parentId", "must not lie below the account itself");
                    break;
                }
                at = above.parent_id.and_then(place);
            }
        }
    }
    Ok(())
}

/// What an account that is used can no longer become.
pub(super) async fn check_use(cx: &Cx<'_>, row: &table::Model, wanted: &Wanted) -> Result<()> {
    let refuse = |field: &str, why: &str| {
        Err(Error::Conflict(Conflict {
            code: "in_use",
            title: "The account is in use".into(),
            errors: FieldErrors::one(field, why),
        }))
    };
    if is_used(cx, row.id).await? {
        if wanted.r#type != row.r#type {
            return refuse("type", "cannot change once the account has entries");
        }
        let base = Some(&cx.business()?.base_currency);
        if wanted.currency.as_ref().or(base) != row.currency.as_ref().or(base) {
            return refuse("currency", "cannot change once the account has entries");
        }
        if wanted.is_group {
            return refuse("isGroup", "cannot change once the account has entries");
        }
    }
    let children = table::Entity::find()
        .filter(Column::BusinessId.eq(row.business_id))
        .filter(Column::ParentId.eq(row.id))
        .models(&cx.db)
        .await?;
    if !wanted.is_group && !children.is_empty() {
        return refuse("isGroup", "cannot change while there are accounts below the group");
    }
    if wanted.class != row.class && !children.is_empty() {
        return refuse("type", "must keep its class while there are accounts below the group");
    }
    let held = business::system_accounts(cx).await?;
    let in_role = held.iter().find(|(_, id)| **id == row.id).map(|(role, _)| *role);
    if let Some(role) = in_role
        && (wanted.is_group || Blueprint::of(role).is_some_and(|blueprint| !blueprint.suits(wanted.r#type)))
    {
        return refuse("type", &format!("must suit the role {role}, which the account has"));
    }
    if wanted.status == AccountStatus::Archived && row.status == AccountStatus::Active {
        let refuse = |why: &str| Err(Error::conflict("invalid_state", why));
        if in_role.is_some() {
            return refuse("The books use the account by themselves; name another in its role before it is archived");
        }
        if children.iter().any(|child| child.status == AccountStatus::Active) {
            return refuse("The group has active accounts below it; archive them first");
        }
        let balances = balances(cx, Some(&[row.id]), Point::default()).await?;
        if balances.values().any(|balance| *balance != Balance::default()) {
            return refuse("The account has a balance; bring it to zero before it is archived");
        }
    }
    Ok(())
}

pub(super) async fn is_used(cx: &Cx<'_>, id: RecordId) -> Result<bool> {
    cx.flush().await?;
    let months = account_months::Entity::find()
        .filter(account_months::Column::BusinessId.eq(cx.business_id()?))
        .filter(account_months::Column::AccountId.eq(id));
    Ok(months.count(&cx.db).await? > 0)
}
