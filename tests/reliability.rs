//! What happens when clients hang up, dawdle, or the server is told to stop.

use crate::harness::http::{Answer, connect};
use crate::harness::process::{eventually, fresh_folder};
use crate::harness::server::{DIALECTS, run};
use crate::harness::{Company, Dialect, Engine, Options, Request, Server, on_both_engines};
use serde_json::json;
use std::io::{Read, Write};

on_both_engines! {
    fn a_client_that_hangs_up_leaves_nothing_half_done(server) {
        let company = server.company();
        let request = |index: usize| {
            let request = company.request(DIALECTS[index % 2], "POST", "parties", "");
            let request = request.header("Idempotency-Key", &format!("gone {index} {}", company.id));
            request.json(&json!({"name": format!("Gone {index}"), "isCustomer": true}))
        };
        for index in 0..40 {
            drop(request(index).begin(server.address));
        }
        // Whether the first was written or not, its repeat ends with exactly one record.
        for index in 0..40 {
            let repeat = || Some(company.say(DIALECTS[index % 2], request(index))).filter(|said| said.status != 409);
            eventually("the first to be over", repeat).expect(201);
        }
        company.party(json!({"name": "Last"}));
        let listed = company.ask(Dialect::B, "GET", "parties", "?pageSize=500", None).expect(200).data;
        assert_eq!(listed["pagination"]["totalCount"], 41);
        for party in listed["items"].as_array().unwrap() {
            company.ask(Dialect::A, "GET", "parties", &format!("/{}", party["id"].as_str().unwrap()), None).expect(200);
        }
    }

    fn neighbours_of_a_failing_write_are_not_harmed(server) {
        let company = server.company();
        let statuses: Vec<u16> = std::thread::scope(|scope| {
            let send = |index: usize| {
                // Every fifth wants a code that is taken.
                let code = if index.is_multiple_of(5) { "TAKEN".to_owned() } else { format!("N-{index}") };
                let body = json!({"name": "Neighbour", "isCustomer": true, "code": code});
                company.ask(DIALECTS[index % 2], "POST", "parties", "", Some(&body)).status
            };
            let workers: Vec<_> = (0..50).map(|index| scope.spawn(move || send(index))).collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).collect()
        });
        assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 41, "{statuses:?}");
        assert_eq!(statuses.iter().filter(|status| **status == 409).count(), 9, "{statuses:?}");
    }

    fn what_was_answered_is_there_after_a_kill(server) {
        let own = Server::start(server.engine, Options::default()).unwrap();
        let company = own.company();
        for index in 0..20 {
            company.party(json!({"name": format!("Kept {index}")}));
        }
        own.signal("KILL");
        let id = company.id.clone();
        let again = own.restarted();
        let request = Request::new("GET", "/b/api/parties").header("X-Business-Id", &id);
        let request = crate::harness::server::authorised(request, again.token());
        assert_eq!(again.send(&request).expect(200).json()["pagination"]["totalCount"], 20);
    }
}

#[test]
fn several_processes_keep_one_set_of_books() {
    let Some(servers) = Server::several(3) else { return };
    let company = servers[0].company();
    let of =
        |index: usize| Company { server: &servers[index], token: servers[index].token().to_owned(), ..company.clone() };
    let members = [of(0), of(1), of(2)];
    members[0].party(json!({"name": "Seen by all"}));
    for member in &members {
        assert_eq!(member.ask(Dialect::B, "GET", "parties", "", None).expect(200).data["pagination"]["totalCount"], 1);
    }
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let send = |index: usize| {
            let body = json!({"name": "Race", "isCustomer": true, "code": format!("R-{}", index / 3)});
            members[index % 3].ask(DIALECTS[index % 2], "POST", "parties", "", Some(&body)).status
        };
        let workers: Vec<_> = (0..30).map(|index| scope.spawn(move || send(index))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 10, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 409).count(), 20, "{statuses:?}");
}

fn hasty() -> Server {
    let custom = r#"{"Limits": {"Header": "1s", "BodyIdle": "1s"}}"#;
    Server::start(Engine::Sqlite, Options { custom: Some(custom.into()), ..Options::default() })
        .expect("SQLite needs nothing")
}

