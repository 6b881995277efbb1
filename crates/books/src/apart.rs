//! Entries that are no business of the days they lie on: what books begin with, and what lies between two years.
//!
//! There are few of them, and each kind has an index of its own, so that reports can leave them out without reading the
//! rest.

use crate::cx::Cx;
use crate::error::Result;
use schema::tables::{EntryKind, entries};
use sea_orm::sea_query::{Expr, Query, SelectStatement, UnionType};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect, QueryTrait};

/// The numbers of what lies between two years. There are two or three a year.
pub async fn between_years(cx: &Cx<'_>) -> Result<Vec<i64>> {
    let numbers = entries::Entity::find()
        .select_only()
        .column(entries::Column::Number)
        .filter(entries::Column::BusinessId.eq(cx.business_id()?))
        .filter(entries::Column::Number.in_subquery(numbers_of(cx, &[EntryKind::YearEnd])?));
    Ok(numbers.into_tuple().all(&cx.db).await?)
}

/// The numbers of the entries of these kinds, and of what took them back.
pub fn numbers_of(cx: &Cx<'_>, kinds: &[EntryKind]) -> Result<SelectStatement> {
    let business = cx.business_id()?;
    let of = |kind: EntryKind| {
        entries::Entity::find()
            .select_only()
            .filter(entries::Column::BusinessId.eq(business))
            // Written out: an index on some rows is chosen by the text of the condition.
            .filter(Expr::cust(format!("kind = '{kind}'")))
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
