//! What is the same for everybody: made once, held once, shared by all who read it, and compressed once in each way.
//!
//! What is long is made by the first who asks for it, and kept: whoever asks afterwards waits for nothing, so a crowd that reads
//! slowly holds no more than its connections.

use async_compression::Level;
use async_compression::tokio::bufread::{BrotliEncoder, GzipEncoder, ZstdEncoder};
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::FutureExt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::OnceCell;

/// Not worth compressing.
const SHORT: usize = 860;

/// Makes what is long, when somebody asks for it.
pub type Make = Arc<dyn Fn() -> String + Send + Sync>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coding {
    Brotli,
    Zstd,
    Gzip,
}

/// The first that a client takes is what it gets.
const CODINGS: [(Coding, &str); 3] = [(Coding::Brotli, "br"), (Coding::Zstd, "zstd"), (Coding::Gzip, "gzip")];

#[derive(Clone)]
pub(crate) struct Prepared(Arc<Inner>);

struct Inner {
    /// What is made when it is asked for; nothing where it was here from the beginning.
    make: Option<Make>,
    text: OnceCell<Arc<Text>>,
}

/// How a text is held.
enum Whole {
    Plain(Bytes),
    /// As it came.
    Gzip(Bytes),
}

struct Text {
    whole: Whole,
    compressed: [OnceCell<Bytes>; CODINGS.len()],
    tag: HeaderValue,
}

impl Text {
    fn of(whole: Whole, tag: &str) -> Self {
        let tag = HeaderValue::from_str(&format!("\"{tag}\"")).unwrap_or(HeaderValue::from_static("\"0\""));
        Self { whole, compressed: Default::default(), tag }
    }

    fn as_it_is(plain: Bytes) -> Self {
        let tag = digest(&plain);
        Self::of(Whole::Plain(plain), &tag)
    }

    /// All of it, for who compresses it in another way.
    fn plain(&self) -> Option<Bytes> {
        match &self.whole {
            Whole::Plain(plain) => Some(plain.clone()),
            Whole::Gzip(_) => None,
        }
    }

    /// In a form that the client takes, and what that is called.
    async fn form(self: &Arc<Self>, asked: &HeaderMap) -> (Body, Option<&'static str>) {
        if let Whole::Gzip(gzip) = &self.whole {
            return (gzip.clone().into(), Some("gzip"));
        }
        let is_long = match &self.whole {
            Whole::Plain(plain) => plain.len() > SHORT,
            Whole::Gzip(_) => true,
        };
        let wanted = CODINGS.iter().zip(&self.compressed).find(|((_, name), _)| takes(asked, name));
        if let Some(((coding, name), form)) = wanted.filter(|_| is_long) {
            // Whoever comes meanwhile waits for it: a second time is never worth it.
            let made = form.get_or_try_init(|| {
                let (coding, text) = (*coding, self.clone());
                async move {
                    let made = tokio::task::spawn_blocking(move || compressed(coding, &text.plain()?));
                    made.await.ok().flatten().ok_or(())
                }
            });
            if let Ok(made) = made.await {
                return (made.clone().into(), Some(name));
            }
        }
        let body = match &self.whole {
            Whole::Plain(plain) | Whole::Gzip(plain) => plain.clone().into(),
        };
        (body, None)
    }
}

impl Prepared {
    pub(crate) fn of(plain: impl Into<Bytes>) -> Self {
        Self::held(Text::as_it_is(plain.into()))
    }

    /// Gzipped already, and sent so whatever the client accepts: every browser that can make use of it does.
    pub(crate) fn of_gzip(gzip: &'static [u8]) -> Self {
        Self::held(Text::of(Whole::Gzip(gzip.into()), &digest(gzip)))
    }

    /// Made by the first who asks for it.
    pub(crate) fn later(make: Make) -> Self {
        Self(Arc::new(Inner { make: Some(make), text: OnceCell::new() }))
    }

    fn held(text: Text) -> Self {
        Self(Arc::new(Inner { make: None, text: OnceCell::new_with(Some(Arc::new(text))) }))
    }

    async fn text(&self) -> Option<Arc<Text>> {
        let make = || async {
            let make = self.0.make.clone().ok_or(())?;
            let made = tokio::task::spawn_blocking(move || Text::as_it_is(make().into()));
            made.await.map(Arc::new).map_err(drop)
        };
        self.0.text.get_or_try_init(make).await.ok().cloned()
    }

    /// In a form that the client takes; nothing where the client has it already and asks so.
    pub(crate) async fn answer(&self, asked: &HeaderMap, headers: &[(header::HeaderName, &'static str)]) -> Response {
        let Some(text) = self.text().await else {
            tracing::error!("what is the same for everybody cannot be made");
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        };
        let known = asked.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let is_known =
            known.split(',').any(|known| known.trim().trim_start_matches("W/").as_bytes() == text.tag.as_bytes());
        let (body, coding) = if is_known { (Body::empty(), None) } else { text.form(asked).await };
        let mut response = Response::new(body);
        if is_known {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        }
        let said = response.headers_mut();
        said.insert(header::ETAG, text.tag.clone());
        said.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        said.extend(coding.map(|name| (header::CONTENT_ENCODING, HeaderValue::from_static(name))));
        said.extend(headers.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))));
        response
    }
}

