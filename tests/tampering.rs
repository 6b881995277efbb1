//! Tampering that the server writes over, and books that come under another master key.

use crate::harness::books::behind_the_back;
use crate::harness::people::{code, next_step};
use crate::harness::process::eventually;
use crate::harness::server::{OWNER_EMAIL, OWNER_PASSWORD, authorised};
use crate::harness::{Dialect, Engine, Options, Request, Server};
use crate::seals::{Place, chain_plainly_from, populated, start};
use crate::signin::{PASSWORD, added, login_from, with_authenticator};
use ledger_core::ids::BusinessId;
use serde_json::json;
use std::collections::BTreeSet;
use std::process::Output;

/// Records of these kinds are changed and removed in one row of one table.
const KINDS: &[(&str, &str)] = &[
    ("parties", "parties"),
    ("items", "items"),
    ("paymentTerms", "payment_terms"),
    ("exchangeRates", "exchange_rates"),
    ("accounts", "accounts"),
    ("taxCodes", "tax_codes"),
];

/// What somebody changed by hand is not sealed with what the server changes next: it stays seen.
fn what_is_written_over_is_still_seen(engine: Engine) {
    let Some(server) = start(engine) else { return };
    let place = Place::of(&server);
    let literal = |id: &str| place.identifier(id);
    let nil = literal("00000000-0000-0000-0000-000000000000");
    let hand = |sql: &str| behind_the_back(&server, &[sql.to_owned()]).unwrap();
    for (resource, table) in KINDS {
        for method in ["PUT", "DELETE"] {
            for tampered in [false, true] {
                let company = server.company();
                let made = company.ask(Dialect::B, "POST", resource, "", Some(&company.example(resource))).expect(201);
                let id = made.data["id"].as_str().unwrap();
                let own = format!("business_id = {} AND id = {}", literal(&company.id), literal(id));
                if tampered {
                    hand(&format!("UPDATE {table} SET created_by = {nil} WHERE {own}"));
                    assert_eq!(place.wrong_of(&company), BTreeSet::from([(*table).to_owned()]));
                }
                let body = Some(&made.data).filter(|_| method == "PUT");
                company.ask(Dialect::B, method, resource, &format!("/{id}"), body).expect(200);
                let wrong: BTreeSet<String> = tampered.then(|| (*table).to_owned()).into_iter().collect();
                assert_eq!(place.wrong_of(&company), wrong, "{method} {resource}, tampered: {tampered}");
                // The row itself is told, where it is there.
                let named = |one: &String| one.starts_with(table) && one.ends_with("is not what was written");
                let told = place.findings(&company, "V15").iter().any(named);
                assert_eq!(told, tampered && method == "PUT", "{method} {resource}");
                // Nor is it forgotten by what comes after.
                company.party(json!({}));
                assert_eq!(place.wrong_of(&company), wrong, "{method} {resource}, tampered: {tampered}");
            }
        }
    }
    assert!(server.log().contains("parties: "), "the log of security tells it");
    // A row that is written with its new seal: the counter of journals.
    let company = server.company();
    let post = || company.journal("2026-03-05", &[("6200", "10"), ("1010", "-10")]);
    post();
    post();
    assert_eq!(place.wrong_of(&company), BTreeSet::new());
    hand(&format!("UPDATE number_counters SET last_date = '2026-01-01' WHERE business_id = {}", literal(&company.id)));
    post();
    assert_eq!(place.wrong_of(&company), BTreeSet::from(["number_counters".to_owned()]));
    // What belongs to no company: a session that is ended, and a name that an act changes as well.
    let installation = || place.wrong().tables.contains("sessions");
    let token = server.login(OWNER_EMAIL, OWNER_PASSWORD);
    assert!(!installation());
    hand("UPDATE sessions SET agent = 'somebody else'");
    let end = authorised(Request::new("POST", "/b/api/auth/me/logout"), &token);
    server.send(&end.json(&json!({}))).expect(200);
    assert!(installation());
}

#[test]
fn what_is_written_over_is_still_seen_on_sqlite() {
    what_is_written_over_is_still_seen(Engine::Sqlite);
}

