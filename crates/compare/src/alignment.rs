//! Which elements of two lists are the same record.
//!
//! Records are known by a member that tells them apart, and that is found by looking: no resource is known here. What has
//! no such member is known by all that it says.

use crate::difference::{BY_NATURE, Latitude, plain};
use crate::twins::{Twins, UNSEEN};
use chrono::DateTime;
use serde_json::Value;
use std::collections::{HashMap, HashSet, VecDeque};

/// Which elements stand for each other, by their places.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Alignment {
    pub pairs: Vec<(usize, usize)>,
    pub only_left: Vec<usize>,
    pub only_right: Vec<usize>,
    /// The member that tells them apart.
    key: Option<String>,
}

impl Alignment {
    pub fn is_reordered(&self) -> bool {
        self.pairs.windows(2).any(|two| two[0].1 > two[1].1)
    }

    /// The same elements as each side has them in order: each by its key, by itself where it is no record, or by its place
    /// on the left.
    pub fn orders(&self, lefts: &[Value], rights: &[Value]) -> (Value, Value) {
        let name = |element: &Value, place: usize| match (&self.key, element) {
            (Some(key), _) => element[key.as_str()].clone(),
            (None, Value::Object(_) | Value::Array(_)) => place.into(),
            (None, scalar) => scalar.clone(),
        };
        let left = self.pairs.iter().map(|(left, _)| name(&lefts[*left], *left)).collect();
        let mut by_right = self.pairs.clone();
        by_right.sort_by_key(|(_, right)| *right);
        (left, by_right.iter().map(|(left, right)| name(&rights[*right], *left)).collect())
    }

    /// What is left over on both sides is one record with another key, where as much is left over on each.
    fn pair_leftovers(mut self) -> Self {
        if self.only_left.len() == self.only_right.len() {
            self.pairs.extend(self.only_left.drain(..).zip(self.only_right.drain(..)));
            self.pairs.sort_unstable();
        }
        self
    }
}

/// Finds out which elements of two lists stand for each other.
pub(crate) fn aligned(lefts: &[Value], rights: &[Value], latitude: &Latitude<'_>) -> Alignment {
    let twins = match latitude {
        Latitude::None => None,
        Latitude::Own(twins) => Some(&**twins),
    };
    let told =
        |elements: &[Value]| -> Vec<String> { elements.iter().map(|element| Sketch(twins).of("", element)).collect() };
    let (told_left, told_right) = (told(lefts), told(rights));
    if told_left == told_right || lefts.len() <= 1 && rights.len() == lefts.len() {
        return Alignment { pairs: (0..lefts.len()).map(|place| (place, place)).collect(), ..Alignment::default() };
    }
    let Some((key, left_keys, right_keys)) = key(lefts, rights, twins) else {
        return matched(&told_left, &told_right, None).pair_leftovers();
    };
    matched(&left_keys, &right_keys, Some(key)).pair_leftovers()
}

/// Pairs what is told alike, the first with the first.
fn matched(lefts: &[String], rights: &[String], key: Option<String>) -> Alignment {
    let mut waiting: HashMap<&str, VecDeque<usize>> = HashMap::new();
    for (place, told) in rights.iter().enumerate() {
        waiting.entry(told).or_default().push_back(place);
    }
    let mut aligned = Alignment { key, ..Alignment::default() };
    for (left, told) in lefts.iter().enumerate() {
        match waiting.get_mut(told.as_str()).and_then(VecDeque::pop_front) {
            Some(right) => aligned.pairs.push((left, right)),
            None => aligned.only_left.push(left),
        }
    }
    aligned.only_right = waiting.into_values().flatten().collect();
    aligned.only_right.sort_unstable();
    aligned
}

type Keyed = (String, Vec<String>, Vec<String>);

