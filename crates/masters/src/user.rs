//! Users: the people of a company, and what each may do there.
//!
//! A person has one account in the installation and may be a member of several companies. A company's members are seen
//! and changed from within it; who somebody is, is theirs to change. To add somebody is to invite them: nobody opens an
//! account for somebody else, nor knows their password. Owns: that a company keeps an owner, that nobody hands out more
//! than they have, and that nothing of an account is told before its owner accepted.

mod account;
mod seats;
pub(crate) mod tests;
mod wire;

use crate::api_key;
use crate::error::{Error, FieldErrors, Result};
use crate::field::{Faults, Field};
use crate::ids::{BusinessId, RecordId, UserId};
use crate::invitation::InviteAgain;
pub(crate) use account::note;
use account::{changed, move_to, open_account, wait_for};
use books::access::Business;
use books::audit::AuditAction;
use books::auth::password::{Names, NewPassword};
use books::auth::user::{self as accounts, Column, Model, UserStatus};
use books::auth::{SentPassword, invitation, sign_in};
use books::cx::Cx;
use kit::extra::{Extra, action};
use kit::list::{FilterValue, ListQuery, Page, Reads};
use kit::resource::{About, Resource, Scope};
use kit::rows::{self, Filter, Rows};
use schema::address::text;
use schema::key::ResourceKey;
use schema::membership;
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, Condition, EntityTrait, IntoActiveModel, QueryFilter};
use seats::{check_owner_remains, check_set, companies_seen, holds_ownership, members};
pub(crate) use seats::{check_reaches, member_of, memberships};
use serde_json::json;
use std::sync::Arc;
pub use wire::{MembershipInput, MembershipView, UserInput, UserView};

pub struct Users;

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
    /// People are seen by where the caller is as well, and change in other companies too.
    const CACHED: bool = false;
    const SECRETS: &'static [&'static str] = &["invitationCode"];
    const CHANGES_PEOPLE: bool = true;
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

/// What whoever is not the operator is told who would choose somebody else's password.
pub fn only_the_operator() -> Error {
    let why = "must be left out: everybody chooses their own, when they accept; who forgot theirs asks the operator";
    Error::not_allowed("Nobody sets a password for somebody else", FieldErrors::one("password", why))
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
