//! The audit log: who changed what, in a chain of hashes for each company.
//!
//! Each record's hash covers its own content and the hash before it, so that a record which is changed, taken
//! out or put in later breaks the chain from there on. The hash is made with a key that is not in the database, so that
//! nobody else can chain them anew; records from before there was a key are plain, and the first one after them holds
//! them fast. The chain's head stands in `books` as well, signed, so that records cut off its end are missed too.

use crate::among::among;
use crate::aside;
use crate::clock::Instant;
use crate::cx::Cx;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::ids::{BusinessId, RecordId, UserId};
use crate::mentions;
use crate::packed::Packed;
use crate::seal::{Seals, heads};
use crate::stored::{Called, HexDigest};
use crate::texts::search_key;
use crate::wire_enum;
use answers::Ask;
use schema::key::ResourceKey;
use schema::recorded::Recorded;
use schema::tables::{audit_log, books};
use schemars::JsonSchema;
use sea_orm::sea_query::{Condition, LikeExpr};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder, QuerySelect};
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

wire_enum! {
    /// What was done to a record.
    pub enum AuditAction {
        #[default]
        Created = "created",
        Updated = "updated",
        Deleted = "deleted",
        /// A draft came into the books.
        Posted = "posted",
        /// A document was taken back by a reversal.
        Voided = "voided",
        /// Something else moved a document that nobody wrote: what was allocated to it or taken back, or what was made of it.
        Touched = "touched",
        /// The same, and nothing is left of it since: it is paid, delivered, invoiced or allocated whole.
        Settled = "settled",
        /// The day went by on which a document was to be settled, and something of it is open. It has the version that it had.
        Overdue = "overdue",
        /// A document brought the stock of an item down to its reorder level or below. The item has the version that it had.
        Low = "low",
        /// The company's books came under the master key: from here on they are proved.
        Sealed = "sealed",
    }
}

/// Where a request came from, as far as the audit log tells.
#[derive(Debug, Clone, Default)]
pub struct Origin {
    /// Who asked; nobody on the command line.
    pub user: Option<UserId>,
    /// The key that speaks for them, where one does.
    pub key: Option<RecordId>,
    pub address: Option<IpAddr>,
    /// The dialect's letter.
    pub dialect: Option<&'static str>,
    /// The server's own name for the request.
    pub request_id: Option<String>,
    /// What the client calls it.
    pub client_request_id: Option<String>,
}

/// One change of one record.
#[derive(Clone)]
pub struct Change {
    pub action: AuditAction,
    pub resource: ResourceKey,
    pub id: RecordId,
    pub version_from: Option<i64>,
    pub version_to: Option<i64>,
    /// The record as it was answered before and after, as JSON.
    pub before: Option<String>,
    pub after: Option<String>,
    /// What moved a document that nobody wrote, or when it was due. The version before it is told by the record before.
    pub note: Option<String>,
}

impl Change {
    /// As it stands in the installation's log, where it changes people: with the company that it happened in.
    pub fn for_the_installation(&self, business: BusinessId) -> Option<Self> {
        let own = business == BusinessId::INSTALLATION;
        let lasting = self.resource != ResourceKey::Businesses || self.action != AuditAction::Updated;
        if own || !self.resource.is_of_people() || !lasting {
            return None;
        }
        let within = |json: &String| format!("{{\"businessId\":\"{business}\",\"record\":{json}}}");
        Some(Self { before: self.before.as_ref().map(within), after: self.after.as_ref().map(within), ..self.clone() })
    }
}

/// A record of a change, and what is `kept` of a document from then on.
pub fn row(
    seals: &Seals,
    business: BusinessId,
    id: RecordId,
    (sequence, at, previous): (i64, Instant, &str),
    origin: &Origin,
    (change, kept): (Change, Option<&str>),
) -> audit_log::Model {
    let search = change.after.as_deref().or(change.before.as_deref()).and_then(looked_for);
    let kept = kept.map(|kept| (change.id, sequence, kept));
    let mut row = audit_log::Model {
        business_id: business,
        sequence,
        id,
        at,
        user_id: origin.user,
        address: origin.address.map(|address| address.to_string()),
        dialect: origin.dialect.map(str::to_owned),
        request_id: origin.request_id.clone().map(Called),
        client_request_id: origin.client_request_id.clone(),
        action: change.action.as_str().into(),
        resource: change.resource.stem().into(),
        resource_id: change.id,
        version_from: change.version_from,
        version_to: change.version_to,
        before: None,
        after: None,
        record: Recorded::text(kept, [&change.before, &change.after, &change.note].map(Option::as_deref))
            .map(Packed::from),
        search,
        hash: HexDigest::default(),
        keyed: true,
    };
    row.hash = signed(seals, previous, &row).into();
    row
}

