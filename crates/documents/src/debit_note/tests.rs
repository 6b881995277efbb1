#![cfg(test)]

use super::DebitNote;
use crate::parts::posting::cases::{Case, PLAIN, VAT_20, bought, hold};
use schema::tables::FactKind;

#[test]
fn a_debit_note_takes_back_what_the_worked_examples_say() {
    hold::<DebitNote>(&[
        Case {
            name: "T29, goods go back at their cost",
            lines: &[("2", "6", "0", 1300)],
            tax: VAT_20,
            goods: Some((FactKind::SupplierReturn, bought("-10", "0", "-2"))),
            posts: "1 14.4; 1300 -10; 1400 -2.4; 5100 -2",
            ..PLAIN
        },
        Case {
            name: "goods went back after the bill, and are debited",
            lines: &[("2", "8.5", "0", 2150)],
            tax: VAT_20,
            goods: Some((FactKind::Credit, bought("0", "-17", "0"))),
            posts: "1 20.4; 1400 -3.4; 2150 -17",
            ..PLAIN
        },
    ]);
}
