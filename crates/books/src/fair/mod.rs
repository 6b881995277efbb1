//! Places for reads, shared fairly among companies and then callers.
//!
//! What is quick, what is dear and what proves have places of their own, so that no kind takes the room of another.
//! A turn ends when it is dropped, and what it took counts against its caller and its company. Who cannot be served soon is
//! told so at once. Owns: who may read now. Refuses: to know what is read.

mod queue;
mod single;

use crate::database::lane::BoxFuture;
use crate::error::{Error, Result, Unavailable};
use crate::ids::{BusinessId, UserId};
use answers::wanted::Wanted;
use queue::Full;
pub use queue::{Bounds, Micros, Queue};
pub use single::Single;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;
use uuid::Uuid;

/// Who asks: the company, where it is about one, and the user or the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Who {
    pub company: Option<BusinessId>,
    pub caller: Uuid,
}

impl Who {
    /// What is of no company is asked by each for themselves: nobody's questions stand in another one's line.
    pub fn asking(company: Option<BusinessId>, user: UserId, caller: Uuid) -> Self {
        Self { company: Some(company.unwrap_or(BusinessId(user.0))), caller }
    }

    pub const fn names(self) -> (Option<BusinessId>, Uuid) {
        (self.company, self.caller)
    }
}

/// What kinds of places there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A record, a page of a list.
    Brief,
    /// A report, a portion of a long answer, a slice of a proof.
    Dear,
    /// A proof as a whole: it holds what it sees, and takes dear places slice by slice.
    Proof,
}

/// How many places of each kind there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shares {
    pub brief: usize,
    pub dear: usize,
    pub proofs: usize,
}

impl Shares {
    /// One company reads with so many at most; there is one place more than that, which is for others.
    pub fn of(readers: u32) -> Self {
        let readers = usize::try_from(readers.max(1)).unwrap_or(1);
        Self { brief: readers + 1, dear: readers.div_ceil(2) + 1, proofs: 2 }
    }

    /// Of so many connections, where there are not more: one is left for what is written.
    #[must_use]
    pub fn within(self, connections: u32) -> Self {
        let connections = usize::try_from(connections).unwrap_or(usize::MAX).saturating_sub(1);
        let mut shares = self;
        while shares.connections() > connections {
            // The largest share gives first, and each keeps one place.
            let largest =
                [&mut shares.brief, &mut shares.dear, &mut shares.proofs].into_iter().max_by_key(|share| **share);
            match largest.filter(|share| **share > 1) {
                Some(share) => *share -= 1,
                None => break,
            }
        }
        shares
    }

    /// As many connections as they may hold together.
    pub const fn connections(self) -> usize {
        self.brief + self.dear + self.proofs
    }

    const fn bounds(places: usize) -> Bounds {
        let of_company = if places > 1 { places - 1 } else { 1 };
        Bounds { places, of_company, waiting: 1_024, waiting_of_company: 256, waiting_of_caller: 128 }
    }
}

type Line = Queue<Option<BusinessId>, Uuid, oneshot::Sender<Turn>>;

struct Place {
    line: Mutex<Line>,
    opened: Instant,
    spending: Arc<Spending>,
}

/// All places of one database.
pub struct Fair {
    brief: Arc<Place>,
    dear: Arc<Place>,
    proofs: Arc<Place>,
    spending: Arc<Spending>,
}

/// A place, until it is dropped.
pub struct Turn {
    place: Arc<Place>,
    who: Who,
    since: Micros,
    /// Whether it was not to be had at once.
    pub waited: bool,
}

impl Fair {
    pub fn new(shares: Shares) -> Self {
        let spending = Arc::new(Spending::default());
        let place = |places: usize| {
            let line = Mutex::new(Queue::new(Shares::bounds(places)));
            Arc::new(Place { line, opened: Instant::now(), spending: spending.clone() })
        };
        Self { brief: place(shares.brief), dear: place(shares.dear), proofs: place(shares.proofs), spending }
    }

