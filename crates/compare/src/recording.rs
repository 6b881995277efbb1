//! Traffic that passed by, as it is kept: a line of JSON for each exchange, without its secrets.
//!
//! A line that is torn, because whoever wrote it was ended in the middle, is passed over, and that is said.

use crate::dialect::{Dialect, LOGIN};
use crate::discretion::Discretion;
use crate::meaning::Meaning;
use crate::neutral::Neutral;
use crate::secrets::MASK;
use crate::wire::{Answer, Request};
use async_compression::tokio::bufread::{BrotliDecoder, GzipDecoder, ZstdDecoder};
use futures_util::FutureExt;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt};

/// As much of a body as is looked at, once it is out of its compression.
const LONGEST: u64 = 8 << 20;

/// A body that passed by, as far as it was held.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Held {
    pub bytes: Vec<u8>,
    /// How long it was in all.
    pub length: u64,
}

impl Held {
    pub fn is_whole(&self) -> bool {
        self.length == self.bytes.len() as u64
    }
}

/// A request that passed by, and how it was answered.
#[derive(Debug, Clone, Default)]
pub struct Passed {
    /// When it came.
    pub at: String,
    pub micros: u64,
    pub method: String,
    /// Path and query.
    pub target: String,
    /// With names in small letters, as those of the answer are.
    pub headers: Vec<(String, String)>,
    pub body: Held,
    pub status: u16,
    pub answer_headers: Vec<(String, String)>,
    pub answer: Held,
    /// Whether the answer came to its end, and its client was there to hear it.
    pub is_ended: bool,
}

/// A line of a recording.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Line {
    pub at: String,
    pub ms: u64,
    pub method: String,
    pub path: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub query: String,
    pub headers: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// What is not in the body, and why.
    #[serde(default, rename = "bodyLeftOut", skip_serializing_if = "Option::is_none")]
    pub body_left_out: Option<String>,
    pub answer: Answered,
}

/// What was answered, in a line of a recording.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Answered {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    #[serde(default, rename = "bodyLeftOut", skip_serializing_if = "Option::is_none")]
    pub body_left_out: Option<String>,
}

/// A body as text, and what is not in it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Read {
    text: Option<String>,
    left_out: Option<String>,
}

impl Passed {
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// The request as it was sent, where all of it was held and is text.
    pub fn request(&self) -> Option<Request> {
        let Read { text, left_out } = read(&self.headers, &self.body);
        let (method, target, headers) = (self.method.clone(), self.target.clone(), self.headers.clone());
        left_out.is_none().then_some(Request { method, target, headers, body: text })
    }

    /// The answer, where all of it was held and is text.
    pub fn answer(&self) -> Option<Answer> {
        let Read { text, left_out } = read(&self.answer_headers, &self.answer);
        let (status, headers, micros) = (self.status, self.answer_headers.clone(), self.micros);
        let is_whole = left_out.is_none() && self.is_ended;
        is_whole.then(|| Answer { status, headers, body: text.unwrap_or_default(), micros })
    }

    /// As it is kept, without its secrets.
    pub fn line(&self) -> Line {
        let (path, query) = self.target.split_once('?').unwrap_or((&self.target, ""));
        let mut discretion = Discretion::at(path);
        let mut of = |headers: &[(String, String)], held: &Held| {
            let each = headers.iter().map(|(name, value)| (name.clone(), discretion.header(name, value)));
            let headers_kept: Vec<(String, String)> = each.collect();
            let Read { text, left_out } = read(headers, held);
            let media = header(headers, "content-type").unwrap_or_default();
            (headers_kept, text.map(|text| discretion.body(media, &text)), left_out)
        };
        let (headers, body, body_left_out) = of(&self.headers, &self.body);
        let (answer_headers, answer, mut answer_left_out) = of(&self.answer_headers, &self.answer);
        let query = discretion.pairs(query);
        if !self.is_ended {
            answer_left_out.get_or_insert_with(|| "it was not heard to its end".to_owned());
        }
        // What was found anywhere is taken out everywhere.
        let hush = |text: String| discretion.hush(&text);
        let hush_all =
            |all: Vec<(String, String)>| all.into_iter().map(|(name, value)| (name, hush(value))).collect::<Vec<_>>();
        Line {
            at: self.at.clone(),
            ms: self.micros / 1000,
            method: self.method.clone(),
            path: hush(path.to_owned()),
            query: hush(query),
            headers: hush_all(headers),
            body: body.map(hush),
            body_left_out,
            answer: Answered {
                status: self.status,
                headers: hush_all(answer_headers),
                body: answer.map(hush),
                body_left_out: answer_left_out,
            },
        }
    }
}

