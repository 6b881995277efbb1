//! What the host root shows: a home page, Swagger UI, Redoc and the documents they read.
//!
//! Owns: the embedded assets, the frame that stands around every page, and the policy that keeps the pages from asking any
//! other host. Refuses: to render a document that is not on its own list, and to hold a script inline.

use crate::failure::Failure;
pub use crate::prepared::{Make, Source, unpacked};
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
    pub json: Source,
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

/// A picture that the guide's pages show, below `GUIDE`.
pub struct Picture {
    pub name: &'static str,
    pub bytes: &'static [u8],
}

/// The guide: its pages, and what they show.
pub struct Guide {
    pub chapters: Vec<Chapter>,
    /// What works on each page.
    pub script: &'static str,
    pub pictures: Vec<Picture>,
}

/// What stands around a page: one navigation and one stylesheet for all of them.
#[derive(Clone)]
pub(crate) struct Frame {
    /// Where the stylesheet is.
    style: String,
    tour: Arc<Vec<Offer>>,
    /// The pages below the guide's.
    chapters: Arc<Vec<Offer>>,
}

/// Makes a page of the folder in which its files are, and of where the stylesheet is.
pub type MakesPage = Box<dyn Fn(&str, &str) -> String>;

/// The pages at the root, where there are any: one page for all views, and its files.
pub struct Front {
    /// Every view has a path of its own below this one.
    pub views: &'static str,
    /// The file that speaks on the page about the installation.
    pub about: &'static str,
    pub files: Vec<FrontFile>,
    pub page: MakesPage,
}

pub struct FrontFile {
    pub name: &'static str,
    pub media_type: &'static str,
    pub text: &'static str,
}

/// A title and a path.
type Offer = (String, String);

/// What the home page tells.
pub struct Home {
    pub version: String,
    pub dialects: Vec<Served>,
    pub shared: Option<String>,
    /// What else is to be said of this installation.
    pub note: Option<String>,
    /// Whom everybody may try the reference as.
    pub visitor: Option<Visitor>,
}

/// Somebody whose words everybody may know, and the company that the examples are about.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Visitor {
    /// Where to log in, and what is said there.
    pub login: String,
    pub body: serde_json::Value,
    /// Whom the page names.
    pub email: &'static str,
    pub company: &'static str,
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
    asset!("/swagger/assets/init-2.js", "swagger-init.js", "text/javascript", false),
    asset!("/redoc/assets/2.5.4/redoc.standalone.js", "redoc.standalone.js.gz", "text/javascript", true),
    asset!("/redoc/assets/init-3.js", "redoc-init.js", "text/javascript", false),
    asset!("/favicon.svg", "favicon.svg", "image/svg+xml", false),
];

/// What the navigation of every page leads to: the front, where there is one, what tells of the installation, and the rest.
pub fn tour(has_front: bool, extras: &[Extra]) -> Vec<(String, String)> {
    let front: &[(&str, &str)] = if has_front { &[("/", "Console"), (ABOUT, "About")] } else { &[("/", "About")] };
    let own = front
        .iter()
        .chain(&[(GUIDE, "Guide"), ("/swagger", "Swagger"), ("/redoc", "Redoc"), ("/errors", "Errors")])
        .copied();
    let others = extras.iter().map(|extra| (extra.path, extra.title));
    own.chain(others).map(|(path, title)| (path.to_owned(), title.to_owned())).collect()
}

/// All pages, and the one that is seen where none is.
pub struct Pages {
    pub router: Router,
    pub nowhere: Nowhere,
}

/// What a person sees where nothing is.
pub struct Nowhere(Prepared);

impl Nowhere {
    pub async fn answer(&self) -> Response {
        let mut told = self.0.answer(&HeaderMap::new(), &STRICT).await;
        *told.status_mut() = StatusCode::NOT_FOUND;
        told
    }
}

