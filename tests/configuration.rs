//! What is served where, changed while it runs, and what a bad configuration gets.

use crate::harness::http::{Answer, connect};
use crate::harness::process::{eventually, fresh_folder};
use crate::harness::server::{authorised, run};
use crate::harness::{Engine, Options, Request, Server};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Write;

fn server(custom: &str) -> Server {
    Server::start(Engine::Sqlite, Options { custom: Some(custom.into()), ..Options::default() })
        .expect("SQLite needs nothing")
}

/// What a path answers to someone who is not signed in: 401 where it is served, else 404.
fn status(server: &Server, path: &str) -> u16 {
    server.send(&Request::new("GET", path)).status
}

#[test]
fn each_choice_of_dialects_serves_what_it_says() {
    let paths =
        ["/api/Businesses", "/api/businesses", "/a/api/Businesses", "/b/api/businesses", "/books/v1/Businesses"];
    for (custom, expected) in [
        (r#"{"Dialect": "A"}"#, [401, 404, 404, 404, 404]),
        (r#"{"Dialect": "b"}"#, [404, 401, 404, 404, 404]),
        (r#"{"Dialect": "Both"}"#, [401, 401, 401, 401, 404]),
        (r#"{"Dialects": {"SharedPrefix": null}}"#, [404, 404, 401, 401, 404]),
        (r#"{"Dialects": {"A": {"Prefix": "/books/v1"}}}"#, [401, 401, 404, 401, 401]),
    ] {
        let server = server(custom);
        assert_eq!(paths.map(|path| status(&server, path)), expected, "{custom}");
        let served = server.send(&Request::new("GET", "/swagger/v1/swagger.json")).expect(200).json();
        assert!(!served["paths"].as_object().unwrap().is_empty());
        assert_eq!(
            status(&server, "/swagger/a/swagger.json") == 200,
            expected[0] == 401 || expected[2] == 401,
            "{custom}"
        );
        assert_eq!((status(&server, "/healthz"), status(&server, "/readyz")), (200, 200));
    }
}

#[test]
fn a_dialect_that_is_not_served_has_no_login_either() {
    let server = server(r#"{"Dialect": "A"}"#);
    let body = serde_json::json!({"email": "owner@example.test", "password": "x"});
    server.send(&Request::new("POST", "/api/auth/login").json(&body)).expect(404);
}

#[test]
fn dialects_change_without_a_connection_dropped() {
    let server = server(r#"{"Dialect": "Both"}"#);
    let mut stream = connect(server.address);
    let mut ask = |path: &str| {
        stream.write_all(&Request::new("GET", path).bytes("keep-alive")).expect("the connection is kept");
        Answer::read(&mut stream, false).status
    };
    assert_eq!((ask("/a/api/Businesses"), ask("/api/Businesses")), (401, 401));
    let custom = server.folder.join("config/appsettings.Custom.json");
    std::fs::write(&custom, r#"{"Dialect": "B"}"#).unwrap();
    server.signal("HUP");
    eventually("the change to B", || (ask("/a/api/Businesses") == 404 && ask("/api/businesses") == 401).then_some(()));

    // A broken file changes nothing, and the log says why.
    std::fs::write(&custom, r#"{"Dialect": "None"}"#).unwrap();
    server.signal("HUP");
    eventually("the complaint in the log", || server.log().contains("config_reload_failed").then_some(()));
    assert_eq!(ask("/api/businesses"), 401);

    // A change of the file is enough, without a signal.
    std::fs::write(&custom, r#"{"Dialect": "A", "Cors": {"Origins": ["https://books.example"]}}"#).unwrap();
    eventually("the change to A", || (ask("/api/Businesses") == 401).then_some(()));
    let preflight = Request::new("OPTIONS", "/api/Businesses").header("Origin", "https://books.example");
    let allowed = server.send(&preflight.clone().header("Access-Control-Request-Method", "GET"));
    assert_eq!(allowed.header("access-control-allow-origin"), Some("https://books.example"));
    let mut other = preflight.header("Access-Control-Request-Method", "GET");
    other.headers[0].1 = "https://books.example.evil".into();
    assert_eq!(server.send(&other).header("access-control-allow-origin"), None);
}

/// Words of a header, as they are compared.
fn words_of(answer: &Answer, header: &str) -> BTreeSet<String> {
    answer.header(header).unwrap_or_default().split(',').map(|word| word.trim().to_lowercase()).collect()
}

#[test]
fn pages_elsewhere_may_send_and_read_every_header_that_the_documents_know() {
    let server = server(r#"{"Cors": {"Origins": ["https://books.example"]}}"#);
    let document = server.send(&Request::new("GET", "/swagger/v1/swagger.json")).expect(200).json();
    let from = |method| Request::new(method, "/b/api/businesses").header("Origin", "https://books.example");
    let preflight = server.send(&from("OPTIONS").header("Access-Control-Request-Method", "GET"));
    let (allowed, methods) =
        (words_of(&preflight, "access-control-allow-headers"), words_of(&preflight, "access-control-allow-methods"));
    let exposed = words_of(&server.send(&from("GET")), "access-control-expose-headers");
    let (mut sent, mut read) = (BTreeSet::new(), BTreeSet::from(["date".to_owned(), "allow".to_owned()]));
    let said = |all: &Value| -> Vec<Value> {
        let at = |one: &Value| one["$ref"].as_str().and_then(|place| document.pointer(&place[1..])).cloned();
        let all = all
            .as_array()
            .cloned()
            .unwrap_or_else(|| all.as_object().into_iter().flat_map(|all| all.values().cloned()).collect());
        all.into_iter().map(|one| at(&one).unwrap_or(one)).collect()
    };
    for item in document["paths"].as_object().unwrap().values() {
        for (method, operation) in item.as_object().unwrap() {
            assert!(methods.contains(method), "{method}");
            let named = said(&operation["parameters"]).into_iter().filter(|one| one["in"] == "header");
            sent.extend(named.map(|one| one["name"].as_str().unwrap().to_lowercase()));
            for answer in said(&operation["responses"]) {
                read.extend(answer["headers"].as_object().unwrap().keys().map(|name| name.to_lowercase()));
            }
        }
    }
    for scheme in document["components"]["securitySchemes"].as_object().unwrap().values() {
        sent.insert(scheme["name"].as_str().unwrap_or("Authorization").to_lowercase());
    }
    assert!(sent.len() > 6 && read.len() > 15, "{sent:?} {read:?}");
    assert_eq!(sent.difference(&allowed).collect::<Vec<_>>(), Vec::<&String>::new(), "may not be sent");
    assert_eq!(read.difference(&exposed).collect::<Vec<_>>(), Vec::<&String>::new(), "may not be read");
}

#[test]
fn a_bad_value_stops_the_start_and_is_named() {
    let folder = fresh_folder("config");
    std::fs::write(folder.join("appsettings.Custom.json"), "{\n  \"JwtSettings\": { \"ExpirationMinutes\": 0 }\n}")
        .unwrap();
    let words = |command: &[&str]| -> Vec<String> {
        let place = ["--config".to_owned(), folder.display().to_string()];
        command.iter().map(ToString::to_string).chain(place).collect()
    };
    for command in [&["serve", "--listen", "127.0.0.1:0"][..], &["config", "check"], &["migrate"]] {
        let output = run(&words(command), "");
        assert_eq!(output.status.code(), Some(2), "{command:?}");
        let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        let expected = "appsettings.Custom.json:2: JwtSettings:ExpirationMinutes: expected a whole number from 1 to 1440, got \"0\"";
        assert!(text.contains(expected), "{text}");
    }
    std::fs::write(folder.join("appsettings.Custom.json"), r#"{ "Jwtsettings": { "Expiration": 5 } }"#).unwrap();
    assert_eq!(run(&words(&["config", "check"]), "").status.code(), Some(2));
    std::fs::write(folder.join("appsettings.Custom.json"), r#"{ "JwtSettings": { "ExpirationMinutes": 5 } }"#).unwrap();
    let output = run(&words(&["config", "check"]), "");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains(&format!("read {}", folder.join("appsettings.Custom.json").display())), "{told}");
    assert!(!told.contains("no file was read"), "{told}");
    let empty = fresh_folder("config");
    let output = run(&["config", "check", "--config", &empty.display().to_string()].map(str::to_owned), "");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let expected = format!("no file was read: there is no {}", empty.join("appsettings.json").display());
    assert!(told.contains(&expected) && told.contains("The configuration is good."), "{told}");
    let shown = run(&words(&["config", "show"]), "");
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(
        shown
            .lines()
            .any(|line| line.contains("ExpirationMinutes") && line.contains('5') && line.contains("Custom.json:1")),
        "{shown}"
    );
}

#[test]
fn the_command_line_explains_itself() {
    for words in [
        vec!["--help"],
        vec!["serve", "--help"],
        vec!["user", "add", "--help"],
        vec!["completions", "bash"],
        vec!["openapi", "a"],
    ] {
        let output = run(&words.iter().map(ToString::to_string).collect::<Vec<_>>(), "");
        assert_eq!(output.status.code(), Some(0), "{words:?}");
        assert!(output.stdout.len() > 200, "{words:?}");
    }
    assert_eq!(run(&["sing".to_owned()], "").status.code(), Some(2));
    for more in [
        &["--listen", "0.0.0.0:0"][..],
        &[
            "--set",
            "Server:Tls:Url=https://0.0.0.0:0",
            "--set",
            "Server:Tls:Certificate=a",
            "--set",
            "Server:Tls:Key=b",
        ],
    ] {
        let demo: Vec<String> = ["serve", "--demo"].iter().chain(more).map(|word| (*word).to_owned()).collect();
        let refused = run(&demo, "");
        assert_eq!(refused.status.code(), Some(2), "{more:?}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains("loopback"), "{more:?}");
    }
}

#[test]
fn a_dialect_that_is_to_go_says_so_and_goes() {
    let retiring = |fate: &str, sunset: &str| {
        format!(
            r#"{{"Dialects": {{"A": {{"Deprecation": "2026-01-01", "Sunset": "{sunset}", "Link": "https://docs.example/move",
            "AfterSunset": "{fate}"}}}}}}"#
        )
    };
    let server = server(&retiring("gone", "2999-12-31T22:00:00Z"));
    let custom = server.folder.join("config/appsettings.Custom.json");
    let ask = |path: &str| {
        let request = Request::new("GET", path);
        server.send(&authorised(request, server.token()))
    };
    let answer = ask("/a/api/Businesses?pageSize=1").expect(200);
    assert_eq!(answer.header("deprecation"), Some("@1767225600"));
    assert_eq!(answer.header("sunset"), Some("Tue, 31 Dec 2999 22:00:00 GMT"));
    let links: Vec<&str> =
        answer.headers.iter().filter(|(name, _)| name == "link").map(|(_, value)| value.as_str()).collect();
    // Those of the list beside those of its end.
    assert!(links.len() == 3 && links[0].contains("rel=\"first\"") && links[2].contains("rel=\"sunset\""), "{links:?}");
    for path in ["/b/api/businesses", "/swagger"] {
        assert_eq!(ask(path).expect(200).header("sunset"), None);
    }
    // A failure says so as well.
    assert!(server.send(&Request::new("GET", "/a/api/Businesses")).expect(401).header("sunset").is_some());
    std::fs::write(&custom, retiring("warn", "2026-06-30")).unwrap();
    eventually("a warning", || ask("/a/api/Businesses").header("warning").map(str::to_owned));
    std::fs::write(&custom, retiring("gone", "2026-06-30")).unwrap();
    let gone = eventually("the end", || Some(ask("/a/api/Businesses")).filter(|answer| answer.status == 410));
    assert_eq!(gone.header("x-error-code"), Some("dialect_gone"));
    assert_eq!(gone.json()["success"], false);
    assert!(gone.header("link").unwrap().contains("https://docs.example/move"));
    let login =
        Request::new("POST", "/a/api/Users/login").json(&serde_json::json!({"credential": "x", "password": "x"}));
    server.send(&login).expect(410);
    ask("/b/api/businesses").expect(200);
    std::fs::write(&custom, "{}").unwrap();
    let back = eventually("the way back", || Some(ask("/a/api/Businesses")).filter(|answer| answer.status == 200));
    assert_eq!(back.header("deprecation"), None);
}
