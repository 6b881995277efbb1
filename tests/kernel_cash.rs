//! Cash basis, in returns and in statements: what is due by a day is a share of what is left. Figures by hand.

use crate::harness::on_both_engines;
use crate::harness::shop::{Shop, id};
use crate::kernel_tax::in_both;
use serde_json::{Value, json};

impl Shop<'_> {
    /// What accounts come to in a statement, and what it says was earned.
    fn stands(&self, path: &str) -> Vec<String> {
        fn walk(rows: &Value, found: &mut Vec<String>) {
            for row in rows.as_array().unwrap() {
                let figure = row["values"][0].to_string();
                let said = row["type"] == "account" || row["key"] == "currentEarnings" || row["key"] == "netProfit";
                if said && figure != "0.00" {
                    found.push(format!("{} {figure}", row["key"].as_str().unwrap()));
                }
                walk(&row["children"], found);
            }
        }
        let mut found = Vec::new();
        walk(&self.proved(path)["rows"], &mut found);
        found
    }

    fn held_on(&self, day: &str) -> Vec<String> {
        self.stands(&format!("bs?asOf={day}&basis=cash"))
    }

    fn earned_in(&self, from: &str, to: &str) -> Vec<String> {
        self.stands(&format!("pl?from={from}&to={to}&basis=cash"))
    }

    fn settles(&self, resource: &str, date: &str, target: &Value, amount: &str, more: Value) -> Value {
        let mut body = if resource == "receipts" { self.receipt(date, amount) } else { self.payment(date, amount) };
        let mut allocation = json!({"targetId": id(target), "amount": amount});
        allocation.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        body["allocations"] = json!([allocation]);
        self.make(resource, &body)
    }

    fn taxed(&self, from: &str, to: &str, basis: &str) -> String {
        self.rows(&format!("tax-summary?from={from}&to={to}{basis}")).pop().unwrap()
    }
}

const APRIL: (&str, &str) = ("2026-04-01", "2026-04-30");
const MAY: (&str, &str) = ("2026-05-01", "2026-05-31");
const YEAR: (&str, &str) = ("2026-01-01", "2026-12-31");

