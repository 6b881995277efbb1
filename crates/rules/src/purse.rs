//! Money in other currencies as a dated function: what it is carried at on the evening of each day.
//!
//! What comes in is carried at what it was worth then. What goes out takes its share of what all of it is carried at, and
//! the last takes the rest; what a document said that it was worth beyond that share is a gain or a loss of exchange. Debts
//! of a card or an overdrawn account are the same with their sides exchanged. Nothing here knows what was posted: whoever
//! posts takes the difference to it.

mod tests;

use std::collections::{BTreeMap, BTreeSet};
use words::day::Day;
use words::exact::{BookCoin, Exact, TooLarge};
use words::money::{BookMoney, Money};

/// What there is of a currency on an account; what is owed is negative.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Purse {
    pub own: Money,
    /// What that is carried at, in the company's currency.
    pub carried: BookMoney,
}

impl words::sums::Figure for Purse {
    const NOTHING: Self = Self { own: Money::ZERO, carried: BookMoney::ZERO };
}

/// What an entry moves in a purse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Move {
    /// Which purse, by its place.
    pub purse: usize,
    pub day: Day,
    /// The entry: its moves stand together.
    pub entry: i64,
    pub own: Money,
    /// What its document says that this is worth.
    pub said: BookMoney,
    /// The day from which on it never was.
    pub until: Option<Day>,
    /// It is carried at what its document says, whatever there was.
    pub as_said: bool,
    /// What leaves one purse for another brings along what it was carried at.
    pub brings_along: bool,
}

impl Move {
    fn counts_on(&self, day: Day) -> bool {
        self.day <= day && self.until.is_none_or(|until| until > day)
    }
}

fn part(whole: BookMoney, of: Money, all: Money, coin: BookCoin) -> Result<BookMoney, TooLarge> {
    if of == all {
        return Ok(whole);
    }
    Exact::from(whole).times(of)?.over(all)?.round(coin)
}

impl Purse {
    /// By how much an amount changes what all of it is carried at.
    fn take(&mut self, own: Money, said: BookMoney, coin: BookCoin) -> Result<BookMoney, TooLarge> {
        let grows = self.own == Money::ZERO || own == Money::ZERO || self.own.is_negative() == own.is_negative();
        let (size, there) = (own.size(), self.own.size());
        let change = if grows {
            said
        } else if size <= there {
            part(self.carried, size, there, coin)?.negated()
        } else {
            // All that there was, and what is beyond at what is said of it.
            part(said, size.minus(there)?, size, coin)?.minus(self.carried)?
        };
        *self = Self { own: self.own.plus(own)?, carried: self.carried.plus(change)? };
        Ok(change)
    }
}

/// What the moves of one entry do.
fn book(purses: &mut [Purse], entry: &[&Move], coin: BookCoin) -> Result<(), TooLarge> {
    let leaves = |one: &Move| one.brings_along && one.own.is_negative();
    // What left was carried at so much less than was said.
    let mut less = BookMoney::ZERO;
    for first in [true, false] {
        for one in entry.iter().filter(|one| leaves(one) == first) {
            let Some(purse) = purses.get_mut(one.purse) else { continue };
            if one.as_said {
                *purse = Purse { own: purse.own.plus(one.own)?, carried: purse.carried.plus(one.said)? };
            } else if first {
                less = less.plus(purse.take(one.own, one.said, coin)?.minus(one.said)?)?;
            } else {
                let brought = if one.brings_along { std::mem::take(&mut less) } else { BookMoney::ZERO };
                purse.take(one.own, one.said.minus(brought)?, coin)?;
            }
        }
    }
    Ok(())
}

/// What each purse is carried at on the evening of every day on which something moves, or never was from then on. The
/// moves stand in the order of their days, and within a day in the order in which they count.
pub fn evenings(start: &[Purse], moves: &[Move], coin: BookCoin) -> Result<BTreeMap<Day, Vec<BookMoney>>, TooLarge> {
    let days: BTreeSet<Day> = moves.iter().flat_map(|one| [Some(one.day), one.until]).flatten().collect();
    // What never was from such a day on was there until then: all is valued anew without it.
    let anew: BTreeSet<Day> = moves.iter().filter_map(|one| one.until.filter(|until| *until > one.day)).collect();
    let mut evenings = BTreeMap::new();
    let (mut purses, mut done) = (start.to_vec(), 0);
    for day in days {
        if anew.contains(&day) {
            (purses, done) = (start.to_vec(), 0);
        }
        let end = moves.partition_point(|one| one.day <= day);
        let counting: Vec<&Move> = moves.iter().take(end).skip(done).filter(|one| one.counts_on(day)).collect();
        for entry in counting.chunk_by(|one, next| one.entry == next.entry) {
            book(&mut purses, entry, coin)?;
        }
        done = end;
        evenings.insert(day, purses.iter().map(|purse| purse.carried).collect());
    }
    Ok(evenings)
}
