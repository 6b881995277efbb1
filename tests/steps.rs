//! What questions cost does not depend on guesses: the steps of the engine are counted, in small books and in larger ones.

use crate::harness::server::authorised;
use crate::harness::{Company, Dialect, Engine, Options, Request, Server};
use serde_json::json;

/// What the engine did for what is asked, as the server's log counts it.
fn steps(server: &Server, ask: impl FnOnce()) -> i64 {
    let counted = || -> i64 {
        let log = server.log();
        let lines = log.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        lines.filter_map(|line| line["steps"].as_i64()).sum()
    };
    let before = counted();
    ask();
    counted() - before
}

fn sell(company: &Company<'_>, party: &str, count: usize) {
    for _ in 0..count {
        let line = json!({"description": "Hour", "quantity": 1, "unitPrice": "90"});
        let body = json!({"date": "2026-03-10", "partyId": party, "lines": [line]});
        company.ask(Dialect::B, "POST", "salesInvoices", "", Some(&body)).expect(201);
    }
}

/// What answers from sums that are kept, or is one page.
const KEPT: &[&str] = &[
    "reports/trial-balance?from=2026-01-01&to=2026-12-31",
    "reports/trial-balance?from=2026-02-03&to=2026-11-07",
    "reports/pl?from=2026-01-01&to=2026-12-31",
    "reports/bs?asOf=2026-12-31",
    "reports/cash-flow?from=2026-01-01&to=2026-12-31",
    "sales-invoices?pageSize=10",
    "journals?pageSize=10",
    "accounts?pageSize=10",
];

#[test]
fn what_is_kept_in_sums_costs_the_same_however_long_the_books_are() {
    let environment = vec![("Logging__Level".to_owned(), "trace".to_owned())];
    let server = Server::start(Engine::Sqlite, Options { environment, ..Options::default() }).unwrap();
    let company = server.company();
    let party = company.party(json!({}))["id"].as_str().unwrap().to_owned();
    let cost = |path: &str| {
        let request = authorised(Request::new("GET", &format!("/b/api/{path}")), &company.token);
        let request = request.header("X-Business-Id", &company.id);
        steps(&server, || drop(server.send(&request).expect(200)))
    };
    sell(&company, &party, 20);
    let few: Vec<i64> = KEPT.iter().map(|path| cost(path)).collect();
    sell(&company, &party, 180);
    for (path, few) in KEPT.iter().zip(few) {
        let many = cost(path);
        assert!(few > 0, "{path}: nothing was counted");
        assert!(many < few * 2, "{path}: {few} steps with 20 invoices, {many} with 200");
    }
}
