//! The catalogue of error codes: a page for each, and in the documents nothing that is not in it.

use crate::harness::server::DIALECTS;
use crate::harness::twins::documented;
use crate::harness::{Dialect, Engine, Request, Server};
use std::collections::BTreeSet;

/// The codes that the page of all of them names.
fn catalogue(server: &Server) -> BTreeSet<String> {
    let page = server.send(&Request::new("GET", "/errors"));
    assert_eq!(page.status, 200);
    let names = page.text.split("href=\"/errors/").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned());
    names.collect()
}

#[test]
fn every_code_has_a_page_that_says_what_to_do() {
    let server = Server::shared(Engine::Sqlite).unwrap();
    let codes = catalogue(server);
    for code in ["validation_failed", "too_slow", "over_fulfilment", "last_owner", "commit_outcome_unknown"] {
        assert!(codes.contains(code), "{code} is not among {codes:?}");
    }
    for code in &codes {
        let page = server.send(&Request::new("GET", &format!("/errors/{code}")));
        assert_eq!(page.status, 200, "{code}");
        for words in ["What happened", "What to do", "Dialect A", "Dialect B", &format!("x-error-code: {code}")] {
            assert!(page.text.contains(words), "{code}: {words} is missing in {}", page.text);
        }
    }
    assert_eq!(server.send(&Request::new("GET", "/errors/nonsense")).status, 404);
}

#[test]
fn the_documents_name_the_codes_of_each_status() {
    let server = Server::shared(Engine::Sqlite).unwrap();
    let (codes, mut named) = (catalogue(server), BTreeSet::new());
    for dialect in DIALECTS.map(documented) {
        let operation = dialect.operation("salesInvoicesUpdate").unwrap();
        for (status, response) in &operation.responses {
            let header = &response["headers"]["X-Error-Code"];
            let said = header["schema"]["enum"].as_array().into_iter().flatten();
            named.extend(said.map(|code| (status.clone(), code.as_str().unwrap().to_owned())));
        }
    }
    for (_, code) in &named {
        assert!(codes.contains(code), "{code} has no page");
    }
    for expected in
        [("409", "has_allocations"), ("409", "period_locked"), ("503", "storage_full"), ("400", "malformed_json")]
    {
        assert!(named.contains(&(expected.0.to_owned(), expected.1.to_owned())), "{expected:?} is not among {named:?}");
    }
    // What is answered is one of them.
    let company = server.company();
    for dialect in [Dialect::A, Dialect::B] {
        let said = company.ask(dialect, "GET", "parties", "/nonsense", None).expect(404);
        assert!(named.contains(&("404".to_owned(), said.code.unwrap())));
    }
}

#[test]
fn who_takes_nothing_that_is_answered_is_told_so() {
    let server = Server::shared(Engine::Sqlite).unwrap();
    let company = server.company();
    for dialect in DIALECTS {
        let asked = |accept: &str, method: &str, resource: &str, path: &str| {
            let request = company.request(dialect, method, resource, path).header("accept", accept);
            company.say(dialect, request)
        };
        let refused = asked("application/xml", "GET", "parties", "").expect(406);
        assert_eq!(refused.code.as_deref(), Some("not_acceptable"));
        assert!(refused.title.contains("application/json"), "{}", refused.title);
        asked("text/html, */*;q=0.8", "GET", "parties", "").expect(200);
        // Before anything is written.
        let body = serde_json::json!({"name": "Nobody"});
        let create = company.request(dialect, "POST", "parties", "").json(&body).header("accept", "image/png");
        company.say(dialect, create).expect(406);
        assert_eq!(company.ask(dialect, "GET", "parties", "", None).expect(200).data["pagination"]["totalCount"], 0);
        let csv = company.request(dialect, "GET", "reports", "/trial-balance?format=csv").header("accept", "text/csv");
        assert_eq!(server.send(&csv).status, 200);
    }
}

#[test]
fn what_is_done_is_answered_so_whatever_form_of_it_is_taken() {
    let server = Server::shared(Engine::Sqlite).unwrap();
    let company = server.company();
    let forms = ["*;q=0", "compress, *;q=0", "identity;q=0.000", "br;q=0, gzip;q=0, *; q=0", "gzip, identity;q=0"];
    for dialect in DIALECTS {
        for coding in forms {
            let body = serde_json::json!({"name": coding, "isCustomer": true});
            let write = company.request(dialect, "POST", "parties", "").json(&body).header("accept-encoding", coding);
            server.send(&write).expect(201);
            let read = company.request(dialect, "GET", "parties", "/nonsense").header("accept-encoding", coding);
            server.send(&read).expect(404);
        }
    }
}
