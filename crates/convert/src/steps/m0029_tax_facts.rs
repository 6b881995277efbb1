//! The tax sub-ledger: one row for each line and component that is taxed or could have been, beside the entry that
//! made it. It grows only.
//!
//! Books of before tell of tax in ledger lines alone, and nothing there of what was not taxed. `tax_beginnings` says up
//! to which entry that is so, none in books that began later: reports of tax that reach back so far are refused, and
//! not silently empty.

use super::columns::{bytewise, flag, key, maybe_uuid, number, of_company, text, uuid};
use super::sealed::Key::Plain;
use super::sealed::{Sealed, seal};
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
        manager.create_table(facts(manager)).await?;
        let beginnings =
            of_company("tax_beginnings").col(number("entry_number").not_null()).primary_key(&mut key(&[])).take();
        manager.create_table(beginnings).await?;
        seal(manager, TABLES).await?;
        let guards = match manager.get_database_backend() {
            DbBackend::Postgres => GUARDS_ON_POSTGRES,
            _ => GUARDS_ON_SQLITE,
        };
        for statement in INDEXES.iter().chain(guards).chain(BEGINNINGS) {
            manager.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}

fn facts(manager: &SchemaManager<'_>) -> TableCreateStatement {
    of_company("tax_facts")
        .col(number("entry_number").not_null())
        .col(number("place").not_null())
        .col(number("position"))
        .col(bytewise(manager, "entry_date").not_null())
        .col(bytewise(manager, "date").not_null())
        .col(number("recorded_at").not_null())
        .col(text("document_kind").not_null())
        .col(uuid("document_id"))
        .col(number("document_version").not_null())
        .col(maybe_uuid("line_id"))
        .col(maybe_uuid("settles_id"))
        .col(maybe_uuid("takes_back_id"))
        .col(text("side").not_null())
        .col(text("duty").not_null())
        .col(text("origin").not_null())
        .col(maybe_uuid("tax_code_id"))
        .col(maybe_uuid("component_id"))
        .col(text("component"))
        .col(text("kind"))
        .col(number("rate"))
        .col(text("category"))
        .col(text("base_box"))
        .col(text("tax_box"))
        .col(flag("leads").not_null())
        .col(maybe_uuid("party_id"))
        .col(text("party_tax_number"))
        .col(text("country"))
        .col(text("currency").not_null())
        .col(number("base").not_null())
        .col(number("tax").not_null())
        .col(number("home_base").not_null())
        .col(number("home_tax").not_null())
        .col(number("not_recoverable").not_null())
        .col(maybe_uuid("account_id"))
        .primary_key(&mut key(&["entry_number", "place"]))
        .take()
}

const TABLES: &[Sealed] = &[
    Sealed {
        table: "tax_facts",
        company: Some("business_id"),
        key: &[Plain("entry_number"), Plain("place")],
        only: &[],
        grows_only: true,
    },
    Sealed { table: "tax_beginnings", company: Some("business_id"), key: &[], only: &[], grows_only: false },
];

const INDEXES: &[&str] = &[
    "CREATE INDEX tax_facts_by_date ON tax_facts (business_id, date)",
    "CREATE INDEX tax_facts_by_document ON tax_facts (business_id, document_id)",
    "CREATE INDEX tax_facts_by_settled ON tax_facts (business_id, settles_id) WHERE settles_id IS NOT NULL",
    "CREATE INDEX tax_facts_by_code ON tax_facts (business_id, tax_code_id, date) WHERE tax_code_id IS NOT NULL",
];

const BEGINNINGS: &[&str] = &["INSERT INTO tax_beginnings (business_id, entry_number) \
     SELECT business_id, entry_number FROM books \
     WHERE EXISTS (SELECT 1 FROM businesses b WHERE b.id = books.business_id)"];

const GUARDS_ON_SQLITE: &[&str] = &[
    "CREATE TRIGGER tax_facts_are_not_updated BEFORE UPDATE ON tax_facts BEGIN SELECT RAISE(ABORT, 'tax_facts is append-only'); END",
    "CREATE TRIGGER tax_facts_are_not_deleted BEFORE DELETE ON tax_facts BEGIN SELECT RAISE(ABORT, 'tax_facts is append-only'); END",
    "CREATE TRIGGER tax_facts_is_not_replaced BEFORE INSERT ON tax_facts \
       WHEN EXISTS (SELECT 1 FROM tax_facts WHERE business_id = NEW.business_id AND entry_number = NEW.entry_number \
                    AND place = NEW.place) \
         OR (NEW.rowid > 0 AND EXISTS (SELECT 1 FROM tax_facts WHERE rowid = NEW.rowid)) \
       BEGIN SELECT RAISE(ABORT, 'tax_facts is append-only'); END",
];

const GUARDS_ON_POSTGRES: &[&str] = &["CREATE TRIGGER tax_facts_are_append_only \
       BEFORE UPDATE OR DELETE OR TRUNCATE ON tax_facts \
       FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"];
