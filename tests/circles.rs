//! Writes that take the same rows in different orders: nobody stands in another's way until the engine ends one of them.

use crate::harness::people::fresh_email;
use crate::harness::server::{Company, DIALECTS};
use crate::harness::{Engine, Options, Server};
use crate::signin::{said, texts};
use serde_json::json;

#[test]
fn people_are_changed_from_several_sides_and_nobody_waits_in_a_circle() {
    let Some(server) = Server::start(Engine::Postgres, Options::default()) else { return };
    let companies: Vec<Company<'_>> = (0..4).map(|_| server.company()).collect();
    // By the operator's commands, which are processes of their own, and by the server, a lane for each company.
    let by_command = |company: &Company<'_>| {
        for _ in 0..3 {
            let email = fresh_email("circle");
            let password = "nine ferries and a ledger";
            said(&server, &["user", "add", "--email", &email, "--password-stdin"], password);
            said(&server, &["user", "role", &email, "--business", &company.id, "--role", "auditor"], "");
            said(&server, &["user", "passwd", &email, "--password-stdin"], "ten ferries and a ledger");
            said(&server, &["user", "disable", &email], "");
        }
    };
    let by_request = |company: &Company<'_>| {
        for number in 0..24 {
            let dialect = DIALECTS[number % 2];
            company.ask(dialect, "POST", "parties", "", Some(&json!({"name": "Elbe", "isCustomer": true}))).expect(201);
            let key = json!({"name": format!("Key {number}")});
            company.ask(dialect, "POST", "apiKeys", "", Some(&key)).expect(201);
            let set = json!({"name": format!("Set {number}"), "grants": []});
            company.ask(dialect, "POST", "permissions", "", Some(&set)).expect(201);
        }
    };
    std::thread::scope(|scope| {
        for company in &companies {
            scope.spawn(move || by_command(company));
            scope.spawn(move || by_request(company));
        }
    });
    for company in &companies {
        let log = company.ask(DIALECTS[1], "GET", "auditLog", "?pageSize=1", None).expect(200).data;
        assert!(log["pagination"]["totalCount"].as_u64().unwrap() >= 3 * 24 + 3);
    }
    drop(companies);
    // What its connections met is counted when they end.
    let again = server.restarted();
    let ended = "SELECT deadlocks::text FROM pg_stat_database WHERE datname = current_database()";
    assert_eq!(texts(&again, ended), ["0"]);
}
