//! Which documents may have some words: those that blocks find by their letters, and those that no block tells of yet.
//!
//! Owns: how blocks are made and read. What is found here may have the words; whoever asks looks into it.

use crate::among::on;
use crate::cx::Cx;
use crate::error::{Error, Result};
use crate::ids::{BusinessId, RecordId};
use crate::texts::search_key;
use answers::{Answers, Ask};
use schema::tables::{DocumentKind, WHOSE, documents, search_blocks, search_waiting};
use sea_orm::{ColumnTrait, QueryFilter, QueryOrder, QuerySelect};
use std::collections::{BTreeMap, HashMap};
use uuid::Uuid;
use words::grams::{self, BLOCK, FULL, Places};

/// Which documents may have some words.
#[derive(Debug, PartialEq, Eq)]
pub enum Found {
    /// Nobody else has them.
    All(Vec<RecordId>),
    /// Others may have them as well.
    Some(Vec<RecordId>),
    /// The words say too little.
    Unknown,
}

/// So many are found before others are left unlooked for.
const MOST_FOUND: usize = 3_000;
/// Beside so many that no block tells of, blocks are no help.
const MOST_WAITING: usize = 2 * BLOCK;
/// So many blocks are asked at once: few at first, for a common word is found in any.
const FIRST_BLOCKS: i64 = 4;
const MOST_BLOCKS: i64 = 64;

fn limit(count: usize) -> Result<u64> {
    u64::try_from(count).map_err(Error::internal)
}

/// Documents of a kind that may have all words of a text.
pub async fn found(cx: &Cx<'_>, kind: DocumentKind, text: &str) -> Result<Found> {
    let text = search_key(text);
    let wanted = grams::wanted(kind.code(), text.split_whitespace());
    if wanted.is_empty() {
        return Ok(Found::Unknown);
    }
    let business = cx.business_id()?;
    let waiting = search_waiting::Entity::find()
        .select_only()
        .column(search_waiting::Column::DocumentId)
        .filter(search_waiting::Column::BusinessId.eq(business))
        .limit(limit(MOST_WAITING + 1)?);
    let mut found: Vec<RecordId> = waiting.column_of(&cx.db).await?;
    if found.len() > MOST_WAITING {
        return Ok(Found::Unknown);
    }
    let most = found.len() + MOST_FOUND;
    let (mut last, mut count) = (last_block(&cx.db, business).await?, FIRST_BLOCKS);
    while last > 0 {
        if found.len() > most {
            return Ok(Found::Some(found));
        }
        let first = Ord::max(last - count + 1, 1);
        let mut left = narrowed(cx, &wanted, (first, last)).await?;
        left.retain(|_, places| !places.is_empty());
        if let (Some(first), Some(last)) = (left.keys().next(), left.keys().next_back()) {
            for (block, whose) in whose(cx, (*first, *last)).await? {
                let Some(places) = left.get(&block) else { continue };
                let id = |place: usize| whose.get(place * 16..)?.first_chunk::<16>().copied();
                found.extend(places.iter().filter_map(id).map(|id| RecordId(Uuid::from_bytes(id))));
            }
        }
        (last, count) = (first - 1, Ord::min(count * 4, MOST_BLOCKS));
    }
    Ok(Found::All(found))
}

/// Who has all that is wanted, block by block.
async fn narrowed(cx: &Cx<'_>, wanted: &[grams::Gram], (first, last): (i64, i64)) -> Result<BTreeMap<i64, Places>> {
    let mut portions: Vec<i64> = wanted.iter().map(|gram| gram.shard().into()).collect();
    portions.sort_unstable();
    portions.dedup();
    let kept: Vec<(i64, i64, Vec<u8>)> = search_blocks::Entity::find()
        .select_only()
        .columns([search_blocks::Column::Portion, search_blocks::Column::Block, search_blocks::Column::Postings])
        .filter(search_blocks::Column::BusinessId.eq(cx.business_id()?))
        .filter(search_blocks::Column::Portion.is_in(portions))
        .filter(search_blocks::Column::Block.between(first, last))
        .read(&cx.db)
        .await?;
    let kept: HashMap<(i64, i64), Vec<u8>> =
        kept.into_iter().map(|(portion, block, postings)| ((portion, block), postings)).collect();
    let of_block = |block: i64| {
        let mut left = Places::ALL;
        for gram in wanted {
            let portion = kept.get(&(gram.shard().into(), block)).map_or(&[][..], Vec::as_slice);
            // What cannot be read leaves all of them; the proof tells of it.
            left.keep(&grams::places(portion, *gram).unwrap_or(Places::ALL));
        }
        (block, left)
    };
    Ok((first..=last).map(of_block).collect())
}

/// Which documents are in blocks.
async fn whose(cx: &Cx<'_>, (first, last): (i64, i64)) -> Result<Vec<(i64, Vec<u8>)>> {
    let whose = search_blocks::Entity::find()
        .select_only()
        .columns([search_blocks::Column::Block, search_blocks::Column::Postings])
        .filter(search_blocks::Column::BusinessId.eq(cx.business_id()?))
        .filter(search_blocks::Column::Portion.eq(WHOSE))
        .filter(search_blocks::Column::Block.between(first, last));
    Ok(whose.read(&cx.db).await?)
}

/// The number of the last block; they are numbered from 1.
async fn last_block(db: &impl Answers, business: BusinessId) -> Result<i64> {
    let last = search_blocks::Entity::find()
        .select_only()
        .column(search_blocks::Column::Block)
        .filter(search_blocks::Column::BusinessId.eq(business))
        .filter(search_blocks::Column::Portion.eq(WHOSE))
        .order_by_desc(search_blocks::Column::Block)
        .limit(1);
    Ok(last.column_of::<i64>(db).await?.into_iter().sum())
}

/// The first documents that wait, as many as a block has.
pub(crate) async fn first_waiting(db: &impl Answers, business: BusinessId) -> Result<Vec<RecordId>> {
    let waiting = search_waiting::Entity::find()
        .select_only()
        .column(search_waiting::Column::DocumentId)
        .filter(search_waiting::Column::BusinessId.eq(business))
        .order_by_asc(search_waiting::Column::DocumentId)
        .limit(limit(FULL)?);
    Ok(waiting.column_of(db).await?)
}

/// The next block, of these documents, those of them that are still there.
pub(crate) async fn block_of(
    db: &impl Answers,
    business: BusinessId,
    these: &[RecordId],
) -> Result<Vec<search_blocks::Model>> {
    let texts: Vec<(RecordId, DocumentKind, String)> = documents::Entity::find()
        .select_only()
        .columns([documents::Column::Id, documents::Column::Kind, documents::Column::Search])
        .filter(documents::Column::BusinessId.eq(business))
        .filter(on(db.get_database_backend(), documents::Column::Id, these.iter().copied()))
        .read(db)
        .await?;
    let block = last_block(db, business).await? + 1;
    let made = grams::block(texts.iter().map(|(_, kind, text)| (kind.code(), text.as_str())));
    let whose = texts.iter().flat_map(|(id, ..)| id.0.into_bytes()).collect();
    let portions = made.into_iter().map(|(portion, postings)| (i64::from(portion), postings));
    let row = |(portion, postings)| search_blocks::Model { business_id: business, portion, block, postings };
    Ok(portions.chain([(WHOSE, whose)]).map(row).collect())
}
