//! What `duet compare` makes of the faults that it finds: each cause once, by its operation and path, however many
//! answers show it.

use crate::comparing::{changed, compare, file, lines, report};
use crate::harness::http::Answer;
use crate::harness::{Company, Dialect, Engine, Request, Server, proxy};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::process::{Command, Output};

/// Compares dialect A of a server with dialect B behind a proxy that has a fault.
fn beside(server: &Server, wrapped: SocketAddr, more: &[&str]) -> Output {
    let (left, right) = (format!("http://{}/a/api", server.address), format!("http://{wrapped}/b/api"));
    compare(server, &[&["--left", &left, "--right", &right, "--json"], more].concat())
}

/// What was found, each by its name.
fn names(report: &Value) -> Vec<&str> {
    let mut names: Vec<&str> =
        report["findings"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    names
}

fn finding<'r>(report: &'r Value, name: &str) -> &'r Value {
    report["findings"].as_array().unwrap().iter().find(|one| one["name"] == name).unwrap()
}

fn is_list(request: &Request, resource: &str) -> bool {
    request.method == "GET" && request.path.split('?').next().is_some_and(|path| path.ends_with(resource))
}

/// A header that is dropped, a member that is changed in lists, and a write that is done twice, all at once and on every
/// such answer of an exploration that writes.
#[test]
fn three_causes_at_once_are_three_findings() {
    let server = Server::shared(Engine::Sqlite).unwrap();
    let address = server.address;
    let faults = move |request: &Request, answer: &mut Answer| {
        if request.path.starts_with("/b/api/items") {
            answer.headers.retain(|(name, _)| name != "etag");
        }
        if is_list(request, "/parties") {
            changed(answer, |body| {
                for party in body.get_mut("items").and_then(Value::as_array_mut).into_iter().flatten() {
                    party["name"] = "Somebody".into();
                }
            });
        }
        if request.method == "POST" && request.path.split('?').next() == Some("/b/api/journals") {
            request.send(address);
        }
    };
    let wrapped = proxy::start(address, Box::new(faults));
    let (html, junit) = (file("report.html", ""), file("report.xml", ""));
    let only = "items,parties,journals,accounts,entries,reports";
    let words =
        ["--explore", "--only", only, "--part", "1/3", "--twin", "--html", html.as_str(), "--junit", junit.as_str()];
    let output = beside(server, wrapped, &words);
    let found = report(&output);
    assert_eq!(output.status.code(), Some(1));
    let expected = ["items* headers.etag", "journalsCreate effects", "partiesList data.items[*].name"];
    assert_eq!(names(&found), expected, "{}", found["findings"]);
    for (name, kind, least) in [(expected[0], "onlyLeft", 20), (expected[1], "repeated", 5), (expected[2], "value", 10)]
    {
        let cause = finding(&found, name);
        assert_eq!(cause["kind"], kind, "{name}");
        assert!(cause["answers"].as_u64().unwrap() >= least, "{cause}");
        // One of them in full.
        let example = &cause["example"];
        assert!(
            example["left"]["answer"]["status"].is_u64() && example["right"]["curl"].as_str().unwrap().contains("curl")
        );
    }
    // Every answer that differs shows one of the three, and the books came out alike.
    let proof = found["requests"].as_array().unwrap().iter().find(|row| row["operation"] == "verificationRun").unwrap();
    assert_eq!(proof["verdict"], "equal");
    assert_eq!(finding(&found, expected[1])["example"]["differences"][0]["right"], 2);

    let html = std::fs::read_to_string(html).unwrap();
    let places = expected.map(|name| html.find(&format!("<code>{name}</code>")).unwrap());
    let table = html.find("By operation").unwrap();
    assert!(html.contains("<h2>3 causes</h2>") && places.iter().all(|place| *place < table));
    assert_junit(&junit, &found);
}

