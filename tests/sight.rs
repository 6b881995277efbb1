//! What is seen of a server that runs: the one event of each request, what is counted, and who reads that.

use crate::backups::{good, text};
use crate::harness::process::{Kept, eventually, free_port, fresh_folder, piped, say_loudly};
use crate::harness::server::authorised;
use crate::harness::{Company, Dialect, Engine, Options, Request, Server, on_both_engines};
use ledger_core::clock::Clock;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub const WATCHED: [&str; 4] = ["--set", "Metrics:Enabled=true", "--set", "Metrics:Listen=127.0.0.1:0"];

fn watched(engine: Engine) -> Server {
    let arguments = WATCHED.map(str::to_owned).to_vec();
    Server::start(engine, Options { arguments, ..Options::default() }).expect("an engine")
}

fn told_at(server: &Server) -> SocketAddr {
    let line = server.greeting.iter().find(|line| line.starts_with("metrics")).expect("it is said where");
    let address = line.split("http://").nth(1).and_then(|rest| rest.strip_suffix("/metrics"));
    address.expect("an address").parse().expect("an address")
}

pub fn metrics(server: &Server) -> String {
    let answer = Request::new("GET", "/metrics").send(told_at(server)).expect(200);
    assert_eq!(answer.header("content-type"), Some("text/plain; version=0.0.4"));
    answer.text
}

/// The value of a series, where there is one.
pub fn series(metrics: &str, name: &str) -> Option<String> {
    metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')).map(str::to_owned)
}

fn post(company: &Company<'_>, count: usize) {
    for _ in 0..count {
        company.journal("2026-04-05", &[("6300", "1"), ("1010", "-1")]);
    }
}

/// Where a program of Prometheus is. Without it nothing can be said of it, which is loud, or a failure where it is required.
fn installed(program: &str) -> bool {
    let found = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let found = found.is_ok_and(|status| status.success());
    if !found {
        let required = std::env::var("DUET_TEST_PROMETHEUS").is_ok_and(|value| value == "required");
        assert!(!required, "DUET_TEST_PROMETHEUS=required, and there is no {program} here");
        say_loudly(&format!("NO {program} FOUND: what Prometheus says of our metrics is SKIPPED"));
    }
    found
}

fn config(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../config").join(name)
}

