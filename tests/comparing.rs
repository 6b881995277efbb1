//! `duet compare`, `duet translate`, and their page.

use crate::harness::browser::Browser;
use crate::harness::http::Answer;
use crate::harness::process::fresh_folder;
use crate::harness::server::{OWNER_EMAIL, OWNER_PASSWORD, authorised, run_with};
use crate::harness::twins::documented;
use crate::harness::{Company, Dialect, Engine, Options, Request, Server, on_both_engines, proxy};
use compare::dialect::LOGIN;
use compare::neutral::Neutral;
use compare::translate::Translator;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs `duet compare` as the owner.
pub(crate) fn compare(server: &Server, arguments: &[&str]) -> Output {
    let mut words = vec!["compare".to_owned()];
    words.extend(arguments.iter().map(ToString::to_string));
    if !arguments.contains(&"--left") {
        words.extend(["--server".to_owned(), format!("http://{}", server.address)]);
    }
    let token = server.token();
    run_with(&words, "", &[("DUET_COMPARE_TOKEN", token), ("DUET_COMPARE_RIGHT_TOKEN", token)])
}

/// The report of a run that came to its end.
pub(crate) fn report(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

pub(crate) fn file(name: &str, text: &str) -> String {
    let path = fresh_folder("compare").join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

pub(crate) fn lines(requests: &[Value]) -> String {
    let lines: Vec<String> = requests.iter().map(Value::to_string).collect();
    file("requests.jsonl", &lines.join("\n"))
}

/// What differs in a report, as operation and path.
fn differing(report: &Value) -> BTreeSet<String> {
    let of_request = |compared: &Value| {
        let operation = compared["request"]["operation"].as_str().unwrap().to_owned();
        let paths: Vec<Value> = compared["differences"].as_array().unwrap().clone();
        paths.into_iter().map(move |one| format!("{operation} {}", one["path"].as_str().unwrap()))
    };
    report["notEqual"].as_array().unwrap().iter().flat_map(of_request).collect()
}

/// The operations of a report's requests, of all of them or of those that succeeded.
fn operations(report: &Value, succeeded: bool) -> BTreeSet<String> {
    let counts = |row: &&Value| !succeeded || row["status"].as_u64().is_some_and(|status| status < 300);
    let rows = report["requests"].as_array().unwrap().iter().filter(counts);
    rows.map(|row| row["operation"].as_str().unwrap().to_owned()).collect()
}

fn documented_operations() -> BTreeSet<String> {
    documented(Dialect::A).operations.keys().cloned().collect()
}

fn without<'o>(all: &BTreeSet<String>, some: impl IntoIterator<Item = &'o str>) -> BTreeSet<String> {
    let some: BTreeSet<&str> = some.into_iter().collect();
    all.iter().filter(|one| !some.contains(one.as_str())).cloned().collect()
}

/// What an exploration of twins does not make succeed: what is of more than the company is rehearsed and finds nobody
/// else, a company with books is never deleted, and one's own account is left alone.
const DO_NOT_SUCCEED: [&str; 28] = [
    "login",
    "acceptInvitation",
    "profileAcceptInvitation",
    "businessesDelete",
    // A real company is no trial.
    "businessesSetClock",
    "businessesReleaseClock",
    "businessesEmpty",
    "usersUpdate",
    "usersDelete",
    "usersInviteAgain",
    "profileChangePassword",
    "profileBeginTotp",
    "profileConfirmTotp",
    "profileRemoveTotp",
    "profileRenewRecoveryCodes",
    "profileLogOut",
    "sessionsEnd",
    "sessionsEndOthers",
    // These want a state that no single action leads to.
    "allocationsCreate",
    "deliveryNotesCredit",
    "receiptNotesCredit",
    "receiptsAllocate",
    "paymentsAllocate",
    "revaluationsPost",
    // Years are closed in their order, and an exploration makes some that are earlier and open.
    "fiscalYearsClose",
    "fiscalYearsReopen",
    // The example rests, so that nobody is told anything.
    "webhooksTest",
    "webhooksRedeliver",
];

/// Every operation of the documents, with valid and broken bodies, on twins that are written into for real. The left
/// one of them. Each exploration of these suites asks another third of what is broken, for it takes minutes to ask all.
fn explore_twins<'s>(server: &'s Server, part: &str) -> Company<'s> {
    let html = file("report.html", "");
    let on_twins = compare(server, &["--explore", "--part", part, "--twin", "--json", "--html", &html]);
    let found = report(&on_twins);
    assert_eq!(differing(&found), BTreeSet::new());
    assert_eq!((found["ok"].as_bool(), on_twins.status.code()), (Some(true), Some(0)));
    assert!(found["counts"]["asked"].as_u64().unwrap() > 4_000, "{}", found["counts"]);
    assert!(found["counts"]["refused"].as_u64().unwrap() > 2_000, "{}", found["counts"]);
    // The side that speaks only one dialect tells of no other.
    let all = without(&documented_operations(), ["dialectUsageGet"]);
    let asked = operations(&found, false);
    assert_eq!(without(&all, asked.iter().map(String::as_str)), BTreeSet::new());
    let succeeded = operations(&found, true);
    let failing = without(&all, succeeded.iter().map(String::as_str));
    assert_eq!(failing, DO_NOT_SUCCEED.map(str::to_owned).into());

    let text = std::fs::read_to_string(html).unwrap();
    assert!(text.contains("No difference") && text.contains("salesInvoicesCreate"));
    assert!(
        !text.contains("http://fonts") && !text.contains("<script") && !text.contains("src="),
        "nothing is fetched"
    );

    let twins = server.send(&authorised(Request::new("GET", "/b/api/businesses?q=Compare&pageSize=1"), server.token()));
    let id = twins.expect(200).json()["items"][0]["id"].as_str().unwrap().to_owned();
    Company { id, ..server.company() }
}

