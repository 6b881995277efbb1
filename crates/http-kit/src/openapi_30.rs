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
        // 3.0 knows a license by its address alone.
        if let Some(Value::String(identifier)) = license.remove("identifier") {
            license.insert("url".into(), format!("https://spdx.org/licenses/{identifier}.html").into());
        }
    }
    walk(&mut document);
    if let Some(schemas) = document.pointer_mut("/components/schemas").and_then(Value::as_object_mut)
        && serde_json::to_string(schemas).is_ok_and(|text| text.contains(&format!("\"{SCHEMAS}{NULL}\"")))
    {
        schemas.insert(NULL.into(), nothing());
        schemas.sort_keys();
    }
    document
}

const SCHEMAS: &str = "#/components/schemas/";
/// What null is called, where something is one thing or null.
const NULL: &str = "Null";

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
    nullable_alternatives(members);
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
    for name in ["allOf", "anyOf", "oneOf"] {
        for inner in members.get_mut(name).and_then(Value::as_array_mut).into_iter().flatten() {
            schema(inner);
        }
    }
    types(members);
    if let Some(constant) = members.shift_remove("const") {
        members.insert("enum".into(), json!([constant]));
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
    let items = match alternatives.as_slice() {
        [one] => one.clone(),
        several => json!({"anyOf": several}),
    };
    members.insert("items".into(), items);
}

/// Nothing but null. A `nullable` is read beside a `type` alone.
fn nothing() -> Value {
    json!({"type": "string", "nullable": true, "enum": [null]})
}

fn is_null(alternative: &Value) -> bool {
    alternative.get("type").is_some_and(|kind| kind == "null")
}

/// `anyOf: [X, {type: null}]` becomes X that may be null. Where X stands elsewhere it becomes one of two, the other being
/// null by its name: no word beside a reference says more than what it refers to, and who makes classes makes one of it.
fn nullable_alternatives(members: &mut Map<String, Value>) {
    for name in ["anyOf", "oneOf"] {
        let Some(alternatives) = members.get_mut(name).and_then(Value::as_array_mut) else { continue };
        if let [one, other] = alternatives.as_mut_slice()
            && is_null(other)
            && let Some(kind) = one.get("type").filter(|kind| kind.is_string()).cloned()
        {
            one["type"] = json!([kind, "null"]);
            alternatives.pop();
        }
        if let [.., other] = alternatives.as_mut_slice()
            && is_null(other)
        {
            *other = json!({"$ref": format!("{SCHEMAS}{NULL}")});
            let either = members.shift_remove(name).unwrap_or_default();
            members.insert("oneOf".into(), either);
            continue;
        }
        if alternatives.len() == 1
            && let Some(Value::Array(only)) = members.shift_remove(name)
        {
            for (name, value) in only.into_iter().filter_map(inner).flatten() {
                // What is said of this place goes before what is said of all such.
                members.entry(name).or_insert(value);
            }
        }
    }
}

fn inner(value: Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(members) => Some(members),
        _ => None,
    }
}

/// `type: [X, null]` becomes X that may be null; several types become alternatives.
fn types(members: &mut Map<String, Value>) {
    if members.get("type").is_some_and(|kind| kind == "null") {
        members.shift_remove("type");
        members.extend(inner(nothing()).unwrap_or_default());
    }
    let Some(Value::Array(kinds)) = members.get("type").cloned() else { return };
    let named: Vec<Value> = kinds.iter().filter(|kind| *kind != "null").cloned().collect();
    let may_be_null = named.len() < kinds.len();
    let of = |kind: &Value| if may_be_null { json!({"type": kind, "nullable": true}) } else { json!({"type": kind}) };
    match named.as_slice() {
        [one] => members.extend(inner(of(one)).unwrap_or_default()),
        several => {
            members.shift_remove("type");
            members.insert("anyOf".into(), several.iter().map(of).collect());
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
                json!({"description": "d", "oneOf": [{"$ref": "#/x"}, {"$ref": "#/components/schemas/Null"}]}),
            ),
            (
                json!({"anyOf": [{"type": "string", "maxLength": 3, "description": "x"}, {"type": "null"}], "description": "d"}),
                json!({"description": "d", "type": "string", "maxLength": 3, "nullable": true}),
            ),
            (json!({"anyOf": [{"$ref": "#/x"}]}), json!({"$ref": "#/x"})),
            (json!({"$ref": "#/x", "description": "d"}), json!({"description": "d", "allOf": [{"$ref": "#/x"}]})),
            (json!({"$ref": "#/x"}), json!({"$ref": "#/x"})),
            (
                json!({"type": ["number", "string", "null"]}),
                json!({"anyOf": [{"type": "number", "nullable": true}, {"type": "string", "nullable": true}]}),
            ),
            (json!({"type": "null"}), json!({"type": "string", "nullable": true, "enum": [null]})),
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
            let schemas = &document["components"]["schemas"];
            assert_eq!(schemas["X"], older, "{latest}");
            assert_eq!(schemas["Null"].is_null(), !older.to_string().contains("schemas/Null"), "{latest}");
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
