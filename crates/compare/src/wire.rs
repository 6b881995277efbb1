//! Requests and answers as they go over the wire, and what carries them.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::future::Future;
use std::pin::Pin;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    pub method: String,
    /// Path and query.
    pub target: String,
    pub headers: Vec<(String, String)>,
    pub body: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    pub status: u16,
    /// With names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: String,
    /// How long it took.
    pub micros: u64,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    /// The body as somebody would read it.
    pub fn pretty(&self) -> String {
        let body = serde_json::from_str::<Value>(&self.body).ok();
        let pretty = body.and_then(|body| serde_json::to_string_pretty(&body).ok());
        pretty.unwrap_or_else(|| self.body.clone())
    }

    pub fn is_success(&self) -> bool {
        self.status < 400
    }
}

fn header<'h>(headers: &'h [(String, String)], name: &str) -> Option<&'h str> {
    headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

pub type Sending<'t> = Pin<Box<dyn Future<Output = Result<Answer, String>> + Send + 't>>;

/// What carries a request to a server and its answer back.
pub trait Transport: Send + Sync {
    fn send(&self, request: Request) -> Sending<'_>;

    /// Scheme, host and port, for those who repeat a request by hand.
    fn origin(&self) -> &str;
}
