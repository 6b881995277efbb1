//! The cloud edition on many machines: servers that share a catalogue of tenants and nothing else.

use crate::harness::books::connected;
use crate::harness::http::Answer;
use crate::harness::postgres::Cluster;
use crate::harness::process::{eventually, free_port, say_loudly};
use crate::harness::server::authorised;
use crate::harness::{Engine, Options, Request, Server};
use ledger_core::database::schema_name;
use sea_orm::{ConnectionTrait, Statement};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What is done without end leaves the machine to others in between.
const BREATH: Duration = Duration::from_millis(50);
const PASSWORD: &str = "the first user of a tenant";
const EMAIL: &str = "first@example.test";
const ADMIN_KEY: &str = "fb0d5b7c6f1f4c0f9e1b2a3d4c5e6f708192a3b4";

/// Says that it is over, also where something fails: who goes on until then would go on for ever.
pub struct Over<'o>(pub &'o AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What clusters are called.
pub const NAMES: [&str; 8] = ["north", "south", "east", "west", "upper", "lower", "inner", "outer"];

/// Servers of one catalogue, and the clusters that their tenants are in.
pub struct Farm {
    pub servers: Vec<Server>,
    admin: Vec<u16>,
    pub clusters: Vec<Cluster>,
    /// The address of it, in the first of them.
    pub catalogue: String,
}

impl Farm {
    fn of(count: usize, more: &str) -> Option<Self> {
        Self::over(2, (count, 25), more)
    }

    /// Over so many clusters, of so many servers that have so many tenants open at most.
    pub fn over(clusters: usize, (count, open): (usize, usize), more: &str) -> Option<Self> {
        let clusters: Vec<Cluster> = (0..clusters).map(|_| Cluster::of_many()).collect::<Option<_>>()?;
        let catalogue = clusters[0].fresh_database();
        let named = NAMES.iter().zip(&clusters).map(|(name, cluster)| format!("{name}={}", cluster.fresh_database()));
        let named = named.collect::<Vec<_>>().join("\\n");
        let admin: Vec<u16> = (0..count).map(|_| free_port()).collect();
        let start = |port: &u16| {
            let custom = format!(
                r#"{{"Edition": "Cloud", "Security": {{"MasterKey": "one key of all servers of a farm"}}, "Cloud": {{
                    "Catalogue": "{catalogue}", "Clusters": "{named}", "MostOpen": {open},
                    "Admin": {{"Listen": "http://127.0.0.1:{port}", "Key": "{ADMIN_KEY}"}}}}{more}}}"#
            );
            Server::start(Engine::Sqlite, Options { custom: Some(custom), ..Options::default() }).expect("it starts")
        };
        let servers = admin.iter().map(start).collect();
        Some(Self { servers, admin, clusters, catalogue })
    }

    /// Makes a tenant as an administrator does by a server.
    pub fn has(&self, server: usize, (host, cluster): (&str, &str)) {
        let tenant = json!({"host": host, "cluster": cluster, "email": EMAIL, "password": PASSWORD});
        self.administer(server, "POST", "/tenants", Some(&tenant)).expect(201);
    }

    fn add(&self, host: &str, cluster: &str) {
        let words = ["tenant", "add", host, "--email", EMAIL, "--password-stdin", "--cluster", cluster];
        done(&self.servers[0].command(&words, PASSWORD));
    }

    /// What administrators are answered by a server.
    fn administer(&self, server: usize, method: &str, path: &str, body: Option<&Value>) -> Answer {
        let request = Request::new(method, path).header("Authorization", &format!("Bearer {ADMIN_KEY}"));
        let request = body.map_or(request.clone(), |body| request.json(body));
        request.send(([127, 0, 0, 1], self.admin[server]).into())
    }
}

fn done(output: &std::process::Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Asks a database, with a connection that ends with the question.
pub fn waited<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(work)
}

/// A number that a database answers.
pub fn number_of(url: &str, sql: &str) -> i64 {
    waited(async {
        let there = connected(url).await.expect("it is there");
        let row = there.query_one_raw(Statement::from_string(there.get_database_backend(), sql)).await;
        row.expect("an answer").expect("a row").try_get_by_index(0).expect("a number")
    })
}

