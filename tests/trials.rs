//! Trials: companies that are told what today is, copied without their people, and emptied; and real ones, which are not.

use crate::access::member;
use crate::harness::books::{behind_the_back, literal};
use crate::harness::examples::operations;
use crate::harness::server::{Company, DIALECTS, Said};
use crate::harness::shop::{Shop, cents, id};
use crate::harness::{Dialect, Server, on_both_engines};
use ledger_core::resource::Scope;
use ledger_core::resource::operation::Verb;
use ledger_core::resource::registry::registry;
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn trial<'s>(server: &'s Server, name: &str) -> Company<'s> {
    server.company_like(json!({"name": name, "baseCurrency": "EUR", "isTrial": true}))
}

impl Company<'_> {
    fn itself(&self, dialect: Dialect, method: &str, action: &str, body: Option<&Value>) -> Said {
        self.ask(dialect, method, "businesses", &format!("/{}{action}", self.id), body)
    }

    /// Tells a trial what today is.
    pub(crate) fn told(&self, dialect: Dialect, today: &str) -> Value {
        self.itself(dialect, "POST", "/clock", Some(&json!({"today": today}))).expect(200).data
    }

    fn report(&self, dialect: Dialect, path: &str) -> Value {
        let mut said = self.say(dialect, self.request_at(dialect, "GET", &format!("reports/{path}"))).expect(200).data;
        assert!(!said["generatedAt"].as_str().unwrap().starts_with("203"), "a report was made when it was made");
        said["generatedAt"].take();
        said
    }

    fn count(&self, resource: &str, query: &str) -> u64 {
        let found = self.ask(Dialect::B, "GET", resource, query, None).expect(200).data;
        found["pagination"]["totalCount"].as_u64().unwrap()
    }

    fn codes(&self, resource: &str) -> BTreeSet<(String, String)> {
        let text = |one: &Value, name: &str| one[name].as_str().unwrap().to_owned();
        self.all(resource).iter().map(|one| (text(one, "code"), text(one, "name"))).collect()
    }

    fn ids(&self, resource: &str) -> BTreeSet<String> {
        self.all(resource).iter().map(|one| id(one).to_owned()).collect()
    }

    fn all(&self, resource: &str) -> Vec<Value> {
        let found = self.ask(Dialect::B, "GET", resource, "?pageSize=500", None).expect(200).data;
        found["items"].as_array().unwrap().clone()
    }

    /// The company that another became, or that was copied from it.
    fn like(&self, made: &Value) -> Self {
        Self { id: id(made).to_owned(), ..self.clone() }
    }
}

/// All that can be read of a company, in both dialects: lists, records, histories, reports, the feed, the log.
fn everything(company: &Company<'_>) -> Vec<(String, String)> {
    let mut read = Vec::new();
    let mut ask = |what: String, request| {
        let answer = company.server.send(&request);
        assert!(matches!(answer.status, 200 | 400 | 404), "{what}: {} {}", answer.status, answer.text);
        read.push((what, answer.text));
    };
    for dialect in DIALECTS {
        for operations in registry().iter().filter(|one| one.scope == Scope::Business) {
            let stem = operations.key.stem();
            if operations.verbs().any(|verb| verb == Verb::List) {
                ask(stem.to_owned(), company.request(dialect, "GET", stem, "?pageSize=500"));
                for record in company.all(stem) {
                    let Some(id) = record["id"].as_str() else { continue };
                    ask(format!("one of {stem}"), company.request(dialect, "GET", stem, &format!("/{id}")));
                    ask(format!("history of {stem}"), company.request(dialect, "GET", stem, &format!("/{id}/history")));
                }
            }
        }
        ask("itself".into(), company.request(dialect, "GET", "businesses", &format!("/{}", company.id)));
        ask("events".into(), company.request_at(dialect, "GET", "events?limit=500"));
        let reports = company.say(dialect, company.request_at(dialect, "GET", "reports")).expect(200).data;
        for report in reports["items"].as_array().unwrap() {
            let name = report["name"].as_str().unwrap();
            ask(format!("report {name}"), company.request_at(dialect, "GET", &format!("reports/{name}")));
            ask(format!("csv of {name}"), company.request_at(dialect, "GET", &format!("reports/{name}?format=csv")));
        }
    }
    read
}

