//! Stock: whether what is posted, kept and carried is what the facts come to, valued anew from the first.

use super::{Check, Findings, Wide, shown};
use crate::books::balances::sum;
use crate::books::stock::{Story, story};
use crate::books::tables::{DocumentKind, progress, stock, stock_facts, stock_lines, stock_moves, stock_snapshots};
use crate::cx::Cx;
use crate::day::Day;
use crate::error::Result;
use crate::ids::RecordId;
use crate::money::{Money, Quantity};
use crate::resource::fiscal_year::{FiscalYearStatus, table as years};
use crate::resource::item;
use crate::resource::lock::table as locks;
use rules::stock::{Effect, History, State};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// Two sums that must be one, and where they are not.
#[derive(Default)]
struct Held {
    kept: Wide,
    found: Wide,
    findings: Findings,
}

impl Held {
    fn against(&mut self, kept: Money, found: Money, what: impl FnOnce() -> String) {
        self.kept += Wide::from(kept.units());
        self.found += Wide::from(found.units());
        if kept != found {
            self.findings.add(format!(
                "{}: {}, its facts say {}",
                what(),
                kept.with_decimals(2),
                found.with_decimals(2)
            ));
        }
    }

    fn check(self, id: &str, name: &str) -> Check {
        Check::of(id, name, shown(self.kept), shown(self.found), self.findings)
    }
}

/// What is found item by item.
#[derive(Default)]
struct Goods {
    days: Held,
    costs: Held,
    states: Held,
    received: Held,
    delivered: Held,
    /// What facts say that waits, line by line.
    waits: HashMap<RecordId, Money>,
}

pub(super) async fn checks(cx: &Cx<'_>) -> Result<Vec<Check>> {
    let business = cx.business_id()?;
    let mut ids: Vec<RecordId> = stock_facts::Entity::find()
        .select_only()
        .column(stock_facts::Column::ItemId)
        .filter(stock_facts::Column::BusinessId.eq(business))
        .distinct()
        .into_tuple()
        .all(&cx.db)
        .await?;
    let states: Vec<RecordId> = stock::Entity::find()
        .select_only()
        .column(stock::Column::ItemId)
        .filter(stock::Column::BusinessId.eq(business))
        .into_tuple()
        .all(&cx.db)
        .await?;
    ids.extend(states);
    let closed = ever_closed(cx).await?;
    let mut goods = Goods::default();
    for id in ids.into_iter().collect::<BTreeSet<_>>() {
        cx.pause().await?;
        let Some(item) = item::load(&cx.db, business, &HashSet::from([id])).await?.into_iter().next() else { continue };
        let story = story(cx, &Arc::new(item)).await?;
        goods.hold_states(cx, id, &story.history).await?;
        goods.hold_costs(cx, id, &story).await?;
        goods.hold_days(cx, id, &story.history, closed).await?;
    }
    goods.hold_waiting(cx).await?;
    let Goods { days, costs, states, received, delivered, .. } = goods;
    Ok(vec![
        days.check("S1", "On every open day the stock is worth what its facts come to"),
        costs.check("S2", "Each movement cost what its facts come to"),
        states.check("S4", "Where the stock stands is what its facts come to"),
        received.check("A1", "What is received and not billed is what its facts come to, line by line"),
        delivered.check("A2", "What is delivered and not invoiced is what its facts come to, line by line"),
    ])
}

/// The last day that ever was closed: what came late by then stands on a later day.
async fn ever_closed(cx: &Cx<'_>) -> Result<Option<Day>> {
    let business = cx.business_id()?;
    let locks = locks::Entity::find().filter(locks::Column::BusinessId.eq(business)).all(&cx.db).await?;
    let years = years::Entity::find()
        .filter(years::Column::BusinessId.eq(business))
        .filter(years::Column::Status.ne(FiscalYearStatus::Open))
        .all(&cx.db)
        .await?;
    let of_locks = locks.iter().flat_map(|lock| [lock.lock_date, lock.stock_lock_date, lock.hard_lock_date]).flatten();
    Ok(of_locks.chain(years.iter().map(|year| year.ends)).max())
}

impl Goods {
    async fn hold_states(&mut self, cx: &Cx<'_>, item: RecordId, history: &History) -> Result<()> {
        let business = cx.business_id()?;
        let kept = stock::Entity::find_by_id((business, item)).one(&cx.db).await?;
        let of = |state: &State| (state.quantity, state.value);
        let (quantity, value) = kept.map_or((Quantity::ZERO, Money::ZERO), |row| (row.quantity, row.value));
        let found = of(&history.state);
        self.states.against(value, found.1, || format!("item {item}: {quantity} in stock, worth"));
        if quantity != found.0 {
            self.states.findings.add(format!("item {item}: {quantity} in stock, its facts say {}", found.0));
        }
        let snapshots = stock_snapshots::Entity::find()
            .filter(stock_snapshots::Column::BusinessId.eq(business))
            .filter(stock_snapshots::Column::ItemId.eq(item))
            .all(&cx.db)
            .await?;
        for snapshot in snapshots {
            let then = history.states.range(..=snapshot.date).next_back().map(|(_, state)| state);
            if then != Some(&snapshot.state.0) {
                let day = snapshot.date;
                self.states.findings.add(format!("item {item}: what is kept of the evening of {day} is not what was"));
            }
        }
        Ok(())
    }

