//! What is done with an invitation: made again, and accepted.

use crate::clock::Instant;
use crate::error::{Code, Conflict, Error, FieldErrors, Result};
use crate::field::{Faults, Field, Label};
use crate::ids::{BusinessId, RecordId, UserId};
use crate::profile::{Profile, ProfileView, check_logged_in, own};
use crate::user::{MembershipView, UserView, Users, check_reaches, member_of, note};
use books::access::{Seat, seat_of};
use books::audit::{AuditAction, Change};
use books::auth::invitation::{self, Accepted, Model as Invitation};
use books::auth::user::{self as accounts, Model, UserStatus};
use books::cx::Cx;
use kit::extra::{Act, NoWords, On};
use kit::rows;
use schema::membership;
use schema::rights::Action;
use schemars::JsonSchema;
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, ConnectionTrait, EntityTrait, IntoActiveModel, PaginatorTrait, QueryFilter,
};
use serde::Deserialize;
use serde_json::json;

/// What whoever cannot accept is told: the same for a wrong code, for one that is over, and for an address that somebody
/// has an account with.
pub const REFUSED: Error = Error::Unauthenticated(
    "The invitation cannot be accepted so: ask for another code, or log in to your account and accept it there",
);

pub struct InviteAgain;

impl Act for InviteAgain {
    type Resource = Users;
    type Answers = Users;
    type Input = NoWords;
    type Words = ();
    const NAME: &'static str = "InviteAgain";
    const SEGMENT: &'static str = "invitation";
    const ACTION: Action = Action::Create;
    const SUMMARY: &'static str = "Invite a user again";
    const DESCRIPTION: &'static str = "Answers a new code, once, for somebody who has not accepted yet. The code before it \
                                       opens nothing any more.";

    fn check(_: NoWords) -> Result<(), FieldErrors> {
        Ok(())
    }

    async fn run(cx: &Cx<'_>, id: RecordId, (): &()) -> Result<UserView> {
        let row = rows::row::<Users>(cx, id).await?;
        cx.check_expectation(id, row.version)?;
        if !invitation::waits(&row) {
            return Err(Error::conflict(Code::InvalidState, "They have accepted already"));
        }
        let business = cx.business_id()?;
        // Whoever makes the code could use it.
        check_reaches(cx, member_of(cx, business, row.id).await?.permission_id).await?;
        let before = rows::one_view::<Users>(cx, row.clone()).await?;
        let (code, _) = invitation::renew(&cx.db, &row, business, (cx.user, cx.now)).await?;
        accounts::Entity::update_many()
            .filter(accounts::Column::Id.eq(row.id))
            .col_expr(accounts::Column::Version, Expr::col(accounts::Column::Version).add(1))
            .col_expr(accounts::Column::UpdatedAt, Expr::value(cx.now))
            .col_expr(accounts::Column::UpdatedBy, Expr::value(cx.user))
            .exec(&cx.db)
            .await?;
        let view = rows::get::<Users>(cx, id).await?;
        note(cx, AuditAction::Updated, Some(&before), Some(&view))?;
        Ok(view.with_code(code))
    }
}

/// What a client sends to accept an invitation with the account that they have.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct InvitationCodeInput {
    /// The code that you were given.
    invitation_code: Field<Label<100>>,
}

pub(crate) struct AcceptInvitation;

impl Act for AcceptInvitation {
    type Resource = Profile;
    type Answers = Profile;
    type Input = InvitationCodeInput;
    type Words = String;
    const NAME: &'static str = "AcceptInvitation";
    const SEGMENT: &'static str = "invitations";
    const ACTION: Action = Action::Edit;
    const ON: On = On::Collection;
    const SUMMARY: &'static str = "Accept an invitation";
    const DESCRIPTION: &'static str = "You become a member of the company that invited you. The invitation must have been \
                                       made for the address of your account. Wrong codes are counted like wrong passwords.";

    fn check(input: InvitationCodeInput) -> Result<String, FieldErrors> {
        let mut faults = Faults::default();
        let code = faults.required("invitationCode", input.invitation_code).into_inner();
        faults.finish(code)
    }

    fn example() -> Option<fn() -> serde_json::Value> {
        Some(|| json!({"invitationCode": "join_k7m2q9x4w8n3b6v5c2z7t4r9y8p3h6j5"}))
    }

    fn opened_by(code: &String) -> Option<&str> {
        Some(code)
    }

