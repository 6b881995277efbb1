//! How far lines of orders and notes may be followed, and what that does to them.

use super::*;
use crate::document::Content;
use crate::parts::TradeFigures;
use crate::samples::{followed, id, percent, pieces, row, said};
use DocumentKind::{DeliveryNote, SalesInvoice, SalesOrder};

/// A line of a document that follows another, of so many.
fn line(of: u128, quantity: &str) -> TradeLineAsked {
    TradeLineAsked {
        id: Some(id(99)),
        source_line: Some(id(of)),
        quantity: Some(pieces(quantity)),
        ..TradeLineAsked::default()
    }
}

/// A line as it has got: fulfilled, invoiced, returned, cancelled.
fn stands(line: progress::Line, got: [&str; 4]) -> progress::Line {
    let [fulfilled, invoiced, returned, cancelled] = got.map(pieces);
    progress::Line { fulfilled, invoiced, returned, cancelled, ..line }
}

fn of_note(name: u128, order: Option<u128>, quantity: &str) -> progress::Line {
    let note = followed(name, DeliveryNote, quantity);
    progress::Line { source_line_id: order.map(id), account_id: Some(id(1350)), ..note }
}

fn sources(lines: impl IntoIterator<Item = progress::Line>) -> Sources {
    let mut sources = Sources::sample([]);
    sources.lines.extend(lines.into_iter().map(|line| (line.line_id, line)));
    sources
}

