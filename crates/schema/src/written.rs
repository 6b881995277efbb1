//! The text that is kept of a document's own fields.

use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::recorded::{KEPT, SHOWN};
use crate::tables::DocumentStatus;
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::BTreeSet;
use std::ops::Deref;
use words::packed::{unpack_beginning, unpack_text};
use words::stored_as_bytes;

/// A document's own fields, as they are kept: judged, or read from where they were kept before. Those of a draft stand as
/// they are, in its row, so that whoever is named in one is found; those of others stand in the audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    json: String,
    is_drafts: bool,
}

stored_as_bytes!(Written, Written::in_row, Written::read, Written::read_text);

/// What an item, a tax code and a payment term are called where a document names one.
const NAMES: &[&str] = &["\"item\"", "\"code\"", "\"payment_term\""];

impl Written {
    /// For what was judged, and nothing else.
    pub fn of(content: &impl Serialize, status: DocumentStatus) -> Result<Self> {
        let json = serde_json::to_string(content).map_err(Error::internal)?;
        Ok(Self { json, is_drafts: status == DocumentStatus::Draft })
    }

    /// What of it stands in the document's row.
    fn in_row(self) -> Option<Vec<u8>> {
        self.is_drafts.then(|| self.json.into())
    }

    fn read(stored: Vec<u8>) -> Option<Self> {
        let is_drafts = stored.starts_with(b"{");
        let json = unpack_beginning(stored)?;
        if let Some(kept) = json.strip_prefix(KEPT) {
            // There may be more where it was not taken apart.
            let kept = serde_json::Deserializer::from_str(kept).into_iter::<&RawValue>().next()?.ok()?;
            return Some(Self { json: kept.get().to_owned(), is_drafts: false });
        }
        if json.starts_with(SHOWN[0]) || json.starts_with(SHOWN[1]) {
            // Nothing is kept there of any document.
            return Self::read_text("null".to_owned());
        }
        Some(Self { json, is_drafts })
    }

    fn read_text(stored: String) -> Option<Self> {
        let is_drafts = stored.starts_with('{');
        unpack_text(stored).map(|json| Self { json, is_drafts })
    }

    /// The items, tax codes and payment terms that it names.
    pub fn named(&self) -> BTreeSet<RecordId> {
        // In one pass: a text that has both marks around a colon within it has them escaped.
        let named = |(at, _): (usize, &str)| {
            let (name, value) = (self.json.get(..at)?, self.json.get(at + 1..)?.strip_prefix('"')?);
            let is_one = NAMES.iter().any(|known| name.ends_with(known));
            is_one.then(|| RecordId::parse(value.get(..36)?)).flatten()
        };
        self.json.match_indices(':').filter_map(named).collect()
    }
}

impl Deref for Written {
    type Target = str;

    fn deref(&self) -> &str {
        &self.json
    }
}
