//! Facts as they are kept: from the rows to what the function takes, beginning no earlier than it must.

use super::{Item, first_cost, too_large};
use crate::among::among;
use crate::cx::Cx;
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::{BookMoney, UnitPrice};
use answers::Ask;
use rules::stock::{Fact, Failed, Kind, Method, Pools, Side, Start, State, Terms, pools_of};
use schema::item::CostMethod;
use schema::tables::{FactKind, FactSide, stock, stock_facts, stock_lines, stock_snapshots};
use sea_orm::{ColumnTrait, Condition, QueryFilter, QueryOrder};
use std::collections::{HashMap, HashSet};
use words::sown::{Fault, sown};

/// What a piece costs of which nobody ever said what it costs.
pub(super) const UNKNOWN_COST: UnitPrice = UnitPrice::ZERO;

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
        let mut rows: Vec<stock_facts::Model> =
            all.into_iter().filter(|row| row.kind != FactKind::Cancellation).collect();
        let ids: HashSet<RecordId> = rows.iter().map(|row| row.id).collect();
        let strange: Vec<RecordId> = cancelled.keys().filter(|id| !ids.contains(id)).copied().collect();
        if !strange.is_empty() {
            // A fact of before never was, from a later day on.
            let first = stock_facts::Entity::find()
                .filter(of_item(cx, item)?)
                .filter(stock_facts::Column::Id.is_in(strange))
                .order_by_asc(stock_facts::Column::Date)
                .model(&cx.db)
                .await?;
            before = first.ok_or_else(|| Error::internal("a fact is cancelled that there is not"))?.date;
            continue;
        }
        // What ceased to be on its own day never was: a line of it may have come before the evening.
        rows.retain(|row| cancelled.get(&row.id).is_none_or(|gone| *gone > row.date));
        let Some((day, state, counted)) = evening else {
            let read = rows.len() + cancelled.len();
            return Ok(Known { rows, cancelled, read, ..Known::default() });
        };
        let awaited = rows.iter().filter(|row| is_awaited(row)).map(|row| row.line_id);
        if let Some(first) = changed_before(cx, item, awaited.collect(), day).await? {
            before = first;
            continue;
        }
        let there: HashSet<RecordId> = rows.iter().map(|row| row.line_id).collect();
        let lines = rows.iter().filter_map(|row| row.of_line_id).chain(named.iter().copied());
        let lines: HashSet<RecordId> = lines.filter(|line| !there.contains(line)).collect();
        let of_item = HashMap::from([(item, lines.clone())]);
        let known = of_lines(cx, &of_item, Some(day)).await?.remove(&item);
        let known = known.ok_or_else(|| Error::internal("nobody asked for the lines of an item"))?;
        let left = left_of(terms, lines, known)?;
        if let Some(missing) = left.missing_since {
            before = missing;
            continue;
        }
        let read = rows.len() + cancelled.len() + left.read;
        return Ok(Known { rows, cancelled, start: Start { state, pools: left.pools }, counted, read });
    }
}

/// Whether something of an earlier day than its own may wait for it: what goods cost that came, or what was invoiced of goods
/// that went.
fn is_awaited(row: &stock_facts::Model) -> bool {
    match row.kind {
        FactKind::Receipt => true,
        FactKind::Issue => row.side == FactSide::Waits && !sown(Fault::EarlyInvoiceForgotten),
        _ => false,
    }
}

