#![cfg(test)]

use super::super::samples::{asked, failed, id, named, written};
use super::*;

fn open(party: u128, number: u128, (date, due): (&str, &str), cents: i64) -> Open {
    Open {
        party: id(party),
        document: id(number),
        kind: Some(DocumentKind::SalesInvoice),
        number: Some(format!("INV-{number}")),
        date: date.parse().unwrap(),
        due: due.parse().unwrap(),
        currency: "EUR".into(),
        own: Own(2),
        left: Sums { own: cents * 100, base: cents * 100 },
    }
}

#[test]
fn what_is_due_on_the_day_is_not_late_and_advances_lessen_the_rest() {
    let facts = |control| Aged {
        coins: Coins { asked: Own(2), base: Own(2) },
        open: vec![
            open(1, 11, ("2026-01-01", "2026-03-31"), 10_000),
            open(1, 12, ("2026-01-01", "2026-03-30"), 500),
            open(1, 13, ("2026-01-01", "2026-03-01"), 60),
            open(2, 21, ("2026-01-01", "2026-02-28"), 7_000),
            open(2, 22, ("2025-01-01", "2025-02-28"), 9_000),
            open(2, 23, ("2026-03-20", "2026-03-20"), -3_000),
        ],
        parties: named(&[(1, "Beta"), (2, "Alpha")]),
        control: Sums { own: control, base: control },
    };
    let sheet = fold(facts(2_356_000), &asked("2026-01-01", "2026-03-31"), Grain::Parties);
    assert_eq!(failed(&sheet), Vec::<String>::new());
    assert_eq!(
        written(&sheet),
        [
            "Alpha 0.00 -30.00 70.00 0.00 90.00 130.00 \"EUR\" 130.00 130.00",
            "Beta 100.00 5.60 0.00 0.00 0.00 105.60 \"EUR\" 105.60 105.60",
            "total 100.00 -24.40 70.00 0.00 90.00 235.60 \"EUR\" 235.60 235.60",
        ]
    );
    assert_eq!(fold(facts(2_356_000), &asked("2026-01-01", "2026-03-31"), Grain::Documents).rows[0].children.len(), 3);
    assert_eq!(failed(&fold(facts(2_356_100), &asked("2026-01-01", "2026-03-31"), Grain::Parties)).len(), 1);
}

#[test]
fn one_bucket_is_told_alone_and_all_of_them_are_proved() {
    let facts = |control| Aged {
        coins: Coins { asked: Own(2), base: Own(2) },
        open: vec![
            open(1, 11, ("2026-01-01", "2026-03-31"), 10_000),
            open(1, 12, ("2026-01-01", "2026-03-30"), 500),
            open(2, 21, ("2026-01-01", "2026-02-28"), 7_000),
        ],
        parties: named(&[(1, "Beta"), (2, "Alpha")]),
        control: Sums { own: control, base: control },
    };
    let asked = |bucket: &str| {
        let mut faults = crate::error::FieldErrors::default();
        let buckets = Buckets::asked(None, Some(bucket), &mut faults);
        faults.is_empty().then(|| Asked { buckets, ..asked("2026-01-01", "2026-03-31") })
    };
    let sheet = fold(facts(1_750_000), &asked("31-60").unwrap(), Grain::Documents);
    assert_eq!(failed(&sheet), Vec::<String>::new());
    assert_eq!(
        written(&sheet),
        [
            "Alpha 0.00 0.00 70.00 0.00 0.00 70.00 \"EUR\" 70.00 70.00",
            "  INV-21, due 2026-02-28 0.00 0.00 70.00 0.00 0.00 70.00 \"EUR\" 70.00 70.00",
            "total 0.00 0.00 70.00 0.00 0.00 70.00 \"EUR\" 70.00 70.00",
        ]
    );
    let of_less = fold(facts(700_000), &asked("31-60").unwrap(), Grain::Documents);
    assert_eq!(failed(&of_less), ["All buckets together equal the control accounts: 175.00 70.00"]);
    assert_eq!(asked("91 ").unwrap().buckets.only().as_deref(), Some("91+"));
    assert_eq!(asked("30-60"), None);
}
