//! PostgreSQL: a connection for each lane, a pool for what reads, and another that lets requests in.
//!
//! Owns: what a lane may make of its connection. One that did not answer, or whose end is not known, is never used again.

use super::{Committing, DatabaseOptions};
use postgres_kit::{Begin, Committed, Fault, Lease, Link, Pool, Server, Standing, Target};
use sea_orm::{ConnectionTrait, DbBackend, DbErr, ExecResult, QueryResult, Statement};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

#[derive(Debug, Clone)]
pub(crate) struct Engine(Server);

/// Questions outside a transaction.
#[derive(Debug, Clone)]
pub(crate) struct Reads {
    pool: Pool,
    until: Option<Instant>,
}

/// A transaction, or a snapshot.
#[derive(Debug)]
pub enum Session {
    #[doc(hidden)]
    Writing(Writing),
    #[doc(hidden)]
    Snapshot { lease: Lease, until: Option<Instant> },
}

/// What a lane writes in one transaction.
#[derive(Debug)]
pub struct Writing {
    server: Server,
    link: Arc<Link>,
}

#[derive(Debug)]
pub struct Writer {
    server: Server,
    /// The connection, and how often the database had been away when it was made.
    link: Option<(Arc<Link>, u64)>,
}

/// A table may be large; whoever changes it is not in a hurry.
const MIGRATION: Duration = Duration::from_hours(24);

impl Engine {
    pub(crate) async fn open(asked: &DatabaseOptions) -> Result<Self, DbErr> {
        let target = Target::of(&asked.url, asked.patience)?;
        Ok(Self(Server::open(target, asked.pool_size.max(2) as usize).await?))
    }

    pub(crate) fn reads(&self) -> Reads {
        Reads { pool: self.0.reads.clone(), until: None }
    }

    pub(crate) fn door(&self) -> Reads {
        Reads { pool: self.0.door.clone(), until: None }
    }

    pub(crate) fn writer(&self) -> Writer {
        Writer { server: self.0.clone(), link: None }
    }

    /// What is known of the database, without asking it.
    pub(crate) fn standing(&self) -> Standing {
        self.0.health().standing()
    }

    /// An error at once where no write can come to its end.
    pub(crate) fn check_writable(&self) -> Result<(), DbErr> {
        Ok(self.0.health().check_writable()?)
    }

    pub(crate) async fn migrate(&self) -> Result<(), DbErr> {
        // The lock lives in a transaction of its own connection, so it is freed even when the process dies.
        let lock = Link::open(self.0.target(), MIGRATION).await?;
        lock.begin(Begin::Writing).await?;
        migrations::take_lock(&lock).await?;
        let (database, failure) = postgres_kit::proxied(self.0.target(), MIGRATION).await?;
        migrations::without_hurry(&database).await?;
        let done = migrations::up(&database).await;
        // What could not be told at its time comes first: the rest only follows from it.
        failure.told()?;
        done?;
        lock.rollback().await?;
        lock.close().await;
        Ok(())
    }

    pub(crate) async fn close(&self) {
        self.0.close().await;
    }
}

/// Waits until then at most. What is given up ends inside the server.
async fn by<T>(until: Option<Instant>, work: impl Future<Output = Result<T, DbErr>>) -> Result<T, DbErr> {
    match until {
        Some(end) => timeout_at(end, work).await.unwrap_or_else(|_| Err(Fault::given_up().into())),
        None => work.await,
    }
}

impl Reads {
    pub(crate) fn until(&self, end: Instant) -> Self {
        Self { pool: self.pool.clone(), until: Some(end) }
    }

    pub(crate) async fn snapshot(&self) -> Result<Session, DbErr> {
        let lease = by(self.until, async { Ok(self.pool.snapshot().await?) }).await?;
        Ok(Session::Snapshot { lease, until: self.until })
    }
}

impl Session {
    pub(crate) async fn end(self) -> Result<(), DbErr> {
        match self {
            Self::Snapshot { lease, until } => by(until, async { Ok(lease.end().await?) }).await,
            Self::Writing(_) => Err(DbErr::Custom("a transaction is ended by its lane".into())),
        }
    }
}