on_both_engines! {
    fn a_trial_goes_by_what_it_is_told(server) {
        for dialect in DIALECTS {
            let company = trial(server, "Clockwork");
            assert_eq!(company.itself(dialect, "GET", "", None).expect(200).data["today"], Value::Null);
            let set = company.told(dialect, "2031-01-10");
            assert_eq!((&set["isTrial"], &set["today"], &set["version"]), (&json!(true), &json!("2031-01-10"), &json!(2)));
            // It is that day already.
            assert_eq!(company.told(dialect, "2031-01-10")["version"], 2);
            let customer = company.party(json!({"name": "Customer"}));
            let shop = Shop { customer: id(&customer).to_owned(), supplier: String::new(), dialect, company: company.clone() };
            let invoice = shop.make("salesInvoices", &json!({
                "date": "2031-01-10", "dueDate": "2031-02-09", "partyId": shop.customer, "lines": [{"unitPrice": 100}]
            }));
            let path = format!("/{}", id(&invoice));
            let late = || {
                let one = shop.get("salesInvoices", &invoice);
                let party = shop.get("parties", &customer)["overdueAmount"].to_string();
                (shop.company.count("salesInvoices", "?status=overdue"), one["daysOverdue"].as_i64().unwrap(), party)
            };
            let tagged = |tag: Option<&str>| {
                let request = company.request(dialect, "GET", "salesInvoices", &path);
                let request = match tag {
                    Some(tag) => request.header("If-None-Match", tag),
                    None => request,
                };
                server.send(&request)
            };
            for _ in 0..2 {
                assert_eq!(late(), (0, 0, "0.00".into()));
            }
            let tag = tagged(None).header("etag").unwrap().to_owned();
            assert_eq!(tagged(Some(&tag)).status, 304);
            company.told(dialect, "2031-03-01");
            for _ in 0..2 {
                assert_eq!(late(), (1, 20, "100.00".into()));
            }
            assert_eq!(tagged(Some(&tag)).status, 200, "what is overdue is another answer");
            // Reports end with the day, and ageing goes by it.
            for (bare, said) in [
                ("ar-aging", "ar-aging?asOf=2031-03-01"),
                ("bs", "bs?asOf=2031-03-01"),
                ("trial-balance?from=2031-01-01", "trial-balance?from=2031-01-01&to=2031-03-01"),
            ] {
                assert_eq!(company.report(dialect, bare)["rows"], company.report(dialect, said)["rows"], "{bare}");
            }
            let aged = |day: &str| company.report(dialect, &format!("ar-aging?asOf={day}"))["rows"].clone();
            assert_ne!(aged("2031-03-01"), aged("2031-02-01"));
            // A date that nobody gave is today's.
            let credited = shop.act("POST", "salesInvoices", &invoice, "credit-notes", None).expect(201).data;
            assert_eq!(credited["date"], "2031-03-01");
            shop.ask("DELETE", "creditNotes", &format!("/{}", id(&credited)), None).expect(200);
            // Nothing is void on a day that is to come.
            let void = |day: &str| shop.act("POST", "salesInvoices", &invoice, "void", Some(&json!({"date": day, "reason": "Twice"})));
            assert_eq!(void("2031-03-02").expect(400).fields(), ["date"]);
            // It goes back, and what is of a later day stays where it is.
            company.told(dialect, "2030-12-31");
            assert_eq!(late(), (0, 0, "0.00".into()));
            let stays = shop.get("salesInvoices", &invoice);
            assert_eq!((&stays["date"], &stays["number"]), (&invoice["date"], &invoice["number"]));
            assert_eq!(void("2031-03-01").expect(400).fields(), ["date"], "that day is to come again");
            assert_eq!(company.report(dialect, "ar-aging")["rows"], aged("2030-12-31"));
            // The log tells when it was done in truth.
            let log = company.ask(dialect, "GET", "auditLog", "?pageSize=500", None).expect(200).data;
            let log = log["items"].as_array().unwrap();
            assert!(log.iter().all(|one| !one["at"].as_str().unwrap().starts_with("203")), "{log:?}");
            assert!(!stays["createdAt"].as_str().unwrap().starts_with("203"));
            // A key's end, and a session, go by the true clock: the caller is still here after all those years.
            let given = company.itself(dialect, "DELETE", "/clock", None).expect(200).data;
            assert_eq!((&given["today"], &given["isTrial"]), (&Value::Null, &json!(true)));
            assert_eq!(company.failed_checks(), Vec::<String>::new());
        }
    }

    fn a_real_company_stays_real_and_a_trial_a_trial(server) {
        for dialect in DIALECTS {
            let (real, tried) = (server.company(), trial(server, "Tried"));
            assert_eq!(real.itself(dialect, "GET", "", None).expect(200).data["isTrial"], false);
            for (method, action, body) in [
                ("POST", "/clock", Some(json!({"today": "2031-01-10"}))),
                ("DELETE", "/clock", None),
                ("POST", "/empty", Some(json!({"name": "Test & Co"}))),
            ] {
                let said = real.itself(dialect, method, action, body.as_ref()).expect(409);
                assert_eq!(said.code.as_deref(), Some("not_a_trial"), "{method} {action}");
                assert!(said.title.contains("Test & Co"), "{}", said.title);
            }
            assert_eq!(tried.itself(dialect, "POST", "/clock", None).expect(400).fields(), ["today"]);
            assert_eq!(tried.itself(dialect, "POST", "/clock", Some(&json!({"today": "2031-02-30"}))).expect(400).fields(), ["today"]);
            let body = |is_trial: Value| {
                let mut body = json!({"name": "Test & Co", "baseCurrency": "EUR"});
                if !is_trial.is_null() {
                    body["isTrial"] = is_trial;
                }
                body
            };
            for (company, other) in [(&real, true), (&tried, false)] {
                let said = company.itself(dialect, "PUT", "", Some(&body(json!(other)))).expect(400);
                assert_eq!(said.fields(), ["isTrial"]);
                for same in [json!(!other), Value::Null] {
                    let kept = company.itself(dialect, "PUT", "", Some(&body(same))).expect(200).data;
                    assert_eq!(kept["isTrial"], !other);
                }
            }
            // What was told stays where a body says nothing of it.
            tried.told(dialect, "2031-01-10");
            let read = tried.itself(dialect, "GET", "", None).expect(200).data;
            let mut renamed = read.clone();
            renamed["name"] = "Tried again".into();
            assert_eq!(tried.itself(dialect, "PUT", "", Some(&renamed)).expect(200).data["today"], "2031-01-10");
            for (company, is_trial) in [(&real, false), (&tried, true)] {
                let listed = |flag: bool| {
                    let query = format!("?pageSize=500&sort=-createdAt&isTrial={flag}");
                    let found = company.ask(dialect, "GET", "businesses", &query, None).expect(200).data;
                    found["items"].as_array().unwrap().iter().any(|one| one["id"] == company.id)
                };
                assert_eq!((listed(is_trial), listed(!is_trial)), (true, false));
            }
            // Who may not change the company does not tell it the time.
            let auditor = member(&tried, "auditor");
            auditor.itself(dialect, "POST", "/clock", Some(&json!({"today": "2031-01-11"}))).expect(403);
        }
        // Not even by hand: the database itself refuses it.
        let (real, tried) = (server.company(), trial(server, "By hand"));
        for (company, says) in [(&real, "is_trial = true"), (&tried, "is_trial = false"), (&real, "told_today = 22000")] {
            let statement = format!("UPDATE businesses SET {says} WHERE id = {}", literal(server.engine, &company.id));
            behind_the_back(server, &[statement]).unwrap_err();
        }
    }

    fn what_is_emptied_rests_and_another_stands_in_its_place(server) {
        for (turn, dialect) in DIALECTS.into_iter().enumerate() {
            let elsewhere = format!("shop-{turn}-{:?}", server.engine);
            let company = server.company_like(json!({
                "name": "Full", "baseCurrency": "EUR", "isTrial": true, "externalId": elsewhere, "settings": {"requireIfMatch": false, "negativeStock": "allow"}
            }));
            for resource in ["salesInvoices", "journals", "stockAdjustments", "exchangeRates", "paymentTerms", "fiscalYears"] {
                company.make(resource);
            }
            company.told(dialect, "2031-01-10");
            let auditor = member(&company, "auditor");
            assert_eq!(company.itself(dialect, "POST", "/empty", Some(&json!({"name": "Fill"}))).expect(400).fields(), ["name"]);
            assert_eq!(company.itself(dialect, "POST", "/empty", None).expect(400).fields(), ["name"]);
            let confirmed = json!({"name": "Full"});
            auditor.itself(dialect, "POST", "/empty", Some(&confirmed)).expect(403);
            let entries = company.count("entries", "");
            // An answer that is kept for a repeat is about another company, and nothing is wrong with that.
            let empties = || company.request(dialect, "POST", "businesses", &format!("/{}/empty", company.id)).json(&confirmed);
            let key = format!("empties-{turn}-{:?}", server.engine);
            let made = company.say(dialect, empties().header("Idempotency-Key", &key)).expect(201).data;
            assert_eq!(company.say(dialect, empties().header("Idempotency-Key", &key)).expect(201).data, made);
            let next = company.like(&made);
            assert_ne!(next.id, company.id);
            let same = ["name", "isTrial", "today", "settings", "baseCurrency", "chartTemplate"];
            let old = company.itself(dialect, "GET", "", None).expect(200).data;
            for member in same {
                assert_eq!(made[member], old[member], "{member}");
            }
            assert_eq!((&made["externalId"], &old["externalId"]), (&json!(elsewhere), &Value::Null));
            assert_eq!((&made["status"], &old["status"]), (&json!("active"), &json!("archived")));
            for resource in ["accounts", "taxCodes"] {
                assert_eq!(next.codes(resource), company.codes(resource), "{resource}");
                assert!(next.ids(resource).is_disjoint(&company.ids(resource)), "{resource}");
            }
            for resource in ["paymentTerms", "numberSeries", "fiscalYears", "exchangeRates", "permissions"] {
                assert_eq!(next.count(resource, ""), company.count(resource, ""), "{resource}");
            }
            let roles = |one: &Value| one["systemAccounts"].as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
            assert_eq!(roles(&made), roles(&old));
            for resource in ["parties", "items", "entries", "salesInvoices", "journals", "stockAdjustments", "locks", "webhooks"] {
                assert_eq!(next.count(resource, ""), 0, "{resource}");
            }
            // Nothing left the ledger of the old one, which takes nothing more; its log says what became of it.
            assert_eq!(company.count("entries", ""), entries);
            company.ask(dialect, "POST", "parties", "", Some(&json!({"name": "Late", "isCustomer": true}))).expect(409);
            let log = company.all("auditLog");
            let rests = |one: &&Value| one["resource"] == "businesses" && one["after"]["status"] == "archived";
            assert_eq!(log.iter().filter(rests).count(), 1);
            assert_eq!(next.all("auditLog").iter().filter(|one| one["action"] == "created").count(), 1);
            let again = company.itself(dialect, "POST", "/empty", Some(&confirmed)).expect(409);
            assert_eq!(again.code.as_deref(), Some("invalid_state"));
            // It rests for good: nobody has two of it by emptying one.
            let mut awake = old.clone();
            awake["status"] = json!("active");
            assert_eq!(company.itself(dialect, "PUT", "", Some(&awake)).expect(400).fields(), ["status"]);
            company.itself(dialect, "POST", "/clock", Some(&json!({"today": "2031-02-01"}))).expect(409);
            // Whoever was there is there again, and numbers begin anew.
            assert_eq!(auditor.like(&made).itself(dialect, "GET", "", None).expect(200).data["role"], "auditor");
            let (first, then) = (next.make("salesInvoices"), company.all("salesInvoices"));
            assert_eq!(first["number"], then[0]["number"]);
            for one in [&company, &next] {
                assert_eq!(one.failed_checks(), Vec::<String>::new());
            }
        }
    }

    fn a_copy_knows_nobody(server) {
        // What nobody else is called.
        const MARKS: [&str; 20] = [
            "Quetzalcoatl", "qx-mail", "5550199", "TAX-QX", "REG-QX", "GB33BUKB20201555555555", "Quillfeather", "Quagmire Lane", "quokka", "PEPPOL-QX",
            "NOTE-QX", "LABEL-QX", "ELSEWHERE-QX", "CODE-QX", "BANK-QX", "DE89370400440532013000", "ABOUT-QX", "OWN-QX", "SOURCE-QX", "NARRATION-QX",
        ];
        for dialect in DIALECTS {
            let company = server.company_like(json!({
                "name": "Source", "baseCurrency": "EUR", "legalName": "OWN-QX GmbH", "taxNumber": "OWN-QX", "email": "own-qx@qx-mail.example",
                "address": {"line1": "Quagmire Lane 9"}, "tags": ["LABEL-QX"], "settings": {"creditLimitPolicy": "block", "negativeStock": "allow"}
            }));
            let tax = company.tax("20");
            let term = id(&company.make("paymentTerms")).to_owned();
            let party = company.party(json!({
                "name": "Quetzalcoatl", "code": "CODE-QX", "isCustomer": true, "taxNumber": "TAX-QX", "registrationNumber": "REG-QX",
                "email": "one@qx-mail.example", "phone": "+1 5550199", "website": "https://quokka.example",
                "billingAddress": {"line1": "Quagmire Lane 1", "city": "Quokka"}, "shippingAddress": {"line1": "Quagmire Lane 2"},
                "contacts": [{"name": "Quillfeather", "email": "two@qx-mail.example"}], "bankDetails": {"iban": "GB33BUKB20201555555555"},
                "notes": "NOTE-QX", "peppolId": "PEPPOL-QX", "externalId": format!("ELSEWHERE-QX-{dialect:?}"), "tags": ["LABEL-QX"],
                "paymentTermId": term, "salesTaxCodeId": tax, "creditLimit": 500
            }));
            company.party(json!({"name": "Quillfeather", "isCustomer": false, "isSupplier": true}));
            let group = company.ask(dialect, "GET", "accounts", "?code=1010", None).expect(200).data["items"][0]["parentId"].clone();
            let bank = json!({
                "code": "1012", "name": "BANK-QX Quillfeather", "type": "bank", "parentId": group, "description": "ABOUT-QX",
                "bankDetails": {"iban": "DE89370400440532013000"}, "tags": ["LABEL-QX"]
            });
            company.ask(dialect, "POST", "accounts", "", Some(&bank)).expect(201);
            let item = json!({
                "name": "Anchor", "code": "ANCHOR", "type": "stock", "description": "ABOUT-QX", "purchaseDescription": "ABOUT-QX", "tags": ["LABEL-QX"],
                "salePrice": 12, "salesTaxCodeId": tax, "inventoryAccountId": company.account("1300"), "externalId": format!("ELSEWHERE-QX-{dialect:?}")
            });
            company.ask(dialect, "POST", "items", "", Some(&item)).expect(201);
            let rate = json!({"currency": "USD", "date": "2026-01-01", "rate": "0.9", "source": "SOURCE-QX"});
            company.ask(dialect, "POST", "exchangeRates", "", Some(&rate)).expect(201);
            let mut invoice = company.example("salesInvoices");
            (invoice["partyId"], invoice["narration"], invoice["reference"]) = (party["id"].clone(), "NARRATION-QX".into(), "NARRATION-QX".into());
            company.ask(dialect, "POST", "salesInvoices", "", Some(&invoice)).expect(201);
            // The marks are where they are looked for: else nothing would be proved.
            let known = everything(&company);
            for mark in MARKS {
                assert!(known.iter().any(|(_, text)| text.contains(mark)), "{mark} is nowhere in the source");
            }

            let state = |one: &Company<'_>| (one.itself(Dialect::B, "GET", "", None).data, one.count("auditLog", ""), one.count("entries", ""));
            let (owner, accountant) = (member(&company, "owner"), member(&company, "accountant"));
            let before = state(&company);
            assert_eq!(company.itself(dialect, "POST", "/copy", None).expect(400).fields(), ["name"]);
            let named = json!({"name": "A copy"});
            // Who owns it and makes no companies does not make one this way.
            let owner = owner.itself(dialect, "POST", "/copy", Some(&named)).expect(403);
            assert!(owner.title.contains("business.create"), "{}", owner.title);
            let accountant = accountant.itself(dialect, "POST", "/copy", Some(&named)).expect(403);
            assert_eq!(accountant.code.as_deref(), Some("forbidden"));
            let made = company.itself(dialect, "POST", "/copy", Some(&named)).expect(201).data;
            let copy = company.like(&made);
            assert_eq!(state(&company), before, "what is copied is only read");
            assert_eq!((&made["isTrial"], &made["name"], &made["role"]), (&json!(true), &json!("A copy"), &json!("owner")));
            assert_eq!(made["settings"], before.0["settings"]);

            for (what, text) in everything(&copy) {
                for mark in MARKS {
                    assert!(!text.to_lowercase().contains(&mark.to_lowercase()), "{what} tells {mark}: {text}");
                }
                // Where the caller is a member says who they are; the company that it was made of is named nowhere else.
                assert!(what.contains("users") || !text.contains(&company.id), "{what}: {text}");
            }
            for resource in ["accounts", "taxCodes", "paymentTerms", "numberSeries", "fiscalYears", "exchangeRates", "items", "parties"] {
                assert_eq!(copy.count(resource, ""), company.count(resource, ""), "{resource}");
                assert!(copy.ids(resource).is_disjoint(&company.ids(resource)), "{resource}");
            }
            assert_eq!(copy.codes("taxCodes"), company.codes("taxCodes"));
            let codes = |one: &Company<'_>| one.codes("accounts").into_iter().map(|(code, _)| code).collect::<Vec<_>>();
            assert_eq!(codes(&copy), codes(&company));
            for resource in ["entries", "salesInvoices", "apiKeys", "webhooks", "locks"] {
                assert_eq!(copy.count(resource, ""), 0, "{resource}");
            }
            assert_eq!(copy.count("users", ""), 1);
            // All that its records name is its own: a sale goes through it, by the terms that the party had.
            let parties = copy.all("parties");
            let names: BTreeSet<&str> = parties.iter().map(|one| one["name"].as_str().unwrap()).collect();
            assert!(names.iter().any(|name| name.starts_with("Customer ")) && names.iter().any(|name| name.starts_with("Supplier ")), "{names:?}");
            let party = parties.iter().find(|one| !one["creditLimit"].is_null()).unwrap();
            assert!(copy.ids("paymentTerms").contains(party["paymentTermId"].as_str().unwrap()));
            let item = copy.ask(dialect, "GET", "items", "?code=ANCHOR", None).expect(200).data["items"][0].clone();
            assert_eq!(item["inventoryAccountId"], copy.account("1300"));
            let sale = json!({"date": "2026-11-20", "partyId": party["id"], "lines": [{"itemId": item["id"], "quantity": 2}]});
            let sold = copy.ask(dialect, "POST", "salesInvoices", "", Some(&sale)).expect(201).data;
            assert_eq!(sold["total"].to_string(), "28.80");
            for one in [&company, &copy] {
                assert_eq!(one.failed_checks(), Vec::<String>::new());
            }
        }
    }
}

