//! Bodies that make a record of any resource in a company of the test's own: the documented example, with the
//! identifiers and the unique values that only the company can give.

use super::server::Company;
use super::{Dialect, Request};
use ledger_core::resource::operation::{ResourceOperations, Verb, registry};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU32, Ordering};

pub fn operations(resource: &str) -> &'static ResourceOperations {
    registry().iter().find(|one| one.key.stem() == resource).expect("a resource of the registry")
}

/// Resources of which a request makes records.
pub fn creatable() -> impl Iterator<Item = &'static ResourceOperations> {
    registry().iter().filter(|one| one.verbs().any(|verb| verb == Verb::Create))
}

impl Company<'_> {
    /// The identifier of the account with a code of the general chart.
    pub fn account(&self, code: &str) -> String {
        let found = self.ask(Dialect::B, "GET", "accounts", &format!("?code={code}"), None).expect(200).data;
        found["items"][0]["id"].as_str().unwrap_or_else(|| panic!("no account {code}: {found}")).to_owned()
    }

    /// A body that makes a record here, whatever was made before.
    pub fn example(&self, resource: &str) -> Value {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let turn = MADE.fetch_add(1, Ordering::Relaxed);
        let mut body = operations(resource).example.clone();
        if body.get("code").is_some() {
            body["code"] = format!("X-{turn}").into();
        }
        match resource {
            "journals" => {
                body["lines"][0]["accountId"] = self.account("6200").into();
                body["lines"][1]["accountId"] = self.account("1010").into();
            }
            "contraEntries" => {
                body["fromAccountId"] = self.account("1010").into();
                body["toAccountId"] = self.account("1000").into();
            }
            "fiscalYears" => {
                let year = 2100 + turn;
                body["start"] = format!("{year}-01-01").into();
                body["end"] = format!("{year}-12-31").into();
            }
            "numberSeries" => body["pattern"] = format!("CL{turn}-{{FY}}-{{000}}").into(),
            "exchangeRates" => body["date"] = format!("{}-01-01", 2100 + turn).into(),
            // A lock of the past, so that it closes nothing which other facts post to.
            "locks" => body = json!({"lockDate": "2001-12-31", "reason": "Filed"}),
            _ => {}
        }
        body
    }

    /// A record of a resource, made by its example.
    pub fn make(&self, resource: &str) -> Value {
        self.ask(Dialect::B, "POST", resource, "", Some(&self.example(resource))).expect(201).data
    }

    /// A request for something of a resource, also of one that has no list.
    pub fn request_for(&self, dialect: Dialect, method: &str, operations: &ResourceOperations, path: &str) -> Request {
        if operations.verbs().any(|verb| verb == Verb::List) {
            return self.request(dialect, method, operations.key.stem(), path);
        }
        match operations.key.stem() {
            "verification" => self.request_at(dialect, method, &format!("verify{path}")),
            other => panic!("nothing says where {other} is"),
        }
    }

    /// A request for what has no list, such as the proof of the books.
    pub fn request_at(&self, dialect: Dialect, method: &str, segment: &str) -> Request {
        let target = match dialect {
            Dialect::A => format!("/a/api/{}/{segment}", self.id),
            Dialect::B => format!("/b/api/{segment}"),
        };
        let request = super::server::authorised(Request::new(method, &target), &self.token);
        if dialect == Dialect::B { request.header("X-Business-Id", &self.id) } else { request }
    }
}
