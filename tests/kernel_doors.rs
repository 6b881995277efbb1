//! Each state has one door: what an action does, no change of a field does. Days of what is settled, taxed, credited and
//! returned are days like any other.

use crate::harness::on_both_engines;
use crate::harness::server::{DIALECTS, Said};
use crate::harness::shop::{Shop, id};
use serde_json::{Value, json};

/// The record with some members changed, as it is sent back.
fn put(shop: &Shop<'_>, resource: &str, record: &Value, changes: Value) -> Said {
    let mut body = shop.get(resource, record);
    body.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    shop.ask("PUT", resource, &format!("/{}", id(record)), Some(&body))
}

/// Refused, by this code and for these fields.
fn refused(said: Said, status: u16, code: &str, fields: &[&str]) {
    let said = said.expect(status);
    assert_eq!(
        (said.code.as_deref(), said.fields()),
        (Some(code), fields.iter().map(|one| (*one).to_owned()).collect())
    );
}

/// A report whose identities hold.
fn report(shop: &Shop<'_>, path: &str) -> Value {
    let request = shop.company.request_at(shop.dialect, "GET", &format!("reports/{path}"));
    let report = shop.company.say(shop.dialect, request).expect(200).data;
    let checks = report["checks"].as_array().unwrap();
    assert!(!checks.is_empty() && checks.iter().all(|check| check["ok"] == true), "{path}: {report}");
    report
}

/// The base of the sales of some days and the tax on them.
fn taxed(shop: &Shop<'_>, query: &str) -> String {
    let totals = report(shop, &format!("tax-summary?{query}"))["totals"].clone();
    format!("{} {}", totals["salesBase"], totals["outputTax"])
}

fn year(shop: &Shop<'_>, number: u16) -> Value {
    let days =
        json!({"name": number.to_string(), "start": format!("{number}-01-01"), "end": format!("{number}-12-31")});
    shop.make("fiscalYears", &days)
}

fn archive(shop: &Shop<'_>, resource: &str, record: &str) {
    put(shop, resource, &json!({"id": record}), json!({"status": "archived"})).expect(200);
}

