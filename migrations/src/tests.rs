//! The frame that later migrations stand in, tried with made-up ones; and a pin of the schema.

use crate::table::{add, maybe, text};
use crate::{Migrator, OLDER, UNFINISHED, distributing, first, known, noting, pending, run, schema, up, versions};
use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, Statement};

pub(crate) async fn in_memory() -> (DatabaseConnection, sqlite_kit::Failure) {
    let opening = sqlite_kit::Opening {
        path: ":memory:".into(),
        access: sqlite_kit::Access::Write,
        cache_kib: 1_024,
        statements: 16,
        patience: std::time::Duration::ZERO,
    };
    sqlite_kit::proxied(&opening).await.unwrap()
}

fn sign(text: &str) -> String {
    text.len().to_string()
}

async fn number(database: &DatabaseConnection, sql: &str) -> i64 {
    let asked = Statement::from_string(DbBackend::Sqlite, sql);
    database.query_one_raw(asked).await.unwrap().unwrap().try_get_by_index(0).unwrap()
}

/// Whose account is sealed.
const AN_ACCOUNT: &str = "INSERT INTO accounts (business_id, id, code, name, name_key, type, class, is_group, \
     allow_manual_posting, status, tags, search, version, created_at, created_by, updated_at, updated_by, seal) VALUES \
     (X'00000000000000000000000000000001', X'00000000000000000000000000000002', '1200', 'R', 'r', 'receivable', 'asset', \
      false, true, 'active', '[]', 'r', 1, 0, X'00000000000000000000000000000009', 0, \
      X'00000000000000000000000000000009', 'sealed')";

/// A next migration: a column that comes and is filled in one run.
struct Next {
    fails: bool,
}

impl MigrationName for Next {
    fn name(&self) -> &'static str {
        "m9999_next"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Next {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let connection = manager.get_connection();
        add(connection, "accounts", maybe(text("another"))).await?;
        connection.execute_unprepared("UPDATE accounts SET another = 'filled'").await?;
        if self.fails {
            return Err(DbErr::Custom("in the midst of it".into()));
        }
        Ok(())
    }
}

#[tokio::test]
async fn what_fills_a_new_column_is_noted_and_signed_in_the_run_that_makes_it() {
    let (database, failure) = in_memory().await;
    up(&database, &sign).await.unwrap();
    database.execute_unprepared(AN_ACCOUNT).await.unwrap();
    assert_eq!(number(&database, "SELECT COUNT(*) FROM touched").await, 0, "it came with its seal");
    run(&database, &Next { fails: false }, &sign).await.unwrap();
    let noted = "SELECT COUNT(*) FROM touched WHERE relation = 'accounts' AND old = '7365616c6564' \
                 AND batch LIKE 'migration m9999_next %'";
    assert_eq!(number(&database, noted).await, 1);
    let left = crate::left(&database, &sign).await.unwrap();
    assert_eq!((left.signed.len(), left.strange), (1, 0));
    // Another key signs otherwise.
    let other = |text: &str| format!("{}!", text.len());
    assert_eq!(crate::left(&database, &other).await.unwrap().strange, 1);
    failure.told().unwrap();
}

#[tokio::test]
async fn a_migration_happens_as_a_whole_or_not_at_all() {
    let (database, failure) = in_memory().await;
    up(&database, &sign).await.unwrap();
    database.execute_unprepared(AN_ACCOUNT).await.unwrap();
    let before = schema::parts(&database).await.unwrap();
    assert!(run(&database, &Next { fails: true }, &sign).await.is_err());
    assert_eq!(schema::parts(&database).await.unwrap(), before);
    assert_eq!(versions(&database).await.unwrap(), known());
    assert_eq!(number(&database, "SELECT COUNT(*) FROM touched").await, 0);
    // Whoever takes it up finds nothing half done.
    run(&database, &Next { fails: false }, &sign).await.unwrap();
    assert_eq!(number(&database, "SELECT COUNT(*) FROM accounts WHERE another = 'filled'").await, 1);
    failure.told().unwrap();
}

#[tokio::test]
async fn who_ended_before_the_triggers_were_made_leaves_them_to_the_next() {
    let (database, failure) = in_memory().await;
    let (other, failure_of_other) = in_memory().await;
    up(&database, &sign).await.unwrap();
    let expected = schema::expected_on_sqlite(&other).await.unwrap();
    assert_eq!(schema::differences(&expected, &schema::parts(&database).await.unwrap()), [""; 0]);
    // As a migration leaves it.
    noting::is_due(&database).await.unwrap();
    database.execute_unprepared("ALTER TABLE parties ADD COLUMN another TEXT").await.unwrap();
    assert_eq!(pending(&database).await.unwrap(), 1);
    up(&database, &sign).await.unwrap();
    assert_eq!(pending(&database).await.unwrap(), 0);
    let parts = schema::parts(&database).await.unwrap();
    for event in ["update", "delete"] {
        let made = &parts[&("trigger of parties".to_owned(), format!("parties_touched_by_{event}"))];
        assert!(made.contains("OLD.\"another\""), "{made}");
    }
    failure.told().unwrap();
    failure_of_other.told().unwrap();
}

