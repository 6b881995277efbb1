//! What moves without a document's doing: what is open of it, what was allocated, what its goods cost.

use crate::books::stock;
use crate::books::tables::documents::{self, Column};
use crate::books::tables::{DocumentStatus, allocations, document_lines, open_items, stock_lines};
use crate::cx::Cx;
use crate::database::stored::wire_enum;
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::Money;
use crate::resource::document::Leaving;
use crate::resource::list::FilterValue;
use crate::resource::settlement::allocating;
use sea_orm::sea_query::{Expr, ExprTrait, Query, SimpleExpr};
use sea_orm::{ColumnTrait, Condition, EntityTrait, PaginatorTrait, QueryFilter, QuerySelect};
use std::collections::HashMap;

wire_enum! {
    /// Where an invoice stands.
    pub enum InvoiceStatus {
        /// Not in the books, and without a number.
        Draft = "draft",
        /// In the books, and nothing of it is paid.
        #[default]
        Open = "open",
        PartiallyPaid = "partiallyPaid",
        /// Nothing is left to pay.
        Paid = "paid",
        /// Taken back by a reversal; it keeps its number.
        Void = "void",
    }
}

wire_enum! {
    /// Where a note stands.
    pub enum NoteStatus {
        /// Not in the books, and without a number.
        Draft = "draft",
        /// In the books, and nothing of it is allocated or refunded.
        #[default]
        Open = "open",
        PartiallyAllocated = "partiallyAllocated",
        /// Nothing of it is left.
        Closed = "closed",
        /// Taken back by a reversal; it keeps its number.
        Void = "void",
    }
}

/// What is live of one document.
#[derive(Debug, Clone, Default)]
pub struct Standing {
    pub(super) open: Option<open_items::Model>,
    pub(super) allocations: Vec<allocations::Model>,
    /// By line, what came in positive.
    pub(super) costs: HashMap<RecordId, Money>,
}

fn size(money: Money) -> Money {
    Money::from_units(money.units().saturating_abs())
}

impl Standing {
    /// Of a document that is being made: nothing is allocated yet.
    pub(super) fn of_plan(plan: Option<&stock::Plan>) -> Self {
        let lines = plan.iter().flat_map(|plan| &plan.lines);
        Self { costs: lines.map(|line| (line.line_id, size(line.cost))).collect(), ..Self::default() }
    }

    /// What is left of a document's total, in its currency and in the company's.
    pub(super) fn left(&self, row: &documents::Model) -> (Money, Money) {
        match (&self.open, row.status) {
            (Some(open), _) => (size(open.open), size(open.base_open)),
            (None, DocumentStatus::Void) => (Money::ZERO, Money::ZERO),
            (None, DocumentStatus::Draft | DocumentStatus::Posted) => (row.total, row.base_total),
        }
    }

    pub(super) fn is_allocated(&self) -> bool {
        self.open.as_ref().is_some_and(open_items::Model::is_touched)
    }

    pub(super) fn invoice_status(&self, row: &documents::Model) -> InvoiceStatus {
        match row.status {
            DocumentStatus::Draft => InvoiceStatus::Draft,
            DocumentStatus::Void => InvoiceStatus::Void,
            DocumentStatus::Posted if self.left(row).0 == Money::ZERO => InvoiceStatus::Paid,
            DocumentStatus::Posted if self.is_allocated() => InvoiceStatus::PartiallyPaid,
            DocumentStatus::Posted => InvoiceStatus::Open,
        }
    }

    pub(super) fn note_status(&self, row: &documents::Model) -> NoteStatus {
        match row.status {
            DocumentStatus::Draft => NoteStatus::Draft,
            DocumentStatus::Void => NoteStatus::Void,
            DocumentStatus::Posted if self.left(row).0 == Money::ZERO => NoteStatus::Closed,
            DocumentStatus::Posted if self.is_allocated() => NoteStatus::PartiallyAllocated,
            DocumentStatus::Posted => NoteStatus::Open,
        }
    }

    /// The last day on which something was allocated, where nothing is left.
    pub(super) fn paid_on(&self, row: &documents::Model) -> Option<Day> {
        let paid = row.status == DocumentStatus::Posted && self.left(row).0 == Money::ZERO;
        self.allocations.iter().map(|one| one.date).max().filter(|_| paid)
    }

    /// How many days it is overdue.
    pub(super) fn days_overdue(&self, row: &documents::Model, due: Option<Day>, today: Day) -> i64 {
        let waits = row.status == DocumentStatus::Posted && self.left(row).0 != Money::ZERO;
        due.filter(|due| waits && *due < today).map_or(0, |due| today.days_since(due))
    }
}

