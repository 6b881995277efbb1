//! What settlements took off the tax of a document, and what credits it since gives back of that.
//!
//! A discount takes its share of bases and taxes along. A credit of the document is a share of what it says, discount or
//! not. Once both together come to more than the document does, the rest was never owed: the discount stands for itself
//! again by that much. So nothing of a document is taxed below nothing, on any day and in any order. What a discount takes
//! of what there is on its day [`super::taken_off`] says.

use super::facts::{TaxDuty, TaxFact, TaxOrigin, TaxSide};
use super::figures::{TooLarge, minus, plus};
use words::day::Day;
use words::ids::RecordId;
use words::money::{BookMoney, Funds, Money};
use words::sown::{Fault, sown};

/// Whose a fact is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Whose {
    /// The document's own.
    Own,
    /// Of a note that credits it.
    Credit(RecordId),
    /// Of what a refund took off such a note: so much less it credits.
    OffCredit(RecordId),
    /// Of what a settlement took off; the rest of that stands on this account.
    Off(RecordId),
}

/// A fact of a document, and the day on which it came into the books.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub day: Day,
    pub whose: Whose,
    pub fact: TaxFact,
}

/// What a credit gives back by the end of a day, of one component; before, it was something else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Back {
    pub day: Day,
    pub credit: RecordId,
    /// Where what was taken off stands.
    pub stands_on: RecordId,
    pub fact: TaxFact,
}

/// What a fact comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figures {
    /// Base and tax, as the document has them.
    own: [Money; 2],
    /// Base and tax in the company's currency, and what cannot be claimed.
    home: [BookMoney; 3],
}

pub const NOTHING: Figures = Figures { own: [Money::ZERO; 2], home: [BookMoney::ZERO; 3] };

pub const fn figures(fact: &TaxFact) -> Figures {
    Figures { own: [fact.base, fact.tax], home: [fact.home_base, fact.home_tax, fact.not_recoverable] }
}

/// The same fact with other figures.
#[must_use]
pub fn with(fact: &TaxFact, Figures { own, home }: Figures) -> TaxFact {
    let ([base, tax], [home_base, home_tax, not_recoverable]) = (own, home);
    TaxFact { base, tax, home_base, home_tax, not_recoverable, ..fact.clone() }
}

pub fn added(left: Figures, right: Figures) -> Result<Figures, TooLarge> {
    Ok(Figures { own: each(left.own, right.own, plus)?, home: each(left.home, right.home, plus)? })
}

pub fn taken(left: Figures, right: Figures) -> Result<Figures, TooLarge> {
    Ok(Figures { own: each(left.own, right.own, minus)?, home: each(left.home, right.home, minus)? })
}

/// A fact of what is left of a kind, with nothing where that is beyond all that there was: it was given back, or credited by
/// itself.
#[must_use]
pub fn within(fact: &TaxFact, was: Figures, left: Figures) -> TaxFact {
    fn all<F: Funds, const N: usize>(mut own: [F; N], was: [F; N], left: [F; N]) -> [F; N] {
        for (own, (was, left)) in own.iter_mut().zip(was.into_iter().zip(left)) {
            let is_nothing = was == F::NOTHING || left == F::NOTHING;
            if !is_nothing && was.is_negative() != left.is_negative() {
                *own = F::NOTHING;
            }
        }
        own
    }
    let own = figures(fact);
    with(fact, Figures { own: all(own.own, was.own, left.own), home: all(own.home, was.home, left.home) })
}

fn each<F: Funds, const N: usize>(
    mut left: [F; N],
    right: [F; N],
    by: fn(F, F) -> Result<F, TooLarge>,
) -> Result<[F; N], TooLarge> {
    for (one, other) in left.iter_mut().zip(right) {
        *one = by(*one, other)?;
    }
    Ok(left)
}

/// What tells facts of one document apart, whatever line they are of.
pub type Kind = (Option<RecordId>, Option<RecordId>, TaxSide, TaxDuty, bool);

pub const fn kind(fact: &TaxFact) -> Kind {
    (fact.code, fact.component, fact.side, fact.duty, fact.leads)
}

