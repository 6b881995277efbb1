//! One connection, and what may be known of it.
//!
//! - Every answer has a deadline. A connection that missed one is never asked again.
//! - What asks may be dropped at any time. What it asked stays with the connection, which knows that an answer is still
//!   to come and is not handed on before it came.
//! - COMMIT is told apart: it happened, it did not, or nobody can know.

use crate::fault::Fault;
use crate::flight::{Answers, Leg};
use crate::prepared::Prepared;
use crate::target::Target;
use crate::values::{Bound, Many, add, answer};
use answers::Answer;
use futures_util::StreamExt;
use futures_util::future::join;
use sea_orm::{ConnectionTrait, DbBackend, DbErr, ExecResult, ProxyExecResult, QueryResult, Statement as Asked};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, ready};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::types::Type;
use tokio_postgres::{AsyncMessage, Client, Config, SimpleQueryMessage, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

/// What a statement came to.
pub(crate) enum Outcome {
    Rows(Answer),
    Count(u64),
    /// What the legs of a flight were answered.
    Flight(Answers),
    /// What went before was done, and what followed failed.
    Failed(Fault),
    Done,
}

pub(crate) type Answering = Pin<Box<dyn Future<Output = Result<Outcome, Fault>> + Send>>;

/// What COMMIT came to.
#[derive(Debug)]
pub enum Committed {
    /// It is in the books.
    Done,
    /// It is not, and never will be.
    Refused(Fault),
    /// Nobody can know before the books are asked again.
    Unknown(Fault),
}

/// What is acknowledged is on the disk of the server, whatever its configuration or the URL says. More than that stays as
/// it is asked for.
const KEPT: &str =
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'";

/// How a transaction begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begin {
    /// It writes.
    Writing,
    /// It sees the books as they are now, whatever is written meanwhile.
    Snapshot,
}

impl Begin {
    const fn text(self) -> &'static str {
        match self {
            Self::Writing => "BEGIN",
            Self::Snapshot => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        }
    }
}

pub struct Link {
    inner: Arc<Inner>,
    /// The connection itself; ended with the link, and the socket with it.
    driver: Driver,
    tls: MakeRustlsConnect,
    patience: Duration,
    /// One statement at a time.
    turn: tokio::sync::Mutex<()>,
    /// What was asked and not answered yet.
    under_way: Mutex<Option<Answering>>,
    /// Whether a transaction was begun and not ended.
    within: AtomicBool,
    /// Why it is of no more use.
    spent: Mutex<Option<Fault>>,
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").field("spent", &self.is_spent()).finish_non_exhaustive()
    }
}

pub(crate) struct Inner {
    client: Client,
    prepared: Mutex<Prepared>,
    /// What the server warned of last.
    warning: Mutex<Option<String>>,
    /// What is said before the next statement, in the same flight.
    owed: Mutex<Option<Begin>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Link {
    /// Connects to the first host that answers and is as it should be. `patience` is for every answer.
    pub async fn open(target: &Target, patience: Duration) -> Result<Self, Fault> {
        let mut last = Fault::ours("the database URL names no host");
        for host in &target.hosts {
            match timeout(target.patience.connect, Self::open_one(host, target, patience)).await {
                Ok(Ok(link)) => return Ok(link),
                Ok(Err(fault)) => last = fault,
                Err(_) => last = Fault::silent("the database does not take connections"),
            }
        }
        Err(last)
    }

    async fn open_one(host: &Config, target: &Target, patience: Duration) -> Result<Self, Fault> {
        let (client, mut connection) = host.connect(target.tls.clone()).await?;
        let inner =
            Arc::new(Inner { client, prepared: Mutex::default(), warning: Mutex::new(None), owed: Mutex::new(None) });
        // The driver must not keep the client alive: it ends when the last one who could ask is gone.
        let hearing = Arc::downgrade(&inner);
        // Should it break down, the client is closed with it, and all who wait for an answer hear so.
        let driver = Driver(supervise::once("a connection to the database", async move {
            while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
                match message {
                    Ok(AsyncMessage::Notice(notice)) => {
                        if let Some(inner) = hearing.upgrade() {
                            *lock(&inner.warning) = Some(format!("{} ({})", notice.message(), notice.code().code()));
                        }
                    }
                    Ok(_) => {}
                    Err(error) => {
                        tracing::debug!(error = %Fault::from(error), "a connection to the database ended");
                        return;
                    }
                }
            }
        }));
        let link = Self {
            inner,
            driver,
            tls: target.tls.clone(),
            patience,
            turn: tokio::sync::Mutex::default(),
            under_way: Mutex::new(None),
            within: AtomicBool::new(false),
            spent: Mutex::new(None),
        };
        link.batch(KEPT).await?;
        if target.no_standby && link.is_of_standby().await? {
            return Err(Fault::away("the database is a standby"));
        }
        Ok(link)
    }

