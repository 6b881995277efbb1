//! Traces and logs on their way to whoever collects them: OTLP over HTTP, in its JSON.
//!
//! Two kinds of messages of one shape each are all there is to say, so they are written here and carried by the courier that
//! carries webhooks: the SDK and its protocol buffers would bring some thirty crates and a second thread of batches for it.
//!
//! Owns: that nobody waits for whoever collects. What there is to tell waits in a bounded queue; what there is no room for, or
//! what is refused for good, is dropped and counted, and said once in the log.

use super::SIGHT;
use crate::config::{Telemetry, headers_in};
use courier::{Courier, Outcome, Parcel, Places};
use http_kit::trace::Trace;
use ipnet::IpNet;
use ledger_core::clock::Clock;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::fmt::Debug;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::timeout;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

/// As many of each kind wait, and as much as they weigh.
const MOST: usize = 4_096;
const MOST_BYTES: usize = 8 << 20;
/// As many are sent together.
const TOGETHER: usize = 512;
/// What there is is sent so often.
const BEAT: Duration = Duration::from_secs(1);
/// Whoever does not answer is left alone so long, and longer each time.
const FIRST_REST: Duration = Duration::from_secs(1);
const LONGEST_REST: Duration = Duration::from_secs(30);
/// As long as a process that ends takes for what is left.
const FAREWELL: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Signal {
    Traces,
    Logs,
}

impl Signal {
    const ALL: [Self; 2] = [Self::Traces, Self::Logs];

    /// As the path and the label have it.
    const fn word(self) -> &'static str {
        match self {
            Self::Traces => "traces",
            Self::Logs => "logs",
        }
    }

    /// What the message is made of, from the outside.
    const fn members(self) -> [&'static str; 3] {
        match self {
            Self::Traces => ["resourceSpans", "scopeSpans", "spans"],
            Self::Logs => ["resourceLogs", "scopeLogs", "logRecords"],
        }
    }

    const fn is_wanted(self, settings: &Telemetry) -> bool {
        match self {
            Self::Traces => settings.traces,
            Self::Logs => settings.logs,
        }
    }
}

#[derive(Default)]
struct Waiting {
    items: VecDeque<String>,
    bytes: usize,
    /// What there was no room for and is not said yet.
    dropped: u64,
}

impl Waiting {
    /// Whether there was room.
    fn add(&mut self, item: String) -> bool {
        let fits = self.items.len() < MOST && self.bytes + item.len() <= MOST_BYTES;
        if fits {
            self.bytes += item.len();
            self.items.push_back(item);
        } else {
            self.dropped += 1;
        }
        fits
    }

    fn take(&mut self, count: usize) {
        for item in self.items.drain(..count.min(self.items.len())) {
            self.bytes -= item.len();
        }
    }
}

struct Out {
    settings: Telemetry,
    courier: Courier,
    headers: Vec<(String, String)>,
    /// Who tells.
    resource: Value,
    waiting: [Mutex<Waiting>; 2],
    /// Rung when there is enough to send.
    enough: Notify,
}

/// Where it goes, where that is configured.
static OUT: OnceLock<Out> = OnceLock::new();
static CLOCK: LazyLock<Clock> = LazyLock::new(Clock::system);

/// What became of something that was sent.
#[derive(Debug, PartialEq, Eq)]
enum Fate {
    /// Taken, but for so many.
    Taken(u64),
    /// Refused for good.
    Refused(String),
    /// To be sent again, after so long where that is said.
    Later(String, Option<Duration>),
}

fn fate(outcome: &Outcome, signal: Signal) -> Fate {
    let Some(status) = outcome.status else {
        return Fate::Later(outcome.problem.clone().unwrap_or_else(|| "there was no answer".into()), None);
    };
    if outcome.is_taken() {
        let member = if signal == Signal::Traces { "rejectedSpans" } else { "rejectedLogRecords" };
        let said: Option<Value> = serde_json::from_str(&outcome.said).ok();
        // A 64-bit number is a text in this JSON, and a number where somebody is easy about it.
        let number = |value: &Value| value.as_u64().or_else(|| value.as_str()?.parse().ok());
        let rejected = said.as_ref().and_then(|said| number(&said["partialSuccess"][member]));
        return Fate::Taken(rejected.unwrap_or(0));
    }
    let why = format!("it answered {status}");
    if matches!(status, 429 | 502 | 503 | 504) { Fate::Later(why, outcome.retry_after) } else { Fate::Refused(why) }
}

