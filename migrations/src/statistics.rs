//! What the planner of SQLite is told of the tables: the shape of large books, whatever is in them today.
//!
//! SQLite guesses that a company has ten rows, and chooses ways through its tables by that: a report that leaves out the
//! two entries between two years read a whole ledger to find them. Statistics of what is there (ANALYZE) would mend that
//! once somebody gathered them, and would change the ways of a server from one day to the next. These are the same for all
//! books and from the first day: what is quick for a million is quick for ten, and a way that is tried with ten is the way
//! that a million takes.
//!
//! PostgreSQL gathers its own.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, QueryResult, Statement};

/// Rows of a table that grows with business.
const FACTS: u64 = 1_000_000;

/// Rows of what is kept by the companies, before any of it is used.
const MASTERS: u64 = 20_000;

/// Rows of what few are.
const FEW: u64 = 200;

/// As of how many the condition of an index on some rows takes one.
const ONE_IN: u64 = 100;

fn rows_of(table: &str) -> u64 {
    match table {
        "accounts" | "tax_codes" | "payment_terms" | "number_series" | "businesses" | "books" | "permission_sets"
        | "fiscal_years" | "locks" | "webhooks" | "webhook_cursors" | "installation" | "running_time"
        | "seaql_migrations" => FEW,
        "parties" | "items" | "exchange_rates" | "users" | "memberships" | "sessions" | "sign_ins"
        | "sign_in_places" | "invitations" | "login_failures" | "api_keys" | "account_months" | "tax_months"
        | "stock" => MASTERS,
        _ => FACTS,
    }
}

/// How many values a column takes; of what nothing is said, nearly as many as there are rows.
fn values_of(column: &str) -> u64 {
    match column {
        "business_id" => 2,
        "currency" => 3,
        "kind" | "document_kind" | "stage" | "status" | "resource" | "side" | "origin" | "type" => 8,
        "tax_code_id" => 20,
        "month" => 60,
        "account_id" => 100,
        "date" | "entry_date" | "due_date" | "updated_at" => 2_000,
        "party_id" | "item_id" => 5_000,
        _ => FACTS / 4,
    }
}

/// As SQLite writes it: the rows of an index, then how many of them have the same first value, first two values and so on.
fn told(rows: u64, unique: bool, columns: &[String]) -> String {
    let mut words = vec![rows.to_string()];
    let mut alike = rows;
    for (place, column) in columns.iter().enumerate() {
        alike = Ord::max(alike / values_of(column), 2);
        let is_one = unique && place + 1 == columns.len();
        words.push(if is_one { 1 } else { alike }.to_string());
    }
    words.join(" ")
}

async fn asked(database: &DatabaseConnection, sql: String) -> Result<Vec<QueryResult>, DbErr> {
    database.query_all_raw(Statement::from_string(DbBackend::Sqlite, sql)).await
}

/// Tells the planner.
pub async fn make(database: &DatabaseConnection) -> Result<(), DbErr> {
    if database.get_database_backend() != DbBackend::Sqlite {
        return Ok(());
    }
    // Makes the table of statistics, and gathers none.
    database.execute_unprepared("ANALYZE sqlite_schema").await?;
    let mut rows = Vec::new();
    let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name";
    for table in asked(database, tables.into()).await? {
        let table: String = table.try_get("", "name")?;
        let indexes = format!("SELECT name, \"unique\", partial FROM pragma_index_list('{table}') ORDER BY name");
        for index in asked(database, indexes).await? {
            let (name, unique, partial): (String, i64, i64) =
                (index.try_get("", "name")?, index.try_get("", "unique")?, index.try_get("", "partial")?);
            let made = format!("SELECT COALESCE(sql, '') AS made FROM sqlite_schema WHERE name = '{name}'");
            let made: Option<String> =
                asked(database, made).await?.first().map(|row| row.try_get("", "made")).transpose()?;
            let names = format!("SELECT COALESCE(name, '') AS name FROM pragma_index_info('{name}') ORDER BY seqno");
            let names: Result<Vec<String>, DbErr> =
                asked(database, names).await?.iter().map(|row| row.try_get("", "name")).collect();
            let of_some = partial == 1 && !made.is_some_and(|made| made.ends_with("IS NOT NULL"));
            let all = rows_of(&table) / if of_some { ONE_IN } else { 1 };
            // The key of a table that is kept in it is called as the table is.
            let index = if name.starts_with("sqlite_autoindex_") && is_kept_in_key(database, &table).await? {
                table.clone()
            } else {
                name
            };
            rows.push(format!("('{table}', '{index}', '{}')", told(all, unique == 1, &names?)));
        }
    }
    database.execute_unprepared("DELETE FROM sqlite_stat1").await?;
    if !rows.is_empty() {
        let sql = format!("INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES {}", rows.join(", "));
        database.execute_unprepared(&sql).await?;
    }
    database.execute_unprepared("ANALYZE sqlite_schema").await.map(|_| ())
}

