//! Keys for programs: each speaks for the user who made it, in one company, as far as its scopes go.
//!
//! Owns: that a key is shown once and kept as a digest. Refuses: to let a key do what its maker cannot.

use crate::clock::Instant;
use crate::error::{Error, FieldErrors, Result};
use crate::field::{Each, Faults, Field, Label, Maybe};
use crate::ids::{BusinessId, RecordId, UserId};
use crate::permission::{GrantInput, check_grants, check_within};
use crate::stored::AsJson;
use answers::Ask;
use books::access::Business;
use books::api_keys::{PREFIX, digest, network_of};
use books::audit::{AuditAction, Change};
use books::auth::{PLAIN, random_letters};
use books::cx::Cx;
use kit::list::{ListQuery, Page, Reads};
use kit::master::{self, Columns, Master, RecordKeeping, keeping, kept};
use kit::resource::{About, Resource, Scope};
use kit::rows::{self, Filter, Rows};
use schema::address::search_text;
use schema::business;
use schema::key::ResourceKey;
use schema::rights::{Grant, Grants};
use schema::rights::{is_for_people, permission};
use schemars::JsonSchema;
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{ColumnTrait, Condition, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, Select, Value};
use serde::{Deserialize, Serialize};
use serde_json::json;

pub struct ApiKeys;

/// What a client sends to create a key.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct ApiKeyInput {
    /// What it is for.
    name: Field<Label<100>>,
    /// What it may do, never more than you may; all that you may when absent. A key manages no people, permissions, keys,
    /// second factors or webhooks, whatever you may.
    scopes: Each<GrantInput>,
    /// When it ends; never when absent.
    expires_at: Maybe<Instant>,
    /// Networks that it may be used from, such as `203.0.113.0/24`; anywhere when absent. At most 50.
    #[schemars(extend("maxItems" = 50))]
    allowed_addresses: Each<String>,
}

/// A key for a program.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ApiKey")]
pub struct ApiKeyView {
    #[serde(flatten)]
    keeping: RecordKeeping,
    /// What it is for.
    name: String,
    /// Its first characters, to know it by.
    hint: String,
    /// The user for whom it speaks.
    user_id: UserId,
    /// What it may do; all that its user may when null.
    scopes: Option<Vec<Grant>>,
    /// When it ends.
    expires_at: Option<Instant>,
    /// When it was ended before its time: with its user's password, or because they were disabled or taken out of the
    /// company. It is never good again.
    ended_at: Option<Instant>,
    /// Networks that it may be used from; anywhere when there are none.
    allowed_addresses: Vec<String>,
    /// The key, which goes where a token goes. Only in the answer that makes it.
    secret: Option<String>,
}

impl AsRef<RecordKeeping> for ApiKeyView {
    fn as_ref(&self) -> &RecordKeeping {
        &self.keeping
    }
}

pub(crate) use schema::api_key as table;
use table::Column;

