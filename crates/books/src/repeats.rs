//! The answers of writes that are kept, so that a repeated one finds the first.

use crate::auth::user;
use crate::clock::Instant;
use crate::database::rows::{Kept, Step};
use crate::desk::plain;
use crate::error::{Error, Result, Unavailable};
use crate::ids::UserId;
use schema::idempotency::{Column, Entity, Model};
use sea_orm::entity::prelude::*;
use sea_orm::{DbBackend, QuerySelect, QueryTrait};
use std::collections::HashSet;
use std::time::Duration;

/// A day, and what several servers may be apart in counting it.
pub const KEPT: Duration = Duration::from_mins(24 * 60 + 30);

/// Whose keys those are that somebody sent who was nobody yet.
pub const NOBODY: UserId = UserId(Uuid::nil());

/// What keeps the answers of a batch, and lets those of its users go that are too old: their keys may be used again.
pub fn steps(engine: DbBackend, rows: Vec<Model>) -> Vec<Step> {
    let Some(newest) = rows.iter().map(|row| row.created_at).max() else { return Vec::new() };
    let users: HashSet<UserId> = rows.iter().map(|row| row.user_id).collect();
    let old =
        Entity::delete_many().filter(Column::UserId.is_in(users)).filter(Column::CreatedAt.lte(newest.minus(KEPT)));
    vec![Step::Statement(old.build(engine)), Step::Rows(plain::<Entity>(rows, Kept::Refuse))]
}

/// Why what was planned could not be written.
pub fn refused(error: DbErr) -> Error {
    if crate::fault::is_duplicate_of(&error, Entity.table_name()) {
        // Another process was faster with the same key: run again, and find its answer.
        return Error::Unavailable(Unavailable::Overloaded);
    }
    error.into()
}

/// Lets the keys of everybody go that are too old. What bounds the table is a day of writing.
pub async fn forget(connection: &impl ConnectionTrait, now: Instant) -> Result<()> {
    let users = user::Entity::find().select_only().column(user::Column::Id).into_query();
    for whose in [Column::UserId.in_subquery(users), Column::UserId.eq(NOBODY)] {
        let old = Entity::delete_many().filter(whose).filter(Column::CreatedAt.lte(now.minus(KEPT)));
        old.exec(connection).await?;
    }
    Ok(())
}
