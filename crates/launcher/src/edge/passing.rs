//! A door behind which another server answers: whatever comes is passed on to it, whatever it answers is passed back, and
//! what passed by is told to a witness.
//!
//! Bodies go through as they come. The witness is told once an answer is over, and never waited for: of a body no more is
//! held for it than there is room for.

use super::ACCEPT_AGAIN;
use axum::BoxError;
use axum::body::{Bytes, HttpBody};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::request::Parts;
use axum::http::uri::{Authority, PathAndQuery, Scheme};
use axum::http::{Method, Response, StatusCode, Uri, Version};
use compare::recording::{Held, Passed};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{self, Client};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use ledger_core::clock::Clock;
use std::convert::Infallible;
use std::error::Error;
use std::future::Future;
use std::mem::take;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;

/// As much of a body as is held for the witness.
pub(crate) const HELD: usize = 1 << 20;
/// As much as is held of all bodies together.
const HELD_IN_ALL: usize = 64 << 20;
/// As long as a client may be silent before it asks again, which is for the server behind us to say.
const SILENCE: Duration = Duration::from_mins(10);
/// Shorter than servers keep a connection that nobody uses: one that is ended as it is used fails a request.
const UNUSED: Duration = Duration::from_secs(2);
/// As long as requests in flight may take once no more are let in.
const GRACE: Duration = Duration::from_secs(10);
const MOST_HEADERS: usize = 256;

/// Headers of one connection, which are not passed on.
const OF_THE_CONNECTION: [HeaderName; 7] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    header::TE,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::EXPECT,
];

/// Who is told what passed by.
pub(crate) trait Witness: Send + Sync + 'static {
    /// An answer is over.
    fn saw(&self, seen: Arc<Seen>);

    /// The server behind us did not answer.
    fn heard_nothing(&self, why: &str);
}

/// What passed by, with the room that it takes until nobody needs it any more.
pub(crate) struct Seen {
    pub(crate) passed: Passed,
    _room: Room,
}

struct Room {
    all: Arc<AtomicUsize>,
    taken: usize,
}

impl Room {
    fn take(&mut self, bytes: usize) -> bool {
        if self.all.fetch_add(bytes, Ordering::Relaxed) + bytes > HELD_IN_ALL {
            self.all.fetch_sub(bytes, Ordering::Relaxed);
            return false;
        }
        self.taken += bytes;
        true
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.all.fetch_sub(self.taken, Ordering::Relaxed);
    }
}

enum Way {
    Plain(Client<HttpConnector, Through>),
    Secure(Client<HttpsConnector<HttpConnector>, Through>),
}

impl Way {
    fn to(scheme: &Scheme, keeps_connections: bool) -> Result<Self, String> {
        let mut builder = Client::builder(TokioExecutor::new());
        builder.pool_timer(TokioTimer::new()).pool_idle_timeout(UNUSED);
        if !keeps_connections {
            builder.pool_max_idle_per_host(0);
        }
        builder.http1_preserve_header_case(true).http1_max_headers(MOST_HEADERS);
        let mut http = HttpConnector::new();
        http.set_nodelay(true);
        http.enforce_http(false);
        if *scheme != Scheme::HTTPS {
            return Ok(Self::Plain(builder.build(http)));
        }
        let tls = HttpsConnectorBuilder::new()
            .with_native_roots()
            .map_err(|error| format!("the machine's certificates cannot be read: {error}"))?;
        Ok(Self::Secure(builder.build(tls.https_only().enable_http1().wrap_connector(http))))
    }

    async fn ask(&self, request: hyper::Request<Through>) -> Result<Response<Incoming>, String> {
        let answered = match self {
            Self::Plain(client) => client.request(request).await,
            Self::Secure(client) => client.request(request).await,
        };
        answered.map_err(|error| root(&error))
    }
}

/// The server behind the door.
pub(crate) struct Behind {
    /// For what can be asked again, should a connection that was kept be closed as it is used.
    reading: Way,
    /// For all else: each has a connection of its own, which nobody closes before it is used.
    writer: Way,
    scheme: Scheme,
    authority: Authority,
    /// Whether it is told the name that clients used.
    keep_host: bool,
    held: Arc<AtomicUsize>,
    /// How many requests that may write are on their way.
    writing: Arc<AtomicUsize>,
    clock: Clock,
    witness: Arc<dyn Witness>,
}

