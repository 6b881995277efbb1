//! What is seen of a server that runs: each request as one event, for the log, for what is counted of it and for traces; and
//! what is counted beside requests. `/metrics` tells it, in the text format of Prometheus and by its conventions.
//!
//! Owns: what is counted and what that is called. Refuses: labels that anybody outside can make up. An operation is one of
//! the documents, a status one of HTTP; no identifier and no path is ever a label.

#![allow(clippy::disallowed_types, reason = "seconds, as whoever watches reads them: no amount comes near")]

mod event;
mod gauges;
mod remembered;
pub(crate) mod telemetry;

use crate::config::Settings;
use crate::tenants::Books;
use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{Method, StatusCode, header};
use axum::response::Response;
pub(crate) use event::{Answered, delivered, way_of};
use ledger_core::watch::{Watch, is_watched};
use prometheus::core::Collector;
use prometheus::process_collector::ProcessCollector;
use prometheus::{
    Encoder, Histogram, HistogramOpts, HistogramVec, IntCounterVec, IntGauge, Opts, Registry, TextEncoder,
};
pub(crate) use remembered::remember;
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::Duration;

/// Seconds of requests, as OpenTelemetry has them.
const REQUESTS: &[f64] = &[0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0];
/// Seconds of commits: a good disk confirms one within a millisecond.
const COMMITS: &[f64] = &[0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];
/// Commands of a batch, up to the most that there are.
const BATCHES: &[f64] = &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

struct Sight {
    registry: Registry,
    requests: IntCounterVec,
    seconds: HistogramVec,
    in_flight: IntGauge,
    waiting: IntGauge,
    batches: Histogram,
    commits: Histogram,
    telemetry: IntCounterVec,
}

/// What is counted from the first request on, whether anybody asks for it or not.
static SIGHT: LazyLock<Option<Sight>> = LazyLock::new(|| match Sight::new() {
    Ok(sight) => Some(sight),
    Err(error) => {
        tracing::error!(%error, "nothing is counted");
        None
    }
});

impl Sight {
    fn new() -> prometheus::Result<Self> {
        let registry = Registry::new();
        let kept = |one: Box<dyn Collector>| registry.register(one);
        let of_requests = ["dialect", "operation", "status"];
        let requests =
            IntCounterVec::new(Opts::new("duet_http_requests_total", "Requests that were answered."), &of_requests)?;
        kept(Box::new(requests.clone()))?;
        let seconds = HistogramVec::new(
            HistogramOpts::new(
                "duet_http_request_duration_seconds",
                "How long requests took until they were answered.",
            )
            .buckets(REQUESTS.to_vec()),
            &of_requests[..2],
        )?;
        kept(Box::new(seconds.clone()))?;
        let in_flight = IntGauge::new("duet_http_requests_in_flight", "Requests that are being answered.")?;
        kept(Box::new(in_flight.clone()))?;
        let waiting = IntGauge::new("duet_write_queue_length", "Writes that wait for a lane.")?;
        kept(Box::new(waiting.clone()))?;
        let batches = Histogram::with_opts(
            HistogramOpts::new("duet_write_batch_commands", "Writes that were committed together.")
                .buckets(BATCHES.to_vec()),
        )?;
        kept(Box::new(batches.clone()))?;
        let commits = Histogram::with_opts(
            HistogramOpts::new("duet_commit_duration_seconds", "How long the database took to commit a batch.")
                .buckets(COMMITS.to_vec()),
        )?;
        kept(Box::new(commits.clone()))?;
        let telemetry = IntCounterVec::new(
            Opts::new(
                "duet_telemetry_items_total",
                "Spans and lines of the log, by whether whoever collects them took them.",
            ),
            &["signal", "outcome"],
        )?;
        kept(Box::new(telemetry.clone()))?;
        kept(Box::new(ProcessCollector::for_self()))?;
        Ok(Self { registry, requests, seconds, in_flight, waiting, batches, commits, telemetry })
    }
}

/// Hears how writes go.
struct OfWrites;

impl Watch for OfWrites {
    fn waiting(&self, change: i64) {
        if let Some(sight) = &*SIGHT {
            sight.waiting.add(change);
        }
    }

    fn committed(&self, commands: usize, took: Duration) {
        if let Some(sight) = &*SIGHT {
            sight.batches.observe(f64::from(u32::try_from(commands).unwrap_or(u32::MAX)));
            sight.commits.observe(took.as_secs_f64());
        }
    }
}

/// A request that is being answered, until this is dropped.
pub(crate) struct InFlight(());

impl Drop for InFlight {
    fn drop(&mut self) {
        if let Some(sight) = &*SIGHT {
            sight.in_flight.dec();
        }
    }
}

pub(crate) fn begins() -> Option<InFlight> {
    let sight = SIGHT.as_ref()?;
    sight.in_flight.inc();
    Some(InFlight(()))
}

/// Counts a request that was answered.
fn count(request: &Answered<'_>) {
    let Some(sight) = &*SIGHT else { return };
    let (dialect, operation) = (request.dialect.unwrap_or("none"), request.operation_or_none());
    sight.requests.with_label_values(&[dialect, operation, request.status.as_str()]).inc();
    sight.seconds.with_label_values(&[dialect, operation]).observe(request.took.as_secs_f64());
}

/// Whose books are looked at when somebody asks.
static BOOKS: OnceLock<(Arc<Books>, Settings)> = OnceLock::new();

/// From now on writes are counted, and these books are looked at.
pub(crate) fn watches(books: &Arc<Books>, settings: &Settings) {
    is_watched(&OfWrites);
    let _there_are = BOOKS.set((books.clone(), settings.clone()));
}

/// Answers who asks how the server does. There is one thing to ask for.
pub(crate) async fn answer(asked: Parts) -> Response {
    let mut response = match (asked.uri.path(), asked.method) {
        ("/metrics", Method::GET) => match told().await {
            Ok(told) => Response::new(Body::from(told)),
            Err(error) => {
                tracing::error!(%error, "what is counted cannot be told");
                status(StatusCode::INTERNAL_SERVER_ERROR)
            }
        },
        ("/metrics", _) => status(StatusCode::METHOD_NOT_ALLOWED),
        _ => status(StatusCode::NOT_FOUND),
    };
    let format = header::HeaderValue::from_static(prometheus::TEXT_FORMAT);
    response.headers_mut().insert(header::CONTENT_TYPE, format);
    response
}

fn status(status: StatusCode) -> Response {
    let mut response = Response::new(Body::from("/metrics is all that is told here\n"));
    *response.status_mut() = status;
    response
}

async fn told() -> prometheus::Result<Vec<u8>> {
    let mut families = match &*SIGHT {
        Some(sight) => sight.registry.gather(),
        None => Vec::new(),
    };
    if let Some((books, settings)) = BOOKS.get() {
        families.extend(gauges::of(books, settings).await?.gather());
    }
    let mut text = Vec::new();
    TextEncoder::new().encode(&families, &mut text)?;
    Ok(text)
}
