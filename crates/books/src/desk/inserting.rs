//! What is pending, as rows of its tables.

use crate::database::rows::{Kept, Puts, Rows};
use crate::error::Result;
use crate::ids::BusinessId;
use crate::seal::writing::{self, Sealing};
use schema::tables::{entries, entry_lines, mentions};
use sea_orm::{
    ActiveModelTrait, ActiveValue, EntityTrait, IdenStatic, IntoActiveModel, Iterable, PrimaryKeyToColumn, Value,
};
use std::collections::HashMap;
use words::sums::Lists as _;

/// Rows with their seals.
pub(super) fn sealed<E: EntityTrait>(sealing: &mut Sealing<'_>, rows: &[E::Model], kept: Kept) -> Result<Rows> {
    sealing.sealed::<E>(rows, &[], kept)
}

/// Entries, whose seals are over their lines as well.
pub(super) fn sealed_entries(
    sealing: &mut Sealing<'_>,
    rows: &[entries::Model],
    lines: &[entry_lines::Model],
) -> Result<Rows> {
    let mut of_entries: HashMap<(BusinessId, i64), Vec<Vec<Value>>> = HashMap::new();
    for line in lines {
        of_entries.entry((line.business_id, line.entry_number)).or_default().push(writing::values(line));
    }
    let own: Vec<_> = rows.iter().map(|row| of_entries.take_list(&(row.business_id, row.number))).collect();
    sealing.sealed::<entries::Entity>(rows, &own, Kept::Refuse)
}

/// Most are there already.
pub(super) fn mentioned(mut rows: Vec<mentions::Model>) -> Rows {
    rows.sort_unstable_by_key(|row| (row.business_id, row.record_id));
    rows.dedup();
    plain::<mentions::Entity>(rows, Kept::Stays)
}

/// Adds to sums that are kept: what a row says is added to the row of its key.
pub async fn add_sums<E>(connection: &impl Puts, rows: Vec<E::Model>) -> Result<()>
where
    E: EntityTrait,
    E::ActiveModel: ActiveModelTrait<Entity = E>,
    E::Model: IntoActiveModel<E::ActiveModel>,
{
    Ok(connection.put(vec![plain::<E>(rows, Kept::Grows)]).await?)
}

/// Rows that something else proves.
pub fn plain<E>(rows: Vec<E::Model>, kept: Kept) -> Rows
where
    E: EntityTrait,
    E::ActiveModel: ActiveModelTrait<Entity = E>,
    E::Model: IntoActiveModel<E::ActiveModel>,
{
    let columns: Vec<E::Column> = E::Column::iter().collect();
    let mut values = Vec::with_capacity(rows.len() * columns.len());
    for row in rows {
        let mut row: E::ActiveModel = row.into_active_model();
        for column in &columns {
            // A row that was made whole has all of them.
            if let ActiveValue::Set(value) | ActiveValue::Unchanged(value) = row.take(*column) {
                values.push(value);
            }
        }
    }
    let key = E::PrimaryKey::iter().map(|key| key.into_column().as_str()).collect();
    let columns = columns.iter().map(IdenStatic::as_str).collect();
    Rows { table: E::default().table_name(), columns, key, kept, values }
}
