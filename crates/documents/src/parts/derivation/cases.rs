//! What a document takes of those that it follows.

#![cfg(test)]

use super::*;
use crate::document::Content;
use crate::parts::line::LineKept;
use crate::parts::{NoteKind, TradeFigures};
use crate::samples::{followed, id, money, percent, pieces, price, rate, row, taxes};
use DocumentKind::{DeliveryNote, PurchaseOrder, ReceiptNote, SalesInvoice, SalesOrder};
use rules::tax::TaxKind::Standard;
use rules::tax::figures::LineFigures;

/// A line (11, 12, ...) of an item.
fn line(name: u128, item: u128) -> TradeLineAsked {
    TradeLineAsked { id: Some(id(name)), item: Some(id(item)), ..TradeLineAsked::default() }
}

/// A document of party 3, with what its lines came to.
fn document(name: u128, kind: DocumentKind, lines: Vec<TradeLineAsked>) -> Source {
    let mut row = row(name, kind, "0");
    row.party_id = Some(schema::aliases::Named::of(id(3)));
    let nets = lines.iter().map(|_| LineKept {
        figures: LineFigures { net: money("162"), ..LineFigures::default() },
        ..LineKept::default()
    });
    let figures = TradeFigures { lines: nets.collect(), control_account: Some(id(1200)), ..TradeFigures::default() };
    Source { row, content: Content { asked: TradeAsked { party: id(3), lines, ..TradeAsked::default() }, figures } }
}

// ── Which line is meant ──

/// An order (1) with lines of the items 7, 8 and 7 (11, 12, 13), a delivery note (2) and goods that came back (3), each with
/// a line of item 7.
fn chain() -> Sources {
    let mut sources = Sources::sample([
        document(1, SalesOrder, vec![line(11, 7), line(12, 8), line(13, 7)]),
        document(2, DeliveryNote, vec![line(21, 7)]),
        document(3, DeliveryNote, vec![line(31, 7)]),
    ]);
    for (name, item, kind) in
        [(11, 7, SalesOrder), (12, 8, SalesOrder), (13, 7, SalesOrder), (21, 7, DeliveryNote), (31, 7, DeliveryNote)]
    {
        let line = progress::Line { item_id: Some(id(item)), is_return: name == 31, ..followed(name, kind, "10") };
        sources.lines.insert(line.line_id, line);
    }
    sources
}

/// Which lines are meant by lines of such items; of a line that names one already, that it does.
fn matched(direction: Direction, sources: &Sources, mut asked: TradeAsked, lines: &[(u128, u128)]) -> Vec<u128> {
    let line = |(item, of): &(u128, u128)| TradeLineAsked {
        item: Some(*item).filter(|item| *item > 0).map(id),
        source_line: Some(*of).filter(|of| *of > 0).map(id),
        ..TradeLineAsked::default()
    };
    asked.lines = lines.iter().map(line).collect();
    match_by_item(direction, &mut asked, sources);
    asked.lines.iter().map(|line| line.source_line.map_or(0, |id| id.0.as_u128())).collect()
}

