//! The answers of writes that are kept, so that a repeated one finds the first.

use crate::auth::user;
use crate::clock::Instant;
use crate::error::{Error, Result, Unavailable};
use crate::ids::UserId;
use schema::idempotency::{Column, Entity, Model};
use sea_orm::entity::prelude::*;
use sea_orm::{IntoActiveModel, QuerySelect, QueryTrait};
use std::collections::HashSet;
use std::time::Duration;

/// A day, and what several servers may be apart in counting it.
pub const KEPT: Duration = Duration::from_mins(24 * 60 + 30);

/// Whose keys those are that somebody sent who was nobody yet.
pub const NOBODY: UserId = UserId(Uuid::nil());

/// Keeps the answers of a batch, and lets those of its users go that are too old: their keys may be used again.
pub async fn write(connection: &impl ConnectionTrait, rows: Vec<Model>) -> Result<()> {
    let Some(newest) = rows.iter().map(|row| row.created_at).max() else { return Ok(()) };
    let users: HashSet<UserId> = rows.iter().map(|row| row.user_id).collect();
    Entity::delete_many()
        .filter(Column::UserId.is_in(users))
        .filter(Column::CreatedAt.lte(newest.minus(KEPT)))
        .exec(connection)
        .await?;
    let rows = rows.into_iter().map(IntoActiveModel::into_active_model);
    match Entity::insert_many(rows).exec_without_returning(connection).await {
        Ok(_) => Ok(()),
        // Another process was faster with the same key: run again, and find its answer.
        Err(error) if crate::fault::is_duplicate(&error) => Err(Error::Unavailable(Unavailable::Overloaded)),
        Err(error) => Err(error.into()),
    }
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
