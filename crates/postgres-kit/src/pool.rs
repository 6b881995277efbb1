//! Connections that are lent for one statement or one transaction.

use crate::fault::Fault;
use crate::flight::{Answers, Leg};
use crate::health::Health;
use crate::link::{Begin, Committed, Link};
use crate::target::Target;
use answers::Answer;
use sea_orm::{ConnectionTrait, DbBackend, DbErr, ExecResult, ProxyExecResult, QueryResult, Statement};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// The server gives a statement up by itself; we wait so much longer to hear it.
const LONGER: Duration = Duration::from_secs(2);

#[derive(Clone)]
pub struct Pool(Arc<Inner>);

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").field("places", &self.0.places.available_permits()).finish_non_exhaustive()
    }
}

struct Inner {
    target: Target,
    /// How many connections there are at most.
    most: usize,
    /// How long each answer is waited for.
    longest: Duration,
    health: Arc<Health>,
    places: Arc<Semaphore>,
    /// Each with its generation.
    idle: Mutex<Vec<(Link, u64)>>,
}

impl Inner {
    fn idle(&self) -> MutexGuard<'_, Vec<(Link, u64)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a connection back. When it was dropped in the middle of something, that is ended inside the server first.
    fn take_back(self: Arc<Self>, (link, met): (Link, u64), place: OwnedSemaphorePermit) {
        if link.is_clean() {
            self.idle().push((link, met));
            return;
        }
        if link.is_spent().is_some() {
            self.health.suspect();
            return;
        }
        let patience = self.target.patience.connect;
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            if timeout(patience, link.recover()).await.unwrap_or(false) {
                self.idle().push((link, met));
            } else {
                self.health.suspect();
            }
            drop(place);
        });
    }
}

impl Pool {
    pub(crate) fn reading(target: Target, health: Arc<Health>, most: usize) -> Self {
        let longest = target.patience.statement + LONGER;
        Self::of(target, longest, health, most)
    }

    pub(crate) fn writing(target: &Target, health: Arc<Health>, most: usize) -> Self {
        Self::of(target.of_writer(), target.patience.writer, health, most)
    }

    fn of(target: Target, longest: Duration, health: Arc<Health>, most: usize) -> Self {
        let most = most.max(1);
        let places = Arc::new(Semaphore::new(most));
        Self(Arc::new(Inner { target, most, longest, health, places, idle: Mutex::default() }))
    }

    /// How many connections there are at most.
    pub fn most(&self) -> usize {
        self.0.most
    }

    /// How many of them are lent just now.
    pub fn lent(&self) -> usize {
        self.0.most.saturating_sub(self.0.places.available_permits())
    }

    /// A connection of the caller's own until it is dropped.
    pub async fn lease(&self) -> Result<Lease, Fault> {
        let inner = self.0.clone();
        inner.health.check()?;
        let patience = inner.target.patience.connect;
        let place = inner.health.while_here(async {
            match timeout(patience, inner.places.clone().acquire_owned()).await {
                Ok(Ok(place)) => Ok(place),
                Ok(Err(_)) => Err(Fault::away("the connections to the database are closed")),
                Err(_) => Err(Fault::busy()),
            }
        });
        let place = place.await?;
        let link = loop {
            let (idle, met) = (inner.idle().pop(), inner.health.generation());
            match idle {
                Some((link, then)) if then != met || link.is_spent().is_some() => {}
                Some(idle) => break idle,
                None => {
                    // To connect takes a lot of room, and hardly ever happens: nobody who asks holds it.
                    let opened = Box::pin(inner.health.while_here(Link::open(&inner.target, inner.longest))).await;
                    break (opened.inspect_err(|_| inner.health.suspect())?, met);
                }
            }
        };
        Ok(Lease { pool: inner, held: Some((link, place)) })
    }

    /// A transaction that sees the books as they are when it is asked first, whatever is written meanwhile.
    pub async fn snapshot(&self) -> Result<Lease, Fault> {
        let lease = self.lease().await?;
        if let Some(((link, _), _)) = &lease.held {
            link.begin_with_the_next(Begin::Snapshot);
        }
        Ok(lease)
    }

    /// A transaction that writes. An error at once where it could not come to its end.
    pub async fn begin(&self) -> Result<Lease, Fault> {
        self.begin_asking("", Vec::new()).await.map(|(lease, _)| lease)
    }

    /// The same, and what stands first in it and what is asked first are sent along. The inner result is that of what is
    /// asked.
    pub async fn begin_asking(&self, first: &str, asked: Vec<Leg>) -> Result<(Lease, Result<Answers, Fault>), Fault> {
        self.0.health.check_writable()?;
        let lease = self.lease().await?;
        let patience = self.0.target.patience.connect;
        let answers = lease.run(|link| link.begin_asking(patience, first, asked)).await?;
        if let (Err(fault), Some(((link, _), _))) = (&answers, &lease.held) {
            lease.note(link, Some(fault));
        }
        Ok((lease, answers))
    }