/// All pages, in one style. The first document is the one they open with.
pub fn router(
    documents: Vec<Document>,
    home: &Home,
    guide: Guide,
    extras: Vec<Extra>,
    front: Option<Front>,
    style: &'static str,
) -> Pages {
    let kept = |kind: &str, text: &'static str| {
        // What is in it is in its path, so that a browser may keep it for good.
        let path = format!("/assets/{}.{kind}", digest(text.as_bytes()));
        let media_type = if kind == "js" { "text/javascript" } else { "text/css" };
        (path, kept_for_good(media_type, Prepared::of(text)))
    };
    let (style, styled) = kept("css", style);
    let chapters = guide.chapters.iter().map(|one| (one.title.to_owned(), chapter_path(one.name))).collect();
    let tour = tour(front.is_some(), &extras).into_iter().map(|(path, title)| (title, path)).collect();
    let frame = Frame { style: style.clone(), tour: Arc::new(tour), chapters: Arc::new(chapters) };
    let listed = documents.iter().filter(|document| document.listed);
    let offered: Arc<Vec<Offer>> =
        Arc::new(listed.map(|document| (document.title.clone(), document.path.clone())).collect());
    let about_at = if front.is_some() { ABOUT } else { "/" };
    let speaks = front.as_ref().map_or_else(String::new, |front| {
        format!("<script type=\"module\" src=\"{}/{}\"></script>\n", folder(front), front.about)
    });
    let about = frame.page(about_at, "Duet", &speaks, &home_body(home, &offered, &extras));
    let about = same(Prepared::of(about), &STRICT);
    let mut router = match front {
        Some(front) => fronted(front, &style).route(ABOUT, about),
        None => Router::new().route("/", about),
    };
    router = router.route(&style, styled);
    let swagger = Prepared::of(swagger_page(&frame, &offered, home.visitor.as_ref()));
    for path in ["/swagger", "/swagger/", "/swagger/index.html"] {
        router = router.route(path, same(swagger.clone(), &PAGE));
    }
    let shown: Arc<Vec<Prepared>> =
        Arc::new(offered.iter().map(|(_, path)| Prepared::of(redoc_page(&frame, path))).collect());
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
        router = router.route(&path, same(Prepared::from(json), &DOCUMENT));
    }
    router = router.merge(crate::catalogue::routes(&frame, &home.dialects));
    for Picture { name, bytes } in guide.pictures {
        let shown = same(Prepared::of(bytes), &PICTURE);
        router = router.route(&format!("{GUIDE}/pictures/{name}"), shown);
    }
    let (script_at, script) = kept("js", guide.script);
    router = router.route(&script_at, script);
    let script = script_tag(&script_at);
    for Chapter { name, title, body } in guide.chapters {
        let (frame, path, script) = (frame.clone(), chapter_path(name), script.clone());
        let at = path.clone();
        let whole = move || frame.page(&at, title, "", &(body() + &script));
        let shown = Prepared::later(Arc::new(whole));
        for path in [path.clone(), path + "/"] {
            router = router.route(&path, same(shown.clone(), &STRICT));
        }
    }
    for asset in ASSETS {
        let prepared = if asset.gzipped { Prepared::of_gzip(asset.bytes) } else { Prepared::of(asset.bytes) };
        router = router.route(asset.path, kept_for_good(asset.media_type, prepared));
    }
    for Extra { path, title, body, style, script, .. } in extras {
        let mut route = |kind: &'static str, text: &'static str| {
            let (at, served) = kept(kind, text);
            router = std::mem::take(&mut router).route(&at, served);
            at
        };
        let style = link_to(&route("css", style));
        let script = script.map(|script| route("js", script));
        let script = script.map_or_else(String::new, |path| script_tag(&path));
        let frame = frame.clone();
        let whole = move || frame.page(path, title, &style, &(body() + &script));
        router = router.route(path, same(Prepared::later(Arc::new(whole)), &STRICT));
    }
    let moved = || async { (StatusCode::MOVED_PERMANENTLY, [(header::LOCATION, "/favicon.svg")]) };
    router = router.route("/favicon.ico", get(moved));
    Pages { router, nowhere: Nowhere(Prepared::of(nowhere_page(&frame))) }
}

