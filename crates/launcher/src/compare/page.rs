//! `/compare`: the page in the browser, and what it asks of the server.
//!
//! What it asks goes the way of every other request, as the user who signed in: the same limits, rights and log.

use crate::config::{Dialects, Settings};
use crate::documents;
use crate::mount::Site;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use compare::declared::Declared;
use compare::dialect::{Dialect, LOGIN};
use compare::meaning::Meaning;
use compare::neutral::Neutral;
use compare::pair::{self, Pair, Relation, Side};
use compare::translate::{MOST_AT_ONCE, Translator};
use compare::wire::{Answer, Request as Wire, Sending, Transport};
use compare::wrapping::Wrapping;
use compare::{explore, guide, page};
use http_kit::body;
use http_kit::failure::Failure;
use http_kit::handler::failed_plainly;
use http_kit::pages::Extra;
use http_kit::request::{Arrival, Guest};
use ledger_core::aside;
use ledger_core::error::{Error, FieldErrors};
use serde::Deserialize;
use serde_json::{Value, json};
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// What the page asks is below.
pub(crate) const API: &str = "/compare/api/";

const NOT_SIGNED_IN: Error = Error::Unauthenticated("Sign in first");

/// As much as a recording may have, which is more than a body of the API.
const LONGEST: usize = 8 << 20;
const LONGEST_ANSWER: usize = 64 << 20;

/// The page. What it knows of the dialects is read from their documents when it is first asked something.
pub(crate) struct Page {
    read: Arc<Reading>,
}

struct Reading {
    dialects: Dialects,
    users: Vec<String>,
    /// Nothing where our own documents cannot be read.
    sides: OnceLock<Option<Sides>>,
}

struct Sides {
    /// Two of them at least.
    dialects: Vec<Arc<Dialect>>,
    translator: Translator,
    shared: Option<String>,
    /// By their e-mail addresses in small letters; everybody where there are none.
    users: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SignIn {
    login: String,
    password: String,
    totp_code: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    operation: String,
    business: Option<String>,
    id: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    text: String,
}

impl Reading {
    fn sides(&self) -> Option<&Sides> {
        self.sides.get_or_init(|| self.read()).as_ref()
    }

    fn read(&self) -> Option<Sides> {
        let read = |(_, dialect, base)| match Dialect::of(documents::of_one(dialect, base), None) {
            Ok(dialect) => Some(Arc::new(dialect)),
            Err(why) => {
                tracing::error!(why, "the page that compares cannot read our own document");
                None
            }
        };
        let dialects = self.dialects.served().map(read).collect::<Option<Vec<_>>>()?;
        let (shared, users) = (self.dialects.shared.clone(), self.users.clone());
        let translator = Translator { dialects: dialects.clone(), shared: shared.clone() };
        Some(Sides { dialects, translator, shared, users })
    }

    /// The page about moving a client. What is read for it alone is not kept.
    fn guide(&self) -> String {
        let told = |sides: &Sides| guide::body(&sides.dialects, sides.shared.as_deref());
        match self.sides.get() {
            Some(sides) => sides.as_ref().map(told),
            None => self.read().as_ref().map(told),
        }
        .unwrap_or_default()
    }
}

impl Page {
    /// There is something to compare where two dialects are served.
    pub(crate) fn of(settings: &Settings) -> Option<Self> {
        if settings.dialects.served().count() < 2 || !settings.compare_enabled {
            return None;
        }
        let users = settings.compare_users.iter().map(|user| user.to_lowercase()).collect();
        let read = Reading { dialects: settings.dialects.clone(), users, sides: OnceLock::new() };
        Some(Self { read: Arc::new(read) })
    }

    pub(crate) fn pages(&self) -> Vec<Extra> {
        let read = self.read.clone();
        vec![
            Extra {
                path: "/compare",
                title: "Compare",
                about: "asks both dialects the same and shows where their answers differ; it translates requests, too.",
                body: Arc::new(|| page::BODY.to_owned()),
                style: page::STYLE,
                script: Some(page::SCRIPT),
            },
            Extra {
                path: "/moving",
                title: "Moving a client",
                about: "from one dialect to the other, call by call.",
                body: Arc::new(move || {
                    let guide = read.guide();
                    format!(
                        "<main>\n<h1>Moving a client</h1>\n<p>From one dialect to the other: what differs, what stays, and every call beside its twin.</p>\n{guide}</main>"
                    )
                }),
                style: page::GUIDE_STYLE,
                script: None,
            },
        ]
    }

