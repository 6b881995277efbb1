//! A walk along a list, from the last row of a page to the next page.

use super::{Column, NEAR, Read, Rows, page};
use crate::cursor::{self, SortedBy};
use crate::error::{Error, Result};
use crate::list::{Page, Total, Walk, Walked};
use ::books::cx::Cx;
use sea_orm::{ColumnTrait, QueryFilter, Select};

/// The next page. `apart` is the first column, where those without a value in it are read by themselves.
pub(super) async fn on<M: Rows, R: Read<M>>(
    cx: &Cx<'_>,
    (walk, page_size): (&Walk, u64),
    (rows, total): (Select<M::Entity>, Total),
    (sorted_by, apart): (&SortedBy<M>, Option<Column<M>>),
    sorted: impl Fn(Select<M::Entity>) -> Select<M::Entity>,
) -> Result<Page<R::Of>> {
    let place = cursor::place::<M>(cx, walk, sorted_by)?;
    let number = place.as_ref().map_or(1, |place| place.page);
    let rows = match &place {
        Some(place) => rows.filter(cursor::later::<M>(sorted_by, place)?),
        None => rows,
    };
    // One more tells whether there are more.
    let size = page_size + 1;
    let mut items = match apart {
        Some(first) => down::<M, R>(cx, rows, first, sorted, size).await?,
        None => page::<M, R>(cx, rows, sorted, (size, 0), NEAR).await?,
    };
    let is_more = items.len() as u64 == size;
    items.truncate(items.len() - usize::from(is_more));
    let next = match items.last().filter(|_| is_more) {
        Some(last) => {
            let values = sorted_by.iter().map(|(column, _)| R::value(last, *column)).collect::<Result<_>>()?;
            Some(cursor::behind::<M>(cx, sorted_by, values, number + 1)?)
        }
        None => None,
    };
    Ok(Page { items, total, walked: Some(Walked { page: number, next }) })
}

/// From the greatest value of the first column down, and then those without one.
async fn down<M: Rows, R: Read<M>>(
    cx: &Cx<'_>,
    rows: Select<M::Entity>,
    first: Column<M>,
    sorted: impl Fn(Select<M::Entity>) -> Select<M::Entity>,
    size: u64,
) -> Result<Vec<R::Of>> {
    let mut found = page::<M, R>(cx, rows.clone().filter(first.is_not_null()), &sorted, (size, 0), NEAR).await?;
    let rest = size - u64::try_from(found.len()).map_err(Error::internal)?;
    if rest > 0 {
        found.extend(page::<M, R>(cx, rows.filter(first.is_null()), &sorted, (rest, 0), NEAR).await?);
    }
    Ok(found)
}
