//! The handlers, once for every resource and both dialects.

use crate::body::{self, Begun};
use crate::dialect::{CompanyIn, Dialect};
use crate::failure::Failure;
use crate::quota::{Quota, Quotas};
use crate::request::{self, Arrival, Guest, Limits};
use axum::Router;
use axum::body::Body;
use axum::extract::{FromRequestParts, RawPathParams, Request};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::{MethodFilter, MethodRouter, on};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use indexmap::IndexMap;
use leading::{links, location};
use ledger_core::access::{Principal, Proved};
use ledger_core::books::audit::Origin;
use ledger_core::client::{Client, Left};
use ledger_core::error::{Error, Unavailable};
use ledger_core::fair::present;
use ledger_core::feed::Feed;
use ledger_core::ids::{BusinessId, RecordId, UserId};
use ledger_core::ledger::{Answer, Call, Errand, Ledger, Reply, ReplyKind, WriteCall};
use ledger_core::resource::Scope;
use ledger_core::resource::extra::Media;
use ledger_core::resource::operation::{BodyNeed, Method, ResourceOperations, Verb};
use ledger_core::resource::registry::{answering, registry};
use ledger_core::security::{self, Event, Who};
use signing_in::{accept, login};
use std::future::Future;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// What every handler has at hand.
pub struct Shell {
    pub ledger: Arc<Ledger>,
    pub limits: Limits,
    pub quotas: Quotas,
}

/// All of a dialect, below its prefix. Whose books a request is about travels with it: an `Arc<Shell>` in its extensions.
pub fn router<D: Dialect>() -> Router {
    let mut router = Router::new()
        .route(D::LOGIN_PATH, on(MethodFilter::POST, login::<D>))
        .route(D::ACCEPT_PATH, on(MethodFilter::POST, accept::<D>));
    for resource in registry() {
        let collection = D::collection(resource);
        for (path, verbs) in paths(resource) {
            router = router.route(&format!("{collection}{path}"), operations::<D>(resource, &verbs, Media::Json));
        }
        for verb in resource.verbs().filter(|verb| resource.csv(*verb).is_some()) {
            let path = format!("{collection}{}", csv_path(resource, verb));
            router = router.route(&path, operations::<D>(resource, &[verb], Media::Csv));
        }
    }
    router
        .fallback(|request: Request| async move { failed::<D>(arrival(&request).as_ref(), Failure::not_found()) })
        .method_not_allowed_fallback(|request: Request| async move {
            failed::<D>(arrival(&request).as_ref(), Failure::method_not_allowed())
        })
        .layer(tower_http::catch_panic::CatchPanicLayer::custom(|_| failed::<D>(None, Failure::panicked())))
}

/// The paths of a resource below its collection, and what can be done at each.
pub(crate) fn paths(resource: &ResourceOperations) -> IndexMap<String, Vec<Verb>> {
    let mut paths: IndexMap<String, Vec<Verb>> = IndexMap::new();
    for verb in resource.verbs() {
        paths.entry(resource.path(verb)).or_default().push(verb);
    }
    paths
}

/// Where a read is answered as comma-separated values alone.
pub(crate) fn csv_path(resource: &ResourceOperations, verb: Verb) -> String {
    resource.path(verb) + ".csv"
}

/// Whose books a request is about.
fn shell(request: &Request) -> Result<Arc<Shell>, Failure> {
    let shell = request.extensions().get::<Arc<Shell>>();
    shell.cloned().ok_or_else(|| Error::internal("a request has no books").into())
}

/// `form` is what the path is for: one for comma-separated values answers nothing else.
fn operations<D: Dialect>(resource: &'static ResourceOperations, verbs: &[Verb], form: Media) -> MethodRouter {
    verbs.iter().fold(MethodRouter::new(), |router, &verb| {
        let operation = Operation(resource.operation_id(verb).into());
        router.on(method(resource.method(verb)), move |request: Request| {
            let operation = operation.clone();
            async move {
                let arrival = arrival(&request);
                let mut seen = Seen::default();
                let answer = match shell(&request) {
                    Ok(shell) => answer::<D>(&shell, resource, (verb, form), request, &mut seen).await,
                    Err(failure) => Err(failure),
                };
                let mut response = answer.unwrap_or_else(|failure| {
                    seen.refused(resource.operation_id(verb), &origin::<D>(arrival.as_ref()), &failure);
                    failed::<D>(arrival.as_ref(), failure)
                });
                tell(&mut response, seen.quota);
                response.extensions_mut().insert(seen.caller());
                response.extensions_mut().insert(operation);
                response
            }
        })
    })
}

