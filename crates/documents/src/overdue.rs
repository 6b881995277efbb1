//! Bills that are overdue, told to the audit log: nobody writes that, a day goes by.
//!
//! Owns: which bills are told of, and that each is told of once for each day that it was due. A bill keeps its version: it is
//! late by the day, and nothing of it moved.

use crate::currency::Currency;
use crate::day::Day;
use crate::document::{lately_late, left};
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::Amount;
use crate::touching::of_kind;
use answers::Ask;
use books::among::among;
use books::audit::{AuditAction, Change};
use books::cx::Cx;
use books::open_items;
use kit::changes::of_action;
use schema::kind::Phase;
use schema::tables::documents::{self, Column};
use schema::tables::{DocumentKind, open_items as items};
use sea_orm::{ColumnTrait, Condition, QueryFilter, QueryOrder, QuerySelect};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// What was due more days ago is no news: so far a server that rested catches up, and old books come in without a word.
const DAYS: i64 = 31;
/// As many as are looked at and told of at once: nobody who writes waits for more. Few of tests are divided as well.
const AT_ONCE: u64 = if cfg!(debug_assertions) { 3 } else { 200 };

/// A bill, by when it was due: after this one a look goes on.
pub type Place = (Day, RecordId);

/// What a look came to.
#[derive(Debug, Default)]
pub struct Found {
    /// Bills that are overdue, of which the log does not say so.
    pub untold: Vec<RecordId>,
    /// Where to look on; nothing where that was all.
    pub next: Option<Place>,
}

/// What the log is told beside the document.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Noted {
    due_date: Day,
    balance_due: Amount,
}

/// What is read of that.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Told {
    due_date: Day,
}

/// What can be overdue.
pub fn kinds() -> impl Iterator<Item = DocumentKind> {
    DocumentKind::of_phase(Phase::Bill)
}

/// Bills of a kind that became overdue of late.
fn late(cx: &Cx<'_>, kind: DocumentKind) -> Result<Condition> {
    let own = Condition::all().add(Column::BusinessId.eq(cx.business_id()?)).add(Column::Kind.eq(kind));
    Ok(own.add(lately_late(cx, DAYS)?))
}

/// Those of these bills that the log does not say of that they were due then and are overdue.
async fn untold(cx: &Cx<'_>, mut bills: Vec<Place>) -> Result<Vec<RecordId>> {
    let mut told: HashSet<Place> = HashSet::new();
    for row in of_action(cx, AuditAction::Overdue, bills.iter().map(|(_, id)| *id)).await? {
        if let Some(note) = row.recorded()?.note {
            let Told { due_date } = serde_json::from_str(note.get()).map_err(Error::internal)?;
            told.insert((due_date, row.resource_id));
        }
    }
    bills.retain(|bill| !told.contains(bill));
    Ok(bills.into_iter().map(|(_, id)| id).collect())
}

/// Looks for bills of a kind that are overdue and were not told of, in the order in which they were due.
pub async fn look(cx: &Cx<'_>, kind: DocumentKind, after: Option<Place>) -> Result<Found> {
    let behind = match after {
        None => Condition::all(),
        Some((due, id)) => {
            let later = Condition::any().add(Column::DueDate.gt(due)).add(Column::Id.gt(id));
            Condition::all().add(Column::DueDate.gte(due)).add(later)
        }
    };
    let bills: Vec<Place> = documents::Entity::find()
        .select_only()
        .columns([Column::DueDate, Column::Id])
        .filter(late(cx, kind)?)
        .filter(behind)
        .order_by_asc(Column::DueDate)
        .order_by_asc(Column::Id)
        .limit(AT_ONCE)
        .read(&cx.db)
        .await?;
    let is_all = u64::try_from(bills.len()).map_err(Error::internal)? < AT_ONCE;
    let next = bills.last().copied().filter(|_| !is_all);
    Ok(Found { untold: untold(cx, bills).await?, next })
}

/// Tells the log of those of these bills that are overdue still, and of which nobody told it meanwhile.
pub async fn tell(cx: &Cx<'_>, kind: DocumentKind, of: &[RecordId]) -> Result<()> {
    cx.flush().await?;
    let mut rows = documents::Entity::find()
        .filter(late(cx, kind)?)
        .filter(among(cx, Column::Id, of.iter().copied()))
        .order_by_asc(Column::DueDate)
        .order_by_asc(Column::Id)
        .models(&cx.db)
        .await?;
    let due = rows.iter().filter_map(|row| Some((row.due_date?, row.id)));
    let untold: HashSet<RecordId> = untold(cx, due.collect()).await?.into_iter().collect();
    rows.retain(|row| untold.contains(&row.id));
    let ids: Vec<RecordId> = rows.iter().map(|row| row.id).collect();
    let open = open_items::of(cx, &ids).await?;
    let open: HashMap<RecordId, items::Model> = open.into_iter().map(|item| (item.document_id, item)).collect();
    let mut notes = HashMap::new();
    for row in &rows {
        notes.insert(row.id, noted(row, open.get(&row.id))?);
    }
    for (id, shown) in Box::pin(of_kind(cx, kind, rows)).await? {
        let change = Change {
            action: AuditAction::Overdue,
            resource: kind.into(),
            id,
            version_from: Some(shown.version),
            version_to: Some(shown.version),
            before: None,
            after: Some(shown.json),
            note: notes.remove(&id),
        };
        cx.record(cx.business_id()?, change)?;
    }
    Ok(())
}

fn noted(row: &documents::Model, open: Option<&items::Model>) -> Result<String> {
    let due_date = row.due_date.ok_or_else(|| Error::internal(format!("{} is overdue and was never due", row.id)))?;
    let open = open.map(|item| (item.open, item.base_open));
    let (left, _) = left(row.status, open, (row.total, row.base_total));
    let own = Currency::known(&row.currency, format_args!("document {}", row.id))?;
    serde_json::to_string(&Noted { due_date, balance_due: own.amount(left) }).map_err(Error::internal)
}
