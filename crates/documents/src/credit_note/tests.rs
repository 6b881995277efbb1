#![cfg(test)]

use super::CreditNote;
use crate::parts::posting::cases::{Case, PLAIN, VAT_20, hold, sold};
use schema::tables::FactKind;

#[test]
fn a_credit_note_takes_back_what_the_worked_examples_say() {
    hold::<CreditNote>(&[
        Case { name: "E2", lines: &[("2", "25", "10", 4000)], tax: VAT_20, posts: "1 -54; 2200 9; 4000 45", ..PLAIN },
        Case {
            name: "E11, the return",
            lines: &[("2", "9", "0", 4000)],
            goods: Some((FactKind::CustomerReturn, sold("11.6", "0", "-11.6"))),
            posts: "1 -18; 1300 11.6; 4000 18; 5000 -11.6",
            ..PLAIN
        },
        Case {
            name: "goods came back after the invoice, and are credited",
            lines: &[("2", "10", "0", 4000)],
            tax: VAT_20,
            goods: Some((FactKind::Credit, sold("0", "12", "-12"))),
            posts: "1 -24; 1350 12; 2200 4; 4000 20; 5000 -12",
            ..PLAIN
        },
    ]);
}
