//! Reading a JSON body so strictly that both engines and both dialects agree on every input.
//!
//! Owns: which names a body may use: those of the input, and those that only the record has, which are accepted and
//! ignored so that a record which was read can be sent back. What JSON a body may be at all is `json`'s.

use crate::error::{Error, FieldErrors, Result};
use crate::json::{Path, WHOLE, strict};
use books::aside;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;
use words::meant::meant;

/// The names that may occur in a body, all the way down.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Shape {
    fields: BTreeMap<String, Shape>,
    elements: Option<Box<Shape>>,
    /// A map or a free value: any name goes.
    open: bool,
    /// A text, a number or a flag, which has no members.
    plain: bool,
    /// What may be answered beside its own members, and comes back with them.
    beside: Vec<&'static str>,
}

/// What has no members.
const PLAIN: [&str; 4] = ["string", "number", "integer", "boolean"];

impl Shape {
    pub fn of_input<T: JsonSchema>() -> Self {
        Self::compile(&SchemaSettings::draft2020_12().for_deserialize().into_generator().into_root_schema_for::<T>())
    }

    /// Whether a member has this name.
    pub fn names(&self, name: &str) -> bool {
        self.open || self.fields.contains_key(name)
    }

    /// Whether it is said to have a member of this name.
    pub fn has(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    /// The members that are lists of objects, each with what its elements are.
    pub fn lists(&self) -> impl Iterator<Item = (&str, &Self)> {
        self.fields.iter().filter_map(|(name, field)| Some((name.as_str(), field.elements.as_deref()?)))
    }

    /// The same of a record that may be answered with these beside it.
    #[must_use]
    pub fn beside(self, names: Vec<&'static str>) -> Self {
        Self { beside: names, ..self }
    }

    /// What stands under this name; of a list, in each of its elements.
    pub fn inside(&self, name: &str) -> Result<&Self, String> {
        if let Some(element) = &self.elements {
            return element.inside(name);
        }
        match self.fields.get(name) {
            Some(field) => Ok(field),
            None if self.open && self.plain => Err("names something inside of a value that has no members".into()),
            None if self.open => Ok(self),
            None => Err(self.unknown(name)),
        }
    }

    pub fn of_record<T: JsonSchema>() -> Self {
        Self::compile(&SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>())
    }

    fn compile(root: &Schema) -> Self {
        let root = root.as_value();
        Self::at(root, root)
    }

    fn at(root: &Value, schema: &Value) -> Self {
        let mut shape = Self::default();
        shape.take(root, schema);
        // What says of itself that it has no members has none.
        let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
        shape.open = shape.fields.is_empty() && shape.elements.is_none() && !is_closed;
        shape
    }

    fn take(&mut self, root: &Value, schema: &Value) {
        if let Some(target) = schema.get("$ref").and_then(Value::as_str)
            && let Some(target) = target.strip_prefix('#').and_then(|pointer| root.pointer(pointer))
        {
            self.take(root, target);
        }
        self.plain |= match schema.get("type") {
            Some(Value::String(one)) => PLAIN.contains(&one.as_str()),
            Some(Value::Array(some)) => some.iter().filter_map(Value::as_str).any(|one| PLAIN.contains(&one)),
            _ => false,
        };
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            for (name, property) in properties {
                self.fields.insert(name.clone(), Self::at(root, property));
            }
        }
        if let Some(items) = schema.get("items") {
            self.elements = Some(Box::new(Self::at(root, items)));
        }
        for alternatives in ["allOf", "anyOf", "oneOf"] {
            for alternative in schema.get(alternatives).and_then(Value::as_array).into_iter().flatten() {
                self.take(root, alternative);
            }
        }
    }

    fn check(&self, record: Option<&Self>, value: &Value, path: &Path<'_>, faults: &mut FieldErrors) {
        if faults.is_full() {
            return;
        }
        match value {
            Value::Object(members) if !self.open => {
                for (name, member) in members {
                    let inner = Path::Member(path, name);
                    let shown = record.and_then(|record| record.fields.get(name));
                    match self.fields.get(name) {
                        Some(field) => field.check(shown, member, &inner, faults),
                        None if shown.is_some() || faults.is_full() => {}
                        // What was answered beside a record comes back with it.
                        None if record.is_some_and(|record| record.beside.contains(&name.as_str())) => {}
                        None => faults.add(inner.told(), self.unknown(name)),
                    }
                }
            }
            // What reads an object would take the values of a list for its members, one after the other.
            Value::Array(_) if self.elements.is_none() && !self.fields.is_empty() => {
                faults.add(path.told(), "must be an object, and not a list");
            }
            Value::Array(elements) => {
                if let Some(element) = &self.elements {
                    let shown = record.and_then(|record| record.elements.as_deref());
                    for (index, value) in elements.iter().enumerate() {
                        element.check(shown, value, &Path::Element(path, index), faults);
                    }
                }
            }
            _ => {}
        }
    }

