//! What an account may become, given the rest of the chart and what was posted to it.

use crate::business;
use crate::error::{Conflict, Error, FieldErrors, Result};
use crate::ids::RecordId;
use answers::Ask;
use books::balances::{Balance, Balances, balances};
use books::chart::{Blueprint, SystemRole};
use books::cx::{Cx, Point};
use rules::account::{AccountClass, AccountStatus, AccountType, CashFlowSection};
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

/// The section of the cash flow that an account of a type says of its own. What was shown is not said, where a body that was
/// read is sent back with another type.
pub(super) fn section_of(
    r#type: AccountType,
    said: Option<CashFlowSection>,
    shown: Option<CashFlowSection>,
) -> Result<Option<CashFlowSection>, &'static str> {
    let fits = |section: CashFlowSection| (section == CashFlowSection::Cash) == r#type.holds_money();
    match said {
        Some(section) if fits(section) => Ok(Some(section).filter(|section| *section != r#type.cash_flow_section())),
        Some(section) if shown != Some(section) => Err(if r#type.holds_money() {
            "must be cash, or left out, for an account that holds money"
        } else {
            "must be operating, investing or financing: the account holds no money"
        }),
        _ => Ok(None),
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
    let fault = fault_of_parent(row.map(|row| row.id), wanted.class, parent, &places)
        .or_else(|| fault_of_archived(row, (wanted.status, parent), &places));
    if let Some(fault) = fault {
        faults.add("parentId", fault);
    }
    Ok(())
}

/// What is wrong with a group that is archived, or lies below one: nothing active comes below it. What stands there from
/// before may stay.
fn fault_of_archived(
    row: Option<&table::Model>,
    (status, group): (AccountStatus, RecordId),
    places: &[table::Model],
) -> Option<String> {
    let was_there = row.is_some_and(|row| row.status == AccountStatus::Active && row.parent_id == Some(group));
    let archived = above(group, places).find(|group| group.status == AccountStatus::Archived);
    let archived = archived.filter(|_| status == AccountStatus::Active && !was_there)?;
    Some(format!("lies in {} {}, which is archived; make that active first", archived.code, archived.name))
}

/// A group, and those above it.
fn above(group: RecordId, places: &[table::Model]) -> impl Iterator<Item = &table::Model> {
    let place = |id: RecordId| places.iter().find(move |place| place.id == id);
    std::iter::successors(place(group), move |group| group.parent_id.and_then(place))
}

/// What is wrong with a group that an account is to lie below.
fn fault_of_parent(
    own: Option<RecordId>,
    class: AccountClass,
    parent: RecordId,
    places: &[table::Model],
) -> Option<String> {
    let Some(group) = above(parent, places).next() else { return Some("names no account".into()) };
    if !group.is_group {
        return Some("names an account that is not a group".into());
    }
    if group.class != class {
        return Some(format!("names a group of {}, not of {class}", group.class));
    }
    let circles = above(parent, places).any(|above| own == Some(above.id));
    circles.then(|| "must not lie below the account itself".into())
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
        check_quiet(in_role, &children, &balances(cx, Some(&[row.id]), Point::default()).await?)?;
    }
    Ok(())
}

/// What is in the way of an account that is to be archived.
fn check_quiet(in_role: Option<SystemRole>, children: &[table::Model], balances: &Balances) -> Result<()> {
    let refuse = |why: &str| Err(Error::conflict("invalid_state", why));
    if in_role.is_some() {
        return refuse("The books use the account by themselves; name another in its role before it is archived");
    }
    if children.iter().any(|child| child.status == AccountStatus::Active) {
        return refuse("The group has active accounts below it; archive them first");
    }
    if balances.values().any(|balance| *balance != Balance::default()) {
        return refuse("The account has a balance; bring it to zero before it is archived");
    }
    Ok(())
}

fn refuse(field: &str, why: &str) -> Result<()> {
    Err(Error::Conflict(Conflict {
        code: "in_use",
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{account, id};
    use serde_json::{Value, json};

    const GROUP: (&str, Value) = ("/isGroup", Value::Bool(true));

    #[test]
    fn nothing_active_comes_below_a_group_that_is_archived() {
        let archived = || ("/status", json!("archived"));
        let chart = [
            account(1, None, &[GROUP]),
            account(10, Some(1), &[GROUP, archived()]),
            account(101, Some(10), &[GROUP, archived()]),
            account(11, Some(1), &[GROUP]),
        ];
        let answer = "lies in 10 Savings account, which is archived; make that active first";
        let active = AccountStatus::Active;
        let held = |parent: u128, status: &str| account(1010, Some(parent), &[("/status", json!(status))]);
        for (row, status, group, fault) in [
            (None, active, 1, None),
            (None, active, 11, None),
            (None, active, 10, Some(answer)),
            (None, AccountStatus::Archived, 10, None),
            // Made active again where it was.
            (Some(held(10, "archived")), active, 10, Some(answer)),
            (Some(held(10, "archived")), AccountStatus::Archived, 10, None),
            // Moved there.
            (Some(held(11, "active")), active, 10, Some(answer)),
            (Some(held(11, "active")), active, 11, None),
            // Books in which it stands there can be written on.
            (Some(held(10, "active")), active, 10, None),
        ] {
            let found = fault_of_archived(row.as_ref(), (status, id(group)), &chart);
            assert_eq!(found.as_deref(), fault, "{row:?} {status} below {group}");
        }
        // However far above.
        let above = "lies in 101 Savings account, which is archived; make that active first";
        assert_eq!(fault_of_archived(None, (active, id(101)), &chart).as_deref(), Some(above));
        let chart = [account(10, None, &[GROUP, archived()]), account(101, Some(10), &[GROUP])];
        assert_eq!(fault_of_archived(None, (active, id(101)), &chart).as_deref(), Some(answer));
    }

    #[test]
    fn money_stands_in_the_section_of_cash_and_nothing_else_does() {
        use CashFlowSection::{Cash, Financing, Investing, Operating};
        let money = Err("must be cash, or left out, for an account that holds money");
        let other = Err("must be operating, investing or financing: the account holds no money");
        for (of_type, said, shown, section) in [
            (AccountType::Bank, None, None, Ok(None)),
            (AccountType::Bank, Some(Cash), None, Ok(None)),
            (AccountType::Bank, Some(Operating), None, money),
            (AccountType::Cash, Some(Investing), Some(Cash), money),
            (AccountType::CreditCard, Some(Financing), Some(Cash), money),
            (AccountType::Expense, Some(Cash), None, other),
            (AccountType::Receivable, Some(Cash), Some(Operating), other),
            // What follows from the type is the same as none said.
            (AccountType::Expense, Some(Operating), None, Ok(None)),
            (AccountType::FixedAsset, Some(Investing), None, Ok(None)),
            (AccountType::Equity, Some(Financing), Some(Financing), Ok(None)),
            (AccountType::CurrentLiability, Some(Financing), None, Ok(Some(Financing))),
            (AccountType::FixedAsset, Some(Operating), None, Ok(Some(Operating))),
            // Read as a bank account, and sent back as another: what was shown of the bank is not said of it.
            (AccountType::Expense, Some(Cash), Some(Cash), Ok(None)),
            (AccountType::Bank, Some(Operating), Some(Operating), Ok(None)),
            // What it said itself goes along, where it fits.
            (AccountType::Equity, Some(Investing), Some(Investing), Ok(Some(Investing))),
        ] {
            assert_eq!(section_of(of_type, said, shown), section, "{of_type} {said:?}, shown {shown:?}");
        }
    }
}
