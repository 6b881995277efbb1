//! What is guaranteed of connections, however they are opened.

use super::*;
use std::path::{Path, PathBuf};

struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("duet-{name}-{}.db", std::process::id())))
    }

    fn path(&self) -> &Path {
        &self.0
    }

    async fn open(&self, purpose: Purpose) -> Result<Database, DbErr> {
        self.open_with(purpose, 1 << 28).await
    }

    async fn open_with(&self, purpose: Purpose, log_budget: u64) -> Result<Database, DbErr> {
        let url = format!("sqlite:{}", self.0.display());
        let options = DatabaseOptions { url, purpose, pool_size: 2, readers: 2, page_cache_kib: 1024, log_budget };
        Database::open(&options).await
    }

    fn log_bytes(&self) -> u64 {
        std::fs::metadata(sqlite_kit::beside(&self.0, "-wal")).map_or(0, |log| log.len())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        for suffix in ["", "-wal", "-shm", "-server"] {
            let _gone = std::fs::remove_file(sqlite_kit::beside(&self.0, suffix));
        }
    }
}

#[tokio::test]
async fn sqlite_is_opened_with_all_its_guarantees_and_readers_that_cannot_write() {
    let place = Place::new("open");
    let database = place.open(Purpose::Serving).await.unwrap();
    database.migrate().await.unwrap();
    assert_eq!(database.pending_migrations().await.unwrap(), 0);
    let mut writer = database.writer();
    let session = writer.begin().await.unwrap();
    for (pragma, expected) in [("synchronous", "2"), ("foreign_keys", "1"), ("journal_mode", "wal")] {
        let sql = format!("SELECT CAST({pragma} AS TEXT) AS value FROM pragma_{pragma}");
        let row = session.query_one_raw(Statement::from_string(DbBackend::Sqlite, sql)).await.unwrap().unwrap();
        assert_eq!(row.try_get::<String>("", "value").unwrap(), expected, "{pragma}");
    }
    writer.roll_back(session).await.unwrap();
    assert!(database.read.execute_unprepared("DELETE FROM users").await.is_err());
    assert!(database.door.execute_unprepared("DELETE FROM users").await.is_err());
    database.close().await;
    assert!(place.path().exists());
}

/// So much is written beside a read that its snapshot must end: it is told why, and the log stays within its bounds.
#[tokio::test(flavor = "multi_thread")]
async fn a_read_that_is_held_does_not_let_the_log_grow_without_bounds() {
    const BUDGET: u64 = 8 << 20;
    let place = Place::new("log");
    let database = place.open_with(Purpose::Serving, BUDGET).await.unwrap();
    database.migrate().await.unwrap();
    let mut writer = database.writer();
    let session = writer.begin().await.unwrap();
    session.execute_unprepared("CREATE TABLE ballast (weight BLOB)").await.unwrap();
    session.execute_unprepared("INSERT INTO ballast VALUES (NULL)").await.unwrap();
    assert!(matches!(writer.commit(session).await, Committing::Committed));
    let count = || Statement::from_string(DbBackend::Sqlite, "SELECT COUNT(*) AS n FROM ballast");
    let held = database.snapshot().await.unwrap();
    assert!(held.query_one_raw(count()).await.unwrap().is_some());
    let (mut written, mut longest) = (0_u64, 0);
    while written < 8 * BUDGET {
        let session = writer.begin().await.unwrap();
        session.execute_unprepared("INSERT INTO ballast VALUES (randomblob(524288))").await.unwrap();
        assert!(matches!(writer.commit(session).await, Committing::Committed));
        writer.tidy();
        written += 1 << 19;
        longest = longest.max(place.log_bytes());
        // Its thread lets the snapshot go by itself.
        tokio::task::yield_now().await;
    }
    assert!(longest < 3 * BUDGET, "the log grew to {longest} bytes");
    let refused = held.query_one_raw(count()).await.map(|_| ()).unwrap_err();
    assert!(
        matches!(fault::explain(&refused), crate::error::Error::Unavailable(crate::error::Unavailable::Outgrown)),
        "{refused}"
    );
    drop(held);
    let fresh = database.snapshot().await.unwrap();
    let row = fresh.query_one_raw(count()).await.unwrap().unwrap();
    assert_eq!(row.try_get::<i64>("", "n").unwrap(), 129);
    drop(fresh);
    writer.tidy();
    drop(writer);
    database.close().await;
}

#[tokio::test]
async fn a_question_without_a_bound_is_refused_by_the_tests() {
    let place = Place::new("rows");
    let database = place.open(Purpose::Serving).await.unwrap();
    let rows = |most: usize| {
        let sql =
            format!("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {most}) SELECT i FROM n");
        Statement::from_string(DbBackend::Sqlite, sql)
    };
    let asked = Db::Reads(&database.read);
    assert_eq!(asked.query_all_raw(rows(MANY_ROWS)).await.unwrap().len(), MANY_ROWS);
    assert!(asked.query_all_raw(rows(MANY_ROWS + 1)).await.is_err());
    database.close().await;
}