/// Every operation once more on one company, where writes are rehearsed and leave nothing behind.
fn explore_one(company: &Company<'_>, part: &str) {
    let server = company.server;
    let state = || {
        let count = |resource: &str| {
            company.ask(Dialect::B, "GET", resource, "?pageSize=1", None).expect(200).data["pagination"].clone()
        };
        let proof = server.send(&company.request_at(Dialect::B, "GET", "verify")).expect(200).json();
        (count("auditLog"), count("entries"), count("salesInvoices"), proof)
    };
    let before = state();
    assert_eq!(before.3["ok"], true);
    let on_one = compare(server, &["--explore", "--part", part, "--json", "--business", &company.id]);
    assert_eq!(state(), before);
    let found = report(&on_one);
    assert_eq!(differing(&found), BTreeSet::new());
    assert_eq!((found["ok"].as_bool(), on_one.status.code()), (Some(true), Some(0)));
    let asked = operations(&found, false);
    assert_eq!(without(&documented_operations(), asked.iter().map(String::as_str)), BTreeSet::new());
}

#[test]
fn no_operation_differs_on_sqlite() {
    let server = Server::start(Engine::Sqlite, Options::default()).unwrap();
    explore_one(&explore_twins(&server, "1/3"), "2/3");
}

#[test]
fn no_operation_differs_on_postgres() {
    if let Some(server) = Server::start(Engine::Postgres, Options::default()) {
        explore_twins(&server, "3/3");
    }
}

/// A fault that is seeded in dialect B: where, what, and where it must be reported.
struct Seeded {
    name: &'static str,
    fault: fn(&Request, &mut Answer),
    reported: &'static [&'static str],
}

pub(crate) fn changed(answer: &mut Answer, change: impl FnOnce(&mut Value)) {
    if let Ok(mut body) = serde_json::from_str(&answer.text) {
        change(&mut body);
        answer.text = body.to_string();
    }
}

fn is_get(request: &Request) -> bool {
    request.method == "GET" && request.path.contains("/parties/")
}

const SEEDED: &[Seeded] = &[
    Seeded { name: "nothing", fault: |_, _| {}, reported: &[] },
    Seeded {
        name: "a status",
        fault: |request, answer| {
            if request.method == "POST" && answer.status == 201 {
                answer.status = 200;
            }
        },
        reported: &["partiesCreate status", "journalsCreate status"],
    },
    Seeded {
        name: "a field",
        fault: |request, answer| {
            if is_get(request) {
                changed(answer, |body| body["billingAddress"]["city"] = "Elsewhere".into());
            }
        },
        reported: &["partiesGet data.billingAddress.city"],
    },
    Seeded {
        name: "a field that is missing",
        fault: |request, answer| {
            if is_get(request) {
                changed(answer, |body| drop(body.as_object_mut().unwrap().remove("notes")));
            }
        },
        // It is missing beside the other dialect, and by the document of its own.
        reported: &["partiesGet data.notes", "partiesGet body.notes"],
    },
    Seeded {
        name: "a word that the document does not know",
        fault: |request, answer| {
            if is_get(request) {
                changed(answer, |body| body["kind"] = "dog".into());
            }
        },
        reported: &["partiesGet data.kind", "partiesGet body.kind"],
    },
    Seeded {
        name: "a number's digits",
        fault: |request, answer| {
            if is_get(request) {
                answer.text = answer.text.replace("\"creditLimit\":1000.00", "\"creditLimit\":1000.0");
            }
        },
        reported: &["partiesGet data.creditLimit"],
    },
    Seeded {
        name: "the path of an error",
        fault: |request, answer| {
            if request.path.contains("journals") && answer.status == 400 {
                answer.text = answer.text.replace("lines[0].debit", "lines.0.debit");
            }
        },
        reported: &["journalsCreate errors.lines[0].debit", "journalsCreate errors.lines.0.debit"],
    },
    Seeded {
        name: "a header that is missing",
        fault: |request, answer| {
            if is_get(request) {
                answer.headers.retain(|(name, _)| name != "etag");
            }
        },
        reported: &["partiesGet headers.etag"],
    },
    Seeded {
        name: "a header that leads elsewhere",
        fault: |request, answer| {
            for (_, value) in
                answer.headers.iter_mut().filter(|(name, _)| name == "location" && request.path.contains("parties"))
            {
                *value = value.replace("/parties/", "/items/");
            }
        },
        reported: &["partiesCreate headers.location.operation"],
    },
    Seeded {
        name: "the form of a failure",
        fault: |_, answer| {
            if answer.status == 400 {
                changed(answer, |body| body["detail"] = "more".into());
            }
        },
        reported: &["journalsCreate detail"],
    },
    Seeded {
        name: "what is posted, behind an equal answer",
        fault: |request, answer| {
            if request.path.contains("/entries") {
                answer.text = answer.text.replace("\"debit\":25.00", "\"debit\":26.00");
            }
        },
        reported: &["journalsCreate effects.entries[0].lines[0].debit"],
    },
    Seeded {
        name: "what is logged, behind an equal answer",
        fault: |request, answer| {
            if request.path.contains("/audit-log") {
                answer.text = answer.text.replace("\"action\":\"created\"", "\"action\":\"updated\"");
            }
        },
        reported: &["partiesCreate effects.audit[0].action", "journalsCreate effects.audit[0].action"],
    },
    Seeded {
        name: "what the books prove",
        fault: |request, answer| {
            if request.path.ends_with("/verify") {
                changed(answer, |body| body["checks"][0]["left"] = "24.99".into());
            }
        },
        reported: &["verificationRun data.checks[0].left"],
    },
    Seeded {
        name: "the digest of the books",
        fault: |request, answer| {
            if request.path.ends_with("/verify") {
                changed(answer, |body| body["digest"] = "0".repeat(64).into());
            }
        },
        reported: &["verificationRun data.digest"],
    },
];

