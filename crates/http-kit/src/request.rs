//! Reading what the head of a request carries: bearer, company, preconditions, idempotency key, query.
//!
//! Everything that is given twice, or in a form we would have to guess at, is refused.

use crate::failure::Failure;
use crate::trace::Trace;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, header};
use ledger_core::access::Proved;
use ledger_core::cx::Expectation;
use ledger_core::error::Error;
use ledger_core::quoting::quoted;
use ledger_core::resource::list::LAST_PLACE;
use ledger_core::resource::operation::Verb;
use std::cmp::Reverse;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

pub const BUSINESS_ID: HeaderName = HeaderName::from_static("x-business-id");
pub const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
pub const IDEMPOTENCY_REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
/// Names the members that a repeat does not show again.
pub const WITHHELD: HeaderName = HeaderName::from_static("x-withheld");
pub const DRY_RUN: HeaderName = HeaderName::from_static("x-dry-run");
pub const DECIMAL_FORMAT: HeaderName = HeaderName::from_static("x-decimal-format");
pub const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
pub const RATE_LIMIT_REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
pub const RATE_LIMIT_RESET: HeaderName = HeaderName::from_static("ratelimit-reset");
/// Up to where an answer knows the books of its company.
pub const LEDGER_SEQUENCE: HeaderName = HeaderName::from_static("x-ledger-sequence");
/// ... and up to where it has to.
pub const AT_LEAST_SEQUENCE: HeaderName = HeaderName::from_static("x-at-least-sequence");
pub const ERROR_CODE: HeaderName = HeaderName::from_static("x-error-code");
pub const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// What the edge knows of a request and its handlers need. It travels in the request's extensions.
#[derive(Debug, Clone)]
pub struct Arrival {
    /// The path as the client wrote it, prefix included.
    pub path: String,
    /// The server's own name for the request: nobody else chooses it.
    pub request_id: String,
    /// What the client calls it, as much of it as is quoted.
    pub client_request_id: Option<String>,
    /// The client, seen through the proxies we trust.
    pub address: IpAddr,
    /// What it is part of.
    pub trace: Trace,
}

/// Who sits at the other end of a connection, as far as whoever lets connections in must know. It travels in the
/// request's extensions.
pub type Guest = Arc<dyn Presence>;

pub trait Presence: Send + Sync {
    /// A request of theirs was found to be that of somebody we know. Whether there is a place for one more of those.
    #[must_use]
    fn signed_in(&self, who: Proved) -> bool;

    /// They wait for us, whatever they have still to send.
    fn waits(&self);
}

/// How much a client may send, and how long it waits.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub body: usize,
    /// How long a client is kept waiting for an answer.
    pub request: Duration,
}

/// Refuses where the client takes nothing that would be answered. Who says nothing takes everything.
pub fn acceptable(headers: &HeaderMap, kinds: &[&str]) -> Result<(), Failure> {
    let said: Vec<&str> = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
    let mut ranges = said.iter().flat_map(|value| value.split(',')).map(str::trim).filter(|range| !range.is_empty());
    let takes = |kind: &str, range: &str| {
        let mut words = range.split(';').map(|word| word.trim().to_ascii_lowercase());
        let Some(range) = words.next() else { return false };
        let refused = words.any(|word| word.strip_prefix("q=").and_then(thousandths) == Some(0));
        let family = kind.split('/').next().unwrap_or(kind);
        !refused && (range == "*/*" || range == kind || range == format!("{family}/*"))
    };
    if said.is_empty() || ranges.clone().next().is_none() {
        return Ok(());
    }
    if ranges.any(|range| kinds.iter().any(|kind| takes(kind, range))) {
        return Ok(());
    }
    Err(Failure::not_acceptable(&kinds.join(" or ")))
}

/// What server-sent events are called.
pub const EVENT_STREAM: &str = "text/event-stream";

/// How much something is wished, from 0 to 1 with three places at most.
fn thousandths(text: &str) -> Option<u16> {
    let (whole, places) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
    let digits = format!("{whole}{places:0<3}");
    digits.parse().ok().filter(|weight| places.len() <= 3 && *weight <= 1_000)
}

