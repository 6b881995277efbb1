//! Webhooks: who is told of what happens in a company, and how.
//!
//! Owns: what a webhook is, that its secret is shown once, and that it hears in the name of who wrote it last, never more than
//! they may view. Refuses: to send anything; what is due it says in [`post`], and somebody else carries it.

mod actions;
mod deliveries;
pub mod letter;
pub mod post;

use crate::clock::Instant;
use crate::error::{Code, Error, FieldErrors, Result};
use crate::event::types::Types;
use crate::field::{Each, Faults, Field, Label, Maybe};
use crate::ids::{BusinessId, RecordId, UserId};
use crate::stored::AsJson;
use books::access::Business;
use books::cx::Cx;
use books::keys::{Keys, Purpose};
use kit::extra::{Extra, action};
use kit::list::Reads;
use kit::master::{self, Columns, Master, RecordKeeping, keeping, kept};
use kit::resource::{About, Resource, Scope};
use kit::rows::{self, Filter, Rows};
use schema::address::search_text;
use schema::key::ResourceKey;
use schemars::JsonSchema;
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, Condition, ConnectionTrait, EntityTrait, PaginatorTrait, QueryFilter, Value};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::net::Ipv6Addr;

pub struct Webhooks;

/// A header that is sent along.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct WebhookHeaderInput {
    /// Its name, such as `Authorization`.
    name: Field<Label<100>>,
    /// What it says. `***` keeps what it said so far.
    value: Field<Label<2000>>,
}

/// What a client sends to create or replace a webhook.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct WebhookInput {
    /// Where events are sent: `https://` or `http://`, a host, and what else there is.
    url: Field<Label<2000>>,
    /// Which events: `salesInvoice.posted`, `salesInvoice.*`, `*.voided` or `*`. At most 50.
    #[schemars(extend("maxItems" = 50))]
    types: Field<Vec<Field<Label<100>>>>,
    /// How much is told; `thin` when absent. With `full`, decimals are numbers with all their digits: who reads numbers into
    /// binary floats takes `thin`, and reads the record with `X-Decimal-Format: string`.
    payload: Maybe<Payload>,
    /// In which form; `standard` when absent. Either is signed as Standard Webhooks has it.
    format: Maybe<Format>,
    /// Headers that are sent along; at most 20. What they say is shown to nobody.
    #[schemars(extend("maxItems" = 20))]
    headers: Each<WebhookHeaderInput>,
    /// Whether events are sent; `active` when absent.
    status: Maybe<WebhookStatus>,
}

/// A header that is sent along; what it says is shown to nobody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookHeader {
    /// Its name.
    pub name: String,
    /// Always `***`; sent back, it keeps what the header says.
    pub value: String,
}

/// Somebody who is told of what happens.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Webhook")]
pub struct WebhookView {
    #[serde(flatten)]
    keeping: RecordKeeping,
    /// Where events are sent.
    url: String,
    /// Which events.
    types: Vec<String>,
    /// How much is told.
    payload: Payload,
    /// In which form.
    format: Format,
    /// Headers that are sent along.
    headers: Vec<WebhookHeader>,
    /// Whether events are sent.
    status: WebhookStatus,
    /// Why the server gave up, where it did.
    reason: Option<String>,
    /// The user in whose name it hears, who wrote it last: of what they may not view it is told nothing.
    user_id: UserId,
    /// Until when messages are signed under the secret before as well.
    former_secret_until: Option<Instant>,
    /// What messages are signed with. Only in the answer that makes it.
    secret: Option<String>,
}

impl AsRef<RecordKeeping> for WebhookView {
    fn as_ref(&self) -> &RecordKeeping {
        &self.keeping
    }
}

pub(crate) use schema::webhook as table;
pub use schema::webhook::{Format, Payload, WebhookStatus};
use table::{Column, cursor, delivery};

/// What is shown of what a header says.
const HIDDEN: &str = "***";
/// So many a company has at most: each event is sent by each of them.
const MOST: u64 = 50;
const MOST_TYPES: usize = 50;
const MOST_HEADERS: usize = 20;
/// What a body says of headers waits here for what they said so far.
const SAID_HEADERS: &str = "headers";

/// What is the message's own to say, or HTTP's.
const OWN_HEADERS: [&str; 18] = [
    "host",
    "content-type",
    "content-length",
    "content-encoding",
    "transfer-encoding",
    "connection",
    "keep-alive",
    "expect",
    "upgrade",
    "te",
    "trailer",
    "proxy-authorization",
    "proxy-connection",
    "date",
    "user-agent",
    "accept-encoding",
    "traceparent",
    "tracestate",
];

