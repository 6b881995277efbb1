//! What was found by running these very libraries: each finding stays mended.

use crate::harness::books::behind_the_back;
use crate::harness::postgres::Cluster;
use crate::harness::process::{eventually, fresh_folder, say_loudly};
use crate::harness::server::DIALECTS;
use crate::harness::{Company, Dialect, Engine, Options, Request, Server};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::Path;

fn rent(company: &Company<'_>) -> Value {
    company.journal_body("2026-03-05", &[("6200", "1"), ("1010", "-1")])
}

/// Sends journals until each is answered 201, however often the database goes away meanwhile.
fn insist(company: &Company<'_>, body: &Value, count: usize) {
    std::thread::scope(|scope| {
        for first in 0..8 {
            let (company, body) = (company.clone(), body.clone());
            scope.spawn(move || {
                for index in (first..count).step_by(8) {
                    let send = || {
                        let request = company.request(DIALECTS[index % 2], "POST", "journals", "").json(&body);
                        let key = format!("insist {index} {}", company.id);
                        company.say(DIALECTS[index % 2], request.header("Idempotency-Key", &key))
                    };
                    eventually("the journal", || {
                        let said = send();
                        assert!(matches!(said.status, 201 | 409 | 503), "{}", said.answer.text);
                        assert_eq!(said.status != 201, said.answer.header("retry-after").is_some());
                        assert!(said.status != 409 || said.code.as_deref() == Some("request_in_progress"));
                        (said.status == 201).then_some(())
                    });
                }
            });
        }
    });
}

#[test]
fn connections_that_the_database_ends_lose_and_double_nothing() {
    let Some(server) = Server::start(Engine::Postgres, Options::default()) else { return };
    let company = server.company();
    let body = rent(&company);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                       WHERE datname = current_database() AND pid <> pg_backend_pid()";
            for _ in 0..12 {
                behind_the_back(&server, &[end.to_owned()]).unwrap();
            }
        });
        insist(&company, &body, 100);
    });
    let balance = || {
        let said = company.ask(Dialect::A, "GET", "accounts", "?code=6200", None);
        (said.status == 200).then(|| said.data["items"][0]["baseBalance"].to_string())
    };
    assert_eq!(eventually("the database's return", balance), "100.00");
    assert_eq!(company.failed_checks(), [""; 0]);
}

/// PostgreSQL waits for a synchronous standby that is not there for as long as it takes. Its client is told that
/// the outcome is open, and its key settles it.
#[test]
fn a_missing_standby_leaves_the_outcome_open_until_the_key_is_used_again() {
    let Some(cluster) = Cluster::start() else { return };
    let custom = r#"{"Limits": {"Request": "1s"}, "Database": {"WriteTimeout": "3s"}}"#;
    let options =
        Options { database: Some(cluster.fresh_database()), custom: Some(custom.into()), ..Options::default() };
    let server = Server::start(Engine::Postgres, options).unwrap();
    let company = server.company();
    let body = company.journal_body("2026-03-05", &[("6200", "1"), ("1010", "-1")]);
    let set = |standby: &str| {
        assert!(cluster.psql(&format!("ALTER SYSTEM SET synchronous_standby_names = '{standby}'")));
        assert!(cluster.psql("SELECT pg_reload_conf()"));
    };
    let send = || {
        let request = company.request(Dialect::B, "POST", "journals", "").header("Idempotency-Key", "standby");
        company.say(Dialect::B, request.json(&body))
    };
    set("ghost");
    // The setting reaches each backend in its own time; until then a rehearsal with another key may still commit.
    let probe = |index: usize| {
        let request =
            company.request(Dialect::A, "POST", "parties", "").header("Idempotency-Key", &format!("probe {index}"));
        company.say(Dialect::A, request.json(&json!({"name": "Probe", "isCustomer": true})))
    };
    let mut probes = 0;
    let open = eventually("the setting", || {
        probes += 1;
        Some(probe(probes)).filter(|said| said.status == 503)
    });
    assert_eq!(open.code.as_deref(), Some("commit_outcome_unknown"));
    assert!(open.answer.header("retry-after").is_some());
    // The first is still at it.
    let again = probe(probes).expect(409);
    assert_eq!(again.code.as_deref(), Some("request_in_progress"));
    assert!(again.answer.header("retry-after").is_some());
    let ready = || server.send(&Request::new("GET", "/readyz")).status == 200;
    eventually("the news", || (!ready()).then_some(()));
    // Writes that cannot come to an end are not begun; what is read is there.
    let refused = eventually("the refusal", || Some(send()).filter(|said| said.code.as_deref() == Some("unavailable")));
    assert!(refused.answer.header("retry-after").is_some());
    assert_eq!(company.ask(Dialect::A, "GET", "journals", "", None).expect(200).data["pagination"]["totalCount"], 0);
    set("");
    eventually("the standby's dismissal", || ready().then_some(()));
    eventually("the outcome", || (send().status == 201).then_some(()));
    eventually("the probe's outcome", || (probe(probes).status == 201).then_some(()));
    let parties = company.ask(Dialect::A, "GET", "parties", "", None).expect(200);
    assert_eq!(parties.data["pagination"]["totalCount"], probes);
    assert_eq!(company.ask(Dialect::A, "GET", "journals", "", None).expect(200).data["pagination"]["totalCount"], 1);
    assert_eq!(company.failed_checks(), [""; 0]);
}

