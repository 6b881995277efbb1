//! The one event that there is of each request. The log, what is counted and the traces are fed from it, and from nothing else.

use super::remembered;
use super::telemetry::{self, Attribute, Doing, Span};
use axum::http::{Method, StatusCode};
use http_kit::handler::Caller;
use http_kit::request::Arrival;
use http_kit::trace::Trace;
use ledger_core::ledger::Letter;
use std::time::Duration;

/// A request that was answered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answered<'r> {
    pub(crate) arrival: &'r Arrival,
    pub(crate) method: &'r Method,
    /// The letter of the dialect, where it belongs to one.
    pub(crate) dialect: Option<&'r str>,
    /// As the documents call it.
    pub(crate) operation: Option<&'r str>,
    pub(crate) is_about_health: bool,
    pub(crate) status: StatusCode,
    pub(crate) code: Option<&'r str>,
    pub(crate) took: Duration,
    pub(crate) bytes: Option<u64>,
    pub(crate) tenant: Option<&'r str>,
    pub(crate) caller: Caller,
}

/// As much of a path as is told: the longest of ours is shorter.
const TOLD: usize = 500;

fn shortened(path: &str) -> &str {
    &path[..path.floor_char_boundary(TOLD)]
}

impl Answered<'_> {
    /// What it is called where each request is called something.
    pub(super) fn operation_or_none(&self) -> &str {
        self.operation.unwrap_or(if self.is_about_health { "health" } else { "none" })
    }

    /// Tells everybody who is told of requests.
    pub(crate) fn tell(&self) {
        super::count(self);
        self.log();
        if self.arrival.trace.is_recorded() {
            telemetry::span(|| self.span());
        }
    }

    fn log(&self) {
        let Self { arrival, dialect, operation, code, tenant, caller, .. } = self;
        tracing::info!(
            method = %self.method, path = shortened(&arrival.path), status = self.status.as_u16(), dialect, operation, code,
            ms = u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX), bytes = self.bytes, tenant,
            user = caller.user.map(tracing::field::display), key = caller.key.map(tracing::field::display),
            business = caller.business.map(tracing::field::display),
            request_id = arrival.request_id, clientRequestId = arrival.client_request_id.as_deref(),
            trace_id = arrival.trace.id, span_id = arrival.trace.span,
            address = %arrival.address, "request"
        );
    }

    fn span(&self) -> Span<'_> {
        let Self { arrival, caller, .. } = self;
        let text = |name, value: Option<String>| value.map(|value| Attribute::text(name, value));
        let said = [
            text("http.request.method", Some(self.method.to_string())),
            text("url.path", Some(shortened(&arrival.path).to_owned())),
            Some(Attribute::whole("http.response.status_code", self.status.as_u16().into())),
            self.bytes.map(|bytes| Attribute::whole("http.response.body.size", bytes)),
            text("client.address", Some(arrival.address.to_string())),
            text("error.type", self.code.map(str::to_owned)),
            text("duet.dialect", self.dialect.map(str::to_owned)),
            text("duet.operation", self.operation.map(str::to_owned)),
            text("duet.tenant", self.tenant.map(str::to_owned)),
            text("duet.user", caller.user.map(|user| user.to_string())),
            text("duet.key", caller.key.map(|key| key.to_string())),
            text("duet.business", caller.business.map(|business| business.to_string())),
            text("duet.request_id", Some(arrival.request_id.clone())),
        ];
        Span {
            trace: &arrival.trace,
            // What is called otherwise is called by its method, as the conventions have it: a path is no name.
            name: self.operation.map_or_else(|| self.method.to_string(), str::to_owned),
            doing: Doing::Answers,
            took: self.took,
            failed: self.status.is_server_error(),
            attributes: said.into_iter().flatten().collect(),
        }
    }
}

/// The part of a trace that telling a webhook is: of the request's which the event came of, where that is known, and else of
/// one of the event's own, which is the same at each attempt.
pub(crate) fn way_of(letter: &Letter) -> Trace {
    let of_request = |id: &String| remembered::of(id).unwrap_or_else(|| Trace::own(id));
    letter.request_id.as_ref().map_or_else(|| Trace::own(&letter.event.to_string()), of_request).next()
}

/// That a webhook was told something, or was not.
pub(crate) fn delivered(way: &Trace, letter: &Letter, outcome: &courier::Outcome) {
    if !way.is_recorded() {
        return;
    }
    telemetry::span(|| {
        let attempt = u64::try_from(letter.attempt).ok();
        let said = [
            Some(Attribute::text("http.request.method", "POST".into())),
            outcome.status.map(|status| Attribute::whole("http.response.status_code", status.into())),
            outcome.status.is_none().then(|| Attribute::text("error.type", "no_answer".into())),
            attempt.map(|attempt| Attribute::whole("duet.webhook.attempt", attempt)),
            Some(Attribute::text("duet.event.id", letter.event.to_string())),
            Some(Attribute::text("duet.event.type", letter.kind.clone())),
        ];
        Span {
            trace: way,
            name: format!("webhook {}", letter.kind),
            doing: Doing::Asks,
            took: outcome.took,
            failed: !outcome.is_taken(),
            attributes: said.into_iter().flatten().collect(),
        }
    });
}
