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
//!   Commands that touch the database themselves run behind a savepoint, but for one that stands first and alone.
//! - Should the database object to what was planned, the batch is run again, each command behind a savepoint of
//!   its own, and only the culprit fails.
//! - While a batch is committed the next one is planned, on what the desk remembers and on nothing else.
//! - Companies take turns, and then their callers, by what their writes cost; what is dear counts against its caller's
//!   minute. A batch takes what waits for as long as it is short; one that has become long ends.
//! - A command that turns out to be dear is set aside: its neighbours, who have run, are committed without it, and it runs
//!   next, in a batch of its own. Those who wait meanwhile were not begun, and know so.
//! - A rehearsal takes back all that it did, and of what is remembered only the books that it opened are forgotten. It holds
//!   everybody's writes while it runs, so it has less time than a write.
//! - Nobody is answered before the commit. What a failed commit came to is the writer's to say: refused for certain, or
//!   not known, and the caller is told exactly that.
//! - Each command knows whether it was sent to be committed. A caller who leaves before has nothing in the books, nor will
//!   have: the batch is run without their command, once. Whoever leaves while it runs again is told that nobody can say.

mod batch;
mod meanwhile;

use crate::client::Client;
use crate::database::line::{Line, Refused, Served, Turn};
use crate::database::{Database, LaneEnd, Session, Writer};
use crate::desk::Desk;
use crate::error::{Error, Result, Unavailable};
use crate::fair::{Micros, Spending, Who};
use crate::ids::BusinessId;
use crate::news::News;
use crate::seal::Seals;
use crate::shelf::Shelf;
use batch::{Attempt, Sending, Together, attempt_batch, attempts_for};
use meanwhile::{Ahead, Batch, Next};
use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
    pub stands: Stands,
}

/// Where the books of its company stand once a command is committed.
#[derive(Debug, Clone, Default)]
pub struct Stands(Arc<AtomicI64>);

impl Stands {
    /// The version of the books; nothing where nothing of it was committed.
    pub fn told(&self) -> Option<i64> {
        Some(self.0.load(Ordering::Acquire)).filter(|version| *version > 0)
    }
}

impl<T> Order<T> {
    /// It is committed, and the books stand as the desk has them.
    fn is_kept(&self, desk: &Desk) {
        if let Some(version) = self.company.and_then(|company| desk.version_of(company)) {
            self.stands.0.store(version, Ordering::Release);
        }
    }
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
/// So long a command may take that writes for itself, if others are to come in behind it. Those of its kind would do so behind
/// a savepoint: SQLite walks all that it would take back, for each statement, and a commit is cheaper than that.
const SHORT: Duration = Duration::from_millis(10);
/// So long a command may take which has neighbours in its batch.
const BESIDE_OTHERS: Duration = Duration::from_secs(1);
/// So long a rehearsal may take. Nobody is kept waiting for longer by what leaves nothing.
const REHEARSAL: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 10 });
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
    /// Who waits for what is committed.
    news: Arc<News>,
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
            news: Arc::default(),
        }
    }

    /// Who waits for what is committed here.
    pub fn news(&self) -> &Arc<News> {
        &self.news
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

    /// How many commands of our own wait in front of all lanes.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> usize {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.iter().flat_map(|open| open.lines.values()).map(|line| line.waiting()).sum()
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
            (self.spending.clone(), self.news.clone()),
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
    /// Who waits for what is committed of it.
    news: &'l News,
    /// What turned out to be dear: each has a batch of its own next. It keeps its turn until it has run.
    aside: Mutex<VecDeque<Command<T>>>,
    ahead: Ahead,
}

impl<'l, T> Source<'l, T> {
    fn of(line: &'l Line<Command<T>>, (spending, news): (&'l Spending, &'l News)) -> Self {
        Self { line, spending, news, aside: Mutex::default(), ahead: Ahead::default() }
    }

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

    fn aside(&self) -> MutexGuard<'_, VecDeque<Command<T>>> {
        self.aside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a batch begins with, and whether others may come along.
    fn first(&self) -> Option<(Command<T>, Growth)> {
        loop {
            let Some(mut dear) = self.aside().pop_front() else { break };
            if !dear.client.has_left() {
                return Some((dear, Growth::Alone));
            }
            self.is_over(&mut dear);
        }
        self.next().map(|command| (command, Growth::WhileShort))
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

/// Whether a batch takes what waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Growth {
    WhileShort,
    Alone,
}

/// Since when nothing came to its end, up to the last that was tried.
#[derive(Debug, Clone, Copy)]
struct Vain {
    since: Instant,
    until: Instant,
}

/// What is tried so long after something else is tried anew.
const VAIN: Duration = Duration::from_secs(5);

async fn serve<T: Send + 'static>(
    mut writer: Writer,
    desk: Desk,
    company: Option<BusinessId>,
    line: Arc<Line<Command<T>>>,
    (spending, news): (Arc<Spending>, Arc<News>),
) {
    let _until_its_end = Served(&*line);
    let source = Source::of(&line, (&spending, &news));
    let mut vain: Option<Vain> = None;
    let mut next = Next::default();
    loop {
        let mut batch = next.begin();
        if batch.commands.is_empty() {
            // What was set aside is nobody's in the line any more.
            let is_next = !source.aside().is_empty();
            if !is_next && !waits(&line, company).await {
                break;
            }
            let Some((first, growth)) = source.first() else { continue };
            batch = Batch { commands: vec![first], planned: Vec::new(), growth };
        }
        let now = Instant::now();
        let since = vain.filter(|vain| now.duration_since(vain.until) < VAIN).map_or(now, |vain| vain.since);
        let trying = writer.tries(since);
        let outcomes = commit(&mut writer, &desk, company, &mut batch, (&source, &mut next)).await;
        let is_in_vain = |outcome: &Result<T>| matches!(outcome, Err(Error::Unavailable(_)));
        let in_vain = !outcomes.is_empty() && outcomes.iter().all(is_in_vain);
        vain = in_vain.then(|| Vain { since, until: Instant::now() });
        if let Some(trying) = trying.filter(|_| vain.is_none()) {
            trying.came_to_its_end();
        }
        for (mut command, outcome) in batch.commands.drain(..).zip(outcomes) {
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
    Batch { commands: batch, planned, growth }: &mut Batch<T>,
    (source, next): (&Source<'_, T>, &mut Next<T>),
) -> Vec<Result<T>> {
    let mut together = Together::Planned;
    let mut attempt = 0;
    let mut staying: Option<Sending> = None;
    // It grows while it runs for the first time.
    let mut grows = *growth == Growth::WhileShort;
    while !batch.is_empty() {
        attempt += 1;
        // What was planned already is so for the first attempt alone.
        let how = (together, std::mem::take(planned));
        let outcome = attempt_batch(writer, desk, company, (batch, source, grows), how, next).await;
        grows = false;
        match &outcome {
            Attempt::Settled(_) => {}
            // A caller has it in hand that a batch ends so: what is known of other companies stays.
            Attempt::Left | Attempt::SetAside => desk.forget_batch(),
            _ => desk.clear(),
        }
        if !matches!(outcome, Attempt::Settled(_)) {
            next.is_to_be_planned_anew();
        }
        if let Some(staying) = &mut staying {
            // Nothing of theirs is sent before they have run.
            source.aside().iter().for_each(|dear| staying.let_go(&dear.client));
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
            Attempt::SetAside => attempt -= 1,
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
