//! The stock of one item, as it is valued movement by movement.

use super::pools::Left;
use super::{Method, Terms, TooLarge, add, less, more, neg, sub};
use serde::{Deserialize, Serialize};
use words::ids::RecordId;
use words::money::{BookMoney, Quantity, UnitPrice};
use words::sown::{Fault, sown};

/// Goods that came in together and are there yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    pub quantity: Quantity,
    pub value: BookMoney,
    /// The line that brought them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<RecordId>,
}

/// Quantity that went out and was not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shortage {
    /// The line that let it out.
    pub line: RecordId,
    pub quantity: Quantity,
    /// What it was booked at for the time being.
    pub provisional: BookMoney,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub quantity: Quantity,
    pub value: BookMoney,
    pub layers: Vec<Layer>,
    pub shortages: Vec<Shortage>,
    /// What was known last: so many cost so much.
    pub last: Option<(Quantity, BookMoney)>,
    /// What a unit is worth at standard cost.
    pub standard: Option<UnitPrice>,
}

/// What a receipt found out: what went out before it was there cost so much more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filled {
    pub line: RecordId,
    pub dearer: BookMoney,
}

impl State {
    fn at_last_cost(&self, terms: &Terms, quantity: Quantity) -> Result<BookMoney, TooLarge> {
        match self.last {
            Some((known, cost)) => terms.part(cost, quantity, known),
            None => terms.times(quantity, self.unit_cost(terms)),
        }
    }

    fn unit_cost(&self, terms: &Terms) -> UnitPrice {
        self.standard.unwrap_or(terms.first_cost)
    }

    /// The value at standard cost follows the quantity. By how much it rises is answered.
    fn revalued(&mut self, terms: &Terms) -> Result<BookMoney, TooLarge> {
        let value = terms.times(self.quantity, self.unit_cost(terms))?;
        let rise = sub(value, self.value)?;
        self.value = value;
        Ok(rise)
    }

    /// From now on a unit is worth so much. By how much the stock is worth more is answered.
    pub fn set_standard(&mut self, terms: &Terms, cost: UnitPrice) -> Result<BookMoney, TooLarge> {
        self.standard = Some(cost);
        let moves = terms.method == Method::Standard && !sown(Fault::StandardMovesNothing);
        if moves { self.revalued(terms) } else { Ok(BookMoney::ZERO) }
    }

    fn last_held(&mut self, quantity: Quantity, value: BookMoney) {
        if quantity > Quantity::ZERO {
            self.last = Some((quantity, value));
        }
    }

    /// Goods come in. What that adds to the stock is answered, and what it says of what was missing. What comes back of an issue
    /// (`of`) is what that let out: it is missing there no more, before it is found for anybody else.
    pub fn receive(
        &mut self,
        terms: &Terms,
        (line, of): (RecordId, Option<RecordId>),
        quantity: Quantity,
        cost: BookMoney,
    ) -> Result<(BookMoney, Vec<Filled>), TooLarge> {
        if terms.method == Method::Standard {
            self.quantity = more(self.quantity, quantity)?;
            return Ok((self.revalued(terms)?, Vec::new()));
        }
        self.last_held(quantity, cost);
        self.value = add(self.value, cost)?;
        self.quantity = more(self.quantity, quantity)?;
        let (mut left, mut left_cost) = (quantity, cost);
        let mut found = Vec::new();
        while left > Quantity::ZERO && !self.shortages.is_empty() {
            let place = self.next_hole(of);
            let shortage = self.shortages[place];
            let filled = Ord::min(left, shortage.quantity);
            let real = terms.part(left_cost, filled, left)?;
            let provisional = terms.part(shortage.provisional, filled, shortage.quantity)?;
            let dearer = if sown(Fault::HoleStaysOpen) { BookMoney::ZERO } else { sub(real, provisional)? };
            self.value = sub(self.value, dearer)?;
            (left, left_cost) = (less(left, filled)?, sub(left_cost, real)?);
            if filled == shortage.quantity {
                self.shortages.remove(place);
            } else {
                self.shortages[place] = Shortage {
                    quantity: less(shortage.quantity, filled)?,
                    provisional: sub(shortage.provisional, provisional)?,
                    ..shortage
                };
            }
            if dearer != BookMoney::ZERO {
                found.push(Filled { line: shortage.line, dearer });
            }
        }
        if terms.method == Method::Fifo && left > Quantity::ZERO {
            self.layers.push(Layer { quantity: left, value: left_cost, line: Some(line) });
        }
        Ok((cost, found))
    }

    /// The hole that is filled next: that of the issue of which something comes back, else the oldest.
    fn next_hole(&self, of: Option<RecordId>) -> usize {
        let own = |shortage: &Shortage| of == Some(shortage.line) && !sown(Fault::ReturnFillsAnyHole);
        match self.shortages.iter().position(own) {
            Some(place) if of.is_some() => place,
            _ => 0,
        }
    }

