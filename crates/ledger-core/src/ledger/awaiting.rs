//! Waiting for what is still to happen in a company.
//!
//! Owns: who is woken when. What is committed by this process wakes at once; what others commit to the same database is
//! looked for now and then. Nobody who waits holds a place, a connection or a snapshot.

use super::Ledger;
use super::reading::Question;
use crate::error::{Error, Result};
use crate::ids::BusinessId;
use schema::tables::books;
use sea_orm::QuerySelect;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout_at};

/// How often it is looked for what other processes committed.
const LOOK: Duration = Duration::from_secs(1);
/// As long as is left between two looks, however much is committed: what comes together is told together.
const TOGETHER: Duration = Duration::from_millis(20);
/// After so long a stream says that it is still there.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);

impl Ledger {
    /// Waits until the audit log of a company goes beyond a record, so long. Whether it does is answered.
    pub(super) async fn awaits(&self, company: BusinessId, after: i64, until: Instant) -> Result<bool> {
        // Before the first look: what is committed behind it is heard.
        let mut news = self.lanes.news().listen(Some(company));
        loop {
            if self.newest(company).await? > after {
                return Ok(true);
            }
            let now = Instant::now();
            if now >= until || news.is_over() {
                return Ok(false);
            }
            if timeout_at(until.min(now + LOOK), news.heard()).await.is_ok() {
                sleep(TOGETHER).await;
            }
        }
    }

    /// The newest record of a company's audit log.
    async fn newest(&self, company: BusinessId) -> Result<i64> {
        let newest = books::Entity::find_by_id(company).select_only().column(books::Column::AuditSequence);
        let newest: Option<i64> = newest.into_tuple().one(&self.database.read).await?;
        newest.ok_or(Error::NotFound)
    }

    /// Whether nobody waits for news any longer.
    pub fn is_silent(&self) -> bool {
        self.lanes.news().is_over()
    }

    /// Nobody waits for news any longer: those who do are answered, and streams end.
    pub fn end_news(&self) {
        self.lanes.news().end();
    }
}

impl Question {
    /// Waits until a stream has something to tell, or only that it is there; not once there will be no more.
    pub(super) async fn goes_on(&self, after: i64) -> Result<bool> {
        let company = self.company().ok_or(Error::NotFound)?;
        self.ledger.awaits(company, after, Instant::now() + SIGN_OF_LIFE).await?;
        Ok(!self.ledger.lanes.news().is_over())
    }
}