#[test]
fn what_is_written_over_is_still_seen_on_postgres() {
    what_is_written_over_is_still_seen(Engine::Postgres);
}

/// The chain of a log says for itself where it is broken, whatever else would have noticed.
fn the_chain_says_where_it_is_broken(engine: Engine) {
    let Some(server) = start(engine) else { return };
    let company = server.company();
    for name in ["One", "Two", "Three"] {
        company.party(json!({"name": name}));
    }
    let place = Place::of(&server);
    let own = place.identifier(&company.id);
    let text = |sql: String| place.texts(&sql).remove(0);
    let last: usize =
        text(format!("SELECT CAST(MAX(sequence) AS TEXT) AS text FROM audit_log WHERE business_id = {own}"))
            .parse()
            .unwrap();
    let hash = |sequence: usize| {
        let digits = if place.is_postgres() { "encode(hash, 'hex')" } else { "lower(hex(hash))" };
        text(format!("SELECT {digits} AS text FROM audit_log WHERE business_id = {own} AND sequence = {sequence}"))
    };
    assert!(last > 3 && place.findings(&company, "V7").is_empty());
    place.unguard();
    place.keep("all");
    let run = |sql: &str| place.run(&sql.replace("{b}", &own).replace("{last}", &last.to_string()));
    let cases: [(&str, &dyn Fn()); 8] = [
        ("is missing: records were cut off the end", &|| {
            run("DELETE FROM audit_log WHERE business_id = {b} AND sequence = {last}");
        }),
        ("2 is missing", &|| run("DELETE FROM audit_log WHERE business_id = {b} AND sequence = 2")),
        ("is not what was written", &|| {
            run("UPDATE audit_log SET address = 'x' WHERE business_id = {b} AND sequence = 2");
        }),
        ("2 is not what was written", &|| {
            run("UPDATE audit_log SET hash = '' WHERE business_id = {b} AND sequence = 1");
        }),
        ("is not the record that the chain ended with", &|| {
            run("UPDATE books SET audit_hash = 'x' WHERE business_id = {b}");
        }),
        ("and that is not signed", &|| run("UPDATE books SET signature = '' WHERE business_id = {b}")),
        ("is not under the key, and the one before it is", &|| {
            chain_plainly_from(&place, &own, last..=last, hash(last - 1));
        }),
        ("is not under the key", &|| {
            let head = chain_plainly_from(&place, &own, 1..=last, String::new());
            run(&format!("UPDATE books SET audit_hash = '{head}' WHERE business_id = {{b}}"));
        }),
    ];
    for (told, hand) in cases {
        hand();
        let found = place.findings(&company, "V7");
        assert!(found.iter().any(|one| one.ends_with(told)), "{told}: {found:?}");
        for table in ["audit_log", "books"] {
            place.put_back("all", table);
        }
    }
    assert!(place.findings(&company, "V7").is_empty());
}

#[test]
fn the_chain_says_where_it_is_broken_on_sqlite() {
    the_chain_says_where_it_is_broken(Engine::Sqlite);
}

#[test]
fn the_chain_says_where_it_is_broken_on_postgres() {
    the_chain_says_where_it_is_broken(Engine::Postgres);
}

/// A row that is changed twice in one batch is walked back in the order in which it was changed.
fn changes_are_noted_in_their_order(engine: Engine) {
    let Some(server) = start(engine) else { return };
    let company = server.company();
    company.party(json!({"name": "First"}));
    let place = Place::of(&server);
    place.run("DELETE FROM touched");
    place.run(
        "BEGIN; UPDATE parties SET name = 'Second'; UPDATE parties SET name = 'Third', email = 'x'; DELETE FROM parties; COMMIT",
    );
    let noted = place.texts("SELECT was AS text FROM touched WHERE relation = 'parties' ORDER BY step");
    let steps: BTreeSet<String> = place.texts("SELECT CAST(step AS TEXT) AS text FROM touched").into_iter().collect();
    let noted: Vec<serde_json::Value> = noted.iter().map(|was| serde_json::from_str(was).unwrap()).collect();
    assert_eq!((noted.len(), steps.len()), (3, 3));
    // What changed, as it was, and all of what is gone.
    assert_eq!(noted[0], json!({"name": "First", "": null}));
    assert_eq!(noted[1], json!({"name": "Second", "email": null, "": null}));
    assert_eq!((&noted[2]["name"], &noted[2]["email"]), (&json!("Third"), &json!("x")));
    assert!(noted[2].as_object().unwrap().len() > 20);
}

