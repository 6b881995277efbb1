//! What comes of the lines that a document follows: what it takes from them, and what it does to them.
//!
//! An order is delivered by notes and billed by invoices, a note is billed by invoices; a note of goods that come back
//! names the note that brought them, and what credits these names that note. Goods that wait for their invoice stand on
//! an account of their own; each line knows what of them is left there ([`progress`]).

use super::complete::{UNTAXED, price_in};
use super::derived;
use super::lefts::Lefts;
use super::line::{TaxChoice, TradeLineAsked};
use super::{Direction, TradeAsked, TradeFigures};
use crate::day::Day;
use crate::document::{Content, check_source, identity, invalid_state};
use crate::error::{Conflict, Error, FieldErrors, Result};
use crate::ids::RecordId;
use crate::money::{Money, Quantity, Rate, UnitPrice};
use books::access::Business;
use books::cx::Cx;
use books::progress::{self, Link, Plan, Step, less, more, negated, too_many};
use books::tax_codes::TaxCodes;
use kit::reference::Held;
use rules::tax::figures::{Discount, LineTax};
use schema::aliases::{Aliases, Named};
use schema::tables::CLOSED;
use schema::tables::{DocumentKind, DocumentStatus, Relation, document_lines, documents};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use std::collections::{HashMap, HashSet};
use words::sown::{Fault, sown};

/// A trade document, as it is kept.
pub(super) struct Source {
    pub(super) row: documents::Model,
    pub(super) content: Content<TradeAsked, TradeFigures>,
}

impl Source {
    /// The tax codes of its lines.
    pub(super) fn codes(asked: &TradeAsked) -> HashMap<RecordId, Option<RecordId>> {
        asked.lines.iter().filter_map(|line| Some((line.id?, line.tax.code()))).collect()
    }

    fn has_discounts(&self) -> bool {
        self.content.figures.lines.iter().any(|kept| kept.figures.discount != Money::ZERO)
    }
}

/// What a document follows.
#[derive(Default)]
pub(super) struct Sources {
    /// Lines of orders and notes, those that they follow themselves included.
    lines: HashMap<RecordId, progress::Line>,
    documents: HashMap<RecordId, Source>,
    /// The invoices that billed notes of which goods come back: document and line, by the line of the note.
    billed: HashMap<RecordId, Vec<(RecordId, RecordId)>>,
    /// What is left of all these.
    pub(super) lefts: Lefts,
    /// Who the parties of all these are.
    pub(super) aliases: Aliases,
}

/// The documents that the head of another names.
fn named(asked: &TradeAsked) -> impl Iterator<Item = RecordId> + '_ {
    asked.source.into_iter().chain(asked.order).chain(asked.goods_notes.iter().copied())
}

impl Sources {
    pub(super) async fn of(cx: &Cx<'_>, direction: Direction, (day, asked): (Day, &TradeAsked)) -> Result<Self> {
        let mut sources = Self { aliases: cx.aliases()?.clone(), ..Self::default() };
        let mut wanted: HashSet<RecordId> = asked.lines.iter().filter_map(|line| line.source_line).collect();
        if wanted.is_empty() && named(asked).next().is_none() {
            return Ok(sources);
        }
        let heads: Vec<RecordId> = asked.order.into_iter().chain(asked.goods_notes.iter().copied()).collect();
        cx.flush().await?;
        for line in progress::of_documents(cx, &heads).await? {
            sources.lines.insert(line.line_id, line);
        }
        // A line that comes back follows a note, which follows an order.
        while !wanted.is_empty() {
            let found = progress::of_lines(cx, wanted).await?;
            wanted = found.values().filter_map(|line| line.source_line_id).collect();
            sources.lines.extend(found);
            wanted.retain(|id| !sources.lines.contains_key(id));
        }
        if direction.credits() {
            sources.find_bills(cx, asked).await?;
            sources.find_origins(cx, asked).await?;
        }
        let of_lines = sources.lines.values().map(|line| line.document_id);
        let of_bills = sources.billed.values().flatten().map(|(document, _)| *document);
        let ids: HashSet<RecordId> = named(asked).chain(of_lines).chain(of_bills).collect();
        let rows = documents::Entity::find()
            .filter(documents::Column::BusinessId.eq(cx.business_id()?))
            .filter(documents::Column::Id.is_in(ids))
            .filter(documents::Column::Kind.is_in(KINDS));
        for row in rows.all(&cx.db).await? {
            check_source(cx, row.kind)?;
            let content = serde_json::from_str(&row.content).map_err(Error::internal)?;
            sources.documents.insert(row.id, Source { row, content });
        }
        sources.lefts = Lefts::of(cx, direction, (day, asked), &sources).await?;
        Ok(sources)
    }