async fn is_kept_in_key(database: &DatabaseConnection, table: &str) -> Result<bool, DbErr> {
    let made = format!("SELECT 1 FROM sqlite_schema WHERE name = '{table}' AND sql LIKE '%WITHOUT ROWID'");
    Ok(!asked(database, made).await?.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::in_memory;

    #[tokio::test]
    async fn every_index_has_its_statistics_and_the_planner_reads_them() {
        let (database, failure) = in_memory().await;
        crate::up(&database, &|text| text.len().to_string()).await.unwrap();
        let without = "SELECT m.name, l.name AS idx FROM sqlite_schema m, pragma_index_list(m.name) l \
                       WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND NOT EXISTS \
                       (SELECT 1 FROM sqlite_stat1 s WHERE s.tbl = m.name AND (s.idx = l.name OR s.idx = m.name))";
        assert!(asked(&database, without.into()).await.unwrap().is_empty());
        // A few numbers of entries are looked up one by one, and no ledger is read for them.
        let plan = "EXPLAIN QUERY PLAN SELECT account_id, SUM(amount) FROM entry_lines WHERE business_id = X'01' \
                    AND date >= 20454 AND entry_number IN (SELECT -1 UNION ALL SELECT number FROM entries \
                    WHERE business_id = X'01' AND kind = 'y') GROUP BY account_id";
        let plan: Vec<String> =
            asked(&database, plan.into()).await.unwrap().iter().map(|row| row.try_get("", "detail").unwrap()).collect();
        let found = |words: &str| plan.iter().any(|step| step.contains(words));
        assert!(found("SEARCH entry_lines USING PRIMARY KEY (business_id=? AND entry_number=?)"), "{plan:?}");
        assert!(found("USING COVERING INDEX entries_of_years") || found("USING INDEX entries_of_years"), "{plan:?}");
        // What is open of a document is found by its key, and that of lines by the index of such.
        for (asked_for, ways) in [
            (
                "open_items WHERE business_id = X'01' AND (id IN (X'02', X'03') OR (document_id IN (X'02', X'03') \
                 AND document_id <> id))",
                &["PRIMARY KEY (business_id=? AND id=?)", "INDEX open_items_of_lines (document_id=?"][..],
            ),
            (
                "open_item_moves WHERE business_id = X'01' AND open_item_id IN (X'02', X'03')",
                &["PRIMARY KEY (business_id=? AND open_item_id=?)"],
            ),
            (
                "document_lines WHERE business_id = X'01' AND id IN (X'02', X'03') AND source_line_id IS NOT NULL",
                &["INDEX document_lines_by_line (id=?"],
            ),
        ] {
            let plan = asked(&database, format!("EXPLAIN QUERY PLAN SELECT * FROM {asked_for}")).await.unwrap();
            let plan: Vec<String> = plan.iter().map(|row| row.try_get("", "detail").unwrap()).collect();
            for way in ways {
                assert!(plan.iter().any(|step| step.contains("SEARCH") && step.contains(way)), "{way}: {plan:?}");
            }
        }
        failure.told().unwrap();
    }
}