/// What is seen of who asks, before they are answered.
#[derive(Default)]
struct Seen {
    /// Whether a token or a key was given.
    claims: bool,
    principal: Option<Principal>,
    /// By what they are asked for who were recognised, as long as nobody did.
    unasked: Option<Again>,
    business: Option<BusinessId>,
    quota: Option<Quota>,
}

/// What was asked, as the documents call it, for the line that the log has of each request.
#[derive(Debug, Clone)]
pub struct Operation(pub Arc<str>);

/// Who asked and in which company, for the line that the log has of each request.
#[derive(Debug, Clone, Copy, Default)]
pub struct Caller {
    pub user: Option<UserId>,
    pub key: Option<RecordId>,
    pub business: Option<BusinessId>,
}

impl Seen {
    fn caller(&self) -> Caller {
        let key = self.principal.as_ref().and_then(|principal| principal.key.as_ref());
        Caller {
            user: self.principal.as_ref().map(|principal| principal.user),
            key: key.map(|key| key.key),
            business: self.business,
        }
    }

    /// Tells the log of security of somebody who is kept out.
    fn refused(&self, operation: String, origin: &Origin, failure: &Failure) {
        let why = || failure.title.clone();
        let event = match (failure.status, &self.principal) {
            (StatusCode::FORBIDDEN, Some(_)) => Event::Denied { operation, why: why() },
            (StatusCode::TOO_MANY_REQUESTS, _) => Event::Throttled { operation },
            (StatusCode::UNAUTHORIZED, _) if self.claims => Event::TokenRefused { operation, why: why() },
            _ => return,
        };
        event.tell(self.principal.as_ref().map_or(Who::Stranger, Principal::who), self.business, origin);
    }
}

fn method(method: Method) -> MethodFilter {
    match method {
        Method::Get => MethodFilter::GET,
        Method::Post => MethodFilter::POST,
        Method::Put => MethodFilter::PUT,
        Method::Delete => MethodFilter::DELETE,
    }
}

fn arrival(request: &Request) -> Option<Arrival> {
    request.extensions().get::<Arrival>().cloned()
}

/// A failure in the dialect's words. What the client may not see goes to the log.
pub fn failed<D: Dialect>(arrival: Option<&Arrival>, failure: Failure) -> Response {
    failure_response(arrival, D::failure(&failure), failure)
}

/// A failure outside every dialect.
pub fn failed_plainly(arrival: &Arrival, failure: Failure) -> Response {
    let body = serde_json::json!({
        "status": failure.status.as_u16(),
        "title": failure.title,
        "errors": crate::dialect::field_messages(&failure),
    });
    failure_response(Some(arrival), body.to_string(), failure)
}

fn failure_response(arrival: Option<&Arrival>, body: String, failure: Failure) -> Response {
    if let Some(detail) = &failure.detail {
        let (request_id, path) = arrival.map(|at| (at.request_id.as_str(), at.path.as_str())).unwrap_or_default();
        let client = arrival.and_then(|at| at.client_request_id.as_deref());
        tracing::error!(request_id, clientRequestId = client, path, detail, "a request failed on our side");
    }
    if let Some((business, what)) = &failure.tampered {
        security::tampered(Some(*business), what);
    }
    let mut response = json(failure.status, body);
    response.headers_mut().insert(request::ERROR_CODE, HeaderValue::from_static(failure.code.as_str()));
    for (name, value) in failure.headers {
        response.headers_mut().insert(name, value);
    }
    response
}

fn json(status: StatusCode, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"));
    response
}

/// Runs to its end even when the client hangs up, within the time that anybody waits. Whose patience is over is told that
/// nothing was written, where that is so, and else what `late` says.
async fn unhurried<T: Send + 'static>(
    patience: Duration,
    late: Unavailable,
    work: impl Future<Output = Result<T, Error>> + Send + 'static,
) -> Result<T, Failure> {
    let client = Client::default();
    let served = client.clone();
    let whole = async move {
        let mut work = std::pin::pin!(served.served(work));
        if let Ok(done) = tokio::time::timeout(patience, &mut work).await {
            return done;
        }
        // Whoever hung up waits no longer than others would.
        served.leave();
        work.await
    };
    match tokio::time::timeout(patience, tokio::spawn(whole)).await {
        Ok(Ok(done)) => Ok(done?),
        Ok(Err(panic)) => Err(Error::internal(panic).into()),
        Err(_) => Err(Error::Unavailable(match client.leave() {
            Left::Nothing => Unavailable::Overloaded,
            Left::Open => late,
        })
        .into()),
    }
}

