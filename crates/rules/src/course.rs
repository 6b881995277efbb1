//! What is left of something on each day, and not only when all that happened is added up.
//!
//! What is void as of a later day was there until then: what it took comes back on that day and not before. So whoever
//! takes a part asks how much is left at the least from their own day on.

use std::collections::BTreeMap;
use words::day::Day;
use words::sown::{Fault, sown};

/// What is left at the least from a day on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Least {
    pub amount: i128,
    /// The day from which there is more.
    pub until: Option<Day>,
}

fn by_day(moves: impl IntoIterator<Item = (Day, i128)>) -> BTreeMap<Day, i128> {
    let mut days = BTreeMap::new();
    for (day, moved) in moves {
        *days.entry(day).or_insert(0) += moved;
    }
    days
}

/// The least from a day on, of `now` when all is added up and what moved on later days.
pub fn least(now: i128, later: impl IntoIterator<Item = (Day, i128)>) -> Least {
    let mut least = Least { amount: now, until: None };
    if sown(Fault::EndedNeverTook) {
        return least;
    }
    let mut left = now;
    for (day, moved) in by_day(later).into_iter().rev() {
        left -= moved;
        if left < least.amount {
            least = Least { amount: left, until: Some(day) };
        }
    }
    least
}

/// The days between which moves come to something, each with what they come to from then on. On the last they come to
/// nothing, or stay.
pub fn levels(moves: impl IntoIterator<Item = (Day, i128)>) -> Vec<(Day, i128)> {
    let mut level = 0;
    let summed = by_day(moves).into_iter().map(|(day, moved)| {
        level += moved;
        (day, level)
    });
    if sown(Fault::EndedNeverTook) { Vec::new() } else { summed.collect() }
}

/// What a document takes of a line of goods that were delivered or received, on its day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    pub day: Day,
    pub invoiced: i128,
    pub returned: i128,
    /// Whether an invoice takes it. What a credit that ended gives back was invoiced before.
    pub is_billed: bool,
}

/// What is taken of a line of goods on a day, all of it together. What came again is kept apart from what went back: it is
/// there to be invoiced on that day, and what is invoiced on a day goes back after it.
#[derive(Debug, Clone, Copy, Default)]
struct OfDay {
    invoiced: i128,
    billed: i128,
    came: i128,
    went: i128,
}

/// The first day on which more of a line of goods is invoiced, or goes back, than there is, or more is invoiced than had not
/// gone back by then. What was invoiced may go back afterwards.
pub fn overtaken(whole: i128, taken: impl IntoIterator<Item = Taken>) -> Option<Day> {
    let mut days: BTreeMap<Day, OfDay> = BTreeMap::new();
    for one in taken {
        let day = days.entry(one.day).or_default();
        day.invoiced += one.invoiced;
        day.billed += if one.is_billed { one.invoiced } else { 0 };
        *(if one.returned < 0 { &mut day.came } else { &mut day.went }) += one.returned;
    }
    let (mut invoiced, mut returned) = (0, 0);
    days.into_iter().find_map(|(day, of_day)| {
        invoiced += of_day.invoiced;
        returned += of_day.came;
        let is_invoiced = of_day.invoiced > 0 && of_day.billed > 0;
        let away = if is_invoiced && !sown(Fault::InvoicedWhileAway) { returned } else { 0 };
        returned += of_day.went;
        (invoiced + away > whole || returned > whole).then_some(day)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Day {
        format!("2026-{text}").parse().unwrap()
    }

    fn moves(of: &[(&str, i128)]) -> Vec<(Day, i128)> {
        of.iter().map(|(at, moved)| (day(at), *moved)).collect()
    }

    #[test]
    fn what_ended_later_was_taken_until_then() {
        for (name, now, later, amount, until) in [
            ("nothing moves later", 100, &[][..], 100, None),
            ("all of it was taken until March", 100, &[("03-01", 100)], 0, Some("03-01")),
            ("what is taken later is there before", 40, &[("03-01", -60)], 40, None),
            ("two that ended, one after the other", 100, &[("02-01", 30), ("03-01", 50)], 20, Some("02-01")),
            ("what comes and goes on a day is nothing", 100, &[("02-01", -60), ("02-01", 60)], 100, None),
            ("a hole between", 100, &[("02-01", -80), ("03-01", 80)], 20, Some("03-01")),
        ] {
            assert_eq!(least(now, moves(later)), Least { amount, until: until.map(day) }, "{name}");
        }
    }

    #[test]
    fn levels_are_what_days_come_to() {
        let told = levels(moves(&[("03-01", 100), ("01-20", -100), ("02-01", 10), ("02-01", -10)]));
        assert_eq!(told, [(day("01-20"), -100), (day("02-01"), -100), (day("03-01"), 0)]);
    }

    #[test]
    fn of_goods_no_more_is_invoiced_than_had_not_gone_back() {
        for (name, taken, expected) in [
            (
                "what was invoiced goes back, and comes again",
                &[("03-09", 4, 0), ("03-12", 0, 4), ("03-15", 0, -4)][..],
                None,
            ),
            ("invoiced and gone back on a day", &[("03-09", 4, 4)], None),
            ("invoiced while it was away", &[("03-09", 0, 4), ("03-12", 4, 0), ("03-15", 0, -4)], Some("03-12")),
            ("invoiced on the day that it came again", &[("03-09", 0, 4), ("03-15", 4, 0), ("03-15", 0, -4)], None),
            ("gone back twice", &[("03-09", 0, 3), ("03-10", 0, 3)], Some("03-10")),
            (
                "credited until a day, and gone back on it",
                &[("03-01", 1, 0), ("06-01", -1, 1), ("07-01", 1, -1), ("07-01", 0, 1)],
                None,
            ),
            (
                "credited until a day, and gone back before it",
                &[("03-01", 4, 0), ("03-02", 0, 4), ("06-01", -4, 4), ("07-01", 4, -4)],
                Some("06-01"),
            ),
        ] {
            let taken = taken.iter().map(|(at, invoiced, returned)| Taken {
                day: day(at),
                invoiced: *invoiced,
                returned: *returned,
                is_billed: *returned == 0,
            });
            assert_eq!(overtaken(4, taken), expected.map(day), "{name}");
        }
        // Goods went back, and were credited until March: nothing is invoiced anew then.
        for (is_billed, expected) in [(false, None), (true, Some(day("03-04")))] {
            let taken = |at, invoiced, returned, is_billed| Taken { day: day(at), invoiced, returned, is_billed };
            let all = [
                taken("02-15", 4, 0, true),
                taken("02-20", 0, 4, false),
                taken("02-20", -4, 0, false),
                taken("03-04", 4, 0, is_billed),
            ];
            assert_eq!(overtaken(4, all), expected);
        }
    }
}
