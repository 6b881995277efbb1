//! Narrow rights: whatever reads a document into another asks for the right to view it, and whatever settles for that to
//! allocate; and where colleagues come from is the audit log's to tell.

use crate::harness::people::fresh_email;
use crate::harness::server::{Company, DIALECTS};
use crate::harness::shop::{Shop, id};
use crate::harness::{Dialect, on_both_engines};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU32, Ordering};

static MADE: AtomicU32 = AtomicU32::new(0);

/// A key that may do this and nothing else.
fn only<'s>(company: &Company<'s>, grants: &[(&str, &[&str])]) -> Company<'s> {
    let scopes: Vec<Value> =
        grants.iter().map(|(resource, actions)| json!({"resource": resource, "actions": actions})).collect();
    let name = format!("Key {}", MADE.fetch_add(1, Ordering::Relaxed));
    let made =
        company.ask(Dialect::B, "POST", "apiKeys", "", Some(&json!({"name": name, "scopes": scopes}))).expect(201);
    Company { token: made.data["secret"].as_str().expect("a secret").to_owned(), ..company.clone() }
}

on_both_engines! {
    fn what_another_document_is_made_of_must_be_viewed(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let sold = shop.sale("2026-03-10", json!([{"unitPrice": 100}]));
            let order = shop.make("salesOrders", &json!({"date": "2026-03-10", "partyId": shop.customer, "lines": [{"unitPrice": 5}]}));
            let (of_sold, of_order) = (id(&sold).to_owned(), id(&order).to_owned());
            let line = order["lines"][0]["id"].clone();
            let crediting: &[(&str, &[&str])] = &[("creditNote", &["create", "post"])];
            let invoicing: &[(&str, &[&str])] = &[("salesInvoice", &["create", "post"])];
            for (grants, source, resource, path, body) in [
                (crediting, "salesInvoice", "salesInvoices", format!("/{of_sold}/credit-notes?dryRun=true"), json!({})),
                (crediting, "salesInvoice", "creditNotes", "?dryRun=true".into(), json!({"date": "2026-03-11", "salesInvoiceId": of_sold, "lines": [{"sourceLineId": sold["lines"][0]["id"]}]})),
                (invoicing, "salesInvoice", "salesInvoices", format!("/{of_sold}/copy?dryRun=true"), json!({})),
                (invoicing, "salesOrder", "salesOrders", format!("/{of_order}/invoices?dryRun=true"), json!({})),
                (
                    invoicing, "salesOrder", "salesInvoices", "?dryRun=true".into(),
                    json!({"date": "2026-03-11", "partyId": shop.customer, "lines": [{"sourceLineId": line}]}),
                ),
            ] {
                let blind = only(&shop.company, grants).ask(dialect, "POST", resource, &path, Some(&body));
                assert_eq!(blind.status, 403, "{resource}{path}: {}", blind.answer.text);
                assert!(blind.title.contains(&format!("{source}.view")), "{}", blind.title);
                let seeing = [grants, &[(source, &["view"])]].concat();
                // A resource stands in a set once.
                let seeing: Vec<(&str, &[&str])> = if grants[0].0 == source {
                    vec![(source, &["view", "create", "post"])]
                } else {
                    seeing
                };
                only(&shop.company, &seeing).ask(dialect, "POST", resource, &path, Some(&body)).expect(201);
            }
        }
    }

    fn what_settles_needs_the_right_to_allocate_by_whatever_door(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let sold = shop.sale("2026-03-10", json!([{"unitPrice": 100}]));
            let settled = json!([{"targetId": id(&sold), "amount": 5}]);
            let receipt = shop.make("receipts", &shop.receipt("2026-03-11", "50"));
            let all: &[&str] = &["view", "create", "edit", "delete", "post", "void"];
            let enters: &[(&str, &[&str])] = &[("receipt", all), ("creditNote", all), ("salesInvoice", &["view", "create", "post"])];
            let (clerk, settler) = (only(&shop.company, enters), only(&shop.company, &[enters, &[("allocation", &["create"])]].concat()));
            let mut paid = shop.receipt("2026-03-11", "5");
            paid["allocations"] = settled.clone();
            let credit = json!({"date": "2026-03-11", "partyId": shop.customer, "lines": [{"unitPrice": 5}], "allocations": settled});
            let cash = json!({"date": "2026-03-10", "partyId": shop.customer, "lines": [{"unitPrice": 5}], "cashReceipt": {"accountId": shop.company.account("1010")}});
            for (resource, path, body) in [
                ("receipts", String::new(), &paid),
                ("creditNotes", String::new(), &credit),
                ("salesInvoices", String::new(), &cash),
                ("receipts", format!("/{}/allocations", id(&receipt)), &settled[0]),
            ] {
                let refused = clerk.ask(dialect, "POST", resource, &path, Some(body)).expect(403);
                assert!(refused.title.contains("allocation.create"), "{resource}: {}", refused.title);
                settler.ask(dialect, "POST", resource, &path, Some(body)).expect(201);
            }
            let path = format!("/{}/allocations", id(&receipt));
            let refused = settler.ask(dialect, "DELETE", "receipts", &path, None).expect(403);
            assert!(refused.title.contains("allocation.delete"), "{}", refused.title);
            shop.ask("DELETE", "receipts", &path, None).expect(200);
            shop.proves();
        }
    }

    fn addresses_of_colleagues_are_told_to_whoever_may_view_the_audit_log(server) {
        for dialect in DIALECTS {
            let company = server.company();
            let party = company.party(json!({}));
            let path = format!("/{}/history", id(&party));
            let seen = |of: &Company<'_>| of.ask(dialect, "GET", "parties", &path, None).expect(200).data["items"][0]["actor"].clone();
            let narrow = seen(&only(&company, &[("party", &["view"])]));
            assert!(narrow["address"].is_null() && narrow["userId"].is_string(), "{narrow}");
            let wide = seen(&only(&company, &[("party", &["view"]), ("audit", &["view"])]));
            assert_eq!(wide["address"], json!(server.is_asked_from()));
        }
    }

    fn addresses_of_people_are_told_to_whoever_may_view_them(server) {
        for dialect in DIALECTS {
            let company = server.company();
            let email = fresh_email("caller");
            let (_, member) = company.joined(&email, &company.permission("bookkeeper"), "a ferry at first light");
            member.ask(dialect, "GET", "parties", "", None).expect(200);
            let told = |of: &Company<'_>| of.say(dialect, of.request_at(dialect, "GET", "dialect-usage")).expect(200).answer.text;
            assert!(!told(&only(&company, &[("dialectUsage", &["view"])])).contains(&email));
            assert!(told(&only(&company, &[("dialectUsage", &["view"]), ("user", &["view"])])).contains(&email));
        }
    }
}
