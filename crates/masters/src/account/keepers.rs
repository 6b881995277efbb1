//! Which sub-ledger keeps an account, as its row has it: type, role and the components of taxes say so, and the first
//! entry fixes it.

use super::rules;
use crate::business;
use crate::error::{Code, Conflict, Error, FieldErrors, Result};
use crate::ids::{BusinessId, RecordId};
use ::rules::account::AccountType;
use ::rules::keeper::Keeper;
use ::rules::purpose::Purpose;
use answers::Ask;
use books::chart::{Account, Chart, SystemRole};
use books::cx::Cx;
use books::tax_codes::TaxCodes;
use schema::account::{self as table, Column};
use schema::tables::account_months;
use sea_orm::{ActiveModelTrait, ColumnTrait, IntoActiveModel, PaginatorTrait, QueryFilter, QuerySelect, Set};
use std::collections::{BTreeMap, HashSet};

/// What a body wants of an account: its keeper, and whether journals may name it.
pub(super) async fn wanted(
    cx: &Cx<'_>,
    row: Option<&table::Model>,
    (r#type, is_group): (AccountType, bool),
    by_hand: Option<bool>,
) -> Result<(Keeper, bool)> {
    let keeper = match row {
        _ if is_group => Keeper::None,
        None => Keeper::of(r#type, by_hand == Some(true), &[], false),
        Some(row) if rules::is_used(cx, row.id).await? => row.keeper,
        Some(row) => {
            let by_hand = by_hand == Some(true) && !is_named_by_items(cx, row).await?;
            let held = business::system_accounts_of(cx, row.business_id).await?;
            let codes = TaxCodes::load(&cx.db, row.business_id).await?;
            Keeper::of(r#type, by_hand, &roles_of(&held, row.id), codes.name_account(row.id))
        }
    };
    Ok((keeper, takes_journals(keeper, r#type, by_hand)?))
}

/// Whether journals may name an account of a keeper and a type, where a body may say so.
fn takes_journals(keeper: Keeper, r#type: AccountType, by_hand: Option<bool>) -> Result<bool> {
    if by_hand == Some(true) && !keeper.takes_journals() {
        return Err(Error::field("allowManualPosting", "cannot be true: the books keep this account themselves"));
    }
    let by_default = keeper.takes_journals() && r#type != AccountType::Inventory;
    Ok(by_hand.unwrap_or(by_default))
}

async fn is_named_by_items(cx: &Cx<'_>, row: &table::Model) -> Result<bool> {
    let named = schema::item::Entity::find()
        .filter(schema::item::Column::BusinessId.eq(row.business_id))
        .filter(schema::item::Column::InventoryAccountId.eq(row.id));
    Ok(named.count(&cx.db).await? > 0)
}

fn roles_of(held: &BTreeMap<SystemRole, RecordId>, account: RecordId) -> Vec<SystemRole> {
    held.iter().filter(|(_, id)| **id == account).map(|(role, _)| *role).collect()
}

/// Gives accounts of a company the keepers that they have now by type, role and component. What has entries keeps the
/// keeper that it has.
pub(crate) async fn settle(cx: &Cx<'_>, business: BusinessId, which: HashSet<RecordId>) -> Result<()> {
    if which.is_empty() {
        return Ok(());
    }
    let used = used(cx, business, &which).await?;
    let held = business::system_accounts_of(cx, business).await?;
    let codes = TaxCodes::load(&cx.db, business).await?;
    let rows = table::Entity::find()
        .filter(Column::BusinessId.eq(business))
        .filter(Column::Id.is_in(which))
        .filter(Column::Id.is_not_in(used));
    for row in rows.models(&cx.db).await? {
        let by_hand = row.r#type == AccountType::Inventory && row.allow_manual_posting;
        let keeper = Keeper::of(row.r#type, by_hand, &roles_of(&held, row.id), codes.name_account(row.id));
        if keeper == row.keeper {
            continue;
        }
        let journals = journals_after((row.keeper, row.allow_manual_posting), keeper);
        let mut changed = row.into_active_model();
        changed.keeper = Set(keeper);
        changed.allow_manual_posting = Set(journals);
        changed.update(&cx.db).await?;
    }
    Ok(())
}

/// Whether journals may name an account that gets another keeper. What nobody could name by hand while it was kept,
/// journals may name again.
fn journals_after((before, by_hand): (Keeper, bool), now: Keeper) -> bool {
    now.takes_journals() && (by_hand || !before.takes_journals())
}

/// Those of some accounts that have entries.
async fn used(cx: &Cx<'_>, business: BusinessId, which: &HashSet<RecordId>) -> Result<Vec<RecordId>> {
    cx.flush().await?;
    let used = account_months::Entity::find()
        .select_only()
        .distinct()
        .column(account_months::Column::AccountId)
        .filter(account_months::Column::BusinessId.eq(business))
        .filter(account_months::Column::AccountId.is_in(which.iter().copied()));
    Ok(used.column_of(&cx.db).await?)
}

/// What a record wants a keeper for: an account, in a field, for a purpose.
pub(crate) struct Claim {
    pub(crate) field: String,
    pub(crate) account: RecordId,
    pub(crate) purpose: Purpose,
    pub(crate) keeper: Keeper,
}

/// Judges accounts that are to be kept from now on. One that has entries of its own is not taken over; nor do two
/// keepers share one.
pub(crate) async fn check_claims(cx: &Cx<'_>, business: BusinessId, chart: &Chart, claims: &[Claim]) -> Result<()> {
    let asked = claims.iter().map(|claim| claim.account).collect();
    judge(chart, claims, &used(cx, business, &asked).await?)
}

/// Judges claims, given which of the accounts have entries.
fn judge(chart: &Chart, claims: &[Claim], used: &[RecordId]) -> Result<()> {
    let (mut faults, mut taken) = (FieldErrors::default(), FieldErrors::default());
    for claim in claims {
        match chart.judge(claim.account, claim.purpose) {
            Err(refusal) => faults.add(claim.field.as_str(), refusal.to_string()),
            Ok(account) if claim.keeper != Keeper::None && account.keeper != claim.keeper => {
                let other = |other: &&Claim| {
                    other.account == claim.account && ![Keeper::None, claim.keeper].contains(&other.keeper)
                };
                if let Some(other) = claims.iter().find(other) {
                    faults.add(claim.field.as_str(), format!("names {}, as {} does", named(account), other.field));
                }
                if used.contains(&account.id) {
                    let why =
                        format!("names {}, which holds entries of its own; name an account without", named(account));
                    taken.add(claim.field.as_str(), why);
                }
            }
            Ok(_) => {}
        }
    }
    if !faults.is_empty() {
        return Err(faults.into());
    }
    if taken.is_empty() {
        return Ok(());
    }
    Err(Error::Conflict(Conflict { code: Code::InUse, title: "The account is in use".into(), errors: taken }))
}

fn named(account: &Account) -> String {
    format!("{} {}", account.code, account.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{id, said};

    #[test]
    fn journals_name_what_nobody_keeps_and_goods_where_they_are_said_to() {
        let refused = "allowManualPosting: cannot be true: the books keep this account themselves";
        for (keeper, of_type, by_hand, answer) in [
            (Keeper::None, AccountType::Expense, None, Ok(true)),
            (Keeper::None, AccountType::Expense, Some(false), Ok(false)),
            (Keeper::Money, AccountType::Bank, None, Ok(true)),
            (Keeper::OpenItems, AccountType::Receivable, Some(true), Ok(true)),
            (Keeper::Tax, AccountType::TaxPayable, None, Ok(true)),
            (Keeper::Stock, AccountType::Inventory, None, Ok(false)),
            (Keeper::Stock, AccountType::Inventory, Some(true), Err(refused)),
            (Keeper::Accruals, AccountType::CurrentLiability, Some(true), Err(refused)),
            (Keeper::Valuation, AccountType::CurrentAsset, Some(true), Err(refused)),
            (Keeper::Valuation, AccountType::CurrentAsset, Some(false), Ok(false)),
            // Inventory that nobody keeps is for journals where that is said.
            (Keeper::None, AccountType::Inventory, None, Ok(false)),
            (Keeper::None, AccountType::Inventory, Some(true), Ok(true)),
        ] {
            let found = takes_journals(keeper, of_type, by_hand).map_err(|why| said(Err::<(), _>(why)));
            assert_eq!(found, answer.map_err(str::to_owned), "{keeper} {of_type} {by_hand:?}");
        }
    }

    #[test]
    fn an_account_that_is_let_go_may_be_named_again_and_one_that_was_closed_stays_so() {
        for (before, by_hand, now, journals) in [
            // An account that gets the role of goods received, and loses it.
            (Keeper::None, true, Keeper::Accruals, false),
            (Keeper::Accruals, false, Keeper::None, true),
            // A tax account was open to journals while it was kept: what was said of it stays.
            (Keeper::None, true, Keeper::Tax, true),
            (Keeper::None, false, Keeper::Tax, false),
            (Keeper::Tax, false, Keeper::None, false),
            (Keeper::Tax, true, Keeper::None, true),
            (Keeper::Valuation, false, Keeper::Tax, true),
            (Keeper::Accruals, false, Keeper::Valuation, false),
        ] {
            assert_eq!(journals_after((before, by_hand), now), journals, "{before} {by_hand} {now}");
        }
    }

    #[test]
    fn the_roles_of_an_account_are_all_that_it_has() {
        use SystemRole::{BadDebt, BankFees, Expense};
        let held = BTreeMap::from([(BankFees, id(6100)), (BadDebt, id(6100)), (Expense, id(6200))]);
        let found: HashSet<SystemRole> = roles_of(&held, id(6100)).into_iter().collect();
        assert_eq!(found, HashSet::from([BankFees, BadDebt]));
        assert_eq!(roles_of(&held, id(6000)), []);
    }

    /// Kernel 1.1: an account gets a keeper only without entries, or where it has that keeper already; two keepers share none.
    #[test]
    fn a_keeper_takes_over_no_account_with_entries_nor_one_that_another_asks_for() {
        let chart = books::chart::sample();
        let claim = |field: &str, account: u128, purpose: Purpose, keeper: Keeper| Claim {
            field: field.into(),
            account: id(account),
            purpose,
            keeper,
        };
        let owed = |field: &str, account: u128| claim(field, account, Purpose::TaxOwed, Keeper::Tax);
        let role = |role: SystemRole, account: u128| claim(role.as_str(), account, Purpose::Role(role), role.keeper());
        for (claims, used, answer) in [
            // 2200 is an account of tax already, entries or not.
            (vec![owed("owed", 2200)], vec![2200], "fine"),
            (vec![owed("owed", 2205)], vec![2205], "fine"),
            // Another liability may become one, until something was posted to it.
            (vec![owed("owed", 2500)], vec![], "fine"),
            (vec![owed("owed", 2500)], vec![2500], "in_use: owed: names 2500"),
            (vec![owed("owed", 2500)], vec![4000], "fine"),
            // Kernel 1.4: refused for what it is, before anything else.
            (vec![owed("owed", 1300)], vec![1300], "owed: names 1300"),
            (vec![owed("owed", 2500), owed("claimed", 1010)], vec![2500], "claimed: names 1010"),
            (
                vec![role(SystemRole::CustomerAdvances, 2500), role(SystemRole::GoodsReceivedNotInvoiced, 2500)],
                vec![],
                "customerAdvances: names 2500",
            ),
        ] {
            let used: Vec<RecordId> = used.into_iter().map(id).collect();
            let found = said(judge(&chart, &claims, &used));
            assert!(found.starts_with(answer) && (answer != "fine" || found == "fine"), "{answer}: {found}");
        }
    }
}
