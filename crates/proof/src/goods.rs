//! Stock: whether what is posted, kept and carried is what the facts come to, on every day, by a replay of its own.

use super::replay::{Fact, How, Known, days};
use super::{Check, Findings, Wide, shown};
use crate::clock::Instant;
use crate::day::Day;
use crate::error::Result;
use crate::ids::RecordId;
use crate::money::{BookMoney, Money, Quantity, UnitPrice};
use answers::Ask;
use schema::business::StockPolicy;
use schema::fiscal_year::{self as years, FiscalYearStatus};
use schema::item::NegativeStock;
use schema::lock as locks;
use schema::reader::{Reader, whole};
use schema::tables::{
    DocumentKind, FactKind, entry_lines, progress, progress_moves, stock, stock_facts, stock_lines, stock_moves,
    stock_snapshots,
};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, QueryFilter, QueryOrder, QuerySelect};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use words::sums::Sums as _;

/// Two sums that must be one, and where they are not.
#[derive(Default)]
struct Held {
    kept: Wide,
    found: Wide,
    findings: Findings,
}

/// An amount in ten-thousandths, whatever its size.
fn money(units: Wide) -> String {
    i64::try_from(units)
        .map_or_else(|_| format!("{units} ten-thousandths"), |units| Money::from_units(units).with_decimals(2))
}

impl Held {
    fn against(&mut self, kept: Wide, found: Wide, what: impl FnOnce() -> String) {
        self.kept += kept;
        self.found += found;
        if kept != found {
            self.findings.add(format!("{}: {}, its facts say {}", what(), money(kept), money(found)));
        }
    }

    fn check(self, id: &str, name: &str) -> Check {
        Check::of(id, name, shown(self.kept), shown(self.found), self.findings)
    }
}

/// What stands in the ledger because of facts of stock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kept {
    /// The stock of an item.
    Stock,
    /// What a line received, and nobody billed.
    Received,
    /// What a line delivered, and nobody invoiced.
    Delivered,
}

/// A day on which the ledger is not what the facts come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Off {
    pub kept: Kept,
    /// The item, or the line.
    pub of: RecordId,
    pub day: Day,
    /// What is posted by then.
    pub posted: i128,
    /// What the facts come to.
    pub should_be: i128,
}

/// What is found item by item.
#[derive(Default)]
struct Goods {
    off: Vec<Off>,
    days: Held,
    costs: Held,
    short: Held,
    states: Held,
    received: Held,
    delivered: Held,
    /// Day by day, what facts say that waits, line by line: by how much it moves.
    waits: BTreeMap<RecordId, BTreeMap<Day, Wide>>,
}

/// Quantity, value and layers of what is there.
type Evening = (Wide, Wide, Vec<(Wide, Wide)>);

/// What a movement cost and whether it was missing, by the day and its place in it.
type Costs = HashMap<(Day, i64), (BookMoney, bool)>;

/// The days on which the ledger is not what the facts come to, and the last day that is closed.
pub(super) async fn off(reader: &Reader<'_>) -> Result<(Vec<Off>, Option<Day>)> {
    let closed = ever_closed(reader).await?;
    let mut goods = Goods::default();
    goods.hold_all(reader, closed).await?;
    goods.hold_waiting(reader, closed).await?;
    Ok((goods.off, closed))
}

pub(super) async fn checks(reader: &Reader<'_>) -> Result<Vec<Check>> {
    let closed = ever_closed(reader).await?;
    let mut goods = Goods::default();
    goods.hold_all(reader, closed).await?;
    goods.hold_waiting(reader, closed).await?;
    let Goods { days, costs, short, states, received, delivered, .. } = goods;
    Ok(vec![
        days.check("S1", "On every open day the stock and its accounts are worth what its facts come to"),
        costs.check("S2", "Each movement cost what its facts come to"),
        short.check("S3", "No day is short of what may not be missing"),
        states.check("S4", "Where the stock stands is what its facts come to"),
        received.check("A1", "What is received and not billed is what its facts come to, line by line and day by day"),
        delivered
            .check("A2", "What is delivered and not invoiced is what its facts come to, line by line and day by day"),
    ])
}

