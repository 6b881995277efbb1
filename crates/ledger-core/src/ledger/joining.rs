//! How somebody who was invited comes in.

use super::{Ledger, Reply};
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use crate::idempotency::{self, Claim, StrangersKey};
use crate::ids::{BusinessId, RecordId, UserId};
use ::books::access::Principal;
use ::books::audit::Origin;
use ::books::auth::invitation::{self, Acceptance, Accepted};
use ::books::auth::password::{Names, Who};
use ::books::auth::throttle;
use ::books::auth::user;
use ::books::security::{AccountChange, Event, Who as Teller};
use masters::invitation::{NewAccount, REFUSED, open, wrong_code};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

impl Ledger {
    /// The first answer to a request that is repeated: its code is used up, and it is no guess all the same.
    pub(super) async fn answered_before(&self, claim: Option<&Claim>) -> Result<Option<Reply>> {
        match claim {
            Some(claim) => idempotency::recall(&self.database.read, claim).await,
            None => Ok(None),
        }
    }

    /// The company that a code opens to somebody who is signed in. They may guess as often as at a log-in.
    pub(super) async fn invited_to(
        &self,
        principal: &Principal,
        code: &str,
        address: Option<IpAddr>,
    ) -> Result<BusinessId> {
        let account = user::find(&self.database.read, principal.user).await?.ok_or(Error::NotFound)?;
        let network = throttle::network(address.unwrap_or(NOWHERE));
        let guess = self.guess(None, &format!("invitation to {}", account.email), &network)?;
        let counted = self.count_guess(&guess, true).await?;
        if let Some(found) = invitation::find(&self.database.read, code, self.clock.now()).await? {
            return self.given_back(counted, Ok(found.business_id)).await;
        }
        let origin = Origin { address, ..Origin::default() };
        Event::InvitationRefused.tell(Teller::User(principal.user), None, &origin);
        Err(wrong_code())
    }

    /// Accepts an invitation with a new account. Whether the code is wrong or the address has an account already is not
    /// told apart, in time neither.
    ///
    /// A code is good once, so whoever lost the answer has to ask by their key: whether this is the first answer once more
    /// is said.
    pub async fn accept_invitation(
        &self,
        code: String,
        acceptance: Acceptance,
        (key, origin): (Option<String>, &Origin),
    ) -> Result<(Accepted, bool)> {
        let key = match key {
            Some(key) => Some(self.strangers_key(&code, &key, &acceptance).await?),
            None => None,
        };
        let Acceptance { password, display_name, username, locale } = acceptance;
        let address = origin.address.unwrap_or(NOWHERE);
        // Each code has a count of its own, which says nothing of it.
        let network = throttle::network(address);
        let guess = self.guess(None, &format!("invitation {}", invitation::digest(&code)), &network)?;
        let mut turn = self.passwords.turn(Who::stranger(guess.account(), &network)).await?;
        let now = self.clock.now();
        let counted = self.count_in_turn(&mut turn, &guess, true).await?;
        if let Some(key) = &key
            && let Some(accepted) = key.recall(&self.database.read).await?
        {
            return self.given_back(counted, Ok((accepted, true))).await;
        }
        let found = invitation::find(&self.database.read, &code, now).await?;
        let mut names = Names::default()
            .and(display_name.as_deref().unwrap_or_default())
            .and(username.as_deref().unwrap_or_default());
        if let Some(found) = &found {
            names = names.and_all(self.names_of(Some(found.user_id), Some(found.business_id)).await?.each());
        }
        // Whoever guesses waits for the same work, and has guessed whatever the password is like.
        let hashed = self.passwords.hash(&turn, "password", password, names).await;
        let Some(found) = found else {
            Event::InvitationRefused.tell(Teller::Stranger, None, origin);
            return Err(REFUSED);
        };
        let password_hash = match hashed {
            Ok(hash) => hash,
            Err(error) => return self.given_back(counted, Err(error)).await,
        };
        let (id, business) = (UserId(self.clock.identifier()), found.business_id);
        let rows = [self.clock.identifier(), self.clock.identifier()].map(RecordId);
        let own = RecordId(self.clock.identifier());
        let done = Arc::new(Mutex::new(None));
        let (told, asked, origin) = (done.clone(), origin, origin.clone());
        let outcome = self.write(Some(business), move |transaction, desk| {
            let new = NewAccount {
                id,
                display_name: display_name.clone(),
                username: username.clone(),
                locale: locale.clone(),
                password_hash: password_hash.clone(),
            };
            let (code, told, origin, key) = (code.clone(), told.clone(), origin.clone(), key.clone());
            Box::pin(async move {
                let tell = |accepted| *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(accepted);
                if let Some(key) = &key
                    && let Some(accepted) = key.recall(transaction).await?
                {
                    // Both were on their way.
                    tell((accepted, true));
                    return Ok(());
                }
                desk.open_installation(transaction).await?;
                let found = invitation::find(transaction, &code, now).await?.ok_or(REFUSED)?;
                let (accepted, changes) = open(transaction, &found, new, now).await?;
                let origin = Origin { user: Some(accepted.user_id), ..origin };
                let made = AccountChange::Made { email: accepted.email.clone(), is_system_admin: false };
                desk.record(BusinessId::INSTALLATION, own, now, &origin, made.of(accepted.user_id))?;
                for (id, change) in rows.into_iter().zip(changes) {
                    desk.record(business, id, now, &origin, change)?;
                }
                if let Some(key) = key {
                    desk.keep_key(key.kept(business, &accepted)?);
                }
                tell((accepted, false));
                Ok(())
            })
        });
        match outcome.await {
            Err(refused @ Error::Unauthenticated(_)) => {
                Event::InvitationRefused.tell(Teller::Stranger, None, asked);
                return Err(refused);
            }
            // That a name is taken says something of others: who asks that has guessed.
            Err(taken @ Error::Conflict(_)) => return Err(taken),
            outcome => self.given_back(counted, outcome).await?,
        }
        let accepted = done.lock().unwrap_or_else(PoisonError::into_inner).take();
        accepted.ok_or_else(|| Error::internal("an invitation was accepted by nobody"))
    }

    /// What a repeat is known by of somebody who has nothing but a code yet.
    async fn strangers_key(&self, code: &str, key: &str, acceptance: &Acceptance) -> Result<StrangersKey> {
        let Acceptance { password, display_name, username, locale } = acceptance;
        let command = serde_json::json!(["acceptInvitation", code, password, display_name, username, locale]);
        let own = &self.installation().await?.fingerprints;
        let fingerprint = Fingerprint::of(&command.to_string(), own, &self.token_secret);
        Ok(StrangersKey::of((code, key), fingerprint, self.running().await?.now(&self.clock)))
    }
}

const NOWHERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED);
