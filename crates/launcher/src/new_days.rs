//! Looks for days that begin in companies, and has told what they bring.
//!
//! Owns: when is looked, and where. What was told stands in the books: a process that begins looks everywhere once. Of several
//! processes of one database one looks at a time, and where another was faster nothing is told again.

use crate::tenants::Books;
use ledger_core::database::Duty;
use ledger_core::day::Day;
use ledger_core::error::Error;
use ledger_core::ids::BusinessId;
use ledger_core::ledger::Ledger;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::time::sleep;

/// Some books, as long as they are open.
struct Place {
    ledger: Weak<Ledger>,
    /// The day that each company had when all was told there.
    seen: HashMap<BusinessId, Day>,
    /// Companies of which that could not be told the last time.
    failing: HashSet<BusinessId>,
    /// Whether nobody could say what day it is anywhere.
    is_failing: bool,
}

/// Goes on as long as the process does.
pub(crate) async fn look(books: Arc<Books>, every: Duration) {
    let mut places: Vec<Place> = Vec::new();
    loop {
        sleep(every).await;
        places.retain(|place| place.ledger.strong_count() > 0);
        for ledger in books.ledgers() {
            let known = places.iter().position(|place| place.ledger.as_ptr() == Arc::as_ptr(&ledger));
            let known = known.unwrap_or_else(|| {
                places.push(Place::of(&ledger));
                places.len() - 1
            });
            places[known].look(&ledger).await;
        }
    }
}

/// Those whose day is another than it was.
fn begun(seen: &HashMap<BusinessId, Day>, todays: Vec<(BusinessId, Day)>) -> Vec<(BusinessId, Day)> {
    todays.into_iter().filter(|(business, today)| seen.get(business) != Some(today)).collect()
}

impl Place {
    fn of(ledger: &Arc<Ledger>) -> Self {
        let (seen, failing) = (HashMap::new(), HashSet::new());
        Self { ledger: Arc::downgrade(ledger), seen, failing, is_failing: false }
    }

    /// What goes wrong is said once, and tried again the next time.
    async fn look(&mut self, ledger: &Arc<Ledger>) {
        match self.tell(ledger).await {
            Ok(()) => self.is_failing = false,
            Err(error) if self.is_failing => tracing::debug!(?error, "what a new day brings is told later"),
            Err(error) => {
                self.is_failing = true;
                tracing::warn!(code = "new_day_not_seen", ?error, "what a new day brings is told later");
            }
        }
    }

    async fn tell(&mut self, ledger: &Arc<Ledger>) -> Result<(), Error> {
        let begun = begun(&self.seen, ledger.todays().await?);
        if begun.is_empty() {
            return Ok(());
        }
        // It is held as long as it takes, and no longer: a connection less is open.
        let mut alone = ledger.alone(Duty::Days).await?;
        if !alone.is_ours().await? {
            return Ok(());
        }
        for (business, today) in begun {
            match ledger.tell_overdue(business).await {
                Ok(()) => {
                    self.failing.remove(&business);
                    self.seen.insert(business, today);
                }
                Err(error) if !self.failing.insert(business) => {
                    tracing::debug!(%business, ?error, "what is overdue is told later");
                }
                Err(error) => {
                    tracing::warn!(code = "overdue_not_told", %business, ?error, "what is overdue is told later");
                }
            }
            // Whoever was not heard of for long holds it no more, and goes on when it is theirs again.
            if ledger.is_silent() || !alone.is_ours().await? {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_begins_where_it_is_another_than_it_was() {
        let [one, other] = [BusinessId::default(), BusinessId::parse("0190a000-0000-7000-8000-000000000001").unwrap()];
        let day = |day| Day::new(2026, 11, day).unwrap();
        let seen = HashMap::from([(one, day(5))]);
        for (today, begins) in [(4, true), (5, false), (6, true)] {
            let expected = if begins { vec![(one, day(today))] } else { vec![] };
            assert_eq!(begun(&seen, vec![(one, day(today))]), expected, "{today}");
        }
        assert_eq!(begun(&seen, vec![(one, day(5)), (other, day(5))]), [(other, day(5))], "one that is new");
    }
}
