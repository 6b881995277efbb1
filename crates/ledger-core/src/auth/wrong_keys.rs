//! Wrong API keys, counted by network in memory, so that whoever tries many asks no database.
//!
//! A key that is remembered is never counted, nor is one that was good before on this process: programs go on beside
//! whoever guesses from the same network. A key that was never seen waits until the network's minute is over.

use crate::clock::Instant;
use crate::error::{Error, Result};
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

const WINDOW: Duration = Duration::from_mins(1);
/// So many in a minute are mistakes.
const MOST_WRONG: u32 = 30;
/// As many networks, and as many keys, as are held at most.
const MOST: usize = 20_000;

#[derive(Default)]
pub(crate) struct WrongKeys(Mutex<Counts>);

#[derive(Default)]
struct Counts {
    networks: HashMap<String, (Instant, u32)>,
    /// Digests of keys that were good.
    good: HashSet<String>,
}

impl WrongKeys {
    /// Whether a key that nobody remembers may be looked for.
    pub(crate) fn check(&self, network: &str, digest: &str, now: Instant) -> Result<()> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((began, wrong)) = counts.networks.get(network) else { return Ok(()) };
        let until = began.plus(WINDOW);
        if *wrong < MOST_WRONG || until <= now || counts.good.contains(digest) {
            return Ok(());
        }
        let wait = u64::try_from(until.seconds() - now.seconds() + 1).unwrap_or(1);
        Err(Error::RateLimited { retry_after_seconds: wait.max(1) })
    }

    /// Notes that there is no such key. Whether that was one too many is answered.
    pub(crate) fn note(&self, network: &str, now: Instant) -> bool {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.networks.len() >= MOST && !counts.networks.contains_key(network) {
            counts.networks.retain(|_, (began, _)| began.plus(WINDOW) > now);
            if counts.networks.len() >= MOST {
                counts.networks.clear();
            }
        }
        let (began, wrong) = counts.networks.entry(network.to_owned()).or_insert((now, 0));
        if began.plus(WINDOW) <= now {
            (*began, *wrong) = (now, 0);
        }
        *wrong = (*wrong + 1).min(MOST_WRONG);
        *wrong == MOST_WRONG
    }

    /// Notes that there is such a key.
    pub(crate) fn was_good(&self, digest: String) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.good.len() >= MOST {
            counts.good.clear();
        }
        counts.good.insert(digest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_that_guesses_waits_and_its_good_keys_do_not() {
        let at = |seconds: u64| Instant::from_micros(0).plus(Duration::from_secs(seconds));
        let keys = WrongKeys::default();
        keys.was_good("good".into());
        for number in 1..=MOST_WRONG {
            assert!(keys.check("192.0.2.1", "guess", at(10)).is_ok());
            assert_eq!(keys.note("192.0.2.1", at(10)), number == MOST_WRONG);
        }
        let refused = keys.check("192.0.2.1", "guess", at(20));
        assert!(matches!(refused, Err(Error::RateLimited { retry_after_seconds: 51 })), "{refused:?}");
        assert!(keys.check("192.0.2.1", "good", at(20)).is_ok());
        assert!(keys.check("192.0.2.2", "guess", at(20)).is_ok());
        assert!(keys.check("192.0.2.1", "guess", at(70)).is_ok());
        // The next minute begins anew.
        assert!(!keys.note("192.0.2.1", at(70)));
    }

    #[test]
    fn what_is_held_is_bounded() {
        let keys = WrongKeys::default();
        for number in 0..MOST + 10 {
            keys.note(&format!("network {number}"), Instant::from_micros(0));
            keys.was_good(format!("key {number}"));
        }
        let counts = keys.0.lock().unwrap();
        assert!(counts.networks.len() <= MOST && counts.good.len() <= MOST);
    }
}
