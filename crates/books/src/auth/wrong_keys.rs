//! Wrong API keys, counted by network in memory, so that whoever tries many asks no database.
//!
//! A key that is remembered is never counted, nor is one that is good: where a network has tried too many, all keys that
//! there are are looked at, once a minute, so that programs go on beside whoever guesses from the same network, after a
//! restart too. A wrong key counts once, however often a program repeats it: that is no guess. It counts from the moment
//! that it is looked for, and not only once it was not found, so that many at once are no more than one after another. A
//! key that nobody knows waits until the network's minute is over.

use crate::clock::Instant;
use crate::error::{Error, Result};
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const WINDOW: Duration = Duration::from_mins(1);
/// So many in a minute are mistakes.
const MOST_WRONG: usize = 30;
/// As many networks as are held; those beyond are counted as one.
const MOST_NETWORKS: usize = 20_000;
const BEYOND: &str = "";
/// As many keys as are known to be good.
pub const MOST_GOOD: usize = 200_000;

#[derive(Default)]
pub struct WrongKeys {
    counts: Mutex<Counts>,
    /// Held while all keys are looked at.
    pub looking: tokio::sync::Mutex<()>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tried {
    /// It is being looked for.
    Looked,
    Wrong,
}

#[derive(Default)]
struct Counts {
    /// Since when they are counted, and the marks of those that were tried.
    networks: HashMap<String, (Instant, HashMap<u64, Tried>)>,
    /// Marks of keys that are good.
    good: HashSet<u64>,
    /// When all keys were looked at.
    looked: Option<Instant>,
}

impl Counts {
    /// The count of a network, in the minute of now.
    fn of(&mut self, network: &str, now: Instant) -> &mut HashMap<u64, Tried> {
        if self.networks.len() >= MOST_NETWORKS && !self.networks.contains_key(network) {
            self.networks.retain(|_, (began, _)| began.plus(WINDOW) > now);
        }
        // None of those that are counted is forgotten for another.
        let is_beyond = self.networks.len() >= MOST_NETWORKS && !self.networks.contains_key(network);
        let network = if is_beyond { BEYOND } else { network };
        let (began, tried) = self.networks.entry(network.to_owned()).or_insert_with(|| (now, HashMap::new()));
        if began.plus(WINDOW) <= now {
            *began = now;
            tried.clear();
        }
        tried
    }

    fn began(&self, network: &str) -> Option<Instant> {
        self.networks.get(network).or_else(|| self.networks.get(BEYOND)).map(|(began, _)| *began)
    }
}

/// What a key is known by here: a part of its digest.
fn mark(digest: &str) -> u64 {
    digest.bytes().take(16).fold(0, |mark, letter| mark.rotate_left(4) ^ u64::from(letter))
}

/// Whether a key is worth looking for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Worth {
    Looking,
    /// It was looked for a moment ago, and there was none.
    Nothing,
}

impl WrongKeys {
    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a key that nobody remembers may be looked for. It counts as wrong until it is found.
    pub fn check(&self, network: &str, digest: &str, now: Instant) -> Result<Worth> {
        let (mut counts, mark) = (self.counts(), mark(digest));
        if counts.good.contains(&mark) {
            return Ok(Worth::Looking);
        }
        let tried = counts.of(network, now);
        match tried.get(&mark) {
            Some(Tried::Looked) => return Ok(Worth::Looking),
            Some(Tried::Wrong) => return Ok(Worth::Nothing),
            None if tried.len() < MOST_WRONG => {
                tried.insert(mark, Tried::Looked);
                return Ok(Worth::Looking);
            }
            None => {}
        }
        let until = counts.began(network).unwrap_or(now).plus(WINDOW);
        let wait = u64::try_from(until.seconds() - now.seconds() + 1).unwrap_or(1);
        Err(Error::RateLimited { retry_after_seconds: wait.max(1) })
    }

    /// Notes that there is no such key. Whether that was the last one too many is answered.
    pub fn note(&self, network: &str, digest: &str, now: Instant) -> bool {
        let mut counts = self.counts();
        let tried = counts.of(network, now);
        let is_new = tried.insert(mark(digest), Tried::Wrong) != Some(Tried::Wrong);
        is_new && tried.values().filter(|tried| **tried == Tried::Wrong).count() == MOST_WRONG
    }

    /// Notes that there is such a key.
    pub fn was_good(&self, network: &str, digest: &str, now: Instant) {
        let mut counts = self.counts();
        counts.of(network, now).remove(&mark(digest));
        if counts.good.len() < MOST_GOOD {
            counts.good.insert(mark(digest));
        }
    }

