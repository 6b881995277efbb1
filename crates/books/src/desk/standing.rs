//! Where something stands from now on: rows that were there before and change.

use crate::clock::Instant;
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::{BusinessId, RecordId, UserId};
use crate::money::{BookMoney, Money};
use schema::tables::{Stage, documents, open_items, progress, stock, stock_lines, stock_snapshots};
use sea_orm::{ColumnTrait, DbBackend, EntityTrait, QueryFilter, QueryTrait, Statement};
use std::collections::BTreeMap;

/// Where something stands from now on. It is written after all that is new.
pub enum Standing {
    /// What is left of an open item.
    Open { business: BusinessId, id: RecordId, open: Money, base_open: BookMoney },
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
    Cost { business: BusinessId, item: RecordId, date: Day, sequence: i64, cost: BookMoney, was_missing: bool },
}

/// Rows as they stand at the end of a batch, each once.
pub(super) struct Rows {
    pub(super) progress: Vec<progress::Model>,
    pub(super) stock: Vec<stock::Model>,
    pub(super) snapshots: Vec<stock_snapshots::Model>,
}

/// The last that is known of each row, in an order that every process shares; and what changes columns of others.
pub(super) fn last(standings: Vec<Standing>) -> (Rows, Vec<Standing>) {
    let (mut progress, mut stock, mut snapshots) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let mut changes = Vec::new();
    for standing in standings {
        match standing {
            Standing::Progress(row) => drop(progress.insert((row.business_id, row.line_id), row)),
            Standing::Stock(row) => drop(stock.insert((row.business_id, row.item_id), row)),
            Standing::Snapshot(row) => drop(snapshots.insert((row.business_id, row.item_id, row.date), row)),
            change => changes.push(change),
        }
    }
    let rows = Rows {
        progress: progress.into_values().collect(),
        stock: stock.into_values().collect(),
        snapshots: snapshots.into_values().collect(),
    };
    (rows, changes)
}

impl Standing {
    /// What changes the columns that it is about.
    pub(super) fn statement(self, engine: DbBackend) -> Result<Statement> {
        Ok(match self {
            Self::Open { business, id, open, base_open } => open_items::Entity::update_many()
                .col_expr(open_items::Column::Open, open.into())
                .col_expr(open_items::Column::BaseOpen, base_open.into())
                .filter(open_items::Column::BusinessId.eq(business))
                .filter(open_items::Column::Id.eq(id))
                .build(engine),
            Self::Touched { business, id, version, at, by } => documents::Entity::update_many()
                .col_expr(documents::Column::Version, version.into())
                .col_expr(documents::Column::UpdatedAt, at.into())
                .col_expr(documents::Column::UpdatedBy, by.into())
                .filter(documents::Column::BusinessId.eq(business))
                .filter(documents::Column::Id.eq(id))
                .build(engine),
            Self::Reached { business, id, stage } => documents::Entity::update_many()
                .col_expr(documents::Column::Stage, stage.into())
                .filter(documents::Column::BusinessId.eq(business))
                .filter(documents::Column::Id.eq(id))
                .build(engine),
            // These are written whole.
            Self::Progress(_) | Self::Stock(_) | Self::Snapshot(_) => {
                return Err(Error::internal("a row that is written whole was to be changed"));
            }
            Self::Cost { business, item, date, sequence, cost, was_missing } => stock_lines::Entity::update_many()
                .col_expr(stock_lines::Column::Cost, cost.into())
                .col_expr(stock_lines::Column::WasMissing, was_missing.into())
                .filter(stock_lines::Column::BusinessId.eq(business))
                .filter(stock_lines::Column::ItemId.eq(item))
                .filter(stock_lines::Column::Date.eq(date))
                .filter(stock_lines::Column::Sequence.eq(sequence))
                .build(engine),
        })
    }
}
