//! What is promised of connections, against a real PostgreSQL and over a wire that may fail.

#![allow(clippy::unwrap_used, clippy::expect_used)]

#[allow(dead_code)]
#[path = "../../../tests/harness/postgres.rs"]
mod postgres;
#[allow(dead_code)]
#[path = "../../../tests/harness/process.rs"]
mod process;
#[allow(dead_code)]
#[path = "../../../tests/harness/wire.rs"]
mod wire;

use postgres_kit::{Begin, Committed, Fault, Leg, Link, Patience, Rows, Server, Standing, Target};
use sea_orm::{ConnectionTrait, DbBackend, Statement, Value};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::rustls::{self, pki_types::pem::PemObject};
use wire::Wire;

const PATIENCE: Patience =
    Patience { connect: Duration::from_secs(5), statement: Duration::from_secs(20), writer: Duration::from_secs(5) };

fn asked(sql: &str, values: impl IntoIterator<Item = Value>) -> Statement {
    Statement::from_sql_and_values(DbBackend::Postgres, sql, values)
}

async fn link(url: &str) -> Link {
    Link::open(&Target::of(url, PATIENCE).unwrap(), PATIENCE.writer).await.unwrap()
}

async fn number(database: &impl ConnectionTrait, sql: &str) -> i64 {
    database.query_one_raw(asked(sql, [])).await.unwrap().unwrap().try_get_by_index(0).unwrap()
}

#[tokio::test]
async fn values_come_back_as_they_went_each_of_its_own_kind() {
    let Some(url) = postgres::fresh_database() else { return };
    let link = link(&url).await;
    let id = uuid::Uuid::from_u128(7);
    let bytes = vec![0_u8, 255];
    let sent: [Value; 5] = [true.into(), i64::MIN.into(), "ä".into(), bytes.clone().into(), id.into()];
    let none = [Value::Bool(None), Value::BigInt(None), Value::String(None), Value::Bytes(None), Value::Uuid(None)];
    let sql = "SELECT $1 AS flag, $2 AS number, $3 AS text, $4 AS bytes, $5 AS id";
    for values in [sent, none] {
        let found = link.query(asked(sql, values.clone())).await.unwrap();
        let mut got = found.values_of(["flag", "number", "text", "bytes", "id"]).unwrap();
        assert_eq!(got.next().unwrap(), values);
    }
    // Narrow numbers are read as wide ones, and names by their places too.
    let narrow = "SELECT 1::int4 AS z, 2::int2 AS a, 'n'::varchar(3) AS a, NULL::int4 AS n";
    let row = link.query_one_raw(asked(narrow, [])).await.unwrap().unwrap();
    assert_eq!(row.try_get::<i64>("", "z").unwrap(), 1);
    assert_eq!((row.try_get_by_index::<i64>(0).unwrap(), row.try_get_by_index::<i64>(1).unwrap()), (1, 2));
    assert_eq!(row.try_get_by_index::<String>(2).unwrap(), "n");
    assert_eq!(row.try_get::<Option<i64>>("", "n").unwrap(), None);
}