/// What is known of one kind of fact by some day.
struct Sum {
    kind: Kind,
    own: Figures,
    off: Figures,
    /// Note by note, in the order in which they came.
    credits: Vec<(RecordId, Figures)>,
    /// The last fact that took something off.
    last: Option<TaxFact>,
    /// What was taken off, by where the rest of that stands, in the order in which it came.
    stands: Vec<(RecordId, Figures)>,
    /// What the notes gave back of which, when that was said last.
    said: Vec<((RecordId, RecordId), Figures)>,
}

/// What a document and its credits give back, day by day: each time that it is another than before. The facts are the whole
/// of it, not the difference.
pub fn given_back(document: RecordId, steps: &[Step]) -> Result<Vec<Back>, TooLarge> {
    let mut days: Vec<Day> = steps.iter().map(|step| step.day).collect();
    days.sort_unstable();
    days.dedup();
    let mut sums: Vec<Sum> = Vec::new();
    let mut backs = Vec::new();
    for day in days {
        for step in steps.iter().filter(|step| step.day == day) {
            add(&mut sums, step)?;
        }
        for sum in &mut sums {
            sum.give((document, day), steps, &mut backs)?;
        }
    }
    Ok(backs)
}

fn add(sums: &mut Vec<Sum>, step: &Step) -> Result<(), TooLarge> {
    let wanted = kind(&step.fact);
    let place = sums.iter().position(|known| known.kind == wanted).unwrap_or(sums.len());
    if place == sums.len() {
        let (own, off) = (NOTHING, NOTHING);
        let (credits, stands, said) = (Vec::new(), Vec::new(), Vec::new());
        sums.push(Sum { kind: wanted, own, off, credits, last: None, stands, said });
    }
    let Some(sum) = sums.get_mut(place) else { return Ok(()) };
    let more = figures(&step.fact);
    match step.whose {
        Whose::Own => sum.own = added(sum.own, more)?,
        Whose::Off(account) => {
            sum.off = added(sum.off, more)?;
            // One whose tax comes to nothing stands on no account; what others took is given back on theirs.
            let before = sum.last.take().filter(|_| !sown(Fault::NothingHidesItsAccount));
            let of_tax = step.fact.account.or_else(|| before.and_then(|before| before.account));
            sum.last = Some(TaxFact { account: of_tax, ..step.fact.clone() });
            match sum.stands.iter_mut().find(|(known, _)| *known == account || sown(Fault::GivenBackElsewhere)) {
                Some((_, off)) => *off = added(*off, more)?,
                None => sum.stands.push((account, more)),
            }
        }
        Whose::Credit(note) | Whose::OffCredit(note) => {
            match sum.credits.iter_mut().find(|(known, _)| *known == note) {
                Some((_, credited)) => *credited = added(*credited, more)?,
                None => sum.credits.push((note, more)),
            }
        }
    }
    Ok(())
}

/// What a credit gives back of what was taken off: what both take beyond what there is.
fn beyond<F: Funds>(left: F, off: F) -> F {
    if left.is_negative() != off.is_negative() || left == F::NOTHING || off == F::NOTHING {
        return F::NOTHING;
    }
    let size = Ord::min(left.size(), off.size());
    if off.is_negative() { size } else { size.negated() }
}

fn beyond_each(left: Figures, off: Figures) -> Result<Figures, TooLarge> {
    if sown(Fault::CreditKeepsTheDiscount) {
        return Ok(NOTHING);
    }
    let (own, home) = (|left, off| Ok(beyond(left, off)), |left, off| Ok(beyond(left, off)));
    Ok(Figures { own: each(left.own, off.own, own)?, home: each(left.home, off.home, home)? })
}

/// As much of what is given back as was taken off here.
fn of_this<F: Funds>(back: F, off: F) -> F {
    if back.is_negative() == off.is_negative() || back == F::NOTHING || off == F::NOTHING {
        return F::NOTHING;
    }
    let size = Ord::min(back.size(), off.size());
    if back.is_negative() { size.negated() } else { size }
}

