//! Shares: what one company does leaves the others their turn, and what is taken slowly holds nothing.

use crate::harness::http::Answer;
use crate::harness::server::{Company, DIALECTS, Options};
use crate::harness::{Dialect, Engine, Server, on_both_engines};
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpStream;

/// As many as ask at once.
const CROWD: usize = 24;
const LEDGER: &str = "reports/general-ledger?from=2026-01-01&to=2026-12-31&format=csv";

/// A company with a ledger whose journal is longer than what the kernel takes for somebody who does not read.
fn wordy(server: &Server) -> Company<'_> {
    let mut company = server.company();
    for _ in 0..20 {
        write_much(&company);
    }
    // A caller of its own: what it takes is taken from nobody who asks elsewhere.
    let key = company.ask(Dialect::B, "POST", "apiKeys", "", Some(&json!({"name": "Reader"}))).expect(201).data;
    key["secret"].as_str().expect("a secret").clone_into(&mut company.token);
    company
}

/// A journal of a thousand lines, with many words.
fn write_much(company: &Company<'_>) {
    let (rent, bank) = (company.account("6200"), company.account("1010"));
    let words = "What was paid for, told at length. ".repeat(9);
    let line = |number: usize| json!({"accountId": rent, "debit": "1.00", "description": format!("{number}: {words}")});
    let mut lines: Vec<_> = (0..999).map(line).collect();
    lines.push(json!({"accountId": bank, "credit": "999.00"}));
    company.post_journal(&json!({"date": "2026-03-10", "narration": "Much", "lines": lines})).expect(201);
}

/// Asks for a long answer and takes its beginning alone.
fn plug(company: &Company<'_>, path: &str) -> (TcpStream, Vec<u8>) {
    // As it is: what is said so often would be very short.
    let request = company.request_at(Dialect::B, "GET", path).header("Accept-Encoding", "identity");
    let mut stream = request.begin(company.server.address);
    let mut begun = vec![0; 512];
    let length = stream.read(&mut begun).expect("an answer");
    begun.truncate(length);
    assert!(begun.starts_with(b"HTTP/1.1 200 "), "{}", String::from_utf8_lossy(&begun));
    (stream, begun)
}

fn asked(company: &Company<'_>, path: &str) -> Answer {
    company.server.send(&company.request_at(Dialect::B, "GET", path))
}

on_both_engines! {
    /// Whoever does not read what they asked for holds no connection of the database, nor a place that others need.
    fn long_answers_that_nobody_takes_hold_up_nobody(server) {
        let (greedy, other) = (wordy(server), server.company());
        other.journal("2026-03-10", &[("6200", "5.00"), ("1010", "-5.00")]);
        let plugs: Vec<_> = (0..CROWD).map(|_| plug(&greedy, LEDGER)).collect();
        for company in [&other, &greedy] {
            for path in [
                "reports/ar-aging?asOf=2026-12-31&format=csv",
                "reports/bs?asOf=2026-12-31",
                "verify",
                "audit-log/verify",
                "parties",
            ] {
                asked(company, path).expect(200);
            }
        }
        let whole = asked(&other, LEDGER).expect(200);
        assert_eq!(whole.text.lines().count(), 5, "{}", whole.text);
        // One caller does not keep all places to themselves, and is told so at once.
        let mut more = Vec::new();
        let refused = loop {
            let request = greedy.request_at(Dialect::B, "GET", LEDGER).header("Accept-Encoding", "identity");
            let mut stream = request.begin(server.address);
            let mut begun = [0; 12];
            stream.read_exact(&mut begun).expect("an answer");
            if &begun != b"HTTP/1.1 200" {
                break begun;
            }
            more.push(stream);
            assert!(more.len() < 100, "there is no end to it");
        };
        assert_eq!(&refused, b"HTTP/1.1 503");
        drop((plugs, more));
    }

    /// A long answer tells the books as they were when it began, whatever is written while it is taken.
    fn an_answer_that_is_taken_slowly_tells_one_and_the_same_ledger(server) {
        let company = wordy(server);
        for path in [LEDGER, "reports/day-book?from=2026-01-01&to=2026-12-31&format=csv", "audit-log/export"] {
            let before = asked(&company, path).expect(200).text;
            assert!(before.len() > 2_000_000, "{path}: {} bytes", before.len());
            let (mut stream, begun) = plug(&company, path);
            company.journal("2026-03-09", &[("6200", "7.00"), ("1010", "-7.00")]);
            company.journal("2026-03-11", &[("6200", "-7.00"), ("1010", "7.00")]);
            // An account that comes first from now on.
            let rent = company.account("6200");
            let row = company.ask(Dialect::B, "GET", "accounts", &format!("/{rent}"), None).expect(200).data;
            let code = if row["code"] == "6200" { "0001" } else { "6200" };
            let renamed = json!({"code": code, "name": row["name"], "type": row["type"]});
            company.ask(Dialect::B, "PUT", "accounts", &format!("/{rent}"), Some(&renamed)).expect(200);
            let told = Answer::read(&mut begun.as_slice().chain(&mut stream), true);
            if path == "audit-log/export" {
                assert!(told.text.starts_with(&before), "what was there stands first and as it was");
            } else {
                assert!(told.text == before, "{path}: {} and {} bytes", told.text.len(), before.len());
            }
            let back = json!({"code": "6200", "name": row["name"], "type": row["type"]});
            company.ask(Dialect::B, "PUT", "accounts", &format!("/{rent}"), Some(&back)).expect(200);
        }
    }
}