/// The member that tells the records of both lists apart and that most of them have in common; an `id` before all others.
fn key(lefts: &[Value], rights: &[Value], twins: Option<&Twins>) -> Option<Keyed> {
    let names = lefts.first().or(rights.first())?.as_object()?.keys();
    let mut best: Option<(usize, Keyed)> = None;
    for name in names {
        let values = |elements: &[Value]| -> Option<Vec<String>> {
            let sketch = Sketch(twins);
            let told = elements.iter().map(|element| match &element[name.as_str()] {
                scalar @ (Value::String(_) | Value::Number(_)) => Some(sketch.of(name, scalar)),
                _ => None,
            });
            let told = told.collect::<Option<Vec<String>>>()?;
            let apart: HashSet<&String> = told.iter().filter(|told| !told.contains(UNSEEN)).collect();
            (apart.len() == told.len()).then_some(told)
        };
        let Some((left, right)) = values(lefts).zip(values(rights)) else { continue };
        let others: HashSet<&String> = right.iter().collect();
        let common = left.iter().filter(|told| others.contains(told)).count();
        // Two amounts may be the same by chance; an identifier may not.
        let weight = 2 * common + usize::from(name == "id");
        if common > 0 && best.as_ref().is_none_or(|(known, _)| weight > *known) {
            best = Some((weight, (name.clone(), left, right)));
        }
    }
    best.map(|(_, keyed)| keyed)
}

/// What an element says, without what each side has of its own.
struct Sketch<'t>(Option<&'t Twins>);

