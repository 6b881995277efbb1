//! What is told of an item that runs low: when too few are left, and by whichever door they went.

use crate::harness::server::DIALECTS;
use crate::harness::shop::{Shop, id};
use crate::harness::{Company, Dialect, on_both_engines};
use serde_json::{Value, json};

impl Shop<'_> {
    /// Goods of which so many are there from the beginning, bought anew at 20.
    fn goods(&self, there: u32) -> String {
        let item = self.item(json!({"reorderLevel": 20}));
        let line = json!({"itemId": item, "quantityDelta": there, "unitCost": "5"});
        self.make("stockAdjustments", &json!({"date": "2026-03-01", "reason": "Opening", "lines": [line]}));
        item
    }

    fn sells(&self, item: &str, quantities: &[u32]) -> Value {
        let lines: Vec<Value> =
            quantities.iter().map(|many| json!({"itemId": item, "quantity": many, "unitPrice": "9"})).collect();
        json!({"date": "2026-03-10", "partyId": self.customer, "lines": lines})
    }

    fn bought(&self, item: &str, many: u32) -> Value {
        self.purchase("2026-03-10", json!([{"itemId": item, "quantity": many, "unitPrice": "5"}]))
    }

    /// What the feed tells of it: how many there were, are, and at how many it is bought anew.
    fn low(&self, item: &str) -> Vec<[String; 3]> {
        let told = feed(&self.company, self.dialect, "stock.low");
        let of_it = told.iter().filter(|one| one["resourceId"] == item);
        of_it
            .map(|one| {
                assert_eq!((&one["type"], &one["resource"]), (&json!("stock.low"), &json!("items")), "{one}");
                let note = &one["data"]["note"];
                assert_eq!(one["data"]["record"]["quantityOnHand"], note["quantityOnHand"], "{one}");
                ["quantityBefore", "quantityOnHand", "reorderLevel"].map(|name| note[name].to_string())
            })
            .collect()
    }
}

fn feed(company: &Company<'_>, dialect: Dialect, types: &str) -> Vec<Value> {
    let asked = company.request_at(dialect, "GET", &format!("events?types={types}&payload=full&limit=500"));
    company.say(dialect, asked).expect(200).data["items"].as_array().unwrap().clone()
}

fn numbers(told: &[[&str; 3]]) -> Vec<[String; 3]> {
    told.iter().map(|one| one.map(str::to_owned)).collect()
}

