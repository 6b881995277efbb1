//! The site: which path belongs to which dialect, and what every answer carries.

use crate::compare::page::{self as compare_page, Page};
use crate::config::{Retiring, Settings};
use crate::dialects::Spoken;
use crate::documents;
use crate::front;
use crate::retirement::{DEPRECATION, Retirement, SUNSET};
use crate::sight::{self, Answered};
use crate::tenants::{Books, normal_host};
use axum::Router;
use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::http::uri::Authority;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, Uri, Version, header};
use axum::middleware::map_request;
use axum::response::Response;
use axum::routing::get;
use console::Demo;
use http_kit::dialect::CompanyIn;
use http_kit::failure::Failure;
use http_kit::handler::{Caller, Operation, ahead, failed_plainly};
use http_kit::pages;
use http_kit::request::{
    AT_LEAST_SEQUENCE, Arrival, BUSINESS_ID, DECIMAL_FORMAT, DRY_RUN, ERROR_CODE, IDEMPOTENCY_KEY,
    IDEMPOTENCY_REPLAYED, LAST_EVENT_ID, LEDGER_SEQUENCE, RATE_LIMIT, RATE_LIMIT_REMAINING, RATE_LIMIT_RESET,
    REQUEST_ID, WITHHELD,
};
use http_kit::trace::{TRACEPARENT, TRACESTATE, Trace};
use ledger_core::error::{Error, Unavailable};
use ledger_core::quoting::quoted;
use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;
use tower::ServiceExt;
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};
use tower_http::cors::{AllowOrigin, CorsLayer};

/// All that is served, as the configuration stands. A change of configuration makes a new one.
pub(crate) struct Site {
    mounts: Vec<Mount>,
    shared: Option<String>,
    pages: Router,
    /// Whether the console is at the root.
    nowhere: pages::Nowhere,
    compare: Option<Page>,
    books: Arc<Books>,
    trusted_proxies: Vec<ipnet::IpNet>,
    /// Whether everybody knows a password here.
    is_demo: bool,
}

/// A dialect under its prefix.
struct Mount {
    dialect: &'static Spoken,
    prefix: String,
    router: Router,
    /// What its paths begin with.
    beginnings: HashSet<String>,
    retirement: Option<Retirement>,
}

impl Mount {
    fn of(dialect: &'static Spoken, prefix: &str, cors_origins: &[String], retiring: &Retiring) -> Self {
        let router = (dialect.router)().layer(compression()).layer(map_request(in_any_form));
        // The layer answers every OPTIONS, so it is only there when it is wanted.
        let router = if cors_origins.is_empty() { router } else { router.layer(cors(cors_origins)) };
        let (prefix, beginnings) = (prefix.to_owned(), (dialect.beginnings)());
        Self { dialect, prefix, router, beginnings, retirement: Retirement::of(retiring) }
    }
}

impl Site {
    pub(crate) fn new(settings: &Settings, books: &Arc<Books>, demo: Option<Demo>) -> Self {
        let dialects = &settings.dialects;
        let has_front = front::is_there(dialects);
        let home = pages::Home {
            version: env!("CARGO_PKG_VERSION").into(),
            dialects: dialects
                .served()
                .map(|(_, dialect, base)| pages::Served {
                    name: format!("Dialect {}", dialect.letter),
                    base: base.to_owned(),
                    login_path: dialect.login_path.to_owned(),
                    login_name: (dialect.login_name)(),
                    failure: dialect.failure,
                })
                .collect(),
            shared: dialects.shared.clone(),
            note: (!has_front).then(front::missing),
            visitor: demo.and_then(|demo| front::visitor(dialects, demo)),
        };
        let compare = Page::of(settings);
        let extras = compare.as_ref().map(Page::pages).unwrap_or_default();
        let front = has_front.then(|| front::of(dialects, pages::tour(true, &extras), demo));
        let pages = pages::router(documents::served(dialects), &home, front::guide(), extras, front, console::STYLE);
        let nowhere = pages.nowhere;
        let pages = pages.router.route("/healthz", get(|| async { "ok" })).route(
            "/readyz",
            get({
                let books = books.clone();
                move || ready(books)
            }),
        );
        Self {
            mounts: dialects
                .served()
                .map(|(place, dialect, prefix)| {
                    Mount::of(dialect, prefix, &settings.cors_origins, &settings.retiring[place])
                })
                .collect(),
            shared: dialects.shared.clone(),
            pages,
            nowhere,
            compare,
            books: books.clone(),
            trusted_proxies: settings.trusted_proxies.clone(),
            is_demo: demo.is_some(),
        }
    }

