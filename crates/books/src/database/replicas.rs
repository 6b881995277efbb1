//! Standbys of the database, by which reads are answered that may be.
//!
//! Owns: which of them is asked next, and how old what they answer may be. Refuses: to know what is read, and whether what a
//! standby has is enough: who reads asks it for that.

use super::{Reads, postgres};
use postgres_kit::Patience;
use sea_orm::DbErr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Which standbys there are.
#[derive(Debug, Clone, Default)]
pub struct Following {
    /// Each by its URL.
    pub urls: Vec<String>,
    /// How old what they answer may be. Nothing where it may not be older than what the database would answer.
    pub oldest: Option<Duration>,
}

/// All standbys of a database.
#[derive(Debug, Clone, Default)]
pub struct Replicas {
    all: Arc<[Replica]>,
    next: Arc<AtomicUsize>,
    oldest: Option<Duration>,
}

/// One of them.
#[derive(Debug)]
pub struct Replica {
    place: postgres_kit::Replica,
    /// What is read of it.
    pub read: Reads,
}

/// How one of them stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplicaStanding {
    /// Whether reads are answered by it.
    pub is_used: bool,
    /// How far it is behind; nothing where that is not known.
    pub behind: Option<Duration>,
}

impl Replica {
    /// The host and the port.
    pub fn name(&self) -> &str {
        self.place.name()
    }

    /// Whether somebody waited for it in vain, and it has not come up since.
    pub fn is_late(&self) -> bool {
        self.place.is_late()
    }

    /// Somebody waited for it in vain.
    pub fn was_late(&self) {
        self.place.was_late();
    }
}

impl Replicas {
    pub(super) fn of(engine: &postgres::Engine, following: &Following, patience: Patience) -> Result<Self, DbErr> {
        let all = following.urls.iter().map(|url| {
            let place = engine.followed_by(url, patience, following.oldest)?;
            Ok(Replica { read: Reads::Postgres(postgres::Reads::of_replica(&place)), place })
        });
        let all: Result<Vec<Replica>, DbErr> = all.collect();
        Ok(Self { all: all?.into(), next: Arc::default(), oldest: following.oldest })
    }

    /// Those that may be asked now, each time another one first.
    pub fn in_turn(&self) -> impl Iterator<Item = &Replica> {
        let first = if self.all.len() > 1 { self.next.fetch_add(1, Ordering::Relaxed) % self.all.len() } else { 0 };
        let (before, from) = self.all.split_at(first);
        from.iter().chain(before).filter(|replica| replica.place.is_used())
    }

    /// Whether what one of them answers may be older than what the database would, as it stands.
    pub fn may_be_older(&self, replica: &Replica) -> bool {
        self.oldest.is_some_and(|oldest| replica.place.age().is_some_and(|age| age <= oldest))
    }

    /// How each stands, in the order in which they were named.
    pub fn standing(&self) -> Vec<ReplicaStanding> {
        let all = self.all.iter().map(|replica| &replica.place);
        all.map(|place| ReplicaStanding { is_used: place.is_used(), behind: place.behind() }).collect()
    }

    pub(super) async fn close(&self) {
        for replica in &*self.all {
            replica.place.close().await;
        }
    }
}
