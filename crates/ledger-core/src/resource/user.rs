//! Users: the people of a company, and what each may do there.
//!
//! A person has one account in the installation and may be a member of several companies. A company's members are seen
//! and changed from within it; who somebody is may be changed by themselves and by those who manage the people of every
//! company that they are in. Owns: that a company keeps an owner, and that nobody hands out more than they have.

use crate::access::{Business, Seat, membership};
use crate::auth::password::{Names, NewPassword};
use crate::auth::user::{self as accounts, Column, Model, UserStatus};
use crate::auth::{SentPassword, session, sign_in};
use crate::books::audit::{AuditAction, Change};
use crate::clock::Instant;
use crate::cx::Cx;
use crate::error::{Conflict, Error, FieldErrors, Result};
use crate::field::{Each, Faults, Field, Label, Maybe, Text};
use crate::ids::{BusinessId, RecordId, UserId};
use crate::resource::address::text;
use crate::resource::list::{FilterValue, ListQuery, Page, Reads};
use crate::resource::master::RecordKeeping;
use crate::resource::permission::{self, table as permission_sets};
use crate::resource::rows::{self, Filter, Rows};
use crate::resource::{About, Record, Resource, ResourceKey, Scope, api_key};
use schemars::JsonSchema;
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Query, SelectStatement};
use sea_orm::{ColumnTrait, Condition, EntityTrait, IntoActiveModel, PaginatorTrait, QueryFilter};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;

pub struct Users;

/// What a client sends to create or replace a user.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct UserInput {
    /// E-mail address; unique, and what they log in with.
    email: Field<Label<254>>,
    /// Another name to log in with; unique.
    username: Maybe<Text<100>>,
    /// Name to show.
    display_name: Field<Label<200>>,
    /// A password, 12 to 256 characters. Without one a new user is `invited`, and cannot log in until they are given one.
    /// Ends every token the user holds.
    password: Maybe<SentPassword>,
    /// Whether they may log in: `active` or `disabled`; as it is when absent. Ends every token the user holds.
    status: Maybe<UserStatus>,
    /// Language and country, such as `de-AT`.
    locale: Maybe<Text<35>>,
    /// Whether they are to choose another password; clients ask for it.
    must_change_password: Maybe<bool>,
    /// What they may do: a permission set in this company. Those in other companies are changed there. As they are when
    /// absent; a new user needs one.
    memberships: Each<MembershipInput>,
}

/// What a user may do in a company.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct MembershipInput {
    /// The company; this one when absent.
    business_id: Maybe<RecordId>,
    /// The permission set that they hold there.
    permission_id: Field<RecordId>,
}

/// Somebody who can log in.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "User")]
pub struct UserView {
    #[serde(flatten)]
    keeping: RecordKeeping,
    /// E-mail address.
    email: String,
    /// Another name to log in with.
    username: Option<String>,
    /// Name to show.
    display_name: String,
    /// Whether they may log in.
    status: UserStatus,
    /// Language and country.
    locale: Option<String>,
    /// Whether they are to choose another password.
    must_change_password: bool,
    /// Whether they may make companies.
    is_system_admin: bool,
    /// Whether a code of an authenticator is asked of them.
    two_factor_enabled: bool,
    /// When they last logged in.
    last_login_at: Option<Instant>,
    /// What they may do, in the companies whose people you see.
    memberships: Vec<MembershipView>,
}

/// What a user may do in a company.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Membership")]
pub struct MembershipView {
    /// The company.
    pub business_id: BusinessId,
    /// The permission set that they hold there.
    pub permission_id: RecordId,
    /// A built-in role, or what the company calls its set.
    pub role: String,
}

impl AsRef<RecordKeeping> for UserView {
    fn as_ref(&self) -> &RecordKeeping {
        &self.keeping
    }
}

/// What a checked body says of a user.
#[derive(Clone)]
pub struct Draft {
    email: String,
    username: Option<String>,
    display_name: String,
    password: Option<Arc<NewPassword>>,
    status: Option<UserStatus>,
    locale: Option<String>,
    must_change_password: Option<bool>,
    memberships: Option<Vec<(Option<RecordId>, RecordId)>>,
}

