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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn what_there_is_no_room_for_is_dropped_and_counted_and_of_security_last() {
        let mut waiting = Waiting::default();
        for number in 0..MOST_LINES + 7 {
            waiting.add(format!("{number}\n").as_bytes(), false);
        }
        assert_eq!((waiting.lines.len(), waiting.dropped), (MOST_LINES, 7));
        for _ in 0..MOST_LINES + 3 {
            waiting.add(b"somebody logged in\n", true);
        }
        assert_eq!((waiting.lines.len(), waiting.dropped, waiting.dropped_of_security), (MOST_LINES * 2, 10, 3));
        assert_eq!(waiting.next().as_deref(), Some(&b"0\n"[..]), "the first is first");
        let mut heavy = Waiting::default();
        for _ in 0..5 {
            heavy.add(&vec![b'x'; 1 << 20], false);
        }
        assert_eq!((heavy.lines.len(), heavy.bytes, heavy.dropped), (4, MOST_BYTES, 1));
        while heavy.next().is_some() {}
        assert_eq!(heavy.bytes, 0);
    }

    /// Takes a line when it is let.
    struct Slow(mpsc::Receiver<()>, mpsc::Sender<Vec<u8>>);

    impl Write for Slow {
        fn write(&mut self, line: &[u8]) -> io::Result<usize> {
            self.0.recv().map_err(io::Error::other)?;
            self.1.send(line.to_vec()).map_err(io::Error::other)?;
            Ok(line.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn nobody_waits_for_whoever_does_not_read_and_the_end_waits_for_whoever_does() {
        let ((let_go, may_go), (taken, seen)) = (mpsc::channel(), mpsc::channel());
        let slow = Mutex::new(Some(Slow(may_go, taken)));
        let out = move || slow.lock().unwrap_or_else(PoisonError::into_inner).take().into_iter().next();
        let lines = Lines::written_to(move || Optional(out())).unwrap();
        for number in 0..100 {
            lines.make_writer().write_all(format!("{number}").as_bytes()).unwrap();
        }
        // Nothing was taken, and here we are. It ends also where nobody reads.
        lines.finish(Duration::ZERO);
        assert!(seen.try_recv().is_err());
        (0..100).for_each(|_| let_go.send(()).unwrap());
        let first: Vec<Vec<u8>> = seen.iter().take(100).collect();
        assert_eq!((first.len(), &first[99][..]), (100, &b"99"[..]));
        lines.finish(Duration::from_mins(1));
        assert!(lines.0.lock().lines.is_empty());
    }

    struct Optional(Option<Slow>);

    impl Write for Optional {
        fn write(&mut self, line: &[u8]) -> io::Result<usize> {
            self.0.as_mut().map_or(Ok(line.len()), |slow| slow.write(line))
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
}