/// A party, looked at again by what it was kept as; a journal, and one with a fault.
fn some_requests() -> Vec<Value> {
    let line = |code: &str, side: &str| json!({"accountId": format!("${{{code}.items[0].id}}"), side: 25});
    let party = json!({"name": "Seen", "isCustomer": true, "creditLimit": 1000, "billingAddress": {"city": "Here"}});
    let journal = json!({"date": "2026-11-20", "lines": [line("rent", "debit"), line("bank", "credit")]});
    let mut broken = journal.clone();
    broken["lines"][0]["debit"] = (-1).into();
    vec![
        json!({"operation": "partiesCreate", "body": party, "as": "party"}),
        json!({"operation": "partiesGet", "id": "${party}"}),
        json!({"operation": "accountsList", "query": {"code": "6200"}, "as": "rent"}),
        json!({"operation": "accountsList", "query": {"code": "1010"}, "as": "bank"}),
        json!({"operation": "journalsCreate", "body": journal}),
        json!({"operation": "journalsCreate", "body": broken}),
    ]
}

#[test]
fn a_fault_that_is_seeded_in_one_dialect_is_reported_with_its_path() {
    let server = Server::shared(Engine::Sqlite).unwrap();
    let requests = lines(&some_requests());
    for Seeded { name, fault, reported } in SEEDED {
        let wrapped = proxy::start(server.address, Box::new(fault));
        let (left, right) = (format!("http://{}/a/api", server.address), format!("http://{wrapped}/b/api"));
        let output = compare(server, &["--left", &left, "--right", &right, "--twin", "--file", &requests, "--json"]);
        let found = report(&output);
        let mut differing = differing(&found);
        // A status that is wrong everywhere is wrong for the twins' own making as well.
        differing.retain(|one| !one.starts_with("businessesCreate"));
        let expected: BTreeSet<String> = reported.iter().map(ToString::to_string).collect();
        assert_eq!(differing, expected, "{name}");
        assert_eq!(output.status.code(), Some(i32::from(!expected.is_empty())), "{name}");
    }
}

/// What a fault does to the body of an answer.
type Change = fn(&mut Value);

/// The same in dialect A, without twins: where a read or a rehearsal differs it is asked again, and what is wrong each
/// time is no noise.
#[test]
fn a_fault_that_stays_is_no_noise_on_whichever_side_it_is() {
    let server = Server::shared(Engine::Sqlite).unwrap();
    let company = server.company();
    let party = company.party(json!({"notes": "kept"}));
    let requests = lines(&[
        json!({"operation": "partiesGet", "id": party["id"]}),
        json!({"operation": "partiesCreate", "body": {"name": "Nobody", "isCustomer": true}}),
    ]);
    let of_party = |request: &Request| request.path.contains("/parties");
    let changes: [(&str, Change, &[&str]); 4] = [
        ("the envelope", |body| body["more"] = 1.into(), &["more"]),
        ("its message", |body| body["message"] = "Fine".into(), &["message", "body.message"]),
        (
            "a member",
            |body| drop(body["data"].as_object_mut().unwrap().remove("notes")),
            &["data.notes", "body.data.notes"],
        ),
        ("a word", |body| body["data"]["kind"] = "dog".into(), &["data.kind", "body.data.kind"]),
    ];
    for (name, change, paths) in changes {
        let fault = move |request: &Request, answer: &mut Answer| {
            if of_party(request) {
                changed(answer, change);
            }
        };
        let wrapped = proxy::start(server.address, Box::new(fault));
        let (left, right) = (format!("http://{wrapped}/a/api"), format!("http://{}/b/api", server.address));
        let words = ["--left", &left, "--right", &right, "--business", &company.id, "--file", &requests, "--json"];
        let found = report(&compare(server, &words));
        let of = |operation: &str| paths.iter().map(move |path| format!("{operation} {path}")).collect::<Vec<_>>();
        let expected: BTreeSet<String> = of("partiesGet").into_iter().chain(of("partiesCreate")).collect();
        assert_eq!(differing(&found), expected, "{name}");
    }
}