impl Resource for Users {
    const KEY: ResourceKey = ResourceKey::Users;
    const SCOPE: Scope = Scope::Business;
    const ABOUT: About = About {
        title: "Users",
        one: "a user",
        many: "users",
        description: "The people of the company. A person has one account and may be a member of several companies; to \
                      create one whose e-mail is known makes them a member of this company too. To delete one takes them \
                      out of this company; their account and what they did stay.",
        sorts: &["email", "displayName", "createdAt", "updatedAt"],
        searched: "e-mail, username and name",
    };
    type Input = UserInput;
    type Draft = Draft;
    type View = UserView;

    fn parameters() -> Vec<crate::resource::list::Parameter> {
        rows::parameters::<Self>()
    }

    fn example() -> serde_json::Value {
        json!({
            "email": "mira@harbour.example", "username": "mira", "displayName": "Mira Sandoval",
            "password": "a ferry at first light", "status": "active", "locale": "de-DE", "mustChangePassword": true,
            "memberships": [{
                "businessId": "019a9f6e-6c00-7a8e-9d1f-0a8f5f1c2b3d", "permissionId": "019a9f6e-6c00-7b2b-9a1a-f60738091b2b"
            }]
        })
    }

    fn example_view() -> serde_json::Value {
        json!({
            "isSystemAdmin": false, "twoFactorEnabled": false, "lastLoginAt": null,
            "memberships": [{
                "businessId": "019a9f6e-6c00-7a8e-9d1f-0a8f5f1c2b3d", "permissionId": "019a9f6e-6c00-7b2b-9a1a-f60738091b2b",
                "role": "bookkeeper"
            }]
        })
    }

    fn check(_: Option<&Business>, input: UserInput) -> Result<Draft, FieldErrors> {
        let mut faults = Faults::default();
        let email = faults.required("email", input.email).into_inner();
        let username = text(&mut faults, "username", input.username);
        let display_name = faults.required("displayName", input.display_name).into_inner();
        let sent = faults.optional("password", input.password).map(SentPassword::into_inner);
        let status = faults.optional("status", input.status);
        let locale = text(&mut faults, "locale", input.locale);
        if locale.as_deref().is_some_and(|tag| !is_language_tag(tag)) {
            faults.add("locale", "must be a language, and a country where it matters, such as de or de-AT");
        }
        let memberships = match input.memberships {
            Field::Missing | Field::Given(None) => None,
            given => Some(faults.each("memberships", given, |faults, input| {
                let business = faults.optional("businessId", input.business_id);
                (business, faults.required("permissionId", input.permission_id))
            })),
        };
        let must_change_password = faults.optional("mustChangePassword", input.must_change_password);
        let mut errors = faults.finish(()).err().unwrap_or_default();
        let misnamed = accounts::check_names(&email, username.as_deref(), &display_name);
        for (field, messages) in misnamed.iter() {
            // One that is missing is not malformed as well.
            if errors.iter().all(|(known, _)| known != field) {
                errors.add(field, messages.join("; "));
            }
        }
        let names = Names::of_person(&email, username.as_deref(), &display_name);
        let password = match sent.map(|sent| NewPassword::of("password", sent, names)).transpose() {
            Ok(password) => password.map(Arc::new),
            Err(faults) => {
                errors.extend(faults);
                None
            }
        };
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(Draft { email, username, display_name, password, status, locale, must_change_password, memberships })
    }

    fn new_password(draft: &Draft) -> Option<&NewPassword> {
        draft.password.as_deref()
    }

    async fn list(cx: &Cx<'_>, query: &ListQuery) -> Result<Page<UserView>> {
        rows::list::<Self>(cx, query).await
    }

    async fn get(cx: &Cx<'_>, id: RecordId) -> Result<UserView> {
        rows::get::<Self>(cx, id).await
    }

