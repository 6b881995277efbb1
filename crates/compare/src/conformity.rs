//! Whether an answer is what the document of its dialect says: its status, its form, its schema.
//!
//! Of JSON Schema it knows what documents of APIs are made of, in the words of OpenAPI 3.0 and 3.1.

use crate::dialect::{Dialect, Operation};
use crate::wire::Answer;
use serde_json::{Map, Value};

/// Where an answer to a request for a target is not what the document says, each with its place.
pub fn faults_of(dialect: &Dialect, operation: &Operation, target: &str, answer: &Answer) -> Vec<(String, String)> {
    // What has a path of its own may be asked for by a word as well.
    let as_csv = operation.as_csv.as_ref().filter(|_| asks_for_csv(target));
    let operation = as_csv.and_then(|id| dialect.operations.get(id)).unwrap_or(operation);
    let Some(response) = operation.responses.get(&answer.status.to_string()) else {
        return vec![("status".to_owned(), format!("the document does not say {}", answer.status))];
    };
    let mut faults = undeclared(response, answer);
    if answer.header("content-encoding").is_none() {
        faults.extend(faults_of_body(dialect, operation, target, response, answer));
    }
    faults
}

fn asks_for_csv(target: &str) -> bool {
    target.split_once('?').is_some_and(|(_, query)| query.split('&').any(|pair| pair == "format=csv"))
}

/// What HTTP itself says in an answer, and servers on the way.
const OF_HTTP: [&str; 14] = [
    "content-type",
    "content-length",
    "content-encoding",
    "content-security-policy",
    "transfer-encoding",
    "connection",
    "date",
    "strict-transport-security",
    "vary",
    "cache-control",
    "referrer-policy",
    "x-content-type-options",
    "access-control-allow-origin",
    "access-control-expose-headers",
];

/// Headers that the document says nothing of.
fn undeclared(response: &Value, answer: &Answer) -> Vec<(String, String)> {
    let declared = response["headers"].as_object();
    let is_declared = |name: &str| declared.into_iter().flatten().any(|(said, _)| said.eq_ignore_ascii_case(name));
    let names = answer.headers.iter().map(|(name, _)| name.to_ascii_lowercase());
    let others = names.filter(|name| !OF_HTTP.contains(&name.as_str()) && !is_declared(name));
    others.map(|name| (format!("headers.{name}"), "the document does not say it".to_owned())).collect()
}

fn faults_of_body(
    dialect: &Dialect,
    operation: &Operation,
    target: &str,
    response: &Value,
    answer: &Answer,
) -> Vec<(String, String)> {
    let form = answer.header("content-type").and_then(|form| form.split(';').next()).unwrap_or_default();
    let at_body = |why: String| vec![("body".to_owned(), why)];
    match response["content"].as_object() {
        None if answer.body.is_empty() => Vec::new(),
        None => at_body("the document says of no body".into()),
        Some(forms) => match forms.get(form) {
            None => at_body(format!("the document does not say {form:?}")),
            Some(media) if form == "application/json" => match serde_json::from_str(&answer.body) {
                Ok(body) => {
                    let mut faults = Faults::new();
                    let texts = answer.header("x-decimal-format") == Some("string");
                    let in_part = operation.is_narrowed(target);
                    let schemas = Schemas { named: dialect.schemas(), in_part, texts };
                    schemas.check(&media["schema"], &body, "body", &mut faults);
                    faults
                }
                Err(error) => at_body(format!("it is no JSON: {error}")),
            },
            Some(_) => Vec::new(),
        },
    }
}

/// What of a value a schema does not allow, each with its place. References lead to `schemas`.
pub fn faults(schemas: &Map<String, Value>, schema: &Value, value: &Value) -> Vec<(String, String)> {
    let mut faults = Vec::new();
    Schemas { named: schemas, in_part: false, texts: false }.check(schema, value, "body", &mut faults);
    faults
}

/// A place and what is wrong there.
type Faults = Vec<(String, String)>;

/// As many as are told of one answer.
const MOST: usize = 10;

struct Schemas<'d> {
    named: &'d Map<String, Value>,
    /// Whether members may be missing, because others were asked for.
    in_part: bool,
    /// Whether decimals are texts, because that was asked for.
    texts: bool,
}

