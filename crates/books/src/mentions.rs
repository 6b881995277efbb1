//! Which documents name a record.

use crate::cx::Cx;
use crate::error::Result;
use crate::ids::RecordId;
use answers::Ask;
use schema::aliases::{Aliases, Meant};
use schema::some::is_draft;
use schema::tables::documents::{self as table, Column};
use schema::tables::mentions;
use sea_orm::sea_query::{Alias, Expr, ExprTrait, Func, SimpleExpr};
use sea_orm::{ColumnTrait, Condition, QueryFilter, QuerySelect};

/// Rows in which a text that is kept as it is, in bytes, has this in it.
pub(crate) fn contains(column: impl ColumnTrait, part: &str) -> SimpleExpr {
    let place = Func::cust(Alias::new("instr")).arg(Expr::col(column)).arg(Expr::val(part.as_bytes().to_vec()));
    Expr::expr(place).gt(0_i64)
}

/// What a posted document names its entries move. A draft's own fields are JSON, in which an identifier stands as it
/// is written.
pub fn named_by_draft(id: RecordId) -> Condition {
    Condition::all().add(is_draft()).add(contains(Column::Content, &format!("\"{id}\"")))
}

/// The same of a party, whatever name it is written under.
pub fn party_named_by_draft(aliases: &Aliases, party: Meant) -> Condition {
    Condition::all().add(is_draft()).add(aliases.named_in(Column::Content, party))
}

/// Whether a draft names an item, a tax code or a payment term, or a document in the books ever did.
pub async fn is_mentioned(cx: &Cx<'_>, id: RecordId) -> Result<bool> {
    cx.flush().await?;
    let ever = mentions::Entity::find_by_id((cx.business_id()?, id)).model(&cx.db).await?;
    Ok(ever.is_some() || is_named(cx, id).await?)
}

/// Whether any draft names a record.
pub async fn is_named(cx: &Cx<'_>, id: RecordId) -> Result<bool> {
    let documents =
        table::Entity::find().filter(Column::BusinessId.eq(cx.business_id()?)).filter(named_by_draft(id)).limit(1);
    Ok(documents.model(&cx.db).await?.is_some())
}
