//! An answer that is handed over portion by portion while it is made, so that its length costs no memory.

use crate::error::{Error, Result, Unavailable};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::Instant;

/// How many portions may be made ahead of who takes them.
const AHEAD: usize = 2;
/// How long nobody may take anything before the answer is given up: meanwhile a snapshot of the books is held open.
const STALLED: Duration = Duration::from_secs(30);

/// A portion, or that there is none after the last one.
type Message = Result<Option<String>>;

/// How long an answer may take as a whole.
const LONGEST: Duration = Duration::from_mins(10);

/// How many answers may be made at once.
pub(crate) struct Feeds(Arc<Semaphore>);

/// A place among them, held until the answer ends.
pub(crate) struct Place(OwnedSemaphorePermit);

impl Feeds {
    pub(crate) fn of(most: u32) -> Self {
        Self(Arc::new(Semaphore::new(most.max(1) as usize)))
    }

    pub(crate) fn enter(&self) -> Result<Place> {
        let place = self.0.clone().try_acquire_owned();
        place.map(Place).map_err(|_| Error::Unavailable(Unavailable::Overloaded))
    }
}

/// Where an answer comes from.
pub struct Feed {
    first: Option<String>,
    rest: mpsc::Receiver<Message>,
    ended: bool,
}

/// Where an answer is put.
pub(crate) struct Outlet {
    portions: mpsc::Sender<Message>,
    ends: Instant,
}

impl Outlet {
    pub(crate) async fn hand(&self, portion: String) -> Result<()> {
        let patience = STALLED.min(self.ends.saturating_duration_since(Instant::now()));
        match tokio::time::timeout(patience, self.portions.send(Ok(Some(portion)))).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Error::internal("the client hung up before the end of its answer")),
            Err(_) => Err(Error::internal("the client did not take its answer")),
        }
    }
}

impl Feed {
    /// Begins to make an answer. What goes wrong before its first portion is an error like any other.
    pub(crate) async fn begin<W, F>(place: Place, work: W) -> Result<Self>
    where
        W: FnOnce(Outlet) -> F + Send + 'static,
        F: Future<Output = Result<()>> + Send,
    {
        let (sender, mut rest) = mpsc::channel(AHEAD);
        tokio::spawn(async move {
            let Place(_held) = place;
            let last = work(Outlet { portions: sender.clone(), ends: Instant::now() + LONGEST }).await.map(|()| None);
            // Whoever is gone need not be told.
            let _told = tokio::time::timeout(STALLED, sender.send(last)).await;
        });
        let first = rest.recv().await.unwrap_or_else(|| Err(broken()))?;
        Ok(Self { ended: first.is_none(), first, rest })
    }

    /// The next portion; an error where the answer ends before it is whole.
    pub async fn next(&mut self) -> Option<Result<String>> {
        if let Some(first) = self.first.take() {
            return Some(Ok(first));
        }
        if self.ended {
            return None;
        }
        let portion = self.rest.recv().await.unwrap_or_else(|| Err(broken())).transpose();
        self.ended = !matches!(portion, Some(Ok(_)));
        portion
    }
}

fn broken() -> Error {
    Error::internal("an answer ended before it was whole")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> Place {
        Feeds::of(1).enter().unwrap()
    }

    #[tokio::test]
    async fn only_so_many_are_made_at_once() {
        let feeds = Feeds::of(1);
        let busy = || matches!(feeds.enter(), Err(Error::Unavailable(Unavailable::Overloaded)));
        let (go_on, wait) = tokio::sync::oneshot::channel::<()>();
        let held = Feed::begin(feeds.enter().unwrap(), |outlet| async move {
            outlet.hand("a".into()).await?;
            let _told = wait.await;
            Ok(())
        });
        let held = held.await.unwrap();
        assert!(busy());
        go_on.send(()).unwrap();
        assert_eq!(taken(held).await.len(), 1);
        // Its place is free once its task has ended.
        while busy() {
            tokio::task::yield_now().await;
        }
    }

    async fn taken(mut feed: Feed) -> Vec<Result<String, String>> {
        let mut taken = Vec::new();
        while let Some(portion) = feed.next().await {
            taken.push(portion.map_err(|error| format!("{error:?}")));
        }
        taken
    }

    #[tokio::test]
    async fn an_answer_that_breaks_off_does_not_look_whole() {
        let whole = Feed::begin(place(), |outlet| async move {
            for portion in ["a", "b", "c", "d"] {
                outlet.hand(portion.into()).await?;
            }
            Ok(())
        });
        let wanted: Vec<Result<String, String>> = ["a", "b", "c", "d"].map(|one| Ok(one.to_owned())).to_vec();
        assert_eq!(taken(whole.await.unwrap()).await, wanted);
        assert_eq!(taken(Feed::begin(place(), |_| async { Ok(()) }).await.unwrap()).await, Vec::new());

        assert!(matches!(Feed::begin(place(), |_| async { Err(Error::NotFound) }).await, Err(Error::NotFound)));
        let failed = Feed::begin(place(), |outlet| async move {
            outlet.hand("a".into()).await?;
            Err(Error::NotFound)
        });
        let failed = taken(failed.await.unwrap()).await;
        assert_eq!(failed, [Ok("a".into()), Err("NotFound".into())]);
        let panicked = Feed::begin(place(), |outlet| async move {
            outlet.hand("a".into()).await?;
            panic!("on purpose")
        });
        let panicked = taken(panicked.await.unwrap()).await;
        assert!(matches!(&panicked[..], [Ok(_), Err(_)]), "{panicked:?}");
    }

    #[tokio::test]
    async fn who_hangs_up_ends_the_work() {
        let (ended, end) = tokio::sync::oneshot::channel();
        let feed = Feed::begin(place(), |outlet| async move {
            let mut handed = outlet.hand("a".into()).await;
            while handed.is_ok() {
                handed = outlet.hand("more".into()).await;
            }
            let _told = ended.send(());
            handed
        });
        drop(feed.await.unwrap());
        end.await.unwrap();
    }
}
