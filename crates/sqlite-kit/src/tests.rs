use super::*;
use sea_orm::{DbBackend, DbErr, QueryResult};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;
use uuid::Uuid;

struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("sqlite-kit-{name}-{}.db", std::process::id())))
    }

    fn open(&self, access: Access) -> Result<Connection, Fault> {
        Connection::open(&self.opening(access))
    }

    fn opening(&self, access: Access) -> Opening {
        Opening { path: self.0.clone(), access, cache_kib: 256, statements: 16, patience: Duration::ZERO }
    }

    fn modes(&self) -> Vec<u32> {
        let mode = |suffix| Some(std::fs::metadata(beside(&self.0, suffix)).ok()?.permissions().mode() & 0o7777);
        ["", "-wal", "-shm"].into_iter().filter_map(mode).collect()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        for suffix in ["", "-wal", "-shm"] {
            let _gone = std::fs::remove_file(beside(&self.0, suffix));
        }
    }
}

fn asked(sql: &str, values: Vec<Value>) -> Statement {
    Statement::from_sql_and_values(DbBackend::Sqlite, sql, values)
}

fn row(connection: &Connection, sql: &str) -> QueryResult {
    connection.query_some(&asked(sql, vec![]), 1).unwrap().into_result().unwrap().unwrap()
}

const TABLE: &str = "CREATE TABLE things (id uuid_text PRIMARY KEY, flag boolean NOT NULL, number bigint, name text, \
                     content blob, odd datetime_text, CHECK (number < 100))";

fn filled(place: &Place) -> Connection {
    let connection = place.open(Access::Create).unwrap();
    connection.batch(TABLE).unwrap();
    let insert = "INSERT INTO things (id, flag, number, name, content) VALUES (?, ?, ?, ?, ?)";
    for (id, number) in [(1, Some(7)), (2, None)] {
        let values: Vec<Value> = vec![
            Uuid::from_u128(id).into(),
            (id == 1).into(),
            number.map(i64::from).into(),
            format!("thing {id}").into(),
            vec![1_u8, 2].into(),
        ];
        assert_eq!(connection.execute(&asked(insert, values)).unwrap().rows_affected, 1);
    }
    connection
}

#[test]
fn rows_are_read_by_name_and_by_their_place_in_the_statement() {
    let place = Place::new("rows");
    let connection = filled(&place);
    // The names are not in the order of the places.
    let found = row(&connection, "SELECT number, id, flag, name, content FROM things WHERE id IS NOT NULL ORDER BY id");
    let in_order: (i64, Uuid, bool, String, Vec<u8>) = found.try_get_many_by_index().unwrap();
    assert_eq!(in_order, (7, Uuid::from_u128(1), true, "thing 1".into(), vec![1, 2]));
    assert!(found.try_get::<bool>("", "flag").unwrap());
    assert_eq!(found.try_get::<Uuid>("", "id").unwrap(), Uuid::from_u128(1));
    let nothing = row(&connection, "SELECT number, content FROM things WHERE number IS NULL");
    let nothing: (Option<i64>, Option<Vec<u8>>) = nothing.try_get_many_by_index().unwrap();
    assert_eq!(nothing, (None, Some(vec![1, 2])));
    // Expressions are what they are stored as, and a column of a subquery is still that column.
    let sums: (i64, Option<String>, Uuid, bool) = row(
        &connection,
        "SELECT SUM(number), MAX(name), MIN(id), (SELECT 1) IS NULL OR flag FROM (SELECT * FROM things LIMIT 1)",
    )
    .try_get_many_by_index::<(i64, Option<String>, Uuid, i64)>()
    .map(|(sum, name, id, flag)| (sum, name, id, flag == 1))
    .unwrap();
    assert_eq!(sums, (7, Some("thing 1".into()), Uuid::from_u128(1), true));
    let twice: (Uuid, Uuid) = row(&connection, "SELECT a.id, b.id FROM things a, things b WHERE a.id < b.id")
        .try_get_many_by_index()
        .unwrap();
    assert_eq!(twice, (Uuid::from_u128(1), Uuid::from_u128(2)));
}

