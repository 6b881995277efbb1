//! What was counted is a fact, and by how much that differs from the books follows: a movement that is entered later for a
//! time before the count changes the difference, and not what there is after it.
//!
//! A count stands on its day behind what was posted before it.

use super::{AdjustmentAsked, AdjustmentLineAsked, Stands, StockAdjustments};
use crate::clock::Instant;
use crate::day::Day;
use crate::document::{self, Old, identity};
use crate::error::{Code, Error, Result};
use crate::ids::RecordId;
use crate::money::Quantity;
use answers::Ask;
use books::among::among;
use books::balances::halves;
use books::cx::Cx;
use books::stock::{Counted, Item};
use schema::reader::whole;
use schema::some::is_of_adjustments;
use schema::tables::{DocumentKind, DocumentStatus, document_lines, documents, stock_facts, stock_moves};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, JoinType, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select};
use std::collections::{BTreeMap, HashMap, HashSet};
use words::sown::{Fault, sown};
use words::sums::Sums as _;

/// By how much each line adjusts: a count by what was there on its day. `but` is a document that does not count.
pub(super) async fn deltas(
    cx: &Cx<'_>,
    date: Day,
    asked: &AdjustmentAsked,
    but: Option<RecordId>,
) -> Result<Vec<Quantity>> {
    let counted: Vec<RecordId> =
        asked.lines.iter().filter(|line| line.counted.is_some()).map(|line| line.item).collect();
    let mut there: HashMap<RecordId, i128> = HashMap::new();
    if !counted.is_empty() {
        cx.flush().await?;
        // What was voided on a later day was there on this one.
        let before = moved(cx, &counted, but)?.filter(stock_moves::Column::Date.lt(date));
        let mut on_the_day = moved(cx, &counted, but)?.filter(stock_moves::Column::Date.eq(date));
        let mut known: Vec<Vec<(RecordId, i128)>> = Vec::new();
        if let Some(posted_at) = asked.stands.posted_at {
            let document = stock_moves::Entity::belongs_to(documents::Entity)
                .from((stock_moves::Column::BusinessId, stock_moves::Column::DocumentId))
                .to((documents::Column::BusinessId, documents::Column::Id));
            on_the_day = on_the_day
                .join(JoinType::InnerJoin, document.into())
                .filter(documents::Column::PostedAt.lte(posted_at));
            known.push(came_out(cx, date, posted_at, &counted).await?);
        }
        for moves in [before, on_the_day] {
            let rows = moves.read::<(RecordId, i64, i64)>(&cx.db).await?;
            known.push(rows.into_iter().map(|(item, high, low)| (item, whole((high, low)))).collect());
        }
        for rows in known {
            for (item, quantity) in rows {
                *there.entry(item).or_default() += quantity;
            }
        }
    }
    let delta = |(index, line): (usize, &AdjustmentLineAsked)| match (line.delta, line.counted) {
        (Some(delta), _) => Ok(delta),
        (None, Some(counted)) => {
            let delta = i128::from(counted.units()) - there.sum_of(&line.item);
            Quantity::fitting(delta).ok_or_else(|| {
                Error::field(&format!("lines[{index}].countedQuantity"), "comes to more than can be kept")
            })
        }
        (None, None) => Ok(Quantity::ZERO),
    };
    asked.lines.iter().enumerate().map(delta).collect()
}

/// The lines that count, each with the place that it had on this day.
pub(super) async fn counted(
    cx: &Cx<'_>,
    asked: &AdjustmentAsked,
    items: &HashMap<RecordId, Item>,
    day: Day,
) -> Result<Vec<Counted>> {
    let counts: Vec<&AdjustmentLineAsked> = asked.lines.iter().filter(|line| line.counted.is_some()).collect();
    let places = asked.stands.places.as_ref().filter(|places| places.day == day);
    let before = match (asked.stands.posted_at, places) {
        (Some(posted_at), Some(_)) => last_before(cx, (day, posted_at), &counts).await?,
        _ => HashMap::new(),
    };
    let counted = |line: &AdjustmentLineAsked| {
        let Some(item) = items.get(&line.item) else { return Ok(None) };
        let id = identity(line.id)?;
        let held = places.and_then(|places| places.of.iter().find(|(of, _)| *of == id).map(|(_, place)| *place));
        let overtakes = held.zip(before.get(&line.item)).is_some_and(|(held, last)| held < *last);
        let is_overtaken = overtakes && !sown(Fault::OvertakenAndAhead);
        Ok(Some(Counted { line: id, item: item.clone(), held, is_overtaken }))
    };
    counts.into_iter().filter_map(|line| counted(line).transpose()).collect()
}

