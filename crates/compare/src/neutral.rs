//! A request without a dialect: which operation, of which company, on which record, with what.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One request, as a line of a file says it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Neutral {
    /// What to call it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The `operationId` of the documents, such as `salesInvoicesCreate`; `login` for a log-in.
    pub operation: String,
    /// The company; that of the run when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub business: Option<String>,
    /// The record, where the operation is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// A parameter that is given more than once is a list.
    #[serde(default, skip_serializing_if = "Query::is_empty")]
    pub query: Query,
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub headers: IndexMap<String, String>,
    /// The whole `Authorization`, empty for none; that of the run when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authorization: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
    /// The body letter for letter, where it is meant to be no JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What its answer is kept as: `${party}` is then its identifier, `${party.lines[0].id}` a part of it.
    #[serde(default, rename = "as", skip_serializing_if = "Option::is_none")]
    pub kept_as: Option<String>,
    /// What was answered when it was recorded. Identifiers in it stand for those of this run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Value>,
}

impl Neutral {
    pub fn of(operation: &str) -> Self {
        Self { operation: operation.to_owned(), ..Self::default() }
    }

    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    #[must_use]
    pub fn on(mut self, id: &str) -> Self {
        self.id = Some(id.to_owned());
        self
    }

    #[must_use]
    pub fn with(mut self, body: Value) -> Self {
        self.body = Some(body);
        self
    }

    #[must_use]
    pub fn asking(mut self, name: &str, value: &str) -> Self {
        self.query.0.push((name.to_owned(), value.to_owned()));
        self
    }

    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.insert(name.to_owned(), value.to_owned());
        self
    }

    /// The body as it is sent.
    pub fn body_text(&self) -> Option<String> {
        self.text.clone().or_else(|| self.body.as_ref().map(Value::to_string))
    }

    /// The same request with every text in it changed, but for the operation's name.
    #[must_use]
    pub fn map(&self, change: &mut dyn FnMut(&str) -> String) -> Self {
        let mut same = self.clone();
        for text in [&mut same.business, &mut same.id, &mut same.text].into_iter().flatten() {
            *text = change(text);
        }
        for (_, value) in &mut same.query.0 {
            *value = change(value);
        }
        for value in same.headers.values_mut() {
            *value = change(value);
        }
        if let Some(body) = &mut same.body {
            map_strings(body, change);
        }
        same
    }
}

/// Changes every string of a value, but no name of a member.
pub fn map_strings(value: &mut Value, change: &mut dyn FnMut(&str) -> String) {
    match value {
        Value::String(text) => *text = change(text),
        Value::Array(elements) => elements.iter_mut().for_each(|element| map_strings(element, change)),
        Value::Object(members) => members.values_mut().for_each(|member| map_strings(member, change)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The parameters of a query, in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query(pub Vec<(String, String)>);

impl Query {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Gives a parameter once, with this value.
    pub fn set(&mut self, name: &str, value: &str) {
        self.0.retain(|(known, _)| known != name);
        self.0.push((name.to_owned(), value.to_owned()));
    }

    fn as_json(&self) -> Value {
        let mut members: IndexMap<&str, Vec<&str>> = IndexMap::new();
        for (name, value) in &self.0 {
            members.entry(name).or_default().push(value);
        }
        let one_or_many = |values: Vec<&str>| match *values.as_slice() {
            [one] => Value::from(one),
            _ => Value::from(values),
        };
        members.into_iter().map(|(name, values)| (name.to_owned(), one_or_many(values))).collect()
    }
}

impl Serialize for Query {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_json().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Query {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = serde_json::Map::deserialize(deserializer)?;
        let mut query = Self::default();
        for (name, value) in members {
            let values = match value {
                Value::Array(values) => values,
                one => vec![one],
            };
            for value in values {
                let text = match value {
                    Value::String(text) => text,
                    Value::Number(_) | Value::Bool(_) => value.to_string(),
                    Value::Null | Value::Array(_) | Value::Object(_) => {
                        return Err(serde::de::Error::custom(format!(
                            "query.{name} must be a text, a number or a list"
                        )));
                    }
                };
                query.0.push((name.clone(), text));
            }
        }
        Ok(query)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_line_says_a_request_and_is_written_as_it_was_read() {
        let said = json!({
            "name": "open ones", "operation": "salesInvoicesList", "business": "b",
            "query": {"status": ["posted", "overdue"], "page": "2"}, "headers": {"If-None-Match": "\"x\""}
        });
        let read: Neutral = serde_json::from_value(said.clone()).unwrap();
        assert_eq!(read.query.0.len(), 3);
        assert_eq!(serde_json::to_value(&read).unwrap(), said);
        let numbers: Neutral = serde_json::from_str(r#"{"operation":"x","query":{"page":2,"dryRun":true}}"#).unwrap();
        assert_eq!((numbers.query.get("page"), numbers.query.get("dryRun")), (Some("2"), Some("true")));
    }

    #[test]
    fn a_line_that_says_something_else_is_refused() {
        for (line, names) in [
            (r#"{"operation":"x","bodi":{}}"#, "bodi"),
            (r#"{"business":"b"}"#, "operation"),
            (r#"{"operation":"x","query":{"page":null}}"#, "query.page"),
        ] {
            let error = serde_json::from_str::<Neutral>(line).unwrap_err().to_string();
            assert!(error.contains(names), "{error}");
        }
    }
}
