//! Traces across processes: what a request is part of is believed, logged, handed on, and told to whoever collects it, who
//! keeps nobody waiting.

use crate::harness::process::{eventually, fresh_folder, piped, say_loudly};
use crate::harness::{Company, Dialect, Engine, Options, Request, Server};
use crate::webhooks::{Manner, Message, Somebody, hook, party, says};
use serde_json::{Value, json};
use std::path::Path;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

fn server(collector: Option<&Somebody>) -> Server {
    let mut settings =
        json!({"Webhooks:AllowNetworks": ["127.0.0.0/8"], "Metrics:Enabled": true, "Metrics:Listen": "127.0.0.1:0"});
    if let Some(collector) = collector {
        settings["Telemetry:Endpoint"] = json!(format!("http://{}", collector.address()));
        settings["Telemetry:Headers"] = json!("X-Team = books, Authorization=Bearer of-the-collector");
        settings["Telemetry:Timeout"] = json!("1s");
    }
    let options = Options { custom: Some(settings.to_string()), ..Options::default() };
    Server::start_in(Engine::Sqlite, fresh_folder("tracing"), options).expect("an engine")
}

/// Makes a party in a trace.
fn traced(company: &Company<'_>, lines: &[(&str, &str)]) -> String {
    let body = json!({"name": "Of a trace", "isCustomer": true, "isSupplier": false});
    let asked = company.request(Dialect::B, "POST", "parties", "").json(&body);
    let asked = lines.iter().fold(asked, |asked, (name, value)| asked.header(name, value));
    company.server.send(&asked).expect(201).header("x-request-id").expect("a name").into()
}

/// What the log says of a request.
fn line_of(server: &Server, request: &str) -> Value {
    let log = server.log();
    let mut lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.find(|line| line["request_id"] == request && line["message"] == "request").expect("a line")
}

/// Trace, parent and flags of a `traceparent`.
fn parts(message: &Message) -> (String, String, String) {
    let parts: Vec<&str> = message.header("traceparent").split('-').collect();
    assert_eq!((parts.len(), parts[0]), (4, "00"), "{}", message.head());
    (parts[1].into(), parts[2].into(), parts[3].into())
}

/// What was sent to a collector, as another implementation reads it, and from where on it is not read yet.
fn read_by_python(messages: &[Message]) -> Option<Value> {
    // Made by the gate; PyPI's packages are not ours to keep.
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/httpx/bin/python").display().to_string();
    let known =
        std::process::Command::new(&python).args(["-c", "import opentelemetry.proto.trace.v1.trace_pb2"]).output();
    if !known.is_ok_and(|known| known.status.success()) {
        let required = std::env::var("DUET_TEST_HTTPX").is_ok_and(|value| value == "required");
        assert!(!required, "DUET_TEST_HTTPX=required, and {python} knows no opentelemetry-proto");
        say_loudly("NO OPENTELEMETRY-PROTO FOUND: what a collector reads is SKIPPED");
        return None;
    }
    let line = |message: &Message| {
        let path = message.head().split(' ').nth(1).expect("a path");
        format!("{path} {}\n", message.body())
    };
    let lines: String = messages.iter().map(line).collect();
    let told = piped(&python, &["-c", include_str!("harness/otlp.py")], &lines).expect("an interpreter");
    Some(serde_json::from_str(&told).expect("what Python read"))
}

#[test]
fn a_trace_is_believed_logged_and_handed_on_with_webhooks() {
    let server = server(None);
    let (company, somebody) = (server.company(), Somebody::who(Vec::new()));
    hook(&company, &somebody.url(), &["party.*"], &json!({}));
    let good = format!("00-{TRACE}-{PARENT}-01");
    let request = traced(&company, &[("traceparent", &good), ("tracestate", "shop=7")]);
    let message = somebody.next();
    let line = line_of(&server, &request);
    assert_eq!(line["trace_id"], TRACE);
    let (trace, span, flags) = parts(&message);
    assert_eq!((&*trace, &*flags, message.header("tracestate")), (TRACE, "01", "shop=7"));
    assert!(span != PARENT && line["span_id"] != *span, "each has a span of its own");
    // What is no trace begins one, which is called as the request is, and nobody is refused for it.
    for bad in ["00-0-0-0", &good.to_uppercase(), &format!("{good}-more")] {
        let request = traced(&company, &[("traceparent", bad), ("tracestate", "shop=7")]);
        let message = somebody.next();
        let own = request.replace('-', "");
        assert_eq!(line_of(&server, &request)["trace_id"], *own, "{bad}");
        assert_eq!((parts(&message).0, message.header("tracestate")), (own, ""), "{bad}");
    }
    // A header of that name is the message's own to say.
    let body = json!({"url": somebody.url(), "types": ["*"], "headers": [{"name": "TraceParent", "value": good}]});
    let refused = company.ask(Dialect::A, "POST", "webhooks", "", Some(&body)).expect(400);
    assert_eq!(refused.fields(), ["headers[0].name"]);
}