/// What an answer may be called: each path has one form, but for a read that its query asks for as comma-separated values.
fn kinds(resource: &ResourceOperations, (verb, form): (Verb, Media), parts: &Parts) -> Vec<&'static str> {
    let asks =
        || request::query(parts).is_ok_and(|pairs| pairs.iter().any(|(name, said)| name == "format" && said == "csv"));
    let is_csv = form == Media::Csv || (resource.csv(verb).is_some() && asks());
    let forms = if is_csv { vec![Media::Csv] } else { resource.media(verb) };
    forms.into_iter().map(kind).collect()
}

/// What a form is called.
const fn kind(media: Media) -> &'static str {
    match media {
        Media::Json => "application/json",
        Media::NdJson => "application/x-ndjson",
        Media::Csv => "text/csv",
        Media::EventStream => request::EVENT_STREAM,
    }
}

/// Who a token or a key says that asks, as of now.
async fn asker(
    shell: &Shell,
    (token, company, address): (&str, Option<&str>, Option<IpAddr>),
) -> Result<Principal, Failure> {
    let asker = shell.ledger.authenticate(token, company, address);
    let asker = tokio::time::timeout(shell.limits.request, asker).await;
    Ok(asker.map_err(|_| Error::Unavailable(Unavailable::Overloaded))??)
}

/// The same, or who is remembered as that where nobody need be asked yet.
async fn who(
    shell: &Shell,
    shown: (&str, Option<&str>, Option<IpAddr>),
    may_be_unasked: bool,
    seen: &mut Seen,
) -> Result<Principal, Failure> {
    let (token, company, address) = shown;
    let unasked = seen.business.filter(|_| may_be_unasked);
    let principal = match unasked.and_then(|company| shell.ledger.recognise(token, company, address)) {
        Some(recognised) => {
            seen.unasked = Some(Again { token: token.to_owned(), company: company.map(str::to_owned), address });
            recognised
        }
        None => asker(shell, shown).await?,
    };
    seen.principal = Some(principal.clone());
    Ok(principal)
}

/// Whether it is for the lane alone to judge who asks, so that nobody need ask the database before: what writes in the books
/// of a company, and says nothing of where these stand.
fn is_judged_in_the_lane(resource: &ResourceOperations, verb: Verb, parts: &Parts) -> bool {
    let is_plain = parts.uri.query().is_none() && !parts.headers.contains_key(request::AT_LEAST_SEQUENCE);
    is_plain && resource.scope == Scope::Business && resource.writes(verb) && !resource.changes_people
}

/// What somebody who was recognised is asked for by, where that turns out to be needed.
#[derive(Clone)]
struct Again {
    token: String,
    company: Option<String>,
    address: Option<IpAddr>,
}

/// Writes. Whoever was recognised may have to be asked for after all.
async fn written(
    patience: Duration,
    ledger: Arc<Ledger>,
    (principal, again): (Principal, Option<Again>),
    call: WriteCall,
) -> Result<Reply, Failure> {
    let work = async move {
        let Some(Again { token, company, address }) = again else { return ledger.write_down(&principal, call).await };
        if let Some(reply) = ledger.write_recognised(&principal, call.clone()).await? {
            return Ok(reply);
        }
        let principal = ledger.authenticate(&token, company.as_deref(), address).await?;
        ledger.write_down(&principal, call).await
    };
    unhurried(patience, Unavailable::CommitOutcomeUnknown, work).await
}

/// Answers a request. Nobody is refused on the word of what is remembered: who was recognised is asked for first, and where they
/// are nobody any more, they hear that and nothing else.
async fn answer<D: Dialect>(
    shell: &Shell,
    resource: &'static ResourceOperations,
    asked: (Verb, Media),
    request: Request,
    seen: &mut Seen,
) -> Result<Response, Failure> {
    let answered = respond::<D>(shell, resource, asked, request, seen).await;
    let (Err(failure), Some(Again { token, company, address })) = (&answered, seen.unasked.take()) else {
        return answered;
    };
    // Where the database is away, that is the answer.
    if failure.status.is_server_error() {
        return answered;
    }
    match asker(shell, (&token, company.as_deref(), address)).await {
        Err(unknown) if unknown.status == StatusCode::UNAUTHORIZED => {
            seen.principal = None;
            Err(unknown)
        }
        _ => answered,
    }
}

