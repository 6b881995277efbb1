//! Who may post what to which account, and that an account has one keeper: asked over HTTP, in both dialects.

use crate::harness::server::{DIALECTS, Said};
use crate::harness::shop::{Shop, id};
use crate::harness::{Dialect, Server, on_both_engines};
use serde_json::{Value, json};

const HOLDS_MONEY: &str = "which holds money; move it by a receipt, a payment or a contra entry";
const DEBTS: &str =
    "which takes what parties owe and are owed; use an invoice, a note, a receipt or a payment with the party";
const STOCK: &str = "which follows the stock; use a document with the item, or a stock adjustment";
const WAITS: &str = "where goods wait for their invoice; only notes of goods and what bills them post there";
const TAX: &str = "which holds tax; name a tax code instead";
const ITSELF: &str = "cannot be true: the books keep this account themselves";

/// One fault alone: its field, and what is said of it after the account's code and name.
fn refused(said: &Said, field: &str, text: &str) {
    assert_eq!(said.status, 400, "{}", said.answer.text);
    assert_eq!(said.fields(), [field], "{}", said.answer.text);
    let told = said.errors[field][0].as_str().unwrap();
    assert!(told.starts_with("names ") && told.ends_with(text), "{told}");
}

struct Books<'s> {
    shop: Shop<'s>,
}

impl Books<'_> {
    fn account(&self, code: &str) -> String {
        self.shop.company.account(code)
    }

    fn post(&self, resource: &str, body: &Value) -> Said {
        self.shop.ask("POST", resource, "", Some(body))
    }

    fn read(&self, code: &str) -> Value {
        self.shop.ask("GET", "accounts", &format!("?code={code}"), None).expect(200).data["items"][0].clone()
    }

    /// Sends an account back with something else in it.
    fn change(&self, code: &str, with: &Value) -> Said {
        let mut body = self.read(code);
        body.as_object_mut().unwrap().extend(with.as_object().unwrap().clone());
        self.shop.ask("PUT", "accounts", &format!("/{}", id(&body)), Some(&body))
    }

    fn add(&self, code: &str, kind: &str) -> Value {
        self.shop.make("accounts", &json!({"code": code, "name": format!("Account {code}"), "type": kind}))
    }

    /// Gives a role of the books to an account.
    fn give(&self, role: &str, code: &str) -> Said {
        let path = format!("/{}", self.shop.company.id);
        let mut body = self.shop.ask("GET", "businesses", &path, None).expect(200).data;
        body["systemAccounts"] = json!({role: self.account(code)});
        self.shop.ask("PUT", "businesses", &path, Some(&body))
    }

    fn code_with(&self, component: &Value) -> Said {
        let mut one = json!({"name": "VAT", "rate": 20});
        one.as_object_mut().unwrap().extend(component.as_object().unwrap().clone());
        self.post("taxCodes", &json!({"code": "V20", "name": "V20", "components": [one]}))
    }
}

fn books(server: &Server, dialect: Dialect) -> Books<'_> {
    Books { shop: Shop::open(server, dialect) }
}

