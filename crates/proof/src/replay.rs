//! What facts of stock come to, reckoned anew and by itself: every day from the first fact on, in whole numbers, one
//! movement after the other. It knows neither what was posted nor how it was worked out, and shares no line with that.

mod known;

use crate::day::Day;
use crate::ids::RecordId;
use crate::money::Rounding;
use known::{Heap, Heaps, Store};
pub(super) use known::{Known, Moved};
use schema::item::CostMethod;
use schema::tables::{FactKind, FactSide, stock_facts};
use std::collections::BTreeSet;
use words::sums::Sums as _;

pub(super) type Wide = i128;

/// So many movements are valued anew for each day; of a longer story a day that says nothing of earlier ones goes on
/// where the last one ended.
const MOST_ANEW: usize = 4_000_000;

/// How an item is valued.
#[derive(Clone, Copy)]
pub(super) struct How {
    pub(super) method: CostMethod,
    pub(super) rounding: Rounding,
    /// One coin, in ten-thousandths.
    pub(super) coin: Wide,
    /// What a piece costs before anything is known of it, in millionths.
    pub(super) first: Wide,
}

/// A fact and the day from which on it never was.
pub(super) struct Fact {
    pub(super) row: stock_facts::Model,
    pub(super) cancelled: Option<Day>,
}

impl Fact {
    fn counts(&self, day: Day) -> bool {
        self.row.date <= day && self.cancelled.is_none_or(|cancelled| day < cancelled)
    }

    fn comes_in(&self) -> bool {
        matches!(self.row.kind, FactKind::Receipt | FactKind::CustomerReturn)
    }

    fn goes_out(&self) -> bool {
        matches!(self.row.kind, FactKind::Issue | FactKind::SupplierReturn)
    }

    /// Whether what it cost is kept: of whatever moves goods, and of a change of the standard cost by a document.
    pub(super) fn is_kept_with_its_cost(&self) -> bool {
        let by_document = self.row.kind == FactKind::Standard && self.row.line_id != self.row.item_id;
        self.comes_in() || self.goes_out() || by_document
    }

    /// The line whose goods wait for their invoice by it: the one that it names, else its own.
    pub(super) fn waiting_line(&self) -> RecordId {
        match self.row.of_line_id {
            Some(line) => line,
            None => self.row.line_id,
        }
    }

    fn pieces(&self) -> Wide {
        Wide::from(self.row.quantity.units())
    }

    fn amount(&self) -> Wide {
        Wide::from(self.row.amount.units())
    }
}

/// Every day on which something happened or never was, and what was known on its evening.
pub(super) fn days(how: How, facts: &[Fact], mut each: impl FnMut(Day, &Known)) -> Known {
    let mut order: Vec<usize> = (0..facts.len()).collect();
    order.sort_by_key(|at| {
        let row = &facts[*at].row;
        (row.date, row.kind != FactKind::Standard, row.place)
    });
    let gone = facts.iter().filter_map(|fact| fact.cancelled.filter(|cancelled| *cancelled > fact.row.date));
    let days: BTreeSet<Day> = facts.iter().map(|fact| fact.row.date).chain(gone).collect();
    let always = days.len() * facts.len() <= MOST_ANEW;
    let mut known = Known::default();
    for day in days {
        let own = |at: &&usize| facts[**at].row.date == day && facts[**at].counts(day);
        let looks_back = |at: &usize| {
            let row = &facts[*at].row;
            // It says of another line what that cost.
            matches!(row.kind, FactKind::Bill | FactKind::CostChange) && row.of_line_id.is_some()
        };
        let turns = facts.iter().any(|fact| fact.cancelled == Some(day) && fact.row.date < day);
        if always || turns || order.iter().filter(own).any(looks_back) {
            known = Known::default();
            let all: Vec<usize> = order.iter().copied().filter(|at| facts[*at].counts(day)).collect();
            tell(how, facts, &all, &mut known);
            for at in all {
                value(how, facts, at, &mut known);
            }
        } else {
            known.touched = Some(Vec::new());
            let all: Vec<usize> = order.iter().filter(own).copied().collect();
            tell(how, facts, &all, &mut known);
            for at in all {
                value(how, facts, at, &mut known);
            }
        }
        each(day, &known);
    }
    known
}

