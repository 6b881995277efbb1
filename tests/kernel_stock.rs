//! Stock as a function of dated facts: the worked examples, to the cent and on every day they name.

use crate::harness::books::behind_the_back;
use crate::harness::server::DIALECTS;
use crate::harness::server::Options;
use crate::harness::shop::{Shop, cents, id, shown_cents};
use crate::harness::{Dialect, Engine, Server, on_both_engines};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A shop with one item, whose documents are asked for shortly.
struct Desk<'s> {
    shop: Shop<'s>,
    item: String,
}

impl<'s> Desk<'s> {
    fn new(shop: Shop<'s>, item: Value) -> Self {
        let item = shop.item(item);
        Self { shop, item }
    }

    fn lines(&self, quantity: i64, price: &str) -> Value {
        json!([{"itemId": self.item, "quantity": quantity, "unitPrice": price}])
    }

    fn bill(&self, date: &str, quantity: i64, price: &str) -> Value {
        self.shop.purchase(date, self.lines(quantity, price))
    }

    fn sell(&self, date: &str, quantity: i64) -> Value {
        self.shop.sale(date, self.lines(quantity, "30"))
    }

    fn receive(&self, date: &str, quantity: i64, cost: &str) -> Value {
        let lines = json!([{"itemId": self.item, "quantity": quantity, "unitCost": cost}]);
        self.shop.make("receiptNotes", &json!({"date": date, "partyId": self.shop.supplier, "lines": lines}))
    }

    fn deliver(&self, date: &str, quantity: i64) -> Value {
        let lines = json!([{"itemId": self.item, "quantity": quantity}]);
        self.shop.make("deliveryNotes", &json!({"date": date, "partyId": self.shop.customer, "lines": lines}))
    }

    /// The invoice or the bill of so many of a note, at a price.
    fn invoice(&self, resource: &str, note: &Value, date: &str, quantity: i64, price: &str) -> Value {
        let party = if resource == "salesInvoices" { &self.shop.customer } else { &self.shop.supplier };
        let line = json!({"sourceLineId": note["lines"][0]["id"], "quantity": quantity, "unitPrice": price});
        self.shop.make(resource, &json!({"date": date, "partyId": party, "lines": [line]}))
    }

    /// What all that was posted comes to, day by day and account by account, of the accounts that stock moves.
    fn days(&self) -> BTreeMap<String, Vec<String>> {
        let asked = self.shop.ask("GET", "entries", "?pageSize=500", None).expect(200).data;
        let mut sums: BTreeMap<String, BTreeMap<String, i64>> = BTreeMap::new();
        for entry in asked["items"].as_array().unwrap() {
            let entry = self.shop.get("entries", entry);
            for line in entry["lines"].as_array().unwrap() {
                let code = line["accountCode"].as_str().unwrap();
                if ["1300", "1350", "2150", "5000", "5100", "5200", "2100"].contains(&code) {
                    let day = entry["date"].as_str().unwrap()[5..].to_owned();
                    *sums.entry(day).or_default().entry(code.to_owned()).or_default() +=
                        cents(&line["debit"]) - cents(&line["credit"]);
                }
            }
        }
        let shown = |sums: BTreeMap<String, i64>| {
            let some = sums.into_iter().filter(|(_, sum)| *sum != 0);
            some.map(|(code, sum)| format!("{code} {}", shown_cents(sum))).collect::<Vec<_>>()
        };
        sums.into_iter().map(|(day, sums)| (day, shown(sums))).filter(|(_, sums)| !sums.is_empty()).collect()
    }

    fn on(&self, day: &str) -> Vec<String> {
        self.days().remove(day).unwrap_or_default()
    }

    /// Quantity and value at the end of a day.
    fn there(&self, day: &str) -> String {
        let path = format!("/stock-valuation?asOf=2026-{day}");
        let report = self.shop.ask("GET", "reports", &path, None).expect(200).data;
        let rows = report["rows"].as_array().unwrap();
        match rows.iter().find(|row| row["itemId"] == self.item) {
            Some(row) => {
                let cells: Vec<String> = row["values"].as_array().unwrap().iter().map(ToString::to_string).collect();
                format!("{} = {}", cells[0], cells[1])
            }
            None => "0 = 0.00".into(),
        }
    }

