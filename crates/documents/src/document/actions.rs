//! What can be done with a document beside the five verbs: post, void, copy.

use super::write::{create, invalid_state, load, load_source, replace_draft, void};
use super::{Document, Draft, Head, Purpose};
use crate::day::Day;
use crate::error::{FieldErrors, Result};
use crate::field::{Faults, Maybe, Text};
use crate::ids::RecordId;
use books::cx::Cx;
use kit::extra::{Act, Extra, NoWords, action};
use kit::operation::ReplyKind;
use schema::address::text;
use schema::rights::Action;
use schema::tables::DocumentStatus;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::marker::PhantomData;

pub(crate) fn extras<D: Document>() -> Vec<Extra> {
    vec![action::<Post<D>>(), action::<Void<D>>(), action::<Copy<D>>()]
}

struct Post<D>(PhantomData<fn() -> D>);

impl<D: Document> Act for Post<D> {
    type Resource = D;
    type Answers = D;
    type Input = NoWords;
    type Words = ();
    const NAME: &'static str = "Post";
    const SEGMENT: &'static str = "post";
    const ACTION: Action = Action::Post;
    const SUMMARY: &'static str = "Post {one}";
    const DESCRIPTION: &'static str = "Brings a draft into the books: it gets its number and its ledger entries. The \
                                       same as `status` set to `posted` in a PUT.";

    fn check(_: NoWords) -> Result<(), FieldErrors> {
        Ok(())
    }

    async fn run(cx: &Cx<'_>, id: RecordId, (): &()) -> Result<D::View> {
        let old = load::<D>(cx, id).await?;
        if old.row.status != DocumentStatus::Draft {
            return Err(invalid_state("Only a draft can be posted"));
        }
        let (head, asked) = (old.head.clone(), old.content.asked.clone());
        replace_draft(cx, old, Head { status: Some(DocumentStatus::Posted), ..head }, asked, Purpose::Posting).await
    }
}

/// How a document is voided.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct VoidInput {
    /// The day of the reversal; the document's own if that is open, else the first open day, when absent. Not before the
    /// document's own day, and not after today in the company's time zone.
    date: Maybe<Day>,
    /// Why it is taken back.
    reason: Maybe<Text<500>>,
}

pub(crate) struct VoidWords {
    date: Option<Day>,
    reason: Option<String>,
}

struct Void<D>(PhantomData<fn() -> D>);

impl<D: Document> Act for Void<D> {
    type Resource = D;
    type Answers = D;
    type Input = VoidInput;
    type Words = VoidWords;
    const NAME: &'static str = "Void";
    const SEGMENT: &'static str = "void";
    const ACTION: Action = Action::Void;
    const SUMMARY: &'static str = "Void {one}";
    const DESCRIPTION: &'static str = "Takes a posted {noun} back out of the books by a reversal. Both stay visible, \
                                       and it keeps its number. The same as `status` set to `void` in a PUT.";

    fn check(input: VoidInput) -> Result<VoidWords, FieldErrors> {
        check_void(input)
    }

    fn example() -> Option<fn() -> Value> {
        Some(|| json!({"date": "2026-11-20", "reason": "Entered twice"}))
    }

    async fn run(cx: &Cx<'_>, id: RecordId, words: &VoidWords) -> Result<D::View> {
        run_void::<D>(cx, id, words).await
    }
}

pub(crate) fn check_void(input: VoidInput) -> Result<VoidWords, FieldErrors> {
    let mut faults = Faults::default();
    let words =
        VoidWords { date: faults.optional("date", input.date), reason: text(&mut faults, "reason", input.reason) };
    faults.finish(words)
}

pub(crate) async fn run_void<D: Document>(cx: &Cx<'_>, id: RecordId, words: &VoidWords) -> Result<D::View> {
    let old = load::<D>(cx, id).await?;
    if old.row.status != DocumentStatus::Posted {
        return Err(invalid_state("Only a posted document can be voided"));
    }
    void(cx, old, words.date, words.reason.clone()).await
}

struct Copy<D>(PhantomData<fn() -> D>);

impl<D: Document> Act for Copy<D> {
    type Resource = D;
    type Answers = D;
    type Input = NoWords;
    type Words = ();
    const NAME: &'static str = "Copy";
    const SEGMENT: &'static str = "copy";
    const ACTION: Action = Action::Create;
    const KIND: ReplyKind = ReplyKind::Created;
    const SUMMARY: &'static str = "Copy {one}";
    const DESCRIPTION: &'static str = "Makes a draft with the same content, whatever the status of the {noun}. The \
                                       copy has no number and no external identifier.";

    fn check(_: NoWords) -> Result<(), FieldErrors> {
        Ok(())
    }

    async fn run(cx: &Cx<'_>, id: RecordId, (): &()) -> Result<D::View> {
        let old = load_source::<D>(cx, id).await?;
        let head =
            Head { status: Some(DocumentStatus::Draft), number: None, series: None, external_id: None, ..old.head };
        create::<D>(cx, &Draft { head, asked: D::copied(old.content.asked) }).await
    }
}
