//! What moves without a document's doing: what is open of it, what was allocated, what its goods cost.

mod found;
mod named;
mod tests;

use super::{Direction, origin};
use crate::day::Day;
use crate::document::{self, invalid_state};
use crate::error::{Code, Error, Result};
use crate::ids::RecordId;
use crate::money::{BookMoney, Money, Quantity};
use crate::parts::settlement::allocating;
use crate::parts::settlement::credited::origins_of;
use answers::Ask;
use books::Leaving;
use books::cx::Cx;
use books::progress::{self, less};
use books::stock;
pub(crate) use found::{that_got_so_far, trading};
pub use named::{
    DeliveryStatus, Extent, InvoiceStatus, LinkRelation, LinkView, NoteStatus, PurchaseOrderStatus, ReceiptStatus,
    SalesOrderStatus,
};
use schema::tables::CLOSED;
use schema::tables::documents::{self, Column};
use schema::tables::{
    DocumentKind, DocumentStatus, Stage, StockKind, allocations, document_links, items_of, open_items, stock_lines,
};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use std::collections::{BTreeSet, HashMap};

/// What is live of one document.
#[derive(Debug, Clone, Default)]
pub struct Standing {
    pub(crate) open: Option<open_items::Model>,
    pub(crate) allocations: Vec<allocations::Model>,
    /// By line, what came in positive.
    pub(crate) costs: HashMap<RecordId, BookMoney>,
    /// How far its lines have got.
    pub(crate) chain: progress::Chain,
    pub(crate) links: Vec<LinkView>,
}

impl Standing {
    /// Of a document that is being made: nothing is allocated yet.
    pub(crate) fn of_plan(plan: Option<&stock::Plan>, progress: Option<&progress::Plan>) -> Self {
        let mut own = progress.map_or_else(Vec::new, |plan| plan.own(&[]));
        for line in &mut own {
            if let Some(plan) = plan {
                line.value = plan.waits(line.line_id);
            }
        }
        let links = progress.iter().flat_map(|plan| &plan.links).map(|(id, link)| LinkView {
            r#type: link.kind,
            id: *id,
            number: link.number.clone(),
            relation: LinkRelation::of(link.relation, true),
        });
        Self {
            costs: plan.iter().flat_map(|plan| plan.costs()).map(|(line, cost)| (line, cost.size())).collect(),
            chain: progress::Chain { lines: own, notes: Vec::new() },
            links: links.collect(),
            ..Self::default()
        }
    }

    /// How much of an order is delivered, and of an order or a note invoiced.
    pub(crate) fn extents(&self) -> (Extent, Extent) {
        let extent = |some: bool, all: bool| match (some, all) {
            (_, true) => Extent::Full,
            (true, false) => Extent::Partial,
            (false, false) => Extent::None,
        };
        let (lines, none) = (&self.chain.lines, Quantity::ZERO);
        let fulfilled = extent(
            lines.iter().any(|line| line.fulfilled > none),
            !lines.is_empty() && self.chain.deliverable().all(|line| less(line.quantity, line.fulfilled) <= none),
        );
        let some_invoiced = lines.iter().any(|line| line.invoiced > none);
        // Nothing is left to be invoiced of an order that was given up, and nothing was.
        let may_be_unsaid = lines.iter().all(|line| !line.is_order() && !line.is_return);
        let all_invoiced = self.chain.is_all_done() && (some_invoiced || may_be_unsaid);
        (fulfilled, extent(some_invoiced, all_invoiced))
    }

    pub(crate) fn progress(&self, line: Option<RecordId>) -> Option<&progress::Line> {
        self.chain.lines.iter().find(|known| Some(known.line_id) == line)
    }

    /// What came back of a document's lines.
    pub(crate) fn returned(&self) -> Result<Quantity> {
        Quantity::sum(self.chain.lines.iter().map(|line| line.returned)).map_err(|_| progress::too_many())
    }

    /// Whether other documents need it as it is.
    pub(crate) fn is_followed(&self) -> bool {
        self.chain.lines.iter().any(progress::Line::is_touched)
    }

    /// What is left of a document's total, in its currency and in the company's.
    pub(crate) fn left(&self, row: &documents::Model) -> (Money, BookMoney) {
        let open = self.open.as_ref().map(|open| (open.open, open.base_open));
        document::left(row.status, open, (row.total, row.base_total))
    }

    pub(crate) fn is_allocated(&self) -> bool {
        self.open.as_ref().is_some_and(open_items::Model::is_touched)
    }

