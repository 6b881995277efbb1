//! Takes the secrets out of what went over the wire, before anybody keeps or shows it.
//!
//! A secret is known by the name that it stands under (a header, a parameter, a member, an element, a part of a form) or
//! by its looks. Whatever was found is then looked for in all of the exchange: what echoes a secret holds it as well.
//! A body that was cut off is read as far as it goes, and a secret that was cut off is one.

use crate::dialect::pairs;
use crate::secrets::MASK;

/// What a name has in it under which a secret stands; in small letters, without what joins words.
const SECRET_NAMES: [&str; 21] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "authorization",
    "cookie",
    "signature",
    "bearer",
    "session",
    "totp",
    "recoverycode",
    "invitationcode",
    "verificationcode",
    "mfacode",
    "csrf",
    "xsrf",
    "clientkey",
];
/// ... and names that are one as a whole.
const SECRET_WORDS: [&str; 9] = ["pwd", "pin", "otp", "jwt", "sig", "cvv", "cvc", "auth", "pass"];
/// Members whose name says nothing, and all of which may be secret: headers that are sent to somebody else.
const OF_OTHERS: [&str; 2] = ["headers", "customheaders"];
/// Where a path is about signing in, a `code` is a secret; elsewhere it is an account's or an item's.
const OF_SIGNING_IN: [&str; 10] =
    ["totp", "mfa", "2fa", "otp", "invitation", "recovery", "verif", "login", "signin", "oauth"];

/// Shorter ones stand in other words by chance.
const SHORTEST: usize = 6;

