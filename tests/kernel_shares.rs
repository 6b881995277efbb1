//! What is made of a part is a share of what is left: the worked examples of derived documents, in both dialects.

use crate::harness::server::DIALECTS;
use crate::harness::shop::{Shop, id};
use crate::harness::{Dialect, on_both_engines};
use serde_json::{Value, json};

/// Members of a record, one beside the other.
fn shown(record: &Value, members: &[&str]) -> String {
    let member = |name: &&str| match name.split_once('.') {
        Some((line, name)) => record["lines"][line.parse::<usize>().unwrap()][name].to_string(),
        None => record[*name].to_string(),
    };
    members.iter().map(member).collect::<Vec<_>>().join(" ")
}

const LINE: [&str; 3] = ["0.netAmount", "0.taxAmount", "total"];

fn credit_body(date: &str, invoice: &Value, lines: Value) -> Value {
    json!({"date": date, "salesInvoiceId": id(invoice), "lines": lines})
}

impl Shop<'_> {
    /// A note that says of a line how many, and nothing else.
    fn pieces(&self, date: &str, invoice: &Value, line: usize, quantity: u32) -> Value {
        self.credit(date, invoice, json!([{"sourceLineId": invoice["lines"][line]["id"], "quantity": quantity}]))
    }

    fn credit(&self, date: &str, invoice: &Value, lines: Value) -> Value {
        self.make("creditNotes", &credit_body(date, invoice, lines))
    }

    /// A company's sale, with all that a body may say beside party and date.
    fn sold(&self, date: &str, more: Value) -> Value {
        let mut body = json!({"date": date, "partyId": self.customer});
        body.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
        self.make("salesInvoices", &body)
    }

    fn put(&self, resource: &str, record: &Value, change: impl FnOnce(&mut Value)) -> crate::harness::server::Said {
        let mut body = self.get(resource, record);
        change(&mut body);
        self.ask("PUT", resource, &format!("/{}", id(record)), Some(&body))
    }

    fn refuses(&self, resource: &str, body: &Value, code: &str, field: &str) {
        let refused = self.ask("POST", resource, "", Some(body)).expect(409);
        assert_eq!((refused.code.as_deref(), refused.fields()), (Some(code), vec![field.to_owned()]), "{body}");
    }
}