    /// The lines that a credited invoice billed.
    async fn find_origins(&mut self, cx: &Cx<'_>, asked: &TradeAsked) -> Result<()> {
        let credited: Vec<RecordId> = asked.lines.iter().filter_map(|line| line.source_line).collect();
        let billed = document_lines::Entity::find()
            .filter(document_lines::Column::BusinessId.eq(cx.business_id()?))
            .filter(document_lines::Column::Id.is_in(credited))
            .filter(document_lines::Column::SourceLineId.is_not_null());
        let origins = billed.all(&cx.db).await?.into_iter().filter_map(|line| line.source_line_id);
        let notes = progress::of_lines(cx, origins).await?;
        let orders = progress::of_lines(cx, notes.values().filter_map(|note| note.source_line_id)).await?;
        self.lines.extend(notes);
        self.lines.extend(orders);
        Ok(())
    }

    /// Goods that came back are credited as they were billed.
    async fn find_bills(&mut self, cx: &Cx<'_>, asked: &TradeAsked) -> Result<()> {
        let returned = asked.lines.iter().filter_map(|line| self.lines.get(&line.source_line?)?.source_line_id);
        let returned: HashSet<RecordId> = returned.collect();
        if returned.is_empty() {
            return Ok(());
        }
        let bills = document_lines::Entity::find()
            .filter(document_lines::Column::BusinessId.eq(cx.business_id()?))
            .filter(document_lines::Column::SourceLineId.is_in(returned))
            .filter(document_lines::Column::Kind.is_in([DocumentKind::SalesInvoice, DocumentKind::PurchaseInvoice]));
        for line in bills.all(&cx.db).await? {
            if let Some(note) = line.source_line_id {
                self.billed.entry(note).or_default().push((line.document_id, line.id));
            }
        }
        // Identifiers grow with time: what was billed first is credited first.
        self.billed.values_mut().for_each(|lines| lines.sort_by_key(|(_, line)| *line));
        Ok(())
    }

    /// The invoices that are credited.
    pub(super) fn invoices(&self) -> impl Iterator<Item = &Source> {
        let is_invoice = |kind| matches!(kind, DocumentKind::SalesInvoice | DocumentKind::PurchaseInvoice);
        self.documents.values().filter(move |source| is_invoice(source.row.kind))
    }

    /// The orders and notes of which something was taken off.
    pub(super) fn with_discounts(&self) -> impl Iterator<Item = &Source> {
        let is_priced =
            |kind| matches!(kind, DocumentKind::SalesOrder | DocumentKind::PurchaseOrder | DocumentKind::DeliveryNote);
        self.documents.values().filter(move |source| is_priced(source.row.kind) && source.has_discounts())
    }

    /// The lines of invoices that a line of a note credits: the one that it names, or those that billed the note which it
    /// names.
    pub(super) fn origins(&self, asked: &TradeAsked, line: &TradeLineAsked) -> Vec<RecordId> {
        let Some(id) = line.source_line else { return Vec::new() };
        let Some(followed) = self.lines.get(&id) else {
            let direct = asked.source.and_then(|invoice| self.asked_line(invoice, id));
            return direct.map(|_| id).into_iter().collect();
        };
        let billed = followed.source_line_id.and_then(|note| self.billed.get(&note));
        billed.into_iter().flatten().map(|(_, line)| *line).collect()
    }

