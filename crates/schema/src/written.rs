//! The text that is kept of a document's own fields.

use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::recorded::{KEPT, SHOWN};
use crate::tables::DocumentStatus;
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::BTreeSet;
use std::sync::OnceLock;
use words::packed::{unpack_beginning, unpack_text};
use words::stored_as_bytes;

/// A document's own fields, as they are kept: judged, or read from where they were kept before. Those of a draft stand as
/// they are, in its row, so that whoever is named in one is found; those of others stand in the audit log.
///
/// What is stored is unpacked where it is asked for. Whoever has a document asks it, not this: it knows whether it is its own.
#[derive(Debug, Clone)]
pub struct Written {
    is_drafts: bool,
    stored: Vec<u8>,
    said: OnceLock<Option<Said>>,
}

/// What is kept, and where.
#[derive(Debug, Clone)]
pub(crate) struct Said {
    pub(crate) json: String,
    pub(crate) stands: Stands,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stands {
    /// Nowhere yet: it was judged.
    Judged,
    /// In the document's row.
    InRow,
    /// In the audit log, where it says of which document it is, and at which place.
    InLog(RecordId, i64),
    /// In no record of any document.
    Gone,
}

stored_as_bytes!(Written, Written::in_row, Written::read, Written::read_text);

/// What an item, a tax code and a payment term are called where a document names one.
const NAMES: &[&str] = &["\"item\"", "\"code\"", "\"payment_term\""];

impl Written {
    /// For what was judged, and nothing else.
    pub fn of(content: &impl Serialize, status: DocumentStatus) -> Result<Self> {
        let json = serde_json::to_string(content).map_err(Error::internal)?;
        let is_drafts = status == DocumentStatus::Draft;
        let stored = if is_drafts { json.clone().into() } else { Vec::new() };
        Ok(Self { is_drafts, stored, said: OnceLock::from(Some(Said { json, stands: Stands::Judged })) })
    }

    /// What of it stands in the document's row.
    fn in_row(self) -> Option<Vec<u8>> {
        self.is_drafts.then_some(self.stored)
    }

    fn read(stored: Vec<u8>) -> Self {
        Self { is_drafts: stored.starts_with(b"{"), stored, said: OnceLock::new() }
    }

    fn read_text(stored: String) -> Self {
        match unpack_text(&stored) {
            Some(json) => {
                Self { is_drafts: stored.starts_with('{'), stored: stored.into(), said: OnceLock::from(said(json)) }
            }
            None => Self::read(words::packed::strange(stored)),
        }
    }

    /// Nothing where what is stored was never written here.
    pub(crate) fn said(&self) -> Option<&Said> {
        self.said.get_or_init(|| unpack_beginning(&self.stored).and_then(said)).as_ref()
    }

    /// What is kept, as it was judged just now or read before.
    pub fn json(&self) -> Result<&str> {
        let said = self.said().ok_or_else(|| Error::internal("what is kept of a document does not unpack"))?;
        Ok(&said.json)
    }

    /// Whether these words are in what is kept; they are in nothing that does not unpack, which whoever reads it is told.
    pub fn says(&self, words: &str) -> bool {
        self.said().is_some_and(|said| said.json.contains(words))
    }

    /// How long what is kept is.
    pub fn weight(&self) -> usize {
        self.said().map_or(self.stored.len(), |said| said.json.len())
    }

    /// The items, tax codes and payment terms that it names.
    pub fn named(&self) -> Result<BTreeSet<RecordId>> {
        let json = self.json()?;
        // In one pass: a text that has both marks around a colon within it has them escaped.
        let named = |(at, _): (usize, &str)| {
            let (name, value) = (json.get(..at)?, json.get(at + 1..)?.strip_prefix('"')?);
            let is_one = NAMES.iter().any(|known| name.ends_with(known));
            is_one.then(|| RecordId::parse(value.get(..36)?)).flatten()
        };
        Ok(json.match_indices(':').filter_map(named).collect())
    }
}

/// Two of them are the same where they say the same; where one does not unpack, where they are stored alike.
impl PartialEq for Written {
    fn eq(&self, other: &Self) -> bool {
        match (self.said(), other.said()) {
            (Some(own), Some(others)) => own.json == others.json,
            (None, None) => self.stored == other.stored,
            _ => false,
        }
    }
}

impl Eq for Written {}

fn said(json: String) -> Option<Said> {
    if let Some(kept) = json.strip_prefix(KEPT) {
        // There may be more where it was not taken apart.
        let kept = serde_json::Deserializer::from_str(kept).into_iter::<(RecordId, i64, &RawValue)>().next()?;
        let (id, place, kept) = kept.ok()?;
        return Some(Said { json: kept.get().to_owned(), stands: Stands::InLog(id, place) });
    }
    if SHOWN.iter().any(|begins| json.starts_with(begins)) {
        return Some(Said { json: "null".to_owned(), stands: Stands::Gone });
    }
    Some(Said { json, stands: Stands::InRow })
}
