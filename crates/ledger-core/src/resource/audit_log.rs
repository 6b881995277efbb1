//! The audit log as it is read: every change of every record, with the record before and after.
//!
//! Owns: that whoever may not see a resource does not see its changes, by whichever door. Whoever reads the log begins
//! with [`records`]. What is withheld leaves a gap in the sequence and nothing else; the chain is proved as a whole, here.

use crate::access::Action;
use crate::books::audit::{self, AuditAction, AuditVerdict};
use crate::books::seal::heads::{self, SignedHead};
use crate::books::tables::audit_log::{self as table, Column};
use crate::clock::Instant;
use crate::cx::Cx;
use crate::database::lane::BoxFuture;
use crate::error::{Error, Result};
use crate::feed::Portions;
use crate::ids::{RecordId, UserId};
use crate::packed::Packed;
use crate::resource::extra::{Does, Extra, Media, NoWords, On, Produced, Reading, Weight};
use crate::resource::list::{FilterValue, ListQuery, Page, Pagination, Parameter, Reads};
use crate::resource::operation::Verb;
use crate::resource::rows::{self, Filter, Rows, read_only};
use crate::resource::{About, Record, Resource, ResourceKey, Scope};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use sea_orm::sea_query::LikeExpr;
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Select};
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;
use std::borrow::Cow;

pub struct AuditLog;

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
    /// The dialect it was asked for in, `A` or `B`; null for the command line.
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

pub(crate) fn record(row: table::Model) -> Result<AuditRecord> {
    let json = |text: Option<Packed>| {
        text.map(|text| RawValue::from_string(text.into_inner()).map(RecordJson).map_err(Error::internal)).transpose()
    };
    Ok(AuditRecord {
        id: row.id,
        sequence: row.sequence,
        at: row.at,
        actor: AuditActor { user_id: row.user_id, address: row.address },
        dialect: row.dialect,
        request_id: row.request_id,
        client_request_id: row.client_request_id,
        action: row.action.parse().map_err(Error::internal)?,
        resource: row.resource,
        resource_id: row.resource_id,
        version_from: row.version_from,
        version_to: row.version_to,
        before: json(row.before)?,
        after: json(row.after)?,
        previous_hash: row.previous_hash,
        hash: row.hash,
    })
}

