//! One tax engine and a tax sub-ledger: the worked examples, asked in both dialects.

use crate::harness::books::behind_the_back;
use crate::harness::server::DIALECTS;
use crate::harness::shop::{Shop, id};
use crate::harness::{Dialect, Engine, Options, Server, on_both_engines};
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
    fn example_2_1_a_reverse_charge_is_the_same_on_a_bill_and_on_a_direct_line(server) {
        in_both(server, &json!({}), |shop| {
            let owed = shop.make("accounts", &json!({"code": "2299", "name": "Reverse charge", "type": "taxPayable"}));
            let claimed = shop.make("accounts", &json!({"code": "1499", "name": "Reverse charge", "type": "currentAsset"}));
            let code = shop.tax("RC20", json!([{
                "name": "RC", "rate": 20, "kind": "reverseCharge", "recoverablePercent": 50,
                "payableAccountId": id(&owed), "receivableAccountId": id(&claimed)
            }]));
            let expense = shop.company.account("6000");
            let paid = shop.make("payments", &shop.spend("2026-03-01", "100", json!([{"accountId": expense, "amount": 100, "taxCodeId": code}])));
            assert_eq!(shop.posted(&paid), ["1010 -100.00", "1499 10.00", "2299 -20.00", "6000 110.00"]);
            let bill = shop.purchase("2026-03-02", json!([{"unitPrice": 100, "taxCodeId": code}]));
            assert_eq!(shop.posted(&bill), ["1499 10.00", "2100 -100.00", "2299 -20.00", "6000 110.00"]);
            let both = " outputTax 40.00 purchaseBase 200.00 inputTax 20.00 notRecoverable 20.00";
            assert_eq!(shop.of_year(), [format!("RC20{both}"), format!("  RC{both}"), format!("total{both}")]);
        });
    }

    fn example_2_2_a_compound_component_stands_on_what_is_before_it(server) {
        in_both(server, &json!({}), |shop| {
            let code = shop.tax("AB", json!([{"name": "A", "rate": 5}, {"name": "B", "rate": 9.975, "isCompound": true}]));
            let line = json!([{"accountId": shop.company.account("6000"), "amount": 115.47, "taxCodeId": code}]);
            let paid = shop.make("payments", &shop.spend("2026-03-01", "115.47", line));
            assert_eq!(shop.posted(&paid), ["1010 -115.47", "1400 15.47", "6000 100.00"]);
            assert_eq!(shop.of_year(), [
                "AB purchaseBase 100.00 inputTax 15.47",
                "  A purchaseBase 100.00 inputTax 5.00",
                "  B purchaseBase 105.00 inputTax 10.47",
                "total purchaseBase 100.00 inputTax 15.47",
            ]);
        });
    }

    fn example_2_3_a_credit_takes_the_rates_of_what_it_credits(server) {
        in_both(server, &json!({}), |shop| {
            let component = json!([{"name": "VAT", "rate": 19, "rates": [{"validFrom": "2026-07-01", "rate": 16}]}]);
            let code = shop.tax("VAT", component);
            let sale = shop.sale("2026-06-20", json!([{"unitPrice": 100, "taxCodeId": code}]));
            let credit = shop.make("creditNotes", &json!({
                "date": "2026-07-15", "partyId": shop.customer, "salesInvoiceId": id(&sale),
                "lines": [{"sourceLineId": sale["lines"][0]["id"]}]
            }));
            assert_eq!(credit["total"].to_string(), "119.00");
            let figures = |sign: &str| format!(" salesBase {sign}100.00 outputTax {sign}19.00");
            for (from, to, sign) in [("2026-06-01", "2026-06-30", ""), ("2026-07-01", "2026-07-31", "-")] {
                let said = figures(sign);
                assert_eq!(shop.summary(from, to), [format!("VAT{said}"), format!("  VAT{said}"), format!("total{said}")]);
            }
            // What stands by itself has the rates of its own day.
            assert_eq!(shop.sale("2026-07-15", json!([{"unitPrice": 100, "taxCodeId": code}]))["total"].to_string(), "116.00");
        });
    }

    fn example_2_4_what_is_kept_back_on_a_direct_line_does_not_move(server) {
        in_both(server, &json!({}), |shop| {
            let code = shop.tax("W", json!([{"name": "VAT", "rate": 20}, {"name": "WHT", "rate": 10, "kind": "withholding"}]));
            let line = json!([{"accountId": shop.company.account("6000"), "amount": 1200, "taxCodeId": code}]);
            let paid = shop.make("payments", &shop.spend("2026-03-01", "1100", line.clone()));
            assert_eq!(shop.posted(&paid), ["1010 -1100.00", "1400 200.00", "2210 -100.00", "6000 1000.00"]);
            assert_eq!(paid["lines"][0]["withheldAmount"].to_string(), "100.00");
            assert_eq!(shop.of_year(), [
                "W purchaseBase 1000.00 inputTax 200.00 withheldByUs 100.00",
                "  VAT purchaseBase 1000.00 inputTax 200.00",
                "  WHT purchaseBase 1000.00 withheldByUs 100.00",
                "total purchaseBase 1000.00 inputTax 200.00 withheldByUs 100.00",
            ]);
            // What moves is less than the lines; more of it has a party.
            assert_eq!(shop.refused("payments", &shop.spend("2026-03-01", "1200", line)), ["partyId"]);
        });
    }

    fn example_2_5_what_was_open_before_these_books_is_in_no_return(server) {
        in_both(server, &json!({}), |shop| {
            let code = shop.vat("19");
            let sale = shop.make("salesInvoices", &json!({
                "date": "2025-12-31", "partyId": shop.customer, "isOpening": true, "lines": [{"unitPrice": 100, "taxCodeId": code}]
            }));
            assert_eq!(shop.posted(&sale), ["1200 119.00", "3900 -119.00"]);
            let mut receipt = shop.receipt("2026-01-20", "59.50");
            receipt["allocations"] = json!([{"targetId": id(&sale), "amount": "59.50"}]);
            shop.make("receipts", &receipt);
            assert_eq!(shop.summary("2025-01-01", "2026-12-31"), ["total"]);
            let cash = shop.rows("tax-summary?from=2026-01-01&to=2026-01-31&taxBasis=cash");
            assert_eq!(cash[0], "VAT19 salesBase 50.00 outputTax 9.50");
        });
    }

    fn example_2_6_journals_tell_of_tax_and_of_what_only_moves_it(server) {
        in_both(server, &json!({}), |shop| {
            let code = shop.vat("19");
            let line = |account: &str, debit: &str, credit: &str| {
                json!({"accountId": shop.company.account(account), "debit": debit, "credit": credit})
            };
            let taxed = |mut line: Value, more: Value| {
                line["taxCodeId"] = json!(code);
                line.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
                line
            };
            let side = json!({"taxSide": "purchase"});
            let journal = |lines: Value| json!({"date": "2026-03-01", "lines": lines});
            shop.make("journals", &journal(json!([
                taxed(line("6000", "100", "0"), side.clone()), taxed(line("1400", "19", "0"), side.clone()), line("1010", "0", "119")
            ])));
            shop.make("journals", &journal(json!([line("2200", "30", "0"), line("1010", "0", "30")])));
            let report = shop.proved("tax-summary?from=2026-01-01&to=2026-12-31");
            assert_eq!(report["totals"]["netTax"].to_string(), "-19.00");
            assert_eq!(shop.of_year(), [
                "VAT19 purchaseBase 100.00 inputTax 19.00",
                "  VAT purchaseBase 100.00 inputTax 19.00",
                "carry outputTax -30.00",
                "total purchaseBase 100.00 inputTax 19.00",
            ]);
            // Import VAT: the tax says what it was computed on.
            let body = journal(json!([
                taxed(line("1400", "190", "0"), json!({"taxSide": "purchase", "taxBase": 1000})), line("1010", "0", "190")
            ]));
            let made = shop.make("journals", &body);
            assert_eq!(shop.of_year()[0], "VAT19 purchaseBase 1100.00 inputTax 209.00");
            // What is read and sent back changes nothing; what is taken back is gone.
            let back = shop.ask("PUT", "journals", &format!("/{}", id(&made)), Some(&made)).expect(200).data;
            assert_eq!(back["version"], made["version"]);
            shop.void("journals", &made);
            assert_eq!(shop.of_year()[0], "VAT19 purchaseBase 100.00 inputTax 19.00");
            for (line, field) in [
                (taxed(line("1400", "19", "0"), json!({})), "lines[0].taxSide"),
                (taxed(line("6000", "19", "0"), json!({"taxSide": "purchase", "taxBase": 5})), "lines[0].taxBase"),
                (taxed(line("1400", "19", "0"), json!({"taxSide": "purchase", "taxComponentId": shop.customer})), "lines[0].taxComponentId"),
            ] {
                assert_eq!(shop.refused("journals", &journal(json!([line, {"accountId": shop.company.account("1010"), "credit": "19"}]))), [field]);
            }
        });
    }

    fn example_2_7_no_turnover_is_missing(server) {
        in_both(server, &json!({}), |shop| {
            let kind = |code: &str, rate: &str, kind: &str| shop.tax(code, json!([{"name": code, "rate": rate, "kind": kind}]));
            let (vat, exempt, zero) = (kind("V19", "19", "standard"), kind("EX", "0", "exempt"), kind("Z0", "0", "zero"));
            let (reverse, withheld) = (kind("RC", "19", "reverseCharge"), kind("W10", "10", "withholding"));
            shop.sale("2026-03-01", json!([
                {"unitPrice": 1000, "taxCodeId": vat}, {"unitPrice": 70, "taxCodeId": exempt}, {"unitPrice": 20, "taxCodeId": zero},
                {"unitPrice": 40, "taxCodeId": reverse}, {"unitPrice": 5, "taxCodeId": null}
            ]));
            let sale = shop.sale("2026-03-02", json!([{"unitPrice": 500, "taxCodeId": withheld}]));
            let mut receipt = shop.receipt("2026-03-03", "450");
            receipt["allocations"] = json!([{"targetId": id(&sale), "amount": 450, "withheldAmount": 50}]);
            let receipt = shop.make("receipts", &receipt);
            let bill = shop.purchase("2026-03-04", json!([{"unitPrice": 300, "taxCodeId": reverse}, {"unitPrice": 60, "taxCodeId": zero}]));
            assert_eq!(shop.posted(&bill), ["1400 57.00", "2100 -360.00", "2200 -57.00", "6000 360.00"]);
            assert_eq!(shop.summary("2026-03-01", "2026-03-31"), [
                "EX salesBase 70.00", "  EX salesBase 70.00",
                "RC salesBase 40.00 outputTax 57.00 purchaseBase 300.00 inputTax 57.00",
                "  RC salesBase 40.00 outputTax 57.00 purchaseBase 300.00 inputTax 57.00",
                "V19 salesBase 1000.00 outputTax 190.00", "  V19 salesBase 1000.00 outputTax 190.00",
                "W10 salesBase 500.00 withheldFromUs 50.00", "  W10 salesBase 500.00 withheldFromUs 50.00",
                "Z0 salesBase 20.00 purchaseBase 60.00", "  Z0 salesBase 20.00 purchaseBase 60.00",
                "none salesBase 5.00",
                "total salesBase 1635.00 outputTax 247.00 purchaseBase 360.00 inputTax 57.00 withheldFromUs 50.00",
            ]);
            assert_eq!(shop.proved("tax-summary?from=2026-03-01&to=2026-03-31")["totals"]["netTax"].to_string(), "190.00");
            // Ten facts of lines: the bill's reverse charge is owed and claimed, the settlement kept something back.
            let detail = shop.proved("tax-detail?from=2026-03-01&to=2026-03-31");
            assert_eq!((detail["rows"].as_array().unwrap().len(), detail["totals"]["netTax"].to_string()), (10, "190.00".into()));
            shop.void("receipts", &receipt);
            assert!(shop.of_year().contains(&"W10 salesBase 500.00".to_owned()));
        });
    }

    fn example_2_8_a_discount_for_paying_early_reduces_the_tax_where_it_does(server) {
        for (reduces, posted, summary) in [
            (true, ["1010 1166.20", "1200 -1190.00", "2200 3.80", "6820 20.00"].as_slice(), "VAT19 salesBase 980.00 outputTax 186.20"),
            (false, ["1010 1166.20", "1200 -1190.00", "6820 23.80"].as_slice(), "VAT19 salesBase 1000.00 outputTax 190.00"),
        ] {
            in_both(server, &json!({"discountReducesTax": reduces}), |shop| {
                let sale = shop.sale("2026-03-01", json!([{"unitPrice": 1000, "taxCodeId": shop.vat("19")}]));
                let mut receipt = shop.receipt("2026-03-05", "1166.20");
                receipt["allocations"] = json!([{"targetId": id(&sale), "amount": "1166.20", "discountAmount": "23.80"}]);
                let receipt = shop.make("receipts", &receipt);
                assert_eq!(shop.posted(&receipt), posted);
                assert_eq!(shop.of_year()[0], summary);
                shop.void("receipts", &receipt);
                assert_eq!(shop.of_year()[0], "VAT19 salesBase 1000.00 outputTax 190.00");
            });
        }
        // It starts as the company's country has it.
        for (country, reduces) in [(json!("DE"), true), (json!("US"), true), (json!("IN"), false), (json!(null), false)] {
            let company = server.company_like(json!({"name": "A shop", "baseCurrency": "EUR", "country": country}));
            let shown = company.ask(Dialect::B, "GET", "businesses", &format!("/{}", company.id), None).expect(200).data;
            assert_eq!(shown["settings"]["discountReducesTax"], reduces, "{country}");
        }
    }

    fn example_2_9_a_note_that_writes_off_is_a_loss_and_no_less_income(server) {
        in_both(server, &json!({}), |shop| {
            let code = shop.vat("19");
            let note = json!({
                "date": "2026-03-01", "partyId": shop.customer, "kind": "writeOff", "lines": [{"unitPrice": 100, "taxCodeId": code}]
            });
            let note = shop.make("creditNotes", &note);
            assert_eq!(shop.posted(&note), ["1200 -119.00", "2200 19.00", "6810 100.00"]);
            assert_eq!(shop.of_year()[0], "VAT19 salesBase -100.00 outputTax -19.00");
            let pl = shop.proved("pl?from=2026-01-01&to=2026-12-31");
            assert_eq!(pl["totals"]["netProfit"].to_string(), "-100.00");
        });
    }

    fn example_2_10_a_document_is_converted_once(server) {
        in_both(server, &json!({}), |shop| {
            let bill = shop.make("purchaseInvoices", &json!({
                "date": "2026-03-01", "partyId": shop.supplier, "currency": "USD", "exchangeRate": 0.3333,
                "lines": [{"unitPrice": "10.01", "taxCodeId": shop.vat("20")}]
            }));
            assert_eq!(shop.posted(&bill), ["1400 0.66", "2100 -4.00", "6000 3.34"]);
            assert_eq!((bill["baseNetTotal"].to_string(), bill["baseTaxTotal"].to_string()), ("3.34".into(), "0.66".into()));
            assert_eq!(shop.of_year()[0], "VAT20 purchaseBase 3.34 inputTax 0.66");
        });
    }

    fn example_2_11_a_stated_tax_is_taken_within_the_tolerance(server) {
        in_both(server, &json!({}), |shop| {
            let code = shop.vat("20");
            let line = |tax: &str| json!([{"unitPrice": 10, "taxCodeId": code, "taxAmount": tax}]);
            let bill = shop.purchase("2026-03-01", line("2.01"));
            assert_eq!(shop.posted(&bill), ["1400 2.01", "2100 -12.01", "6000 10.00"]);
            let refused = json!({"date": "2026-03-01", "partyId": shop.supplier, "lines": line("2.50")});
            assert_eq!(shop.refused("purchaseInvoices", &refused), ["lines[0].taxAmount"]);
            // What was computed, read and sent back with another price states nothing; what was stated is stated still.
            let plain = shop.purchase("2026-03-02", json!([{"unitPrice": 10, "taxCodeId": code}]));
            let dearer = |record: &Value| {
                let mut body = record.clone();
                body["lines"][0]["unitPrice"] = json!(20);
                shop.ask("PUT", "purchaseInvoices", &format!("/{}", id(record)), Some(&body))
            };
            assert_eq!(dearer(&plain).expect(200).data["taxTotal"].to_string(), "4.00");
            assert_eq!(dearer(&bill).expect(400).fields(), ["lines[0].taxAmount"]);
            // Direct lines take one as well.
            let direct = json!([{"accountId": shop.company.account("6000"), "amount": 12, "taxCodeId": code, "taxAmount": "2.01"}]);
            let paid = shop.make("payments", &shop.spend("2026-03-03", "12", direct));
            assert_eq!(shop.posted(&paid), ["1010 -12.00", "1400 2.01", "6000 9.99"]);
        });
    }

    fn example_2_12_on_cash_basis_tax_counts_when_it_is_paid(server) {
        in_both(server, &json!({}), |shop| {
            let code = shop.vat("19");
            let sale = shop.sale("2026-03-10", json!([{"unitPrice": 1000, "taxCodeId": code}]));
            let pay = |date: &str, amount: &str| {
                let mut receipt = shop.receipt(date, amount);
                receipt["allocations"] = json!([{"targetId": id(&sale), "amount": amount}]);
                shop.make("receipts", &receipt)
            };
            pay("2026-04-05", "595");
            shop.make("creditNotes", &json!({
                "date": "2026-04-20", "partyId": shop.customer, "salesInvoiceId": id(&sale), "kind": "priceAdjustment",
                "lines": [{"unitPrice": 200, "taxCodeId": code}], "allocations": [{"targetId": id(&sale), "amount": 238}]
            }));
            let last = pay("2026-05-10", "357");
            let of = |days: &str, basis: &str| shop.rows(&format!("tax-summary?{days}&taxBasis={basis}")).pop().unwrap();
            let (march, april, may) = ("from=2026-03-01&to=2026-03-31", "from=2026-04-01&to=2026-04-30", "from=2026-05-01&to=2026-05-31");
            for (days, expected) in [
                (march, "total"), (april, "total salesBase 500.00 outputTax 95.00"), (may, "total salesBase 300.00 outputTax 57.00")
            ] {
                assert_eq!(of(days, "cash"), expected);
                assert_eq!(of(days, "cashSales"), expected);
            }
            assert_eq!(of("from=2026-03-01&to=2026-05-31", "invoice"), "total salesBase 800.00 outputTax 152.00");
            assert_eq!(of(march, "invoice"), "total salesBase 1000.00 outputTax 190.00");
            shop.void("receipts", &last);
            assert_eq!(of(may, "cash"), "total");
        });
    }

    fn example_2_17_what_was_never_paid_is_never_owed(server) {
        for reduces in [false, true] {
            let settings = json!({"taxBasis": [{"validFrom": "2026-01-01", "basis": "cash"}], "writeOffReducesTax": reduces});
            in_both(server, &settings, |shop| {
                let sale = shop.sale("2026-03-10", json!([{"unitPrice": 1000, "taxCodeId": shop.vat("19")}]));
                let mut receipt = shop.receipt("2026-04-05", "690");
                receipt["allocations"] = json!([{"targetId": id(&sale), "amount": 690}]);
                shop.make("receipts", &receipt);
                let mut rest = shop.receipt("2026-05-05", "0.01");
                rest["allocations"] = json!([{"targetId": id(&sale), "amount": "0.01", "writeOffAmount": "499.99"}]);
                shop.make("receipts", &rest);
                assert_eq!(shop.summary("2026-03-01", "2026-03-31"), ["total"]);
                assert_eq!(shop.summary("2026-04-01", "2026-04-30")[0], "VAT19 salesBase 579.83 outputTax 110.17");
                let may = shop.summary("2026-05-01", "2026-05-31").pop().unwrap();
                assert_eq!(may, "total salesBase 0.01", "the cent that came");
                let of_april = shop.rows("tax-summary?from=2026-04-01&to=2026-04-30&taxBasis=invoice");
                assert_eq!(of_april, ["total"]);
            });
        }
    }

    fn example_2_13_a_coupon_is_a_line(server) {
        in_both(server, &json!({}), |shop| {
            let code = shop.vat("20");
            let sale = |lines: Value| json!({"date": "2026-03-01", "partyId": shop.customer, "pricesIncludeTax": true, "lines": lines});
            let made = shop.make("salesInvoices", &sale(json!([
                {"description": "Mug", "unitPrice": 30, "taxCodeId": code}, {"description": "Coupon", "unitPrice": -5, "taxCodeId": code}
            ])));
            let lines: Vec<(String, String)> = (0..2)
                .map(|place| (made["lines"][place]["netAmount"].to_string(), made["lines"][place]["taxAmount"].to_string()))
                .collect();
            assert_eq!(lines, [("25.00".into(), "5.00".into()), ("-4.17".into(), "-0.83".into())]);
            assert_eq!((made["total"].to_string(), made["netTotal"].to_string(), made["taxTotal"].to_string()), ("25.00".into(), "20.83".into(), "4.17".into()));
            assert_eq!(shop.of_year()[0], "VAT20 salesBase 20.83 outputTax 4.17");
            let refused = |lines: Value| shop.refused("salesInvoices", &sale(lines));
            assert_eq!(refused(json!([{"unitPrice": -5, "taxCodeId": code}])), ["lines"]);
            let goods = shop.item(json!({"salePrice": 5}));
            assert_eq!(refused(json!([{"unitPrice": 50}, {"itemId": goods, "quantity": -1}])), ["lines[1].quantity"]);
        });
    }

    fn example_2_14_a_return_has_a_row_for_each_box(server) {
        in_both(server, &json!({}), |shop| {
            let kind = |code: &str, rate: &str, kind: &str, boxes: Value| {
                shop.tax(code, json!([{"name": code, "rate": rate, "kind": kind, "boxes": boxes}]))
            };
            let vat = kind("V19", "19", "standard", json!({"salesBase": "81", "salesTax": "81T", "purchaseClaim": "66"}));
            let exempt = kind("EX", "0", "exempt", json!({"salesBase": "48"}));
            let reverse = kind("RC", "19", "reverseCharge", json!({
                "salesBase": "21", "purchaseBase": "84", "purchaseDue": "85", "purchaseClaim": "67"
            }));
            let sale = shop.sale("2026-03-01", json!([
                {"unitPrice": 1000, "taxCodeId": vat}, {"unitPrice": 70, "taxCodeId": exempt}, {"unitPrice": 40, "taxCodeId": reverse}
            ]));
            shop.purchase("2026-03-02", json!([{"unitPrice": 300, "taxCodeId": reverse}, {"unitPrice": 100, "taxCodeId": vat}]));
            shop.make("creditNotes", &json!({
                "date": "2026-03-03", "partyId": shop.customer, "salesInvoiceId": id(&sale), "kind": "priceAdjustment",
                "lines": [{"unitPrice": 100, "taxCodeId": vat}]
            }));
            let path = "tax-return?from=2026-03-01&to=2026-03-31";
            assert_eq!(shop.rows(path), [
                "21 base 40.00 amount 40.00", "48 base 70.00 amount 70.00", "66 tax 19.00 amount 19.00", "67 tax 57.00 amount 57.00",
                "81 base 900.00 amount 900.00", "81T tax 171.00 amount 171.00", "84 base 300.00 amount 300.00", "85 tax 57.00 amount 57.00",
                "none", "  V19 base 100.00",
            ]);
            assert_eq!(shop.proved(path)["totals"]["payable"].to_string(), "152.00");
            // A box that is named later moves no figure of before.
            let mut code = shop.get("taxCodes", &json!({"id": vat}));
            code["components"][0]["boxes"]["salesBase"] = json!("99");
            shop.ask("PUT", "taxCodes", &format!("/{vat}"), Some(&code)).expect(200);
            assert!(shop.rows(path).contains(&"81 base 900.00 amount 900.00".to_owned()));
        });
    }

    fn example_2_15_and_2_16_come_to_the_coin_over_the_wire(server) {
        in_both(server, &json!({}), |shop| {
            let excise = shop.tax("EXCISE", json!([
                {"name": "Excise", "rate": 2, "kind": "fixedPerUnit"}, {"name": "VAT", "rate": 20, "isCompound": true}
            ]));
            let sale = shop.make("salesInvoices", &json!({
                "date": "2026-03-01", "partyId": shop.customer, "pricesIncludeTax": true, "lines": [{"unitPrice": 12, "taxCodeId": excise}]
            }));
            assert_eq!(shop.of_year(), [
                "EXCISE salesBase 8.00 outputTax 4.00",
                "  Excise salesBase 8.00 outputTax 2.00",
                "  VAT salesBase 10.00 outputTax 2.00",
                "total salesBase 8.00 outputTax 4.00",
            ]);
            shop.void("salesInvoices", &sale);
            let vat = shop.vat("20");
            let sale = shop.sale("2026-03-02", json!([{"unitPrice": 30, "taxCodeId": vat}, {"unitPrice": "-29.97", "taxCodeId": vat}]));
            let taxes: Vec<String> = (0..2).map(|place| sale["lines"][place]["taxAmount"].to_string()).collect();
            assert_eq!((taxes, sale["taxTotal"].to_string()), (vec!["6.00".into(), "-5.99".into()], "0.01".into()));
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
    fn what_is_written_off_reduces_the_tax_where_it_does(server) {
        let shop = Shop::with(server, Dialect::A, json!({"writeOffReducesTax": true}));
        let sale = shop.sale("2026-03-01", json!([{"unitPrice": 1000, "taxCodeId": shop.vat("19")}]));
        let mut receipt = shop.receipt("2026-04-05", "690");
        receipt["allocations"] = json!([{"targetId": id(&sale), "amount": 690, "writeOffAmount": 500}]);
        let receipt = shop.make("receipts", &receipt);
        assert_eq!(shop.posted(&receipt), ["1010 690.00", "1200 -1190.00", "2200 79.83", "6810 420.17"]);
        assert_eq!(shop.summary("2026-04-01", "2026-04-30")[0], "VAT19 salesBase -420.17 outputTax -79.83");
        shop.proves();
    }

    fn books_of_before_say_that_they_do_not_tell_of_tax(server) {
        // What is done behind its back is done to a server of its own.
        let Some(server) = Server::start(server.engine, Options::default()) else { return };
        let shop = Shop::open(&server, Dialect::B);
        shop.sale("2026-03-01", json!([{"unitPrice": 100, "taxCodeId": shop.vat("19")}]));
        let number = shop.company.id.replace('-', "");
        let company = match server.engine {
            Engine::Sqlite => format!("x'{number}'"),
            Engine::Postgres => format!("'{}'", shop.company.id),
        };
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