async fn respond<D: Dialect>(
    shell: &Shell,
    resource: &'static ResourceOperations,
    (verb, form): (Verb, Media),
    request: Request,
    seen: &mut Seen,
) -> Result<Response, Failure> {
    // What cannot be served anyway costs nothing: neither a look at the token nor one at the body.
    if shell.quotas.are_full() {
        return Err(Error::Unavailable(Unavailable::Overloaded).into());
    }
    let (mut parts, body) = request.into_parts();
    let patience = shell.limits.request;
    let body = begun(&parts, body).await;
    let came_whole = body.is_whole();
    // Before the rest of the body: nobody unknown makes us read a megabyte.
    let path = RawPathParams::from_request_parts(&mut parts, &()).await.map_err(|_| Failure::not_found())?;
    let parameter = |name: &str| path.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_owned());
    let named = business::<D>(resource, &parts, parameter("businessId"));
    let token = request::bearer(&parts.headers)?;
    let address = parts.extensions.get::<Arrival>().map(|arrival| arrival.address);
    let of_company = named.as_ref().ok().and_then(Option::as_deref);
    seen.claims = true;
    seen.business = of_company.and_then(BusinessId::parse);
    // Of whom something is still to come, it is known who they are before we wait for it.
    let may_be_unasked = came_whole && is_judged_in_the_lane(resource, verb, &parts);
    let principal = who(shell, (token, of_company, address), may_be_unasked, seen).await?;
    seen.quota = shell.quotas.take(principal.caller()).await;
    if let Some(Quota { left: None, resets_in, .. }) = seen.quota {
        return Err(Error::RateLimited { retry_after_seconds: resets_in }.into());
    }
    let proved = tokio::time::timeout(patience, shell.ledger.proved(&principal, seen.business));
    let proved = proved.await.map_err(|_| Error::Unavailable(Unavailable::Overloaded))?;
    welcome(&parts, proved)?;
    request::acceptable(&parts.headers, &kinds(resource, (verb, form), &parts))?;
    let as_texts = request::asks_for_texts(&parts.headers)?;
    let writes = resource.writes(verb);
    let need = resource.body_need(verb);
    let body = match need {
        BodyNeed::None => Vec::new(),
        BodyNeed::Optional => body::optional_json(&parts.headers, body, shell.limits.body).await?.to_vec(),
        BodyNeed::Required => body::json(&parts.headers, body, shell.limits.body).await?.to_vec(),
    };
    // What was not there yet ended when its sender liked: who they are is asked as of now.
    let as_of_now = need == BodyNeed::None || came_whole;
    let principal = if as_of_now { principal } else { asker(shell, (token, of_company, address)).await? };
    let mut query = request::query(&parts)?;
    query.extend(Some(("format".to_owned(), "csv".to_owned())).filter(|_| form == Media::Csv));
    let listens = resource.awaited(verb).is_some() && request::listens(&parts.headers);
    if let Some(last) = request::last_event(&parts.headers)?.filter(|_| listens) {
        query.retain(|(name, _)| name != "after");
        query.push(("after".to_owned(), last.to_owned()));
    }
    let arrival = parts.extensions.get::<Arrival>();
    let agent = parts.headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or("unnamed");
    let call = Call {
        resource,
        verb,
        business: named?,
        id: parameter("id"),
        query,
        body,
        expectation: request::expected(&parts.headers, verb)?,
        idempotency_key: request::idempotency_key(&parts.headers)?.filter(|_| writes),
        origin: origin::<D>(arrival),
        agent: Some(agent.to_owned()),
        listens,
        at_least: if resource.scope == Scope::Business { request::at_least(&parts.headers)? } else { None },
    };
    // Only now: one who sends slowly takes nobody's place.
    let _place = shell.quotas.enter(proved)?;
    let page_size = call.query.iter().find(|(name, _)| name == "pageSize").map(|(_, size)| size.clone());
    // What is known is known with its numbers.
    if let Some(known) = (!as_texts).then(|| shell.ledger.known(&principal, &call)).flatten() {
        let body = known.rendered(D::LETTER, |reply| D::success(message(reply.kind), &reply.json));
        let body = Body::from(Bytes::from_owner(body));
        return Ok(render(&parts, &known.reply, body, page_size.as_deref(), None));
    }
    let again = seen.unasked.clone();
    let ledger = shell.ledger.clone();
    let answer = match call.sorted() {
        // It ends with who waits for it, whether they hang up or have waited for too long.
        Errand::Read(call) => {
            present(patience, |waits| Box::pin(async move { ledger.read(waits, &principal, call).await })).await?
        }
        Errand::Write(call) => Answer::Whole(written(patience, ledger, (principal, again), call).await?),
    };
    let reply = match answer {
        Answer::Whole(reply) => reply,
        Answer::Portions(feed, sequence) => return Ok(knowing(portions(feed, arrival), sequence)),
    };
    let as_texts = as_texts && reply.media == Media::Json;
    let reply = if as_texts { reply.with_texts()? } else { reply };
    let body = match reply.media {
        Media::Json => D::success(message(reply.kind), &several::payload::<D>(&reply)),
        Media::NdJson | Media::Csv | Media::EventStream => reply.json.clone(),
    };
    let body = Body::from(shell.quotas.handed.over(proved.account(), body, !writes)?);
    let made_in = resource.names_record(verb).then(|| D::collection(answering(resource, verb)));
    let mut response = render(&parts, &reply, body, page_size.as_deref(), made_in.as_deref());
    if as_texts && response.status() != StatusCode::NOT_MODIFIED {
        say_texts(&mut response);
    }
    Ok(response)
}

