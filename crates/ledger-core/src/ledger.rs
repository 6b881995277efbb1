//! The ledger: what a dialect calls. It authorises, begins, runs and commits, the same for every resource.

mod converting;
mod guessing;
mod joining;
mod leave;
mod reading;
mod resealing;
#[cfg(test)]
mod tests;
mod watching;

use self::leave::{Judged, Leave, REVOKED};
use self::watching::Watch;
use crate::answers::{self, Answers, Known};
use crate::books::verify::{Check, Verdict};
use crate::clock::{Clock, Instant};
use crate::error::{Error, FieldErrors, Result};
use crate::fingerprint::{self, Fingerprint};
use crate::idempotency::{self, Claim, InFlight};
use crate::ids::{BusinessId, RecordId, UserId};
use crate::quoting::quoted;
use crate::resource::registry::answering;
use crate::usage::{self, Usage};
use ::books::access::{self, Business, Principal, Proved};
use ::books::api_keys::Key;
use ::books::aside;
use ::books::audit::{self, AuditAction, Origin};
use ::books::auth::password::{Names, NewPassword, Passwords, Who};
use ::books::auth::throttle;
use ::books::auth::token::Tokens;
use ::books::auth::user::{self, Revoking};
use ::books::auth::wrong_keys::{self, Worth, WrongKeys};
use ::books::auth::{LoginName, NewUser, TokenOptions, UserStatus, UserSummary, password, recovery, session, sign_in};
use ::books::client::Client;
use ::books::cx::{Asked, Cx, Expectation, Point};
use ::books::database::lane::{Keep, Lanes, Manner, Order, Work};
use ::books::database::{Database, DatabaseOptions};
use ::books::desk::{Desk, Rehearsed};
use ::books::fair::{Fair, Shares, Single, Who as Asking};
use ::books::installation::{self, Installation, Sealed};
use ::books::keys::Keys;
use ::books::remembered::{Changes, Remembered};
use ::books::running::{self, Running};
use ::books::seal::heads::{self, SignedHead};
use ::books::seal::{Seals, writing};
use ::books::security::{self, AccountChange, Event};
use ::books::shelf::Shelf;
pub use converting::{Kept, Off, Sealer, is_of, prove};
use documents::stock_adjustment::counting;
use documents::{entry, revaluation};
use kit::extra::Media;
use kit::feed::{Feed, Feeds};
use kit::list::{self, Pagination};
pub use kit::operation::ReplyKind;
use kit::operation::{Done, Prepared, ResourceOperations, Shown, Verb};
use kit::resource::Scope;
use masters::api_key::{self, UserKey};
use masters::user::{self as user_records, MembershipView, UserView};
use masters::{dialect_usage, profile};
use migrations::Left;
pub use reading::{Errand, ReadCall, WriteCall};
pub use resealing::{Progress, Resealed};
use schema::business;
use schema::key::ResourceKey;
use schema::membership;
use schema::rights::Role;
use schema::tables::books;
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OnceCell;
use tokio::time::timeout;

/// How long it may take to see whether the schema is up to date.
const LOOK: Duration = Duration::from_millis(400);

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

/// As many companies of somebody as their password is held against.
const MOST_COMPANIES: u64 = 30;

/// What a command in a lane comes to.
enum Outcome {
    Replied(Reply),
    Done,
}

/// One request, in no dialect's words.
pub struct Call {
    pub resource: &'static ResourceOperations,
    pub verb: Verb,
    /// The company, where the resource lives in one.
    pub business: Option<String>,
    /// The record, where the verb names one.
    pub id: Option<String>,
    pub query: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub expectation: Expectation,
    pub idempotency_key: Option<String>,
    /// Where it came from, for the audit log.
    pub origin: Origin,
    /// The program that calls, as it names itself.
    pub agent: Option<String>,
}

