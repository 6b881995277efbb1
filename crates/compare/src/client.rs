//! Requests to a server elsewhere, over HTTP and HTTPS.

use crate::wire::{Answer, Request, Sending, Transport};
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use std::error::Error;
use std::time::{Duration, Instant};

/// Longer than a server lets anybody wait.
const PATIENCE: Duration = Duration::from_mins(1);
const LONGEST_ANSWER: usize = 64 * 1024 * 1024;

/// A server that is asked over the network. Certificates are checked against the machine's own list.
pub struct Remote {
    client: AnyClient,
    origin: String,
}

enum AnyClient {
    Plain(Client<HttpConnector, Full<Bytes>>),
    Secure(Client<HttpsConnector<HttpConnector>, Full<Bytes>>),
}

impl Remote {
    /// `origin` is scheme, host and port.
    pub fn new(origin: &str) -> Result<Self, String> {
        let builder = Client::builder(TokioExecutor::new());
        let client = if origin.starts_with("https://") {
            let tls = HttpsConnectorBuilder::new()
                .with_native_roots()
                .map_err(|error| format!("the machine's certificates cannot be read: {error}"))?;
            AnyClient::Secure(builder.build(tls.https_only().enable_http1().build()))
        } else {
            AnyClient::Plain(builder.build_http())
        };
        Ok(Self { client, origin: origin.trim_end_matches('/').to_owned() })
    }

    async fn exchange(&self, request: Request) -> Result<Answer, String> {
        let mut said = hyper::Request::builder()
            .method(request.method.as_str())
            .uri(format!("{}{}", self.origin, request.target))
            .header("User-Agent", concat!("duet-compare/", env!("CARGO_PKG_VERSION")));
        for (name, value) in &request.headers {
            said = said.header(name, value);
        }
        let body = Full::new(Bytes::from(request.body.unwrap_or_default()));
        let said = said.body(body).map_err(|error| format!("the request cannot be sent: {error}"))?;
        let begun = Instant::now();
        let answered = match &self.client {
            AnyClient::Plain(client) => client.request(said).await,
            AnyClient::Secure(client) => client.request(said).await,
        };
        let answered = answered.map_err(|error| root(&error))?;
        let (parts, body) = answered.into_parts();
        let body = Limited::new(body, LONGEST_ANSWER)
            .collect()
            .await
            .map_err(|error| format!("the answer broke off: {error}"))?;
        let micros = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        Ok(Answer {
            status: parts.status.as_u16(),
            headers: parts
                .headers
                .iter()
                .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
                .collect(),
            body: String::from_utf8_lossy(&body.to_bytes()).into_owned(),
            micros,
        })
    }
}

/// How often a request is repeated that was one too many.
const MOST_WAITS: usize = 5;

/// How long to wait before a request may be repeated that was one too many, and was waited for so often before.
fn to_wait(answer: &Answer, waited: usize) -> Option<Duration> {
    if waited == MOST_WAITS {
        return None;
    }
    let asked: u64 = answer.header("retry-after").filter(|_| answer.status == 429)?.parse().ok()?;
    Some(Duration::from_secs(asked)).filter(|asked| *asked <= PATIENCE)
}

impl Transport for Remote {
    fn send(&self, request: Request) -> Sending<'_> {
        Box::pin(async move {
            let mut waited = 0;
            loop {
                let answer = match tokio::time::timeout(PATIENCE, self.exchange(request.clone())).await {
                    Ok(answer) => answer?,
                    Err(_) => return Err(format!("no answer within {} seconds", PATIENCE.as_secs())),
                };
                // Thousands of requests a minute are ours to spread, and no difference between two sides.
                let Some(wait) = to_wait(&answer, waited) else { return Ok(answer) };
                tokio::time::sleep(wait.max(Duration::from_secs(1))).await;
                waited += 1;
            }
        })
    }

    fn origin(&self) -> &str {
        &self.origin
    }
}

/// What an error comes from in the end, which says more than what it is wrapped in.
fn root(error: &dyn Error) -> String {
    let mut root = error;
    while let Some(cause) = root.source() {
        root = cause;
    }
    root.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_too_often_waits_as_long_as_is_asked_but_neither_for_ever_nor_for_a_quarter_of_an_hour() {
        let answer = |status, after: &str| Answer {
            status,
            headers: vec![("retry-after".into(), after.into())],
            ..Answer::default()
        };
        for (waited, wait) in [(0, Some(7)), (MOST_WAITS - 1, Some(7)), (MOST_WAITS, None)] {
            assert_eq!(to_wait(&answer(429, "7"), waited), wait.map(Duration::from_secs));
        }
        for (status, after) in [(429, "900"), (429, "soon"), (503, "1"), (200, "1")] {
            assert_eq!(to_wait(&answer(status, after), 0), None);
        }
    }
}
