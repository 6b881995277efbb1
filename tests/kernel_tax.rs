//! One tax engine and a tax sub-ledger: the worked examples, asked in both dialects.

use crate::harness::books::{behind_the_back, literal};
use crate::harness::server::DIALECTS;
use crate::harness::shop::{Shop, id};
use crate::harness::{Dialect, Options, Server, on_both_engines};
use serde_json::{Value, json};

impl Shop<'_> {
    /// A report, whose identities hold.
    pub(crate) fn proved(&self, path: &str) -> Value {
        let request = self.company.request_at(self.dialect, "GET", &format!("reports/{path}"));
        let report = self.company.say(self.dialect, request).expect(200).data;
        let checks = report["checks"].as_array().unwrap();
        assert!(!checks.is_empty() && checks.iter().all(|check| check["ok"] == true), "{path}: {checks:?}");
        report
    }

    /// The rows of a report with those below them, without figures of nothing: label, then column and figure.
    pub(crate) fn rows(&self, path: &str) -> Vec<String> {
        fn write(rows: &Value, columns: &[String], inset: &str, text: &mut Vec<String>) {
            for row in rows.as_array().unwrap() {
                let key = row["key"].as_str().unwrap();
                let label = row["label"].as_str().unwrap();
                let name = if key.len() == 36 { label.split(' ').next().unwrap() } else { key };
                let figures = columns.iter().zip(row["values"].as_array().unwrap());
                let said: Vec<String> = figures
                    .filter(|(_, value)| !value.is_null() && format!("{value}") != "0.00")
                    .map(|(column, value)| format!(" {column} {value}"))
                    .collect();
                text.push(format!("{inset}{name}{}", said.concat()));
                write(&row["children"], columns, &format!("{inset}  "), text);
            }
        }
        let report = self.proved(path);
        let columns: Vec<String> =
            report["columns"].as_array().unwrap().iter().map(|one| one["key"].as_str().unwrap().to_owned()).collect();
        let mut text = Vec::new();
        write(&report["rows"], &columns, "", &mut text);
        text
    }

    fn summary(&self, from: &str, to: &str) -> Vec<String> {
        self.rows(&format!("tax-summary?from={from}&to={to}"))
    }

    fn of_year(&self) -> Vec<String> {
        self.summary("2026-01-01", "2026-12-31")
    }

    /// A payment without a party, for direct lines.
    fn spend(&self, date: &str, amount: &str, lines: Value) -> Value {
        json!({"date": date, "accountId": self.company.account("1010"), "amount": amount, "lines": lines})
    }

    fn refused(&self, resource: &str, body: &Value) -> Vec<String> {
        self.ask("POST", resource, "", Some(body)).expect(400).fields()
    }
}

