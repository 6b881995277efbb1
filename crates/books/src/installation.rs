//! What the database knows of the installation that it belongs to.
//!
//! The row is made with the schema, by the first process that brings it up to date. Every later one must hold the same
//! master key, or it stops: it could neither prove what was signed nor read what was hidden.

use crate::clock::Instant;
use crate::error::{Error, Result};
use crate::ids::BusinessId;
use crate::keys::{Keys, Purpose};
use crate::seal::sums::Sums;
use crate::seal::tables::{TABLES, Whose};
use crate::seal::{Seals, same, writing};
use crate::texts::hex;
use answers::Answers;
use ring::hmac;
use schema::tables::books;
use sea_orm::ActiveValue::Set;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::OnConflict;
use sea_orm::{DbBackend, QuerySelect};

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
    /// What signed under the master keys before, the first one first, a line each: hidden under the one of now.
    pub former_keys: String,
    /// What the seals of the rows come to that belong to no company.
    pub sums: String,
    /// Over all of it; nothing until what is there is sealed.
    pub signature: String,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// What is secret in this installation, once its master key was found to be the right one.
pub struct Installation {
    /// Signs what is kept to know a repeated request by: its own, so that it outlives every other secret.
    pub fingerprints: hmac::Key,
    /// What signed before, the first one first.
    pub former: Vec<hmac::Key>,
}

/// The row of a new installation.
pub fn fresh(keys: &Keys, now: Instant) -> Result<Model> {
    let fingerprint_key = hex(&crate::ids::random_bytes::<32>()?);
    Ok(Model {
        id: ID,
        made_at: now,
        key_check: keys.check()?,
        fingerprint_key: keys.hide(Purpose::Fingerprints, OWN, fingerprint_key.as_bytes())?,
        former_keys: String::new(),
        sums: String::new(),
        signature: String::new(),
    })
}

/// Keeps the row, unless another process was faster.
pub async fn keep(connection: &impl ConnectionTrait, row: Model) -> Result<()> {
    let row = ActiveModel {
        id: Set(row.id),
        made_at: Set(row.made_at),
        key_check: Set(row.key_check),
        fingerprint_key: Set(row.fingerprint_key),
        former_keys: Set(row.former_keys),
        sums: Set(row.sums),
        signature: Set(row.signature),
    };
    let unless_there = OnConflict::column(Column::Id).do_nothing().to_owned();
    Entity::insert(row).on_conflict(unless_there).exec_without_returning(connection).await?;
    Ok(())
}

/// Whether there is a row.
pub async fn is_kept(connection: &impl ConnectionTrait) -> Result<bool> {
    Ok(Entity::find_by_id(ID).one(connection).await?.is_some())
}

/// An error where there is a row, and it was made under another master key. Migrations may not have run yet.
pub async fn check_key(connection: &impl ConnectionTrait, keys: &Keys) -> Result<()> {
    if !migrations::has_table(connection, "installation").await? {
        return Ok(());
    }
    let check = Entity::find_by_id(ID).select_only().column(Column::KeyCheck);
    match check.into_tuple::<String>().one(connection).await? {
        Some(check) if keys.knows(&check)?.is_none() => Err(of_another_key()),
        _ => Ok(()),
    }
}

/// Whether the database belongs to this master key; nothing where it belongs to none yet.
pub async fn belongs_to(connection: &impl ConnectionTrait, keys: &Keys) -> Result<Option<bool>> {
    if !migrations::has_table(connection, "installation").await? {
        return Ok(None);
    }
    let check = Entity::find_by_id(ID).select_only().column(Column::KeyCheck);
    let check = check.into_tuple::<String>().one(connection).await?;
    check.map(|check| Ok(keys.knows(&check)?.is_some())).transpose()
}

