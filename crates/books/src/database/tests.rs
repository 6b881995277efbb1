//! What is guaranteed of connections, however they are opened.

use super::*;
use sea_orm::sea_query::ColumnType;
use sea_orm::{ColumnTrait, EntityTrait, IdenStatic, Iterable};
use sqlite_kit::Kind;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

mod among;
mod aside;
mod both;
#[allow(dead_code, reason = "other suites use more of it")]
#[path = "../../../../tests/harness/postgres.rs"]
mod cluster;
mod foreseen;
mod heard;
mod left;
mod log;
#[allow(dead_code, reason = "other suites use more of it")]
#[path = "../../../../tests/harness/process.rs"]
mod process;
mod refused;

pub const PATIENCE: Patience = {
    const LONG: Duration = Duration::from_secs(30);
    Patience { connect: LONG, statement: LONG, writer: LONG }
};

pub(super) struct Place(PathBuf);

impl Place {
    pub(super) fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("duet-{name}-{}.db", std::process::id())))
    }

    fn path(&self) -> &Path {
        &self.0
    }

    pub(super) async fn open(&self, purpose: Purpose) -> Result<Database, DbErr> {
        self.open_with(purpose, 1 << 28).await
    }

    async fn open_with(&self, purpose: Purpose, log_budget: u64) -> Result<Database, DbErr> {
        Database::open(&small(format!("sqlite:{}", self.0.display()), purpose, log_budget)).await
    }

    fn log_bytes(&self) -> u64 {
        std::fs::metadata(sqlite_kit::beside(&self.0, "-wal")).map_or(0, |log| log.len())
    }
}

fn small(url: String, purpose: Purpose, log_budget: u64) -> DatabaseOptions {
    let following = Following::default();
    DatabaseOptions {
        url,
        purpose,
        pool_size: 2,
        patience: PATIENCE,
        readers: 2,
        page_cache_kib: 1024,
        log_budget,
        following,
    }
}

/// A new database of PostgreSQL, where there is one.
pub(super) async fn on_postgres() -> Option<Database> {
    let options = small(cluster::fresh_database()?, Purpose::Serving, 1 << 28);
    Some(Database::open(&options).await.unwrap())
}

impl Drop for Place {
    fn drop(&mut self) {
        for suffix in ["", "-wal", "-shm", "-server", "-next"] {
            let _gone = std::fs::remove_file(sqlite_kit::beside(&self.0, suffix));
        }
    }
}

