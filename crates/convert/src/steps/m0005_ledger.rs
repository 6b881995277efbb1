//! The ledger: accounts, documents, entries and what is kept beside them.
//!
//! An entry is written lines first; its row in `entries` seals it. The triggers refuse a seal on lines that do
//! not balance, lines that come after their seal, and every UPDATE and DELETE of what is sealed.

use super::columns::{self, bytewise, flag, number, record_keeping, text, uuid};
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
        for (column, default) in [("chart_template", "empty"), ("system_accounts", "{}")] {
            let column = ColumnDef::new(Alias::new(column)).text().not_null().default(default).take();
            columns::add(manager, "businesses", column).await?;
        }
        for table in [
            books(manager),
            accounts(manager),
            documents(manager),
            entries(manager),
            entry_lines(manager),
            account_days(manager),
            account_months(manager),
            party_balances(manager),
            number_series(manager),
            number_counters(manager),
            fiscal_years(manager),
            locks(manager),
            audit_log(manager),
        ] {
            manager.create_table(table).await?;
        }
        for statement in INDEXES {
            manager.get_connection().execute_unprepared(statement).await?;
        }
        // Companies that were made before there was a ledger.
        manager
            .get_connection()
            .execute_unprepared(
                "INSERT INTO books (business_id, version, entry_number, recorded_at, audit_sequence, audit_hash) \
                 SELECT id, 0, 0, 0, 0, '' FROM businesses",
            )
            .await?;
        let guards: &[&str] = match manager.get_database_backend() {
            DbBackend::Postgres => GUARDS_ON_POSTGRES,
            _ => GUARDS_ON_SQLITE,
        };
        for statement in guards {
            manager.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}

fn of_company(name: &'static str) -> TableCreateStatement {
    Table::create().table(name).col(uuid("business_id")).take()
}

fn maybe_uuid(name: &'static str) -> ColumnDef {
    ColumnDef::new(Alias::new(name)).uuid().take()
}