    pub(crate) async fn answer(self: &Arc<Self>, mut request: Request, peer: IpAddr) -> Response {
        let (came, in_flight) = (Instant::now(), sight::begins());
        let arrival = self.arrival(&request, peer);
        let method = request.method().clone();
        sight::remember(&method, &arrival);
        request.extensions_mut().insert(arrival.clone());
        let response = self.served(request, &arrival, peer).await;
        drop(in_flight);
        self.told(response, &method, &arrival, came)
    }

    /// Answers somebody whom there is no place for: how the server is, and else that it is busy.
    pub(crate) async fn decline(self: &Arc<Self>, request: Request, peer: IpAddr) -> Response {
        if is_about_health(request.uri().path()) {
            return self.answer(request, peer).await;
        }
        let (came, arrival) = (Instant::now(), self.arrival(&request, peer));
        let busy = self.refuse(&arrival, Error::Unavailable(Unavailable::Overloaded).into());
        self.told(busy, request.method(), &arrival, came)
    }

    fn arrival(&self, request: &Request, peer: IpAddr) -> Arrival {
        let (path, request_id) = (request.uri().path().to_owned(), ledger_core::ids::request_id());
        Arrival {
            path,
            trace: Trace::of(request.headers(), &request_id),
            request_id,
            client_request_id: client_request_id(request),
            address: self.client(request, peer),
        }
    }

    /// Finishes an answer, and tells the one event that there is of its request.
    fn told(&self, response: Response, method: &Method, arrival: &Arrival, came: Instant) -> Response {
        let response = finish(response, method, arrival);
        let told = response.extensions();
        let event = Answered {
            arrival,
            method,
            dialect: self.find(&arrival.path).map(|(mount, _)| mount.dialect.letter),
            operation: told.get().map(|Operation(operation)| &**operation),
            is_about_health: is_about_health(&arrival.path),
            status: response.status(),
            code: response.headers().get(ERROR_CODE).and_then(|code| code.to_str().ok()),
            took: came.elapsed(),
            bytes: response.body().size_hint().exact(),
            tenant: told.get().map(|Tenant(host)| &**host),
            caller: told.get::<Caller>().copied().unwrap_or_default(),
        };
        event.tell();
        response
    }

    async fn served(self: &Arc<Self>, mut request: Request, arrival: &Arrival, peer: IpAddr) -> Response {
        if !names_one_host(&request) {
            return self.refuse(arrival, Error::field("Host", "must be given once").into());
        }
        // Whoever asks whether the process is well knows no tenant.
        if is_about_health(&arrival.path) {
            return self.dispatch(request, arrival, peer).await;
        }
        let host = self.host(&request, peer);
        if matches!(&*self.books, Books::Many(_)) && self.is_of_anybody(&request, arrival) {
            request = match ahead(request).await {
                Ok(request) => request,
                Err(failure) => return self.refuse(arrival, failure),
            };
        }
        // A page of somebody else's may give this machine another name, and ask as if it were its own.
        if self.is_demo && host.as_deref().is_some_and(|host| !is_this_machine(host)) {
            return self.refuse(arrival, Failure::unknown_host());
        }
        let held = match self.books.of(host.as_deref().unwrap_or_default(), !request.method().is_safe()).await {
            Ok(held) => held,
            Err(failure) => return self.refuse(arrival, failure),
        };
        let tenant = host.filter(|_| matches!(&*self.books, Books::Many(_))).map(|host| Tenant(host.into()));
        let now = held.shell.ledger.now();
        request.extensions_mut().insert(held.shell.clone());
        let retirement = self.find(&arrival.path).and_then(|(mount, _)| mount.retirement.as_ref());
        let Some(retirement) = retirement else {
            let mut response = self.dispatch(request, arrival, peer).await;
            tenant.and_then(|tenant| response.extensions_mut().insert(tenant));
            return response;
        };
        let mut response = if retirement.is_gone(now) {
            self.refuse(arrival, Failure::gone())
        } else {
            self.dispatch(request, arrival, peer).await
        };
        tenant.and_then(|tenant| response.extensions_mut().insert(tenant));
        retirement.mark(&mut response, now);
        response
    }

    fn is_of_anybody(&self, request: &Request, arrival: &Arrival) -> bool {
        let found = self.find(&arrival.path);
        request.method() == Method::POST && found.is_some_and(|(mount, rest)| mount.dialect.of_anybody.contains(&rest))
    }

    /// The host that the client asked for; of a proxy of ours, the one that it was asked for.
    fn host(&self, request: &Request, peer: IpAddr) -> Option<String> {
        let trusted = self.trusts(peer);
        let mut forwarded = request.headers().get_all("x-forwarded-host").iter().filter(|_| trusted);
        let given = match (forwarded.next(), forwarded.next()) {
            (Some(one), None) => one.to_str().ok(),
            // Two of them are a riddle.
            (Some(_), Some(_)) => None,
            (None, _) => {
                let named = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
                request.uri().authority().map(Authority::as_str).or(named)
            }
        };
        normal_host(given?)
    }

