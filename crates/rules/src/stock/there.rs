//! Whether what goes out is there: judged after every movement, as its day saw it.

use super::{Fact, TooLarge, more};
use std::collections::{BTreeMap, BTreeSet};
use words::day::Day;
use words::money::Quantity;
use words::sown::{Fault, sown};
use words::sums::Lists as _;

/// The first day on which something is missing that was there before, and how much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Short {
    pub day: Day,
    pub missing: Quantity,
}

/// The least that there is on each day of movements, or on which some never were. A day sees what was cancelled later.
fn least(begun: Quantity, facts: &[Fact], days: &BTreeSet<Day>) -> Result<BTreeMap<Day, Quantity>, TooLarge> {
    let mut by_day: BTreeMap<Day, Vec<&Fact>> = BTreeMap::new();
    let mut gone: BTreeMap<Day, Quantity> = BTreeMap::new();
    for fact in facts {
        match fact.cancelled {
            // It never was.
            Some(cancelled) if cancelled <= fact.day => {}
            Some(cancelled) => {
                let sum = gone.entry(cancelled).or_default();
                *sum = more(*sum, Quantity::from_units(-fact.moves().units()))?;
                by_day.entry(fact.day).or_default().push(fact);
            }
            None => by_day.entry(fact.day).or_default().push(fact),
        }
    }
    let all: BTreeSet<Day> = by_day.keys().chain(gone.keys()).chain(days).copied().collect();
    let (mut there, mut found) = (begun, BTreeMap::new());
    for day in all {
        if let Some(gone) = gone.get(&day) {
            there = more(there, *gone)?;
        }
        let mut least: Option<Quantity> = None;
        let mut of_day = by_day.take_list(&day);
        of_day.sort_by_key(|fact| fact.order());
        for fact in of_day {
            there = more(there, fact.moves())?;
            least = Some(least.map_or(there, |least| Ord::min(least, there)));
        }
        // What never was is missed at the end of the day at the latest.
        found.insert(day, Ord::min(least.unwrap_or(there), there));
    }
    Ok(found)
}

/// What there was on some evening, and what came of it since.
pub type Since<'f> = (Quantity, &'f [Fact]);

/// What a change leaves missing: judged on every day from one on, against what there was without it. Both may be known from
/// another evening on, before that day.
pub fn first_shortage(before: Since<'_>, after: Since<'_>, from: Day) -> Result<Option<Short>, TooLarge> {
    let ((begun, before), (begun_after, after)) = (before, after);
    let mut days: BTreeSet<Day> = before.iter().chain(after).map(|fact| fact.day).collect();
    days.extend(before.iter().chain(after).filter_map(|fact| fact.cancelled));
    let (was, is) = (least(begun, before, &days)?, least(begun_after, after, &days)?);
    let last = days.last().copied();
    let is = is.into_iter().filter(|(day, _)| !sown(Fault::ShortageJudgedAtTheEnd) || Some(*day) == last);
    let short = is.filter(|(day, there)| *day >= from && there.is_negative());
    let worse = short.filter(|(day, there)| was.get(day).is_none_or(|before| there < before));
    let mut worse = worse.map(|(day, there)| Short { day, missing: Quantity::from_units(-there.units()) });
    Ok(worse.next())
}
