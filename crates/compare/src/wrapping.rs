//! How a dialect wraps what it says, as its document tells it in `x-wrapping`: bodies with a `$name` where something is
//! said, of a success, of a failure, and of what a log-in answers.

use crate::meaning::Fault;
use serde_json::{Map, Value};

/// What begins the name of what is said.
const NAME: char = '$';

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Wrapping {
    pub success: Value,
    pub failure: Value,
    pub logged_in: Value,
}

impl Wrapping {
    pub fn of(document: &Value) -> Result<Self, String> {
        let said = |name: &str| match &document["x-wrapping"][name] {
            Value::Null => {
                Err(format!("the OpenAPI document does not say how answers are wrapped: no x-wrapping.{name}"))
            }
            said => Ok(said.clone()),
        };
        Ok(Self { success: said("success")?, failure: said("failure")?, logged_in: said("loggedIn")? })
    }

    /// Where a name stands in the answer of a log-in, such as `data.accessToken`.
    pub fn of_login(&self, name: &str) -> Option<String> {
        let (outer, inner) = (place(&self.success, "data")?, place(&self.logged_in, name)?);
        Some(below(&outer, &inner))
    }

    /// The token in the answer of a log-in.
    pub fn token<'b>(&self, body: &'b Value) -> Option<&'b str> {
        let place = self.of_login("token")?;
        place.split('.').try_fold(body, |at, member| at.get(member))?.as_str()
    }
}

/// What stands in a body in the places of a wrapping, by name, and where the body is not as the wrapping says.
pub fn unwrap(wrapping: &Value, body: Value) -> (Map<String, Value>, Vec<Fault>) {
    let mut found = Found::default();
    found.walk(wrapping, body, "");
    (found.said, found.faults)
}

#[derive(Default)]
struct Found {
    said: Map<String, Value>,
    faults: Vec<Fault>,
}

impl Found {
    fn walk(&mut self, wrapping: &Value, body: Value, path: &str) {
        match (wrapping, body) {
            (Value::String(name), body) if name.starts_with(NAME) => {
                self.said.insert(name[NAME.len_utf8()..].to_owned(), body);
            }
            (Value::Object(expected), Value::Object(mut members)) => {
                for name in expected.keys().filter(|name| !members.contains_key(*name)) {
                    self.fault(&below(path, name), "is missing from the body");
                }
                for name in members.keys().filter(|name| !expected.contains_key(*name)) {
                    self.fault(&below(path, name), "does not belong into the body");
                }
                for (name, expected) in expected {
                    if let Some(member) = members.shift_remove(name) {
                        self.walk(expected, member, &below(path, name));
                    }
                }
            }
            (Value::Object(_), _) => self.fault(path, "must be an object with this status"),
            (constant, body) if *constant != body => self.fault(path, &format!("must be {constant} with this status")),
            _ => {}
        }
    }

    fn fault(&mut self, path: &str, why: &str) {
        self.faults.push(Fault { path: path.to_owned(), why: why.to_owned() });
    }
}

/// Where a name stands in a wrapping: `""` where it is all of it.
pub fn place(wrapping: &Value, wanted: &str) -> Option<String> {
    match wrapping {
        Value::String(name) => (name.strip_prefix(NAME) == Some(wanted)).then(String::new),
        Value::Object(members) => members.iter().find_map(|(name, member)| Some(below(name, &place(member, wanted)?))),
        _ => None,
    }
}

/// A wrapping as people are shown it, with words in the places of what is said.
pub fn shown(wrapping: &Value, word: &impl Fn(&str) -> String) -> String {
    match wrapping {
        Value::String(name) if name.starts_with(NAME) => word(&name[NAME.len_utf8()..]),
        Value::Object(members) => {
            let member = |(name, member): (&String, &Value)| format!("\"{name}\":{}", shown(member, word));
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(","))
        }
        constant => constant.to_string(),
    }
}

/// The names of a wrapping's members, for a sentence: "`status`, `title` and `errors`".
pub fn members(wrapping: &Value) -> String {
    let names: Vec<String> = wrapping.as_object().into_iter().flatten().map(|(name, _)| format!("`{name}`")).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

pub fn below(outer: &str, inner: &str) -> String {
    if outer.is_empty() || inner.is_empty() { format!("{outer}{inner}") } else { format!("{outer}.{inner}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_said_is_found_wherever_it_stands_and_what_is_off_is_told() {
        let deep = json!({"error": {"text": "$title", "fields": "$errors"}, "ok": false});
        let cases = [
            (json!({"error": {"text": "No", "fields": {}}, "ok": false}), json!({"title": "No", "errors": {}}), vec![]),
            (json!({"error": {"text": "No"}, "ok": true}), json!({"title": "No"}), vec!["error.fields", "ok"]),
            (json!({"error": "No", "ok": false, "x": 1}), json!({}), vec!["x", "error"]),
            (json!([1]), json!({}), vec![""]),
        ];
        for (body, said, off) in cases {
            let (found, faults) = unwrap(&deep, body.clone());
            let paths: Vec<&str> = faults.iter().map(|fault| fault.path.as_str()).collect();
            assert_eq!((Value::from(found), paths), (said, off), "{body}");
        }
        assert_eq!(unwrap(&json!("$data"), json!([1])).0["data"], json!([1]), "nothing around it");
    }

    #[test]
    fn places_and_members_are_told_to_people() {
        let document = json!({"x-wrapping": {
            "success": {"result": "$data"}, "failure": {"error": "$title"}, "loggedIn": {"session": {"key": "$token"}}
        }});
        let wrapping = Wrapping::of(&document).unwrap();
        assert_eq!(wrapping.of_login("token").as_deref(), Some("result.session.key"));
        assert_eq!(wrapping.token(&json!({"result": {"session": {"key": "t"}}})), Some("t"));
        assert_eq!((wrapping.of_login("until"), wrapping.token(&json!({"error": "No"}))), (None, None));
        assert_eq!(place(&json!("$data"), "data").as_deref(), Some(""));
        assert_eq!(shown(&wrapping.success, &|name| format!("<{name}>")), r#"{"result":<data>}"#);
        assert_eq!(
            members(&json!({"status": "$status", "title": "$title", "errors": 1})),
            "`status`, `title` and `errors`"
        );
        assert!(Wrapping::of(&json!({})).unwrap_err().contains("x-wrapping.success"));
    }
}
