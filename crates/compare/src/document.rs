//! An OpenAPI document as whoever reads it must: what it says once stands where it is meant, and what it shows of a body is
//! made of what its schemas show.

use serde_json::{Map, Value};

const SCHEMAS: &str = "#/components/schemas/";

/// The document with the parameters, headers and answers that it refers to in their places. Schemas stay where they are.
pub fn spelled_out(mut document: Value) -> Value {
    let whole = document.clone();
    if let Some(paths) = document.get_mut("paths") {
        put_in_place(paths, &whole);
    }
    document
}

fn put_in_place(value: &mut Value, document: &Value) {
    let reference = value.get("$ref").and_then(Value::as_str).filter(|reference| !reference.starts_with(SCHEMAS));
    if let Some(said) = reference.and_then(|to| document.pointer(to.strip_prefix('#')?)) {
        *value = said.clone();
    }
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                // Neither an example nor a schema refers to any of these.
                if name != "schema" && name != "example" {
                    put_in_place(member, document);
                }
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(|element| put_in_place(element, document)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// What a document shows of a body: its own example, or one that is made of those of its schemas.
pub fn shown(schemas: &Map<String, Value>, media: &Value) -> Option<Value> {
    media.get("example").cloned().or_else(|| of_schema(schemas, media.get("schema")?))
}

fn of_schema(schemas: &Map<String, Value>, schema: &Value) -> Option<Value> {
    if let Some(name) = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix(SCHEMAS)) {
        return of_schema(schemas, schemas.get(name)?);
    }
    if let Some(shown) = schema.get("example").or_else(|| schema["examples"].get(0)) {
        return Some(shown.clone());
    }
    if let Some(part) = ["allOf", "anyOf", "oneOf"].iter().find_map(|word| schema[*word].get(0)) {
        return of_schema(schemas, part);
    }
    if let Some(word) = schema["enum"].get(0).or_else(|| schema.get("const")) {
        return Some(word.clone());
    }
    match schema["type"].as_str()? {
        "null" => Some(Value::Null),
        "boolean" => Some(true.into()),
        "array" => Some(Value::from(vec![of_schema(schemas, &schema["items"])?])),
        "object" => {
            let members = schema["properties"].as_object()?.iter();
            members.map(|(name, member)| Some((name.clone(), of_schema(schemas, member)?))).collect()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_said_once_stands_where_it_is_meant() {
        let document = spelled_out(json!({
            "paths": {"/x": {"get": {
                "parameters": [{"$ref": "#/components/parameters/Page"}],
                "responses": {"200": {"$ref": "#/components/responses/Party"}}
            }}},
            "components": {
                "parameters": {"Page": {"name": "page"}},
                "headers": {"ETag": {"description": "The version."}},
                "responses": {"Party": {
                    "headers": {"ETag": {"$ref": "#/components/headers/ETag"}},
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Party"}}}
                }}
            }
        }));
        let operation = &document["paths"]["/x"]["get"];
        assert_eq!(operation["parameters"][0], json!({"name": "page"}));
        let answer = &operation["responses"]["200"];
        assert_eq!(answer["headers"]["ETag"], json!({"description": "The version."}));
        assert_eq!(answer["content"]["application/json"]["schema"]["$ref"], "#/components/schemas/Party");
    }

    #[test]
    fn a_body_is_shown_as_its_schemas_show_it() {
        let schemas = json!({
            "Party": {"type": "object", "example": {"name": "Elbe"}},
            "Page": {"type": "object", "properties": {
                "items": {"type": "array", "items": {"$ref": "#/components/schemas/Party"}},
                "state": {"type": "string", "enum": ["open"]}
            }},
            "Told": {"type": "object", "properties": {"text": {"type": "string"}}}
        });
        let schemas = schemas.as_object().unwrap();
        let of = |name: &str| shown(schemas, &json!({"schema": {"$ref": format!("#/components/schemas/{name}")}}));
        assert_eq!(of("Page"), Some(json!({"items": [{"name": "Elbe"}], "state": "open"})));
        // Nothing is made up.
        assert_eq!(of("Told"), None);
        assert_eq!(
            shown(schemas, &json!({"example": 7, "schema": {"$ref": "#/components/schemas/Party"}})),
            Some(json!(7))
        );
    }
}
