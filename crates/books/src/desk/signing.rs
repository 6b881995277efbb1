//! Writing what is pending, sealing it, and signing where the books stand then.

use super::Desk;
use super::inserting::plain;
use super::pending::Lengths;
use crate::audit::{AuditAction, Change, Origin};
use crate::clock::Instant;
use crate::database::rows::{Kept, Puts, Rows, Step};
use crate::error::{Error, Result, Unavailable};
use crate::ids::{BusinessId, RecordId};
use crate::seal::foreseen::{self, Foreseen};
use crate::seal::sums::{Moved, Sums};
use crate::seal::tables::{self, TABLES, Whose};
use crate::seal::writing::{self, Name, Of, Sealing, Written};
use crate::{installation, repeats, security};
use answers::Answers;
use schema::key::ResourceKey;
use schema::tables::{books, number_counters};
use sea_orm::{ConnectionTrait, DbBackend, DbErr, EntityName};
use std::collections::BTreeMap;

/// What writes what was pending, and what that does.
struct Gathered {
    steps: Vec<Step>,
    /// What it does to the sums of the seals.
    moved: Moved,
    /// The rows that take the place of others.
    written: Written,
    /// What compares what triggers note of it, where that is known before.
    foreseen: Option<Step>,
}

/// What is to be written last, without which nothing of a batch may be committed.
pub struct Last {
    pub steps: Vec<Step>,
    /// Whether it is all of the batch: nothing was written before it.
    pub is_all: bool,
}

impl Desk {
    /// Writes what is pending, in a handful of statements.
    pub async fn flush(&self, connection: &impl Puts) -> Result<()> {
        self.check_current()?;
        self.writes_itself();
        let Gathered { mut steps, mut moved, written, .. } = self.gather(connection.get_database_backend())?;
        // Where the books stand then goes along, unless it has to be asked for first.
        let goes_along = self.knows_all_of(&moved);
        if goes_along {
            steps.push(Step::Rows(self.heads(connection, &mut moved).await?));
        }
        connection.send(steps).await.map_err(repeats::refused)?;
        self.inner().written.extend(written);
        if !goes_along {
            let heads = self.heads(connection, &mut moved).await?;
            connection.put(vec![heads]).await?;
        }
        Ok(())
    }

    /// Whether the books of all companies are open whose sums moved, and those of the installation are none of them.
    fn knows_all_of(&self, moved: &Moved) -> bool {
        let inner = self.inner();
        moved.0.keys().all(|company| company.is_some_and(|company| inner.confirmed.contains(&company)))
    }

    /// Writes what is pending, and seals what was written otherwise. Answers what is to be written last, without which
    /// nothing of it may be committed: where the books stand now, and all of it where nothing need be asked before.
    pub async fn finish(&self, connection: &impl Puts) -> Result<Last> {
        let engine = connection.get_database_backend();
        let mut steps = self.full_blocks(connection).await?;
        let Gathered { steps: gathered, mut moved, written, foreseen } = self.gather(engine)?;
        steps.extend(gathered);
        if let Some(compared) = foreseen {
            steps.push(compared);
            steps.push(Step::Rows(self.heads(connection, &mut moved).await?));
            return Ok(Last { steps, is_all: true });
        }
        let batch = self.batch().clone();
        let of = Of::Batch(&batch);
        steps.push(Step::Statement(of.taking(engine)));
        let touched = connection.send(steps).await.map_err(repeats::refused)?;
        let written = {
            let mut all = std::mem::take(&mut self.inner().written);
            all.extend(written);
            all
        };
        let (_, mut steps) = writing::settle(connection, (&self.seals, &mut moved), (of, &written), touched).await?;
        steps.push(Step::Rows(self.heads(connection, &mut moved).await?));
        Ok(Last { steps, is_all: false })
    }

    /// Why what was written last was refused.
    pub fn refused(error: DbErr) -> Error {
        // What was known of the books is forgotten with the batch, and nothing is foreseen then.
        if foreseen::differs(&error) { Error::Unavailable(Unavailable::Overloaded) } else { repeats::refused(error) }
    }

