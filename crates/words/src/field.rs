//! Reading a body so that one pass finds every fault.
//!
//! Owns: [`Field`], which remembers that a value was missing or malformed instead of stopping there, and
//! [`Faults`], which collects what the fields and the rules have to say under their JSON paths.

use crate::error::FieldErrors;
use crate::quoting::{clipped, quoted};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, de::DeserializeOwned};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// One field of a request. Absent and `null` mean the same.
#[derive(Debug, Clone, PartialEq)]
pub enum Field<T> {
    Missing,
    Malformed(String),
    Given(T),
}

/// A field that may be left out; the schema says so.
pub type Maybe<T> = Field<Option<T>>;

/// A list whose elements are judged one by one.
pub type Each<T> = Maybe<Vec<Field<T>>>;

impl<'de, T: DeserializeOwned> Deserialize<'de> for Field<T> {
    // Asking for an option is what lets serde call us for an absent key too.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldVisitor<T>(PhantomData<T>);

        impl<'de, T: DeserializeOwned> Visitor<'de> for FieldVisitor<T> {
            type Value = Field<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_none<E>(self) -> Result<Self::Value, E> {
                Ok(Field::Missing)
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Field::Missing)
            }

            fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
                let raw = Box::<serde_json::value::RawValue>::deserialize(deserializer)?;
                Ok(match serde_json::from_str(raw.get()) {
                    Ok(value) => Field::Given(value),
                    Err(error) => Field::Malformed(plain_words(&error)),
                })
            }
        }

        deserializer.deserialize_option(FieldVisitor(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for Field<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<T>()
    }

    // schemars asks this to decide whether a field is required; `Maybe` answers as `Option` does.
    fn _schemars_private_is_option() -> bool {
        T::_schemars_private_is_option()
    }
}

/// A field in which `null` says something else than silence: it must stand under `#[serde(default)]`.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Stated<T> {
    #[default]
    Unsaid,
    Nothing,
    Malformed(String),
    Given(T),
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Stated<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Field::deserialize(deserializer)? {
            Field::Missing => Self::Nothing,
            Field::Malformed(why) => Self::Malformed(why),
            Field::Given(value) => Self::Given(value),
        })
    }
}

impl<T: JsonSchema> JsonSchema for Stated<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<Option<T>>()
    }

    fn _schemars_private_is_option() -> bool {
        true
    }
}

/// serde's message in the words of the person who sent the body.
pub fn plain_words(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or(&text);
    if text.starts_with("unknown variant")
        && let Some((_, allowed)) = text.rsplit_once(", expected ")
    {
        return format!("must be {}", allowed.replace('`', ""));
    }
    if text.starts_with("UUID parsing failed") {
        return "must be an identifier".into();
    }
    // From behind: what was sent may say so, too.
    match text.rsplit_once(", expected ") {
        Some((_, expected)) => format!("must be {}", expectation(expected)),
        None => clipped(text, LONGEST_WORDS).into_owned(),
    }
}

/// Longer than what any of our own values says of itself.
const LONGEST_WORDS: usize = 120;

fn expectation(expected: &str) -> &str {
    match expected {
        "i8" | "i16" | "i32" | "i64" | "u8" | "u16" | "u32" | "u64" => "a whole number",
        "a boolean" => "true or false",
        "a sequence" => "an array",
        "a map" => "an object",
        "a formatted UUID string" => "an identifier",
        structure if structure.starts_with("struct ") => "an object",
        other => other,
    }
}

/// The faults found so far, and the place at which we are looking.
#[derive(Debug, Default)]
pub struct Faults {
    place: Vec<Step>,
    errors: FieldErrors,
}

/// One step on the way to a value. Steps become a path only where a fault is told.
#[derive(Debug)]
enum Step {
    Field(String),
    Element(usize),
}

/// A list of a body holds no more; most fields take fewer, and say so.
pub const MOST_ELEMENTS: usize = 1_000;

impl Faults {
    /// The path to a field from here; to here itself where it has no name.
    fn at(&self, name: &str) -> String {
        let mut path = String::new();
        for step in &self.place {
            match step {
                Step::Field(name) if path.is_empty() => path.push_str(&quoted(name)),
                Step::Field(name) => path.extend([".", &quoted(name)]),
                Step::Element(index) => path.push_str(&format!("[{index}]")),
            }
        }
        if !path.is_empty() && !name.is_empty() {
            path.push('.');
        }
        path + &quoted(name)
    }