/// What is written beside answers that nobody takes goes into the file, and the log is used anew.
#[test]
fn the_log_stays_short_beside_answers_that_nobody_takes() {
    let options =
        Options { arguments: ["--set", "Database:LogBudget=8MB"].map(str::to_owned).to_vec(), ..Options::default() };
    let server = Server::start(Engine::Sqlite, options).expect("SQLite needs nothing");
    let log = server.folder.join("data/duet.db-wal");
    let size = || std::fs::metadata(&log).map_or(0, |log| log.len());
    let (greedy, busy) = (wordy(&server), server.company());
    let plugs: Vec<_> = (0..CROWD).map(|_| plug(&greedy, LEDGER)).collect();
    let file = || std::fs::metadata(server.folder.join("data/duet.db")).map_or(0, |file| file.len());
    let (mut longest, much) = (0, 40 << 20);
    for _ in 0..200 {
        write_much(&busy);
        longest = longest.max(size());
        if file() > much {
            break;
        }
    }
    assert!(file() > much, "too little was written to tell: {} bytes", file());
    assert!(longest < 24 << 20, "the log grew to {longest} bytes");
    drop(plugs);
}

/// Reads take time, and of that each caller has so much a minute.
#[test]
fn who_reads_for_longer_than_their_share_of_a_minute_is_told_when_to_come_again() {
    let options =
        Options { arguments: ["--set", "Limits:ReadTime=1ms"].map(str::to_owned).to_vec(), ..Options::default() };
    let server = Server::start(Engine::Sqlite, options).expect("SQLite needs nothing");
    let company = server.company();
    let report = || asked(&company, "reports/bs?asOf=2026-12-31");
    let refused = (0..1_000).map(|_| report()).find(|answer| answer.status != 200).expect("an end to it");
    assert_eq!((refused.status, refused.header("x-error-code")), (429, Some("rate_limited")));
    let seconds: u64 = refused.header("retry-after").and_then(|after| after.parse().ok()).expect("Retry-After");
    assert!((1..=61).contains(&seconds));
    assert!(refused.header("ratelimit-remaining").is_some_and(|left| left != "0"), "it is not about requests");
    // What is written takes no such time.
    company.party(json!({"name": "Written all the same"}));
}

/// A page is whole or it is refused: who would take one that was cut short for all there is, never asks for the rest.
#[test]
fn a_page_with_more_lines_than_an_answer_holds_says_how_to_ask_for_them() {
    // Fifty thousand lines take a program that is built without optimisation, beside others, as long as they take.
    let custom = Some(r#"{"Limits": {"Request": "30m", "ReadTime": "24h"}}"#.to_owned());
    let server = Server::start(Engine::Sqlite, Options { custom, ..Options::default() }).expect("SQLite needs nothing");
    let company = server.company();
    let (rent, bank) = (company.account("6200"), company.account("1010"));
    let mut lines = vec![json!({"accountId": rent, "debit": "1.00"}); 999];
    lines.push(json!({"accountId": bank, "credit": "999.00"}));
    let journal = json!({"date": "2026-03-10", "lines": lines});
    for _ in 0..51 {
        company.post_journal(&journal).expect(201);
    }
    let book = |dialect, size: &str| {
        let path = format!("reports/day-book?from=2026-01-01&to=2026-12-31{size}");
        company.say(dialect, company.request_at(dialect, "GET", &path))
    };
    for dialect in DIALECTS {
        let refused = book(dialect, "&pageSize=500").expect(400);
        assert!(refused.answer.text.contains("pageSize"), "{}", refused.answer.text);
        assert!(refused.answer.text.contains("51 entries of this page have 51000 lines"), "{}", refused.answer.text);
        // As many entries as are given unasked are never too many.
        let page = book(dialect, "").expect(200).data;
        assert_eq!(page["pagination"]["totalCount"], 51);
        let rows = page["rows"].as_array().expect("rows");
        let lines = rows.iter().map(|row| row["children"].as_array().expect("lines").len());
        assert_eq!((rows.len(), lines.sum::<usize>()), (50, 50_000));
        let entries = |size: &str| company.ask(dialect, "GET", "entries", size, None);
        assert_eq!(entries("?pageSize=100").expect(400).fields(), ["pageSize"]);
        assert_eq!(entries("").expect(200).data["items"].as_array().map_or(0, Vec::len), 50);
    }
    let all = asked(&company, "reports/day-book?from=2026-01-01&to=2026-12-31&format=csv").expect(200);
    assert!(all.text.lines().count() > 51_000, "{}", all.text.lines().count());
}

/// A connection that is closed in the middle of a read frees its place at once: a crowd that comes and goes without
/// waiting leaves nothing behind that anybody would have to wait for.
#[test]
fn a_crowd_that_hangs_up_leaves_nothing_running() {
    let server = Server::start(Engine::Sqlite, Options::default()).expect("SQLite needs nothing");
    let (greedy, other) = (wordy(&server), server.company());
    for path in ["verify", "audit-log/verify", "reports/day-book?from=2026-01-01&to=2026-12-31&pageSize=500"] {
        for _ in 0..CROWD {
            let mut stream = greedy.request_at(Dialect::B, "GET", path).begin(server.address);
            stream.flush().expect("it is sent");
            drop(stream);
        }
        asked(&other, path).expect(200);
    }
    server.signal("TERM");
    assert_eq!(server.exit_code(), Some(0));
}