on_both_engines! {

    fn nobody_writes_by_hand_what_the_books_keep_themselves(server) {
        for dialect in DIALECTS {
            let books = books(server, dialect);
            for (code, text) in [("1300", STOCK), ("2150", WAITS)] {
                let said = books.change(code, &json!({"allowManualPosting": true})).expect(400);
                assert_eq!(said.fields(), ["allowManualPosting"]);
                assert_eq!(said.errors["allowManualPosting"][0], ITSELF);
                let journal = books.shop.company.journal_body("2026-03-10", &[(code, "5"), ("3000", "-5")]);
                refused(&books.post("journals", &journal), "lines[0].accountId", text);
            }
            // What was read goes back as it is.
            for code in ["1200", "1300", "1010", "2150", "2110", "2200", "6000"] {
                let read = books.read(code);
                let back = books.change(code, &json!({})).expect(200).data;
                for member in ["keeper", "allowManualPosting", "cashFlowSection", "systemRole"] {
                    assert_eq!(back[member], read[member], "{member} of {code}");
                }
            }
        }
    }

    fn goods_without_item_and_role_may_be_followed_by_journals(server) {
        for dialect in DIALECTS {
            let books = books(server, dialect);
            let goods = books.add("1340", "inventory");
            assert_eq!((&goods["keeper"], &goods["allowManualPosting"]), (&json!("stock"), &json!(false)));
            let journal = books.shop.company.journal_body("2026-03-10", &[("1340", "5"), ("3000", "-5")]);
            refused(&books.post("journals", &journal), "lines[0].accountId", STOCK);
            let by_hand = books.change("1340", &json!({"allowManualPosting": true})).expect(200).data;
            assert_eq!(by_hand["keeper"], "none");
            books.post("journals", &journal).expect(201);
            // No item and no role comes to it any more, and it stays what it was when it got its first entry.
            let item = json!({"name": "Goods", "type": "stock", "inventoryAccountId": id(&goods)});
            let why = "which is of type inventory; here it must be inventory that takes no journals";
            refused(&books.post("items", &item), "inventoryAccountId", why);
            refused(&books.give("inventory", "1340"), "systemAccounts.inventory", why);
            let back = books.change("1340", &json!({"allowManualPosting": false})).expect(200).data;
            assert_eq!(back["keeper"], "none");
            // One that an item names follows the stock, whatever else is asked.
            books.add("1341", "inventory");
            books.shop.item(json!({"inventoryAccountId": books.account("1341")}));
            let said = books.change("1341", &json!({"allowManualPosting": true})).expect(400);
            assert_eq!(said.errors["allowManualPosting"][0], ITSELF);
            books.shop.proves();
        }
    }

    fn a_role_takes_over_no_account_with_entries_of_its_own(server) {
        for dialect in DIALECTS {
            let books = books(server, dialect);
            books.add("2160", "currentLiability");
            books.add("2161", "currentLiability");
            books.shop.company.journal("2026-03-05", &[("6200", "10"), ("2160", "-10")]);
            let role = "goodsReceivedNotInvoiced";
            let field = format!("systemAccounts.{role}");
            let taken = books.give(role, "2160").expect(409);
            assert_eq!((taken.code.as_deref(), taken.fields()), (Some("in_use"), vec![field.clone()]));
            let why = "names 2160 Account 2160, which holds entries of its own; name an account without";
            assert_eq!(taken.errors[&field][0], why);
            // One that has a keeper is not shared.
            refused(&books.give(role, "2300"), &field, DEBTS);
            books.give(role, "2161").expect(200);
            assert_eq!((&books.read("2161")["keeper"], &books.read("2161")["allowManualPosting"]), (&json!("accruals"), &json!(false)));
            // The one of before has no entries, so nobody keeps it any more.
            assert_eq!((&books.read("2150")["keeper"], &books.read("2150")["allowManualPosting"]), (&json!("none"), &json!(true)));
            books.shop.company.journal("2026-03-05", &[("6200", "10"), ("2150", "-10")]);
            // With entries of that keeper, it keeps it when the role goes, and the role may come back.
            let item = books.shop.item(json!({}));
            let note = json!({"date": "2026-03-06", "partyId": books.shop.supplier, "lines": [{"itemId": item, "quantity": 1, "unitCost": 5}]});
            books.shop.make("receiptNotes", &note);
            books.add("2162", "currentLiability");
            books.give(role, "2162").expect(200);
            assert_eq!(books.read("2161")["keeper"], "accruals");
            let journal = books.shop.company.journal_body("2026-03-10", &[("2161", "5"), ("3000", "-5")]);
            refused(&books.post("journals", &journal), "lines[0].accountId", WAITS);
            books.give(role, "2161").expect(200);
            books.shop.proves();
        }
    }

    fn one_account_is_not_given_to_two_keepers_at_once(server) {
        for dialect in DIALECTS {
            let books = books(server, dialect);
            books.add("2160", "currentLiability");
            let path = format!("/{}", books.shop.company.id);
            let mut body = books.shop.ask("GET", "businesses", &path, None).expect(200).data;
            let account = books.account("2160");
            body["systemAccounts"] = json!({"goodsReceivedNotInvoiced": account, "customerAdvances": account});
            let said = books.shop.ask("PUT", "businesses", &path, Some(&body)).expect(400);
            assert_eq!(said.fields(), ["systemAccounts.customerAdvances", "systemAccounts.goodsReceivedNotInvoiced"]);
        }
    }

    fn a_component_takes_over_no_account_with_entries_of_its_own(server) {
        for dialect in DIALECTS {
            let books = books(server, dialect);
            books.add("1450", "currentAsset");
            books.add("1451", "currentAsset");
            books.shop.company.journal("2026-03-05", &[("1450", "10"), ("3000", "-10")]);
            let taken = books.code_with(&json!({"receivableAccountId": books.account("1450")})).expect(409);
            assert_eq!((taken.code.as_deref(), taken.fields()), (Some("in_use"), vec!["components[0].receivableAccountId".to_owned()]));
            let code = books.code_with(&json!({"receivableAccountId": books.account("1451")})).expect(201).data;
            assert_eq!(books.read("1451")["keeper"], "tax");
            let purchase = json!({
                "date": "2026-03-10", "partyId": books.shop.supplier,
                "lines": [{"accountId": books.account("1451"), "unitPrice": 10}]
            });
            refused(&books.post("purchaseInvoices", &purchase), "lines[0].accountId", TAX);
            // Two components are never one: what is told of them is told by their identities.
            let mut twice = code.clone();
            twice["components"] = json!([code["components"][0], code["components"][0]]);
            let said = books.shop.ask("PUT", "taxCodes", &format!("/{}", id(&code)), Some(&twice)).expect(400);
            assert_eq!(said.fields(), ["components[1].id"]);
            // Without entries it is nobody's again when the code goes.
            books.shop.ask("DELETE", "taxCodes", &format!("/{}", id(&code)), None);
            assert_eq!(books.read("1451")["keeper"], "none");
            books.post("purchaseInvoices", &purchase).expect(201);
        }
    }

    fn a_year_is_closed_on_results_and_income_alone(server) {
        for dialect in DIALECTS {
            let books = books(server, dialect);
            let closing = |code: &str| {
                let mut body = books.shop.company.journal_body("2026-12-31", &[("4000", "5"), (code, "-5")]);
                body["kind"] = "closing".into();
                books.post("journals", &body)
            };
            let text = "which is of type equity; here it must be income, expense, or what takes results of years";
            for (code, text) in [("1010", HOLDS_MONEY), ("1200", DEBTS), ("2200", TAX), ("3000", text)] {
                refused(&closing(code), "lines[1].accountId", text);
            }
            closing("3200").expect(201);
            books.shop.proves();
        }
    }

    fn what_was_posted_is_taken_back_from_an_account_that_was_archived(server) {
        for dialect in DIALECTS {
            let books = books(server, dialect);
            books.add("6855", "expense");
            let bill = books.shop.purchase("2026-03-10", json!([{"accountId": books.account("6855"), "unitPrice": 10}]));
            books.shop.company.journal("2026-03-11", &[("6855", "-10"), ("3000", "10")]);
            books.change("6855", &json!({"status": "archived"})).expect(200);
            books.shop.void("purchaseInvoices", &bill);
            books.shop.proves();
        }
    }

    fn the_largest_amounts_are_kept_and_one_coin_more_is_a_fault_of_its_field(server) {
        for dialect in DIALECTS {
            let books = books(server, dialect);
            let pay = |amount: &str, lines: &[&str]| {
                let line = |amount: &&str| json!({"accountId": books.account("6000"), "amount": amount});
                let mut body = books.shop.payment("2026-03-10", amount);
                body["lines"] = lines.iter().map(line).collect();
                books.post("payments", &body)
            };
            let large = "9223372036855.00";
            let paid = pay(large, &[large]).expect(201).data;
            assert_eq!(books.shop.posted(&paid), [format!("1010 -{large}"), format!("6000 {large}")]);
            let most = "922337203685477.58";
            for (amount, lines) in [("922337203685477.59", vec!["1"]), ("1", vec!["922337203685477.59"]), (most, vec![most, most])] {
                let said = pay(amount, &lines);
                assert_eq!(said.status, 400, "{}", said.answer.text);
                let named = said.fields();
                assert!(named.iter().all(|field| field == "amount" || field.starts_with("lines")), "{named:?}");
            }
            let half = json!([{"quantity": 100, "unitPrice": "6000000000000"}, {"quantity": 100, "unitPrice": "6000000000000"}]);
            let body = json!({"date": "2026-03-10", "partyId": books.shop.customer, "lines": half});
            let said = books.post("salesInvoices", &body);
            assert_eq!((said.status, said.fields()), (400, vec!["lines".to_owned()]), "{}", said.answer.text);
            books.shop.proves();
        }
    }
}
