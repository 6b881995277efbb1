//! What is left of an origin: random thirds and sevenths come to the whole, and an origin changes as far as what was made
//! of it allows.

use crate::harness::shop::{Shop, cents, id};
use crate::harness::streams::{each_stream, ensure, expect};
use crate::harness::{Dialect, Engine, Server, on_both_engines};
use crate::kernel_tax::in_both;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

/// An invoice or a bill in parts of thirds and sevenths.
#[derive(Debug, Clone)]
struct Parts {
    /// In which dialect, whether it sells, whether prices include tax, and whether it is abroad.
    how: [bool; 4],
    discount: u32,
    /// How many of each, at which price in millionths, with which of the codes.
    lines: Vec<(u32, u32, usize)>,
    /// Which line is credited next, and how many of it; and which of the notes is void and made anew.
    order: Vec<(usize, u32)>,
    again: usize,
}

fn parts() -> impl Strategy<Value = Parts> {
    let line = (prop_oneof![Just(3_u32), Just(7)], 1_u32..40_000_000, 0_usize..4);
    let rest = (0_u32..30, vec(line, 1..4), vec((0_usize..8, 1_u32..3), 6..9), 0_usize..6);
    (any::<[bool; 4]>(), rest).prop_map(|(how, (discount, lines, order, again))| Parts {
        how,
        discount,
        lines,
        order,
        again,
    })
}

const TOTALS: [&str; 6] = ["netTotal", "taxTotal", "total", "baseNetTotal", "baseTaxTotal", "baseTotal"];

fn in_parts(server: &Server) {
    each_stream(&parts(), |parts| {
        let [dialect, sells, inclusive, abroad] = parts.how;
        let shop = Shop::open(server, if dialect { Dialect::A } else { Dialect::B });
        let codes = [
            json!(shop.vat("20")),
            json!(
                shop.tax("QC", json!([{"name": "A", "rate": 5}, {"name": "B", "rate": "9.975", "isCompound": true}]))
            ),
            json!(shop.tax("HALF", json!([{"name": "VAT", "rate": 19, "recoverablePercent": 50}]))),
            Value::Null,
        ];
        let (invoices, notes, note_kind) = if sells {
            ("salesInvoices", "credit-notes", "creditNotes")
        } else {
            ("purchaseInvoices", "debit-notes", "debitNotes")
        };
        let line = |(quantity, price, code): &(u32, u32, usize)| {
            let price = format!("{}.{:06}", price / 1_000_000, price % 1_000_000);
            json!({"description": "Thing", "quantity": quantity, "unitPrice": price, "taxCodeId": codes[*code]})
        };
        let mut body = json!({
            "date": "2026-03-10", "partyId": if sells { &shop.customer } else { &shop.supplier },
            "pricesIncludeTax": inclusive, "discountPercent": parts.discount,
            "lines": parts.lines.iter().map(line).collect::<Vec<_>>()
        });
        if abroad {
            (body["currency"], body["exchangeRate"]) = ("USD".into(), "0.8767".into());
        }
        let invoice = expect(shop.ask("POST", invoices, "", Some(&body)), 201)?.data;
        let mut left: Vec<u32> = parts.lines.iter().map(|(quantity, ..)| *quantity).collect();
        let mut made: Vec<(usize, u32, Value)> = Vec::new();
        let credit = |line: usize, quantity: u32| {
            let lines = json!([{"lineId": invoice["lines"][line]["id"], "quantity": quantity}]);
            shop.act("POST", invoices, &invoice, notes, Some(&json!({"date": "2026-03-11", "lines": lines})))
        };
        // What is asked for first, then the rest one by one from the last line back.
        let rest = (0..left.len()).rev().flat_map(|line| std::iter::repeat_n((line, 1), 7));
        for (line, quantity) in parts.order.iter().copied().chain(rest) {
            let line = line % left.len();
            if left[line] >= quantity {
                left[line] -= quantity;
                made.push((line, quantity, expect(credit(line, quantity), 201)?.data));
            }
        }
        let (line, quantity, again) = made.swap_remove(parts.again % made.len());
        expect(shop.act("POST", note_kind, &again, "void", None), 200)?;
        let anew = expect(credit(line, quantity), 201)?.data;
        // The share that was given back is the share that is found.
        for member in TOTALS {
            ensure(anew[member] == again[member], || format!("{member}: {} was {}", anew[member], again[member]))?;
        }
        made.push((line, quantity, anew));
        for member in TOTALS {
            let sum: i64 = made.iter().map(|(.., note)| cents(&note[member])).sum();
            let whole = cents(&invoice[member]);
            ensure(sum == whole, || format!("{member}: {sum} of {whole} in parts"))?;
        }
        for account in ["1200", "2100", "1400", "2200", "4000", "6000"] {
            let balance = shop.company.balance(account, "");
            ensure(balance == "0.00", || format!("{account} is left with {balance}"))?;
        }
        let more = credit(0, 1);
        ensure(more.status == 409, || format!("more than there was: {}", more.answer.text))?;
        let failed = shop.company.failed_checks();
        ensure(failed.is_empty(), || format!("{failed:?}"))
    });
}

