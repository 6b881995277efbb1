#![cfg(test)]

use super::*;
use crate::clock::Instant;
use crate::samples::{day, followed, id, item, money, pieces, row, worth};
use schema::tables::DocumentStatus::{Draft, Posted, Void};

/// What is open of a document of 216: in its currency and in the company's.
fn standing(open: Option<(&str, &str)>) -> Standing {
    let open = open.map(|(open, base)| open_items::Model {
        open: money(open),
        base_open: worth(base),
        ..item(1200, "USD", "216", "194.4")
    });
    Standing { open, ..Standing::default() }
}

fn invoice(status: DocumentStatus) -> documents::Model {
    documents::Model {
        status,
        currency: "USD".into(),
        base_total: worth("194.4"),
        ..row(1, DocumentKind::SalesInvoice, "216")
    }
}

#[test]
fn what_is_left_says_where_an_invoice_and_a_note_stand() {
    for (name, status, open, left, invoice_is, note_is) in [
        ("a draft is to be paid whole", Draft, None, ("216", "194.4"), "draft", "draft"),
        ("void, nothing is", Void, None, ("0", "0"), "void", "void"),
        ("nobody paid", Posted, Some(("216", "194.4")), ("216", "194.4"), "open", "open"),
        ("E3", Posted, Some(("116", "104.4")), ("116", "104.4"), "partiallyPaid", "partiallyAllocated"),
        ("one coin is left", Posted, Some(("0.01", "0.01")), ("0.01", "0.01"), "partiallyPaid", "partiallyAllocated"),
        ("all is paid", Posted, Some(("0", "0")), ("0", "0"), "paid", "closed"),
        (
            "what is owed to them is left as well",
            Posted,
            Some(("-116", "-104.4")),
            ("116", "104.4"),
            "partiallyPaid",
            "partiallyAllocated",
        ),
        ("only its worth moved", Posted, Some(("216", "190")), ("216", "190"), "partiallyPaid", "partiallyAllocated"),
    ] {
        let (row, standing) = (invoice(status), standing(open));
        assert_eq!(standing.left(&row), (money(left.0), worth(left.1)), "{name}");
        let settled = standing.settled(&row);
        assert_eq!(InvoiceStatus::of(status, settled).as_str(), invoice_is, "{name}");
        assert_eq!(NoteStatus::of(status, settled).as_str(), note_is, "{name}");
    }
    // Given away: there was never anything to pay.
    let given = Standing { open: Some(item(1200, "USD", "0", "0")), ..Standing::default() };
    assert_eq!(InvoiceStatus::of(Posted, given.settled(&invoice(Posted))), InvoiceStatus::Paid);
}

#[test]
fn it_is_late_from_the_day_after_it_was_due_and_until_it_is_paid() {
    let due = Some(day("2026-04-09"));
    for (name, status, open, due, today, late) in [
        ("on the day itself", Posted, Some(("216", "194.4")), due, "2026-04-09", 0),
        ("the day after", Posted, Some(("216", "194.4")), due, "2026-04-10", 1),
        ("over a month's end", Posted, Some(("0.01", "0.01")), due, "2026-05-09", 30),
        ("before", Posted, Some(("216", "194.4")), due, "2026-03-10", 0),
        ("paid", Posted, Some(("0", "0")), due, "2027-01-01", 0),
        ("never due", Posted, Some(("216", "194.4")), None, "2027-01-01", 0),
        ("a draft is not", Draft, None, due, "2027-01-01", 0),
        ("nor is what is void", Void, None, due, "2027-01-01", 0),
    ] {
        let row = documents::Model { due_date: due, ..invoice(status) };
        assert_eq!(standing(open).days_overdue(&row, day(today)), late, "{name}");
    }
}

