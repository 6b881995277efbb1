//! How the lines of a trade document move stock, and where goods wait that are not invoiced.

use super::derivation::{Source, Sources};
use super::landed::Received;
use super::line::TradeLineAsked;
use super::posting::{Exchange, InBase, cost_of};
use super::work_out::{Items, too_large};
use super::{Direction, ReturnCost, TradeAsked, TradeFigures};
use crate::document::identity;
use crate::error::{Error, Result};
use crate::field::Faults;
use crate::ids::RecordId;
use crate::money::{BookMoney, Quantity, UnitPrice};
use books::access::Business;
use books::chart::{Chart, SystemRole};
use books::stock::{Accounts, Wanted};
use schema::business::CogsTiming;
use schema::item::ItemType;
use schema::tables::{FactKind, FactSide};
use std::sync::Arc;
use words::sown::{Fault, sown};

/// Where goods wait for their invoice; nowhere if what is delivered costs at once.
pub(crate) fn waiting_account(business: &Business, direction: Direction, chart: &Chart) -> Option<RecordId> {
    let role = match (direction.is_sale(), business.settings.cogs_timing) {
        (true, CogsTiming::Delivery) => return None,
        (true, CogsTiming::Invoice) => SystemRole::GoodsDeliveredNotInvoiced,
        (false, _) => SystemRole::GoodsReceivedNotInvoiced,
    };
    Some(chart.roles().id(role))
}

pub(crate) fn goods_of<'i>(items: &'i Items, line: &TradeLineAsked) -> Option<&'i Arc<schema::item::Model>> {
    line.item.and_then(|id| items.get(&id)).filter(|item| item.r#type == ItemType::Stock)
}

/// What goods cost is never below nothing, whoever says it.
const BELOW_NOTHING: &str = "must not be negative";

/// Judges a cost that somebody states.
pub(crate) fn check_cost(faults: &mut Faults, field: &str, cost: Option<UnitPrice>) {
    if cost.is_some_and(UnitPrice::is_negative) {
        faults.add(field, BELOW_NOTHING);
    }
}

/// Judges what goods of a line cost once its tax is taken out of its price.
fn check_paid(index: usize, kind: FactKind, paid: BookMoney) -> Result<()> {
    let costs = matches!(kind, FactKind::Receipt | FactKind::Bill) && !sown(Fault::GoodsCostLessThanNothing);
    if !costs || !paid.is_negative() {
        return Ok(());
    }
    Err(Error::field(&format!("lines[{index}].unitPrice"), format!("{BELOW_NOTHING}: without tax, goods cost {paid}")))
}

/// What says how a document's lines move stock.
pub(crate) struct Moving<'w> {
    pub(crate) direction: Direction,
    pub(crate) asked: &'w TradeAsked,
    pub(crate) chart: &'w Chart,
    pub(crate) items: &'w Items,
    pub(crate) sources: &'w Sources,
    /// The receipts whose cost it changes.
    pub(crate) received: &'w Received,
    /// The invoice that it credits.
    pub(crate) source: Option<&'w Source>,
    pub(crate) exchange: &'w Exchange<'w>,
    pub(crate) base: &'w InBase,
    pub(crate) figures: &'w TradeFigures,
}

