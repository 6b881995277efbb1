//! Bodies that make a record of any resource in a company of the test's own: the documented example, with the
//! identifiers and the unique values that only the company can give.

use super::server::Company;
use super::{Dialect, Request};
use ledger_core::resource::operation::{ResourceOperations, Verb};
use ledger_core::resource::registry::registry;
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

    /// The identifier of the built-in permission set of a role.
    pub fn permission(&self, role: &str) -> String {
        let found = self.ask(Dialect::B, "GET", "permissions", &format!("?role={role}"), None).expect(200).data;
        found["items"][0]["id"].as_str().unwrap_or_else(|| panic!("no permission set {role}: {found}")).to_owned()
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
            "salesOrders" | "purchaseOrders" | "deliveryNotes" | "salesInvoices" | "creditNotes"
            | "purchaseInvoices" | "debitNotes" => {
                body["partyId"] = self.partner().into();
                body["lines"][0]["itemId"] = self.service().into();
                body["lines"][0]["taxCodeId"] = self.tax("20").into();
            }
            "receiptNotes" => {
                body["partyId"] = self.partner().into();
                body["lines"][0]["itemId"] = self.goods().into();
            }
            "receipts" | "payments" => {
                body["partyId"] = self.partner().into();
                body["accountId"] = self.account("1010").into();
            }
            "allocations" => {
                body["sourceId"] = self.make("receipts")["id"].clone();
                body["targetId"] = self.make("salesInvoices")["id"].clone();
            }
            "stockAdjustments" => body["lines"][0]["itemId"] = self.goods().into(),
            "revaluations" => {
                let open = self.ask(Dialect::B, "GET", "salesInvoices", "?currency=USD", None).expect(200).data;
                if open["pagination"]["totalCount"] == 0 {
                    let mut invoice = self.example("salesInvoices");
                    (invoice["currency"], invoice["exchangeRate"]) = ("USD".into(), "0.9".into());
                    self.ask(Dialect::B, "POST", "salesInvoices", "", Some(&invoice)).expect(201);
                }
                body["date"] = format!("{}-01-31", 2100 + turn % 7_000).into();
            }
            "users" => {
                body["email"] = format!("person-{turn}-{}@example.test", self.id).into();
                body["memberships"] = json!([{"businessId": self.id, "permissionId": self.permission("bookkeeper")}]);
            }
            "permissions" | "apiKeys" => body["name"] = format!("Example {turn}").into(),
            "journals" => {
                body["lines"][0]["accountId"] = self.account("6200").into();
                body["lines"][1]["accountId"] = self.account("1010").into();
            }
            "contraEntries" => {
                body["fromAccountId"] = self.account("1010").into();
                body["toAccountId"] = self.account("1000").into();
            }
            "fiscalYears" => {
                let year = 2100 + turn % 7_000;
                body["start"] = format!("{year}-01-01").into();
                body["end"] = format!("{year}-12-31").into();
            }
            "numberSeries" => body["pattern"] = format!("CL{turn}-{{FY}}-{{000}}").into(),
            "exchangeRates" => body["date"] = format!("{}-01-01", 2100 + turn % 7_000).into(),
            // A lock of the past, so that it closes nothing which other facts post to.
            "locks" => body = json!({"lockDate": "2001-12-31", "reason": "Filed"}),
            _ => {}
        }
        body
    }

    /// The record with a code, made when there is none yet.
    pub fn shared(&self, resource: &str, body: &Value) -> String {
        let code = body["code"].as_str().expect("a code");
        let found = self.ask(Dialect::B, "GET", resource, &format!("?code={code}"), None).expect(200).data;
        match found["items"][0]["id"].as_str() {
            Some(id) => id.to_owned(),
            None => self.ask(Dialect::B, "POST", resource, "", Some(body)).expect(201).id(),
        }
    }

    /// A party to buy from and sell to.
    pub fn partner(&self) -> String {
        let body = json!({"name": "Partner", "code": "PARTNER", "isCustomer": true, "isSupplier": true});
        self.shared("parties", &body)
    }

    pub fn service(&self) -> String {
        self.shared("items", &json!({"name": "Advice", "code": "ADVICE", "type": "service", "salePrice": 100}))
    }

    /// An item that is kept in stock.
    pub fn goods(&self) -> String {
        self.shared("items", &json!({"name": "Goods", "code": "GOODS", "type": "stock"}))
    }

    /// A tax code of one component.
    pub fn tax(&self, rate: &str) -> String {
        let components = json!([{"name": "VAT", "rate": rate}]);
        self.shared("taxCodes", &json!({"code": format!("VAT{rate}"), "name": "VAT", "components": components}))
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
            "batch" => self.request_at(dialect, method, &format!("batch{path}")),
            "reports" => self.request_at(dialect, method, &format!("reports{path}")),
            "events" => self.request_at(dialect, method, &format!("events{path}")),
            "dialectUsage" => self.request_at(dialect, method, &format!("dialect-usage{path}")),
            "installationLog" => {
                let own = if dialect == Dialect::A { "/a/api/InstallationLog" } else { "/b/api/installation-log" };
                super::server::authorised(Request::new(method, &format!("{own}{path}")), &self.token)
            }
            "sessions" => {
                let own = if dialect == Dialect::A { "/a/api/Users/me/sessions" } else { "/b/api/auth/me/sessions" };
                super::server::authorised(Request::new(method, &format!("{own}{path}")), &self.token)
            }
            "profile" => {
                let own = if dialect == Dialect::A { "/a/api/Users/me" } else { "/b/api/auth/me" };
                super::server::authorised(Request::new(method, &format!("{own}{path}")), &self.token)
            }
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
