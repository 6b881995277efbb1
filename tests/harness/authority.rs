//! The documents as an authority: every answer that any suite gets from a server is held against what its document says.

use super::http::{Answer, Request};
use dialect_a::DialectA;
use dialect_b::DialectB;
use http_kit::openapi::Document;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::LazyLock;

struct Authority {
    document: Value,
    /// Operations by method and number of segments, with the segments of their paths.
    operations: Operations,
}

type Operations = HashMap<(String, usize), Vec<Operation>>;

struct Operation {
    /// The path, taken apart.
    template: Vec<String>,
    said: Value,
}

static AUTHORITIES: LazyLock<[(&str, Authority); 2]> = LazyLock::new(|| {
    [
        ("/a/api", Authority::of(Document::of_one::<DialectA>("/a/api"))),
        ("/b/api", Authority::of(Document::of_one::<DialectB>("/b/api"))),
    ]
});

/// Panics where an answer is not what the document of its operation says.
pub fn hold(request: &Request, answer: &Answer) {
    // Said before anybody knows which operation is meant.
    if answer.status == 431 {
        return;
    }
    for (base, authority) in &*AUTHORITIES {
        let Some(rest) = request.path.strip_prefix(base) else { continue };
        let path = rest.split(['?', '#']).next().unwrap_or_default();
        let faults = authority.faults(&request.method, path, answer);
        let (method, path, status) = (&request.method, &request.path, answer.status);
        assert!(faults.is_empty(), "{method} {path} is answered {status}: {faults:#?}\n{}", answer.text);
    }
}

/// What of a value a schema of a document does not allow.
pub fn faults<'d>(document: &'d Value, schema: &'d Value, value: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    Schemas(document).check(schema, value, "it", &mut faults);
    faults
}

impl Authority {
    fn of(document: Value) -> Self {
        let mut operations = Operations::new();
        for (path, item) in document["paths"].as_object().expect("paths") {
            let segments: Vec<String> = path.split('/').map(str::to_owned).collect();
            for (method, operation) in item.as_object().expect("operations") {
                let place = (method.to_uppercase(), segments.len());
                let operation = Operation { template: segments.clone(), said: operation.clone() };
                operations.entry(place).or_default().push(operation);
            }
        }
        for alike in operations.values_mut() {
            // A segment that is said wins over one that is named.
            alike.sort_by_key(|one| one.template.iter().filter(|segment| segment.starts_with('{')).count());
        }
        Self { document, operations }
    }

    fn faults(&self, method: &str, path: &str, answer: &Answer) -> Vec<String> {
        let segments: Vec<&str> = path.split('/').collect();
        let alike = self.operations.get(&(method.to_owned(), segments.len())).map(Vec::as_slice).unwrap_or_default();
        let fits = |one: &&Operation| {
            one.template.iter().zip(&segments).all(|(said, given)| said.starts_with('{') || said == given)
        };
        let Some(Operation { said: operation, .. }) = alike.iter().find(fits) else { return Vec::new() };
        let Some(response) = operation["responses"].get(answer.status.to_string()) else {
            // A dialect that is switched off knows none of its operations.
            let is_off = answer.status == 404;
            return if is_off { Vec::new() } else { vec!["the document does not say this status".into()] };
        };
        let schemas = Schemas(&self.document);
        let response = schemas.resolve(response);
        let mut faults = Vec::new();
        if answer.header("content-encoding").is_some() {
            return faults;
        }
        let form = answer.header("content-type").and_then(|form| form.split(';').next()).unwrap_or_default();
        match response["content"].as_object() {
            None if answer.text.is_empty() => {}
            None => faults.push("the document says of no body".into()),
            Some(forms) => match forms.get(form) {
                None => faults.push(format!("the document does not say {form}")),
                Some(media) if form == "application/json" => match serde_json::from_str(&answer.text) {
                    Ok(body) => schemas.check(&media["schema"], &body, "the answer", &mut faults),
                    Err(error) => faults.push(format!("the body is no JSON: {error}")),
                },
                Some(_) => {}
            },
        }
        faults
    }
}

struct Schemas<'d>(&'d Value);

