//! The ledger, portion by portion: bounded by its entries and by their lines, for those who read all of it.

use crate::cx::Cx;
use crate::error::Result;
use crate::ids::BusinessId;
use schema::tables::{entries, entry_lines};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Select};
use std::collections::HashMap;
use words::sums::Sums as _;

/// As many entries as are read at once.
const PORTION: u64 = 2_000;
/// As many lines, where no entry has more.
pub const LINES: u64 = 10_000;

/// The entries after one, up to another, with all lines up to the last of them, and that one's number; all that is left, where that is
/// no more than a portion. Lines between two entries, and after the last one, belong to none.
pub async fn next_entries(
    cx: &Cx<'_>,
    last: i64,
    until: i64,
) -> Result<(Vec<entries::Model>, Vec<entry_lines::Model>, Option<i64>)> {
    let business = cx.business_id()?;
    let headers = entries::Entity::find()
        .filter(entries::Column::BusinessId.eq(business))
        .filter(entries::Column::Number.gt(last))
        .filter(entries::Column::Number.lte(until))
        .order_by_asc(entries::Column::Number)
        .limit(PORTION);
    let mut headers = headers.all(&cx.db).await?;
    let mut end = (headers.len() as u64 >= PORTION).then(|| headers.last().map(|header| header.number)).flatten();
    let lines = lines_between(business, last, end.unwrap_or(until)).limit(LINES + 1).all(&cx.db).await?;
    if lines.len() as u64 <= LINES {
        return Ok((headers, lines, end));
    }
    // Up to the last entry that is whole among them; at least one.
    let cut = lines.last().map_or(last, |line| line.entry_number);
    let whole = lines.iter().rev().map(|line| line.entry_number).find(|number| *number < cut).unwrap_or(cut);
    end = Some(whole);
    headers.retain(|header| header.number <= whole);
    let lines = if whole == cut {
        lines_between(business, last, whole).all(&cx.db).await?
    } else {
        lines.into_iter().take_while(|line| line.entry_number <= whole).collect()
    };
    Ok((headers, lines, end))
}

fn lines_between(business: BusinessId, after: i64, until: i64) -> Select<entry_lines::Entity> {
    entry_lines::Entity::find()
        .filter(entry_lines::Column::BusinessId.eq(business))
        .filter(entry_lines::Column::EntryNumber.gt(after))
        .filter(entry_lines::Column::EntryNumber.lte(until))
        .order_by_asc(entry_lines::Column::EntryNumber)
        .order_by_asc(entry_lines::Column::Position)
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
        .into_tuple()
        .all(&cx.db)
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
        .all(&cx.db)
        .await?;
    Ok(lines)
}

/// As many parameters as a statement has without trouble on any engine.
pub fn by_parameters<T>(of: &[T]) -> impl Iterator<Item = &[T]> {
    of.chunks(500)
}