    async fn dispatch(self: &Arc<Self>, mut request: Request, arrival: &Arrival, peer: IpAddr) -> Response {
        let Some((mount, rest)) = self.find(&arrival.path) else {
            if let (Some(page), Some(asked)) = (&self.compare, arrival.path.strip_prefix(compare_page::API)) {
                return page.answer(self, asked, request, arrival, peer).await;
            }
            let reads_html = is_read_by_a_person(&request);
            let response = self.pages.clone().oneshot(request).await.unwrap_or_else(|never| match never {});
            return match response.status() {
                StatusCode::NOT_FOUND if reads_html => self.nowhere.answer().await,
                StatusCode::NOT_FOUND => failed_plainly(arrival, Failure::not_found()),
                StatusCode::METHOD_NOT_ALLOWED => {
                    let allow = response.headers().get(header::ALLOW).cloned();
                    let mut refused = failed_plainly(arrival, Failure::method_not_allowed());
                    refused.headers_mut().extend(allow.map(|allow| (header::ALLOW, allow)));
                    refused
                }
                _ => response,
            };
        };
        match below(request.uri(), rest) {
            Some(uri) => *request.uri_mut() = uri,
            None => return self.refuse(arrival, Failure::not_found()),
        }
        mount.router.clone().oneshot(request).await.unwrap_or_else(|never| match never {})
    }

    /// A failure in the words of the dialect that the path belongs to, or in nobody's.
    fn refuse(&self, arrival: &Arrival, failure: Failure) -> Response {
        match self.find(&arrival.path) {
            Some((mount, _)) => (mount.dialect.failed)(Some(arrival), failure),
            None => failed_plainly(arrival, failure),
        }
    }

    /// The dialect a path belongs to, and the path within it.
    fn find<'s, 'p>(&'s self, path: &'p str) -> Option<(&'s Mount, &'p str)> {
        for mount in &self.mounts {
            if let Some(rest) = within(path, &mount.prefix) {
                return Some((mount, rest));
            }
        }
        let rest = within(path, self.shared.as_deref()?)?;
        let first = rest.trim_start_matches('/').split('/').next().unwrap_or_default();
        // What begins no path is a company, or at least nobody's but theirs who have companies there.
        let named = self.mounts.iter().find(|mount| mount.beginnings.contains(first));
        let of_companies = || self.mounts.iter().find(|mount| mount.dialect.company_in == CompanyIn::Path);
        named.or_else(of_companies).or(self.mounts.first()).map(|mount| (mount, rest))
    }

    /// Whether somebody is a proxy of ours.
    pub(crate) fn trusts(&self, address: IpAddr) -> bool {
        self.trusted_proxies.iter().any(|network| network.contains(&address))
    }

    /// The client's address: the last hop that is not a proxy of ours.
    pub(crate) fn client(&self, request: &Request, peer: IpAddr) -> IpAddr {
        if !self.trusts(peer) {
            return peer;
        }
        let forwarded = request.headers().get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok());
        let hops: Vec<&str> = forwarded.flat_map(|value| value.split(',')).map(str::trim).collect();
        let mut client = peer;
        for hop in hops.into_iter().rev() {
            let Ok(address) = hop.parse() else { break };
            client = address;
            if !self.trusts(address) {
                break;
            }
        }
        client
    }
}

/// Whose books a request was about, where there are those of many.
#[derive(Clone)]
struct Tenant(Arc<str>);

/// Whether it is a browser that opens a page, which a person then looks at.
fn is_read_by_a_person(request: &Request) -> bool {
    let accepted = request.headers().get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    request.method() == Method::GET && accepted.is_some_and(|accept| accept.contains("text/html"))
}

fn is_about_health(path: &str) -> bool {
    matches!(path, "/healthz" | "/readyz")
}

/// What follows a prefix, where the path lies under it.
fn within<'p>(path: &'p str, prefix: &str) -> Option<&'p str> {
    path.strip_prefix(prefix).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn below(uri: &Uri, rest: &str) -> Option<Uri> {
    let path = if rest.is_empty() { "/" } else { rest };
    match uri.query() {
        Some(query) => format!("{path}?{query}").parse().ok(),
        None => path.parse().ok(),
    }
}