    async fn create(cx: &Cx<'_>, draft: &Draft) -> Result<UserView> {
        let business = cx.business_id()?;
        let Some(set) = draft.own_set(business)? else {
            return Err(Error::field("memberships", "is required: what may they do in this company?"));
        };
        if draft.memberships.iter().flatten().count() > 1 {
            return Err(Error::field("memberships", "of other companies are made there"));
        }
        check_set(cx, set).await?;
        let known = accounts::find_by_name(&cx.db, &draft.email, crate::auth::LoginName::Email).await?;
        let id = match known {
            Some(known) => join(cx, draft, known).await?,
            None => open_account(cx, draft).await?,
        };
        let member = membership::ActiveModel { business_id: Set(business), user_id: Set(id), permission_id: Set(set) };
        membership::Entity::insert(member).exec_without_returning(&cx.db).await?;
        let view = rows::get::<Self>(cx, RecordId(id.0)).await?;
        note(cx, AuditAction::Created, None, Some(&view))?;
        Ok(view)
    }

    async fn update(cx: &Cx<'_>, id: RecordId, draft: &Draft) -> Result<UserView> {
        let row = rows::row::<Self>(cx, id).await?;
        cx.check_expectation(id, row.version)?;
        let before = rows::one_view::<Self>(cx, row.clone()).await?;
        let moved = move_to(cx, &row, draft, &before).await?;
        let changed = changed(cx, &row, draft).await?;
        if !moved && changed.is_none() {
            return Ok(before);
        }
        let mut next = changed.unwrap_or_else(|| row.clone().into_active_model());
        next.version = Set(row.version + 1);
        next.updated_at = Set(cx.now);
        next.updated_by = Set(cx.user);
        // People of several companies are changed from each of them.
        let update = accounts::Entity::update_many()
            .set(next)
            .filter(Column::Id.eq(row.id))
            .filter(Column::Version.eq(row.version));
        if update.exec(&cx.db).await?.rows_affected != 1 {
            return Err(Error::PreconditionFailed);
        }
        let view = rows::get::<Self>(cx, id).await?;
        note(cx, AuditAction::Updated, Some(&before), Some(&view))?;
        Ok(view)
    }

    async fn delete(cx: &Cx<'_>, id: RecordId) -> Result<()> {
        let row = rows::row::<Self>(cx, id).await?;
        cx.check_expectation(id, row.version)?;
        let before = rows::one_view::<Self>(cx, row.clone()).await?;
        let business = cx.business_id()?;
        let member = member_of(cx, business, row.id).await?;
        check_reaches(cx, member.permission_id).await?;
        if holds_ownership(cx, business, member.permission_id).await? {
            check_owner_remains(cx, business, row.id).await?;
        }
        membership::Entity::delete_by_id((business, row.id)).exec(&cx.db).await?;
        // Whoever comes back later begins anew.
        api_key::end_with(cx, row.id, Some(business)).await?;
        note(cx, AuditAction::Deleted, Some(&before), None)
    }
}

impl Draft {
    /// What is kept of the password, where one is said.
    fn hash(&self) -> Result<Option<&str>> {
        self.password.as_ref().map(|password| password.hash()).transpose()
    }

    /// The permission set that is asked for in a company.
    fn own_set(&self, business: BusinessId) -> Result<Option<RecordId>> {
        let own = |(named, _): &&(Option<RecordId>, RecordId)| named.is_none_or(|named| named.0 == business.0);
        let mut sets = self.memberships.iter().flatten().filter(own).map(|(_, set)| *set);
        let first = sets.next();
        if sets.next().is_some() {
            return Err(Error::field("memberships", "names the company twice"));
        }
        Ok(first)
    }
}

fn is_language_tag(tag: &str) -> bool {
    let mut parts = tag.split('-');
    let language = parts.next().unwrap_or_default();
    (2..=3).contains(&language.len())
        && language.bytes().all(|letter| letter.is_ascii_lowercase())
        && parts.all(|part| (2..=8).contains(&part.len()) && part.bytes().all(|letter| letter.is_ascii_alphanumeric()))
}

async fn member_of(cx: &Cx<'_>, business: BusinessId, user: UserId) -> Result<membership::Model> {
    membership::Entity::find_by_id((business, user)).one(&cx.db).await?.ok_or(Error::NotFound)
}

