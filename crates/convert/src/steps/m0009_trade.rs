//! Buying and selling: what is traded and taxed, what is open with whom, what lies in stock.
//!
//! `open_item_moves` and `stock_moves` are histories beside the ledger and grow only, as it does; `open_items`
//! and `stock` say where they stand.

use super::columns::{self, bytewise, flag, key, maybe_uuid, number, of_company, record_keeping, series, text, uuid};
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
        for (table, columns) in [
            (
                "parties",
                vec![
                    maybe_uuid("payment_term_id"),
                    maybe_uuid("receivable_account_id"),
                    maybe_uuid("payable_account_id"),
                    maybe_uuid("sales_account_id"),
                    maybe_uuid("purchase_account_id"),
                    maybe_uuid("sales_tax_code_id"),
                    maybe_uuid("purchase_tax_code_id"),
                    maybe_uuid("merged_into_id"),
                ],
            ),
            (
                "entry_lines",
                vec![
                    maybe_uuid("item_id"),
                    number("quantity"),
                    maybe_uuid("tax_code_id"),
                    text("tax_component"),
                    number("tax_base"),
                ],
            ),
        ] {
            for column in columns {
                columns::add(manager, table, column).await?;
            }
        }
        for table in [
            payment_terms(manager),
            tax_codes(manager),
            items(manager),
            document_lines(manager),
            open_items(manager),
            open_item_moves(manager),
            allocations(manager),
            stock(manager),
            stock_lines(manager),
            stock_moves(manager),
        ] {
            manager.create_table(table).await?;
        }
        let connection = manager.get_connection();
        let (identifier, guards) = match manager.get_database_backend() {
            DbBackend::Postgres => ("gen_random_uuid()", GUARDS_ON_POSTGRES),
            _ => ("randomblob(16)", GUARDS_ON_SQLITE),
        };
        for statement in INDEXES.iter().chain(guards) {
            connection.execute_unprepared(statement).await?;
        }
        for statement in WHAT_JOURNALS_LEFT_OPEN {
            connection.execute_unprepared(&statement.replace("{identifier}", identifier)).await?;
        }
        series(manager, &SERIES).await
    }
}

const SERIES: [(&str, &str, &str); 8] = [
    ("salesInvoice", "Sales invoices", "INV"),
    ("creditNote", "Credit notes", "CN"),
    ("purchaseInvoice", "Purchase invoices", "BILL"),
    ("debitNote", "Debit notes", "DN"),
    ("receipt", "Receipts", "RC"),
    ("payment", "Payments", "PM"),
    ("stockAdjustment", "Stock adjustments", "SA"),
    ("revaluation", "Revaluations", "RV"),
];

/// What journals had posted to control accounts before there were open items.
const WHAT_JOURNALS_LEFT_OPEN: [&str; 2] = [
    "INSERT INTO open_items (business_id, id, document_id, kind, party_id, account_id, currency, date, due_date, \
     amount, base, open, base_open) \
     SELECT l.business_id, {identifier}, e.document_id, MIN(e.document_kind), l.party_id, \
     l.account_id, l.currency, MIN(l.date), MIN(l.due_date), SUM(l.currency_amount), SUM(l.amount), \
     SUM(l.currency_amount), SUM(l.amount) \
     FROM entry_lines l \
     JOIN entries e ON e.business_id = l.business_id AND e.number = l.entry_number \
     JOIN accounts a ON a.business_id = l.business_id AND a.id = l.account_id \
     WHERE a.type IN ('receivable', 'payable') AND l.party_id IS NOT NULL \
     GROUP BY l.business_id, e.document_id, l.party_id, l.account_id, l.currency",
    "INSERT INTO open_item_moves (business_id, id, open_item_id, document_id, party_id, account_id, currency, date, \
     recorded_at, amount, base) \
     SELECT l.business_id, {identifier}, i.id, e.document_id, l.party_id, l.account_id, l.currency, l.date, \
     e.recorded_at, l.currency_amount, l.amount \
     FROM entry_lines l \
     JOIN entries e ON e.business_id = l.business_id AND e.number = l.entry_number \
     JOIN open_items i ON i.business_id = l.business_id AND i.document_id = e.document_id \
       AND i.party_id = l.party_id AND i.account_id = l.account_id AND i.currency = l.currency",
];

fn payment_terms(manager: &SchemaManager<'_>) -> TableCreateStatement {
    let mut table = of_company("payment_terms")
        .col(uuid("id"))
        .col(text("name").not_null())
        .col(bytewise(manager, "name_key").not_null())
        .col(text("type").not_null())
        .col(number("days").not_null())
        .col(number("discount_percent"))
        .col(number("discount_days"))
        .col(text("status").not_null())
        .col(bytewise(manager, "external_id"))
        .col(bytewise(manager, "search").not_null())
        .primary_key(&mut key(&["id"]))
        .take();
    record_keeping(&mut table).take()
}

