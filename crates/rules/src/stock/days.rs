//! The function day by day: what it changes on which day, and where it stands in the end.

use super::replay::{Replay, Start};
use super::state::State;
use super::{Effect, Fact, Kind, Method, Pools, Side, Terms, TooLarge};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use words::day::Day;
use words::ids::RecordId;
use words::money::BookMoney;
use words::sown::{Fault, sown};
use words::sums::Sums as _;

/// What the function changes of a fact on a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    pub day: Day,
    /// Its place among the facts.
    pub fact: usize,
    pub by: Effect,
}

/// All that the function changes, from its start to its last day.
#[derive(Debug, Clone, Default)]
pub struct History {
    pub steps: Vec<Step>,
    /// What is there after each day on which something happened.
    pub states: BTreeMap<Day, State>,
    pub state: State,
    pub pools: HashMap<RecordId, Pools>,
    /// The facts whose goods were missing when they went, and cost something else when they came. What is left of such a
    /// line hangs on what was taken of it by then, and not on what it cost after all.
    pub corrected: BTreeSet<usize>,
}

impl History {
    /// What a fact comes to at the end of a day.
    pub fn effect(&self, fact: usize, day: Day) -> Result<Effect, TooLarge> {
        let of_fact = self.steps.iter().filter(|step| step.fact == fact && step.day <= day);
        of_fact.map(|step| step.by).try_fold(Effect::default(), Effect::plus)
    }
}

/// Why there is no history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failed {
    TooLarge,
    /// A receipt cost something else after all, and it lies before the start.
    StartsTooLate(RecordId),
}

impl From<TooLarge> for Failed {
    fn from(_: TooLarge) -> Self {
        Self::TooLarge
    }
}

/// What is left of a line, from the facts that name it alone. What it cost is known, where it went out, or came in and
/// names nothing that it comes back from. Of what was missing, and cost something else when it came, these facts say too
/// little: it is to be valued from its own day on.
pub fn pools_of(terms: &Terms, line: RecordId, facts: &[Fact], cost: Option<BookMoney>) -> Result<Pools, Failed> {
    // What was replaced by a new version of the line left nothing.
    let live = |fact: &&Fact| fact.cancelled.is_none() && (fact.line == line || fact.of == Some(line));
    let mut own: Vec<Fact> = facts.iter().filter(live).copied().collect();
    let is_costed = |fact: &&Fact| fact.line == line && (fact.kind == Kind::Issue || fact.kind == Kind::CustomerReturn);
    if let (Some(cost), Some(issue)) = (cost, own.iter().find(is_costed)) {
        // So much is there, at that: all of it goes, or what comes in costs as much.
        let place = i64::MIN;
        let brought = Fact {
            line: RecordId::default(),
            kind: Kind::Receipt,
            side: Side::Document,
            place,
            amount: cost,
            ..*issue
        };
        // What came back before it went took nothing of it.
        let begins = issue.order();
        own.retain(|fact| fact.line == line || fact.kind != Kind::CustomerReturn || fact.order() > begins);
        own.push(brought);
    }
    let terms = Terms { method: Method::Average, ..*terms };
    let found = history(&terms, &Start::default(), &own)?;
    Ok(found.pools.sum_of(&line))
}

/// Walks through the days of facts. A day that says something of what is earlier, that it cost something else or never
/// was, values everything anew; any other day goes on where the last one ended.
pub fn history(terms: &Terms, start: &Start, facts: &[Fact]) -> Result<History, Failed> {
    let mut order: Vec<usize> = (0..facts.len()).collect();
    order.sort_by_key(|at| (facts[*at].order(), *at));
    let mut by_day: BTreeMap<Day, Vec<usize>> = BTreeMap::new();
    let mut cancelling: BTreeSet<Day> = BTreeSet::new();
    for at in &order {
        by_day.entry(facts[*at].day).or_default().push(*at);
        cancelling.extend(facts[*at].cancelled.filter(|cancelled| *cancelled > facts[*at].day));
    }
    let days: BTreeSet<Day> = by_day.keys().copied().chain(cancelling.iter().copied()).collect();
    let mut found = History { state: start.state.clone(), pools: start.pools.clone(), ..History::default() };
    let lines: BTreeSet<RecordId> = facts.iter().map(|fact| fact.line).collect();
    let mut replay = Replay::new(terms, facts, start);
    let mut known = vec![Effect::default(); facts.len()];
    for day in days {
        let of_day = by_day.get(&day).map_or(&[][..], Vec::as_slice);
        let now: Vec<usize> = of_day.iter().copied().filter(|at| facts[*at].counts_on(day)).collect();
        let earlier =
            |dearer: &BTreeSet<RecordId>| dearer.iter().any(|line| !now.iter().any(|at| facts[*at].line == *line));
        let dearer = replay.told(&now)?;
        if cancelling.contains(&day) || (earlier(&dearer) && !sown(Fault::LateCostForgotten)) {
            let all: Vec<usize> = order.iter().copied().filter(|at| facts[*at].counts_on(day)).collect();
            let touched: BTreeSet<usize> = (0..facts.len()).filter(|at| facts[*at].day <= day).collect();
            replay = Replay::new(terms, facts, start);
            known_lines(&lines, replay.told(&all)?)?;
            replay.value(&all)?;
            replay.touched = touched;
        } else {
            replay.value(&now)?;
        }
        for at in std::mem::take(&mut replay.touched) {
            let by = replay.effects[at].minus(known[at])?;
            if !by.is_nothing() {
                found.steps.push(Step { day, fact: at, by });
                known[at] = replay.effects[at];
            }
        }
        found.states.insert(day, replay.state.clone());
    }
    found.state = replay.state;
    found.pools = replay.pools;
    found.corrected = replay.corrected;
    Ok(found)
}

/// Receipts that cost something else, all of which must lie within the facts.
fn known_lines(lines: &BTreeSet<RecordId>, dearer: BTreeSet<RecordId>) -> Result<BTreeSet<RecordId>, Failed> {
    match dearer.iter().find(|line| !lines.contains(line)) {
        Some(line) => Err(Failed::StartsTooLate(*line)),
        None => Ok(dearer),
    }
}