on_both_engines! {

    fn no_price_leaves_a_cent_that_cannot_be_credited(server) {
        // F29: for a third of all prices the third piece was refused by a cent.
        let shop = Shop::open(server, Dialect::A);
        let vat = shop.vat("20");
        let prices = ["9.99", "0.01", "0.02", "0.05", "1.03", "7.77", "33.33", "49.99", "12.34", "0.99"];
        let lines: Vec<Value> = prices.iter().map(|price| json!({"description": "Thing", "quantity": 3, "unitPrice": price, "taxCodeId": vat})).collect();
        let invoice = shop.sold("2026-03-10", json!({"pricesIncludeTax": true, "lines": lines}));
        for _ in 0..3 {
            let lines: Vec<Value> = invoice["lines"].as_array().unwrap().iter().map(|line| json!({"sourceLineId": line["id"], "quantity": 1})).collect();
            let credit = shop.credit("2026-03-11", &invoice, json!(lines));
            for (line, price) in credit["lines"].as_array().unwrap().iter().zip(prices) {
                let cents = |value: &Value| crate::harness::shop::cents(value);
                assert_eq!(crate::harness::shop::shown_cents(cents(&line["netAmount"]) + cents(&line["taxAmount"])), format!("{price:0<4}"), "{line}");
            }
        }
        assert_eq!((shop.company.balance("1200", ""), shop.company.balance("2200", "")), ("0.00".into(), "0.00".into()));
        shop.proves();
    }

    fn a_compound_tax_is_shared_component_by_component(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let code = shop.tax("QC", json!([{"name": "A", "rate": 5}, {"name": "B", "rate": "9.975", "isCompound": true}]));
            let line = json!([{"description": "Thing", "quantity": 3, "unitPrice": "0.333333", "taxCodeId": code}]);
            let invoice = shop.sold("2026-03-10", json!({"lines": line}));
            assert_eq!(shown(&invoice, &LINE), "1.00 0.15 1.15");
            let taxes: Vec<String> = (0..3)
                .map(|_| {
                    let credit = shop.pieces("2026-03-11", &invoice, 0, 1);
                    let taxes = credit["lines"][0]["taxes"].as_array().unwrap().iter();
                    taxes.map(|tax| format!("{}/{}", tax["base"], tax["amount"])).collect::<Vec<_>>().join(" ")
                })
                .collect();
            assert_eq!(taxes, ["0.33/0.02 0.35/0.03", "0.34/0.02 0.36/0.04", "0.33/0.01 0.34/0.03"], "N8");
            assert_eq!((shop.company.balance("1200", ""), shop.company.balance("2200", "")), ("0.00".into(), "0.00".into()));
            shop.proves();
        }
    }

    fn a_line_against_the_whole_is_bound_by_what_is_left(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let invoice = shop.sold("2026-03-10", json!({"lines": [{"description": "Work", "unitPrice": 100}]}));
            let free = |price: u32| credit_body("2026-03-11", &invoice, json!([{"description": "Sorry", "unitPrice": price}]));
            shop.refuses("creditNotes", &free(150), "over_credit", "lines[0].unitPrice");
            let credit = shop.make("creditNotes", &free(60));
            shop.refuses("creditNotes", &free(50), "over_credit", "lines[0].unitPrice");
            // What names the line is bound by the whole as well.
            let line = credit_body("2026-03-11", &invoice, json!([{"sourceLineId": invoice["lines"][0]["id"]}]));
            shop.refuses("creditNotes", &line, "over_credit", "lines[0].unitPrice");
            let refused = shop.act("POST", "salesInvoices", &invoice, "void", None).expect(409);
            assert_eq!(refused.code.as_deref(), Some("in_use"));
            shop.make("creditNotes", &free(40));
            shop.void("creditNotes", &credit);
            assert_eq!(shop.company.balance("1200", ""), "60.00");
            shop.proves();
            let open = Shop::with(server, dialect, json!({"allowOvercredit": true}));
            let invoice = open.sold("2026-03-10", json!({"lines": [{"description": "Work", "unitPrice": 100}]}));
            open.credit("2026-03-11", &invoice, json!([{"description": "Sorry", "unitPrice": 150}]));
            open.credit("2026-03-11", &invoice, json!([{"sourceLineId": invoice["lines"][0]["id"], "quantity": 2}]));
            assert_eq!(open.company.balance("1200", ""), "-250.00", "4.6");
            open.proves();
        }
    }

    fn the_tax_of_a_code_is_bound_as_well_and_its_last_share_takes_the_rest(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let (vat, low) = (shop.vat("20"), shop.vat("7"));
            let line = json!({"description": "Thing", "unitPrice": "0.03", "taxCodeId": vat});
            let invoice = shop.sold("2026-03-10", json!({"lines": [line, line, {"description": "Other", "unitPrice": 5}]}));
            assert_eq!(shown(&invoice, &["netTotal", "taxTotal"]), "5.06 0.01");
            let free = |price: &str, code: Value| credit_body("2026-03-11", &invoice, json!([{"description": "Sorry", "unitPrice": price, "taxCodeId": code}]));
            for (price, wanted) in [("0.03", "0.03 0.01"), ("0.03", "0.03 0.00")] {
                assert_eq!(shown(&shop.make("creditNotes", &free(price, json!(vat))), &["netTotal", "taxTotal"]), wanted);
            }
            shop.refuses("creditNotes", &free("1", json!(vat)), "over_credit", "lines[0].taxCodeId");
            shop.refuses("creditNotes", &free("1", json!(low)), "over_credit", "lines[0].taxCodeId");
            assert_eq!(shown(&shop.make("creditNotes", &free("5", Value::Null)), &["total"]), "5.00");
            assert_eq!(shop.company.balance("1200", ""), "0.00");
            shop.proves();
        }
    }

    fn a_header_takes_by_item_where_one_line_suits(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let (vat, item) = (shop.vat("20"), shop.item(json!({"type": "service", "salePrice": 50})));
            let line = json!({"itemId": item, "quantity": 3, "unitPrice": "9.99", "taxCodeId": vat});
            let invoice = shop.sold("2026-03-10", json!({"pricesIncludeTax": true, "lines": [line, {"description": "Post", "unitPrice": 5}]}));
            let credit = shop.credit("2026-03-11", &invoice, json!([{"itemId": item, "quantity": 1}]));
            assert_eq!(credit["lines"][0]["sourceLineId"], invoice["lines"][0]["id"]);
            assert_eq!(shown(&credit, &LINE), "8.33 1.66 9.99");
            shop.proves();
        }
    }

    fn an_origin_changes_as_far_as_what_is_left_allows(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let invoice = shop.sold("2026-03-10", json!({"lines": [{"description": "Work", "quantity": 10, "unitPrice": 10}]}));
            let credit = shop.pieces("2026-03-11", &invoice, 0, 3);
            assert_eq!(shown(&credit, &["total"]), "30.00");
            let change = |quantity: u32, price: u32| shop.put("salesInvoices", &invoice, |body| {
                (body["lines"][0]["quantity"], body["lines"][0]["unitPrice"]) = (quantity.into(), price.into());
            });
            let refused = change(2, 10).expect(409);
            assert_eq!((refused.code.as_deref(), refused.fields()), (Some("in_use"), vec!["lines[0].quantity".to_owned()]), "4.7");
            assert!(refused.answer.text.contains(credit["number"].as_str().unwrap()), "it names what credits it");
            for (field, value) in [("date", json!("2026-03-09")), ("taxDate", json!("2026-03-09")), ("currency", json!("USD")), ("pricesIncludeTax", json!(true))] {
                let refused = shop.put("salesInvoices", &invoice, |body| {
                    body[field] = value.clone();
                    if field == "currency" { body["exchangeRate"] = "0.9".into(); }
                }).expect(409);
                assert_eq!(refused.code.as_deref(), Some("in_use"), "{field}");
            }
            assert_eq!(shown(&change(5, 12).expect(200).data, &["total"]), "60.00", "4.7");
            assert_eq!(shown(&shop.pieces("2026-03-12", &invoice, 0, 2), &["total"]), "30.00", "4.7: the rest");
            assert_eq!(shop.act("POST", "salesInvoices", &invoice, "void", None).expect(409).code.as_deref(), Some("in_use"), "4.7");
            assert_eq!(shop.company.balance("1200", ""), "0.00");
            shop.proves();
        }
    }

    fn an_invoice_of_an_order_changes_while_some_of_its_goods_are_back(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let item = shop.item(json!({"salePrice": 10}));
            shop.purchase("2026-01-05", json!([{"itemId": item, "quantity": 12, "unitPrice": 6}]));
            let body = json!({"date": "2026-02-01", "partyId": shop.customer, "lines": [{"itemId": item, "quantity": 10, "unitPrice": 10}]});
            let order = shop.make("salesOrders", &body);
            let invoice = shop.act("POST", "salesOrders", &order, "invoices", Some(&json!({"date": "2026-02-02"}))).expect(201).data;
            let credit = shop.pieces("2026-02-03", &invoice, 0, 3);
            assert_eq!(shop.posted(&credit), ["1200 -30.00", "1300 18.00", "4000 30.00", "5000 -18.00"]);
            let change = |quantity: u32| shop.put("salesInvoices", &invoice, |body| body["lines"][0]["quantity"] = quantity.into());
            change(8).expect(200);
            assert_eq!(shown(&shop.get("salesOrders", &order), &["0.fulfilledQuantity", "0.invoicedQuantity", "0.returnedQuantity"]), "8 5 3");
            assert_eq!(shop.stock(&item), ("7".into(), "42.00".into()));
            shop.proves();
            assert_eq!(change(2).expect(409).code.as_deref(), Some("in_use"));
            shop.void("creditNotes", &credit);
            shop.void("salesInvoices", &invoice);
            assert_eq!((shop.stock(&item).0, shop.company.balance("1200", "")), ("12".into(), "0.00".into()));
            shop.proves();
        }
    }

    fn a_debit_is_worth_what_its_bill_was(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let half = shop.tax("HALF", json!([{"name": "VAT", "rate": 20, "recoverablePercent": 50}]));
            for code in [shop.vat("20"), half] {
                let bill = shop.make("purchaseInvoices", &json!({
                    "date": "2026-03-10", "partyId": shop.supplier, "currency": "USD", "exchangeRate": "0.3333",
                    "lines": [{"description": "Thing", "quantity": 3, "unitPrice": "3.336667", "taxCodeId": code}]
                }));
                assert_eq!(shown(&bill, &["netTotal", "taxTotal", "baseNetTotal", "baseTaxTotal"]), "10.01 2.00 3.34 0.66", "F19");
                for _ in 0..3 {
                    let line = json!([{"lineId": bill["lines"][0]["id"], "quantity": 1}]);
                    shop.act("POST", "purchaseInvoices", &bill, "debit-notes", Some(&json!({"date": "2026-03-11", "lines": line}))).expect(201);
                }
                for account in ["1400", "2100", "6000"] {
                    assert_eq!(shop.company.balance(account, ""), "0.00", "{account}");
                }
                shop.proves();
            }
        }
    }

    fn invoices_of_an_order_share_its_discount(server) {
        for dialect in DIALECTS {
            for discount in [json!({"discountAmount": 10}), json!({})] {
                let shop = Shop::open(server, dialect);
                let mut line = json!({"description": "Work", "quantity": 3, "unitPrice": 20});
                if discount["discountAmount"].is_null() {
                    line["discountAmount"] = 10.into();
                }
                let mut body = json!({"date": "2026-03-01", "partyId": shop.customer, "lines": [line]});
                body.as_object_mut().unwrap().extend(discount.as_object().cloned().unwrap());
                let order = shop.make("salesOrders", &body);
                let part = |date: &str| json!({"date": date, "lines": [{"lineId": order["lines"][0]["id"], "quantity": 1}]});
                let first = shop.act("POST", "salesOrders", &order, "invoices", Some(&part("2026-03-10"))).expect(201).data;
                // By the endpoint and by hand is the same.
                let second = shop.sold("2026-03-11", json!({"lines": [{"sourceLineId": order["lines"][0]["id"], "quantity": 1}]}));
                let third = shop.act("POST", "salesOrders", &order, "invoices", Some(&json!({"date": "2026-03-12"}))).expect(201).data;
                let found = [&first, &second, &third].map(|invoice| shown(invoice, &["0.discountValue", "total"]));
                assert_eq!(found, ["3.33 16.67", "3.34 16.66", "3.33 16.67"], "4.8 {discount}");
                // What was read can be sent back, and what is void gives its share back.
                assert_eq!(shop.put("salesInvoices", &second, |_| {}).expect(200).data["version"], second["version"]);
                shop.void("salesInvoices", &second);
                let again = shop.act("POST", "salesOrders", &order, "invoices", Some(&json!({"date": "2026-03-12"}))).expect(201).data;
                assert_eq!(shown(&again, &["0.discountValue", "total"]), "3.34 16.66");
                shop.proves();
            }
        }
    }

    fn a_credit_has_the_rates_of_its_invoice(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let code = shop.tax("V19", json!([{"name": "VAT", "rate": 19, "rates": [{"validFrom": "2026-07-01", "rate": 16}]}]));
            let invoice = shop.sold("2026-06-20", json!({"lines": [{"description": "Work", "unitPrice": 100, "taxCodeId": code}]}));
            // F3: by its line, by another price, by a line against the whole.
            let source = &invoice["lines"][0]["id"];
            let parts = [
                json!([{"sourceLineId": source, "quantity": "0.5"}]),
                json!([{"sourceLineId": source, "quantity": "0.25", "unitPrice": 100}]),
                json!([{"description": "Sorry", "unitPrice": 25, "taxCodeId": code}]),
            ];
            for (lines, wanted) in parts.into_iter().zip(["50.00 9.50 59.50", "25.00 4.75 29.75", "25.00 4.75 29.75"]) {
                let credit = shop.credit("2026-07-15", &invoice, lines);
                assert_eq!((shown(&credit, &LINE), credit["lines"][0]["taxes"][0]["rate"].to_string()), (wanted.into(), "19".into()));
            }
            assert_eq!((shop.company.balance("1200", ""), shop.company.balance("2200", "")), ("0.00".into(), "0.00".into()));
            shop.proves();
        }
    }

    fn a_fee_for_what_comes_back_is_taken_off_the_share(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let vat = shop.vat("20");
            let invoice = shop.sold("2026-03-10", json!({"lines": [{"description": "Thing", "quantity": 3, "unitPrice": 10, "taxCodeId": vat}]}));
            let credit = shop.credit("2026-03-11", &invoice, json!([
                {"sourceLineId": invoice["lines"][0]["id"], "quantity": 1}, {"description": "Handling", "unitPrice": -2, "taxCodeId": vat}
            ]));
            assert_eq!(shown(&credit, &["0.netAmount", "1.netAmount", "1.taxAmount", "total"]), "10.00 -2.00 -0.40 9.60");
            assert_eq!(shop.posted(&credit), ["1200 -9.60", "2200 1.60", "4000 8.00"]);
            shop.proves();
        }
    }

    fn a_price_adjustment_leaves_the_pieces(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let vat = shop.vat("20");
            let invoice = shop.sold("2026-03-10", json!({"lines": [{"description": "Thing", "quantity": 3, "unitPrice": 10, "taxCodeId": vat}]}));
            let source = invoice["lines"][0]["id"].clone();
            let mut body = credit_body("2026-03-11", &invoice, json!([{"sourceLineId": source, "quantity": 1, "unitPrice": 6}]));
            body["kind"] = "priceAdjustment".into();
            assert_eq!(shown(&shop.make("creditNotes", &body), &LINE), "6.00 1.20 7.20");
            // N9: all three pieces can still come back, for what is left of their price.
            for wanted in ["8.00 1.60 9.60", "8.00 1.60 9.60", "8.00 1.60 9.60"] {
                assert_eq!(shown(&shop.pieces("2026-03-12", &invoice, 0, 1), &LINE), wanted);
            }
            assert_eq!((shop.company.balance("1200", ""), shop.company.balance("2200", "")), ("0.00".into(), "0.00".into()));
            shop.proves();
        }
    }

    fn notes_are_made_of_invoices(server) {
        for dialect in DIALECTS {
            for (invoices, notes, party) in [("salesInvoices", "credit-notes", 0), ("purchaseInvoices", "debit-notes", 1)] {
                let shop = Shop::open(server, dialect);
                let vat = shop.vat("20");
                let party = [&shop.customer, &shop.supplier][party];
                let invoice = shop.make(invoices, &json!({
                    "date": "2026-03-10", "partyId": party, "pricesIncludeTax": true, "discountPercent": 10, "lines": [
                        {"description": "Thing", "quantity": 3, "unitPrice": "9.99", "taxCodeId": vat},
                        {"description": "Other", "unitPrice": 12, "taxCodeId": vat},
                        {"description": "Only words"}
                    ]
                }));
                let line = |place: usize| invoice["lines"][place]["id"].clone();
                let make = |body: Value| shop.act("POST", invoices, &invoice, notes, Some(&body));
                // By quantity, by amount, and then all that is left.
                let first = make(json!({"date": "2026-03-11", "lines": [{"lineId": line(0), "quantity": 1}]})).expect(201).data;
                assert_eq!(shown(&first, &["kind", "total"]), r#""return" 8.99"#, "F30");
                let second = make(json!({"date": "2026-03-11", "reason": "Late", "lines": [{"lineId": line(1), "amount": "2.4"}]})).expect(201).data;
                assert_eq!(shown(&second, &["kind", "reason", "netTotal", "taxTotal", "total"]), r#""priceAdjustment" "Late" 2.00 0.40 2.40"#);
                for (body, status, fields) in [
                    (json!({"date": "2026-03-11", "lines": [{"lineId": line(0), "quantity": 3}]}), 409, vec!["lines[0].quantity"]),
                    (json!({"date": "2026-03-11", "lines": [{"lineId": line(1), "amount": "8.41"}]}), 409, vec!["lines[0].unitPrice"]),
                    (json!({"date": "2026-03-11", "lines": [{"lineId": line(2)}]}), 400, vec!["lines[0].lineId"]),
                    (json!({"date": "2026-03-11", "lines": [{"lineId": line(0), "quantity": 1, "amount": 1}]}), 400, vec!["lines[0].amount"]),
                    (json!({"date": "2026-03-11", "kind": "return", "lines": [{"lineId": line(0), "amount": 1}]}), 400, vec!["kind"]),
                    (json!({"date": "2026-03-11", "lines": [{"lineId": line(0)}, {"lineId": line(1), "amount": 1}]}), 400, vec!["lines"]),
                    (json!({"date": "2026-03-11", "lines": [{"lineId": line(0), "quantity": 0}]}), 400, vec!["lines[0].quantity"]),
                ] {
                    assert_eq!(make(body.clone()).expect(status).fields(), fields, "{body}");
                }
                let rest = make(json!({"date": "2026-03-12"})).expect(201).data;
                assert_eq!(rest["lines"].as_array().unwrap().len(), 2);
                let control = if party == &shop.customer { "1200" } else { "2100" };
                assert_eq!(shop.company.balance(control, ""), "0.00");
                let done = make(json!({"date": "2026-03-12"})).expect(409);
                assert_eq!((done.code.as_deref(), done.fields()), (Some("over_credit"), vec!["lines".to_owned()]));
                shop.proves();
            }
        }
    }

    fn goods_bring_their_share_of_the_cost_back(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let item = shop.item(json!({"salePrice": 10}));
            shop.purchase("2026-01-05", json!([{"itemId": item, "quantity": 3, "unitPrice": "3.333333"}]));
            let body = json!({"date": "2026-02-01", "partyId": shop.customer, "lines": [{"itemId": item, "quantity": 3}]});
            let note = shop.make("deliveryNotes", &body);
            let part = |quantity: u32| json!({"date": "2026-02-02", "lines": [{"lineId": note["lines"][0]["id"], "quantity": quantity}]});
            let back = shop.act("POST", "deliveryNotes", &note, "returns", Some(&part(1))).expect(201).data;
            let invoice = shop.act("POST", "deliveryNotes", &note, "invoices", Some(&json!({"date": "2026-02-03"}))).expect(201).data;
            assert_eq!(shop.posted(&note), ["1300 -10.00", "1350 10.00"], "4.10");
            assert_eq!(shop.posted(&back), ["1300 3.33", "1350 -3.33"], "4.10");
            assert_eq!(shop.posted(&invoice), ["1200 20.00", "1350 -6.67", "4000 -20.00", "5000 6.67"], "4.10");
            shop.proves();
        }
    }

    fn credits_of_goods_that_came_back_share_all_that_billed_them(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let (vat, item) = (shop.vat("20"), shop.item(json!({"salePrice": "9.99"})));
            shop.purchase("2026-01-05", json!([{"itemId": item, "quantity": 10, "unitPrice": 4}]));
            let line = json!([{"itemId": item, "quantity": 3, "unitPrice": "9.99", "taxCodeId": vat}]);
            let note = shop.make("deliveryNotes", &json!({"date": "2026-02-01", "partyId": shop.customer, "pricesIncludeTax": true, "lines": line}));
            let part = |day: u32, quantity: u32| json!({"date": format!("2026-02-{day:02}"), "lines": [{"lineId": note["lines"][0]["id"], "quantity": quantity}]});
            let make = |step: &str, body: Value| shop.act("POST", "deliveryNotes", &note, step, Some(&body)).expect(201).data;
            let (first, second) = (make("invoices", part(2, 1)), make("invoices", part(3, 2)));
            let back = make("returns", part(4, 3));
            let credit = shop.act("POST", "deliveryNotes", &back, "credit-notes", Some(&json!({"date": "2026-02-05"}))).expect(201).data;
            let cents = |record: &Value, member: &str| crate::harness::shop::cents(&record[member]);
            for member in ["netTotal", "taxTotal", "total"] {
                assert_eq!(cents(&credit, member), cents(&first, member) + cents(&second, member), "{member}");
            }
            for invoice in [&first, &second] {
                assert_eq!(shop.act("POST", "salesInvoices", invoice, "void", None).expect(409).code.as_deref(), Some("in_use"));
            }
            assert_eq!((shop.company.balance("1200", ""), shop.company.balance("1350", ""), shop.company.balance("5000", "")), ("0.00".into(), "0.00".into(), "0.00".into()));
            shop.proves();
        }
    }
}
