//! How often one may guess a password: ten times for an account, twenty from an address, in 15 minutes.
//!
//! The count is in the database, so it is shared by both dialects, by several processes, and survives a
//! restart. Unknown names are counted like known ones.

use crate::clock::Instant;
use crate::error::{Error, Result};
use sea_orm::ActiveValue::Set;
use sea_orm::entity::prelude::*;
use sea_orm::{QueryOrder, QuerySelect};
use std::net::IpAddr;
use std::time::Duration;

const WINDOW: Duration = Duration::from_mins(15);
const PER_ACCOUNT: u64 = 10;
const PER_ADDRESS: u64 = 20;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "login_failures")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub subject: String,
    pub failed_at: Instant,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// Whose failures are counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Subjects {
    pub(crate) account: String,
    pub(crate) address: String,
}

impl Subjects {
    pub(crate) fn new(name: &str, address: IpAddr) -> Self {
        let address = match address {
            IpAddr::V4(_) => address.to_string(),
            // A household or server has a whole /64 to itself.
            IpAddr::V6(v6) => {
                if let Some(v4) = v6.to_ipv4_mapped() {
                    v4.to_string()
                } else {
                    let [a, b, c, d, ..] = v6.segments();
                    format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
                }
            }
        };
        Self { account: format!("account {}", name.trim().to_lowercase()), address: format!("address {address}") }
    }
}

/// Refuses when there were too many failures, and says when the oldest that counts is forgotten.
pub(crate) async fn check(connection: &impl ConnectionTrait, subjects: &Subjects, now: Instant) -> Result<()> {
    for (subject, limit) in [(&subjects.account, PER_ACCOUNT), (&subjects.address, PER_ADDRESS)] {
        let recent = Entity::find()
            .filter(Column::Subject.eq(subject))
            .filter(Column::FailedAt.gt(now.minus(WINDOW)))
            .order_by_desc(Column::FailedAt)
            .limit(limit)
            .all(connection)
            .await?;
        if recent.len() as u64 >= limit {
            let oldest = recent.last().map_or(now, |failure| failure.failed_at);
            let wait = oldest.plus(WINDOW).seconds() - now.seconds() + 1;
            return Err(Error::RateLimited { retry_after_seconds: u64::try_from(wait).unwrap_or(1).max(1) });
        }
    }
    Ok(())
}

pub(crate) async fn record(
    connection: &impl ConnectionTrait,
    subjects: &Subjects,
    ids: [Uuid; 2],
    now: Instant,
) -> Result<()> {
    Entity::delete_many().filter(Column::FailedAt.lte(now.minus(WINDOW))).exec(connection).await?;
    let [account, address] = ids;
    let rows = [(account, &subjects.account), (address, &subjects.address)].map(|(id, subject)| ActiveModel {
        id: Set(id),
        subject: Set(subject.clone()),
        failed_at: Set(now),
    });
    Entity::insert_many(rows).exec_without_returning(connection).await?;
    Ok(())
}

/// A success clears the account; the address stays under suspicion for the other names it tried.
pub(crate) async fn forgive(connection: &impl ConnectionTrait, subjects: &Subjects) -> Result<()> {
    Entity::delete_many().filter(Column::Subject.eq(&subjects.account)).exec(connection).await?;
    Ok(())
}
