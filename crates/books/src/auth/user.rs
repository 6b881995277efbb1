//! Users as they are stored, and the few ways to make and change them.

use crate::clock::Instant;
use crate::error::{Code, Conflict, Error, FieldErrors, Result};
use crate::ids::{BusinessId, UserId};
use crate::wire_enum;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{ActiveModelTrait, Condition, IntoActiveModel, QueryOrder};
use std::collections::{BTreeSet, HashMap};

wire_enum! {
    /// Whether a user may log in.
    pub enum UserStatus {
        #[default]
        Active = "active",
        /// They have not accepted yet.
        Invited = "invited",
        Disabled = "disabled",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "users")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: UserId,
    pub email: String,
    pub email_key: String,
    pub username: Option<String>,
    pub username_key: Option<String>,
    pub display_name: String,
    pub password_hash: String,
    pub status: UserStatus,
    pub token_version: i64,
    pub is_system_admin: bool,
    pub locale: Option<String>,
    pub must_change_password: bool,
    /// The company in which the account was opened; its people are managed from there.
    pub home_id: Option<BusinessId>,
    pub search: String,
    pub version: i64,
    pub created_at: Instant,
    pub created_by: UserId,
    pub updated_at: Instant,
    pub updated_by: UserId,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// A user to be made.
#[derive(Clone)]
pub struct NewUser {
    pub email: String,
    pub username: Option<String>,
    pub display_name: String,
    pub password: String,
    /// Whether they must choose another password before anything else.
    pub must_change_password: bool,
    pub is_system_admin: bool,
}

/// What may be told about a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserSummary {
    pub id: UserId,
    pub email: String,
    pub username: Option<String>,
    pub display_name: String,
    pub status: UserStatus,
    pub is_system_admin: bool,
}

impl From<Model> for UserSummary {
    fn from(user: Model) -> Self {
        let Model { id, email, username, display_name, status, is_system_admin, .. } = user;
        Self { id, email, username, display_name, status, is_system_admin }
    }
}

/// Names are compared without regard to case.
pub fn key(name: &str) -> String {
    name.trim().to_lowercase()
}

