//! Calendar days: without a zone, written `2026-11-20`, kept as how many days they lie after the first of 1970.

use chrono::{Datelike, Days, NaiveDate, TimeDelta};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use sea_orm::sea_query::{self, ArrayType, ColumnType, Nullable, ValueTypeErr};
use sea_orm::{ColIdx, DbErr, QueryResult, TryGetError, TryGetable, Value};
use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(NaiveDate);

/// A text that is no day of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotADay;

impl fmt::Display for NotADay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("must be a date such as 2026-11-20")
    }
}

impl std::error::Error for NotADay {}

impl Day {
    /// Before anything that books know: the day of what always was.
    pub const BEFORE_ALL: Self = match NaiveDate::from_ymd_opt(1900, 1, 1) {
        Some(day) => Self(day),
        None => Self(NaiveDate::MIN),
    };

    /// The last one that can be written. Whatever is counted on ends here: a day that nobody can read is in no books.
    pub const LAST: Self = match NaiveDate::from_ymd_opt(9999, 12, 31) {
        Some(day) => Self(day),
        None => Self(NaiveDate::MAX),
    };

    /// The first one that can be written.
    const FIRST: Self = match NaiveDate::from_ymd_opt(1, 1, 1) {
        Some(day) => Self(day),
        None => Self(NaiveDate::MIN),
    };

    pub fn new(year: i32, month: u32, day: u32) -> Option<Self> {
        NaiveDate::from_ymd_opt(year, month, day).map(Self).filter(|day| (Self::FIRST..=Self::LAST).contains(day))
    }

    pub const fn of(date: NaiveDate) -> Self {
        Self(date)
    }

    pub const fn date(self) -> NaiveDate {
        self.0
    }

    /// The day so many days after the first of 1970, as it is kept.
    pub fn kept_as(number: i64) -> Option<Self> {
        let day = NaiveDate::default().checked_add_signed(TimeDelta::try_days(number)?)?;
        Some(Self(day)).filter(|day| (1..=9999).contains(&day.year()))
    }

    /// How many days it lies after the first of 1970.
    pub fn number(self) -> i64 {
        self.0.signed_duration_since(NaiveDate::default()).num_days()
    }

    /// The day that a value to be kept says, if it says one.
    pub fn of_value(value: Option<&Value>) -> Option<Self> {
        value.and_then(|value| <Self as sea_query::ValueType>::try_from(value.clone()).ok())
    }

    pub fn year(self) -> i32 {
        self.0.year()
    }

    pub fn month(self) -> u32 {
        self.0.month()
    }

    pub fn day(self) -> u32 {
        self.0.day()
    }

    /// The month it lies in, as `2026-11`.
    pub fn year_and_month(self) -> String {
        self.0.format("%Y-%m").to_string()
    }

    #[must_use]
    pub fn first_of_month(self) -> Self {
        Self(self.0.with_day(1).unwrap_or(self.0))
    }

    /// The day after; the last day has none and stays.
    #[must_use]
    pub fn next(self) -> Self {
        self.plus_days(1)
    }

    #[must_use]
    pub fn plus_days(self, days: i64) -> Self {
        let span = Days::new(days.unsigned_abs());
        if days < 0 {
            self.0.checked_sub_days(span).map_or(Self::FIRST, |moved| Ord::max(Self(moved), Self::FIRST))
        } else {
            self.0.checked_add_days(span).map_or(Self::LAST, |moved| Ord::min(Self(moved), Self::LAST))
        }
    }

    /// The same day so many months later; the last of a month becomes the last of a month.
    #[must_use]
    pub fn plus_months(self, months: i64) -> Self {
        let place = i64::from(self.year()) * 12 + i64::from(self.month() - 1) + months;
        let first = i32::try_from(place.div_euclid(12))
            .ok()
            .zip(u32::try_from(place.rem_euclid(12)).ok())
            .and_then(|(year, month)| Self::new(year, month + 1, 1));
        let Some(first) = first else { return if months < 0 { Self::FIRST } else { Self::LAST } };
        let last = first.last_of_month();
        if self == self.last_of_month() {
            return last;
        }
        Self::new(first.year(), first.month(), Ord::min(self.day(), last.day())).unwrap_or(last)
    }

    /// How many days lie between an earlier day and this one.
    pub fn days_since(self, earlier: Self) -> i64 {
        self.0.signed_duration_since(earlier.0).num_days()
    }

    #[must_use]
    pub fn last_of_month(self) -> Self {
        let next = if self.month() == 12 {
            Self::new(self.year() + 1, 1, 1)
        } else {
            Self::new(self.year(), self.month() + 1, 1)
        };
        next.map_or(Self::LAST, Self::previous)
    }

    #[must_use]
    pub fn previous(self) -> Self {
        self.plus_days(-1)
    }
}

impl From<Day> for Value {
    fn from(day: Day) -> Self {
        day.number().into()
    }
}

impl TryGetable for Day {
    fn try_get_by<I: ColIdx>(row: &QueryResult, index: I) -> Result<Self, TryGetError> {
        let unreadable = || TryGetError::DbErr(DbErr::Type("what is kept is no day".into()));
        if let Ok(number) = i64::try_get_by(row, index) {
            return Self::kept_as(number).ok_or_else(unreadable);
        }
        // Books of before have the text.
        String::try_get_by(row, index)?.parse().map_err(|_| unreadable())
    }
}

