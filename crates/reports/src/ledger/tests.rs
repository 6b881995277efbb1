#![cfg(test)]

use super::super::samples::{account, asked, failed, id, named, written};
use super::day_book::Days;
use super::*;
use crate::clock::Instant;
use crate::ids::{BusinessId, UserId};
use crate::money::BookMoney;
use rules::account::AccountType;
use schema::tables::EntryKind;

#[test]
fn a_page_goes_on_where_the_one_before_it_ended() {
    let line = |entry_number, code: u128, cents: i64| Line {
        entry_number,
        position: 1,
        account_id: id(code),
        party_id: (cents < 0).then(|| Named::of(id(1))),
        date: "2026-01-09".parse().unwrap(),
        amount: cents * 100,
        description: None,
        narration: Some("Paid".into()),
        document_id: id(if entry_number == 4 { 98 } else { 99 }),
        document_kind: DocumentKind::Journal,
        document_number: Some(format!("J-{entry_number}")),
    };
    let facts = Leaves {
        fixed: Arc::new(Fixed {
            chart: Chart(vec![account(1010, AccountType::Bank), account(6000, AccountType::Expense)]),
            opening: HashMap::from([(id(1010), 100_000)]),
            between: Vec::new(),
        }),
        own: Own(2),
        lines: vec![line(4, 1010, -700), line(5, 1010, 250), line(4, 6000, 700)],
        count: 8,
        earlier: HashMap::from([(id(1010), 5_000)]),
        aliases: Aliases::default(),
        parties: named(&[(1, "Ada")]),
        of_documents: HashMap::from([(id(98), Named::of(id(1)))]),
        whole: [100_000, 95_000, 45_000, 150_000],
        apart: 150_000,
    };
    let sheet = GeneralLedger::fold(facts, &asked("2026-01-01", "2026-01-31")).unwrap();
    assert_eq!(
        written(&sheet),
        [
            "1010 null null null null null 10.50",
            "  4-1 \"2026-01-09\" \"Ada\" \"Paid\" 0.00 7.00 3.50",
            "  5-1 \"2026-01-09\" null \"Paid\" 2.50 0.00 6.00",
            "6000 null null null null null 0.00",
            "  4-1 \"2026-01-09\" \"Ada\" \"Paid\" 7.00 0.00 7.00",
        ]
    );
    assert_eq!((failed(&sheet), sheet.count), (Vec::new(), Some(8)));
}

#[test]
fn an_entry_stands_above_its_lines() {
    let line = |position, code: u128, cents: i64| entry_lines::Model {
        business_id: BusinessId::default(),
        entry_number: 4,
        position,
        account_id: id(code),
        party_id: None,
        date: "2026-01-09".parse().unwrap(),
        amount: BookMoney::from_units(cents * 100),
        currency: "EUR".into(),
        currency_amount: None,
        description: (cents > 0).then(|| "January".into()),
        due_date: None,
        item_id: None,
        quantity: None,
        tax_code_id: None,
        tax_component: None,
        tax_base: None,
    };
    let entry = entries::Model {
        business_id: BusinessId::default(),
        number: 4,
        id: id(40),
        date: "2026-01-09".parse().unwrap(),
        recorded_at: Instant::default(),
        recorded_by: UserId::default(),
        kind: EntryKind::Normal,
        document_kind: DocumentKind::Journal,
        document_id: id(99),
        document_version: 1,
        document_number: Some("J-4".into()),
        reverses_id: None,
        narration: Some("Rent".into()),
        total: BookMoney::from_units(70_000),
        search: String::new(),
    };
    let facts = Days {
        own: Own(2),
        entries: vec![entry],
        lines: vec![line(1, 6000, 700), line(2, 1010, -700)],
        aliases: Aliases::default(),
        fixed: Arc::new(Fixed {
            chart: Chart(vec![account(1010, AccountType::Bank), account(6000, AccountType::Expense)]),
            opening: HashMap::new(),
            between: Vec::new(),
        }),
        count: 3,
        total: 150_000,
        apart: 150_100,
    };
    let sheet = DayBook::fold(facts, &asked("2026-01-01", "2026-01-31")).unwrap();
    assert_eq!(
        written(&sheet),
        [r#"4 "2026-01-09" "Rent" 7.00 7.00"#, r#"  1 null "January" 7.00 0.00"#, "  2 null null 0.00 7.00",]
    );
    assert_eq!((failed(&sheet).len(), sheet.count), (1, Some(3)));
}
