//! Wrong API keys, counted by network in memory, so that whoever tries many asks no database.
//!
//! A key that is remembered is never counted, nor is one that was good before on this process: programs go on beside
//! whoever guesses from the same network. A wrong key counts once, however often a program repeats it: that is no guess. A key
//! that was never seen waits until the network's minute is over.

use crate::clock::Instant;
use crate::error::{Error, Result};
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

const WINDOW: Duration = Duration::from_mins(1);
/// So many in a minute are mistakes.
const MOST_WRONG: usize = 30;
/// As many networks, and as many keys, as are held at most.
const MOST: usize = 20_000;

#[derive(Default)]
pub(crate) struct WrongKeys(Mutex<Counts>);

#[derive(Default)]
struct Counts {
    /// Since when they are counted, and the marks of the wrong ones.
    networks: HashMap<String, (Instant, HashSet<u64>)>,
    /// Marks of keys that were good.
    good: HashSet<u64>,
}

/// What a key is known by here: a part of its digest.
fn mark(digest: &str) -> u64 {
    digest.bytes().take(16).fold(0, |mark, letter| mark.rotate_left(4) ^ u64::from(letter))
}

/// Whether a key is worth looking for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Worth {
    Looking,
    /// It was looked for a moment ago, and there was none.
    Nothing,
}

impl WrongKeys {
    /// Whether a key that nobody remembers may be looked for.
    pub(crate) fn check(&self, network: &str, digest: &str, now: Instant) -> Result<Worth> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((began, wrong)) = counts.networks.get(network) else { return Ok(Worth::Looking) };
        let until = began.plus(WINDOW);
        if until <= now || counts.good.contains(&mark(digest)) {
            return Ok(Worth::Looking);
        }
        if wrong.contains(&mark(digest)) {
            return Ok(Worth::Nothing);
        }
        if wrong.len() < MOST_WRONG {
            return Ok(Worth::Looking);
        }
        let wait = u64::try_from(until.seconds() - now.seconds() + 1).unwrap_or(1);
        Err(Error::RateLimited { retry_after_seconds: wait.max(1) })
    }

    /// Notes that there is no such key. Whether that was one too many is answered.
    pub(crate) fn note(&self, network: &str, digest: &str, now: Instant) -> bool {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.networks.len() >= MOST && !counts.networks.contains_key(network) {
            counts.networks.retain(|_, (began, _)| began.plus(WINDOW) > now);
            if counts.networks.len() >= MOST {
                counts.networks.clear();
            }
        }
        let (began, wrong) = counts.networks.entry(network.to_owned()).or_insert_with(|| (now, HashSet::new()));
        if began.plus(WINDOW) <= now {
            *began = now;
            wrong.clear();
        }
        wrong.len() < MOST_WRONG && wrong.insert(mark(digest)) && wrong.len() == MOST_WRONG
    }

    /// Notes that there is such a key.
    pub(crate) fn was_good(&self, digest: &str) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.good.len() >= MOST {
            counts.good.clear();
        }
        counts.good.insert(mark(digest));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_that_guesses_waits_and_its_good_keys_do_not() {
        let at = |seconds: u64| Instant::from_micros(0).plus(Duration::from_secs(seconds));
        let keys = WrongKeys::default();
        keys.was_good("good");
        for number in 1..=MOST_WRONG {
            let digest = format!("{number:032}");
            assert_eq!(keys.check("192.0.2.1", &digest, at(10)).unwrap(), Worth::Looking);
            assert_eq!(keys.note("192.0.2.1", &digest, at(10)), number == MOST_WRONG);
            // A program that repeats a wrong key does not guess.
            assert_eq!(keys.check("192.0.2.1", &digest, at(10)).unwrap(), Worth::Nothing);
        }
        let refused = keys.check("192.0.2.1", "guess", at(20));
        assert!(matches!(refused, Err(Error::RateLimited { retry_after_seconds: 51 })), "{refused:?}");
        assert_eq!(keys.check("192.0.2.1", "good", at(20)).unwrap(), Worth::Looking);
        assert!(keys.check("192.0.2.2", "guess", at(20)).is_ok());
        assert!(keys.check("192.0.2.1", "guess", at(70)).is_ok());
        // The next minute begins anew.
        assert!(!keys.note("192.0.2.1", "guess", at(70)));
    }

    #[test]
    fn what_is_held_is_bounded() {
        let keys = WrongKeys::default();
        for number in 0..MOST + 10 {
            keys.note(&format!("network {number}"), "guess", Instant::from_micros(0));
            keys.was_good(&format!("{number:016}"));
        }
        let counts = keys.0.lock().unwrap();
        assert!(counts.networks.len() <= MOST && counts.good.len() <= MOST);
    }
}