impl Resource for Webhooks {
    const KEY: ResourceKey = ResourceKey::Webhooks;
    const SCOPE: Scope = Scope::Business;
    const SECRETS: &'static [&'static str] = &["secret"];
    const ABOUT: About = About {
        one: "a webhook",
        many: "webhooks",
        description: "Who is told of what happens in the company, as Standard Webhooks has it: each event is sent by POST, \
                      signed, in the order of the feed, until it is taken with 2xx. What is not taken is sent again for three \
                      days, and what comes after it waits. A webhook hears in the name of who wrote it last, and of nothing \
                      that they may not view.",
        sorts: &["createdAt", "updatedAt"],
        searched: "URL",
    };
    type Input = WebhookInput;
    type Draft = Columns<Column>;
    type View = WebhookView;

    fn parameters() -> Vec<kit::list::Parameter> {
        rows::parameters::<Self>()
    }

    fn extras() -> Vec<Extra> {
        vec![
            action::<actions::Test>(),
            action::<actions::RotateSecret>(),
            action::<actions::Replay>(),
            action::<actions::Redeliver>(),
            deliveries::reading(),
        ]
    }

    fn example() -> serde_json::Value {
        json!({
            "url": "https://shop.example/hooks/duet", "types": ["salesInvoice.*", "receipt.posted"], "payload": "thin", "format": "standard",
            "headers": [{"name": "X-Shop", "value": "north"}], "status": "paused"
        })
    }

    fn example_view() -> serde_json::Value {
        json!({
            "headers": [{"name": "X-Shop", "value": HIDDEN}], "reason": null, "secret": null,
            "userId": "019a9f6e-6c00-7c55-8a77-1f3e5d7b9c03", "formerSecretUntil": null
        })
    }

    fn check(_: Option<&Business>, input: WebhookInput) -> Result<Columns<Column>, FieldErrors> {
        let mut faults = Faults::default();
        let mut row = Columns::new();
        let given = matches!(input.url, Field::Given(_));
        let url = faults.required("url", input.url).into_inner();
        if given && let Err(why) = check_url(&url) {
            faults.add("url", why);
        }
        let types = types(&mut faults, input.types);
        let headers = headers(&mut faults, input.headers);
        row.set_beside(SAID_HEADERS, &headers);
        row.set(Column::Search, search_text(&[Some(&url)]));
        row.set(Column::Url, url);
        row.set(Column::Types, AsJson(types));
        row.set(Column::Payload, faults.optional("payload", input.payload).unwrap_or_default());
        row.set(Column::Format, faults.optional("format", input.format).unwrap_or_default());
        let status = faults.optional("status", input.status).unwrap_or_default();
        row.set(Column::Status, status);
        faults.finish(row)
    }

    async fn list(cx: &Cx<'_>, query: &kit::list::ListQuery) -> Result<kit::list::Page<WebhookView>> {
        rows::list::<Self>(cx, query).await
    }

    async fn get(cx: &Cx<'_>, id: RecordId) -> Result<WebhookView> {
        rows::get::<Self>(cx, id).await
    }

    async fn create(cx: &Cx<'_>, draft: &Columns<Column>) -> Result<WebhookView> {
        let there = table::Entity::find().filter(Column::BusinessId.eq(cx.business_id()?)).count(&cx.db).await?;
        if there >= MOST {
            let why = format!("A company has at most {MOST} webhooks; delete one that nobody needs");
            return Err(Error::conflict(Code::InvalidState, why));
        }
        let secret = letter::secret()?;
        let mut draft = draft.clone();
        draft.set(Column::Secret, hidden(cx.keys(), cx, secret.as_bytes())?);
        let view = master::create::<Self>(cx, &draft).await?;
        Ok(WebhookView { secret: Some(secret), ..view })
    }

    async fn update(cx: &Cx<'_>, id: RecordId, draft: &Columns<Column>) -> Result<WebhookView> {
        master::update::<Self>(cx, id, draft).await
    }

    async fn delete(cx: &Cx<'_>, id: RecordId) -> Result<()> {
        master::delete::<Self>(cx, id).await
    }
}

