//! Carries what is told to others over HTTP: to addresses that are allowed, and to no other.
//!
//! Owns: whom this server speaks to of its own accord, for how long, and what it listens to of the answer. Refuses: to follow
//! anybody elsewhere, and to know what it carries.

mod places;
mod way;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{DATE, HeaderMap, RETRY_AFTER};
use hyper::{Request, Response};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
pub use places::Places;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};
use way::Way;

/// What is carried.
#[derive(Debug, Clone)]
pub struct Parcel {
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// What was answered; nothing where nothing was.
    pub status: Option<u16>,
    pub took: Duration,
    /// How the answer begins.
    pub said: String,
    /// How long it asks to be left alone.
    pub retry_after: Option<Duration>,
    /// Why there was no answer.
    pub problem: Option<String>,
}

impl Outcome {
    /// Whether it was taken.
    pub fn is_taken(&self) -> bool {
        self.status.is_some_and(|status| (200..300).contains(&status))
    }
}

/// As much of an answer as is listened to.
const HEARD: usize = 512;
/// Longer than this nobody is left alone because they ask for it.
const LONGEST_REST: Duration = Duration::from_hours(24);

pub struct Courier {
    plain: Client<Way, Full<Bytes>>,
    /// Why there is none, where the certificates of the machine cannot be read.
    secure: Result<Client<HttpsConnector<Way>, Full<Bytes>>, String>,
    patience: Duration,
}

impl Courier {
    /// One that goes to these places beside the world, and waits so long for an answer.
    pub fn new(places: Places, patience: Duration) -> Self {
        let way = Way(Arc::new(places));
        let builder = Client::builder(TokioExecutor::new());
        let secure = HttpsConnectorBuilder::new()
            .with_native_roots()
            .map(|tls| builder.build(tls.https_only().enable_http1().wrap_connector(way.clone())))
            .map_err(|error| format!("the machine's certificates cannot be read: {error}"));
        Self { plain: builder.build(way), secure, patience }
    }

    /// Carries it once.
    pub async fn carry(&self, parcel: Parcel) -> Outcome {
        let begun = Instant::now();
        let failed = |problem: String| Outcome {
            status: None,
            took: begun.elapsed(),
            said: String::new(),
            retry_after: None,
            problem: Some(problem),
        };
        let until = begun + self.patience;
        match timeout_at(until, self.exchange(parcel)).await {
            Ok(Ok(answer)) => {
                let (parts, body) = answer.into_parts();
                // What it says is told; whether it took it is said already.
                let said = timeout_at(until, beginning(body)).await.unwrap_or_else(|_| String::new());
                let retry_after = rest(&parts.headers).map(|rest| rest.min(LONGEST_REST));
                Outcome { status: Some(parts.status.as_u16()), took: begun.elapsed(), said, retry_after, problem: None }
            }
            Ok(Err(problem)) => failed(problem),
            Err(_) => failed(format!("there was no answer within {} ms", self.patience.as_millis())),
        }
    }

    async fn exchange(&self, parcel: Parcel) -> Result<Response<Incoming>, String> {
        let is_secure = parcel.url.starts_with("https:");
        let mut request = Request::post(parcel.url);
        for (name, value) in &parcel.headers {
            request = request.header(name, value);
        }
        let request = request.body(Full::new(Bytes::from(parcel.body))).map_err(|error| error.to_string())?;
        let answered = match &self.secure {
            Ok(secure) if is_secure => secure.request(request).await,
            Err(why) if is_secure => return Err(why.clone()),
            _ => self.plain.request(request).await,
        };
        answered.map_err(|error| root(&error))
    }
}

/// What is at the bottom of an error, which says most.
fn root(error: &dyn Error) -> String {
    let mut deepest = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    deepest.to_string()
}

/// How an answer begins, as far as it comes.
async fn beginning(mut body: Incoming) -> String {
    let mut heard = Vec::new();
    while heard.len() < HEARD {
        let Some(Ok(frame)) = body.frame().await else { break };
        if let Some(bytes) = frame.data_ref() {
            heard.extend_from_slice(bytes);
        }
    }
    heard.truncate(HEARD);
    String::from_utf8_lossy(&heard).replace('\0', "\u{fffd}")
}