/// What another reader of XML makes of the report for builders.
fn assert_junit(path: &str, found: &Value) {
    let read = "import sys, json, xml.etree.ElementTree as x\n\
                r = x.parse(sys.argv[1]).getroot()\n\
                print(json.dumps({'tests': int(r.get('tests')), 'failures': int(r.get('failures')),\n\
                  'cases': len(r.findall('.//testcase')), 'suites': len(r.findall('testsuite')),\n\
                  'failed': sorted(c.get('name') for c in r.findall('.//testcase') if c.find('failure') is not None)}))";
    let output = Command::new("python3").args(["-c", read, path]).output();
    let Ok(output) = output else {
        assert!(std::env::var("DUET_TEST_HTTPX").is_err(), "there is no python3");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut failed: Vec<&String> = found["findings"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|one| one["operations"].as_object().unwrap().keys())
        .collect();
    failed.sort();
    failed.dedup();
    assert_eq!(told["failed"], json!(failed));
    assert_eq!((&told["failures"], &told["tests"]), (&json!(failed.len()), &told["cases"]));
    assert_eq!(told["cases"], found["operations"].as_object().unwrap().len());
}

/// Some parties, listed.
fn listed(company: &Company<'_>) -> String {
    for name in ["Alder", "Birch", "Cedar", "Dogwood", "Elm"] {
        company.party(json!({"name": name}));
    }
    lines(&[json!({"operation": "partiesList", "query": {"sort": "name"}})])
}

/// What a fault does to the records of a list.
type Change = fn(&mut Vec<Value>);

#[test]
fn records_in_another_order_are_one_finding_and_so_is_one_that_is_missing() {
    let server = Server::shared(Engine::Sqlite).unwrap();
    let company = server.company();
    let requests = listed(&company);
    let cases: [(Change, &str, &str, usize); 4] = [
        (|items| items.reverse(), "partiesList data.items", "order", 1),
        (|items| drop(items.remove(1)), "partiesList data.items[*]", "onlyLeft", 1),
        (|items| items.insert(0, json!({"id": "new", "name": "X"})), "partiesList data.items[*]", "onlyRight", 1),
        (
            |items| items.iter_mut().for_each(|one| one["code"] = "C".into()),
            "partiesList data.items[*].code",
            "type",
            5,
        ),
    ];
    for (change, name, kind, count) in cases {
        let fault = move |request: &Request, answer: &mut Answer| {
            if is_list(request, "/parties") {
                changed(answer, |body| change(body["items"].as_array_mut().unwrap()));
            }
        };
        let wrapped = proxy::start(server.address, Box::new(fault));
        let found = report(&beside(server, wrapped, &["--business", &company.id, "--file", &requests]));
        assert_eq!(names(&found), [name], "{found}");
        assert_eq!(finding(&found, name)["kind"], kind);
        let roots =
            found["notEqual"][0]["differences"].as_array().unwrap().iter().filter(|one| one["follows"].is_null());
        assert_eq!(roots.count(), count, "{found}");
    }
}

/// A write that also does something that nobody asked for: the books are apart, and what comes of it is told as that. What
/// is wrong for a reason of its own is told all the same.
#[test]
fn what_follows_from_books_that_are_apart_is_told_with_its_cause() {
    let server = Server::shared(Engine::Sqlite).unwrap();
    let address = server.address;
    let faults = move |request: &Request, answer: &mut Answer| {
        if request.method == "POST" && request.path == "/b/api/parties" && answer.status == 201 {
            let of_company = |method: &str, path: &str| {
                let named = |name: &str| ["authorization", "x-business-id"].contains(&name.to_lowercase().as_str());
                let headers = request.headers.iter().filter(|(name, _)| named(name)).cloned().collect();
                Request { headers, ..Request::new(method, path) }
            };
            let account = |code: &str| {
                let found = of_company("GET", &format!("/b/api/accounts?code={code}")).send(address).expect(200).json();
                found["items"][0]["id"].clone()
            };
            let body = json!({"date": "2026-11-20", "lines": [
                {"accountId": account("6200"), "debit": 7}, {"accountId": account("1010"), "credit": 7}]});
            of_company("POST", "/b/api/journals").json(&body).send(address).expect(201);
        }
        if is_list(request, "/items") {
            changed(answer, |body| {
                for item in body.get_mut("items").and_then(Value::as_array_mut).into_iter().flatten() {
                    item["description"] = "Other".into();
                }
            });
        }
    };
    let wrapped = proxy::start(address, Box::new(faults));
    let line = |code: &str, side: &str| json!({"accountId": format!("${{{code}.items[0].id}}"), side: 25});
    let requests = lines(&[
        json!({"operation": "partiesCreate", "body": {"name": "Seen", "isCustomer": true}}),
        json!({"operation": "itemsCreate", "body": {"name": "Seen", "type": "service", "description": "Same"}}),
        json!({"operation": "accountsList", "query": {"code": "6200"}, "as": "rent"}),
        json!({"operation": "accountsList", "query": {"code": "1010"}, "as": "bank"}),
        json!({"operation": "journalsCreate", "body": {"date": "2026-11-20", "lines": [line("rent", "debit"), line("bank", "credit")]}}),
        json!({"operation": "reportsTrialBalance"}),
        json!({"operation": "itemsList"}),
        json!({"operation": "entriesList"}),
    ]);
    let found = report(&beside(server, wrapped, &["--twin", "--file", &requests]));
    let expected = ["itemsList data.items[*].description", "partiesCreate effects.entries[*]"];
    assert_eq!(names(&found), expected, "{}", found["findings"]);
    assert!(finding(&found, expected[1])["consequences"].as_u64().unwrap() >= 4, "{found}");
}

/// A body of many members, of which two matter.
#[test]
fn a_body_is_shrunk_to_what_matters() {
    let server = Server::shared(Engine::Sqlite).unwrap();
    let fault = |request: &Request, answer: &mut Answer| {
        let sent: Value = serde_json::from_slice(request.body.as_deref().unwrap_or_default()).unwrap_or_default();
        let has_jo = sent["contacts"].as_array().is_some_and(|all| all.iter().any(|one| one["name"] == "Jo"));
        if has_jo && answer.status == 201 {
            changed(answer, |body| body["creditLimit"] = 1.into());
        }
    };
    let wrapped = proxy::start(server.address, Box::new(fault));
    let body = json!({
        "name": "Seen", "code": "S-1", "isCustomer": true, "isSupplier": true, "notes": "n", "phone": "1",
        "billingAddress": {"city": "Here", "country": "DE"}, "tags": ["a", "b"],
        "contacts": [{"name": "Al", "email": "al@example.test"}, {"name": "Jo", "phone": "2"}, {"name": "Mo"}]
    });
    let requests = lines(&[json!({"operation": "partiesCreate", "body": body})]);
    for more in [vec!["--twin"], vec!["--business", server.company().id.as_str()]] {
        let found = report(&beside(server, wrapped, &[more, vec!["--file", &requests]].concat()));
        let cause = finding(&found, "partiesCreate data.creditLimit");
        let smallest = &cause["shrunk"]["body"];
        assert_eq!(smallest["contacts"], json!([{"name": "Jo"}]), "{cause}");
        let members: Vec<&String> = smallest.as_object().unwrap().keys().collect();
        assert!(members.len() <= 3 && smallest["name"] == "Seen", "{smallest}");
        assert!((1..=80).contains(&cause["shrunk"]["requests"].as_u64().unwrap()));
    }
}

#[test]
fn a_name_that_was_mistyped_is_corrected_or_completed() {
    let server = Server::shared(Engine::Sqlite).unwrap();
    let business = server.company().id;
    let run = |words: &[&str]| {
        let output = compare(server, &[words, &["--business", &business]].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), said, String::from_utf8_lossy(&output.stdout).into_owned())
    };
    for (written, meant) in [
        (vec!["salesInvoiceList"], "did you mean salesInvoicesList?"),
        (vec!["partiesLits"], "did you mean partiesList?"),
        (vec!["parties"], "did you mean one of partiesList,"),
        (vec!["--explore", "--only", "partys"], "did you mean"),
    ] {
        let (code, said, _) = run(&written);
        assert!(code == Some(2) && said.contains(meant), "{written:?}: {said}");
    }
    // What only one begins with is that one.
    let (code, said, shown) = run(&["partiesLi"]);
    assert!(
        code == Some(0) && said.contains("taken for partiesList") && shown.contains("equal  partiesList"),
        "{said}"
    );
}