impl Behind {
    /// `origin` is scheme, host and port.
    pub(crate) fn new(origin: &str, keep_host: bool, witness: Arc<dyn Witness>) -> Result<Arc<Self>, String> {
        let uri: Uri = origin.parse().map_err(|error| format!("{origin} is no address of a server: {error}"))?;
        let (Some(scheme), Some(authority)) = (uri.scheme(), uri.authority()) else {
            return Err(format!("{origin} is no address of a server, such as http://127.0.0.1:5000"));
        };
        let (reading, writer) = (Way::to(scheme, true)?, Way::to(scheme, false)?);
        let (scheme, authority) = (scheme.clone(), authority.clone());
        let (held, writing) = (Arc::default(), Arc::default());
        Ok(Arc::new(Self {
            reading,
            writer,
            scheme,
            authority,
            keep_host,
            held,
            writing,
            clock: Clock::system(),
            witness,
        }))
    }

    /// How many requests that may write are on their way.
    pub(crate) fn writing(&self) -> Arc<AtomicUsize> {
        self.writing.clone()
    }

    /// Passes on whoever comes until `stop` resolves, then lets requests in flight finish.
    pub(crate) async fn serve(self: Arc<Self>, listener: TcpListener, stop: impl Future<Output = ()>) {
        let connections = GracefulShutdown::new();
        let mut stop = std::pin::pin!(stop);
        loop {
            let accepted = tokio::select! {
                () = &mut stop => break,
                accepted = listener.accept() => accepted,
            };
            let Ok((tcp, _)) = accepted else {
                tokio::time::sleep(ACCEPT_AGAIN).await;
                continue;
            };
            let _slower_only = tcp.set_nodelay(true);
            let (behind, watcher) = (self.clone(), connections.watcher());
            supervise::once("a connection that is passed on", async move {
                let service = service_fn(|request| behind.pass(request));
                let mut http = http1::Builder::new();
                http.timer(TokioTimer::new()).header_read_timeout(SILENCE).max_headers(MOST_HEADERS);
                http.preserve_header_case(true).auto_date_header(false);
                // Who leaves early has ended it.
                let _ended = watcher.watch(http.serve_connection(TokioIo::new(tcp), service)).await;
            });
        }
        drop(listener);
        let _in_time = tokio::time::timeout(GRACE, connections.shutdown()).await;
    }

    async fn pass(&self, request: hyper::Request<Incoming>) -> Result<Response<Through>, Infallible> {
        let (mut parts, body) = request.into_parts();
        let mut exchange = Exchange {
            came: Instant::now(),
            passed: Passed {
                at: self.clock.now().to_string(),
                method: parts.method.to_string(),
                target: parts.uri.path_and_query().map_or("/", PathAndQuery::as_str).to_owned(),
                headers: told(&parts.headers),
                ..Passed::default()
            },
            asked: Arc::default(),
            answer: self.half(),
            is_ended: false,
            witness: self.witness.clone(),
            _writing: (!matches!(parts.method, Method::GET | Method::HEAD)).then(|| Writing::one_more(&self.writing)),
        };
        if let Err(why) = self.address(&mut parts) {
            return Ok(apology(&why));
        }
        let is_repeatable = matches!(parts.method, Method::GET | Method::HEAD) && body.is_end_stream();
        exchange.asked = Arc::new(Mutex::new(self.half()));
        let again = is_repeatable.then(|| parts.clone());
        let body = Through::Asked { body, half: exchange.asked.clone() };
        let way = if is_repeatable { &self.reading } else { &self.writer };
        let mut answered = way.ask(hyper::Request::from_parts(parts, body)).await;
        if let (Err(_), Some(parts)) = (&answered, again) {
            // A connection that was kept may have been closed as it was used. Asking for nothing twice does no harm.
            answered = way.ask(hyper::Request::from_parts(parts, Through::Said(None))).await;
        }
        match answered {
            Ok(answer) => {
                let (mut parts, body) = answer.into_parts();
                (exchange.passed.status, exchange.passed.answer_headers) =
                    (parts.status.as_u16(), told(&parts.headers));
                without_those_of_the_connection(&mut parts.headers);
                parts.version = Version::HTTP_11;
                Ok(Response::from_parts(parts, Through::Answered { body, exchange: Box::new(exchange) }))
            }
            Err(why) => {
                self.witness.heard_nothing(&why);
                let origin = format!("{}://{}", self.scheme, self.authority);
                Ok(apology(&format!("{origin} does not answer: {why}")))
            }
        }
    }

    fn half(&self) -> Half {
        Half { held: Held::default(), room: Room { all: self.held.clone(), taken: 0 } }
    }

