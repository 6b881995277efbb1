//! Standbys of PostgreSQL that answer reads: never with less than was asked for, and no read is lost with one of them.

use crate::backups::text;
use crate::harness::books::connected;
use crate::harness::postgres::Cluster;
use crate::harness::process::{eventually, fresh_folder};
use crate::harness::server::{DIALECTS, OWNER_EMAIL, OWNER_PASSWORD, Said, authorised, run};
use crate::harness::{Company, Dialect, Engine, Options, Request, Server};
use crate::sequences::{AT_LEAST, SEQUENCE, knows, made, read};
use crate::sight::{WATCHED, metrics, series};
use sea_orm::{ConnectionTrait, Statement};
use serde_json::{Value, json};

/// A server, and the standby and the database that it reads from. They end in this order: a PostgreSQL that is told to end waits
/// for whoever is connected.
struct Followed {
    server: Server,
    standby: Cluster,
    cluster: Cluster,
}

impl Followed {
    fn start(lag: &str) -> Option<Self> {
        let cluster = Cluster::start()?;
        let (database, standby) = (cluster.fresh_database(), cluster.standby());
        let custom = json!({"Database": {"Replicas": [standby.has(&database)], "ReplicaLag": lag}});
        let options = Options {
            database: Some(database),
            custom: Some(custom.to_string()),
            arguments: WATCHED.map(str::to_owned).to_vec(),
            ..Options::default()
        };
        let server = Server::start(Engine::Postgres, options)?;
        let followed = Self { server, standby, cluster };
        followed.is_used(true);
        Some(followed)
    }

    /// Waits until it is told whether reads are answered by the standby.
    fn is_used(&self, used: bool) {
        let wanted = i32::from(used).to_string();
        eventually("the news of the standby", || {
            let told = metrics(&self.server);
            (series(&told, r#"duet_replica_used{replica="1"}"#)? == wanted).then_some(())
        });
    }

    /// Whether somebody read such a thing of the standby.
    fn was_asked(&self, what: &str) -> bool {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let there = connected(&self.standby.has(self.server.database_url())).await.unwrap();
            let asked = format!(
                "SELECT count(*) AS n FROM pg_stat_activity WHERE application_name = 'duet' AND query LIKE '%{what}%' \
                 AND pid <> pg_backend_pid()"
            );
            let row = there.query_one_raw(Statement::from_string(there.get_database_backend(), asked)).await;
            row.unwrap().unwrap().try_get_by_index::<i64>(0).unwrap() > 0
        })
    }

    fn pause(&self) {
        assert!(self.standby.psql("SELECT pg_wal_replay_pause()"));
        // What was under way when that was asked is still done.
        let paused = "SELECT 1 / (pg_get_wal_replay_pause_state() = 'paused')::int";
        let known = self.standby.psql("SELECT pg_get_wal_replay_pause_state()");
        eventually("the pause", || (!known || self.standby.psql(paused)).then_some(()));
    }

    fn resume(&self) {
        assert!(self.standby.psql("SELECT pg_wal_replay_resume()"));
    }

    /// What the doctor finds of the standby is this grave.
    fn doctor_finds(&self, severity: &str) {
        let said = self.server.command(&["doctor", "--json"], "");
        let said: Value = serde_json::from_slice(&said.stdout).unwrap();
        let mut found = said["findings"].as_array().unwrap().iter().filter(|one| one["about"] == "replica");
        let found = found.next().expect("it is looked at");
        assert_eq!(found["severity"], severity, "{found}");
    }

    fn told(&self, code: &str) -> usize {
        self.server.log().matches(code).count()
    }
}

fn names(said: &Said) -> Vec<String> {
    let items = said.data["items"].as_array().unwrap();
    items.iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
}

fn rent_of(company: &Company<'_>, at_least: Option<&str>) -> (Value, i64) {
    let said = read(company, Dialect::A, ("reports", "/pl?to=2026-12-31"), at_least).expect(200);
    (said.data.clone(), knows(&said))
}

