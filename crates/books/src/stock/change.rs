//! What a write changes of an item's stock: the difference of the function before and after, day by day.

use super::ahead::known;
use super::beginning::beginning;
use super::facts::{Known, OfLines, UNKNOWN_COST, fact_of, failed, is_whole, left_of, state_in, terms_of};
use super::{Begun, Counted, Gone, Item, Places, Wanted, book, booked, missing, too_large};
use crate::BEFORE_THE_FIRST;
use crate::cx::Cx;
use crate::day::Day;
use crate::desk::Standing;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::{BookMoney, Quantity};
use crate::stored::AsJson;
use answers::Ask;
use rules::stock::{Effect, Fact, Failed, History, Layer, Start, State, Terms, history};
use schema::tables::{FactKind, FactSide, stock, stock_facts, stock_snapshots};
use sea_orm::{ColumnTrait, QueryFilter, QueryOrder};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use words::sown::{Fault, sown};
use words::sums::Sums as _;

/// After so many facts the stock of an evening is kept.
const BETWEEN_SNAPSHOTS: i64 = 100;

#[derive(Debug, Clone)]
pub(super) struct Change {
    /// With what their document's entry posts of them; those that it asked for come last, in its order.
    pub(super) new: Vec<stock_facts::Model>,
    asked: usize,
    pub(super) gone: Vec<Gone>,
    /// What the function changes beside what documents post themselves.
    pub(super) rest: Vec<Rest>,
    /// What movements cost after all, and the new ones by now.
    pub(super) costs: Vec<Cost>,
    pub(super) costs_of_new: HashMap<RecordId, Worth>,
    pub(super) state: stock::Model,
    /// How many there were before it.
    pub(super) was: Quantity,
    /// At how many the item is bought anew, where it says so.
    pub(super) reorder_level: Option<Quantity>,
    pub(super) places: Places,
    /// Snapshots from this day on are no longer so.
    pub(super) dropped_from: Option<Day>,
    pub(super) snapshots: Vec<stock_snapshots::Model>,
}

#[derive(Debug, Clone)]
pub(super) struct Rest {
    pub(super) fact: stock_facts::Model,
    pub(super) day: Day,
    pub(super) by: Effect,
}

/// What a movement cost, as far as is known by now.
#[derive(Debug, Clone, Copy)]
pub(super) struct Worth {
    pub(super) cost: BookMoney,
    /// Whether it was missing, and cost something else when it came.
    pub(super) was_missing: bool,
}

/// What a movement cost after all.
#[derive(Debug, Clone)]
pub(super) struct Cost {
    fact: stock_facts::Model,
    worth: Worth,
}

impl From<Cost> for Standing {
    fn from(Cost { fact, worth: Worth { cost, was_missing } }: Cost) -> Self {
        let (business, item, date, sequence) = (fact.business_id, fact.item_id, fact.date, fact.place);
        Self::Cost { business, item, date, sequence, cost, was_missing }
    }
}

impl Change {
    /// The facts that the document asked for.
    pub(super) fn asked(&self) -> &[stock_facts::Model] {
        &self.new[self.new.len() - self.asked..]
    }
}

/// Whether what comes on a day may end an evening that is kept: the first of that day, of an item with enough behind it.
pub(super) fn may_keep_an_evening(state: &stock::Model, day: Day) -> bool {
    state.last_date.is_some_and(|last| last < day) && state.last_sequence - BEFORE_THE_FIRST >= BETWEEN_SNAPSHOTS
}

