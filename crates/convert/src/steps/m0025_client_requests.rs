//! What clients call their requests, beside the server's own name for them. Records from before keep both in one.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let called = ColumnDef::new(Alias::new("client_request_id")).text().take();
        manager.alter_table(Table::alter().table("audit_log").add_column(called).take()).await
    }
}
