//! Very many tenants over several clusters: what a server holds goes by how many are open, and not by how many there are.

use crate::harness::books::connected;
use crate::harness::http::Answer;
use crate::harness::process::{eventually, say_loudly};
use crate::harness::server::authorised;
use crate::harness::{Request, Server};
use crate::many_servers::{Bookkeeper, Farm, NAMES, Over, by_hand, log_in, number_of, waited};
use sea_orm::{ConnectionTrait, DatabaseConnection, Statement};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// So many there are in the gate.
const FEW: usize = 24;
/// Who comes in at once.
const VISITORS: usize = 4;
/// Who writes without end into one of them.
const NOISY: usize = 8;
/// What one open tenant may take of its cluster: four connections, one that looks whether it is there, two that wait their turn, and one
/// for what is seen to now and then.
const OF_ONE: usize = 8;
/// Those that are open, and their connections.
const TENANTS: &str = "FROM pg_stat_activity WHERE datname LIKE 'duet\\_t%'";

fn at(host: &str, path: &str) -> Request {
    Request::new("GET", path).header("Host", host)
}

/// A number that a cluster answers.
async fn number(of: &DatabaseConnection, sql: &str) -> usize {
    let row = of.query_one_raw(Statement::from_string(of.get_database_backend(), sql)).await;
    let number: i64 = row.expect("an answer").expect("a row").try_get_by_index(0).expect("a number");
    usize::try_from(number).expect("a count")
}

/// The most that was seen of something.
#[derive(Default)]
struct Most(AtomicUsize);

impl Most {
    fn see(&self, count: usize) {
        self.0.fetch_max(count, Ordering::Relaxed);
    }