    fn proves(&self) {
        self.shop.proves();
    }
}

/// Each in a company of its own and in both dialects.
fn each<'s>(server: &'s Server, item: Value, settings: Value, case: impl Fn(&Desk<'s>)) {
    for dialect in DIALECTS {
        let desk = Desk::new(Shop::with(server, dialect, settings.clone()), item.clone());
        case(&desk);
        desk.proves();
    }
}

on_both_engines! {

    fn a_standard_cost_holds_from_its_day_on(server) {
        // 3.4
        each(server, json!({"costMethod": "standard", "standardCost": 10}), json!({}), |desk| {
            desk.bill("2026-03-01", 5, "10.4");
            desk.sell("2026-03-15", 2);
            let line = json!({"itemId": desk.item, "standardCost": 11});
            let dearer = desk.shop.make("stockAdjustments", &json!({"date": "2026-03-10", "lines": [line]}));
            desk.bill("2026-03-05", 4, "10.5");
            assert_eq!(desk.on("03-01"), ["1300 50.00", "2100 -52.00", "5100 2.00"]);
            assert_eq!(desk.on("03-05"), ["1300 40.00", "2100 -42.00", "5100 2.00"]);
            assert_eq!(desk.on("03-10"), ["1300 9.00", "5200 -9.00"]);
            assert_eq!(desk.on("03-15"), ["1300 -22.00", "5000 22.00"]);
            assert_eq!(desk.there("03-31"), "7 = 77.00");
            assert_eq!(desk.shop.get("stockAdjustments", &dearer)["totalValue"].to_string(), "9.00");
            desk.shop.void("stockAdjustments", &dearer);
            assert_eq!(desk.there("03-31"), "7 = 70.00");
            // The item tells them all, and an item that is read and sent back changes nothing.
            let path = format!("/{}", desk.item);
            let item = desk.shop.ask("GET", "items", &path, None).expect(200).data;
            let put = |body: &Value| desk.shop.ask("PUT", "items", &path, Some(body));
            assert_eq!(put(&item).expect(200).data["version"], item["version"]);
            // What it cost from the beginning is what its story was reckoned by.
            let mut body = item.clone();
            body["standardCosts"] = json!([{"cost": 9}]);
            let refused = put(&body).expect(409);
            assert_eq!((refused.code.as_deref(), refused.fields()), (Some("in_use"), vec!["standardCosts".to_owned()]));
        });
        // The same by the item's own list.
        each(server, json!({"costMethod": "standard", "standardCosts": [{"cost": 10}]}), json!({}), |desk| {
            let path = format!("/{}", desk.item);
            let put = |costs: Value| {
                let mut body = desk.shop.ask("GET", "items", &path, None).expect(200).data;
                body["standardCosts"] = costs;
                body.as_object_mut().unwrap().remove("standardCost");
                desk.shop.ask("PUT", "items", &path, Some(&body))
            };
            desk.bill("2026-03-01", 5, "10.4");
            desk.sell("2026-03-15", 2);
            let costs = json!([{"cost": 10}, {"validFrom": "2026-03-10", "cost": 11}]);
            let made = put(costs).expect(200).data;
            desk.bill("2026-03-05", 4, "10.5");
            assert_eq!(desk.on("03-10"), ["1300 9.00", "5200 -9.00"]);
            assert_eq!(desk.on("03-15"), ["1300 -22.00", "5000 22.00"]);
            assert_eq!(desk.there("03-31"), "7 = 77.00");
            let shown = json!([{"validFrom": null, "cost": 10}, {"validFrom": "2026-03-10", "cost": 11}]);
            assert_eq!((&made["standardCosts"], &made["standardCost"]), (&shown, &json!(11)));
            // Another cost of that day, and then none.
            put(json!([{"cost": 10}, {"validFrom": "2026-03-10", "cost": 12}])).expect(200);
            assert_eq!(desk.there("03-31"), "7 = 84.00");
            put(json!([{"cost": 10}])).expect(200);
            assert_eq!((desk.on("03-10"), desk.there("03-31")), (Vec::new(), "7 = 70.00".into()));
            // The cost of today holds from today on.
            let mut body = desk.shop.ask("GET", "items", &path, None).expect(200).data;
            body["standardCost"] = 13.into();
            let now = desk.shop.ask("PUT", "items", &path, Some(&body)).expect(200).data;
            let list = now["standardCosts"].as_array().unwrap();
            assert_eq!((list.len(), &list[1]["cost"], &now["standardCost"]), (2, &json!(13), &json!(13)));
            assert_eq!((desk.there("03-31"), desk.shop.stock(&desk.item).1), ("7 = 70.00".into(), "91.00".into()));
            // A day that is closed takes none.
            desk.shop.make("locks", &json!({"lockDate": "2026-03-31"}));
            let refused = put(json!([{"cost": 10}, {"validFrom": "2026-03-20", "cost": 14}])).expect(409);
            assert_eq!(refused.code.as_deref(), Some("period_locked"));
            assert_eq!(refused.fields(), ["standardCosts[1].validFrom"]);
            // What is named is what was sent.
            let refused = put(json!([{"validFrom": "2000-01-01", "cost": 9}])).expect(409);
            assert_eq!(refused.fields(), ["standardCosts[0].validFrom"]);
        });
        // Before anything happened it is what it says.
        each(server, json!({"costMethod": "standard", "standardCost": 10}), json!({}), |desk| {
            let path = format!("/{}", desk.item);
            let mut body = desk.shop.ask("GET", "items", &path, None).expect(200).data;
            body["standardCost"] = 11.into();
            body.as_object_mut().unwrap().remove("standardCosts");
            let now = desk.shop.ask("PUT", "items", &path, Some(&body)).expect(200).data;
            assert_eq!(now["standardCosts"], json!([{"validFrom": null, "cost": 11}]));
            let of_others = json!({"name": "At the average", "type": "stock", "costMethod": "movingAverage", "standardCosts": [{"cost": 1}]});
            assert_eq!(desk.shop.ask("POST", "items", "", Some(&of_others)).expect(400).fields(), ["standardCosts"]);
        });
        each(server, json!({}), json!({}), |desk| {
            let body = json!({"date": "2026-03-10", "lines": [{"itemId": desk.item, "standardCost": 11}]});
            let refused = desk.shop.ask("POST", "stockAdjustments", "", Some(&body)).expect(400);
            assert_eq!(refused.fields(), ["lines[0].standardCost"]);
        });
    }

    fn a_bill_before_its_goods_waits_for_them(server) {
        each(server, json!({}), json!({"cogsTiming": "invoice"}), |desk| {
            let received = desk.receive("2026-02-05", 10, "10");
            desk.invoice("purchaseInvoices", &received, "2026-02-01", 10, "12");
            let note = desk.deliver("2026-02-06", 4);
            desk.invoice("salesInvoices", &note, "2026-02-03", 2, "30");
            assert_eq!(desk.on("02-01"), ["2100 -120.00", "2150 120.00"]);
            assert_eq!(desk.on("02-03"), Vec::<String>::new());
            assert_eq!(desk.on("02-05"), ["1300 120.00", "2150 -120.00"]);
            assert_eq!(desk.on("02-06"), ["1300 -48.00", "1350 24.00", "5000 24.00"]);
        });
    }

    fn a_bill_at_another_rate_is_a_difference_of_exchange(server) {
        each(server, json!({}), json!({}), |desk| {
            let supplier = &desk.shop.supplier;
            let lines = json!([{"itemId": desk.item, "quantity": 10, "unitCost": "8"}]);
            let head = json!({"date": "2026-01-02", "partyId": supplier, "currency": "USD", "exchangeRate": "0.9", "lines": lines});
            let note = desk.shop.make("receiptNotes", &head);
            let line = json!({"sourceLineId": note["lines"][0]["id"], "quantity": 10, "unitPrice": "8"});
            let body = json!({"date": "2026-01-20", "partyId": supplier, "currency": "USD", "exchangeRate": "0.95", "lines": [line]});
            let bill = desk.shop.make("purchaseInvoices", &body);
            assert_eq!(desk.on("01-20"), ["2100 -76.00", "2150 72.00"]);
            assert_eq!(desk.shop.posted(&bill).len(), 3, "{:?}", desk.shop.posted(&bill));
            assert_eq!(desk.there("01-31"), "10 = 72.00");
        });
    }
}

