//! What documents are found by that stands beside them.

use crate::document::Wanted;
use crate::error::Result;
use crate::parts::TradeKind;
use books::cx::Cx;
use kit::list::FilterValue;
use schema::tables::document_lines;
use schema::tables::documents::Column;
use sea_orm::{ColumnTrait, Condition, QueryFilter, QuerySelect};

/// Finds documents of a kind by how far they have got, by whatever word it has for that.
pub(crate) fn that_got_so_far<K: TradeKind>(cx: &Cx<'_>, value: &FilterValue) -> Result<Condition> {
    let FilterValue::AnyOf(words) = value else { return Ok(Condition::any()) };
    Wanted::of(K::KIND, words).condition(cx)
}

pub(crate) fn trading(cx: &Cx<'_>, value: &FilterValue) -> Result<Condition> {
    let FilterValue::Identifier(item) = value else { return Ok(Condition::any()) };
    let lines = document_lines::Entity::find()
        .select_only()
        .column(document_lines::Column::DocumentId)
        .filter(document_lines::Column::BusinessId.eq(cx.business_id()?))
        .filter(document_lines::Column::ItemId.eq(*item));
    Ok(Condition::all().add(Column::Id.in_subquery(sea_orm::QueryTrait::into_query(lines))))
}
