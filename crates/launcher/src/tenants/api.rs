//! What administrators of tenants ask a server, on an address and by a key of its own.
//!
//! It does what `duet tenant` does. Whoever has the key may do all of it: it opens no books, and sees nothing in them.

use super::known::Known;
use super::making::{self, NewTenant, Where};
use super::moving::{self, To};
use super::{Books, folders};
use crate::config::Settings;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use catalogue::{Catalogue, Place, Tenant};
use http_kit::body::json;
use ledger_core::auth::{password, user};
use ring::hmac;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// As much as anybody has to say here.
const LONGEST: usize = 16 << 10;

/// What answers administrators.
pub(crate) struct Api {
    books: Arc<Books>,
    key: String,
    /// What became of moves that were asked for here, by their hosts.
    moves: Mutex<HashMap<String, Result<String, String>>>,
    /// When somebody without the key was last told of.
    refused: Mutex<Option<Instant>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct New {
    host: String,
    email: String,
    password: Option<String>,
    cluster: Option<String>,
    database: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Move {
    to: String,
}

type Answer = Result<(StatusCode, Value), (StatusCode, String)>;

fn refused(status: StatusCode, why: impl Into<String>) -> Answer {
    Err((status, why.into()))
}

/// What cannot be done as things are.
fn conflict(why: String) -> (StatusCode, String) {
    let status = if why.starts_with("there is no tenant") { StatusCode::NOT_FOUND } else { StatusCode::CONFLICT };
    (status, why)
}

impl Api {
    pub(crate) fn new(books: Arc<Books>, key: &str) -> Arc<Self> {
        Arc::new(Self { books, key: key.to_owned(), moves: Mutex::default(), refused: Mutex::default() })
    }

    pub(crate) async fn answer(self: Arc<Self>, request: Request) -> Response {
        // In a task of its own: a client that hangs up leaves nothing half done.
        let (tell, told) = oneshot::channel();
        let asked = async move {
            let _gone = tell.send(self.answered(request).await);
        };
        drop(supervise::once("what an administrator asks for", asked));
        let done = told.await;
        let broke_down = |_| refused(StatusCode::INTERNAL_SERVER_ERROR, "it broke down; see the log of the server");
        let (status, body) = match done.unwrap_or_else(broke_down) {
            Ok((status, value)) => (status, value),
            Err((status, why)) => (status, serde_json::json!({"error": why})),
        };
        let mut response = Response::new(Body::from(format!("{body}\n")));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }

    fn is_known(&self, request: &Request) -> bool {
        let given = request.headers().get(header::AUTHORIZATION).and_then(|given| given.to_str().ok());
        let bearer =
            given.and_then(|given| given.split_once(' ')).filter(|(how, _)| how.eq_ignore_ascii_case("bearer"));
        let Some((_, given)) = bearer else { return false };
        // Compared by what both come to, so that it takes as long however much of it is right.
        let sign = |key: &str| hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes()), b"administrator");
        let own = hmac::Key::new(hmac::HMAC_SHA256, self.key.as_bytes());
        hmac::verify(&own, b"administrator", sign(given.trim()).as_ref()).is_ok()
    }

    /// At most once a second, however many come.
    fn tell_of_stranger(&self) {
        let mut last = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_none_or(|at| at.elapsed() >= Duration::from_secs(1)) {
            *last = Some(Instant::now());
            tracing::warn!(code = "administrator_refused", "somebody came without the key of administrators");
        }
    }

    async fn answered(self: Arc<Self>, request: Request) -> Answer {
        if !self.is_known(&request) {
            self.tell_of_stranger();
            return refused(StatusCode::UNAUTHORIZED, "say Authorization: Bearer KEY, with the key in Cloud:Admin:Key");
        }
        let Some((known, settings)) = self.books.administered() else {
            return refused(StatusCode::NOT_FOUND, "there are no tenants in the server edition");
        };
        let (parts, body) = request.into_parts();
        let path = parts.uri.path().trim_matches('/').to_owned();
        let words: Vec<&str> = path.split('/').collect();
        match (parts.method, words.as_slice()) {
            (Method::GET, ["tenants"]) => self.listed(&known).await,
            (Method::POST, ["tenants"]) => self.added(&known, &settings, read(body).await?).await,
            (Method::GET, ["tenants", host]) => self.shown(&known, host).await,
            (Method::DELETE, ["tenants", host]) => {
                let kept = making::remove(&settings, &known, host).await.map_err(conflict)?;
                told_of("tenant_removed", host);
                Ok((StatusCode::OK, serde_json::json!({"host": host, "kept": kept.display().to_string()})))
            }
            (Method::POST, ["tenants", host, act @ ("suspend" | "resume")]) => {
                let suspends = *act == "suspend";
                making::set_suspended(&settings, &known, host, suspends).await.map_err(conflict)?;
                told_of(if suspends { "tenant_suspended" } else { "tenant_resumed" }, host);
                self.shown(&known, host).await
            }
            (Method::POST, ["tenants", host, "put-back"]) => {
                making::put_back(&settings, &known, host).await.map_err(conflict)?;
                told_of("tenant_put_back", host);
                self.shown(&known, host).await
            }
            (Method::POST, ["tenants", host, "move"]) => self.moves(&known, &settings, host, read(body).await?).await,
            (_, ["tenants"] | ["tenants", _] | ["tenants", _, "suspend" | "resume" | "put-back" | "move"]) => {
                refused(StatusCode::METHOD_NOT_ALLOWED, "this path does not take that method")
            }
            _ => refused(
                StatusCode::NOT_FOUND,
                "GET and POST /tenants; GET and DELETE /tenants/HOST; POST /tenants/HOST/suspend, resume, put-back and move",
            ),
        }
    }