fn tax_codes(manager: &SchemaManager<'_>) -> TableCreateStatement {
    let mut table = of_company("tax_codes")
        .col(uuid("id"))
        .col(bytewise(manager, "code").not_null())
        .col(text("name").not_null())
        .col(bytewise(manager, "name_key").not_null())
        .col(text("direction").not_null())
        .col(text("category"))
        .col(text("report_box"))
        .col(text("components").not_null())
        .col(bytewise(manager, "valid_from"))
        .col(bytewise(manager, "valid_to"))
        .col(text("status").not_null())
        .col(bytewise(manager, "external_id"))
        .col(bytewise(manager, "search").not_null())
        .primary_key(&mut key(&["id"]))
        .take();
    record_keeping(&mut table).take()
}

fn items(manager: &SchemaManager<'_>) -> TableCreateStatement {
    let mut table = of_company("items")
        .col(uuid("id"))
        .col(text("name").not_null())
        .col(bytewise(manager, "name_key").not_null())
        .col(bytewise(manager, "code"))
        .col(text("type").not_null())
        .col(bytewise(manager, "barcode"))
        .col(text("description"))
        .col(text("purchase_description"))
        .col(text("unit"))
        .col(text("category"))
        .col(number("sale_price"))
        .col(number("purchase_price"))
        .col(flag("price_includes_tax"))
        .col(maybe_uuid("sales_tax_code_id"))
        .col(maybe_uuid("purchase_tax_code_id"))
        .col(maybe_uuid("income_account_id"))
        .col(maybe_uuid("expense_account_id"))
        .col(maybe_uuid("inventory_account_id"))
        .col(maybe_uuid("cogs_account_id"))
        .col(text("cost_method").not_null())
        .col(number("standard_cost"))
        .col(text("negative_stock").not_null())
        .col(number("reorder_level"))
        .col(text("status").not_null())
        .col(bytewise(manager, "external_id"))
        .col(text("tags").not_null())
        .col(bytewise(manager, "search").not_null())
        .primary_key(&mut key(&["id"]))
        .take();
    record_keeping(&mut table).take()
}

/// The lines of posted trade documents, as they stand.
fn document_lines(manager: &SchemaManager<'_>) -> TableCreateStatement {
    of_company("document_lines")
        .col(uuid("document_id"))
        .col(number("line_no").not_null())
        .col(uuid("id"))
        .col(text("kind").not_null())
        .col(bytewise(manager, "date").not_null())
        .col(maybe_uuid("party_id"))
        .col(maybe_uuid("item_id"))
        .col(maybe_uuid("account_id"))
        .col(maybe_uuid("tax_code_id"))
        .col(number("quantity").not_null())
        .col(number("net").not_null())
        .col(number("tax").not_null())
        .col(number("base_net").not_null())
        .col(number("base_tax").not_null())
        .col(maybe_uuid("source_line_id"))
        .primary_key(&mut key(&["document_id", "line_no"]))
        .take()
}

fn open_items(manager: &SchemaManager<'_>) -> TableCreateStatement {
    of_company("open_items")
        .col(uuid("id"))
        .col(uuid("document_id"))
        .col(text("kind").not_null())
        .col(uuid("party_id"))
        .col(uuid("account_id"))
        .col(bytewise(manager, "currency").not_null())
        .col(bytewise(manager, "date").not_null())
        .col(bytewise(manager, "due_date"))
        .col(number("amount").not_null())
        .col(number("base").not_null())
        .col(number("open").not_null())
        .col(number("base_open").not_null())
        .primary_key(&mut key(&["id"]))
        .take()
}

fn open_item_moves(manager: &SchemaManager<'_>) -> TableCreateStatement {
    of_company("open_item_moves")
        .col(uuid("id"))
        .col(uuid("open_item_id"))
        .col(uuid("document_id"))
        .col(uuid("party_id"))
        .col(uuid("account_id"))
        .col(bytewise(manager, "currency").not_null())
        .col(bytewise(manager, "date").not_null())
        .col(number("recorded_at").not_null())
        .col(number("amount").not_null())
        .col(number("base").not_null())
        .col(maybe_uuid("allocation_id"))
        .primary_key(&mut key(&["id"]))
        .take()
}

fn allocations(manager: &SchemaManager<'_>) -> TableCreateStatement {
    of_company("allocations")
        .col(uuid("id"))
        .col(uuid("party_id"))
        .col(text("source_kind").not_null())
        .col(uuid("source_id"))
        .col(uuid("source_document_id"))
        .col(text("target_kind").not_null())
        .col(uuid("target_id"))
        .col(uuid("target_document_id"))
        .col(bytewise(manager, "date").not_null())
        .col(bytewise(manager, "currency").not_null())
        .col(number("amount").not_null())
        .col(bytewise(manager, "source_currency").not_null())
        .col(number("source_amount").not_null())
        .col(number("discount").not_null())
        .col(number("write_off").not_null())
        .col(maybe_uuid("write_off_account_id"))
        .col(number("withheld").not_null())
        .col(number("source_base").not_null())
        .col(number("target_base").not_null())
        .col(number("exchange_gain").not_null())
        .col(text("entry"))
        .col(bytewise(manager, "removed_on"))
        .col(number("removed_at"))
        .col(number("created_at").not_null())
        .col(uuid("created_by"))
        .primary_key(&mut key(&["id"]))
        .take()
}

