//! Money in other currencies has a keeper: it is carried at what was paid for it, whatever is entered when. Figures by hand,
//! from the steps beside them.

use crate::harness::on_both_engines;
use crate::harness::server::DIALECTS;
use crate::harness::shop::{Shop, id};
use serde_json::{Value, json};

impl Shop<'_> {
    fn bank_in(&self, code: &str, kind: &str, currency: &str) -> Value {
        self.make("accounts", &json!({"code": code, "name": code, "type": kind, "currency": currency}))
    }

    /// Money that was earned, at a rate.
    fn earns(&self, account: &Value, date: &str, (amount, rate): (u32, &str)) -> Value {
        self.make("receipts", &self.moved(account, date, (amount, rate), "4000"))
    }

    /// Money that was spent, at a rate.
    fn spends(&self, account: &Value, date: &str, (amount, rate): (u32, &str)) -> Value {
        self.make("payments", &self.moved(account, date, (amount, rate), "6200"))
    }

    fn moved(&self, account: &Value, date: &str, (amount, rate): (u32, &str), of: &str) -> Value {
        json!({
            "date": date, "accountId": account["id"], "currency": account["currency"], "exchangeRate": serde_json::from_str::<Value>(rate).unwrap(), "amount": amount,
            "lines": [{"accountId": self.company.account(of), "amount": amount}]
        })
    }

    /// What an account comes to at the end of a day, and what was gained by then.
    fn carried(&self, code: &str, day: &str) -> [String; 2] {
        let at = format!("&asOf=2026-{day}");
        [self.company.balance(code, &at), self.company.balance("4900", &at)]
    }

    /// Quantity and value of an item at the end of a day.
    fn valued(&self, item: &str, day: &str) -> String {
        let path = format!("/stock-valuation?asOf=2026-{day}");
        let report = self.ask("GET", "reports", &path, None).expect(200).data;
        let row = report["rows"].as_array().unwrap().iter().find(|row| row["itemId"] == *item).unwrap();
        format!("{} = {}", row["values"][0], row["values"][1])
    }

    fn total(&self, report: &str, name: &str) -> String {
        let request = self.company.request_at(self.dialect, "GET", &format!("reports/{report}"));
        let report = self.company.say(self.dialect, request).expect(200).data;
        assert!(report["checks"].as_array().unwrap().iter().all(|check| check["ok"] == true), "{report}");
        report["totals"][name].to_string()
    }
}

