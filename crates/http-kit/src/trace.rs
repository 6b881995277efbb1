//! Which trace a request is part of, as W3C Trace Context has it.
//!
//! Owns: which `traceparent` is believed, and what is handed on. One that says something else than the standard lets it counts
//! for nothing, and the request begins a trace of its own; nobody is refused for it.

use axum::http::{HeaderMap, HeaderName};
use ledger_core::ids::random_bytes;
use std::fmt::Write;

pub const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
pub const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");

/// Those that the standard knows: that it is recorded, and that its name is random.
const KNOWN_FLAGS: u8 = 0b11;
const RECORDED: u8 = 0b01;
/// As much of a `tracestate` is handed on; one that is longer may be left out whole.
const LONGEST_STATE: usize = 512;

/// One span of a trace: what is done here for somebody, and whose doing it is part of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// The trace, in 32 hexadecimal digits.
    pub id: String,
    /// What is done here, in 16.
    pub span: String,
    /// What it is done for, where somebody said so.
    pub parent: Option<String>,
    flags: u8,
    /// What others say of it among themselves.
    pub state: Option<String>,
}

impl Trace {
    /// That which a request names; else one of its own, which is called as the request is.
    pub fn of(headers: &HeaderMap, request_id: &str) -> Self {
        given(headers).unwrap_or_else(|| Self::own(request_id))
    }

    /// A trace that begins with something that has an identifier.
    pub fn own(identifier: &str) -> Self {
        let id: String = identifier.chars().filter(char::is_ascii_hexdigit).collect::<String>().to_lowercase();
        let id = if is_name(&id, 32) { id } else { random::<16>() };
        Self { id, span: random::<8>(), parent: None, flags: RECORDED, state: None }
    }

    /// What is done in its course.
    #[must_use]
    pub fn next(&self) -> Self {
        Self { span: random::<8>(), parent: Some(self.span.clone()), ..self.clone() }
    }

    /// Whether whoever began it wants it recorded.
    pub const fn is_recorded(&self) -> bool {
        self.flags & RECORDED != 0
    }

    /// What others are told of it, who do something in its course.
    pub fn headers(&self) -> Vec<(String, String)> {
        let parent = format!("00-{}-{}-{:02x}", self.id, self.span, self.flags);
        let state = self.state.clone().map(|state| (TRACESTATE.to_string(), state));
        [(TRACEPARENT.to_string(), parent)].into_iter().chain(state).collect()
    }
}

/// So many random bytes, in hexadecimal digits; never all zero, which is no name.
fn random<const N: usize>() -> String {
    let mut bytes = random_bytes::<N>().unwrap_or([1; N]);
    if bytes.iter().all(|byte| *byte == 0) {
        bytes[0] = 1;
    }
    bytes.iter().fold(String::new(), |mut digits, byte| {
        let _written = write!(digits, "{byte:02x}");
        digits
    })
}

fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_name(text: &str, length: usize) -> bool {
    is_hex(text, length) && text.bytes().any(|byte| byte != b'0')
}

fn given(headers: &HeaderMap) -> Option<Trace> {
    let mut said = headers.get_all(TRACEPARENT).iter();
    let (Some(one), None) = (said.next(), said.next()) else { return None };
    let mut parts = one.to_str().ok()?.trim_matches([' ', '\t']).splitn(5, '-');
    let [version, id, parent, flags] = [parts.next()?, parts.next()?, parts.next()?, parts.next()?];
    // What comes behind is for later versions to say.
    let is_known = is_hex(version, 2) && version != "ff" && (version != "00" || parts.next().is_none());
    if !(is_known && is_name(id, 32) && is_name(parent, 16) && is_hex(flags, 2)) {
        return None;
    }
    let flags = u8::from_str_radix(flags, 16).ok()? & KNOWN_FLAGS;
    Some(Trace { id: id.into(), span: random::<8>(), parent: Some(parent.into()), flags, state: state(headers) })
}

