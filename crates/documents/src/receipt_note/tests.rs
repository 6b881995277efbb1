#![cfg(test)]

use super::ReceiptNote;
use crate::parts::posting::cases::{bought, hold_goods};
use schema::tables::FactKind;

#[test]
fn goods_post_what_the_worked_examples_say() {
    hold_goods::<ReceiptNote>(&[
        ("E14, the note", FactKind::Receipt, bought("80", "-80", "0"), "1300 80; 2150 -80"),
        ("E14 at a standard cost of 7.50", FactKind::Receipt, bought("75", "-80", "5"), "1300 75; 2150 -80; 5100 5"),
        ("it goes back", FactKind::SupplierReturn, bought("-16", "16", "0"), "1300 -16; 2150 16"),
    ]);
}
