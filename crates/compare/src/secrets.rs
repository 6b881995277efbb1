//! Takes what nobody else may read out of what is shown.

/// Members of a body that hold a secret.
const SECRET: [&str; 6] = ["password", "currentPassword", "newPassword", "secret", "token", "accessToken"];
const MASK: &str = "***";

/// A body, or a command with one in it, without the secrets. Everything else stays as it is written.
pub(crate) fn masked(text: &str) -> String {
    let mut masked = text.to_owned();
    for name in SECRET {
        let member = format!("\"{name}\"");
        let mut from = 0;
        while let Some(found) = masked[from..].find(&member) {
            let after = from + found + member.len();
            from = after;
            let Some(value) = value_of(&masked[after..]) else { continue };
            masked.replace_range(after + value.start..after + value.end, MASK);
        }
    }
    masked
}

/// Where the text of a member is, between its quotes, in what follows its name.
fn value_of(rest: &str) -> Option<std::ops::Range<usize>> {
    let value = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    let start = rest.len() - value.len();
    let mut escaped = false;
    for (place, letter) in value.char_indices() {
        match letter {
            '"' if !escaped => return Some(start..start + place),
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_and_nothing_else() {
        for (text, expected) in [
            (r#"{"password":"a \"quoted\" one","name":"x"}"#, r#"{"password":"***","name":"x"}"#),
            (r#"{"secret" : "é", "hint": "duet_"}"#, r#"{"secret" : "***", "hint": "duet_"}"#),
            (r#"{"token":"a","data":{"accessToken":"b"}}"#, r#"{"token":"***","data":{"accessToken":"***"}}"#),
            (r#"{"secret":null,"amount":10.50}"#, r#"{"secret":null,"amount":10.50}"#),
            (r#"{"errors":{"password":["is required"]}}"#, r#"{"errors":{"password":["is required"]}}"#),
            (r#"{"password":"never closed"#, r#"{"password":"never closed"#),
            (r#"{"password":"back\\","x":"y"}"#, r#"{"password":"***","x":"y"}"#),
        ] {
            assert_eq!(masked(text), expected);
        }
    }
}
