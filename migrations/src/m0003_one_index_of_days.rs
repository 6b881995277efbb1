//! What finds entries by their days says what they come to as well; the index that did not goes.
//!
//! A step of its own: on PostgreSQL an index is made while nobody writes, and goes while nobody reads either. Whoever holds
//! the one and asks for the other waits for writers who wait for it.

use crate::patiently;
use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        patiently(manager.get_connection(), "DROP INDEX entries_by_date").await
    }
}