    pub fn add(&mut self, name: &str, message: impl Into<String>) {
        if !self.errors.is_full() {
            self.errors.add(self.at(name), message);
        }
    }

    /// A value that must be there. What comes back after a fault is never used: [`Faults::finish`] refuses.
    pub fn required<T: Default>(&mut self, name: &str, field: Field<T>) -> T {
        match field {
            Field::Given(value) => value,
            Field::Missing => {
                self.add(name, "is required");
                T::default()
            }
            Field::Malformed(why) => {
                self.add(name, why);
                T::default()
            }
        }
    }

    pub fn optional<T>(&mut self, name: &str, field: Maybe<T>) -> Option<T> {
        match field {
            Field::Given(value) => value,
            Field::Missing => None,
            Field::Malformed(why) => {
                self.add(name, why);
                None
            }
        }
    }

    /// A value within bounds, checked where it was given.
    pub fn within<T: PartialOrd + fmt::Display + Copy>(&mut self, name: &str, value: Option<T>, least: T, most: T) {
        if value.is_some_and(|value| value < least || value > most) {
            self.add(name, format!("must be between {least} and {most}"));
        }
    }

    /// Looks inside a nested object.
    pub fn inside<T, R>(&mut self, name: &str, value: T, look: impl FnOnce(&mut Self, T) -> R) -> R {
        self.step(Step::Field(name.to_owned()), |faults| look(faults, value))
    }

    fn step<R>(&mut self, step: Step, look: impl FnOnce(&mut Self) -> R) -> R {
        self.place.push(step);
        let result = look(self);
        self.place.pop();
        result
    }

    /// Looks at each element of a list, under `name[index]`.
    pub fn each<T, R>(&mut self, name: &str, list: Each<T>, mut look: impl FnMut(&mut Self, T) -> R) -> Vec<R> {
        let list = self.optional(name, list).unwrap_or_default();
        if list.len() > MOST_ELEMENTS {
            self.add(name, format!("must be at most {MOST_ELEMENTS}"));
            return Vec::new();
        }
        let mut look_at = |faults: &mut Self, (index, element)| {
            faults.step(Step::Element(index), |faults| match element {
                Field::Given(value) => Some(look(faults, value)),
                Field::Missing => {
                    faults.add("", "must not be null");
                    None
                }
                Field::Malformed(why) => {
                    faults.add("", why);
                    None
                }
            })
        };
        self.step(Step::Field(name.to_owned()), |faults| {
            list.into_iter().enumerate().filter_map(|one| look_at(faults, one)).collect()
        })
    }

    pub fn finish<T>(self, value: T) -> Result<T, FieldErrors> {
        if self.errors.is_empty() { Ok(value) } else { Err(self.errors) }
    }
}

/// What elements of a list say of a member that no two of them share. One that left it out, or said nothing that can be read,
/// is told so, and is the second of nothing.
#[derive(Debug, Default)]
pub struct Once<T>(Vec<T>);

impl<T: PartialEq + Clone> Once<T> {
    /// Whether another element said it before.
    pub fn is_second(&mut self, field: &Field<T>) -> bool {
        let Field::Given(value) = field else { return false };
        let second = self.0.contains(value);
        if !second {
            self.0.push(value.clone());
        }
        second
    }
}

/// Text of at most `MAX` characters; an empty one says nothing and is kept as absent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text<const MAX: usize>(String);

impl<const MAX: usize> Text<MAX> {
    pub fn into_option(self) -> Option<String> {
        Some(self.0).filter(|text| !text.is_empty())
    }
}

/// Text that must say something: 1 to `MAX` characters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Label<const MAX: usize>(String);

impl<const MAX: usize> Label<MAX> {
    pub fn into_inner(self) -> String {
        self.0
    }
}

fn read_text<'de, D: Deserializer<'de>>(deserializer: D, most: usize) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.chars().count() > most {
        return Err(de::Error::custom(format!("must be at most {most} characters long")));
    }
    if text.chars().any(|letter| letter.is_control() && !matches!(letter, '\n' | '\r' | '\t')) {
        return Err(de::Error::custom("must not contain control characters"));
    }
    Ok(text.trim().to_owned())
}

impl<'de, const MAX: usize> Deserialize<'de> for Text<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_text(deserializer, MAX).map(Self)
    }
}

