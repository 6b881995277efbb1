//! References: what an operation of a batch takes from the answer of one before it.
//!
//! `{"$ref": "op1.lines[0].id"}` stands for a value: the `id` that the caller gave an earlier operation, and a member of what
//! that answered.

use crate::error::{Code, FieldErrors};
use crate::quoting::quoted;
use kit::operation::CameTo;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::OnceLock;

/// The only member of a reference.
const MARK: &str = "$ref";

/// What is said of a reference that leads nowhere, and where it stands.
pub(super) struct Astray {
    pub(super) at: String,
    pub(super) why: String,
}

impl From<Astray> for FieldErrors {
    fn from(astray: Astray) -> Self {
        let mut errors = Self::default();
        errors.add_as(Code::UnknownReference, astray.at, astray.why);
        errors
    }
}

/// What operations before this one answered, by what their caller calls them.
#[derive(Default)]
pub(super) struct Answered(HashMap<String, Option<Told>>);

/// An answer, taken apart where it is referred to: most never are.
struct Told {
    text: String,
    apart: OnceLock<Value>,
}

impl Answered {
    /// Notes what an operation came to; nothing of one that failed.
    pub(super) fn note(&mut self, id: String, came_to: &CameTo) {
        let told = match came_to {
            CameTo::Done { json, .. } => Some(Told { text: json.clone(), apart: OnceLock::new() }),
            CameTo::Failed(_) => None,
        };
        self.0.insert(id, told);
    }

    /// What an operation answered, or why there is nothing.
    fn of(&self, operation: &str) -> Result<&Value, String> {
        let told = self.0.get(operation);
        let told = told.ok_or_else(|| format!("{} is no operation before this one", quoted(operation)))?;
        let told = told.as_ref();
        let told = told.ok_or_else(|| format!("{} failed, so there is nothing to refer to", quoted(operation)))?;
        if let Some(apart) = told.apart.get() {
            return Ok(apart);
        }
        let apart = serde_json::from_str(&told.text);
        let apart = apart.map_err(|_| format!("what {} answered is not JSON", quoted(operation)))?;
        Ok(told.apart.get_or_init(|| apart))
    }
}

/// Where a value stands, as a fault names it.
fn inside(at: &str, name: &str) -> String {
    let name = quoted(name);
    if at.is_empty() { name.into_owned() } else { format!("{at}.{name}") }
}

/// The reference that a value is, if it is one. Whatever has the mark is one, or is meant to be.
fn marked(value: &Value) -> Option<&Value> {
    value.as_object()?.get(MARK)
}

/// Whether a value refers to anything.
pub(super) fn refers(value: &Value) -> bool {
    match value {
        Value::Object(members) => marked(value).is_some() || members.values().any(refers),
        Value::Array(elements) => elements.iter().any(refers),
        _ => false,
    }
}

/// Notes references that are none, or that name no operation before this one.
pub(super) fn check(value: &Value, at: &str, is_before: &impl Fn(&str) -> bool, faults: &mut FieldErrors) {
    if let Some(reference) = marked(value) {
        let whole = value.as_object().is_some_and(|members| members.len() == 1);
        match reference.as_str().filter(|_| whole).map(|text| (text, taken_apart(text))) {
            None => faults.add(at, "a reference is one text and stands alone, such as {\"$ref\": \"op1.id\"}"),
            Some((_, None)) => faults.add(at, NOT_A_REFERENCE),
            Some((text, Some((operation, _)))) if !is_before(operation) => {
                let why = format!("{} refers to no operation before this one", quoted(text));
                faults.add_as(Code::UnknownReference, at, why);
            }
            Some((_, Some(_))) => {}
        }
        return;
    }
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(name, member)| check(member, &inside(at, name), is_before, faults));
        }
        Value::Array(elements) => {
            let elements = elements.iter().enumerate();
            elements.for_each(|(place, element)| check(element, &format!("{at}[{place}]"), is_before, faults));
        }
        _ => {}
    }
}

const NOT_A_REFERENCE: &str =
    "must name an earlier operation and a member of its answer, such as op1.id or op1.lines[0].id";

/// A step into an answer.
enum Step<'r> {
    Member(&'r str),
    Element(usize),
}

/// `op1.lines[0].id`: the operation, and the steps into its answer.
fn taken_apart(reference: &str) -> Option<(&str, Vec<Step<'_>>)> {
    let (operation, members) = reference.split_once('.')?;
    let mut steps = Vec::new();
    for part in members.split('.') {
        let (name, places) = part.split_at(part.find('[').unwrap_or(part.len()));
        if name.is_empty() {
            return None;
        }
        steps.push(Step::Member(name));
        let mut rest = places;
        while !rest.is_empty() {
            let (place, after) = rest.strip_prefix('[')?.split_once(']')?;
            let digits = !place.is_empty() && place.bytes().all(|byte| byte.is_ascii_digit());
            steps.push(Step::Element(place.parse().ok().filter(|_| digits)?));
            rest = after;
        }
    }
    Some((operation, steps)).filter(|(operation, _)| !operation.is_empty())
}

