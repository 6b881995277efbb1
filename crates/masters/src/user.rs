//! Users: the people of a company, and what each may do there.
//!
//! A person has one account in the installation and may be a member of several companies. A company's members are seen
//! and changed from within it; who somebody is, is theirs to change. To add somebody is to invite them: nobody opens an
//! account for somebody else, nor knows their password. Owns: that a company keeps an owner, that nobody hands out more
//! than they have, and that nothing of an account is told before its owner accepted.

use crate::api_key;
use crate::clock::Instant;
use crate::error::{Conflict, Error, FieldErrors, Result};
use crate::field::{Each, Faults, Field, Label, Maybe, Text};
use crate::ids::{BusinessId, RecordId, UserId};
use crate::invitation::InviteAgain;
use crate::permission;
use crate::quoting::quoted;
use books::access::{Business, Seat};
use books::audit::{AuditAction, Change};
use books::auth::password::{Names, NewPassword};
use books::auth::user::{self as accounts, Column, Model, UserStatus};
use books::auth::{SentPassword, invitation, session, sign_in};
use books::cx::Cx;
use kit::extra::{Extra, action};
use kit::list::{FilterValue, ListQuery, Page, Reads};
use kit::master::RecordKeeping;
use kit::resource::{About, Record, Resource, Scope};
use kit::rows::{self, Filter, Rows};
use schema::address::text;
use schema::key::ResourceKey;
use schema::membership;
use schema::permission as permission_sets;
use schemars::JsonSchema;
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Query, SelectStatement};
use sea_orm::{ActiveModelTrait, ColumnTrait, Condition, EntityTrait, IntoActiveModel, PaginatorTrait, QueryFilter};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

pub struct Users;

/// What a client sends to create or replace a user.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct UserInput {
    /// E-mail address that the invitation is made for, and what they log in with. It is never changed here.
    email: Field<Label<254>>,
    /// Another name to log in with; unique. Everybody chooses their own: whoever invites leaves it out.
    username: Maybe<Text<100>>,
    /// Name to show. Until they accept it is the inviter's word for them, from then on theirs to change.
    display_name: Field<Label<200>>,
    /// Left out by everybody but the operator: whoever is invited chooses their own when they accept, and changes it in
    /// their account. An administrator of the installation may open a new account with its first password, as the command
    /// `duet user add` does.
    password: Maybe<SentPassword>,
    /// Whether they may log in: `active` or `disabled`; as it is when absent, and `invited` until they accept. Ends every
    /// token the user holds.
    status: Maybe<UserStatus>,
    /// Language and country, such as `de-AT`; everybody's own.
    locale: Maybe<Text<35>>,
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

/// A member of the company, or somebody who was invited to be one.
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
    /// Whether they may log in; `invited` until they accept.
    status: UserStatus,
    /// Language and country.
    locale: Option<String>,
    /// Whether they are to choose another password. This and the three after it are null until they accept, and where
    /// they are in companies whose people you do not see as well.
    must_change_password: Option<bool>,
    /// Whether they may make companies.
    is_system_admin: Option<bool>,
    /// Whether a code of an authenticator is asked of them.
    two_factor_enabled: Option<bool>,
    /// When they last logged in.
    last_login_at: Option<Instant>,
    /// When the invitation ends that they have not accepted yet.
    invitation_expires_at: Option<Instant>,
    /// The code by which they accept; give it to them. Only in the answer that makes it.
    invitation_code: Option<String>,
    /// What they may do, in the companies whose people you see.
    memberships: Vec<MembershipView>,
}

/// What a user may do in a company.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
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
    status: Option<UserStatus>,
    locale: Option<String>,
    memberships: Option<Vec<(Option<RecordId>, RecordId)>>,
    /// Only of the operator, and only for an account that is new.
    password: Option<Arc<NewPassword>>,
}

impl Resource for Users {
    const KEY: ResourceKey = ResourceKey::Users;
    const SCOPE: Scope = Scope::Business;
    const ABOUT: About = About {
        one: "a user",
        many: "users",
        description: "The people of the company. To create one invites them: the answer shows a code, once, which you give \
                      to them. They accept it with the account that they have, or with a new one and a password that only \
                      they know; until then nothing is told but what you wrote, whether the address is known or not. To \
                      delete one takes them out of this company and ends their API keys here, or withdraws the invitation; \
                      their account and what they did stay.",
        sorts: &["email", "displayName", "createdAt", "updatedAt"],
        searched: "e-mail, username and name",
    };
    type Input = UserInput;
    type Draft = Draft;
    type View = UserView;

    fn parameters() -> Vec<kit::list::Parameter> {
        rows::parameters::<Self>()
    }

    fn extras() -> Vec<Extra> {
        vec![action::<InviteAgain>()]
    }

