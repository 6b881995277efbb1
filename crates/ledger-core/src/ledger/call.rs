//! One request and its answer, in no dialect's words.

use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::resource::decimals::as_texts;
use ::books::audit::Origin;
use ::books::cx::{Expectation, version_tag};
use kit::extra::Media;
use kit::feed::Feed;
use kit::list::Pagination;
use kit::operation::{CameTo, Done, Part, ReplyKind, ResourceOperations, Shown, Verb};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use words::texts::hex;

/// One request, in no dialect's words.
#[derive(Clone)]
pub struct Call {
    pub resource: &'static ResourceOperations,
    pub verb: Verb,
    /// The company, where the resource lives in one.
    pub business: Option<String>,
    /// The record, where the verb names one.
    pub id: Option<String>,
    pub query: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub expectation: Expectation,
    pub idempotency_key: Option<String>,
    /// Where it came from, for the audit log.
    pub origin: Origin,
    /// The program that calls, as it names itself.
    pub agent: Option<String>,
    /// Whether it is to be told what happens as it happens, where that can be told.
    pub listens: bool,
    /// The sequence of the company's books that the answer is to know of at least.
    pub at_least: Option<i64>,
}

/// The answer to one request, in no dialect's words.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Reply {
    pub kind: ReplyKind,
    /// Whether dialects wrap it.
    #[serde(skip)]
    pub media: Media,
    /// A page, a record, or what is said of a deleted one.
    pub json: String,
    /// The record and its version, for `Location` and `ETag`.
    pub record: Option<(RecordId, i64)>,
    /// What each came to, where it was several operations. Dialects write the JSON of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub several: Option<Vec<Part>>,
    #[serde(skip)]
    pub pagination: Option<Pagination>,
    /// The members that are shown once and were left out of what is kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<String>,
    #[serde(skip)]
    pub replayed: bool,
    #[serde(skip)]
    pub dry_run: bool,
    /// The sequence of the company's books that it knows of: all that was written up to it is in the answer.
    #[serde(skip)]
    pub sequence: Option<i64>,
}

impl Reply {
    pub(super) fn of(kind: ReplyKind, shown: Shown) -> Self {
        let record = Some((shown.id, shown.version));
        Self { record, ..Self::plain(kind, shown.json) }
    }

    /// By what it is told apart, without quotes. A version tells what was written; more is said of a record than that: what is
    /// open, how late it is today, who a party is by now, or less, where some members were asked for. So an answer is told
    /// apart by all that it says, and nobody has to know which of it moves by itself. What a write answers has the tag of
    /// whoever reads it next, as long as it says the same.
    pub fn tag(&self) -> Option<String> {
        let (id, version) = self.record?;
        Some(format!("{}-{}", version_tag(id, version), hex(digest(&SHA256, self.json.as_bytes()).as_ref())))
    }

    /// What a write came to.
    pub(crate) fn of_done(kind: ReplyKind, done: Done) -> Self {
        match done {
            Done::Record(shown) => Self::of(kind, shown),
            Done::Made(shown) => Self::of(ReplyKind::Created, shown),
            Done::Deleted(id) => {
                Self::plain(ReplyKind::Deleted, serde_json::json!({"id": id, "deleted": true}).to_string())
            }
            Done::Several(parts) => Self { several: Some(parts), ..Self::plain(kind, String::new()) },
        }
    }

    /// The same with its decimals as texts.
    pub fn with_texts(self) -> Result<Self> {
        let Some(parts) = self.several else {
            return Ok(Self { json: as_texts(&self.json)?, ..self });
        };
        let told = |part: Part| {
            Ok(match part.came_to {
                CameTo::Done { kind, json } => Part { came_to: CameTo::Done { kind, json: as_texts(&json)? }, ..part },
                CameTo::Failed(_) => part,
            })
        };
        Ok(Self { several: Some(parts.into_iter().map(told).collect::<Result<_>>()?), ..self })
    }

    /// What may be kept of it.
    pub(super) fn without(&self, secrets: &[&str]) -> Result<Self> {
        if secrets.is_empty() {
            return Ok(self.clone());
        }
        let mut body: serde_json::Value = serde_json::from_str(&self.json).map_err(Error::internal)?;
        let mut withheld = Vec::new();
        for name in secrets {
            if let Some(secret) = body.get_mut(*name).filter(|secret| !secret.is_null()) {
                *secret = serde_json::Value::Null;
                withheld.push((*name).to_owned());
            }
        }
        Ok(Self { json: body.to_string(), withheld, ..self.clone() })
    }

    pub(crate) fn plain(kind: ReplyKind, json: String) -> Self {
        Self {
            kind,
            media: Media::Json,
            json,
            record: None,
            several: None,
            pagination: None,
            withheld: Vec::new(),
            replayed: false,
            dry_run: false,
            sequence: None,
        }
    }
}

/// The answer to one request: at once, or while it is made.
pub enum Answer {
    Whole(Reply),
    /// Wrapped by no dialect. All that was written up to this sequence of the company's books is in it.
    Portions(Feed, Option<i64>),
}

impl Answer {
    pub fn whole(self) -> Result<Reply> {
        match self {
            Self::Whole(reply) => Ok(reply),
            Self::Portions(..) => Err(Error::internal("an answer comes in portions where it was wanted at once")),
        }
    }
}
