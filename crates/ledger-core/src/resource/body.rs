//! Reading a JSON body so strictly that both engines and both dialects agree on every input.
//!
//! Owns: what JSON a body may be (no repeated key, no U+0000), and which names a body may use: those of the
//! input, and those that only the record has, which are accepted and ignored so that a record which was read
//! can be sent back.

use crate::error::{Error, FieldErrors, Result};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// The fault of the body as a whole.
const WHOLE: &str = "body";

/// The names that may occur in a body, all the way down.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Shape {
    fields: BTreeMap<String, Shape>,
    elements: Option<Box<Shape>>,
    /// A map or a free value: any name goes.
    open: bool,
}

impl Shape {
    pub(crate) fn of_input<T: JsonSchema>() -> Self {
        Self::compile(&SchemaSettings::draft2020_12().for_deserialize().into_generator().into_root_schema_for::<T>())
    }

    /// Whether a member has this name.
    pub(crate) fn names(&self, name: &str) -> bool {
        self.open || self.fields.contains_key(name)
    }

    pub(crate) fn of_record<T: JsonSchema>() -> Self {
        Self::compile(&SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>())
    }

    fn compile(root: &Schema) -> Self {
        let root = root.as_value();
        Self::at(root, root)
    }

    fn at(root: &Value, schema: &Value) -> Self {
        let mut shape = Self::default();
        shape.take(root, schema);
        shape.open = shape.fields.is_empty() && shape.elements.is_none();
        shape
    }

    fn take(&mut self, root: &Value, schema: &Value) {
        if let Some(target) = schema.get("$ref").and_then(Value::as_str)
            && let Some(target) = target.strip_prefix('#').and_then(|pointer| root.pointer(pointer))
        {
            self.take(root, target);
        }
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

    fn check(&self, record: Option<&Self>, value: &Value, path: &str, faults: &mut FieldErrors) {
        match value {
            Value::Object(members) if !self.open => {
                for (name, member) in members {
                    if faults.is_full() {
                        return;
                    }
                    let inner = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                    let shown = record.and_then(|record| record.fields.get(name));
                    match self.fields.get(name) {
                        Some(field) => field.check(shown, member, &inner, faults),
                        None if shown.is_some() => {}
                        None => faults.add(inner, self.unknown(name)),
                    }
                }
            }
            Value::Array(elements) => {
                if let Some(element) = &self.elements {
                    let shown = record.and_then(|record| record.elements.as_deref());
                    for (index, value) in elements.iter().enumerate() {
                        element.check(shown, value, &format!("{path}[{index}]"), faults);
                    }
                }
            }
            _ => {}
        }
    }

    fn unknown(&self, name: &str) -> String {
        let plain = |text: &str| text.to_lowercase().replace(['_', '-'], "");
        match self.fields.keys().find(|known| plain(known) == plain(name)) {
            Some(known) => format!("is not a known field; did you mean {known}?"),
            None => "is not a known field".into(),
        }
    }
}

/// Reads a body, lets `check` judge the fields, and answers all faults of both at once.
pub(crate) fn read<T: DeserializeOwned, D>(
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
    input.check(Some(record), &value, "", &mut faults);
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

/// The same for a body that is no resource's, such as a log-in.
pub fn read_plain<T: DeserializeOwned + JsonSchema, D>(
    bytes: &[u8],
    check: impl FnOnce(T) -> Result<D, FieldErrors>,
) -> Result<D> {
    read(bytes, &Shape::of_input::<T>(), &Shape::default(), check)
}

/// The value of a JSON text, and the paths at which a key is repeated or a text holds U+0000.
pub(crate) fn strict(text: &str) -> Result<(Value, FieldErrors)> {
    let mut faults = FieldErrors::default();
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let seed = Strict { path: String::new(), faults: &mut faults };
    let value = seed
        .deserialize(&mut deserializer)
        .and_then(|value| deserializer.end().map(|()| value))
        .map_err(|error| Error::MalformedJson(error.to_string()))?;
    Ok((value, faults))
}

struct Strict<'f> {
    path: String,
    faults: &'f mut FieldErrors,
}

impl Strict<'_> {
    fn refuse_nul(&mut self, text: &str) {
        if text.contains('\0') {
            let here = if self.path.is_empty() { WHOLE } else { &self.path };
            self.faults.add(here, "must not contain the character U+0000");
        }
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

/// How `serde_json` hands over a number whose digits are to be kept.
const NUMBER: &str = "$serde_json::private::Number";

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(mut self, text: &str) -> Result<Value, E> {
        self.refuse_nul(text);
        Ok(Value::String(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut elements = Vec::new();
        loop {
            let seed = Strict { path: format!("{}[{}]", self.path, elements.len()), faults: &mut *self.faults };
            match access.next_element_seed(seed)? {
                Some(element) => elements.push(element),
                None => return Ok(Value::Array(elements)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut access: A) -> Result<Value, A::Error> {
        let mut members = serde_json::Map::new();
        while let Some(name) = access.next_key::<String>()? {
            if name == NUMBER {
                let digits: String = access.next_value()?;
                return digits.parse().map(Value::Number).map_err(A::Error::custom);
            }
            let path = if self.path.is_empty() { name.clone() } else { format!("{}.{name}", self.path) };
            self.refuse_nul(&name);
            if members.contains_key(&name) {
                self.faults.add(&path, "is given more than once");
            }
            let value = access.next_value_seed(Strict { path, faults: &mut *self.faults })?;
            members.insert(name, value);
        }
        Ok(Value::Object(members))
    }
}

/// The same text for the same content: members in order of their names, numbers by their digits.
pub(crate) fn canonical(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let sorted: BTreeMap<_, _> = members.iter().collect();
            let members: Vec<_> = sorted
                .into_iter()
                .map(|(name, value)| format!("{}:{}", Value::from(name.as_str()), canonical(value)))
                .collect();
            format!("{{{}}}", members.join(","))
        }
        Value::Array(elements) => format!("[{}]", elements.iter().map(canonical).collect::<Vec<_>>().join(",")),
        other => other.to_string(),
    }
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
            Err(other) => vec![other.code().to_owned()],
        }
    }

    #[test]
    fn only_known_names_are_taken() {
        for (json, expected) in [
            (r#"{"fullName": "x", "id": "kept out", "places": [{"city": "y"}]}"#, vec![]),
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

    #[test]
    fn canonical_text_ignores_order_and_keeps_digits() {
        let (left, _) = strict(r#"{"b": [1.50, {"y": null, "x": 12345678901234.5678}], "a": "é"}"#).unwrap();
        assert_eq!(canonical(&left), r#"{"a":"é","b":[1.50,{"x":12345678901234.5678,"y":null}]}"#);
    }
}
