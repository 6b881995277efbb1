//! Takes what nobody else may read out of what is shown.

use crate::neutral::Neutral;
use crate::wrapping::Wrapping;
use serde_json::Value;

/// Members of a body that hold a secret.
const SECRET: [&str; 7] =
    ["password", "currentPassword", "newPassword", "secret", "token", "accessToken", "invitationCode"];
pub(crate) const MASK: &str = "***";

/// Takes the secrets out of a value that stands at a path.
pub(crate) fn mask(path: &str, value: &mut Value) {
    match value {
        Value::String(text) if SECRET.contains(&path.rsplit('.').next().unwrap_or_default()) => MASK.clone_into(text),
        Value::Object(members) => members.iter_mut().for_each(|(name, member)| mask(name, member)),
        Value::Array(elements) => elements.iter_mut().for_each(|element| mask("", element)),
        _ => {}
    }
}

/// Whether a secret was taken out of a value.
pub(crate) fn is_masked(value: &Value) -> bool {
    match value {
        Value::String(text) => text == MASK,
        Value::Object(members) => members.values().any(is_masked),
        Value::Array(elements) => elements.iter().any(is_masked),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// ... and out of a request.
pub(crate) fn mask_request(request: &mut Neutral) {
    if let Some(body) = &mut request.body {
        mask("", body);
    }
    request.text = request.text.as_deref().map(masked);
    if let Some(authorization) = request.authorization.as_mut().filter(|given| !given.is_empty()) {
        MASK.clone_into(authorization);
    }
}

/// What a log-in answered without its token, whatever the dialect calls it.
pub(crate) fn without_token(wrapping: &Wrapping, body: &str) -> String {
    let answered: Value = serde_json::from_str(body).unwrap_or_default();
    match wrapping.token(&answered).filter(|token| !token.is_empty()) {
        Some(token) => body.replace(token, MASK),
        None => body.to_owned(),
    }
}

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
    use serde_json::json;

    #[test]
    fn a_token_is_masked_wherever_its_dialect_has_it() {
        let wrapping = Wrapping {
            success: json!({"result": "$data"}),
            logged_in: json!({"key": "$token", "until": "$until"}),
            ..Wrapping::default()
        };
        let of = |body: &str| without_token(&wrapping, body);
        assert_eq!(of(r#"{"result":{"key":"e30.e30","until":"x"}}"#), r#"{"result":{"key":"***","until":"x"}}"#);
        for refused in [r#"{"refused":{"why":"No"}}"#, r#"{"result":{"key":""}}"#, "no JSON"] {
            assert_eq!(of(refused), refused);
        }
    }

    #[test]
    fn what_is_reported_of_a_difference_or_a_request_is_masked_too() {
        let at = |path: &str, mut value: Value| {
            mask(path, &mut value);
            value
        };
        assert_eq!(at("data.secret", json!("duet_x")), json!("***"));
        assert_eq!(
            at("data", json!({"items": [{"secret": "x", "name": "y"}]})),
            json!({"items": [{"secret": "***", "name": "y"}]})
        );
        assert_eq!(at("errors.password", json!(["is required"])), json!(["is required"]));
        assert_eq!(at("data.name", json!("secret")), json!("secret"));
        let body = json!({"password": "p", "name": "n"});
        let mut request = Neutral { authorization: Some("Basic x".into()), ..Neutral::of("usersCreate").with(body) };
        mask_request(&mut request);
        assert_eq!(
            (request.body, request.authorization.as_deref()),
            (Some(json!({"password": "***", "name": "n"})), Some("***"))
        );
    }

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