on_both_engines! {
    fn statements_count_what_is_paid_with_its_tax(server) {
        in_both(server, &json!({}), |shop| {
            let sale = shop.sale("2026-03-10", json!([{"unitPrice": 1000, "taxCodeId": shop.vat("19")}]));
            shop.settles("receipts", "2026-04-05", &sale, "595", json!({}));
            shop.make("creditNotes", &json!({
                "date": "2026-04-20", "partyId": shop.customer, "salesInvoiceId": id(&sale), "kind": "priceAdjustment",
                "lines": [{"unitPrice": 200, "taxCodeId": sale["lines"][0]["taxCodeId"]}],
                "allocations": [{"targetId": id(&sale), "amount": 238}]
            }));
            let last = shop.settles("receipts", "2026-05-10", &sale, "357", json!({}));
            assert_eq!(shop.held_on("2026-03-31"), Vec::<String>::new());
            assert_eq!(shop.held_on("2026-04-04"), Vec::<String>::new());
            assert_eq!(shop.held_on("2026-04-30"), ["1010 595.00", "2200 95.00", "currentEarnings 500.00"], "2.12");
            assert_eq!(shop.held_on("2026-05-31"), ["1010 952.00", "2200 152.00", "currentEarnings 800.00"], "2.12");
            assert_eq!(shop.earned_in("2026-03-01", "2026-03-31"), Vec::<String>::new());
            assert_eq!(shop.earned_in(APRIL.0, APRIL.1), ["4000 500.00", "netProfit 500.00"]);
            assert_eq!(shop.earned_in(MAY.0, MAY.1), ["4000 300.00", "netProfit 300.00"]);
            // Beside each other, and as it was before the last of it was taken back.
            let report = shop.proved("bs?asOf=2026-05-31&periods=3&interval=month&basis=cash");
            assert_eq!((&report["basis"], report["rows"][2]["values"].to_string()), (&json!("cash"), "[952.00,595.00,0.00]".into()));
            let known = last["updatedAt"].as_str().unwrap().to_owned();
            shop.void("receipts", &last);
            assert_eq!(shop.held_on("2026-05-31"), ["1010 595.00", "2200 95.00", "currentEarnings 500.00"]);
            let before = shop.stands(&format!("bs?asOf=2026-05-31&basis=cash&knownAt={known}"));
            assert_eq!(before, ["1010 952.00", "2200 152.00", "currentEarnings 800.00"]);
        });
    }

    fn in_statements_what_is_taken_off_settles_like_money(server) {
        for (reduces, discount, tax) in [(true, "20.00", "186.20"), (false, "23.80", "190.00")] {
            in_both(server, &json!({"discountReducesTax": reduces}), |shop| {
                let sale = shop.sale("2026-03-10", json!([{"unitPrice": 1000, "taxCodeId": shop.vat("19")}]));
                shop.settles("receipts", "2026-04-05", &sale, "1166.20", json!({"discountAmount": "23.80"}));
                let profit = if reduces { "980.00" } else { "976.20" };
                assert_eq!(shop.earned_in(APRIL.0, APRIL.1), ["4000 1000.00".into(), format!("6820 {discount}"), format!("netProfit {profit}")]);
                assert_eq!(shop.held_on("2026-04-30"), ["1010 1166.20".into(), format!("2200 {tax}"), format!("currentEarnings {profit}")]);
                // In a return nobody owes tax on money that never came.
                assert_eq!(shop.taxed(APRIL.0, APRIL.1, "&taxBasis=cash"), "total salesBase 980.00 outputTax 186.20");
            });
        }
    }

    fn goods_assets_and_the_cost_of_sales_stand_as_in_the_ledger(server) {
        in_both(server, &json!({}), |shop| {
            let (vat, item) = (shop.vat("20"), shop.item(json!({"salePrice": 60})));
            let bill = shop.purchase("2026-03-01", json!([
                {"itemId": item, "quantity": 10, "unitPrice": 10, "taxCodeId": vat},
                {"accountId": shop.company.account("6000"), "unitPrice": 50, "taxCodeId": vat}
            ]));
            assert_eq!(shop.held_on("2026-03-31"), ["1300 100.00", "2100 100.00"]);
            shop.settles("payments", "2026-04-05", &bill, "90", json!({}));
            // Half of the 50.00 and of the tax of 30.00; what is open of the goods is still owed.
            assert_eq!(shop.held_on("2026-04-30"), ["1010 -90.00", "1300 100.00", "1400 15.00", "2100 50.00", "currentEarnings -25.00"]);
            let sale = shop.sale("2026-05-02", json!([{"itemId": item, "quantity": 2, "taxCodeId": vat}]));
            assert_eq!(shop.earned_in(MAY.0, MAY.1), ["5000 20.00", "netProfit -20.00"]);
            shop.settles("receipts", "2026-05-10", &sale, "36", json!({}));
            assert_eq!(shop.earned_in(MAY.0, MAY.1), ["4000 30.00", "5000 20.00", "netProfit 10.00"]);
            assert_eq!(shop.held_on("2026-05-31"), [
                "1010 -54.00", "1300 80.00", "1400 15.00", "2100 50.00", "2200 6.00", "currentEarnings -15.00"
            ]);
            // On whatever account goods have their cost.
            let other = shop.item(json!({"name": "Other", "salePrice": 60, "cogsAccountId": shop.company.account("6000")}));
            shop.purchase("2026-07-01", json!([{"itemId": other, "quantity": 1, "unitPrice": 9}]));
            shop.sale("2026-07-02", json!([{"itemId": other}]));
            assert_eq!(shop.earned_in("2026-07-01", "2026-07-31"), ["6000 9.00", "netProfit -9.00"]);
            // What a bill says itself of the cost of sales stands as well, and is owed.
            shop.purchase("2026-06-01", json!([{"accountId": shop.company.account("5000"), "unitPrice": 30}, {"unitPrice": 7}]));
            assert_eq!(shop.earned_in("2026-06-01", "2026-06-30"), ["5000 30.00", "netProfit -30.00"]);
            assert!(shop.held_on("2026-06-30").contains(&"2100 80.00".to_owned()));
        });
    }

    fn a_reverse_charge_is_owed_when_it_is_written_and_a_cost_when_it_is_paid(server) {
        in_both(server, &json!({}), |shop| {
            let code = shop.tax("RC20", json!([{"name": "RC", "rate": 20, "kind": "reverseCharge", "recoverablePercent": 50}]));
            let bill = shop.purchase("2026-03-01", json!([{"unitPrice": 100, "taxCodeId": code}, {"unitPrice": 100}]));
            assert_eq!(shop.held_on("2026-03-31"), ["1400 10.00", "2200 20.00", "currentEarnings -10.00"]);
            assert_eq!(shop.taxed("2026-03-01", "2026-03-31", "&taxBasis=cash"), "total outputTax 20.00 purchaseBase 100.00 inputTax 10.00 notRecoverable 10.00");
            shop.settles("payments", "2026-04-05", &bill, "50", json!({}));
            assert_eq!(shop.earned_in(APRIL.0, APRIL.1), ["6000 50.00", "netProfit -50.00"]);
            shop.settles("payments", "2026-04-06", &bill, "150", json!({}));
            assert_eq!(shop.earned_in(YEAR.0, YEAR.1), ["6000 210.00", "netProfit -210.00"]);
        });
    }

    fn what_is_paid_in_parts_is_due_in_the_same_shares_everywhere(server) {
        in_both(server, &json!({}), |shop| {
            let vat = shop.vat("20");
            let sale = shop.sale("2026-03-10", json!([{"unitPrice": 1000, "taxCodeId": vat}]));
            for (day, amount, income, tax) in [
                ("2026-04-01", "500", "416.67", "83.33"), ("2026-04-02", "333.33", "277.77", "55.56"), ("2026-04-03", "366.67", "305.56", "61.11")
            ] {
                shop.settles("receipts", day, &sale, amount, json!({}));
                assert_eq!(shop.earned_in(day, day), [format!("4000 {income}"), format!("netProfit {income}")], "J4");
                assert_eq!(shop.taxed(day, day, "&taxBasis=cash"), format!("total salesBase {income} outputTax {tax}"), "J4");
            }
            // Fact by fact it is the same: a row for each share, on its day.
            let details = |days: &str| {
                let report = shop.proved(&format!("tax-detail?{days}&taxBasis=cash"));
                let row = |row: &Value| [0, 7, 8].map(|place: usize| row["values"][place].to_string().replace('"', "")).join(" ");
                let rows: Vec<String> = report["rows"].as_array().unwrap().iter().map(row).collect();
                (rows, report["totals"]["netTax"].to_string(), report["pagination"]["totalCount"].to_string())
            };
            let all = ["2026-04-01 416.67 83.33", "2026-04-02 277.77 55.56", "2026-04-03 305.56 61.11"];
            assert_eq!(details("from=2026-01-01&to=2026-12-31").0, all);
            assert_eq!(details("from=2026-04-02&to=2026-04-02"), (vec![all[1].into()], "55.56".into(), "1".into()));
            assert_eq!(details("from=2026-01-01&to=2026-12-31&page=2&pageSize=2"), (vec![all[2].into()], "200.00".into(), "3".into()));
            // Lines of one account, and of several: bases and tax add up to what was paid, and the tax is that of the return.
            let thirds = json!([
                {"unitPrice": "33.33", "taxCodeId": vat}, {"unitPrice": "33.34", "taxCodeId": vat},
                {"unitPrice": "0.07", "taxCodeId": shop.vat("7"), "accountId": shop.company.account("4700")}
            ]);
            let sale = shop.sale("2026-05-01", thirds);
            let cents = |text: &str| text.rsplit(' ').next().unwrap().replace('.', "").parse::<i64>().unwrap();
            for (day, amount) in [("2026-05-02", "10.01"), ("2026-05-03", "10.01"), ("2026-05-04", "33.37")] {
                shop.settles("receipts", day, &sale, amount, json!({}));
                let profit = cents(shop.earned_in(day, day).last().unwrap());
                let tax = cents(&shop.taxed(day, day, "&taxBasis=cash"));
                assert_eq!(profit + tax, cents(&format!("{amount:0<4}")), "{day}");
                let held: Vec<i64> = shop.held_on(day).iter().filter(|row| row.starts_with("2200")).map(|row| cents(row)).collect();
                let owed = cents(&shop.taxed(YEAR.0, day, "&taxBasis=cash"));
                assert_eq!(held, [owed], "{day}");
                assert!(!shop.held_on(day).iter().any(|row| row.starts_with("1200")), "nothing but what waits is open");
            }
        });
    }

    fn abroad_a_share_is_worth_what_its_document_was(server) {
        in_both(server, &json!({}), |shop| {
            let lines = json!([{"description": "Work", "unitPrice": 1000}]);
            let sale = shop.make("salesInvoices", &json!({
                "date": "2026-03-10", "partyId": shop.customer, "currency": "USD", "exchangeRate": "0.9", "lines": lines
            }));
            let mut receipt = shop.receipt("2026-04-05", "400");
            (receipt["currency"], receipt["exchangeRate"]) = ("USD".into(), "0.93".into());
            receipt["allocations"] = json!([{"targetId": id(&sale), "amount": 400}]);
            shop.make("receipts", &receipt);
            assert_eq!(shop.earned_in(APRIL.0, APRIL.1), ["4000 360.00", "4900 12.00", "netProfit 372.00"]);
            assert_eq!(shop.held_on("2026-04-30"), ["1010 372.00", "currentEarnings 372.00"]);
        });
    }

    fn a_change_of_scheme_taxes_nothing_twice(server) {
        let scheme = json!({"taxBasis": [{"validFrom": "2026-01-01", "basis": "cash"}, {"validFrom": "2026-05-01", "basis": "invoice"}]});
        in_both(server, &scheme, |shop| {
            let vat = shop.vat("19");
            let sale = |date: &str| shop.sale(date, json!([{"unitPrice": 1000, "taxCodeId": vat}]));
            let (paid, never, later) = (sale("2026-03-10"), sale("2026-03-11"), sale("2026-05-02"));
            assert_eq!(shop.taxed("2026-03-01", "2026-04-30", ""), "total");
            assert_eq!(shop.taxed(MAY.0, MAY.1, ""), "total salesBase 1000.00 outputTax 190.00");
            // What was written under the old scheme is due when it is paid, and not at all where it is taken back.
            shop.settles("receipts", "2026-06-05", &paid, "1190", json!({}));
            shop.act("POST", "salesInvoices", &never, "void", Some(&json!({"date": "2026-05-20"}))).expect(200);
            assert_eq!(shop.taxed(MAY.0, MAY.1, ""), "total salesBase 1000.00 outputTax 190.00");
            assert_eq!(shop.taxed("2026-06-01", "2026-06-30", ""), "total salesBase 1000.00 outputTax 190.00");
            // What was written and taken back under the old one is nowhere in the new.
            let may = shop.proved(&format!("tax-detail?from={}&to={}", MAY.0, MAY.1));
            // One of tax, and two that carry back what waited of the one that is void.
            assert_eq!((may["rows"].as_array().unwrap().len(), may["totals"]["netTax"].to_string()), (3, "190.00".into()));
            shop.settles("receipts", "2026-06-06", &later, "1190", json!({}));
            assert_eq!(shop.taxed(YEAR.0, YEAR.1, ""), "total salesBase 2000.00 outputTax 380.00");
        });
    }

    fn what_was_open_before_these_books_is_due_when_it_is_paid_and_earns_nothing(server) {
        in_both(server, &json!({}), |shop| {
            let sale = shop.make("salesInvoices", &json!({
                "date": "2025-12-31", "partyId": shop.customer, "isOpening": true, "lines": [{"unitPrice": 100, "taxCodeId": shop.vat("19")}]
            }));
            shop.settles("receipts", "2026-01-20", &sale, "59.50", json!({}));
            let january = ("2026-01-01", "2026-01-31");
            assert_eq!(shop.taxed(january.0, january.1, "&taxBasis=cash"), "total salesBase 50.00 outputTax 9.50", "2.5");
            assert_eq!(shop.earned_in(january.0, january.1), Vec::<String>::new());
            assert_eq!(shop.held_on("2026-01-31"), ["1010 59.50", "1200 59.50", "3900 119.00"]);
        });
    }

    fn what_is_edited_across_months_counts_once(server) {
        in_both(server, &json!({}), |shop| {
            let code = shop.tax("V", json!([
                {"name": "VAT", "rate": 19, "recoverablePercent": 50, "rates": [{"validFrom": "2026-07-01", "rate": 16}]}
            ]));
            let of = |(month, end): (&str, &str)| shop.taxed(&format!("2026-{month}-01"), &format!("2026-{month}-{end}"), "&taxBasis=invoice");
            let put = |resource: &str, record: &Value, change: Value| {
                let mut body = shop.get(resource, record);
                body.as_object_mut().unwrap().extend(change.as_object().cloned().unwrap());
                if let Some(price) = change.get("price") {
                    body["lines"][0]["unitPrice"] = price.clone();
                    body.as_object_mut().unwrap().remove("price");
                }
                if body.get("dueDate").is_some() {
                    body["dueDate"] = Value::Null;
                }
                shop.ask("PUT", resource, &format!("/{}", id(record)), Some(&body)).expect(200).data
            };
            for (resource, party, once, dearer, credited, later) in [
                ("salesInvoices", &shop.customer, "total salesBase 100.00 outputTax 19.00", "total salesBase 200.00 outputTax 38.00",
                    "total salesBase 150.00 outputTax 28.50", "total salesBase 200.00 outputTax 32.00"),
                ("purchaseInvoices", &shop.supplier, "total purchaseBase 100.00 inputTax 9.50 notRecoverable 9.50",
                    "total purchaseBase 200.00 inputTax 19.00 notRecoverable 19.00", "total purchaseBase 150.00 inputTax 14.25 notRecoverable 14.25",
                    "total purchaseBase 200.00 inputTax 16.00 notRecoverable 16.00"),
            ] {
                let made = shop.make(resource, &json!({
                    "date": "2026-04-05", "taxDate": "2026-03-31", "partyId": party, "lines": [{"description": "Work", "unitPrice": 100, "taxCodeId": code}]
                }));
                let months = || [("03", "31"), ("04", "30"), ("05", "31"), ("06", "30"), ("07", "31")].map(of);
                let only = |place: usize, said: &str| {
                    let mut wanted = ["total"; 5];
                    wanted[place] = said;
                    assert_eq!(months(), wanted);
                };
                only(0, once);
                put(resource, &made, json!({"date": "2026-05-06"}));
                only(0, once);
                put(resource, &made, json!({"taxDate": null}));
                only(2, once);
                put(resource, &made, json!({"taxDate": "2026-03-31", "price": 200}));
                only(0, dearer);
                put(resource, &made, json!({"date": "2026-07-02", "taxDate": "2026-07-01"}));
                only(4, later);
                put(resource, &made, json!({"date": "2026-06-02", "taxDate": "2026-03-31"}));
                only(0, dearer);
                // A note for the same month, that is changed in another one and then gone.
                let (steps, notes) = if resource == "salesInvoices" { ("credit-notes", "creditNotes") } else { ("debit-notes", "debitNotes") };
                let part = json!({"date": "2026-06-05", "lines": [{"lineId": made["lines"][0]["id"], "amount": 80}]});
                let note = shop.act("POST", resource, &made, steps, Some(&part)).expect(201).data;
                put(notes, &note, json!({"taxDate": "2026-03-31", "price": 50}));
                only(0, credited);
                let read = shop.get(notes, &note);
                put(notes, &note, json!({"date": "2026-07-05"}));
                only(0, credited);
                assert_eq!(read["taxTotal"], shop.get(notes, &note)["taxTotal"], "the rates are those of the invoice");
                shop.void(notes, &note);
                only(0, dearer);
                shop.void(resource, &made);
                only(0, "total");
            }
        });
    }
}
