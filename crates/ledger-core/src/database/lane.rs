//! The write lane: requests queue, the lane takes what is waiting and commits it in one transaction.
//!
//! Owns: every BEGIN and COMMIT of a write, the order of writes, and what a caller is told about them.
//! Refuses: to know what a command does.
//!
//! - SQLite has one writer, so it has one lane. On PostgreSQL each company has its own, and the batch's first
//!   statement locks the company's row, so that several processes may write to one database.
//! - A lane is a task of its own: a client that hangs up cannot cancel a write, nor leave a connection inside
//!   a half-begun transaction.
//! - A command runs behind a savepoint when it has neighbours; its failure is its own.
//! - Nobody is answered before the commit. A commit that fails may or may not have happened, and the caller
//!   is told exactly that.

use crate::database::Database;
use crate::error::{Error, Result, Unavailable};
use crate::ids::BusinessId;
use sea_orm::{
    ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, SqliteTransactionMode, Statement, TransactionOptions,
    TransactionTrait,
};
use std::collections::HashMap;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

pub(crate) type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a command does, repeatable: a batch that met a serialization failure is run again from the start.
pub(crate) type Work<T> = Arc<dyn for<'t> Fn(&'t DatabaseTransaction) -> BoxFuture<'t, Result<T>> + Send + Sync>;

/// Whether a command's effects stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    Effects,
    Nothing,
}

struct Command<T> {
    work: Work<T>,
    keep: Keep,
    answer: oneshot::Sender<Result<T>>,
}

/// One transaction serves at most this many requests.
const BATCH: usize = 128;
/// How often a batch is run again when the database asks for it.
const ATTEMPTS: usize = 4;

/// All lanes of one database. `T` is what commands answer.
pub(crate) struct Lanes<T> {
    database: Database,
    queue: usize,
    open: Mutex<Option<Open<T>>>,
}

struct Open<T> {
    senders: HashMap<Option<BusinessId>, mpsc::Sender<Command<T>>>,
    tasks: Vec<JoinHandle<()>>,
}

impl<T: Send + 'static> Lanes<T> {
    pub(crate) fn new(database: Database, queue: usize) -> Self {
        Self {
            database,
            queue: queue.max(1),
            open: Mutex::new(Some(Open { senders: HashMap::new(), tasks: Vec::new() })),
        }
    }

    /// Queues a command and waits for its commit. `company` is `None` for what belongs to no company.
    pub(crate) async fn run(&self, company: Option<BusinessId>, keep: Keep, work: Work<T>) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        self.lane(company)?.try_send(Command { work, keep, answer }).map_err(|full| {
            Error::Unavailable(match full {
                mpsc::error::TrySendError::Full(_) => Unavailable::Overloaded,
                mpsc::error::TrySendError::Closed(_) => Unavailable::ShuttingDown,
            })
        })?;
        // A lane that dies without answering leaves the outcome open, and says so.
        answered.await.unwrap_or(Err(Error::Unavailable(Unavailable::CommitOutcomeUnknown)))
    }

    fn lane(&self, company: Option<BusinessId>) -> Result<mpsc::Sender<Command<T>>> {
        let one_writer = self.database.write.get_database_backend() == DbBackend::Sqlite;
        let company = company.filter(|_| !one_writer);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let open = open.as_mut().ok_or(Error::Unavailable(Unavailable::ShuttingDown))?;
        if let Some(sender) = open.senders.get(&company) {
            return Ok(sender.clone());
        }
        let (sender, receiver) = mpsc::channel(self.queue);
        open.senders.insert(company, sender.clone());
        open.tasks.push(tokio::spawn(serve(self.database.clone(), company, receiver)));
        Ok(sender)
    }

    /// Takes no more commands, finishes those that wait.
    pub(crate) async fn close(&self) {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Open { senders, tasks }) = open else { return };
        drop(senders);
        for task in tasks {
            if let Err(error) = task.await {
                tracing::error!(%error, "a write lane ended badly");
            }
        }
    }
}

async fn serve<T: Send + 'static>(
    database: Database,
    company: Option<BusinessId>,
    mut queue: mpsc::Receiver<Command<T>>,
) {
    let mut batch = Vec::with_capacity(BATCH);
    while queue.recv_many(&mut batch, BATCH).await > 0 {
        let outcomes = commit(&database, company, &batch).await;
        for (command, outcome) in batch.drain(..).zip(outcomes) {
            // A caller that is gone needs no answer; its work is done all the same.
            let _gone = command.answer.send(outcome);
        }
    }
}

