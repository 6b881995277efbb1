//! How many documents of each kind a company has: lists say it, and counting a hundred thousand rows takes longer than
//! reading fifty. Triggers count, so that no writer can forget to.

use super::columns::{number, text, uuid};
use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let counts = Table::create()
            .table("document_counts")
            .col(uuid("business_id"))
            .col(text("kind").not_null())
            .col(number("count").not_null())
            .primary_key(Index::create().col("business_id").col("kind"))
            .take();
        manager.create_table(counts).await?;
        let connection = manager.get_connection();
        let triggers: &[&str] = match manager.get_database_backend() {
            DbBackend::Postgres => ON_POSTGRES,
            _ => ON_SQLITE,
        };
        let begin = "INSERT INTO document_counts (business_id, kind, count) \
                     SELECT business_id, kind, COUNT(*) FROM documents GROUP BY business_id, kind";
        for statement in [begin].iter().chain(triggers) {
            connection.execute_unprepared(statement).await?;
        }
        Ok(())
    }
}

const ON_SQLITE: &[&str] = &[
    "CREATE TRIGGER documents_count_inserts AFTER INSERT ON documents BEGIN \
       INSERT INTO document_counts (business_id, kind, count) VALUES (NEW.business_id, NEW.kind, 1) \
       ON CONFLICT (business_id, kind) DO UPDATE SET count = count + 1; END",
    "CREATE TRIGGER documents_count_deletes AFTER DELETE ON documents BEGIN \
       UPDATE document_counts SET count = count - 1 WHERE business_id = OLD.business_id AND kind = OLD.kind; END",
];

/// Once a statement, not once a row.
const ON_POSTGRES: &[&str] = &[
    "CREATE FUNCTION count_new_documents() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
       INSERT INTO document_counts (business_id, kind, count) \
       SELECT business_id, kind, COUNT(*) FROM added GROUP BY business_id, kind ORDER BY business_id, kind \
       ON CONFLICT (business_id, kind) DO UPDATE SET count = document_counts.count + EXCLUDED.count; \
       RETURN NULL; END $$",
    "CREATE TRIGGER documents_count_inserts AFTER INSERT ON documents REFERENCING NEW TABLE AS added \
       FOR EACH STATEMENT EXECUTE FUNCTION count_new_documents()",
    "CREATE FUNCTION count_gone_documents() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
       UPDATE document_counts AS held SET count = held.count - gone.count FROM \
       (SELECT business_id, kind, COUNT(*) AS count FROM removed GROUP BY business_id, kind) AS gone \
       WHERE held.business_id = gone.business_id AND held.kind = gone.kind; RETURN NULL; END $$",
    "CREATE TRIGGER documents_count_deletes AFTER DELETE ON documents REFERENCING OLD TABLE AS removed \
       FOR EACH STATEMENT EXECUTE FUNCTION count_gone_documents()",
];
