//! What all lanes remember of companies, together: on PostgreSQL each company has a lane, and nobody knows how many there
//! will be. Owns: who is to forget. Refuses: to know what is remembered.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a party, an item or an account weighs, about.
const WEIGHT: usize = 1 << 10;

/// The bound of all lanes of one database.
#[derive(Debug)]
pub struct Shelf {
    most: usize,
    held: AtomicUsize,
    lanes: AtomicUsize,
}

/// What one lane holds of it, until this is dropped.
#[derive(Debug)]
pub struct Share {
    shelf: Arc<Shelf>,
    own: AtomicUsize,
}

impl Shelf {
    /// As many facts as fit in so many bytes.
    pub fn within(bytes: usize) -> Arc<Self> {
        Arc::new(Self { most: (bytes / WEIGHT).max(64), held: AtomicUsize::new(0), lanes: AtomicUsize::new(0) })
    }

    pub fn share(self: &Arc<Self>) -> Share {
        self.lanes.fetch_add(1, Ordering::Relaxed);
        Share { shelf: self.clone(), own: AtomicUsize::new(0) }
    }

    /// How many facts all lanes remember.
    pub fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }
}

impl Share {
    /// Notes how much the lane remembers. Whether it is to forget all of it is answered: whoever holds more than a fair
    /// share of what is full, and of those there is one wherever it is full.
    #[must_use]
    pub fn is_too_much(&self, facts: usize) -> bool {
        let Shelf { most, held, lanes } = &*self.shelf;
        let before = self.own.swap(facts, Ordering::Relaxed);
        held.fetch_add(facts, Ordering::Relaxed);
        let all = held.fetch_sub(before, Ordering::Relaxed) - before;
        all > *most && facts > *most / lanes.load(Ordering::Relaxed).max(1)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.shelf.held.fetch_sub(self.own.load(Ordering::Relaxed), Ordering::Relaxed);
        self.shelf.lanes.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_holds_more_than_a_fair_share_of_what_is_full_forgets() {
        let shelf = Shelf::within(100 * WEIGHT);
        let (large, small) = (shelf.share(), shelf.share());
        assert!(!large.is_too_much(90), "there is room for it");
        assert!(!small.is_too_much(30), "it is full, and not by this one");
        assert!(large.is_too_much(90));
        assert!(!large.is_too_much(0));
        assert_eq!(shelf.held(), 30);
        // Lanes that end leave what they held.
        drop(small);
        assert!(!large.is_too_much(100) && large.is_too_much(101));
        drop(large);
        assert_eq!(shelf.held(), 0);
    }

    #[test]
    fn however_many_lanes_there_are_they_stay_within_the_bound() {
        let shelf = Shelf::within(1_000 * WEIGHT);
        let lanes: Vec<Share> = (0..50).map(|_| shelf.share()).collect();
        for round in 1..20 {
            for lane in &lanes {
                if lane.is_too_much(round * 5) {
                    assert!(!lane.is_too_much(0));
                }
            }
            assert!(shelf.held() <= 1_000 + round * 5, "{round}: {}", shelf.held());
        }
    }
}
