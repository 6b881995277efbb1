//! Facts as they are kept: from the rows to what the function takes, beginning no earlier than it must.

use super::{Item, first_cost, too_large};
use crate::cx::Cx;
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::{BookMoney, UnitPrice};
use crate::portions::by_parameters;
use answers::Ask;
use rules::stock::{Fact, Failed, Kind, Method, Pools, Side, Start, State, Terms, pools_of};
use schema::item::CostMethod;
use schema::tables::{FactKind, FactSide, stock, stock_facts, stock_lines, stock_snapshots};
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder};
use std::collections::{HashMap, HashSet};
use words::sown::{Fault, sown};

/// What a piece costs of which nobody ever said what it costs.
const UNKNOWN_COST: UnitPrice = UnitPrice::ZERO;

/// How an item is valued.
pub fn terms_of(cx: &Cx<'_>, item: &Item) -> Result<Terms> {
    let business = cx.business()?;
    Ok(Terms {
        method: match item.cost_method {
            CostMethod::MovingAverage => Method::Average,
            CostMethod::Fifo => Method::Fifo,
            CostMethod::Standard => Method::Standard,
        },
        coin: business.coin(),
        first_cost: first_cost(item).unwrap_or(UNKNOWN_COST),
    })
}

const fn kind_of(kind: FactKind) -> Option<Kind> {
    Some(match kind {
        FactKind::Receipt => Kind::Receipt,
        FactKind::Issue => Kind::Issue,
        FactKind::CustomerReturn => Kind::CustomerReturn,
        FactKind::SupplierReturn => Kind::SupplierReturn,
        FactKind::CostChange => Kind::CostChange,
        FactKind::Bill => Kind::Bill,
        FactKind::Invoice => Kind::Invoice,
        FactKind::Credit => Kind::Credit,
        FactKind::Standard => Kind::Standard,
        FactKind::Cancellation => return None,
    })
}

/// A row as the function takes it. A cancellation is none.
pub(super) fn fact_of(row: &stock_facts::Model, cancelled: Option<Day>) -> Option<Fact> {
    Some(Fact {
        line: row.line_id,
        day: row.date,
        place: row.place,
        kind: kind_of(row.kind)?,
        side: match row.side {
            FactSide::Document => Side::Document,
            FactSide::Waits => Side::Waits,
            FactSide::Cost => Side::Cost,
        },
        quantity: row.quantity,
        amount: row.amount,
        standard: row.standard,
        of: row.of_line_id,
        cancelled,
    })
}

/// Facts from some evening on, and where the stock stood then.
#[derive(Default)]
pub(super) struct Known {
    pub(super) rows: Vec<stock_facts::Model>,
    pub(super) cancelled: HashMap<RecordId, Day>,
    pub(super) start: Start,
    /// How many facts there were by then.
    pub(super) counted: i64,
    /// How many rows were read for it.
    pub(super) read: usize,
}

impl Known {
    pub(super) fn facts(&self) -> Vec<Fact> {
        let fact = |row: &stock_facts::Model| fact_of(row, self.cancelled.get(&row.id).copied());
        self.rows.iter().filter_map(fact).collect()
    }
}

pub(super) fn state_in(row: &stock::Model) -> State {
    State {
        quantity: row.quantity,
        value: row.value,
        layers: row.layers.0.clone(),
        shortages: Vec::new(),
        last: row.known_cost.as_ref().map(|known| (known.0.quantity, known.0.value)),
        standard: row.standard_cost,
    }
}

/// Whether later facts can be valued from a state on: nothing is missing in it.
pub(super) fn is_whole(state: &State) -> bool {
    state.shortages.is_empty() && !state.quantity.is_negative()
}

fn of_item(cx: &Cx<'_>, item: RecordId) -> Result<Condition> {
    Ok(Condition::all()
        .add(stock_facts::Column::BusinessId.eq(cx.business_id()?))
        .add(stock_facts::Column::ItemId.eq(item)))
}