impl Resource for ApiKeys {
    const KEY: ResourceKey = ResourceKey::ApiKeys;
    const SCOPE: Scope = Scope::Business;
    const SECRETS: &'static [&'static str] = &["secret"];
    const CHANGES_PEOPLE: bool = true;
    const ABOUT: About = About {
        one: "an API key",
        many: "API keys",
        description: "Keys for programs, used as bearer tokens in both dialects. A key speaks for the user who made it, in \
                      this company, never for more than they may at that moment. It ends when somebody else gives them \
                      a password, when they are disabled and when they are taken out of the company. A key manages no \
                      people, permissions, keys, second factors or webhooks. To change one, make another and delete it.",
        sorts: &["name", "createdAt"],
        searched: "name",
    };
    const VERBS: &'static [kit::operation::Verb] = {
        use kit::operation::Verb;
        &[Verb::List, Verb::Get, Verb::Create, Verb::Delete]
    };
    type Input = ApiKeyInput;
    type Draft = Columns<Column>;
    type View = ApiKeyView;

    fn parameters() -> Vec<kit::list::Parameter> {
        rows::parameters::<Self>()
    }

    fn example() -> serde_json::Value {
        json!({
            "name": "Web shop",
            "scopes": [
                {"resource": "party", "actions": ["view", "create"]},
                {"resource": "salesInvoice", "actions": ["view", "create", "post"]}
            ],
            "expiresAt": "2027-12-31T23:00:00Z", "allowedAddresses": ["203.0.113.0/24"]
        })
    }

    fn example_view() -> serde_json::Value {
        json!({
            "hint": "duet_k7m2", "userId": "019a9f6e-6c00-7c55-8a77-1f3e5d7b9c03",
            "expiresAt": "2027-12-31T23:00:00.000000Z", "endedAt": null, "secret": null
        })
    }

    fn check(_: Option<&Business>, input: ApiKeyInput) -> Result<Columns<Column>, FieldErrors> {
        let mut faults = Faults::default();
        let mut row = Columns::new();
        let name = faults.required("name", input.name).into_inner();
        let scopes = match input.scopes {
            Field::Missing | Field::Given(None) => None,
            given => Some(AsJson(check_grants(&mut faults, "scopes", given))),
        };
        let granted = scopes.as_ref().map(|scopes| scopes.0.rights());
        for (resource, action) in granted.iter().flat_map(|rights| rights.each()) {
            if is_for_people(resource, action) {
                faults.add("scopes", format!("no key has {}; leave it out", permission(resource, action)));
            }
        }
        let mut networks = Vec::new();
        let asked = faults.optional("allowedAddresses", input.allowed_addresses).unwrap_or_default();
        if asked.len() > 50 {
            faults.add("allowedAddresses", "must be at most 50");
        }
        for (place, network) in asked.into_iter().enumerate() {
            let place = format!("allowedAddresses[{place}]");
            let text = faults.required(&place, network);
            match network_of(&text) {
                Some(network) => networks.push(network.to_string()),
                None if text.is_empty() => {}
                None => faults.add(&place, "must be an address or a network such as 203.0.113.0/24"),
            }
        }
        row.set(Column::NameKey, crate::texts::search_key(&name));
        row.set(Column::Search, search_text(&[Some(&name)]));
        row.set(Column::Name, name);
        row.set(Column::Scopes, scopes);
        row.set(Column::AllowedAddresses, AsJson(networks));
        row.set(Column::ExpiresAt, faults.optional("expiresAt", input.expires_at));
        faults.finish(row)
    }

    async fn list(cx: &Cx<'_>, query: &ListQuery) -> Result<Page<ApiKeyView>> {
        rows::list::<Self>(cx, query).await
    }

    async fn get(cx: &Cx<'_>, id: RecordId) -> Result<ApiKeyView> {
        rows::get::<Self>(cx, id).await
    }

    async fn create(cx: &Cx<'_>, draft: &Columns<Column>) -> Result<ApiKeyView> {
        let secret = secret()?;
        let mut draft = draft.clone();
        draft.set(Column::Digest, digest(&secret));
        draft.set(Column::Hint, hint_of(&secret));
        draft.set(Column::UserId, cx.user);
        let view = master::create::<Self>(cx, &draft).await?;
        Ok(ApiKeyView { secret: Some(secret), ..view })
    }

    async fn update(_: &Cx<'_>, _: RecordId, _: &Columns<Column>) -> Result<ApiKeyView> {
        Err(Error::internal("a key is never changed"))
    }

    async fn delete(cx: &Cx<'_>, id: RecordId) -> Result<()> {
        master::delete::<Self>(cx, id).await
    }
}

/// A key that is over from the start is a mistake.
fn check_ends(draft: &Columns<Column>, now: Instant) -> Result<()> {
    match draft.get(Column::ExpiresAt) {
        Some(Value::BigInt(Some(ends))) if *ends <= now.micros() => {
            Err(Error::field("expiresAt", "must be in the future"))
        }
        _ => Ok(()),
    }
}

/// 160 random bits.
fn secret() -> Result<String> {
    Ok(format!("{PREFIX}{}", random_letters(PLAIN, 32)?))
}

/// What of a key is shown to know it by: 20 of its 160 bits.
fn hint_of(secret: &str) -> String {
    secret.chars().take(PREFIX.len() + 4).collect()
}

