//! Statements that stay prepared, for as long as what they weigh together is within bounds.
//!
//! A statement that writes many rows at once is a program of ten thousand steps and weighs half a megabyte, others weigh a
//! few kilobytes: how many there are says nothing of the memory that they take. So each is weighed, by the engine itself,
//! when it was used for the first time; and what was not used for longest makes room.

use crate::Connection;
use crate::fault::Fault;
use crate::rows::Shape;
use foldhash::fast::RandomState;
use rusqlite::{CachedStatement, Statement, StatementStatus};
use std::collections::HashMap;
use std::sync::Arc;

/// What is known of the statements that stay prepared.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// As many as there may be, and as much as they may weigh together.
    most: usize,
    most_bytes: usize,
    bytes: usize,
    /// Counts uses.
    uses: u64,
    by_text: HashMap<Arc<str>, One, RandomState>,
}

#[derive(Debug)]
struct One {
    bytes: usize,
    used: u64,
    /// What it answers, and how often it had been prepared anew by then: tables may have changed since.
    shape: Option<(Arc<Shape>, i32)>,
}

impl Kept {
    pub(crate) fn within(most: usize, most_bytes: usize) -> Self {
        Self { most, most_bytes, ..Self::default() }
    }

    /// Whether it is known; then it was used once more.
    fn uses(&mut self, text: &str) -> bool {
        self.uses += 1;
        let used = self.uses;
        self.by_text.get_mut(text).is_some_and(|one| {
            one.used = used;
            true
        })
    }

    #[cfg(test)]
    pub(crate) fn by_text(&self, text: &str) -> bool {
        self.by_text.contains_key(text)
    }

    fn learns(&mut self, text: &str, bytes: usize) {
        self.bytes += bytes;
        self.by_text.insert(text.into(), One { bytes, used: self.uses, shape: None });
    }

    /// The one that was not used for longest, where there are too many or they weigh too much. It is not known any more.
    fn surplus(&mut self) -> Option<Arc<str>> {
        if self.by_text.len() <= self.most && self.bytes <= self.most_bytes {
            return None;
        }
        let (eldest, _) = self.by_text.iter().min_by_key(|(_, one)| one.used)?;
        let eldest = eldest.clone();
        let gone = self.by_text.remove(&eldest)?;
        self.bytes -= gone.bytes;
        Some(eldest)
    }
}

impl Connection {
    /// Has a statement used. Afterwards it stays prepared where there is room, whatever came of it.
    pub(crate) fn using<T>(
        &self,
        text: &str,
        work: impl FnOnce(&mut CachedStatement<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let mut prepared = self.inner.prepare_cached(text)?;
        let done = work(&mut prepared);
        self.hear();
        self.keep(text, prepared);
        done
    }

    /// The columns that a statement answers.
    pub(crate) fn shape(&self, text: &str, prepared: &Statement<'_>) -> Result<Arc<Shape>, Fault> {
        let anew = prepared.get_status(StatementStatus::RePrepare);
        let mut kept = self.kept.borrow_mut();
        let one = kept.by_text.get_mut(text);
        if let Some((shape, _)) = one.as_ref().and_then(|one| one.shape.as_ref()).filter(|(_, known)| *known == anew) {
            return Ok(shape.clone());
        }
        let shape = Arc::new(Shape::of(prepared)?);
        if let Some(one) = one {
            one.shape = Some((shape.clone(), anew));
        }
        Ok(shape)
    }

    fn keep(&self, text: &str, prepared: CachedStatement<'_>) {
        let mut kept = self.kept.borrow_mut();
        if kept.uses(text) {
            return;
        }
        // Its text is kept twice beside what the engine has of it.
        let program = usize::try_from(prepared.get_status(StatementStatus::MemUsed)).unwrap_or(usize::MAX);
        let bytes = program.saturating_add(text.len().saturating_mul(2));
        if bytes > kept.most_bytes {
            return prepared.discard();
        }
        kept.learns(text, bytes);
        drop(prepared);
        while let Some(eldest) = kept.surplus() {
            // It comes out as it would to be used, and does not go back.
            if let Ok(gone) = self.inner.prepare_cached(&eldest) {
                gone.discard();
            }
        }
    }

    /// How many statements stay prepared, and what they weigh together.
    pub fn prepared(&self) -> (usize, usize) {
        let kept = self.kept.borrow();
        (kept.by_text.len(), kept.bytes)
    }
}
