//! The house's invariants, as the guide states them: mostly about what is absent.

use std::path::{Path, PathBuf};

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The Rust files of a folder, with their text.
pub fn sources(folder: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut waiting = vec![root().join(folder)];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") && !is_suite(&path) {
                found.push((path.display().to_string(), std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(!found.is_empty(), "{folder} has no sources");
    found
}

/// Whether a file is a suite of a crate, and no part of the product.
fn is_suite(path: &Path) -> bool {
    path.parent().is_some_and(|folder| {
        folder.ends_with("tests") && folder.parent().is_some_and(|above| above.join("Cargo.toml").exists())
    })
}

/// The lines of a file that run in the product: without its tests.
fn product(text: &str) -> impl Iterator<Item = &str> {
    text.split("[cfg(test)]").next().unwrap_or_default().lines().filter(|line| !line.trim_start().starts_with("//"))
}

/// What the books are made of, from the words up.
const CORE: &[&str] = &[
    "crates/words/src",
    "crates/rules/src",
    "crates/schema/src",
    "crates/books/src",
    "crates/kit/src",
    "crates/masters/src",
    "crates/documents/src",
    "crates/reports/src",
    "crates/proof/src",
    "crates/ledger-core/src",
];

fn absent_in_core(words: &[&str], except: &[&str]) {
    for folder in CORE {
        absent(folder, words, except);
    }
}

fn absent(folder: &str, words: &[&str], except: &[&str]) {
    for (path, text) in sources(folder) {
        if except.iter().any(|allowed| path.contains(allowed)) {
            continue;
        }
        for line in product(&text) {
            for word in words {
                assert!(!line.contains(word), "{path} names {word}: {line}");
            }
        }
    }
}

#[test]
fn the_core_knows_nothing_of_http() {
    absent_in_core(&["axum", "aide::", "hyper", "http::", "StatusCode"], &[]);
}

#[test]
fn rules_ask_nobody() {
    absent("crates/rules/src", &["async ", "Entity", "ConnectionTrait", "tokio", "Clock"], &[]);
}

#[test]
fn accounts_are_judged_by_the_chart_alone() {
    let of_accounts =
        [".archived", ".is_group", "allow_manual_posting", "allow_manual", "holds_money()", "r#type.is_control()"];
    // What an account is, and what reports sort it by. Series have a switch of that name; revaluations look for debts.
    let own = ["masters/src/account/", "number_series.rs", "documents/src/revaluation", "documents/src/year_end"];
    for folder in ["crates/kit/src", "crates/masters/src", "crates/documents/src", "crates/ledger-core/src/resource"] {
        absent(folder, &of_accounts, &own);
    }
}

#[test]
fn what_is_kept_is_posted_to_by_its_keeper() {
    // Who follows rows of its own that name an account.
    let keepers = [
        "books/src/stock",
        "books/src/purses.rs",
        "books/src/carry.rs",
        "settlement/credited.rs",
        "rules/src/tax/facts.rs",
        "parts/posting",
        "documents/src/stock_adjustment",
        "documents/src/revaluation",
        "journal/posting.rs",
    ];
    absent_in_core(&["chart.standing("], &keepers);
    absent_in_core(&[".standing_debt("], &["settlement/relief.rs"]);
    absent_in_core(&["chart.control("], &["parts/check.rs", "parts/posting", "parts/settlement/"]);
    absent_in_core(&["_revaluation.clone()"], &["documents/src/revaluation"]);
    absent_in_core(&["_tax.clone()", "chart.tax("], &["settlement/taxes.rs", "rules/src/tax/facts.rs"]);
    absent_in_core(&["_not_invoiced.clone()", ".inventory.clone()", "_advances.clone()"], &[]);
    // What is read again from the books to be taken back.
    absent_in_core(&["Line::posted("], &["books/src/tax_facts.rs"]);
}

#[test]
fn the_proof_reckons_for_itself() {
    // It reads what tables and words hold; what follows from that it works out anew.
    let of_others = ["rules::", "use books", "words::exact", "words::sown", "sown(", ".share_on(", "effective_rate("];
    let of_rows = [".moves()", ".open()", ".taken()", ".is_touched()"];
    let of_kinds = [".trade()", ".phase()", ".turnover()", ".is_priced()", "of_phase("];
    absent("crates/proof/src", &[&of_others[..], &of_rows, &of_kinds].concat(), &[]);
}

#[test]
fn kinds_of_trade_are_told_apart_in_one_place() {
    let pairs = [
        "DocumentKind::SalesInvoice | DocumentKind::CreditNote",
        "DocumentKind::SalesInvoice | DocumentKind::PurchaseInvoice",
        "DocumentKind::PurchaseInvoice | DocumentKind::DebitNote",
        "DocumentKind::CreditNote | DocumentKind::DebitNote",
        "DocumentKind::SalesOrder | DocumentKind::PurchaseOrder",
    ];
    // What proves it, and what brings books of before over, tells them apart for itself.
    absent_in_core(&pairs, &["proof/src"]);
}

#[test]
fn dialects_are_listed_in_one_place() {
    absent("crates/launcher/src", &["dialect_a", "dialect_b", "DialectA", "DialectB"], &["launcher/src/dialects.rs"]);
    let letters = ["Dialects:A", "Dialects:B", "\"/a/api", "\"/b/api", "swagger/a/", "swagger/b/"];
    absent("crates/launcher/src", &letters, &["config/tests"]);
    absent_in_core(&["OneOf(&[\"A\""], &[]);
}

/// A trial may have been told what today is.
#[test]
fn what_today_is_a_company_says() {
    let of_a_clock = ["with_timezone(", "date_naive()", "Utc::today", ".told_today"];
    absent_in_core(&of_a_clock, &["books/src/access.rs", "masters/src/business"]);
}

#[test]
fn who_a_party_is_aliases_say() {
    absent_in_core(
        &["PartyId.eq(", "PartyId.is_in(", "MergedIntoId.eq("],
        &["schema/src/aliases.rs", "masters/src/party"],
    );
    // A party goes only where no row was written for that very one.
    absent_in_core(&["::is_written_as("], &["masters/src/party.rs"]);
    // What proves what was written, sums it up as it was, takes it back, or goes on with the very item.
    let of_the_item = [
        "proof/src",
        "books/src/tax_facts.rs",
        "desk/trade_months.rs",
        "document/write",
        "settlement/relief.rs",
        "settlement/taxes.rs",
    ];
    absent_in_core(&[".as_written(", "::as_written"], &[&["schema/src/aliases.rs"], &of_the_item[..]].concat());
}

#[test]
fn a_dialect_names_neither_the_database_nor_the_other() {
    absent("crates/dialect-a/src", &["sea_orm", "sqlx", "dialect_b", "DialectB"], &[]);
    absent("crates/dialect-b/src", &["sea_orm", "sqlx", "dialect_a", "DialectA"], &[]);
    absent("crates/http-kit/src", &["sea_orm", "sqlx", "dialect_a", "dialect_b"], &[]);
}

#[test]
fn what_compares_two_dialects_knows_neither() {
    let of_ours = ["ledger_core", "http_kit", "dialect_a", "dialect_b", "launcher"];
    absent("crates/compare/src", &of_ours, &[]);
}

#[test]
fn a_dialect_stays_small() {
    for dialect in ["crates/dialect-a/src", "crates/dialect-b/src"] {
        let lines: usize = sources(dialect).iter().map(|(_, text)| text.lines().count()).sum();
        assert!(lines < 800, "{dialect} has {lines} lines");
    }
}

#[test]
fn only_the_lane_begins_and_commits() {
    absent_in_core(&[".begin(", ".commit(", ".begin_with_options("], &["/database/"]);
    // A writer is had by its lane alone.
    absent_in_core(&["writer()"], &["/database/"]);
    absent_in_core(&["DatabaseConnection", "DatabaseTransaction"], &["/database/"]);
}

/// Whatever goes on by itself is begun where a panic of it is noticed. What is spawned elsewhere serves one request or one
/// connection, and is waited for or ends with it.
#[test]
fn what_goes_on_by_itself_is_supervised() {
    let spawning = ["tokio::spawn", "task::spawn(", "runtime.spawn", "thread::Builder", "thread::spawn"];
    let of_one_request = [
        "http-kit/src/handler.rs",
        "books/src/fair/mod.rs",
        "ledger-core/src/ledger/caller.rs",
        "books/src/remembered.rs",
        "launcher/src/tenants.rs",
    ];
    let of_one_connection = ["launcher/src/edge/mod.rs", "postgres-kit/src/pool.rs"];
    let except: Vec<&str> = of_one_request
        .into_iter()
        .chain(of_one_connection)
        .chain(["crates/supervise", "crates/bench", "src/database/tests"])
        .collect();
    absent("crates", &spawning, &except);
}

/// A macro that prints panics where nobody takes what it says, and what comes after it never happens.
#[test]
fn nothing_is_printed_by_what_panics_when_it_cannot() {
    let printing: Vec<String> = ["eprintln!(", "eprint!(", "println!(", "print!(", "dbg!("].map(str::to_owned).to_vec();
    for folder in ["crates", "migrations/src"] {
        for (path, text) in sources(folder) {
            for line in product(&text) {
                let words = line.split(|letter: char| letter.is_whitespace() || "({;,".contains(letter));
                let called = words.clone().zip(words.skip(1)).map(|(word, _)| format!("{word}("));
                for word in called {
                    assert!(!printing.contains(&word), "{path} prints with {word}: {line}");
                }
            }
        }
    }
}

#[test]
fn the_audit_log_is_read_through_its_own_door() {
    // Who writes and proves it, and the two that say who may see what of it.
    let own = [
        "books/src/audit.rs",
        "books/src/desk/",
        "schema/src/tables.rs",
        "crates/proof/src/crossing.rs",
        "kit/src/changes.rs",
        "masters/src/audit_log.rs",
    ];
    let except: Vec<&str> = own.into_iter().chain(["masters/src/installation_log.rs", "database/tests.rs"]).collect();
    absent_in_core(&["audit_log::Entity", "audit_log::self", "audit_log as"], &except);
    let door = std::fs::read_to_string(root().join("crates/kit/src/changes.rs")).unwrap();
    assert_eq!(product(&door).filter(|line| line.contains("Entity::find")).count(), 1);
}

#[test]
fn what_the_log_of_security_says_is_said_in_one_place() {
    absent(
        "crates",
        &["target: \"security\"", "security::TARGET"],
        &["books/src/security.rs", "launcher/src/logging.rs"],
    );
}

#[test]
fn nothing_binary_comes_near_money_and_nobody_asks_the_wall_for_the_time() {
    for folder in ["crates", "migrations/src"] {
        // Seconds are told to who watches over a server as whoever reads them has them.
        absent(folder, &["f64", "f32", "Decimal column"], &["launcher/src/sight/"]);
        absent(folder, &["Utc::now", "SystemTime::now", "Local::now", "now_v7"], &["clock.rs"]);
        absent(
            folder,
            &[".unwrap()", ".expect("],
            &[
                "answers/src/tests",
                "launcher/src/config/tests",
                "src/database/tests",
                "src/ledger/tests",
                "sqlite-kit/src/tests",
                "books/src/samples.rs",
                "migrations/src/tests",
                "steps/tests",
            ],
        );
    }
}

#[test]
fn bodies_are_read_in_one_place_and_what_comes_from_outside_keeps_the_time() {
    // What a server elsewhere answers is a client's to read.
    let reading = [" to_bytes(", "body::to_bytes", ".frame()", ".collect().await", "BodyStream", "into_data_stream"];
    absent(
        "crates",
        &reading,
        &["http-kit/src/body.rs", "compare/src/client.rs", "courier/src/lib.rs", "crates/bench"],
    );
    let extracting = ["extract::Json", "FromRequest<", "Form<", "Multipart", "RequestBodyLimit"];
    absent("crates", &extracting, &[]);
    absent("crates", &["Incoming"], &["launcher/src/edge/", "courier/src/lib.rs"]);
    // There, it is wrapped before anybody gets hold of it.
    let edge = sources("crates/launcher/src/edge");
    let makes = |text: &str| product(text).filter(|line| line.contains("Body::new(")).count();
    assert_eq!(edge.iter().map(|(_, text)| makes(text)).sum::<usize>(), 1, "one way from a connection to a handler");
}

#[test]
fn what_waits_for_a_client_is_at_the_edge_alone() {
    let waiting = ["TcpListener", "TcpSocket", "serve_connection", "header_read_timeout"];
    absent("crates", &waiting, &["launcher/src/edge/", "crates/bench"]);
}

#[test]
fn a_migration_never_imports_an_entity() {
    absent("migrations/src", &["ledger_core", "schema::tables", "DeriveEntityModel"], &[]);
}

#[test]
fn the_top_level_is_as_the_map_draws_it() {
    let mut names: Vec<String> = std::fs::read_dir(root())
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| !name.starts_with('.') && !matches!(name.as_str(), "target" | "data"))
        .collect();
    names.sort();
    let expected = [
        "CHANGELOG.md",
        "Cargo.lock",
        "Cargo.toml",
        "LICENSE",
        "README.md",
        "SECURITY.md",
        "config",
        "crates",
        "migrations",
        "openapi",
        "tests",
    ];
    assert_eq!(names, expected);
}