#[test]
fn a_collector_reads_spans_and_lines_of_one_trace() {
    let collector = Somebody::who(Vec::new());
    let server = server(Some(&collector));
    let (company, somebody) = (server.company(), Somebody::who(Vec::new()));
    hook(&company, &somebody.url(), &["party.*"], &json!({}));
    traced(&company, &[("traceparent", &format!("00-{TRACE}-{PARENT}-01")), ("tracestate", "shop=7")]);
    let handed_on = parts(&somebody.next()).1;
    // Whoever began this one wants none of it.
    let quiet = TRACE.replace('4', "5");
    traced(&company, &[("traceparent", &format!("00-{quiet}-{PARENT}-00"))]);
    assert_eq!(parts(&somebody.next()).2, "00");
    company.ask(Dialect::A, "GET", "parties", "/nothing", None).expect(404);
    let id = company.id.clone();
    // It is all sent by the time that it has stopped.
    let log = server.log();
    server.signal("TERM");
    assert_eq!(server.exit_code(), Some(0));
    let came = collector.all();
    for message in &came {
        assert_eq!(message.header("content-type"), "application/json");
        assert_eq!((message.header("x-team"), message.header("authorization")), ("books", "Bearer of-the-collector"));
    }
    assert!(!log.contains("of-the-collector"));
    let Some(told) = read_by_python(&came) else { return };
    let spans = told["spans"].as_array().unwrap();
    let of = |name: &str| {
        let found: Vec<_> = spans.iter().filter(|span| span["name"] == name && span["trace"] == TRACE).collect();
        assert_eq!(found.len(), 1, "{name} {spans:?}");
        found[0].clone()
    };
    let asked = of("partiesCreate");
    assert_eq!((&asked["parent"], &asked["state"], &asked["kind"]), (&json!(PARENT), &json!("shop=7"), &json!(2)));
    let said = &asked["said"];
    assert_eq!((&said["http.response.status_code"], &said["http.request.method"]), (&json!(201), &json!("POST")));
    assert_eq!((&said["duet.business"], &said["duet.dialect"]), (&json!(id), &json!("B")));
    assert!(said["duet.user"].is_string() && said["url.path"].as_str().is_some_and(|path| path.ends_with("/parties")));
    let told_on = of("webhook party.created");
    assert_eq!((&told_on["parent"], &told_on["span"]), (&asked["span"], &json!(handed_on)));
    assert_eq!((&told_on["kind"], &told_on["said"]["http.response.status_code"]), (&json!(3), &json!(200)));
    assert!(!spans.iter().any(|span| span["trace"] == quiet), "who asks not to be recorded is not");
    let missed = spans.iter().find(|span| span["name"] == "partiesGet").expect("a span");
    assert_eq!((&missed["said"]["error.type"], &missed["failed"]), (&json!("not_found"), &json!(false)));
    // Each line that says which request it is of is of its trace, whoever wanted what recorded.
    let lines = told["lines"].as_array().unwrap();
    let line = lines.iter().find(|line| line["text"] == "request" && line["trace"] == TRACE).expect("a line");
    assert_eq!((&line["span"], &line["said"]["operation"]), (&asked["span"], &json!("partiesCreate")));
    assert_eq!((&line["severity"], &line["number"]), (&json!("INFO"), &json!(9)));
    assert!(lines.iter().any(|line| line["trace"] == quiet));
    for resource in told["resources"].as_array().unwrap() {
        assert_eq!((&resource["service.name"], resource["service.version"].is_string()), (&json!("duet"), true));
    }
}

fn counted(server: &Server, signal: &str, outcome: &str) -> u64 {
    let line = server.greeting.iter().find(|line| line.starts_with("metrics")).expect("it is said where");
    let address = line.split("http://").nth(1).and_then(|rest| rest.strip_suffix("/metrics")).expect("an address");
    let told = Request::new("GET", "/metrics").send(address.parse().expect("an address")).expect(200).text;
    let series = format!(r#"duet_telemetry_items_total{{outcome="{outcome}",signal="{signal}"}} "#);
    told.lines().find_map(|line| line.strip_prefix(&series)).expect("a series").parse().expect("a number")
}

#[test]
fn nobody_waits_for_whoever_collects_and_what_is_not_taken_is_counted_and_said_once() {
    for manner in [says("400 No"), Manner::IsSilent, Manner::HangsUp] {
        let collector = Somebody::who(vec![manner.clone(); 1_000]);
        let server = server(Some(&collector));
        let company = server.company();
        for number in 0..20 {
            party(&company, &format!("Party {number}"));
        }
        let _asked = collector.next();
        eventually("a word about it", || server.log().contains("telemetry_undelivered").then_some(()));
        for number in 0..20 {
            party(&company, &format!("Another {number}"));
        }
        if manner == says("400 No") {
            eventually("what was refused for good is counted", || {
                (counted(&server, "traces", "dropped") > 0).then_some(())
            });
        }
        assert_eq!(counted(&server, "traces", "sent"), 0, "{manner:?}");
        let log = server.log();
        assert_eq!(log.matches("telemetry_undelivered").count(), 1, "{manner:?}");
        // What waited is told once somebody listens.
        collector.is_easy_now();
        eventually("it is taken again", || server.log().contains("telemetry_delivered").then_some(()));
        assert!(counted(&server, "traces", "sent") + counted(&server, "logs", "sent") > 0, "{manner:?}");
    }
}

#[test]
fn where_nobody_collects_nothing_is_counted_and_what_makes_no_sense_is_refused() {
    let server = server(None);
    for (key, value) in [
        ("Telemetry:Endpoint", "collector:4317"),
        ("Telemetry:Endpoint", "https://user:password@collector"),
        ("Telemetry:Headers", "a secret without a name"),
        ("Telemetry:Timeout", "soon"),
    ] {
        let checked = server.command(&["config", "check", "--set", &format!("{key}={value}")], "");
        let report = String::from_utf8_lossy(&checked.stdout).into_owned();
        assert!(checked.status.code() == Some(2) && report.contains(key), "{report}");
        assert!(key != "Telemetry:Headers" || !report.contains("a secret"), "{report}");
    }
}
