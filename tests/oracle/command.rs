//! What a stream asks for, so that it can be asked again, in another company, without some of it, or printed.

use super::tax::Line;

/// The name of a command: its number in the stream that it was made for.
pub type Key = u32;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    pub key: Key,
    /// Whether it is asked in dialect A.
    pub in_a: bool,
    pub what: What,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    Journal {
        day: usize,
        lines: Vec<(u16, i128)>,
    },
    Trade(Trade),
    Credit(Credit),
    Money(Money),
    Allocate(Allocate),
    Adjust {
        day: usize,
        item: usize,
        quantity: i128,
        cost: i128,
    },
    Note(Note),
    /// Goods of a note that come back, or go back: of which line, how many thousandths.
    Return {
        of: Key,
        day: usize,
        lines: Vec<(usize, i128)>,
    },
    /// What a piece of the standard item costs from a day on.
    Standard {
        day: usize,
        cost: i128,
    },
    /// What is paid beside the price of the goods of a bill, to one who carries them.
    Landed {
        of: Key,
        day: usize,
        party: usize,
        amount: i128,
        by_value: bool,
    },
    /// From the bank to the cash box, less a fee.
    Contra {
        day: usize,
        amount: i128,
        fee: i128,
    },
    Edit {
        of: Key,
        to: Box<Self>,
    },
    /// On its own day, or on one that is named.
    Void {
        of: Key,
        day: Option<usize>,
    },
    /// Everything up to a day.
    Lock(Option<usize>),
    /// The year that ends within the window.
    Close,
    Reopen,
}

/// An invoice or a bill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trade {
    pub sells: bool,
    pub day: usize,
    pub party: usize,
    pub currency: usize,
    pub rate: i128,
    pub inclusive: bool,
    /// In hundredths of a percent.
    pub off: i128,
    pub lines: Vec<Line>,
    /// The note that it bills, and for each line that of the note.
    pub of: Option<(Key, Vec<usize>)>,
}

/// Goods that are delivered or received before they are billed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    pub sells: bool,
    pub day: usize,
    pub party: usize,
    /// Of what, how many thousandths, and what a piece costs in coins.
    pub lines: Vec<(usize, i128, i128)>,
}

/// What gives back of lines of an invoice or a bill: of which line, how many thousandths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credit {
    pub of: Key,
    pub day: usize,
    pub lines: Vec<(usize, i128)>,
}

/// A receipt or a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Money {
    pub comes_in: bool,
    pub day: usize,
    pub party: usize,
    pub currency: usize,
    pub rate: i128,
    pub amount: i128,
    pub fee: i128,
    /// An account, an amount with its tax, and a tax code.
    pub direct: Option<(u16, i128, Option<usize>)>,
}

/// All amounts are in coins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allocate {
    pub source: Key,
    pub target: Key,
    pub day: usize,
    pub amount: i128,
    /// In the currency of what settles.
    pub used: i128,
    pub discount: i128,
    pub written_off: i128,
    pub withheld: i128,
}