/// What is done to lines by one document, and each line as it stands then; or what is refused.
fn done(
    (direction, business): (Direction, &Business),
    sources: &Sources,
    act: impl FnOnce(&mut Following<'_>) -> Result<()>,
) -> String {
    let (plan, faults) = (Plan::default(), FieldErrors::default());
    let mut following = Following { sources, business, direction, plan, faults };
    act(&mut following).unwrap();
    match following.finish() {
        Ok(plan) => {
            let steps = plan.steps.values().map(|(line, _)| {
                let moved = [line.fulfilled, line.invoiced, line.returned];
                format!("{}: {}", line.line_id.0.as_u128(), moved.map(|one| one.to_string()).join(" "))
            });
            let begun = plan.begins.iter().map(|line| {
                format!(
                    "begins {}{}, cancelled {}",
                    line.quantity,
                    if line.is_return { " back" } else { "" },
                    line.cancelled
                )
            });
            steps.chain(begun).collect::<Vec<_>>().join("; ")
        }
        Err(why) => said(&why),
    }
}

fn over(percent_over: Option<&str>) -> Business {
    let mut business = Business::sample();
    business.settings.over_delivery_percent = percent_over.map(percent);
    business
}

fn deliver(business: &Business, sources: &Sources, quantities: &[&str]) -> String {
    done((Direction::DeliveryNote, business), sources, |following| {
        for (index, quantity) in quantities.iter().enumerate() {
            following.goods((index, &line(11, quantity)), false, Some(id(1350)), true)?;
        }
        Ok(())
    })
}

#[test]
fn no_more_is_delivered_than_was_ordered_and_may_come_on_top() {
    let refused = |line: usize, most: &str| {
        format!("over_fulfilment; lines[{line}].quantity must be at most {most}, what is left to deliver")
    };
    let began = |quantity: &str| format!("begins {quantity}, cancelled 0");
    for (extra, ordered, got, quantities, answer) in [
        (None, "10", ["0"; 4], vec!["10"], format!("11: 10 0 0; {}", began("10"))),
        (None, "10", ["0"; 4], vec!["10.000001"], refused(0, "10")),
        (None, "10", ["4", "0", "0", "0"], vec!["6"], format!("11: 10 0 0; {}", began("6"))),
        (None, "10", ["4", "0", "0", "0"], vec!["7"], refused(0, "6")),
        // Two lines of one note are bound together.
        (None, "10", ["0"; 4], vec!["6", "5"], refused(1, "4")),
        (Some("10"), "10", ["0"; 4], vec!["11"], format!("11: 11 0 0; {}", began("11"))),
        (Some("10"), "10", ["0"; 4], vec!["11.000001"], refused(0, "11")),
        (Some("10"), "10", ["11", "0", "0", "0"], vec!["0.000001"], refused(0, "0")),
        // More came than the setting lets come by now.
        (None, "10", ["12", "0", "0", "0"], vec!["1"], refused(0, "0")),
        // What was cancelled comes no more; the tenth is of what was ordered.
        (Some("10"), "10", ["0", "0", "0", "3"], vec!["8.5"], refused(0, "8")),
        (Some("12.5"), "3", ["0"; 4], vec!["3.375"], format!("11: 3.375 0 0; {}", began("3.375"))),
        // A third of a millionth of a piece is not delivered.
        (Some("10"), "0.000003", ["0"; 4], vec!["0.000004"], refused(0, "0.000003")),
    ] {
        let order = stands(followed(11, SalesOrder, ordered), got);
        assert_eq!(
            deliver(&over(extra), &sources([order]), &quantities),
            answer,
            "{extra:?} {ordered} {got:?} {quantities:?}"
        );
    }
}

#[test]
fn an_invoice_takes_what_is_left_of_an_order_and_what_waits_of_a_note() {
    let bill = |sources: &Sources, extra: Option<&str>, of: u128, quantity: &str| {
        let mut waits = None;
        let answer = done((Direction::SalesInvoice, &over(extra)), sources, |following| {
            waits = following.bill(0, &line(of, quantity))?;
            Ok(())
        });
        (answer, waits.map(|account| account.0.as_u128()))
    };
    let most =
        |left: &str| format!("over_fulfilment; lines[0].quantity must be at most {left}, what is left to invoice");
    // What an order is invoiced by is delivered with it.
    let order = sources([stands(followed(11, SalesOrder, "10"), ["4", "1", "0", "0"])]);
    assert_eq!(bill(&order, None, 11, "6"), ("11: 10 7 0".into(), None));
    assert_eq!(bill(&order, None, 11, "7"), (most("6"), None));
    assert_eq!(bill(&order, Some("20"), 11, "8"), ("11: 12 9 0".into(), None));
    // Of ten that went, two came back and three were invoiced; the order is told, and the account where they wait.
    let note = || stands(of_note(21, Some(11), "10"), ["0", "3", "2", "0"]);
    let both = sources([note(), stands(followed(11, SalesOrder, "10"), ["10", "3", "2", "0"])]);
    assert_eq!(bill(&both, None, 21, "5"), ("11: 10 8 2; 21: 0 8 2".into(), Some(1350)));
    assert_eq!(bill(&both, None, 21, "5.5"), (most("5"), None));
    // Nothing is invoiced on top of what went.
    assert_eq!(bill(&both, Some("100"), 21, "6"), (most("5"), None));
    assert_eq!(bill(&sources([note()]), None, 21, "1"), ("21: 0 4 2".into(), Some(1350)));
    assert_eq!(bill(&Sources::sample([]), None, 21, "1"), (String::new(), None), "it follows nothing");
}

/// Ten went, six were invoiced, one came back before. Five come back: three of them nobody invoiced, and two are credited.
#[test]
fn what_comes_back_is_credited_as_far_as_it_was_invoiced() {
    let note = || stands(of_note(21, Some(11), "10"), ["0", "6", "1", "0"]);
    let order = || stands(followed(11, SalesOrder, "10"), ["10", "6", "1", "0"]);
    let back = |quantity: &str| {
        done((Direction::DeliveryNote, &over(None)), &sources([note(), order()]), |following| {
            let waits = following.goods((0, &line(21, quantity)), true, None, true)?;
            assert!(waits.is_none() || waits == Some(id(1350)));
            Ok(())
        })
    };
    assert_eq!(back("5"), "11: 10 6 6; 21: 0 6 6; begins 5 back, cancelled 3");
    assert_eq!(back("2"), "11: 10 6 3; 21: 0 6 3; begins 2 back, cancelled 2");
    assert_eq!(back("9"), "11: 10 6 10; 21: 0 6 10; begins 9 back, cancelled 3");
    assert_eq!(back("10"), "over_fulfilment; lines[0].quantity must be at most 9, what is left to return");

    let returned = progress::Line {
        is_return: true,
        account_id: None,
        ..stands(of_note(31, Some(21), "5"), ["0", "0", "0", "3"])
    };
    let after = sources([
        returned,
        stands(of_note(21, Some(11), "10"), ["0", "6", "6", "0"]),
        stands(followed(11, SalesOrder, "10"), ["10", "6", "6", "0"]),
    ]);
    let credit = |quantity: &str| {
        let mut waits = None;
        let answer = done((Direction::CreditNote, &over(None)), &after, |following| {
            waits = following.credit(0, &line(31, quantity))?;
            Ok(())
        });
        (answer, waits.map(|account| account.0.as_u128()))
    };
    assert_eq!(credit("2"), ("11: 10 4 6; 21: 0 4 6; 31: 0 2 0".into(), Some(1350)));
    let refused = "over_fulfilment; lines[0].quantity must be at most 2, what is left to credit";
    assert_eq!(credit("2.000001"), (refused.into(), None));
}

#[test]
fn a_credit_with_goods_takes_back_what_was_invoiced_from_where_it_was() {
    let credited = |origin: progress::Line, more: Option<progress::Line>, quantity: &str| {
        let billed = TradeLineAsked { id: Some(id(51)), ..line(origin.line_id.0.as_u128(), "10") };
        let asked = TradeAsked { lines: vec![billed], ..TradeAsked::default() };
        let invoice =
            Source { row: row(5, SalesInvoice, "0"), content: Content { asked, figures: TradeFigures::default() } };
        done((Direction::CreditNote, &over(None)), &sources(more.into_iter().chain([origin])), |following| {
            following.credit_with_goods(0, &line(51, quantity), &invoice)
        })
    };
    // Of an order as far as it was delivered, of a note as far as it went.
    let order = || stands(followed(11, SalesOrder, "10"), ["6", "6", "1", "0"]);
    assert_eq!(credited(order(), None, "5"), "11: 6 1 6");
    assert_eq!(
        credited(order(), None, "6"),
        "over_fulfilment; lines[0].quantity must be at most 5, what is left to return"
    );
    let note = || stands(of_note(21, Some(11), "4"), ["0", "4", "0", "0"]);
    assert_eq!(credited(note(), Some(order()), "4"), "11: 6 2 5; 21: 0 0 4");
    assert_eq!(
        credited(note(), Some(order()), "5"),
        "over_fulfilment; lines[0].quantity must be at most 4, what is left to return"
    );
}

#[test]
fn a_document_is_linked_to_what_it_follows_and_nothing_follows_a_closed_order() {
    let source = |name: u128, kind: DocumentKind, closed: bool| {
        let mut row = row(name, kind, "0");
        row.subkind = closed.then(|| CLOSED.to_owned());
        Source { row, content: Content { asked: TradeAsked::default(), figures: TradeFigures::default() } }
    };
    let link = |direction: Direction, is_return: bool, of: Source| {
        let asked = TradeAsked { order: Some(of.row.id), is_return, ..TradeAsked::default() };
        let (id, business, sources) = (of.row.id, over(None), Sources::sample([of]));
        let following = Following::new(direction, &asked, &sources, &business);
        following.map(|following| following.plan.links[&id].relation).map_err(|why| said(&why))
    };
    for (direction, is_return, kind, relation) in [
        (Direction::DeliveryNote, false, SalesOrder, Relation::Fulfils),
        (Direction::ReceiptNote, false, DocumentKind::PurchaseOrder, Relation::Fulfils),
        (Direction::DeliveryNote, true, DeliveryNote, Relation::Returns),
        (Direction::SalesInvoice, false, SalesOrder, Relation::Bills),
        (Direction::PurchaseInvoice, false, DocumentKind::ReceiptNote, Relation::Bills),
        (Direction::CreditNote, false, SalesInvoice, Relation::Credits),
        (Direction::DebitNote, false, DocumentKind::PurchaseInvoice, Relation::Credits),
    ] {
        assert_eq!(link(direction, is_return, source(1, kind, false)), Ok(relation), "{direction:?}");
    }
    let closed = link(Direction::DeliveryNote, false, source(1, SalesOrder, true));
    assert_eq!(closed, Err("invalid_state: The order N-1 is closed; reopen it first".into()));
}
