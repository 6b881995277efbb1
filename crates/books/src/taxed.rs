//! What a command did to the tax of documents that others settle or credit.
//!
//! Owns: which documents these are, so that no command can forget one. What their tax comes to after all is followed up
//! when the command is done.

use crate::desk::NewEntry;
use crate::ids::{BusinessId, RecordId};
use crate::settled::KINDS;
use rules::tax::facts::TaxOrigin;
use schema::kind::Phase;
use schema::tables::EntryKind;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use words::sown::{Fault, sown};

/// Documents whose tax may come to something else than before.
#[derive(Debug, Default, Clone)]
pub struct Retaxed {
    /// Documents that were taken from, or changed themselves.
    pub origins: BTreeSet<RecordId>,
    /// Notes that may credit some.
    pub notes: BTreeSet<RecordId>,
    /// Documents of which something else is settled, or to be settled.
    pub settled: BTreeSet<RecordId>,
    /// A company whose basis of tax changed.
    pub rebased: Option<BusinessId>,
}

#[derive(Default)]
pub struct Taxed(Mutex<Retaxed>);

impl Taxed {
    /// What an entry says. A document that is new was taken from by nobody.
    pub fn note(&self, entry: &NewEntry) {
        let facts = entry.posting.facts();
        if facts.is_empty() || entry.kind == EntryKind::TaxAdjustment {
            return;
        }
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let takes = |origin| matches!(origin, TaxOrigin::Discount | TaxOrigin::WriteOff);
        let of_settlements = facts.iter().filter(|told| takes(told.fact.origin));
        noted.origins.extend(of_settlements.filter_map(|told| told.fact.settles));
        if KINDS.contains(&entry.document) {
            noted.settled.insert(entry.document_id);
        }
        noted.settled.extend(facts.iter().filter_map(|told| told.fact.settles));
        let phase = entry.document.phase();
        if phase == Some(Phase::Credit) {
            noted.notes.insert(entry.document_id);
        }
        // A note is settled too, and so is a journal.
        let is_settled = match phase {
            Some(Phase::Credit) => !sown(Fault::NoteKeepsItsDiscount),
            phase => matches!(phase, Some(Phase::Bill) | None),
        };
        if is_settled && entry.kind == EntryKind::Reversal {
            noted.origins.insert(entry.document_id);
        }
    }

    /// A document that loses a note that credited it.
    pub fn lose(&self, origin: RecordId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).origins.insert(origin);
    }

    /// A document of which something was settled, or is no longer.
    pub fn settle(&self, document: RecordId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).settled.insert(document);
    }

    /// The basis on which the company's tax counts is another.
    pub fn rebase(&self, company: BusinessId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).rebased = Some(company);
    }

    /// What was noted so far.
    pub fn take(&self) -> Retaxed {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