    async fn listed(&self, known: &Known) -> Answer {
        let all = known.list().await.map_err(|why| (StatusCode::SERVICE_UNAVAILABLE, why))?;
        let tenants: Vec<Value> = all.iter().map(|one| self.told(one)).collect();
        Ok((StatusCode::OK, serde_json::json!({"tenants": tenants})))
    }

    async fn shown(&self, known: &Known, host: &str) -> Answer {
        let found = known.seen_now(host).await.map_err(conflict)?;
        Ok((StatusCode::OK, self.told(&found)))
    }

    fn told(&self, tenant: &Tenant) -> Value {
        let moves = self.moves.lock().unwrap_or_else(PoisonError::into_inner);
        let mut told = told(tenant);
        match moves.get(&tenant.host) {
            Some(Ok(said)) => told["lastMove"] = serde_json::json!({"moved": true, "said": said}),
            Some(Err(why)) => told["lastMove"] = serde_json::json!({"moved": false, "said": why}),
            None => {}
        }
        told
    }

    async fn added(&self, known: &Known, settings: &Settings, new: New) -> Answer {
        let place = match (new.cluster, new.database) {
            (Some(_), Some(_)) => return refused(StatusCode::BAD_REQUEST, "give cluster or database, and not both"),
            (Some(cluster), None) => Where::Cluster(cluster),
            (None, Some(url)) if Catalogue::would_be_shared(&url) => Where::Address(url),
            (None, Some(_)) => return refused(StatusCode::BAD_REQUEST, "database: an address begins with postgres://"),
            (None, None) => Where::Folder,
        };
        let Some(host) = folders::normal_host(&new.host) else {
            return refused(StatusCode::BAD_REQUEST, format!("host: {} is no host name", new.host));
        };
        if let Where::Cluster(cluster) = &place
            && let Err(why) = settings.cloud.cluster(cluster)
        {
            return refused(StatusCode::BAD_REQUEST, format!("cluster: {why}"));
        }
        if let Some(why) = said_badly(&new.email, new.password.as_deref()) {
            return refused(StatusCode::BAD_REQUEST, why);
        }
        let new = NewTenant { host: host.clone(), place, email: new.email, password: new.password };
        let made = making::add(settings, known, new).await.map_err(conflict)?;
        told_of("tenant_added", &host);
        let mut told = told(&known.seen_now(&host).await.map_err(conflict)?);
        if let Some(password) = made {
            told["password"] = password.into();
        }
        Ok((StatusCode::CREATED, told))
    }

    /// It goes on after this is answered; who asks for the tenant sees how it stands.
    async fn moves(self: &Arc<Self>, known: &Arc<Known>, settings: &Arc<Settings>, host: &str, to: Move) -> Answer {
        let seen = known.seen_now(host).await.map_err(conflict)?;
        let (api, known, settings, to) = (self.clone(), known.clone(), settings.clone(), To::parse(&to.to));
        if let To::Cluster(cluster) = &to
            && let Err(why) = settings.cloud.cluster(cluster)
        {
            return refused(StatusCode::BAD_REQUEST, format!("to: {why}"));
        }
        self.moves.lock().unwrap_or_else(PoisonError::into_inner).remove(&seen.host);
        let told = told(&seen);
        drop(supervise::once("the move of a tenant", async move {
            let done = moving::move_to(&settings, &known, &seen.host, &to, &|_, _, _| {}).await;
            match &done {
                Ok(_) => told_of("tenant_moved", &seen.host),
                Err(why) => {
                    tracing::error!(code = "tenant_not_moved", tenant = seen.host, why, "a tenant did not move");
                }
            }
            api.moves.lock().unwrap_or_else(PoisonError::into_inner).insert(seen.host.clone(), done);
        }));
        Ok((StatusCode::ACCEPTED, told))
    }
}

/// Tells of what an administrator has done.
fn told_of(event: &'static str, host: &str) {
    tracing::info!(code = event, tenant = host, "an administrator has changed a tenant");
}

/// What is wrong with the first user of a new tenant, before anything is made for it.
fn said_badly(email: &str, password: Option<&str>) -> Option<String> {
    let mut faults = user::check_names(email, None, email);
    if let Some(password) = password {
        faults.extend(password::check_length("password", password).err().unwrap_or_default());
    }
    let why: Vec<String> = faults.iter().map(|(field, why)| format!("{field}: {}", why.join("; "))).collect();
    (!why.is_empty()).then(|| why.join("\n"))
}

/// What of a tenant may be seen.
pub(crate) fn told(tenant: &Tenant) -> Value {
    let cluster = match &tenant.place {
        Place::Cluster { cluster, .. } => Some(cluster),
        Place::Folder | Place::Address => None,
    };
    serde_json::json!({
        "host": tenant.host,
        "state": tenant.state.as_str(),
        "place": tenant.place.to_string(),
        "cluster": cluster,
        "version": tenant.version,
    })
}

async fn read<T: DeserializeOwned>(body: Body) -> Result<T, (StatusCode, String)> {
    // Whoever reaches this says nothing else.
    let as_json = HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
    let bytes = json(&as_json, body, LONGEST).await.map_err(|failure| (failure.status, failure.title))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| (StatusCode::BAD_REQUEST, format!("the body is not understood: {error}")))
}
