//! A flight: what is sent together. None of its legs waits for what the one before is answered.
//!
//! - Rows go in one statement a table, with one array a column: its text does not grow with the rows, so that the server has
//!   prepared it once, and what is awaited does not grow with the tables.
//! - What begins a transaction takes along what is asked first in it, and what ends one what is written last.

use crate::fault::Fault;
use crate::link::{Inner, Link, Outcome, taken, tell};
use crate::values::{Bound, Many};
use answers::Answer;
use futures_util::future::{join, join_all, try_join, try_join_all};
use sea_orm::{Statement as Asked, Value};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::timeout;
use tokio_postgres::Statement;

/// The rows of one statement, which takes as many arrays as a row has values.
#[derive(Debug, Clone)]
pub struct Rows {
    pub sql: Arc<str>,
    pub width: usize,
    /// Row after row.
    pub values: Vec<Value>,
}

/// One of the statements of a flight.
#[derive(Debug, Clone)]
pub enum Leg {
    Rows(Rows),
    Statement(Asked),
    /// A question of which so many rows are kept at most.
    Question(Asked, usize),
}

impl From<Rows> for Leg {
    fn from(rows: Rows) -> Self {
        Self::Rows(rows)
    }
}

impl From<Asked> for Leg {
    fn from(asked: Asked) -> Self {
        Self::Statement(asked)
    }
}

/// What each leg was answered, in their order; rows that are put in answer nothing.
pub type Answers = Vec<Answer>;

/// The server said that it does no more in a transaction after something in it failed.
const AFTER_A_FAILURE: &str = "25P02";

/// As many statements as are under way at once.
const AT_ONCE: usize = 28;

impl Rows {
    /// As one array a column.
    fn columns(self) -> Result<(String, Vec<Many>), Fault> {
        let Self { sql, width, values } = self;
        if width == 0 || values.is_empty() || values.len() % width != 0 {
            return Err(Fault::ours("rows that are to be put in are not whole"));
        }
        let rows = values.len() / width;
        let mut columns: Vec<Many> = Vec::with_capacity(width);
        for (place, value) in values.into_iter().enumerate() {
            let value = Bound::of(value)?;
            match columns.get_mut(place % width) {
                Some(column) => column.push(value)?,
                None => columns.push(Many::of(value, rows)),
            }
        }
        Ok((sql.to_string(), columns))
    }
}

/// A leg with its values, before the server is asked for anything.
enum Bare {
    Rows(String, Vec<Many>),
    Statement(String, Vec<Bound>, usize),
}

impl Bare {
    fn of(leg: Leg) -> Result<Self, Fault> {
        Ok(match leg {
            Leg::Rows(rows) => {
                let (sql, columns) = rows.columns()?;
                Self::Rows(sql, columns)
            }
            Leg::Statement(asked) => {
                let (sql, values) = taken(asked)?;
                Self::Statement(sql, values, usize::MAX)
            }
            Leg::Question(asked, most) => {
                let (sql, values) = taken(asked)?;
                Self::Statement(sql, values, most)
            }
        })
    }

    fn sql(&self) -> &str {
        match self {
            Self::Rows(sql, _) | Self::Statement(sql, ..) => sql,
        }
    }

    async fn prepared(self, inner: &Inner) -> Result<Ready, Fault> {
        Ok(match self {
            Self::Rows(sql, columns) => {
                let kinds = columns.iter().map(Many::kind).collect();
                Ready::Rows(inner.prepared(sql, kinds).await?, columns)
            }
            Self::Statement(sql, values, most) => {
                let (statement, values) = inner.prepare(sql, values).await?;
                Ready::Statement(statement, values, most)
            }
        })
    }
}

/// A leg that can be sent.
enum Ready {
    Rows(Statement, Vec<Many>),
    Statement(Statement, Vec<Bound>, usize),
}

impl Ready {
    async fn sent(&self, inner: &Inner) -> Result<Answer, Fault> {
        match self {
            Self::Rows(statement, columns) => inner.put(statement, columns).await.map(|_| Answer::default()),
            Self::Statement(statement, values, most) => inner.read(statement, values, *most).await,
        }
    }
}

/// What the legs of a flight came to: what failed first is told, and not what followed from it.
fn all(done: Vec<Result<Answer, Fault>>) -> Result<Answers, Fault> {
    let failed = |done: &Result<_, Fault>| done.as_ref().err().filter(|fault| !is_after_a_failure(fault)).cloned();
    match done.iter().find_map(failed) {
        Some(fault) => Err(fault),
        None => done.into_iter().collect(),
    }
}