/// The answer says that its decimals are texts, and that others may have it otherwise.
fn say_texts(response: &mut Response) {
    set(response, request::DECIMAL_FORMAT, request::TEXTS);
    response.headers_mut().append(header::VARY, HeaderValue::from_static("x-decimal-format"));
}

/// Tells whoever lets connections in who is at the end of this one.
/// What of a body is there. Until it is known who they are, they wait for us and not we for the rest.
async fn begun(parts: &Parts, body: Body) -> Begun {
    let body = Begun::of(&parts.headers, body).await;
    if !body.is_whole()
        && let Some(guest) = parts.extensions.get::<Guest>()
    {
        guest.waits();
    }
    body
}

fn welcome(parts: &Parts, who: Proved) -> Result<(), Failure> {
    match parts.extensions.get::<Guest>() {
        Some(guest) if !guest.signed_in(who) => Err(Error::RateLimited { retry_after_seconds: 1 }.into()),
        Some(_) | None => Ok(()),
    }
}

/// What is handed over while it is made. Where it breaks off, so does the connection: half of it must not look whole.
fn portions(feed: Feed, arrival: Option<&Arrival>) -> Response {
    let media = feed.media;
    let request_id = arrival.map(|arrival| arrival.request_id.clone()).unwrap_or_default();
    let portions = stream::unfold((feed, request_id), |(mut feed, request_id)| async move {
        let portion = feed.next().await?.map_err(|error| {
            tracing::warn!(request_id, ?error, "an answer broke off");
            std::io::Error::other("the answer broke off")
        });
        Some((portion, (feed, request_id)))
    });
    // Whoever compresses it asks once more after its end, which only a fused stream may be asked.
    let mut response = json(StatusCode::OK, Body::from_stream(portions.fuse()));
    set(&mut response, header::CONTENT_TYPE, content_type(media));
    if media == Media::EventStream {
        // nginx would keep it until it has a page of it.
        set(&mut response, HeaderName::from_static("x-accel-buffering"), "no");
    }
    response
}

const fn content_type(media: Media) -> &'static str {
    match media {
        Media::Json => "application/json; charset=utf-8",
        Media::NdJson => "application/x-ndjson; charset=utf-8",
        Media::Csv => "text/csv; charset=utf-8; header=present",
        Media::EventStream => request::EVENT_STREAM,
    }
}

/// Says where the caller stands.
fn tell(response: &mut Response, quota: Option<Quota>) {
    let Some(Quota { limit, left, resets_in }) = quota else { return };
    let headers = response.headers_mut();
    headers.insert(request::RATE_LIMIT, limit.into());
    headers.insert(request::RATE_LIMIT_REMAINING, left.unwrap_or_default().into());
    headers.insert(request::RATE_LIMIT_RESET, resets_in.into());
}

