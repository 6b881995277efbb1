//! What the database knows of the installation that it belongs to.
//!
//! The row is made with the schema, by the first process that brings it up to date. Every later one must hold the same
//! master key, or it stops: it could neither prove what was signed nor read what was hidden.

use crate::clock::Instant;
use crate::error::{Error, Result};
use crate::keys::{Keys, Purpose};
use crate::ledger::hex;
use ring::hmac;
use sea_orm::ActiveValue::Set;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::OnConflict;

/// There is one.
const ID: i64 = 1;
/// Whose the fingerprint key is, for the cipher that hides it.
const OWN: &str = "installation";

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "installation")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: i64,
    pub made_at: Instant,
    pub key_check: String,
    /// Hidden under the master key: whoever reads the database cannot try passwords on the fingerprints in it.
    pub fingerprint_key: String,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// What is secret in this installation, once its master key was found to be the right one.
pub(crate) struct Installation {
    /// Signs what is kept to know a repeated request by: its own, so that it outlives every other secret.
    pub(crate) fingerprints: hmac::Key,
}

/// The row of a new installation.
pub(crate) fn fresh(keys: &Keys, now: Instant) -> Result<Model> {
    let fingerprint_key = hex(&crate::ids::random_bytes::<32>()?);
    Ok(Model {
        id: ID,
        made_at: now,
        key_check: keys.check()?,
        fingerprint_key: keys.hide(Purpose::Fingerprints, OWN, fingerprint_key.as_bytes())?,
    })
}

/// Keeps the row, unless another process was faster.
pub(crate) async fn keep(connection: &impl ConnectionTrait, row: Model) -> Result<()> {
    let row = ActiveModel {
        id: Set(row.id),
        made_at: Set(row.made_at),
        key_check: Set(row.key_check),
        fingerprint_key: Set(row.fingerprint_key),
    };
    let unless_there = OnConflict::column(Column::Id).do_nothing().to_owned();
    Entity::insert(row).on_conflict(unless_there).exec_without_returning(connection).await?;
    Ok(())
}

/// Whether there is a row.
pub(crate) async fn is_kept(connection: &impl ConnectionTrait) -> Result<bool> {
    Ok(Entity::find_by_id(ID).one(connection).await?.is_some())
}

/// What the row says, under this master key.
pub(crate) async fn read(connection: &impl ConnectionTrait, keys: &Keys) -> Result<Installation> {
    let row = Entity::find_by_id(ID).one(connection).await?;
    let row = row.ok_or_else(|| Error::internal("the database knows of no installation; run duet migrate"))?;
    if row.key_check != keys.check()? {
        return Err(Error::internal(
            "the database was made under another master key: put the file master-key of its data folder back, \
             or set Security:MasterKey to the key that the other servers of this database have",
        ));
    }
    let fingerprints = keys.reveal(Purpose::Fingerprints, OWN, &row.fingerprint_key)?;
    Ok(Installation { fingerprints: hmac::Key::new(hmac::HMAC_SHA256, &fingerprints) })
}
