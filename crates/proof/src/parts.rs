//! The parts of a proof: each by itself, and most of them range by range, so that many hands have work to the end.
//!
//! Owns: what is proved together, by which keys it is divided, and how ranges are joined. Refuses: to know who proves them,
//! and in which order.

use super::rollups::Ledger;
use super::search::Found;
use super::subledgers::History;
use super::tax_months::Facts;
use super::taxes::{Documents, OfLedger};
use super::trade_months::Trade;
use super::{BEFORE_THE_FIRST, Check, Told};
use super::{counts, courses, crossing, goods, numbers, progress, shares};
use crate::error::{Error, Result};
use crate::ids::RecordId;
use answers::Ask;
use schema::reader::Reader;
use schema::tables::{WHOSE, allocations, documents, entries, open_item_moves, open_items, search_blocks};
use sea_orm::sea_query::ValueType;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Select};
use std::collections::BTreeMap;

/// What is proved by itself, beside the rest: nothing that one finds is used by another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The ledger, line by line, and what is held against its sums.
    Ledger,
    /// What is kept of tax by month, beside its facts.
    TaxMonths,
    /// What is kept of trade by month and of money by day, beside the lines.
    TradeMonths,
    /// What words are looked for by, beside what documents say.
    Search,
    /// What open items and stock say of their own history.
    History,
    /// Taxes beside the ledger's lines.
    Taxes,
    /// Taxes beside the documents that made them.
    TaxedDocuments,
    /// Stock, by a replay of its own.
    Goods,
    /// Orders and notes.
    Orders,
    /// What was taken of what.
    Shares,
    /// Numbers, and what is kept for repeats.
    Numbers,
}

/// By which keys a part is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum By {
    /// By none: it is proved as a whole.
    Whole,
    Entries,
    Documents,
    OpenItems,
    Moves,
    Allocations,
    Blocks,
}

/// Behind what a range begins, or with what it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    Number(i64),
    Record(RecordId),
}

/// From behind a key up to another; all there is, where neither is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Range {
    pub after: Option<Key>,
    pub until: Option<Key>,
}

/// Before every number, whoever put it there, and behind.
const BEFORE_ALL: i64 = i64::MIN;
const BEHIND_ALL: i64 = i64::MAX;

impl Key {
    const fn number(self) -> Option<i64> {
        match self {
            Self::Number(number) => Some(number),
            Self::Record(_) => None,
        }
    }

    const fn record(self) -> Option<RecordId> {
        match self {
            Self::Record(id) => Some(id),
            Self::Number(_) => None,
        }
    }
}

impl Range {
    /// After which number, and up to which.
    pub(super) fn numbers(self) -> (Option<i64>, Option<i64>) {
        (self.after.and_then(Key::number), self.until.and_then(Key::number))
    }

    /// After which record, and up to which.
    pub(super) fn records(self) -> (Option<RecordId>, Option<RecordId>) {
        (self.after.and_then(Key::record), self.until.and_then(Key::record))
    }

    /// What of it is left behind a record.
    pub(super) fn behind(self, last: Option<RecordId>) -> Self {
        Self { after: last.map(Key::Record).or(self.after), ..self }
    }

    /// The entries of it that have a number of ours.
    pub(super) fn entries(self) -> (i64, i64) {
        let (after, until) = self.numbers();
        (after.map_or(BEFORE_THE_FIRST, |after| Ord::max(after, BEFORE_THE_FIRST)), until.unwrap_or(BEHIND_ALL))
    }

    /// The same with whatever numbers somebody put there.
    pub(super) fn all_entries(self) -> (i64, i64) {
        let (after, until) = self.numbers();
        (after.unwrap_or(BEFORE_ALL), until.unwrap_or(BEHIND_ALL))
    }
}

/// Moves of open items are divided by the items, as they lie: by their own identifiers, each range would sort all of them.
pub(super) const MOVES_LIE_BY: open_item_moves::Column = open_item_moves::Column::OpenItemId;

/// Rows whose key lies within a range.
pub(super) fn within<E: EntityTrait>(rows: Select<E>, id: E::Column, range: Range) -> Select<E> {
    let (after, until) = range.records();
    let rows = if let Some(after) = after { rows.filter(id.gt(after)) } else { rows };
    if let Some(until) = until { rows.filter(id.lte(until)) } else { rows }
}

