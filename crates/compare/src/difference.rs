//! Where two meanings differ, by path.

use crate::alignment::aligned;
use crate::declared::Declared;
use crate::meaning::{LIFETIME, Meaning};
use crate::twins::Twins;
use crate::wrapping::below;
use chrono::{DateTime, TimeDelta};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// In what way two values differ. The first is the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// One could not be asked, or does not know the operation.
    Unanswered,
    Status,
    /// What was asked for once is done more often on one side than on the other.
    Repeated,
    OnlyLeft,
    OnlyRight,
    Type,
    Value,
    Order,
    /// The same number, written differently.
    Format,
    /// An answer is not wrapped as its dialect promises.
    Form,
    /// An answer is not what its own document says.
    Document,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    pub path: String,
    pub kind: Kind,
    /// What stands there on the left, where there is something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right: Option<Value>,
    /// Why it is as it should be, where somebody said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What it follows from, where it says nothing of its own: another path of the same answer, or an operation and a
    /// path since which the two sides are apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follows: Option<String>,
}

impl Difference {
    pub fn new(path: impl Into<String>, kind: Kind, left: Option<Value>, right: Option<Value>) -> Self {
        Self { path: path.into(), kind, left, right, reason: None, follows: None }
    }
}

/// What a comparison comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    Equal,
    /// Equal but for differences that are declared.
    Declared,
    Different,
}

impl Verdict {
    pub fn of(differences: &[Difference]) -> Self {
        if differences.is_empty() {
            Self::Equal
        } else if differences.iter().all(|difference| difference.reason.is_some()) {
            Self::Declared
        } else {
            Self::Different
        }
    }
}

/// How much two answers may differ and still say the same.
pub enum Latitude<'t> {
    /// Not at all: both tell of the same records.
    None,
    /// Each side made records of its own: identifiers stand for each other, and each was made at its own moment.
    Own(&'t mut Twins),
}

/// What two answers differ in by their nature once each side has made something of its own.
pub(crate) const BY_NATURE: [&str; 7] =
    ["dialect", "requestId", "clientRequestId", "secret", "hint", "uri", "invitationCode"];

/// Between the same request to one side and to the other.
const A_MOMENT: TimeDelta = TimeDelta::minutes(5);

/// Where two answers differ, and where either breaks its own form.
pub fn between(left: &Meaning, right: &Meaning, latitude: &mut Latitude<'_>) -> Vec<Difference> {
    let mut walk = Walk { latitude, found: Vec::new() };
    walk.values("", &left.tree, &right.tree);
    let mut found = walk.found;
    for (meaning, is_left) in [(left, true), (right, false)] {
        let of_form = meaning.faults.iter().map(|fault| (Kind::Form, &fault.path, &fault.why));
        let of_document = meaning.untrue.iter().map(|(path, why)| (Kind::Document, path, why));
        for (kind, path, why) in of_form.chain(of_document) {
            let why = Some(Value::from(why.clone()));
            let (left, right) = if is_left { (why, None) } else { (None, why) };
            found.push(Difference::new(path.clone(), kind, left, right));
        }
    }
    found
}

/// Where two values differ that stand at a path.
pub fn between_values(path: &str, left: &Value, right: &Value, latitude: &mut Latitude<'_>) -> Vec<Difference> {
    let mut walk = Walk { latitude, found: Vec::new() };
    walk.values(path, left, right);
    walk.found
}

struct Walk<'l, 't> {
    latitude: &'l mut Latitude<'t>,
    found: Vec<Difference>,
}

impl Walk<'_, '_> {
    fn differ(&mut self, path: &str, kind: Kind, left: &Value, right: &Value) {
        let kind = if path == "status" { Kind::Status } else { kind };
        self.found.push(Difference::new(path, kind, Some(left.clone()), Some(right.clone())));
    }

    fn values(&mut self, path: &str, left: &Value, right: &Value) {
        match (left, right) {
            (Value::Object(lefts), Value::Object(rights)) => {
                for (name, left) in lefts {
                    let path = below(path, name);
                    match rights.get(name) {
                        Some(right) => self.values(&path, left, right),
                        None => self.found.push(Difference::new(path, Kind::OnlyLeft, Some(left.clone()), None)),
                    }
                }
                for (name, right) in rights.iter().filter(|(name, _)| !lefts.contains_key(*name)) {
                    let path = below(path, name);
                    self.found.push(Difference::new(path, Kind::OnlyRight, None, Some(right.clone())));
                }
            }
            (Value::Array(lefts), Value::Array(rights)) => self.lists(path, lefts, rights),
            (Value::String(one), Value::String(other)) if self.texts(path, one, other) => {}
            (Value::Number(one), Value::Number(other)) => {
                let (one, other) = (one.to_string(), other.to_string());
                if one != other && !is_about(path, &one, &other) {
                    let kind = if plain(&one) == plain(&other) { Kind::Format } else { Kind::Value };
                    self.differ(path, kind, left, right);
                }
            }
            _ if std::mem::discriminant(left) != std::mem::discriminant(right) => {
                self.differ(path, Kind::Type, left, right);
            }
            _ if left != right => self.differ(path, Kind::Value, left, right),
            _ => {}
        }
    }