    /// Seals what migrations wrote, and tells the log of the installation which tables. What somebody else noted is
    /// believed by nobody, and told.
    pub async fn settle_migrations(&self, connection: &impl Puts, (id, now): (RecordId, Instant)) -> Result<()> {
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
        let mut tables = BTreeMap::new();
        for of in [Of::Batch(&batch), Of::Migrations(&left.signed)] {
            let touched = connection.query_all_raw(of.taking(connection.get_database_backend())).await?;
            let steps;
            (tables, steps) = writing::settle(connection, (&self.seals, &mut moved), (of, &none), touched).await?;
            connection.send(steps).await?;
        }
        // What it wrote itself has its seals.
        writing::forget_notes(connection).await?;
        let heads = self.heads(connection, &mut moved).await?;
        connection.put(vec![heads]).await?;
        self.open_installation(connection).await?;
        let change = Change {
            action: AuditAction::Sealed,
            resource: ResourceKey::Businesses,
            id: RecordId(BusinessId::INSTALLATION.0),
            version_from: None,
            version_to: None,
            before: None,
            after: Some(serde_json::json!({"migrated": tables}).to_string()),
            note: None,
        };
        self.record(BusinessId::INSTALLATION, id, now, &Origin::default(), change)
    }

    /// Seals the books of a company that were kept before there were seals. The audit log tells what stood there.
    pub async fn seal_books(
        &self,
        connection: &impl Answers,
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
            note: None,
        };
        self.record(business, id, now, &Origin::default(), change)
    }

    /// What writes what is pending.
    fn gather(&self, engine: DbBackend) -> Result<Gathered> {
        let (pending, founded, counters, is_first) = {
            let mut inner = self.inner();
            inner.flushes += 1;
            if let Some(waited) = inner.planning {
                inner.planned_is_written |= inner.pending.lengths() != waited;
                inner.planning = Some(Lengths::default());
            }
            let counters: Vec<_> = inner.companies.iter_mut().flat_map(|(id, company)| company.counted(*id)).collect();
            let pending = std::mem::take(&mut inner.pending);
            inner.wait_for_search(&pending.documents);
            (pending, std::mem::take(&mut inner.founded), counters, !inner.is_under_way)
        };
        // What changes other rows is noted as well, as they were before.
        let may_foresee = is_first && founded.is_empty() && pending.adds_only() && pending.is_short(engine);
        let mut moved = Moved::default();
        for business in founded {
            moved.of(None).of_table(installation::BOOKS).add(&self.seals, installation::BOOKS, &business.to_string());
        }
        let mut sealing = Sealing::with(&self.seals, moved)?;
        let steps = pending.steps(engine, &mut sealing, &counters)?;
        let Sealing { mut moved, written, .. } = sealing;
        let foreseen = if may_foresee { self.foresee(engine, &mut moved, &written)? } else { None };
        let mut inner = self.inner();
        for (name, row) in written.iter().filter(|(name, _)| name.0 == number_counters::Entity.table_name()) {
            if let Some(company) = name.1.and_then(|company| inner.companies.get_mut(&company)) {
                company.written.insert(name.clone(), row.clone());
            }
        }
        drop(inner);
        Ok(Gathered { steps, moved, written, foreseen })
    }

    /// What compares what will be noted of these rows with what is known of them, where all of them are known. The sums lose
    /// the seals that go.
    fn foresee(&self, engine: DbBackend, moved: &mut Moved, written: &Written) -> Result<Option<Step>> {
        let inner = self.inner();
        let before = |name: &Name| inner.companies.get(&name.1?)?.written.get_key_value(name);
        let mut known = Vec::with_capacity(written.len());
        for (name, (values, _)) in written {
            let Some((name, before)) = before(name) else { return Ok(None) };
            known.push((name, before, values));
        }
        for ((table, company, _), (_, old), _) in &known {
            moved.of(*company).of_table(table).take(&self.seals, table, old);
        }
        if engine == DbBackend::Sqlite {
            let renewed = known.into_iter().map(|(name, (_, old), after)| (name.clone(), old.clone(), after.clone()));
            return Ok(Some(foreseen::checked(&self.seals, renewed.collect())));
        }
        let mut foreseen = Vec::with_capacity(known.len());
        for (name, before, after) in known {
            foreseen.push(Foreseen::of(tables::table(&name.0)?, name, before, after));
        }
        Ok(Some(Step::Statement(foreseen::compared(&foreseen)?)))
    }

    /// Brings the sums up to date, and signs where the books stand now, which is still to be written.
    async fn heads(&self, connection: &impl ConnectionTrait, moved: &mut Moved) -> Result<Rows> {
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
        if let Some(sums) = of_installation {
            installation::move_sums(connection, &self.seals, &sums).await?;
        }
        Ok(plain::<books::Entity>(heads, Kept::Follows))
    }
}
