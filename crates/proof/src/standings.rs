//! That documents stand as their entries say.

use super::live::Live;
use super::parts::within;
use super::settled::judge_allocations;
use super::walk::in_force;
use super::{Check, Findings, PORTION, Range};
use crate::error::Result;
use crate::ids::RecordId;
use crate::money::Money;
use answers::Ask;
use schema::reader::Reader;
use schema::tables::{DocumentKind, DocumentStatus, EntryRefs, documents};
use sea_orm::{ColumnTrait, QueryFilter, QueryOrder, QuerySelect};

answers::of_row! {
    /// What is read of a document here: not what it is about.
    struct Standing {
        pub(super) id: RecordId,
        pub(super) number: Option<String>,
        status: DocumentStatus,
        pub(super) entries: EntryRefs,
        base_total: Money,
        pub(super) kind: DocumentKind,
    }
}

/// What all that stands comes to, held against what is in force. Where these are not the same, it is all looked at again.
pub(super) async fn documents_stand(reader: &Reader<'_>, live: &Live, findings: Findings) -> Result<Check> {
    if !live.is_odd() {
        return Ok(live.check(None, findings));
    }
    let (mut again, all) = (live.again(), Range::default());
    in_force(reader, &mut again).await?;
    judge_allocations(reader, all, &mut again, &mut Findings::default()).await?;
    stand(reader, all, &mut again, &mut Findings::default()).await?;
    Ok(live.check(Some(again), findings))
}

/// Tells for what the documents of a range stand.
pub(super) async fn stand(reader: &Reader<'_>, range: Range, live: &mut Live, findings: &mut Findings) -> Result<()> {
    let mut last = None;
    loop {
        let portion = documents::Entity::find()
            .select_only()
            .columns([
                documents::Column::Id,
                documents::Column::Number,
                documents::Column::Status,
                documents::Column::Entries,
                documents::Column::BaseTotal,
                documents::Column::Kind,
            ])
            .filter(documents::Column::BusinessId.eq(reader.id()));
        let portion = within(portion, documents::Column::Id, range.behind(last));
        let portion = portion.order_by_asc(documents::Column::Id).limit(PORTION).read::<Standing>(&reader.db).await?;
        let Some(end) = portion.last() else { return Ok(()) };
        last = Some(end.id);
        reader.read(portion.len());
        reader.pause().await?;
        for row in portion.into_iter().filter(|row| row.status == DocumentStatus::Posted) {
            let name = row.number.unwrap_or_else(|| row.id.to_string());
            let is_order = matches!(row.kind, DocumentKind::SalesOrder | DocumentKind::PurchaseOrder);
            if is_order && !row.entries.0.is_empty() {
                findings.add(format!("{name} is an order and has an entry"));
            }
            // A note of goods posts what they cost, and nothing if they are not kept in stock.
            if row.entries.0.is_empty() && row.base_total != Money::ZERO && !row.kind.is_followed() {
                findings.add(format!("{name} is posted and has no entry"));
            }
            for entry in row.entries.0 {
                live.stands(entry.id, row.id, || format!("{name} stands for entry {}", entry.number));
            }
        }
    }
}
