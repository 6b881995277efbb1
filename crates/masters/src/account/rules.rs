//! What an account may become, given the rest of the chart and what was posted to it.

use crate::business;
use crate::error::{Code, Conflict, Error, FieldErrors, Result};
use crate::ids::RecordId;
use answers::Ask;
use books::balances::{Balance, balances};
use books::chart::{Blueprint, SystemRole};
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

impl Wanted {
    /// Whether it is in the company's own currency; to say none is to say that.
    fn is_foreign(&self, base: &String) -> bool {
        self.currency.as_ref().is_some_and(|currency| currency != base)
    }

    pub(super) fn check_currency(&self, base: &String) -> FieldErrors {
        let mut faults = FieldErrors::default();
        if self.is_foreign(base) && !self.r#type.may_be_foreign() {
            faults.add("currency", format!("must be {base}: only money, receivables and payables are kept in others"));
        }
        if self.is_foreign(base) && self.is_group {
            faults.add("currency", format!("of a group must be {base}"));
        }
        faults
    }
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
    if let Some(fault) = fault_of_parent(row.map(|row| row.id), wanted.class, parent, &places) {
        faults.add("parentId", fault);
    }
    Ok(())
}

/// What is wrong with a group that an account is to lie below.
fn fault_of_parent(
    own: Option<RecordId>,
    class: AccountClass,
    parent: RecordId,
    places: &[table::Model],
) -> Option<String> {
    let place = |id: RecordId| places.iter().find(|place| place.id == id);
    let Some(group) = place(parent) else { return Some("names no account".into()) };
    if !group.is_group {
        return Some("names an account that is not a group".into());
    }
    if group.class != class {
        return Some(format!("names a group of {}, not of {class}", group.class));
    }
    let mut at = Some(group);
    while let Some(above) = at {
        if own == Some(above.id) {
            return Some("must not lie below the account itself".into());
        }
        at = above.parent_id.and_then(place);
    }
    None
}

/// What an account that is used can no longer become.
pub(super) async fn check_use(cx: &Cx<'_>, row: &table::Model, wanted: &Wanted) -> Result<()> {
    if is_used(cx, row.id).await? {
        check_used(row, wanted, &cx.business()?.base_currency)?;
    }
    let children = table::Entity::find()
        .filter(Column::BusinessId.eq(row.business_id))
        .filter(Column::ParentId.eq(row.id))
        .models(&cx.db)
        .await?;
    if !children.is_empty() {
        check_above(row, wanted)?;
    }
    let held = business::system_accounts(cx).await?;
    let in_role = held.iter().find(|(_, id)| **id == row.id).map(|(role, _)| *role);
    if let Some(role) = in_role {
        check_role(role, wanted)?;
    }
    if wanted.status == AccountStatus::Archived && row.status == AccountStatus::Active {
        let refuse = |why: &str| Err(Error::conflict(Code::InvalidState, why));
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

fn refuse(field: &str, why: &str) -> Result<()> {
    Err(Error::Conflict(Conflict {
        code: Code::InUse,
        title: "The account is in use".into(),
        errors: FieldErrors::one(field, why),
    }))
}

/// What an account that has entries stays.
fn check_used(row: &table::Model, wanted: &Wanted, base: &String) -> Result<()> {
    if wanted.r#type != row.r#type {
        return refuse("type", "cannot change once the account has entries");
    }
    if wanted.currency.as_ref().unwrap_or(base) != row.currency.as_ref().unwrap_or(base) {
        return refuse("currency", "cannot change once the account has entries");
    }
    if wanted.is_group {
        return refuse("isGroup", "cannot change once the account has entries");
    }
    Ok(())
}

/// What a group that has accounts below it stays.
fn check_above(row: &table::Model, wanted: &Wanted) -> Result<()> {
    if !wanted.is_group {
        return refuse("isGroup", "cannot change while there are accounts below the group");
    }
    if wanted.class != row.class {
        return refuse("type", "must keep its class while there are accounts below the group");
    }
    Ok(())
}

/// What an account that the books use by themselves stays.
fn check_role(role: SystemRole, wanted: &Wanted) -> Result<()> {
    if wanted.is_group || Blueprint::of(role).is_some_and(|blueprint| !blueprint.suits(wanted.r#type)) {
        return refuse("type", &format!("must suit the role {role}, which the account has"));
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