/// The nearest amount of whole coins to `over / under`.
pub(super) fn rounded(rounding: Rounding, coin: Wide, over: Wide, under: Wide) -> Wide {
    let (sign, over, step) = (over.signum() * under.signum(), over.abs(), under.abs() * coin);
    let (coins, rest) = (over / step, over % step);
    let up = match rounding {
        Rounding::HalfUp => 2 * rest >= step,
        Rounding::HalfEven => 2 * rest > step || (2 * rest == step && coins % 2 == 1),
    };
    sign * (coins + Wide::from(up)) * coin
}

impl How {
    /// The nearest amount of whole coins to `over / under`.
    fn round(self, over: Wide, under: Wide) -> Wide {
        rounded(self.rounding, self.coin, over, under)
    }

    /// The share that some pieces have in what all of them come to.
    fn share(self, of: Wide, pieces: Wide, all: Wide) -> Wide {
        if pieces == all { of } else { self.round(of * pieces, all) }
    }

    /// Pieces and prices are millionths, amounts are ten-thousandths.
    fn priced(self, pieces: Wide, price: Wide) -> Wide {
        self.round(pieces * price, 100_000_000)
    }
}

/// Takes up to so many pieces off a heap, at their share.
fn off(how: How, heap: &mut Heap, pieces: Wide) -> Heap {
    let pieces = pieces.min(heap.pieces);
    if pieces <= 0 {
        return Heap::default();
    }
    let taken = Heap {
        pieces,
        said: how.share(heap.said, pieces, heap.pieces),
        cost: how.share(heap.cost, pieces, heap.pieces),
    };
    *heap = Heap { pieces: heap.pieces - pieces, said: heap.said - taken.said, cost: heap.cost - taken.cost };
    taken
}

fn onto(heap: &mut Heap, more: Heap) {
    *heap = Heap { pieces: heap.pieces + more.pieces, said: heap.said + more.said, cost: heap.cost + more.cost };
}

/// Spreads what something cost more over what waits and what does not. What of it waits is answered.
fn spread(how: How, heaps: &mut Heaps, by: Wide) -> Wide {
    let all = heaps.waiting.pieces + heaps.done.pieces;
    let waits = if all > 0 { how.share(by, heaps.waiting.pieces, all) } else { 0 };
    heaps.waiting.cost += waits;
    heaps.done.cost += by - waits;
    waits
}

/// First, what documents say of what came in: by then it is known what each receipt cost.
fn tell(how: How, facts: &[Fact], all: &[usize], known: &mut Known) {
    for at in all {
        say(how, facts, *at, known);
    }
}