fn plain(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether what stands under a name is a secret.
pub(crate) fn is_secret(name: &str) -> bool {
    let plain = plain(name);
    SECRET_WORDS.contains(&plain.as_str()) || SECRET_NAMES.iter().any(|word| plain.contains(word))
}

/// ... or a header is.
pub(crate) fn is_secret_header(name: &str) -> bool {
    let plain = plain(name);
    plain != "wwwauthenticate"
        && plain != "idempotencykey"
        && (is_secret(name) || plain.contains("auth") || plain.contains("credential") || plain.ends_with("key"))
}

/// What takes the secrets out of one exchange.
#[derive(Debug, Default)]
pub struct Discretion {
    /// Whether a `code` is one.
    is_of_signing_in: bool,
    heard: Vec<String>,
}

impl Discretion {
    /// For an exchange at a path.
    pub fn at(path: &str) -> Self {
        let path = plain(path);
        Self { is_of_signing_in: OF_SIGNING_IN.iter().any(|word| path.contains(word)), heard: Vec::new() }
    }

    pub fn header(&mut self, name: &str, value: &str) -> String {
        if is_secret_header(name) {
            self.hear(value);
            let is_cookie = plain(name).contains("cookie");
            for part in value.split(if is_cookie { ';' } else { ' ' }) {
                self.hear(if is_cookie { part.split_once('=').map_or("", |(_, value)| value) } else { part });
            }
            return MASK.to_owned();
        }
        shown(value, self)
    }

    /// The parameters of a query, or of a form.
    pub fn pairs(&mut self, text: &str) -> String {
        let each = text.split('&').map(|pair| {
            let Some((name, value)) = pair.split_once('=') else { return pair.to_owned() };
            let known = pairs(pair).pop().unwrap_or_default();
            if self.names_secret(&known.0) {
                self.hear(value);
                self.hear(&known.1);
                return format!("{name}={MASK}");
            }
            pair.to_owned()
        });
        each.collect::<Vec<_>>().join("&")
    }

    /// A body of a media type, whole or cut off.
    pub fn body(&mut self, media: &str, text: &str) -> String {
        let media = media.to_lowercase();
        let text = if media.starts_with("multipart/") { self.parts(text) } else { text.to_owned() };
        let text = if media.contains("xml") || media.contains("html") { self.elements(&text) } else { text };
        let text = self.members(&text);
        if media.contains("urlencoded") || media.starts_with("text/plain") || media.is_empty() {
            return self.pairs(&text);
        }
        text
    }

    /// Takes out what looks like a secret, and whatever was found to be one elsewhere in the exchange.
    pub fn hush(&self, text: &str) -> String {
        let mut text = shown(text, &mut Self::default());
        for secret in &self.heard {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), MASK);
            }
        }
        text
    }

    /// The same for every text of a value, and what stands in it under the name of a secret.
    pub fn value(&mut self, name: &str, value: &mut serde_json::Value) {
        use serde_json::Value;
        match value {
            Value::String(text) if self.names_secret(name) => {
                self.hear(text);
                MASK.clone_into(text);
            }
            Value::String(text) => *text = self.hush(text),
            Value::Object(members) => members.iter_mut().for_each(|(name, member)| self.value(name, member)),
            Value::Array(elements) => elements.iter_mut().for_each(|element| self.value(name, element)),
            Value::Number(_) if self.names_secret(name) => *value = MASK.into(),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn names_secret(&self, name: &str) -> bool {
        is_secret(name) || self.is_of_signing_in && plain(name) == "code"
    }

    fn hear(&mut self, secret: &str) {
        let secret = secret.trim();
        let is_word = ["bearer", "basic", "digest", "path", "httponly", "secure", "samesite", "strict"]
            .contains(&secret.to_lowercase().as_str());
        if secret.chars().count() >= SHORTEST && !is_word && !self.heard.iter().any(|known| known == secret) {
            self.heard.push(secret.to_owned());
            // Longer ones first, or a part of one would be left.
            self.heard.sort_by_key(|known| std::cmp::Reverse(known.len()));
        }
    }

    /// The members of JSON: of one text, of lines of them, of events. What is no JSON stays.
    fn members(&mut self, text: &str) -> String {
        let bytes = text.as_bytes();
        let (mut kept, mut copied, mut at) = (String::with_capacity(text.len()), 0, 0);
        while let Some(start) = bytes.iter().skip(at).position(|byte| *byte == b'"').map(|found| at + found) {
            let Some(end) = string_end(bytes, start) else { break };
            at = end + 1;
            let colon = past_space(bytes, at);
            if bytes.get(colon) != Some(&b':') {
                continue;
            }
            let name: String = serde_json::from_str(&text[start..at]).unwrap_or_else(|_| text[start + 1..end].into());
            let value = past_space(bytes, colon + 1);
            let of_others = OF_OTHERS.contains(&plain(&name).as_str()) && matches!(bytes.get(value), Some(b'[' | b'{'));
            if !of_others && !self.names_secret(&name) {
                at = colon + 1;
                continue;
            }
            let value_end = value_end(bytes, value);
            let said = &text[value..value_end];
            at = value_end;
            if matches!(said.trim(), "true" | "false" | "null" | "") {
                continue;
            }
            self.hear_in(said, of_others);
            kept += &text[copied..value];
            kept += "\"***\"";
            copied = value_end;
        }
        kept + &text[copied..]
    }

    /// Every text in a secret value is one; of headers those are that stand beside a name.
    fn hear_in(&mut self, value: &str, of_headers: bool) {
        let bytes = value.as_bytes();
        let mut at = 0;
        let mut is_name = false;
        while let Some(start) = bytes.iter().skip(at).position(|byte| *byte == b'"').map(|found| at + found) {
            let end = string_end(bytes, start);
            let inner = &value[start + 1..end.unwrap_or(value.len())];
            let is_member = end.is_some_and(|end| bytes.get(past_space(bytes, end + 1)) == Some(&b':'));
            if is_member {
                is_name = of_headers && inner == "name";
            } else if !is_name {
                self.hear(inner);
                if let Ok(said) = serde_json::from_str::<String>(&format!("\"{inner}\"")) {
                    self.hear(&said);
                }
            }
            let Some(end) = end else { return };
            at = end + 1;
        }
        if at == 0 {
            self.hear(value);
        }
    }

    /// The parts of a form; of a file its length.
    fn parts(&mut self, text: &str) -> String {
        let Some(boundary) = text.lines().next().filter(|line| line.starts_with("--")) else { return MASK.to_owned() };
        let parts = text.split(boundary).map(|part| {
            let Some((head, body)) = part.split_once("\r\n\r\n").or_else(|| part.split_once("\n\n")) else {
                return part.to_owned();
            };
            let named = |of: &str| {
                let (_, rest) = head.split_once(&format!("{of}=\""))?;
                rest.split('"').next()
            };
            if named(" filename").is_some() {
                return format!("{head}\r\n\r\n({} bytes left out)\r\n", body.trim_end().len());
            }
            if named(" name").is_some_and(|name| self.names_secret(name)) {
                self.hear(body);
                return format!("{head}\r\n\r\n{MASK}\r\n");
            }
            part.to_owned()
        });
        parts.collect::<Vec<_>>().join(boundary)
    }

    /// The elements of XML, and their attributes.
    fn elements(&mut self, text: &str) -> String {
        let mut kept = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find('<') {
            kept += &rest[..start];
            rest = &rest[start..];
            let end = rest.find('>').map_or(rest.len(), |end| end + 1);
            let tag = &rest[..end];
            rest = &rest[end..];
            kept += &self.attributes(tag);
            let name = tag.trim_start_matches('<').split([' ', '>', '/', '\t', '\n', '\r']).next().unwrap_or_default();
            let name = name.rsplit(':').next().unwrap_or_default();
            let is_open = !tag.starts_with("</") && !tag.ends_with("/>");
            if is_open && self.names_secret(name) {
                let end = rest.find("</").unwrap_or(rest.len());
                self.hear(&rest[..end]);
                if end > 0 {
                    kept += MASK;
                }
                rest = &rest[end..];
            }
        }
        kept + rest
    }

    fn attributes(&mut self, tag: &str) -> String {
        let once = self.quoted(tag, '"');
        self.quoted(&once, '\'')
    }

    fn quoted(&mut self, tag: &str, quote: char) -> String {
        let sign = format!("={quote}");
        let (mut kept, mut rest) = (String::with_capacity(tag.len()), tag);
        while let Some(found) = rest.find(&sign) {
            let name = rest[..found].rsplit([' ', ':', '\t', '\n']).next().unwrap_or_default();
            let is_secret = self.names_secret(name);
            let (before, after) = rest.split_at(found + sign.len());
            let end = after.find(quote).unwrap_or(after.len());
            kept += before;
            if is_secret {
                self.hear(&after[..end]);
                kept += MASK;
            } else {
                kept += &after[..end];
            }
            rest = &after[end..];
        }
        kept + rest
    }
}

/// Where a text in quotes ends, by the place of its last quote; nothing where it is cut off.
fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    None
}