    async fn hold_costs(&mut self, cx: &Cx<'_>, item: RecordId, story: &Story) -> Result<()> {
        let mut totals: BTreeMap<usize, Effect> = BTreeMap::new();
        for step in &story.history.steps {
            let sum = totals.entry(step.fact).or_default();
            *sum = sum.plus(step.by).map_err(crate::books::stock::too_large)?;
        }
        let lines = stock_lines::Entity::find()
            .filter(stock_lines::Column::BusinessId.eq(cx.business_id()?))
            .filter(stock_lines::Column::ItemId.eq(item))
            .all(&cx.db)
            .await?;
        let mut kept: HashMap<(Day, i64), Money> =
            lines.into_iter().map(|line| ((line.date, line.sequence), line.cost)).collect();
        let none = Effect::default();
        for (at, row) in story.facts.iter().enumerate() {
            let total = totals.get(&at).unwrap_or(&none);
            let waits = self.waits.entry(row.waiting_line()).or_default();
            *waits = rules::stock::add(*waits, total.waits).map_err(crate::books::stock::too_large)?;
            if story.cancelled.contains_key(&row.id) || !row.is_listed() {
                continue;
            }
            if let Some(cost) = kept.remove(&(row.date, row.place)) {
                self.costs.against(cost, total.stock, || format!("line {} on {}: it cost", row.line_id, row.date));
            } else {
                let line = row.line_id;
                self.costs.findings.add(format!("line {line}: it moves stock, and nothing is kept of what it cost"));
            }
        }
        for (day, _) in kept.into_keys() {
            self.costs.findings.add(format!("item {item}: a movement on {day} has no fact"));
        }
        Ok(())
    }

    async fn hold_days(&mut self, cx: &Cx<'_>, item: RecordId, history: &History, closed: Option<Day>) -> Result<()> {
        let moved: Vec<(Day, i64, i64)> = stock_moves::Entity::find()
            .select_only()
            .column(stock_moves::Column::Date)
            .column_as(sum(cx, Expr::col(stock_moves::Column::Quantity)), "quantity")
            .column_as(sum(cx, Expr::col(stock_moves::Column::Value)), "value")
            .filter(stock_moves::Column::BusinessId.eq(cx.business_id()?))
            .filter(stock_moves::Column::ItemId.eq(item))
            .group_by(stock_moves::Column::Date)
            .into_tuple()
            .all(&cx.db)
            .await?;
        let moved: BTreeMap<Day, (i64, i64)> =
            moved.into_iter().map(|(day, quantity, value)| (day, (quantity, value))).collect();
        let days: BTreeSet<Day> = moved.keys().chain(history.states.keys()).copied().collect();
        let mut there = (0_i64, 0_i64);
        for day in days {
            let by = moved.get(&day).copied().unwrap_or_default();
            there = (there.0.saturating_add(by.0), there.1.saturating_add(by.1));
            if closed.is_some_and(|closed| day <= closed) {
                continue;
            }
            let state = history.states.range(..=day).next_back().map(|(_, state)| (state.quantity, state.value));
            let (quantity, value) = state.unwrap_or_default();
            self.days.against(Money::from_units(there.1), value, || format!("item {item} on {day}"));
            if quantity.units() != there.0 {
                let kept = Quantity::from_units(there.0);
                self.days.findings.add(format!("item {item} on {day}: {kept} moved so far, its facts say {quantity}"));
            }
        }
        Ok(())
    }

    async fn hold_waiting(&mut self, cx: &Cx<'_>) -> Result<()> {
        let lines = progress::Entity::find()
            .filter(progress::Column::BusinessId.eq(cx.business_id()?))
            .filter(progress::Column::Kind.is_in([DocumentKind::DeliveryNote, DocumentKind::ReceiptNote]))
            .all(&cx.db)
            .await?;
        for line in lines {
            let found = self.waits.remove(&line.line_id).unwrap_or_default();
            let held = if line.kind == DocumentKind::DeliveryNote { &mut self.delivered } else { &mut self.received };
            held.against(line.value, found, || format!("line {}: it is carried at", line.line_id));
        }
        for (line, value) in self.waits.drain().filter(|(_, value)| *value != Money::ZERO) {
            self.received.findings.add(format!("line {line} is gone, and {} of it waits", value.with_decimals(2)));
        }
        Ok(())
    }
}
