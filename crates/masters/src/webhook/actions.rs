//! What is done with a webhook: tried, given another secret, sent back in the feed, and told something once more.

use super::table::{Column, cursor, delivery};
use super::{WebhookStatus, WebhookView, Webhooks, hidden, letter};
use crate::clock::Instant;
use crate::error::{Code, Error, FieldErrors, Result};
use crate::field::{Faults, Field, Maybe, Text};
use crate::ids::RecordId;
use answers::Ask;
use books::cx::Cx;
use delivery::AttemptStatus;
use kit::extra::{Act, NoWords};
use kit::master::{self, Columns};
use kit::rows;
use schema::rights::Action;
use schemars::JsonSchema;
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};
use serde::Deserialize;
use serde_json::{Value, json};

/// So many may wait to be sent beside the feed.
const MOST_WAITING: u64 = 100;

/// Something that is to be sent once, beside the feed.
async fn ask_for(
    cx: &Cx<'_>,
    webhook: RecordId,
    (event, sequence, kind): (RecordId, Option<i64>, String),
) -> Result<()> {
    let business = cx.business_id()?;
    if rows::row::<Webhooks>(cx, webhook).await?.status != WebhookStatus::Active {
        let why = "This webhook is not active, so it is told nothing; make it active first";
        return Err(Error::conflict(Code::InvalidState, why));
    }
    let waiting = delivery::Entity::find()
        .filter(delivery::Column::BusinessId.eq(business))
        .filter(delivery::Column::WebhookId.eq(webhook))
        .filter(delivery::Column::Status.eq(AttemptStatus::Waiting));
    if waiting.count(&cx.db).await? >= MOST_WAITING {
        let why = format!("{MOST_WAITING} messages wait for this webhook already; ask again once they were sent");
        return Err(Error::conflict(Code::InvalidState, why));
    }
    let row = delivery::ActiveModel {
        business_id: Set(business),
        id: Set(RecordId(cx.new_id())),
        webhook_id: Set(webhook),
        event_id: Set(event),
        sequence: Set(sequence),
        r#type: Set(kind),
        attempt: Set(1),
        status: Set(AttemptStatus::Waiting),
        at: Set(cx.now),
        answered: Set(None),
        ms: Set(None),
        said: Set(None),
        problem: Set(None),
    };
    delivery::Entity::insert(row).exec_without_returning(&cx.db).await?;
    Ok(())
}

pub(super) struct Test;

impl Act for Test {
    type Resource = Webhooks;
    type Answers = Webhooks;
    type Input = NoWords;
    type Words = ();
    const NAME: &'static str = "Test";
    const SEGMENT: &'static str = "test";
    const ACTION: Action = Action::Edit;
    const SUMMARY: &'static str = "Send a test to {one}";
    const DESCRIPTION: &'static str = "Sends an event of the type `webhook.test`, once, signed like any other; `deliveries` says \
                                       what became of it. The webhook must be active.";

    fn check(_: NoWords) -> Result<(), FieldErrors> {
        Ok(())
    }

    async fn run(cx: &Cx<'_>, id: RecordId, (): &()) -> Result<WebhookView> {
        let view = rows::get::<Webhooks>(cx, id).await?;
        ask_for(cx, id, (RecordId(cx.new_id()), None, letter::TEST.into())).await?;
        Ok(view)
    }
}

pub(super) struct RotateSecret;

/// How a secret is exchanged for another.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub(super) struct RotateInput {
    /// For how long messages are signed under the old secret as well, such as `24h`, `30m` or `90s`; at most `30d`, and not at
    /// all when absent.
    keep_old_for: Maybe<Text<20>>,
}

/// Thirty days.
const LONGEST_KEPT: i64 = 30 * 86_400;

/// So many seconds, minutes, hours or days.
fn seconds(text: &str) -> Option<i64> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let factor = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return None,
    };
    let number: u32 = number.bytes().all(|digit| digit.is_ascii_digit()).then(|| number.parse().ok()).flatten()?;
    i64::from(number).checked_mul(factor).filter(|seconds| *seconds <= LONGEST_KEPT)
}

impl Act for RotateSecret {
    type Resource = Webhooks;
    type Answers = Webhooks;
    type Input = RotateInput;
    type Words = Option<i64>;
    const NAME: &'static str = "RotateSecret";
    const SEGMENT: &'static str = "rotate-secret";
    const ACTION: Action = Action::Edit;
    const SUMMARY: &'static str = "Give {one} another secret";
    const DESCRIPTION: &'static str = "Answers the new secret, once. With `keepOldFor` each message has two signatures for that \
                                       long, one under each secret, so that no message is refused while you change yours.";

    fn check(input: RotateInput) -> Result<Option<i64>, FieldErrors> {
        let mut faults = Faults::default();
        let text = faults.optional("keepOldFor", input.keep_old_for).and_then(Text::into_option);
        let kept = text.as_deref().map(seconds);
        if kept == Some(None) {
            faults.add("keepOldFor", "must be a time such as 24h, 30m or 90s, at most 30d");
        }
        faults.finish(kept.flatten().filter(|seconds| *seconds > 0))
    }

