//! What somebody says to be let in by: a password, a code of an authenticator, the code of an invitation.
//!
//! Owns: that each guess is counted before it is judged, and that what was right is given back. There is no other way to
//! count: whoever judges holds a [`Counted`], which only the count itself makes.

use super::Ledger;
use crate::clock::Instant;
use crate::error::{Error, Result};
use crate::ids::{RecordId, UserId};
use ::books::access::Principal;
use ::books::audit::Origin;
use ::books::auth::password::{Turn, Who};
use ::books::auth::throttle::{self, Counted, Guess};
use ::books::auth::user::{self, UserStatus};
use ::books::auth::{self, Credentials, Device, LoginName, recovery, session, sign_in, totp};
use ::books::database::Session;
use ::books::database::lane::BoxFuture;
use ::books::keys::{Keys, Purpose};
use ::books::security::Event;
use kit::operation::{Confirmation, SecondFactor};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use uuid::Uuid;

/// What the code of an authenticator comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Factor {
    NotAsked,
    /// It is used up from here on.
    Right,
    Wrong,
    /// Too many were wrong.
    HeldUp,
}

const WRONG: Error = Error::Unauthenticated("The name or the password is wrong");

impl Ledger {
    pub(super) async fn log_in(
        &self,
        by: LoginName,
        credentials: Credentials,
        device: Device,
    ) -> Result<auth::Session> {
        let Credentials { name, password, totp_code } = credentials;
        let network = throttle::network(device.address);
        let found = user::find_by_name(&self.database.door, &name, by).await?;
        let guess = self.guess(found.as_ref().map(|user| user.id), &name, &network)?;
        let mut turn = self.passwords.turn(Who::stranger(guess.account(), &network)).await?;
        // Whoever has a second factor waits for no stranger. Who has one is told to nobody.
        let waits = totp_code.is_none();
        let counted = self.count_in_turn(&mut turn, &guess, waits).await?;
        // Somebody who was never given a password takes as long as everybody else.
        let mut hash = found.as_ref().map(|user| user.password_hash.clone()).filter(|hash| !hash.is_empty());
        if counted.standing.wait.is_some() {
            let signed = match &found {
                Some(user) => sign_in::find(&self.database.door, user.id).await?,
                None => None,
            };
            hash = hash.filter(|_| signed.is_some_and(|signed| signed.totp_on));
        }
        let matches = match self.passwords.verify(&turn, password, hash).await {
            Ok(matches) => matches,
            // Nothing was judged.
            Err(error) => return self.given_back(counted, Err(error)).await,
        };
        match found.filter(|user| matches && user.status == UserStatus::Active) {
            Some(user) => self.open_session(user, totp_code, device, counted).await,
            None => Err(WRONG),
        }
    }

    /// A guess of a password, as it is counted.
    pub(super) fn guess(&self, user: Option<UserId>, name: &str, network: &str) -> Result<Guess> {
        Ok(Guess::of(&self.keys.signing(Purpose::SignIn)?, user, name, network))
    }

    /// Counts a guess as wrong, before it is judged. `waits` says whether strangers who guess for the same are waited for.
    pub(super) async fn count_guess(&self, guess: &Guess, waits: bool) -> Result<Counted> {
        // Who may not guess any more costs no write.
        let now = self.clock.now();
        let standing = throttle::check(&self.database.door, guess, now).await?;
        if let Some(wait) = standing.wait.filter(|_| waits) {
            return Err(Error::RateLimited { retry_after_seconds: wait });
        }
        let (ids, guess) = ([(); throttle::IDS].map(|()| self.clock.identifier()), guess.clone());
        self.judged(move |transaction| {
            let guess = guess.clone();
            Box::pin(async move { throttle::count(transaction, &guess, waits, ids, now).await })
        })
        .await
    }

    /// The same in a turn with others of the network, who may be right: where it is for them that there may be no more, what
    /// they come to is waited for.
    pub(super) async fn count_in_turn(&self, turn: &mut Turn, guess: &Guess, waits: bool) -> Result<Counted> {
        match self.count_guess(guess, waits).await {
            Err(Error::RateLimited { .. }) if turn.alone().await? => self.count_guess(guess, waits).await,
            counted => counted,
        }
    }