/// The answer to one request, in no dialect's words.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Reply {
    pub kind: ReplyKind,
    /// Whether dialects wrap it.
    #[serde(skip)]
    pub media: Media,
    /// A page, a record, or what is said of a deleted one.
    pub json: String,
    /// The record and its version, for `Location` and `ETag`.
    pub record: Option<(RecordId, i64)>,
    #[serde(skip)]
    pub pagination: Option<Pagination>,
    #[serde(skip)]
    pub replayed: bool,
    #[serde(skip)]
    pub dry_run: bool,
}

impl Reply {
    fn of(kind: ReplyKind, shown: Shown) -> Self {
        let record = Some((shown.id, shown.version));
        Self { record, ..Self::plain(kind, shown.json) }
    }

    fn deleted(id: RecordId) -> Self {
        Self::plain(ReplyKind::Deleted, serde_json::json!({"id": id, "deleted": true}).to_string())
    }

    /// What may be kept of it.
    fn without_secrets(&self) -> Result<Self> {
        let mut body: serde_json::Value = serde_json::from_str(&self.json).map_err(Error::internal)?;
        for name in ["secret", "authenticator", "recoveryCodes", "invitationCode"] {
            if let Some(secret) = body.get_mut(name) {
                *secret = serde_json::Value::Null;
            }
        }
        Ok(Self { json: body.to_string(), ..self.clone() })
    }

    pub(crate) fn plain(kind: ReplyKind, json: String) -> Self {
        Self { kind, media: Media::Json, json, record: None, pagination: None, replayed: false, dry_run: false }
    }
}

/// The answer to one request: at once, or while it is made.
pub enum Answer {
    Whole(Reply),
    /// Wrapped by no dialect.
    Portions(Feed),
}

impl Answer {
    pub fn whole(self) -> Result<Reply> {
        match self {
            Self::Whole(reply) => Ok(reply),
            Self::Portions(_) => Err(Error::internal("an answer comes in portions where it was wanted at once")),
        }
    }
}

/// Who speaks which dialect to a company.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CompanyUsage {
    pub business_id: BusinessId,
    pub name: String,
    pub uses: Vec<dialect_usage::Use>,
}

/// What the proof of one company came to.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Proof {
    pub business_id: BusinessId,
    pub name: String,
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// The first user of an empty installation.
pub struct FirstUser {
    pub user: NewUser,
    /// Whether the password was made up, and must be shown once.
    pub password_made: bool,
}

/// What is done with books in which nothing is sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unsealed {
    Refused,
    Sealed,
}

