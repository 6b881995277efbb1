//! How books come under another master key: all of them in one transaction, or not at all.
//!
//! Rows that change are sealed anew, and heads signed anew, so that whoever has the old key can forge nothing of them.
//! What is written once keeps its seal and its place in the chain, and is held fast by sums and heads under the new key;
//! what signed it is kept beside, hidden under the new key, so that it is still proved. Secrets are hidden anew. What is
//! known by a digest alone cannot be: recovery codes are void, and failed log-ins and known networks forgotten.

use super::Ledger;
use crate::clock::{Clock, Instant};
use crate::error::{Error, Result};
use crate::ids::{BusinessId, RecordId, UserId};
use ::books::audit::{self, AuditAction, Change, Origin};
use ::books::auth::{recovery, sign_in, throttle};
use ::books::cx::{Asked, Cx, Expectation, Point};
use ::books::database::Session;
use ::books::installation::{self, Sealed};
use ::books::keys::Keys;
use ::books::seal::sums::{Sum, Sums};
use ::books::seal::tables::{LINES, TABLES, Table, Whose};
use ::books::seal::{Seals, heads, proof, writing};
use migrations::Left;
use schema::key::ResourceKey;
use schema::tables::books;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, ConnectionTrait, DbBackend, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Statement};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

/// Hears how far it has got.
pub type Progress = Arc<dyn Fn(&str) + Send + Sync>;

/// What came under the new key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resealed {
    pub companies: usize,
    /// Whose recovery codes are void.
    pub without_codes: usize,
}

impl Ledger {
    /// Whether the books are under this master key.
    pub async fn is_under(&self, keys: &Keys) -> Result<bool> {
        installation::is_under(&self.database.read, keys).await
    }

    /// Brings everything under another master key. Afterwards these books are to be closed: they were opened under the old
    /// one. An error where somebody else has them open.
    pub async fn reseal(&self, new: Keys, progress: Progress) -> Result<Resealed> {
        self.installation().await?;
        let done = Arc::new(Mutex::new(Resealed::default()));
        let companies = installation::companies(&self.database.read).await?;
        let records = companies.into_iter().map(|company| (company, RecordId(self.clock.identifier()))).collect();
        let records = Arc::new(records);
        let resealing = Resealing {
            seals: Seals::of(&new)?,
            keys: (self.keys.clone(), new),
            former: self.seals.clone(),
            records,
            now: self.clock.now(),
            progress,
            done: done.clone(),
        };
        self.write(None, move |transaction, _| {
            let resealing = resealing.clone();
            Box::pin(async move { resealing.run(transaction).await })
        })
        .await?;
        let done = done.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Ok(done)
    }
}

#[derive(Clone)]
struct Resealing {
    keys: (Keys, Keys),
    /// Under the new key.
    seals: Seals,
    /// Those until now.
    former: Seals,
    /// What the record of each company is called.
    records: Arc<HashMap<BusinessId, RecordId>>,
    now: Instant,
    progress: Progress,
    done: Arc<Mutex<Resealed>>,
}

impl Resealing {
    async fn run(&self, transaction: &Session) -> Result<()> {
        check_alone(transaction).await?;
        lock(transaction).await?;
        let mut all = books::Entity::find().order_by_asc(books::Column::BusinessId);
        if transaction.get_database_backend() == DbBackend::Postgres {
            all = all.lock_exclusive();
        }
        let all = all.all(transaction).await?;
        self.prove(transaction, &all).await?;
        let without_codes = self.hide_anew(transaction).await?;
        let mut of_installation = Sums::default();
        for row in &all {
            let of_company = |table: &&Table| matches!(table.whose, Whose::Company(_));
            let sums = self.seal(transaction, of_company, Some(row.business_id)).await?;
            sign_anew(transaction, &self.signing(), "resealed", row.clone(), &sums).await?;
            let company = row.business_id.to_string();
            of_installation.of_table(installation::BOOKS).add(&self.seals, installation::BOOKS, &company);
        }
        let own = self.seal(transaction, |table| table.whose == Whose::Installation, None).await?;
        of_installation.move_by(&own);
        let (old, new) = &self.keys;
        installation::bring_under(transaction, (old, new), (&self.seals, &of_installation)).await?;
        let companies = all.iter().filter(|row| row.business_id != BusinessId::INSTALLATION).count();
        *self.done.lock().unwrap_or_else(PoisonError::into_inner) = Resealed { companies, without_codes };
        Ok(())
    }

