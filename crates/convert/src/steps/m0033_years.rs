//! What books begin with and what lies between two years is found without reading the rest.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

const INDEXES: [&str; 3] = [
    "CREATE INDEX entries_opening ON entries (business_id, date) WHERE kind = 'opening'",
    "CREATE INDEX entries_of_years ON entries (business_id, date) WHERE kind = 'yearEnd'",
    "CREATE INDEX entries_taking_back ON entries (business_id, reverses_id) WHERE reverses_id IS NOT NULL",
];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for index in INDEXES {
            manager.get_connection().execute_unprepared(index).await?;
        }
        Ok(())
    }
}
