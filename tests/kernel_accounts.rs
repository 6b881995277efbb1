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
const REVALUED: &str = "which only revaluations post to";
const RESULTS: &str = "which takes results of years; use a journal";
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
    fn a_fee_goes_to_no_account_that_has_a_keeper(server) {
        for dialect in DIALECTS {
            let books = books(server, dialect);
            for (code, text) in [("1200", DEBTS), ("1300", STOCK), ("2150", WAITS), ("2200", TAX), ("1000", HOLDS_MONEY)] {
                let mut body = books.shop.payment("2026-03-10", "10");
                body["feeAmount"] = 1.into();
                body["feeAccountId"] = books.account(code).into();
                refused(&books.post("payments", &body), "feeAccountId", text);
            }
            for (code, text) in [("1300", STOCK), ("2150", WAITS), ("1350", WAITS)] {
                let body = json!({
                    "date": "2026-03-10", "fromAccountId": books.account("1010"), "toAccountId": books.account("1000"),
                    "amount": 10, "feeAmount": 1, "feeAccountId": books.account(code)
                });
                refused(&books.post("contraEntries", &body), "feeAccountId", text);
            }
            books.shop.proves();
        }
    }

    fn a_write_off_goes_to_no_account_that_has_a_keeper_and_to_none_that_is_archived(server) {
        for dialect in DIALECTS {
            let books = books(server, dialect);
            let invoice = books.shop.sale("2026-03-10", json!([{"unitPrice": 100}]));
            let receipt = books.shop.make("receipts", &books.shop.receipt("2026-03-11", "100"));
            let archived = books.add("6811", "expense");
            books.change("6811", &json!({"status": "archived"})).expect(200);
            for (account, text) in [
                (books.account("1300"), STOCK), (books.account("2150"), WAITS), (books.account("2200"), TAX),
                (books.account("1010"), HOLDS_MONEY), (id(&archived).to_owned(), "which is archived"),
            ] {
                let body = json!({
                    "targetId": id(&invoice), "amount": 50, "writeOffAmount": 1, "writeOffAccountId": account
                });
                refused(&books.shop.act("POST", "receipts", &receipt, "allocations", Some(&body)), "writeOffAccountId", text);
            }
            assert_eq!(books.shop.get("salesInvoices", &invoice)["balanceDue"].to_string(), "100.00");
            books.shop.proves();
        }
    }

    fn tax_is_claimed_on_no_account_that_another_keeps(server) {
        for dialect in DIALECTS {
            let books = books(server, dialect);
            for (code, text) in [("1300", STOCK), ("1010", HOLDS_MONEY), ("1350", WAITS), ("1200", DEBTS)] {
                let said = books.code_with(&json!({"receivableAccountId": books.account(code)}));
                refused(&said, "components[0].receivableAccountId", text);
            }
            refused(
                &books.code_with(&json!({"payableAccountId": books.account("2110")})),
                "components[0].payableAccountId",
                REVALUED,
            );
        }
    }

    fn money_stands_in_no_line_and_dollars_not_beside_euros(server) {
        for dialect in DIALECTS {
            let books = books(server, dialect);
            let dollars = books.shop.make(
                "accounts",
                &json!({"code": "1020", "name": "Dollars", "type": "bank", "currency": "USD"}),
            );
            let line = json!([{"accountId": id(&dollars), "amount": 10}]);
            let mut payment = books.shop.payment("2026-03-10", "10");
            payment["lines"] = line;
            refused(&books.post("payments", &payment), "lines[0].accountId", HOLDS_MONEY);
            let invoice = json!({
                "date": "2026-03-10", "partyId": books.shop.customer,
                "lines": [{"accountId": id(&dollars), "unitPrice": 10}]
            });
            refused(&books.post("salesInvoices", &invoice), "lines[0].accountId", HOLDS_MONEY);
            let journal = books.shop.company.journal_body("2026-03-10", &[("1020", "5"), ("3000", "-5")]);
            let text = "which is kept in USD; the line is in EUR";
            refused(&books.post("journals", &journal), "lines[0].accountId", text);
            let mut into = books.shop.receipt("2026-03-10", "10");
            into["accountId"] = id(&dollars).into();
            into["currency"] = "EUR".into();
            refused(&books.post("receipts", &into), "accountId", text);
            let debts = json!({"code": "1220", "name": "Debts in dollars", "type": "receivable", "currency": "USD"});
            let debts = books.shop.make("accounts", &debts);
            let mut sale = json!({
                "date": "2026-03-10", "partyId": books.shop.customer, "lines": [{"unitPrice": 10}],
                "receivableAccountId": id(&debts)
            });
            refused(&books.post("salesInvoices", &sale), "receivableAccountId", text);
            sale["currency"] = "USD".into();
            sale["exchangeRate"] = "0.9".into();
            books.post("salesInvoices", &sale).expect(201);
            books.shop.proves();
        }
    }

    fn advances_belong_to_a_party_and_are_open_until_they_are_settled(server) {
        for dialect in DIALECTS {
            let books = books(server, dialect);
            let mut journal = books.shop.company.journal_body("2026-03-10", &[("2300", "5"), ("3000", "-5")]);
            refused(&books.post("journals", &journal), "lines[0].partyId", "which needs `partyId` on each line");
            journal["lines"][0]["partyId"] = books.shop.customer.clone().into();
            let made = books.post("journals", &journal).expect(201).data;
            let mut receipt = books.shop.receipt("2026-03-11", "5");
            receipt["allocations"] = json!([{"targetId": made["lines"][0]["id"], "amount": 5}]);
            let receipt = books.shop.make("receipts", &receipt);
            assert_eq!(books.shop.posted(&receipt), ["1010 5.00", "2300 -5.00"]);
            assert_eq!(receipt["allocationStatus"], "allocated");
            assert_eq!(books.read("2300")["isControl"], true);
            books.shop.proves();
        }
    }

    fn a_line_of_a_bill_or_a_sale_goes_where_its_kind_goes(server) {
        for dialect in DIALECTS {
            let books = books(server, dialect);
            for (resource, party, code, text) in [
                ("purchaseInvoices", &books.shop.supplier, "2200", TAX),
                ("purchaseInvoices", &books.shop.supplier, "2150", WAITS),
                ("purchaseInvoices", &books.shop.supplier, "1300", STOCK),
                ("salesInvoices", &books.shop.customer, "1010", HOLDS_MONEY),
                ("salesInvoices", &books.shop.customer, "3200", RESULTS),
                ("salesInvoices", &books.shop.customer, "1210", REVALUED),
                ("salesInvoices", &books.shop.customer, "1350", WAITS),
            ] {
                let body = json!({
                    "date": "2026-03-10", "partyId": party, "lines": [{"accountId": books.account(code), "unitPrice": 10}]
                });
                refused(&books.post(resource, &body), "lines[0].accountId", text);
            }
            // A purchase of what somebody keeps privately is a drawing; a sale to equity is none.
            let drawn = json!([{"accountId": books.account("3100"), "unitPrice": 10}]);
            books.shop.purchase("2026-03-10", drawn.clone());
            let sold = json!({"date": "2026-03-10", "partyId": books.shop.customer, "lines": drawn});
            let why = "which is of type equity; here it must be income, expense, or another asset or liability";
            refused(&books.post("salesInvoices", &sold), "lines[0].accountId", why);
            books.shop.proves();
        }
    }

    fn a_stock_adjustment_has_no_kept_account_on_its_other_side(server) {
        for dialect in DIALECTS {
            let books = books(server, dialect);
            let item = books.shop.item(json!({}));
            for (code, text) in [("1010", HOLDS_MONEY), ("2110", REVALUED), ("2200", TAX)] {
                let body = json!({
                    "date": "2026-03-10", "accountId": books.account(code),
                    "lines": [{"itemId": item, "quantityDelta": 1, "unitCost": 5}]
                });
                refused(&books.post("stockAdjustments", &body), "accountId", text);
            }
            assert_eq!(books.shop.stock(&item), ("0".into(), "0.00".into()));
        }
    }

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