fn say(how: How, facts: &[Fact], at: usize, known: &mut Known) {
    let fact = &facts[at];
    let (row, of) = (&fact.row, fact.row.of_line_id);
    match (row.kind, of) {
        (FactKind::Receipt, _) => {
            let heap = Heap { pieces: fact.pieces(), said: fact.amount(), cost: fact.amount() };
            let waits = row.side == FactSide::Waits;
            let heaps = if waits {
                Heaps { waiting: heap, ..Heaps::default() }
            } else {
                Heaps { done: heap, ..Heaps::default() }
            };
            known.heaps.insert(row.line_id, heaps);
            let waited: Vec<usize> =
                known.early.iter().copied().filter(|early| facts[*early].row.of_line_id == Some(row.line_id)).collect();
            known.early.retain(|early| !waited.contains(early));
            for early in waited {
                say(how, facts, early, known);
            }
        }
        (FactKind::Bill | FactKind::CostChange, Some(of)) if !known.heaps.contains_key(&of) => {
            known.early.push(at);
            known.moves(at, Moved { waits: fact.amount(), stock: 0 });
        }
        (FactKind::Bill, Some(of)) => {
            let Some(heaps) = known.heaps.get_mut(&of) else { return };
            let taken = off(how, &mut heaps.waiting, fact.pieces());
            let within = how.share(fact.amount(), taken.pieces, fact.pieces());
            let dearer = within - taken.said;
            onto(&mut heaps.done, Heap { said: within, cost: taken.cost + dearer, ..taken });
            let beyond = Heap { pieces: fact.pieces() - taken.pieces, said: fact.amount() - within, cost: 0 };
            onto(&mut heaps.owed, beyond);
            costs_more(how, (at, of), dearer, taken.said + beyond.said, known);
        }
        (FactKind::CostChange, Some(of)) => {
            let Some(heaps) = known.heaps.get_mut(&of) else { return };
            spread(how, heaps, fact.amount());
            costs_more(how, (at, of), fact.amount(), 0, known);
        }
        (FactKind::SupplierReturn, Some(of)) => {
            let Some(heaps) = known.heaps.get_mut(&of) else { return };
            let both = return_of(how, heaps, row.side, fact.pieces());
            known.back.insert(at, both);
        }
        (FactKind::SupplierReturn, None) if row.side == FactSide::Waits => {
            let owed = Heap { pieces: fact.pieces(), said: fact.amount(), cost: fact.amount() };
            known.heaps.insert(row.line_id, Heaps { owed, ..Heaps::default() });
        }
        (FactKind::Credit, Some(of)) if row.side == FactSide::Document => {
            let Some(heaps) = known.heaps.get_mut(&of) else { return };
            let taken = off(how, &mut heaps.owed, fact.pieces());
            known.moves(at, Moved { stock: 0, waits: -taken.said });
        }
        _ => {}
    }
}

fn costs_more(how: How, (at, receipt): (usize, RecordId), dearer: Wide, waits: Wide, known: &mut Known) {
    // At standard cost it is a variance, and the stock is worth what it was.
    if how.method == CostMethod::Standard {
        known.moves(at, Moved { stock: 0, waits });
    } else {
        known.moves(at, Moved { stock: dearer, waits });
        *known.dearer.entry(receipt).or_default() += dearer;
    }
}

/// What comes back by a note is taken off what waits first, by a credit off what was invoiced.
fn return_of(how: How, heaps: &mut Heaps, side: FactSide, pieces: Wide) -> Heap {
    let mut both;
    if side == FactSide::Waits {
        both = off(how, &mut heaps.waiting, pieces);
        let charged = off(how, &mut heaps.done, pieces - both.pieces);
        onto(&mut heaps.owed, charged);
        onto(&mut both, charged);
    } else {
        both = off(how, &mut heaps.done, pieces);
        let uncharged = off(how, &mut heaps.waiting, pieces - both.pieces);
        onto(&mut both, uncharged);
    }
    both
}

