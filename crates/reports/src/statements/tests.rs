#![cfg(test)]

use super::super::samples::{account, asked, failed, id, written};
use super::balance_sheet::Held;
use super::trial_balance::Tried;
use super::*;
use books::sums::Moved;

fn chart() -> Chart {
    use AccountType::{Bank, Cogs, Equity, Expense, Income, OtherIncome, Payable, RetainedEarnings};
    let all = [
        (1010, Bank),
        (2100, Payable),
        (3000, Equity),
        (3200, RetainedEarnings),
        (4000, Income),
        (4700, OtherIncome),
        (5000, Cogs),
        (6000, Expense),
    ];
    Chart(all.map(|(code, r#type)| account(code, r#type)).to_vec())
}

fn at(balances: &[(u128, i64)]) -> Balances {
    balances.iter().map(|(code, cents)| (id(*code), cents * 100)).collect()
}

fn moved(sums: &[(u128, i64, i64)]) -> Sums {
    let of = |(code, debit, credit): &(u128, i64, i64)| (id(*code), Moved { debit: debit * 100, credit: credit * 100 });
    sums.iter().map(of).collect()
}

#[test]
fn a_profit_is_what_was_earned_less_what_it_cost() {
    let span = Span { from: Some("2026-01-01".parse().unwrap()), to: "2026-01-31".parse().unwrap() };
    let sums = moved(&[(4000, 500, 10_500), (4700, 0, 700), (5000, 4_000, 0), (6000, 1_500, 0), (1010, 10_700, 5_500)]);
    let before = at(&[(4000, -3_000), (6000, 1_000)]);
    let after = at(&[(4000, -13_000), (4700, -700), (5000, 4_000), (6000, 2_500)]);
    let facts = Earned { chart: chart(), own: Own(2), periods: vec![(span, sums.clone(), [before.clone(), after])] };
    let sheet = ProfitAndLoss::fold(facts, &asked("2026-01-01", "2026-01-31")).unwrap();
    assert_eq!(failed(&sheet), Vec::<String>::new());
    assert_eq!(
        written(&sheet),
        [
            "income 100.00",
            "  4000 100.00",
            "costOfSales 40.00",
            "  5000 40.00",
            "grossProfit 60.00",
            "expenses 15.00",
            "  6000 15.00",
            "operatingProfit 45.00",
            "otherIncome 7.00",
            "  4700 7.00",
            "otherExpenses 0.00",
            "netProfit 52.00",
        ]
    );
    // What the balances do not bear out is said.
    let facts = Earned { chart: chart(), own: Own(2), periods: vec![(span, sums, [before.clone(), before])] };
    let sheet = ProfitAndLoss::fold(facts, &asked("2026-01-01", "2026-01-31")).unwrap();
    assert_eq!(failed(&sheet).len(), 1);
}

#[test]
fn what_was_earned_is_equity_without_an_entry() {
    let now = at(&[(1010, 9_000), (2100, -1_000), (3000, -5_000), (4000, -6_000), (6000, 3_000)]);
    let before = at(&[(1010, 6_000), (3000, -5_000), (4000, -2_000), (6000, 1_000)]);
    let facts = Held { chart: chart(), own: Own(2), days: vec![("2026-05-31".parse().unwrap(), now, before)] };
    let sheet = BalanceSheet::fold(facts, &asked("2026-01-01", "2026-05-31")).unwrap();
    assert_eq!(failed(&sheet), Vec::<String>::new());
    assert_eq!(
        written(&sheet),
        [
            "currentAssets 90.00",
            "  1010 90.00",
            "fixedAssets 0.00",
            "totalAssets 90.00",
            "currentLiabilities 10.00",
            "  2100 10.00",
            "longTermLiabilities 0.00",
            "totalLiabilities 10.00",
            "equityAccounts 80.00",
            "  3000 50.00",
            "  earlierEarnings 10.00",
            "  currentEarnings 20.00",
            "totalLiabilitiesAndEquity 90.00",
        ]
    );
}

#[test]
fn income_and_expense_begin_a_year_with_nothing() {
    let facts = Tried {
        chart: chart(),
        own: Own(2),
        span: Span { from: Some("2026-01-01".parse().unwrap()), to: "2026-01-31".parse().unwrap() },
        before: at(&[(1010, 6_000), (3000, -5_000), (4000, -2_000), (6000, 1_000)]),
        moved: moved(&[(1010, 300, 0), (4000, 0, 300)]),
        after: at(&[(1010, 6_300), (3000, -5_000), (4000, -2_300), (6000, 1_000)]),
        earlier: at(&[(4000, -2_000), (6000, 1_000)]),
        retained: id(3200),
    };
    let sheet = TrialBalance::fold(facts, &asked("2026-01-01", "2026-01-31")).unwrap();
    assert_eq!(failed(&sheet), Vec::<String>::new());
    assert_eq!(
        written(&sheet),
        [
            "1010 60.00 0.00 3.00 0.00 63.00 0.00",
            "3000 0.00 50.00 0.00 0.00 0.00 50.00",
            "3200 0.00 10.00 0.00 0.00 0.00 10.00",
            "4000 0.00 0.00 0.00 3.00 0.00 3.00",
            "total 60.00 60.00 3.00 3.00 63.00 63.00",
        ]
    );
}
