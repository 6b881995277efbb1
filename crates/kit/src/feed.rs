//! An answer that is handed over portion by portion while it is made, so that its length costs no memory.
//!
//! Each portion is made from a snapshot of its own, which is gone before anybody takes the portion: whoever takes an
//! answer slowly holds a portion and a place among the feeds, and nothing of the database. What makes portions is handed a
//! context and answers a text; it has nothing to wait for a client with.

use crate::error::{Error, Result, Unavailable};
use crate::extra::Media;
use crate::list::ListQuery;
use books::cx::Cx;
use books::database::lane::BoxFuture;
use books::fair::{Tethered, Who};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// What an answer is made of, portion by portion.
pub trait Portions: Send {
    /// The next portion; nothing after the last one. What `cx` sees ends with it, so what must stay the same from one
    /// portion to the next is kept, or bounded by the numbers of entries and records.
    fn next<'c>(&'c mut self, cx: &'c Cx<'c>, query: &'c ListQuery) -> BoxFuture<'c, Result<Option<String>>>;

    /// After which record of the audit log there is nothing to tell yet, where the next portion is made of what is still to
    /// happen: that is waited for with no snapshot.
    fn nothing_after(&self) -> Option<i64> {
        None
    }
}

/// How many answers are handed over at once: in all, of one company, of one caller.
const MOST: [usize; 3] = [256, 64, 32];

/// The places of answers that are being handed over.
#[derive(Default)]
pub struct Feeds(Arc<Mutex<HashMap<Who, usize>>>);

/// A place among them, held until the answer ends.
pub struct Place {
    feeds: Arc<Mutex<HashMap<Who, usize>>>,
    who: Who,
}

impl Feeds {
    /// A place, where this caller, this company and all together do not have too many.
    pub fn enter(&self, who: Who) -> Result<Place> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sum = |mine: &dyn Fn(&Who) -> bool| held.iter().filter(|(one, _)| mine(one)).map(|(_, count)| count).sum();
        let counts: [usize; 3] =
            [sum(&|_| true), sum(&|one| one.company == who.company), sum(&|one| one.caller == who.caller)];
        if counts.iter().zip(MOST).any(|(count, most)| *count >= most) {
            return Err(Error::Unavailable(Unavailable::Overloaded));
        }
        *held.entry(who).or_default() += 1;
        Ok(Place { feeds: self.0.clone(), who })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut held = self.feeds.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = held.get_mut(&self.who) {
            *count -= 1;
            if *count == 0 {
                held.remove(&self.who);
            }
        }
    }
}

/// A portion, and what the rest is made of.
type Made = (Box<dyn Portions>, Option<String>);

/// What makes a portion: it takes what the answer is made of, and gives it back with the portion.
pub type Round = Box<dyn Fn(Box<dyn Portions>) -> BoxFuture<'static, Result<Made>> + Send + Sync>;

/// Where an answer comes from.
pub struct Feed {
    pub media: Media,
    first: Option<String>,
    round: Round,
    /// What the rest is made of; nothing while a portion is being made, and after the last one.
    rest: Option<Box<dyn Portions>>,
    /// It goes on whether or not anybody looks, so that no snapshot waits for a client; it ends where the answer is
    /// dropped.
    making: Option<Tethered<Made>>,
    _place: Place,
}

impl Feed {
    /// Begins to make an answer. What goes wrong before its first portion is an error like any other.
    pub async fn begin(place: Place, media: Media, portions: Box<dyn Portions>, round: Round) -> Result<Self> {
        let mut feed = Self { media, first: None, round, rest: Some(portions), making: None, _place: place };
        feed.first = feed.make().await.transpose()?;
        Ok(feed)
    }

    /// The next portion; an error where the answer ends before it is whole.
    pub async fn next(&mut self) -> Option<Result<String>> {
        match self.first.take() {
            Some(first) => Some(Ok(first)),
            None => self.make().await,
        }
    }

