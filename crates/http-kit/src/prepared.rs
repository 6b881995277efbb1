//! What is the same for everybody: held once, shared by all who read it, and compressed once in each way.

use async_compression::Level;
use async_compression::tokio::bufread::{BrotliEncoder, GzipEncoder, ZstdEncoder};
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use futures_util::FutureExt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::OnceCell;

/// Not worth compressing.
const SHORT: usize = 860;

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
    plain: Bytes,
    /// As it is kept already.
    is_gzip: bool,
    compressed: [OnceCell<Bytes>; CODINGS.len()],
    tag: HeaderValue,
}

impl Prepared {
    pub(crate) fn of(plain: impl Into<Bytes>) -> Self {
        Self::kept(plain.into(), false)
    }

    /// Gzipped already, and sent so whatever the client accepts: every browser that can make use of it does.
    pub(crate) fn of_gzip(gzip: &'static [u8]) -> Self {
        Self::kept(gzip.into(), true)
    }

    fn kept(plain: Bytes, is_gzip: bool) -> Self {
        let tag =
            HeaderValue::from_str(&format!("\"{}\"", digest(&plain))).unwrap_or(HeaderValue::from_static("\"0\""));
        Self(Arc::new(Inner { plain, is_gzip, compressed: Default::default(), tag }))
    }

    /// In a form that the client takes; nothing where the client has it already and asks so.
    pub(crate) async fn answer(&self, asked: &HeaderMap, headers: &[(header::HeaderName, &'static str)]) -> Response {
        let inner = &self.0;
        let known = asked.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let is_known =
            known.split(',').any(|known| known.trim().trim_start_matches("W/").as_bytes() == inner.tag.as_bytes());
        let (body, coding) = if is_known { (None, None) } else { self.form(asked).await };
        let mut response = Response::new(body.map_or_else(Body::empty, Body::from));
        if is_known {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        }
        let said = response.headers_mut();
        said.insert(header::ETAG, inner.tag.clone());
        said.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        said.extend(coding.map(|name| (header::CONTENT_ENCODING, HeaderValue::from_static(name))));
        said.extend(headers.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))));
        response
    }

    async fn form(&self, asked: &HeaderMap) -> (Option<Bytes>, Option<&'static str>) {
        let inner = &self.0;
        if inner.is_gzip {
            return (Some(inner.plain.clone()), Some("gzip"));
        }
        let wanted = CODINGS.iter().zip(&inner.compressed).find(|((_, name), _)| takes(asked, name));
        let Some(((coding, name), form)) = wanted.filter(|_| inner.plain.len() > SHORT) else {
            return (Some(inner.plain.clone()), None);
        };
        // Whoever comes meanwhile waits for it: a second time is never worth it.
        let made = form.get_or_try_init(|| {
            let (coding, plain) = (*coding, inner.plain.clone());
            async move { tokio::task::spawn_blocking(move || compressed(coding, &plain)).await.ok().flatten().ok_or(()) }
        });
        match made.await {
            Ok(made) => (Some(made.clone()), Some(name)),
            Err(()) => (Some(inner.plain.clone()), None),
        }
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

fn compressed(coding: Coding, plain: &[u8]) -> Option<Bytes> {
    async fn all(mut made: impl AsyncRead + Unpin) -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        made.read_to_end(&mut bytes).await?;
        bytes.shrink_to_fit();
        Ok(bytes)
    }
    // Nothing is waited for: all of it is here.
    let made = match coding {
        Coding::Brotli => all(BrotliEncoder::with_quality(plain, Level::Precise(5))).now_or_never(),
        Coding::Zstd => all(ZstdEncoder::with_quality(plain, Level::Precise(9))).now_or_never(),
        Coding::Gzip => all(GzipEncoder::with_quality(plain, Level::Default)).now_or_never(),
    };
    made?.ok().map(Bytes::from)
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
}