/// Whether the row says that the books were sealed once. What was sealed is never sealed for the first time again.
pub async fn was_sealed(connection: &impl ConnectionTrait, keys: &Keys) -> Result<bool> {
    let row = Entity::find_by_id(ID).one(connection).await?;
    row.map_or(Ok(false), |row| Ok(keys.knows(&row.key_check)? == Some(true)))
}

/// Notes in the row that the books are sealed, where earlier releases did not.
pub async fn mark_sealed(connection: &impl ConnectionTrait, (seals, keys): (&Seals, &Keys)) -> Result<()> {
    let Some(row) = locked(connection).await? else { return Ok(()) };
    match sealed(seals, &row)? {
        Sealed::Signed(sums) => sign(connection, (seals, keys), row, &sums).await,
        Sealed::Not | Sealed::Spoilt => Ok(()),
    }
}

fn of_another_key() -> Error {
    Error::internal(
        "the database was made under another master key: put the file master-key of its data folder back, \
         or set Security:MasterKey to the key that the other servers of this database have; \
         where duet reseal was interrupted, run it again",
    )
}

/// What the row says, under this master key.
pub async fn read(connection: &impl ConnectionTrait, keys: &Keys) -> Result<Installation> {
    let row = Entity::find_by_id(ID).one(connection).await?;
    let row = row.ok_or_else(|| Error::internal("the database knows of no installation; run duet migrate"))?;
    if keys.knows(&row.key_check)?.is_none() {
        return Err(of_another_key());
    }
    let fingerprints = keys.reveal(Purpose::Fingerprints, OWN, &row.fingerprint_key)?;
    let former = row.former_keys.lines().map(|hidden| keys.inherited(hidden)).collect::<Result<_>>()?;
    Ok(Installation { fingerprints: hmac::Key::new(hmac::HMAC_SHA256, &fingerprints), former })
}

/// What the companies are summed up as, whose books the installation keeps.
pub const BOOKS: &str = "books";

fn signature(seals: &Seals, row: &Model) -> String {
    let mut signing = seals.sign("installation 1");
    signing.feed(Some(&row.made_at.micros().to_string()));
    for text in [&row.key_check, &row.fingerprint_key, &row.sums] {
        signing.feed(Some(text));
    }
    // Books that never had another key are signed as they always were.
    if !row.former_keys.is_empty() {
        signing.feed(Some(&row.former_keys));
    }
    signing.finish()
}

/// Whether the database was made under this master key, or came under it since.
pub async fn is_under(connection: &impl ConnectionTrait, keys: &Keys) -> Result<bool> {
    let row = Entity::find_by_id(ID).one(connection).await?;
    row.map_or(Ok(false), |row| Ok(keys.knows(&row.key_check)?.is_some()))
}

/// Brings the row under another master key, with these sums.
pub async fn bring_under(
    connection: &impl ConnectionTrait,
    (old, new): (&Keys, &Keys),
    (seals, sums): (&Seals, &Sums),
) -> Result<()> {
    let row = locked(connection).await?.filter(|row| matches!(old.knows(&row.key_check), Ok(Some(_))));
    let row = row.ok_or_else(|| Error::internal("the database came under another master key meanwhile"))?;
    let passed: Result<Vec<String>> = row.former_keys.lines().map(|hidden| old.pass_on(hidden, new)).collect();
    let former: Vec<String> = passed?.into_iter().chain([old.bequeath(new)?]).collect();
    let fingerprints = old.reveal(Purpose::Fingerprints, OWN, &row.fingerprint_key)?;
    let row = Model {
        fingerprint_key: new.hide(Purpose::Fingerprints, OWN, &fingerprints)?,
        former_keys: former.join("\n"),
        ..row
    };
    Entity::update_many()
        .col_expr(Column::FingerprintKey, row.fingerprint_key.clone().into())
        .col_expr(Column::FormerKeys, row.former_keys.clone().into())
        .filter(Column::Id.eq(ID))
        .exec(connection)
        .await?;
    sign(connection, (seals, new), row, sums).await
}

