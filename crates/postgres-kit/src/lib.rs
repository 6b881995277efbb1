//! PostgreSQL by a plain driver with deadlines, in the statements and rows that entities speak.
//!
//! Owns: where the server is and who may be at the other end, connections and when they end, what is sent and answered,
//! whether the database is there, and what the server's complaints are called. Refuses: to know what is asked, and to
//! guess at a type.
//!
//! - Whatever is asked is answered in time, or the connection is ended.
//! - Whoever stops waiting for a read ends it inside the server.
//! - A database that is away costs nobody a wait: one who looks knows it.

mod fault;
mod flight;
mod health;
mod hearing;
mod link;
mod pool;
mod prepared;
mod proxied;
pub mod replica;
mod target;
mod tls;
mod values;

pub use fault::Fault;
pub use flight::{Answers, Leg, Rows};
pub use health::{Health, Standing};
pub use hearing::hear;
pub use link::{Begin, Committed, Link};
pub use pool::{Lease, Pool};
pub use proxied::{Failure, proxied};
pub use replica::{Replica, replica_target};
pub use target::{Patience, Target, is_postgres, unverified_host};

use health::Role;
use std::sync::Arc;
use std::time::Duration;
use supervise::Kept;

/// A database, as all who use it share it.
#[derive(Clone)]
pub struct Server {
    target: Target,
    health: Arc<Health>,
    /// For what reads.
    pub reads: Pool,
    /// For what writes: long reads never take these.
    pub writes: Pool,
    /// For what lets requests in, which nothing else takes.
    pub door: Pool,
    /// Ends with the last who uses the database.
    looking: Arc<Kept>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("standing", &self.health.standing()).finish_non_exhaustive()
    }
}

impl Server {
    /// Connects once, so that a wrong address is told at once. An eighth of the connections let requests in, and half of
    /// the others write.
    pub async fn open(target: Target, pool_size: usize) -> Result<Self, Fault> {
        Self::open_as(Role::Database, target, pool_size).await
    }

    /// The same for who only reads, also where nobody may write.
    pub async fn open_to_read(target: Target, pool_size: usize) -> Result<Self, Fault> {
        Self::open_as(Role::Read, target.of_reader(), pool_size).await
    }

    async fn open_as(role: Role, target: Target, pool_size: usize) -> Result<Self, Fault> {
        let link = Link::open(&target, target.patience.connect).await?;
        for setting in off(&link).await? {
            tracing::warn!(
                code = "not_kept",
                setting,
                "PostgreSQL may lose what it acknowledged when its machine ends: switch it on"
            );
        }
        link.close().await;
        let health = Health::of(role);
        let (looked, place) = (health.clone(), target.clone());
        let looking = Arc::new(supervise::keep("the look at the database", move || looked.clone().keep(place.clone())));
        let at_door = (pool_size / 8).max(1);
        let writing = (pool_size.saturating_sub(at_door) / 2).max(1);
        let reading = pool_size.saturating_sub(at_door + writing).max(1);
        Ok(Self {
            reads: Pool::reading(target.clone(), health.clone(), reading),
            writes: Pool::writing(&target, health.clone(), writing),
            door: Pool::reading(target.clone(), health.clone(), at_door),
            target,
            health,
            looking,
        })
    }

    /// A standby of it, which is asked by as many at once as the database is; what it answers may be so old, where that was
    /// said.
    pub fn followed_by(&self, replica: Target, oldest: Option<Duration>) -> Replica {
        Replica::follow(self.target.clone(), replica, self.reads.most(), oldest)
    }

    pub fn health(&self) -> &Health {
        &self.health
    }

    /// Where the database is.
    pub fn target(&self) -> &Target {
        &self.target
    }

    pub async fn close(&self) {
        self.looking.end();
        self.reads.close().await;
        self.writes.close().await;
        self.door.close().await;
    }
}

/// What is switched off of that without which nothing acknowledged is safe.
async fn off(link: &Link) -> Result<Vec<String>, Fault> {
    let asked =
        "SELECT name FROM pg_settings WHERE name IN ('fsync', 'full_page_writes') AND setting = 'off' ORDER BY name";
    let answer = link.query(sea_orm::Statement::from_string(sea_orm::DbBackend::Postgres, asked)).await?;
    answer.column().map_err(|error| Fault::ours(error.to_string()))
}