impl sea_query::ValueType for Day {
    fn try_from(value: Value) -> Result<Self, ValueTypeErr> {
        // Books of before have the text.
        if let Value::String(Some(text)) = &value {
            return text.parse().map_err(|_| ValueTypeErr);
        }
        Self::kept_as(<i64 as sea_query::ValueType>::try_from(value)?).ok_or(ValueTypeErr)
    }

    fn type_name() -> String {
        "Day".into()
    }

    fn array_type() -> ArrayType {
        ArrayType::BigInt
    }

    fn column_type() -> ColumnType {
        ColumnType::Date
    }
}

impl Nullable for Day {
    fn null() -> Value {
        Value::BigInt(None)
    }
}

// What an entity's key must be able to refuse: a number is no day.
impl sea_orm::TryFromU64 for Day {
    fn try_from_u64(number: u64) -> Result<Self, DbErr> {
        Err(DbErr::Type(format!("{number} is no day")))
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Day {
    type Err = NotADay;

    fn from_str(text: &str) -> Result<Self, NotADay> {
        // Exactly the form that sorts as text: four digits of year, two of month, two of day.
        let shaped = text.len() == 10
            && text
                .bytes()
                .enumerate()
                .all(|(at, byte)| if at == 4 || at == 7 { byte == b'-' } else { byte.is_ascii_digit() });
        let date = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().filter(|_| shaped);
        date.map(Self).filter(|day| day.year() >= 1).ok_or(NotADay)
    }
}

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Day {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl JsonSchema for Day {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Day".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "date"})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_days_of_the_calendar_in_one_spelling_are_read() {
        for text in ["2026-11-20", "2024-02-29", "0001-01-01", "9999-12-31"] {
            assert_eq!(text.parse::<Day>().map(|day| day.to_string()), Ok(text.to_owned()));
        }
        for text in ["2026-02-29", "2026-1-2", "20261120", "2026-11-20T00:00:00Z", "0000-01-01", "+2026-11-2", ""] {
            assert_eq!(text.parse::<Day>(), Err(NotADay), "{text}");
        }
    }

    #[test]
    fn days_are_kept_as_numbers_and_come_back() {
        for (text, number) in [
            ("1970-01-01", 0),
            ("1969-12-31", -1),
            ("2026-11-20", 20_777),
            ("0001-01-01", -719_162),
            ("9999-12-31", 2_932_896),
        ] {
            let day = text.parse::<Day>().unwrap();
            assert_eq!((day.number(), Day::kept_as(number)), (number, Some(day)));
            assert_eq!(Day::of_value(Some(&day.into())), Some(day));
        }
        for number in [-719_163, 2_932_897, i64::MAX, i64::MIN] {
            assert_eq!(Day::kept_as(number), None, "{number}");
        }
        assert_eq!((Day::of_value(None), Day::of_value(Some(&Value::BigInt(None)))), (None, None));
    }

    #[test]
    fn months_are_counted_from_the_end_where_a_day_is_the_last() {
        let day = |text: &str| text.parse::<Day>().unwrap();
        for (from, months, to) in [
            ("2026-01-31", 1, "2026-02-28"),
            ("2026-02-28", 1, "2026-03-31"),
            ("2026-02-28", -12, "2025-02-28"),
            ("2024-02-29", 12, "2025-02-28"),
            ("2025-02-28", -12, "2024-02-29"),
            ("2026-01-30", 1, "2026-02-28"),
            ("2026-03-15", -3, "2025-12-15"),
            ("2026-12-31", 24, "2028-12-31"),
        ] {
            assert_eq!(day(from).plus_months(months), day(to), "{from} and {months}");
        }
        assert_eq!(day("2026-03-01").plus_days(-1), day("2026-02-28"));
    }

    #[test]
    fn nothing_is_counted_beyond_what_can_be_written() {
        let day = |text: &str| text.parse::<Day>().unwrap();
        let last = day("9999-12-31");
        for (told, expected) in [
            (last.next(), last),
            (last.plus_days(400), last),
            (day("9999-12-20").plus_days(30), last),
            (day("2026-01-01").plus_days(i64::MAX), last),
            (day("2026-01-01").plus_days(-i64::MAX), day("0001-01-01")),
            (day("9999-12-15").plus_months(1), last),
            (day("0001-01-15").plus_months(-1), day("0001-01-01")),
            (day("9999-12-15").last_of_month(), last),
            (day("9998-12-15").last_of_month(), day("9998-12-31")),
            (last.previous(), day("9999-12-30")),
        ] {
            assert_eq!(told, expected);
            assert_eq!(told.to_string().parse(), Ok(told), "it can be read again");
        }
        assert_eq!((Day::new(10_000, 1, 1), Day::new(0, 12, 31)), (None, None));
    }

    #[test]
    fn days_follow_each_other_over_the_ends_of_months_and_years() {
        let day = |text: &str| text.parse::<Day>().unwrap();
        assert_eq!(day("2026-12-31").next(), day("2027-01-01"));
        assert_eq!(day("2024-03-01").previous(), day("2024-02-29"));
        assert_eq!(day("2026-11-20").first_of_month(), day("2026-11-01"));
    }
}
