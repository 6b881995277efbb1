//! What the books are short of, day by day, of what credits give back.

#![cfg(test)]

use super::*;
use crate::samples::{day, id, money};
use rules::tax::facts::TaxSide;

/// A fact of so much base and tax, that counts for a day.
fn told(of: &str, [base, tax]: [&str; 2]) -> TaxFact {
    let [base, tax] = [base, tax].map(money);
    let (home_base, home_tax) = (base.at_par(), tax.at_par());
    TaxFact { duty: TaxDuty::Owed, leads: true, date: march(of), base, tax, home_base, home_tax, ..TaxFact::default() }
}

fn march(of: &str) -> Day {
    day(&format!("2026-03-{of}"))
}

/// Day by day: what it is on, what it counts for, base and tax.
fn differences(wanted: &[(&str, [&str; 2])], booked: &[(&str, [&str; 2])], closed_until: &str) -> String {
    let course = Course {
        wanted: wanted.iter().map(|(of, figures)| (march(of), told(of, *figures))).collect(),
        booked: booked.iter().map(|(of, figures)| (march(of), told(of, *figures))).collect(),
    };
    let open = |day: Day| Ok(Ord::max(day, march(closed_until).next()));
    let found = course.differences(open).unwrap();
    let shown = found.iter().map(|(on, fact)| {
        let of = |day: Day| day.to_string()[8..].to_owned();
        assert_eq!((fact.home_base, fact.home_tax), (fact.base.at_par(), fact.tax.at_par()));
        format!("{} for {}: {}/{}", of(*on), of(fact.date), fact.base, fact.tax)
    });
    shown.collect::<Vec<_>>().join("; ")
}

#[test]
fn the_books_say_on_each_open_day_what_is_given_back_by_then() {
    let (ten, four, none): ([&str; 2], [&str; 2], [&str; 2]) = (["10", "1"], ["4", "0.4"], ["0", "0"]);
    for (name, wanted, booked, closed_until, expected) in [
        ("nothing is known", vec![], vec![], "01", ""),
        ("it is not in the books", vec![("09", ten)], vec![], "01", "09 for 09: 10/1"),
        ("it is in the books", vec![("09", ten)], vec![("09", ten)], "01", ""),
        ("a part of it is", vec![("09", ten)], vec![("09", four)], "01", "09 for 09: 6/0.6"),
        ("it becomes less", vec![("09", ten), ("12", four)], vec![], "01", "09 for 09: 10/1; 12 for 12: -6/-0.6"),
        (
            "it becomes less than is in the books",
            vec![("09", ten), ("12", four)],
            vec![("09", ten)],
            "01",
            "12 for 12: -6/-0.6",
        ),
        ("it ends", vec![("09", ten), ("12", none)], vec![("09", ten)], "01", "12 for 12: -10/-1"),
        // A closed day gets nothing; the next open one takes the difference.
        ("its day is closed", vec![("09", ten)], vec![], "15", "16 for 09: 10/1"),
        ("both days are", vec![("09", ten), ("12", four)], vec![], "15", "16 for 12: 4/0.4"),
        (
            "it was booked on a day that is closed since",
            vec![("09", ten)],
            vec![("09", four)],
            "15",
            "16 for 09: 6/0.6",
        ),
        // No note gives it back any more: on its own day for the day that it counted for, else for the day itself.
        ("it was never so", vec![], vec![("09", ten)], "01", "09 for 09: -10/-1"),
        ("it was never so, and its day is closed", vec![], vec![("09", ten)], "15", "16 for 16: -10/-1"),
        ("said earlier than booked", vec![("09", ten)], vec![("12", ten)], "01", "09 for 09: 10/1; 12 for 12: -10/-1"),
        ("no more by one that is gone", vec![("09", ten)], vec![("09", ten), ("12", four)], "01", "12 for 12: -4/-0.4"),
    ] {
        assert_eq!(differences(&wanted, &booked, closed_until), expected, "{name}");
    }
}

/// The taxes stand on their accounts, the rest where what was taken off stands; bases that move nothing are told all the same.
#[test]
fn what_is_given_back_stands_where_it_was_taken_off() {
    let (chart, home) = (books::chart::sample(), crate::samples::HOME);
    let posted = |facts: Vec<TaxFact>| {
        let facts = facts.into_iter().map(|fact| (fact, id(6820))).collect();
        let lines = lines(&chart, home, facts).unwrap().unwrap();
        let told = lines.iter().map(|line| line.facts().len()).sum::<usize>();
        let posting = Posting::balanced(lines).unwrap();
        format!("{}, {told} told", crate::samples::summed(&posting))
    };
    let taxed = || TaxFact { side: TaxSide::Sale, account: Some(id(2200)), ..told("09", ["10", "1"]) };
    assert_eq!(posted(vec![taxed()]), "2200 -1; 6820 1, 1 told");
    let back = TaxFact { side: TaxSide::Sale, account: Some(id(2200)), ..told("09", ["-10", "-1"]) };
    assert_eq!(posted(vec![back]), "2200 1; 6820 -1, 1 told");
    let bare = TaxFact { duty: TaxDuty::None, ..told("09", ["10", "0"]) };
    assert_eq!(posted(vec![taxed(), bare.clone()]), "2200 -1; 6820 1, 2 told");
    assert_eq!(posted(vec![bare]), ", 1 told");
    // A tax that goes from one account to another leaves nothing for the rest, which stands there all the same.
    let there = TaxFact { side: TaxSide::Sale, account: Some(id(2210)), ..told("09", ["-10", "-1"]) };
    assert_eq!(posted(vec![taxed(), there]), "2200 -1; 2210 1, 2 told");
}

#[test]
fn what_a_line_was_before_is_told_apart() {
    let told = |line: u128, code: u128, component: u128| TaxFact {
        line: Some(id(line)),
        code: Some(id(code)),
        component: Some(id(component)),
        ..told("09", ["10", "1"])
    };
    let facts = vec![told(1, 19, 1), told(1, 19, 2), told(2, 19, 1), told(1, 7, 3), told(1, 19, 1), told(1, 19, 2)];
    let entries: Vec<usize> = apart(facts).iter().map(Vec::len).collect();
    assert_eq!(entries, [3, 1, 2]);
    assert!(apart(Vec::new()).is_empty());
}