#[test]
fn an_older_answer_is_given_only_to_whoever_asks_for_no_more() {
    let Some(followed) = Followed::start("24h") else { return };
    let server = &followed.server;
    let company = server.company();
    let first = made(&company, "The first");
    let until = knows(&first).to_string();
    eventually("the first on the standby", || {
        let said = read(&company, Dialect::B, ("parties", "?sort=name"), None);
        (names(&said.expect(200)) == ["The first"]).then_some(())
    });
    eventually("the first report", || (rent_of(&company, None).1 >= knows(&first)).then_some(()));
    let another = server.login(OWNER_EMAIL, OWNER_PASSWORD);
    followed.pause();

    let path = format!("/{}", first.id());
    let written = company.ask(
        Dialect::A,
        "PUT",
        "parties",
        &path,
        Some(&json!({"name": "The first, renamed", "isCustomer": true})),
    );
    assert!(written.expect(200).answer.header(SEQUENCE).is_some());
    company.journal("2026-03-05", &[("6200", "1"), ("1010", "-1")]);
    let second = made(&company, "The second");
    let now = knows(&second).to_string();
    // Older, and it says so.
    let old = read(&company, Dialect::B, ("parties", "?sort=name&pageSize=10"), None).expect(200);
    assert_eq!((names(&old), knows(&old).to_string()), (vec!["The first".to_owned()], until.clone()));
    let old = read(&company, Dialect::A, ("parties", &path), None).expect(200);
    assert_eq!(old.data["name"], "The first");
    let tag = old.answer.header("etag").unwrap().to_owned();
    let (old_report, old_until) = rent_of(&company, None);
    assert_eq!(old_until.to_string(), until);
    // As much as was asked for is enough.
    let same = read(&company, Dialect::B, ("parties", "?sort=name&pageSize=10"), Some(&until)).expect(200);
    assert_eq!(knows(&same).to_string(), until);

    for dialect in DIALECTS {
        let new = read(&company, dialect, ("parties", "?sort=name&pageSize=20"), Some(&now)).expect(200);
        assert_eq!(names(&new), ["The first, renamed", "The second"]);
        assert!(knows(&new) >= knows(&second));
        // Who has the older one is not told that it is the same still.
        let asked = company.request(dialect, "GET", "parties", &path).header("If-None-Match", &tag);
        assert_eq!(server.send(&asked.header(AT_LEAST, &now)).status, 200);
    }
    assert_ne!(rent_of(&company, Some(&now)).0, old_report);
    // What comes in portions begins with all that there is.
    let csv =
        company.request(Dialect::B, "GET", "reports", "/pl?to=2026-12-31&format=csv").header("accept", "text/csv");
    let csv = server.send(&csv).expect(200);
    assert!(csv.text.contains("6200") && csv.header(SEQUENCE) == Some(now.as_str()), "{}", csv.text);
    // Who is let in is never read of the standby.
    let logout = authorised(Request::new("POST", "/b/api/auth/me/logout"), &another);
    server.send(&logout).expect(200);
    let out = Company { token: another, ..company.clone() };
    read(&out, Dialect::B, ("parties", "?sort=name"), None).expect(401);
    // Nor is a repeat, nor what a write expects.
    let stale = company.request(Dialect::B, "PUT", "parties", &path).header("If-Match", &tag);
    let stale = stale.json(&json!({"name": "Too late", "isCustomer": true}));
    assert_eq!(company.say(Dialect::B, stale).status, 412);

    followed.resume();
    eventually("the second on the standby", || {
        let said = read(&company, Dialect::B, ("parties", "?sort=name&pageSize=30"), None);
        (names(&said.expect(200)).len() == 2).then_some(())
    });
    assert_eq!(company.failed_checks(), [""; 0]);
}

#[test]
fn no_answer_is_older_unless_that_is_said_and_no_read_is_lost_with_a_standby() {
    let Some(mut followed) = Followed::start("off") else { return };
    let company = followed.server.company();
    let count = |company: &Company<'_>, page: usize| {
        let path = format!("?sort=-name&pageSize={page}");
        let said = read(company, Dialect::A, ("parties", &path), None).expect(200);
        (said.data["pagination"]["totalCount"].as_i64().unwrap(), knows(&said))
    };
    for round in 1..=20 {
        let written = made(&company, &format!("Party {round}"));
        assert_eq!(count(&company, 5), (round, knows(&written)), "each reads what they wrote");
    }
    assert!(followed.was_asked("\"part"), "it is the standby that answers");
    followed.doctor_finds("good");

    followed.pause();
    for round in 21..=30 {
        let written = made(&company, &format!("Party {round}"));
        assert_eq!(count(&company, 6), (round, knows(&written)), "the database itself answers");
    }
    eventually("the word of that", || (followed.told("replica_behind") == 1).then_some(()));
    followed.is_used(false);
    followed.resume();
    followed.is_used(true);

    followed.standby.signal_all("KILL");
    for round in 31..=50 {
        let written = made(&company, &format!("Party {round}"));
        assert_eq!(count(&company, 7), (round, knows(&written)), "the database itself answers");
    }
    followed.is_used(false);
    followed.doctor_finds("warning");
    assert_eq!(followed.told("replica_away"), 1);
    assert_eq!(followed.told("database_away"), 0);
    followed.standby = followed.standby.started_again();
    followed.is_used(true);
    assert_eq!((followed.told("replica_away"), followed.told("replica is back")), (1, 1));
    assert!(followed.cluster.psql("SELECT 1"));
    eventually("an answer of the standby", || {
        assert_eq!(count(&company, 8).0, 50);
        made(&company, "One more").answer.header(SEQUENCE)?;
        let found = read(&company, Dialect::B, ("parties", "?q=party&pageSize=9"), None).expect(200);
        assert_eq!(found.data["pagination"]["totalCount"], 50);
        followed.was_asked("\"part").then_some(())
    });
}