/// The last place on the day of a count of what was posted before it. What is moved there from another day has one behind it.
async fn last_before(
    cx: &Cx<'_>,
    (day, posted_at): (Day, Instant),
    counts: &[&AdjustmentLineAsked],
) -> Result<HashMap<RecordId, i64>> {
    use stock_facts::Column;
    cx.flush().await?;
    let own: HashSet<Option<RecordId>> = counts.iter().map(|line| line.id).collect();
    let document = stock_facts::Entity::belongs_to(documents::Entity)
        .from((Column::BusinessId, Column::DocumentId))
        .to((documents::Column::BusinessId, documents::Column::Id));
    let on_the_day = stock_facts::Entity::find()
        .filter(Column::BusinessId.eq(cx.business_id()?))
        .filter(among(cx, Column::ItemId, counts.iter().map(|line| line.item)))
        .filter(Column::Date.eq(day))
        .join(JoinType::InnerJoin, document.into())
        .filter(documents::Column::PostedAt.lte(posted_at))
        .models(&cx.db)
        .await?;
    let gone: HashSet<RecordId> = on_the_day.iter().filter_map(|fact| fact.cancels_id).collect();
    let moved = on_the_day.iter().filter(|fact| fact.is_movement() && !gone.contains(&fact.id));
    let mut last: HashMap<RecordId, i64> = HashMap::new();
    for fact in moved.filter(|fact| !own.contains(&Some(fact.line_id))) {
        let known = last.entry(fact.item_id).or_insert(fact.place);
        *known = Ord::max(*known, fact.place);
    }
    Ok(last)
}

/// What of days before came out on the day of a count, and was posted later than that: it never was from this morning on,
/// whenever that was done.
async fn came_out(cx: &Cx<'_>, date: Day, posted_at: Instant, items: &[RecordId]) -> Result<Vec<(RecordId, i128)>> {
    use stock_facts::Column;
    let business = cx.business_id()?;
    // What came out on one day is little, and documents that were posted since a count are many.
    let came_out: Vec<(RecordId, Option<RecordId>)> = stock_facts::Entity::find()
        .select_only()
        .columns([Column::DocumentId, Column::CancelsId])
        .filter(Column::BusinessId.eq(business))
        .filter(Column::ItemId.is_in(items.iter().copied()))
        .filter(Column::Date.eq(date))
        .filter(Column::CancelsId.is_not_null())
        .read(&cx.db)
        .await?;
    let posted_later: Vec<RecordId> = documents::Entity::find()
        .select_only()
        .column(documents::Column::Id)
        .filter(documents::Column::BusinessId.eq(business))
        .filter(among(cx, documents::Column::Id, came_out.iter().map(|(document, _)| *document)))
        .filter(documents::Column::PostedAt.gt(posted_at))
        .column_of(&cx.db)
        .await?;
    let gone =
        came_out.into_iter().filter(|(document, _)| posted_later.contains(document)).filter_map(|(_, gone)| gone);
    let never_were = stock_facts::Entity::find()
        .filter(Column::BusinessId.eq(business))
        .filter(among(cx, Column::Id, gone))
        .filter(Column::Date.lt(date));
    let never_were = never_were.models(&cx.db).await?;
    Ok(never_were.iter().map(|fact| (fact.item_id, -i128::from(fact.moves().units()))).collect())
}

/// How many of these items moved.
fn moved(cx: &Cx<'_>, items: &[RecordId], but: Option<RecordId>) -> Result<Select<stock_moves::Entity>> {
    let [high, low] = halves(cx, Expr::col((stock_moves::Entity, stock_moves::Column::Quantity)));
    let mut moves = stock_moves::Entity::find()
        .select_only()
        .column(stock_moves::Column::ItemId)
        .column_as(high, "high")
        .column_as(low, "low")
        .filter(stock_moves::Column::BusinessId.eq(cx.business_id()?))
        .filter(stock_moves::Column::ItemId.is_in(items.iter().copied()))
        .group_by(stock_moves::Column::ItemId);
    if let Some(but) = but {
        moves = moves.filter(stock_moves::Column::DocumentId.ne(but));
    }
    Ok(moves)
}

