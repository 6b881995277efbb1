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

use crate::audit::{self, AuditAction, Change, Origin};
use crate::chart::Chart;
use crate::clock::Instant;
use crate::day::Day;
use crate::error::{Error, Result, Unavailable};
use crate::ids::{BusinessId, RecordId, UserId};
use crate::installation;
use crate::limits::{Judged, Moves};
use crate::money::Money;
use crate::numbering::{Counter, Numbering};
use crate::periods::Periods;
use crate::remembered::{self, Changes};
use crate::seal::sums::{Moved, Sums};
use crate::seal::tables::{TABLES, Whose};
use crate::seal::writing::{self, Of, There};
use crate::seal::{Seals, heads};
use crate::security::{self, Told};
use crate::tax_codes::TaxCodes;
use crate::terms::Terms;
use rules::posting::{Line, Posting};
use schema::aliases::Named;
use schema::key::ResourceKey;
use schema::tables::{
    DocumentKind, DocumentStatus, EntryKind, EntryRef, Stage, account_days, account_months, allocations, audit_log,
    books, document_lines, document_links, documents, entries, entry_lines, mentions, number_counters, open_item_moves,
    open_items, party_balances, progress, progress_moves, stock, stock_facts, stock_lines, stock_moves,
    stock_snapshots, tax_beginnings, tax_facts,
};
use sea_orm::sea_query::{Alias, Expr, ExprTrait, OnConflict};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, ConnectionTrait, DbBackend, EntityTrait, IntoActiveModel, Iterable, QueryFilter,
    QuerySelect, Value,
};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use words::sums::Lists as _;

pub struct Desk {
    inner: Mutex<Inner>,
    seals: Seals,
    /// What this batch's own writes are known by.
    batch: Mutex<String>,
}

/// As many companies as one lane remembers; the only lane of SQLite serves all of them.
const MOST_COMPANIES: usize = 500;
/// As many accounts, parties and items of all of them.
const MOST_FACTS: usize = 30_000;

#[derive(Default)]
struct Inner {
    companies: HashMap<BusinessId, Company>,
    /// Whose version was compared in this batch.
    confirmed: HashSet<BusinessId>,
    pending: Pending,
    /// How often what was pending was written.
    flushes: u64,
    /// What the log of security is told of the command that runs, once it is committed.
    told: Vec<Told>,
    /// What a rehearsal has posted so far; it is shown even when a query had it written before the end.
    rehearsed: Option<Vec<Rehearsed>>,
    /// Companies whose books began since the last flush.
    founded: Vec<BusinessId>,
    /// Whether the command that runs only plans: what it writes is not undone by itself.
    planning: bool,
    /// How often it changed who may do what, as of this transaction.
    changes: Option<Changes>,
}

/// What is remembered of one company.
struct Company {
    version: i64,
    head: Head,
    /// What the seals of its rows come to, without what is pending.
    sums: Sums,
    /// Whether its books were as they were signed. If not, they are not signed again: that would hide it.
    is_signed: bool,
    facts: Facts,
    changed: bool,
}

/// Where the sequences stand, with what is pending.
#[derive(Clone)]
struct Head {
    entry_number: i64,
    recorded_at: Instant,
    audit_sequence: i64,
    audit_hash: String,
    counters: HashMap<(RecordId, String), Counter>,
}

#[derive(Default)]
struct Facts {
    chart: Option<Arc<Chart>>,
    numbering: Option<Arc<Numbering>>,
    periods: Option<Arc<Periods>>,
    taxes: Option<Arc<TaxCodes>>,
    terms: Option<Arc<Terms>>,
    parties: HashMap<RecordId, Arc<schema::party::Model>>,
    items: HashMap<RecordId, Arc<schema::item::Model>>,
}

impl Facts {
    fn count(&self) -> usize {
        self.chart.iter().map(|chart| chart.count()).sum::<usize>() + self.parties.len() + self.items.len()
    }
}

/// Rows that wait to be written together.
#[derive(Default)]
struct Pending {
    documents: Vec<documents::Model>,
    entries: Vec<entries::Model>,
    lines: Vec<entry_lines::Model>,
    tax_facts: Vec<tax_facts::Model>,
    audits: Vec<audit_log::Model>,
    keys: Vec<schema::idempotency::Model>,
    document_lines: Vec<document_lines::Model>,
    open_items: Vec<open_items::Model>,
    open_item_moves: Vec<open_item_moves::Model>,
    allocations: Vec<allocations::Model>,
    stock_facts: Vec<stock_facts::Model>,
    stock_lines: Vec<stock_lines::Model>,
    stock_moves: Vec<stock_moves::Model>,
    progress_moves: Vec<progress_moves::Model>,
    links: Vec<document_links::Model>,
    mentions: Vec<mentions::Model>,
    standings: Vec<Standing>,
}

/// Where something stands from now on. It is written after all that is new.
pub enum Standing {
    /// What is left of an open item.
    Open { business: BusinessId, id: RecordId, open: Money, base_open: Money },
    /// A document whose figures moved without its doing: it has a new version.
    Touched { business: BusinessId, id: RecordId, version: i64, at: Instant, by: UserId },
    /// How far a document has got.
    Reached { business: BusinessId, id: RecordId, stage: Stage },
    /// How far a line has got.
    Progress(progress::Model),
    /// The stock of an item.
    Stock(stock::Model),
    /// The stock of an item on an evening.
    Snapshot(stock_snapshots::Model),
    /// What a movement of stock cost after all.
    Cost { business: BusinessId, item: RecordId, date: Day, sequence: i64, cost: Money },
}

