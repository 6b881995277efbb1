//! Rows in as few statements as both engines allow.

use crate::error::Result;
use crate::ids::BusinessId;
use crate::seal::Seals;
use crate::seal::sums::Moved;
use crate::seal::writing::{self, There};
use schema::tables::{entries, mentions};
use sea_orm::sea_query::OnConflict;
use sea_orm::{ActiveModelTrait, ConnectionTrait, EntityTrait, IntoActiveModel, Iterable, Value};
use std::collections::HashMap;
use words::sums::Lists as _;

/// Both engines bound how many values one statement may bind.
const MOST_VALUES: usize = 30_000;

/// Sizes in which rows are written: few, so that the engine meets the same statements again and again.
const SIZES: [usize; 6] = [512, 128, 32, 8, 2, 1];

pub(super) fn portions<T>(rows: Vec<T>, columns: usize) -> Vec<Vec<T>> {
    let most = (MOST_VALUES / columns.max(1)).max(1);
    let mut rest = rows.into_iter();
    let mut portions = Vec::new();
    while rest.len() > 0 {
        let size = SIZES.into_iter().find(|&size| size <= rest.len() && size <= most).unwrap_or(1);
        portions.push(rest.by_ref().take(size).collect());
    }
    portions
}

/// Writes rows with their seals.
pub(super) async fn insert_all<E: EntityTrait>(
    connection: &impl ConnectionTrait,
    (seals, moved): (&Seals, &mut Moved),
    rows: Vec<E::Model>,
    there: There,
) -> Result<()> {
    for portion in portions(rows, E::Column::iter().count() + 1) {
        writing::insert::<E>(connection, (seals, moved), &portion, &[], there).await?;
    }
    Ok(())
}

/// Entries, whose seals are over their lines as well.
pub(super) async fn insert_entries(
    connection: &impl ConnectionTrait,
    (seals, moved): (&Seals, &mut Moved),
    rows: Vec<entries::Model>,
    mut lines: HashMap<(BusinessId, i64), Vec<Vec<Value>>>,
) -> Result<()> {
    for portion in portions(rows, entries::Column::iter().count() + 1) {
        let own = portion.iter().map(|row| lines.take_list(&(row.business_id, row.number)));
        let own: Vec<_> = own.collect();
        writing::insert::<entries::Entity>(connection, (seals, moved), &portion, &own, There::Refuse).await?;
    }
    Ok(())
}

/// Most are there already.
pub(super) async fn add_mentions(connection: &impl ConnectionTrait, mut rows: Vec<mentions::Model>) -> Result<()> {
    rows.sort_unstable_by_key(|row| (row.business_id, row.record_id));
    rows.dedup();
    let there =
        || OnConflict::columns([mentions::Column::BusinessId, mentions::Column::RecordId]).do_nothing().to_owned();
    for portion in portions(rows, mentions::Column::iter().count()) {
        mentions::Entity::insert_many(portion.into_iter().map(IntoActiveModel::into_active_model))
            .on_conflict(there())
            .exec_without_returning(connection)
            .await?;
    }
    Ok(())
}

/// Writes rows that something else proves.
pub(super) async fn insert_plain<E>(connection: &impl ConnectionTrait, rows: Vec<E::Model>) -> Result<()>
where
    E: EntityTrait,
    E::ActiveModel: ActiveModelTrait<Entity = E>,
    E::Model: IntoActiveModel<E::ActiveModel>,
{
    for portion in portions(rows, E::Column::iter().count()) {
        E::insert_many(portion.into_iter().map(IntoActiveModel::into_active_model))
            .exec_without_returning(connection)
            .await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::portions;

    #[test]
    fn rows_are_written_in_few_sizes_and_none_is_lost() {
        let sizes = |rows: usize, columns| -> Vec<usize> {
            portions((0..rows).collect(), columns).iter().map(Vec::len).collect()
        };
        assert_eq!(sizes(0, 5), Vec::<usize>::new());
        assert_eq!(sizes(171, 5), [128, 32, 8, 2, 1]);
        assert_eq!(sizes(600, 100), [128, 128, 128, 128, 32, 32, 8, 8, 8]);
        let all: Vec<usize> = portions((0..777).collect(), 40).concat();
        assert_eq!(all, (0..777).collect::<Vec<_>>());
    }
}
