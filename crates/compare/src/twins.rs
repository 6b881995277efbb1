//! Which identifier of the one side stands for which of the other.
//!
//! Two companies that went through the same requests differ in their identifiers and in nothing else. What stands for
//! what is learnt where an identifier is seen for the first time, and holds from then on.

use serde_json::Value;
use std::collections::{HashMap, HashSet};

#[derive(Debug, Clone, Default)]
pub struct Twins {
    right_of: HashMap<String, String>,
    left_of: HashMap<String, String>,
    /// Seen on both sides as itself: it can stand for no other.
    shared: HashSet<String>,
    /// What was learnt, in its order, so that it can be forgotten again.
    learnt: Vec<Learnt>,
}

#[derive(Debug, Clone)]
enum Learnt {
    Pair(String, String),
    Shared(String),
}

impl Twins {
    /// Says that two identifiers stand for each other.
    pub fn pair(&mut self, left: &str, right: &str) {
        if left != right {
            self.right_of.insert(left.to_owned(), right.to_owned());
            self.left_of.insert(right.to_owned(), left.to_owned());
            self.learnt.push(Learnt::Pair(left.to_owned(), right.to_owned()));
        }
    }

    /// What stands for what.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.right_of.iter().map(|(left, right)| (left.as_str(), right.as_str()))
    }

    /// How much is known by now.
    pub(crate) fn known(&self) -> usize {
        self.learnt.len()
    }

    /// Forgets what was learnt since so much was known.
    pub(crate) fn forget_since(&mut self, known: usize) {
        self.forget(known..self.learnt.len());
    }

    /// Forgets what was learnt first, where more is known than that.
    pub(crate) fn keep_at_most(&mut self, most: usize) {
        if self.learnt.len() > most {
            // Half of it at once, for it takes a while.
            self.forget(0..self.learnt.len() - most / 2);
        }
    }

    fn forget(&mut self, range: std::ops::Range<usize>) {
        for learnt in self.learnt.drain(range) {
            match learnt {
                Learnt::Pair(left, right) => {
                    self.right_of.remove(&left);
                    self.left_of.remove(&right);
                }
                Learnt::Shared(both) => drop(self.shared.remove(&both)),
            }
        }
    }

    /// A text of either side as it can be held beside one of the other: of two identifiers that stand for each other there
    /// is one left, and all that nobody has seen yet are alike. Where a list has both of two twins, so have both sides.
    pub(crate) fn neutral(&self, name: &str, text: &str) -> String {
        let is_known = |text: &str| self.left_of.contains_key(text) || self.shared.contains(text);
        let unseen = |text: &str| self.right_of.get(text).cloned().or_else(|| is_known(text).then(|| text.to_owned()));
        if names_id(name) && !is_identifier(text) {
            return unseen(text).unwrap_or_else(|| text.to_owned());
        }
        let pieces = pieces(text).into_iter();
        pieces
            .map(|piece| {
                if is_identifier(piece) { unseen(piece).unwrap_or_else(|| UNSEEN.to_owned()) } else { piece.to_owned() }
            })
            .collect()
    }

    /// Whether two identifiers stand for each other; two that nobody has seen yet do from now on.
    pub fn stand_for_each_other(&mut self, left: &str, right: &str) -> bool {
        if let Some(known) = self.right_of.get(left) {
            return known == right;
        }
        if left == right {
            if self.shared.insert(left.to_owned()) {
                self.learnt.push(Learnt::Shared(left.to_owned()));
            }
            return !self.left_of.contains_key(right);
        }
        if self.left_of.contains_key(right) || self.shared.contains(left) || self.shared.contains(right) {
            return false;
        }
        self.pair(left, right);
        true
    }

    /// The identifiers in a text, turned into those of the right side.
    pub fn to_right(&self, text: &str) -> String {
        if let Some(known) = self.right_of.get(text) {
            return known.clone();
        }
        pieces(text).into_iter().map(|piece| self.right_of.get(piece).map_or(piece, String::as_str)).collect()
    }

    /// Holds as known that the identifiers in a value are the same on both sides.
    pub fn share(&mut self, text: &str) {
        self.shared.extend(pieces(text).into_iter().filter(|piece| is_identifier(piece)).map(str::to_owned));
    }

    /// Whether two texts at a path say the same but for identifiers that stand for each other.
    pub fn alike(&mut self, path: &str, left: &str, right: &str) -> bool {
        // What is digested without identifiers is the same on both sides, or something is wrong.
        if last_name(path) == OF_THE_BOOKS {
            return left == right;
        }
        let (left_pieces, right_pieces) = (pieces(left), pieces(right));
        let has_ids = left_pieces.iter().chain(&right_pieces).any(|piece| is_identifier(piece));
        if !has_ids {
            return left == right || names_id(path) && self.stand_for_each_other(left, right);
        }
        left_pieces.len() == right_pieces.len()
            && left_pieces.iter().zip(&right_pieces).all(|(left, right)| {
                if is_identifier(left) && is_identifier(right) {
                    self.stand_for_each_other(left, right)
                } else {
                    left == right
                }
            })
    }

    /// Learns from what was recorded: where it says an identifier, this run's left side says another.
    pub fn recognise(&mut self, recorded: &Value, left: &Value) {
        match (recorded, left) {
            (Value::Object(recorded), Value::Object(left)) => {
                for (name, value) in recorded {
                    if let Some(now) = left.get(name) {
                        self.recognise_at(name, value, now);
                    }
                }
            }
            (Value::Array(recorded), Value::Array(left)) => {
                for (value, now) in recorded.iter().zip(left) {
                    self.recognise(value, now);
                }
            }
            _ => {}
        }
    }

    fn recognise_at(&mut self, name: &str, recorded: &Value, left: &Value) {
        match (recorded.as_str(), left.as_str()) {
            (Some(recorded), Some(left)) if is_identifier(recorded) || names_id(name) => self.pair(recorded, left),
            _ => self.recognise(recorded, left),
        }
    }
}

