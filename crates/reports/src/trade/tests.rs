#![cfg(test)]

use super::super::samples::{asked, failed, id, named, written};
use super::open_orders::{Order, Ordered};
use super::*;
use crate::money::Quantity;
use schema::aliases::{Aliases, Named};
use schema::tables::progress;

#[test]
fn shares_are_of_the_whole_and_columns_of_their_days() {
    let span = |from: &str, to: &str| Span { from: Some(from.parse().unwrap()), to: to.parse().unwrap() };
    let groups = |spans: Vec<Span>, traded: &[(Option<u128>, &[i64])], apart: i64| Groups {
        own: Own(2),
        spans,
        traded: traded
            .iter()
            .map(|(party, cents)| (party.map(id), cents.iter().map(|one| one * 100).collect()))
            .collect(),
        names: named(&[(1, "Ada"), (2, "Bo")]),
        apart: apart * 100,
    };
    let asked = asked("2026-01-01", "2026-02-28");
    let months = vec![span("2026-01-01", "2026-01-31"), span("2026-02-01", "2026-02-28")];
    let traded: [(Option<u128>, &[i64]); 3] =
        [(Some(1), &[3_000, 3_000]), (Some(2), &[0, 2_500]), (None, &[500, -1_000])];
    let sheet = Traded::<SalesByCustomer>::fold(groups(months, &traded, 8_000), &asked).unwrap();
    assert_eq!(
        written(&sheet),
        [
            "Ada 30.00 30.00 60.00 75",
            "Bo 0.00 25.00 25.00 31.25",
            "none 5.00 -10.00 -5.00 -6.25",
            "total 35.00 45.00 80.00 null",
        ]
    );
    assert_eq!((failed(&sheet), sheet.columns.len()), (Vec::new(), 4));
    let whole = groups(vec![asked.span], &[(Some(1), &[6_000])], 5_999);
    let sheet = Traded::<SalesByItem>::fold(whole, &asked).unwrap();
    assert_eq!((written(&sheet), failed(&sheet).len()), (vec!["Ada 60.00 100".into(), "total 60.00 null".into()], 1));
    // Nothing has no shares.
    let sheet = Traded::<SalesByItem>::fold(groups(vec![asked.span], &[], 0), &asked).unwrap();
    assert_eq!((written(&sheet), failed(&sheet)), (vec!["total 0.00 null".to_owned()], Vec::new()));
}

#[test]
fn an_order_stands_above_what_of_it_is_open() {
    let pieces = |count: i64| Quantity::from_units(count * 10_i64.pow(Quantity::PLACES));
    let line = |order: u128, item: u128, [quantity, fulfilled, cancelled]: [i64; 3]| progress::Model {
        business_id: crate::ids::BusinessId::default(),
        line_id: id(order * 100 + item),
        document_id: id(order),
        kind: DocumentKind::SalesOrder,
        date: "2026-01-09".parse().unwrap(),
        party_id: Named::of(id(1)),
        item_id: Some(id(item)),
        is_goods: true,
        is_return: false,
        source_line_id: None,
        quantity: pieces(quantity),
        fulfilled: pieces(fulfilled),
        invoiced: Quantity::ZERO,
        returned: Quantity::ZERO,
        cancelled: pieces(cancelled),
        account_id: None,
        value: crate::money::BookMoney::ZERO,
    };
    let order = |number: u128| Order {
        id: id(number),
        kind: DocumentKind::SalesOrder,
        number: Some(format!("SO-{number}")),
        date: "2026-01-09".parse().unwrap(),
        party_id: Some(Named::of(id(1))),
    };
    let facts = |lines: Vec<progress::Model>| Ordered {
        aliases: Aliases::default(),
        orders: vec![order(7), order(8), order(9)],
        lines,
        parties: named(&[(1, "Ada")]),
        items: named(&[(2, "Beans"), (3, "Cups")]),
    };
    let asked = asked("2026-01-01", "2026-01-31");
    // Of the second order no line is asked for; of the third more came than was ordered.
    let lines = vec![line(7, 2, [10, 4, 1]), line(7, 3, [5, 0, 0]), line(9, 2, [3, 4, 0])];
    let sheet = OpenOrders::fold(facts(lines), &asked).unwrap();
    assert_eq!(
        written(&sheet),
        [
            r#"SO-7 "2026-01-09" "Ada" null null null null"#,
            r#"  Beans "2026-01-09" null 10 4 1 5"#,
            r#"  Cups "2026-01-09" null 5 0 0 5"#,
            r#"SO-9 "2026-01-09" "Ada" null null null null"#,
            r#"  Beans "2026-01-09" null 3 4 0 0"#,
        ]
    );
    assert_eq!((failed(&sheet), &sheet.totals["orders"]), (Vec::new(), &Cell::Count(2)));
}

#[test]
fn an_item_leaves_what_it_earned_less_what_it_cost() {
    let of =
        |figures: &[(Option<u128>, i64)]| figures.iter().map(|(item, cents)| (item.map(id), cents * 100)).collect();
    let facts = Profits {
        own: Own(2),
        income: of(&[(Some(1), -9_000), (Some(2), 0), (None, -1_000)]),
        cost: of(&[(Some(1), 6_000), (Some(3), 700)]),
        names: named(&[(1, "Beans"), (2, "Cups"), (3, "Apples")]),
        apart: [-1_000_000, 670_000],
    };
    let sheet = ItemProfitability::fold(facts, &asked("2026-01-01", "2026-01-31")).unwrap();
    assert_eq!(
        written(&sheet),
        [
            "Apples 0.00 7.00 -7.00 null",
            "Beans 90.00 60.00 30.00 33.33",
            "none 10.00 0.00 10.00 100",
            "total 100.00 67.00 33.00 null",
        ]
    );
    assert_eq!(failed(&sheet), Vec::<String>::new());
}
