//! Asks the other side what passed by, one question after the other, at most so many a second.

use crate::edge::passing::Seen;
use compare::shadow::{Next, NotAsked, Shadow};
use ledger_core::clock::Clock;
use serde_json::Value;
use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

/// So many wait to be asked.
const MOST_WAITING: usize = 1024;
/// So many that differ wait until the books rest.
const MOST_LATER: usize = 256;
/// So often one of them is asked.
const MOST_TIMES: u8 = 10;
/// How long the books are left alone that do not rest.
const REST: Duration = Duration::from_millis(50);

/// What waits to be asked: so many of what may be left out, and all else.
pub(super) struct Queue {
    receive: mpsc::UnboundedReceiver<Arc<Seen>>,
    waiting: Arc<AtomicUsize>,
}

#[derive(Clone)]
pub(super) struct ToQueue {
    send: mpsc::UnboundedSender<Arc<Seen>>,
    waiting: Arc<AtomicUsize>,
}

pub(super) fn queue() -> (ToQueue, Queue) {
    let (send, receive) = mpsc::unbounded_channel();
    let waiting = Arc::<AtomicUsize>::default();
    (ToQueue { send, waiting: waiting.clone() }, Queue { receive, waiting })
}

impl ToQueue {
    /// Whether there was room for it.
    pub(super) fn takes(&self, seen: Arc<Seen>, may_be_left_out: bool) -> bool {
        if may_be_left_out && self.waiting.load(Ordering::SeqCst) >= MOST_WAITING {
            return false;
        }
        self.waiting.fetch_add(1, Ordering::SeqCst);
        self.send.send(seen).is_ok()
    }
}

impl Queue {
    fn next_now(&mut self) -> Option<Arc<Seen>> {
        let seen = self.receive.try_recv().ok()?;
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        Some(seen)
    }

    async fn next(&mut self) -> Option<Arc<Seen>> {
        let seen = self.receive.recv().await?;
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        Some(seen)
    }

    fn is_empty(&self) -> bool {
        self.receive.is_empty()
    }
}

/// What stands for what on a copy, as far as it is known.
pub(super) type Known = Arc<Mutex<Value>>;

pub(super) struct Asking {
    pub(super) shadow: Shadow,
    pub(super) queue: Queue,
    /// How many requests that may write are on their way.
    pub(super) writing: Arc<AtomicUsize>,
    pub(super) rate: Rate,
    pub(super) stopped: watch::Receiver<bool>,
    pub(super) known: Known,
    later: VecDeque<(Arc<Seen>, u8)>,
    clock: Clock,
}

impl Asking {
    pub(super) fn new(
        shadow: Shadow,
        queue: Queue,
        writing: Arc<AtomicUsize>,
        rate: NonZeroU32,
        stopped: watch::Receiver<bool>,
        known: Known,
    ) -> Self {
        let (later, clock) = (VecDeque::new(), Clock::system());
        Self { shadow, queue, writing, rate: Rate::of(rate), stopped, known, later, clock }
    }

    /// Asks until it is told to stop, and then what waits already.
    pub(super) async fn run(&mut self) {
        loop {
            if let Some(seen) = self.queue.next_now() {
                self.ask(seen, 0).await;
                continue;
            }
            if let Some((seen, times)) = self.later.pop_front() {
                if self.writing.load(Ordering::SeqCst) > 0 {
                    tokio::time::sleep(REST).await;
                }
                self.ask(seen, times).await;
                continue;
            }
            if *self.stopped.borrow() {
                return;
            }
            tokio::select! {
                seen = self.queue.next() => match seen {
                    Some(seen) => self.ask(seen, 0).await,
                    None => return,
                },
                _ = self.stopped.changed() => {}
            }
        }
    }

    async fn ask(&mut self, seen: Arc<Seen>, times: u8) {
        let question = match self.shadow.judge(&seen.passed) {
            Ok(question) => question,
            Err(why) => return self.shadow.passes_over(&seen.passed, why),
        };
        let writes = question.writes;
        // A write that is left out would set the copy apart.
        if !writes && times == 0 && !self.rate.takes_one(Instant::now()) {
            return self.shadow.passes_over(&seen.passed, NotAsked::OverTheRate);
        }
        let now = self.clock.now().to_string();
        let before = self.shadow.pair().questions();
        let (queue, writing) = (&self.queue, &self.writing);
        let rests = || queue.is_empty() && writing.load(Ordering::SeqCst) == 0;
        let next = self.shadow.ask(&seen.passed, question, &now, &rests).await;
        let asked = self.shadow.pair().questions() - before;
        self.rate.owes(asked.saturating_sub(usize::from(times == 0 && !writes)));
        if writes {
            *self.known.lock().unwrap_or_else(PoisonError::into_inner) = self.shadow.pair().known();
        }
        if next == Next::Later {
            if times < MOST_TIMES && self.later.len() < MOST_LATER {
                self.later.push_back((seen, times + 1));
            } else {
                self.shadow.passes_over(&seen.passed, NotAsked::NeverAtRest);
            }
        }
    }
}

/// How much one question is, in what a second gives.
const ONE: u64 = 1_000_000;

/// At most so many a second, and no more than a second's worth at once.
pub(super) struct Rate {
    a_second: u64,
    left: u64,
    owed: u64,
    since: Option<Instant>,
}

impl Rate {
    fn of(rate: NonZeroU32) -> Self {
        let a_second = u64::from(rate.get()) * ONE;
        Self { a_second, left: a_second, owed: 0, since: None }
    }

    fn takes_one(&mut self, now: Instant) -> bool {
        if let Some(since) = self.since.replace(now) {
            let micros = u64::try_from((now - since).as_micros()).unwrap_or(u64::MAX);
            let mut earned = self.a_second.saturating_mul(micros) / ONE;
            let paid = earned.min(self.owed);
            self.owed -= paid;
            earned -= paid;
            self.left = self.left.saturating_add(earned).min(self.a_second);
        }
        if self.left < ONE {
            return false;
        }
        self.left -= ONE;
        true
    }

    /// So many more were asked than were taken.
    fn owes(&mut self, more: usize) {
        let more = (more as u64).saturating_mul(ONE);
        let paid = more.min(self.left);
        self.left -= paid;
        self.owed = self.owed.saturating_add(more - paid);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_gives_so_many_and_what_was_asked_beyond_is_paid_first() {
        let mut rate = Rate::of(NonZeroU32::new(5).unwrap());
        let begun = Instant::now();
        let at = |millis: u64| begun + Duration::from_millis(millis);
        let taken = |rate: &mut Rate, millis: u64| (0..20).filter(|_| rate.takes_one(at(millis))).count();
        assert_eq!((taken(&mut rate, 0), taken(&mut rate, 100), taken(&mut rate, 200)), (5, 0, 1));
        assert_eq!(taken(&mut rate, 60_000), 5, "no more than a second's worth");
        rate.owes(4);
        assert_eq!((taken(&mut rate, 60_600), taken(&mut rate, 61_000)), (0, 1));
    }
}