#[tokio::test]
async fn sqlite_is_opened_with_all_its_guarantees_and_readers_that_cannot_write() {
    let place = Place::new("open");
    let database = place.open(Purpose::Serving).await.unwrap();
    database.migrate(&|_| String::new()).await.unwrap();
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

#[tokio::test]
async fn a_file_is_served_by_one_and_the_next_one_is_told_which() {
    let place = Place::new("claim");
    let server = place.open(Purpose::Serving).await.unwrap();
    server.migrate(&|_| String::new()).await.unwrap();
    let refused = place.open(Purpose::Serving).await.unwrap_err().to_string();
    assert!(refused.contains(&format!("process {}, since 20", std::process::id())), "{refused}");
    // Who writes or reads a little does so beside it.
    for purpose in [Purpose::Writing, Purpose::Reading] {
        let beside = place.open(purpose).await.unwrap();
        assert_eq!(beside.pending_migrations().await.unwrap(), 0);
        let mut writer = beside.writer();
        let begun = writer.begin().await;
        assert_eq!(begun.is_ok(), purpose == Purpose::Writing);
        if let Ok(session) = begun {
            session.execute_unprepared("UPDATE access_changes SET count = count + 1").await.unwrap();
            assert!(matches!(writer.commit(session).await, Committing::Committed));
        }
        beside.close().await;
    }
    server.close().await;
    place.open(Purpose::Serving).await.unwrap().close().await;
}

#[tokio::test]
async fn who_only_reads_makes_nothing() {
    let place = Place::new("none");
    let refused = place.open(Purpose::Reading).await.unwrap_err().to_string();
    assert!(refused.contains("there is no database at"), "{refused}");
    assert!(!place.path().exists());
    std::fs::write(place.path(), "").unwrap();
    let database = place.open(Purpose::Reading).await.unwrap();
    assert!(database.pending_migrations().await.unwrap() > 0);
    database.close().await;
    assert_eq!(std::fs::metadata(place.path()).unwrap().len(), 0);
}

/// The columns of each table, with the types that are declared.
type Declared = BTreeMap<String, BTreeMap<String, String>>;

/// What a batch notes of its writes: read by hand, and as this says.
mod touched {
    use crate::ids::BusinessId;
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "touched")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub key: String,
        pub relation: String,
        pub business_id: Option<BusinessId>,
        pub old: String,
        pub was: String,
        pub step: i64,
        pub batch: String,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// How a column is read whose table declares this type.
type Reads = fn(Option<&str>) -> Option<Kind>;

/// The columns of an entity that its rows would not be read from: what is declared, and what is wanted.
fn unread<E: EntityTrait>(declared: &Declared, reads: Reads, walked: &mut BTreeSet<String>) -> Vec<String> {
    let table = E::default().table_name().to_owned();
    let columns = declared.get(&table).unwrap_or_else(|| panic!("no table {table}"));
    let wrong = E::Column::iter().filter_map(|column| {
        let name = column.as_str().to_owned();
        let wanted = match column.def().get_column_type() {
            // A day is kept as a number.
            ColumnType::BigInteger | ColumnType::Date => Kind::Number,
            ColumnType::Text | ColumnType::String(_) | ColumnType::Char(_) => Kind::Text,
            ColumnType::Boolean => Kind::Flag,
            ColumnType::Uuid => Kind::Identifier,
            ColumnType::Blob | ColumnType::VarBinary(_) => Kind::Bytes,
            other => return Some(format!("{table}.{name}: entities may not use {other:?}")),
        };
        let found = reads(columns.get(&name).map(String::as_str));
        (found != Some(wanted)).then(|| format!("{table}.{name}: {found:?} where {wanted:?} is wanted"))
    });
    let wrong = wrong.collect();
    walked.insert(table);
    wrong
}

/// What has another type than its entity is read as nothing at all, and an entity that may hold nothing does not complain.
async fn all_are_read(database: &Database, sql: &str, reads: Reads) {
    use ::schema::tables::{audit_log, *};
    database.migrate(&|_| String::new()).await.unwrap();
    let mut declared = Declared::new();
    let asked = Statement::from_string(database.read.get_database_backend(), sql);
    for row in database.read.query_all_raw(asked).await.unwrap() {
        let get = |name: &str| row.try_get::<String>("", name).unwrap();
        declared.entry(get("place")).or_default().insert(get("name"), get("type"));
    }
    let mut walked = BTreeSet::new();
    let mut wrong = Vec::new();
    macro_rules! walk {
        ($($entity:path),+ $(,)?) => {$(
            wrong.extend(unread::<$entity>(&declared, reads, &mut walked));
            wrong.extend(both::read_otherwise::<$entity>());
        )+};
    }
    walk!(
        ::schema::membership::Entity,
        crate::auth::invitation::Entity,
        crate::auth::recovery::Entity,
        crate::auth::session::Entity,
        crate::auth::sign_in::Entity,
        crate::auth::throttle::Entity,
        crate::auth::throttle::place::Entity,
        crate::auth::user::Entity,
        ::schema::idempotency::Entity,
        crate::installation::Entity,
        crate::remembered::table::Entity,
        crate::running::Entity,
        touched::Entity,
        ::schema::dialect_usage::Entity,
        ::schema::account::Entity,
        account_days::Entity,
        account_months::Entity,
        allocations::Entity,
        ::schema::api_key::Entity,
        ::schema::webhook::Entity,
        ::schema::webhook::cursor::Entity,
        ::schema::webhook::delivery::Entity,
        audit_log::Entity,
        books::Entity,
        cash_days::Entity,
        ::schema::business::Entity,
        document_counts::Entity,
        document_lines::Entity,
        document_links::Entity,
        documents::Entity,
        entries::Entity,
        entry_lines::Entity,
        ::schema::exchange_rate::Entity,
        ::schema::fiscal_year::Entity,
        ::schema::item::Entity,
        ::schema::lock::Entity,
        mentions::Entity,
        number_counters::Entity,
        ::schema::number_series::Entity,
        open_item_moves::Entity,
        open_items::Entity,
        ::schema::party::Entity,
        party_balances::Entity,
        party_months::Entity,
        ::schema::payment_term::Entity,
        ::schema::permission::Entity,
        progress::Entity,
        progress_moves::Entity,
        search_blocks::Entity,
        search_waiting::Entity,
        stock::Entity,
        stock_facts::Entity,
        stock_lines::Entity,
        stock_moves::Entity,
        stock_snapshots::Entity,
        tax_beginnings::Entity,
        ::schema::tax_code::Entity,
        tax_facts::Entity,
        tax_months::Entity,
        trade_months::Entity,
    );
    assert_eq!(wrong, Vec::<String>::new());
    let tables: BTreeSet<String> = declared.into_keys().collect();
    assert_eq!(walked, tables, "each table's entity is to be named here");
    database.close().await;
}

#[tokio::test]
async fn every_column_of_every_table_is_read_as_what_its_entity_is() {
    let place = Place::new("columns");
    let database = place.open(Purpose::Serving).await.unwrap();
    let sql = "SELECT m.name AS place, c.name AS name, c.type AS type FROM sqlite_master m, pragma_table_info(m.name) c \
               WHERE m.type = 'table' AND m.name <> 'seaql_migrations' AND m.name NOT LIKE 'sqlite_%'";
    all_are_read(&database, sql, |declared| sqlite_kit::kind_of(declared).ok()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_column_of_every_table_of_postgresql_is_read_as_what_its_entity_is() {
    let Some(database) = on_postgres().await else { return };
    let sql = "SELECT table_name AS place, column_name AS name, data_type AS type FROM information_schema.columns \
               WHERE table_schema = current_schema() AND table_name <> 'seaql_migrations'";
    all_are_read(&database, sql, |declared| match declared? {
        "bigint" | "integer" => Some(Kind::Number),
        "text" | "character varying" => Some(Kind::Text),
        "boolean" => Some(Kind::Flag),
        "uuid" => Some(Kind::Identifier),
        "bytea" => Some(Kind::Bytes),
        _ => None,
    })
    .await;
}

#[tokio::test]
async fn a_question_without_a_bound_is_refused() {
    let place = Place::new("rows");
    let database = place.open(Purpose::Serving).await.unwrap();
    let rows = |most: usize| {
        let sql =
            format!("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {most}) SELECT i FROM n");
        Statement::from_string(DbBackend::Sqlite, sql)
    };
    let asked = Db::Reads(&database.read);
    assert_eq!(asked.query_all_raw(rows(MANY_ROWS + 1)).await.unwrap().len(), MANY_ROWS + 1);
    assert_eq!(asked.query_all_raw(rows(MOST_ROWS)).await.unwrap().len(), MOST_ROWS);
    assert!(asked.query_all_raw(rows(MOST_ROWS + 1)).await.is_err());
    // And not read to its end, which would never come.
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";
    assert!(asked.query_all_raw(Statement::from_string(DbBackend::Sqlite, endless)).await.is_err());
    let snapshot = database.snapshot().await.unwrap();
    assert!(snapshot.query_all_raw(Statement::from_string(DbBackend::Sqlite, endless)).await.is_err());
    snapshot.end().unwrap();
    database.close().await;
}

/// A question that would never end by itself.
const ENDLESS: &str = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT COUNT(*) AS n FROM c";

fn asked(sql: &str) -> Statement {
    Statement::from_string(DbBackend::Sqlite, sql)
}

/// With two readers, two questions that are given up leave both free; so does one inside a snapshot.
#[tokio::test]
async fn a_read_that_nobody_waits_for_ends_inside_the_engine() {
    let place = Place::new("given-up");
    let database = place.open(Purpose::Serving).await.unwrap();
    database.migrate(&|_| String::new()).await.unwrap();
    let one = asked("SELECT count AS n FROM access_changes");
    for _ in 0..5 {
        let endless: Vec<_> = (0..2)
            .map(|_| {
                let reads = database.read.clone();
                tokio::spawn(async move { reads.query_all_raw(asked(ENDLESS)).await.map(|_| ()) })
            })
            .collect();
        // Whoever wants in is not kept by them, even when they hold every reader.
        database.ping().await.unwrap();
        for question in endless {
            question.abort();
            let _given_up = question.await;
        }
        let snapshot = database.snapshot().await.unwrap();
        let ends = Instant::now() + Duration::from_millis(20);
        let ended = database.read.until(ends).query_all_raw(asked(ENDLESS)).await.unwrap_err();
        assert!(matches!(crate::error::Error::from(ended), crate::error::Error::Unavailable(_)));
        // The one that was not given up goes on.
        assert!(snapshot.query_one_raw(one.clone()).await.unwrap().is_some());
        snapshot.end().unwrap();
    }
    let bounded = database.read.until(Instant::now() + Duration::from_millis(20)).snapshot().await.unwrap();
    assert!(bounded.query_all_raw(asked(ENDLESS)).await.is_err());
    drop(bounded);
    // Closing ends what still runs, and snapshots that somebody holds.
    let reads = database.read.clone();
    let running = tokio::spawn(async move { reads.query_all_raw(asked(ENDLESS)).await.map(|_| ()) });
    let held = database.snapshot().await.unwrap();
    database.close().await;
    assert!(running.await.unwrap().is_err());
    assert!(held.query_one_raw(one).await.is_err());
}

/// Two readers, and more snapshots that do not begin than there are readers: none of them is lost by it.
#[tokio::test]
async fn a_snapshot_that_does_not_begin_costs_no_reader() {
    let place = Place::new("unlent");
    let database = place.open(Purpose::Serving).await.unwrap();
    database.migrate(&|_| String::new()).await.unwrap();
    database.close().await;
    drop(database);
    // One that has no reader yet.
    let database = place.open(Purpose::Serving).await.unwrap();
    let away = place.path().with_extension("away");
    std::fs::rename(place.path(), &away).unwrap();
    for _ in 0..5 {
        assert!(database.read.snapshot().await.is_err());
    }
    assert_eq!(database.readiness().await, Err("reads fail: the database cannot be opened"));
    database.read_again().await;
    assert!(database.readiness().await.is_err(), "it is not there yet");
    std::fs::rename(&away, place.path()).unwrap();
    database.read_again().await;
    assert_eq!(database.readiness().await, Ok(()));
    let held = [database.read.snapshot().await.unwrap(), database.read.snapshot().await.unwrap()];
    for snapshot in held {
        assert!(snapshot.query_one_raw(asked("SELECT count AS n FROM access_changes")).await.unwrap().is_some());
        snapshot.end().unwrap();
    }
    database.close().await;
}

#[tokio::test]
async fn a_snapshot_sees_what_was_there_when_it_began() {
    let place = Place::new("snapshot");
    let database = place.open(Purpose::Serving).await.unwrap();
    database.migrate(&|_| String::new()).await.unwrap();
    let count = async |from: &Session| -> i64 {
        from.query_one_raw(asked("SELECT count AS n FROM access_changes"))
            .await
            .unwrap()
            .unwrap()
            .try_get("", "n")
            .unwrap()
    };
    let snapshot = database.snapshot().await.unwrap();
    let mut writer = database.writer();
    for kept in [true, false] {
        let session = writer.begin().await.unwrap();
        session.execute_unprepared("UPDATE access_changes SET count = count + 10").await.unwrap();
        session.set_savepoint().await.unwrap();
        session.execute_unprepared("UPDATE access_changes SET count = count + 100").await.unwrap();
        session.undo_to_savepoint().await.unwrap();
        if kept {
            assert!(matches!(writer.commit(session).await, Committing::Committed));
        } else {
            writer.roll_back(session).await.unwrap();
        }
    }
    let now = database.snapshot().await.unwrap();
    assert_eq!(count(&now).await, count(&snapshot).await + 10);
    // A session that is dropped without a word leaves nothing, and the next one begins anew.
    let session = writer.begin().await.unwrap();
    session.execute_unprepared("UPDATE access_changes SET count = 0").await.unwrap();
    drop(session);
    let session = writer.begin().await.unwrap();
    assert_eq!(count(&session).await, count(&now).await);
    writer.roll_back(session).await.unwrap();
    drop((snapshot, now));
    database.close().await;
}