/// Whether something can be sent there at all. Whether it may be is judged by the address that is reached.
fn check_url(url: &str) -> Result<(), &'static str> {
    const NO_URL: &str = "must be a URL such as https://shop.example/hooks";
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")).ok_or(NO_URL)?;
    let (authority, _) = rest.find(['/', '?', '#']).map_or((rest, ""), |end| rest.split_at(end));
    if authority.contains('@') {
        return Err("must have no name and no password in it; send them as a header");
    }
    if url.contains('#') {
        return Err("must have no fragment");
    }
    let port = authority.rsplit_once(':').filter(|(_, port)| !port.ends_with(']')).map(|(_, port)| port.parse::<u16>());
    let host = authority.rsplit_once(':').filter(|_| port.is_some()).map_or(authority, |(host, _)| host);
    let is_plain = url.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>\"\\^`{|}".contains(&byte));
    match port {
        _ if host.is_empty() || !is_plain => Err(NO_URL),
        Some(Err(_) | Ok(0)) => Err("must have a port from 1 to 65535, or none"),
        Some(Ok(25)) => Err("must have another port: 25 takes mail"),
        Some(Ok(_)) | None if !is_host(host) || authority.contains('+') => Err(NO_URL),
        Some(Ok(_)) | None => Ok(()),
    }
}

/// A name, an address of the fourth version, or one of the sixth in its brackets.
fn is_host(host: &str) -> bool {
    if let Some(six) = host.strip_prefix('[') {
        return six.strip_suffix(']').is_some_and(|six| six.parse::<Ipv6Addr>().is_ok());
    }
    let is_part = |part: &str| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        !part.is_empty() && !part.starts_with('-') && part.bytes().all(is_plain)
    };
    !host.ends_with("..") && host.trim_end_matches('.').split('.').all(is_part)
}

fn types(faults: &mut Faults, given: Field<Vec<Field<Label<100>>>>) -> Vec<String> {
    let was_given = matches!(given, Field::Given(_));
    let given = faults.required("types", given);
    if was_given && given.is_empty() {
        faults.add("types", "must name at least one type; * is all of them");
    }
    if given.len() > MOST_TYPES {
        faults.add("types", format!("must be at most {MOST_TYPES}"));
    }
    let mut words = Vec::new();
    for (place, word) in given.into_iter().enumerate() {
        let at = format!("types[{place}]");
        let was_given = matches!(word, Field::Given(_));
        let word = faults.required(&at, word).into_inner();
        match Types::of([word.as_str()]) {
            Err((_, why)) if was_given => faults.add(&at, why),
            Ok(_) if words.contains(&word) => faults.add(&at, "is named before already"),
            Err(_) | Ok(_) => words.push(word),
        }
    }
    words
}

fn headers(faults: &mut Faults, given: Each<WebhookHeaderInput>) -> Vec<WebhookHeader> {
    let said = faults.each("headers", given, |faults, header| {
        let named = matches!(header.name, Field::Given(_));
        let name = faults.required("name", header.name).into_inner();
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        let small = name.to_ascii_lowercase();
        if named && !name.bytes().all(is_token) {
            faults.add("name", "must be the name of a header");
        } else if OWN_HEADERS.contains(&small.as_str()) || small.starts_with("webhook-") {
            faults.add("name", "is said by the server itself");
        }
        let value = faults.required("value", header.value).into_inner();
        if !value.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) {
            faults.add("value", "must be printable ASCII");
        }
        WebhookHeader { name, value }
    });
    if said.len() > MOST_HEADERS {
        faults.add("headers", format!("must be at most {MOST_HEADERS}"));
    }
    let is_second = |(place, header): (usize, &WebhookHeader)| {
        said.iter().take(place).any(|earlier| earlier.name.eq_ignore_ascii_case(&header.name))
    };
    if said.iter().enumerate().any(is_second) {
        faults.add("headers", "must name each header once");
    }
    said
}

/// Whose what is hidden is: in another company it does not open.
fn whose(cx: &Cx<'_>) -> Result<String> {
    Ok(cx.business_id()?.to_string())
}

fn hidden(keys: &Keys, cx: &Cx<'_>, text: &[u8]) -> Result<String> {
    keys.hide(Purpose::Webhooks, &whose(cx)?, text)
}

fn revealed(cx: &Cx<'_>, hidden: &str) -> Result<String> {
    String::from_utf8(cx.keys().reveal(Purpose::Webhooks, &whose(cx)?, hidden)?).map_err(Error::internal)
}

/// The headers of a webhook, as they are sent.
fn headers_of(cx: &Cx<'_>, row: &table::Model) -> Result<Vec<WebhookHeader>> {
    serde_json::from_str(&revealed(cx, &row.headers)?).map_err(Error::internal)
}

impl Rows for Webhooks {
    type Entity = table::Entity;