/// Appends a record by itself. What a batch records waits on the desk instead.
pub async fn append(connection: &impl ConnectionTrait, record: audit_log::Model) -> Result<()> {
    audit_log::Entity::insert(record.into_active_model()).exec_without_returning(connection).await?;
    Ok(())
}

/// What links a record under the key to the chain, after the hash of the record before it: over what is stored of it, so
/// that nothing is unpacked to follow the chain.
fn signed(seals: &Seals, previous: &str, row: &audit_log::Model) -> String {
    // What is kept of the record is shorter than the record.
    let mut signing = seals.sign(if row.record.is_some() { "audit 3" } else { "audit 2" });
    feed_all(previous, row, |part| match part {
        Part::Text(text) => signing.feed(text),
        Part::Record(record) => signing.feed_bytes(record.map(Packed::stored)),
    });
    signing.finish()
}

/// The same of books of before, over the records as they were answered. Of what does not unpack there is none.
fn said(previous: &str, row: &audit_log::Model, mut feed: impl FnMut(Option<&str>)) -> Option<()> {
    let mut is_whole = true;
    feed_all(previous, row, |part| match part {
        Part::Text(text) => feed(text),
        Part::Record(record) => {
            let text = record.and_then(Packed::text);
            is_whole &= record.is_some() == text.is_some();
            feed(text);
        }
    });
    is_whole.then_some(())
}

/// ... which had a key.
fn former_hash(seals: &Seals, previous: &str, row: &audit_log::Model) -> Option<String> {
    let mut signing = seals.sign("audit 1");
    said(previous, row, |text| signing.feed(text))?;
    Some(signing.finish())
}

/// ... which had none yet.
fn plain_hash(previous: &str, row: &audit_log::Model) -> Option<String> {
    let mut digest = Digest::default();
    said(previous, row, |text| digest.feed(text))?;
    Some(digest.finish())
}

/// Whether a record is linked by this key, or by none where there was none.
fn is_linked(seals: &Seals, previous: &str, row: &audit_log::Model) -> bool {
    let is_own = |hash: &str| *hash == *row.hash;
    if !row.keyed {
        return plain_hash(previous, row).is_some_and(|hash| is_own(&hash));
    }
    let of_before = || row.record.is_none() && former_hash(seals, previous, row).is_some_and(|hash| is_own(&hash));
    is_own(&signed(seals, previous, row)) || of_before()
}