/// As many entries, documents and other rows as one hand takes at a time. Books of tests are divided as well.
const SPAN: u64 = if cfg!(debug_assertions) { 48 } else { 4_000 };
/// As many blocks of words.
const BLOCKS: u64 = if cfg!(debug_assertions) { 2 } else { 4 };

impl By {
    /// The key with which a range ends that begins behind another; nothing where all that is left is little. No entry that is
    /// trusted is in a range with one that is not.
    pub async fn end(self, reader: &Reader<'_>, after: Option<Key>, trusted: i64) -> Result<Option<Key>> {
        let own = reader.id();
        match self {
            Self::Whole => Ok(None),
            Self::Entries => {
                let rows = entries::Entity::find().filter(entries::Column::BusinessId.eq(own));
                let after = after.and_then(Key::number);
                let end = key_of(reader, rows, entries::Column::Number, after, SPAN).await?;
                let is_trusted = after.is_none_or(|after| after < trusted) && trusted > BEFORE_THE_FIRST;
                let bounded = if is_trusted { Some(end.map_or(trusted, |end| Ord::min(end, trusted))) } else { end };
                Ok(bounded.map(Key::Number))
            }
            Self::Documents => {
                let rows = documents::Entity::find().filter(documents::Column::BusinessId.eq(own));
                record_of(reader, rows, documents::Column::Id, after).await
            }
            Self::OpenItems => {
                let rows = open_items::Entity::find().filter(open_items::Column::BusinessId.eq(own));
                record_of(reader, rows, open_items::Column::Id, after).await
            }
            Self::Moves => {
                let rows = open_item_moves::Entity::find().filter(open_item_moves::Column::BusinessId.eq(own));
                record_of(reader, rows, MOVES_LIE_BY, after).await
            }
            Self::Allocations => {
                let rows = allocations::Entity::find().filter(allocations::Column::BusinessId.eq(own));
                record_of(reader, rows, allocations::Column::Id, after).await
            }
            Self::Blocks => {
                let rows = search_blocks::Entity::find()
                    .filter(search_blocks::Column::BusinessId.eq(own))
                    .filter(search_blocks::Column::Portion.eq(WHOSE));
                let after = after.and_then(Key::number);
                Ok(key_of(reader, rows, search_blocks::Column::Block, after, BLOCKS).await?.map(Key::Number))
            }
        }
    }
}

async fn record_of<E: EntityTrait>(
    reader: &Reader<'_>,
    rows: Select<E>,
    id: E::Column,
    after: Option<Key>,
) -> Result<Option<Key>> {
    Ok(key_of::<E, RecordId>(reader, rows, id, after.and_then(Key::record), SPAN).await?.map(Key::Record))
}

/// The key of the last of so many rows behind another.
async fn key_of<E: EntityTrait, K: ValueType + Into<sea_orm::Value> + Copy>(
    reader: &Reader<'_>,
    rows: Select<E>,
    key: E::Column,
    after: Option<K>,
    span: u64,
) -> Result<Option<K>> {
    let mut rows = rows.select_only().column(key);
    if let Some(after) = after {
        rows = rows.filter(key.gt(after));
    }
    Ok(rows.order_by_asc(key).offset(span - 1).limit(1).column_of(&reader.db).await?.pop())
}

/// What a part came to.
#[derive(Debug)]
pub struct Proved {
    pub checks: Vec<Check>,
    /// The ledger's digest, where it was read.
    pub digest: Option<String>,
}

impl From<Vec<Check>> for Proved {
    fn from(checks: Vec<Check>) -> Self {
        Self { checks, digest: None }
    }
}

/// What was found in a range of a part, or in several that are joined.
pub enum Piece {
    Ledger(Box<Ledger>),
    TaxMonths(Facts),
    TradeMonths(Trade),
    Search(Found),
    History(History),
    Taxes(OfLedger),
    TaxedDocuments(Box<Documents>),
    /// Of a part that is not divided.
    Whole(Proved),
}

