//! Orders and goods: what is promised, what moves before it is invoiced, and that each step leaves the books right.

use crate::harness::server::DIALECTS;
use crate::harness::shop::{Shop, id};
use crate::harness::{Dialect, on_both_engines};
use serde_json::{Value, json};

/// Each of these fields as it is written.
fn figures(record: &Value, fields: &[&str]) -> String {
    fields.iter().map(|field| record[*field].to_string()).collect::<Vec<_>>().join(" ")
}

fn line(record: &Value, place: usize, fields: &[&str]) -> String {
    figures(&record["lines"][place], fields)
}

const ORDER: &[&str] =
    &["fulfilledQuantity", "invoicedQuantity", "returnedQuantity", "cancelledQuantity", "openQuantity"];
const NOTE: &[&str] = &["invoicedQuantity", "returnedQuantity", "openQuantity"];

impl Shop<'_> {
    /// The balance of an account, as it is written.
    fn balance(&self, code: &str) -> String {
        let found = self.ask("GET", "accounts", &format!("?code={code}"), None).expect(200).data;
        found["items"][0]["balance"].to_string()
    }

    /// Goods in stock: so many at so much.
    fn stocked(&self, quantity: u32, cost: &str) -> String {
        let item = self.item(json!({"salePrice": 10, "purchasePrice": 8}));
        if quantity > 0 {
            self.purchase("2026-01-05", json!([{"itemId": item, "quantity": quantity, "unitPrice": cost}]));
        }
        item
    }

    fn order(&self, date: &str, lines: Value) -> Value {
        self.make("salesOrders", &json!({"date": date, "partyId": self.customer, "lines": lines}))
    }

    fn order_in(&self, date: &str, lines: Value) -> Value {
        self.make("purchaseOrders", &json!({"date": date, "partyId": self.supplier, "lines": lines}))
    }

    /// The next document of one.
    fn next(&self, resource: &str, record: &Value, step: &str, body: Value) -> Value {
        self.act("POST", resource, record, step, Some(&body)).expect(201).data
    }

    /// So many of the first line.
    fn part(record: &Value, date: &str, quantity: u32) -> Value {
        json!({"date": date, "lines": [{"lineId": record["lines"][0]["id"], "quantity": quantity}]})
    }
}

