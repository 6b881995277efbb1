//! How documents come into the books, change there and leave them.
//!
//! A document is judged first and written last: everything that can be refused is refused before the desk gets
//! its first row.

mod beside;
mod changing;
mod checks;
mod creating;
mod leaving;
mod noting;

use super::{Document, Head, Kept, content_of, view};
use crate::error::{Code, Error, Result};
use crate::ids::RecordId;
use books::cx::Cx;
pub(super) use changing::replace_draft;
pub(crate) use changing::{remake, renew, reword, update};
pub(crate) use checks::{check_source, load_source};
pub(crate) use creating::create;
use kit::rows;
pub(crate) use leaving::{delete, void};
pub(crate) use noting::{note_settling, note_touch, tell_touched};
use schema::tables::documents as table;
pub(crate) fn invalid_state(title: impl Into<String>) -> Error {
    Error::conflict(Code::InvalidState, title)
}

/// A document that is about to change.
pub(crate) struct Old<D: Document> {
    pub(crate) row: table::Model,
    pub(crate) content: Kept<D>,
    pub(crate) head: Head,
    /// As it is answered now.
    before: D::View,
}

pub(crate) async fn load<D: Document>(cx: &Cx<'_>, id: RecordId) -> Result<Old<D>> {
    let row = rows::row::<D>(cx, id).await?;
    cx.check_expectation(id, row.version)?;
    found(cx, row).await
}

/// A document as it stands, whatever is expected of another.
pub(crate) async fn found<D: Document>(cx: &Cx<'_>, row: table::Model) -> Result<Old<D>> {
    let content = content_of::<D>(cx, &row)?;
    let head = Head {
        date: row.date,
        status: Some(row.status),
        number: row.number.clone(),
        series: row.series_id,
        reference: row.reference.clone(),
        narration: row.narration.clone(),
        external_id: row.external_id.clone(),
        tags: row.tags.0.clone(),
    };
    let before = view::<D>(cx, row.clone()).await?;
    Ok(Old { row, content, head, before })
}