impl Moving<'_> {
    fn in_role(&self, role: SystemRole) -> RecordId {
        self.chart.roles().id(role)
    }

    fn accounts(&self, item: &schema::item::Model, waits: Option<RecordId>) -> Accounts {
        let inventory = item.inventory_account_id.unwrap_or_else(|| self.in_role(SystemRole::Inventory));
        let variance = self.in_role(SystemRole::PurchasePriceVariance);
        if !self.direction.is_sale() {
            return Accounts { inventory, cost: variance, variance, waits };
        }
        let cost = item.cogs_account_id.unwrap_or_else(|| self.in_role(SystemRole::CostOfSales));
        // What comes back at standard cost, and left with another, is not what was paid for it.
        Accounts { inventory, cost, variance: self.in_role(SystemRole::InventoryAdjustment), waits }
    }

    /// Whether a line credits a line of an invoice and its goods move by that.
    pub(crate) fn brings_back(&self, line: &TradeLineAsked) -> bool {
        let direct = line.source_line.is_some() && self.sources.line(line).is_none();
        direct && self.moves_goods() && goods_of(self.items, line).is_some()
    }

    /// Whether goods move where they go with a document that charges or credits.
    fn moves_goods(&self) -> bool {
        self.asked.update_stock.unwrap_or(true)
    }

    /// The line that left with goods which come back: that of the note, where the invoice billed one.
    fn left_with(&self, line: &TradeLineAsked) -> Option<RecordId> {
        let source = line.source_line?;
        let billed = self.source.and_then(|invoice| {
            let lines = &invoice.content.asked.lines;
            lines.iter().find(|known| known.id == Some(source))?.source_line
        });
        // An order moved nothing itself; the invoice that billed it did.
        Some(billed.filter(|billed| self.sources.is_of_note(*billed)).unwrap_or(source))
    }

    /// What a document says of stock. `waits` are the accounts on which goods of its lines wait.
    pub(crate) fn facts(&self, waits: &[Option<RecordId>]) -> Result<Vec<Wanted>> {
        if self.asked.is_opening {
            return Ok(Vec::new());
        }
        let mut facts = Vec::new();
        for (index, line) in self.asked.lines.iter().enumerate() {
            if self.received.changes(self.direction, self.asked, self.sources, line) {
                self.dearer(index, line, &mut facts)?;
                continue;
            }
            let Some(item) = goods_of(self.items, line) else { continue };
            let Some(said) = self.said(index, line, waits[index])? else { continue };
            check_paid(index, said.kind, said.amount)?;
            facts.push(Wanted {
                line: identity(line.id)?,
                item: item.clone(),
                kind: said.kind,
                side: said.side,
                quantity: line.quantity(),
                amount: said.amount,
                of: said.of,
                standard: None,
                accounts: self.accounts(item, waits[index]),
            });
        }
        Ok(facts)
    }

    /// What a line says that goods cost more which were received earlier. What is to come stands where it will wait.
    fn dearer(&self, index: usize, line: &TradeLineAsked, facts: &mut Vec<Wanted>) -> Result<()> {
        let (about, paid) = ((self.direction, self.asked, self.sources), self.paid(index)?);
        let waits = Some(self.in_role(SystemRole::GoodsReceivedNotInvoiced));
        for (receipt, amount) in self.received.shares(about, line, paid, self.exchange.home.coin).map_err(too_large)? {
            facts.push(Wanted {
                line: identity(line.id)?,
                item: receipt.item.clone(),
                kind: FactKind::CostChange,
                side: FactSide::Document,
                quantity: Quantity::ZERO,
                amount,
                of: Some(receipt.line),
                standard: None,
                accounts: self.accounts(&receipt.item, waits),
            });
        }
        Ok(())
    }

    /// What a line of goods costs in the company's currency.
    fn paid(&self, index: usize) -> Result<BookMoney> {
        cost_of(index, &self.figures.lines[index].figures, self.base, self.exchange).map_err(too_large)
    }

    /// What one says that bills goods of a note: at the rate at which they were received.
    fn billed(&self, index: usize, note: RecordId) -> Result<BookMoney> {
        let source = self.sources.document(note).filter(|source| source.row.currency == self.exchange.currency);
        let rate = source.and_then(|source| source.content.asked.exchange_rate);
        match rate.filter(|rate| *rate != self.exchange.rate) {
            Some(rate) => {
                let at_its_rate = Exchange { rate, ..*self.exchange };
                let figures: Vec<_> = self.figures.lines.iter().map(|line| line.figures.clone()).collect();
                let base = InBase::of(&figures, &self.figures.totals, &at_its_rate).map_err(too_large)?;
                cost_of(index, &figures[index], &base, &at_its_rate).map_err(too_large)
            }
            None => self.paid(index),
        }
    }

    fn said(&self, index: usize, line: &TradeLineAsked, waits: Option<RecordId>) -> Result<Option<Said>> {
        let (direction, asked) = (self.direction, self.asked);
        let (is_sale, followed) = (direction.is_sale(), self.sources.line(line));
        let said = |kind, side, amount, of| Ok(Some(Said { kind, side, amount, of }));
        let where_it_waits = if waits.is_some() { FactSide::Waits } else { FactSide::Cost };
        if direction.is_goods() {
            return match (is_sale, asked.is_return) {
                (true, false) => said(FactKind::Issue, where_it_waits, BookMoney::ZERO, None),
                (true, true) => said(FactKind::CustomerReturn, where_it_waits, BookMoney::ZERO, line.source_line),
                (false, false) => said(FactKind::Receipt, FactSide::Waits, self.paid(index)?, None),
                (false, true) => said(FactKind::SupplierReturn, FactSide::Waits, self.paid(index)?, line.source_line),
            };
        }
        if let Some(note) = followed.filter(|followed| !followed.is_order()) {
            // The goods moved with the note. Where nothing of them waits, nothing is left to say.
            if waits.is_none() {
                return Ok(None);
            }
            let origin = Some(note.source_line_id.filter(|_| note.is_return).unwrap_or(note.line_id));
            return match (is_sale, direction.credits()) {
                (true, false) => said(FactKind::Invoice, FactSide::Cost, BookMoney::ZERO, origin),
                (true, true) => said(FactKind::Credit, FactSide::Cost, BookMoney::ZERO, origin),
                (false, false) => {
                    said(FactKind::Bill, FactSide::Document, self.billed(index, note.document_id)?, origin)
                }
                (false, true) => said(FactKind::Credit, FactSide::Document, self.paid(index)?, origin),
            };
        }
        if !self.moves_goods() {
            return Ok(None);
        }
        let origin = self.left_with(line).filter(|_| asked.return_cost == ReturnCost::Original);
        match direction {
            Direction::SalesInvoice => said(FactKind::Issue, FactSide::Cost, BookMoney::ZERO, None),
            Direction::PurchaseInvoice => said(FactKind::Receipt, FactSide::Document, self.paid(index)?, None),
            Direction::CreditNote => said(FactKind::CustomerReturn, FactSide::Cost, BookMoney::ZERO, origin),
            Direction::DebitNote => said(FactKind::SupplierReturn, FactSide::Document, self.paid(index)?, origin),
            _ => Ok(None),
        }
    }
}

/// What a line says of stock.
struct Said {
    kind: FactKind,
    side: FactSide,
    amount: BookMoney,
    of: Option<RecordId>,
}
