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
use sea_orm::{
    ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, PaginatorTrait, QueryFilter, QuerySelect, Set,
};
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