impl Piece {
    /// With what was found behind it.
    pub fn add(&mut self, behind: Self) -> Result<()> {
        match (self, behind) {
            (Self::Ledger(own), Self::Ledger(behind)) => own.add(*behind),
            (Self::TaxMonths(own), Self::TaxMonths(behind)) => own.add(behind),
            (Self::TradeMonths(own), Self::TradeMonths(behind)) => own.add(behind),
            (Self::Search(own), Self::Search(behind)) => own.add(behind),
            (Self::History(own), Self::History(behind)) => own.add(behind),
            (Self::Taxes(own), Self::Taxes(behind)) => own.add(behind),
            (Self::TaxedDocuments(own), Self::TaxedDocuments(behind)) => own.add(*behind),
            _ => return Err(Error::internal("what was found of one part is joined to another")),
        }
        Ok(())
    }

    /// What all of its part comes to.
    pub async fn close(self, reader: &Reader<'_>) -> Result<Proved> {
        Ok(match self {
            Self::Ledger(ledger) => return ledger.close(reader).await,
            Self::TaxMonths(facts) => vec![facts.check(reader).await?].into(),
            Self::TradeMonths(trade) => trade.checks(reader).await?.into(),
            Self::Search(found) => vec![found.check(reader).await?].into(),
            Self::History(history) => history.checks(reader).await?.into(),
            Self::Taxes(taxes) => taxes.checks().into(),
            Self::TaxedDocuments(documents) => documents.checks().into(),
            Self::Whole(proved) => proved,
        })
    }
}

impl Part {
    /// All of them, and by what each is divided: first those that are not, so that no hand is left with one of them in the end.
    pub const ALL: [(Self, &'static [By]); 11] = [
        (Self::Goods, &[By::Whole]),
        (Self::Orders, &[By::Whole]),
        (Self::Shares, &[By::Whole]),
        (Self::Numbers, &[By::Whole]),
        (Self::Ledger, &[By::Entries, By::Moves, By::OpenItems, By::Allocations, By::Documents]),
        (Self::TaxedDocuments, &[By::Documents]),
        (Self::TradeMonths, &[By::Entries, By::Moves]),
        (Self::TaxMonths, &[By::Entries]),
        (Self::Search, &[By::Blocks]),
        (Self::History, &[By::OpenItems, By::Documents]),
        (Self::Taxes, &[By::Entries]),
    ];

    /// By what it is divided.
    fn legs(self) -> &'static [By] {
        Self::ALL.iter().find(|(part, _)| *part == self).map_or(&[], |(_, legs)| legs)
    }

    /// Proves a range of it. Entries up to `trusted` are not judged again one by one; their lines are summed, and all that is
    /// kept beside them is held against the sums.
    pub async fn prove(
        self,
        reader: &Reader<'_>,
        told: &dyn Told,
        (by, range): (By, Range),
        trusted: i64,
    ) -> Result<Piece> {
        let whole = |checks: Vec<Check>| Ok(Piece::Whole(checks.into()));
        match self {
            Self::Ledger => Ok(Piece::Ledger(Box::new(Ledger::of_part(reader, (by, range), trusted).await?))),
            Self::TaxMonths => Ok(Piece::TaxMonths(Facts::of_part(reader, range).await?)),
            Self::TradeMonths => Ok(Piece::TradeMonths(Trade::of_part(reader, (by, range)).await?)),
            Self::Search => Ok(Piece::Search(Found::of_part(reader, range).await?)),
            Self::History => Ok(Piece::History(History::of_part(reader, (by, range)).await?)),
            Self::Taxes => Ok(Piece::Taxes(OfLedger::of_part(reader, range).await?)),
            Self::TaxedDocuments => {
                Ok(Piece::TaxedDocuments(Box::new(Documents::of_part(reader, told, range.records()).await?)))
            }
            Self::Goods => whole(goods::checks(reader).await?),
            Self::Orders => whole(progress::checks(reader).await?),
            Self::Shares => {
                whole(vec![shares::check(reader).await?, courses::check(reader).await?, counts::check(reader).await?])
            }
            Self::Numbers => whole(vec![numbers::numbers(reader).await?, crossing::kept_answers(reader).await?]),
        }
    }
}

