//! A connection for what can only speak to a whole database of sea-orm: the migrations, and tests.
//!
//! Whoever speaks through it cannot be told that BEGIN or COMMIT failed. So the first failure is kept, nothing more is
//! done after it, and whoever opened the connection asks for it at the end.

use crate::fault::Fault;
use crate::link::{Begin, Committed, Link};
use crate::target::Target;
use sea_orm::{
    Database, DatabaseConnection, DbBackend, DbErr, ProxyDatabaseTrait, ProxyExecResult, ProxyRow, Statement,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

#[derive(Clone)]
struct Proxied(Arc<Inner>);

struct Inner {
    link: Link,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    failure: Option<Fault>,
    /// How many transactions are open, one inside of the other.
    depth: usize,
    /// Whether something was to be rolled back where nobody could wait for it.
    rolling_back: bool,
}

impl std::fmt::Debug for Proxied {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Proxied").field(&*self.state()).finish()
    }
}

/// What went wrong where nobody could be told.
#[derive(Debug)]
pub struct Failure(Proxied);

impl Failure {
    /// Says what failed, and whether something was left half done.
    pub fn told(&self) -> Result<(), DbErr> {
        let state = self.0.state();
        if let Some(fault) = &state.failure {
            return Err(fault.clone().into());
        }
        if state.depth > 0 {
            return Err(Fault::ours("a transaction was begun and never ended").into());
        }
        Ok(())
    }
}

/// Opens a connection for what speaks to a whole database. Each of its answers may take so long.
pub async fn proxied(target: &Target, patience: Duration) -> Result<(DatabaseConnection, Failure), DbErr> {
    let link = Link::open(target, patience).await?;
    let proxied = Proxied(Arc::new(Inner { link, state: Mutex::default() }));
    let database = Database::connect_proxy(DbBackend::Postgres, Arc::new(Box::new(proxied.clone()))).await?;
    Ok((database, Failure(proxied)))
}

impl Proxied {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn run<T>(&self, work: impl Future<Output = Result<T, Fault>>) -> Result<T, DbErr> {
        self.settle().await;
        let failure = self.state().failure.clone();
        if let Some(fault) = failure {
            return Err(fault.into());
        }
        let done = work.await;
        if let Err(fault) = &done
            && fault.ends_connection()
        {
            self.state().failure = Some(fault.clone());
        }
        Ok(done?)
    }

    /// Does what somebody wanted who could not wait for it.
    async fn settle(&self) {
        let rolling_back = std::mem::take(&mut self.state().rolling_back);
        if rolling_back {
            self.told_later(self.0.link.rollback().await);
        }
    }

    /// What has no way to tell of its failure.
    fn told_later(&self, done: Result<(), Fault>) {
        if let Err(fault) = done {
            self.state().failure.get_or_insert(fault);
        }
    }
}

#[async_trait::async_trait]
impl ProxyDatabaseTrait for Proxied {
    async fn query(&self, statement: Statement) -> Result<Vec<ProxyRow>, DbErr> {
        self.run(self.0.link.query(statement)).await?.into_rows()
    }

    async fn execute(&self, statement: Statement) -> Result<ProxyExecResult, DbErr> {
        // What comes without values may be several statements.
        let count = if statement.values.is_none() {
            self.run(self.0.link.batch(statement.sql)).await?
        } else {
            self.run(self.0.link.execute(statement)).await?
        };
        Ok(ProxyExecResult::new(0, count))
    }

    async fn begin(&self) {
        self.settle().await;
        let depth = {
            let mut state = self.state();
            state.depth += 1;
            state.depth
        };
        let begun = match depth {
            1 => self.0.link.begin(Begin::Writing).await,
            inner => self.0.link.batch(format!("SAVEPOINT proxied_{inner}")).await.map(|_| ()),
        };
        self.told_later(begun);
    }

    async fn commit(&self) {
        let depth = self.ended();
        let done = match depth {
            1 => match self.0.link.commit().await {
                Committed::Done => Ok(()),
                Committed::Refused(fault) | Committed::Unknown(fault) => Err(fault),
            },
            inner => self.0.link.batch(format!("RELEASE SAVEPOINT proxied_{inner}")).await.map(|_| ()),
        };
        self.told_later(done);
    }

    async fn rollback(&self) {
        let depth = self.ended();
        let done = match depth {
            1 => self.0.link.rollback().await,
            inner => self.0.link.batch(format!("ROLLBACK TO SAVEPOINT proxied_{inner}")).await.map(|_| ()),
        };
        self.told_later(done);
    }

    fn start_rollback(&self) {
        let outermost = self.ended() == 1;
        let mut state = self.state();
        if outermost {
            state.rolling_back = true;
        } else {
            state.failure.get_or_insert(Fault::ours("an inner transaction was dropped"));
        }
    }

    async fn ping(&self) -> Result<(), DbErr> {
        self.run(self.0.link.batch("SELECT 1")).await.map(|_| ())
    }
}

impl Proxied {
    /// The depth of the transaction that ends now.
    fn ended(&self) -> usize {
        let mut state = self.state();
        let depth = state.depth;
        state.depth = depth.saturating_sub(1);
        depth
    }
}
