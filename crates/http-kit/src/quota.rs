//! How much one caller may ask of the server: so many requests a minute, and so many at once of all together.
//!
//! Both dialects share the counts. What is beyond is told so at once, and costs next to nothing.

use std::collections::HashMap;
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

pub struct Quotas {
    /// Requests a minute; any number where it is 0.
    per_minute: AtomicU64,
    callers: Mutex<HashMap<Uuid, (Instant, u64)>>,
    at_once: Arc<Semaphore>,
}

impl Quotas {
    pub fn new(per_minute: u64, at_once: usize) -> Self {
        Self {
            per_minute: AtomicU64::new(per_minute),
            callers: Mutex::default(),
            at_once: Arc::new(Semaphore::new(at_once.min(Semaphore::MAX_PERMITS))),
        }
    }

    /// From now on so many requests a minute.
    pub fn set_per_minute(&self, per_minute: u64) {
        self.per_minute.store(per_minute, Ordering::Relaxed);
    }

    /// A place among the requests that run; none where they are too many.
    pub(crate) fn enter(&self) -> Option<OwnedSemaphorePermit> {
        self.at_once.clone().try_acquire_owned().ok()
    }

    /// Whether there is no place at the moment.
    pub(crate) fn are_full(&self) -> bool {
        self.at_once.available_permits() == 0
    }

    /// Counts a request of a caller; nothing where nobody counts.
    pub(crate) fn take(&self, caller: Uuid) -> Option<Quota> {
        let limit = self.per_minute.load(Ordering::Relaxed);
        (limit > 0).then(|| self.take_at(caller, limit, Instant::now()))
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
        Quota { limit, left: limit.checked_sub(*taken), resets_in: left.as_secs() + u64::from(left.subsec_nanos() > 0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        quotas.set_per_minute(0);
        assert_eq!(quotas.take(one), None);
    }

    #[test]
    fn only_so_many_run_at_once() {
        let quotas = Quotas::new(0, 1);
        let first = quotas.enter();
        assert!(first.is_some() && quotas.are_full() && quotas.enter().is_none());
        drop(first);
        assert!(!quotas.are_full() && quotas.enter().is_some());
    }
}
