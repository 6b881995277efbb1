//! Whoever waits for a write, and what may be said to them before it has come to its end.
//!
//! Owns: whether somebody still waits, and whether anything of theirs was sent to be committed. The two are one word, so
//! that whoever leaves knows for certain: either nothing of theirs is in the books nor will be, or nobody can say. And how
//! long a command may go on beside others.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use tokio::time::Instant;

tokio::task_local! {
    static CLIENT: Client;
    static SHARE: Share;
}

/// How long a command may take of what others wait for, and whether it wanted more.
#[derive(Debug, Clone, Default)]
pub struct Share {
    until: Option<Instant>,
    is_over: Arc<AtomicBool>,
}

impl Share {
    /// As long as it likes.
    pub fn whole() -> Self {
        Self::default()
    }

    pub fn until(end: Instant) -> Self {
        Self { until: Some(end), is_over: Arc::default() }
    }

    /// Whether a question was refused for it: what asked has not come to its end.
    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    fn lasts(&self) -> bool {
        let lasts = self.until.is_none_or(|end| Instant::now() < end) && !self.is_over();
        if !lasts {
            self.is_over.store(true, Ordering::Release);
        }
        lasts
    }

    /// Does something within this share.
    pub async fn taken_by<T>(&self, work: impl Future<Output = T>) -> T {
        SHARE.scope(self.clone(), work).await
    }
}

/// Whether the work at hand may ask on: somebody waits for it, and it takes no more than its share.
pub fn goes_on() -> bool {
    !Client::of_this_task().has_left() && SHARE.try_with(Share::lasts).unwrap_or(true)
}

/// Nothing was sent yet, and somebody waits.
const WAITS: u8 = 0;
/// Something was sent to be committed, or is committed.
const SENT: u8 = 1;
/// Nobody waits any more, and nothing was sent: nothing will be.
const LEFT: u8 = 2;

#[derive(Debug, Clone, Default)]
pub struct Client(Arc<AtomicU8>);

/// What whoever leaves knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// Nothing of theirs is in the books, nor will be.
    Nothing,
    /// Nobody can say.
    Open,
}

/// Something of a client's that is about to be committed.
#[derive(Debug, PartialEq, Eq)]
pub enum Sent {
    /// It is the first, which may be taken back should it be refused.
    First,
    /// There was something before.
    Again,
    /// its client has left: it may not be committed.
    TooLate,
}

impl Client {
    /// Does something for this client.
    pub async fn served<T>(&self, work: impl Future<Output = T>) -> T {
        CLIENT.scope(self.clone(), work).await
    }

    /// Whom the work at hand is for. What is nobody's in particular is waited for to its end.
    pub fn of_this_task() -> Self {
        CLIENT.try_with(Self::clone).unwrap_or_default()
    }

    /// Waits no longer.
    pub fn leave(&self) -> Left {
        match self.0.compare_exchange(WAITS, LEFT, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) | Err(LEFT) => Left::Nothing,
            Err(_) => Left::Open,
        }
    }

    pub fn has_left(&self) -> bool {
        self.0.load(Ordering::Acquire) == LEFT
    }

    /// Whether anything of theirs may be in the books.
    pub fn is_open(&self) -> bool {
        self.0.load(Ordering::Acquire) == SENT
    }

    pub fn send(&self) -> Sent {
        match self.0.compare_exchange(WAITS, SENT, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Sent::First,
            Err(SENT) => Sent::Again,
            Err(_) => Sent::TooLate,
        }
    }

    /// Whether it is the very same.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The first thing that was sent was refused for certain.
    pub fn take_back(&self) {
        self.0.store(WAITS, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_leaves_before_anything_was_sent_has_nothing_in_the_books() {
        let early = Client::default();
        assert_eq!((early.leave(), early.send(), early.leave()), (Left::Nothing, Sent::TooLate, Left::Nothing));
        let late = Client::default();
        let seen = late.served(async { (Client::of_this_task().send(), Client::of_this_task().send()) }).await;
        assert_eq!((seen, late.leave(), late.is_open()), ((Sent::First, Sent::Again), Left::Open, true));
        late.take_back();
        assert_eq!((late.leave(), late.has_left()), (Left::Nothing, true));
        // What nobody waits for is nobody's to leave.
        assert_eq!(Client::of_this_task().send(), Sent::First);
    }
}
