#![cfg(test)]

use super::SalesInvoice;
use crate::parts::posting::cases::{ALL_BACK, Case, PLAIN, VAT_20, hold, sold};
use rules::tax::TaxKind::{ReverseCharge, Standard, Withholding};
use schema::tables::FactKind;

#[test]
fn a_sale_earns_and_its_goods_cost_what_the_worked_examples_say() {
    hold::<SalesInvoice>(&[
        Case {
            name: "E1",
            lines: &[("10", "25", "10", 4000)],
            tax: VAT_20,
            posts: "1 270; 2200 -45; 4000 -225",
            ..PLAIN
        },
        Case { name: "E5", lines: &[("1", "1000", "0", 4000)], rate: "0.9", posts: "1 900; 4000 -900", ..PLAIN },
        Case {
            name: "E11, the sale",
            lines: &[("12", "9", "0", 4000)],
            goods: Some((FactKind::Issue, sold("-69.6", "0", "69.6"))),
            posts: "1 108; 1300 -69.6; 4000 -108; 5000 69.6",
            ..PLAIN
        },
        Case {
            name: "what was open before these books earns nothing",
            lines: &[("1", "100", "0", 4000)],
            tax: VAT_20,
            opening: true,
            posts: "1 120; 3900 -120",
            ..PLAIN
        },
        Case { name: "T41, given away", lines: &[("1", "5", "100", 4000)], tax: VAT_20, ..PLAIN },
        Case {
            name: "E15, the invoice",
            lines: &[("5", "10", "0", 4000)],
            tax: VAT_20,
            goods: Some((FactKind::Invoice, sold("0", "-30", "30"))),
            posts: "1 60; 1350 -30; 2200 -10; 4000 -50; 5000 30",
            ..PLAIN
        },
        Case {
            name: "E8",
            lines: &[("1", "379", "0", 4000), ("1", "379", "0", 4000)],
            tax: &[("21", Standard, ALL_BACK)],
            inclusive: true,
            posts: "1 758; 2200 -131.55; 4000 -626.45",
            ..PLAIN
        },
        Case {
            name: "E10",
            lines: &[("1", "100", "0", 4000)],
            tax: &[("5", Standard, ALL_BACK), ("9.975", Standard, ALL_BACK)],
            posts: "1 115.47; 2200 -5; 2205 -10.47; 4000 -100",
            ..PLAIN
        },
        Case {
            name: "reverse charge on a sale",
            lines: &[("1", "100", "0", 4000)],
            tax: &[("19", ReverseCharge, ALL_BACK)],
            posts: "1 100; 4000 -100",
            ..PLAIN
        },
        Case {
            name: "withholding changes nothing until it is paid",
            lines: &[("1", "100", "0", 4000)],
            tax: &[("10", Withholding, ALL_BACK)],
            posts: "1 100; 4000 -100",
            ..PLAIN
        },
        Case {
            name: "T9, tax abroad is converted with the rest",
            lines: &[("1", "10.01", "0", 4000), ("1", "10.02", "0", 4100)],
            tax: VAT_20,
            rate: "0.3333",
            posts: "1 8.01; 2200 -1.33; 4000 -3.34; 4100 -3.34",
            ..PLAIN
        },
    ]);
}
