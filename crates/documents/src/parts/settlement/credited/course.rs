//! What the books should say of one fact by which days, and what they do.

use crate::day::Day;
use crate::error::Result;
use rules::tax::credited::{Figures, NOTHING, added, figures, taken, with};
use rules::tax::facts::TaxFact;
use std::collections::{BTreeMap, BTreeSet};
use words::sown::{Fault, sown};

/// What one document tells of one kind of fact where it stands: what it should by these days, and what is in the books of
/// these days.
#[derive(Default)]
pub(super) struct Course {
    pub(super) wanted: BTreeMap<Day, TaxFact>,
    pub(super) booked: Vec<(Day, TaxFact)>,
}

impl Course {
    /// What the books are short of, day by day.
    pub(super) fn differences(&self, open: impl Fn(Day) -> Result<Day>) -> Result<Vec<(Day, TaxFact)>> {
        let said_on = self.wanted.keys().map(|day| open(*day)).collect::<Result<BTreeSet<Day>>>()?;
        let mut days = said_on.clone();
        for (day, _) in &self.booked {
            days.insert(open(*day)?);
        }
        let mut found = Vec::new();
        let mut posted: Figures = NOTHING;
        for day in days {
            let said = self.wanted.range(..=day).next_back().map(|(_, said)| said);
            let mut there = self.booked.iter().filter(|(at, _)| *at <= day);
            let booked = there.clone().try_fold(posted, |sum, (_, fact)| added(sum, figures(fact)));
            let booked = booked.map_err(super::too_large)?;
            let wanted = said.map_or(NOTHING, figures);
            let by = taken(wanted, booked).map_err(super::too_large)?;
            if by == NOTHING {
                continue;
            }
            posted = added(posted, by).map_err(super::too_large)?;
            let last = there.next_back();
            let is_unsaid = !said_on.contains(&day) && (said.is_none() || !sown(Fault::UnsaidForAnotherDay));
            let fact = match (last, said) {
                // Taken back on its own day it counts for the day that it counted for.
                (Some((at, fact)), _) if *at == day && is_unsaid => fact.clone(),
                (_, Some(fact)) => fact.clone(),
                (Some((_, fact)), None) => TaxFact { date: Ord::max(day, fact.date), ..fact.clone() },
                (None, None) => continue,
            };
            // One whose tax comes to nothing stands on no account.
            let account = fact.account.or_else(|| self.booked.iter().find_map(|(_, fact)| fact.account));
            found.push((day, with(&TaxFact { account, ..fact }, by)));
        }
        Ok(found)
    }

    /// On this day it says so much more.
    pub(super) fn want(&mut self, day: Day, fact: &TaxFact) -> Result<()> {
        let more = match self.wanted.get(&day) {
            Some(known) => added(figures(known), figures(fact)).map_err(super::too_large)?,
            None => figures(fact),
        };
        self.wanted.insert(day, with(fact, more));
        Ok(())
    }

    /// What was not said on this day is nothing from then on.
    pub(super) fn end(&mut self, day: Day) {
        let Some((last, said)) = self.wanted.iter().next_back() else { return };
        if *last < day && figures(said) != NOTHING {
            let nothing = TaxFact { date: Ord::max(day, said.date), ..with(said, NOTHING) };
            self.wanted.insert(day, nothing);
        }
    }
}
