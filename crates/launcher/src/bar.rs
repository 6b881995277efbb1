//! How far something long has got, for a person at a terminal.

use std::io::{IsTerminal, Write, stderr};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// As many places as it has.
const WIDTH: usize = 40;
/// Nobody reads faster.
const BEAT: Duration = Duration::from_millis(200);

/// Shown until it is dropped.
pub(crate) struct Bar {
    ended: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

fn line(percent: usize) -> String {
    let full = percent * WIDTH / 100;
    let places: String = (0..WIDTH).map(|place| if place < full { '#' } else { '.' }).collect();
    format!("[{places}] {percent:>3} %")
}

fn write(text: &str) {
    // Who does not look misses nothing.
    let _closed = write!(stderr(), "{text}").and_then(|()| stderr().flush());
}

/// Shows how far it has got, where a terminal shows what goes wrong.
pub(crate) fn show(percent: impl Fn() -> usize + Send + 'static) -> Option<Bar> {
    if !stderr().is_terminal() {
        return None;
    }
    let ended = Arc::new((Mutex::new(false), Condvar::new()));
    let until = ended.clone();
    let thread = supervise::thread("progress", move || {
        let (over, wake) = &*until;
        let mut over = over.lock().unwrap_or_else(PoisonError::into_inner);
        while !*over {
            write(&format!("\r{}", line(percent())));
            over = wake.wait_timeout(over, BEAT).unwrap_or_else(PoisonError::into_inner).0;
        }
        // What is said next begins where it stood.
        write(&format!("\r{}\r", " ".repeat(line(0).len())));
    });
    Some(Bar { ended, thread: thread.ok() })
}

impl Drop for Bar {
    fn drop(&mut self) {
        *self.ended.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.ended.1.notify_all();
        if let Some(thread) = self.thread.take() {
            let _shown = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_full_as_it_says_and_always_as_wide() {
        for (percent, full) in [(0, 0), (25, 10), (99, 39), (100, 40)] {
            let line = line(percent);
            assert_eq!((line.matches('#').count(), line.len()), (full, super::line(0).len()), "{line}");
        }
    }
}