/// Who tries in vain is kept out after a while, so nobody tries twice because the answers differ.
#[test]
fn a_log_in_is_asked_once() {
    let server = Server::shared(Engine::Sqlite).unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = asked.clone();
    let fault = move |request: &Request, answer: &mut Answer| {
        if request.path.ends_with("/login") {
            counter.fetch_add(1, Ordering::Relaxed);
            changed(answer, |body| body["title"] = "Try again".into());
        }
    };
    let wrapped = proxy::start(server.address, Box::new(fault));
    let (left, right) = (format!("http://{}/a/api", server.address), format!("http://{wrapped}/b/api"));
    let requests = lines(&[json!({"operation": "login", "body": {"password": "some"}})]);
    let found = report(&compare(server, &["--left", &left, "--right", &right, "--file", &requests, "--json"]));
    assert!(differing(&found).contains("login title"), "{found}");
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

#[test]
fn what_is_declared_is_told_and_passes_and_what_never_occurs_fails() {
    let server = Server::shared(Engine::Sqlite).unwrap();
    let requests = lines(&some_requests());
    let no_tags = |request: &Request, answer: &mut Answer| {
        if is_get(request) {
            answer.headers.retain(|(name, _)| name != "etag");
        }
    };
    let wrapped = proxy::start(server.address, Box::new(no_tags));
    let (left, right) = (format!("http://{}/a/api", server.address), format!("http://{wrapped}/b/api"));
    let run = |declared: Value| {
        let declared = file("differences.json", &format!("// as agreed\n{declared}"));
        let words =
            ["--left", &left, "--right", &right, "--twin", "--file", &requests, "--json", "--differences", &declared];
        compare(server, &words)
    };
    let told =
        json!({"path": "headers.etag", "operation": "partiesGet", "reason": "B has no versions yet", "owner": "Jo"});
    let output = run(json!([told]));
    let found = report(&output);
    assert_eq!(
        (output.status.code(), &found["counts"]["declared"], &found["counts"]["different"]),
        (Some(0), &json!(1), &json!(0))
    );
    assert_eq!(found["notEqual"][0]["verdict"], "declared");
    assert_eq!(found["notEqual"][0]["differences"][0]["reason"], "B has no versions yet");

    let output = run(json!([told, {"path": "data.colour", "reason": "gone since May"}]));
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(report(&output)["unusedDeclarations"], json!(["data.colour (gone since May)"]));

    for (declared, why) in [
        (
            json!([{"path": "headers.etag", "reason": "x", "until": "2020-01-01", "owner": "Jo"}]),
            "by Jo; it has expired",
        ),
        (json!([{"path": "headers.etag"}]), "missing field `reason`"),
        (json!([{"path": "*", "reason": "x"}]), "excuses everything"),
    ] {
        let output = run(declared);
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(why) && said.contains("differences.json"), "{said}");
    }
}

#[test]
fn an_operation_that_only_one_side_knows_is_told() {
    let server = Server::shared(Engine::Sqlite).unwrap();
    let forgetful = |request: &Request, answer: &mut Answer| {
        if request.path == "/swagger/b/swagger.json" {
            changed(answer, |document| drop(document["paths"].as_object_mut().unwrap().remove("/locks/{id}")));
        }
    };
    let wrapped = proxy::start(server.address, Box::new(forgetful));
    let (left, right) = (format!("http://{}/a/api", server.address), format!("http://{wrapped}/b/api"));
    let business = server.company().id;
    let words = ["--explore", "--only", "locks", "--left", &left, "--right", &right, "--business", &business, "--json"];
    let output = compare(server, &words);
    assert_eq!(differing(&report(&output)), BTreeSet::from(["locksGet operation".to_owned()]));
    assert_eq!(output.status.code(), Some(1));
}

/// A server that is not ours may take a rehearsal for the real thing.
#[test]
fn nothing_is_written_where_nobody_says_that_dry_runs_are_known() {
    let server = Server::shared(Engine::Sqlite).unwrap();
    let no_documents = |request: &Request, answer: &mut Answer| {
        if request.path.starts_with("/swagger") {
            answer.status = 404;
        }
        assert!(!(request.method == "POST" && request.path.contains("/parties")), "it was asked to write");
    };
    let foreign = proxy::start(server.address, Box::new(no_documents));
    let company = server.company();
    let requests = lines(&[
        json!({"operation": "partiesList"}),
        json!({"operation": "partiesCreate", "body": {"name": "X", "isCustomer": true}}),
    ]);
    let (left, right) = (format!("http://{foreign}/a/api"), format!("http://{}/b/api", server.address));
    let words = ["--left", &left, "--right", &right, "--business", &company.id, "--file", &requests, "--json"];
    let output = compare(server, &words);
    let found = report(&output);
    assert_eq!(differing(&found), BTreeSet::from(["partiesCreate answer".to_owned()]), "the read was compared");
    assert!(found["notEqual"][0]["differences"][0]["left"].as_str().unwrap().contains("--twin"));
}