/// Ends the keys that a member made in the company in scope.
pub(crate) async fn end_all_of(cx: &Cx<'_>, user: UserId) -> Result<()> {
    let theirs =
        table::Entity::find().filter(ApiKeys::reach(cx)?).filter(Column::UserId.eq(user)).models(&cx.db).await?;
    for view in ApiKeys::views(cx, theirs).await? {
        let id = view.keeping.id;
        table::Entity::delete_many().filter(ApiKeys::reach(cx)?).filter(Column::Id.eq(id)).exec(&cx.db).await?;
        master::note::<ApiKeys>(cx, AuditAction::Deleted, id, Some(&view), None)?;
    }
    Ok(())
}

/// A key of somebody, for whoever runs the installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserKey {
    pub business_id: BusinessId,
    pub company: String,
    pub name: String,
}

/// The keys of a user that are good, company by company.
pub async fn of_user(connection: &impl ConnectionTrait, user: UserId) -> Result<Vec<UserKey>> {
    let rows = good(user).order_by_asc(Column::BusinessId).order_by_asc(Column::NameKey).all(connection).await?;
    let mut keys = Vec::new();
    for row in rows {
        let company = business::Entity::find_by_id(row.business_id).one(connection).await?;
        let company = company.map_or_else(String::new, |company| company.name);
        keys.push(UserKey { business_id: row.business_id, company, name: row.name });
    }
    Ok(keys)
}

fn good(user: UserId) -> Select<table::Entity> {
    table::Entity::find().filter(Column::UserId.eq(user)).filter(Column::EndedAt.is_null())
}

/// Ends the keys of a user in a company, for good. What changed is answered, for its audit log.
pub async fn end(
    connection: &impl ConnectionTrait,
    (user, business): (UserId, BusinessId),
    now: Instant,
) -> Result<Vec<Change>> {
    let rows = good(user).filter(Column::BusinessId.eq(business)).all(connection).await?;
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    table::Entity::update_many()
        .filter(Column::UserId.eq(user))
        .filter(Column::BusinessId.eq(business))
        .filter(Column::EndedAt.is_null())
        .col_expr(Column::EndedAt, Expr::value(now))
        .col_expr(Column::Version, Expr::col(Column::Version).add(1))
        .col_expr(Column::UpdatedAt, Expr::value(now))
        .exec(connection)
        .await?;
    let change = |row: table::Model| {
        let ended = table::Model { ended_at: Some(now), version: row.version + 1, updated_at: now, ..row.clone() };
        let json = |row: table::Model| serde_json::to_string(&view(row)).map_err(Error::internal);
        Ok(Change {
            action: AuditAction::Updated,
            resource: ResourceKey::ApiKeys,
            id: row.id,
            version_from: Some(row.version),
            version_to: Some(row.version + 1),
            before: Some(json(row)?),
            after: Some(json(ended)?),
            note: None,
        })
    };
    rows.into_iter().map(change).collect()
}

/// Ends the keys that a user has in all companies. Those of the company at hand stand in its log.
pub(crate) async fn end_everywhere(cx: &Cx<'_>, user: UserId) -> Result<()> {
    let here = cx.business_id()?;
    for change in end(&cx.db, (user, here), cx.now).await? {
        cx.record(here, change)?;
    }
    for row in good(user).models(&cx.db).await? {
        end(&cx.db, (user, row.business_id), cx.now).await?;
    }
    Ok(())
}

fn view(row: table::Model) -> ApiKeyView {
    ApiKeyView {
        keeping: kept!(row),
        name: row.name,
        hint: row.hint,
        user_id: row.user_id,
        scopes: row.scopes.map(|scopes| scopes.0.0),
        expires_at: row.expires_at,
        ended_at: row.ended_at,
        allowed_addresses: row.allowed_addresses.0,
        secret: None,
    }
}

impl Rows for ApiKeys {
    type Entity = table::Entity;

    const ID: Column = Column::Id;
    const CHANGED: Column = Column::UpdatedAt;
    const SEARCH: Column = Column::Search;
    const SORTS: &'static [Column] = &[Column::NameKey, Column::CreatedAt];

    fn filters() -> Vec<Filter<Column>> {
        vec![Filter::equal("userId", "The keys of this user.", Reads::Identifier, Column::UserId)]
    }

    fn reach(cx: &Cx<'_>) -> Result<Condition> {
        Ok(Condition::all().add(Column::BusinessId.eq(cx.business_id()?)))
    }

