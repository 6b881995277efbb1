//! What is the same for everybody: made once, held once, shared by all who read it, and compressed once in each way.
//!
//! What is long is made by the first who asks for it, and kept: whoever asks afterwards waits for nothing, so a crowd that reads
//! slowly holds no more than its connections.

use async_compression::Level;
use async_compression::tokio::bufread::{BrotliEncoder, GzipDecoder, GzipEncoder, ZstdEncoder};
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::FutureExt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::{Mutex, OnceCell};

/// Not worth compressing.
const SHORT: usize = 860;

/// Makes what is long, when somebody asks for it.
pub type Make = Arc<dyn Fn() -> String + Send + Sync>;

/// Where a long text comes from.
pub enum Source {
    Made(Make),
    /// It was there when the program was built, and is in it, gzipped.
    Packed(&'static [u8]),
}

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
    /// Gzipped, and for as long as somebody reads it plain, plain for all of these.
    Packed(Bytes, Mutex<Shared>),
}

/// How long a text is kept that was unpacked, whoever reads it: who asks for one again and again has it unpacked so often.
const KEPT: Duration = Duration::from_secs(1);

/// Who finds it let go at the very moment has it unpacked once more.
const TRIED: usize = 3;

/// What is unpacked now.
#[derive(Default)]
struct Shared {
    read: Weak<Vec<u8>>,
    kept: Option<Arc<Vec<u8>>>,
}

/// A text for all who read it now.
struct Unpacked(Arc<Vec<u8>>);

impl AsRef<[u8]> for Unpacked {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
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

    fn packed(gzip: &'static [u8]) -> Self {
        let mut text = Self::of(Whole::Packed(gzip.into(), Mutex::default()), &digest(gzip));
        let forms = CODINGS.iter().zip(&mut text.compressed);
        for (_, form) in forms.filter(|((coding, _), _)| *coding == Coding::Gzip) {
            *form = OnceCell::new_with(Some(gzip.into()));
        }
        text
    }

    /// All of it, for who takes it so or compresses it in another way.
    async fn plain(self: &Arc<Self>) -> Option<Bytes> {
        match &self.whole {
            Whole::Plain(plain) => Some(plain.clone()),
            Whole::Gzip(_) => None,
            Whole::Packed(_, shared) => {
                for _ in 0..TRIED {
                    let read = shared.lock().await.read.upgrade();
                    if let Some(read) = read {
                        return Some(Bytes::from_owner(Unpacked(read)));
                    }
                    // It goes on without whoever asked for it first.
                    let text = self.clone();
                    supervise::once("what is unpacked", async move { text.unpack().await }).await.ok()?;
                }
                None
            }
        }
    }

    /// Unpacks it where nobody reads it yet. Whoever comes meanwhile waits for it.
    async fn unpack(self: Arc<Self>) {
        let Whole::Packed(gzip, shared) = &self.whole else { return };
        let mut shared = shared.lock().await;
        if shared.read.strong_count() > 0 {
            return;
        }
        let gzip = gzip.clone();
        let Ok(Some(read)) = tokio::task::spawn_blocking(move || unpacked(&gzip)).await else { return };
        let read = Arc::new(read);
        *shared = Shared { read: Arc::downgrade(&read), kept: Some(read) };
        drop(shared);
        supervise::once("what was unpacked", async move {
            tokio::time::sleep(KEPT).await;
            if let Whole::Packed(_, shared) = &self.whole {
                shared.lock().await.kept = None;
            }
        });
    }

    /// In a form that the client takes, and what that is called; nothing where there is no reading it.
    async fn form(self: &Arc<Self>, asked: &HeaderMap) -> Option<(Body, Option<&'static str>)> {
        if let Whole::Gzip(gzip) = &self.whole {
            return Some((gzip.clone().into(), Some("gzip")));
        }
        let is_long = !matches!(&self.whole, Whole::Plain(plain) if plain.len() <= SHORT);
        let wanted = CODINGS.iter().zip(&self.compressed).find(|((_, name), _)| takes(asked, name));
        if let Some(((coding, name), form)) = wanted.filter(|_| is_long) {
            // Whoever comes meanwhile waits for it: a second time is never worth it.
            let made = form.get_or_try_init(|| {
                let (coding, text) = (*coding, self.clone());
                async move {
                    let plain = text.plain().await.ok_or(())?;
                    let made = tokio::task::spawn_blocking(move || compressed(coding, &plain));
                    made.await.ok().flatten().ok_or(())
                }
            });
            if let Ok(made) = made.await {
                return Some((made.clone().into(), Some(name)));
            }
        }
        Some((self.plain().await?.into(), None))
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

    /// What is in the program is unpacked for who takes it plain.
    pub(crate) fn from(source: Source) -> Self {
        match source {
            Source::Made(make) => Self::later(make),
            Source::Packed(gzip) => Self::held(Text::packed(gzip)),
        }
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
        let form = if is_known { Some((Body::empty(), None)) } else { text.form(asked).await };
        let Some((body, coding)) = form else {
            tracing::error!("what is the same for everybody cannot be read");
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        };
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
fn read_all(mut made: impl AsyncRead + Unpin) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    made.read_to_end(&mut bytes).now_or_never()?.ok()?;
    bytes.shrink_to_fit();
    Some(bytes)
}

fn all(made: impl AsyncRead + Unpin) -> Option<Bytes> {
    read_all(made).map(Bytes::from)
}

/// What was gzipped.
pub fn unpacked(gzip: &[u8]) -> Option<Vec<u8>> {
    read_all(GzipDecoder::new(gzip))
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

    #[tokio::test(start_paused = true)]
    async fn what_is_packed_is_read_in_every_form_and_plain_by_all_at_once() {
        let text = "the same again and again ".repeat(1000);
        let gzip: &'static [u8] = Box::leak(compressed(Coding::Gzip, text.as_bytes()).unwrap().to_vec().into());
        let prepared = Prepared::from(Source::Packed(gzip));
        for (accepted, coding) in [("", None), ("br", Some("br")), ("zstd", Some("zstd")), ("gzip", Some("gzip"))] {
            let response = prepared.answer(&asking(accepted), &[]).await;
            let told = response.headers().get(header::CONTENT_ENCODING).cloned();
            assert_eq!(told, coding.map(HeaderValue::from_static));
            let whole = response.into_body().collect().await.unwrap().to_bytes();
            match coding {
                None => assert!(whole == text.as_bytes()),
                Some("gzip") => assert!(whole == gzip),
                Some(_) => assert!(whole.len() < 1000),
            }
        }
        let held = prepared.text().await.unwrap();
        let place = async || held.plain().await.unwrap().as_ptr();
        assert_eq!(place().await, place().await, "it is unpacked once");
        let reading = held.plain().await.unwrap();
        tokio::time::sleep(2 * KEPT).await;
        assert_eq!(place().await, reading.as_ptr(), "who comes reads what somebody reads");
        drop(reading);
        let Whole::Packed(_, shared) = &held.whole else { panic!("it is not packed") };
        assert!(shared.lock().await.read.upgrade().is_none(), "nobody reads it, and it is kept");
        // What cannot be read is no answer.
        let damaged = Prepared::from(Source::Packed(b"no gzip"));
        assert_eq!(damaged.answer(&asking(""), &[]).await.status(), StatusCode::INTERNAL_SERVER_ERROR);
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
