//! How long the books were served: a time that nobody sets.
//!
//! Keys of requests are forgotten by it. By the clock on the wall, one jump ahead and back would forget all of them, and
//! whoever repeats a request would write twice. This time is counted by the process, on from where the database says that
//! an earlier one left it. It is never faster than the world, and stands still while nobody serves: what is forgotten a
//! day later by it is at least a day old. Several servers of one database meet at the furthest of them.

use crate::clock::{Clock, Instant};
use crate::error::{Error, Result};
use crate::ids::counted;
use sea_orm::entity::prelude::*;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// So often it is written down; a process that is killed loses no more.
pub const WRITTEN_EVERY: Duration = Duration::from_mins(10);

/// There is one row.
const ID: i64 = 1;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "running_time")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: i64,
    pub at: Instant,
    /// Before which number all are given away that records may be counted by.
    pub identifiers: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

pub struct Running(Mutex<State>);

struct State {
    /// What it was ...
    at: Instant,
    /// ... when the process had run so long.
    counted: Duration,
    written: Option<Duration>,
}

impl Running {
    /// Goes on where the database stands.
    pub async fn read(connection: &impl ConnectionTrait, clock: &Clock) -> Result<Self> {
        let at = stored(connection).await?;
        Ok(Self(Mutex::new(State { at, counted: clock.counted(), written: None })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn now(&self, clock: &Clock) -> Instant {
        let state = self.state();
        state.at.plus(clock.counted().saturating_sub(state.counted))
    }

    /// Whether it was not written down for a while.
    pub fn is_due(&self, clock: &Clock) -> bool {
        let written = self.state().written;
        written.is_none_or(|written| clock.counted().saturating_sub(written) >= WRITTEN_EVERY)
    }

    /// It was written down, and the database stands there.
    pub fn meet(&self, clock: &Clock, stored: Instant) {
        let now = self.now(clock);
        let mut state = self.state();
        let counted = clock.counted();
        *state = State { at: Ord::max(now, stored), counted, written: Some(counted) };
    }
}

pub async fn stored(connection: &impl ConnectionTrait) -> Result<Instant> {
    let row = Entity::find_by_id(ID).one(connection).await?;
    row.map(|row| row.at).ok_or_else(unknown)
}

fn unknown() -> Error {
    Error::internal("the database knows no running time; run duet migrate")
}

/// Takes numbers to count records by, which nobody else will ever have: those that this transaction takes are gone once it
/// is committed, whether they are used or not. There may be none for a moment.
pub async fn take_numbers(connection: &impl ConnectionTrait, many: u32, now: Instant) -> Result<Range<u64>> {
    let row = Entity::find_by_id(ID).one(connection).await?.ok_or_else(unknown)?;
    let taken = u64::try_from(row.identifiers).map_err(Error::internal)?;
    let numbers = next_numbers(taken, many, now);
    if !numbers.is_empty() {
        let until = i64::try_from(numbers.end).map_err(Error::internal)?;
        let of_ours = Entity::update_many().col_expr(Column::Identifiers, until.into()).filter(Column::Id.eq(ID));
        of_ours.exec(connection).await?;
    }
    Ok(numbers)
}

/// What comes behind the numbers that are taken. Where they are taken by the moment, a second that has none left has none:
/// the next one has.
fn next_numbers(taken: u64, many: u32, now: Instant) -> Range<u64> {
    if taken < counted::OF_MOMENTS {
        return taken..taken.saturating_add(u64::from(many));
    }
    match counted::of_second(now.seconds()) {
        // All of a second are taken at once: whoever served these books before may have taken some of it.
        Some(first) if first >= taken => first..first + u64::from(Ord::min(many, counted::OF_A_SECOND)),
        Some(_) | None => taken..taken,
    }
}

/// From now on no number is taken that was ever given away by whoever served these books later than this copy was made of
/// them: numbers are those of the moments in which they are taken, and of none that began before this one is over.
pub async fn move_on(connection: &impl ConnectionTrait, now: Option<Instant>) -> Result<()> {
    let first = i64::try_from(first_after(now)).map_err(Error::internal)?;
    Entity::update_many()
        .col_expr(Column::Identifiers, first.into())
        .filter(Column::Id.eq(ID))
        .filter(Column::Identifiers.lt(first))
        .exec(connection)
        .await?;
    Ok(())
}

/// Whoever serves the books by now may have taken all numbers of this second, but none of the next.
fn first_after(now: Option<Instant>) -> u64 {
    now.and_then(|now| counted::of_second(now.seconds().saturating_add(1))).unwrap_or(counted::OF_MOMENTS)
}

/// Writes it down, unless another server is further.
pub async fn write(connection: &impl ConnectionTrait, at: Instant) -> Result<()> {
    Entity::update_many()
        .col_expr(Column::At, at.into())
        .filter(Column::Id.eq(ID))
        .filter(Column::At.lt(at))
        .exec(connection)
        .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_copy_are_those_of_moments_and_none_is_taken_twice() {
        let at = |second: i64| Instant::from_micros(second * 1_000_000);
        assert_eq!(next_numbers(7, 10, at(1_790_000_000)), 7..17, "one behind the other");
        let first = next_numbers(counted::OF_MOMENTS, 10, at(1_790_000_000));
        assert_eq!(first.end - first.start, 10);
        // What is left of a second is nobody's: another who restored the same copy may be at it.
        assert!(next_numbers(first.end, 10, at(1_790_000_000)).is_empty());
        let next = next_numbers(first.end, 10, at(1_790_000_001));
        assert_eq!(next.start, first.start + u64::from(counted::OF_A_SECOND));
        // A clock that was put back gives none away again, nor does one that shows nothing sane.
        assert!(next_numbers(next.end, 10, at(1_789_999_999)).is_empty());
        assert!(next_numbers(next.end, 10, at(0)).is_empty());
        assert!(next_numbers(counted::OF_MOMENTS, u32::MAX, at(1_790_000_000)).end <= next.start);
        // A copy that is brought back gives none away of the second in which it is: others who served it may have, until then.
        let brought_back = first_after(Some(at(1_790_000_000)));
        assert_eq!(brought_back, next.start);
        assert!(next_numbers(brought_back, 10, at(1_790_000_000)).is_empty());
        assert_eq!(next_numbers(brought_back, 10, at(1_790_000_001)), next);
        // A clock that shows nothing sane keeps nobody from counting.
        assert_eq!([first_after(Some(at(0))), first_after(None)], [counted::OF_MOMENTS; 2]);
    }
}
