//! A bare axum handler: it checks the token and answers bytes that it was given. Nothing can be faster and still do
//! what every request needs.

use crate::Result;
use crate::place::say;
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

pub(crate) const SECRET: &[u8] = b"a secret of the benchmark, as long as a real one is";

pub(crate) fn token() -> Result<String> {
    ledger_core::auth::install_signing();
    let claims = json!({"sub": "bench", "exp": 4_000_000_000_i64, "aud": "bench", "iss": "bench"});
    Ok(jsonwebtoken::encode(&Header::new(Algorithm::HS256), &claims, &EncodingKey::from_secret(SECRET))?)
}

struct Answering {
    key: DecodingKey,
    validation: Validation,
    body: axum::body::Bytes,
}

/// Serves the bytes of a file until it is ended.
pub(crate) async fn serve(file: &Path) -> Result<()> {
    ledger_core::auth::install_signing();
    let mut validation = Validation::new(Algorithm::HS256);
    validation.set_audience(&["bench"]);
    let state =
        Arc::new(Answering { key: DecodingKey::from_secret(SECRET), validation, body: std::fs::read(file)?.into() });
    let router = Router::new().route("/", get(answer)).with_state(state);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    say(&format!("listening on {}", listener.local_addr()?));
    axum::serve(listener, router).await?;
    Ok(())
}

async fn answer(State(state): State<Arc<Answering>>, headers: HeaderMap) -> Response {
    let token = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = token.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
    match jsonwebtoken::decode::<Value>(token, &state.key, &state.validation) {
        Ok(_) => ([(header::CONTENT_TYPE, "application/json")], state.body.clone()).into_response(),
        Err(_) => StatusCode::UNAUTHORIZED.into_response(),
    }
}

/// The same as a process of its own.
pub(crate) struct Bare {
    process: Child,
    pub(crate) address: SocketAddr,
}

impl Bare {
    pub(crate) fn start(file: &Path) -> Result<Self> {
        let mut process =
            Command::new(std::env::current_exe()?).arg("bare").arg(file).stdout(Stdio::piped()).spawn()?;
        let output = process.stdout.take().ok_or("no output")?;
        let line = BufReader::new(output).lines().next().ok_or("it did not start")??;
        let address = line.strip_prefix("listening on ").ok_or("it did not start")?.parse()?;
        Ok(Self { process, address })
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        let _ended = self.process.kill().and_then(|()| self.process.wait());
    }
}