#[test]
fn a_line_of_an_item_is_the_first_such_line_that_is_left_of_what_the_head_names() {
    use Direction as D;
    let heads = |order: u128, notes: &[u128]| TradeAsked {
        order: Some(order).filter(|order| *order > 0).map(id),
        goods_notes: notes.iter().map(|note| id(*note)).collect(),
        ..TradeAsked::default()
    };
    let back = |notes: &[u128]| TradeAsked { is_return: true, ..heads(0, notes) };
    for (direction, asked, lines, of) in [
        // Nobody is guessed at where the head names nothing.
        (D::SalesInvoice, heads(0, &[]), vec![(7, 0)], vec![0]),
        (D::SalesInvoice, heads(1, &[]), vec![(7, 0)], vec![11]),
        (D::SalesInvoice, heads(1, &[]), vec![(8, 0), (7, 0)], vec![12, 11]),
        (D::SalesInvoice, heads(1, &[]), vec![(7, 0), (7, 0), (7, 0)], vec![11, 13, 0]),
        // Neither another item nor none.
        (D::SalesInvoice, heads(1, &[]), vec![(9, 0), (0, 0)], vec![0, 0]),
        // What a line says itself is taken, wherever it stands.
        (D::SalesInvoice, heads(1, &[]), vec![(7, 0), (7, 11)], vec![13, 11]),
        (D::SalesInvoice, heads(1, &[]), vec![(7, 13)], vec![13]),
        // Notes before their order.
        (D::SalesInvoice, heads(1, &[2]), vec![(7, 0), (7, 0)], vec![21, 11]),
        // What goes out is ordered, and is no other note's.
        (D::DeliveryNote, heads(1, &[2]), vec![(7, 0)], vec![11]),
        (D::DeliveryNote, back(&[2]), vec![(7, 0)], vec![21]),
        (D::DeliveryNote, back(&[3]), vec![(7, 0)], vec![0]),
        (D::CreditNote, heads(0, &[3]), vec![(7, 0)], vec![31]),
        (D::CreditNote, heads(0, &[2]), vec![(7, 0)], vec![0]),
        (D::SalesOrder, heads(1, &[]), vec![(7, 0)], vec![0]),
    ] {
        let shown = format!("{direction:?} {:?} {:?} {lines:?}", asked.order, asked.goods_notes);
        assert_eq!(matched(direction, &chain(), asked, &lines), of, "{shown}");
    }
    let mut sources = chain();
    let first = sources.lines.get_mut(&id(11)).unwrap();
    (first.fulfilled, first.cancelled) = (pieces("8"), pieces("2"));
    assert_eq!(matched(D::SalesInvoice, &sources, heads(1, &[]), &[(7, 0)]), [13], "of the first nothing is left");
}

// ── What it leaves out ──

/// An order (1) of 10 at 20 less 10 % (11), in dollars with prices with tax or without, of which 4 are delivered; a receipt
/// note (5) of what a supplier's order (4) says; and an invoice (6) of the same line (61), of which 7 are left.
fn said(inclusive: bool) -> Sources {
    let full = |name: u128| TradeLineAsked {
        account: Some(id(4000)),
        description: Some("Beans".into()),
        unit: Some("kg".into()),
        quantity: Some(pieces("10")),
        price: Some(price("20")),
        discount: Some(Discount::Percent(percent("10"))),
        tax: TaxChoice::Code(id(8_000)),
        ..line(name, 7)
    };
    let document = |name: u128, kind: DocumentKind| {
        let mut source = document(name, kind, vec![full(name * 10 + 1)]);
        source.row.currency = "USD".into();
        source.content.asked.exchange_rate = Some(rate("0.9"));
        source.content.asked.inclusive = Some(inclusive);
        source
    };
    let all = [(1, SalesOrder), (4, PurchaseOrder), (5, ReceiptNote), (6, SalesInvoice)];
    let mut sources = Sources::sample(all.map(|(name, kind)| document(name, kind)));
    for (name, kind) in [(11, SalesOrder), (41, PurchaseOrder), (51, ReceiptNote)] {
        let line = progress::Line { item_id: Some(id(7)), fulfilled: pieces("4"), ..followed(name, kind, "10") };
        sources.lines.insert(line.line_id, line);
    }
    let left = rules::left::Left { quantity: pieces("7"), ..rules::left::Left::default() };
    sources.lefts.lines.insert(id(61), left);
    sources
}

/// What becomes of a document with one line that names another.
fn taken(direction: Direction, mut asked: TradeAsked, of: u128, own: TradeLineAsked, inclusive: bool) -> TradeAsked {
    asked.lines = vec![TradeLineAsked { source_line: Some(id(of)), ..own }];
    let codes = taxes(rules::tax::TaxDirection::Both, &[("25", Standard, "100")]);
    take(direction, &mut asked, &said(inclusive), &codes, &Business::sample()).unwrap();
    asked
}