#[test]
fn it_was_paid_on_the_last_day_that_something_settled_it() {
    let paid = |on: &str| allocations::Model {
        business_id: crate::ids::BusinessId::default(),
        id: id(3),
        party_id: schema::aliases::Named::default(),
        source_kind: DocumentKind::Receipt,
        source_id: id(2),
        source_document_id: id(2),
        target_kind: DocumentKind::SalesInvoice,
        target_id: id(1),
        target_document_id: id(1),
        date: day(on),
        currency: "USD".into(),
        amount: money("100"),
        source_currency: "USD".into(),
        source_amount: money("100"),
        discount: Money::ZERO,
        write_off: Money::ZERO,
        write_off_account_id: None,
        withheld: Money::ZERO,
        source_base: worth("90"),
        target_base: worth("90"),
        exchange_gain: BookMoney::ZERO,
        entry: None,
        removed_on: None,
        removed_at: None,
        created_at: Instant::from_micros(0),
        created_by: crate::ids::UserId::default(),
    };
    // What was entered last was not paid last.
    let allocations = vec![paid("2026-03-12"), paid("2026-04-01"), paid("2026-03-20")];
    for (name, status, open, on) in [
        ("all is paid", Posted, Some(("0", "0")), Some(day("2026-04-01"))),
        ("a part is not", Posted, Some(("116", "104.4")), None),
        ("what is void was not", Void, None, None),
    ] {
        let standing = Standing { allocations: allocations.clone(), ..standing(open) };
        assert_eq!(standing.paid_on(&invoice(status)), on, "{name}");
    }
    assert_eq!(standing(Some(("0", "0"))).paid_on(&invoice(Posted)), None, "nothing settled what is worth nothing");
}

/// Lines of an order: what was ordered, delivered, invoiced and given up, and whether it is goods.
type Ordered = (&'static str, &'static str, &'static str, &'static str, bool);

fn order(lines: &[Ordered], notes: Vec<progress::Line>) -> Standing {
    let line = |(place, (quantity, fulfilled, invoiced, cancelled, is_goods)): (u128, &Ordered)| progress::Line {
        fulfilled: pieces(fulfilled),
        invoiced: pieces(invoiced),
        cancelled: pieces(cancelled),
        is_goods: *is_goods,
        ..followed(10 + place, DocumentKind::SalesOrder, quantity)
    };
    let lines = (1..).zip(lines).map(line).collect();
    Standing { chain: progress::Chain { lines, notes }, ..Standing::default() }
}

#[test]
fn how_much_of_an_order_is_delivered_and_invoiced() {
    use Extent::{Full, None, Partial};
    for (name, lines, expected) in [
        ("nothing", &[("10", "0", "0", "0", true)][..], (None, None)),
        ("some, and none of it invoiced", &[("10", "4", "0", "0", true)], (Partial, None)),
        (
            "all of the goods, not of the work",
            &[("10", "10", "4", "0", true), ("1", "0", "0", "0", false)],
            (Full, Partial),
        ),
        ("all, by what invoices it", &[("10", "10", "10", "0", true)], (Full, Full)),
        ("more than was ordered", &[("10", "11", "11", "0", true)], (Full, Full)),
        ("work alone is delivered when it is invoiced", &[("1", "1", "1", "0", false)], (Full, Full)),
        ("the rest was given up", &[("10", "4", "4", "6", true)], (Partial, Full)),
        ("all was given up", &[("10", "0", "0", "10", true)], (None, None)),
    ] {
        assert_eq!(order(lines, Vec::new()).extents(), expected, "{name}");
    }
    assert_eq!(Standing::default().extents(), (None, None), "what nobody follows has got nowhere");
    let note = |invoiced| progress::Line {
        source_line_id: Some(id(11)),
        invoiced: pieces(invoiced),
        ..followed(21, DocumentKind::DeliveryNote, "10")
    };
    let delivered = &[("10", "10", "4", "0", true)];
    assert_eq!(order(delivered, vec![note("4")]).extents(), (Full, Partial), "a note waits for its invoice");
    let invoiced = &[("10", "10", "10", "0", true)];
    assert_eq!(order(invoiced, vec![note("10")]).extents(), (Full, Full));
}

#[test]
fn each_end_calls_a_link_by_its_own_word() {
    for (relation, follower, followed) in [
        (schema::tables::Relation::Fulfils, "fulfils", "fulfilledBy"),
        (schema::tables::Relation::Bills, "bills", "billedBy"),
        (schema::tables::Relation::Returns, "returns", "returnedBy"),
        (schema::tables::Relation::Credits, "credits", "creditedBy"),
    ] {
        assert_eq!(LinkRelation::of(relation, true).as_str(), follower);
        assert_eq!(LinkRelation::of(relation, false).as_str(), followed);
    }
}