    const ID: Column = Column::Id;
    const CHANGED: Column = Column::UpdatedAt;
    const SEARCH: Column = Column::Search;
    const SORTS: &'static [Column] = &[Column::CreatedAt, Column::UpdatedAt];

    fn filters() -> Vec<Filter<Column>> {
        vec![Filter::equal("status", "Webhooks of these statuses.", Reads::AnyOf(WebhookStatus::TEXTS), Column::Status)]
    }

    fn reach(cx: &Cx<'_>) -> Result<Condition> {
        Ok(Condition::all().add(Column::BusinessId.eq(cx.business_id()?)))
    }

    async fn views(cx: &Cx<'_>, rows: Vec<table::Model>) -> Result<Vec<WebhookView>> {
        let view = |row: table::Model| {
            let shown = |header: WebhookHeader| WebhookHeader { value: HIDDEN.into(), ..header };
            Ok(WebhookView {
                headers: headers_of(cx, &row)?.into_iter().map(shown).collect(),
                keeping: kept!(row),
                url: row.url,
                types: row.types.0,
                payload: row.payload,
                format: row.format,
                status: row.status,
                reason: row.reason,
                user_id: row.user_id,
                former_secret_until: row.former_until,
                secret: None,
            })
        };
        rows.into_iter().map(view).collect()
    }
}

impl Master for Webhooks {
    keeping!();
    const UNIQUE: &'static [(&'static str, Column)] = &[];

    fn version(row: &table::Model) -> i64 {
        row.version
    }

    fn placement(cx: &Cx<'_>) -> Result<Vec<(Column, Value)>> {
        Ok(vec![(Column::BusinessId, cx.business_id()?.into())])
    }

    /// Whoever writes it speaks for it from then on, as far as they may.
    async fn complete(cx: &Cx<'_>, row: Option<&table::Model>, draft: &mut Columns<Column>) -> Result<()> {
        let Some(said) = draft.beside::<Vec<WebhookHeader>>(SAID_HEADERS)? else { return Ok(()) };
        let before = row.map_or_else(|| Ok(Vec::new()), |row| headers_of(cx, row))?;
        let goes_elsewhere = match (row, draft.get(Column::Url)) {
            (Some(row), Some(Value::String(Some(url)))) => origin(&row.url) != origin(url),
            _ => false,
        };
        let headers = kept_headers(said, if goes_elsewhere { &[] } else { &before })?;
        // Hidden anew it would be another text.
        let same = row.filter(|_| headers == before).map(|row| row.headers.clone());
        let anew = || {
            let text = serde_json::to_string(&headers).map_err(Error::internal)?;
            hidden(cx.keys(), cx, text.as_bytes())
        };
        draft.set(Column::Headers, same.map_or_else(anew, Ok)?);
        draft.set(Column::UserId, cx.user);
        let disabled = draft.get(Column::Status) == Some(&Value::from(WebhookStatus::Disabled));
        let reason = row.and_then(|row| row.reason.clone()).filter(|_| disabled);
        draft.set(Column::Reason, reason);
        Ok(())
    }

    /// It hears from here on: its own making is the first that it is told of.
    async fn inserted(cx: &Cx<'_>, id: RecordId, _: &Columns<Column>) -> Result<()> {
        let after = books::seal::heads::stands(cx).await?.map_or(books::BEFORE_THE_FIRST, |books| books.audit_sequence);
        let row = cursor::ActiveModel {
            business_id: Set(cx.business_id()?),
            webhook_id: Set(id),
            after: Set(after),
            failures: Set(0),
            next_at: Set(None),
        };
        cursor::Entity::insert(row).exec_without_returning(&cx.db).await?;
        Ok(())
    }

    /// What was mended is tried at once.
    async fn changed(cx: &Cx<'_>, row: &table::Model, _: &Columns<Column>) -> Result<()> {
        cursor::Entity::update_many()
            .filter(cursor::Column::BusinessId.eq(row.business_id))
            .filter(cursor::Column::WebhookId.eq(row.id))
            .col_expr(cursor::Column::Failures, Expr::value(0))
            .col_expr(cursor::Column::NextAt, Expr::value(Option::<i64>::None))
            .exec(&cx.db)
            .await?;
        Ok(())
    }

    async fn release(cx: &Cx<'_>, row: &table::Model) -> Result<()> {
        cursor::Entity::delete_many()
            .filter(cursor::Column::BusinessId.eq(row.business_id))
            .filter(cursor::Column::WebhookId.eq(row.id))
            .exec(&cx.db)
            .await?;
        delivery::Entity::delete_many()
            .filter(delivery::Column::BusinessId.eq(row.business_id))
            .filter(delivery::Column::WebhookId.eq(row.id))
            .exec(&cx.db)
            .await?;
        Ok(())
    }
}

