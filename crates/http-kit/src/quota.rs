//! How much one caller may ask of the server: so many requests a minute, and a part of those that run at once, as one company
//! has.
//!
//! Both dialects share the counts. What is beyond is told so at once, and costs next to nothing.

use crate::handed::Handed;
use futures_util::future::BoxFuture;
use ledger_core::access::Proved;
use ledger_core::error::{Error, Unavailable};
use ledger_core::ids::{BusinessId, UserId};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use uuid::Uuid;

const WINDOW: Duration = Duration::from_mins(1);
/// As many callers as are counted before those are forgotten whose minute is over.
const MANY: usize = 10_000;

/// Where a caller stands in their minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quota {
    pub(crate) limit: u64,
    /// What is left; nothing where this request was one too many.
    pub(crate) left: Option<u64>,
    /// Seconds until the next minute begins.
    pub(crate) resets_in: u64,
}

/// What a server may let a caller take of their minute, which all servers of the same books count together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// So many requests are this server's to give.
    pub granted: u64,
    /// So many more nobody has taken yet.
    pub beyond: u64,
    /// Until the next minute begins.
    pub resets_in: Duration,
}

/// Those who count together.
pub trait Together: Send + Sync {
    /// Takes so many requests of a caller's minute; nothing where nobody can say what is left of it.
    fn take(&self, caller: Uuid, wanted: u64, limit: u64) -> BoxFuture<'_, Option<Share>>;
}

/// What a server has taken of a caller's minute and not given away yet.
#[derive(Debug, Clone, Copy)]
struct Stock {
    until: Instant,
    have: u64,
    beyond: u64,
    /// All that was granted of this minute.
    granted: u64,
}

/// Servers take a minute in so many parts at least: what one of them has not given away, no other can.
const PARTS: u64 = 20;
/// And so many requests at first, then as many again as they took already. What is left over is lost where the books are
/// closed and opened again within the minute, which they may be many times where more tenants are used than may be open.
const FIRST: u64 = 16;

pub struct Quotas {
    /// Requests a minute; any number where it is 0.
    per_minute: AtomicU64,
    callers: Mutex<HashMap<Uuid, (Instant, u64)>>,
    together: Option<Arc<dyn Together>>,
    stocks: Mutex<HashMap<Uuid, Stock>>,
    at_once: Arc<Semaphore>,
    /// As many of them as there are.
    places: usize,
    running: Arc<Mutex<Running>>,
    /// Answers on their way.
    pub(crate) handed: Handed,
}

/// Whose the requests are that run.
#[derive(Default)]
struct Running {
    accounts: HashMap<UserId, usize>,
    companies: HashMap<BusinessId, usize>,
}

/// A place among the requests that run, until it is dropped.
pub(crate) struct Place {
    account: UserId,
    company: Option<BusinessId>,
    running: Arc<Mutex<Running>>,
    _permit: OwnedSemaphorePermit,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        leave(&mut running.accounts, self.account);
        if let Some(company) = self.company {
            leave(&mut running.companies, company);
        }
    }
}

fn leave<K: Eq + Hash>(all: &mut HashMap<K, usize>, one: K) {
    let Some(held) = all.get_mut(&one) else { return };
    *held -= 1;
    if *held == 0 {
        all.remove(&one);
    }
}

impl Quotas {
    pub fn new(per_minute: u64, at_once: usize) -> Self {
        Self {
            per_minute: AtomicU64::new(per_minute),
            callers: Mutex::default(),
            together: None,
            stocks: Mutex::default(),
            at_once: Arc::new(Semaphore::new(at_once.min(Semaphore::MAX_PERMITS))),
            places: at_once,
            running: Arc::default(),
            handed: Handed::of_process(),
        }
    }

    /// Counts together with others.
    #[must_use]
    pub fn together(self, others: Arc<dyn Together>) -> Self {
        Self { together: Some(others), ..self }
    }

    /// From now on so many requests a minute.
    pub fn set_per_minute(&self, per_minute: u64) {
        self.per_minute.store(per_minute, Ordering::Relaxed);
    }

    /// A place among the requests that run: half of them are for others than this account, and a quarter for others than
    /// this company.
    pub(crate) fn enter(&self, who: Proved) -> Result<Place, Error> {
        self.enter_as(who.account(), who.company())
    }