/// Then one movement after the other.
fn value(how: How, facts: &[Fact], at: usize, known: &mut Known) {
    let fact = &facts[at];
    let row = &fact.row;
    let waits = row.side == FactSide::Waits;
    match row.kind {
        FactKind::Receipt => {
            let dearer = known.dearer.sum_of(&row.line_id);
            let before = known.store.value;
            come(how, facts, (row.line_id, None), (fact.pieces(), fact.amount() + dearer), known);
            let stock = if how.method == CostMethod::Standard { known.store.value - before } else { fact.amount() };
            known.moves(at, Moved { stock, waits: if waits { -fact.amount() } else { 0 } });
        }
        FactKind::Issue => {
            let cost = go(how, at, fact.pieces(), known);
            let heap = Heap { pieces: fact.pieces(), said: cost, cost };
            let heaps = if waits {
                Heaps { waiting: heap, ..Heaps::default() }
            } else {
                Heaps { done: heap, ..Heaps::default() }
            };
            known.heaps.insert(row.line_id, heaps);
            known.moves(at, Moved { stock: -cost, waits: if waits { cost } else { 0 } });
            let waited: Vec<usize> =
                known.early.iter().copied().filter(|early| facts[*early].row.of_line_id == Some(row.line_id)).collect();
            known.early.retain(|early| !waited.contains(early));
            for early in waited {
                value(how, facts, early, known);
            }
        }
        FactKind::CustomerReturn => {
            let mut back = Heap::default();
            if let Some(heaps) = row.of_line_id.and_then(|of| known.heaps.get_mut(&of)) {
                back = return_of(how, heaps, row.side, fact.pieces());
            }
            let beyond = fact.pieces() - back.pieces;
            let cost = back.cost + if beyond > 0 { now(how, &known.store, beyond) } else { 0 };
            if waits && row.of_line_id.is_none() {
                let owed = Heap { pieces: fact.pieces(), said: cost, cost };
                known.heaps.insert(row.line_id, Heaps { owed, ..Heaps::default() });
            }
            let before = known.store.value;
            come(how, facts, (row.line_id, row.of_line_id), (fact.pieces(), cost), known);
            let stock = if how.method == CostMethod::Standard { known.store.value - before } else { cost };
            known.moves(at, Moved { stock, waits: if waits { -cost } else { 0 } });
        }
        FactKind::SupplierReturn => {
            let taken = known.back.get(&at).copied();
            let cost = match (row.of_line_id, taken) {
                (Some(receipt), Some(taken)) => go_back(how, (at, receipt), fact.pieces(), taken.cost, known),
                _ => go(how, at, fact.pieces(), known),
            };
            let said = taken.map_or(fact.amount(), |taken| taken.said);
            known.moves(at, Moved { stock: -cost, waits: if waits { said } else { 0 } });
        }
        FactKind::Invoice => {
            let Some(of) = row.of_line_id else { return };
            let Some(heaps) = known.heaps.get_mut(&of) else {
                known.early.push(at);
                return;
            };
            let taken = off(how, &mut heaps.waiting, fact.pieces());
            onto(&mut heaps.done, taken);
            onto(&mut heaps.owed, Heap { pieces: fact.pieces() - taken.pieces, said: 0, cost: 0 });
            known.moves(at, Moved { stock: 0, waits: -taken.cost });
        }
        FactKind::Credit if row.side != FactSide::Document => {
            let Some(heaps) = row.of_line_id.and_then(|of| known.heaps.get_mut(&of)) else { return };
            let taken = off(how, &mut heaps.owed, fact.pieces());
            known.moves(at, Moved { stock: 0, waits: taken.cost });
        }
        FactKind::Standard => {
            let Some(cost) = row.standard else { return };
            known.store.standard = Some(Wide::from(cost.units()));
            let before = known.store.value;
            if how.method == CostMethod::Standard {
                at_standard(how, &mut known.store);
            }
            known.moves(at, Moved { stock: known.store.value - before, waits: 0 });
        }
        FactKind::Bill | FactKind::CostChange | FactKind::Credit | FactKind::Cancellation => {}
    }
    if fact.comes_in() || fact.goes_out() {
        let there = known.store.pieces;
        known.least.entry(row.date).and_modify(|least| *least = there.min(*least)).or_insert(there);
    }
}

fn at_standard(how: How, store: &mut Store) {
    store.value = how.priced(store.pieces, store.standard.unwrap_or(how.first));
}

/// What pieces cost that nobody says the cost of.
fn at_last(how: How, store: &Store, pieces: Wide) -> Wide {
    match store.last {
        Some((known, cost)) => how.share(cost, pieces, known),
        None => how.priced(pieces, store.standard.unwrap_or(how.first)),
    }
}

fn now(how: How, store: &Store, pieces: Wide) -> Wide {
    match (how.method, store.layers.last()) {
        (CostMethod::Standard, _) => how.priced(pieces, store.standard.unwrap_or(how.first)),
        (CostMethod::Fifo, Some((_, all, value))) => how.share(*value, pieces, *all),
        (CostMethod::MovingAverage, _) if store.pieces > 0 => how.share(store.value, pieces, store.pieces),
        _ => at_last(how, store, pieces),
    }
}

