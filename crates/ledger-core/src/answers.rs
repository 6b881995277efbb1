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
use std::sync::atomic::{AtomicUsize, Ordering};
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
    room: Arc<Room>,
}

/// An answer that was given before, with what was made of it.
pub struct Known {
    pub reply: Reply,
    rendered: OnceLock<Box<Rendered>>,
    room: Arc<Room>,
    /// What it weighs by now.
    bytes: AtomicUsize,
}

/// What was made of an answer for one form of it, and the next form. Nobody waits for somebody else who looks.
struct Rendered {
    form: &'static str,
    body: Arc<[u8]>,
    next: OnceLock<Box<Rendered>>,
}

/// What all answers may weigh together, and weigh.
struct Room {
    bytes: AtomicUsize,
    most: usize,
}

impl Known {
    fn of(reply: Reply, bytes: usize, room: Arc<Room>) -> Self {
        room.bytes.fetch_add(bytes, Ordering::Relaxed);
        Self { reply, rendered: OnceLock::new(), room, bytes: AtomicUsize::new(bytes) }
    }

    /// The body in a form, such as a dialect's, written once as long as there is room for it. How many forms there are
    /// is nobody's business here.
    pub fn rendered(&self, form: &'static str, render: impl FnOnce(&Reply) -> String) -> Arc<[u8]> {
        let mut place = &self.rendered;
        while let Some(known) = place.get() {
            if known.form == form {
                return known.body.clone();
            }
            place = &known.next;
        }
        let body: Arc<[u8]> = render(&self.reply).into_bytes().into();
        if self.room.bytes.load(Ordering::Relaxed) + body.len() <= self.room.most {
            let rendered = Rendered { form, body: body.clone(), next: OnceLock::new() };
            // Who was faster wrote the same, or another form: then this one is written again, once.
            if place.set(Box::new(rendered)).is_ok() {
                self.bytes.fetch_add(body.len(), Ordering::Relaxed);
                self.room.bytes.fetch_add(body.len(), Ordering::Relaxed);
            }
        }
        body
    }
}

impl Drop for Known {
    fn drop(&mut self) {
        self.room.bytes.fetch_sub(*self.bytes.get_mut(), Ordering::Relaxed);
    }
}

type Kept = HashMap<Asked, (i64, Arc<Known>)>;

/// The question and the answer itself.
fn weight(asked: &Asked, reply: &Reply) -> usize {
    let said: usize = asked.query.iter().map(|(name, value)| name.len() + value.len() + 64).sum();
    reply.json.len() + said + 512
}

impl Answers {
    pub(crate) fn new(most_bytes: usize) -> Self {
        Self { kept: Mutex::default(), room: Arc::new(Room { bytes: AtomicUsize::new(0), most: most_bytes }) }
    }

    pub(crate) fn find(&self, asked: &Asked, version: i64) -> Option<Arc<Known>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(asked).filter(|(known, _)| *known == version).map(|(_, known)| known.clone())
    }

    pub(crate) fn keep(&self, asked: Asked, version: i64, reply: &Reply) {
        let bytes = weight(&asked, reply);
        if bytes > LARGEST {
            return;
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        // One form of it is asked for at once.
        if self.room.bytes.load(Ordering::Relaxed) + bytes + reply.json.len() > self.room.most {
            *kept = Kept::default();
        }
        let known = Known::of(reply.clone(), bytes, self.room.clone());
        kept.insert(asked, (version, Arc::new(known)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kit::operation::ReplyKind;

    #[test]
    fn each_form_is_written_once_and_all_of_them_weigh() {
        let room = Arc::new(Room { bytes: AtomicUsize::new(0), most: 40 });
        let known = Known::of(Reply::plain(ReplyKind::Found, "{}".into()), 2, room.clone());
        let weighs = || room.bytes.load(Ordering::Relaxed);
        for (form, body) in [("A", "ten bytes!"), ("B", "ten bytes?"), ("C", "ten bytes.")] {
            assert_eq!(&*known.rendered(form, |_| body.into()), body.as_bytes());
            assert_eq!(&*known.rendered(form, |_| panic!("it is written already")), body.as_bytes());
        }
        assert_eq!(weighs(), 32);
        assert_eq!(&*known.rendered("D", |_| "no room for it".into()), b"no room for it");
        assert_eq!(&*known.rendered("D", |_| "still none".into()), b"still none");
        drop(known);
        assert_eq!(weighs(), 0);
    }
}