on_both_engines! {
    fn one_operation_is_asked_and_shown(server) {
        let company = server.company();
        company.party(json!({"name": "Shown"}));
        let output = compare(server, &["partiesList", "--business", &company.id, "--query", "q=shown"]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{text}");
        for part in ["== left\ncurl 'http", "/parties?q=shown", "X-Business-Id: ", "\"name\": \"Shown\"", "equal  partiesList", "0 different"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains(server.token()), "a token is nobody's to read");
        // A write is rehearsed, and says what it would post.
        let body = json!({"name": "Nobody", "isCustomer": true}).to_string();
        let output = compare(server, &["partiesCreate", "--business", &company.id, "--body", &body, "--json"]);
        assert_eq!(report(&output)["counts"]["equal"], 1);
        let found = company.ask(Dialect::B, "GET", "parties", "", None).expect(200).data;
        assert_eq!(found["pagination"]["totalCount"], 1);
    }

    fn two_companies_that_are_alike_are_held_side_by_side(server) {
        let (left, right) = (server.company(), server.company());
        for (company, name) in [(&left, "Same"), (&right, "Same"), (&left, "Other"), (&right, "Right")] {
            company.party(json!({"name": name, "code": name.len().to_string(), "contacts": [{"name": "Jo"}]}));
        }
        let requests = lines(&[
            json!({"operation": "partiesList", "query": {"code": "4"}, "as": "same"}),
            json!({"operation": "partiesGet", "id": "${same.items[0].id}"}),
            json!({"operation": "partiesList", "query": {"code": "5"}}),
            json!({"operation": "partiesCreate", "body": {"name": "New", "isCustomer": true}}),
        ]);
        let words = ["--left-business", &left.id, "--right-business", &right.id, "--file", &requests, "--json"];
        let found = report(&compare(server, &words));
        assert_eq!(differing(&found), BTreeSet::from(["partiesList data.items[0].name".to_owned()]));
        assert_eq!(found["counts"]["equal"], 3);
        for company in [left, right] {
            assert_eq!(company.ask(Dialect::B, "GET", "parties", "", None).expect(200).data["pagination"]["totalCount"], 2);
        }
    }

    fn a_recording_of_one_company_is_played_again_on_twins(server) {
        // What a browser saw of dialect A, a week ago, in a company that is gone.
        let (business, party) = ("019a9f6e-6c00-7b10-9c44-0d2e4f6a8b01", "019a9f6e-6c00-7a31-8d2f-3b1c5e7f9a02");
        let entry = |method: &str, path: &str, body: Option<Value>, data: Value| json!({
            "request": {
                "method": method, "url": format!("https://old.example/a/api/{business}{path}"), "headers": [
                    {"name": "Authorization", "value": "Bearer old"}, {"name": "User-Agent", "value": "Chrome"}],
                "postData": body.map(|body| json!({"mimeType": "application/json", "text": body.to_string()})),
            },
            "response": {"status": 200, "content": {"mimeType": "application/json",
                "text": json!({"success": true, "message": "OK", "data": data, "errors": null}).to_string()}}
        });
        let body = json!({"name": "Recorded", "isCustomer": true});
        let har = json!({"log": {"version": "1.2", "entries": [
            entry("POST", "/parties", Some(body.clone()), json!({"id": party, "name": "Recorded"})),
            entry("GET", &format!("/parties/{party}"), None, json!({"id": party, "name": "Recorded"})),
            {"request": {"method": "GET", "url": "https://old.example/logo.png", "headers": []}, "response": {"status": 200}},
        ]}});
        let har = file("session.har", &har.to_string());
        let output = compare(server, &["--file", &har, "--twin", "--json"]);
        let found = report(&output);
        assert_eq!(differing(&found), BTreeSet::new());
        let rows: Vec<(&str, u64)> = found["requests"].as_array().unwrap().iter()
            .map(|row| (row["operation"].as_str().unwrap(), row["status"].as_u64().unwrap())).collect();
        assert_eq!(rows, [("businessesCreate", 201), ("partiesCreate", 201), ("partiesGet", 200), ("verificationRun", 200)]);
        assert!(String::from_utf8_lossy(&output.stderr).contains("left out: GET /logo.png"));
    }

    fn only_those_who_are_named_use_the_page_and_it_can_be_off(server) {
        let ask = |server: &Server, what: &str, token: Option<&str>, body: &Value| {
            let request = Request::new("POST", &format!("/compare/api/{what}")).json(body);
            server.send(&match token {
                Some(token) => authorised(request, token),
                None => request,
            })
        };
        let credentials = json!({"login": "OWNER", "password": OWNER_PASSWORD});
        let token = ask(server, "sign-in", None, &credentials).expect(200).json()["token"].as_str().unwrap().to_owned();
        let about = ask(server, "about", Some(&token), &json!({})).expect(200).json();
        assert_eq!(about["user"]["email"], OWNER_EMAIL);
        let wrappings: Vec<&Value> = about["sides"].as_array().unwrap().iter().map(|side| &side["success"]).collect();
        assert_eq!((&wrappings[0]["data"], wrappings[1]), (&json!("$data"), &json!("$data")));
        let run = json!({"operation": "businessesList"});
        assert_eq!(ask(server, "run", Some(&token), &run).expect(200).json()["verdict"], "equal");
        // The two sides may be chosen among all.
        for (between, paths) in [("", ["/a/api/Businesses", "/b/api/businesses"]), ("?between=1,0", ["/b/api/businesses", "/a/api/Businesses"])] {
            let compared = ask(server, &format!("run{between}"), Some(&token), &run).expect(200).json();
            let asked = ["left", "right"].map(|side| compared[side]["request"]["target"].as_str().unwrap().to_owned());
            assert_eq!((asked, &compared["verdict"]), (paths.map(str::to_owned), &json!("equal")));
        }
        for between in ["run?between=0", "run?between=0,99", "run?between=a,b"] {
            assert_eq!(ask(server, between, Some(&token), &run).expect(400).json()["errors"]["between"].as_array().map(Vec::len), Some(1));
        }

        let wrong = json!({"login": OWNER_EMAIL, "password": "wrong"});
        let refused = ask(server, "sign-in", None, &wrong).expect(401).json();
        assert_eq!((&refused["status"], refused["title"].is_string()), (&json!(401), true));
        assert_eq!(ask(server, "sign-in", None, &json!({"login": "", "password": ""})).expect(400).json()["errors"]["login"], json!(["must not be empty"]));
        for (what, token, body, status) in [
            ("run", None, &run, 401),
            ("translate", None, &json!({"text": "curl http://h/a/api/Businesses"}), 401),
            ("run", Some("x.y.z"), &run, 401),
            ("run", Some(token.as_str()), &json!({"operation": "nothing"}), 400),
            ("run", Some(token.as_str()), &json!({"operation": "login", "body": {}}), 400),
            ("run", Some(token.as_str()), &json!([1]), 400),
            ("translate", Some(token.as_str()), &json!({"text": "hello"}), 400),
            ("nothing", Some(token.as_str()), &json!({}), 404),
        ] {
            let answer = ask(server, what, token, body).expect(status);
            assert_eq!(answer.json()["status"], status, "{what}");
            assert!(answer.header("x-error-code").is_some());
        }
        let bare = authorised(Request::new("GET", "/compare/api/about"), &token);
        assert_eq!(server.send(&bare).expect(405).header("allow"), Some("POST"));
        // Another page's form cannot speak for who is signed in.
        let form = authorised(Request::new("POST", "/compare/api/run"), &token).text("text/plain", &run.to_string());
        server.send(&form).expect(415);

        let own = |custom: &str| Server::start(server.engine, Options { custom: Some(custom.into()), ..Options::default() }).unwrap();
        let named = own(r#"{"Compare": {"Users": ["qa@example.test"]}}"#);
        ask(&named, "sign-in", None, &credentials).expect(403);
        ask(&named, "about", Some(named.token()), &json!({})).expect(403);
        let added = named.command(&["user", "add", "--email", "QA@example.test", "--password-stdin"], OWNER_PASSWORD);
        assert!(added.status.success());
        ask(&named, "sign-in", None, &json!({"login": "qa@example.test", "password": OWNER_PASSWORD})).expect(200);
        let home = |server: &Server| server.send(&Request::new("GET", "/")).expect(200).text;
        assert!(home(&named).contains("/compare") && home(&named).contains("/moving"));

        for off in [r#"{"Compare": {"Enabled": false}}"#, r#"{"Dialect": "B"}"#] {
            let off = own(off);
            for path in ["/compare", "/compare/api/about"] {
                off.send(&Request::new("GET", path)).expect(404);
            }
            assert!(!home(&off).contains("/compare"));
        }
    }
}

/// Arguments, environment, exit code and a part of what is said.
type Misuse<'m> = (&'m [&'m str], &'m [(&'m str, &'m str)], i32, &'m str);

#[test]
fn what_makes_no_sense_is_said_before_anything_is_asked() {
    let server = Server::shared(Engine::Sqlite).unwrap();
    let token = [("DUET_COMPARE_TOKEN", server.token())];
    let address = format!("http://{}", server.address);
    let gone = file("requests.jsonl", "{\"operation\":\"partiesList\"}\n{\"operation\":\"partyList\"}\n");
    let elsewhere = proxy::start(server.address, Box::new(|_, _| {}));
    let (left, right) = (format!("{address}/a/api"), format!("http://{elsewhere}/b/api"));
    let cases: [Misuse<'_>; 9] = [
        (
            &["businessesList", "--left", &left, "--right", &right],
            &token,
            2,
            "is another server: set DUET_COMPARE_RIGHT_TOKEN",
        ),
        (&["partiesList", "--server", &address], &[], 2, "--user"),
        (&["partiesList", "--server", &address, "--user", "x@example.test"], &[], 2, "DUET_COMPARE_PASSWORD"),
        (
            &["partiesList", "--server", &address, "--user", "nobody@example.test"],
            &[("DUET_COMPARE_PASSWORD", "wrong")],
            1,
            "answered 401",
        ),
        (&["partyList", "--server", &address], &token, 2, "no operation partyList"),
        (&["--server", &address], &token, 2, "name an operation"),
        (&["--file", &gone, "--server", &address], &token, 2, "line 2"),
        (&["partiesList", "--server", "http://127.0.0.1:1"], &token, 1, "127.0.0.1:1"),
        (&["partiesList", "--left", &address], &token, 2, "--right"),
    ];
    for (arguments, environment, code, why) in cases {
        let mut words = vec!["compare".to_owned()];
        words.extend(arguments.iter().map(ToString::to_string));
        let output = run_with(&words, "", environment);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.contains(why), "{arguments:?}: {said}");
    }
}

/// As somebody runs it by hand: with a password, while they are logged in elsewhere as well.
#[test]
fn whoever_compares_by_password_sees_one_session_from_both_sides() {
    let server = Server::shared(Engine::Sqlite).unwrap();
    let company = server.company();
    assert!(!company.token.is_empty(), "somebody is logged in already");
    let address = format!("http://{}", server.address);
    let words = ["compare", "sessionsGet", "--server", &address, "--user", OWNER_EMAIL].map(str::to_owned);
    let output = run_with(&words, "", &[("DUET_COMPARE_PASSWORD", OWNER_PASSWORD)]);
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("\"current\": true"), "{said}");
}

/// Each operation's request in one dialect becomes the same as the other dialect would have it, and back.
#[test]
fn every_operation_is_translated_there_and_back() {
    let [a, b] = [documented(Dialect::A), documented(Dialect::B)];
    let translator = Translator { dialects: vec![a.clone(), b.clone()], shared: Some("/api".into()) };
    for operation in a.operations.values() {
        let neutral = Neutral {
            business: (![LOGIN, "acceptInvitation"].contains(&operation.id.as_str())
                && !["businesses", "profile", "sessions", "installationLog"].contains(&operation.stem()))
            .then(|| "b1".to_owned()),
            id: operation.names_record().then(|| "r1".to_owned()),
            body: operation.body.as_ref().map(|body| body.example.clone()),
            ..Neutral::of(&operation.id)
        };
        let neutral =
            if operation.id == LOGIN { neutral.with(json!({"login": "jo", "password": "x"})) } else { neutral };
        for (from, to) in [(a, b), (b, a)] {
            let curl = compare::curl::written("http://h", &from.render(&neutral, None, None).unwrap());
            let translated = translator.translate(&curl, 1).unwrap().pop().unwrap();
            assert_eq!(translated.request, to.render(&neutral, None, None).unwrap(), "{curl}");
            assert_eq!((&translated.operation, translated.neutral), (&operation.id, neutral.clone()));
            assert!(!translated.notes.is_empty());
        }
    }
}

#[test]
fn the_translate_command_reads_words_files_and_standard_input() {
    let command = "curl -s http://127.0.0.1:5000/a/api/b1/sales -H 'Authorization: Bearer x'";
    let expected =
        "curl -s http://127.0.0.1:5000/b/api/sales-invoices -H 'X-Business-Id: b1' -H 'Authorization: Bearer x'";
    let path = file("commands.sh", &format!("{command}\n{command}\n"));
    let run = |arguments: &[&str], input: &str| {
        let words: Vec<String> =
            std::iter::once("translate").chain(arguments.iter().copied()).map(str::to_owned).collect();
        let output = run_with(&words, input, &[]);
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stdout).into_owned(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    for (arguments, input, count) in
        [(vec![command], "", 1), (vec!["--file", path.as_str()], "", 2), (vec![], command, 1)]
    {
        let (code, out, said) = run(&arguments, input);
        assert_eq!((code, out), (Some(0), format!("{expected}\n").repeat(count)));
        assert!(
            said.starts_with("line 1: salesInvoicesList, Dialect A to Dialect B\n    The company is in the header"),
            "{said}"
        );
    }
    let har = run(&["--har", command], "").1;
    let back = run(&["--json"], &har).1;
    let back: Value = serde_json::from_str(&back).unwrap();
    assert_eq!(back[0]["request"]["target"], "/a/api/b1/sales");
    let neutral: Value = serde_json::from_str(&run(&["--neutral", command], "").1).unwrap();
    assert_eq!((&neutral["operation"], &neutral["business"]), (&json!("salesInvoicesList"), &json!("b1")));
    let (code, out, said) = run(&["curl http://h/somewhere/else"], "");
    assert!(code == Some(1) && out == "curl http://h/somewhere/else\n", "{out}");
    assert!(said.contains("line 1: look at this: GET /somewhere/else is an operation of neither dialect"), "{said}");
    // What is translated, and has to be looked at.
    let (code, out, said) = run(&[&format!("{command} | something-new")], "");
    assert_eq!((code, out), (Some(3), format!("{expected} | something-new\n")));
    assert!(said.contains("line 1: look at this: `something-new` reads the answer by itself"), "{said}");
    // What is of the wanted dialect already stays.
    let (_, out, _) = run(&["--to", "a", &format!("{command}\n{expected}\n")], "");
    let again = run(&["--to", "a", &out], "");
    assert_eq!((again.0, &again.1), (Some(0), &out), "nothing is left to be done");
    assert!(out.starts_with(command) && out.contains("/a/api/b1/sales -H 'Authorization: Bearer x'\n"), "{out}");
}

#[test]
fn the_guide_sets_every_call_beside_its_twin() {
    let server = Server::shared(Engine::Sqlite).unwrap();
    let answer = server.send(&Request::new("GET", "/moving")).expect(200);
    assert!(answer.header("content-security-policy").unwrap().contains("default-src 'none'"));
    for operation in documented_operations() {
        for dialect in [Dialect::A, Dialect::B] {
            let documented = documented(dialect);
            let said = &documented.operations[&operation];
            let call = format!("<b>{}</b> {}{}</code>", said.method, documented.base, said.path);
            assert!(answer.text.contains(&call), "{call}");
        }
    }
}

fn sign_in(browser: &Browser, server: &Server) {
    browser.open(&format!("http://{}/compare", server.address));
    browser.fill("#login", OWNER_EMAIL);
    browser.fill("#password", OWNER_PASSWORD);
    browser.click("#do-sign-in");
    browser.wait("!document.querySelector('#request').hidden");
}

/// Chooses an operation as from the list, and waits for the body and the record that go with it.
fn choose(browser: &Browser, operation: &str) {
    browser.run(&format!(
        "document.querySelector('#result').replaceChildren(); const o = document.querySelector('#operation'); \
         o.value = {}; o.dispatchEvent(new Event('change', {{bubbles: true}}));",
        json!(operation)
    ));
}

/// Asks with the keyboard's shortcut, and tells the verdict and both statuses.
fn verdict(browser: &Browser) -> (String, Vec<String>) {
    browser.run("document.querySelector('#result').replaceChildren()");
    browser.run("document.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', ctrlKey: true}))");
    browser.wait("document.querySelector('#verdict')");
    let verdict = browser.run("return document.querySelector('#verdict').dataset.verdict");
    let statuses =
        browser.run("return [...document.querySelectorAll('#result .status')].map((one) => one.textContent)");
    let statuses = statuses.as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned()).collect();
    (verdict.as_str().unwrap().to_owned(), statuses)
}

#[test]
fn the_page_compares_in_a_browser() {
    let Some(browser) = Browser::start() else { return };
    let server = Server::start(Engine::Sqlite, Options::default()).unwrap();
    let company = server.company();
    company.party(json!({"name": "<b>Seen</b> in the browser", "creditLimit": "10.00"}));
    let count = |company: &Company<'_>| {
        company.ask(Dialect::B, "GET", "parties", "", None).expect(200).data["pagination"]["totalCount"].clone()
    };

    browser.open(&format!("http://{}/compare", server.address));
    browser.fill("#login", OWNER_EMAIL);
    browser.fill("#password", "wrong");
    browser.click("#do-sign-in");
    browser.wait("!document.querySelector('#sign-in-trouble').hidden");
    sign_in(&browser, &server);

    // A read; what is in the books is shown as text, digit for digit.
    choose(&browser, "partiesList");
    assert_eq!(verdict(&browser), ("equal".into(), vec!["200".into(), "200".into()]));
    let shown =
        browser.run("return [...document.querySelectorAll('#result .body')].map((one) => one.textContent).join()");
    assert!(
        shown.as_str().unwrap().contains("<b>Seen</b> in the browser")
            && shown.as_str().unwrap().contains("\"creditLimit\": 10.00")
    );
    let curl = browser.run("return document.querySelector('#result .request').textContent");
    assert_eq!(curl, format!("GET /a/api/{}/parties", company.id));

    // A write, from a body that the page suggests; rehearsed.
    choose(&browser, "partiesCreate");
    browser.wait("document.querySelector('#body').value.includes('X-1')");
    assert_eq!(verdict(&browser), ("equal".into(), vec!["201".into(), "201".into()]));
    assert_eq!(count(&company), 1);
    browser.fill("#name", "A new party");
    browser.click("#save");

    // One that fails, and one that is no JSON at all.
    browser.fill("#body", "{\"name\": \"\"}");
    assert_eq!(verdict(&browser).1, ["400", "400"]);
    browser.click("#save");
    browser.fill("#body", "{");
    assert_eq!(verdict(&browser), ("equal".into(), vec!["400".into(), "400".into()]));

    // A record is offered where one is needed.
    choose(&browser, "partiesGet");
    browser.wait("document.querySelector('#id').value.length === 36");
    assert_eq!(verdict(&browser), ("equal".into(), vec!["200".into(), "200".into()]));

    // What must be asked for is shown as such.
    choose(&browser, "reportsStockLedger");
    browser.wait(
        "document.querySelector('#query-field').open && \
         document.querySelector('[data-query=itemId]').placeholder === 'required' && \
         document.querySelector('[data-query=from]').placeholder === ''",
    );
    assert_eq!(verdict(&browser), ("equal".into(), vec!["400".into(), "400".into()]));

    // The saved list, asked again as a batch; it outlives the page.
    browser.open(&format!("http://{}/compare#list", server.address));
    browser.run("location.reload()");
    browser.wait("document.querySelectorAll('#rows tr').length === 2");
    browser.click("#run-all");
    browser.wait("document.querySelector('#batch').dataset.different === '0'");
    assert_eq!(browser.run("return document.querySelectorAll('#rows .badge.equal').length"), 2);

    browser.run("location.hash = '#translate'");
    browser.fill("#source", &format!("curl http://{}/a/api/b1/parties", server.address));
    browser.click("#do-translate");
    browser.wait("document.querySelector('.translation')?.textContent.includes(\"-H 'X-Business-Id: b1'\")");
    browser.run("document.querySelector('#sign-out').click()");
    browser.wait("!document.querySelector('#sign-in').hidden && !sessionStorage.getItem('duet-compare-token')");
    // The log-in that was refused is all that the console may tell.
    let complaints: Vec<String> = browser.complaints().into_iter().filter(|one| !one.contains("401")).collect();
    assert_eq!(complaints, Vec::<String>::new());
    assert_eq!(count(&company), 1);
}