/// Where the desk stood before a command, to return to when it fails.
pub struct Mark {
    company: Option<(BusinessId, Head, bool)>,
    lengths: [usize; 17],
    flushes: u64,
}

/// What is to become an entry.
pub struct NewEntry {
    pub date: Day,
    pub kind: EntryKind,
    pub document: DocumentKind,
    pub document_id: RecordId,
    pub document_version: i64,
    pub document_number: Option<String>,
    pub reverses: Option<RecordId>,
    pub moves: Moves,
    pub narration: Option<String>,
    pub posting: Posting,
}

/// A line that a rehearsal would have written.
pub struct Rehearsed {
    pub entry: usize,
    pub date: Day,
    pub line: entry_lines::Model,
}

impl NewEntry {
    pub fn is_revaluation(&self) -> bool {
        self.document == DocumentKind::Revaluation
    }
}

impl Desk {
    pub fn new(seals: Seals) -> Self {
        Self { inner: Mutex::default(), seals, batch: Mutex::default() }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn batch(&self) -> MutexGuard<'_, String> {
        self.batch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new transaction begins: versions are to be compared anew.
    pub async fn new_batch(&self, connection: &impl ConnectionTrait) -> Result<()> {
        {
            let mut inner = self.inner();
            inner.confirmed.clear();
            inner.changes = None;
            let facts: usize = inner.companies.values().map(|company| company.facts.count()).sum();
            if inner.companies.len() > MOST_COMPANIES || facts > MOST_FACTS {
                inner.companies.clear();
            }
        }
        let batch = writing::begin(connection).await?;
        *self.batch() = batch;
        Ok(())
    }

    /// Forgets everything: what is in the database may not be what was thought.
    pub fn clear(&self) {
        *self.inner() = Inner::default();
    }

    /// How often it changed who may do what, as of this transaction.
    pub async fn access_changes(&self, connection: &impl ConnectionTrait) -> Result<Changes> {
        let known = self.inner().changes;
        if let Some(known) = known {
            return Ok(known);
        }
        let counted = remembered::counted(connection).await?;
        self.inner().changes = Some(counted);
        Ok(counted)
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

    /// Compares the version of a company's books, once a batch, and locks them where there are other writers.
    pub async fn open(&self, connection: &impl ConnectionTrait, business: BusinessId) -> Result<bool> {
        if self.inner().confirmed.contains(&business) {
            return Ok(true);
        }
        let mut row = books::Entity::find_by_id(business);
        if connection.get_database_backend() == DbBackend::Postgres {
            row = row.lock_exclusive();
        }
        let Some(row) = row.one(connection).await? else { return Ok(false) };
        let mut inner = self.inner();
        inner.confirmed.insert(business);
        if inner.companies.get(&business).is_none_or(|known| known.version != row.version) {
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
        inner.confirmed.insert(business);
        inner.companies.insert(business, company);
        inner.founded.push(business);
        Ok(())
    }

    // ── Facts ──

    /// One of the facts, if it is remembered.
    fn fact<T>(&self, business: BusinessId, of: fn(&Facts) -> &Option<Arc<T>>) -> Option<Arc<T>> {
        self.inner().companies.get(&business).and_then(|company| of(&company.facts).clone())
    }

    fn learn(&self, business: BusinessId, learn: impl FnOnce(&mut Facts)) {
        if let Some(company) = self.inner().companies.get_mut(&business) {
            learn(&mut company.facts);
        }
    }

    pub async fn chart(&self, connection: &impl ConnectionTrait, business: BusinessId) -> Result<Arc<Chart>> {
        if let Some(chart) = self.fact(business, |facts| &facts.chart) {
            return Ok(chart);
        }
        let chart = Arc::new(crate::chart::load(connection, business).await?);
        self.learn(business, |facts| facts.chart = Some(chart.clone()));
        Ok(chart)
    }

    pub async fn numbering(&self, connection: &impl ConnectionTrait, business: BusinessId) -> Result<Arc<Numbering>> {
        if let Some(numbering) = self.fact(business, |facts| &facts.numbering) {
            return Ok(numbering);
        }
        let numbering = Arc::new(Numbering::load(connection, business).await?);
        self.learn(business, |facts| facts.numbering = Some(numbering.clone()));
        Ok(numbering)
    }

    pub async fn periods(&self, connection: &impl ConnectionTrait, business: BusinessId) -> Result<Arc<Periods>> {
        if let Some(periods) = self.fact(business, |facts| &facts.periods) {
            return Ok(periods);
        }
        let periods = Arc::new(Periods::load(connection, business).await?);
        self.learn(business, |facts| facts.periods = Some(periods.clone()));
        Ok(periods)
    }

    pub async fn taxes(&self, connection: &impl ConnectionTrait, business: BusinessId) -> Result<Arc<TaxCodes>> {
        if let Some(taxes) = self.fact(business, |facts| &facts.taxes) {
            return Ok(taxes);
        }
        let taxes = Arc::new(TaxCodes::load(connection, business).await?);
        self.learn(business, |facts| facts.taxes = Some(taxes.clone()));
        Ok(taxes)
    }

    pub async fn terms(&self, connection: &impl ConnectionTrait, business: BusinessId) -> Result<Arc<Terms>> {
        if let Some(terms) = self.fact(business, |facts| &facts.terms) {
            return Ok(terms);
        }
        let terms = Arc::new(Terms::load(connection, business).await?);
        self.learn(business, |facts| facts.terms = Some(terms.clone()));
        Ok(terms)
    }

    /// Those of these parties that there are.
    pub async fn parties(
        &self,
        connection: &impl ConnectionTrait,
        business: BusinessId,
        asked: &HashSet<RecordId>,
    ) -> Result<HashMap<RecordId, Arc<schema::party::Model>>> {
        let (mut known, missing) = self.known(business, asked, |facts| &facts.parties);
        if !missing.is_empty() {
            let found = crate::parties::load(connection, business, &missing)
                .await?
                .into_iter()
                .map(|row| (row.id, Arc::new(row)));
            let found: Vec<_> = found.collect();
            known.extend(found.iter().cloned());
            self.learn(business, |facts| facts.parties.extend(found));
        }
        Ok(known)
    }

    /// Those of these items that there are.
    pub async fn items(
        &self,
        connection: &impl ConnectionTrait,
        business: BusinessId,
        asked: &HashSet<RecordId>,
    ) -> Result<HashMap<RecordId, Arc<schema::item::Model>>> {
        let (mut known, missing) = self.known(business, asked, |facts| &facts.items);
        if !missing.is_empty() {
            let found = crate::items::load(connection, business, &missing)
                .await?
                .into_iter()
                .map(|row| (row.id, Arc::new(row)));
            let found: Vec<_> = found.collect();
            known.extend(found.iter().cloned());
            self.learn(business, |facts| facts.items.extend(found));
        }
        Ok(known)
    }

    /// What is remembered of these, and which of them are not.
    fn known<T>(
        &self,
        business: BusinessId,
        asked: &HashSet<RecordId>,
        of: fn(&Facts) -> &HashMap<RecordId, Arc<T>>,
    ) -> (HashMap<RecordId, Arc<T>>, HashSet<RecordId>) {
        let inner = self.inner();
        let Some(company) = inner.companies.get(&business) else { return (HashMap::new(), asked.clone()) };
        let remembered = of(&company.facts);
        let known = asked.iter().filter_map(|id| Some((*id, remembered.get(id)?.clone()))).collect();
        let missing = asked.iter().filter(|id| !remembered.contains_key(id)).copied().collect();
        (known, missing)
    }

    // ── What a command leaves here ──

    pub fn mark(&self, company: Option<BusinessId>) -> Mark {
        let inner = self.inner();
        let known = company.and_then(|id| Some((id, inner.companies.get(&id)?)));
        Mark {
            company: known.map(|(id, company)| (id, company.head.clone(), company.changed)),
            lengths: inner.pending.lengths(),
            flushes: inner.flushes,
        }
    }

    /// Takes back what was left here since the mark.
    pub fn return_to(&self, mark: Mark) {
        let mut inner = self.inner();
        // What was pending then may be written by now; what is pending since is the command's own.
        let lengths = if inner.flushes == mark.flushes { mark.lengths } else { [0; 17] };
        inner.pending.truncate(lengths);
        if let Some((id, head, changed)) = mark.company
            && let Some(company) = inner.companies.get_mut(&id)
        {
            company.head = head;
            company.changed = changed;
        }
    }

    /// Whether the command that runs next only plans.
    pub fn set_planning(&self, planning: bool) {
        self.inner().planning = planning;
    }

    /// Refuses where a command only plans and is to write what is there already: it runs again, by itself, and is undone
    /// as a whole where it fails.
    pub fn check_undoable(&self) -> Result<()> {
        if self.inner().planning {
            return Err(Error::internal("a command does more than it planned, and starts over by itself"));
        }
        Ok(())
    }

    /// Whether a document of this kind waits to be written.
    pub fn awaits(&self, business: BusinessId, kind: DocumentKind) -> bool {
        self.inner().pending.documents.iter().any(|row| row.business_id == business && row.kind == kind)
    }

    /// Lines that wait to be written, each with its entry, in the order in which they were posted.
    pub(crate) fn awaiting(
        &self,
        business: BusinessId,
        which: impl Fn(&entries::Model, &entry_lines::Model) -> bool,
    ) -> Vec<(entries::Model, entry_lines::Model)> {
        let inner = self.inner();
        let entries: HashMap<i64, &entries::Model> = inner
            .pending
            .entries
            .iter()
            .filter(|entry| entry.business_id == business)
            .map(|entry| (entry.number, entry))
            .collect();
        let lines = inner.pending.lines.iter().filter(|line| line.business_id == business);
        let found = lines.filter_map(|line| Some((*entries.get(&line.entry_number)?, line)));
        found.filter(|(entry, line)| which(entry, line)).map(|(entry, line)| (entry.clone(), line.clone())).collect()
    }

    /// From now on, what is posted is kept for a rehearsal to show.
    pub fn rehearse(&self) {
        self.inner().rehearsed = Some(Vec::new());
    }

    /// What the rehearsal has posted. It ends with this.
    pub fn rehearsed(&self) -> Vec<Rehearsed> {
        self.inner().rehearsed.take().into_iter().flatten().collect()
    }

    pub fn keep_key(&self, key: schema::idempotency::Model) {
        self.inner().pending.keys.push(key);
    }

    pub fn keep_document(&self, document: documents::Model) {
        self.keep_named(&document);
        self.inner().pending.documents.push(document);
    }

    /// What a document in the books names is not removed any more.
    pub fn keep_named(&self, document: &documents::Model) {
        if document.status == DocumentStatus::Draft {
            return;
        }
        let business_id = document.business_id;
        let named = document.content.named().into_iter().map(|record_id| mentions::Model { business_id, record_id });
        self.inner().pending.mentions.extend(named);
    }

    pub fn keep_line(&self, line: document_lines::Model) {
        self.inner().pending.document_lines.push(line);
    }

    pub fn keep_open_item(&self, item: open_items::Model) {
        self.inner().pending.open_items.push(item);
    }

    pub fn keep_allocation(&self, allocation: allocations::Model) {
        self.inner().pending.allocations.push(allocation);
    }

    pub fn keep_stock_line(&self, line: stock_lines::Model) {
        self.inner().pending.stock_lines.push(line);
    }

    /// What happened to stock. It is recorded when the entry beside it is.
    pub fn keep_stock_fact(&self, now: Instant, fact: stock_facts::Model) {
        let mut inner = self.inner();
        let recorded_at = inner.recorded_at(fact.business_id, now);
        inner.pending.stock_facts.push(stock_facts::Model { recorded_at, ..fact });
    }

    pub fn stands(&self, standing: Standing) {
        self.inner().pending.standings.push(standing);
    }

    /// What happened to an open item. It is recorded when the entry beside it is.
    pub fn move_open_item(&self, now: Instant, moved: open_item_moves::Model) {
        let mut inner = self.inner();
        let recorded_at = inner.recorded_at(moved.business_id, now);
        inner.pending.open_item_moves.push(open_item_moves::Model { recorded_at, ..moved });
    }

    /// How far a line has got. It is recorded when the entry beside it is.
    pub fn move_progress(&self, now: Instant, moved: progress_moves::Model) {
        let mut inner = self.inner();
        let recorded_at = inner.recorded_at(moved.business_id, now);
        inner.pending.progress_moves.push(progress_moves::Model { recorded_at, ..moved });
    }

    pub fn link(&self, link: document_links::Model) {
        self.inner().pending.links.push(link);
    }

    /// What happened to stock. It is recorded when the entry beside it is.
    pub fn move_stock(&self, now: Instant, moved: stock_moves::Model) {
        let mut inner = self.inner();
        let recorded_at = inner.recorded_at(moved.business_id, now);
        inner.pending.stock_moves.push(stock_moves::Model { recorded_at, ..moved });
    }

    /// The next free number of a series' period. It is taken when the entry of its document is.
    pub async fn counter(
        &self,
        connection: &impl ConnectionTrait,
        business: BusinessId,
        series: RecordId,
        period: &str,
    ) -> Result<Option<Counter>> {
        let key = (series, period.to_owned());
        if let Some(company) = self.inner().companies.get(&business)
            && let Some(counter) = company.head.counters.get(&key)
        {
            return Ok(Some(*counter));
        }
        let row = number_counters::Entity::find_by_id((business, series, period.to_owned())).one(connection).await?;
        Ok(row.map(|row| Counter { last: row.last, last_date: row.last_date, changed: false }))
    }

    pub fn set_counter(&self, business: BusinessId, series: RecordId, period: String, last: i64, date: Day) {
        if let Some(company) = self.inner().companies.get_mut(&business) {
            let counter = company.head.counters.entry((series, period)).or_insert(Counter {
                last,
                last_date: date,
                changed: true,
            });
            *counter = Counter { last, last_date: Ord::max(counter.last_date, date), changed: true };
            company.changed = true;
        }
    }

    /// Puts a posting into the books; none that was not judged.
    pub fn post(
        &self,
        business: BusinessId,
        (id, user, now): (RecordId, UserId, Instant),
        new: Judged,
    ) -> Result<EntryRef> {
        let new = new.into_inner();
        let mut guard = self.inner();
        let inner = &mut *guard;
        let company = inner.companies.get_mut(&business).ok_or_else(|| Error::internal("the books are not open"))?;
        company.changed = true;
        company.head.entry_number += 1;
        company.head.recorded_at = Ord::max(company.head.recorded_at, now);
        let entry = EntryRef { id, number: company.head.entry_number, date: new.date };
        let searched = [new.narration.as_ref(), new.document_number.as_ref()];
        inner.pending.entries.push(entries::Model {
            business_id: business,
            number: entry.number,
            id,
            date: new.date,
            recorded_at: company.head.recorded_at,
            recorded_by: user,
            kind: new.kind,
            document_kind: new.document,
            document_id: new.document_id,
            document_version: new.document_version,
            document_number: new.document_number.clone(),
            reverses_id: new.reverses,
            narration: new.narration.clone(),
            total: new.posting.total(),
            search: schema::address::search_text(&searched),
        });
        let lines = new.posting.lines().iter().zip(1..);
        let lines: Vec<_> = lines.map(|(line, position)| line_row(business, entry, position, line)).collect();
        if let Some(rehearsed) = &mut inner.rehearsed {
            let place = rehearsed.chunk_by(|one, next| one.entry == next.entry).count();
            rehearsed.extend(lines.iter().map(|line| Rehearsed { entry: place, date: entry.date, line: line.clone() }));
        }
        inner.pending.lines.extend(lines);
        let facts = crate::tax_facts::rows(business, entry, company.head.recorded_at, &new);
        inner.pending.tax_facts.extend(facts);
        Ok(entry)
    }

    /// Opens the installation's own log, which changes of people stand in as well.
    pub async fn open_installation(&self, connection: &impl ConnectionTrait) -> Result<()> {
        self.open(connection, BusinessId::INSTALLATION).await.map(|_| ())
    }

    /// What the log of security is told of what was recorded since this was last asked.
    pub fn take_told(&self) -> Vec<Told> {
        std::mem::take(&mut self.inner().told)
    }

    /// Notes who changed what. What changes people stands in the installation's log too.
    pub fn record(
        &self,
        business: BusinessId,
        id: RecordId,
        now: Instant,
        origin: &Origin,
        change: Change,
    ) -> Result<()> {
        let mut guard = self.inner();
        guard.told.extend(Told::of(business, origin, &change));
        if let Some(change) = change.for_the_installation(business) {
            guard.append(&self.seals, BusinessId::INSTALLATION, (id, now), origin, change)?;
        }
        guard.append(&self.seals, business, (id, now), origin, change)
    }

    // ── Writing ──

    /// Writes what is pending, in a handful of statements.
    pub async fn flush(&self, connection: &impl ConnectionTrait) -> Result<()> {
        let mut moved = self.put_down(connection).await?;
        self.sign(connection, &mut moved).await
    }

    /// Writes what is pending, and seals what was written otherwise. Nothing is committed without it.
    pub async fn finish(&self, connection: &impl ConnectionTrait) -> Result<()> {
        let mut moved = self.put_down(connection).await?;
        let batch = self.batch().clone();
        writing::settle(connection, (&self.seals, &mut moved), Of::Batch(&batch)).await?;
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
        writing::settle(connection, (&self.seals, &mut moved), Of::Batch(&batch)).await?;
        let tables = writing::settle(connection, (&self.seals, &mut moved), Of::Migrations(&left.signed)).await?;
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
    async fn put_down(&self, connection: &impl ConnectionTrait) -> Result<Moved> {
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
        pending.write(connection, (&self.seals, &mut moved)).await?;
        insert_all::<number_counters::Entity>(connection, (&self.seals, &mut moved), counters, There::Replace).await?;
        Ok(moved)
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

impl Company {
    fn read(seals: &Seals, row: books::Model) -> Result<Self> {
        let is_signed = heads::is_signed(seals, &row);
        if !is_signed && !row.signature.is_empty() {
            security::tampered(Some(row.business_id), "where the books stand is not what was signed");
        }
        Ok(Self {
            version: row.version,
            sums: if is_signed { Sums::parse(&row.sums)? } else { Sums::default() },
            is_signed,
            head: Head {
                entry_number: row.entry_number,
                recorded_at: row.recorded_at,
                audit_sequence: row.audit_sequence,
                audit_hash: row.audit_hash.0,
                counters: HashMap::new(),
            },
            facts: Facts::default(),
            changed: false,
        })
    }

    /// The counters that moved since they were written.
    fn counted(&mut self, business: BusinessId) -> Vec<number_counters::Model> {
        let moved = self.head.counters.iter_mut().filter(|(_, counter)| counter.changed);
        let row = |((series, period), counter): (&(RecordId, String), &mut Counter)| {
            counter.changed = false;
            number_counters::Model {
                business_id: business,
                series_id: *series,
                period: period.clone(),
                last: counter.last,
                last_date: counter.last_date,
            }
        };
        moved.map(row).collect()
    }

    /// Where the books stand next.
    fn next(&mut self, seals: &Seals, business: BusinessId) -> books::Model {
        self.changed = false;
        self.version += 1;
        let mut row = books::Model {
            business_id: business,
            version: self.version,
            entry_number: self.head.entry_number,
            recorded_at: self.head.recorded_at,
            audit_sequence: self.head.audit_sequence,
            audit_hash: self.head.audit_hash.clone().into(),
            sums: self.sums.to_text(),
            signature: String::new(),
        };
        if self.is_signed {
            row.signature = heads::signature(seals, &row);
        }
        row
    }
}

fn line_row(business: BusinessId, entry: EntryRef, position: i64, line: &Line) -> entry_lines::Model {
    entry_lines::Model {
        business_id: business,
        entry_number: entry.number,
        position,
        account_id: line.account(),
        party_id: line.party().map(Named::of),
        date: entry.date,
        amount: line.amount(),
        currency: line.currency().to_owned(),
        currency_amount: line.currency_amount(),
        description: line.description().map(str::to_owned),
        due_date: line.due_date(),
        item_id: line.subject().item,
        quantity: line.subject().quantity,
        tax_code_id: line.subject().tax.as_ref().map(|tax| tax.code),
        tax_component: line.subject().tax.as_ref().and_then(|tax| tax.component.clone()),
        tax_base: line.subject().tax.as_ref().and_then(|tax| tax.base),
    }
}

impl Inner {
    fn append(
        &mut self,
        seals: &Seals,
        business: BusinessId,
        (id, now): (RecordId, Instant),
        origin: &Origin,
        change: Change,
    ) -> Result<()> {
        let company = self.companies.get_mut(&business).ok_or_else(|| Error::internal("the books are not open"))?;
        company.changed = true;
        company.head.audit_sequence += 1;
        company.head.recorded_at = Ord::max(company.head.recorded_at, now);
        let row = audit::row(
            seals,
            business,
            id,
            (company.head.audit_sequence, company.head.recorded_at, &company.head.audit_hash),
            origin,
            change,
        );
        company.head.audit_hash.clone_from(&row.hash.0);
        self.pending.audits.push(row);
        Ok(())
    }

    fn recorded_at(&self, business: BusinessId, now: Instant) -> Instant {
        self.companies.get(&business).map_or(now, |company| Ord::max(company.head.recorded_at, now))
    }
}

impl Pending {
    fn lengths(&self) -> [usize; 17] {
        [
            self.documents.len(),
            self.entries.len(),
            self.lines.len(),
            self.tax_facts.len(),
            self.audits.len(),
            self.keys.len(),
            self.document_lines.len(),
            self.open_items.len(),
            self.open_item_moves.len(),
            self.allocations.len(),
            self.stock_facts.len(),
            self.stock_lines.len(),
            self.stock_moves.len(),
            self.progress_moves.len(),
            self.links.len(),
            self.mentions.len(),
            self.standings.len(),
        ]
    }

    fn truncate(&mut self, lengths: [usize; 17]) {
        let [
            documents,
            entries,
            lines,
            tax_facts,
            audits,
            keys,
            traded,
            open,
            moves,
            allocations,
            facts,
            stock,
            stock_moves,
            progress,
            links,
            mentions,
            standings,
        ] = lengths;
        self.documents.truncate(documents);
        self.entries.truncate(entries);
        self.lines.truncate(lines);
        self.tax_facts.truncate(tax_facts);
        self.audits.truncate(audits);
        self.keys.truncate(keys);
        self.document_lines.truncate(traded);
        self.open_items.truncate(open);
        self.open_item_moves.truncate(moves);
        self.allocations.truncate(allocations);
        self.stock_facts.truncate(facts);
        self.stock_lines.truncate(stock);
        self.stock_moves.truncate(stock_moves);
        self.progress_moves.truncate(progress);
        self.links.truncate(links);
        self.mentions.truncate(mentions);
        self.standings.truncate(standings);
    }

    async fn write(self, connection: &impl ConnectionTrait, (seals, moved): (&Seals, &mut Moved)) -> Result<()> {
        use There::Refuse;
        insert_all::<documents::Entity>(connection, (seals, moved), self.documents, Refuse).await?;
        let (days, months, parties) = rollups(&self.lines)?;
        // Lines first; the row in `entries` seals them.
        let mut of_entries: HashMap<(BusinessId, i64), Vec<Vec<Value>>> = HashMap::new();
        for line in &self.lines {
            of_entries.entry((line.business_id, line.entry_number)).or_default().push(writing::values(line));
        }
        insert_plain::<entry_lines::Entity>(connection, self.lines).await?;
        insert_entries(connection, (seals, moved), self.entries, of_entries).await?;
        insert_all::<tax_facts::Entity>(connection, (seals, moved), self.tax_facts, Refuse).await?;
        add_days(connection, days).await?;
        add_months(connection, months).await?;
        add_parties(connection, parties).await?;
        insert_all::<document_lines::Entity>(connection, (seals, moved), self.document_lines, Refuse).await?;
        insert_all::<open_items::Entity>(connection, (seals, moved), self.open_items, Refuse).await?;
        insert_all::<open_item_moves::Entity>(connection, (seals, moved), self.open_item_moves, Refuse).await?;
        insert_all::<allocations::Entity>(connection, (seals, moved), self.allocations, Refuse).await?;
        insert_all::<stock_facts::Entity>(connection, (seals, moved), self.stock_facts, Refuse).await?;
        insert_all::<stock_lines::Entity>(connection, (seals, moved), self.stock_lines, Refuse).await?;
        insert_all::<stock_moves::Entity>(connection, (seals, moved), self.stock_moves, Refuse).await?;
        insert_all::<progress_moves::Entity>(connection, (seals, moved), self.progress_moves, Refuse).await?;
        insert_all::<document_links::Entity>(connection, (seals, moved), self.links, Refuse).await?;
        add_mentions(connection, self.mentions).await?;
        for standing in self.standings {
            standing.write(connection, (seals, moved)).await?;
        }
        insert_plain::<audit_log::Entity>(connection, self.audits).await?;
        crate::repeats::write(connection, self.keys).await
    }
}

impl Standing {
    async fn write(self, connection: &impl ConnectionTrait, (seals, moved): (&Seals, &mut Moved)) -> Result<()> {
        match self {
            Self::Open { business, id, open, base_open } => {
                open_items::Entity::update_many()
                    .col_expr(open_items::Column::Open, open.into())
                    .col_expr(open_items::Column::BaseOpen, base_open.into())
                    .filter(open_items::Column::BusinessId.eq(business))
                    .filter(open_items::Column::Id.eq(id))
                    .exec(connection)
                    .await?;
            }
            Self::Touched { business, id, version, at, by } => {
                documents::Entity::update_many()
                    .col_expr(documents::Column::Version, version.into())
                    .col_expr(documents::Column::UpdatedAt, at.into())
                    .col_expr(documents::Column::UpdatedBy, by.into())
                    .filter(documents::Column::BusinessId.eq(business))
                    .filter(documents::Column::Id.eq(id))
                    .exec(connection)
                    .await?;
            }
            Self::Reached { business, id, stage } => {
                documents::Entity::update_many()
                    .col_expr(documents::Column::Stage, stage.into())
                    .filter(documents::Column::BusinessId.eq(business))
                    .filter(documents::Column::Id.eq(id))
                    .exec(connection)
                    .await?;
            }
            Self::Progress(row) => {
                insert_all::<progress::Entity>(connection, (seals, moved), vec![row], There::Replace).await?;
            }
            Self::Stock(state) => {
                insert_all::<stock::Entity>(connection, (seals, moved), vec![state], There::Replace).await?;
            }
            Self::Snapshot(snapshot) => {
                insert_all::<stock_snapshots::Entity>(connection, (seals, moved), vec![snapshot], There::Replace)
                    .await?;
            }
            Self::Cost { business, item, date, sequence, cost } => {
                stock_lines::Entity::update_many()
                    .col_expr(stock_lines::Column::Cost, cost.into())
                    .filter(stock_lines::Column::BusinessId.eq(business))
                    .filter(stock_lines::Column::ItemId.eq(item))
                    .filter(stock_lines::Column::Date.eq(date))
                    .filter(stock_lines::Column::Sequence.eq(sequence))
                    .exec(connection)
                    .await?;
            }
        }
        Ok(())
    }
}

/// Both engines bound how many values one statement may bind.
const MOST_VALUES: usize = 30_000;

/// Sizes in which rows are written: few, so that the engine meets the same statements again and again.
const SIZES: [usize; 6] = [512, 128, 32, 8, 2, 1];

fn portions<T>(rows: Vec<T>, columns: usize) -> Vec<Vec<T>> {
    let most = (MOST_VALUES / columns.max(1)).max(1);
    let mut rest = rows.into_iter();
    let mut portions = Vec::new();
    while rest.len() > 0 {
        let size = SIZES.into_iter().find(|&size| size <= rest.len() && size <= most).unwrap_or(1);
        portions.push(rest.by_ref().take(size).collect());
    }
    portions
}

/// Writes rows with their seals.
async fn insert_all<E: EntityTrait>(
    connection: &impl ConnectionTrait,
    (seals, moved): (&Seals, &mut Moved),
    rows: Vec<E::Model>,
    there: There,
) -> Result<()> {
    for portion in portions(rows, E::Column::iter().count() + 1) {
        writing::insert::<E>(connection, (seals, moved), &portion, &[], there).await?;
    }
    Ok(())
}

/// Entries, whose seals are over their lines as well.
async fn insert_entries(
    connection: &impl ConnectionTrait,
    (seals, moved): (&Seals, &mut Moved),
    rows: Vec<entries::Model>,
    mut lines: HashMap<(BusinessId, i64), Vec<Vec<Value>>>,
) -> Result<()> {
    for portion in portions(rows, entries::Column::iter().count() + 1) {
        let own = portion.iter().map(|row| lines.take_list(&(row.business_id, row.number)));
        let own: Vec<_> = own.collect();
        writing::insert::<entries::Entity>(connection, (seals, moved), &portion, &own, There::Refuse).await?;
    }
    Ok(())
}

/// Most are there already.
async fn add_mentions(connection: &impl ConnectionTrait, mut rows: Vec<mentions::Model>) -> Result<()> {
    rows.sort_unstable_by_key(|row| (row.business_id, row.record_id));
    rows.dedup();
    let there =
        || OnConflict::columns([mentions::Column::BusinessId, mentions::Column::RecordId]).do_nothing().to_owned();
    for portion in portions(rows, mentions::Column::iter().count()) {
        mentions::Entity::insert_many(portion.into_iter().map(IntoActiveModel::into_active_model))
            .on_conflict(there())
            .exec_without_returning(connection)
            .await?;
    }
    Ok(())
}

/// Writes rows that something else proves.
async fn insert_plain<E>(connection: &impl ConnectionTrait, rows: Vec<E::Model>) -> Result<()>
where
    E: EntityTrait,
    E::ActiveModel: ActiveModelTrait<Entity = E>,
    E::Model: IntoActiveModel<E::ActiveModel>,
{
    for portion in portions(rows, E::Column::iter().count()) {
        E::insert_many(portion.into_iter().map(IntoActiveModel::into_active_model))
            .exec_without_returning(connection)
            .await?;
    }
    Ok(())
}

type Rollups = (Vec<account_days::Model>, Vec<account_months::Model>, Vec<party_balances::Model>);

#[derive(Default, Clone, Copy)]
struct Turnover {
    debit: i64,
    credit: i64,
    currency: i64,
}

impl Turnover {
    fn add(&mut self, line: &entry_lines::Model) -> Option<()> {
        let amount = line.amount.units();
        let side = if amount < 0 { &mut self.credit } else { &mut self.debit };
        *side = side.checked_add(amount.checked_abs()?)?;
        self.currency = self.currency.checked_add(line.currency_amount.units())?;
        Some(())
    }
}

/// What the lines add to each day, month and party, in an order that every process shares.
fn rollups(lines: &[entry_lines::Model]) -> Result<Rollups> {
    let mut days: BTreeMap<(BusinessId, RecordId, &str, Day), Turnover> = BTreeMap::new();
    let mut months: BTreeMap<(BusinessId, RecordId, &str, String), Turnover> = BTreeMap::new();
    let mut parties: BTreeMap<(BusinessId, Named, RecordId, &str), Turnover> = BTreeMap::new();
    for line in lines {
        let (business, account, currency) = (line.business_id, line.account_id, line.currency.as_str());
        let mut added = days.entry((business, account, currency, line.date)).or_default().add(line);
        let month = (business, account, currency, line.date.year_and_month());
        added = added.and(months.entry(month).or_default().add(line));
        if let Some(party) = line.party_id {
            added = added.and(parties.entry((business, party, account, currency)).or_default().add(line));
        }
        added.ok_or_else(Error::too_large)?;
    }
    let days = days.into_iter().map(|((business_id, account_id, currency, date), sums)| account_days::Model {
        business_id,
        account_id,
        currency: currency.to_owned(),
        date,
        debit: Money::from_units(sums.debit),
        credit: Money::from_units(sums.credit),
        currency_amount: Money::from_units(sums.currency),
    });
    let months = months.into_iter().map(|((business_id, account_id, currency, month), sums)| account_months::Model {
        business_id,
        account_id,
        currency: currency.to_owned(),
        month,
        debit: Money::from_units(sums.debit),
        credit: Money::from_units(sums.credit),
        currency_amount: Money::from_units(sums.currency),
    });
    let parties = parties.into_iter().map(|((business_id, party_id, account_id, currency), sums)| {
        let amount = Money::from_units(sums.debit).minus(Money::from_units(sums.credit));
        Ok(party_balances::Model {
            business_id,
            party_id,
            account_id,
            currency: currency.to_owned(),
            amount: amount.map_err(|_| Error::too_large())?,
            currency_amount: Money::from_units(sums.currency),
        })
    });
    Ok((days.collect(), months.collect(), parties.collect::<Result<_>>()?))
}

/// Adds to the sums of rows that may be there already.
async fn add_all<E>(
    connection: &impl ConnectionTrait,
    rows: Vec<E::Model>,
    same: &[E::Column],
    sums: &[E::Column],
) -> Result<()>
where
    E: EntityTrait,
    E::ActiveModel: ActiveModelTrait<Entity = E>,
    E::Model: IntoActiveModel<E::ActiveModel>,
{
    let mut conflict = OnConflict::columns(same.iter().copied());
    for &sum in sums {
        let added = Expr::col((Alias::new("excluded"), sum));
        conflict.value(sum, Expr::col((E::default(), sum)).add(added));
    }
    for portion in portions(rows, same.len() + sums.len()) {
        E::insert_many(portion.into_iter().map(IntoActiveModel::into_active_model))
            .on_conflict(conflict.clone())
            .exec_without_returning(connection)
            .await?;
    }
    Ok(())
}

async fn add_days(connection: &impl ConnectionTrait, rows: Vec<account_days::Model>) -> Result<()> {
    use account_days::Column::{AccountId, BusinessId, Credit, Currency, CurrencyAmount, Date, Debit};
    let same = [BusinessId, AccountId, Currency, Date];
    add_all::<account_days::Entity>(connection, rows, &same, &[Debit, Credit, CurrencyAmount]).await
}

async fn add_months(connection: &impl ConnectionTrait, rows: Vec<account_months::Model>) -> Result<()> {
    use account_months::Column::{AccountId, BusinessId, Credit, Currency, CurrencyAmount, Debit, Month};
    let same = [BusinessId, AccountId, Currency, Month];
    add_all::<account_months::Entity>(connection, rows, &same, &[Debit, Credit, CurrencyAmount]).await
}

async fn add_parties(connection: &impl ConnectionTrait, rows: Vec<party_balances::Model>) -> Result<()> {
    use party_balances::Column::{AccountId, Amount, BusinessId, Currency, CurrencyAmount, PartyId};
    let same = [BusinessId, PartyId, AccountId, Currency];
    add_all::<party_balances::Entity>(connection, rows, &same, &[Amount, CurrencyAmount]).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_written_in_few_sizes_and_none_is_lost() {
        let sizes = |rows: usize, columns| -> Vec<usize> {
            portions((0..rows).collect(), columns).iter().map(Vec::len).collect()
        };
        assert_eq!(sizes(0, 5), Vec::<usize>::new());
        assert_eq!(sizes(171, 5), [128, 32, 8, 2, 1]);
        assert_eq!(sizes(600, 100), [128, 128, 128, 128, 32, 32, 8, 8, 8]);
        let all: Vec<usize> = portions((0..777).collect(), 40).concat();
        assert_eq!(all, (0..777).collect::<Vec<_>>());
    }
}