#[test]
fn slow_headers_and_slow_bodies_are_not_waited_for() {
    let server = hasty();
    let company = server.company();
    let mut slow = connect(server.address);
    slow.write_all(b"GET /b/api/parties HTTP/1.1\r\nHost: x\r\nX-Slow: ").unwrap();
    let answer = Answer::read(&mut slow, true).expect(408);
    assert_eq!(answer.header("x-error-code"), Some("request_timeout"));
    assert_eq!(answer.json(), json!({"status": 408, "title": "The request came too slowly", "errors": {}}));
    // Whoever says nothing at all is told nothing.
    let mut silent = connect(server.address);
    let mut rest = Vec::new();
    silent.read_to_end(&mut rest).unwrap();
    assert_eq!(rest, b"");
    for dialect in DIALECTS {
        let request = company.request(dialect, "POST", "parties", "").header("Content-Type", "application/json");
        let mut stream = request.header("Content-Length", "100").begin(server.address);
        stream.write_all(b"{\"name\":").unwrap();
        let said = crate::harness::server::Said::of(dialect, Answer::read(&mut stream, true)).expect(408);
        assert_eq!(said.code.as_deref(), Some("request_timeout"));
    }
}

#[test]
fn a_request_names_one_host() {
    let server = Server::shared(Engine::Sqlite).unwrap();
    for (path, key) in [("/healthz", "status"), ("/a/api/Businesses", "success"), ("/b/api/businesses", "status")] {
        for hosts in ["", "Host: a\r\nHost: b\r\n"] {
            let mut stream = connect(server.address);
            stream.write_all(format!("GET {path} HTTP/1.1\r\n{hosts}\r\n").as_bytes()).unwrap();
            let answer = Answer::read(&mut stream, false).expect(400).json();
            assert_eq!(answer.as_object().unwrap().keys().next().unwrap(), key, "in the dialect's own words");
            assert!(answer["errors"]["Host"].is_array());
        }
    }
}

#[test]
fn a_stop_finishes_what_is_in_flight() {
    let server = Server::start(Engine::Sqlite, Options::default()).unwrap();
    let company = server.company();
    let body = json!({"name": "In flight", "isCustomer": true}).to_string();
    let request = company.request(Dialect::A, "POST", "parties", "").header("Content-Type", "application/json");
    let request = request.header("Content-Length", &body.len().to_string()).header("Expect", "100-continue");
    let mut stream = request.begin(server.address);
    // That it may go on is said by who waits for the body: only then is the request in flight for sure.
    let mut asked_on = [0; "HTTP/1.1 100 Continue\r\n\r\n".len()];
    stream.read_exact(&mut asked_on).unwrap();
    assert!(asked_on.starts_with(b"HTTP/1.1 100 "), "{}", String::from_utf8_lossy(&asked_on));
    stream.write_all(&body.as_bytes()[..5]).unwrap();
    server.signal("TERM");
    eventually("the listener's end", || std::net::TcpStream::connect(server.address).is_err().then_some(()));
    stream.write_all(&body.as_bytes()[5..]).unwrap();
    assert_eq!(Answer::read(&mut stream, true).status, 201);
    assert_eq!(server.exit_code(), Some(0));
}

#[test]
fn a_first_start_makes_one_user_and_tells_its_password_once() {
    let folder = fresh_folder("first");
    let options = || Options {
        environment: ["Bootstrap__Email", "Bootstrap__Username", "Bootstrap__Password"]
            .map(|key| (key.to_owned(), String::new()))
            .to_vec(),
        ..Options::default()
    };
    let server = Server::start_in(Engine::Sqlite, folder, options()).unwrap();
    // Nobody looks at what is printed here, so a file has it and says so; it is the owner's alone.
    let kept = server.folder.join("data/first-password");
    let told = format!("its password is in {}; log in, choose another, and remove that file", kept.display());
    assert!(server.greeting.contains(&told), "{:?}", server.greeting);
    let password = std::fs::read_to_string(&kept).unwrap().trim_end().to_owned();
    assert!(!server.greeting.iter().any(|line| line.contains(&password)) && !server.log().contains(&password));
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&kept).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    std::fs::remove_file(&kept).unwrap();
    server.login("admin@localhost", &password);
    let secret = server.folder.join("data/token-secret");
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&secret).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let again = server.restarted();
    assert!(!again.greeting.iter().any(|line| line.contains("its password")) && !kept.exists());
    again.login("admin@localhost", &password);
    assert!(!again.log().contains(&password));
}

#[test]
fn the_demo_starts_with_companies_to_look_at() {
    let server = Server::demo();
    let token = server.login("demo@duet.example", crate::demo::PASSWORD);
    let request = crate::harness::server::authorised(Request::new("GET", "/b/api/businesses"), &token);
    let listed = server.send(&request).expect(200).json();
    let with_a_story = listed["items"].as_array().unwrap().iter().filter(|one| one["tags"][0] == "demo");
    assert_eq!(with_a_story.count(), 4, "three with a story, and that of the reference");
    let ended = server.command(&["health", "--set", &format!("Urls=http://{}", server.address), "--ready"], "");
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    assert_eq!(run(&["health".into(), "--set".into(), "Urls=http://127.0.0.1:1".into()], "").status.code(), Some(1));
}