    fn seen(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// What was held while it was watched.
#[derive(Default)]
struct Held {
    /// Connections to all databases of tenants, and to those in one cluster.
    connections: Most,
    of_cluster: Most,
    /// Databases that somebody was connected to.
    databases: Most,
    /// Files and sockets of a server, and its memory in kilobytes.
    open: Most,
    memory: Most,
}

impl Held {
    async fn watch(&self, farm: &Farm, over: &AtomicBool) {
        let mut clusters = Vec::new();
        for cluster in &farm.clusters {
            clusters.push(connected(&cluster.has("/postgres")).await.expect("it is there"));
        }
        while !over.load(Ordering::Relaxed) {
            let (mut connections, mut databases) = (0, 0);
            for cluster in &clusters {
                let here = number(cluster, &format!("SELECT COUNT(*) {TENANTS}")).await;
                databases += number(cluster, &format!("SELECT COUNT(DISTINCT datname) {TENANTS}")).await;
                self.of_cluster.see(here);
                connections += here;
            }
            self.connections.see(connections);
            self.databases.see(databases);
            for server in &farm.servers {
                let process = format!("/proc/{}", server.pid());
                self.open.see(std::fs::read_dir(format!("{process}/fd")).expect("it lives").count());
                let status = std::fs::read_to_string(format!("{process}/status")).expect("it lives");
                let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
                self.memory.see(resident.trim().split(' ').next().unwrap_or_default().parse().expect("a number"));
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// How long each of some things took.
#[derive(Default)]
struct Took(Mutex<Vec<Duration>>);

impl Took {
    fn by<T>(&self, work: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let done = work();
        self.0.lock().expect("nobody fails").push(begun.elapsed());
        done
    }

    /// The middle one, and the one that one of a hundred exceeds.
    fn told(&self) -> String {
        let mut all = self.0.lock().expect("nobody fails").clone();
        all.sort_unstable();
        let place = |percent: usize| all[(all.len() * percent / 100).min(all.len() - 1)];
        format!("{:.1?} / {:.1?}", place(50), place(99))
    }
}

/// Does something for each of some, several at a time.
fn each(count: usize, work: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..VISITORS {
            scope.spawn(|| {
                loop {
                    let one = next.fetch_add(1, Ordering::Relaxed);
                    if one >= count {
                        break;
                    }
                    work(one);
                }
            });
        }
    });
}

/// What is answered once there is a place for its tenant.
fn answered(what: &str, mut ask: impl FnMut() -> Answer) -> Answer {
    eventually(what, || {
        let answer = ask();
        (answer.status != 503).then_some(answer)
    })
}

/// Some tenants are read, one after the other, while others may do as they like.
fn read(server: &Server, keepers: &[Bookkeeper], rounds: usize) -> Took {
    let took = Took::default();
    for _ in 0..rounds {
        for keeper in keepers {
            took.by(|| keeper.ask(server, Request::new("GET", "/b/api/parties?pageSize=20")).expect(200));
        }
    }
    took
}

/// By hand with many, which takes a disk that compresses: `DUET_TENANTS=10000 DUET_CLUSTERS=8 DUET_OPEN=50`.
#[test]
fn what_a_server_holds_goes_by_what_is_open_and_not_by_how_many_tenants_there_are() {
    let (tenants, clusters) = (by_hand("DUET_TENANTS", FEW), by_hand("DUET_CLUSTERS", 3));
    let open = by_hand("DUET_OPEN", 3);
    let unlimited = r#", "Limits": {"RequestsPerMinute": 0}"#;
    let Some(farm) = Farm::over(clusters, (2, open), unlimited) else { return };
    let hosts: Vec<String> = (0..tenants).map(|number| format!("t{number}.example")).collect();
    let (made, came) = (Took::default(), Took::default());
    let (held, over) = (Held::default(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let ends = Over(&over);
        scope.spawn(|| waited(held.watch(&farm, &over)));
        each(tenants, |one| made.by(|| farm.has(one % 2, (&hosts[one], NAMES[one % clusters]))));
        // Who logs in at one server reads at the other.
        each(tenants, |one| {
            let [first, second] = [&farm.servers[one % 2], &farm.servers[(one + 1) % 2]];
            came.by(|| {
                let told = answered("a log-in", || log_in(first, &hosts[one])).expect(200).json();
                let token = told["token"].as_str().expect("a token").to_owned();
                let list = || authorised(at(&hosts[one], "/b/api/businesses"), &token);
                answered("a list", || second.send(&list())).expect(200);
            });
        });
        drop(ends);
    });
    // PostgreSQL takes a while to see that somebody left: as many as come in at once may be seen beside those that are open.
    let (databases, most) = (held.databases.seen(), 2 * (open + VISITORS));
    assert!(databases > 1 && databases <= most && most < tenants, "{databases} databases of {tenants}");
    let (connections, most) = (held.connections.seen(), most * OF_ONE);
    assert!(connections <= most, "{connections} connections, and {most} are the most");

    // One makes noise, and its neighbours in the same cluster are read.
    let server = &farm.servers[0];
    let keepers: Vec<Bookkeeper> =
        (0..open).map(|one| Bookkeeper::of(server, &hosts[one * clusters % tenants])).collect();
    let (noisy, quiet) = keepers.split_first().expect("some are open");
    let rounds = by_hand("DUET_ROUNDS", 100);
    let asked = rounds * quiet.len();
    let catalogue = "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()";
    read(server, quiet, 1);
    let before = number_of(&farm.catalogue, catalogue);
    let alone = read(server, quiet, rounds);
    let looked_up = number_of(&farm.catalogue, catalogue) - before;
    let (written, over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let beside = std::thread::scope(|scope| {
        let ends = Over(&over);
        for writer in 0..NOISY {
            let (written, over) = (&written, &over);
            scope.spawn(move || {
                for number in 0.. {
                    if over.load(Ordering::Relaxed) {
                        break;
                    }
                    noisy.ask(server, Bookkeeper::party(&format!("{writer} {number}"))).expect(201);
                    written.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        eventually("the noise", || (written.load(Ordering::Relaxed) > NOISY).then_some(()));
        let beside = read(server, quiet, rounds);
        drop(ends);
        beside
    });
    for server in &farm.servers {
        assert!(!server.log().contains("broke down"), "{}", server.log());
    }
    if tenants > FEW {
        say_loudly(&format!(
            "{tenants} tenants over {clusters} clusters, two servers with {open} open at most each.\n\
             made in {}; log-in at one server and a list at the other {} (middle / one of a hundred)\n\
             most at once: {} connections to tenants, {} of them in one cluster, {databases} databases; a server had {} files \
             and sockets and {} MB\n\
             a list: {} alone, {} beside {NOISY} who wrote {} parties into a neighbour; the catalogue had {looked_up} transactions \
             meanwhile, as its database counted, for {asked} lists",
            made.told(),
            came.told(),
            connections,
            held.of_cluster.seen(),
            held.open.seen(),
            held.memory.seen() / 1_024,
            alone.told(),
            beside.told(),
            written.load(Ordering::Relaxed),
        ));
    }
}
