//! The accept loop: HTTP/1.1 with the timers that keep slow clients from holding us.

use crate::config::Settings;
use crate::mount::Site;
use crate::stream::SharedStream;
use crate::tls::Certificate;
use axum::body::Body;
use axum::http::{HeaderValue, header};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use std::convert::Infallible;
use std::future::Future;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
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

/// Where connections come in, and whether they speak TLS.
pub(crate) struct Door {
    pub(crate) listener: TcpListener,
    pub(crate) certificate: Option<Arc<Certificate>>,
    /// How many connections there may be through all doors together.
    pub(crate) slots: Arc<Semaphore>,
}

/// Serves until `stop` resolves, then lets requests in flight finish within the grace.
pub(crate) async fn serve(door: Door, settings: &Settings, current: Current, stop: impl Future<Output = ()>) {
    let Door { listener, certificate, slots } = door;
    let mut http = http1::Builder::new();
    // hyper's header timeout is void without a timer.
    http.timer(TokioTimer::new()).header_read_timeout(settings.header_timeout).max_buf_size(64 * 1024);
    let connections = GracefulShutdown::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = tokio::select! {
            () = &mut stop => break,
            accepted = accept(&listener, &slots) => accepted,
        };
        let Some((stream, peer, slot)) = accepted else { continue };
        let current = current.clone();
        let secure = certificate.is_some();
        let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
            // Looked up for each request, so that a kept-alive connection sees a new configuration.
            let site = current.get();
            async move {
                let mut response = site.answer(request.map(Body::new), peer.ip()).await;
                if secure {
                    response.headers_mut().insert(header::STRICT_TRANSPORT_SECURITY, TWO_YEARS);
                }
                Ok::<_, Infallible>(response)
            }
        });
        let watcher = connections.watcher();
        let (http, patience) = (http.clone(), settings.header_timeout);
        let Some(certificate) = &certificate else {
            let stream = SharedStream::new(stream);
            let connection = watcher.watch(http.serve_connection(TokioIo::new(stream.clone()), service));
            tokio::spawn(async move {
                let _slot = slot;
                if let Err(error) = connection.await {
                    if error.is_timeout() {
                        stream.refuse_slowness();
                    }
                    tracing::debug!(%error, %peer, "a connection ended early");
                }
            });
            continue;
        };
        let acceptor = TlsAcceptor::from(certificate.current());
        tokio::spawn(async move {
            let _slot = slot;
            // Who dawdles here holds a connection as well.
            let Ok(Ok(stream)) = tokio::time::timeout(patience, acceptor.accept(stream)).await else {
                tracing::debug!(%peer, "a connection did not come to speak TLS");
                return;
            };
            if let Err(error) = watcher.watch(http.serve_connection(TokioIo::new(stream), service)).await {
                tracing::debug!(%error, %peer, "a connection ended early");
            }
        });
    }
    drop(listener);
    if tokio::time::timeout(settings.shutdown_grace, connections.shutdown()).await.is_err() {
        tracing::warn!("requests were still running when the grace was over");
    }
}

/// Whoever came by TLS once is not to come without it.
const TWO_YEARS: HeaderValue = HeaderValue::from_static("max-age=63072000");

type Accepted = (tokio::net::TcpStream, std::net::SocketAddr, tokio::sync::OwnedSemaphorePermit);

/// The next connection, once there is a slot for it: the kernel's queue is where the others wait.
async fn accept(listener: &TcpListener, slots: &Arc<Semaphore>) -> Option<Accepted> {
    let slot = slots.clone().acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, peer)) => {
            let _slower_only = stream.set_nodelay(true);
            Some((stream, peer, slot))
        }
        Err(error) => {
            // Out of file handles, most likely: give others the time to end.
            tracing::warn!(%error, "a connection could not be accepted");
            tokio::time::sleep(Duration::from_millis(50)).await;
            None
        }
    }
}
