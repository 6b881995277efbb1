//! What a record of the audit log is about, as one text.
//!
//! Owns: that a version is written once. The record before, the record after, and what is kept of a document beside them say
//! much the same: in one text that costs little. What is kept says whose it is and at which place of the log, so that whoever
//! reads it from there knows when another stands in its place.

use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::tables::audit_log;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use words::packed::Packed;

/// What the text of a record begins with that has something kept.
pub(crate) const KEPT: &str = "{\"kept\":";

/// And that of one that has nothing kept.
pub(crate) const SHOWN: [&str; 2] = ["{\"before\":", "{\"after\":"];

/// What the log calls the change of a record that was there.
const UPDATED: &str = "updated";

/// A change as it is recorded.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Recorded<'j> {
    /// What is kept of a document from here on, and before it the document and the place in the log. It stands first.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub kept: Option<(RecordId, i64, &'j RawValue)>,
    /// The record as it was answered before and after.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub before: Option<&'j RawValue>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub after: Option<&'j RawValue>,
    /// What moved it, where nobody wrote it. It is no version: the record before is that of the change before it.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub note: Option<&'j RawValue>,
}

impl Recorded<'_> {
    /// One text of what is kept, and of the record before, the record after and the note; nothing of nothing.
    pub fn text(kept: Option<(RecordId, i64, &str)>, [before, after, note]: [Option<&str>; 3]) -> Option<String> {
        let kept = kept.map(|(of, place, kept)| format!("[\"{of}\",{place},{kept}]"));
        let members = [("kept", kept.as_deref()), ("before", before), ("after", after), ("note", note)];
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
}

impl audit_log::Model {
    /// What it is about: its only text, or each that books of before have. What does not unpack, or is no record, is told with
    /// where it stands.
    pub fn recorded(&self) -> Result<Recorded<'_>> {
        let torn = |what: &str| {
            let (of, at, id) = (&self.resource, self.sequence, self.resource_id);
            Error::Tampered {
                business: self.business_id,
                what: format!("record {at} of the audit log, of {} {id}, {what}", &**of),
            }
        };
        if let Some(record) = said(self.record.as_ref(), &torn)? {
            return serde_json::from_str(record).map_err(|_| torn("is none"));
        }
        let (before, after) = (state(self.before.as_ref(), &torn)?, state(self.after.as_ref(), &torn)?);
        // Books of before have a note where versions have the record after: it comes after nothing.
        if before.is_none() && self.version_from.is_some() && *self.action == *UPDATED {
            return Ok(Recorded { note: after, ..Recorded::default() });
        }
        Ok(Recorded { before, after, ..Recorded::default() })
    }
}

fn said<'p>(packed: Option<&'p Packed>, torn: &impl Fn(&str) -> Error) -> Result<Option<&'p str>> {
    let Some(packed) = packed else { return Ok(None) };
    packed.text().map(Some).ok_or_else(|| torn("does not unpack"))
}

fn state<'p>(packed: Option<&'p Packed>, torn: &impl Fn(&str) -> Error) -> Result<Option<&'p RawValue>> {
    let Some(text) = said(packed, torn)? else { return Ok(None) };
    serde_json::from_str(text).map(Some).map_err(|_| torn("is none"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_recorded_comes_apart_as_it_was() {
        let of = RecordId::default();
        let text = Recorded::text(Some((of, 7, "{\"asked\":1}")), [None, Some("{ \"total\": 1.50 }"), None]).unwrap();
        assert!(text.starts_with(KEPT), "{text}");
        let read: Recorded<'_> = serde_json::from_str(&text).unwrap();
        assert_eq!(read.kept.map(|(of, place, kept)| (of, place, kept.get())), Some((of, 7, "{\"asked\":1}")));
        assert_eq!([read.before, read.after].map(|part| part.map(RawValue::get)), [None, Some("{ \"total\": 1.50 }")]);
        assert_eq!(Recorded::text(None, [Some("{}"), None, None]).as_deref(), Some("{\"before\":{}}"));
        assert_eq!(Recorded::text(None, [None, None, None]), None);
    }
}
