//! Who is there: the user behind a token or a key, as of this instant.

use super::Ledger;
use super::leave::REVOKED;
use crate::clock::Instant;
use crate::error::{Error, FieldErrors, Result};
use crate::ids::{BusinessId, RecordId, UserId};
use ::books::access::{Principal, Proved};
use ::books::api_keys::Key;
use ::books::audit::Origin;
use ::books::auth::password::{Names, NewPassword, Who};
use ::books::auth::throttle;
use ::books::auth::token::Claims;
use ::books::auth::wrong_keys::{self, Worth};
use ::books::auth::{UserStatus, user};
use ::books::remembered::{Changes, Tick};
use ::books::security::{self, Event};
use schema::{business, membership};
use sea_orm::{ColumnTrait, QueryFilter, QuerySelect};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// As many companies of somebody as their password is held against.
const MOST_COMPANIES: u64 = 30;

/// Whether an account may be used, by a token that was not taken back.
fn is_good(user: &user::Model, claims: Option<&Claims>) -> bool {
    user.status == UserStatus::Active && claims.is_none_or(|claims| user.token_version == claims.ver)
}

impl Ledger {
    /// Judges and hashes the password that the caller is to have.
    pub(super) async fn settle(&self, new: &NewPassword, principal: &Principal) -> Result<()> {
        let names = self.names_of(Some(principal.user), None).await?;
        let turn = self.passwords.turn(Who::user(principal.user)).await?;
        self.passwords.settle(&turn, new, names).await
    }

    /// What somebody is called, and their companies, and the company at hand.
    pub(crate) async fn names_of(&self, user: Option<UserId>, company: Option<BusinessId>) -> Result<Names> {
        let connection = &self.database.door;
        let mut names = Names::default();
        let mut companies: Vec<BusinessId> = company.into_iter().collect();
        if let Some(user) = user {
            if let Some(row) = user::find(connection, user).await? {
                names = Names::of_person(&row.email, row.username.as_deref(), &row.display_name);
            }
            let of_user = membership::Entity::find().filter(membership::Column::UserId.eq(user));
            companies.extend(of_user.limit(MOST_COMPANIES).all(connection).await?.iter().map(|one| one.business_id));
        }
        let called = business::Entity::find().filter(business::Column::Id.is_in(companies)).all(connection).await?;
        Ok(names.and_all(called.iter().map(|company| company.name.as_str())))
    }

    /// The user behind a token or a key, if it is still good this instant. `business` is the company that the request
    /// names. The caller may stop waiting at any time.
    pub async fn authenticate(
        self: &Arc<Self>,
        token: &str,
        business: Option<&str>,
        address: Option<IpAddr>,
    ) -> Result<Principal> {
        let key = token.starts_with(::books::api_keys::PREFIX);
        let claims = if key { None } else { Some(self.tokens.verify(token, self.clock.now())?) };
        let (changes, books) = match business.and_then(BusinessId::parse) {
            Some(id) => {
                let (changes, version) = self.remembered.changes_and_books(&self.database.door, id).await?;
                (changes, version.map(|version| (id, version)))
            }
            None => (self.remembered.changes(&self.database.door).await?, None),
        };
        let key = match claims {
            Some(_) => None,
            None => Some(self.key(changes, token, address).await?),
        };
        let id = match (&claims, &key) {
            (Some(claims), _) => claims.sub,
            (None, Some(key)) => key.user,
            (None, None) => return Err(Error::internal("a request comes from neither a token nor a key")),
        };
        let user = if let Some(known) = self.remembered.known_user(changes, id) {
            Some(known)
        } else {
            let ledger = self.clone();
            let find = async move { ledger.remembered.user(&ledger.database.door, changes, id).await };
            tokio::spawn(find).await.map_err(Error::internal)??
        };
        let user = user.filter(|user| is_good(user, claims.as_ref())).ok_or(REVOKED)?;
        let session = match &claims {
            Some(claims) => Some(self.session(changes, RecordId(claims.jti), user.id).await?.ok_or(REVOKED)?),
            None => None,
        };
        Ok(self.principal(&user, key.as_deref(), (claims.as_ref(), session), (changes, books)))
    }

    /// Who asks, once it is found that they may.
    fn principal(
        &self,
        user: &user::Model,
        key: Option<&Key>,
        (claims, session): (Option<&Claims>, Option<RecordId>),
        (changes, books): (Changes, Option<(BusinessId, i64)>),
    ) -> Principal {
        let ends = claims.map(|claims| Instant::from_micros(claims.exp.saturating_mul(1_000_000)));
        let ends = ends.or_else(|| key.and_then(|key| key.expires_at));
        Principal {
            user: user.id,
            key: key.map(|key| key.scope.clone()),
            session,
            token_version: claims.map(|claims| claims.ver),
            must_change_password: user.must_change_password,
            changes,
            books,
            is_system_admin: user.is_system_admin,
            expires_at: ends.unwrap_or_else(|| self.clock.now().plus(Duration::from_hours(24))),
            recognised: None,
        }
    }