#[test]
fn identifiers_that_were_counted_are_kept_short_and_read_whole() {
    let place = Place::new("counted");
    let connection = filled(&place);
    let (first, second) = (counted::counted(7).unwrap(), counted::counted(700_000).unwrap());
    for id in [second, first] {
        let insert = "INSERT INTO things (id, flag) VALUES (?, 1)";
        connection.execute(&asked(insert, vec![id.into()])).unwrap();
        let found = asked("SELECT id, length(id) AS length FROM things WHERE id = ?", vec![id.into()]);
        let found = connection.query(&found).unwrap().into_result().unwrap().unwrap();
        let length = counted::Kept::of(&id).bytes().len();
        assert_eq!(found.try_get::<Uuid>("", "id").unwrap(), id);
        assert_eq!(found.try_get::<i64>("", "length").unwrap(), i64::try_from(length).unwrap());
    }
    // An expression of them is one of them, and they sort as they were counted, before or after what was not.
    let ends = row(&connection, "SELECT MIN(id), MAX(id) FROM things WHERE length(id) < 16");
    assert_eq!(ends.try_get_many_by_index::<(Uuid, Uuid)>().unwrap(), (first, second));
    // One that lies there whole is found by nobody, and said to be none.
    connection.batch(&format!("INSERT INTO things (id, flag) VALUES (X'{}', 0)", first.simple())).unwrap();
    let whole = connection.query(&asked("SELECT id FROM things WHERE NOT flag AND length(id) = 16", vec![]));
    assert!(whole.unwrap_err().to_string().contains("no UUID"));
}

#[test]
fn what_nobody_has_said_how_to_read_or_keep_is_refused() {
    let place = Place::new("refused");
    let connection = filled(&place);
    let refused = |sql: &str| connection.query(&asked(sql, vec![])).unwrap_err().to_string();
    assert!(refused("SELECT odd FROM things").contains("datetime_text"));
    assert!(refused("SELECT AVG(number) FROM things").contains("Real"));
    connection.batch("UPDATE things SET number = 'seven' WHERE number = 7").unwrap_err();
    connection.batch("INSERT INTO things (id, flag) VALUES (X'01', 0)").unwrap();
    assert!(refused("SELECT id FROM things WHERE length(id) = 1").contains("no UUID"));
    connection.batch("UPDATE things SET flag = 3").unwrap();
    assert!(refused("SELECT flag FROM things").contains("Flag"));
    assert!(connection.query(&asked("SELECT ?, ?", vec![1_i64.into()])).unwrap_err().to_string().contains("wants 2"));
    let odd = connection.query(&asked("SELECT ?", vec![Value::Char(Some('x'))])).unwrap_err();
    assert!(odd.to_string().contains("kept in SQLite"), "{odd}");
}

#[test]
fn complaints_keep_their_code_on_their_way_through_entities() {
    let place = Place::new("codes");
    let connection = filled(&place);
    let code = |sql: &str| {
        let error = DbErr::from(connection.batch(sql).unwrap_err());
        Fault::within(&error).unwrap().code()
    };
    assert_eq!(code("INSERT INTO things (id, flag) SELECT id, flag FROM things"), 1555);
    assert_eq!(code("UPDATE things SET number = 100"), 275);
    let other = place.open(Access::Write).unwrap();
    connection.batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(other.batch("BEGIN IMMEDIATE").unwrap_err().primary(), 5);
    assert!(place.open(Access::Read).unwrap().batch("DELETE FROM things").unwrap_err().spoils_connection());
    assert_eq!(Place::new("none").open(Access::Read).unwrap_err().primary(), 14);
}

#[test]
fn a_statement_ends_when_it_is_stopped_and_the_next_one_does_not() {
    const LONG: &str = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT COUNT(*) AS n FROM c";
    let place = Place::new("stop");
    let connection = filled(&place);
    let stop = Stop::default();
    std::thread::scope(|scope| {
        let stopping = scope.spawn(|| stop.now());
        let ended = connection.until(&stop, |connection| connection.query(&asked(LONG, vec![]))).unwrap_err();
        assert_eq!(ended.primary(), 9);
        stopping.join().unwrap();
    });
    let counted = connection.until(&Stop::default(), |connection| connection.query(&asked("SELECT 1", vec![])));
    assert_eq!(counted.unwrap().len(), 1);
    let never = connection.until(&stop, |_| -> Result<(), Fault> { panic!("it was stopped before it began") });
    assert_eq!(never.unwrap_err().primary(), 9);
}

