//! Schemas as programs that make clients read them best.

use ledger_core::field::MOST_ELEMENTS;
use schemars::Schema;
use serde_json::{Map, Value};

/// Words of which some are described come as alternatives of a word each, which clients take for as many types. They become
/// one list of words, and what is said of each stands in the description.
pub(super) fn words(schema: &mut Schema) {
    let Some(members) = schema.as_object_mut() else { return };
    let Some(alternatives) = members.get("oneOf").and_then(Value::as_array) else { return };
    let said: Option<Vec<_>> = alternatives.iter().map(of_words).collect();
    let Some(said) = said.filter(|said| !said.is_empty()) else { return };
    let mut about = members.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut described = said.iter().filter_map(|(words, about)| Some((words.first()?.as_str()?, (*about)?))).peekable();
    if described.peek().is_some() {
        about.push('\n');
    }
    for (word, what) in described {
        about.push_str(&format!("\n- `{word}`: {what}"));
    }
    let all: Vec<Value> = said.iter().flat_map(|(words, _)| words.clone()).collect();
    members.shift_remove("oneOf");
    members.insert("description".into(), about.trim().into());
    members.insert("type".into(), "string".into());
    members.insert("enum".into(), all.into());
}

/// A list of a body is read so far and no further, whatever it is of.
pub(super) fn lists(schema: &mut Schema) {
    let Some(members) = schema.as_object_mut() else { return };
    let kind = members.get("type");
    let is_list =
        kind.is_some_and(|kind| kind == "array" || kind.as_array().is_some_and(|all| all.contains(&"array".into())));
    if is_list && !members.contains_key("maxItems") {
        members.insert("maxItems".into(), MOST_ELEMENTS.into());
    }
}

/// An answer leaves nothing to be understood. Who makes classes takes a record with a default for none at all.
pub(super) fn said(schema: &mut Schema) {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for property in properties.into_iter().flat_map(|all| all.values_mut()).filter_map(Value::as_object_mut) {
        property.shift_remove("default");
    }
}

/// The words of an alternative that is nothing else, and what is said of them.
fn of_words(alternative: &Value) -> Option<(Vec<Value>, Option<&str>)> {
    let members: &Map<String, Value> = alternative.as_object()?;
    let known = |name: &String| ["type", "const", "enum", "description"].contains(&name.as_str());
    if members.get("type")? != "string" || !members.keys().all(known) {
        return None;
    }
    let words = match (members.get("const"), members.get("enum").and_then(Value::as_array)) {
        (Some(word), None) => vec![word.clone()],
        (None, Some(words)) => words.clone(),
        (Some(_), Some(_)) | (None, None) => return None,
    };
    Some((words, members.get("description").and_then(Value::as_str)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemars::json_schema;

    #[test]
    fn words_of_which_some_are_described_are_one_list() {
        let mut schema = json_schema!({"description": "What is done.", "oneOf": [
            {"type": "string", "enum": ["view", "edit"]},
            {"type": "string", "const": "post", "description": "Brings it into the books."}
        ]});
        words(&mut schema);
        let said = json_schema!({
            "description": "What is done.\n\n- `post`: Brings it into the books.",
            "type": "string", "enum": ["view", "edit", "post"]
        });
        assert_eq!(schema, said);
    }

    #[test]
    fn what_is_answered_has_no_defaults() {
        let mut schema = json_schema!({"properties": {
            "default": {"type": "string"}, "boxes": {"$ref": "#/x", "default": {"salesBase": null}}
        }});
        said(&mut schema);
        let expected = json_schema!({"properties": {"default": {"type": "string"}, "boxes": {"$ref": "#/x"}}});
        assert_eq!(schema, expected);
    }

    #[test]
    fn alternatives_of_anything_else_stay() {
        for alternatives in [
            json_schema!({"oneOf": [{"type": "string", "enum": ["a"]}, {"type": "object"}]}),
            json_schema!({"oneOf": [{"type": "string", "const": "a"}, {"$ref": "#/x"}]}),
            json_schema!({"oneOf": [{"type": "string", "const": "a", "maxLength": 1}]}),
        ] {
            let mut schema = alternatives.clone();
            words(&mut schema);
            assert_eq!(schema, alternatives);
        }
    }
}