    async fn is_of_standby(&self) -> Result<bool, Fault> {
        let asked = Asked::from_string(DbBackend::Postgres, "SELECT pg_is_in_recovery() AS standby");
        let answer = self.query(asked).await?.column::<bool>();
        Ok(answer.map_err(|error| Fault::ours(error.to_string()))?.first() == Some(&true))
    }

    // ── Statements ──

    pub async fn query(&self, asked: Asked) -> Result<Answer, Fault> {
        self.query_some(asked, usize::MAX).await
    }

    /// So many rows at most; what is beyond is not kept.
    pub async fn query_some(&self, asked: Asked, most: usize) -> Result<Answer, Fault> {
        let (sql, values) = taken(asked)?;
        tell(1, &sql);
        let inner = self.inner.clone();
        let outcome = self.ask(Box::pin(async move {
            let (statement, values) = inner.prepare(sql, values).await?;
            let (begun, rows) = join(inner.begins(), inner.read(&statement, &values, most)).await;
            // What was asked outside of what it was to be within is no answer.
            begun?;
            rows.map(Outcome::Rows)
        }));
        match outcome.await? {
            Outcome::Rows(rows) => Ok(rows),
            _ => Err(Fault::ours("a question was answered without rows")),
        }
    }

    pub async fn execute(&self, asked: Asked) -> Result<u64, Fault> {
        let (sql, values) = taken(asked)?;
        tell(1, &sql);
        let inner = self.inner.clone();
        let outcome = self.ask(Box::pin(async move {
            let (statement, values) = inner.prepare(sql, values).await?;
            inner.begins().await?;
            let count = inner.client.execute_raw(&statement, values).await;
            inner.unless_stale(count).map(Outcome::Count)
        }));
        match outcome.await? {
            Outcome::Count(count) => Ok(count),
            _ => Err(Fault::ours("a statement was answered without a count")),
        }
    }

    /// Every statement of the text, one after the other.
    pub async fn batch(&self, sql: impl Into<String>) -> Result<u64, Fault> {
        let (sql, inner) = (sql.into(), self.inner.clone());
        tell(1, &sql);
        let asked = Box::pin(async move {
            inner.begins().await?;
            inner.plainly(&sql).await.map(Outcome::Count)
        });
        match self.ask(asked).await? {
            Outcome::Count(count) => Ok(count),
            _ => Ok(0),
        }
    }

