//! Reports: every figure has an identity that proves it, at every month end, as of now and as known earlier.

use crate::harness::server::DIALECTS;
use crate::harness::shop::{Shop, id};
use crate::harness::twins::documented;
use crate::harness::{Dialect, Server, on_both_engines};
use serde_json::{Value, json};
use std::collections::BTreeSet;

impl Shop<'_> {
    fn report(&self, path: &str) -> Value {
        let request = self.company.request_at(self.dialect, "GET", &format!("reports{path}"));
        self.company.say(self.dialect, request).expect(200).data
    }

    /// The parameters of each report that there is.
    fn reports(&self) -> Vec<(String, Vec<String>)> {
        let listed = self.report("");
        let parameters = |one: &Value| {
            one["parameters"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
        };
        let items = listed["items"].as_array().unwrap().iter();
        items.map(|one| (one["name"].as_str().unwrap().to_owned(), parameters(one))).collect()
    }
}

/// A company that traded for a year: documents of all kinds, in two currencies, some late, some taken back.
struct Year<'s> {
    shop: Shop<'s>,
    items: Vec<String>,
}

/// Small numbers in no order, the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// How many turns of business a year has; each makes a document or two.
fn turns() -> u64 {
    std::env::var("DUET_REPORT_TURNS").ok().and_then(|turns| turns.parse().ok()).unwrap_or(120)
}

