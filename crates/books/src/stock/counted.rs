//! Where an item was counted: what is missing from a count on, the count does not miss.

use crate::clock::Instant;
use crate::cx::Cx;
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::{BusinessId, RecordId};
use crate::money::Quantity;
use answers::{Answers, Ask};
use schema::some::is_of_adjustments;
use schema::tables::{DocumentStatus, document_lines, documents};
use sea_orm::{ColumnTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap, HashSet};
use words::sown::{Fault, sown};

/// What is read here of a line of a stock adjustment.
#[derive(Deserialize)]
struct Line {
    item: RecordId,
    counted: Option<Quantity>,
}

/// The last day on which a stock adjustment has a line of each of these items, as the database has it.
pub(crate) async fn adjusted(
    connection: &impl Answers,
    business: BusinessId,
    items: &HashSet<RecordId>,
) -> Result<HashMap<RecordId, Option<Day>>> {
    let found: Vec<(RecordId, Day)> = document_lines::Entity::find()
        .select_only()
        .column(document_lines::Column::ItemId)
        .column_as(document_lines::Column::Date.max(), "last")
        .filter(document_lines::Column::BusinessId.eq(business))
        .filter(is_of_adjustments())
        .filter(document_lines::Column::ItemId.is_in(items.iter().copied()))
        .group_by(document_lines::Column::ItemId)
        .read(connection)
        .await?;
    let mut all: HashMap<RecordId, Option<Day>> = items.iter().map(|item| (*item, None)).collect();
    all.extend(found.into_iter().map(|(item, day)| (item, Some(day))));
    Ok(all)
}

impl Cx<'_> {
    /// Whether stock of something that moved was adjusted on the day of that or later. It may say so where it was and is no
    /// more.
    pub async fn is_adjusted_behind(&self, moved: &BTreeMap<RecordId, (Day, Option<Instant>)>) -> Result<bool> {
        let items = moved.keys().copied().collect();
        let adjusted = self.desk()?.adjusted(&self.db, self.business_id()?, &items).await?;
        Ok(moved
            .iter()
            .any(|(item, (day, _))| adjusted.get(item).is_none_or(|last| last.is_some_and(|last| last >= *day))))
    }
}

/// The day of the first count of an item on a day or after it.
pub(crate) async fn first_from(cx: &Cx<'_>, item: RecordId, day: Day) -> Result<Option<Day>> {
    let business = cx.business_id()?;
    let lines = document_lines::Entity::find()
        .select_only()
        .column(document_lines::Column::DocumentId)
        .filter(document_lines::Column::BusinessId.eq(business))
        .filter(is_of_adjustments())
        .filter(document_lines::Column::ItemId.eq(item))
        .filter(if sown(Fault::CountsOfTheDayAreForgotten) {
            document_lines::Column::Date.gt(day)
        } else {
            document_lines::Column::Date.gte(day)
        });
    let found: Vec<RecordId> = documents::Entity::find()
        .select_only()
        .column(documents::Column::Id)
        .filter(documents::Column::BusinessId.eq(business))
        .filter(documents::Column::Status.eq(DocumentStatus::Posted))
        .filter(documents::Column::Id.in_subquery(lines.into_query()))
        .order_by_asc(documents::Column::Date)
        .column_of(&cx.db)
        .await?;
    // One by one: there is no end of them, and the first is mostly the one.
    for id in found {
        let row = documents::Entity::find_by_id((business, id)).model(&cx.db).await?;
        let row = row.ok_or_else(|| Error::internal("an adjustment is gone while it is read"))?;
        let kept: documents::KeptLines<Line> = row.kept()?;
        if kept.lines().iter().any(|line| line.item == item && line.counted.is_some()) {
            return Ok(Some(row.date));
        }
    }
    Ok(None)
}
