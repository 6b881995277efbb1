//! Lines of the log on their way to standard error.
//!
//! Whoever reads the log may stop reading, and nobody who is served waits for them: lines wait in a bounded queue, and one
//! thread writes them. What there is no room for is dropped and counted, and told once there is room again; of security
//! last. Owns: that a request never waits for the log.

use crate::logging::is_of_security;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tracing::Metadata;
use tracing_subscriber::fmt::MakeWriter;

/// As many lines as wait, and as much as they weigh. What is about security has as much room again.
const MOST_LINES: usize = 4_096;
const MOST_BYTES: usize = 4 << 20;

/// What waits to be written.
#[derive(Default)]
struct Waiting {
    lines: VecDeque<Vec<u8>>,
    bytes: usize,
    /// Whether a line is being written.
    writing: bool,
    dropped: u64,
    /// Of those, what was about security.
    dropped_of_security: u64,
}

impl Waiting {
    fn add(&mut self, line: &[u8], is_of_security: bool) {
        let room = if is_of_security { 2 } else { 1 };
        if self.lines.len() >= MOST_LINES * room || self.bytes + line.len() > MOST_BYTES * room {
            self.dropped += 1;
            self.dropped_of_security += u64::from(is_of_security);
            return;
        }
        self.bytes += line.len();
        self.lines.push_back(line.to_vec());
    }

    fn next(&mut self) -> Option<Vec<u8>> {
        let line = self.lines.pop_front()?;
        self.bytes -= line.len();
        Some(line)
    }
}

#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where lines are left to be written.
#[derive(Clone, Default)]
pub(crate) struct Lines(Arc<Queue>);

impl Lines {
    /// Begins to write. `out` may take its time over it.
    pub(crate) fn written_to<W: Write>(out: impl Fn() -> W + Send + 'static) -> io::Result<Self> {
        let lines = Self::default();
        let taken = lines.clone();
        let _goes_on = supervise::keep_thread("what writes the log", move || taken.write(out()))?;
        Ok(lines)
    }

    fn write(&self, mut out: impl Write) {
        loop {
            let mut waiting = self.0.lock();
            waiting.writing = false;
            self.0.changed.notify_all();
            let (line, dropped) = loop {
                if let Some(line) = waiting.next() {
                    let dropped = (waiting.dropped, waiting.dropped_of_security);
                    (waiting.dropped, waiting.dropped_of_security) = (0, 0);
                    break (line, dropped);
                }
                waiting = self.0.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
            };
            waiting.writing = true;
            drop(waiting);
            // Where it cannot be written there is nobody to tell.
            let _nobody_reads = out.write_all(&line);
            if dropped.0 > 0 {
                let (lines, of_security) = dropped;
                tracing::warn!(code = "log_dropped", lines, of_security, "nobody took the log; so many lines are lost");
            }
        }
    }

    /// Waits until all is written, but not for longer than that.
    pub(crate) fn finish(&self, patience: Duration) {
        let waiting = self.0.lock();
        let busy = |waiting: &mut Waiting| waiting.writing || !waiting.lines.is_empty();
        drop(self.0.changed.wait_timeout_while(waiting, patience, busy));
    }
}

/// One line.
pub(crate) struct Line<'l> {
    lines: &'l Lines,
    is_of_security: bool,
}

impl Write for Line<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.lines.0.lock().add(line, self.is_of_security);
        self.lines.0.changed.notify_all();
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'l> MakeWriter<'l> for Lines {
    type Writer = Line<'l>;

    fn make_writer(&'l self) -> Line<'l> {
        Line { lines: self, is_of_security: false }
    }

    fn make_writer_for(&'l self, metadata: &Metadata<'_>) -> Line<'l> {
        Line { lines: self, is_of_security: is_of_security(metadata) }
    }
}
