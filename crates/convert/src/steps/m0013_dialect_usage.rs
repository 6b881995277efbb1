//! Who calls which operation in which dialect, by what program.

use super::columns::{key, number, of_company, text, uuid};
use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let table = of_company("dialect_usage")
            .col(uuid("user_id"))
            .col(text("dialect").not_null())
            .col(text("operation").not_null())
            .col(text("agent").not_null())
            .col(number("calls").not_null())
            .col(number("last_at").not_null())
            .primary_key(&mut key(&["user_id", "dialect", "operation", "agent"]))
            .take();
        manager.create_table(table).await
    }
}