    fn signing(&self) -> Signing {
        Signing { seals: self.seals.clone(), records: self.records.clone(), now: self.now }
    }

    /// What is sealed anew is what was signed until now: it is proved where nobody can change it any more. An error where
    /// anything is not as it was written.
    async fn prove(&self, transaction: &Session, all: &[books::Model]) -> Result<()> {
        let (origin, clock) = (Origin::default(), Clock::system());
        let asked = Asked {
            user: UserId::default(),
            key: None,
            session: None,
            keys: &self.keys.0,
            business: None,
            clock: &clock,
            expectation: &Expectation::Unsaid,
            origin: &origin,
            point: Point::default(),
            seals: &self.former,
        };
        let cx = Cx::reading_within(asked, transaction);
        let spoilt = |what: String| Error::internal(format!("nothing was sealed anew: {what}; duet verify tells more"));
        let left = writing::left(transaction, &self.former).await?;
        if left != Left::default() {
            return Err(spoilt("changes are noted that no batch of the server made".into()));
        }
        let Sealed::Signed(of_installation) = installation::seals(transaction, &self.former).await? else {
            return Err(spoilt("the installation is not signed".into()));
        };
        let mut companies = Sum::default();
        for row in all {
            let business = row.business_id;
            companies.add(&self.former, installation::BOOKS, &business.to_string());
            let Some(signed) = heads::sums(&self.former, row)? else {
                return Err(spoilt(format!("where the books of {business} stand is not signed")));
            };
            if let Some(problem) = audit::verify(&cx, business).await?.problems.first() {
                let (sequence, problem) = (problem.sequence, &problem.problem);
                return Err(spoilt(format!("record {sequence} of the audit log of {business} {problem}")));
            }
            let found = proof::run(&cx, Some(business), &signed).await?.findings;
            if let Some(found) = found.into_iter().next() {
                return Err(spoilt(format!("{business}: {found}")));
            }
        }
        if companies != of_installation.of(installation::BOOKS) {
            return Err(spoilt("a company was taken out, or put in".into()));
        }
        match proof::run(&cx, None, &of_installation).await?.findings.into_iter().next() {
            Some(found) => Err(spoilt(found)),
            None => Ok(()),
        }
    }

    /// Hides what is secret, and lets go of what only a digest is known of. How many lose their codes is answered.
    async fn hide_anew(&self, transaction: &Session) -> Result<usize> {
        let (old, new) = &self.keys;
        for row in sign_in::Entity::find().filter(sign_in::Column::TotpHidden.is_not_null()).all(transaction).await? {
            let Some(secret) = row.secret(old)? else { continue };
            sign_in::Entity::update_many()
                .filter(sign_in::Column::UserId.eq(row.user_id))
                .col_expr(sign_in::Column::TotpHidden, Expr::value(sign_in::hidden(new, row.user_id, &secret)?))
                .exec(transaction)
                .await?;
        }
        masters::webhook::post::hide_anew(transaction, (old, new)).await?;
        let with_codes = recovery::Entity::find().select_only().column(recovery::Column::UserId).distinct();
        let with_codes: BTreeSet<UserId> = with_codes.into_tuple().all(transaction).await?.into_iter().collect();
        recovery::Entity::delete_many().exec(transaction).await?;
        throttle::Entity::delete_many().exec(transaction).await?;
        throttle::place::Entity::delete_many().exec(transaction).await?;
        writing::forget_notes(transaction).await?;
        Ok(with_codes.len())
    }