    async fn views(_: &Cx<'_>, rows: Vec<table::Model>) -> Result<Vec<ApiKeyView>> {
        Ok(rows.into_iter().map(view).collect())
    }
}

impl Master for ApiKeys {
    keeping!();
    const UNIQUE: &'static [(&'static str, Column)] = &[("name", Column::NameKey)];

    fn version(row: &table::Model) -> i64 {
        row.version
    }

    fn placement(cx: &Cx<'_>) -> Result<Vec<(Column, Value)>> {
        Ok(vec![(Column::BusinessId, cx.business_id()?.into())])
    }

    async fn complete(cx: &Cx<'_>, _: Option<&table::Model>, draft: &mut Columns<Column>) -> Result<()> {
        if cx.only().is_some() {
            return Err(Error::not_allowed("A key makes no keys; log in", FieldErrors::default()));
        }
        check_ends(draft, cx.now)?;
        match draft.get(Column::Scopes) {
            Some(Value::String(Some(_))) => {
                let scopes: Grants = draft.json(Column::Scopes)?;
                check_within(cx, "scopes", scopes.rights(), cx.business()?.seat.limits)
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{draft, said};
    use kit::samples::hold;

    #[test]
    fn a_key_manages_no_people_and_comes_from_where_it_is_let() {
        let scope =
            |resource: &str, actions: &[&str]| [("/scopes", json!([{"resource": resource, "actions": actions}]))];
        let networks = |networks: serde_json::Value| [("/allowedAddresses", networks)];
        let no_network = "allowedAddresses[0]: must be an address or a network";
        hold::<ApiKeys>(&[
            (&scope("user", &["view"]), &[]),
            (&scope("user", &["view", "create"]), &["scopes: no key has user.create; leave it out"]),
            (&scope("permission", &["edit"]), &["scopes: no key has permission.edit; leave it out"]),
            (&scope("apiKey", &["delete"]), &["scopes: no key has apiKey.delete; leave it out"]),
            (&scope("coffee", &["view"]), &["scopes[0].resource: names no resource"]),
            // All that its user may, and nothing at all.
            (&[("/scopes", json!(null))], &[]),
            (&[("/scopes", json!([]))], &[]),
            (&networks(json!(["203.0.113.7", "2001:db8::/32"])), &[]),
            (&networks(json!(["203.0.113.0/33"])), &[no_network]),
            (&networks(json!(["office"])), &[no_network]),
            (&networks(json!(vec!["203.0.113.7"; 50])), &[]),
            (&networks(json!(vec!["203.0.113.7"; 51])), &["allowedAddresses: must be at most 50"]),
        ]);
        let all = draft::<ApiKeys>(&[("/scopes", json!(null))]);
        let none = draft::<ApiKeys>(&[("/scopes", json!([]))]);
        assert_eq!(all.get(Column::Scopes), Some(&Value::String(None)));
        assert_eq!(none.get(Column::Scopes), Some(&Value::from("[]")));
    }

    #[test]
    fn a_key_ends_in_the_future_or_never() {
        let noon: Instant = Instant::parse("2026-11-20T12:00:00Z").unwrap();
        let refused = "expiresAt: must be in the future";
        for (ends, answer) in [
            (json!(null), "fine"),
            (json!("2026-11-20T12:00:00.000001Z"), "fine"),
            (json!("2026-11-20T12:00:00Z"), refused),
            (json!("2026-11-20T11:59:59Z"), refused),
            // Of another zone: an hour before noon.
            (json!("2026-11-20T13:00:00+02:00"), refused),
        ] {
            assert_eq!(said(check_ends(&draft::<ApiKeys>(&[("/expiresAt", ends.clone())]), noon)), answer, "{ends}");
        }
    }

    #[test]
    fn little_of_a_key_is_shown_to_know_it_by() {
        let (one, other) = (secret().unwrap(), secret().unwrap());
        assert_ne!(one, other);
        assert_eq!((one.len(), &one[..5]), (37, "duet_"));
        assert_eq!(hint_of("duet_k7m2q9x4w8n3b6v5c2z7t4r9y8p3h6j5"), "duet_k7m2");
    }
}