/// What a note gives back, by where that stands: what was taken off last comes back first.
fn by_account(mut back: Figures, stands: &mut [(RecordId, Figures)]) -> Result<Vec<(RecordId, Figures)>, TooLarge> {
    let mut found = Vec::with_capacity(stands.len());
    for (account, off) in stands.iter_mut().rev() {
        let own = Figures {
            own: each(back.own, off.own, |back, off| Ok(of_this(back, off)))?,
            home: each(back.home, off.home, |back, off| Ok(of_this(back, off)))?,
        };
        (back, *off) = (taken(back, own)?, added(*off, own)?);
        found.push((*account, own));
    }
    // What stands nowhere by itself stands with the last.
    if let Some((_, own)) = found.first_mut() {
        *own = added(*own, back)?;
    }
    Ok(found)
}

impl Sum {
    fn give(
        &mut self,
        (document, day): (RecordId, Day),
        steps: &[Step],
        backs: &mut Vec<Back>,
    ) -> Result<(), TooLarge> {
        let Some(fact) = &self.last else { return Ok(()) };
        let (mut left, mut off, mut stands) = (self.off, self.off, self.stands.clone());
        for (note, credited) in std::iter::once(&(document, self.own)).chain(&self.credits) {
            left = added(left, *credited)?;
            let back = beyond_each(left, off)?;
            (left, off) = (added(left, back)?, added(off, back)?);
            for (stands_on, back) in by_account(back, &mut stands)? {
                let said = self.said.iter_mut().find(|(known, _)| *known == (*note, stands_on));
                let before = said.as_ref().map_or(NOTHING, |(_, said)| *said);
                if before == back {
                    continue;
                }
                match said {
                    Some((_, said)) => *said = back,
                    None => self.said.push(((*note, stands_on), back)),
                }
                let date = counts(day, *note, fact, steps);
                let fact = TaxFact { origin: TaxOrigin::Credited, date, ..with(fact, back) };
                backs.push(Back { day, credit: *note, stands_on, fact });
            }
        }
        Ok(())
    }
}