/// Whether the client asks to be told what happens as it happens: by name, and not with whatever there is, nor where it would
/// rather have something else that it names.
pub(crate) fn listens(headers: &HeaderMap) -> bool {
    let said = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let ranges: Vec<&str> = said.flat_map(|value| value.split(',')).collect();
    let wish = |kind: &str| {
        let of = |(place, range): (usize, &&str)| {
            let (name, more) = range.split_once(';').unwrap_or((range, ""));
            let weight = more.split(';').find_map(|word| thousandths(word.trim().strip_prefix("q=")?));
            name.trim().eq_ignore_ascii_case(kind).then(|| (weight.unwrap_or(1_000), Reverse(place)))
        };
        ranges.iter().enumerate().find_map(of).filter(|(weight, _)| *weight > 0)
    };
    let stream = wish(EVENT_STREAM);
    stream.is_some() && stream > wish("application/json")
}

/// The last event that a client had which comes again.
pub(crate) fn last_event(headers: &HeaderMap) -> Result<Option<&str>, Failure> {
    let said = single(headers, &LAST_EVENT_ID)?;
    match said {
        Some(id) if id.parse::<i64>().is_ok_and(|id| id >= 0) => Ok(said),
        None => Ok(None),
        Some(_) => {
            Err(Error::field(display_name(&LAST_EVENT_ID), "must be the `id` of an event, a whole number").into())
        }
    }
}

/// The one value of a header that may be given once.
fn single<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, Failure> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() {
        return Err(Error::field(display_name(name), "must be given once").into());
    }
    match first.map(|value| value.to_str()) {
        None => Ok(None),
        Some(Ok(text)) => Ok(Some(text)),
        Some(Err(_)) => Err(Error::field(display_name(name), "must be printable ASCII").into()),
    }
}

/// Header names as people write them.
fn display_name(name: &HeaderName) -> &'static str {
    match name.as_str() {
        "x-business-id" => "X-Business-Id",
        "idempotency-key" => "Idempotency-Key",
        "x-decimal-format" => "X-Decimal-Format",
        "if-match" => "If-Match",
        "if-none-match" => "If-None-Match",
        "authorization" => "Authorization",
        "last-event-id" => "Last-Event-ID",
        "x-at-least-sequence" => "X-At-Least-Sequence",
        _ => "headers",
    }
}

pub(crate) fn bearer(headers: &HeaderMap) -> Result<&str, Failure> {
    let Some(value) = single(headers, &header::AUTHORIZATION)? else {
        return Err(Error::Unauthenticated("Log in first, and send the token in the Authorization header").into());
    };
    let malformed = || Failure::from(Error::Unauthenticated("The Authorization header must be: Bearer <token>"));
    let (scheme, token) = value.split_once(' ').ok_or_else(malformed)?;
    if !scheme.eq_ignore_ascii_case("bearer") || token.trim().is_empty() || token.len() > 4096 {
        return Err(malformed());
    }
    Ok(token.trim())
}

pub(crate) fn business_header(headers: &HeaderMap) -> Result<Option<&str>, Failure> {
    Ok(single(headers, &BUSINESS_ID)?.filter(|id| !id.is_empty()))
}

pub(crate) fn business_required() -> Failure {
    Error::field("X-Business-Id", "is required: the identifier of the company").into()
}

pub(crate) fn business_mismatch() -> Failure {
    Error::field("X-Business-Id", "differs from the company in the path").into()
}

/// The longest key of a write that is repeated.
pub(crate) const MOST_KEY: usize = 255;

/// `"key"` and `key` are the same key.
pub(crate) fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Failure> {
    let Some(value) = single(headers, &IDEMPOTENCY_KEY)? else { return Ok(None) };
    let key = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value);
    if key.is_empty() || key.len() > MOST_KEY || !key.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
        return Err(Error::field("Idempotency-Key", format!("must be 1 to {MOST_KEY} printable characters")).into());
    }
    Ok(Some(key.to_owned()))
}

/// How decimals are answered: as numbers unless it is said, or as texts.
pub(crate) const NUMBERS: &str = "number";
pub(crate) const TEXTS: &str = "string";

/// Whether decimals are wanted as texts.
pub(crate) fn asks_for_texts(headers: &HeaderMap) -> Result<bool, Failure> {
    match single(headers, &DECIMAL_FORMAT)? {
        None | Some(NUMBERS) => Ok(false),
        Some(TEXTS) => Ok(true),
        Some(_) => Err(Error::field(display_name(&DECIMAL_FORMAT), format!("must be {NUMBERS} or {TEXTS}")).into()),
    }
}