    /// The invoice that a line stands on.
    pub(super) fn invoice_of(&self, line: RecordId) -> Option<RecordId> {
        let has = |source: &&Source| source.content.asked.lines.iter().any(|known| known.id == Some(line));
        self.invoices().find(has).map(|source| source.row.id)
    }

    /// The taxes of a line of an invoice that is credited, and its net.
    pub(super) fn taxes_of(&self, line: RecordId) -> Option<(&[LineTax], Money)> {
        self.invoices().find_map(|source| {
            let place = source.content.asked.lines.iter().position(|known| known.id == Some(line))?;
            let figures = &source.content.figures.lines.get(place)?.figures;
            Some((figures.taxes.as_slice(), figures.net))
        })
    }

    /// The day whose rates of tax apply to what credits an invoice.
    pub(super) fn rates_of(&self, asked: &TradeAsked) -> Option<Day> {
        let named = asked.source.and_then(|id| self.documents.get(&id));
        let first = || self.invoices().min_by_key(|source| source.row.id);
        named.or_else(first).map(|source| source.content.asked.tax_date.unwrap_or(source.row.date))
    }

    /// The line of an order or of a note that a line follows.
    pub(super) fn line(&self, line: &TradeLineAsked) -> Option<&progress::Line> {
        self.lines.get(&line.source_line?)
    }

    /// The account on which the goods of a line wait that it bills, or credits.
    pub(super) fn waiting(&self, line: &TradeLineAsked) -> Option<RecordId> {
        let followed = self.line(line)?;
        let origin = || self.lines.get(&followed.source_line_id?)?.account_id;
        followed.account_id.or_else(|| origin().filter(|_| followed.is_return))
    }

    /// Whether a line is one of a note of goods.
    pub(super) fn is_of_note(&self, line: RecordId) -> bool {
        self.lines.get(&line).is_some_and(|line| !line.is_order())
    }

    /// What the version before it named, and the documents that it follows: what comes of them may name it too.
    pub(super) fn held(&self, asked: &TradeAsked) -> Held {
        let mut held = asked.held.clone();
        held.extend(self.documents.values().flat_map(|source| source.content.asked.names()));
        held
    }

    pub(super) fn document(&self, id: RecordId) -> Option<&Source> {
        self.documents.get(&id)
    }

    fn asked_line(&self, document: RecordId, line: RecordId) -> Option<(&Source, usize)> {
        let source = self.documents.get(&document)?;
        let place = source.content.asked.lines.iter().position(|known| known.id == Some(line))?;
        Some((source, place))
    }

    /// Where the line stands that says what goods cost: that of the order which a bill follows by a note, and that of
    /// the bill which a credit follows by goods that came back.
    pub(super) fn terms(&self, direction: Direction, asked: &TradeAsked, source: RecordId) -> Option<(&Source, usize)> {
        let Some(line) = self.lines.get(&source) else {
            // What credits an invoice directly names its line.
            return self.asked_line(asked.source?, source);
        };
        let further = line.source_line_id.and_then(|id| match direction {
            Direction::PurchaseInvoice => self.asked_line(self.lines.get(&id)?.document_id, id),
            Direction::CreditNote | Direction::DebitNote => {
                let (document, billed) = self.billed.get(&id)?.first()?;
                self.asked_line(*document, *billed)
            }
            _ => None,
        });
        further.or_else(|| self.asked_line(line.document_id, source))
    }
}

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