fn past_space(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    at
}

/// Where a value ends: behind it, or where the text does.
fn value_end(bytes: &[u8], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0_usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let Some(end) = string_end(bytes, at) else { return bytes.len() };
                at = end;
                if depth == 0 {
                    return at + 1;
                }
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' | b',' | b' ' | b'\n' | b'\r' | b'\t' if depth == 0 => return at,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// How secrets begin, and how much of one there is at least.
const LOOKS: [(&str, usize); 9] = [
    ("Bearer ", 8),
    ("bearer ", 8),
    ("Basic ", 8),
    ("eyJ", 20),
    ("otpauth://", 1),
    ("duet_", 16),
    ("whsec_", 8),
    ("sk_live_", 8),
    ("sk_test_", 8),
];

/// A text without what looks like a secret. What was found is heard.
fn shown(text: &str, found: &mut Discretion) -> String {
    let mut text = text.to_owned();
    for (begins, least) in LOOKS {
        let mut from = 0;
        while let Some(start) = text[from..].find(begins).map(|start| from + start) {
            let after = start + begins.len();
            let ends = |letter: char| {
                letter.is_whitespace() || letter.is_control() || "\"'<>,;\\".contains(letter) || !letter.is_ascii()
            };
            let end = text[after..].find(ends).map_or(text.len(), |end| after + end);
            from = end;
            if end - after >= least {
                let is_scheme = begins.ends_with(' ');
                let whole = if is_scheme { after } else { start };
                found.hear(&text[whole..end]);
                text.replace_range(whole..end, MASK);
                from = whole + MASK.len();
            }
        }
    }
    if text.contains("://") || text.contains('?') { addresses(&text, found) } else { text }
}

/// What an address says of who asks: before its host, and in its query.
fn addresses(text: &str, found: &mut Discretion) -> String {
    let is_end = |letter: char| letter.is_whitespace() || "\"'<>".contains(letter);
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(is_end).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        kept += &of_address(word, found);
        let step = after.chars().next().map_or(0, char::len_utf8);
        kept += &after[..step];
        rest = &after[step..];
    }
    kept
}

