//! The leave to do something: judged when a request has arrived, and once more where who may do what has changed since.
//!
//! Owns: who asks, for what, and in which company. A request may take long to arrive, and then to come to its turn; whoever
//! was let in may be out by then. So what reads asks again after its turn, and what writes asks within its transaction.

use super::{Call, check_password_chosen};
use crate::clock::Instant;
use crate::error::{Code, Error, FieldErrors, Result};
use crate::ids::BusinessId;
use ::books::access::{self, Business, KeyScope, Principal};
use ::books::auth::{UserStatus, session, user};
use ::books::remembered::Changes;
use kit::operation::{ResourceOperations, Verb};
use kit::resource::Scope;
use schema::business::BusinessStatus;
use sea_orm::ConnectionTrait;
use std::sync::Arc;

pub(super) const REVOKED: Error = Error::Unauthenticated("The access token has been revoked; log in again");

/// Who asks for what.
#[derive(Clone)]
pub(super) struct Leave {
    pub(super) principal: Principal,
    resource: &'static ResourceOperations,
    verb: Verb,
    /// The company that the request is about, where it names one.
    named: Option<BusinessId>,
}

/// What somebody was found to be.
#[derive(Clone)]
pub(super) struct Judged {
    pub(super) key: Option<Arc<KeyScope>>,
    pub(super) business: Option<Arc<Business>>,
}

impl Leave {
    pub(super) fn of(principal: &Principal, call: &Call) -> Self {
        let named = match call.resource.scope {
            Scope::Business => call.business.as_deref(),
            Scope::Installation => call.id.as_deref(),
            Scope::Administration => None,
        };
        Self {
            principal: principal.clone(),
            resource: call.resource,
            verb: call.verb,
            named: named.and_then(BusinessId::parse),
        }
    }

    /// The company in which the caller needs a seat for it; none where they need no company's leave.
    pub(super) fn place(&self) -> Result<Option<BusinessId>> {
        let (resource, verb, principal) = (self.resource, self.verb, &self.principal);
        check_password_chosen(principal, resource, verb)?;
        match (resource.scope, verb) {
            // One's own needs nobody's leave.
            (Scope::Installation, _) if resource.key.actions().is_empty() => return Ok(None),
            (Scope::Administration, _) | (Scope::Installation, Verb::Create) => {
                // The installation is its administrators', in person.
                if principal.is_system_admin && principal.key.is_none() {
                    return Ok(None);
                }
                return Err(Error::Forbidden { permission: resource.permission(verb) });
            }
            (Scope::Installation, Verb::List) => return Ok(None),
            (Scope::Installation, Verb::Extra(_)) if !resource.names_record(verb) => return Ok(None),
            (Scope::Installation, Verb::Get | Verb::Update | Verb::Upsert | Verb::Delete | Verb::Extra(_))
            | (Scope::Business, _) => {}
        }
        let id = self.named.ok_or(Error::NotFound)?;
        principal.key_in(id)?;
        Ok(Some(id))
    }

    /// The company as the caller sees it, where their seat there lets them do this.
    pub(super) fn seated(&self, business: Arc<Business>) -> Result<Arc<Business>> {
        let (resource, verb) = (self.resource, self.verb);
        let only = self.principal.key_in(business.id)?;
        let (key, action) = resource.needs(verb);
        if only.is_some() && business.seat.lets_only_people(key, action) {
            let permission = resource.permission(verb);
            let title = format!("You need the permission {permission} for this, which no API key has; log in");
            return Err(Error::not_allowed(title, FieldErrors::default()));
        }
        let business = business.narrowed(only);
        // What needs no leave of its own is done by all members: of several operations each needs its own.
        if !key.actions().is_empty() {
            business.require(key, action)?;
        }
        if resource.writes(verb) && resource.scope == Scope::Business && business.status == BusinessStatus::Archived {
            return Err(Error::conflict(
                Code::InvalidState,
                "The company is archived; its books can be read, not written",
            ));
        }
        Ok(business)
    }

    /// What was judged before, where nothing changed since; else what is judged now.
    pub(super) async fn since(
        &self,
        connection: &impl ConnectionTrait,
        (changes, now): (Changes, Instant),
        before: &Judged,
    ) -> Result<Judged> {
        if changes == self.principal.changes { Ok(before.clone()) } else { self.again(connection, now).await }
    }

    /// Judges anew, by what is in the database: the account, its session or key, and its seat.
    async fn again(&self, connection: &impl ConnectionTrait, now: Instant) -> Result<Judged> {
        let known = &self.principal;
        let user = user::find(connection, known.user).await?;
        let user = user.filter(|user| user.status == UserStatus::Active);
        let user = user.filter(|user| known.token_version.is_none_or(|version| version == user.token_version));
        let user = user.ok_or(REVOKED)?;
        if let Some(id) = known.session {
            let session = session::find(connection, id).await?;
            session.filter(|session| session.user_id == known.user).ok_or(REVOKED)?;
        }
        let key = match &known.key {
            Some(scope) => {
                let key = books::api_keys::find_again(connection, scope).await?;
                Some(key.ok_or(books::api_keys::UNKNOWN)?.still_good(now)?.scope.clone())
            }
            None => None,
        };
        let principal = Principal {
            key: key.clone(),
            must_change_password: user.must_change_password,
            is_system_admin: user.is_system_admin,
            ..known.clone()
        };
        let now = Self { principal, ..self.clone() };
        let business = match now.place()? {
            Some(id) => {
                let business = access::visible_business(connection, known.user, id).await?;
                Some(now.seated(Arc::new(business))?)
            }
            None => None,
        };
        Ok(Judged { key, business })
    }
}
