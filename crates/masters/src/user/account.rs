//! The account of a user: how it is opened, waits for its owner, and changes.

use super::seats::{
    check_owner_remains, check_reaches, check_set, holds_ownership, manages_everywhere, member_of, members,
};
use super::wire::{MembershipView, UserView};
use super::{Draft, Users};
use crate::api_key;
use crate::error::{Code, Conflict, Error, FieldErrors, Result};
use crate::ids::{BusinessId, RecordId, UserId};
use crate::quoting::quoted;
use answers::Ask;
use books::audit::AuditAction;
use books::auth::user::{Column, Model, UserStatus};
use books::auth::{invitation, session, user as accounts};
use books::cx::Cx;
use kit::rows::{self};
use schema::membership;
use sea_orm::ActiveValue::Set;
use sea_orm::{ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, PaginatorTrait, QueryFilter};

/// An account that the operator opens with its first password, for an address that nobody has an account with.
pub(super) async fn open_account(cx: &Cx<'_>, draft: &Draft, password_hash: String, set: RecordId) -> Result<UserView> {
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
    let id = UserId(cx.own_id());
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

/// What may be said of somebody who is invited.
fn check_invited(draft: &Draft) -> Result<(), FieldErrors> {
    let mut faults = FieldErrors::default();
    for (field, given) in [("username", &draft.username), ("locale", &draft.locale)] {
        if given.is_some() {
            faults.add(field, "must be left out: it is theirs to choose, when they accept");
        }
    }
    if draft.status.is_some_and(|status| status != UserStatus::Invited) {
        faults.add("status", "must be invited, or left out: they are active once they accept");
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

/// Somebody who is waited for. Whether their address is known to anybody else is not looked at.
pub(super) async fn wait_for(cx: &Cx<'_>, draft: &Draft) -> Result<Model> {
    check_invited(draft)?;
    let business = cx.business_id()?;
    let here = accounts::Entity::find()
        .filter(Column::Id.in_subquery(members(business)))
        .filter(invitation::of_address(&draft.email));
    if here.count(&cx.db).await? > 0 {
        return Err(Error::Conflict(Conflict {
            code: Code::Duplicate,
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

/// What somebody is in other companies stays as it is.
fn check_elsewhere(
    business: BusinessId,
    asked: &[(Option<RecordId>, RecordId)],
    before: &[MembershipView],
) -> Result<(), FieldErrors> {
    let mut faults = FieldErrors::default();
    for (place, (named, set)) in asked.iter().enumerate() {
        let Some(named) = named.filter(|named| named.0 != business.0) else { continue };
        let same = |one: &&MembershipView| one.business_id.0 == named.0 && one.permission_id == *set;
        if before.iter().find(same).is_none() {
            faults.add(format!("memberships[{place}]"), "of another company is changed there");
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

/// Gives a member the permission set that is asked for. Whether that changed anything is answered.
pub(super) async fn move_to(cx: &Cx<'_>, row: &Model, draft: &Draft, before: &UserView) -> Result<bool> {
    let business = cx.business_id()?;
    let Some(asked) = &draft.memberships else { return Ok(false) };
    check_elsewhere(business, asked, &before.memberships)?;
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
pub(super) async fn changed(cx: &Cx<'_>, row: &Model, draft: &Draft) -> Result<Option<accounts::ActiveModel>> {
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
        let title = "Their account was not made here, or is in companies whose people you do not manage; take them out of this company instead";
        return Err(Error::not_allowed(title, FieldErrors::default()));
    }
    if status == UserStatus::Invited {
        return Err(Error::field("status", "cannot become invited again"));
    }
    if row.status == UserStatus::Active {
        for member in membership::Entity::find().filter(membership::Column::UserId.eq(row.id)).models(&cx.db).await? {
            if holds_ownership(cx, member.business_id, member.permission_id).await? {
                check_owner_remains(cx, member.business_id, row.id).await?;
            }
        }
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{id, said};
    use crate::user::tests::{business, person, said_of};
    use serde_json::json;

    #[test]
    fn who_is_invited_chooses_names_and_words_by_themselves() {
        let theirs = "must be left out: it is theirs to choose, when they accept";
        for (changes, invited, waiting) in [
            (vec![], "fine".to_owned(), "fine".to_owned()),
            (vec![("/status", json!(null))], "fine".to_owned(), "fine".to_owned()),
            (vec![("/displayName", json!("Mira"))], "fine".to_owned(), "fine".to_owned()),
            (vec![("/username", json!("mira"))], format!("username: {theirs}"), format!("username: {theirs}")),
            (vec![("/locale", json!("de"))], format!("locale: {theirs}"), format!("locale: {theirs}")),
        ] {
            let draft = said_of(&changes);
            assert_eq!(said(check_invited(&draft)), invited, "{changes:?}");
            assert_eq!(said(check_waiting(&person(UserStatus::Invited), &draft)), waiting, "{changes:?}");
        }
        for status in ["active", "disabled"] {
            let draft = said_of(&[("/status", json!(status))]);
            let refused = "status: must be invited, or left out: they are active once they accept";
            assert_eq!(said(check_invited(&draft)), refused, "{status}");
            assert_eq!(said(check_waiting(&person(UserStatus::Invited), &draft)), refused, "{status}");
        }
        // All at once.
        let all = said_of(&[("/username", json!("mira")), ("/locale", json!("de")), ("/status", json!("active"))]);
        assert_eq!(check_invited(&all).unwrap_err().iter().count(), 3);
    }

    #[test]
    fn what_somebody_is_elsewhere_is_changed_there() {
        let held =
            |of: u128| MembershipView { business_id: business(of), permission_id: id(of + 10), role: "sales".into() };
        let before = [held(1), held(2)];
        let named = |of: u128, set: u128| (Some(RecordId(business(of).0)), id(set));
        for (asked, answer) in [
            (vec![named(1, 11), named(2, 12)], "fine"),
            (vec![named(1, 19)], "fine"),
            (vec![(None, id(19))], "fine"),
            (vec![named(1, 11), named(2, 11)], "memberships[1]: of another company is changed there"),
            (vec![named(3, 13)], "memberships[0]: of another company is changed there"),
        ] {
            assert_eq!(said(check_elsewhere(business(1), &asked, &before)), answer, "{asked:?}");
        }
    }
}
