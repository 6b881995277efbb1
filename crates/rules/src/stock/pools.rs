//! What is left of a line: what of it waits for its invoice, what is invoiced, and what came back beyond what waited.

use super::{Terms, TooLarge, add, less, more, sub};
use words::money::{BookMoney, Quantity};
use words::sown::{Fault, sown};
use words::sums::Figure;

/// What is left of something. A part of it is a share of what is left, and the last takes the rest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Left {
    pub quantity: Quantity,
    /// What documents say that it is worth.
    pub said: BookMoney,
    /// What it cost: the same, and what else was paid to have it here.
    pub cost: BookMoney,
}

impl Left {
    pub const NOTHING: Self = Self::new(Quantity::ZERO, BookMoney::ZERO, BookMoney::ZERO);

    pub const fn new(quantity: Quantity, said: BookMoney, cost: BookMoney) -> Self {
        Self { quantity, said, cost }
    }

    /// Takes up to so many out.
    pub fn take(&mut self, terms: &Terms, quantity: Quantity) -> Result<Self, TooLarge> {
        let taken = Ord::min(quantity, self.quantity);
        if taken <= Quantity::ZERO {
            return Ok(Self::default());
        }
        let share = Self {
            quantity: taken,
            said: terms.part(self.said, taken, self.quantity)?,
            cost: terms.part(self.cost, taken, self.quantity)?,
        };
        *self = Self {
            quantity: less(self.quantity, taken)?,
            said: sub(self.said, share.said)?,
            cost: sub(self.cost, share.cost)?,
        };
        Ok(share)
    }

    pub fn put(&mut self, share: Self) -> Result<(), TooLarge> {
        *self = self.plus(share)?;
        Ok(())
    }

    pub fn plus(self, other: Self) -> Result<Self, TooLarge> {
        Ok(Self {
            quantity: more(self.quantity, other.quantity)?,
            said: add(self.said, other.said)?,
            cost: add(self.cost, other.cost)?,
        })
    }
}

/// Where the goods of a line stand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pools {
    /// Not invoiced yet.
    pub waiting: Left,
    /// Invoiced, or never to be.
    pub done: Left,
    /// Came back, or went back, after it was invoiced: a credit is to come.
    pub owed: Left,
}

impl Figure for Pools {
    const NOTHING: Self = Self { waiting: Left::NOTHING, done: Left::NOTHING, owed: Left::NOTHING };
}

impl Pools {
    pub fn new(all: Left, waits: bool) -> Self {
        if waits { Self { waiting: all, ..Self::default() } } else { Self { done: all, ..Self::default() } }
    }

    /// What is invoiced: out of what waits. What is beyond that came back before, and is not there.
    pub fn bill(&mut self, terms: &Terms, quantity: Quantity) -> Result<Left, TooLarge> {
        self.waiting.take(terms, quantity)
    }

    /// What goes back by a note: out of what waits, and beyond that out of what is invoiced. Both are answered.
    pub fn send_back(&mut self, terms: &Terms, quantity: Quantity) -> Result<(Left, Left), TooLarge> {
        let uncharged = self.waiting.take(terms, quantity)?;
        let charged = self.done.take(terms, less(quantity, uncharged.quantity)?)?;
        self.owed.put(charged)?;
        Ok((uncharged, charged))
    }

    /// What goes back with its credit: out of what is invoiced, and where an invoice is dated later, of what waits.
    pub fn credit_with_goods(&mut self, terms: &Terms, quantity: Quantity) -> Result<(Left, Left), TooLarge> {
        let charged = self.done.take(terms, quantity)?;
        let uncharged = self.waiting.take(terms, less(quantity, charged.quantity)?)?;
        Ok((uncharged, charged))
    }

    /// What is credited of what came back.
    pub fn credit(&mut self, terms: &Terms, quantity: Quantity) -> Result<Left, TooLarge> {
        self.owed.take(terms, quantity)
    }

    /// What it cost more. What of that falls to what waits is answered.
    pub fn cost_more(&mut self, terms: &Terms, cost: BookMoney) -> Result<BookMoney, TooLarge> {
        let all = more(self.waiting.quantity, self.done.quantity)?;
        let some = all > Quantity::ZERO && !sown(Fault::WaitingKeepsItsCost);
        let waits = if some { terms.part(cost, self.waiting.quantity, all)? } else { BookMoney::ZERO };
        self.waiting.cost = add(self.waiting.cost, waits)?;
        self.done.cost = add(self.done.cost, sub(cost, waits)?)?;
        Ok(waits)
    }
}
