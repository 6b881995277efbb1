//! Where the goods of an item stand as they are replayed.

use super::Wide;
use crate::day::Day;
use crate::ids::RecordId;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A debit is positive.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Moved {
    pub(crate) stock: Wide,
    pub(crate) waits: Wide,
}

/// Pieces, what documents say of them, and what they cost.
#[derive(Clone, Copy, Default)]
pub(super) struct Heap {
    pub(super) pieces: Wide,
    pub(super) said: Wide,
    pub(super) cost: Wide,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Heaps {
    pub(super) waiting: Heap,
    pub(super) done: Heap,
    pub(super) owed: Heap,
}

/// What is there: layers, of which an item at the average has one.
#[derive(Clone, Default)]
pub(super) struct Store {
    pub(super) pieces: Wide,
    pub(super) value: Wide,
    pub(super) layers: Vec<(RecordId, Wide, Wide)>,
    /// What went out and was not there: its fact, how many, and what it was booked at.
    pub(super) missing: Vec<(usize, Wide, Wide)>,
    pub(super) last: Option<(Wide, Wide)>,
    pub(super) standard: Option<Wide>,
}

/// The story up to a day, as that day knew it.
#[derive(Clone, Default)]
pub(crate) struct Known {
    pub(super) store: Store,
    pub(super) heaps: HashMap<RecordId, Heaps>,
    pub(super) dearer: HashMap<RecordId, Wide>,
    pub(super) back: HashMap<usize, Heap>,
    pub(super) early: Vec<usize>,
    pub(super) moved: HashMap<usize, Moved>,
    /// The facts that the last day moved, where it did not value all of them anew.
    pub(super) touched: Option<Vec<usize>>,
    /// The least that was there after each movement of each day.
    pub(super) least: BTreeMap<Day, Wide>,
    /// The facts whose goods were missing, and cost something else when they came.
    pub(super) corrected: BTreeSet<usize>,
}

impl Known {
    pub(crate) fn pieces(&self) -> Wide {
        self.store.pieces
    }

    pub(crate) fn value(&self) -> Wide {
        self.store.value
    }

    pub(crate) fn moved(&self, fact: usize) -> Moved {
        match self.moved.get(&fact) {
            Some(moved) => *moved,
            None => Moved::default(),
        }
    }

    /// Whether goods were missing when they went, and cost something else when they came.
    pub(crate) fn is_corrected(&self, fact: usize) -> bool {
        self.corrected.contains(&fact)
    }

    /// The facts of which the last day may have said something else, of so many up to it.
    pub(crate) fn touched(&self, all: usize) -> Vec<usize> {
        self.touched.clone().unwrap_or_else(|| (0..all).collect())
    }

    pub(super) fn moves(&mut self, fact: usize, by: Moved) {
        self.moved.insert(fact, by);
        if let Some(touched) = &mut self.touched {
            touched.push(fact);
        }
    }

    /// Quantity and value of what is there, layer by layer.
    pub(crate) fn layers(&self) -> Vec<(Wide, Wide)> {
        self.store.layers.iter().map(|(_, pieces, value)| (*pieces, *value)).collect()
    }

    /// The least that was there on a day, while and after its movements.
    pub(crate) fn least(&self, day: Day) -> Wide {
        let there = self.store.pieces;
        self.least.get(&day).map_or(there, |least| there.min(*least))
    }
}