on_both_engines! {
    fn an_item_runs_low_when_its_stock_comes_down_to_its_level(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let (item, other) = (shop.goods(25), shop.item(json!({})));
            shop.bought(&other, 3);
            shop.make("salesInvoices", &shop.sells(&item, &[4]));
            assert_eq!(shop.low(&item), numbers(&[]), "21 are enough");
            let before = shop.ask("GET", "items", &format!("/{item}"), None).expect(200).data;
            let draft = shop.make("salesInvoices", &{
                let mut body = shop.sells(&item, &[1]);
                body["status"] = json!("draft");
                body
            });
            shop.act("POST", "salesInvoices", &draft, "post?dryRun=true", None).expect(200);
            assert_eq!(shop.low(&item), numbers(&[]), "a draft takes nothing out, nor does what is only tried");
            shop.act("POST", "salesInvoices", &draft, "post", None).expect(200);
            let first = ["21", "20", "20"];
            assert_eq!(shop.low(&item), numbers(&[first]));
            let after = shop.ask("GET", "items", &format!("/{item}"), None).expect(200).data;
            assert_eq!((&after["version"], &after["updatedAt"]), (&before["version"], &before["updatedAt"]));
            assert_eq!((&before["quantityOnHand"], &after["quantityOnHand"]), (&json!(21), &json!(20)));

            // The log has both: as it was told last, and as it is.
            let history = shop.ask("GET", "items", &format!("/{item}/history"), None).expect(200).data;
            let row = history["items"].as_array().unwrap().iter().max_by_key(|row| row["sequence"].as_i64()).unwrap();
            assert_eq!((&row["action"], &row["after"]["quantityOnHand"]), (&json!("low"), &json!(20)), "{history}");
            assert_eq!((&row["before"]["quantityOnHand"], &row["versionFrom"], &row["versionTo"]), (&json!(0), &json!(1), &json!(1)));

            // Below its level nothing more is told, and above it nothing either.
            shop.make("salesInvoices", &shop.sells(&item, &[1]));
            shop.make("salesInvoices", &shop.sells(&other, &[3]));
            let more = shop.bought(&item, 10);
            assert_eq!((shop.low(&item), shop.low(&other)), (numbers(&[first]), numbers(&[])));
            // One document tells once, whatever it has of lines: 29, less 5, less 5.
            shop.make("salesInvoices", &shop.sells(&item, &[5, 5]));
            let second = ["29", "19", "20"];
            assert_eq!(shop.low(&item), numbers(&[first, second]));
            // Whichever way they go: what was bought is void, what was sold comes back and goes again, a count finds less.
            shop.bought(&item, 2);
            shop.void("purchaseInvoices", &more);
            let third = ["21", "11", "20"];
            assert_eq!(shop.low(&item), numbers(&[first, second, third]));
            shop.bought(&item, 30);
            let count = json!({"itemId": item, "countedQuantity": 20});
            shop.make("stockAdjustments", &json!({"date": "2026-03-20", "reason": "Count", "lines": [count]}));
            let fourth = ["41", "20", "20"];
            assert_eq!(shop.low(&item), numbers(&[first, second, third, fourth]));
            shop.proves();
        }
    }

    fn a_batch_tells_of_what_it_leaves_and_nothing_where_it_fails(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let item = shop.goods(25);
            let sale = |id: &str, many: u32| json!({"id": id, "operation": "salesInvoicesCreate", "body": shop.sells(&item, &[many])});
            let send = |operations: Value| {
                let batch = shop.company.request_at(dialect, "POST", "batch").json(&json!({"operations": operations}));
                shop.company.say(dialect, batch)
            };
            send(json!([sale("one", 10), sale("other", 40)])).expect(409);
            assert_eq!(shop.low(&item), numbers(&[]), "nothing of it is in the books");
            send(json!([sale("one", 4), sale("other", 3)])).expect(200);
            assert_eq!(shop.low(&item), numbers(&[["21", "18", "20"]]), "each operation moves it by itself");
            shop.proves();
        }
    }

    fn it_is_told_of_the_stock_and_to_those_who_may_view_items(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let item = shop.goods(21);
            let sold = shop.make("salesInvoices", &shop.sells(&item, &[2]));
            let kinds = |types: &str| -> Vec<String> {
                let all = feed(&shop.company, dialect, types);
                let of_it = all.iter().filter(|one| one["resourceId"] == item);
                of_it.map(|one| one["type"].as_str().unwrap().to_owned()).collect()
            };
            assert_eq!([kinds("stock.*"), kinds("*.low"), kinds("stock.low")], [["stock.low"], ["stock.low"], ["stock.low"]]);
            assert_eq!(kinds("item.*"), ["item.created"]);
            assert_eq!(kinds("item.*,stock.*"), ["item.created", "stock.low"]);
            for wrong in ["item.low", "stock.posted", "stock"] {
                let asked = shop.company.request_at(dialect, "GET", &format!("events?types={wrong}"));
                assert_eq!(shop.company.say(dialect, asked).expect(400).fields(), ["types"], "{wrong}");
            }
            // It stands beside what took them out, in the same commit.
            let all = feed(&shop.company, dialect, "*");
            let place = |of: &str, kind: &str| {
                let one = all.iter().find(|one| one["resourceId"] == of && one["type"] == kind);
                one.unwrap_or_else(|| panic!("{kind} of {of} in {all:?}")).clone()
            };
            let (low, made) = (place(&item, "stock.low"), place(id(&sold), "salesInvoice.created"));
            assert_eq!(low["occurredAt"], made["occurredAt"]);
            assert_eq!(low["actor"], made["actor"]);
            assert_eq!((low["sequence"].as_i64().unwrap() - made["sequence"].as_i64().unwrap()).abs(), 1);
            for (resource, seen) in [("item", 1), ("party", 0)] {
                let scopes = json!([{"resource": "event", "actions": ["view"]}, {"resource": resource, "actions": ["view"]}]);
                let key = json!({"name": format!("{resource} {dialect:?}"), "scopes": scopes});
                let secret = shop.ask("POST", "apiKeys", "", Some(&key)).expect(201).data["secret"].as_str().unwrap().to_owned();
                let narrow = Company { token: secret, ..shop.company.clone() };
                assert_eq!(feed(&narrow, dialect, "stock.low").len(), seen, "{resource}");
            }
        }
    }
}
