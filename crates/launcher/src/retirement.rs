//! A dialect that is to go: what its answers say of that (RFC 9745, RFC 8594), and what becomes of it after its day.

use crate::config::{AfterSunset, Retiring};
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::Response;
use ledger_core::clock::Instant;

pub(crate) const DEPRECATION: HeaderName = HeaderName::from_static("deprecation");
pub(crate) const SUNSET: HeaderName = HeaderName::from_static("sunset");

pub(crate) struct Retirement {
    deprecation: Option<HeaderValue>,
    sunset: Option<(Instant, HeaderValue)>,
    links: Vec<HeaderValue>,
    after: AfterSunset,
}

impl Retirement {
    /// Nothing of a dialect that stays.
    pub(crate) fn of(retiring: &Retiring) -> Option<Self> {
        let Retiring { deprecation, sunset, link, after } = retiring;
        if deprecation.is_none() && sunset.is_none() {
            return None;
        }
        let value = |text: String| HeaderValue::from_str(&text).ok();
        let relations = [("deprecation", deprecation.is_some()), ("sunset", sunset.is_some())];
        let named = relations.into_iter().filter(|(_, said)| *said);
        let links = named.filter_map(|(relation, _)| {
            value(format!("<{}>; rel=\"{relation}\"; type=\"text/html\"", link.as_deref()?))
        });
        Some(Self {
            deprecation: deprecation.and_then(|at| value(format!("@{}", at.seconds()))),
            sunset: sunset.and_then(|at| Some((at, value(at.http_date())?))),
            links: links.collect(),
            after: *after,
        })
    }

    fn is_past(&self, now: Instant) -> bool {
        self.sunset.as_ref().is_some_and(|(sunset, _)| *sunset <= now)
    }

    /// Whether it is not served any more.
    pub(crate) fn is_gone(&self, now: Instant) -> bool {
        self.after == AfterSunset::Gone && self.is_past(now)
    }

    /// Says in an answer what is to come, or what has come.
    pub(crate) fn mark(&self, response: &mut Response, now: Instant) {
        let headers = response.headers_mut();
        headers.extend(self.deprecation.clone().map(|value| (DEPRECATION, value)));
        headers.extend(self.sunset.clone().map(|(_, value)| (SUNSET, value)));
        for link in &self.links {
            headers.append(header::LINK, link.clone());
        }
        if self.after == AfterSunset::Warn && self.is_past(now) {
            headers.insert(header::WARNING, PAST);
        }
    }
}

const PAST: HeaderValue =
    HeaderValue::from_static("299 - \"This dialect is past its sunset and may go at any time; move to the other one\"");

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    fn told(retiring: &Retiring, now: &str) -> (bool, Vec<String>) {
        let (retirement, now) = (Retirement::of(retiring).unwrap(), Instant::parse(now).unwrap());
        let mut response = Response::new(Body::empty());
        retirement.mark(&mut response, now);
        let headers = response.headers().iter();
        (retirement.is_gone(now), headers.map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect())
    }

    #[test]
    fn an_answer_says_what_is_to_come() {
        assert!(Retirement::of(&Retiring::default()).is_none());
        let at = |text: &str| Instant::parse(text);
        let deprecation = Retiring { deprecation: at("2026-11-01T00:00:00Z"), ..Retiring::default() };
        assert_eq!(told(&deprecation, "2026-11-21T00:00:00Z"), (false, vec!["deprecation: @1793491200".into()]));
        let mut both = Retiring {
            sunset: at("2027-06-30T22:00:00Z"),
            link: Some("https://docs.example/move".into()),
            after: AfterSunset::Warn,
            ..deprecation
        };
        let before = vec![
            "deprecation: @1793491200".to_owned(),
            "sunset: Wed, 30 Jun 2027 22:00:00 GMT".into(),
            "link: <https://docs.example/move>; rel=\"deprecation\"; type=\"text/html\"".into(),
            "link: <https://docs.example/move>; rel=\"sunset\"; type=\"text/html\"".into(),
        ];
        assert_eq!(told(&both, "2027-06-30T21:59:59Z"), (false, before.clone()));
        let (gone, after) = told(&both, "2027-06-30T22:00:00Z");
        assert!(!gone && after.last().unwrap().starts_with("warning: 299 - \""), "{after:?}");
        both.after = AfterSunset::Gone;
        assert!(!told(&both, "2027-06-30T21:59:59Z").0);
        assert_eq!(told(&both, "2027-06-30T22:00:00Z"), (true, before));
    }
}
