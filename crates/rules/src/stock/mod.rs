//! Stock as a function of dated facts: what is there, what it is worth, what each movement cost, and what of it waits for
//! an invoice, as known on a day.
//!
//! `F(D)` are the facts of days up to D without those that were cancelled by then; [`replay`] values them in the order of
//! days, and within a day in the order of their places. What a cost changes on a later day changes the later day. Nothing
//! here knows what was posted: [`history`] says what the function changes on which day, and who posts takes the
//! difference of two histories.

pub mod days;
pub mod pools;
pub mod replay;
pub mod state;
pub mod there;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod laws;

pub use days::{Failed, History, Step, history, pools_of};
pub use pools::Pools;
pub use replay::Start;
pub use state::{Layer, Shortage, State};
pub use there::{Short, Since, first_shortage};

use words::day::Day;
use words::exact::{BookCoin, Exact};
use words::ids::RecordId;
use words::money::{BookMoney, Quantity, UnitPrice};
use words::sown::{Fault, sown};
use words::sums::Figure;

/// More than the books can hold.
pub use words::exact::TooLarge;

/// How what goes out is valued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Average,
    Fifo,
    Standard,
}

/// What an item is valued by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    pub method: Method,
    pub coin: BookCoin,
    /// What a unit costs before anything is known of it.
    pub first_cost: UnitPrice,
}

/// What a fact is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Goods come in at the amount that is given.
    Receipt,
    /// Goods go out at what they cost.
    Issue,
    /// Goods of an issue come back.
    CustomerReturn,
    /// Goods of a receipt go back.
    SupplierReturn,
    /// What came in earlier cost so much more; nothing moves.
    CostChange,
    /// What was received is billed: it waits no longer, and cost what the bill says.
    Bill,
    /// What was delivered is invoiced: it waits no longer, and is a cost of sales.
    Invoice,
    /// What came back, or went back, after its invoice or bill is credited.
    Credit,
    /// From that day on a unit is valued at the amount.
    Standard,
}

/// Where the other side of a movement stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// A document says the amount, and has its other side itself.
    Document,
    /// On the account where goods wait for their invoice.
    Waits,
    /// On the account of the cost.
    Cost,
}

/// What happened to the stock of an item.
#[derive(Debug, Clone, Copy)]
pub struct Fact {
    /// The line of a document that says so.
    pub line: RecordId,
    pub day: Day,
    /// The order within the day.
    pub place: i64,
    pub kind: Kind,
    pub side: Side,
    /// How many, never negative.
    pub quantity: Quantity,
    /// What the document says: what a receipt cost, by how much it cost more, what is billed or credited.
    pub amount: BookMoney,
    /// What a unit is worth from now on.
    pub standard: Option<UnitPrice>,
    /// The line that it comes back from, bills, invoices, credits, or whose cost it changes.
    pub of: Option<RecordId>,
    /// The day from which on it never was.
    pub cancelled: Option<Day>,
}

impl Fact {
    /// By how much the stock grows.
    pub const fn moves(&self) -> Quantity {
        match self.kind {
            Kind::Receipt | Kind::CustomerReturn => self.quantity,
            Kind::Issue | Kind::SupplierReturn => Quantity::from_units(-self.quantity.units()),
            Kind::CostChange | Kind::Bill | Kind::Invoice | Kind::Credit | Kind::Standard => Quantity::ZERO,
        }
    }

    /// Whether it counts at the end of a day.
    pub fn counts_on(&self, day: Day) -> bool {
        let never_was = sown(Fault::CancelledNeverWas);
        self.day <= day && self.cancelled.is_none_or(|cancelled| cancelled > day && !never_was)
    }

    /// Facts are valued in this order; a new standard cost comes before the day's movements.
    fn order(&self) -> (Day, bool, i64) {
        (self.day, self.kind != Kind::Standard, self.place)
    }
}

/// What a fact moves in the ledger, as known on a day. A debit is positive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Effect {
    /// On the inventory account.
    pub stock: BookMoney,
    /// On the account where goods wait for their invoice.
    pub waits: BookMoney,
    /// On the account of what goods cost.
    pub cost: BookMoney,
    /// Price variance; of what comes back at standard cost, and of a new one, the adjustment of inventory.
    pub variance: BookMoney,
}

impl Figure for Effect {
    const NOTHING: Self =
        Self { stock: BookMoney::ZERO, waits: BookMoney::ZERO, cost: BookMoney::ZERO, variance: BookMoney::ZERO };
}

impl Effect {
    pub fn plus(self, other: Self) -> Result<Self, TooLarge> {
        Ok(Self {
            stock: add(self.stock, other.stock)?,
            waits: add(self.waits, other.waits)?,
            cost: add(self.cost, other.cost)?,
            variance: add(self.variance, other.variance)?,
        })
    }

    pub fn minus(self, other: Self) -> Result<Self, TooLarge> {
        Ok(Self {
            stock: sub(self.stock, other.stock)?,
            waits: sub(self.waits, other.waits)?,
            cost: sub(self.cost, other.cost)?,
            variance: sub(self.variance, other.variance)?,
        })
    }

    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

impl Terms {
    /// A part of an amount; the whole quantity takes the whole amount.
    pub fn part(&self, whole: BookMoney, of: Quantity, all: Quantity) -> Result<BookMoney, TooLarge> {
        if sown(Fault::PieceLeavesDust) {
            let piece = Exact::from(whole).over(all)?.round(self.coin)?;
            return Exact::from(piece).times(of)?.round(self.coin);
        }
        if of == all {
            return Ok(whole);
        }
        Exact::from(whole).times(of)?.over(all)?.round(self.coin)
    }

    /// What so many come to at a price.
    pub fn times(&self, quantity: Quantity, price: UnitPrice) -> Result<BookMoney, TooLarge> {
        Exact::from(quantity).times(price)?.round(self.coin)
    }
}

pub fn add(left: BookMoney, right: BookMoney) -> Result<BookMoney, TooLarge> {
    left.checked_add(right).ok_or(TooLarge)
}

pub fn sub(left: BookMoney, right: BookMoney) -> Result<BookMoney, TooLarge> {
    left.checked_sub(right).ok_or(TooLarge)
}

pub fn neg(money: BookMoney) -> Result<BookMoney, TooLarge> {
    money.checked_neg().ok_or(TooLarge)
}

pub fn more(left: Quantity, right: Quantity) -> Result<Quantity, TooLarge> {
    left.checked_add(right).ok_or(TooLarge)
}

pub fn less(left: Quantity, right: Quantity) -> Result<Quantity, TooLarge> {
    left.checked_sub(right).ok_or(TooLarge)
}
