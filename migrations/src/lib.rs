//! The schema, once, for SQLite and PostgreSQL.
//!
//! Owns: tables, constraints and their names. Refuses: to know the entities that read them, so that an
//! old migration never changes its meaning when an entity does.
//!
//! Plain SQL that a distributed PostgreSQL takes too: no sequences, no engine types, `business_id` leads
//! every key of a company's table. Amounts are scaled integers, instants are microseconds since 1970 (UTC).

pub use noting::DUE;
pub use running::{Left, Sign, left, run};
use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, Statement};

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
mod m0011_orders_and_goods;
mod m0012_people;
mod m0013_dialect_usage;
mod m0014_installation;
mod m0017_invitations;
mod m0019_sign_in;
mod m0021_running_time;
mod m0023_seals;
mod m0024_no_replacing;
mod m0025_client_requests;
mod m0027_what_rows_were;
mod m0028_keepers;
mod m0029_tax_facts;
mod m0031_stock_facts;
mod m0032_stock_snapshots;
mod m0033_years;
mod m0034_merged_parties;
mod m0042_packed;
mod m0045_access_counted_last;
mod noting;
mod running;
pub mod schema;
mod sealed;

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
            Box::new(m0011_orders_and_goods::Migration),
            Box::new(m0012_people::Migration),
            Box::new(m0013_dialect_usage::Migration),
            Box::new(m0014_installation::Migration),
            Box::new(m0017_invitations::Migration),
            Box::new(m0019_sign_in::Migration),
            Box::new(m0021_running_time::Migration),
            Box::new(m0023_seals::Migration),
            Box::new(m0024_no_replacing::Migration),
            Box::new(m0025_client_requests::Migration),
            Box::new(m0027_what_rows_were::Migration),
            Box::new(m0028_keepers::Migration),
            Box::new(m0029_tax_facts::Migration),
            Box::new(m0031_stock_facts::Migration),
            Box::new(m0032_stock_snapshots::Migration),
            Box::new(m0033_years::Migration),
            Box::new(m0034_merged_parties::Migration),
            Box::new(m0042_packed::Migration),
            Box::new(m0045_access_counted_last::Migration),
        ]
    }
}

/// A number of our own that no other program locks in the same database.
const MIGRATION_LOCK: &str = "SELECT pg_advisory_xact_lock(7302101117)";

/// Whoever waits for the lock, or holds it while a large table is changed, is not in a hurry.
const WITHOUT_HURRY: &str =
    "SET lock_timeout = 0; SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0";

