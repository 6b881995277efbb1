//! By how late things are told apart, and which of them are asked for.

use crate::asked::AgingBy;
use crate::day::Day;
use crate::error::FieldErrors;
use crate::sheet::Column;

/// What is not yet late has the first bucket, what is latest the last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Buckets {
    /// The last day of each but the first and the last, each more than the one before it.
    days: Vec<i64>,
    /// The only one that is asked for.
    only: Option<usize>,
}

impl Default for Buckets {
    fn default() -> Self {
        Self { days: vec![30, 60, 90], only: None }
    }
}

impl Buckets {
    pub(crate) fn asked(all: Option<&str>, one: Option<&str>, faults: &mut FieldErrors) -> Self {
        let mut asked = Self::default();
        if let Some(text) = all {
            let Some(days) = days(text) else {
                let why = "must be 1 to 12 numbers of days such as 30,60,90, each more than the one before it";
                faults.add("buckets", why);
                return asked;
            };
            asked.days = days;
        }
        if let Some(text) = one {
            asked.only = asked.place_of(text);
            if asked.only.is_none() {
                faults.add("bucket", format!("must be the key of one of the columns: {}", asked.keys().join(", ")));
            }
        }
        asked
    }

    /// A plus in an address is a blank, where it is not written as `%2B`.
    fn place_of(&self, text: &str) -> Option<usize> {
        self.keys().iter().position(|key| key.trim_end_matches('+') == text.trim_end_matches(['+', ' ']))
    }

    pub(super) fn columns(&self, by: AgingBy) -> Vec<Column> {
        let first = match by {
            AgingBy::DueDate => "Not yet due",
            AgingBy::DocumentDate => "Of the day itself",
        };
        let mut columns = vec![Column::of("current", first)];
        let mut from = 1;
        for days in &self.days {
            columns.push(Column::of(&format!("{from}-{days}"), &format!("{from} to {days} days")));
            from = days + 1;
        }
        columns.push(Column::of(&format!("{from}+"), &format!("{from} days or more")));
        columns
    }

    fn keys(&self) -> Vec<String> {
        self.columns(AgingBy::default()).into_iter().map(|column| column.key).collect()
    }

    /// The key of the only one that is asked for.
    pub(crate) fn only(&self) -> Option<String> {
        self.only.map(|place| self.keys().swap_remove(place))
    }

    pub(crate) fn days(&self) -> &[i64] {
        &self.days
    }

    pub(super) const fn count(&self) -> usize {
        self.days.len() + 2
    }

    pub(super) fn has(&self, place: usize) -> bool {
        self.only.is_none_or(|only| only == place)
    }

    /// In which stands what is so many days late.
    pub(super) fn place(&self, late: i64) -> usize {
        if late <= 0 { 0 } else { 1 + self.days.iter().take_while(|days| late > **days).count() }
    }

    /// The first day of each but the last, which has none, as seen on a day.
    pub(super) fn first_days(&self, as_of: Day) -> Vec<Day> {
        let later = self.days.iter().map(|days| as_of.plus_days(-days));
        [as_of].into_iter().chain(later).collect()
    }
}

fn days(text: &str) -> Option<Vec<i64>> {
    let days: Vec<i64> = text.split(',').map(|days| days.trim().parse().ok()).collect::<Option<_>>()?;
    let fit = (1..=12).contains(&days.len())
        && days.iter().all(|days| (1..=3650).contains(days))
        && days.windows(2).all(|pair| pair[0] < pair[1]);
    fit.then_some(days)
}
