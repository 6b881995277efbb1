//! What a lane writes through, on either engine: it begins, and what it is handed back it commits or takes back.

use super::rows::{self, Step};
use super::standing::Trying;
use super::{Answered, Committing, Session, Writer, sqlite};
use sea_orm::{DbBackend, DbErr, Statement};
use tokio::time::Instant;

impl Writer {
    /// What its statements are written for.
    pub fn engine(&self) -> DbBackend {
        match self {
            Self::Sqlite(_) => DbBackend::Sqlite,
            Self::Postgres(_) => DbBackend::Postgres,
        }
    }

    /// Begins a transaction that may write.
    pub async fn begin(&mut self) -> Result<Session, DbErr> {
        self.begin_asking(Vec::new()).await.map(|(session, _)| session)
    }

    /// The same, and what is asked first goes along. The inner result is that of what is asked.
    pub async fn begin_asking(&mut self, asked: Vec<Statement>) -> Result<(Session, Result<Answered, DbErr>), DbErr> {
        match self {
            Self::Sqlite(writer) => {
                let transaction = here(writer)?.begin()?;
                let mut answers = Vec::with_capacity(asked.len());
                for question in asked {
                    match transaction.send(vec![Step::Statement(question)]) {
                        Ok(answer) => answers.push(answer),
                        Err(error) => return Ok((Session::Sqlite(transaction), Err(error))),
                    }
                }
                Ok((Session::Sqlite(transaction), Ok(answers)))
            }
            Self::Postgres(writer) => {
                let (session, answers) = writer.begin(asked).await?;
                Ok((Session::Postgres(Box::new(session)), answers))
            }
        }
    }

    pub async fn commit(&mut self, session: Session) -> Committing {
        self.commit_with(session, Vec::new()).await
    }

    /// The same, and what is written last goes along: nothing stays of either without the other.
    pub async fn commit_with(&mut self, session: Session, last: Vec<Step>) -> Committing {
        let last = match rows::whole(last) {
            Ok(last) => last,
            Err(error) => {
                let _refused_anyway = self.roll_back(session).await;
                return Committing::Refused(error);
            }
        };
        match (self, session) {
            (Self::Sqlite(Some(writer)), Session::Sqlite(transaction)) => writer.commit(transaction, last),
            (Self::Postgres(writer), Session::Postgres(session)) => writer.commit(*session, last).await,
            _ => Committing::Refused(of_another()),
        }
    }

    /// The same, where whoever calls has something else to do: what SQLite does, another thread does meanwhile.
    pub async fn commit_beside(&mut self, session: Session, last: Vec<Step>) -> Committing {
        let Self::Sqlite(here) = self else { return self.commit_with(session, last).await };
        let Some(mut writer) = here.take() else { return Committing::Refused(of_another()) };
        let committed = tokio::task::spawn_blocking(move || {
            let committed = match (rows::whole(last), session) {
                (Ok(last), Session::Sqlite(transaction)) => writer.commit(transaction, last),
                // Its transaction is taken back when another begins.
                (Err(error), _) => Committing::Refused(error),
                (Ok(_), _) => Committing::Refused(of_another()),
            };
            (writer, committed)
        });
        match committed.await {
            Ok((writer, committed)) => {
                *here = Some(writer);
                committed
            }
            Err(broken) => sqlite::end_process(&format!("the thread that commits broke down: {broken}")),
        }
    }

    /// Tries to write, and has done so since then: whether it comes to its end is for everybody to know. The only one who
    /// writes to SQLite tells of itself.
    pub fn tries(&self, since: Instant) -> Option<Trying> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(writer) => writer.tries(since),
        }
    }

    /// What can wait until those who waited have their answers.
    pub fn tidy(&mut self) {
        if let Self::Sqlite(Some(writer)) = self {
            writer.tidy();
        }
    }

    /// Takes back what a transaction wrote. After an error it is taken back all the same: its connection is gone.
    pub async fn roll_back(&mut self, session: Session) -> Result<(), DbErr> {
        match (self, session) {
            (Self::Sqlite(Some(writer)), Session::Sqlite(transaction)) => writer.roll_back(transaction),
            (Self::Postgres(writer), Session::Postgres(session)) => writer.roll_back(*session).await,
            _ => Err(of_another()),
        }
    }
}

fn here(writer: &mut Option<Box<sqlite::Writer>>) -> Result<&mut sqlite::Writer, DbErr> {
    writer.as_deref_mut().ok_or_else(|| DbErr::Custom("a writer that commits begins nothing else".into()))
}

fn of_another() -> DbErr {
    DbErr::Custom("a transaction was handed to a writer that did not begin it".into())
}
