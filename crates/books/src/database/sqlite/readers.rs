//! Threads that read, each with a connection of its own that cannot write.
//!
//! A question costs one hop: its rows are made where they are read, and handed over as they are. A question that nobody
//! waits for any more ends inside the engine, and only that one. A snapshot holds a thread until it ends. Threads start
//! when they are needed and end when they have long had nothing to do.
//!
//! Whatever reads is known here from before it begins until after it has ended, for it keeps the log from being begun
//! anew. The log may end it, and have nothing new begin.

use super::end_process;
use crate::database::ROWS_READ;
use crate::database::standing::{Ill, Part, Standing};
use answers::{Answer, Answers};
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

/// How threads read beside others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    Alike,
    /// What they read is dear, and they give way.
    GiveWay,
}

#[derive(Debug)]
pub(super) struct Readers {
    name: &'static str,
    most: usize,
    manner: Manner,
    opening: Opening,
    standing: Arc<Standing>,
    state: Mutex<State>,
    wake: Condvar,
    /// Rung when a read ends.
    quiet: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Job>,
    threads: usize,
    idle: usize,
    handles: Vec<JoinHandle<()>>,
    /// What reads now, to be ended when it is in the way or when the readers are closed.
    reading: Vec<Arc<Reading>>,
    /// How many want nothing new to begin.
    holding: usize,
    closed: bool,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} threads, {} idle, {} waiting", self.threads, self.idle, self.waiting.len())
    }
}

/// A read: a question by itself, or a snapshot that is lent with all that is asked of it.
#[derive(Debug)]
struct Reading {
    /// Where a snapshot's questions go.
    questions: Option<Questions>,
    since: Instant,
    /// What is asked right now.
    asked: Mutex<Option<Stop>>,
    /// Whether it was called back.
    over: AtomicBool,
}

impl Reading {
    fn asked(&self) -> MutexGuard<'_, Option<Stop>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    fn is_asked(&self, stop: &Stop) {
        *self.asked() = Some(stop.clone());
        if self.is_over() {
            stop.now();
        }
    }

    /// Ends it, in the middle of what is asked.
    fn call_back(&self) {
        self.over.store(true, Ordering::Release);
        if let Some(stop) = self.asked().as_ref() {
            stop.now();
        }
        self.end_snapshot();
    }

    fn end_snapshot(&self) {
        if let Some(questions) = &self.questions {
            let _ended_by_itself = questions.send(None);
        }
    }
}

/// A read is known as long as this is held.
struct Known(Arc<Readers>, Arc<Reading>);

impl Drop for Known {
    fn drop(&mut self) {
        self.0.state().reading.retain(|one| !Arc::ptr_eq(one, &self.1));
        self.0.quiet.notify_all();
    }
}

/// Nothing new begins to read as long as this is held.
pub(super) struct Hold(Arc<Readers>);

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.state().holding -= 1;
        self.0.wake.notify_all();
    }
}

/// What a thread reads with.
struct Reader {
    pool: Arc<Readers>,
    connection: Option<Connection>,
    /// The snapshot that it serves.
    lent: Option<Arc<Reading>>,
}

/// Questions outside a transaction.
#[derive(Debug, Clone)]
pub struct Reads {
    readers: Arc<Readers>,
    until: Option<Instant>,
}

/// A snapshot of the books. It ends when it is dropped.
#[derive(Debug)]
pub struct Snapshot {
    lent: Arc<Reading>,
    until: Option<Instant>,
}

