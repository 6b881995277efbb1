//! What a batch is asked with, and what it answers.

use super::names::{self, Named, OperationName};
use super::reference;
use crate::error::FieldErrors;
use crate::field::{Faults, Field, Maybe};
use crate::ids::RecordId;
use crate::quoting::quoted;
use books::cx::Expectation;
use kit::operation::BodyNeed;
use kit::resource::Record;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::HashSet;

/// More operations are sent in more batches.
const MOST: usize = 100;
/// The longest name that a caller gives an operation.
const LONGEST_ID: usize = 64;

/// Operations that are done one after the other, in one turn.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct BatchInput {
    /// Whether all of them are done or none; `true` when absent.
    atomic: Maybe<bool>,
    /// What is done, in this order: 1 to 100 operations.
    #[schemars(extend("minItems" = 1, "maxItems" = 100))]
    operations: Field<Vec<Field<OperationInput>>>,
}

/// One operation of a batch.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
struct OperationInput {
    /// What you call it, to refer to its answer: letters, digits, `_` and `-`, at most 64, each name once.
    #[schemars(extend("maxLength" = 64, "pattern" = "^[A-Za-z0-9_-]+$"))]
    id: Maybe<String>,
    /// What is done.
    operation: Field<OperationName>,
    /// The record that it is done to, where it names one.
    path: Maybe<PathInput>,
    /// What its query would say. `dryRun` is said of the whole batch.
    query: Maybe<Map<String, Value>>,
    /// The `ETag` of the version that it is based on, as `If-Match` would say it.
    if_match: Maybe<Value>,
    /// Its body, as it is sent by itself. Wherever a value stands there may be an object with the only member `$ref`, such as
    /// `op1.id`: the member of what the earlier operation `op1` answered.
    body: Maybe<Map<String, Value>>,
}

/// What the path of an operation would say.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
struct PathInput {
    /// The identifier of the record, or a reference to it.
    id: Maybe<Value>,
}

/// An operation that fits what it is asked with; what it refers to is not known yet.
pub(super) struct Asked {
    pub(super) id: Option<String>,
    pub(super) named: Named,
    pub(super) record: Option<Value>,
    pub(super) if_match: Option<Value>,
    pub(super) body: Option<Value>,
}

impl BatchInput {
    /// Whether all or none are done, and what; every fault of their form at once.
    pub(super) fn check(self) -> Result<(bool, Vec<Asked>), FieldErrors> {
        let mut faults = Faults::default();
        let atomic = faults.optional("atomic", self.atomic);
        let operations = match self.operations {
            Field::Given(some) if some.is_empty() || some.len() > MOST => {
                faults.add("operations", format!("must be 1 to {MOST}"));
                Vec::new()
            }
            Field::Given(some) => faults.each("operations", Field::Given(Some(some)), OperationInput::read),
            missing => {
                faults.required("operations", missing);
                Vec::new()
            }
        };
        let operations = faults.finish(operations)?;
        let asked = fitting(operations)?;
        Ok((atomic != Some(false), asked))
    }
}

/// What was said of an operation, member by member.
struct Read {
    id: Option<String>,
    name: String,
    record: Option<Value>,
    query: Map<String, Value>,
    if_match: Option<Value>,
    body: Option<Value>,
}

impl OperationInput {
    fn read(faults: &mut Faults, input: Self) -> Read {
        let id = faults.optional("id", input.id);
        if id.as_ref().is_some_and(|id| !is_name(id)) {
            faults.add("id", format!("must be 1 to {LONGEST_ID} letters, digits, _ or -"));
        }
        let path = faults.optional("path", input.path);
        Read {
            id,
            name: faults.required("operation", input.operation).0,
            record: path.and_then(|path| faults.inside("path", path.id, |faults, id| faults.optional("id", id))),
            query: faults.optional("query", input.query).into_iter().flatten().collect(),
            if_match: faults.optional("ifMatch", input.if_match),
            body: faults.optional("body", input.body).map(Value::Object),
        }
    }
}

fn is_name(id: &str) -> bool {
    let letters = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=LONGEST_ID).contains(&id.len()) && id.bytes().all(letters)
}

/// Each with the operation that it names, where it has what that needs and no more.
fn fitting(operations: Vec<Read>) -> Result<Vec<Asked>, FieldErrors> {
    let mut faults = FieldErrors::default();
    let (mut before, mut asked) = (HashSet::new(), Vec::with_capacity(operations.len()));
    for (place, read) in operations.into_iter().enumerate() {
        let at = |name: &str| format!("operations[{place}].{name}");
        let named = names::find(&read.name);
        match &named {
            Ok(named) => check_fit(*named, &read, at, &mut faults),
            Err(why) => faults.add(at("operation"), why.as_str()),
        }
        for (name, value) in [("path.id", &read.record), ("ifMatch", &read.if_match), ("body", &read.body)] {
            let Some(value) = value else { continue };
            reference::check(value, &at(name), &|id| before.contains(id), &mut faults);
        }
        let Read { id, record, if_match, body, .. } = read;
        if id.as_ref().is_some_and(|id| !before.insert(id.clone())) {
            faults.add(at("id"), "is the name of an operation before this one");
        }
        asked.extend(named.map(|named| Asked { id, named, record, if_match, body }));
    }
    if faults.is_empty() { Ok(asked) } else { Err(faults) }
}