    /// What one caller's reads may take of a minute; any time where it is zero.
    pub fn set_budget(&self, budget: Duration) {
        self.spending.set_budget(budget);
    }

    /// A place, as soon as it is this one's turn.
    pub async fn enter(&self, kind: Kind, who: Who) -> Result<Turn> {
        self.spending.check(who.caller)?;
        let place = match kind {
            Kind::Brief => &self.brief,
            Kind::Dear => &self.dear,
            Kind::Proof => &self.proofs,
        };
        place.enter(who).await
    }

    /// What a long read goes at: slices of dear places, in turn with everybody else.
    pub async fn pace(&self, who: Who) -> Result<Pace> {
        let turn = tokio::sync::Mutex::new(Some(self.enter(Kind::Dear, who).await?));
        Ok(Pace { dear: self.dear.clone(), who, turn })
    }
}

/// The slices of a long read.
pub struct Pace {
    dear: Arc<Place>,
    who: Who,
    turn: tokio::sync::Mutex<Option<Turn>>,
}

impl Pace {
    /// Gives the place back where others wait for it, and takes another in turn.
    pub async fn pause(&self) -> Result<()> {
        tokio::task::yield_now().await;
        let mut turn = self.turn.lock().await;
        if turn.is_none() || self.dear.lock().others_wait(self.who.company) {
            *turn = None;
            *turn = Some(self.dear.enter(self.who).await?);
        }
        Ok(())
    }
}

#[async_trait::async_trait]
impl schema::reader::Host for Pace {
    async fn pause(&self) -> Result<()> {
        Self::pause(self).await
    }
}

/// Waits in line until it is dropped.
struct InLine<'p> {
    place: &'p Place,
    who: Who,
    ticket: u64,
}

impl Drop for InLine<'_> {
    fn drop(&mut self) {
        self.place.lock().leave(self.place.now(), self.who.names(), self.ticket);
    }
}

impl Place {
    fn lock(&self) -> std::sync::MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Micros {
        Micros::try_from(self.opened.elapsed().as_micros()).unwrap_or(Micros::MAX)
    }

    async fn enter(self: &Arc<Self>, who: Who) -> Result<Turn> {
        const FULL: Error = Error::Unavailable(Unavailable::Overloaded);
        let (sender, mut given) = oneshot::channel();
        let ticket = self.lock().wait(self.now(), who.names(), sender).map_err(|full| match full {
            Full::Caller => Error::RateLimited { retry_after_seconds: 1 },
            Full::Company | Full::All => FULL,
        })?;
        let _in_line = InLine { place: self, who, ticket };
        self.serve();
        if let Ok(at_once) = given.try_recv() {
            return Ok(at_once);
        }
        let mut turn = given.await.map_err(|_| FULL)?;
        turn.waited = true;
        Ok(turn)
    }

