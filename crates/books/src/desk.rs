//! The desk of a write lane: what it remembers of the books, and what it is about to write.
//!
//! Owns: the memory of a company between batches, the rows that a batch gathers, and the few statements that
//! write them. Refuses: to decide; whatever is put here has passed its checks.
//!
//! The memory is trusted only while the version on the company's row is the one it knows. Each batch reads
//! that row first (and locks it on PostgreSQL), and each batch that writes raises it. So several processes
//! may keep the same books, and none of them works from what another has changed.
//!
//! Rollups are not gathered: they follow from the lines, and are summed once when the batch is written.

mod cash_days;
mod company;
mod facts;
mod gathering;
mod inserting;
mod party_months;
mod pending;
mod rollups;
mod searching;
mod signing;
mod standing;
mod tax_months;
mod trade_months;

use crate::clock::Instant;
use crate::database::{Answered, Session};
use crate::error::{Error, Result, Unavailable};
use crate::ids::BusinessId;
use crate::remembered::{self, Changes, Tick};
use crate::seal::writing::{self, Written};
use crate::seal::{Seals, heads};
use crate::security::Told;
use crate::shelf::Share;
use company::Company;
use facts::Facts;
pub use gathering::{Mark, NewEntry, Rehearsed};
pub use inserting::{add_sums, plain};
use pending::{Lengths, Pending};
use schema::tables::{books, tax_beginnings};
use sea_orm::{
    ConnectionTrait, DbBackend, EntityTrait, FromQueryResult, IntoActiveModel, QueryResult, QuerySelect, QueryTrait,
    Statement,
};
pub use signing::Last;
pub use standing::Standing;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
pub use tax_months::tax_months;
pub use trade_months::{Trade, of_lines, trade_months};

pub struct Desk {
    inner: Mutex<Inner>,
    seals: Seals,
    /// What this batch's own writes are known by.
    batch: Mutex<String>,
    /// What it may remember, beside other lanes.
    share: Share,
    /// When it last posted a document.
    posted: Mutex<Option<Instant>>,
}

/// Who sets a clock back by more than this wants its time, and not one that only runs on.
const SET_BACK: Duration = Duration::from_secs(1);

/// As many companies as one lane remembers; the only lane of SQLite serves all of them.
const MOST_COMPANIES: usize = 500;

#[derive(Default)]
struct Inner {
    companies: HashMap<BusinessId, Company>,
    /// Whose version was compared in this batch.
    confirmed: HashSet<BusinessId>,
    /// Whose books the command that runs has opened.
    touched: HashSet<BusinessId>,
    pending: Pending,
    /// How often what was pending was written.
    flushes: u64,
    /// What the log of security is told of the command that runs, once it is committed.
    told: Vec<Told>,
    /// What a rehearsal has posted so far; it is shown even when a query had it written before the end.
    rehearsed: Option<Vec<Rehearsed>>,
    /// Rows that took the place of others in this batch.
    written: Written,
    /// Whether something of this batch is in the database already.
    is_under_way: bool,
    /// Companies whose books began since the last flush.
    founded: Vec<BusinessId>,
    /// What waited when the command began that only plans: what it writes is not undone by itself.
    planning: Option<Lengths>,
    /// Whether some of what it planned is written.
    planned_is_written: bool,
    /// How often it changed who may do what, as of this transaction.
    changes: Option<Changes>,
    /// When that was asked for.
    counted_at: Tick,
    /// Whether commands are planned while the batch before is committed.
    is_meanwhile: bool,
    /// Whose books they were planned for. They stand where they are thought to stand, or it is planned anew.
    planned: HashSet<BusinessId>,
}

/// Asks where the books of a company stand, and locks them where there are other writers. Each batch does, so the text of it
/// stays.
fn standing_of(engine: DbBackend, business: BusinessId) -> Statement {
    static TEXTS: [OnceLock<String>; 2] = [OnceLock::new(), OnceLock::new()];
    let on_postgres = engine == DbBackend::Postgres;
    let text = TEXTS[usize::from(on_postgres)].get_or_init(|| {
        let row = books::Entity::find_by_id(business);
        let row = if on_postgres { row.lock_exclusive() } else { row };
        row.build(engine).sql
    });
    Statement::from_sql_and_values(engine, text, [business.into()])
}

impl Inner {
    /// What of these companies is known, and whatever waits to be written.
    fn forget(&mut self, companies: HashSet<BusinessId>) {
        for company in companies {
            self.forget_books(company);
        }
        self.pending = Pending::default();
        self.told.clear();
        self.rehearsed = None;
        // They are read again where they are needed.
        self.written.clear();
        self.founded.clear();
        (self.planning, self.planned_is_written) = (None, false);
        self.changes = None;
        self.is_meanwhile = false;
        self.planned.clear();
    }

