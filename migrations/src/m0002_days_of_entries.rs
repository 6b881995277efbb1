//! How many entries some days have and what they come to is read from an index alone.
//!
//! A day book says both of its period above its first page. Of a million invoices a month has 83 000 entries, and each of
//! them was looked up for its total.

use crate::patiently;
use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let made = "CREATE INDEX entries_of_days ON entries (business_id, date, number, total)";
        patiently(manager.get_connection(), made).await
    }
}
