//! The write lane: requests queue, the lane takes what is waiting and commits it in one transaction.
//!
//! Owns: every BEGIN and COMMIT of a write, the order of writes, and what a caller is told about them.
//! Refuses: to know what a command does.
//!
//! - SQLite has one writer, so it has one lane. On PostgreSQL each company has its own, and the batch's first
//!   statement locks the company's row, so that several processes may write to one database.
//! - A lane is a task of its own, on SQLite a thread: a client that hangs up cannot cancel a write, nor leave a
//!   connection inside a half-begun transaction.
//! - A batch is planned first: commands that only plan leave their rows on the lane's desk, and all of them are
//!   written together in a handful of statements. One that is refused takes back its own rows and no one else's.
//!   Commands that touch the database themselves run behind a savepoint.
//! - Should the database object to what was planned, the batch is run again, each command behind a savepoint of
//!   its own, and only the culprit fails.
//! - Companies take turns, and then their callers, by what their writes cost; what is dear counts against its caller's
//!   minute. A batch takes what waits for as long as it is short; one that has become long ends.
//! - Nobody is answered before the commit. What a failed commit came to is the writer's to say: refused for certain, or
//!   not known, and the caller is told exactly that.
//! - Each command knows whether it was sent to be committed. A caller who leaves before has nothing in the books, nor will
//!   have: the batch is run without their command, once. Whoever leaves while it runs again is told that nobody can say.

use crate::client::{Client, Sent};
use crate::database::line::{Line, Refused, Served, Turn};
use crate::database::{Committing, Database, LaneEnd, Session, Writer};
use crate::desk::Desk;
use crate::error::{Error, Result, Unavailable};
use crate::fair::{Micros, Spending, Who};
use crate::ids::BusinessId;
use crate::seal::Seals;
use crate::shelf::Shelf;
use sea_orm::DbErr;
use std::collections::HashMap;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;

pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a command does, repeatable: a batch that met a serialization failure is run again from the start.
pub type Work<T> = Arc<dyn for<'t> Fn(&'t Session, &'t Desk) -> BoxFuture<'t, Result<T>> + Send + Sync>;

/// How a command writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// It leaves rows on the desk, and changes nothing in the database.
    Planned,
    /// It writes for itself.
    Direct,
}

/// Whether a command's effects stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    Effects,
    Nothing,
}

/// A command on its way to the lane.
pub struct Order<T> {
    /// `None` for what belongs to no company.
    pub company: Option<BusinessId>,
    /// Who asked for it; nobody for our own, which goes first.
    pub who: Option<Who>,
    pub manner: Manner,
    pub keep: Keep,
    pub work: Work<T>,
}

struct Command<T> {
    order: Order<T>,
    client: Client,
    answer: oneshot::Sender<Result<T>>,
    /// Until it has run.
    turn: Option<Turn>,
}

/// One transaction serves at most this many requests.
const BATCH: usize = 128;
/// It takes no more of them once it has run for so long.
const SPAN: Duration = Duration::from_millis(200);
/// What takes a lane for so long counts against its caller's minute, kept or not.
const DEAR: Duration = Duration::from_millis(100);
/// The lane of a company that had nothing to do for so long ends.
const IDLE: Duration = Duration::from_mins(5);
/// How often a batch is run again when the database asks for it.
const ATTEMPTS: usize = 4;

/// All lanes of one database. `T` is what commands answer.
pub struct Lanes<T> {
    database: Database,
    seals: Seals,
    queue: usize,
    /// What each caller's dear writes have taken of their minute.
    spending: Arc<Spending>,
    open: Mutex<Option<Open<T>>>,
    /// What all of them remember of companies.
    shelf: Arc<Shelf>,
}

struct Open<T> {
    lines: HashMap<Option<BusinessId>, Arc<Line<Command<T>>>>,
    ends: Vec<LaneEnd>,
}