impl Ledger {
    pub async fn open(options: LedgerOptions) -> Result<Arc<Self>> {
        // Each place has a connection: who has its turn never waits for one.
        let shares = Shares::of(options.database.readers).within(options.database.pool_size.max(12));
        let readers = u32::try_from(shares.connections()).map_err(Error::internal)?;
        let database = Database::open(&DatabaseOptions { readers, ..options.database }).await?;
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

    /// Brings the schema up to date, and makes the installation known to a database that is new. Books that are there and
    /// were never sealed are refused, unless there was no master key beside them until now: nobody can tell them from books
    /// whose seals somebody took off.
    pub async fn migrate(&self) -> Result<()> {
        self.migrate_with(if self.keys_are_new { Unsealed::Sealed } else { Unsealed::Refused }).await
    }

    /// The same, where the operator says that the books are of a release that had no seals.
    pub async fn migrate_and_seal(&self) -> Result<()> {
        self.migrate_with(Unsealed::Sealed).await
    }

    async fn migrate_with(&self, unsealed: Unsealed) -> Result<()> {
        // What is signed with another key would be somebody else's afterwards.
        installation::check_key(&self.database.read, &self.keys).await?;
        let strange = self.database.migrate(&|text| self.seals.of_migration(text)).await?;
        if strange > 0 {
            security::tampered(None, &format!("{strange} rows were changed behind the server's back"));
        }
        if !installation::is_kept(&self.database.read).await? {
            let row = installation::fresh(&self.keys, self.clock.now())?;
            self.write(None, move |transaction, _| {
                let row = row.clone();
                Box::pin(async move { installation::keep(transaction, row).await })
            })
            .await?;
        }
        self.installation().await?;
        self.seal_what_was_not(unsealed).await?;
        // What migrations noted is settled before anything else touches those rows: each seal goes once.
        if writing::left(&self.database.read, &self.seals).await? != Left::default() {
            let stamp = (RecordId(self.clock.identifier()), self.clock.now());
            self.write(None, move |transaction, desk| Box::pin(desk.settle_migrations(transaction, stamp))).await?;
        }
        if sign_in::any_plain(&self.database.read).await? {
            let keys = self.keys.clone();
            self.write(None, move |transaction, _| {
                let keys = keys.clone();
                Box::pin(async move { sign_in::hide_plain(transaction, &keys).await })
            })
            .await?;
        }
        Ok(())
    }

    /// Whether nobody has anything in here yet.
    async fn is_new(&self) -> Result<bool> {
        let database = &self.database.read;
        Ok(user::Entity::find().one(database).await?.is_none()
            && business::Entity::find().one(database).await?.is_none()
            && books::Entity::find().filter(books::Column::AuditSequence.gt(0)).one(database).await?.is_none())
    }

    /// Seals books that were kept before there were seals.
    async fn seal_what_was_not(&self, unsealed: Unsealed) -> Result<()> {
        let database = &self.database.read;
        let was_sealed = installation::was_sealed(database, &self.keys).await?;
        if !matches!(installation::seals(database, &self.seals).await?, Sealed::Not) {
            if !was_sealed {
                let own = (self.seals.clone(), self.keys.clone());
                self.write(None, move |transaction, _| {
                    let (seals, keys) = own.clone();
                    Box::pin(async move { installation::mark_sealed(transaction, (&seals, &keys)).await })
                })
                .await?;
            }
            return Ok(());
        }
        if writing::has_seals(database, "users").await? {
            security::tampered(None, "the signature of the installation was taken off");
            return Ok(());
        }
        let is_new = self.is_new().await?;
        if was_sealed && !is_new {
            security::tampered(None, "the seals of all books were taken off");
            return Err(Error::internal(
                "the books were sealed, and their seals were taken off behind the server's back; restore a backup",
            ));
        }
        if unsealed == Unsealed::Refused && !is_new {
            return Err(Error::internal(
                "nothing in these books is sealed: they are of a release that had no seals, and then \
                 duet migrate --seal-old-books seals them as they stand, or somebody took the seals off, and then a \
                 backup is to be restored",
            ));
        }
        // The installation's own come first: its log is told of those of the companies.
        let unsigned = books::Entity::find().filter(books::Column::Signature.eq(""));
        let unsigned = unsigned.order_by_asc(books::Column::BusinessId).all(database).await?;
        for row in unsigned {
            let business = row.business_id;
            if audit::any_keyed(database, business).await? {
                security::tampered(Some(business), "the signature of the books was taken off");
                continue;
            }
            tracing::info!(%business, "the books come under the master key");
            let stamp = (RecordId(self.clock.identifier()), self.clock.now());
            self.write(Some(business), move |transaction, desk| {
                Box::pin(desk.seal_books(transaction, business, stamp))
            })
            .await?;
        }
        let own = (self.seals.clone(), self.keys.clone());
        self.write(None, move |transaction, _| {
            let (seals, keys) = own.clone();
            Box::pin(async move { installation::seal(transaction, (&seals, &keys)).await })
        })
        .await
    }

    /// What is secret in this installation. An error where the master key is not that of the database.
    async fn installation(&self) -> Result<&Installation> {
        let read = || async {
            let read = installation::read(&self.database.read, &self.keys).await?;
            self.seals.learn(read.former.clone());
            Ok(read)
        };
        self.installation.get_or_try_init(read).await
    }

    /// How long these books were served.
    async fn running(&self) -> Result<&Running> {
        self.running.get_or_try_init(|| Running::read(&self.database.read, &self.clock)).await
    }

    /// Writes down how long the books were served, and forgets the keys that are too old by that. It does so now and then,
    /// however often it is asked.
    pub async fn keep_time(&self) -> Result<()> {
        let running = self.running().await?;
        if running.is_due(&self.clock) { self.write_time(running).await } else { Ok(()) }
    }

    async fn write_time(&self, running: &Running) -> Result<()> {
        let at = running.now(&self.clock);
        self.write(None, move |transaction, _| {
            Box::pin(async move {
                running::write(transaction, at).await?;
                ::books::repeats::forget(transaction, at).await
            })
        })
        .await?;
        running.meet(&self.clock, running::stored(&self.database.read).await?);
        Ok(())
    }

    /// Whether the database belongs to this master key; nothing where it belongs to none yet.
    pub async fn belongs_to(&self, keys: &Keys) -> Result<Option<bool>> {
        installation::belongs_to(&self.database.read, keys).await
    }

    /// Whether the master key is that of the database.
    pub async fn check_master_key(&self) -> Result<()> {
        self.installation().await.map(|_| ())
    }

    pub async fn pending_migrations(&self) -> Result<usize> {
        Ok(self.database.pending_migrations().await?)
    }

    /// Why requests cannot be served now, where they cannot. It is answered within a second, whatever hangs.
    pub async fn readiness(&self) -> Result<(), &'static str> {
        self.database.readiness().await?;
        let looked = self.up_to_date.get_or_try_init(|| async {
            match timeout(LOOK, self.database.pending_migrations()).await {
                Ok(Ok(0)) => Ok(()),
                Ok(Ok(_)) => Err("the schema is not up to date"),
                Ok(Err(_)) | Err(_) => Err("the database does not answer"),
            }
        });
        looked.await.copied()
    }

