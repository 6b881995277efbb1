//! JSON of strangers, read once, in steps that are bounded by its bytes.
//!
//! Owns: what JSON may be sent (no repeated key, no U+0000) and how much of it: how deep, how wide, how long a name.
//! Where a value stands is kept as a stack of steps, each pointing to the one above it. A path is written only when a
//! fault is told, so that reading costs the same whether names are short or long.

use crate::error::{Error, FieldErrors, Result};
use crate::quoting::quoted;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// The fault of the body as a whole.
pub const WHOLE: &str = "body";

/// No record nests half as deep.
const DEEPEST: usize = 32;
/// Far beyond the longest name of a field, in bytes.
const LONGEST_NAME: usize = 256;
/// Far beyond the fields of the widest record.
const MOST_MEMBERS: usize = 500;
/// What a list may hold at all; most fields take fewer.
const MOST_ELEMENTS: usize = 10_000;
/// All values of a body together.
const MOST_VALUES: usize = 100_000;

/// Where a value stands: a step, and those above it.
#[derive(Clone, Copy)]
pub enum Path<'p> {
    Root,
    Member(&'p Path<'p>, &'p str),
    Element(&'p Path<'p>, usize),
}

impl Path<'_> {
    /// As a fault names it.
    pub fn told(&self) -> String {
        #[cfg(test)]
        tests::TOLD.with(|told| told.set(told.get() + 1));
        let mut steps = Vec::new();
        let mut here = self;
        loop {
            match here {
                Self::Root => break,
                Self::Member(above, _) | Self::Element(above, _) => {
                    steps.push(here);
                    here = above;
                }
            }
        }
        let mut text = String::new();
        for step in steps.into_iter().rev() {
            match step {
                Self::Root => {}
                Self::Member(_, name) => {
                    if !text.is_empty() {
                        text.push('.');
                    }
                    text.push_str(&quoted(name));
                }
                Self::Element(_, place) => text.push_str(&format!("[{place}]")),
            }
        }
        if text.is_empty() { WHOLE.to_owned() } else { text }
    }
}

