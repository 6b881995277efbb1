//! Other programs read the ledger as a journal, find nothing wrong with it, and add it up to the balances of the trial
//! balance: hledger and beancount, over months of mixed business in three currencies.

use crate::harness::process::{fresh_folder, piped, say_loudly};
use crate::harness::server::Company;
use crate::harness::shop::cents as cents_of;
use crate::harness::{Dialect, on_both_engines};
use crate::oracle::months_of_business;
use std::collections::BTreeMap;

/// Days by whose end they are added up, each with the next: in the middle, at a year's end, and all of it.
const DAYS: [(&str, &str); 3] =
    [("2025-12-07", "2025-12-08"), ("2025-12-31", "2026-01-01"), ("2027-12-31", "2028-01-01")];

type Balances = BTreeMap<String, i64>;

/// What a program makes of a text; none, loudly, where it is not installed; a failure where it is required.
fn read_by(program: &str, arguments: &[&str], text: &str) -> Option<String> {
    let found = piped(program, arguments, text);
    if found.is_none() {
        let required = std::env::var("DUET_TEST_HLEDGER").is_ok_and(|value| value == "required");
        assert!(!required, "DUET_TEST_HLEDGER=required, and there is no {program} here");
        say_loudly(&format!("SKIPPED: {program} is not installed"));
    }
    found
}

fn journal(company: &Company<'_>, format: &str) -> String {
    let written = company.server.command(&["export", "--business", &company.id, "--format", format], "");
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    String::from_utf8(written.stdout).unwrap()
}

/// Debits less credits by account, of all that was posted by the end of a day. Nothing is carried forward in a journal.
fn posted(company: &Company<'_>, day: &str) -> Balances {
    let mut sums = Balances::new();
    for page in 1.. {
        let found =
            company.ask(Dialect::A, "GET", "entries", &format!("?pageSize=500&page={page}"), None).expect(200).data;
        let entries = found["items"].as_array().unwrap();
        if entries.is_empty() {
            break;
        }
        for entry in entries.iter().filter(|entry| entry["date"].as_str().unwrap() <= day) {
            for line in entry["lines"].as_array().unwrap() {
                let sum = sums.entry(line["accountCode"].as_str().unwrap().to_owned()).or_default();
                *sum += cents_of(&line["debit"]) - cents_of(&line["credit"]);
            }
        }
    }
    sums.retain(|_, sum| *sum != 0);
    sums
}

/// The same by the trial balance of the days since the beginning of books.
fn tried(company: &Company<'_>, day: &str) -> Balances {
    let request = company.request_at(Dialect::B, "GET", &format!("reports/trial-balance?from=2025-01-01&to={day}"));
    let report = company.say(Dialect::B, request).expect(200).data;
    let rows = report["rows"].as_array().unwrap().iter().filter(|row| row["type"] == "account");
    let moved = rows.map(|row| {
        let cents = |place: usize| cents_of(&row["values"][place]);
        (row["key"].as_str().unwrap().to_owned(), cents(2) - cents(3))
    });
    moved.filter(|(_, moved)| *moved != 0).collect()
}

/// `account,amount` in the company's currency, line by line; the code is the first word of an account's last part.
fn added_up(text: &str, code: impl Fn(&str) -> String) -> Balances {
    let mut sums = Balances::new();
    for line in text.lines().skip(1).filter(|line| !line.trim().is_empty()) {
        let (account, amount) = line.rsplit_once(',').unwrap_or_else(|| panic!("{line}"));
        let trimmed = |text: &str| text.trim().trim_matches('"').trim().to_owned();
        let amount = trimmed(amount);
        let Some(amount) = amount.strip_suffix("EUR").map(str::trim) else {
            assert!(amount.is_empty() || amount == "0", "{line}");
            continue;
        };
        let cents = cents_of(&serde_json::from_str(amount).unwrap_or_else(|_| panic!("{line}")));
        if cents != 0 {
            sums.insert(code(&trimmed(account)), cents);
        }
    }
    sums
}

on_both_engines! {
    fn other_programs_add_the_ledger_up_to_the_same_balances(server) {
        let company = months_of_business(server);
        // Words that mean something to other programs are words.
        let mut odd = company.journal_body("2026-03-14", &[("6200", "2"), ("1010", "-2")]);
        odd["narration"] = "A (odd) \"one\"; with | bars: and\ttabs @@ 5 USD".into();
        company.post_journal(&odd).expect(201);
        let folder = fresh_folder("journal");
        std::fs::create_dir_all(&folder).unwrap();
        let hledger = journal(&company, "hledger");
        assert!(hledger.contains(" USD @@ ") && hledger.contains(" JPY @@ "), "there is business in other currencies");
        let beancount = journal(&company, "beancount");
        let file = folder.join("books.beancount").display().to_string();
        std::fs::write(&file, &beancount).unwrap();
        let _clean = read_by("hledger", &["-f", "-", "check", "--strict"], &hledger);
        let _clean = read_by("bean-check", &[&file], "");
        for (day, end) in DAYS {
            let known = tried(&company, day);
            assert_eq!(posted(&company, day), known, "{day}");
            let arguments = ["-f", "-", "balance", "-B", "--flat", "--no-total", "-O", "csv", "-e", end];
            let Some(text) = read_by("hledger", &arguments, &hledger) else { break };
            let code = |account: &str| account.rsplit(':').next().unwrap().split(' ').next().unwrap().to_owned();
            assert_eq!(added_up(&text, code), known, "{day}");
        }
        for (day, _) in DAYS {
            let query = format!("SELECT account, sum(weight) AS sum WHERE date <= {day} GROUP BY account");
            let Some(text) = read_by("bean-query", &["-f", "csv", &file, &query], "") else { break };
            let code = |account: &str| account.rsplit(':').next().unwrap()[1..].split('-').next().unwrap().to_owned();
            assert_eq!(added_up(&text, code), tried(&company, day), "{day}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