    /// The same of what is about to write in a company, without a question: where all of it is remembered. Whatever is not,
    /// and whatever is not good any more, is for `authenticate` to say.
    pub fn recognise(&self, token: &str, company: BusinessId, address: Option<IpAddr>) -> Option<Principal> {
        let came = Tick::next();
        let changes = self.remembered.last()?;
        let now = self.clock.now();
        let (key, claims) = if token.starts_with(::books::api_keys::PREFIX) {
            let key = self.remembered.known_key(changes, token)?;
            key.still_good(now).ok()?;
            (Some(key).filter(|key| key.may_come_from(address)), None)
        } else {
            (None, self.tokens.verify(token, now).ok())
        };
        let id = key.as_ref().map(|key| key.user).or_else(|| claims.as_ref().map(|claims| claims.sub))?;
        let user = self.remembered.known_user(changes, id).filter(|user| is_good(user, claims.as_ref()))?;
        let session = match &claims {
            Some(claims) => {
                let session = self.remembered.known_session(changes, RecordId(claims.jti))?;
                if session.user_id != user.id {
                    return None;
                }
                self.seen.note(&session, now);
                Some(session.id)
            }
            None => None,
        };
        self.remembered.known_company(changes, user.id, company)?;
        let principal = self.principal(&user, key.as_deref(), (claims.as_ref(), session), (changes, None));
        Some(Principal { recognised: Some(came), ..principal })
    }

    /// Whose a request is, for those who share out places: in the company that it names only where the caller is one of its
    /// members.
    pub async fn proved(&self, principal: &Principal, named: Option<BusinessId>) -> Proved {
        let company = match named {
            Some(id) if principal.key_in(id).is_ok() => {
                let member = self.remembered.company(&self.database.door, principal.changes, principal.user, id).await;
                member.is_ok().then_some(id)
            }
            Some(_) | None => principal.key.as_ref().map(|key| key.business),
        };
        Proved::of(principal, company)
    }

    /// The session of a token, if it is still good.
    pub(super) async fn session(
        self: &Arc<Self>,
        changes: Changes,
        id: RecordId,
        user: UserId,
    ) -> Result<Option<RecordId>> {
        let found = if let Some(known) = self.remembered.known_session(changes, id) {
            Some(known)
        } else {
            let ledger = self.clone();
            let find = async move { ledger.remembered.session(&ledger.database.door, changes, id).await };
            tokio::spawn(find).await.map_err(Error::internal)??
        };
        let found = found.filter(|session| session.user_id == user);
        if let Some(session) = &found {
            self.seen.note(session, self.clock.now());
        }
        Ok(found.map(|session| session.id))
    }

    /// The key that a program gave.
    pub(super) async fn key(
        self: &Arc<Self>,
        changes: Changes,
        secret: &str,
        address: Option<IpAddr>,
    ) -> Result<Arc<Key>> {
        let found = if let Some(known) = self.remembered.known_key(changes, secret) {
            Some(known)
        } else {
            let network = address.map(throttle::network).unwrap_or_default();
            let digest = ::books::api_keys::digest(secret);
            let worth = match self.wrong_keys.check(&network, &digest, self.clock.now()) {
                // It may be a good one, beside somebody who guesses.
                Err(Error::RateLimited { .. }) => {
                    self.look_at_keys().await?;
                    self.wrong_keys.check(&network, &digest, self.clock.now())?
                }
                worth => worth?,
            };
            if worth == Worth::Nothing {
                return Err(::books::api_keys::UNKNOWN);
            }
            let (ledger, secret) = (self.clone(), secret.to_owned());
            let find = async move { ledger.remembered.key(&ledger.database.door, changes, &secret).await };
            let found = tokio::spawn(find).await.map_err(Error::internal).flatten();
            let now = self.clock.now();
            match &found {
                Ok(Some(_)) => self.wrong_keys.was_good(&network, &digest, now),
                Ok(None) if self.wrong_keys.note(&network, &digest, now) => {
                    Event::KeysHeldUp.tell(security::Who::Stranger, None, &Origin { address, ..Origin::default() });
                }
                Ok(None) => {}
                Err(_) => self.wrong_keys.gave_up(&network, &digest, now),
            }
            found?
        };
        let key = found.ok_or(::books::api_keys::UNKNOWN)?;
        key.still_good(self.clock.now())?;
        if !key.may_come_from(address) {
            let who = security::Who::Key { key: key.scope.key, user: key.user };
            let origin = Origin { address, ..Origin::default() };
            Event::KeyMisused { key: key.scope.key }.tell(who, Some(key.scope.business), &origin);
            return Err(Error::not_allowed("The API key may not be used from this address", FieldErrors::default()));
        }
        Ok(key)
    }

    /// Looks at all keys there are, once a minute at most.
    async fn look_at_keys(&self) -> Result<()> {
        let _one = self.wrong_keys.looking.lock().await;
        if !self.wrong_keys.knows_all(self.clock.now()) {
            let digests = ::books::api_keys::digests(&self.database.door, wrong_keys::MOST_GOOD).await?;
            self.wrong_keys.know(&digests, self.clock.now());
        }
        Ok(())
    }
}
