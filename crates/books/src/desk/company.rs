//! Where the sequences of a company stand, as far as a batch has got.

use super::facts::Facts;
use crate::clock::Instant;
use crate::error::Result;
use crate::ids::{BusinessId, RecordId};
use crate::numbering::Counter;
use crate::seal::sums::Sums;
use crate::seal::writing::Written;
use crate::seal::{Seals, heads};
use crate::security;
use schema::tables::{books, number_counters};
use std::collections::HashMap;
use words::grams::FULL;

/// What is remembered of one company.
pub(super) struct Company {
    pub(super) version: i64,
    pub(super) head: Head,
    /// What the seals of its rows come to, without what is pending.
    pub(super) sums: Sums,
    /// Whether its books were as they were signed. If not, they are not signed again: that would hide it.
    pub(super) is_signed: bool,
    pub(super) facts: Facts,
    pub(super) changed: bool,
    /// How many of its documents wait for a block that finds their words. A block may be full until somebody looks.
    pub(super) waiting: usize,
    /// Its counters and their seals, as they were written last.
    pub(super) written: Written,
}

/// Where the sequences stand, with what is pending.
#[derive(Clone)]
pub(super) struct Head {
    pub(super) entry_number: i64,
    pub(super) recorded_at: Instant,
    pub(super) audit_sequence: i64,
    pub(super) audit_hash: String,
    pub(super) counters: HashMap<(RecordId, String), Counter>,
}

impl Company {
    pub(super) fn read(seals: &Seals, row: books::Model) -> Result<Self> {
        let is_signed = heads::is_signed(seals, &row);
        if !is_signed && !row.signature.is_empty() {
            security::tampered(Some(row.business_id), "where the books stand is not what was signed");
        }
        Ok(Self {
            version: row.version,
            sums: if is_signed { Sums::parse(&row.sums)? } else { Sums::default() },
            is_signed,
            head: Head {
                entry_number: row.entry_number,
                recorded_at: row.recorded_at,
                audit_sequence: row.audit_sequence,
                audit_hash: row.audit_hash.0,
                counters: HashMap::new(),
            },
            facts: Facts::default(),
            changed: false,
            waiting: FULL,
            written: Written::new(),
        })
    }

    /// The counters that moved since they were written.
    pub(super) fn counted(&mut self, business: BusinessId) -> Vec<number_counters::Model> {
        let moved = self.head.counters.iter_mut().filter(|(_, counter)| counter.changed);
        let row = |((series, period), counter): (&(RecordId, String), &mut Counter)| {
            counter.changed = false;
            number_counters::Model {
                business_id: business,
                series_id: *series,
                period: period.clone(),
                last: counter.last,
                last_date: counter.last_date,
            }
        };
        moved.map(row).collect()
    }

    /// Where the books stand next.
    pub(super) fn next(&mut self, seals: &Seals, business: BusinessId) -> books::Model {
        self.changed = false;
        self.version += 1;
        let mut row = books::Model {
            business_id: business,
            version: self.version,
            entry_number: self.head.entry_number,
            recorded_at: self.head.recorded_at,
            audit_sequence: self.head.audit_sequence,
            audit_hash: self.head.audit_hash.clone().into(),
            sums: self.sums.to_text(),
            signature: String::new(),
        };
        if self.is_signed {
            row.signature = heads::signature(seals, &row);
        }
        row
    }
}