impl Out {
    fn new(settings: &Telemetry, endpoint: &str) -> Self {
        // The operator says where, and may mean this machine.
        let anywhere = [IpAddr::V4(Ipv4Addr::UNSPECIFIED), IpAddr::V6(Ipv6Addr::UNSPECIFIED)]
            .into_iter()
            .filter_map(|address| IpNet::new(address, 0).ok());
        let courier = Courier::new(Places::and(anywhere.collect()), settings.timeout);
        let mut headers = headers_in(settings.headers.expose()).unwrap_or_default();
        headers.push(("content-type".into(), "application/json".into()));
        let resource = json!({"attributes": [
            attribute("service.name", json!({"stringValue": settings.service})),
            attribute("service.version", json!({"stringValue": env!("CARGO_PKG_VERSION")})),
            attribute("service.instance.id", json!({"stringValue": ledger_core::ids::request_id()})),
        ]});
        let settings = Telemetry { endpoint: Some(endpoint.trim_end_matches('/').to_owned()), ..settings.clone() };
        Self { settings, courier, headers, resource, waiting: Default::default(), enough: Notify::new() }
    }

    fn waiting(&self, signal: Signal) -> MutexGuard<'_, Waiting> {
        self.waiting[signal as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, signal: Signal, item: &Value) {
        let (fits, enough) = {
            let mut waiting = self.waiting(signal);
            (waiting.add(item.to_string()), waiting.items.len() >= TOGETHER)
        };
        if !fits {
            counted(signal, "dropped", 1);
        } else if enough {
            self.enough.notify_one();
        }
    }

    /// Sends the first of what waits, and answers how many were sent and what became of them. Nobody takes them meanwhile: what
    /// is added comes behind.
    async fn send(&self, signal: Signal) -> Option<(usize, Fate)> {
        let (items, count) = {
            let waiting = self.waiting(signal);
            let some: Vec<&str> = waiting.items.iter().take(TOGETHER).map(String::as_str).collect();
            (some.join(","), some.len())
        };
        if count == 0 {
            return None;
        }
        let [outer, middle, inner] = signal.members();
        let (resource, version) = (&self.resource, env!("CARGO_PKG_VERSION"));
        let body = format!(
            r#"{{"{outer}":[{{"resource":{resource},"{middle}":[{{"scope":{{"name":"duet","version":"{version}"}},"{inner}":[{items}]}}]}}]}}"#
        );
        let endpoint = self.settings.endpoint.as_deref().unwrap_or_default();
        let url = format!("{endpoint}/v1/{}", signal.word());
        let outcome = self.courier.carry(Parcel { url, headers: self.headers.clone(), body }).await;
        Some((count, fate(&outcome, signal)))
    }

    /// Notes what became of so many. An error where they are to be sent again: why, and when.
    fn note(&self, signal: Signal, (count, fate): (usize, Fate)) -> Result<(), (String, Option<Duration>)> {
        let all = u64::try_from(count).unwrap_or(u64::MAX);
        let (taken, refused) = match fate {
            Fate::Later(why, rest) => return Err((why, rest)),
            Fate::Taken(but) => (all - but.min(all), None),
            Fate::Refused(why) => (0, Some(why)),
        };
        self.waiting(signal).take(count);
        counted(signal, "sent", taken);
        counted(signal, "dropped", all - taken);
        refused.map_or(Ok(()), |why| Err((why, None)))
    }
}

fn counted(signal: Signal, outcome: &str, count: u64) {
    if let Some(sight) = &*SIGHT {
        sight.telemetry.with_label_values(&[signal.word(), outcome]).inc_by(count);
    }
}