    async fn seal(
        &self,
        transaction: &Session,
        which: impl Fn(&&Table) -> bool,
        company: Option<BusinessId>,
    ) -> Result<Sums> {
        let mut sums = Sums::default();
        let mut rows = 0;
        for table in TABLES.iter().filter(|table| which(table)) {
            let sum = writing::seal_all(transaction, &self.seals, table, company).await?;
            rows += sum.count;
            *sums.of_table(table.name) = sum;
            writing::forget_notes(transaction).await?;
        }
        let whose = company.map_or_else(|| "the installation".to_owned(), |company| company.to_string());
        (self.progress)(&format!("{whose}: {rows} rows"));
        Ok(sums)
    }
}

/// What signs where books stand.
#[derive(Clone)]
pub(super) struct Signing {
    pub(super) seals: Seals,
    /// What the record of each company is called.
    pub(super) records: Arc<HashMap<BusinessId, RecordId>>,
    pub(super) now: Instant,
}

/// Signs where the books stand, after a record in their log that says so: what comes after it is under the key.
pub(super) async fn sign_anew(
    transaction: &Session,
    signing: &Signing,
    done: &str,
    was: books::Model,
    sums: &Sums,
) -> Result<()> {
    let business = was.business_id;
    let mut row = books::Model { version: was.version + 1, sums: sums.to_text(), ..was };
    if row.audit_sequence > 0 || row.entry_number > 0 {
        let stood = serde_json::json!({
            "auditSequence": row.audit_sequence,
            "auditHash": row.audit_hash.0,
            "entryNumber": row.entry_number,
        });
        let change = Change {
            action: AuditAction::Sealed,
            resource: ResourceKey::Businesses,
            id: RecordId(business.0),
            version_from: None,
            version_to: None,
            before: None,
            after: Some(serde_json::json!({done: stood}).to_string()),
            note: None,
        };
        row.audit_sequence += 1;
        row.recorded_at = Ord::max(row.recorded_at, signing.now);
        let id = signing.records.get(&business).copied().ok_or_else(meanwhile)?;
        let place = (row.audit_sequence, row.recorded_at, &*row.audit_hash);
        let record = audit::row(&signing.seals, business, id, place, &Origin::default(), (change, None));
        row.audit_hash.clone_from(&record.hash);
        audit::append(transaction, record).await?;
    }
    row.signature = heads::signature(&signing.seals, &row);
    if heads::write(transaction, row).await? {
        return Ok(());
    }
    Err(meanwhile())
}

/// Refuses where another process has these books open: it would go on under the old key. Of a file that is known by who
/// may serve it; the sessions of a server are asked for.
async fn check_alone(connection: &impl ConnectionTrait) -> Result<()> {
    let engine = connection.get_database_backend();
    if engine != DbBackend::Postgres {
        return Ok(());
    }
    let others = "SELECT COUNT(*) AS others FROM pg_stat_activity WHERE datname = current_database() \
                  AND usename = current_user AND backend_type = 'client backend' \
                  AND application_name <> current_setting('application_name')";
    let row = connection.query_one_raw(Statement::from_string(engine, others)).await?;
    let others: i64 = row.ok_or_else(|| Error::internal("nobody says who is connected"))?.try_get("", "others")?;
    if others > 0 {
        return Err(Error::internal(format!(
            "{others} other connections are open to the database; stop every server of it first"
        )));
    }
    Ok(())
}

/// Nobody else writes from here on. On SQLite nobody does beside a transaction that writes.
async fn lock(connection: &impl ConnectionTrait) -> Result<()> {
    if connection.get_database_backend() == DbBackend::Postgres {
        let beside = ["books", "installation", "audit_log", "touched", LINES.name];
        let all: Vec<&str> = TABLES.iter().map(|table| table.name).chain(beside).collect();
        connection.execute_unprepared(&format!("LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE", all.join(", "))).await?;
    }
    Ok(())
}

fn meanwhile() -> Error {
    Error::internal("somebody else wrote the books meanwhile; stop every server of them first")
}
