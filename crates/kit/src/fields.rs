//! The members of a record that somebody asked for by `fields`.
//!
//! Owns: what may be named, and taking the rest out of an answer. Who a record is, its identifier and its version, always
//! stays. Refuses: to judge values.

use crate::body::Shape;
use crate::quoting::quoted;
use serde_json::Value;
use std::collections::BTreeMap;

/// More than any record has.
const MOST_NAMED: usize = 200;
/// What tells records apart.
const ALWAYS: [&str; 2] = ["id", "version"];

/// Members by their names; of those that are named without more, all that they hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields(BTreeMap<String, Self>);

impl Fields {
    /// Reads names that are separated by commas; what is inside of a member is named after a full stop.
    pub fn parse(text: &str, shape: &Shape) -> Result<Self, String> {
        let named: Vec<&str> = text.split(',').map(str::trim).collect();
        if named.len() > MOST_NAMED {
            return Err(format!("must name at most {MOST_NAMED} members"));
        }
        let mut fields = Self::default();
        for path in named {
            fields.add(path, shape)?;
        }
        Ok(fields.with_identity(shape))
    }

    /// Those of these that a record has.
    pub fn of(names: &[&str], shape: &Shape) -> Self {
        let there = names.iter().filter(|name| shape.inside(name).is_ok());
        Self(there.map(|name| ((*name).to_owned(), Self::default())).collect()).with_identity(shape)
    }

    fn add(&mut self, path: &str, shape: &Shape) -> Result<(), String> {
        if path.is_empty() {
            return Err("names nothing between two commas, or nothing at all".into());
        }
        let (mut here, mut shape, mut is_new) = (self, shape, true);
        for name in path.split('.') {
            shape = shape.inside(name).map_err(|why| format!("{} {why}", quoted(path)))?;
            // What was asked for whole stays whole.
            if !is_new && here.0.is_empty() {
                return Ok(());
            }
            is_new = !here.0.contains_key(name);
            here = here.0.entry(name.to_owned()).or_default();
        }
        here.0.clear();
        Ok(())
    }

    fn with_identity(mut self, shape: &Shape) -> Self {
        for name in ALWAYS.into_iter().filter(|name| shape.inside(name).is_ok()) {
            self.0.entry(name.to_owned()).or_default();
        }
        self
    }

    /// The names of the members themselves.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Whether a member is answered, of the record or of what stands within one of its members.
    pub fn shows(&self, within: Option<&str>, member: &str) -> bool {
        let here = match within {
            Some(list) => self.0.get(list),
            None => Some(self),
        };
        here.is_some_and(|here| here.0.is_empty() || here.0.contains_key(member))
    }

    /// Leaves of a value what was asked for.
    pub fn keep(&self, value: &mut Value) {
        match value {
            _ if self.0.is_empty() => {}
            Value::Object(members) => {
                members.retain(|name, member| {
                    let asked = self.0.get(name);
                    if let Some(asked) = asked {
                        asked.keep(member);
                    }
                    asked.is_some()
                });
            }
            Value::Array(elements) => elements.iter_mut().for_each(|element| self.keep(element)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemars::JsonSchema;
    use serde_json::json;

    #[derive(serde::Serialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    struct Line {
        item_id: String,
        net: i64,
    }

    #[derive(serde::Serialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    struct Record {
        id: String,
        version: i64,
        number: Option<String>,
        lines: Vec<Line>,
        open: BTreeMap<String, i64>,
    }

    fn kept(fields: &str) -> Result<Value, String> {
        let mut value = json!({
            "id": "a", "version": 3, "number": null, "lines": [{"itemId": "x", "net": 1}, {"itemId": "y", "net": 2}],
            "open": {"EUR": 7}
        });
        Fields::parse(fields, &Shape::of_record::<Record>())?.keep(&mut value);
        Ok(value)
    }

    #[test]
    fn what_is_named_is_kept_and_who_it_is() {
        let whole = json!([{"itemId": "x", "net": 1}, {"itemId": "y", "net": 2}]);
        for (fields, expected) in [
            ("number", json!({"id": "a", "version": 3, "number": null})),
            ("id", json!({"id": "a", "version": 3})),
            ("lines.itemId", json!({"id": "a", "version": 3, "lines": [{"itemId": "x"}, {"itemId": "y"}]})),
            ("lines", json!({"id": "a", "version": 3, "lines": whole})),
            // Whole is whole, in whatever order it is said.
            ("lines,lines.net", json!({"id": "a", "version": 3, "lines": whole})),
            ("lines.net, lines", json!({"id": "a", "version": 3, "lines": whole})),
            ("lines.net,lines.itemId", json!({"id": "a", "version": 3, "lines": whole})),
            ("open.EUR,number", json!({"id": "a", "version": 3, "number": null, "open": {"EUR": 7}})),
        ] {
            assert_eq!(kept(fields), Ok(expected), "{fields}");
        }
    }

    #[test]
    fn what_no_record_has_is_named() {
        for (fields, why) in [
            ("total", "total is not a known field"),
            ("Number", "Number is not a known field; did you mean number?"),
            ("lines.item_id", "lines.item_id is not a known field; did you mean itemId?"),
            ("number.length", "number.length names something inside of a value that has no members"),
            ("", "names nothing between two commas, or nothing at all"),
            ("number,,id", "names nothing between two commas, or nothing at all"),
        ] {
            assert_eq!(kept(fields), Err(why.to_owned()), "{fields}");
        }
        assert_eq!(kept(&["id"; 201].join(",")), Err("must name at most 200 members".to_owned()));
    }
}
