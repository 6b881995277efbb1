//! Questions that are asked side by side, and travel in one flight.
//!
//! Who judges a document asks for its lines, its links and what is open of it, and none of these waits for another. Each room
//! asks for itself all the same. So whoever asks inside of [`Db::together`] waits for one turn of the task, in which those
//! beside it ask as well; the first to go on takes all that wait along.
//!
//! On an engine in the same process there is no journey to be saved, and one is asked after the other.

use super::{Db, Reads, Session};
use answers::Answer;
use futures_util::future::{try_join, try_join_all};
use sea_orm::{DbErr, Statement};
use std::future::{Future, poll_fn};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::Poll;
use tokio::sync::oneshot;

/// A question, and who waits for its answer.
pub(super) type Asked = (Statement, oneshot::Sender<Result<Answer, DbErr>>);

#[derive(Debug, Default)]
pub(super) struct Together {
    /// How many wait for several at once.
    depth: AtomicUsize,
    waiting: Mutex<Vec<Asked>>,
}

impl Together {
    pub(super) fn is_open(&self) -> bool {
        self.depth.load(Ordering::Relaxed) > 0
    }

    /// Puts a question to those that wait. It answers all that go along with it, where it is the one that takes them.
    pub(super) async fn add(&self, question: Statement) -> (Vec<Asked>, oneshot::Receiver<Result<Answer, DbErr>>) {
        let (answer, answered) = oneshot::channel();
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).push((question, answer));
        let mut paused = false;
        poll_fn(|context| {
            if std::mem::replace(&mut paused, true) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
        let mut taken = std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        // Whoever was dropped meanwhile waits for nothing.
        taken.retain(|(_, answer)| !answer.is_closed());
        (taken, answered)
    }
}

/// While it lives, questions wait for those beside them.
struct Open<'t>(&'t Together);

impl<'t> Open<'t> {
    fn of(together: &'t Together) -> Self {
        together.depth.fetch_add(1, Ordering::Relaxed);
        Self(together)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.depth.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Db<'_> {
    /// Where questions of one who asks wait for each other, if they travel at all.
    fn travels(&self) -> Option<&Together> {
        match self {
            Self::Session(Session::Postgres(session)) => Some(session.together()),
            Self::Reads(Reads::Postgres(reads)) => reads.together(),
            Self::Session(_) | Self::Reads(Reads::Sqlite(_)) => None,
        }
    }

    /// Does two things that only ask, neither of which waits for the other: what they ask at once travels together. Where one fails
    /// all of it does, and whoever waits for it says so.
    pub fn together<A: Send, B: Send, E: Send>(
        &self,
        one: impl Future<Output = Result<A, E>> + Send,
        other: impl Future<Output = Result<B, E>> + Send,
    ) -> impl Future<Output = Result<(A, B), E>> + Send {
        // Each has its own room, so that whoever waits for many of them needs little.
        let (one, other) = (Box::pin(one), Box::pin(other));
        async move {
            let Some(together) = self.travels() else { return Ok((one.await?, other.await?)) };
            let _open = Open::of(together);
            try_join(one, other).await
        }
    }

    /// The same of any number of things; what they come to is answered in their order.
    pub fn all_together<A: Send, E: Send>(
        &self,
        all: impl IntoIterator<Item = impl Future<Output = Result<A, E>> + Send>,
    ) -> impl Future<Output = Result<Vec<A>, E>> + Send {
        let all: Vec<_> = all.into_iter().map(Box::pin).collect();
        async move {
            let Some(together) = self.travels() else {
                let mut done = Vec::with_capacity(all.len());
                for one in all {
                    done.push(one.await?);
                }
                return Ok(done);
            };
            let _open = Open::of(together);
            try_join_all(all).await
        }
    }
}
