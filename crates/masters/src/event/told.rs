//! Events as they are told: in a page, and as a stream.

use super::types::{Types, type_of};
use crate::clock::Instant;
use crate::error::{Error, Result};
use crate::ids::{RecordId, UserId};
use answers::Ask;
use books::audit::AuditAction;
use books::cx::Cx;
use books::seal::heads;
use kit::changes::{RecordJson, records, weight};
use schema::tables::audit_log::{self as table, Column};
pub use schema::webhook::Payload;
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, QueryFilter, QueryOrder, QuerySelect};
use serde::Serialize;
use serde_json::json;

/// Who did something.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventActor {
    /// The user; null for the server itself and the command line.
    user_id: Option<UserId>,
}

/// What an event tells of its record.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventData {
    /// The record as it was answered after the change; as it was before, where it is gone.
    pub record: Option<RecordJson>,
    /// What moved the record, where nobody wrote it: it was allocated to, or something was made of it. Of what is overdue, when
    /// it was due and what is open of it; of an item that runs low, how many there were and are.
    pub note: Option<RecordJson>,
}

/// Something that happened to a record.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// Its place in the company's feed, from 1 without a gap.
    pub sequence: i64,
    /// Identifier, opaque and never reused: the same event has the same one wherever it is told.
    pub id: RecordId,
    /// What happened, such as `salesInvoice.posted`.
    #[serde(rename = "type")]
    pub kind: String,
    /// When it happened.
    pub occurred_at: Instant,
    /// Who did it.
    pub actor: EventActor,
    /// The dialect it was asked for in, by its letter; null for the server itself and the command line.
    pub dialect: Option<String>,
    /// The kind of record, such as `salesInvoices`.
    pub resource: String,
    /// The record.
    pub resource_id: RecordId,
    /// The version that it has since; that which it had, where it is gone; null where it has none.
    pub version: Option<i64>,
    /// What is told of the record with `payload=full`; else null.
    pub data: Option<EventData>,
    /// The request that it came of, by our own name. The audit log tells it to those who may view that.
    #[serde(skip)]
    pub request_id: Option<String>,
}

/// Events in their order.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Events {
    items: Vec<Event>,
    /// Up to where this answer tells all that was asked for, whether anything of it is told or not. Ask on with `after` set to
    /// it.
    pub last_sequence: i64,
    /// Whether the feed goes on behind it already.
    pub has_more: bool,
}

/// Which events somebody wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    pub after: i64,
    pub types: Types,
    pub limit: i64,
    pub payload: Payload,
}

/// As many places of the log are looked at for one answer, however few events of the types that are wanted stand there.
const LOOKED_AT: i64 = 10_000;
/// As many records are read at once where they are told as well, and what they may weigh together: one answer tells no more.
const AT_ONCE: i64 = 50;
const MOST_WEIGHT: usize = 4 << 20;

/// What happened after an event, as far as the caller may know.
pub async fn told(cx: &Cx<'_>, wanted: &Wanted) -> Result<Events> {
    // Read first: all that stands before this place is there by now, and nothing ever comes between.
    let newest = heads::stands(cx).await?.map_or(books::BEFORE_THE_FIRST, |books| books.audit_sequence);
    let end = wanted.after.checked_add(LOOKED_AT).map_or(newest, |end| end.min(newest));
    let at_once = if wanted.payload == Payload::Full { AT_ONCE } else { wanted.limit };
    let (mut items, mut told_until, mut weighed): (Vec<Event>, _, _) = (Vec::new(), wanted.after.min(end), 0);
    loop {
        let left = wanted.limit - i64::try_from(items.len()).map_err(Error::internal)?;
        let some = left.min(at_once);
        let rows = records(cx)?
            .filter(wanted.types.condition())
            .filter(Column::Sequence.gt(told_until))
            .filter(Column::Sequence.lte(end))
            .order_by_asc(Column::Sequence)
            .limit(u64::try_from(some).map_err(Error::internal)?)
            .models(&cx.db)
            .await?;
        let are_all = i64::try_from(rows.len()).map_err(Error::internal)? < some;
        for row in rows {
            if wanted.payload == Payload::Full {
                weighed += weight(&row);
                if weighed > MOST_WEIGHT && !items.is_empty() {
                    return Ok(Events { items, last_sequence: told_until, has_more: true });
                }
            }
            told_until = row.sequence;
            items.push(event(row, wanted.payload)?);
        }
        if are_all {
            told_until = end;
        }
        if are_all || left <= some {
            return Ok(Events { items, last_sequence: told_until, has_more: told_until < newest });
        }
    }
}