    /// What was counted was right after all, or was never judged.
    pub(super) async fn given_back<T>(&self, counted: Counted, outcome: Result<T>) -> Result<T> {
        let counted = Arc::new(counted);
        self.write(None, move |transaction, _| {
            let counted = counted.clone();
            Box::pin(async move { throttle::give_back(transaction, &counted).await })
        })
        .await?;
        outcome
    }

    /// A write that comes to something.
    async fn judged<T, W>(&self, work: W) -> Result<T>
    where
        T: Send + 'static,
        W: for<'t> Fn(&'t Session) -> BoxFuture<'t, Result<T>> + Send + Sync + 'static,
    {
        let (came, work) = (Arc::new(Mutex::new(None)), Arc::new(work));
        let told = came.clone();
        self.write(None, move |transaction, _| {
            let (told, work) = (told.clone(), work.clone());
            Box::pin(async move {
                let outcome = work(transaction).await?;
                *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
                Ok(())
            })
        })
        .await?;
        let came = came.lock().unwrap_or_else(PoisonError::into_inner).take();
        came.ok_or_else(|| Error::internal("a guess came to nothing"))
    }

    /// Whether somebody who is signed in knows their password, and has their second factor where that is asked for. They
    /// may guess as often as at a log-in.
    pub(super) async fn confirm(
        &self,
        principal: &Principal,
        said: &Confirmation<'_>,
        (address, rehearsed): (Option<IpAddr>, bool),
    ) -> Result<()> {
        let user = user::find(&self.database.door, principal.user).await?.ok_or(Error::NotFound)?;
        let network = throttle::network(address.unwrap_or(IpAddr::from([0, 0, 0, 0])));
        let guess = self.guess(Some(user.id), &user.email, &network)?;
        let turn = self.passwords.turn(Who::user(user.id)).await?;
        let counted = self.count_guess(&guess, true).await?;
        let failed = || Event::ConfirmationFailed.tell(principal.who(), None, &Origin { address, ..Origin::default() });
        let matches = match self.passwords.verify(&turn, said.password.to_owned(), Some(user.password_hash)).await {
            Ok(matches) => matches,
            Err(error) => return self.given_back(counted, Err(error)).await,
        };
        if !matches {
            failed();
            return Err(Error::field("currentPassword", "is not your password"));
        }
        let is_asked = matches!(said.factor, SecondFactor::Asked(_)) && self.has_second_factor(user.id).await?;
        let code = match said.factor {
            SecondFactor::Asked(code) if is_asked => code,
            SecondFactor::Asked(_) | SecondFactor::NotAsked => return self.given_back(counted, Ok(())).await,
        };
        let Some(code) = code else {
            let missing = "is required: a code of your authenticator, or one of your recovery codes";
            return self.given_back(counted, Err(Error::field("code", missing))).await;
        };
        let factor = self.judge_code((user.id, code.to_owned()), counted, !rehearsed).await?;
        if factor == Factor::Wrong {
            failed();
        }
        check(factor, Error::field("code", "is neither the code of now nor one of your recovery codes"))
    }

    async fn has_second_factor(&self, user: UserId) -> Result<bool> {
        Ok(sign_in::find(&self.database.door, user).await?.is_some_and(|signed| signed.totp_on))
    }

    /// Judges a code behind a right password by itself.
    async fn judge_code(&self, (user, code): (UserId, String), counted: Counted, uses: bool) -> Result<Factor> {
        let (now, id, keys, counted) =
            (self.clock.now(), self.clock.identifier(), self.keys.clone(), Arc::new(counted));
        self.judged(move |transaction| {
            let (keys, code, counted) = (keys.clone(), code.clone(), counted.clone());
            Box::pin(async move {
                let factor = judge(transaction, &keys, (user, Some(&code), uses), (&counted, id), now).await?;
                if factor != Factor::Wrong {
                    throttle::give_back(transaction, &counted).await?;
                }
                Ok(factor)
            })
        })
        .await
    }

    async fn open_session(
        &self,
        user: user::Model,
        code: Option<String>,
        device: Device,
        counted: Counted,
    ) -> Result<auth::Session> {
        let (id, version) = (user.id, user.token_version);
        if code.is_none() && self.has_second_factor(id).await? {
            return self.given_back(counted, Err(Error::SecondFactor)).await;
        }
        let (now, jti) = (self.clock.now(), self.clock.identifier());
        let ends = self.tokens.end(now);
        let opened = session::Model {
            id: RecordId(jti),
            user_id: id,
            made_at: now,
            seen_at: now,
            ends_at: ends,
            ended_at: None,
            address: Some(device.address.to_string()),
            agent: device.shown_agent(),
        };
        let (failure, keys, counted) = (self.clock.identifier(), self.keys.clone(), Arc::new(counted));
        let judged = self.judged(move |transaction| {
            let (keys, code, counted, opened) = (keys.clone(), code.clone(), counted.clone(), opened.clone());
            Box::pin(async move {
                let factor = judge(transaction, &keys, (id, code.as_deref(), true), (&counted, failure), now).await?;
                match factor {
                    Factor::Wrong => return Ok(factor),
                    Factor::HeldUp => throttle::give_back(transaction, &counted).await?,
                    Factor::NotAsked | Factor::Right => {
                        // Whoever changed the password, or was disabled, meanwhile is not let in by what was before.
                        let still = user::find(transaction, id).await?;
                        if still.is_none_or(|still| still.token_version != version) {
                            return Err(WRONG);
                        }
                        sign_in::note(transaction, id, now).await?;
                        session::keep(transaction, opened).await?;
                        throttle::forgive(transaction, &counted, now).await?;
                    }
                }
                Ok(factor)
            })
        });
        check(judged.await?, WRONG)?;
        let token = self.tokens.issue((user.id, user.token_version), (now, ends), jti)?;
        let left = u64::try_from(ends.seconds() - now.seconds()).map_err(Error::internal)?;
        Ok(auth::Session { token, expires_in_seconds: left, expires_at: ends, user: user.into() })
    }
}