/// The company a request is about, named exactly once or twice alike.
fn business<D: Dialect>(
    resource: &ResourceOperations,
    parts: &Parts,
    in_path: Option<String>,
) -> Result<Option<String>, Failure> {
    let in_header = request::business_header(&parts.headers)?;
    if resource.scope != Scope::Business {
        return Ok(None);
    }
    match D::COMPANY_IN {
        CompanyIn::Path => match (in_path, in_header) {
            (Some(path), Some(header)) if path != header => Err(request::business_mismatch()),
            (path, _) => Ok(path),
        },
        CompanyIn::Header => in_header.map(|id| Some(id.to_owned())).ok_or_else(request::business_required),
    }
}

/// The word that goes with a success.
pub(crate) fn message(kind: ReplyKind) -> &'static str {
    match kind {
        ReplyKind::Listed | ReplyKind::Found | ReplyKind::Answered => "OK",
        ReplyKind::Created => "Created",
        ReplyKind::Updated => "Updated",
        ReplyKind::Deleted => "Deleted",
    }
}

/// What a success is answered with.
pub(crate) const fn status_of(kind: ReplyKind) -> StatusCode {
    match kind {
        ReplyKind::Created => StatusCode::CREATED,
        ReplyKind::Listed | ReplyKind::Found | ReplyKind::Updated | ReplyKind::Deleted | ReplyKind::Answered => {
            StatusCode::OK
        }
    }
}

/// An answer that says up to where it knows the books.
fn knowing(mut response: Response, sequence: Option<i64>) -> Response {
    response.headers_mut().extend(sequence.map(|sequence| (request::LEDGER_SEQUENCE, sequence.into())));
    response
}

/// `made_in` is the collection of what an action on a record may have made.
fn render(parts: &Parts, reply: &Reply, body: Body, page_size: Option<&str>, made_in: Option<&str>) -> Response {
    knowing(rendered(parts, reply, body, page_size, made_in), reply.sequence)
}

fn rendered(parts: &Parts, reply: &Reply, body: Body, page_size: Option<&str>, made_in: Option<&str>) -> Response {
    let path = parts.extensions.get::<Arrival>().map(|arrival| arrival.path.as_str()).unwrap_or_default();
    let tag = reply.tag();
    if let Some(tag) =
        tag.as_ref().filter(|tag| reply.kind == ReplyKind::Found && request::none_match(&parts.headers, tag))
    {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        set(&mut response, header::ETAG, &format!("\"{tag}\""));
        return response;
    }
    let status = status_of(reply.kind);
    if reply.media != Media::Json {
        let mut response = json(StatusCode::OK, body);
        set(&mut response, header::CONTENT_TYPE, content_type(reply.media));
        return response;
    }
    let mut response = json(status, body);
    if reply.dry_run {
        set(&mut response, request::DRY_RUN, "true");
        return response;
    }
    if let Some(tag) = tag {
        set(&mut response, header::ETAG, &format!("\"{tag}\""));
    }
    if let (ReplyKind::Created, Some((id, _))) = (reply.kind, reply.record) {
        set(&mut response, header::LOCATION, &location(path, id, made_in));
    }
    if let Some(pagination) = &reply.pagination {
        set(&mut response, header::LINK, &links(path, parts.uri.query().unwrap_or_default(), page_size, pagination));
    }
    if reply.replayed {
        set(&mut response, request::IDEMPOTENCY_REPLAYED, "true");
    }
    if !reply.withheld.is_empty() {
        set(&mut response, request::WITHHELD, &reply.withheld.join(","));
    }
    response
}

fn set(response: &mut Response, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}

fn origin<D: Dialect>(arrival: Option<&Arrival>) -> Origin {
    Origin {
        user: None,
        key: None,
        address: arrival.map(|arrival| arrival.address),
        dialect: Some(D::LETTER),
        request_id: arrival.map(|arrival| arrival.request_id.clone()),
        client_request_id: arrival.and_then(|arrival| arrival.client_request_id.clone()),
    }
}

/// A request that needs no token, with its body read: whoever sends it slowly holds nobody's books meanwhile.
pub async fn ahead(request: Request) -> Result<Request, Failure> {
    let (parts, body) = request.into_parts();
    let bytes = body::json(&parts.headers, body, body::LONGEST_LOGIN).await?;
    Ok(Request::from_parts(parts, Body::from(bytes)))
}

mod leading;
mod several;
mod signing_in;
#[cfg(test)]
mod tests;