/// Every item that anything is known of.
async fn items(reader: &Reader<'_>) -> Result<BTreeSet<RecordId>> {
    let business = reader.id();
    let mut ids: Vec<RecordId> = stock_facts::Entity::find()
        .select_only()
        .column(stock_facts::Column::ItemId)
        .filter(stock_facts::Column::BusinessId.eq(business))
        .distinct()
        .column_of(&reader.db)
        .await?;
    let states: Vec<RecordId> = stock::Entity::find()
        .select_only()
        .column(stock::Column::ItemId)
        .filter(stock::Column::BusinessId.eq(business))
        .column_of(&reader.db)
        .await?;
    ids.extend(states);
    Ok(ids.into_iter().collect())
}

/// The last day that ever was closed: what came late by then stands on a later day.
async fn ever_closed(reader: &Reader<'_>) -> Result<Option<Day>> {
    let business = reader.id();
    let locks = locks::Entity::find().filter(locks::Column::BusinessId.eq(business)).models(&reader.db).await?;
    let years = years::Entity::find()
        .filter(years::Column::BusinessId.eq(business))
        .filter(years::Column::Status.ne(FiscalYearStatus::Open))
        .models(&reader.db)
        .await?;
    let of_locks = locks.iter().flat_map(|lock| [lock.lock_date, lock.stock_lock_date, lock.hard_lock_date]).flatten();
    Ok(of_locks.chain(years.iter().map(|year| year.ends)).max())
}

/// The story of an item, from its first fact on.
async fn facts_of(reader: &Reader<'_>, item: RecordId) -> Result<Vec<Fact>> {
    let rows = stock_facts::Entity::find()
        .filter(stock_facts::Column::BusinessId.eq(reader.id()))
        .filter(stock_facts::Column::ItemId.eq(item))
        .order_by_asc(stock_facts::Column::Id)
        .models(&reader.db)
        .await?;
    let cancelled: HashMap<RecordId, Day> = rows.iter().filter_map(|row| Some((row.cancels_id?, row.date))).collect();
    let facts = rows.into_iter().filter(|row| row.kind != FactKind::Cancellation);
    Ok(facts.map(|row| Fact { cancelled: cancelled.get(&row.id).copied(), row }).collect())
}

/// What a piece costs before anything is known of it: what its standard says, else what it is bought for.
const fn first_cost(item: &schema::item::Model) -> Option<UnitPrice> {
    match (item.standard_cost, item.purchase_price) {
        (Some(cost), _) | (None, Some(cost)) => Some(cost),
        (None, None) => None,
    }
}

/// How an item is valued, as its own record and the company's say.
fn how(reader: &Reader<'_>, item: &schema::item::Model) -> How {
    let first = match first_cost(item) {
        Some(cost) => Wide::from(cost.units()),
        None => 0,
    };
    How {
        method: item.cost_method,
        rounding: reader.company().settings.0.rounding_mode.rounding(),
        coin: Wide::from(Money::smallest(reader.decimals()).units()),
        first,
    }
}

impl Goods {
    async fn hold_all(&mut self, reader: &Reader<'_>, closed: Option<Day>) -> Result<()> {
        let business = reader.id();
        for id in items(reader).await? {
            reader.pause().await?;
            let item = schema::item::Entity::find_by_id((business, id)).model(&reader.db).await?;
            if let Some(item) = item {
                self.hold(reader, &item, closed).await?;
            }
        }
        Ok(())
    }

