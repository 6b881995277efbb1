//! What became of what a webhook was told, as it is read.

use super::table::delivery::{self, AttemptStatus, Column};
use super::{Webhooks, table::cursor};
use crate::clock::Instant;
use crate::error::Result;
use crate::ids::RecordId;
use answers::Ask;
use books::cx::Cx;
use kit::extra::{Does, Extra, On, Produced, Reading};
use kit::list::{ListQuery, Pagination};
use kit::rows;
use schema::key::ResourceKey;
use schema::rights::Action;
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, Condition, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect};
use serde::Serialize;
use serde_json::json;

/// One attempt to tell something.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct WebhookDelivery {
    /// Identifier, opaque and never reused.
    id: RecordId,
    /// The event, which is the `webhook-id` of the message.
    event_id: RecordId,
    /// The event's place in the feed; null of a test.
    sequence: Option<i64>,
    /// What happened, such as `salesInvoice.posted`.
    #[serde(rename = "type")]
    kind: String,
    /// Which attempt it was, from 1.
    attempt: i64,
    /// What became of it.
    status: AttemptStatus,
    /// When it was made, or asked for.
    at: Instant,
    /// The status that was answered; null where nothing was.
    response_status: Option<i64>,
    /// How long it took, in milliseconds.
    ms: Option<i64>,
    /// How the answer begins.
    response_body: Option<String>,
    /// Why there was no answer.
    problem: Option<String>,
}

/// One page of deliveries, the last one first, and where the webhook stands.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct WebhookDeliveryPage {
    items: Vec<WebhookDelivery>,
    pagination: Pagination,
    /// Up to where the webhook was told all that it is to be told.
    delivered_until: i64,
    /// How often the next event was refused so far.
    failures: i64,
    /// When it is tried again; null where nothing was refused.
    next_attempt_at: Option<Instant>,
}

pub(super) fn reading() -> Extra {
    Extra {
        name: "Deliveries",
        segment: "deliveries",
        on: On::Record,
        action: Action::View,
        answers: None,
        summary: "See what {one} was told",
        description: "Each attempt of the last thirty days, at most 5 000, the last one first, but for those of what you may not view: what was answered, how soon, and why nothing was, \
                      where nothing was. It says as well up to where the webhook was told, and when it is tried again.",
        does: Does::Reads(Reading {
            paged: true,
            ..Reading::json::<WebhookDeliveryPage>(
                |cx, id, query| Box::pin(read(cx, id, query)),
                || {
                    json!({
                        "items": [{
                            "id": "019a9f6e-6c00-7d64-9e10-5a7c9b1d3f04", "eventId": "019a9f6e-6c00-7a31-8d2f-3b1c5e7f9a02",
                            "sequence": 42, "type": "salesInvoice.posted", "attempt": 1, "status": "delivered",
                            "at": "2026-11-20T09:00:00.250000Z", "responseStatus": 200, "ms": 83, "responseBody": "ok",
                            "problem": null
                        }],
                        "pagination": {"totalCount": 1, "totalPages": 1, "currentPage": 1},
                        "deliveredUntil": 42, "failures": 0, "nextAttemptAt": null
                    })
                },
            )
        }),
    }
}

async fn read(cx: &Cx<'_>, id: Option<RecordId>, query: &ListQuery) -> Result<Produced> {
    let id = id.ok_or(crate::error::Error::NotFound)?;
    // What happened is told by them as well.
    cx.business()?.require(ResourceKey::Events, Action::View)?;
    let webhook = rows::row::<Webhooks>(cx, id).await?;
    let stands = cursor::Entity::find_by_id((webhook.business_id, id)).model(&cx.db).await?;
    let stands = stands.ok_or_else(|| crate::error::Error::internal("a webhook stands nowhere in the feed"))?;
    let of = delivery::Entity::find()
        .filter(Column::BusinessId.eq(webhook.business_id))
        .filter(Column::WebhookId.eq(id))
        .filter(withheld(cx)?.not());
    let pagination = Pagination::of(query, of.clone().count(&cx.db).await?);
    let rows = of
        .order_by_desc(Column::At)
        .order_by_desc(Column::Id)
        .limit(query.page_size)
        .offset((query.page - 1) * query.page_size)
        .models(&cx.db)
        .await?;
    let page = WebhookDeliveryPage {
        items: rows.into_iter().map(shown).collect(),
        pagination,
        delivered_until: stands.after,
        failures: stands.failures,
        next_attempt_at: stands.next_at,
    };
    let produced = Produced::json(&page)?;
    Ok(Produced { pagination: Some(page.pagination), ..produced })
}

/// Attempts to tell of what the caller may not view: the webhook hears in somebody else's name.
fn withheld(cx: &Cx<'_>) -> Result<Condition> {
    let seat = &cx.business()?.seat;
    let unseen = ResourceKey::ALL.into_iter().filter(|key| !seat.rights.allows(*key, Action::View));
    let of = |key: ResourceKey| Column::Type.like(format!("{}.%", key.permission_noun()));
    Ok(unseen.map(of).fold(Condition::any(), Condition::add))
}

fn shown(row: delivery::Model) -> WebhookDelivery {
    WebhookDelivery {
        id: row.id,
        event_id: row.event_id,
        sequence: row.sequence,
        kind: row.r#type,
        attempt: row.attempt,
        status: row.status,
        at: row.at,
        response_status: row.answered,
        ms: row.ms,
        response_body: row.said,
        problem: row.problem,
    }
}
