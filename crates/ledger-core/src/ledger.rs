//! The ledger: what a dialect calls. It authorises, begins, runs and commits, the same for every resource.

mod administration;
mod awaiting;
mod call;
mod caller;
mod converting;
mod copying;
mod delivering;
mod elsewhere;
mod expanding;
mod guessing;
mod joining;
mod leave;
mod migrating;
mod new_days;
mod proving;
mod reading;
mod resealing;
mod sequence;
mod serving;
mod speaking;
#[cfg(test)]
mod tests;
mod watching;
mod writing;

use self::leave::{Judged, Leave};
use crate::answers::{self, Answers, Known};
use crate::clock::{Clock, Instant};
use crate::error::{Error, Result};
use crate::fault;
use crate::idempotency::InFlight;
use crate::ids::{BusinessId, RecordId};
use crate::usage::Usage;
use ::books::access::{Business, Principal};
use ::books::auth::password::Passwords;
use ::books::auth::token::Tokens;
use ::books::auth::wrong_keys::WrongKeys;
use ::books::auth::{TokenOptions, session};
use ::books::database::lane::Lanes;
use ::books::database::{Database, DatabaseOptions};
use ::books::fair::{Fair, Shares, Single};
use ::books::installation::Installation;
use ::books::keys::Keys;
use ::books::remembered::Remembered;
use ::books::running::Running;
use ::books::seal::Seals;
use ::books::shelf::Shelf;
pub use administration::FirstUser;
pub use call::{Answer, Call, Reply};
pub use converting::{Kept, Off, Sealer, is_of, prove};
pub use copying::{CompanyStanding, Moment, Standing};
pub use delivering::{Letter, Mail, Sent, Then, WebhookOf};
use kit::feed::Feeds;
pub use kit::operation::ReplyKind;
use kit::operation::{ResourceOperations, Verb};
use kit::resource::Scope;
use masters::profile;
pub use migrations::known as known_schema;
pub use proving::Proof;
pub use reading::{Errand, ReadCall, WriteCall};
pub use resealing::{Progress, Resealed};
use schema::key::ResourceKey;
pub use speaking::CompanyUsage;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OnceCell;
/// What a ledger is opened with.
pub struct LedgerOptions {
    pub database: DatabaseOptions,
    pub tokens: TokenOptions,
    /// What is made of the master key.
    pub keys: Keys,
    /// Whether that was made up just now, since there was none beside the books: nothing of theirs can have been sealed.
    pub keys_are_new: bool,
    /// How many writes may wait in a lane before more are turned away.
    pub write_queue: usize,
    /// What answers that are kept for their repetition may weigh.
    pub answer_bytes: usize,
    /// What is remembered of users, keys and memberships may weigh.
    pub remembered_bytes: usize,
    /// What lanes may remember of companies, all of them together.
    pub lane_bytes: usize,
    /// What one caller's reads may take of a minute; any time where it is zero.
    pub read_time: Duration,
    pub clock: Clock,
}

pub struct Ledger {
    database: Database,
    lanes: Lanes<Outcome>,
    clock: Clock,
    tokens: Tokens,
    /// What the fingerprints of earlier releases were signed with.
    token_secret: Vec<u8>,
    running: OnceCell<Running>,
    passwords: Passwords,
    keys: Keys,
    keys_are_new: bool,
    seals: Seals,
    /// Known once the database was asked whether the master key is its own.
    installation: OnceCell<Installation>,
    /// Set once the schema was seen to be up to date.
    up_to_date: OnceCell<()>,
    in_flight: InFlight,
    remembered: Remembered,
    answers: Answers,
    usage: Usage,
    seen: session::Seen,
    wrong_keys: WrongKeys,
    feeds: Feeds,
    fair: Fair,
    /// The proofs that are under way.
    proofs: Single<(BusinessId, ResourceKey, Verb), Reply>,
}

/// What a command in a lane comes to.
enum Outcome {
    Replied(Reply),
    Done,
}

