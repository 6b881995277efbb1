//! The ledger, portion by portion: bounded by its entries and by their lines, for those who read all of it.

use crate::cx::Cx;
use crate::error::Result;
use answers::Ask;
use schema::tables::{entries, entry_lines};
use sea_orm::{ColumnTrait, QueryFilter, QueryOrder, QuerySelect};
use std::collections::HashMap;
use words::sums::Sums as _;

pub use schema::reader::LINES;

/// The entries after one, up to another, with all lines up to the last of them, and that one's number; all that is left, where that is
/// no more than a portion. Lines between two entries, and after the last one, belong to none.
pub async fn next_entries(cx: &Cx<'_>, last: i64, until: i64) -> Result<schema::reader::Portion> {
    schema::reader::next_entries(&cx.db, cx.business_id()?, last, until).await
}

/// How many lines each of these entries has.
async fn counted(cx: &Cx<'_>, of: &[entries::Model]) -> Result<HashMap<i64, i64>> {
    let counts: Vec<(i64, i64)> = entry_lines::Entity::find()
        .select_only()
        .column(entry_lines::Column::EntryNumber)
        .column_as(entry_lines::Column::Position.count(), "lines")
        .filter(entry_lines::Column::BusinessId.eq(cx.business_id()?))
        .filter(entry_lines::Column::EntryNumber.is_in(of.iter().map(|entry| entry.number)))
        .group_by(entry_lines::Column::EntryNumber)
        .read(&cx.db)
        .await?;
    Ok(counts.into_iter().collect())
}

/// How many of these entries can be read at once with their lines; one at least.
fn fitting(counts: &HashMap<i64, i64>, of: &[entries::Model]) -> usize {
    let mut left = LINES.cast_signed();
    let fit = of.iter().take_while(|entry| {
        left -= counts.sum_of(&entry.number);
        left >= 0
    });
    Ord::max(fit.count(), 1)
}

/// How many of these entries can be read at once with their lines; one at least.
pub async fn that_fit(cx: &Cx<'_>, of: &[entries::Model]) -> Result<usize> {
    Ok(fitting(&counted(cx, of).await?, of))
}

/// The lines of entries that are wanted together, read a portion at a time. Where they are more than one answer holds, how
/// many they are.
pub async fn lines_of(
    cx: &Cx<'_>,
    of: &[entries::Model],
    most: i64,
) -> Result<std::result::Result<Vec<entry_lines::Model>, i64>> {
    let counts = counted(cx, of).await?;
    let count = counts.values().sum();
    if count > most && of.len() > 1 {
        return Ok(Err(count));
    }
    let (mut lines, mut rest) = (Vec::new(), of);
    while !rest.is_empty() {
        let (some, later) = rest.split_at(fitting(&counts, rest));
        rest = later;
        lines.extend(of_entries(cx, some).await?);
        cx.pause().await?;
    }
    Ok(Ok(lines))
}

/// The lines of these entries, which fit.
pub async fn of_entries(cx: &Cx<'_>, of: &[entries::Model]) -> Result<Vec<entry_lines::Model>> {
    let lines = entry_lines::Entity::find()
        .filter(entry_lines::Column::BusinessId.eq(cx.business_id()?))
        .filter(entry_lines::Column::EntryNumber.is_in(of.iter().map(|entry| entry.number)))
        .order_by_asc(entry_lines::Column::EntryNumber)
        .order_by_asc(entry_lines::Column::Position)
        .models(&cx.db)
        .await?;
    Ok(lines)
}

/// As many parameters as a statement has without trouble on any engine.
pub fn by_parameters<T>(of: &[T]) -> impl Iterator<Item = &[T]> {
    of.chunks(500)
}