    async fn make(&mut self) -> Option<Result<String>> {
        if self.making.is_none() {
            self.making = Some(Tethered::begin((self.round)(self.rest.take()?)));
        }
        // Whoever stops waiting here goes on with the same portion when they come back.
        let made = self.making.as_mut()?.await;
        self.making = None;
        match made {
            Ok((rest, Some(portion))) => {
                self.rest = Some(rest);
                Some(Ok(portion))
            }
            Ok((_, None)) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::BusinessId;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use uuid::Uuid;

    fn who(company: u128, caller: u128) -> Who {
        Who { company: Some(BusinessId(Uuid::from_u128(company))), caller: Uuid::from_u128(caller) }
    }

    #[test]
    fn nobody_has_the_places_of_the_others() {
        let feeds = Feeds::default();
        let [_, of_company, of_caller] = MOST;
        let mut held: Vec<Place> = (0..of_caller).map(|_| feeds.enter(who(1, 1)).unwrap()).collect();
        let busy = |who| matches!(feeds.enter(who), Err(Error::Unavailable(Unavailable::Overloaded)));
        assert!(busy(who(1, 1)) && busy(who(2, 1)), "a caller in whichever company");
        held.extend((of_caller..of_company).map(|_| feeds.enter(who(1, 2)).unwrap()));
        assert!(busy(who(1, 3)), "a company, whoever asks");
        assert!(!busy(who(2, 3)));
        drop(held);
        assert!(!busy(who(1, 1)) && feeds.0.lock().unwrap().is_empty());
    }

    /// What is made, and how it ends.
    struct Told;

    impl Portions for Told {
        fn next<'c>(&'c mut self, _: &'c Cx<'c>, _: &'c ListQuery) -> BoxFuture<'c, Result<Option<String>>> {
            Box::pin(async { Ok(None) })
        }
    }

    fn round(
        made: Arc<AtomicUsize>,
        portion: impl Fn(usize) -> Result<Option<String>> + Send + Sync + Clone + 'static,
    ) -> Round {
        Box::new(move |told| {
            let (made, portion) = (made.clone(), portion.clone());
            Box::pin(async move { portion(made.fetch_add(1, Ordering::SeqCst)).map(|text| (told, text)) })
        })
    }

    async fn taken(portion: impl Fn(usize) -> Result<Option<String>> + Send + Sync + Clone + 'static) -> Vec<String> {
        let place = Feeds::default().enter(who(1, 1)).unwrap();
        let mut feed = match Feed::begin(place, Media::Csv, Box::new(Told), round(Arc::default(), portion)).await {
            Ok(feed) => feed,
            Err(error) => return vec![format!("at once: {error:?}")],
        };
        let mut taken = Vec::new();
        while let Some(portion) = feed.next().await {
            taken.push(portion.unwrap_or_else(|error| format!("{error:?}")));
        }
        assert!(feed.next().await.is_none());
        taken
    }

    #[tokio::test]
    async fn an_answer_that_breaks_off_does_not_look_whole() {
        let of = |number: usize| ["a", "b", "c"].get(number).map(ToString::to_string);
        assert_eq!(taken(move |number| Ok(of(number))).await, ["a", "b", "c"]);
        assert_eq!(taken(|_| Ok(None)).await, Vec::<String>::new());
        assert_eq!(taken(|_| Err(Error::NotFound)).await, ["at once: NotFound"]);
        let broken = taken(move |number| if number < 2 { Ok(of(number)) } else { Err(Error::NotFound) }).await;
        assert_eq!(broken, ["a", "b", "NotFound"]);
        let panicked = taken(move |number| if number < 1 { Ok(of(number)) } else { panic!("on purpose") }).await;
        assert!(matches!(&panicked[..], [first, end] if first == "a" && end.contains("Internal")), "{panicked:?}");
    }

    #[tokio::test]
    async fn nothing_is_made_before_somebody_takes_what_was() {
        let made = Arc::new(AtomicUsize::new(0));
        let place = Feeds::default().enter(who(1, 1)).unwrap();
        let more = round(made.clone(), |number| Ok(Some(number.to_string())));
        let mut feed = Feed::begin(place, Media::Csv, Box::new(Told), more).await.unwrap();
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert_eq!(made.load(Ordering::SeqCst), 1);
        assert_eq!(feed.next().await.unwrap().unwrap(), "0");
        assert_eq!(feed.next().await.unwrap().unwrap(), "1");
        assert_eq!(made.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn who_hangs_up_ends_the_work() {
        let (ended, end) = tokio::sync::oneshot::channel::<()>();
        let ended = Arc::new(Mutex::new(Some(ended)));
        let made = Arc::new(AtomicUsize::new(0));
        let more: Round = Box::new(move |told| {
            let (ended, made) = (ended.clone(), made.clone());
            Box::pin(async move {
                if made.fetch_add(1, Ordering::SeqCst) > 0 {
                    let _told_when_dropped = ended.lock().unwrap().take();
                    std::future::pending::<()>().await;
                }
                Ok((told, Some("a".to_owned())))
            })
        });
        let place = Feeds::default().enter(who(1, 1)).unwrap();
        let mut feed = Feed::begin(place, Media::Csv, Box::new(Told), more).await.unwrap();
        feed.next().await.unwrap().unwrap();
        let mut next = Box::pin(feed.next());
        assert!(futures_poll(&mut next).await);
        drop(next);
        drop(feed);
        assert!(end.await.is_err());
    }

    /// Whether it still waits after some turns of the runtime.
    async fn futures_poll(future: &mut (impl Future + Unpin)) -> bool {
        for _ in 0..10 {
            let waits = std::future::poll_fn(|context| {
                std::task::Poll::Ready(std::pin::Pin::new(&mut *future).poll(context).is_pending())
            });
            if !waits.await {
                return false;
            }
            tokio::task::yield_now().await;
        }
        true
    }
}
