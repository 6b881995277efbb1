//! Writing what is pending, sealing it, and signing where the books stand then.

use super::Desk;
use crate::audit::{AuditAction, Change, Origin};
use crate::clock::Instant;
use crate::database::rows::Puts;
use crate::error::{Error, Result, Unavailable};
use crate::ids::{BusinessId, RecordId};
use crate::seal::heads;
use crate::seal::sums::{Moved, Sums};
use crate::seal::tables::{TABLES, Whose};
use crate::seal::writing::{self, Of, Sealing, Written};
use crate::{installation, security};
use schema::key::ResourceKey;
use schema::tables::books;
use sea_orm::ConnectionTrait;

impl Desk {
    /// Writes what is pending, in a handful of statements.
    pub async fn flush(&self, connection: &impl Puts) -> Result<()> {
        let mut moved = self.put_down(connection).await?;
        self.sign(connection, &mut moved).await
    }

    /// Writes what is pending, and seals what was written otherwise. Nothing is committed without it.
    pub async fn finish(&self, connection: &impl Puts) -> Result<()> {
        let mut moved = self.put_down(connection).await?;
        let batch = self.batch().clone();
        let written = std::mem::take(&mut self.inner().written);
        writing::settle(connection, (&self.seals, &mut moved), (Of::Batch(&batch), &written)).await?;
        self.sign(connection, &mut moved).await
    }

    /// Seals what migrations wrote, and tells the log of the installation which tables. What somebody else noted is
    /// believed by nobody, and told.
    pub async fn settle_migrations(
        &self,
        connection: &impl ConnectionTrait,
        (id, now): (RecordId, Instant),
    ) -> Result<()> {
        let left = writing::forget_strange(connection, &self.seals).await?;
        if left.strange > 0 {
            security::tampered(None, &format!("{} changes were noted that no migration made", left.strange));
        }
        if left.signed.is_empty() {
            return Ok(());
        }
        let batch = self.batch().clone();
        let mut moved = Moved::default();
        let none = Written::new();
        writing::settle(connection, (&self.seals, &mut moved), (Of::Batch(&batch), &none)).await?;
        let tables =
            writing::settle(connection, (&self.seals, &mut moved), (Of::Migrations(&left.signed), &none)).await?;
        // What it wrote itself has its seals.
        writing::forget_notes(connection).await?;
        self.sign(connection, &mut moved).await?;
        self.open_installation(connection).await?;
        let change = Change {
            action: AuditAction::Sealed,
            resource: ResourceKey::Businesses,
            id: RecordId(BusinessId::INSTALLATION.0),
            version_from: None,
            version_to: None,
            before: None,
            after: Some(serde_json::json!({"migrated": tables}).to_string()),
        };
        self.record(BusinessId::INSTALLATION, id, now, &Origin::default(), change)
    }

    /// Seals the books of a company that were kept before there were seals. The audit log tells what stood there.
    pub async fn seal_books(
        &self,
        connection: &impl ConnectionTrait,
        business: BusinessId,
        (id, now): (RecordId, Instant),
    ) -> Result<()> {
        let mut sums = Sums::default();
        for table in TABLES.iter().filter(|table| matches!(table.whose, Whose::Company(_))) {
            *sums.of_table(table.name) = writing::seal_all(connection, &self.seals, table, Some(business)).await?;
        }
        // Its log is told as well.
        self.open_installation(connection).await?;
        let stood = {
            let mut inner = self.inner();
            let company =
                inner.companies.get_mut(&business).ok_or_else(|| Error::internal("the books are not open"))?;
            (company.sums, company.is_signed, company.changed) = (sums, true, true);
            if company.head.audit_sequence == 0 && company.head.entry_number == 0 {
                return Ok(());
            }
            serde_json::json!({
                "auditSequence": company.head.audit_sequence,
                "auditHash": company.head.audit_hash,
                "entryNumber": company.head.entry_number,
            })
        };
        let change = Change {
            action: AuditAction::Sealed,
            resource: ResourceKey::Businesses,
            id: RecordId(business.0),
            version_from: None,
            version_to: None,
            before: None,
            after: Some(serde_json::json!({"sealed": stood}).to_string()),
        };
        self.record(business, id, now, &Origin::default(), change)
    }

    /// Writes what is pending. What that did to the sums of the seals is answered.
    async fn put_down(&self, connection: &impl Puts) -> Result<Moved> {
        let (pending, founded, counters) = {
            let mut inner = self.inner();
            inner.flushes += 1;
            let counters: Vec<_> = inner.companies.iter_mut().flat_map(|(id, company)| company.counted(*id)).collect();
            (std::mem::take(&mut inner.pending), std::mem::take(&mut inner.founded), counters)
        };
        let mut moved = Moved::default();
        for business in founded {
            moved.of(None).of_table(installation::BOOKS).add(&self.seals, installation::BOOKS, &business.to_string());
        }
        let mut sealing = Sealing::with(&self.seals, moved)?;
        pending.write(connection, &mut sealing, &counters).await?;
        self.inner().written.extend(sealing.written);
        Ok(sealing.moved)
    }

    /// Brings the sums up to date, and signs where the books stand now.
    async fn sign(&self, connection: &impl ConnectionTrait, moved: &mut Moved) -> Result<()> {
        let of_installation = moved.0.remove(&None);
        let mut of_companies: Vec<_> = moved.0.drain().collect();
        // In one order, so that two processes that lock several of them do not wait for each other.
        of_companies.sort_by_key(|(company, _)| *company);
        for (business, sums) in of_companies {
            let Some(business) = business else { continue };
            if !self.open(connection, business).await? {
                return Err(Error::internal("a row was written of a company that has no books"));
            }
            if let Some(company) = self.inner().companies.get_mut(&business) {
                company.sums.move_by(&sums);
                company.changed = true;
            }
        }
        let heads: Vec<books::Model> = {
            let mut inner = self.inner();
            let changed = inner.companies.iter_mut().filter(|(_, company)| company.changed);
            changed.map(|(id, company)| company.next(&self.seals, *id)).collect()
        };
        for row in heads {
            if !heads::write(connection, row).await? {
                // Someone wrote these books meanwhile: begin again, from what they are now.
                return Err(Error::Unavailable(Unavailable::Overloaded));
            }
        }
        match of_installation {
            Some(sums) => installation::move_sums(connection, &self.seals, &sums).await,
            None => Ok(()),
        }
    }
}