/// A permission set of this company, which the caller may hand out.
async fn check_set(cx: &Cx<'_>, set: RecordId) -> Result<()> {
    let found = permission_sets::Entity::find_by_id((cx.business_id()?, set)).one(&cx.db).await?;
    let found = found.ok_or_else(|| Error::field("memberships[0].permissionId", "names no permission set"))?;
    let seat = Seat::of(found);
    permission::check_within(cx, "memberships[0].permissionId", seat.rights, seat.limits)
}

/// Whoever holds more than the caller is out of the caller's reach.
async fn check_reaches(cx: &Cx<'_>, set: RecordId) -> Result<()> {
    match permission_sets::Entity::find_by_id((cx.business_id()?, set)).one(&cx.db).await? {
        Some(found) => permission::check_reaches(cx, &Seat::of(found)),
        None => Ok(()),
    }
}

async fn holds_ownership(cx: &Cx<'_>, business: BusinessId, set: RecordId) -> Result<bool> {
    let found = permission_sets::Entity::find_by_id((business, set)).one(&cx.db).await?;
    Ok(found.is_some_and(|set| Seat::of(set).is_owner))
}

/// Refuses to leave a company without an owner who can log in.
async fn check_owner_remains(cx: &Cx<'_>, business: BusinessId, except: UserId) -> Result<()> {
    let owner = permission_sets::Entity::find()
        .filter(permission_sets::Column::BusinessId.eq(business))
        .filter(permission_sets::Column::Role.eq(crate::access::Role::Owner))
        .one(&cx.db)
        .await?
        .ok_or_else(|| Error::internal("the company has no permission set owner"))?;
    let owners = Query::select()
        .column(membership::Column::UserId)
        .from(membership::Entity)
        .and_where(membership::Column::BusinessId.eq(business))
        .and_where(membership::Column::PermissionId.eq(owner.id))
        .and_where(membership::Column::UserId.ne(except))
        .take();
    let active = accounts::Entity::find()
        .filter(Column::Id.in_subquery(owners))
        .filter(Column::Status.eq(UserStatus::Active))
        .count(&cx.db)
        .await?;
    if active > 0 {
        return Ok(());
    }
    Err(Error::conflict(
        "last_owner",
        "The company would be left without an owner who can log in; make another one first",
    ))
}

/// Somebody who has an account already becomes a member; the account stays as it is.
async fn join(cx: &Cx<'_>, draft: &Draft, known: Model) -> Result<UserId> {
    let business = cx.business_id()?;
    if membership::Entity::find_by_id((business, known.id)).one(&cx.db).await?.is_some() {
        return Err(Error::Conflict(Conflict {
            code: "duplicate",
            title: "Another of the users already has this value".into(),
            errors: FieldErrors::one("email", format!("{} is already used by another of the users", draft.email)),
        }));
    }
    if draft.password.is_some() {
        return Err(Error::Conflict(Conflict {
            code: "account_exists",
            title: "They have an account already, with a password of their own".into(),
            errors: FieldErrors::one("password", "must be left out: they have an account with a password of their own"),
        }));
    }
    Ok(known.id)
}

async fn open_account(cx: &Cx<'_>, draft: &Draft) -> Result<UserId> {
    let id = UserId(cx.new_id());
    let invited = draft.password.is_none();
    if draft.status == Some(UserStatus::Active) && invited {
        return Err(Error::field("password", "is required for a user who is active; without one they are invited"));
    }
    let status = match draft.status {
        // With a password there is nothing to wait for.
        None | Some(UserStatus::Invited) if !invited => UserStatus::Active,
        None => UserStatus::Invited,
        Some(status) => status,
    };
    let row = Model {
        id,
        email: draft.email.trim().into(),
        email_key: accounts::key(&draft.email),
        username: draft.username.clone(),
        username_key: draft.username.as_deref().map(accounts::key),
        display_name: draft.display_name.clone(),
        password_hash: draft.hash()?.unwrap_or_default().to_owned(),
        status,
        token_version: 1,
        is_system_admin: false,
        locale: draft.locale.clone(),
        must_change_password: draft.must_change_password.unwrap_or_default(),
        home_id: Some(cx.business_id()?),
        search: accounts::search_text(&draft.email, draft.username.as_deref(), &draft.display_name),
        version: 1,
        created_at: cx.now,
        created_by: cx.user,
        updated_at: cx.now,
        updated_by: cx.user,
    };
    accounts::insert_row(&cx.db, row).await?;
    Ok(id)
}

