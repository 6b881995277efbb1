//! Goods: what is there, what it is worth, what moved it, and what waits for an invoice.

mod ledger;
mod summary;
#[cfg(test)]
mod tests;
mod valuation;
mod waiting;

use crate::asked::Asked;
use crate::day::Day;
use crate::error::Result;
use crate::ids::RecordId;
use crate::money::Quantity;
use crate::sheet::{Cell, Own, Row, RowType};
use answers::Ask;
use books::among::among;
use books::balances::{balances, halves, sum};
use books::cx::{Cx, Point};
pub(super) use ledger::StockLedger;
use rules::account::AccountType;
use schema::account as accounts;
use schema::item as items;
use schema::reader::whole;
use schema::tables::stock_moves;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, Condition, QueryFilter, QuerySelect};
use std::collections::{HashMap, HashSet};
pub(super) use summary::StockSummary;
pub(super) use valuation::StockValuation;
pub(super) use waiting::{Delivered, Received, Waiting};
use words::sums::Figure;

/// What an item is called: its code and its name.
pub(super) async fn item_names(cx: &Cx<'_>, ids: impl Iterator<Item = RecordId>) -> Result<HashMap<RecordId, String>> {
    let found: Vec<(RecordId, Option<String>, String)> = items::Entity::find()
        .select_only()
        .columns([items::Column::Id, items::Column::Code, items::Column::Name])
        .filter(items::Column::BusinessId.eq(cx.business_id()?))
        .filter(among(cx, items::Column::Id, ids.collect::<HashSet<_>>()))
        .read(&cx.db)
        .await?;
    let named = |(id, code, name): (RecordId, Option<String>, String)| match code {
        Some(code) => (id, format!("{code} {name}")),
        None => (id, name),
    };
    Ok(found.into_iter().map(named).collect())
}

answers::of_row! {
    struct Sum {
        item_id: RecordId,
        high: i64,
        low: i64,
        value: i64,
    }
}

/// So many pieces; nothing where they are more than a quantity can say, as those of several items may be.
pub(crate) fn pieces(units: i128) -> Cell {
    Quantity::fitting(units).map_or(Cell::Nothing, Cell::Quantity)
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Stock {
    quantity: i128,
    value: i64,
}

impl Figure for Stock {
    const NOTHING: Self = Self { quantity: 0, value: 0 };
}

impl Stock {
    const fn plus(self, other: Self) -> Self {
        Self { quantity: self.quantity + other.quantity, value: self.value + other.value }
    }

    const fn minus(self, other: Self) -> Self {
        Self { quantity: self.quantity - other.quantity, value: self.value - other.value }
    }

    fn cells(self, own: Own) -> [Cell; 2] {
        [pieces(self.quantity), own.cell(self.value)]
    }
}

/// What moved items over some days: all of it, or only what came in.
async fn moved(
    cx: &Cx<'_>,
    (from, to): (Option<Day>, Day),
    asked: &Asked,
    only_in: bool,
) -> Result<HashMap<RecordId, Stock>> {
    let [high, low] = halves(cx, Expr::col(stock_moves::Column::Quantity));
    let mut moves = stock_moves::Entity::find()
        .select_only()
        .column(stock_moves::Column::ItemId)
        .column_as(high, "high")
        .column_as(low, "low")
        .column_as(sum(cx, Expr::col(stock_moves::Column::Value)), "value")
        .filter(stock_moves::Column::BusinessId.eq(cx.business_id()?))
        .filter(stock_moves::Column::Date.lte(to));
    if let Some(from) = from {
        moves = moves.filter(stock_moves::Column::Date.gte(from));
    }
    if let Some(at) = asked.point.known_at {
        moves = moves.filter(stock_moves::Column::RecordedAt.lte(at));
    }
    if let Some(item) = asked.item {
        moves = moves.filter(stock_moves::Column::ItemId.eq(item));
    }
    if only_in {
        // Pieces say which way they go; what moves the value alone says so by that.
        let alone = Condition::all().add(stock_moves::Column::Quantity.eq(0)).add(stock_moves::Column::Value.gt(0));
        moves = moves.filter(Condition::any().add(stock_moves::Column::Quantity.gt(0)).add(alone));
    }
    let found: Vec<Sum> = moves.group_by(stock_moves::Column::ItemId).read(&cx.db).await?;
    let stock = |row: &Sum| Stock { quantity: whole((row.high, row.low)), value: row.value };
    Ok(found.iter().map(|row| (row.item_id, stock(row))).collect())
}

/// What the inventory accounts come to at the end of a day.
async fn inventory(cx: &Cx<'_>, day: Day, point: Point) -> Result<i64> {
    let accounts: Vec<RecordId> = accounts::Entity::find()
        .select_only()
        .column(accounts::Column::Id)
        .filter(accounts::Column::BusinessId.eq(cx.business_id()?))
        .filter(accounts::Column::Type.eq(AccountType::Inventory))
        .column_of(&cx.db)
        .await?;
    let found = balances(cx, Some(&accounts), Point { as_of: Some(day), ..point }).await?;
    Ok(found.values().map(|balance| balance.base.units()).sum())
}

fn item_row(id: RecordId, names: &HashMap<RecordId, String>, values: Vec<Cell>) -> Row {
    Row {
        item_id: Some(id),
        ..Row::total(RowType::Item, &id.to_string(), names.get(&id).map_or("", String::as_str), values)
    }
}

fn by_name(names: &HashMap<RecordId, String>, ids: HashSet<RecordId>) -> Vec<RecordId> {
    let mut ids: Vec<RecordId> = ids.into_iter().collect();
    ids.sort_by_cached_key(|id| (names.get(id).cloned(), *id));
    ids
}

// ── Valuation ──
