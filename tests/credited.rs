//! What is credited is credited as it was billed: goods that several invoices billed, the coins of cash, tax that is kept back. The
//! figures are made by hand.

use crate::harness::on_both_engines;
use crate::harness::server::{DIALECTS, Said};
use crate::harness::shop::{Shop, id};
use serde_json::{Value, json};

/// Ten goods that were delivered, or received, on one line; what billed them, each of so many; and the note that brings all
/// of them back.
struct Returned {
    bills: Vec<Value>,
    back: Value,
}

/// The resources of a side: the note of goods, the invoice, and the credit.
const SALE: [&str; 3] = ["deliveryNotes", "salesInvoices", "credit-notes"];
const PURCHASE: [&str; 3] = ["receiptNotes", "purchaseInvoices", "debit-notes"];

impl Shop<'_> {
    fn bring_back(&self, [notes, invoices, _]: [&str; 3], note: Value, bills: &[(u32, Value)]) -> Returned {
        let party = if notes == SALE[0] { &self.customer } else { &self.supplier };
        let goods = self.item(json!({}));
        if notes == SALE[0] {
            self.purchase("2026-01-01", json!([{"itemId": goods, "quantity": 20, "unitPrice": 4}]));
        }
        let price = if notes == SALE[0] { "unitPrice" } else { "unitCost" };
        let mut body = json!({"date": "2026-01-05", "partyId": party, "lines": [{"itemId": goods, "quantity": 10}]});
        body["lines"][0][price] = json!(10);
        body.as_object_mut().unwrap().extend(note.as_object().unwrap().clone());
        let note = self.make(notes, &body);
        let bill = |(quantity, says): &(u32, Value)| {
            let mut line = json!({"sourceLineId": note["lines"][0]["id"], "quantity": quantity, "unitPrice": 10});
            line.as_object_mut().unwrap().extend(says["line"].as_object().cloned().unwrap_or_default());
            let mut body = json!({"date": "2026-01-06", "partyId": party, "lines": [line]});
            body.as_object_mut().unwrap().extend(says["head"].as_object().cloned().unwrap_or_default());
            self.make(invoices, &body)
        };
        let bills = bills.iter().map(bill).collect();
        let back = self.act("POST", notes, &note, "returns", Some(&json!({"date": "2026-01-10"}))).expect(201).data;
        Returned { bills, back }
    }

    fn credit_back(&self, [notes, _, credits]: [&str; 3], back: &Value, lines: Value) -> Said {
        let mut body = json!({"date": "2026-01-11"});
        if !lines.is_null() {
            body["lines"] = lines;
        }
        self.act("POST", notes, back, credits, Some(&body))
    }

    /// It is read and sent back, and stays as it is.
    fn stays_as_read(&self, resource: &str, record: &Value) {
        let read = self.get(resource, record);
        let again = self.ask("PUT", resource, &format!("/{}", id(record)), Some(&read)).expect(200).data;
        assert_eq!(again, read);
    }

    fn settle_by(&self, credit: &Value, bill: &Value, amount: &str) {
        self.make("allocations", &json!({"sourceId": id(credit), "targetId": id(bill), "amount": amount}));
    }
}

/// Quantity, net and tax of each line, and the tax code.
fn parts_told(credit: &Value) -> Vec<String> {
    let line = |line: &Value| {
        let [quantity, net, tax] = ["quantity", "netAmount", "taxAmount"].map(|field| line[field].to_string());
        format!("{quantity}: {net} + {tax} {}", line["taxCodeId"].as_str().unwrap_or("without"))
    };
    credit["lines"].as_array().unwrap().iter().map(line).collect()
}