    /// Gives free places to those whose turn it is.
    fn serve(self: &Arc<Self>) {
        loop {
            let now = self.now();
            let Some(((company, caller), sender)) = self.lock().next(now) else { return };
            // Where nobody takes it, it is dropped and given back: outside of the lock.
            let _gone =
                sender.send(Turn { place: self.clone(), who: Who { company, caller }, since: now, waited: false });
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let now = self.place.now();
        self.place.lock().give_back(now, self.who.names(), self.since);
        self.place.spending.add(self.who.caller, now.saturating_sub(self.since));
        self.place.serve();
    }
}

const MINUTE: Duration = Duration::from_mins(1);
/// As many callers as are counted before those are forgotten whose minute is over.
const MANY: usize = 10_000;

/// What each caller's work has taken of their minute.
#[derive(Default)]
pub struct Spending {
    /// Microseconds a minute; any number where it is 0.
    budget: AtomicU64,
    callers: Mutex<HashMap<Uuid, (Instant, Micros)>>,
}

impl Spending {
    /// What one caller's work may take of a minute; any time where it is zero.
    pub fn set_budget(&self, budget: Duration) {
        self.budget.store(u64::try_from(budget.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub fn check(&self, caller: Uuid) -> Result<()> {
        let budget = self.budget.load(Ordering::Relaxed);
        if budget == 0 {
            return Ok(());
        }
        let callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((began, spent)) = callers.get(&caller) else { return Ok(()) };
        let left = MINUTE.saturating_sub(began.elapsed());
        if *spent < budget || left.is_zero() {
            return Ok(());
        }
        Err(Error::RateLimited { retry_after_seconds: left.as_secs() + 1 })
    }

    pub fn add(&self, caller: Uuid, cost: Micros) {
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        if callers.len() >= MANY && !callers.contains_key(&caller) {
            callers.retain(|_, (began, _)| began.elapsed() < MINUTE);
            if callers.len() >= MANY {
                // So many in one minute: their minutes begin anew.
                callers.clear();
            }
        }
        let (began, spent) = callers.entry(caller).or_insert((Instant::now(), 0));
        if began.elapsed() >= MINUTE {
            (*began, *spent) = (Instant::now(), 0);
        }
        *spent = spent.saturating_add(cost);
    }
}

/// Somebody who waits for an answer, for as long as they do.
///
/// A read is made in front of one. What holds it cannot outlive the wait, so no read can be spawned away from who asked
/// for it: it ends with them.
#[derive(Debug, Clone, Copy)]
pub struct Present<'w> {
    begun: &'w Arc<Begun>,
    until: Instant,
}

impl Present<'_> {
    /// When they have waited for as long as anybody does.
    pub fn until(&self) -> Instant {
        self.until
    }

    /// What they are told of where they waited in vain.
    pub fn begun(&self) -> Arc<Begun> {
        self.begun.clone()
    }
}

/// Whether a read was begun, and what would be faster. Who waits for too long before it begins finds the server busy; who
/// does so after that has asked for what takes too long.
#[derive(Debug, Default)]
pub struct Begun(OnceLock<String>);

impl Begun {
    /// From now on it is read.
    pub fn now(&self, faster: impl FnOnce() -> String) {
        self.0.get_or_init(faster);
    }

    fn late(&self) -> Error {
        match self.0.get() {
            Some(faster) => Error::TooSlow { faster: faster.clone() },
            None => Error::Unavailable(Unavailable::Overloaded),
        }
    }

    /// The same failure, and what would be faster where it was too slow.
    pub fn told(&self, failure: Error) -> Error {
        if matches!(failure, Error::TooSlow { .. }) && self.0.get().is_some() { self.late() } else { failure }
    }
}

/// Waits for a read, for so long. Whoever goes away before takes it along.
pub async fn present<T>(
    patience: Duration,
    work: impl for<'w> FnOnce(Present<'w>) -> BoxFuture<'w, Result<T>>,
) -> Result<T> {
    let (begun, until) = (Arc::new(Begun::default()), Instant::now() + patience);
    let done = tokio::time::timeout_at(until, work(Present { begun: &begun, until })).await;
    done.unwrap_or_else(|_| Err(begun.late())).map_err(|failure| begun.told(failure))
}

/// Work that goes on by itself while somebody waits for it, and ends with them.
///
/// A read is never spawned in another way: whoever goes away, or has waited for too long, takes it along, and what is made
/// of rows that were read already ends with them ([`answers::wanted`]). It is done by threads that give way.
pub struct Tethered<T> {
    work: tokio::task::JoinHandle<Result<T>>,
    wanted: Wanted,
}

impl<T: Send + 'static> Tethered<T> {
    pub fn begin(work: impl Future<Output = Result<T>> + Send + 'static) -> Self {
        let wanted = Wanted::default();
        Self { work: supervise::quiet().spawn(wanted.clone().by(work)), wanted }
    }
}

impl<T> Future for Tethered<T> {
    type Output = Result<T>;

    fn poll(mut self: std::pin::Pin<&mut Self>, context: &mut std::task::Context<'_>) -> std::task::Poll<Self::Output> {
        std::pin::Pin::new(&mut self.work)
            .poll(context)
            .map(|ended| ended.unwrap_or_else(|error| Err(Error::internal(error))))
    }
}

