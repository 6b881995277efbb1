//! What programs stumble over that read the documents: those that make clients of them, check them and test by them. The
//! rules are those that Redocly and Spectral recommend, and what generators were seen to do.

use crate::harness::{Engine, Request, Server};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

const OF_30: [&str; 3] = ["/swagger/v1/swagger.json", "/swagger/a/swagger.json", "/swagger/b/swagger.json"];
const OF_31: &str = "/swagger/v1/openapi-3.1.json";

fn document(path: &str) -> Value {
    Server::shared(Engine::Sqlite).expect("SQLite needs nothing").send(&Request::new("GET", path)).expect(200).json()
}

/// Every value of a document but what examples are made of, with its place.
fn each(document: &Value, look: &mut impl FnMut(&str, &Map<String, Value>)) {
    fn walk(value: &Value, place: &str, look: &mut impl FnMut(&str, &Map<String, Value>)) {
        match value {
            Value::Object(members) => {
                look(place, members);
                for (name, member) in members {
                    if !["example", "examples", "enum", "required", "x-wrapping"].contains(&name.as_str()) {
                        walk(member, &format!("{place}/{name}"), look);
                    }
                }
            }
            Value::Array(elements) => {
                let places = elements.iter().enumerate();
                places.for_each(|(index, one)| walk(one, &format!("{place}/{index}"), look));
            }
            _ => {}
        }
    }
    walk(document, "", look);
}

/// Every operation, with its place.
fn operations(document: &Value) -> impl Iterator<Item = (String, &Value)> {
    let paths = document["paths"].as_object().unwrap().iter();
    paths.flat_map(|(path, item)| {
        item.as_object().unwrap().iter().map(move |(method, one)| (format!("{method} {path}"), one))
    })
}

/// What of a document in the words of 3.0 a program would read otherwise than it is meant.
fn stumbles(document: &Value) -> Vec<String> {
    let mut found = Vec::new();
    each(document, &mut |place, members| {
        let mut at = |what: &str| found.push(format!("{place}: {what}"));
        let is_of = |name: &str| members.get(name).and_then(Value::as_array);
        if members.get("nullable").is_some_and(Value::is_boolean) && !members.get("type").is_some_and(Value::is_string)
        {
            at("may be null, beside no type");
        }
        if members.contains_key("$ref") && members.len() > 1 {
            at("says more beside a reference");
        }
        for word in ["anyOf", "oneOf"] {
            let Some(all) = is_of(word) else { continue };
            if all.len() < 2 {
                at("a choice of one");
            }
            if all.iter().filter(|one| one["enum"].is_array() && one["enum"][0].is_string()).count() > 0 {
                at("a choice of words, which is no list of words");
            }
            if all.iter().any(|one| one["type"] == "object") {
                at("a choice of something without a name");
            }
        }
        if let Some(words) = is_of("enum") {
            let distinct: BTreeSet<String> = words.iter().map(ToString::to_string).collect();
            let kind = members.get("type").and_then(Value::as_str).unwrap_or_default();
            let fits = |word: &Value| match kind {
                "string" => word.is_string(),
                "integer" => word.is_number(),
                "boolean" => word.is_boolean(),
                _ => false,
            };
            let may_be_null = members.get("nullable") == Some(&Value::Bool(true));
            if distinct.len() < words.len() || !words.iter().all(|word| fits(word) || word.is_null() && may_be_null) {
                at("words that are not of its type, or the same twice");
            }
            if place.starts_with("/components/schemas/") && place.matches('/').count() > 3 && words.len() > 1 {
                at("a list of words without a name");
            }
        }
        // Else a checker that reads to the letter takes no null there.
        let is_null = |one: &Value| one["$ref"] == "#/components/schemas/Null";
        if ["anyOf", "allOf"].iter().filter_map(|word| is_of(word)).flatten().any(is_null) {
            at("null in a choice that is none of one or the other");
        }
        if members.contains_key("default")
            && ["$ref", "allOf", "oneOf", "anyOf"].iter().any(|word| members.contains_key(*word))
        {
            at("a default of what is described elsewhere");
        }
        let is_schema = place.starts_with("/components/schemas/") && place.matches('/').count() > 3;
        if is_schema && members.get("type").is_some_and(|kind| kind == "object") && members.contains_key("properties") {
            at("an object without a name");
        }
        if members.get("type").is_some_and(|kind| kind == "array") && !members.contains_key("items") {
            at("a list of nobody knows what");
        }
        // What is counted is an integer. Who makes types of decimals finds them by this word.
        if members.get("type").is_some_and(|kind| kind == "number")
            && !members.get("format").is_some_and(|format| format == "decimal")
        {
            at("a number that does not say that it is a decimal");
        }
        // A class that is called like another one is numbered, and who comes between them numbers it anew.
        let name = place.strip_prefix("/components/schemas/").filter(|name| !name.contains('/'));
        if name.is_some_and(|name| name.ends_with(|letter: char| letter.is_ascii_digit())) {
            at("a name that is another's with a number");
        }
    });
    found
}

