//! A request of one dialect in the words of the other, with what changes said. A text of them is changed where they stand:
//! everything else in it stays as it was typed.

mod answers;
mod collections;
mod commands;
mod jq;
mod json;
mod letters;
mod moved;
mod readers;
mod requests;
mod scripts;
mod shell;
mod tests_of_edits;
mod tests_of_readers;
mod windows;

use crate::batch::har_request;
use crate::curl;
use crate::dialect::{CompanyIn, Dialect, LOGIN, Operation};
use crate::neutral::Neutral;
use crate::wire::Request;
use crate::wrapping::{members, place};
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// So many requests are translated for somebody who asks over the network.
pub const MOST_AT_ONCE: usize = 1_000;

/// The dialects, and the base below which requests of any are taken.
#[derive(Clone)]
pub struct Translator {
    pub dialects: Vec<Arc<Dialect>>,
    pub shared: Option<String>,
}

/// One request, translated.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Translated {
    pub operation: String,
    pub from: String,
    pub to: String,
    /// The other dialect's command.
    pub curl: String,
    pub request: Request,
    /// The request without a dialect, as files of requests say it.
    pub neutral: Neutral,
    /// What is different, a sentence each.
    pub notes: Vec<String>,
    #[serde(skip)]
    origin: String,
}

/// A text with its requests in the words of another dialect.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Edited {
    pub text: String,
    /// What became of each request, in their order.
    pub told: Vec<Told>,
    /// How many requests are of the wanted dialect already, and stay.
    pub already: usize,
}

/// What became of a request, or why nothing did.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Told {
    pub line: usize,
    /// Empty where it stays as it is.
    pub operation: String,
    pub from: String,
    pub to: String,
    /// What is different, a sentence each.
    pub notes: Vec<String>,
    /// What somebody has to look at.
    pub warnings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub neutral: Option<Neutral>,
}

impl Told {
    fn of(line: usize, moved: moved::Moved<'_>) -> Self {
        Self {
            line,
            operation: moved.neutral.operation.clone(),
            from: moved.from.name.clone(),
            to: moved.to.name.clone(),
            notes: moved.notes,
            warnings: moved.warnings,
            neutral: Some(moved.neutral),
        }
    }

    fn unknown(line: usize, why: String) -> Self {
        Self { line, warnings: vec![why], ..Self::default() }
    }
}

