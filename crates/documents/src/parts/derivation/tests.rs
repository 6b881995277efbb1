//! What may follow what.

use super::*;
use crate::document::Content;
use crate::error::Error;
use crate::parts::TradeFigures;
use crate::samples::{followed, id, money, pieces, row, said};
use DocumentKind::{DeliveryNote, PurchaseOrder, ReceiptNote, SalesOrder};

/// A document of party 3 with the lines that are known of it.
fn source(name: u128, kind: DocumentKind, status: DocumentStatus) -> Source {
    let mut row = row(name, kind, "0");
    row.status = status;
    row.party_id = Some(schema::aliases::Named::of(id(3)));
    let asked = TradeAsked { party: id(3), ..TradeAsked::default() };
    Source { row, content: Content { asked, figures: TradeFigures::default() } }
}

/// An order (1), a delivery note (2), goods that came back (3), an order of a supplier (4) and a receipt note (5), each with
/// a line of an item; 6 is no more than begun.
fn sources() -> Sources {
    let posted = DocumentStatus::Posted;
    let kinds = [(1, SalesOrder), (2, DeliveryNote), (3, DeliveryNote), (4, PurchaseOrder), (5, ReceiptNote)];
    let documents = kinds.into_iter().map(|(name, kind)| source(name, kind, posted));
    let begun = source(6, SalesOrder, DocumentStatus::Draft);
    let mut sources = Sources::sample(documents.chain([begun]));
    for (name, kind) in kinds {
        let is_return = name == 3;
        let line = progress::Line { item_id: Some(id(7)), is_return, ..followed(name * 10 + 1, kind, "10") };
        sources.lines.insert(line.line_id, line);
    }
    sources
}

fn judged(direction: Direction, asked: TradeAsked) -> String {
    let mut faults = FieldErrors::default();
    judge(direction, &asked, &sources(), &mut faults);
    if faults.is_empty() { String::new() } else { said(&Error::from(faults)) }
}

fn follows(line: u128) -> TradeAsked {
    let line = TradeLineAsked { source_line: Some(id(line)), item: Some(id(7)), ..TradeLineAsked::default() };
    TradeAsked { party: id(3), lines: vec![line], ..TradeAsked::default() }
}

#[test]
fn a_line_follows_what_comes_before_it_in_its_chain() {
    use Direction as D;
    let order_only = "lines[0].sourceLineId must name a line of a posted sales order";
    let either = "lines[0].sourceLineId must name a line of a posted sales order or delivery note";
    let back = "lines[0].sourceLineId must name a line of the invoice, or of a delivery note that brought goods back";
    for (direction, is_return, line, answer) in [
        (D::DeliveryNote, false, 11, ""),
        (D::DeliveryNote, false, 21, order_only),
        (D::DeliveryNote, false, 41, order_only),
        (D::DeliveryNote, true, 21, ""),
        (D::DeliveryNote, true, 11, "lines[0].sourceLineId must name a line of a posted delivery note"),
        // What came back does not come back again.
        (D::DeliveryNote, true, 31, "lines[0].sourceLineId must name a line of a posted delivery note"),
        (D::SalesInvoice, false, 11, ""),
        (D::SalesInvoice, false, 21, ""),
        (D::SalesInvoice, false, 31, either),
        (D::SalesInvoice, false, 51, either),
        (D::CreditNote, false, 31, ""),
        (D::CreditNote, false, 21, back),
        (D::CreditNote, false, 11, back),
        // A line of an invoice is known elsewhere.
        (D::CreditNote, false, 999, ""),
        (D::SalesInvoice, false, 999, "lines[0].sourceLineId names no line of a posted sales order or delivery note"),
        (D::SalesOrder, false, 11, "lines[0].sourceLineId must name a line of nothing"),
        (D::SalesOrder, false, 999, "lines[0].sourceLineId is not for orders: they begin a chain"),
        (D::ReceiptNote, false, 41, ""),
        (D::ReceiptNote, false, 11, "lines[0].sourceLineId must name a line of a posted purchase order"),
        (D::PurchaseInvoice, false, 51, ""),
        (D::PurchaseInvoice, false, 41, ""),
        (
            D::DebitNote,
            false,
            51,
            "lines[0].sourceLineId must name a line of the invoice, or of a receipt note that sent goods back",
        ),
    ] {
        assert_eq!(
            judged(direction, TradeAsked { is_return, ..follows(line) }),
            answer,
            "{direction:?} {is_return} {line}"
        );
    }
}

