//! Entries that are no business of the days they lie on: what books begin with, and what lies between two years.
//!
//! There are few of them, and each kind has an index of its own, so that reports can leave them out without reading the
//! rest.

use crate::BEFORE_THE_FIRST;
use crate::cx::Cx;
use crate::error::Result;
use answers::Ask;
use schema::tables::{EntryKind, books, entries};
use sea_orm::sea_query::{Expr, Query, SelectStatement, SimpleExpr, UnionType};
use sea_orm::{ColumnTrait, QueryFilter, QuerySelect, QueryTrait};

/// Whether books have any of them at all: most have none, and then nobody looks for them in each question of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Apart {
    pub openings: bool,
    pub year_ends: bool,
}

impl Apart {
    /// Of these kinds, those that there are.
    pub fn of<'k>(&self, kinds: &'k [EntryKind]) -> impl Iterator<Item = EntryKind> + 'k {
        let Self { openings, year_ends } = *self;
        kinds.iter().copied().filter(move |kind| match kind {
            EntryKind::Opening => openings,
            EntryKind::YearEnd => year_ends,
            _ => true,
        })
    }
}

/// Where the books stand: the number of their last entry, and what of theirs is no business of the days it lies on.
pub async fn standing(cx: &Cx<'_>) -> Result<(i64, Apart)> {
    let business = cx.business_id()?;
    let any = |kind: EntryKind| {
        let some = entries::Entity::find()
            .select_only()
            .column(entries::Column::Number)
            .filter(entries::Column::BusinessId.eq(business))
            .filter(Expr::cust(format!("kind = '{}'", kind.code())))
            .limit(1);
        SimpleExpr::SubQuery(None, Box::new(some.into_query().into()))
    };
    let found: Option<(i64, Option<i64>, Option<i64>)> = books::Entity::find_by_id(business)
        .select_only()
        .column(books::Column::EntryNumber)
        .column_as(any(EntryKind::Opening), "openings")
        .column_as(any(EntryKind::YearEnd), "year_ends")
        .into_tuple()
        .one(&cx.db)
        .await?;
    // Books that nothing was entered in yet.
    let Some((last, openings, year_ends)) = found else { return Ok((BEFORE_THE_FIRST, Apart::default())) };
    Ok((last, Apart { openings: openings.is_some(), year_ends: year_ends.is_some() }))
}

/// The numbers of what lies between two years. There are two or three a year.
pub async fn between_years(cx: &Cx<'_>) -> Result<Vec<i64>> {
    let numbers = entries::Entity::find()
        .select_only()
        .column(entries::Column::Number)
        .filter(entries::Column::BusinessId.eq(cx.business_id()?))
        .filter(entries::Column::Number.in_subquery(numbers_of(cx, &[EntryKind::YearEnd])?));
    Ok(numbers.column_of(&cx.db).await?)
}

/// The numbers of the entries of these kinds, and of what took them back.
pub fn numbers_of(cx: &Cx<'_>, kinds: &[EntryKind]) -> Result<SelectStatement> {
    let business = cx.business_id()?;
    let of = |kind: EntryKind| {
        entries::Entity::find()
            .select_only()
            .filter(entries::Column::BusinessId.eq(business))
            // Written out: an index on some rows is chosen by the text of the condition.
            .filter(Expr::cust(format!("kind = '{}'", kind.code())))
    };
    let mut numbers = Query::select().expr(Expr::cust("-1")).take();
    for kind in kinds {
        let taken_back = entries::Entity::find()
            .select_only()
            .column(entries::Column::Number)
            .filter(entries::Column::BusinessId.eq(business))
            .filter(entries::Column::ReversesId.in_subquery(of(*kind).column(entries::Column::Id).into_query()));
        numbers.union(UnionType::All, of(*kind).column(entries::Column::Number).into_query());
        numbers.union(UnionType::All, taken_back.into_query());
    }
    Ok(numbers)
}