/// What is wrong with a user to be made, but for the strength of the password.
pub fn check(user: &NewUser) -> Result<(), FieldErrors> {
    let mut errors = check_names(&user.email, user.username.as_deref(), &user.display_name);
    errors.extend(super::password::check_length("password", &user.password).err().unwrap_or_default());
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// What is wrong with how somebody is to be called.
pub fn check_names(email: &str, username: Option<&str>, display_name: &str) -> FieldErrors {
    let mut errors = FieldErrors::default();
    if !crate::texts::is_email(email.trim()) {
        errors.add("email", "must be an e-mail address");
    }
    if username.is_some_and(|username| !is_username(username)) {
        errors.add("username", USERNAME_RULE);
    }
    if display_name.trim().is_empty() || display_name.chars().count() > 200 {
        errors.add("displayName", "must be 1 to 200 characters long");
    }
    errors
}

pub const USERNAME_RULE: &str = "must be 1 to 100 letters, digits, dots, dashes or underscores";

/// Without @, so that a username can never be somebody else's e-mail.
pub fn is_username(username: &str) -> bool {
    let sane = |letter: char| letter.is_alphanumeric() || matches!(letter, '.' | '_' | '-');
    (1..=100).contains(&username.chars().count()) && username.chars().all(sane)
}

/// What a search for somebody looks into.
pub fn search_text(email: &str, username: Option<&str>, display_name: &str) -> String {
    crate::texts::search_key(&format!("{email} {} {display_name}", username.unwrap_or_default()))
}

pub async fn find(connection: &impl ConnectionTrait, id: UserId) -> Result<Option<Model>> {
    Ok(Entity::find_by_id(id).one(connection).await?)
}

/// By e-mail or, where the dialect allows it, by username.
pub async fn find_by_name(
    connection: &impl ConnectionTrait,
    name: &str,
    by: super::LoginName,
) -> Result<Option<Model>> {
    let name = key(name);
    let mut names = Condition::any().add(Column::EmailKey.eq(&name));
    if by == super::LoginName::EmailOrUsername {
        names = names.add(Column::UsernameKey.eq(&name));
    }
    Ok(Entity::find().filter(names).one(connection).await?)
}

/// The e-mail addresses of some users.
pub async fn emails_of(
    connection: &impl ConnectionTrait,
    users: impl Iterator<Item = UserId>,
) -> Result<HashMap<UserId, String>> {
    let users: BTreeSet<UserId> = users.collect();
    let found = Entity::find().filter(Column::Id.is_in(users)).all(connection).await?;
    Ok(found.into_iter().map(|user| (user.id, user.email)).collect())
}

pub async fn all(connection: &impl ConnectionTrait) -> Result<Vec<UserSummary>> {
    let users = Entity::find().order_by_asc(Column::EmailKey).all(connection).await?;
    Ok(users.into_iter().map(UserSummary::from).collect())
}

/// Refuses names that another user has.
pub async fn check_free(
    connection: &impl ConnectionTrait,
    email: &str,
    username: Option<&str>,
    except: Option<UserId>,
) -> Result<()> {
    let mut taken = FieldErrors::default();
    for (field, name) in [("email", Some(email)), ("username", username)] {
        let Some(name) = name else { continue };
        let found = find_by_name(connection, name, super::LoginName::EmailOrUsername).await?;
        if found.is_some_and(|found| Some(found.id) != except) {
            taken.add(field, "is already used by another user");
        }
    }
    if taken.is_empty() {
        return Ok(());
    }
    Err(Error::Conflict(Conflict { code: Code::Duplicate, title: "The user exists already".into(), errors: taken }))
}

/// Refuses a username that another user has.
pub async fn check_username_free(connection: &impl ConnectionTrait, username: &str, except: UserId) -> Result<()> {
    match find_by_name(connection, username, super::LoginName::EmailOrUsername).await? {
        Some(found) if found.id != except => Err(Error::Conflict(Conflict {
            code: Code::Duplicate,
            title: "The user exists already".into(),
            errors: FieldErrors::one("username", "is already used by another user"),
        })),
        _ => Ok(()),
    }
}

pub async fn insert_row(connection: &impl ConnectionTrait, row: Model) -> Result<()> {
    check_free(connection, &row.email, row.username.as_deref(), None).await?;
    Entity::insert(row.into_active_model().reset_all()).exec_without_returning(connection).await?;
    Ok(())
}

/// A user whom the command line makes.
pub async fn insert(
    connection: &impl ConnectionTrait,
    id: UserId,
    user: &NewUser,
    password_hash: String,
    now: Instant,
) -> Result<()> {
    let row = Model {
        id,
        email: user.email.trim().into(),
        email_key: key(&user.email),
        username: user.username.clone(),
        username_key: user.username.as_deref().map(key),
        display_name: user.display_name.trim().into(),
        password_hash,
        status: UserStatus::Active,
        token_version: 1,
        is_system_admin: user.is_system_admin,
        locale: None,
        must_change_password: user.must_change_password,
        home_id: None,
        search: search_text(&user.email, user.username.as_deref(), &user.display_name),
        version: 1,
        created_at: now,
        created_by: id,
        updated_at: now,
        updated_by: id,
    };
    insert_row(connection, row).await
}

/// A change that ends every session of a user.
#[derive(Debug, Clone)]
pub enum Revoking {
    Password {
        hash: String,
        /// Whether they must choose another one before anything else.
        must_change: bool,
    },
    Status(UserStatus),
    /// Nothing else changes.
    Nothing,
}

pub async fn revoke_with(
    connection: &impl ConnectionTrait,
    user: UserId,
    change: Revoking,
    now: Instant,
) -> Result<()> {
    let next = |column: Column| Expr::col(column).add(1);
    let update = Entity::update_many()
        .filter(Column::Id.eq(user))
        .col_expr(Column::TokenVersion, next(Column::TokenVersion))
        .col_expr(Column::Version, next(Column::Version))
        .col_expr(Column::UpdatedAt, Expr::value(now));
    let update = match change {
        Revoking::Password { hash, must_change } => update
            .col_expr(Column::PasswordHash, Expr::value(hash))
            .col_expr(Column::MustChangePassword, Expr::value(must_change)),
        Revoking::Status(status) => update.col_expr(Column::Status, Expr::value(status)),
        Revoking::Nothing => update,
    };
    super::session::end(connection, user, super::session::Which::All, now).await?;
    match update.exec(connection).await?.rows_affected {
        0 => Err(Error::NotFound),
        _ => Ok(()),
    }
}
