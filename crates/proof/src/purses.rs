//! Money in other currencies: what the ledger carries it at on each day, and what all that moved it comes to, reckoned anew
//! from the first line on, in whole numbers, one move after the other.

use super::replay::rounded;
use super::{Check, Findings, Wide, shown};
use crate::day::Day;
use crate::ids::RecordId;
use crate::money::{Money, Rounding};
use schema::reader::Reader;
use schema::tables::{DocumentKind, EntryKind, entries, entry_lines};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use words::sums::Sums as _;

/// An account of money and what of it is in one currency.
type Purse = (RecordId, String);

/// A line on an account of money in another currency.
struct Told {
    purse: Purse,
    day: Day,
    number: i64,
    entry: RecordId,
    document: RecordId,
    own: Wide,
    home: Wide,
    what: What,
    /// A transfer from one of them to another.
    is_transfer: bool,
}

#[derive(PartialEq, Eq)]
enum What {
    Moves,
    TakesBack(Option<RecordId>),
    /// What money is carried at by now.
    Follows,
}

/// What of the ledger is about money in other currencies.
#[derive(Default)]
pub(super) struct Purses {
    base: String,
    coin: Wide,
    rounding: Rounding,
    /// Accounts of money, their codes, and the last entry that was carried at what it said.
    accounts: HashMap<RecordId, (String, i64)>,
    told: Vec<Told>,
}

impl Purses {
    pub(super) fn of(reader: &Reader<'_>, accounts: HashMap<RecordId, (String, i64)>) -> Self {
        Self {
            base: reader.company().base_currency.clone(),
            coin: Money::smallest(reader.decimals()).units().into(),
            rounding: reader.company().settings.0.rounding_mode.rounding(),
            accounts,
            told: Vec::new(),
        }
    }

    /// With what later entries say.
    pub(super) fn add(&mut self, later: Self) {
        self.told.extend(later.told);
    }

    /// The accounts of money.
    pub(super) fn accounts(&self) -> Vec<RecordId> {
        self.accounts.keys().copied().collect()
    }

    /// Takes what an entry says of them. What is revalued is taken back on the next day, and is no part of it.
    pub(super) fn hear(&mut self, header: &entries::Model, lines: &[entry_lines::Model]) {
        if header.document_kind == DocumentKind::Revaluation {
            return;
        }
        let abroad =
            |line: &&entry_lines::Model| self.accounts.contains_key(&line.account_id) && line.currency != self.base;
        let lines: Vec<&entry_lines::Model> = lines.iter().filter(abroad).collect();
        for line in &lines {
            self.told.push(Told {
                purse: (line.account_id, line.currency.clone()),
                day: line.date,
                number: header.number,
                entry: header.id,
                document: header.document_id,
                own: line.own().units().into(),
                home: line.amount.units().into(),
                what: match header.kind {
                    EntryKind::Reversal => What::TakesBack(header.reverses_id),
                    EntryKind::ExchangeAdjustment => What::Follows,
                    _ => What::Moves,
                },
                is_transfer: lines.len() > 1 && header.document_kind == DocumentKind::ContraEntry,
            });
        }
    }

    fn share(&self, whole: Wide, part: Wide, all: Wide) -> Wide {
        if part == all {
            return whole;
        }
        rounded(self.rounding, self.coin, whole * part, all)
    }

    /// What an account gives up for what is moved: of what is there its share, and what is beyond as it is said.
    fn worth(&self, (there, carried): (Wide, Wide), own: Wide, said: Wide) -> Wide {
        if there.signum() * own.signum() >= 0 {
            return said;
        }
        let given = Ord::min(own.abs(), there.abs());
        let beyond = own.abs() - given;
        let rest = if beyond == 0 { 0 } else { self.share(said, beyond, own.abs()) };
        rest - self.share(carried, given, there.abs())
    }

    /// Adds what of these counted on a day.
    fn go_on(
        &self,
        there: &mut BTreeMap<Purse, (Wide, Wide)>,
        moves: &[&Told],
        day: Day,
        ends: &HashMap<RecordId, Day>,
    ) {
        let counts = |one: &&&Told| one.day <= day && ends.get(&one.entry).is_none_or(|end| *end > day);
        let counting: Vec<&&Told> = moves.iter().filter(counts).collect();
        for lines in counting.chunk_by(|one, next| one.number == next.number) {
            let mut handed = 0;
            let (out, into): (Vec<&&Told>, Vec<&&Told>) = lines.iter().partition(|one| one.is_transfer && one.own < 0);
            for one in out.into_iter().chain(into) {
                let known = there.sum_of(&one.purse);
                let is_old = self.accounts.get(&one.purse.0).is_some_and(|(_, last)| one.number <= *last);
                let worth = if is_old {
                    one.home
                } else if one.is_transfer && one.own < 0 {
                    let worth = self.worth(known, one.own, one.home);
                    handed += worth - one.home;
                    worth
                } else {
                    let said = if one.is_transfer { one.home - std::mem::take(&mut handed) } else { one.home };
                    self.worth(known, one.own, said)
                };
                there.insert(one.purse.clone(), (known.0 + one.own, known.1 + worth));
            }
        }
    }

