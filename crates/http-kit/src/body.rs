//! Bodies: the one place where they are read whole, those that clients send and those that we answered.
//!
//! How long a client may take is not kept here: a body that comes from outside keeps the time itself, whoever reads it.

use crate::failure::Failure;
use axum::body::{Body, HttpBody};
use axum::http::{HeaderMap, header};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use ledger_core::error::Error;
use std::error::Error as Cause;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

/// As long as a log-in may be: nobody unknown makes us hold more.
pub const LONGEST_LOGIN: usize = 16 << 10;

/// Why a body ends before its end: its client sends too slowly.
#[derive(Debug)]
pub struct TooSlow;

impl std::fmt::Display for TooSlow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("it came too slowly")
    }
}

impl Cause for TooSlow {}

/// Why there is no whole body.
enum Short {
    TooLong,
    BrokeOff(axum::Error),
}

/// A body, and what of it is there already.
pub struct Begun {
    there: BytesMut,
    rest: Body,
    broke_off: Option<axum::Error>,
}

impl From<Body> for Begun {
    fn from(rest: Body) -> Self {
        Self { there: BytesMut::new(), rest, broke_off: None }
    }
}

impl Begun {
    /// Takes what has come, and waits for nothing. Of whoever is not known yet that is no more than a log-in may be, and what
    /// came along with the last of it.
    pub async fn of(headers: &HeaderMap, body: Body) -> Self {
        let mut begun = Self::from(body);
        // Whoever waits to be asked for a body is asked once they are known.
        if headers.contains_key(header::EXPECT) {
            return begun;
        }
        poll_fn(|context| {
            while !begun.is_whole() && begun.there.len() < LONGEST_LOGIN {
                match Pin::new(&mut begun.rest).poll_frame(context) {
                    Poll::Ready(Some(Ok(frame))) => {
                        frame.into_data().iter().for_each(|data| begun.there.extend_from_slice(data));
                    }
                    Poll::Ready(Some(Err(error))) => {
                        begun.broke_off = Some(error);
                        break;
                    }
                    Poll::Ready(None) => {
                        begun.rest = Body::empty();
                        break;
                    }
                    Poll::Pending => break,
                }
            }
            Poll::Ready(())
        })
        .await;
        begun
    }

    /// Whether nothing more comes.
    pub fn is_whole(&self) -> bool {
        self.broke_off.is_none() && HttpBody::is_end_stream(&self.rest)
    }
}

async fn whole(body: impl Into<Begun>, limit: usize) -> Result<Bytes, Short> {
    // What is announced is not believed: room is made for what has come.
    let Begun { there: mut bytes, mut rest, broke_off } = body.into();
    if bytes.len() > limit {
        return Err(Short::TooLong);
    }
    if let Some(error) = broke_off {
        return Err(Short::BrokeOff(error));
    }
    while let Some(frame) = rest.frame().await {
        if let Ok(data) = frame.map_err(Short::BrokeOff)?.into_data() {
            if bytes.len() + data.len() > limit {
                return Err(Short::TooLong);
            }
            bytes.extend_from_slice(&data);
        }
    }
    Ok(bytes.freeze())
}

/// A JSON body within a limit.
pub async fn json(headers: &HeaderMap, body: impl Into<Begun>, limit: usize) -> Result<Bytes, Failure> {
    must_be_json(headers)?;
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if announced.is_some_and(|length: u64| length > limit as u64) {
        return Err(Failure::payload_too_large(limit));
    }
    whole(body, limit).await.map_err(|short| match short {
        Short::TooLong => Failure::payload_too_large(limit),
        Short::BrokeOff(error) if is_too_slow(&error) => Failure::request_timeout(),
        Short::BrokeOff(error) => Error::MalformedJson(format!("it broke off: {error}")).into(),
    })
}

/// The same where the body may be left out: a request without one needs no media type either.
pub(crate) async fn optional_json(headers: &HeaderMap, body: Begun, limit: usize) -> Result<Bytes, Failure> {
    let none = body.there.is_empty() && body.is_whole() && !headers.contains_key(header::CONTENT_TYPE);
    if none { Ok(Bytes::new()) } else { json(headers, body, limit).await }
}

/// What we answered to a request of our own.
pub async fn answered(body: Body, limit: usize) -> Result<Bytes, String> {
    whole(body, limit).await.map_err(|short| match short {
        Short::TooLong => format!("the answer is larger than {limit} bytes"),
        Short::BrokeOff(error) => format!("the answer broke off: {error}"),
    })
}