on_both_engines! {
    fn requests_are_counted_by_dialect_operation_and_status(server) {
        let server = watched(server.engine);
        let company = server.company();
        post(&company, 3);
        company.ask(Dialect::A, "GET", "parties", "", None).expect(200);
        company.ask(Dialect::A, "GET", "parties", "/nothing", None).expect(404);
        company.ask(Dialect::B, "POST", "parties", "", Some(&json!({}))).expect(400);
        for path in ["/made-up", "/b/api/made-up", "/b/api/made/up/71"] {
            server.send(&authorised(Request::new("GET", path), server.token())).expect(404);
        }
        let told = metrics(&server);
        let requests = |labels: &str| series(&told, &format!("duet_http_requests_total{{{labels}}}"));
        for (labels, count) in [
            (r#"dialect="B",operation="journalsCreate",status="201""#, "3"),
            (r#"dialect="A",operation="partiesList",status="200""#, "1"),
            (r#"dialect="A",operation="partiesGet",status="404""#, "1"),
            (r#"dialect="B",operation="partiesCreate",status="400""#, "1"),
            (r#"dialect="B",operation="login",status="200""#, "1"),
            (r#"dialect="none",operation="none",status="404""#, "1"),
            (r#"dialect="B",operation="none",status="404""#, "2"),
        ] {
            assert_eq!(requests(labels).as_deref(), Some(count), "{labels}\n{told}");
        }
        let took = r#"duet_http_request_duration_seconds_count{dialect="B",operation="journalsCreate"}"#;
        assert_eq!(series(&told, took).as_deref(), Some("3"));
        let number = |name: &str| series(&told, name).unwrap_or_else(|| panic!("{name}\n{told}")).parse::<u64>().unwrap();
        assert!(number("duet_write_batch_commands_sum") >= 3, "{told}");
        assert_eq!(number("duet_write_batch_commands_count"), number("duet_commit_duration_seconds_count"));
        assert_eq!((number("duet_write_queue_length"), number("duet_http_requests_in_flight")), (0, 0));
        assert_eq!((number("duet_ready"), number("duet_tenants_open")), (1, 1));
        assert!(number(r#"duet_database_connections_max{use="read"}"#) > 0);
        assert!(number("process_resident_memory_bytes") > 1 << 20 && number("process_open_fds") > 3);
        // Nothing that anybody outside makes up is a label.
        for strange in [company.id.as_str(), "made-up", "nothing", "71", "/b/api"] {
            let labels = told.lines().filter_map(|line| line.split_once('{')?.1.split_once('}'));
            assert!(labels.clone().all(|(labels, _)| !labels.contains(strange)), "{strange}\n{told}");
        }
    }

    fn copies_and_proofs_are_told_once_there_was_one(server) {
        let server = watched(server.engine);
        let company = server.company();
        post(&company, 1);
        let told = metrics(&server);
        assert!(!told.contains("duet_last_backup") && !told.contains("duet_last_verify"), "{told}");
        let then = Clock::system().now().seconds();
        good(&server.command(&["backup", &text(&fresh_folder("copies").join("copy"))], ""));
        good(&server.command(&["verify"], ""));
        let told = metrics(&server);
        let at = |name: &str| series(&told, name).unwrap_or_else(|| panic!("{name}\n{told}")).parse::<i64>().unwrap();
        assert!(at("duet_last_backup_timestamp_seconds") >= then && at("duet_last_verify_timestamp_seconds") >= then);
        assert_eq!(at("duet_last_verify_success"), 1);
    }

    fn the_one_event_of_a_request_says_who_did_what_and_how_it_ended(server) {
        let server = watched(server.engine);
        let company = server.company();
        post(&company, 1);
        company.ask(Dialect::A, "GET", "parties", "/nothing", None).expect(404);
        let log = server.log();
        let events = || log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let of = |operation: &str| events().find(|event| event["operation"] == operation).expect("an event");
        let posted = of("journalsCreate");
        assert_eq!((&posted["dialect"], &posted["status"], &posted["business"]), (&json!("B"), &json!(201), &json!(company.id)));
        assert!(posted["ms"].is_u64() && posted["user"].is_string() && posted["request_id"].is_string(), "{posted}");
        assert!(posted.get("code").is_none() && posted.get("tenant").is_none(), "{posted}");
        let missed = of("partiesGet");
        assert_eq!((&missed["dialect"], &missed["status"], &missed["code"]), (&json!("A"), &json!(404), &json!("not_found")));
        assert!(missed["bytes"].as_u64().is_some_and(|bytes| bytes > 10), "{missed}");
        assert!(!log.contains(server.token()));
    }
}

#[test]
fn nobody_is_told_anything_unless_that_is_configured_and_never_where_requests_are_served() {
    let server = Server::shared(Engine::Sqlite).unwrap();
    assert!(!server.greeting.iter().any(|line| line.starts_with("metrics")));
    let watched = watched(Engine::Sqlite);
    for server in [server, &watched] {
        server.send(&Request::new("GET", "/metrics")).expect(404);
    }
    let address = told_at(&watched);
    assert!(address.ip().is_loopback());
    for (method, path, status) in [("GET", "/", 404), ("GET", "/b/api/parties", 404), ("POST", "/metrics", 405)] {
        Request::new(method, path).send(address).expect(status);
    }
    let checked = server
        .command(&["config", "check", "--set", "Metrics:Enabled=true", "--set", "Metrics:Listen=0.0.0.0:9464"], "");
    let report = String::from_utf8_lossy(&checked.stdout).into_owned();
    assert!(report.contains("Metrics:Listen: 0.0.0.0:9464 tells everybody"), "{report}");
}

#[test]
fn tenants_are_told_in_the_event_and_in_no_label() {
    let custom = Some(r#"{"Edition": "Cloud"}"#.to_owned());
    let arguments = WATCHED.map(str::to_owned).to_vec();
    let server = Server::start(Engine::Sqlite, Options { custom, arguments, ..Options::default() }).unwrap();
    let added = ["tenant", "add", "one.example", "--email", "first@example.test", "--password-stdin"];
    good(&server.command(&added, "the first user of a tenant"));
    let body = json!({"email": "first@example.test", "password": "the first user of a tenant"});
    let login = Request::new("POST", "/b/api/auth/login").json(&body).header("Host", "one.example");
    server.send(&login).expect(200);
    let log = server.log();
    let event = log.lines().find(|line| line.contains(r#""operation":"login""#)).expect("an event");
    assert!(event.contains(r#""tenant":"one.example""#), "{event}");
    let told = metrics(&server);
    assert!(!told.contains("one.example") && series(&told, "duet_tenants_open").as_deref() == Some("1"), "{told}");
}

#[test]
fn promtool_finds_nothing_wrong() {
    if !installed("promtool") {
        return;
    }
    let server = watched(Engine::Sqlite);
    post(&server.company(), 2);
    good(&server.command(&["verify"], ""));
    piped("promtool", &["check", "metrics"], &metrics(&server)).expect("it says nothing of them");
    for words in
        [["check", "rules", "alerts.yml"], ["test", "rules", "alerts.test.yml"], ["check", "config", "prometheus.yml"]]
    {
        good(&Command::new("promtool").args(words).current_dir(config("prometheus")).output().expect("promtool"));
    }
    let rules = std::fs::read_to_string(config("prometheus/alerts.yml")).unwrap();
    let tests = std::fs::read_to_string(config("prometheus/alerts.test.yml")).unwrap();
    for alert in rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")) {
        assert!(tests.contains(&format!(r#"{{alertname="{alert}"}}"#)), "{alert} never rings in its test");
    }
}

/// What Prometheus is asked.
fn asked(address: SocketAddr, query: &str) -> Value {
    let encoded = query.bytes().fold(String::new(), |encoded, byte| encoded + &format!("%{byte:02X}"));
    Request::new("GET", &format!("/api/v1/query?query={encoded}")).send(address).json()
}

fn results(address: SocketAddr, query: &str) -> Vec<Value> {
    let answer = asked(address, query);
    assert_eq!(answer["status"], "success", "{query}: {answer}");
    answer["data"]["result"].as_array().expect("results").clone()
}

/// Every question of the dashboard and of the alerts is asked of a Prometheus that watches over a server.
#[test]
fn a_prometheus_sees_what_the_dashboard_and_the_alerts_ask_for() {
    if !installed("prometheus") {
        return;
    }
    let server = watched(Engine::Sqlite);
    let company = server.company();
    good(&server.command(&["backup", &text(&fresh_folder("copies").join("copy"))], ""));
    good(&server.command(&["verify"], ""));
    let folder = fresh_folder("prometheus");
    let target = told_at(&server).to_string();
    let own = std::fs::read_to_string(config("prometheus/prometheus.yml")).unwrap();
    let own = own.replace("15s", "1s").replace("127.0.0.1:9464", &target);
    let alerts = config("prometheus/alerts.yml").canonicalize().unwrap();
    std::fs::write(folder.join("prometheus.yml"), own.replace("alerts.yml", &text(&alerts))).unwrap();
    let address: SocketAddr = ([127, 0, 0, 1], free_port()).into();
    let command = [
        "prometheus".to_owned(),
        format!("--config.file={}", text(&folder.join("prometheus.yml"))),
        format!("--storage.tsdb.path={}", text(&folder.join("data"))),
        format!("--web.listen-address={address}"),
    ];
    let _prometheus = Kept::start(&[], &command, |shell| {
        shell.current_dir(&folder).stderr(std::fs::File::create(folder.join("log")).expect("a log"));
    });
    eventually("a Prometheus that sees the server", || {
        post(&company, 1);
        std::net::TcpStream::connect(address).ok()?;
        let answer = Request::new("GET", "/api/v1/query?query=up").send(address);
        (answer.status == 200 && answer.text.contains(r#""1"]"#)).then_some(())
    });
    // A rate takes two looks at what was counted.
    eventually("a rate of writes", || {
        post(&company, 1);
        let rates = results(address, "rate(duet_write_batch_commands_sum[10s]) > 0");
        (!rates.is_empty()).then_some(())
    });
    let dashboard: Value =
        serde_json::from_str(&std::fs::read_to_string(config("grafana/duet.json")).unwrap()).unwrap();
    let targets = dashboard["panels"].as_array().unwrap().iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    let mut count = 0;
    for target in targets {
        let query = target["expr"].as_str().unwrap().replace("$__rate_interval", "1m").replace("$instance", ".*");
        let found = results(address, &query);
        // Nothing fails here.
        assert_eq!(found.is_empty(), query.contains(r#"status=~"5..""#), "{query}");
        count += 1;
    }
    assert!(count > 20, "{count}");
    let rules = Request::new("GET", "/api/v1/rules").send(address).expect(200).json();
    let rules = rules["data"]["groups"][0]["rules"].as_array().unwrap().clone();
    assert!(rules.len() > 10);
    for rule in &rules {
        results(address, rule["query"].as_str().unwrap());
    }
    // The server counts what Prometheus adds up.
    let requests = results(address, r#"sum(duet_http_requests_total{operation="journalsCreate"})"#);
    assert!(requests[0]["value"][1].as_str().unwrap().parse::<u64>().unwrap() >= 1);
    drop(server);
    eventually("an alert that the server is away", || {
        let pending = results(address, r#"ALERTS{alertname="DuetDown"}"#);
        (!pending.is_empty()).then_some(())
    });
}