/// The value with what it refers to in its place, as it was answered.
pub(super) fn resolved(value: &Value, at: &str, answered: &Answered) -> Result<Value, Astray> {
    if let Some(reference) = marked(value) {
        let value = reference.as_str().ok_or_else(|| NOT_A_REFERENCE.to_owned());
        return value
            .and_then(|reference| followed(reference, answered))
            .map_err(|why| Astray { at: at.to_owned(), why });
    }
    Ok(match value {
        Value::Object(members) => {
            let resolve =
                |(name, member): (&String, &Value)| Ok((name.clone(), resolved(member, &inside(at, name), answered)?));
            Value::Object(members.iter().map(resolve).collect::<Result<_, Astray>>()?)
        }
        Value::Array(elements) => {
            let elements = elements.iter().enumerate();
            let resolve = |(place, element): (usize, &Value)| resolved(element, &format!("{at}[{place}]"), answered);
            Value::Array(elements.map(resolve).collect::<Result<_, Astray>>()?)
        }
        plain => plain.clone(),
    })
}

fn followed(reference: &str, answered: &Answered) -> Result<Value, String> {
    let (operation, steps) = taken_apart(reference).ok_or(NOT_A_REFERENCE)?;
    let mut here = answered.of(operation)?;
    for step in steps {
        let next = match step {
            Step::Member(name) => here.get(name),
            Step::Element(place) => here.get(place),
        };
        here = next.ok_or_else(|| format!("{} is not in what {} answered", quoted(reference), quoted(operation)))?;
    }
    match here {
        Value::String(text) if text.chars().nth(LONGEST).is_some() => Err(long(reference)),
        Value::String(_) | Value::Number(_) | Value::Bool(_) => Ok(here.clone()),
        Value::Null | Value::Array(_) | Value::Object(_) => Err(long(reference)),
    }
}

/// The longest text that is referred to: whatever a record is called, and no more. A few bytes that stand for many would
/// make a small request a large one.
const LONGEST: usize = 200;

fn long(reference: &str) -> String {
    format!("{} is no number, no yes or no, and no text of at most {LONGEST} characters", quoted(reference))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::ledger::ReplyKind;
    use kit::operation::Failed;
    use serde_json::json;

    fn answered() -> Answered {
        let answer = json!({"id": "x", "total": 1, "lines": [{"id": "l"}], "notes": "n".repeat(201)});
        let failed = Failed::of(Error::field("name", "is required"));
        let mut answered = Answered::default();
        answered.note("op1".to_owned(), &CameTo::Done { kind: ReplyKind::Created, json: answer.to_string() });
        answered.note("op2".to_owned(), &CameTo::Failed(failed));
        answered
    }

    #[test]
    fn a_reference_becomes_what_it_names_wherever_it_stands() {
        let asked = json!({"partyId": {"$ref": "op1.id"}, "lines": [{"of": {"$ref": "op1.lines[0].id"}, "n": 2}]});
        let made = resolved(&asked, "", &answered()).unwrap_or_default();
        assert_eq!(made, json!({"partyId": "x", "lines": [{"of": "l", "n": 2}]}));
    }

    #[test]
    fn one_that_leads_nowhere_says_where_it_stands() {
        for (reference, why) in [
            ("op3.id", "op3 is no operation before this one"),
            ("op2.id", "op2 failed, so there is nothing to refer to"),
            ("op1.number", "op1.number is not in what op1 answered"),
            ("op1.lines[1].id", "op1.lines[1].id is not in what op1 answered"),
            ("op1.lines", "op1.lines is no number, no yes or no, and no text of at most 200 characters"),
            ("op1.notes", "op1.notes is no number, no yes or no, and no text of at most 200 characters"),
        ] {
            let asked = json!({"lines": [{"itemId": {"$ref": reference}}]});
            let astray = resolved(&asked, "", &answered()).err().map(|astray| (astray.at, astray.why));
            assert_eq!(astray, Some(("lines[0].itemId".to_owned(), why.to_owned())));
        }
    }

    #[test]
    fn what_is_meant_to_be_one_is_written_like_one() {
        let faults_of = |value: Value| {
            let mut faults = FieldErrors::default();
            check(&value, "body", &|name| name == "op1", &mut faults);
            (faults.iter().next().map(|(at, _)| at.clone()), faults.code())
        };
        let at = |place: &str| Some(place.to_owned());
        assert_eq!(faults_of(json!({"a": {"$ref": "op1.id"}})), (None, Code::ValidationFailed));
        assert_eq!(faults_of(json!({"a": [{"$ref": "op2.id"}]})), (at("body.a[0]"), Code::UnknownReference));
        for wrong in [json!("op1"), json!(7), json!("op1."), json!(".id"), json!("op1.lines[x]"), json!("op1.lines[0")]
        {
            assert_eq!(faults_of(json!({"a": {"$ref": wrong}})), (at("body.a"), Code::ValidationFailed));
        }
        assert_eq!(faults_of(json!({"a": {"$ref": "op1.id", "b": 1}})), (at("body.a"), Code::ValidationFailed));
    }
}
