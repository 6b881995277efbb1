#![cfg(test)]

use super::PurchaseInvoice;
use crate::parts::posting::cases::{ALL_BACK, Case, PLAIN, VAT_20, bought, hold, sold};
use rules::tax::TaxKind::{ReverseCharge, Standard};
use schema::tables::FactKind;

#[test]
fn a_purchase_spends_and_pays_what_the_worked_examples_say() {
    hold::<PurchaseInvoice>(&[
        Case {
            name: "goods bought at their price",
            lines: &[("10", "6.5", "0", 1300)],
            goods: Some((FactKind::Receipt, bought("65", "0", "0"))),
            posts: "1 -65; 1300 65",
            ..PLAIN
        },
        Case {
            name: "goods bought beyond their standard cost",
            lines: &[("10", "5.5", "0", 1300)],
            goods: Some((FactKind::Receipt, bought("50", "0", "5"))),
            posts: "1 -55; 1300 50; 5100 5",
            ..PLAIN
        },
        Case {
            name: "E14, the bill; what was sold by then is corrected by an entry of its own",
            lines: &[("10", "8.5", "0", 2150)],
            tax: VAT_20,
            goods: Some((FactKind::Bill, bought("5", "80", "0"))),
            posts: "1 -102; 1300 5; 1400 17; 2150 80",
            ..PLAIN
        },
        Case {
            name: "E14 at standard cost: the difference is a variance",
            lines: &[("10", "8.5", "0", 2150)],
            goods: Some((FactKind::Bill, bought("0", "80", "5"))),
            posts: "1 -85; 2150 80; 5100 5",
            ..PLAIN
        },
        Case {
            name: "T16, billed at another rate",
            lines: &[("10", "8", "0", 2150)],
            rate: "0.95",
            goods: Some((FactKind::Bill, bought("0", "72", "0"))),
            posts: "1 -76; 2150 72; 4900 4",
            ..PLAIN
        },
        Case {
            name: "E17",
            lines: &[("1", "200", "0", 6000)],
            tax: &[("20", Standard, "50")],
            posts: "1 -240; 1400 20; 6000 220",
            ..PLAIN
        },
        Case {
            name: "reverse charge on a purchase",
            lines: &[("1", "100", "0", 6000)],
            tax: &[("19", ReverseCharge, ALL_BACK)],
            posts: "1 -100; 1400 19; 2200 -19; 6000 100",
            ..PLAIN
        },
    ]);
}
