//! Entries that are in force, and what stands for them.
//!
//! Each of them is stood for once: by a posted document, or by an allocation. What is there and what stands for it are added
//! up to sums that are the same only where they are the same, so that memory does not grow with the books; where they are
//! not, those entries alone are looked at one by one.

use super::{Check, Findings};
use crate::ids::RecordId;
use std::collections::HashMap;

/// So many sums are made: where one is odd, that part of all entries is looked at again.
const PARTS: usize = 256;

const ODD: [u128; 2] = [0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835, 0xD1B5_4A32_D192_ED03_AAF2_18C6_3B7B_9D4F];

/// A number that says no more of another than that they were the same.
const fn mixed(number: u128) -> u128 {
    let mut number = number;
    let mut turn = 0;
    while turn < ODD.len() {
        number = (number ^ (number >> 64) ^ (number >> 29)).wrapping_mul(ODD[turn]);
        turn += 1;
    }
    number ^ (number >> 64)
}

const fn part_of(entry: RecordId) -> usize {
    (mixed(entry.0.as_u128()) >> 120) as usize
}

fn sum_of(entry: RecordId, document: RecordId) -> u128 {
    mixed(mixed(entry.0.as_u128()).rotate_left(32) ^ document.0.as_u128())
}

/// What of the ledger is in force.
pub(super) struct Live {
    sums: Vec<u128>,
    pub(super) begun: i64,
    pub(super) standing: i64,
    looked: Option<Looked>,
}

/// The entries of the parts that are odd, one by one.
struct Looked {
    parts: Vec<bool>,
    entries: HashMap<RecordId, RecordId>,
    findings: Findings,
}

impl Default for Live {
    fn default() -> Self {
        Self { sums: vec![0; PARTS], begun: 0, standing: 0, looked: None }
    }
}

impl Live {
    fn odd(&self) -> Vec<bool> {
        self.sums.iter().map(|sum| *sum != 0).collect()
    }

    pub(super) fn is_odd(&self) -> bool {
        self.sums.iter().any(|sum| *sum != 0)
    }

    /// The same once more, for the parts that are odd.
    pub(super) fn again(&self) -> Self {
        let looked = Looked { parts: self.odd(), entries: HashMap::new(), findings: Findings::default() };
        Self { looked: Some(looked), ..Self::default() }
    }

    /// With what others found, of other entries or of the same.
    pub(super) fn add(&mut self, other: Self) {
        for (sum, others) in self.sums.iter_mut().zip(other.sums) {
            *sum = sum.wrapping_add(others);
        }
        (self.begun, self.standing) = (self.begun + other.begun, self.standing + other.standing);
    }

    /// An entry that stands until it is taken back.
    pub(super) fn begins(&mut self, entry: RecordId, document: RecordId) {
        self.begun += 1;
        let sum = &mut self.sums[part_of(entry)];
        *sum = sum.wrapping_add(sum_of(entry, document));
        if let Some(looked) = self.looked.as_mut().filter(|looked| looked.parts[part_of(entry)]) {
            looked.entries.insert(entry, document);
        }
    }

    /// An entry of a document is taken back.
    pub(super) fn ends(&mut self, entry: RecordId, document: RecordId) {
        self.begun -= 1;
        let sum = &mut self.sums[part_of(entry)];
        *sum = sum.wrapping_sub(sum_of(entry, document));
        if let Some(looked) = &mut self.looked {
            looked.entries.remove(&entry);
        }
    }

    /// Something of a document stands for an entry.
    pub(super) fn stands(&mut self, entry: RecordId, document: RecordId, what: impl FnOnce() -> String) {
        self.standing += 1;
        let sum = &mut self.sums[part_of(entry)];
        *sum = sum.wrapping_sub(sum_of(entry, document));
        if let Some(looked) = self.looked.as_mut().filter(|looked| looked.parts[part_of(entry)]) {
            match looked.entries.remove(&entry) {
                Some(own) if own == document => {}
                Some(_) => looked.findings.add(format!("{}, which is another's", what())),
                None => looked.findings.add(format!("{}, which is not in force", what())),
            }
        }
    }

    /// What was found one by one; entries that nothing stands for are left.
    fn found(self) -> Findings {
        let Some(Looked { entries, mut findings, .. }) = self.looked else { return Findings::default() };
        for (entry, document) in entries {
            let what = format!("entry {entry} is in force");
            findings.add(format!("{what}, and its document {document} does not stand for it"));
        }
        findings
    }

    /// What it comes to. `again` is the same one by one, where it is odd.
    pub(super) fn check(&self, again: Option<Self>, findings: Findings) -> Check {
        let mut findings = match again {
            Some(again) => again.found().with(findings),
            None => findings,
        };
        if self.is_odd() && findings.is_empty() {
            findings.add("what is in force and what stands for it are not the same".into());
        }
        Check::of("V11", "Every document stands for its entries", self.standing, self.begun, findings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u128) -> RecordId {
        RecordId(uuid::Uuid::from_u128(number))
    }

    /// Entries with their documents, what stands for them, and what is found.
    fn found(entries: &[(u128, u128)], standing: &[(u128, u128)]) -> Vec<String> {
        let go = |mut live: Live| {
            for (entry, document) in entries {
                live.begins(id(*entry), id(*document));
            }
            for (entry, document) in standing {
                live.stands(id(*entry), id(*document), || format!("{document} stands for {entry}"));
            }
            live
        };
        let live = go(Live::default());
        let again = live.is_odd().then(|| go(live.again()));
        assert_eq!(live.is_odd(), again.is_some());
        let check = live.check(again, Findings::default());
        assert_eq!(check.ok, check.findings.is_empty());
        check.findings
    }

    #[test]
    fn what_stands_for_nothing_or_for_anothers_is_found() {
        let three = [(1, 11), (2, 12), (3, 13)];
        assert_eq!(found(&three, &three), Vec::<String>::new());
        // The same entries and the same documents, and yet not the same.
        assert_eq!(found(&three, &[(1, 12), (2, 11), (3, 13)]).len(), 2);
        assert_eq!(found(&three, &[(1, 11), (2, 12), (2, 12), (3, 13)]), ["12 stands for 2, which is not in force"]);
        assert_eq!(found(&three, &[(1, 11), (2, 12)]).len(), 1);
        assert_eq!(found(&[], &[(7, 17)]), ["17 stands for 7, which is not in force"]);
    }

    #[test]
    fn what_was_taken_back_stands_no_more() {
        let mut live = Live::default();
        live.begins(id(1), id(11));
        live.ends(id(1), id(11));
        assert!(!live.is_odd());
        live.stands(id(1), id(11), String::new);
        assert!(live.is_odd());
    }
}
