//! What a write with an `Idempotency-Key` answered, so that its repeat answers the same.

use super::columns::{bytewise, number, text, uuid};
use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager
            .create_table(
                Table::create()
                    .table("idempotency_keys")
                    .col(uuid("user_id"))
                    .col(bytewise(manager, "key").not_null())
                    .col(bytewise(manager, "command").not_null())
                    .col(text("outcome").not_null())
                    .col(number("created_at").not_null())
                    .primary_key(Index::create().col("user_id").col("key"))
                    .take(),
            )
            .await?;
        manager
            .create_index(
                Index::create()
                    .name("idempotency_keys_by_age")
                    .table("idempotency_keys")
                    .col("user_id")
                    .col("created_at")
                    .take(),
            )
            .await
    }
}