/// Where the stock of an item stands.
fn stock(manager: &SchemaManager<'_>) -> TableCreateStatement {
    of_company("stock")
        .col(uuid("item_id"))
        .col(number("quantity").not_null())
        .col(number("value").not_null())
        .col(bytewise(manager, "last_date"))
        .col(number("last_sequence").not_null())
        .col(text("known_cost"))
        .col(text("layers").not_null())
        .primary_key(&mut key(&["item_id"]))
        .take()
}

/// What moves stock at present, in the order in which it is valued.
fn stock_lines(manager: &SchemaManager<'_>) -> TableCreateStatement {
    of_company("stock_lines")
        .col(uuid("item_id"))
        .col(bytewise(manager, "date").not_null())
        .col(number("sequence").not_null())
        .col(uuid("document_id"))
        .col(number("line_no").not_null())
        .col(uuid("line_id"))
        .col(text("kind").not_null())
        .col(number("quantity").not_null())
        .col(number("cost").not_null())
        .col(number("booked").not_null())
        .col(maybe_uuid("returns_line_id"))
        .col(uuid("inventory_account_id"))
        .col(uuid("cost_account_id"))
        .primary_key(&mut key(&["item_id", "date", "sequence"]))
        .take()
}

/// Everything that ever happened to the stock, by the day it counts for.
fn stock_moves(manager: &SchemaManager<'_>) -> TableCreateStatement {
    of_company("stock_moves")
        .col(uuid("id"))
        .col(uuid("item_id"))
        .col(bytewise(manager, "date").not_null())
        .col(number("recorded_at").not_null())
        .col(uuid("document_id"))
        .col(text("kind").not_null())
        .col(number("quantity").not_null())
        .col(number("value").not_null())
        .col(uuid("account_id"))
        .primary_key(&mut key(&["id"]))
        .take()
}

const INDEXES: &[&str] = &[
    "CREATE UNIQUE INDEX tax_codes_code ON tax_codes (business_id, code)",
    "CREATE UNIQUE INDEX items_code ON items (business_id, code)",
    "CREATE UNIQUE INDEX items_external_id ON items (business_id, external_id)",
    "CREATE INDEX items_by_name ON items (business_id, name_key, id)",
    "CREATE INDEX documents_by_party ON documents (business_id, party_id, kind, date) WHERE party_id IS NOT NULL",
    "CREATE INDEX document_lines_by_item ON document_lines (business_id, item_id, date) WHERE item_id IS NOT NULL",
    "CREATE INDEX document_lines_by_source ON document_lines (business_id, source_line_id) \
     WHERE source_line_id IS NOT NULL",
    "CREATE INDEX document_lines_by_tax_code ON document_lines (business_id, tax_code_id, date) \
     WHERE tax_code_id IS NOT NULL",
    "CREATE INDEX open_items_by_document ON open_items (business_id, document_id)",
    "CREATE INDEX open_items_by_party ON open_items (business_id, party_id) WHERE open <> 0",
    "CREATE INDEX open_items_by_due_date ON open_items (business_id, due_date) WHERE open <> 0",
    "CREATE INDEX open_item_moves_by_document ON open_item_moves (business_id, open_item_id)",
    "CREATE INDEX open_item_moves_by_date ON open_item_moves (business_id, date)",
    "CREATE INDEX allocations_by_source ON allocations (business_id, source_document_id)",
    "CREATE INDEX allocations_by_target ON allocations (business_id, target_document_id)",
    "CREATE INDEX stock_lines_by_document ON stock_lines (business_id, document_id)",
    "CREATE INDEX stock_moves_by_item ON stock_moves (business_id, item_id, date)",
    "CREATE INDEX stock_moves_by_document ON stock_moves (business_id, document_id)",
];

const GUARDS_ON_SQLITE: &[&str] = &[
    "CREATE TRIGGER open_item_moves_are_not_updated BEFORE UPDATE ON open_item_moves BEGIN SELECT RAISE(ABORT, 'open_item_moves is append-only'); END",
    "CREATE TRIGGER open_item_moves_are_not_deleted BEFORE DELETE ON open_item_moves BEGIN SELECT RAISE(ABORT, 'open_item_moves is append-only'); END",
    "CREATE TRIGGER stock_moves_are_not_updated BEFORE UPDATE ON stock_moves BEGIN SELECT RAISE(ABORT, 'stock_moves is append-only'); END",
    "CREATE TRIGGER stock_moves_are_not_deleted BEFORE DELETE ON stock_moves BEGIN SELECT RAISE(ABORT, 'stock_moves is append-only'); END",
];

const GUARDS_ON_POSTGRES: &[&str] = &[
    "CREATE TRIGGER open_item_moves_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON open_item_moves \
       FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()",
    "CREATE TRIGGER stock_moves_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON stock_moves \
       FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()",
];