#[tokio::test]
async fn rows_of_many_tables_are_put_in_at_once_and_what_fails_first_is_told() {
    let Some(url) = postgres::fresh_database() else { return };
    let link = link(&url).await;
    let columns = "id uuid PRIMARY KEY, flag bool, day int4, number int8, text text COLLATE \"C\", bytes bytea";
    // More tables than statements are under way at once.
    let tables: Vec<String> = (0..30).map(|table| format!("t{table}")).collect();
    for table in &tables {
        link.batch(format!("CREATE TABLE {table} ({columns}, CHECK (number < 1000))")).await.unwrap();
    }
    let rows = |table: &str, ids: &[u128], number: i64| {
        let row = |id: &u128| -> [Value; 6] {
            let (id, is_odd) = (uuid::Uuid::from_u128(*id), id % 2 == 1);
            let text = Value::String(is_odd.then(|| "ä,{\"".into()));
            [id.into(), is_odd.into(), 7_i64.into(), number.into(), text, vec![0_u8, 255].into()]
        };
        let sql = format!("INSERT INTO {table} SELECT * FROM UNNEST($1,$2,$3,$4,$5,$6)").into();
        Rows { sql, width: 6, values: ids.iter().flat_map(row).collect() }
    };
    link.begin(Begin::Writing).await.unwrap();
    link.send(tables.iter().map(|table| rows(table, &[1, 2, 3], 5).into()).collect()).await.unwrap();
    assert!(matches!(link.commit().await, Committed::Done));
    let found = "SELECT COUNT(*) FROM t29 WHERE (text = 'ä,{\"' OR text IS NULL AND NOT flag) AND bytes = '\\x00ff' AND day = 7";
    assert_eq!(number(&link, found).await, 3);
    // What comes after a failure fails for it alone: the first one is told, and nothing of all stays.
    link.begin(Begin::Writing).await.unwrap();
    let all = [rows("t0", &[4], 5), rows("t1", &[1], 5), rows("t2", &[4], 5_000), rows("t3", &[4], 5)];
    let failed = link.send(all.map(Leg::Rows).into()).await.unwrap_err();
    assert_eq!(failed.code(), "23505", "{failed}");
    assert!(matches!(link.commit().await, Committed::Refused(_)));
    link.rollback().await.unwrap();
    assert_eq!(number(&link, "SELECT COUNT(*) FROM t0").await, 3);
    let torn = Rows { width: 4, ..rows("t0", &[5], 5) };
    assert!(link.send(vec![torn.into()]).await.is_err());
    let mixed = Rows { values: vec![Value::BigInt(Some(1)), "1".into()], width: 1, ..rows("t0", &[5], 5) };
    assert!(link.send(vec![mixed.into()]).await.is_err());
}

#[tokio::test]
async fn what_nobody_has_spoken_of_is_refused_loudly() {
    let Some(url) = postgres::fresh_database() else { return };
    let link = link(&url).await;
    for sql in ["SELECT 1.5 AS sum", "SELECT now() AS sum", "SELECT 1.5::float8 AS sum", "SELECT '{}'::jsonb AS sum"] {
        let error = link.query(asked(sql, [])).await.unwrap_err();
        assert!(error.to_string().contains("sum is read"), "{error}");
    }
    let float = link.query(asked("SELECT $1", [Value::Double(Some(1.5))])).await.unwrap_err();
    assert!(float.to_string().contains("kept in PostgreSQL"), "{float}");
    let too_few = link.query(asked("SELECT $1, $2::text", [Value::BigInt(None)])).await.unwrap_err();
    assert!(too_few.to_string().contains("wants 2 values"), "{too_few}");
    // And the connection goes on.
    assert_eq!(number(&link, "SELECT 1").await, 1);
}

#[tokio::test]
async fn statements_stay_prepared_but_not_without_end_nor_past_a_change_of_the_schema() {
    let Some(url) = postgres::fresh_database() else { return };
    let link = link(&url).await;
    for index in 0..400 {
        assert_eq!(number(&link, &format!("SELECT {index}::int8")).await, index);
    }
    let kept = number(&link, "SELECT count(*) FROM pg_prepared_statements").await;
    assert!((200..=257).contains(&kept), "{kept}");
    link.batch("CREATE TABLE t (a int8); INSERT INTO t VALUES (1)").await.unwrap();
    assert_eq!(link.query(asked("SELECT * FROM t", [])).await.unwrap().len(), 1);
    link.batch("ALTER TABLE t ADD b int8").await.unwrap();
    let told = link.query(asked("SELECT * FROM t", [])).await.unwrap_err();
    assert_eq!(told.code(), "0A000");
    assert_eq!(
        link.query(asked("SELECT * FROM t", [])).await.unwrap().read::<(i64, Option<i64>)>().unwrap(),
        [(1, None)]
    );
}