pub(super) async fn standings(cx: &Cx<'_>, rows: &[documents::Model]) -> Result<HashMap<RecordId, Standing>> {
    let posted: Vec<RecordId> =
        rows.iter().filter(|row| row.status == DocumentStatus::Posted).map(|row| row.id).collect();
    let mut standings: HashMap<RecordId, Standing> = HashMap::new();
    if posted.is_empty() {
        return Ok(standings);
    }
    for open in crate::books::open_items::of(cx, &posted).await? {
        let id = open.document_id;
        standings.entry(id).or_default().open = Some(open);
    }
    let touched: Vec<RecordId> =
        standings.iter().filter(|(_, standing)| standing.is_allocated()).map(|(id, _)| *id).collect();
    for allocation in allocating::of_documents(cx, &touched).await? {
        for id in [allocation.source_document_id, allocation.target_document_id] {
            if let Some(standing) = standings.get_mut(&id) {
                standing.allocations.push(allocation.clone());
            }
        }
    }
    let moving: Vec<RecordId> =
        rows.iter().filter(|row| row.content.contains(r#""moves_stock":true"#)).map(|row| row.id).collect();
    if !moving.is_empty() {
        let lines = stock_lines::Entity::find()
            .filter(stock_lines::Column::BusinessId.eq(cx.business_id()?))
            .filter(stock_lines::Column::DocumentId.is_in(moving))
            .all(&cx.db)
            .await?;
        for line in lines {
            standings.entry(line.document_id).or_default().costs.insert(line.line_id, size(line.cost));
        }
    }
    Ok(standings)
}

/// When a document is due may change at any time; its ledger entry says when it was due at first.
pub(super) async fn fall_due(cx: &Cx<'_>, row: &documents::Model, due: Option<Day>) -> Result<()> {
    if due.is_some_and(|due| due < row.date) {
        return Err(Error::field("dueDate", "must not be before the date"));
    }
    open_items::Entity::update_many()
        .col_expr(open_items::Column::DueDate, due.into())
        .filter(open_items::Column::BusinessId.eq(row.business_id))
        .filter(open_items::Column::DocumentId.eq(row.id))
        .exec(&cx.db)
        .await?;
    Ok(())
}

/// Refuses while something else needs the document as it is.
pub(super) async fn release(cx: &Cx<'_>, row: &documents::Model, leaving: Leaving) -> Result<()> {
    cx.flush().await?;
    let lines = Query::select()
        .column(document_lines::Column::Id)
        .from(document_lines::Entity)
        .and_where(document_lines::Column::BusinessId.eq(row.business_id))
        .and_where(document_lines::Column::DocumentId.eq(row.id))
        .take();
    let credited = document_lines::Entity::find()
        .filter(document_lines::Column::BusinessId.eq(row.business_id))
        .filter(document_lines::Column::SourceLineId.in_subquery(lines));
    if credited.count(&cx.db).await? > 0 {
        return Err(Error::conflict("in_use", "A note credits lines of it; void that note first"));
    }
    if leaving == Leaving::ForGood && !allocating::of_documents(cx, &[row.id]).await?.is_empty() {
        return Err(Error::conflict("has_allocations", "It is allocated; remove its allocations first"));
    }
    Ok(())
}

// ── Filters ──

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

fn is_left() -> SimpleExpr {
    open_items::Column::Open.ne(Money::ZERO)
}

fn is_whole() -> SimpleExpr {
    Expr::col(open_items::Column::Open).eq(Expr::col(open_items::Column::Amount))
}

fn is_late(cx: &Cx<'_>) -> Result<SimpleExpr> {
    Ok(is_left().and(open_items::Column::DueDate.lt(cx.today()?)))
}

fn standing_like(cx: &Cx<'_>, value: &FilterValue, partly: &str, done: &str) -> Result<Condition> {
    let FilterValue::AnyOf(texts) = value else { return Ok(Condition::any()) };
    let mut any = Condition::any();
    for text in texts {
        let by_open = match text.as_str() {
            "draft" => {
                any = any.add(Column::Status.eq(DocumentStatus::Draft));
                continue;
            }
            "void" => {
                any = any.add(Column::Status.eq(DocumentStatus::Void));
                continue;
            }
            "open" => is_left().and(is_whole()),
            "overdue" => is_late(cx)?,
            text if text == partly => is_left().and(is_whole().not()),
            text if text == done => is_left().not(),
            _ => continue,
        };
        any = any.add(Condition::all().add(Column::Status.eq(DocumentStatus::Posted)).add(open_where(cx, by_open)?));
    }
    Ok(any)
}

pub(super) fn invoices_that_stand(cx: &Cx<'_>, value: &FilterValue) -> Result<Condition> {
    standing_like(cx, value, "partiallyPaid", "paid")
}

pub(super) fn notes_that_stand(cx: &Cx<'_>, value: &FilterValue) -> Result<Condition> {
    standing_like(cx, value, "partiallyAllocated", "closed")
}

pub(super) fn overdue(cx: &Cx<'_>, value: &FilterValue) -> Result<Condition> {
    let FilterValue::Flag(wanted) = value else { return Ok(Condition::any()) };
    let late = Condition::all().add(open_where(cx, is_late(cx)?)?);
    Ok(if *wanted { late } else { late.not() })
}

pub(super) fn due_from(cx: &Cx<'_>, value: &FilterValue) -> Result<Condition> {
    let FilterValue::Day(day) = value else { return Ok(Condition::any()) };
    Ok(Condition::all().add(open_where(cx, open_items::Column::DueDate.gte(*day))?))
}

pub(super) fn due_to(cx: &Cx<'_>, value: &FilterValue) -> Result<Condition> {
    let FilterValue::Day(day) = value else { return Ok(Condition::any()) };
    Ok(Condition::all().add(open_where(cx, open_items::Column::DueDate.lte(*day))?))
}

pub(super) fn trading(cx: &Cx<'_>, value: &FilterValue) -> Result<Condition> {
    let FilterValue::Identifier(item) = value else { return Ok(Condition::any()) };
    let lines = document_lines::Entity::find()
        .select_only()
        .column(document_lines::Column::DocumentId)
        .filter(document_lines::Column::BusinessId.eq(cx.business_id()?))
        .filter(document_lines::Column::ItemId.eq(*item));
    Ok(Condition::all().add(Column::Id.in_subquery(sea_orm::QueryTrait::into_query(lines))))
}
