//! How the lines of a trade document move stock, and where goods wait that are not invoiced.

use super::follow::{Carried, Source, Sources};
use super::line::TradeLineAsked;
use super::posting::{Exchange, InBase, cost_of, stock_kind};
use super::settle::Items;
use super::{Direction, ReturnCost, TradeAsked, TradeFigures};
use crate::access::Business;
use crate::books::chart::{Chart, SystemRole};
use crate::books::stock::Wanted as Movement;
use crate::books::tables::{StockKind, stock_lines};
use crate::cx::Cx;
use crate::error::Result;
use crate::ids::RecordId;
use crate::money::{Money, Quantity};
use crate::resource::business::CogsTiming;
use crate::resource::item::{self, CostMethod, ItemType};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use std::collections::HashSet;
use std::sync::Arc;

/// Where goods wait for their invoice; nowhere if what is delivered costs at once.
pub(super) fn waiting_account(business: &Business, direction: Direction, chart: &Chart) -> Option<RecordId> {
    let role = match (direction.is_sale(), business.settings.cogs_timing) {
        (true, CogsTiming::Delivery) => return None,
        (true, CogsTiming::Invoice) => SystemRole::GoodsDeliveredNotInvoiced,
        (false, _) => SystemRole::GoodsReceivedNotInvoiced,
    };
    Some(chart.roles().id(role))
}

pub(super) fn goods_of<'i>(items: &'i Items, line: &TradeLineAsked) -> Option<&'i Arc<item::table::Model>> {
    line.item.and_then(|id| items.get(&id)).filter(|item| item.r#type == ItemType::Stock)
}

/// Movements of stock, of which those that come back may name a line that moved none.
pub(super) struct Movements(Vec<Movement>);

impl Movements {
    /// Keeps the names of lines that did move stock.
    pub(super) async fn await_sources(self, cx: &Cx<'_>) -> Result<Vec<Movement>> {
        let named: Vec<RecordId> = self.0.iter().filter_map(|one| one.returns).collect();
        if named.is_empty() {
            return Ok(self.0);
        }
        let moved: HashSet<RecordId> = stock_lines::Entity::find()
            .filter(stock_lines::Column::BusinessId.eq(cx.business_id()?))
            .filter(stock_lines::Column::LineId.is_in(named))
            .all(&cx.db)
            .await?
            .into_iter()
            .map(|line| line.line_id)
            .collect();
        let known = |one: Movement| Movement { returns: one.returns.filter(|line| moved.contains(line)), ..one };
        Ok(self.0.into_iter().map(known).collect())
    }
}

/// What says how a document's lines move stock.
pub(super) struct Moving<'w> {
    pub(super) direction: Direction,
    pub(super) asked: &'w TradeAsked,
    pub(super) chart: &'w Chart,
    pub(super) items: &'w Items,
    pub(super) sources: &'w Sources,
    /// The invoice that it credits.
    pub(super) source: Option<&'w Source>,
    pub(super) exchange: &'w Exchange<'w>,
    pub(super) base: &'w InBase,
    pub(super) figures: &'w TradeFigures,
}

impl Moving<'_> {
    fn in_role(&self, role: SystemRole) -> RecordId {
        self.chart.roles().id(role)
    }

    fn cost_account(&self, line: &TradeLineAsked) -> RecordId {
        let own = goods_of(self.items, line).and_then(|item| item.cogs_account_id);
        if self.direction.is_sale() {
            own.unwrap_or_else(|| self.in_role(SystemRole::CostOfSales))
        } else {
            self.in_role(SystemRole::PurchasePriceVariance)
        }
    }

    /// Whether a line credits a line of an invoice and its goods move by that.
    pub(super) fn brings_back(&self, line: &TradeLineAsked) -> bool {
        let direct = line.source_line.is_some() && self.sources.line(line).is_none();
        direct && self.asked.update_stock.unwrap_or(true) && goods_of(self.items, line).is_some()
    }

    /// Line by line, where goods that do not wait any longer cost something.
    pub(super) fn cost_accounts(&self) -> Vec<RecordId> {
        self.asked.lines.iter().map(|line| self.cost_account(line)).collect()
    }

    /// The line that left with goods which come back: that of the note, where the invoice billed one.
    fn left_with(&self, line: &TradeLineAsked) -> Option<RecordId> {
        let source = line.source_line?;
        let billed = self.source.and_then(|invoice| {
            let lines = &invoice.content.asked.lines;
            lines.iter().find(|known| known.id == Some(source))?.source_line
        });
        Some(billed.unwrap_or(source))
    }

    pub(super) fn movements(&self, carried: &[Option<Carried>], costs: &[Option<Money>]) -> Movements {
        if !self.asked.update_stock.unwrap_or(true) && !self.direction.is_goods() && carried.iter().all(Option::is_none)
        {
            return Movements(Vec::new());
        }
        if self.asked.is_opening {
            return Movements(Vec::new());
        }
        let lines = self.asked.lines.iter().enumerate();
        Movements(lines.filter_map(|(index, line)| self.movement(index, line, carried[index], costs[index])).collect())
    }

    fn movement(
        &self,
        index: usize,
        line: &TradeLineAsked,
        carried: Option<Carried>,
        asked_cost: Option<Money>,
    ) -> Option<Movement> {
        let (direction, asked, exchange) = (self.direction, self.asked, self.exchange);
        let item = goods_of(self.items, line)?;
        let quantity = line.quantity();
        let paid = cost_of(index, &self.figures.lines[index].figures, self.base, exchange).unwrap_or_default();
        let standard = item.standard_cost.filter(|_| item.cost_method == CostMethod::Standard);
        let followed = self.sources.line(line);
        let movement = Movement {
            line: line.id.unwrap_or_default(),
            line_no: i64::try_from(index).unwrap_or_default() + 1,
            item: item.clone(),
            kind: StockKind::Cost,
            quantity: Quantity::ZERO,
            cost: Money::ZERO,
            asked_cost: None,
            returns: line.source_line,
            inventory: item.inventory_account_id.unwrap_or_else(|| self.in_role(SystemRole::Inventory)),
            cost_account: self.cost_account(line),
        };
        if direction.bills() && followed.is_some_and(|followed| !followed.is_order()) {
            // The goods moved with the note; a bill may say that they cost something else.
            let more = carried.filter(|_| direction == Direction::PurchaseInvoice && standard.is_none());
            let cost = more.map(|carried| Money::from_units(paid.units().saturating_sub(carried.value.units())));
            return cost.filter(|cost| *cost != Money::ZERO).map(|cost| Movement { cost, ..movement });
        }
        if !asked.update_stock.unwrap_or(true) && !direction.is_goods() {
            return None;
        }
        let at_standard = standard.and_then(|cost| {
            let exact = cost.decimal().checked_mul(quantity.decimal())?;
            exchange.rounding.money(exact, exchange.decimals).ok()
        });
        let kind = stock_kind(direction, asked.is_return);
        let original = direction == Direction::DeliveryNote || asked.return_cost == ReturnCost::Original;
        Some(Movement {
            kind,
            quantity: if kind == StockKind::Issue {
                Quantity::from_units(quantity.units().saturating_neg())
            } else {
                quantity
            },
            cost: if kind == StockKind::Receipt { at_standard.unwrap_or(paid) } else { Money::ZERO },
            asked_cost: asked_cost.filter(|_| standard.is_none()),
            returns: self.left_with(line).filter(|_| kind == StockKind::Return && original),
            ..movement
        })
    }
}
