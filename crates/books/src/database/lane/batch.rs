//! A batch: commands that are planned together, written together and committed once.

use super::meanwhile::{Next, plan_while};
use super::{ATTEMPTS, BATCH, BESIDE_OTHERS, BoxFuture, Command, Keep, Manner, Order, REHEARSAL, SHORT, SPAN, Source};
use crate::client::{Client, Sent, Share};
use crate::database::{Answered, Committing, Session, Writer};
use crate::desk::{Desk, Last};
use crate::error::{Error, Result, Unavailable};
use crate::ids::BusinessId;
use crate::watch::watch;
use sea_orm::DbErr;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use tokio::time::Instant;

/// How the commands of a batch share their transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Together {
    /// What they planned is written at once.
    Planned,
    /// Each writes behind a savepoint, so that the one which the database refuses is found.
    Apart,
}

/// A database that is away has already cost a full wait for a connection; one more look is enough.
pub(super) fn attempts_for(error: &Error) -> usize {
    match error {
        Error::Unavailable(Unavailable::Overloaded) => ATTEMPTS,
        Error::Unavailable(Unavailable::DatabaseAway) => 2,
        _ => 1,
    }
}

pub(super) enum Attempt<T> {
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
    /// Nothing was written: a command turned out to be dear, and is in the batch no longer.
    SetAside,
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

pub(super) async fn attempt_batch<T>(
    writer: &mut Writer,
    desk: &Desk,
    company: Option<BusinessId>,
    (batch, source, grows): (&mut Vec<Command<T>>, &Source<'_, T>, bool),
    (together, planned): (Together, Vec<Result<T>>),
    next: &mut Next<T>,
) -> Attempt<T> {
    let first = Desk::first_questions(writer.engine(), company);
    desk.asks();
    let (transaction, answered) = match writer.begin_asking(first).await {
        Ok(begun) => begun,
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
    match run_all(&transaction, desk, (company, answered), (batch, source, grows), (together, planned)).await {
        Ok(Ran::Whole { outcomes, last: Some(last) }) => {
            let Some(sending) = Sending::all(batch, &outcomes) else {
                if let Err(lost) = writer.roll_back(transaction).await {
                    tracing::debug!(error = %lost, "a transaction was lost");
                }
                return Attempt::Left;
            };
            let begun = Instant::now();
            let committed = if last.is_all && next.may_be_planned(source, batch.len()) {
                let engine = writer.engine();
                let committed =
                    plan_while(writer.commit_beside(transaction, last.steps), (desk, engine), source, next).await;
                source.ahead.learn(next.room_after(source, batch.len()));
                committed
            } else {
                source.ahead.learn(BATCH);
                writer.commit_with(transaction, last.steps).await
            };
            match committed {
                Committing::Committed => {
                    watch().inspect(|watch| watch.committed(batch.len(), begun.elapsed()));
                    sending.are_sent();
                    for command in batch.iter() {
                        command.order.is_kept(desk);
                    }
                    source.news.tell(batch.iter().map(|command| command.order.company));
                    Attempt::Settled(outcomes)
                }
                Committing::Refused(error) => Attempt::ended_by(Desk::refused(error), together),
                Committing::Unknown(error) => {
                    sending.are_sent();
                    Attempt::InDoubt(error)
                }
            }
        }
        Ok(Ran::Whole { outcomes, last: None }) => {
            desk.forget_batch();
            match writer.roll_back(transaction).await {
                Ok(()) => Attempt::Settled(outcomes),
                Err(error) => Attempt::Refused(error.into()),
            }
        }
        Ok(Ran::SetAside) => match writer.roll_back(transaction).await {
            Ok(()) => Attempt::SetAside,
            Err(error) => Attempt::Refused(error.into()),
        },
        // The transaction itself is lost: what is left of it is taken back, and it starts over.
        Err(error) => {
            if let Err(lost) = writer.roll_back(transaction).await {
                tracing::debug!(error = %lost, "a transaction was lost");
            }
            let left = |command: &Command<T>| command.order.keep == Keep::Effects && command.client.has_left();
            if batch.iter().any(left) { Attempt::Left } else { Attempt::ended_by(error, together) }
        }
    }
}

/// Those whose first command is about to be committed. Unless it is said that they are sent, it was taken back.
pub(super) struct Sending(Vec<Client>);

impl Sending {
    /// All commands of a batch that came to something are about to be committed; nothing where the caller of one has left.
    fn all<T>(batch: &[Command<T>], outcomes: &[Result<T>]) -> Option<Self> {
        let mut sending = Self(Vec::new());
        let stay =
            |(command, outcome): &(&Command<T>, &Result<T>)| command.order.keep == Keep::Effects && outcome.is_ok();
        for (command, _) in batch.iter().zip(outcomes).filter(stay) {
            match command.client.send() {
                Sent::First => sending.0.push(command.client.clone()),
                Sent::Again => {}
                Sent::TooLate => return None,
            }
        }
        Some(sending)
    }

    /// Those of a batch who have not left; the others are taken out of it.
    pub(super) fn those_who_stay<T>(batch: &mut Vec<Command<T>>) -> Self {
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

    /// One that is not among them any more, if it was.
    pub(super) fn let_go(&mut self, client: &Client) {
        if let Some(place) = self.0.iter().position(|known| known.is(client)) {
            self.0.swap_remove(place).take_back();
        }
    }

    pub(super) fn are_sent(mut self) {
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
enum Ran<T> {
    Whole {
        outcomes: Vec<Result<T>>,
        /// What is to be written last, where anything of it is to stay.
        last: Option<Last>,
    },
    /// One was set aside that cannot be taken back by itself.
    SetAside,
}

/// How long a command may take: what leaves nothing less than what does, and what has neighbours less than what is alone.
pub(super) fn share(keep: Keep, is_alone: bool, now: Instant) -> Share {
    match (is_alone, keep) {
        (false, _) => Share::until(now + BESIDE_OTHERS),
        (true, Keep::Nothing) => Share::until(now + REHEARSAL),
        (true, Keep::Effects) => Share::whole(),
    }
}

/// Runs the commands but those at their head that were planned already, and writes what they planned. An error is the
/// transaction's.
async fn run_all<T>(
    transaction: &Session,
    desk: &Desk,
    (company, answered): (Option<BusinessId>, Result<Answered, DbErr>),
    (batch, source, grows): (&mut Vec<Command<T>>, &Source<'_, T>, bool),
    (together, planned): (Together, Vec<Result<T>>),
) -> Result<Ran<T>> {
    let begun = Instant::now();
    desk.new_batch(transaction, company, answered?).await?;
    let mut kept = planned.iter().any(Result::is_ok);
    let (mut outcomes, mut grows) = (planned, grows);
    loop {
        let place = outcomes.len();
        if place == batch.len() {
            let may_grow = grows && place < source.ahead.room() && begun.elapsed() < SPAN;
            let Some(next) = may_grow.then(|| source.next()).flatten() else { break };
            batch.push(next);
        }
        let is_alone = batch.len() == 1;
        let Some(command) = batch.get_mut(place) else { break };
        let since = Instant::now();
        let share = share(command.order.keep, is_alone, since);
        let asked = (&command.order, &command.client, &share);
        // Whoever is alone needs nothing of its own to be taken back behind: the transaction is that already.
        let is_first = is_alone && together == Together::Planned && command.order.manner == Manner::Direct;
        let ran = match (command.order.manner, together) {
            (Manner::Planned, Together::Planned) => plan(transaction, desk, asked).await,
            _ if is_first => run_first(transaction, desk, asked).await,
            (Manner::Direct, _) | (_, Together::Apart) => run_apart(transaction, desk, asked, together).await,
        };
        // Whoever leaves, as at the end of a request's time, kept it until then all the same.
        let was_cut_off = command.client.has_left() && matches!(transaction, Session::Sqlite(_));
        if was_cut_off || ran.as_ref().map_or_else(is_its_own, |outcome| outcome.as_ref().err().is_none_or(is_its_own))
        {
            source.note(&command.order, since.elapsed());
        }
        if share.is_over() && !is_alone && !command.client.has_left() {
            // Nobody came in behind it, and its neighbours need not wait for it.
            let is_planned = (command.order.manner, together) == (Manner::Planned, Together::Planned);
            tracing::debug!("a dear command is run by itself");
            source.aside().push_back(batch.remove(place));
            grows = false;
            if is_planned {
                return Ok(Ran::SetAside);
            }
            drop(ran?);
            transaction.intact()?;
            continue;
        }
        source.is_over(command);
        let outcome = ran?;
        // A command may take the engine's word that all is lost for an answer of its own; the lane does not.
        transaction.intact()?;
        let stays = outcome.is_ok() && command.order.keep == Keep::Effects;
        kept |= stays;
        outcomes.push(outcome);
        grows &= command.order.manner == Manner::Planned || since.elapsed() < SHORT;
        if is_first && !stays {
            break;
        }
    }
    let last = if kept { Some(desk.finish(transaction).await?) } else { None };
    Ok(Ran::Whole { outcomes, last })
}

/// Whether an error means that the transaction as a whole cannot go on.
pub(super) fn is_fatal(error: &Error) -> bool {
    matches!(error, Error::Unavailable(Unavailable::Overloaded | Unavailable::DatabaseAway | Unavailable::StorageFull))
}

/// Whether what a command took was its own doing, and not waiting for a database that is away or held by somebody else.
fn is_its_own(error: &Error) -> bool {
    !is_fatal(error)
}

/// A command that only plans. The outer result is the transaction's, the inner one the command's own.
async fn plan<T>(
    transaction: &Session,
    desk: &Desk,
    (order, client, share): (&Order<T>, &Client, &Share),
) -> Result<Result<T>> {
    desk.begins();
    transaction.begins();
    if let Some(company) = order.company {
        desk.open(transaction, company).await?;
    }
    let mark = desk.mark(order.company);
    desk.set_planning(true);
    let outcome = caught(client, share, (order.work)(transaction, desk)).await;
    desk.set_planning(false);
    match &outcome {
        // What went wrong may have spoilt the transaction for those who come after.
        Err(error @ Error::Internal(_)) => return Err(error.clone()),
        Err(error) if is_fatal(error) => return Err(error.clone()),
        Ok(_) if order.keep == Keep::Effects => {}
        // What is refused is in nobody's books: where some of it is written, all go back and run apart.
        Err(_) | Ok(_) if desk.planned_is_written() => {
            return Err(Error::internal("what comes to nothing was written in part, and starts over by itself"));
        }
        Err(_) | Ok(_) => desk.return_to(mark),
    }
    Ok(outcome)
}

/// A command that nobody stands beside: what it did before it failed goes with the transaction. Who comes in behind it runs
/// behind a savepoint, which is dear where much was written: SQLite walks all that it would take back, for each statement.
async fn run_first<T>(transaction: &Session, desk: &Desk, asked: (&Order<T>, &Client, &Share)) -> Result<Result<T>> {
    let outcome = run_itself(transaction, desk, asked, Together::Planned).await;
    lost(&outcome, asked)?;
    if outcome.is_err() || asked.0.keep == Keep::Nothing {
        desk.forget_command();
    }
    Ok(outcome)
}

/// A command behind a savepoint, so that what it did before it failed is undone without its neighbours.
async fn run_apart<T>(
    transaction: &Session,
    desk: &Desk,
    asked: (&Order<T>, &Client, &Share),
    together: Together,
) -> Result<Result<T>> {
    // What was planned before must be there for this one to see.
    desk.flush(transaction).await?;
    transaction.set_savepoint().await?;
    let outcome = run_itself(transaction, desk, asked, together).await;
    lost(&outcome, asked)?;
    if outcome.is_ok() && asked.0.keep == Keep::Effects {
        transaction.release_savepoint().await?;
    } else {
        transaction.undo_to_savepoint().await?;
        // What it read and remembered may be undone with it.
        desk.forget_command();
    }
    Ok(outcome)
}

/// A command that may touch the database itself.
async fn run_itself<T>(
    transaction: &Session,
    desk: &Desk,
    (order, client, share): (&Order<T>, &Client, &Share),
    together: Together,
) -> Result<T> {
    desk.writes_itself();
    let ran = async {
        desk.begins();
        transaction.begins();
        if let Some(company) = order.company {
            desk.open(transaction, company).await?;
        }
        let mark = desk.mark(order.company);
        let outcome = caught(client, share, (order.work)(transaction, desk)).await?;
        if order.keep == Keep::Nothing {
            desk.return_to(mark);
        } else if together == Together::Apart {
            desk.flush(transaction).await?;
        }
        Ok(outcome)
    };
    let outcome = ran.await;
    desk.forget_access();
    outcome
}

/// An error where the transaction was lost with a command, and not by whoever left or took too long.
fn lost<T>(outcome: &Result<T>, (_, client, share): (&Order<T>, &Client, &Share)) -> Result<()> {
    match outcome {
        Err(error) if is_fatal(error) && !client.has_left() && !share.is_over() => Err(error.clone()),
        _ => Ok(()),
    }
}

/// A panic in a command is that command's failure, not the lane's end. What it asks ends where its client leaves or its share
/// is over, and then it came to nothing, whatever it says of itself.
pub(super) async fn caught<T>(client: &Client, share: &Share, work: BoxFuture<'_, Result<T>>) -> Result<T> {
    let mut work = pin!(client.served(share.taken_by(work)));
    let outcome = std::future::poll_fn(|context| {
        std::panic::catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context)))
            .unwrap_or_else(|_| std::task::Poll::Ready(Err(Error::internal("a command panicked"))))
    })
    .await;
    match (client.has_left(), share.is_over()) {
        (true, _) => Err(Error::Unavailable(Unavailable::Overloaded)),
        (false, true) => Err(Error::Unavailable(Unavailable::TooLong)),
        (false, false) => outcome,
    }
}