    fn example() -> Option<fn() -> Value> {
        Some(|| json!({"keepOldFor": "24h"}))
    }

    async fn run(cx: &Cx<'_>, id: RecordId, kept: &Option<i64>) -> Result<WebhookView> {
        let row = rows::row::<Webhooks>(cx, id).await?;
        let secret = letter::secret()?;
        let until = kept.map(|seconds| Instant::from_micros(cx.now.micros() + seconds * 1_000_000));
        let mut draft = Columns::new();
        draft.set(Column::FormerSecret, until.map(|_| row.secret.clone()));
        draft.set(Column::FormerUntil, until);
        draft.set(Column::Secret, hidden(cx.keys(), cx, secret.as_bytes())?);
        let view = master::update::<Webhooks>(cx, id, &draft).await?;
        Ok(WebhookView { secret: Some(secret), ..view })
    }
}

pub(super) struct Replay;

/// From where on a webhook is told again.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub(super) struct ReplayInput {
    /// The last event that is not sent again, by its `sequence`; 0 for all there are.
    #[schemars(range(min = 0))]
    after: Field<i64>,
}

impl Act for Replay {
    type Resource = Webhooks;
    type Answers = Webhooks;
    type Input = ReplayInput;
    type Words = i64;
    const NAME: &'static str = "Replay";
    const SEGMENT: &'static str = "replay";
    const ACTION: Action = Action::Edit;
    const SUMMARY: &'static str = "Send {one} events again";
    const DESCRIPTION: &'static str = "From now on the webhook is told what comes after this event: again what it had, or less \
                                       than what it had not. Each event has the same `webhook-id` as before.";

    fn check(input: ReplayInput) -> Result<i64, FieldErrors> {
        let mut faults = Faults::default();
        let given = matches!(input.after, Field::Given(_));
        let after = faults.required("after", input.after);
        if given {
            faults.within("after", Some(after), 0, i64::MAX);
        }
        faults.finish(after)
    }

    fn example() -> Option<fn() -> Value> {
        Some(|| json!({"after": 0}))
    }

    async fn run(cx: &Cx<'_>, id: RecordId, after: &i64) -> Result<WebhookView> {
        let view = rows::get::<Webhooks>(cx, id).await?;
        let newest =
            books::seal::heads::stands(cx).await?.map_or(books::BEFORE_THE_FIRST, |books| books.audit_sequence);
        if *after > newest {
            return Err(Error::field("after", format!("is beyond the feed, which ends at {newest}")));
        }
        cursor::Entity::update_many()
            .filter(cursor::Column::BusinessId.eq(cx.business_id()?))
            .filter(cursor::Column::WebhookId.eq(id))
            .col_expr(cursor::Column::After, Expr::value(*after))
            .col_expr(cursor::Column::Failures, Expr::value(0))
            .col_expr(cursor::Column::NextAt, Expr::value(Option::<i64>::None))
            .exec(&cx.db)
            .await?;
        Ok(view)
    }
}

pub(super) struct Redeliver;

/// What is sent once more.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub(super) struct RedeliverInput {
    /// The delivery, as `deliveries` has it.
    delivery_id: Field<RecordId>,
}

impl Act for Redeliver {
    type Resource = Webhooks;
    type Answers = Webhooks;
    type Input = RedeliverInput;
    type Words = RecordId;
    const NAME: &'static str = "Redeliver";
    const SEGMENT: &'static str = "redeliver";
    const ACTION: Action = Action::Edit;
    const SUMMARY: &'static str = "Send {one} one event again";
    const DESCRIPTION: &'static str = "Sends the event of a delivery once more, with the same `webhook-id`, beside the feed and \
                                       whatever became of it before.";

    fn check(input: RedeliverInput) -> Result<RecordId, FieldErrors> {
        let mut faults = Faults::default();
        let id = faults.required("deliveryId", input.delivery_id);
        faults.finish(id)
    }

    fn example() -> Option<fn() -> Value> {
        Some(|| json!({"deliveryId": "019a9f6e-6c00-7d64-9e10-5a7c9b1d3f04"}))
    }

    async fn run(cx: &Cx<'_>, id: RecordId, of: &RecordId) -> Result<WebhookView> {
        let view = rows::get::<Webhooks>(cx, id).await?;
        let found = delivery::Entity::find_by_id((cx.business_id()?, *of)).model(&cx.db).await?;
        let found = found.filter(|found| found.webhook_id == id);
        let found = found.ok_or_else(|| Error::field("deliveryId", "names no delivery of this webhook"))?;
        ask_for(cx, id, (found.event_id, found.sequence, found.r#type)).await?;
        Ok(view)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_kept_for_a_time_that_has_an_end() {
        for (text, expected) in [
            ("24h", Some(86_400)),
            ("30m", Some(1_800)),
            ("0s", Some(0)),
            ("30d", Some(LONGEST_KEPT)),
            ("31d", None),
            ("5", None),
            ("", None),
            ("h", None),
            ("-1h", None),
            ("1é", None),
        ] {
            assert_eq!(seconds(text), expected.filter(|_| text != "h"), "{text}");
        }
    }
}
