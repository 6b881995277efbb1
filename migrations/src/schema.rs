//! Whether a schema is what the migrations make: tables, columns, indexes, constraints, triggers and their functions.
//!
//! The same migrations are run beside it, in memory on SQLite and in a schema of its own that is taken back on
//! PostgreSQL, and what the engine says of both is compared.

use crate::{Migrator, distributing, noting};
use sea_orm_migration::MigratorTrait;
use sea_orm_migration::sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, Statement,
};
use std::collections::BTreeMap;

/// What the engine says of everything in a schema: kind and name, and its definition.
pub type Parts = BTreeMap<(String, String), String>;

const ON_SQLITE: &str = "SELECT type || CASE WHEN type = 'table' THEN '' ELSE ' of ' || tbl_name END AS kind, name, \
     sql AS definition FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";

const ON_POSTGRES: &str = "\
 SELECT 'table' AS kind, c.relname::text AS name, string_agg(concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod), \
   CASE WHEN a.attnotnull THEN 'not null' END, pg_get_expr(d.adbin, d.adrelid), l.collname), ', ' ORDER BY a.attname) AS definition \
   FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
   JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
   LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum LEFT JOIN pg_collation l ON l.oid = a.attcollation \
   WHERE n.nspname = current_schema() AND c.relkind = 'r' GROUP BY c.relname \
 UNION ALL SELECT 'constraint of ' || c.relname, t.conname::text, pg_get_constraintdef(t.oid) || CASE WHEN t.convalidated THEN '' ELSE ' not valid' END \
   FROM pg_constraint t JOIN pg_class c ON c.oid = t.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace \
   WHERE n.nspname = current_schema() AND t.contype <> 'n' \
 UNION ALL SELECT 'index of ' || tablename, indexname::text, indexdef FROM pg_indexes WHERE schemaname = current_schema() \
 UNION ALL SELECT 'trigger of ' || c.relname, t.tgname::text, pg_get_triggerdef(t.oid) || CASE WHEN t.tgenabled = 'O' THEN '' ELSE ' disabled' END \
   FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace \
   WHERE n.nspname = current_schema() AND NOT t.tgisinternal \
 UNION ALL SELECT 'internal triggers of ' || c.relname, 'enabled', string_agg(t.tgenabled::text, '' ORDER BY t.tgname) \
   FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace \
   WHERE n.nspname = current_schema() AND t.tgisinternal AND t.tgname NOT LIKE 'truncate\\_trigger\\_%' GROUP BY c.relname \
 UNION ALL SELECT 'rule of ' || tablename, rulename::text, definition FROM pg_rules WHERE schemaname = current_schema() \
 UNION ALL SELECT 'function', p.proname::text, pg_get_functiondef(p.oid) \
   FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = current_schema() AND p.prokind = 'f'";

/// What is there.
pub async fn parts(connection: &impl ConnectionTrait) -> Result<Parts, DbErr> {
    let engine = connection.get_database_backend();
    let (query, schema) = if engine == DbBackend::Postgres {
        let named = Statement::from_string(engine, "SELECT current_schema()::text AS name");
        let row = connection.query_one_raw(named).await?;
        (ON_POSTGRES, row.map(|row| row.try_get::<String>("", "name")).transpose()?)
    } else {
        (ON_SQLITE, None)
    };
    let mut parts = Parts::new();
    for row in connection.query_all_raw(Statement::from_string(engine, query)).await? {
        let mut definition: String = row.try_get("", "definition")?;
        if let Some(schema) = &schema {
            definition = definition.replace(&format!("{schema}."), "").replace(&format!("\"{schema}\"."), "");
        }
        parts.insert((row.try_get("", "kind")?, row.try_get("", "name")?), definition);
    }
    Ok(parts)
}

/// What the migrations make in an empty database of SQLite.
pub async fn expected_on_sqlite(empty: &DatabaseConnection) -> Result<Parts, DbErr> {
    Migrator::up(empty, None).await?;
    noting::make_within(empty, false).await?;
    parts(empty).await
}

/// What the migrations make on PostgreSQL. The transaction must be taken back.
pub async fn expected_on_postgres(transaction: &DatabaseTransaction) -> Result<Parts, DbErr> {
    let is_distributed = distributing::is_distributed(transaction).await?;
    transaction.execute_unprepared("CREATE SCHEMA duet_as_it_should_be").await?;
    transaction.execute_unprepared("SET LOCAL search_path = duet_as_it_should_be").await?;
    Migrator::up(transaction, None).await?;
    if is_distributed {
        distributing::leave_out(transaction).await?;
    }
    noting::make_within(transaction, is_distributed).await?;
    parts(transaction).await
}

/// What differs. What stands beside our tables, and is on none of them, is somebody else's.
pub fn differences(expected: &Parts, found: &Parts) -> Vec<String> {
    let named = |(kind, name): &(String, String)| format!("the {kind} {name}");
    let mut differences = Vec::new();
    for (part, definition) in expected {
        match found.get(part) {
            None => differences.push(format!("{} is missing", named(part))),
            Some(found) if found != definition => differences.push(format!("{} is not as it was made", named(part))),
            Some(_) => {}
        }
    }
    let ours = |kind: &str| {
        let on = kind.split_once(" of ").map(|(_, table)| table.to_owned());
        on.is_some_and(|table| expected.contains_key(&("table".to_owned(), table)))
    };
    for part in found.keys().filter(|part| !expected.contains_key(*part) && ours(&part.0)) {
        differences.push(format!("{} was put in by somebody else", named(part)));
    }
    differences
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_trigger_that_is_dropped_changed_or_put_in_is_seen() {
        let (empty, failure) = crate::tests::in_memory().await;
        let expected = expected_on_sqlite(&empty).await.unwrap();
        failure.told().unwrap();
        assert_eq!(differences(&expected, &expected), Vec::<String>::new());
        let trigger = ("trigger of entries".to_owned(), "entries_are_not_updated".to_owned());
        for (change, told) in [
            (None, "the trigger of entries entries_are_not_updated is missing"),
            (Some("CREATE TRIGGER x"), "the trigger of entries entries_are_not_updated is not as it was made"),
        ] {
            let mut found = expected.clone();
            match change {
                None => found.remove(&trigger),
                Some(text) => found.insert(trigger.clone(), text.to_owned()),
            };
            assert_eq!(differences(&expected, &found), [told]);
        }
        let mut found = expected.clone();
        found.insert(("trigger of parties".into(), "hook".into()), "CREATE TRIGGER hook".into());
        found.insert(("table".into(), "somebody_elses".into()), "CREATE TABLE somebody_elses (id)".into());
        assert_eq!(differences(&expected, &found), ["the trigger of parties hook was put in by somebody else"]);
    }
}