/// Brings the schema up to date, and signs what is noted of that. On PostgreSQL whoever does so holds the lock, on SQLite
/// the file of it. How many notes were there that nobody of us made is answered.
pub async fn up(database: &DatabaseConnection, sign: Sign<'_>) -> Result<i64, DbErr> {
    // Asked first, for its words about a database from the future.
    if pending(database).await? == 0 {
        return Ok(0);
    }
    let strange = running::all(database, sign).await?;
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
    let ask = |sql: &str| Statement::from_string(database.get_database_backend(), sql);
    let mut lacking: Vec<String> = Migrator::migrations().iter().map(|migration| migration.name().to_owned()).collect();
    if !has_table(database, "seaql_migrations").await? {
        return Ok(lacking.len());
    }
    let mut strange = Vec::new();
    for row in database.query_all_raw(ask("SELECT version FROM seaql_migrations ORDER BY version")).await? {
        let version: String = row.try_get("", "version")?;
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
    let strange = strange.join(", ");
    Err(DbErr::Custom(format!(
        "the database was made by a newer duet, which it needs: this one does not know {strange}"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A company, its accounts, a party; a journal of 30.00 that was changed to 20.00.
    const OLD_BOOKS: &[&str] = &[
        "INSERT INTO businesses (id, name, name_key, base_currency, timezone, fiscal_year_start_month, \
         fiscal_year_start_day, settings, status, tags, search, version, created_at, created_by, updated_at, updated_by) \
         VALUES (X'01', 'B', 'b', 'EUR', 'UTC', 1, 1, '{}', 'active', '[]', 'b', 1, 0, X'09', 0, X'09')",
        "INSERT INTO number_series (business_id, id, type, name, name_key, pattern, first_number, reset_on, allow_manual, \
         chronological, is_default, status, search, version, created_at, created_by, updated_at, updated_by) VALUES \
         (X'01', X'08', 'journal', 'J', 'j', 'J{000}', 1, 'never', 0, 'off', 1, 'active', 'j', 1, 0, X'09', 0, X'09')",
        "INSERT INTO accounts (business_id, id, code, name, name_key, type, class, is_group, allow_manual_posting, status, \
         tags, search, version, created_at, created_by, updated_at, updated_by) VALUES \
         (X'01', X'02', '1200', 'R', 'r', 'receivable', 'asset', 0, 1, 'active', '[]', 'r', 1, 0, X'09', 0, X'09'), \
         (X'01', X'03', '4000', 'I', 'i', 'income', 'income', 0, 1, 'active', '[]', 'i', 1, 0, X'09', 0, X'09'), \
         (X'01', X'05', '1350', 'Goods delivered, not invoiced', 'g', 'currentAsset', 'asset', 0, 1, 'active', '[]', 'g', \
          1, 0, X'09', 0, X'09'), \
         (X'01', X'06', '2150', 'Renamed', 'r', 'currentLiability', 'liability', 0, 1, 'active', '[]', 'r', \
          1, 0, X'09', 0, X'09')",
        "INSERT INTO parties (business_id, id, name, name_key, is_customer, is_supplier, kind, contacts, status, blocked, \
         tags, search, version, created_at, created_by, updated_at, updated_by) VALUES \
         (X'01', X'04', 'P', 'p', 1, 0, 'company', '[]', 'active', 'none', '[]', 'p', 1, 0, X'09', 0, X'09')",
    ];

    async fn number(database: &DatabaseConnection, sql: &str) -> i64 {
        let asked = Statement::from_string(DbBackend::Sqlite, sql);
        database.query_one_raw(asked).await.unwrap().unwrap().try_get_by_index(0).unwrap()
    }

    /// A column that comes and is filled in one run: whoever was sealed is sealed again afterwards.
    #[tokio::test]
    async fn what_fills_a_new_column_is_noted() {
        let path = std::env::temp_dir().join(format!("duet-new-column-{}.db", std::process::id()));
        let patience = std::time::Duration::ZERO;
        let access = sqlite_kit::Access::Create;
        let opening = sqlite_kit::Opening { path: path.clone(), access, cache_kib: 1_024, statements: 16, patience };
        let (database, failure) = sqlite_kit::proxied(&opening).await.unwrap();
        Migrator::up(&database, Some(8)).await.unwrap();
        for statement in OLD_BOOKS {
            database.execute_unprepared(statement).await.unwrap();
        }
        let before = Migrator::migrations().iter().position(|one| one.name().contains("keepers")).unwrap();
        Migrator::up(&database, (before - 8).try_into().ok()).await.unwrap();
        noting::make(&database).await.unwrap();
        database.execute_unprepared("UPDATE accounts SET seal = 'sealed'; DELETE FROM touched").await.unwrap();
        Migrator::up(&database, Some(1)).await.unwrap();
        let kept = number(&database, "SELECT COUNT(*) FROM accounts WHERE keeper <> 'none'").await;
        let noted = "SELECT COUNT(DISTINCT key) FROM touched WHERE relation = 'accounts'";
        assert!(kept > 0 && number(&database, noted).await >= kept, "{kept} accounts are to be sealed again");
        failure.told().unwrap();
        for suffix in ["", "-wal", "-shm"] {
            std::fs::remove_file(sqlite_kit::beside(&path, suffix)).unwrap();
        }
    }

    #[tokio::test]
    async fn old_books_get_what_came_later() {
        let path = std::env::temp_dir().join(format!("duet-old-books-{}.db", std::process::id()));
        let patience = std::time::Duration::ZERO;
        let access = sqlite_kit::Access::Create;
        let opening = sqlite_kit::Opening { path: path.clone(), access, cache_kib: 1_024, statements: 16, patience };
        let (database, failure) = sqlite_kit::proxied(&opening).await.unwrap();
        Migrator::up(&database, Some(8)).await.unwrap();
        for statement in OLD_BOOKS {
            database.execute_unprepared(statement).await.unwrap();
        }
        for (entry, cents) in [(1, 300_000), (2, -300_000), (3, 200_000)] {
            for (position, account, party, amount) in [(1, "X'02'", "X'04'", cents), (2, "X'03'", "NULL", -cents)] {
                let line = format!(
                    "INSERT INTO entry_lines (business_id, entry_number, position, account_id, party_id, date, amount, \
                     currency, currency_amount) VALUES (X'01', {entry}, {position}, {account}, {party}, '2026-01-05', \
                     {amount}, 'EUR', {amount})"
                );
                database.execute_unprepared(&line).await.unwrap();
            }
            let seal = format!(
                "INSERT INTO entries (business_id, id, number, date, recorded_at, recorded_by, kind, document_kind, \
                 document_id, document_version, total, search) VALUES (X'01', X'1{entry}', {entry}, '2026-01-05', {entry}, \
                 X'09', 'normal', 'journal', X'07', 1, 0, '')"
            );
            database.execute_unprepared(&seal).await.unwrap();
        }
        for statement in [
            "INSERT INTO accounts (business_id, id, code, name, name_key, type, class, is_group, allow_manual_posting, \
             status, tags, search, version, created_at, created_by, updated_at, updated_by) VALUES \
             (X'01', X'019A0000000000000000000000000A11', '2160', 'Goods', 'g', 'currentLiability', 'liability', 0, 1, \
              'active', '[]', 'g', 1, 0, X'09', 0, X'09')",
            "UPDATE businesses SET system_accounts = \
             '{\"goodsReceivedNotInvoiced\":\"019a0000-0000-0000-0000-000000000a11\"}'",
        ] {
            database.execute_unprepared(statement).await.unwrap();
        }
        Migrator::up(&database, None).await.unwrap();
        assert_eq!(number(&database, "SELECT COUNT(*) FROM open_items").await, 1);
        let keepers = |keeper, code| {
            format!(
                "SELECT COUNT(*) FROM accounts WHERE keeper = '{keeper}' AND code = '{code}' AND NOT allow_manual_posting"
            )
        };
        assert_eq!(number(&database, &keepers("accruals", "2160")).await, 1);
        assert_eq!(
            number(&database, "SELECT COUNT(*) FROM accounts WHERE keeper = 'openItems' AND code = '1200'").await,
            1
        );
        assert_eq!(number(&database, "SELECT COUNT(*) FROM accounts WHERE keeper = 'none' AND code = '4000'").await, 1);
        assert_eq!(number(&database, "SELECT base_open FROM open_items").await, 200_000);
        assert_eq!(number(&database, "SELECT SUM(base) FROM open_item_moves").await, 200_000);
        assert_eq!(number(&database, "SELECT COUNT(*) FROM open_item_moves").await, 3);
        assert_eq!(number(&database, "SELECT COUNT(*) FROM number_series").await, 13);
        // Goods wait on an account that nobody posts to by hand; one that was made somebody's own stays so.
        let by_hand = "SELECT COUNT(*) FROM accounts WHERE allow_manual_posting AND code IN ('1350', '2150')";
        assert_eq!(number(&database, by_hand).await, 1);
        failure.told().unwrap();
        for suffix in ["", "-wal", "-shm"] {
            std::fs::remove_file(sqlite_kit::beside(&path, suffix)).unwrap();
        }
    }
}
