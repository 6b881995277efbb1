//! Whether the database is there, kept by one who looks, so that nobody has to wait to find out.

use crate::fault::Fault;
use crate::link::Link;
use crate::replica::Followed;
use crate::target::Target;
use sea_orm::{DbBackend, Statement};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, timeout};

/// How often a database that is there is looked at.
const LOOK: Duration = Duration::from_secs(1);
/// So long at least lies between two looks, however many call for one.
const BREATH: Duration = Duration::from_millis(50);
/// How long somebody who asks how it stands waits for a word of it. Silence is an answer then.
const WORD: Duration = Duration::from_millis(800);
/// How long it may take to answer somebody who only looks.
const GLANCE: Duration = Duration::from_secs(2);
/// How long is waited before a database that is away is looked at again: at first, and at most.
const AGAIN: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));
/// How long a commit may take before the database counts as one that does not take writes.
const SLOW_COMMIT: Duration = Duration::from_secs(2);

/// What is known of the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    Here,
    Away,
    /// It answers, and says that commits wait for a standby.
    CommitsWait,
    /// It answers, but a commit does not come to its end, and no standby is to blame.
    CommitsHang,
}

impl Standing {
    /// Why it cannot serve, where it cannot: for everybody to read.
    pub fn told(&self) -> Result<(), &'static str> {
        match self {
            Self::Here => Ok(()),
            Self::Away => Err("the database does not answer"),
            Self::CommitsWait => Err("commits wait for a standby of the database"),
            Self::CommitsHang => Err("the database does not bring commits to their end"),
        }
    }
}

/// What is looked at.
pub(crate) enum Role {
    /// The database itself.
    Database,
    /// The database itself, for who only reads it: it may be closed to writers.
    Read,
    /// A standby of it, which only answers reads.
    Replica(Arc<Followed>),
}

pub struct Health {
    role: Role,
    /// Why it is away, where it is.
    away: watch::Sender<Option<Arc<str>>>,
    look: Notify,
    /// How often connections that were open were given up.
    generation: AtomicU64,
    /// When somebody last had an answer.
    heard: watch::Sender<Instant>,
    /// Since when the one who looks waits for an answer; nothing where it has one.
    looking: Mutex<Option<Instant>>,
    commits: Mutex<Commits>,
}

#[derive(Default)]
struct Commits {
    count: u64,
    /// When those that are under way began.
    under_way: BTreeMap<u64, Instant>,
    /// Which of them wait for a standby, as the server itself said when it was last looked at, and since when each was seen so.
    waiting: BTreeMap<String, Instant>,
    /// Whether one of these was seen for so long.
    waits: bool,
}

/// A commit under way.
pub(crate) struct Committing<'h> {
    health: &'h Health,
    number: u64,
}

impl Drop for Committing<'_> {
    fn drop(&mut self) {
        self.health.commits().under_way.remove(&self.number);
    }
}

/// One who looks, until there is an answer or nobody waits for it.
struct Looking<'h>(&'h Health);

