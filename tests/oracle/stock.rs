//! What an item is worth on a day: all that was known then, valued anew from the first movement on.

use super::exact::{Fraction, part};
use super::world::{Method, STANDARD};
use std::collections::{BTreeMap, VecDeque};

/// The line of a document: its command, and its place there.
pub type Source = (u32, usize);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Comes in and costs so much.
    Receipt(i128),
    /// Goes out, and may wait for its invoice.
    Issue { waits: bool },
    /// What that line took out is invoiced; nothing moves.
    Invoiced(Source),
    /// A customer brings back of what that line took out: of what waits, or first of what is invoiced.
    Back { of: Source, waits: bool },
    /// A supplier takes back of what that line brought in.
    Sent(Source),
    /// A piece costs so much by the standard from now on.
    Standard(i128),
}

#[derive(Debug, Clone)]
pub struct Fact {
    pub source: Source,
    pub item: usize,
    pub day: usize,
    pub place: u64,
    /// In thousandths, never less than 0.
    pub quantity: i128,
    pub kind: Kind,
    /// The day on which it was taken back.
    pub until: Option<usize>,
}

/// What makes a receipt cost more, or less, from a day on.
#[derive(Debug, Clone)]
pub struct Change {
    pub source: Source,
    pub of: Source,
    pub day: usize,
    pub place: u64,
    pub what: Dearer,
    pub until: Option<usize>,
}

#[derive(Debug, Clone, Copy)]
pub enum Dearer {
    /// So much was paid beside the price.
    Beside(i128),
    /// So many were billed at so much: what of them waits by then is billed at what the note said, and costs the difference
    /// more. What is billed beyond that makes nothing dearer.
    Billed(i128, i128),
}

/// A day and the place in it.
type Order = (usize, u64);

/// What became of a receipt by the end of a day.
#[derive(Debug, Default)]
pub struct Story {
    /// By how much more it costs by all that counts.
    pub dearer: i128,
    /// What each return to the supplier takes of it.
    pub back: BTreeMap<Source, i128>,
}

/// Goods of a receipt wait, or are billed. What bills them takes what waits by then and costs the difference more; what it
/// bills beyond that makes nothing dearer. What goes back takes what waits first, at what that costs.
pub fn story(facts: &[&Fact], changes: &[Change], of: Source, day: usize) -> Story {
    let mut story = Story::default();
    let receipt = facts.iter().find(|fact| fact.source == of && lives(fact.day, fact.until, day));
    let Some((fact, Kind::Receipt(amount))) = receipt.map(|fact| (fact, &fact.kind)) else { return story };
    let (mut waits, mut billed) = ((fact.quantity, *amount), (0, 0));
    let own = changes.iter().filter(|change| change.of == of && lives(change.day, change.until, day));
    let back = facts.iter().filter(|fact| fact.kind == Kind::Sent(of) && lives(fact.day, fact.until, day));
    let mut all: Vec<(Order, Result<&Change, &Fact>)> = own.map(|one| ((one.day, one.place), Ok(one))).collect();
    all.extend(back.map(|fact| ((fact.day, fact.place), Err(*fact))));
    all.sort_by_key(|(order, _)| *order);
    for (_, one) in all {
        match one {
            Err(back) => {
                let share = draw(&mut waits, back.quantity);
                let rest = draw(&mut billed, back.quantity - share.0);
                story.back.insert(back.source, share.1 + rest.1);
            }
            Ok(Change { what: Dearer::Beside(amount), .. }) => {
                let pieces = waits.0 + billed.0;
                let waiting = if waits.0 == 0 { 0 } else { part(*amount, waits.0, pieces) };
                waits.1 += waiting;
                billed.1 += amount - waiting;
                story.dearer += amount;
            }
            Ok(Change { what: Dearer::Billed(quantity, amount), .. }) => {
                let (taken, said) = draw(&mut waits, *quantity);
                let within = if taken == 0 { 0 } else { part(*amount, taken, *quantity) };
                billed = (billed.0 + taken, billed.1 + within);
                story.dearer += within - said;
            }
        }
    }
    story
}

#[derive(Debug, Clone, Default)]
pub struct Outcome {
    pub quantity: i128,
    pub value: i128,
    /// What each issue took, and each return brought or took.
    pub cost: BTreeMap<Source, i128>,
    /// What of an issue waits for its invoice, and what does not.
    pub waits: BTreeMap<Source, [i128; 2]>,
    /// What a receipt cost more than the standard.
    pub above: BTreeMap<Source, i128>,
    /// What standard costs adjusted; a debit is positive.
    pub adjusted: i128,
    /// The least that there was after any movement of the day.
    pub least: i128,
}