fn header<'h>(headers: &'h [(String, String)], name: &str) -> Option<&'h str> {
    headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

/// A body as text, out of its compression.
fn read(headers: &[(String, String)], held: &Held) -> Read {
    if held.length == 0 {
        return Read::default();
    }
    let media = header(headers, "content-type").unwrap_or("no said type");
    let bytes = match header(headers, "content-encoding").map(str::trim) {
        None | Some("" | "identity") => held.bytes.clone(),
        Some("gzip" | "x-gzip") => plain(GzipDecoder::new(&held.bytes[..])),
        Some("br") => plain(BrotliDecoder::new(&held.bytes[..])),
        Some("zstd") => plain(ZstdDecoder::new(&held.bytes[..])),
        Some(other) => return Read { text: None, left_out: Some(format!("{} bytes in {other}", held.length)) },
    };
    let is_cut = !held.is_whole() || bytes.len() as u64 >= LONGEST;
    let cut = || Some(format!("cut off: {} of {} bytes were held", held.bytes.len(), held.length));
    match String::from_utf8(bytes) {
        Ok(text) => Read { text: Some(text), left_out: is_cut.then(cut).flatten() },
        Err(error) => {
            let (known, is_torn) = (error.utf8_error().valid_up_to(), error.utf8_error().error_len().is_none());
            let mut bytes = error.into_bytes();
            bytes.truncate(known);
            match String::from_utf8(bytes) {
                // A letter that is cut in two is no reason to forget those before it.
                Ok(text) if is_cut && is_torn => Read { text: Some(text), left_out: cut() },
                _ => Read { text: None, left_out: Some(format!("{} bytes of {media}", held.length)) },
            }
        }
    }
}

/// What is in a compression, as far as it goes.
fn plain(decoder: impl AsyncRead + Unpin) -> Vec<u8> {
    let mut plain = Vec::new();
    // It reads from memory, and waits for nothing.
    let _torn = decoder.take(LONGEST).read_to_end(&mut plain).now_or_never();
    plain
}

/// Whether a line is one of a recording.
pub(crate) fn is_line(line: &str) -> bool {
    line.starts_with("{\"at\":")
}

/// What a line of a recording asks, in the words of no dialect; else why it is left out.
pub(crate) fn neutral(line: &str, dialects: &[&Dialect]) -> Result<Neutral, String> {
    let line: Line = serde_json::from_str(line).map_err(|_| "a line that is torn".to_owned())?;
    let target = if line.query.is_empty() { line.path.clone() } else { format!("{}?{}", line.path, line.query) };
    let named = format!("{} {}", line.method, line.path);
    if line.body_left_out.is_some() {
        return Err(format!("{named}: not all of its body was kept"));
    }
    let is_masked = |(_, value): &(String, String)| value.contains(MASK);
    let headers = line.headers.into_iter().filter(|header| !is_masked(header)).collect();
    let request = Request { method: line.method, target, headers, body: line.body };
    let known = dialects.iter().find_map(|dialect| Some((dialect, dialect.recognise(&request)?)));
    let (dialect, mut neutral) = known.ok_or_else(|| named.clone())?;
    if neutral.operation == LOGIN {
        return Err(format!("{named}: its password was not kept"));
    }
    of_whoever_asks_now(&mut neutral);
    if line.answer.body_left_out.is_none()
        && let Some(body) = line.answer.body
    {
        let answer = Answer { status: line.answer.status, headers: line.answer.headers, body, micros: 0 };
        let meaning = Meaning::of(dialect, dialect.operation(&neutral.operation).ok(), &answer);
        neutral.recorded = Some(meaning.data().clone()).filter(|data| !data.is_null());
    }
    Ok(neutral)
}

