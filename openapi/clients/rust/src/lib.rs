//! What is made of the documents, as it is, and what the sessions are told.

use reqwest::header::{HeaderMap, HeaderValue};
use std::fmt::{Debug, Display};

macro_rules! client {
    ($letter:ident, $file:literal) => {
        #[allow(clippy::all, clippy::pedantic, unused_imports, mismatched_lifetime_syntaxes)]
        pub mod $letter {
            include!(concat!(env!("OUT_DIR"), "/", $file));
        }
    };
}

client!(a, "a.rs");
client!(b, "b.rs");

/// Where the server is, and who logs in there.
pub struct Asked {
    pub server: String,
    pub user: String,
    pub password: String,
}

impl Asked {
    /// As the suite says it.
    pub fn here() -> Self {
        let said = std::env::args().nth(1).expect("what is asked");
        let said: serde_json::Value = serde_json::from_str(&said).expect("JSON");
        let text = |name: &str| said[name].as_str().expect("a text").to_owned();
        Self { server: text("lossy"), user: text("user"), password: text("password") }
    }
}

/// Whoever sends these headers with every request. Decimals come as texts: their types say so.
pub fn sending(headers: &[(&'static str, &str)]) -> reqwest::Client {
    let mut all = HeaderMap::new();
    all.insert("x-decimal-format", HeaderValue::from_static("string"));
    for (name, value) in headers {
        all.insert(*name, HeaderValue::from_str(value).expect("a header"));
    }
    reqwest::Client::builder().default_headers(all).build().expect("a client")
}

/// Holds that something fails so, and answers what is said of it.
pub fn refused<T: Debug, E: Debug>(
    (status, code): (u16, &str),
    answered: Result<T, progenitor_client::Error<E>>,
) -> E {
    match answered {
        Err(progenitor_client::Error::ErrorResponse(failure)) => {
            let said = failure.headers().get("x-error-code").and_then(|code| code.to_str().ok()).map(str::to_owned);
            assert_eq!((failure.status().as_u16(), said.as_deref()), (status, Some(code)), "{failure:?}");
            failure.into_inner()
        }
        other => panic!("{code} was not refused as documented: {other:?}"),
    }
}

/// A day, a number of ours or a word of a list.
pub fn read<T>(text: &str) -> T
where
    T: std::str::FromStr,
    T::Err: Display,
{
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}
