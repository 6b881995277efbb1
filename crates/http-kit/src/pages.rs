//! What the host root shows: a home page, Swagger UI, Redoc and the documents they read.
//!
//! Owns: the embedded assets and the policy that keeps the pages from asking any other host. Refuses: to
//! render a document that is not on its own list, and to hold a script inline.

use crate::failure::Failure;
pub use crate::prepared::Make;
use crate::prepared::{Prepared, digest};
use axum::Router;
use axum::http::{HeaderMap, HeaderName, StatusCode, Uri, header};
use axum::response::Response;
use axum::routing::{MethodRouter, get};
use std::sync::Arc;

/// A document that the pages can show.
pub struct Document {
    pub path: String,
    pub title: String,
    /// Made when it is first asked for.
    pub json: Make,
    /// Whether the pages offer it; the others are only served.
    pub listed: bool,
}

/// A page beside the documentation.
pub struct Extra {
    pub path: &'static str,
    pub title: &'static str,
    /// What the home page says of it.
    pub about: &'static str,
    /// HTML without a script in it.
    pub body: Make,
    pub style: &'static str,
    pub script: Option<&'static str>,
}

/// A page of the guide, below `GUIDE`.
pub struct Chapter {
    /// Nothing for the first, which leads to all of them.
    pub name: &'static str,
    pub title: &'static str,
    /// HTML without a script in it.
    pub body: Make,
}

/// The pages at the root, where there are any: one page for all views, and its files.
pub struct Front {
    /// Every view has a path of its own below this one.
    pub views: &'static str,
    pub files: Vec<FrontFile>,
    /// The page, told in which folder the files are.
    pub page: Box<dyn Fn(&str) -> String>,
}

pub struct FrontFile {
    pub name: &'static str,
    pub media_type: &'static str,
    pub text: &'static str,
}

/// A title and the path of its document.
type Offer = (String, String);

/// What the home page tells.
pub struct Home {
    pub version: String,
    pub dialects: Vec<Served>,
    pub shared: Option<String>,
    /// What else is to be said of this installation.
    pub note: Option<String>,
}

/// A dialect that is served.
#[derive(Clone)]
pub struct Served {
    /// Such as `Dialect A`.
    pub name: String,
    pub base: String,
    /// Below the base.
    pub login_path: String,
    /// What its log-in calls who logs in.
    pub login_name: String,
    /// The body of a failure.
    pub failure: fn(&Failure) -> String,
}

/// Only what this server sends may run or be asked for.
pub const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                       font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; frame-ancestors 'none'; \
                       base-uri 'none'; form-action 'none'; object-src 'none'";

/// Of pages that are written by us alone: no style inline, no text that becomes HTML.
const STRICT_CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
                          connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; \
                          object-src 'none'; require-trusted-types-for 'script'";

/// Where the page is that tells of the installation, beside a front.
pub const ABOUT: &str = "/about";

/// Where the guide begins.
pub const GUIDE: &str = "/docs";

struct Asset {
    path: &'static str,
    media_type: &'static str,
    bytes: &'static [u8],
    gzipped: bool,
}

macro_rules! asset {
    ($path:literal, $file:literal, $media_type:literal, $gzipped:literal) => {
        Asset {
            path: $path,
            media_type: $media_type,
            bytes: include_bytes!(concat!("../assets/", $file)),
            gzipped: $gzipped,
        }
    };
}