/// A part of what is under the hash.
enum Part<'r> {
    Text(Option<&'r str>),
    /// A state of the record.
    Record(Option<&'r Packed>),
}

/// The hash of the record before it, and every column.
fn feed_all(previous: &str, row: &audit_log::Model, mut feed: impl FnMut(Part<'_>)) {
    let mut text = |part: Option<&str>| feed(Part::Text(part));
    text(Some(previous));
    text(Some(&row.business_id.to_string()));
    text(Some(&row.sequence.to_string()));
    text(Some(&row.id.to_string()));
    text(Some(&row.at.micros().to_string()));
    text(row.user_id.map(|user| user.to_string()).as_deref());
    text(row.address.as_deref());
    text(row.dialect.as_deref());
    text(row.request_id.as_deref());
    text(Some(&row.action));
    text(Some(&row.resource));
    text(Some(&row.resource_id.to_string()));
    text(row.version_from.map(|version| version.to_string()).as_deref());
    text(row.version_to.map(|version| version.to_string()).as_deref());
    feed(Part::Record(row.before.as_ref()));
    feed(Part::Record(row.after.as_ref()));
    // Records from before there was this column, and those of clients that call their requests nothing, have one part less.
    if let Some(client) = &row.client_request_id {
        feed(Part::Text(Some(client)));
    }
    // The same of records from before they were looked for by a column of its own.
    if let Some(search) = &row.search {
        feed(Part::Text(Some("search")));
        feed(Part::Text(Some(search)));
    }
    if row.record.is_some() {
        feed(Part::Text(Some("record")));
        feed(Part::Record(row.record.as_ref()));
    }
}

/// The members of a record that it is looked for by.
const LOOKED_FOR: [&str; 9] =
    ["number", "code", "name", "legalName", "email", "reference", "externalId", "narration", "description"];

/// The member that holds the record where one is within another.
const WITHIN: &str = "record";

/// What is read of a record to look for it by: the texts in the order of [`LOOKED_FOR`]. All else is passed over, where it
/// stands: most of a record is none of it.
#[derive(Default)]
struct Looked<'j> {
    texts: [Option<&'j RawValue>; LOOKED_FOR.len()],
    within: Option<&'j RawValue>,
}

impl<'de> Deserialize<'de> for Looked<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Looked<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a record")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> std::result::Result<Looked<'de>, A::Error> {
                let mut looked = Looked::default();
                while let Some(name) = members.next_key::<&str>()? {
                    if let Some(place) = LOOKED_FOR.iter().position(|known| *known == name) {
                        looked.texts[place] = Some(members.next_value()?);
                    } else if name == WITHIN {
                        looked.within = Some(members.next_value()?);
                    } else {
                        members.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(looked)
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// What a record is looked for by, as `q` has it. One in the installation's log is within another.
fn looked_for(json: &str) -> Option<String> {
    let mut looked: Looked<'_> = serde_json::from_str(json).ok()?;
    if let Some(within) = looked.within {
        looked = serde_json::from_str(within.get()).ok()?;
    }
    // Most of them are there and hold nothing, which is no mistake to make words of.
    let text = |text: &RawValue| serde_json::from_str::<Option<String>>(text.get()).ok().flatten();
    let texts: Vec<String> = looked.texts.into_iter().flatten().filter_map(text).collect();
    Some(search_key(&texts.join(" ")))
}

/// Records that a word is found in; those from before there was a column for it by what they hold.
pub fn found_by(word: &str, like: LikeExpr) -> Condition {
    use audit_log::Column;
    let older = Condition::all().add(Column::Search.is_null()).add(mentions::contains(Column::After, word));
    Condition::any().add(Column::Search.like(like)).add(older)
}

/// What a walk along the chain came to.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditVerdict {
    /// Whether the chain is whole.
    pub ok: bool,
    /// Records in the chain.
    pub records: i64,
    /// Hash of the newest record; keep it elsewhere to be able to prove later that nothing was cut off.
    pub head: String,
    /// Where the chain is broken.
    pub problems: Vec<AuditProblem>,
}

/// A place at which the audit log is not what was written.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditProblem {
    /// The record's place in the chain.
    pub sequence: i64,
    /// What is wrong there.
    pub problem: String,
}

/// Each record may weigh what the largest document does, twice.
const PORTION: u64 = 200;
const MOST_PROBLEMS: usize = 100;

/// As many records as one hand follows at a time. Logs of tests are divided as well.
const SPAN: i64 = if cfg!(debug_assertions) { 48 } else { 10_000 };

/// Where following a chain begins: after a record, whose hash is taken as it stands, or as it was kept elsewhere.
#[derive(Debug, Clone, Default)]
pub struct Beginning {
    after: i64,
    /// What the next record must have, where that is known from elsewhere.
    kept: Option<String>,
}

impl Beginning {
    /// The record on whose hash was kept elsewhere: what came before it is trusted.
    pub fn kept(sequence: i64, hash: &str) -> Self {
        Self { after: sequence - 1, kept: Some(hash.to_owned()) }
    }
}

/// Walks the whole chain, of a company or, under nobody's identifier, of the installation.
pub async fn verify(cx: &Cx<'_>, business: BusinessId) -> Result<AuditVerdict> {
    end(cx, business, followed(cx, business).await?).await
}

/// All of a chain, part by part.
pub async fn followed(cx: &Cx<'_>, business: BusinessId) -> Result<Followed> {
    let (mut followed, mut next) = (Followed::default(), Some(Beginning::default()));
    while let Some(from) = next {
        next = next_part(cx, business, &from).await?;
        followed.add(follow(cx, business, (from, next.as_ref())).await?);
    }
    Ok(followed)
}

/// Where another hand may go on; nothing where all that is left is little.
pub async fn next_part(cx: &Cx<'_>, business: BusinessId, from: &Beginning) -> Result<Option<Beginning>> {
    let head = books::Entity::find_by_id(business).model(&cx.db).await?;
    let after = from.after + SPAN;
    Ok(head.filter(|head| head.audit_sequence > after).map(|_| Beginning { after, kept: None }))
}

/// Follows a part of a chain, to where the next one begins. Each record is held against the hash before it as that stands,
/// so parts may be followed in any order: together they hold what following all of it in turn does.
pub async fn follow(
    cx: &Cx<'_>,
    business: BusinessId,
    (from, next): (Beginning, Option<&Beginning>),
) -> Result<Followed> {
    let (connection, eras) = (&cx.db, cx.seals.eras()?);
    let mut chain = Chain::after(from.after, hash_at(connection, business, from.after).await?);
    if let Some(kept) = from.kept {
        match hash_at(connection, business, from.after + 1).await? {
            Some(hash) if hash == kept => {}
            Some(_) => chain.problems.report(from.after + 1, "is another than it was"),
            None => chain.problems.report(from.after + 1, "is missing"),
        }
    }
    let until = next.map(|next| next.after);
    let mut portion = Portion::after((cx, business), from.after, until).await?;
    while let Some(end) = portion.end {
        cx.pause().await?;
        // The next portion is read while this one is proved.
        let rows = portion.rows;
        let proved = async { aside::computed(|| rows.into_iter().for_each(|row| chain.take(&eras, row))) };
        let (next, ()) = tokio::join!(Portion::after((cx, business), end, until), proved);
        portion = next?;
    }
    if let Some(until) = until.filter(|until| chain.last < *until) {
        chain.problems.report(chain.last + 1, "is missing");
        chain.last = until;
    }
    Ok(Followed { parts: BTreeMap::from([(from.after, chain)]) })
}

/// Records that are read at once, in the order of the chain.
struct Portion {
    rows: Vec<Read>,
    /// Where the last of them stands.
    end: Option<i64>,
}

enum Read {
    Record(Box<audit_log::Model>),
    /// What stands at this place is no record: somebody put something else into a column of it.
    Unread(i64),
}

impl Portion {
    async fn after((cx, business): (&Cx<'_>, BusinessId), after: i64, until: Option<i64>) -> Result<Self> {
        let own = audit_log::Entity::find().filter(audit_log::Column::BusinessId.eq(business));
        let mut rows = own.clone().filter(audit_log::Column::Sequence.gt(after));
        if let Some(until) = until {
            rows = rows.filter(audit_log::Column::Sequence.lte(until));
        }
        let rows = rows.order_by_asc(audit_log::Column::Sequence).limit(PORTION);
        match rows.clone().models(&cx.db).await.map_err(Error::from) {
            Ok(rows) => {
                let end = rows.last().map(|row| row.sequence);
                return Ok(Self { rows: rows.into_iter().map(|row| Read::Record(Box::new(row))).collect(), end });
            }
            Err(Error::Internal(_)) => {}
            Err(other) => return Err(other),
        }
        // One of them cannot be read: each is read by itself.
        let places: Vec<i64> = rows.select_only().column(audit_log::Column::Sequence).column_of(&cx.db).await?;
        let mut read = Vec::with_capacity(places.len());
        for place in &places {
            let row = own.clone().filter(audit_log::Column::Sequence.eq(*place)).models(&cx.db).await;
            read.push(match row.map_err(Error::from) {
                Ok(mut row) => row.pop().map_or(Read::Unread(*place), |row| Read::Record(Box::new(row))),
                Err(Error::Internal(_)) => Read::Unread(*place),
                Err(other) => return Err(other),
            });
        }
        Ok(Self { rows: read, end: places.last().copied() })
    }
}

/// Parts of a chain that were followed, by the record after which each begins.
#[derive(Default)]
pub struct Followed {
    parts: BTreeMap<i64, Chain>,
}

impl Followed {
    /// With another part.
    pub fn add(&mut self, mut other: Self) {
        self.parts.append(&mut other.parts);
    }

    /// How many records were followed.
    pub fn records(&self) -> i64 {
        self.parts.values().map(|chain| chain.records).sum()
    }

    /// All parts as one.
    fn joined(self) -> Chain {
        let mut whole = Chain::default();
        for (after, chain) in self.parts {
            // What is trusted before the first part counts.
            whole.records += if whole.last < after { after - whole.last } else { 0 } + chain.records;
            if let Some((first, made_with)) = chain.begins
                && made_with < whole.before
            {
                whole.problems.report(first, UNKEYED);
            }
            if chain.begins.is_some() {
                whole.before = chain.before;
            }
            if chain.records > 0 {
                whole.head = chain.head;
            }
            whole.last = chain.last;
            for problem in chain.problems.0 {
                whole.problems.report(problem.sequence, &problem.problem);
            }
        }
        whole
    }
}

/// What the parts of a chain come to, with where the books say that it ends.
pub async fn end(cx: &Cx<'_>, business: BusinessId, followed: Followed) -> Result<AuditVerdict> {
    let (connection, seals, eras) = (&cx.db, cx.seals, cx.seals.eras()?);
    let Chain { last, records, head, before, mut problems, .. } = followed.joined();
    let head = head.unwrap_or_else(String::new);
    let mut report = |sequence: i64, problem: &str| problems.report(sequence, problem);
    if let Some(row) = books::Entity::find_by_id(business).one(connection).await? {
        if row.audit_sequence != last {
            report(last + 1, "is missing: records were cut off the end");
        } else if *row.audit_hash != head {
            report(last, "is not the record that the chain ended with");
        } else if records > 0 && before != Some(eras.len() - 1) {
            report(last, "is not under the key");
        }
        if !heads::is_signed(seals, &row) {
            report(row.audit_sequence, "is where the books say that they stand, and that is not signed");
        }
    }
    let problems = problems.0;
    Ok(AuditVerdict { ok: problems.is_empty(), records, head, problems })
}

#[derive(Default)]
struct Problems(Vec<AuditProblem>);

impl Problems {
    fn report(&mut self, sequence: i64, problem: &str) {
        if self.0.len() < MOST_PROBLEMS {
            self.0.push(AuditProblem { sequence, problem: problem.into() });
        }
    }
}

const UNKEYED: &str = "is not under the key, and the one before it is";

/// How far a chain was followed.
#[derive(Default)]
struct Chain {
    last: i64,
    records: i64,
    /// The hash of the last record; nothing where that is missing.
    head: Option<String>,
    /// The first record that was held against the one before it, and which key it was made with.
    begins: Option<(i64, Option<usize>)>,
    /// Which key the record before was made with; none where there was none yet.
    before: Option<usize>,
    problems: Problems,
}

impl Chain {
    /// From behind a record, whose hash is this. The first one follows from nothing.
    fn after(last: i64, hash: Option<String>) -> Self {
        let head = if last == crate::BEFORE_THE_FIRST { Some(String::new()) } else { hash };
        Self { last, head, ..Self::default() }
    }

    fn take(&mut self, eras: &[Seals], read: Read) {
        let (sequence, hash) = match read {
            Read::Record(row) => {
                self.follow(eras, &row);
                (row.sequence, Some(row.hash.0))
            }
            Read::Unread(sequence) => {
                if sequence != self.last + 1 {
                    self.problems.report(self.last + 1, "is missing");
                }
                self.problems.report(sequence, "cannot be read");
                self.begins.get_or_insert((sequence, Some(usize::MAX)));
                (sequence, None)
            }
        };
        (self.last, self.records, self.head) = (sequence, self.records + 1, hash);
    }

    fn follow(&mut self, eras: &[Seals], row: &audit_log::Model) {
        match &self.head {
            Some(head) if row.sequence == self.last + 1 => {
                let era = eras.iter().position(|seals| is_linked(seals, head, row));
                let made_with = era.filter(|_| row.keyed);
                // It is another, or it follows from another.
                if era.is_none() {
                    self.problems.report(row.sequence, &not_written(row));
                } else if made_with < self.before {
                    self.problems.report(row.sequence, UNKEYED);
                }
                // What is not what was written comes behind nothing.
                self.begins.get_or_insert((row.sequence, if era.is_some() { made_with } else { Some(usize::MAX) }));
                self.before = made_with;
            }
            // Nobody can tell what the next one follows from, which whoever looks for the missing one says.
            None if row.sequence == self.last + 1 => {}
            _ => self.problems.report(self.last + 1, "is missing"),
        }
    }
}

/// What is wrong with a record that does not follow from the one before it. Of which record it is, where it cannot say so
/// itself.
fn not_written(row: &audit_log::Model) -> String {
    match row.recorded() {
        Ok(_) => "is not what was written".to_owned(),
        Err(_) => format!(
            "is not what was written, and what it says of {} {} does not unpack",
            &*row.resource, row.resource_id
        ),
    }
}

/// The last version of each of these records that was kept by then, as it was answered.
pub async fn versions_at(cx: &Cx<'_>, of: Vec<RecordId>, at: Instant) -> Result<HashMap<RecordId, String>> {
    let kept = audit_log::Entity::find()
        .filter(audit_log::Column::BusinessId.eq(cx.business_id()?))
        .filter(audit_log::Column::At.lte(at))
        .filter(among(cx, audit_log::Column::ResourceId, of))
        .order_by_asc(audit_log::Column::Sequence)
        .models(&cx.db)
        .await?;
    let mut versions = HashMap::new();
    for row in &kept {
        let after = row.recorded()?.after;
        versions.extend(after.map(|after| (row.resource_id, after.get().to_owned())));
    }
    Ok(versions)
}

/// The hashes of some records, by their places in the chain.
pub async fn hashes_at(
    connection: &impl ConnectionTrait,
    business: BusinessId,
    sequences: impl IntoIterator<Item = i64>,
) -> Result<BTreeMap<i64, String>> {
    let found: Vec<(i64, HexDigest)> = audit_log::Entity::find()
        .select_only()
        .columns([audit_log::Column::Sequence, audit_log::Column::Hash])
        .filter(audit_log::Column::BusinessId.eq(business))
        .filter(audit_log::Column::Sequence.is_in(sequences))
        .into_tuple()
        .all(connection)
        .await?;
    Ok(found.into_iter().map(|(sequence, hash)| (sequence, hash.0)).collect())
}

/// The hash of a record, if it is there.
pub async fn hash_at(connection: &impl ConnectionTrait, business: BusinessId, sequence: i64) -> Result<Option<String>> {
    Ok(hashes_at(connection, business, [sequence]).await?.remove(&sequence))
}

/// Whether any record of a chain was made with the key.
pub async fn any_keyed(connection: &impl ConnectionTrait, business: BusinessId) -> Result<bool> {
    let keyed = audit_log::Entity::find()
        .filter(audit_log::Column::BusinessId.eq(business))
        .filter(audit_log::Column::Keyed.eq(true));
    Ok(keyed.limit(1).one(connection).await?.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sea_orm::sea_query::ValueType;

    fn seals() -> Seals {
        Seals::of(&crate::keys::Keys::of(b"key")).unwrap()
    }

    fn sample() -> audit_log::Model {
        let change = Change {
            action: AuditAction::Updated,
            resource: ResourceKey::Parties,
            id: RecordId::default(),
            version_from: Some(1),
            version_to: Some(2),
            before: Some("{}".into()),
            after: None,
            note: None,
        };
        let origin = Origin { dialect: Some("A"), ..Origin::default() };
        row(&seals(), BusinessId::default(), RecordId::default(), (1, Instant::default(), ""), &origin, (change, None))
    }

    /// The states of a record stood beside each other.
    fn of_before() -> audit_log::Model {
        let mut row = audit_log::Model { before: Some("{}".to_owned().into()), record: None, ..sample() };
        row.hash = signed(&seals(), "", &row).into();
        row
    }

    #[test]
    fn a_record_is_looked_for_by_its_texts_and_one_within_another_by_its_own() {
        let found = |json: &str| looked_for(json);
        let record = r#"{"lines":[{"number":"L1"}],"email":null,"name":"Élan","number":"INV-1","code":7,"total":1.50}"#;
        assert_eq!(found(record).as_deref(), Some("inv-1 élan"));
        assert_eq!(found(&format!(r#"{{"businessId":"b","record":{record}}}"#)).as_deref(), Some("inv-1 élan"));
        assert_eq!(found(r#"{"name":"a","name":"b"}"#).as_deref(), Some("b"));
        assert_eq!(found("{}").as_deref(), Some(""));
        assert_eq!((found("[]"), found(r#"{"record":"text"}"#), found(r#"{"name":"torn"#)), (None, None, None));
    }

    #[test]
    fn every_column_is_under_the_hash() {
        let whole = sample();
        assert_eq!(signed(&seals(), "", &whole), *whole.hash);
        assert!(is_linked(&seals(), "", &whole) && !is_linked(&seals(), "00", &whole));
        let tampered: [fn(&mut audit_log::Model); 13] = [
            |row| row.keyed = false,
            |row| row.search = None,
            |row| row.search = Some("other".into()),
            |row| row.sequence = 2,
            |row| row.at = Instant::from_micros(1),
            |row| row.dialect = Some("B".into()),
            |row| row.action = "deleted".into(),
            |row| row.version_to = None,
            |row| row.before = Some("{ }".to_owned().into()),
            |row| row.record = Some("{ }".to_owned().into()),
            |row| row.record = None,
            |row| (row.before, row.record) = (row.record.take(), None),
            |row| row.address = Some(String::new()),
        ];
        for tamper in tampered {
            let mut row = whole.clone();
            tamper(&mut row);
            assert!(!is_linked(&seals(), "", &row), "{row:?}");
        }
    }

    #[test]
    fn records_of_before_are_linked_by_what_was_answered_and_new_ones_by_what_is_kept() {
        let mut former = of_before();
        former.hash = former_hash(&seals(), "", &former).unwrap().into();
        assert!(is_linked(&seals(), "", &former));
        assert_ne!(*former.hash, signed(&seals(), "", &former));
        former.before = Some("{ }".to_owned().into());
        assert!(!is_linked(&seals(), "", &former));
        let other = Seals::of(&crate::keys::Keys::of(b"other")).unwrap();
        for row in [sample(), of_before()] {
            assert!(!is_linked(&other, "", &row) && is_linked(&seals(), "", &row));
        }
    }

    #[test]
    fn records_from_before_there_was_a_key_are_what_they_were() {
        let plain = audit_log::Model { keyed: false, search: None, ..of_before() };
        // As it was made before.
        assert_eq!(plain_hash("", &plain).unwrap(), "01155f8244c957fb864f72528028d8b0f065aad9d70ca24f934230df12986df3");
        let other = Seals::of(&crate::keys::Keys::of(b"other")).unwrap();
        assert_ne!(signed(&seals(), "", &sample()), signed(&other, "", &sample()));
    }

    #[test]
    fn what_does_not_unpack_is_linked_by_nothing() {
        let torn = || <Packed as ValueType>::try_from(vec![1_u8, 2, 3].into()).unwrap();
        let nothing = || audit_log::Model { before: None, ..of_before() };
        let plain = audit_log::Model { keyed: false, search: None, ..nothing() };
        let mut plain = audit_log::Model { hash: plain_hash("", &plain).unwrap().into(), ..plain };
        let mut former = audit_log::Model { hash: former_hash(&seals(), "", &nothing()).unwrap().into(), ..nothing() };
        for row in [&mut plain, &mut former] {
            assert!(is_linked(&seals(), "", row));
            row.before = Some(torn());
            assert!(!is_linked(&seals(), "", row));
            assert!(not_written(row).contains("does not unpack"), "{}", not_written(row));
        }
    }
}