pub(crate) fn example() -> serde_json::Value {
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

const EXPORT: &[Parameter] = &[
    Parameter::new("after", "Only records after this place in the chain; 0 when absent.", Reads::Whole),
    Parameter::new("limit", "At most so many records, 10000 when absent and at most.", Reads::Whole),
];

/// As many records as one export brings.
const MOST_EXPORTED: i64 = 10_000;

impl Resource for AuditLog {
    const KEY: ResourceKey = ResourceKey::AuditLog;
    const SCOPE: Scope = Scope::Business;
    const ABOUT: About = About {
        title: "Audit log",
        one: "an audit record",
        many: "audit records",
        description: "Every change of every record of the company, in a chain of hashes. Nothing turns it off, and \
                      nothing in it can be changed. Changes of what you may not view are left out; their places in the \
                      chain are missing then, and `verify` proves the whole chain all the same.",
        sorts: &["sequence", "at"],
        searched: "what the record is called: number, code, name, e-mail, reference, external identifier, narration and \
                   description, after the change",
    };
    const VERBS: &'static [Verb] = &Verb::READ;
    type Input = NoWords;
    type Draft = ();
    type View = AuditRecord;

    fn parameters() -> Vec<Parameter> {
        rows::parameters::<Self>()
    }

    fn extras() -> Vec<Extra> {
        vec![
            Extra {
                name: "Verify",
                segment: "verify",
                on: On::Collection,
                action: Action::View,
                answers: None,
                summary: "Verify the audit log",
                description: "Walks the whole chain of hashes and tells where it is broken, if anywhere.",
                does: Does::Reads(Reading {
                    weight: Weight::Proof,
                    ..Reading::json::<AuditVerdict>(
                        |cx, _, _| {
                            Box::pin(async move { Produced::json(&audit::verify(cx, cx.business_id()?).await?) })
                        },
                        || json!({"ok": true, "records": 42, "head": example()["hash"], "problems": []}),
                    )
                }),
            },
            Extra {
                name: "Head",
                segment: "head",
                on: On::Collection,
                action: Action::View,
                answers: None,
                summary: "Get the signed head of the audit log",
                description: "Where the audit log and the ledger stand now, signed by the server. Keep it elsewhere: \
                              `duet verify --head` proves with it later that nothing was cut off or written anew.",
                does: Does::Reads(Reading::json::<SignedHead>(
                    |cx, _, _| {
                        Box::pin(
                            async move { Produced::json(&heads::head(&cx.db, cx.seals, cx.business_id()?).await?) },
                        )
                    },
                    || {
                        json!({
                            "businessId": "019a9f6e-6c00-7000-8000-000000000001", "sequence": 42,
                            "hash": example()["hash"], "entryNumber": 17,
                            "signature": "7d865e959b2466918c9863afca942d0fb89d7c9ac0c99bafc3749504ded97730"
                        })
                    },
                )),
            },
            Extra {
                name: "Export",
                segment: "export",
                on: On::Collection,
                action: Action::Export,
                answers: None,
                summary: "Export the audit log",
                description: "The records in the order of the chain, one JSON text a line. Ask again with `after` set to \
                              the last `sequence` until nothing comes.",
                does: Does::Reads(Reading {
                    parameters: EXPORT,
                    ..Reading::in_portions::<AuditRecord>(Media::NdJson, || Box::new(Exported::default()), example)
                }),
            },
        ]
    }

    fn example() -> serde_json::Value {
        json!({})
    }

    fn example_view() -> serde_json::Value {
        example()
    }

    async fn list(cx: &Cx<'_>, query: &ListQuery) -> Result<Page<AuditRecord>> {
        rows::list::<Self>(cx, query).await
    }

    async fn get(cx: &Cx<'_>, id: RecordId) -> Result<AuditRecord> {
        rows::get::<Self>(cx, id).await
    }

    read_only!();
}

impl Rows for AuditLog {
    type Entity = table::Entity;

    const ID: Column = Column::Id;
    const CHANGED: Column = Column::At;
    const SEARCH: Column = Column::Search;
    const SORTS: &'static [Column] = &[Column::Sequence, Column::At];

    fn found_by(word: LikeExpr) -> Condition {
        audit::found_by(&word)
    }

    fn filters() -> Vec<Filter<Column>> {
        vec![
            Filter::looking("resource", "Records of these kinds.", Reads::AnyOf(&STEMS), of_resources),
            Filter::equal("resourceId", "Changes of this record.", Reads::Identifier, Column::ResourceId),
            Filter::equal("action", "These changes.", Reads::AnyOf(AuditAction::TEXTS), Column::Action),
            Filter::equal("userId", "Changes by this user.", Reads::Identifier, Column::UserId),
            Filter::equal("requestId", "Changes by this request.", Reads::Text, Column::RequestId),
            Filter::equal(
                "clientRequestId",
                "Changes by requests that clients call so.",
                Reads::Text,
                Column::ClientRequestId,
            ),
            Filter::at_least("from", "Changes at or after this time.", Reads::Time, Column::At),
            Filter::at_most("to", "Changes at or before this time.", Reads::Time, Column::At),
        ]
    }

    fn reach(cx: &Cx<'_>) -> Result<Condition> {
        let seat = &cx.business()?.seat;
        let viewed = ResourceKey::ALL.into_iter().filter(|key| seat.rights.allows(*key, Action::View));
        Ok(Condition::all()
            .add(Column::BusinessId.eq(cx.business_id()?))
            .add(Column::Resource.is_in(viewed.map(ResourceKey::stem))))
    }

    async fn views(_: &Cx<'_>, rows: Vec<table::Model>) -> Result<Vec<AuditRecord>> {
        rows.into_iter().map(record).collect()
    }
}

/// The records of the company in scope that the caller may see: nobody reads the log but through here.
pub(crate) fn records(cx: &Cx<'_>) -> Result<Select<table::Entity>> {
    Ok(table::Entity::find().filter(AuditLog::reach(cx)?))
}

/// The stems of all resources, which the log names them by.
static STEMS: [&str; ResourceKey::ALL.len()] = {
    let mut stems = [""; ResourceKey::ALL.len()];
    let mut at = 0;
    while at < stems.len() {
        stems[at] = ResourceKey::ALL[at].stem();
        at += 1;
    }
    stems
};

#[allow(clippy::unnecessary_wraps, reason = "a filter may fail; this one does not")]
fn of_resources(_: &Cx<'_>, value: &FilterValue) -> Result<Condition> {
    let FilterValue::AnyOf(stems) = value else { return Ok(Condition::any()) };
    Ok(Condition::all().add(Column::Resource.is_in(stems.iter().map(String::as_str))))
}

/// How many records are read at once. Each may weigh what the largest document does, twice.
const PORTION: i64 = 100;

/// Records that are handed over in portions. They never change, and none comes between two of them.
#[derive(Default)]
struct Exported {
    /// The last one that was handed over, and how many may follow; nothing before the first portion.
    at: Option<(i64, i64)>,
}

impl Portions for Exported {
    fn next<'c>(&'c mut self, cx: &'c Cx<'c>, query: &'c ListQuery) -> BoxFuture<'c, Result<Option<String>>> {
        Box::pin(async move {
            let (after, left) = match self.at {
                Some(at) => at,
                None => asked(query)?,
            };
            let rows = records(cx)?
                .filter(Column::Sequence.gt(after))
                .order_by_asc(Column::Sequence)
                .limit(u64::try_from(left.min(PORTION)).map_err(Error::internal)?)
                .all(&cx.db)
                .await?;
            let Some(last) = rows.last().map(|row| row.sequence) else { return Ok(None) };
            self.at = Some((last, left - i64::try_from(rows.len()).map_err(Error::internal)?));
            let mut text = String::new();
            for row in rows {
                text.push_str(&serde_json::to_string(&record(row)?).map_err(Error::internal)?);
                text.push('\n');
            }
            Ok(Some(text))
        })
    }
}

/// The record after which an export begins, and how many are wanted.
fn asked(query: &ListQuery) -> Result<(i64, i64)> {
    let whole = |name: &str| match query.filter(name) {
        Some(FilterValue::Whole(number)) => Some(*number),
        _ => None,
    };
    let limit = whole("limit").unwrap_or(MOST_EXPORTED);
    if !(1..=MOST_EXPORTED).contains(&limit) {
        return Err(Error::field("limit", format!("must be a whole number from 1 to {MOST_EXPORTED}")));
    }
    Ok((whole("after").unwrap_or(0), limit))
}
