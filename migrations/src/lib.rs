//! The schema, once, for SQLite and PostgreSQL.
//!
//! Owns: tables, constraints and their names. Refuses: to know the entities that read them, so that an
//! old migration never changes its meaning when an entity does.
//!
//! Plain SQL that a distributed PostgreSQL takes too: no sequences, no engine types, `business_id` leads
//! every key of a company's table. Amounts are scaled integers, instants are microseconds since 1970 (UTC).

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{DatabaseConnection, DbBackend, TransactionTrait};

mod columns;
mod m0001_identity;
mod m0002_businesses;
mod m0003_parties;
mod m0004_idempotency;
mod m0005_ledger;
mod m0006_access_changes;
mod m0007_exchange_rates;
mod m0008_kept_answers;
mod m0009_trade;
mod m0010_document_counts;

pub struct Migrator;

#[async_trait::async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Box::new(m0001_identity::Migration),
            Box::new(m0002_businesses::Migration),
            Box::new(m0003_parties::Migration),
            Box::new(m0004_idempotency::Migration),
            Box::new(m0005_ledger::Migration),
            Box::new(m0006_access_changes::Migration),
            Box::new(m0007_exchange_rates::Migration),
            Box::new(m0008_kept_answers::Migration),
            Box::new(m0009_trade::Migration),
            Box::new(m0010_document_counts::Migration),
        ]
    }
}

/// A number of our own that no other program locks in the same database.
const MIGRATION_LOCK: &str = "SELECT pg_advisory_xact_lock(7302101117)";

/// Whoever waits for the lock, or holds it while a large table is changed, is not in a hurry.
const WITHOUT_HURRY: &str = "SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0; \
                             SET LOCAL idle_in_transaction_session_timeout = 0";

/// Brings the schema up to date. Two processes may start on one empty PostgreSQL: the second waits.
pub async fn up(database: &DatabaseConnection) -> Result<(), DbErr> {
    if database.get_database_backend() != DbBackend::Postgres {
        return Migrator::up(database, None).await;
    }
    // The lock lives in a transaction of its own connection, so it is freed even when the process dies.
    let lock = database.begin().await?;
    lock.execute_unprepared(WITHOUT_HURRY).await?;
    lock.execute_unprepared(MIGRATION_LOCK).await?;
    let done = Migrator::up(database, None).await;
    lock.commit().await?;
    done
}

/// How many migrations the database still lacks.
pub async fn pending(database: &DatabaseConnection) -> Result<usize, DbErr> {
    Ok(Migrator::get_pending_migrations(database).await?.len())
}
