//! The books as a list of what was accepted, and functions from that list and a day to figures.

use super::command::{Allocate, Command, Key, What};
use super::exact::{Fraction, part};
use super::stock::{Change, Fact, Source, lives, on};
use super::tax::Taxed;
use super::world::{CODES, DAYS, ITEMS, TaxKind, YEAR_END, account, exchange};
use std::collections::{BTreeMap, BTreeSet};

/// A debit of an account is positive.
pub type Posting = (u16, i128);

/// What a row of the tax summary is made of, in the order of its columns: sales without tax, tax owed, purchases
/// without tax, tax claimed, tax that cannot be, kept back from us and by us.
pub type TaxFigures = [i128; 7];

#[derive(Debug, Clone)]
pub struct TaxRow {
    pub code: Option<usize>,
    pub day: usize,
    pub figures: TaxFigures,
}

/// Something that is owed. Sizes are never less than 0.
#[derive(Debug, Clone)]
pub struct Open {
    /// Whether it stands among the receivables.
    pub receivable: bool,
    /// Whether it makes these more, or those that are owed.
    pub adds: bool,
    pub currency: usize,
    pub party: usize,
    pub total: i128,
    pub base: i128,
    /// What no allocation has taken.
    pub left: i128,
    pub base_left: i128,
}

impl Open {
    pub const fn control(&self) -> u16 {
        if self.receivable { account::RECEIVABLE } else { account::PAYABLE }
    }

    /// On the ledger: a debit is positive.
    pub const fn sign(&self) -> i128 {
        if self.receivable == self.adds { 1 } else { -1 }
    }

    pub fn relief(&self, amount: i128) -> i128 {
        part(self.base_left, amount, self.left)
    }
}

#[derive(Debug, Clone)]
pub struct Document {
    pub what: What,
    pub day: usize,
    pub until: Option<usize>,
    pub post: Vec<Posting>,
    pub tax: Vec<TaxRow>,
    pub open: Option<Open>,
    pub lines: Vec<Taxed>,
    /// What is left of each line, where something can be made of it: quantity and parts.
    pub left: Vec<(i128, Taxed)>,
}

#[derive(Debug, Clone)]
pub struct Settled {
    pub asked: Allocate,
    pub until: Option<usize>,
    pub source_base: i128,
    pub target_base: i128,
    pub post: Vec<Posting>,
    pub tax: Vec<TaxRow>,
}

#[derive(Debug, Clone, Default)]
pub struct Books {
    pub documents: BTreeMap<Key, Document>,
    pub settled: BTreeMap<Key, Settled>,
    pub facts: Vec<Fact>,
    pub changes: Vec<Change>,
    pub locked: Option<usize>,
    pub closed: bool,
    pub places: u64,
}

/// What is told of a field, and has no code of its own.
pub const LESS_THAN_NOTHING: &str = "goods cost";

/// Why something must be refused: any of these codes.
pub type Refusals = BTreeSet<&'static str>;

impl Books {
    /// The first day that takes entries.
    pub fn first_open(&self) -> usize {
        let locked = self.locked.map_or(0, |day| day + 1);
        if self.closed { locked.max(YEAR_END + 1) } else { locked }
    }

    /// Where something of a day is taken back.
    pub fn back_on(&self, day: usize) -> usize {
        day.max(self.first_open())
    }

    /// Takes a command, or says why it has to be refused.
    pub fn take(&mut self, command: &Command) -> Result<(), Refusals> {
        let lacks = |after: &Self| (0..ITEMS.len()).any(|item| !ITEMS[item].1 && after.lacks(item));
        let mut after = self.clone();
        if super::posting::pays_less_than_nothing(&command.what) {
            let mut why = after.change(command).err().unwrap_or_default();
            why.insert(LESS_THAN_NOTHING);
            return Err(why);
        }
        if let Err(mut why) = after.change(command) {
            // Of several reasons any may be told.
            let mut open = Self { locked: None, closed: false, ..self.clone() };
            // Goods that others are made of may be missing without them as well.
            let kept = match command.what {
                What::Void { .. } => why.contains("in_use"),
                // A version that does not hold what settled the old one may not have its goods either.
                What::Edit { .. } => why.contains("has_allocations"),
                _ => false,
            };
            if kept || (why.contains("period_locked") && open.change(command).is_ok() && lacks(&open)) {
                why.insert("insufficient_stock");
            }
            return Err(why);
        }
        if lacks(&after) {
            return Err(["insufficient_stock"].into());
        }
        *self = after;
        Ok(())
    }

