//! What an accountant with bad intent tried, and what holds now. Figures by hand, from the steps beside them.

use crate::harness::on_both_engines;
use crate::harness::server::DIALECTS;
use crate::harness::shop::{Shop, id};
use serde_json::{Value, json};

fn proven(shop: &Shop<'_>, path: &str) -> Value {
    let request = shop.company.request_at(shop.dialect, "GET", &format!("reports{path}"));
    let report = shop.company.say(shop.dialect, request).expect(200).data;
    let checks = report["checks"].as_array().unwrap();
    assert!(!checks.is_empty() && checks.iter().all(|check| check["ok"] == true), "{path}: {report}");
    report
}

on_both_engines! {
    /// 150 in advance, a sale of 100: the customer is owed 50.
    fn advances_booked_apart_stand_in_statements_and_ageings(server) {
        for dialect in DIALECTS {
            let shop = Shop::with(server, dialect, json!({"bookAdvancesSeparately": true}));
            let receipt = shop.make("receipts", &shop.receipt("2026-01-05", "150"));
            assert_eq!(shop.posted(&receipt), ["1010 150.00", "2300 -150.00"]);
            let sale = shop.sale("2026-01-10", json!([{"unitPrice": 100}]));
            let statement = format!("/party-statement?partyId={}&from=2026-01-01&to=2026-01-31", shop.customer);
            let owed = |date: &str| proven(&shop, &format!("/ar-aging?asOf={date}"))["totals"]["total"].to_string();
            assert_eq!(proven(&shop, &statement)["totals"]["closing"].to_string(), "-50.00");
            assert_eq!((owed("2026-01-05"), owed("2026-01-31")), ("-150.00".into(), "-50.00".into()));
            // Settling moves nothing of what the party owes.
            let allocations = json!({"allocations": [{"targetId": id(&sale), "amount": 100, "date": "2026-01-20"}]});
            shop.act("POST", "receipts", &receipt, "allocations", Some(&allocations));
            assert_eq!(proven(&shop, &statement)["totals"]["closing"].to_string(), "-50.00");
            assert_eq!(owed("2026-01-31"), "-50.00");
            // The same on the other side.
            let paid = shop.make("payments", &shop.payment("2026-01-06", "70"));
            assert_eq!(shop.posted(&paid), ["1010 -70.00", "1500 70.00"]);
            shop.purchase("2026-01-12", json!([{"unitPrice": 30, "accountId": shop.company.account("6200")}]));
            let due = proven(&shop, "/ap-aging?asOf=2026-01-31")["totals"]["total"].to_string();
            assert_eq!(due, "-40.00");
            assert_eq!(owed("2026-01-31"), "-50.00", "what suppliers were paid is none of the customers'");
            shop.proves();
        }
    }

    fn the_role_of_the_stock_does_not_move_under_it(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let account = json!({"code": "1302", "name": "Other stock", "type": "inventory"});
            let other = shop.make("accounts", &account)["id"].clone();
            let moved = || {
                let path = format!("/{}", shop.company.id);
                let mut company = shop.ask("GET", "businesses", &path, None).expect(200).data;
                company["systemAccounts"]["inventory"] = other.clone();
                shop.ask("PUT", "businesses", &path, Some(&company))
            };
            let item = shop.item(json!({}));
            shop.purchase("2026-01-10", json!([{"itemId": item, "quantity": 10, "unitPrice": 10}]));
            let refused = moved().expect(409);
            assert_eq!((refused.code.as_deref(), refused.fields()), (Some("in_use"), vec!["systemAccounts.inventory".to_owned()]));
            let sold = shop.sale("2026-01-20", json!([{"itemId": item, "quantity": 10, "unitPrice": 20}]));
            assert_eq!(shop.posted(&sold), ["1200 200.00", "1300 -100.00", "4000 -200.00", "5000 100.00"]);
            moved().expect(409);
            shop.proves();
        }
    }

    /// Five dong are money, and no cent: they come, and settle what they settle.
    fn money_that_comes_to_no_cent_is_posted(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let abroad = |mut body: Value| {
                (body["currency"], body["exchangeRate"]) = ("VND".into(), "0.00003".into());
                body
            };
            let lines = json!([{"unitPrice": 5}]);
            let sale = abroad(json!({"date": "2026-01-10", "partyId": shop.customer, "lines": lines}));
            let sale = shop.make("salesInvoices", &sale);
            let mut receipt = abroad(shop.receipt("2026-01-11", "5"));
            receipt["allocations"] = json!([{"targetId": sale["id"], "amount": 5}]);
            let receipt = shop.make("receipts", &receipt);
            assert_eq!(shop.posted(&receipt), [""; 0]);
            assert_eq!(shop.get("salesInvoices", &sale)["balanceDue"].to_string(), "0");
            shop.proves();
        }
    }

    /// What is taken off may carry more tax than what it is taken off from.
    fn no_invoice_comes_to_less_than_nothing(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let (vat, zero) = (shop.vat("20"), shop.vat("0"));
            let of = |less: &str| {
                let line = |price: &str, code: &str| json!({"unitPrice": price, "taxCodeId": code});
                let lines = json!([line("100", &zero), line(less, &vat)]);
                json!({"date": "2026-01-10", "partyId": shop.customer, "lines": lines})
            };
            // 100 - 83.33 x 1.2 is 0.00; one cent more is too much.
            let free = shop.make("salesInvoices", &of("-83.33"));
            assert_eq!(free["total"].to_string(), "0.00");
            let refused = shop.ask("POST", "salesInvoices", "", Some(&of("-83.34"))).expect(400);
            assert_eq!(refused.fields(), ["lines"]);
            shop.proves();
        }
    }
}