    async fn run(cx: &Cx<'_>, id: RecordId, code: &String) -> Result<ProfileView> {
        check_logged_in(cx)?;
        let found = invitation::find(&cx.db, code, cx.now).await?.ok_or_else(wrong_code)?;
        let account = accounts::find(&cx.db, UserId(id.0)).await?.ok_or(Error::NotFound)?;
        if accounts::key(&account.email) != found.email_key {
            return Err(Error::Conflict(Conflict {
                code: Code::InvalidState,
                title: "The invitation was made for another address than yours".into(),
                errors: FieldErrors::one("invitationCode", "was made for another address; ask for one for yours"),
            }));
        }
        let (_, changes) = join(&cx.db, &found, account).await?;
        for change in changes {
            cx.record(found.business_id, change)?;
        }
        own(cx).await
    }
}

pub fn wrong_code() -> Error {
    Error::field("invitationCode", "opens nothing: it is wrong, used, withdrawn or too old; ask for another")
}

/// Somebody's place in a company, as its log has it.
async fn place(
    connection: &impl ConnectionTrait,
    found: &Invitation,
    user: UserId,
) -> Result<(membership::Model, MembershipView)> {
    let member = membership::Entity::find_by_id((found.business_id, user)).one(connection).await?;
    let member = member.ok_or_else(|| Error::internal("somebody who is waited for is nowhere waited for"))?;
    let seat = seat_of(connection, found.business_id, member.permission_id).await?;
    let role = seat.map_or_else(String::new, |seat: Seat| seat.role);
    let view = MembershipView { business_id: found.business_id, permission_id: member.permission_id, role };
    Ok((member, view))
}

/// An account takes the place of who is waited for. What is to be noted of it is answered.
pub(crate) async fn join(
    connection: &impl ConnectionTrait,
    found: &Invitation,
    account: Model,
) -> Result<(Accepted, Vec<Change>)> {
    let business = found.business_id;
    if membership::Entity::find_by_id((business, account.id)).one(connection).await?.is_some() {
        return Err(Error::conflict(Code::InvalidState, "You are a member of this company already"));
    }
    let waiting = accounts::find(connection, found.user_id).await?.ok_or_else(wrong_code)?;
    let (member, view) = place(connection, found, waiting.id).await?;
    invitation::forget(connection, business, waiting.id).await?;
    let mut taken = member.into_active_model();
    taken.user_id = Set(account.id);
    membership::Entity::insert(taken.reset_all()).exec_without_returning(connection).await?;
    let accepted = accepted(&account, &view);
    let before = UserView::of_member(waiting, view.clone(), Some(found.expires_at));
    let after = UserView::of_member(account, view, None);
    let changes = vec![
        UserView::change(AuditAction::Deleted, business, [Some(&before), None])?,
        UserView::change(AuditAction::Created, business, [None, Some(&after)])?,
    ];
    Ok((accepted, changes))
}

fn accepted(account: &Model, view: &MembershipView) -> Accepted {
    Accepted {
        user_id: account.id,
        email: account.email.clone(),
        business_id: view.business_id,
        role: view.role.clone(),
    }
}

/// What a new account is made of.
pub struct NewAccount {
    /// Its identifier, where whoever is waited for is waited for elsewhere too.
    pub id: UserId,
    pub display_name: Option<String>,
    pub username: Option<String>,
    pub locale: Option<String>,
    pub password_hash: String,
}

/// The account that somebody opens. Whoever is waited for elsewhere too stays there, and the account is another.
fn opened(waiting: &Model, new: NewAccount, home: BusinessId, alone: bool, now: Instant) -> Model {
    let id = if alone { waiting.id } else { new.id };
    let display_name = new.display_name.unwrap_or_else(|| waiting.display_name.clone());
    Model {
        id,
        email_key: accounts::key(&waiting.email),
        username_key: new.username.as_deref().map(accounts::key),
        search: accounts::search_text(&waiting.email, new.username.as_deref(), &display_name),
        username: new.username,
        display_name,
        password_hash: new.password_hash,
        status: UserStatus::Active,
        locale: new.locale,
        home_id: Some(home),
        version: if alone { waiting.version + 1 } else { 1 },
        updated_at: now,
        updated_by: id,
        ..waiting.clone()
    }
}

