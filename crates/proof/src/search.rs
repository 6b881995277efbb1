//! What words are looked for by, held against what documents say: each of them waits for a block, or is in one that has all
//! of its letters.

use super::{Check, Findings, Range};
use crate::error::Result;
use crate::ids::RecordId;
use answers::Ask;
use schema::among::on;
use schema::reader::Reader;
use schema::tables::{DocumentKind, WHOSE, documents, search_blocks, search_waiting};
use sea_orm::sea_query::{Expr, ExprTrait, Query};
use sea_orm::{ColumnTrait, ConnectionTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect};
use std::collections::{HashMap, HashSet};
use words::grams::{self, BLOCK};

/// What is kept of an identifier that was met: the end of it, which differs.
fn met(id: RecordId) -> u64 {
    id.0.as_u64_pair().1
}

/// The documents that blocks tell of, as far as these were read.
#[derive(Default)]
pub struct Found {
    met: HashSet<u64>,
    /// Another block may tell of it since it changed.
    missed: HashMap<u64, RecordId>,
    torn: Findings,
}

impl Found {
    pub(super) async fn of_part(reader: &Reader<'_>, range: Range) -> Result<Self> {
        let (after, until) = range.numbers();
        let mut blocks = search_blocks::Entity::find()
            .select_only()
            .column(search_blocks::Column::Block)
            .filter(search_blocks::Column::BusinessId.eq(reader.id()))
            .filter(search_blocks::Column::Portion.eq(WHOSE));
        if let Some(after) = after {
            blocks = blocks.filter(search_blocks::Column::Block.gt(after));
        }
        if let Some(until) = until {
            blocks = blocks.filter(search_blocks::Column::Block.lte(until));
        }
        let blocks = blocks.order_by_asc(search_blocks::Column::Block);
        let mut found = Self::default();
        for block in blocks.column_of::<i64>(&reader.db).await? {
            reader.pause().await?;
            let (told, is_whole) = of_block(reader, block).await?;
            if !is_whole {
                found.torn.add(format!("block {block} cannot be read"));
            }
            for (id, is_found) in told {
                if is_found {
                    found.met.insert(met(id));
                } else {
                    found.missed.insert(met(id), id);
                }
            }
        }
        Ok(found)
    }

    pub(super) fn add(&mut self, others: Self) {
        self.met.extend(others.met);
        self.missed.extend(others.missed);
        self.torn.add_all(others.torn);
    }

    pub(super) async fn check(self, reader: &Reader<'_>) -> Result<Check> {
        let Self { met: found, missed, torn: mut findings } = self;
        let waiting = Query::select()
            .column(search_waiting::Column::DocumentId)
            .from(search_waiting::Entity)
            .and_where(Expr::col((search_waiting::Entity, search_waiting::Column::BusinessId)).eq(reader.id()))
            .take();
        // Those that wait are looked into one by one.
        let right = documents::Entity::find()
            .filter(documents::Column::BusinessId.eq(reader.id()))
            .filter(documents::Column::Id.not_in_subquery(waiting));
        let right = right.count(&reader.db).await?;
        for (_, id) in missed.iter().filter(|(met, _)| !found.contains(met)) {
            findings.add(format!("words of document {id} are not found"));
        }
        Ok(Check::of("V4k", "Words find the documents that have them", found.len(), right, findings))
    }
}

/// The documents of a block that do not wait, and whether it has all letters of each; and whether all of it can be read.
async fn of_block(reader: &Reader<'_>, block: i64) -> Result<(Vec<(RecordId, bool)>, bool)> {
    let kept: Vec<(i64, Vec<u8>)> = search_blocks::Entity::find()
        .select_only()
        .columns([search_blocks::Column::Portion, search_blocks::Column::Postings])
        .filter(search_blocks::Column::BusinessId.eq(reader.id()))
        .filter(search_blocks::Column::Portion.between(0, WHOSE))
        .filter(search_blocks::Column::Block.eq(block))
        .read(&reader.db)
        .await?;
    let is_whole = kept.iter().all(|(portion, bytes)| match *portion {
        WHOSE => bytes.len().is_multiple_of(16),
        _ => grams::is_whole(bytes),
    });
    let mut kept: HashMap<i64, Vec<u8>> = kept.into_iter().collect();
    let whose = kept.remove(&WHOSE).map_or_else(Vec::new, |bytes| ids(&bytes));
    let backend = reader.db.get_database_backend();
    let waiting: HashSet<RecordId> = search_waiting::Entity::find()
        .select_only()
        .column(search_waiting::Column::DocumentId)
        .filter(search_waiting::Column::BusinessId.eq(reader.id()))
        .filter(on(backend, search_waiting::Column::DocumentId, whose.iter().copied()))
        .column_of(&reader.db)
        .await?
        .into_iter()
        .collect();
    let texts: Vec<(RecordId, DocumentKind, String)> = documents::Entity::find()
        .select_only()
        .columns([documents::Column::Id, documents::Column::Kind, documents::Column::Search])
        .filter(documents::Column::BusinessId.eq(reader.id()))
        .filter(on(backend, documents::Column::Id, whose.iter().copied()))
        .read(&reader.db)
        .await?;
    reader.read(texts.len());
    let places: HashMap<RecordId, usize> = whose.iter().copied().zip(0..BLOCK).collect();
    let mut read = HashMap::new();
    let mut has = |gram: grams::Gram, place: usize| {
        let places = read.entry(gram).or_insert_with(|| {
            let portion = kept.get(&gram.shard().into()).map_or(&[][..], Vec::as_slice);
            grams::places(portion, gram)
        });
        places.as_ref().is_some_and(|places| places.has(place))
    };
    let judged = texts.into_iter().filter(|(id, ..)| !waiting.contains(id)).map(|(id, kind, text)| {
        let place = places.get(&id).copied();
        let all = place.is_some_and(|place| grams::grams(kind.code(), &text).into_iter().all(|gram| has(gram, place)));
        (id, all)
    });
    Ok((judged.collect(), is_whole))
}

fn ids(bytes: &[u8]) -> Vec<RecordId> {
    bytes.as_chunks::<16>().0.iter().map(|id| RecordId(sea_orm::prelude::Uuid::from_bytes(*id))).collect()
}