/// How many facts a server read for the last write of stock.
fn read(server: &Server) -> usize {
    let log = server.log();
    let last = log.lines().rfind(|line| line.contains("stock was valued")).unwrap_or_default().to_owned();
    let at = last.find("facts").unwrap_or_else(|| panic!("{log}")) + "facts".len();
    last[at..]
        .chars()
        .skip_while(|sign| !sign.is_ascii_digit())
        .take_while(char::is_ascii_digit)
        .collect::<String>()
        .parse()
        .unwrap()
}

/// What a sale, a return and a void of today read of an item's story.
fn reads(server: &Server, movements: usize) -> [usize; 4] {
    let desk = Desk::new(Shop::open(server, Dialect::A), json!({}));
    let line = json!({"itemId": desk.item, "quantityDelta": 1, "unitCost": 2});
    for (day, portion) in (0..movements).collect::<Vec<_>>().chunks(100).enumerate() {
        let date = format!("202{}-{:02}-{:02}", day / 336, day / 28 % 12 + 1, day % 28 + 1);
        let lines: Vec<&Value> = portion.iter().map(|_| &line).collect();
        desk.shop.make("stockAdjustments", &json!({"date": date, "lines": lines}));
    }
    let (sold, of_sale) = (desk.sell("2026-03-01", 3), read(server));
    let back = json!({"date": "2026-03-01", "salesInvoiceId": id(&sold), "lines": [{"sourceLineId": sold["lines"][0]["id"], "quantity": 1}]});
    let (back, of_return) = (desk.shop.make("creditNotes", &back), read(server));
    desk.shop.void("creditNotes", &back);
    let of_void = read(server);
    desk.shop.void("salesInvoices", &sold);
    let found = [of_sale, of_return, of_void, read(server)];
    desk.proves();
    found
}

