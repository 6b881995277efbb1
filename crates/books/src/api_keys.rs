//! The keys of programs, as each request with one asks for them.

use crate::access::KeyScope;
use crate::clock::Instant;
use crate::error::{Error, Result};
use crate::ids::UserId;
use ipnet::IpNet;
use schema::api_key as table;
use schema::rights::Rights;
use sea_orm::{ColumnTrait, ConnectionTrait, QueryFilter, QueryOrder, QuerySelect};
use std::net::IpAddr;
use std::sync::Arc;
use table::Column;

/// What every key begins with, so that scanners of secrets know it.
pub const PREFIX: &str = "duet_";

pub fn network_of(text: &str) -> Option<IpNet> {
    text.parse().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from))
}

/// What is kept of a key. It is random and long, so one round is enough.
pub fn digest(secret: &str) -> String {
    crate::texts::hex(ring::digest::digest(&ring::digest::SHA256, secret.as_bytes()).as_ref())
}

/// A key as it is asked for with each request.
#[derive(Debug)]
pub struct Key {
    pub user: UserId,
    pub expires_at: Option<Instant>,
    /// Whether it was ended before its time.
    pub has_ended: bool,
    pub scope: Arc<KeyScope>,
    networks: Vec<IpNet>,
}

pub const UNKNOWN: Error = Error::Unauthenticated("The API key is not valid");

impl Key {
    /// Refuses one whose time is over.
    pub fn still_good(&self, now: Instant) -> Result<&Self> {
        if self.has_ended {
            return Err(Error::Unauthenticated(
                "The API key has ended with its user's password or place; make another",
            ));
        }
        if self.expires_at.is_some_and(|ends| ends <= now) {
            return Err(Error::Unauthenticated("The API key has expired"));
        }
        Ok(self)
    }

    fn of(row: table::Model) -> Self {
        Self {
            user: row.user_id,
            expires_at: row.expires_at,
            has_ended: row.ended_at.is_some(),
            scope: Arc::new(KeyScope {
                key: row.id,
                business: row.business_id,
                rights: row.scopes.map_or_else(|| Rights::where_(|_, _| true), |scopes| scopes.0.rights()),
            }),
            networks: row.allowed_addresses.0.iter().filter_map(|text| network_of(text)).collect(),
        }
    }

    pub fn may_come_from(&self, address: Option<IpAddr>) -> bool {
        self.networks.is_empty()
            || address
                .is_some_and(|address| self.networks.iter().any(|network| network.contains(&address.to_canonical())))
    }
}

pub async fn find(connection: &impl ConnectionTrait, secret: &str) -> Result<Option<Key>> {
    let found = table::Entity::find().filter(Column::Digest.eq(digest(secret))).one(connection).await?;
    Ok(found.map(Key::of))
}

/// A key that was found before.
pub async fn find_again(connection: &impl ConnectionTrait, scope: &KeyScope) -> Result<Option<Key>> {
    Ok(table::Entity::find_by_id((scope.business, scope.key)).one(connection).await?.map(Key::of))
}

/// What is kept of the keys that are good, the youngest first; so many at most.
pub async fn digests(connection: &impl ConnectionTrait, most: usize) -> Result<Vec<String>> {
    let good = table::Entity::find().select_only().column(Column::Digest).filter(Column::EndedAt.is_null());
    let most = u64::try_from(most).map_err(Error::internal)?;
    Ok(good.order_by_desc(Column::Id).limit(most).into_tuple().all(connection).await?)
}