/// The sequence of the company's books that an answer is to know of at least.
pub(crate) fn at_least(headers: &HeaderMap) -> Result<Option<i64>, Failure> {
    let Some(said) = single(headers, &AT_LEAST_SEQUENCE)? else { return Ok(None) };
    let is_whole = !said.is_empty() && said.bytes().all(|byte| byte.is_ascii_digit());
    let sequence = said.parse().ok().filter(|sequence| is_whole && *sequence <= LAST_PLACE);
    let why = "must be the X-Ledger-Sequence of an answer, a whole number";
    sequence.map(Some).ok_or_else(|| Error::field(display_name(&AT_LEAST_SEQUENCE), why).into())
}

/// The tags of `If-Match` or `If-None-Match`, without quotes; weak ones only where they may match.
fn tags(headers: &HeaderMap, name: &HeaderName, weak_too: bool) -> Option<Expectation> {
    let mut tags = Vec::new();
    let mut any = false;
    let mut given = false;
    for value in headers.get_all(name) {
        given = true;
        for tag in value.to_str().unwrap_or_default().split(',').map(str::trim) {
            any |= tag == "*";
            let strong = if weak_too { tag.strip_prefix("W/").unwrap_or(tag) } else { tag };
            if let Some(tag) = strong.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
                tags.push(tag.to_owned());
            }
        }
    }
    given.then_some(if any { Expectation::Any } else { Expectation::Tags(tags) })
}

/// What a write expects of its record: `If-Match`, or by `If-None-Match: *` that there is none yet.
fn expectation(headers: &HeaderMap) -> Expectation {
    let is_new =
        || (tags(headers, &header::IF_NONE_MATCH, true) == Some(Expectation::Any)).then_some(Expectation::Absent);
    tags(headers, &header::IF_MATCH, false).or_else(is_new).unwrap_or_default()
}

/// The same of an operation. Of a record that is made or replaced by what it is called elsewhere, `If-None-Match` can only say
/// that there is none yet.
pub(crate) fn expected(headers: &HeaderMap, verb: Verb) -> Result<Expectation, Failure> {
    match tags(headers, &header::IF_NONE_MATCH, true) {
        Some(Expectation::Tags(_)) if verb == Verb::Upsert => {
            Err(Error::field(display_name(&header::IF_NONE_MATCH), "must be *").into())
        }
        _ => Ok(expectation(headers)),
    }
}

/// Whether the client has this version already.
pub(crate) fn none_match(headers: &HeaderMap, tag: &str) -> bool {
    match tags(headers, &header::IF_NONE_MATCH, true) {
        None | Some(Expectation::Unsaid | Expectation::Absent) => false,
        Some(Expectation::Any) => true,
        Some(Expectation::Tags(tags)) => tags.iter().any(|known| known == tag),
    }
}

/// Far beyond what any list or report can be asked.
const MOST_PARAMETERS: usize = 100;

/// The query, decoded; what is not UTF-8 behind its escapes is a fault.
pub(crate) fn query(parts: &Parts) -> Result<Vec<(String, String)>, Failure> {
    let mut pairs = Vec::new();
    for pair in parts.uri.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
        if pairs.len() == MOST_PARAMETERS {
            return Err(Error::field("query", format!("must have at most {MOST_PARAMETERS} parameters")).into());
        }
        let (name, text) = pair.split_once('=').unwrap_or((pair, ""));
        match (decode(name), decode(text)) {
            (Some(name), Some(text)) => pairs.push((name, text)),
            (Some(name), None) => {
                return Err(Error::field(&quoted(&name), "is not correctly percent-encoded UTF-8").into());
            }
            (None, _) => return Err(Error::field("query", "is not correctly percent-encoded UTF-8").into()),
        }
    }
    Ok(pairs)
}

fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let high = char::from(rest.next()?).to_digit(16)?;
                let low = char::from(rest.next()?).to_digit(16)?;
                bytes.push(u8::try_from(high * 16 + low).ok()?);
            }
            other => bytes.push(other),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn headers(pairs: &[(HeaderName, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn a_bearer_is_read_whatever_the_case_of_its_scheme() {
        for (value, token) in [
            ("Bearer abc", Some("abc")),
            ("bearer abc", Some("abc")),
            ("Basic abc", None),
            ("Bearer ", None),
            ("abc", None),
        ] {
            assert_eq!(bearer(&headers(&[(header::AUTHORIZATION, value)])).ok(), token, "{value}");
        }
        let mut twice = headers(&[(header::AUTHORIZATION, "Bearer a")]);
        twice.append(header::AUTHORIZATION, HeaderValue::from_static("Bearer b"));
        assert_eq!(bearer(&twice).unwrap_err().status, 400);
    }

    #[test]
    fn weak_tags_match_a_read_and_never_a_write() {
        let read = headers(&[(header::IF_NONE_MATCH, "\"x\", W/\"a-1\"")]);
        assert!(none_match(&read, "a-1"));
        assert!(!none_match(&read, "a-2"));
        let write = headers(&[(header::IF_MATCH, "W/\"a-1\"")]);
        assert_eq!(expectation(&write), Expectation::Tags(vec![]));
        assert_eq!(expectation(&headers(&[(header::IF_MATCH, "*")])), Expectation::Any);
        assert_eq!(expectation(&headers(&[(header::IF_NONE_MATCH, "*")])), Expectation::Absent);
        assert_eq!(expectation(&headers(&[])), Expectation::Unsaid);
    }

    #[test]
    fn a_sequence_is_a_whole_number_said_once() {
        let asked = |values: &[&'static str]| {
            let mut said = HeaderMap::new();
            for value in values {
                said.append(AT_LEAST_SEQUENCE, HeaderValue::from_static(value));
            }
            at_least(&said).map_err(|failure| failure.status.as_u16())
        };
        assert_eq!((asked(&[]), asked(&["0"]), asked(&["42"])), (Ok(None), Ok(Some(0)), Ok(Some(42))));
        for bad in ["", "-1", "+1", "1.0", "1 ", "soon", "9007199254740992", "9223372036854775808"] {
            assert_eq!(asked(&[bad]), Err(400), "{bad:?}");
        }
        assert_eq!(asked(&["1", "2"]), Err(400));
    }

    #[test]
    fn percent_escapes_are_undone_or_refused() {
        for (text, plain) in
            [("a%20b+c", Some("a b c")), ("%C3%A9", Some("é")), ("%ff", None), ("%4", None), ("%zz", None)]
        {
            assert_eq!(decode(text).as_deref(), plain, "{text}");
        }
    }

    #[test]
    fn a_query_has_so_many_parameters_and_no_more() {
        let asked = |count: usize| {
            let query = (0..count).map(|n| format!("n{n}=1")).collect::<Vec<_>>().join("&");
            let (parts, ()) = axum::http::Request::get(format!("/x?{query}")).body(()).unwrap().into_parts();
            super::query(&parts)
        };
        assert_eq!(asked(MOST_PARAMETERS).unwrap().len(), MOST_PARAMETERS);
        assert_eq!(asked(MOST_PARAMETERS + 1).unwrap_err().status, 400);
    }

    #[test]
    fn events_are_streamed_to_who_wishes_for_them_most() {
        for (accept, streams) in [
            ("text/event-stream", true),
            ("Text/Event-Stream; q=0.5", true),
            ("text/event-stream, application/json", true),
            ("application/json, text/event-stream", false),
            ("application/json;q=0.4, text/event-stream;q=0.5", true),
            ("application/json, text/event-stream;q=0", false),
            ("text/event-stream;q=0.000", false),
            ("text/event-stream;q=2", true),
            ("*/*", false),
            ("application/json", false),
        ] {
            assert_eq!(listens(&headers(&[(header::ACCEPT, accept)])), streams, "{accept}");
        }
    }

    #[test]
    fn a_client_takes_what_it_says() {
        const JSON: &[&str] = &["application/json"];
        let takes = |accept: &[&str], kinds: &[&str]| {
            let mut headers = HeaderMap::new();
            for one in accept {
                headers.append(header::ACCEPT, one.parse().unwrap());
            }
            acceptable(&headers, kinds).is_ok()
        };
        for (accept, kinds, expected) in [
            (&[][..], JSON, true),
            (&[""][..], JSON, true),
            (&["*/*"][..], JSON, true),
            (&["text/html, application/xhtml+xml, */*;q=0.8"][..], JSON, true),
            (&["Application/*"][..], JSON, true),
            (&["application/json; charset=utf-8"][..], JSON, true),
            (&["application/xml"][..], JSON, false),
            (&["application/xml", "application/json"][..], JSON, true),
            (&["text/*"][..], JSON, false),
            (&["text/*"][..], &["application/json", "text/csv"][..], true),
            (&["application/json;q=0, text/html"][..], JSON, false),
            (&["application/json;q=0.0"][..], JSON, false),
            (&["application/json;q=0.1"][..], JSON, true),
        ] {
            assert_eq!(takes(accept, kinds), expected, "{accept:?} {kinds:?}");
        }
    }
}