/// From now on there is somebody to tell, where one is configured.
pub(crate) fn begins(settings: &Telemetry) {
    let Some(endpoint) = &settings.endpoint else { return };
    if OUT.set(Out::new(settings, endpoint)).is_ok() {
        for signal in Signal::ALL {
            counted(signal, "sent", 0);
            counted(signal, "dropped", 0);
        }
    }
}

/// Sends what there is, as long as the process goes on.
pub(crate) async fn goes_on() {
    let Some(out) = OUT.get() else { return };
    let (mut is_said, mut rest) = (false, FIRST_REST);
    loop {
        let _enough = timeout(BEAT, out.enough.notified()).await;
        let (mut failed, mut is_taken) = (None, false);
        for signal in Signal::ALL {
            while let Some(sent) = out.send(signal).await {
                if let Err(why) = out.note(signal, sent) {
                    failed = Some(why);
                    break;
                }
                is_taken = true;
            }
        }
        let lost: u64 = Signal::ALL.map(|signal| std::mem::take(&mut out.waiting(signal).dropped)).iter().sum();
        match failed {
            Some((why, asked)) => {
                if !is_said {
                    let endpoint = out.settings.endpoint.as_deref();
                    tracing::warn!(
                        code = "telemetry_undelivered",
                        endpoint,
                        why,
                        "traces and logs are not taken; what there is no room for is dropped and counted"
                    );
                }
                is_said = true;
                tokio::time::sleep(asked.unwrap_or(rest).min(LONGEST_REST)).await;
                rest = (rest * 2).min(LONGEST_REST);
            }
            None if lost > 0 && !is_said => {
                is_said = true;
                tracing::warn!(code = "telemetry_dropped", lost, "more was to be told than whoever collects it takes");
            }
            // That there was nothing to send says nothing of whoever collects it.
            None if is_taken && lost == 0 => {
                if is_said {
                    tracing::info!(code = "telemetry_delivered", "traces and logs are taken again");
                }
                (is_said, rest) = (false, FIRST_REST);
            }
            None => {}
        }
    }
}

/// Sends what is left, for a while.
pub(crate) async fn ends() {
    let Some(out) = OUT.get() else { return };
    let rest = async {
        for signal in Signal::ALL {
            while let Some(sent) = out.send(signal).await {
                if out.note(signal, sent).is_err() {
                    break;
                }
            }
        }
    };
    let _in_time = timeout(FAREWELL, rest).await;
}

fn attribute(key: &str, value: Value) -> Value {
    json!({"key": key, "value": value})
}

/// Something that is said of a span.
pub(super) struct Attribute(Value);

impl Attribute {
    pub(super) fn text(key: &str, value: String) -> Self {
        Self(attribute(key, json!({"stringValue": value})))
    }

    /// A 64-bit number is a text in this JSON.
    pub(super) fn whole(key: &str, value: u64) -> Self {
        Self(attribute(key, json!({"intValue": value.to_string()})))
    }
}

/// Which side of a message somebody is on.
#[derive(Debug, Clone, Copy)]
pub(super) enum Doing {
    Answers = 2,
    Asks = 3,
}

/// What was done just now, and took so long.
pub(super) struct Span<'t> {
    pub(super) trace: &'t Trace,
    pub(super) name: String,
    pub(super) doing: Doing,
    pub(super) took: Duration,
    pub(super) failed: bool,
    pub(super) attributes: Vec<Attribute>,
}

fn now_nanos() -> u128 {
    u128::try_from(CLOCK.now().micros()).unwrap_or(0) * 1_000
}

/// Tells of something that was done, where anybody is told.
pub(super) fn span<'t>(made: impl FnOnce() -> Span<'t>) {
    let Some(out) = OUT.get().filter(|out| Signal::Traces.is_wanted(&out.settings)) else { return };
    let Span { trace, name, doing, took, failed, attributes } = made();
    let end = now_nanos();
    let mut told = json!({
        "traceId": trace.id,
        "spanId": trace.span,
        "name": name,
        "kind": doing as u8,
        "startTimeUnixNano": end.saturating_sub(took.as_nanos()).to_string(),
        "endTimeUnixNano": end.to_string(),
        "attributes": attributes.into_iter().map(|one| one.0).collect::<Vec<_>>(),
    });
    if let Some(parent) = &trace.parent {
        told["parentSpanId"] = json!(parent);
    }
    if let Some(state) = &trace.state {
        told["traceState"] = json!(state);
    }
    if failed {
        told["status"] = json!({"code": 2});
    }
    out.add(Signal::Traces, &told);
}

