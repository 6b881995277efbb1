//! Which record a kept answer is about, so that the proof of a company's books can look it up.

use super::columns;
use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for column in ["business_id", "record_id"] {
            let column = ColumnDef::new(Alias::new(column)).uuid().take();
            columns::add(manager, "idempotency_keys", column).await?;
        }
        let by_company = Index::create()
            .name("idempotency_keys_by_business")
            .table("idempotency_keys")
            .col("business_id")
            .col("record_id")
            .take();
        manager.create_index(by_company).await
    }
}
