//! What grows only is not replaced either: SQLite lets `INSERT OR REPLACE` pass the triggers that refuse a change.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend};

#[derive(DeriveMigrationName)]
pub struct Migration;

/// Each table that grows only, and the keys under which a row may be there already.
const GROWING: &[(&str, &[&[&str]])] = &[
    ("entries", &[&["business_id", "number"], &["business_id", "id"]]),
    ("entry_lines", &[&["business_id", "entry_number", "position"]]),
    ("audit_log", &[&["business_id", "sequence"], &["business_id", "id"]]),
    ("open_item_moves", &[&["business_id", "id"]]),
    ("stock_moves", &[&["business_id", "id"]]),
    ("progress_moves", &[&["business_id", "id"]]),
];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        if manager.get_database_backend() == DbBackend::Postgres {
            // There an upsert is an update, and refused as one.
            return Ok(());
        }
        for (table, keys) in GROWING {
            let there = |key: &&[&str]| {
                let same: Vec<String> = key.iter().map(|column| format!("{column} = NEW.{column}")).collect();
                format!("EXISTS (SELECT 1 FROM {table} WHERE {})", same.join(" AND "))
            };
            let there: Vec<String> = keys.iter().map(there).collect();
            // A rowid that is named may replace another row as well.
            let refuse = format!(
                "CREATE TRIGGER {table}_is_not_replaced BEFORE INSERT ON {table} WHEN {} \
                   OR (NEW.rowid > 0 AND EXISTS (SELECT 1 FROM {table} WHERE rowid = NEW.rowid)) \
                 BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END",
                there.join(" OR ")
            );
            manager.get_connection().execute_unprepared(&refuse).await?;
        }
        Ok(())
    }
}
