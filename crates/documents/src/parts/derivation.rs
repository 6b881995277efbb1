//! What comes of the lines that a document follows: what it takes from them, and what it does to them.
//!
//! An order is delivered by notes and billed by invoices, a note is billed by invoices; a note of goods that come back
//! names the note that brought them, and what credits these names that note. Goods that wait for their invoice stand on
//! an account of their own; each line knows what of them is left there ([`progress`]).

mod billed;
mod cases;
mod following;
mod sources;
mod tests;

use super::complete::{UNTAXED, price_in};
use super::derived;
use super::line::{TaxChoice, TradeLineAsked};
use super::{Direction, TradeAsked};
use crate::error::FieldErrors;
use crate::ids::RecordId;
use crate::money::{Money, Quantity, Rate, Rounding, UnitPrice};
use books::access::Business;
use books::progress::{self, less};
use books::tax_codes::TaxCodes;
pub(crate) use following::Following;
use rules::tax::figures::Discount;
use schema::tables::{DocumentKind, DocumentStatus};
use sources::named;
pub(crate) use sources::{Source, Sources};
use std::collections::HashSet;
use words::exact::{Coin, Exact};
use words::sown::{Fault, sown};

const KINDS: [DocumentKind; 6] = [
    DocumentKind::SalesOrder,
    DocumentKind::PurchaseOrder,
    DocumentKind::DeliveryNote,
    DocumentKind::ReceiptNote,
    DocumentKind::SalesInvoice,
    DocumentKind::PurchaseInvoice,
];

/// The order, the note and the invoice of a side.
const fn kinds_of(direction: Direction) -> (DocumentKind, DocumentKind, DocumentKind) {
    if direction.is_sale() {
        (DocumentKind::SalesOrder, DocumentKind::DeliveryNote, DocumentKind::SalesInvoice)
    } else {
        (DocumentKind::PurchaseOrder, DocumentKind::ReceiptNote, DocumentKind::PurchaseInvoice)
    }
}

/// Whether a document of a direction may follow such a line.
fn may_follow(direction: Direction, is_return: bool, line: &progress::Line) -> bool {
    let (order, note, _) = kinds_of(direction);
    let of_note = line.kind == note;
    if direction.is_order() {
        return false;
    }
    if direction.credits() {
        return of_note && line.is_return;
    }
    if direction.is_goods() {
        return if is_return { of_note && !line.is_return } else { line.kind == order };
    }
    line.kind == order || (of_note && !line.is_return)
}

// ── What is taken ──

/// Finds the lines that are meant where a document names none, and parts those of goods that several invoices billed.
pub(crate) fn follow(
    direction: Direction,
    asked: &mut TradeAsked,
    sources: &Sources,
    taxes: &TaxCodes,
) -> Result<(), FieldErrors> {
    match_by_item(direction, asked, sources);
    derived::match_invoice(direction, asked, sources, taxes);
    billed::part(direction, asked, sources)
}