fn chapter_path(name: &str) -> String {
    if name.is_empty() { GUIDE.to_owned() } else { format!("{GUIDE}/{name}") }
}

/// Where the files of the front are: the path says what is in them.
fn folder(front: &Front) -> String {
    let all: String = front.files.iter().map(|file| file.text).collect();
    format!("/console/{}", digest(all.as_bytes()))
}

/// The front: its page at the root and below its views, and its files.
fn fronted(front: Front, style: &str) -> Router {
    let folder = folder(&front);
    let shown = Prepared::of((front.page)(&folder, style));
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

static PICTURE: [(HeaderName, &str); 2] = [(header::CONTENT_TYPE, "image/png"), (header::CACHE_CONTROL, "no-cache")];

static DOCUMENT: [(HeaderName, &str); 2] =
    [(header::CONTENT_TYPE, "application/json; charset=utf-8"), (header::CACHE_CONTROL, "no-cache")];

/// The same for everybody.
fn same(prepared: Prepared, said: &'static [(HeaderName, &'static str)]) -> MethodRouter {
    get(move |headers: HeaderMap| async move { prepared.answer(&headers, said).await })
}

fn kept_for_good(media_type: &'static str, prepared: Prepared) -> MethodRouter {
    get(move |headers: HeaderMap| async move {
        let for_good = (header::CACHE_CONTROL, "public, max-age=31536000, immutable");
        prepared.answer(&headers, &[(header::CONTENT_TYPE, media_type), for_good]).await
    })
}

const SWAGGER_STYLE: &str = "/swagger/assets/5.35.0/swagger-ui.css";

fn script_tag(path: &str) -> String {
    format!("\n<script src=\"{path}\"></script>")
}

fn link_to(style: &str) -> String {
    format!("<link rel=\"stylesheet\" href=\"{style}\">\n")
}

impl Frame {
    /// A page at a path. `head` is what it needs beside the style that all have.
    fn page(&self, at: &str, title: &str, head: &str, body: &str) -> String {
        let (style, title, navigation) = (link_to(&self.style), escape(title), self.navigation(at));
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
             <link rel=\"icon\" href=\"/favicon.svg\" type=\"image/svg+xml\">\n{head}{style}</head>\n\
             <body class=\"beside\">\n<a class=\"skip\" href=\"#content\">To the content</a>\n<div class=\"shell\">\n\
             {navigation}<div class=\"stage\" id=\"content\" tabindex=\"-1\">\n{body}\n</div>\n</div>\n</body>\n</html>\n"
        )
    }

    /// A page that is made when it is first asked for.
    pub(crate) fn later(
        &self,
        at: String,
        title: &'static str,
        body: impl Fn() -> String + Send + Sync + 'static,
    ) -> MethodRouter {
        let frame = self.clone();
        same(Prepared::later(Arc::new(move || frame.page(&at, title, "", &body()))), &STRICT)
    }

    /// The same on every page, with the one that is shown marked; below the guide its pages, where it is one of them.
    fn navigation(&self, at: &str) -> String {
        let entry = |title: &str, path: &str, within: &str| {
            let current = if path == at { " aria-current=\"page\"" } else { "" };
            format!("<li><a href=\"{}\"{current}>{}</a>{within}</li>\n", escape(path), escape(title))
        };
        let is_guide = self.chapters.iter().any(|(_, path)| path == at);
        let chapters: String = self.chapters.iter().skip(1).map(|(title, path)| entry(title, path, "")).collect();
        let below = |path: &str| {
            if is_guide && path == GUIDE {
                format!("\n<ul class=\"chapters\">\n{chapters}</ul>\n")
            } else {
                String::new()
            }
        };
        let entries: String = self.tour.iter().map(|(title, path)| entry(title, path, &below(path))).collect();
        format!(
            "<nav class=\"rail\" aria-label=\"Pages\">\n<a class=\"brand\" href=\"/\">Duet</a>\n<ul>\n{entries}</ul>\n</nav>\n"
        )
    }
}

