//! What was found so far, at an address of its own.

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use compare::shadow::{STYLE, Watched, finished, followed, live};
use std::net::IpAddr;
use std::sync::Arc;

const POLICY: &str =
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Answers who looks.
pub(super) async fn answer(watched: Arc<Watched>, asked: Parts) -> Response {
    // A name of somebody else's that leads here is a page of theirs that wants to read it.
    if !is_of_this_machine(asked.headers.get(header::HOST)) {
        return said(StatusCode::MISDIRECTED_REQUEST, "text/plain; charset=utf-8", "ask for 127.0.0.1\n".into());
    }
    if asked.method != Method::GET {
        return said(StatusCode::METHOD_NOT_ALLOWED, "text/plain; charset=utf-8", "there is only GET here\n".into());
    }
    let made = move |make: fn(&Watched) -> String| tokio::task::spawn_blocking(move || make(&watched));
    let is_to_keep = asked.uri.path() != "/";
    let (media, making) = match asked.uri.path() {
        "/" if asked.uri.query() == Some("follow") => ("text/html; charset=utf-8", made(followed)),
        "/" => ("text/html; charset=utf-8", made(live)),
        "/report.html" => ("text/html; charset=utf-8", made(finished)),
        "/report.json" => ("application/json; charset=utf-8", made(|watched| watched.json().to_string())),
        "/report.xml" => ("application/xml; charset=utf-8", made(|watched| watched.report().junit())),
        "/style.css" => return said(StatusCode::OK, "text/css; charset=utf-8", STYLE.to_owned()),
        _ => return said(StatusCode::NOT_FOUND, "text/plain; charset=utf-8", "the page is at /\n".into()),
    };
    match making.await {
        Ok(text) => {
            let mut response = said(StatusCode::OK, media, text);
            if is_to_keep {
                let kept = HeaderValue::from_static("attachment");
                response.headers_mut().insert(header::CONTENT_DISPOSITION, kept);
            }
            response
        }
        Err(_) => said(StatusCode::INTERNAL_SERVER_ERROR, "text/plain; charset=utf-8", "it cannot be told\n".into()),
    }
}

fn is_of_this_machine(host: Option<&HeaderValue>) -> bool {
    let Some(host) = host.and_then(|host| host.to_str().ok()) else { return false };
    let name = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    let name = name.map_or(host, |(name, _)| name);
    let address = name.trim_matches(['[', ']']).parse::<IpAddr>();
    name == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

fn said(status: StatusCode, media: &'static str, text: String) -> Response {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, media),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