    async fn hold(&mut self, reader: &Reader<'_>, item: &schema::item::Model, closed: Option<Day>) -> Result<()> {
        let business = reader.id();
        let (how, facts) = (how(reader, item), facts_of(reader, item.id).await?);
        let snapshots = stock_snapshots::Entity::find()
            .filter(stock_snapshots::Column::BusinessId.eq(business))
            .filter(stock_snapshots::Column::ItemId.eq(item.id))
            .order_by_asc(stock_snapshots::Column::Date)
            .models(&reader.db)
            .await?;
        let mut evenings = snapshots.into_iter().peekable();
        let mut found: BTreeMap<Day, (Wide, Wide)> = BTreeMap::new();
        let mut waited: HashMap<usize, Wide> = HashMap::new();
        let mut before: Evening = Evening::default();
        let waits = &mut self.waits;
        let states = &mut self.states;
        let last = days(how, &facts, |day, known| {
            // What is kept of an evening is the state after the last day on which something happened by then.
            while let Some(kept) = evenings.next_if(|kept| kept.date < day) {
                hold_evening(states, item.id, &kept, &before);
            }
            found.insert(day, (known.pieces(), known.value()));
            for at in known.touched(facts.len()) {
                let fact = &facts[at];
                let (is, was) = (known.moved(at).waits, waited.entry(at).or_default());
                if is != *was {
                    let by = waits.entry(fact.waiting_line()).or_default().entry(day).or_default();
                    *by += is - *was;
                    *was = is;
                }
            }
            before = (known.pieces(), known.value(), known.layers());
        });
        for kept in evenings {
            hold_evening(&mut self.states, item.id, &kept, &before);
        }
        self.hold_beginning(item, &facts);
        let kept = stock::Entity::find_by_id((business, item.id)).model(&reader.db).await?;
        let (quantity, worth) = kept.map_or((NONE_LEFT, NOTHING_LEFT), |row| (row.quantity, row.value));
        self.states.against(Wide::from(worth.units()), last.value(), || {
            format!("item {}: {quantity} in stock, worth", item.id)
        });
        if Wide::from(quantity.units()) != last.pieces() {
            let found = pieces(last.pieces());
            self.states.findings.add(format!("item {}: {quantity} in stock, its facts say {found}", item.id));
        }
        self.hold_costs(reader, item.id, &facts, &last).await?;
        self.hold_days(reader, item.id, &found, closed).await?;
        self.hold_shortages(reader, item, how, &facts).await
    }

    /// The story of an item begins at what its record said by then, as far as the record is the same by now.
    fn hold_beginning(&mut self, item: &schema::item::Model, facts: &[Fact]) {
        let begins = facts
            .iter()
            .map(|fact| &fact.row)
            .find(|row| row.kind == FactKind::Standard && row.document_id == item.id && row.date == Day::BEFORE_ALL);
        // What was written with a change of the record says what that said before.
        let Some(row) = begins.filter(|row| item.updated_at < row.recorded_at) else { return };
        // Of what nobody had said anything by then a piece cost nothing.
        let (said, is) = (row.standard, first_cost(item).or(Some(UnitPrice::ZERO)));
        if said != is {
            let shown = |cost: Option<UnitPrice>| cost.map_or_else(|| "nothing".to_owned(), |cost| cost.to_string());
            let (said, is) = (shown(said), shown(is));
            self.costs
                .findings
                .add(format!("item {}: its story begins at a cost of {said}, and it says {is}", item.id));
        }
    }