/// A change of the lines of a note, what it says then of each line, and what it takes off income.
type Changed<'c> = (fn(&mut Vec<Value>), &'c [&'c str], &'c [&'c str]);

on_both_engines! {
    /// Four at 19 % and six at 7 %: 40.00 and 7.60, 60.00 and 4.20.
    fn goods_that_were_billed_at_two_tax_codes_are_credited_at_both(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let (full, reduced) = (shop.vat("19"), shop.vat("7"));
            let at = |code: &str| json!({"line": {"taxCodeId": code}});
            let wanted = [format!("4: 40.00 + 7.60 {full}"), format!("6: 60.00 + 4.20 {reduced}")];
            for side in [SALE, PURCHASE] {
                let parts = [(4, at(&full)), (6, at(&reduced))];
                let Returned { bills, back } = shop.bring_back(side, json!({}), &parts);
                let credit = shop.credit_back(side, &back, Value::Null).expect(201).data;
                assert_eq!((parts_told(&credit), credit["total"].to_string()), (wanted.to_vec(), "111.80".into()));
                let tax = if side == SALE { "2200 11.80" } else { "1400 -11.80" };
                assert!(shop.posted(&credit).contains(&tax.to_owned()), "{:?}", shop.posted(&credit));
                shop.settle_by(&credit, &bills[0], "47.60");
                shop.settle_by(&credit, &bills[1], "64.20");
                let resource = if side == SALE { "creditNotes" } else { "debitNotes" };
                shop.stays_as_read(resource, &credit);
            }
            shop.proves();
            // By hand: what a line says is taken, and no other code than it was billed at.
            let Returned { back, .. } = shop.bring_back(SALE, json!({}), &[(4, at(&full)), (6, at(&reduced))]);
            let by_hand = |line: Value| {
                let mut body = json!({"date": "2026-01-11", "partyId": shop.customer, "lines": [line]});
                body["lines"][0]["sourceLineId"] = back["lines"][0]["id"].clone();
                shop.ask("POST", "creditNotes", "", Some(&body))
            };
            let strange = shop.tax("NONE", json!([{"name": "None", "rate": "0"}]));
            assert_eq!(by_hand(json!({"quantity": 1, "taxCodeId": strange})).expect(400).fields(), ["lines[0].taxCodeId"]);
            by_hand(json!({"quantity": 7, "taxCodeId": reduced})).expect(409);
            assert_eq!(parts_told(&by_hand(json!({"quantity": 5, "taxCodeId": reduced})).expect(201).data), [
                format!("5: 50.00 + 3.50 {reduced}"),
            ]);
            assert_eq!(parts_told(&by_hand(json!({})).expect(201).data), [
                format!("4: 40.00 + 7.60 {full}"), format!("1: 10.00 + 0.70 {reduced}"),
            ]);
            shop.proves();
        }
    }

    /// At one tax code, and at two prices: 4 at 10.00, 6 at 12.00 that were earned elsewhere.
    fn goods_that_were_billed_at_two_prices_are_credited_at_both(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let full = shop.vat("19");
            let other = shop.company.account("4100");
            let parts = [
                (4, json!({"line": {"taxCodeId": full}})),
                (6, json!({"line": {"taxCodeId": full, "unitPrice": 12, "accountId": other}})),
            ];
            let Returned { bills, back } = shop.bring_back(SALE, json!({}), &parts);
            let credit = shop.credit_back(SALE, &back, Value::Null).expect(201).data;
            let prices: Vec<String> = (0..2).map(|line| credit["lines"][line]["unitPrice"].to_string()).collect();
            assert_eq!((prices, credit["total"].to_string()), (vec!["10".into(), "12".into()], "133.28".into()));
            assert_eq!(parts_told(&credit), [format!("4: 40.00 + 7.60 {full}"), format!("6: 72.00 + 13.68 {full}")]);
            assert_eq!(shop.posted(&credit), [
                "1200 -133.28", "1350 40.00", "2200 21.28", "4000 40.00", "4100 72.00", "5000 -40.00",
            ]);
            shop.settle_by(&credit, &bills[0], "47.60");
            shop.settle_by(&credit, &bills[1], "85.68");
            shop.stays_as_read("creditNotes", &credit);
            shop.proves();
        }
    }

    /// Four at 10.00, and six at 12.00 that were earned elsewhere: a line of the credit stays with what billed it.
    fn a_line_of_a_credit_stays_with_what_billed_it(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let full = shop.vat("19");
            let other = shop.company.account("4100");
            let parts = [
                (4, json!({"line": {"taxCodeId": full}})),
                (6, json!({"line": {"taxCodeId": full, "unitPrice": 12, "accountId": other}})),
            ];
            let of_income = |credit: &Value| -> Vec<String> {
                shop.posted(credit).into_iter().filter(|line| line.starts_with('4')).collect()
            };
            // By hand, at the price of the second invoice; and of the invoice that is named.
            for says in [json!({"unitPrice": 12}), json!({})] {
                let Returned { bills, back } = shop.bring_back(SALE, json!({}), &parts);
                let mut line = json!({"sourceLineId": back["lines"][0]["id"], "quantity": 6});
                line.as_object_mut().unwrap().extend(says.as_object().unwrap().clone());
                let mut body = json!({"date": "2026-01-11", "partyId": shop.customer, "lines": [line]});
                if says == json!({}) {
                    body["salesInvoiceId"] = bills[1]["id"].clone();
                }
                let credit = shop.make("creditNotes", &body);
                assert_eq!(parts_told(&credit), [format!("6: 72.00 + 13.68 {full}")], "{says}");
                assert_eq!(of_income(&credit), ["4100 72.00"], "{says}");
            }
            // A note of both: without its first line, with its lines exchanged, with less of the second one.
            let changes: [Changed; 4] = [
                (|lines| drop(lines.remove(0)), &["6: 72.00 + 13.68"], &["4100 72.00"]),
                (|lines| lines.reverse(), &["6: 72.00 + 13.68", "4: 40.00 + 7.60"], &["4000 40.00", "4100 72.00"]),
                (
                    |lines| lines[1]["quantity"] = 5.into(),
                    &["4: 40.00 + 7.60", "5: 60.00 + 11.40"],
                    &["4000 40.00", "4100 60.00"],
                ),
                (
                    |lines| {
                        lines.remove(0);
                        lines[0]["quantity"] = 5.into();
                    },
                    &["5: 60.00 + 11.40"],
                    &["4100 60.00"],
                ),
            ];
            for (change, told, posted) in changes {
                let Returned { back, .. } = shop.bring_back(SALE, json!({}), &parts);
                let credit = shop.credit_back(SALE, &back, Value::Null).expect(201).data;
                let mut body = shop.get("creditNotes", &credit);
                change(body["lines"].as_array_mut().unwrap());
                let changed = shop.ask("PUT", "creditNotes", &format!("/{}", id(&credit)), Some(&body)).expect(200).data;
                let told: Vec<String> = told.iter().map(|line| format!("{line} {full}")).collect();
                assert_eq!(parts_told(&changed), told);
                assert_eq!(of_income(&changed), posted);
                shop.stays_as_read("creditNotes", &changed);
            }
            shop.proves();
        }
    }

    /// Five at 10.00 with 19 % in the price, which is 50.00; five at 10.00 without, which is 59.50.
    fn goods_that_were_billed_with_tax_in_the_price_and_without_are_credited_so(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let full = shop.vat("19");
            let at = |within: bool| json!({"head": {"pricesIncludeTax": within}, "line": {"taxCodeId": full}});
            let (within, beside) = (format!("5: 42.02 + 7.98 {full}"), format!("5: 50.00 + 9.50 {full}"));
            for side in [SALE, PURCHASE] {
                for first in [true, false] {
                    let wanted = if first { [&within, &beside] } else { [&beside, &within] };
                    let parts = [(5, at(first)), (5, at(!first))];
                    let back = shop.bring_back(side, json!({}), &parts).back;
                    let credit = shop.credit_back(side, &back, Value::Null).expect(201).data;
                    assert_eq!(parts_told(&credit).iter().collect::<Vec<_>>(), wanted);
                    assert_eq!(credit["total"].to_string(), "109.50");
                    // In two steps.
                    let back = shop.bring_back(side, json!({}), &parts).back;
                    for told in wanted {
                        let five = json!([{"lineId": back["lines"][0]["id"], "quantity": 5}]);
                        let credit = shop.credit_back(side, &back, five).expect(201).data;
                        assert_eq!(parts_told(&credit), std::slice::from_ref(told));
                    }
                }
            }
            shop.proves();
        }
    }

    /// Five on a day of 19 %, five two days later at 16 %.
    fn goods_that_were_billed_at_two_rates_of_a_code_are_credited_at_both(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let code = shop.tax("VX", json!([
                {"name": "VAT", "rate": 19, "rates": [{"validFrom": "2026-01-07", "rate": 16}]}
            ]));
            let at = |day: &str| json!({"head": {"date": day, "taxDate": day}, "line": {"taxCodeId": code}});
            let parts = [(5, at("2026-01-06")), (5, at("2026-01-08"))];
            let back = shop.bring_back(SALE, json!({}), &parts).back;
            let credit = shop.credit_back(SALE, &back, Value::Null).expect(201).data;
            assert_eq!(parts_told(&credit), [format!("5: 50.00 + 9.50 {code}"), format!("5: 50.00 + 8.00 {code}")]);
            let rates: Vec<String> = (0..2).map(|line| credit["lines"][line]["taxes"][0]["rate"].to_string()).collect();
            assert_eq!(rates, ["19", "16"]);
            shop.proves();
        }
    }

    /// Sent twice it is done once, though a line of it becomes several.
    fn a_credit_that_is_sent_again_stays_as_it_is(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let (full, reduced) = (shop.vat("19"), shop.vat("7"));
            let at = |code: &str| json!({"line": {"taxCodeId": code}});
            let parts = [(4, at(&full)), (6, at(&reduced))];
            let [one, other] = [(); 2].map(|()| shop.bring_back(SALE, json!({}), &parts).back["lines"][0]["id"].clone());
            let body = json!({"date": "2026-01-11", "partyId": shop.customer, "lines": [
                {"sourceLineId": one, "quantity": 10}, {"sourceLineId": other, "quantity": 5},
            ]});
            let send = |status: u16| {
                shop.ask("PUT", "creditNotes", "/by-external-id/CN-1", Some(&body)).expect(status).data
            };
            let made = send(201);
            assert_eq!(parts_told(&made), [
                format!("4: 40.00 + 7.60 {full}"), format!("4: 40.00 + 7.60 {full}"),
                format!("6: 60.00 + 4.20 {reduced}"), format!("1: 10.00 + 0.70 {reduced}"),
            ]);
            assert_eq!((send(200), send(200)), (made.clone(), made));
            shop.proves();
        }
    }

    fn goods_that_were_billed_with_tax_and_without_are_credited_so(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let full = shop.vat("19");
            let parts = [(4, json!({"line": {"taxCodeId": null}})), (6, json!({"line": {"taxCodeId": full}}))];
            let Returned { back, .. } = shop.bring_back(SALE, json!({}), &parts);
            let credit = shop.credit_back(SALE, &back, Value::Null).expect(201).data;
            assert_eq!(parts_told(&credit), ["4: 40.00 + 0.00 without".to_owned(), format!("6: 60.00 + 11.40 {full}")]);
            shop.proves();
        }
    }

    /// They were delivered at 0.90, and billed at 0.80.
    fn what_came_back_is_credited_at_the_rate_of_its_bill(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let usd = |rate: &str| json!({"currency": "USD", "exchangeRate": rate});
            for side in [SALE, PURCHASE] {
                let Returned { bills, back } = shop.bring_back(side, usd("0.9"), &[(10, json!({"head": usd("0.8")}))]);
                let credit = shop.credit_back(side, &back, Value::Null).expect(201).data;
                let worth = ["exchangeRate", "total", "baseTotal"].map(|field| credit[field].to_string());
                assert_eq!(worth, ["0.8", "100.00", "80.00"], "{side:?}");
                shop.settle_by(&credit, &bills[0], "100");
            }
            shop.proves();
        }
    }

    /// Four in dollars, six in euros. A note is in one currency.
    fn what_was_billed_in_two_currencies_is_credited_by_a_note_of_each(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let dollars = json!({"head": {"currency": "USD", "exchangeRate": "0.8"}});
            let Returned { bills, back } = shop.bring_back(SALE, json!({}), &[(4, dollars), (6, json!({}))]);
            let refused = shop.credit_back(SALE, &back, Value::Null).expect(400);
            assert_eq!(refused.fields(), ["lines[0].quantity"]);
            let why = "must be at most 4 in USD: 6 in EUR were billed";
            assert!(refused.answer.text.contains(why), "{}", refused.answer.text);
            let line = |quantity: u32| json!([{"lineId": back["lines"][0]["id"], "quantity": quantity}]);
            let in_dollars = shop.credit_back(SALE, &back, line(4)).expect(201).data;
            let rest = shop.credit_back(SALE, &back, Value::Null).expect(201).data;
            let shown = |credit: &Value| {
                ["currency", "exchangeRate", "total", "baseTotal"].map(|field| credit[field].to_string())
            };
            assert_eq!(shown(&in_dollars), ["\"USD\"", "0.8", "40.00", "32.00"]);
            assert_eq!((rest["currency"].as_str(), rest["total"].to_string()), (Some("EUR"), "60.00".into()));
            shop.settle_by(&in_dollars, &bills[0], "40");
            shop.settle_by(&rest, &bills[1], "60");
            shop.credit_back(SALE, &back, Value::Null).expect(409);
            shop.proves();
        }
    }

    /// 119.00, paid with 2.38 off, of which 0.38 are tax: once all is credited nothing is left for the discount to take off.
    fn goods_that_came_back_give_the_tax_of_a_discount_back(server) {
        for dialect in DIALECTS {
            let shop = Shop::with(server, dialect, json!({"discountReducesTax": true}));
            let full = shop.vat("19");
            for side in [SALE, PURCHASE] {
                let Returned { bills, back } = shop.bring_back(side, json!({}), &[(10, json!({"line": {"taxCodeId": full}}))]);
                let (mut paid, resource) = if side == SALE {
                    (shop.receipt("2026-01-08", "116.62"), "receipts")
                } else {
                    (shop.payment("2026-01-08", "116.62"), "payments")
                };
                paid["allocations"] = json!([{"targetId": id(&bills[0]), "amount": "116.62", "discountAmount": "2.38"}]);
                shop.make(resource, &paid);
                let tax = if side == SALE { "2200" } else { "1400" };
                assert_eq!(shop.company.balance(tax, ""), "18.62");
                shop.credit_back(side, &back, Value::Null).expect(201);
                assert_eq!(shop.company.balance(tax, ""), "0.00", "{side:?}");
            }
            shop.proves();
        }
    }

    /// Three of 1.13 are 3.39, charged as 3.40: one is 1.15, two are 2.25, all are 3.40. Seven are 7.91, charged as 7.90.
    fn all_credits_of_an_invoice_come_to_what_was_charged_in_cash(server) {
        for dialect in DIALECTS {
            let shop = Shop::with(server, dialect, json!({"cashRoundingIncrement": "0.05"}));
            for (pieces, charged, credits) in [
                (3, "3.40", vec!["1.15", "1.10", "1.15"]),
                (7, "7.90", vec!["1.15", "1.10", "1.15", "1.10", "1.15", "1.15", "1.10"]),
            ] {
                let bill = shop.sale("2026-01-10", json!([{"description": "Bread", "quantity": pieces, "unitPrice": "1.13"}]));
                assert_eq!(bill["total"].to_string(), charged);
                let one = json!([{"lineId": bill["lines"][0]["id"], "quantity": 1}]);
                let body = json!({"date": "2026-01-12", "kind": "priceAdjustment", "lines": one});
                for wanted in credits {
                    let credit = shop.act("POST", "salesInvoices", &bill, "credit-notes", Some(&body)).expect(201).data;
                    assert_eq!(credit["total"].to_string(), wanted);
                    shop.settle_by(&credit, &bill, wanted);
                }
                assert_eq!(shop.get("salesInvoices", &bill)["balanceDue"].to_string(), "0.00");
            }
            // What was void is there to be credited again.
            let bill = shop.sale("2026-01-10", json!([{"description": "Bread", "quantity": 3, "unitPrice": "1.13"}]));
            let credit = |lines: Value| {
                let body = json!({"date": "2026-01-12", "kind": "priceAdjustment", "lines": lines});
                shop.act("POST", "salesInvoices", &bill, "credit-notes", Some(&body)).expect(201).data
            };
            let one = json!([{"lineId": bill["lines"][0]["id"], "quantity": 1}]);
            let first = credit(one.clone());
            let second = credit(one.clone());
            shop.act("POST", "creditNotes", &first, "void", Some(&json!({"date": "2026-01-12"}))).expect(200);
            let rest = credit(json!([]));
            assert_eq!([&second, &rest].map(|credit| credit["total"].to_string()), ["1.10", "2.30"]);
            shop.settle_by(&second, &bill, "1.10");
            shop.settle_by(&rest, &bill, "2.30");
            assert_eq!(shop.get("salesInvoices", &bill)["balanceDue"].to_string(), "0.00");
            assert_eq!(shop.company.balance("6900", ""), "0.00");
            shop.proves();
        }
    }

    /// Ten percent of 1000.00 are kept back; 500.00 of it are credited.
    fn no_more_tax_is_kept_back_than_is_left_of_it_after_credits(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let code = shop.tax("KEPT", json!([
                {"name": "VAT", "rate": "20"}, {"name": "Kept", "rate": "10", "kind": "withholding"}
            ]));
            let bill = shop.purchase("2026-01-10", json!([{"description": "Work", "unitPrice": 1000, "taxCodeId": code}]));
            let credit = |date: &str| shop.make("debitNotes", &json!({
                "date": date, "partyId": shop.supplier, "purchaseInvoiceId": id(&bill), "kind": "priceAdjustment",
                "lines": [{"sourceLineId": bill["lines"][0]["id"], "unitPrice": 500}],
            }));
            let void = credit("2026-02-14");
            shop.act("POST", "debitNotes", &void, "void", Some(&json!({"date": "2026-02-14"}))).expect(200);
            let credit = credit("2026-02-15");
            shop.settle_by(&credit, &bill, "600");
            let pay = |date: &str, amount: &str, kept: &str| {
                let mut body = shop.payment(date, amount);
                body["allocations"] = json!([{"targetId": id(&bill), "amount": amount, "withheldAmount": kept}]);
                shop.ask("POST", "payments", "", Some(&body))
            };
            let refused = pay("2026-03-01", "500", "100").expect(400);
            assert_eq!(refused.fields(), ["allocations[0].withheldAmount"]);
            assert!(refused.answer.text.contains("must be at most 50.05"), "{}", refused.answer.text);
            pay("2026-03-01", "550", "50").expect(201);
            assert_eq!(shop.get("purchaseInvoices", &bill)["balanceDue"].to_string(), "0.00");
            shop.proves();
        }
    }
}