/// Ranges that were proved, each joined with its neighbours as soon as these are there too: so what is found stands in the
/// order of the keys, whoever found it first, and hardly more is kept than one of all. Which key comes first is the
/// engine's to say, so neighbours are known by the key between them alone.
#[derive(Default)]
struct Joined(Vec<(Range, Piece)>);

impl Joined {
    fn add(&mut self, range: Range, piece: Piece) -> Result<()> {
        let (mut range, mut joined) = (range, piece);
        if let Some((before, mut known)) = self.take(|known| range.after.is_some() && known.until == range.after) {
            known.add(joined)?;
            (range.after, joined) = (before.after, known);
        }
        if let Some((behind, known)) = self.take(|known| range.until.is_some() && known.after == range.until) {
            joined.add(known)?;
            range.until = behind.until;
        }
        self.0.push((range, joined));
        Ok(())
    }

    fn take(&mut self, wanted: impl Fn(&Range) -> bool) -> Option<(Range, Piece)> {
        let place = self.0.iter().position(|(range, _)| wanted(range))?;
        Some(self.0.swap_remove(place))
    }

    /// Whether all there is was proved.
    fn is_whole(&self) -> bool {
        matches!(self.0.as_slice(), [(range, _)] if *range == Range::default())
    }
}

/// What was found of all parts that are not done.
#[derive(Default)]
pub struct Pieces(BTreeMap<(Part, By), Joined>);

impl Pieces {
    /// With a range of a part. Where that was the last one of it, all of the part is answered.
    pub fn add(&mut self, part: Part, (by, range): (By, Range), piece: Piece) -> Result<Option<Piece>> {
        self.0.entry((part, by)).or_default().add(range, piece)?;
        let is_whole = |leg: &By| self.0.get(&(part, *leg)).is_some_and(Joined::is_whole);
        if !part.legs().iter().all(is_whole) {
            return Ok(None);
        }
        let mut whole: Option<Piece> = None;
        for leg in part.legs() {
            let Some((_, piece)) = self.0.remove(&(part, *leg)).and_then(|mut leg| leg.0.pop()) else { continue };
            match &mut whole {
                Some(whole) => whole.add(piece)?,
                None => whole = Some(piece),
            }
        }
        Ok(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Findings;
    use super::*;

    fn piece(name: &str) -> Piece {
        let mut findings = Findings::default();
        findings.add(name.into());
        Piece::TaxedDocuments(Box::new(Documents::finding(findings)))
    }

    /// What is found, in the order in which it is told, where ranges are done in this order.
    fn told(order: &[usize]) -> Option<Vec<String>> {
        // An engine may have another order than numbers do.
        let ends = [Some(Key::Number(7)), Some(Key::Number(3)), Some(Key::Number(9)), None];
        let mut pieces = Pieces::default();
        let mut whole = None;
        for place in order {
            assert!(whole.is_none(), "it was whole too early");
            let after = place.checked_sub(1).and_then(|before| ends[before]);
            let range = Range { after, until: ends[*place] };
            let piece = piece(&format!("range {place}"));
            whole = pieces.add(Part::TaxedDocuments, (By::Documents, range), piece).unwrap();
        }
        let Piece::TaxedDocuments(documents) = whole? else { panic!("another part") };
        Some(documents.checks().into_iter().flat_map(|check| check.findings).collect())
    }

    #[test]
    fn ranges_are_told_in_their_order_whichever_is_done_first() {
        let wanted: Vec<String> = (0..4).map(|place| format!("range {place}")).collect();
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1], [3, 0, 2, 1]] {
            assert_eq!(told(&order), Some(wanted.clone()), "{order:?}");
        }
        assert_eq!(told(&[0, 1, 3]), None, "one is missing");
    }

    #[test]
    fn a_part_is_whole_when_all_of_its_legs_are() {
        let mut pieces = Pieces::default();
        let empty = || Piece::TradeMonths(Trade::default());
        assert!(pieces.add(Part::TradeMonths, (By::Moves, Range::default()), empty()).unwrap().is_none());
        assert!(pieces.add(Part::TradeMonths, (By::Entries, Range::default()), empty()).unwrap().is_some());
        assert!(pieces.0.is_empty());
    }
}
