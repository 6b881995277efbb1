//! Answers to reads, kept while the company's books do not change.
//!
//! Every change of anything in a company raises the version of its books, in the transaction of the change. A read asks
//! for that version first; an answer that was made under the same one, for the same question, role and day, is the
//! answer still. So programs that poll cost next to nothing, and nobody ever gets an answer older than the last commit
//! before they asked, whichever process made it.

use crate::day::Day;
use crate::ids::BusinessId;
use crate::ledger::{Call, Reply};
use books::access::Business;
use kit::operation::Verb;
use schema::key::ResourceKey;
use schema::rights::{Limits, Rights};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// An answer that weighs more is not kept.
const LARGEST: usize = 1 << 20;

/// What was asked, by whom and when, as far as the answer depends on it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Asked {
    business: BusinessId,
    rights: Rights,
    limits: Limits,
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
            rights: business.seat.rights,
            limits: business.seat.limits,
            today,
            resource: call.resource.key,
            verb: call.verb,
            id: call.id.clone(),
            query: call.query.clone(),
        })
    }
}

pub(crate) struct Answers {
    kept: Mutex<Kept>,
    /// What they may weigh together.
    most_bytes: usize,
}

/// An answer that was given before, with what each dialect made of it.
pub struct Known {
    pub reply: Reply,
    rendered: [OnceLock<Arc<[u8]>>; 2],
}

impl Known {
    /// The body in a dialect's words, written once.
    pub fn rendered(&self, dialect: &str, render: impl FnOnce(&Reply) -> String) -> Arc<[u8]> {
        let place = usize::from(dialect != "A");
        self.rendered[place].get_or_init(|| render(&self.reply).into_bytes().into()).clone()
    }
}

#[derive(Default)]
struct Kept {
    bytes: usize,
    answers: HashMap<Asked, (i64, Arc<Known>)>,
}

/// The question, the answer itself, and what two dialects may make of it.
fn weight(asked: &Asked, reply: &Reply) -> usize {
    let said: usize = asked.query.iter().map(|(name, value)| name.len() + value.len() + 64).sum();
    reply.json.len() * 3 + said + 512
}

impl Answers {
    pub(crate) fn new(most_bytes: usize) -> Self {
        Self { kept: Mutex::default(), most_bytes }
    }

    pub(crate) fn find(&self, asked: &Asked, version: i64) -> Option<Arc<Known>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.answers.get(asked).filter(|(known, _)| *known == version).map(|(_, known)| known.clone())
    }

    pub(crate) fn keep(&self, asked: Asked, version: i64, reply: &Reply) {
        let bytes = weight(&asked, reply);
        if bytes > LARGEST {
            return;
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.bytes + bytes > self.most_bytes {
            *kept = Kept::default();
        }
        kept.bytes += bytes;
        if let Some((_, old)) = kept.answers.remove(&asked) {
            kept.bytes -= weight(&asked, &old.reply);
        }
        let known = Known { reply: reply.clone(), rendered: Default::default() };
        kept.answers.insert(asked, (version, Arc::new(known)));
    }
}
