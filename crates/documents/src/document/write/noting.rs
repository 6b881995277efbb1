//! What the audit log is told of a document.

use crate::document::Document;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use books::audit::{AuditAction, Change};
use books::cx::Cx;
use books::desk::Standing;
use kit::operation::{Shown, shown};
use schema::key::ResourceKey;
use schema::tables::{DocumentStatus, documents as table};
use serde::Serialize;

/// Notes that a document was touched by something else: its figures moved, and it has a new version.
pub(crate) fn note_change(
    cx: &Cx<'_>,
    key: ResourceKey,
    action: AuditAction,
    (id, version): (RecordId, i64),
    after: &impl Serialize,
) -> Result<()> {
    let change = Change {
        action,
        resource: key,
        id,
        version_from: Some(version),
        version_to: Some(version + 1),
        before: None,
        after: Some(serde_json::to_string(after).map_err(Error::internal)?),
    };
    let (business, at, by) = (cx.business_id()?, cx.now, cx.user);
    cx.keep(|desk| desk.stands(Standing::Touched { business, id, version: version + 1, at, by }))?;
    cx.record(business, change)
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
    cx.record_kept(change, &row.content).map(Some)
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
    })
}