/// Who is waited for opens an account, for the address that the invitation was made for.
pub async fn open(
    connection: &impl ConnectionTrait,
    found: &Invitation,
    new: NewAccount,
    now: Instant,
) -> Result<(Accepted, Vec<Change>)> {
    let waiting = accounts::find(connection, found.user_id).await?.ok_or(REFUSED)?;
    // First what says nothing of the address.
    if let Some(username) = &new.username {
        accounts::check_username_free(connection, username, waiting.id).await?;
    }
    if accounts::find_by_name(connection, &waiting.email, books::auth::LoginName::Email).await?.is_some() {
        return Err(REFUSED);
    }
    let waited_for = membership::Entity::find().filter(membership::Column::UserId.eq(waiting.id)).count(connection);
    let alone = waited_for.await? == 1;
    let account = opened(&waiting, new, found.business_id, alone, now);
    if !alone {
        accounts::Entity::insert(account.clone().into_active_model().reset_all())
            .exec_without_returning(connection)
            .await?;
        return join(connection, found, account).await;
    }
    let (_, view) = place(connection, found, waiting.id).await?;
    accounts::Entity::update(account.clone().into_active_model().reset_all()).exec(connection).await?;
    invitation::Entity::delete_by_id(waiting.id).exec(connection).await?;
    let accepted = accepted(&account, &view);
    let before = UserView::of_member(waiting, view.clone(), Some(found.expires_at));
    let after = UserView::of_member(account, view, None);
    let change = UserView::change(AuditAction::Updated, found.business_id, [Some(&before), Some(&after)])?;
    Ok((accepted, vec![change]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invitation_is_accepted_with_its_code() {
        for (body, code) in [
            (json!({"invitationCode": "join_k7m2"}), Ok("join_k7m2")),
            (json!({"invitationCode": "  join_k7m2 "}), Ok("join_k7m2")),
            (json!({}), Err("invitationCode")),
            (json!({"invitationCode": " "}), Err("invitationCode")),
            (json!({"invitationCode": "k".repeat(101)}), Err("invitationCode")),
        ] {
            let read = AcceptInvitation::check(serde_json::from_value(body.clone()).unwrap());
            let read = read.map_err(|faults| faults.iter().map(|(field, _)| field.clone()).collect::<String>());
            assert_eq!(read.as_deref().map_err(String::as_str), code, "{body}");
        }
    }

    #[test]
    fn who_is_waited_for_opens_an_account_of_their_own() {
        use crate::user::tests::person;
        use sea_orm::prelude::Uuid;
        let (own, other) = (person(UserStatus::Invited).id, UserId(Uuid::from_u128(9)));
        let (home, now) = (BusinessId(Uuid::from_u128(2)), Instant::from_micros(60_000_000));
        let of = |alone: bool, display_name: Option<&str>, username: Option<&str>| {
            let new = NewAccount {
                id: other,
                display_name: display_name.map(Into::into),
                username: username.map(Into::into),
                locale: Some("de-AT".into()),
                password_hash: "hashed".into(),
            };
            let mut waiting = person(UserStatus::Invited);
            waiting.email_key = invitation::waiting_key(&waiting.email, waiting.id);
            opened(&waiting, new, home, alone, now)
        };
        for (alone, name, username, id, version, shown, key, search) in [
            (true, None, None, own, 4, "Mira Sandoval", None, "mira@harbour.example  mira sandoval"),
            (true, Some("M. S."), None, own, 4, "M. S.", None, "mira@harbour.example  m. s."),
            (
                true,
                None,
                Some("Mira"),
                own,
                4,
                "Mira Sandoval",
                Some("mira"),
                "mira@harbour.example mira mira sandoval",
            ),
            // They are waited for elsewhere too, and stay there as they are.
            (false, None, None, other, 1, "Mira Sandoval", None, "mira@harbour.example  mira sandoval"),
        ] {
            let account = of(alone, name, username);
            let found = (account.id, account.updated_by, account.version, account.display_name.as_str());
            assert_eq!(found, (id, id, version, shown), "{alone} {name:?}");
            assert_eq!((account.username_key.as_deref(), account.search.as_str()), (key, search));
            // An address that one can log in with, from now on and at home where they were invited.
            assert_eq!((account.email_key.as_str(), account.status), ("mira@harbour.example", UserStatus::Active));
            assert_eq!((account.home_id, account.updated_at), (Some(home), now));
            assert_eq!((account.password_hash.as_str(), account.locale.as_deref()), ("hashed", Some("de-AT")));
            assert!(!invitation::waits(&account));
        }
        // Who was let out before they accepted does not wait, and nor does who has a password.
        for (status, hash, waits) in [
            (UserStatus::Invited, "", true),
            (UserStatus::Invited, "hashed", false),
            (UserStatus::Active, "", false),
            (UserStatus::Disabled, "", false),
        ] {
            let mut somebody = person(status);
            somebody.password_hash = hash.into();
            assert_eq!(invitation::waits(&somebody), waits, "{status:?} {hash}");
        }
    }
}