impl<'d> Schemas<'d> {
    /// What a reference leads to.
    fn referred(&self, reference: &Value) -> Option<&'d Value> {
        self.named.get(reference.as_str()?.strip_prefix("#/components/schemas/")?)
    }

    /// What of the value the schema does not allow.
    fn check(&self, schema: &'d Value, value: &Value, place: &str, faults: &mut Faults) {
        if faults.len() >= MOST {
            return;
        }
        let Some(members) = schema.as_object() else {
            if schema == &Value::Bool(false) {
                faults.push(at(place, "nothing is allowed here"));
            }
            return;
        };
        // In the words of 3.0, where it says something beside a type alone.
        let may_be_null = members.get("nullable") == Some(&Value::Bool(true));
        for (word, said) in members {
            match word.as_str() {
                "$ref" => match self.referred(said) {
                    Some(schema) => self.check(schema, value, place, faults),
                    None => faults.push(at(place, format!("{said} leads nowhere"))),
                },
                "type" => {
                    let mut kinds = said.as_array().into_iter().flatten().chain(Some(said)).filter_map(Value::as_str);
                    let is_of =
                        |kind: &str| if self.texts && kind == "number" { is_decimal(value) } else { is(value, kind) };
                    if !(kinds.any(is_of) || value.is_null() && may_be_null) {
                        faults.push(at(place, format!("{value} is no {said}")));
                    }
                }
                "const" if said != value => faults.push(at(place, format!("{value} is not {said}"))),
                "enum" if !said.as_array().is_some_and(|all| all.contains(value)) => {
                    faults.push(at(place, format!("{value} is none of {said}")));
                }
                "allOf" => {
                    for part in said.as_array().into_iter().flatten() {
                        self.check(part, value, place, faults);
                    }
                }
                "anyOf" | "oneOf" => {
                    let alternatives = said.as_array().map(Vec::as_slice).unwrap_or_default();
                    let tried = alternatives.iter().map(|one| {
                        let mut faults = Faults::new();
                        self.check(one, value, place, &mut faults);
                        faults
                    });
                    let tried: Vec<Faults> = tried.collect();
                    let fitting = tried.iter().filter(|faults| faults.is_empty()).count();
                    if fitting == 0 {
                        // Told by the one that it comes nearest to.
                        faults.push(at(place, format!("none of {} alternatives fits", alternatives.len())));
                        faults.extend(tried.into_iter().min_by_key(Vec::len).into_iter().flatten());
                    } else if word == "oneOf" && fitting > 1 {
                        faults.push(at(place, format!("{fitting} alternatives fit where one must")));
                    }
                }
                "format" if !has_form(value, said) => faults.push(at(place, format!("{value} is no {said}"))),
                "minLength" | "maxLength" | "minimum" | "maximum" => check_bound(word, said, value, place, faults),
                _ => {}
            }
        }
        self.check_object(schema, value, place, faults);
        self.check_array(schema, value, place, faults);
    }

    fn check_object(&self, schema: &'d Value, value: &Value, place: &str, faults: &mut Faults) {
        let Some(members) = value.as_object() else { return };
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !members.contains_key(name) && !self.in_part {
                faults.push(at(&format!("{place}.{name}"), "is missing"));
            }
        }
        for (name, member) in members {
            let place = format!("{place}.{name}");
            match (schema["properties"].get(name), schema.get("additionalProperties")) {
                (None, Some(Value::Bool(false))) => faults.push(at(&place, "the document does not say it")),
                (Some(said), _) | (None, Some(said)) => self.check(said, member, &place, faults),
                (None, None) => {}
            }
        }
    }

    fn check_array(&self, schema: &'d Value, value: &Value, place: &str, faults: &mut Faults) {
        let Some(elements) = value.as_array() else { return };
        let count = elements.len() as u64;
        if schema["minItems"].as_u64().is_some_and(|least| count < least) {
            faults.push(at(place, format!("{count} are too few")));
        }
        if schema["maxItems"].as_u64().is_some_and(|most| count > most) {
            faults.push(at(place, format!("{count} are too many")));
        }
        let is_again = |(index, one)| elements.iter().take(index).any(|earlier| earlier == one);
        if schema["uniqueItems"] == true && elements.iter().enumerate().any(is_again) {
            faults.push(at(place, "an element is there twice"));
        }
        let first = schema["prefixItems"].as_array().map(Vec::as_slice).unwrap_or_default();
        for (index, element) in elements.iter().enumerate() {
            let Some(said) = first.get(index).or_else(|| schema.get("items")) else { continue };
            self.check(said, element, &format!("{place}[{index}]"), faults);
        }
    }
}

fn at(place: &str, why: impl Into<String>) -> (String, String) {
    (place.to_owned(), why.into())
}