    pub(crate) async fn ask(&self, asked: Answering) -> Result<Outcome, Fault> {
        let _turn = self.turn.lock().await;
        if let Some(fault) = &*lock(&self.spent) {
            return Err(fault.clone());
        }
        let answered = async {
            // Whoever asked before may be gone; the answer comes first all the same.
            if lock(&self.under_way).is_some() {
                let _nobody_waits = self.answer().await;
            }
            *lock(&self.under_way) = Some(asked);
            self.answer().await
        };
        let answered = timeout(self.patience, answered).await;
        let answered = answered.unwrap_or_else(|_| Err(Fault::silent("the database does not answer")));
        if let Err(fault) = &answered
            && fault.ends_connection()
        {
            self.spend(fault.clone());
        }
        answered
    }

    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.inner
    }

    /// The answer to what is under way.
    async fn answer(&self) -> Result<Outcome, Fault> {
        poll_fn(|context| {
            let mut under_way = lock(&self.under_way);
            let Some(asked) = under_way.as_mut() else {
                return Poll::Ready(Ok(Outcome::Done));
            };
            let answer = ready!(asked.as_mut().poll(context));
            *under_way = None;
            Poll::Ready(answer)
        })
        .await
    }

    // ── Transactions ──

    pub async fn begin(&self, how: Begin) -> Result<(), Fault> {
        self.within.store(true, Ordering::Release);
        self.batch(how.text()).await.map(drop)
    }

    /// The same with whatever is asked next, in one flight.
    pub(crate) fn begin_with_the_next(&self, how: Begin) {
        self.within.store(true, Ordering::Release);
        *lock(&self.inner.owed) = Some(how);
    }

    /// Begins a transaction that writes, with what stands first in it, and asks what is asked first, all in one flight. The
    /// outer result is that of the beginning, for whose answer so long is waited; what is asked may wait for a lock.
    pub async fn begin_asking(
        &self,
        patience: Duration,
        first: &str,
        asked: Vec<Leg>,
    ) -> Result<Result<Answers, Fault>, Fault> {
        self.within.store(true, Ordering::Release);
        // Each by itself: a database that tells others of a setting tells them the whole text that it stands in.
        let texts = [Begin::Writing.text(), first].into_iter().filter(|text| !text.is_empty());
        self.send_behind(texts.map(str::to_owned).collect(), patience, asked).await
    }

    pub async fn rollback(&self) -> Result<(), Fault> {
        // What was never begun needs no end.
        if lock(&self.inner.owed).take().is_none() {
            self.batch("ROLLBACK").await?;
        }
        self.within.store(false, Ordering::Release);
        Ok(())
    }

    pub async fn commit(&self) -> Committed {
        self.commit_with(Vec::new()).await
    }

    /// Writes what is written last and commits, in one flight.
    pub async fn commit_with(&self, last: Vec<Leg>) -> Committed {
        if let Some(fault) = self.is_spent() {
            return Committed::Refused(fault);
        }
        *lock(&self.inner.warning) = None;
        // COMMIT of a transaction that failed answers like any other and takes everything back. What stands before it
        // objects to such a transaction, and then COMMIT is not come to; and it does what was put off to the end.
        let (unheard, is_sent) = (Unheard(self), Arc::new(AtomicBool::new(false)));
        let answered = self.send_before(last, "SET CONSTRAINTS ALL IMMEDIATE; COMMIT", is_sent.clone()).await;
        std::mem::forget(unheard);
        let warning = lock(&self.inner.warning).take();
        match (answered, warning) {
            (Ok(()), None) => {
                self.within.store(false, Ordering::Release);
                Committed::Done
            }
            // Its log did not reach who it was to reach.
            (Ok(()), Some(warning)) => {
                let fault = Fault::lost(format!("the database warned of a commit: {warning}"));
                self.spend(fault.clone());
                Committed::Unknown(fault)
            }
            (Err(fault), _) if fault.is_away() && is_sent.load(Ordering::Acquire) => Committed::Unknown(fault),
            (Err(fault), _) => Committed::Refused(fault),
        }
    }

    // ── What is known of it ──

    /// Why it can be asked nothing more, where that is so.
    pub fn is_spent(&self) -> Option<Fault> {
        let known = lock(&self.spent).clone();
        known.or_else(|| self.inner.client.is_closed().then(|| Fault::lost("the connection to the database ended")))
    }

    /// Ends the connection. Whatever is still to come of it, nobody hears.
    pub fn spend(&self, fault: Fault) {
        lock(&self.spent).get_or_insert(fault);
        self.driver.abort();
    }

    /// Whether it can be handed to somebody else as it is.
    pub(crate) fn is_clean(&self) -> bool {
        lock(&self.under_way).is_none() && !self.within.load(Ordering::Acquire) && self.is_spent().is_none()
    }

    /// Ends what nobody waits for any more, and answers whether the connection is as good as new. It is when the server
    /// itself said that it gave the statement up: a word to give up that comes late would meet somebody else's.
    pub(crate) async fn recover(&self) -> bool {
        if self.is_spent().is_some() {
            return false;
        }
        if lock(&self.under_way).is_some() {
            let told = self.inner.client.cancel_token().cancel_query(self.tls.clone()).await;
            if let Err(error) = told {
                tracing::debug!(error = %Fault::from(error), "a statement could not be given up");
                return false;
            }
            match self.answer().await {
                Err(fault) if fault.is_cancelled() => {}
                _ => return false,
            }
        }
        self.rollback().await.is_ok()
    }

    /// Takes leave as the server likes it, where that takes no time.
    pub async fn close(self) {
        let Self { inner, driver, under_way, patience, .. } = self;
        drop(under_way);
        drop(inner);
        driver.ended(patience.min(Duration::from_secs(1))).await;
    }
}

/// A commit that nobody waits for to its end is never asked to give up; its connection is ended.
struct Unheard<'l>(&'l Link);

impl Drop for Unheard<'_> {
    fn drop(&mut self) {
        self.0.spend(Fault::lost("nobody heard what became of a commit"));
    }
}