/// Gives a member the permission set that is asked for. Whether that changed anything is answered.
async fn move_to(cx: &Cx<'_>, row: &Model, draft: &Draft, before: &UserView) -> Result<bool> {
    let business = cx.business_id()?;
    let Some(asked) = &draft.memberships else { return Ok(false) };
    let mut faults = FieldErrors::default();
    for (place, (named, set)) in asked.iter().enumerate() {
        let Some(named) = named.filter(|named| named.0 != business.0) else { continue };
        let same = |one: &&MembershipView| one.business_id.0 == named.0 && one.permission_id == *set;
        if before.memberships.iter().find(same).is_none() {
            faults.add(format!("memberships[{place}]"), "of another company is changed there");
        }
    }
    if !faults.is_empty() {
        return Err(faults.into());
    }
    let set = draft.own_set(business)?.ok_or_else(|| {
        Error::field("memberships", "must name this company; to take somebody out of it, delete the user here")
    })?;
    let member = member_of(cx, business, row.id).await?;
    if member.permission_id == set {
        return Ok(false);
    }
    if row.id == cx.user && !cx.business()?.seat.is_owner {
        return Err(Error::not_allowed("Nobody changes their own permission set", FieldErrors::default()));
    }
    check_reaches(cx, member.permission_id).await?;
    check_set(cx, set).await?;
    if holds_ownership(cx, business, member.permission_id).await? {
        check_owner_remains(cx, business, row.id).await?;
    }
    let mut member = member.into_active_model();
    member.permission_id = Set(set);
    membership::Entity::update(member).exec(&cx.db).await?;
    Ok(true)
}

/// Who somebody is, as it is asked for; nothing where that is as it was.
async fn changed(cx: &Cx<'_>, row: &Model, draft: &Draft) -> Result<Option<accounts::ActiveModel>> {
    let status = match (draft.status, &draft.password) {
        // With a password an invitation is over.
        (None | Some(UserStatus::Invited), Some(_)) if row.status == UserStatus::Invited => UserStatus::Active,
        (None, _) => row.status,
        (Some(status), _) => status,
    };
    let names = row.email != draft.email.trim()
        || row.username != draft.username
        || row.display_name != draft.display_name
        || row.locale != draft.locale;
    let rules = status != row.status
        || draft.must_change_password.is_some_and(|must| must != row.must_change_password)
        || draft.password.is_some();
    if !names && !rules {
        return Ok(None);
    }
    let is_own = row.id == cx.user;
    if is_own && rules {
        let title = "Your own status and password are changed in your profile, or by somebody else";
        return Err(Error::not_allowed(title, FieldErrors::default()));
    }
    if !is_own && !manages_everywhere(cx, row).await? {
        let title = "They are in companies whose people you do not manage; who they are is theirs to change";
        return Err(Error::not_allowed(title, FieldErrors::default()));
    }
    if status == UserStatus::Invited && row.status != UserStatus::Invited {
        return Err(Error::field("status", "cannot become invited again"));
    }
    if status == UserStatus::Active && row.password_hash.is_empty() && draft.password.is_none() {
        return Err(Error::field("password", "is required: they have none yet"));
    }
    if status != UserStatus::Active && row.status == UserStatus::Active {
        for member in membership::Entity::find().filter(membership::Column::UserId.eq(row.id)).all(&cx.db).await? {
            if holds_ownership(cx, member.business_id, member.permission_id).await? {
                check_owner_remains(cx, member.business_id, row.id).await?;
            }
        }
    }
    accounts::check_free(&cx.db, &draft.email, draft.username.as_deref(), Some(row.id)).await?;
    let mut next = row.clone().into_active_model();
    next.email = Set(draft.email.trim().into());
    next.email_key = Set(accounts::key(&draft.email));
    next.username = Set(draft.username.clone());
    next.username_key = Set(draft.username.as_deref().map(accounts::key));
    next.display_name = Set(draft.display_name.clone());
    next.locale = Set(draft.locale.clone());
    next.search = Set(accounts::search_text(&draft.email, draft.username.as_deref(), &draft.display_name));
    next.status = Set(status);
    if let Some(must) = draft.must_change_password {
        next.must_change_password = Set(must);
    }
    if let Some(hash) = draft.hash()? {
        next.password_hash = Set(hash.to_owned());
    }
    if status != row.status || draft.password.is_some() {
        next.token_version = Set(row.token_version + 1);
        session::end(&cx.db, row.id, session::Which::All, cx.now).await?;
    }
    // Whoever had the account may have left keys behind.
    if status == UserStatus::Disabled || draft.password.is_some() {
        api_key::end_with(cx, row.id, None).await?;
    }
    Ok(Some(next))
}

