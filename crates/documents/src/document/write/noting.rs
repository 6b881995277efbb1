//! What the audit log is told of a document.

use crate::document::Document;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use books::audit::{AuditAction, Change};
use books::cx::Cx;
use books::desk::Standing;
use kit::operation::{Shown, shown};
use schema::key::ResourceKey;
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
    note_shown::<D>(cx, action, id, before, after.map(shown).transpose()?)
}

/// The same of what is written as JSON already.
pub(super) fn note_shown<D: Document>(
    cx: &Cx<'_>,
    action: AuditAction,
    id: RecordId,
    before: Option<&D::View>,
    after: Option<Shown>,
) -> Result<()> {
    let before = before.map(shown).transpose()?;
    let change = Change {
        action,
        resource: D::KEY,
        id,
        version_from: before.as_ref().map(|shown| shown.version),
        version_to: after.as_ref().map(|shown| shown.version),
        before: before.map(|shown| shown.json),
        after: after.map(|shown| shown.json),
    };
    cx.record(cx.business_id()?, change)
}
