//! Who may post what to which: every purpose against every kind of account, as a page of a handbook would have it.

#![cfg(test)]

use super::*;
use crate::account::AccountType as T;
use crate::chart::{Chart, ChartTemplate};
use crate::refusal::Refusal;
use std::collections::{BTreeMap, HashMap};
use words::ids::RecordId;

fn id(code: &str) -> RecordId {
    RecordId(uuid::Uuid::from_u128(code.parse().unwrap()))
}

/// The general chart, and beside it an account that a component of a tax names, one at a bank in dollars, goods that
/// journals follow, and one whose role went to another after its first entry.
fn accounts() -> (Vec<Account>, BTreeMap<SystemRole, RecordId>) {
    let blueprints = ChartTemplate::General.accounts();
    let held = blueprints.iter().filter_map(|one| Some((one.role?, id(one.code)))).collect();
    let mut accounts: Vec<Account> =
        blueprints.iter().map(|one| account(one.code, one.r#type, one.keeper(), one.is_group)).collect();
    accounts.push(account("2299", T::CurrentLiability, Keeper::of(T::CurrentLiability, true, &[], true), false));
    accounts.push(account("1340", T::Inventory, Keeper::of(T::Inventory, true, &[], false), false));
    accounts.push(account("2160", T::CurrentLiability, Keeper::Accruals, false));
    accounts.push(Account { currency: Some("USD".into()), ..account("1020", T::Bank, Keeper::Money, false) });
    accounts.push(Account { archived: true, ..account("6001", T::Expense, Keeper::None, false) });
    accounts.push(Account { allow_manual_posting: false, ..account("6002", T::Expense, Keeper::None, false) });
    (accounts, held)
}

fn account(code: &str, r#type: AccountType, keeper: Keeper, is_group: bool) -> Account {
    Account {
        id: id(code),
        code: code.into(),
        name: format!("Account {code}"),
        r#type,
        keeper,
        is_group,
        currency: None,
        allow_manual_posting: keeper.takes_journals(),
        archived: false,
    }
}

fn chart() -> Chart {
    let (accounts, held) = accounts();
    Chart::new(accounts, &held).unwrap()
}

/// The columns of the table: money, debts, inventory, goods that wait, tax, revaluation, results, equity, other assets,
/// other liabilities, income, expense.
const COLUMNS: [&[&str]; 12] = [
    &["1000", "1010", "2400"],
    &["1200", "1500", "2100", "2300"],
    &["1300", "1310"],
    &["1350", "2150", "2160"],
    &["1400", "1405", "1410", "2200", "2205", "2210", "2299"],
    &["1210", "2110"],
    &["3200"],
    &["3000", "3100", "3900"],
    &["1600", "1690"],
    &["2500", "2600", "2700"],
    &["4000", "4100", "4700", "4800", "4900"],
    &["5000", "5100", "6000", "6700", "6800", "6820"],
];

/// `ok`, or the number of the text that refuses. A journal takes debts with their party alone.
const TABLE: [(Purpose, [&str; 12]); 14] = [
    (Purpose::Journal, ["ok", "10", "3", "4", "ok", "6", "ok", "ok", "ok", "ok", "ok", "ok"]),
    (Purpose::Closing, ["1", "2", "3", "4", "5", "6", "ok", "8", "8", "8", "ok", "ok"]),
    (Purpose::DirectLine, ["1", "2", "3", "4", "ok", "6", "7", "ok", "ok", "ok", "ok", "ok"]),
    (Purpose::SaleLine, ["1", "2", "3", "4", "5", "6", "7", "8", "ok", "ok", "ok", "ok"]),
    (Purpose::PurchaseLine, ["1", "2", "3", "4", "5", "6", "7", "ok", "ok", "ok", "ok", "ok"]),
    (Purpose::Fee, ["1", "2", "3", "4", "5", "6", "7", "8", "ok", "ok", "ok", "ok"]),
    (Purpose::WriteOff, ["1", "2", "3", "4", "5", "6", "7", "8", "ok", "ok", "ok", "ok"]),
    (Purpose::AdjustmentSide, ["1", "2", "3", "4", "5", "6", "7", "ok", "ok", "ok", "ok", "ok"]),
    (Purpose::TaxOwed, ["1", "2", "3", "4", "ok", "6", "7", "8", "8", "ok", "8", "8"]),
    (Purpose::TaxClaimed, ["1", "2", "3", "4", "ok", "6", "7", "8", "ok", "8", "8", "8"]),
    (Purpose::Income, ["1", "2", "3", "4", "5", "6", "7", "8", "8", "8", "ok", "8"]),
    (Purpose::Expense, ["1", "2", "3", "4", "5", "6", "7", "8", "ok", "8", "8", "ok"]),
    (Purpose::Cost, ["1", "2", "3", "4", "5", "6", "7", "8", "8", "8", "8", "ok"]),
    (Purpose::ItemStock, ["8", "8", "ok", "8", "8", "8", "8", "8", "8", "8", "8", "8"]),
];

fn said<T>(answer: Result<T, Refusal>) -> String {
    answer.map_or_else(|refusal| refusal.number().to_string(), |_| "ok".into())
}

#[test]
fn every_purpose_takes_the_accounts_that_suit_and_says_of_the_others_why() {
    let chart = chart();
    let mut asked = 0;
    for (purpose, row) in TABLE {
        for (codes, expected) in COLUMNS.iter().zip(row) {
            for code in *codes {
                let answer = said(chart.line(id(code), purpose, None, "EUR"));
                assert_eq!(answer, expected, "{purpose:?} on {code}");
                asked += 1;
            }
        }
    }
    assert_eq!(asked, 14 * COLUMNS.iter().map(|codes| codes.len()).sum::<usize>());
}

#[test]
fn what_is_free_is_kept_by_nobody() {
    let chart = chart();
    for (purpose, row) in TABLE {
        for (column, (codes, expected)) in COLUMNS.iter().zip(row).enumerate() {
            let free = chart.free(id(codes[0]), purpose);
            assert_eq!(free.is_ok(), expected == "ok" && column > 5, "{purpose:?} on {}", codes[0]);
        }
    }
}

#[test]
fn money_debts_and_stock_are_had_from_their_own_accounts_alone() {
    let chart = chart();
    for (column, codes) in COLUMNS.iter().enumerate() {
        for code in *codes {
            let expected = |there: bool| if there { "ok" } else { "8" };
            let account = chart.account(id(code)).unwrap();
            assert_eq!(said(chart.money(id(code), "EUR")), expected(column == 0), "{code}");
            assert_eq!(said(chart.stock(id(code))), expected(column == 2), "{code}");
            assert_eq!(said(chart.tax(id(code))), expected(column == 4), "{code}");
            for (side, of) in [
                (Side::Either, None),
                (Side::Receivable, Some(AccountType::Receivable)),
                (Side::Payable, Some(AccountType::Payable)),
            ] {
                let there = column == 1 && of.is_none_or(|of| account.r#type == of);
                assert_eq!(said(chart.control(id(code), side, "EUR")), expected(there), "{side:?} on {code}");
            }
        }
    }
}

#[test]
fn a_debt_has_its_party_and_makes_no_line_without() {
    let chart = chart();
    let party = RecordId(uuid::Uuid::from_u128(9));
    for code in COLUMNS[1] {
        let named = chart.line(id(code), Purpose::Journal, Some(party), "EUR").unwrap();
        assert_eq!(named.0.party, Some(party), "{code}");
        assert_eq!(said(chart.standing(id(code))), "10", "{code}");
    }
}

#[test]
fn an_account_with_a_currency_of_its_own_takes_no_other_whatever_it_is_named_for() {
    let chart = chart();
    let dollars = id("1020");
    assert_eq!(said(chart.line(dollars, Purpose::Journal, None, "EUR")), "9");
    assert_eq!(said(chart.money(dollars, "EUR")), "9");
    assert_eq!(said(chart.money(dollars, "USD")), "ok");
    assert_eq!(said(chart.money(id("1010"), "USD")), "ok");
    // Even where the account was had before the amount.
    let had = chart.money(dollars, "USD").unwrap();
    let line = crate::posting::Line::on(
        had,
        crate::exchange::Valued::read(words::money::Money::ZERO, "EUR".into(), words::money::BookMoney::ZERO),
        crate::posting::About::default(),
    );
    assert_eq!(said(line), "9");
}

#[test]
fn groups_archived_and_unknown_accounts_are_refused_for_everything() {
    let chart = chart();
    for (purpose, _) in TABLE {
        for code in ["6", "6001", "77"] {
            assert_eq!(said(chart.judge(id(code), purpose)), "11", "{purpose:?} on {code}");
        }
    }
    // What takes no journals takes all else that it suits.
    assert_eq!(said(chart.judge(id("6002"), Purpose::Journal)), "11");
    assert_eq!(said(chart.judge(id("6002"), Purpose::Fee)), "ok");
    // What stands on an account is followed after it was archived.
    assert_eq!(said(chart.standing(id("6001"))), "ok");
}

#[test]
fn goods_that_journals_follow_are_another_asset_to_which_no_item_and_no_tax_comes() {
    let chart = chart();
    for (purpose, expected) in [
        (Purpose::Journal, "ok"),
        (Purpose::DirectLine, "ok"),
        (Purpose::PurchaseLine, "ok"),
        (Purpose::ItemStock, "8"),
        (Purpose::TaxClaimed, "8"),
        (Purpose::Role(SystemRole::Inventory), "8"),
    ] {
        assert_eq!(said(chart.judge(id("1340"), purpose)), expected, "{purpose:?}");
    }
}

#[test]
fn a_role_goes_to_an_account_of_its_type_that_no_other_keeper_has() {
    let chart = chart();
    for (role, code, expected) in [
        (SystemRole::GoodsReceivedNotInvoiced, "2150", "ok"),
        (SystemRole::GoodsReceivedNotInvoiced, "2500", "ok"),
        (SystemRole::GoodsReceivedNotInvoiced, "2160", "ok"),
        (SystemRole::GoodsReceivedNotInvoiced, "2300", "2"),
        (SystemRole::CustomerAdvances, "2150", "4"),
        (SystemRole::Receivable, "1500", "8"),
        (SystemRole::Receivable, "1010", "8"),
        (SystemRole::OutputTax, "2299", "ok"),
        (SystemRole::InputTax, "1010", "1"),
        (SystemRole::InputTax, "2299", "8"),
        (SystemRole::SupplierAdvances, "1400", "5"),
        (SystemRole::OutputTax, "2110", "6"),
        (SystemRole::Income, "4100", "ok"),
        (SystemRole::Income, "6000", "8"),
    ] {
        assert_eq!(said(chart.judge(id(code), Purpose::Role(role))), expected, "{role} on {code}");
    }
}

#[test]
fn roles_are_complete_or_there_is_no_chart() {
    let (accounts, held) = accounts();
    let chart = Chart::new(accounts.clone(), &held).unwrap();
    for (role, id) in &held {
        assert_eq!(chart.roles().id(*role), *id, "{role}");
        let mut without = held.clone();
        without.remove(role);
        let chart = Chart::new(accounts.clone(), &without).map(|chart| chart.roles().id(*role));
        let stands_in = match role {
            SystemRole::OutputTaxNotDue => Some(SystemRole::OutputTax),
            SystemRole::InputTaxNotDue => Some(SystemRole::InputTax),
            _ => None,
        };
        assert_eq!(chart, stands_in.map(|other| held[&other]).ok_or(*role), "{role}");
    }
    assert_eq!(held.len(), SystemRole::TEXTS.len());
}

#[test]
fn every_role_has_an_account_of_its_keepers_from_the_start() {
    let kinds: HashMap<&str, Keeper> =
        ChartTemplate::General.accounts().iter().filter_map(|one| Some((one.code, one.role?.keeper()))).collect();
    for (code, keeper) in kinds {
        assert_eq!(chart().account(id(code)).unwrap().keeper, keeper, "{code}");
    }
}

#[test]
fn each_text_names_the_account_and_says_what_to_do() {
    let chart = chart();
    let text = |code: &str, purpose| chart.line(id(code), purpose, None, "EUR").unwrap_err().to_string();
    for (code, purpose, expected) in [
        (
            "1010",
            Purpose::Fee,
            "names 1010 Account 1010, which holds money; move it by a receipt, a payment or a contra entry",
        ),
        (
            "1200",
            Purpose::Fee,
            "names 1200 Account 1200, which takes what parties owe and are owed; use an invoice, a note, a receipt or a \
             payment with the party",
        ),
        (
            "1300",
            Purpose::Fee,
            "names 1300 Account 1300, which follows the stock; use a document with the item, or a stock adjustment",
        ),
        (
            "2150",
            Purpose::Fee,
            "names 2150 Account 2150, where goods wait for their invoice; only notes of goods and what bills them post there",
        ),
        ("2200", Purpose::Fee, "names 2200 Account 2200, which holds tax; name a tax code instead"),
        ("2110", Purpose::Fee, "names 2110 Account 2110, which only revaluations post to"),
        ("3200", Purpose::Fee, "names 3200 Account 3200, which takes results of years; use a journal"),
        (
            "3000",
            Purpose::Fee,
            "names 3000 Account 3000, which is of type equity; here it must be income, expense, or another asset or liability",
        ),
        ("1020", Purpose::Journal, "names 1020 Account 1020, which is kept in USD; the line is in EUR"),
        ("2300", Purpose::Journal, "names 2300 Account 2300, which needs `partyId` on each line"),
        ("6", Purpose::Fee, "names 6 Account 6, a group; name an account in it"),
        ("6001", Purpose::Fee, "names 6001 Account 6001, which is archived"),
        ("6002", Purpose::Journal, "names 6002 Account 6002, which takes no journals"),
        ("77", Purpose::Fee, "names no account"),
    ] {
        assert_eq!(text(code, purpose), expected);
    }
}