/// The first day until an evening on which it was said what goods cost that came only after it, or on which goods were invoiced
/// that went only after it: landed cost, a bill or an invoice of an earlier day than theirs. It waits for them, and no
/// evening knows of it.
async fn changed_before(cx: &Cx<'_>, item: RecordId, awaited: HashSet<RecordId>, evening: Day) -> Result<Option<Day>> {
    if awaited.is_empty() {
        return Ok(None);
    }
    let first = stock_facts::Entity::find()
        .filter(of_item(cx, item)?)
        .filter(among(cx, stock_facts::Column::OfLineId, awaited))
        .filter(stock_facts::Column::Kind.ne(FactKind::Cancellation))
        .filter(stock_facts::Column::Date.lte(evening))
        .order_by_asc(stock_facts::Column::Date)
        .model(&cx.db)
        .await?;
    Ok(first.map(|fact| fact.date))
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
    let snapshot = stock_snapshots::Entity::find()
        .filter(stock_snapshots::Column::BusinessId.eq(cx.business_id()?))
        .filter(stock_snapshots::Column::ItemId.eq(item))
        .filter(stock_snapshots::Column::Date.lt(before))
        .order_by_desc(stock_snapshots::Column::Date)
        .model(&cx.db)
        .await?;
    Ok(snapshot.map(|row| (row.date, row.state.0, row.place)))
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

/// So many movements are looked up at once.
const AT_ONCE: usize = 64;

/// What is known of lines that are named: the facts that name them, when some of those ceased to be, and what movements of
/// theirs cost after all.
#[derive(Debug, Default)]
pub(super) struct OfLines {
    found: Vec<stock_facts::Model>,
    cancelled: HashMap<RecordId, Day>,
    worth: Vec<stock_lines::Model>,
}

/// What is known of lines of some items on an evening, or by now: asked for all of them together.
pub(super) async fn of_lines(
    cx: &Cx<'_>,
    named: &HashMap<RecordId, HashSet<RecordId>>,
    evening: Option<Day>,
) -> Result<HashMap<RecordId, OfLines>> {
    let mut known: HashMap<RecordId, OfLines> = named.keys().map(|item| (*item, OfLines::default())).collect();
    let lines: HashSet<RecordId> = named.values().flatten().copied().collect();
    if lines.is_empty() {
        return Ok(known);
    }
    let business = cx.business_id()?;
    let is_asked = |fact: &stock_facts::Model| {
        let of_item = named.get(&fact.item_id);
        let line = [Some(fact.line_id), fact.of_line_id];
        of_item.is_some_and(|lines| line.into_iter().flatten().any(|line| lines.contains(&line)))
    };
    // One question for each way: asked for both at once, an engine would walk them all.
    let by = |column: stock_facts::Column| {
        let rows = stock_facts::Entity::find()
            .filter(stock_facts::Column::BusinessId.eq(business))
            .filter(among(cx, column, lines.iter().copied()))
            .filter(stock_facts::Column::Kind.ne(FactKind::Cancellation));
        let rows = evening.into_iter().fold(rows, |rows, day| rows.filter(stock_facts::Column::Date.lte(day)));
        async { Ok::<_, Error>(rows.models(&cx.db).await?) }
    };
    let ways = (by(stock_facts::Column::LineId), by(stock_facts::Column::OfLineId));
    let (own, naming) = cx.db.together(ways.0, ways.1).await?;
    for row in own.into_iter().chain(naming).filter(is_asked) {
        let found = &mut known.entry(row.item_id).or_default().found;
        if !found.iter().any(|known| known.id == row.id) {
            found.push(row);
        }
    }
    let facts: Vec<RecordId> = known.values().flat_map(|of| of.found.iter().map(|row| row.id)).collect();
    let mut cancellations = stock_facts::Entity::find()
        .filter(stock_facts::Column::BusinessId.eq(business))
        .filter(among(cx, stock_facts::Column::CancelsId, facts));
    if let Some(evening) = evening {
        cancellations = cancellations.filter(stock_facts::Column::Date.lte(evening));
    }
    let mut moved: Vec<(RecordId, Day, i64)> = Vec::new();
    for (item, of) in &known {
        let own = |row: &stock_facts::Model| named.get(item).is_some_and(|lines| lines.contains(&row.line_id));
        let movements = of.found.iter().filter(|row| row.is_movement() && own(row));
        moved.extend(movements.map(|row| (row.item_id, row.date, row.place)));
    }
    let cancellations = async { Ok(cancellations.models(&cx.db).await?) };
    let (cancellations, worth) = cx.db.together(cancellations, worth_of(cx, moved)).await?;
    for row in cancellations {
        if let Some(cancelled) = row.cancels_id {
            known.entry(row.item_id).or_default().cancelled.insert(cancelled, row.date);
        }
    }
    for line in worth {
        known.entry(line.item_id).or_default().worth.push(line);
    }
    Ok(known)
}

/// What is left of lines of an item, by what is known of them.
pub(super) fn left_of(terms: &Terms, lines: HashSet<RecordId>, known: OfLines) -> Result<LinesLeft> {
    let OfLines { found, cancelled, worth } = known;
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
    // Goods that moved to another day have a movement on either, and cost what the one does that is there.
    let live: HashSet<(Day, i64)> =
        found.iter().filter(|row| !cancelled.contains_key(&row.id)).map(|row| (row.date, row.place)).collect();
    let is_live = |line: &&stock_lines::Model| live.contains(&(line.date, line.sequence));
    let (there, gone): (Vec<_>, Vec<_>) = worth.iter().partition(is_live);
    let costs: HashMap<RecordId, BookMoney> =
        gone.into_iter().chain(there).map(|line| Ok((line.line_id, size(line)?))).collect::<Result<_>>()?;
    let facts: Vec<Fact> = found.iter().filter_map(|row| fact_of(row, cancelled.get(&row.id).copied())).collect();
    let mut pools = HashMap::new();
    for line in lines.into_iter().filter(|line| facts.iter().any(|fact| fact.line == *line)) {
        let left = pools_of(terms, line, &facts, costs.get(&line).copied());
        pools.insert(line, left.map_err(failed)?);
    }
    Ok(LinesLeft { pools, missing_since: None, read })
}

/// What movements cost after all, each found by its place in its day.
async fn worth_of(cx: &Cx<'_>, mut places: Vec<(RecordId, Day, i64)>) -> Result<Vec<stock_lines::Model>> {
    places.sort_unstable();
    places.dedup();
    let mut found = Vec::with_capacity(places.len());
    // Lists of items, of days and of places, and no condition for each: one of a thousand would be a thousand deep. Few at a
    // time: what lies at one's place on another's day is read as well.
    for portion in places.chunks(AT_ONCE) {
        let wanted: HashSet<(RecordId, Day, i64)> = portion.iter().copied().collect();
        let items: HashSet<RecordId> = portion.iter().map(|(item, ..)| *item).collect();
        let days: HashSet<Day> = portion.iter().map(|(_, day, _)| *day).collect();
        let lines = stock_lines::Entity::find()
            .filter(stock_lines::Column::BusinessId.eq(cx.business_id()?))
            .filter(among(cx, stock_lines::Column::ItemId, items))
            .filter(stock_lines::Column::Date.is_in(days))
            .filter(stock_lines::Column::Sequence.is_in(portion.iter().map(|(.., place)| *place)));
        let lines = lines.models(&cx.db).await?.into_iter();
        found.extend(lines.filter(|line| wanted.contains(&(line.item_id, line.date, line.sequence))));
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
