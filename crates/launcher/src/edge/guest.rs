//! A connection as whoever lets it in sees it: who is there, and who waits for whom.

use super::admission::{Admission, Party};
use http_kit::request::Presence;
use ledger_core::access::Proved;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::Notify;

/// Who is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doing {
    /// The client, for a request.
    Idle,
    /// Us.
    Ours,
    /// The client, for the rest of its request or to take its answer.
    Theirs,
}

pub(super) struct Guest {
    pub(super) id: u64,
    admission: Weak<Admission>,
    /// A count of what happened in the process, which tells older from newer; the lowest two bits are what is done.
    doing: AtomicU64,
    /// How many requests there have been.
    requests: AtomicU64,
    answering: AtomicBool,
    /// Whom the connection counts as.
    known: Mutex<Option<Party>>,
    /// The body of the request is not read to its end.
    unread: AtomicBool,
    sent_away: AtomicBool,
    leave: Notify,
}

/// Ticks with every change of any connection.
static TICKS: AtomicU64 = AtomicU64::new(0);

impl Guest {
    pub(super) fn new(id: u64, admission: Weak<Admission>) -> Self {
        let guest = Self {
            id,
            admission,
            doing: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            answering: AtomicBool::new(false),
            known: Mutex::default(),
            unread: AtomicBool::new(false),
            sent_away: AtomicBool::new(false),
            leave: Notify::new(),
        };
        guest.does(Doing::Idle);
        guest
    }

    fn does(&self, doing: Doing) {
        let tick = TICKS.fetch_add(1, Ordering::Relaxed);
        self.doing.store(tick << 2 | doing as u64, Ordering::Relaxed);
    }

    /// What is done, and since when.
    pub(super) fn doing(&self) -> (Doing, u64) {
        let stored = self.doing.load(Ordering::Relaxed);
        let doing = [Doing::Idle, Doing::Ours, Doing::Theirs].into_iter().find(|one| *one as u64 == stored & 3);
        (doing.unwrap_or(Doing::Ours), stored >> 2)
    }

    /// A request begins, or its body is whole.
    pub(super) fn ours(&self) {
        self.does(Doing::Ours);
    }

    /// The client keeps us waiting. Who began to earlier has done so for longer, whatever drips in meanwhile.
    pub(super) fn theirs(&self) {
        if self.doing().0 != Doing::Theirs {
            self.does(Doing::Theirs);
        }
    }

    pub(super) fn asks(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.answering.store(true, Ordering::Relaxed);
        self.ours();
    }

    pub(super) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// All of an answer is on its way.
    pub(super) fn answered(&self) {
        self.answering.store(false, Ordering::Relaxed);
        if self.doing().0 == Doing::Ours {
            self.does(Doing::Idle);
        }
    }

    /// All that was to be sent is sent.
    pub(super) fn flushed(&self) {
        if !self.answering.load(Ordering::Relaxed) && self.doing().0 == Doing::Theirs {
            self.does(Doing::Idle);
        }
    }

    pub(super) fn has_body(&self, unread: bool) {
        self.unread.store(unread, Ordering::Relaxed);
    }

    pub(super) fn has_unread_body(&self) -> bool {
        self.unread.load(Ordering::Relaxed)
    }

    pub(super) fn send_away(&self) {
        self.sent_away.store(true, Ordering::Relaxed);
        self.leave.notify_one();
    }

    #[cfg(test)]
    pub(super) fn is_sent_away(&self) -> bool {
        self.sent_away.load(Ordering::Relaxed)
    }

    /// Resolves when the place is needed for somebody else.
    pub(super) async fn is_to_leave(&self) {
        self.leave.notified().await;
    }

    /// The client that a proxy asks for now; whether there is a place for them. Whoever signed in before is not them.
    pub(super) fn is_asked_for(&self, client: Option<std::net::IpAddr>) -> bool {
        *self.known() = None;
        self.admission.upgrade().is_some_and(|admission| admission.is_asked_for(self.id, client))
    }
}

impl Guest {
    fn known(&self) -> MutexGuard<'_, Option<Party>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts the connection as somebody's, where there is a place for one more of theirs. The same line of requests may be
    /// of one after the other.
    pub(super) fn is_of(&self, party: Party) -> bool {
        let mut known = self.known();
        if *known == Some(party) {
            return true;
        }
        // Who is let in only to be told that there is no place counts nowhere.
        let counted = self.admission.upgrade().is_none_or(|admission| admission.knows(self.id, party));
        *known = counted.then_some(party);
        counted
    }
}

impl Presence for Guest {
    fn signed_in(&self, who: Proved) -> bool {
        self.is_of(Party { account: who.account(), company: who.company() })
    }

    fn waits(&self) {
        self.ours();
    }
}
