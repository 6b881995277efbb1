//! The clients that are generated from the documents, installed from the packages that are published: a session of each
//! against a real server, of which every answer to a write is lost the first time.

use crate::harness::http::Answer;
use crate::harness::process::say_loudly;
use crate::harness::server::{OWNER_EMAIL, OWNER_PASSWORD};
use crate::harness::{Engine, Options, Request, Server, proxy};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Where something is that `make.py` makes, of these very documents.
pub(crate) fn made(what: &str) -> Option<PathBuf> {
    let mut make = Command::new("python3");
    let asked = make.arg(root().join("openapi/clients/make.py")).arg("--is-made").status();
    if asked.is_ok_and(|status| status.success()) {
        return Some(root().join("target/clients").join(what));
    }
    let required = std::env::var("DUET_TEST_CLIENTS").is_ok_and(|value| value == "required");
    assert!(!required, "DUET_TEST_CLIENTS=required, and openapi/clients/make.py was not run on what is here now");
    say_loudly("NO CLIENTS FOUND, or of other documents: their sessions and the checkers are SKIPPED");
    None
}

/// Where the sessions are, installed with the packages.
fn sessions() -> Option<PathBuf> {
    made("sessions")
}

/// What becomes of answers on their way: that to a write is lost the first time, by a connection that ends or by somebody in
/// between who says so.
#[derive(Default)]
struct Losses {
    met: BTreeSet<String>,
    replayed: usize,
    wrong: Vec<String>,
}

impl Losses {
    fn lose(&mut self, request: &Request, answer: &mut Answer) {
        let said = |name: &str| {
            let mut headers = request.headers.iter();
            headers.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
        };
        let path = request.path.split('?').next().unwrap_or_default();
        if path.ends_with("/login") {
            return;
        }
        let what = format!("{} {}", request.method, request.path);
        if said("x-decimal-format") != Some("string") {
            self.wrong.push(format!("{what} asks for numbers"));
        }
        // A key's secret is in the first answer alone, and nobody is shown it by asking again.
        if request.method == "GET" || path.ends_with("/api-keys") {
            return;
        }
        let Some(key) = said("idempotency-key") else {
            self.wrong.push(format!("{what} has no key"));
            return;
        };
        if !self.met.insert(key.to_owned()) {
            self.replayed += usize::from(answer.header("idempotency-replayed") == Some("true"));
        } else if self.met.len().is_multiple_of(2) {
            answer.status = 0;
        } else {
            answer.status = 503;
            answer.headers = vec![("retry-after".to_owned(), "0".to_owned())];
            answer.text = String::from("<h1>Nobody is here</h1>");
        }
    }
}

/// Runs a program in the sessions' folder.
fn run(folder: &Path, words: &[&str]) -> String {
    let mut command = Command::new(words[0]);
    let done = command.args(&words[1..]).current_dir(folder).output();
    let done = done.unwrap_or_else(|error| panic!("{words:?}: {error}"));
    let said = [done.stdout, done.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(done.status.success(), "{words:?}\n{}\n{}", said[0], said[1]);
    said[0].clone()
}

const PYTHON: &str = "../tools/bin/python";

/// A session by a client that asks again.
fn holds(interpreter: &str, session: &str) {
    let Some(folder) = sessions() else { return };
    // A server of its own: who guesses wrongly is counted by where they come from.
    let server = Server::start(Engine::Sqlite, Options::default()).expect("SQLite needs nothing");
    let losses = Arc::new(Mutex::new(Losses::default()));
    let fault = losses.clone();
    let lossy =
        proxy::start(server.address, Box::new(move |request, answer| fault.lock().unwrap().lose(request, answer)));
    let asked = json!({"lossy": format!("http://{lossy}"), "user": OWNER_EMAIL, "password": OWNER_PASSWORD});
    run(&folder, &[interpreter, session, &asked.to_string()]);
    let losses = losses.lock().unwrap();
    assert_eq!(losses.wrong, Vec::<String>::new());
    // Whatever was made was made by the first attempt, and its answer came by the second.
    assert!(losses.replayed >= 12, "{} of {} writes were asked for again", losses.replayed, losses.met.len());
    assert!(!server.log().contains("panicked"), "{}", server.log());
}

#[test]
fn typescript_speaks_a() {
    holds("node", "built/a.js");
}

#[test]
fn typescript_speaks_b() {
    holds("node", "built/b.js");
}

#[test]
fn python_speaks_a() {
    holds(PYTHON, "a.py");
}

#[test]
fn python_speaks_b() {
    holds(PYTHON, "b.py");
}

/// Rust's, by progenitor: what is asked is not lost, since what it makes does not ask again.
fn rust_speaks(letter: &str) {
    let Some(folder) = made("rust") else { return };
    let server = Server::start(Engine::Sqlite, Options::default()).expect("SQLite needs nothing");
    let asked = json!({"lossy": format!("http://{}", server.address), "user": OWNER_EMAIL, "password": OWNER_PASSWORD});
    let program = folder.join("target/debug").join(letter).display().to_string();
    run(&folder, &[&program, &asked.to_string()]);
    assert!(!server.log().contains("panicked"), "{}", server.log());
}

#[test]
fn rust_speaks_a() {
    rust_speaks("a");
}

#[test]
fn rust_speaks_b() {
    rust_speaks("b");
}

#[test]
fn another_generator_makes_clients_of_the_documents_as_they_are() {
    let Some(folder) = sessions() else { return };
    let server = Server::start(Engine::Sqlite, Options::default()).expect("SQLite needs nothing");
    let asked = json!({"lossy": format!("http://{}", server.address), "user": OWNER_EMAIL, "password": OWNER_PASSWORD});
    run(&folder, &["node", "full/built/session.js", &asked.to_string()]);
}

/// What a README shows, beside a server that is elsewhere.
fn shown(folder: &Path, file: &str, address: SocketAddr) -> String {
    let text = std::fs::read_to_string(folder.join(file)).expect("the README's program");
    let (name, ending) = file.rsplit_once('.').expect("an ending");
    let moved = format!("{name}-{}.{ending}", address.port());
    std::fs::write(folder.join(&moved), text.replace("127.0.0.1:5000", &address.to_string())).expect("a file");
    moved
}

#[test]
fn what_the_packages_show_works() {
    let Some(folder) = sessions() else { return };
    let server = Server::demo();
    for (interpreter, file, refused) in [
        ("node", "built/readme.js", "400 validation_failed { name: ["),
        (PYTHON, "readme.py", "400 validation_failed {'name': ["),
    ] {
        let said = run(&folder, &[interpreter, &shown(&folder, file, server.address)]);
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines.first(), Some(&"2500.00"), "{said}");
        assert!(lines.len() > 2 && said.contains(refused), "{said}");
    }
}

/// The rest is held by their being built and installed.
#[test]
fn the_packages_are_of_this_version() {
    let read = |file: &str| std::fs::read_to_string(root().join("openapi/clients").join(file)).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    for file in ["typescript/package.json", "typescript/package-lock.json"] {
        let said: Value = serde_json::from_str(&read(file)).unwrap();
        assert_eq!(said["version"], version, "{file}");
        assert_eq!(said["name"], "@duet/client", "{file}");
    }
    assert!(read("python/pyproject.toml").contains(&format!("version = \"{version}\"\n")));
}