// The version is in the path, so that a browser may keep an asset for good.
const ASSETS: &[Asset] = &[
    asset!("/swagger/assets/5.35.0/swagger-ui-bundle.js", "swagger-ui-bundle.js.gz", "text/javascript", true),
    asset!(
        "/swagger/assets/5.35.0/standalone-preset.js",
        "swagger-ui-standalone-preset.js.gz",
        "text/javascript",
        true
    ),
    asset!("/swagger/assets/5.35.0/swagger-ui.css", "swagger-ui.css.gz", "text/css", true),
    asset!("/swagger/assets/init-1.js", "swagger-init.js", "text/javascript", false),
    asset!("/redoc/assets/2.5.4/redoc.standalone.js", "redoc.standalone.js.gz", "text/javascript", true),
    asset!("/redoc/assets/init-2.js", "redoc-init.js", "text/javascript", false),
    asset!("/assets/pages-3.css", "pages.css", "text/css", false),
    asset!("/assets/bar-3.css", "bar.css", "text/css", false),
    asset!("/favicon.svg", "favicon.svg", "image/svg+xml", false),
];

/// What the bar of every page leads to: the front, where there is one, what tells of the installation, and the rest.
pub fn tour(has_front: bool, extras: &[Extra]) -> Vec<(String, String)> {
    let front: &[(&str, &str)] = if has_front { &[("/", "Console"), (ABOUT, "About")] } else { &[("/", "About")] };
    let own = front
        .iter()
        .chain(&[(GUIDE, "Guide"), ("/swagger", "Swagger"), ("/redoc", "Redoc"), ("/errors", "Errors")])
        .copied();
    let others = extras.iter().map(|extra| (extra.path, extra.title));
    own.chain(others).map(|(path, title)| (path.to_owned(), title.to_owned())).collect()
}

/// All pages. The first document is the one they open with.
pub fn router(
    documents: Vec<Document>,
    home: &Home,
    guide: Vec<Chapter>,
    extras: Vec<Extra>,
    front: Option<Front>,
) -> Router {
    let bar = bar(&tour(front.is_some(), &extras));
    let listed = documents.iter().filter(|document| document.listed);
    let offered: Arc<Vec<Offer>> =
        Arc::new(listed.map(|document| (document.title.clone(), document.path.clone())).collect());
    let swagger = swagger_page(&bar, &offered);
    let about = fixed(page("Duet", Some(HOME_STYLE), &(bar.clone() + &home_body(home, &offered, &extras))));
    let mut router = match front {
        Some(front) => fronted(front).route(ABOUT, about),
        None => Router::new().route("/", about),
    };
    for path in ["/swagger", "/swagger/", "/swagger/index.html"] {
        router = router.route(path, fixed(swagger.clone()));
    }
    let shown: Arc<Vec<Prepared>> =
        Arc::new(offered.iter().map(|(_, path)| Prepared::of(redoc_page(&bar, path))).collect());
    for path in ["/redoc", "/redoc/", "/redoc/index.html"] {
        let (offered, shown) = (offered.clone(), shown.clone());
        let page = move |uri: Uri, headers: HeaderMap| async move {
            match shown.get(chosen(&offered, uri.query().unwrap_or_default())) {
                Some(page) => Ok(page.answer(&headers, &PAGE).await),
                None => Err(StatusCode::NOT_FOUND),
            }
        };
        router = router.route(path, get(page));
    }
    for Document { path, json, .. } in documents {
        router = router.route(&path, same(Prepared::later(json), &DOCUMENT));
    }
    router = router.merge(crate::catalogue::routes(&bar, &home.dialects));
    for Chapter { name, title, body } in guide {
        let bar = bar.clone();
        let whole = move || page(title, Some(HOME_STYLE), &(bar.clone() + &body()));
        let shown = Prepared::later(Arc::new(whole));
        let path = if name.is_empty() { GUIDE.to_owned() } else { format!("{GUIDE}/{name}") };
        for path in [path.clone(), path + "/"] {
            router = router.route(&path, same(shown.clone(), &STRICT));
        }
    }
    for asset in ASSETS {
        let prepared = if asset.gzipped { Prepared::of_gzip(asset.bytes) } else { Prepared::of(asset.bytes) };
        router = router.route(asset.path, kept_for_good(asset.media_type, prepared));
    }
    for extra in extras {
        let mut route = |text: &'static str, kind: &'static str| {
            // What is in it is in its path, so that a browser may keep it for good.
            let path = format!("/assets/{}.{kind}", digest(text.as_bytes()));
            let media_type = if kind == "js" { "text/javascript" } else { "text/css" };
            router = std::mem::take(&mut router).route(&path, kept_for_good(media_type, Prepared::of(text)));
            path
        };
        let style = route(extra.style, "css");
        let script = extra.script.map(|script| route(script, "js"));
        let script = script.map_or_else(String::new, |path| format!("\n<script src=\"{path}\"></script>"));
        let Extra { path, title, body, .. } = extra;
        let bar = bar.clone();
        let whole = move || page(title, Some(&style), &(bar.clone() + &body() + &script));
        router = router.route(path, same(Prepared::later(Arc::new(whole)), &PAGE));
    }
    let moved = || async { (StatusCode::MOVED_PERMANENTLY, [(header::LOCATION, "/favicon.svg")]) };
    router.route("/favicon.ico", get(moved))
}

