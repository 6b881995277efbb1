//! Items of which too few are left, told to the audit log beside what took them out.
//!
//! Owns: that it is told when a command brings the stock down to the reorder level or below, and not of what moves below it.
//! An item keeps its version: nothing that somebody wrote of it is another.

use super::{Items, table};
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::Quantity;
use answers::Ask;
use books::among::among;
use books::audit::{AuditAction, Change};
use books::cx::Cx;
use kit::operation::{Shown, shown};
use kit::rows::Rows;
use schema::key::ResourceKey;
use sea_orm::QueryFilter;
use serde::Serialize;

/// What the log is told beside the item.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Noted {
    quantity_before: Quantity,
    quantity_on_hand: Quantity,
    reorder_level: Quantity,
}

/// Tells of the items of which this command left too few.
pub(crate) async fn tell(cx: &Cx<'_>) -> Result<()> {
    let mut low = cx.levels().take_low();
    if low.is_empty() {
        return Ok(());
    }
    cx.flush().await?;
    let ids: Vec<RecordId> = low.keys().copied().collect();
    let rows = table::Entity::find()
        .filter(Items::reach(cx)?)
        .filter(among(cx, table::Column::Id, ids))
        .models(&cx.db)
        .await?;
    let mut told: Vec<Shown> = Items::views(cx, rows).await?.iter().map(shown).collect::<Result<_>>()?;
    told.sort_by_key(|shown| shown.id);
    for Shown { id, version, json } in told {
        let level = low.remove(&id).ok_or_else(|| Error::internal(format!("stock of {id} was not moved")))?;
        let (quantity_before, quantity_on_hand, reorder_level) = (level.was, level.is, level.reorder);
        let note = Noted { quantity_before, quantity_on_hand, reorder_level };
        let change = Change {
            action: AuditAction::Low,
            resource: ResourceKey::Items,
            id,
            version_from: Some(version),
            version_to: Some(version),
            before: None,
            after: Some(json),
            note: Some(serde_json::to_string(&note).map_err(Error::internal)?),
        };
        cx.record(cx.business_id()?, change)?;
    }
    Ok(())
}
