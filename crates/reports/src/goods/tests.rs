#![cfg(test)]

use super::ledger::Ledger;
use super::summary::Summed;
use super::valuation::Valued;
use super::waiting::Waited;
use super::*;
use crate::Report;
use crate::clock::Instant;
use crate::ids::BusinessId;
use crate::money::BookMoney;
use crate::samples::{asked, failed, id, named, written};
use schema::tables::DocumentKind;

fn pieces(quantity: i64, cents: i64) -> Stock {
    Stock { quantity: i128::from(quantity) * 10_i128.pow(Quantity::PLACES), value: cents * 100 }
}

fn of(figures: &[(u128, Stock)]) -> HashMap<RecordId, Stock> {
    figures.iter().map(|(item, stock)| (id(*item), *stock)).collect()
}

#[test]
fn stock_is_worth_what_the_accounts_say() {
    let valued = |inventory: Option<i64>| Valued {
        own: Own(2),
        stock: of(&[(1, pieces(3, 1_000)), (2, pieces(-1, -200)), (3, Stock::default())]),
        names: named(&[(1, "Cups"), (2, "Beans"), (3, "Apples")]),
        inventory: inventory.map(|cents| cents * 100),
    };
    let mut asked = asked("2026-01-01", "2026-01-31");
    let sheet = StockValuation::fold(valued(Some(800)), &asked).unwrap();
    assert_eq!(written(&sheet), ["Beans -1 -2.00 null", "Cups 3 10.00 3.333333", "total null 8.00 null"]);
    assert_eq!(failed(&sheet), Vec::<String>::new());
    assert_eq!(failed(&StockValuation::fold(valued(Some(799)), &asked).unwrap()).len(), 1);
    asked.include_zero = true;
    let sheet = StockValuation::fold(valued(None), &asked).unwrap();
    assert_eq!((&*written(&sheet)[0], sheet.checks.len()), ("Apples 0 0.00 null", 0));
}

#[test]
fn what_came_and_went_is_told_apart() {
    let facts = Summed {
        own: Own(2),
        before: of(&[(1, pieces(5, 500))]),
        came: of(&[(1, pieces(10, 1_200)), (2, pieces(1, 90))]),
        all: of(&[(1, pieces(7, 866)), (2, pieces(1, 90))]),
        names: named(&[(1, "Cups"), (2, "Lids")]),
        inventory: Some(145_600),
    };
    let sheet = StockSummary::fold(facts, &asked("2026-01-01", "2026-01-31")).unwrap();
    assert_eq!(
        written(&sheet),
        [
            "Cups 5 5.00 10 12.00 3 3.34 12 13.66",
            "Lids 0 0.00 1 0.90 0 0.00 1 0.90",
            "total null 5.00 null 12.90 null 3.34 null 14.56",
        ]
    );
    assert_eq!(failed(&sheet), Vec::<String>::new());
}

#[test]
fn what_waits_is_told_by_note() {
    let facts = Waited {
        own: Own(2),
        lines: vec![(id(7), Some(id(1)), pieces(2, 600)), (id(8), None, pieces(-1, -250))],
        documents: HashMap::from([(id(7), (DocumentKind::DeliveryNote, Some("DN-7".into())))]),
        parties: named(&[(1, "Ada")]),
        accounts: Some(35_000),
    };
    let sheet = Waiting::<Delivered>::fold(facts, &asked("2026-01-01", "2026-01-31")).unwrap();
    assert_eq!(written(&sheet), ["DN-7 \"Ada\" 2 6.00", "without a number \"\" -1 -2.50", "total null null 3.50"]);
    assert_eq!(failed(&sheet), Vec::<String>::new());
}

#[test]
fn the_ledger_of_an_item_runs_to_what_is_there() {
    let one = |number: u128, by: Stock| stock_moves::Model {
        business_id: BusinessId::default(),
        id: id(number),
        item_id: id(1),
        date: "2026-01-08".parse().unwrap(),
        recorded_at: Instant::default(),
        document_id: id(90 + number),
        kind: DocumentKind::SalesInvoice,
        quantity: Quantity::from_units(i64::try_from(by.quantity).unwrap()),
        value: BookMoney::from_units(by.value),
        account_id: id(1300),
    };
    let told = |closing: Stock| Ledger {
        own: Own(2),
        opening: pieces(5, 500),
        moves: vec![one(1, pieces(-2, -200)), one(2, pieces(0, 33))],
        named: HashMap::from([(id(91), (DocumentKind::SalesInvoice, Some("INV-1".into())))]),
        closing,
    };
    let asked = asked("2026-01-01", "2026-01-31");
    let sheet = StockLedger::fold(told(pieces(3, 333)), &asked).unwrap();
    assert_eq!(
        written(&sheet),
        [
            r#"opening "2026-01-01" null null 5 5.00"#,
            r#"INV-1 "2026-01-08" -2 -2.00 3 3.00"#,
            r#"without a number "2026-01-08" 0 0.33 3 3.33"#,
            r#"closing "2026-01-31" null null 3 3.33"#,
        ]
    );
    let failing = |closing| failed(&StockLedger::fold(told(closing), &asked).unwrap()).len();
    assert_eq!([failing(pieces(3, 333)), failing(pieces(3, 334)), failing(pieces(4, 333))], [0, 1, 1]);
}