#[tokio::test]
async fn books_of_another_duet_are_refused_with_a_sentence() {
    for (version, told) in [
        (OLDER, "duet convert OLD NEW"),
        (UNFINISHED, "run it again"),
        ("m9999_next", "made by a newer duet, which it needs: this one does not know m9999_next"),
    ] {
        let (database, failure) = in_memory().await;
        up(&database, &sign).await.unwrap();
        let ran = format!("INSERT INTO seaql_migrations (version, applied_at) VALUES ('{version}', 0)");
        database.execute_unprepared(&ran).await.unwrap();
        for refused in [pending(&database).await.map(|_| ()), up(&database, &sign).await.map(|_| ())] {
            let why = refused.unwrap_err().to_string();
            assert!(why.contains(told), "{version}: {why}");
        }
        failure.told().unwrap();
    }
}

/// Whoever changes the first schema changes books that are there: a later migration does that. Those stay as they are too.
const PINNED: [&str; 3] = ["573f2707b613bfa3", "afbac8a5b31e3a05", "9069d2316c8a386f"];

#[tokio::test]
async fn the_schema_is_pinned() {
    let (database, failure) = in_memory().await;
    let on_postgres: String = first::tables().into_iter().flat_map(|table| table.said(true)).collect();
    let mut steps = Vec::new();
    for _ in known() {
        Migrator::up(&database, Some(1)).await.unwrap();
        let mut sum: u64 = 0xcbf2_9ce4_8422_2325;
        let parts = schema::parts(&database).await.unwrap();
        let on_sqlite = parts.into_iter().map(|((kind, name), definition)| format!("{kind}\0{name}\0{definition}\0"));
        for byte in on_sqlite.chain([on_postgres.clone()]).collect::<String>().bytes() {
            sum = (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        steps.push(format!("{sum:016x}"));
    }
    assert_eq!(steps, PINNED, "a step of the schema is not what it was; write a migration");
    failure.told().unwrap();
}

#[tokio::test]
async fn a_table_is_said_once_and_names_no_column_twice() {
    let tables = first::tables();
    for table in &tables {
        let mut columns: Vec<&str> = table.columns().collect();
        columns.sort_unstable();
        columns.dedup();
        assert_eq!(columns.len(), table.columns().count(), "{}", table.name());
        assert!(table.key().iter().all(|key| columns.contains(key)), "{}", table.name());
        assert_eq!(tables.iter().filter(|other| other.name() == table.name()).count(), 1, "{}", table.name());
    }
}

#[tokio::test]
async fn every_table_is_of_companies_or_of_all_and_is_kept_as_it_says() {
    let (database, failure) = in_memory().await;
    up(&database, &sign).await.unwrap();
    let declared = distributing::declared();
    let there = schema::parts(&database).await.unwrap();
    let there: Vec<String> = there.into_keys().filter(|(kind, _)| kind == "table").map(|(_, name)| name).collect();
    // What the frame notes of itself is of all.
    for table in there.iter().filter(|table| *table != "seaql_migrations") {
        assert!(declared.iter().any(|one| one.name() == table), "{table}: nobody says whose its rows are");
    }
    for table in &declared {
        assert!(there.iter().any(|name| name == table.name()), "{}", table.name());
        // Whoever copies books takes what is declared along: a column that came later is declared as well.
        let columns = format!("SELECT name FROM pragma_table_info('{}')", table.name());
        let columns = database.query_all_raw(Statement::from_string(DbBackend::Sqlite, columns)).await.unwrap();
        let columns: Vec<String> = columns.iter().map(|row| row.try_get("", "name").unwrap()).collect();
        assert!(columns.iter().map(String::as_str).eq(table.columns()), "{}: {columns:?}", table.name());
        let Some(by) = table.spread_by() else { continue };
        assert!(table.columns().any(|column| column == by), "{}", table.name());
        assert!(table.key().is_empty() || table.key().contains(&by), "{}: its key does not name it", table.name());
        // A row is unique among those that it lies beside.
        for said in table.said(true).iter().filter(|said| said.starts_with("CREATE UNIQUE INDEX")) {
            assert!(said.contains(&format!("({by}, ")), "{said}");
        }
    }
    failure.told().unwrap();
}

#[tokio::test]
async fn a_file_is_not_distributed() {
    let (database, failure) = in_memory().await;
    up(&database, &sign).await.unwrap();
    let why = distributing::distribute(&database).await.unwrap_err().to_string();
    assert!(why.contains("they are in SQLite"), "{why}");
    assert!(!distributing::is_distributed(&database).await.unwrap());
    failure.told().unwrap();
}