impl<'s> Year<'s> {
    fn traded(server: &'s Server, dialect: Dialect) -> Self {
        let shop = Shop::with(server, dialect, json!({"negativeStock": "allow"}));
        let (vat, half) =
            (shop.vat("20"), shop.tax("HALF", json!([{"name": "VAT", "rate": "20", "recoverablePercent": "50"}])));
        let items = vec![
            shop.item(json!({"name": "Moving", "salePrice": 12, "salesTaxCodeId": vat, "purchaseTaxCodeId": vat})),
            shop.item(json!({"name": "First in", "costMethod": "fifo", "salePrice": 20, "salesTaxCodeId": vat})),
            shop.item(json!({"name": "Advice", "type": "service", "salePrice": 80, "salesTaxCodeId": vat, "purchaseTaxCodeId": half})),
        ];
        for (month, rate) in (1..=12).zip(["0.9", "0.93", "0.88", "0.95"].into_iter().cycle()) {
            shop.make(
                "exchangeRates",
                &json!({"currency": "USD", "date": format!("2026-{month:02}-01"), "rate": rate}),
            );
        }
        let year = Self { shop, items };
        let mut dice = Dice(7);
        let mut made: Vec<(&'static str, Value)> = Vec::new();
        for turn in 0..turns() {
            // Every fifth comes late.
            let day = turn * 350 / turns() + 1;
            let day = if turn % 5 == 4 { day.saturating_sub(dice.roll(40)) } else { day };
            let date = format!("2026-{:02}-{:02}", day / 31 + 1, day % 28 + 1);
            year.turn(&mut dice, &date, &mut made);
        }
        year
    }

    fn turn(&self, dice: &mut Dice, date: &str, made: &mut Vec<(&'static str, Value)>) {
        let shop = &self.shop;
        let item = &self.items[usize::try_from(dice.roll(3)).unwrap()];
        let (quantity, price) = (dice.roll(9) + 1, dice.roll(40) + 1);
        let currency = if dice.roll(3) == 0 { "USD" } else { "EUR" };
        let line = json!([{"itemId": item, "quantity": quantity, "unitPrice": price}]);
        let body = |party: &str| json!({"date": date, "partyId": party, "currency": currency, "lines": line});
        let mut keep = |resource: &'static str, said: crate::harness::server::Said| {
            // What the state of the books refuses is part of business.
            assert!(matches!(said.status, 201 | 409), "{resource}: {}", said.answer.text);
            if said.status == 201 {
                made.push((resource, said.data));
            }
        };
        let make = |resource: &'static str, body: &Value| shop.ask("POST", resource, "", Some(body));
        match dice.roll(13) {
            0 | 1 => keep("purchaseInvoices", make("purchaseInvoices", &body(&shop.supplier))),
            2 | 3 => keep("salesInvoices", make("salesInvoices", &body(&shop.customer))),
            4 => {
                let mut receipt = shop.receipt(date, &format!("{}.50", dice.roll(200) + 1));
                receipt["lines"] = json!([{"accountId": shop.company.account("4700"), "amount": "0.50"}]);
                keep("receipts", make("receipts", &receipt));
            }
            5 => keep("payments", make("payments", &shop.payment(date, &(dice.roll(200) + 1).to_string()))),
            6 => {
                let order = shop.make("salesOrders", &body(&shop.customer));
                let part = json!({"date": date, "lines": [{"lineId": order["lines"][0]["id"], "quantity": 1}]});
                let note = shop.act("POST", "salesOrders", &order, "delivery-notes", Some(&part));
                if note.status == 201 && dice.roll(2) == 0 {
                    keep(
                        "salesInvoices",
                        shop.act("POST", "deliveryNotes", &note.data, "invoices", Some(&json!({"date": date}))),
                    );
                }
                keep("deliveryNotes", note);
            }
            7 => {
                let mut body = body(&shop.supplier);
                let unit_cost = body["lines"][0]["unitPrice"].take();
                body["lines"] = json!([{"itemId": self.items[0], "quantity": quantity, "unitCost": unit_cost}]);
                let note = shop.make("receiptNotes", &body);
                if dice.roll(2) == 0 {
                    let words = json!({"date": date, "partyId": shop.supplier, "currency": currency, "lines": [
                        {"sourceLineId": note["lines"][0]["id"], "unitPrice": price + 1}
                    ]});
                    keep("purchaseInvoices", make("purchaseInvoices", &words));
                }
                made.push(("receiptNotes", note));
            }
            8 => {
                let found = |wanted: &str| {
                    made.iter().rev().find(|(resource, _)| *resource == wanted).map(|(_, one)| id(one).to_owned())
                };
                let (Some(money), Some(invoice)) = (found("receipts"), found("salesInvoices")) else { return };
                let said = make("allocations", &json!({"sourceId": money, "targetId": invoice, "amount": 1}));
                assert!(matches!(said.status, 201 | 400 | 409), "{}", said.answer.text);
            }
            9 => {
                let place = usize::try_from(dice.roll(made.len().max(1) as u64)).unwrap();
                let Some((resource, one)) = made.get(place) else { return };
                let said = shop.ask("DELETE", resource, &format!("/{}", id(one)), None);
                assert!(matches!(said.status, 200 | 409), "{}", said.answer.text);
            }
            10 => {
                let lines = [("6200", price.to_string()), ("1010", format!("-{price}"))];
                let lines: Vec<(&str, &str)> = lines.iter().map(|(code, amount)| (*code, amount.as_str())).collect();
                shop.company.journal(date, &lines);
            }
            11 => keep("creditNotes", make("creditNotes", &body(&shop.customer))),
            _ => {
                let body =
                    json!({"date": date, "reason": "Count", "lines": [{"itemId": self.items[0], "quantityChange": 2}]});
                let said = make("stockAdjustments", &body);
                assert!(matches!(said.status, 201 | 400 | 409), "{}", said.answer.text);
            }
        }
    }

    /// What each report must be narrowed to before it says anything.
    fn narrowed(&self, name: &str) -> String {
        match name {
            "party-statement" => format!("partyId={}", self.shop.customer),
            "stock-ledger" => format!("itemId={}", self.items[0]),
            _ => String::new(),
        }
    }

    fn holds(&self, name: &str, query: &str) -> Value {
        let report = self.shop.report(&format!("/{name}{query}"));
        let checks = report["checks"].as_array().unwrap();
        assert!(!checks.is_empty(), "{name} proves nothing");
        for check in checks {
            assert_eq!(check["ok"], true, "{name}{query}: {check}");
            assert_eq!(check["left"], check["right"], "{name}{query}: {check}");
        }
        report
    }
}

/// The query of a report for a day, where it takes these words.
fn query_of(parameters: &[String], day: &str, more: &str) -> String {
    let takes = |name: &str| parameters.iter().any(|known| known == name);
    let mut query = vec![more.to_owned()];
    for (name, value) in [("from", "2026-01-01"), ("to", day), ("asOf", day)] {
        if takes(name) {
            query.push(format!("{name}={value}"));
        }
    }
    query.retain(|part| !part.is_empty());
    format!("?{}", query.join("&"))
}

const MONTH_ENDS: [&str; 12] = [
    "2026-01-31",
    "2026-02-28",
    "2026-03-31",
    "2026-04-30",
    "2026-05-31",
    "2026-06-30",
    "2026-07-31",
    "2026-08-31",
    "2026-09-30",
    "2026-10-31",
    "2026-11-30",
    "2026-12-31",
];

on_both_engines! {
    fn a_report_is_offered_with_all_that_can_be_asked_of_it(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let offered = shop.reports();
            assert!(offered.iter().any(|(_, parameters)| parameters.iter().any(|name| name == "pageSize")));
            for (name, parameters) in offered {
                let path = format!("/reports/{name}");
                let documented = documented(dialect).operations.values();
                let operation = documented.clone().find(|one| one.path.to_lowercase().ends_with(&path)).expect(&path);
                let of_document: BTreeSet<&str> = operation.query.iter().map(|one| one.name.as_str()).collect();
                // The documents have a path of its own for each form.
                let of_offer = parameters.iter().map(String::as_str).filter(|name| *name != "format");
                let of_offer: BTreeSet<&str> = of_offer.collect();
                assert_eq!(of_offer, of_document, "{path}");
            }
        }
    }