/// Changes a database behind the back of whoever serves it.
fn changed(url: &str, sql: &str) {
    waited(async { connected(url).await.expect("it is there").execute_unprepared(sql).await.expect("a change") });
}

pub fn log_in(server: &Server, host: &str) -> Answer {
    let body = json!({"email": EMAIL, "password": PASSWORD});
    server.send(&Request::new("POST", "/b/api/auth/login").json(&body).header("Host", host))
}

fn token(server: &Server, host: &str) -> String {
    log_in(server, host).expect(200).json()["token"].as_str().expect("a token").to_owned()
}

/// Somebody in a company of a tenant.
pub struct Bookkeeper {
    host: String,
    token: String,
    company: String,
}

impl Bookkeeper {
    pub fn of(server: &Server, host: &str) -> Self {
        let token = token(server, host);
        let body = json!({"name": host, "baseCurrency": "EUR"});
        let made = Request::new("POST", "/b/api/businesses").json(&body).header("Host", host);
        let made = server.send(&authorised(made, &token)).expect(201).json();
        Self { host: host.into(), token, company: made["id"].as_str().expect("an identifier").into() }
    }

    pub fn ask(&self, server: &Server, request: Request) -> Answer {
        server.send(&authorised(request.header("Host", &self.host).header("X-Business-Id", &self.company), &self.token))
    }

    pub fn party(name: &str) -> Request {
        let body = json!({"name": name, "isCustomer": true});
        Request::new("POST", "/b/api/parties").json(&body).header("Idempotency-Key", name)
    }

    fn names(&self, server: &Server) -> Vec<String> {
        let mut names = Vec::new();
        for page in 1.. {
            let list = Request::new("GET", &format!("/b/api/parties?pageSize=200&page={page}"));
            let list = self.ask(server, list).expect(200).json();
            let items = list["items"].as_array().expect("items");
            names.extend(items.iter().map(|one| one["name"].as_str().expect("a name").to_owned()));
            if items.len() < 200 {
                break;
            }
        }
        names
    }
}

#[test]
fn any_server_serves_any_tenant_and_all_hear_what_becomes_of_it() {
    let Some(farm) = Farm::of(2, r#", "Limits": {"RequestsPerMinute": 40}"#) else { return };
    let [one, two] = [&farm.servers[0], &farm.servers[1]];
    farm.add("acme.example", "north");
    let keeper = Bookkeeper::of(one, "acme.example");
    // Who logged in at one is known at the other, and reads what was written there.
    keeper.ask(two, Bookkeeper::party("Written at the second")).expect(201);
    assert_eq!(keeper.names(one), ["Written at the second"]);
    assert_eq!(log_in(two, "nobody.example").status, 421);
    // Their minute is one minute.
    let list = || Request::new("GET", "/b/api/parties");
    let given: usize = (0..60).map(|turn| usize::from(keeper.ask(&farm.servers[turn % 2], list()).status == 200)).sum();
    assert!((30..=40).contains(&given), "{given} of 40 were given");
    let spent = keeper.ask(two, list());
    assert_eq!((spent.status, spent.header("x-error-code")), (429, Some("rate_limited")));
    // Suspended at all of them, and served again.
    done(&one.command(&["tenant", "suspend", "acme.example"], ""));
    for server in [one, two] {
        let answer = log_in(server, "acme.example");
        assert_eq!((answer.status, answer.header("x-error-code")), (503, Some("suspended")), "{}", answer.text);
        assert_eq!(answer.header("retry-after"), None);
    }
    done(&two.command(&["tenant", "resume", "acme.example"], ""));
    assert_eq!([log_in(one, "acme.example").status, log_in(two, "acme.example").status], [200, 200]);
    // Books in a file would be one machine's.
    let refused = one.command(&["tenant", "add", "beta.example", "--email", EMAIL], "");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--cluster NAME"));
    let refused = one.command(&["tenant", "add", "beta.example", "--email", EMAIL, "--cluster", "west"], "");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("which names north, south"));
    // Removed, and nobody's any more.
    let said = done(&one.command(&["tenant", "remove", "acme.example"], ""));
    let kept = std::path::PathBuf::from(said.trim().rsplit(' ').next().expect("a place"));
    assert!(kept.join("tenant.json").is_file() && kept.join("master-key").is_file(), "{said}");
    assert_eq!([log_in(one, "acme.example").status, log_in(two, "acme.example").status], [421, 421]);
}