    fn enter_as(&self, account: UserId, company: Option<BusinessId>) -> Result<Place, Error> {
        let permit = self.at_once.clone().try_acquire_owned();
        let permit = permit.map_err(|_| Error::Unavailable(Unavailable::Overloaded))?;
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let of_company = company.and_then(|company| running.companies.get(&company)).copied().unwrap_or_default();
        if of_company >= self.places.saturating_sub(self.places / 4) {
            return Err(Error::Unavailable(Unavailable::Overloaded));
        }
        let of_account = running.accounts.entry(account).or_default();
        if *of_account >= self.places.div_ceil(2) {
            return Err(Error::RateLimited { retry_after_seconds: 1 });
        }
        *of_account += 1;
        if let Some(company) = company {
            *running.companies.entry(company).or_default() += 1;
        }
        Ok(Place { account, company, running: self.running.clone(), _permit: permit })
    }

    /// Whether there is no place at the moment.
    pub(crate) fn are_full(&self) -> bool {
        self.at_once.available_permits() == 0
    }

    /// Counts a request of a caller; nothing where nobody counts.
    pub(crate) async fn take(&self, caller: Uuid) -> Option<Quota> {
        let limit = self.per_minute.load(Ordering::Relaxed);
        if limit == 0 {
            return None;
        }
        Some(match &self.together {
            Some(together) => self.take_together(&**together, caller, limit).await,
            None => self.take_at(caller, limit, Instant::now()),
        })
    }

    async fn take_together(&self, together: &dyn Together, caller: Uuid, limit: u64) -> Quota {
        if let Some(quota) = self.of_stock(caller, limit, Instant::now()) {
            return quota;
        }
        let share = together.take(caller, self.wanted(caller, limit, Instant::now()), limit).await;
        let now = Instant::now();
        // Where nobody can say what is left, each server counts by itself.
        let Some(share) = share else { return self.take_at(caller, limit, now) };
        self.keep(caller, share, now);
        let spent = Quota { limit, left: None, resets_in: whole_seconds(share.resets_in) };
        self.of_stock(caller, limit, now).unwrap_or(spent)
    }

    /// How many requests are to be taken next of a caller's minute.
    fn wanted(&self, caller: Uuid, limit: u64, now: Instant) -> u64 {
        let stocks = self.stocks.lock().unwrap_or_else(PoisonError::into_inner);
        let granted = stocks.get(&caller).filter(|one| now < one.until).map_or(0, |one| one.granted);
        granted.max(FIRST).min((limit / PARTS).max(1))
    }

    /// Puts what was granted to what is there of the same minute.
    fn keep(&self, caller: Uuid, Share { granted, beyond, resets_in }: Share, now: Instant) {
        let mut stocks = self.stocks.lock().unwrap_or_else(PoisonError::into_inner);
        if stocks.len() >= MANY {
            stocks.retain(|_, one| now < one.until);
        }
        let before = stocks.get(&caller).filter(|one| now < one.until);
        let (have, all) = before.map_or((0, 0), |one| (one.have, one.granted));
        let stock = Stock { until: now + resets_in, have: have + granted, beyond, granted: all + granted };
        stocks.insert(caller, stock);
    }

    /// What this server has of the caller's minute; nothing where more may be taken of it.
    fn of_stock(&self, caller: Uuid, limit: u64, now: Instant) -> Option<Quota> {
        let mut stocks = self.stocks.lock().unwrap_or_else(PoisonError::into_inner);
        let stock = stocks.get_mut(&caller).filter(|one| now < one.until)?;
        let resets_in = whole_seconds(stock.until.duration_since(now));
        match stock.have.checked_sub(1) {
            Some(have) => {
                stock.have = have;
                Some(Quota { limit, left: Some(have + stock.beyond), resets_in })
            }
            None => (stock.beyond == 0).then_some(Quota { limit, left: None, resets_in }),
        }
    }

    fn take_at(&self, caller: Uuid, limit: u64, now: Instant) -> Quota {
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        if callers.len() >= MANY && !callers.contains_key(&caller) {
            callers.retain(|_, (began, _)| now.duration_since(*began) < WINDOW);
            if callers.len() >= MANY {
                // So many in one minute: their minutes begin anew.
                callers.clear();
            }
        }
        let (began, taken) = callers.entry(caller).or_insert((now, 0));
        if now.duration_since(*began) >= WINDOW {
            (*began, *taken) = (now, 0);
        }
        *taken += 1;
        let left = WINDOW.saturating_sub(now.duration_since(*began));
        Quota { limit, left: limit.checked_sub(*taken), resets_in: whole_seconds(left) }
    }
}