/// Goods that cost a random sum, delivered and back in random parts.
fn back_in_parts(server: &Server) {
    let streams = (any::<bool>(), prop_oneof![Just(3_u32), Just(7)], 1_u32..90_000_000, vec(1_u32..3, 1..4));
    each_stream(&streams, |(dialect, all, price, parts)| {
        let shop = Shop::open(server, if dialect { Dialect::A } else { Dialect::B });
        let item = shop.item(json!({"salePrice": 10}));
        let price = format!("{}.{:06}", price / 1_000_000, price % 1_000_000);
        let bill = shop.purchase("2026-01-05", json!([{"itemId": item, "quantity": all, "unitPrice": price}]));
        let lines = json!([{"itemId": item, "quantity": all}]);
        let note = shop.make("deliveryNotes", &json!({"date": "2026-02-01", "partyId": shop.customer, "lines": lines}));
        let mut left = all;
        for quantity in parts.into_iter().chain(std::iter::repeat_n(1, 7)) {
            if quantity <= left {
                left -= quantity;
                let lines = json!([{"lineId": note["lines"][0]["id"], "quantity": quantity}]);
                let body = json!({"date": "2026-02-02", "lines": lines});
                expect(shop.act("POST", "deliveryNotes", &note, "returns", Some(&body)), 201)?;
            }
        }
        let value = shop.stock(&item);
        ensure(value == (all.to_string(), bill["netTotal"].to_string()), || {
            format!("{value:?} of {}", bill["netTotal"])
        })?;
        let waits = shop.company.balance("1350", "");
        ensure(waits == "0.00", || format!("{waits} waits still"))?;
        let failed = shop.company.failed_checks();
        ensure(failed.is_empty(), || format!("{failed:?}"))
    });
}

#[test]
fn thirds_and_sevenths_in_any_order_are_the_whole_on_sqlite() {
    if let Some(server) = Server::shared(Engine::Sqlite) {
        in_parts(server);
        back_in_parts(server);
    }
}

#[test]
fn thirds_and_sevenths_in_any_order_are_the_whole_on_postgres() {
    if let Some(server) = Server::shared(Engine::Postgres) {
        in_parts(server);
        back_in_parts(server);
    }
}

impl Shop<'_> {
    fn changed(&self, resource: &str, record: &Value, change: impl FnOnce(&mut Value)) -> crate::harness::server::Said {
        let mut body = self.get(resource, record);
        change(&mut body);
        self.ask("PUT", resource, &format!("/{}", id(record)), Some(&body))
    }
}