    /// Notes that it could not be found out.
    pub fn gave_up(&self, network: &str, digest: &str, now: Instant) {
        self.counts().of(network, now).remove(&mark(digest));
    }

    /// Whether all keys were looked at within the last minute.
    pub fn knows_all(&self, now: Instant) -> bool {
        self.counts().looked.is_some_and(|looked| looked.plus(WINDOW) > now && looked <= now)
    }

    /// These are all the keys there are.
    pub fn know(&self, digests: &[String], now: Instant) {
        let mut counts = self.counts();
        counts.good = digests.iter().take(MOST_GOOD).map(|digest| mark(digest)).collect();
        counts.looked = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::from_micros(0).plus(Duration::from_secs(seconds))
    }

    fn digest(number: usize) -> String {
        format!("{number:016}{number:016}")
    }

    #[test]
    fn a_network_that_guesses_waits_and_its_good_keys_do_not() {
        let keys = WrongKeys::default();
        keys.was_good("192.0.2.9", "good", at(10));
        for number in 1..=MOST_WRONG {
            assert_eq!(keys.check("192.0.2.1", &digest(number), at(10)).unwrap(), Worth::Looking);
            assert_eq!(keys.note("192.0.2.1", &digest(number), at(10)), number == MOST_WRONG);
            // A program that repeats a wrong key does not guess.
            assert_eq!(keys.check("192.0.2.1", &digest(number), at(10)).unwrap(), Worth::Nothing);
        }
        let refused = keys.check("192.0.2.1", "guess", at(20));
        assert!(matches!(refused, Err(Error::RateLimited { retry_after_seconds: 51 })), "{refused:?}");
        assert_eq!(keys.check("192.0.2.1", "good", at(20)).unwrap(), Worth::Looking);
        assert!(keys.check("192.0.2.2", "guess", at(20)).is_ok());
        // The next minute begins anew.
        assert!(keys.check("192.0.2.1", "guess", at(70)).is_ok() && !keys.note("192.0.2.1", "guess", at(70)));
    }

    #[test]
    fn keys_at_once_are_no_more_than_keys_one_by_one_and_good_ones_are_given_back() {
        let keys = WrongKeys::default();
        let tried: Vec<bool> = (0..60).map(|number| keys.check("192.0.2.1", &digest(number), at(10)).is_ok()).collect();
        assert_eq!(tried.iter().filter(|tried| **tried).count(), MOST_WRONG);
        // The same key, by two requests of one program, is looked for twice and counts once.
        assert_eq!(keys.check("192.0.2.1", &digest(0), at(10)).unwrap(), Worth::Looking);
        keys.was_good("192.0.2.1", &digest(0), at(10));
        keys.gave_up("192.0.2.1", &digest(1), at(10));
        let tried: Vec<bool> =
            (60..64).map(|number| keys.check("192.0.2.1", &digest(number), at(10)).is_ok()).collect();
        assert_eq!(tried, [true, true, false, false]);
    }

    #[test]
    fn all_keys_are_known_for_a_minute_and_what_ended_is_not() {
        let keys = WrongKeys::default();
        keys.was_good("192.0.2.1", &digest(1), at(10));
        assert!(!keys.knows_all(at(10)));
        keys.know(&[digest(2), digest(3)], at(10));
        assert!(keys.knows_all(at(69)) && !keys.knows_all(at(70)) && !keys.knows_all(at(9)));
        let good = keys.counts().good.clone();
        assert_eq!(good, HashSet::from([mark(&digest(2)), mark(&digest(3))]));
    }

    #[test]
    fn what_is_held_is_bounded_and_nothing_is_forgotten_for_it() {
        let keys = WrongKeys::default();
        for number in 0..MOST_WRONG {
            keys.note("192.0.2.1", &digest(number), at(0));
        }
        for number in 0..MOST_NETWORKS + 10 {
            keys.note(&format!("network {number}"), "guess", at(0));
        }
        assert!(keys.check("192.0.2.1", "another", at(1)).is_err(), "it is held up as before");
        for number in 0..MOST_GOOD + 10 {
            keys.was_good("192.0.2.1", &digest(number), at(1));
        }
        // Whoever comes beyond is counted with all the others.
        for number in 0..MOST_WRONG {
            keys.note(&format!("late {number}"), &digest(number), at(2));
        }
        assert!(keys.check("late", "another", at(2)).is_err());
        let counts = keys.counts();
        assert!(counts.networks.len() <= MOST_NETWORKS + 1 && counts.good.len() <= MOST_GOOD);
    }
}
