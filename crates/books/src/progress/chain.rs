//! How far an order or a note has got, from its lines.

use super::{Line, followers};
use crate::cx::Cx;
use crate::error::Result;
use crate::ids::RecordId;
use crate::money::Quantity;
use answers::Ask;
use schema::tables::{Stage, progress};
use sea_orm::{ColumnTrait, QueryFilter};
use std::collections::{BTreeSet, HashMap};
use words::sown::{Fault, sown};

/// The lines of a document, and those of the notes that follow an order.
#[derive(Debug, Clone, Default)]
pub struct Chain {
    pub lines: Vec<Line>,
    pub notes: Vec<Line>,
}

impl Chain {
    /// Whether nothing of a line is left to be delivered, invoiced or credited.
    fn is_done(&self, line: &Line) -> bool {
        let mut notes = self.notes.iter().filter(|note| note.source_line_id == Some(line.line_id));
        let invoiced = sown(Fault::StageWithoutItsNotes) || notes.all(|note| note.open() == Quantity::ZERO);
        line.open() <= Quantity::ZERO && (!line.is_order() || invoiced)
    }

    pub fn is_all_done(&self) -> bool {
        !self.lines.is_empty() && self.lines.iter().all(|line| self.is_done(line))
    }

    /// The lines that say how much of an order is delivered: its goods, or all if it has none.
    pub fn deliverable(&self) -> impl Iterator<Item = &Line> {
        let goods = self.lines.iter().any(|line| line.is_goods);
        self.lines.iter().filter(move |line| line.is_goods || !goods)
    }

    /// How far the document has got.
    pub fn stage(&self, closed: bool) -> Stage {
        if closed {
            return Stage::Closed;
        }
        let some = |of: fn(&Line) -> Quantity| self.lines.iter().any(|line| of(line) > Quantity::ZERO);
        let is_order = self.lines.iter().any(Line::is_order);
        if is_order {
            let begun = if some(|line| line.fulfilled) { Stage::Partial } else { Stage::Open };
            let fulfilled = self.deliverable().all(|line| line.open() <= Quantity::ZERO);
            return match (fulfilled, self.is_all_done()) {
                (true, true) => Stage::Closed,
                (true, false) => Stage::Done,
                (false, _) => begun,
            };
        }
        let invoiced = some(|line| line.invoiced);
        let begun = if invoiced { Stage::Partial } else { Stage::Open };
        let is_return = self.lines.iter().any(|line| line.is_return);
        if self.is_all_done() && (invoiced || !is_return) { Stage::Done } else { begun }
    }
}

/// Lines by their identifiers, with all that is on the desk already.
pub async fn of_lines(cx: &Cx<'_>, ids: impl IntoIterator<Item = RecordId>) -> Result<HashMap<RecordId, Line>> {
    // In their order: who asks again is answered as before.
    let ids: BTreeSet<RecordId> = ids.into_iter().collect();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    cx.flush().await?;
    let rows = progress::Entity::find()
        .filter(progress::Column::BusinessId.eq(cx.business_id()?))
        .filter(progress::Column::LineId.is_in(ids));
    Ok(rows.models(&cx.db).await?.into_iter().map(|line| (line.line_id, line)).collect())
}

/// The lines of documents, as they stand in the database.
pub async fn of_documents(cx: &Cx<'_>, ids: &[RecordId]) -> Result<Vec<Line>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let rows = progress::Entity::find()
        .filter(progress::Column::BusinessId.eq(cx.business_id()?))
        .filter(progress::Column::DocumentId.is_in(ids.iter().copied()));
    Ok(rows.models(&cx.db).await?)
}

/// What there is of documents: their lines, and for orders the lines of the notes that follow these.
pub async fn chains(cx: &Cx<'_>, ids: &[RecordId]) -> Result<HashMap<RecordId, Chain>> {
    let mut chains: HashMap<RecordId, Chain> = HashMap::new();
    let lines = of_documents(cx, ids).await?;
    let orders: HashMap<RecordId, RecordId> =
        lines.iter().filter(|line| line.is_order()).map(|line| (line.line_id, line.document_id)).collect();
    for note in followers(cx, orders.keys().copied()).await? {
        if let Some(order) = note.source_line_id.and_then(|line| orders.get(&line)) {
            chains.entry(*order).or_default().notes.push(note);
        }
    }
    for line in lines {
        chains.entry(line.document_id).or_default().lines.push(line);
    }
    if sown(Fault::LineOfChainForgotten) {
        for chain in chains.values_mut().filter(|chain| chain.lines.len() > 1) {
            chain.lines.pop();
        }
    }
    Ok(chains)
}
