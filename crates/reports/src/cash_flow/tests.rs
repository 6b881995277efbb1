#![cfg(test)]

use super::super::samples::{account, asked, failed, id, written};
use super::flows::{Left, Said};
use super::*;
use rules::account::AccountType;

fn chart() -> Chart {
    use AccountType::{Bank, Equity, Expense, FixedAsset, Income, Payable, Receivable};
    let all = [
        (1010, Bank),
        (1200, Receivable),
        (1600, FixedAsset),
        (2100, Payable),
        (3000, Equity),
        (4000, Income),
        (6000, Expense),
    ];
    Chart(all.map(|(code, r#type)| account(code, r#type)).to_vec())
}

fn flowed(flows: Flows, [opening, closing]: [i64; 2]) -> Flowed {
    Flowed { chart: chart(), own: Own(2), flows, opening: opening * 100, closing: closing * 100 }
}

fn shown(flows: impl Fn() -> Flows, money: [i64; 2], method: Method) -> (Vec<String>, Vec<String>) {
    let mut asked = asked("2026-01-01", "2026-01-31");
    asked.method = method;
    let sheet = CashFlow::fold(flowed(flows(), money), &asked).unwrap();
    (written(&sheet), failed(&sheet))
}

#[test]
fn both_methods_come_to_the_same_sections() {
    use CashFlowSection::{Financing, Investing, Operating};
    // Sold for 100, of which 70 are paid; rent of 20, a machine of 500 of which 40 were written off, and 600 from the owner.
    let flows = || {
        Flows::sample(
            &[
                (Activity::Section(Operating), 1200, 7_000),
                (Activity::Section(Operating), 6000, -2_000),
                (Activity::Section(Investing), 1600, -50_000),
                (Activity::Section(Financing), 3000, 60_000),
            ],
            &[(1200, -3_000), (1600, -46_000), (3000, 60_000), (4000, 10_000), (6000, -6_000)],
            &[1200, 1600, 2100, 3000, 4000, 6000],
        )
    };
    let ends = [
        "investing -500.00",
        "  1600 -500.00",
        "financing 600.00",
        "  3000 600.00",
        "exchange 0.00",
        "takenOver 0.00",
        "netChange 150.00",
        "opening 10.00",
        "closing 160.00",
    ];
    let direct = ["operating 50.00", "  1200 70.00", "  6000 -20.00"];
    let indirect = ["operating 50.00", "  netProfit 40.00", "  nonCash 40.00", "    1600 40.00", "  1200 -30.00"];
    let money = [1_000, 16_000];
    assert_eq!(shown(flows, money, Method::Direct), (of(&[&direct[..], &ends].concat()), Vec::new()));
    assert_eq!(shown(flows, money, Method::Indirect), (of(&[&indirect[..], &ends].concat()), Vec::new()));
    assert_eq!(shown(flows, [1_000, 16_001], Method::Direct).1.len(), 1);
}

fn of(lines: &[&str]) -> Vec<String> {
    lines.iter().map(ToString::to_string).collect()
}

#[test]
fn what_settles_a_bill_has_the_shares_of_its_lines_and_the_last_part_takes_the_rest() {
    // 100.00 of which 33.33 are a machine, in thirds and a rest.
    let said = Said { outside: [(id(1600), 333_300)].into(), control: -1_000_000, account: Some(id(2100)) };
    let mut left = Left::of(&said);
    let parts = [-333_400, -333_300, 333_300, -333_300, -333_300];
    let shares: Vec<i64> = parts.into_iter().flat_map(|part| left.take(part, 100).unwrap()).map(|(_, of)| of).collect();
    assert_eq!(shares, [111_100, 111_100, -111_100, 111_100, 111_100]);
    // What is paid beyond it is for nothing of the bill.
    assert_eq!(left.take(-5_000, 100).unwrap(), [(id(1600), 0)]);
}
