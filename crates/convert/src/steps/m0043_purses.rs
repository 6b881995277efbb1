//! What money in other currencies is carried at follows from all that moved it. What was posted before there was such a rule
//! stays at what it said, up to the last entry of then.

use super::columns::{add, number};
use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::ConnectionTrait;

#[derive(DeriveMigrationName)]
pub struct Migration;

const OF_BEFORE: &str = "UPDATE accounts SET as_said_until = \
     (SELECT MAX(e.number) FROM entries e WHERE e.business_id = accounts.business_id) \
     WHERE type IN ('bank', 'cash', 'creditCard') AND EXISTS (SELECT 1 FROM entry_lines l \
       JOIN businesses b ON b.id = l.business_id WHERE l.business_id = accounts.business_id \
       AND l.account_id = accounts.id AND l.currency <> b.base_currency)";

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        add(manager, "accounts", number("as_said_until").not_null().default(0).take()).await?;
        manager.get_connection().execute_unprepared(OF_BEFORE).await.map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{in_memory, up};
    use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend, Statement};

    /// Euro and dollars on two accounts of a bank.
    const OLD_BOOKS: &[&str] = &[
        "INSERT INTO businesses (id, name, name_key, base_currency, timezone, fiscal_year_start_month, \
         fiscal_year_start_day, settings, status, tags, search, version, created_at, created_by, updated_at, updated_by) \
         VALUES (X'01', 'B', 'b', 'EUR', 'UTC', 1, 1, '{}', 'active', '[]', 'b', 1, 0, X'09', 0, X'09')",
        "INSERT INTO accounts (business_id, id, code, name, name_key, type, class, is_group, allow_manual_posting, status, \
         tags, search, version, created_at, created_by, updated_at, updated_by) VALUES \
         (X'01', X'02', '1010', 'E', 'e', 'bank', 'asset', 0, 1, 'active', '[]', 'e', 1, 0, X'09', 0, X'09'), \
         (X'01', X'03', '1020', 'D', 'd', 'bank', 'asset', 0, 1, 'active', '[]', 'd', 1, 0, X'09', 0, X'09')",
        "INSERT INTO entry_lines (business_id, entry_number, position, account_id, date, amount, currency, currency_amount) \
         VALUES (X'01', 7, 1, X'03', '2026-01-05', 9000000, 'USD', 10000000), \
         (X'01', 7, 2, X'02', '2026-01-05', -9000000, 'EUR', -9000000)",
        "INSERT INTO entries (business_id, id, number, date, recorded_at, recorded_by, kind, document_kind, document_id, \
         document_version, total, search) VALUES (X'01', X'11', 7, '2026-01-05', 7, X'09', 'normal', 'journal', X'07', 1, 0, '')",
    ];

    #[tokio::test]
    async fn what_was_posted_before_the_rule_stays_at_what_it_said() {
        let (database, failure) = in_memory().await;
        up(&database, 0..8).await;
        for statement in OLD_BOOKS {
            database.execute_unprepared(statement).await.unwrap();
        }
        up(&database, 8..super::super::all().len()).await;
        let ask = "SELECT code, as_said_until FROM accounts WHERE code IN ('1010', '1020') ORDER BY code";
        let rows = database.query_all_raw(Statement::from_string(DbBackend::Sqlite, ask)).await.unwrap();
        let last: Vec<i64> = rows.iter().map(|row| row.try_get("", "as_said_until").unwrap()).collect();
        assert_eq!(last, [0, 7]);
        failure.told().unwrap();
    }
}