#[tokio::test]
async fn a_commit_of_what_failed_is_refused_and_not_taken_for_done() {
    let Some(url) = postgres::fresh_database() else { return };
    let link = link(&url).await;
    link.batch("CREATE TABLE kept (number int8 UNIQUE DEFERRABLE INITIALLY DEFERRED)").await.unwrap();
    link.begin(Begin::Writing).await.unwrap();
    link.batch("INSERT INTO kept VALUES (1)").await.unwrap();
    assert!(link.batch("SELECT 1 / 0").await.is_err());
    assert!(matches!(link.commit().await, Committed::Refused(_)));
    link.rollback().await.unwrap();
    assert_eq!(number(&link, "SELECT count(*) FROM kept").await, 0);
    // What COMMIT itself objects to did not happen either.
    link.begin(Begin::Writing).await.unwrap();
    link.batch("INSERT INTO kept VALUES (2), (2)").await.unwrap();
    assert!(matches!(link.commit().await, Committed::Refused(fault) if fault.code() == "23505"));
    link.rollback().await.unwrap();
    link.begin(Begin::Writing).await.unwrap();
    link.batch("INSERT INTO kept VALUES (3)").await.unwrap();
    assert!(matches!(link.commit().await, Committed::Done));
    assert_eq!(number(&link, "SELECT sum(number)::int8 FROM kept").await, 3);
}

/// An operator who ends the wait for a standby makes COMMIT answer like any other; only a warning tells.
#[tokio::test]
async fn a_commit_whose_wait_for_a_standby_was_ended_is_not_known_to_be_safe() {
    let Some(cluster) = postgres::Cluster::start() else { return };
    let url = cluster.fresh_database();
    let (link, other) = (link(&url).await, link(&url).await);
    link.batch("CREATE TABLE kept (number int8)").await.unwrap();
    let pid = number(&link, "SELECT pg_backend_pid()").await;
    other.batch("ALTER SYSTEM SET synchronous_standby_names = 'ghost'").await.unwrap();
    other.batch("SELECT pg_reload_conf()").await.unwrap();
    while number(&link, "SELECT count(*) FROM pg_settings WHERE setting = 'ghost'").await == 0 {}
    let waits = format!("SELECT count(*) FROM pg_stat_activity WHERE pid = {pid} AND wait_event = 'SyncRep'");
    // The server's processes hear of it one after the other: who commits before that waits for nobody.
    let committed = loop {
        link.begin(Begin::Writing).await.unwrap();
        link.batch("INSERT INTO kept VALUES (1)").await.unwrap();
        let mut commit = std::pin::pin!(link.commit());
        let waited = async { while number(&other, &waits).await == 0 {} };
        tokio::select! {
            early = &mut commit => assert!(matches!(early, Committed::Done), "{early:?}"),
            () = waited => {
                other.query(asked(&format!("SELECT pg_cancel_backend({pid})"), [])).await.unwrap();
                break commit.await;
            }
        }
    };
    assert!(matches!(committed, Committed::Unknown(_)), "{committed:?}");
    assert!(link.is_spent().is_some());
    // The cluster ends once nobody is connected.
    link.close().await;
    other.close().await;
}

async fn server(url: &str, size: usize) -> Server {
    Server::open(Target::of(url, PATIENCE).unwrap(), size).await.unwrap()
}

/// How many statements of ours the server is running, as somebody else sees it.
async fn running(other: &Link, what: &str) -> i64 {
    let sql = format!("SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '{what}%'");
    number(other, &sql).await
}