/// What a document leaves out and the documents that it follows say.
pub(crate) fn take(
    direction: Direction,
    asked: &mut TradeAsked,
    sources: &Sources,
    taxes: &TaxCodes,
    business: &Business,
) -> Result<(), FieldErrors> {
    let of_lines = asked.lines.iter().filter_map(|line| sources.line(line)).map(|line| line.document_id);
    let followed: Vec<RecordId> = of_lines.collect();
    let (order, note, _) = kinds_of(direction);
    for id in &followed {
        let Some(source) = sources.document(*id) else { continue };
        if source.row.kind == order && asked.order.is_none() {
            asked.order = Some(*id);
        }
        if source.row.kind == note && !asked.goods_notes.contains(id) {
            asked.goods_notes.push(*id);
        }
    }
    let lead = named(asked).chain(followed).find_map(|id| sources.document(id));
    let Some(lead) = lead else { return Ok(()) };
    let said = &lead.content.asked;
    if asked.party == RecordId::default() {
        asked.party = sources.aliases.of_document(&lead.row).unwrap_or(said.party);
    }
    let first = asked.lines.iter().find_map(|line| sources.terms(direction, asked, line));
    let terms = first.map_or(lead, |(source, _)| source);
    // What takes its prices from an order or an invoice is in its currency, whatever the goods came in.
    asked.currency = asked.currency.take().or_else(|| Some(terms.row.currency.clone()));
    asked.shipping_address = asked.shipping_address.take().or_else(|| said.shipping_address.clone());
    if direction.credits() {
        // What came back is credited at the rate of its bill, whatever it was worth on the day that it came.
        let same = [terms, lead].into_iter().find(|source| asked.currency.as_ref() == Some(&source.row.currency));
        if let Some(source) = same.filter(|_| !sown(Fault::CreditAtTodaysRate)) {
            asked.exchange_rate = asked.exchange_rate.or(source.content.asked.exchange_rate);
        }
        asked.control_account = asked.control_account.or(lead.content.figures.control_account);
    }
    in_its_currency(direction, asked, sources)?;
    if direction != Direction::ReceiptNote {
        asked.inclusive = asked.inclusive.or(terms.content.asked.inclusive);
    }
    let inclusive = asked.inclusive.unwrap_or(business.settings.prices_include_tax_default);
    let unsaid = derived::unsaid(direction, asked, inclusive, sources);
    let mut lines = std::mem::take(&mut asked.lines);
    for (index, line) in lines.iter_mut().enumerate() {
        if unsaid.iter().any(|(place, _)| *place == index) {
            // The discount is shared by itself, so the price is the one before it.
            let terms = sources.terms(direction, asked, line);
            line.price = terms.and_then(|(source, place)| source.content.asked.lines.get(place)?.price);
        }
        take_line(direction, asked, inclusive, line, sources, taxes);
    }
    asked.lines = lines;
    derived::share_discounts(direction, asked, &unsaid, sources, business);
    Ok(())
}

/// A price is not taken over into another currency: so many dollars are not as many euros.
fn in_its_currency(direction: Direction, asked: &TradeAsked, sources: &Sources) -> Result<(), FieldErrors> {
    let other = |line: &TradeLineAsked| {
        let (source, place) = sources.terms(direction, asked, line)?;
        source.content.asked.lines.get(place)?.price?;
        Some(&source.row.currency).filter(|own| line.price.is_none() && Some(*own) != asked.currency.as_ref())
    };
    for (index, line) in asked.lines.iter().enumerate() {
        if let Some(own) = other(line) {
            let why = format!("must be {own}, as what lines[{index}] follows, unless that line has a price of its own");
            return Err(FieldErrors::one("currency", why));
        }
    }
    Ok(())
}

/// The rate of the document that one follows, in its currency.
pub(crate) fn rate(asked: &TradeAsked, sources: &Sources, currency: &str) -> Option<Rate> {
    let of_lines = asked.lines.iter().filter_map(|line| sources.line(line)).map(|line| line.document_id);
    let documents = named(asked).chain(of_lines).filter_map(|id| sources.document(id));
    let mut same = documents.filter(|source| source.row.currency == currency);
    same.find_map(|source| source.content.asked.exchange_rate)
}

/// A line that says only which item it is of follows the first such line of the order or the notes that the head names.
fn match_by_item(direction: Direction, asked: &mut TradeAsked, sources: &Sources) {
    let heads: Vec<RecordId> = asked.goods_notes.iter().copied().chain(asked.order).collect();
    if heads.is_empty() {
        return;
    }
    let mut taken: HashSet<RecordId> = asked.lines.iter().filter_map(|line| line.source_line).collect();
    for line in asked.lines.iter_mut().filter(|line| line.source_line.is_none()) {
        let Some(item) = line.item else { continue };
        let suits = |known: &&progress::Line| {
            known.item_id == Some(item)
                && !taken.contains(&known.line_id)
                && known.open() > Quantity::ZERO
                && may_follow(direction, asked.is_return, known)
        };
        let of_head = |head: &RecordId| {
            let lines = sources.lines.values().filter(|known| known.document_id == *head).filter(suits);
            let place = |known: &&progress::Line| sources.asked_line(known.document_id, known.line_id).map(|at| at.1);
            lines.min_by_key(place)
        };
        if let Some(found) = heads.iter().find_map(of_head) {
            line.source_line = Some(found.line_id);
            taken.insert(found.line_id);
        }
    }
}

