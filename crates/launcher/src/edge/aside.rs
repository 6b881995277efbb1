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
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::Instant;

/// As many as are answered at once; others wait.
const AT_ONCE: usize = 8;
/// As long as somebody may stay.
const STAY: Duration = Duration::from_mins(5);
/// As long as what somebody asked for may take once they stayed for so long.
const LONGEST: Duration = Duration::from_hours(1);
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
            speak(tcp, answer).await;
        });
    }
}

/// Answers one who came, as long as they may stay.
async fn speak<F>(stream: impl AsyncRead + AsyncWrite + Unpin, answer: impl Fn(Request) -> F)
where
    F: Future<Output = Response>,
{
    let working = AtomicBool::new(false);
    let service = service_fn(|request: hyper::Request<Incoming>| {
        let nobody = Arc::new(Guest::new(0, Weak::new()));
        let answered = answer(request.map(|incoming| timed(incoming, PACE, &nobody)));
        let working = &working;
        async move {
            working.store(true, Ordering::Relaxed);
            let answer = answered.await;
            working.store(false, Ordering::Relaxed);
            Ok::<_, Infallible>(answer)
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(STAY).max_buf_size(16 * 1024);
    let mut spoken = std::pin::pin!(http.serve_connection(TokioIo::new(stream), service));
    if tokio::time::timeout(STAY, spoken.as_mut()).await.is_err() {
        // Who stays for longer has their answer first, and as long again to read it, and comes again.
        spoken.as_mut().graceful_shutdown();
        let end = Instant::now() + LONGEST;
        loop {
            let is_made = !working.load(Ordering::Relaxed) || Instant::now() >= end;
            if tokio::time::timeout(STAY, spoken.as_mut()).await.is_ok() || is_made {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    /// Asks over one connection for something that takes so long, each time after a pause; the last answer.
    async fn answered(pauses: &[Duration], long: Duration) -> String {
        let (mut client, server) = tokio::io::duplex(1 << 16);
        let answer = move |_| async move {
            tokio::time::sleep(long).await;
            Response::new("done".into())
        };
        let asking = async {
            let mut said = String::new();
            for pause in pauses {
                tokio::time::sleep(*pause).await;
                client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
                let mut read = [0; 1 << 10];
                let length = client.read(&mut read).await.unwrap();
                said = String::from_utf8_lossy(&read[..length]).into_owned();
                assert!(said.ends_with("done"), "{said}");
            }
            said
        };
        tokio::join!(asking, speak(server, answer)).0
    }

    #[tokio::test(start_paused = true)]
    async fn who_stays_too_long_has_their_answer_first() {
        let (now, long) = (Duration::ZERO, Duration::from_secs(20));
        let stays = answered(&[now, Duration::from_mins(1)], long).await;
        assert!(!stays.contains("connection: close"), "{stays}");
        let goes = answered(&[now, STAY.saturating_sub(long * 3 / 2)], long).await;
        assert!(goes.contains("connection: close"), "{goes}");
        // What takes longer than anybody may stay is answered as well.
        answered(&[now], STAY * 5 / 2).await;
    }
}
