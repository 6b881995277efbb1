//! How far somebody's entries may go: the same for every kind of document, and for everything that posts.

use crate::harness::books::Line;
use crate::harness::server::{Company, DIALECTS, Said};
use crate::harness::shop::{cents, id, shown_cents};
use crate::harness::{Dialect, Server, on_both_engines};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU32, Ordering};

const PASSWORD: &str = "a clerk with a password";

/// A company, its owner, and a clerk who may do everything with documents, up to a limit.
struct Office<'s> {
    owner: Company<'s>,
    clerk: Company<'s>,
    set: Value,
}

impl<'s> Office<'s> {
    fn open(server: &'s Server) -> Self {
        static OPENED: AtomicU32 = AtomicU32::new(0);
        let owner = server.company_like(json!({
            "name": "An office", "baseCurrency": "EUR", "settings": {"negativeStock": "allow"}
        }));
        let catalog = owner.ask(Dialect::B, "GET", "permissions", "/catalog", None).expect(200).data;
        let of_people = |noun: &str| matches!(noun, "business" | "user" | "permission" | "apiKey" | "dialectUsage");
        let offered = catalog["items"].as_array().unwrap().iter().filter_map(|offer| {
            let keys: Vec<&str> = offer["permissions"].as_array()?.iter().filter_map(Value::as_str).collect();
            let noun = keys.first()?.split('.').next()?;
            let actions: Vec<&str> = keys.iter().filter_map(|key| Some(key.split_once('.')?.1)).collect();
            (!of_people(noun)).then(|| json!({"resource": noun, "actions": actions}))
        });
        let body = json!({"name": "Clerk", "grants": offered.collect::<Vec<_>>()});
        let set = owner.ask(Dialect::B, "POST", "permissions", "", Some(&body)).expect(201).data;
        let email = format!("clerk-{}-{}@example.test", std::process::id(), OPENED.fetch_add(1, Ordering::Relaxed));
        let words =
            ["user", "add", "--email", &email, "--password-stdin", "--business", &owner.id, "--role", "bookkeeper"];
        let added = server.command(&words, PASSWORD);
        assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
        let mut user =
            owner.ask(Dialect::B, "GET", "users", &format!("?q={email}"), None).expect(200).data["items"][0].clone();
        user["memberships"][0]["permissionId"] = set["id"].clone();
        let path = format!("/{}", id(&user));
        owner.ask(Dialect::B, "PUT", "users", &path, Some(&user)).expect(200);
        let clerk = Company { token: server.login(&email, PASSWORD), ..owner.clone() };
        Self { owner, clerk, set }
    }

    /// From now on the clerk goes so far.
    fn limit(&self, limits: Value) {
        let body = json!({"name": "Clerk", "grants": self.set["grants"], "limits": limits});
        let path = format!("/{}", id(&self.set));
        self.owner.ask(Dialect::B, "PUT", "permissions", &path, Some(&body)).expect(200);
    }

    fn limit_amount(&self, cents: i64) {
        self.limit(json!({"maxDocumentAmount": shown_cents(cents)}));
    }

    /// What the entries of a document that was just posted move.
    fn moved(&self, document: &Value) -> i64 {
        let entries = self.owner.entries_of(id(document));
        let own = entries.iter().filter(|entry| entry["kind"] != "autoReversal");
        own.flat_map(|entry| entry["lines"].as_array().unwrap()).map(|line| cents(&line["debit"])).sum()
    }

    fn rate(&self, currency: &str, date: &str, rate: &str) {
        let body = json!({"currency": currency, "date": date, "rate": rate});
        self.owner.ask(Dialect::B, "POST", "exchangeRates", "", Some(&body)).expect(201);
    }