#[test]
fn a_program_reads_what_is_meant() {
    for path in OF_30 {
        let found = stumbles(&document(path));
        assert!(found.is_empty(), "{path}: {} of {found:#?}", found.len());
    }
    // The eye sees.
    let good = document(OF_30[2]);
    for (name, schema) in [
        ("untyped", serde_json::json!({"allOf": [{"$ref": "#/components/schemas/Party"}], "nullable": true})),
        ("words", serde_json::json!({"oneOf": [{"type": "string", "enum": ["a"]}, {"type": "string", "enum": ["b"]}]})),
        ("one", serde_json::json!({"anyOf": [{"$ref": "#/components/schemas/Party"}]})),
        ("boxes", serde_json::json!({"allOf": [{"$ref": "#/components/schemas/Party"}], "default": {}})),
        ("amount", serde_json::json!({"type": "number", "nullable": true})),
        ("Party2", serde_json::json!({"type": "string"})),
        ("row", serde_json::json!({"type": "array", "items": {"type": "object", "properties": {"a": {}}}})),
    ] {
        let mut bad = good.clone();
        bad["components"]["schemas"][name] = schema;
        assert!(!stumbles(&bad).is_empty(), "{name}");
    }
}

/// What is said in full in several places.
fn said_again(document: &Value) -> BTreeMap<String, usize> {
    let mut said: BTreeMap<String, usize> = BTreeMap::new();
    let mut count = |value: &Value| {
        if value.get("$ref").is_none() {
            *said.entry(value.to_string()).or_default() += 1;
        }
    };
    for (_, operation) in operations(document) {
        operation["parameters"].as_array().into_iter().flatten().for_each(&mut count);
        for answer in operation["responses"].as_object().unwrap().values() {
            count(answer);
            answer["headers"].as_object().into_iter().flatten().for_each(|(_, header)| count(header));
        }
    }
    for (_, answer) in document["components"]["responses"].as_object().unwrap() {
        answer["headers"].as_object().into_iter().flatten().for_each(|(_, header)| count(header));
    }
    // Where both dialects are told of, the body of an operation that has values of its own stands with each of its two.
    let mut told = document.clone();
    for item in
        told["paths"].as_object_mut().unwrap().values_mut().flat_map(|item| item.as_object_mut().unwrap().values_mut())
    {
        if item["operationId"].as_str().is_some_and(|name| name.ends_with('B')) {
            item["requestBody"].take();
        }
    }
    each_example(&told, &mut |example| {
        // A word or two is shorter than what would refer to it.
        if example.to_string().len() > 300 {
            count(example);
        }
    });
    said.retain(|_, times| *times > 1);
    said
}

fn each_example(value: &Value, look: &mut impl FnMut(&Value)) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match name.as_str() {
                    "example" => look(member),
                    "properties" => member.as_object().unwrap().values().for_each(|one| each_example(one, look)),
                    _ => each_example(member, look),
                }
            }
        }
        Value::Array(elements) => elements.iter().for_each(|one| each_example(one, look)),
        _ => {}
    }
}

#[test]
fn nothing_is_said_twice() {
    for path in OF_30.into_iter().chain([OF_31]) {
        let again = said_again(&document(path));
        assert!(again.is_empty(), "{path}: {again:#?}");
    }
    let mut bad = document(OF_30[2]);
    let parameter = bad["components"]["parameters"]["Page"].clone();
    for list in ["/parties", "/items"] {
        bad["paths"][list]["get"]["parameters"][0] = parameter.clone();
    }
    assert_eq!(said_again(&bad).len(), 1);
}