/// What a factor comes to for whoever gave it.
fn check(factor: Factor, wrong: Error) -> Result<()> {
    match factor {
        Factor::NotAsked | Factor::Right => Ok(()),
        Factor::Wrong => Err(wrong),
        Factor::HeldUp => Err(Error::RateLimited { retry_after_seconds: throttle::LONGEST_WAIT }),
    }
}

/// Judges a code behind a right password: in the transaction that uses it up, or counts it, under `failure`, as wrong. So
/// the same code, in two requests at once, is good for one of them, and no more codes are judged than may be. Only a
/// rehearsal uses nothing up.
async fn judge(
    transaction: &Session,
    keys: &Keys,
    (user, code, uses): (UserId, Option<&str>, bool),
    (counted, failure): (&Counted, Uuid),
    now: Instant,
) -> Result<Factor> {
    let signed = sign_in::find(transaction, user).await?.filter(|signed| signed.totp_on);
    let Some(signed) = signed else { return Ok(Factor::NotAsked) };
    let Some(secret) = signed.secret(keys)? else { return Ok(Factor::NotAsked) };
    let code = code.ok_or(Error::SecondFactor)?;
    if !throttle::may_give_code(transaction, counted, now).await? {
        return Ok(Factor::HeldUp);
    }
    if let Some(digest) = recovery::digest(&keys.signing(Purpose::SignIn)?, user, code) {
        let is_good = if uses {
            recovery::spend(transaction, user, &digest).await?
        } else {
            recovery::is_good(transaction, user, &digest).await?
        };
        if is_good {
            return Ok(Factor::Right);
        }
    } else if let Some(step) = totp::step_of(&secret, code, now, signed.totp_step) {
        if uses {
            sign_in::use_step(transaction, user, step).await?;
        }
        return Ok(Factor::Right);
    }
    throttle::note_code(transaction, counted, failure, now).await?;
    Ok(Factor::Wrong)
}
