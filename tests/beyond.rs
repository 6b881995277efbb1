//! Quantities that are fine one by one, and together more than a quantity can say: nobody who reads is refused for it, and the
//! proof holds.

use crate::harness::on_both_engines;
use crate::harness::server::DIALECTS;
use crate::harness::shop::{Shop, id};
use serde_json::{Value, json};

const MANY: &str = "9000000000000";

impl Shop<'_> {
    fn told(&self, report: &str) -> Value {
        let asked = self.company.request_at(self.dialect, "GET", &format!("reports/{report}"));
        self.company.say(self.dialect, asked).expect(200).data
    }
}

on_both_engines! {
    fn what_moved_on_a_day_may_be_more_than_a_quantity_can_say(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let items = ["One", "Two"].map(|name| shop.item(json!({"name": name, "negativeStock": "allow"})));
            for item in &items {
                for (date, delta) in [("2026-03-01", MANY.to_owned()), ("2026-03-02", format!("-{MANY}")), ("2026-03-02", format!("-{MANY}"))] {
                    let mut line = json!({"itemId": item, "quantityDelta": delta});
                    if date == "2026-03-01" {
                        line["unitCost"] = json!("0");
                    }
                    shop.make("stockAdjustments", &json!({"date": date, "reason": "Much", "lines": [line]}));
                }
                assert_eq!(shop.stock(item).0, format!("-{MANY}"));
            }
            shop.proves();
            // Of each item it is told; of both together there is no quantity, and the sums of both sides are equal.
            for report in ["stock-summary?from=2026-03-01&to=2026-03-31", "stock-valuation?asOf=2026-03-31"] {
                let told = shop.told(report);
                assert!(told["checks"].as_array().unwrap().iter().all(|check| check["ok"] == true), "{told}");
            }
            let ledger = shop.told(&format!("stock-ledger?itemId={}&from=2026-03-01&to=2026-03-31", items[0]));
            assert!(ledger.to_string().contains(&format!("-{MANY}")), "{ledger}");
            // A count goes by what is there.
            let count = json!({"date": "2026-03-03", "reason": "Count", "lines": [{"itemId": items[0], "countedQuantity": 5, "unitCost": "1"}]});
            shop.make("stockAdjustments", &count);
            assert_eq!(shop.stock(&items[0]).0, "5");
            shop.proves();
        }
    }

    fn what_orders_promise_may_be_more_than_a_quantity_can_say(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let item = shop.item(json!({"reorderLevel": 20}));
            let opening = json!([{"itemId": item, "quantityDelta": 100, "unitCost": "5"}]);
            shop.make("stockAdjustments", &json!({"date": "2026-03-01", "reason": "Opening", "lines": opening}));
            for (resource, party) in [("salesOrders", &shop.customer), ("purchaseOrders", &shop.supplier)] {
                let order = json!({
                    "date": "2026-03-02", "partyId": party, "lines": [{"itemId": item, "quantity": MANY, "unitPrice": "0"}]
                });
                let before = shop.ask("GET", "items", &format!("/{item}"), None).expect(200).data;
                let [one, other] = [(); 2].map(|()| shop.make(resource, &order));
                let read = shop.ask("GET", "items", &format!("/{item}"), None).expect(200).data;
                let figure = if resource == "salesOrders" { "quantityCommitted" } else { "quantityOnOrder" };
                assert_eq!((&before[figure], &read[figure], &read["quantityOnHand"]), (&json!(0), &Value::Null, &json!(100)));
                shop.ask("GET", "items", "", None).expect(200);
                let listed = shop.ask("GET", resource, "?expand=lines.item", None).expect(200).data;
                assert_eq!(listed["expanded"]["items"][0], read);
                // One of them is enough to be told.
                shop.ask("POST", resource, &format!("/{}/void", id(&other)), None).expect(200);
                let read = shop.ask("GET", "items", &format!("/{item}"), None).expect(200).data;
                assert_eq!(read[figure].to_string(), MANY);
                shop.make(resource, &order);
                assert_eq!(shop.get(resource, &one)["status"], "open");
            }
            let told = shop.told("open-orders");
            let checks = told["checks"].as_array().unwrap();
            assert!(!checks.is_empty() && checks.iter().all(|check| check["ok"] == true), "{told}");
            // Who sells is not refused for what others ordered, and that it runs low is told.
            shop.sale("2026-03-03", json!([{"itemId": item, "quantity": 90, "unitPrice": "9"}]));
            let asked = shop.company.request_at(dialect, "GET", "events?types=stock.low&payload=full");
            let low = shop.company.say(dialect, asked).expect(200).data;
            assert_eq!(low["items"][0]["data"]["record"]["quantityOnHand"], json!(10), "{low}");
            shop.proves();
        }
    }
}
