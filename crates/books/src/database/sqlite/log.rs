//! The write-ahead log: it is copied to the file beside the lane, and kept within its budget.
//!
//! Owns: when the log is copied, by whom, and who must give way for it. Refuses: to commit.
//!
//! - A long log is copied on a thread of its own, by a connection of its own, round by round until little is left. Only
//!   that little is copied by the lane, between two transactions, so that the next one begins the log anew.
//! - Whatever reads keeps the log from being begun anew. The longer the log, the younger a read is ended: a question of
//!   its own as well as a snapshot.
//! - At the budget the lane makes room before it goes on: nothing new begins to read, what reads is ended, and the log is
//!   cut. What still holds it then is another program's; that is said, and not tried again before the log has grown by as
//!   much again.

use super::readers::Readers;
use super::{Ending, Fault, claim};
use sqlite_kit::{Checkpoint, Checkpointed, Connection, Opening};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// What a page takes in the log.
const LOG_PAGE: u64 = 4096 + 24;
/// Once so many pages are in the log alone, they are copied to the file.
const LONG: i64 = 1_000;
/// So few are left for the lane.
const FEW: i64 = 64;
/// So many times its budget the log may grow while a copy is made of the books.
const BESIDE_A_COPY: u64 = 8;
/// The disk may be slower than who writes; then more rounds would not help.
const ROUNDS: usize = 4;
/// How long the lane waits for reads that are about to end, where there is no hurry.
const BRIEFLY: Duration = Duration::from_millis(20);
/// How long it waits for who copies the log beside it, at the budget: two cannot, and that one is nearly done.
const FOR_THE_COPIER: Duration = Duration::from_secs(5);
/// How long it waits for reads that were told to end.
const AT_BUDGET: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Log {
    opening: Opening,
    budget: u64,
    /// What reads: whatever keeps the log.
    readers: [Arc<Readers>; 3],
    ending: Ending,
    state: Mutex<State>,
    wake: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// How long the log was when the lane last looked.
    pages: i64,
    /// How many of its pages are in the file as well.
    copied: i64,
    /// The log is not copied again before it has so many pages.
    again_at: i64,
    /// Whether the lane is to copy what is left.
    rest: bool,
    /// Room is not made again before the log takes so many bytes.
    room_at: u64,
    asked: bool,
    thread: Option<JoinHandle<()>>,
    closed: bool,
    /// How many pages were copied by whom; for the tests.
    #[cfg(test)]
    beside: i64,
    #[cfg(test)]
    by_lane: i64,
}

/// What the lane has to do about the log.
#[derive(Debug, PartialEq, Eq)]
enum Due {
    Nothing,
    Copying,
    Rest,
    Room,
}

