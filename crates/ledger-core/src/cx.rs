//! The context of one request: who asks, in which company, when, and the only way to a query.
//!
//! Nobody queries without a `Cx`. Its company is part of every key, so a record of another company cannot
//! be reached by mistake.

use crate::access::Business;
use crate::clock::{Clock, Instant};
use crate::error::{Error, Result};
use crate::ids::{BusinessId, RecordId, UserId};
use sea_orm::{DatabaseConnection, DatabaseExecutor, DatabaseTransaction};

/// What a write expects the record to be: the `If-Match` header, already taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Expectation {
    /// Nothing was said: the last write wins, where the company allows it.
    #[default]
    Unsaid,
    /// Any version, as long as the record exists.
    Any,
    /// One of these tags, without their quotes.
    Tags(Vec<String>),
}

pub struct Cx<'a> {
    pub(crate) db: DatabaseExecutor<'a>,
    pub user: UserId,
    pub now: Instant,
    business: Option<&'a Business>,
    clock: &'a Clock,
    expectation: &'a Expectation,
}

/// What a context is made of besides its connection.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) user: UserId,
    pub(crate) business: Option<&'a Business>,
    pub(crate) clock: &'a Clock,
    pub(crate) expectation: &'a Expectation,
}

impl<'a> Cx<'a> {
    pub(crate) fn reading(asked: Asked<'a>, connection: &'a DatabaseConnection) -> Self {
        Self::over(asked, connection.into())
    }

    pub(crate) fn writing(asked: Asked<'a>, transaction: &'a DatabaseTransaction) -> Self {
        Self::over(asked, transaction.into())
    }

    fn over(asked: Asked<'a>, db: DatabaseExecutor<'a>) -> Self {
        let Asked { user, business, clock, expectation } = asked;
        Self { db, user, now: clock.now(), business, clock, expectation }
    }

    /// The company in scope. A resource of a company is never reached without one.
    pub fn business(&self) -> Result<&'a Business> {
        self.business.ok_or_else(|| Error::internal("a company's resource was asked for without a company"))
    }

    pub fn business_id(&self) -> Result<BusinessId> {
        self.business().map(|business| business.id)
    }

    pub(crate) fn new_id(&self) -> uuid::Uuid {
        self.clock.identifier()
    }

    /// Compares `If-Match` with the record as it is.
    pub(crate) fn check_expectation(&self, id: RecordId, version: i64) -> Result<()> {
        match self.expectation {
            Expectation::Unsaid if self.business.is_some_and(|business| business.settings.require_if_match) => {
                Err(Error::PreconditionRequired)
            }
            Expectation::Unsaid | Expectation::Any => Ok(()),
            Expectation::Tags(tags) if tags.contains(&version_tag(id, version)) => Ok(()),
            Expectation::Tags(_) => Err(Error::PreconditionFailed),
        }
    }
}

/// The text of a record's `ETag`, the same in both dialects.
pub fn version_tag(id: RecordId, version: i64) -> String {
    format!("{id}-{version}")
}
