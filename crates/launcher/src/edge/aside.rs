//! A door of its own for who watches over something: few come, and each is answered the same.

use super::ACCEPT_AGAIN;
use super::body::timed;
use super::guest::Guest;
use super::patience::Pace;
use axum::extract::Request;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::future::Future;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// As many as are answered at once; others wait.
const AT_ONCE: usize = 8;
/// As long as somebody may stay.
const STAY: Duration = Duration::from_mins(5);
/// As fast as who has something to say says it.
const PACE: Pace = Pace { idle: Duration::from_secs(10), slowest: 1 << 10 };

/// Answers whoever comes, until `stop` resolves.
pub(crate) async fn serve<F>(
    listener: TcpListener,
    answer: impl Fn(Request) -> F + Clone + Send + Sync + 'static,
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
        let answer = answer.clone();
        supervise::once("an answer aside", async move {
            let _place = place;
            let service = service_fn(|request: hyper::Request<Incoming>| {
                let nobody = Arc::new(Guest::new(0, Weak::new()));
                let answered = answer(request.map(|incoming| timed(incoming, PACE, &nobody)));
                async move { Ok::<_, Infallible>(answered.await) }
            });
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(STAY).max_buf_size(16 * 1024);
            let spoken = http.serve_connection(TokioIo::new(tcp), service);
            // Who stays for longer comes again.
            let _ended = tokio::time::timeout(STAY, spoken).await;
        });
    }
}
