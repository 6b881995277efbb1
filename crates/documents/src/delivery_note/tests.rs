#![cfg(test)]

use super::DeliveryNote;
use crate::parts::posting::cases::{hold_goods, sold};
use schema::tables::FactKind;

#[test]
fn goods_post_what_the_worked_examples_say() {
    hold_goods::<DeliveryNote>(&[
        ("E15, the note", FactKind::Issue, sold("-30", "30", "0"), "1300 -30; 1350 30"),
        ("delivered, and a cost at once", FactKind::Issue, sold("-30", "0", "30"), "1300 -30; 5000 30"),
        ("it comes back", FactKind::CustomerReturn, sold("12", "-12", "0"), "1300 12; 1350 -12"),
    ]);
}