/// The front: its page at the root and below its views, and its files, whose path says what is in them.
fn fronted(front: Front) -> Router {
    let all: String = front.files.iter().map(|file| file.text).collect();
    let folder = format!("/console/{}", digest(all.as_bytes()));
    let shown = Prepared::of((front.page)(&folder));
    let mut router = Router::new();
    for path in ["/".to_owned(), front.views.to_owned(), format!("{}/{{*view}}", front.views)] {
        router = router.route(&path, same(shown.clone(), &STRICT));
    }
    for FrontFile { name, media_type, text } in front.files {
        router = router.route(&format!("{folder}/{name}"), kept_for_good(media_type, Prepared::of(text)));
    }
    router
}

/// What a page of ours is sent with that holds nothing inline.
static STRICT: [(HeaderName, &str); 6] = [
    (header::CONTENT_TYPE, "text/html; charset=utf-8"),
    (header::CONTENT_SECURITY_POLICY, STRICT_CSP),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (header::CACHE_CONTROL, "no-cache"),
];

static PAGE: [(HeaderName, &str); 6] = [
    (header::CONTENT_TYPE, "text/html; charset=utf-8"),
    (header::CONTENT_SECURITY_POLICY, CSP),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (header::CACHE_CONTROL, "no-cache"),
];

static DOCUMENT: [(HeaderName, &str); 2] =
    [(header::CONTENT_TYPE, "application/json; charset=utf-8"), (header::CACHE_CONTROL, "no-cache")];

/// The same for everybody.
fn same(prepared: Prepared, said: &'static [(HeaderName, &'static str)]) -> MethodRouter {
    get(move |headers: HeaderMap| async move { prepared.answer(&headers, said).await })
}

fn fixed(text: String) -> MethodRouter {
    same(Prepared::of(text), &PAGE)
}

/// A page in the style of the home page, below a bar, made when it is first asked for.
pub(crate) fn later(bar: &str, title: &'static str, body: impl Fn() -> String + Send + Sync + 'static) -> MethodRouter {
    let bar = bar.to_owned();
    same(Prepared::later(Arc::new(move || page(title, Some(HOME_STYLE), &(bar.clone() + &body())))), &PAGE)
}

fn kept_for_good(media_type: &'static str, prepared: Prepared) -> MethodRouter {
    get(move |headers: HeaderMap| async move {
        let for_good = (header::CACHE_CONTROL, "public, max-age=31536000, immutable");
        prepared.answer(&headers, &[(header::CONTENT_TYPE, media_type), for_good]).await
    })
}

const HOME_STYLE: &str = "/assets/pages-3.css";
const BAR_STYLE: &str = "/assets/bar-3.css";
const SWAGGER_STYLE: &str = "/swagger/assets/5.35.0/swagger-ui.css";

