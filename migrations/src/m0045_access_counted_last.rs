//! On PostgreSQL, changes of who may do what are counted at the end of their transaction.
//!
//! All of them count on one row. Whoever held it while they waited for books, and whoever held books while they waited
//! for it, stood in each other's way until the engine ended one of them. It is the last row that a transaction takes now,
//! and nobody waits for anything while they hold it. What reads the count within the transaction is told by a setting of
//! that transaction that it has changed.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend};

#[derive(DeriveMigrationName)]
pub struct Migration;

/// What is watched: the table, the name of the watch, and when.
const WATCHES: [(&str, &str, &str); 17] = [
    ("users", "insert", "INSERT"),
    ("users", "update", "UPDATE"),
    ("users", "delete", "DELETE"),
    ("memberships", "insert", "INSERT"),
    ("memberships", "update", "UPDATE"),
    ("memberships", "delete", "DELETE"),
    ("businesses", "insert", "INSERT"),
    ("businesses", "update", "UPDATE"),
    ("businesses", "delete", "DELETE"),
    ("permission_sets", "insert", "INSERT"),
    ("permission_sets", "update", "UPDATE"),
    ("permission_sets", "delete", "DELETE"),
    ("api_keys", "insert", "INSERT"),
    ("api_keys", "delete", "DELETE"),
    ("api_keys", "end", "UPDATE OF ended_at"),
    ("sessions", "end", "UPDATE OF ended_at"),
    ("parties", "merge", "UPDATE OF merged_into_id, merged_at"),
];

const NOTE: &str = "CREATE FUNCTION note_access_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
     PERFORM set_config('duet.access_changes', 'changed', true); RETURN NULL; END $$";

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        if manager.get_database_backend() != DbBackend::Postgres {
            return Ok(());
        }
        let connection = manager.get_connection();
        connection.execute_unprepared(NOTE).await?;
        for (table, name, event) in WATCHES {
            let steps = format!(
                "DROP TRIGGER {table}_count_{name} ON {table}; \
                 CREATE TRIGGER {table}_note_{name} AFTER {event} ON {table} \
                 FOR EACH STATEMENT EXECUTE FUNCTION note_access_change(); \
                 CREATE CONSTRAINT TRIGGER {table}_count_{name} AFTER {event} ON {table} \
                 DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_access_change()"
            );
            connection.execute_unprepared(&steps).await?;
        }
        Ok(())
    }
}
