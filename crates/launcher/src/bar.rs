//! How far something long has got, for a person at a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Nobody reads faster.
const BEAT: Duration = Duration::from_millis(200);
/// How far, and how long it will take at this rate.
const LINE: &str = "[{bar:40.green}] {percent:>3} %  {eta}";

/// Shown until it is dropped.
pub(crate) struct Bar {
    ended: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

fn line() -> ProgressStyle {
    ProgressStyle::with_template(LINE)
        .map_or_else(|_| ProgressStyle::default_bar(), |style| style.progress_chars("#>."))
}

/// Shows how far it has got, where a terminal shows what goes wrong.
pub(crate) fn show(percent: impl Fn() -> usize + Send + 'static) -> Option<Bar> {
    if !stderr().is_terminal() {
        return None;
    }
    let ended = Arc::new((Mutex::new(false), Condvar::new()));
    let until = ended.clone();
    let thread = supervise::thread("progress", move || {
        let bar = ProgressBar::with_draw_target(Some(100), ProgressDrawTarget::stderr()).with_style(line());
        let (over, wake) = &*until;
        let mut over = over.lock().unwrap_or_else(PoisonError::into_inner);
        while !*over {
            bar.set_position(u64::try_from(percent()).unwrap_or(u64::MAX));
            over = wake.wait_timeout(over, BEAT).unwrap_or_else(PoisonError::into_inner).0;
        }
        // What is said next begins where it stood.
        bar.finish_and_clear();
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
    fn the_line_is_one_that_can_be_drawn() {
        assert!(ProgressStyle::with_template(LINE).is_ok());
        let shown = indicatif::InMemoryTerm::new(5, 80);
        let bar = ProgressBar::with_draw_target(Some(100), ProgressDrawTarget::term_like(Box::new(shown.clone())));
        bar.set_style(line());
        for (percent, full) in [(0, 0), (25, 10), (99, 39)] {
            bar.set_position(percent);
            bar.tick();
            let line = shown.contents();
            assert_eq!(line.matches('#').count(), full, "{line}");
            assert!(line.contains(&format!("] {percent:>3} %")), "{line}");
        }
    }
}
