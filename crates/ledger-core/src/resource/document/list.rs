//! How documents are listed, and who names what.

use super::Document;
use crate::books::tables::documents::{self as table, Column};
use crate::books::tables::{DocumentStatus, document_counts, entries, entry_lines, mentions};
use crate::cx::Cx;
use crate::error::Result;
use crate::ids::RecordId;
use crate::resource::list::{FilterValue, Reads};
use crate::resource::rows::Filter;
use sea_orm::sea_query::{Expr, ExprTrait, LikeExpr, Query};
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QuerySelect};

/// The filters that every kind of document has.
pub(crate) fn filters() -> Vec<Filter<Column>> {
    vec![
        Filter::equal("status", "Documents that stand like this.", Reads::AnyOf(DocumentStatus::TEXTS), Column::Status),
        Filter::at_least("dateFrom", "Documents of this day or later.", Reads::Day, Column::Date),
        Filter::at_most("dateTo", "Documents of this day or earlier.", Reads::Day, Column::Date),
        Filter::equal("number", "The document with this number.", Reads::Text, Column::Number),
        Filter::equal("reference", "Documents with this reference.", Reads::Text, Column::Reference),
        Filter::equal("currency", "Documents in this currency.", Reads::Text, Column::Currency),
        Filter::looking("accountId", "Documents that name or move this account.", Reads::Identifier, naming),
        Filter::at_least(
            "minTotal",
            "Documents of at least this total, in the company's currency.",
            Reads::Amount,
            Column::BaseTotal,
        ),
        Filter::at_most(
            "maxTotal",
            "Documents of at most this total, in the company's currency.",
            Reads::Amount,
            Column::BaseTotal,
        ),
        Filter::equal("externalId", "The document with this identifier elsewhere.", Reads::Text, Column::ExternalId),
        Filter::containing("tag", "Documents with this label.", Reads::Text, Column::Tags),
    ]
}

pub(crate) const SORTS: &[&str] = &["date", "number", "total", "createdAt", "updatedAt"];
pub(crate) const SORTED_BY: &[Column] =
    &[Column::Date, Column::Number, Column::BaseTotal, Column::CreatedAt, Column::UpdatedAt];

pub(crate) fn reach<D: Document>(cx: &Cx<'_>) -> Result<Condition> {
    Ok(Condition::all().add(Column::BusinessId.eq(cx.business_id()?)).add(Column::Kind.eq(D::KIND)))
}

/// Documents that name a record in their own fields, or whose entries do.
pub(crate) fn naming(cx: &Cx<'_>, value: &FilterValue) -> Result<Condition> {
    let FilterValue::Identifier(id) = value else { return Ok(Condition::any()) };
    let aliases = cx.aliases()?;
    let moving = Query::select()
        .column((entries::Entity, entries::Column::DocumentId))
        .from(entries::Entity)
        .inner_join(
            entry_lines::Entity,
            Expr::col((entry_lines::Entity, entry_lines::Column::EntryNumber))
                .equals((entries::Entity, entries::Column::Number))
                .and(
                    Expr::col((entry_lines::Entity, entry_lines::Column::BusinessId))
                        .equals((entries::Entity, entries::Column::BusinessId)),
                ),
        )
        .and_where(entry_lines::Column::BusinessId.eq(cx.business_id()?))
        .and_where(
            Condition::any()
                .add(entry_lines::Column::AccountId.eq(*id))
                .add(aliases.is(entry_lines::Column::PartyId, *id))
                .into(),
        )
        .take();
    let named = aliases.names(*id).into_iter().map(named_by_draft);
    Ok(named.fold(Condition::any().add(Column::Id.in_subquery(moving)), Condition::add))
}

/// What a posted document names its entries move. A draft's own fields are JSON, in which an identifier stands as it
/// is written.
fn named_by_draft(id: RecordId) -> Condition {
    Condition::all()
        .add(Column::Status.eq(DocumentStatus::Draft))
        .add(Column::Content.like(LikeExpr::new(format!("%\"{id}\"%"))))
}

/// How many documents of a kind there are.
pub(crate) async fn total<D: Document>(cx: &Cx<'_>) -> Result<Option<u64>> {
    let row = document_counts::Entity::find_by_id((cx.business_id()?, D::KIND.to_string())).one(&cx.db).await?;
    Ok(Some(row.map_or(0, |row| u64::try_from(row.count).unwrap_or_default())))
}

/// Whether a draft names an item, a tax code or a payment term, or a document in the books ever did.
pub(crate) async fn is_mentioned(cx: &Cx<'_>, id: RecordId) -> Result<bool> {
    cx.flush().await?;
    let ever = mentions::Entity::find_by_id((cx.business_id()?, id)).one(&cx.db).await?;
    Ok(ever.is_some() || is_named(cx, id).await?)
}

/// Whether any draft names a record.
pub(crate) async fn is_named(cx: &Cx<'_>, id: RecordId) -> Result<bool> {
    let documents =
        table::Entity::find().filter(Column::BusinessId.eq(cx.business_id()?)).filter(named_by_draft(id)).limit(1);
    Ok(documents.one(&cx.db).await?.is_some())
}
