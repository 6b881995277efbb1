//! The installation: whose master key its secrets are under, and the key that repeated requests are known by.

use super::columns::{number, text};
use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let table = Table::create()
            .table("installation")
            .col(number("id").not_null().primary_key())
            .col(number("made_at").not_null())
            .col(text("key_check").not_null())
            .col(text("fingerprint_key").not_null())
            .take();
        manager.create_table(table).await
    }
}
