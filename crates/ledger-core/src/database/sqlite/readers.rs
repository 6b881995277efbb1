//! Threads that read, each with a connection of its own that cannot write.
//!
//! A question costs one hop: its rows are made where they are read, and handed over as they are. A question that nobody
//! waits for any more ends inside the engine, and only that one. A snapshot holds a thread until it ends. Threads start
//! when they are needed and end when they have long had nothing to do.

use super::end_process;
use sea_orm::{ConnectionTrait, DbBackend, DbErr, ExecResult, ProxyExecResult, QueryResult, Statement};
use sqlite_kit::{Connection, Fault, Opening, Stop};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

/// How long a question waits for a free thread.
const PATIENCE: Duration = Duration::from_secs(10);
/// A thread that had nothing to do for so long ends.
const IDLE: Duration = Duration::from_mins(1);

type Job = Box<dyn FnOnce(&mut Reader) + Send>;

/// Where a snapshot's questions go; `None` ends it.
type Questions = mpsc::Sender<Option<Job>>;

#[derive(Debug)]
pub(super) struct Readers {
    name: &'static str,
    most: usize,
    opening: Opening,
    state: Mutex<State>,
    wake: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Job>,
    threads: usize,
    idle: usize,
    handles: Vec<JoinHandle<()>>,
    /// What runs now; all of it ends when the readers are closed.
    running: Vec<Stop>,
    /// The snapshots that are lent, to be called back when the readers are closed.
    lent: Vec<Arc<Lent>>,
    closed: bool,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} threads, {} idle, {} waiting", self.threads, self.idle, self.waiting.len())
    }
}

/// A snapshot that is lent.
#[derive(Debug)]
struct Lent {
    questions: Questions,
    since: Instant,
    /// What is asked of it right now.
    asked: Mutex<Option<Stop>>,
    /// Whether it was called back.
    over: AtomicBool,
}

impl Lent {
    fn asked(&self) -> MutexGuard<'_, Option<Stop>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends it, in the middle of what is asked.
    fn call_back(&self) {
        self.over.store(true, Ordering::Release);
        if let Some(stop) = self.asked().as_ref() {
            stop.now();
        }
        let _ended_by_itself = self.questions.send(None);
    }
}

/// What a thread reads with.
struct Reader {
    pool: Arc<Readers>,
    connection: Option<Connection>,
    /// The snapshot that it serves.
    lent: Option<Arc<Lent>>,
}

/// Questions outside a transaction.
#[derive(Debug, Clone)]
pub(crate) struct Reads {
    readers: Arc<Readers>,
    until: Option<Instant>,
}

/// A snapshot of the books. It ends when it is dropped.
#[derive(Debug)]
pub struct Snapshot {
    lent: Arc<Lent>,
    until: Option<Instant>,
}