fn take_line(
    direction: Direction,
    asked: &TradeAsked,
    inclusive: bool,
    line: &mut TradeLineAsked,
    sources: &Sources,
    taxes: &TaxCodes,
) {
    let Some(id) = line.source_line else { return };
    let Some((source, place)) = sources.terms(direction, asked, line) else { return };
    let of = &source.content.asked.lines[place];
    line.item = line.item.or(of.item);
    line.description = line.description.take().or_else(|| of.description.clone());
    line.unit = line.unit.take().or_else(|| of.unit.clone());
    if let Some(followed) = sources.lines.get(&id) {
        let returns = direction.is_goods() && asked.is_return;
        let left = if returns { less(followed.quantity, followed.returned) } else { followed.open() };
        line.quantity = line.quantity.or(Some(left).filter(|left| *left > Quantity::ZERO));
    } else {
        let left = sources.lefts.lines.get(&id).map(|left| left.quantity).filter(|left| *left > Quantity::ZERO);
        line.quantity = line.quantity.or(left).or(of.quantity);
        // What waited for its invoice goes back to where such goods are.
        line.account = line.account.or(of.account.filter(|account| sources.waiting(of) != Some(*account)));
    }
    if direction.is_sale() {
        line.account = line.account.or(of.account);
    }
    if direction == Direction::ReceiptNote {
        line.price = line.price.or_else(|| net_of_one(source, place));
        // What was ordered without tax comes without it, whatever the item is mostly bought with.
        if line.tax == TaxChoice::Unsaid {
            line.tax = of.tax;
        }
        return;
    }
    let tax = of.tax.code().and_then(|id| taxes.get(id));
    let tax = tax.map_or(UNTAXED, |code| code.added_on(source.row.date, source.content.asked.rate()));
    let included = source.content.asked.inclusive == Some(true);
    let price = of.price.and_then(|price| price_in(price, Rate::ONE, included, inclusive, tax));
    if direction.credits() && (line.is_share || derived::says_nothing(line, asked, (source, of), price)) {
        line.is_share = true;
        line.price = line.price.or(price);
        line.discount = line.discount.or_else(|| share_of(of, line.quantity(), source.row.currency.as_str()));
    }
    // A discount of the whole document is in what its lines came to, where the new one has none of its own.
    let is_net = source.content.asked.discount.is_some()
        && (direction.credits() || (direction == Direction::PurchaseInvoice && sources.waiting(line).is_some()));
    if line.price.is_none() && is_net {
        line.price = net_of_one(source, place).and_then(|net| price_in(net, Rate::ONE, false, inclusive, tax));
    } else if line.price.is_none() {
        line.price = price;
        line.discount = line.discount.or_else(|| share_of(of, line.quantity(), source.row.currency.as_str()));
    }
    if line.tax == TaxChoice::Unsaid && source.row.kind != DocumentKind::ReceiptNote {
        line.tax = of.tax;
    }
}

/// What one unit of a line costs without tax, after all discounts.
fn net_of_one(source: &Source, place: usize) -> Option<UnitPrice> {
    let (of, kept) = (&source.content.asked.lines[place], &source.content.figures.lines[place]);
    if source.row.kind == DocumentKind::ReceiptNote {
        return of.price;
    }
    let one = kept.figures.net.decimal().checked_div(of.quantity().decimal())?;
    let rounded = one.round_dp_with_strategy(UnitPrice::PLACES, rust_decimal::RoundingStrategy::MidpointAwayFromZero);
    UnitPrice::parse(&rounded.to_string()).ok()
}

/// The discount of a part of a line.
fn share_of(of: &TradeLineAsked, quantity: Quantity, currency: &str) -> Option<Discount> {
    match of.discount? {
        Discount::Percent(percent) => Some(Discount::Percent(percent)),
        Discount::Amount(amount) => part_of(amount, quantity, of.quantity(), currency).map(Discount::Amount),
    }
}

