//! Time: cash flow, opening, closing, merging, currencies. Figures by hand, from the steps beside them.

use crate::harness::on_both_engines;
use crate::harness::server::DIALECTS;
use crate::harness::shop::Shop;
use serde_json::{Value, json};

impl Shop<'_> {
    fn proven(&self, path: &str) -> Value {
        let request = self.company.request_at(self.dialect, "GET", &format!("reports{path}"));
        let report = self.company.say(self.dialect, request).expect(200).data;
        let checks = report["checks"].as_array().unwrap();
        assert!(checks.iter().all(|check| check["ok"] == true), "{path}: {report}");
        report
    }

    /// The totals of a report, in the order of their names.
    fn totals(&self, path: &str, names: &[&str]) -> Vec<String> {
        let report = self.proven(path);
        names.iter().map(|name| report["totals"][name].to_string()).collect()
    }

    /// The first figure of a row, wherever it stands.
    fn figure(report: &Value, key: &str) -> Option<String> {
        let rows = report["rows"].as_array().or_else(|| report["children"].as_array())?;
        rows.iter()
            .find_map(|row| if row["key"] == key { Some(row["values"][0].to_string()) } else { Self::figure(row, key) })
    }

    /// Operating, investing, financing and all of it, the same by both methods.
    fn flow(&self, days: &str) -> Vec<String> {
        let names = ["operating", "investing", "financing", "netChange"];
        let [direct, indirect] =
            ["direct", "indirect"].map(|method| self.totals(&format!("/cash-flow?{days}&method={method}"), &names));
        assert_eq!(direct, indirect, "{days}");
        direct
    }
}

