//! A write that is repeated with the same key is answered as the first time, whatever the dialect.
//!
//! The answer is kept in the same transaction as the write: either both exist or neither. Only successes
//! are kept; a request that failed changed nothing and may simply be tried again.

use crate::clock::Instant;
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use crate::ids::{BusinessId, RecordId, UserId};
use crate::ledger::Reply;
use crate::texts::hex;
use books::repeats::{KEPT, NOBODY};
use kit::operation::ReplyKind;
use kit::operation::ResourceOperations;
use ring::digest;
use schema::idempotency::{Entity, Model};
use schema::key::ResourceKey;
use sea_orm::ConnectionTrait;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

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

impl Claim {
    /// Whether what is answered lies in the company that is asked. One company may answer that another was made.
    fn is_about_its_own(&self, record: RecordId) -> bool {
        let is_company = self.answering.key == ResourceKey::Businesses;
        !is_company || self.company.is_none_or(|company| company.0 == record.0)
    }
}

/// What was kept by a key, where it is not too old by now.
async fn find(connection: &impl ConnectionTrait, (user, key): (UserId, &str), now: Instant) -> Result<Option<Model>> {
    let kept = Entity::find_by_id((user, key.to_owned())).one(connection).await?;
    Ok(kept.filter(|kept| kept.created_at > now.minus(KEPT)))
}

/// The first answer, where there is one.
pub(crate) async fn recall(connection: &impl ConnectionTrait, claim: &Claim) -> Result<Option<Reply>> {
    let Some(kept) = find(connection, (claim.user, &claim.key), claim.at).await? else { return Ok(None) };
    let reply: Reply = serde_json::from_str(&kept.outcome).map_err(Error::internal)?;
    if !claim.fingerprint.is_of(claim, &kept, &reply) {
        return Err(Error::IdempotencyMismatch);
    }
    Ok(Some(Reply { replayed: true, ..reply }))
}

/// A key of somebody who is nobody yet. What they are let in by is part of it, so that nobody meets the key of another.
#[derive(Clone)]
pub(crate) struct StrangersKey {
    key: String,
    fingerprint: Fingerprint,
    at: Instant,
}

impl StrangersKey {
    /// `let_in_by` is a secret that only they have; it is not kept.
    pub(crate) fn of((let_in_by, key): (&str, &str), fingerprint: Fingerprint, at: Instant) -> Self {
        let both = digest::digest(&digest::SHA256, format!("{let_in_by}\n{key}").as_bytes());
        Self { key: hex(both.as_ref()), fingerprint, at }
    }

    /// The first answer, where there is one.
    pub(crate) async fn recall<T: DeserializeOwned>(&self, connection: &impl ConnectionTrait) -> Result<Option<T>> {
        let Some(kept) = find(connection, (NOBODY, &self.key), self.at).await? else { return Ok(None) };
        if kept.command != self.fingerprint.text {
            return Err(Error::IdempotencyMismatch);
        }
        serde_json::from_str(&kept.outcome).map(Some).map_err(Error::internal)
    }

    /// What is to be kept of the first answer.
    pub(crate) fn kept(&self, company: BusinessId, answer: &impl Serialize) -> Result<Model> {
        Ok(Model {
            user_id: NOBODY,
            key: self.key.clone(),
            command: self.fingerprint.text.clone(),
            outcome: serde_json::to_string(answer).map_err(Error::internal)?,
            created_at: self.at,
            business_id: Some(company),
            record_id: None,
        })
    }
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
        record_id: reply.record.map(|(id, _)| id).filter(|id| claim.is_about_its_own(*id)),
    })
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