impl Log {
    pub(super) fn of(opening: Opening, budget: u64, readers: [Arc<Readers>; 3], ending: Ending) -> Arc<Self> {
        let state = Mutex::new(State { again_at: LONG, room_at: budget, ..State::default() });
        Arc::new(Self { opening, budget, readers, ending, state, wake: Condvar::new() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the log between two transactions of the lane, whose connection this is.
    pub(super) fn look(self: &Arc<Self>, connection: &Connection) -> Result<(), Fault> {
        let Some(pages) = connection.log_pages() else { return Ok(()) };
        match self.due(i64::from(pages)) {
            Due::Nothing => Ok(()),
            Due::Copying if self.ask() => Ok(()),
            // Nobody else can do it.
            Due::Copying | Due::Rest => self.copy_rest(connection),
            Due::Room => self.make_room(connection),
        }
    }

    fn due(&self, pages: i64) -> Due {
        let mut state = self.state();
        if pages < state.pages {
            // It was begun anew.
            (state.copied, state.again_at, state.room_at, state.rest) = (0, LONG, self.budget, false);
        }
        state.pages = pages;
        if bytes_of(pages) >= state.room_at {
            Due::Room
        } else if state.asked {
            Due::Nothing
        } else if std::mem::take(&mut state.rest) {
            Due::Rest
        } else if pages >= state.again_at {
            Due::Copying
        } else {
            Due::Nothing
        }
    }

    // ── Beside the lane ──

    /// Has the log copied. Whether there is somebody to do it, is answered.
    fn ask(self: &Arc<Self>) -> bool {
        let mut state = self.state();
        if state.closed {
            return false;
        }
        if state.thread.as_ref().is_none_or(JoinHandle::is_finished) {
            let log = self.clone();
            match supervise::keep_thread("log", move || log.work()) {
                Ok(thread) => state.thread = Some(thread),
                Err(error) => {
                    tracing::warn!(%error, "no thread to copy the log with; the lane does it");
                    return false;
                }
            }
        }
        state.asked = true;
        drop(state);
        self.wake.notify_all();
        true
    }

    fn work(&self) {
        let mut connection = None;
        loop {
            {
                let state = self.state();
                let wanted = |state: &mut State| !state.asked && !state.closed;
                let state = self.wake.wait_while(state, wanted).unwrap_or_else(PoisonError::into_inner);
                if state.closed {
                    return;
                }
            }
            let copied = self.copy(&mut connection);
            if let Err(fault) = &copied {
                self.judge(fault);
                // All of it is in the log, and stays there.
                tracing::error!(%fault, "the log could not be copied to the file");
                connection = None;
            }
            let mut state = self.state();
            state.asked = false;
            state.rest = copied.is_ok_and(|whole| whole);
            state.again_at = state.pages + LONG;
            drop(state);
            self.wake.notify_all();
        }
    }

    /// Copies the log until little is left. Whether nothing keeps the rest from being copied, is answered.
    fn copy(&self, connection: &mut Option<Connection>) -> Result<bool, Fault> {
        let connection = match connection {
            Some(connection) => connection,
            None => connection.insert(Connection::open(&self.opening)?),
        };
        for _ in 0..ROUNDS {
            let done = connection.checkpoint(Checkpoint::Beside)?;
            if done.kept_from {
                return Ok(false);
            }
            let mut state = self.state();
            let fresh = done.copied - state.copied;
            state.copied = done.copied;
            #[cfg(test)]
            {
                state.beside += fresh;
            }
            drop(state);
            if done.copied < done.pages {
                // A read sees the books as they were before.
                self.relieve(done.pages);
                return Ok(false);
            }
            if fresh < FEW {
                break;
            }
        }
        Ok(true)
    }

    /// A log of so many pages could not be taken into the file as a whole: reads are open that still need it. Those end
    /// that were begun long ago, the sooner the less room there is.
    fn relieve(&self, pages: i64) {
        if self.is_copied(pages) {
            return;
        }
        // What was in vain once ends nobody's read again before the log has grown by its budget once more.
        let in_vain = self.state().room_at.abs_diff(self.budget);
        let quarters = bytes_of(pages).saturating_sub(in_vain).saturating_mul(4) / self.budget.max(1);
        let age = match quarters {
            0 | 1 => return,
            2 => Duration::from_secs(5),
            _ => Duration::from_secs(1),
        };
        self.end_reads(age, pages);
    }

    fn end_reads(&self, age: Duration, pages: i64) {
        let ended: usize = self.readers.iter().map(|readers| readers.end_older(age)).sum();
        if ended > 0 {
            let megabytes = bytes_of(pages) >> 20;
            tracing::warn!(ended, megabytes, "reads were ended beside which the log had grown too long");
        }
    }

    // ── By the lane ──

    fn copy_rest(&self, connection: &Connection) -> Result<(), Fault> {
        let done = connection.checkpoint(Checkpoint::Anew(BRIEFLY))?;
        let mut state = self.state();
        #[cfg(test)]
        {
            state.by_lane += done.copied - state.copied;
        }
        state.copied = done.copied;
        state.again_at = state.pages + LONG;
        drop(state);
        if !done.is_whole() {
            self.relieve(done.pages);
        }
        Ok(())
    }

    fn make_room(&self, connection: &Connection) -> Result<(), Fault> {
        let copying = self.wake.wait_timeout_while(self.state(), FOR_THE_COPIER, |state| state.asked);
        let pages = copying.unwrap_or_else(PoisonError::into_inner).0.pages;
        if self.is_copied(pages) {
            self.state().room_at = bytes_of(pages) + self.budget;
            let megabytes = bytes_of(pages) >> 20;
            tracing::info!(
                code = "log_copied",
                megabytes,
                "the log grows beyond its budget while a copy is made of the books"
            );
            return Ok(());
        }
        let held: Vec<_> = self.readers.iter().map(Readers::hold).collect();
        self.end_reads(Duration::ZERO, pages);
        for readers in &self.readers {
            readers.wait_until_quiet(AT_BUDGET);
        }
        let done = connection.checkpoint(Checkpoint::Cut(AT_BUDGET));
        drop(held);
        let whole = done.as_ref().is_ok_and(Checkpointed::is_whole);
        // What was in vain, or failed, is not done again with each batch.
        self.state().room_at = if whole { self.budget } else { bytes_of(pages) + self.budget };
        let done = done?;
        self.state().copied = done.copied;
        if !whole {
            let megabytes = bytes_of(pages) >> 20;
            tracing::warn!(
                code = "log_held",
                megabytes,
                "the log is beyond its budget and another program reads from it; it grows until that one ends"
            );
        }
        Ok(())
    }

    /// Whether a copy is made of the books, which needs the log as it was: to end reads would be in vain, and to wait for it
    /// would keep all who write. It has its bounds.
    fn is_copied(&self, pages: i64) -> bool {
        bytes_of(pages) < self.budget.saturating_mul(BESIDE_A_COPY) && claim::is_copied(&self.opening.path)
    }

    fn judge(&self, fault: &Fault) {
        if fault.is_failed_sync() {
            (self.ending)(&format!("the disk did not take what was written: {fault}"));
        }
    }

    /// Waits for what is being copied, and copies nothing more.
    pub(super) async fn close(&self) {
        let thread = {
            let mut state = self.state();
            state.closed = true;
            state.thread.take()
        };
        self.wake.notify_all();
        if let Some(thread) = thread {
            let _ended = tokio::task::spawn_blocking(move || thread.join()).await;
        }
    }

    /// Waits until nothing is being copied. How many pages were copied beside the lane, and how many by it.
    #[cfg(test)]
    pub(super) fn settled(&self) -> (i64, i64) {
        let state = self.wake.wait_while(self.state(), |state| state.asked).unwrap();
        (state.beside, state.by_lane)
    }
}

fn bytes_of(pages: i64) -> u64 {
    u64::try_from(pages).unwrap_or(0).saturating_mul(LOG_PAGE)
}