/// What is kept of an evening is proven too, since later days are valued from it on.
#[test]
fn an_evening_that_never_was_is_told() {
    let server = Server::start(Engine::Sqlite, Options::default()).unwrap();
    let desk = Desk::new(Shop::open(&server, Dialect::A), json!({}));
    let line = json!({"itemId": desk.item, "quantityDelta": 1, "unitCost": 2});
    for day in ["01", "02", "03"] {
        let lines = vec![&line; 100];
        desk.shop.make("stockAdjustments", &json!({"date": format!("2026-01-{day}"), "lines": lines}));
    }
    desk.proves();
    let kept = "UPDATE stock_snapshots SET state = replace(state, '\"value\":', '\"value\":1')";
    behind_the_back(&server, &[kept.to_owned()]).unwrap();
    let failed = desk.shop.company.failed_checks();
    assert!(failed.iter().any(|check| check == "S4"), "{failed:?}");
}

/// A sale, a return or a void of today reads as little of an item with a long story as of one with a short one.
#[test]
fn a_long_story_is_not_read_again_for_what_happens_today() {
    let custom = r#"{"Logging": {"Level": "debug", "Format": "json"}}"#;
    let server = Server::start(Engine::Sqlite, Options { custom: Some(custom.into()), ..Options::default() }).unwrap();
    // Evenings are kept at each hundredth fact or sooner, so that a longer story changes nothing.
    for movements in [20, 2_000] {
        let read = reads(&server, movements);
        assert!(read.iter().all(|read| *read <= 200), "{read:?} facts were read with {movements} movements behind");
    }
}

