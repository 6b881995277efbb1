//! The schema, once, for SQLite and PostgreSQL.
//!
//! Owns: tables, constraints and their names. Refuses: to know the entities that read them, so that an
//! old migration never changes its meaning when an entity does.
//!
//! There is one first schema. What comes later is a migration of its own, with the numbers after it; what was before is no
//! migration, and comes over by `duet convert`.

pub use noting::DUE;
pub use running::{Left, Sign, left, run};
use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, Statement, TransactionTrait};

pub mod distributing;
pub mod m0001_first;
pub mod m0002_days_of_entries;
pub mod m0003_one_index_of_days;
pub mod noting;
mod running;
pub mod schema;
mod statistics;
pub mod table;
#[cfg(test)]
mod tests;

pub use m0001_first as first;

pub struct Migrator;

#[async_trait::async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Box::new(first::Migration),
            Box::new(m0002_days_of_entries::Migration),
            Box::new(m0003_one_index_of_days::Migration),
        ]
    }
}

/// Changes what the first schema made as all that came after it does, each step as a whole. Nothing is noted of it.
pub async fn change(database: &DatabaseConnection) -> Result<(), DbErr> {
    for migration in Migrator::migrations().into_iter().skip(1) {
        let transaction = database.begin().await?;
        migration.up(&SchemaManager::new(&transaction)).await?;
        transaction.commit().await?;
    }
    Ok(())
}

/// The migrations that this program knows, in their order.
pub fn known() -> Vec<String> {
    Migrator::migrations().iter().map(|migration| migration.name().to_owned()).collect()
}

/// A number of our own that no other program locks in the same database.
const MIGRATION_LOCK: &str = "SELECT pg_advisory_xact_lock(7302101117)";

/// Whoever waits for the lock, or holds it while a large table is changed, is not in a hurry.
const WITHOUT_HURRY: &str =
    "SET lock_timeout = 0; SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0";

/// Tells the planner of SQLite of what rows were put into without it.
pub async fn tell_the_planner(database: &DatabaseConnection) -> Result<(), DbErr> {
    statistics::make(database).await
}

/// Brings the schema up to date, and signs what is noted of that. On PostgreSQL whoever does so holds the lock, on SQLite
/// the file of it. How many notes were there that nobody of us made is answered.
pub async fn up(database: &DatabaseConnection, sign: Sign<'_>) -> Result<i64, DbErr> {
    // Asked first, for its words about a database from the future.
    if pending(database).await? == 0 {
        return Ok(0);
    }
    let strange = running::all(database, sign).await?;
    // Before the triggers, which are what a process that ended in between is known by.
    statistics::make(database).await?;
    noting::make(database).await?;
    Ok(strange)
}

/// Two processes may start on one empty PostgreSQL: the second waits here until the transaction of the first has ended.
pub async fn take_lock(transaction: &impl ConnectionTrait) -> Result<(), DbErr> {
    without_hurry(transaction).await?;
    transaction.execute_unprepared(MIGRATION_LOCK).await.map(|_| ())
}

/// Takes every limit of time from a connection to PostgreSQL.
pub async fn without_hurry(connection: &impl ConnectionTrait) -> Result<(), DbErr> {
    connection.execute_unprepared(WITHOUT_HURRY).await.map(|_| ())
}

/// So often a change is tried that wants a table for itself, and so long one waits for those who use it: who comes meanwhile
/// waits behind it, so it steps aside again.
pub(crate) const TRIED: usize = 300;
pub(crate) const FOR_OTHERS: &str = "SET LOCAL lock_timeout = '1s'";
pub(crate) const BETWEEN: &str = "SELECT pg_sleep(1)";

/// Whether somebody was waited for too long, by the server's own word, which is the same in every language.
pub(crate) fn is_in_use(error: &DbErr) -> bool {
    error.to_string().contains("55P03")
}