    pub(crate) async fn answer(
        &self,
        site: &Arc<Site>,
        asked: &str,
        request: Request,
        arrival: &Arrival,
        peer: IpAddr,
    ) -> Response {
        let answered = async {
            // Reading the documents takes longer than a moment, once.
            let read = self.read.clone();
            let known = tokio::task::spawn_blocking(move || read.sides().is_some());
            match (known.await, self.read.sides()) {
                (Ok(true), Some(sides)) => sides.answered(site, asked, request, peer).await,
                _ => Err(Error::internal("our own documents cannot be read").into()),
            }
        };
        answered.await.unwrap_or_else(|failure| failed_plainly(arrival, failure))
    }
}

impl Sides {
    async fn answered(
        &self,
        site: &Arc<Site>,
        asked: &str,
        request: Request,
        peer: IpAddr,
    ) -> Result<Response, Failure> {
        if !matches!(asked, "sign-in" | "sign-out" | "about" | "example" | "run" | "translate") {
            return Err(Failure::not_found());
        }
        if request.method() != Method::POST {
            let mut failure = Failure::method_not_allowed();
            failure.headers.push((header::ALLOW, HeaderValue::from_static("POST")));
            return Err(failure);
        }
        let (parts, given) = request.into_parts();
        let between = self.chosen(parts.uri.query().unwrap_or_default())?;
        // A form of another page cannot say this, so none can speak for who is signed in.
        body::must_be_json(&parts.headers)?;
        let guest = parts.extensions.get::<Guest>().cloned();
        let inside: Arc<dyn Transport> = Arc::new(Inside::of(site, &parts.headers, peer, guest));
        let token =
            parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        let user = match token {
            _ if asked == "sign-in" || asked == "sign-out" => Value::Null,
            Some(token) => self.user(&inside, token).await?,
            None => return Err(NOT_SIGNED_IN.into()),
        };
        let longest = if asked == "sign-in" { body::LONGEST_LOGIN } else { LONGEST };
        let bytes = body::json(&parts.headers, given, longest).await?;
        let token = token.unwrap_or_default();
        match asked {
            "sign-in" => self.sign_in(&inside, read(bytes).await?).await,
            "sign-out" => self.sign_out(&inside, token).await,
            "about" => self.about(&inside, token, &user).await,
            "example" => self.example(Self::pair(between, &inside, token), read(bytes).await?).await,
            "run" => self.run(Self::pair(between, &inside, token), read(bytes).await?).await,
            _ => {
                let translator = self.translator.clone();
                let translated = aside::read(bytes.len(), move || {
                    let Text { text } = parsed(&bytes)?;
                    let translated = translator.edit(&text, None, MOST_AT_ONCE);
                    let translated = translated.map_err(|why| Error::field("text", why))?;
                    if translated.told.is_empty() {
                        return Err(Error::field("text", "has no request of either dialect in it"));
                    }
                    serde_json::to_string(&translated).map_err(Error::internal)
                });
                Ok(as_json(translated.await?))
            }
        }
    }

    /// The two that are compared: those whose places the page names as `between=0,2`, else the first two.
    fn chosen(&self, query: &str) -> Result<[&Arc<Dialect>; 2], Failure> {
        let Some(named) = query.strip_prefix("between=") else { return Ok([&self.dialects[0], &self.dialects[1]]) };
        let of = |place: &str| self.dialects.get(place.parse::<usize>().ok()?);
        let found = named.split_once(',').and_then(|(left, right)| Some([of(left)?, of(right)?]));
        found.ok_or_else(|| Error::field("between", "must be two places in the list of sides, such as 0,1").into())
    }

    /// What one of the dialects means: the first that is not gone.
    async fn ask(&self, inside: &Arc<dyn Transport>, neutral: &Neutral, token: Option<&str>) -> Result<Said, Failure> {
        for dialect in &self.dialects {
            let request = dialect.render(neutral, None, token).map_err(Error::internal)?;
            let answer = inside.send(request).await.map_err(Error::internal)?;
            if answer.status != StatusCode::GONE.as_u16() {
                let meaning = Meaning::of(dialect, dialect.operation(&neutral.operation).ok(), &answer);
                return Ok(Said { dialect: dialect.clone(), answer, meaning });
            }
        }
        Err(Failure::gone())
    }