on_both_engines! {
    fn a_year_is_closed_and_opened_by_its_actions_alone(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            shop.sale("2025-02-10", json!([{"unitPrice": 100}]));
            let born_closed = json!({"name": "25", "start": "2025-01-01", "end": "2025-12-31", "status": "closed"});
            refused(shop.ask("POST", "fiscalYears", "", Some(&born_closed)), 400, "validation_failed", &["status"]);
            let own = year(&shop, 2025);
            let close = || shop.act("POST", "fiscalYears", &own, "close", None).expect(200).data;
            for (state, code) in [("closed", "invalid_state"), ("softClosed", "")] {
                let said = put(&shop, "fiscalYears", &own, json!({"status": state}));
                if code.is_empty() { said.expect(200); } else { refused(said, 409, code, &["status"]); }
            }
            put(&shop, "fiscalYears", &own, json!({"status": "open"})).expect(200);
            assert_eq!(close()["status"], "closed");
            for state in ["open", "softClosed"] {
                refused(put(&shop, "fiscalYears", &own, json!({"status": state})), 409, "invalid_state", &["status"]);
            }
            for (changes, field) in [
                (json!({"start": "2025-07-01"}), "start"),
                (json!({"end": "2025-11-30"}), "end"),
                (json!({"end": "2026-12-31"}), "end"),
            ] {
                refused(put(&shop, "fiscalYears", &own, changes), 409, "in_use", &[field]);
            }
            assert_eq!(put(&shop, "fiscalYears", &own, json!({"name": "Closed"})).expect(200).data["name"], "Closed");
            refused(shop.ask("DELETE", "fiscalYears", &format!("/{}", id(&own)), None), 409, "invalid_state", &[]);
            assert_eq!(["4000", "3200"].map(|code| shop.company.balance(code, "&asOf=2025-12-31")), ["0.00", "100.00"]);
            shop.proves();
        }
    }

    fn what_closed_a_year_stays_while_it_is_closed(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            shop.sale("2025-02-10", json!([{"unitPrice": 100}]));
            let own = year(&shop, 2025);
            shop.act("POST", "fiscalYears", &own, "close", None).expect(200);
            let found = shop.ask("GET", "journals", "?kind=closing", None).expect(200);
            let items = found.answer.text.split("\"id\":\"").nth(1).unwrap();
            let entry = json!({"id": items.split('"').next().unwrap()});
            let later = json!({"date": "2026-02-01"});
            for body in [None, Some(&later)] {
                refused(shop.act("POST", "journals", &entry, "void", body), 409, "in_use", &[]);
            }
            refused(put(&shop, "journals", &entry, json!({"status": "void"})), 409, "in_use", &[]);
            refused(put(&shop, "journals", &entry, json!({"date": "2026-12-31"})), 409, "period_locked", &["date"]);
            // Nothing comes before a closed year either: what closed it took all that was earned until then.
            let before = json!({"date": "2024-06-01", "partyId": shop.customer, "lines": [{"unitPrice": 1}]});
            refused(shop.ask("POST", "salesInvoices", "", Some(&before)), 409, "period_locked", &["date"]);
            let earlier = year(&shop, 2024);
            refused(shop.act("POST", "fiscalYears", &earlier, "close", None), 409, "invalid_state", &[]);
            assert_eq!(["4000", "3200"].map(|code| shop.company.balance(code, "&asOf=2025-12-31")), ["0.00", "100.00"]);
            shop.act("POST", "fiscalYears", &own, "reopen", None).expect(200);
            assert_eq!(shop.get("journals", &entry)["status"], "void");
            shop.proves();
        }
    }

    fn tax_counts_on_open_days_alone(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let vat = shop.vat("20");
            let lines = json!([{"unitPrice": 100, "taxCodeId": vat}]);
            let sale = |date: &str, counts: &str| json!({"date": date, "taxDate": counts, "partyId": shop.customer, "lines": lines});
            shop.sale("2026-01-10", lines.clone());
            let split = shop.make("salesInvoices", &sale("2026-04-01", "2026-03-31"));
            let both = shop.make("salesInvoices", &sale("2026-04-01", "2026-03-31"));
            let open = shop.make("salesInvoices", &sale("2026-04-02", "2026-04-01"));
            shop.make("locks", &json!({"hardLockDate": "2026-03-31"}));
            let locked = |said: Said| refused(said, 409, "period_locked", &["taxDate"]);
            locked(shop.ask("POST", "salesInvoices", "", Some(&sale("2026-04-02", "2026-01-15"))));
            locked(put(&shop, "salesInvoices", &open, json!({"taxDate": "2026-02-15"})));
            // Out of a closed day is as closed as into one.
            locked(put(&shop, "salesInvoices", &split, json!({"taxDate": "2026-04-01"})));
            put(&shop, "salesInvoices", &split, json!({"notes": "Words are free"})).expect(200);
            let journal = json!({"date": "2026-04-02", "taxDate": "2026-01-20", "lines": [
                {"accountId": shop.company.account("6000"), "debit": 100, "taxCodeId": vat, "taxSide": "purchase"},
                {"accountId": shop.company.account("1400"), "debit": 20, "taxCodeId": vat, "taxSide": "purchase"},
                {"accountId": shop.company.account("1010"), "credit": 120}
            ]});
            locked(shop.ask("POST", "journals", "", Some(&journal)));
            let paid = json!({"date": "2026-04-02", "taxDate": "2026-01-20", "accountId": shop.company.account("1010"), "amount": 120,
                "lines": [{"accountId": shop.company.account("6000"), "amount": 120, "taxCodeId": vat}]});
            locked(shop.ask("POST", "payments", "", Some(&paid)));
            let draft = {
                let mut body = sale("2026-04-02", "2026-01-15");
                body["status"] = json!("draft");
                shop.make("salesInvoices", &body)
            };
            locked(shop.act("POST", "salesInvoices", &draft, "post", None));
            // What counted for a closed day is taken back on the day of the reversal.
            shop.void("salesInvoices", &both);
            assert_eq!(taxed(&shop, "from=2026-01-01&to=2026-03-31"), "300.00 60.00");
            assert_eq!(taxed(&shop, "from=2026-04-01&to=2026-04-30"), "0.00 0.00");
            shop.proves();
        }
    }

    fn nothing_is_settled_before_both_sides_were_there(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let sale = shop.sale("2026-01-10", json!([{"unitPrice": 100}]));
            let mut body = shop.receipt("2026-02-10", "100");
            body["allocations"] = json!([{"targetId": id(&sale), "amount": 100}]);
            let receipt = shop.make("receipts", &body);
            let late = |resource: &str, record: &Value, day: &str| {
                refused(put(&shop, resource, record, json!({"date": day, "dueDate": null})), 409, "has_allocations", &["date"]);
            };
            late("salesInvoices", &sale, "2026-02-11");
            refused(put(&shop, "receipts", &receipt, json!({"date": "2026-07-10"})), 409, "has_allocations", &["date"]);
            put(&shop, "salesInvoices", &sale, json!({"date": "2026-02-10", "dueDate": null})).expect(200);
            put(&shop, "receipts", &receipt, json!({"date": "2026-02-09"})).expect(200);
            // A line of a journal on a control account.
            let journal = json!({"date": "2026-03-01", "lines": [
                {"accountId": shop.company.account("1200"), "partyId": shop.customer, "debit": 50},
                {"accountId": shop.company.account("4000"), "credit": 50}
            ]});
            let journal = shop.make("journals", &journal);
            let mut body = shop.receipt("2026-03-05", "50");
            body["allocations"] = json!([{"targetId": journal["lines"][0]["id"], "amount": 50}]);
            shop.make("receipts", &body);
            refused(put(&shop, "journals", &journal, json!({"date": "2026-03-06"})), 409, "has_allocations", &["date"]);
            put(&shop, "journals", &journal, json!({"date": "2026-03-05"})).expect(200);
            shop.proves();
        }
    }

    fn what_is_void_as_of_a_later_day_settled_until_then(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let vat = shop.vat("20");
            let sale = shop.sale("2026-01-10", json!([{"unitPrice": 100, "taxCodeId": vat}]));
            let mut body = shop.receipt("2026-02-10", "120");
            body["allocations"] = json!([{"targetId": id(&sale), "amount": 120}]);
            let receipt = shop.make("receipts", &body);
            let later = json!({"date": "2026-06-10"});
            let void = |shop: &Shop<'_>, receipt: &Value| {
                let void = shop.act("POST", "receipts", receipt, "void", Some(&later)).expect(200).data;
                assert_eq!(void["voidDate"], "2026-06-10");
            };
            void(&shop, &receipt);
            let cash = |month: &str, last: u8| taxed(&shop, &format!("from=2026-{month}-01&to=2026-{month}-{last}&taxBasis=cash"));
            assert_eq!([cash("02", 28), cash("06", 30)], ["100.00 20.00", "-100.00 -20.00"]);
            shop.proves();
            // The gain goes with the money that made it.
            let shop = Shop::open(server, dialect);
            let dollars = |date: &str, rate: &str| json!({"date": date, "partyId": shop.customer, "currency": "USD", "exchangeRate": rate});
            let mut body = dollars("2026-01-10", "0.90");
            body["lines"] = json!([{"unitPrice": 1000}]);
            let sale = shop.make("salesInvoices", &body);
            let mut body = dollars("2026-02-10", "0.95");
            body["accountId"] = json!(shop.company.account("1010"));
            body["amount"] = json!(1000);
            body["allocations"] = json!([{"targetId": id(&sale), "amount": 1000}]);
            let receipt = shop.make("receipts", &body);
            void(&shop, &receipt);
            let at = |code: &str, day: &str| shop.company.balance(code, &format!("&asOf={day}"));
            assert_eq!([at("1200", "2026-05-31"), at("1200", "2026-06-10")], ["0.00", "900.00"]);
            assert_eq!(["2026-02-10", "2026-05-31", "2026-06-10"].map(|day| at("4900", day)), ["50.00", "50.00", "0.00"]);
            shop.proves();
        }
    }

    fn what_returns_or_credits_is_not_before_what_it_takes_back(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let item = shop.item(json!({"salePrice": 10, "purchasePrice": 7}));
            let goods = |quantity: u8, price: u8| json!([{"itemId": item, "quantity": quantity, "unitPrice": price}]);
            let bill = shop.purchase("2026-01-05", goods(30, 7));
            let sale = shop.sale("2026-01-15", goods(10, 10));
            let early = |said: Said| refused(said, 400, "validation_failed", &["date"]);
            let on = |day: &str| json!({"date": day});
            let note = |day: &str, invoice: &Value| json!({"date": day, "partyId": shop.customer, "salesInvoiceId": id(invoice),
                "lines": [{"sourceLineId": invoice["lines"][0]["id"], "quantity": 2}]});
            early(shop.act("POST", "salesInvoices", &sale, "credit-notes", Some(&on("2026-01-14"))));
            early(shop.ask("POST", "creditNotes", "", Some(&note("2026-01-14", &sale))));
            early(shop.act("POST", "purchaseInvoices", &bill, "debit-notes", Some(&on("2026-01-04"))));
            let credit = shop.make("creditNotes", &note("2026-01-20", &sale));
            early(put(&shop, "creditNotes", &credit, on("2026-01-14")));
            put(&shop, "creditNotes", &credit, on("2026-01-15")).expect(200);
            let later = json!({"date": "2026-01-16", "taxDate": "2026-01-15", "dueDate": null});
            refused(put(&shop, "salesInvoices", &sale, later), 409, "in_use", &["date"]);
            put(&shop, "salesInvoices", &sale, json!({"date": "2026-01-14", "taxDate": "2026-01-15", "dueDate": null})).expect(200);
            let goods_only = |party: &str, extra: Value| {
                let mut line = json!({"itemId": item, "quantity": 3});
                line.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
                json!({"date": "2026-02-10", "partyId": party, "lines": [line]})
            };
            let sent = shop.make("deliveryNotes", &goods_only(&shop.customer, json!({})));
            let came = shop.make("receiptNotes", &goods_only(&shop.supplier, json!({"unitCost": 7})));
            for (resource, note) in [("deliveryNotes", &sent), ("receiptNotes", &came)] {
                early(shop.act("POST", resource, note, "returns", Some(&on("2026-02-09"))));
                let back = shop.act("POST", resource, note, "returns", Some(&on("2026-02-10"))).expect(201).data;
                early(put(&shop, resource, &back, on("2026-02-09")));
            }
            shop.proves();
        }
    }

    fn an_order_that_others_follow_keeps_party_and_currency(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let item = shop.item(json!({"salePrice": 10, "negativeStock": "allow"}));
            let other = shop.make("parties", &json!({"name": "Another", "isCustomer": true}));
            let order = shop.make("salesOrders", &json!({"date": "2026-01-05", "partyId": shop.customer,
                "lines": [{"itemId": item, "quantity": 5, "unitPrice": 10}]}));
            let dollars = json!({"currency": "USD", "exchangeRate": "0.9"});
            put(&shop, "salesOrders", &order, json!({"partyId": id(&other)})).expect(200);
            put(&shop, "salesOrders", &order, json!({"partyId": shop.customer})).expect(200);
            let part = json!({"date": "2026-01-10", "lines": [{"lineId": order["lines"][0]["id"], "quantity": 3}]});
            shop.act("POST", "salesOrders", &order, "delivery-notes", Some(&part)).expect(201);
            refused(put(&shop, "salesOrders", &order, json!({"partyId": id(&other)})), 409, "in_use", &["partyId"]);
            refused(put(&shop, "salesOrders", &order, dollars), 409, "in_use", &["currency"]);
            put(&shop, "salesOrders", &order, json!({"notes": "Words are free"})).expect(200);
            shop.proves();
        }
    }

    fn what_was_named_before_it_was_archived_may_stay(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let vat = shop.vat("20");
            let item = shop.item(json!({"type": "service", "salePrice": 10}));
            let term = shop.make("paymentTerms", &json!({"name": "Soon", "days": 14}));
            let lines = json!([{"itemId": item, "quantity": 2, "unitPrice": 10, "taxCodeId": vat}]);
            let sale = |date: &str| json!({"date": date, "partyId": shop.customer, "paymentTermId": id(&term), "lines": lines});
            let before = shop.make("salesInvoices", &sale("2026-01-10"));
            let order = shop.make("salesOrders", &json!({"date": "2026-01-10", "partyId": shop.customer, "lines": lines}));
            let spent = |amount: u8| json!({"date": "2026-01-11", "accountId": shop.company.account("1010"), "amount": amount,
                "lines": [{"accountId": shop.company.account("6000"), "amount": amount, "taxCodeId": vat}]});
            let payment = shop.make("payments", &spent(12));
            let journal = |amount: u8| json!({"date": "2026-01-12", "lines": [
                {"accountId": shop.company.account("6000"), "debit": amount, "taxCodeId": vat, "taxSide": "purchase"},
                {"accountId": shop.company.account("1010"), "credit": amount}
            ]});
            let told = shop.make("journals", &journal(10));
            shop.make("parties", &json!({"name": "Named", "isCustomer": true, "paymentTermId": id(&term)}));
            archive(&shop, "taxCodes", &vat);
            archive(&shop, "items", &item);
            archive(&shop, "paymentTerms", id(&term));
            // What is new may name none of them.
            refused(shop.ask("POST", "salesInvoices", "", Some(&sale("2026-02-01"))), 400, "validation_failed",
                &["lines[0].itemId", "lines[0].taxCodeId", "paymentTermId"]);
            refused(shop.ask("POST", "payments", "", Some(&spent(12))), 400, "validation_failed", &["lines[0].taxCodeId"]);
            refused(shop.ask("POST", "journals", "", Some(&journal(10))), 400, "validation_failed", &["lines[0].taxCodeId"]);
            // What named them goes on, and so does what comes of it.
            let mut changed = before["lines"].clone();
            changed[0]["description"] = json!("As agreed");
            put(&shop, "salesInvoices", &before, json!({"lines": changed})).expect(200);
            let mut dearer = shop.get("payments", &payment)["lines"].clone();
            dearer[0]["amount"] = json!(24);
            put(&shop, "payments", &payment, json!({"amount": 24, "lines": dearer})).expect(200);
            put(&shop, "journals", &told, json!({"lines": journal(20)["lines"]})).expect(200);
            let credit = json!({"date": "2026-02-02", "lines": [{"lineId": before["lines"][0]["id"], "quantity": 1}]});
            shop.act("POST", "salesInvoices", &before, "credit-notes", Some(&credit)).expect(201);
            let billed = shop.act("POST", "salesOrders", &order, "invoices", Some(&json!({"date": "2026-02-03"}))).expect(201);
            assert_eq!(billed.data["taxTotal"].to_string(), "4.00");
            shop.proves();
        }
    }

    fn closing_a_year_changes_no_figure_of_any_report(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let item = shop.item(json!({"type": "service", "salePrice": 100}));
            shop.sale("2025-03-01", json!([{"itemId": item, "unitPrice": 100}]));
            let mut abroad = json!({"date": "2025-04-01", "partyId": shop.customer, "currency": "USD", "exchangeRate": "0.90"});
            abroad["lines"] = json!([{"unitPrice": 1000}]);
            let sale = shop.make("salesInvoices", &abroad);
            shop.make("receipts", &json!({"date": "2025-05-01", "partyId": shop.customer, "currency": "USD", "exchangeRate": "0.95",
                "accountId": shop.company.account("1010"), "amount": 1000, "allocations": [{"targetId": id(&sale), "amount": 1000}]}));
            let own = year(&shop, 2025);
            let income = shop.company.account("4000");
            let account = format!("general-ledger?from=2025-01-01&to=2025-12-31&accountId={income}");
            let read = || {
                let names = ["item-profitability", "fx-gains", "day-book"];
                let paths = names.map(|name| format!("{name}?from=2025-01-01&to=2025-12-31"));
                let totals = paths.iter().chain([&account]).map(|path| report(&shop, path)["totals"].to_string());
                let rows = paths[..2].iter().map(|path| report(&shop, path)["rows"].to_string());
                totals.chain(rows).collect::<Vec<_>>()
            };
            let before = read();
            shop.act("POST", "fiscalYears", &own, "close", None).expect(200);
            assert_eq!(read(), before);
            shop.act("POST", "fiscalYears", &own, "reopen", None).expect(200);
            assert_eq!(read(), before);
            shop.proves();
        }
    }
}