    async fn hold_costs(&mut self, reader: &Reader<'_>, item: RecordId, facts: &[Fact], last: &Known) -> Result<()> {
        let lines = stock_lines::Entity::find()
            .filter(stock_lines::Column::BusinessId.eq(reader.id()))
            .filter(stock_lines::Column::ItemId.eq(item))
            .models(&reader.db)
            .await?;
        let mut kept: Costs =
            lines.into_iter().map(|line| ((line.date, line.sequence), (line.cost, line.was_missing))).collect();
        for (at, fact) in facts.iter().enumerate() {
            let row = &fact.row;
            if fact.cancelled.is_some() || !fact.is_kept_with_its_cost() {
                continue;
            }
            if let Some((cost, was_missing)) = kept.remove(&(row.date, row.place)) {
                if last.is_corrected(at) && !was_missing {
                    let (line, day) = (row.line_id, row.date);
                    self.costs.findings.add(format!("line {line} on {day}: it was missing, and nothing says so"));
                }
                let (cost, stock) = (Wide::from(cost.units()), last.moved(at).stock);
                self.costs.against(cost, stock, || format!("line {} on {}: it cost", row.line_id, row.date));
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

    async fn hold_days(
        &mut self,
        reader: &Reader<'_>,
        item: RecordId,
        found: &BTreeMap<Day, (Wide, Wide)>,
        closed: Option<Day>,
    ) -> Result<()> {
        let business = reader.id();
        let [high, low] = reader.halves(Expr::col(stock_moves::Column::Quantity));
        let moved: Vec<(Day, i64, i64, i64)> = stock_moves::Entity::find()
            .select_only()
            .column(stock_moves::Column::Date)
            .column_as(high, "high")
            .column_as(low, "low")
            .column_as(reader.sum(Expr::col(stock_moves::Column::Value)), "value")
            .filter(stock_moves::Column::BusinessId.eq(business))
            .filter(stock_moves::Column::ItemId.eq(item))
            .group_by(stock_moves::Column::Date)
            .read(&reader.db)
            .await?;
        let accounts: Vec<RecordId> = stock_facts::Entity::find()
            .select_only()
            .column(stock_facts::Column::InventoryAccountId)
            .filter(stock_facts::Column::BusinessId.eq(business))
            .filter(stock_facts::Column::ItemId.eq(item))
            .distinct()
            .column_of(&reader.db)
            .await?;
        let posted: Vec<(Day, i64)> = entry_lines::Entity::find()
            .select_only()
            .column(entry_lines::Column::Date)
            .column_as(reader.sum(Expr::col(entry_lines::Column::Amount)), "amount")
            .filter(entry_lines::Column::BusinessId.eq(business))
            .filter(entry_lines::Column::ItemId.eq(item))
            .filter(entry_lines::Column::AccountId.is_in(accounts))
            .group_by(entry_lines::Column::Date)
            .read(&reader.db)
            .await?;
        let moved: BTreeMap<Day, (Wide, Wide)> =
            moved.into_iter().map(|(day, high, low, value)| (day, (whole((high, low)), Wide::from(value)))).collect();
        let posted: BTreeMap<Day, i64> = posted.into_iter().collect();
        let days: BTreeSet<Day> = moved.keys().chain(posted.keys()).chain(found.keys()).copied().collect();
        let (mut there, mut in_ledger, mut is): ((Wide, Wide), Wide, (Wide, Wide)) = Default::default();
        for day in days {
            let by = moved.sum_of(&day);
            there = (there.0 + by.0, there.1 + by.1);
            in_ledger += Wide::from(posted.sum_of(&day));
            is = found.get(&day).copied().unwrap_or(is);
            if closed.is_some_and(|closed| day <= closed) {
                continue;
            }
            self.days.against(there.1, is.1, || format!("item {item} on {day}"));
            if there.0 != is.0 {
                let (moved, said) = (pieces(there.0), pieces(is.0));
                self.days.findings.add(format!("item {item} on {day}: {moved} moved so far, its facts say {said}"));
            }
            if in_ledger != is.1 {
                self.off.push(Off { kept: Kept::Stock, of: item, day, posted: in_ledger, should_be: is.1 });
                let (posted, said) = (money(in_ledger), money(is.1));
                self.days.findings.add(format!("item {item} on {day}: {posted} is posted, its facts say {said}"));
            }
        }
        Ok(())
    }

    /// No day is short, but as it was when the rule was made: what was recorded since then made none worse.
    async fn hold_shortages(
        &mut self,
        reader: &Reader<'_>,
        item: &schema::item::Model,
        how: How,
        facts: &[Fact],
    ) -> Result<()> {
        let forbidden = match item.negative_stock {
            NegativeStock::Allow => false,
            NegativeStock::Forbid => true,
            NegativeStock::Inherit => reader.company().settings.0.negative_stock == StockPolicy::Forbid,
        };
        if !forbidden {
            return Ok(());
        }
        let ruled: Instant = Ord::max(item.updated_at, reader.company().updated_at);
        let cancelled = stock_facts::Entity::find()
            .filter(stock_facts::Column::BusinessId.eq(reader.id()))
            .filter(stock_facts::Column::ItemId.eq(item.id))
            .filter(stock_facts::Column::RecordedAt.lte(ruled))
            .filter(stock_facts::Column::CancelsId.is_not_null())
            .models(&reader.db)
            .await?;
        let cancelled: HashMap<RecordId, Day> =
            cancelled.into_iter().filter_map(|row| Some((row.cancels_id?, row.date))).collect();
        let then: Vec<Fact> = facts
            .iter()
            .filter(|fact| fact.row.recorded_at <= ruled)
            .map(|fact| Fact { cancelled: cancelled.get(&fact.row.id).copied(), row: fact.row.clone() })
            .collect();
        let least = |facts: &[Fact]| {
            let mut least: BTreeMap<Day, (Wide, Wide)> = BTreeMap::new();
            days(how, facts, |day, known| {
                least.insert(day, (known.least(day), known.pieces()));
            });
            least
        };
        let (was, is) = (least(&then), least(facts));
        for (day, (there, _)) in is.into_iter().filter(|(_, (there, _))| *there < 0) {
            let before = was.range(..=day).next_back();
            let before = before.map(|(known, (least, end))| if *known == day { *least } else { *end });
            if before.is_none_or(|before| there < before) {
                let missing = pieces(-there);
                self.short.findings.add(format!("item {}: {missing} is missing on {day}", item.id));
            }
        }
        Ok(())
    }

    async fn hold_waiting(&mut self, reader: &Reader<'_>, closed: Option<Day>) -> Result<()> {
        let business = reader.id();
        let lines = progress::Entity::find()
            .filter(progress::Column::BusinessId.eq(business))
            .filter(progress::Column::Kind.is_in([DocumentKind::DeliveryNote, DocumentKind::ReceiptNote]))
            .models(&reader.db)
            .await?;
        let kinds: HashMap<RecordId, &progress::Model> = lines.iter().map(|line| (line.line_id, line)).collect();
        let moved: Vec<(RecordId, Day, i64)> = progress_moves::Entity::find()
            .select_only()
            .column(progress_moves::Column::LineId)
            .column(progress_moves::Column::Date)
            .column_as(reader.sum(Expr::col(progress_moves::Column::Value)), "value")
            .filter(progress_moves::Column::BusinessId.eq(business))
            .filter(progress_moves::Column::AccountId.is_not_null())
            .group_by(progress_moves::Column::LineId)
            .group_by(progress_moves::Column::Date)
            .read(&reader.db)
            .await?;
        let mut kept: BTreeMap<RecordId, BTreeMap<Day, i64>> = BTreeMap::new();
        for (line, day, value) in moved {
            kept.entry(line).or_default().insert(day, value);
        }
        let nothing = BTreeMap::new();
        let ids: BTreeSet<RecordId> = kept.keys().chain(self.waits.keys()).chain(kinds.keys()).copied().collect();
        for id in ids {
            let goods_out = kinds.get(&id).is_some_and(|line| line.kind == DocumentKind::DeliveryNote);
            let held = if goods_out { &mut self.delivered } else { &mut self.received };
            let (facts, moves) = (self.waits.get(&id).unwrap_or(&nothing), kept.get(&id));
            let days: BTreeSet<Day> = facts.keys().chain(moves.into_iter().flat_map(BTreeMap::keys)).copied().collect();
            let (mut found, mut carried): (Wide, Wide) = (0, 0);
            for day in days {
                found += facts.sum_of(&day);
                carried += moves.iter().map(|moves| Wide::from(moves.sum_of(&day))).sum::<Wide>();
                if closed.is_none_or(|closed| day > closed) {
                    if carried != found {
                        let kept = if goods_out { Kept::Delivered } else { Kept::Received };
                        self.off.push(Off { kept, of: id, day, posted: carried, should_be: found });
                    }
                    held.against(carried, found, || format!("line {id} on {day}: it is carried at"));
                }
            }
            match kinds.get(&id) {
                Some(line) => {
                    held.against(Wide::from(line.value.units()), found, || format!("line {id}: it is carried at"));
                }
                None if found != 0 => held.findings.add(format!("line {id} is gone, and {} of it waits", money(found))),
                None => {}
            }
        }
        Ok(())
    }
}

/// Of an item that nothing is kept of.
const NONE_LEFT: Quantity = Quantity::ZERO;
const NOTHING_LEFT: BookMoney = BookMoney::ZERO;

pub(super) fn pieces(units: Wide) -> String {
    Quantity::fitting(units).map_or_else(|| format!("{units} millionths"), |quantity| quantity.to_string())
}

/// What is kept of an evening is what was known on it.
fn hold_evening(states: &mut Held, item: RecordId, kept: &stock_snapshots::Model, was: &Evening) {
    let state = &kept.state.0;
    let layers = |pieces: Quantity, value: BookMoney| (Wide::from(pieces.units()), Wide::from(value.units()));
    let (quantity, value) = layers(state.quantity, state.value);
    let of_layers: Vec<(Wide, Wide)> = state.layers.iter().map(|layer| layers(layer.quantity, layer.value)).collect();
    if (quantity, value, of_layers) != *was {
        let day = kept.date;
        states.findings.add(format!("item {item}: what is kept of the evening of {day} is not what was"));
    }
}