/// A server whose calls to the kernel are written down, where that is possible.
fn traced() -> Option<(Server, std::path::PathBuf)> {
    let folder = fresh_folder("traced");
    let trace = folder.join("trace");
    let calls = "trace=pwrite64,fsync,fdatasync,write,writev,sendto";
    // Else it would not end when it is told to.
    let words = ["strace", "-I2", "-f", "-y", "-e", calls, "-o"];
    let works = std::process::Command::new("strace").args(["-o", "/dev/null", "true"]).output();
    if !works.is_ok_and(|output| output.status.success()) {
        say_loudly("NO STRACE, OR IT MAY NOT TRACE HERE: what reaches the disk before an answer is NOT CHECKED");
        return None;
    }
    let mut wrap: Vec<String> = words.map(str::to_owned).to_vec();
    wrap.push(trace.display().to_string());
    let server = Server::start(Engine::Sqlite, Options { wrap, ..Options::default() })?;
    Some((server, trace))
}

/// What the kernel was asked for, in order: writes to the log of `SQLite`, its syncs, answers of 201.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Written,
    SyncBegun,
    Synced,
    Answered,
}

fn calls(trace: &Path) -> Vec<Call> {
    let text = std::fs::read_to_string(trace).unwrap();
    let mut syncing: HashSet<&str> = HashSet::new();
    let mut calls = Vec::new();
    for line in text.lines() {
        let Some((thread, call)) = line.split_once(' ') else { continue };
        let call = call.trim_start();
        let of_log = call.contains("duet.db-wal>");
        if call.starts_with("pwrite64") && of_log {
            calls.push(Call::Written);
        } else if (call.starts_with("fdatasync") || call.starts_with("fsync")) && of_log {
            calls.push(Call::SyncBegun);
            if call.contains("unfinished") {
                syncing.insert(thread);
            } else {
                calls.push(Call::Synced);
            }
        } else if call.contains("sync resumed>") && syncing.remove(thread) {
            calls.push(Call::Synced);
        } else if call.contains("HTTP/1.1 201") {
            calls.push(Call::Answered);
        }
    }
    calls
}

/// With anything less than FULL a power cut takes commits that were answered. What is in the log before an
/// answer must be on the disk before it.
#[test]
fn nothing_is_answered_before_it_is_on_the_disk() {
    let Some((server, trace)) = traced() else { return };
    let company = server.company();
    for index in 0..10 {
        company.journal("2026-03-05", &[("6200", "1"), ("1010", "-1")]);
        company.party(json!({"name": format!("P {index}")}));
    }
    let calls = calls(&trace);
    let (mut unsynced, mut sync_covers, mut answers, mut writes) = (false, false, 0, 0);
    for call in &calls {
        match call {
            Call::Written => (unsynced, sync_covers, writes) = (true, false, writes + 1),
            Call::SyncBegun => sync_covers = true,
            Call::Synced => unsynced = unsynced && !sync_covers,
            Call::Answered => {
                assert!(!unsynced, "answer {answers} came before its log was on the disk");
                answers += 1;
            }
        }
    }
    assert!(answers >= 21 && writes >= answers, "{answers} answers, {writes} writes");
}

#[test]
fn writes_that_come_together_share_their_sync() {
    let Some((server, trace)) = traced() else { return };
    let company = server.company();
    let body = rent(&company);
    let before = calls(&trace).iter().filter(|call| **call == Call::Synced).count();
    insist(&company, &body, 64);
    let after = calls(&trace).iter().filter(|call| **call == Call::Synced).count();
    assert!(after - before < 64, "{} syncs for 64 journals", after - before);
    assert_eq!(company.balance("6200", ""), "64.00");
}

/// Copying the file of a running server is no backup; asking the engine for one is, and it proves its books.
#[test]
fn a_backup_that_the_engine_makes_is_whole_while_others_write() {
    let server = Server::start(Engine::Sqlite, Options::default()).unwrap();
    let company = server.company();
    let copy = fresh_folder("backup").join("duet.db");
    insist(&company, &rent(&company), 30);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..100 {
                company.journal("2026-04-05", &[("6300", "1"), ("1010", "-1")]);
            }
        });
        behind_the_back(&server, &[format!("VACUUM INTO '{}'", copy.display())]).unwrap();
    });
    let folder = fresh_folder("restored");
    let options = Options { database: Some(format!("sqlite:{}", copy.display())), ..Options::default() };
    let restored = Server::start_in(Engine::Sqlite, folder, options).unwrap();
    let proof = restored.command(&["verify"], "");
    assert_eq!(proof.status.code(), Some(0), "{}", String::from_utf8_lossy(&proof.stdout));
    let same = Company { server: &restored, token: restored.token().to_owned(), ..company.clone() };
    assert_eq!(same.balance("6200", ""), "30.00");
}
