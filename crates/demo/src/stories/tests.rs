//! What is told is the same each time, and nothing of it lies ahead.

#![cfg(test)]

use super::companies;
use crate::Size;
use ledger_core::day::Day;
use serde_json::{Value, json};

/// All that the companies enter.
fn told(size: Size, seed: u64, today: Day) -> Vec<Value> {
    let mut told = Vec::new();
    for mut company in companies(size, seed, today) {
        while let Some(steps) = company.story.day() {
            told.extend(steps.iter().map(|step| json!([step.operation, step.record, step.body])));
        }
    }
    told
}

/// The days that are ahead by their nature.
const AHEAD: &[&str] = &["expectedDate", "expectedArrivalDate", "validUntil", "dueDate", "end"];

fn late(value: &Value, today: Day, name: &str, found: &mut Vec<String>) {
    match value {
        Value::String(text) if !AHEAD.contains(&name) && text.parse::<Day>().is_ok_and(|day| day > today) => {
            found.push(format!("{name}: {text}"));
        }
        Value::Object(members) => members.iter().for_each(|(name, member)| late(member, today, name, found)),
        Value::Array(elements) => elements.iter().for_each(|element| late(element, today, name, found)),
        _ => {}
    }
}

#[test]
fn nothing_is_entered_for_a_day_that_has_not_come() {
    for text in ["2028-02-29", "2026-12-31", "2027-04-01", "2026-11-25"] {
        let today: Day = text.parse().unwrap();
        for seed in [1, 2, 77] {
            let told = told(Size::Normal, seed, today);
            let mut found = Vec::new();
            for step in &told {
                late(step, today, "", &mut found);
            }
            assert_eq!(found, Vec::<String>::new(), "{text}");
            assert!(told.len() > 1_000, "{} steps", told.len());
        }
    }
}

#[test]
fn the_same_seed_tells_the_same_and_another_something_else() {
    let today: Day = "2027-04-01".parse().unwrap();
    let once = told(Size::Small, 1, today);
    assert_eq!(once, told(Size::Small, 1, today));
    assert_ne!(once, told(Size::Small, 2, today));
    assert_ne!(once, told(Size::Small, 1, today.next()));
}

/// What makes a document, of all that is entered.
fn documents(told: &[Value]) -> usize {
    let masters =
        ["parties", "items", "accounts", "taxCodes", "paymentTerms", "exchangeRates", "fiscalYears", "allocations"];
    let makes = |operation: &str| {
        let is_made =
            ["Create", "Deliver", "Receive", "Invoice", "Credit"].iter().any(|verb| operation.ends_with(verb));
        is_made && !masters.iter().any(|stem| operation.starts_with(stem))
    };
    told.iter().filter(|step| step[0].as_str().is_some_and(makes)).count()
}

#[test]
fn there_are_as_many_documents_as_is_said() {
    let today: Day = "2026-11-25".parse().unwrap();
    let large = documents(&told(Size::Large, 1, today));
    assert!((95_000..125_000).contains(&large), "{large}");
    // As many as are entered while somebody waits, and no fewer than are worth to look at.
    for text in ["2028-02-29", "2026-12-31", "2027-04-01", "2026-11-25"] {
        let usual = documents(&told(Size::Normal, 1, text.parse().unwrap()));
        assert!((1_300..2_000).contains(&usual), "{usual} on {text}");
    }
}
