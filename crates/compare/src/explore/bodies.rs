//! Bodies, valid and broken.

use super::{Explorer, NOBODY};
use crate::dialect::Operation;
use crate::neutral::Neutral;
use serde_json::{Map, Value, json};

impl Explorer<'_, '_> {
    /// The example, with identifiers of this company and values that nobody has taken.
    pub(super) async fn valid_body(&mut self, operation: &Operation, attempt: usize) -> Value {
        let Some(body) = &operation.body else { return Value::Null };
        self.made += 1;
        let mut value = if body.example.is_object() { body.example.clone() } else { json!({}) };
        self.fit(&mut value, operation.stem(), attempt).await;
        let turn = self.made;
        if let Some(members) = value.as_object_mut() {
            for (name, member) in members.iter_mut() {
                let Some(text) = member.as_str() else { continue };
                let fresh = match name.as_str() {
                    "code" => format!("X-{turn}"),
                    "name" | "username" => {
                        format!("{text} {turn}").replace(' ', if name == "name" { " " } else { "-" })
                    }
                    "email" => format!("{turn}-{text}"),
                    "pattern" => format!("C{turn}-{text}"),
                    "number" | "externalId" => format!("{text}-{turn}"),
                    "start" | "end" => format!("{}{}", 2100 + turn, &text[text.len().min(4)..]),
                    "date" if attempt > 1 => format!("{}{}", 2100 + turn, &text[text.len().min(4)..]),
                    _ => continue,
                };
                *member = fresh.into();
            }
        }
        value
    }

    /// Puts records of this company where the example names its own.
    async fn fit(&mut self, value: &mut Value, stem: &str, attempt: usize) {
        let mut wanted: Vec<(String, String)> = Vec::new();
        references(value, "", &mut wanted);
        for (place, (pointer, name)) in wanted.into_iter().enumerate() {
            let id = if name == "businessId" {
                self.pair.left.business.clone()
            } else {
                match self.refers_to(&name, stem) {
                    // Lines of one body are of different accounts.
                    Some(stem) => self.an_id(&stem, attempt + if stem == "accounts" { place } else { 0 }).await,
                    None => None,
                }
            };
            if let (Some(id), Some(member)) = (id, value.pointer_mut(&pointer)) {
                *member = id.into();
            }
        }
    }

    /// The resource of which a member names a record.
    pub(super) fn refers_to(&self, name: &str, own: &str) -> Option<String> {
        let known = match name {
            "sourceId" => Some("receipts"),
            "targetId" if matches!(own, "payments" | "debitNotes") => Some("purchaseInvoices"),
            "targetId" | "documentId" => Some("salesInvoices"),
            "parentId" => Some(own),
            "seriesId" => Some("numberSeries"),
            _ => None,
        };
        if let Some(stem) = known.filter(|stem| !stem.is_empty()) {
            return Some(stem.to_owned());
        }
        let noun = name.strip_suffix("Ids").or_else(|| name.strip_suffix("Id"))?.to_lowercase();
        let stems = self.pair.left.dialect.operations.values().filter_map(|one| one.id.strip_suffix("List"));
        let singular = |stem: &str| match stem.strip_suffix("ies") {
            Some(stem) => format!("{}y", stem.to_lowercase()),
            None => stem.strip_suffix('s').unwrap_or(stem).to_lowercase(),
        };
        let fitting = stems.filter(|stem| noun.ends_with(&singular(stem)));
        fitting.max_by_key(|stem| stem.len()).map(str::to_owned)
    }

    pub(super) async fn an_id(&mut self, stem: &str, place: usize) -> Option<String> {
        let records = self.records_of(stem).await;
        let record = records.get(place % records.len().max(1))?;
        record["id"].as_str().map(str::to_owned)
    }

    /// Bodies for a write on a record: what was read, what was read with a change, the example.
    pub(super) async fn bodies(&mut self, operation: &Operation, id: &str) -> Vec<(String, Option<Value>)> {
        if operation.body.is_none() {
            return vec![(String::new(), None)];
        }
        let mut bodies = Vec::new();
        if operation.method == "PUT" {
            let read = self.compare(&Neutral::of(&format!("{}Get", operation.stem())).on(id)).await;
            if read.data().is_object() {
                let record = read.data().clone();
                let mut changed = record.clone();
                for name in ["name", "narration", "displayName", "reason"] {
                    if changed.get(name).is_some() {
                        changed[name] = format!("Changed {}", self.made).into();
                    }
                }
                bodies.push(("as it was read".to_owned(), Some(record)));
                bodies.push(("as it was read, changed".to_owned(), Some(changed)));
            }
        } else if operation.body.as_ref().is_some_and(|body| !body.required) {
            bodies.push(("without a body".to_owned(), None));
        }
        bodies.push(("as the example says".to_owned(), Some(self.valid_body(operation, 0).await)));
        bodies
    }

