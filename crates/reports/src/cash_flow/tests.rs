#![cfg(test)]

use super::super::samples::{account, asked, failed, id, written};
use super::settled::{Line, Settles, Stories};
use super::*;
use rules::account::AccountType;
use words::sums::Sums as _;

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

/// What is settled of a bill of 100.00, of which 33.33 are a machine, by the end of each day from the 2nd on.
fn settled(notes: &[&[(u128, i64)]], moves: &[(&str, u128, i64)]) -> Vec<i64> {
    let line = |document, account, party: Option<u128>, amount| Line {
        document_id: id(document),
        account_id: id(account),
        date: "2026-01-01".parse().unwrap(),
        party_id: party.map(id),
        amount,
    };
    let mut said = vec![line(1, 1600, None, 333_300), line(1, 6000, None, 666_700), line(1, 2100, Some(9), -1_000_000)];
    for (place, lines) in (2..).zip(notes) {
        said.extend(lines.iter().map(|(account, amount)| line(place, *account, None, *amount)));
        said.push(line(place, 2100, Some(9), -lines.iter().map(|(_, amount)| amount).sum::<i64>()));
    }
    let moved = |(day, by, base): &(&str, u128, i64)| {
        let one = |is_own, base| Settles {
            document: id(1),
            note: Some(id(*by)).filter(|_| *by > 1),
            is_own,
            account: id(2100),
            date: day.parse().unwrap(),
            base,
        };
        [one(false, *base), one(true, -base)]
    };
    let stories = Stories { documents: vec![id(1)], said, moves: moves.iter().flat_map(moved).collect() };
    let by = |day: &str| {
        let day = day.parse().unwrap();
        let shares = stories.shares(day, &stories.said_by(day).unwrap(), &[id(1600)], 100).unwrap();
        shares.sum_of(&(id(2100), id(1600)))
    };
    moves.iter().map(|(day, ..)| by(day)).collect()
}

#[test]
fn what_settles_a_bill_has_the_shares_of_its_lines_and_the_last_part_takes_the_rest() {
    let days = ["2026-01-02", "2026-01-03", "2026-01-04", "2026-01-05", "2026-01-06", "2026-01-07"];
    // In thirds and a rest. What is paid beyond it is for nothing of the bill.
    let parts = [-333_400, -333_300, 333_300, -333_300, -333_300, -5_000];
    let paid: Vec<_> = days.iter().zip(parts).map(|(day, base)| (*day, 0, base)).collect();
    assert_eq!(settled(&[], &paid), [111_100, 222_200, 111_100, 222_200, 333_300, 333_300]);
}

#[test]
fn what_a_note_takes_off_a_bill_comes_off_the_lines_that_it_names() {
    let of_machine: &[(u128, i64)] = &[(1600, -100_000)];
    // Whatever comes first: 23.33 of 90.00 are left.
    assert_eq!(settled(&[of_machine], &[("2026-01-02", 2, -100_000), ("2026-01-03", 0, -900_000)]), [0, 233_300]);
    assert_eq!(settled(&[of_machine], &[("2026-01-02", 0, -900_000), ("2026-01-03", 2, -100_000)]), [300_000, 233_300]);
    // Half of the note, and no longer.
    let half = [("2026-01-02", 2, -50_000), ("2026-01-03", 0, -475_000), ("2026-01-04", 2, 50_000)];
    assert_eq!(settled(&[of_machine], &half), [0, 141_700, 158_300]);
    // One of the rest leaves the machine whole; one of nothing in the bill leaves less of all to be paid.
    let paid = [("2026-01-02", 2, -100_000), ("2026-01-03", 0, -900_000)];
    assert_eq!(settled(&[&[(6000, -100_000)]], &paid), [0, 333_300]);
    assert_eq!(settled(&[&[(4000, -100_000)]], &paid), [0, 300_000]);
    // Half of it is of the machine.
    assert_eq!(settled(&[&[(1600, -50_000), (4000, -50_000)]], &paid), [0, 268_400]);
}