fn page(title: &str, style: Option<&str>, body: &str) -> String {
    let style = style.map(|path| format!("<link rel=\"stylesheet\" href=\"{path}\">\n")).unwrap_or_default();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n\
         <link rel=\"icon\" href=\"/favicon.svg\" type=\"image/svg+xml\">\n\
         {style}<link rel=\"stylesheet\" href=\"{BAR_STYLE}\">\n</head>\n<body>\n{body}\n</body>\n</html>\n",
        escape(title)
    )
}

/// What stands above every page but the front.
fn bar(tour: &[(String, String)]) -> String {
    let link = |(path, title): &(String, String)| format!("<a href=\"{}\">{}</a>", escape(path), escape(title));
    let links: String = tour.iter().map(link).collect();
    format!(
        "<header class=\"duet-bar\"><a class=\"duet-name\" href=\"/\">Duet</a><nav aria-label=\"Pages\">{links}</nav></header>\n"
    )
}

/// What a person sees where nothing is.
pub async fn nowhere(has_front: bool) -> Response {
    let mut told = Prepared::of(nowhere_page(has_front)).answer(&HeaderMap::new(), &PAGE).await;
    *told.status_mut() = StatusCode::NOT_FOUND;
    told
}

fn nowhere_page(has_front: bool) -> String {
    let body = "<main>\n<h1>Nothing here</h1>\n<p class=\"lead\">No page has this address. It may have been mistyped, or what stood \
                here is gone.</p>\n<p><a href=\"/\">To the first page</a></p>\n</main>";
    page("Not found", Some(HOME_STYLE), &(bar(&tour(has_front, &[])) + body))
}

fn home_body(home: &Home, offered: &[Offer], extras: &[Extra]) -> String {
    let row =
        |name: &str, base: &str| format!("<tr><th>{}</th><td><code>{}</code></td></tr>\n", escape(name), escape(base));
    let mut served: String = home.dialects.iter().map(|one| row(&one.name, &one.base)).collect();
    served.extend(home.shared.as_ref().map(|shared| row("Either dialect", shared)));
    let document = |(title, path): &Offer| {
        format!(
            "<tr><th>{}</th><td><a href=\"/redoc/index.html?url={path}\">read</a></td>\
             <td><a href=\"{path}\"><code>{path}</code></a></td></tr>\n",
            escape(title)
        )
    };
    let documents: String = offered.iter().map(document).collect();
    let tool =
        |extra: &Extra| format!("<p><a href=\"{}\">{}</a> {}</p>\n", extra.path, extra.title, escape(extra.about));
    let tools: String = extras.iter().map(tool).collect();
    let login = home.dialects.last().map_or_else(String::new, |Served { base, login_path, login_name, .. }| {
        escape(&format!(
            "curl -H 'Content-Type: application/json' \\\n  \
             -d '{{\"{login_name}\":\"EMAIL\",\"password\":\"PASSWORD\"}}' \\\n  http://HOST{base}{login_path}"
        ))
    });
    let note = home.note.as_ref().map(|note| format!("<p class=\"note\">{}</p>\n", escape(note))).unwrap_or_default();
    format!(
        "<main>\n<h1>Duet</h1>\n\
         <p class=\"lead\">Double-entry accounting: one set of books, two ways to speak to it.</p>\n\
         <p><small>Version {}</small></p>\n{note}<h2>Served here</h2>\n<table>\n{served}</table>\n\
         <h2>Documentation</h2>\n\
         <p><a href=\"{GUIDE}\">Guide</a>: the first five minutes, the API, and how to operate the server.</p>\n\
         <p><a href=\"/swagger\">Interactive reference</a>, with a try-it-out for every operation.</p>\n\
         <p><a href=\"/errors\">Errors</a>, each with what to do about it.</p>\n\
         <table>\n{documents}</table>\n{tools}<h2>Log in</h2>\n<pre>{login}</pre>\n</main>",
        escape(&home.version)
    )
}

