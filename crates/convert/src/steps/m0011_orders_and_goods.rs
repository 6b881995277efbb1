//! Orders and goods: how far their lines have got, what nobody has invoiced yet, and which document follows which.
//!
//! `progress_moves` is a history beside the ledger and grows only, as it does; `progress` says where lines stand.

use super::columns::{self, bytewise, flag, key, maybe_uuid, number, of_company, series, text, uuid};
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
        for (table, column) in [("documents", text("stage")), ("stock_lines", number("asked_cost"))] {
            columns::add(manager, table, column).await?;
        }
        for table in [progress(manager), progress_moves(manager), document_links(manager)] {
            manager.create_table(table).await?;
        }
        let connection = manager.get_connection();
        let guards = match manager.get_database_backend() {
            DbBackend::Postgres => GUARDS_ON_POSTGRES,
            _ => GUARDS_ON_SQLITE,
        };
        for statement in INDEXES.iter().chain(guards).chain(WAITING_ACCOUNTS) {
            connection.execute_unprepared(statement).await?;
        }
        series(manager, &SERIES).await
    }
}

const SERIES: [(&str, &str, &str); 4] = [
    ("salesOrder", "Sales orders", "SO"),
    ("purchaseOrder", "Purchase orders", "PO"),
    ("deliveryNote", "Delivery notes", "DEL"),
    ("receiptNote", "Receipt notes", "GRN"),
];

/// Where a line of an order or of a note stands.
fn progress(manager: &SchemaManager<'_>) -> TableCreateStatement {
    of_company("progress")
        .col(uuid("line_id"))
        .col(uuid("document_id"))
        .col(text("kind").not_null())
        .col(bytewise(manager, "date").not_null())
        .col(uuid("party_id"))
        .col(maybe_uuid("item_id"))
        .col(flag("is_goods").not_null())
        .col(flag("is_return").not_null())
        .col(maybe_uuid("source_line_id"))
        .col(number("quantity").not_null())
        .col(number("fulfilled").not_null())
        .col(number("invoiced").not_null())
        .col(number("returned").not_null())
        .col(number("cancelled").not_null())
        .col(maybe_uuid("account_id"))
        .col(number("begun").not_null())
        .col(number("value").not_null())
        .primary_key(&mut key(&["line_id"]))
        .take()
}

/// Everything that ever happened to such a line, by the day it counts for.
fn progress_moves(manager: &SchemaManager<'_>) -> TableCreateStatement {
    of_company("progress_moves")
        .col(uuid("id"))
        .col(uuid("line_id"))
        .col(bytewise(manager, "date").not_null())
        .col(number("recorded_at").not_null())
        .col(uuid("document_id"))
        .col(text("kind").not_null())
        .col(flag("is_correction").not_null())
        .col(number("quantity").not_null())
        .col(number("fulfilled").not_null())
        .col(number("invoiced").not_null())
        .col(number("returned").not_null())
        .col(number("cancelled").not_null())
        .col(maybe_uuid("account_id"))
        .col(number("value").not_null())
        .primary_key(&mut key(&["id"]))
        .take()
}

fn document_links(_: &SchemaManager<'_>) -> TableCreateStatement {
    of_company("document_links")
        .col(uuid("document_id"))
        .col(uuid("source_document_id"))
        .col(text("relation").not_null())
        .primary_key(&mut key(&["document_id", "source_document_id"]))
        .take()
}

const INDEXES: &[&str] = &[
    "CREATE INDEX progress_by_document ON progress (business_id, document_id)",
    "CREATE INDEX progress_by_item ON progress (business_id, item_id, kind) WHERE item_id IS NOT NULL",
    "CREATE INDEX progress_by_source ON progress (business_id, source_line_id) WHERE source_line_id IS NOT NULL",
    "CREATE INDEX progress_moves_by_line ON progress_moves (business_id, line_id)",
    "CREATE INDEX progress_moves_by_document ON progress_moves (business_id, document_id)",
    "CREATE INDEX progress_moves_by_date ON progress_moves (business_id, account_id, date) \
     WHERE account_id IS NOT NULL",
    "CREATE INDEX document_lines_by_line ON document_lines (business_id, id)",
    "CREATE INDEX document_links_by_source ON document_links (business_id, source_document_id)",
    "CREATE INDEX documents_by_stage ON documents (business_id, kind, stage, date) WHERE stage IS NOT NULL",
];

/// What waits for its invoice is kept by receipt and delivery notes alone. An account that was posted to by hand stays
/// as it is.
const WAITING_ACCOUNTS: &[&str] = &["UPDATE accounts SET allow_manual_posting = false WHERE code IN ('1350', '2150') \
     AND name IN ('Goods delivered, not invoiced', 'Goods received, not invoiced') \
     AND NOT EXISTS (SELECT 1 FROM entry_lines l WHERE l.business_id = accounts.business_id \
                     AND l.account_id = accounts.id)"];

const GUARDS_ON_SQLITE: &[&str] = &[
    "CREATE TRIGGER progress_moves_are_not_updated BEFORE UPDATE ON progress_moves BEGIN SELECT RAISE(ABORT, 'progress_moves is append-only'); END",
    "CREATE TRIGGER progress_moves_are_not_deleted BEFORE DELETE ON progress_moves BEGIN SELECT RAISE(ABORT, 'progress_moves is append-only'); END",
];

const GUARDS_ON_POSTGRES: &[&str] = &["CREATE TRIGGER progress_moves_are_append_only \
       BEFORE UPDATE OR DELETE OR TRUNCATE ON progress_moves \
       FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"];
