//! A door of its own for who watches over the server: few come, and each is answered the same.

use super::{ACCEPT_AGAIN, TOLD_WITHIN};
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// As many as are answered at once; others wait.
const AT_ONCE: usize = 8;
/// As long as somebody may stay.
const STAY: Duration = Duration::from_mins(5);

/// Answers whoever comes by the method and the path that they ask for, until `stop` resolves.
pub(crate) async fn serve<F>(
    listener: TcpListener,
    answer: impl Fn(hyper::Method, String) -> F + Copy + Send + Sync + 'static,
    stop: impl Future<Output = ()>,
) where
    F: Future<Output = Response> + Send,
{
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = async {
            let place = places.clone().acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            () = &mut stop => return,
            accepted = accepted => accepted,
        };
        let Ok((tcp, _)) = accepted else {
            tokio::time::sleep(ACCEPT_AGAIN).await;
            continue;
        };
        supervise::once("an answer about the server", async move {
            let _place = place;
            let service = service_fn(|request: hyper::Request<Incoming>| async move {
                let answered = answer(request.method().clone(), request.uri().path().to_owned()).await;
                Ok::<_, Infallible>(answered)
            });
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(TOLD_WITHIN.max(STAY / 5)).max_buf_size(16 * 1024);
            let spoken = http.serve_connection(TokioIo::new(tcp), service);
            // Who stays for longer comes again.
            let _ended = tokio::time::timeout(STAY, spoken).await;
        });
    }
}