/// A question of millions of steps, given up as it begins: it takes as many as lie between two looks.
#[test]
fn a_question_that_is_given_up_takes_few_steps_more() {
    const LONG: &str =
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 300000) SELECT COUNT(*) AS n FROM c";
    let place = Place::new("steps");
    let connection = filled(&place);
    let stop = Stop::default();
    let given_up = connection.until(&stop, |connection| {
        stop.now();
        connection.query(&asked(LONG, vec![]))
    });
    let steps = connection.steps(LONG);
    assert!(given_up.is_err() && (1..=STEPS_BETWEEN_LOOKS + 100).contains(&steps), "{steps} steps");
    assert_eq!(connection.query(&asked(LONG, vec![])).unwrap().len(), 1, "it is answered where somebody waits");
}

#[test]
fn what_stands_beside_a_database_is_its_owners_alone() {
    let place = Place::new("modes");
    drop(filled(&place));
    for suffix in ["", "-wal", "-shm"] {
        std::fs::write(beside(&place.0, suffix), "").unwrap();
        std::fs::set_permissions(beside(&place.0, suffix), std::fs::Permissions::from_mode(0o666)).unwrap();
    }
    let connection = place.open(Access::Create).unwrap();
    connection.batch(TABLE).unwrap();
    let _reader = place.open(Access::Read).unwrap();
    assert_eq!(place.modes(), [0o600; 3]);
}

#[tokio::test]
async fn a_commit_that_fails_where_nobody_can_be_told_is_told_at_the_end() {
    use sea_orm::{ConnectionTrait, TransactionTrait};
    let place = Place::new("proxied");
    let (database, failure) = proxied(&place.opening(Access::Create)).await.unwrap();
    database.execute_unprepared("CREATE TABLE a (id bigint PRIMARY KEY)").await.unwrap();
    database
        .execute_unprepared("CREATE TABLE b (a bigint REFERENCES a (id) DEFERRABLE INITIALLY DEFERRED)")
        .await
        .unwrap();
    let transaction = database.begin().await.unwrap();
    transaction.execute_unprepared("INSERT INTO b VALUES (1)").await.unwrap();
    // The row refers to nothing, so the commit fails; the proxy cannot say so.
    transaction.commit().await.unwrap();
    let told = failure.told().unwrap_err();
    assert_eq!(Fault::within(&told).unwrap().code(), 787);
    assert!(database.execute_unprepared("SELECT 1").await.is_err());
}

#[test]
fn many_who_open_a_new_file_at_once_wait_for_one_another() {
    for round in 0..40 {
        let place = Place::new(&format!("many-{round}"));
        let opening = Opening { patience: Duration::from_secs(10), ..place.opening(Access::Create) };
        std::thread::scope(|scope| {
            let all: Vec<_> = (0..8).map(|_| scope.spawn(|| Connection::open(&opening).map(drop))).collect();
            for one in all {
                one.join().unwrap().unwrap();
            }
        });
    }
}

/// What writes many rows at once weighs what a hundred others weigh.
fn rows_at_once(rows: usize) -> Statement {
    let row = "(?, ?, ?)";
    let sql = format!("INSERT INTO heavy (a, b, c) VALUES {}", vec![row; rows].join(", "));
    asked(&sql, (0..rows * 3).map(|number| i64::try_from(number).unwrap().into()).collect())
}

#[test]
fn what_a_statement_answers_is_known_until_its_tables_change() {
    let place = Place::new("shapes");
    let connection = filled(&place);
    let question = "SELECT name FROM things ORDER BY 1";
    for _ in 0..3 {
        assert_eq!(row(&connection, question).try_get::<String>("", "name").unwrap(), "thing 1");
    }
    connection.batch("DROP TABLE things; CREATE TABLE things (name bigint); INSERT INTO things VALUES (7)").unwrap();
    // Only when it runs does the engine see that the table is another.
    let _of_before = connection.query(&asked(question, vec![]));
    assert_eq!(row(&connection, question).try_get::<i64>("", "name").unwrap(), 7);
}

