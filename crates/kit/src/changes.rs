//! Changes of records as they are answered: in the audit log, and in the history of each record.
//!
//! Owns: that whoever may not see a resource does not see its changes, by whichever door. Whoever reads the log begins
//! with [`records`].

use crate::clock::Instant;
use crate::error::{Error, Result};
use crate::ids::{RecordId, UserId};
use crate::list::Pagination;
use crate::resource::Record;
use answers::Ask;
use books::among::among;
use books::audit::{self, AuditAction};
use books::cx::Cx;
use books::security::tampered;
use schema::key::ResourceKey;
use schema::recorded::Recorded;
use schema::rights::Action;
use schema::tables::audit_log::{self as table, Column};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use sea_orm::{ColumnTrait, Condition, QueryFilter, QueryOrder, QuerySelect, Select};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use words::codes::Word;
use words::packed::Packed;

/// A record as it was answered, kept as it was written.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct RecordJson(Box<RawValue>);

impl From<Box<RawValue>> for RecordJson {
    fn from(json: Box<RawValue>) -> Self {
        Self(json)
    }
}

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
    /// The user; null for the server itself and the command line.
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
    /// What moved the record, where nobody wrote it: it was allocated to, or something was made of it. Of what is overdue, when
    /// it was due and what is open of it; of an item that runs low, how many there were and are. Null of all that was written.
    note: Option<RecordJson>,
    /// Why none of them is shown, where the record was changed behind the server's back or is damaged; else null.
    problem: Option<String>,
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
    let stored = [&row.before, &row.after, &row.record].into_iter().flatten();
    stored.filter_map(Packed::text).map(str::len).sum()
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
    let mut told = told_before(cx, &rows).await?;
    rows.into_iter().map(|row| record((previous(&row), told.remove(&row.sequence)), row)).collect()
}

/// Of records that were touched: what the log was told of them last, by the place of the record that asks for it.
async fn told_before(cx: &Cx<'_>, rows: &[table::Model]) -> Result<HashMap<i64, RecordJson>> {
    let is_of_another = |row: &&table::Model| {
        [AuditAction::Touched, AuditAction::Settled, AuditAction::Overdue, AuditAction::Low]
            .iter()
            .any(|action| *row.action == *action.as_str())
    };
    let touched: Vec<&table::Model> = rows.iter().filter(is_of_another).collect();
    let Some(last) = touched.iter().map(|row| row.sequence).max() else { return Ok(HashMap::new()) };
    // Who sees what moved a document sees what it was.
    let own = records(cx)?;
    let of: BTreeSet<RecordId> = touched.iter().map(|row| row.resource_id).collect();
    let places: Vec<(RecordId, i64)> = own
        .clone()
        .select_only()
        .columns([Column::ResourceId, Column::Sequence])
        .filter(among(cx, Column::ResourceId, of))
        .filter(Column::Sequence.lt(last))
        .read(&cx.db)
        .await?;
    let places: BTreeSet<(RecordId, i64)> = places.into_iter().collect();
    let before = |row: &table::Model| {
        let (_, place) =
            places.range(..(row.resource_id, row.sequence)).next_back().filter(|(id, _)| *id == row.resource_id)?;
        Some((row.sequence, *place))
    };
    let before: Vec<(i64, i64)> = touched.iter().filter_map(|row| before(row)).collect();
    let missing = before.iter().map(|(_, place)| *place).filter(|place| rows.iter().all(|row| row.sequence != *place));
    let missing: Vec<i64> = missing.collect();
    let others = if missing.is_empty() {
        Vec::new()
    } else {
        own.filter(Column::Sequence.is_in(missing)).models(&cx.db).await?
    };
    let by_place: HashMap<i64, &table::Model> = rows.iter().chain(&others).map(|row| (row.sequence, row)).collect();
    let mut told = HashMap::new();
    for (sequence, place) in before {
        match by_place.get(&place).map(|row| row.recorded()) {
            Some(Ok(Recorded { after: Some(after), .. })) => drop(told.insert(sequence, RecordJson(after.to_owned()))),
            // Where it is torn, that is told of itself.
            Some(Ok(_) | Err(Error::Tampered { .. })) | None => {}
            Some(Err(other)) => return Err(other),
        }
    }
    Ok(told)
}

fn record((previous_hash, told): (String, Option<RecordJson>), row: table::Model) -> Result<AuditRecord> {
    let json = |state: Option<&RawValue>| state.map(|json| RecordJson(json.to_owned()));
    let (states, problem) = match row.recorded() {
        Ok(Recorded { before, after, note, .. }) => ([json(before).or(told), json(after), json(note)], None),
        // The others are no worse for it.
        Err(Error::Tampered { business, what }) => {
            tampered(Some(business), &what);
            (
                [None, None, None],
                Some("What it says is not what was written, and cannot be read; duet verify tells more".into()),
            )
        }
        Err(other) => return Err(other),
    };
    let [before, after, note] = states;
    Ok(AuditRecord {
        id: row.id,
        sequence: row.sequence,
        at: row.at,
        actor: AuditActor { user_id: row.user_id, address: row.address },
        dialect: row.dialect,
        request_id: row.request_id.map(|called| called.0),
        client_request_id: row.client_request_id,
        action: row.action.parse().map_err(Error::internal)?,
        resource: row.resource.into_inner(),
        resource_id: row.resource_id,
        version_from: row.version_from,
        version_to: row.version_to,
        before,
        after,
        note,
        problem,
        previous_hash,
        hash: row.hash.0,
    })
}

pub fn example() -> Value {
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
        "note": null,
        "problem": null,
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

/// Where the log says of some of these records that this happened to them, in its order.
pub async fn of_action(
    cx: &Cx<'_>,
    action: AuditAction,
    of: impl IntoIterator<Item = RecordId>,
) -> Result<Vec<table::Model>> {
    let of_them = records(cx)?.filter(among(cx, Column::ResourceId, of));
    let rows = of_them.filter(Column::Action.eq(Word::from(action.as_str()))).order_by_asc(Column::Sequence);
    Ok(rows.models(&cx.db).await?)
}

/// A record that was deleted.
pub struct Deleted {
    pub at: Instant,
    /// Its last version.
    pub version: i64,
    /// What it was then.
    pub was: Value,
}

/// A record as it was deleted; nothing where it is there, or never was.
pub async fn deleted(cx: &Cx<'_>, key: ResourceKey, id: RecordId) -> Result<Option<Deleted>> {
    let of_record = records(cx)?.filter(Column::Resource.eq(Word::from(key.stem()))).filter(Column::ResourceId.eq(id));
    let last = of_record.order_by_desc(Column::Sequence).limit(1).models(&cx.db).await?.pop();
    let Some(row) = last.filter(|row| *row.action == *AuditAction::Deleted.as_str()) else { return Ok(None) };
    let unknown = || Error::internal("what was deleted is not in the log as it was");
    let before = row.recorded()?.before.ok_or_else(unknown)?;
    let was = serde_json::from_str(before.get()).map_err(Error::internal)?;
    Ok(Some(Deleted { at: row.at, version: row.version_from.ok_or_else(unknown)?, was }))
}