on_both_engines! {
    fn a_note_of_goods_changes_as_far_as_what_was_made_of_it_allows(server) {
        in_both(server, &json!({}), |shop| {
            let (item, other, vat) = (shop.item(json!({"salePrice": 10})), shop.item(json!({"name": "Other"})), shop.vat("20"));
            shop.purchase("2026-01-05", json!([{"itemId": item, "quantity": 20, "unitPrice": 4}, {"itemId": other, "quantity": 20, "unitPrice": 4}]));
            let lines = json!([{"itemId": item, "quantity": 5, "unitPrice": 10, "taxCodeId": vat}]);
            let note = shop.make("deliveryNotes", &json!({"date": "2026-02-01", "partyId": shop.customer, "lines": lines}));
            let part = |date: &str, quantity: u32| json!({"date": date, "lines": [{"lineId": note["lines"][0]["id"], "quantity": quantity}]});
            let invoice = shop.act("POST", "deliveryNotes", &note, "invoices", Some(&part("2026-02-03", 2))).expect(201).data;
            let waits = |quantity: u32| {
                assert_eq!(shop.company.balance("1350", ""), format!("{}.00", 4 * quantity));
                shop.proves();
            };
            let to = |quantity: u32| shop.changed("deliveryNotes", &note, |body| body["lines"][0]["quantity"] = quantity.into());
            waits(3);
            to(7).expect(200);
            waits(5);
            to(2).expect(200);
            waits(0);
            assert_eq!((shop.stock(&item).0, shop.company.balance("5000", "")), ("18".into(), "8.00".into()));
            let refused = to(1).expect(409);
            assert_eq!((refused.code.as_deref(), refused.fields()), (Some("in_use"), vec!["lines".to_owned()]));
            to(5).expect(200);
            shop.act("POST", "deliveryNotes", &note, "returns", Some(&part("2026-02-04", 1))).expect(201);
            waits(2);
            assert_eq!(to(2).expect(409).code.as_deref(), Some("in_use"));
            to(3).expect(200);
            waits(0);
            // Its terms stay, and so does the note while something is made of it.
            let party = shop.company.party(json!({"name": "Else"}));
            for (field, member, value) in [
                ("partyId", None, party["id"].clone()), ("pricesIncludeTax", None, json!(true)),
                ("lines[0].taxCodeId", Some("taxCodeId"), Value::Null), ("lines", Some("itemId"), json!(other))
            ] {
                let refused = shop.changed("deliveryNotes", &note, |body| match member {
                    Some(member) => body["lines"][0][member] = value.clone(),
                    None => body[field] = value.clone(),
                }).expect(409);
                assert_eq!((refused.code.as_deref(), refused.fields()), (Some("in_use"), vec![field.to_owned()]));
            }
            assert_eq!(shop.act("POST", "deliveryNotes", &note, "void", None).expect(409).code.as_deref(), Some("in_use"));
            // What was made of it is as it was.
            assert_eq!(shop.get("salesInvoices", &invoice)["version"], invoice["version"]);
            shop.act("POST", "deliveryNotes", &note, "invoices", Some(&json!({"date": "2026-02-05"}))).expect(409);
        });
    }

    fn a_receipt_of_goods_changes_as_far_as_its_bills_allow(server) {
        in_both(server, &json!({}), |shop| {
            let item = shop.item(json!({"salePrice": 10}));
            let lines = json!([{"itemId": item, "quantity": 5, "unitCost": 4}]);
            let note = shop.make("receiptNotes", &json!({"date": "2026-02-01", "partyId": shop.supplier, "lines": lines}));
            let bill = json!([{"sourceLineId": note["lines"][0]["id"], "quantity": 2, "unitPrice": 5}]);
            shop.purchase("2026-02-03", bill);
            let to = |quantity: u32| shop.changed("receiptNotes", &note, |body| body["lines"][0]["quantity"] = quantity.into());
            let stands = |waits: &str, stock: (&str, &str)| {
                let (quantity, value) = shop.stock(&item);
                assert_eq!((shop.company.balance("2150", "").as_str(), quantity.as_str(), value.as_str()), (waits, stock.0, stock.1));
                shop.proves();
            };
            stands("12.00", ("5", "22.00"));
            to(3).expect(200);
            stands("4.00", ("3", "14.00"));
            assert_eq!(to(1).expect(409).code.as_deref(), Some("in_use"));
            to(2).expect(200);
            stands("0.00", ("2", "10.00"));
        });
    }

    fn an_order_keeps_the_terms_that_were_taken_of_it(server) {
        in_both(server, &json!({}), |shop| {
            let vat = shop.vat("20");
            let line = json!({"description": "Work", "quantity": 3, "unitPrice": 20, "taxCodeId": vat});
            let order = shop.make("salesOrders", &json!({"date": "2026-03-01", "partyId": shop.customer, "lines": [line]}));
            let change = |field: &str, value: Value| shop.changed("salesOrders", &order, |body| {
                if field == "currency" {
                    body["exchangeRate"] = if value == "USD" { "0.9".into() } else { Value::Null };
                }
                if field == "taxCodeId" { body["lines"][0][field] = value } else { body[field] = value }
            });
            change("currency", json!("USD")).expect(200);
            change("currency", json!("EUR")).expect(200);
            let part = json!({"date": "2026-03-10", "lines": [{"lineId": order["lines"][0]["id"], "quantity": 1}]});
            shop.act("POST", "salesOrders", &order, "invoices", Some(&part)).expect(201);
            for (member, field, value) in [
                ("currency", "currency", json!("USD")), ("pricesIncludeTax", "pricesIncludeTax", json!(true)),
                ("taxCodeId", "lines[0].taxCodeId", Value::Null)
            ] {
                let refused = change(member, value).expect(409);
                assert_eq!((refused.code.as_deref(), refused.fields()), (Some("in_use"), vec![field.to_owned()]));
            }
            change("notes", json!("Soon")).expect(200);
        });
    }

    fn what_is_no_share_has_the_rates_of_its_invoice_as_well(server) {
        in_both(server, &json!({"allowOvercredit": true}), |shop| {
            let dated = |code: &str| shop.tax(code, json!([{"name": "VAT", "rate": 19, "rates": [{"validFrom": "2026-07-01", "rate": 16}]}]));
            let (code, other) = (dated("V19"), dated("W19"));
            let invoice = shop.make("salesInvoices", &json!({
                "date": "2026-07-05", "taxDate": "2026-06-20", "partyId": shop.customer,
                "lines": [{"description": "Work", "unitPrice": 100, "taxCodeId": code}]
            }));
            assert_eq!(invoice["total"].to_string(), "119.00");
            // Of a code that the invoice does not have, more than there was, and a fee that is taken off.
            let credit = |lines: Value| shop.make("creditNotes", &json!({"date": "2026-07-15", "salesInvoiceId": id(&invoice), "lines": lines}));
            for (lines, wanted) in [
                (json!([{"description": "Sorry", "unitPrice": 10, "taxCodeId": other}]), vec!["1.90"]),
                (json!([{"description": "Sorry", "unitPrice": 200, "taxCodeId": code}]), vec!["38.00"]),
                (json!([{"sourceLineId": invoice["lines"][0]["id"]}, {"description": "Fee", "unitPrice": -2, "taxCodeId": code}]), vec!["19.00", "-0.38"]),
            ] {
                let credit = credit(lines);
                let taxes: Vec<String> = credit["lines"].as_array().unwrap().iter().map(|line| line["taxAmount"].to_string()).collect();
                assert_eq!(taxes, wanted);
                assert!(credit["lines"].as_array().unwrap().iter().all(|line| cents(&line["taxes"][0]["rate"]) == 1_900));
            }
        });
    }
}