    fn change(&mut self, command: &Command) -> Result<(), Refusals> {
        let key = command.key;
        match &command.what {
            What::Lock(day) => self.locked = *day,
            What::Close if self.closed => return Err(["invalid_state"].into()),
            // What closes a year is an entry of its last day.
            What::Close | What::Reopen if self.locked.is_some_and(|day| day >= YEAR_END) => {
                return Err(["period_locked"].into());
            }
            What::Close => self.closed = true,
            What::Reopen if !self.closed => return Err(["invalid_state"].into()),
            What::Reopen => self.closed = false,
            What::Allocate(asked) => self.allocate(key, asked)?,
            What::Edit { of, to } => self.edit(*of, to)?,
            What::Void { of, day } => self.void(*of, *day)?,
            what => {
                self.opened(what.day())?;
                let document = self.document(key, what)?;
                self.put(key, document);
            }
        }
        Ok(())
    }

    fn opened(&self, day: usize) -> Result<(), Refusals> {
        if day < self.first_open() { Err(["period_locked"].into()) } else { Ok(()) }
    }

    fn put(&mut self, key: Key, document: Document) {
        self.documents.insert(key, document);
    }

    pub fn place(&mut self) -> u64 {
        self.places += 1;
        self.places
    }

    /// Whether on any day there is less than nothing of an item.
    fn lacks(&self, item: usize) -> bool {
        let facts: Vec<&Fact> = self.facts.iter().filter(|fact| fact.item == item).collect();
        let mut days: Vec<usize> = facts.iter().flat_map(|fact| [Some(fact.day), fact.until]).flatten().collect();
        days.sort_unstable();
        days.dedup();
        days.into_iter().any(|day| on(ITEMS[item].0, &facts, &self.changes, day).least < 0)
    }

    pub fn settling(&self, document: Key) -> impl Iterator<Item = (&Key, &Settled)> {
        self.settled.iter().filter(move |(_, one)| {
            one.until.is_none() && (one.asked.source == document || one.asked.target == document)
        })
    }

    /// What of a document is settled at the end of a day.
    fn taken_on(&self, of: Key, day: usize) -> i128 {
        let settled = self.settled.values().filter(|one| lives(one.asked.day, one.until, day));
        settled
            .map(|one| {
                let all = one.asked.amount + one.asked.discount + one.asked.written_off + one.asked.withheld;
                match of {
                    _ if one.asked.source == of => one.asked.used,
                    _ if one.asked.target == of => all,
                    _ => 0,
                }
            })
            .sum()
    }

    /// The live documents that are made of one, or name it.
    pub fn derived(&self, of: Key) -> impl Iterator<Item = &Document> {
        self.ever_derived(of).map(|(_, one)| one).filter(|one| one.until.is_none())
    }

    /// The same, with those that are void.
    pub fn ever_derived(&self, of: Key) -> impl Iterator<Item = (Key, &Document)> {
        let all = self.documents.iter().map(|(key, one)| (*key, one));
        all.filter(move |(_, one)| match &one.what {
            What::Credit(credit) => credit.of == of,
            What::Return { of: origin, .. } | What::Landed { of: origin, .. } => *origin == of,
            What::Trade(trade) => trade.of.as_ref().is_some_and(|(origin, _)| *origin == of),
            _ => false,
        })
    }

