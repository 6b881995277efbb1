//! Where an item was counted: what is missing from a count on, the count does not miss.

use crate::cx::Cx;
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::Quantity;
use answers::Ask;
use schema::some::is_of_adjustments;
use schema::tables::{DocumentStatus, document_lines, documents};
use sea_orm::{ColumnTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait};
use serde::Deserialize;

/// What is read here of a line of a stock adjustment.
#[derive(Deserialize)]
struct Line {
    item: RecordId,
    counted: Option<Quantity>,
}

/// The day of the first count of an item after a day.
pub(crate) async fn first_after(cx: &Cx<'_>, item: RecordId, day: Day) -> Result<Option<Day>> {
    let business = cx.business_id()?;
    let lines = document_lines::Entity::find()
        .select_only()
        .column(document_lines::Column::DocumentId)
        .filter(document_lines::Column::BusinessId.eq(business))
        .filter(is_of_adjustments())
        .filter(document_lines::Column::ItemId.eq(item))
        .filter(document_lines::Column::Date.gt(day));
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