/// The value of a JSON text, and the paths at which a key is repeated or a text holds U+0000.
pub fn strict(text: &str) -> Result<(Value, FieldErrors)> {
    let mut notes = Notes { faults: FieldErrors::default(), values: 0, refused: None };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let seed = Strict { path: &Path::Root, depth: 0, notes: &mut notes };
    let read = seed.deserialize(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
    match (read, notes.refused) {
        (_, Some(refused)) => Err(refused.into()),
        (Ok(value), None) => Ok((value, notes.faults)),
        (Err(error), None) => Err(Error::MalformedJson(error.to_string())),
    }
}

/// What is noticed while reading.
struct Notes {
    faults: FieldErrors,
    values: usize,
    /// Why reading ended before the text did.
    refused: Option<FieldErrors>,
}

impl Notes {
    fn fault(&mut self, path: &Path<'_>, why: &str) {
        if !self.faults.is_full() {
            self.faults.add(path.told(), why);
        }
    }

    /// Ends the reading.
    fn refuse<E: serde::de::Error>(&mut self, path: &Path<'_>, why: String) -> E {
        self.refused = Some(FieldErrors::one(&path.told(), why));
        E::custom("more than is read")
    }
}

struct Strict<'p, 'n> {
    path: &'p Path<'p>,
    depth: usize,
    notes: &'n mut Notes,
}

impl Strict<'_, '_> {
    /// One value more.
    fn count<E: serde::de::Error>(&mut self) -> Result<(), E> {
        self.notes.values += 1;
        if self.notes.values > MOST_VALUES {
            return Err(self.notes.refuse(&Path::Root, format!("must hold at most {MOST_VALUES} values")));
        }
        Ok(())
    }

    fn check_depth<E: serde::de::Error>(&mut self) -> Result<(), E> {
        if self.depth >= DEEPEST {
            return Err(self.notes.refuse(self.path, format!("must not be nested more than {DEEPEST} deep")));
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_, '_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(mut self, deserializer: D) -> Result<Value, D::Error> {
        self.count()?;
        deserializer.deserialize_any(self)
    }
}

/// How `serde_json` hands over a number whose digits are to be kept.
const NUMBER: &str = "$serde_json::private::Number";

impl<'de> Visitor<'de> for Strict<'_, '_> {
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

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        if text.contains('\0') {
            self.notes.fault(self.path, NUL);
        }
        Ok(Value::String(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut access: A) -> Result<Value, A::Error> {
        self.check_depth()?;
        let mut elements = Vec::new();
        loop {
            let path = Path::Element(self.path, elements.len());
            let seed = Strict { path: &path, depth: self.depth + 1, notes: &mut *self.notes };
            match access.next_element_seed(seed)? {
                Some(_) if elements.len() == MOST_ELEMENTS => {
                    return Err(self.notes.refuse(self.path, format!("must be at most {MOST_ELEMENTS}")));
                }
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
            // A number is no map; all else that comes this way is.
            self.check_depth()?;
            let path = Path::Member(self.path, &name);
            if name.len() > LONGEST_NAME {
                return Err(self.notes.refuse(&path, format!("is a name of more than {LONGEST_NAME} bytes")));
            }
            if members.len() == MOST_MEMBERS {
                return Err(self.notes.refuse(self.path, format!("must have at most {MOST_MEMBERS} members")));
            }
            if name.contains('\0') {
                self.notes.fault(&path, NUL);
            }
            if members.contains_key(&name) {
                self.notes.fault(&path, "is given more than once");
            }
            let value =
                access.next_value_seed(Strict { path: &path, depth: self.depth + 1, notes: &mut *self.notes })?;
            members.insert(name, value);
        }
        Ok(Value::Object(members))
    }
}

const NUL: &str = "must not contain the character U+0000";

/// The same text for the same content: members in order of their names, numbers by their digits.
pub fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write_canonical(value, &mut text);
    text
}

fn write_canonical(value: &Value, text: &mut String) {
    match value {
        Value::Object(members) => {
            let sorted: BTreeMap<_, _> = members.iter().collect();
            text.push('{');
            for (place, (name, value)) in sorted.into_iter().enumerate() {
                if place > 0 {
                    text.push(',');
                }
                text.push_str(&Value::from(name.as_str()).to_string());
                text.push(':');
                write_canonical(value, text);
            }
            text.push('}');
        }
        Value::Array(elements) => {
            text.push('[');
            for (place, value) in elements.iter().enumerate() {
                if place > 0 {
                    text.push(',');
                }
                write_canonical(value, text);
            }
            text.push(']');
        }
        other => text.push_str(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::Cell;

    thread_local! {
        /// How many paths were written.
        pub(super) static TOLD: Cell<usize> = const { Cell::new(0) };
    }

    fn told(text: &str) -> (Result<(Value, FieldErrors)>, usize) {
        TOLD.with(|told| told.set(0));
        let read = strict(text);
        (read, TOLD.with(Cell::get))
    }

    fn refusal(text: &str) -> String {
        match strict(text) {
            Err(Error::Validation(faults)) => {
                let told: Vec<String> =
                    faults.iter().map(|(field, messages)| format!("{field}: {}", messages.join("; "))).collect();
                told.join("\n")
            }
            other => format!("{other:?}"),
        }
    }

    fn repeated(one: &str, times: usize) -> String {
        vec![one; times].join(",")
    }

    #[test]
    fn canonical_text_ignores_order_and_keeps_digits() {
        let (left, _) = strict(r#"{"b": [1.50, {"y": null, "x": 12345678901234.5678}], "a": "é"}"#).unwrap();
        assert_eq!(canonical(&left), r#"{"a":"é","b":[1.50,{"x":12345678901234.5678,"y":null}]}"#);
    }

    #[test]
    fn a_path_is_written_only_where_a_fault_is_told() {
        for elements in [1, 100, MOST_ELEMENTS] {
            let (read, paths) = told(&format!(r#"{{"{}":[{}]}}"#, "a".repeat(200), repeated("0", elements)));
            assert!(read.is_ok_and(|(_, faults)| faults.is_empty()));
            assert_eq!(paths, 0, "{elements} elements");
        }
        let (read, paths) = told(&format!(r#"{{"a":[{}]}}"#, repeated(r#""\u0000""#, MOST_ELEMENTS)));
        let (_, faults) = read.unwrap();
        assert_eq!((faults.iter().count(), paths), (100, 100), "as many as are told, however many there are");
    }

    #[test]
    fn a_body_has_bounds_and_says_which_it_broke() {
        let nest = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        assert!(strict(&nest(DEEPEST)).is_ok());
        assert!(refusal(&nest(DEEPEST + 1)).contains("nested more than 32 deep"));
        let nest = |depth: usize| format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
        assert!(strict(&nest(DEEPEST)).is_ok());
        assert!(refusal(&nest(DEEPEST + 1)).ends_with("a.a: must not be nested more than 32 deep"));

        assert!(strict(&format!("[{}]", repeated("1", MOST_ELEMENTS))).is_ok());
        let wide = format!(r#"{{"lines":[{}]}}"#, repeated("1", MOST_ELEMENTS + 1));
        assert_eq!(refusal(&wide), "lines: must be at most 10000");

        let members = |count: usize| (0..count).map(|n| format!(r#""n{n}":1"#)).collect::<Vec<_>>().join(",");
        assert!(strict(&format!("{{{}}}", members(MOST_MEMBERS))).is_ok());
        let wide = format!(r#"{{"settings":{{{}}}}}"#, members(MOST_MEMBERS + 1));
        assert_eq!(refusal(&wide), "settings: must have at most 500 members");

        let long = "k".repeat(520_000);
        let quote = format!("{}…: is a name of more than 256 bytes", "k".repeat(64));
        assert_eq!(refusal(&format!(r#"{{"{long}":[{}]}}"#, repeated("0", 260_000))), quote);

        let rows = format!("[{}]", repeated("1", MOST_ELEMENTS - 1));
        assert_eq!(refusal(&format!("[{}]", repeated(&rows, 11))), "body: must hold at most 100000 values");
    }

    proptest! {
        #[test]
        fn reading_counts_each_value_once(elements in 0_usize..2_000, name in "[a-z]{1,200}") {
            let text = format!(r#"{{"{name}":[{}]}}"#, repeated("0", elements));
            let mut notes = Notes { faults: FieldErrors::default(), values: 0, refused: None };
            let seed = Strict { path: &Path::Root, depth: 0, notes: &mut notes };
            seed.deserialize(&mut serde_json::Deserializer::from_str(&text)).unwrap();
            // The last is the end of the list: asked for, and not there.
            prop_assert_eq!(notes.values, elements + 2);
        }
    }
}
