//! What rows of the books say by themselves.

use crate::error::{Code, Error, Result};
use crate::ids::RecordId;
use crate::kind::Phase;
use crate::money::{Money, Quantity};
use crate::tables::{DocumentKind, FactKind, Stage, open_items, progress, stock_facts};

impl DocumentKind {
    pub const fn is_order(self) -> bool {
        matches!(self.trade(), Some((_, Phase::Order)))
    }

    /// Whether its stage says how far its documents are followed: what is delivered of an order, or invoiced of a note.
    pub const fn is_followed(self) -> bool {
        matches!(self.trade(), Some((_, Phase::Order | Phase::Goods)))
    }

    /// Whether its stage says how far its documents are settled.
    pub const fn is_settled(self) -> bool {
        matches!(self.trade(), Some((_, Phase::Bill | Phase::Credit)))
    }
}

pub fn too_many() -> Error {
    Error::conflict(Code::QuantityTooLarge, "The quantity would grow larger than it can be kept")
}

pub fn more(left: Quantity, right: Quantity) -> Result<Quantity> {
    left.checked_add(right).ok_or_else(too_many)
}

pub const fn less(left: Quantity, right: Quantity) -> Quantity {
    Quantity::from_units(left.units().saturating_sub(right.units()))
}

impl progress::Model {
    pub const fn is_order(&self) -> bool {
        self.kind.is_order()
    }

    /// Whether anything came of it.
    pub fn is_touched(&self) -> bool {
        [self.fulfilled, self.invoiced, self.returned].iter().any(|quantity| *quantity != Quantity::ZERO)
    }

    /// What is left: of an order to be fulfilled, of a note to be invoiced. Less than nothing where goods came back
    /// that were invoiced.
    pub fn open(&self) -> Quantity {
        let left = less(self.quantity, self.cancelled);
        if self.is_order() { less(left, self.fulfilled) } else { less(less(left, self.returned), self.invoiced) }
    }

    /// What of a note was invoiced, or came back before it was.
    pub fn taken(&self) -> Result<Quantity> {
        more(self.invoiced, self.returned)
    }
}

impl open_items::Model {
    /// Whether anything was allocated to it, or it to anything.
    pub fn is_touched(&self) -> bool {
        self.open != self.amount || self.base_open != self.base
    }

    /// How far it is settled.
    pub fn stage(&self) -> Stage {
        match self.open {
            Money::ZERO => Stage::Done,
            _ if self.is_touched() => Stage::Partial,
            _ => Stage::Open,
        }
    }
}

impl stock_facts::Model {
    /// By how much the stock grows.
    pub fn moves(&self) -> Quantity {
        match self.kind {
            FactKind::Receipt | FactKind::CustomerReturn => self.quantity,
            FactKind::Issue | FactKind::SupplierReturn => Quantity::from_units(-self.quantity.units()),
            _ => Quantity::ZERO,
        }
    }

    /// Whether it moves goods.
    pub const fn is_movement(&self) -> bool {
        matches!(self.kind, FactKind::Receipt | FactKind::Issue | FactKind::CustomerReturn | FactKind::SupplierReturn)
    }

    /// Whether what it cost is looked up by its line: it moves goods, or what they are worth.
    pub fn is_listed(&self) -> bool {
        self.is_movement() || (self.kind == FactKind::Standard && self.line_id != self.item_id)
    }

    /// The line whose goods wait for their invoice.
    pub fn waiting_line(&self) -> RecordId {
        self.of_line_id.unwrap_or(self.line_id)
    }
}
