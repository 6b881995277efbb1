//! The context of one request: who asks, in which company, when, and the only way to a query.
//!
//! Nobody queries without a `Cx`. Its company is part of every key, so a record of another company cannot
//! be reached by mistake. What is to be written in the lane goes to its desk, through the context as well.

use crate::abroad::Abroad;
use crate::access::{Business, KeyScope, Seat};
use crate::audit::{Change, Origin};
use crate::chart::Chart;
use crate::clock::{Clock, Instant};
use crate::database::{Db, Reads, Session};
use crate::day::Day;
use crate::desk::{Desk, NewEntry};
use crate::error::{Error, Result};
use crate::fair::Pace;
use crate::ids::{BusinessId, RecordId, UserId};
use crate::keys::Keys;
use crate::limits::{self, Tally};
use crate::numbering::{Counter, Numbering};
use crate::periods::{Asker, Periods};
use crate::seal::Seals;
use crate::security::AccountChange;
use crate::stock::{Ahead, Levels, Replaced, Shifted};
use crate::tax_codes::TaxCodes;
use crate::taxed::Taxed;
use crate::terms::Terms;
use crate::touched::Touched;
use schema::aliases::{Aliases, Meant};
use schema::key::ResourceKey;
use schema::named;
use schema::reader::{Alone, Host, Reader, Snapshot};
use schema::rights::Action;
use schema::tables::{DocumentKind, EntryRef, documents, entries, entry_lines};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What a write expects the record to be: the `If-Match` header, already taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Expectation {
    /// Nothing was said: the last write wins, where the company allows it.
    #[default]
    Unsaid,
    /// Any version, as long as the record exists.
    Any,
    /// One of these tags, without their quotes.
    Tags(Vec<String>),
    /// That there is no such record yet.
    Absent,
}

/// The point in time that figures are wanted for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Point {
    /// At the end of this day; all days where it is not said.
    pub as_of: Option<Day>,
    /// Only what was recorded by then.
    pub known_at: Option<Instant>,
    /// No entry after this one: what is read in several snapshots tells the same books in each.
    pub until: Option<i64>,
}

pub struct Cx<'a> {
    pub db: Db<'a>,
    pub user: UserId,
    pub now: Instant,
    pub point: Point,
    pub seals: &'a Seals,
    key: Option<&'a KeyScope>,
    session: Option<RecordId>,
    keys: &'a Keys,
    business: Option<&'a Business>,
    clock: &'a Clock,
    expectation: &'a Expectation,
    origin: &'a Origin,
    desk: Option<&'a Desk>,
    pace: Option<&'a Pace>,
    /// What was read for the command before it came to the lane.
    ahead: Option<&'a Ahead>,
    /// What was posted so far.
    moved: Tally,
    /// What of stock a new version replaces.
    replaced: Replaced,
    /// What of stock moved.
    shifted: Shifted,
    levels: Levels,
    abroad: Abroad,
    /// Documents whose tax may come to something else by this command.
    taxed: Taxed,
    touched: Touched,
    /// What the records that commands make are to be called, in their order; those of a demo, and of nobody else.
    names: &'a [Option<RecordId>],
    /// Whether lines that say no identifier are those that stand at their places.
    keeps_places: AtomicBool,
    /// How many entries of a record that is named have their identifier.
    entries_named: AtomicUsize,
    /// How many records of logs that tell of it do.
    logs_named: AtomicUsize,
    /// The record that this command answers, as JSON, where it was written for the audit log already.
    answer: Mutex<Option<Answer>>,
}

/// A record as it is answered: which, in which version, and as JSON.
pub type Answer = (RecordId, i64, String);

/// What a context is made of besides its connection.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    pub user: UserId,
    /// The key that speaks for the user, where one does.
    pub key: Option<&'a KeyScope>,
    /// The session that the request belongs to, where it belongs to one.
    pub session: Option<RecordId>,
    /// What is secret outside of the database.
    pub keys: &'a Keys,
    pub business: Option<&'a Business>,
    pub clock: &'a Clock,
    pub expectation: &'a Expectation,
    pub origin: &'a Origin,
    pub point: Point,
    /// What proves that the server wrote something.
    pub seals: &'a Seals,
}