fn check_fit((resource, verb): Named, read: &Read, at: impl Fn(&str) -> String, faults: &mut FieldErrors) {
    match (resource.names_record(verb), &read.record) {
        (true, None) => faults.add(at("path.id"), "is required: the record that it is done to"),
        (false, Some(_)) => faults.add(at("path.id"), "must not be given: the operation names no record"),
        (true, Some(_)) | (false, None) => {}
    }
    if read.if_match.is_some() && !resource.names_record(verb) {
        faults.add(at("ifMatch"), "must not be given: the operation names no record");
    }
    match (resource.body_need(verb), &read.body) {
        (BodyNeed::Required, None) => faults.add(at("body"), "is required"),
        (BodyNeed::None, Some(_)) => faults.add(at("body"), "must not be given: the operation takes none"),
        (BodyNeed::Required | BodyNeed::Optional, Some(_)) | (BodyNeed::Optional | BodyNeed::None, None) => {}
    }
    for name in read.query.keys() {
        let why = if name == "dryRun" { "is said of the whole batch" } else { "is not a known parameter" };
        faults.add(at(&format!("query.{}", quoted(name))), why);
    }
}

/// What an operation expects of its record, as `If-Match` says it.
pub(super) fn expectation(said: Option<&Value>) -> Result<Expectation, String> {
    let Some(said) = said else { return Ok(Expectation::Unsaid) };
    let text = said.as_str().ok_or("must be an ETag")?;
    let tags: Vec<&str> = text.split(',').map(str::trim).collect();
    if tags.contains(&"*") {
        return Ok(Expectation::Any);
    }
    let bare = |tag: &str| tag.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(tag).to_owned();
    Ok(Expectation::Tags(tags.into_iter().map(bare).collect()))
}

/// What a batch came to.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BatchAnswer {
    /// What each operation came to, in the order in which they were asked.
    pub(super) results: Vec<BatchResult>,
}

/// What one operation of a batch came to.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BatchResult {
    /// What you called it; null where you gave it no name.
    pub(super) id: Option<String>,
    /// The status that it would have had by itself.
    pub(super) status: u16,
    /// The code of its failure; null where it was done.
    pub(super) code: Option<String>,
    /// What it would have answered by itself, wrapped as this dialect does.
    pub(super) body: Map<String, Value>,
}

impl Record for BatchAnswer {
    fn id(&self) -> RecordId {
        RecordId::default()
    }

    fn version(&self) -> i64 {
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;
    use kit::body::{Shape, read};
    use serde_json::json;

    fn faults_of(body: &Value) -> (Vec<String>, Code) {
        let read =
            read(body.to_string().as_bytes(), &Shape::of_input::<BatchInput>(), &Shape::default(), BatchInput::check);
        match read {
            Ok(_) => (Vec::new(), Code::ValidationFailed),
            Err(error) => {
                let code = error.code();
                (error.into_fields().iter().map(|(field, _)| field.clone()).collect(), code)
            }
        }
    }

    #[test]
    fn the_form_of_a_batch_is_judged_as_a_whole() {
        let make = |id: &str| json!({"id": id, "operation": "partiesCreate", "body": {"name": "x"}});
        let one = |members: Value| json!({"operations": [make("op1"), members]});
        let many = |count: usize| json!({"operations": vec![json!({"operation": "partiesCreate", "body": {}}); count]});
        for (body, expected) in [
            (json!({}), vec!["operations"]),
            (json!({"operations": []}), vec!["operations"]),
            (many(100), vec![]),
            (many(101), vec!["operations"]),
            (one(make("op1")), vec!["operations[1].id"]),
            (one(make("op 2")), vec!["operations[1].id"]),
            (one(json!({"operation": "partiesList"})), vec!["operations[1].operation"]),
            (one(json!({"operation": "partiesUpdate"})), vec!["operations[1].path.id", "operations[1].body"]),
            (one(json!({"operation": "partiesDelete", "path": {"id": "x"}, "body": {}})), vec!["operations[1].body"]),
            (
                one(json!({"operation": "partiesCreate", "path": {"id": "x"}, "ifMatch": "*", "body": {}})),
                vec!["operations[1].path.id", "operations[1].ifMatch"],
            ),
            (
                one(json!({"operation": "partiesCreate", "query": {"dryRun": true, "page": 1}, "body": {}})),
                vec!["operations[1].query.dryRun", "operations[1].query.page"],
            ),
            (one(json!({"operation": "partiesCreate", "body": {}, "colour": 1})), vec!["operations[1].colour"]),
        ] {
            assert_eq!(faults_of(&body), (expected.iter().map(ToString::to_string).collect(), Code::ValidationFailed));
        }
    }

    #[test]
    fn a_reference_names_an_operation_before_it() {
        let refers = |id: &str, to: &str| json!({"id": id, "operation": "partiesDelete", "path": {"id": {"$ref": to}}});
        let make = json!({"id": "a", "operation": "partiesCreate", "body": {"name": "x"}});
        let batch = |operations: Value| faults_of(&json!({"operations": operations}));
        assert_eq!(batch(json!([make, refers("b", "a.id")])).0, Vec::<String>::new());
        let astray = |at: &str| (vec![at.to_owned()], Code::UnknownReference);
        assert_eq!(batch(json!([make, refers("b", "c.id")])), astray("operations[1].path.id"));
        assert_eq!(batch(json!([refers("b", "a.id"), make])), astray("operations[0].path.id"));
        assert_eq!(batch(json!([make, refers("b", "b.id")])), astray("operations[1].path.id"));
    }

    #[test]
    fn a_version_is_said_as_a_header_says_it() {
        let said = |text: &str| expectation(Some(&text.into()));
        let tag = |text: &str| Ok(Expectation::Tags(vec![text.to_owned()]));
        assert_eq!(said("\"x-1\""), tag("x-1"));
        assert_eq!(said("x-1"), tag("x-1"));
        assert_eq!(said("*"), Ok(Expectation::Any));
        assert_eq!(expectation(None), Ok(Expectation::Unsaid));
        assert!(expectation(Some(&json!(1))).is_err());
    }
}