/// The facts from the last evening before a day on from which everything later can be valued. `named` are lines that
/// are named beside.
pub(super) async fn since(
    cx: &Cx<'_>,
    terms: &Terms,
    (item, state): (RecordId, Option<&stock::Model>),
    before: Day,
    named: &[RecordId],
) -> Result<Known> {
    let mut before = before;
    loop {
        let evening = evening(cx, item, state, before).await?;
        let mut rows = stock_facts::Entity::find().filter(of_item(cx, item)?);
        if let Some((day, _, _)) = &evening {
            rows = rows.filter(stock_facts::Column::Date.gt(*day));
        }
        let all = rows
            .order_by_asc(stock_facts::Column::Date)
            .order_by_asc(stock_facts::Column::Place)
            .order_by_asc(stock_facts::Column::Id)
            .models(&cx.db)
            .await?;
        let cancelled: HashMap<RecordId, Day> =
            all.iter().filter_map(|row| Some((row.cancels_id?, row.date))).collect();
        let rows: Vec<stock_facts::Model> = all.into_iter().filter(|row| row.kind != FactKind::Cancellation).collect();
        let ids: HashSet<RecordId> = rows.iter().map(|row| row.id).collect();
        let strange: Vec<RecordId> = cancelled.keys().filter(|id| !ids.contains(id)).copied().collect();
        if !strange.is_empty() {
            // A fact of before never was, from a later day on.
            let first = stock_facts::Entity::find()
                .filter(of_item(cx, item)?)
                .filter(stock_facts::Column::Id.is_in(strange))
                .order_by_asc(stock_facts::Column::Date)
                .one(&cx.db)
                .await?;
            before = first.ok_or_else(|| Error::internal("a fact is cancelled that there is not"))?.date;
            continue;
        }
        let Some((day, state, counted)) = evening else {
            let read = rows.len() + cancelled.len();
            return Ok(Known { rows, cancelled, read, ..Known::default() });
        };
        let there: HashSet<RecordId> = rows.iter().map(|row| row.line_id).collect();
        let lines = rows.iter().filter_map(|row| row.of_line_id).chain(named.iter().copied());
        let lines: HashSet<RecordId> = lines.filter(|line| !there.contains(line)).collect();
        let left = lines_left(cx, terms, item, lines, Some(day)).await?;
        if let Some(missing) = left.missing_since {
            before = missing;
            continue;
        }
        let read = rows.len() + cancelled.len() + left.read;
        return Ok(Known { rows, cancelled, start: Start { state, pools: left.pools }, counted, read });
    }
}

/// The last evening before a day that is known: where the stock stood, and how many facts there were.
pub(super) async fn evening(
    cx: &Cx<'_>,
    item: RecordId,
    state: Option<&stock::Model>,
    before: Day,
) -> Result<Option<(Day, State, i64)>> {
    if let Some(row) = state
        && let Some(last) = row.last_date.filter(|last| *last < before)
        && is_whole(&state_in(row))
    {
        return Ok(Some((last, state_in(row), row.last_sequence)));
    }
    let snapshot = last_snapshot(cx, item, Some(before)).await?;
    Ok(snapshot.map(|row| (row.date, row.state.0, row.place)))
}

pub(super) async fn last_snapshot(
    cx: &Cx<'_>,
    item: RecordId,
    before: Option<Day>,
) -> Result<Option<stock_snapshots::Model>> {
    let mut snapshots = stock_snapshots::Entity::find()
        .filter(stock_snapshots::Column::BusinessId.eq(cx.business_id()?))
        .filter(stock_snapshots::Column::ItemId.eq(item));
    if let Some(before) = before {
        snapshots = snapshots.filter(stock_snapshots::Column::Date.lt(before));
    }
    Ok(snapshots.order_by_desc(stock_snapshots::Column::Date).one(&cx.db).await?)
}

/// What is left of lines.
#[derive(Default)]
pub(super) struct LinesLeft {
    pub(super) pools: HashMap<RecordId, Pools>,
    /// The first day of those of which their facts say too little, such as what was missing and cost something else when
    /// it came: what is left of them is known by who values them from that day on.
    pub(super) missing_since: Option<Day>,
    /// How many rows were read for it.
    pub(super) read: usize,
}

