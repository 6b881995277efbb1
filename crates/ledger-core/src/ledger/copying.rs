//! What a copy of the books is known by: where they stood at one moment, and what their ledgers come to.

use super::Ledger;
use crate::books::verify;
use crate::clock::Instant;
use crate::cx::Cx;
use crate::error::Result;
use crate::ids::BusinessId;
use ::books::BEFORE_THE_FIRST;
use ::books::access::{self, Seat};
use ::books::database::Session;
use ::books::running;
use schema::business;
use schema::tables::books;
use sea_orm::QueryOrder;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The books as they are at one moment, for as long as it is held.
pub struct Moment {
    session: Session,
    /// By which another program sees the same, where the engine has such names.
    pub name: Option<String>,
}

/// Where the books of a company stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompanyStanding {
    pub id: BusinessId,
    pub name: String,
    /// The last record of its audit log.
    pub sequence: i64,
    /// The last entry of its ledger.
    pub entries: i64,
    /// What its ledger comes to, as `verify` tells it.
    pub digest: String,
}

/// Where all books stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// The last record of the installation's own log.
    pub sequence: i64,
    pub companies: Vec<CompanyStanding>,
}

impl Ledger {
    /// The steps of the schema that the database has taken.
    pub async fn schema(&self) -> Result<Vec<String>> {
        Ok(migrations::versions(&self.database.read).await?)
    }

    pub async fn moment(&self) -> Result<Moment> {
        let session = self.database.snapshot().await?;
        let name = session.name().await?;
        Ok(Moment { session, name })
    }

    /// Where the books stand at a moment, which ends with it.
    pub async fn stands(&self, moment: Moment) -> Result<Standing> {
        let standing = self.stands_at(&moment.session).await;
        moment.session.end()?;
        standing
    }

    async fn stands_at(&self, session: &Session) -> Result<Standing> {
        let heads = books::Entity::find().all(session).await?;
        let heads: HashMap<BusinessId, books::Model> = heads.into_iter().map(|head| (head.business_id, head)).collect();
        let stands = |of| match heads.get(&of) {
            Some(head) => (head.audit_sequence, head.entry_number),
            // Nothing was written of it yet.
            None => (BEFORE_THE_FIRST, BEFORE_THE_FIRST),
        };
        let mut companies = Vec::new();
        for company in business::Entity::find().order_by_asc(business::Column::NameKey).all(session).await? {
            let facts = access::seen_from(session, company.id, Seat::owner()).await?;
            let digest = verify::digest(&Cx::reading_within(self.of_ourselves(&facts), session)).await?;
            let (sequence, entries) = stands(company.id);
            companies.push(CompanyStanding { id: company.id, name: company.name, sequence, entries, digest });
        }
        Ok(Standing { sequence: stands(BusinessId::INSTALLATION).0, companies })
    }

    /// Whether the schema of these books is known: an error in words where it is of a newer release.
    pub async fn knows_schema(&self) -> Result<bool> {
        Ok(self.database.pending_migrations().await? == 0)
    }

    /// When the books were last written to.
    pub async fn last_recorded(&self) -> Result<Option<Instant>> {
        let heads = books::Entity::find().all(&self.database.read).await?;
        Ok(heads.into_iter().map(|head| head.recorded_at).max())
    }

    /// Counts records by the moments in which they are made from now on: others may have counted on in books that these are
    /// a copy of.
    pub async fn move_numbers_on(&self) -> Result<()> {
        let now = self.clock.now();
        self.write(None, move |transaction, _| Box::pin(running::move_on(transaction, Some(now)))).await
    }

    /// Ends all sessions of all users. How many were ended is answered.
    pub async fn end_all_sessions(&self) -> Result<u64> {
        let mut ended = 0;
        for user in self.users().await? {
            ended += u64::from(self.end_sessions(user.id).await? > 0);
        }
        Ok(ended)
    }
}
