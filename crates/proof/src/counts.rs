//! What was counted: on the evening of a count there was what it said, by the facts alone and whatever was posted for it.

use super::{Check, Findings, Wide, kept};
use crate::clock::Instant;
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::Quantity;
use answers::Ask;
use schema::reader::Reader;
use schema::tables::{DocumentKind, DocumentStatus, FactKind, documents, stock_facts};
use sea_orm::{ColumnTrait, QueryFilter, QueryOrder, QuerySelect};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap, HashSet};

/// What is read here of a line of a stock adjustment.
#[derive(Deserialize)]
struct Line {
    item: RecordId,
    delta: Option<Quantity>,
    counted: Option<Quantity>,
}

/// An item that was counted.
struct Count {
    name: String,
    day: Day,
    posted_at: Option<Instant>,
    /// What there must have been: what was counted, and what else the same adjustment found or lost.
    there: Wide,
}

/// So many are asked for at once.
const PORTION: usize = 500;

fn units(quantity: Quantity) -> Wide {
    Wide::from(quantity.units())
}

pub(super) async fn check(reader: &Reader<'_>) -> Result<Check> {
    let mut findings = Findings::default();
    let (mut counted, mut found): (Wide, Wide) = (0, 0);
    for (item, counts) in counts(reader, &mut findings).await? {
        reader.pause().await?;
        let facts = stock_facts::Entity::find()
            .filter(stock_facts::Column::BusinessId.eq(reader.id()))
            .filter(stock_facts::Column::ItemId.eq(item))
            .models(&reader.db)
            .await?;
        let gone: HashMap<RecordId, Day> =
            facts.iter().filter_map(|fact| Some((fact.cancels_id?, fact.date))).collect();
        let days: HashSet<Day> = counts.iter().map(|count| count.day).collect();
        let beside = facts.iter().filter(|fact| days.contains(&fact.date)).map(|fact| fact.document_id);
        let posted = posted(reader, beside.collect()).await?;
        for count in counts {
            // On its own day what was posted later comes after it.
            let is_before = |fact: &&stock_facts::Model| {
                fact.date < count.day
                    || (fact.date == count.day
                        && posted.get(&fact.document_id).is_some_and(|posted| *posted <= count.posted_at))
            };
            let counts = |fact: &&stock_facts::Model| gone.get(&fact.id).is_none_or(|gone| *gone > count.day);
            let there: Wide = facts.iter().filter(is_before).filter(counts).map(moved).sum();
            (counted, found) = (counted + count.there, found + there);
            if there != count.there {
                let (name, day) = (&count.name, count.day);
                let [said, is] = [count.there, there].map(shown);
                findings.add(format!("{name} counted {said} of item {item} on {day}, its facts say {is}"));
            }
        }
    }
    Ok(Check::of("S5", "What was counted is what there was", shown(counted), shown(found), findings))
}

fn moved(fact: &stock_facts::Model) -> Wide {
    match fact.kind {
        FactKind::Receipt | FactKind::CustomerReturn => units(fact.quantity),
        FactKind::Issue | FactKind::SupplierReturn => -units(fact.quantity),
        _ => 0,
    }
}

fn shown(pieces: Wide) -> String {
    i64::try_from(pieces)
        .map_or_else(|_| format!("{pieces} millionths"), |units| Quantity::from_units(units).to_string())
}

/// What stands of counts in the books, item by item.
async fn counts(reader: &Reader<'_>, findings: &mut Findings) -> Result<BTreeMap<RecordId, Vec<Count>>> {
    let mut counts: BTreeMap<RecordId, Vec<Count>> = BTreeMap::new();
    let mut last = None;
    loop {
        let mut portion = documents::Entity::find()
            .filter(documents::Column::BusinessId.eq(reader.id()))
            .filter(documents::Column::Kind.eq(DocumentKind::StockAdjustment))
            .filter(documents::Column::Status.eq(DocumentStatus::Posted));
        if let Some(last) = last {
            portion = portion.filter(documents::Column::Id.gt(last));
        }
        let limit = u64::try_from(PORTION).map_err(Error::internal)?;
        let portion = portion.order_by_asc(documents::Column::Id).limit(limit).models(&reader.db).await?;
        let Some(end) = portion.last() else { return Ok(counts) };
        last = Some(end.id);
        for row in portion {
            let Some(kept) = kept::<documents::KeptLines<Line>>(row.named(), &row.content, findings)? else { continue };
            for line in kept.lines() {
                let Some(counted) = line.counted else { continue };
                let beside = kept.lines().iter().filter(|other| other.item == line.item);
                let beside: Wide = beside.filter_map(|other| other.delta).map(units).sum();
                counts.entry(line.item).or_default().push(Count {
                    name: row.number.clone().unwrap_or_else(|| row.id.to_string()),
                    day: row.date,
                    posted_at: row.posted_at,
                    there: units(counted) + beside,
                });
            }
        }
    }
}

/// When documents were posted.
async fn posted(reader: &Reader<'_>, ids: HashSet<RecordId>) -> Result<HashMap<RecordId, Option<Instant>>> {
    let ids: Vec<RecordId> = ids.into_iter().collect();
    let mut found = HashMap::new();
    for portion in ids.chunks(PORTION) {
        let rows: Vec<(RecordId, Option<Instant>)> = documents::Entity::find()
            .select_only()
            .columns([documents::Column::Id, documents::Column::PostedAt])
            .filter(documents::Column::BusinessId.eq(reader.id()))
            .filter(documents::Column::Id.is_in(portion.iter().copied()))
            .read(&reader.db)
            .await?;
        found.extend(rows);
    }
    Ok(found)
}
