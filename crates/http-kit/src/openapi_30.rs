//! OpenAPI 3.1 written down as 3.0.3, for client generators that have not moved on.
//!
//! Walks schema positions only: examples, extensions and property names are left as they are.

use serde_json::{Map, Value, json};

pub(crate) fn down_convert(mut document: Value) -> Value {
    document["openapi"] = "3.0.3".into();
    if let Some(root) = document.as_object_mut() {
        root.remove("jsonSchemaDialect");
        root.remove("webhooks");
    }
    if let Some(license) = document.pointer_mut("/info/license").and_then(Value::as_object_mut) {
        license.remove("identifier");
    }
    walk(&mut document);
    document
}

/// Finds the schemas of a document.
fn walk(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                match name.as_str() {
                    "schema" => schema(member),
                    "schemas" => each_member(member, schema),
                    "example" | "examples" => {}
                    extension if extension.starts_with("x-") => {}
                    _ => walk(member),
                }
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(walk),
        _ => {}
    }
}

fn each_member(value: &mut Value, convert: fn(&mut Value)) {
    if let Some(members) = value.as_object_mut() {
        members.values_mut().for_each(convert);
    }
}

fn schema(value: &mut Value) {
    match value {
        Value::Bool(true) => *value = json!({}),
        Value::Bool(false) => *value = json!({"not": {}}),
        Value::Object(members) => object_schema(members),
        _ => {}
    }
}

fn object_schema(members: &mut Map<String, Value>) {
    for name in ["properties", "patternProperties"] {
        if let Some(inner) = members.get_mut(name) {
            each_member(inner, schema);
        }
    }
    for name in ["items", "not", "additionalProperties"] {
        // Whether more properties are allowed stays true or false.
        if let Some(inner) =
            members.get_mut(name).filter(|inner| !(name == "additionalProperties" && inner.is_boolean()))
        {
            schema(inner);
        }
    }
    elements_by_place(members);
    for name in ["$schema", "$defs", "$id", "$comment", "patternProperties", "unevaluatedProperties", "propertyNames"] {
        members.remove(name);
    }
    nullable_alternatives(members);
    for name in ["allOf", "anyOf", "oneOf"] {
        for inner in members.get_mut(name).and_then(Value::as_array_mut).into_iter().flatten() {
            schema(inner);
        }
    }
    types(members);
    if let Some(constant) = members.shift_remove("const") {
        members.insert("enum".into(), json!([constant]));
    }
    if members.get("enum").and_then(Value::as_array).is_some_and(|values| values.contains(&Value::Null)) {
        members.insert("nullable".into(), true.into());
    }
    if let Some(Value::Array(examples)) = members.shift_remove("examples")
        && let Some(first) = examples.into_iter().next()
    {
        members.insert("example".into(), first);
    }
    exclusive(members, "exclusiveMinimum", "minimum");
    exclusive(members, "exclusiveMaximum", "maximum");
    // In 3.0 nothing beside a $ref is read.
    if members.len() > 1
        && let Some(reference) = members.shift_remove("$ref")
    {
        members.insert("allOf".into(), json!([{"$ref": reference}]));
    }
}

/// Elements that each have a schema of their own become elements that have one of these.
fn elements_by_place(members: &mut Map<String, Value>) {
    let Some(Value::Array(places)) = members.shift_remove("prefixItems") else { return };
    let mut alternatives: Vec<Value> = Vec::new();
    for mut place in places {
        if let Some(place) = place.as_object_mut() {
            place.shift_remove("description");
        }
        schema(&mut place);
        if !alternatives.contains(&place) {
            alternatives.push(place);
        }
    }
    members.insert("items".into(), json!({"anyOf": alternatives}));
}

