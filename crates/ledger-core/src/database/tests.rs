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
        let url = format!("sqlite:{}", self.0.display());
        let options = DatabaseOptions { url, purpose, pool_size: 2, readers: 2, page_cache_kib: 1024 };
        Database::open(&options).await
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