#[test]
fn what_is_followed_is_of_the_same_party_and_item_and_stands_in_the_books() {
    use Direction as D;
    let of = |party: u128, asked: TradeAsked| TradeAsked { party: id(party), ..asked };
    let order = |name: u128| TradeAsked { party: id(3), order: Some(id(name)), ..TradeAsked::default() };
    let notes = |names: &[u128]| TradeAsked {
        party: id(3),
        goods_notes: names.iter().map(|name| id(*name)).collect(),
        ..TradeAsked::default()
    };
    let mut other_item = follows(11);
    other_item.lines[0].item = Some(id(8));
    let by_hand = TradeAsked { update_stock: Some(false), ..follows(11) };
    let note_by_hand = TradeAsked { update_stock: Some(false), ..follows(21) };
    let stranger = "partyId must be the party of the documents that it follows";
    for (direction, asked, answer) in [
        (D::SalesInvoice, of(4, follows(11)), stranger),
        (D::SalesInvoice, of(4, order(1)), stranger),
        (D::SalesInvoice, of(4, notes(&[2])), stranger),
        (D::SalesInvoice, order(1), ""),
        (D::SalesInvoice, order(6), "salesOrderId names a document that is not posted"),
        (D::SalesInvoice, order(2), "salesOrderId names no such document"),
        (D::SalesInvoice, order(9), "salesOrderId names no such document"),
        (D::PurchaseInvoice, order(1), "purchaseOrderId names no such document"),
        (D::SalesInvoice, notes(&[2, 1]), "deliveryNoteIds[1] names no such document"),
        (D::PurchaseInvoice, notes(&[5]), ""),
        (D::SalesInvoice, other_item, "lines[0].itemId must be the item of the line that it follows; leave it out"),
        (
            D::SalesInvoice,
            by_hand,
            "lines[0].sourceLineId orders goods, so `updateStock` cannot be false; deliver them by a note and bill that",
        ),
        // The note moved them already.
        (D::SalesInvoice, note_by_hand, ""),
    ] {
        let shown = format!("{direction:?} {asked:?}");
        assert_eq!(judged(direction, asked), answer, "{shown}");
    }
}

/// Kernel 4.8: a discount of 10.00 on three, one by one by itself.
#[test]
fn a_part_of_a_line_has_its_part_of_the_discount() {
    for (amount, part, whole, currency, share) in [
        ("10", "1", "3", "EUR", Some("3.33")),
        ("10", "2", "3", "EUR", Some("6.67")),
        ("10", "3", "3", "EUR", Some("10")),
        ("10", "1", "3", "JPY", Some("3")),
        ("10", "1", "3", "KWD", Some("3.333")),
        ("0.01", "1", "2", "EUR", Some("0.01")),
        ("10", "1", "0", "EUR", None),
        ("10", "1", "3", "coffee", None),
    ] {
        let found = part_of(money(amount), pieces(part), pieces(whole), currency);
        assert_eq!(found.map(|share| share.to_string()).as_deref(), share, "{part} of {whole}, {currency}");
    }
    let line = |discount| TradeLineAsked { quantity: Some(pieces("3")), discount, ..TradeLineAsked::default() };
    let tenth = Some(Discount::Percent(crate::samples::percent("10")));
    assert_eq!(share_of(&line(tenth), pieces("1"), "EUR"), tenth);
    assert_eq!(share_of(&line(None), pieces("1"), "EUR"), None);
    let ten = Some(Discount::Amount(money("10")));
    assert_eq!(share_of(&line(ten), pieces("1"), "EUR"), Some(Discount::Amount(money("3.33"))));
}
