//! What an operator does to users, from the command line.

use super::Ledger;
use crate::error::{Error, Result};
use crate::ids::{BusinessId, RecordId, UserId};
use ::books::access;
use ::books::audit::{AuditAction, Origin};
use ::books::auth::password::{self, Names, Who};
use ::books::auth::user::{self, Revoking};
use ::books::auth::{LoginName, NewUser, UserStatus, UserSummary, recovery, session, sign_in};
use ::books::security::AccountChange;
use masters::api_key::{self, UserKey};
use masters::user::{MembershipView, UserView};
use schema::rights::Role;
use schema::{business, membership};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::OnConflict;
use sea_orm::{EntityTrait, PaginatorTrait};
use std::sync::Arc;

/// The first user of an empty installation.
pub struct FirstUser {
    pub user: NewUser,
    /// Whether the password was made up, and must be shown once.
    pub password_made: bool,
}

impl Ledger {
    /// Makes the first user of an empty installation. `None` when there are users already.
    pub async fn bootstrap(&self, mut first: NewUser, password: Option<String>) -> Result<Option<FirstUser>> {
        if user::Entity::find().count(&self.database.read).await? > 0 {
            return Ok(None);
        }
        let password_made = password.is_none();
        first.password = match password {
            Some(password) => password,
            None => password::random()?,
        };
        match self.add_user(first.clone()).await {
            // Another process started at the same moment and was faster.
            Err(Error::Conflict(_)) => return Ok(None),
            other => other?,
        };
        Ok(Some(FirstUser { user: first, password_made }))
    }

    pub async fn add_user(&self, new: NewUser) -> Result<UserSummary> {
        user::check(&new)?;
        let names = Names::of_person(&new.email, new.username.as_deref(), &new.display_name);
        let turn = self.passwords.turn(Who::operator()).await?;
        let hash = self.passwords.hash(&turn, "password", new.password.clone(), names).await?;
        // Every row that they write will name them.
        self.take_numbers(2).await?;
        let (id, now, made) = (UserId(self.clock.record()), self.clock.now(), new.clone());
        let row = RecordId(self.clock.record());
        self.write(None, move |transaction, desk| {
            let (new, hash) = (new.clone(), hash.clone());
            Box::pin(async move {
                user::insert(transaction, id, &new, hash, now).await?;
                let made = AccountChange::Made { email: new.email.trim().into(), is_system_admin: new.is_system_admin };
                Self::note_account(transaction, desk, (row, now), id, made).await
            })
        })
        .await?;
        Ok(UserSummary {
            id,
            email: made.email,
            username: made.username,
            display_name: made.display_name,
            status: UserStatus::Active,
            is_system_admin: made.is_system_admin,
        })
    }

    pub async fn users(&self) -> Result<Vec<UserSummary>> {
        user::all(&self.database.read).await
    }

    /// A user by e-mail or username.
    pub async fn user(&self, name: &str) -> Result<UserSummary> {
        let found = user::find_by_name(&self.database.read, name, LoginName::EmailOrUsername).await?;
        found.map(UserSummary::from).ok_or(Error::NotFound)
    }

    /// Ends every session of the user, who may have to choose another password before anything else.
    pub async fn set_password(&self, user: UserId, password: String, must_change: bool) -> Result<()> {
        let names = self.names_of(Some(user), None).await?;
        let turn = self.passwords.turn(Who::operator()).await?;
        let hash = self.passwords.hash(&turn, "password", password, names).await?;
        self.revoke_with(user, Revoking::Password { hash, must_change }).await
    }

    /// Ends every session of the user, and every key of one who is disabled.
    pub async fn set_user_status(&self, user: UserId, status: UserStatus) -> Result<()> {
        if status == UserStatus::Disabled {
            self.end_keys(user).await?;
        }
        self.revoke_with(user, Revoking::Status(status)).await
    }

    /// From now on the user needs no authenticator. Ends every session of theirs.
    pub async fn reset_second_factor(&self, user: UserId) -> Result<()> {
        let (row, now) = (RecordId(self.clock.identifier()), self.clock.now());
        self.write(None, move |transaction, desk| {
            Box::pin(async move {
                sign_in::set_totp(transaction, user, (None, false, 0)).await?;
                recovery::forget(transaction, user).await?;
                user::revoke_with(transaction, user, Revoking::Nothing, now).await?;
                Self::note_account(transaction, desk, (row, now), user, AccountChange::SecondFactorReset).await
            })
        })
        .await
    }