#[tokio::test]
async fn a_read_that_nobody_waits_for_ends_inside_the_server_and_its_connection_serves_on() {
    let Some(url) = postgres::fresh_database() else { return };
    let (server, other) = (server(&url, 1).await, link(&url).await);
    let mine = number(&server.reads, "SELECT pg_backend_pid()").await;
    for _ in 0..3 {
        let reads = server.reads.clone();
        let asking = tokio::spawn(async move { number(&reads, "SELECT 1::int8 FROM pg_sleep(60)").await });
        while running(&other, "SELECT 1::int8 FROM pg_sleep").await == 0 {}
        asking.abort();
        while running(&other, "SELECT 1::int8 FROM pg_sleep").await == 1 {}
        // The only place there is: the same connection, in no transaction, with nothing left over.
        assert_eq!(number(&server.reads, "SELECT pg_backend_pid()").await, mine);
    }
    // A snapshot is left in the middle of a statement, and between two.
    for within in [true, false] {
        let reads = server.reads.clone();
        let asking = tokio::spawn(async move {
            let snapshot = reads.snapshot().await.unwrap();
            let first = if within { "SELECT 2::int8 FROM pg_sleep(60)" } else { "SELECT 3" };
            number(&snapshot, first).await;
            std::future::pending::<()>().await;
            drop(snapshot);
        });
        let seen = if within { "SELECT 2::int8 FROM pg_sleep" } else { "SELECT 3" };
        let there = format!("SELECT count(*) FROM pg_stat_activity WHERE pid = {mine} AND query LIKE '{seen}%'");
        while number(&other, &there).await == 0 {}
        asking.abort();
        assert_eq!(number(&server.reads, "SELECT pg_backend_pid()").await, mine);
        let open = format!("SELECT count(*) FROM pg_stat_activity WHERE pid = {mine} AND xact_start IS NOT NULL");
        assert_eq!(number(&other, &open).await, 0);
    }
    server.close().await;
}

/// A snapshot begins with its first question, in the same flight; what nobody asked is neither begun nor ended.
#[tokio::test]
async fn a_snapshot_is_of_the_moment_when_it_is_asked_first() {
    let Some(url) = postgres::fresh_database() else { return };
    let (server, other) = (server(&url, 2).await, link(&url).await);
    let count = "SELECT count(*) FROM kept";
    other.batch("CREATE TABLE kept (number int8)").await.unwrap();
    assert_eq!(number(&server.reads, count).await, 0);
    drop(server.reads.snapshot().await.unwrap());
    let snapshot = server.reads.snapshot().await.unwrap();
    let begun = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
                 AND (xact_start IS NOT NULL AND pid <> pg_backend_pid() OR query IN ('ROLLBACK', 'BEGIN'))";
    assert_eq!(number(&other, begun).await, 0);
    other.batch("INSERT INTO kept VALUES (1)").await.unwrap();
    assert_eq!(number(&snapshot, count).await, 1);
    other.batch("INSERT INTO kept VALUES (2)").await.unwrap();
    assert_eq!(number(&snapshot, count).await, 1);
    assert!(snapshot.execute_unprepared("INSERT INTO kept VALUES (3)").await.is_err());
    drop(snapshot);
    // Whoever has the connection next is in no transaction of somebody else.
    assert_eq!(number(&server.reads, count).await, 2);
    server.close().await;
}

/// A BEGIN that was cancelled once left its session inside a transaction which the driver did not know of; what was
/// written on it later was acknowledged and gone.
#[tokio::test]
async fn a_connection_that_missed_its_deadline_is_never_asked_again() {
    let Some(url) = postgres::fresh_database() else { return };
    let patience = Duration::from_millis(300);
    let link = Link::open(&Target::of(&url, PATIENCE).unwrap(), patience).await.unwrap();
    let late = link.query(asked("SELECT pg_sleep(60)::text AS late", [])).await.unwrap_err();
    assert!(late.to_string().contains("does not answer"), "{late}");
    assert!(link.is_spent().is_some());
    assert!(link.query(asked("SELECT 1 AS one", [])).await.is_err());
}

#[tokio::test]
async fn a_cancelled_begin_loses_no_later_write() {
    let Some(url) = postgres::fresh_database() else { return };
    let (server, other) = (server(&url, 2).await, link(&url).await);
    server.reads.execute_unprepared("CREATE TABLE kept (number int8)").await.unwrap();
    for index in 0..200 {
        if index % 20 == 0 {
            for polls in 1..8 {
                let reads = server.reads.clone();
                let begun = tokio::spawn(async move {
                    let snapshot = reads.snapshot().await.unwrap();
                    let _cancelled = snapshot.query_one_raw(asked("SELECT 1", [])).await;
                });
                for _ in 0..polls {
                    tokio::task::yield_now().await;
                }
                begun.abort();
                let _cancelled = begun.await;
            }
        }
        let insert = asked("INSERT INTO kept VALUES ($1)", [i64::from(index).into()]);
        server.reads.execute_raw(insert).await.unwrap();
    }
    assert_eq!(number(&other, "SELECT count(*) FROM kept").await, 200);
    server.close().await;
}