#[derive(Debug)]
struct Layer {
    of: Option<Source>,
    quantity: i128,
    value: i128,
}

struct Replay {
    method: Method,
    there: Outcome,
    layers: VecDeque<Layer>,
    standard: i128,
    /// A price for a quantity, as it was last known.
    known: Option<(i128, i128)>,
    /// What left without being there: whose, how much, at what cost.
    holes: VecDeque<(Source, i128, i128)>,
    /// What is left of issues: what waits, and what is invoiced.
    out: BTreeMap<Source, [Pool; 2]>,
}

/// Quantity and cost.
type Pool = (i128, i128);

/// A part is a share of what is left, no more than there is.
fn draw(pool: &mut Pool, quantity: i128) -> Pool {
    let taken = quantity.min(pool.0);
    if taken <= 0 {
        return (0, 0);
    }
    let share = (taken, part(pool.1, taken, pool.0));
    *pool = (pool.0 - share.0, pool.1 - share.1);
    share
}

pub const fn lives(day: usize, until: Option<usize>, on: usize) -> bool {
    day <= on
        && match until {
            Some(until) => until > on,
            None => true,
        }
}

/// The item on a day.
pub fn on(method: Method, facts: &[&Fact], changes: &[Change], day: usize) -> Outcome {
    let mut live: Vec<&&Fact> = facts.iter().filter(|fact| lives(fact.day, fact.until, day)).collect();
    // What was invoiced before it was there is so from its own day on.
    let there = |fact: &Fact| match fact.kind {
        Kind::Invoiced(of) => facts.iter().find(|one| one.source == of).map_or(fact.day, |one| fact.day.max(one.day)),
        _ => fact.day,
    };
    live.sort_by_key(|fact| (there(fact), !matches!(fact.kind, Kind::Standard(_)), fact.place));
    let mut replay = Replay {
        method,
        there: Outcome::default(),
        layers: VecDeque::new(),
        standard: STANDARD,
        known: None,
        holes: VecDeque::new(),
        out: BTreeMap::new(),
    };
    for fact in live {
        match &fact.kind {
            Kind::Standard(cost) => replay.revalue(*cost),
            Kind::Receipt(amount) => {
                let amount = amount + story(facts, changes, fact.source, day).dearer;
                replay.receive((fact.source, None), fact.quantity, amount);
            }
            Kind::Issue { waits } => replay.issue(fact.source, fact.quantity, *waits),
            Kind::Invoiced(of) => {
                if let Some([waits, done]) = replay.out.get_mut(of) {
                    let share = draw(waits, fact.quantity);
                    *done = (done.0 + share.0, done.1 + share.1);
                }
            }
            Kind::Back { of, waits } => replay.back(fact.source, *of, (fact.quantity, *waits)),
            Kind::Sent(of) => {
                let share = story(facts, changes, *of, day).back[&fact.source];
                replay.send(fact.source, *of, fact.quantity, share);
            }
        }
        // An earlier day has judged its own movements, by what it knew.
        if fact.day == day {
            replay.there.least = replay.there.least.min(replay.there.quantity);
        }
    }
    replay.there.least = replay.there.least.min(replay.there.quantity);
    replay.there.waits = replay.out.iter().map(|(of, [waits, done])| (*of, [waits.1, done.1])).collect();
    replay.there
}

impl Replay {
    fn at_standard(&self, quantity: i128) -> i128 {
        Fraction::new(quantity * self.standard, 1_000).round()
    }

    fn revalue(&mut self, cost: i128) {
        self.standard = cost;
        if self.method == Method::Standard {
            let value = self.at_standard(self.there.quantity);
            self.there.adjusted -= value - self.there.value;
            self.there.value = value;
        }
    }

    /// Moves a standard item, and says by how much its value moved.
    fn move_standard(&mut self, quantity: i128) -> i128 {
        self.there.quantity += quantity;
        let value = self.at_standard(self.there.quantity);
        let moved = value - self.there.value;
        self.there.value = value;
        moved
    }

