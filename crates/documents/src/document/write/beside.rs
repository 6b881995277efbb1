//! What a document has in the sub-ledgers, beside its row and its entries.

use super::Old;
use super::noting::note_touch;
use crate::day::Day;
use crate::document::{Document, Settled, TradedLine};
use crate::error::Result;
use crate::ids::RecordId;
use answers::Ask;
use books::cx::Cx;
use books::desk::Standing;
use books::open_items::{begin, close};
use books::{Leaving, progress, stock};
use schema::kind::Phase;
use schema::tables::documents::Column;
use schema::tables::{CLOSED, DocumentKind, Stage, document_lines, documents as table, open_items};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use serde::Serialize;
use std::collections::BTreeSet;

/// What the last version of a document had in the sub-ledgers.
#[derive(Default)]
pub(super) struct Earlier {
    pub(super) open: Vec<open_items::Model>,
    pub(super) lines: Vec<progress::Line>,
    /// The documents that it followed.
    pub(super) followed: BTreeSet<RecordId>,
}

/// What a document that comes into the books has in the sub-ledgers. How far it has got by that is answered, where
/// others may follow or settle it.
pub(super) async fn keep_beside<D: Document>(
    cx: &Cx<'_>,
    row: &table::Model,
    settled: Settled<D::Figures>,
    earlier: Earlier,
) -> Result<Option<Stage>> {
    let mut stage = None;
    for new in &settled.open {
        let before = earlier.open.iter().find(|old| old.id == new.line.unwrap_or(row.id) && old.is_touched());
        let left = begin(cx, (D::KIND, row.id), new, before)?;
        stage = stage.or(D::KIND.is_settled().then_some(left));
    }
    let mut followed = earlier.followed;
    if let Some(plan) = settled.progress {
        followed.extend(plan.steps.values().map(|(line, _)| line.document_id));
        let reached = progress::keep(cx, row, plan, &earlier.lines).await?;
        stage = stage.or(reached);
    }
    get_on(cx, row, followed).await?;
    for (line, line_no) in settled.lines.into_iter().zip(1..).filter(|(line, _)| is_asked_for::<D>(line)) {
        let line = document_lines::Model {
            business_id: row.business_id,
            document_id: row.id,
            line_no,
            id: line.id,
            kind: D::KIND,
            date: row.date,
            item_id: line.item,
            account_id: line.account,
            tax_code_id: line.tax_code,
            quantity: line.quantity,
            base_net: line.base_net,
            source_line_id: line.source_line,
        };
        cx.keep(|desk| desk.keep_line(line))?;
    }
    if let Some(plan) = settled.stock {
        stock::keep(cx, row, plan).await?;
    }
    Ok(stage)
}

/// Whether a line has a row of its own, for those who ask for lines by their item or by what they were made of. Of a bill or
/// a credit nobody asks for the others but by their document, and there they stand in what it keeps; its tax is told by
/// facts.
fn is_asked_for<D: Document>(line: &TradedLine) -> bool {
    let is_told = matches!(D::KIND.phase(), Some(Phase::Bill | Phase::Credit));
    !is_told || line.item.is_some() || line.source_line.is_some()
}

/// Documents of which another was made, or no longer is: how far they have got, a new version, and a line in their logs
/// that says by what.
pub(super) async fn get_on(cx: &Cx<'_>, by: &table::Model, followed: BTreeSet<RecordId>) -> Result<()> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct FollowedBy<'d> {
        r#type: DocumentKind,
        id: RecordId,
        number: Option<&'d str>,
        stage: Stage,
    }
    if followed.is_empty() {
        return Ok(());
    }
    cx.flush().await?;
    let ids: Vec<RecordId> = followed.into_iter().collect();
    let of_company = table::Entity::find().filter(Column::BusinessId.eq(by.business_id));
    // In one order: the log tells of them in it.
    let rows = of_company.filter(Column::Id.is_in(ids.iter().copied())).order_by_asc(Column::Id);
    let rows = async { Ok(rows.models(&cx.db).await?) };
    let (chains, rows) = cx.db.together(progress::chains(cx, &ids), rows).await?;
    for row in rows {
        let stage = match chains.get(&row.id) {
            // What a closed order gets back is given up like the rest.
            Some(_) if row.subkind.as_deref() == Some(CLOSED) => progress::close(cx, &row, true).await?,
            Some(chain) => chain.stage(false),
            None => continue,
        };
        let (business, id) = (row.business_id, row.id);
        cx.keep(|desk| desk.stands(Standing::Reached { business, id, stage }))?;
        let noted = FollowedBy { r#type: by.kind, id: by.id, number: by.number.as_deref(), stage };
        note_touch(cx, &row, &noted)?;
    }
    Ok(())
}

/// Takes a document out of the sub-ledgers. What it had there is answered.
pub(super) async fn take_from_beside<D: Document>(
    cx: &Cx<'_>,
    old: &Old<D>,
    day: impl Fn(Day) -> Day,
    leaving: Leaving,
) -> Result<Earlier> {
    let open = close(cx, old.row.id, &day).await?;
    document_lines::Entity::delete_many()
        .filter(document_lines::Column::BusinessId.eq(old.row.business_id))
        .filter(document_lines::Column::DocumentId.eq(old.row.id))
        .exec(&cx.db)
        .await?;
    stock::take_back(cx, &old.row, &day, leaving).await?;
    let (lines, released) = progress::take_back(cx, &old.row, &day, leaving).await?;
    Ok(Earlier { open, lines, followed: released.iter().map(|line| line.document_id).collect() })
}
