//! What waits for a write lane: companies take turns there, and in each of them its callers, by what their writes cost.
//!
//! What the server writes for itself, such as what a log-in leaves, goes before all that is asked for. Owns: who is next.
//! Refuses: to know what is written.

use crate::fair::{Bounds, Micros, Queue, Who};
use crate::ids::BusinessId;
use crate::watch::watch;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio::time::Instant;
use uuid::Uuid;

pub(super) struct Line<T> {
    inner: Mutex<Inner<T>>,
    came: Notify,
    opened: Instant,
}

struct Inner<T> {
    own: VecDeque<T>,
    asked: Queue<Option<BusinessId>, Uuid, T>,
    /// As many of our own as may wait.
    most: usize,
    closed: bool,
}

/// Why something cannot wait.
pub(super) enum Refused<T> {
    Full,
    /// The lane has ended; there may be another.
    Closed(T),
}

/// That it was somebody's turn, until it is given back.
#[derive(Debug)]
pub(super) struct Turn {
    of: Option<Who>,
    since: Micros,
}

impl<T> Line<T> {
    /// Of a lane of one company, or of one that all share: there one company leaves room for others, and one caller does in
    /// both.
    pub(super) fn new(most: usize, is_shared: bool) -> Self {
        let of_company = if is_shared { (most - most / 4).max(1) } else { most };
        let bounds = Bounds {
            places: usize::MAX,
            of_company: usize::MAX,
            waiting: most,
            waiting_of_company: of_company,
            waiting_of_caller: of_company.div_ceil(2),
        };
        let inner = Inner { own: VecDeque::new(), asked: Queue::new(bounds), most, closed: false };
        Self { inner: Mutex::new(inner), came: Notify::new(), opened: Instant::now() }
    }

    fn lock(&self) -> MutexGuard<'_, Inner<T>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Micros {
        Micros::try_from(self.opened.elapsed().as_micros()).unwrap_or(Micros::MAX)
    }

    /// Lines up; what is nobody's is our own.
    pub(super) fn push(&self, of: Option<Who>, one: T) -> Result<(), Refused<T>> {
        let mut inner = self.lock();
        if inner.closed {
            return Err(Refused::Closed(one));
        }
        match of {
            None if inner.own.len() >= inner.most => return Err(Refused::Full),
            None => inner.own.push_back(one),
            Some(who) => drop(inner.asked.wait(self.now(), who.names(), one).map_err(|_| Refused::Full)?),
        }
        drop(inner);
        watch().inspect(|watch| watch.waiting(1));
        self.came.notify_one();
        Ok(())
    }

    /// What is next.
    pub(super) fn take(&self) -> Option<(T, Turn)> {
        let mut inner = self.lock();
        let since = self.now();
        let (one, of) = if let Some(one) = inner.own.pop_front() {
            (one, None)
        } else {
            let ((company, caller), one) = inner.asked.next(since)?;
            (one, Some(Who { company, caller }))
        };
        drop(inner);
        watch().inspect(|watch| watch.waiting(-1));
        Some((one, Turn { of, since }))
    }

    /// What it took is its caller's, and its company's.
    pub(super) fn give_back(&self, turn: Turn) {
        if let Some(who) = turn.of {
            self.lock().asked.give_back(self.now(), who.names(), turn.since);
        }
    }

    /// Whether there is something.
    pub(super) fn is_awaited(&self) -> bool {
        let inner = self.lock();
        !inner.own.is_empty() || inner.asked.is_awaited()
    }

    /// Waits until there is something; not once it is closed.
    pub(super) async fn wait(&self) -> bool {
        loop {
            let came = self.came.notified();
            {
                let inner = self.lock();
                if !inner.own.is_empty() || inner.asked.is_awaited() {
                    return true;
                }
                if inner.closed {
                    return false;
                }
            }
            came.await;
        }
    }

    /// Of our own.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.lock().own.len()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Takes nothing more; what waits is still done.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.came.notify_one();
    }
}

/// The line of a lane that runs: where the lane ends, however that is, nobody waits for it for ever.
pub(super) struct Served<'l, T>(pub(super) &'l Line<T>);

impl<T> Drop for Served<'_, T> {
    fn drop(&mut self) {
        self.0.close();
        while let Some((one, turn)) = self.0.take() {
            drop(one);
            self.0.give_back(turn);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[expect(clippy::unnecessary_wraps, reason = "a line is told of it, or of nobody")]
    fn who(company: u128, caller: u128) -> Option<Who> {
        Some(Who { company: Some(BusinessId(Uuid::from_u128(company))), caller: Uuid::from_u128(caller) })
    }

    /// Those who are served, each for as long as it says.
    async fn served(line: &Line<(u8, u64)>, most: usize) -> Vec<u8> {
        let mut order = Vec::new();
        while order.len() < most {
            let Some(((name, cost), turn)) = line.take() else { break };
            tokio::time::advance(Duration::from_millis(cost)).await;
            line.give_back(turn);
            order.push(name);
        }
        order
    }

    #[tokio::test(start_paused = true)]
    async fn companies_take_turns_by_what_their_writes_cost_and_our_own_goes_first() {
        let line = Line::new(64, true);
        for _ in 0..8 {
            assert!(line.push(who(1, 1), (1, 2_000)).is_ok());
        }
        for _ in 0..4 {
            assert!(line.push(who(2, 1), (2, 1)).is_ok());
            assert!(line.push(who(1, 2), (3, 1)).is_ok());
        }
        assert!(line.push(None, (9, 1)).is_ok());
        // One dear write of a company, and then all cheap ones of the other; of the first one's callers the cheap one.
        assert_eq!(served(&line, 12).await, [9, 1, 2, 2, 2, 2, 3, 3, 3, 3, 1, 1]);
    }

    #[tokio::test]
    async fn one_caller_and_one_company_leave_room_for_others() {
        let line = Line::new(8, true);
        let taken = |of: Option<Who>| (0..20).filter(|_| line.push(of, (0, 0)).is_ok()).count();
        assert_eq!([taken(who(1, 1)), taken(who(1, 2)), taken(who(2, 1)), taken(None)], [3, 3, 2, 8]);
        assert!(matches!(line.push(who(3, 1), (0, 0)), Err(Refused::Full)));
    }

    #[tokio::test]
    async fn what_waits_is_done_after_it_is_closed_and_let_go_where_its_lane_breaks_down() {
        let line = Line::new(8, false);
        assert!(line.push(who(1, 1), 1).is_ok() && line.push(None, 2).is_ok());
        line.close();
        assert!(matches!(line.push(None, 3), Err(Refused::Closed(3))));
        assert!(line.wait().await && line.take().is_some() && line.wait().await);
        drop(Served(&line));
        assert!(!line.wait().await);
    }
}
