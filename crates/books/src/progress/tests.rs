#![cfg(test)]

use super::*;
use schema::aliases::Named;

fn quantity(text: &str) -> Quantity {
    Quantity::parse(text).unwrap()
}

/// Quantity, fulfilled, invoiced, returned, cancelled, and whether it is goods.
fn line(kind: DocumentKind, figures: [&str; 5], is_goods: bool) -> Line {
    let [ordered, fulfilled, invoiced, returned, cancelled] = figures.map(quantity);
    Line {
        business_id: crate::ids::BusinessId::default(),
        line_id: RecordId::default(),
        document_id: RecordId::default(),
        kind,
        date: Day::default(),
        party_id: Named::default(),
        item_id: None,
        is_goods,
        is_return: false,
        source_line_id: None,
        quantity: ordered,
        fulfilled,
        invoiced,
        returned,
        cancelled,
        account_id: None,
        value: BookMoney::ZERO,
    }
}

fn stage_of(closed: bool, lines: Vec<Line>, notes: Vec<Line>) -> Stage {
    Chain { lines, notes }.stage(closed)
}

#[test]
fn an_order_is_as_far_as_its_goods_are_and_closes_with_its_invoices() {
    let order = |figures, is_goods| line(DocumentKind::SalesOrder, figures, is_goods);
    let note =
        |figures| Line { source_line_id: Some(RecordId::default()), ..line(DocumentKind::DeliveryNote, figures, true) };
    for (closed, lines, notes, wanted) in [
        (false, vec![order(["10", "0", "0", "0", "0"], true)], vec![], Stage::Open),
        (false, vec![order(["10", "4", "0", "0", "0"], true)], vec![], Stage::Partial),
        (false, vec![order(["10", "10", "4", "0", "0"], true)], vec![note(["10", "0", "4", "0", "0"])], Stage::Done),
        (false, vec![order(["10", "10", "8", "2", "0"], true)], vec![note(["10", "0", "8", "2", "0"])], Stage::Closed),
        // What is to be credited of one note does not make up for what is to be invoiced of another.
        (
            false,
            vec![order(["10", "10", "5", "5", "0"], true)],
            vec![note(["5", "0", "5", "5", "0"]), note(["5", "0", "0", "0", "0"])],
            Stage::Done,
        ),
        (true, vec![order(["10", "4", "4", "0", "6"], true)], vec![], Stage::Closed),
        (
            false,
            vec![order(["10", "10", "10", "0", "0"], true), order(["1", "0", "0", "0", "0"], false)],
            vec![],
            Stage::Done,
        ),
        (false, vec![order(["1", "0", "0", "0", "0"], false)], vec![], Stage::Open),
        (false, vec![order(["1", "1", "1", "0", "0"], false)], vec![], Stage::Closed),
    ] {
        let shown = format!("{lines:?} {notes:?}");
        assert_eq!(stage_of(closed, lines, notes), wanted, "{shown}");
    }
}

#[test]
fn a_note_is_as_far_as_it_is_invoiced() {
    let note = |figures| line(DocumentKind::DeliveryNote, figures, true);
    for (figures, wanted) in [
        (["10", "0", "0", "0", "0"], Stage::Open),
        (["10", "0", "4", "0", "0"], Stage::Partial),
        (["10", "0", "8", "2", "0"], Stage::Done),
        (["10", "0", "10", "2", "0"], Stage::Done),
    ] {
        assert_eq!(stage_of(false, vec![note(figures)], vec![]), wanted, "{figures:?}");
    }
    let back = Line { is_return: true, cancelled: quantity("2"), ..note(["2", "0", "0", "0", "0"]) };
    assert_eq!(stage_of(false, vec![back], vec![]), Stage::Open, "nothing is to be credited of it");
}
