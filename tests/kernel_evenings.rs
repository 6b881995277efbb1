//! What an evening that is kept does not know: what was said of goods before they came, and goods that moved to another day.
//! The figures are by hand.

use crate::harness::on_both_engines;
use crate::harness::server::DIALECTS;
use crate::harness::shop::{Shop, id};
use serde_json::{Value, json};

impl Shop<'_> {
    /// So many lines of one piece each at 3.00: after a hundred facts an evening is kept.
    fn crowd(&self, item: &str, date: &str) {
        let lines: Vec<Value> =
            (0..110).map(|_| json!({"itemId": item, "quantityDelta": 1, "unitCost": "3"})).collect();
        self.make("stockAdjustments", &json!({"date": date, "reason": "Found", "lines": lines}));
    }

    /// Freight of 20.00 on the goods of a line.
    fn freight(&self, date: &str, amount: &str, target: &Value) -> Value {
        let landed = json!({"targetLineIds": [target["lines"][0]["id"]]});
        self.purchase(
            date,
            json!([{"description": "Freight", "quantity": 1, "unitPrice": amount, "landedCost": landed}]),
        )
    }

    fn worth(&self, item: &str, quantity: &str, value: &str) {
        assert_eq!(self.stock(item), (quantity.to_owned(), value.to_owned()));
        self.proves();
    }
}

on_both_engines! {
    fn landed_cost_of_a_day_before_its_goods_comes_with_them(server) {
        for (dialect, method) in DIALECTS.into_iter().zip(["fifo", "movingAverage"]) {
            let shop = Shop::open(server, dialect);
            let item = shop.item(json!({"costMethod": method}));
            let bill = shop.purchase("2026-03-20", json!([{"itemId": item, "quantity": 10, "unitPrice": "3"}]));
            shop.freight("2026-03-10", "20", &bill);
            shop.crowd(&item, "2026-03-12");
            shop.worth(&item, "120", "380.00");
            // On the 15th there are pieces at 3.00 alone: the freight comes with its goods.
            shop.sale("2026-03-15", json!([{"itemId": item, "quantity": 1, "unitPrice": "9"}]));
            shop.worth(&item, "119", "377.00");
            shop.sale("2026-03-25", json!([{"itemId": item, "quantity": 119, "unitPrice": "9"}]));
            shop.worth(&item, "0", "0.00");
        }
    }

    fn a_bill_of_a_day_before_its_goods_comes_with_them(server) {
        for (dialect, method) in DIALECTS.into_iter().zip(["fifo", "movingAverage"]) {
            let shop = Shop::open(server, dialect);
            let item = shop.item(json!({"costMethod": method}));
            let lines = json!([{"itemId": item, "quantity": 10, "unitCost": "3"}]);
            let note = shop.make("receiptNotes", &json!({"date": "2026-03-20", "partyId": shop.supplier, "lines": lines}));
            let line = json!({"sourceLineId": note["lines"][0]["id"], "quantity": 10, "unitPrice": "5"});
            shop.purchase("2026-03-10", json!([line]));
            shop.crowd(&item, "2026-03-12");
            shop.worth(&item, "120", "380.00");
            shop.sale("2026-03-15", json!([{"itemId": item, "quantity": 1, "unitPrice": "9"}]));
            shop.worth(&item, "119", "377.00");
        }
    }

    fn goods_that_moved_to_an_earlier_day_are_known_from_then_on(server) {
        for (dialect, method) in DIALECTS.into_iter().zip(["fifo", "movingAverage"]) {
            let shop = Shop::open(server, dialect);
            let item = shop.item(json!({"costMethod": method}));
            let lines = json!([{"itemId": item, "quantity": 10, "unitCost": "8"}]);
            let mut body = json!({"date": "2026-06-06", "partyId": shop.supplier, "lines": lines});
            let note = shop.make("receiptNotes", &body);
            body["date"] = json!("2026-05-29");
            body["lines"][0]["id"] = note["lines"][0]["id"].clone();
            let note = shop.ask("PUT", "receiptNotes", &format!("/{}", id(&note)), Some(&body)).expect(200).data;
            shop.crowd(&item, "2026-06-04");
            // 10 at 8.00 and 110 at 3.00.
            shop.worth(&item, "120", "410.00");
            shop.act("POST", "receiptNotes", &note, "invoices", Some(&json!({"date": "2026-06-29"}))).expect(201);
            shop.freight("2026-07-12", "2.74", &note);
            let last = shop.freight("2026-07-15", "15.42", &note);
            shop.worth(&item, "120", "428.16");
            shop.void("purchaseInvoices", &last);
            shop.worth(&item, "120", "412.74");
        }
    }

    fn what_a_line_that_goes_is_charged_with_goes_as_well(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let [one, other] = ["A", "B"].map(|code| shop.item(json!({"code": code})));
            let goods = json!([
                {"itemId": one, "quantity": 10, "unitPrice": "3"}, {"itemId": other, "quantity": 10, "unitPrice": "5"}
            ]);
            let bill = shop.purchase("2026-03-10", goods);
            let of = |place: usize| bill["lines"][place]["id"].clone();
            let freight = |targets: Value| {
                json!({"description": "Freight", "quantity": 1, "unitPrice": "20",
                       "landedCost": {"targetLineIds": targets, "by": "quantity"}})
            };
            let put = |lines: Value| {
                let body = json!({"date": "2026-03-10", "partyId": shop.supplier, "lines": lines});
                shop.ask("PUT", "purchaseInvoices", &format!("/{}", id(&bill)), Some(&body))
            };
            let line = |place: usize, item: &str, price: &str| {
                json!({"id": of(place), "itemId": item, "quantity": 10, "unitPrice": price})
            };
            put(json!([line(0, &one, "3"), line(1, &other, "5"), freight(json!([of(0), of(1)]))])).expect(200);
            shop.worth(&one, "10", "40.00");
            let refused = put(json!([line(1, &other, "5"), freight(json!([of(0), of(1)]))])).expect(409);
            assert_eq!((refused.code.as_deref(), refused.fields()), (Some("in_use"), vec!["lines".to_owned()]));
            shop.worth(&one, "10", "40.00");
            put(json!([line(1, &other, "5"), freight(json!([of(1)]))])).expect(200);
            shop.worth(&one, "0", "0.00");
            shop.worth(&other, "10", "70.00");
        }
    }

    fn what_came_free_came(server) {
        let shop = Shop::open(server, DIALECTS[0]);
        let item = shop.item(json!({}));
        shop.purchase("2026-03-10", json!([{"itemId": item, "quantity": 10, "unitPrice": "3"}]));
        shop.purchase("2026-03-11", json!([{"itemId": item, "quantity": 4, "unitPrice": "0"}]));
        shop.sale("2026-03-12", json!([{"itemId": item, "quantity": 3, "unitPrice": "9"}]));
        let asked = shop.company.request_at(shop.dialect, "GET", "reports/stock-summary?from=2026-03-01&to=2026-03-31");
        let told = shop.company.say(shop.dialect, asked).expect(200).data;
        let columns: Vec<&str> = told["columns"].as_array().unwrap().iter().map(|one| one["key"].as_str().unwrap()).collect();
        let of = |key: &str| told["rows"][0]["values"][columns.iter().position(|one| *one == key).unwrap()].to_string();
        assert_eq!(["inQuantity", "outQuantity", "closingQuantity"].map(of), ["14", "3", "11"]);
        shop.proves();
    }
}
