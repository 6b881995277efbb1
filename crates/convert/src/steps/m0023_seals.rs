//! Seals: what every row is known by to have been written by the server, and the signatures on where books stand.

use super::columns::{self, bytewise, flag, maybe_uuid, text};
use super::sealed::Key::{Plain, Uuid};
use super::sealed::{Key, Sealed, seal};
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
        let touched = Table::create()
            .table("touched")
            .col(text("relation").not_null())
            .col(maybe_uuid("business_id"))
            .col(bytewise(manager, "key").not_null())
            .col(text("old").not_null())
            .col(bytewise(manager, "batch").not_null())
            .take();
        manager.create_table(touched).await?;
        // Nearly always empty: what a batch has put in, it takes out before it commits.
        manager.get_connection().execute_unprepared("CREATE INDEX touched_by_batch ON touched (batch)").await?;
        for table in ["books", "installation"] {
            for column in ["sums", "signature"] {
                let column = ColumnDef::new(Alias::new(column)).text().not_null().default("").take();
                columns::add(manager, table, column).await?;
            }
        }
        let keyed = flag("keyed").not_null().default(false).take();
        columns::add(manager, "audit_log", keyed).await?;
        seal(manager, TABLES).await?;
        if manager.get_database_backend() == DbBackend::Postgres {
            // Rows that come and go in each batch leave nothing worth keeping statistics of.
            manager
                .get_connection()
                .execute_unprepared(
                    "ALTER TABLE touched SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)",
                )
                .await?;
        }
        Ok(())
    }
}

const ID: &[Key] = &[Uuid("id")];

const fn of(table: &'static str, key: &'static [Key]) -> Sealed {
    Sealed { table, company: Some("business_id"), key, only: &[], grows_only: false }
}

const fn grows(table: &'static str, key: &'static [Key]) -> Sealed {
    Sealed { table, company: Some("business_id"), key, only: &[], grows_only: true }
}

/// What is open of an item, and what a movement cost after all, follow from their histories.
const OPEN_ITEMS: &[&str] = &[
    "business_id",
    "id",
    "document_id",
    "kind",
    "party_id",
    "account_id",
    "currency",
    "date",
    "due_date",
    "amount",
    "base",
];
const STOCK_LINES: &[&str] = &[
    "business_id",
    "item_id",
    "date",
    "sequence",
    "document_id",
    "line_no",
    "line_id",
    "kind",
    "quantity",
    "booked",
    "returns_line_id",
    "inventory_account_id",
    "cost_account_id",
    "asked_cost",
];
/// When one was last seen is noted now and then, and is nobody's right.
const SESSIONS: &[&str] = &["id", "user_id", "made_at", "ends_at", "ended_at", "address", "agent"];

pub(crate) const TABLES: &[Sealed] = &[
    Sealed { table: "users", company: None, key: ID, only: &[], grows_only: false },
    Sealed { table: "sign_ins", company: None, key: &[Uuid("user_id")], only: &[], grows_only: false },
    Sealed { table: "invitations", company: None, key: &[Uuid("user_id")], only: &[], grows_only: false },
    Sealed { table: "sessions", company: None, key: ID, only: SESSIONS, grows_only: false },
    Sealed {
        table: "recovery_codes",
        company: None,
        key: &[Uuid("user_id"), Plain("digest")],
        only: &[],
        grows_only: false,
    },
    Sealed { table: "businesses", company: Some("id"), key: &[], only: &[], grows_only: false },
    of("memberships", &[Uuid("user_id")]),
    of("permission_sets", ID),
    of("api_keys", ID),
    of("parties", ID),
    of("accounts", ID),
    of("items", ID),
    of("tax_codes", ID),
    of("payment_terms", ID),
    of("number_series", ID),
    of("number_counters", &[Uuid("series_id"), Plain("period")]),
    of("fiscal_years", ID),
    of("locks", ID),
    of("exchange_rates", ID),
    of("documents", ID),
    grows("entries", &[Plain("number")]),
    of("document_lines", &[Uuid("document_id"), Plain("line_no")]),
    Sealed { only: OPEN_ITEMS, ..of("open_items", ID) },
    grows("open_item_moves", ID),
    of("allocations", ID),
    of("stock", &[Uuid("item_id")]),
    Sealed { only: STOCK_LINES, ..of("stock_lines", &[Uuid("item_id"), Plain("date"), Plain("sequence")]) },
    grows("stock_moves", ID),
    of("progress", &[Uuid("line_id")]),
    grows("progress_moves", ID),
    of("document_links", &[Uuid("document_id"), Uuid("source_document_id")]),
];