    /// What comes back of something is missing there no more, before it is found for others.
    fn receive(&mut self, (source, of): (Source, Option<Source>), quantity: i128, amount: i128) {
        if self.method == Method::Standard {
            let moved = self.move_standard(quantity);
            self.there.above.insert(source, amount - moved);
            return;
        }
        self.known = Some((quantity, amount));
        self.there.quantity += quantity;
        self.there.value += amount;
        let (mut left, mut cost) = (quantity, amount);
        while left > 0 {
            let place = self.holes.iter().position(|(whose, ..)| Some(*whose) == of).unwrap_or(0);
            let Some((whose, missing, booked)) = self.holes.get_mut(place) else { break };
            let filled = left.min(*missing);
            let (real, was) = (part(cost, filled, left), part(*booked, filled, *missing));
            let more = real - was;
            *self.there.cost.get_mut(whose).unwrap() += more;
            if let Some([waits, done]) = self.out.get_mut(whose) {
                let waiting = if waits.0 == 0 { 0 } else { part(more, waits.0, waits.0 + done.0) };
                waits.1 += waiting;
                done.1 += more - waiting;
            }
            self.there.value -= real - was;
            (left, cost) = (left - filled, cost - real);
            (*missing, *booked) = (*missing - filled, *booked - was);
            if *missing == 0 {
                self.holes.remove(place);
            }
        }
        if left > 0 {
            self.layers.push_back(Layer { of: Some(source), quantity: left, value: cost });
        }
    }

    /// Takes what is there, oldest first or at the average; no more than there is.
    fn take(&mut self, quantity: i128) -> i128 {
        if self.method == Method::Average {
            return part(self.there.value, quantity, self.there.quantity);
        }
        let (mut left, mut cost) = (quantity, 0);
        while left > 0 {
            let layer = self.layers.front_mut().expect("a layer for what is there");
            let taken = left.min(layer.quantity);
            let share = part(layer.value, taken, layer.quantity);
            self.known = Some((layer.quantity, layer.value));
            (layer.quantity, layer.value, left, cost) =
                (layer.quantity - taken, layer.value - share, left - taken, cost + share);
            if layer.quantity == 0 {
                self.layers.pop_front();
            }
        }
        cost
    }

    /// What leaves at what it costs, though it may not be there.
    fn leave(&mut self, source: Source, quantity: i128) -> i128 {
        let there = self.there.quantity.clamp(0, quantity);
        let mut cost = 0;
        if there > 0 {
            if self.method == Method::Average {
                self.known = Some((self.there.quantity, self.there.value));
            }
            cost = self.take(there);
        }
        if quantity > there {
            let (pieces, price) = self.known.unwrap_or((1, 0));
            let booked = part(price, quantity - there, pieces);
            self.holes.push_back((source, quantity - there, booked));
            cost += booked;
        }
        self.there.quantity -= quantity;
        self.there.value -= cost;
        cost
    }

    fn issue(&mut self, source: Source, quantity: i128, waits: bool) {
        let cost = match self.method {
            Method::Standard => -self.move_standard(-quantity),
            _ => self.leave(source, quantity),
        };
        self.there.cost.insert(source, cost);
        let all = (quantity, cost);
        self.out.insert(source, if waits { [all, (0, 0)] } else { [(0, 0), all] });
    }

    fn back(&mut self, source: Source, of: Source, (quantity, waits): (i128, bool)) {
        let [waiting, done] = self.out.get_mut(&of).expect("what comes back went out before");
        let (first, second) = if waits { (waiting, done) } else { (done, waiting) };
        let share = draw(first, quantity);
        let share = share.1 + draw(second, quantity - share.0).1;
        self.there.cost.insert(source, share);
        if self.method == Method::Standard {
            let moved = self.move_standard(quantity);
            self.there.adjusted += share - moved;
        } else {
            self.receive((source, Some(of)), quantity, share);
        }
    }

    fn send(&mut self, source: Source, of: Source, quantity: i128, share: i128) {
        let cost = match self.method {
            Method::Standard => -self.move_standard(-quantity),
            Method::Average => {
                let (left, worth) = (self.there.quantity - quantity, self.there.value - share);
                if left > 0 && worth >= 0 {
                    (self.there.quantity, self.there.value) = (left, worth);
                    share
                } else {
                    self.leave(source, quantity)
                }
            }
            Method::Fifo => {
                let (mut cost, mut rest) = (0, quantity);
                if let Some(place) = self.layers.iter().position(|layer| layer.of == Some(of)) {
                    let layer = &mut self.layers[place];
                    // What goes beyond it is missing at the cost of the last piece that was held: one of these.
                    self.known = Some((layer.quantity, layer.value));
                    let taken = rest.min(layer.quantity);
                    cost = if taken == layer.quantity {
                        layer.value
                    } else {
                        part(share, taken, quantity).min(layer.value)
                    };
                    (layer.quantity, layer.value, rest) = (layer.quantity - taken, layer.value - cost, rest - taken);
                    if layer.quantity == 0 {
                        self.layers.remove(place);
                    }
                    (self.there.quantity, self.there.value) = (self.there.quantity - taken, self.there.value - cost);
                }
                if rest > 0 { cost + self.leave(source, rest) } else { cost }
            }
        };
        // What was missing may have been there before this line was valued.
        *self.there.cost.entry(source).or_default() += cost;
    }
}