#[test]
fn changes_are_noted_in_their_order_on_sqlite() {
    changes_are_noted_in_their_order(Engine::Sqlite);
}

#[test]
fn changes_are_noted_in_their_order_on_postgres() {
    changes_are_noted_in_their_order(Engine::Postgres);
}

/// A head that was kept elsewhere tells of each thing that went back since.
fn a_kept_head_tells_what_went_back(engine: Engine) {
    let Some(server) = start(engine) else { return };
    let company = server.company();
    company.journal("2026-03-05", &[("6200", "10"), ("1010", "-10")]);
    let place = Place::of(&server);
    let business = BusinessId::parse(&company.id).unwrap();
    let own = place.identifier(&company.id);
    let kept = place.runtime.block_on(place.ledger.heads(&[business])).unwrap().remove(0);
    let found = || place.runtime.block_on(place.ledger.verify_head(&kept)).unwrap();
    assert_eq!(found(), [""; 0]);
    place.unguard();
    place.keep("all");
    for (statement, told) in [
        (
            "UPDATE books SET entry_number = entry_number - 1 WHERE business_id = {b}",
            "the ledger went back from entry 1",
        ),
        ("UPDATE books SET audit_sequence = audit_sequence - 1 WHERE business_id = {b}", "the audit log went back"),
        ("UPDATE audit_log SET hash = 'x' WHERE business_id = {b}", "is another than it was"),
        ("DELETE FROM audit_log WHERE business_id = {b}", "of the audit log is gone"),
        ("DELETE FROM books WHERE business_id = {b}", "the books of the company are gone"),
    ] {
        place.run(&statement.replace("{b}", &own));
        let found = found();
        assert!(found.len() == 1 && found[0].contains(told), "{statement}: {found:?}");
        for table in ["audit_log", "books"] {
            place.put_back("all", table);
        }
    }
}

#[test]
fn a_kept_head_tells_what_went_back_on_sqlite() {
    a_kept_head_tells_what_went_back(Engine::Sqlite);
}

#[test]
fn a_kept_head_tells_what_went_back_on_postgres() {
    a_kept_head_tells_what_went_back(Engine::Postgres);
}