    async fn sign_in(&self, inside: &Arc<dyn Transport>, given: SignIn) -> Result<Response, Failure> {
        let mut body = json!({"login": given.login, "password": given.password});
        if let Some(code) = given.totp_code {
            body["totpCode"] = code.into();
        }
        let Said { dialect, answer, meaning } = self.ask(inside, &Neutral::of(LOGIN).with(body), None).await?;
        if answer.is_success() {
            let token = pair::token(&dialect, &answer).map_err(Error::internal)?;
            self.user(inside, &token).await?;
            return said(&json!({"token": token}));
        }
        // As the log-in refuses it, in nobody's dialect.
        let refusal =
            json!({"status": answer.status, "title": meaning.tree["title"], "errors": meaning.tree["errors"]});
        let mut response = said(&refusal)?;
        *response.status_mut() = StatusCode::from_u16(answer.status).map_err(Error::internal)?;
        for name in ["retry-after", "www-authenticate", "x-error-code"] {
            if let Some(value) = answer.header(name).and_then(|value| HeaderValue::from_str(value).ok()) {
                response.headers_mut().insert(name, value);
            }
        }
        Ok(response)
    }

    /// Ends the session that the page began. One that is over already is as good.
    async fn sign_out(&self, inside: &Arc<dyn Transport>, token: &str) -> Result<Response, Failure> {
        self.ask(inside, &Neutral::of("profileLogOut"), Some(token)).await?;
        said(&json!({}))
    }

    /// Who speaks, where they may use the page.
    async fn user(&self, inside: &Arc<dyn Transport>, token: &str) -> Result<Value, Failure> {
        let Said { answer, meaning, .. } = self.ask(inside, &Neutral::of("profileGet"), Some(token)).await?;
        match answer.status {
            200 => {}
            429 => return Err(Error::RateLimited { retry_after_seconds: 1 }.into()),
            _ => return Err(NOT_SIGNED_IN.into()),
        }
        let user = meaning.data().clone();
        self.admit(&user["email"])?;
        if user["mustChangePassword"] == true {
            return Err(Error::PasswordChange.into());
        }
        Ok(user)
    }

    fn admit(&self, email: &Value) -> Result<(), Failure> {
        let email = email.as_str().unwrap_or_default().to_lowercase();
        if self.users.is_empty() || self.users.contains(&email) {
            return Ok(());
        }
        let title = "This page is for the users whom Compare:Users names".to_owned();
        Err(Error::NotAllowed { title, errors: FieldErrors::default() }.into())
    }

    async fn about(&self, inside: &Arc<dyn Transport>, token: &str, user: &Value) -> Result<Response, Failure> {
        let list = Neutral::of("businessesList").asking("pageSize", "500").asking("sort", "name");
        let listed = self.ask(inside, &list, Some(token)).await?;
        let page = listed.meaning.data();
        let businesses = page["items"].as_array().into_iter().flatten();
        let businesses: Vec<Value> = businesses.map(|one| json!({"id": one["id"], "name": one["name"]})).collect();
        let sides = self.dialects.iter().map(|one| {
            let Wrapping { success, failure, .. } = &one.wrapping;
            json!({"name": one.name, "base": one.base, "success": success, "failure": failure})
        });
        said(&json!({
            "user": {"email": user["email"]},
            "businesses": businesses,
            "sides": sides.collect::<Vec<_>>(),
            "operations": page::operations(&self.dialects[0], &self.dialects[1]),
        }))
    }

    fn pair([left, right]: [&Arc<Dialect>; 2], inside: &Arc<dyn Transport>, token: &str) -> Pair {
        let side = |dialect: &Arc<Dialect>| Side {
            dialect: dialect.clone(),
            transport: inside.clone(),
            token: Some(token.to_owned()),
            business: None,
            documented: true,
        };
        Pair::new(side(left), side(right), Relation::Same, Declared::default(), &ledger_core::ids::request_id())
    }

    /// A body to begin with, which fits the company.
    async fn example(&self, mut pair: Pair, wanted: Wanted) -> Result<Response, Failure> {
        self.dialects[0].operation(&wanted.operation).map_err(|why| Error::field("operation", why))?;
        (pair.left.business, pair.right.business) = (wanted.business.clone(), wanted.business);
        let body = explore::example(&mut pair, &wanted.operation, wanted.id.as_deref()).await;
        said(&json!({"body": body}))
    }

