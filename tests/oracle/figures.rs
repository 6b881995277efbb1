//! Functions from the books and a day to figures.

use super::books::{Books, Posting, TaxFigures};
use super::command::{Key, What};
use super::stock::{Fact, Kind, Outcome, lives, on, story};
use super::world::{DAYS, ITEMS, account};
use std::collections::{BTreeMap, BTreeSet};

impl Books {
    /// What an item comes to on each day.
    pub fn item(&self, item: usize) -> Vec<Outcome> {
        let facts: Vec<&Fact> = self.facts.iter().filter(|fact| fact.item == item).collect();
        let mut days: BTreeSet<usize> = facts.iter().flat_map(|fact| [Some(fact.day), fact.until]).flatten().collect();
        days.extend(self.changes.iter().flat_map(|change| [Some(change.day), change.until]).flatten());
        let mut known = Outcome::default();
        (0..DAYS)
            .map(|day| {
                if days.contains(&day) {
                    known = on(ITEMS[item].0, &facts, &self.changes, day);
                }
                known.clone()
            })
            .collect()
    }

    /// What each day moves, account by account.
    pub fn days(&self) -> Vec<BTreeMap<u16, i128>> {
        let mut days: Vec<BTreeMap<u16, i128>> = vec![BTreeMap::new(); DAYS];
        let mut add = |day: usize, post: &[Posting], times: i128| {
            for (account, amount) in post {
                *days[day].entry(*account).or_default() += amount * times;
            }
        };
        for one in self.documents.values() {
            add(one.day, &one.post, 1);
            if let Some(until) = one.until {
                add(until, &one.post, -1);
            }
        }
        for one in self.settled.values() {
            add(one.asked.day, &one.post, 1);
            if let Some(until) = one.until {
                add(until, &one.post, -1);
            }
        }
        for item in 0..ITEMS.len() {
            let mut before = BTreeMap::new();
            for (day, there) in self.item(item).iter().enumerate() {
                let now = self.of_stock(item, there, day);
                let moved: Vec<Posting> = now
                    .keys()
                    .chain(before.keys())
                    .collect::<BTreeSet<_>>()
                    .into_iter()
                    .map(|account| {
                        let of = |sums: &BTreeMap<u16, i128>| sums.get(account).copied().unwrap_or_default();
                        (*account, of(&now) - of(&before))
                    })
                    .collect();
                add(day, &moved, 1);
                before = now;
            }
        }
        for day in &mut days {
            day.retain(|_, amount| *amount != 0);
            assert_eq!(day.values().sum::<i128>(), 0, "the oracle's own day balances: {day:?}");
        }
        days
    }

    /// What an item makes of accounts up to a day, beside what the documents that brought it post.
    fn of_stock(&self, item: usize, there: &Outcome, day: usize) -> BTreeMap<u16, i128> {
        let mut sums: BTreeMap<u16, i128> = BTreeMap::new();
        let mut add = |account: u16, amount: i128| *sums.entry(account).or_default() += amount;
        add(account::STOCK, there.value);
        add(account::ADJUSTED, there.adjusted);
        for fact in self.facts.iter().filter(|fact| fact.item == item && lives(fact.day, fact.until, day)) {
            let what = &self.documents[&fact.source.0].what;
            let cost = there.cost.get(&fact.source).copied().unwrap_or_default();
            let above = there.above.get(&fact.source).copied().unwrap_or_default();
            match (&fact.kind, what) {
                (Kind::Issue { .. }, What::Adjust { .. }) => add(account::ADJUSTED, cost),
                (Kind::Issue { waits: false }, _) => add(account::COST, cost),
                (Kind::Issue { waits: true }, _) => {
                    let [waits, done] = there.waits[&fact.source];
                    add(account::DELIVERED, waits);
                    add(account::COST, done);
                }
                // It was taken off what waits.
                (Kind::Back { .. }, What::Return { .. }) | (Kind::Invoiced(_) | Kind::Standard(_), _) => {}
                (Kind::Back { .. }, _) => add(account::COST, -cost),
                // What it cost by its note, or by what billed it since, waits no longer; the difference to what left is a
                // variance.
                (Kind::Sent(of), What::Return { .. }) => {
                    let facts: Vec<&Fact> = self.facts.iter().filter(|one| one.item == item).collect();
                    let said = story(&facts, &self.changes, *of, day).back[&fact.source];
                    add(account::RECEIVED, said);
                    add(account::VARIANCE, cost - said);
                }
                // What the document says stands there as well.
                (Kind::Sent(_), _) => add(account::VARIANCE, cost),
                (Kind::Receipt(amount), What::Adjust { .. }) => add(account::ADJUSTED, above - amount),
                // Its document posts what was paid.
                (Kind::Receipt(amount), what) => {
                    let own = if matches!(what, What::Note(_)) { account::RECEIVED } else { account::STOCK };
                    add(own, -amount);
                    add(account::VARIANCE, above);
                    // What it came to cost more or less was posted where goods wait.
                    let facts: Vec<&Fact> = self.facts.iter().filter(|one| one.item == item).collect();
                    add(account::RECEIVED, -story(&facts, &self.changes, fact.source, day).dearer);
                }
            }
        }
        sums
    }

    /// What is open of each document on a day, in the company's currency; a debit is positive.
    pub fn open_on(&self, receivable: bool, day: usize) -> BTreeMap<Key, i128> {
        let mut open = BTreeMap::new();
        let live = self.documents.iter().filter(|(_, one)| lives(one.day, one.until, day));
        for (key, one) in live {
            let Some(item) = one.open.as_ref().filter(|open| open.receivable == receivable) else { continue };
            let taken: i128 = self
                .settled
                .values()
                .filter(|settled| lives(settled.asked.day, settled.until, day))
                .map(|settled| {
                    let of = |of: Key, base: i128| if of == *key { base } else { 0 };
                    of(settled.asked.source, settled.source_base) + of(settled.asked.target, settled.target_base)
                })
                .sum();
            open.insert(*key, item.sign() * (item.base - taken));
        }
        open.retain(|_, amount| *amount != 0);
        open
    }

    /// The tax that counts on a day, by code.
    pub fn tax_on(&self, day: usize) -> BTreeMap<Option<usize>, TaxFigures> {
        let mut rows: BTreeMap<Option<usize>, TaxFigures> = BTreeMap::new();
        let of_documents = self.documents.values().map(|one| (one.day, one.until, &one.tax));
        let of_settled = self.settled.values().map(|one| (one.asked.day, one.until, &one.tax));
        for (from, until, tax) in of_documents.chain(of_settled) {
            for row in tax {
                let back = until.map(|until| if until == from { row.day } else { until });
                let times = i128::from(row.day == day) - i128::from(back == Some(day));
                let sums = rows.entry(row.code).or_default();
                sums.iter_mut().zip(row.figures).for_each(|(sum, figure)| *sum += figure * times);
            }
        }
        rows.retain(|_, figures| figures.iter().any(|figure| *figure != 0));
        rows
    }
}
