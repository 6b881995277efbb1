//! The edge: where connections come in, who is let in, and how long anybody may keep us waiting.
//!
//! Everything that is served passes here, so that what a client may hold is decided in one place, before it is known what
//! the client wants. Owns: the accept loop, the timers of HTTP/1.1, the word for those whom there is no place for. Refuses:
//! to wait for a place, and to know what is served.

mod admission;
pub(crate) mod aside;
mod body;
mod guest;
pub(crate) mod passing;
mod patience;
mod stream;

use crate::config::Settings;
use crate::mount::Site;
use crate::tls::Certificate;
use admission::{Admission, Place, Places};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use body::{Answering, timed};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use patience::Pace;
use std::convert::Infallible;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use stream::{BUSY, Stream, TOO_SLOW, Wire};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_rustls::TlsAcceptor;

/// The site that new requests see. Requests that run keep the one they began with.
#[derive(Clone)]
pub(crate) struct Current(Arc<RwLock<Arc<Site>>>);

impl Current {
    pub(crate) fn new(site: Site) -> Self {
        Self(Arc::new(RwLock::new(Arc::new(site))))
    }

    pub(crate) fn swap(&self, site: Site) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(site);
    }

    fn get(&self) -> Arc<Site> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// As many newcomers as the kernel keeps until we look.
const BACKLOG: u32 = 4096;

/// As many as are told at once, each in a connection of its own, that there is no place for them. Health has its places here.
const MOST_TOLD: usize = 256;
/// As long as one of them may take to say what it wants.
const TOLD_WITHIN: Duration = Duration::from_secs(2);

/// As long as a client is heard out that was answered before it had said all.
const HEARD_OUT: Duration = Duration::from_secs(30);

/// Where no connection could be accepted and nobody leaves, it is something else that holds what is missing.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

/// As much as TLS holds of what a client does not take.
const UNSENT_BY_TLS: usize = 16 << 10;

/// File handles for all that is no connection: the database, the log.
const OTHER_HANDLES: u64 = 256;

/// Raises how many files the process may have open, which is often far below what it could have.
fn raise_handles(places: usize) {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let wanted = (places as u64) + (MOST_TOLD as u64) + OTHER_HANDLES;
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < wanted) {
        limit.current = Some(limit.maximum.map_or(wanted, |maximum| maximum.min(wanted)));
        let is_raised = setrlimit(Resource::Nofile, limit).is_ok();
        if !is_raised || limit.current.is_some_and(|current| current < wanted) {
            tracing::warn!(wanted, "the process may not open as many files as Limits:MaxConnections asks for");
        }
    }
}

/// What all doors have in common.
pub(crate) struct Edge {
    admission: Arc<Admission>,
    told: Arc<Semaphore>,
    header: Duration,
    sending: Pace,
    taking: Pace,
    grace: Duration,
    current: Current,
}

/// Where connections come in, and whether they speak TLS.
pub(crate) struct Door {
    pub(crate) listener: TcpListener,
    pub(crate) certificate: Option<Arc<Certificate>>,
}

pub(crate) fn bind(address: SocketAddr) -> Result<TcpListener, String> {
    let bound = || {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        socket.listen(BACKLOG)
    };
    bound().map_err(|error: std::io::Error| format!("cannot listen on {address}: {error}"))
}

/// Where it turned out to be, where any free port was asked for.
pub(crate) fn place_of(listener: &TcpListener) -> Result<SocketAddr, String> {
    listener.local_addr().map_err(|error| error.to_string())
}

/// Where somebody is served.
enum Seat {
    Place(Place),
    /// Only to be told that there is no place.
    Told(Place, OwnedSemaphorePermit),
}

impl Edge {
    pub(crate) fn new(settings: &Settings, current: Current) -> Arc<Self> {
        raise_handles(settings.max_connections);
        let places = Places {
            all: settings.max_connections,
            strangers: settings.anonymous_connections,
            of_address: settings.connections_per_address,
            of_account: settings.connections_per_account,
        };
        let pace = |idle| Pace { idle, slowest: settings.slowest_rate };
        Arc::new(Self {
            admission: Admission::new(places),
            told: Arc::new(Semaphore::new(MOST_TOLD)),
            header: settings.header_timeout,
            sending: pace(settings.body_idle),
            taking: pace(settings.answer_idle),
            grace: settings.shutdown_grace,
            current,
        })
    }

    /// Serves until `stop` resolves, then lets requests in flight finish within the grace.
    pub(crate) async fn serve(self: Arc<Self>, door: Door, stop: impl Future<Output = ()>) {
        let Door { listener, certificate } = door;
        let connections = GracefulShutdown::new();
        let mut stop = std::pin::pin!(stop);
        let (mut refused, mut unaccepted) = (Refused::default(), Refused::default());
        loop {
            let accepted = tokio::select! {
                () = &mut stop => break,
                accepted = listener.accept() => accepted,
            };
            let (tcp, peer) = match accepted {
                Ok((tcp, peer)) => (tcp, peer.ip()),
                Err(error) => {
                    // Out of file handles, most likely: somebody has to make room, and whoever leaves has made some.
                    unaccepted.one_more(&error);
                    self.admission.shrink();
                    let _left = tokio::time::timeout(ACCEPT_AGAIN, self.admission.is_left()).await;
                    continue;
                }
            };
            let Some(seat) = self.seat(peer, &mut refused) else {
                // Not even that: those who come now are too many to be heard.
                let _unread = tcp.try_write(BUSY);
                continue;
            };
            let tls = certificate.as_ref().map(|certificate| TlsAcceptor::from(certificate.current()));
            let conversation = self.clone().converse(tcp, peer, seat, tls, connections.watcher());
            tokio::spawn(conversation);
        }
        drop(listener);
        if tokio::time::timeout(self.grace, connections.shutdown()).await.is_err() {
            tracing::warn!("requests were still running when the grace was over");
        }
    }

