//! The ledger: what a dialect calls. It authorises, begins, runs and commits, the same for every resource.

use crate::access::{self, Business, KeyScope, Principal, Role, Seat, membership};
use crate::answers::{self, Answers, Known};
use crate::aside;
use crate::auth::password::Passwords;
use crate::auth::throttle::{self, Subjects};
use crate::auth::token::Tokens;
use crate::auth::user::{self, Revoking};
use crate::auth::{
    Credentials, LoginName, NewUser, Session, TokenOptions, UserStatus, UserSummary, password, sign_in, totp,
};
use crate::books::audit::{AuditAction, Change, Origin};
use crate::books::desk::{Desk, Rehearsed};
use crate::books::export::{self, JournalFormat};
use crate::books::seal::heads::{self, SignedHead};
use crate::books::seal::{Seals, writing};
use crate::books::tables::{audit_log, books};
use crate::books::verify::{self, Check, Verdict};
use crate::clock::{Clock, Instant};
use crate::cx::{Asked, Cx, Expectation, Point};
use crate::database::lane::{Keep, Lanes, Manner, Order, Work};
use crate::database::{Database, DatabaseOptions};
use crate::error::{Error, FieldErrors, Result};
use crate::feed::{Feed, Feeds};
use crate::idempotency::{self, Claim, InFlight};
use crate::ids::{BusinessId, RecordId, UserId};
use crate::installation::{self, Installation, Sealed};
use crate::keys::Keys;
use crate::quoting::quoted;
use crate::remembered::{Changes, Remembered};
use crate::resource::api_key::{self, Key};
use crate::resource::business::{BusinessStatus, table as business};
use crate::resource::extra::{Csv, Media};
use crate::resource::json::{canonical, strict};
use crate::resource::list::{self, ListQuery, Pagination};
use crate::resource::operation::{BodyNeed, Done, Prepared, ResourceOperations, Shown, Verb};
use crate::resource::{ResourceKey, Scope, dialect_usage, entry};
use crate::usage::{self, Usage};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OnceCell;

mod joining;

/// What a ledger is opened with.
pub struct LedgerOptions {
    pub database: DatabaseOptions,
    pub tokens: TokenOptions,
    /// What is made of the master key.
    pub keys: Keys,
    /// How many writes may wait in a lane before more are turned away.
    pub write_queue: usize,
    /// What answers that are kept for their repetition may weigh.
    pub answer_bytes: usize,
    pub clock: Clock,
}

pub struct Ledger {
    database: Database,
    lanes: Lanes<Outcome>,
    clock: Clock,
    tokens: Tokens,
    passwords: Passwords,
    keys: Keys,
    seals: Seals,
    /// Known once the database was asked whether the master key is its own.
    installation: OnceCell<Installation>,
    in_flight: InFlight,
    remembered: Remembered,
    answers: Answers,
    usage: Usage,
    feeds: Feeds,
}

/// What the code of an authenticator comes to.
enum Factor {
    NotAsked,
    /// The code of this step.
    Right(i64),
    Wrong,
}

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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReplyKind {
    Listed,
    Found,
    Created,
    Updated,
    Deleted,
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
        for name in ["secret", "authenticator", "invitationCode"] {
            if let Some(secret) = body.get_mut(name) {
                *secret = serde_json::Value::Null;
            }
        }
        Ok(Self { json: body.to_string(), ..self.clone() })
    }

    fn plain(kind: ReplyKind, json: String) -> Self {
        Self { kind, media: Media::Json, json, record: None, pagination: None, replayed: false, dry_run: false }
    }
}

/// The answer to one request: at once, or while it is made.
pub enum Answer {
    Whole(Reply),
    /// Comma-separated values, wrapped by no dialect.
    Csv(Feed),
}

