//! What settlements take off the tax of a document, judged of what there is.
//!
//! A discount takes its share of the bases and taxes that are left of a document on its day: of its lines as they are, less
//! what credits of that day or before took off, and what was taken off before; of a kind of tax of which these together
//! take all, nothing is left. What was on those days changes: lines are
//! written anew, a credit comes that is dated before, or is void. Then the discount is judged anew, and takes what it would
//! have taken. So the same facts come to the same tax, whatever came first. A credit of a later day leaves it as it is; what
//! both together take beyond all [`super::credited`] gives back.

use super::credited::{Figures, Kind, NOTHING, Step, Whose, added, figures, kind, taken, with, within};
use super::facts::{TaxFact, TaxOrigin};
use super::figures::TooLarge;
use super::settlement::{Off, Settling, paid, reduced, reduced_by_nothing};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use words::day::Day;
use words::exact::{BookCoin, Exact};
use words::ids::RecordId;
use words::money::{BookMoney, Money, Percent};
use words::sown::{Fault, sown};

/// Something that a settlement takes off a document, reducing its tax.
#[derive(Debug, Clone, Copy)]
pub struct Taking {
    /// The document that settles.
    pub source: RecordId,
    pub origin: TaxOrigin,
    /// Where the rest of it stands.
    pub stands_on: RecordId,
    pub day: Day,
    /// The day from which it is no more.
    pub until: Option<Day>,
    pub off: Off,
}

/// By the end of a day, all that each of the takings takes, by its place among them.
#[derive(Debug, Clone)]
pub struct Taken {
    pub day: Day,
    pub facts: Vec<(usize, Vec<TaxFact>)>,
}

/// What a part of what is settled at once is carried at.
pub fn worth(own: Money, (settled, carried): (Money, BookMoney), coin: BookCoin) -> Result<BookMoney, TooLarge> {
    if settled == Money::ZERO {
        return Ok(BookMoney::ZERO);
    }
    Exact::from(carried.size()).times(own.size())?.over(settled.size())?.round(coin)
}

/// What tells rows of a document and its credits apart. One that is written anew with another rate or on another account is
/// another row.
type Apart = (Whose, Option<RecordId>, Kind, Option<Percent>, Option<RecordId>);

/// What the document or a credit of it comes to by the end of a day, row by row.
struct Row {
    whose: Whose,
    /// What was said last, with all that was said.
    fact: TaxFact,
    by_day: BTreeMap<Day, Figures>,
}

impl Row {
    /// The day since which it is what it is: what was written and taken back on one day changed nothing.
    fn since(&self) -> Option<Day> {
        self.by_day.iter().rfind(|(_, said)| **said != NOTHING).map(|(day, _)| *day)
    }
}

fn rows(day: Day, steps: &[Step]) -> Result<Vec<Row>, TooLarge> {
    let mut places: HashMap<Apart, usize> = HashMap::new();
    let mut rows: Vec<Row> = Vec::new();
    let is_row = |step: &&Step| step.day <= day && !matches!(step.whose, Whose::OffCredit(_));
    for step in steps.iter().filter(is_row) {
        let fact = &step.fact;
        let apart = (step.whose, fact.line, kind(fact), fact.rate, fact.account);
        let place = *places.entry(apart).or_insert(rows.len());
        if place == rows.len() {
            rows.push(Row { whose: step.whose, fact: with(fact, NOTHING), by_day: BTreeMap::new() });
        }
        let Some(row) = rows.get_mut(place) else { continue };
        row.fact = with(fact, added(figures(&row.fact), figures(fact))?);
        let of_day = row.by_day.entry(step.day).or_insert(NOTHING);
        *of_day = added(*of_day, figures(fact))?;
    }
    rows.retain(|row| figures(&row.fact) != NOTHING);
    Ok(rows)
}

/// What happens to what is left, in the order of days; what is credited on a day is credited before that day's discounts.
enum Event<'s> {
    Credit(RecordId),
    /// So much less is credited.
    OffCredit(&'s TaxFact),
    Taking(usize),
}