/// A lane that cannot go on turns away what it has no room for, at once, and loses nothing that it took.
#[test]
fn a_full_lane_says_so_at_once() {
    use sea_orm::ConnectionTrait;
    let custom = r#"{"Limits": {"WriteQueue": 4}}"#;
    let options = Options { custom: Some(custom.into()), ..Options::default() };
    let server = Server::start(Engine::Sqlite, options).unwrap();
    let company = server.company();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let held = runtime.block_on(async {
        let held = crate::harness::books::connected(server.database_url()).await.unwrap();
        held.execute_unprepared("BEGIN IMMEDIATE").await.unwrap();
        held
    });
    let (taken, turned_away) = (std::sync::atomic::AtomicUsize::new(0), std::sync::atomic::AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for index in 0..40 {
            let (company, taken, turned_away) = (company.clone(), &taken, &turned_away);
            scope.spawn(move || {
                let body = json!({"name": format!("Waiting {index}"), "isCustomer": true});
                let said = company.ask(DIALECTS[index % 2], "POST", "parties", "", Some(&body));
                if said.status == 201 {
                    taken.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                    return;
                }
                assert_eq!((said.status, said.code.as_deref()), (503, Some("overloaded")));
                assert!(said.answer.header("retry-after").is_some());
                turned_away.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            });
        }
        let away = || turned_away.load(std::sync::atomic::Ordering::SeqCst);
        eventually("those whom there is no room for", || (away() >= 20).then_some(()));
        assert_eq!(taken.load(std::sync::atomic::Ordering::SeqCst), 0, "nobody is answered before the commit");
        runtime.block_on(async { held.execute_unprepared("ROLLBACK").await.unwrap() });
    });
    let listed = company.ask(Dialect::A, "GET", "parties", "", None).expect(200).data;
    assert_eq!(listed["pagination"]["totalCount"], taken.into_inner());
}

/// Eight writers at once, each doing all there is to do with journals that any of them made.
fn writers_of_all_kinds(companies: &[Company<'_>]) {
    let company = &companies[0];
    let body = |index: usize| {
        let amount = format!("{}.{:02}", index % 90 + 1, index % 100);
        let day = format!("2026-{:02}-{:02}", index % 12 + 1, index % 28 + 1);
        company.journal_body(&day, &[("6200", &amount), ("1010", &format!("-{amount}"))])
    };
    let bodies: Vec<_> = (0..25).map(body).collect();
    let made = std::sync::Mutex::new(Vec::new());
    let write = |index: usize| {
        let (member, dialect) = (&companies[index % companies.len()], DIALECTS[index % 2]);
        let body = &bodies[index % bodies.len()];
        let some = made.lock().unwrap().get(index * 7 % 60).cloned();
        let said = match (index % 9, some) {
            (4, Some(id)) => member.ask(dialect, "PUT", "journals", &format!("/{id}"), Some(body)),
            (5, Some(id)) => member.ask(dialect, "POST", "journals", &format!("/{id}/void"), None),
            (6, Some(id)) => member.ask(dialect, "DELETE", "journals", &format!("/{id}"), None),
            (7, _) => {
                let party = json!({"name": "P", "isCustomer": true, "code": format!("C-{}", index % 5)});
                member.ask(dialect, "POST", "parties", "", Some(&party))
            }
            (8, _) => {
                let account = json!({"code": format!("8{index:03}"), "name": "A", "type": "expense"});
                member.ask(dialect, "POST", "accounts", "", Some(&account))
            }
            (kind, _) => {
                let mut body = body.clone();
                body["status"] = if kind == 3 { "draft" } else { "posted" }.into();
                let said = member.ask(dialect, "POST", "journals", "", Some(&body)).expect(201);
                made.lock().unwrap().push(said.id());
                said
            }
        };
        assert!(said.status < 500, "{}", said.answer.text);
    };
    std::thread::scope(|scope| {
        for first in 0..8 {
            let write = &write;
            scope.spawn(move || (first..240).step_by(8).for_each(write));
        }
    });
    assert_eq!(company.failed_checks(), [""; 0]);
}

on_both_engines! {
    fn writers_of_all_kinds_leave_books_that_prove_themselves(server) {
        writers_of_all_kinds(&[server.company()]);
    }
}

#[test]
fn writers_in_two_processes_leave_books_that_prove_themselves() {
    let Some(servers) = Server::several(2) else { return };
    let company = servers[0].company();
    let other = Company { server: &servers[1], token: servers[1].token().to_owned(), ..company.clone() };
    writers_of_all_kinds(&[company, other]);
}
