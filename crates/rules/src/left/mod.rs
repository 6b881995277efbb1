//! What is left of a line, and the share that a part of it is.
//!
//! A credit is a part of an invoice's line, an invoice is a part of an order's: what it takes is a share of what was left
//! of the line, and the last share takes the rest. One rule for quantities, discounts, taxes, rates and costs, so that
//! what is taken to the last piece leaves exactly nothing, in any order.

mod tests;

use serde::{Deserialize, Serialize};
use words::exact::{BookCoin, Coin, Rounds as _, TooLarge};
use words::ids::RecordId;
use words::money::{BookMoney, Funds, Money, Quantity};
use words::portion::{Portion, Shares as _};

/// A component of the tax on a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaxPart<F = Money> {
    pub component: RecordId,
    /// Whether it is part of what the other side pays.
    pub charged: bool,
    pub amount: F,
    /// What of it can be claimed back on purchases.
    pub recoverable: F,
}

/// What a document states of a line, or what that is worth; the net follows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parts<F = Money> {
    /// Whether the gross amount has the tax in it.
    pub inclusive: bool,
    /// Quantity times price.
    pub gross: F,
    /// What was taken off, the line's share of the document's discount included.
    pub discount: F,
    /// In the order of their sequence.
    pub taxes: Vec<TaxPart<F>>,
}

/// The coins of the document and of the company.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coins {
    pub stated: Coin,
    pub base: BookCoin,
}

/// What is left of a line: its own less what all live ones took that were made of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Left {
    pub quantity: Quantity,
    /// In the document's currency.
    pub stated: Parts,
    /// In the company's currency.
    pub base: Parts<BookMoney>,
    /// What its goods cost.
    pub cost: BookMoney,
}

/// How much of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// So many pieces, and their share of the amounts.
    Quantity(Quantity),
    /// So much money as the line states it, after discounts; its pieces stay.
    Amount(Money),
    /// So many pieces for so much money.
    Both(Quantity, Money),
}

/// What a part takes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    pub quantity: Quantity,
    pub stated: Parts,
    pub base: Parts<BookMoney>,
    pub cost: BookMoney,
}

/// More than is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverTaken {
    /// There are so many pieces left.
    Quantity(Quantity),
    /// There is so much left of what the line states.
    Amount(Money),
}

impl<F: Funds> Parts<F> {
    /// After discounts: what another price is held against.
    pub fn amount(&self) -> Result<F, TooLarge> {
        self.gross.minus(self.discount)
    }

    /// What the other side pays of tax.
    pub fn charged(&self) -> Result<F, TooLarge> {
        self.taxes.iter().filter(|tax| tax.charged).map(|tax| tax.amount).try_fold(F::NOTHING, F::plus)
    }

    /// Without tax, after discounts.
    pub fn net(&self) -> Result<F, TooLarge> {
        let amount = self.amount()?;
        if self.inclusive { amount.minus(self.charged()?) } else { Ok(amount) }
    }

    pub fn total(&self) -> Result<F, TooLarge> {
        let amount = self.amount()?;
        if self.inclusive { Ok(amount) } else { amount.plus(self.charged()?) }
    }

    pub fn is_nothing(&self) -> bool {
        let none = |tax: &TaxPart<F>| tax.amount == F::NOTHING && tax.recoverable == F::NOTHING;
        self.gross == F::NOTHING && self.discount == F::NOTHING && self.taxes.iter().all(none)
    }

    fn each<G: Funds>(&self, of: impl Fn(F) -> G) -> Parts<G> {
        let tax = |tax: &TaxPart<F>| TaxPart {
            component: tax.component,
            charged: tax.charged,
            amount: of(tax.amount),
            recoverable: of(tax.recoverable),
        };
        Parts {
            inclusive: self.inclusive,
            gross: of(self.gross),
            discount: of(self.discount),
            taxes: self.taxes.iter().map(tax).collect(),
        }
    }

    /// The share of a portion. `amount` is what it comes to after discounts, where that is stated.
    fn part(&self, portion: Portion, amount: Option<F>, coin: F::Coin) -> Result<Self, TooLarge> {
        let mut share = self.each(|money| money.part(portion, coin));
        if let Some(amount) = amount.filter(|_| !portion.is_whole()) {
            // The discount has its share, and never more than there is of it.
            let off = self.discount.part(portion, coin);
            (share.gross, share.discount) = (amount.plus(off)?, off);
        }
        Ok(share)
    }

