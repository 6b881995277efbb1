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

/// What moved of a document's row without its doing.
#[derive(Default)]
struct Moved {
    touched: Option<(i64, Instant, UserId)>,
    stage: Option<Stage>,
}

/// What changes columns of rows that were there before.
pub(super) struct Changes {
    /// Each document's row is changed once, whatever moved of it.
    documents: BTreeMap<(BusinessId, RecordId), Moved>,
    others: Vec<Standing>,
}

/// Rows as they stand at the end of a batch, each once.
pub(super) struct Rows {
    pub(super) progress: Vec<progress::Model>,
    pub(super) stock: Vec<stock::Model>,
    pub(super) snapshots: Vec<stock_snapshots::Model>,
}

/// The last that is known of each row, in an order that every process shares; and what changes columns of others.
pub(super) fn last(standings: Vec<Standing>) -> (Rows, Changes) {
    let (mut progress, mut stock, mut snapshots) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let mut changes = Changes { documents: BTreeMap::new(), others: Vec::new() };
    for standing in standings {
        match standing {
            Standing::Progress(row) => drop(progress.insert((row.business_id, row.line_id), row)),
            Standing::Stock(row) => drop(stock.insert((row.business_id, row.item_id), row)),
            Standing::Snapshot(row) => drop(snapshots.insert((row.business_id, row.item_id, row.date), row)),
            Standing::Touched { business, id, version, at, by } => {
                changes.documents.entry((business, id)).or_default().touched = Some((version, at, by));
            }
            Standing::Reached { business, id, stage } => {
                changes.documents.entry((business, id)).or_default().stage = Some(stage);
            }
            other @ (Standing::Open { .. } | Standing::Cost { .. }) => changes.others.push(other),
        }
    }
    let rows = Rows {
        progress: progress.into_values().collect(),
        stock: stock.into_values().collect(),
        snapshots: snapshots.into_values().collect(),
    };
    (rows, changes)
}

impl Changes {
    pub(super) fn statements(self, engine: DbBackend) -> impl Iterator<Item = Result<Statement>> {
        let documents = self.documents.into_iter().map(move |(key, moved)| Ok(moved.statement(key, engine)));
        documents.chain(self.others.into_iter().map(move |other| other.statement(engine)))
    }
}

impl Moved {
    fn statement(self, (business, id): (BusinessId, RecordId), engine: DbBackend) -> Statement {
        let mut update = documents::Entity::update_many();
        if let Some((version, at, by)) = self.touched {
            update = update
                .col_expr(documents::Column::Version, version.into())
                .col_expr(documents::Column::UpdatedAt, at.into())
                .col_expr(documents::Column::UpdatedBy, by.into());
        }
        if let Some(stage) = self.stage {
            update = update.col_expr(documents::Column::Stage, stage.into());
        }
        update.filter(documents::Column::BusinessId.eq(business)).filter(documents::Column::Id.eq(id)).build(engine)
    }
}

impl Standing {
    /// What changes the columns that it is about.
    fn statement(self, engine: DbBackend) -> Result<Statement> {
        Ok(match self {
            Self::Open { business, id, open, base_open } => open_items::Entity::update_many()
                .col_expr(open_items::Column::Open, open.into())
                .col_expr(open_items::Column::BaseOpen, base_open.into())
                .filter(open_items::Column::BusinessId.eq(business))
                .filter(open_items::Column::Id.eq(id))
                .build(engine),
            // These are written whole, or with what else moved of a document.
            Self::Touched { .. } | Self::Reached { .. } | Self::Progress(_) | Self::Stock(_) | Self::Snapshot(_) => {
                return Err(Error::internal("a row that is written with others was to be changed by itself"));
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