    fn lists(&mut self, path: &str, lefts: &[Value], rights: &[Value]) {
        let aligned = aligned(lefts, rights, self.latitude);
        if aligned.is_reordered() {
            let (left, right) = aligned.orders(lefts, rights);
            self.found.push(Difference::new(path, Kind::Order, Some(left), Some(right)));
        }
        for (left, right) in aligned.pairs {
            self.values(&format!("{path}[{left}]"), &lefts[left], &rights[right]);
        }
        for place in aligned.only_left {
            let left = Some(lefts[place].clone());
            self.found.push(Difference::new(format!("{path}[{place}]"), Kind::OnlyLeft, left, None));
        }
        for place in aligned.only_right {
            let right = Some(rights[place].clone());
            self.found.push(Difference::new(format!("{path}[{place}]"), Kind::OnlyRight, None, right));
        }
    }

    fn texts(&mut self, path: &str, left: &str, right: &str) -> bool {
        let Latitude::Own(twins) = &mut *self.latitude else { return left == right };
        if twins.alike(path, left, right) {
            return true;
        }
        let name = path.rsplit('.').next().unwrap_or_default();
        if BY_NATURE.contains(&name) && !left.is_empty() && !right.is_empty() {
            return true;
        }
        let instant = |text: &str| DateTime::parse_from_rfc3339(text).ok();
        match (instant(left), instant(right)) {
            (Some(left), Some(right)) => (left - right).abs() < A_MOMENT,
            _ => false,
        }
    }
}

fn is_about(path: &str, left: &str, right: &str) -> bool {
    let whole = |text: &str| text.parse::<i64>().ok();
    path.ends_with(LIFETIME) && whole(left).zip(whole(right)).is_some_and(|(left, right)| left.abs_diff(right) <= 2)
}

/// A number without zeros that say nothing.
pub(crate) fn plain(number: &str) -> &str {
    if number.contains('.') && !number.contains(['e', 'E']) {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number
    }
}

/// Gives each difference that is declared its reason.
pub fn declare(differences: &mut [Difference], operation: &str, declared: &mut Declared) {
    for difference in differences {
        difference.reason = declared.reason(operation, difference).map(str::to_owned);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn found(left: &Value, right: &Value, latitude: &mut Latitude<'_>) -> Vec<(String, Kind)> {
        between_values("", left, right, latitude).into_iter().map(|one| (one.path, one.kind)).collect()
    }

    #[test]
    fn a_difference_has_a_path_and_a_kind() {
        let base = json!({"status": 200, "data": {"total": 1, "lines": [{"amount": 1}, {"amount": 2}]}});
        let at = |path: &str, kind| vec![(path.to_owned(), kind)];
        for (pointer, value, expected) in [
            ("/status", json!(201), at("status", Kind::Status)),
            ("/data/total", json!("1"), at("data.total", Kind::Type)),
            ("/data/total", json!(2), at("data.total", Kind::Value)),
            ("/data/lines/1/amount", json!(3), at("data.lines[1].amount", Kind::Value)),
            ("/data/lines", json!([{"amount": 2}, {"amount": 1}]), at("data.lines", Kind::Order)),
            ("/data/lines", json!([{"amount": 1}]), at("data.lines[1]", Kind::OnlyLeft)),
            ("/data/lines/0", json!({}), at("data.lines[0].amount", Kind::OnlyLeft)),
            ("/data/lines/0", json!({"amount": 1, "x": null}), at("data.lines[0].x", Kind::OnlyRight)),
            ("/data/total", json!(null), at("data.total", Kind::Type)),
        ] {
            let mut other = base.clone();
            *other.pointer_mut(pointer).unwrap() = value;
            assert_eq!(found(&base, &other, &mut Latitude::None), expected, "{pointer}");
        }
        assert!(found(&base, &base, &mut Latitude::None).is_empty());
    }

    #[test]
    fn the_same_number_written_differently_is_a_matter_of_format() {
        let number = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        for (left, right, kind) in [
            ("270", "270.00", Kind::Format),
            ("1.50", "1.5", Kind::Format),
            ("100", "10", Kind::Value),
            ("0.1", "0.10000000000000001", Kind::Value),
        ] {
            let differences = between_values("x", &number(left), &number(right), &mut Latitude::None);
            assert_eq!(differences[0].kind, kind, "{left} {right}");
        }
    }

    #[test]
    fn what_each_side_made_for_itself_may_be_its_own() {
        let record = |id: &str, at: &str| json!({"id": id, "createdAt": at, "date": "2026-01-01", "secret": id});
        let one = record("019a9f6e-6c00-7a31-8d2f-3b1c5e7f9a02", "2026-11-21T09:00:00.000001Z");
        let other = record("019a9f6e-6c00-7b10-9c44-0d2e4f6a8b01", "2026-11-21T09:00:01Z");
        assert!(found(&one, &other, &mut Latitude::Own(&mut Twins::default())).is_empty());
        assert_eq!(found(&one, &other, &mut Latitude::None).len(), 3);
        let mut late = other.clone();
        late["createdAt"] = "2026-11-21T10:00:00Z".into();
        late["date"] = "2026-01-02".into();
        let paths = found(&one, &late, &mut Latitude::Own(&mut Twins::default()));
        assert_eq!(paths, [("createdAt".to_owned(), Kind::Value), ("date".to_owned(), Kind::Value)]);
    }
}