#[test]
fn twins_are_named_and_can_be_removed() {
    let server = Server::start(Engine::Sqlite, crate::harness::Options::default()).unwrap();
    let company = server.company();
    let requests = lines(&[json!({"operation": "partiesCreate", "body": {"name": "Seen", "isCustomer": true}})]);
    let found = report(&compare(&server, &["--twin", "--json", "--file", &requests]));
    let twins = found["twins"].as_array().unwrap();
    assert_eq!(twins.iter().map(|twin| &twin["side"]).collect::<Vec<_>>(), [&json!("left"), &json!("right")]);
    assert_eq!(twins[0]["name"], twins[1]["name"]);
    // One that has nothing in it goes for good.
    let empty = json!({"name": "Empty", "baseCurrency": "EUR", "tags": ["duet-compare"]});
    let post =
        crate::harness::server::authorised(Request::new("POST", "/b/api/businesses").json(&empty), server.token());
    let empty = server.send(&post).expect(201).json()["id"].as_str().unwrap().to_owned();

    let run = || {
        let output = compare(&server, &["--remove-twins"]);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let said = run();
    assert_eq!((said.matches("archived Compare ").count(), said.matches("deleted Empty").count()), (2, 1), "{said}");
    let status = |id: &str| {
        let get = Request::new("GET", &format!("/b/api/businesses/{id}"));
        let answer = server.send(&crate::harness::server::authorised(get, server.token()));
        if answer.status == 200 { answer.json()["status"].clone() } else { json!(answer.status) }
    };
    let left = [twins[0]["id"].as_str().unwrap(), twins[1]["id"].as_str().unwrap(), &empty, &company.id].map(status);
    assert_eq!(left, [json!("archived"), json!("archived"), json!(404), json!("active")]);
    assert!(run().contains("no company of an earlier run is left"));
    company.ask(Dialect::B, "GET", "parties", "", None).expect(200);
}
