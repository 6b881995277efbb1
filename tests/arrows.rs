//! The house's arrows: which crate may know which. Asked of cargo, not of the text.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Every crate below those that know it, with all that it knows: no more, and no less.
const ARROWS: &[(&str, &[&str])] = &[
    // Beside the books.
    ("supervise", &[]),
    ("answers", &[]),
    ("sqlite-kit", &["answers"]),
    ("postgres-kit", &["answers", "supervise"]),
    ("migrations", &[]),
    // The books, from the words up.
    ("words", &["postgres-kit", "sqlite-kit"]),
    ("rules", &["words"]),
    ("schema", &["answers", "rules", "words"]),
    ("books", &["answers", "migrations", "postgres-kit", "rules", "schema", "sqlite-kit", "supervise", "words"]),
    ("kit", &["answers", "books", "rules", "schema", "words"]),
    ("masters", &["answers", "books", "kit", "rules", "schema", "words"]),
    ("documents", &["answers", "books", "kit", "rules", "schema", "words"]),
    ("reports", &["answers", "books", "kit", "rules", "schema", "words"]),
    ("proof", &["answers", "schema", "words"]),
    (
        "ledger-core",
        &[
            "answers",
            "books",
            "documents",
            "kit",
            "masters",
            "migrations",
            "proof",
            "reports",
            "rules",
            "schema",
            "words",
        ],
    ),
    // Books of earlier schemas, which are older than everything above.
    ("convert", &["migrations", "postgres-kit", "sqlite-kit"]),
    // What speaks with the world knows the books by one name.
    ("http-kit", &["ledger-core", "supervise"]),
    ("dialect-a", &["http-kit", "ledger-core"]),
    ("dialect-b", &["http-kit", "ledger-core"]),
    ("demo", &["ledger-core"]),
    ("compare", &[]),
    ("duet-console", &[]),
    ("courier", &[]),
    ("catalogue", &["answers", "postgres-kit", "sqlite-kit"]),
    ("guide", &[]),
    (
        "launcher",
        &[
            "catalogue",
            "compare",
            "duet-console",
            "convert",
            "courier",
            "demo",
            "dialect-a",
            "dialect-b",
            "guide",
            "http-kit",
            "ledger-core",
            "supervise",
        ],
    ),
    ("bench", &["launcher", "ledger-core", "migrations", "postgres-kit"]),
    ("release", &["launcher"]),
    ("acceptance", &["launcher"]),
];

/// What the books are made of. Nobody else names it.
const WITHIN: &[&str] = &["rules", "schema", "books", "kit", "masters", "documents", "reports", "proof"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The crates of the house, each with those of the house that it is built with.
fn drawn(of_tests: bool) -> BTreeMap<String, BTreeSet<String>> {
    let mut asking = Command::new(env!("CARGO"));
    asking.args(["metadata", "--format-version", "1", "--no-deps", "--offline"]).current_dir(root());
    let told = asking.output().expect("cargo answers");
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    arrows(&serde_json::from_slice(&told.stdout).expect("JSON"), of_tests)
}

fn arrows(told: &Value, of_tests: bool) -> BTreeMap<String, BTreeSet<String>> {
    let packages = told["packages"].as_array().expect("packages");
    let name = |of: &Value| of["name"].as_str().expect("a name").to_owned();
    let ours: BTreeSet<String> = packages.iter().map(name).collect();
    let knows = |package: &Value| {
        let all = package["dependencies"].as_array().expect("dependencies");
        let built = all.iter().filter(|one| (one["kind"] == "dev") == of_tests);
        built.map(name).filter(|one| ours.contains(one)).collect::<BTreeSet<String>>()
    };
    packages.iter().map(|package| (name(package), knows(package))).collect()
}

/// What is wrong with arrows, in words.
fn faults(found: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let allowed: BTreeMap<&str, BTreeSet<String>> =
        ARROWS.iter().map(|(name, knows)| (*name, knows.iter().map(|one| (*one).to_owned()).collect())).collect();
    let mut faults = Vec::new();
    for (name, knows) in found {
        match allowed.get(name.as_str()) {
            None => faults.push(format!("{name} has no place in the house")),
            Some(allowed) if allowed != knows => {
                faults.push(format!("{name} knows {knows:?}, and may know {allowed:?}"));
            }
            Some(_) => {}
        }
    }
    faults.extend(allowed.keys().filter(|name| !found.contains_key(**name)).map(|name| format!("{name} is gone")));
    faults
}

#[test]
fn each_crate_knows_those_below_it_and_no_other() {
    assert_eq!(faults(&drawn(false)), Vec::<String>::new());
    let mut below = BTreeSet::new();
    for (name, knows) in ARROWS {
        assert!(knows.iter().all(|one| below.contains(one)), "{name} knows what is not below it: {knows:?}");
        below.insert(*name);
        let of_books = WITHIN.contains(name) || *name == "ledger-core";
        let within = knows.iter().find(|one| WITHIN.contains(one));
        assert!(of_books || within.is_none(), "{name} knows {within:?}, of which ledger-core alone speaks");
    }
}

/// A suite may use what is below its crate, and the launcher's own program.
#[test]
fn no_suite_reaches_above_its_crate() {
    let place = |name: &str| ARROWS.iter().position(|(one, _)| *one == name);
    for (name, knows) in drawn(true) {
        let above: Vec<&String> = knows.iter().filter(|one| place(one) >= place(&name)).collect();
        assert!(above.is_empty(), "the suites of {name} know what is above it: {above:?}");
    }
}

#[test]
fn an_arrow_that_turns_round_is_seen() {
    let mut found = drawn(false);
    found.get_mut("kit").expect("the kit").insert("documents".to_owned());
    assert_eq!(faults(&found).len(), 1);
    found.get_mut("http-kit").expect("the kit of HTTP").insert("books".to_owned());
    found.insert("attic".to_owned(), BTreeSet::new());
    found.remove("words");
    assert_eq!(faults(&found).len(), 4);
}

/// A line of the log is known by the crate that says it: one that the filter does not name is silent.
#[test]
fn every_crate_that_speaks_is_in_the_filter_of_the_log() {
    let filter = std::fs::read_to_string(root().join("crates/launcher/src/logging.rs")).expect("the log");
    let speaks = |folder: &Path| {
        let mut waiting = vec![folder.to_path_buf()];
        while let Some(folder) = waiting.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
                let path = entry.path();
                if path.is_dir() {
                    waiting.push(path);
                } else if std::fs::read_to_string(&path).expect("a source").contains("tracing::") {
                    return true;
                }
            }
        }
        false
    };
    let within = WITHIN.iter().chain(&["ledger-core", "http-kit", "launcher"]);
    for name in within.filter(|name| speaks(&root().join("crates").join(name).join("src"))) {
        let target = name.replace('-', "_");
        assert!(filter.contains(&format!("\"{target}\"")), "what {name} says is not logged");
    }
}

/// The guide draws the same house.
#[test]
fn the_map_names_every_crate() {
    let guide = root().join("crates/guide/pages/architecture.md");
    let map = std::fs::read_to_string(guide).expect("the map");
    for (name, _) in ARROWS {
        let folder = match *name {
            "acceptance" => "tests/".to_owned(),
            "migrations" => "migrations/".to_owned(),
            "duet-console" => "crates/console/".to_owned(),
            other => format!("crates/{other}/"),
        };
        assert!(map.lines().any(|line| line.starts_with(&folder)), "the map has no {folder}");
    }
}