pub(crate) fn digest(bytes: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Whether a client takes a coding: it names it, or everything, and does not say that it would rather not.
fn takes(asked: &HeaderMap, coding: &str) -> bool {
    let values = asked.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let offers = values.flat_map(|value| value.split(',')).map(|offer| {
        let mut parts = offer.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        (name, weight.is_none_or(|weight| weight.bytes().any(|digit| (b'1'..=b'9').contains(&digit))))
    });
    let mut of_all = false;
    for (name, wanted) in offers {
        if name.eq_ignore_ascii_case(coding) {
            return wanted;
        }
        of_all |= name == "*" && wanted;
    }
    of_all
}

/// All that is read; nothing is waited for, since it is here.
fn all(mut made: impl AsyncRead + Unpin) -> Option<Bytes> {
    let mut bytes = Vec::new();
    made.read_to_end(&mut bytes).now_or_never()?.ok()?;
    bytes.shrink_to_fit();
    Some(bytes.into())
}

fn compressed(coding: Coding, plain: &[u8]) -> Option<Bytes> {
    match coding {
        Coding::Brotli => all(BrotliEncoder::with_quality(plain, Level::Precise(5))),
        Coding::Zstd => all(ZstdEncoder::with_quality(plain, Level::Precise(9))),
        Coding::Gzip => all(GzipEncoder::with_quality(plain, Level::Default)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt;

    fn asking(accepted: &str) -> HeaderMap {
        [(header::ACCEPT_ENCODING, HeaderValue::from_str(accepted).unwrap())].into_iter().collect()
    }

    #[test]
    fn a_client_gets_what_it_takes() {
        for (accepted, br, gzip) in [
            ("gzip, deflate, br, zstd", true, true),
            ("gzip;q=1.0, br;q=0", false, true),
            ("*", true, true),
            ("*;q=0", false, false),
            ("gzip;q=0, *", true, false),
            ("br;q=0.001", true, false),
            ("", false, false),
        ] {
            assert_eq!((takes(&asking(accepted), "br"), takes(&asking(accepted), "gzip")), (br, gzip), "{accepted}");
        }
    }

    #[tokio::test]
    async fn all_readers_share_one_copy_of_each_form() {
        let prepared = Prepared::of("the same again and again ".repeat(1000));
        for (accepted, coding) in [("", None), ("br", Some("br")), ("zstd", Some("zstd")), ("gzip", Some("gzip"))] {
            let mut places = Vec::new();
            for _ in 0..2 {
                let response = prepared.answer(&asking(accepted), &[]).await;
                let told = response.headers().get(header::CONTENT_ENCODING).map(|coding| coding.to_str().unwrap());
                assert_eq!(told, coding);
                let frame = response.into_body().frame().await.unwrap().unwrap().into_data().unwrap();
                assert_eq!(frame.len() < 1000, coding.is_some());
                places.push((frame.as_ptr(), frame));
            }
            assert_eq!(places[0].0, places[1].0, "{accepted}");
        }
        let mut again = asking("br");
        let tag = prepared.answer(&again, &[]).await.headers()[header::ETAG].clone();
        again.insert(header::IF_NONE_MATCH, tag);
        assert_eq!(prepared.answer(&again, &[]).await.status(), StatusCode::NOT_MODIFIED);
    }

    #[tokio::test]
    async fn what_is_long_is_made_once_when_it_is_asked_for_and_kept() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let made = Arc::new(AtomicUsize::new(0));
        let numbers = (0..60_000_u32).map(|number| number.wrapping_mul(2_654_435_761).to_string());
        let text = numbers.collect::<Vec<_>>().join(" ");
        let make: Make = {
            let (made, text) = (made.clone(), text.clone());
            Arc::new(move || {
                made.fetch_add(1, Ordering::Relaxed);
                text.clone()
            })
        };
        let prepared = Prepared::later(make);
        assert_eq!(made.load(Ordering::Relaxed), 0, "nobody has asked");
        for accepted in ["", "gzip", "", "br", "zstd", "gzip"] {
            let response = prepared.answer(&asking(accepted), &[]).await;
            let coding = response.headers().get(header::CONTENT_ENCODING).cloned();
            let whole = response.into_body().collect().await.unwrap().to_bytes();
            match coding {
                None => assert!(whole == text.as_bytes()),
                Some(coding) => assert_eq!(coding, accepted),
            }
        }
        assert_eq!(made.load(Ordering::Relaxed), 1);
        let held = prepared.text().await.unwrap();
        // Whoever reads it as it is waits for nothing, and shares it with all others.
        assert!(matches!(&held.whole, Whole::Plain(plain) if *plain == text.as_bytes()));
        let other = Prepared::later(Arc::new(|| panic!("on purpose")));
        assert_eq!(other.answer(&asking(""), &[]).await.status(), StatusCode::INTERNAL_SERVER_ERROR);
    }
}