impl Sketch<'_> {
    fn of(&self, name: &str, value: &Value) -> String {
        match (value, self.0) {
            (Value::Object(members), _) => {
                let mut told: Vec<String> =
                    members.iter().map(|(name, member)| format!("{name:?}:{}", self.of(name, member))).collect();
                told.sort_unstable();
                format!("{{{}}}", told.join(","))
            }
            (Value::Array(elements), _) => {
                let told: Vec<String> = elements.iter().map(|element| self.of(name, element)).collect();
                format!("[{}]", told.join(","))
            }
            (Value::Number(number), _) => plain(&number.to_string()).to_owned(),
            (Value::String(text), Some(_)) if BY_NATURE.contains(&name) && !text.is_empty() => UNSEEN.to_owned(),
            (Value::String(text), Some(_)) if DateTime::parse_from_rfc3339(text).is_ok() => UNSEEN.to_owned(),
            (Value::String(text), Some(twins)) => format!("\"{}\"", twins.neutral(name, text)),
            (other, _) => other.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(left: &Value, right: &Value, latitude: &Latitude<'_>) -> Alignment {
        aligned(left.as_array().unwrap(), right.as_array().unwrap(), latitude)
    }

    #[test]
    fn records_are_known_by_what_tells_them_apart() {
        let left = json!([{"id": "1", "n": "a"}, {"id": "2", "n": "b"}, {"id": "3", "n": "c"}]);
        let pairs = |right: &Value| {
            let found = of(&left, right, &Latitude::None);
            (found.pairs.clone(), found.only_left.clone(), found.only_right.clone(), found.is_reordered())
        };
        // Another order; one missing; one more; one changed and moved.
        assert_eq!(
            pairs(&json!([{"id": "3", "n": "c"}, {"id": "2", "n": "b"}, {"id": "1", "n": "a"}])),
            (vec![(0, 2), (1, 1), (2, 0)], vec![], vec![], true)
        );
        assert_eq!(
            pairs(&json!([{"id": "1", "n": "a"}, {"id": "3", "n": "c"}])),
            (vec![(0, 0), (2, 1)], vec![1], vec![], false)
        );
        assert_eq!(
            pairs(&json!([{"id": "0", "n": "x"}, {"id": "1", "n": "a"}, {"id": "2", "n": "b"}, {"id": "3", "n": "c"}])),
            (vec![(0, 1), (1, 2), (2, 3)], vec![], vec![0], false)
        );
        assert_eq!(
            pairs(&json!([{"id": "2", "n": "b"}, {"id": "1", "n": "z"}, {"id": "3", "n": "c"}])),
            (vec![(0, 1), (1, 0), (2, 2)], vec![], vec![], true)
        );
        // Two changed and moved.
        assert_eq!(
            pairs(&json!([{"id": "3", "n": "x"}, {"id": "1", "n": "y"}, {"id": "2", "n": "b"}])).0,
            [(0, 1), (1, 2), (2, 0)]
        );
        // Whose key is another is still the one that is left over.
        assert_eq!(
            pairs(&json!([{"id": "1", "n": "a"}, {"id": "9", "n": "b"}, {"id": "3", "n": "c"}])).0,
            [(0, 0), (1, 1), (2, 2)]
        );
    }

    #[test]
    fn what_is_no_record_is_known_by_itself() {
        let texts = of(&json!(["a", "b", "c"]), &json!(["c", "a"]), &Latitude::None);
        assert_eq!((texts.pairs.as_slice(), texts.only_left.as_slice()), (&[(0, 1), (2, 0)][..], &[1][..]));
        assert_eq!(texts.orders(&[json!("a"), json!("b"), json!("c")], &[json!("c"), json!("a")]).1, json!(["c", "a"]));
        // Numbers that differ in their zeros alone are the same.
        let numbers: Vec<Value> = serde_json::from_str("[1.50, 2]").unwrap();
        let others: Vec<Value> = serde_json::from_str("[2, 1.5]").unwrap();
        assert_eq!(aligned(&numbers, &others, &Latitude::None).pairs, [(0, 1), (1, 0)]);
    }

    #[test]
    fn twins_are_aligned_by_what_is_known_of_them() {
        let id = |last: u32| format!("019a9f6e-6c00-7a31-8d2f-{last:012}");
        let record = |last: u32, name: &str| json!({"id": id(last), "name": name});
        let (left, right) = (json!([record(1, "x"), record(2, "x")]), json!([record(12, "x"), record(11, "x")]));
        let mut twins = Twins::default();
        // Nobody has seen them: the first is the first. Once they are known, each is itself.
        assert!(!of(&left, &right, &Latitude::Own(&mut twins)).is_reordered());
        twins.pair(&id(1), &id(11));
        twins.pair(&id(2), &id(12));
        assert!(of(&left, &right, &Latitude::Own(&mut twins)).is_reordered());
        // Both of two twins, on both sides: nothing moved, whatever else changed.
        let both = json!([record(1, "x"), record(11, "x"), record(2, "y")]);
        let renamed = json!([record(1, "x"), record(11, "x"), record(2, "z")]);
        assert_eq!(of(&both, &renamed, &Latitude::Own(&mut twins)).pairs, [(0, 0), (1, 1), (2, 2)]);
        // What nothing tells apart is matched by what it says, whatever its identifier.
        let more = json!([record(15, "a"), record(16, "a"), record(17, "b")]);
        let found = of(&json!([record(5, "a"), record(6, "a")]), &more, &Latitude::Own(&mut twins));
        assert_eq!((found.pairs, found.only_right), (vec![(0, 0), (1, 1)], vec![2]));
        // Unseen ones are told apart by another member.
        let named = of(
            &json!([record(3, "a"), record(4, "b")]),
            &json!([record(14, "b"), record(13, "a")]),
            &Latitude::Own(&mut twins),
        );
        assert_eq!(named.pairs, [(0, 1), (1, 0)]);
    }

    #[test]
    fn what_was_learnt_in_vain_is_forgotten() {
        let mut twins = Twins::default();
        twins.pair("1", "2");
        let known = twins.known();
        assert!(twins.stand_for_each_other("3", "4") && twins.stand_for_each_other("5", "5"));
        twins.forget_since(known);
        assert!(twins.stand_for_each_other("3", "5") && !twins.stand_for_each_other("1", "9"));
    }
}