    fn every_identity_holds_at_every_month_end(server) {
        let year = Year::traded(server, Dialect::B);
        year.shop.proves();
        let reports = year.shop.reports();
        assert!(reports.len() >= 25, "{}", reports.len());
        let known_at = year.shop.report("/pl")["generatedAt"].as_str().unwrap().to_owned();
        let mut then = Vec::new();
        for (name, parameters) in &reports {
            for day in MONTH_ENDS {
                let query = query_of(parameters, day, &year.narrowed(name));
                let report = year.holds(name, &query);
                assert_eq!(report["report"], *name);
                // The other dialect says the same.
                let request = year.shop.company.request_at(Dialect::A, "GET", &format!("reports/{name}{query}"));
                let other = year.shop.company.say(Dialect::A, request).expect(200).data;
                assert_eq!((&other["rows"], &other["totals"]), (&report["rows"], &report["totals"]), "{name}");
                if day == "2026-08-31" && parameters.iter().any(|known| known == "knownAt") {
                    then.push((name, query, report));
                }
            }
        }
        // What came since changes nothing of what was known then.
        let mut dice = Dice(11);
        let mut made = Vec::new();
        for _ in 0..20 {
            year.turn(&mut dice, "2026-03-15", &mut made);
        }
        year.shop.proves();
        for (name, query, before) in then {
            let report = year.holds(name, &format!("{query}&knownAt={known_at}"));
            assert_eq!((&report["rows"], &report["ledgerSequence"]), (&before["rows"], &before["ledgerSequence"]), "{name}{query}");
        }
    }

    fn of_books_that_were_all_taken_back_every_report_is_nothing(server) {
        let shop = Shop::open(server, Dialect::A);
        let (item, vat) = (shop.item(json!({"salePrice": 10})), shop.vat("20"));
        let bill = shop.purchase("2026-02-01", json!([{"itemId": item, "quantity": 10, "unitPrice": 6, "taxCodeId": vat}]));
        let sale = shop.sale("2026-02-02", json!([{"itemId": item, "quantity": 4, "taxCodeId": vat}]));
        let note = json!({"date": "2026-02-03", "partyId": shop.customer, "lines": [{"itemId": item, "quantity": 2}]});
        let note = shop.make("deliveryNotes", &note);
        let mut receipt = shop.receipt("2026-02-04", "20");
        receipt["allocations"] = json!([{"targetId": sale["id"], "amount": 20}]);
        let receipt = shop.make("receipts", &receipt);
        for (resource, one) in [("receipts", &receipt), ("deliveryNotes", &note), ("salesInvoices", &sale), ("purchaseInvoices", &bill)] {
            shop.void(resource, one);
        }
        let year = Year { items: vec![item], shop };
        for (name, parameters) in year.shop.reports() {
            if matches!(name.as_str(), "audit-trail" | "number-gaps" | "day-book" | "general-ledger" | "stock-ledger" | "tax-detail") {
                continue;
            }
            let query = query_of(&parameters, "2026-12-31", &year.narrowed(&name));
            let report = year.holds(&name, &query);
            // What turned over and back again is shown where it did; it comes to nothing.
            let turned = ["debit", "credit", "inValue", "outValue"];
            for (key, value) in report["totals"].as_object().unwrap() {
                assert!(turned.contains(&key.as_str()) || value.to_string().trim_matches(['0', '.']).is_empty(), "{name}: {key} {value}");
            }
        }
    }