/// Signs the row of books that were brought over, with these sums.
pub async fn sign_converted(
    connection: &impl ConnectionTrait,
    (seals, keys): (&Seals, &Keys),
    sums: &Sums,
) -> Result<()> {
    let row = locked(connection).await?;
    let row = row.ok_or_else(|| Error::internal("the books were brought over, and no installation is known"))?;
    sign(connection, (seals, keys), row, sums).await
}

/// What is to be known of the seals of an installation.
pub enum Sealed {
    Signed(Sums),
    /// Nothing was ever sealed here, or it was taken off.
    Not,
    Spoilt,
}

fn sealed(seals: &Seals, row: &Model) -> Result<Sealed> {
    Ok(if row.signature.is_empty() {
        Sealed::Not
    } else if same(&signature(seals, row), &row.signature) {
        Sealed::Signed(Sums::parse(&row.sums)?)
    } else {
        Sealed::Spoilt
    })
}

pub async fn seals(connection: &impl ConnectionTrait, seals: &Seals) -> Result<Sealed> {
    match Entity::find_by_id(ID).one(connection).await? {
        Some(row) => sealed(seals, &row),
        None => Ok(Sealed::Not),
    }
}

/// Brings the sums up to date. What is not as it was signed is not signed again.
pub async fn move_sums(connection: &impl ConnectionTrait, seals: &Seals, moved: &Sums) -> Result<()> {
    let Some(row) = locked(connection).await? else { return Ok(()) };
    match sealed(seals, &row)? {
        Sealed::Signed(mut sums) => {
            sums.move_by(moved);
            write_signed(connection, seals, row, &sums).await
        }
        Sealed::Not | Sealed::Spoilt => Ok(()),
    }
}

async fn locked(connection: &impl ConnectionTrait) -> Result<Option<Model>> {
    let mut row = Entity::find_by_id(ID);
    if connection.get_database_backend() == DbBackend::Postgres {
        row = row.lock_exclusive();
    }
    Ok(row.one(connection).await?)
}

/// Signs it as books that are sealed under this master key.
async fn sign(
    connection: &impl ConnectionTrait,
    (seals, keys): (&Seals, &Keys),
    row: Model,
    sums: &Sums,
) -> Result<()> {
    write_signed(connection, seals, Model { key_check: keys.sealed_check()?, ..row }, sums).await
}

async fn write_signed(connection: &impl ConnectionTrait, seals: &Seals, row: Model, sums: &Sums) -> Result<()> {
    let mut row = Model { sums: sums.to_text(), ..row };
    row.signature = signature(seals, &row);
    Entity::update_many()
        .col_expr(Column::KeyCheck, row.key_check.into())
        .col_expr(Column::Sums, row.sums.into())
        .col_expr(Column::Signature, row.signature.into())
        .filter(Column::Id.eq(ID))
        .exec(connection)
        .await?;
    Ok(())
}

/// Seals what belongs to no company, for the first time.
pub async fn seal(connection: &impl Answers, (seals, keys): (&Seals, &Keys)) -> Result<()> {
    let mut sums = Sums::default();
    for table in TABLES.iter().filter(|table| table.whose == Whose::Installation) {
        *sums.of_table(table.name) = writing::seal_all(connection, seals, table, None).await?;
    }
    for business in companies(connection).await? {
        sums.of_table(BOOKS).add(seals, BOOKS, &business.to_string());
    }
    match locked(connection).await? {
        Some(row) if row.signature.is_empty() => sign(connection, (seals, keys), row, &sums).await,
        _ => Ok(()),
    }
}

/// The companies that there are books of.
pub async fn companies(connection: &impl ConnectionTrait) -> Result<Vec<BusinessId>> {
    let ids = books::Entity::find().select_only().column(books::Column::BusinessId);
    Ok(ids.into_tuple().all(connection).await?)
}