fn of_address(word: &str, found: &mut Discretion) -> String {
    let mut word = word.to_owned();
    if let Some(host) = word.find("://").map(|at| at + 3)
        && let Some(at) = word[host..].split(['/', '?', '#']).next().and_then(|authority| authority.rfind('@'))
    {
        found.hear(word[host..host + at].split_once(':').map_or("", |(_, password)| password));
        word.replace_range(host..host + at, MASK);
    }
    match word.split_once('?') {
        Some((address, query)) if query.contains('=') => format!("{address}?{}", found.pairs(query)),
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(media: &str, text: &str) -> String {
        let mut discretion = Discretion::at("/b/api/parties");
        let said = discretion.body(media, text);
        discretion.hush(&said)
    }

    #[test]
    fn members_are_known_by_their_names_and_nothing_else_changes() {
        for (text, expected) in [
            (r#"{"password":"a \"b\" c","name":"x"}"#, r#"{"password":"***","name":"x"}"#),
            (r#"{"Access_Token" : "abc", "n":1.50}"#, r#"{"Access_Token" : "***", "n":1.50}"#),
            (r#"{"pass\u0077ord":"hunter22"}"#, r#"{"pass\u0077ord":"***"}"#),
            (r#"{"clientSecret":12345678,"x":[1]}"#, r#"{"clientSecret":"***","x":[1]}"#),
            (r#"{"recoveryCodes":["aaaa-bbbb","c]"],"y":2}"#, r#"{"recoveryCodes":"***","y":2}"#),
            (r#"{"mustChangePassword":true,"token":null}"#, r#"{"mustChangePassword":true,"token":null}"#),
            (r#"{"headers":[{"name":"X-Key","value":"v"}],"z":1}"#, r#"{"headers":"***","z":1}"#),
            // What is cut off in the middle of a secret, or of a list of them.
            (r#"{"name":"x","password":"hunt"#, r#"{"name":"x","password":"***""#),
            (r#"{"tokens":["abc","de"#, r#"{"tokens":"***""#),
            (r#"{"code":"1010","name":"Bank"}"#, r#"{"code":"1010","name":"Bank"}"#),
            ("id: 1\ndata: {\"secret\":\"s3cr3t!\"}\n\n", "id: 1\ndata: {\"secret\":\"***\"}\n\n"),
        ] {
            assert_eq!(body("application/json", text), expected);
        }
        let mut of_code = Discretion::at("/b/api/auth/me/totp-confirmation");
        assert_eq!(of_code.body("application/json", r#"{"code":"123456"}"#), r#"{"code":"***"}"#);
    }

    #[test]
    fn forms_parts_and_elements_have_names_as_well() {
        for (media, text, expected) in [
            ("application/x-www-form-urlencoded", "user=jo&pass%77ord=hunter22&x=1", "user=jo&pass%77ord=***&x=1"),
            (
                "multipart/form-data; boundary=b",
                "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nhunter22\r\n--b\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nseen\r\n--b--",
                "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n***\r\n--b\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nseen\r\n--b--",
            ),
            (
                "text/xml",
                "<a:Login secret=\"one two\" n='1'><a:Password>hunter22</a:Password><b>x</b></a:Login>",
                "<a:Login secret=\"***\" n='1'><a:Password>***</a:Password><b>x</b></a:Login>",
            ),
        ] {
            assert_eq!(body(media, text), expected);
        }
    }

    #[test]
    fn what_looks_like_a_secret_is_one_wherever_it_stands() {
        for (text, expected) in [
            ("sent Bearer abcdefgh12345", "sent Bearer ***"),
            ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "***"),
            ("otpauth://totp/Duet:jo?secret=ABC", "***"),
            ("see https://jo:hunter22@h.example/a?x=1&token=abc#y", "see https://***@h.example/a?x=1&token=***"),
            ("Basic tax, bearer of news", "Basic tax, bearer of news"),
        ] {
            assert_eq!(body("application/octet-stream", text), expected);
        }
    }

    #[test]
    fn what_echoes_a_secret_holds_it_as_well() {
        let mut discretion = Discretion::at("/login");
        assert_eq!(discretion.header("X-Api-Key", "k-4711-0815"), "***");
        assert_eq!(discretion.header("Cookie", "sid=abcdef123; theme=dark"), "***");
        assert_eq!(discretion.header("Content-Type", "text/csv"), "text/csv");
        assert_eq!(discretion.pairs("q=x&api_key=zz-99-zz"), "q=x&api_key=***");
        discretion.body("application/json", r#"{"password":"hunter22"}"#);
        assert_eq!(discretion.hush("hunter22 is weak; k-4711-0815, abcdef123, zz-99-zz"), "*** is weak; ***, ***, ***");
    }
}
