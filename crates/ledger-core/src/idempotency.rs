//! A write that is repeated with the same key is answered as the first time, whatever the dialect.
//!
//! The answer is kept in the same transaction as the write: either both exist or neither. Only successes
//! are kept; a request that failed changed nothing and may simply be tried again.

use crate::clock::Instant;
use crate::error::{Error, Result, Unavailable};
use crate::ids::UserId;
use crate::ledger::Reply;
use sea_orm::ActiveValue::Set;
use sea_orm::SqlErr;
use sea_orm::entity::prelude::*;
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

const KEPT: Duration = Duration::from_hours(24);

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "idempotency_keys")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub user_id: UserId,
    #[sea_orm(primary_key, auto_increment = false)]
    pub key: String,
    pub command: String,
    pub outcome: String,
    pub created_at: Instant,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// A key and the command it stands for.
#[derive(Debug, Clone)]
pub(crate) struct Claim {
    pub(crate) user: UserId,
    pub(crate) key: String,
    /// Digest of what was asked, in no dialect's words.
    pub(crate) command: String,
}

/// The first answer, where there is one.
pub(crate) async fn recall(connection: &impl ConnectionTrait, claim: &Claim, now: Instant) -> Result<Option<Reply>> {
    let kept = Entity::find_by_id((claim.user, claim.key.clone())).one(connection).await?;
    let Some(kept) = kept.filter(|kept| kept.created_at > now.minus(KEPT)) else { return Ok(None) };
    if kept.command != claim.command {
        return Err(Error::IdempotencyMismatch);
    }
    let reply: Reply = serde_json::from_str(&kept.outcome).map_err(Error::internal)?;
    Ok(Some(Reply { replayed: true, ..reply }))
}

pub(crate) async fn remember(
    connection: &impl ConnectionTrait,
    claim: &Claim,
    reply: &Reply,
    now: Instant,
) -> Result<()> {
    Entity::delete_many()
        .filter(Column::UserId.eq(claim.user))
        .filter(Column::CreatedAt.lte(now.minus(KEPT)))
        .exec(connection)
        .await?;
    let row = ActiveModel {
        user_id: Set(claim.user),
        key: Set(claim.key.clone()),
        command: Set(claim.command.clone()),
        outcome: Set(serde_json::to_string(reply).map_err(Error::internal)?),
        created_at: Set(now),
    };
    match Entity::insert(row).exec_without_returning(connection).await {
        Ok(_) => Ok(()),
        // Another process was faster with the same key: run again, and find its answer.
        Err(error) if matches!(error.sql_err(), Some(SqlErr::UniqueConstraintViolation(_))) => {
            Err(Error::Unavailable(Unavailable::Overloaded))
        }
        Err(error) => Err(error.into()),
    }
}

/// The keys whose first request is still running in this process.
#[derive(Default)]
pub(crate) struct InFlight(Mutex<HashSet<(UserId, String)>>);

pub(crate) struct InFlightGuard<'k> {
    keys: &'k InFlight,
    key: (UserId, String),
}

impl InFlight {
    pub(crate) fn enter(&self, claim: &Claim) -> Result<InFlightGuard<'_>> {
        let key = (claim.user, claim.key.clone());
        if !self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone()) {
            return Err(Error::conflict("conflict", "A request with this Idempotency-Key is still running"));
        }
        Ok(InFlightGuard { keys: self, key })
    }
}

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        self.keys.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}
