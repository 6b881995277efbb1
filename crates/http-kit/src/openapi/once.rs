//! What a document would say in several places it says once, among its components, and refers to it there.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use std::cmp::Reverse;
use std::collections::HashSet;

pub(super) fn said_once(document: &mut Value) {
    let headers = gathered("headers", HashSet::new(), headers(document));
    put(document, "headers", headers);
    // Some make a type of each, in one room with those of records.
    let records = document.pointer("/components/schemas").and_then(Value::as_object).into_iter();
    let records = records.flat_map(Map::keys).cloned().collect();
    let parameters = gathered("parameters", records, operations(document).flat_map(parameters).collect());
    put(document, "parameters", parameters);
    // Last: answers are alike where their headers are.
    let responses = gathered("responses", HashSet::new(), operations(document).flat_map(responses).collect());
    put(document, "responses", responses);
}

/// Leaves out the schemas that nothing leads to: what others are made of need not stand by itself.
pub(super) fn only_what_is_meant(document: &mut Value) {
    let mut met = HashSet::new();
    let mut ahead = references(&document["paths"]);
    for kind in ["parameters", "headers", "responses"] {
        ahead.extend(references(&document["components"][kind]));
    }
    while let Some(name) = ahead.pop() {
        if met.insert(name.clone()) {
            ahead.extend(references(&document["components"]["schemas"][&name]));
        }
    }
    if let Some(schemas) = document.pointer_mut("/components/schemas").and_then(Value::as_object_mut) {
        schemas.retain(|name, _| met.contains(name));
    }
}

/// The schemas that something refers to.
fn references(value: &Value) -> Vec<String> {
    match value {
        Value::Object(members) => {
            let own = members.get("$ref").and_then(Value::as_str);
            let own = own.and_then(|reference| reference.strip_prefix("#/components/schemas/")).map(str::to_owned);
            own.into_iter().chain(members.values().flat_map(references)).collect()
        }
        Value::Array(elements) => elements.iter().flat_map(references).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

/// A value in its place, and what it may be called: the shortest name first, and last one that is its own.
struct Found<'d> {
    names: Vec<String>,
    value: &'d mut Value,
}

/// What stands more than once becomes a reference; answers what is referred to, by its name.
fn gathered(kind: &str, mut taken: HashSet<String>, mut found: Vec<Found<'_>>) -> Map<String, Value> {
    let mut alike: IndexMap<String, Vec<usize>> = IndexMap::new();
    for (place, one) in found.iter().enumerate() {
        alike.entry(one.value.to_string()).or_default().push(place);
    }
    let mut several: Vec<Vec<usize>> = alike.into_values().filter(|places| places.len() > 1).collect();
    // What stands most often has the shortest name.
    several.sort_by_key(|places| Reverse(places.len()));
    let mut said = Map::new();
    for places in several {
        let names = places.first().and_then(|place| found.get(*place)).map(|one| one.names.clone());
        let Some(name) = names.into_iter().flatten().find(|name| taken.insert(name.clone())) else { continue };
        let reference = json!({"$ref": format!("#/components/{kind}/{name}")});
        for place in places {
            if let Some(one) = found.get_mut(place) {
                said.insert(name.clone(), std::mem::replace(one.value, reference.clone()));
            }
        }
    }
    said
}

fn put(document: &mut Value, kind: &str, said: Map<String, Value>) {
    let Some(components) = document.get_mut("components").and_then(Value::as_object_mut) else { return };
    if let Some(known) = components.entry(kind).or_insert_with(|| json!({})).as_object_mut() {
        known.extend(said);
        known.sort_keys();
    }
}

/// Each operation.
fn operations(document: &mut Value) -> impl Iterator<Item = &mut Value> {
    let paths = document.get_mut("paths").and_then(Value::as_object_mut);
    paths.into_iter().flat_map(Map::values_mut).filter_map(Value::as_object_mut).flat_map(Map::values_mut)
}

/// Of an operation: what it is called, and the group that it is in.
fn called(operation: &Value) -> (String, String) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let group = text(&operation["tags"][0]);
    let group = group.split(" (").next().map(joined);
    (joined(&text(&operation["operationId"])), group.unwrap_or_default())
}

fn parameters(operation: &mut Value) -> Vec<Found<'_>> {
    let (own, group) = called(operation);
    let mut found = Vec::new();
    for value in operation.get_mut("parameters").and_then(Value::as_array_mut).into_iter().flatten() {
        let name = joined(value["name"].as_str().unwrap_or_default());
        let names = vec![name.clone(), format!("{group}{name}"), format!("{own}{name}")];
        found.push(Found { names, value });
    }
    found
}

/// Those that are not among the components already.
fn responses(operation: &mut Value) -> Vec<Found<'_>> {
    let (own, _) = called(operation);
    let mut found = Vec::new();
    for (status, value) in operation.get_mut("responses").and_then(Value::as_object_mut).into_iter().flatten() {
        if value.get("$ref").is_some() {
            continue;
        }
        let schema = value.pointer("/content/application~1json/schema/$ref").and_then(Value::as_str);
        let said = schema.and_then(|reference| reference.rsplit('/').next()).map(str::to_owned);
        // Without a body there is one of each status.
        let name = said.unwrap_or_else(|| if status == "304" { "NotModified".into() } else { own.clone() });
        found.push(Found { names: vec![name, format!("{own}{status}")], value });
    }
    found
}

/// Those of all answers, in operations and among the components.
fn headers(document: &mut Value) -> Vec<Found<'_>> {
    let mut answers = Vec::new();
    for (kind, said) in document.as_object_mut().into_iter().flatten() {
        match kind.as_str() {
            "paths" => {
                let items = said.as_object_mut().into_iter().flat_map(Map::values_mut);
                let operations = items.filter_map(Value::as_object_mut).flat_map(Map::values_mut);
                answers.extend(operations.filter_map(|operation| operation.get_mut("responses")));
            }
            "components" => answers.extend(said.get_mut("responses")),
            _ => {}
        }
    }
    let mut found = Vec::new();
    for (status, answer) in answers.into_iter().filter_map(Value::as_object_mut).flatten() {
        for (name, value) in answer.get_mut("headers").and_then(Value::as_object_mut).into_iter().flatten() {
            found.push(Found { names: vec![name.clone(), format!("{name}-{status}")], value });
        }
    }
    found
}

/// A name as components have it.
fn joined(text: &str) -> String {
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>()).unwrap_or_default()
    };
    text.split([' ', ',', '’', '\'']).map(capital).collect()
}