/// It may be said in several lines, which are one list.
fn state(headers: &HeaderMap) -> Option<String> {
    let lines: Option<Vec<&str>> = headers.get_all(TRACESTATE).iter().map(|line| line.to_str().ok()).collect();
    let state = lines?.join(",");
    let is_plain = state.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    (is_plain && !state.trim().is_empty() && state.len() <= LONGEST_STATE).then_some(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const REQUEST: &str = "0a0b0c0d-0102-4304-8506-070809101112";

    fn of(lines: &[(&HeaderName, &str)]) -> Trace {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().unwrap());
        }
        Trace::of(&headers, REQUEST)
    }

    #[test]
    fn what_the_standard_lets_somebody_say_is_believed_and_nothing_else() {
        let good = format!("00-{ID}-00f067aa0ba902b7-01");
        let of_later = format!("cc-{ID}-00f067aa0ba902b7-01-what-the-future-says");
        for said in [good.as_str(), of_later.as_str(), &format!(" {good} ")] {
            let trace = of(&[(&TRACEPARENT, said)]);
            assert_eq!((&*trace.id, trace.parent.as_deref()), (ID, Some("00f067aa0ba902b7")), "{said}");
            assert!(trace.is_recorded() && is_name(&trace.span, 16) && trace.span != "00f067aa0ba902b7");
        }
        let zeros = "0".repeat(32);
        for said in [
            "",
            "00",
            &format!("00-{ID}-00f067aa0ba902b7"),
            &format!("00-{ID}-00f067aa0ba902b7-01-more"),
            &format!("00-{ID}-00f067aa0ba902b7-01-"),
            &format!("ff-{ID}-00f067aa0ba902b7-01"),
            &format!("0-{ID}-00f067aa0ba902b7-01"),
            &format!("00-{}-00f067aa0ba902b7-01", ID.to_uppercase()),
            &format!("00-{zeros}-00f067aa0ba902b7-01"),
            &format!("00-{ID}-0000000000000000-01"),
            &format!("00-{ID}-00f067aa0ba902b-01"),
            &format!("00-{ID}-00f067aa0ba902b7-1"),
            &format!("00-{ID}-00f067aa0ba902b7-zz"),
            &format!("00-{ID}g-00f067aa0ba902b7-01"),
        ] {
            let trace = of(&[(&TRACEPARENT, said)]);
            assert_eq!((&*trace.id, trace.parent), ("0a0b0c0d010243048506070809101112", None), "{said}");
        }
        let twice = of(&[(&TRACEPARENT, &good), (&TRACEPARENT, &good)]);
        assert_eq!(twice.parent, None, "said twice");
    }

    #[test]
    fn what_was_said_is_handed_on() {
        let quiet = format!("00-{ID}-00f067aa0ba902b7-fe");
        let trace = of(&[(&TRACEPARENT, &quiet), (&TRACESTATE, "a=1,b=2"), (&TRACESTATE, "c=3")]);
        assert!(!trace.is_recorded());
        let next = trace.next();
        assert_eq!((&next.id, next.parent.as_ref()), (&trace.id, Some(&trace.span)));
        let told = [("traceparent", format!("00-{ID}-{}-02", next.span)), ("tracestate", "a=1,b=2,c=3".into())];
        assert_eq!(next.headers(), told.map(|(name, value)| (name.to_owned(), value)));
        // What belongs to no trace that is believed is no more than that itself.
        assert_eq!(of(&[(&TRACEPARENT, "no"), (&TRACESTATE, "a=1")]).state, None);
        let long = "a=".to_owned() + &"1".repeat(511);
        assert_eq!(of(&[(&TRACEPARENT, &quiet), (&TRACESTATE, &long)]).state, None);
    }

    #[test]
    fn a_trace_has_a_name_whatever_it_begins_with() {
        for identifier in ["", "00000000-0000-0000-0000-000000000000", "no identifier"] {
            assert!(is_name(&Trace::own(identifier).id, 32), "{identifier}");
        }
    }
}