/// The day for which it counts: that of the note on the note's own day, and never before what was taken off does.
fn counts(day: Day, note: RecordId, off: &TaxFact, steps: &[Step]) -> Day {
    let is_of_note = |step: &&Step| [Whose::Credit(note), Whose::OffCredit(note)].contains(&step.whose);
    let of_note = steps.iter().find(|step| is_of_note(step) && step.day == day);
    Ord::max(of_note.map_or(day, |step| step.fact.date), off.date)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCOUNT: RecordId = RecordId(uuid::Uuid::from_u128(6820));

    fn note(number: u128) -> Whose {
        Whose::Credit(RecordId(uuid::Uuid::from_u128(number)))
    }

    fn step(day: &str, whose: Whose, [base, tax]: [&str; 2]) -> Step {
        let day: Day = format!("2026-03-{day}").parse().unwrap();
        let [base, tax] = [base, tax].map(|text| Money::parse(text).unwrap());
        let (home_base, home_tax) = (base.at_par(), tax.at_par());
        let fact = TaxFact {
            duty: TaxDuty::Owed,
            leads: true,
            date: day,
            base,
            tax,
            home_base,
            home_tax,
            ..TaxFact::default()
        };
        Step { day, whose, fact }
    }

    fn shown(steps: &[Step]) -> String {
        let one = |back: &Back| {
            let number = back.credit.0.as_u128();
            format!("{} by {number}: {}/{}", &back.day.to_string()[8..], back.fact.home_base, back.fact.home_tax)
        };
        given_back(RecordId::default(), steps).unwrap().iter().map(one).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn a_credit_gives_back_what_it_and_the_discount_take_beyond_all() {
        let (own, off) = (Whose::Own, Whose::Off(ACCOUNT));
        for (name, steps, expected) in [
            (
                "all of it",
                vec![
                    step("01", own, ["100", "10"]),
                    step("05", off, ["-10", "-1"]),
                    step("09", note(1), ["-100", "-10"]),
                ],
                "09 by 1: 10/1",
            ),
            (
                "half of it takes nothing that was taken off",
                vec![
                    step("01", own, ["100", "10"]),
                    step("05", off, ["-10", "-1"]),
                    step("09", note(1), ["-50", "-5"]),
                ],
                "",
            ),
            (
                "the second half takes what is left, and the first is void later",
                vec![
                    step("01", own, ["100", "10"]),
                    step("05", off, ["-10", "-1"]),
                    step("09", note(1), ["-50", "-5"]),
                    step("10", note(2), ["-50", "-5"]),
                    step("12", note(1), ["50", "5"]),
                ],
                "10 by 2: 10/1; 12 by 2: 0/0",
            ),
            (
                "a discount of later days is given back on its own",
                vec![
                    step("01", own, ["100", "10"]),
                    step("09", off, ["-10", "-1"]),
                    step("05", note(1), ["-100", "-10"]),
                ],
                "09 by 1: 10/1",
            ),
            (
                "a discount that is taken back gives nothing back any more",
                vec![
                    step("01", own, ["100", "10"]),
                    step("05", off, ["-10", "-1"]),
                    step("09", note(1), ["-100", "-10"]),
                    step("11", off, ["10", "1"]),
                ],
                "09 by 1: 10/1; 11 by 1: 0/0",
            ),
            (
                "what is credited beyond all stays",
                vec![
                    step("01", own, ["100", "10"]),
                    step("05", off, ["-10", "-1"]),
                    step("09", note(1), ["-130", "-13"]),
                ],
                "09 by 1: 10/1",
            ),
            (
                "a document that is negative",
                vec![
                    step("01", own, ["-100", "-10"]),
                    step("05", off, ["10", "1"]),
                    step("09", note(1), ["95", "9.5"]),
                ],
                "09 by 1: -5/-0.5",
            ),
            (
                "a document that is changed after its discount",
                vec![
                    step("01", own, ["100", "10"]),
                    step("05", off, ["-10", "-1"]),
                    step("07", own, ["-100", "-10"]),
                    step("07", own, ["0", "0"]),
                ],
                "07 by 0: 10/1",
            ),
            ("no discount", vec![step("01", own, ["100", "10"]), step("09", note(1), ["-130", "-13"])], ""),
        ] {
            assert_eq!(shown(&steps), expected, "{name}");
        }
    }

    #[test]
    fn it_comes_back_where_it_was_taken_off() {
        let account = |number: u128| Whose::Off(RecordId(uuid::Uuid::from_u128(number)));
        let shown = |steps: &[Step]| {
            let one = |back: &Back| {
                let (account, day) = (back.stands_on.0.as_u128(), back.day.to_string());
                format!("{} on {account}: {}/{}", &day[8..], back.fact.home_base, back.fact.home_tax)
            };
            given_back(RecordId::default(), steps).unwrap().iter().map(one).collect::<Vec<_>>().join("; ")
        };
        let mut steps = vec![
            step("01", Whose::Own, ["1000", "190"]),
            step("02", account(6810), ["-100", "-19"]),
            step("03", account(6820), ["-50", "-9.5"]),
            step("04", note(1), ["-1000", "-190"]),
        ];
        assert_eq!(shown(&steps), "04 on 6820: 50/9.5; 04 on 6810: 100/19");
        steps[3] = step("04", note(1), ["-920", "-174.8"]);
        assert_eq!(shown(&steps), "04 on 6820: 50/9.5; 04 on 6810: 20/3.8");
        // What is taken back there comes back from there no more.
        steps.push(step("05", account(6820), ["50", "9.5"]));
        assert_eq!(shown(&steps), "04 on 6820: 50/9.5; 04 on 6810: 20/3.8; 05 on 6820: 0/0");
    }

    #[test]
    fn it_counts_when_the_note_does_and_never_before_what_was_taken_off() {
        let (own, off) = (Whose::Own, Whose::Off(ACCOUNT));
        let date = |credit: &str, off_date: &str| {
            let mut steps = vec![
                step("01", own, ["100", "10"]),
                step("05", off, ["-10", "-1"]),
                step("09", note(1), ["-100", "-10"]),
            ];
            steps[1].fact.date = off_date.parse().unwrap();
            steps[2].fact.date = credit.parse().unwrap();
            given_back(RecordId::default(), &steps).unwrap()[0].fact.date.to_string()
        };
        assert_eq!(date("2026-03-31", "2026-03-05"), "2026-03-31");
        assert_eq!(date("2026-03-07", "2026-03-05"), "2026-03-07");
        assert_eq!(date("2026-03-09", "2026-03-31"), "2026-03-31");
    }
}