    fn the_statements_say_what_the_books_come_to(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            shop.company.journal("2025-06-01", &[("1010", "1000"), ("3000", "-1000")]);
            shop.company.journal("2025-12-30", &[("1010", "200"), ("4000", "-200")]);
            shop.company.journal("2026-01-10", &[("1010", "300"), ("4000", "-300")]);
            shop.company.journal("2026-02-10", &[("6200", "120"), ("1010", "-120")]);
            let pl = shop.report("/pl?from=2026-01-01&to=2026-02-28");
            assert_eq!((pl["totals"]["netProfit"].to_string(), &pl["parameters"]["from"]), ("180.00".into(), &json!("2026-01-01")));
            let months = shop.report("/pl?fromDate=2026-02-01&toDate=2026-02-28&periods=2&interval=month");
            let last = months["rows"].as_array().unwrap().last().unwrap();
            assert_eq!((last["key"].as_str(), last["values"].to_string()), (Some("netProfit"), "[-120.00,300.00]".into()));
            assert_eq!((&months["columns"][1]["from"], &months["columns"][1]["to"]), (&json!("2026-01-01"), &json!("2026-01-31")));
            let years = shop.report("/pl?from=2026-01-01&to=2026-12-31&compareWith=previousYear");
            assert_eq!(years["rows"].as_array().unwrap().last().unwrap()["values"].to_string(), "[180.00,200.00]");
            let bs = shop.report("/bs?asOf=2026-02-28");
            assert_eq!((bs["totals"]["assets"].to_string(), bs["totals"]["equity"].to_string()), ("1380.00".into(), "1380.00".into()));
            let equity = bs["rows"].as_array().unwrap().iter().find(|row| row["key"] == "equityAccounts").unwrap();
            let earnings: Vec<String> = equity["children"].as_array().unwrap().iter().map(|row| row["values"][0].to_string()).collect();
            assert_eq!(earnings, ["1000.00", "200.00", "180.00"]);
            let tried = shop.report("/trial-balance?from=2026-01-01&to=2026-02-28");
            let row = |code: &str| {
                let rows = tried["rows"].as_array().unwrap().iter();
                rows.clone().find(|row| row["key"] == code).map(|row| row["values"].to_string()).unwrap_or_default()
            };
            assert_eq!(row("1010"), "[1200.00,0.00,300.00,120.00,1380.00,0.00]");
            assert_eq!((row("4000"), row("3200")), ("[0.00,0.00,0.00,300.00,0.00,300.00]".into(), "[0.00,200.00,0.00,0.00,0.00,200.00]".into()));
            for method in ["direct", "indirect"] {
                let flow = shop.report(&format!("/cash-flow?from=2026-01-01&to=2026-02-28&method={method}"));
                assert_eq!((flow["totals"]["opening"].to_string(), flow["totals"]["closing"].to_string()), ("1200.00".into(), "1380.00".into()));
            }
        }
    }

    fn on_cash_basis_what_is_settled_counts(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let vat = shop.vat("20");
            let sale = shop.sale("2026-01-10", json!([{"unitPrice": 100, "taxCodeId": vat}]));
            let bill = shop.purchase("2026-01-12", json!([{"unitPrice": 40}]));
            shop.company.journal("2026-01-20", &[("6200", "5"), ("1010", "-5")]);
            let pay = |resource: &str, mut body: Value, target: &Value, amount: &str| {
                body["allocations"] = json!([{"targetId": target["id"], "amount": amount}]);
                shop.make(resource, &body)
            };
            let part = pay("receipts", shop.receipt("2026-02-05", "40"), &sale, "40");
            let profit = |query: &str| {
                let report = shop.report(&format!("/pl?{query}"));
                assert!(report["checks"].as_array().unwrap().iter().all(|check| check["ok"] == true), "{report}");
                report["totals"]["netProfit"].to_string()
            };
            assert_eq!(profit("from=2026-01-01&to=2026-01-31"), "55.00");
            assert_eq!(profit("from=2026-01-01&to=2026-01-31&basis=cash"), "-5.00");
            // A third of the invoice is paid, tax and all.
            assert_eq!(profit("from=2026-02-01&to=2026-02-28&basis=cash"), "33.33");
            pay("receipts", shop.receipt("2026-03-05", "80"), &sale, "80");
            pay("payments", shop.payment("2026-03-06", "40"), &bill, "40");
            assert_eq!(profit("from=2026-03-01&to=2026-03-31&basis=cash"), "26.67");
            // When nothing is open, both come to the same.
            for basis in ["cash", "accrual"] {
                assert_eq!(profit(&format!("from=2026-01-01&to=2026-12-31&basis={basis}")), "55.00");
            }
            shop.void("receipts", &part);
            assert_eq!(profit("from=2026-01-01&to=2026-12-31&basis=cash"), "21.67");
            let report = shop.report("/pl?from=2026-01-15&to=2026-03-31&groupBy=month&basis=cash");
            assert_eq!(report["basis"], "cash");
            assert_eq!(report["rows"].as_array().unwrap().last().unwrap()["values"].to_string(), "[-5.00,0.00,26.67]");
            assert_eq!((&report["columns"][0]["from"], &report["columns"][0]["to"]), (&json!("2026-01-15"), &json!("2026-01-31")));
            let sales = shop.report("/sales-by-customer?from=2026-01-01&to=2026-12-31&groupBy=quarter");
            assert_eq!(sales["rows"][0]["values"].to_string(), "[100.00,0.00,0.00,0.00,100.00,100]");
            assert_eq!(sales["columns"].as_array().unwrap().len(), 6);
        }
    }

    fn on_cash_basis_the_cost_of_sales_stands_as_in_the_ledger(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let item = shop.item(json!({"name": "Goods", "salePrice": 20}));
            let buy = |date: &str, price: u64| shop.purchase(date, json!([{"itemId": item, "quantity": 10, "unitPrice": price}]));
            buy("2026-01-05", 10);
            let sale = shop.sale("2026-01-10", json!([{"itemId": item, "quantity": 5}]));
            // Ten at 10 and ten at 40 are twenty at 25: each that was sold cost 15 more than was known.
            let late = buy("2026-01-02", 40);
            let profit = |basis: &str, from: &str, to: &str| {
                let report = shop.report(&format!("/pl?from={from}&to={to}&basis={basis}"));
                assert!(report["checks"].as_array().unwrap().iter().all(|check| check["ok"] == true), "{report}");
                report["totals"]["netProfit"].to_string()
            };
            assert_eq!(profit("accrual", "2026-01-01", "2026-12-31"), "-25.00");
            assert_eq!(profit("cash", "2026-01-01", "2026-12-31"), "-125.00");
            let settle = |resource: &str, mut body: Value, target: &Value| {
                body["allocations"] = json!([{"targetId": target["id"], "amount": body["amount"]}]);
                shop.make(resource, &body)
            };
            settle("receipts", shop.receipt("2026-02-10", "40"), &sale);
            assert_eq!(profit("cash", "2026-02-01", "2026-02-28"), "40.00");
            settle("payments", shop.payment("2026-03-10", "100"), &late);
            assert_eq!(profit("cash", "2026-03-01", "2026-03-31"), "0.00");
            settle("receipts", shop.receipt("2026-04-10", "60"), &sale);
            settle("payments", shop.payment("2026-04-11", "300"), &late);
            assert_eq!(profit("cash", "2026-04-01", "2026-04-30"), "60.00");
            assert_eq!(profit("cash", "2026-01-01", "2026-12-31"), "-25.00");
        }
    }

    fn an_allocation_that_is_taken_back_leaves_sales_as_they_were(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let abroad = |resource: &str, date: &str, rate: &str| {
                let lines = json!([{"unitPrice": 100}]);
                let body = json!({"date": date, "partyId": shop.customer, "currency": "USD", "exchangeRate": rate, "lines": lines});
                shop.make(resource, &body)
            };
            let (sale, credit) = (abroad("salesInvoices", "2026-02-01", "0.9"), abroad("creditNotes", "2026-02-10", "0.95"));
            let told = || {
                let sales = shop.report("/sales-by-customer?from=2026-01-01&to=2026-12-31");
                let cash = shop.report("/pl?from=2026-01-01&to=2026-12-31&basis=cash");
                [sales["totals"]["amount"].to_string(), cash["totals"]["netProfit"].to_string()]
            };
            assert_eq!(told(), ["-5.00", "0.00"]);
            let allocation = shop.make("allocations", &json!({"sourceId": credit["id"], "targetId": sale["id"], "amount": 100}));
            // What is lost by the invoice is gained by the rates.
            assert_eq!(told(), ["-5.00", "0.00"]);
            shop.ask("DELETE", "allocations", &format!("/{}", id(&allocation)), None).expect(200);
            assert_eq!(told(), ["-5.00", "0.00"]);
            shop.proves();
        }
    }

    fn aging_counts_the_days_and_forgets_later_payments(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            for (date, due, price) in [("2026-01-01", "2026-01-31", 100), ("2026-02-01", "2026-03-03", 50), ("2026-03-20", "2026-04-20", 7)] {
                let body = json!({"date": date, "dueDate": due, "partyId": shop.customer, "lines": [{"unitPrice": price}]});
                shop.make("salesInvoices", &body);
            }
            shop.make("receipts", &shop.receipt("2026-03-25", "30"));
            let aged = |query: &str| {
                let report = shop.report(&format!("/ar-aging?{query}"));
                assert_eq!(report["checks"][0]["ok"], true);
                report["rows"][0]["values"].to_string()
            };
            // Due on the day itself is not late; what was paid in advance lessens the rest.
            assert_eq!(aged("asOf=2026-03-03"), "[50.00,0.00,100.00,0.00,0.00,150.00,\"EUR\",150.00,150.00]");
            assert_eq!(aged("asOf=2026-03-04"), "[0.00,50.00,100.00,0.00,0.00,150.00,\"EUR\",150.00,150.00]");
            assert_eq!(aged("asOf=2026-03-31"), "[7.00,20.00,100.00,0.00,0.00,127.00,\"EUR\",127.00,127.00]");
            assert_eq!(aged("asOf=2026-03-31&buckets=7,14&agingBy=documentDate"), "[0.00,-30.00,7.00,150.00,127.00,\"EUR\",127.00,127.00]");
            let detail = shop.report("/ar-aging-detail?asOf=2026-03-31");
            assert_eq!(detail["rows"][0]["children"].as_array().unwrap().len(), 4);
            // One age alone, as the figure of its column says it; a plus may be written as it is.
            let of_one = |bucket: &str| shop.report(&format!("/ar-aging-detail?asOf=2026-03-31&bucket={bucket}"));
            for (bucket, total, documents) in [("31-60", "100.00", 1), ("1-30", "20.00", 2), ("current", "7.00", 1), ("91%2B", "0.00", 0), ("91+", "0.00", 0)] {
                let report = of_one(bucket);
                assert!(report["checks"].as_array().unwrap().iter().all(|check| check["ok"] == true), "{report}");
                assert_eq!(report["totals"]["total"].to_string(), total, "{bucket}");
                assert_eq!(report["rows"][0]["children"].as_array().map_or(0, Vec::len), documents, "{bucket}");
            }
            // From its own day something counts that is never due; and what takes off what is owed is no debt.
            let dated = shop.report("/ar-aging-detail?asOf=2026-03-31&agingBy=documentDate");
            assert_eq!(dated["columns"][0]["label"], "Of the day itself");
            let called = |report: &Value| -> Vec<String> {
                let rows = report["rows"][0]["children"].as_array().unwrap();
                rows.iter().map(|row| row["label"].as_str().unwrap().split_once(", ").unwrap().1.to_owned()).collect()
            };
            assert!(called(&dated).contains(&"of 2026-03-20".into()), "{:?}", called(&dated));
            assert_eq!(called(&detail), ["due 2026-01-31", "due 2026-03-03", "of 2026-03-25", "due 2026-04-20"]);
            let statement = shop.report(&format!("/party-statement?partyId={}&from=2026-02-01&to=2026-03-31", shop.customer));
            assert_eq!((statement["totals"]["opening"].to_string(), statement["totals"]["closing"].to_string()), ("100.00".into(), "127.00".into()));
        }
    }

    fn what_is_asked_wrongly_is_named(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            for (path, field) in [
                ("/pl?from=2026-02-01&to=2026-01-01", "to"), ("/pl?from=yesterday", "from"), ("/pl?periods=25", "periods"),
                ("/pl?periods=0", "periods"), ("/pl?interval=week", "interval"), ("/pl?interval=month,year", "interval"), ("/pl?from=2026-01-01&fromDate=2026-01-01", "fromDate"),
                ("/pl?periods=2&compareWith=previousYear", "compareWith"), ("/pl?groupBy=month&periods=2", "groupBy"),
                ("/pl?from=1990-01-01&to=2026-01-01&groupBy=month", "groupBy"), ("/pl?basis=magic", "basis"), ("/bs?from=2026-01-01", "from"), ("/ar-aging?buckets=30,20", "buckets"), ("/ap-aging-detail?bucket=30-60", "bucket"), ("/ar-aging-detail?buckets=30,20&bucket=1-20", "buckets"), ("/ap-aging?bucket=31-60", "bucket"),
                ("/pl?format=pdf", "format"), ("/party-statement", "partyId"), ("/stock-ledger?itemId=nothing", "itemId"), ("/general-ledger?accountId=1010", "accountId"),
                ("/ar-aging?partyId=zzz", "partyId"), ("/open-orders?partyId=01900000-0000-7000-8000-000000000000", "partyId"), ("/tax-detail?taxCodeId=VAT", "taxCodeId"),
                ("/stock-summary?itemId=zzz", "itemId"), ("/pl?colour=red", "colour"),
                ("/pl?format=json,csv", "format"), ("/general-ledger?pageSize=501", "pageSize"),
            ] {
                let request = shop.company.request_at(dialect, "GET", &format!("reports{path}"));
                assert_eq!(shop.company.say(dialect, request).expect(400).fields(), [field], "{path}");
            }
            let request = shop.company.request_at(dialect, "GET", "reports/horoscope");
            shop.company.say(dialect, request).expect(404);
        }
    }

    fn every_entry_stands_in_the_journal_once(server) {
        let year = Year::traded(server, Dialect::B);
        let shop = &year.shop;
        // Words that mean something to other programs are words.
        let mut odd = shop.company.journal_body("2026-03-05", &[("6200", "2"), ("1010", "-2")]);
        odd["narration"] = "A (odd) \"one\"; with | bars: and\ttabs".into();
        shop.company.post_journal(&odd).expect(201);
        let journal = |format: &str| {
            let words = ["export", "--business", &shop.company.id, "--format", format];
            let written = shop.company.server.command(&words, "");
            assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
            String::from_utf8(written.stdout).unwrap()
        };
        let hledger = journal("hledger");
        let entries = shop.ask("GET", "entries", "?pageSize=1", None).expect(200).data["pagination"]["totalCount"].as_u64().unwrap();
        assert_eq!(hledger.matches("; entry ").count() as u64, entries);
        let beancount = journal("beancount");
        assert_eq!(beancount.matches("\n  entry: ").count() as u64, entries);
        assert!(beancount.contains(" open Assets:A1010-Bank\n"), "{}", &beancount[..400]);
        let refused = shop.company.server.command(&["export", "--business", "nothing"], "");
        assert_eq!(refused.status.code(), Some(1));
    }

    fn a_report_is_a_file_that_a_spreadsheet_opens_safely(server) {
        let shop = Shop::open(server, Dialect::A);
        shop.company.party(json!({"name": "=cmd|' /C calc'!A0", "isCustomer": true}));
        let listed = shop.ask("GET", "parties", "?q=calc", None).expect(200).data;
        let body = json!({"date": "2026-02-01", "partyId": listed["items"][0]["id"], "lines": [{"unitPrice": "12.5"}]});
        shop.make("salesInvoices", &body);
        for dialect in DIALECTS {
            let request = shop.company.request_at(dialect, "GET", "reports/ar-aging?asOf=2026-02-01&format=csv");
            let answer = shop.company.server.send(&request).expect(200);
            assert_eq!(answer.header("content-type"), Some("text/csv; charset=utf-8; header=present"));
            let lines: Vec<&str> = answer.text.split("\r\n").collect();
            assert_eq!(lines[0], "level,type,label,Not yet due,1 to 30 days,31 to 60 days,61 to 90 days,91 days or more,Total,Currency,In that currency,In the company's currency");
            assert_eq!(lines[1], "0,party,'=cmd|' /C calc'!A0,12.50,0.00,0.00,0.00,0.00,12.50,EUR,12.50,12.50");
            // A file has all of what comes in pages.
            let request = shop.company.request_at(dialect, "GET", "reports/general-ledger?from=2026-01-01&to=2026-12-31&format=csv");
            assert_eq!(shop.company.server.send(&request).expect(200).text.split("\r\n").count(), 6);
            let request = shop.company.request_at(dialect, "GET", "reports/general-ledger?from=2026-01-01&to=2026-12-31&pageSize=1&page=2");
            let page = shop.company.say(dialect, request).expect(200);
            assert_eq!((&page.data["pagination"]["totalCount"], page.data["rows"][0]["children"].as_array().unwrap().len()), (&json!(2), 1));
            assert!(page.answer.header("link").unwrap().contains("rel=\"prev\""));
        }
    }

    fn a_file_longer_than_a_portion_has_every_row_once_and_in_order(server) {
        let shop = Shop::open(server, Dialect::B);
        let vat = shop.vat("20");
        std::thread::scope(|scope| {
            for clerk in 0..6 {
                let (shop, vat) = (&shop, &vat);
                scope.spawn(move || {
                    for turn in 0..180 {
                        let line = json!({"unitPrice": clerk + 1, "taxCodeId": vat});
                        let date = format!("2026-{:02}-{:02}", turn % 3 + 1, turn % 28 + 1);
                        shop.make("salesInvoices", &json!({"date": date, "partyId": shop.customer, "lines": [line]}));
                    }
                });
            }
        });
        for (report, span) in [
            ("general-ledger", "from=2026-01-01&to=2026-03-31"), ("day-book", "from=2026-01-01&to=2026-03-31"),
            ("tax-detail", "from=2026-01-01&to=2026-03-31"), ("audit-trail", "from=2026-01-01&to=2030-12-31"),
        ] {
            let mut told: Vec<[String; 2]> = Vec::new();
            for page in 1.. {
                let answer = shop.report(&format!("/{report}?{span}&pageSize=500&page={page}"));
                tell(&answer["rows"], &mut told);
                if answer["pagination"]["totalPages"] == json!(page) {
                    break;
                }
            }
            let request = shop.company.request_at(shop.dialect, "GET", &format!("reports/{report}?{span}&format=csv"));
            let file = shop.company.server.send(&request).expect(200).text;
            let cells = file.lines().skip(1).map(|line| line.split(',').collect::<Vec<&str>>());
            let lines = cells.filter(|cells| cells[1] == "line");
            let filed: Vec<[String; 2]> = lines.map(|cells| [cells[2].to_owned(), cells.last().unwrap().to_string()]).collect();
            assert!(told.len() > 1_000, "{report}: {}", told.len());
            assert_eq!(filed.len(), told.len(), "{report}");
            if let Some(place) = (0..told.len()).find(|place| filed[*place] != told[*place]) {
                panic!("{report}, row {place}: {:?} in the file, {:?} on the page", filed[place], told[place]);
            }
            // An account stands above its lines once, however many portions they come in.
            let headings = file.lines().filter(|line| line.starts_with("0,section,")).count();
            assert_eq!(headings, if report == "general-ledger" { 3 } else { 0 }, "{report}");
        }
    }

    /// By the counts of months and days, page by page; and line after line, as it is written into a file.
    fn every_page_of_the_ledger_begins_where_the_one_before_it_ended(server) {
        let year = Year::traded(server, Dialect::B);
        let shop = &year.shop;
        let entries = shop.ask("GET", "entries", "?pageSize=500&sort=entryNumber", None).expect(200).data;
        let entries = entries["items"].as_array().unwrap();
        let known = entries[entries.len() / 2]["postedAt"].as_str().unwrap();
        let account = |code: &str| shop.company.account(code);
        for query in [
            "from=2026-01-01&to=2026-12-31".to_owned(),
            "from=2026-02-10&to=2026-05-05".to_owned(),
            "from=2026-03-05&to=2026-03-20".to_owned(),
            format!("from=2026-01-15&to=2026-12-31&accountId={}", account("1200")),
            format!("from=2026-01-01&to=2026-11-30&knownAt={known}"),
            format!("from=2026-01-01&to=2026-11-30&partyId={}", shop.customer),
        ] {
            let request = shop.company.request_at(shop.dialect, "GET", &format!("reports/general-ledger?{query}&format=csv"));
            let file = shop.company.server.send(&request).expect(200).text;
            let cells = file.lines().skip(1).map(|line| line.split(',').collect::<Vec<&str>>());
            let lines = cells.filter(|cells| cells[1] == "line");
            let filed: Vec<[String; 2]> = lines.map(|cells| [cells[2].to_owned(), cells.last().unwrap().to_string()]).collect();
            assert!(filed.len() > 10, "{query}: {}", filed.len());
            for size in [7, 60, 500] {
                let mut told: Vec<[String; 2]> = Vec::new();
                for page in 1.. {
                    let answer = shop.report(&format!("/general-ledger?{query}&pageSize={size}&page={page}"));
                    assert_eq!(answer["pagination"]["totalCount"], filed.len(), "{query}");
                    tell(&answer["rows"], &mut told);
                    assert_eq!(told.len(), Ord::min(page * size, filed.len()), "{query}, {size} a page");
                    if told.len() == filed.len() {
                        break;
                    }
                }
                assert_eq!(told, filed, "{query}, {size} a page");
            }
        }
    }

    /// Summed up by the engine, and document by document.
    fn an_ageing_is_the_sum_of_its_detail(server) {
        let year = Year::traded(server, Dialect::B);
        let shop = &year.shop;
        let parties = |report: &Value| -> Vec<String> {
            let rows = report["rows"].as_array().unwrap().iter();
            rows.map(|row| format!("{} {}", row["label"], row["values"])).collect()
        };
        let mut seen = 0;
        for (side, party) in [("ar", &shop.customer), ("ap", &shop.supplier)] {
            for month in [2, 5, 8, 10, 11, 12] {
                for more in [
                    String::new(), "&agingBy=documentDate".into(), "&buckets=10,20,200".into(), "&currency=USD".into(),
                    format!("&partyId={party}"),
                ] {
                    let asked = format!("asOf=2026-{month:02}-28&includeZero=true{more}");
                    let [summed, detail] = ["", "-detail"].map(|grain| shop.report(&format!("/{side}-aging{grain}?{asked}")));
                    assert_eq!(parties(&summed), parties(&detail), "{side} {asked}");
                    assert_eq!(summed["totals"], detail["totals"], "{side} {asked}");
                    assert!(summed["checks"].as_array().unwrap().iter().all(|check| check["ok"] == true), "{summed}");
                    seen += parties(&summed).len() - 1;
                }
            }
        }
        assert!(seen > 30, "{seen}");
    }
}

/// The label and the last value of each line of some rows.
fn tell(rows: &Value, told: &mut Vec<[String; 2]>) {
    for row in rows.as_array().into_iter().flatten() {
        if row["type"] == "line" {
            let last = row["values"].as_array().unwrap().last().unwrap();
            let last = last
                .as_str()
                .map_or_else(|| if last.is_null() { String::new() } else { last.to_string() }, str::to_owned);
            told.push([row["label"].as_str().unwrap().to_owned(), last]);
        }
        tell(&row["children"], told);
    }
}