impl Ledger {
    pub async fn open(options: LedgerOptions) -> Result<Arc<Self>> {
        // Each place has a connection: who has its turn never waits for one.
        let shares = Shares::of(options.database.readers).within(options.database.pool_size.max(12));
        let readers = u32::try_from(shares.connections()).map_err(Error::internal)?;
        // Whoever opens them keeps them, and is told the cause.
        let opened = Database::open(&DatabaseOptions { readers, ..options.database }).await;
        let database = opened.map_err(|error| Error::internal(fault::said(&error)))?;
        let seals = Seals::of(&options.keys)?;
        let fair = Fair::new(shares);
        fair.set_budget(options.read_time);
        Ok(Arc::new(Self {
            lanes: Lanes::new(database.clone(), seals.clone(), options.write_queue, Shelf::within(options.lane_bytes)),
            seals,
            database,
            clock: options.clock,
            tokens: Tokens::new(&options.tokens),
            token_secret: options.tokens.secret.clone(),
            running: OnceCell::new(),
            passwords: Passwords::of_process()?,
            keys: options.keys,
            keys_are_new: options.keys_are_new,
            installation: OnceCell::new(),
            up_to_date: OnceCell::new(),
            in_flight: InFlight::default(),
            remembered: Remembered::within(options.remembered_bytes),
            answers: Answers::new(options.answer_bytes),
            usage: Usage::default(),
            seen: session::Seen::default(),
            wrong_keys: WrongKeys::default(),
            feeds: Feeds::default(),
            fair,
            proofs: Single::default(),
        }))
    }

    /// What time it is, by the clock of these books.
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Tokens issued from now on live this long.
    pub fn set_token_lifetime(&self, lifetime: Duration) {
        self.tokens.set_lifetime(lifetime);
    }

    /// From now on one caller's reads may take so much of a minute.
    pub fn set_read_time(&self, read_time: Duration) {
        self.fair.set_budget(read_time);
    }

    /// From now on one caller's dear writes may take so much of a minute.
    pub fn set_write_time(&self, write_time: Duration) {
        self.lanes.set_budget(write_time);
    }

    /// The answer to a read that was answered before, as long as nothing changed since. It asks nobody.
    pub fn known(&self, principal: &Principal, call: &Call) -> Option<Arc<Known>> {
        if call.resource.scope != Scope::Business || call.resource.writes(call.verb) {
            return None;
        }
        check_password_chosen(principal, call.resource, call.verb).ok()?;
        let id = call.business.as_deref().and_then(BusinessId::parse)?;
        let business = self.remembered.known_company(principal.changes, principal.user, id)?;
        let business = business.narrowed(principal.key_in(id).ok()?);
        let (key, action) = call.resource.needs(call.verb);
        business.require(key, action).ok()?;
        let (question, version) = self.question(principal, call, &business)?;
        // What asks for more than there is is told so where it is read.
        let known =
            self.answers.find(&question, version).filter(|_| call.at_least.is_none_or(|asked| asked <= version))?;
        self.count(principal, call, &business);
        Some(known)
    }

    fn question(&self, principal: &Principal, call: &Call, business: &Business) -> Option<(answers::Asked, i64)> {
        if !call.resource.cached {
            return None;
        }
        let (_, version) = principal.books.filter(|(id, _)| *id == business.id)?;
        let today = business.today(self.clock.now());
        Some((answers::Asked::of(call, business, today)?, version))
    }

    /// The company in scope, after the caller's right to be there and to do this was checked.
    async fn authorise(&self, principal: &Principal, call: &Call) -> Result<(Leave, Judged)> {
        let leave = Leave::of(principal, call);
        let business = match leave.place()? {
            Some(id) => {
                let seen = self.remembered.company(&self.database.door, principal.changes, principal.user, id).await?;
                Some(leave.seated(seen)?)
            }
            None => None,
        };
        Ok((leave, Judged { key: principal.key.clone(), business }))
    }
}

/// Somebody whose password another chose does nothing but choose their own, see who they are, and log out. Their keys do
/// nothing meanwhile.
fn check_password_chosen(principal: &Principal, resource: &ResourceOperations, verb: Verb) -> Result<()> {
    if !principal.must_change_password || profile::comes_before_the_password(resource, verb) {
        return Ok(());
    }
    Err(Error::PasswordChange)
}

/// The record that the path names, where the verb needs one.
fn named_record(call: &Call) -> Result<Option<RecordId>> {
    // One that is named by what it is called elsewhere is looked for in the lane.
    if !call.resource.names_record(call.verb) || call.verb == Verb::Upsert {
        return Ok(None);
    }
    let id = call.id.as_deref().and_then(RecordId::parse);
    id.map(Some).ok_or(Error::NotFound)
}
