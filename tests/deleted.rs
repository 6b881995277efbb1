//! Records that were deleted, as they can still be read.

use crate::harness::server::DIALECTS;
use crate::harness::shop::{Shop, id};
use crate::harness::{Company, Dialect, on_both_engines};
use serde_json::{Value, json};

const DELETED_TOO: &str = "?includeDeleted=true";

on_both_engines! {
    fn what_was_deleted_is_there_for_who_asks_for_it(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let lines = json!([{"description": "One", "quantity": 2, "unitPrice": "10"}]);
            let draft = json!({"date": "2026-11-20", "partyId": shop.customer, "status": "draft", "lines": lines});
            let made = shop.make("salesInvoices", &draft);
            let mut body = draft.clone();
            body["notes"] = json!("second thoughts");
            shop.ask("PUT", "salesInvoices", &format!("/{}", id(&made)), Some(&body)).expect(200);
            for (resource, made) in [("salesInvoices", made), ("items", json!({"id": shop.item(json!({"name": "Gone"}))}))] {
                let path = format!("/{}", id(&made));
                let ask = |query: &str| shop.ask("GET", resource, &format!("{path}{query}"), None);
                // As long as it is there, it is what it always is.
                let before = ask("").expect(200).data;
                assert_eq!(ask(DELETED_TOO).expect(200).data, before);
                shop.ask("DELETE", resource, &path, None).expect(200);
                for query in ["", "?includeDeleted=false"] {
                    ask(query).expect(404);
                }
                let mut after = ask(DELETED_TOO).expect(200).data;
                let deleted_at = after.as_object_mut().unwrap().shift_remove("deletedAt");
                assert!(deleted_at.is_some_and(|at| at.as_str() >= before["updatedAt"].as_str()));
                assert_eq!(after, before, "as it was last");
                let history = shop.ask("GET", resource, &format!("{path}/history"), None).expect(200).data;
                assert_eq!(history["items"].as_array().unwrap().last().unwrap()["before"], before);
                let part = ask(&format!("{DELETED_TOO}&fields=version")).expect(200).data;
                assert_eq!(part.as_object().unwrap().keys().collect::<Vec<_>>(), ["id", "version", "deletedAt"]);
                // Made anew of what was read of it, it is another one.
                assert_ne!(shop.make(resource, &ask(DELETED_TOO).expect(200).data)["id"], before["id"]);
                // It is there to be read and for nothing else, and on no list.
                shop.ask("DELETE", resource, &path, None).expect(404);
                shop.ask("PUT", resource, &path, Some(&before)).expect(404);
                assert_eq!(shop.ask("GET", resource, DELETED_TOO, None).expect(400).fields(), ["includeDeleted"]);
                assert_eq!(ask("?includeDeleted=perhaps").expect(400).fields(), ["includeDeleted"]);
            }
            let named = shop.ask("GET", "salesInvoices", &format!("/{}{DELETED_TOO}", shop.customer), None);
            named.expect(404);
        }
    }

    fn it_is_no_door_to_what_one_may_not_see(server) {
        let shop = Shop::open(server, Dialect::B);
        let item = shop.item(json!({"name": "Gone"}));
        let path = format!("/{item}{DELETED_TOO}");
        shop.ask("DELETE", "items", &format!("/{item}"), None).expect(200);
        let only = json!([{"resource": "party", "actions": ["view"]}]);
        let key = shop.make("apiKeys", &json!({"name": "Sees parties", "scopes": only}));
        let narrow = Company { token: key["secret"].as_str().unwrap().to_owned(), ..shop.company.clone() };
        let other = server.company();
        for dialect in DIALECTS {
            let read = |company: &Company<'_>| company.ask(dialect, "GET", "items", &path, None);
            assert_eq!(read(&shop.company).expect(200).data["name"], Value::from("Gone"));
            read(&narrow).expect(403);
            read(&other).expect(404);
        }
    }
}