    fn edit(&mut self, of: Key, to: &What) -> Result<(), Refusals> {
        let mut why = Refusals::new();
        let old = self.documents[&of].clone();
        if old.what == *to {
            // What is sent back as it was read changes nothing.
            return Ok(());
        }
        if self.derived(of).next().is_some() {
            why.insert("in_use");
        }
        let settled: Vec<Settled> = self.settling(of).map(|(_, one)| one.clone()).collect();
        if let Err(locked) = self.opened(old.day.min(to.day())) {
            why.extend(locked);
        }
        let mut places: Vec<(Source, u64, usize)> = Vec::new();
        self.facts.retain(|fact| {
            let own = fact.source.0 == of;
            if own {
                places.push((fact.source, fact.place, fact.day));
            }
            !own
        });
        self.changes.retain(|change| change.source.0 != of);
        let mut new = self.document(of, to)?;
        for fact in self.facts.iter_mut().filter(|fact| fact.source.0 == of) {
            if let Some((_, place, _)) =
                places.iter().find(|(source, _, day)| (*source, *day) == (fact.source, fact.day))
            {
                fact.place = *place;
            }
        }
        if let (Some(open), Some(was)) = (&mut new.open, &old.open) {
            let (taken, base) = (was.total - was.left, was.base - was.base_left);
            // On days on which it was settled, it still is, though it may be so no longer.
            let over = |day: usize| self.taken_on(of, day) > if day < to.day() { 0 } else { open.total };
            if open.total < taken || (0..DAYS).any(over) {
                why.insert("has_allocations");
            }
            if !settled.is_empty() {
                (open.left, open.base_left) = (open.total - taken, open.base - base);
            }
        }
        if !why.is_empty() {
            return Err(why);
        }
        self.put(of, new);
        Ok(())
    }

    fn void(&mut self, of: Key, day: Option<usize>) -> Result<(), Refusals> {
        if self.settled.contains_key(&of) {
            self.release(of);
            return Ok(());
        }
        let mut why = Refusals::new();
        let document = self.documents[&of].clone();
        let moves_money = matches!(document.what, What::Money(_));
        let settling: Vec<Key> = self.settling(of).map(|(key, _)| *key).collect();
        if !settling.is_empty() && !moves_money {
            why.insert("has_allocations");
        }
        if self.derived(of).next().is_some() {
            why.insert("in_use");
        }
        let back = day.unwrap_or_else(|| self.back_on(document.day));
        // What came back of its goods came back of something, for as long as it did; so with what was credited of it.
        let moved = |key: Key| {
            self.facts
                .iter()
                .map(|fact| fact.source)
                .chain(self.changes.iter().map(|one| one.source))
                .any(|one| one.0 == key)
        };
        if self
            .ever_derived(of)
            .filter(|(key, one)| moved(*key) || matches!(one.what, What::Credit(_)))
            .any(|(_, one)| one.until.is_some_and(|until| until > back.max(one.day)))
        {
            why.insert("in_use");
        }
        // What settled it until a later day settled something that was there.
        let outlived = |one: &Settled| one.until.is_some_and(|until| until > one.asked.day && until > back);
        if self.settled.values().any(|one| (one.asked.source == of || one.asked.target == of) && outlived(one)) {
            why.insert("has_allocations");
        }
        if let Err(locked) = self.opened(back) {
            why.extend(locked);
        }
        if !why.is_empty() {
            return Err(why);
        }
        for one in settling {
            self.release(one);
        }
        for fact in self.facts.iter_mut().filter(|fact| fact.source.0 == of) {
            fact.until = Some(back);
        }
        for change in self.changes.iter_mut().filter(|change| change.source.0 == of) {
            change.until = Some(back);
        }
        match &document.what {
            What::Credit(credit) => {
                let origin = self.documents.get_mut(&credit.of).unwrap();
                for ((place, quantity), share) in credit.lines.iter().zip(&document.lines) {
                    let (left, parts) = &mut origin.left[*place];
                    *left += quantity;
                    parts.move_by(share, 1);
                }
            }
            What::Return { of: origin, lines, .. } => self.give_back(*origin, lines.iter().copied()),
            What::Trade(trade) => {
                if let Some((origin, places)) = &trade.of {
                    let lines = places.iter().zip(&trade.lines).map(|(place, line)| (*place, line.quantity));
                    self.give_back(*origin, lines);
                }
            }
            _ => {}
        }
        self.documents.get_mut(&of).unwrap().until = Some(back);
        Ok(())
    }

