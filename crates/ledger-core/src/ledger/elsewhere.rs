//! Reads that a standby of the database answers.
//!
//! Who asks and what they may is never its to say: that was judged by the database itself, and so was where the books of the company
//! stood when the call arrived. A standby answers what it has at least as much of, or as much as was asked for where answers
//! may be older. It is waited for shortly, and what it does not answer the database does. Owns: which reads these are, and
//! how much a standby must have.

use super::Reply;
use super::reading::Question;
use crate::error::{Error, Result};
use ::books::database::{Reads, Replica};
use ::books::remembered;
use kit::extra::Weight;
use kit::operation::{ResourceOperations, Verb};
use kit::resource::Scope;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout_at};

/// How long a standby is waited for that lacks what was written last.
const PATIENCE: Duration = Duration::from_millis(100);
/// How often it is asked meanwhile.
const AGAIN: Duration = Duration::from_millis(5);

/// How much a standby must have to answer.
pub(super) struct Needs {
    /// Where the books stood when the call arrived; nothing where no standby is asked.
    stood: Option<i64>,
    /// What the caller asks for, where they do.
    asked: Option<i64>,
    /// Whether it is answered by one look at the books. What comes in portions never goes back.
    at_once: bool,
    /// As far as a portion was read already.
    read: AtomicI64,
    /// Whether the database itself answered a portion: then it does to the end.
    at_home: AtomicBool,
}

/// A standby that has what is needed, and how much it has.
pub(super) struct Elsewhere<'r> {
    pub(super) reads: &'r Reads,
    pub(super) sequence: i64,
    replica: &'r Replica,
}

/// Whether an answer stands as long as the books do: all that it says is counted by their version.
fn is_of_the_books(resource: &ResourceOperations, verb: Verb) -> bool {
    let is_of_them = resource.scope == Scope::Business && resource.cached && !resource.tells_of_calls;
    is_of_them && (matches!(verb, Verb::List | Verb::Get) || resource.weight(verb) == Weight::Dear)
}

impl Needs {
    pub(super) fn of(
        (resource, verb): (&ResourceOperations, Verb),
        (stood, asked): (Option<i64>, Option<i64>),
        at_once: bool,
    ) -> Self {
        let stood = stood.filter(|_| is_of_the_books(resource, verb));
        Self { stood, asked, at_once, read: AtomicI64::new(0), at_home: AtomicBool::new(false) }
    }

    /// The sequence that this one must have.
    fn least(&self, stood: i64, may_be_older: bool) -> i64 {
        if may_be_older && self.at_once {
            return self.asked.unwrap_or_default();
        }
        stood.max(self.read.load(Ordering::Acquire))
    }

    /// The database itself answers from here on.
    pub(super) fn stays_at_home(&self) {
        self.at_home.store(true, Ordering::Release);
    }

    /// Whether the database itself is to be asked after a standby failed. Then it answers from here on.
    pub(super) fn goes_home(&self, error: &Error) -> bool {
        let was_elsewhere = self.stood.is_some() && !self.at_home.swap(true, Ordering::AcqRel);
        was_elsewhere && is_of_the_place(error)
    }
}

/// Whether it may come to something else in another place. What takes too long there takes too long here.
fn is_of_the_place(error: &Error) -> bool {
    !error.is_of_the_caller() && !matches!(error, Error::TooSlow { .. })
}

impl Elsewhere<'_> {
    /// What came of it, where that is an answer; nothing where the database itself is to be asked.
    pub(super) fn answered(&self, done: Result<Reply>) -> Option<Result<Reply>> {
        match done {
            Ok(reply) => Some(Ok(reply.knowing(Some(self.sequence)))),
            Err(error) if is_of_the_place(&error) => {
                let replica = self.replica.name();
                tracing::debug!(?error, replica, "a replica did not answer; the database itself does");
                None
            }
            Err(error) => Some(Err(error)),
        }
    }

    /// A portion was read of it: the next one is of no less.
    pub(super) fn was_read(&self, needs: &Needs) {
        needs.read.fetch_max(self.sequence, Ordering::AcqRel);
    }
}

impl Question {
    /// A standby that answers this; nothing where the database itself has to.
    pub(super) async fn elsewhere(&self) -> Option<Elsewhere<'_>> {
        let (company, needs) = (self.company()?, &self.needs);
        let stood = needs.stood.filter(|_| !needs.at_home.load(Ordering::Acquire))?;
        let replicas = &self.ledger.database.replicas;
        let all: Vec<&Replica> = replicas.in_turn().collect();
        let until = Instant::now() + PATIENCE;
        loop {
            for replica in all.iter().copied() {
                let least = needs.least(stood, replicas.may_be_older(replica));
                let asked = timeout_at(until, remembered::version(&replica.read, company)).await;
                match asked {
                    Ok(Ok(Some(sequence))) if sequence >= least => {
                        return Some(Elsewhere { reads: &replica.read, sequence, replica });
                    }
                    Ok(Ok(_)) => {}
                    Ok(Err(error)) => {
                        tracing::debug!(?error, replica = replica.name(), "a replica does not answer");
                        replica.was_late();
                    }
                    Err(_) => replica.was_late(),
                }
            }
            // Who was waited for in vain is asked, and waited for no more until it has come up.
            if Instant::now() >= until || all.iter().all(|replica| replica.is_late()) {
                for replica in &all {
                    replica.was_late();
                }
                return None;
            }
            sleep(AGAIN).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::registry::operations;
    use masters::event::Events;
    use masters::party::Parties;

    #[test]
    fn a_standby_needs_what_was_there_unless_answers_may_be_older() {
        let needs = |asked, at_once| Needs::of((operations::<Parties>(), Verb::List), (Some(9), asked), at_once);
        assert_eq!((needs(None, true).least(9, false), needs(Some(4), true).least(9, false)), (9, 9));
        assert_eq!((needs(None, true).least(9, true), needs(Some(4), true).least(9, true)), (0, 4));
        // What comes in portions begins with what was there, and goes on from what was read.
        let portions = needs(Some(4), false);
        assert_eq!(portions.least(9, true), 9);
        portions.read.store(12, Ordering::Release);
        assert_eq!(portions.least(9, true), 12);
    }

    #[test]
    fn what_is_more_than_the_books_is_asked_at_home() {
        for (resource, verb, is_asked) in [
            (operations::<Parties>(), Verb::List, true),
            (operations::<Parties>(), Verb::Get, true),
            (operations::<Events>(), Verb::List, false),
        ] {
            assert_eq!(Needs::of((resource, verb), (Some(1), None), true).stood.is_some(), is_asked, "{verb:?}");
        }
    }
}