    /// Ends every session of the user. How many there were is answered.
    pub async fn end_sessions(&self, user: UserId) -> Result<usize> {
        let open = session::of(&self.database.read, user, self.clock.now()).await?.len();
        self.revoke_with(user, Revoking::Nothing).await?;
        Ok(open)
    }

    /// The keys of the user that are good, in all companies.
    pub async fn keys_of(&self, user: UserId) -> Result<Vec<UserKey>> {
        api_key::of_user(&self.database.read, user).await
    }

    /// Ends every key of the user, in all companies, each in its company's audit log.
    pub async fn end_keys(&self, user: UserId) -> Result<Vec<UserKey>> {
        let keys = self.keys_of(user).await?;
        let now = self.clock.now();
        let mut companies: Vec<BusinessId> = keys.iter().map(|key| key.business_id).collect();
        companies.dedup();
        for business in companies {
            let ids: Arc<[RecordId]> = keys.iter().map(|_| RecordId(self.clock.identifier())).collect();
            self.write(Some(business), move |transaction, desk| {
                let ids = ids.clone();
                Box::pin(async move {
                    desk.open_installation(transaction).await?;
                    let ended = api_key::end(transaction, (user, business), now).await?;
                    for (change, id) in ended.into_iter().zip(ids.iter()) {
                        desk.record(business, *id, now, &Origin::default(), change)?;
                    }
                    Ok(())
                })
            })
            .await?;
        }
        Ok(keys)
    }

    async fn revoke_with(&self, user: UserId, change: Revoking) -> Result<()> {
        let (row, now) = (RecordId(self.clock.identifier()), self.clock.now());
        self.write(None, move |transaction, desk| {
            let change = change.clone();
            Box::pin(async move {
                let told = match &change {
                    Revoking::Password { .. } => AccountChange::Password,
                    Revoking::Status(status) => AccountChange::Status(*status),
                    Revoking::Nothing => AccountChange::SessionsEnded,
                };
                user::revoke_with(transaction, user, change, now).await?;
                Self::note_account(transaction, desk, (row, now), user, told).await
            })
        })
        .await
    }

    /// Makes the user a member of a company, or changes their role there.
    pub async fn set_role(&self, business: BusinessId, user: UserId, role: Role) -> Result<()> {
        if business::Entity::find_by_id(business).count(&self.database.read).await? == 0 {
            return Err(Error::field("business", "names no company"));
        }
        let (id, now) = (RecordId(self.clock.identifier()), self.clock.now());
        self.write(Some(business), move |transaction, desk| {
            Box::pin(async move {
                let set = access::set_of_role(transaction, business, role).await?;
                desk.open_installation(transaction).await?;
                let before = match membership::Entity::find_by_id((business, user)).one(transaction).await? {
                    Some(member) => access::seat_of(transaction, business, member.permission_id).await?,
                    None => None,
                };
                let row =
                    membership::ActiveModel { business_id: Set(business), user_id: Set(user), permission_id: Set(set) };
                let account = user::find(transaction, user).await?.ok_or(Error::NotFound)?;
                let member = |set: RecordId, role: String| {
                    let view = MembershipView { business_id: business, permission_id: set, role };
                    UserView::of_member(account.clone(), view, None)
                };
                let before = before.and_then(|seat| seat.set.map(|set| member(set, seat.role)));
                let after = member(set, role.to_string());
                let action = if before.is_some() { AuditAction::Updated } else { AuditAction::Created };
                let change = UserView::change(action, business, [before.as_ref(), Some(&after)])?;
                desk.record(business, id, now, &Origin::default(), change)?;
                let same = [membership::Column::BusinessId, membership::Column::UserId];
                membership::Entity::insert(row)
                    .on_conflict(OnConflict::columns(same).update_column(membership::Column::PermissionId).to_owned())
                    .exec_without_returning(transaction)
                    .await?;
                Ok(())
            })
        })
        .await
    }
}