/// What a document leaves out and the documents that it follows say.
pub(super) fn take(
    direction: Direction,
    asked: &mut TradeAsked,
    sources: &Sources,
    taxes: &TaxCodes,
    business: &Business,
) {
    match_by_item(direction, asked, sources);
    derived::match_invoice(direction, asked, sources, taxes);
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
    let Some(lead) = lead else { return };
    let said = &lead.content.asked;
    if asked.party == RecordId::default() {
        asked.party = sources.aliases.of_document(&lead.row).unwrap_or(said.party);
    }
    asked.currency = asked.currency.take().or_else(|| Some(lead.row.currency.clone()));
    asked.shipping_address = asked.shipping_address.take().or_else(|| said.shipping_address.clone());
    if direction.credits() {
        if asked.currency.as_ref() == Some(&lead.row.currency) && !sown(Fault::CreditAtTodaysRate) {
            asked.exchange_rate = asked.exchange_rate.or(said.exchange_rate);
        }
        asked.control_account = asked.control_account.or(lead.content.figures.control_account);
    }
    let first = asked.lines.iter().find_map(|line| sources.terms(direction, asked, line.source_line?));
    let terms = first.map_or(lead, |(source, _)| source);
    if direction != Direction::ReceiptNote {
        asked.inclusive = asked.inclusive.or(terms.content.asked.inclusive);
    }
    let inclusive = asked.inclusive.unwrap_or(business.settings.prices_include_tax_default);
    let unsaid = derived::unsaid(direction, asked, inclusive, sources);
    let mut lines = std::mem::take(&mut asked.lines);
    for (index, line) in lines.iter_mut().enumerate() {
        if unsaid.iter().any(|(place, _)| *place == index) {
            // The discount is shared by itself, so the price is the one before it.
            let terms = line.source_line.and_then(|id| sources.terms(direction, asked, id));
            line.price = terms.and_then(|(source, place)| source.content.asked.lines.get(place)?.price);
        }
        take_line(direction, asked, inclusive, line, sources, taxes);
    }
    asked.lines = lines;
    derived::share_discounts(direction, asked, &unsaid, sources, business);
}

/// The rate of the document that one follows, in its currency.
pub(super) fn rate(asked: &TradeAsked, sources: &Sources, currency: &str) -> Option<Rate> {
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
    let Some((source, place)) = sources.terms(direction, asked, id) else { return };
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
        return;
    }
    let tax = of.tax.code().and_then(|id| taxes.get(id));
    let tax = tax.map_or(UNTAXED, |code| code.share_on(source.row.date));
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

pub(super) fn part_of(amount: Money, part: Quantity, whole: Quantity, currency: &str) -> Option<Money> {
    let exact = amount.decimal().checked_mul(part.decimal())?.checked_div(whole.decimal())?;
    let decimals = crate::currency::Currency::of(currency)?.decimals();
    crate::money::Rounding::HalfUp.money(exact, decimals).ok()
}

// ── What may be ──

/// Whether what a document names may be followed by it.
pub(super) fn judge(direction: Direction, asked: &TradeAsked, sources: &Sources, faults: &mut FieldErrors) {
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

// ── What it does ──

/// What a document does to the lines that it follows.
pub(super) struct Following<'s> {
    sources: &'s Sources,
    business: &'s Business,
    direction: Direction,
    pub(super) plan: Plan,
    faults: FieldErrors,
}

impl<'s> Following<'s> {
    pub(super) fn new(
        direction: Direction,
        asked: &TradeAsked,
        sources: &'s Sources,
        business: &'s Business,
    ) -> Result<Self> {
        let mut following =
            Self { sources, business, direction, plan: Plan::default(), faults: FieldErrors::default() };
        let of_lines = asked.lines.iter().filter_map(|line| sources.line(line)).map(|line| line.document_id);
        for id in named(asked).chain(of_lines) {
            following.link(asked, id)?;
        }
        Ok(following)
    }

    /// The same, of invoices as well that it credits by what came back.
    pub(super) fn with(mut self, asked: &TradeAsked, credited: impl Iterator<Item = RecordId>) -> Result<Self> {
        for invoice in credited {
            self.link(asked, invoice)?;
        }
        Ok(self)
    }

    /// Notes what it has to do with a document.
    fn link(&mut self, asked: &TradeAsked, id: RecordId) -> Result<()> {
        let Some(Source { row, .. }) = self.sources.document(id) else { return Ok(()) };
        let relation = match self.direction {
            Direction::DeliveryNote | Direction::ReceiptNote if asked.is_return => Relation::Returns,
            Direction::DeliveryNote | Direction::ReceiptNote => Relation::Fulfils,
            Direction::CreditNote | Direction::DebitNote => Relation::Credits,
            _ => Relation::Bills,
        };
        if row.subkind.as_deref() == Some(CLOSED) {
            let number = row.number.as_deref().unwrap_or("");
            return Err(invalid_state(format!("The order {number} is closed; reopen it first")));
        }
        self.plan.links.insert(id, Link { relation, kind: row.kind, number: row.number.clone() });
        Ok(())
    }

