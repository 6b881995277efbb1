//! What documents are found by that moves without their doing.

use crate::error::Result;
use books::cx::Cx;
use kit::list::FilterValue;
use schema::some::{is_draft, is_open};
use schema::tables::documents::{self, Column};
use schema::tables::{DocumentStatus, Stage, document_lines, open_items};
use sea_orm::sea_query::{Expr, ExprTrait, Query, SimpleExpr};
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QuerySelect};

/// Finds documents by how far they have got, by whatever word their kind has for it.
#[expect(clippy::unnecessary_wraps, reason = "filters that look elsewhere may fail")]
pub(crate) fn that_got_so_far(_: &Cx<'_>, value: &FilterValue) -> Result<Condition> {
    let FilterValue::AnyOf(texts) = value else { return Ok(Condition::any()) };
    let mut any = Condition::any();
    for text in texts {
        let stage = match text.as_str() {
            "draft" => {
                any = any.add(is_draft());
                continue;
            }
            "cancelled" | "void" => {
                any = any.add(Column::Status.eq(DocumentStatus::Void));
                continue;
            }
            "partiallyFulfilled" | "partiallyReceived" | "partiallyInvoiced" | "partiallyBilled" => Stage::Partial,
            "fulfilled" | "received" | "invoiced" | "billed" => Stage::Done,
            "closed" => Stage::Closed,
            _ => Stage::Open,
        };
        any = any.add(Condition::all().add(Column::Status.eq(DocumentStatus::Posted)).add(Column::Stage.eq(stage)));
    }
    Ok(any)
}

/// Whether a document has an open item like this. Asked document by document, so that a page needs no more of them
/// than it shows.
fn open_where(cx: &Cx<'_>, wanted: SimpleExpr) -> Result<SimpleExpr> {
    let open = Query::select()
        .expr(Expr::val(1))
        .from(open_items::Entity)
        .and_where(open_items::Column::BusinessId.eq(cx.business_id()?))
        .and_where(
            Expr::col((open_items::Entity, open_items::Column::DocumentId)).equals((documents::Entity, Column::Id)),
        )
        .and_where(wanted)
        .take();
    Ok(Expr::exists(open))
}

fn is_whole() -> SimpleExpr {
    Expr::col(open_items::Column::Open).eq(Expr::col(open_items::Column::Amount))
}

fn is_late(cx: &Cx<'_>) -> Result<SimpleExpr> {
    Ok(is_open().and(open_items::Column::DueDate.lt(cx.today()?)))
}

fn standing_like(cx: &Cx<'_>, value: &FilterValue, partly: &str, done: &str) -> Result<Condition> {
    let FilterValue::AnyOf(texts) = value else { return Ok(Condition::any()) };
    let mut any = Condition::any();
    for text in texts {
        let by_open = match text.as_str() {
            "draft" => {
                any = any.add(is_draft());
                continue;
            }
            "void" => {
                any = any.add(Column::Status.eq(DocumentStatus::Void));
                continue;
            }
            "open" => is_open().and(is_whole()),
            "overdue" => is_late(cx)?,
            text if text == partly => is_open().and(is_whole().not()),
            text if text == done => is_open().not(),
            _ => continue,
        };
        any = any.add(Condition::all().add(Column::Status.eq(DocumentStatus::Posted)).add(open_where(cx, by_open)?));
    }
    Ok(any)
}

pub(crate) fn invoices_that_stand(cx: &Cx<'_>, value: &FilterValue) -> Result<Condition> {
    standing_like(cx, value, "partiallyPaid", "paid")
}

pub(crate) fn notes_that_stand(cx: &Cx<'_>, value: &FilterValue) -> Result<Condition> {
    standing_like(cx, value, "partiallyAllocated", "closed")
}

pub(crate) fn overdue(cx: &Cx<'_>, value: &FilterValue) -> Result<Condition> {
    let FilterValue::Flag(wanted) = value else { return Ok(Condition::any()) };
    let late = Condition::all().add(open_where(cx, is_late(cx)?)?);
    Ok(if *wanted { late } else { late.not() })
}

pub(crate) fn due_from(cx: &Cx<'_>, value: &FilterValue) -> Result<Condition> {
    let FilterValue::Day(day) = value else { return Ok(Condition::any()) };
    Ok(Condition::all().add(open_where(cx, open_items::Column::DueDate.gte(*day))?))
}

pub(crate) fn due_to(cx: &Cx<'_>, value: &FilterValue) -> Result<Condition> {
    let FilterValue::Day(day) = value else { return Ok(Condition::any()) };
    Ok(Condition::all().add(open_where(cx, open_items::Column::DueDate.lte(*day))?))
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
