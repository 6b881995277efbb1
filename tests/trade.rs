//! Buying and selling: the worked examples, figures exact, in both dialects.

use crate::harness::server::DIALECTS;
use crate::harness::shop::{Shop, id};
use crate::harness::{Dialect, on_both_engines};
use serde_json::{Value, json};

fn text(value: &Value) -> String {
    value.to_string()
}

on_both_engines! {
    fn what_a_document_names_stays(server) {
        let shop = Shop::open(server, Dialect::B);
        let mut codes = 0;
        let mut named = || {
            codes += 1;
            let made = |resource: &str, body: Value| shop.make(resource, &body)["id"].as_str().unwrap().to_owned();
            [
                ("items", made("items", json!({"name": "Advice", "type": "service"}))),
                ("taxCodes", shop.tax(&format!("T{codes}"), json!([{"name": "VAT", "rate": 7}]))),
                ("paymentTerms", made("paymentTerms", json!({"name": "A fortnight", "days": 14}))),
            ]
        };
        let remove = |(resource, id): &(&str, String)| shop.ask("DELETE", resource, &format!("/{id}"), None).status;
        let naming = |[item, code, term]: &[(&str, String); 3], status: &str| {
            json!({
                "date": "2026-03-10", "partyId": shop.customer, "paymentTermId": term.1, "status": status,
                "lines": [{"itemId": item.1, "unitPrice": 10, "taxCodeId": code.1}]
            })
        };
        let ordering = |[item, code, _]: &[(&str, String); 3]| {
            json!({
                "date": "2026-03-10", "partyId": shop.customer,
                "lines": [{"itemId": item.1, "unitPrice": 10, "taxCodeId": code.1}]
            })
        };
        // A draft holds them as long as it is there.
        let drafted = named();
        let draft = shop.make("salesInvoices", &naming(&drafted, "draft"));
        assert_eq!(drafted.each_ref().map(remove), [409; 3]);
        shop.ask("DELETE", "salesInvoices", &format!("/{}", id(&draft)), None).expect(200);
        assert_eq!(drafted.each_ref().map(remove), [200; 3]);
        // What was in the books holds them for good, however it is changed or ends; so does an order.
        for (resource, of_term) in [("salesInvoices", 409), ("salesOrders", 200)] {
            let (first, second) = (named(), named());
            let body = |all| if of_term == 409 { naming(all, "posted") } else { ordering(all) };
            let posted = shop.make(resource, &body(&first));
            shop.ask("PUT", resource, &format!("/{}", id(&posted)), Some(&body(&second))).expect(200);
            shop.ask("DELETE", resource, &format!("/{}", id(&posted)), None).expect(200);
            assert_eq!([first, second].map(|all| all.each_ref().map(remove)), [[409, 409, of_term]; 2], "{resource}");
        }
        assert_eq!(named().each_ref().map(remove), [200; 3], "what nobody names goes");
    }

    fn an_invoice_its_credit_and_its_receipts(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let vat = shop.vat("20");
            // E1
            let line = json!([{"description": "Beans", "quantity": 10, "unitPrice": 25, "discountPercent": 10, "taxCodeId": vat}]);
            let invoice = shop.sale("2026-03-10", line);
            assert_eq!(shop.posted(&invoice), ["1200 270.00", "2200 -45.00", "4000 -225.00"]);
            assert_eq!((text(&invoice["total"]), text(&invoice["balanceDue"]), &invoice["status"]), ("270.00".into(), "270.00".into(), &json!("open")));
            // E2
            let source = invoice["lines"][0]["id"].clone();
            let note = shop.make("creditNotes", &json!({
                "date": "2026-03-12", "salesInvoiceId": id(&invoice), "kind": "priceAdjustment",
                "lines": [{"sourceLineId": source, "quantity": 2}],
                "allocations": [{"targetId": id(&invoice), "amount": 54}]
            }));
            assert_eq!(shop.posted(&note), ["1200 -54.00", "2200 9.00", "4000 45.00"]);
            assert_eq!((&note["status"], text(&note["remainingCredit"])), (&json!("closed"), "0.00".into()));
            let after = shop.get("salesInvoices", &invoice);
            assert_eq!((text(&after["balanceDue"]), text(&after["amountCredited"]), &after["status"]), ("216.00".into(), "54.00".into(), &json!("partiallyPaid")));
            // E3
            let mut body = shop.receipt("2026-03-20", "100");
            body["allocations"] = json!([{"targetId": id(&invoice), "targetType": "salesInvoice", "amount": 100}]);
            let receipt = shop.make("receipts", &body);
            assert_eq!(shop.posted(&receipt), ["1010 100.00", "1200 -100.00"]);
            let after = shop.get("salesInvoices", &invoice);
            assert_eq!((text(&after["balanceDue"]), text(&after["amountPaid"]), &after["status"]), ("116.00".into(), "100.00".into(), &json!("partiallyPaid")));
            assert_eq!(after["allocations"].as_array().unwrap().len(), 2);
            // What is allocated cannot be voided; the receipt can, and what it settled is open again.
            let refused = shop.ask("DELETE", "salesInvoices", &format!("/{}", id(&invoice)), None).expect(409);
            assert_eq!(refused.code.as_deref(), Some("in_use"));
            shop.ask("DELETE", "receipts", &format!("/{}", id(&receipt)), None).expect(200);
            assert_eq!(text(&shop.get("salesInvoices", &invoice)["balanceDue"]), "216.00");
            shop.act("DELETE", "creditNotes", &note, "allocations", None).expect(200);
            let after = shop.get("salesInvoices", &invoice);
            assert_eq!((text(&after["balanceDue"]), &after["status"]), ("270.00".into(), &json!("open")));
            shop.proves();
        }
    }

    fn an_advance_is_settled_later(server) {
        for dialect in DIALECTS {
            for (separate, receipt_posts, allocation_posts) in [
                (false, ["1010 150.00", "1200 -150.00"].as_slice(), ["1010 150.00", "1200 -150.00"].as_slice()),
                (true, &["1010 150.00", "2300 -150.00"], &["1010 150.00", "1200 -120.00", "2300 -30.00"]),
            ] {
                let shop = Shop::with(server, dialect, json!({"bookAdvancesSeparately": separate}));
                let receipt = shop.make("receipts", &shop.receipt("2026-03-01", "150"));
                assert_eq!(shop.posted(&receipt), receipt_posts);
                assert_eq!(text(&receipt["unallocatedAmount"]), "150.00");
                let invoice = shop.sale("2026-03-10", json!([{"description": "Work", "unitPrice": 120}]));
                let after = shop.act("POST", "receipts", &receipt, "allocations", Some(&json!({"targetId": id(&invoice), "amount": 120}))).expect(201).data;
                assert_eq!((text(&after["unallocatedAmount"]), &after["allocationStatus"]), ("30.00".into(), &json!("partiallyAllocated")));
                assert_eq!(after["allocations"][0]["date"], "2026-03-10", "when both were there");
                assert_eq!(shop.posted(&receipt), allocation_posts, "E4 {separate}");
                assert_eq!(shop.get("salesInvoices", &invoice)["status"], "paid");
                assert_eq!(shop.get("salesInvoices", &invoice)["paidDate"], "2026-03-10");
                shop.proves();
                // Unallocating reopens, and takes back what the allocation posted.
                let path = format!("/{}", after["allocations"][0]["id"].as_str().unwrap());
                shop.ask("DELETE", "allocations", &path, None).expect(200);
                assert_eq!(shop.get("salesInvoices", &invoice)["status"], "open");
                assert_eq!(shop.posted(&receipt), receipt_posts);
                shop.proves();
            }
        }
    }

    fn what_is_settled_at_another_rate_leaves_a_gain_or_a_loss_and_no_residue(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let usd = |rate: &str| {
                let mut body = shop.receipt("2026-04-20", "1000");
                (body["currency"], body["exchangeRate"]) = ("USD".into(), rate.into());
                body
            };
            let invoice = || shop.make("salesInvoices", &json!({
                "date": "2026-04-01", "partyId": shop.customer, "currency": "USD", "exchangeRate": "0.9",
                "lines": [{"description": "Work", "unitPrice": 1000}]
            }));
            // E5
            let first = invoice();
            assert_eq!(shop.posted(&first), ["1200 900.00", "4000 -900.00"]);
            let mut body = usd("0.93");
            body["allocations"] = json!([{"targetId": id(&first), "amount": 1000}]);
            let receipt = shop.make("receipts", &body);
            assert_eq!(shop.posted(&receipt), ["1010 930.00", "1200 -900.00", "4900 -30.00"]);
            assert_eq!(text(&receipt["allocations"][0]["fxGainLoss"]), "30.00");
            // E6
            let second = invoice();
            let mut parts = Vec::new();
            for (amount, rate, posts, gain) in [
                ("400", "0.93", ["1010 372.00", "1200 -360.00", "4900 -12.00"], "12.00"),
                ("600", "0.88", ["1010 528.00", "1200 -540.00", "4900 12.00"], "-12.00"),
            ] {
                let mut body = usd(rate);
                body["amount"] = amount.into();
                body["allocations"] = json!([{"targetId": id(&second), "amount": amount}]);
                let part = shop.make("receipts", &body);
                assert_eq!(shop.posted(&part), posts);
                assert_eq!(text(&part["allocations"][0]["fxGainLoss"]), gain);
                parts.push(part);
            }
            let after = shop.get("salesInvoices", &second);
            assert_eq!((text(&after["balanceDue"]), text(&after["baseBalanceDue"]), &after["status"]), ("0.00".into(), "0.00".into(), &json!("paid")));
            assert_eq!(shop.company.balance("1200", ""), "0.00");
            shop.proves();
            // Taken back in any order, nothing stays behind.
            for part in &parts {
                shop.ask("DELETE", "receipts", &format!("/{}", id(part)), None).expect(200);
            }
            assert_eq!(text(&shop.get("salesInvoices", &second)["baseBalanceDue"]), "900.00");
            shop.proves();
        }
    }

    fn the_same_rate_leaves_no_exchange_difference(server) {
        let shop = Shop::open(server, Dialect::B);
        let invoice = shop.make("salesInvoices", &json!({
            "date": "2026-04-01", "partyId": shop.customer, "currency": "USD", "exchangeRate": "0.3333",
            "lines": [{"unitPrice": "10.01"}, {"unitPrice": "10.01"}, {"unitPrice": "10.01"}]
        }));
        assert_eq!(text(&invoice["baseTotal"]), "10.01");
        let mut body = shop.receipt("2026-04-02", "30.03");
        (body["currency"], body["exchangeRate"]) = ("USD".into(), "0.3333".into());
        body["allocations"] = json!([{"targetId": id(&invoice), "amount": "30.03"}]);
        let receipt = shop.make("receipts", &body);
        assert_eq!(shop.posted(&receipt), ["1010 10.01", "1200 -10.01"]);
        assert_eq!(receipt["allocations"][0]["entryId"], Value::Null);
        shop.proves();
    }

    fn an_exchange_difference_has_its_sign_on_every_side(server) {
        // T15: receivable and payable, gain and loss, invoice and advance.
        for (resource, money, earlier, later, gain) in [
            ("salesInvoices", "receipts", "0.9", "0.93", "30.00"),
            ("salesInvoices", "receipts", "0.93", "0.9", "-30.00"),
            ("purchaseInvoices", "payments", "0.9", "0.93", "-30.00"),
            ("purchaseInvoices", "payments", "0.93", "0.9", "30.00"),
        ] {
            for advance in [false, true] {
                let shop = Shop::open(server, Dialect::A);
                let party = if money == "receipts" { &shop.customer } else { &shop.supplier };
                let (of_invoice, of_money) = if advance { ("2026-05-20", "2026-05-01") } else { ("2026-05-01", "2026-05-20") };
                let invoice = shop.make(resource, &json!({
                    "date": of_invoice, "partyId": party, "currency": "USD", "exchangeRate": earlier, "lines": [{"unitPrice": 1000}]
                }));
                let moved = shop.make(money, &json!({
                    "date": of_money, "partyId": party, "accountId": shop.company.account("1010"), "amount": 1000,
                    "currency": "USD", "exchangeRate": later, "allocations": [{"targetId": id(&invoice), "amount": 1000}]
                }));
                assert_eq!(text(&moved["allocations"][0]["fxGainLoss"]), gain, "{resource} {earlier} {later} {advance}");
                assert_eq!(shop.company.balance("4900", ""), gain);
                shop.proves();
            }
        }
    }

    fn tax_inside_prices_is_what_the_net_leaves_over(server) {
        for dialect in DIALECTS {
            for (mode, posts, first_line) in [
                ("document", ["1200 758.00", "2200 -131.55", "4000 -626.45"], ("313.23", "65.77")),
                ("line", ["1200 758.00", "2200 -131.56", "4000 -626.44"], ("313.22", "65.78")),
            ] {
                let shop = Shop::with(server, dialect, json!({"taxRounding": mode}));
                let vat = shop.vat("21");
                let line = json!({"description": "Chair", "unitPrice": 379, "taxCodeId": vat});
                let invoice = shop.make("salesInvoices", &json!({
                    "date": "2026-03-10", "partyId": shop.customer, "pricesIncludeTax": true, "lines": [line, line]
                }));
                assert_eq!(shop.posted(&invoice), posts, "E8 {mode}");
                let line = &invoice["lines"][0];
                assert_eq!((text(&line["netAmount"]).as_str(), text(&line["taxAmount"]).as_str()), first_line);
                assert_eq!(text(&invoice["total"]), "758.00");
            }
        }
    }

    fn a_compound_tax_counts_on_the_tax_before_it(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let owed = shop.make("accounts", &json!({"code": "2205", "name": "Tax B", "type": "taxPayable"}));
            let code = shop.tax("QC", json!([
                {"name": "A", "rate": 5}, {"name": "B", "rate": "9.975", "isCompound": true, "payableAccountId": id(&owed)}
            ]));
            let invoice = shop.sale("2026-03-10", json!([{"unitPrice": 100, "taxCodeId": code}]));
            assert_eq!(shop.posted(&invoice), ["1200 115.47", "2200 -5.00", "2205 -10.47", "4000 -100.00"]);
            let summary: Vec<String> = invoice["taxSummary"].as_array().unwrap().iter().map(|tax| format!("{} {} {}", tax["name"], tax["base"], tax["amount"])).collect();
            assert_eq!(summary, ["\"A\" 100.00 5.00", "\"B\" 105.00 10.47"]);
        }
    }

    fn goods_cost_what_was_paid_on_average(server) {
        for dialect in DIALECTS {
            // E11
            let shop = Shop::open(server, dialect);
            let item = shop.item(json!({"salePrice": 9}));
            let buy = |date: &str, quantity: i64, price: &str| shop.purchase(date, json!([{"itemId": item, "quantity": quantity, "unitPrice": price}]));
            let first = buy("2026-01-10", 10, "5");
            assert_eq!(shop.posted(&first), ["1300 50.00", "2100 -50.00"]);
            buy("2026-01-11", 20, "6.2");
            let sold = shop.sale("2026-01-12", json!([{"itemId": item, "quantity": 12}]));
            assert_eq!(shop.posted(&sold), ["1200 108.00", "1300 -69.60", "4000 -108.00", "5000 69.60"]);
            assert_eq!(text(&sold["lines"][0]["costAmount"]), "69.60");
            assert_eq!(shop.stock(&item), ("18".into(), "104.40".into()));
            let back = shop.make("creditNotes", &json!({
                "date": "2026-01-15", "salesInvoiceId": id(&sold), "lines": [{"sourceLineId": sold["lines"][0]["id"], "quantity": 2}]
            }));
            assert_eq!(shop.posted(&back), ["1200 -18.00", "1300 11.60", "4000 18.00", "5000 -11.60"]);
            assert_eq!(shop.stock(&item), ("20".into(), "116.00".into()));
            shop.proves();
        }
    }

    fn what_goes_out_before_it_is_there_is_corrected_when_it_comes(server) {
        for dialect in DIALECTS {
            // E12
            let shop = Shop::open(server, dialect);
            let item = shop.item(json!({"negativeStock": "allow", "salePrice": 10}));
            shop.purchase("2026-01-10", json!([{"itemId": item, "quantity": 3, "unitPrice": "5.8"}]));
            let sold = shop.sale("2026-01-11", json!([{"itemId": item, "quantity": 5}]));
            assert_eq!(shop.posted(&sold), ["1200 50.00", "1300 -29.00", "4000 -50.00", "5000 29.00"]);
            assert_eq!(shop.stock(&item), ("-2".into(), "-11.60".into()));
            let filled = shop.purchase("2026-01-20", json!([{"itemId": item, "quantity": 10, "unitPrice": "6.5"}]));
            assert_eq!(shop.posted(&filled), ["1300 63.60", "2100 -65.00", "5000 1.40"]);
            assert_eq!(shop.stock(&item), ("8".into(), "52.00".into()));
            assert_eq!(text(&shop.get("salesInvoices", &sold)["lines"][0]["costAmount"]), "30.40");
            shop.proves();
            // The receipt goes again: what it corrected goes with it.
            shop.ask("DELETE", "purchaseInvoices", &format!("/{}", id(&filled)), None).expect(200);
            assert_eq!(shop.stock(&item), ("-2".into(), "-11.60".into()));
            shop.proves();
        }
    }

    fn part_of_the_tax_on_a_purchase_is_cost(server) {
        for dialect in DIALECTS {
            // E17
            let shop = Shop::open(server, dialect);
            let half = shop.tax("HALF", json!([{"name": "VAT", "rate": 20, "recoverablePercent": 50}]));
            let bill = shop.purchase("2026-03-10", json!([{"description": "Car", "unitPrice": 200, "taxCodeId": half}]));
            assert_eq!(shop.posted(&bill), ["1400 20.00", "2100 -240.00", "6000 220.00"]);
            // Reverse charge: nothing is paid, and the tax stands on both sides.
            let reverse = shop.tax("RC", json!([{"name": "VAT", "rate": 19, "kind": "reverseCharge"}]));
            let bill = shop.purchase("2026-03-11", json!([{"description": "Cloud", "unitPrice": 100, "taxCodeId": reverse}]));
            assert_eq!(shop.posted(&bill), ["1400 19.00", "2100 -100.00", "2200 -19.00", "6000 100.00"]);
            assert_eq!(text(&bill["total"]), "100.00");
            shop.proves();
        }
    }

    fn paying_early_takes_something_off(server) {
        for dialect in DIALECTS {
            // E18
            let shop = Shop::open(server, dialect);
            let bill = shop.purchase("2026-03-10", json!([{"description": "Paper", "unitPrice": 1000}]));
            let mut body = shop.payment("2026-03-15", "980");
            body["allocations"] = json!([{"targetId": id(&bill), "amount": 980, "discountAmount": 20}]);
            let payment = shop.make("payments", &body);
            assert_eq!(shop.posted(&payment), ["1010 -980.00", "2100 1000.00", "4800 -20.00"]);
            let after = shop.get("purchaseInvoices", &bill);
            assert_eq!((&after["status"], text(&after["amountPaid"]), text(&after["amountDiscounted"])), (&json!("paid"), "980.00".into(), "20.00".into()));
            // On the other side: a fee, a write-off and tax that is kept back.
            let invoice = shop.sale("2026-03-10", json!([{"unitPrice": 100}]));
            let mut body = shop.receipt("2026-03-15", "80");
            body["feeAmount"] = "1.5".into();
            body["allocations"] = json!([{"targetId": id(&invoice), "amount": 80, "writeOffAmount": 5, "withheldAmount": 15}]);
            let receipt = shop.make("receipts", &body);
            assert_eq!(shop.posted(&receipt), ["1010 78.50", "1200 -100.00", "1410 15.00", "6800 1.50", "6810 5.00"]);
            assert_eq!(shop.get("salesInvoices", &invoice)["status"], "paid");
            shop.proves();
        }
    }

    fn what_is_open_abroad_is_revalued_and_the_next_day_it_is_not(server) {
        for dialect in DIALECTS {
            // E20
            let shop = Shop::open(server, dialect);
            shop.make("salesInvoices", &json!({
                "date": "2026-04-01", "partyId": shop.customer, "currency": "USD", "exchangeRate": "0.9", "lines": [{"unitPrice": 1000}]
            }));
            let body = json!({"date": "2026-04-30"});
            assert_eq!(shop.ask("POST", "revaluations", "", Some(&body)).expect(400).fields(), ["rates"]);
            let body = json!({"date": "2026-04-30", "rates": [{"currency": "USD", "rate": "0.95"}]});
            let revaluation = shop.make("revaluations", &body);
            assert_eq!(text(&revaluation["unrealisedGain"]), "50.00");
            let on = |day: &str| ["1210", "4910", "1200"].map(|code| shop.company.balance(code, &format!("&asOf={day}")));
            assert_eq!(on("2026-04-29"), ["0.00", "0.00", "900.00"]);
            assert_eq!(on("2026-04-30"), ["50.00", "50.00", "900.00"]);
            assert_eq!(on("2026-05-01"), ["0.00", "0.00", "900.00"]);
            assert_eq!(shop.ask("POST", "revaluations", "", Some(&body)).expect(409).fields(), ["date"]);
            shop.ask("DELETE", "revaluations", &format!("/{}", id(&revaluation)), None).expect(200);
            assert_eq!(on("2026-04-30"), ["0.00", "0.00", "900.00"]);
            shop.proves();
        }
    }

    fn currencies_say_their_places_and_what_they_are_worth(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            shop.make("exchangeRates", &json!({"currency": "USD", "date": "2026-01-01", "rate": "0.9"}));
            shop.make("exchangeRates", &json!({"currency": "USD", "date": "2026-02-01", "rate": "0.95"}));
            let found = |query: &str| shop.ask("GET", "currencies", query, None).expect(200).data;
            let usd = &found("?code=USD")["items"][0];
            assert_eq!((&usd["digits"], text(&usd["exchangeRate"]), &usd["exchangeRateDate"]), (&json!(2), "0.95".into(), &json!("2026-02-01")));
            let active = found("?isActive=true&sort=-code");
            let codes: Vec<&str> = active["items"].as_array().unwrap().iter().map(|one| one["code"].as_str().unwrap()).collect();
            assert_eq!(codes, ["USD", "EUR"]);
            assert_eq!(found("?q=jp")["items"][0]["digits"], 0);
            assert!(found("?page=2&pageSize=100")["items"].as_array().unwrap().len() > 40);
        }
    }
}