fn nowhere_page(frame: &Frame) -> String {
    let body = "<main>\n<h1>Nothing here</h1>\n<p class=\"lead\">No page has this address. It may have been mistyped, or what stood \
                here is gone.</p>\n<p><a class=\"button main\" href=\"/\">To the first page</a></p>\n</main>";
    frame.page("", "Not found", "", body)
}

fn home_body(home: &Home, offered: &[Offer], extras: &[Extra]) -> String {
    let row = |name: &str, base: &str| {
        format!("<tr><th scope=\"row\">{}</th><td><code>{}</code></td></tr>\n", escape(name), escape(base))
    };
    let mut served: String = home.dialects.iter().map(|one| row(&one.name, &one.base)).collect();
    served.extend(home.shared.as_ref().map(|shared| row("Either dialect", shared)));
    let document = |(title, path): &Offer| {
        format!(
            "<tr><th scope=\"row\">{}</th><td><a href=\"/redoc/index.html?url={path}\">read</a></td>\
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

fn swagger_page(frame: &Frame, offered: &[Offer], visitor: Option<&Visitor>) -> String {
    let documents: Vec<_> =
        offered.iter().map(|(title, path)| serde_json::json!({"url": path, "name": title})).collect();
    let documents = escape(&serde_json::Value::from(documents).to_string());
    let visits = visitor.map_or_else(String::new, |visitor| {
        let (told, email) = (escape(&serde_json::json!(visitor).to_string()), escape(visitor.email));
        format!(
            "<p class=\"note\" id=\"visitor\" data-visitor=\"{told}\">This is a demo, and you are signed in here as {email}: every \
             example can be executed as it stands.</p>\n"
        )
    });
    let body = format!(
        "{visits}<div id=\"swagger-ui\" class=\"light\" data-documents=\"{documents}\"></div>\n\
         <script src=\"/swagger/assets/5.35.0/swagger-ui-bundle.js\"></script>\n\
         <script src=\"/swagger/assets/5.35.0/standalone-preset.js\"></script>\n\
         <script src=\"/swagger/assets/init-2.js\"></script>"
    );
    frame.page("/swagger", "Duet API", &link_to(SWAGGER_STYLE), &body)
}

fn redoc_page(frame: &Frame, document: &str) -> String {
    let document = escape(document);
    // It brings a style of its own, for a light page only.
    let body = format!(
        "<div class=\"light\">\n<p class=\"groups\"><label for=\"groups\">Show</label> <select id=\"groups\"></select></p>\n\
         <div id=\"redoc\" data-document=\"{document}\"></div>\n</div>\n\
         <script src=\"/redoc/assets/2.5.4/redoc.standalone.js\"></script>\n\
         <script src=\"/redoc/assets/init-3.js\"></script>"
    );
    frame.page("/redoc", "Duet API", "", &body)
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
        let note = Some("<script>".into());
        let home = Home { version: "<1>".into(), dialects, shared: None, note, visitor: None };
        let body = serde_json::json!({"email": "<script>"});
        let visitor = Visitor { login: "\"<All>".into(), body, email: "<script>", company: "x" };
        let offered = [("\"<All>\"".to_owned(), "/swagger/v1/swagger.json".to_owned())];
        let frame = Frame { style: "/s.css".into(), tour: Arc::default(), chapters: Arc::default() };
        let home = frame.page("/", "x", "", &home_body(&home, &offered, &[]));
        for text in [
            home,
            swagger_page(&frame, &offered, Some(&visitor)),
            redoc_page(&frame, &offered[0].1),
            nowhere_page(&frame),
        ] {
            assert!(!text.contains("<script>") && !text.contains("<All>") && !text.contains("<1>"), "{text}");
        }
    }
}