impl Readers {
    pub(super) fn of(
        (name, manner): (&'static str, Manner),
        most: usize,
        opening: Opening,
        standing: Arc<Standing>,
    ) -> Arc<Self> {
        let (wake, quiet) = (Condvar::new(), Condvar::new());
        Arc::new(Self { name, most, manner, opening, standing, state: Mutex::default(), wake, quiet })
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
            let started = supervise::thread(self.name, move || pool.work());
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
        if self.manner == Manner::GiveWay {
            supervise::give_way();
        }
        let mut reader = Reader { pool: self.clone(), connection: None, lent: None };
        while let Some(job) = self.next() {
            // Whoever asked for it hears so; the others are served on, by another connection.
            if supervise::caught(self.name, || job(&mut reader)).is_none() {
                reader = Reader { pool: self.clone(), connection: None, lent: None };
            }
        }
    }

    fn next(&self) -> Option<Job> {
        let mut state = self.state();
        loop {
            if state.holding == 0
                && let Some(job) = state.waiting.pop_front()
            {
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

    /// A read begins.
    fn know(self: &Arc<Self>, questions: Option<Questions>) -> Known {
        let (since, over) = (Instant::now(), AtomicBool::new(false));
        let reading = Arc::new(Reading { questions, since, asked: Mutex::default(), over });
        let mut state = self.state();
        if state.closed {
            reading.call_back();
        }
        state.reading.push(reading.clone());
        drop(state);
        Known(self.clone(), reading)
    }

    /// Ends what was begun so long ago; how many, is answered.
    pub(super) fn end_older(&self, age: Duration) -> usize {
        let state = self.state();
        let old = state.reading.iter().filter(|one| one.since.elapsed() >= age && !one.is_over());
        old.map(|one| one.call_back()).count()
    }

    /// From here on nothing new begins to read; who asks waits.
    pub(super) fn hold(self: &Arc<Self>) -> Hold {
        self.state().holding += 1;
        Hold(self.clone())
    }

    /// Waits until nothing reads, so long.
    pub(super) fn wait_until_quiet(&self, patience: Duration) {
        let reads = |state: &mut State| !state.reading.is_empty();
        drop(self.quiet.wait_timeout_while(self.state(), patience, reads).unwrap_or_else(PoisonError::into_inner));
    }

    /// Ends what runs, takes nothing more, and waits for the threads.
    pub(super) async fn close(&self) {
        let handles = {
            let mut state = self.state();
            state.closed = true;
            state.waiting.clear();
            state.reading.iter().for_each(|one| one.call_back());
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
        let (pool, standing) = (self.pool.clone(), self.pool.standing.clone());
        // Within a snapshot it is known already.
        let known = self.lent.is_none().then(|| pool.know(None));
        let reading = known.as_ref().map(|known| &known.1).or(self.lent.as_ref()).cloned();
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => Connection::open(&pool.opening).inspect_err(|fault| {
                standing.ill(Part::Reading, Ill::of_sqlite(fault).unwrap_or(Ill::Missing), fault);
            })?,
        };
        if let Some(reading) = &reading {
            reading.is_asked(stop);
        }
        let mut done = connection.until(stop, work);
        if let Some(reading) = &reading {
            *reading.asked() = None;
            if reading.is_over() && done.as_ref().is_err_and(Fault::is_ended) {
                done = Err(Fault::outgrown());
            }
        }
        match &done {
            Err(fault) if fault.is_failed_sync() => {
                end_process(&format!("the disk did not take what was written: {fault}"))
            }
            Err(fault) if fault.spoils_connection() => {
                standing.ill(Part::Reading, Ill::of_sqlite(fault).unwrap_or(Ill::Broken), fault);
                tracing::warn!(%fault, "a reading connection is closed");
            }
            _ => self.connection = Some(connection),
        }
        done
    }

    /// Serves a snapshot until that ends. One that does not begin is lent to nobody.
    fn lend(&mut self, stop: &Stop, until: Option<Instant>, begun: oneshot::Sender<Result<Snapshot, Fault>>) {
        let (questions, asked) = mpsc::channel();
        // Until its connection has let it go, whatever happens.
        let known = self.pool.clone().know(Some(questions));
        self.lent = Some(known.1.clone());
        match self.run(stop, Connection::begin_reading) {
            Ok(()) => {
                // Whether somebody takes it or nobody does: it says itself that it has ended when it is let go.
                let _nobody_waits = begun.send(Ok(Snapshot { lent: known.1.clone(), until }));
                while let Ok(Some(job)) = asked.recv() {
                    job(self);
                }
            }
            Err(fault) => drop(begun.send(Err(fault))),
        }
        self.lent = None;
        // Whatever could not be ended is let go with its connection.
        self.connection = self.connection.take().filter(|connection| {
            connection.is_autocommit() || connection.end_reading().is_ok() && connection.is_autocommit()
        });
        drop(known);
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
    pub fn until(&self, end: Instant) -> Self {
        Self { readers: self.readers.clone(), until: Some(end) }
    }

    pub fn places(&self) -> usize {
        self.readers.most
    }

    /// How many read just now.
    pub fn used(&self) -> usize {
        self.readers.state().reading.len()
    }

    pub async fn snapshot(&self) -> Result<Snapshot, DbErr> {
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
        let ended = || Fault::ours("the snapshot has ended");
        let submit = |job| {
            let questions = self.lent.questions.as_ref().ok_or_else(ended)?;
            questions.send(Some(job)).map_err(|_| ended())
        };
        let inside = |connection: &Connection| {
            if connection.is_autocommit() {
                return Err(Fault::ours("the snapshot has ended"));
            }
            work(connection)
        };
        let answer = answered(self.until, submit, move |reader, stop| reader.run(stop, inside)).await;
        if answer.is_err() && self.lent.is_over() {
            return Err(Fault::outgrown().into());
        }
        answer
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        self.lent.end_snapshot();
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
                self.ask(move |connection| connection.query_some(&statement, 1)).await?.into_result()
            }

            async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
                self.answer(statement).await?.into_results()
            }
        }

        #[async_trait::async_trait]
        impl Answers for $type {
            async fn answer(&self, question: Statement) -> Result<Answer, DbErr> {
                self.ask(move |connection| connection.query_some(&question, ROWS_READ)).await
            }
        }
    };
}

hands_over!(Reads);
hands_over!(Snapshot);
