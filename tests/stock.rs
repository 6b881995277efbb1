//! Goods: what they cost, in which order, and what happens when something comes late or goes away again.

use crate::harness::server::DIALECTS;
use crate::harness::shop::{Shop, id};
use crate::harness::{Dialect, on_both_engines};
use serde_json::{Value, json};

fn text(value: &Value) -> String {
    value.to_string()
}

fn pair(quantity: &str, value: &str) -> (String, String) {
    (quantity.into(), value.into())
}

on_both_engines! {
    fn what_came_first_goes_first(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let item = shop.item(json!({"costMethod": "fifo", "salePrice": 10}));
            for (date, quantity, price) in [("2026-01-10", 10, "5"), ("2026-01-11", 20, "6.2")] {
                shop.purchase(date, json!([{"itemId": item, "quantity": quantity, "unitPrice": price}]));
            }
            let sold = shop.sale("2026-01-12", json!([{"itemId": item, "quantity": 12}]));
            assert_eq!(text(&sold["lines"][0]["costAmount"]), "62.40");
            assert_eq!(shop.stock(&item), pair("18", "111.60"));
            shop.proves();
        }
    }

    fn at_standard_cost_the_difference_is_a_variance(server) {
        let shop = Shop::open(server, Dialect::B);
        let item = shop.item(json!({"costMethod": "standard", "standardCost": 5, "salePrice": 10}));
        let bill = shop.purchase("2026-01-10", json!([{"itemId": item, "quantity": 10, "unitPrice": "5.5"}]));
        assert_eq!(shop.posted(&bill), ["1300 50.00", "2100 -55.00", "5100 5.00"]);
        let sold = shop.sale("2026-01-12", json!([{"itemId": item, "quantity": 4}]));
        assert_eq!(text(&sold["lines"][0]["costAmount"]), "20.00");
        assert_eq!(shop.stock(&item), pair("6", "30.00"));
        let refused = shop.ask("POST", "items", "", Some(&json!({"name": "S", "type": "stock", "costMethod": "standard"}))).expect(400);
        assert_eq!(refused.fields(), ["standardCost"]);
        shop.proves();
    }

    fn a_purchase_that_comes_late_corrects_what_was_sold(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let item = shop.item(json!({"salePrice": 10}));
            shop.purchase("2026-01-10", json!([{"itemId": item, "quantity": 10, "unitPrice": 4}]));
            let sold = shop.sale("2026-02-10", json!([{"itemId": item, "quantity": 5}]));
            assert_eq!(text(&sold["lines"][0]["costAmount"]), "20.00");
            // Before that, ten more were bought at 6: the average is 5.
            let late = shop.purchase("2026-01-20", json!([{"itemId": item, "quantity": 10, "unitPrice": 6}]));
            assert_eq!(shop.posted(&late), ["1300 55.00", "2100 -60.00", "5000 5.00"]);
            let entries = shop.company.entries_of(id(&late));
            assert_eq!((&entries[1]["kind"], &entries[1]["date"]), (&json!("stockAdjustment"), &json!("2026-02-10")));
            assert_eq!(text(&shop.get("salesInvoices", &sold)["lines"][0]["costAmount"]), "25.00");
            assert_eq!(shop.stock(&item), pair("15", "75.00"));
            assert_eq!(shop.company.balance("1300", "&asOf=2026-02-09"), "100.00");
            shop.proves();
            // It goes away again, on its own day: what it corrected is corrected back.
            shop.ask("DELETE", "purchaseInvoices", &format!("/{}", id(&late)), None).expect(200);
            assert_eq!(text(&shop.get("salesInvoices", &sold)["lines"][0]["costAmount"]), "20.00");
            assert_eq!(shop.stock(&item), pair("5", "20.00"));
            shop.proves();
            // The sale goes as well: nothing is left of it.
            shop.ask("DELETE", "salesInvoices", &format!("/{}", id(&sold)), None).expect(200);
            assert_eq!(shop.stock(&item), pair("10", "40.00"));
            assert_eq!(shop.company.balance("5000", ""), "0.00");
            shop.proves();
        }
    }

    fn what_moves_stock_needs_a_day_that_is_open_for_it(server) {
        let shop = Shop::open(server, Dialect::A);
        let item = shop.item(json!({"salePrice": 10}));
        shop.purchase("2026-01-10", json!([{"itemId": item, "quantity": 10, "unitPrice": 4}]));
        shop.sale("2026-01-15", json!([{"itemId": item, "quantity": 5}]));
        shop.make("locks", &json!({"stockLockDate": "2026-01-31", "reason": "Counted"}));
        let late = |item: &Value| json!({"date": "2026-01-12", "partyId": shop.supplier, "lines": [
            {"itemId": item, "accountId": if item.is_null() { shop.company.account("6200").into() } else { Value::Null }, "quantity": 10, "unitPrice": 6}
        ]});
        let refused = shop.ask("POST", "purchaseInvoices", "", Some(&late(&item.clone().into()))).expect(409);
        assert_eq!((refused.code.as_deref(), refused.fields()), (Some("period_locked"), vec!["date".to_owned()]));
        // What moves none is none of its business.
        shop.ask("POST", "purchaseInvoices", "", Some(&late(&Value::Null))).expect(201);
        // What was sold in the closed time comes back on the first day that is open.
        let sold = shop.ask("GET", "salesInvoices", "", None).expect(200).data["items"][0].clone();
        assert_eq!(shop.void("salesInvoices", &sold)["voidDate"], "2026-02-01");
        assert_eq!(shop.company.balance("1300", "&asOf=2026-01-31"), "20.00");
        shop.proves();
    }

    fn not_more_goes_out_than_there_is(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let item = shop.item(json!({"code": "NUTS", "salePrice": 10}));
            let bought = shop.purchase("2026-01-10", json!([{"itemId": item, "quantity": 10, "unitPrice": 4}]));
            let sell = |date: &str, quantity: i64| json!({"date": date, "partyId": shop.customer, "lines": [{"itemId": item, "quantity": quantity}]});
            let refused = shop.ask("POST", "salesInvoices", "", Some(&sell("2026-01-11", 11))).expect(409);
            assert_eq!(refused.code.as_deref(), Some("insufficient_stock"));
            assert!(refused.title.contains("NUTS"), "{}", refused.title);
            // On that day nothing was there yet.
            shop.ask("POST", "salesInvoices", "", Some(&sell("2026-01-09", 1))).expect(409);
            let sold = shop.ask("POST", "salesInvoices", "", Some(&sell("2026-02-01", 8))).expect(201).data;
            // Between the purchase and the sale, only two can go.
            shop.ask("POST", "salesInvoices", "", Some(&sell("2026-01-20", 3))).expect(409);
            let refused = shop.ask("DELETE", "purchaseInvoices", &format!("/{}", id(&bought)), None).expect(409);
            assert_eq!(refused.code.as_deref(), Some("insufficient_stock"));
            // An edit is judged by what there is after it, not in between.
            let mut changed = bought.clone();
            changed["lines"][0]["quantity"] = 9.into();
            let path = format!("/{}", id(&bought));
            let after = shop.ask("PUT", "purchaseInvoices", &path, Some(&changed)).expect(200).data;
            assert_eq!(shop.stock(&item), pair("1", "4.00"));
            changed["lines"][0]["quantity"] = 7.into();
            shop.ask("PUT", "purchaseInvoices", &path, Some(&changed)).expect(409);
            assert_eq!(shop.get("purchaseInvoices", &bought), after);
            let mut dearer = after.clone();
            dearer["lines"][0]["unitPrice"] = 5.into();
            shop.ask("PUT", "purchaseInvoices", &path, Some(&dearer)).expect(200);
            assert_eq!(text(&shop.get("salesInvoices", &sold)["lines"][0]["costAmount"]), "40.00");
            assert_eq!(shop.stock(&item), pair("1", "5.00"));
            shop.proves();
        }
    }

    fn goods_that_go_back_to_the_supplier_leave_at_their_cost(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let (item, vat) = (shop.item(json!({})), shop.vat("20"));
            let line = |quantity: i64, price: &str| json!([{"itemId": item, "quantity": quantity, "unitPrice": price, "taxCodeId": vat}]);
            shop.purchase("2026-01-10", line(10, "4"));
            let bill = shop.purchase("2026-01-11", line(10, "6"));
            let note = shop.make("debitNotes", &json!({
                "date": "2026-01-12", "purchaseInvoiceId": id(&bill),
                "lines": [{"sourceLineId": bill["lines"][0]["id"], "quantity": 2}],
                "allocations": [{"targetId": id(&bill), "amount": "14.4"}]
            }));
            // They go back at the share of what they were bought at, and leave the others at theirs.
            assert_eq!(shop.posted(&note), ["1300 -12.00", "1400 -2.40", "2100 14.40"]);
            assert_eq!(shop.stock(&item), pair("18", "88.00"));
            assert_eq!(text(&shop.get("purchaseInvoices", &bill)["balanceDue"]), "57.60");
            let over = json!({
                "date": "2026-01-12", "purchaseInvoiceId": id(&bill), "lines": [{"sourceLineId": bill["lines"][0]["id"], "quantity": 9}]
            });
            let refused = shop.ask("POST", "debitNotes", "", Some(&over)).expect(409);
            assert_eq!((refused.code.as_deref(), refused.fields()), (Some("over_credit"), vec!["lines[0].quantity".to_owned()]));
            shop.proves();
        }
    }

    fn stock_is_adjusted_by_what_was_found_lost_or_counted(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let item = shop.item(json!({}));
            let adjust = |date: &str, line: Value| {
                let mut line = line;
                line["itemId"] = item.clone().into();
                shop.ask("POST", "stockAdjustments", "", Some(&json!({"date": date, "reason": "Count", "lines": [line]})))
            };
            let found = adjust("2026-01-10", json!({"quantityDelta": 10, "unitCost": "2.5"})).expect(201).data;
            assert_eq!(shop.posted(&found), ["1300 25.00", "5200 -25.00"]);
            let lost = adjust("2026-01-11", json!({"quantityDelta": "-0.5"})).expect(201).data;
            assert_eq!((shop.posted(&lost), text(&lost["totalValue"])), (vec!["1300 -1.25".to_owned(), "5200 1.25".into()], "-1.25".into()));
            let counted = adjust("2026-01-12", json!({"countedQuantity": 12})).expect(201).data;
            assert_eq!((text(&counted["lines"][0]["adjustedQuantity"]), text(&counted["totalValue"])), ("2.5".into(), "6.25".into()));
            assert_eq!(shop.stock(&item), pair("12", "30.00"));
            assert_eq!(adjust("2026-01-13", json!({})).expect(400).fields(), ["lines[0].quantityDelta"]);
            assert_eq!(adjust("2026-01-13", json!({"quantityDelta": -13})).expect(409).code.as_deref(), Some("insufficient_stock"));
            let nothing = adjust("2026-01-13", json!({"countedQuantity": 12})).expect(201).data;
            assert_eq!(nothing["entryIds"], json!([]));
            let service = shop.item(json!({"type": "service"}));
            let body = json!({"date": "2026-01-10", "lines": [{"itemId": service, "quantityDelta": 1}]});
            assert_eq!(shop.ask("POST", "stockAdjustments", "", Some(&body)).expect(400).fields(), ["lines[0].itemId"]);
            shop.proves();
        }
    }

    fn an_item_that_moved_stays_what_it_is(server) {
        let shop = Shop::open(server, Dialect::B);
        let item = shop.item(json!({"code": "X"}));
        shop.purchase("2026-01-10", json!([{"itemId": item, "quantity": 1, "unitPrice": 4}]));
        for (field, value) in [("type", "service"), ("costMethod", "fifo")] {
            let mut body = json!({"name": "Goods", "code": "X", "type": "stock"});
            body[field] = value.into();
            let refused = shop.ask("PUT", "items", &format!("/{item}"), Some(&body)).expect(409);
            assert_eq!((refused.code.as_deref(), refused.fields()), (Some("in_use"), vec![field.to_owned()]));
        }
        assert_eq!(shop.ask("DELETE", "items", &format!("/{item}"), None).expect(409).code.as_deref(), Some("in_use"));
        // Inventory follows the stock: no line may post to it by itself.
        let inventory = shop.company.account("1300");
        let body = json!({"date": "2026-01-10", "partyId": shop.supplier, "lines": [{"accountId": inventory, "unitPrice": 5}]});
        assert_eq!(shop.ask("POST", "purchaseInvoices", "", Some(&body)).expect(400).fields(), ["lines[0].accountId"]);
    }
}
