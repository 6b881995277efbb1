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
