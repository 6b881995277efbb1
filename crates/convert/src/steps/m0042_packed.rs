//! What stands beside records that are packed: what those of the audit log are looked for by, where those from before are
//! found by what they hold; and which items, tax codes and payment terms a document in the books has ever named.

use super::columns::{add, key, of_company, text, uuid};
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
        add(manager, "audit_log", text("search")).await?;
        let mentions = of_company("mentions").col(uuid("record_id")).primary_key(&mut key(&["record_id"])).take();
        manager.create_table(mentions).await?;
        let database = manager.get_connection();
        // A document of before holds its terms as they are sent.
        let sent = match database.get_database_backend() {
            DbBackend::Postgres => "t.id::text".to_owned(),
            _ => [(1, 8), (9, 4), (13, 4), (17, 4), (21, 12)]
                .map(|(from, length)| format!("lower(substr(hex(t.id), {from}, {length}))"))
                .join(" || '-' || "),
        };
        for statement in ALREADY {
            database.execute_unprepared(&statement.replace("{sent}", &sent)).await?;
        }
        Ok(())
    }
}

const ALREADY: &[&str] = &[
    "INSERT INTO mentions (business_id, record_id) \
     SELECT business_id, item_id FROM document_lines WHERE item_id IS NOT NULL \
     UNION SELECT business_id, item_id FROM stock \
     UNION SELECT business_id, tax_code_id FROM document_lines WHERE tax_code_id IS NOT NULL \
     UNION SELECT business_id, tax_code_id FROM tax_facts WHERE tax_code_id IS NOT NULL",
    "INSERT INTO mentions (business_id, record_id) SELECT t.business_id, t.id FROM payment_terms t \
     WHERE EXISTS (SELECT 1 FROM documents d WHERE d.business_id = t.business_id AND d.status <> 'draft' \
       AND d.content LIKE '%\"' || {sent} || '\"%')",
];
