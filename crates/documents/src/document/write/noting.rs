//! What the audit log is told of a document.

use crate::document::Document;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use books::audit::{AuditAction, Change};
use books::cx::Cx;
use books::desk::Standing;
use books::touched::Touch;
use kit::operation::{Shown, shown};
use schema::tables::{DocumentStatus, Stage, documents as table};
use serde::Serialize;

/// Notes that a document was touched by something else: its figures moved, and it has a new version, which the log is told of
/// as soon as it is whole.
pub(crate) fn note_touch(cx: &Cx<'_>, row: &table::Model, note: &impl Serialize) -> Result<()> {
    let note = serde_json::to_string(note).map_err(Error::internal)?;
    if !cx.touched().note((row.kind, row.id), row.version, note) {
        return Ok(());
    }
    let (business, id, at, by) = (cx.business_id()?, row.id, cx.now, cx.user);
    cx.keep(|desk| desk.stands(Standing::Touched { business, id, version: row.version + 1, at, by }))
}

/// Notes that a document settles something as it comes into the books: it has the version that it has, and the log is told of
/// that as soon as it is whole.
pub(crate) fn note_settling(cx: &Cx<'_>, row: &table::Model, note: &impl Serialize) -> Result<()> {
    let note = serde_json::to_string(note).map_err(Error::internal)?;
    cx.touched().settles((row.kind, row.id), row.version, note);
    Ok(())
}

/// Tells the log of a document that was touched, as it is answered since. What it was before is the version that the log was
/// told of last.
pub(crate) fn tell_touched(cx: &Cx<'_>, touch: Touch, (after, stage): (Shown, Option<Stage>)) -> Result<()> {
    if after.version != touch.to {
        let (id, is, to) = (touch.id, after.version, touch.to);
        return Err(Error::internal(format!("the document {id} was touched to version {to}, and is of version {is}")));
    }
    let change = Change {
        action: match stage {
            Some(Stage::Done | Stage::Closed) => AuditAction::Settled,
            Some(Stage::Open | Stage::Partial) | None => AuditAction::Touched,
        },
        resource: touch.kind.into(),
        id: touch.id,
        version_from: Some(touch.from),
        version_to: Some(touch.to),
        before: None,
        after: Some(after.json),
        note: Some(format!("{{\"by\":[{}]}}", touch.notes.join(","))),
    };
    cx.record(cx.business_id()?, change)
}

pub(super) fn note<D: Document>(
    cx: &Cx<'_>,
    action: AuditAction,
    id: RecordId,
    before: Option<&D::View>,
    after: Option<&D::View>,
) -> Result<()> {
    cx.record(cx.business_id()?, change::<D>(action, id, before, after.map(shown).transpose()?)?)
}

/// The same of a version that is written, where what is `kept` of it is another than before: where both stand is answered.
/// What is kept of a draft stands in its row.
pub(super) fn note_version<D: Document>(
    cx: &Cx<'_>,
    (action, row): (AuditAction, &table::Model),
    before: Option<&D::View>,
    after: Shown,
) -> Result<Option<i64>> {
    let change = change::<D>(action, row.id, before, Some(after))?;
    if row.status == DocumentStatus::Draft || row.record.is_some() {
        cx.record(row.business_id, change)?;
        return Ok(row.record);
    }
    cx.record_kept(change, row.content.json()?).map(Some)
}

fn change<D: Document>(
    action: AuditAction,
    id: RecordId,
    before: Option<&D::View>,
    after: Option<Shown>,
) -> Result<Change> {
    let before = before.map(shown).transpose()?;
    Ok(Change {
        action,
        resource: D::KEY,
        id,
        version_from: before.as_ref().map(|shown| shown.version),
        version_to: after.as_ref().map(|shown| shown.version),
        before: before.map(|shown| shown.json),
        after: after.map(|shown| shown.json),
        note: None,
    })
}