/// A server of a database, beside a standby that is none of it. Nothing is read of that.
fn is_not_asked(database: &str, other: &str, why: &str) {
    let custom =
        json!({"Database": {"Replicas": [other]}, "Security": {"MasterKey": "one key of all servers of these books"}});
    let options = Options {
        database: Some(database.to_owned()),
        custom: Some(custom.to_string()),
        arguments: WATCHED.map(str::to_owned).to_vec(),
        ..Options::default()
    };
    let server = Server::start(Engine::Postgres, options).expect("it starts");
    eventually("the word of why it is not asked", || server.log().contains(why).then_some(()));
    let company = server.company();
    for round in 1..=10 {
        let written = made(&company, &format!("Party {round}"));
        let said =
            read(&company, Dialect::B, ("parties", "?sort=name"), Some(&knows(&written).to_string())).expect(200);
        assert_eq!((names(&said).len(), knows(&said)), (round, knows(&written)));
    }
    assert_eq!(series(&metrics(&server), r#"duet_replica_used{replica="1"}"#).as_deref(), Some("0"));
}

#[test]
fn what_is_no_standby_of_these_books_is_not_asked() {
    let Some(cluster) = Cluster::start() else { return };
    let [books, others] = [cluster.fresh_database(), cluster.fresh_database()];
    let standby = cluster.standby();
    // Another database of the same server.
    is_not_asked(&books, &standby.has(&others), "no standby of this database");
    // The standby leads, and who led before has gone on alone and comes back as it was.
    assert!(cluster.psql("CREATE TABLE alone (n int)") && cluster.psql("SELECT pg_switch_wal()"));
    assert!(standby.psql("SELECT pg_promote()"));
    cluster.signal_all("KILL");
    let former = cluster.started_behind();
    is_not_asked(&standby.has(&books), &former.has(&books), "on timeline 1 still");
}

#[test]
fn standbys_are_of_postgres_and_each_is_named_by_itself() {
    let folder = fresh_folder("no-replicas");
    let check = |set: &[&str]| {
        let mut words = vec!["config".to_owned(), "check".to_owned(), "--data".into(), text(&folder)];
        words.extend(set.iter().flat_map(|set| ["--set".to_owned(), (*set).to_owned()]));
        let said = run(&words, "");
        (
            said.status.code(),
            String::from_utf8_lossy(&said.stdout).into_owned() + &String::from_utf8_lossy(&said.stderr),
        )
    };
    let there = "ConnectionStrings:Default=postgres://u@127.0.0.1/books";
    for (set, part) in [
        (&["Database:Replicas=postgres://u:hidden@127.0.0.1/books"][..], "SQLite"),
        (&[there, "Database:Replicas=sqlite:books.db"], "of each standby"),
        (&[there, "Edition=Cloud", "Database:Replicas=postgres://u:hidden@127.0.0.1/books"], "cloud edition"),
        (&[there, "Database:ReplicaLag=1s"], "5s or more"),
    ] {
        let (code, said) = check(set);
        assert!(
            code == Some(2) && said.contains("Database:Replica") && said.contains(part),
            "{set:?}: {code:?} {said}"
        );
        assert!(!said.contains("hidden"), "{said}");
    }
    let (code, said) = check(&[there, "Database:Replicas=postgres://u@127.0.0.1/books", "Database:ReplicaLag=30s"]);
    assert_eq!(code, Some(0), "{said}");
}