/// How many of something there are: few, and by hand as many as are named.
pub fn by_hand(name: &str, few: usize) -> usize {
    let told = std::env::var(name).ok();
    told.map_or(few, |told| told.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

/// By hand with many: `DUET_TENANTS=1000 DUET_MOVES=50`.
#[test]
fn tenants_move_betweenclusters_under_load_and_nothing_is_lost_or_doubled() {
    let (tenants, moves) = (by_hand("DUET_TENANTS", 2), by_hand("DUET_MOVES", 2));
    let Some(farm) = Farm::of(2, "") else { return };
    let hosts: Vec<String> = (0..tenants).map(|number| format!("t{number}.example")).collect();
    for host in &hosts {
        farm.has(0, (host, "north"));
    }
    let (moving, others) = hosts.split_at(moves);
    let keepers: Vec<Bookkeeper> = moving.iter().map(|host| Bookkeeper::of(&farm.servers[0], host)).collect();
    let breath = BREATH * u32::try_from(moves).expect("few") / 2;
    let over = AtomicBool::new(false);
    let (written, read) = std::thread::scope(|scope| {
        let ends = Over(&over);
        let writing: Vec<_> = keepers
            .iter()
            .map(|keeper| {
                let (farm, over) = (&farm, &over);
                scope.spawn(move || {
                    let mut names = Vec::new();
                    while !over.load(Ordering::Relaxed) {
                        let name = format!("Party {}", names.len());
                        // Until somebody says that it is written, at whichever server.
                        let mut servers = farm.servers.iter().cycle();
                        eventually("a write", || {
                            let server = servers.next().expect("a server");
                            let answer = keeper.ask(server, Bookkeeper::party(&name));
                            assert!([201, 503, 409].contains(&answer.status), "{} {}", answer.status, answer.text);
                            (answer.status == 201).then_some(())
                        });
                        names.push(name);
                        std::thread::sleep(breath);
                    }
                    names
                })
            })
            .collect();
        // Where there are more of them, the others are visited meanwhile: more than may be open at once.
        scope.spawn(|| {
            for (number, host) in others.iter().enumerate() {
                eventually("a visit", || (log_in(&farm.servers[number % 2], host).status == 200).then_some(()));
            }
        });
        let reading: Vec<_> = keepers
            .iter()
            .map(|keeper| {
                let (farm, over) = (&farm, &over);
                scope.spawn(move || {
                    let mut last = 0;
                    while !over.load(Ordering::Relaxed) {
                        let list = Request::new("GET", "/b/api/parties?pageSize=1");
                        let answer = keeper.ask(&farm.servers[1], list);
                        if answer.status == 200 {
                            let now = answer.json()["pagination"]["totalCount"].as_u64().expect("a count");
                            // What was there once stays there: nobody reads from a place that was left.
                            assert!(now >= last, "{now} after {last}");
                            last = now;
                        } else {
                            assert_eq!(answer.status, 503, "{}", answer.text);
                        }
                        std::thread::sleep(breath);
                    }
                    last
                })
            })
            .collect();
        for (number, host) in moving.iter().enumerate() {
            if number % 2 == 0 {
                let said = done(&farm.servers[number % 2].command(&["tenant", "move", host, "--to", "south"], ""));
                assert!(said.contains("is served from cluster:south/"), "{said}");
            } else {
                let path = format!("/tenants/{host}");
                let asked = farm.administer(1, "POST", &format!("{path}/move"), Some(&json!({"to": "south"})));
                assert_eq!(asked.status, 202, "{}", asked.text);
                let last = eventually("the move", || {
                    let shown = farm.administer(1, "GET", &path, None).expect(200).json();
                    shown.get("lastMove").is_some().then_some(shown)
                });
                assert_eq!((&last["lastMove"]["moved"], &last["cluster"]), (&json!(true), &json!("south")), "{last}");
            }
        }
        // And one of them back again.
        done(&farm.servers[0].command(&["tenant", "move", &moving[0], "--to", "north"], ""));
        drop(ends);
        let written: Vec<Vec<String>> = writing.into_iter().map(|one| one.join().expect("it writes")).collect();
        let read: Vec<u64> = reading.into_iter().map(|one| one.join().expect("it reads")).collect();
        (written, read)
    });
    for ((keeper, names), last) in keepers.iter().zip(&written).zip(read) {
        let there = keeper.names(&farm.servers[1]);
        assert_eq!(there.len(), names.len(), "{}: each once", keeper.host);
        assert_eq!(there.iter().collect::<BTreeSet<_>>(), names.iter().collect::<BTreeSet<_>>(), "{}", keeper.host);
        assert!(!names.is_empty() && last > 0);
        done(&farm.servers[0].command(&["verify", "--tenant", &keeper.host], ""));
    }
    for server in &farm.servers {
        assert!(!server.log().contains("broke down"), "{}", server.log());
    }
    if tenants > 2 {
        let written: usize = written.iter().map(Vec::len).sum();
        let message = format!("{tenants} tenants, {moves} of them moved, {written} writes, each there once");
        say_loudly(&message);
    }
}

/// The first of a cluster has its tables made, and those of all others are copied.
#[test]
fn the_database_of_a_new_tenant_is_a_copy_of_empty_books() {
    let Some(farm) = Farm::of(1, "") else { return };
    let cluster = &farm.clusters[0];
    let pattern = format!("books_of_duet_{}", schema_name());
    // Whoever comes at the same time finds it, or makes it.
    std::thread::scope(|scope| {
        for number in 0..4 {
            let farm = &farm;
            scope.spawn(move || farm.add(&format!("first{number}.example"), "north"));
        }
    });
    let runs = |sql: &str| assert!(cluster.psql(sql), "{sql}");
    runs(&format!("SELECT 1 / CAST(NOT datallowconn AS int) FROM pg_database WHERE datname = '{pattern}'"));
    let of = |host: &str| {
        let shown = farm.administer(0, "GET", &format!("/tenants/{host}"), None).expect(200).json();
        cluster.has(shown["place"].as_str().expect("a place"))
    };
    let has_mark = |host: &str| number_of(&of(host), "SELECT COUNT(*) AS n FROM pg_class WHERE relname = 'mark'") > 0;
    // What stands in it stands in those that come after.
    let opened = |open: bool| runs(&format!("ALTER DATABASE {pattern} WITH ALLOW_CONNECTIONS {open}"));
    opened(true);
    changed(&cluster.has(&pattern), "CREATE TABLE mark ()");
    opened(false);
    farm.add("second.example", "north");
    assert_eq!(["first0.example", "second.example"].map(has_mark), [false, true]);
    Bookkeeper::of(&farm.servers[0], "second.example");
    done(&farm.servers[0].command(&["verify", "--tenant", "first3.example"], ""));
    // One that was cut off goes on: it takes connections still.
    runs(&format!("DROP DATABASE {pattern}"));
    runs(&format!("CREATE DATABASE {pattern}"));
    farm.add("third.example", "north");
    opened(true);
    changed(&cluster.has(&pattern), "CREATE TABLE mark ()");
    opened(false);
    farm.add("fourth.example", "north");
    assert_eq!(["third.example", "fourth.example"].map(has_mark), [false, true]);
    // What is somebody else's would make tables that are somebody else's.
    runs("CREATE ROLE another");
    runs(&format!("ALTER DATABASE {pattern} OWNER TO another"));
    farm.add("fifth.example", "north");
    assert!(!has_mark("fifth.example"));
    for host in ["third.example", "fifth.example"] {
        Bookkeeper::of(&farm.servers[0], host);
    }
    let told = String::from_utf8_lossy(&farm.servers[0].command(&["doctor"], "").stdout).into_owned();
    assert!(told.contains("north has what its tenants have, and no more"), "{told}");
}

/// The master key of a tenant is in the catalogue, and so is another one that its books come under.
#[test]
fn the_books_of_a_tenant_come_under_another_master_key() {
    let Some(farm) = Farm::of(2, "") else { return };
    let (host, [one, two]) = ("acme.example", [&farm.servers[0], &farm.servers[1]]);
    farm.add(host, "north");
    let keeper = Bookkeeper::of(one, host);
    keeper.ask(two, Bookkeeper::party("Before")).expect(201);
    let said = |output: &std::process::Output| {
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    };
    let reseal = |key: Option<&str>| match key {
        Some(key) => one.command(&["reseal", "--tenant", host, "--new-key-stdin"], &format!("{key}\n")),
        None => one.command(&["reseal", "--tenant", host], ""),
    };
    // Not while it is served.
    let refused = reseal(None);
    assert!(!refused.status.success() && said(&refused).contains("say duet tenant suspend"), "{}", said(&refused));
    done(&one.command(&["tenant", "suspend", host], ""));
    // What is wrong is not sealed, and hinders nobody: a name that somebody changed behind the server's back.
    let place = farm.administer(0, "GET", &format!("/tenants/{host}"), None).expect(200).json()["place"].clone();
    let database = farm.clusters[0].has(place.as_str().expect("a place"));
    let behind_the_back = |from: &str, to: &str| {
        let name = format!("UPDATE parties SET name = '{to}' WHERE name = '{from}'");
        changed(&database, &format!("SET session_replication_role = replica; {name}"));
    };
    behind_the_back("Before", "Evil");
    let refused = eventually("a refusal", || Some(reseal(None)).filter(|one| said(one).contains("FAILED")));
    assert!(!refused.status.success() && said(&refused).contains("nothing was sealed anew"), "{}", said(&refused));
    behind_the_back("Evil", "Before");
    done(&one.command(&["tenant", "resume", host], ""));
    keeper.ask(two, Bookkeeper::party("Between")).expect(201);
    done(&one.command(&["tenant", "suspend", host], ""));
    // What is cut off before the catalogue knows of it goes on with the next run.
    let name = database.rsplit('/').next().expect("a name");
    let gone = format!("SELECT 1 / CAST(COUNT(*) = 0 AS int) FROM pg_stat_activity WHERE datname = '{name}'");
    eventually("nobody is connected", || farm.clusters[0].psql(&gone).then_some(()));
    changed(
        &farm.catalogue,
        "CREATE FUNCTION cut_off() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'cut off'; END $$; \
         DO $$ BEGIN EXECUTE (SELECT 'CREATE TRIGGER cut_off BEFORE UPDATE ON tenants FOR EACH ROW \
           WHEN (NEW.turn > ' || turn + 1 || ') EXECUTE FUNCTION cut_off()' FROM tenants); END $$",
    );
    let cut_off = reseal(None);
    assert!(said(&cut_off).contains("cut off"), "{}", said(&cut_off));
    assert!(!cut_off.status.success());
    let refused = one.command(&["tenant", "resume", host], "");
    assert!(!refused.status.success() && said(&refused).contains("say duet reseal"), "{}", said(&refused));
    changed(&farm.catalogue, "DROP TRIGGER cut_off ON tenants");
    // Nor is the key lost where the tenant is taken out and put back.
    let removed = done(&one.command(&["tenant", "remove", host], ""));
    let aside = removed.trim().rsplit(' ').next().expect("a place");
    let folder = one.folder.join("data/tenants").join(host);
    std::fs::rename(aside, &folder).expect("it is put below the tenants");
    done(&one.command(&["tenant", "put-back", host], ""));
    done(&one.command(&["tenant", "suspend", host], ""));
    let sealed = reseal(None);
    assert!(sealed.status.success() && said(&sealed).contains("were under the new master key"), "{}", said(&sealed));
    done(&one.command(&["verify", "--tenant", host], ""));
    let typed = "a master key of somebody's own, for one of the tenants";
    for told in ["are under the new master key", "are under this master key already"] {
        let sealed = reseal(Some(typed));
        assert!(sealed.status.success() && said(&sealed).contains(told), "{}", said(&sealed));
    }
    done(&one.command(&["tenant", "resume", host], ""));
    // Log-ins were signed with what was made of the key.
    let keeper = Bookkeeper { token: token(two, host), ..keeper };
    keeper.ask(two, Bookkeeper::party("After")).expect(201);
    let mut names = keeper.names(one);
    names.sort();
    assert_eq!(names, ["After", "Before", "Between"]);
    done(&one.command(&["verify", "--tenant", host], ""));
    // What lies in its folder since it was put back is not taken for a key that waits.
    assert!(folder.join("master-key.new").exists());
    std::fs::remove_file(folder.join("master-key")).expect("the first of its keys is put away");
    let removed = done(&one.command(&["tenant", "remove", host], ""));
    let aside = std::path::Path::new(removed.trim().rsplit(' ').next().expect("a place"));
    assert!(aside.join("master-key").exists() && !aside.join("master-key.new").exists());
    std::fs::rename(aside, &folder).expect("it is put below the tenants");
    done(&one.command(&["tenant", "put-back", host], ""));
    // Where they move, they take it along.
    done(&two.command(&["tenant", "move", host, "--to", "south"], ""));
    done(&one.command(&["verify", "--tenant", host], ""));
}

/// Where the books of a tenant are is changed by one at a time, whoever asks for it and wherever.
#[test]
fn a_tenant_is_worked_on_by_one_at_a_time() {
    let Some(farm) = Farm::of(2, "") else { return };
    farm.add("acme.example", "north");
    let keeper = Bookkeeper::of(&farm.servers[0], "acme.example");
    farm.administer(0, "POST", "/tenants/acme.example/move", Some(&json!({"to": "south"}))).expect(202);
    let state = |server: usize| farm.administer(server, "GET", "/tenants/acme.example", None).expect(200).json();
    eventually("the move", || (state(1)["state"] == "moving").then_some(()));
    for words in [&["tenant", "resume", "acme.example"][..], &["tenant", "move", "acme.example", "--to", "south"]] {
        let said = farm.servers[1].command(words, "");
        let why = String::from_utf8_lossy(&said.stderr).into_owned();
        assert!(!said.status.success() && why.contains("somebody is at work on acme.example"), "{words:?}: {why}");
    }
    let removed = farm.administer(1, "DELETE", "/tenants/acme.example", None);
    assert!(removed.status == 409 && removed.text.contains("at work"), "{}", removed.text);
    let last = eventually("the end of the move", || state(0).get("lastMove").cloned());
    assert_eq!(last["moved"], true, "{last}");
    keeper.ask(&farm.servers[1], Bookkeeper::party("After it")).expect(201);
    let told = String::from_utf8_lossy(&farm.servers[0].command(&["doctor"], "").stdout).into_owned();
    assert!(told.contains("north has databases that are no tenant's: duet_acme_example_"), "{told}");
    // Nobody can be connected to what was left.
    let stranger = farm.administer(0, "POST", "/tenants/acme.example/move", Some(&json!({"to": "west"})));
    assert!(stranger.status == 400 && stranger.text.contains("to: there is no cluster west"), "{}", stranger.text);
    let log = farm.servers[0].log();
    assert!(log.contains("\"code\":\"tenant_moved\"") && !log.contains("administrator_refused"), "{log}");
}

/// What is not where it is said to be is not made there, whoever asks.
#[test]
fn no_command_makes_books_where_those_of_a_tenant_are_missed() {
    let custom = r#"{"Edition": "Cloud"}"#.to_owned();
    let server =
        Server::start(Engine::Sqlite, Options { custom: Some(custom), ..Options::default() }).expect("it starts");
    let host = "acme.example";
    done(&server.command(&["tenant", "add", host, "--email", EMAIL, "--password-stdin"], PASSWORD));
    let file = server.folder.join("data/tenants/acme.example/duet.db");
    let away = server.folder.join("away.db");
    std::fs::rename(&file, &away).expect("it is put away");
    for words in [
        &["user", "add", "two@example.test", "--password-stdin", "--tenant", host][..],
        &["migrate", "--tenant", host],
        &["verify", "--tenant", host],
        &["backup", "copy", "--tenant", host],
    ] {
        let said = server.command(words, PASSWORD);
        assert!(!said.status.success() && !file.exists(), "{words:?}");
    }
    assert_eq!(log_in(&server, host).status, 503);
    std::fs::rename(&away, &file).expect("it is put back");
    eventually("the tenant", || (log_in(&server, host).status == 200).then_some(()));
}

/// The same of a database, such as one that is made anew to be restored into.
#[test]
fn no_command_makes_books_in_an_empty_database_of_a_tenant() {
    let Some(farm) = Farm::of(1, "") else { return };
    farm.add("acme.example", "north");
    let place = farm.administer(0, "GET", "/tenants/acme.example", None).expect(200).json()["place"].clone();
    let database = place.as_str().and_then(|place| place.rsplit('/').next()).expect("a name").to_owned();
    for statement in [format!("DROP DATABASE {database} WITH (FORCE)"), format!("CREATE DATABASE {database}")] {
        assert!(farm.clusters[0].psql(&statement), "{statement}");
    }
    for words in [
        &["user", "add", "two@example.test", "--password-stdin", "--tenant", "acme.example"][..],
        &["migrate", "--tenant", "acme.example"],
    ] {
        let said = farm.servers[0].command(words, PASSWORD);
        let why = String::from_utf8_lossy(&said.stderr).into_owned();
        assert!(!said.status.success() && why.contains("there are no books in its database"), "{words:?}: {why}");
    }
    assert_eq!(log_in(&farm.servers[0], "acme.example").status, 503);
}

#[test]
fn books_in_a_file_move_to_a_cluster_and_back_and_log_ins_last() {
    let Some(cluster) = Cluster::start() else { return };
    let custom = format!(r#"{{"Edition": "Cloud", "Cloud": {{"Clusters": "north={}"}}}}"#, cluster.fresh_database());
    let server =
        Server::start(Engine::Sqlite, Options { custom: Some(custom), ..Options::default() }).expect("it starts");
    let host = "acme.example";
    done(&server.command(&["tenant", "add", host, "--email", EMAIL, "--password-stdin"], PASSWORD));
    let keeper = Bookkeeper::of(&server, host);
    keeper.ask(&server, Bookkeeper::party("In a file")).expect(201);
    let file = server.folder.join("data/tenants/acme.example/duet.db");
    assert!(file.exists());
    done(&server.command(&["tenant", "move", host, "--to", "north"], ""));
    assert!(!file.exists(), "what was left is not found under its name");
    keeper.ask(&server, Bookkeeper::party("In a cluster")).expect(201);
    // What was written before is known by its key.
    keeper.ask(&server, Bookkeeper::party("In a file")).expect(201);
    let again = server.command(&["tenant", "move", host, "--to", "north"], "");
    assert!(String::from_utf8_lossy(&again.stderr).contains("are there already"));
    let looked = || String::from_utf8_lossy(&server.command(&["doctor"], "").stdout).into_owned();
    let told = looked();
    assert!(told.contains("north has what its tenants have, and no more"), "{told}");
    done(&server.command(&["tenant", "move", host, "--to", "folder"], ""));
    assert!(file.exists());
    let told = looked();
    assert!(told.contains("north has databases that are no tenant's: duet_acme_example_"), "{told}");
    keeper.ask(&server, Bookkeeper::party("In a file again")).expect(201);
    let mut names = keeper.names(&server);
    names.sort();
    assert_eq!(names, ["In a cluster", "In a file", "In a file again"]);
    done(&server.command(&["verify", "--tenant", host], ""));
    // A move to where nothing takes it leaves all as it was.
    let lost = server.command(&["tenant", "move", host, "--to", "west"], "");
    assert!(String::from_utf8_lossy(&lost.stderr).contains("there is no cluster west"));
    keeper.ask(&server, Bookkeeper::party("Still served")).expect(201);
}

#[test]
fn while_the_catalogue_is_away_those_who_are_known_are_served() {
    let (Some(catalogue), Some(cluster)) = (Cluster::start(), Cluster::start()) else { return };
    let custom = format!(
        r#"{{"Edition": "Cloud", "Security": {{"MasterKey": "one key of all servers of a farm"}},
            "Cloud": {{"Catalogue": "{}", "Clusters": "north={}"}}}}"#,
        catalogue.fresh_database(),
        cluster.fresh_database()
    );
    let server =
        Server::start(Engine::Sqlite, Options { custom: Some(custom), ..Options::default() }).expect("it starts");
    let host = "acme.example";
    done(
        &server.command(&["tenant", "add", host, "--email", EMAIL, "--password-stdin", "--cluster", "north"], PASSWORD),
    );
    let keeper = Bookkeeper::of(&server, host);
    catalogue.signal_all("KILL");
    eventually("nobody knows a stranger", || (log_in(&server, "stranger.example").status == 503).then_some(()));
    for number in 0..5 {
        keeper.ask(&server, Bookkeeper::party(&format!("Party {number}"))).expect(201);
    }
    assert_eq!(keeper.names(&server).len(), 5);
    assert_eq!(server.log().matches("the catalogue of tenants does not answer").count(), 1, "{}", server.log());
}

#[test]
fn administrators_are_known_by_a_key_and_told_what_is_wrong() {
    let Some(farm) = Farm::of(1, "") else { return };
    let stranger = Request::new("GET", "/tenants").send(([127, 0, 0, 1], farm.admin[0]).into());
    assert_eq!((stranger.status, stranger.header("www-authenticate")), (401, Some("Bearer")));
    let other = Request::new("GET", "/tenants").header("Authorization", &format!("Bearer {ADMIN_KEY}0"));
    assert_eq!(other.send(([127, 0, 0, 1], farm.admin[0]).into()).status, 401);
    assert!(farm.servers[0].log().contains("\"code\":\"administrator_refused\""), "{}", farm.servers[0].log());
    let administer = |method: &str, path: &str, body: Option<Value>| farm.administer(0, method, path, body.as_ref());
    let new = json!({"host": "Acme.example", "email": EMAIL, "cluster": "north"});
    let made = administer("POST", "/tenants", Some(new.clone())).expect(201).json();
    assert_eq!(
        (&made["host"], &made["state"], &made["cluster"]),
        (&json!("acme.example"), &json!("active"), &json!("north"))
    );
    let body = json!({"email": EMAIL, "password": made["password"]});
    let login = Request::new("POST", "/b/api/auth/login").json(&body).header("Host", "acme.example");
    farm.servers[0].send(&login).expect(200);
    assert_eq!(administer("POST", "/tenants", Some(new)).status, 409);
    for (body, word) in [
        (json!({"host": "..", "email": EMAIL}), "host"),
        (json!({"host": "b.example"}), "email"),
        (json!({"host": "b.example", "email": "nobody", "cluster": "north"}), "email: must be"),
        (json!({"host": "b.example", "email": EMAIL, "password": "short", "cluster": "north"}), "password: must be"),
        (json!({"host": "b.example", "email": EMAIL, "cluster": "nowhere"}), "cluster: "),
        (json!({"host": "b.example", "email": EMAIL, "colour": 1}), "colour"),
    ] {
        let answer = administer("POST", "/tenants", Some(body));
        assert!(answer.status == 400 && answer.text.contains(word), "{} {}", answer.status, answer.text);
    }
    let listed = administer("GET", "/tenants", None).expect(200).json();
    assert_eq!(listed["tenants"].as_array().map(Vec::len), Some(1));
    assert!(!listed.to_string().contains("postgres://"), "{listed}");
    assert_eq!(administer("POST", "/tenants/acme.example/suspend", None).expect(200).json()["state"], "suspended");
    assert_eq!(log_in(&farm.servers[0], "acme.example").status, 503);
    assert_eq!(administer("POST", "/tenants/acme.example/resume", None).expect(200).json()["state"], "active");
    for (method, path, status) in
        [("GET", "/tenants/nobody.example", 404), ("PUT", "/tenants", 405), ("GET", "/elsewhere", 404)]
    {
        assert_eq!(administer(method, path, None).status, status, "{method} {path}");
    }
    administer("DELETE", "/tenants/acme.example", None).expect(200);
    assert_eq!(log_in(&farm.servers[0], "acme.example").status, 421);
}