    fn unknown(&self, name: &str) -> String {
        match meant(name, self.fields.keys().map(String::as_str)) {
            Some(known) => format!("is not a known field; did you mean {known}?"),
            None => "is not a known field".into(),
        }
    }
}

/// Reads a body, lets `check` judge the fields, and answers all faults of both at once.
pub fn read<T: DeserializeOwned, D>(
    bytes: &[u8],
    input: &Shape,
    record: &Shape,
    check: impl FnOnce(T) -> Result<D, FieldErrors>,
) -> Result<D> {
    let text = std::str::from_utf8(bytes).map_err(|_| Error::MalformedJson("it is not UTF-8".into()))?;
    let (value, mut faults) = strict(text)?;
    if !value.is_object() {
        return Err(Error::field(WHOLE, "must be a JSON object"));
    }
    input.check(Some(record), &value, &Path::Root, &mut faults);
    let parsed: T = if faults.is_empty() {
        serde_json::from_str(text).map_err(|error| Error::field(WHOLE, crate::field::plain_words(&error)))?
    } else {
        // Without repeated keys, which serde would stop at; the faults are already noted.
        serde_json::from_str(&value.to_string())
            .map_err(|error| Error::field(WHOLE, crate::field::plain_words(&error)))?
    };
    match check(parsed) {
        Ok(draft) if faults.is_empty() => Ok(draft),
        Ok(_) => Err(faults.into()),
        Err(more) => {
            faults.extend(more);
            Err(faults.into())
        }
    }
}

/// The same for a body that is no resource's, such as a log-in: read where it holds up nobody.
pub async fn read_plain<T: DeserializeOwned + JsonSchema, D: Send + 'static>(
    bytes: impl AsRef<[u8]> + Send + 'static,
    check: impl FnOnce(T) -> Result<D, FieldErrors> + Send + 'static,
) -> Result<D> {
    aside::read(bytes.as_ref().len(), move || read(bytes.as_ref(), &Shape::of_input::<T>(), &Shape::default(), check))
        .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize, JsonSchema)]
    struct Inner {
        #[allow(dead_code, reason = "its name is what is tested")]
        city: Option<String>,
    }

    #[derive(serde::Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    struct Input {
        #[allow(dead_code, reason = "its name is what is tested")]
        full_name: Option<String>,
        #[allow(dead_code, reason = "its name is what is tested")]
        places: Option<Vec<Inner>>,
    }

    #[derive(serde::Serialize, JsonSchema)]
    struct Shown {
        id: String,
    }

    fn faults_of(json: &str) -> Vec<String> {
        let (input, record) = (Shape::of_input::<Input>(), Shape::of_record::<Shown>());
        match read::<Input, ()>(json.as_bytes(), &input, &record, |_| Ok(())) {
            Ok(()) => Vec::new(),
            Err(Error::Validation(faults)) => {
                faults.iter().map(|(field, messages)| format!("{field}: {}", messages.join("; "))).collect()
            }
            Err(other) => vec![other.code().to_string()],
        }
    }

    #[test]
    fn only_known_names_are_taken() {
        for (json, expected) in [
            (r#"{"fullName": "x", "id": "kept out", "places": [{"city": "y"}]}"#, vec![]),
            (r#"{"places": [["y"], {"city": "z"}]}"#, vec!["places[0]: must be an object, and not a list"]),
            (r#"{"full_name": "x"}"#, vec!["full_name: is not a known field; did you mean fullName?"]),
            (
                r#"{"colour": 1, "places": [{"town": 1}]}"#,
                vec!["colour: is not a known field", "places[0].town: is not a known field"],
            ),
            (r#"{"fullName": "a", "fullName": "b"}"#, vec!["fullName: is given more than once"]),
            (r#"{"fullName": "a\u0000"}"#, vec!["fullName: must not contain the character U+0000"]),
            ("[]", vec!["body: must be a JSON object"]),
            ("{", vec!["malformed_json"]),
            ("{} x", vec!["malformed_json"]),
            ("", vec!["malformed_json"]),
        ] {
            assert_eq!(faults_of(json), expected, "{json}");
        }
    }
}
