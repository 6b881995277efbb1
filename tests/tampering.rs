//! Tampering that the server writes over, and books that come under another master key.

use crate::harness::books::behind_the_back;
use crate::harness::server::{OWNER_EMAIL, OWNER_PASSWORD, authorised};
use crate::harness::{Dialect, Engine, Request};
use crate::seals::{Place, start};
use serde_json::json;
use std::collections::BTreeSet;

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
    let literal =
        |id: &str| if place.is_postgres() { format!("'{id}'") } else { format!("X'{}'", id.replace('-', "")) };
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