/// What a line of the log says.
#[derive(Default)]
struct Said {
    message: String,
    trace: Option<String>,
    span: Option<String>,
    attributes: Vec<Value>,
}

impl Said {
    fn text(&mut self, field: &Field, value: String) {
        match field.name() {
            "message" => self.message = value,
            "trace_id" => self.trace = Some(value),
            "span_id" => self.span = Some(value),
            name => self.attributes.push(attribute(name, json!({"stringValue": value}))),
        }
    }

    fn number(&mut self, field: &Field, value: &impl ToString) {
        self.attributes.push(attribute(field.name(), json!({"intValue": value.to_string()})));
    }
}

impl Visit for Said {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.text(field, value.to_owned());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        match i64::try_from(value) {
            Ok(value) => self.number(field, &value),
            Err(_) => self.text(field, value.to_string()),
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.number(field, &value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.attributes.push(attribute(field.name(), json!({"boolValue": value})));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.text(field, format!("{value:?}"));
    }
}

const fn severity(level: Level) -> u8 {
    match level {
        Level::TRACE => 1,
        Level::DEBUG => 5,
        Level::INFO => 9,
        Level::WARN => 13,
        Level::ERROR => 17,
    }
}

/// Hears each line of the log.
pub(crate) struct Lines;

impl<S: Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let Some(out) = OUT.get().filter(|out| Signal::Logs.is_wanted(&out.settings)) else { return };
        let mut said = Said::default();
        event.record(&mut said);
        let (level, at) = (*event.metadata().level(), now_nanos().to_string());
        said.attributes.push(attribute("target", json!({"stringValue": event.metadata().target()})));
        let mut told = json!({
            "timeUnixNano": at,
            "observedTimeUnixNano": at,
            "severityNumber": severity(level),
            "severityText": level.as_str(),
            "body": {"stringValue": said.message},
            "attributes": said.attributes,
        });
        for (member, value) in [("traceId", said.trace), ("spanId", said.span)] {
            if let Some(value) = value {
                told[member] = json!(value);
            }
        }
        out.add(Signal::Logs, &told);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(status: Option<u16>, said: &str) -> Outcome {
        let problem = status.is_none().then(|| "nobody is there".to_owned());
        Outcome { status, took: Duration::ZERO, said: said.into(), retry_after: None, problem }
    }

    #[test]
    fn what_passes_is_sent_again_and_what_is_refused_is_not() {
        let of = |status, said| fate(&outcome(status, said), Signal::Traces);
        assert_eq!(of(Some(200), "{}"), Fate::Taken(0));
        assert_eq!(of(Some(200), r#"{"partialSuccess":{"rejectedSpans":"3"}}"#), Fate::Taken(3));
        assert_eq!(of(Some(200), r#"{"partialSuccess":{"rejectedSpans":2}}"#), Fate::Taken(2));
        assert_eq!(of(None, ""), Fate::Later("nobody is there".into(), None));
        for status in [429, 502, 503, 504] {
            assert!(matches!(of(Some(status), ""), Fate::Later(..)), "{status}");
        }
        for status in [400, 401, 404, 413, 500] {
            assert!(matches!(of(Some(status), ""), Fate::Refused(_)), "{status}");
        }
    }

    #[test]
    fn what_there_is_no_room_for_is_dropped_and_counted() {
        let mut waiting = Waiting::default();
        for number in 0..MOST + 7 {
            assert_eq!(waiting.add(number.to_string()), number < MOST);
        }
        assert_eq!((waiting.items.len(), waiting.dropped), (MOST, 7));
        waiting.take(MOST + 1);
        assert_eq!((waiting.items.len(), waiting.bytes), (0, 0));
        for _ in 0..9 {
            waiting.add("x".repeat(1 << 20));
        }
        assert_eq!((waiting.items.len(), waiting.bytes, waiting.dropped), (8, MOST_BYTES, 8));
    }
}