/// The line, in words.
fn shown(asked: &TradeAsked) -> String {
    let [line] = asked.lines.as_slice() else { panic!("there is one line") };
    let or = |text: Option<String>| text.unwrap_or("-".into());
    let discount = line.discount.map(|discount| match discount {
        Discount::Percent(percent) => format!("{percent} %"),
        Discount::Amount(amount) => amount.to_string(),
    });
    let tax = match line.tax {
        TaxChoice::Unsaid => "unsaid",
        TaxChoice::None => "none",
        TaxChoice::Code(_) => "coded",
    };
    let [quantity, price] =
        [line.quantity.map(|quantity| quantity.to_string()), line.price.map(|price| price.to_string())].map(or);
    let account = or(line.account.map(|account| account.0.as_u128().to_string()));
    let share = if line.is_share { ", a share" } else { "" };
    format!("{quantity} at {price} less {}, {tax}, on {account}{share}", or(discount))
}

#[test]
fn a_line_that_says_nothing_says_what_the_line_before_it_said() {
    use Direction as D;
    let nothing = TradeLineAsked::default;
    let two = || TradeLineAsked { quantity: Some(pieces("2")), ..nothing() };
    let dear = || TradeLineAsked { price: Some(price("30")), ..nothing() };
    let untaxed = || TradeLineAsked { tax: TaxChoice::None, account: Some(id(4100)), ..nothing() };
    let credits = || TradeAsked { source: Some(id(6)), ..TradeAsked::default() };
    let empty = TradeAsked::default;
    let gross = || TradeAsked { inclusive: Some(true), ..empty() };
    for (direction, asked, of, own, line) in [
        // What is left of ten.
        (D::SalesInvoice, empty(), 11, nothing(), "6 at 20 less 10 %, coded, on 4000"),
        (D::SalesInvoice, empty(), 11, two(), "2 at 20 less 10 %, coded, on 4000"),
        // Who names another price means it without what was taken off the other.
        (D::SalesInvoice, empty(), 11, dear(), "6 at 30 less -, coded, on 4000"),
        (D::SalesInvoice, empty(), 11, untaxed(), "6 at 20 less 10 %, none, on 4100"),
        // With tax of 25 percent in its prices, where the order has none.
        (D::SalesInvoice, gross(), 11, nothing(), "6 at 25 less 10 %, coded, on 4000"),
        (D::DeliveryNote, empty(), 11, nothing(), "6 at 20 less 10 %, coded, on 4000"),
        // A bill has accounts of its own; of a note its goods are worth what they were.
        (D::PurchaseInvoice, empty(), 41, nothing(), "6 at 20 less 10 %, coded, on -"),
        (D::PurchaseInvoice, empty(), 51, nothing(), "10 at 20 less 10 %, unsaid, on -"),
        // What comes in is worth what it costs after all discounts: 162.00 for ten, and taxed as it was ordered.
        (D::ReceiptNote, empty(), 41, nothing(), "6 at 16.2 less -, coded, on -"),
        // What is left of an invoice, as a share of it.
        (D::CreditNote, credits(), 61, nothing(), "7 at 20 less 10 %, coded, on 4000, a share"),
        (D::CreditNote, credits(), 61, dear(), "7 at 30 less -, coded, on 4000"),
        // Of what is not followed nothing is known.
        (D::SalesInvoice, empty(), 99, nothing(), "- at - less -, unsaid, on -"),
    ] {
        let said = format!("{direction:?} of {of}: {own:?}");
        assert_eq!(shown(&taken(direction, asked, of, own, false)), line, "{said}");
    }
    let line = &taken(D::SalesInvoice, empty(), 11, nothing(), false).lines[0];
    assert_eq!(
        (line.item, line.unit.as_deref(), line.description.as_deref()),
        (Some(id(7)), Some("kg"), Some("Beans"))
    );
    // An order with tax in its prices, billed without: 20 of which 4 are tax.
    let net = TradeAsked { inclusive: Some(false), ..empty() };
    assert_eq!(shown(&taken(D::SalesInvoice, net, 11, nothing(), true)), "6 at 16 less 10 %, coded, on 4000");
}