fn is_after_a_failure(fault: &Fault) -> bool {
    fault.code() == AFTER_A_FAILURE
}

async fn prepared(inner: &Inner, legs: Vec<Bare>) -> Result<Vec<Ready>, Fault> {
    let mut ready = Vec::with_capacity(legs.len());
    for leg in legs {
        ready.push(leg.prepared(inner).await?);
    }
    Ok(ready)
}

/// Each is sent when it is asked for the first time, which happens in their order.
async fn sent(inner: &Inner, legs: &[Ready]) -> Vec<Result<Answer, Fault>> {
    join_all(legs.iter().map(|leg| leg.sent(inner))).await
}

fn bare(legs: impl IntoIterator<Item = Leg>) -> Result<Vec<Bare>, Fault> {
    legs.into_iter().map(Bare::of).collect()
}

impl Link {
    /// Sends all legs, in their order.
    pub async fn send(&self, legs: Vec<Leg>) -> Result<Answers, Fault> {
        let mut answers = Vec::with_capacity(legs.len());
        let mut rest = legs.into_iter().peekable();
        while rest.peek().is_some() {
            let some = bare(rest.by_ref().take(AT_ONCE))?;
            tell(some.len(), some.first().map_or("", Bare::sql));
            let inner = self.inner().clone();
            let asked = self.ask(Box::pin(async move {
                let some = prepared(&inner, some).await?;
                inner.begins().await?;
                all(sent(&inner, &some).await).map(Outcome::Flight)
            }));
            match asked.await? {
                Outcome::Flight(some) => answers.extend(some),
                _ => return Err(not_answered()),
            }
        }
        Ok(answers)
    }

    /// Sends plain statements, and legs behind them. They need neither a lock nor the disk: who does not answer them within
    /// `patience` is not there, however long the legs may take.
    pub(crate) async fn send_behind(
        &self,
        texts: Vec<String>,
        patience: Duration,
        legs: Vec<Leg>,
    ) -> Result<Result<Answers, Fault>, Fault> {
        let (legs, inner) = (bare(legs)?, self.inner().clone());
        tell(texts.len() + legs.len(), &texts.join("; "));
        let asked = self.ask(Box::pin(async move {
            let legs = prepared(&inner, legs).await?;
            let first = async {
                let texts = try_join_all(texts.iter().map(|text| inner.plainly(text)));
                let answered = timeout(patience, texts).await;
                let answered = answered.unwrap_or_else(|_| Err(Fault::silent("the database does not answer")));
                // Whoever is not there answers nothing of what follows.
                match answered {
                    Err(fault) if fault.ends_connection() => Err(fault),
                    answered => Ok(answered),
                }
            };
            let (first, legs) = try_join(first, async { Ok(sent(&inner, &legs).await) }).await?;
            first?;
            Ok(match all(legs) {
                Ok(answers) => Outcome::Flight(answers),
                Err(fault) => Outcome::Failed(fault),
            })
        }));
        match asked.await? {
            Outcome::Flight(answers) => Ok(Ok(answers)),
            Outcome::Failed(fault) => Ok(Err(fault)),
            _ => Err(not_answered()),
        }
    }

    /// Sends legs, and a text of plain statements behind them, which is not come to where one of them fails. Tells when the
    /// text is on its way.
    pub(crate) async fn send_before(
        &self,
        legs: Vec<Leg>,
        text: &'static str,
        is_sent: Arc<AtomicBool>,
    ) -> Result<(), Fault> {
        let (legs, inner) = (bare(legs)?, self.inner().clone());
        tell(legs.len() + 1, text);
        let asked = self.ask(Box::pin(async move {
            let (legs, failed) = (prepared(&inner, legs).await?, AtomicBool::new(false));
            let legs = join_all(legs.iter().map(async |leg| {
                let done = leg.sent(&inner).await;
                failed.fetch_or(done.is_err(), Ordering::AcqRel);
                done
            }));
            let text = async {
                // What could not even be sent the server knows nothing of.
                if failed.load(Ordering::Acquire) {
                    return Err(not_answered());
                }
                is_sent.store(true, Ordering::Release);
                inner.plainly(text).await
            };
            let (legs, text) = join(legs, text).await;
            // The word on all of it is that on the text; but why that was not come to, the legs say.
            match text {
                Ok(_) => Ok(Outcome::Done),
                Err(fault) if fault.ends_connection() => Err(fault),
                Err(fault) => Err(all(legs).err().unwrap_or(fault)),
            }
        }));
        asked.await.map(drop)
    }
}

fn not_answered() -> Fault {
    Fault::ours("a flight came back without its answers")
}