async fn until(server: &Server, standing: Standing) {
    while server.health().standing() != standing {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_away_costs_nobody_a_wait_and_comes_back_by_itself() {
    let Some(url) = postgres::fresh_database() else { return };
    let wire = Wire::to(address(&url));
    let server = server(&wire.url(&url), 4).await;
    assert_eq!(number(&server.reads, "SELECT 1").await, 1);
    for silently in [false, true] {
        let set = |away: bool| if silently { wire.silence(away) } else { wire.refuse(away) };
        set(true);
        // One who waits for an answer when it goes away learns so too.
        let waited = server.reads.query_one_raw(asked("SELECT 1", [])).await;
        assert!(Fault::within(&waited.unwrap_err()).unwrap().is_away());
        until(&server, Standing::Away).await;
        let before = wire.requests();
        for _ in 0..100 {
            assert!(server.reads.lease().await.is_err_and(|fault| fault.is_away()));
            assert!(server.door.lease().await.is_err_and(|fault| fault.is_away()));
            assert!(server.writes.begin().await.is_err_and(|fault| fault.is_away()));
        }
        assert_eq!(wire.requests(), before);
        set(false);
        until(&server, Standing::Here).await;
        assert_eq!(number(&server.reads, "SELECT 1").await, 1);
        assert!(server.writes.begin().await.is_ok());
    }
    server.close().await;
}

/// What the server stands at, until it is this; all that it was meanwhile.
async fn met_until(server: &Server, last: Standing) -> Vec<Standing> {
    let mut met = Vec::new();
    loop {
        let standing = server.health().standing();
        if met.last() != Some(&standing) {
            met.push(standing.clone());
        }
        // Whoever is told of a standby is told wrongly, where that is not what is waited for.
        if standing == last || standing == Standing::CommitsWait {
            return met;
        }
        tokio::task::yield_now().await;
    }
}

/// A commit that does not come to its end: because the database is silent, because of something in the commit itself, or
/// because a standby is missing. Only the last is told as that.
#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_hangs_is_told_by_what_it_hangs_on() {
    let Some(cluster) = postgres::Cluster::start() else { return };
    let direct = cluster.fresh_database();
    let wire = Wire::to(address(&direct));
    let server = server(&wire.url(&direct), 4).await;
    let other = link(&direct).await;
    let waiting = "CREATE FUNCTION waits() RETURNS trigger LANGUAGE plpgsql AS \
                   $$ BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NULL; END $$";
    other.batch(waiting).await.unwrap();
    other.batch("CREATE TABLE plain (number int8); CREATE TABLE waiting (number int8)").await.unwrap();
    let late = "CREATE CONSTRAINT TRIGGER late AFTER INSERT ON waiting DEFERRABLE INITIALLY DEFERRED \
                FOR EACH ROW EXECUTE FUNCTION waits()";
    other.batch(late).await.unwrap();
    // Who looks may still be at a look that began while all was silent.
    let committing = async |table: &str| loop {
        if let Ok(lease) = server.writes.begin().await
            && lease.execute_unprepared(&format!("INSERT INTO {table} VALUES (1)")).await.is_ok()
        {
            return lease;
        }
        tokio::task::yield_now().await;
    };

    // A lock that another holds.
    other.batch("SELECT pg_advisory_lock(7)").await.unwrap();
    let lease = committing("waiting").await;
    let commit = tokio::spawn(lease.commit());
    let met = met_until(&server, Standing::CommitsHang).await;
    assert_eq!(met, [Standing::Here, Standing::CommitsHang]);
    other.batch("SELECT pg_advisory_unlock(7)").await.unwrap();
    assert!(matches!(commit.await.unwrap(), Committed::Done));
    until(&server, Standing::Here).await;

    // A database that is silent.
    let lease = committing("plain").await;
    wire.silence(true);
    let commit = tokio::spawn(lease.commit());
    let met = met_until(&server, Standing::Away).await;
    assert!(!met.contains(&Standing::CommitsWait), "{met:?}");
    assert!(matches!(commit.await.unwrap(), Committed::Unknown(_)));
    wire.silence(false);
    until(&server, Standing::Here).await;

    // A standby that is missing.
    let lease = committing("plain").await;
    other.batch("ALTER SYSTEM SET synchronous_standby_names = 'ghost'").await.unwrap();
    other.batch("SELECT pg_reload_conf()").await.unwrap();
    while number(&lease, "SELECT count(*) FROM pg_settings WHERE setting = 'ghost'").await == 0 {}
    let commit = tokio::spawn(lease.commit());
    met_until(&server, Standing::CommitsWait).await;
    assert!(server.writes.begin().await.is_err_and(|fault| fault.is_away()));
    other.batch("ALTER SYSTEM RESET synchronous_standby_names").await.unwrap();
    other.batch("SELECT pg_reload_conf()").await.unwrap();
    let _whatever = commit.await.unwrap();
    until(&server, Standing::Here).await;
    server.close().await;
    other.close().await;
}

/// Where many write, one always waits for the standby; none of them for long.
#[tokio::test(flavor = "multi_thread")]
async fn commits_that_take_turns_in_waiting_for_a_standby_are_no_fault() {
    let Some(cluster) = postgres::Cluster::start() else { return };
    let url = cluster.fresh_database();
    let other = link(&url).await;
    other.batch("CREATE TABLE kept (number int8)").await.unwrap();
    let standby = cluster.standby();
    let behind = link(&standby.has(&url)).await;
    // Each commit waits until the standby shows it, which it does some time later.
    behind.batch("ALTER SYSTEM SET recovery_min_apply_delay = 300").await.unwrap();
    behind.batch("SELECT pg_reload_conf()").await.unwrap();
    for setting in ["synchronous_standby_names = '*'", "synchronous_commit = 'remote_apply'"] {
        other.batch(format!("ALTER SYSTEM SET {setting}")).await.unwrap();
    }
    other.batch("SELECT pg_reload_conf()").await.unwrap();
    while number(&other, "SELECT count(*) FROM pg_settings WHERE setting = 'remote_apply'").await == 0 {}
    let server = server(&format!("{url}?options=-c%20synchronous_commit%3Dremote_apply"), 4).await;
    let writer = async |first: u64| {
        tokio::time::sleep(Duration::from_millis(first * 100)).await;
        let mut longest = Duration::ZERO;
        let begun = std::time::Instant::now();
        while begun.elapsed() < Duration::from_secs(4) {
            let at = std::time::Instant::now();
            let lease = server.writes.begin().await.expect("it takes writes");
            lease.execute_unprepared("INSERT INTO kept VALUES (1)").await.unwrap();
            assert!(matches!(lease.commit().await, Committed::Done));
            longest = longest.max(at.elapsed());
        }
        longest
    };
    let seen = async {
        let mut most = 0;
        for _ in 0..35 {
            tokio::time::sleep(Duration::from_millis(100)).await;
            let waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
            most = most.max(number(&other, waits).await);
            assert_ne!(server.health().standing(), Standing::CommitsWait);
        }
        most
    };
    let (one, two, three, most) = tokio::join!(writer(0), writer(1), writer(2), seen);
    assert!(most > 0 && one.min(two).min(three) > Duration::from_millis(100), "{most}: {one:?} {two:?} {three:?}");
    server.close().await;
    behind.close().await;
    other.close().await;
}

fn address(url: &str) -> std::net::SocketAddr {
    let place = url.split_once('@').unwrap().1.split('/').next().unwrap();
    place.parse().unwrap()
}

/// A certificate's authority, and a server's certificate for this name, as PEM: authority, certificate, key.
fn certificates(name: &str) -> [String; 3] {
    let own = rcgen::KeyPair::generate().unwrap();
    let mut authority = rcgen::CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let root = authority.self_signed(&own).unwrap();
    let issuer = rcgen::Issuer::new(authority, own);
    let key = rcgen::KeyPair::generate().unwrap();
    let server = rcgen::CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
    [root.pem(), server.pem(), key.serialize_pem()]
}

/// Has a server speak TLS by a certificate and its key.
async fn secured(plain: &Link, certificate: &str, key: &str) {
    // The server reads a key only if it is its own and nobody else's. Where we are root it runs as somebody else.
    std::fs::set_permissions(key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let _ours_already = std::process::Command::new("chown").args(["postgres", key]).output();
    for (setting, value) in [("ssl_cert_file", certificate), ("ssl_key_file", key), ("ssl", "on")] {
        plain.batch(format!("ALTER SYSTEM SET {setting} = '{value}'")).await.unwrap();
    }
    plain.batch("SELECT pg_reload_conf()").await.unwrap();
}

/// Whether TLS is spoken with a server, where it can be spoken with.
async fn speaks(url: String) -> Result<bool, Fault> {
    let target = Target::of(&url, PATIENCE)?;
    let link = Link::open(&target, PATIENCE.writer).await?;
    let secure = number(&link, "SELECT count(*) FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl").await;
    link.close().await;
    Ok(secure == 1)
}

#[tokio::test]
async fn tls_is_spoken_and_verified_as_libpq_does() {
    let Some(cluster) = postgres::Cluster::start() else { return };
    let direct = cluster.fresh_database();
    let plain = link(&format!("{direct}?sslmode=disable")).await;
    let folder = process::fresh_folder("certificates");
    let ([root, certificate, key], [stranger, ..]) = (certificates("localhost"), certificates("localhost"));
    let file = |name: &str, text: &str| {
        let path = folder.join(name).display().to_string();
        std::fs::write(&path, text).unwrap();
        path
    };
    let (root, stranger) = (file("root.pem", &root), file("stranger.pem", &stranger));
    secured(&plain, &file("certificate.pem", &certificate), &file("key.pem", &key)).await;
    let named = direct.replace("127.0.0.1", "localhost");
    while speaks(format!("{direct}?sslmode=require")).await.is_err() {}
    for (place, how, expected) in [
        (&direct, "sslmode=disable".to_owned(), Some(false)),
        (&direct, "sslmode=prefer".into(), Some(true)),
        // Nobody says who signed it, and nobody is asked.
        (&direct, "sslmode=require".into(), Some(true)),
        (&direct, format!("sslmode=require&sslrootcert={stranger}"), None),
        (&direct, format!("sslmode=verify-ca&sslrootcert={root}"), Some(true)),
        (&direct, format!("sslmode=verify-ca&sslrootcert={stranger}"), None),
        (&direct, format!("sslmode=verify-full&sslrootcert={root}"), None),
        (&named, format!("sslmode=verify-full&sslrootcert={root}"), Some(true)),
        (&named, format!("sslmode=verify-full&sslrootcert={stranger}"), None),
    ] {
        assert_eq!(speaks(format!("{place}?{how}")).await.ok(), expected, "{how}");
    }
    plain.close().await;
}

/// As Citus makes one for itself.
#[tokio::test]
async fn a_certificate_of_version_1_serves_where_nothing_is_verified() {
    serves_with(&["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]).await;
}

#[tokio::test]
async fn one_of_version_1_with_a_key_of_rsa_does_so_too() {
    serves_with(&["rsa:2048"]).await;
}

async fn serves_with(kind: &[&str]) {
    let Some(cluster) = postgres::Cluster::start() else { return };
    let direct = cluster.fresh_database();
    let plain = link(&format!("{direct}?sslmode=disable")).await;
    let folder = process::fresh_folder("version-1");
    let [key, asked, certificate, stranger] =
        ["key.pem", "asked.pem", "certificate.pem", "stranger.pem"].map(|name| folder.join(name).display().to_string());
    let asking = ["req", "-new", "-keyout", &key, "-out", &asked, "-nodes", "-subj", "/CN=localhost", "-newkey"];
    let asking = [&asking, kind].concat();
    for words in [&asking[..], &["x509", "-req", "-in", &asked, "-signkey", &key, "-out", &certificate]] {
        let made = std::process::Command::new("openssl").args(words).output().expect("openssl");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    }
    // Another key of the same kind.
    let others =
        [&["req", "-new", "-keyout", &stranger, "-out", &asked, "-nodes", "-subj", "/CN=localhost", "-newkey"], kind];
    assert!(std::process::Command::new("openssl").args(others.concat()).output().unwrap().status.success());
    let shown = std::process::Command::new("openssl").args(["x509", "-in", &certificate, "-noout", "-text"]).output();
    let shown = String::from_utf8_lossy(&shown.unwrap().stdout).into_owned();
    assert!(shown.contains("Version: 1 "), "{shown}");
    secured(&plain, &certificate, &key).await;
    for latest in ["TLSv1.3", "TLSv1.2"] {
        plain.batch(format!("ALTER SYSTEM SET ssl_max_protocol_version = '{latest}'")).await.unwrap();
        plain.batch("SELECT pg_reload_conf()").await.unwrap();
        let spoken = format!("SELECT (current_setting('ssl_max_protocol_version') = '{latest}')::int::int8 AS n");
        while number(&plain, &spoken).await != 1 {}
        for (how, expected) in [
            ("sslmode=prefer".to_owned(), Some(true)),
            ("sslmode=require".into(), Some(true)),
            (format!("sslmode=verify-ca&sslrootcert={certificate}"), None),
        ] {
            assert_eq!(speaks(format!("{direct}?{how}")).await.ok(), expected, "{latest} {how}");
        }
    }
    plain.close().await;
    // Whoever shows it has its key.
    for version in [&rustls::version::TLS13, &rustls::version::TLS12] {
        assert!(is_spoken_with(&certificate, &key, version).await);
        assert!(!is_spoken_with(&certificate, &stranger, version).await);
    }
}

/// Whether TLS comes about with who shows a certificate and signs with a key, where nothing is verified.
async fn is_spoken_with(certificate: &str, key: &str, version: &'static rustls::SupportedProtocolVersion) -> bool {
    let chain = rustls::pki_types::CertificateDer::pem_file_iter(certificate).unwrap();
    let chain = chain.collect::<Result<Vec<_>, _>>().unwrap();
    let key = rustls::pki_types::PrivateKeyDer::from_pem_file(key).unwrap();
    let key = rustls::crypto::ring::sign::any_supported_type(&key).unwrap();
    let shown = rustls::sign::SingleCertAndKey::from(rustls::sign::CertifiedKey::new(chain, key));
    let config = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    let config = config.with_protocol_versions(&[version]).unwrap().with_no_client_auth();
    let config = config.with_cert_resolver(Arc::new(shown));
    let door = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("postgres://one@{}/one?sslmode=require", door.local_addr().unwrap());
    let serving = async {
        let (mut stream, _) = door.accept().await.unwrap();
        // The client asks whether TLS is spoken, and it is; after it nothing is said any more.
        let mut asked = [0; 8];
        stream.read_exact(&mut asked).await.unwrap();
        stream.write_all(b"S").await.unwrap();
        let mut spoken = tokio_rustls::TlsAcceptor::from(Arc::new(config)).accept(stream).await?;
        // In 1.3 the server is done before the client has judged it.
        spoken.read_exact(&mut asked).await
    };
    let (served, refused) = tokio::join!(serving, speaks(url));
    assert!(refused.is_err());
    served.is_ok()
}

/// Whoever configures the server, or writes the URL, cannot have acknowledged what is not kept.
#[tokio::test]
async fn what_is_acknowledged_is_kept_whatever_was_asked_for() {
    let Some(url) = postgres::fresh_database() else { return };
    for (asked_for, expected) in [("off", "on"), ("on", "on"), ("local", "local"), ("remote_apply", "remote_apply")] {
        let options = format!("-c%20synchronous_commit%3D{asked_for}%20-c%20quote_all_identifiers%3Don");
        let link = link(&format!("{url}?options={options}")).await;
        let is = |name: &str, value: &str| format!("SELECT (current_setting('{name}') = '{value}')::int::int8 AS n");
        assert_eq!(number(&link, &is("synchronous_commit", expected)).await, 1, "{asked_for}");
        assert_eq!(number(&link, &is("quote_all_identifiers", "off")).await, 1, "{asked_for}");
        link.close().await;
    }
}
