//! What commands plan on while the batch before theirs is committed: nothing but what the desk remembers.
//!
//! Who asks the database would be answered without what is being committed. So nothing is answered: whoever asks is taken
//! back, and runs again in a transaction of its own batch.

use answers::{Answer, Answers};
use sea_orm::{ConnectionTrait, DbBackend, DbErr, ExecResult, QueryResult, Statement};
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Debug)]
pub struct Meanwhile {
    engine: DbBackend,
    asked: AtomicBool,
}

impl Meanwhile {
    pub(super) fn of(engine: DbBackend) -> Self {
        Self { engine, asked: AtomicBool::new(false) }
    }

    /// Whether anything was asked since this was last looked at.
    pub(super) fn was_asked(&self) -> bool {
        self.asked.swap(false, Ordering::Relaxed)
    }

    /// Somebody asked, and has to wait.
    pub(super) fn waits(&self) -> DbErr {
        self.asked.store(true, Ordering::Relaxed);
        DbErr::Custom("a question waits until the batch before is committed".into())
    }
}

#[async_trait::async_trait]
impl ConnectionTrait for Meanwhile {
    fn get_database_backend(&self) -> DbBackend {
        self.engine
    }

    async fn execute_raw(&self, _: Statement) -> Result<ExecResult, DbErr> {
        Err(self.waits())
    }

    async fn execute_unprepared(&self, _: &str) -> Result<ExecResult, DbErr> {
        Err(self.waits())
    }

    async fn query_one_raw(&self, _: Statement) -> Result<Option<QueryResult>, DbErr> {
        Err(self.waits())
    }

    async fn query_all_raw(&self, _: Statement) -> Result<Vec<QueryResult>, DbErr> {
        Err(self.waits())
    }
}

#[async_trait::async_trait]
impl Answers for Meanwhile {
    async fn answer(&self, _: Statement) -> Result<Answer, DbErr> {
        Err(self.waits())
    }
}
