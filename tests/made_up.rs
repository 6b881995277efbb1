//! Requests that somebody else makes up from the documents, and somebody else judges the answers of: Schemathesis, with all its
//! checks, in all its phases. What is taken out of them stands with its reason in `openapi/schemathesis.toml`.

use crate::harness::process::say_loudly;
use crate::harness::{Dialect, Engine, Options, Server};
use std::path::{Path, PathBuf};
use std::process::Command;

/// How long each dialect is asked for, in seconds, and how long by hand: `DUET_MADE_UP_SECONDS=1200`.
const SECONDS: &str = "60";

fn schemathesis() -> Option<PathBuf> {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/schemathesis/bin/schemathesis");
    if program.exists() {
        return Some(program);
    }
    let required = std::env::var("DUET_TEST_SCHEMATHESIS").is_ok_and(|value| value == "required");
    assert!(!required, "DUET_TEST_SCHEMATHESIS=required, and it is not in target/schemathesis");
    say_loudly("NO SCHEMATHESIS FOUND: requests that it makes up are SKIPPED");
    None
}

fn holds(engine: Engine, dialect: Dialect) {
    let Some(program) = schemathesis() else { return };
    // A server of its own: nobody else's figures move, and nobody else waits.
    let unbounded = r#"{"Limits": {"RequestsPerMinute": 0, "ReadTime": "24h"}}"#.to_owned();
    let options = Options { custom: Some(unbounded), ..Options::default() };
    let Some(server) = Server::start(engine, options) else { return };
    let company = server.company();
    let seconds = std::env::var("DUET_MADE_UP_SECONDS").unwrap_or_else(|_| SECONDS.into());
    let seconds: u32 = seconds.parse().expect("DUET_MADE_UP_SECONDS is a number");
    let letter = format!("{dialect:?}").to_lowercase();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../openapi");
    let (config, hooks) = (folder.join("schemathesis.toml"), folder.join("schemathesis_hooks.py"));
    // What comes last has a time of its own: it would have none where those before it take all of it.
    for (phases, seconds) in [("examples,coverage,fuzzing", seconds / 2), ("stateful", seconds / 2)] {
        let mut asking = Command::new(&program);
        asking.arg("--config-file").arg(&config).args(["--no-color", "run"]);
        asking.arg(format!("http://{}/swagger/{letter}/swagger.json", server.address));
        asking.args(["--phases", phases, "--max-time", &seconds.to_string(), "--seed", "1", "--workers", "1"]);
        asking.current_dir(&server.folder).env("SCHEMATHESIS_HOOKS", &hooks);
        asking.env("DUET_TOKEN", server.token()).env("DUET_BUSINESS", &company.id);
        let done = asking.output().expect("it starts");
        let said = [done.stdout, done.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        let (_, found) = said.split_once("= FAILURES =").unwrap_or(("", &said));
        assert!(done.status.success(), "{}", found.chars().take(20_000).collect::<String>());
        assert!(!said.contains("No test cases were generated"), "{phases}: {said}");
    }
    // It did ask, and was let in; how often, is the machine's.
    let asked = server.log().lines().filter(|line| line.contains("\"status\":20")).count();
    assert!(asked > 10, "only {asked} requests were answered well");
    assert!(!server.log().contains("panicked"), "{}", server.log());
    let proved = server.command(&["verify"], "");
    assert!(proved.status.success(), "{}", String::from_utf8_lossy(&proved.stdout));
}

#[test]
fn a_holds_what_its_document_says() {
    holds(Engine::Sqlite, Dialect::A);
}

#[test]
fn b_holds_what_its_document_says() {
    holds(Engine::Postgres, Dialect::B);
}
