//! Settling with a document: allocating what is left of it, and taking that back.

use super::allocating::{AllocationAsked, AllocationInput, Touch, allocate, check, of_documents, remove};
use crate::document::{Document, invalid_state, load};
use crate::error::{FieldErrors, Result};
use crate::field::Faults;
use crate::ids::RecordId;
use books::cx::Cx;
use kit::extra::{Act, ActMethod, NoWords};
use kit::operation::ReplyKind;
use kit::rows;
use schema::rights::Action;
use schema::tables::DocumentStatus;
use serde_json::{Value, json};
use std::marker::PhantomData;

pub(crate) struct Allocate<D>(PhantomData<fn() -> D>);

impl<D: Document> Act for Allocate<D> {
    type Resource = D;
    type Answers = D;
    type Input = AllocationInput;
    type Words = AllocationAsked;
    const NAME: &'static str = "Allocate";
    const SEGMENT: &'static str = "allocations";
    const ACTION: Action = Action::Edit;
    const KIND: ReplyKind = ReplyKind::Created;
    const SUMMARY: &'static str = "Allocate {one}";
    const DESCRIPTION: &'static str = "Settles another document of the same party with what is left of the {noun}. \
                                       More than is open on either side is refused with `over_allocated`.";

    fn check(input: AllocationInput) -> Result<AllocationAsked, FieldErrors> {
        let mut faults = Faults::default();
        let asked = check(&mut faults, input);
        faults.finish(asked)
    }

    fn example() -> Option<fn() -> Value> {
        Some(|| json!({"targetId": "019a9f6e-6c00-7b29-8218-d4f516879229", "amount": 100, "discountAmount": 2}))
    }

    async fn run(cx: &Cx<'_>, id: RecordId, asked: &AllocationAsked) -> Result<D::View> {
        let old = load::<D>(cx, id).await?;
        if old.row.status != DocumentStatus::Posted {
            return Err(invalid_state("Only a posted document settles others"));
        }
        allocate(cx, "", id, asked, Touch::Both).await?;
        cx.flush().await?;
        rows::get::<D>(cx, id).await
    }
}

pub(crate) struct Deallocate<D>(PhantomData<fn() -> D>);

impl<D: Document> Act for Deallocate<D> {
    type Resource = D;
    type Answers = D;
    type Input = NoWords;
    type Words = ();
    const NAME: &'static str = "Deallocate";
    const SEGMENT: &'static str = "allocations";
    const ACTION: Action = Action::Edit;
    const METHOD: ActMethod = ActMethod::Delete;
    const SUMMARY: &'static str = "Remove the allocations of {one}";
    const DESCRIPTION: &'static str = "Takes back everything that the {noun} settles: those documents are open again, \
                                       and what the allocations posted is reversed. A single allocation is removed \
                                       with `DELETE` on it.";

    fn check(_: NoWords) -> Result<(), FieldErrors> {
        Ok(())
    }

    async fn run(cx: &Cx<'_>, id: RecordId, (): &()) -> Result<D::View> {
        load::<D>(cx, id).await?;
        cx.flush().await?;
        for allocation in of_documents(cx, &[id]).await?.into_iter().filter(|one| one.source_document_id == id) {
            remove(cx, &allocation, None, Touch::Both).await?;
        }
        cx.flush().await?;
        rows::get::<D>(cx, id).await
    }
}