impl Readers {
    pub(super) fn of(name: &'static str, most: usize, opening: Opening) -> Arc<Self> {
        Arc::new(Self { name, most, opening, state: Mutex::default(), wake: Condvar::new() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn submit(self: &Arc<Self>, job: Job) -> Result<(), Fault> {
        let mut state = self.state();
        if state.closed {
            return Err(Fault::ours("the database was closed"));
        }
        state.waiting.push_back(job);
        if state.idle < state.waiting.len() && state.threads < self.most {
            let pool = self.clone();
            let started = std::thread::Builder::new().name(self.name.into()).spawn(move || pool.work());
            match started {
                Ok(handle) => {
                    state.threads += 1;
                    state.handles.retain(|handle| !handle.is_finished());
                    state.handles.push(handle);
                }
                // The threads that there are will come to it.
                Err(error) if state.threads > 0 => tracing::warn!(%error, "no further thread to read with"),
                Err(error) => {
                    state.waiting.pop_back();
                    return Err(Fault::ours(format!("no thread to read with: {error}")));
                }
            }
        }
        drop(state);
        self.wake.notify_one();
        Ok(())
    }

    /// What a thread does until it ends.
    fn work(self: Arc<Self>) {
        struct Present(Arc<Readers>);
        impl Drop for Present {
            fn drop(&mut self) {
                self.0.state().threads -= 1;
            }
        }
        let _present = Present(self.clone());
        let mut reader = Reader { pool: self.clone(), connection: None, lent: None };
        while let Some(job) = self.next() {
            job(&mut reader);
        }
    }

    fn next(&self) -> Option<Job> {
        let mut state = self.state();
        loop {
            if let Some(job) = state.waiting.pop_front() {
                return Some(job);
            }
            if state.closed {
                return None;
            }
            state.idle += 1;
            let (woken, waited) = self.wake.wait_timeout(state, IDLE).unwrap_or_else(PoisonError::into_inner);
            state = woken;
            state.idle -= 1;
            if waited.timed_out() && state.waiting.is_empty() {
                return None;
            }
        }
    }

    /// Ends the snapshots that were begun so long ago; how many, is answered.
    pub(super) fn end_lent(&self, age: Duration) -> usize {
        let state = self.state();
        let old = state.lent.iter().filter(|lent| lent.since.elapsed() >= age && !lent.over.load(Ordering::Acquire));
        old.map(|lent| lent.call_back()).count()
    }

    /// Ends what runs, takes nothing more, and waits for the threads.
    pub(super) async fn close(&self) {
        let handles = {
            let mut state = self.state();
            state.closed = true;
            state.waiting.clear();
            state.running.iter().for_each(Stop::now);
            state.lent.drain(..).for_each(|lent| lent.call_back());
            std::mem::take(&mut state.handles)
        };
        self.wake.notify_all();
        let name = self.name;
        let ended = tokio::task::spawn_blocking(move || {
            for handle in handles {
                if handle.join().is_err() {
                    tracing::error!(name, "a thread that read ended badly");
                }
            }
        });
        let _all_ended = ended.await;
    }
}

impl Reader {
    /// Runs a question, until it is stopped.
    fn run<T>(&mut self, stop: &Stop, work: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T, Fault> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => Connection::open(&self.pool.opening)?,
        };
        {
            let mut state = self.pool.state();
            if state.closed {
                stop.now();
            }
            state.running.push(stop.clone());
        }
        if let Some(lent) = &self.lent {
            *lent.asked() = Some(stop.clone());
            if lent.over.load(Ordering::Acquire) {
                stop.now();
            }
        }
        let done = connection.until(stop, work);
        if let Some(lent) = &self.lent {
            *lent.asked() = None;
        }
        self.pool.state().running.retain(|running| !running.is(stop));
        match &done {
            Err(fault) if fault.is_failed_sync() => {
                end_process(&format!("the disk did not take what was written: {fault}"))
            }
            Err(fault) if fault.spoils_connection() => tracing::warn!(%fault, "a reading connection is closed"),
            _ => self.connection = Some(connection),
        }
        done
    }

    /// Serves a snapshot until that ends. One that does not begin is lent to nobody.
    fn lend(&mut self, stop: &Stop, until: Option<Instant>, begun: oneshot::Sender<Result<Snapshot, Fault>>) {
        // The first row that is read fixes what the snapshot sees.
        match self.run(stop, |connection| connection.batch("BEGIN; SELECT COUNT(*) FROM sqlite_master")) {
            Ok(()) => self.serve_snapshot(until, begun),
            Err(fault) => drop(begun.send(Err(fault))),
        }
        // Whatever could not be ended is let go with its connection.
        self.connection = self.connection.take().filter(|connection| {
            connection.is_autocommit() || connection.batch("ROLLBACK").is_ok() && connection.is_autocommit()
        });
    }

    fn serve_snapshot(&mut self, until: Option<Instant>, begun: oneshot::Sender<Result<Snapshot, Fault>>) {
        let (questions, asked) = mpsc::channel();
        let (since, over) = (Instant::now(), AtomicBool::new(false));
        let lent = Arc::new(Lent { questions, since, asked: Mutex::default(), over });
        let closed = {
            let mut state = self.pool.state();
            state.lent.push(lent.clone());
            state.closed
        };
        self.lent = Some(lent.clone());
        // Whether somebody takes it or nobody does: it says itself that it has ended when it is let go.
        let _nobody_waits = begun.send(Ok(Snapshot { lent: lent.clone(), until }));
        while !closed && let Ok(Some(job)) = asked.recv() {
            job(self);
        }
        self.lent = None;
        self.pool.state().lent.retain(|one| !Arc::ptr_eq(one, &lent));
    }
}

/// Stops a question when nobody waits for it any more.
struct Waiting(Stop);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.now();
    }
}

