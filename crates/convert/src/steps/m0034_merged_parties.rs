//! When a party became part of another. What was known before that names both.
//!
//! A merge changes who the parties of rows are, which is remembered with the company: so it counts among the changes
//! after which nothing that is remembered holds.

use super::columns::{self, number};
use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        columns::add(manager, "parties", number("merged_at")).await?;
        let connection = manager.get_connection();
        connection
            .execute_unprepared(
                "CREATE INDEX parties_merged ON parties (business_id, merged_into_id) WHERE merged_into_id IS NOT NULL",
            )
            .await?;
        let what = match manager.get_database_backend() {
            DbBackend::Postgres => "FOR EACH STATEMENT EXECUTE FUNCTION count_access_change()",
            _ => "BEGIN UPDATE access_changes SET count = count + 1 WHERE id = 1; END",
        };
        let trigger =
            format!("CREATE TRIGGER parties_count_merge AFTER UPDATE OF merged_into_id, merged_at ON parties {what}");
        connection.execute_unprepared(&trigger).await.map(drop)
    }
}