#[test]
fn a_head_that_says_nothing_says_what_the_first_of_the_followed_said() {
    use Direction as D;
    let head = |asked: &TradeAsked| {
        let number = |id: Option<RecordId>| id.map_or(0, |id| id.0.as_u128());
        let notes: Vec<u128> = asked.goods_notes.iter().map(|id| id.0.as_u128()).collect();
        let rate = asked.exchange_rate.map_or("-".to_owned(), |rate| rate.to_string());
        let currency = asked.currency.as_deref().unwrap_or("-");
        let (order, party, control) = (number(asked.order), asked.party.0.as_u128(), number(asked.control_account));
        format!("{order} {notes:?} of {party}, {currency} at {rate}, {:?}, on {control}", asked.inclusive)
    };
    let empty = TradeAsked::default;
    let credits = || TradeAsked { source: Some(id(6)), note_kind: Some(NoteKind::default()), ..empty() };
    let own = || TradeAsked {
        party: id(4),
        currency: Some("EUR".into()),
        inclusive: Some(false),
        control_account: Some(id(1)),
        ..credits()
    };
    for (direction, asked, of, says) in [
        // The rate is that of its own day.
        (D::SalesInvoice, empty(), 11, "1 [] of 3, USD at -, Some(true), on 0"),
        (D::SalesInvoice, TradeAsked { order: Some(id(9)), ..empty() }, 11, "9 [] of 3, USD at -, Some(true), on 0"),
        (D::PurchaseInvoice, empty(), 51, "0 [5] of 3, USD at -, Some(true), on 0"),
        (
            D::PurchaseInvoice,
            TradeAsked { goods_notes: vec![id(5)], ..empty() },
            51,
            "0 [5] of 3, USD at -, Some(true), on 0",
        ),
        // What goods are worth has no tax in it.
        (D::ReceiptNote, empty(), 41, "4 [] of 3, USD at -, None, on 0"),
        // What credits an invoice takes it back as it was: at its rate, on its account.
        (D::CreditNote, credits(), 61, "0 [] of 3, USD at 0.9, Some(true), on 1200"),
        (D::CreditNote, own(), 61, "0 [] of 4, EUR at -, Some(false), on 1"),
        (D::SalesInvoice, empty(), 99, "0 [] of 0, - at -, None, on 0"),
    ] {
        let shown = format!("{direction:?} of {of}");
        let own = TradeLineAsked { price: UnitPrice::parse("3").ok(), ..TradeLineAsked::default() };
        assert_eq!(head(&taken(direction, asked, of, own, true)), says, "{shown}");
    }
}

#[test]
fn a_price_is_taken_over_in_its_own_currency_alone() {
    let took = |currency: Option<&str>, price: Option<&str>| {
        let line = TradeLineAsked {
            source_line: Some(id(11)),
            price: price.and_then(|price| UnitPrice::parse(price).ok()),
            ..TradeLineAsked::default()
        };
        let mut asked =
            TradeAsked { currency: currency.map(str::to_owned), lines: vec![line], ..TradeAsked::default() };
        let codes = taxes(rules::tax::TaxDirection::Both, &[]);
        take(Direction::SalesInvoice, &mut asked, &said(false), &codes, &Business::sample())
    };
    assert!(took(None, None).is_ok() && took(Some("USD"), None).is_ok() && took(Some("EUR"), Some("3")).is_ok());
    let refused = took(Some("EUR"), None).unwrap_err();
    assert!(format!("{refused:?}").contains("\"currency\": [\"must be USD"), "{refused:?}");
}
