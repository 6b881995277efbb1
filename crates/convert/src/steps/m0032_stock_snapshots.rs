//! Where the stock of an item stood on an evening: a cache, so that a late write need not begin at the beginning.

use super::columns::{bytewise, key, number, of_company, text, uuid};
use super::sealed::Key::{Plain, Uuid};
use super::sealed::{Sealed, seal};
use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let snapshots = of_company("stock_snapshots")
            .col(uuid("item_id"))
            .col(bytewise(manager, "date").not_null())
            .col(number("place").not_null())
            .col(text("state").not_null())
            .primary_key(&mut key(&["item_id", "date"]))
            .take();
        manager.create_table(snapshots).await?;
        let standard = number("standard_cost");
        manager.alter_table(Table::alter().table("stock").add_column(standard).take()).await?;
        seal(manager, &[SNAPSHOTS]).await
    }
}

const SNAPSHOTS: Sealed = Sealed {
    table: "stock_snapshots",
    company: Some("business_id"),
    key: &[Uuid("item_id"), Plain("date")],
    only: &[],
    grows_only: false,
};
