//! Who speaks which dialect, counted as calls come in.

use super::Ledger;
use super::call::Call;
use crate::error::Result;
use crate::ids::BusinessId;
use crate::usage::{self, Place};
use ::books::access::{Business, Principal};
use ::books::auth::session;
use masters::dialect_usage;
use schema::business;
use sea_orm::QueryOrder;
use serde::Serialize;
use std::sync::Arc;

/// Who speaks which dialect to a company.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CompanyUsage {
    pub business_id: BusinessId,
    pub name: String,
    pub uses: Vec<dialect_usage::Use>,
}

/// Where a call is counted, and who says that it speaks.
pub(super) struct Spoken(Place, String);

impl Spoken {
    pub(super) fn of(principal: &Principal, call: &Call, business: &Business) -> Option<Self> {
        Some(Self(place(principal, call, business)?, call.agent.clone()?))
    }
}

fn place(principal: &Principal, call: &Call, business: &Business) -> Option<Place> {
    Some((business.id, principal.user, call.origin.dialect?, call.resource.key, call.verb))
}

impl Ledger {
    /// Counts a call that was let in to a company.
    pub(super) fn count(&self, principal: &Principal, call: &Call, business: &Business) {
        if let (Some(place), Some(agent)) = (place(principal, call, business), &call.agent) {
            self.usage.count(place, agent, self.clock.now());
        }
    }

    /// The same of one that may have to start over: once it came to something.
    pub(super) fn count_spoken(&self, Spoken(place, agent): Spoken) {
        self.usage.count(place, &agent, self.clock.now());
    }

    /// Writes down what was counted, and when sessions were seen.
    pub async fn write_usage(&self) -> Result<()> {
        let noted = Arc::new((self.usage.taken(), self.seen.taken()));
        if noted.0.is_empty() && noted.1.is_empty() {
            return Ok(());
        }
        self.write(None, move |transaction, _| {
            let noted = noted.clone();
            Box::pin(async move {
                usage::add(transaction, &noted.0).await?;
                session::write_seen(transaction, &noted.1).await
            })
        })
        .await
    }

    /// Who speaks which dialect, company by company.
    pub async fn dialect_usage(&self) -> Result<Vec<CompanyUsage>> {
        let mut told = Vec::new();
        for company in business::Entity::find().order_by_asc(business::Column::NameKey).all(&self.database.read).await?
        {
            let uses = dialect_usage::uses(&self.database.read, company.id).await?;
            told.push(CompanyUsage { business_id: company.id, name: company.name, uses });
        }
        Ok(told)
    }
}