    /// Addresses a request to the server behind.
    fn address(&self, parts: &mut Parts) -> Result<(), String> {
        let target = parts.uri.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
        let to = Uri::builder().scheme(self.scheme.clone()).authority(self.authority.clone()).path_and_query(target);
        parts.uri = to.build().map_err(|error| format!("the request cannot be passed on: {error}"))?;
        parts.version = Version::HTTP_11;
        without_those_of_the_connection(&mut parts.headers);
        if !self.keep_host
            && let Ok(host) = HeaderValue::from_str(self.authority.as_str())
        {
            parts.headers.insert(header::HOST, host);
        }
        Ok(())
    }
}

/// What is at the bottom of an error, which says most.
fn root(error: &legacy::Error) -> String {
    let mut deepest: &dyn Error = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    deepest.to_string()
}

fn told(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect()
}

fn without_those_of_the_connection(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named.iter().chain(&OF_THE_CONNECTION) {
        headers.remove(name);
    }
}

/// What a client is told whom nobody behind us answered.
fn apology(why: &str) -> Response<Through> {
    let body = serde_json::json!({"status": 502, "title": why, "errors": {}}).to_string();
    let mut response = Response::new(Through::Said(Some(body.into())));
    *response.status_mut() = StatusCode::BAD_GATEWAY;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"));
    headers.insert("x-error-code", HeaderValue::from_static("bad_gateway"));
    response
}

/// What is held of a body.
struct Half {
    held: Held,
    room: Room,
}

impl Default for Half {
    fn default() -> Self {
        Self { held: Held::default(), room: Room { all: Arc::default(), taken: 0 } }
    }
}

impl Half {
    fn hear(&mut self, bytes: &Bytes) {
        let is_whole = self.held.is_whole();
        self.held.length += bytes.len() as u64;
        let fits = bytes.len().min(HELD.saturating_sub(self.held.bytes.len()));
        if is_whole && fits > 0 && self.room.take(fits) {
            self.held.bytes.extend_from_slice(&bytes[..fits]);
        }
    }
}

/// An exchange until its answer is over.
struct Exchange {
    came: Instant,
    passed: Passed,
    asked: Arc<Mutex<Half>>,
    answer: Half,
    /// Whether all of the answer came.
    is_ended: bool,
    witness: Arc<dyn Witness>,
    /// Until the witness was told of it.
    _writing: Option<Writing>,
}

struct Writing(Arc<AtomicUsize>);

impl Writing {
    fn one_more(all: &Arc<AtomicUsize>) -> Self {
        all.fetch_add(1, Ordering::SeqCst);
        Self(all.clone())
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Exchange {
    fn over(&mut self) {
        let mut passed = take(&mut self.passed);
        let Half { held, room } = take(&mut *lock(&self.asked));
        let mut answer = take(&mut self.answer);
        (passed.body, passed.answer, passed.is_ended) = (held, answer.held, self.is_ended);
        passed.micros = u64::try_from(self.came.elapsed().as_micros()).unwrap_or(u64::MAX);
        answer.room.taken += room.taken;
        let mut room = room;
        room.taken = 0;
        self.witness.saw(Arc::new(Seen { passed, _room: answer.room }));
    }
}

fn lock(half: &Mutex<Half>) -> MutexGuard<'_, Half> {
    half.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A body on its way through.
enum Through {
    Asked { body: Incoming, half: Arc<Mutex<Half>> },
    Answered { body: Incoming, exchange: Box<Exchange> },
    Said(Option<Bytes>),
}

impl HttpBody for Through {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let frame = match &mut *self {
            Self::Asked { body, .. } | Self::Answered { body, .. } => ready!(Pin::new(body).poll_frame(context)),
            Self::Said(said) => return Poll::Ready(said.take().map(|bytes| Ok(Frame::data(bytes)))),
        };
        if let (None, Self::Answered { exchange, .. }) = (&frame, &mut *self) {
            exchange.is_ended = true;
        }
        if let Some(bytes) = frame.as_ref().and_then(|frame| frame.as_ref().ok()?.data_ref()) {
            match &mut *self {
                Self::Asked { half, .. } => lock(half).hear(bytes),
                Self::Answered { exchange, .. } => exchange.answer.hear(bytes),
                Self::Said(_) => {}
            }
        }
        Poll::Ready(frame.map(|frame| frame.map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Asked { body, .. } | Self::Answered { body, .. } => body.is_end_stream(),
            Self::Said(said) => said.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Asked { body, .. } | Self::Answered { body, .. } => body.size_hint(),
            Self::Said(said) => SizeHint::with_exact(said.as_ref().map_or(0, |bytes| bytes.len() as u64)),
        }
    }
}

impl Drop for Through {
    fn drop(&mut self) {
        if let Self::Answered { body, exchange } = self {
            exchange.is_ended |= body.is_end_stream();
            exchange.over();
        }
    }
}