impl<'a> Cx<'a> {
    pub fn reading(asked: Asked<'a>, reads: &'a Reads) -> Self {
        Self::over(asked, Db::Reads(reads), None)
    }

    pub fn reading_within(asked: Asked<'a>, snapshot: &'a Session) -> Self {
        Self::over(asked, Db::Session(snapshot), None)
    }

    pub fn writing(asked: Asked<'a>, transaction: &'a Session, desk: &'a Desk) -> Self {
        Self::over(asked, Db::Session(transaction), Some(desk))
    }

    fn over(asked: Asked<'a>, db: Db<'a>, desk: Option<&'a Desk>) -> Self {
        let Asked { user, key, session, keys, business, clock, expectation, origin, point, seals } = asked;
        Self {
            db,
            user,
            now: clock.now(),
            point,
            seals,
            key,
            session,
            keys,
            business,
            clock,
            expectation,
            origin,
            desk,
            pace: None,
            ahead: None,
            moved: Tally::default(),
            replaced: Replaced::default(),
            shifted: Shifted::default(),
            levels: Levels::default(),
            abroad: Abroad::default(),
            taxed: Taxed::default(),
            touched: Touched::default(),
            names: &[],
            keeps_places: AtomicBool::new(false),
            entries_named: AtomicUsize::new(0),
            logs_named: AtomicUsize::new(0),
            answer: Mutex::default(),
        }
    }

    /// The same command in the books of a company, as it sees them by now.
    pub async fn within<'b>(&'b self, business: &'b Business) -> Result<Cx<'b>> {
        self.desk()?.open(&self.db, business.id).await?;
        Ok(Cx { ahead: self.ahead, ..self.anew(business, self.expectation) })
    }