pub(crate) fn part_of(amount: Money, part: Quantity, whole: Quantity, currency: &str) -> Option<Money> {
    let coin = Coin { decimals: crate::currency::Currency::of(currency)?.decimals(), rounding: Rounding::HalfUp };
    Exact::from(amount).times(part).ok()?.over(whole).ok()?.round(coin).ok()
}

// ── What may be ──

/// Whether what a document names may be followed by it.
pub(crate) fn judge(direction: Direction, asked: &TradeAsked, sources: &Sources, faults: &mut FieldErrors) {
    let (order, note, _) = kinds_of(direction);
    let (order_field, note_field) =
        if direction.is_sale() { ("salesOrderId", "deliveryNoteIds") } else { ("purchaseOrderId", "receiptNoteIds") };
    let heads = asked.order.map(|id| (order_field.to_owned(), id, order));
    let notes = asked.goods_notes.iter().enumerate().map(|(at, id)| (format!("{note_field}[{at}]"), *id, note));
    // What credits and returns has no field for the notes that it follows.
    let notes = notes.filter(|_| direction.bills() && !direction.credits());
    let strange = |id: RecordId| {
        sources.document(id).is_some_and(|source| sources.aliases.of_document(&source.row) != Some(asked.party))
    };
    let of_lines = asked.lines.iter().filter_map(|line| sources.line(line));
    let of_lines = of_lines.filter(|line| may_follow(direction, asked.is_return, line)).map(|line| line.document_id);
    if asked.order.into_iter().chain(asked.goods_notes.iter().copied()).chain(of_lines).any(strange) {
        faults.add("partyId", "must be the party of the documents that it follows");
    }
    for (field, id, kind) in heads.into_iter().chain(notes) {
        match sources.document(id).filter(|source| source.row.kind == kind) {
            None => faults.add(field, "names no such document"),
            Some(source) if source.row.status != DocumentStatus::Posted => {
                faults.add(field, "names a document that is not posted");
            }
            Some(_) => {}
        }
    }
    for (index, line) in asked.lines.iter().enumerate() {
        let Some(id) = line.source_line else { continue };
        let mut fault = |field: &str, why: &str| faults.add(format!("lines[{index}].{field}"), why);
        let Some(followed) = sources.lines.get(&id) else {
            if direction.is_order() {
                fault("sourceLineId", "is not for orders: they begin a chain");
            } else if !direction.credits() {
                fault("sourceLineId", &format!("names no line of {}", followable(direction, asked.is_return)));
            }
            continue;
        };
        if !may_follow(direction, asked.is_return, followed) {
            fault("sourceLineId", &format!("must name a line of {}", followable(direction, asked.is_return)));
        } else if let Some((field, why)) = billed::fault(direction, asked, line, sources) {
            fault(field, &why);
        } else if followed.item_id != line.item {
            fault("itemId", "must be the item of the line that it follows; leave it out");
        } else if followed.is_order() && followed.is_goods && direction.bills() && !asked.update_stock.unwrap_or(true) {
            fault(
                "sourceLineId",
                "orders goods, so `updateStock` cannot be false; deliver them by a note and bill that",
            );
        }
    }
}

const fn followable(direction: Direction, is_return: bool) -> &'static str {
    match direction {
        Direction::SalesOrder | Direction::PurchaseOrder => "nothing",
        Direction::DeliveryNote if is_return => "a posted delivery note",
        Direction::DeliveryNote => "a posted sales order",
        Direction::ReceiptNote if is_return => "a posted receipt note",
        Direction::ReceiptNote => "a posted purchase order",
        Direction::SalesInvoice => "a posted sales order or delivery note",
        Direction::PurchaseInvoice => "a posted purchase order or receipt note",
        Direction::CreditNote => "the invoice, or of a delivery note that brought goods back",
        Direction::DebitNote => "the invoice, or of a receipt note that sent goods back",
    }
}