    /// How far a document is settled, as what is open of it says.
    pub(crate) fn settled(&self, row: &documents::Model) -> Option<Stage> {
        match &self.open {
            Some(open) => Some(open.stage()),
            // Of one that is being made.
            None => row.stage,
        }
    }

    /// The last day on which something was allocated, where nothing is left.
    pub(crate) fn paid_on(&self, row: &documents::Model) -> Option<Day> {
        let paid = row.status == DocumentStatus::Posted && self.left(row).0 == Money::ZERO;
        self.allocations.iter().map(|one| one.date).max().filter(|_| paid)
    }

    /// How many days it is overdue.
    pub(crate) fn days_overdue(&self, row: &documents::Model, today: Day) -> i64 {
        document::days_overdue(row.status, self.left(row).0, row.due_date, today)
    }
}

pub(crate) async fn standings(cx: &Cx<'_>, rows: &[documents::Model]) -> Result<HashMap<RecordId, Standing>> {
    let posted: Vec<RecordId> =
        rows.iter().filter(|row| row.status == DocumentStatus::Posted).map(|row| row.id).collect();
    let mut standings: HashMap<RecordId, Standing> = HashMap::new();
    if posted.is_empty() {
        return Ok(standings);
    }
    let moving: Vec<RecordId> =
        rows.iter().filter(|row| row.content.says(r#""moves_stock":true"#)).map(|row| row.id).collect();
    let followable: Vec<RecordId> =
        rows.iter().filter(|row| row.stage.is_some() && row.kind.is_followed()).map(|row| row.id).collect();
    let asked = cx.db.together(
        cx.db.together(left_open(cx, &posted), costs(cx, moving)),
        cx.db.together(progress::chains(cx, &followable), links(cx, &posted)),
    );
    let (((open, allocations), costs), (chains, links)) = asked.await?;
    for open in open {
        let id = open.document_id;
        standings.entry(id).or_default().open = Some(open);
    }
    for allocation in allocations {
        for id in [allocation.source_document_id, allocation.target_document_id] {
            if let Some(standing) = standings.get_mut(&id) {
                standing.allocations.push(allocation.clone());
            }
        }
    }
    for line in costs {
        standings.entry(line.document_id).or_default().costs.insert(line.line_id, line.cost.size());
    }
    for (id, chain) in chains {
        standings.entry(id).or_default().chain = chain;
    }
    for (id, link) in links {
        standings.entry(id).or_default().links.push(link);
    }
    // Identifiers grow with time, so this is the order of the chain.
    for standing in standings.values_mut() {
        standing.links.sort_by_key(|link| link.id);
    }
    Ok(standings)
}

/// What documents have left open, and what was allocated of it.
async fn left_open(cx: &Cx<'_>, documents: &[RecordId]) -> Result<(Vec<open_items::Model>, Vec<allocations::Model>)> {
    let open = books::open_items::of(cx, documents).await?;
    let touched: BTreeSet<RecordId> =
        open.iter().filter(|open| open.is_touched()).map(|open| open.document_id).collect();
    let touched: Vec<RecordId> = touched.into_iter().collect();
    let allocations = allocating::of_documents(cx, &touched).await?;
    Ok((open, allocations))
}

/// What the goods of documents cost, line by line.
async fn costs(cx: &Cx<'_>, documents: Vec<RecordId>) -> Result<Vec<stock_lines::Model>> {
    if documents.is_empty() {
        return Ok(Vec::new());
    }
    let lines = stock_lines::Entity::find()
        .filter(stock_lines::Column::BusinessId.eq(cx.business_id()?))
        .filter(stock_lines::Column::DocumentId.is_in(documents));
    let mut lines = lines.models(&cx.db).await?;
    lines.retain(|line| line.kind != StockKind::Cost);
    Ok(lines)
}

/// Which documents stand on the other ends of these.
async fn links(cx: &Cx<'_>, ids: &[RecordId]) -> Result<Vec<(RecordId, LinkView)>> {
    let of_end = |end: document_links::Column| async move {
        let found = document_links::Entity::find()
            .filter(document_links::Column::BusinessId.eq(cx.business_id()?))
            .filter(end.is_in(ids.iter().copied()));
        Ok::<_, Error>(found.models(&cx.db).await?)
    };
    // One question for each end: asked for both at once, the engine would walk all links.
    let ends = (of_end(document_links::Column::DocumentId), of_end(document_links::Column::SourceDocumentId));
    let (sources, followers) = cx.db.together(ends.0, ends.1).await?;
    let to_source = |link: document_links::Model| {
        (link.document_id, link.source_document_id, LinkRelation::of(link.relation, true))
    };
    let to_follower = |link: document_links::Model| {
        (link.source_document_id, link.document_id, LinkRelation::of(link.relation, false))
    };
    let links: Vec<_> = sources.into_iter().map(to_source).chain(followers.into_iter().map(to_follower)).collect();
    if links.is_empty() {
        return Ok(Vec::new());
    }
    let others: Vec<(RecordId, DocumentKind, Option<String>)> = documents::Entity::find()
        .select_only()
        .columns([Column::Id, Column::Kind, Column::Number])
        .filter(Column::BusinessId.eq(cx.business_id()?))
        .filter(Column::Id.is_in(links.iter().map(|(_, other, _)| *other)))
        // What ended on a later day is linked on, and stands there no more.
        .filter(Column::Status.ne(DocumentStatus::Void))
        .read(&cx.db)
        .await?;
    let others: HashMap<RecordId, (DocumentKind, Option<String>)> =
        others.into_iter().map(|(id, kind, number)| (id, (kind, number))).collect();
    let seen = |(this, id, relation): (RecordId, RecordId, LinkRelation)| {
        let (kind, number) = others.get(&id)?;
        Some((this, LinkView { r#type: *kind, id, number: number.clone(), relation }))
    };
    Ok(links.into_iter().filter_map(seen).collect())
}

/// Closes an order or opens it again; its row is answered as it is to be.
pub(crate) async fn close(cx: &Cx<'_>, row: &documents::Model, closes: bool) -> Result<documents::Model> {
    let was_closed = row.subkind.as_deref() == Some(CLOSED);
    if closes == was_closed {
        return Ok(row.clone());
    }
    let stage = Some(progress::close(cx, row, closes).await?);
    Ok(documents::Model { subkind: closes.then(|| CLOSED.to_owned()), stage, ..row.clone() })
}

/// When a document is due may change at any time; its ledger entry says when it was due at first. Its row is answered as it
/// is to be.
pub(crate) async fn fall_due(cx: &Cx<'_>, row: &documents::Model, due: Option<Day>) -> Result<documents::Model> {
    if due.is_some_and(|due| due < row.date) {
        return Err(Error::field("dueDate", "must not be before the date"));
    }
    open_items::Entity::update_many()
        .col_expr(open_items::Column::DueDate, due.into())
        .filter(open_items::Column::BusinessId.eq(row.business_id))
        .filter(items_of(&[row.id]))
        .exec(&cx.db)
        .await?;
    Ok(documents::Model { due_date: due.filter(|_| row.kind.is_settled()), ..row.clone() })
}

/// Refuses while something else needs the document as it is.
pub(crate) async fn release(
    cx: &Cx<'_>,
    direction: Direction,
    row: &documents::Model,
    (leaving, on): (Leaving, Option<Day>),
) -> Result<()> {
    cx.flush().await?;
    if !direction.bills() {
        return release_followed(cx, direction, row, leaving).await;
    }
    if direction.credits() {
        for of in origins_of(cx, &[row.id]).await? {
            cx.taxed().lose(of);
        }
    }
    if leaving == Leaving::ForGood {
        origin::goes(cx, row, on.unwrap_or(row.date)).await?;
    }
    if leaving == Leaving::ForGood && !allocating::of_documents(cx, &[row.id]).await?.is_empty() {
        return Err(Error::conflict(Code::HasAllocations, "It is allocated; remove its allocations first"));
    }
    Ok(())
}

/// An order or a note of goods of which something came stays; it changes as far as that allows.
async fn release_followed(cx: &Cx<'_>, direction: Direction, row: &documents::Model, leaving: Leaving) -> Result<()> {
    if direction.is_order() && row.subkind.as_deref() == Some(CLOSED) {
        return Err(invalid_state("The order is closed; reopen it first"));
    }
    let touched = progress::of_documents(cx, &[row.id]).await?.iter().any(progress::Line::is_touched);
    if touched && direction.is_order() && leaving == Leaving::ForGood {
        return Err(Error::conflict(Code::InUse, "Other documents follow it; close it, and the rest is given up"));
    }
    if touched && direction.is_goods() && leaving == Leaving::ForGood {
        return Err(Error::conflict(Code::InUse, "Goods of it are invoiced or came back; void what did that first"));
    }
    Ok(())
}