    pub(super) async fn broken_texts(&mut self, operation: &Operation, schema: &Value) {
        let ask = |name: &str| {
            let neutral = Neutral::of(&operation.id).named(name);
            if operation.names_record() { neutral.on(NOBODY) } else { neutral }
        };
        // A member that both know: who logs in is called differently.
        let in_left = self.pair.left.dialect.resolve(schema);
        let of_right = self.pair.right.dialect.operation(&operation.id).ok().and_then(|one| one.body.as_ref());
        let in_right = of_right.map_or(in_left, |body| self.pair.right.dialect.resolve(&body.schema));
        let mut members = in_left["properties"].as_object().into_iter().flatten().map(|(name, _)| name);
        let first =
            members.find(|name| in_right["properties"].get(name.as_str()).is_some()).cloned().unwrap_or_default();
        for (name, text) in [
            ("no JSON", "{\"a\": ".to_owned()),
            ("nothing", String::new()),
            ("a list", "[]".to_owned()),
            ("null", "null".to_owned()),
            ("an empty body", "{}".to_owned()),
            ("an unknown member", "{\"nonsense\": 1}".to_owned()),
            ("a member twice", format!("{{\"{first}\": 1, \"{first}\": 2}}")),
            ("a zero letter", format!("{{\"{first}\": \"a\\u0000b\"}}")),
            ("half a letter", format!("{{\"{first}\": \"\\ud800\"}}")),
        ] {
            self.spread(&Neutral { text: Some(text), ..ask(name) }).await;
        }
        let typed = Neutral { text: Some("{}".into()), ..ask("another type of content") };
        self.spread(&typed.header("Content-Type", "text/plain")).await;
    }

    /// Bodies in which every member is wrong at once.
    pub(super) fn broken_together(&self, operation: &Operation) -> Vec<(String, Value)> {
        let Some(body) = &operation.body else { return Vec::new() };
        let dialect = &self.pair.left.dialect;
        let schema = dialect.resolve(&body.schema);
        let Some(members) = schema["properties"].as_object() else { return Vec::new() };
        let every = |value: &dyn Fn(&Value) -> Option<Value>| {
            let broken = members.iter().filter_map(|(name, said)| Some((name.clone(), value(dialect.resolve(said))?)));
            Value::Object(broken.collect::<Map<_, _>>())
        };
        vec![
            ("every member of another type".to_owned(), every(&|said| Some(of_another_type(said)))),
            ("every member null".to_owned(), every(&|_| Some(Value::Null))),
            ("every member beyond its bounds".to_owned(), every(&|said| beyond(said).into_iter().next())),
        ]
    }

    /// A valid body with one fault, for each fault that the schema lets one think of.
    pub(super) fn broken_bodies(&self, schema: &Value, valid: &Value, above: &str) -> Vec<(String, Value)> {
        let dialect = &self.pair.left.dialect;
        let mut broken = Vec::new();
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, said) in schema["properties"].as_object().into_iter().flatten() {
            let said = dialect.resolve(said);
            let mut change = |what: &str, value: Option<Value>| {
                let mut body = valid.clone();
                if let Some(value) = value {
                    body[name] = value;
                } else {
                    let members = body.as_object_mut();
                    members.and_then(|members| members.shift_remove(name));
                }
                broken.push((format!("{above}{name} {what}"), body));
            };
            if required.contains(&name.as_str()) {
                change("missing", None);
                change("null", Some(Value::Null));
            }
            change("of another type", Some(of_another_type(said)));
            for value in beyond(said) {
                change("beyond its bounds", Some(value));
            }
            let element = dialect.resolve(&said["items"]);
            if said["type"] == "array" && element["properties"].is_object() && above.is_empty() {
                let first = valid[name].get(0).cloned().unwrap_or_else(|| json!({}));
                for (what, element) in self.broken_bodies(element, &first, &format!("{name}[0].")) {
                    let mut body = valid.clone();
                    body[name] = json!([element]);
                    broken.push((what, body));
                }
            }
        }
        broken
    }
}

pub(super) fn with(neutral: Neutral, body: Option<Value>) -> Neutral {
    Neutral { body, ..neutral }
}

/// Where a body names records, with the name of the member.
fn references(value: &Value, above: &str, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let at = format!("{above}/{name}");
                match member {
                    Value::String(_) if name.ends_with("Id") => found.push((at, name.clone())),
                    Value::Array(elements) if name.ends_with("Ids") => {
                        found.extend((0..elements.len()).map(|place| (format!("{at}/{place}"), name.clone())));
                    }
                    _ => references(member, &at, found),
                }
            }
        }
        Value::Array(elements) => {
            for (place, element) in elements.iter().enumerate() {
                references(element, &format!("{above}/{place}"), found);
            }
        }
        _ => {}
    }
}

fn of_another_type(said: &Value) -> Value {
    match said["type"].as_str().unwrap_or_default() {
        "string" | "array" => json!({"x": 1}),
        "object" => json!([1]),
        "boolean" => json!("maybe"),
        _ => json!("x1"),
    }
}

/// Values of the right type that the schema does not allow.
fn beyond(said: &Value) -> Vec<Value> {
    let mut values = Vec::new();
    match said["type"].as_str().unwrap_or_default() {
        "string" => {
            if said["enum"].is_array() || said["pattern"].is_string() {
                values.push(json!("nonsense"));
            }
            if matches!(said["format"].as_str(), Some("date" | "date-time")) {
                values.push(json!("2026-02-30"));
            }
            let longest = said["maxLength"].as_u64().and_then(|longest| usize::try_from(longest).ok());
            values.extend(
                longest.filter(|longest| *longest < 10_000).map(|longest| Value::from("x".repeat(longest + 1))),
            );
            if values.is_empty() {
                values.push(json!("nonsense"));
            }
            values.push(json!(""));
        }
        "number" | "integer" => {
            for text in ["-1", "0", "0.123456789012345", "99999999999999999999999999", "1e400"] {
                values.extend(serde_json::from_str::<Value>(text).ok());
            }
        }
        "array" => values.push(json!([])),
        _ => {}
    }
    values
}