impl<T: Send + 'static> Lanes<T> {
    pub fn new(database: Database, seals: Seals, queue: usize, shelf: Arc<Shelf>) -> Self {
        Self {
            database,
            seals,
            queue: queue.max(1),
            spending: Arc::default(),
            open: Mutex::new(Some(Open { lines: HashMap::new(), ends: Vec::new() })),
            shelf,
        }
    }

    /// What one caller's dear writes may take of a minute; any time where it is zero.
    pub fn set_budget(&self, budget: Duration) {
        self.spending.set_budget(budget);
    }

    /// Queues a command and waits for its commit.
    pub async fn run(&self, order: Order<T>) -> Result<T> {
        // Nobody queues for a database that is known to take nothing.
        self.database.check_writable()?;
        if let Some(who) = order.who {
            self.spending.check(who.caller)?;
        }
        let (answer, answered) = oneshot::channel();
        let client = Client::of_this_task();
        if client.has_left() {
            return Err(Error::Unavailable(Unavailable::Overloaded));
        }
        let (of, company) = (order.who, order.company);
        let mut command = Command { order, client: client.clone(), answer, turn: None };
        // A lane that had nothing to do may end just now; then there is another.
        for _ in 0..ATTEMPTS {
            match self.lane(company)?.push(of, command) {
                Ok(()) => return answered.await.unwrap_or_else(|_| Err(unanswered(&client))),
                Err(Refused::Full) => return Err(Error::Unavailable(Unavailable::Overloaded)),
                Err(Refused::Closed(returned)) => command = returned,
            }
        }
        Err(Error::Unavailable(Unavailable::ShuttingDown))
    }

    fn lane(&self, company: Option<BusinessId>) -> Result<Arc<Line<Command<T>>>> {
        let is_shared = self.database.has_one_writer();
        let company = company.filter(|_| !is_shared);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let open = open.as_mut().ok_or(Error::Unavailable(Unavailable::ShuttingDown))?;
        // A lane that ended badly is not missed for ever.
        if let Some(line) = open.lines.get(&company).filter(|line| !line.is_closed()) {
            return Ok(line.clone());
        }
        open.lines.retain(|_, line| !line.is_closed());
        open.ends.retain_mut(goes_on);
        // What belongs to no company is shared by all of them.
        let line = Arc::new(Line::new(self.queue, is_shared || company.is_none()));
        open.ends.push(self.database.run_lane(serve(
            self.database.writer(),
            Desk::new(self.seals.clone(), self.shelf.share()),
            company,
            line.clone(),
            self.spending.clone(),
        ))?);
        open.lines.insert(company, line.clone());
        Ok(line)
    }

    /// Takes no more commands, finishes those that wait.
    pub async fn close(&self) {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Open { lines, ends }) = open else { return };
        for line in lines.values() {
            line.close();
        }
        for end in ends {
            if end.await.is_err() {
                tracing::error!("a write lane ended badly");
            }
        }
    }
}

/// A lane that breaks down leaves open what it had sent to be committed. What it had begun is taken back with its connection.
fn unanswered(client: &Client) -> Error {
    let why = if client.is_open() { Unavailable::CommitOutcomeUnknown } else { Unavailable::Overloaded };
    Error::Unavailable(why)
}

/// Whether a lane has not ended yet.
fn goes_on(end: &mut LaneEnd) -> bool {
    match end.try_recv() {
        Err(oneshot::error::TryRecvError::Empty) => true,
        Err(oneshot::error::TryRecvError::Closed) => {
            tracing::error!("a write lane ended badly");
            false
        }
        Ok(()) => false,
    }
}

/// Whether something waits; nothing does once the line is closed, or the lane of a company had nothing to do for long.
async fn waits<T>(line: &Line<T>, company: Option<BusinessId>) -> bool {
    if company.is_none() {
        return line.wait().await;
    }
    if let Ok(waits) = tokio::time::timeout(IDLE, line.wait()).await {
        return waits;
    }
    // What came meanwhile is still done.
    line.close();
    line.wait().await
}

/// What a lane takes its commands from, and notes the dear ones in.
struct Source<'l, T> {
    line: &'l Line<Command<T>>,
    spending: &'l Spending,
}

