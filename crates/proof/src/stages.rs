//! That invoices, and what credits them, stand as what is open of them says: how far they are settled, and when they are due.
//!
//! What was opened and what is left is summed anew from everything that ever moved it.

use super::parts::within;
use super::subledgers::column;
use super::{Check, Findings, PORTION, Range, Wide};
use crate::day::Day;
use crate::error::Result;
use crate::ids::RecordId;
use answers::Ask;
use schema::reader::Reader;
use schema::tables::{DocumentKind, DocumentStatus, Stage, documents, open_item_moves, open_items};
use sea_orm::sea_query::{CaseStatement, Expr, ExprTrait};
use sea_orm::{ColumnTrait, QueryFilter, QueryOrder, QuerySelect};
use std::collections::HashMap;

const KINDS: [DocumentKind; 4] =
    [DocumentKind::SalesInvoice, DocumentKind::CreditNote, DocumentKind::PurchaseInvoice, DocumentKind::DebitNote];

answers::of_row! {
    /// What is read of a document here.
    struct Row {
        id: RecordId,
        number: Option<String>,
        status: DocumentStatus,
        stage: Option<Stage>,
        due_date: Option<Day>,
    }
}

answers::of_row! {
    /// What was opened of a document, and what is left: in its currency and in the company's.
    struct Moved {
        id: RecordId,
        opened: i64,
        base_opened: i64,
        left: i64,
        base_left: i64,
    }
}

/// How invoices, and what credits them, stand, as far as they were read.
#[derive(Default)]
pub(super) struct Stages {
    told: Wide,
    found: Wide,
    findings: Findings,
}

impl Stages {
    pub(super) async fn of_part(reader: &Reader<'_>, range: Range) -> Result<Self> {
        let mut stages = Self::default();
        let mut last = None;
        loop {
            let portion = rows_after(reader, range, last).await?;
            let Some(end) = portion.last() else { return Ok(stages) };
            last = Some(end.id);
            reader.read(portion.len());
            reader.pause().await?;
            stages.judge(reader, portion).await?;
        }
    }

    async fn judge(&mut self, reader: &Reader<'_>, rows: Vec<Row>) -> Result<()> {
        let ids: Vec<RecordId> = rows.iter().map(|row| row.id).collect();
        let stages = stages(reader, &ids).await?;
        let due = due(reader, &ids).await?;
        for row in rows {
            let in_books = row.status == DocumentStatus::Posted;
            let stage = stages.get(&row.id).copied().filter(|_| in_books);
            // Of what is in no books nothing is open: it says itself when it was to be due, under its seal.
            let day = if in_books { due.get(&row.id).copied().flatten() } else { row.due_date };
            self.told += Wide::from(row.stage.is_some_and(|stage| stage != Stage::Done));
            self.found += Wide::from(stage.is_some_and(|stage| stage != Stage::Done));
            if row.stage == stage && row.due_date == day {
                continue;
            }
            let name = row.number.unwrap_or_else(|| row.id.to_string());
            let [said, is] =
                [row.stage, stage].map(|one| one.map_or_else(|| "of no stage".into(), |one| one.to_string()));
            let [due, day] = [row.due_date, day].map(|one| one.map_or_else(|| "never".into(), |one| one.to_string()));
            self.findings.add(format!("{name} is {said} and due {due}, what is open of it is {is} and due {day}"));
        }
        Ok(())
    }

    pub(super) fn add(&mut self, behind: Self) {
        (self.told, self.found) = (self.told + behind.told, self.found + behind.found);
        self.findings.add_all(behind.findings);
    }

    pub(super) fn check(self) -> Check {
        let name = "Invoices, and what credits them, stand as what is open of them says";
        Check::of("V5c", name, self.told, self.found, self.findings)
    }
}

async fn rows_after(reader: &Reader<'_>, range: Range, last: Option<RecordId>) -> Result<Vec<Row>> {
    let mut rows = documents::Entity::find()
        .select_only()
        .columns([
            documents::Column::Id,
            documents::Column::Number,
            documents::Column::Status,
            documents::Column::Stage,
            documents::Column::DueDate,
        ])
        .filter(documents::Column::BusinessId.eq(reader.id()))
        .filter(documents::Column::Kind.is_in(KINDS));
    rows = within(rows, documents::Column::Id, range.behind(last));
    Ok(rows.order_by_asc(documents::Column::Id).limit(PORTION).read::<Row>(&reader.db).await?)
}

/// How far each of these is settled that ever left something open.
async fn stages(reader: &Reader<'_>, ids: &[RecordId]) -> Result<HashMap<RecordId, Stage>> {
    use open_item_moves::Column;
    // What an allocation moves settles; all else opens, or takes back what was opened.
    let opened = |amount: Column| {
        CaseStatement::new().case(Expr::col(Column::AllocationId).is_null(), column(amount)).finally(0).into()
    };
    let moved = open_item_moves::Entity::find()
        .select_only()
        .column_as(Column::OpenItemId, "id")
        .column_as(reader.sum(opened(Column::Amount)), "opened")
        .column_as(reader.sum(opened(Column::Base)), "base_opened")
        .column_as(reader.sum(column(Column::Amount)), "left")
        .column_as(reader.sum(column(Column::Base)), "base_left")
        .filter(Column::BusinessId.eq(reader.id()))
        .filter(Column::OpenItemId.is_in(ids.iter().copied()))
        .group_by(Column::OpenItemId)
        .read::<Moved>(&reader.db)
        .await?;
    let stage = |moved: &Moved| match (moved.left, moved.base_left) {
        (0, _) => Stage::Done,
        left if left != (moved.opened, moved.base_opened) => Stage::Partial,
        _ => Stage::Open,
    };
    Ok(moved.iter().map(|moved| (moved.id, stage(moved))).collect())
}

/// When what is open of them is due.
async fn due(reader: &Reader<'_>, ids: &[RecordId]) -> Result<HashMap<RecordId, Option<Day>>> {
    let due: Vec<(RecordId, Option<Day>)> = open_items::Entity::find()
        .select_only()
        .columns([open_items::Column::Id, open_items::Column::DueDate])
        .filter(open_items::Column::BusinessId.eq(reader.id()))
        .filter(open_items::Column::Id.is_in(ids.iter().copied()))
        .read(&reader.db)
        .await?;
    Ok(due.into_iter().collect())
}