/// Kind by kind, what facts come to.
fn by_kind(facts: &[TaxFact]) -> Result<HashMap<Kind, Figures>, TooLarge> {
    let mut sums: HashMap<Kind, Figures> = HashMap::new();
    for fact in facts {
        let sum = sums.entry(kind(fact)).or_insert(NOTHING);
        *sum = added(*sum, figures(fact))?;
    }
    Ok(sums)
}

/// More of what is left: a base counts once for a line, whoever says how much of it there is.
fn join(left: &mut Vec<TaxFact>, fact: TaxFact) -> Result<(), TooLarge> {
    let is_same = |known: &&mut TaxFact| {
        let of = |fact: &TaxFact| (fact.line, kind(fact), fact.rate);
        fact.line.is_some() && of(known) == of(&fact)
    };
    match left.iter_mut().find(is_same) {
        Some(known) => *known = with(known, added(figures(known), figures(&fact))?),
        None => left.push(fact),
    }
    Ok(())
}

/// What is left to take a share of.
fn to_share(left: &[TaxFact], was: &HashMap<Kind, Figures>) -> Result<Vec<TaxFact>, TooLarge> {
    if sown(Fault::SharesWhatWasGivenBack) {
        return Ok(left.to_vec());
    }
    let sums = by_kind(left)?;
    let of = |sums: &HashMap<Kind, Figures>, kind: &Kind| sums.get(kind).copied().unwrap_or(NOTHING);
    Ok(left.iter().map(|fact| within(fact, of(was, &kind(fact)), of(&sums, &kind(fact)))).collect())
}

/// What each taking takes by the end of a day.
pub fn taken_on(
    day: Day,
    steps: &[Step],
    takings: &[Taking],
    settling: &Settling,
) -> Result<Vec<(usize, Vec<TaxFact>)>, TooLarge> {
    let settling = Settling { date: day, ..*settling };
    let rows = rows(day, steps)?;
    let mut credits: Vec<(RecordId, Day)> = Vec::new();
    for row in &rows {
        let (Whose::Credit(note), Some(since)) = (row.whose, row.since()) else { continue };
        match credits.iter_mut().find(|(known, _)| *known == note) {
            Some((_, last)) => *last = Ord::max(*last, since),
            None => credits.push((note, since)),
        }
    }
    let mut off_credits: Vec<&Step> =
        steps.iter().filter(|step| step.day <= day && matches!(step.whose, Whose::OffCredit(_))).collect();
    if sown(Fault::DiscountOfWhatWasCredited) {
        credits.clear();
        off_credits.clear();
    }
    let lives = |taking: &Taking| taking.day <= day && taking.until.is_none_or(|until| until > day);
    let live = takings.iter().enumerate().filter(|(_, taking)| lives(taking));
    let mut events: Vec<(Day, Event)> = credits.into_iter().map(|(note, day)| (day, Event::Credit(note))).collect();
    events.extend(off_credits.into_iter().map(|step| (step.day, Event::OffCredit(&step.fact))));
    events.extend(live.map(|(place, taking)| (taking.day, Event::Taking(place))));
    events.sort_by_key(|(day, _)| *day);
    let of = |whose: Whose| rows.iter().filter(move |row| row.whose == whose).map(|row| row.fact.clone());
    let mut left: Vec<TaxFact> = of(Whose::Own).collect();
    let (all, was) = (paid(&left)?, by_kind(&left)?);
    let mut found = Vec::new();
    for (_, event) in events {
        let place = match event {
            Event::Credit(note) => {
                of(Whose::Credit(note)).try_for_each(|fact| join(&mut left, fact))?;
                continue;
            }
            Event::OffCredit(fact) => {
                join(&mut left, fact.clone())?;
                continue;
            }
            Event::Taking(place) => place,
        };
        let Some(Taking { origin, off, .. }) = takings.get(place) else { continue };
        // What is credited beyond all leaves nothing to take off.
        let shared = to_share(&left, &was)?;
        let facts = if paid(&shared)?.is_negative() == all.is_negative() {
            reduced(&shared, *off, *origin, &settling)?
        } else {
            reduced_by_nothing(&shared, *origin, &settling)
        };
        for (left, fact) in left.iter_mut().zip(&facts) {
            *left = with(left, added(figures(left), figures(fact))?);
        }
        found.push((place, facts.into_iter().map(on_its_account).collect()));
    }
    Ok(found)
}

