//! The same round through clients that people use: fetch in a real browser, and Python's httpx. They keep connections, take
//! what compression they know, and send a body before they look for its answer.

use crate::edge::long_company;
use crate::harness::browser::Browser;
use crate::harness::process::{piped, say_loudly};
use crate::harness::server::{DIALECTS, authorised};
use crate::harness::{Company, Dialect, Engine, Options, Request, Server};
use serde_json::{Value, json};
use std::path::Path;

/// A request as both clients are told it; a body is repeated so many times, and `text` is what its answer must be.
struct Step {
    request: Request,
    times: usize,
    status: u16,
    text: Option<String>,
}

/// Reads that compress, writes, refusals of all sizes, and reads again.
fn round(company: &Company<'_>) -> Vec<Step> {
    let step = |request: Request, status| Step { request, times: 1, status, text: None };
    // What it must be is told by the suites' own client, which takes nothing compressed here.
    let read = |request: Request| {
        let plain = company.server.send(&request.clone().header("Accept-Encoding", "identity")).expect(200);
        Step { request, times: 1, status: 200, text: Some(plain.text) }
    };
    let mut steps = vec![read(Request::new("GET", "/swagger/v1/swagger.json"))];
    for dialect in DIALECTS {
        let list = || company.request(dialect, "GET", "accounts", "?pageSize=500");
        let party = || company.request(dialect, "POST", "parties", "");
        steps.push(read(list()));
        for report in ["general-ledger", "day-book"] {
            let path = format!("/reports/{report}?from=2026-01-01&to=2026-12-31&format=csv");
            let request = match dialect {
                Dialect::A => Request::new("GET", &format!("/a/api/{}{path}", company.id)),
                Dialect::B => Request::new("GET", &format!("/b/api{path}")).header("X-Business-Id", &company.id),
            };
            steps.push(read(authorised(request, &company.token)));
        }
        steps.push(step(party().json(&json!({"name": "By a real client", "isCustomer": true})), 201));
        for length in [2 << 20, 64 << 20] {
            steps.push(Step { times: length, ..step(party().text("application/json", " "), 413) });
        }
        steps.push(step(party().text("application/json", "{"), 400));
        steps.push(step(Request::new("GET", company.request(dialect, "GET", "parties", "").path.as_str()), 401));
        steps.push(read(list()));
    }
    steps.push(Step {
        times: 2 << 20,
        ..step(Request::new("POST", "/compare/api/sign-in").text("application/json", " "), 413)
    });
    steps.push(step(Request::new("GET", "/nowhere"), 404));
    steps
}

fn told_to_client(steps: &[Step]) -> Value {
    let told = steps.iter().map(|step| {
        let headers: serde_json::Map<String, Value> =
            step.request.headers.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
        let body = step.request.body.as_ref().map(|body| String::from_utf8(body.clone()).unwrap());
        let (method, path) = (&step.request.method, &step.request.path);
        json!({"method": method, "path": path, "headers": headers, "body": body, "times": step.times})
    });
    told.collect()
}

fn hold(steps: &[Step], answers: &Value) {
    let answers = answers.as_array().expect("an answer each");
    assert_eq!(answers.len(), steps.len());
    for (step, answer) in steps.iter().zip(answers) {
        let (what, text) =
            (format!("{} {}", step.request.method, step.request.path), answer[1].as_str().unwrap_or_default());
        assert_eq!(answer[0], step.status, "{what}: {text:.300}");
        if let Some(wanted) = &step.text {
            assert!(text == wanted, "{what}: {} of {} characters", text.len(), wanted.len());
        }
    }
}

fn server() -> Server {
    Server::start(Engine::Sqlite, Options::default()).expect("SQLite needs nothing")
}

#[test]
fn fetch_in_a_browser_gets_every_answer_whole() {
    let Some(browser) = Browser::start() else { return };
    let server = server();
    let steps = round(&long_company(&server));
    browser.open(&format!("http://{}/about", server.address));
    let requests = told_to_client(&steps);
    browser.run(&format!(
        "(async () => {{
            const told = [];
            for (const one of {requests}) {{
                const body = one.body === null ? undefined : one.body.repeat(one.times);
                try {{
                    const answer = await fetch(one.path, {{method: one.method, headers: one.headers, body}});
                    told.push([answer.status, await answer.text()]);
                }} catch (error) {{
                    told.push([0, String(error)]);
                }}
            }}
            window.told = told;
        }})();"
    ));
    browser.wait("window.told !== undefined");
    hold(&steps, &browser.run("return window.told"));
    assert!(!server.log().contains("panicked"), "{}", server.log());
}

#[test]
fn httpx_gets_every_answer_whole() {
    // Made by the gate; PyPI's packages are not ours to keep.
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/httpx/bin/python");
    if !python.exists() {
        let required = std::env::var("DUET_TEST_HTTPX").is_ok_and(|value| value == "required");
        assert!(!required, "DUET_TEST_HTTPX=required, and there is no {}", python.display());
        say_loudly("NO HTTPX FOUND: its round is SKIPPED");
        return;
    }
    let server = server();
    let steps = round(&long_company(&server));
    let asked = json!({"base": format!("http://{}", server.address), "requests": told_to_client(&steps)});
    let told = piped(&python.display().to_string(), &["-c", include_str!("harness/round.py")], &asked.to_string());
    hold(&steps, &serde_json::from_str(&told.expect("an interpreter")).unwrap());
    assert!(!server.log().contains("panicked"), "{}", server.log());
}
