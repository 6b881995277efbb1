//! Sessions, the places that somebody signs in from, recovery codes, and what ends keys.
//!
//! A token is good as long as its session is. Nothing that was typed as a name is kept any more: what was counted until now
//! is forgotten with it.

use super::columns::{self, bytewise, number, text, uuid};
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
        for table in [sessions(), places(manager), recovery_codes(manager)] {
            manager.create_table(table).await?;
        }
        for (name, column) in [("sessions_by_user", "user_id"), ("sessions_by_end", "ends_at")] {
            manager.create_index(Index::create().name(name).table("sessions").col(column).take()).await?;
        }
        for (table, column) in [("sign_ins", text("totp_hidden")), ("api_keys", number("ended_at"))] {
            columns::add(manager, table, column).await?;
        }
        let connection = manager.get_connection();
        connection.execute_unprepared("DELETE FROM login_failures").await?;
        let what = match manager.get_database_backend() {
            DbBackend::Postgres => "FOR EACH STATEMENT EXECUTE FUNCTION count_access_change()",
            _ => "BEGIN UPDATE access_changes SET count = count + 1 WHERE id = 1; END",
        };
        // Whoever signs in makes nobody look again; whoever is signed out does.
        for (name, table) in [("sessions_count_end", "sessions"), ("api_keys_count_end", "api_keys")] {
            let trigger = format!("CREATE TRIGGER {name} AFTER UPDATE OF ended_at ON {table} {what}");
            connection.execute_unprepared(&trigger).await?;
        }
        Ok(())
    }
}

fn sessions() -> TableCreateStatement {
    Table::create()
        .table("sessions")
        .col(uuid("id").primary_key())
        .col(uuid("user_id"))
        .col(number("made_at").not_null())
        .col(number("seen_at").not_null())
        .col(number("ends_at").not_null())
        .col(number("ended_at"))
        .col(text("address"))
        .col(text("agent"))
        .take()
}

fn places(manager: &SchemaManager<'_>) -> TableCreateStatement {
    Table::create()
        .table("sign_in_places")
        .col(uuid("user_id"))
        .col(bytewise(manager, "place").not_null())
        .col(number("last_at").not_null())
        .primary_key(Index::create().col("user_id").col("place"))
        .take()
}

fn recovery_codes(manager: &SchemaManager<'_>) -> TableCreateStatement {
    Table::create()
        .table("recovery_codes")
        .col(uuid("user_id"))
        .col(bytewise(manager, "digest").not_null())
        .primary_key(Index::create().col("user_id").col("digest"))
        .take()
}
