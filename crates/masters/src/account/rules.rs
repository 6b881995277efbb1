//! What an account may become, given the rest of the chart and what was posted to it.

use crate::business;
use crate::error::{Code, Conflict, Error, FieldErrors, Result};
use crate::ids::RecordId;
use answers::Ask;
use books::balances::{Balance, Balances, balances};
use books::chart::{Blueprint, SystemRole};
use books::cx::{Cx, Point};
use rules::account::{AccountClass, AccountStatus, AccountType, CashFlowSection};
use schema::account::{self as table, Column};
use schema::tables::account_months;
use sea_orm::{ColumnTrait, PaginatorTrait, QueryFilter};

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
    let refuse = |why: &str| Err(Error::conflict(Code::InvalidState, why));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{account, id, money, said, worth};
    use kit::samples::told;
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

    fn wanted(changes: &[(&str, Value)]) -> Wanted {
        let row = account(1020, None, changes);
        let (parent, currency) = (row.parent_id, row.currency);
        Wanted { r#type: row.r#type, class: row.class, parent, is_group: row.is_group, currency, status: row.status }
    }

    #[test]
    fn only_money_and_what_parties_owe_is_kept_abroad() {
        let other = "currency: must be EUR: only money, receivables and payables are kept in others";
        for (of_type, is_group, currency, faults) in [
            ("bank", false, json!("USD"), vec![]),
            ("payable", false, json!("USD"), vec![]),
            ("expense", false, json!("USD"), vec![other]),
            ("inventory", false, json!("USD"), vec![other]),
            ("bank", true, json!("USD"), vec!["currency: of a group must be EUR"]),
            ("expense", true, json!("USD"), vec![other]),
            // To say the company's own is to say none.
            ("expense", false, json!("EUR"), vec![]),
            ("expense", true, json!(null), vec![]),
        ] {
            let wanted = wanted(&[
                ("/type", json!(of_type)),
                ("/isGroup", json!(is_group)),
                ("/currency", currency.clone()),
                ("/cashFlowSection", json!(null)),
            ]);
            let found = told(&wanted.check_currency(&"EUR".to_owned()));
            assert!(found.iter().zip(&faults).all(|(found, fault)| found.starts_with(fault)), "{of_type}: {found:?}");
            assert_eq!(found.is_empty(), faults.is_empty(), "{of_type} {is_group} {currency}: {found:?}");
        }
    }

    #[test]
    fn an_account_lies_below_a_group_of_its_class_and_never_below_itself() {
        let expense = ("/type", json!("expense"));
        let chart = [
            account(1, None, &[GROUP]),
            account(6, None, &[GROUP, expense.clone()]),
            account(61, Some(6), &[GROUP, expense.clone()]),
            account(611, Some(61), &[GROUP, expense.clone()]),
            account(6200, Some(6), &[expense]),
        ];
        for (own, class, parent, fault) in [
            (None, AccountClass::Expense, 6, None),
            (Some(6200), AccountClass::Expense, 611, None),
            (None, AccountClass::Expense, 7, Some("names no account")),
            (None, AccountClass::Expense, 6200, Some("names an account that is not a group")),
            (None, AccountClass::Expense, 1, Some("names a group of asset, not of expense")),
            (Some(6), AccountClass::Expense, 6, Some("must not lie below the account itself")),
            (Some(6), AccountClass::Expense, 611, Some("must not lie below the account itself")),
            (Some(61), AccountClass::Expense, 611, Some("must not lie below the account itself")),
            (Some(611), AccountClass::Expense, 6, None),
        ] {
            let found = fault_of_parent(own.map(id), class, id(parent), &chart);
            assert_eq!(found.as_deref(), fault, "{own:?} below {parent}");
        }
    }

    #[test]
    fn an_account_with_entries_keeps_type_and_currency_and_takes_none_below_it() {
        let held = account(1020, None, &[("/currency", json!("USD"))]);
        let at_home = account(1020, None, &[("/currency", json!(null))]);
        let base = "EUR".to_owned();
        let usd = ("/currency", json!("USD"));
        let refused = |field: &str| format!("in_use: {field}: cannot change once the account has entries");
        for (row, changes, answer) in [
            (&held, vec![usd.clone()], "fine".to_owned()),
            (&held, vec![usd.clone(), ("/name", json!("Another"))], "fine".to_owned()),
            (&held, vec![usd.clone(), ("/type", json!("cash"))], refused("type")),
            (&held, vec![("/currency", json!("GBP"))], refused("currency")),
            (&held, vec![("/currency", json!(null))], refused("currency")),
            (&held, vec![usd, GROUP], refused("isGroup")),
            // Whether the company's own is said or not.
            (&at_home, vec![("/currency", json!("EUR"))], "fine".to_owned()),
            (&at_home, vec![("/currency", json!("USD"))], refused("currency")),
        ] {
            assert_eq!(said(check_used(row, &wanted(&changes), &base)), answer, "{changes:?}");
        }
    }

    #[test]
    fn a_group_stays_one_of_its_class_while_there_are_accounts_below_it() {
        let group = account(10, None, &[GROUP]);
        for (changes, answer) in [
            (vec![GROUP], "fine"),
            // Another type of the same class.
            (vec![GROUP, ("/type", json!("receivable"))], "fine"),
            (vec![], "in_use: isGroup: cannot change while there are accounts below the group"),
            (
                vec![GROUP, ("/type", json!("expense"))],
                "in_use: type: must keep its class while there are accounts below the group",
            ),
        ] {
            assert_eq!(said(check_above(&group, &wanted(&changes))), answer, "{changes:?}");
        }
    }

    #[test]
    fn what_has_a_role_suits_it() {
        for (role, changes, suits) in [
            (SystemRole::Receivable, vec![("/type", json!("receivable"))], true),
            (SystemRole::Receivable, vec![("/type", json!("payable"))], false),
            (SystemRole::Receivable, vec![("/type", json!("receivable")), GROUP], false),
            (SystemRole::Inventory, vec![("/type", json!("inventory"))], true),
            (SystemRole::Inventory, vec![("/type", json!("currentAsset"))], false),
            (SystemRole::BankFees, vec![("/type", json!("otherExpense"))], true),
            (SystemRole::BankFees, vec![("/type", json!("income"))], false),
            (SystemRole::RetainedEarnings, vec![("/type", json!("retainedEarnings"))], true),
        ] {
            let refused = format!("in_use: type: must suit the role {role}, which the account has");
            let answer = if suits { "fine" } else { refused.as_str() };
            assert_eq!(said(check_role(role, &wanted(&changes))), answer, "{role} {changes:?}");
        }
    }

    #[test]
    fn what_is_archived_is_in_no_role_holds_nothing_and_has_nothing_active_below_it() {
        let of = |base: &str, own: &str| {
            let balance = Balance { base: worth(base), own: money(own) };
            ((id(1020), "EUR".to_owned()), balance)
        };
        let below = |status: &str| account(1021, Some(1020), &[("/status", json!(status))]);
        for (role, children, balances, answer) in [
            (None, vec![], vec![], "fine"),
            (None, vec![below("archived")], vec![of("0", "0")], "fine"),
            (Some(SystemRole::BankFees), vec![], vec![], "invalid_state: The books use the account by themselves"),
            (None, vec![below("archived"), below("active")], vec![], "invalid_state: The group has active accounts"),
            (None, vec![], vec![of("10", "10")], "invalid_state: The account has a balance"),
            // Nothing of its own, and still worth something to the company.
            (None, vec![], vec![of("0.01", "0")], "invalid_state: The account has a balance"),
            (None, vec![], vec![of("0", "-1")], "invalid_state: The account has a balance"),
        ] {
            let found = said(check_quiet(role, &children, &balances.into_iter().collect()));
            assert!(found.starts_with(answer), "{role:?} {children:?}: {found}");
        }
    }
}