impl<T> Drop for Tethered<T> {
    fn drop(&mut self) {
        self.wanted.no_more();
        self.work.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn who(company: u128, caller: u128) -> Who {
        Who { company: Some(BusinessId(Uuid::from_u128(company))), caller: Uuid::from_u128(caller) }
    }

    fn fair() -> Fair {
        Fair::new(Shares { brief: 2, dear: 2, proofs: 2 })
    }

    #[test]
    fn places_fit_the_connections_that_there_are() {
        let shares = Shares::of(4);
        assert_eq!((shares.brief, shares.dear, shares.proofs, shares.connections()), (5, 3, 2, 10));
        assert_eq!(shares.within(16), shares);
        for connections in 4..12 {
            assert!(shares.within(connections).connections() < connections as usize, "{connections}");
        }
        assert_eq!(shares.within(2), Shares { brief: 1, dear: 1, proofs: 1 });
    }

    #[tokio::test(start_paused = true)]
    async fn who_goes_away_leaves_the_line_and_gives_back_what_was_given() {
        let fair = fair();
        let held = fair.enter(Kind::Dear, who(1, 1)).await.unwrap();
        {
            let mut waiting = Box::pin(fair.enter(Kind::Dear, who(1, 1)));
            assert!(tokio::time::timeout(Duration::from_secs(1), &mut waiting).await.is_err());
            assert!(fair.enter(Kind::Dear, who(2, 1)).await.is_ok(), "another company has its place");
            // Given, and never looked at again.
            drop(held);
        }
        let all = [fair.enter(Kind::Dear, who(1, 1)).await.unwrap(), fair.enter(Kind::Dear, who(2, 1)).await.unwrap()];
        assert_eq!(fair.dear.lock().held().len(), 2);
        drop(all);
        assert_eq!(fair.dear.lock().held().len(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn questions_of_no_company_stand_in_a_line_of_who_asks() {
        let fair = fair();
        let of = |user: u128, caller: u128| Who::asking(None, UserId(Uuid::from_u128(user)), Uuid::from_u128(caller));
        let _held = fair.enter(Kind::Dear, of(1, 1)).await.unwrap();
        // A company's share is one place of two: one user takes no more, whatever keys they ask with.
        let mut own = Box::pin(fair.enter(Kind::Dear, of(1, 2)));
        assert!(tokio::time::timeout(Duration::from_millis(1), &mut own).await.is_err());
        for (other, why) in [(of(2, 3), "another one's questions are their own"), (who(3, 1), "so are a company's")] {
            let entered = tokio::time::timeout(Duration::from_millis(1), fair.enter(Kind::Dear, other)).await;
            assert!(entered.is_ok_and(|entered| entered.is_ok()), "{why}");
        }
        let company = BusinessId(Uuid::from_u128(3));
        assert_eq!(Who::asking(Some(company), UserId(Uuid::from_u128(1)), Uuid::from_u128(1)), who(3, 1));
    }

    #[tokio::test(start_paused = true)]
    async fn kinds_do_not_take_each_others_places() {
        let fair = fair();
        let _dear = fair.enter(Kind::Dear, who(1, 1)).await.unwrap();
        let _other = fair.enter(Kind::Dear, who(2, 1)).await.unwrap();
        let _proof = fair.enter(Kind::Proof, who(1, 1)).await.unwrap();
        assert!(fair.enter(Kind::Brief, who(1, 1)).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_lets_others_go_first() {
        let fair = fair();
        let pace = fair.pace(who(1, 1)).await.unwrap();
        let _other = fair.enter(Kind::Dear, who(2, 1)).await.unwrap();
        pace.pause().await.unwrap();
        assert_eq!(pace.turn.lock().await.as_ref().unwrap().since, 0, "nobody waits, and nothing is given back");
        tokio::time::advance(Duration::from_secs(1)).await;
        let mut third = Box::pin(fair.enter(Kind::Dear, who(3, 1)));
        assert!(tokio::time::timeout(Duration::ZERO, &mut third).await.is_err());
        let mut pausing = Box::pin(pace.pause());
        assert!(tokio::time::timeout(Duration::from_millis(1), &mut pausing).await.is_err());
        drop(third.await.unwrap());
        pausing.await.unwrap();
        assert!(pace.turn.lock().await.as_ref().unwrap().since > 0);
    }

    #[tokio::test(start_paused = true)]
    async fn who_has_too_many_waiting_is_told_so_and_others_wait_beside_them() {
        let fair = fair();
        let _held = fair.enter(Kind::Brief, who(1, 1)).await.unwrap();
        let waiting: Vec<_> = (0..1_024).map(|_| Box::pin(fair.enter(Kind::Brief, who(1, 1)))).collect();
        let mut told = Vec::new();
        let mut still = Vec::new();
        for mut one in waiting {
            match tokio::time::timeout(Duration::ZERO, &mut one).await {
                Ok(ended) => told.push(ended.err()),
                Err(_) => still.push(one),
            }
        }
        assert_eq!((still.len(), told.len()), (128, 896));
        assert!(told.iter().all(|one| matches!(one, Some(Error::RateLimited { retry_after_seconds: 1 }))));
        let mut other = Box::pin(fair.enter(Kind::Brief, who(1, 2)));
        assert!(tokio::time::timeout(Duration::ZERO, &mut other).await.is_err(), "another of the company waits");
        assert!(fair.enter(Kind::Brief, who(2, 1)).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_callers_minute_holds_so_much() {
        let fair = fair();
        fair.set_budget(Duration::from_secs(10));
        let turn = fair.enter(Kind::Brief, who(1, 1)).await.unwrap();
        tokio::time::advance(Duration::from_secs(11)).await;
        drop(turn);
        let refused = fair.enter(Kind::Dear, who(1, 1)).await.err();
        assert!(matches!(refused, Some(Error::RateLimited { retry_after_seconds: 1..=61 })), "{refused:?}");
        assert!(fair.enter(Kind::Dear, who(1, 2)).await.is_ok(), "each has a minute of their own");
        tokio::time::advance(MINUTE).await;
        assert!(fair.enter(Kind::Dear, who(1, 1)).await.is_ok());
        fair.set_budget(Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_for_too_long_is_told_whether_it_is_busy_or_too_slow() {
        let fair = Arc::new(fair());
        let held = fair.enter(Kind::Dear, who(1, 1)).await.unwrap();
        let asked = |fair: Arc<Fair>| {
            present(Duration::from_secs(30), |waits| {
                let begun = waits.begun();
                Box::pin(async move {
                    let _turn = fair.enter(Kind::Dear, who(1, 1)).await?;
                    begun.now(|| "ask for less".into());
                    std::future::pending::<Result<()>>().await
                })
            })
        };
        let busy = asked(fair.clone()).await;
        assert!(matches!(busy, Err(Error::Unavailable(Unavailable::Overloaded))), "{busy:?}");
        drop(held);
        let slow = asked(fair.clone()).await.unwrap_err();
        assert_eq!((slow.code(), slow.title().ends_with("; ask for less")), (crate::error::Code::TooSlow, true));
        // Its place is free again.
        assert!(fair.enter(Kind::Dear, who(1, 1)).await.is_ok());
        // What an engine ended says what would be faster as well.
        let ended = present(Duration::from_secs(30), |waits| {
            let begun = waits.begun();
            Box::pin(async move {
                begun.now(|| "ask for less".into());
                Err::<(), _>(Error::too_slow())
            })
        });
        assert!(ended.await.unwrap_err().title().ends_with("; ask for less"));
    }

    #[tokio::test]
    async fn what_nobody_waits_for_ends() {
        let (ended, end) = oneshot::channel::<()>();
        let work = Tethered::begin(async move {
            let _told_when_dropped = ended;
            std::future::pending::<Result<()>>().await
        });
        drop(work);
        assert!(end.await.is_err());
    }
}
