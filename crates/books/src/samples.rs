//! What suites judge documents by.

#![cfg(any(test, feature = "samples"))]
#![allow(clippy::unwrap_used, reason = "a sample that cannot be made fails the test that asks for it")]

use crate::ids::RecordId;
use rules::account::AccountType;
use rules::chart::{Account, Chart, ChartTemplate};
use rules::keeper::Keeper;
use uuid::Uuid;

/// The general chart, its accounts known by their codes, 2205 that a component of a tax names, and banks that hold dollars
/// (1020) and pounds (1030).
pub fn chart() -> Chart {
    let id = |code: &str| RecordId(Uuid::from_u128(code.parse().unwrap()));
    let account = |code: &str, name: &str, r#type, keeper: Keeper, is_group| Account {
        id: id(code),
        code: code.into(),
        name: name.into(),
        r#type,
        keeper,
        is_group,
        currency: None,
        allow_manual_posting: keeper.takes_journals(),
        archived: false,
    };
    let blueprints = ChartTemplate::General.accounts();
    let roles = blueprints.iter().filter_map(|one| Some((one.role?, id(one.code)))).collect();
    let planted = blueprints.iter().map(|one| account(one.code, one.name, one.r#type, one.keeper(), one.is_group));
    let of_component = account("2205", "Tax of a region", AccountType::CurrentLiability, Keeper::Tax, false);
    let abroad = [("1020", "USD"), ("1030", "GBP")].map(|(code, currency)| Account {
        currency: Some(currency.into()),
        ..account(code, currency, AccountType::Bank, Keeper::Money, false)
    });
    Chart::new(planted.chain([of_component]).chain(abroad), &roles).unwrap()
}