/// What comes to no tax stands on no account.
fn on_its_account(fact: TaxFact) -> TaxFact {
    let account = fact.account.filter(|_| fact.home_tax != BookMoney::ZERO);
    TaxFact { account, ..fact }
}

/// What is taken off, day by day: on each day on which something is said of the document, its credits or the takings.
pub fn taken_off(steps: &[Step], takings: &[Taking], settling: &Settling) -> Result<Vec<Taken>, TooLarge> {
    let Some(first) = takings.iter().map(|taking| taking.day).min() else { return Ok(Vec::new()) };
    let mut days: BTreeSet<Day> =
        takings.iter().flat_map(|taking| [Some(taking.day), taking.until]).flatten().collect();
    days.extend(steps.iter().map(|step| step.day).filter(|day| *day > first));
    let on = |day: Day| Ok(Taken { day, facts: taken_on(day, steps, takings, settling)? });
    days.into_iter().map(on).collect()
}

/// The same as steps of the document's story: by how much it is another than before.
pub fn told(takings: &[Taking], all: &[Taken]) -> Result<Vec<Step>, TooLarge> {
    let mut steps = Vec::new();
    let mut before: Vec<((RecordId, Kind), Figures, TaxFact)> = Vec::new();
    for on in all {
        let mut now: Vec<((RecordId, Kind), Figures, TaxFact)> = Vec::new();
        for (taking, facts) in on.facts.iter().filter_map(|(place, facts)| Some((takings.get(*place)?, facts))) {
            for fact in facts {
                let key = (taking.stands_on, kind(fact));
                match now.iter_mut().find(|(known, ..)| *known == key) {
                    Some((_, sum, said)) => {
                        *sum = added(*sum, figures(fact))?;
                        // One whose tax comes to nothing hides no account.
                        if fact.account.is_some() || sown(Fault::NothingHidesItsAccount) {
                            *said = fact.clone();
                        }
                    }
                    None => now.push((key, figures(fact), fact.clone())),
                }
            }
        }
        let gone = before.iter().filter(|(key, ..)| !now.iter().any(|(known, ..)| known == key));
        let gone: Vec<_> = gone.map(|(key, _, fact)| (*key, NOTHING, fact.clone())).collect();
        for (key, sum, fact) in now.iter().chain(&gone) {
            let was = before.iter().find(|(known, ..)| known == key).map_or(NOTHING, |(_, was, _)| *was);
            let by = taken(*sum, was)?;
            if by != NOTHING {
                let (day, whose) = (on.day, Whose::Off(key.0));
                steps.push(Step { day, whose, fact: with(fact, by) });
            }
        }
        before = now;
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::super::TaxKind;
    use super::super::facts::TaxDuty;
    use super::*;
    use words::exact::Coin;
    use words::money::Rounding;

    fn id(number: u128) -> RecordId {
        RecordId(uuid::Uuid::from_u128(number))
    }

    fn march(day: u32) -> Day {
        format!("2026-03-{day:02}").parse().unwrap()
    }

    /// So much at a rate that is its code as well.
    fn step(day: u32, whose: Whose, (rate, base): (u32, i64)) -> Step {
        let [base, tax] = [base * 100, base * i64::from(rate)].map(|cents| Money::from_units(cents * 100));
        let fact = TaxFact {
            line: Some(id(rate.into())),
            code: Some(id(rate.into())),
            component: Some(id(rate.into())),
            kind: Some(TaxKind::Standard),
            duty: TaxDuty::Owed,
            leads: true,
            date: march(day),
            account: Some(id(2200)),
            base,
            tax,
            home_base: base.at_par(),
            home_tax: tax.at_par(),
            ..TaxFact::default()
        };
        Step { day: march(day), whose, fact }
    }

    fn taking(day: u32, until: Option<u32>, off: &str) -> Taking {
        let own = Money::parse(off).unwrap();
        Taking {
            source: id(1),
            origin: TaxOrigin::Discount,
            stands_on: id(6820),
            day: march(day),
            until: until.map(march),
            off: Off { own, home: own.at_par() },
        }
    }

    /// Day by day, what is another than before: code by code, base and tax.
    fn shown(steps: &[Step], takings: &[Taking]) -> String {
        let settling = Settling {
            document: id(9),
            date: march(1),
            coin: Coin { decimals: 2, rounding: Rounding::HalfUp },
            home_coin: BookCoin::new(2, Rounding::HalfUp),
        };
        let all = taken_off(steps, takings, &settling).unwrap();
        let one = |step: &Step| {
            let code = step.fact.code.map_or(0, |code| code.0.as_u128());
            format!("{} at {code}: {}/{}", &step.day.to_string()[8..], step.fact.home_base, step.fact.home_tax)
        };
        told(takings, &all).unwrap().iter().map(one).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn a_discount_takes_its_share_of_what_there_is_on_its_day() {
        let (own, credit) = (Whose::Own, Whose::Credit(id(3)));
        for (name, steps, takings, expected) in [
            ("2.8", vec![step(1, own, (19, 1000))], vec![taking(5, None, "119")], "05 at 19: -100/-19"),
            (
                "2.8 void: all was credited before, until that was void on its own day, or later",
                vec![step(1, own, (19, 1000)), step(3, credit, (19, -1000)), step(9, credit, (19, 1000))],
                vec![taking(5, None, "119")],
                "09 at 19: -100/-19",
            ),
            (
                "the same of its own day",
                vec![step(1, own, (19, 1000)), step(3, credit, (19, -1000)), step(3, credit, (19, 1000))],
                vec![taking(5, None, "119")],
                "05 at 19: -100/-19",
            ),
            (
                "2.8 rate: another rate",
                vec![step(1, own, (19, 1000)), step(1, own, (19, -1000)), step(1, own, (7, 1000))],
                vec![taking(5, None, "100")],
                "05 at 7: -93.46/-6.54",
            ),
            (
                "of what was credited before it takes nothing, of what is credited later its share",
                vec![
                    step(1, own, (20, 100)),
                    step(1, own, (5, 100)),
                    step(3, credit, (20, -100)),
                    step(9, Whose::Credit(id(4)), (5, -50)),
                ],
                vec![taking(5, None, "10.50")],
                "05 at 5: -10/-0.5",
            ),
            (
                "a credit of its own day comes before it, one that was moved there as well",
                vec![
                    step(1, own, (20, 100)),
                    step(1, own, (5, 100)),
                    step(20, credit, (20, -100)),
                    step(20, credit, (20, 100)),
                    step(5, credit, (20, -100)),
                ],
                vec![taking(5, None, "10.50")],
                "05 at 5: -10/-0.5",
            ),
            (
                "one that is taken back is nothing from then on, and what came behind it takes what it would",
                vec![step(1, own, (19, 100))],
                vec![taking(5, Some(8), "119"), taking(6, None, "11.9")],
                "05 at 19: -100/-19; 08 at 19: 90/17.1",
            ),
            (
                "what was given back is nothing to a later one",
                vec![step(1, own, (19, 1000)), step(1, own, (7, 1000)), step(9, credit, (19, -1000))],
                vec![taking(5, None, "226"), taking(12, None, "107")],
                "05 at 19: -100/-19; 05 at 7: -100/-7; 12 at 7: -100/-7",
            ),
            (
                "of what a refund takes off a credit it takes its share",
                vec![step(1, own, (10, 100)), step(3, credit, (10, -100)), step(4, Whose::OffCredit(id(3)), (10, 10))],
                vec![taking(5, None, "11")],
                "05 at 10: -10/-1",
            ),
            (
                "what is credited beyond all leaves nothing",
                vec![step(1, own, (19, 100)), step(3, credit, (19, -130))],
                vec![taking(5, None, "11.9")],
                "",
            ),
        ] {
            assert_eq!(shown(&steps, &takings), expected, "{name}");
        }
    }

    #[test]
    fn a_part_is_worth_its_share_of_what_is_settled_at_once() {
        let coin = BookCoin::new(2, Rounding::HalfUp);
        let worth = |own: &str, settled: &str, carried: &str| {
            let [own, settled, carried] = [own, settled, carried].map(|text| Money::parse(text).unwrap());
            worth(own, (settled, carried.at_par()), coin).unwrap().to_string()
        };
        assert_eq!(worth("20", "1000", "900"), "18");
        assert_eq!(worth("20", "1000", "-900"), "18");
        assert_eq!(worth("0", "0", "0"), "0");
    }
}
