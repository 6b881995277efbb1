//! A standby that answers reads: whether it may be asked, and how far it is behind.
//!
//! Nobody's clock is trusted for that. It is asked now and then where the database stands, and then how far the standby has come:
//! it is behind since the first of those moments which it has not come up to. Owns: what is known of one standby, and that
//! the log says once that it is away or far behind, and once that it is back. Refuses: to know what is read.

use crate::Patience;
use crate::fault::Fault;
use crate::health::{Health, Role};
use crate::link::Link;
use crate::pool::Pool;
use crate::target::Target;
use sea_orm::{DbBackend, Statement};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use supervise::Kept;
use tokio::time::{Instant, timeout};

/// A standby that is farther behind is not asked, unless answers may be older than that.
const FAR: Duration = Duration::from_secs(10);
/// How long the database may take to say where it stands.
const GLANCE: Duration = Duration::from_secs(1);
/// As many moments as are kept which a standby has not come up to: the eldest is what counts.
const MOST_MOMENTS: usize = 64;

/// A standby, as all who read from it share it.
#[derive(Clone)]
pub struct Replica {
    /// For what reads.
    pub reads: Pool,
    followed: Arc<Followed>,
    health: Arc<Health>,
    /// Ends with the last who uses it.
    looking: Arc<Kept>,
}

impl std::fmt::Debug for Replica {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replica").field("name", &self.followed.name).finish_non_exhaustive()
    }
}

impl Replica {
    /// One that is looked at from now on, beside the database that it follows. Whether it is there need not be known.
    pub(crate) fn follow(database: Target, target: Target, most: usize, oldest: Option<Duration>) -> Self {
        let followed = Arc::new(Followed {
            name: target.name(),
            database,
            asking: tokio::sync::Mutex::default(),
            known: Mutex::default(),
            far: oldest.map_or(FAR, |oldest| oldest.max(FAR)),
            is_far: AtomicBool::new(false),
            is_late: AtomicBool::new(false),
        });
        let health = Health::of(Role::Replica(followed.clone()));
        let (looked, place) = (health.clone(), target.clone());
        let looking = Arc::new(supervise::keep("the look at a replica", move || looked.clone().keep(place.clone())));
        Self { reads: Pool::reading(target, health.clone(), most), followed, health, looking }
    }

    /// The host and the port.
    pub fn name(&self) -> &str {
        &self.followed.name
    }

    /// Whether it may be asked: it is there, was looked at, and is not far behind.
    pub fn is_used(&self) -> bool {
        let known = self.followed.known();
        let has_come = known.until.is_some() && known.behind().is_some_and(|behind| behind <= self.followed.far);
        drop(known);
        has_come && self.health.check().is_ok()
    }

    /// How far it is behind, as far as that is known: it may lack what was written since it was looked at.
    pub fn behind(&self) -> Option<Duration> {
        self.followed.known().behind()
    }

    /// How old at most what it answers is; nothing where it has not come up since it was looked at.
    pub fn age(&self) -> Option<Duration> {
        self.followed.known().until.map(|until| until.elapsed())
    }

    /// Somebody waited for it in vain: until it has come up, nobody else does.
    pub fn was_late(&self) {
        self.followed.is_late.store(true, Ordering::Release);
    }

    pub fn is_late(&self) -> bool {
        self.followed.is_late.load(Ordering::Acquire)
    }

    pub async fn close(&self) {
        self.looking.end();
        self.reads.close().await;
    }
}

/// Where a standby is, and what is known of how it follows.
pub(crate) struct Followed {
    name: String,
    database: Target,
    /// A connection to the database itself, which nothing else takes.
    asking: tokio::sync::Mutex<Option<Link>>,
    known: Mutex<Known>,
    far: Duration,
    /// Whether it was told that it is far behind.
    is_far: AtomicBool,
    is_late: AtomicBool,
}

#[derive(Default)]
struct Known {
    /// Where the database stood at these moments, which the standby has not come up to.
    ahead: VecDeque<(Instant, i64)>,
    /// All that was there at this moment is there as well.
    until: Option<Instant>,
    /// When it was first looked at.
    since: Option<Instant>,
}

impl Known {
    /// At a moment the database stood here, and the standby has come so far since.
    fn note(&mut self, (moment, there): (Instant, i64), come: i64) {
        // Of many moments the latest tell nothing that the eldest do not.
        if self.ahead.len() < MOST_MOMENTS {
            self.ahead.push_back((moment, there));
        }
        while let Some((moment, _)) = self.ahead.front().copied().filter(|(_, there)| *there <= come) {
            self.until = Some(moment);
            self.ahead.pop_front();
        }
        self.since.get_or_insert(moment);
    }

    /// Who never came up is behind since it was first looked at, and nobody knows how much longer.
    fn behind(&self) -> Option<Duration> {
        if self.ahead.is_empty() && self.until.is_some() {
            return Some(Duration::ZERO);
        }
        self.until.or(self.since).map(|since| since.elapsed())
    }
}

answers::of_row! {
    struct Place {
        standby: bool,
        system: i64,
        database: i64,
        timeline: i64,
        come: i64,
    }
}

/// Which server it is, or follows.
pub const SYSTEM: &str = "(SELECT system_identifier FROM pg_control_system())";
/// Which database of it: the same number on all standbys, and no other there has it.
pub const DATABASE: &str = "(SELECT oid::bigint FROM pg_database WHERE datname = current_database())";
/// Who was promoted writes on a new timeline, and so does what was restored to a moment: how far somebody else has come on another
/// one is no measure for it. A standby says of which one it is for certain; after a promotion not before its next restart point.
pub const TIMELINE: &str = "(CASE WHEN pg_is_in_recovery() THEN \
                            (SELECT GREATEST(r.min_recovery_end_timeline, c.timeline_id)::bigint \
                            FROM pg_control_recovery() AS r, pg_control_checkpoint() AS c) \
                            ELSE ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint END)";