    /// Tries again what is known to fail, so that its return is noticed when nobody else asks for anything.
    pub async fn try_again(&self) {
        self.database.read_again().await;
        if self.database.writes_fail() {
            let client = Client::default();
            // The smallest thing that is written for its own sake.
            let written = client.served(async { self.write_time(self.running().await?).await });
            match timeout(LOOK, written).await {
                Ok(Ok(())) => self.database.wrote_again(),
                Ok(Err(error)) => tracing::debug!(?error, "writes fail still"),
                Err(_) => {
                    client.leave();
                }
            }
        }
    }

    /// Finishes what is queued and lets the database go.
    pub async fn close(&self) {
        if let Err(error) = self.write_usage().await {
            tracing::warn!(?error, "what was counted of the dialects' use is lost");
        }
        if let Some(running) = self.running.get()
            && let Err(error) = self.write_time(running).await
        {
            tracing::warn!(?error, "how long the books were served is not written down; keys are kept longer");
        }
        self.lanes.close().await;
        self.database.close().await;
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

    // ── Who is there ──

    /// Judges and hashes the password that the caller is to have.
    async fn settle(&self, new: &NewPassword, principal: &Principal) -> Result<()> {
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
        let user = user
            .filter(|user| user.status == UserStatus::Active)
            .filter(|user| claims.as_ref().is_none_or(|claims| user.token_version == claims.ver))
            .ok_or(REVOKED)?;
        let session = match &claims {
            Some(claims) => Some(self.session(changes, RecordId(claims.jti), user.id).await?.ok_or(REVOKED)?),
            None => None,
        };
        let token_version = claims.as_ref().map(|claims| claims.ver);
        let ends = claims.map(|claims| Instant::from_micros(claims.exp.saturating_mul(1_000_000)));
        let ends = ends.or_else(|| key.as_ref().and_then(|key| key.expires_at));
        Ok(Principal {
            user: user.id,
            key: key.map(|key| key.scope.clone()),
            session,
            token_version,
            must_change_password: user.must_change_password,
            changes,
            books,
            is_system_admin: user.is_system_admin,
            expires_at: ends.unwrap_or_else(|| self.clock.now().plus(Duration::from_hours(24))),
        })
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
    async fn session(self: &Arc<Self>, changes: Changes, id: RecordId, user: UserId) -> Result<Option<RecordId>> {
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
    async fn key(self: &Arc<Self>, changes: Changes, secret: &str, address: Option<IpAddr>) -> Result<Arc<Key>> {
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

    // ── Requests ──

    /// Answers a call that writes. Whoever stops waiting for it does not stop it, where it runs in a task of its own.
    pub async fn write_down(self: &Arc<Self>, principal: &Principal, call: WriteCall) -> Result<Reply> {
        let WriteCall(call) = call;
        let (leave, judged) = self.authorise(principal, &call).await?;
        if let Some(business) = &judged.business {
            self.count(principal, &call, business);
        }
        self.write_request(principal, (leave, judged), call).await
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
        let known = self.answers.find(&question, version)?;
        self.count(principal, call, &business);
        Some(known)
    }

    fn question(&self, principal: &Principal, call: &Call, business: &Business) -> Option<(answers::Asked, i64)> {
        // People are seen by where the caller is as well, and change in other companies too.
        if call.resource.key == ResourceKey::Users {
            return None;
        }
        let (_, version) = principal.books.filter(|(id, _)| *id == business.id)?;
        let today = business.today(self.clock.now());
        Some((answers::Asked::of(call, business, today)?, version))
    }

    /// Counts a call that was let in to a company.
    fn count(&self, principal: &Principal, call: &Call, business: &Business) {
        if let (Some(dialect), Some(agent)) = (call.origin.dialect, &call.agent) {
            let place = (business.id, principal.user, dialect, call.resource.key, call.verb);
            self.usage.count(place, agent, self.clock.now());
        }
    }

    /// Writes down what was counted, and when sessions were seen.
    pub async fn write_usage(&self) -> Result<()> {
        let noted = Arc::new((self.usage.taken(), self.seen.taken()));
        if noted.0.is_empty() && noted.1.is_empty() {
            return Ok(());
        }
        self.write(None, move |transaction, _| {
            let noted = noted.clone();
            Box::pin(async move {
                usage::add(transaction, &noted.0).await?;
                session::write_seen(transaction, &noted.1).await
            })
        })
        .await
    }

    /// Who speaks which dialect, company by company.
    pub async fn dialect_usage(&self) -> Result<Vec<CompanyUsage>> {
        let mut told = Vec::new();
        for company in business::Entity::find().order_by_asc(business::Column::NameKey).all(&self.database.read).await?
        {
            let uses = dialect_usage::uses(&self.database.read, company.id).await?;
            told.push(CompanyUsage { business_id: company.id, name: company.name, uses });
        }
        Ok(told)
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

    async fn write_request(
        self: &Arc<Self>,
        principal: &Principal,
        (leave, judged): (Leave, Judged),
        mut call: Call,
    ) -> Result<Reply> {
        let business = judged.business.clone();
        let dry_run = check_query(&call.query, &["dryRun"])?;
        let id = named_record(&call)?;
        let company = business.as_ref().map(|business| business.id);
        let key = call.idempotency_key.clone().filter(|_| !dry_run);
        let (resource, verb, body) = (call.resource, call.verb, std::mem::take(&mut call.body));
        let (asked_of, said_of) = (business.clone(), company.filter(|_| resource.key != ResourceKey::Businesses));
        let (record, is_claimed) = (call.id.clone(), key.is_some());
        let (prepared, command) = aside::read(body.len(), move || {
            let prepared = resource.prepare(verb, asked_of.as_deref(), &body)?;
            let record = record.as_deref();
            let command =
                if is_claimed { Some(fingerprint::command(resource, verb, said_of, record, &body)?) } else { None };
            Ok((prepared, command))
        })
        .await?;
        let claim = match key.zip(command) {
            Some((key, command)) => Some(Claim {
                user: principal.user,
                key,
                fingerprint: Fingerprint::of(&command, &self.installation().await?.fingerprints, &self.token_secret),
                company,
                record: id,
                kind: resource.reply_kind(verb),
                answering: answering(resource, verb),
                at: self.running().await?.now(&self.clock),
            }),
            None => None,
        };
        if let Some(said) = prepared.confirmed_by() {
            // What confirmed it then is used up.
            if let Some(reply) = self.answered_before(claim.as_ref()).await? {
                return Ok(reply);
            }
            self.confirm(principal, &said, (call.origin.address, dry_run)).await?;
        }
        if let Some(first) = prepared.first_password() {
            if !principal.is_system_admin || principal.key.is_some() {
                return Err(user_records::only_the_operator());
            }
            self.settle(first, principal).await?;
        }
        if let Some(new) = prepared.new_password() {
            self.settle(new, principal).await?;
        }
        let company = match prepared.opened_by() {
            Some(code) => match self.answered_before(claim.as_ref()).await? {
                Some(reply) => return Ok(reply),
                None => Some(self.invited_to(principal, code, call.origin.address).await?),
            },
            None => company,
        };
        // Held until the lane has answered.
        let _running = claim.as_ref().map(|claim| self.in_flight.enter(claim)).transpose()?;
        // A rehearsal is undone by its savepoint, whatever it wrote.
        let manner = if prepared.plans() && !dry_run { Manner::Planned } else { Manner::Direct };
        let watch = Watch::default();
        let write = Arc::new(Write {
            ledger: self.clone(),
            kind: call.resource.reply_kind(call.verb),
            leave,
            judged,
            shows_secrets: matches!(
                call.resource.key,
                ResourceKey::ApiKeys | ResourceKey::Profile | ResourceKey::Users
            ),
            expectation: call.expectation,
            origin: Origin {
                user: Some(principal.user),
                key: principal.key.as_ref().map(|key| key.key),
                ..call.origin
            },
            watch: watch.clone(),
            is_of_people: call.resource.key.is_of_people() || call.resource.key == ResourceKey::Permissions,
            id,
            prepared,
            claim,
            dry_run,
        });
        let work: Work<Outcome> = Arc::new(move |transaction, desk| {
            let write = write.clone();
            Box::pin(async move { write.run(transaction, desk).await.map(Outcome::Replied) })
        });
        let who = Some(Asking::asking(company, principal.user, principal.caller()));
        let keep = if dry_run { Keep::Nothing } else { Keep::Effects };
        match self.lanes.run(Order { company, who, manner, keep, work }).await? {
            Outcome::Replied(reply) => {
                watch.tell();
                Ok(Reply { dry_run, ..reply })
            }
            Outcome::Done => Err(Error::internal("a request came to nothing")),
        }
    }

    /// Something of our own that must be written, in the lane like everything else.
    async fn write<W>(&self, company: Option<BusinessId>, work: W) -> Result<()>
    where
        W: for<'t> Fn(&'t ::books::database::Session, &'t Desk) -> ::books::database::lane::BoxFuture<'t, Result<()>>
            + Send
            + Sync
            + 'static,
    {
        let work = Arc::new(work);
        let watch = Watch::default();
        let seen = watch.clone();
        let work: Work<Outcome> = Arc::new(move |transaction, desk| {
            let work = work.clone();
            let watch = seen.clone();
            Box::pin(async move {
                work(transaction, desk).await?;
                watch.take(desk);
                Ok(Outcome::Done)
            })
        });
        let order = Order { company, who: None, manner: Manner::Direct, keep: Keep::Effects, work };
        self.lanes.run(order).await?;
        watch.tell();
        Ok(())
    }

    // ── Proof ──

    /// What the engine itself says of its file, where it has such a check, and whether the schema is what it should be.
    pub async fn verify_engine(&self) -> Result<Vec<Check>> {
        let mut checks = Vec::new();
        checks.extend(self.database.check_file().await?.map(Check::of_engine));
        checks.push(Check::of_schema(self.database.check_schema().await?));
        Ok(checks)
    }

    /// The signed heads of these companies, to be kept elsewhere.
    pub async fn heads(&self, of: &[BusinessId]) -> Result<Vec<SignedHead>> {
        self.installation().await?;
        let mut found = Vec::new();
        for business in of {
            found.push(heads::head(&self.database.read, &self.seals, *business).await?);
        }
        Ok(found)
    }

    /// What is wrong with books that this head was kept of.
    pub async fn verify_head(&self, kept: &SignedHead) -> Result<Vec<String>> {
        self.installation().await?;
        heads::compare(&self.database.read, &self.seals, kept).await
    }

    // ── Administration ──

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
        let (id, now, made) = (UserId(self.clock.identifier()), self.clock.now(), new.clone());
        let row = RecordId(self.clock.identifier());
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

/// One write, ready to run as often as the lane needs it to.
struct Write {
    ledger: Arc<Ledger>,
    kind: ReplyKind,
    leave: Leave,
    /// As it was when the request had arrived.
    judged: Judged,
    /// Whether the answer may hold a secret, which is shown once and never kept.
    shows_secrets: bool,
    expectation: Expectation,
    origin: Origin,
    id: Option<RecordId>,
    prepared: Arc<dyn Prepared>,
    claim: Option<Claim>,
    dry_run: bool,
    /// What the log of security is told of it.
    watch: Watch,
    /// Whether it may change people, which stands in the installation's log too.
    is_of_people: bool,
}

impl Write {
    async fn run(&self, transaction: &::books::database::Session, desk: &Desk) -> Result<Reply> {
        // It waited since it was judged.
        let now = (desk.access_changes(transaction).await?, self.ledger.clock.now());
        let judged = self.leave.since(transaction, now, &self.judged).await?;
        let asked = Asked {
            user: self.leave.principal.user,
            key: judged.key.as_deref(),
            session: self.leave.principal.session,
            keys: &self.ledger.keys,
            business: judged.business.as_deref(),
            clock: &self.ledger.clock,
            expectation: &self.expectation,
            origin: &self.origin,
            point: Point::default(),
            seals: &self.ledger.seals,
        };
        let cx = Cx::writing(asked, transaction, desk);
        if let Some(claim) = &self.claim
            && let Some(reply) = idempotency::recall(transaction, claim).await?
        {
            return Ok(reply);
        }
        if self.dry_run {
            desk.rehearse();
        }
        if self.is_of_people {
            desk.open_installation(transaction).await?;
        }
        let reply = match self.prepared.run(&cx, self.id).await? {
            Done::Record(shown) => Reply::of(self.kind, shown),
            Done::Deleted(id) => Reply::deleted(id),
        };
        counting::recount(&cx).await?;
        ::books::purses::keep(&cx).await?;
        revaluation::renew(&cx).await?;
        if self.dry_run {
            // Nothing of it happened.
            drop(desk.take_told());
        } else {
            self.watch.take(desk);
        }
        if let Some(claim) = &self.claim {
            let kept = if self.shows_secrets { reply.without_secrets()? } else { reply.clone() };
            desk.keep_key(idempotency::kept(claim, &kept)?);
        }
        if self.dry_run {
            return self.rehearsed(&cx, reply, desk.rehearsed()).await;
        }
        Ok(reply)
    }

    /// The answer of a rehearsal: what would be answered, and the journal lines that would be made.
    async fn rehearsed(&self, cx: &Cx<'_>, reply: Reply, lines: Vec<Rehearsed>) -> Result<Reply> {
        if self.judged.business.is_none() {
            return Ok(reply);
        }
        let postings = serde_json::to_string(&entry::postings(cx, lines).await?).map_err(Error::internal)?;
        let json = match reply.json.strip_suffix('}') {
            Some(members) => format!("{members},\"postings\":{postings}}}"),
            None => reply.json,
        };
        Ok(Reply { json, ..reply })
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
    if !call.resource.names_record(call.verb) {
        return Ok(None);
    }
    let id = call.id.as_deref().and_then(RecordId::parse);
    id.map(Some).ok_or(Error::NotFound)
}

/// Refuses parameters that mean nothing here. Answers whether `dryRun` is asked for.
fn check_query(pairs: &[(String, String)], known: &[&str]) -> Result<bool, FieldErrors> {
    let mut faults = list::repeated(pairs);
    let mut dry_run = false;
    for (name, text) in pairs {
        match (known.contains(&name.as_str()), text.as_str()) {
            (true, "true") => dry_run = true,
            (true, "false") => {}
            (true, _) => faults.add(name.as_str(), "must be true or false"),
            (false, _) => faults.add(quoted(name), "is not a known parameter"),
        }
    }
    if faults.is_empty() { Ok(dry_run) } else { Err(faults) }
}
