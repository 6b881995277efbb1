//! The lines of the ledger over some days, as they were known: what reports sum that no rollup keeps.

use super::asked::{Asked, Mark};
use crate::error::Result;
use books::apart::{Apart, numbers_of};
use books::balances::{last_known, sum};
use books::cx::Cx;
use books::sums::Span;
use schema::tables::{DocumentKind, EntryKind, entries, entry_lines};
use sea_orm::sea_query::{Expr, SimpleExpr};
use sea_orm::{ColumnTrait, Condition, EntityTrait, JoinType, QueryFilter, QuerySelect, QueryTrait, Select};

/// Lines with the entries that they stand in, to be narrowed, grouped and summed.
pub(super) async fn of_span(cx: &Cx<'_>, span: Span, asked: &Asked) -> Result<Select<entry_lines::Entity>> {
    let of_entry = entry_lines::Entity::belongs_to(entries::Entity)
        .from((entry_lines::Column::BusinessId, entry_lines::Column::EntryNumber))
        .to((entries::Column::BusinessId, entries::Column::Number));
    Ok(alone(cx, span, asked).await?.join(JoinType::InnerJoin, of_entry.into()))
}

/// Lines by themselves: what is only counted or summed reads no entry for each of them.
pub(super) async fn alone(cx: &Cx<'_>, span: Span, asked: &Asked) -> Result<Select<entry_lines::Entity>> {
    let mut lines = entry_lines::Entity::find()
        .select_only()
        .filter(entry_lines::Column::BusinessId.eq(cx.business_id()?))
        .filter(entry_lines::Column::Date.lte(span.to));
    if let Some(from) = span.from {
        lines = lines.filter(entry_lines::Column::Date.gte(from));
    }
    if let Some(known) = last_known(cx, asked.point).await? {
        lines = lines.filter(entry_lines::Column::EntryNumber.lte(known));
    }
    Ok(lines)
}

/// The same, within the years: what lies between two of them is no movement of either.
pub(super) async fn within(cx: &Cx<'_>, span: Span, asked: &Asked) -> Result<Select<entry_lines::Entity>> {
    without(cx, of_span(cx, span, asked).await?, &[EntryKind::YearEnd], asked.apart)
}

/// What documents of these kinds came to by themselves: not what allocations posted for them, nor what took that back.
pub(super) fn of_documents(
    cx: &Cx<'_>,
    lines: Select<entry_lines::Entity>,
    kinds: impl IntoIterator<Item = DocumentKind>,
) -> Result<Select<entry_lines::Entity>> {
    let of_allocations = entries::Entity::find()
        .select_only()
        .column(entries::Column::Id)
        .filter(entries::Column::BusinessId.eq(cx.business_id()?))
        .filter(entries::Column::Kind.eq(EntryKind::Allocation));
    let takes_none_back = Condition::any()
        .add(entries::Column::ReversesId.is_null())
        .add(entries::Column::ReversesId.not_in_subquery(of_allocations.into_query()));
    Ok(lines
        .filter(entries::Column::DocumentKind.is_in(kinds))
        .filter(entries::Column::Kind.is_not_in([EntryKind::Allocation, EntryKind::TaxAdjustment]))
        .filter(takes_none_back))
}

/// Only lines of entries of these kinds, and what took them back.
pub(super) fn apart(
    cx: &Cx<'_>,
    lines: Select<entry_lines::Entity>,
    kinds: &[EntryKind],
) -> Result<Select<entry_lines::Entity>> {
    Ok(lines.filter(entry_lines::Column::EntryNumber.in_subquery(numbers_of(cx, kinds)?)))
}

/// All lines but these.
pub(super) fn without(
    cx: &Cx<'_>,
    lines: Select<entry_lines::Entity>,
    kinds: &[EntryKind],
    there: Apart,
) -> Result<Select<entry_lines::Entity>> {
    let kinds: Vec<EntryKind> = there.of(kinds).collect();
    if kinds.is_empty() {
        return Ok(lines);
    }
    Ok(lines.filter(entry_lines::Column::EntryNumber.not_in_subquery(numbers_of(cx, &kinds)?)))
}

/// Lines after the one that a portion ended with, in the order of days, entries and lines.
pub(super) fn after(mark: &Mark) -> Condition {
    let later = Condition::any()
        .add(entry_lines::Column::Date.gt(mark.date))
        .add(entry_lines::Column::EntryNumber.gt(mark.number))
        .add(
            Condition::all()
                .add(entry_lines::Column::EntryNumber.eq(mark.number))
                .add(entry_lines::Column::Position.gt(mark.position)),
        );
    Condition::all().add(entry_lines::Column::Date.gte(mark.date)).add(later)
}

/// The sum of what lines move, a debit positive.
pub(super) fn amount(cx: &Cx<'_>) -> SimpleExpr {
    sum(cx, Expr::col((entry_lines::Entity, entry_lines::Column::Amount)))
}
