//! Answers to reads, kept while the company's books do not change.
//!
//! Every change of anything in a company raises the version of its books, in the transaction of the change. A read asks
//! for that version first; an answer that was made under the same one, for the same question, role and day, is the
//! answer still. So programs that poll cost next to nothing, and nobody ever gets an answer older than the last commit
//! before they asked, whichever process made it.

use crate::access::{Business, Role};
use crate::books::tables::books;
use crate::day::Day;
use crate::error::Result;
use crate::ids::BusinessId;
use crate::ledger::{Call, Reply};
use crate::remembered::Question;
use crate::resource::ResourceKey;
use crate::resource::operation::Verb;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// What the kept answers may weigh together.
const MOST_BYTES: usize = 64 << 20;
/// An answer that weighs more is not kept.
const LARGEST: usize = 1 << 20;
/// As many companies are asked about at once as the memory is kept for.
const MOST_COMPANIES: usize = 10_000;

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
    pub(crate) const fn business(&self) -> BusinessId {
        self.business
    }

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
pub(crate) struct Answers {
    versions: Mutex<HashMap<BusinessId, Arc<Question<i64>>>>,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    bytes: usize,
    answers: HashMap<Asked, (i64, Arc<Reply>)>,
}

impl Answers {
    /// The version of a company's books, asked for after this call began.
    pub(crate) async fn version(&self, connection: &impl ConnectionTrait, business: BusinessId) -> Result<i64> {
        let question = {
            let mut versions = self.versions.lock().unwrap_or_else(PoisonError::into_inner);
            if versions.len() > MOST_COMPANIES {
                versions.clear();
            }
            versions.entry(business).or_default().clone()
        };
        question
            .ask(async || {
                let version: Option<i64> = books::Entity::find()
                    .select_only()
                    .column(books::Column::Version)
                    .filter(books::Column::BusinessId.eq(business))
                    .into_tuple()
                    .one(connection)
                    .await?;
                Ok(version.unwrap_or(-1))
            })
            .await
    }

    pub(crate) fn find(&self, asked: &Asked, version: i64) -> Option<Arc<Reply>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.answers.get(asked).filter(|(known, _)| *known == version).map(|(_, reply)| reply.clone())
    }

    pub(crate) fn keep(&self, asked: Asked, version: i64, reply: &Reply) {
        let bytes = reply.json.len() + 512;
        if bytes > LARGEST {
            return;
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.bytes + bytes > MOST_BYTES {
            *kept = Kept::default();
        }
        kept.bytes += bytes;
        if let Some((_, old)) = kept.answers.insert(asked, (version, Arc::new(reply.clone()))) {
            kept.bytes -= old.json.len() + 512;
        }
    }
}