    /// Another's amounts with these; components of the same identifier are one.
    pub fn plus(&self, other: &Self) -> Result<Self, TooLarge> {
        let mut sum = self.clone();
        (sum.gross, sum.discount) = (sum.gross.plus(other.gross)?, sum.discount.plus(other.discount)?);
        for tax in &other.taxes {
            match sum.taxes.iter_mut().find(|known| known.component == tax.component) {
                Some(known) => {
                    known.amount = known.amount.plus(tax.amount)?;
                    known.recoverable = known.recoverable.plus(tax.recoverable)?;
                }
                None => sum.taxes.push(*tax),
            }
        }
        Ok(sum)
    }

    /// What is left of these without another's.
    pub fn minus(&self, other: &Self) -> Result<Self, TooLarge> {
        self.plus(&other.each(F::negated))
    }
}

impl Parts {
    /// The same in the books, of a document that is in the company's own currency: one currency, one figure.
    pub fn at_par(&self) -> Parts<BookMoney> {
        self.each(Money::at_par)
    }
}

impl Left {
    /// Takes a part of what is left. What is refused takes nothing.
    pub fn take(&mut self, part: Part, coins: Coins) -> Result<Share, OverTaken> {
        let amount = self.stated.amount().map_err(|TooLarge| OverTaken::Amount(self.stated.gross))?;
        let (quantity, wanted) = match part {
            Part::Quantity(quantity) => (quantity, None),
            Part::Amount(wanted) => (Quantity::ZERO, Some(wanted)),
            Part::Both(quantity, wanted) => (quantity, Some(wanted)),
        };
        let of_goods = Portion::of(quantity, self.quantity).ok_or(OverTaken::Quantity(self.quantity))?;
        let of_money = match wanted {
            None => of_goods,
            Some(wanted) => Portion::of(wanted, amount).ok_or(OverTaken::Amount(amount))?,
        };
        let too_large = |TooLarge| OverTaken::Amount(amount);
        let stated = self.stated.part(of_money, wanted, coins.stated).map_err(too_large)?;
        // Where it is worth what it states, so is every part of it, whatever is stated of that.
        let at_par = self.base == self.stated.at_par() && coins.base.coin() == coins.stated;
        let base =
            if at_par { stated.at_par() } else { self.base.part(of_money, None, coins.base).map_err(too_large)? };
        let share = Share { quantity, stated, base, cost: self.cost.part(of_goods, coins.base) };
        *self = self.without(&share).map_err(too_large)?;
        Ok(share)
    }

    /// What is left when a live one took its share.
    pub fn without(&self, share: &Share) -> Result<Self, TooLarge> {
        Ok(Self {
            quantity: self.quantity.minus(share.quantity)?,
            stated: self.stated.minus(&share.stated)?,
            base: self.base.minus(&share.base)?,
            cost: self.cost.minus(share.cost)?,
        })
    }

    /// Several lines taken for one, such as all of a tax code.
    pub fn with(&self, other: &Self) -> Result<Self, TooLarge> {
        Ok(Self {
            quantity: self.quantity.plus(other.quantity)?,
            stated: self.stated.plus(&other.stated)?,
            base: self.base.plus(&other.base)?,
            cost: self.cost.plus(other.cost)?,
        })
    }

    /// Whether nothing is left to be taken.
    pub fn is_nothing(&self) -> bool {
        self.quantity == Quantity::ZERO
            && self.stated.is_nothing()
            && self.base.is_nothing()
            && self.cost == BookMoney::ZERO
    }
}

impl Share {
    /// Two shares of lines that one line follows, taken for one.
    pub fn with(&self, other: &Self) -> Result<Self, TooLarge> {
        Ok(Self {
            quantity: self.quantity.plus(other.quantity)?,
            stated: self.stated.plus(&other.stated)?,
            base: self.base.plus(&other.base)?,
            cost: self.cost.plus(other.cost)?,
        })
    }
}
