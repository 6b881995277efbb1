//! What is known of somebody's sign-ins: when the last one was, and the second factor.

use crate::clock::Instant;
use crate::error::{Error, Result};
use crate::ids::UserId;
use crate::keys::{Keys, Purpose};
use sea_orm::ActiveValue::Set;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{Expr, OnConflict};
use std::collections::HashMap;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "sign_ins")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub user_id: UserId,
    pub last_at: Option<Instant>,
    /// In plain text, as it was kept once; hidden when the schema is brought up to date.
    pub totp_secret: Option<String>,
    /// The secret of the authenticator, under the master key.
    pub totp_hidden: Option<String>,
    /// Whether a code is asked for; a secret that was never confirmed is not.
    pub totp_on: bool,
    /// The last step whose code was taken; no code is good twice.
    pub totp_step: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

pub async fn find(connection: &impl ConnectionTrait, user: UserId) -> Result<Option<Model>> {
    Ok(Entity::find_by_id(user).one(connection).await?)
}

pub async fn of(connection: &impl ConnectionTrait, users: &[UserId]) -> Result<HashMap<UserId, Model>> {
    let found = Entity::find().filter(Column::UserId.is_in(users.iter().copied())).all(connection).await?;
    Ok(found.into_iter().map(|row| (row.user_id, row)).collect())
}

/// Notes that somebody signed in.
pub async fn note(connection: &impl ConnectionTrait, user: UserId, now: Instant) -> Result<()> {
    let row = ActiveModel {
        user_id: Set(user),
        last_at: Set(Some(now)),
        totp_secret: Set(None),
        totp_hidden: Set(None),
        totp_on: Set(false),
        totp_step: Set(0),
    };
    let mut known = OnConflict::column(Column::UserId);
    known.update_column(Column::LastAt);
    Entity::insert(row).on_conflict(known).exec_without_returning(connection).await?;
    Ok(())
}

/// From now on no code of this step, or of one before, is good.
pub async fn use_step(connection: &impl ConnectionTrait, user: UserId, step: i64) -> Result<()> {
    Entity::update_many()
        .filter(Column::UserId.eq(user))
        .col_expr(Column::TotpStep, Expr::value(step))
        .exec(connection)
        .await?;
    Ok(())
}

impl Model {
    /// The secret of the authenticator.
    pub fn secret(&self, keys: &Keys) -> Result<Option<String>> {
        let Some(hidden) = &self.totp_hidden else { return Ok(None) };
        let bytes = keys.reveal(Purpose::SecondFactor, &self.user_id.to_string(), hidden)?;
        String::from_utf8(bytes).map(Some).map_err(Error::internal)
    }
}

/// A secret as it is kept.
pub fn hidden(keys: &Keys, user: UserId, secret: &str) -> Result<String> {
    keys.hide(Purpose::SecondFactor, &user.to_string(), secret.as_bytes())
}

/// Whether a secret is there in plain text.
pub async fn any_plain(connection: &impl ConnectionTrait) -> Result<bool> {
    Ok(Entity::find().filter(Column::TotpSecret.is_not_null()).one(connection).await?.is_some())
}

/// Hides the secrets that were kept in plain text.
pub async fn hide_plain(connection: &impl ConnectionTrait, keys: &Keys) -> Result<()> {
    for row in Entity::find().filter(Column::TotpSecret.is_not_null()).all(connection).await? {
        let Some(secret) = &row.totp_secret else { continue };
        let hidden = hidden(keys, row.user_id, secret)?;
        Entity::update_many()
            .filter(Column::UserId.eq(row.user_id))
            .col_expr(Column::TotpSecret, Expr::value(None::<String>))
            .col_expr(Column::TotpHidden, Expr::value(hidden))
            .exec(connection)
            .await?;
    }
    Ok(())
}

/// Keeps a hidden secret, which may not be asked for yet, or forgets it.
pub async fn set_totp(
    connection: &impl ConnectionTrait,
    user: UserId,
    (hidden, on, step): (Option<String>, bool, i64),
) -> Result<()> {
    let row = ActiveModel {
        user_id: Set(user),
        last_at: Set(None),
        totp_secret: Set(None),
        totp_hidden: Set(hidden),
        totp_on: Set(on),
        totp_step: Set(step),
    };
    let mut known = OnConflict::column(Column::UserId);
    known.update_columns([Column::TotpSecret, Column::TotpHidden, Column::TotpOn, Column::TotpStep]);
    Entity::insert(row).on_conflict(known).exec_without_returning(connection).await?;
    Ok(())
}