    /// Lets every connection go; those that are lent are ended when they come back.
    pub(crate) async fn close(&self) {
        self.0.places.close();
        let idle = std::mem::take(&mut *self.0.idle());
        for (link, _) in idle {
            link.close().await;
        }
    }
}

/// A connection that is lent.
pub struct Lease {
    pool: Arc<Inner>,
    held: Option<((Link, u64), OwnedSemaphorePermit)>,
}

impl Lease {
    /// What is asked of it, as long as the database is there.
    async fn run<'l, T, F>(&'l self, work: impl FnOnce(&'l Link) -> F) -> Result<T, Fault>
    where
        F: Future<Output = Result<T, Fault>> + 'l,
    {
        let Some(((link, _), _)) = &self.held else { return Err(Fault::ours("a connection was asked after its end")) };
        let done = self.pool.health.while_here(work(link)).await;
        self.note(link, done.as_ref().err());
        done
    }

    /// What an answer, or its want, says of the connection and of the database.
    fn note(&self, link: &Link, fault: Option<&Fault>) {
        let health = &self.pool.health;
        match fault.filter(|fault| fault.is_away()) {
            None => health.hear(),
            Some(fault) => {
                if fault.is_silent() {
                    health.distrust();
                }
                link.spend(fault.clone());
                health.suspect();
            }
        }
    }

    /// Ends a transaction that writes. A backend that commits is never asked to give up, nor given up on before its time:
    /// what it does may be in the books before it hears so.
    pub async fn commit(self) -> Committed {
        self.commit_with(Vec::new()).await
    }

    /// The same, and what is written last is sent along.
    pub async fn commit_with(self, last: Vec<Leg>) -> Committed {
        let Some(((link, _), _)) = &self.held else {
            return Committed::Refused(Fault::ours("a connection was asked after its end"));
        };
        let waited_for = self.pool.health.committing();
        let committed = link.commit_with(last).await;
        drop(waited_for);
        match &committed {
            Committed::Done => self.note(link, None),
            // The server may still be inside of what it refused; that is rolled back before anybody else has it.
            Committed::Refused(fault) => self.note(link, Some(fault)),
            Committed::Unknown(fault) => {
                link.spend(fault.clone());
                self.note(link, Some(fault));
            }
        }
        committed
    }

    /// Takes back what was written, or ends a snapshot.
    pub async fn end(self) -> Result<(), Fault> {
        self.run(Link::rollback).await
    }
}

impl Lease {
    /// So many rows at most; what is beyond is not kept.
    pub async fn query_some(&self, asked: Statement, most: usize) -> Result<Answer, Fault> {
        self.run(|link| link.query_some(asked, most)).await
    }

    /// Sends all legs of a flight, in their order.
    pub async fn send(&self, legs: Vec<Leg>) -> Result<Answers, Fault> {
        self.run(|link| link.send(legs)).await
    }
}

impl Pool {
    /// So many rows at most, by whichever connection is free.
    pub async fn query_some(&self, asked: Statement, most: usize) -> Result<Answer, Fault> {
        self.lease().await?.query_some(asked, most).await
    }

    /// All legs of a flight, in their order, by whichever connection is free.
    pub async fn send(&self, legs: Vec<Leg>) -> Result<Answers, Fault> {
        self.lease().await?.send(legs).await
    }
}

impl std::fmt::Debug for Lease {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lease").field("held", &self.held.is_some()).finish_non_exhaustive()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some((link, place)) = self.held.take() {
            self.pool.clone().take_back(link, place);
        }
    }
}

#[async_trait::async_trait]
impl ConnectionTrait for Lease {
    fn get_database_backend(&self) -> DbBackend {
        DbBackend::Postgres
    }

    async fn execute_raw(&self, asked: Statement) -> Result<ExecResult, DbErr> {
        Ok(ProxyExecResult::new(0, self.run(|link| link.execute(asked)).await?).into())
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        let sql = sql.to_owned();
        Ok(ProxyExecResult::new(0, self.run(|link| link.batch(sql)).await?).into())
    }

    async fn query_one_raw(&self, asked: Statement) -> Result<Option<QueryResult>, DbErr> {
        self.run(|link| link.query(asked)).await?.into_result()
    }

    async fn query_all_raw(&self, asked: Statement) -> Result<Vec<QueryResult>, DbErr> {
        self.run(|link| link.query(asked)).await?.into_results()
    }
}

/// Each statement by whichever connection is free.
#[async_trait::async_trait]
impl ConnectionTrait for Pool {
    fn get_database_backend(&self) -> DbBackend {
        DbBackend::Postgres
    }

    async fn execute_raw(&self, asked: Statement) -> Result<ExecResult, DbErr> {
        self.lease().await?.execute_raw(asked).await
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        self.lease().await?.execute_unprepared(sql).await
    }

    async fn query_one_raw(&self, asked: Statement) -> Result<Option<QueryResult>, DbErr> {
        self.lease().await?.query_one_raw(asked).await
    }

    async fn query_all_raw(&self, asked: Statement) -> Result<Vec<QueryResult>, DbErr> {
        self.lease().await?.query_all_raw(asked).await
    }
}