fn told(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Books come under another master key, all of them or none, and what the old one signed is proved ever after.
fn books_come_under_another_master_key(engine: Engine) {
    let Some(server) = Server::start(engine, Options::default()) else { return };
    let company = populated(&server).remove(0).id;
    let email = added(&server, &[]);
    let (secret, spent, codes) = with_authenticator(&server, &email);
    let file = server.folder.join("data/master-key");
    let (waiting, anchor) = (file.with_extension("new"), server.folder.join("anchor"));
    let anchor = anchor.to_str().unwrap().to_owned();
    let first = std::fs::read(&file).unwrap();
    assert_eq!(server.command(&["verify", "--anchor", &anchor], "").status.code(), Some(0));
    // Not beside a server, which would go on under the old key ...
    let beside = server.command(&["reseal"], "");
    assert!(!beside.status.success(), "{}", told(&beside));
    // ... and not where something is wrong, which would look right afterwards.
    behind_the_back(&server, &["UPDATE parties SET search = search || 'x'".to_owned()]).unwrap();
    let server = server.restarted_after(|command| {
        let refused =
            eventually("a refusal", || Some(command(&["reseal"], "")).filter(|one| told(one).contains("FAILED")));
        assert!(refused.status.code() == Some(1) && told(&refused).contains("nothing was sealed anew"));
    });
    let all = "UPDATE parties SET search = substr(search, 1, length(search) - 1)".to_owned();
    behind_the_back(&server, &[all]).unwrap();
    assert_eq!(std::fs::read(&file).unwrap(), first, "nothing has changed");
    let place = Place::under(&server, &first);
    place.keep("then");
    drop(place);
    let server = server.restarted_after(|command| {
        let done = eventually("new seals", || Some(command(&["reseal"], "")).filter(|one| one.status.success()));
        let said = told(&done);
        assert!(said.contains(&format!("{company}: ")) && said.contains("the recovery codes of"), "{said}");
        assert!(!waiting.exists());
        // As if the process had ended before the key took its place.
        let second = std::fs::read(&file).unwrap();
        assert_ne!(second, first);
        std::fs::rename(&file, &waiting).unwrap();
        std::fs::write(&file, &first).unwrap();
        let under_the_old = command(&["verify"], "");
        assert!(told(&under_the_old).contains("another master key"), "{}", told(&under_the_old));
        let again = command(&["reseal"], "");
        assert!(again.status.success() && told(&again).contains("already"), "{}", told(&again));
        assert_eq!(std::fs::read(&file).unwrap(), second);
        // And once more, under a key that somebody brings.
        assert!(!command(&["reseal", "--new-key-stdin"], "too short").status.success());
        let third = "a third master key, of somebody's own";
        let done = command(&["reseal", "--new-key-stdin"], &format!("{third}\n"));
        assert!(done.status.success(), "{}", told(&done));
        assert_eq!(std::fs::read(&file).unwrap(), third.as_bytes());
        // Heads that were kept before are known, and go on.
        for _ in 0..2 {
            let proof = command(&["verify", "--anchor", &anchor], "");
            assert_eq!(proof.status.code(), Some(0), "{}", told(&proof));
        }
    });
    let third = std::fs::read(&file).unwrap();
    // The books are written, secrets are known, and codes of which a digest was all are void.
    server.company().party(json!({}));
    let with = |code: &str| {
        let said = json!({"name": email, "password": PASSWORD, "totpCode": code});
        login_from(&server, Dialect::B, "127.0.0.1", &said).status
    };
    assert_eq!([with(&codes[0]), with(&code(&secret, next_step(spent)))], [401, 200]);
    let place = Place::under(&server, &third);
    assert!(place.wrong().is_nothing(), "{:?}", place.wrong());
    // Whoever has the old key proves nothing, and forges nothing: what it sealed is not what is sealed now.
    assert!(Place::under(&server, &first).wrong().error.unwrap().contains("another master key"));
    place.keep("now");
    place.unguard();
    for (table, is_named) in
        [("parties", true), ("users", true), ("sign_ins", true), ("books", false), ("installation", false)]
    {
        place.put_back("then", table);
        let wrong = place.wrong();
        assert!(
            wrong.error.is_some() || !is_named && !wrong.is_nothing() || wrong.tables.contains(table),
            "{table}: {wrong:?}"
        );
        let rows =
            wrong.findings.iter().filter(|one| one.starts_with(table) && one.ends_with("is not what was written"));
        assert!(!is_named || wrong.error.is_some() || rows.count() > 0, "{table}: {wrong:?}");
        place.put_back("now", table);
    }
    assert!(place.wrong().is_nothing(), "{:?}", place.wrong());
    // What the old key signed and stays is under sums and heads of the new one.
    for (statement, check) in [
        ("UPDATE entries SET narration = 'x' WHERE number = 1", "V15"),
        ("UPDATE audit_log SET address = 'x' WHERE sequence = 1", "V7"),
    ] {
        place.run(statement);
        assert!(place.wrong().has(&[check]), "{statement}");
        place.put_back("now", statement.split(' ').nth(1).unwrap());
    }
}

#[test]
fn books_come_under_another_master_key_on_sqlite() {
    books_come_under_another_master_key(Engine::Sqlite);
}

#[test]
fn books_come_under_another_master_key_on_postgres() {
    books_come_under_another_master_key(Engine::Postgres);
}
