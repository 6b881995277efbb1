//! Stock as dated facts: what happened to the stock of an item, on which day and in which place, and what its own entry
//! posted of it. It grows only: what never was is cancelled by a row of its own.

use super::columns::{bytewise, key, maybe_uuid, number, of_company, text, uuid};
use super::sealed::Key::Uuid;
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
        let connection = manager.get_connection();
        for statement in INDEXES {
            connection.execute_unprepared(statement).await?;
        }
        let (brought_over, guards) = match manager.get_database_backend() {
            DbBackend::Postgres => (BROUGHT_OVER.replace("{id}", "gen_random_uuid()"), GUARDS_ON_POSTGRES),
            _ => (BROUGHT_OVER.replace("{id}", "randomblob(16)"), GUARDS_ON_SQLITE),
        };
        seal(manager, &[FACTS]).await?;
        connection.execute_unprepared(&brought_over).await?;
        for statement in guards {
            connection.execute_unprepared(statement).await?;
        }
        Ok(())
    }
}

const FACTS: Sealed =
    Sealed { table: "stock_facts", company: Some("business_id"), key: &[Uuid("id")], only: &[], grows_only: false };

fn facts(manager: &SchemaManager<'_>) -> TableCreateStatement {
    of_company("stock_facts")
        .col(uuid("id"))
        .col(uuid("item_id"))
        .col(bytewise(manager, "date").not_null())
        .col(number("place").not_null())
        .col(uuid("document_id"))
        .col(uuid("line_id"))
        .col(text("kind").not_null())
        .col(text("side").not_null())
        .col(number("quantity").not_null())
        .col(number("amount").not_null())
        .col(number("standard"))
        .col(maybe_uuid("of_line_id"))
        .col(maybe_uuid("cancels_id"))
        .col(uuid("inventory_account_id"))
        .col(uuid("cost_account_id"))
        .col(uuid("variance_account_id"))
        .col(maybe_uuid("waits_account_id"))
        .col(number("booked_stock").not_null())
        .col(number("booked_waits").not_null())
        .col(number("booked_cost").not_null())
        .col(number("booked_variance").not_null())
        .col(number("recorded_at").not_null())
        .primary_key(&mut key(&["id"]))
        .take()
}

const INDEXES: &[&str] = &[
    "CREATE INDEX stock_facts_by_item ON stock_facts (business_id, item_id, date)",
    "CREATE INDEX stock_facts_by_document ON stock_facts (business_id, document_id)",
    "CREATE INDEX stock_facts_by_line ON stock_facts (business_id, line_id)",
    "CREATE INDEX stock_facts_by_origin ON stock_facts (business_id, of_line_id) WHERE of_line_id IS NOT NULL",
    "CREATE UNIQUE INDEX stock_facts_by_cancelled ON stock_facts (business_id, cancels_id) WHERE cancels_id IS NOT NULL",
];

/// What moved stock in books that are there already: what each movement cost by then is what it says from now on.
const BROUGHT_OVER: &str = "INSERT INTO stock_facts (business_id, id, item_id, date, place, document_id, line_id, kind, side, \
     quantity, amount, standard, of_line_id, cancels_id, inventory_account_id, cost_account_id, variance_account_id, \
     waits_account_id, booked_stock, booked_waits, booked_cost, booked_variance, recorded_at, seal) \
     SELECT l.business_id, {id}, l.item_id, l.date, l.sequence, l.document_id, l.line_id, \
     CASE l.kind WHEN 'receipt' THEN 'receipt' WHEN 'issue' THEN 'issue' WHEN 'return' THEN 'customerReturn' \
       ELSE 'costChange' END, \
     CASE WHEN l.kind IN ('receipt', 'cost') AND d.kind <> 'stockAdjustment' AND p.account_id IS NULL THEN 'document' \
       WHEN p.account_id IS NOT NULL THEN 'waits' ELSE 'cost' END, \
     abs(l.quantity), CASE WHEN l.kind IN ('receipt', 'cost') THEN l.booked ELSE 0 END, NULL, l.returns_line_id, NULL, \
     l.inventory_account_id, l.cost_account_id, l.cost_account_id, p.account_id, l.booked, \
     CASE WHEN p.account_id IS NOT NULL THEN -l.booked ELSE 0 END, \
     CASE WHEN p.account_id IS NULL AND (l.kind NOT IN ('receipt', 'cost') OR d.kind = 'stockAdjustment') THEN -l.booked \
       ELSE 0 END, 0, d.updated_at, '' \
     FROM stock_lines l JOIN documents d ON d.business_id = l.business_id AND d.id = l.document_id \
     LEFT JOIN progress p ON p.business_id = l.business_id AND p.line_id = l.line_id";

const GUARDS_ON_SQLITE: &[&str] = &[
    "CREATE TRIGGER stock_facts_are_not_updated BEFORE UPDATE ON stock_facts WHEN OLD.seal <> '' BEGIN SELECT RAISE(ABORT, 'stock_facts is append-only'); END",
    "CREATE TRIGGER stock_facts_are_not_deleted BEFORE DELETE ON stock_facts BEGIN SELECT RAISE(ABORT, 'stock_facts is append-only'); END",
    "CREATE TRIGGER stock_facts_is_not_replaced BEFORE INSERT ON stock_facts \
       WHEN EXISTS (SELECT 1 FROM stock_facts WHERE business_id = NEW.business_id AND id = NEW.id) \
         OR (NEW.rowid > 0 AND EXISTS (SELECT 1 FROM stock_facts WHERE rowid = NEW.rowid)) \
     BEGIN SELECT RAISE(ABORT, 'stock_facts is append-only'); END",
];

/// A row that was brought over gets its seal once.
const GUARDS_ON_POSTGRES: &[&str] = &[
    "CREATE TRIGGER stock_facts_are_append_only BEFORE UPDATE ON stock_facts \
       FOR EACH ROW WHEN (OLD.seal <> '') EXECUTE FUNCTION refuse_change()",
    "CREATE TRIGGER stock_facts_are_not_deleted BEFORE DELETE OR TRUNCATE ON stock_facts \
       FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()",
];
