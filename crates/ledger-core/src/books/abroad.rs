//! What a command did to what there is in other currencies.
//!
//! Owns: the first day from which that is another than before, and what moved on which account. Revaluations of that day
//! and later ones are made anew, and money is carried at what it is by then.

use crate::books::desk::NewEntry;
use crate::books::tables::{DocumentKind, EntryKind};
use crate::day::Day;
use crate::ids::RecordId;
use std::sync::{Mutex, PoisonError};

/// A document that moved something, as its entries name it.
#[derive(Debug, Clone)]
pub(crate) struct By {
    pub(crate) kind: DocumentKind,
    pub(crate) id: RecordId,
    pub(crate) version: i64,
    pub(crate) number: Option<String>,
}

/// A line in another currency than the company's.
#[derive(Debug, Clone)]
pub(crate) struct MovedAbroad {
    pub(crate) account: RecordId,
    pub(crate) day: Day,
    pub(crate) by: By,
}

/// The lines in other currencies, and what was valued of them already.
#[derive(Default)]
pub(crate) struct Abroad(Mutex<Vec<MovedAbroad>>);

impl Abroad {
    /// What revaluations post themselves is no change of what they find, and what money is carried at follows from the
    /// rest.
    pub(crate) fn note(&self, entry: &NewEntry, base_currency: &str) {
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
    pub(crate) fn since(&self) -> Option<Day> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().map(|moved| moved.day).min()
    }

    /// What moved first on accounts like these: the day of it, and the document that did.
    pub(crate) fn first_on(&self, is_one: impl Fn(RecordId) -> bool) -> Option<(Day, By)> {
        let moved = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let on = moved.iter().filter(|moved| is_one(moved.account));
        on.min_by_key(|moved| moved.day).map(|moved| (moved.day, moved.by.clone()))
    }
}