fn is_too_slow(error: &axum::Error) -> bool {
    let mut cause: Option<&dyn Cause> = Some(error);
    while let Some(error) = cause {
        if error.is::<TooSlow>() {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Refuses whatever is not JSON as it stands.
pub fn must_be_json(headers: &HeaderMap) -> Result<(), Failure> {
    if headers
        .get(header::CONTENT_ENCODING)
        .is_some_and(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity"))
    {
        return Err(Failure::unsupported_media_type("The body must not be compressed"));
    }
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut parts = value.split(';').map(str::trim);
    if !parts.next().unwrap_or_default().eq_ignore_ascii_case("application/json") {
        return Err(Failure::unsupported_media_type("The Content-Type must be application/json"));
    }
    for parameter in parts {
        let (name, charset) = parameter.split_once('=').unwrap_or((parameter, ""));
        if name.eq_ignore_ascii_case("charset") && !charset.trim_matches('"').eq_ignore_ascii_case("utf-8") {
            return Err(Failure::unsupported_media_type("The body must be UTF-8"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;
    use futures_util::{StreamExt, stream};

    fn headers(value: &'static str) -> HeaderMap {
        [(header::CONTENT_TYPE, HeaderValue::from_static(value))].into_iter().collect()
    }

    #[test]
    fn only_plain_utf8_json_is_taken() {
        for (value, good) in [
            ("application/json", true),
            ("Application/JSON; charset=UTF-8", true),
            ("application/json; charset=utf-16", false),
            ("text/plain", false),
            ("", false),
        ] {
            assert_eq!(must_be_json(&headers(value)).is_ok(), good, "{value}");
        }
    }

    #[tokio::test]
    async fn what_is_there_is_taken_and_nothing_is_waited_for() {
        let plain = HeaderMap::new();
        let come = |body| Begun::of(&plain, body);
        let of = |there: Vec<Result<&'static str, axum::Error>>| Body::from_stream(stream::iter(there));
        let begun = come(of(vec![Ok("12"), Ok("34")])).await;
        assert!(begun.is_whole() && begun.there == "1234");
        assert!(come(Body::from("12")).await.is_whole() && come(Body::empty()).await.is_whole());
        let waits = Body::from_stream(stream::iter([Ok::<_, axum::Error>("12")]).chain(stream::pending()));
        let begun = come(waits).await;
        assert!(!begun.is_whole() && begun.there == "12");
        let asked = [(header::EXPECT, HeaderValue::from_static("100-continue"))].into_iter().collect();
        assert!(Begun::of(&asked, of(vec![Ok("12")])).await.there.is_empty());
        // Nobody unknown makes us hold much, and what broke off is told by whoever reads on.
        let long = "x".repeat(LONGEST_LOGIN).leak();
        let begun = come(of(vec![Ok(long), Ok("more")])).await;
        assert_eq!((begun.is_whole(), begun.there.len()), (false, LONGEST_LOGIN));
        let begun = come(of(vec![Ok("12"), Err(axum::Error::new(TooSlow))])).await;
        assert!(!begun.is_whole());
        let told = json(&headers("application/json"), begun, 99).await;
        assert_eq!(told.map_err(|failure| failure.status.as_u16()), Err(408));
    }

    #[tokio::test]
    async fn a_body_is_measured_while_it_comes_and_its_end_is_told_by_its_cause() {
        let pieces = |last: Result<&'static str, axum::BoxError>| {
            Body::from_stream(stream::iter([Ok("12"), Ok("34"), last.map_err(axum::Error::new)]))
        };
        let json_of = async |body, limit| {
            let read = json(&headers("application/json"), body, limit).await;
            read.map_err(|failure| failure.status.as_u16())
        };
        assert_eq!(json_of(pieces(Ok("5")), 5).await, Ok(Bytes::from_static(b"12345")));
        assert_eq!(json_of(pieces(Ok("5")), 4).await, Err(413));
        assert_eq!(json_of(pieces(Err(TooSlow.into())), 5).await, Err(408));
        assert_eq!(json_of(pieces(Err("the wire was cut".into())), 5).await, Err(400));
        assert!(answered(pieces(Ok("5")), 4).await.is_err_and(|why| why.contains("larger than 4 bytes")));
    }
}
