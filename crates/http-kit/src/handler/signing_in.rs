//! Requests of nobody who is known yet: log-in, and the acceptance of an invitation.

use super::{Operation, Seen, Shell, arrival, failed, json, origin, shell, unhurried, welcome};
use crate::body;
use crate::dialect::Dialect;
use crate::failure::Failure;
use crate::request::{self, Arrival};
use axum::body::Body;
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use ledger_core::access::Proved;
use ledger_core::auth::invitation::check_acceptance;
use ledger_core::error::{Error, Unavailable};
use ledger_core::quoting::quoted;

pub(super) async fn login<D: Dialect>(request: Request) -> Response {
    let arrival = arrival(&request);
    let answer = match shell(&request) {
        Ok(shell) => try_login::<D>(&shell, arrival.as_ref(), request).await,
        Err(failure) => Err(failure),
    };
    named("login", answer.unwrap_or_else(|failure| failed::<D>(arrival.as_ref(), failure)))
}

/// An answer that says what was asked.
fn named(operation: &str, mut response: Response) -> Response {
    response.extensions_mut().insert(Operation(operation.into()));
    response
}

pub(super) async fn accept<D: Dialect>(request: Request) -> Response {
    let arrival = arrival(&request);
    let answer = match shell(&request) {
        Ok(shell) => try_accept::<D>(&shell, arrival.as_ref(), request).await,
        Err(failure) => Err(failure),
    };
    let response = answer.unwrap_or_else(|failure| {
        Seen::default().refused("acceptInvitation".into(), &origin::<D>(arrival.as_ref()), &failure);
        failed::<D>(arrival.as_ref(), failure)
    });
    named("acceptInvitation", response)
}

async fn try_accept<D: Dialect>(
    shell: &Shell,
    arrival: Option<&Arrival>,
    request: Request,
) -> Result<Response, Failure> {
    let (parts, body) = request.into_parts();
    // Who brings it is nobody yet: the code is what lets them in.
    let code = request::bearer(&parts.headers)?.to_owned();
    let key = request::idempotency_key(&parts.headers)?;
    let bytes = body_of_anybody(shell, &parts, body).await?;
    let acceptance = ledger_core::resource::body::read_plain(bytes, check_acceptance).await?;
    let origin = origin::<D>(arrival);
    let ledger = shell.ledger.clone();
    let (accepted, replayed) = unhurried(shell.limits.request, Unavailable::CommitOutcomeUnknown, async move {
        ledger.accept_invitation(code, acceptance, (key, &origin)).await
    })
    .await?;
    let payload = serde_json::to_string(&accepted).map_err(Error::internal)?;
    let mut response = json(StatusCode::OK, D::success("OK", &payload));
    if replayed {
        response.headers_mut().insert(request::IDEMPOTENCY_REPLAYED, HeaderValue::from_static("true"));
    }
    Ok(response)
}

/// The body of a request that needs no token.
async fn body_of_anybody(shell: &Shell, parts: &Parts, body: Body) -> Result<Bytes, Failure> {
    if let Some((name, _)) = request::query(parts)?.first() {
        return Err(Error::field(&quoted(name), "is not a known parameter").into());
    }
    body::json(&parts.headers, body, shell.limits.body.min(body::LONGEST_LOGIN)).await
}

async fn try_login<D: Dialect>(
    shell: &Shell,
    arrival: Option<&Arrival>,
    request: Request,
) -> Result<Response, Failure> {
    let (parts, body) = request.into_parts();
    let agent = parts.headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok()).map(str::to_owned);
    let bytes = body_of_anybody(shell, &parts, body).await?;
    let credentials = ledger_core::resource::body::read_plain(bytes, D::credentials).await?;
    let origin = origin::<D>(arrival);
    let ledger = shell.ledger.clone();
    let session = unhurried(shell.limits.request, Unavailable::Overloaded, async move {
        ledger.login(D::LOGIN_NAME, credentials, &origin, agent).await
    })
    .await?;
    // Who has logged in is told so, also where they have no place for one more.
    let _stays_a_strangers = welcome(&parts, Proved::by(&session));
    let payload = serde_json::to_string(&D::logged_in(session)).map_err(Error::internal)?;
    Ok(json(StatusCode::OK, D::success("OK", &payload)))
}