impl Writing {
    async fn run<T>(&self, work: impl Future<Output = Result<T, DbErr>>) -> Result<T, DbErr> {
        let done = self.server.health().while_here(work).await;
        if let Err(error) = &done
            && let Some(fault) = Fault::within(error)
            && fault.is_away()
        {
            // Nothing was committed, and nothing will be.
            self.link.spend(fault.clone());
            self.server.health().suspect();
        }
        done
    }
}

impl Writer {
    pub(crate) async fn begin(&mut self) -> Result<Session, DbErr> {
        self.server.health().check_writable()?;
        let met = self.server.health().times_away();
        // What was open before the database went away may be silent for ever.
        if let Some((link, _)) = self.link.take().filter(|(link, at)| *at == met && link.is_spent().is_none())
            && self.begun(&link).await.is_ok()
        {
            return Ok(self.session(link, met));
        }
        let link = Arc::new(self.server.writer().await?);
        self.begun(&link).await?;
        Ok(self.session(link, met))
    }

    async fn begun(&self, link: &Link) -> Result<(), Fault> {
        let begun = self.server.health().while_here(link.begin(Begin::Writing)).await;
        if let Err(fault) = &begun {
            link.spend(fault.clone());
            self.server.health().suspect();
        }
        begun
    }

    fn session(&mut self, link: Arc<Link>, met: u64) -> Session {
        self.link = Some((link.clone(), met));
        Session::Writing(Writing { server: self.server.clone(), link })
    }

    pub(crate) async fn commit(&mut self, session: Session) -> Committing {
        let Session::Writing(Writing { server, link }) = session else {
            return Committing::Refused(super::of_another());
        };
        let waited_for = server.health().committing();
        let committed = link.commit().await;
        drop(waited_for);
        match committed {
            Committed::Done => Committing::Committed,
            Committed::Refused(fault) => {
                // The server may still be inside of what it refused.
                self.link = None;
                link.spend(fault.clone());
                Committing::Refused(fault.into())
            }
            // A backend that commits is never asked to give up: it may be in the books before it hears so.
            Committed::Unknown(fault) => {
                self.link = None;
                link.spend(fault.clone());
                server.health().suspect();
                Committing::Unknown(fault.into())
            }
        }
    }

    pub(crate) async fn roll_back(&mut self, session: Session) -> Result<(), DbErr> {
        let Session::Writing(writing) = session else { return Err(super::of_another()) };
        let done = writing.run(async { Ok(writing.link.rollback().await?) }).await;
        if done.is_err() {
            self.link = None;
        }
        done
    }
}

/// Where the statements of each go, and how long they are waited for.
macro_rules! statements_go_to {
    ($type:ty, $self:ident, $work:ident => $run:expr) => {
        #[async_trait::async_trait]
        impl ConnectionTrait for $type {
            fn get_database_backend(&self) -> DbBackend {
                DbBackend::Postgres
            }

            async fn execute_raw(&$self, statement: Statement) -> Result<ExecResult, DbErr> {
                macro_rules! $work { ($to:expr) => { $to.execute_raw(statement) }; }
                $run
            }

            async fn execute_unprepared(&$self, sql: &str) -> Result<ExecResult, DbErr> {
                macro_rules! $work { ($to:expr) => { $to.execute_unprepared(sql) }; }
                $run
            }

            async fn query_one_raw(&$self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
                macro_rules! $work { ($to:expr) => { $to.query_one_raw(statement) }; }
                $run
            }

            async fn query_all_raw(&$self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
                macro_rules! $work { ($to:expr) => { $to.query_all_raw(statement) }; }
                $run
            }
        }
    };
}

statements_go_to!(Reads, self, asked => by(self.until, asked!(self.pool)).await);
statements_go_to!(Session, self, asked => match self {
    Self::Writing(writing) => writing.run(asked!(writing.link)).await,
    Self::Snapshot { lease, until } => by(*until, asked!(lease)).await,
});