/// Removes all that a company has of them.
pub(crate) async fn forget_all_of(connection: &impl ConnectionTrait, business: BusinessId) -> Result<()> {
    table::Entity::delete_many().filter(Column::BusinessId.eq(business)).exec(connection).await?;
    cursor::Entity::delete_many().filter(cursor::Column::BusinessId.eq(business)).exec(connection).await?;
    delivery::Entity::delete_many().filter(delivery::Column::BusinessId.eq(business)).exec(connection).await?;
    Ok(())
}

/// Whom something is sent to: by which protocol, to which host, at which port.
fn origin(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    Some(format!("{scheme}://{authority}").to_ascii_lowercase())
}

/// Headers as they are said, where `***` stands for what was said before.
fn kept_headers(said: Vec<WebhookHeader>, before: &[WebhookHeader]) -> Result<Vec<WebhookHeader>> {
    let kept = |(place, header): (usize, WebhookHeader)| {
        if header.value != HIDDEN {
            return Ok(header);
        }
        let known = before.iter().find(|known| known.name.eq_ignore_ascii_case(&header.name));
        let nothing = || {
            Error::field(
                &format!("headers[{place}].value"),
                "keeps what the header said to this address, and there is none; say it",
            )
        };
        Ok(WebhookHeader { value: known.ok_or_else(nothing)?.value.clone(), ..header })
    };
    said.into_iter().enumerate().map(kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::said;
    use kit::samples::hold;

    #[test]
    fn a_webhook_goes_to_a_url_and_says_nothing_that_is_not_its_own() {
        let url = |url: &str| [("/url", json!(url))];
        let types = |types: serde_json::Value| [("/types", types)];
        let header = |name: &str| [("/headers", json!([{"name": name, "value": "x"}]))];
        hold::<Webhooks>(&[
            (&url("http://shop.example:8080/a?b=c"), &[]),
            (&url("https://[2606:2800::1]/hook"), &[]),
            (&url("ftp://shop.example"), &["url: must be a URL"]),
            (&url("file:///etc/passwd"), &["url: must be a URL"]),
            (&url("https:///hook"), &["url: must be a URL"]),
            (&url("https://shop.example/a b"), &["url: must be a URL"]),
            (&url("https://me:secret@shop.example/"), &["url: must have no name"]),
            (&url("https://shop.example:25/"), &["url: must have another port"]),
            (&url("https://shop.example:70000/"), &["url: must have a port"]),
            (&url("https://shop.example/#x"), &["url: must have no fragment"]),
            (&types(json!(["*"])), &[]),
            (&types(json!([])), &["types: must name at least one"]),
            (&types(json!(["party.*", "coffee.made"])), &["types[1]: "]),
            (&types(json!(["party.*", "party.*"])), &["types[1]: is named before"]),
            (&header("X-Any_thing"), &[]),
            (&header("Content-Type"), &["headers[0].name: is said by the server"]),
            (&header("Expect"), &["headers[0].name: is said by the server"]),
            (&url("http://a:b:80/"), &["url: must be a URL"]),
            (&url("http://[::1"), &["url: must be a URL"]),
            (&url("http://[1.2.3.4]/"), &["url: must be a URL"]),
            (&url("http://a..b/"), &["url: must be a URL"]),
            (&url("http://shop.example:+7810/"), &["url: must be a URL"]),
            (&header("Webhook-Id"), &["headers[0].name: is said by the server"]),
            (&header("two words"), &["headers[0].name: must be the name"]),
            (
                &[("/headers", json!([{"name": "A", "value": "1"}, {"name": "a", "value": "2"}]))],
                &["headers: must name each"],
            ),
        ]);
    }

    #[test]
    fn what_a_header_said_is_kept_where_nobody_says_another() {
        let header = |name: &str, value: &str| WebhookHeader { name: name.into(), value: value.into() };
        let before = [header("Authorization", "Bearer one")];
        let kept = kept_headers(vec![header("authorization", HIDDEN), header("X", "2")], &before).unwrap();
        assert_eq!(kept, [header("authorization", "Bearer one"), header("X", "2")]);
        assert!(said(kept_headers(vec![header("Y", HIDDEN)], &before)).starts_with("headers[0].value: "));
    }
}
