//! Invitations: the code by which somebody becomes a member of a company.
//!
//! An address proves nothing, so nobody becomes a member by theirs. Whoever adds somebody gets a code and hands it over;
//! whoever brings the code, and the password of an account or a new one, becomes the member. Until then the member is a
//! user without an account: no name leads to them, and nothing is known of them but what the inviter wrote.
//!
//! Owns: that a code is shown once, kept as a digest, good once and for a while, and never for more than its maker may
//! hand out at that moment.

use super::user::{self as accounts, UserStatus};
use super::{PLAIN, SentPassword, password, random_letters};
use crate::access::{self, Seat};
use crate::clock::Instant;
use crate::error::{FieldErrors, Result};
use crate::field::{Faults, Field, Maybe, Text};
use crate::ids::{BusinessId, UserId};
use schema::address::text;
use schema::key::ResourceKey;
use schema::membership;
use schema::rights::Action;
use schemars::JsonSchema;
use sea_orm::ActiveValue::Set;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::OnConflict;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::Duration;

/// What every code begins with, so that scanners of secrets know it.
const PREFIX: &str = "join_";

const KEPT: Duration = Duration::from_hours(7 * 24);

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "invitations")]
pub struct Model {
    /// The member who waits.
    #[sea_orm(primary_key, auto_increment = false)]
    pub user_id: UserId,
    pub business_id: BusinessId,
    /// The address that it was made for.
    pub email_key: String,
    pub digest: String,
    pub expires_at: Instant,
    pub created_at: Instant,
    /// Who answers for it.
    pub created_by: UserId,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// What nobody's name is: an address with what no address has behind it. It sorts beside the address.
pub fn waiting_key(email: &str, id: UserId) -> String {
    format!("{} {id}", accounts::key(email))
}

/// Those who have an address, and those who were invited by it.
pub fn of_address(email: &str) -> sea_orm::Condition {
    let key = accounts::key(email);
    let invited = sea_orm::Condition::all()
        .add(accounts::Column::EmailKey.gt(format!("{key} ")))
        .add(accounts::Column::EmailKey.lt(format!("{key}!")));
    sea_orm::Condition::any().add(accounts::Column::EmailKey.eq(&key)).add(invited)
}

/// Whether somebody was invited and has not accepted yet.
pub fn waits(user: &accounts::Model) -> bool {
    user.status == UserStatus::Invited && user.password_hash.is_empty()
}

/// What is kept of a code. It is random and long, so one round is enough.
pub fn digest(code: &str) -> String {
    crate::texts::hex(ring::digest::digest(&ring::digest::SHA256, code.as_bytes()).as_ref())
}

/// A new code for somebody who waits; the one before is void. It is shown once.
pub async fn renew(
    connection: &impl ConnectionTrait,
    waiting: &accounts::Model,
    business: BusinessId,
    (by, now): (UserId, Instant),
) -> Result<(String, Instant)> {
    // 160 random bits.
    let code = format!("{PREFIX}{}", random_letters(PLAIN, 32)?);
    let expires_at = now.plus(KEPT);
    let row = ActiveModel {
        user_id: Set(waiting.id),
        business_id: Set(business),
        email_key: Set(accounts::key(&waiting.email)),
        digest: Set(digest(&code)),
        expires_at: Set(expires_at),
        created_at: Set(now),
        created_by: Set(by),
    };
    let mut known = OnConflict::column(Column::UserId);
    known.update_columns([
        Column::BusinessId,
        Column::EmailKey,
        Column::Digest,
        Column::ExpiresAt,
        Column::CreatedAt,
        Column::CreatedBy,
    ]);
    Entity::insert(row).on_conflict(known).exec_without_returning(connection).await?;
    Ok((code, expires_at))
}

/// The invitation that a code opens, if it still does: whoever answers for it must be able to make it at this moment.
pub async fn find(connection: &impl ConnectionTrait, code: &str, now: Instant) -> Result<Option<Model>> {
    let found = Entity::find().filter(Column::Digest.eq(digest(code))).one(connection).await?;
    let Some(found) = found.filter(|found| found.expires_at > now) else { return Ok(None) };
    Ok(if stands(connection, &found).await? { Some(found) } else { None })
}

async fn stands(connection: &impl ConnectionTrait, invitation: &Model) -> Result<bool> {
    let Model { user_id, business_id, created_by, .. } = *invitation;
    let seat = async |user: UserId| match membership::Entity::find_by_id((business_id, user)).one(connection).await? {
        Some(member) => access::seat_of(connection, business_id, member.permission_id).await,
        None => Ok(None),
    };
    let inviter = accounts::find(connection, created_by).await?.map(|inviter| inviter.status);
    let (theirs, offered) = (seat(created_by).await?, seat(user_id).await?);
    Ok(may_hand_out(inviter, theirs.as_ref(), offered.as_ref()))
}

/// Whether who made an invitation may make it at this moment: as whom they are known, where they sit, and the seat that
/// they offer.
fn may_hand_out(inviter: Option<UserStatus>, theirs: Option<&Seat>, offered: Option<&Seat>) -> bool {
    let (Some(theirs), Some(offered)) = (theirs, offered) else { return false };
    let is_there = inviter == Some(UserStatus::Active);
    is_there && theirs.rights.allows(ResourceKey::Users, Action::Create) && theirs.covers(offered)
}

/// When the invitations of some who wait end.
pub async fn ends(connection: &impl ConnectionTrait, users: &[UserId]) -> Result<HashMap<UserId, Instant>> {
    let found = Entity::find().filter(Column::UserId.is_in(users.iter().copied())).all(connection).await?;
    Ok(found.into_iter().map(|row| (row.user_id, row.expires_at)).collect())
}

/// Lets go of somebody who waits: the code is void, and they are nobody once no company waits for them.
pub async fn forget(connection: &impl ConnectionTrait, business: BusinessId, waiting: UserId) -> Result<()> {
    Entity::delete_many()
        .filter(Column::UserId.eq(waiting))
        .filter(Column::BusinessId.eq(business))
        .exec(connection)
        .await?;
    membership::Entity::delete_by_id((business, waiting)).exec(connection).await?;
    if membership::Entity::find().filter(membership::Column::UserId.eq(waiting)).count(connection).await? == 0 {
        accounts::Entity::delete_by_id(waiting).exec(connection).await?;
    }
    Ok(())
}

/// Lets go of everybody whom a company waits for.
pub async fn forget_all_of(connection: &impl ConnectionTrait, business: BusinessId) -> Result<()> {
    for waiting in Entity::find().filter(Column::BusinessId.eq(business)).all(connection).await? {
        forget(connection, business, waiting.user_id).await?;
    }
    Ok(())
}

// ── Accepting ──

/// What a client sends to accept an invitation with a new account. The code is the bearer token of the request.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields, rename = "InvitationAcceptance")]
pub struct AcceptanceInput {
    /// The password that you choose, 12 to 256 characters. Nobody else ever knows it.
    password: Field<SentPassword>,
    /// Name to show; what you were invited as when absent.
    display_name: Maybe<Text<200>>,
    /// Another name to log in with; unique.
    username: Maybe<Text<100>>,
    /// Language and country, such as `de-AT`.
    locale: Maybe<Text<35>>,
}

/// A checked acceptance. The password is never written anywhere.
pub struct Acceptance {
    pub password: String,
    pub display_name: Option<String>,
    pub username: Option<String>,
    pub locale: Option<String>,
}

/// Who was let in, and where.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AcceptedInvitation")]
pub struct Accepted {
    /// Your account.
    pub user_id: UserId,
    /// The address that you log in with from now on.
    pub email: String,
    /// The company that you are a member of now.
    pub business_id: BusinessId,
    /// What you are there.
    pub role: String,
}

pub fn check_acceptance(input: AcceptanceInput) -> Result<Acceptance, FieldErrors> {
    let mut faults = Faults::default();
    let sent = faults.required("password", input.password).into_inner();
    let display_name = text(&mut faults, "displayName", input.display_name);
    let username = text(&mut faults, "username", input.username);
    let locale = text(&mut faults, "locale", input.locale);
    if locale.as_deref().is_some_and(|tag| !crate::texts::is_language_tag(tag)) {
        faults.add("locale", "must be a language, and a country where it matters, such as de or de-AT");
    }
    if username.as_deref().is_some_and(|name| !accounts::is_username(name)) {
        faults.add("username", accounts::USERNAME_RULE);
    }
    let mut errors = faults.finish(()).err().unwrap_or_default();
    if errors.iter().all(|(field, _)| field != "password") {
        errors.extend(password::check_length("password", &sent).err().unwrap_or_default());
    }
    if errors.is_empty() { Ok(Acceptance { password: sent, display_name, username, locale }) } else { Err(errors) }
}

/// A body that accepts an invitation, and what is answered.
pub fn acceptance_example() -> (Value, Value) {
    (
        json!({
            "password": "a ferry at first light", "displayName": "Mira Sandoval", "username": "mira", "locale": "de-DE"
        }),
        json!({
            "userId": "019a9f6e-6c00-7c55-8a77-1f3e5d7b9c03", "email": "mira@harbour.example",
            "businessId": "019a9f6e-6c00-7a8e-9d1f-0a8f5f1c2b3d", "role": "bookkeeper"
        }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::BookMoney;
    use schema::rights::{Limits, Role};

    #[test]
    fn who_made_an_invitation_answers_for_it_at_the_moment_that_it_is_used() {
        use UserStatus::{Active, Disabled, Invited};
        let seat = |role: Role| Seat { rights: role.rights(), ..Seat::owner() };
        let up_to = |most: i64| Seat {
            limits: Limits { max_document_amount: Some(BookMoney::from_units(most)), backdate_days: None },
            ..Seat::owner()
        };
        let (owner, accountant, bookkeeper) = (Seat::owner(), seat(Role::Accountant), seat(Role::Bookkeeper));
        for (inviter, theirs, offered, may) in [
            (Some(Active), Some(&owner), Some(&bookkeeper), true),
            (Some(Active), Some(&owner), Some(&owner), true),
            // They may see people and add none, whatever they offer.
            (Some(Active), Some(&accountant), Some(&bookkeeper), false),
            (Some(Active), Some(&bookkeeper), Some(&bookkeeper), false),
            // Nobody hands out more than they have.
            (Some(Active), Some(&up_to(100)), Some(&up_to(100)), true),
            (Some(Active), Some(&up_to(100)), Some(&up_to(101)), false),
            (Some(Active), Some(&up_to(100)), Some(&owner), false),
            // They are gone, or sit nowhere any more; so does who waits.
            (Some(Disabled), Some(&owner), Some(&bookkeeper), false),
            (Some(Invited), Some(&owner), Some(&bookkeeper), false),
            (None, Some(&owner), Some(&bookkeeper), false),
            (Some(Active), None, Some(&bookkeeper), false),
            (Some(Active), Some(&owner), None, false),
        ] {
            assert_eq!(may_hand_out(inviter, theirs, offered), may, "{inviter:?} {theirs:?} {offered:?}");
        }
    }

    #[test]
    fn who_waits_is_nobody_and_stands_beside_their_address() {
        let waiting = |email: &str| waiting_key(email, UserId(Uuid::from_u128(5)));
        assert_eq!(waiting(" Mira@Harbour.Example"), "mira@harbour.example 00000000-0000-0000-0000-000000000005");
        // As the rows are asked: after the address and a blank, and before what follows a blank.
        let beside = |email: &str, key: &str| *key > *format!("{email} ") && *key < *format!("{email}!");
        for (email, key, is_beside) in [
            ("mira@harbour.example", waiting("mira@harbour.example"), true),
            ("mira@harbour.example", "mira@harbour.example".into(), false),
            ("mira@harbour.example", waiting("mira@harbour.examples"), false),
            ("mira@harbour.example", waiting("amira@harbour.example"), false),
            ("mira@harbour.example", waiting("mira@harbour.exampl"), false),
        ] {
            assert_eq!(beside(email, &key), is_beside, "{email} {key}");
        }
    }

    #[test]
    fn an_invitation_is_accepted_with_a_password_and_names_that_may_be() {
        let good = json!({"password": "a ferry at first light"});
        for (more, fields) in [
            (json!({}), vec![]),
            (json!({"displayName": "Mira", "username": "mira", "locale": "de-DE"}), vec![]),
            (json!({"username": "mira@harbour.example"}), vec!["username"]),
            (json!({"username": "mira sandoval"}), vec!["username"]),
            (json!({"locale": "german"}), vec!["locale"]),
            (json!({"password": null}), vec!["password"]),
            (json!({"password": "eleven char"}), vec!["password"]),
            (json!({"password": "twelve chars"}), vec![]),
            (json!({"password": "ü".repeat(256)}), vec![]),
            (json!({"password": "ü".repeat(257)}), vec!["password"]),
            // All of it at once.
            (json!({"password": "short", "username": "@", "locale": "1"}), vec!["locale", "password", "username"]),
        ] {
            let mut body = good.clone();
            body.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
            let faults = check_acceptance(serde_json::from_value(body.clone()).unwrap()).err().unwrap_or_default();
            let mut found: Vec<&str> = faults.iter().map(|(field, _)| field.as_str()).collect();
            found.sort_unstable();
            assert_eq!(found, fields, "{body}");
        }
    }
}
