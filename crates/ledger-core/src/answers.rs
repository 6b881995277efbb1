//! Answers to reads, kept while the company's books do not change.
//!
//! Every change of anything in a company raises the version of its books, in the transaction of the change. A read asks
//! for that version first; an answer that was made under the same one, for the same question, role and day, is the
//! answer still. So programs that poll cost next to nothing, and nobody ever gets an answer older than the last commit
//! before they asked, whichever process made it.

use crate::access::{Business, Role};
use crate::day::Day;
use crate::ids::BusinessId;
use crate::ledger::{Call, Reply};
use crate::resource::ResourceKey;
use crate::resource::operation::Verb;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// What the kept answers may weigh together.
const MOST_BYTES: usize = 64 << 20;
/// An answer that weighs more is not kept.
const LARGEST: usize = 1 << 20;

/// What was asked, by whom and when, as far as the answer depends on it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Asked {
    business: BusinessId,
    role: Role,
    today: Day,
    resource: ResourceKey,
    verb: Verb,
    id: Option<String>,
    query: Vec<(String, String)>,
}

impl Asked {
    pub(crate) fn of(call: &Call, business: &Business, today: Day) -> Option<Self> {
        let kept = matches!(call.verb, Verb::List | Verb::Get);
        kept.then(|| Self {
            business: business.id,
            role: business.role,
            today,
            resource: call.resource.key,
            verb: call.verb,
            id: call.id.clone(),
            query: call.query.clone(),
        })
    }
}

#[derive(Default)]
pub(crate) struct Answers(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    bytes: usize,
    answers: HashMap<Asked, (i64, Arc<Reply>)>,
}

impl Answers {
    pub(crate) fn find(&self, asked: &Asked, version: i64) -> Option<Arc<Reply>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.answers.get(asked).filter(|(known, _)| *known == version).map(|(_, reply)| reply.clone())
    }

    pub(crate) fn keep(&self, asked: Asked, version: i64, reply: &Reply) {
        let bytes = reply.json.len() + 512;
        if bytes > LARGEST {
            return;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.bytes + bytes > MOST_BYTES {
            *kept = Kept::default();
        }
        kept.bytes += bytes;
        if let Some((_, old)) = kept.answers.insert(asked, (version, Arc::new(reply.clone()))) {
            kept.bytes -= old.json.len() + 512;
        }
    }
}