    async fn run(&self, mut pair: Pair, neutral: Neutral) -> Result<Response, Failure> {
        self.dialects[0].operation(&neutral.operation).map_err(|why| Error::field("operation", why))?;
        if neutral.operation == LOGIN {
            return Err(Error::field("operation", "has its own form: sign in").into());
        }
        // Nobody's other token: the page speaks for who is signed in, and for nobody.
        let neutral = Neutral {
            authorization: neutral.authorization.filter(String::is_empty),
            recorded: None,
            kept_as: None,
            ..neutral
        };
        let compared = pair.compare(&neutral).await;
        said(&compared)
    }
}

/// An answer, and what it means.
struct Said {
    dialect: Arc<Dialect>,
    answer: Answer,
    meaning: Meaning,
}

/// Reads a body where it holds up nobody.
async fn read<T: for<'de> Deserialize<'de> + Send + 'static>(bytes: Bytes) -> Result<T, Failure> {
    Ok(aside::read(bytes.len(), move || parsed(&bytes)).await?)
}

fn parsed<T: for<'de> Deserialize<'de>>(bytes: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(bytes).map_err(|error| Error::MalformedJson(error.to_string()))
}

fn said(value: &impl serde::Serialize) -> Result<Response, Failure> {
    Ok(as_json(serde_json::to_string(value).map_err(Error::internal)?))
}

fn as_json(text: String) -> Response {
    ([(header::CONTENT_TYPE, "application/json; charset=utf-8")], text).into_response()
}

/// Requests that never leave the process, and are answered like those that come from outside.
struct Inside {
    site: Arc<Site>,
    peer: IpAddr,
    /// What says whose books are meant, and where the request came from.
    forwarded: HeaderMap,
    origin: String,
    guest: Option<Guest>,
}

impl Inside {
    fn of(site: &Arc<Site>, headers: &HeaderMap, peer: IpAddr, guest: Option<Guest>) -> Self {
        let mut forwarded = HeaderMap::new();
        for name in ["host", "x-forwarded-host", "x-forwarded-for", "user-agent"] {
            for value in headers.get_all(name) {
                if let Ok(name) = name.parse::<header::HeaderName>() {
                    forwarded.append(name, value.clone());
                }
            }
        }
        let text = |name: header::HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        let origin = text(header::ORIGIN).filter(|origin| origin.starts_with("http")).map(str::to_owned);
        let origin = origin.unwrap_or_else(|| format!("http://{}", text(header::HOST).unwrap_or("localhost")));
        Self { site: site.clone(), peer, forwarded, origin, guest }
    }

    async fn exchange(&self, request: Wire) -> Result<Answer, String> {
        let mut asked = Request::builder().method(request.method.as_str()).uri(&request.target);
        for (name, value) in request.headers.iter().filter(|(name, _)| !is_of_the_way(name)) {
            asked = asked.header(name, value);
        }
        let mut asked = asked.body(Body::from(request.body.unwrap_or_default())).map_err(|error| error.to_string())?;
        asked.headers_mut().extend(self.forwarded.clone());
        if let Some(guest) = &self.guest {
            asked.extensions_mut().insert(guest.clone());
        }
        let begun = Instant::now();
        let (parts, body) = self.site.answer(asked, self.peer).await.into_parts();
        let body = body::answered(body, LONGEST_ANSWER).await?;
        let headers = parts
            .headers
            .iter()
            .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()));
        Ok(Answer {
            status: parts.status.as_u16(),
            headers: headers.collect(),
            body: String::from_utf8_lossy(&body).into_owned(),
            micros: u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX),
        })
    }
}

/// Whether a header says where a request came from, or how it is carried: that is not for the one who asks to say.
fn is_of_the_way(name: &str) -> bool {
    let name = name.to_lowercase();
    let carried = [
        "host",
        "forwarded",
        "connection",
        "content-length",
        "transfer-encoding",
        "accept-encoding",
        "expect",
        "upgrade",
    ];
    name.starts_with("x-forwarded-") || carried.contains(&name.as_str())
}

impl Transport for Inside {
    fn send(&self, request: Wire) -> Sending<'_> {
        Box::pin(self.exchange(request))
    }

    fn origin(&self) -> &str {
        &self.origin
    }
}