/// With A gone its answers are 410: a difference that is there, for once.
#[test]
fn the_page_marks_what_differs() {
    let Some(browser) = Browser::start() else { return };
    let server = Server::start(Engine::Sqlite, Options::default()).unwrap();
    server.company();
    sign_in(&browser, &server);
    let custom = r#"{"Dialects": {"A": {"Sunset": "2020-01-01", "AfterSunset": "gone"}}}"#;
    std::fs::write(server.folder.join("config/appsettings.Custom.json"), custom).unwrap();
    server.signal("HUP");
    let gone = || server.send(&Request::new("GET", "/a/api/Businesses")).status == 410;
    crate::harness::process::eventually("the end of A", || gone().then_some(()));
    // Whoever signs in now does so by the dialect that is left.
    browser.click("#sign-out");
    sign_in(&browser, &server);
    choose(&browser, "businessesList");
    assert_eq!(verdict(&browser), ("different".into(), vec!["410".into(), "200".into()]));
    let paths = browser
        .run("return [...document.querySelectorAll('.differences td:first-child')].map((one) => one.textContent)");
    let paths: Vec<&str> = paths.as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    assert!(paths.contains(&"status") && paths.contains(&"data") && paths.contains(&"title"), "{paths:?}");
    let marked = browser.run(
        "return [...document.querySelectorAll('#result .body .line.off')].map((one) => one.dataset.path || 'header')",
    );
    assert!(
        marked.as_array().unwrap().contains(&json!("title")) && marked.as_array().unwrap().contains(&json!("data")),
        "{marked}"
    );
}