impl Translator {
    /// A script, a file of requests, a HAR or a collection: its requests in the words of a dialect, or of the other one
    /// than the first of them is of. At most so many.
    pub fn edit(&self, text: &str, to: Option<usize>, most: usize) -> Result<Edited, String> {
        let mut to = to;
        let is_json = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']).starts_with('{');
        // A script may begin with a brace, too.
        if is_json && (!text.contains("curl") || json::Node::of(text).is_some()) {
            collections::edit(self, text, &mut to, most)
        } else if requests::is_meant(text) {
            requests::edit(self, text, &mut to, most)
        } else {
            commands::edit(self, text, &mut to, most)
        }
    }

    /// A command, several of them, or a HAR; at most so many requests. Each is said once in every other dialect.
    pub fn translate(&self, text: &str, most: usize) -> Result<Vec<Translated>, String> {
        if text.trim_start().starts_with('{') {
            let har: Value =
                serde_json::from_str(text).map_err(|error| format!("neither a curl command nor a HAR: {error}"))?;
            let entries = har["log"]["entries"].as_array().ok_or("the JSON is no HAR: it has no log.entries")?;
            if entries.len() > most {
                return Err(format!("the HAR has {} entries; give at most {most} at once", entries.len()));
            }
            let requests = entries.iter().filter_map(|entry| har_request(entry).ok());
            let known: Vec<Translated> =
                requests.filter_map(|(origin, request)| self.each(&origin, &request).ok()).flatten().collect();
            if known.is_empty() {
                return Err("no request in the HAR is of either dialect".into());
            }
            return Ok(known);
        }
        let commands = commands(text);
        if commands.len() > most {
            return Err(format!("there are {} commands; give at most {most} at once", commands.len()));
        }
        let each = commands.into_iter().map(|command| {
            let (origin, request) = curl::read(&command)?;
            self.each(&origin, &request)
        });
        Ok(each.collect::<Result<Vec<_>, String>>()?.concat())
    }

    /// The translations as a HAR, for those who came with one.
    pub fn har(translated: &[Translated]) -> Value {
        let pairs = |pairs: &[(String, String)]| -> Vec<Value> {
            pairs.iter().map(|(name, value)| json!({"name": name, "value": value})).collect()
        };
        let entry = |one: &Translated| {
            let mut request = json!({
                "method": one.request.method, "url": format!("{}{}", one.origin, one.request.target), "httpVersion": "HTTP/1.1",
                "headers": pairs(&one.request.headers), "queryString": pairs(&one.neutral.query.0), "cookies": [], "headersSize": -1, "bodySize": -1
            });
            if let Some(body) = &one.request.body {
                request["postData"] = json!({"mimeType": "application/json", "text": body});
            }
            json!({"request": request})
        };
        let entries: Vec<Value> = translated.iter().map(entry).collect();
        json!({"log": {"version": "1.2", "creator": {"name": "duet translate", "version": env!("CARGO_PKG_VERSION")}, "entries": entries}})
    }

    fn each(&self, origin: &str, request: &Request) -> Result<Vec<Translated>, String> {
        let (from, base, neutral) = self.recognised(request)?;
        let others = self.dialects.iter().enumerate().filter(|(place, _)| *place != from);
        others.map(|(_, to)| said(&self.dialects[from], to, &base, neutral.clone(), origin)).collect()
    }

    /// Which dialect a request is of, below which base, and what it asks.
    fn recognised(&self, request: &Request) -> Result<(usize, Base, Neutral), String> {
        for (place, dialect) in self.dialects.iter().enumerate() {
            if let Some(neutral) = dialect.recognise(request) {
                return Ok((place, Base::Own, neutral));
            }
        }
        // Below a base that is known there is nothing else.
        let path = request.path();
        let is_below = |one: &Arc<Dialect>| path.strip_prefix(&one.base).is_some_and(|rest| rest.starts_with('/'));
        if self.dialects.iter().any(is_below) {
            return Err(unknown(request));
        }
        // Where the request names its company speaks for the dialects that name it there.
        let named = if request.header("x-business-id").is_some() { CompanyIn::Header } else { CompanyIn::Path };
        let mut order: Vec<usize> = (0..self.dialects.len()).collect();
        order.sort_by_key(|place| self.dialects[*place].company_in() != named);
        let below = |base: &str| {
            order.iter().find_map(|&place| {
                let neutral = self.dialects[place].below(base).recognise(request)?;
                Some((place, neutral))
            })
        };
        if let Some(shared) = &self.shared
            && let Some((place, neutral)) = below(shared)
        {
            return Ok((place, Base::Shared(shared.clone()), neutral));
        }
        // Another server, or one behind a proxy: the shortest base below which it is a request.
        let ends = path.match_indices('/').map(|(end, _)| end).take(DEEPEST_BASE);
        for base in ends.map(|end| &path[..end]) {
            if let Some((place, neutral)) = below(base) {
                return Ok((place, Base::Foreign(base.to_owned()), neutral));
            }
        }
        Err(unknown(request))
    }
}

fn unknown(request: &Request) -> String {
    let (method, path) = (curl::brief(&request.method), curl::brief(request.path()));
    format!("{method} {path} is an operation of neither dialect")
}

/// What is asked, in the words of another dialect.
fn said(from: &Dialect, to: &Dialect, base: &Base, neutral: Neutral, origin: &str) -> Result<Translated, String> {
    // Below the shared base a client keeps its base URL.
    let base = match base {
        Base::Own => &to.base,
        Base::Shared(base) | Base::Foreign(base) => base,
    };
    let mut notes = Vec::new();
    let (known, asked) = (from.operation(&neutral.operation)?, to.operation(&neutral.operation)?);
    let mut neutral = neutral;
    if asked.company != CompanyIn::Nowhere && neutral.business.is_none() {
        neutral.business = Some("$BUSINESS".into());
        notes.push("The command names no company: put its identifier for $BUSINESS.".into());
    }
    let translated = to.below(base).render(&neutral, None, None)?;
    notes.extend(changes(from, to, known, asked, &neutral));
    Ok(Translated {
        operation: neutral.operation.clone(),
        from: from.name.clone(),
        to: to.name.clone(),
        curl: curl::written(origin, &translated).replace("%24BUSINESS", "$BUSINESS"),
        request: translated,
        neutral,
        notes,
        origin: origin.to_owned(),
    })
}

/// No proxy hides a server deeper.
const DEEPEST_BASE: usize = 16;

/// Below what a request was found.
enum Base {
    Own,
    Shared(String),
    Foreign(String),
}

/// The commands in a text: each begins on a line of its own.
fn commands(text: &str) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    for line in text.lines() {
        match commands.last_mut() {
            Some(command) if !line.trim_start().starts_with("curl ") => command.extend(["\n", line]),
            _ if line.trim().is_empty() => {}
            _ => commands.push(line.to_owned()),
        }
    }
    commands
}

