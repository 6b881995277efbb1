//! JSON to be read and compared line by line: what fits on a line stands on one.

use serde_json::Value;

/// As wide as our own sources.
const WIDTH: usize = 120;

/// A value as it is written down, with what it is made of below it where it is long.
pub fn pretty(value: &Value) -> String {
    let mut text = String::new();
    write(&mut text, value, 0, 0);
    text.push('\n');
    text
}

/// `before` is what stands on the line already.
fn write(text: &mut String, value: &Value, depth: usize, before: usize) {
    let plain = on_a_line(value);
    // The comma behind it.
    if before + plain.chars().count() < WIDTH || !has_parts(value) {
        text.push_str(&plain);
        return;
    }
    let below = depth + 1;
    let line = |text: &mut String, is_first: bool| {
        text.push_str(if is_first { "\n" } else { ",\n" });
        text.extend(std::iter::repeat_n(' ', below));
    };
    match value {
        Value::Object(members) => {
            text.push('{');
            for (place, (name, member)) in members.iter().enumerate() {
                line(text, place == 0);
                let name = Value::from(name.as_str()).to_string() + ": ";
                text.push_str(&name);
                write(text, member, below, below + name.chars().count());
            }
        }
        Value::Array(elements) => {
            text.push('[');
            for (place, element) in elements.iter().enumerate() {
                line(text, place == 0);
                write(text, element, below, below);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    text.push('\n');
    text.extend(std::iter::repeat_n(' ', depth));
    text.push(if value.is_object() { '}' } else { ']' });
}

fn has_parts(value: &Value) -> bool {
    value.as_object().is_some_and(|members| !members.is_empty())
        || value.as_array().is_some_and(|elements| !elements.is_empty())
}

fn on_a_line(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let parts =
                members.iter().map(|(name, member)| format!("{}: {}", Value::from(name.as_str()), on_a_line(member)));
            format!("{{{}}}", parts.collect::<Vec<_>>().join(", "))
        }
        Value::Array(elements) => format!("[{}]", elements.iter().map(on_a_line).collect::<Vec<_>>().join(", ")),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_fits_on_a_line_stands_on_one() {
        let long = "x".repeat(100);
        let value = json!({"a": {"b": [1, 2.5, null], "c": {}}, "long": {"one": long, "two": [long, "y"]}});
        let text = pretty(&value);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 7, "{text}");
        assert_eq!(lines[1], r#" "a": {"b": [1, 2.5, null], "c": {}},"#);
        assert_eq!(lines[4], format!("  \"two\": [\"{long}\", \"y\"]"));
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}
