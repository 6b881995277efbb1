//! What must not cross companies, and what is kept for repeats.

use super::walk::Walk;
use super::{Check, Findings, PORTION};
use crate::error::Result;
use crate::ids::RecordId;
use answers::Ask;
use schema::account as accounts;
use schema::reader::Reader;
use schema::tables::audit_log;
use sea_orm::{ColumnTrait, QueryFilter, QueryOrder, QuerySelect};
use std::collections::HashSet;

/// Each answer that is kept for a repeat is about a record that the audit log knows.
pub(super) async fn kept_answers(reader: &Reader<'_>) -> Result<Check> {
    let mut findings = Findings::default();
    let (mut kept, mut known) = (0_usize, 0_usize);
    let mut last = None;
    loop {
        let mut portion = schema::idempotency::Entity::find()
            .select_only()
            .distinct()
            .column(schema::idempotency::Column::RecordId)
            .filter(schema::idempotency::Column::BusinessId.eq(reader.id()))
            .filter(schema::idempotency::Column::RecordId.is_not_null());
        if let Some(last) = last {
            portion = portion.filter(schema::idempotency::Column::RecordId.gt(last));
        }
        let portion: Vec<RecordId> =
            portion.order_by_asc(schema::idempotency::Column::RecordId).limit(PORTION).column_of(&reader.db).await?;
        let Some(end) = portion.last() else { break };
        last = Some(*end);
        reader.pause().await?;
        let found: Vec<RecordId> = audit_log::Entity::find()
            .select_only()
            .distinct()
            .column(audit_log::Column::ResourceId)
            .filter(audit_log::Column::BusinessId.eq(reader.id()))
            .filter(audit_log::Column::ResourceId.is_in(portion.iter().copied()))
            .column_of(&reader.db)
            .await?;
        let found: HashSet<RecordId> = found.into_iter().collect();
        kept += portion.len();
        known += found.len();
        for missing in portion.iter().filter(|id| !found.contains(id)) {
            findings.add(format!("an answer is kept about {missing}, which never was"));
        }
    }
    Ok(Check::of("V9", "Every answer kept for a repeat is about a record", kept, known, findings))
}

pub(super) async fn accounts_are_our_own(reader: &Reader<'_>, lines: &Walk) -> Result<Check> {
    let own: Vec<RecordId> = accounts::Entity::find()
        .select_only()
        .column(accounts::Column::Id)
        .filter(accounts::Column::BusinessId.eq(reader.id()))
        .column_of(&reader.db)
        .await?;
    let own: HashSet<RecordId> = own.into_iter().collect();
    let mut findings = Findings::default();
    for account in lines.accounts.keys().filter(|account| !own.contains(account)) {
        findings.add(format!("lines on {account}, which is no account of the company"));
    }
    Ok(Check::of("V10", "Nothing crosses companies", findings.0.len(), 0, findings))
}
