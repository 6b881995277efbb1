//! The smallest body that still shows a difference: halves of it are taken away, then quarters, then single members and
//! elements, as long as the difference stays.

use crate::consequence::pattern;
use crate::neutral::Neutral;
use crate::pair::Pair;
use crate::secrets;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// So many requests are spent on one difference.
pub const MOST_REQUESTS: usize = 80;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Shrunk {
    pub body: Value,
    /// How many requests it took.
    pub requests: usize,
}

/// Looks for the smallest body with which a request still shows a difference at a path. A real write is only asked again
/// where a rehearsal does not show it.
pub async fn shrink(pair: &mut Pair, request: &Neutral, path: &str) -> Option<Shrunk> {
    let body = request.body.clone().filter(|body| !secrets::is_masked(body))?;
    let mut rehearsed = request.clone();
    rehearsed.query.set("dryRun", "true");
    let asked = if path.starts_with("effects") { request } else { &rehearsed };
    let mut search = Search::of(body);
    while let Some(candidate) = search.candidate() {
        if search.requests == MOST_REQUESTS {
            break;
        }
        let request = Neutral { body: Some(candidate.clone()), ..asked.clone() };
        let compared = pair.compare(&request).await;
        let differs = compared.differences.iter().any(|one| one.follows.is_none() && pattern(&one.path) == path);
        search.hear(candidate, differs);
    }
    search.found()
}

/// What is tried next, and what was found.
struct Search {
    body: Value,
    /// How many elements are taken away at once, and from which place on; places count all members and elements.
    step: usize,
    at: usize,
    requests: usize,
    is_smaller: bool,
    /// Whether this round took something away.
    took: bool,
}

impl Search {
    fn of(body: Value) -> Self {
        let step = places(&body).div_ceil(2).max(1);
        Self { body, step, at: 0, requests: 0, is_smaller: false, took: false }
    }

    /// The next smaller body to ask with.
    fn candidate(&mut self) -> Option<Value> {
        loop {
            if self.at < places(&self.body) {
                let (mut from, until) = (0, self.at + self.step);
                let smaller = without(&self.body, self.at..until, &mut from);
                return Some(smaller);
            }
            if self.step == 1 && !self.took {
                return None;
            }
            // Single ones are tried until none of them can go.
            (self.step, self.at, self.took) = (self.step.div_ceil(2), 0, false);
        }
    }

    /// Goes on from what a body came to.
    fn hear(&mut self, candidate: Value, differs: bool) {
        self.requests += 1;
        if differs {
            (self.body, self.is_smaller, self.took) = (candidate, true, true);
        } else {
            self.at += self.step;
        }
    }

    fn found(self) -> Option<Shrunk> {
        self.is_smaller.then_some(Shrunk { body: self.body, requests: self.requests })
    }
}

/// How many members and elements there are, at every depth.
fn places(value: &Value) -> usize {
    match value {
        Value::Object(members) => members.values().map(|member| 1 + places(member)).sum(),
        Value::Array(elements) => elements.iter().map(|element| 1 + places(element)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// A value without those members and elements that begin in a range of places. What is in them goes with them.
fn without(value: &Value, range: std::ops::Range<usize>, at: &mut usize) -> Value {
    let mut kept = |inner: &Value| {
        let place = *at;
        *at += 1;
        if range.contains(&place) {
            *at += places(inner);
            return None;
        }
        Some(without(inner, range.clone(), at))
    };
    match value {
        Value::Object(members) => {
            let kept: Map<String, Value> =
                members.iter().filter_map(|(name, inner)| Some((name.clone(), kept(inner)?))).collect();
            kept.into()
        }
        Value::Array(elements) => elements.iter().filter_map(kept).collect(),
        scalar => scalar.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn smallest(body: &Value, differs: impl Fn(&Value) -> bool) -> Option<Shrunk> {
        let mut search = Search::of(body.clone());
        while let Some(candidate) = search.candidate() {
            let is_so = differs(&candidate);
            search.hear(candidate, is_so);
        }
        search.found()
    }

    #[test]
    fn what_matters_stays_and_nothing_else() {
        let lines: Vec<Value> = (0..40).map(|at| json!({"amount": at, "text": "x", "tags": ["a", "b"]})).collect();
        let body = json!({"date": "2026-01-01", "notes": "n", "address": {"city": "c", "street": "s"}, "lines": lines});
        let has = |body: &Value, amount: i64| {
            body["lines"].as_array().is_some_and(|lines| lines.iter().any(|line| line["amount"] == amount))
        };
        let found = smallest(&body, |body| has(body, 17) && body["address"].is_object()).unwrap();
        assert_eq!(found.body, json!({"address": {}, "lines": [{"amount": 17}]}));
        assert!(found.requests < MOST_REQUESTS, "{}", found.requests);
        let found = smallest(&body, |body| has(body, 3) && has(body, 39)).unwrap();
        assert_eq!(found.body, json!({"lines": [{"amount": 3}, {"amount": 39}]}));
        // What stands between two that matter goes alone.
        let both = |body: &Value| body["a"] == 1 && body["c"] == 1;
        assert_eq!(smallest(&json!({"a": 1, "b": 1, "c": 1}), both).unwrap().body, json!({"a": 1, "c": 1}));
        // Whatever is sent: nothing at all shows it as well.
        assert_eq!(smallest(&body, |_| true).unwrap().body, json!({}));
        assert_eq!(smallest(&body, |_| false), None);
        assert_eq!(smallest(&json!({}), |_| true), None);
    }
}
