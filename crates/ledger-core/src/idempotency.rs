//! A write that is repeated with the same key is answered as the first time, whatever the dialect.
//!
//! The answer is kept in the same transaction as the write: either both exist or neither. Only successes
//! are kept; a request that failed changed nothing and may simply be tried again.

use crate::auth::user;
use crate::clock::Instant;
use crate::error::{Error, Result, Unavailable};
use crate::fingerprint::Fingerprint;
use crate::ids::{BusinessId, RecordId, UserId};
use crate::ledger::{Reply, ReplyKind};
use crate::resource::operation::ResourceOperations;
use sea_orm::entity::prelude::*;
use sea_orm::{IntoActiveModel, QuerySelect, QueryTrait};
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A day, and what several servers may be apart in counting it.
const KEPT: Duration = Duration::from_mins(24 * 60 + 30);

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "idempotency_keys")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub user_id: UserId,
    #[sea_orm(primary_key, auto_increment = false)]
    pub key: String,
    pub command: String,
    pub outcome: String,
    /// By the time that the books were served, which no clock sets: see [`crate::running`].
    pub created_at: Instant,
    /// The company and the record that the answer is about, where there is one.
    pub business_id: Option<BusinessId>,
    pub record_id: Option<RecordId>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// A key and the command it stands for.
#[derive(Clone)]
pub(crate) struct Claim {
    pub(crate) user: UserId,
    pub(crate) key: String,
    /// What was asked, in no dialect's words.
    pub(crate) fingerprint: Fingerprint,
    pub(crate) company: Option<BusinessId>,
    /// The record that the path names.
    pub(crate) record: Option<RecordId>,
    pub(crate) kind: ReplyKind,
    /// The resource whose record is answered.
    pub(crate) answering: &'static ResourceOperations,
    /// When, by the time that the books were served.
    pub(crate) at: Instant,
}

/// The first answer, where there is one.
pub(crate) async fn recall(connection: &impl ConnectionTrait, claim: &Claim) -> Result<Option<Reply>> {
    let kept = Entity::find_by_id((claim.user, claim.key.clone())).one(connection).await?;
    let Some(kept) = kept.filter(|kept| kept.created_at > claim.at.minus(KEPT)) else { return Ok(None) };
    let reply: Reply = serde_json::from_str(&kept.outcome).map_err(Error::internal)?;
    if !claim.fingerprint.is_of(claim, &kept, &reply) {
        return Err(Error::IdempotencyMismatch);
    }
    Ok(Some(Reply { replayed: true, ..reply }))
}

/// What is to be kept of the first answer.
pub(crate) fn kept(claim: &Claim, reply: &Reply) -> Result<Model> {
    Ok(Model {
        user_id: claim.user,
        key: claim.key.clone(),
        command: claim.fingerprint.text.clone(),
        outcome: serde_json::to_string(reply).map_err(Error::internal)?,
        created_at: claim.at,
        business_id: claim.company,
        record_id: reply.record.map(|(id, _)| id),
    })
}

/// Keeps the answers of a batch, and lets those of its users go that are too old: their keys may be used again.
pub(crate) async fn write(connection: &impl ConnectionTrait, rows: Vec<Model>) -> Result<()> {
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
pub(crate) async fn forget(connection: &impl ConnectionTrait, now: Instant) -> Result<()> {
    let users = user::Entity::find().select_only().column(user::Column::Id).into_query();
    Entity::delete_many()
        .filter(Column::UserId.in_subquery(users))
        .filter(Column::CreatedAt.lte(now.minus(KEPT)))
        .exec(connection)
        .await?;
    Ok(())
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
            return Err(Error::InProgress);
        }
        Ok(InFlightGuard { keys: self, key })
    }
}

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        self.keys.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}