on_both_engines! {
    fn e15_a_delivery_waits_for_its_invoice(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let (item, vat) = (shop.stocked(5, "6"), shop.vat("20"));
            let order = shop.order("2026-02-01", json!([{"itemId": item, "quantity": 5, "taxCodeId": vat}]));
            assert_eq!((figures(&order, &["status", "fulfilmentStatus", "invoiceStatus"])), r#""open" "none" "none""#);
            assert_eq!((&order["number"], line(&order, 0, ORDER)), (&json!("SO-2026-0001"), "0 0 0 0 5".into()));
            assert_eq!(shop.company.entries_of(id(&order)), Vec::<Value>::new());
            let note = shop.next("salesOrders", &order, "delivery-notes", json!({"date": "2026-02-02"}));
            assert_eq!(shop.posted(&note), ["1300 -30.00", "1350 30.00"]);
            assert_eq!(figures(&note, &["status", "costTotal", "invoiceStatus", "kind"]), r#""posted" 30.00 "none" "delivery""#);
            assert_eq!((shop.balance("1350"), line(&note, 0, NOTE)), ("30.00".into(), "0 0 5".into()));
            shop.proves();
            let invoice = shop.next("deliveryNotes", &note, "invoices", json!({"date": "2026-02-03"}));
            assert_eq!(shop.posted(&invoice), ["1200 60.00", "1350 -30.00", "2200 -10.00", "4000 -50.00", "5000 30.00"]);
            assert_eq!((&invoice["salesOrderId"], &invoice["deliveryNoteIds"]), (&Value::Null, &json!([note["id"]])));
            assert_eq!(shop.balance("1350"), "0.00");
            let (order, note) = (shop.get("salesOrders", &order), shop.get("deliveryNotes", &note));
            assert_eq!(figures(&order, &["status", "fulfilmentStatus", "invoiceStatus"]), r#""closed" "full" "full""#);
            assert_eq!((line(&order, 0, ORDER), line(&note, 0, NOTE)), ("5 5 0 0 0".into(), "5 0 0".into()));
            assert_eq!(figures(&note, &["status", "invoiceStatus"]), r#""invoiced" "full""#);
            // Links on every end, also straight after the document was made.
            let link = |r#type: &str, of: &Value, relation: &str| {
                json!({"type": r#type, "id": of["id"], "number": of["number"], "relation": relation})
            };
            assert_eq!(order["links"], json!([link("deliveryNote", &note, "fulfilledBy")]));
            assert_eq!(note["links"], json!([link("salesOrder", &order, "fulfils"), link("salesInvoice", &invoice, "billedBy")]));
            assert_eq!(invoice["links"], json!([link("deliveryNote", &note, "bills")]));
            assert_eq!(shop.get("salesInvoices", &invoice), invoice);
            shop.proves();
        }
    }

    fn e14_a_bill_makes_dearer_what_is_there_and_what_was_sold(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let (item, vat) = (shop.stocked(0, "0"), shop.vat("20"));
            let order = shop.order_in("2026-02-01", json!([{"itemId": item, "quantity": 10, "taxCodeId": vat}]));
            let note = shop.next("purchaseOrders", &order, "receipt-notes", json!({"date": "2026-02-02"}));
            assert_eq!(shop.posted(&note), ["1300 80.00", "2150 -80.00"]);
            assert_eq!(line(&note, 0, &["unitCost", "quantity", "rejectedQuantity"]), "8 10 0");
            assert_eq!(figures(&note, &["status", "grniTotal", "billStatus"]), r#""posted" 80.00 "none""#);
            let sold = shop.sale("2026-02-03", json!([{"itemId": item, "quantity": 4}]));
            assert_eq!(line(&sold, 0, &["costAmount"]), "32.00");
            let body = json!({"date": "2026-02-04", "partyId": shop.supplier, "receiptNoteIds": [note["id"]], "lines": [
                {"itemId": item, "quantity": 10, "unitPrice": "8.5", "taxCodeId": vat}
            ]});
            let bill = shop.make("purchaseInvoices", &body);
            assert_eq!(shop.posted(&bill), ["1300 3.00", "1400 17.00", "2100 -102.00", "2150 80.00", "5000 2.00"]);
            assert_eq!(bill["lines"][0]["sourceLineId"], note["lines"][0]["id"], "a line follows the note's line of its item");
            assert_eq!((shop.stock(&item), shop.balance("2150")), (("6".into(), "51.00".into()), "0.00".into()));
            assert_eq!(figures(&shop.get("receiptNotes", &note), &["status", "grniTotal"]), r#""billed" 0.00"#);
            assert_eq!(line(&shop.get("salesInvoices", &sold), 0, &["costAmount"]), "34.00");
            shop.proves();
            // Taken back, everything is as it was.
            shop.void("purchaseInvoices", &bill);
            assert_eq!((shop.stock(&item), shop.balance("2150")), (("6".into(), "48.00".into()), "80.00".into()));
            assert_eq!(line(&shop.get("salesInvoices", &sold), 0, &["costAmount"]), "32.00");
            assert_eq!(line(&shop.get("purchaseOrders", &order), 0, ORDER), "10 0 0 0 0");
            shop.proves();
        }
    }

    fn a_partial_delivery_is_invoiced_twice_and_a_void_lets_go(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            // Three for 10.00 cannot be split without a cent that is over.
            let item = shop.item(json!({"salePrice": 10}));
            let lines = json!([{"itemId": item, "quantity": 3, "unitPrice": "3.333333"}]);
            shop.purchase("2026-01-05", lines);
            let order = shop.order("2026-02-01", json!([{"itemId": item, "quantity": 5}]));
            let note = shop.next("salesOrders", &order, "delivery-notes", Shop::part(&order, "2026-02-02", 3));
            assert_eq!(shop.balance("1350"), "10.00");
            let first = shop.next("deliveryNotes", &note, "invoices", Shop::part(&note, "2026-02-03", 1));
            assert_eq!((shop.balance("1350"), shop.balance("5000")), ("6.67".into(), "3.33".into()));
            assert_eq!(figures(&shop.get("deliveryNotes", &note), &["status", "invoiceStatus"]), r#""partiallyInvoiced" "partial""#);
            shop.proves();
            let second = shop.next("deliveryNotes", &note, "invoices", json!({"date": "2026-02-04"}));
            assert_eq!(line(&second, 0, &["quantity", "netAmount"]), "2 20.00");
            assert_eq!((shop.balance("1350"), shop.balance("5000")), ("0.00".into(), "10.00".into()));
            let seen = shop.get("salesOrders", &order);
            assert_eq!((line(&seen, 0, ORDER), &seen["status"]), ("3 3 0 0 2".into(), &json!("partiallyFulfilled")));
            shop.proves();
            // The middle of the chain stays while something follows it.
            assert_eq!(shop.act("POST", "deliveryNotes", &note, "void", None).expect(409).code.unwrap(), "in_use");
            assert_eq!(shop.act("POST", "salesOrders", &order, "cancel", None).expect(409).code.unwrap(), "in_use");
            shop.void("salesInvoices", &first);
            assert_eq!((shop.balance("1350"), shop.balance("5000")), ("3.33".into(), "6.67".into()));
            let (seen, open) = (shop.get("salesOrders", &order), shop.get("deliveryNotes", &note));
            assert_eq!((line(&seen, 0, ORDER), line(&open, 0, NOTE)), ("3 2 0 0 2".into(), "2 0 1".into()));
            shop.proves();
            shop.void("salesInvoices", &second);
            shop.void("deliveryNotes", &note);
            let seen = shop.get("salesOrders", &order);
            assert_eq!((line(&seen, 0, ORDER), &seen["status"], &seen["links"]), ("0 0 0 0 5".into(), &json!("open"), &json!([])));
            assert_eq!((shop.stock(&item), shop.balance("1350")), (("3".into(), "10.00".into()), "0.00".into()));
            let cancelled = shop.act("POST", "salesOrders", &order, "cancel", None).expect(200).data;
            assert_eq!(figures(&cancelled, &["status", "number"]), r#""cancelled" "SO-2026-0001""#);
            shop.proves();
        }
    }

    fn goods_that_come_back_before_the_invoice_are_not_invoiced(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let item = shop.stocked(10, "6");
            let order = shop.order("2026-02-01", json!([{"itemId": item, "quantity": 10}]));
            let note = shop.next("salesOrders", &order, "delivery-notes", json!({"date": "2026-02-02"}));
            let back = shop.next("deliveryNotes", &note, "returns", Shop::part(&note, "2026-02-03", 2));
            assert_eq!(shop.posted(&back), ["1300 12.00", "1350 -12.00"]);
            assert_eq!(figures(&back, &["kind", "status"]), r#""return" "posted""#);
            assert_eq!(line(&back, 0, NOTE), "0 0 0", "what nobody invoiced is not credited");
            assert_eq!((shop.balance("1350"), shop.stock(&item).0), ("48.00".into(), "2".into()));
            assert_eq!(shop.act("POST", "deliveryNotes", &back, "credit-notes", None).expect(409).code.unwrap(), "over_fulfilment");
            shop.proves();
            let invoice = shop.next("deliveryNotes", &note, "invoices", json!({"date": "2026-02-04"}));
            assert_eq!(line(&invoice, 0, &["quantity"]), "8");
            assert_eq!((shop.balance("1350"), shop.balance("5000")), ("0.00".into(), "48.00".into()));
            let order = shop.get("salesOrders", &order);
            assert_eq!((line(&order, 0, ORDER), &order["status"]), ("10 8 2 0 0".into(), &json!("closed")));
            assert_eq!(shop.act("POST", "deliveryNotes", &back, "void", None).expect(200).data["status"], "void");
            // What came back is with the customer again, and can be invoiced.
            assert_eq!((shop.balance("1350"), line(&shop.get("deliveryNotes", &note), 0, NOTE)), ("12.00".into(), "8 0 2".into()));
            shop.proves();
        }
    }

    fn goods_that_come_back_after_the_invoice_wait_for_their_credit(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let (item, vat) = (shop.stocked(10, "6"), shop.vat("20"));
            let order = shop.order("2026-02-01", json!([{"itemId": item, "quantity": 10, "unitPrice": 12, "discountPercent": 25, "taxCodeId": vat}]));
            let note = shop.next("salesOrders", &order, "delivery-notes", json!({"date": "2026-02-02"}));
            let invoice = shop.next("deliveryNotes", &note, "invoices", json!({"date": "2026-02-03"}));
            assert_eq!(figures(&invoice, &["netTotal", "total"]), "90.00 108.00");
            let back = shop.next("deliveryNotes", &note, "returns", Shop::part(&note, "2026-02-04", 2));
            assert_eq!(shop.posted(&back), ["1300 12.00", "1350 -12.00"]);
            assert_eq!((shop.balance("1350"), line(&back, 0, NOTE)), ("-12.00".into(), "0 0 2".into()));
            shop.proves();
            let credit = shop.next("deliveryNotes", &back, "credit-notes", json!({"date": "2026-02-05"}));
            assert_eq!(shop.posted(&credit), ["1200 -21.60", "1350 12.00", "2200 3.60", "4000 18.00", "5000 -12.00"]);
            assert_eq!((shop.balance("1350"), shop.balance("5000"), shop.stock(&item)), ("0.00".into(), "48.00".into(), ("2".into(), "12.00".into())));
            let order = shop.get("salesOrders", &order);
            assert_eq!(line(&order, 0, ORDER), "10 8 2 0 0");
            assert_eq!(figures(&shop.get("deliveryNotes", &back), &["status", "invoiceStatus"]), r#""invoiced" "full""#);
            shop.proves();
            // What the credit rests on stays while it is there.
            assert_eq!(shop.act("POST", "salesInvoices", &invoice, "void", None).expect(409).code.unwrap(), "in_use");
            assert_eq!(shop.act("POST", "deliveryNotes", &back, "void", None).expect(409).code.unwrap(), "in_use");
            let again = shop.act("POST", "deliveryNotes", &back, "credit-notes", None).expect(409);
            assert_eq!((again.code.clone().unwrap(), again.fields()), ("over_fulfilment".into(), vec!["lines".to_owned()]));
            shop.void("creditNotes", &credit);
            shop.void("deliveryNotes", &back);
            assert_eq!((shop.balance("1350"), shop.balance("5000")), ("0.00".into(), "60.00".into()));
            shop.void("salesInvoices", &invoice);
            assert_eq!(shop.balance("1350"), "60.00");
            shop.proves();
        }
    }

    fn goods_go_back_to_the_supplier_at_what_they_cost(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let item = shop.stocked(10, "5");
            let order = shop.order_in("2026-02-01", json!([{"itemId": item, "quantity": 10, "unitPrice": 7}]));
            let note = shop.next("purchaseOrders", &order, "receipt-notes", json!({"date": "2026-02-02"}));
            assert_eq!(shop.stock(&item), ("20".into(), "120.00".into()));
            // Not at the average of 6.00: what is left is what it cost.
            let back = shop.next("receiptNotes", &note, "returns", Shop::part(&note, "2026-02-03", 5));
            assert_eq!(shop.posted(&back), ["1300 -35.00", "2150 35.00"]);
            assert_eq!((shop.stock(&item), shop.balance("2150")), (("15".into(), "85.00".into()), "35.00".into()));
            shop.proves();
            // Billed dearer, two of the rest go back: they go at what was billed, and are debited at that.
            let body = json!({"date": "2026-02-04", "partyId": shop.supplier, "purchaseOrderId": order["id"], "lines": [
                {"sourceLineId": note["lines"][0]["id"], "unitPrice": "7.5"}
            ]});
            let bill = shop.make("purchaseInvoices", &body);
            assert_eq!((line(&bill, 0, &["quantity"]), shop.stock(&item).1), ("5".into(), "87.50".into()));
            assert_eq!(shop.posted(&bill), ["1300 2.50", "2100 -37.50", "2150 35.00"]);
            let more = shop.next("receiptNotes", &note, "returns", Shop::part(&note, "2026-02-05", 2));
            assert_eq!(shop.posted(&more), ["1300 -15.00", "2150 15.00"]);
            assert_eq!(shop.get("receiptNotes", &more)["grniTotal"].to_string(), "0.00");
            shop.proves();
            let debit = shop.next("receiptNotes", &more, "debit-notes", json!({"date": "2026-02-06"}));
            assert_eq!(shop.posted(&debit), ["2100 15.00", "2150 -15.00"]);
            assert_eq!((shop.stock(&item), shop.balance("2150")), (("13".into(), "72.50".into()), "0.00".into()));
            assert_eq!(line(&shop.get("purchaseOrders", &order), 0, ORDER), "10 3 7 0 0");
            shop.proves();
        }
    }

    fn a_receipt_abroad_is_billed_at_another_rate(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let item = shop.stocked(0, "0");
            let body = json!({"date": "2026-02-01", "partyId": shop.supplier, "currency": "USD", "exchangeRate": "0.9", "lines": [
                {"itemId": item, "quantity": 10, "unitPrice": 10}
            ]});
            let order = shop.make("purchaseOrders", &body);
            let note = shop.next("purchaseOrders", &order, "receipt-notes", json!({"date": "2026-02-02"}));
            assert_eq!(shop.posted(&note), ["1300 90.00", "2150 -90.00"]);
            shop.make("exchangeRates", &json!({"currency": "USD", "date": "2026-02-03", "rate": "0.95"}));
            let bill = shop.next("receiptNotes", &note, "invoices", json!({"date": "2026-02-03"}));
            // What waits is owed in money: another rate is a difference of exchange, and no other cost.
            assert_eq!(shop.posted(&bill), ["2100 -95.00", "2150 90.00", "4900 5.00"]);
            assert_eq!(figures(&bill, &["total", "exchangeRate"]), "100.00 0.95");
            assert_eq!(shop.stock(&item), ("10".into(), "90.00".into()));
            shop.proves();
        }
    }

    fn goods_come_with_the_tax_that_their_order_says(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let (own, other) = (shop.vat("19"), shop.vat("7"));
            let item = shop.item(json!({"purchaseTaxCodeId": own}));
            let of = |tax: Option<Value>| {
                let mut line = json!({"itemId": item, "quantity": 10, "unitPrice": 10});
                line.as_object_mut().unwrap().extend(tax.map(|tax| ("taxCodeId".to_owned(), tax)));
                line
            };
            let lines = json!([of(Some(json!(other))), of(Some(Value::Null)), of(None)]);
            let order = shop.make("purchaseOrders", &json!({"date": "2026-02-01", "partyId": shop.supplier, "lines": lines}));
            let told = |document: &Value| -> Vec<(Value, String)> {
                let lines = document["lines"].as_array().unwrap().iter();
                lines.map(|line| (line["taxCodeId"].clone(), line["taxAmount"].to_string())).collect()
            };
            let expected = [(json!(other), "7.00"), (Value::Null, "0.00"), (json!(own), "19.00")].map(|(tax, amount)| (tax, amount.to_owned()));
            assert_eq!(told(&order), expected);
            let note = shop.next("purchaseOrders", &order, "receipt-notes", json!({"date": "2026-02-02"}));
            assert_eq!((told(&note), &note["total"]), (expected.to_vec(), &order["total"]));
            let back = shop.next("receiptNotes", &note, "returns", Shop::part(&note, "2026-02-03", 10));
            assert_eq!(told(&back), expected[..1]);
            let bill = shop.next("receiptNotes", &note, "invoices", json!({"date": "2026-02-04"}));
            assert_eq!(told(&bill), expected[1..]);
            shop.proves();
        }
    }

    fn an_order_is_invoiced_directly_with_its_goods(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let item = shop.stocked(10, "6");
            let lines = json!([{"itemId": item, "quantity": 6}, {"description": "Carriage", "unitPrice": "4.9"}]);
            let order = shop.order("2026-02-01", lines);
            let note = shop.next("salesOrders", &order, "delivery-notes", Shop::part(&order, "2026-02-02", 2));
            assert_eq!(note["lines"].as_array().unwrap().len(), 1, "carriage is not delivered");
            // The invoice takes what was delivered first, then what is left, and the carriage.
            let invoice = shop.next("salesOrders", &order, "invoices", json!({"date": "2026-02-03"}));
            let quantities: Vec<String> = (0..3).map(|place| line(&invoice, place, &["quantity", "netAmount", "costAmount"])).collect();
            assert_eq!(quantities, ["2 20.00 null", "4 40.00 24.00", "1 4.90 null"]);
            assert_eq!(shop.posted(&invoice), ["1200 64.90", "1300 -24.00", "1350 -12.00", "4000 -64.90", "5000 36.00"]);
            let order = shop.get("salesOrders", &order);
            assert_eq!((line(&order, 0, ORDER), line(&order, 1, ORDER)), ("6 6 0 0 0".into(), "1 1 0 0 0".into()));
            assert_eq!((&order["status"], &order["links"].as_array().unwrap().len()), (&json!("closed"), &2));
            assert_eq!(shop.act("POST", "salesOrders", &order, "invoices", None).expect(409).code.unwrap(), "over_fulfilment");
            shop.proves();
        }
    }

    fn not_more_is_delivered_than_was_ordered_and_allowed(server) {
        for (dialect, settings) in DIALECTS.into_iter().zip([json!({}), json!({"overDeliveryPercent": 10})]) {
            let allows = settings["overDeliveryPercent"].is_number();
            let shop = Shop::with(server, dialect, settings);
            let item = shop.stocked(50, "6");
            let order = shop.order("2026-02-01", json!([{"itemId": item, "quantity": 10}]));
            let refused = shop.act("POST", "salesOrders", &order, "delivery-notes", Some(&Shop::part(&order, "2026-02-02", 12))).expect(409);
            assert_eq!((refused.code.clone().unwrap(), refused.fields()), ("over_fulfilment".into(), vec!["lines[0].quantity".to_owned()]));
            assert!(refused.answer.text.contains(if allows { "at most 11" } else { "at most 10" }), "{}", refused.answer.text);
            assert_eq!(shop.balance("1350"), "0.00");
            let beyond = shop.act("POST", "salesOrders", &order, "delivery-notes", Some(&Shop::part(&order, "2026-02-02", 11)));
            assert_eq!(beyond.status, if allows { 201 } else { 409 });
            if allows {
                let note = beyond.data;
                shop.next("deliveryNotes", &note, "invoices", json!({"date": "2026-02-03"}));
                let order = shop.get("salesOrders", &order);
                assert_eq!((line(&order, 0, ORDER), &order["status"]), ("11 11 0 0 0".into(), &json!("closed")));
            }
            shop.proves();
        }
    }

    fn what_is_promised_shows_on_the_item(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let item = shop.stocked(10, "6");
            let promised = || {
                let item = shop.ask("GET", "items", &format!("/{item}"), None).expect(200).data;
                figures(&item, &["quantityOnHand", "quantityCommitted", "quantityOnOrder", "quantityAvailable"])
            };
            let order = shop.order("2026-02-01", json!([{"itemId": item, "quantity": 12}]));
            let purchase = shop.order_in("2026-02-01", json!([{"itemId": item, "quantity": 20}]));
            assert_eq!(promised(), "10 12 20 -2");
            let draft = json!({"date": "2026-02-01", "status": "draft", "partyId": shop.customer, "lines": [{"itemId": item, "quantity": 5}]});
            shop.make("salesOrders", &draft);
            assert_eq!(promised(), "10 12 20 -2", "a draft promises nothing");
            shop.next("salesOrders", &order, "delivery-notes", Shop::part(&order, "2026-02-02", 4));
            shop.next("purchaseOrders", &purchase, "receipt-notes", Shop::part(&purchase, "2026-02-02", 5));
            assert_eq!(promised(), "11 8 15 3");
            let closed = shop.act("POST", "salesOrders", &order, "close", None).expect(200).data;
            assert_eq!((line(&closed, 0, ORDER), &closed["status"]), ("4 0 0 8 0".into(), &json!("closed")));
            assert_eq!(promised(), "11 0 15 11");
            shop.proves();
        }
    }

    fn an_order_is_closed_and_opened_by_action_and_by_status(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let item = shop.stocked(10, "6");
            let order = shop.order("2026-02-01", json!([{"itemId": item, "quantity": 10}]));
            let put = |order: &Value, status: &str| {
                let mut body = order.clone();
                body["status"] = status.into();
                shop.ask("PUT", "salesOrders", &format!("/{}", id(order)), Some(&body))
            };
            let closed = put(&order, "closed").expect(200).data;
            assert_eq!(figures(&closed, &["status", "version"]), r#""closed" 2"#);
            assert!(closed["allowedActions"].as_array().unwrap().contains(&json!("reopen")), "{closed}");
            // Sent back as it was read, nothing happens.
            assert_eq!(put(&closed, "closed").expect(200).data, closed);
            let refused = shop.act("POST", "salesOrders", &order, "delivery-notes", None).expect(409);
            assert_eq!(refused.code.clone().unwrap(), "invalid_state");
            let mut changed = closed.clone();
            changed["lines"][0]["quantity"] = 12.into();
            assert_eq!(shop.ask("PUT", "salesOrders", &format!("/{}", id(&order)), Some(&changed)).expect(409).code.unwrap(), "invalid_state");
            assert_eq!(shop.act("POST", "salesOrders", &order, "close", None).expect(409).code.unwrap(), "invalid_state");
            let open = shop.act("POST", "salesOrders", &order, "reopen", None).expect(200).data;
            assert_eq!((line(&open, 0, ORDER), &open["status"]), ("0 0 0 0 10".into(), &json!("open")));
            // An order in progress changes as far as what came of it allows.
            let note = shop.next("salesOrders", &order, "delivery-notes", Shop::part(&order, "2026-02-02", 4));
            let seen = shop.get("salesOrders", &order);
            let with = |quantity: u32| {
                let mut body = seen.clone();
                body["lines"][0]["quantity"] = quantity.into();
                body["lines"][0]["unitPrice"] = 9.into();
                shop.ask("PUT", "salesOrders", &format!("/{}", id(&order)), Some(&body))
            };
            let refused = with(3).expect(409);
            assert_eq!((refused.code.clone().unwrap(), refused.fields()), ("in_use".into(), vec!["lines".to_owned()]));
            let changed = with(6).expect(200).data;
            assert_eq!((line(&changed, 0, ORDER), &changed["total"].to_string()), ("4 0 0 0 2".into(), &"54.00".to_owned()));
            let other = shop.item(json!({"name": "Another"}));
            let mut body = changed.clone();
            body["lines"][0]["itemId"] = other.into();
            assert_eq!(shop.ask("PUT", "salesOrders", &format!("/{}", id(&order)), Some(&body)).expect(409).code.unwrap(), "in_use");
            // By itself it closes when all is delivered and invoiced, and it sends back what it was read as.
            shop.next("salesOrders", &order, "invoices", json!({"date": "2026-02-04"}));
            let done = shop.get("salesOrders", &order);
            assert_eq!(done["status"], "closed");
            assert_eq!(shop.ask("PUT", "salesOrders", &format!("/{}", id(&order)), Some(&done)).expect(200).data, done);
            assert_eq!(shop.ask("DELETE", "salesOrders", &format!("/{}", id(&order)), None).expect(409).code.unwrap(), "in_use");
            assert_eq!(shop.act("POST", "deliveryNotes", &note, "invoices", None).expect(409).code.unwrap(), "over_fulfilment");
            shop.proves();
        }
    }

    fn a_cost_at_delivery_waits_for_nothing(server) {
        for dialect in DIALECTS {
            let shop = Shop::with(server, dialect, json!({"cogsTiming": "delivery"}));
            let item = shop.stocked(10, "6");
            let body = json!({"date": "2026-02-02", "partyId": shop.customer, "lines": [{"itemId": item, "quantity": 5}]});
            let note = shop.make("deliveryNotes", &body);
            assert_eq!(shop.posted(&note), ["1300 -30.00", "5000 30.00"]);
            let back = shop.next("deliveryNotes", &note, "returns", Shop::part(&note, "2026-02-03", 1));
            assert_eq!(shop.posted(&back), ["1300 6.00", "5000 -6.00"]);
            let invoice = shop.next("deliveryNotes", &note, "invoices", json!({"date": "2026-02-04"}));
            assert_eq!(shop.posted(&invoice), ["1200 40.00", "4000 -40.00"]);
            shop.proves();
        }
    }

    fn a_cost_that_comes_late_goes_where_the_goods_are(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let item = shop.stocked(10, "6");
            let body = json!({"date": "2026-02-02", "partyId": shop.customer, "lines": [{"itemId": item, "quantity": 10}]});
            let note = shop.make("deliveryNotes", &body);
            shop.next("deliveryNotes", &note, "invoices", Shop::part(&note, "2026-02-03", 4));
            let back = shop.next("deliveryNotes", &note, "returns", Shop::part(&note, "2026-02-04", 1));
            assert_eq!((shop.balance("1350"), shop.balance("5000")), ("30.00".into(), "24.00".into()));
            // Ten more at 8.00 before all that: each of the ten that left cost 7.00 after all.
            let late = shop.purchase("2026-01-06", json!([{"itemId": item, "quantity": 10, "unitPrice": 8}]));
            assert_eq!((shop.balance("1350"), shop.balance("5000")), ("35.00".into(), "28.00".into()));
            assert_eq!(shop.stock(&item), ("11".into(), "77.00".into()));
            shop.proves();
            // The rest is invoiced at what it costs by now; taken back, all is as before.
            let rest = shop.next("deliveryNotes", &note, "invoices", json!({"date": "2026-02-05"}));
            assert_eq!((shop.balance("1350"), shop.balance("5000")), ("0.00".into(), "63.00".into()));
            shop.void("salesInvoices", &rest);
            shop.void("deliveryNotes", &back);
            assert_eq!((shop.balance("1350"), shop.balance("5000"), shop.stock(&item).1), ("42.00".into(), "28.00".into(), "70.00".into()));
            shop.void("purchaseInvoices", &late);
            assert_eq!((shop.balance("1350"), shop.balance("5000"), shop.stock(&item).1), ("36.00".into(), "24.00".into(), "0.00".into()));
            shop.proves();
        }
    }

    fn a_delivery_that_cost_more_since_is_taken_back_whole(server) {
        let shop = Shop::open(server, Dialect::A);
        let item = shop.stocked(10, "6");
        let body = json!({"date": "2026-02-02", "partyId": shop.customer, "lines": [{"itemId": item, "quantity": 3}]});
        let note = shop.make("deliveryNotes", &body);
        let invoice = shop.next("deliveryNotes", &note, "invoices", Shop::part(&note, "2026-02-03", 1));
        shop.purchase("2026-01-06", json!([{"itemId": item, "quantity": 10, "unitPrice": "8.01"}]));
        shop.void("salesInvoices", &invoice);
        shop.proves();
        shop.void("deliveryNotes", &note);
        assert_eq!((shop.balance("1350"), shop.balance("5000"), shop.stock(&item)), ("0.00".into(), "0.00".into(), ("20".into(), "140.10".into())));
        shop.proves();
    }

    fn one_invoice_bills_several_notes(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let item = shop.stocked(10, "6");
            let order = shop.order("2026-02-01", json!([{"itemId": item, "quantity": 10, "unitPrice": 11}]));
            let notes: Vec<Value> = [4, 6].map(|quantity| shop.next("salesOrders", &order, "delivery-notes", Shop::part(&order, "2026-02-02", quantity))).into();
            let lines: Vec<Value> = notes.iter().map(|note| json!({"sourceLineId": note["lines"][0]["id"]})).collect();
            let invoice = shop.make("salesInvoices", &json!({"date": "2026-02-03", "partyId": shop.customer, "lines": lines}));
            assert_eq!(invoice["deliveryNoteIds"], json!([notes[0]["id"], notes[1]["id"]]));
            assert_eq!(figures(&invoice, &["total"]), "110.00");
            // Edited to less, the rest waits again.
            let mut body = invoice.clone();
            body["lines"][1]["quantity"] = 5.into();
            let edited = shop.ask("PUT", "salesInvoices", &format!("/{}", id(&invoice)), Some(&body)).expect(200).data;
            assert_eq!((figures(&edited, &["total"]), shop.balance("1350")), ("99.00".into(), "6.00".into()));
            assert_eq!(line(&shop.get("deliveryNotes", &notes[1]), 0, NOTE), "5 0 1");
            body["lines"][1]["quantity"] = 7.into();
            let refused = shop.ask("PUT", "salesInvoices", &format!("/{}", id(&invoice)), Some(&body)).expect(409);
            assert_eq!((refused.code.clone().unwrap(), refused.fields()), ("over_fulfilment".into(), vec!["lines[1].quantity".to_owned()]));
            shop.proves();
        }
    }

    fn a_credit_of_the_invoice_brings_back_what_a_note_delivered(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let item = shop.stocked(10, "6");
            let order = shop.order("2026-02-01", json!([{"itemId": item, "quantity": 10}]));
            let note = shop.next("salesOrders", &order, "delivery-notes", json!({"date": "2026-02-02"}));
            // Dearer goods come in meanwhile; what comes back does so at what it left with.
            shop.purchase("2026-02-02", json!([{"itemId": item, "quantity": 10, "unitPrice": 9}]));
            let invoice = shop.next("deliveryNotes", &note, "invoices", json!({"date": "2026-02-03"}));
            let credit = json!({"date": "2026-02-04", "salesInvoiceId": invoice["id"], "lines": [
                {"sourceLineId": invoice["lines"][0]["id"], "quantity": 4}
            ]});
            let credit = shop.make("creditNotes", &credit);
            assert_eq!(shop.posted(&credit), ["1200 -40.00", "1300 24.00", "4000 40.00", "5000 -24.00"]);
            let (seen, of_note) = (shop.get("salesOrders", &order), shop.get("deliveryNotes", &note));
            assert_eq!((line(&seen, 0, ORDER), line(&of_note, 0, NOTE)), ("10 6 4 0 0".into(), "6 4 0".into()));
            shop.proves();
            // They cannot come back twice.
            let words = Shop::part(&note, "2026-02-05", 7);
            let refused = shop.act("POST", "deliveryNotes", &note, "returns", Some(&words)).expect(409);
            assert!(refused.answer.text.contains("at most 6"), "{}", refused.answer.text);
            // A cost that comes late is a cost of sales as far as it was sold.
            shop.purchase("2026-01-04", json!([{"itemId": item, "quantity": 10, "unitPrice": 8}]));
            assert_eq!((shop.balance("1350"), shop.balance("5000")), ("0.00".into(), "42.00".into()));
            shop.proves();
            shop.void("creditNotes", &credit);
            assert_eq!(line(&shop.get("deliveryNotes", &note), 0, NOTE), "10 0 0");
            shop.proves();
        }
    }

    fn discounts_of_the_whole_document_go_along_the_chain(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let (item, vat) = (shop.stocked(10, "6"), shop.vat("20"));
            let body = json!({"date": "2026-02-01", "partyId": shop.customer, "discountAmount": 20, "lines": [
                {"itemId": item, "quantity": 10, "taxCodeId": vat}
            ]});
            let order = shop.make("salesOrders", &body);
            assert_eq!(figures(&order, &["netTotal", "total"]), "80.00 96.00");
            let note = shop.next("salesOrders", &order, "delivery-notes", Shop::part(&order, "2026-02-02", 5));
            let invoice = shop.next("deliveryNotes", &note, "invoices", json!({"date": "2026-02-03"}));
            assert_eq!(figures(&invoice, &["netTotal", "total"]), "40.00 48.00");
            let back = shop.next("deliveryNotes", &note, "returns", Shop::part(&note, "2026-02-04", 1));
            let credit = shop.next("deliveryNotes", &back, "credit-notes", json!({"date": "2026-02-05"}));
            assert_eq!(figures(&credit, &["netTotal", "total"]), "8.00 9.60");
            // Prices with tax, and a discount: the note says what it costs without, and the bill is no other.
            let body = json!({"date": "2026-02-01", "partyId": shop.supplier, "pricesIncludeTax": true, "discountPercent": 10, "lines": [
                {"itemId": item, "quantity": 5, "unitPrice": 12, "taxCodeId": vat}
            ]});
            let order = shop.make("purchaseOrders", &body);
            let note = shop.next("purchaseOrders", &order, "receipt-notes", json!({"date": "2026-02-02"}));
            assert_eq!((line(&note, 0, &["unitCost"]), figures(&note, &["grniTotal"])), ("9".into(), "45.00".into()));
            let bill = shop.next("receiptNotes", &note, "invoices", json!({"date": "2026-02-03"}));
            assert_eq!(shop.posted(&bill), ["1400 9.00", "2100 -54.00", "2150 45.00"]);
            shop.proves();
        }
    }

    fn what_nobody_says_the_cost_of_costs_what_it_cost_last(server) {
        let shop = Shop::open(server, Dialect::B);
        let item = shop.item(json!({}));
        let body = json!({"date": "2026-02-01", "partyId": shop.supplier, "lines": [{"itemId": item, "quantity": 3}]});
        assert_eq!(shop.ask("POST", "receiptNotes", "", Some(&body)).expect(400).fields(), ["lines[0].unitCost"]);
        shop.purchase("2026-01-05", json!([{"itemId": item, "quantity": 4, "unitPrice": "7.25"}]));
        let note = shop.make("receiptNotes", &body);
        assert_eq!((line(&note, 0, &["unitCost"]), figures(&note, &["grniTotal"])), ("7.25".into(), "21.75".into()));
        shop.proves();
    }

    fn a_note_is_changed_and_a_copy_stands_by_itself(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let item = shop.stocked(10, "6");
            let order = shop.order("2026-02-01", json!([{"itemId": item, "quantity": 10}]));
            let note = shop.next("salesOrders", &order, "delivery-notes", Shop::part(&order, "2026-02-02", 4));
            let mut body = note.clone();
            (body["lines"][0]["quantity"], body["carrier"]) = (6.into(), "Post".into());
            let path = format!("/{}", id(&note));
            let changed = shop.ask("PUT", "deliveryNotes", &path, Some(&body)).expect(200).data;
            assert_eq!(figures(&changed, &["carrier", "costTotal", "version"]), r#""Post" 36.00 2"#);
            assert_eq!((line(&shop.get("salesOrders", &order), 0, ORDER), shop.balance("1350")), ("6 0 0 0 4".into(), "36.00".into()));
            shop.proves();
            let copy = shop.act("POST", "deliveryNotes", &note, "copy", None).expect(201).data;
            assert_eq!((&copy["lines"][0]["sourceLineId"], &copy["salesOrderId"]), (&Value::Null, &Value::Null));
            shop.act("POST", "deliveryNotes", &copy, "post", None).expect(409);
            let invoice = shop.next("deliveryNotes", &note, "invoices", Shop::part(&note, "2026-02-03", 1));
            assert_eq!(shop.ask("PUT", "deliveryNotes", &path, Some(&body)).expect(200).data["version"], 3);
            body["lines"][0]["quantity"] = "0.5".into();
            assert_eq!(shop.ask("PUT", "deliveryNotes", &path, Some(&body)).expect(409).code.unwrap(), "in_use");
            // Goods are closed with the stock, and an order is closed with nothing.
            shop.ask("POST", "locks", "", Some(&json!({"lockDate": "2026-02-28", "reason": "Filed"}))).expect(201);
            assert_eq!(shop.act("POST", "salesInvoices", &invoice, "void", Some(&json!({"date": "2026-02-10"}))).expect(409).code.unwrap(), "period_locked");
            let words = Shop::part(&order, "2026-02-20", 1);
            assert_eq!(shop.act("POST", "salesOrders", &order, "delivery-notes", Some(&words)).expect(409).code.unwrap(), "period_locked");
            shop.order("2026-02-20", json!([{"itemId": item, "quantity": 1}]));
            shop.act("POST", "salesOrders", &order, "close", None).expect(200);
            shop.proves();
        }
    }

    fn of_many_who_deliver_the_same_at_once_one_does(server) {
        let shop = Shop::open(server, Dialect::A);
        let item = shop.stocked(100, "6");
        let order = shop.order("2026-02-01", json!([{"itemId": item, "quantity": 10}]));
        let (company, order_id) = (&shop.company, id(&order));
        let statuses: Vec<u16> = std::thread::scope(|scope| {
            let asks: Vec<_> = (0..20)
                .map(|turn| {
                    scope.spawn(move || {
                        let (dialect, step) = (DIALECTS[turn % 2], if turn % 4 < 2 { "delivery-notes" } else { "invoices" });
                        let body = json!({"date": "2026-02-02"});
                        company.ask(dialect, "POST", "salesOrders", &format!("/{order_id}/{step}"), Some(&body)).status
                    })
                })
                .collect();
            asks.into_iter().map(|ask| ask.join().unwrap()).collect()
        });
        // A note may be followed by the one invoice of it.
        let made = statuses.iter().filter(|status| **status == 201).count();
        assert!((1..=2).contains(&made) && statuses.iter().all(|status| matches!(status, 201 | 409)), "{statuses:?}");
        let seen = shop.get("salesOrders", &order);
        assert_eq!((line(&seen, 0, &["fulfilledQuantity", "openQuantity"]), shop.stock(&item).0), ("10 0".into(), "90".into()));
        shop.proves();
    }

    fn what_cannot_be_followed_is_named(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let (item, other) = (shop.stocked(10, "6"), shop.item(json!({"name": "Another"})));
            let order = shop.order("2026-02-01", json!([{"itemId": item, "quantity": 10}]));
            let source = &order["lines"][0]["id"];
            let ask = |resource: &str, party: &str, line: Value| {
                let body = json!({"date": "2026-02-02", "partyId": party, "lines": [line]});
                shop.ask("POST", resource, "", Some(&body)).expect(400).fields()
            };
            assert_eq!(ask("salesOrders", &shop.customer, json!({"itemId": item, "sourceLineId": source})), ["lines[0].sourceLineId"]);
            assert_eq!(ask("deliveryNotes", &shop.customer, json!({"itemId": other, "sourceLineId": source})), ["lines[0].itemId"]);
            assert_eq!(ask("receiptNotes", &shop.supplier, json!({"sourceLineId": source})), ["lines[0].sourceLineId"]);
            assert_eq!(ask("deliveryNotes", &shop.customer, json!({"description": "Air", "unitPrice": 1})), ["lines[0].itemId"]);
            let stranger = shop.company.party(json!({"name": "Another"}))["id"].as_str().unwrap().to_owned();
            assert_eq!(ask("deliveryNotes", &stranger, json!({"sourceLineId": source})), ["partyId"]);
            let body = json!({"date": "2026-02-02", "partyId": shop.customer, "updateStock": false, "lines": [{"sourceLineId": source}]});
            assert_eq!(shop.ask("POST", "salesInvoices", "", Some(&body)).expect(400).fields(), ["lines[0].sourceLineId"]);
            let body = json!({"date": "2026-02-02", "lines": [{"itemId": item}]});
            assert_eq!(shop.ask("POST", "deliveryNotes", "", Some(&body)).expect(400).fields(), ["partyId"]);
            let words = json!({"lines": [{"lineId": "nothing", "quantity": 0}]});
            let refused = shop.act("POST", "salesOrders", &order, "delivery-notes", Some(&words)).expect(400);
            assert_eq!(refused.fields(), ["lines[0].lineId", "lines[0].quantity"]);
            let words = json!({"lines": [{"lineId": item}]});
            let refused = shop.act("POST", "salesOrders", &order, "delivery-notes", Some(&words)).expect(400);
            assert_eq!(refused.fields(), ["lines[0].lineId"]);
            // Nobody posts by hand to where goods wait.
            let waiting = shop.company.account("2150");
            let line = json!({"accountId": waiting, "unitPrice": 1});
            assert_eq!(ask("purchaseInvoices", &shop.supplier, line), ["lines[0].accountId"]);
            shop.proves();
        }
    }

    fn lists_find_orders_and_notes_by_how_far_they_are(server) {
        let shop = Shop::open(server, Dialect::B);
        let item = shop.stocked(50, "6");
        let orders: Vec<Value> = (0..4).map(|_| shop.order("2026-02-01", json!([{"itemId": item, "quantity": 10}]))).collect();
        shop.next("salesOrders", &orders[1], "delivery-notes", Shop::part(&orders[1], "2026-02-02", 4));
        let note = shop.next("salesOrders", &orders[2], "delivery-notes", json!({"date": "2026-02-02"}));
        shop.act("POST", "salesOrders", &orders[3], "close", None).expect(200);
        shop.next("deliveryNotes", &note, "returns", Shop::part(&note, "2026-02-02", 1));
        let found = |resource: &str, query: &str| {
            let list = shop.ask("GET", resource, query, None).expect(200).data;
            list["items"].as_array().unwrap().iter().map(|one| one["number"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        for (status, number) in [("open", 1), ("partiallyFulfilled", 2), ("fulfilled", 3), ("closed", 4)] {
            assert_eq!(found("salesOrders", &format!("?status={status}")), [format!("SO-2026-000{number}")], "{status}");
        }
        assert_eq!(found("salesOrders", "?status=open,closed&sort=number"), ["SO-2026-0001", "SO-2026-0004"]);
        assert_eq!(found("deliveryNotes", "?kind=return"), ["DEL-2026-0003"]);
        assert_eq!(found("deliveryNotes", "?kind=delivery&sort=number"), ["DEL-2026-0001", "DEL-2026-0002"]);
        assert_eq!(shop.ask("GET", "salesOrders", "?status=paid", None).expect(400).fields(), ["status"]);
    }
}
