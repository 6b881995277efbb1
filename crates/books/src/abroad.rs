//! What a command did to what there is in other currencies.
//!
//! Owns: the first day from which that is another than before. Revaluations of that day and later ones are made anew.

use crate::day::Day;
use crate::desk::NewEntry;
use std::sync::{Mutex, PoisonError};

/// The first day on which something in another currency moved.
#[derive(Default)]
pub struct Abroad(Mutex<Option<Day>>);

impl Abroad {
    /// What revaluations post themselves is no change of what they find.
    pub fn note(&self, entry: &NewEntry, base_currency: &str) {
        if entry.is_revaluation() || entry.posting.lines().iter().all(|line| line.currency() == base_currency) {
            return;
        }
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *first = Some(first.map_or(entry.date, |first| Ord::min(first, entry.date)));
    }

    pub fn since(&self) -> Option<Day> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
