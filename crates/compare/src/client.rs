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
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    origin: String,
}

impl Remote {
    /// `origin` is scheme, host and port.
    pub fn new(origin: &str) -> Result<Self, String> {
        let tls = HttpsConnectorBuilder::new()
            .with_native_roots()
            .map_err(|error| format!("the machine's certificates cannot be read: {error}"))?;
        let connector = tls.https_or_http().enable_http1().build();
        let client = Client::builder(TokioExecutor::new()).build(connector);
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
        let answered = self.client.request(said).await.map_err(|error| root(&error))?;
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

impl Transport for Remote {
    fn send(&self, request: Request) -> Sending<'_> {
        Box::pin(async move {
            match tokio::time::timeout(PATIENCE, self.exchange(request)).await {
                Ok(answer) => answer,
                Err(_) => Err(format!("no answer within {} seconds", PATIENCE.as_secs())),
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