    fn forget_books(&mut self, company: BusinessId) {
        self.companies.remove(&company);
        self.confirmed.remove(&company);
    }

    /// Whether there is more to remember than may be.
    fn is_full(&self, share: &Share) -> bool {
        let facts: usize = self.companies.values().map(|company| company.facts.count()).sum();
        share.is_too_much(facts) || self.companies.len() > MOST_COMPANIES
    }
}

/// What was planned on what is not so any more is planned anew.
fn stale() -> Error {
    Error::Unavailable(Unavailable::Overloaded)
}

impl Desk {
    pub fn new(seals: Seals, share: Share) -> Self {
        Self { inner: Mutex::default(), seals, batch: Mutex::default(), share, posted: Mutex::default() }
    }

    /// When a document is posted: a moment that no other has, behind those of all before it. By it a count knows what was there
    /// and what came after, so two of one command are never at once.
    pub(crate) fn moment_of_posting(&self, now: Instant) -> Instant {
        let mut posted = self.posted.lock().unwrap_or_else(PoisonError::into_inner);
        let runs_on = posted.filter(|last| now <= *last && *last < now.plus(SET_BACK));
        let moment = runs_on.map_or(now, |last| last.plus(Duration::from_micros(1)));
        *posted = Some(moment);
        moment
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn batch(&self) -> MutexGuard<'_, String> {
        self.batch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a batch asks as it begins: where the books of its company stand, which locks them where there are other writers,
    /// and then how often it changed who may do what.
    pub fn first_questions(engine: DbBackend, company: Option<BusinessId>) -> Vec<Statement> {
        company.map(|company| standing_of(engine, company)).into_iter().chain([remembered::counting(engine)]).collect()
    }

    /// The first questions are about to be asked.
    pub fn asks(&self) {
        self.inner().counted_at = Tick::next();
    }

    /// A new transaction begins: versions are to be compared anew. The first questions were answered so. What was planned
    /// meanwhile is refused unless all that it was planned on is still so.
    pub async fn new_batch(&self, session: &Session, company: Option<BusinessId>, answered: Answered) -> Result<()> {
        let (planned, planned_under) = {
            let mut inner = self.inner();
            inner.confirmed.clear();
            inner.written.clear();
            inner.is_under_way = false;
            if inner.planned.is_empty() && inner.is_full(&self.share) {
                inner.companies.clear();
            }
            (inner.planned.clone(), inner.changes.take())
        };
        let batch = writing::begin(session).await?;
        *self.batch() = batch;
        let mut answered = answered.into_iter();
        if let Some(company) = company {
            self.stands_at(company, answered.next().iter().flatten().next())?;
        }
        let counted = remembered::read(answered.next().iter().flatten().next())?;
        // Where it was not known, nobody went by it: whoever asks is not planned.
        if !planned.is_empty() && planned_under.is_some_and(|under| under != counted) {
            return Err(stale());
        }
        for company in planned {
            self.open(session, company).await?;
        }
        let mut inner = self.inner();
        inner.planned.clear();
        inner.changes = Some(counted);
        Ok(())
    }

    /// What was pending is being committed. What is planned from here on is of the next batch, and asks nothing; whether
    /// there is room to remember it is answered.
    pub fn begins_meanwhile(&self) -> bool {
        let mut inner = self.inner();
        inner.is_meanwhile = !inner.is_full(&self.share);
        if inner.is_meanwhile {
            inner.confirmed.clear();
        }
        inner.is_meanwhile
    }

    /// Whose books something was planned for meanwhile.
    pub fn planned(&self) -> HashSet<BusinessId> {
        self.inner().planned.clone()
    }

    /// A command that was planned meanwhile was taken back: whose books it opened rests on nothing any more.
    pub fn forget_planned(&self, but: HashSet<BusinessId>) {
        self.inner().planned = but;
    }

    pub fn ends_meanwhile(&self) {
        self.inner().is_meanwhile = false;
    }

    /// Refuses what is written while nothing can be.
    fn check_current(&self) -> Result<()> {
        if self.inner().is_meanwhile {
            return Err(Error::internal("a command writes while the batch before is committed, and starts over"));
        }
        Ok(())
    }

    /// Forgets everything: what is in the database may not be what was thought.
    pub fn clear(&self) {
        *self.inner() = Inner::default();
    }

    #[cfg(test)]
    pub(crate) fn remembers(&self, business: BusinessId) -> bool {
        self.inner().companies.contains_key(&business)
    }

    /// How often a batch was written, of commands that only plan.
    #[cfg(test)]
    pub(crate) fn flushes(&self) -> u64 {
        self.inner().flushes
    }

    /// A command begins.
    pub fn begins(&self) {
        self.inner().touched.clear();
    }

    /// A command writes for itself: nothing is foreseen of what triggers note in this batch.
    pub fn writes_itself(&self) {
        self.inner().is_under_way = true;
    }

    /// The command that ran was taken back with all that it wrote: what is known of the books that it opened may not be so.
    /// What is known of others is. Nobody makes a lane forget the books of another company.
    pub fn forget_command(&self) {
        let mut inner = self.inner();
        let touched = std::mem::take(&mut inner.touched);
        inner.forget(touched);
    }

    /// The batch was taken back as a whole.
    pub fn forget_batch(&self) {
        let mut inner = self.inner();
        let confirmed = std::mem::take(&mut inner.confirmed);
        inner.forget(confirmed);
    }

    /// How often it changed who may do what, as of this transaction.
    pub async fn access_changes(&self, connection: &impl ConnectionTrait) -> Result<Changes> {
        let known = self.inner().changes;
        if let Some(known) = known {
            return Ok(known);
        }
        self.asks();
        let counted = remembered::counted(connection).await?;
        self.inner().changes = Some(counted);
        Ok(counted)
    }

    /// Whether that tells of all that had changed when somebody came. SQLite lets nobody else change anything while a batch is
    /// written, and what is planned meanwhile is held against the count that the next batch asks for.
    pub fn has_counted_since(&self, engine: DbBackend, came: Tick) -> bool {
        let inner = self.inner();
        engine != DbBackend::Postgres || inner.is_meanwhile || came < inner.counted_at
    }

    /// A command that wrote for itself may have changed who may do what.
    pub fn forget_access(&self) {
        self.inner().changes = None;
    }

    /// Forgets what documents are judged by; where the sequences stand is still known.
    pub fn forget_facts(&self, business: BusinessId) {
        if let Some(company) = self.inner().companies.get_mut(&business) {
            company.facts = Facts::default();
        }
    }

    /// The version of a company's books, as far as they were written.
    pub fn version_of(&self, business: BusinessId) -> Option<i64> {
        self.inner().companies.get(&business).map(|company| company.version)
    }

    /// Compares the version of a company's books, once a batch, and locks them where there are other writers.
    pub async fn open(&self, connection: &impl ConnectionTrait, business: BusinessId) -> Result<bool> {
        {
            let mut inner = self.inner();
            inner.touched.insert(business);
            if inner.confirmed.contains(&business) {
                return Ok(true);
            }
            if inner.is_meanwhile && inner.companies.contains_key(&business) {
                inner.planned.insert(business);
                return Ok(inner.confirmed.insert(business));
            }
        }
        let asked = standing_of(connection.get_database_backend(), business);
        self.stands_at(business, connection.query_one_raw(asked).await?.as_ref())
    }

    /// What was answered to where the books of a company stand. Whether there are any is answered.
    fn stands_at(&self, business: BusinessId, answered: Option<&QueryResult>) -> Result<bool> {
        let Some(row) = answered.map(|row| books::Model::from_query_result(row, "")).transpose()? else {
            return Ok(false);
        };
        let mut inner = self.inner();
        inner.confirmed.insert(business);
        // What is known goes on from what was signed last. A row that is not that was changed by somebody else.
        let is_changed =
            |known: &Company| known.version != row.version || (known.is_signed && !heads::is_signed(&self.seals, &row));
        if inner.companies.get(&business).is_none_or(is_changed) {
            if inner.planned.contains(&business) {
                return Err(stale());
            }
            inner.companies.insert(business, Company::read(&self.seals, row)?);
        }
        Ok(true)
    }

    /// Begins the books of a new company.
    pub async fn found(&self, connection: &impl ConnectionTrait, business: BusinessId) -> Result<()> {
        let mut row = books::Model {
            business_id: business,
            version: 0,
            entry_number: 0,
            recorded_at: Instant::default(),
            audit_sequence: 0,
            audit_hash: String::new().into(),
            sums: String::new(),
            signature: String::new(),
        };
        row.signature = heads::signature(&self.seals, &row);
        books::Entity::insert(row.clone().into_active_model()).exec_without_returning(connection).await?;
        // All of its entries tell of their tax.
        if business != BusinessId::INSTALLATION {
            let beginning = tax_beginnings::Model { business_id: business, entry_number: 0 };
            tax_beginnings::Entity::insert(beginning.into_active_model()).exec_without_returning(connection).await?;
        }
        let company = Company::read(&self.seals, row)?;
        let mut inner = self.inner();
        inner.touched.insert(business);
        inner.confirmed.insert(business);
        inner.companies.insert(business, company);
        inner.founded.push(business);
        Ok(())
    }

    /// Opens the installation's own log, which changes of people stand in as well.
    pub async fn open_installation(&self, connection: &impl ConnectionTrait) -> Result<()> {
        self.open(connection, BusinessId::INSTALLATION).await.map(|_| ())
    }

    /// What the log of security is told of what was recorded since this was last asked.
    pub fn take_told(&self) -> Vec<Told> {
        std::mem::take(&mut self.inner().told)
    }
}
