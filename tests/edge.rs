//! Those who hold connections: who sends half, who drips, who does not take an answer, who comes in crowds, who sends far too
//! much. Whoever means well is served all the same, and told at once where that cannot be.

use crate::harness::http::{self, Answer, connect};
use crate::harness::people::fresh_email;
use crate::harness::process::eventually;
use crate::harness::server::{DIALECTS, OWNER_EMAIL, OWNER_PASSWORD, authorised};
use crate::harness::{Company, Dialect, Engine, Options, Request, Server};
use serde_json::json;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

fn server(limits: &str) -> Server {
    let custom = format!(r#"{{"Limits": {{{limits}}}}}"#);
    Server::start(Engine::Sqlite, Options { custom: Some(custom), ..Options::default() }).expect("SQLite needs nothing")
}

const DOCUMENT: &str = "/swagger/v1/swagger.json";

/// A connection from another address of this machine.
fn connect_from(last: u8, to: SocketAddr) -> TcpStream {
    http::connect_from(Ipv4Addr::new(127, 0, 0, last), to)
}

fn ask_from(last: u8, server: &Server, request: &Request) -> Answer {
    let mut stream = connect_from(last, server.address);
    stream.write_all(&request.bytes("close")).unwrap();
    Answer::read(&mut stream, true)
}

/// One request of each kind that has a body, and what it is answered where it says too little.
fn posts(company: &Company<'_>) -> Vec<(Request, u16)> {
    let json = |request: Request| request.header("Content-Type", "application/json");
    let signed_in = |path: &str| authorised(Request::new("POST", path), &company.token);
    let mut posts = vec![
        (Request::new("POST", "/a/api/Users/login"), 408),
        (Request::new("POST", "/b/api/auth/login"), 408),
        (Request::new("POST", "/api/auth/login"), 408),
        (Request::new("POST", "/compare/api/sign-in"), 408),
        (signed_in("/compare/api/run"), 408),
        (signed_in("/compare/api/translate"), 408),
        // Nobody reads these, and nobody waits for them either.
        (Request::new("POST", "/swagger"), 405),
        (Request::new("POST", "/healthz"), 405),
        (Request::new("POST", "/nowhere"), 404),
        (Request::new("POST", "/compare/api/run"), 401),
    ];
    for dialect in DIALECTS {
        posts.push((company.request(dialect, "POST", "parties", ""), 408));
        posts.push((company.request(dialect, "POST", "journals", "?dryRun=true"), 408));
        posts.push((company.request(dialect, "GET", "parties", ""), 200));
    }
    posts.into_iter().map(|(request, status)| (json(request), status)).collect()
}

#[test]
fn half_a_body_is_let_go_wherever_it_goes() {
    let server = server(r#""BodyIdle": "1s""#);
    let company = server.company();
    for (request, status) in posts(&company) {
        let path = request.path.clone();
        let mut stream = request.header("Content-Length", "10000").begin(server.address);
        stream.write_all(b"{").unwrap();
        assert_eq!(Answer::read(&mut stream, false).status, status, "{path}");
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).unwrap();
        assert_eq!(rest, b"", "{path}: the connection is over");
    }
}

#[test]
fn a_body_that_drips_is_let_go_before_it_is_whole() {
    let server = server(r#""BodyIdle": "1s", "SlowestRate": "1KB""#);
    let company = server.company();
    let dripping: Vec<_> = posts(&company).into_iter().filter(|(_, status)| *status == 408).collect();
    std::thread::scope(|scope| {
        for (request, _) in dripping {
            scope.spawn(move || {
                let path = request.path.clone();
                let mut stream = request.header("Content-Length", "5000").begin(server.address);
                // Never silent for as long as it may be.
                stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
                let mut head = [0; 12];
                let answered = (0..5000).find_map(|_| {
                    stream.write_all(b" ").ok()?;
                    match stream.read(&mut head) {
                        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => None,
                        read => Some(read.unwrap()),
                    }
                });
                assert_eq!(&head[..answered.expect("an answer within the body")], b"HTTP/1.1 408", "{path}");
            });
        }
    });
}

/// How many sockets the server has.
fn sockets(server: &Server) -> usize {
    let handles = std::fs::read_dir(format!("/proc/{}/fd", server.pid())).unwrap().flatten();
    let targets = handles.filter_map(|handle| std::fs::read_link(handle.path()).ok());
    targets.filter(|target| target.to_string_lossy().starts_with("socket:")).count()
}

fn kilobytes_in_use(server: &Server) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().split(' ').next().unwrap().parse().unwrap()
}

/// Clients that ask for the document and take nothing of it but its first byte.
fn readers(server: &Server, count: usize, accepted: &str) -> Vec<TcpStream> {
    let request = Request::new("GET", DOCUMENT).header("Accept-Encoding", accepted);
    let mut held: Vec<TcpStream> = (0..count).map(|_| request.begin(server.address)).collect();
    for stream in &mut held {
        stream.read_exact(&mut [0]).unwrap();
    }
    held
}

#[test]
fn who_does_not_take_an_answer_is_let_go() {
    let server = server(r#""AnswerIdle": "1s""#);
    let whole = server.send(&Request::new("GET", DOCUMENT)).expect(200).text.len();
    let before = sockets(&server);
    for stream in readers(&server, 20, "identity") {
        // Its other end is closed while it has not said a word.
        eventually("the end of those who do not read", || (sockets(&server) <= before).then_some(()));
        let mut taken = Vec::new();
        let _reset = { stream }.read_to_end(&mut taken);
        assert!(taken.len() < whole, "{} of {whole}", taken.len());
    }
    server.send(&Request::new("GET", "/healthz")).expect(200);
}

#[test]
fn a_crowd_of_slow_readers_shares_what_it_reads() {
    let server = server(r#""AnswerIdle": "5m""#);
    for accepted in ["identity", "gzip", "br", "zstd"] {
        let whole = server.send(&Request::new("GET", DOCUMENT).header("Accept-Encoding", accepted)).expect(200);
        assert_eq!(whole.coding.as_deref().unwrap_or("identity"), accepted);
        drop(readers(&server, 20, accepted));
        let before = kilobytes_in_use(&server);
        let held = readers(&server, 300, accepted);
        let cost = kilobytes_in_use(&server).saturating_sub(before);
        assert!(cost < held.len() * 64, "{accepted}: {cost} kB for {} readers", held.len());
    }
}

/// A request that the server has taken in, as somebody it knows, up to its body.
fn begun(company: &Company<'_>, dialect: Dialect, length: usize, from: u8) -> TcpStream {
    let request = company.request(dialect, "POST", "parties", "").header("Content-Type", "application/json");
    let request = request.header("Content-Length", &length.to_string()).header("Expect", "100-continue");
    let mut stream = connect_from(from, company.server.address);
    stream.write_all(&request.bytes("keep-alive")).unwrap();
    let mut told = [0; 25];
    stream.read_exact(&mut told).unwrap();
    assert_eq!(&told, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream
}

const PARTY: &str = r#"{"name": "Patient", "isCustomer": true}"#;

#[test]
fn a_crowd_from_one_address_starves_neither_others_nor_health() {
    let limits = r#""MaxConnections": 24, "AnonymousConnections": 16, "ConnectionsPerAddress": 12, "BodyIdle": "5m", "AnswerIdle": "5m""#;
    let server = server(limits);
    let company = server.company();
    let mut known = begun(&company, Dialect::B, PARTY.len(), 3);
    // The page that answers is made for the first who asks of it, and who asks meanwhile waits.
    server.send(&Request::new("POST", "/compare/api/sign-in").json(&json!({})));
    let crowds = [
        (DOCUMENT, "GET", ""),
        ("/compare/api/sign-in", "POST", "Content-Type: application/json\r\nContent-Length: 500\r\n"),
        ("/b/api/auth/login", "POST", "Content-Type: application/json\r\nContent-Length: 500\r\n"),
    ];
    for (path, method, more) in crowds {
        let crowd = |last: u8| {
            let mut stream = connect_from(last, server.address);
            let head = format!("{method} {path} HTTP/1.1\r\nHost: x\r\nAccept-Encoding: identity\r\n{more}\r\n");
            // Whoever has to make room may be gone by now.
            let _gone = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(b"{"));
            stream
        };
        let mut held: Vec<TcpStream> = (0..40).map(|_| crowd(2)).chain((40..60).map(crowd)).collect();
        // As long as it is the server that works for them, nobody gives way: who has a place in the end has an answer, and
        // reads no more of it than this.
        let is_answered = |stream: &mut TcpStream| {
            let mut told = [0; 12];
            stream.read_exact(&mut told).is_ok() && told.ends_with(b" 200")
        };
        if method == "GET" {
            assert!(held.iter_mut().map(is_answered).filter(|answered| *answered).count() >= 12);
        }
        let health = Request::new("GET", "/healthz");
        assert_eq!([1, 2, 4].map(|last| ask_from(last, &server, &health).status), [200; 3], "{path}");
        let login = json!({"email": OWNER_EMAIL, "password": OWNER_PASSWORD});
        let login = Request::new("POST", "/b/api/auth/login").json(&login);
        assert_eq!([1, 2, 4].map(|last| ask_from(last, &server, &login).status), [200; 3], "{path}");
        drop(held);
    }
    // Whoever was signed in all the while was not disturbed.
    known.write_all(PARTY.as_bytes()).unwrap();
    assert_eq!(Answer::read(&mut known, false).status, 201);
}

#[test]
fn who_finds_no_place_is_told_at_once_and_health_has_places_of_its_own() {
    let server = server(r#""MaxConnections": 2, "BodyIdle": "5m""#);
    let company = server.company();
    // Two people with a company each: neither has more than their share.
    let other = own_company(&server, 1);
    let mut held = [begun(&company, Dialect::A, PARTY.len(), 1), begun(&other, Dialect::B, PARTY.len(), 1)];
    for dialect in DIALECTS {
        let request = company.request(dialect, "GET", "parties", "");
        let said = crate::harness::server::Said::of(dialect, ask_from(1, &server, &request)).expect(503);
        assert_eq!((said.code.as_deref(), said.answer.header("retry-after")), (Some("overloaded"), Some("1")));
        let long = company.request(dialect, "POST", "parties", "").text("application/json", &" ".repeat(4 << 20));
        assert_eq!(ask_from(1, &server, &long).status, 503);
    }
    let plain = ask_from(1, &server, &Request::new("GET", "/swagger"));
    assert_eq!(plain.json(), json!({"status": 503, "title": "The server is busy; try again shortly", "errors": {}}));
    assert_eq!((plain.header("retry-after"), plain.header("connection")), (Some("1"), Some("close")));
    for path in ["/healthz", "/readyz"] {
        assert_eq!(ask_from(9, &server, &Request::new("GET", path)).status, 200);
    }
    for stream in &mut held {
        stream.write_all(PARTY.as_bytes()).unwrap();
        assert_eq!(Answer::read(stream, false).status, 201);
    }
    // Who is idle now gives way.
    assert_eq!(ask_from(1, &server, &company.request(Dialect::B, "GET", "parties", "")).status, 200);
}

/// Somebody else, who is an administrator too, and a company of theirs.
fn own_company(server: &Server, from: u8) -> Company<'_> {
    let email = fresh_email("other");
    let words = ["user", "add", "--email", &email, "--admin", "--password-stdin"];
    let made = server.command(&words, "lanterns over the harbour\n");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let login = json!({"email": email, "password": "lanterns over the harbour"});
    let said = ask_from(from, server, &Request::new("POST", "/b/api/auth/login").json(&login));
    let token = said.expect(200).json()["token"].as_str().unwrap().to_owned();
    let request = Request::new("POST", "/b/api/businesses").json(&json!({"name": "Other", "baseCurrency": "EUR"}));
    let made = ask_from(from, server, &authorised(request, &token)).expect(201).json();
    Company { server, id: made["id"].as_str().unwrap().to_owned(), token }
}

/// What somebody in the midst of a request is told, where they are let go.
fn is_let_go(stream: &mut TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    let told = stream.read(&mut [0; 64]);
    stream.set_nonblocking(false).unwrap();
    !told.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
}

#[test]
fn an_account_has_its_share_of_connections_from_however_many_addresses() {
    let limits = r#""MaxConnections": 24, "ConnectionsPerAddress": 8, "ConnectionsPerAccount": 6, "BodyIdle": "5m""#;
    let server = server(limits);
    let company = server.company();
    let other = own_company(&server, 9);
    for company in [&company, &other] {
        // In both dialects, and from addresses that could hold many more.
        let mut held: Vec<TcpStream> = (0..6)
            .map(|number| begun(company, DIALECTS[usize::from(number) % 2], PARTY.len(), 2 + number % 3))
            .collect();
        for dialect in DIALECTS {
            let request = company.request(dialect, "GET", "parties", "");
            let said = crate::harness::server::Said::of(dialect, ask_from(7, &server, &request)).expect(429);
            assert_eq!((said.code.as_deref(), said.answer.header("retry-after")), (Some("rate_limited"), Some("1")));
        }
        // Who says to be them, and is not, is a stranger.
        let forged = Company { token: format!("{}x", company.token), ..company.clone() };
        assert_eq!(ask_from(7, &server, &forged.request(Dialect::B, "GET", "parties", "")).status, 401);
        for stream in &mut held {
            stream.write_all(PARTY.as_bytes()).unwrap();
            assert_eq!(Answer::read(stream, false).status, 201);
        }
        // What is idle gives way to their own.
        assert_eq!(ask_from(7, &server, &company.request(Dialect::A, "GET", "parties", "")).status, 200);
        held[0].set_nonblocking(false).unwrap();
        assert!(matches!(held[0].read(&mut [0; 64]), Ok(0) | Err(_)), "the one that was idle for longest");
    }
}

#[test]
fn who_draws_out_all_connections_makes_room_for_others() {
    let server = server(r#""MaxConnections": 12, "BodyIdle": "5m""#);
    let company = server.company();
    let other = own_company(&server, 9);
    let mut held: Vec<TcpStream> =
        (0..12).map(|number| begun(&company, Dialect::B, PARTY.len(), 2 + number % 2)).collect();
    // Another account is let in, by whatever address, and so is whoever has yet to log in.
    let mut others: Vec<TcpStream> = (0..3).map(|_| begun(&other, Dialect::A, PARTY.len(), 2)).collect();
    let login = json!({"email": OWNER_EMAIL, "password": OWNER_PASSWORD});
    assert_eq!(ask_from(5, &server, &Request::new("POST", "/b/api/auth/login").json(&login)).status, 200);
    let gone = held.iter_mut().filter_map(|stream| is_let_go(stream).then_some(())).count();
    assert_eq!(gone, 4);
    for stream in &mut others {
        stream.write_all(PARTY.as_bytes()).unwrap();
        assert_eq!(Answer::read(stream, false).status, 201);
    }
}

#[test]
fn behind_a_proxy_each_client_counts() {
    let custom = r#"{"Limits": {"ConnectionsPerAddress": 1, "BodyIdle": "5m"}, "TrustedProxies": ["127.0.0.7"]}"#;
    let options = Options { custom: Some(custom.into()), ..Options::default() };
    let server = Server::start(Engine::Sqlite, options).unwrap();
    let company = server.company();
    let through = |client: &str, request: Request| request.header("X-Forwarded-For", client);
    let body = |request: Request| {
        request.header("Content-Type", "application/json").header("Content-Length", &PARTY.len().to_string())
    };
    let mut held = connect_from(7, server.address);
    let request = body(company.request(Dialect::B, "POST", "parties", "")).header("Expect", "100-continue");
    held.write_all(&through("10.1.1.1", request).bytes("keep-alive")).unwrap();
    let mut told = [0; 25];
    held.read_exact(&mut told).unwrap();
    let list = |client: &str| {
        let request = through(client, company.request(Dialect::B, "GET", "parties", ""));
        ask_from(7, &server, &request).status
    };
    assert_eq!(["10.1.1.1", "10.1.1.2", "10.1.1.3"].map(list), [503, 200, 200]);
    held.write_all(PARTY.as_bytes()).unwrap();
    assert_eq!(Answer::read(&mut held, false).status, 201);
    // Its connection is still there, and holds nothing of that client's.
    assert_eq!(list("10.1.1.1"), 200);
}

#[test]
fn a_body_of_any_size_beyond_the_limit_is_told_so() {
    let server = Server::shared(Engine::Sqlite).unwrap();
    let company = server.company();
    let too_long = [(1 << 20) + 1, 2 << 20, 64 << 20];
    let bodies = too_long.map(|length| " ".repeat(length));
    let json = |request: Request, body: &str| request.text("application/json", body);
    for body in &bodies {
        for dialect in DIALECTS {
            let refused = company.say(dialect, json(company.request(dialect, "POST", "parties", ""), body)).expect(413);
            assert_eq!(refused.code.as_deref(), Some("payload_too_large"));
        }
        for path in ["/a/api/Users/login", "/b/api/auth/login", "/compare/api/sign-in"] {
            assert_eq!(json(Request::new("POST", path), body).send(server.address).status, 413, "{path}");
        }
    }
    let translate = authorised(Request::new("POST", "/compare/api/translate"), &company.token);
    assert_eq!(json(translate, &bodies[2]).send(server.address).status, 413);
    // Nobody unknown makes us hold more than a log-in needs.
    assert_eq!(json(Request::new("POST", "/b/api/auth/login"), &" ".repeat(20_000)).send(server.address).status, 413);
}

/// The lines of a report that is long enough to be handed over in portions.
pub fn long_company(server: &Server) -> Company<'_> {
    let company = server.company();
    let lines: Vec<(&str, &str)> = (0..400).flat_map(|_| [("6200", "1.00"), ("1010", "-1.00")]).collect();
    for month in 1..=4 {
        let body = company.journal_body(&format!("2026-{month:02}-10"), &lines);
        company.ask(Dialect::B, "POST", "journals", "", Some(&body)).expect(201);
    }
    company
}

const CSV: &str = "/reports/general-ledger?from=2026-01-01&to=2026-12-31&format=csv";

#[test]
fn a_csv_is_whole_however_it_is_compressed() {
    let server = server(r#""MaxConnections": 100"#);
    let company = long_company(&server);
    let of_b = |coding: &str| {
        let request = Request::new("GET", &format!("/b/api{CSV}")).header("X-Business-Id", &company.id);
        server.send(&authorised(request, &company.token).header("Accept-Encoding", coding)).expect(200)
    };
    let plain = of_b("identity");
    assert!(plain.coding.is_none() && plain.text.len() > 150_000, "{}", plain.text.len());
    for coding in ["gzip", "br", "zstd"] {
        let compressed = of_b(coding);
        assert_eq!((compressed.coding.as_deref(), &compressed.text), (Some(coding), &plain.text));
    }
    assert!(!server.log().contains("panicked"), "{}", server.log());
}

#[test]
fn requests_in_a_pipeline_are_answered_in_their_order() {
    let server = Server::shared(Engine::Sqlite).unwrap();
    let company = server.company();
    let party = |dialect, name: &str| {
        company.request(dialect, "POST", "parties", "").json(&json!({"name": name, "isCustomer": true}))
    };
    let list = |dialect| company.request(dialect, "GET", "parties", "?pageSize=500");
    let requests = [
        (list(Dialect::B), 200),
        (party(Dialect::A, "First in the pipe"), 201),
        (list(Dialect::B), 200),
        (Request::new("GET", "/healthz"), 200),
        (company.request(Dialect::A, "POST", "parties", "").text("application/json", "{"), 400),
        (Request::new("GET", DOCUMENT), 200),
        (party(Dialect::B, "Second in the pipe"), 201),
        (Request::new("GET", "/nowhere"), 404),
        (Request::new("GET", &format!("/b/api{CSV}")).header("X-Business-Id", &company.id), 401),
        (list(Dialect::A), 200),
    ];
    for accepted in ["identity", "gzip", "br", "zstd"] {
        let mut stream = connect(server.address);
        let numbered = requests.iter().enumerate().map(|(number, (request, _))| {
            request.clone().header("Accept-Encoding", accepted).header("X-Request-Id", &format!("pipe-{number}"))
        });
        let all: Vec<u8> = numbered.flat_map(|request| request.bytes("keep-alive")).collect();
        stream.write_all(&all).unwrap();
        let answers = Answer::read_several(&mut stream, requests.len());
        for (number, (answer, (request, status))) in answers.iter().zip(&requests).enumerate() {
            assert_eq!(answer.status, *status, "{} {}", request.path, answer.text);
            assert_eq!(answer.header("x-request-id"), Some(&*format!("pipe-{number}")));
        }
        let names = |answer: &Answer| answer.text.matches(" in the pipe").count();
        // What was written before is seen by what comes after it.
        assert_eq!(names(&answers[2]), names(&answers[0]) + 1);
        assert_eq!(names(&answers[9]), names(&answers[2]) + 1);
    }
}