    fn refuse(&mut self, index: usize, left: Quantity, to: &str) {
        let left = Ord::max(left, Quantity::ZERO);
        self.faults.add(format!("lines[{index}].quantity"), format!("must be at most {left}, what is left to {to}"));
    }

    /// As much as an order may grow to in the end.
    fn most(&self, line: &progress::Line) -> Result<Quantity> {
        let most = match self.business.settings.over_delivery_percent {
            Some(extra) => {
                // Both are millionths: what is more than a millionth of a piece is not delivered.
                let extra = i128::from(line.quantity.units()) * i128::from(extra.units()) / 100_000_000;
                let extra = i64::try_from(extra).map_err(|_| too_many())?;
                more(line.quantity, Quantity::from_units(extra))?
            }
            None => line.quantity,
        };
        Ok(less(most, line.cancelled))
    }

    /// The order that a line of a note follows.
    fn order_of(&self, line: &progress::Line) -> Option<&'s progress::Line> {
        self.sources.lines.get(&line.source_line_id?).filter(|order| order.is_order())
    }

    /// A line of an invoice. The account is answered on which the goods wait that it bills.
    pub(super) fn bill(&mut self, index: usize, line: &TradeLineAsked) -> Result<Option<RecordId>> {
        let Some(followed) = self.sources.line(line) else { return Ok(None) };
        let (now, quantity) = (self.plan.line(followed).clone(), line.quantity());
        if followed.is_order() {
            let most = self.most(&now)?;
            let left = less(most, now.fulfilled);
            if quantity > left {
                self.refuse(index, left, "invoice");
            }
            let step = Step { fulfilled: quantity, invoiced: quantity, ..Step::default() };
            self.plan.step(followed, step)?;
            return Ok(None);
        }
        if quantity > now.open() {
            self.refuse(index, now.open(), "invoice");
            return Ok(None);
        }
        self.plan.step(followed, Step { invoiced: quantity, ..Step::default() })?;
        if let Some(order) = self.order_of(followed) {
            self.plan.step(order, Step { invoiced: quantity, ..Step::default() })?;
        }
        Ok(now.account_id)
    }

    /// A line of a credit for goods that came back by a note.
    pub(super) fn credit(&mut self, index: usize, line: &TradeLineAsked) -> Result<Option<RecordId>> {
        let Some(followed) = self.sources.line(line) else { return Ok(None) };
        let (now, quantity) = (self.plan.line(followed).clone(), line.quantity());
        let origin = followed.source_line_id.and_then(|id| self.sources.lines.get(&id));
        let origin_now = origin.map(|origin| self.plan.line(origin).clone());
        let waits = origin_now.as_ref().map_or(now.open(), |origin| negated(origin.open()));
        let left = Ord::min(now.open(), waits);
        if quantity > left {
            self.refuse(index, left, "credit");
            return Ok(None);
        }
        self.plan.step(followed, Step { invoiced: quantity, ..Step::default() })?;
        let Some(origin) = origin else { return Ok(now.account_id) };
        self.plan.step(origin, Step { invoiced: negated(quantity), ..Step::default() })?;
        if let Some(order) = self.order_of(origin) {
            self.plan.step(order, Step { invoiced: negated(quantity), ..Step::default() })?;
        }
        Ok(origin.account_id)
    }

    /// A line that credits a line of an invoice and brings its goods back: they count as returned where the invoice had
    /// them from, and as invoiced no more.
    pub(super) fn credit_with_goods(&mut self, index: usize, line: &TradeLineAsked, invoice: &Source) -> Result<()> {
        let billed = invoice.content.asked.lines.iter().find(|known| known.id == line.source_line);
        let Some(origin) = billed.and_then(|billed| self.sources.line(billed)) else { return Ok(()) };
        let (now, quantity) = (self.plan.line(origin).clone(), line.quantity());
        let left = less(if now.is_order() { now.fulfilled } else { now.quantity }, now.returned);
        if quantity > left {
            self.refuse(index, left, "return");
            return Ok(());
        }
        let step = Step { returned: quantity, invoiced: negated(quantity), ..Step::default() };
        self.plan.step(origin, step)?;
        if let Some(order) = self.order_of(origin) {
            self.plan.step(order, step)?;
        }
        Ok(())
    }

    /// A line of an order that begins.
    pub(super) fn order(&mut self, line: &TradeLineAsked, is_goods: bool) -> Result<()> {
        self.put_down(line, is_goods, |_| {})
    }

    fn put_down(
        &mut self,
        line: &TradeLineAsked,
        is_goods: bool,
        with: impl FnOnce(&mut progress::Line),
    ) -> Result<()> {
        let kind = match self.direction {
            Direction::SalesOrder => DocumentKind::SalesOrder,
            Direction::PurchaseOrder => DocumentKind::PurchaseOrder,
            Direction::DeliveryNote => DocumentKind::DeliveryNote,
            _ => DocumentKind::ReceiptNote,
        };
        let mut begun = progress::Line {
            business_id: self.business.id,
            line_id: identity(line.id)?,
            document_id: RecordId::default(),
            kind,
            date: Day::default(),
            party_id: Named::default(),
            item_id: line.item,
            is_goods,
            is_return: false,
            source_line_id: line.source_line,
            quantity: line.quantity(),
            fulfilled: Quantity::ZERO,
            invoiced: Quantity::ZERO,
            returned: Quantity::ZERO,
            cancelled: Quantity::ZERO,
            account_id: None,
            value: Money::ZERO,
        };
        with(&mut begun);
        self.plan.begins.push(begun);
        Ok(())
    }

    /// A line of a note of goods. The account is answered on which they wait.
    pub(super) fn goods(
        &mut self,
        (index, line): (usize, &TradeLineAsked),
        is_return: bool,
        account: Option<RecordId>,
        is_goods: bool,
    ) -> Result<Option<RecordId>> {
        let (quantity, followed) = (line.quantity(), self.sources.line(line));
        if let Some(origin) = followed.filter(|_| is_return) {
            return self.send_back(index, line, origin, is_goods);
        }
        if let Some(order) = followed {
            let now = self.plan.line(order).clone();
            let left = less(self.most(&now)?, now.fulfilled);
            if quantity > left {
                self.refuse(index, left, "deliver");
            }
            self.plan.step(order, Step { fulfilled: quantity, ..Step::default() })?;
        }
        let account = account.filter(|_| is_goods);
        self.put_down(line, is_goods, |begun| (begun.is_return, begun.account_id) = (is_return, account))?;
        Ok(account)
    }

    /// Goods of a note that come back, or go back.
    fn send_back(
        &mut self,
        index: usize,
        line: &TradeLineAsked,
        origin: &progress::Line,
        is_goods: bool,
    ) -> Result<Option<RecordId>> {
        let (now, quantity) = (self.plan.line(origin).clone(), line.quantity());
        let left = less(now.quantity, now.returned);
        if quantity > left {
            self.refuse(index, left, "return");
            return Ok(None);
        }
        // What nobody invoiced needs no credit.
        let uncharged = Ord::min(quantity, Ord::max(now.open(), Quantity::ZERO));
        self.plan.step(origin, Step { returned: quantity, ..Step::default() })?;
        if let Some(order) = self.order_of(origin) {
            self.plan.step(order, Step { returned: quantity, ..Step::default() })?;
        }
        self.put_down(line, is_goods, |begun| {
            begun.is_return = true;
            begun.cancelled = uncharged;
        })?;
        Ok(now.account_id)
    }

    pub(super) fn finish(self) -> Result<Plan> {
        if self.faults.is_empty() {
            return Ok(self.plan);
        }
        let title = "More than is left of the lines that it follows".into();
        Err(Error::Conflict(Conflict { code: "over_fulfilment", title, errors: self.faults }))
    }
}