fn swagger_page(bar: &str, offered: &[Offer]) -> String {
    let documents: Vec<_> =
        offered.iter().map(|(title, path)| serde_json::json!({"url": path, "name": title})).collect();
    let documents = escape(&serde_json::Value::from(documents).to_string());
    // Where there is no room beside the name of a group, what it is about stands below.
    let body = format!(
        "{bar}<style>@media (max-width: 40rem) {{ .swagger-ui .opblock-tag {{ flex-wrap: wrap; }} \
         .swagger-ui .opblock-tag small {{ flex: 1 1 100%; order: 1; padding: 0 0 0.3rem; }} }}</style>\n\
         <div id=\"swagger-ui\" data-documents=\"{documents}\"></div>\n\
         <script src=\"/swagger/assets/5.35.0/swagger-ui-bundle.js\"></script>\n\
         <script src=\"/swagger/assets/5.35.0/standalone-preset.js\"></script>\n\
         <script src=\"/swagger/assets/init-1.js\"></script>"
    );
    page("Duet API", Some(SWAGGER_STYLE), &body)
}

fn redoc_page(bar: &str, document: &str) -> String {
    let document = escape(document);
    let body = format!(
        "{bar}<p class=\"groups\"><label for=\"groups\">Show</label> <select id=\"groups\"></select></p>\n\
         <div id=\"redoc\" data-document=\"{document}\"></div>\n\
         <script src=\"/redoc/assets/2.5.4/redoc.standalone.js\"></script>\n\
         <script src=\"/redoc/assets/init-2.js\"></script>"
    );
    // Redoc brings its own, for a light page only.
    page("Duet API", None, &body)
}

/// Which document is in `url`, where it is letter for letter one of ours; else the first. Otherwise anybody could
/// make this host show their document.
fn chosen(offered: &[Offer], query: &str) -> usize {
    let mut urls = query.split('&').filter_map(|pair| pair.strip_prefix("url="));
    let (Some(url), None) = (urls.next(), urls.next()) else { return 0 };
    let url = url.replace("%2F", "/").replace("%2f", "/");
    offered.iter().position(|(_, path)| *path == url).unwrap_or(0)
}

pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redoc_shows_our_documents_and_no_others() {
        let offered = [("All", "/swagger/v1/swagger.json"), ("B", "/swagger/b/swagger.json")];
        let offered = offered.map(|(title, path)| (title.to_owned(), path.to_owned()));
        for (query, shown) in [
            ("", 0),
            ("url=/swagger/b/swagger.json", 1),
            ("url=%2Fswagger%2Fb%2Fswagger.json", 1),
            ("theme=x&url=/swagger/b/swagger.json", 1),
            ("url=https://evil.example/x.json", 0),
            ("url=//evil.example/x.json", 0),
            ("url=javascript:alert(1)", 0),
            ("url=/swagger/b/swagger.json&url=//evil.example", 0),
            ("url=/swagger/v1/../../x", 0),
            ("url=data:,x", 0),
        ] {
            assert_eq!(chosen(&offered, query), shown, "{query}");
        }
    }

    #[test]
    fn pages_hold_no_inline_script() {
        let [name, base, login_path, login_name] = ["A", "/api", "/Users/login", "credential"].map(str::to_owned);
        let dialects = vec![Served { name, base, login_path, login_name, failure: |_| String::new() }];
        let home = Home { version: "<1>".into(), dialects, shared: None, note: Some("<script>".into()) };
        let offered = [("\"<All>\"".to_owned(), "/swagger/v1/swagger.json".to_owned())];
        let home = page("x", Some(HOME_STYLE), &home_body(&home, &offered, &[]));
        for text in [home, swagger_page("", &offered), redoc_page("", &offered[0].1), nowhere_page(true)] {
            assert!(!text.contains("<script>") && !text.contains("<All>") && !text.contains("<1>"), "{text}");
        }
    }
}
