//! How the database stands, as those know it who use it: what writes and what reads.
//!
//! Owns: whether reads and writes come to their end, since when not and why, and that the log says so once, and once that
//! it is over. Refuses: to ask the database anything. Both engines are told of here in the same words.
//!
//! Whoever meets a fault says so. That it is over is said only by the one who tries again each second: a disk that fails
//! here and there, or has room for little, would else be told of anew with each request.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// What is done with a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Reading,
    Writing,
}

/// What keeps it from being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ill {
    /// The disk has no room.
    Full = 1,
    /// The disk, or what stands on it, does not do what it should.
    Broken,
    /// Somebody else holds it.
    Held,
    /// There is nothing to be opened.
    Missing,
}

/// A transaction that writes and has not come to its end for so long counts as one that does not.
const STUCK: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub struct Standing {
    /// Of each part: 0 where it is well.
    parts: [AtomicU8; 2],
    /// Since when the only one who writes is inside a transaction.
    writing: Mutex<Option<Instant>>,
    trying: Mutex<Tries>,
}

/// Where many write: since when each tries to, as long as nothing that it tries comes to its end.
#[derive(Debug, Default)]
struct Tries {
    count: u64,
    under_way: BTreeMap<u64, Instant>,
    /// When one of them last came to its end.
    ended: Option<Instant>,
}

impl Tries {
    /// Whether somebody tries in vain, and nobody else's writes come to their end meanwhile.
    fn are_stuck(&self) -> bool {
        let in_vain = self.under_way.values().min().is_some_and(|since| since.elapsed() >= STUCK);
        in_vain && self.ended.is_none_or(|ended| ended.elapsed() >= STUCK)
    }
}

/// One of many who tries to write, until this is dropped.
#[derive(Debug)]
pub struct Trying {
    standing: Arc<Standing>,
    number: u64,
}

impl Trying {
    pub fn came_to_its_end(&self) {
        self.standing.tries().ended = Some(Instant::now());
    }
}

impl Drop for Trying {
    fn drop(&mut self) {
        self.standing.tries().under_way.remove(&self.number);
    }
}

/// A transaction that writes; it ends when this is dropped.
#[derive(Debug)]
pub struct UnderWay(Arc<Standing>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        *self.0.writing.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Ill {
    const ALL: [Self; 4] = [Self::Full, Self::Broken, Self::Held, Self::Missing];

    pub fn of_sqlite(fault: &sqlite_kit::Fault) -> Option<Self> {
        if fault.is_full() {
            Some(Self::Full)
        } else if fault.is_busy() {
            Some(Self::Held)
        } else if fault.is_missing() {
            Some(Self::Missing)
        } else {
            fault.spoils_connection().then_some(Self::Broken)
        }
    }

    /// Whether it can be reached at all is another's to know.
    pub fn of_postgres(fault: &postgres_kit::Fault) -> Option<Self> {
        match fault.code() {
            // Disk full.
            "53100" => Some(Self::Full),
            // I/O error, data or index corrupted.
            "58030" | "XX001" | "XX002" => Some(Self::Broken),
            _ => None,
        }
    }
}

impl Standing {
    /// It does not come to its end, for this reason.
    pub fn ill(&self, part: Part, ill: Ill, cause: &dyn Display) {
        if self.parts[part as usize].swap(ill as u8, Ordering::AcqRel) != ill as u8 {
            let what = what(part, ill);
            tracing::error!(code = "database_ill", what, %cause, "the database does not do what it should; readyz says so");
        }
    }

    /// It was tried again, and came to its end.
    pub fn well(&self, part: Part) {
        let part_of = &self.parts[part as usize];
        if part_of.load(Ordering::Acquire) != 0 && part_of.swap(0, Ordering::AcqRel) != 0 {
            tracing::warn!(code = "database_well", part = ?part, "the database does again what it should");
        }
    }

    pub fn is_ill(&self, part: Part) -> bool {
        self.parts[part as usize].load(Ordering::Acquire) != 0
    }

    /// The only one who writes begins a transaction.
    pub fn begins(self: &Arc<Self>) -> UnderWay {
        *self.writing.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        UnderWay(self.clone())
    }

    fn tries(&self) -> MutexGuard<'_, Tries> {
        self.trying.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One of many tries to write, and has done so since then.
    pub fn is_tried(self: &Arc<Self>, since: Instant) -> Trying {
        let mut tries = self.tries();
        tries.count += 1;
        let number = tries.count;
        tries.under_way.insert(number, since);
        Trying { standing: self.clone(), number }
    }

    /// Why it cannot serve, where it cannot: for everybody to read.
    pub fn check(&self) -> Result<(), &'static str> {
        for part in [Part::Writing, Part::Reading] {
            let known = self.parts[part as usize].load(Ordering::Acquire);
            if let Some(ill) = Ill::ALL.into_iter().find(|ill| *ill as u8 == known) {
                return Err(what(part, ill));
            }
        }
        let writing = *self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if writing.is_some_and(|since| since.elapsed() >= STUCK) || self.tries().are_stuck() {
            return Err("writes fail: one does not come to its end");
        }
        Ok(())
    }
}

fn what(part: Part, ill: Ill) -> &'static str {
    match (part, ill) {
        (Part::Writing, Ill::Full) => "writes fail: the disk is full",
        (Part::Writing, Ill::Broken) => "writes fail: the disk or the database file is at fault",
        (Part::Writing, Ill::Held) => "writes fail: another program holds the database",
        (Part::Writing, Ill::Missing) => "writes fail: the database cannot be opened",
        (Part::Reading, Ill::Full) => "reads fail: the disk is full",
        (Part::Reading, Ill::Broken) => "reads fail: the disk or the database file is at fault",
        (Part::Reading, Ill::Held) => "reads fail: another program holds the database",
        (Part::Reading, Ill::Missing) => "reads fail: the database cannot be opened",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_does_not_come_to_its_end_is_told_until_it_does() {
        let standing = Arc::new(Standing::default());
        standing.check().unwrap();
        for part in [Part::Reading, Part::Writing] {
            let mut told = Vec::new();
            for ill in Ill::ALL {
                standing.ill(part, ill, &"a cause with a /path");
                told.push(standing.check().unwrap_err());
            }
            told.dedup();
            assert_eq!(told.len(), Ill::ALL.len(), "each in its own words");
            assert!(told.iter().all(|text| !text.contains('/')), "and nothing of the cause");
            assert!(standing.is_ill(part));
            standing.well(part);
            standing.check().unwrap();
        }
        let under_way = standing.begins();
        standing.check().unwrap();
        tokio::time::advance(STUCK).await;
        standing.check().unwrap_err();
        drop(under_way);
        standing.check().unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn where_many_write_it_is_told_when_nobody_comes_to_an_end() {
        let standing = Arc::new(Standing::default());
        let since = Instant::now();
        let (one, other) = (standing.is_tried(since), standing.is_tried(since));
        standing.check().unwrap();
        tokio::time::advance(STUCK).await;
        standing.check().unwrap_err();
        other.came_to_its_end();
        standing.check().unwrap();
        tokio::time::advance(STUCK).await;
        standing.check().unwrap_err();
        drop(other);
        standing.check().unwrap_err();
        // Its next try goes on from when it first tried.
        drop(one);
        standing.check().unwrap();
        let _again = standing.is_tried(since);
        standing.check().unwrap_err();
    }
}
