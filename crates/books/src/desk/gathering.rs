//! What a command leaves on the desk, and how it takes that back when it fails.

use super::company::Head;
use super::pending::Lengths;
use super::standing::Standing;
use super::{Desk, Inner, Trade, cash_days, trade_months};
use crate::audit::{self, Change, Origin};
use crate::chart::Chart;
use crate::clock::Instant;
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::{BusinessId, RecordId, UserId};
use crate::limits::{Judged, Moves};
use crate::numbering::Counter;
use crate::seal::Seals;
use crate::security::Told;
use rules::posting::{Line, Posting};
use schema::aliases::Named;
use schema::tables::{
    DocumentKind, DocumentStatus, EntryKind, EntryRef, allocations, document_lines, document_links, documents, entries,
    entry_lines, is_found_by_its_number, mentions, number_counters, open_item_moves, open_items, progress_moves, stock,
    stock_facts, stock_lines, stock_moves,
};
use sea_orm::ConnectionTrait;
use std::collections::HashMap;

/// Where the desk stood before a command, to return to when it fails.
pub struct Mark {
    /// Of the company, and of the installation, whose log is told of people; nothing of one that was not known.
    pub(super) stood: Vec<(BusinessId, Option<(Head, bool)>)>,
    pub(super) lengths: Lengths,
    pub(super) flushes: u64,
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
    /// What is said of it, where it is turnover.
    pub trade: Option<Trade>,
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
    pub fn mark(&self, company: Option<BusinessId>) -> Mark {
        let inner = self.inner();
        let all = company.into_iter().chain([BusinessId::INSTALLATION]);
        let stood = |id| inner.companies.get(&id).map(|company| (company.head.clone(), company.changed));
        Mark {
            stood: all.map(|id| (id, stood(id))).collect(),
            lengths: inner.pending.lengths(),
            flushes: inner.flushes,
        }
    }

    /// Takes back what was left here since the mark.
    pub fn return_to(&self, mark: Mark) {
        let mut inner = self.inner();
        // What was pending then may be written by now; what is pending since is the command's own.
        let lengths = if inner.flushes == mark.flushes { mark.lengths } else { Lengths::default() };
        inner.pending.truncate(lengths);
        for (id, stood) in mark.stood {
            match (inner.companies.get_mut(&id), stood) {
                (Some(company), Some((head, changed))) => (company.head, company.changed) = (head, changed),
                // It is read again where it is needed.
                (Some(_), None) => inner.forget_books(id),
                (None, _) => {}
            }
        }
    }

    /// Whether the command that runs next only plans.
    pub fn set_planning(&self, planning: bool) {
        let mut inner = self.inner();
        if planning {
            (inner.planning, inner.planned_is_written) = (Some(inner.pending.lengths()), false);
        } else {
            inner.planning = None;
        }
    }

    /// Whether some of what the command planned is written, and so is not taken back here.
    pub fn planned_is_written(&self) -> bool {
        self.inner().planned_is_written
    }

    /// Refuses where a command only plans and is to write what is there already: it runs again, by itself, and is undone
    /// as a whole where it fails.
    pub fn check_undoable(&self) -> Result<()> {
        if self.inner().planning.is_some() {
            return Err(Error::internal("a command does more than it planned, and starts over by itself"));
        }
        Ok(())
    }

    /// Whether a document of this kind waits to be written.
    pub fn awaits(&self, business: BusinessId, kind: DocumentKind) -> bool {
        self.inner().pending.documents.iter().any(|row| row.business_id == business && row.kind == kind)
    }

    /// Where the stock of an item stands, if that waits to be written.
    pub(crate) fn stock_that_waits(&self, business: BusinessId, item: RecordId) -> Option<stock::Model> {
        let inner = self.inner();
        inner.pending.standings.iter().rev().find_map(|standing| match standing {
            Standing::Stock(row) if row.business_id == business && row.item_id == item => Some(row.clone()),
            _ => None,
        })
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

    pub fn is_rehearsing(&self) -> bool {
        self.inner().rehearsed.is_some()
    }

    /// What the rehearsal has posted. It ends with this.
    pub fn rehearsed(&self) -> Vec<Rehearsed> {
        self.inner().rehearsed.take().into_iter().flatten().collect()
    }

    pub fn keep_key(&self, key: schema::idempotency::Model) {
        self.inner().pending.keys.push(key);
    }

    pub fn keep_document(&self, document: documents::Model) -> Result<()> {
        self.keep_named(&document)?;
        self.inner().pending.documents.push(document);
        Ok(())
    }

    /// What a document in the books names is not removed any more.
    pub fn keep_named(&self, document: &documents::Model) -> Result<()> {
        if document.status == DocumentStatus::Draft {
            return Ok(());
        }
        let business_id = document.business_id;
        let named = document.content.named()?.into_iter().map(|record_id| mentions::Model { business_id, record_id });
        self.inner().pending.mentions.extend(named);
        Ok(())
    }

    pub fn keep_line(&self, line: document_lines::Model) {
        self.note_adjusted(&line);
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
        chart: &Chart,
    ) -> Result<EntryRef> {
        let new = new.into_inner();
        let mut guard = self.inner();
        let inner = &mut *guard;
        let company = inner.companies.get_mut(&business).ok_or_else(|| Error::internal("the books are not open"))?;
        company.changed = true;
        company.head.entry_number += 1;
        company.head.recorded_at = Ord::max(company.head.recorded_at, now);
        let entry = EntryRef { id, number: company.head.entry_number, date: new.date };
        let number = new.document_number.as_ref().filter(|number| !is_found_by_its_number(number));
        let searched = [new.narration.as_ref(), number];
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
        inner.pending.traded.extend(trade_months::of_entry(business, entry, &new, &lines)?);
        inner.pending.cash.extend(cash_days::of_entry((new.document, new.kind), &lines, chart));
        inner.pending.lines.extend(lines);
        let facts = crate::tax_facts::rows(business, entry, &new);
        inner.pending.tax_facts.extend(facts);
        Ok(entry)
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
        self.record_kept(business, (id, now), origin, (change, None)).map(drop)
    }

    /// The same with what is kept of a document from then on. Where both stand in the company's log is answered.
    pub fn record_kept(
        &self,
        business: BusinessId,
        (id, now): (RecordId, Instant),
        origin: &Origin,
        (change, kept): (Change, Option<&str>),
    ) -> Result<i64> {
        let mut guard = self.inner();
        guard.told.extend(Told::of(business, origin, &change));
        if let Some(change) = change.for_the_installation(business) {
            guard.append(&self.seals, BusinessId::INSTALLATION, (id, now), origin, (change, None))?;
        }
        guard.append(&self.seals, business, (id, now), origin, (change, kept))
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
        currency_amount: entry_lines::Model::said_of_own(line.currency_amount(), line.amount()),
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
        change: (Change, Option<&str>),
    ) -> Result<i64> {
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
        let sequence = row.sequence;
        self.pending.audits.push(row);
        Ok(sequence)
    }

    pub(super) fn recorded_at(&self, business: BusinessId, now: Instant) -> Instant {
        self.companies.get(&business).map_or(now, |company| Ord::max(company.head.recorded_at, now))
    }
}
