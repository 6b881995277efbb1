//! What other currencies were worth, day by day.

use super::columns::{bytewise, number, record_keeping, text, uuid};
use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let mut rates = Table::create()
            .table("exchange_rates")
            .col(uuid("business_id"))
            .col(uuid("id"))
            .col(bytewise(manager, "currency").not_null())
            .col(bytewise(manager, "date").not_null())
            .col(number("rate").not_null())
            .col(text("source"))
            .col(bytewise(manager, "search").not_null())
            .primary_key(Index::create().col("business_id").col("id"))
            .take();
        manager.create_table(record_keeping(&mut rates).take()).await?;
        let on_a_day = Index::create()
            .name("exchange_rates_on_a_day")
            .table("exchange_rates")
            .col("business_id")
            .col("currency")
            .col("date")
            .unique()
            .take();
        manager.create_index(on_a_day).await
    }
}