on_both_engines! {
    /// Two receipts, at 0.90 and 0.94; 500 paid at 0.95; then one of a day between them, which is changed and goes again.
    fn dollars_leave_at_what_they_are_carried_at(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let dollars = shop.bank_in("1020", "bank", "USD");
            shop.earns(&dollars, "2026-01-10", (1000, "0.90"));
            shop.earns(&dollars, "2026-01-20", (1000, "0.94"));
            let paid = shop.spends(&dollars, "2026-01-25", (500, "0.95"));
            // 500 of 2 000 that are carried at 1 840.
            assert_eq!(shop.posted(&paid), ["1020 -460.00", "4900 -15.00", "6200 475.00"]);
            assert_eq!(shop.carried("1020", "01-31"), ["1380.00", "15.00"]);
            shop.proves();
            let first = shop.company.entries_of(id(&paid));
            // 1 000 at 0.98: 3 000 are carried at 2 820, of which 500 are 470.
            let late = shop.earns(&dollars, "2026-01-15", (1000, "0.98"));
            assert_eq!(shop.carried("1020", "01-24"), ["2820.00", "0.00"]);
            assert_eq!(shop.carried("1020", "01-25"), ["2350.00", "5.00"]);
            assert_eq!(shop.company.entries_of(id(&paid)), first, "what was posted stays");
            shop.proves();
            // At 0.86: 2 700, and 450.
            let mut cheaper = shop.get("receipts", &late);
            cheaper["exchangeRate"] = json!(0.86);
            shop.ask("PUT", "receipts", &format!("/{}", id(&late)), Some(&cheaper)).expect(200);
            assert_eq!(shop.carried("1020", "01-25"), ["2250.00", "25.00"]);
            shop.proves();
            shop.void("receipts", &late);
            assert_eq!(shop.carried("1020", "01-15"), ["900.00", "0.00"]);
            assert_eq!(shop.carried("1020", "01-25"), ["1380.00", "15.00"]);
            assert_eq!(shop.total("fx-gains?from=2026-01-01&to=2026-01-31", "realised"), "15.00");
            for method in ["direct", "indirect"] {
                let flow = format!("cash-flow?from=2026-01-01&to=2026-01-31&method={method}");
                let parts = ["operating", "exchange", "netChange"].map(|name| shop.total(&flow, name));
                assert_eq!(parts, ["1365.00", "15.00", "1380.00"]);
            }
            // A payment that never was from February on.
            shop.act("POST", "payments", &paid, "void", Some(&json!({"date": "2026-02-05"}))).expect(200);
            assert_eq!(shop.carried("1020", "02-04"), ["1380.00", "15.00"]);
            assert_eq!(shop.carried("1020", "02-05"), ["1840.00", "0.00"]);
            shop.proves();
        }
    }

    /// What is entered for an earlier day in another order comes to the same on every day; the last of it takes the rest.
    fn the_order_of_entering_changes_nothing_and_the_last_takes_the_rest(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let (one, other) = (shop.bank_in("1020", "bank", "USD"), shop.bank_in("1021", "bank", "USD"));
            let steps = [("01-10", 3, "3.3333"), ("01-11", -1, "5.0"), ("01-12", -1, "2.0"), ("01-13", -1, "4.0")];
            let go = |bank: &Value, (day, amount, rate): (&str, i32, &str)| {
                let (date, moved) = (format!("2026-{day}"), (amount.unsigned_abs(), rate));
                if amount > 0 { shop.earns(bank, &date, moved) } else { shop.spends(bank, &date, moved) }
            };
            for step in steps {
                go(&one, step);
            }
            for step in steps.into_iter().rev() {
                go(&other, step);
            }
            // 10.00 for 3.
            for (day, carried) in [("01-10", "10.00"), ("01-11", "6.67"), ("01-12", "3.33"), ("01-13", "0.00")] {
                for code in ["1020", "1021"] {
                    assert_eq!(shop.carried(code, day)[0], carried, "{code} {day}");
                }
            }
            // 5.00, 2.00 and 4.00 for what was 10.00, twice.
            assert_eq!(shop.carried("1020", "01-31")[1], "2.00");
            shop.proves();
        }
    }

    /// What dollars are worth in the end of January is worth nothing for what leaves on that day and the next.
    fn a_revaluation_finds_what_is_carried_and_changes_nothing_of_it(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let dollars = shop.bank_in("1020", "bank", "USD");
            shop.earns(&dollars, "2026-01-10", (1000, "0.90"));
            shop.earns(&dollars, "2026-01-20", (1000, "0.94"));
            shop.spends(&dollars, "2026-01-25", (500, "0.95"));
            let revalued = json!({"date": "2026-01-31", "rates": [{"currency": "USD", "rate": 0.96}]});
            let revalued = shop.make("revaluations", &revalued);
            let gain = || shop.get("revaluations", &revalued)["unrealisedGain"].to_string();
            assert_eq!(gain(), "60.00");
            // Late: 2 500 are carried at 2 350.
            shop.earns(&dollars, "2026-01-15", (1000, "0.98"));
            assert_eq!((gain(), shop.carried("1020", "01-31")), ("50.00".into(), ["2400.00".into(), "5.00".into()]));
            // On the day itself, and on the next: 0.94 each.
            shop.spends(&dollars, "2026-01-31", (500, "0.97"));
            assert_eq!((gain(), shop.carried("1020", "01-31")), ("40.00".into(), ["1920.00".into(), "20.00".into()]));
            shop.spends(&dollars, "2026-02-01", (500, "0.97"));
            assert_eq!(shop.carried("1020", "02-01"), ["1410.00", "35.00"]);
            shop.proves();
            shop.void("revaluations", &revalued);
            assert_eq!(shop.carried("1020", "02-01"), ["1410.00", "35.00"]);
            shop.proves();
        }
    }

    /// What is owed with a card, paid back by a journal; and dollars that became pounds.
    fn journals_cards_and_transfers_are_kept_alike(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let card = shop.bank_in("2990", "creditCard", "USD");
            shop.spends(&card, "2026-01-10", (100, "0.90"));
            let journal = json!({"date": "2026-01-12", "lines": [
                {"accountId": card["id"], "debit": 50, "currency": "USD", "exchangeRate": 0.95},
                {"accountId": shop.company.account("1010"), "credit": 47.50}
            ]});
            let journal = shop.make("journals", &journal);
            // Half of what was owed was carried at 45.00 and cost 47.50.
            assert_eq!(shop.posted(&journal), ["1010 -47.50", "2990 45.00", "4900 2.50"]);
            shop.proves();
            let (dollars, pounds) = (shop.bank_in("1020", "bank", "USD"), shop.bank_in("1021", "bank", "GBP"));
            shop.earns(&dollars, "2026-01-10", (1000, "0.90"));
            let across = json!({
                "date": "2026-01-20", "fromAccountId": dollars["id"], "toAccountId": pounds["id"], "amount": 500, "toAmount": 400
            });
            shop.make("contraEntries", &across);
            assert_eq!(shop.carried("1021", "01-20"), ["450.00", "-2.50"]);
            // Late: 2 000 are carried at 1 880, and what 500 of them became at 470.
            shop.earns(&dollars, "2026-01-15", (1000, "0.98"));
            assert_eq!(shop.carried("1020", "01-20"), ["1410.00", "-2.50"]);
            assert_eq!(shop.carried("1021", "01-20"), ["470.00", "-2.50"]);
            shop.spends(&pounds, "2026-01-22", (200, "1.20"));
            assert_eq!(shop.carried("1021", "01-22"), ["235.00", "2.50"]);
            // Home: 500 of 1 500, for 480.00.
            let home = json!({
                "date": "2026-01-25", "fromAccountId": dollars["id"], "toAccountId": shop.company.account("1010"),
                "amount": 500, "toAmount": 480
            });
            assert_eq!(shop.make("contraEntries", &home)["fxGainLoss"].to_string(), "10.00");
            shop.earns(&dollars, "2026-01-16", (500, "0.90"));
            // 2 500 are carried at 2 330: 466.00 became pounds, 466.00 came home, and 233.00 of pounds were spent.
            assert_eq!(shop.carried("1020", "01-31"), ["1398.00", "18.50"]);
            assert_eq!(shop.carried("1021", "01-31")[0], "233.00");
            shop.proves();
        }
    }

    /// A receipt of January that is voided when January is closed was there until then.
    fn a_day_that_is_closed_keeps_what_it_carried(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let dollars = shop.bank_in("1020", "bank", "USD");
            shop.earns(&dollars, "2026-01-10", (1000, "0.90"));
            let second = shop.earns(&dollars, "2026-01-20", (1000, "0.94"));
            shop.spends(&dollars, "2026-01-25", (500, "0.95"));
            shop.make("locks", &json!({"lockDate": "2026-01-31"}));
            shop.void("receipts", &second);
            assert_eq!(shop.carried("1020", "01-31"), ["1380.00", "15.00"]);
            // 500 of 1 000 that are carried at 900.
            assert_eq!(shop.carried("1020", "02-01"), ["450.00", "25.00"]);
            shop.proves();
        }
    }

    /// What was counted stays; what is entered late for a time before it changes by how much the books were wrong.
    fn a_count_is_a_fact_and_its_difference_follows(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let item = shop.item(json!({"costMethod": "movingAverage"}));
            let lines = |quantity: u32, price: u32| json!([{"itemId": item, "quantity": quantity, "unitPrice": price}]);
            shop.purchase("2026-01-01", lines(10, 5));
            let count = json!({"date": "2026-01-10", "lines": [{"itemId": item, "countedQuantity": 8}]});
            let count = shop.make("stockAdjustments", &count);
            // By how much it adjusts, and what there is on its evening.
            let counted = |day: &str| {
                let differs = shop.get("stockAdjustments", &count)["lines"][0]["adjustedQuantity"].to_string();
                (differs, shop.valued(&item, day))
            };
            assert_eq!(counted("01-10"), ("-2".into(), "8 = 40.00".into()));
            let sold = shop.sale("2026-01-05", lines(1, 30));
            assert_eq!(counted("01-10"), ("-1".into(), "8 = 40.00".into()));
            assert_eq!(shop.valued(&item, "01-09"), "9 = 45.00");
            shop.proves();
            // 20 for 120.00, of which one was sold: 8 of them at 6.00.
            let late = shop.purchase("2026-01-03", lines(10, 7));
            assert_eq!(counted("01-10"), ("-11".into(), "8 = 48.00".into()));
            shop.proves();
            shop.void("purchaseInvoices", &late);
            assert_eq!(counted("01-10"), ("-1".into(), "8 = 40.00".into()));
            // What is sold on its day after it was posted comes after it.
            shop.sale("2026-01-10", lines(3, 30));
            assert_eq!(counted("01-10"), ("-1".into(), "5 = 25.00".into()));
            let mut more = shop.get("salesInvoices", &sold);
            more["lines"][0]["quantity"] = json!(2);
            shop.ask("PUT", "salesInvoices", &format!("/{}", id(&sold)), Some(&more)).expect(200);
            assert_eq!(counted("01-10"), ("0".into(), "5 = 25.00".into()));
            // A count that agreed with the books is one as well.
            shop.void("salesInvoices", &sold);
            assert_eq!(counted("01-10"), ("-2".into(), "5 = 25.00".into()));
            shop.proves();
            // As it was read it is sent back, and nothing changes.
            let read = shop.get("stockAdjustments", &count);
            assert_eq!(shop.ask("PUT", "stockAdjustments", &format!("/{}", id(&count)), Some(&read)).expect(200).data, read);
            // A later count finds what the one before it left.
            let second = json!({"date": "2026-01-20", "lines": [{"itemId": item, "countedQuantity": 4}]});
            let second = shop.make("stockAdjustments", &second);
            shop.sale("2026-01-02", lines(2, 30));
            let differs = shop.get("stockAdjustments", &second)["lines"][0]["adjustedQuantity"].to_string();
            assert_eq!((counted("01-10"), differs.as_str()), (("0".into(), "5 = 25.00".into()), "-1"));
            shop.proves();
        }
    }

    /// Where nothing may be missing, a count tells what there is from then on.
    fn what_was_counted_is_not_missing_by_what_is_entered_late(server) {
        for dialect in DIALECTS {
            let shop = Shop::with(server, dialect, json!({"negativeStock": "forbid"}));
            let item = shop.item(json!({"costMethod": "movingAverage"}));
            let lines = |quantity: u32, price: u32| json!([{"itemId": item, "quantity": quantity, "unitPrice": price}]);
            shop.purchase("2026-01-01", lines(10, 5));
            let count = json!({"date": "2026-01-10", "lines": [{"itemId": item, "countedQuantity": 4}]});
            let count = shop.make("stockAdjustments", &count);
            // Of 10 there were 2 left, and 4 were found.
            shop.sale("2026-01-05", lines(8, 30));
            assert_eq!(shop.get("stockAdjustments", &count)["lines"][0]["adjustedQuantity"].to_string(), "2");
            assert_eq!(shop.valued(&item, "01-10"), "4 = 20.00");
            for (day, quantity) in [("05", 3), ("12", 5)] {
                let sale = json!({"date": format!("2026-01-{day}"), "partyId": shop.customer, "lines": lines(quantity, 30)});
                let refused = shop.ask("POST", "salesInvoices", "", Some(&sale)).expect(409);
                assert_eq!(refused.code.as_deref(), Some("insufficient_stock"));
                assert!(refused.title.contains(&format!("on 2026-01-{day} 1 would be missing")), "{}", refused.title);
            }
            shop.proves();
        }
    }

    /// A count of before what is taken back tells nothing of it; one of that day or later is made anew.
    fn what_is_taken_back_after_a_count_may_be_missing(server) {
        for dialect in DIALECTS {
            let shop = Shop::with(server, dialect, json!({"negativeStock": "forbid"}));
            for (day, is_refused) in [("09-28", false), ("09-29", false), ("09-30", true)] {
                let item = shop.item(json!({"costMethod": "movingAverage"}));
                let bill = shop.purchase("2026-09-23", json!([{"itemId": item, "quantity": 3, "unitPrice": 4}]));
                let count = json!({"date": "2026-09-29", "lines": [{"itemId": item, "countedQuantity": 1}]});
                shop.make("stockAdjustments", &count);
                let ends = json!({"date": format!("2026-{day}"), "reason": "Returned to sender"});
                let ended = shop.act("POST", "purchaseInvoices", &bill, "void", Some(&ends));
                if is_refused {
                    let refused = ended.expect(409);
                    assert_eq!(refused.code.as_deref(), Some("insufficient_stock"));
                    assert!(refused.title.contains("on 2026-09-30 2 would be missing"), "{}", refused.title);
                } else {
                    ended.expect(200);
                }
                assert_eq!(shop.stock(&item).0, "1", "{day}");
                shop.proves();
            }
        }
    }

    /// A credit that ends gives back what was invoiced before its goods went back: nothing is invoiced anew.
    fn a_credit_of_goods_that_went_back_may_end_later(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let item = shop.item(json!({"costMethod": "standard", "standardCost": "3.37"}));
            shop.purchase("2026-02-01", json!([{"itemId": item, "quantity": 9, "unitPrice": "3.37"}]));
            let line = json!([{"itemId": item, "quantity": 1, "unitPrice": 8}]);
            let note = shop.make("deliveryNotes", &json!({"date": "2026-02-14", "partyId": shop.customer, "lines": line}));
            let on = |day: &str| json!({"date": format!("2026-{day}")});
            shop.act("POST", "deliveryNotes", &note, "invoices", Some(&on("02-15"))).expect(201);
            let back = shop.act("POST", "deliveryNotes", &note, "returns", Some(&on("02-20"))).expect(201).data;
            let credit = shop.act("POST", "deliveryNotes", &back, "credit-notes", Some(&on("02-20"))).expect(201).data;
            shop.act("POST", "creditNotes", &credit, "void", Some(&on("03-04"))).expect(200);
            shop.proves();
            // It can be credited again, on that day and not before.
            shop.act("POST", "deliveryNotes", &back, "credit-notes", Some(&on("03-03"))).expect(409);
            shop.act("POST", "deliveryNotes", &back, "credit-notes", Some(&on("03-04"))).expect(201);
            shop.proves();
        }
    }

    /// What was credited without its goods, by its line or by the invoice alone, is not credited again when they come back.
    fn what_was_credited_without_goods_is_not_credited_with_them(server) {
        for dialect in DIALECTS {
            for sells in [true, false] {
                let shop = Shop::open(server, dialect);
                let (invoice_of, note_of, goods_of, step, names) = if sells {
                    ("salesInvoices", "creditNotes", "deliveryNotes", "credit-notes", "salesInvoiceId")
                } else {
                    ("purchaseInvoices", "debitNotes", "receiptNotes", "debit-notes", "purchaseInvoiceId")
                };
                let item = shop.item(json!({"costMethod": "movingAverage"}));
                shop.purchase("2026-01-01", json!([{"itemId": item, "quantity": 20, "unitPrice": 6}]));
                let party = if sells { &shop.customer } else { &shop.supplier };
                let price = if sells { "unitPrice" } else { "unitCost" };
                for by_line in [true, false] {
                    let line = json!([{"itemId": item, "quantity": 3, price: 6}]);
                    let goods = shop.make(goods_of, &json!({"date": "2026-02-01", "partyId": party, "lines": line}));
                    let act = |of: &Value, day: u32, step: &str| {
                        shop.act("POST", goods_of, of, step, Some(&json!({"date": format!("2026-02-0{day}")})))
                    };
                    let invoice = act(&goods, 2, "invoices").expect(201).data;
                    let line = if by_line {
                        json!({"sourceLineId": invoice["lines"][0]["id"], "quantity": 3})
                    } else {
                        json!({"quantity": 1, "unitPrice": 18})
                    };
                    let credit = json!({
                        "date": "2026-02-03", "partyId": party, names: invoice["id"], "updateStock": false, "lines": [line]
                    });
                    let credit = shop.make(note_of, &credit);
                    assert_eq!(credit["total"].to_string(), "18.00");
                    let back = act(&goods, 4, "returns").expect(201).data;
                    let refused = act(&back, 5, step).expect(409);
                    assert_eq!(refused.code.as_deref(), Some("over_credit"), "{}", refused.answer.text);
                    // Neither goes while it is credited; without the first credit the goods are credited.
                    let kept = shop.act("POST", invoice_of, &invoice, "void", None).expect(409);
                    assert_eq!(kept.code.as_deref(), Some("in_use"));
                    assert!(kept.title.contains(credit["number"].as_str().unwrap()), "{}", kept.title);
                    shop.void(note_of, &credit);
                    assert_eq!(act(&back, 5, step).expect(201).data["total"].to_string(), "18.00");
                    for (resource, document) in [(invoice_of, &invoice), (goods_of, &back), (goods_of, &goods)] {
                        let kept = shop.act("POST", resource, document, "void", None).expect(409);
                        assert_eq!(kept.code.as_deref(), Some("in_use"));
                    }
                }
                assert_eq!(["1200", "1350", "2150"].map(|code| shop.company.balance(code, "")), ["0.00", "0.00", "0.00"]);
                assert_eq!(shop.stock(&item), ("20".into(), "120.00".into()));
                shop.proves();
            }
        }
    }
}