impl Drop for Looking<'_> {
    fn drop(&mut self) {
        *self.0.looking.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Health {
    pub(crate) fn of(role: Role) -> Arc<Self> {
        Arc::new(Self {
            role,
            away: watch::Sender::new(None),
            look: Notify::new(),
            generation: AtomicU64::new(0),
            heard: watch::Sender::new(Instant::now()),
            looking: Mutex::default(),
            commits: Mutex::default(),
        })
    }

    fn commits(&self) -> MutexGuard<'_, Commits> {
        self.commits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known, without asking anybody.
    pub fn standing(&self) -> Standing {
        if self.away.borrow().is_some() {
            return Standing::Away;
        }
        let slow = |since: &Instant| since.elapsed() >= SLOW_COMMIT;
        let commits = self.commits();
        // Only the server itself knows what a commit waits for. Who has had no word of it since cannot tell.
        if commits.waits {
            return Standing::CommitsWait;
        }
        match commits.under_way.values().min() {
            Some(eldest) if slow(eldest) && self.waits_for_a_glance() => Standing::Away,
            Some(eldest) if slow(eldest) => Standing::CommitsHang,
            _ => Standing::Here,
        }
    }

    /// How it stands now, and not when somebody last looked: there is a word of it that came after this was asked, or it
    /// counts as away.
    pub async fn asked(&self) -> Standing {
        let begun = Instant::now();
        let (mut heard, mut away) = (self.heard.subscribe(), self.away.subscribe());
        self.look.notify_one();
        tokio::select! {
            _told = away.wait_for(Option::is_some) => self.standing(),
            _word = heard.wait_for(|heard| *heard > begun) => self.standing(),
            () = sleep(WORD) => Standing::Away,
        }
    }

    /// Whether the one who looks has waited for so long that it may be for nothing.
    fn waits_for_a_glance(&self) -> bool {
        let looking = *self.looking.lock().unwrap_or_else(PoisonError::into_inner);
        looking.is_some_and(|since| since.elapsed() >= LOOK)
    }

    /// An error at once where the database is away.
    pub fn check(&self) -> Result<(), Fault> {
        match &*self.away.borrow() {
            Some(why) => Err(Fault::away(why.as_ref())),
            None => Ok(()),
        }
    }

    /// An error at once where no write can come to its end.
    pub fn check_writable(&self) -> Result<(), Fault> {
        self.check()?;
        if self.commits().waits {
            return Err(Fault::away("commits wait for a standby of the database"));
        }
        Ok(())
    }

    /// Connections of an older generation may be silent for ever.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// One connection went silent: those that were open at the time may have gone the same way.
    pub(crate) fn distrust(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
    }

    /// Somebody had an answer.
    pub(crate) fn hear(&self) {
        self.heard.send_replace(Instant::now());
    }

    fn heard_since(&self, then: Instant) -> bool {
        *self.heard.borrow() > then
    }

    /// Does something as long as the database is there.
    pub(crate) async fn while_here<T>(&self, work: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
        let mut away = self.away.subscribe();
        tokio::select! {
            biased;
            done = work => done,
            gone = away.wait_for(Option::is_some) => {
                let why = gone.ok().and_then(|gone| gone.clone()).unwrap_or_else(|| "it went away".into());
                Err(Fault::away(why.as_ref()))
            }
        }
    }

    /// Somebody lost a connection; it may be the only one.
    pub(crate) fn suspect(&self) {
        self.look.notify_one();
    }

    /// Nobody comes through to it.
    pub(crate) fn is_away(&self, why: &Fault) {
        let told = self.away.send_if_modified(|away| {
            let first = away.is_none();
            *away = Some(why.to_string().into());
            first
        });
        if told {
            self.distrust();
            match &self.role {
                Role::Database | Role::Read => {
                    tracing::error!(code = "database_away", cause = %why, "the database is away; requests are answered 503");
                }
                Role::Replica(followed) => followed.is_away(why),
            }
        }
    }

    fn is_here(&self, waiting: &str) {
        let mut commits = self.commits();
        let (before, now) = (std::mem::take(&mut commits.waiting), Instant::now());
        let since = |one: &str| (one.to_owned(), before.get(one).copied().unwrap_or(now));
        commits.waiting = waiting.split_whitespace().map(since).collect();
        commits.waits = commits.waiting.values().any(|since| now.duration_since(*since) >= SLOW_COMMIT);
        drop(commits);
        let told = self.away.send_if_modified(|away| away.take().is_some());
        if told {
            match &self.role {
                Role::Database | Role::Read => tracing::warn!(code = "database_back", "the database is back"),
                Role::Replica(followed) => followed.is_back(),
            }
        }
    }

    /// A commit begins; it ends when what is answered is dropped.
    pub(crate) fn committing(&self) -> Committing<'_> {
        let mut commits = self.commits();
        commits.count += 1;
        let number = commits.count;
        commits.under_way.insert(number, Instant::now());
        Committing { health: self, number }
    }

    fn looks(&self, begun: Instant) -> Looking<'_> {
        *self.looking.lock().unwrap_or_else(PoisonError::into_inner) = Some(begun);
        Looking(self)
    }

    /// Looks at the database until it is told to stop.
    pub(crate) async fn keep(self: Arc<Self>, target: Target) {
        let mut link = None;
        let mut pause = AGAIN.0;
        loop {
            let begun = Instant::now();
            let looked = {
                let _looking = self.looks(begun);
                look(&mut link, (&target, &self.role)).await
            };
            match looked {
                Ok(waiting) => {
                    self.is_here(&waiting);
                    self.hear();
                    pause = AGAIN.0;
                    sleep(BREATH).await;
                    let _called = timeout(LOOK, self.look.notified()).await;
                }
                // It is busy, or takes no more connections; others have their answers.
                Err(fault) if !fault.is_told() && self.heard_since(begun) => sleep(LOOK).await,
                Err(fault) => {
                    self.is_away(&fault);
                    sleep(pause).await;
                    pause = (pause * 2).min(AGAIN.1);
                }
            }
        }
    }
}

/// What is asked of a database to know that it serves: whether it takes writes, and which transactions of ours wait for a
/// standby. That some do says nothing: where many write, one always does, each for a moment. Nor does it say anything when
/// the statement began that commits.
const GLANCED: &str = "SELECT current_setting('transaction_read_only') = 'on' AS reads_only, COALESCE((SELECT \
                       string_agg(COALESCE(CAST(backend_xid AS text), 'process-' || pid), ' ') FROM pg_stat_activity \
                       WHERE datname = current_database() AND wait_event_type = 'IPC' AND wait_event = 'SyncRep'), '') \
                       AS waiting";

/// Which commits wait for a standby. A connection that fails may be alone in that, so another one is asked.
async fn look(link: &mut Option<Link>, (target, role): (&Target, &Role)) -> Result<String, Fault> {
    if let Some(known) = link.take()
        && let Ok(waiting) = glance(&known, role).await
    {
        *link = Some(known);
        return Ok(waiting);
    }
    let fresh = async {
        let fresh = Link::open(target, GLANCE).await?;
        let waiting = glance(&fresh, role).await?;
        Ok((fresh, waiting))
    };
    let fresh = timeout(GLANCE.min(target.patience.connect) * u32::try_from(target.hosts.len()).unwrap_or(1), fresh);
    let (fresh, waiting) = fresh.await.unwrap_or_else(|_| Err(Fault::silent("the database does not answer")))?;
    *link = Some(fresh);
    Ok(waiting)
}

answers::of_row! {
    struct Glanced {
        reads_only: bool,
        waiting: String,
    }
}

async fn glance(link: &Link, role: &Role) -> Result<String, Fault> {
    if let Role::Replica(followed) = role {
        return followed.glance(link).await.map(|()| String::new());
    }
    let answer = link.query(Statement::from_string(DbBackend::Postgres, GLANCED)).await?;
    let found: Vec<Glanced> = answer.read().map_err(|error| Fault::ours(error.to_string()))?;
    let glanced = found.into_iter().next().ok_or_else(|| Fault::ours("the database answered nothing"))?;
    if glanced.reads_only && matches!(role, Role::Database) {
        return Err(Fault::away("the database takes no writes: it is a standby, or is set to read only"));
    }
    Ok(glanced.waiting)
}