/// Changes within a transaction what others may be using: they are waited for, and hold up nobody who comes after them.
pub(crate) async fn patiently(transaction: &impl ConnectionTrait, change: &str) -> Result<(), DbErr> {
    if transaction.get_database_backend() != DbBackend::Postgres {
        return transaction.execute_unprepared(change).await.map(drop);
    }
    let mut tried = 0;
    loop {
        transaction.execute_unprepared("SAVEPOINT patiently").await?;
        transaction.execute_unprepared(FOR_OTHERS).await?;
        match transaction.execute_unprepared(change).await {
            Ok(_) => return transaction.execute_unprepared("SET LOCAL lock_timeout = 0").await.map(drop),
            Err(error) if tried < TRIED && is_in_use(&error) => {
                tried += 1;
                transaction.execute_unprepared("ROLLBACK TO SAVEPOINT patiently").await?;
                transaction.execute_unprepared(BETWEEN).await?;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Whether there is such a table.
pub async fn has_table(database: &impl ConnectionTrait, table: &str) -> Result<bool, DbErr> {
    let there = match database.get_database_backend() {
        DbBackend::Postgres => format!(
            "SELECT COUNT(*) AS tables FROM information_schema.tables \
             WHERE table_schema = current_schema() AND table_name = '{table}'"
        ),
        _ => format!("SELECT COUNT(*) AS tables FROM sqlite_master WHERE type = 'table' AND name = '{table}'"),
    };
    let row = database.query_one_raw(Statement::from_string(database.get_database_backend(), there)).await?;
    Ok(row.map(|row| row.try_get::<i64>("", "tables")).transpose()?.is_some_and(|tables| tables > 0))
}

/// How many migrations the database still lacks. It only looks.
pub async fn pending(database: &impl ConnectionTrait) -> Result<usize, DbErr> {
    let mut lacking = known();
    let mut strange = Vec::new();
    for version in versions(database).await? {
        match lacking.iter().position(|name| *name == version) {
            Some(place) => drop(lacking.remove(place)),
            None => strange.push(version),
        }
    }
    if strange.is_empty() {
        // The triggers of what was changed come last; a process may have ended before it made them.
        let due = has_table(database, "touched").await? && noting::are_due(database).await?;
        return Ok(lacking.len() + usize::from(due && lacking.is_empty()));
    }
    Err(DbErr::Custom(refusal(&strange)))
}

/// What the first migration of the books of before is called.
pub const OLDER: &str = "m0001_identity";

/// What stands among the migrations of a database while books are brought over into it, and until all of them are.
pub const UNFINISHED: &str = "m0000_unfinished_conversion";

/// Why a database is not served that says it was made by these migrations, which this program does not know.
fn refusal(strange: &[String]) -> String {
    let is = |name: &str| strange.iter().any(|one| one == name);
    if is(UNFINISHED) {
        return "the books are being brought over into this database, or that was interrupted: it is not served before \
                duet convert has finished; run it again"
            .into();
    }
    if is(OLDER) {
        return "the books are of a duet before this one, and come over into a new database: \
                duet convert OLD NEW, with the addresses of both"
            .into();
    }
    let strange = strange.join(", ");
    format!("the database was made by a newer duet, which it needs: this one does not know {strange}")
}

/// Whether books are being brought over into a database, and not all of them are there.
pub async fn is_unfinished(connection: &impl ConnectionTrait) -> Result<bool, DbErr> {
    Ok(versions(connection).await?.iter().any(|version| version == UNFINISHED))
}

/// The migrations that ran on a database, in the order of their names; none where there is nothing yet.
pub async fn versions(connection: &impl ConnectionTrait) -> Result<Vec<String>, DbErr> {
    if !has_table(connection, "seaql_migrations").await? {
        return Ok(Vec::new());
    }
    let asked = "SELECT version FROM seaql_migrations ORDER BY version";
    let asked = Statement::from_string(connection.get_database_backend(), asked);
    connection.query_all_raw(asked).await?.iter().map(|row| row.try_get("", "version")).collect()
}