/// How long somebody asks to be left alone: so many seconds, or until a time, by their own clock.
fn rest(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let said = text(RETRY_AFTER)?.trim();
    if let Ok(seconds) = said.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let (until, now) = (httpdate::parse_http_date(said).ok()?, httpdate::parse_http_date(text(DATE)?).ok()?);
    until.duration_since(now).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    fn headers(pairs: &[(hyper::header::HeaderName, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect()
    }

    #[test]
    fn a_rest_is_in_seconds_or_until_a_time_by_the_clock_of_who_asks() {
        let noon = "Fri, 20 Nov 2026 12:00:00 GMT";
        for (pairs, seconds) in [
            (&[(RETRY_AFTER, "120")][..], Some(120)),
            (&[(RETRY_AFTER, "0")], Some(0)),
            (&[(RETRY_AFTER, "Fri, 20 Nov 2026 12:01:30 GMT"), (DATE, noon)], Some(90)),
            (&[(RETRY_AFTER, "Fri, 20 Nov 2026 11:00:00 GMT"), (DATE, noon)], None),
            (&[(RETRY_AFTER, "Fri, 20 Nov 2026 12:01:30 GMT")], None),
            (&[(RETRY_AFTER, "soon")], None),
            (&[], None),
        ] {
            assert_eq!(rest(&headers(pairs)).map(|rest| rest.as_secs()), seconds, "{pairs:?}");
        }
    }

    /// Somebody who answers each who comes with the same, and counts them.
    async fn somebody(answer: &'static str) -> (String, Arc<std::sync::atomic::AtomicUsize>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://localhost:{}/hook", listener.local_addr().unwrap().port());
        let came = Arc::<std::sync::atomic::AtomicUsize>::default();
        let counted = came.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                counted.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                let mut head = [0; 4096];
                let _read = stream.read(&mut head).await;
                stream.write_all(answer.as_bytes()).await.unwrap();
                if answer.is_empty() {
                    std::future::pending::<()>().await;
                }
            }
        });
        (url, came)
    }

    fn near() -> Courier {
        Courier::new(
            Places::and(vec!["127.0.0.0/8".parse().unwrap(), "::1/128".parse().unwrap()]),
            Duration::from_secs(1),
        )
    }

    fn parcel(url: &str) -> Parcel {
        Parcel { url: url.into(), headers: vec![("webhook-id".into(), "1".into())], body: "{}".into() }
    }

    #[tokio::test]
    async fn nobody_is_spoken_to_who_is_not_allowed_whatever_their_name() {
        let (url, came) = somebody("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
        let strict = Courier::new(Places::default(), Duration::from_secs(1));
        for url in [url.clone(), url.replace("localhost", "127.0.0.1"), url.replace("localhost", "2130706433")] {
            let outcome = strict.carry(parcel(&url)).await;
            assert!(!outcome.is_taken());
            let problem = outcome.problem.unwrap();
            assert!(problem.contains("not an address of the world"), "{url}: {problem}");
            assert_eq!(
                problem.contains("127.0.0.1"),
                url.contains("127.0.0.1"),
                "what a name leads to is not told: {problem}"
            );
        }
        assert_eq!(came.load(std::sync::atomic::Ordering::SeqCst), 0);
        assert!(near().carry(parcel(&url)).await.is_taken());
        assert_eq!(came.load(std::sync::atomic::Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn only_what_is_well_is_taken_and_nobody_is_followed() {
        let (elsewhere, came) = somebody("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
        let moved = format!("HTTP/1.1 302 Found\r\nlocation: {elsewhere}\r\ncontent-length: 0\r\n\r\n");
        for (answer, status, is_taken) in [
            ("HTTP/1.1 204 No Content\r\n\r\n", Some(204), true),
            ("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n<garbage>", Some(200), true),
            ("HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n", Some(500), false),
            (&*moved.leak(), Some(302), false),
            ("what is this", None, false),
            ("", None, false),
        ] {
            let (url, _) = somebody(answer).await;
            let outcome = near().carry(parcel(&url)).await;
            assert_eq!((outcome.status, outcome.is_taken()), (status, is_taken), "{answer}");
            assert_eq!(outcome.problem.is_some(), status.is_none(), "{answer}");
        }
        assert_eq!(came.load(std::sync::atomic::Ordering::SeqCst), 0);
    }
}