/// Goods come in, and fill what was missing first: what comes back of a sale what that sale lacked, and only then what others
/// did.
fn come(
    how: How,
    facts: &[Fact],
    (line, sale): (RecordId, Option<RecordId>),
    (pieces, cost): (Wide, Wide),
    known: &mut Known,
) {
    let store = &mut known.store;
    store.pieces += pieces;
    if how.method == CostMethod::Standard {
        at_standard(how, store);
        return;
    }
    if pieces > 0 {
        store.last = Some((pieces, cost));
    }
    store.value += cost;
    let (mut left, mut worth) = (pieces, cost);
    while left > 0 && !store.missing.is_empty() {
        let turn = turn_of(facts, store, sale);
        let (issue, lacking, booked) = store.missing[turn];
        let filled = left.min(lacking);
        let (real, was) = (how.share(worth, filled, left), how.share(booked, filled, lacking));
        (left, worth) = (left - filled, worth - real);
        store.missing[turn] = (issue, lacking - filled, booked - was);
        store.missing.retain(|(_, lacking, _)| *lacking > 0);
        store.value -= real - was;
        let line = facts[issue].row.line_id;
        let waits = match known.heaps.get_mut(&line) {
            Some(heaps) => spread(how, heaps, real - was),
            None => 0,
        };
        let back = facts[issue].row.kind == FactKind::SupplierReturn;
        let moved = known.moved.entry(issue).or_default();
        moved.stock -= real - was;
        moved.waits += if back { 0 } else { waits };
        if real != was {
            known.corrected.insert(issue);
        }
        known.touched.iter_mut().for_each(|touched| touched.push(issue));
    }
    if how.method == CostMethod::Fifo && left > 0 {
        store.layers.push((line, left, worth));
    }
}

/// Whose turn it is of those that lack something: the sale's of which something comes back, else of who waits the longest.
fn turn_of(facts: &[Fact], store: &Store, sale: Option<RecordId>) -> usize {
    match store.missing.iter().position(|(issue, ..)| Some(facts[*issue].row.line_id) == sale) {
        Some(own) if sale.is_some() => own,
        _ => 0,
    }
}

/// Goods go out. What they cost is answered.
fn go(how: How, at: usize, pieces: Wide, known: &mut Known) -> Wide {
    let store = &mut known.store;
    if how.method == CostMethod::Standard {
        let before = store.value;
        store.pieces -= pieces;
        at_standard(how, store);
        return before - store.value;
    }
    let there = pieces.min(store.pieces).max(0);
    let mut cost = 0;
    if there > 0 && how.method == CostMethod::Fifo {
        let mut wanted = there;
        while wanted > 0 && !store.layers.is_empty() {
            let (line, all, value) = store.layers[0];
            store.last = Some((all, value));
            let taken = wanted.min(all);
            let share = how.share(value, taken, all);
            store.layers[0] = (line, all - taken, value - share);
            store.layers.retain(|(_, pieces, _)| *pieces > 0);
            (wanted, cost) = (wanted - taken, cost + share);
        }
    } else if there > 0 {
        store.last = Some((store.pieces, store.value));
        cost = how.share(store.value, there, store.pieces);
    }
    if pieces > there {
        let booked = at_last(how, store, pieces - there);
        store.missing.push((at, pieces - there, booked));
        cost += booked;
    }
    store.pieces -= pieces;
    store.value -= cost;
    cost
}

/// Goods go back to where they came from, at their share of what came, where that is there.
fn go_back(how: How, (at, receipt): (usize, RecordId), pieces: Wide, share: Wide, known: &mut Known) -> Wide {
    let store = &mut known.store;
    if how.method == CostMethod::MovingAverage && pieces < store.pieces && share <= store.value {
        store.last = Some((store.pieces, store.value));
        (store.pieces, store.value) = (store.pieces - pieces, store.value - share);
        return share;
    }
    let own = store.layers.iter().position(|(line, ..)| *line == receipt);
    let Some(own) = own.filter(|_| how.method == CostMethod::Fifo) else { return go(how, at, pieces, known) };
    let (_, all, value) = store.layers[own];
    store.last = Some((all, value));
    let taken = pieces.min(all);
    let asked = how.share(share, taken, pieces);
    let cost = if taken == all {
        value
    } else if asked <= value {
        asked
    } else {
        how.share(value, taken, all)
    };
    store.layers[own] = (receipt, all - taken, value - cost);
    store.layers.retain(|(_, pieces, _)| *pieces > 0);
    (store.pieces, store.value) = (store.pieces - taken, store.value - cost);
    if taken == pieces { cost } else { cost + go(how, at, pieces - taken, known) }
}