fn key(columns: &[&'static str]) -> IndexCreateStatement {
    let mut key = Index::create();
    key.col("business_id");
    for column in columns {
        key.col(*column);
    }
    key.take()
}

fn refers(name: &str, table: &'static str, column: &'static str, to: &'static str) -> ForeignKeyCreateStatement {
    ForeignKey::create().name(name).from(table, ("business_id", column)).to(to, ("business_id", "id")).take()
}

/// What a write lane must know before it writes: where the sequences of the company stand.
fn books(manager: &SchemaManager<'_>) -> TableCreateStatement {
    Table::create()
        .table("books")
        .col(uuid("business_id").primary_key())
        .col(number("version").not_null())
        .col(number("entry_number").not_null())
        .col(number("recorded_at").not_null())
        .col(number("audit_sequence").not_null())
        .col(bytewise(manager, "audit_hash").not_null())
        .take()
}

fn accounts(manager: &SchemaManager<'_>) -> TableCreateStatement {
    let mut table = of_company("accounts")
        .col(uuid("id"))
        .col(bytewise(manager, "code").not_null())
        .col(text("name").not_null())
        .col(bytewise(manager, "name_key").not_null())
        .col(text("type").not_null())
        .col(text("class").not_null())
        .col(maybe_uuid("parent_id"))
        .col(flag("is_group").not_null())
        .col(bytewise(manager, "currency"))
        .col(text("description"))
        .col(text("cash_flow_section"))
        .col(flag("allow_manual_posting").not_null())
        .col(text("bank_details"))
        .col(text("status").not_null())
        .col(bytewise(manager, "external_id"))
        .col(text("tags").not_null())
        .col(bytewise(manager, "search").not_null())
        .primary_key(&mut key(&["id"]))
        .foreign_key(&mut refers("accounts_parent", "accounts", "parent_id", "accounts"))
        .take();
    record_keeping(&mut table).take()
}

/// Every kind of document; what only one kind has is in `content`.
fn documents(manager: &SchemaManager<'_>) -> TableCreateStatement {
    let mut table = of_company("documents")
        .col(uuid("id"))
        .col(text("kind").not_null())
        .col(text("subkind"))
        .col(text("status").not_null())
        .col(bytewise(manager, "number"))
        .col(maybe_uuid("series_id"))
        .col(bytewise(manager, "period"))
        .col(number("sequence"))
        .col(bytewise(manager, "date").not_null())
        .col(maybe_uuid("party_id"))
        .col(text("reference"))
        .col(text("narration"))
        .col(bytewise(manager, "currency").not_null())
        .col(number("total").not_null())
        .col(number("base_total").not_null())
        .col(text("content").not_null())
        .col(text("entries").not_null())
        .col(number("posted_at"))
        .col(bytewise(manager, "void_date"))
        .col(text("void_reason"))
        .col(bytewise(manager, "external_id"))
        .col(text("tags").not_null())
        .col(bytewise(manager, "search").not_null())
        .primary_key(&mut key(&["id"]))
        .take();
    record_keeping(&mut table).take()
}

fn entries(manager: &SchemaManager<'_>) -> TableCreateStatement {
    of_company("entries")
        .col(uuid("id"))
        .col(number("number").not_null())
        .col(bytewise(manager, "date").not_null())
        .col(number("recorded_at").not_null())
        .col(uuid("recorded_by"))
        .col(text("kind").not_null())
        .col(text("document_kind").not_null())
        .col(uuid("document_id"))
        .col(number("document_version").not_null())
        .col(text("document_number"))
        .col(maybe_uuid("reverses_id"))
        .col(text("narration"))
        .col(number("total").not_null())
        .col(bytewise(manager, "search").not_null())
        .primary_key(&mut key(&["number"]))
        .take()
}

fn entry_lines(manager: &SchemaManager<'_>) -> TableCreateStatement {
    of_company("entry_lines")
        .col(number("entry_number").not_null())
        .col(number("position").not_null())
        .col(uuid("account_id"))
        .col(maybe_uuid("party_id"))
        .col(bytewise(manager, "date").not_null())
        .col(number("amount").not_null())
        .col(bytewise(manager, "currency").not_null())
        .col(number("currency_amount").not_null())
        .col(text("description"))
        .col(bytewise(manager, "due_date"))
        .primary_key(&mut key(&["entry_number", "position"]))
        .foreign_key(&mut refers("entry_lines_account", "entry_lines", "account_id", "accounts"))
        .foreign_key(&mut refers("entry_lines_party", "entry_lines", "party_id", "parties"))
        .take()
}

/// A sum that outgrows 64 bits becomes an inexact number on SQLite, unless it is refused before.
fn can_be_kept() -> Expr {
    Expr::cust(
        "debit <= 9000000000000000000 AND credit <= 9000000000000000000 AND \
         currency_amount BETWEEN -9000000000000000000 AND 9000000000000000000",
    )
}

fn account_days(manager: &SchemaManager<'_>) -> TableCreateStatement {
    of_company("account_days")
        .col(uuid("account_id"))
        .col(bytewise(manager, "currency").not_null())
        .col(bytewise(manager, "date").not_null())
        .col(number("debit").not_null())
        .col(number("credit").not_null())
        .col(number("currency_amount").not_null())
        .check(can_be_kept())
        .primary_key(&mut key(&["account_id", "currency", "date"]))
        .take()
}

fn account_months(manager: &SchemaManager<'_>) -> TableCreateStatement {
    of_company("account_months")
        .col(uuid("account_id"))
        .col(bytewise(manager, "currency").not_null())
        .col(bytewise(manager, "month").not_null())
        .col(number("debit").not_null())
        .col(number("credit").not_null())
        .col(number("currency_amount").not_null())
        .check(can_be_kept())
        .primary_key(&mut key(&["account_id", "currency", "month"]))
        .take()
}

fn party_balances(manager: &SchemaManager<'_>) -> TableCreateStatement {
    of_company("party_balances")
        .col(uuid("party_id"))
        .col(uuid("account_id"))
        .col(bytewise(manager, "currency").not_null())
        .col(number("amount").not_null())
        .col(number("currency_amount").not_null())
        .primary_key(&mut key(&["party_id", "account_id", "currency"]))
        .take()
}

fn number_series(manager: &SchemaManager<'_>) -> TableCreateStatement {
    let mut table = of_company("number_series")
        .col(uuid("id"))
        .col(text("type").not_null())
        .col(text("name").not_null())
        .col(bytewise(manager, "name_key").not_null())
        .col(text("pattern").not_null())
        .col(number("first_number").not_null())
        .col(text("reset_on").not_null())
        .col(flag("allow_manual").not_null())
        .col(text("chronological").not_null())
        .col(flag("is_default").not_null())
        .col(text("status").not_null())
        .col(bytewise(manager, "search").not_null())
        .primary_key(&mut key(&["id"]))
        .take();
    record_keeping(&mut table).take()
}

fn number_counters(manager: &SchemaManager<'_>) -> TableCreateStatement {
    of_company("number_counters")
        .col(uuid("series_id"))
        .col(bytewise(manager, "period").not_null())
        .col(number("last").not_null())
        .col(bytewise(manager, "last_date").not_null())
        .primary_key(&mut key(&["series_id", "period"]))
        .take()
}

fn fiscal_years(manager: &SchemaManager<'_>) -> TableCreateStatement {
    let mut table = of_company("fiscal_years")
        .col(uuid("id"))
        .col(text("name").not_null())
        .col(bytewise(manager, "name_key").not_null())
        .col(bytewise(manager, "starts").not_null())
        .col(bytewise(manager, "ends").not_null())
        .col(text("status").not_null())
        .col(bytewise(manager, "search").not_null())
        .primary_key(&mut key(&["id"]))
        .take();
    record_keeping(&mut table).take()
}

fn locks(manager: &SchemaManager<'_>) -> TableCreateStatement {
    let mut table = of_company("locks")
        .col(uuid("id"))
        .col(number("sequence").not_null())
        .col(bytewise(manager, "lock_date"))
        .col(bytewise(manager, "sales_lock_date"))
        .col(bytewise(manager, "purchase_lock_date"))
        .col(bytewise(manager, "bank_lock_date"))
        .col(bytewise(manager, "stock_lock_date"))
        .col(bytewise(manager, "journal_lock_date"))
        .col(bytewise(manager, "hard_lock_date"))
        .col(text("reason"))
        .col(text("exceptions").not_null())
        .col(bytewise(manager, "search").not_null())
        .primary_key(&mut key(&["id"]))
        .take();
    record_keeping(&mut table).take()
}

/// No foreign key to the company: the record of its end outlives it.
fn audit_log(manager: &SchemaManager<'_>) -> TableCreateStatement {
    of_company("audit_log")
        .col(uuid("id"))
        .col(number("sequence").not_null())
        .col(number("at").not_null())
        .col(maybe_uuid("user_id"))
        .col(text("address"))
        .col(text("dialect"))
        .col(text("request_id"))
        .col(text("action").not_null())
        .col(text("resource").not_null())
        .col(uuid("resource_id"))
        .col(number("version_from"))
        .col(number("version_to"))
        .col(text("before"))
        .col(text("after"))
        .col(bytewise(manager, "previous_hash").not_null())
        .col(bytewise(manager, "hash").not_null())
        .primary_key(&mut key(&["sequence"]))
        .take()
}

const INDEXES: &[&str] = &[
    "CREATE UNIQUE INDEX accounts_code ON accounts (business_id, code)",
    "CREATE UNIQUE INDEX accounts_external_id ON accounts (business_id, external_id)",
    "CREATE INDEX accounts_by_parent ON accounts (business_id, parent_id)",
    "CREATE UNIQUE INDEX documents_number ON documents (business_id, kind, number)",
    "CREATE UNIQUE INDEX documents_sequence ON documents (business_id, series_id, period, sequence)",
    "CREATE UNIQUE INDEX documents_external_id ON documents (business_id, kind, external_id)",
    "CREATE INDEX documents_by_date ON documents (business_id, kind, date, id)",
    "CREATE INDEX documents_by_update ON documents (business_id, kind, updated_at, id)",
    "CREATE INDEX documents_drafts ON documents (business_id, id) WHERE status = 'draft'",
    "CREATE UNIQUE INDEX entries_id ON entries (business_id, id)",
    "CREATE INDEX entries_by_document ON entries (business_id, document_id)",
    "CREATE INDEX entries_by_date ON entries (business_id, date, number)",
    "CREATE INDEX entry_lines_by_account ON entry_lines (business_id, account_id, date, entry_number)",
    "CREATE INDEX entry_lines_by_party ON entry_lines (business_id, party_id, date) WHERE party_id IS NOT NULL",
    "CREATE INDEX account_days_by_date ON account_days (business_id, date)",
    "CREATE UNIQUE INDEX locks_sequence ON locks (business_id, sequence)",
    "CREATE UNIQUE INDEX audit_log_id ON audit_log (business_id, id)",
    "CREATE INDEX audit_log_by_resource ON audit_log (business_id, resource_id, sequence)",
];

const GUARDS_ON_SQLITE: &[&str] = &[
    "CREATE TRIGGER entries_seal_balanced_lines BEFORE INSERT ON entries WHEN \
       (SELECT COUNT(*) FROM entry_lines WHERE business_id = NEW.business_id AND entry_number = NEW.number) < 2 OR \
       (SELECT SUM(amount) FROM entry_lines WHERE business_id = NEW.business_id AND entry_number = NEW.number) <> 0 \
     BEGIN SELECT RAISE(ABORT, 'the lines of an entry must balance'); END",
    "CREATE TRIGGER entry_lines_come_before_their_seal BEFORE INSERT ON entry_lines WHEN EXISTS \
       (SELECT 1 FROM entries WHERE business_id = NEW.business_id AND number = NEW.entry_number) \
     BEGIN SELECT RAISE(ABORT, 'an entry takes no more lines'); END",
    "CREATE TRIGGER entries_are_not_updated BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END",
    "CREATE TRIGGER entries_are_not_deleted BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END",
    "CREATE TRIGGER entry_lines_are_not_updated BEFORE UPDATE ON entry_lines BEGIN SELECT RAISE(ABORT, 'entry_lines is append-only'); END",
    "CREATE TRIGGER entry_lines_are_not_deleted BEFORE DELETE ON entry_lines BEGIN SELECT RAISE(ABORT, 'entry_lines is append-only'); END",
    "CREATE TRIGGER audit_log_is_not_updated BEFORE UPDATE ON audit_log BEGIN SELECT RAISE(ABORT, 'audit_log is append-only'); END",
    "CREATE TRIGGER audit_log_is_not_deleted BEFORE DELETE ON audit_log BEGIN SELECT RAISE(ABORT, 'audit_log is append-only'); END",
];

/// Judged once a statement, not once a row: a batch seals many entries with one INSERT. The plan is kept while the
/// tables grow, so it must not be the one that suits small tables.
const GUARDS_ON_POSTGRES: &[&str] = &[
    "CREATE FUNCTION refuse_unbalanced_entries() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$ BEGIN \
       IF EXISTS (SELECT 1 FROM sealed CROSS JOIN LATERAL \
           (SELECT COUNT(*) AS lines, SUM(amount) AS total FROM entry_lines \
            WHERE business_id = sealed.business_id AND entry_number = sealed.number) AS held \
           WHERE held.lines < 2 OR held.total <> 0) \
       THEN RAISE EXCEPTION 'the lines of an entry must balance'; END IF; RETURN NULL; END $$",
    "CREATE TRIGGER entries_seal_balanced_lines AFTER INSERT ON entries REFERENCING NEW TABLE AS sealed \
       FOR EACH STATEMENT EXECUTE FUNCTION refuse_unbalanced_entries()",
    "CREATE FUNCTION refuse_late_lines() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$ BEGIN \
       IF EXISTS (SELECT 1 FROM (SELECT DISTINCT business_id, entry_number FROM added) AS late WHERE EXISTS \
           (SELECT 1 FROM entries WHERE business_id = late.business_id AND number = late.entry_number)) \
       THEN RAISE EXCEPTION 'an entry takes no more lines'; END IF; RETURN NULL; END $$",
    "CREATE TRIGGER entry_lines_come_before_their_seal AFTER INSERT ON entry_lines REFERENCING NEW TABLE AS added \
       FOR EACH STATEMENT EXECUTE FUNCTION refuse_late_lines()",
    "CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
       RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$",
    "CREATE TRIGGER entries_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON entries \
       FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()",
    "CREATE TRIGGER entry_lines_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON entry_lines \
       FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()",
    "CREATE TRIGGER audit_log_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log \
       FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()",
];