on_both_engines! {
    /// Capital, equipment, a sale that is paid, depreciation, a sale that is not.
    fn money_stands_where_its_accounts_belong(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            shop.company.journal("2026-01-02", &[("1010", "10000"), ("3000", "-10000")]);
            shop.company.journal("2026-01-03", &[("1600", "6000"), ("1010", "-6000")]);
            shop.company.journal("2026-01-31", &[("6700", "100"), ("1690", "-100")]);
            let paid = shop.sale("2026-01-05", json!([{"unitPrice": 300}]));
            let mut receipt = shop.receipt("2026-01-06", "300");
            receipt["allocations"] = json!([{"targetId": paid["id"], "amount": "300"}]);
            shop.make("receipts", &receipt);
            shop.sale("2026-01-20", json!([{"unitPrice": 200}]));
            let january = "from=2026-01-01&to=2026-01-31";
            assert_eq!(shop.flow(january), ["300.00", "-6000.00", "10000.00", "4300.00"]);
            let report = shop.proven(&format!("/cash-flow?{january}&method=indirect"));
            let figures = ["netProfit", "nonCash", "1690", "1200"].map(|key| Shop::figure(&report, key).unwrap());
            assert_eq!(figures, ["400.00", "100.00", "100.00", "-200.00"]);
            shop.proves();
        }
    }

    /// A bill of a machine and of rent, each with tax, paid in two parts, the second one allocated a month late.
    fn what_settles_a_bill_stands_where_its_lines_do(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let vat = shop.vat("20");
            let line = |account: &str, price: u32| json!({"accountId": shop.company.account(account), "unitPrice": price, "taxCodeId": vat});
            let bill = shop.purchase("2026-01-10", json!([line("1600", 6000), line("6200", 1000)]));
            let pay = |date: &str, now: bool| {
                let mut payment = shop.payment(date, "4200");
                if now {
                    payment["allocations"] = json!([{"targetId": bill["id"], "amount": "4200"}]);
                }
                shop.make("payments", &payment)
            };
            pay("2026-01-20", true);
            let second = pay("2026-02-20", false);
            let months = |month: u32| format!("from=2026-{month:02}-01&to=2026-{month:02}-28");
            assert_eq!(shop.flow(&months(1)), ["-1200.00", "-3000.00", "0.00", "-4200.00"]);
            assert_eq!(shop.flow(&months(2)), ["-4200.00", "0.00", "0.00", "-4200.00"]);
            let settle = json!({"date": "2026-03-05", "targetId": bill["id"], "amount": "4200"});
            shop.act("POST", "payments", &second, "allocations", Some(&settle)).expect(201);
            assert_eq!(shop.flow(&months(2)), ["-4200.00", "0.00", "0.00", "-4200.00"]);
            assert_eq!(shop.flow(&months(3)), ["3000.00", "-3000.00", "0.00", "0.00"]);
            assert_eq!(shop.flow("from=2026-01-01&to=2026-03-31"), ["-2400.00", "-6000.00", "0.00", "-8400.00"]);
            shop.proves();
        }
    }

    /// What books begin with is no business of theirs; what lies between two years moves nothing.
    fn books_that_begin_and_years_that_close_bring_no_money(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let post = |date: &str, kind: &str, lines: &[(&str, &str)]| {
                let mut journal = shop.company.journal_body(date, lines);
                journal["kind"] = json!(kind);
                shop.make("journals", &journal);
            };
            post("2025-12-31", "opening", &[("1010", "500"), ("3000", "-500")]);
            assert_eq!(
                shop.totals("/cash-flow?from=2025-12-01&to=2025-12-31", &["operating", "financing", "takenOver", "closing"]),
                ["0.00", "0.00", "500.00", "500.00"]
            );
            shop.company.journal("2026-01-02", &[("1010", "1000"), ("4000", "-1000")]);
            shop.company.journal("2026-01-03", &[("6200", "300"), ("1010", "-300")]);
            post("2026-12-31", "closing", &[("4000", "1000"), ("6200", "-300"), ("3200", "-700")]);
            assert_eq!(shop.flow("from=2026-01-01&to=2026-12-31"), ["700.00", "0.00", "0.00", "700.00"]);
            let indirect = shop.proven("/cash-flow?from=2026-01-01&to=2026-12-31&method=indirect");
            assert_eq!(Shop::figure(&indirect, "netProfit").unwrap(), "700.00");
            shop.proves();
        }
    }

    /// Money in dollars that comes to be worth more was not received from anybody.
    fn money_that_is_worth_more_came_from_nobody(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let dollars = shop.make("accounts", &json!({"code": "1020", "name": "Dollars", "type": "bank", "currency": "USD"}));
            shop.make("exchangeRates", &json!({"currency": "USD", "date": "2026-01-01", "rate": 0.90}));
            shop.make("receipts", &json!({
                "date": "2026-01-05", "accountId": dollars["id"], "currency": "USD", "amount": 1000,
                "lines": [{"accountId": shop.company.account("4000"), "amount": 1000}]
            }));
            shop.make("revaluations", &json!({"date": "2026-01-31", "rates": [{"currency": "USD", "rate": 0.95}]}));
            assert_eq!(shop.flow("from=2026-01-01&to=2026-01-31"), ["900.00", "0.00", "0.00", "950.00"]);
            assert_eq!(shop.totals("/cash-flow?from=2026-01-01&to=2026-01-31", &["exchange"]), ["50.00"]);
            assert_eq!(shop.totals("/cash-flow?from=2026-02-01&to=2026-02-28", &["exchange", "operating"]), ["-50.00", "0.00"]);
        }
    }

    /// Closing a year changes no figure of it; what comes later into it needs it open.
    fn a_year_is_closed_by_an_entry_that_changes_no_report(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let year = |name: &str, days: [&str; 2]| {
                shop.make("fiscalYears", &json!({"name": name, "start": days[0], "end": days[1]}))
            };
            let (first, second) = (year("2026", ["2026-01-01", "2026-12-31"]), year("2027", ["2027-01-01", "2027-12-31"]));
            shop.company.journal("2026-03-01", &[("1010", "1000"), ("4000", "-1000")]);
            shop.company.journal("2026-04-01", &[("6200", "300"), ("1010", "-300")]);
            let of_year = "from=2026-01-01&to=2026-12-31";
            let reports = || {
                let figures = |path: &str| {
                    let report = shop.proven(path);
                    format!("{} {}", report["rows"], report["totals"])
                };
                ["pl", "trial-balance", "equity-changes", "cash-flow"]
                    .map(|name| figures(&format!("/{name}?{of_year}")))
                    .into_iter()
                    .chain([figures("/bs?asOf=2026-12-31")])
                    .collect::<Vec<_>>()
            };
            let before = reports();
            let act = |year: &Value, action: &str| shop.act("POST", "fiscalYears", year, action, None);
            assert_eq!(act(&second, "close").expect(409).code.as_deref(), Some("invalid_state"));
            assert_eq!(act(&first, "close").expect(200).data["status"], "closed");
            assert_eq!(reports(), before);
            let moved = |code: &str| shop.company.balance(code, "&asOf=2026-12-31");
            assert_eq!([moved("4000"), moved("6200"), moved("3200")], ["0.00", "0.00", "700.00"]);
            let next = shop.proven("/trial-balance?from=2027-01-01&to=2027-01-31");
            let retained = next["rows"].as_array().unwrap().iter().find(|row| row["key"] == "3200").unwrap();
            assert_eq!(retained["values"].to_string(), "[0.00,700.00,0.00,0.00,0.00,700.00]");
            for day in ["2026-12-31", "2027-01-01"] {
                assert_eq!(shop.totals(&format!("/bs?asOf={day}"), &["equity"]), ["700.00"]);
            }
            // A bill of the closed year.
            let bill = json!({"date": "2026-12-30", "partyId": shop.supplier, "lines": [{"unitPrice": 50}]});
            assert_eq!(shop.ask("POST", "purchaseInvoices", "", Some(&bill)).expect(409).code.as_deref(), Some("period_locked"));
            assert_eq!(act(&first, "close").expect(409).code.as_deref(), Some("invalid_state"));
            assert_eq!(act(&first, "reopen").expect(200).data["status"], "open");
            assert_eq!(reports(), before);
            assert_eq!(moved("4000"), "1000.00");
            shop.make("purchaseInvoices", &bill);
            act(&first, "close").expect(200);
            assert_eq!([moved("4000"), moved("6200"), moved("3200")], ["0.00", "0.00", "650.00"]);
            assert_eq!(shop.totals(&format!("/pl?{of_year}"), &["netProfit"]), ["650.00"]);
            // Closed in order, reopened the other way round.
            act(&second, "close").expect(200);
            assert_eq!(act(&first, "reopen").expect(409).code.as_deref(), Some("invalid_state"));
            act(&second, "reopen").expect(200);
            act(&first, "reopen").expect(200);
            shop.proves();
        }
    }

    /// What closes a year lies on its last day.
    fn a_closing_journal_is_dated_on_the_last_day_of_a_year(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let mut journal = shop.company.journal_body("2026-06-30", &[("4000", "10"), ("3200", "-10")]);
            journal["kind"] = json!("closing");
            let refused = shop.ask("POST", "journals", "", Some(&journal)).expect(400);
            assert!(refused.errors["date"].to_string().contains("last day of a fiscal year"), "{}", refused.answer.text);
            shop.make("fiscalYears", &json!({"name": "Short", "start": "2026-01-01", "end": "2026-06-30"}));
            shop.make("journals", &journal);
        }
    }
}