impl Answer {
    pub fn whole(self) -> Result<Reply> {
        match self {
            Self::Whole(reply) => Ok(reply),
            Self::Csv(_) => Err(Error::internal("an answer comes in portions where it was wanted at once")),
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

impl Ledger {
    pub async fn open(options: LedgerOptions) -> Result<Arc<Self>> {
        let database = Database::open(&options.database).await?;
        let seals = Seals::of(&options.keys)?;
        Ok(Arc::new(Self {
            lanes: Lanes::new(database.clone(), seals.clone(), options.write_queue),
            seals,
            database,
            clock: options.clock,
            tokens: Tokens::new(&options.tokens),
            passwords: Passwords::of_process()?,
            keys: options.keys,
            installation: OnceCell::new(),
            in_flight: InFlight::default(),
            remembered: Remembered::default(),
            answers: Answers::new(options.answer_bytes),
            usage: Usage::default(),
            // Whoever takes a long answer slowly holds a connection; the others are left for everybody else.
            feeds: Feeds::of(options.database.readers.min(options.database.pool_size) / 2),
        }))
    }

    /// Brings the schema up to date, and makes the installation known to a database that is new.
    pub async fn migrate(&self) -> Result<()> {
        self.database.migrate().await?;
        if !installation::is_kept(&self.database.read).await? {
            let row = installation::fresh(&self.keys, self.clock.now())?;
            self.write(None, move |transaction, _| {
                let row = row.clone();
                Box::pin(async move { installation::keep(transaction, row).await })
            })
            .await?;
        }
        self.installation().await?;
        self.seal_what_was_not().await?;
        if writing::is_noted(&self.database.read, writing::MIGRATIONS).await? {
            self.write(None, |transaction, desk| Box::pin(desk.settle_migrations(transaction))).await?;
        }
        Ok(())
    }

    /// Seals books that were kept before there were seals.
    async fn seal_what_was_not(&self) -> Result<()> {
        let database = &self.database.read;
        if !matches!(installation::seals(database, &self.seals).await?, Sealed::Not) {
            return Ok(());
        }
        if writing::has_seals(database, "users").await? {
            tracing::error!(target: "security", "the signature of the installation was taken off; run duet verify");
            return Ok(());
        }
        let unsigned = books::Entity::find().filter(books::Column::Signature.eq("")).all(database).await?;
        for row in unsigned {
            let business = row.business_id;
            let of_company = audit_log::Column::BusinessId.eq(business);
            let keyed = audit_log::Entity::find().filter(of_company).filter(audit_log::Column::Keyed.eq(true));
            if keyed.limit(1).one(database).await?.is_some() {
                tracing::error!(target: "security", %business, "the signature of the books was taken off; run duet verify");
                continue;
            }
            tracing::info!(target: "security", %business, "the books come under the master key");
            let stamp = (RecordId(self.clock.identifier()), self.clock.now());
            self.write(Some(business), move |transaction, desk| {
                Box::pin(desk.seal_books(transaction, business, stamp))
            })
            .await?;
        }
        let seals = self.seals.clone();
        self.write(None, move |transaction, _| {
            let seals = seals.clone();
            Box::pin(async move { installation::seal(transaction, &seals).await })
        })
        .await
    }

    /// What is secret in this installation. An error where the master key is not that of the database.
    async fn installation(&self) -> Result<&Installation> {
        self.installation.get_or_try_init(|| installation::read(&self.database.read, &self.keys)).await
    }

    /// Whether the master key is that of the database.
    pub async fn check_master_key(&self) -> Result<()> {
        self.installation().await.map(|_| ())
    }

    pub async fn pending_migrations(&self) -> Result<usize> {
        Ok(self.database.pending_migrations().await?)
    }

    /// Whether the database answers.
    pub async fn ping(&self) -> Result<()> {
        Ok(self.database.ping().await?)
    }

    /// Finishes what is queued and lets the database go.
    pub async fn close(&self) {
        if let Err(error) = self.write_usage().await {
            tracing::warn!(?error, "what was counted of the dialects' use is lost");
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

    // ── Who is there ──

    pub async fn login(&self, by: LoginName, credentials: Credentials, address: IpAddr) -> Result<Session> {
        let Credentials { name, password, totp_code } = credentials;
        let subjects = Subjects::new(&name, address);
        let turn = self.passwords.turn().await?;
        // Judged while holding the turn, so that a burst of guesses cannot slip past the count.
        throttle::check(&self.database.door, &subjects, self.clock.now()).await?;
        let found = user::find_by_name(&self.database.door, &name, by).await?;
        // Somebody who was never given a password takes as long as everybody else.
        let hash = found.as_ref().map(|user| user.password_hash.clone()).filter(|hash| !hash.is_empty());
        let matches = self.passwords.verify(turn, password, hash).await?;
        let user = found.filter(|user| matches && user.status == UserStatus::Active);
        if let Some(user) = user {
            match self.second_factor(user.id, totp_code.as_deref()).await? {
                Factor::NotAsked => return self.open_session(user, (None, address), subjects).await,
                Factor::Right(step) => return self.open_session(user, (Some(step), address), subjects).await,
                Factor::Wrong => {}
            }
        }
        // Not the name: people type their password there.
        tracing::info!(target: "security", %address, "a log-in failed");
        self.note_failure(subjects).await?;
        Err(Error::Unauthenticated("The name or the password is wrong"))
    }

    async fn second_factor(&self, user: UserId, code: Option<&str>) -> Result<Factor> {
        let signed = sign_in::find(&self.database.door, user).await?.filter(|signed| signed.totp_on);
        let Some(sign_in::Model { totp_secret: Some(secret), totp_step, .. }) = signed else {
            return Ok(Factor::NotAsked);
        };
        let code = code.ok_or(Error::SecondFactor)?;
        Ok(totp::step_of(&secret, code, self.clock.now(), totp_step).map_or(Factor::Wrong, Factor::Right))
    }

    /// Whether somebody who is signed in knows their password. They may guess as often as at a log-in.
    async fn confirm(&self, principal: &Principal, password: String, address: Option<IpAddr>) -> Result<()> {
        let user = user::find(&self.database.door, principal.user).await?.ok_or(Error::NotFound)?;
        let subjects = Subjects::new(&user.email, address.unwrap_or(IpAddr::from([0, 0, 0, 0])));
        let turn = self.passwords.turn().await?;
        throttle::check(&self.database.door, &subjects, self.clock.now()).await?;
        if self.passwords.verify(turn, password, Some(user.password_hash)).await? {
            return Ok(());
        }
        self.note_failure(subjects).await?;
        Err(Error::field("currentPassword", "is not your password"))
    }

    async fn note_failure(&self, subjects: Subjects) -> Result<()> {
        let ids = [self.clock.identifier(), self.clock.identifier()];
        let now = self.clock.now();
        self.write(None, move |transaction, _| {
            let subjects = subjects.clone();
            Box::pin(async move { throttle::record(transaction, &subjects, ids, now).await })
        })
        .await
    }

    async fn open_session(
        &self,
        user: user::Model,
        (step, address): (Option<i64>, IpAddr),
        subjects: Subjects,
    ) -> Result<Session> {
        let (id, now) = (user.id, self.clock.now());
        self.write(None, move |transaction, _| {
            let subjects = subjects.clone();
            Box::pin(async move {
                // The same code, in two log-ins at once, is good for one of them.
                let signed = sign_in::find(transaction, id).await?;
                if step.is_some_and(|step| signed.is_some_and(|signed| signed.totp_step >= step)) {
                    return Err(Error::Unauthenticated("The name or the password is wrong"));
                }
                sign_in::note(transaction, id, now, step).await?;
                throttle::forgive(transaction, &subjects).await
            })
        })
        .await?;
        tracing::info!(target: "security", user = %id, %address, "logged in");
        let (token, lifetime) = self.tokens.issue(user.id, user.token_version, now, self.clock.identifier())?;
        Ok(Session {
            token,
            expires_in_seconds: lifetime,
            expires_at: now.plus(Duration::from_secs(lifetime)),
            user: user.into(),
        })
    }

    /// The user behind a token or a key, if it is still good this instant. `business` is the company that the request
    /// names. The caller may stop waiting at any time.
    pub async fn authenticate(
        self: &Arc<Self>,
        token: &str,
        business: Option<&str>,
        address: Option<IpAddr>,
    ) -> Result<Principal> {
        let key = token.starts_with(api_key::PREFIX);
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
            .ok_or(Error::Unauthenticated("The access token has been revoked; log in again"))?;
        let ends = claims.map(|claims| Instant::from_micros(claims.exp.saturating_mul(1_000_000)));
        let ends = ends.or_else(|| key.as_ref().and_then(|key| key.expires_at));
        Ok(Principal {
            user: user.id,
            key: key.map(|key| key.scope.clone()),
            changes,
            books,
            is_system_admin: user.is_system_admin,
            expires_at: ends.unwrap_or_else(|| self.clock.now().plus(Duration::from_hours(24))),
        })
    }

    /// The key that a program gave.
    async fn key(self: &Arc<Self>, changes: Changes, secret: &str, address: Option<IpAddr>) -> Result<Arc<Key>> {
        const UNKNOWN: Error = Error::Unauthenticated("The API key is not valid");
        let found = if let Some(known) = self.remembered.known_key(changes, secret) {
            Some(known)
        } else {
            let (ledger, secret) = (self.clone(), secret.to_owned());
            let find = async move { ledger.remembered.key(&ledger.database.door, changes, &secret).await };
            tokio::spawn(find).await.map_err(Error::internal)??
        };
        let key = found.ok_or(UNKNOWN)?;
        if key.expires_at.is_some_and(|ends| ends <= self.clock.now()) {
            return Err(Error::Unauthenticated("The API key has expired"));
        }
        if !key.may_come_from(address) {
            tracing::info!(target: "security", key = %key.scope.key, ?address, "an API key was used from elsewhere");
            return Err(Error::not_allowed("The API key may not be used from this address", FieldErrors::default()));
        }
        Ok(key)
    }

    // ── Requests ──

    pub async fn execute(self: &Arc<Self>, principal: &Principal, call: Call) -> Result<Answer> {
        let business = self.authorise(principal, &call).await?;
        if let Some(business) = &business {
            self.count(principal, &call, business);
        }
        if call.resource.writes(call.verb) {
            return self.write_request(principal, business, call).await.map(Answer::Whole);
        }
        let query = ListQuery::parse(&call.resource.offer(call.verb), &call.query)?;
        if let Some(csv) = call.resource.csv(call.verb, &query) {
            return self.feed(principal, business, call, query, csv).await.map(Answer::Csv);
        }
        let id = named_record(&call)?;
        let question = business.as_ref().and_then(|business| self.question(principal, &call, business));
        let reply = self.read(principal, business, &call, &query, id).await?;
        if let Some((question, version)) = question {
            // The version is older than the answer: what changed meanwhile has another one.
            self.answers.keep(question, version, &reply);
        }
        Ok(Answer::Whole(reply))
    }

    /// A read that is written down as long as it is taken, from one snapshot.
    async fn feed(
        self: &Arc<Self>,
        principal: &Principal,
        business: Option<Arc<Business>>,
        call: Call,
        query: ListQuery,
        csv: Csv,
    ) -> Result<Feed> {
        let (ledger, user, key) = (self.clone(), principal.user, principal.key.clone());
        let place = self.feeds.enter()?;
        Feed::begin(place, move |outlet| async move {
            let asked = Asked {
                user,
                key: key.as_deref(),
                business: business.as_deref(),
                clock: &ledger.clock,
                expectation: &Expectation::Unsaid,
                origin: &call.origin,
                point: query.point,
                seals: &ledger.seals,
            };
            let snapshot = ledger.database.snapshot().await?;
            let written = (csv.write)(&Cx::reading_within(asked, &snapshot), &query, &outlet).await;
            snapshot.end().await?;
            written
        })
        .await
    }

    /// The answer to a read that was answered before, as long as nothing changed since. It asks nobody.
    pub fn known(&self, principal: &Principal, call: &Call) -> Option<Arc<Known>> {
        if call.resource.scope != Scope::Business || call.resource.writes(call.verb) {
            return None;
        }
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

    /// Writes down what was counted.
    pub async fn write_usage(&self) -> Result<()> {
        let counted = Arc::new(self.usage.taken());
        if counted.is_empty() {
            return Ok(());
        }
        self.write(None, move |transaction, _| {
            let counted = counted.clone();
            Box::pin(async move { usage::add(transaction, &counted).await })
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

    async fn read(
        &self,
        principal: &Principal,
        business: Option<Arc<Business>>,
        call: &Call,
        query: &ListQuery,
        id: Option<RecordId>,
    ) -> Result<Reply> {
        let asked = Asked {
            user: principal.user,
            key: principal.key.as_deref(),
            business: business.as_deref(),
            clock: &self.clock,
            expectation: &Expectation::Unsaid,
            origin: &call.origin,
            point: query.point,
            seals: &self.seals,
        };
        if call.resource.key == ResourceKey::DialectUsage {
            self.write_usage().await?;
        }
        // What is summed from many tables is summed from the same books.
        if matches!(call.resource.key, ResourceKey::Verification | ResourceKey::Reports) {
            let snapshot = self.database.snapshot().await?;
            let read = call.resource.read_extra(call.verb, &Cx::reading_within(asked, &snapshot), id, query).await;
            snapshot.end().await?;
            let (media, produced) = read?;
            let reply = Reply::plain(ReplyKind::Found, produced.text);
            return Ok(Reply { media, pagination: produced.pagination, ..reply });
        }
        let cx = Cx::reading(asked, &self.database.read);
        match (call.verb, id) {
            (Verb::List, _) => {
                let produced = call.resource.list(&cx, query).await?;
                Ok(Reply { pagination: produced.pagination, ..Reply::plain(ReplyKind::Listed, produced.text) })
            }
            (Verb::Get, Some(id)) => Ok(Reply::of(ReplyKind::Found, call.resource.get(&cx, id).await?)),
            (verb, id) => {
                let (media, produced) = call.resource.read_extra(verb, &cx, id, query).await?;
                let reply = Reply::plain(ReplyKind::Listed, produced.text);
                Ok(Reply { media, pagination: produced.pagination, ..reply })
            }
        }
    }

    /// The company in scope, after the caller's right to be there and to do this was checked.
    async fn authorise(&self, principal: &Principal, call: &Call) -> Result<Option<Arc<Business>>> {
        let names_record = call.resource.names_record(call.verb);
        let named = match (call.resource.scope, call.verb) {
            (Scope::Installation, Verb::List) => return Ok(None),
            (Scope::Installation, Verb::Extra(_)) if !names_record => return Ok(None),
            (Scope::Installation, Verb::Create) if principal.is_system_admin && principal.key.is_none() => {
                return Ok(None);
            }
            (Scope::Installation, Verb::Create) => {
                return Err(Error::Forbidden { permission: call.resource.permission(call.verb) });
            }
            (Scope::Installation, Verb::Get | Verb::Update | Verb::Delete | Verb::Extra(_)) => call.id.as_deref(),
            (Scope::Business, _) => call.business.as_deref(),
        };
        let id = named.and_then(BusinessId::parse).ok_or(Error::NotFound)?;
        let only = principal.key_in(id)?;
        let business = self.remembered.company(&self.database.door, principal.changes, principal.user, id).await?;
        let business = business.narrowed(only);
        let (key, action) = call.resource.needs(call.verb);
        business.require(key, action)?;
        if call.resource.writes(call.verb)
            && call.resource.scope == Scope::Business
            && business.status == BusinessStatus::Archived
        {
            return Err(Error::conflict(
                "invalid_state",
                "The company is archived; its books can be read, not written",
            ));
        }
        Ok(Some(business))
    }

    async fn write_request(
        self: &Arc<Self>,
        principal: &Principal,
        business: Option<Arc<Business>>,
        mut call: Call,
    ) -> Result<Reply> {
        let dry_run = check_query(&call.query, &["dryRun"])?;
        let id = named_record(&call)?;
        let company = business.as_ref().map(|business| business.id);
        let key = call.idempotency_key.clone().filter(|_| !dry_run);
        let (resource, verb, body) = (call.resource, call.verb, std::mem::take(&mut call.body));
        let (asked_of, said_of) = (business.clone(), company.filter(|_| resource.key != ResourceKey::Businesses));
        let (record, is_claimed) = (call.id.clone(), key.is_some());
        let (prepared, command) = aside::read(body.len(), move || {
            let prepared = resource.prepare(verb, asked_of.as_deref(), &body)?;
            let command = if is_claimed { Some(command(resource, verb, said_of, record, &body)?) } else { None };
            Ok((prepared, command))
        })
        .await?;
        if let Some(password) = prepared.confirmed_by() {
            self.confirm(principal, password.to_owned(), call.origin.address).await?;
        }
        let claim = match key.zip(command) {
            Some((key, command)) => {
                let fingerprints = &self.installation().await?.fingerprints;
                let command = hex(ring::hmac::sign(fingerprints, command.as_bytes()).as_ref());
                Some(Claim { user: principal.user, key, command, company })
            }
            None => None,
        };
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
        let write = Arc::new(Write {
            ledger: self.clone(),
            kind: call.resource.reply_kind(call.verb),
            user: principal.user,
            key: principal.key.clone(),
            shows_secrets: matches!(
                call.resource.key,
                ResourceKey::ApiKeys | ResourceKey::Profile | ResourceKey::Users
            ),
            business,
            expectation: call.expectation,
            origin: Origin { user: Some(principal.user), ..call.origin },
            id,
            prepared,
            claim,
            dry_run,
        });
        let work: Work<Outcome> = Arc::new(move |transaction, desk| {
            let write = write.clone();
            Box::pin(async move { write.run(transaction, desk).await.map(Outcome::Replied) })
        });
        let keep = if dry_run { Keep::Nothing } else { Keep::Effects };
        match self.lanes.run(Order { company, manner, keep, work }).await? {
            Outcome::Replied(reply) => Ok(Reply { dry_run, ..reply }),
            Outcome::Done => Err(Error::internal("a request came to nothing")),
        }
    }

    /// Something of our own that must be written, in the lane like everything else.
    async fn write<W>(&self, company: Option<BusinessId>, work: W) -> Result<()>
    where
        W: for<'t> Fn(&'t crate::database::Session, &'t Desk) -> crate::database::lane::BoxFuture<'t, Result<()>>
            + Send
            + Sync
            + 'static,
    {
        let work = Arc::new(work);
        let work: Work<Outcome> = Arc::new(move |transaction, desk| {
            let work = work.clone();
            Box::pin(async move { work(transaction, desk).await.map(|()| Outcome::Done) })
        });
        let order = Order { company, manner: Manner::Direct, keep: Keep::Effects, work };
        self.lanes.run(order).await.map(|_| ())
    }

    // ── Proof ──

    /// Proves the books of one company or of all, each in one snapshot.
    pub async fn verify(&self, only: Option<BusinessId>) -> Result<Vec<Proof>> {
        let mut named = business::Entity::find().order_by_asc(business::Column::NameKey);
        if let Some(id) = only {
            named = named.filter(business::Column::Id.eq(id));
        }
        let companies = named.all(&self.database.read).await?;
        if only.is_some() && companies.is_empty() {
            return Err(Error::NotFound);
        }
        let mut proofs = Vec::new();
        for company in companies {
            let snapshot = self.database.snapshot().await?;
            let facts = access::seen_from(&snapshot, company.id, Seat::owner()).await?;
            let asked = Asked {
                user: UserId::default(),
                key: None,
                business: Some(&facts),
                clock: &self.clock,
                expectation: &Expectation::Unsaid,
                origin: &Origin::default(),
                point: Point::default(),
                seals: &self.seals,
            };
            let verdict = verify::run(&Cx::reading_within(asked, &snapshot)).await;
            snapshot.end().await?;
            proofs.push(Proof { business_id: company.id, name: company.name, verdict: verdict? });
        }
        Ok(proofs)
    }

    /// The ledger of a company as a plain text journal, from one snapshot, portion by portion.
    pub async fn export(
        &self,
        id: BusinessId,
        format: JournalFormat,
        keep: impl FnMut(&str) -> Result<()>,
    ) -> Result<()> {
        let snapshot = self.database.snapshot().await?;
        let facts = access::seen_from(&snapshot, id, Seat::owner()).await?;
        let asked = Asked {
            user: UserId::default(),
            key: None,
            business: Some(&facts),
            clock: &self.clock,
            expectation: &Expectation::Unsaid,
            origin: &Origin::default(),
            point: Point::default(),
            seals: &self.seals,
        };
        let written = export::write(&Cx::reading_within(asked, &snapshot), format, keep).await;
        snapshot.end().await?;
        written
    }

    /// What the engine itself says of its file, where it has such a check, and whether the schema is what it should be.
    pub async fn verify_engine(&self) -> Result<Vec<Check>> {
        let mut checks = Vec::new();
        checks.extend(self.database.check_file().await?.map(Check::of_engine));
        checks.push(Check::of_schema(self.database.check_schema().await?));
        Ok(checks)
    }

    /// Proves what belongs to no company: the people, and that no company is gone.
    pub async fn verify_installation(&self) -> Result<Check> {
        let snapshot = self.database.snapshot().await?;
        let check = verify::installation(&snapshot, &self.seals).await;
        snapshot.end().await?;
        check
    }

    /// The signed heads of these companies, to be kept elsewhere.
    pub async fn heads(&self, of: &[BusinessId]) -> Result<Vec<SignedHead>> {
        let mut found = Vec::new();
        for business in of {
            found.push(heads::head(&self.database.read, &self.seals, *business).await?);
        }
        Ok(found)
    }

    /// What is wrong with books that this head was kept of.
    pub async fn verify_head(&self, kept: &SignedHead) -> Result<Vec<String>> {
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
        let hash = self.passwords.hash(new.password.clone()).await?;
        let (id, now, made) = (UserId(self.clock.identifier()), self.clock.now(), new.clone());
        self.write(None, move |transaction, _| {
            let (new, hash) = (new.clone(), hash.clone());
            Box::pin(async move { user::insert(transaction, id, &new, hash, now).await })
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

    /// Ends every token the user holds.
    pub async fn set_password(&self, user: UserId, password: String) -> Result<()> {
        password::check("password", &password)?;
        let hash = self.passwords.hash(password).await?;
        self.revoke_with(user, Revoking::Password(hash)).await
    }

    /// Ends every token the user holds.
    pub async fn set_user_status(&self, user: UserId, status: UserStatus) -> Result<()> {
        self.revoke_with(user, Revoking::Status(status)).await
    }

    /// From now on the user needs no authenticator.
    pub async fn reset_second_factor(&self, user: UserId) -> Result<()> {
        self.write(None, move |transaction, _| {
            Box::pin(async move { sign_in::set_totp(transaction, user, (None, false, 0)).await })
        })
        .await
    }

    async fn revoke_with(&self, user: UserId, change: Revoking) -> Result<()> {
        let now = self.clock.now();
        self.write(None, move |transaction, _| {
            let change = change.clone();
            Box::pin(async move { user::revoke_with(transaction, user, change, now).await })
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
                let before = match membership::Entity::find_by_id((business, user)).one(transaction).await? {
                    Some(member) => access::seat_of(transaction, business, member.permission_id).await?,
                    None => None,
                };
                let row =
                    membership::ActiveModel { business_id: Set(business), user_id: Set(user), permission_id: Set(set) };
                let member = |role: String| serde_json::json!({"member": {"userId": user, "role": role}}).to_string();
                let change = Change {
                    action: AuditAction::Updated,
                    resource: ResourceKey::Businesses,
                    id: RecordId(business.0),
                    version_from: None,
                    version_to: None,
                    before: before.map(|before| member(before.role)),
                    after: Some(member(role.to_string())),
                };
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
    user: UserId,
    key: Option<Arc<KeyScope>>,
    /// Whether the answer may hold a secret, which is shown once and never kept.
    shows_secrets: bool,
    business: Option<Arc<Business>>,
    expectation: Expectation,
    origin: Origin,
    id: Option<RecordId>,
    prepared: Arc<dyn Prepared>,
    claim: Option<Claim>,
    dry_run: bool,
}

impl Write {
    async fn run(&self, transaction: &crate::database::Session, desk: &Desk) -> Result<Reply> {
        let asked = Asked {
            user: self.user,
            key: self.key.as_deref(),
            business: self.business.as_deref(),
            clock: &self.ledger.clock,
            expectation: &self.expectation,
            origin: &self.origin,
            point: Point::default(),
            seals: &self.ledger.seals,
        };
        let cx = Cx::writing(asked, transaction, desk);
        if let Some(claim) = &self.claim
            && let Some(reply) = idempotency::recall(transaction, claim, cx.now).await?
        {
            return Ok(reply);
        }
        if self.dry_run {
            desk.rehearse();
        }
        let reply = match self.prepared.run(&cx, self.id).await? {
            Done::Record(shown) => Reply::of(self.kind, shown),
            Done::Deleted(id) => Reply::deleted(id),
        };
        if let Some(claim) = &self.claim {
            let kept = if self.shows_secrets { reply.without_secrets()? } else { reply.clone() };
            desk.keep_key(idempotency::kept(claim, &kept, cx.now)?);
        }
        if self.dry_run {
            return self.rehearsed(&cx, reply, desk.rehearsed()).await;
        }
        Ok(reply)
    }

    /// The answer of a rehearsal: what would be answered, and the journal lines that would be made.
    async fn rehearsed(&self, cx: &Cx<'_>, reply: Reply, lines: Vec<Rehearsed>) -> Result<Reply> {
        if self.business.is_none() {
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

/// What was asked, in no dialect's words: the same for both dialects and for any order of a body's members.
fn command(
    resource: &ResourceOperations,
    verb: Verb,
    company: Option<BusinessId>,
    record: Option<String>,
    body: &[u8],
) -> Result<String> {
    let body = if resource.body_need(verb) != BodyNeed::None && !body.is_empty() {
        canonical(&strict(std::str::from_utf8(body).map_err(Error::internal)?)?.0)
    } else {
        String::new()
    };
    Ok(format!(
        "{}\n{}\n{}\n{}\n{body}",
        resource.operation_id(verb),
        company.map(|id| id.to_string()).unwrap_or_default(),
        record.unwrap_or_default(),
        resource.key.stem(),
    ))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}