/// Whether the caller manages the people of every company that somebody is in, each with at least their rights, and of
/// the one in which the account was opened: one that only joined is nobody's but its owner's.
async fn manages_everywhere(cx: &Cx<'_>, row: &Model) -> Result<bool> {
    if row.is_system_admin {
        return Ok(accounts::find(&cx.db, cx.user).await?.is_some_and(|caller| caller.is_system_admin));
    }
    let mine = seats(cx, cx.user).await?;
    let theirs = seats(cx, row.id).await?;
    let manages = |business: &BusinessId| {
        mine.get(business).filter(|mine| mine.rights.allows(ResourceKey::Users, crate::access::Action::Edit))
    };
    let covers = |(business, theirs): (&BusinessId, &Seat)| manages(business).is_some_and(|mine| mine.covers(theirs));
    Ok(row.home_id.is_some_and(|home| manages(&home).is_some()) && theirs.iter().all(covers))
}

/// What somebody is in each of their companies.
async fn seats(cx: &Cx<'_>, user: UserId) -> Result<HashMap<BusinessId, Seat>> {
    let mut seats = HashMap::new();
    for member in membership::Entity::find().filter(membership::Column::UserId.eq(user)).all(&cx.db).await? {
        let set = permission_sets::Entity::find_by_id((member.business_id, member.permission_id)).one(&cx.db).await?;
        seats.extend(set.map(|set| (member.business_id, Seat::of(set))));
    }
    Ok(seats)
}

fn note(cx: &Cx<'_>, action: AuditAction, before: Option<&UserView>, after: Option<&UserView>) -> Result<()> {
    let business = cx.business_id()?;
    // Who reads a company's log need not know where else somebody is.
    let json = |view: &UserView| {
        let mut view = serde_json::to_value(view).map_err(Error::internal)?;
        if let Some(memberships) = view["memberships"].as_array_mut() {
            memberships.retain(|one| one["businessId"] == business.to_string());
        }
        Ok::<_, Error>(view.to_string())
    };
    let id = after.or(before).map(Record::id).unwrap_or_default();
    let change = Change {
        action,
        resource: ResourceKey::Users,
        id,
        version_from: before.map(Record::version),
        version_to: after.map(Record::version),
        before: before.map(json).transpose()?,
        after: after.map(json).transpose()?,
    };
    cx.record(business, change)
}

/// The members of a company, as a part of a query.
fn members(business: BusinessId) -> SelectStatement {
    Query::select()
        .column(membership::Column::UserId)
        .from(membership::Entity)
        .and_where(membership::Column::BusinessId.eq(business))
        .take()
}

impl Rows for Users {
    type Entity = accounts::Entity;

    const ID: Column = Column::Id;
    const CHANGED: Column = Column::UpdatedAt;
    const SEARCH: Column = Column::Search;
    const SORTS: &'static [Column] = &[Column::EmailKey, Column::DisplayName, Column::CreatedAt, Column::UpdatedAt];