/// `anyOf: [X, {type: null}]` becomes X that may be null.
fn nullable_alternatives(members: &mut Map<String, Value>) {
    let is_null = |alternative: &Value| alternative.get("type").is_some_and(|kind| kind == "null");
    for name in ["anyOf", "oneOf"] {
        let Some(alternatives) = members.get_mut(name).and_then(Value::as_array_mut) else { continue };
        let before = alternatives.len();
        alternatives.retain(|alternative| !is_null(alternative));
        if alternatives.len() == before {
            continue;
        }
        if alternatives.len() == 1
            && let Some(only) = members.shift_remove(name)
        {
            members.insert("allOf".into(), only);
        }
        members.insert("nullable".into(), true.into());
    }
}

/// `type: [X, null]` becomes X that may be null; several types become alternatives.
fn types(members: &mut Map<String, Value>) {
    if members.get("type").is_some_and(|kind| kind == "null") {
        members.shift_remove("type");
        members.insert("enum".into(), json!([null]));
    }
    let Some(Value::Array(kinds)) = members.get("type").cloned() else { return };
    let named: Vec<Value> = kinds.iter().filter(|kind| *kind != "null").cloned().collect();
    if named.len() < kinds.len() {
        members.insert("nullable".into(), true.into());
    }
    match named.as_slice() {
        [one] => {
            members.insert("type".into(), one.clone());
        }
        several => {
            members.shift_remove("type");
            let alternatives: Vec<Value> = several.iter().map(|kind| json!({"type": kind})).collect();
            members.insert("anyOf".into(), alternatives.into());
        }
    }
}

fn exclusive(members: &mut Map<String, Value>, name: &str, bound: &str) {
    if members.get(name).is_some_and(Value::is_number)
        && let Some(limit) = members.shift_remove(name)
    {
        members.insert(bound.into(), limit);
        members.insert(name.into(), true.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_are_said_in_the_words_of_3_0() {
        let cases = [
            (json!({"type": ["string", "null"]}), json!({"type": "string", "nullable": true})),
            (json!({"type": ["string", "integer"]}), json!({"anyOf": [{"type": "string"}, {"type": "integer"}]})),
            (
                json!({"anyOf": [{"$ref": "#/x"}, {"type": "null"}], "description": "d"}),
                json!({"description": "d", "allOf": [{"$ref": "#/x"}], "nullable": true}),
            ),
            (json!({"$ref": "#/x", "description": "d"}), json!({"description": "d", "allOf": [{"$ref": "#/x"}]})),
            (json!({"$ref": "#/x"}), json!({"$ref": "#/x"})),
            (json!({"type": "null"}), json!({"enum": [null], "nullable": true})),
            (json!({"const": 1}), json!({"enum": [1]})),
            (json!({"exclusiveMinimum": 0}), json!({"minimum": 0, "exclusiveMinimum": true})),
            (json!({"examples": ["a", "b"]}), json!({"example": "a"})),
            (json!({"additionalProperties": false}), json!({"additionalProperties": false})),
            (
                json!({"properties": {"type": {"type": ["integer", "null"]}, "const": true}}),
                json!({"properties": {"type": {"type": "integer", "nullable": true}, "const": {}}}),
            ),
            (json!({"items": {"const": "x"}}), json!({"items": {"enum": ["x"]}})),
            (
                json!({"prefixItems": [
                    {"type": "string", "description": "d"}, {"type": ["number", "null"]}, {"type": "string"}
                ], "items": false, "maxItems": 3}),
                json!({"items": {"anyOf": [{"type": "string"}, {"type": "number", "nullable": true}]}, "maxItems": 3}),
            ),
        ];
        for (latest, older) in cases {
            let document = down_convert(json!({"openapi": "3.1.0", "components": {"schemas": {"X": latest.clone()}}}));
            assert_eq!(document["components"]["schemas"]["X"], older, "{latest}");
        }
    }

    #[test]
    fn examples_and_extensions_are_left_alone() {
        let document = json!({
            "openapi": "3.1.0",
            "paths": {"/x": {"get": {"x-note": {"schema": {"const": 1}}, "example": {"schema": {"const": 1}}}}}
        });
        let converted = down_convert(document.clone());
        assert_eq!(converted["paths"], document["paths"]);
        assert_eq!(converted["openapi"], "3.0.3");
    }
}