/// How far it has written, or how far it has come to what another wrote.
pub const COME: &str = "COALESCE(pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() \
                        ELSE pg_current_wal_lsn() END, '0/0'), 0)::bigint";

async fn place(link: &Link) -> Result<Place, Fault> {
    let sql = format!(
        "SELECT pg_is_in_recovery() AS standby, {SYSTEM} AS system, {DATABASE} AS database, {TIMELINE} AS timeline, {COME} AS come"
    );
    let answer = link.query(Statement::from_string(DbBackend::Postgres, sql)).await?;
    let found: Vec<Place> = answer.read().map_err(|error| Fault::ours(error.to_string()))?;
    found.into_iter().next().ok_or_else(|| Fault::ours("the database answered nothing"))
}

impl Followed {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the database stands.
    async fn there(&self) -> Result<Place, Fault> {
        let mut asking = self.asking.lock().await;
        let link = match asking.take() {
            Some(link) => link,
            None => Link::open(&self.database, GLANCE).await?,
        };
        let there = place(&link).await?;
        *asking = Some(link);
        Ok(there)
    }

    /// Looks how far it has come, and whether it is what it is taken for.
    pub(crate) async fn glance(&self, link: &Link) -> Result<(), Fault> {
        let moment = Instant::now();
        // A database that says nothing is told of by whoever looks after it.
        let there = timeout(GLANCE, self.there()).await.unwrap_or_else(|_| Err(Fault::silent("no answer")));
        let come = place(link).await?;
        if !come.standby {
            return Err(Fault::away("it is no standby: it takes writes itself"));
        }
        let Ok(there) = there else { return Ok(()) };
        if (there.system, there.database) != (come.system, come.database) {
            return Err(Fault::away("it is no standby of this database"));
        }
        if there.timeline != come.timeline {
            let (own, other) = (there.timeline, come.timeline);
            return Err(Fault::away(format!(
                "the database writes on timeline {own}, and it is on timeline {other} still"
            )));
        }
        // The database goes on meanwhile. One that is still behind its standby went back to what it was before.
        if come.come > there.come
            && let Ok(Ok(again)) = timeout(GLANCE, self.there()).await
            && come.come > again.come
        {
            return Err(Fault::away("it has what the database has no more"));
        }
        self.note((moment, there.come), come.come);
        Ok(())
    }

    fn note(&self, there: (Instant, i64), come: i64) {
        let mut known = self.known();
        known.note(there, come);
        let behind = known.behind().unwrap_or_default();
        drop(known);
        if behind.is_zero() {
            self.is_late.store(false, Ordering::Release);
            if self.is_far.swap(false, Ordering::AcqRel) {
                tracing::warn!(code = "replica_back", replica = self.name, "the replica has come up with the database");
            }
        } else if behind > self.far && !self.is_far.swap(true, Ordering::AcqRel) {
            let seconds = behind.as_secs();
            tracing::warn!(
                code = "replica_behind",
                replica = self.name,
                seconds,
                "a replica is far behind; the database itself answers what it would"
            );
        }
    }

    pub(crate) fn is_away(&self, why: &Fault) {
        *self.known() = Known::default();
        self.is_far.store(false, Ordering::Release);
        tracing::warn!(
            code = "replica_away",
            replica = self.name,
            cause = %why,
            "a replica is away; the database itself answers what it would"
        );
    }

    pub(crate) fn is_back(&self) {
        tracing::warn!(code = "replica_back", replica = self.name, "the replica is back");
    }
}

/// Where a standby is, as its URL says.
pub fn replica_target(url: &str, patience: Patience) -> Result<Target, Fault> {
    let target = Target::of(url, patience)?;
    if target.hosts.len() > 1 {
        return Err(Fault::ours("the URL of a replica names several hosts: give each by itself"));
    }
    Ok(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_standby_is_behind_since_the_first_moment_that_it_lacks() {
        let (mut known, begun) = (Known::default(), Instant::now());
        let at = |seconds| begun + Duration::from_secs(seconds);
        known.note((at(0), 100), 100);
        assert_eq!((known.until, known.ahead.len()), (Some(at(0)), 0));
        // It stands still while the database goes on.
        for second in 1..1_000 {
            known.note((at(second), 100 + i64::try_from(second).unwrap()), 100);
        }
        assert_eq!((known.until, known.ahead.len()), (Some(at(0)), MOST_MOMENTS));
        known.note((at(1_000), 1_100), 130);
        assert_eq!(known.until, Some(at(30)));
        known.note((at(1_001), 1_101), 1_101);
        assert_eq!((known.ahead.len(), known.behind()), (0, Some(Duration::ZERO)));
        assert!(known.until > Some(at(30)));
        // One that was never up to date says nothing of how old its answers are.
        let mut strange = Known::default();
        strange.note((begun, 100), 1);
        tokio::time::advance(Duration::from_secs(7)).await;
        assert_eq!((strange.until, strange.behind()), (None, Some(Duration::from_secs(7))));
    }

    #[test]
    fn a_replica_is_one_host() {
        let patience = Patience { connect: GLANCE, statement: GLANCE, writer: GLANCE };
        assert_eq!(replica_target("postgres://u@one:5433/books", patience).unwrap().name(), "one:5433");
        let several = replica_target("postgres://u@one:5433,two/books", patience).unwrap_err().to_string();
        assert!(several.contains("each by itself"), "{several}");
    }
}