/// What is left of lines on an evening, or by now: from the facts that name them, and what each cost.
pub(super) async fn lines_left(
    cx: &Cx<'_>,
    terms: &Terms,
    item: RecordId,
    lines: HashSet<RecordId>,
    evening: Option<Day>,
) -> Result<LinesLeft> {
    if lines.is_empty() {
        return Ok(LinesLeft::default());
    }
    let mut found: Vec<stock_facts::Model> = Vec::new();
    // One question for each way: asked for both at once, an engine would walk them all.
    for column in [stock_facts::Column::LineId, stock_facts::Column::OfLineId] {
        let mut rows = stock_facts::Entity::find()
            .filter(of_item(cx, item)?)
            .filter(column.is_in(lines.iter().copied()))
            .filter(stock_facts::Column::Kind.ne(FactKind::Cancellation));
        if let Some(evening) = evening {
            rows = rows.filter(stock_facts::Column::Date.lte(evening));
        }
        for row in rows.models(&cx.db).await? {
            if !found.iter().any(|known| known.id == row.id) {
                found.push(row);
            }
        }
    }
    let mut cancellations = stock_facts::Entity::find()
        .filter(stock_facts::Column::BusinessId.eq(cx.business_id()?))
        .filter(stock_facts::Column::CancelsId.is_in(found.iter().map(|row| row.id)));
    if let Some(evening) = evening {
        cancellations = cancellations.filter(stock_facts::Column::Date.lte(evening));
    }
    let cancelled: HashMap<RecordId, Day> =
        cancellations.models(&cx.db).await?.into_iter().filter_map(|row| Some((row.cancels_id?, row.date))).collect();
    let moved = found.iter().filter(|row| lines.contains(&row.line_id) && row.is_movement());
    let worth = worth_of(cx, item, moved).await?;
    let read = found.len() + cancelled.len() + worth.len();
    // Nor is it known of what came in at standard cost and names nothing: its share stands in no account by itself.
    let is_alone = |row: &&stock_facts::Model| {
        terms.method == Method::Standard && row.kind == FactKind::CustomerReturn && row.of_line_id.is_none()
    };
    let alone = found.iter().filter(|row| lines.contains(&row.line_id)).filter(is_alone).map(|row| row.date);
    let was_missing = |line: &&stock_lines::Model| line.was_missing && !sown(Fault::MissingTakenForThere);
    let missing = worth.iter().filter(was_missing).map(|line| line.date).chain(alone).min();
    if missing.is_some() {
        return Ok(LinesLeft { missing_since: missing, read, ..LinesLeft::default() });
    }
    let costs: HashMap<RecordId, BookMoney> =
        worth.iter().map(|line| Ok((line.line_id, size(line)?))).collect::<Result<_>>()?;
    let facts: Vec<Fact> = found.iter().filter_map(|row| fact_of(row, cancelled.get(&row.id).copied())).collect();
    let mut pools = HashMap::new();
    for line in lines.into_iter().filter(|line| facts.iter().any(|fact| fact.line == *line)) {
        let left = pools_of(terms, line, &facts, costs.get(&line).copied());
        pools.insert(line, left.map_err(failed)?);
    }
    Ok(LinesLeft { pools, missing_since: None, read })
}

/// What movements cost after all, each found by its place in its day.
async fn worth_of(
    cx: &Cx<'_>,
    item: RecordId,
    moved: impl Iterator<Item = &stock_facts::Model>,
) -> Result<Vec<stock_lines::Model>> {
    let mut places: Vec<(Day, i64)> = moved.map(|row| (row.date, row.place)).collect();
    places.sort_unstable();
    places.dedup();
    let mut found = Vec::with_capacity(places.len());
    // A list of days and one of places, and no condition for each: one of a thousand would be a thousand deep.
    for portion in by_parameters(&places) {
        let wanted: HashSet<(Day, i64)> = portion.iter().copied().collect();
        let days: HashSet<Day> = portion.iter().map(|(day, _)| *day).collect();
        let lines = stock_lines::Entity::find()
            .filter(stock_lines::Column::BusinessId.eq(cx.business_id()?))
            .filter(stock_lines::Column::ItemId.eq(item))
            .filter(stock_lines::Column::Date.is_in(days))
            .filter(stock_lines::Column::Sequence.is_in(portion.iter().map(|(_, place)| *place)));
        let lines = lines.models(&cx.db).await?.into_iter();
        found.extend(lines.filter(|line| wanted.contains(&(line.date, line.sequence))));
    }
    Ok(found)
}

/// What a movement cost, whether it came or went.
fn size(line: &stock_lines::Model) -> Result<BookMoney> {
    if line.quantity.is_negative() { super::back(line.cost) } else { Ok(line.cost) }
}

pub(super) fn failed(failed: Failed) -> Error {
    match failed {
        Failed::TooLarge => too_large(rules::stock::TooLarge),
        Failed::StartsTooLate(_) => Error::internal("stock was valued from too late a day on"),
    }
}
