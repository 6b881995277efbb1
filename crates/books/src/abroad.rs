//! What a command did to what there is in other currencies.
//!
//! Owns: the first day from which that is another than before, and what moved on which account. Revaluations of that day
//! and later ones are made anew, and money is carried at what it is by then.

use crate::day::Day;
use crate::desk::NewEntry;
use crate::ids::RecordId;
use schema::tables::{DocumentKind, EntryKind};
use std::sync::{Mutex, PoisonError};

/// A document that moved something, as its entries name it.
#[derive(Debug, Clone)]
pub struct By {
    pub kind: DocumentKind,
    pub id: RecordId,
    pub version: i64,
    pub number: Option<String>,
}

/// A line in another currency than the company's.
#[derive(Debug, Clone)]
pub struct MovedAbroad {
    pub account: RecordId,
    pub day: Day,
    pub by: By,
}

/// The lines in other currencies, and what was valued of them already.
#[derive(Default)]
pub struct Abroad(Mutex<Vec<MovedAbroad>>);

impl Abroad {
    /// What revaluations post themselves is no change of what they find, and what money is carried at follows from the
    /// rest.
    pub fn note(&self, entry: &NewEntry, base_currency: &str) {
        if entry.is_revaluation() || entry.kind == EntryKind::ExchangeAdjustment {
            return;
        }
        let by = || By {
            kind: entry.document,
            id: entry.document_id,
            version: entry.document_version,
            number: entry.document_number.clone(),
        };
        let abroad = entry.posting.lines().iter().filter(|line| line.currency() != base_currency);
        let moved = abroad.map(|line| MovedAbroad { account: line.account(), day: entry.date, by: by() });
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(moved);
    }

    /// The first day on which something in another currency moved.
    pub fn since(&self) -> Option<Day> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().map(|moved| moved.day).min()
    }

    /// What moved first on accounts like these: the day of it, and the document that did.
    pub fn first_on(&self, is_one: impl Fn(RecordId) -> bool) -> Option<(Day, By)> {
        let moved = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let on = moved.iter().filter(|moved| is_one(moved.account));
        on.min_by_key(|moved| moved.day).map(|moved| (moved.day, moved.by.clone()))
    }
}