    /// What goods cost that come in and say nothing of it.
    pub fn current_cost(&self, terms: &Terms, quantity: Quantity) -> Result<BookMoney, TooLarge> {
        match terms.method {
            Method::Standard => terms.times(quantity, self.unit_cost(terms)),
            Method::Fifo if !self.layers.is_empty() => {
                let newest = self.layers[self.layers.len() - 1];
                terms.part(newest.value, quantity, newest.quantity)
            }
            Method::Average if self.quantity > Quantity::ZERO => terms.part(self.value, quantity, self.quantity),
            Method::Average | Method::Fifo => self.at_last_cost(terms, quantity),
        }
    }

    /// Goods go out. What they cost is answered.
    pub fn issue(&mut self, terms: &Terms, line: RecordId, quantity: Quantity) -> Result<BookMoney, TooLarge> {
        if terms.method == Method::Standard {
            self.quantity = less(self.quantity, quantity)?;
            return neg(self.revalued(terms)?);
        }
        let there = Ord::max(Ord::min(self.quantity, quantity), Quantity::ZERO);
        let mut cost = BookMoney::ZERO;
        if there > Quantity::ZERO {
            cost = if terms.method == Method::Fifo {
                self.take_the_oldest(terms, there)?
            } else {
                self.last_held(self.quantity, self.value);
                terms.part(self.value, there, self.quantity)?
            };
        }
        let missing = less(quantity, there)?;
        if missing > Quantity::ZERO {
            let free = sown(Fault::ShortageCostsNothing);
            let provisional = if free { BookMoney::ZERO } else { self.at_last_cost(terms, missing)? };
            self.shortages.push(Shortage { line, quantity: missing, provisional });
            cost = add(cost, provisional)?;
        }
        self.quantity = less(self.quantity, quantity)?;
        self.value = sub(self.value, cost)?;
        Ok(cost)
    }

    fn take_the_oldest(&mut self, terms: &Terms, quantity: Quantity) -> Result<BookMoney, TooLarge> {
        let (mut wanted, mut cost) = (quantity, BookMoney::ZERO);
        while wanted > Quantity::ZERO && !self.layers.is_empty() {
            let place = if sown(Fault::NewestFirst) { self.layers.len() - 1 } else { 0 };
            let taken = self.take_layer(terms, place, wanted)?;
            wanted = less(wanted, taken.quantity)?;
            cost = add(cost, taken.cost)?;
        }
        Ok(cost)
    }

    fn take_layer(&mut self, terms: &Terms, place: usize, wanted: Quantity) -> Result<Left, TooLarge> {
        let layer = self.layers[place];
        self.last_held(layer.quantity, layer.value);
        let taken = Ord::min(wanted, layer.quantity);
        let cost = terms.part(layer.value, taken, layer.quantity)?;
        self.shrink(place, taken, cost)?;
        Ok(Left::new(taken, cost, cost))
    }

    fn shrink(&mut self, place: usize, quantity: Quantity, value: BookMoney) -> Result<(), TooLarge> {
        let layer = self.layers[place];
        if quantity == layer.quantity {
            self.layers.remove(place);
        } else {
            self.layers[place] =
                Layer { quantity: less(layer.quantity, quantity)?, value: sub(layer.value, value)?, ..layer };
        }
        Ok(())
    }

    /// Goods go back to where they came from, at the share of their receipt where that leaves something of worth.
    pub fn send_back(
        &mut self,
        terms: &Terms,
        line: RecordId,
        receipt: RecordId,
        quantity: Quantity,
        share: BookMoney,
    ) -> Result<BookMoney, TooLarge> {
        match terms.method {
            Method::Average if quantity < self.quantity && share <= self.value => {
                self.last_held(self.quantity, self.value);
                self.quantity = less(self.quantity, quantity)?;
                self.value = sub(self.value, share)?;
                Ok(share)
            }
            Method::Average | Method::Standard => self.issue(terms, line, quantity),
            Method::Fifo => {
                let own = |layer: &Layer| layer.line == Some(receipt) && !sown(Fault::OwnLayerForgotten);
                let Some(place) = self.layers.iter().position(own) else {
                    return self.issue(terms, line, quantity);
                };
                let layer = self.layers[place];
                let taken = Ord::min(quantity, layer.quantity);
                let asked = terms.part(share, taken, quantity)?;
                self.last_held(layer.quantity, layer.value);
                // The last of a layer takes all that is there; nothing takes more than that.
                let cost = if taken == layer.quantity {
                    layer.value
                } else if asked <= layer.value {
                    asked
                } else {
                    terms.part(layer.value, taken, layer.quantity)?
                };
                self.shrink(place, taken, cost)?;
                self.quantity = less(self.quantity, taken)?;
                self.value = sub(self.value, cost)?;
                let rest = less(quantity, taken)?;
                if rest == Quantity::ZERO { Ok(cost) } else { add(cost, self.issue(terms, line, rest)?) }
            }
        }
    }
}
