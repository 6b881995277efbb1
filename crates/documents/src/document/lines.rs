//! Lines of a document have an identity, which an update keeps.

use crate::error::{FieldErrors, Result};
use crate::ids::RecordId;
use books::cx::Cx;
use std::collections::HashSet;

pub(crate) trait Identified {
    fn id(&self) -> Option<RecordId>;
    fn name(&mut self, id: RecordId);
}

/// A line that keeps its identity in a field `id`.
macro_rules! identified {
    ($line:ty) => {
        impl crate::document::Identified for $line {
            fn id(&self) -> Option<crate::ids::RecordId> {
                self.id
            }

            fn name(&mut self, id: crate::ids::RecordId) {
                self.id = Some(id);
            }
        }
    };
}
pub(crate) use identified;

/// Gives new lines an identity; those of the old version that come back keep theirs, and where lines are known by their places
/// so does what stands at the same one. A new document has lines of its own, whatever it was copied from.
pub(crate) fn identify<L: Identified>(cx: &Cx<'_>, lines: &mut [L], old: Option<&[L]>) -> Result<()> {
    if let Some(old) = old.filter(|_| cx.keeps_places() && lines.iter().all(|line| line.id().is_none())) {
        for (line, stands) in lines.iter_mut().zip(old) {
            stands.id().into_iter().for_each(|id| line.name(id));
        }
    }
    let mut faults = FieldErrors::default();
    let mut seen = HashSet::new();
    for (index, line) in lines.iter_mut().enumerate() {
        match (line.id(), old) {
            (Some(id), Some(old)) if !old.iter().any(|known| known.id() == Some(id)) => {
                faults.add(format!("lines[{index}].id"), "names no line of this document");
            }
            (Some(id), Some(_)) if !seen.insert(id) => {
                faults.add(format!("lines[{index}].id"), "names a line that stands here already");
            }
            (Some(_), Some(_)) => {}
            (_, None) | (None, _) => line.name(RecordId(cx.line_id(index))),
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.into()) }
}