#[test]
fn what_is_referred_to_is_there_and_all_that_is_there_is_referred_to() {
    for path in OF_30.into_iter().chain([OF_31]) {
        let document = document(path);
        let mut met = BTreeSet::new();
        each(&document, &mut |place, members| {
            let Some(reference) = members.get("$ref").and_then(Value::as_str) else { return };
            assert!(document.pointer(&reference[1..]).is_some(), "{path} {place}: {reference} leads nowhere");
            // Nothing leads to itself alone.
            if !place.starts_with(&format!("{}/", &reference[1..])) {
                met.insert(reference.to_owned());
            }
        });
        for (kind, all) in document["components"].as_object().unwrap() {
            for name in all.as_object().unwrap().keys() {
                let is_twice = kind == "parameters" && document["components"]["schemas"].get(name).is_some();
                assert!(!is_twice, "{path}: {name} is a parameter, and a record");
                let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
                assert!(is_plain && !name.is_empty(), "{path}: {name:?}");
                let reference = format!("#/components/{kind}/{name}");
                assert!(kind == "securitySchemes" || met.contains(&reference), "{path}: nothing leads to {reference}");
            }
        }
    }
}

#[test]
fn the_rules_of_those_who_check_documents_are_kept() {
    for path in OF_30.into_iter().chain([OF_31]) {
        let document = document(path);
        let license = document["info"]["license"].as_object().unwrap();
        assert!(license.contains_key(if path == OF_31 { "identifier" } else { "url" }), "{path}");
        let tags: BTreeMap<&str, &Value> =
            document["tags"].as_array().unwrap().iter().map(|tag| (tag["name"].as_str().unwrap(), tag)).collect();
        assert_eq!(tags.len(), document["tags"].as_array().unwrap().len(), "{path}: a group twice");
        let schemes = document["components"]["securitySchemes"].as_object().unwrap();
        let mut ids = BTreeSet::new();
        for (place, operation) in operations(&document) {
            let id = operation["operationId"].as_str().unwrap();
            assert!(ids.insert(id), "{place}: {id} twice");
            assert!(id.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{place}: {id}");
            assert!(!place.ends_with('/') && !place.contains('?'), "{place}");
            for tag in operation["tags"].as_array().unwrap() {
                let tag = tags.get(tag.as_str().unwrap()).unwrap_or_else(|| panic!("{place}: {tag}"));
                assert!(tag["description"].is_string(), "{tag}");
            }
            for scheme in
                operation["security"].as_array().unwrap().iter().flat_map(|one| one.as_object().unwrap().keys())
            {
                assert!(schemes.contains_key(scheme), "{place}: {scheme}");
            }
            let responses = operation["responses"].as_object().unwrap();
            assert!(responses.keys().any(|status| status.starts_with('2')), "{place}");
            assert!(responses.keys().any(|status| status.starts_with('4')), "{place}");
            assert!(!(place.starts_with("get ") && operation.get("requestBody").is_some()), "{place}");
        }
    }
}

/// Each parameter of an operation, wherever it is said.
fn parameters<'d>(document: &'d Value, operation: &'d Value) -> impl Iterator<Item = &'d Value> {
    let all = operation["parameters"].as_array().into_iter().flatten();
    all.map(|one| one["$ref"].as_str().map_or(one, |to| document.pointer(&to[1..]).unwrap()))
}

#[test]
fn each_parameter_says_its_bounds_and_lists_are_sent_as_programs_send_them() {
    for path in OF_30 {
        let document = document(path);
        for (place, operation) in operations(&document) {
            let in_path: BTreeSet<&str> = place.split(['{', '}']).skip(1).step_by(2).collect();
            let mut said_in_path = BTreeSet::new();
            for one in parameters(&document, operation) {
                let (schema, name) = (&one["schema"], one["name"].as_str().unwrap());
                let place = format!("{path} {place} {name}");
                assert!(one["description"].as_str().is_some_and(|about| !about.is_empty()), "{place}");
                if one["in"] == "path" {
                    said_in_path.insert(name);
                    continue;
                }
                assert!(name != "page" || schema.get("default").is_none(), "{place}: it would be sent beside a cursor");
                assert_ne!(name, "X-Business-Id", "{place}: it is named once, like the token");
                assert!(one.get("explode").is_none(), "{place}");
                let names_version = name == "If-Match" || name == "If-None-Match";
                let bounds: &[&str] = match schema["type"].as_str().unwrap() {
                    "array" => &["uniqueItems", "minItems", "items"],
                    "integer" | "number" => &["minimum", "maximum"],
                    "string" if names_version => &[],
                    "string" => &["enum", "format", "pattern", "maxLength", "minLength"],
                    "boolean" => &[],
                    other => panic!("{place}: {other}"),
                };
                let said = bounds.iter().filter(|bound| schema.get(**bound).is_some()).count();
                // A text is bound by any of them, and all else by all.
                let is_bound =
                    if schema["type"] == "string" { said > 0 || bounds.is_empty() } else { said == bounds.len() };
                assert!(is_bound, "{place}: {schema}");
            }
            assert_eq!(in_path, said_in_path, "{path} {place}");
        }
    }
}

/// Two paths that checkers take for one: where either has a word, the other has the same or a parameter. Answers the words
/// that would have to be what stands in the place of an identifier.
fn meant_by_both<'p>(one: &'p str, other: &'p str) -> Option<Vec<&'p str>> {
    let (one, other): (Vec<_>, Vec<_>) = (one.split('/').collect(), other.split('/').collect());
    let is_open = |part: &str| part.starts_with('{');
    let fits = |(one, other): (&&str, &&str)| one == other || is_open(one) || is_open(other);
    if one.len() != other.len() || !one.iter().zip(&other).all(fits) {
        return None;
    }
    let words = one.iter().zip(&other).filter(|(one, other)| is_open(one) != is_open(other));
    Some(words.map(|(one, other)| if is_open(one) { *other } else { *one }).collect())
}

/// So `no-ambiguous-paths` is off in `openapi/redocly.yaml`.
#[test]
fn no_request_means_two_paths() {
    for path in OF_30 {
        let document = document(path);
        let paths: Vec<&str> = document["paths"].as_object().unwrap().keys().map(String::as_str).collect();
        let mut alike = 0;
        for (place, one) in paths.iter().enumerate() {
            for other in &paths[place + 1..] {
                let Some(words) = meant_by_both(one, other) else { continue };
                // Two of nothing but parameters are told apart by nobody.
                assert!(!words.is_empty(), "{path}: {one} and {other}");
                // What is minted is a UUID, and so no word has its length.
                assert!(words.iter().any(|word| word.len() != 36), "{path}: {one} and {other}");
                alike += 1;
            }
        }
        assert!(alike > 80, "{path}: {alike}");
    }
    assert_eq!(meant_by_both("/{a}/items", "/{b}/items"), Some(vec![]));
    assert_eq!(meant_by_both("/{a}/items", "/Businesses/{id}"), Some(vec!["Businesses", "items"]));
    assert_eq!(meant_by_both("/{a}/items", "/Businesses/{id}/copy"), None);
}

#[test]
fn from_what_is_made_there_is_a_way_to_read_change_and_delete_it() {
    for path in OF_30 {
        let document = document(path);
        let by_id: BTreeMap<&str, (String, &Value)> =
            operations(&document).map(|(place, one)| (one["operationId"].as_str().unwrap(), (place, one))).collect();
        let mut ways = 0;
        for (id, (_, operation)) in &by_id {
            let Some((stem, letter)) =
                ["", "A", "B"].iter().find_map(|end| Some((id.strip_suffix(&format!("Create{end}"))?, end)))
            else {
                continue;
            };
            let made = &operation["responses"]["201"];
            // Where something else is answered alike it is said once.
            let made = made["$ref"].as_str().and_then(|place| document.pointer(&place[1..])).unwrap_or(made);
            let links = &made["links"];
            for (name, verb) in [("get", "Get"), ("update", "Update"), ("delete", "Delete")] {
                let to = format!("{stem}{verb}{letter}");
                let Some((place, target)) = by_id.get(to.as_str()) else { continue };
                assert_eq!(links[name]["operationId"], to.as_str(), "{id}");
                let needed = parameters(&document, target).filter(|one| one["in"] == "path");
                for parameter in needed {
                    let given = &links[name]["parameters"][parameter["name"].as_str().unwrap()];
                    assert!(given.as_str().is_some_and(|said| said.starts_with('$')), "{id} to {place}: {parameter}");
                }
                ways += 1;
            }
        }
        assert!(ways > 60, "{ways}");
    }
}