    fn seat(&self, peer: IpAddr, refused: &mut Refused) -> Option<Seat> {
        let is_proxy = self.current.get().trusts(peer);
        if let Some(place) = self.admission.admit((!is_proxy).then_some(peer)) {
            return Some(Seat::Place(place));
        }
        refused.one_more(&"there was no place");
        let permit = self.told.clone().try_acquire_owned().ok()?;
        Some(Seat::Told(Place::outside(), permit))
    }

    /// All that happens on a connection, until it is closed.
    async fn converse(
        self: Arc<Self>,
        tcp: TcpStream,
        peer: IpAddr,
        seat: Seat,
        tls: Option<TlsAcceptor>,
        watcher: Watcher,
    ) {
        let (place, told) = match seat {
            Seat::Place(place) => (place, None),
            Seat::Told(place, permit) => (place, Some(permit)),
        };
        let guest = place.guest().clone();
        let wire = Wire::new(tcp, guest.clone());
        let is_plain = tls.is_none();
        let stream = Stream::new(wire.clone(), self.taking);
        let spoken = self.speak(stream, peer, &place, told.is_some(), tls, watcher);
        let ended = tokio::select! {
            ended = spoken => ended,
            () = guest.is_to_leave() => Ended::SentAway,
        };
        let word: &[u8] = match ended {
            Ended::Broken => return,
            Ended::TooSlow if is_plain => TOO_SLOW,
            Ended::SentAway if is_plain => BUSY,
            Ended::Well | Ended::TooSlow | Ended::SentAway => &[],
        };
        wire.say(word);
        if matches!(ended, Ended::SentAway) {
            return wire.dismiss();
        }
        let (idle, at_most) = if told.is_some() { (TOLD_WITHIN, TOLD_WITHIN) } else { (self.sending.idle, HEARD_OUT) };
        tokio::select! {
            () = wire.hear_out(idle, at_most) => {}
            () = guest.is_to_leave() => {}
        }
    }

    async fn speak(
        &self,
        stream: Stream,
        peer: IpAddr,
        place: &Place,
        told: bool,
        tls: Option<TlsAcceptor>,
        watcher: Watcher,
    ) -> Ended {
        let patience = if told { self.header.min(TOLD_WITHIN) } else { self.header };
        let mut http = http1::Builder::new();
        // hyper's header timeout is void without a timer.
        http.timer(TokioTimer::new()).header_read_timeout(patience).max_buf_size(64 * 1024).keep_alive(!told);
        let service = service_fn(|request| self.answer(request, peer, place, told, tls.is_some()));
        let ended = match &tls {
            None => watcher.watch(http.serve_connection(TokioIo::new(stream), service)).await,
            Some(acceptor) => {
                let spoken = acceptor.accept_with(stream, |tls| tls.set_buffer_limit(Some(UNSENT_BY_TLS)));
                // Who dawdles here holds a connection as well.
                let Ok(Ok(stream)) = tokio::time::timeout(patience, spoken).await else {
                    tracing::debug!(%peer, "a connection did not come to speak TLS");
                    return Ended::Broken;
                };
                watcher.watch(http.serve_connection(TokioIo::new(stream), service)).await
            }
        };
        let Err(error) = ended else { return Ended::Well };
        tracing::debug!(%error, %peer, "a connection ended early");
        if error.is_timeout() { Ended::TooSlow } else { Ended::Broken }
    }

    async fn answer(
        &self,
        request: hyper::Request<Incoming>,
        peer: IpAddr,
        place: &Place,
        told: bool,
        secure: bool,
    ) -> Result<Response<Answering>, Infallible> {
        let guest = place.guest().clone();
        guest.asks();
        // Looked up for each request, so that a kept-alive connection sees a new configuration.
        let site = self.current.get();
        let announced =
            request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        let mut request = request.map(|incoming| timed(incoming, self.sending, &guest));
        let of_proxy = !told && site.trusts(peer);
        let client = site.client(&request, peer);
        let mut response = if told || (of_proxy && !guest.is_asked_for(Some(client))) {
            site.decline(request, peer).await
        } else {
            request.extensions_mut().insert::<http_kit::request::Guest>(guest.clone());
            site.answer(request, peer).await
        };
        if secure {
            response.headers_mut().insert(header::STRICT_TRANSPORT_SECURITY, TWO_YEARS);
        }
        // Of what is not read a little may be passed over; the rest is the end of the connection.
        if guest.has_unread_body() && announced.is_none_or(|length: usize| length > PASSED_OVER) {
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        Ok(response.map(|body| Answering { body, guest, of_proxy }))
    }
}

/// As much of a body as hyper takes in with the head.
const PASSED_OVER: usize = 4 << 10;

/// How a conversation ended.
enum Ended {
    Well,
    TooSlow,
    SentAway,
    /// There is nobody to say anything to.
    Broken,
}

/// Whoever came by TLS once is not to come without it.
const TWO_YEARS: HeaderValue = HeaderValue::from_static("max-age=63072000");

/// Those who could not be let in, told to the log now and then.
#[derive(Default)]
struct Refused {
    count: u64,
    told: Option<tokio::time::Instant>,
}

impl Refused {
    fn one_more(&mut self, why: &dyn std::fmt::Display) {
        self.count += 1;
        if self.told.is_none_or(|told| told.elapsed() >= Duration::from_secs(10)) {
            tracing::warn!(code = "connections_refused", count = self.count, %why, "connections were refused");
            (self.count, self.told) = (0, Some(tokio::time::Instant::now()));
        }
    }
}