    fn filters() -> Vec<Filter<Column>> {
        vec![
            Filter::equal("status", "Users of these statuses.", Reads::AnyOf(UserStatus::TEXTS), Column::Status),
            Filter::looking("email", "The user with this e-mail.", Reads::Text, |_, value| {
                let FilterValue::Text(email) = value else { return Ok(Condition::all()) };
                Ok(Condition::all().add(Column::EmailKey.eq(accounts::key(email))))
            }),
            Filter::looking("permissionId", "Holders of this permission set.", Reads::Identifier, |cx, value| {
                let FilterValue::Identifier(set) = value else { return Ok(Condition::all()) };
                let holders = members(cx.business_id()?).and_where(membership::Column::PermissionId.eq(*set)).take();
                Ok(Condition::all().add(Column::Id.in_subquery(holders)))
            }),
        ]
    }

    fn reach(cx: &Cx<'_>) -> Result<Condition> {
        Ok(Condition::all().add(Column::Id.in_subquery(members(cx.business_id()?))))
    }

    async fn views(cx: &Cx<'_>, rows: Vec<Model>) -> Result<Vec<UserView>> {
        let ids: Vec<UserId> = rows.iter().map(|row| row.id).collect();
        let mut memberships = shared_memberships(cx, &ids).await?;
        let signed = sign_in::of(&cx.db, &ids).await?;
        let view = |row: Model| {
            let signed = signed.get(&row.id);
            UserView {
                memberships: memberships.remove(&row.id).unwrap_or_default(),
                two_factor_enabled: signed.is_some_and(|signed| signed.totp_on),
                last_login_at: signed.and_then(|signed| signed.last_at),
                keeping: RecordKeeping {
                    id: RecordId(row.id.0),
                    version: row.version,
                    created_at: row.created_at,
                    created_by: row.created_by,
                    updated_at: row.updated_at,
                    updated_by: row.updated_by,
                },
                email: row.email,
                username: row.username,
                display_name: row.display_name,
                status: row.status,
                locale: row.locale,
                must_change_password: row.must_change_password,
                is_system_admin: row.is_system_admin,
            }
        };
        Ok(rows.into_iter().map(view).collect())
    }
}

/// What people may do in the company in scope, and in others whose people the caller sees.
async fn shared_memberships(cx: &Cx<'_>, ids: &[UserId]) -> Result<HashMap<UserId, Vec<MembershipView>>> {
    let own = cx.business_id()?;
    let seen: Vec<BusinessId> = seats(cx, cx.user)
        .await?
        .into_iter()
        .filter(|(_, seat)| seat.rights.allows(ResourceKey::Users, crate::access::Action::View))
        .map(|(business, _)| business)
        .chain([own])
        .collect();
    memberships(cx, ids, Some(&seen)).await
}

/// What people may do, in some companies or in all.
pub(crate) async fn memberships(
    cx: &Cx<'_>,
    ids: &[UserId],
    only: Option<&[BusinessId]>,
) -> Result<HashMap<UserId, Vec<MembershipView>>> {
    let mut found = membership::Entity::find().filter(membership::Column::UserId.is_in(ids.iter().copied()));
    if let Some(only) = only {
        found = found.filter(membership::Column::BusinessId.is_in(only.iter().copied()));
    }
    let found = found.all(&cx.db).await?;
    let sets = permission_sets::Entity::find()
        .filter(permission_sets::Column::Id.is_in(found.iter().map(|one| one.permission_id)))
        .all(&cx.db)
        .await?;
    let roles: HashMap<RecordId, String> = sets.into_iter().map(|set| (set.id, Seat::of(set).role)).collect();
    let mut by_user: HashMap<UserId, Vec<MembershipView>> = HashMap::new();
    for one in found {
        by_user.entry(one.user_id).or_default().push(MembershipView {
            business_id: one.business_id,
            permission_id: one.permission_id,
            role: roles.get(&one.permission_id).cloned().unwrap_or_default(),
        });
    }
    for list in by_user.values_mut() {
        list.sort_by_key(|one| one.business_id);
    }
    Ok(by_user)
}
