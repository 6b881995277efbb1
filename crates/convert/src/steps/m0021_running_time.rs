//! How long the books were served: what keys of requests are forgotten by. It begins where the youngest key was kept.

use super::columns::number;
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
            .table("running_time")
            .col(number("id").not_null().primary_key())
            .col(number("at").not_null())
            .take();
        manager.create_table(table).await?;
        let begin = "INSERT INTO running_time (id, at) SELECT 1, COALESCE(MAX(created_at), 0) FROM idempotency_keys";
        manager.get_connection().execute_unprepared(begin).await.map(|_| ())
    }
}