    fn first_password(draft: &Draft) -> Option<&NewPassword> {
        draft.password.as_deref()
    }

    fn example() -> serde_json::Value {
        json!({
            "email": "mira@harbour.example", "displayName": "Mira Sandoval", "status": "invited",
            "memberships": [{
                "businessId": "019a9f6e-6c00-7a8e-9d1f-0a8f5f1c2b3d", "permissionId": "019a9f6e-6c00-7b2b-9a1a-f60738091b2b"
            }]
        })
    }

    fn example_view() -> serde_json::Value {
        json!({
            "username": null, "locale": null, "mustChangePassword": null, "isSystemAdmin": null, "twoFactorEnabled": null, "lastLoginAt": null,
            "invitationExpiresAt": "2026-11-27T09:30:00.000000Z", "invitationCode": null,
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
        if locale.as_deref().is_some_and(|tag| !crate::texts::is_language_tag(tag)) {
            faults.add("locale", "must be a language, and a country where it matters, such as de or de-AT");
        }
        let memberships = match input.memberships {
            Field::Missing | Field::Given(None) => None,
            given => Some(faults.each("memberships", given, |faults, input| {
                let business = faults.optional("businessId", input.business_id);
                (business, faults.required("permissionId", input.permission_id))
            })),
        };
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
            Err(short) => {
                errors.extend(short);
                None
            }
        };
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(Draft { email, username, display_name, status, locale, memberships, password })
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
        if let Some(password) = &draft.password {
            return open_account(cx, draft, password.hash()?.to_owned(), set).await;
        }
        let waiting = wait_for(cx, draft).await?;
        let member =
            membership::ActiveModel { business_id: Set(business), user_id: Set(waiting.id), permission_id: Set(set) };
        membership::Entity::insert(member).exec_without_returning(&cx.db).await?;
        let (code, _) = invitation::renew(&cx.db, &waiting, business, (cx.user, cx.now)).await?;
        let view = rows::get::<Self>(cx, RecordId(waiting.id.0)).await?;
        note(cx, AuditAction::Created, None, Some(&view))?;
        Ok(view.with_code(code))
    }

    async fn update(cx: &Cx<'_>, id: RecordId, draft: &Draft) -> Result<UserView> {
        if draft.password.is_some() {
            return Err(only_the_operator());
        }
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
        if invitation::waits(&row) {
            invitation::forget(&cx.db, business, row.id).await?;
        } else {
            // A key speaks for a member; whoever comes again makes new ones.
            api_key::end_all_of(cx, row.id).await?;
            membership::Entity::delete_by_id((business, row.id)).exec(&cx.db).await?;
        }
        note(cx, AuditAction::Deleted, Some(&before), None)
    }
}

impl Draft {
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

pub(crate) async fn member_of(cx: &Cx<'_>, business: BusinessId, user: UserId) -> Result<membership::Model> {
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
pub(crate) async fn check_reaches(cx: &Cx<'_>, set: RecordId) -> Result<()> {
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
        .filter(permission_sets::Column::Role.eq(schema::rights::Role::Owner))
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

/// What whoever is not the operator is told who would choose somebody else's password.
pub fn only_the_operator() -> Error {
    let why = "must be left out: everybody chooses their own, when they accept; who forgot theirs asks the operator";
    Error::not_allowed("Nobody sets a password for somebody else", FieldErrors::one("password", why))
}

/// An account that the operator opens with its first password, for an address that nobody has an account with.
async fn open_account(cx: &Cx<'_>, draft: &Draft, password_hash: String, set: RecordId) -> Result<UserView> {
    let business = cx.business_id()?;
    if draft.status.is_some_and(|status| status != UserStatus::Active) {
        return Err(Error::field("status", "must be active, or left out, for an account that begins with a password"));
    }
    let row = Model {
        email_key: accounts::key(&draft.email),
        username: draft.username.clone(),
        username_key: draft.username.as_deref().map(accounts::key),
        password_hash,
        status: UserStatus::Active,
        locale: draft.locale.clone(),
        search: accounts::search_text(&draft.email, draft.username.as_deref(), &draft.display_name),
        ..person(cx, draft)?
    };
    let id = row.id;
    accounts::insert_row(&cx.db, row).await?;
    let member = membership::ActiveModel { business_id: Set(business), user_id: Set(id), permission_id: Set(set) };
    membership::Entity::insert(member).exec_without_returning(&cx.db).await?;
    let view = rows::get::<Users>(cx, RecordId(id.0)).await?;
    note(cx, AuditAction::Created, None, Some(&view))?;
    Ok(view)
}

/// Somebody new, who cannot log in yet.
fn person(cx: &Cx<'_>, draft: &Draft) -> Result<Model> {
    let id = UserId(cx.new_id());
    Ok(Model {
        id,
        email: draft.email.trim().into(),
        email_key: invitation::waiting_key(&draft.email, id),
        username: None,
        username_key: None,
        display_name: draft.display_name.clone(),
        password_hash: String::new(),
        status: UserStatus::Invited,
        token_version: 1,
        is_system_admin: false,
        locale: None,
        must_change_password: false,
        home_id: Some(cx.business_id()?),
        search: accounts::search_text(&draft.email, None, &draft.display_name),
        version: 1,
        created_at: cx.now,
        created_by: cx.user,
        updated_at: cx.now,
        updated_by: cx.user,
    })
}

/// Somebody who is waited for. Whether their address is known to anybody else is not looked at.
async fn wait_for(cx: &Cx<'_>, draft: &Draft) -> Result<Model> {
    let mut faults = FieldErrors::default();
    for (field, given) in [("username", &draft.username), ("locale", &draft.locale)] {
        if given.is_some() {
            faults.add(field, "must be left out: it is theirs to choose, when they accept");
        }
    }
    if draft.status.is_some_and(|status| status != UserStatus::Invited) {
        faults.add("status", "must be invited, or left out: they are active once they accept");
    }
    if !faults.is_empty() {
        return Err(faults.into());
    }
    let business = cx.business_id()?;
    let here = accounts::Entity::find()
        .filter(Column::Id.in_subquery(members(business)))
        .filter(invitation::of_address(&draft.email));
    if here.count(&cx.db).await? > 0 {
        return Err(Error::Conflict(Conflict {
            code: "duplicate",
            title: "Another of the users already has this value".into(),
            errors: FieldErrors::one(
                "email",
                format!("{} is already used by another of the users", quoted(&draft.email)),
            ),
        }));
    }
    let row = person(cx, draft)?;
    accounts::Entity::insert(row.clone().into_active_model().reset_all()).exec_without_returning(&cx.db).await?;
    Ok(row)
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
    let status = draft.status.unwrap_or(row.status);
    let names = row.username != draft.username || row.display_name != draft.display_name || row.locale != draft.locale;
    let moves = accounts::key(&row.email) != accounts::key(&draft.email);
    if !names && !moves && status == row.status {
        return Ok(None);
    }
    let waits = invitation::waits(row);
    let is_own = row.id == cx.user;
    if moves {
        let why = if waits {
            "is what the invitation was made for; withdraw it, and make another"
        } else {
            "is never changed here: invitations are made for it"
        };
        return Err(Error::field("email", why));
    }
    if waits {
        check_waiting(row, draft)?;
        check_reaches(cx, member_of(cx, cx.business_id()?, row.id).await?.permission_id).await?;
    }
    if names && !is_own && !waits {
        return Err(Error::not_allowed("Who they are is theirs to change", FieldErrors::default()));
    }
    if status != row.status {
        check_status(cx, row, status).await?;
    }
    if let Some(username) = draft.username.as_deref().filter(|_| draft.username != row.username) {
        accounts::check_username_free(&cx.db, username, row.id).await?;
    }
    let mut next = row.clone().into_active_model();
    next.username = Set(draft.username.clone());
    next.username_key = Set(draft.username.as_deref().map(accounts::key));
    next.display_name = Set(draft.display_name.clone());
    next.locale = Set(draft.locale.clone());
    next.search = Set(accounts::search_text(&row.email, draft.username.as_deref(), &draft.display_name));
    if status != row.status {
        next.status = Set(status);
        next.token_version = Set(row.token_version + 1);
        session::end(&cx.db, row.id, session::Which::All, cx.now).await?;
        // Whoever comes back begins anew.
        if status == UserStatus::Disabled {
            api_key::end_everywhere(cx, row.id).await?;
        }
    }
    Ok(Some(next))
}

/// What may be said of somebody who was invited: what the inviter calls them.
fn check_waiting(row: &Model, draft: &Draft) -> Result<(), FieldErrors> {
    let mut faults = FieldErrors::default();
    for (field, differs) in [("username", draft.username != row.username), ("locale", draft.locale != row.locale)] {
        if differs {
            faults.add(field, "must be left out: it is theirs to choose, when they accept");
        }
    }
    if draft.status.is_some_and(|status| status != row.status) {
        faults.add("status", "must be invited, or left out: they are active once they accept");
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

async fn check_status(cx: &Cx<'_>, row: &Model, status: UserStatus) -> Result<()> {
    if row.id == cx.user {
        return Err(Error::not_allowed("Nobody changes their own status", FieldErrors::default()));
    }
    if !manages_everywhere(cx, row).await? {
        let title = "They are in companies whose people you do not manage; take them out of this one instead";
        return Err(Error::not_allowed(title, FieldErrors::default()));
    }
    if status == UserStatus::Invited {
        return Err(Error::field("status", "cannot become invited again"));
    }
    if row.status == UserStatus::Active {
        for member in membership::Entity::find().filter(membership::Column::UserId.eq(row.id)).all(&cx.db).await? {
            if holds_ownership(cx, member.business_id, member.permission_id).await? {
                check_owner_remains(cx, member.business_id, row.id).await?;
            }
        }
    }
    Ok(())
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
        mine.get(business).filter(|mine| mine.rights.allows(ResourceKey::Users, schema::rights::Action::Edit))
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

pub(crate) fn note(
    cx: &Cx<'_>,
    action: AuditAction,
    before: Option<&UserView>,
    after: Option<&UserView>,
) -> Result<()> {
    let business = cx.business_id()?;
    cx.record(business, UserView::change(action, business, [before, after])?)
}

impl UserView {
    /// As the company's log has it: nothing of what depends on who looks, nor of where else somebody is.
    fn audited(&self, business: BusinessId) -> Result<String> {
        let mut view = serde_json::to_value(self).map_err(Error::internal)?;
        if let Some(memberships) = view["memberships"].as_array_mut() {
            memberships.retain(|one| one["businessId"] == business.to_string());
        }
        for name in OF_THE_ACCOUNT {
            view[name] = serde_json::Value::Null;
        }
        Ok(view.to_string())
    }

    /// A member as a company's log has them, whoever looks.
    pub fn of_member(row: Model, member: MembershipView, ends: Option<Instant>) -> Self {
        let waits = invitation::waits(&row);
        Self {
            memberships: vec![member],
            must_change_password: Some(row.must_change_password).filter(|_| !waits),
            is_system_admin: Some(row.is_system_admin).filter(|_| !waits),
            two_factor_enabled: None,
            last_login_at: None,
            invitation_expires_at: ends,
            invitation_code: None,
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
        }
    }

    /// As it is answered once, to whoever hands the code over.
    pub(crate) fn with_code(self, code: String) -> Self {
        Self { invitation_code: Some(code), ..self }
    }

    /// What it says to the log of a company.
    pub fn change(action: AuditAction, business: BusinessId, states: [Option<&Self>; 2]) -> Result<Change> {
        let [before, after] = states;
        let json = |view: &Self| view.audited(business);
        Ok(Change {
            action,
            resource: ResourceKey::Users,
            id: after.or(before).map(Record::id).unwrap_or_default(),
            version_from: before.map(Record::version),
            version_to: after.map(Record::version),
            before: before.map(json).transpose()?,
            after: after.map(json).transpose()?,
        })
    }
}

/// What an account is beyond the company.
const OF_THE_ACCOUNT: [&str; 5] =
    ["mustChangePassword", "isSystemAdmin", "twoFactorEnabled", "lastLoginAt", "invitationCode"];

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
                Ok(invitation::of_address(email))
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
        let seen = companies_seen(cx).await?;
        let mut memberships = memberships(cx, &ids, None).await?;
        let signed = sign_in::of(&cx.db, &ids).await?;
        let ends = invitation::ends(&cx.db, &ids).await?;
        let view = |row: Model| {
            let mut memberships = memberships.remove(&row.id).unwrap_or_default();
            // What somebody does elsewhere is told to those who see the people there.
            let all = memberships.len();
            memberships.retain(|one| seen.contains(&one.business_id));
            let whole = memberships.len() == all && !invitation::waits(&row);
            let signed = signed.get(&row.id).filter(|_| whole);
            UserView {
                memberships,
                must_change_password: Some(row.must_change_password).filter(|_| whole),
                is_system_admin: Some(row.is_system_admin).filter(|_| whole),
                two_factor_enabled: Some(signed.is_some_and(|signed| signed.totp_on)).filter(|_| whole),
                last_login_at: signed.and_then(|signed| signed.last_at),
                invitation_expires_at: ends.get(&row.id).copied(),
                ..UserView::of_member(row, MembershipView::default(), None)
            }
        };
        Ok(rows.into_iter().map(view).collect())
    }
}

/// The company in scope, and the others whose people the caller sees.
async fn companies_seen(cx: &Cx<'_>) -> Result<HashSet<BusinessId>> {
    let own = cx.business_id()?;
    let sees = |seat: &Seat| seat.rights.allows(ResourceKey::Users, schema::rights::Action::View);
    let seats = seats(cx, cx.user).await?.into_iter();
    let seen = seats.filter(|(_, seat)| sees(seat)).map(|(business, _)| business).chain([own]);
    // A key of one company sees no other.
    Ok(seen.filter(|business| cx.only().is_none_or(|only| only == *business)).collect())
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
