//! Records that an answer names, beside it.

use crate::harness::server::DIALECTS;
use crate::harness::shop::{Shop, id};
use crate::harness::{Company, Dialect, Engine, Options, Server, on_both_engines};
use crate::steps::questions;
use serde_json::{Value, json};

fn ids(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(id).collect()
}

on_both_engines! {
    fn each_record_stands_beside_the_page_once(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let goods = [shop.item(json!({"type": "service", "name": "One"})), shop.item(json!({"type": "service", "name": "Two"}))];
            let line = |item: &str| json!({"itemId": item, "quantity": 1, "unitPrice": "10"});
            for _ in 0..3 {
                shop.sale("2026-11-20", json!([line(&goods[0]), line(&goods[1]), line(&goods[0])]));
            }
            let plain = shop.ask("GET", "salesInvoices", "", None).expect(200).data;
            let mut said = shop.ask("GET", "salesInvoices", "?expand=party", None).expect(200).data;
            assert_eq!(ids(&said["expanded"]["parties"]), [shop.customer.as_str()]);
            assert_eq!(said["expanded"].as_object().unwrap().len(), 1);
            let alone = shop.ask("GET", "parties", &format!("/{}", shop.customer), None).expect(200).data;
            assert_eq!(said["expanded"]["parties"][0], alone, "as it is answered by itself");
            said.as_object_mut().unwrap().shift_remove("expanded");
            assert_eq!(said, plain, "what names it stays as it is");

            let both = shop.ask("GET", "salesInvoices", "?expand=lines.item,party&fields=number,partyId,lines.itemId", None).expect(200).data;
            assert_eq!(ids(&both["expanded"]["items"]), [&goods[0], &goods[1]]);
            assert_eq!(both["items"][0].as_object().unwrap().keys().collect::<Vec<_>>(), ["id", "version", "number", "partyId", "lines"]);
            let none = shop.ask("GET", "salesInvoices", "?expand=party&page=2", None).expect(200).data;
            assert_eq!((&none["items"], &none["expanded"]), (&json!([]), &json!({"parties": []})));
        }
    }

    fn what_documents_booked_and_settled_stands_beside_them(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let sold = [1, 2].map(|_| shop.sale("2026-11-20", json!([{"quantity": 1, "unitPrice": "10"}])));
            let bank = shop.company.account("1010");
            let paid = json!({
                "date": "2026-11-21", "partyId": shop.customer, "accountId": bank, "amount": "9",
                "allocations": [{"targetId": sold[0]["id"], "amount": "6"}, {"targetId": sold[1]["id"], "amount": "3"}]
            });
            let receipt = shop.make("receipts", &paid);
            let alone = |resource: &str, all: &Value| -> Vec<Value> {
                ids(all).iter().map(|id| shop.ask("GET", resource, &format!("/{id}"), None).expect(200).data).collect()
            };
            // Of a page and of one record: each is what it is by itself, in the order of those that name it.
            let page = shop.ask("GET", "salesInvoices", "?sort=number&expand=allocations,entries", None).expect(200).data;
            let said = &page["expanded"];
            let named = |member: fn(&Value) -> Vec<&str>| -> Vec<&str> {
                page["items"].as_array().unwrap().iter().flat_map(member).collect()
            };
            let entries = named(|one| one["entryIds"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect());
            assert_eq!((entries.len(), ids(&said["entries"])), (2, entries));
            let allocations = named(|one| ids(&one["allocations"]));
            assert_eq!((allocations.len(), ids(&said["allocations"])), (2, allocations));
            assert_eq!(said["entries"], json!(alone("entries", &said["entries"])));
            assert_eq!(said["allocations"], json!(alone("allocations", &said["allocations"])));
            let of_receipt = format!("/{}?expand=entries,allocations&fields=entryIds,allocations.id", id(&receipt));
            let one = shop.ask("GET", "receipts", &of_receipt, None).expect(200).data;
            assert_eq!(ids(&one["expanded"]["allocations"]).len(), 2);
            assert_eq!(one["expanded"]["entries"][0]["documentId"], receipt["id"]);
            // A void document names the reversal as well.
            let paths = sold.each_ref().map(|one| format!("/{}", id(one)));
            shop.ask("POST", "receipts", &format!("/{}/void", id(&receipt)), Some(&json!({}))).expect(200);
            shop.ask("POST", "salesInvoices", &format!("{}/void", paths[0]), Some(&json!({}))).expect(200);
            let void = shop.ask("GET", "salesInvoices", &format!("{}?expand=entries,allocations", paths[0]), None).expect(200).data;
            assert_eq!(void["expanded"]["entries"][1]["reversesEntryId"], void["expanded"]["entries"][0]["id"]);
            assert_eq!(void["expanded"]["allocations"], json!([]));
        }
    }

    fn one_that_was_read_so_can_be_sent_back(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let made = shop.sale("2026-11-20", json!([{"quantity": 1, "unitPrice": "10"}]));
            let path = format!("/{}", id(&made));
            let read = shop.ask("GET", "salesInvoices", &format!("{path}?expand=party,lines.account"), None).expect(200);
            assert_eq!(ids(&read.data["expanded"]["parties"]), [shop.customer.as_str()]);
            assert_eq!(ids(&read.data["expanded"]["accounts"]), [read.data["lines"][0]["accountId"].as_str().unwrap()]);
            let back = shop.ask("PUT", "salesInvoices", &path, Some(&read.data)).expect(200).data;
            assert_eq!((&back["version"], back.get("expanded")), (&json!(1), None));
            // Nobody puts anything else there.
            let mut other = made.clone();
            other["lines"][0]["expanded"] = json!({});
            assert_eq!(shop.ask("PUT", "salesInvoices", &path, Some(&other)).expect(400).fields(), ["lines[0].expanded"]);
            let mut party = shop.ask("GET", "parties", &format!("/{}", shop.customer), None).expect(200).data;
            party["expanded"] = json!({});
            shop.ask("PUT", "parties", &format!("/{}", shop.customer), Some(&party)).expect(200);
        }
    }

    fn what_cannot_be_asked_for_is_told(server) {
        let company = server.company();
        let only = json!([{"resource": "salesInvoice", "actions": ["view"]}, {"resource": "item", "actions": ["view"]}]);
        let key = json!({"name": "Sees no parties", "scopes": only});
        let secret = company.ask(Dialect::B, "POST", "apiKeys", "", Some(&key)).expect(201).data["secret"].as_str().unwrap().to_owned();
        let narrow = Company { token: secret, ..company.clone() };
        for dialect in DIALECTS {
            for wrong in ["warehouse", "", "party,party", "partyId", "lines", "lines.item.taxCode"] {
                let said = company.ask(dialect, "GET", "salesInvoices", &format!("?expand={wrong}"), None).expect(400);
                assert_eq!(said.fields(), ["expand"], "{wrong}");
            }
            for hidden in ["party&fields=number", "entries&view=summary", "allocations&fields=allocations.amount"] {
                let said = company.ask(dialect, "GET", "salesInvoices", &format!("?expand={hidden}"), None).expect(400);
                assert_eq!(said.fields(), ["expand"], "{hidden}");
            }
            let made = company.make("salesInvoices");
            for (wrong, field) in [("expand=warehouse", "expand"), ("expand=party&fields=number", "expand"), ("expanded=party", "expanded")] {
                let said = company.ask(dialect, "GET", "salesInvoices", &format!("/{}?{wrong}", id(&made)), None).expect(400);
                assert_eq!(said.fields(), [field], "{wrong}");
            }
            for (unseen, right) in [("entries", "entry.view"), ("allocations", "allocation.view")] {
                let refused = narrow.ask(dialect, "GET", "salesInvoices", &format!("?expand={unseen}"), None).expect(403);
                assert!(refused.title.contains(right), "{}", refused.title);
            }
            assert_eq!(company.ask(dialect, "GET", "exchangeRates", "?expand=party", None).expect(400).fields(), ["expand"]);
            let refused = narrow.ask(dialect, "GET", "salesInvoices", "?expand=party,lines.item", None).expect(403);
            assert!(refused.title.contains("party.view"), "{}", refused.title);
            narrow.ask(dialect, "GET", "salesInvoices", "?expand=lines.item", None).expect(200);
        }
    }

    fn a_party_that_became_another_is_that_one(server) {
        let shop = Shop::open(server, Dialect::A);
        let made = shop.sale("2026-11-20", json!([{"quantity": 1, "unitPrice": "10"}]));
        let into = shop.company.party(json!({"name": "Whole"}));
        let merge = json!({"intoPartyId": into["id"]});
        shop.ask("POST", "parties", &format!("/{}/merge", shop.customer), Some(&merge)).expect(200);
        let read = shop.ask("GET", "salesInvoices", &format!("/{}?expand=party", id(&made)), None).expect(200).data;
        assert_eq!(ids(&read["expanded"]["parties"]), [id(&into)]);
        assert_eq!(read["partyId"], into["id"]);
    }
}