#[test]
fn statements_stay_prepared_by_what_they_weigh() {
    let place = Place::new("kept");
    let opening = Opening { cache_kib: 4096, statements: 64, ..place.opening(Access::Create) };
    let connection = Connection::open(&opening).unwrap();
    connection.batch("CREATE TABLE heavy (a integer, b integer, c integer)").unwrap();
    for rows in 1..=300 {
        connection.execute(&rows_at_once(rows)).unwrap();
        let (count, bytes) = connection.prepared();
        assert!(count <= 64 && bytes <= 1 << 20, "{rows}: {count} that weigh {bytes}");
    }
    let (count, bytes) = connection.prepared();
    assert!(count > 1 && bytes > 512 << 10, "{count} that weigh {bytes}");
    // What was not used for longest went, and what is used again and again stays.
    connection.execute(&rows_at_once(1)).unwrap();
    for rows in 301..=400 {
        connection.execute(&rows_at_once(rows)).unwrap();
        connection.execute(&rows_at_once(1)).unwrap();
    }
    assert!(
        connection.kept.borrow().by_text(&rows_at_once(1).sql)
            && !connection.kept.borrow().by_text(&rows_at_once(300).sql)
    );
    // What weighs more than all of them may is used and not kept.
    let before = connection.prepared();
    connection.execute(&rows_at_once(8_000)).unwrap();
    assert_eq!(connection.prepared(), before);
    // As many as there may be, however little they weigh.
    for number in 0..200 {
        connection.query(&asked(&format!("SELECT {number}"), vec![])).unwrap();
    }
    assert!(connection.prepared().0 <= 64);
    let sum: i64 = row(&connection, "SELECT COUNT(*) AS count FROM heavy").try_get("", "count").unwrap();
    assert_eq!(sum, (1..=400).sum::<i64>() + 101 + 8_000);
}

/// A commit looks at what is kept; what is written before its commit is written twice.
#[test]
fn who_writes_keeps_little_between_two_transactions_and_has_room_within_one() {
    let place = Place::new("room");
    let connection = Connection::open(&Opening { cache_kib: 32 << 10, ..place.opening(Access::Create) }).unwrap();
    connection.batch("CREATE TABLE wide (a blob)").unwrap();
    let kept: i64 = row(&connection, "PRAGMA cache_size").try_get_by_index(0).unwrap();
    let log = place.0.with_extension("db-wal");
    let logged = || std::fs::metadata(&log).unwrap().len();
    let (before, many) = (logged(), 12 << 20);
    connection.batch("BEGIN IMMEDIATE").unwrap();
    let rows =
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 6000) SELECT zeroblob(2000) FROM n";
    connection.batch(&format!("INSERT INTO wide {rows}")).unwrap();
    let within = logged();
    connection.batch("COMMIT").unwrap();
    assert_eq!((kept, within), (-4096, before));
    assert!(logged() > before + many / 2, "{} of {many}", logged() - before);
}

#[test]
fn what_is_asked_for_one_row_is_prepared_once() {
    let place = Place::new("limit");
    let connection = filled(&place);
    for id in [1, 2, 1, 2] {
        let values = vec![Uuid::from_u128(id).into(), Value::BigUnsigned(Some(1))];
        let found = connection.query(&asked("SELECT name FROM things WHERE id = ? LIMIT ?", values)).unwrap();
        assert_eq!(found.column::<String>().unwrap(), [format!("thing {id}")]);
    }
    assert_eq!(connection.prepared_anew("SELECT name FROM things WHERE id = ? LIMIT 1"), 0);
    // What is asked for more says so by a value.
    let some = |most: u64| connection.query(&asked("SELECT name FROM things ORDER BY id LIMIT ?", vec![most.into()]));
    assert_eq!([2, 0, 2].map(|most| some(most).unwrap().len()), [2, 0, 2]);
    // A value that is missing is missed.
    assert!(connection.query(&asked("SELECT name FROM things LIMIT ?", vec![])).is_err());
}

#[test]
fn what_is_prepared_is_prepared_once_whatever_is_bound() {
    let place = Place::new("once");
    let writer = filled(&place);
    // What is known of the rows, by which a plan may be chosen.
    writer.batch("CREATE INDEX things_by_name ON things (name); CREATE INDEX seven ON things (name) WHERE number = 7; ANALYZE").unwrap();
    let reader = place.open(Access::Read).unwrap();
    for connection in [&writer, &reader] {
        for sql in [
            "SELECT id FROM things LIMIT ?",
            "SELECT id FROM things WHERE id IN (SELECT id FROM things ORDER BY name LIMIT ? OFFSET ?) ORDER BY name",
            "SELECT id FROM things WHERE number = ?",
            "SELECT id FROM things WHERE number < ?",
        ] {
            let again = (1..=3_i64).map(|value| {
                let values = std::iter::repeat_n(Value::from(value), sql.matches('?').count()).collect();
                connection.query_some(&asked(sql, values), 9).unwrap();
                connection.prepared_anew(sql)
            });
            assert_eq!(again.collect::<Vec<_>>(), [0, 0, 0], "{sql}");
        }
    }
}
