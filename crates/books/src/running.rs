//! How long the books were served: a time that nobody sets.
//!
//! Keys of requests are forgotten by it. By the clock on the wall, one jump ahead and back would forget all of them, and
//! whoever repeats a request would write twice. This time is counted by the process, on from where the database says that
//! an earlier one left it. It is never faster than the world, and stands still while nobody serves: what is forgotten a
//! day later by it is at least a day old. Several servers of one database meet at the furthest of them.

use crate::clock::{Clock, Instant};
use crate::error::{Error, Result};
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::ExprTrait;
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
/// is committed, whether they are used or not.
pub async fn take_numbers(connection: &impl ConnectionTrait, many: u32) -> Result<Range<u64>> {
    Entity::update_many()
        .col_expr(Column::Identifiers, Expr::col(Column::Identifiers).add(i64::from(many)))
        .filter(Column::Id.eq(ID))
        .exec(connection)
        .await?;
    let row = Entity::find_by_id(ID).one(connection).await?;
    let row = row.ok_or_else(unknown)?;
    let until = u64::try_from(row.identifiers).map_err(Error::internal)?;
    Ok(until.saturating_sub(u64::from(many))..until)
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
