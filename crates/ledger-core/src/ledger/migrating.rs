//! How a ledger meets its database: the schema, the master key, and whether its books are sealed.

use super::Ledger;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use ::books::auth::{sign_in, user};
use ::books::installation::{self, Installation, Sealed};
use ::books::keys::Keys;
use ::books::seal::writing;
use ::books::{audit, security};
use migrations::Left;
use migrations::distributing::Distributed;
use schema::business;
use schema::tables::books;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};

/// What is done with books in which nothing is sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unsealed {
    Refused,
    Sealed,
}

impl Ledger {
    /// Brings the schema up to date, and makes the installation known to a database that is new. Books that are there and
    /// were never sealed are refused, unless there was no master key beside them until now: nobody can tell them from books
    /// whose seals somebody took off.
    pub async fn migrate(&self) -> Result<()> {
        self.migrate_with(if self.keys_are_new { Unsealed::Sealed } else { Unsealed::Refused }).await
    }

    /// The same, where the operator says that the books are of a release that had no seals.
    pub async fn migrate_and_seal(&self) -> Result<()> {
        self.migrate_with(Unsealed::Sealed).await
    }

    async fn migrate_with(&self, unsealed: Unsealed) -> Result<()> {
        // What is signed with another key would be somebody else's afterwards.
        installation::check_key(&self.database.read, &self.keys).await?;
        let strange = self.database.migrate(&|text| self.seals.of_migration(text)).await?;
        if strange > 0 {
            security::tampered(None, &format!("{strange} rows were changed behind the server's back"));
        }
        if !installation::is_kept(&self.database.read).await? {
            let row = installation::fresh(&self.keys, self.clock.now())?;
            self.write(None, move |transaction, _| {
                let row = row.clone();
                Box::pin(async move { installation::keep(transaction, row).await })
            })
            .await?;
        }
        self.installation().await?;
        self.seal_what_was_not(unsealed).await?;
        // What migrations noted is settled before anything else touches those rows: each seal goes once.
        if writing::left(&self.database.read, &self.seals).await? != Left::default() {
            let stamp = (RecordId(self.clock.identifier()), self.clock.now());
            self.write(None, move |transaction, desk| Box::pin(desk.settle_migrations(transaction, stamp))).await?;
        }
        if sign_in::any_plain(&self.database.read).await? {
            let keys = self.keys.clone();
            self.write(None, move |transaction, _| {
                let keys = keys.clone();
                Box::pin(async move { sign_in::hide_plain(transaction, &keys).await })
            })
            .await?;
        }
        Ok(())
    }

    /// Keeps the rows of companies apart, over the machines of a cluster of PostgreSQL. Nothing that they hold changes.
    pub async fn distribute(&self) -> Result<Distributed> {
        Ok(self.database.distribute().await?)
    }

    /// Whether nobody has anything in here yet.
    async fn is_new(&self) -> Result<bool> {
        let database = &self.database.read;
        Ok(user::Entity::find().one(database).await?.is_none()
            && business::Entity::find().one(database).await?.is_none()
            && books::Entity::find().filter(books::Column::AuditSequence.gt(0)).one(database).await?.is_none())
    }

    /// Seals books that were kept before there were seals.
    async fn seal_what_was_not(&self, unsealed: Unsealed) -> Result<()> {
        let database = &self.database.read;
        let was_sealed = installation::was_sealed(database, &self.keys).await?;
        if !matches!(installation::seals(database, &self.seals).await?, Sealed::Not) {
            if !was_sealed {
                let own = (self.seals.clone(), self.keys.clone());
                self.write(None, move |transaction, _| {
                    let (seals, keys) = own.clone();
                    Box::pin(async move { installation::mark_sealed(transaction, (&seals, &keys)).await })
                })
                .await?;
            }
            return Ok(());
        }
        if writing::has_seals(database, "users").await? {
            security::tampered(None, "the signature of the installation was taken off");
            return Ok(());
        }
        let is_new = self.is_new().await?;
        if was_sealed && !is_new {
            security::tampered(None, "the seals of all books were taken off");
            return Err(Error::internal(
                "the books were sealed, and their seals were taken off behind the server's back; restore a backup",
            ));
        }
        if unsealed == Unsealed::Refused && !is_new {
            return Err(Error::internal(
                "nothing in these books is sealed: they are of a release that had no seals, and then \
                 duet migrate --seal-old-books seals them as they stand, or somebody took the seals off, and then a \
                 backup is to be restored",
            ));
        }
        // The installation's own come first: its log is told of those of the companies.
        let unsigned = books::Entity::find().filter(books::Column::Signature.eq(""));
        let unsigned = unsigned.order_by_asc(books::Column::BusinessId).all(database).await?;
        for row in unsigned {
            let business = row.business_id;
            if audit::any_keyed(database, business).await? {
                security::tampered(Some(business), "the signature of the books was taken off");
                continue;
            }
            tracing::info!(%business, "the books come under the master key");
            let stamp = (RecordId(self.clock.identifier()), self.clock.now());
            self.write(Some(business), move |transaction, desk| {
                Box::pin(desk.seal_books(transaction, business, stamp))
            })
            .await?;
        }
        let own = (self.seals.clone(), self.keys.clone());
        self.write(None, move |transaction, _| {
            let (seals, keys) = own.clone();
            Box::pin(async move { installation::seal(transaction, (&seals, &keys)).await })
        })
        .await
    }

    /// What is secret in this installation. An error where the master key is not that of the database.
    pub(super) async fn installation(&self) -> Result<&Installation> {
        let read = || async {
            let read = installation::read(&self.database.read, &self.keys).await?;
            self.seals.learn(read.former.clone());
            Ok(read)
        };
        self.installation.get_or_try_init(read).await
    }

    /// Whether the database belongs to this master key; nothing where it belongs to none yet.
    pub async fn belongs_to(&self, keys: &Keys) -> Result<Option<bool>> {
        installation::belongs_to(&self.database.read, keys).await
    }

    /// Whether the master key is that of the database.
    pub async fn check_master_key(&self) -> Result<()> {
        self.installation().await.map(|_| ())
    }

    /// Whether there are no books yet where they are to be.
    pub async fn has_no_books(&self) -> Result<bool> {
        Ok(self.database.is_new().await?)
    }

    pub async fn pending_migrations(&self) -> Result<usize> {
        Ok(self.database.pending_migrations().await?)
    }
}
