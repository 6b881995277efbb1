//! How long a client may keep us waiting.
//!
//! One measure for silence and for slowness: a client has so much patience to use up, and every byte that moves earns some
//! of it back, never more than there was. Who is silent uses it up at once, who drips uses it up by and by, and who is as
//! fast as the slowest rate goes on for ever.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep};

/// How slow a client may be in one direction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// The longest silence.
    pub(crate) idle: Duration,
    /// Bytes a second.
    pub(crate) slowest: usize,
}

impl Pace {
    fn earned(self, bytes: usize) -> Duration {
        let nanos = (bytes as u128) * 1_000_000_000 / (self.slowest.max(1) as u128);
        u64::try_from(nanos).map_or(self.idle, Duration::from_nanos).min(self.idle)
    }

    fn after(self, left: Duration, waited: Duration, bytes: usize) -> Duration {
        (left.saturating_sub(waited) + self.earned(bytes)).min(self.idle)
    }
}

/// A wait for a client, with what is left of our patience.
pub(super) struct Wait {
    pace: Pace,
    left: Duration,
    since: Option<Instant>,
    /// Only there while somebody waits: most never do.
    timer: Option<Pin<Box<Sleep>>>,
}

impl Wait {
    pub(super) fn new(pace: Pace) -> Self {
        Self { pace, left: pace.idle, since: None, timer: None }
    }

    /// All patience is there again.
    pub(super) fn begin_anew(&mut self) {
        *self = Self::new(self.pace);
    }

    /// Nothing moves at the moment. Ready when that has gone on for too long.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let since = *self.since.get_or_insert_with(Instant::now);
        let left = self.left;
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(since + left)));
        timer.as_mut().poll(context)
    }

    /// So many bytes moved.
    pub(super) fn moved(&mut self, bytes: usize) {
        let waited = self.since.take().map_or(Duration::ZERO, |since| since.elapsed());
        self.left = self.pace.after(self.left, waited, bytes);
        self.timer = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACE: Pace = Pace { idle: Duration::from_secs(10), slowest: 1000 };

    /// What is left after waits in seconds that each ended with so many bytes.
    fn left(waits: &[(u64, usize)]) -> u128 {
        let after = |left, &(seconds, bytes): &(u64, usize)| PACE.after(left, Duration::from_secs(seconds), bytes);
        waits.iter().fold(PACE.idle, after).as_millis()
    }

    #[test]
    fn silence_uses_patience_up_and_bytes_earn_it_back() {
        assert_eq!(left(&[(10, 0)]), 0);
        assert_eq!(left(&[(4, 1000)]), 7000);
        assert_eq!(left(&[(4, 1_000_000)]), 10_000, "never more than there was");
    }

    #[test]
    fn who_drips_is_given_up_and_who_keeps_the_slowest_rate_is_not() {
        assert_eq!(left(&[(1, 1); 10]), 9, "nine thousandths of a second, for nine bytes");
        assert_eq!(left(&[(1, 1000); 100]), 10_000);
        assert_eq!(left(&[(1, 900); 100]), 900, "a tenth too slow lasts ten times as long");
        assert_eq!(PACE.earned(usize::MAX), PACE.idle);
    }
}