/// The stock adjustments in the books that have a line of something that moved, and come behind the first of it: oldest
/// first. What they say is read one by one, for there is no end of them.
async fn behind(cx: &Cx<'_>, shifted: &Shifted) -> Result<Vec<RecordId>> {
    let Some(first) = shifted.values().min() else { return Ok(Vec::new()) };
    let business = cx.business_id()?;
    let lines = document_lines::Entity::find()
        .select_only()
        .column(document_lines::Column::DocumentId)
        .filter(document_lines::Column::BusinessId.eq(business))
        .filter(is_of_adjustments())
        .filter(document_lines::Column::Date.gte(first.0))
        .filter(among(cx, document_lines::Column::ItemId, shifted.keys().copied()));
    let found: Vec<(RecordId, Day, Option<Instant>)> = documents::Entity::find()
        .select_only()
        .columns([documents::Column::Id, documents::Column::Date, documents::Column::PostedAt])
        .filter(documents::Column::BusinessId.eq(business))
        .filter(documents::Column::Status.eq(DocumentStatus::Posted))
        .filter(documents::Column::Id.in_subquery(lines.into_query()))
        .order_by_asc(documents::Column::Date)
        .order_by_asc(documents::Column::PostedAt)
        .order_by_asc(documents::Column::Id)
        .read(&cx.db)
        .await?;
    // A count of the day itself comes before what is posted now.
    let behind = found.into_iter().filter(|(_, date, posted_at)| (*date, *posted_at) > *first);
    Ok(behind.map(|(id, _, _)| id).collect())
}

async fn read(cx: &Cx<'_>, id: RecordId) -> Result<Old<StockAdjustments>> {
    let row = documents::Entity::find_by_id((cx.business_id()?, id)).model(&cx.db).await?;
    document::found(cx, row.ok_or_else(|| Error::internal("a count is gone while it is made anew"))?).await
}

/// What moved, and from when on.
type Shifted = BTreeMap<RecordId, (Day, Option<Instant>)>;

/// Makes anew the counts of what moved by a command for a time before them. It comes after a command, and with it.
pub async fn recount(cx: &Cx<'_>) -> Result<()> {
    let shifted = cx.shifted().all();
    if shifted.is_empty() || sown(Fault::CountStandsStill) { Ok(()) } else { Box::pin(anew(cx, shifted)).await }
}

async fn anew(cx: &Cx<'_>, shifted: Shifted) -> Result<()> {
    if !cx.is_adjusted_behind(&shifted).await? {
        return Ok(());
    }
    if !cx.awaits(DocumentKind::StockAdjustment)? && behind(cx, &shifted).await?.is_empty() {
        return Ok(());
    }
    cx.check_undoable()?;
    cx.flush().await?;
    for id in behind(cx, &shifted).await? {
        let old = read(cx, id).await?;
        let at: (Day, Option<Instant>) = (old.row.date, old.row.posted_at);
        let mut counted = old.content.asked.lines.iter().filter(|line| line.counted.is_some());
        if !counted.any(|line| shifted.get(&line.item).is_some_and(|first| at > *first)) {
            continue;
        }
        let asked = AdjustmentAsked {
            held: old.content.asked.lines.iter().map(|line| line.item).collect(),
            stands: Stands { posted_at: old.row.posted_at, places: old.content.figures.places.clone() },
            ..old.content.asked.clone()
        };
        if deltas(cx, old.row.date, &asked, Some(old.row.id)).await? == old.content.figures.deltas {
            continue;
        }
        let number = old.row.number.clone().ok_or_else(|| Error::internal("a count in the books has no number"))?;
        let day = old.row.date;
        document::remake(cx, old, asked).await.map_err(|error| match error {
            Error::Validation(faults) => {
                let why: Vec<String> = faults.iter().flat_map(|(_, messages)| messages).cloned().collect();
                let title = format!("{number} counted on {day} what is changed here, and {}", why.join(", "));
                Error::conflict(Code::InvalidState, title)
            }
            other => other,
        })?;
        cx.flush().await?;
    }
    Ok(())
}