/// The task that moves what is asked and answered; the socket is closed with it.
struct Driver(JoinHandle<()>);

impl Driver {
    fn abort(&self) {
        self.0.abort();
    }

    async fn ended(mut self, patience: Duration) {
        let _ended = timeout(patience, &mut self.0).await;
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Inner {
    /// The statement as the server knows it, and what it is given.
    pub(crate) async fn prepare(&self, sql: String, values: Vec<Bound>) -> Result<(Statement, Vec<Bound>), Fault> {
        let statement = self.prepared(sql, values.iter().map(Bound::kind).collect()).await?;
        Ok((statement, values))
    }

    /// The statement as the server knows it, for values of these types.
    pub(crate) async fn prepared(&self, sql: String, kinds: Vec<Type>) -> Result<Statement, Fault> {
        let key = (sql, kinds);
        if let Some(known) = lock(&self.prepared).find(&key) {
            return Ok(known);
        }
        let statement = self.client.prepare_typed(&key.0, &key.1).await?;
        let (wanted, given) = (statement.params().len(), key.1.len());
        if wanted != given {
            return Err(Fault::ours(format!("a statement wants {wanted} values and was given {given}")));
        }
        lock(&self.prepared).keep(key, statement.clone());
        Ok(statement)
    }

    /// What a question is answered: so many rows at most.
    pub(crate) async fn read(&self, statement: &Statement, values: &[Bound], most: usize) -> Result<Answer, Fault> {
        let rows = self.client.query_raw(statement, values).await;
        let mut rows = pin!(self.unless_stale(rows)?);
        let (mut found, mut count) = (answer(statement.columns()), 0);
        while count < most
            && let Some(row) = rows.next().await
        {
            add(&self.unless_stale(row)?, &mut found)?;
            count += 1;
        }
        Ok(found)
    }

    /// Does all that a text says. How many rows that was about is answered.
    pub(crate) async fn plainly(&self, text: &str) -> Result<u64, Fault> {
        let count = |message: &SimpleQueryMessage| match message {
            SimpleQueryMessage::CommandComplete(count) => *count,
            _ => 0,
        };
        Ok(self.client.simple_query(text).await?.iter().map(count).sum())
    }

    /// Begins what was to be begun with the next statement. It is on its way as soon as this is asked for the first time.
    pub(crate) async fn begins(&self) -> Result<(), Fault> {
        let owed = lock(&self.owed).take();
        match owed {
            Some(how) => self.plainly(how.text()).await.map(drop),
            None => Ok(()),
        }
    }

    /// Has a statement take rows.
    pub(crate) async fn put(&self, statement: &Statement, columns: &[Many]) -> Result<u64, Fault> {
        self.unless_stale(self.client.execute_raw(statement, columns).await)
    }

    /// A schema that changed makes what was prepared before void.
    fn unless_stale<T>(&self, done: Result<T, tokio_postgres::Error>) -> Result<T, Fault> {
        let done = done.map_err(Fault::from);
        if let Err(fault) = &done
            && matches!(fault.code(), "0A000" | "26000")
        {
            lock(&self.prepared).forget();
        }
        done
    }
}

/// Says what is sent together, without its values, and waited for once: so it can be counted.
pub(crate) fn tell(statements: usize, sql: &str) {
    tracing::trace!(statements, sql, "a flight");
}

pub(crate) fn taken(asked: Asked) -> Result<(String, Vec<Bound>), Fault> {
    let values = asked.values.map(|values| values.0).unwrap_or_default();
    Ok((asked.sql, values.into_iter().map(Bound::of).collect::<Result<_, _>>()?))
}

#[async_trait::async_trait]
impl ConnectionTrait for Link {
    fn get_database_backend(&self) -> DbBackend {
        DbBackend::Postgres
    }

    async fn execute_raw(&self, asked: Asked) -> Result<ExecResult, DbErr> {
        Ok(ProxyExecResult::new(0, self.execute(asked).await?).into())
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        Ok(ProxyExecResult::new(0, self.batch(sql).await?).into())
    }

    async fn query_one_raw(&self, asked: Asked) -> Result<Option<QueryResult>, DbErr> {
        self.query(asked).await?.into_result()
    }

    async fn query_all_raw(&self, asked: Asked) -> Result<Vec<QueryResult>, DbErr> {
        self.query(asked).await?.into_results()
    }
}