impl<T> Source<'_, T> {
    /// The next command whose caller is still there.
    fn next(&self) -> Option<Command<T>> {
        while let Some((mut command, turn)) = self.line.take() {
            if command.client.has_left() {
                // Whoever has left by now is not begun with.
                self.line.give_back(turn);
                continue;
            }
            command.turn = Some(turn);
            return Some(command);
        }
        None
    }

    /// All that wait, as far as a batch goes.
    fn fill(&self, batch: &mut Vec<Command<T>>) {
        let room = BATCH.saturating_sub(batch.len());
        batch.extend(std::iter::from_fn(|| self.next()).take(room));
    }

    /// It has run, or never will.
    fn is_over(&self, command: &mut Command<T>) {
        if let Some(turn) = command.turn.take() {
            self.line.give_back(turn);
        }
    }

    /// What it took is its caller's, where that was much.
    fn note(&self, order: &Order<T>, took: Duration) {
        if let Some(who) = order.who.filter(|_| took >= DEAR) {
            self.spending.add(who.caller, Micros::try_from(took.as_micros()).unwrap_or(Micros::MAX));
        }
    }
}

async fn serve<T: Send + 'static>(
    mut writer: Writer,
    desk: Desk,
    company: Option<BusinessId>,
    line: Arc<Line<Command<T>>>,
    spending: Arc<Spending>,
) {
    let _until_its_end = Served(&*line);
    let source = Source { line: &line, spending: &spending };
    while waits(&line, company).await {
        let mut batch: Vec<Command<T>> = source.next().into_iter().collect();
        let outcomes = commit(&mut writer, &desk, company, &mut batch, &source).await;
        for (mut command, outcome) in batch.drain(..).zip(outcomes) {
            source.is_over(&mut command);
            // A caller that is gone needs no answer; its work is done all the same.
            let _gone = command.answer.send(outcome);
        }
        writer.tidy();
    }
}

/// Runs a batch, again where the database could not serialise it and nothing was committed.
async fn commit<T>(
    writer: &mut Writer,
    desk: &Desk,
    company: Option<BusinessId>,
    batch: &mut Vec<Command<T>>,
    source: &Source<'_, T>,
) -> Vec<Result<T>> {
    let mut together = Together::Planned;
    let mut attempt = 0;
    let mut staying: Option<Sending> = None;
    while !batch.is_empty() {
        attempt += 1;
        // It grows while it runs for the first time.
        let grows = attempt == 1 && staying.is_none();
        let outcome = attempt_batch(writer, desk, company, (batch, source, grows), together).await;
        if !matches!(outcome, Attempt::Settled(_)) {
            desk.clear();
        }
        match outcome {
            Attempt::Settled(outcomes) => {
                staying.into_iter().for_each(Sending::are_sent);
                return outcomes;
            }
            Attempt::Spoilt(error) => {
                tracing::debug!(?error, "a batch is run again, one by one");
                together = Together::Apart;
            }
            Attempt::Refused(error) if attempt >= attempts_for(&error) => {
                return batch.iter().map(|_| Err(error.clone())).collect();
            }
            Attempt::Refused(error) => tracing::debug!(?error, attempt, "a batch is run again"),
            Attempt::NotBegun(error) => return batch.iter().map(|_| Err(error.clone())).collect(),
            Attempt::Left => {
                attempt -= 1;
                // Those who stay are committed for: nobody makes the batch run again and again by leaving.
                staying = Some(Sending::those_who_stay(batch));
            }
            Attempt::InDoubt(error) => {
                tracing::error!(%error, "a commit failed; its outcome is not known");
                staying.into_iter().for_each(Sending::are_sent);
                return batch.iter().map(in_doubt).collect();
            }
        }
    }
    Vec::new()
}

/// What was to leave nothing left nothing, whatever became of the others.
fn in_doubt<T>(command: &Command<T>) -> Result<T> {
    Err(Error::Unavailable(match command.order.keep {
        Keep::Effects => Unavailable::CommitOutcomeUnknown,
        Keep::Nothing => Unavailable::Overloaded,
    }))
}