/// Hands a question over and waits for what it comes to.
async fn answered<T: Send + 'static>(
    until: Option<Instant>,
    submit: impl FnOnce(Job) -> Result<(), Fault>,
    work: impl FnOnce(&mut Reader, &Stop) -> Result<T, Fault> + Send + 'static,
) -> Result<T, DbErr> {
    let (answer, mut answered) = oneshot::channel();
    let waiting = Waiting(Stop::default());
    let (stop, begun) = (waiting.0.clone(), Arc::new(AtomicBool::new(false)));
    let begins = begun.clone();
    submit(Box::new(move |reader| {
        begins.store(true, Ordering::Release);
        let done = if stop.is_set() { Err(Fault::given_up()) } else { work(reader, &stop) };
        let _nobody_waits = answer.send(done);
    }))?;
    let end = Instant::now() + PATIENCE;
    let first = until.map_or(end, |until| until.min(end));
    let told = match timeout_at(first, &mut answered).await {
        Ok(told) => told,
        Err(_) if !begun.load(Ordering::Acquire) => return Err(Fault::given_up().into()),
        Err(_) => match until {
            Some(until) => timeout_at(until, answered).await.map_err(|_| Fault::given_up())?,
            None => answered.await,
        },
    };
    Ok(told.map_err(|_| Fault::ours("the database was closed"))??)
}

impl From<&Arc<Readers>> for Reads {
    fn from(readers: &Arc<Readers>) -> Self {
        Self { readers: readers.clone(), until: None }
    }
}

impl Reads {
    pub(crate) fn until(&self, end: Instant) -> Self {
        Self { readers: self.readers.clone(), until: Some(end) }
    }

    pub(crate) async fn snapshot(&self) -> Result<Snapshot, DbErr> {
        let (begun, told) = oneshot::channel();
        let (readers, until) = (self.readers.clone(), self.until);
        let lent = move |reader: &mut Reader, stop: &Stop| {
            reader.lend(stop, until, begun);
            Ok(())
        };
        let wait = answered(self.until, |job| readers.submit(job), lent);
        // The thread is busy with the snapshot until that ends; what begins it is told apart.
        tokio::select! {
            biased;
            begun = told => Ok(begun.map_err(|_| Fault::given_up())??),
            ended = wait => Err(ended.err().unwrap_or_else(|| Fault::ours("a snapshot ended before it began").into())),
        }
    }

    async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, DbErr> {
        answered(self.until, |job| self.readers.submit(job), move |reader, stop| reader.run(stop, work)).await
    }
}

impl Snapshot {
    async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, DbErr> {
        let submit = |job| self.lent.questions.send(Some(job)).map_err(|_| Fault::ours("the snapshot has ended"));
        let inside = |connection: &Connection| {
            if connection.is_autocommit() {
                return Err(Fault::ours("the snapshot has ended"));
            }
            work(connection)
        };
        let answer = answered(self.until, submit, move |reader, stop| reader.run(stop, inside)).await;
        if answer.is_err() && self.lent.over.load(Ordering::Acquire) {
            return Err(Fault::outgrown().into());
        }
        answer
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        let _ended_before = self.lent.questions.send(None);
    }
}

/// Both hand their statements over.
macro_rules! hands_over {
    ($type:ty) => {
        #[async_trait::async_trait]
        impl ConnectionTrait for $type {
            fn get_database_backend(&self) -> DbBackend {
                DbBackend::Sqlite
            }

            async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
                Ok(self.ask(move |connection| connection.execute(&statement)).await?.into())
            }

            async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
                let sql = sql.to_owned();
                self.ask(move |connection| connection.batch(&sql)).await?;
                Ok(ProxyExecResult::default().into())
            }

            async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
                Ok(self.ask(move |connection| connection.query_one(&statement)).await?.map(QueryResult::from))
            }

            async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
                let rows = self.ask(move |connection| connection.query(&statement)).await?;
                Ok(rows.into_iter().map(QueryResult::from).collect())
            }
        }
    };
}

hands_over!(Reads);
hands_over!(Snapshot);