    pub(super) fn check(mut self) -> Check {
        self.told.sort_by_key(|one| (one.day, one.document, one.number));
        let ends: HashMap<RecordId, Day> = self
            .told
            .iter()
            .filter_map(|one| match one.what {
                What::TakesBack(Some(entry)) => Some((entry, one.day)),
                _ => None,
            })
            .collect();
        let moves: Vec<&Told> = self.told.iter().filter(|one| one.what == What::Moves).collect();
        // Days from which on something of an earlier one never was.
        let late: BTreeSet<Day> =
            moves.iter().filter_map(|one| ends.get(&one.entry).copied().filter(|end| *end > one.day)).collect();
        let days: BTreeSet<Day> = self.told.iter().map(|one| one.day).collect();
        let mut ledger: BTreeMap<Purse, Wide> = BTreeMap::new();
        let mut there: BTreeMap<Purse, (Wide, Wide)> = BTreeMap::new();
        let (mut left, mut right, mut next, mut told) = (0, 0, 0, 0);
        let mut findings = Findings::default();
        for day in days {
            while let Some(one) = self.told.get(next).filter(|one| one.day == day) {
                *ledger.entry(one.purse.clone()).or_default() += one.home;
                next += 1;
            }
            if late.contains(&day) {
                there.clear();
                told = 0;
            }
            let end = moves.partition_point(|one| one.day <= day);
            self.go_on(&mut there, &moves[told..end], day, &ends);
            told = end;
            for (purse, says) in &ledger {
                let (_, carried) = there.sum_of(purse);
                (left, right) = (left + says.abs(), right + carried.abs());
                if *says != carried {
                    let code = self.accounts.get(&purse.0).map_or("", |(code, _)| code.as_str());
                    let (says, carried) = (shown(*says), shown(carried));
                    findings.add(format!("{code} in {} is at {says} on {day}; it is carried at {carried}", purse.1));
                }
            }
        }
        let name = "Money in other currencies is carried at what was paid for it, on every day";
        Check::of("F1", name, shown(left), shown(right), findings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u128) -> RecordId {
        RecordId(uuid::Uuid::from_u128(number))
    }

    /// Entries of 1010, one after the other: a day, an amount and what it is at home, in hundredths.
    fn proved(entries: &[(&str, What, Wide, Wide)], last_of_before: i64) -> (String, String, Vec<String>) {
        let told = entries.iter().zip(1..).map(|((day, what, own, home), number)| Told {
            purse: (id(1010), "USD".into()),
            day: format!("2026-{day}").parse().unwrap(),
            number,
            entry: id(u128::from(number.unsigned_abs())),
            document: id(u128::from(number.unsigned_abs())),
            own: own * 100,
            home: home * 100,
            what: match what {
                What::Moves => What::Moves,
                What::TakesBack(of) => What::TakesBack(*of),
                What::Follows => What::Follows,
            },
            is_transfer: false,
        });
        let purses = Purses {
            base: "EUR".into(),
            coin: 100,
            rounding: Rounding::HalfUp,
            accounts: HashMap::from([(id(1010), ("1010".to_owned(), last_of_before))]),
            told: told.collect(),
        };
        let check = purses.check();
        assert_eq!(check.ok, check.findings.is_empty());
        (check.left, check.right, check.findings)
    }

    #[test]
    fn money_that_left_at_another_value_than_its_own_is_found_on_its_day() {
        let (came, left) = (("01-10", What::Moves, 100_000, 90_000), ("01-25", What::Moves, -50_000, -47_500));
        let put_right = ("01-25", What::Follows, 0, 2_500);
        let whole = proved(&[came, left, put_right], 0);
        assert_eq!(whole, ("1350.00".into(), "1350.00".into(), Vec::new()));
        let (came, left) = (("01-10", What::Moves, 100_000, 90_000), ("01-25", What::Moves, -50_000, -47_500));
        let found = proved(&[came, left], 0).2;
        assert_eq!(found, ["1010 in USD is at 425.00 on 2026-01-25; it is carried at 450.00"]);
        // Posted before there was the rule.
        let (came, left) = (("01-10", What::Moves, 100_000, 90_000), ("01-25", What::Moves, -50_000, -47_500));
        assert_eq!(proved(&[came, left], 2).2, Vec::<String>::new());
        // Void from February on: until then it was there.
        let (came, left) = (("01-10", What::Moves, 100_000, 90_000), ("01-25", What::Moves, -50_000, -47_500));
        let (put_right, back) =
            (("01-25", What::Follows, 0, 2_500), ("02-05", What::TakesBack(Some(id(2))), 50_000, 47_500));
        let found = proved(&[came, left, put_right, back], 0).2;
        assert_eq!(found, ["1010 in USD is at 925.00 on 2026-02-05; it is carried at 900.00"]);
    }
}
