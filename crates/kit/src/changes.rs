//! Changes of records as they are answered: in the audit log, and in the history of each record.
//!
//! Owns: that whoever may not see a resource does not see its changes, by whichever door. Whoever reads the log begins
//! with [`records`].

use crate::clock::Instant;
use crate::error::{Error, Result};
use crate::ids::{RecordId, UserId};
use crate::list::Pagination;
use crate::resource::Record;
use books::audit::{self, AuditAction};
use books::cx::Cx;
use schema::key::ResourceKey;
use schema::recorded;
use schema::rights::Action;
use schema::tables::audit_log::{self as table, Column};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, Select};
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;
use words::codes::Word;

/// A record as it was answered, kept as it was written.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct RecordJson(Box<RawValue>);

impl JsonSchema for RecordJson {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "RecordJson".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "object", "additionalProperties": true})
    }
}

/// Who changed something.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditActor {
    /// The user; null for the command line.
    user_id: Option<UserId>,
    /// The address the request came from; null also where you may not view the audit log.
    address: Option<String>,
}

/// One change of one record.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditRecord {
    /// Identifier, opaque and never reused.
    id: RecordId,
    /// Place in the company's chain, from 1 without a gap.
    sequence: i64,
    /// When it was recorded.
    at: Instant,
    /// Who asked for it.
    actor: AuditActor,
    /// The dialect it was asked for in, by its letter; null for the command line.
    dialect: Option<String>,
    /// The server's own name for the request: the log of the server has it too, and no client chooses it.
    request_id: Option<String>,
    /// The `X-Request-Id` that the client sent, if it sent one, at most 64 characters of it: its own word, and proof of
    /// nothing.
    client_request_id: Option<String>,
    /// What was done.
    action: AuditAction,
    /// The kind of record, such as `journals`.
    resource: String,
    /// The record.
    resource_id: RecordId,
    /// The version before; null where there was none.
    version_from: Option<i64>,
    /// The version after; null where the record is gone.
    version_to: Option<i64>,
    /// The record before.
    before: Option<RecordJson>,
    /// The record after.
    after: Option<RecordJson>,
    /// The hash of the record before it in the chain.
    previous_hash: String,
    /// HMAC-SHA-256 over this record and the hash before it, under a key that is not in the database; SHA-256 in
    /// records from before there was one.
    hash: String,
}

impl Record for AuditRecord {
    fn id(&self) -> RecordId {
        self.id
    }

    /// It never changes.
    fn version(&self) -> i64 {
        1
    }
}

/// One page of the audit log.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditRecordPage {
    items: Vec<AuditRecord>,
    pagination: Pagination,
}

/// How long what a change tells is.
pub fn weight(row: &table::Model) -> usize {
    [&row.before, &row.after, &row.record].into_iter().flatten().map(|state| state.len()).sum()
}

/// Records as they are shown, each with the hash of the one before it. They are of one log.
pub async fn shown(cx: &Cx<'_>, rows: Vec<table::Model>) -> Result<Vec<AuditRecord>> {
    let Some(business) = rows.first().map(|row| row.business_id) else { return Ok(Vec::new()) };
    let own: BTreeMap<i64, String> = rows.iter().map(|row| (row.sequence, row.hash.to_string())).collect();
    let missing = rows.iter().map(|row| row.sequence - 1).filter(|place| *place > 0 && !own.contains_key(place));
    let beside = audit::hashes_at(&cx.db, business, missing).await?;
    let previous = |row: &table::Model| {
        let place = row.sequence - 1;
        // The first one follows from nothing.
        own.get(&place).or_else(|| beside.get(&place)).map_or_else(String::new, String::clone)
    };
    rows.into_iter().map(|row| record(previous(&row), row)).collect()
}

fn record(previous_hash: String, row: table::Model) -> Result<AuditRecord> {
    let json = |state: Option<Cow<'_, str>>| {
        state.map(|json| RawValue::from_string(json.into_owned()).map(RecordJson).map_err(Error::internal)).transpose()
    };
    let [before, after] = recorded::states(&row)?;
    let (before, after) = (json(before)?, json(after)?);
    Ok(AuditRecord {
        id: row.id,
        sequence: row.sequence,
        at: row.at,
        actor: AuditActor { user_id: row.user_id, address: row.address },
        dialect: row.dialect,
        request_id: row.request_id,
        client_request_id: row.client_request_id,
        action: row.action.parse().map_err(Error::internal)?,
        resource: row.resource.into_inner(),
        resource_id: row.resource_id,
        version_from: row.version_from,
        version_to: row.version_to,
        before,
        after,
        previous_hash,
        hash: row.hash.0,
    })
}

pub fn example() -> serde_json::Value {
    json!({
        "id": "019a9f6e-6c00-7a31-8d2f-3b1c5e7f9a02",
        "sequence": 42,
        "at": "2026-11-20T09:30:00.000000Z",
        "actor": { "userId": "019a9f6e-6c00-7c55-8a77-1f3e5d7b9c03", "address": "192.0.2.7" },
        "dialect": "A",
        "requestId": "4c1f6d0e-8d0b-4a55-9b1c-2f1d3a5b7c90",
        "clientRequestId": "import-2026-11-20.7",
        "action": "updated",
        "resource": "parties",
        "resourceId": "019a9f6e-6c00-7d64-9e10-5a7c9b1d3f04",
        "versionFrom": 1,
        "versionTo": 2,
        "before": { "name": "Nordwind Cafe", "version": 1 },
        "after": { "name": "Nordwind Cafés", "version": 2 },
        "previousHash": "5a0c7f0f0d3a3c0c1a1d5c6e0b0a9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e",
        "hash": "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0"
    })
}

/// What of the log the caller may see: changes of what they may view.
pub fn reach(cx: &Cx<'_>) -> Result<Condition> {
    let seat = &cx.business()?.seat;
    let own = Condition::all().add(Column::BusinessId.eq(cx.business_id()?));
    if sees_all(cx)? {
        return Ok(own);
    }
    let viewed = ResourceKey::ALL.into_iter().filter(|key| seat.rights.allows(*key, Action::View));
    Ok(own.add(Column::Resource.is_in(viewed.map(|key| Word::from(key.stem())))))
}

/// Whether nothing of the log is withheld from the caller.
pub fn sees_all(cx: &Cx<'_>) -> Result<bool> {
    let seat = &cx.business()?.seat;
    Ok(ResourceKey::ALL.into_iter().all(|key| seat.rights.allows(key, Action::View)))
}

/// The records of the company in scope that the caller may see: nobody reads the log but through here.
pub fn records(cx: &Cx<'_>) -> Result<Select<table::Entity>> {
    Ok(table::Entity::find().filter(reach(cx)?))
}