/// What a company comes to on a day, by the codes of its accounts.
fn tried(company: &Company<'_>, dialect: Dialect, day: &str) -> Vec<(String, [i64; 2])> {
    let report = company.report(dialect, &format!("trial-balance?to={day}"));
    let rows = report["rows"].as_array().unwrap().iter().filter(|row| row["type"] == "account");
    let figure = |row: &Value| [4, 5].map(|column: usize| cents(&row["values"][column]));
    let code = |row: &Value| row["key"].as_str().unwrap().to_owned();
    let mut found: Vec<_> = rows.map(|row| (code(row), figure(row))).filter(|(_, sums)| *sums != [0, 0]).collect();
    found.sort();
    found
}

on_both_engines! {
    fn a_copy_says_each_item_to_the_cent_or_there_is_none(server) {
        for dialect in DIALECTS {
            let shop = Shop::with(server, dialect, json!({"negativeStock": "forbid"}));
            // What is too much for one is too little for the other: in the sum nobody would see it.
            for rest in ["0.02", "0.04"] {
                let item = shop.item(json!({"name": format!("Screws at {rest}")}));
                for (quantity, cost) in [("39999", "0.0125"), ("1", rest)] {
                    let line = json!({"itemId": item, "quantityDelta": quantity, "unitCost": cost});
                    shop.make("stockAdjustments", &json!({"date": "2026-03-01", "accountId": shop.company.account("3900"), "lines": [line]}));
                }
            }
            let body = json!({"name": "Screws", "openingOn": "2026-11-30"});
            let refused = shop.company.itself(dialect, "POST", "/copy", Some(&body)).expect(409);
            assert!(refused.title.contains("single items"), "{}", refused.title);
        }
    }

    fn a_copy_begins_with_what_the_company_comes_to(server) {
        for dialect in DIALECTS {
            let shop = Shop::with(server, dialect, json!({"negativeStock": "forbid"}));
            let company = shop.company.clone();
            let vat = shop.vat("20");
            let goods = shop.item(json!({"name": "Goods", "salePrice": 30, "purchasePrice": 7, "salesTaxCodeId": vat, "purchaseTaxCodeId": vat}));
            shop.make("exchangeRates", &json!({"currency": "USD", "date": "2025-01-01", "rate": "0.9137"}));
            shop.make("journals", &company.journal_body("2025-02-01", &[("1010", "5000"), ("3000", "-5000")]));
            shop.purchase("2025-03-01", json!([{"itemId": goods, "quantity": 7, "unitPrice": "7.13"}]));
            shop.sale("2025-04-01", json!([{"itemId": goods, "quantity": 2, "unitPrice": 30}]));
            // What was earned in a year before stands with the retained earnings.
            let second = shop.sale("2026-05-01", json!([{"itemId": goods, "quantity": 1, "unitPrice": "33.33"}]));
            let half = shop.receipt("2026-05-02", "20");
            let receipt = shop.make("receipts", &half);
            shop.act("POST", "receipts", &receipt, "allocations", Some(&json!({"targetId": id(&second), "amount": 20}))).expect(201);
            let abroad = json!({"date": "2026-06-01", "partyId": shop.customer, "currency": "USD", "lines": [{"unitPrice": "77.77", "quantity": 3}]});
            shop.make("salesInvoices", &abroad);
            shop.make("payments", &shop.payment("2026-06-02", "11.11"));
            let day = "2026-11-30";
            let named = |name: &str| format!("{name} {}", company.id);
            let copied = |name: &str, day: &str| {
                company.itself(dialect, "POST", "/copy", Some(&json!({"name": named(name), "openingOn": day})))
            };
            let count = |name: &str| company.count("businesses", &format!("?q={}", named(name).replace(' ', "%20")));
            assert_eq!(copied("Opened", "2026-06-01").expect(400).fields(), ["openingOn"]);
            let made = copied("Opened", day).expect(201).data;
            let copy = company.like(&made);
            let there = tried(&company, dialect, day);
            assert!(there.len() >= 9, "{there:?}");
            assert_eq!(tried(&copy, dialect, day), there);
            // A day before there was nothing, and each party owes what it owed.
            assert_eq!(tried(&copy, dialect, "2026-11-29"), []);
            let owed = |one: &Company<'_>| {
                let mut owed: Vec<String> = one.all("parties").iter().map(|party| format!("{} {} {}", party["receivableBalance"], party["payableBalance"], party["balances"])).collect();
                owed.sort();
                owed
            };
            assert_eq!(owed(&copy), owed(&company));
            let stock = |one: &Company<'_>| one.all("items").iter().map(|item| format!("{} {}", item["quantityOnHand"], item["stockValue"])).collect::<Vec<_>>();
            assert_eq!(stock(&copy), stock(&company));
            assert_eq!(copy.failed_checks(), Vec::<String>::new());
            // Goods that wait for their invoice are what no opening says: then there is no copy, and why is told.
            let note = json!({"date": "2026-11-01", "partyId": shop.supplier, "lines": [{"itemId": goods, "quantity": 1, "unitPrice": 7}]});
            shop.make("receiptNotes", &note);
            let refused = copied("Refused", day).expect(409);
            assert!(refused.title.contains("2150") && refused.title.contains("openingOn"), "{}", refused.title);
            assert_eq!((count("Opened"), count("Refused")), (1, 0), "nothing is made by halves");
            assert_eq!(company.failed_checks(), Vec::<String>::new());
        }
    }
}

/// What a real company may not be asked stands in the documents as well.
#[test]
fn what_trials_are_asked_is_declared_once() {
    let extras = &operations("businesses").extras;
    let named: Vec<(&str, &str)> = extras.iter().map(|extra| (extra.name, extra.segment)).collect();
    assert_eq!(named, [("SetClock", "clock"), ("ReleaseClock", "clock"), ("Empty", "empty"), ("Copy", "copy")]);
}