fn check_bound(word: &str, said: &Value, value: &Value, place: &str, faults: &mut Faults) {
    let figure = match (word, value) {
        ("minLength" | "maxLength", Value::String(text)) => Some(text.chars().count().to_string()),
        ("minimum" | "maximum", Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    let (Some(figure), Some(bound)) = (figure, said.as_i64()) else { return };
    // The part before the point is enough to compare with whole bounds.
    let Some(whole) = figure.split('.').next().and_then(|whole| whole.parse::<i64>().ok()) else { return };
    if (word.starts_with("min") && whole < bound) || (word.starts_with("max") && whole > bound) {
        faults.push(at(place, format!("{figure} is beyond {word} {bound}")));
    }
}

/// Whether a text has the form that it is said to have, as far as that can be seen from where digits stand.
fn has_form(value: &Value, form: &Value) -> bool {
    let (Some(text), Some(form)) = (value.as_str(), form.as_str()) else { return true };
    let shape: String = text.chars().map(|letter| if letter.is_ascii_digit() { '0' } else { letter }).collect();
    match form {
        "date" => shape == "0000-00-00",
        "date-time" => shape.starts_with("0000-00-00T00:00:00") && shape.ends_with('Z'),
        _ => true,
    }
}

/// A decimal as a text.
fn is_decimal(value: &Value) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    value.as_str().map(|text| text.strip_prefix('-').unwrap_or(text)).is_some_and(|text| match text.split_once('.') {
        Some((whole, fraction)) => digits(whole) && digits(fraction),
        None => digits(text),
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_schema_does_not_allow_has_its_place() {
        let schemas = json!({
            "Party": {
                "type": "object", "additionalProperties": false, "required": ["id", "lines"],
                "properties": {
                    "id": {"type": "string", "maxLength": 4},
                    "kind": {"enum": ["company", "person"]},
                    "notes": {"type": ["string", "null"]},
                    "old": {"type": "string", "nullable": true},
                    "day": {"type": "string", "format": "date"},
                    "at": {"type": "string", "format": "date-time"},
                    "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": true},
                    "untyped": {"allOf": [{"$ref": "#/components/schemas/Line"}], "nullable": true},
                    "either": {"anyOf": [
                        {"$ref": "#/components/schemas/Line"}, {"type": "string", "nullable": true, "enum": [null]}
                    ]},
                    "lines": {"type": "array", "maxItems": 2, "items": {"$ref": "#/components/schemas/Line"}}
                }
            },
            "Line": {"type": "object", "properties": {"count": {"type": "integer", "minimum": 1}}}
        });
        let schemas = schemas.as_object().unwrap();
        let places = |value: Value| {
            let faults = faults(schemas, &json!({"$ref": "#/components/schemas/Party"}), &value);
            faults.into_iter().map(|(place, _)| place).collect::<Vec<_>>()
        };
        let good = json!({"id": "p", "kind": "person", "notes": null, "old": null, "lines": [{"count": 1}]});
        assert_eq!(places(good.clone()), Vec::<String>::new());
        for (pointer, value, expected) in [
            ("/id", json!("longer"), "body.id"),
            ("/id", json!(7), "body.id"),
            ("/kind", json!("dog"), "body.kind"),
            ("/lines", json!([{}, {}, {}]), "body.lines"),
            ("/lines/0/count", json!(0), "body.lines[0].count"),
            ("/lines/0/count", json!(1.5), "body.lines[0].count"),
        ] {
            let mut bad = good.clone();
            *bad.pointer_mut(pointer).unwrap() = value;
            assert_eq!(places(bad), [expected]);
        }
        for (name, value, is_said) in [
            ("day", json!("2026-11-20"), true),
            ("day", json!("20.11.2026"), false),
            ("at", json!("2026-11-20T09:30:00.000000Z"), true),
            ("at", json!("2026-11-20 09:30"), false),
            ("tags", json!(["a", "b"]), true),
            ("tags", json!(["a", "a"]), false),
            // Beside no type it says nothing: what is referred to is no null.
            ("untyped", json!(null), false),
            ("either", json!(null), true),
            ("either", json!({"count": 1}), true),
            ("either", json!({"count": 0}), false),
        ] {
            let mut body = good.clone();
            body[name] = value;
            assert_eq!(places(body).is_empty(), is_said, "{name}");
        }
        assert_eq!(places(json!({"id": "p", "lines": [], "colour": "red"})), ["body.colour"]);
        assert_eq!(places(json!({"lines": []})), ["body.id"]);
        let nowhere = faults(schemas, &json!({"$ref": "#/components/schemas/Nobody"}), &good);
        assert!(nowhere[0].1.contains("leads nowhere"));
    }
}
