//! `duet verify --since`: what an earlier proof left is trusted by its chain and its sums, what came since is proved whole.

use crate::harness::{Company, Dialect, Engine, Server};
use crate::seals::{Place, populated, start};
use serde_json::Value;
use std::collections::BTreeMap;

/// What the checks of a company's proof say, since heads in a file or of all of it, and whether they hold.
struct Proof {
    checks: BTreeMap<String, (Value, bool)>,
    digest: Value,
}

impl Proof {
    fn of(server: &Server, company: &Company<'_>, since: Option<&str>) -> Self {
        let mut words = vec!["verify", "--json", "--business", company.id.as_str()];
        words.extend(since.iter().flat_map(|file| ["--since", file]));
        let output = server.command(&words, "");
        let said: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
        assert_eq!(output.status.code(), Some(i32::from(said["ok"] == false)), "{said}");
        let company = &said["businesses"][0];
        let heads = said["installation"].as_array().unwrap().iter().filter(|check| check["id"] == "V17");
        let checks = company["checks"].as_array().unwrap().iter().chain(heads);
        let of = |check: &Value| (check["id"].as_str().unwrap().to_owned(), (check.clone(), check["ok"] == true));
        Self { checks: checks.map(of).collect(), digest: company["digest"].clone() }
    }

    fn wrong(&self) -> Vec<&str> {
        self.checks.iter().filter(|(_, (_, ok))| !ok).map(|(id, _)| id.as_str()).collect()
    }
}

fn entries(company: &Company<'_>) -> i64 {
    let head = company.ask(Dialect::B, "GET", "auditLog", "/head", None).expect(200).data;
    head["entryNumber"].as_i64().unwrap()
}

fn what_came_since_is_proved(engine: Engine) {
    let Some(server) = start(engine) else { return };
    // Of all kinds, with what was taken back and money of elsewhere.
    let companies = populated(&server);
    let file = server.folder.join("kept");
    let kept = file.to_str().unwrap();
    for unknown in ["nowhere", "/dev/null"] {
        let refused = server.command(&["verify", "--since", unknown], "");
        assert_eq!(refused.status.code(), Some(1), "{refused:?}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains("--since: "), "{refused:?}");
    }
    assert_eq!(server.command(&["verify", "--anchor", kept], "").status.code(), Some(0));
    let company = companies.iter().max_by_key(|company| entries(company)).unwrap();
    let (first, body) = (entries(company), company.example("journals"));
    assert!(first > 4, "there is something to trust");
    let taken = company.ask(Dialect::A, "POST", "journals", "", Some(&body)).expect(201).id();
    company.ask(Dialect::A, "POST", "journals", &format!("/{taken}/void"), None).expect(200);
    company.ask(Dialect::B, "POST", "journals", "", Some(&body)).expect(201);
    assert_eq!(entries(company), first + 3);

    // Of each company both come to the same figures; only the digest, which is of all words, is not made.
    for company in &companies {
        let (whole, since) = (Proof::of(&server, company, None), Proof::of(&server, company, Some(kept)));
        assert_eq!((whole.wrong(), since.wrong()), (vec![], vec![]), "{:?}", since.checks);
        assert_eq!((whole.digest == "", since.digest == ""), (false, entries(company) > 0));
        for (id, (check, _)) in whole.checks.iter().filter(|(id, _)| *id != "V11b") {
            assert_eq!(&since.checks[id].0, check, "{id}");
        }
    }

    let place = Place::of(&server);
    place.keep("then");
    place.unguard();
    let own = format!("business_id = {}", place.identifier(&company.id));
    let record = format!("(SELECT MAX(sequence) FROM audit_log WHERE {own})");
    let at: Value = std::fs::read_to_string(kept)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .find(|head| head["businessId"] == company.id.as_str())
        .unwrap();
    let at = &at["sequence"];
    // What is done, to what, and what the whole proof and that of what came since say of it: some of these at least.
    let cases: [(&str, String, &str, &str); 10] = [
        (
            "entry_lines",
            format!("UPDATE entry_lines SET description = 'x' WHERE {own} AND entry_number = {}", first + 3),
            "V15",
            "V15",
        ),
        (
            "entry_lines",
            format!("UPDATE entry_lines SET amount = amount * 2 WHERE {own} AND entry_number = {}", first + 3),
            "V1 V4a V15",
            "V1 V4a V15",
        ),
        ("entries", format!("DELETE FROM entries WHERE {own} AND number = {}", first + 3), "V1 V1b V15", "V1 V1b V15"),
        (
            "audit_log",
            format!("UPDATE audit_log SET address = '10.9.9.9' WHERE {own} AND sequence = {record}"),
            "V7",
            "V7",
        ),
        // Before: sums and seals as they stand tell of what was moved, put in or taken out ...
        (
            "entry_lines",
            format!("UPDATE entry_lines SET amount = amount * 2 WHERE {own} AND entry_number = 1"),
            "V1 V4a V15",
            "V4a",
        ),
        ("entries", format!("DELETE FROM entries WHERE {own} AND number = 2"), "V1 V1b V15", "V1b V15"),
        (
            "entries",
            format!(
                "UPDATE entries SET seal = (SELECT e.seal FROM entries e WHERE e.{own} AND e.number = 2) WHERE {own} AND number = 1"
            ),
            "V15",
            "V15",
        ),
        ("audit_log", format!("UPDATE audit_log SET address = '10.9.9.9' WHERE {own} AND sequence = {at}"), "V7", "V7"),
        // ... and words are trusted: that is what is saved.
        (
            "entry_lines",
            format!("UPDATE entry_lines SET description = 'x' WHERE {own} AND entry_number = 1"),
            "V15",
            "",
        ),
        ("audit_log", format!("UPDATE audit_log SET address = '10.9.9.9' WHERE {own} AND sequence = 1"), "V7", ""),
    ];
    for (table, fault, in_whole, in_part) in cases {
        place.run(&fault);
        for (since, expected) in [(None, in_whole), (Some(kept), in_part)] {
            let proof = Proof::of(&server, company, since);
            let wrong = proof.wrong();
            let all = expected.split_whitespace().all(|check| wrong.contains(&check));
            assert!(all && wrong.is_empty() == expected.is_empty(), "{fault} since {since:?}: {wrong:?}");
        }
        place.put_back("then", table);
    }

    // A head that nobody signed opens nothing, nor does one that the books went back behind.
    let text = std::fs::read_to_string(kept).unwrap();
    let forged = text.replace(&format!("\"sequence\":{at},"), &format!("\"sequence\":{},", at.as_i64().unwrap() + 1));
    assert_ne!(forged, text);
    std::fs::write(&file, &forged).unwrap();
    assert!(Proof::of(&server, company, Some(kept)).wrong().contains(&"V17"));
    // Of a company that is not in the file, all is proved.
    let others: Vec<&str> = text.lines().filter(|line| !line.contains(&company.id)).collect();
    std::fs::write(&file, others.join("\n")).unwrap();
    place.run(&format!("UPDATE entry_lines SET description = 'x' WHERE {own} AND entry_number = 1"));
    assert_eq!(Proof::of(&server, company, Some(kept)).wrong(), ["V15"]);
}

#[test]
fn what_came_since_an_anchor_is_proved_whole_on_sqlite() {
    what_came_since_is_proved(Engine::Sqlite);
}

#[test]
fn what_came_since_an_anchor_is_proved_whole_on_postgres() {
    what_came_since_is_proved(Engine::Postgres);
}