/// Runs a batch, again where the database could not serialise it and nothing was committed.
async fn commit<T>(database: &Database, company: Option<BusinessId>, batch: &[Command<T>]) -> Vec<Result<T>> {
    for attempt in 1..=ATTEMPTS {
        match attempt_batch(database, company, batch).await {
            Attempt::Settled(outcomes) => return outcomes,
            Attempt::Refused(error) if attempt == attempts_for(&error) => {
                return batch.iter().map(|_| Err(error.clone())).collect();
            }
            Attempt::Refused(error) => tracing::debug!(?error, attempt, "a batch is run again"),
            Attempt::InDoubt(error) => {
                tracing::error!(%error, "a commit failed; its outcome is not known");
                return batch.iter().map(|_| Err(Error::Unavailable(Unavailable::CommitOutcomeUnknown))).collect();
            }
        }
    }
    Vec::new()
}

/// A database that is away has already cost a full wait for a connection; one more look is enough.
fn attempts_for(error: &Error) -> usize {
    match error {
        Error::Unavailable(Unavailable::Overloaded) => ATTEMPTS,
        Error::Unavailable(Unavailable::DatabaseAway) => 2,
        _ => 1,
    }
}

enum Attempt<T> {
    /// The commit returned; each command has its own outcome.
    Settled(Vec<Result<T>>),
    /// Nothing was written.
    Refused(Error),
    /// COMMIT was sent and failed.
    InDoubt(DbErr),
}

async fn attempt_batch<T>(database: &Database, company: Option<BusinessId>, batch: &[Command<T>]) -> Attempt<T> {
    let transaction = match begin(database, company).await {
        Ok(transaction) => transaction,
        Err(error) => return Attempt::Refused(error),
    };
    let mut outcomes = Vec::with_capacity(batch.len());
    let mut kept = false;
    for command in batch {
        let outcome = run_one(&transaction, command).await;
        if let Err(error @ Error::Unavailable(Unavailable::Overloaded | Unavailable::DatabaseAway)) = outcome {
            // The transaction itself is lost: roll back (or let the server do it) and start over.
            let _lost = transaction.rollback().await;
            return Attempt::Refused(error);
        }
        kept |= outcome.is_ok() && command.keep == Keep::Effects;
        outcomes.push(outcome);
    }
    if !kept {
        return match transaction.rollback().await {
            Ok(()) => Attempt::Settled(outcomes),
            Err(error) => Attempt::Refused(error.into()),
        };
    }
    match transaction.commit().await {
        Ok(()) => Attempt::Settled(outcomes),
        Err(error) => match Error::from(error.clone()) {
            // The engine refused the commit and says so: nothing was written.
            refused @ Error::Unavailable(Unavailable::Overloaded | Unavailable::StorageFull) => {
                Attempt::Refused(refused)
            }
            _ => Attempt::InDoubt(error),
        },
    }
}

async fn begin(database: &Database, company: Option<BusinessId>) -> Result<DatabaseTransaction> {
    let options = TransactionOptions {
        // A deferred transaction that read first cannot become a writer after someone else's commit.
        sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
        ..TransactionOptions::default()
    };
    let transaction = database.write.begin_with_options(options).await?;
    if let (Some(company), DbBackend::Postgres) = (company, transaction.get_database_backend()) {
        let lock = "SELECT id FROM businesses WHERE id = $1 FOR UPDATE";
        transaction.query_one_raw(Statement::from_sql_and_values(DbBackend::Postgres, lock, [company.into()])).await?;
    }
    Ok(transaction)
}

/// One command behind a savepoint, so that what it did before it failed is undone without its neighbours.
async fn run_one<T>(transaction: &DatabaseTransaction, command: &Command<T>) -> Result<T> {
    let savepoint = transaction.begin().await?;
    let outcome = caught((command.work)(&savepoint)).await;
    if outcome.is_ok() && command.keep == Keep::Effects {
        savepoint.commit().await?;
    } else {
        savepoint.rollback().await?;
    }
    outcome
}

/// A panic in a command is that command's failure, not the lane's end.
async fn caught<T>(work: BoxFuture<'_, Result<T>>) -> Result<T> {
    let mut work = pin!(work);
    std::future::poll_fn(|context| {
        std::panic::catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context)))
            .unwrap_or_else(|_| std::task::Poll::Ready(Err(Error::internal("a command panicked"))))
    })
    .await
}
