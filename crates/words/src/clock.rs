//! Where the time comes from. Nothing else reads the wall clock, so tests and "as known at" can set it.

use chrono::{DateTime, SecondsFormat, Utc};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use sea_orm::DeriveValueType;
use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize, Serializer};
use sqlite_kit::counted::counted;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use uuid::ContextV7;
use uuid::timestamp::Timestamp as UuidTimestamp;

/// An instant, in microseconds since 1970 UTC.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, DeriveValueType)]
pub struct Instant(i64);

impl Instant {
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    pub const fn micros(self) -> i64 {
        self.0
    }

    pub const fn of(at: DateTime<Utc>) -> Self {
        Self(at.timestamp_micros())
    }

    /// As calendars have it, which end before all microseconds do.
    pub fn utc(self) -> DateTime<Utc> {
        let beyond = if self.0 < 0 { DateTime::<Utc>::MIN_UTC } else { DateTime::<Utc>::MAX_UTC };
        DateTime::<Utc>::from_timestamp_micros(self.0).unwrap_or(beyond)
    }

    pub const fn seconds(self) -> i64 {
        self.0.div_euclid(1_000_000)
    }

    /// An RFC 3339 text with its zone, such as `2026-11-20T09:30:00Z`.
    pub fn parse(text: &str) -> Option<Self> {
        DateTime::parse_from_rfc3339(text).ok().map(|at| Self(at.timestamp_micros()))
    }

    /// As HTTP writes it: `Wed, 30 Jun 2027 22:00:00 GMT`.
    pub fn http_date(self) -> String {
        self.utc().format("%a, %d %b %Y %H:%M:%S GMT").to_string()
    }

    #[must_use]
    pub fn plus(self, span: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(span.as_micros()).unwrap_or(i64::MAX)))
    }

    #[must_use]
    pub fn minus(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(span.as_micros()).unwrap_or(i64::MAX)))
    }
}

impl std::fmt::Display for Instant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.utc().to_rfc3339_opts(SecondsFormat::Micros, true))
    }
}

impl Serialize for Instant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Instant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| de::Error::custom("must be a time such as 2026-11-20T09:30:00Z"))
    }
}

impl JsonSchema for Instant {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Instant".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "date-time"})
    }
}

/// Tells the time and makes identifiers from it.
#[derive(Debug)]
pub struct Clock {
    time: Time,
    identifiers: Mutex<ContextV7>,
    /// Numbers that nobody else will ever have.
    numbers: Mutex<VecDeque<Range<u64>>>,
}

#[derive(Debug)]
enum Time {
    System,
    /// What it shows, and what has passed.
    Fixed {
        shows: AtomicI64,
        passed: AtomicI64,
    },
}

impl Clock {
    pub fn system() -> Self {
        Self::of(Time::System)
    }

    /// Stands still until it is told to move.
    pub fn fixed(at: Instant) -> Self {
        Self::of(Time::Fixed { shows: AtomicI64::new(at.micros()), passed: AtomicI64::new(0) })
    }

    fn of(time: Time) -> Self {
        Self { time, identifiers: Mutex::new(ContextV7::new()), numbers: Mutex::default() }
    }

    #[allow(clippy::disallowed_methods, reason = "this is the one place that reads the wall clock")]
    pub fn now(&self) -> Instant {
        match &self.time {
            Time::System => Instant(Utc::now().timestamp_micros()),
            Time::Fixed { shows, .. } => Instant(shows.load(Ordering::Relaxed)),
        }
    }

    /// How long the process has run, whatever was done to the clock on the wall.
    pub fn counted(&self) -> Duration {
        static BEGAN: LazyLock<std::time::Instant> = LazyLock::new(std::time::Instant::now);
        match &self.time {
            Time::System => BEGAN.elapsed(),
            Time::Fixed { passed, .. } => {
                Duration::from_micros(u64::try_from(passed.load(Ordering::Relaxed)).unwrap_or(0))
            }
        }
    }

    /// Moves a fixed clock; the system's goes on by itself.
    pub fn advance(&self, span: Duration) {
        if let Time::Fixed { passed, .. } = &self.time {
            let span = i64::try_from(span.as_micros()).unwrap_or(0);
            passed.fetch_add(span, Ordering::Relaxed);
            self.set_by(span);
        }
    }

    /// Puts a fixed clock forward, or back, while no time passes.
    pub fn set_by(&self, micros: i64) {
        if let Time::Fixed { shows, .. } = &self.time {
            shows.fetch_add(micros, Ordering::Relaxed);
        }
    }

    /// A `UUIDv7`: later ones sort after earlier ones, within one millisecond too.
    pub fn identifier(&self) -> uuid::Uuid {
        let now = self.now();
        let seconds = u64::try_from(now.seconds()).unwrap_or(0);
        let nanos = u32::try_from(now.micros().rem_euclid(1_000_000) * 1_000).unwrap_or(0);
        let context = self.identifiers.lock().unwrap_or_else(PoisonError::into_inner);
        uuid::Uuid::new_v7(UuidTimestamp::from_unix(&*context, seconds, nanos))
    }

    fn numbers(&self) -> MutexGuard<'_, VecDeque<Range<u64>>> {
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives it numbers to count records by. Whoever does so has made sure that nobody else will ever have them.
    pub fn count_by(&self, numbers: Range<u64>) {
        self.numbers().push_back(numbers);
    }

    /// How many records can be counted still.
    pub fn numbers_left(&self) -> u64 {
        self.numbers().iter().map(|range| range.end.saturating_sub(range.start)).sum()
    }

    /// The identifier of a record of the books, which nobody need be kept from guessing: the next number, as long as there
    /// are any.
    pub fn record(&self) -> uuid::Uuid {
        let next = {
            let mut numbers = self.numbers();
            while numbers.front().is_some_and(Range::is_empty) {
                numbers.pop_front();
            }
            numbers.front_mut().and_then(Iterator::next)
        };
        next.and_then(counted).unwrap_or_else(|| self.identifier())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_sort_in_the_order_they_were_made() {
        let clock = Clock::fixed(Instant::parse("2026-11-20T09:30:00Z").unwrap());
        let made: Vec<_> = (0..1_000).map(|_| clock.identifier()).collect();
        assert!(made.is_sorted_by(|earlier, later| earlier < later));
    }

    #[test]
    fn records_are_counted_as_long_as_there_are_numbers() {
        let clock = Clock::fixed(Instant::parse("2026-11-20T09:30:00Z").unwrap());
        assert_eq!(clock.record().get_version_num(), 7);
        clock.count_by(3..5);
        clock.count_by(5..5);
        clock.count_by(9..10);
        assert_eq!(clock.numbers_left(), 3);
        let made: Vec<_> = (0..3).map(|_| clock.record()).collect();
        assert_eq!(made, [3, 4, 9].map(|number| counted(number).unwrap()));
        assert_eq!((clock.numbers_left(), clock.record().get_version_num()), (0, 7));
    }

    #[test]
    fn an_instant_is_written_as_it_was_read() {
        for text in ["2026-11-20T09:30:00.000000Z", "1969-12-31T23:59:59.999999Z"] {
            assert_eq!(Instant::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Instant::parse("2026-11-20T10:30:00+01:00"), Instant::parse("2026-11-20T09:30:00Z"));
        assert_eq!(Instant::parse("2026-11-20"), None);
    }
}
