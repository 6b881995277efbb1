//! A counter that every change of users, memberships and companies raises, so that what is remembered of them
//! can be forgotten in time.

use super::columns::number;
use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend};

#[derive(DeriveMigrationName)]
pub struct Migration;

const WATCHED: [&str; 3] = ["users", "memberships", "businesses"];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let table = Table::create()
            .table("access_changes")
            .col(number("id").not_null().primary_key())
            .col(number("count").not_null())
            .take();
        manager.create_table(table).await?;
        let connection = manager.get_connection();
        connection.execute_unprepared("INSERT INTO access_changes (id, count) VALUES (1, 1)").await?;
        let on_postgres = manager.get_database_backend() == DbBackend::Postgres;
        if on_postgres {
            let count = "CREATE FUNCTION count_access_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
                         UPDATE access_changes SET count = count + 1 WHERE id = 1; RETURN NULL; END $$";
            connection.execute_unprepared(count).await?;
        }
        for table in WATCHED {
            for event in ["INSERT", "UPDATE", "DELETE"] {
                let name = format!("{table}_count_{}", event.to_lowercase());
                let what = if on_postgres {
                    "FOR EACH STATEMENT EXECUTE FUNCTION count_access_change()"
                } else {
                    "BEGIN UPDATE access_changes SET count = count + 1 WHERE id = 1; END"
                };
                let trigger = format!("CREATE TRIGGER {name} AFTER {event} ON {table} {what}");
                connection.execute_unprepared(&trigger).await?;
            }
        }
        Ok(())
    }
}
