//! What a record of the audit log is about, as one text.
//!
//! Owns: that a version is written once. The record before, the record after, and what is kept of a document beside them say
//! much the same: in one text that costs little.

use crate::error::{Error, Result};
use crate::tables::audit_log;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// What the text of a record begins with that has something kept.
pub(crate) const KEPT: &str = "{\"kept\":";

/// And that of one that has nothing kept.
pub(crate) const SHOWN: [&str; 2] = ["{\"before\":", "{\"after\":"];

/// A change as it is recorded.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Recorded<'j> {
    /// What is kept of a document from here on. It stands first.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub kept: Option<&'j RawValue>,
    /// The record as it was answered before and after.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub before: Option<&'j RawValue>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub after: Option<&'j RawValue>,
}

impl<'j> Recorded<'j> {
    /// The text of three; nothing of nothing.
    pub fn text(kept: Option<&str>, before: Option<&str>, after: Option<&str>) -> Option<String> {
        let members = [("kept", kept), ("before", before), ("after", after)];
        let mut text =
            String::with_capacity(32 + members.iter().filter_map(|(_, json)| *json).map(str::len).sum::<usize>());
        for (name, json) in members {
            let Some(json) = json else { continue };
            text.push_str(if text.is_empty() { "{\"" } else { ",\"" });
            text.push_str(name);
            text.push_str("\":");
            text.push_str(json);
        }
        (!text.is_empty()).then(|| text + "}")
    }

    pub fn read(text: &'j str) -> Result<Self> {
        serde_json::from_str(text).map_err(Error::internal)
    }
}

/// The record before and after, whichever way they are kept.
pub fn states(row: &audit_log::Model) -> Result<[Option<Cow<'_, str>>; 2]> {
    let Some(record) = &row.record else {
        return Ok([&row.before, &row.after].map(|state| state.as_deref().map(Cow::Borrowed)));
    };
    let Recorded { before, after, .. } = Recorded::read(record)?;
    Ok([before, after].map(|state| state.map(|state| Cow::Borrowed(state.get()))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_recorded_comes_apart_as_it_was() {
        let text = Recorded::text(Some("{\"asked\":1}"), None, Some("{ \"total\": 1.50 }")).unwrap();
        assert!(text.starts_with(KEPT), "{text}");
        let read = Recorded::read(&text).unwrap();
        let texts = [read.kept, read.before, read.after].map(|part| part.map(RawValue::get));
        assert_eq!(texts, [Some("{\"asked\":1}"), None, Some("{ \"total\": 1.50 }")]);
        assert_eq!(Recorded::text(None, Some("{}"), None).as_deref(), Some("{\"before\":{}}"));
        assert_eq!(Recorded::text(None, None, None), None);
    }
}
