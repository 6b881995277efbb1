//! Which days there are to tell of.

use ledger_core::day::Day;

/// The first day of the month so many months before today's.
pub(crate) fn months_before(today: Day, months: i64) -> Day {
    today.first_of_month().plus_months(-months)
}

/// Monday is 0.
fn weekday(day: Day) -> i64 {
    // The first of January 1970 was a Thursday.
    (day.number() + 3).rem_euclid(7)
}

pub(crate) fn is_sunday(day: Day) -> bool {
    weekday(day) == 6
}

/// Nobody bills on a weekend.
pub(crate) fn is_workday(day: Day) -> bool {
    weekday(day) < 5
}

/// That day, or the next on which people work.
pub(crate) fn workday_from(day: Day) -> Day {
    let mut day = day;
    while !is_workday(day) {
        day = day.next();
    }
    day
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_of_the_week_are_known() {
        let day = |text: &str| text.parse::<Day>().unwrap();
        assert!(is_sunday(day("2026-11-22")) && !is_workday(day("2026-11-21")) && is_workday(day("2026-11-20")));
        assert_eq!(workday_from(day("2028-01-01")), day("2028-01-03"));
        assert_eq!(workday_from(day("2026-11-25")), day("2026-11-25"));
        assert_eq!(months_before(day("2028-02-29"), 24), day("2026-02-01"));
    }
}