/// What goes out where more went out than there was reads nothing of what is missing; what comes in tells all of it what it cost.
#[test]
fn what_goes_out_beyond_what_is_there_reads_nothing_of_what_is_missing() {
    for engine in [Engine::Sqlite, Engine::Postgres] {
        let environment = vec![("Logging__Level".to_owned(), "debug".to_owned())];
        let Some(server) = Server::start(engine, Options { environment, ..Options::default() }) else { continue };
        for (dialect, method) in DIALECTS.into_iter().zip(["fifo", "movingAverage"]) {
            let item = json!({"costMethod": method, "negativeStock": "allow"});
            let desk = Desk::new(Shop::open(&server, dialect), item);
            desk.bill("2026-01-02", 10, "2");
            let many: Vec<Value> =
                (0..50).map(|_| json!({"itemId": desk.item, "quantity": 1, "unitPrice": "9"})).collect();
            for day in 3..=12 {
                desk.shop.sale(&format!("2026-01-{day:02}"), json!(many));
                assert_eq!(read(&server), 0, "on day {day}");
            }
            assert_eq!(desk.there("01-12"), "-490 = -980.00");
            desk.proves();
            // A hundred of them cost 1.00 more than was thought, the others 2.00.
            desk.bill("2026-01-13", 100, "3");
            assert_eq!(desk.there("01-13"), "-390 = -780.00");
            assert_eq!(desk.on("01-13"), ["1300 200.00", "2100 -300.00", "5000 100.00"]);
            desk.sell("2026-01-14", 10);
            assert_eq!(read(&server), 0);
            desk.bill("2026-01-15", 500, "4");
            // The ten of the day before were thought to cost 3.00, by what came last.
            assert_eq!(desk.there("01-15"), "100 = 400.00");
            desk.proves();
        }
    }
}

/// Of an item with many movements, those that a late one values anew are read outside of the lane; and where others came in
/// between, they are read again.
#[test]
fn many_movements_are_read_before_the_lane_and_none_is_missed() {
    for engine in [Engine::Sqlite, Engine::Postgres] {
        let environment = vec![("Logging__Level".to_owned(), "debug".to_owned())];
        let Some(server) = Server::start(engine, Options { environment, ..Options::default() }) else { continue };
        let desk = Desk::new(Shop::open(&server, Dialect::B), json!({"code": "M", "costMethod": "fifo"}));
        desk.bill("2026-01-10", 9_000, "1");
        // One document a day, of so many movements each.
        let many: Vec<Value> =
            (0..450).map(|_| json!({"itemId": desk.item, "quantity": 1, "unitPrice": "3"})).collect();
        for day in 11..=15 {
            desk.shop.sale(&format!("2026-01-{day}"), json!(many));
        }
        let log = || server.log().matches("facts were read before the lane").count();
        assert_eq!(log(), 0, "what comes at the end values nothing anew");
        std::thread::scope(|scope| {
            for client in 0..6 {
                let desk = &desk;
                scope.spawn(move || {
                    if client % 2 == 0 {
                        desk.bill("2026-01-09", 10 + client, "2");
                    } else {
                        desk.sell("2026-01-10", client);
                    }
                });
            }
        });
        // Undisturbed, it is what was read.
        desk.bill("2026-01-08", 7, "3");
        assert!(log() > 0, "nothing was read before the lane");
        // What goes takes 7 at 3.00 and 36 at 2.00, and the rest of what was there at 1.00.
        let gone = 1 + 3 + 5 + 5 * 450;
        let left = 9_000 - (gone - 7 - 36);
        let pieces = 9_000 + 36 + 7 - gone;
        assert_eq!(desk.there("01-31"), format!("{pieces} = {left}.00"));
        desk.shop.proves();
    }
}