/// What holds in both dialects, in a company of its own each.
pub(crate) fn in_both(server: &Server, settings: &Value, fact: impl Fn(&Shop<'_>)) {
    for dialect in DIALECTS {
        let shop = Shop::with(server, dialect, settings.clone());
        fact(&shop);
        shop.proves();
    }
}

on_both_engines! {

    fn whether_a_discount_reduces_the_tax_starts_as_the_country_has_it(server) {
        for (country, reduces) in [(json!("DE"), true), (json!("US"), true), (json!("IN"), false), (json!(null), false)] {
            let company = server.company_like(json!({"name": "A shop", "baseCurrency": "EUR", "country": country}));
            let shown = company.ask(Dialect::B, "GET", "businesses", &format!("/{}", company.id), None).expect(200).data;
            assert_eq!(shown["settings"]["discountReducesTax"], reduces, "{country}");
        }
    }

    fn a_box_that_is_named_later_moves_no_figure_of_before(server) {
        in_both(server, &json!({}), |shop| {
            let vat = shop.tax("V19", json!([{"name": "V19", "rate": 19, "boxes": {"salesBase": "81", "salesTax": "81T"}}]));
            shop.sale("2026-03-01", json!([{"unitPrice": 900, "taxCodeId": vat}]));
            let path = "tax-return?from=2026-03-01&to=2026-03-31";
            let mut code = shop.get("taxCodes", &json!({"id": vat}));
            code["components"][0]["boxes"]["salesBase"] = json!("99");
            shop.ask("PUT", "taxCodes", &format!("/{vat}"), Some(&code)).expect(200);
            assert!(shop.rows(path).contains(&"81 base 900.00 amount 900.00".to_owned()));
        });
    }

    fn a_tax_counts_for_its_own_day_and_is_taken_back_there(server) {
        in_both(server, &json!({}), |shop| {
            let code = shop.vat("19");
            let body = json!({
                "date": "2026-04-05", "taxDate": "2026-03-31", "partyId": shop.customer, "lines": [{"unitPrice": 100, "taxCodeId": code}]
            });
            let sale = shop.make("salesInvoices", &body);
            let march = || shop.summary("2026-03-01", "2026-03-31")[0].clone();
            assert_eq!(march(), "VAT19 salesBase 100.00 outputTax 19.00");
            let mut dearer = sale.clone();
            dearer["lines"][0]["unitPrice"] = json!(200);
            let sale = shop.ask("PUT", "salesInvoices", &format!("/{}", id(&sale)), Some(&dearer)).expect(200).data;
            assert_eq!(march(), "VAT19 salesBase 200.00 outputTax 38.00");
            // Voided on another day, it is taken back on that day.
            shop.act("POST", "salesInvoices", &sale, "void", Some(&json!({"date": "2026-05-02"}))).expect(200);
            assert_eq!(march(), "VAT19 salesBase 200.00 outputTax 38.00");
            assert_eq!(shop.summary("2026-05-01", "2026-05-31")[0], "VAT19 salesBase -200.00 outputTax -38.00");
        });
    }

    fn money_that_comes_back_takes_back(server) {
        in_both(server, &json!({}), |shop| {
            let code = shop.vat("19");
            let line = |account: &str| json!([{"accountId": shop.company.account(account), "amount": 119, "taxCodeId": code}]);
            let back = shop.make("receipts", &shop.spend("2026-03-01", "119", line("6000")));
            assert_eq!(shop.posted(&back), ["1010 119.00", "1400 -19.00", "6000 -100.00"]);
            assert_eq!(shop.of_year()[0], "VAT19 purchaseBase -100.00 inputTax -19.00");
            let paid = shop.make("payments", &shop.spend("2026-03-02", "119", line("4000")));
            assert_eq!(shop.posted(&paid), ["1010 -119.00", "2200 19.00", "4000 100.00"]);
            // A direct line on an account of tax only moves it, and takes no code.
            let moved = json!([{"accountId": shop.company.account("2200"), "amount": 30}]);
            shop.make("payments", &shop.spend("2026-03-03", "30", moved));
            assert!(shop.of_year().contains(&"carry outputTax -30.00".to_owned()));
            assert_eq!(shop.refused("payments", &shop.spend("2026-03-03", "119", line("2200"))), ["lines[0].taxCodeId"]);
        });
    }
}

on_both_engines! {

    fn books_of_before_say_that_they_do_not_tell_of_tax(server) {
        // What is done behind its back is done to a server of its own.
        let Some(server) = Server::start(server.engine, Options::default()) else { return };
        let shop = Shop::open(&server, Dialect::B);
        shop.sale("2026-03-01", json!([{"unitPrice": 100, "taxCodeId": shop.vat("19")}]));
        let company = literal(server.engine, &shop.company.id);
        let before = format!("UPDATE tax_beginnings SET entry_number = 1 WHERE business_id = {company}");
        behind_the_back(&server, &[before]).unwrap();
        let ask = |name: &str, days: &str| {
            let request = shop.company.request_at(Dialect::B, "GET", &format!("reports/{name}?{days}"));
            shop.company.say(Dialect::B, request)
        };
        for name in ["tax-summary", "tax-detail", "tax-return"] {
            assert_eq!(ask(name, "from=2026-01-01&to=2026-03-31").expect(400).fields(), ["from"]);
            ask(name, "from=2026-03-02&to=2026-03-31").expect(200);
        }
    }
}