fn whole_seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One minute that all servers count together.
    struct Minute(Mutex<u64>);

    impl Together for Minute {
        fn take(&self, _: Uuid, wanted: u64, limit: u64) -> BoxFuture<'_, Option<Share>> {
            let mut taken = self.0.lock().unwrap();
            let granted = wanted.min(limit - *taken);
            *taken += granted;
            let share = Share { granted, beyond: limit - *taken, resets_in: WINDOW };
            Box::pin(async move { Some(share) })
        }
    }

    #[tokio::test(start_paused = true)]
    async fn servers_that_count_together_give_no_more_than_one_would() {
        let minute = Arc::new(Minute(Mutex::new(0)));
        let servers: Vec<Quotas> = (0..3).map(|_| Quotas::new(40, 1).together(minute.clone())).collect();
        let caller = Uuid::from_u128(1);
        let mut given = 0;
        for turn in 0..60 {
            let quota = servers[turn % 3].take(caller).await.unwrap();
            given += u64::from(quota.left.is_some());
        }
        assert_eq!(given, 40);
        // The next minute is a new one.
        *minute.0.lock().unwrap() = 0;
        tokio::time::advance(WINDOW).await;
        let quota = servers[0].take(caller).await.unwrap();
        assert_eq!((quota.left, quota.resets_in), (Some(39), 60));
    }

    #[tokio::test(start_paused = true)]
    async fn books_that_are_opened_again_and_again_use_up_no_minute() {
        let (minute, caller) = (Arc::new(Minute(Mutex::new(0))), Uuid::from_u128(1));
        for _ in 0..500 {
            let opened = Quotas::new(30_000, 1).together(minute.clone());
            for _ in 0..3 {
                assert!(opened.take(caller).await.unwrap().left.is_some());
            }
        }
        // And who asks much is seldom asked after.
        let opened = Quotas::new(30_000, 1).together(minute.clone());
        let mut taken = Vec::new();
        for _ in 0..3_000 {
            opened.take(caller).await.unwrap();
            taken.push(*minute.0.lock().unwrap());
        }
        taken.dedup();
        assert_eq!(taken.len(), 9);
    }

    #[test]
    fn each_caller_has_a_minute_of_their_own() {
        let quotas = Quotas::new(2, 1);
        let (one, other, now) = (Uuid::from_u128(1), Uuid::from_u128(2), Instant::now());
        let at = |caller, seconds| {
            let quota = quotas.take_at(caller, 2, now + Duration::from_secs(seconds));
            (quota.left, quota.resets_in)
        };
        assert_eq!(
            [at(one, 0), at(one, 10), at(one, 20), at(other, 20)],
            [(Some(1), 60), (Some(0), 50), (None, 40), (Some(1), 60)]
        );
        assert_eq!([at(one, 59), at(one, 60), at(one, 61)], [(None, 1), (Some(1), 60), (Some(0), 59)]);
    }

    #[tokio::test]
    async fn nobody_counts_where_there_is_no_limit() {
        let quotas = Quotas::new(2, 1);
        quotas.set_per_minute(0);
        assert_eq!(quotas.take(Uuid::from_u128(1)).await, None);
    }

    #[test]
    fn only_so_many_run_at_once() {
        let quotas = Quotas::new(0, 1);
        let enter = || quotas.enter_as(UserId(Uuid::from_u128(1)), None);
        let first = enter();
        assert!(first.is_ok() && quotas.are_full());
        assert!(matches!(enter(), Err(Error::Unavailable(Unavailable::Overloaded))));
        drop(first);
        assert!(!quotas.are_full() && enter().is_ok());
        assert!(quotas.running.lock().unwrap().accounts.is_empty());
    }

    #[test]
    fn neither_an_account_nor_a_company_has_all_that_run() {
        let quotas = Quotas::new(0, 8);
        let (company, other) = (Some(7), Some(8));
        let enter = |account: u128, company: Option<u128>| {
            let company = company.map(|company| BusinessId(Uuid::from_u128(company)));
            quotas.enter_as(UserId(Uuid::from_u128(account)), company)
        };
        let running: Vec<Place> = (0..4).map(|_| enter(1, company).unwrap()).collect();
        // In whatever company, and by whatever key.
        for place in [None, company, other] {
            let refused = enter(1, place).err();
            assert!(matches!(refused, Some(Error::RateLimited { retry_after_seconds: 1 })), "{refused:?}");
        }
        let more: Vec<Place> = (0..2).map(|_| enter(2, company).unwrap()).collect();
        let refused = enter(3, company).err();
        assert!(matches!(refused, Some(Error::Unavailable(Unavailable::Overloaded))), "{refused:?}");
        assert!(enter(3, other).is_ok() && enter(3, None).is_ok());
        drop((running, more));
        assert!(enter(3, company).is_ok());
        let running = quotas.running.lock().unwrap();
        assert!(running.accounts.is_empty() && running.companies.is_empty());
    }
}