/// What a record of the audit log tells as an event.
fn event(row: table::Model, payload: Payload) -> Result<Event> {
    let action: AuditAction = row.action.parse().map_err(Error::internal)?;
    let data = match payload {
        Payload::Thin => None,
        Payload::Full => {
            let recorded = row.recorded()?;
            let owned = |json: Option<&serde_json::value::RawValue>| json.map(|json| RecordJson::from(json.to_owned()));
            Some(EventData { record: owned(recorded.after.or(recorded.before)), note: owned(recorded.note) })
        }
    };
    let kind = type_of(&row.resource, action);
    Ok(Event {
        sequence: row.sequence,
        id: row.id,
        kind: kind
            .ok_or_else(|| Error::internal(format!("the log speaks of {}, which is no resource", &*row.resource)))?,
        occurred_at: row.at,
        actor: EventActor { user_id: row.user_id },
        dialect: row.dialect,
        resource: row.resource.into_inner(),
        resource_id: row.resource_id,
        version: row.version_to.or(row.version_from),
        data,
        request_id: row.request_id.map(|called| called.0),
    })
}

#[cfg(test)]
impl Event {
    /// One as it was told.
    pub(crate) fn sample(told: &serde_json::Value) -> Self {
        let text = |name: &str| told[name].as_str().unwrap();
        let id = |name: &str| RecordId::parse(text(name)).unwrap();
        Self {
            sequence: told["sequence"].as_i64().unwrap(),
            id: id("id"),
            kind: text("type").into(),
            occurred_at: Instant::parse(text("occurredAt")).unwrap(),
            actor: EventActor { user_id: None },
            dialect: None,
            resource: text("resource").into(),
            resource_id: id("resourceId"),
            version: told["version"].as_i64(),
            data: None,
            request_id: None,
        }
    }
}

impl Events {
    /// Whether nothing is told, and nothing is there to be asked on for.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty() && !self.has_more
    }

    pub fn into_items(self) -> Vec<Event> {
        self.items
    }

    /// As server-sent events. Where there is nothing to tell, where all was told is said: so whoever listens is known to be
    /// there, and comes again behind what does not concern them.
    pub fn as_stream(&self) -> Result<String> {
        let mut text = String::new();
        for event in &self.items {
            let json = serde_json::to_string(event).map_err(Error::internal)?;
            text.push_str(&format!("id: {}\nevent: {}\ndata: {json}\n\n", event.sequence, event.kind));
        }
        if self.items.last().is_none_or(|last| last.sequence < self.last_sequence) {
            text.push_str(&format!("id: {}\n\n", self.last_sequence));
        }
        Ok(text)
    }
}

pub fn example() -> serde_json::Value {
    json!({
        "sequence": 42,
        "id": "019a9f6e-6c00-7a31-8d2f-3b1c5e7f9a02",
        "type": "salesInvoice.posted",
        "occurredAt": "2026-11-20T09:00:00.000000Z",
        "actor": {"userId": "019a9f6e-6c00-7c55-8a77-1f3e5d7b9c03"},
        "dialect": "A",
        "resource": "salesInvoices",
        "resourceId": "019a9f6e-6c00-7d64-9e10-5a7c9b1d3f04",
        "version": 2,
        "data": null
    })
}