    /// What waits of a note again. By its note a piece is worth a whole number of coins.
    fn give_back(&mut self, note: Key, lines: impl Iterator<Item = (usize, i128)>) {
        let origin = self.documents.get_mut(&note).unwrap();
        let What::Note(asked) = &origin.what else { panic!("what waits is of a note") };
        for (place, quantity) in lines {
            let (left, parts) = &mut origin.left[place];
            *left += quantity;
            parts.home_net += quantity * asked.lines[place].2 / 1_000;
        }
    }

    fn release(&mut self, key: Key) {
        let day = self.back_on(self.settled[&key].asked.day);
        let one = self.settled.get_mut(&key).unwrap();
        one.until = Some(day);
        let (asked, source_base, target_base) = (one.asked, one.source_base, one.target_base);
        let all = asked.amount + asked.discount + asked.written_off + asked.withheld;
        for (of, amount, base) in [(asked.source, asked.used, source_base), (asked.target, all, target_base)] {
            let open = self.documents.get_mut(&of).unwrap().open.as_mut().unwrap();
            (open.left, open.base_left) = (open.left + amount, open.base_left + base);
        }
    }

    fn allocate(&mut self, key: Key, asked: &Allocate) -> Result<(), Refusals> {
        self.opened(asked.day)?;
        let [source, target] =
            [asked.source, asked.target].map(|of| self.documents[&of].open.clone().expect("something open"));
        let all = asked.amount + asked.discount + asked.written_off + asked.withheld;
        // What was settled until a later day is not settled twice before it.
        let fits = |of: Key, wanted: i128, open: &Open| {
            (asked.day..DAYS).all(|day| self.taken_on(of, day) + wanted <= open.total) && wanted <= open.left
        };
        if !fits(asked.source, asked.used, &source) || !fits(asked.target, all, &target) {
            return Err(["over_allocated"].into());
        }
        let (source_base, target_base) = (source.relief(asked.used), target.relief(all));
        let discount = target.relief(asked.discount).min(target_base);
        let written_off = target.relief(asked.written_off).min(target_base - discount);
        let withheld =
            if asked.withheld == 0 { 0 } else { Fraction::new(source_base * asked.withheld, asked.amount).round() };
        let sign = target.sign();
        let [given, bad, kept] = if sign > 0 {
            [account::DISCOUNT_GIVEN, account::BAD_DEBT, account::KEPT_FROM_US]
        } else {
            [account::DISCOUNT_RECEIVED, account::DISCOUNT_RECEIVED, account::KEPT_BY_US]
        };
        let rest = target_base - discount - written_off - withheld - source_base;
        let post = [
            (target.control(), -target_base),
            (source.control(), source_base),
            (given, discount),
            (bad, written_off),
            (kept, withheld),
            (account::EXCHANGE, rest),
        ];
        let post = post.into_iter().map(|(account, amount)| (account, amount * sign)).collect();
        let mut tax = Vec::new();
        if withheld != 0 {
            let mut figures = TaxFigures::default();
            figures[if target.receivable { 5 } else { 6 }] = withheld;
            let code = CODES.iter().position(|(_, parts)| parts.iter().any(|one| one.kind == TaxKind::Withheld));
            tax.push(TaxRow { code, day: asked.day, figures });
        }
        for (of, amount, base) in [(asked.source, asked.used, source_base), (asked.target, all, target_base)] {
            let open = self.documents.get_mut(&of).unwrap().open.as_mut().unwrap();
            (open.left, open.base_left) = (open.left - amount, open.base_left - base);
        }
        self.settled.insert(key, Settled { asked: *asked, until: None, source_base, target_base, post, tax });
        Ok(())
    }

    pub fn worth(currency: usize, rate: i128, amount: i128) -> i128 {
        (Fraction::of(amount) * exchange(currency, rate)).round()
    }
}

impl Books {
    /// Whether more was paid to have its goods here.
    pub fn is_landed(&self, of: Key) -> bool {
        self.derived(of).any(|one| matches!(one.what, What::Landed { .. }))
    }

    pub fn sells(&self, of: Key) -> bool {
        matches!(&self.documents[&of].what, What::Trade(trade) if trade.sells)
    }

    pub fn currency(&self, of: Key) -> usize {
        self.documents[&of].open.as_ref().map_or(0, |open| open.currency)
    }
}