    fn journal(&self, lines: &[Line<'_>]) -> Value {
        self.owner.journal("2026-11-02", lines)
    }
}

/// Refused by the limit, and it says which, what it is and what was moved.
fn refused(said: &Said, what: &str) {
    assert_eq!((said.status, said.code.as_deref()), (403, Some("forbidden")), "{what}: {}", said.answer.text);
    let why = said.errors["total"][0].as_str().unwrap_or_else(|| panic!("{what}: {}", said.answer.text));
    let told =
        why.contains("(maxDocumentAmount)") && ["moves", "takes back", "comes to"].iter().any(|it| why.contains(it));
    assert!(told, "{what}: {why}");
}

const KINDS: [&str; 13] = [
    "salesInvoices",
    "creditNotes",
    "purchaseInvoices",
    "debitNotes",
    "receipts",
    "payments",
    "journals",
    "contraEntries",
    "stockAdjustments",
    "deliveryNotes",
    "receiptNotes",
    "revaluations",
    "salesOrders",
];

/// A body of the kind that moves something, and another day of it.
fn body_of(company: &Company<'_>, kind: &str) -> Value {
    let mut body = company.example(kind);
    if kind == "deliveryNotes" {
        body["lines"][0]["itemId"] = company.goods().into();
    }
    if kind == "receiptNotes" {
        body["lines"][0]["unitPrice"] = 10.into();
    }
    if kind == "journals" {
        // It takes itself back, which is no more than it puts in.
        body["reverseOn"] = "2026-12-01".into();
    }
    body
}

fn another_day(record: &Value) -> Value {
    let mut record = record.clone();
    let date = record["date"].as_str().unwrap();
    record["date"] = format!("{}{}", &date[..8], if date.ends_with("20") { "21" } else { "20" }).into();
    record
}

on_both_engines! {
    fn every_kind_is_limited_by_what_its_entries_move(server) {
        let office = Office::open(server);
        let (owner, clerk) = (&office.owner, &office.clerk);
        let goods = json!({"date": "2026-01-02", "partyId": owner.partner(), "lines": [
            {"itemId": owner.goods(), "quantity": 10_000, "unitPrice": 7}]});
        owner.ask(Dialect::B, "POST", "purchaseInvoices", "", Some(&goods)).expect(201);
        for kind in KINDS {
            let is_order = kind == "salesOrders";
            for dialect in DIALECTS {
                let mut sample = body_of(owner, kind);
                let posted = owner.ask(dialect, "POST", kind, "", Some(&sample)).expect(201).data;
                let path = format!("/{}", id(&posted));
                let comes_to = posted.get("baseTotal").map_or(0, cents);
                let moved = if is_order { comes_to } else { office.moved(&posted) };
                let counts = Ord::max(moved, comes_to);
                assert!(moved > 1, "{kind} moves nothing: {posted}");
                if kind == "revaluations" {
                    sample = body_of(owner, kind);
                }

                office.limit_amount(counts - 1);
                let ask = |method: &str, path: &str, body: Option<&Value>| clerk.ask(dialect, method, kind, path, body);
                refused(&ask("POST", "", Some(&sample)), kind);
                refused(&ask("POST", "?dryRun=true", Some(&sample)), kind);
                let mut draft = sample.clone();
                draft["status"] = "draft".into();
                let draft = ask("POST", "", Some(&draft)).expect(201).data;
                let to_draft = format!("/{}", id(&draft));
                refused(&ask("POST", &format!("{to_draft}/post"), None), kind);
                refused(&ask("POST", &format!("{to_draft}/post?dryRun=true"), None), kind);
                let mut as_posted = draft.clone();
                as_posted["status"] = "posted".into();
                refused(&ask("PUT", &to_draft, Some(&as_posted)), kind);
                refused(&ask("PUT", &path, Some(&another_day(&posted))), kind);
                office.limit_amount(moved - 1);
                if !is_order {
                    refused(&ask("POST", &format!("{path}/void"), None), kind);
                    refused(&ask("POST", &format!("{path}/void?dryRun=true"), None), kind);
                    let mut void = posted.clone();
                    void["status"] = "void".into();
                    refused(&ask("PUT", &path, Some(&void)), kind);
                    refused(&ask("DELETE", &path, None), kind);
                }
                assert_eq!(owner.ask(dialect, "GET", kind, &path, None).expect(200).data, posted, "{kind}");

                office.limit_amount(counts);
                ask("PUT", &path, Some(&another_day(&posted))).expect(200);
                ask("POST", &format!("{path}/void"), None).expect(200);
                ask("POST", &format!("{to_draft}/post"), None).expect(200);
                ask("DELETE", &to_draft, None).expect(200);
            }
        }
        assert_eq!(owner.failed_checks(), Vec::<String>::new());
    }

    fn nothing_beside_the_total_passes_a_limit(server) {
        for dialect in DIALECTS {
            let office = Office::open(server);
            let (owner, clerk) = (&office.owner, &office.clerk);
            office.rate("USD", "2026-11-10", "0.9");
            let (party, bank, goods) = (owner.partner(), owner.account("1010"), owner.goods());
            let invoice = |price: &str| json!({"date": "2026-11-20", "partyId": party, "lines": [{"unitPrice": price}]});
            let make = |resource: &str, body: &Value| owner.ask(dialect, "POST", resource, "", Some(body)).expect(201).data;
            let large = make("salesInvoices", &invoice("5000"));
            let receipt = json!({"date": "2026-11-20", "partyId": party, "accountId": bank, "amount": 1_000});
            let money = make("receipts", &receipt);
            let other = make("salesInvoices", &invoice("5000"));
            let allocate = json!({
                "sourceId": id(&money), "targetId": id(&other), "amount": 10, "discountAmount": 4_000
            });
            let allocated = make("allocations", &allocate);
            let order = make("salesOrders", &json!({
                "date": "2026-11-20", "partyId": party, "lines": [{"itemId": owner.service(), "quantity": 1, "unitPrice": 5_000}]
            }));
            office.journal(&[("6200", "1"), ("1010", "-1")]);
            office.limit(json!({"maxDocumentAmount": 100}));
            let (before, rows) = (owner.balance("1010", ""), owner.balance("4000", ""));

            let fees = owner.account("6200");
            let dollars = |date: &str| json!({
                "date": date, "partyId": party, "currency": "USD", "exchangeRate": "0.0001",
                "lines": [{"itemId": owner.service(), "quantity": 1, "unitPrice": 500_000}]
            });
            let mut discounted = receipt.clone();
            discounted["amount"] = 10.into();
            discounted["allocations"] =
                json!([{"targetId": id(&large), "amount": 10, "discountAmount": 4_000}]);
            let mut smaller = large.clone();
            smaller["lines"][0]["unitPrice"] = "0.01".into();
            for (what, resource, path, method, body) in [
                ("a fee", "payments", String::new(), "POST", Some(json!({
                    "date": "2026-11-20", "partyId": party, "accountId": bank, "amount": 0.01,
                    "feeAmount": 10_0000, "feeAccountId": fees
                }))),
                ("stock in and out", "stockAdjustments", String::new(), "POST", Some(json!({
                    "date": "2026-11-20", "reason": "Count", "lines": [
                        {"itemId": goods, "quantityDelta": 10_0000, "unitCost": 10},
                        {"itemId": goods, "quantityDelta": -99_999}]
                }))),
                ("a rate of one's own", "salesInvoices", String::new(), "POST", Some(dollars("2026-11-20"))),
                ("... before the first rate", "salesInvoices", String::new(), "POST", Some(dollars("2026-11-01"))),
                ("... of an order", "salesOrders", String::new(), "POST", Some(dollars("2026-11-20"))),
                ("a discount", "allocations", String::new(), "POST", Some(json!({
                    "sourceId": id(&money), "targetId": id(&large), "amount": 10, "discountAmount": 4_000
                }))),
                ("a discount with the money", "receipts", String::new(), "POST", Some(discounted)),
                ("an edit to little", "salesInvoices", format!("/{}", id(&large)), "PUT", Some(smaller)),
                ("a void", "salesInvoices", format!("/{}/void", id(&large)), "POST", None),
                ("an allocation taken back", "allocations", format!("/{}", id(&allocated)), "DELETE", None),
                ("what is made of an order", "salesOrders", format!("/{}/invoices", id(&order)), "POST", Some(json!({}))),
            ] {
                refused(&clerk.ask(dialect, method, resource, &path, body.as_ref()), what);
                let rehearsal = format!("{path}?dryRun=true");
                refused(&clerk.ask(dialect, method, resource, &rehearsal, body.as_ref()), what);
            }
            assert_eq!((owner.balance("1010", ""), owner.balance("4000", "")), (before, rows), "nothing was posted");

            // What is small may be done, also beside what is large.
            let small = clerk.ask(dialect, "POST", "salesInvoices", "", Some(&invoice("95"))).expect(201).data;
            let mut changed = small.clone();
            changed["lines"][0]["unitPrice"] = 100.into();
            clerk.ask(dialect, "PUT", "salesInvoices", &format!("/{}", id(&small)), Some(&changed)).expect(200);
            let allocate = json!({"sourceId": id(&money), "targetId": id(&small), "amount": 90, "discountAmount": 10});
            let made = clerk.ask(dialect, "POST", "allocations", "", Some(&allocate)).expect(201).data;
            clerk.ask(dialect, "DELETE", "allocations", &format!("/{}", id(&made)), None).expect(200);
            clerk.ask(dialect, "POST", "salesInvoices", &format!("/{}/void", id(&small)), None).expect(200);
            let said = clerk.ask(dialect, "POST", "salesInvoices", "", Some(&invoice("101"))).expect(403);
            assert_eq!(
                said.errors["total"][0],
                "must be at most 100.00 EUR for you (maxDocumentAmount); this comes to 101.00 EUR"
            );
            assert_eq!(owner.failed_checks(), Vec::<String>::new());
        }
    }

    fn a_currency_that_is_worth_nothing_known_passes_no_limit(server) {
        for dialect in DIALECTS {
            let office = Office::open(server);
            let (owner, clerk) = (&office.owner, &office.clerk);
            let party = owner.partner();
            let body = |currency: &str| json!({
                "date": "2026-11-20", "partyId": party, "currency": currency, "exchangeRate": "0.0001",
                "lines": [{"itemId": owner.service(), "quantity": 1, "unitPrice": 50}]
            });
            office.limit_amount(10_000);
            for kind in ["salesInvoices", "salesOrders"] {
                for path in ["", "?dryRun=true"] {
                    let said = clerk.ask(dialect, "POST", kind, path, Some(&body("GBP"))).expect(403);
                    let why = said.errors["currency"][0].as_str().unwrap_or_else(|| panic!("{}", said.answer.text));
                    assert!(why.contains("needs an exchange rate") && why.contains("GBP") && why.contains("(maxDocumentAmount)"), "{why}");
                }
                // Who has no limit has the rate that they give; so has the clerk once the company has one.
                owner.ask(dialect, "POST", kind, "", Some(&body("GBP"))).expect(201);
            }
            office.rate("GBP", "2026-11-10", "1.2");
            clerk.ask(dialect, "POST", "salesInvoices", "", Some(&body("GBP"))).expect(201);
            let mut large = body("GBP");
            large["lines"][0]["unitPrice"] = 90.into();
            refused(&clerk.ask(dialect, "POST", "salesInvoices", "", Some(&large)), "108 EUR");
        }
    }

    fn what_is_in_the_companys_currency_is_judged_in_it(server) {
        for dialect in DIALECTS {
            let office = Office::open(server);
            let (bank, fees) = (office.owner.account("1010"), office.owner.account("6200"));
            // The journal is in pounds, and all of its lines are in euros.
            let journal = |amount: &str| json!({
                "date": "2026-11-20", "currency": "GBP", "exchangeRate": "1.2", "lines": [
                    {"accountId": fees, "debit": amount, "currency": "EUR"},
                    {"accountId": bank, "credit": amount, "currency": "EUR"}]
            });
            office.rate("GBP", "2026-11-10", "1.2");
            office.limit_amount(10_000);
            let said = office.clerk.ask(dialect, "POST", "journals", "", Some(&journal("90"))).expect(201);
            assert_eq!(cents(&said.data["totalDebit"]), 90_00);
            refused(&office.clerk.ask(dialect, "POST", "journals", "", Some(&journal("101"))), "101 EUR");
        }
    }

    fn no_entry_goes_further_back_than_its_author_may(server) {
        for dialect in DIALECTS {
            let office = Office::open(server);
            let (owner, clerk) = (&office.owner, &office.clerk);
            let (party, bank) = (owner.partner(), owner.account("1010"));
            let make = |resource: &str, body: Value| owner.ask(dialect, "POST", resource, "", Some(&body)).expect(201).data;
            let invoice =
                make("salesInvoices", json!({"date": "2020-01-02", "partyId": party, "lines": [{"unitPrice": 100}]}));
            let money =
                make("receipts", json!({"date": "2020-01-02", "partyId": party, "accountId": bank, "amount": 90}));
            office.limit(json!({"backdateDays": 5}));
            let allocate = json!({"sourceId": id(&money), "targetId": id(&invoice), "amount": 90, "discountAmount": 10, "date": "2020-01-03"});
            let mut moved = invoice.clone();
            moved["dueDate"] = Value::Null;
            moved["date"] = clerk.ask(dialect, "GET", "salesInvoices", &format!("/{}", id(&invoice)), None)
                .expect(200).data["createdAt"].as_str().unwrap()[..10].into();
            for (resource, path, method, body) in [
                ("allocations", String::new(), "POST", Some(allocate)),
                ("salesInvoices", format!("/{}", id(&invoice)), "PUT", Some(moved)),
                ("salesInvoices", format!("/{}/void", id(&invoice)), "POST", None),
            ] {
                let said = clerk.ask(dialect, method, resource, &path, body.as_ref()).expect(403);
                assert!(said.errors["date"][0].as_str().unwrap().contains("(backdateDays)"), "{}", said.answer.text);
            }
        }
    }

    fn a_rate_of_ones_own_widens_no_limit(server) {
        let office = Office::open(server);
        let (owner, clerk) = (&office.owner, &office.clerk);
        let rate = |by: &Company<'_>, dialect: Dialect, date: &str, rate: &str| {
            by.ask(dialect, "POST", "exchangeRates", "", Some(&json!({"currency": "USD", "date": date, "rate": rate})))
        };
        let body = |amount: i64| json!({
            "date": "2026-11-12", "partyId": owner.partner(), "currency": "USD",
            "lines": [{"description": "Work", "quantity": 1, "unitPrice": amount}]
        });
        let post = |dialect: Dialect, amount: i64| clerk.ask(dialect, "POST", "salesInvoices", "?dryRun=true", Some(&body(amount)));
        office.limit_amount(10_000);
        // Nobody else says what a dollar is worth.
        rate(clerk, Dialect::A, "2026-11-11", "0.0001").expect(201);
        let said = post(Dialect::B, 50).expect(403);
        assert!(said.errors["currency"][0].as_str().unwrap().contains("that somebody else made"), "{}", said.answer.text);
        let made = rate(owner, Dialect::B, "2026-11-01", "0.9").expect(201);
        for dialect in DIALECTS {
            refused(&post(dialect, 112), "a rate of 0.0001 beside one of 0.9");
            post(dialect, 111).expect(201);
            // What others made is not taken away, nor made another.
            let path = format!("/{}", id(&made.data));
            let mut smaller = made.data.clone();
            smaller["rate"] = json!(0.0001);
            for said in [clerk.ask(dialect, "PUT", "exchangeRates", &path, Some(&smaller)), clerk.ask(dialect, "DELETE", "exchangeRates", &path, None)] {
                let refused = said.expect(403);
                assert!(refused.errors.get("rate").is_some(), "{}", refused.answer.text);
            }
        }
        // One's own that is larger counts as well.
        let own = rate(clerk, Dialect::B, "2026-11-12", "2").expect(201);
        refused(&post(Dialect::A, 51), "a rate of 2");
        post(Dialect::A, 50).expect(201);
        let path = format!("/{}", id(&own.data));
        let mut changed = own.data.clone();
        changed["rate"] = json!(0.5);
        clerk.ask(Dialect::A, "PUT", "exchangeRates", &path, Some(&changed)).expect(200);
        refused(&post(Dialect::A, 112), "a rate of 0.5");
        clerk.ask(Dialect::B, "DELETE", "exchangeRates", &path, None).expect(200);
        // Without a limit, nobody is held against anything.
        office.limit(json!({}));
        post(Dialect::B, 1_000_000).expect(201);
    }
}