/// Whoever was recorded is not who asks now, and a key that was used is used up.
pub(crate) fn of_whoever_asks_now(neutral: &mut Neutral) {
    neutral.authorization = None;
    neutral.headers.retain(|name, _| !name.eq_ignore_ascii_case("idempotency-key") && !is_of_a_browser(name));
}

pub(crate) fn is_of_a_browser(name: &str) -> bool {
    let name = name.to_lowercase();
    name.starts_with("sec-")
        || matches!(name.as_str(), "dnt" | "cache-control" | "upgrade-insecure-requests" | "x-request-id")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::two;

    fn held(text: &str) -> Held {
        Held { bytes: text.as_bytes().to_vec(), length: text.len() as u64 }
    }

    fn passed(method: &str, target: &str, body: &str, answer: &str) -> Passed {
        let json = || ("content-type".to_owned(), "application/json".to_owned());
        Passed {
            at: "2026-11-24T09:00:00.000000Z".into(),
            micros: 12_345,
            method: method.into(),
            target: target.into(),
            headers: vec![json(), ("authorization".into(), "Bearer abcdefgh12345".into())],
            body: held(body),
            status: 201,
            answer_headers: vec![json(), ("x-echo".into(), "was abcdefgh12345".into())],
            answer: held(answer),
            is_ended: true,
        }
    }

    #[test]
    fn a_line_says_what_passed_without_its_secrets_and_is_asked_again() {
        let (a, b) = two();
        let answer = "{\"id\":\"p1\",\"name\":\"X\",\"secret\":\"abcdefgh12345\"}";
        let line = passed("POST", "/b/api/parties?dryRun=true&token=zzz-zzz", "{\"name\":\"X\"}", answer).line();
        assert_eq!((line.ms, line.query.as_str()), (12, "dryRun=true&token=***"));
        let text = serde_json::to_string(&line).unwrap();
        assert!(is_line(&text) && !text.contains("abcdefgh12345") && !text.contains("zzz-zzz"), "{text}");
        let neutral = neutral(&text, &[&a, &b]).unwrap();
        assert_eq!((neutral.operation.as_str(), neutral.query.get("dryRun")), ("partiesCreate", Some("true")));
        assert_eq!((&neutral.authorization, neutral.body.unwrap()["name"].as_str()), (&None, Some("X")));
        assert_eq!(neutral.recorded.unwrap()["id"], "p1");
        for (line, why) in [
            (&text[..text.len() - 9], "torn"),
            (&*text.replace("/b/api/parties", "/elsewhere"), "POST /elsewhere"),
            (&*text.replace("\"body\":", "\"bodyLeftOut\":\"cut off\",\"body\":"), "not all of its body"),
        ] {
            let told = super::neutral(line, &[&a, &b]).unwrap_err();
            assert!(told.contains(why), "{told}");
        }
    }

    #[test]
    fn what_is_cut_off_or_no_text_says_so() {
        let mut long = passed("GET", "/x", "", "é{\"password\":\"hunter22\"}");
        long.answer.bytes.truncate(20);
        let line = long.line();
        assert_eq!(line.answer.body.as_deref(), Some("é{\"password\":\"***\""));
        assert_eq!(line.answer.body_left_out.as_deref(), Some("cut off: 20 of 25 bytes were held"));
        assert!(long.answer().is_none());
        // In the middle of a letter.
        long.answer.bytes.truncate(1);
        assert_eq!(long.line().answer.body.as_deref(), Some(""));
        let mut image = passed("GET", "/x", "", "");
        image.answer = Held { bytes: vec![0xff, 0xd8, 0xff], length: 3 };
        assert_eq!(image.line().answer.body_left_out.as_deref(), Some("3 bytes of application/json"));
        let mut left = passed("GET", "/x", "", "{}");
        left.is_ended = false;
        assert!(left.answer().is_none() && left.line().answer.body_left_out.is_some());
    }
}