/// Whether what stands at a path is an identifier by its name.
fn names_id(path: &str) -> bool {
    let name = last_name(path);
    name == "id" || name.ends_with("Id") || name.ends_with("Ids") || matches!(name, "createdBy" | "updatedBy")
}

/// The last name of a path: `entryIds` of `data.entryIds[0]`.
fn last_name(path: &str) -> &str {
    path.rsplit('.').next().and_then(|last| last.split('[').next()).unwrap_or_default()
}

/// What the proof of the books calls the digest of the ledger.
const OF_THE_BOOKS: &str = "digest";

/// What stands for an identifier that nobody has seen yet.
pub(crate) const UNSEEN: &str = "\u{0}";

const UUID: usize = 36;
const DIGEST: usize = 64;

/// Whether a text is a UUID, or a digest, which is the identifier of what it digests.
fn is_identifier(text: &str) -> bool {
    let bytes = text.as_bytes();
    match bytes.len() {
        UUID => bytes.iter().enumerate().all(|(place, byte)| match place {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        }),
        DIGEST => bytes.iter().all(u8::is_ascii_hexdigit),
        _ => false,
    }
}

/// A text, cut into the identifiers in it and what is between them.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut start, mut at) = (0, 0);
    while at + UUID <= text.len() {
        let found = [UUID, DIGEST]
            .into_iter()
            .filter_map(|length| text.get(at..at + length))
            .find(|piece| is_identifier(piece));
        let Some(piece) = found else {
            at += 1;
            continue;
        };
        if start < at {
            pieces.push(&text[start..at]);
        }
        pieces.push(piece);
        at += piece.len();
        start = at;
    }
    if start < text.len() || pieces.is_empty() {
        pieces.push(&text[start..]);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const ONE: &str = "019a9f6e-6c00-7a31-8d2f-3b1c5e7f9a02";
    const TWO: &str = "019a9f6e-6c00-7b10-9c44-0d2e4f6a8b01";
    const THREE: &str = "019a9f6e-6c00-7c55-8a77-1f3e5d7b9c03";

    #[test]
    fn what_was_learnt_holds() {
        let mut twins = Twins::default();
        assert!(twins.alike("data.id", ONE, TWO));
        assert!(twins.alike("headers.etag", &format!("\"{ONE}-1\""), &format!("\"{TWO}-1\"")));
        assert!(!twins.alike("headers.etag", &format!("\"{ONE}-1\""), &format!("\"{TWO}-2\"")));
        assert!(!twins.alike("data.id", ONE, THREE), "it stands for another already");
        assert!(!twins.alike("data.id", THREE, TWO), "so does the other");
        assert!(!twins.alike("data.id", TWO, TWO), "the right side's identifier on the left");
        assert_eq!(twins.to_right(&format!("about {ONE} and {THREE}")), format!("about {TWO} and {THREE}"));
    }

    #[test]
    fn what_both_sides_know_as_itself_stands_for_no_other() {
        let mut twins = Twins::default();
        assert!(twins.alike("data.createdBy", ONE, ONE));
        assert!(!twins.alike("data.createdBy", ONE, TWO) && !twins.alike("data.createdBy", TWO, ONE));
        twins.share(&format!("\"{TWO}-1\""));
        assert!(!twins.alike("data.id", TWO, THREE));
    }

    #[test]
    fn a_hash_stands_for_another_but_the_digest_of_the_books_does_not() {
        let (one, other) = ("a".repeat(64), "b".repeat(64));
        let mut twins = Twins::default();
        assert!(!twins.alike("data.digest", &one, &other) && twins.alike("data.digest", &one, &one));
        let mut twins = Twins::default();
        assert!(twins.alike("data.items[0].hash", &one, &other));
        assert!(twins.alike("data.items[1].previousHash", &one, &other));
    }

    #[test]
    fn identifiers_of_other_systems_are_known_by_their_names() {
        let mut twins = Twins::default();
        assert!(twins.alike("data.lines[0].id", "4711", "815") && twins.alike("data.entryIds[0]", "x1", "y1"));
        assert!(!twins.alike("data.number", "4711", "815"));
        assert_eq!(twins.to_right("4711"), "815");
    }

    #[test]
    fn no_more_is_known_than_there_is_room_for() {
        let mut twins = Twins::default();
        for number in 0..10 {
            twins.pair(&format!("l{number}"), &format!("r{number}"));
            twins.keep_at_most(6);
        }
        let mut known: Vec<&str> = twins.pairs().map(|(left, _)| left).collect();
        known.sort_unstable();
        assert_eq!(known, ["l4", "l5", "l6", "l7", "l8", "l9"]);
    }

    #[test]
    fn a_recording_is_recognised_in_what_is_answered_now() {
        let mut twins = Twins::default();
        let recorded = json!({"id": "7", "name": "x", "lines": [{"id": ONE, "amount": 1}]});
        twins.recognise(&recorded, &json!({"id": "9", "name": "x", "lines": [{"id": TWO, "amount": 1}]}));
        assert_eq!((twins.to_right("7"), twins.to_right(ONE)), ("9".into(), TWO.into()));
    }
}