/// How the commands of a batch share their transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Together {
    /// What they planned is written at once.
    Planned,
    /// Each writes behind a savepoint, so that the one which the database refuses is found.
    Apart,
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
    /// One command made the database object; which one is not known. Nothing was written.
    Spoilt(Error),
    /// Nothing was written.
    Refused(Error),
    /// There was no beginning, which was waited for as long as anybody would.
    NotBegun(Error),
    /// Nothing was written: the caller of a command has left meanwhile.
    Left,
    /// COMMIT was sent and failed.
    InDoubt(DbErr),
}

impl<T> Attempt<T> {
    /// What an error means that ends the transaction as a whole.
    fn ended_by(error: Error, together: Together) -> Self {
        match error {
            Error::Unavailable(_) => Self::Refused(error),
            _ if together == Together::Planned => Self::Spoilt(error),
            _ => Self::Refused(error),
        }
    }
}

async fn attempt_batch<T>(
    writer: &mut Writer,
    desk: &Desk,
    company: Option<BusinessId>,
    (batch, source, grows): (&mut Vec<Command<T>>, &Source<'_, T>, bool),
    together: Together,
) -> Attempt<T> {
    let transaction = match writer.begin().await {
        Ok(transaction) => transaction,
        Err(error) => {
            if grows {
                // Nobody else need find that out for themselves.
                source.fill(batch);
            }
            return match error.into() {
                error @ Error::Unavailable(Unavailable::Overloaded) => Attempt::NotBegun(error),
                error => Attempt::Refused(error),
            };
        }
    };
    match run_all(&transaction, desk, company, (batch, source, grows), together).await {
        Ok(Ran { outcomes, kept: true }) => {
            let Some(sending) = Sending::all(batch) else {
                if let Err(lost) = writer.roll_back(transaction).await {
                    tracing::debug!(error = %lost, "a transaction was lost");
                }
                return Attempt::Left;
            };
            match writer.commit(transaction).await {
                Committing::Committed => {
                    sending.are_sent();
                    Attempt::Settled(outcomes)
                }
                Committing::Refused(error) => Attempt::ended_by(error.into(), together),
                Committing::Unknown(error) => {
                    sending.are_sent();
                    Attempt::InDoubt(error)
                }
            }
        }
        Ok(Ran { outcomes, kept: false }) => {
            desk.clear();
            match writer.roll_back(transaction).await {
                Ok(()) => Attempt::Settled(outcomes),
                Err(error) => Attempt::Refused(error.into()),
            }
        }
        // The transaction itself is lost: what is left of it is taken back, and it starts over.
        Err(error) => {
            if let Err(lost) = writer.roll_back(transaction).await {
                tracing::debug!(error = %lost, "a transaction was lost");
            }
            Attempt::ended_by(error, together)
        }
    }
}

/// Those whose first command is about to be committed. Unless it is said that they are sent, it was taken back.
struct Sending(Vec<Client>);

impl Sending {
    /// All commands of a batch are about to be committed; nothing where the caller of one has left.
    fn all<T>(batch: &[Command<T>]) -> Option<Self> {
        let mut sending = Self(Vec::new());
        for command in batch.iter().filter(|command| command.order.keep == Keep::Effects) {
            match command.client.send() {
                Sent::First => sending.0.push(command.client.clone()),
                Sent::Again => {}
                Sent::TooLate => return None,
            }
        }
        Some(sending)
    }

    /// Those of a batch who have not left; the others are taken out of it.
    fn those_who_stay<T>(batch: &mut Vec<Command<T>>) -> Self {
        let mut sending = Self(Vec::new());
        batch.retain(|command| match command.order.keep {
            Keep::Nothing => !command.client.has_left(),
            Keep::Effects => match command.client.send() {
                Sent::First => {
                    sending.0.push(command.client.clone());
                    true
                }
                Sent::Again => true,
                Sent::TooLate => false,
            },
        });
        sending
    }

    fn are_sent(mut self) {
        self.0.clear();
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        // A lane that breaks down here cannot say what became of its commit.
        if !std::thread::panicking() {
            self.0.iter().for_each(Client::take_back);
        }
    }
}

/// What the commands of a batch came to.
struct Ran<T> {
    outcomes: Vec<Result<T>>,
    /// Whether anything of it is to stay.
    kept: bool,
}

/// Runs the commands, and writes what they planned. An error is the transaction's.
async fn run_all<T>(
    transaction: &Session,
    desk: &Desk,
    company: Option<BusinessId>,
    (batch, source, grows): (&mut Vec<Command<T>>, &Source<'_, T>, bool),
    together: Together,
) -> Result<Ran<T>> {
    let begun = Instant::now();
    desk.new_batch(transaction).await?;
    if let Some(company) = company {
        desk.open(transaction, company).await?;
    }
    let mut ran = Ran { outcomes: Vec::with_capacity(batch.len()), kept: false };
    loop {
        let place = ran.outcomes.len();
        if place == batch.len() {
            let may_grow = grows && place < BATCH && begun.elapsed() < SPAN;
            let Some(next) = may_grow.then(|| source.next()).flatten() else { break };
            batch.push(next);
        }
        let Some(command) = batch.get_mut(place) else { break };
        let (order, since) = (&command.order, Instant::now());
        let outcome = match (order.manner, together) {
            (Manner::Planned, Together::Planned) => plan(transaction, desk, order).await,
            (Manner::Direct, _) | (_, Together::Apart) => run_apart(transaction, desk, order, together).await,
        };
        source.note(&command.order, since.elapsed());
        source.is_over(command);
        let outcome = outcome?;
        // A command may take the engine's word that all is lost for an answer of its own; the lane does not.
        transaction.intact()?;
        ran.kept |= outcome.is_ok() && command.order.keep == Keep::Effects;
        ran.outcomes.push(outcome);
    }
    if ran.kept {
        desk.finish(transaction).await?;
    }
    Ok(ran)
}

/// Whether an error means that the transaction as a whole cannot go on.
fn is_fatal(error: &Error) -> bool {
    matches!(error, Error::Unavailable(Unavailable::Overloaded | Unavailable::DatabaseAway | Unavailable::StorageFull))
}

/// A command that only plans. The outer result is the transaction's, the inner one the command's own.
async fn plan<T>(transaction: &Session, desk: &Desk, order: &Order<T>) -> Result<Result<T>> {
    if let Some(company) = order.company {
        desk.open(transaction, company).await?;
    }
    let mark = desk.mark(order.company);
    desk.set_planning(true);
    let outcome = caught((order.work)(transaction, desk)).await;
    desk.set_planning(false);
    match &outcome {
        // What went wrong may have spoilt the transaction for those who come after.
        Err(error @ Error::Internal(_)) => return Err(error.clone()),
        Err(error) if is_fatal(error) => return Err(error.clone()),
        Err(_) => desk.return_to(mark),
        Ok(_) if order.keep == Keep::Nothing => desk.return_to(mark),
        Ok(_) => {}
    }
    Ok(outcome)
}

/// A command behind a savepoint, so that what it did before it failed is undone without its neighbours.
async fn run_apart<T>(transaction: &Session, desk: &Desk, order: &Order<T>, together: Together) -> Result<Result<T>> {
    // What was planned before must be there for this one to see.
    desk.flush(transaction).await?;
    transaction.set_savepoint().await?;
    let ran = async {
        if let Some(company) = order.company {
            desk.open(transaction, company).await?;
        }
        let mark = desk.mark(order.company);
        let outcome = caught((order.work)(transaction, desk)).await?;
        if order.keep == Keep::Nothing {
            desk.return_to(mark);
        } else if together == Together::Apart {
            desk.flush(transaction).await?;
        }
        Ok(outcome)
    };
    let outcome = ran.await;
    desk.forget_access();
    if let Err(error) = &outcome
        && is_fatal(error)
    {
        return Err(error.clone());
    }
    if outcome.is_ok() && order.keep == Keep::Effects {
        transaction.release_savepoint().await?;
    } else {
        transaction.undo_to_savepoint().await?;
        // What it read and remembered may be undone with it.
        desk.clear();
    }
    Ok(outcome)
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