/// What a log-in answers, in words; names stand between quotes.
pub fn token_of(dialect: &Dialect, quote: char) -> String {
    let of = |name: &str| dialect.wrapping.of_login(name).map(|place| format!("{quote}{place}{quote}"));
    let token = of("token").unwrap_or_default();
    match (of("seconds"), of("until")) {
        (Some(seconds), _) => format!("{token} with {seconds} in seconds"),
        (None, Some(until)) => format!("{token} with the instant {until}"),
        (None, None) => token,
    }
}

/// What a client that moves has to change for an operation, beside the address.
pub fn changes(from: &Dialect, to: &Dialect, said: &Operation, asked: &Operation, neutral: &Neutral) -> Vec<String> {
    let mut notes = Vec::new();
    if said.id == LOGIN {
        notes.push(format!("Who logs in is `{}` instead of `{}`.", to.login_name(), from.login_name()));
        notes.push(format!("The answer is {}, instead of {}.", token_of(to, '`'), token_of(from, '`')));
        return notes;
    }
    match (said.company, asked.company) {
        (CompanyIn::Path, CompanyIn::Header) => {
            notes.push("The company is in the header `X-Business-Id` instead of the path.".into());
        }
        (CompanyIn::Header, CompanyIn::Path) => {
            notes.push("The company is in the path instead of the header `X-Business-Id`.".into());
        }
        _ => {}
    }
    let [left, right] = [from, to].map(|one| &one.wrapping);
    if left.success != right.success {
        let [was, is] = [left, right].map(|one| place(&one.success, "data").unwrap_or_default());
        notes.push(if is.is_empty() {
            format!("The answer is what `{was}` was, without the envelope.")
        } else {
            format!("The answer is below `{is}`, in an envelope of {}.", members(&right.success))
        });
    }
    if left.failure != right.failure {
        let [was, is] = [left, right].map(|one| place(&one.failure, "title").unwrap_or_default());
        let renamed = if was == is { String::new() } else { format!("; `{is}` is what `{was}` was") };
        notes.push(format!("A failure is {}{renamed}.", members(&right.failure)));
    }
    if neutral.headers.keys().any(|name| name.eq_ignore_ascii_case("idempotency-key")) {
        notes.push(
            "The same `Idempotency-Key` is answered like the first request, in whichever dialect that was.".into(),
        );
    }
    if neutral.headers.keys().any(|name| name.to_lowercase().starts_with("if-")) {
        notes.push("An `ETag` is good in both dialects.".into());
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::two;

    fn translator() -> Translator {
        let (a, b) = two();
        Translator { dialects: [a, b].map(Arc::new).to_vec(), shared: Some("/api".into()) }
    }

    fn one(text: &str) -> Translated {
        translator().translate(text, MOST_AT_ONCE).unwrap().pop().unwrap()
    }

    #[test]
    fn a_command_of_a_becomes_one_of_b_and_back() {
        let in_a =
            "curl 'http://h:1/a/api/b1/parties/p1?q=x' -H 'Authorization: Bearer $TOKEN' -H 'If-None-Match: \"p1-2\"'";
        let translated = one(in_a);
        assert_eq!((translated.from.as_str(), translated.to.as_str()), ("Dialect A", "Dialect B"));
        assert_eq!(
            translated.curl,
            "curl 'http://h:1/b/api/parties/p1?q=x' \\\n  -H 'X-Business-Id: b1' \\\n  -H \"Authorization: Bearer $TOKEN\" \\\n  -H 'If-None-Match: \"p1-2\"'"
        );
        assert!(
            translated.notes.iter().any(|note| note.contains("ETag")) && translated.notes[0].contains("X-Business-Id")
        );
        let back = one(&translated.curl);
        assert_eq!(
            back.curl,
            "curl 'http://h:1/a/api/b1/parties/p1?q=x' \\\n  -H \"Authorization: Bearer $TOKEN\" \\\n  -H 'If-None-Match: \"p1-2\"'"
        );
        assert_eq!(back.neutral, translated.neutral);
    }

    #[test]
    fn bodies_and_log_ins_are_carried_over() {
        let translated = one("curl http://h/b/api/auth/login -d '{\"email\":\"jo\",\"password\":\"it''s\"}'");
        assert_eq!(translated.request.target, "/a/api/Users/login");
        assert_eq!(translated.request.body.as_deref(), Some("{\"credential\":\"jo\",\"password\":\"its\"}"));
        assert!(translated.notes[0].contains("`credential` instead of `email`"));
        let translated = one("curl http://h/b/api/parties -H 'X-Business-Id: b1' --json '{\"amount\":10.50}'");
        assert_eq!(translated.request.body.as_deref(), Some("{\"amount\":10.50}"), "digit for digit");
    }

    #[test]
    fn a_client_below_the_shared_base_keeps_it() {
        let translated = one("curl http://h/api/b1/parties");
        assert_eq!((translated.to.as_str(), translated.request.target.as_str()), ("Dialect B", "/api/parties"));
        let translated = one("curl http://h/api/parties -H 'X-Business-Id: b1'");
        assert_eq!((translated.to.as_str(), translated.request.target.as_str()), ("Dialect A", "/api/b1/parties"));
        let translated = one("curl https://proxy.example/books/v1/b1/parties/p1");
        assert_eq!(translated.request.target, "/books/v1/parties/p1");
    }

    #[test]
    fn a_company_that_is_not_named_is_asked_for() {
        let translated = one("curl http://h/b/api/parties");
        assert!(translated.curl.contains("/a/api/$BUSINESS/parties"), "{}", translated.curl);
        assert!(translated.notes[0].contains("$BUSINESS"));
    }

    #[test]
    fn several_commands_and_recordings_are_taken_at_once() {
        let two = translator()
            .translate("curl http://h/a/api/b1/parties\n\ncurl -X POST \\\n  http://h/a/api/b1/parties -d '{}'\n", 2)
            .unwrap();
        assert_eq!(two.iter().map(|one| one.operation.as_str()).collect::<Vec<_>>(), ["partiesList", "partiesCreate"]);
        let har = Translator::har(&two);
        assert_eq!(har["log"]["entries"][1]["request"]["url"], "http://h/b/api/parties");
        let back = translator().translate(&har.to_string(), 2).unwrap();
        for text in [har.to_string(), "curl http://h/a/api/b1/parties\ncurl http://h/a/api/b1/parties".to_owned()] {
            assert!(translator().translate(&text, 1).unwrap_err().contains("at most 1 at once"));
        }
        assert_eq!(back[1].request.target, "/a/api/b1/parties");
    }

    #[test]
    fn what_is_no_request_to_either_is_said() {
        for (text, why) in [
            ("curl http://h/a/api/b1/nothing/at/all/here", "operation of neither dialect"),
            ("{\"log\": {}}", "no log.entries"),
            ("hello", "does not begin with curl"),
        ] {
            let error = translator().translate(text, MOST_AT_ONCE).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