    /// The same command once more from its beginning, in the books of a company.
    pub(crate) fn anew<'b>(&'b self, business: &'b Business, expectation: &'b Expectation) -> Cx<'b> {
        let asked = Asked {
            user: self.user,
            key: self.key,
            session: self.session,
            keys: self.keys,
            business: Some(business),
            clock: self.clock,
            expectation,
            origin: self.origin,
            point: self.point,
            seals: self.seals,
        };
        Cx { now: self.now, ..Cx::over(asked, self.db, self.desk) }
    }

    /// One of a command that comes back to the lane when what it wants to have read was read.
    #[must_use]
    pub fn reading_ahead(self, ahead: &'a Ahead) -> Self {
        Self { ahead: Some(ahead), ..self }
    }

    /// One whose records are to be called so: that of each operation by its place.
    #[must_use]
    pub fn naming(self, names: &'a [Option<RecordId>]) -> Self {
        Self { names, ..self }
    }

    /// That of one operation among several.
    pub(crate) fn names_of(&self, place: usize) -> &'a [Option<RecordId>] {
        self.names.get(place..=place).unwrap_or(&[])
    }

    /// What the record of this command is to be called, where that was said.
    fn named(&self) -> Option<RecordId> {
        self.names.first().copied().flatten()
    }

    pub(crate) fn ahead(&self) -> Option<&'a Ahead> {
        self.ahead
    }

    /// One that gives way to others between the portions of what it reads.
    #[must_use]
    pub fn at_pace(self, pace: &'a Pace) -> Self {
        Self { pace: Some(pace), ..self }
    }

    /// The company in scope, for what only reads it.
    pub async fn reader(&self) -> Result<Reader<'a>> {
        let snapshot: &'a dyn Snapshot = match self.db {
            Db::Reads(reads) => reads,
            Db::Session(session) => session,
        };
        let host: &'a dyn Host = match self.pace {
            Some(pace) => pace,
            None => &Alone,
        };
        Reader::of(snapshot, self.business_id()?, host).await
    }

    /// Lets others go first, where this is a long read.
    pub async fn pause(&self) -> Result<()> {
        match self.pace {
            Some(pace) => pace.pause().await,
            None => Ok(()),
        }
    }

    /// The company in scope. A resource of a company is never reached without one.
    pub fn business(&self) -> Result<&'a Business> {
        self.business.ok_or_else(|| Error::internal("a company's resource was asked for without a company"))
    }

    pub fn business_id(&self) -> Result<BusinessId> {
        self.business().map(|business| business.id)
    }

    /// Who the parties of rows are.
    pub fn aliases(&self) -> Result<&'a Aliases> {
        self.business().map(|business| business.aliases.as_ref())
    }

    /// The company's own day.
    pub fn today(&self) -> Result<Day> {
        Ok(self.business()?.today(self.now))
    }

    /// The only company that the caller's key knows.
    pub fn only(&self) -> Option<BusinessId> {
        self.key.map(|key| key.business)
    }

    /// The session that the request belongs to. Whoever comes with a key has none.
    pub fn session(&self) -> Option<RecordId> {
        self.session
    }

    /// What is secret outside of the database.
    pub fn keys(&self) -> &'a Keys {
        self.keys
    }

    /// What is left of a seat for the caller's key.
    pub fn narrowed(&self, seat: Seat) -> Seat {
        seat.narrowed(self.key)
    }

    /// Refuses where the caller's role does not allow it.
    pub fn require(&self, resource: ResourceKey, action: Action) -> Result<()> {
        self.business()?.require(resource, action)
    }

    /// The identifier of a new record.
    pub fn new_id(&self) -> uuid::Uuid {
        self.clock.record()
    }

    /// The same of one whose identifier nobody shall guess.
    pub fn hidden_id(&self) -> uuid::Uuid {
        self.clock.identifier()
    }

    /// The identifier of the record that this command makes: a new one, unless it was named.
    pub fn own_id(&self) -> uuid::Uuid {
        self.named().map_or_else(|| self.new_id(), |named| named.0)
    }

    /// The same of one whose identifier nobody shall guess.
    pub fn own_hidden_id(&self) -> uuid::Uuid {
        self.named().map_or_else(|| self.hidden_id(), |named| named.0)
    }

    /// From now on a line without an identifier is the one that stands at its place: whoever calls a record by a name of
    /// their own never learned how its lines are called.
    pub fn keep_places(&self) {
        self.keeps_places.store(true, Ordering::Relaxed);
    }

    pub fn keeps_places(&self) -> bool {
        self.keeps_places.load(Ordering::Relaxed)
    }

    /// The identifier of a line of that record, by its place.
    pub fn line_id(&self, place: usize) -> uuid::Uuid {
        self.named().map_or_else(|| self.new_id(), |named| named::line(named, place).0)
    }

    fn entry_id(&self) -> uuid::Uuid {
        let Some(named) = self.named() else { return self.new_id() };
        named::entry(named, self.entries_named.fetch_add(1, Ordering::Relaxed)).0
    }

    fn log_id(&self) -> RecordId {
        let Some(named) = self.named() else { return RecordId(self.new_id()) };
        named::log(named, self.logs_named.fetch_add(1, Ordering::Relaxed))
    }

    /// Compares `If-Match` with the record as it is.
    pub fn check_expectation(&self, id: RecordId, version: i64) -> Result<()> {
        match self.expectation {
            Expectation::Unsaid if self.business.is_some_and(|business| business.settings.require_if_match) => {
                Err(Error::PreconditionRequired)
            }
            Expectation::Unsaid | Expectation::Any => Ok(()),
            Expectation::Tags(tags) if tags.iter().any(|tag| tells_version(tag, id, version)) => Ok(()),
            Expectation::Tags(_) | Expectation::Absent => Err(Error::PreconditionFailed),
        }
    }

    /// Compares `If-Match` with a record that is not there yet: no version of it is what anybody expects.
    pub fn check_absent(&self) -> Result<()> {
        match self.expectation {
            Expectation::Unsaid | Expectation::Absent => Ok(()),
            Expectation::Any | Expectation::Tags(_) => Err(Error::PreconditionFailed),
        }
    }

    /// Refuses `If-Match` where what is written is no one record.
    pub fn check_unsaid(&self, instead: &str) -> Result<()> {
        match self.expectation {
            Expectation::Unsaid | Expectation::Absent => Ok(()),
            Expectation::Any | Expectation::Tags(_) => {
                Err(Error::field("If-Match", format!("is of no one record; {instead}")))
            }
        }
    }

    // ── The books ──

    pub(crate) fn desk(&self) -> Result<&'a Desk> {
        self.desk.ok_or_else(|| Error::internal("a write outside the lane"))
    }

    /// When the document is posted that the command posts next.
    pub fn moment_of_posting(&self) -> Result<Instant> {
        Ok(self.desk()?.moment_of_posting(self.now))
    }

    pub async fn chart(&self) -> Result<Arc<Chart>> {
        let business = self.business_id()?;
        match self.desk {
            Some(desk) => desk.chart(&self.db, business).await,
            None => Ok(Arc::new(crate::chart::load(&self.db, business).await?)),
        }
    }

    pub async fn numbering(&self) -> Result<Arc<Numbering>> {
        self.desk()?.numbering(&self.db, self.business_id()?).await
    }

    pub async fn periods(&self) -> Result<Arc<Periods>> {
        let business = self.business_id()?;
        match self.desk {
            Some(desk) => desk.periods(&self.db, business).await,
            None => Ok(Arc::new(Periods::load(&self.db, business).await?)),
        }
    }

    pub fn asker(&self) -> Asker {
        Asker { user: self.user, now: self.now }
    }

    pub async fn taxes(&self) -> Result<Arc<TaxCodes>> {
        self.desk()?.taxes(&self.db, self.business_id()?).await
    }

    pub async fn terms(&self) -> Result<Arc<Terms>> {
        self.desk()?.terms(&self.db, self.business_id()?).await
    }

    /// Those of these parties that there are.
    pub async fn parties(
        &self,
        asked: impl IntoIterator<Item = Meant>,
    ) -> Result<HashMap<RecordId, Arc<schema::party::Model>>> {
        let asked: HashSet<RecordId> = asked.into_iter().map(Meant::id).collect();
        self.desk()?.parties(&self.db, self.business_id()?, &asked).await
    }

    /// The party that an identifier means, if there is one.
    pub async fn party(&self, named: RecordId) -> Result<Option<Arc<schema::party::Model>>> {
        let party = self.aliases()?.meant(named);
        Ok(self.parties([party]).await?.remove(&party.id()))
    }

    /// Those of these items that there are.
    pub async fn items(&self, asked: &HashSet<RecordId>) -> Result<HashMap<RecordId, Arc<schema::item::Model>>> {
        self.desk()?.items(&self.db, self.business_id()?, asked).await
    }

    pub async fn counter(&self, series: RecordId, period: &str) -> Result<Option<Counter>> {
        self.desk()?.counter(&self.db, self.business_id()?, series, period).await
    }

    pub fn set_counter(&self, series: RecordId, period: String, last: i64, date: Day) -> Result<()> {
        self.desk()?.set_counter(self.business_id()?, series, period, last, date);
        Ok(())
    }

    /// Puts a posting into the books, as far as the caller may.
    pub async fn post(&self, entry: NewEntry) -> Result<EntryRef> {
        self.abroad.note(&entry, &self.business()?.base_currency);
        self.taxed.note(&entry);
        let entry = limits::judge(self, &self.moved, entry).await?;
        let chart = self.chart().await?;
        let stamp = (RecordId(self.entry_id()), self.user, self.now);
        self.desk()?.post(self.business_id()?, stamp, entry, &chart)
    }

    /// The first day from which there is something else in other currencies than before this command.
    pub fn changed_abroad(&self) -> Option<Day> {
        self.abroad.since()
    }

    /// What moved in other currencies so far.
    pub fn abroad(&self) -> &Abroad {
        &self.abroad
    }

    /// Documents whose tax may come to something else than before.
    /// What this command moved without writing it.
    pub fn touched(&self) -> &Touched {
        &self.touched
    }

    pub fn taxed(&self) -> &Taxed {
        &self.taxed
    }

    /// Where the stock of an item stands, if that waits on the desk.
    pub(crate) fn stock_that_waits(&self, item: RecordId) -> Result<Option<schema::tables::stock::Model>> {
        Ok(self.desk()?.stock_that_waits(self.business_id()?, item))
    }

    /// Whether a document of this kind waits on the desk.
    pub fn awaits(&self, kind: DocumentKind) -> Result<bool> {
        Ok(self.desk()?.awaits(self.business_id()?, kind))
    }

    /// Lines of the company that wait on the desk, each with its entry.
    pub fn awaiting(
        &self,
        which: impl Fn(&entries::Model, &entry_lines::Model) -> bool,
    ) -> Result<Vec<(entries::Model, entry_lines::Model)>> {
        Ok(self.desk()?.awaiting(self.business_id()?, which))
    }

    /// Refuses where what is written could not be undone by itself; the command starts over then.
    pub fn check_undoable(&self) -> Result<()> {
        self.desk()?.check_undoable()
    }

    pub fn keep_document(&self, document: documents::Model) -> Result<()> {
        self.desk()?.keep_document(document)
    }

    /// What a document in the books names is not removed any more.
    pub fn keep_named(&self, document: &documents::Model) -> Result<()> {
        self.desk()?.keep_named(document)
    }

    pub fn replaced(&self) -> &Replaced {
        &self.replaced
    }

    /// What of stock this command moved so far.
    pub fn shifted(&self) -> &Shifted {
        &self.shifted
    }

    /// How this command moved the stock of items that are bought anew at some level.
    pub fn levels(&self) -> &Levels {
        &self.levels
    }

    /// Puts a row of a sub-ledger on the desk, beside the entries that it belongs to.
    pub fn keep(&self, keep: impl FnOnce(&Desk)) -> Result<()> {
        keep(self.desk()?);
        Ok(())
    }

    /// Writes what the desk holds, so that a query sees it.
    pub async fn flush(&self) -> Result<()> {
        self.desk()?.flush(&self.db).await.map_err(|error| match error {
            Error::Unavailable(_) => error,
            // What the database objects to may be somebody else's; the lane finds out whose.
            other => Error::internal(format!("what was planned could not be written: {other:?}")),
        })
    }

    /// The command answers this very record, as the audit log has it.
    pub fn answers(&self, answer: Answer) {
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
    }

    /// What the command answers, where it was written already.
    pub fn take_answer(&self) -> Option<Answer> {
        self.answer.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Notes a change in the company's audit log.
    pub fn record(&self, business: BusinessId, change: Change) -> Result<()> {
        self.desk()?.record(business, self.log_id(), self.now, self.origin, change)
    }

    /// Notes a change of a document in the company's audit log, and what is kept of it from then on. Where both stand is
    /// answered.
    pub fn record_kept(&self, change: Change, kept: &str) -> Result<i64> {
        let named = (self.log_id(), self.now);
        self.desk()?.record_kept(self.business_id()?, named, self.origin, (change, Some(kept)))
    }

    /// Notes in the installation's log what happened to the caller's account.
    pub fn record_account(&self, account: UserId, change: AccountChange) -> Result<()> {
        self.record(BusinessId::INSTALLATION, change.of(account))
    }

    /// Begins the books of a company that was just made.
    pub async fn found(&self, business: BusinessId) -> Result<()> {
        self.desk()?.found(&self.db, business).await
    }

    /// What documents are judged by has changed.
    pub fn forget_facts(&self, business: BusinessId) -> Result<()> {
        self.desk()?.forget_facts(business);
        Ok(())
    }
}

/// How the `ETag` of a record begins, the same in both dialects.
pub fn version_tag(id: RecordId, version: i64) -> String {
    format!("{id}-{version}")
}

/// Whether a tag is of this version. What else was read with it, such as a balance, is nothing that a write changes.
fn tells_version(tag: &str, id: RecordId, version: i64) -> bool {
    let rest = tag.strip_prefix(&version_tag(id, version));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_is_judged_by_the_version_that_was_read() {
        let (id, other) = (RecordId(uuid::Uuid::from_u128(1)), RecordId(uuid::Uuid::from_u128(2)));
        for (tag, is_it) in [
            (format!("{id}-1"), true),
            (format!("{id}-1-00ff"), true),
            (format!("{id}-12"), false),
            (format!("{id}-2-00ff"), false),
            (format!("{other}-1"), false),
            (format!("{id}-"), false),
            (format!("x{id}-1"), false),
            (String::new(), false),
        ] {
            assert_eq!(tells_version(&tag, id, 1), is_it, "{tag}");
        }
    }
}