/// Whether a host stands for the machine that asks.
fn is_this_machine(host: &str) -> bool {
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

fn names_one_host(request: &Request) -> bool {
    let given = request.headers().get_all(header::HOST).iter().count();
    given == 1 || given == 0 && request.version() != Version::HTTP_11
}

/// What the client calls the request. It is quoted, and never taken for a name of ours.
fn client_request_id(request: &Request) -> Option<String> {
    let given = request.headers().get(REQUEST_ID)?;
    let text = String::from_utf8_lossy(given.as_bytes());
    let plain: String = text.chars().map(|letter| if letter.is_control() { '?' } else { letter }).collect();
    Some(quoted(&plain).into_owned()).filter(|id| !id.is_empty())
}

/// What the answer is called by: as the client called it, where that can be said back; else as we do.
fn called(arrival: &Arrival) -> &str {
    let sane =
        |id: &&str| id.len() <= 64 && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    arrival.client_request_id.as_deref().filter(sane).unwrap_or(&arrival.request_id)
}

fn finish(mut response: Response, method: &Method, arrival: &Arrival) -> Response {
    if *method == Method::OPTIONS && response.status() == StatusCode::METHOD_NOT_ALLOWED {
        let allow = response.headers().get(header::ALLOW).cloned();
        response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        response.headers_mut().extend(allow.map(|allow| (header::ALLOW, allow)));
    }
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(called(arrival)) {
        headers.insert(REQUEST_ID, id);
    }
    // Pages bring their own policy; an API answer opened in a browser may do nothing at all.
    let quiet = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'; frame-ancestors 'none'"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    for (name, value) in quiet {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

/// Of answers that are made for one client alone, so that they are compressed in passing: at once, and in little memory. What is
/// told as it happens is not held back until there is enough of it to compress.
fn compression() -> CompressionLayer<impl Predicate> {
    let which = SizeAbove::new(860).and(NotForContentType::SSE);
    CompressionLayer::new().quality(CompressionLevel::Fastest).compress_when(which)
}

/// Who refuses every form of an answer, such as by `*;q=0`, is answered as it is. What compresses would say 406 of it, and that
/// of a write that is in the books by then.
async fn in_any_form(mut request: Request) -> Request {
    let said: Vec<&str> =
        request.headers().get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok()).collect();
    let codings = || said.iter().flat_map(|value| value.split(',')).map(str::trim);
    let refuses = |coding: &&str| {
        let mut words = coding.split(';').map(str::trim);
        let is_plain = words.next().is_some_and(|name| name == "*" || name.eq_ignore_ascii_case("identity"));
        let is_nothing = |word: &str| word.trim_start_matches(['q', 'Q', '=', ' ']).trim_matches(['0', '.']).is_empty();
        is_plain && words.any(is_nothing)
    };
    if codings().any(|coding| refuses(&coding)) {
        let taken = codings().filter(|coding| !refuses(coding)).collect::<Vec<_>>().join(", ");
        match HeaderValue::from_str(&taken) {
            Ok(taken) if !taken.is_empty() => drop(request.headers_mut().insert(header::ACCEPT_ENCODING, taken)),
            _ => drop(request.headers_mut().remove(header::ACCEPT_ENCODING)),
        }
    }
    request
}

/// Pages of exactly these origins may call.
fn cors(origins: &[String]) -> CorsLayer {
    let exposed: [HeaderName; 20] = [
        header::ALLOW,
        header::DATE,
        header::ETAG,
        header::LOCATION,
        header::LINK,
        header::RETRY_AFTER,
        REQUEST_ID,
        ERROR_CODE,
        IDEMPOTENCY_REPLAYED,
        WITHHELD,
        DRY_RUN,
        DECIMAL_FORMAT,
        LEDGER_SEQUENCE,
        RATE_LIMIT,
        RATE_LIMIT_REMAINING,
        RATE_LIMIT_RESET,
        DEPRECATION,
        SUNSET,
        header::WARNING,
        header::WWW_AUTHENTICATE,
    ];
    CorsLayer::new()
        .allow_origin(AllowOrigin::list(origins.iter().filter_map(|origin| origin.parse().ok())))
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::DELETE])
        .allow_headers([
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            header::IF_MATCH,
            header::IF_NONE_MATCH,
            BUSINESS_ID,
            IDEMPOTENCY_KEY,
            LAST_EVENT_ID,
            DECIMAL_FORMAT,
            AT_LEAST_SEQUENCE,
            REQUEST_ID,
            TRACEPARENT,
            TRACESTATE,
        ])
        .expose_headers(exposed)
}

async fn ready(books: Arc<Books>) -> (StatusCode, &'static str) {
    match books.readiness().await {
        Ok(()) => (StatusCode::OK, "ready"),
        Err(why) => (StatusCode::SERVICE_UNAVAILABLE, why),
    }
}
