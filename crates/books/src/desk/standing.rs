//! Where something stands from now on: rows that were there before and change.

use super::inserting::insert_all;
use crate::clock::Instant;
use crate::day::Day;
use crate::error::Result;
use crate::ids::{BusinessId, RecordId, UserId};
use crate::money::Money;
use crate::seal::Seals;
use crate::seal::sums::Moved;
use crate::seal::writing::There;
use schema::tables::{Stage, documents, open_items, progress, stock, stock_lines, stock_snapshots};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter};

/// Where something stands from now on. It is written after all that is new.
pub enum Standing {
    /// What is left of an open item.
    Open { business: BusinessId, id: RecordId, open: Money, base_open: Money },
    /// A document whose figures moved without its doing: it has a new version.
    Touched { business: BusinessId, id: RecordId, version: i64, at: Instant, by: UserId },
    /// How far a document has got.
    Reached { business: BusinessId, id: RecordId, stage: Stage },
    /// How far a line has got.
    Progress(progress::Model),
    /// The stock of an item.
    Stock(stock::Model),
    /// The stock of an item on an evening.
    Snapshot(stock_snapshots::Model),
    /// What a movement of stock cost after all.
    Cost { business: BusinessId, item: RecordId, date: Day, sequence: i64, cost: Money, was_missing: bool },
}

impl Standing {
    pub(super) async fn write(
        self,
        connection: &impl ConnectionTrait,
        (seals, moved): (&Seals, &mut Moved),
    ) -> Result<()> {
        match self {
            Self::Open { business, id, open, base_open } => {
                open_items::Entity::update_many()
                    .col_expr(open_items::Column::Open, open.into())
                    .col_expr(open_items::Column::BaseOpen, base_open.into())
                    .filter(open_items::Column::BusinessId.eq(business))
                    .filter(open_items::Column::Id.eq(id))
                    .exec(connection)
                    .await?;
            }
            Self::Touched { business, id, version, at, by } => {
                documents::Entity::update_many()
                    .col_expr(documents::Column::Version, version.into())
                    .col_expr(documents::Column::UpdatedAt, at.into())
                    .col_expr(documents::Column::UpdatedBy, by.into())
                    .filter(documents::Column::BusinessId.eq(business))
                    .filter(documents::Column::Id.eq(id))
                    .exec(connection)
                    .await?;
            }
            Self::Reached { business, id, stage } => {
                documents::Entity::update_many()
                    .col_expr(documents::Column::Stage, stage.into())
                    .filter(documents::Column::BusinessId.eq(business))
                    .filter(documents::Column::Id.eq(id))
                    .exec(connection)
                    .await?;
            }
            Self::Progress(row) => {
                insert_all::<progress::Entity>(connection, (seals, moved), vec![row], There::Replace).await?;
            }
            Self::Stock(state) => {
                insert_all::<stock::Entity>(connection, (seals, moved), vec![state], There::Replace).await?;
            }
            Self::Snapshot(snapshot) => {
                insert_all::<stock_snapshots::Entity>(connection, (seals, moved), vec![snapshot], There::Replace)
                    .await?;
            }
            Self::Cost { business, item, date, sequence, cost, was_missing } => {
                stock_lines::Entity::update_many()
                    .col_expr(stock_lines::Column::Cost, cost.into())
                    .col_expr(stock_lines::Column::WasMissing, was_missing.into())
                    .filter(stock_lines::Column::BusinessId.eq(business))
                    .filter(stock_lines::Column::ItemId.eq(item))
                    .filter(stock_lines::Column::Date.eq(date))
                    .filter(stock_lines::Column::Sequence.eq(sequence))
                    .exec(connection)
                    .await?;
            }
        }
        Ok(())
    }
}