/// What a document asks of an item on a day: its facts, and the lines by which it counts.
pub(super) type Asked<'a> = (Day, &'a [&'a Wanted], &'a [&'a Counted]);

/// What the facts that a document asks for, and those that it takes out, change of an item; nothing where it counts what
/// there is, and its place is known.
pub(super) async fn of(
    cx: &Cx<'_>,
    item: &Item,
    Begun { state, snapshot, named: known }: Begun,
    (date, asked, counts): Asked<'_>,
    gone: Vec<Gone>,
) -> Result<Option<Change>> {
    let terms = terms_of(cx, item)?;
    let (new, places) = new_facts(cx, item, state.as_ref(), (date, asked, counts), &gone)?;
    if new.is_empty() && gone.is_empty() {
        return Ok(state.map(|state| keeps_its_place(item, state, places)));
    }
    let days = new.iter().map(|fact| fact.date).filter(|day| *day != beginning());
    let earliest = days.clone().chain(gone.iter().map(|gone| gone.fact.date)).min().unwrap_or(date);
    // What comes out of days before is gone from the morning of its day on, and was there until then.
    let went = |gone: &Gone| if gone.fact.date < gone.day { gone.day.previous() } else { gone.day };
    let moved_from = days.chain(gone.iter().map(went)).min().unwrap_or(date);
    // What is posted now comes behind all counts of its day.
    let is_posted_now = gone.is_empty() && counts.is_empty();
    let moved_from = if is_posted_now { moved_from.next() } else { moved_from };
    let named: Vec<RecordId> = new.iter().filter_map(|fact| fact.of_line_id).collect();
    let writing = Writing { cx, item, terms, state, snapshot, earliest, moved_from, named, places };
    let both = match writing.at_the_end(&new, &gone, known).await? {
        Some(both) => both,
        None => writing.anew(&new, &gone).await?,
    };
    tracing::debug!(item = %item.id, facts = both.known.read, "stock was valued");
    writing.difference(both, new, asked.len(), gone).map(Some)
}

/// What a count changes that finds nothing: what comes next on its day comes behind it.
fn keeps_its_place(item: &Item, state: stock::Model, places: Places) -> Change {
    let last_sequence = last_of(&places, state.last_sequence);
    Change {
        new: Vec::new(),
        asked: 0,
        gone: Vec::new(),
        rest: Vec::new(),
        costs: Vec::new(),
        costs_of_new: HashMap::new(),
        was: state.quantity,
        state: stock::Model { last_sequence, ..state },
        reorder_level: item.reorder_level,
        places,
        dropped_from: None,
        snapshots: Vec::new(),
    }
}

fn last_of(places: &[(RecordId, i64)], known: i64) -> i64 {
    places.iter().map(|(_, place)| *place).fold(known, Ord::max)
}

/// The rows of what a document asks for, and where its counts stand. A new version keeps its place in the day, and so does a
/// count that finds nothing for a while.
fn new_facts(
    cx: &Cx<'_>,
    item: &Item,
    state: Option<&stock::Model>,
    (date, asked, counts): Asked<'_>,
    gone: &[Gone],
) -> Result<(Vec<stock_facts::Model>, Places)> {
    let business = cx.business_id()?;
    let mut place = state.map_or(BEFORE_THE_FIRST, |state| state.last_sequence);
    let mut new = Vec::with_capacity(asked.len() + 1);
    let empty = |line: RecordId, kind, accounts: super::Accounts| stock_facts::Model {
        business_id: business,
        id: RecordId(cx.new_id()),
        item_id: item.id,
        date,
        place: 0,
        // The document has no identity yet; it is given one when the fact is kept.
        document_id: RecordId::default(),
        line_id: line,
        kind,
        side: FactSide::Cost,
        quantity: Quantity::ZERO,
        amount: BookMoney::ZERO,
        standard: None,
        of_line_id: None,
        cancels_id: None,
        inventory_account_id: accounts.inventory,
        cost_account_id: accounts.cost,
        variance_account_id: accounts.variance,
        waits_account_id: accounts.waits,
        booked_stock: BookMoney::ZERO,
        booked_waits: BookMoney::ZERO,
        booked_cost: BookMoney::ZERO,
        booked_variance: BookMoney::ZERO,
        recorded_at: cx.now,
    };
    if let (None, Some(first)) = (state, asked.first()) {
        // What a unit costs before anything is known of it is what it was said to cost when its story begins; nothing, where
        // nobody had said anything. What is said later is of later.
        let cost = super::first_cost(item);
        if cost.is_some() || !sown(Fault::BeginsWithoutAWord) {
            new.push(stock_facts::Model {
                date: beginning(),
                document_id: item.id,
                standard: Some(cost.unwrap_or(UNKNOWN_COST)),
                ..empty(item.id, FactKind::Standard, first.accounts)
            });
        }
    }
    let mut taken: HashSet<i64> = HashSet::new();
    // What a count finds too few of, and then too many, is the same line of its day.
    let sort = |kind| match kind {
        FactKind::Issue | FactKind::CustomerReturn if !sown(Fault::SignLosesItsPlace) => FactKind::Receipt,
        kind => kind,
    };
    let mut next = |kept: Option<i64>| {
        kept.unwrap_or_else(|| {
            place += 1;
            place
        })
    };
    let mut places = Places::new();
    let count_of = |line: RecordId| counts.iter().find(|count| count.line == line);
    for one in asked {
        let same = |gone: &&Gone| {
            let fact = &gone.fact;
            (fact.line_id, sort(fact.kind), fact.of_line_id, fact.date) == (one.line, sort(one.kind), one.of, date)
                && !taken.contains(&fact.place)
        };
        let kept = gone.iter().find(same).map(|gone| gone.fact.place);
        let count = count_of(one.line);
        let held = count.and_then(|count| count.held.filter(|_| !count.is_overtaken));
        let own = next(held.or(kept));
        taken.insert(own);
        places.extend(count.map(|count| (one.line, count.held.unwrap_or(own))));
        new.push(stock_facts::Model {
            place: own,
            side: one.side,
            standard: one.standard,
            quantity: one.quantity,
            amount: one.amount,
            of_line_id: one.of,
            ..empty(one.line, one.kind, one.accounts)
        });
    }
    // Nothing is behind a count of what never moved.
    let finds_nothing = |count: &&&Counted| asked.iter().all(|one| one.line != count.line);
    let silent = counts.iter().filter(finds_nothing).filter(|_| !sown(Fault::CountLosesItsPlace));
    for count in silent.filter(|_| state.is_some() || !new.is_empty()) {
        let had = gone.iter().map(|gone| &gone.fact).find(|fact| (fact.line_id, fact.date) == (count.line, date));
        places.push((count.line, next(count.held.or(had.map(|fact| fact.place)))));
    }
    Ok((new, places))
}

/// The function before and after, over the same facts as far as both have them.
struct Both {
    known: Arc<Known>,
    before: History,
    after: History,
    /// The facts of after: those that are known, then the new ones.
    facts: Vec<Fact>,
    /// Whether it begins where the stock stands.
    at_the_end: bool,
}

struct Writing<'w> {
    cx: &'w Cx<'w>,
    item: &'w Item,
    terms: Terms,
    state: Option<stock::Model>,
    /// The place of the last snapshot, where another one may be due.
    snapshot: Option<i64>,
    earliest: Day,
    /// Counts from this day on may be made anew.
    moved_from: Day,
    named: Vec<RecordId>,
    places: Places,
}

impl Writing<'_> {
    /// What comes after all that there is goes on from where the stock stands. Where some of it is missing, only what goes out
    /// does: what comes in tells those who took it what it cost.
    async fn at_the_end(&self, new: &[stock_facts::Model], gone: &[Gone], known: OfLines) -> Result<Option<Both>> {
        let state = self.state.as_ref();
        let is_last = state.and_then(|state| state.last_date).is_none_or(|last| last <= self.earliest);
        let whole = state.map(state_in).is_none_or(|state| is_whole(&state));
        let goes_out = new.iter().all(|fact| fact.kind == FactKind::Issue);
        // A new standard cost comes before what moved on its day.
        let revalues = new.iter().any(|fact| fact.kind == FactKind::Standard && fact.is_listed());
        // Nor does a count that finds something after all come last, where more came behind it.
        let is_last = is_last && state.is_none_or(|state| new.iter().all(|fact| fact.place > state.last_sequence));
        if !gone.is_empty() || !is_last || !(whole || goes_out) || revalues {
            return Ok(None);
        }
        let own: HashSet<RecordId> = new.iter().map(|fact| fact.line_id).collect();
        let named: HashSet<RecordId> = self.named.iter().filter(|line| !own.contains(line)).copied().collect();
        let left = left_of(&self.terms, named, known)?;
        if left.missing_since.is_some() {
            return Ok(None);
        }
        let start = Start { state: state.map_or_else(State::default, state_in), pools: left.pools };
        let facts: Vec<Fact> = new.iter().filter_map(|row| fact_of(row, None)).collect();
        match history(&self.terms, &start, &facts) {
            Ok(after) => {
                self.judge((start.state.quantity, &[], &facts)).await?;
                let known = Arc::new(Known { start, read: left.read, ..Known::default() });
                Ok(Some(Both { known, before: History::default(), after, facts, at_the_end: true }))
            }
            Err(Failed::StartsTooLate(_)) => Ok(None),
            Err(other) => Err(failed(other)),
        }
    }

    /// Values from the last evening on that nothing of this touches.
    async fn anew(&self, new: &[stock_facts::Model], gone: &[Gone]) -> Result<Both> {
        self.cx.flush().await?;
        let mut before_day = self.earliest;
        loop {
            let item = (self.item.id, self.state.as_ref());
            let known = known(self.cx, &self.terms, item, before_day, &self.named).await?;
            let facts = known.facts();
            let without: HashMap<RecordId, Day> = gone.iter().map(|gone| (gone.fact.id, gone.day)).collect();
            let mut after_facts: Vec<Fact> = known
                .rows
                .iter()
                .filter_map(|row| fact_of(row, without.get(&row.id).or_else(|| known.cancelled.get(&row.id)).copied()))
                .collect();
            after_facts.extend(new.iter().filter_map(|row| fact_of(row, None)));
            let both = history(&self.terms, &known.start, &facts)
                .and_then(|before| Ok((before, history(&self.terms, &known.start, &after_facts)?)));
            match both {
                Ok((before, after)) => {
                    self.judge((known.start.state.quantity, &facts, &after_facts)).await?;
                    return Ok(Both { known, before, after, facts: after_facts, at_the_end: false });
                }
                // What a receipt cost is to be known from its own day on.
                Err(Failed::StartsTooLate(line)) => {
                    let earlier = self.day_of(line).await?;
                    if earlier >= before_day {
                        return Err(failed(Failed::StartsTooLate(line)));
                    }
                    before_day = earlier;
                }
                Err(other) => return Err(failed(other)),
            }
        }
    }

    async fn day_of(&self, line: RecordId) -> Result<Day> {
        let row = stock_facts::Entity::find()
            .filter(stock_facts::Column::BusinessId.eq(self.cx.business_id()?))
            .filter(stock_facts::Column::ItemId.eq(self.item.id))
            .filter(stock_facts::Column::LineId.eq(line))
            .order_by_asc(stock_facts::Column::Date)
            .model(&self.cx.db)
            .await?;
        Ok(row.ok_or_else(|| Error::internal("a line of stock has no fact"))?.date)
    }

    async fn judge(&self, facts: (Quantity, &[Fact], &[Fact])) -> Result<()> {
        missing::judge(self.cx, self.item, facts, (self.earliest, self.moved_from)).await
    }

    fn difference(
        &self,
        both: Both,
        mut new: Vec<stock_facts::Model>,
        asked: usize,
        gone: Vec<Gone>,
    ) -> Result<Change> {
        let old = both.known.rows.len();
        for (place, fact) in new.iter_mut().enumerate() {
            let booked = both.after.effect(old + place, fact.date).map_err(too_large)?;
            book(fact, booked);
        }
        let row = |at: usize| both.known.rows.get(at).unwrap_or_else(|| &new[at - old]);
        let mut rest: BTreeMap<(usize, Day), Effect> = BTreeMap::new();
        let mut totals: BTreeMap<usize, Effect> = BTreeMap::new();
        let mut add = |at: usize, day: Day, by: Effect| -> Result<()> {
            let sum = rest.entry((at, day)).or_default();
            *sum = sum.plus(by).map_err(too_large)?;
            Ok(())
        };
        for step in &both.before.steps {
            add(step.fact, step.day, Effect::default().minus(step.by).map_err(too_large)?)?;
        }
        for step in &both.after.steps {
            add(step.fact, step.day, step.by)?;
            let sum = totals.entry(step.fact).or_default();
            *sum = sum.plus(step.by).map_err(too_large)?;
        }
        // What documents post themselves: the new version its own, the reversal what was booked.
        for (place, fact) in new.iter().enumerate() {
            add(old + place, fact.date, Effect::default().minus(booked(fact)).map_err(too_large)?)?;
        }
        for gone in &gone {
            let at = both.known.rows.iter().position(|row| row.id == gone.fact.id);
            let at = at.ok_or_else(|| Error::internal("what is taken out of the stock is not in it"))?;
            add(at, gone.day, booked(&gone.fact))?;
        }
        let mut changed: HashSet<usize> =
            rest.iter().filter(|(_, by)| !by.is_nothing()).map(|((at, _), _)| *at).collect();
        changed.extend(both.before.corrected.symmetric_difference(&both.after.corrected));
        let left_out: HashSet<RecordId> = gone.iter().map(|gone| gone.fact.id).collect();
        let corrected = &both.after.corrected;
        let worth = |at: usize| Worth { cost: totals.sum_of(&at).stock, was_missing: corrected.contains(&at) };
        let costs = changed.iter().filter(|at| **at < old && row(**at).is_listed());
        let costs =
            costs.filter(|at| !left_out.contains(&row(**at).id) && !both.known.cancelled.contains_key(&row(**at).id));
        let costs = costs.map(|at| Cost { fact: row(*at).clone(), worth: worth(*at) }).collect();
        let costs_of_new = new.iter().enumerate().map(|(place, fact)| (fact.id, worth(old + place))).collect();
        let rest = rest.into_iter().filter(|(_, by)| !by.is_nothing());
        let rest = rest.map(|((at, day), by)| Rest { fact: row(at).clone(), day, by }).collect();
        let (dropped_from, snapshots) = self.snapshots(&both)?;
        let last_date = new.iter().map(|fact| fact.date).chain(gone.iter().map(|gone| gone.day)).max();
        let state = self.state_row(&both.after.state, last_date, &new)?;
        // Of what never moved there was nothing.
        let was = match &self.state {
            Some(state) => state.quantity,
            None => Quantity::ZERO,
        };
        let (reorder_level, places) = (self.item.reorder_level, self.places.clone());
        Ok(Change {
            new,
            asked,
            gone,
            rest,
            costs,
            costs_of_new,
            state,
            was,
            reorder_level,
            places,
            dropped_from,
            snapshots,
        })
    }

    fn state_row(&self, state: &State, last: Option<Day>, new: &[stock_facts::Model]) -> Result<stock::Model> {
        let (known_date, known_place) =
            self.state.as_ref().map_or((None, BEFORE_THE_FIRST), |state| (state.last_date, state.last_sequence));
        Ok(stock::Model {
            business_id: self.cx.business_id()?,
            item_id: self.item.id,
            quantity: state.quantity,
            value: state.value,
            last_date: known_date.max(last),
            last_sequence: new.iter().map(|fact| fact.place).fold(last_of(&self.places, known_place), Ord::max),
            known_cost: state.last.map(|(quantity, value)| AsJson(Layer { quantity, value, line: None })),
            layers: AsJson(state.layers.clone()),
            standard_cost: state.standard,
        })
    }

    fn snapshot(&self, date: Day, place: i64, state: State) -> Result<stock_snapshots::Model> {
        let business_id = self.cx.business_id()?;
        Ok(stock_snapshots::Model { business_id, item_id: self.item.id, date, place, state: AsJson(state) })
    }

    /// The evenings that are kept from now on.
    fn snapshots(&self, both: &Both) -> Result<(Option<Day>, Vec<stock_snapshots::Model>)> {
        if both.at_the_end {
            let is_due =
                |state: &&stock::Model| may_keep_an_evening(state, self.earliest) && is_whole(&state_in(state));
            let due = self.state.as_ref().filter(is_due);
            let Some((state, last)) = due.and_then(|state| Some((state, state.last_date?))) else {
                return Ok((None, Vec::new()));
            };
            if state.last_sequence - self.snapshot.unwrap_or(BEFORE_THE_FIRST) < BETWEEN_SNAPSHOTS {
                return Ok((None, Vec::new()));
            }
            return Ok((None, vec![self.snapshot(last, state.last_sequence, state_in(state))?]));
        }
        if sown(Fault::SnapshotNotDropped) {
            return Ok((None, Vec::new()));
        }
        let mut on_day: BTreeMap<Day, i64> = BTreeMap::new();
        for fact in &both.facts {
            *on_day.entry(fact.day).or_default() += 1;
        }
        let end = both.after.states.keys().next_back().copied();
        let (mut counted, mut kept) = (both.known.counted, both.known.counted);
        let mut snapshots = Vec::new();
        for (day, state) in &both.after.states {
            counted += on_day.sum_of(day);
            if counted - kept >= BETWEEN_SNAPSHOTS && Some(*day) != end && is_whole(state) {
                snapshots.push(self.snapshot(*day, counted, state.clone())?);
                kept = counted;
            }
        }
        snapshots.retain(|snapshot| snapshot.date >= self.earliest);
        Ok((Some(self.earliest), snapshots))
    }
}
