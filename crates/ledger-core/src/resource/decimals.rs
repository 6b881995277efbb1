//! Decimals as texts, for programs that read numbers of JSON into binary floats.
//!
//! Owns: which numbers of an answer are decimals. Its schemas say so: what is exact is a `number`, what is counted an
//! `integer`. What stands where a schema says nothing, such as a record in the audit log, is called there as everywhere.

use super::registry::registry;
use crate::error::{Error, Result};
use kit::extra::Does;
use kit::operation::{ResourceOperations, Verb};
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

/// What the numbers of a member are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Decimal,
    Whole,
}

/// Each name is of one kind, wherever it stands; a test holds that.
type Names = HashMap<String, BTreeSet<Kind>>;

/// What numbers are called in all that is answered.
static ALL: LazyLock<Names> = LazyLock::new(|| {
    let mut generator = generator();
    for resource in registry() {
        let _view = (resource.view_schema)(&mut generator);
        for verb in resource.verbs() {
            answered(resource, verb, &mut generator);
        }
    }
    names(generator)
});

fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().for_serialize().into_generator()
}

/// Has the generator know what an operation answers.
fn answered(resource: &ResourceOperations, verb: Verb, generator: &mut SchemaGenerator) {
    let schema = match resource.extra(verb).map(|extra| &extra.does) {
        Some(Does::Reads(reading)) => reading.schema,
        Some(Does::Writes(_)) | None => super::registry::answering(resource, verb).view_schema,
    };
    let _known = schema(generator);
}

fn names(mut generator: SchemaGenerator) -> Names {
    let definitions = generator.take_definitions(false);
    let mut names = Names::new();
    for schema in definitions.values() {
        note(schema, &definitions, &mut names);
    }
    names
}

/// Notes the members of a schema that are numbers, and those of what stands within it.
fn note(schema: &Value, definitions: &Map<String, Value>, names: &mut Names) {
    match schema {
        Value::Object(members) => {
            for (name, member) in members.get("properties").and_then(Value::as_object).into_iter().flatten() {
                for kind in kinds(member, definitions) {
                    names.entry(name.clone()).or_default().insert(kind);
                }
            }
            members.values().for_each(|inner| note(inner, definitions, names));
        }
        Value::Array(elements) => elements.iter().for_each(|inner| note(inner, definitions, names)),
        _ => {}
    }
}

/// What the numbers of a value are, of its elements, and of its members where these have no names.
fn kinds(schema: &Value, definitions: &Map<String, Value>) -> Vec<Kind> {
    let mut found = Vec::new();
    let types = schema["type"].as_array().into_iter().flatten().chain(schema.get("type"));
    found.extend(types.filter_map(|one| match one.as_str() {
        Some("number") => Some(Kind::Decimal),
        Some("integer") => Some(Kind::Whole),
        _ => None,
    }));
    for inner in ["items", "additionalProperties"] {
        found.extend(schema.get(inner).into_iter().flat_map(|inner| kinds(inner, definitions)));
    }
    for alternatives in ["allOf", "anyOf", "oneOf"] {
        let alternatives = schema[alternatives].as_array().into_iter().flatten();
        found.extend(alternatives.flat_map(|one| kinds(one, definitions)));
    }
    let reference = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next());
    // What is a number has a name of its own; a record that is referred to notes its members itself.
    let referred = reference.and_then(|name| definitions.get(name)).filter(|schema| schema.get("properties").is_none());
    found.extend(referred.into_iter().flat_map(|schema| kinds(schema, definitions)));
    found
}

/// An answer with its decimals as texts, digit for digit.
pub fn as_texts(json: &str) -> Result<String> {
    let mut value: Value = serde_json::from_str(json).map_err(Error::internal)?;
    told(&mut value, Kind::Whole);
    Ok(value.to_string())
}

fn told(value: &mut Value, kind: Kind) {
    match value {
        Value::Number(number) if kind == Kind::Decimal => *value = Value::String(number.to_string()),
        Value::Array(elements) => elements.iter_mut().for_each(|element| told(element, kind)),
        Value::Object(members) => {
            for (name, member) in members {
                // What has no name of its own, such as the sums of an ageing by their days, is of the kind of what it is in.
                let called = ALL.get(name).and_then(|kinds| kinds.first()).copied();
                told(member, called.unwrap_or(kind));
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_exact_is_told_apart_from_what_is_counted() {
        let json = r#"{"version":3,"total":10.00,"lines":[{"position":1,"quantity":2,"unitPrice":12345678901234567.890001}],"notes":"7"}"#;
        let texts = r#"{"version":3,"total":"10.00","lines":[{"position":1,"quantity":"2","unitPrice":"12345678901234567.890001"}],"notes":"7"}"#;
        assert_eq!(as_texts(json).ok().as_deref(), Some(texts));
        // Where a schema says nothing, and where members are called by what they are of.
        let json = r#"{"after":{"total":1.50,"version":1},"postings":[{"entry":1,"debit":7}],"totals":{"1-30":2.00}}"#;
        let texts =
            r#"{"after":{"total":"1.50","version":1},"postings":[{"entry":1,"debit":"7"}],"totals":{"1-30":"2.00"}}"#;
        assert_eq!(as_texts(json).ok().as_deref(), Some(texts));
    }

    #[test]
    fn a_name_is_of_one_kind_of_number_wherever_it_stands() {
        let either: Vec<_> = ALL.iter().filter(|(_, kinds)| kinds.len() != 1).collect();
        assert!(either.is_empty(), "{either:?}");
        assert!(ALL.len() > 100, "{}", ALL.len());
    }
}