impl<'d> Schemas<'d> {
    fn resolve(&self, value: &'d Value) -> &'d Value {
        match value["$ref"].as_str() {
            Some(reference) => {
                let pointer = reference.strip_prefix('#').expect("a reference within the document");
                self.resolve(self.0.pointer(pointer).unwrap_or_else(|| panic!("{reference} leads nowhere")))
            }
            None => value,
        }
    }

    /// What of the value the schema does not allow.
    fn check(&self, schema: &'d Value, value: &Value, place: &str, faults: &mut Vec<String>) {
        if faults.len() > 10 {
            return;
        }
        let Some(members) = schema.as_object() else {
            if schema == &Value::Bool(false) {
                faults.push(format!("{place}: nothing is allowed here"));
            }
            return;
        };
        // In the words of 3.0.
        if value.is_null() && members.get("nullable") == Some(&Value::Bool(true)) {
            return;
        }
        for (word, said) in members {
            match word.as_str() {
                "$ref" => self.check(self.resolve(schema), value, place, faults),
                "type" => {
                    let mut kinds = said.as_array().into_iter().flatten().chain(Some(said)).filter_map(Value::as_str);
                    if !kinds.any(|kind| is(value, kind)) {
                        faults.push(format!("{place}: {value} is no {said}"));
                    }
                }
                "const" if said != value => faults.push(format!("{place}: {value} is not {said}")),
                "enum" if !said.as_array().is_some_and(|all| all.contains(value)) => {
                    faults.push(format!("{place}: {value} is none of {said}"));
                }
                "allOf" => {
                    for part in said.as_array().into_iter().flatten() {
                        self.check(part, value, place, faults);
                    }
                }
                "anyOf" | "oneOf" => {
                    let alternatives = said.as_array().expect("alternatives");
                    let tried = alternatives.iter().map(|one| {
                        let mut faults = Vec::new();
                        self.check(one, value, place, &mut faults);
                        faults
                    });
                    let mut tried: Vec<Vec<String>> = tried.collect();
                    tried.sort_by_key(Vec::len);
                    let fitting = tried.iter().filter(|faults| faults.is_empty()).count();
                    if fitting == 0 {
                        faults.push(format!("{place}: none of {} alternatives fits", alternatives.len()));
                        faults.extend(tried.pop().into_iter().flatten());
                    } else if word == "oneOf" && fitting > 1 {
                        faults.push(format!("{place}: {fitting} alternatives fit where one must"));
                    }
                }
                "minLength" | "maxLength" | "minimum" | "maximum" => check_bound(word, said, value, place, faults),
                _ => {}
            }
        }
        self.check_object(schema, value, place, faults);
        self.check_array(schema, value, place, faults);
    }

    fn check_object(&self, schema: &'d Value, value: &Value, place: &str, faults: &mut Vec<String>) {
        let Some(members) = value.as_object() else { return };
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !members.contains_key(name) {
                faults.push(format!("{place}: {name} is missing"));
            }
        }
        for (name, member) in members {
            let place = format!("{place}.{name}");
            match (schema["properties"].get(name), schema.get("additionalProperties")) {
                (None, Some(Value::Bool(false))) => faults.push(format!("{place} is not said")),
                (Some(said), _) | (None, Some(said)) => self.check(said, member, &place, faults),
                (None, None) => {}
            }
        }
    }

    fn check_array(&self, schema: &'d Value, value: &Value, place: &str, faults: &mut Vec<String>) {
        let Some(elements) = value.as_array() else { return };
        let count = elements.len() as u64;
        if schema["minItems"].as_u64().is_some_and(|least| count < least) {
            faults.push(format!("{place}: {count} are too few"));
        }
        if schema["maxItems"].as_u64().is_some_and(|most| count > most) {
            faults.push(format!("{place}: {count} are too many"));
        }
        let first = schema["prefixItems"].as_array().map(Vec::as_slice).unwrap_or_default();
        for (index, element) in elements.iter().enumerate() {
            let Some(said) = first.get(index).or_else(|| schema.get("items")) else { continue };
            self.check(said, element, &format!("{place}[{index}]"), faults);
        }
    }
}

fn check_bound(word: &str, said: &Value, value: &Value, place: &str, faults: &mut Vec<String>) {
    let figure = match (word, value) {
        ("minLength" | "maxLength", Value::String(text)) => Some(text.chars().count().to_string()),
        ("minimum" | "maximum", Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    let (Some(figure), Some(bound)) = (figure, said.as_i64()) else { return };
    // The part before the point is enough to compare with whole bounds.
    let Some(whole) = figure.split('.').next().and_then(|whole| whole.parse::<i64>().ok()) else { return };
    if (word.starts_with("min") && whole < bound) || (word.starts_with("max") && whole > bound) {
        faults.push(format!("{place}: {figure} is beyond {word} {bound}"));
    }
}

fn is(value: &Value, kind: &str) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => value.is_number() && !value.to_string().contains(['.', 'e', 'E']),
        _ => false,
    }
}