impl<'de, const MAX: usize> Deserialize<'de> for Label<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = read_text(deserializer, MAX)?;
        if text.is_empty() {
            return Err(de::Error::custom("must not be empty"));
        }
        Ok(Self(text))
    }
}

/// What a text is made of, for programs that hold a body against the document: no control characters but those of lines.
const PLAIN: &str = r"^[^\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]*$";
/// The same, and not of blanks alone.
const PLAIN_AND_SAYING: &str = r"^[^\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]*[^\s\u0000-\u001F\u007F-\u009F][^\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]*$";

impl<const MAX: usize> JsonSchema for Text<MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Text{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "maxLength": MAX, "pattern": PLAIN})
    }
}

impl<const MAX: usize> JsonSchema for Label<MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Label{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "minLength": 1, "maxLength": MAX, "pattern": PLAIN_AND_SAYING})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Inner {
        quantity: Field<i64>,
    }

    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Outer {
        name: Field<Label<5>>,
        note: Maybe<Text<3>>,
        lines: Each<Inner>,
    }

    fn faults_of(json: &str) -> Vec<(String, String)> {
        let outer: Outer = serde_json::from_str(json).unwrap();
        let mut faults = Faults::default();
        faults.required("name", outer.name);
        faults.optional("note", outer.note);
        faults.each("lines", outer.lines, |faults, line| faults.required("quantity", line.quantity));
        let errors = faults.finish(()).err().unwrap_or_default();
        errors.iter().map(|(field, messages)| (field.clone(), messages.join("; "))).collect()
    }

    #[test]
    fn what_says_nothing_is_the_second_of_nothing() {
        let mut said = Once::default();
        let given = |text: &str| Field::Given(text.to_owned());
        let seconds: Vec<bool> = [
            Field::Missing,
            Field::Missing,
            given(""),
            given("a"),
            Field::Malformed("must be text".into()),
            Field::Malformed("must be text".into()),
            given("b"),
            given("a"),
            given("a"),
        ]
        .iter()
        .map(|field| said.is_second(field))
        .collect();
        assert_eq!(seconds, [false, false, false, false, false, false, false, true, true]);
    }

    #[test]
    fn every_fault_is_found_in_one_pass() {
        let found = faults_of(r#"{"note": "long", "lines": [{"quantity": 1}, {"quantity": "x"}, 7, {}, null]}"#);
        let expected = [
            ("name", "is required"),
            ("note", "must be at most 3 characters long"),
            ("lines[1].quantity", "must be a whole number"),
            ("lines[2]", "must be an object"),
            ("lines[3].quantity", "is required"),
            ("lines[4]", "must not be null"),
        ];
        assert_eq!(found, expected.map(|(field, message)| (field.to_owned(), message.to_owned())));
    }

    #[test]
    fn what_was_sent_is_never_told_at_length() {
        let long = "expected x, expected ".repeat(5_000);
        let sent = serde_json::json!({"name": [long], "lines": [{"quantity": long}, long]}).to_string();
        for (field, message) in faults_of(&sent) {
            assert!(field.len() < 64 && message.len() < 64, "{field}: {message}");
        }
        let mut faults = Faults::default();
        faults.inside(&long, (), |faults, ()| faults.add(&long, "is unknown"));
        let errors = faults.finish(()).unwrap_err();
        assert!(errors.iter().all(|(field, _)| field.chars().count() == 2 * 65 + 1));
    }

    #[test]
    fn a_list_is_looked_through_only_so_far() {
        let lines = |count: usize| vec!["{}"; count].join(",");
        let sent = |count| format!(r#"{{"name":"ok","lines":[{}]}}"#, lines(count));
        assert_eq!(faults_of(&sent(MOST_ELEMENTS)).len(), 100);
        let expected = [("lines".to_owned(), "must be at most 1000".to_owned())];
        assert_eq!(faults_of(&sent(MOST_ELEMENTS + 1)), expected);
    }

    #[test]
    fn blank_text_is_no_name() {
        assert_eq!(faults_of(r#"{"name": "  "}"#), [("name".to_owned(), "must not be empty".to_owned())]);
    }

    #[test]
    fn null_is_as_good_as_absent() {
        assert_eq!(faults_of(r#"{"name": "ok", "note": null, "lines": null}"#), []);
    }
}