/// What stands beside a page is one question more for each resource, however many records it names.
#[test]
fn a_page_asks_no_more_for_many_than_for_one() {
    for engine in [Engine::Sqlite, Engine::Postgres] {
        let environment = vec![("Logging__Level".to_owned(), "trace".to_owned())];
        let Some(server) = Server::start(engine, Options { environment, ..Options::default() }) else { return };
        for dialect in DIALECTS {
            asks_no_more(&server, &Shop::open(&server, dialect));
        }
    }
}

fn asks_no_more(server: &Server, shop: &Shop<'_>) {
    // The server asks for itself now and then: of several readings, none of them known from before, one has the wire alone.
    let asked = |query: &str| {
        let of = |size: usize| format!("?{query}&pageSize={size}");
        let ask = |size| drop(shop.ask("GET", "salesInvoices", &of(size), None).expect(200));
        (100..104).map(|size| questions(server, || ask(size))).min().unwrap()
    };
    let bank = shop.company.account("1010");
    let sell = |count: usize| {
        for number in 0..count {
            let party = shop.company.party(json!({"name": format!("Party {number}")}));
            let item = shop.item(json!({"type": "service", "name": format!("Item {number}")}));
            let line = json!({"itemId": item, "quantity": 1, "unitPrice": "10"});
            let sold =
                shop.make("salesInvoices", &json!({"date": "2026-11-20", "partyId": party["id"], "lines": [line]}));
            let settled = json!([{"targetId": sold["id"], "amount": "4"}]);
            let paid = json!({"date": "2026-11-20", "partyId": party["id"], "accountId": bank, "amount": "5", "allocations": settled});
            shop.make("receipts", &paid);
        }
    };
    sell(1);
    let [plain, one] = ["sort=date", "sort=date&expand=party,lines.item,entries,allocations"].map(asked);
    sell(30);
    let [plain_of_many, many] = ["sort=-date", "sort=-date&expand=party,lines.item,entries,allocations"].map(asked);
    assert!(one > plain, "{one} {plain}");
    assert_eq!(many - plain_of_many, one - plain, "{plain} and {one} of one invoice, {plain_of_many} and {many} of 31");
}
