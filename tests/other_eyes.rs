//! What an accountant and an integrator found who had not built it: each finding stays mended. The figures are made by hand.

use crate::harness::server::{DIALECTS, Said};
use crate::harness::shop::{Shop, id};
use crate::harness::{Company, Dialect, Request, on_both_engines};
use serde_json::{Value, json};

impl Shop<'_> {
    pub fn report_of(&self, path: &str) -> Value {
        let request = self.company.request_at(self.dialect, "GET", &format!("reports/{path}"));
        self.company.say(self.dialect, request).expect(200).data
    }

    /// What a row of a report says, by its key; nothing where there is none.
    pub fn row_of(&self, path: &str, key: &str) -> String {
        let told = self.report_of(path);
        let rows = told["rows"].as_array().unwrap().iter();
        let mut all = rows.flat_map(|row| std::iter::once(row).chain(row["children"].as_array().into_iter().flatten()));
        all.find(|row| row["key"] == key).map(|row| row["values"].to_string()).unwrap_or_default()
    }

    fn of_line(&self, resource: &str, mut body: Value, line: Value) -> Said {
        body["lines"] = json!([line]);
        self.ask("POST", resource, "", Some(&body))
    }
}

on_both_engines! {
    /// The company counts from January; its books are kept by years that begin in April, and one that lasts eighteen months.
    fn accounts_of_income_begin_anew_with_the_years_that_are_kept(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let year = |name: &str, [start, end]: [&str; 2]| {
                shop.make("fiscalYears", &json!({"name": name, "start": start, "end": end}))
            };
            let first = year("25/26", ["2025-04-01", "2026-03-31"]);
            year("26/27", ["2026-04-01", "2027-09-30"]);
            shop.company.journal("2025-05-01", &[("1010", "100"), ("4000", "-100")]);
            shop.company.journal("2026-02-01", &[("1010", "50"), ("4000", "-50")]);
            shop.company.journal("2026-05-01", &[("1010", "7"), ("4000", "-7")]);
            let figures = || {
                let april = "trial-balance?from=2026-04-01&to=2026-04-30";
                // In the middle of a year: what the year earned so far stands where it was earned.
                let february = "trial-balance?from=2026-02-01&to=2026-02-28";
                let later = "trial-balance?from=2027-01-01&to=2027-01-31";
                let bs = "bs?asOf=2026-05-31";
                [
                    shop.row_of(april, "3200"), shop.row_of(april, "4000"),
                    shop.row_of(february, "4000"), shop.row_of(later, "4000"),
                    shop.row_of(bs, "earlierEarnings"), shop.row_of(bs, "currentEarnings"),
                ]
            };
            let nothing = String::new();
            let carried = "[0.00,150.00,0.00,0.00,0.00,150.00]".to_owned();
            let sold = "[0.00,100.00,0.00,50.00,0.00,150.00]".to_owned();
            let so_far = "[0.00,7.00,0.00,0.00,0.00,7.00]".to_owned();
            let open = [carried, nothing, sold, so_far, "[150.00]".into(), "[7.00]".into()];
            assert_eq!(figures(), open);
            assert_eq!(shop.report_of("pl?to=2026-05-31")["parameters"]["from"], "2026-04-01");
            let ledger = shop.report_of("general-ledger?from=2026-04-01&to=2026-05-31");
            assert!(ledger["totals"].is_object() && !ledger.to_string().contains("\"ok\":false"), "{ledger}");
            // A year that is kept does not end in its middle, where the company's own would.
            let mut closing = shop.company.journal_body("2026-12-31", &[("4000", "7"), ("3200", "-7")]);
            closing["kind"] = json!("closing");
            shop.ask("POST", "journals", "", Some(&closing)).expect(400);
            // To close a year changes no figure but where the earnings of before stand.
            shop.act("POST", "fiscalYears", &first, "close", None).expect(200);
            let mut closed = open;
            closed[4] = "[0.00]".into();
            assert_eq!(figures(), closed);
            // A copy begins with what the trial balance says.
            let copy = json!({"name": format!("Copy of {}", shop.company.id), "openingOn": "2026-05-31"});
            let copy = shop.ask("POST", "businesses", &format!("/{}/copy", shop.company.id), Some(&copy)).expect(201).data;
            let company = Company { id: id(&copy).to_owned(), ..shop.company.clone() };
            let copy = Shop { company, dialect, customer: String::new(), supplier: String::new() };
            let june = "trial-balance?from=2026-06-01&to=2026-06-30";
            assert_eq!(["1010", "3200", "4000"].map(|code| copy.row_of(june, code)), [
                "[157.00,0.00,0.00,0.00,157.00,0.00]", "[0.00,150.00,0.00,0.00,0.00,150.00]", "[0.00,7.00,0.00,0.00,0.00,7.00]",
            ]);
            shop.proves();
        }
    }

    fn what_is_divided_is_told_as_a_whole_and_months_stand_beside_months(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            for (date, amount) in [("2025-12-31", "9"), ("2026-01-02", "100"), ("2026-02-10", "20"), ("2026-03-31", "3")] {
                shop.company.journal(date, &[("1010", amount), ("4000", &format!("-{amount}"))]);
            }
            let profit = |query: &str| shop.report_of(&format!("pl?{query}"))["totals"]["netProfit"].to_string();
            for interval in ["month", "quarter", "year"] {
                assert_eq!(profit(&format!("from=2026-01-01&to=2026-03-31&groupBy={interval}")), "123.00");
            }
            // Of what stands side by side, the first that was asked for.
            assert_eq!(profit("from=2026-03-01&to=2026-03-31&periods=3"), "3.00");
            for (query, wanted, from) in [
                ("from=2026-02-01&to=2026-02-28", "[20.00,100.00]", "2026-01-01"),
                ("from=2026-03-01&to=2026-03-31", "[3.00,20.00]", "2026-02-01"),
                ("from=2026-01-01&to=2026-03-31", "[123.00,9.00]", "2025-10-01"),
                // Days that are no months: as many before them.
                ("from=2026-02-10&to=2026-02-28", "[20.00,0.00]", "2026-01-22"),
            ] {
                let told = shop.report_of(&format!("pl?{query}&compareWith=previousPeriod"));
                let last = told["rows"].as_array().unwrap().last().unwrap();
                assert_eq!((last["values"].to_string(), &told["columns"][1]["from"]), (wanted.into(), &json!(from)), "{query}");
            }
        }
    }

    /// 2.00 for each piece, beside 19 % or alone: a price with tax is the one without and both.
    fn a_price_of_an_item_has_the_tax_of_a_piece_in_it(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let fixed = json!({"name": "Levy", "rate": "2", "kind": "fixedPerUnit"});
            let alone = shop.tax("LEVY", json!([fixed]));
            let beside = shop.tax("BOTH", json!([{"name": "VAT", "rate": "19"}, fixed]));
            let on_it = shop.tax("UPON", json!([fixed, {"name": "VAT", "rate": "20", "isCompound": true}]));
            for (code, price, included, inclusive, wanted) in [
                (&alone, "102", true, false, ["100", "1020.00"]),
                (&alone, "100", false, true, ["102", "1020.00"]),
                (&beside, "121", true, false, ["100", "1210.00"]),
                (&beside, "100", false, true, ["121", "1210.00"]),
                (&on_it, "122.4", true, false, ["100", "1224.00"]),
                (&on_it, "100", false, true, ["122.4", "1224.00"]),
            ] {
                let item = shop.item(json!({
                    "type": "service", "salePrice": price, "priceIncludesTax": included, "salesTaxCodeId": code
                }));
                let sale = shop.make("salesInvoices", &json!({
                    "date": "2026-01-10", "partyId": shop.customer, "pricesIncludeTax": inclusive,
                    "lines": [{"itemId": item, "quantity": 10}]
                }));
                let told = [&sale["lines"][0]["unitPrice"], &sale["total"]].map(ToString::to_string);
                assert_eq!(told, wanted, "{price} {included} {inclusive}");
            }
            shop.proves();
        }
    }

    fn a_price_is_not_taken_over_into_another_currency(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            shop.make("exchangeRates", &json!({"currency": "USD", "date": "2026-01-01", "rate": "0.9"}));
            let goods = shop.item(json!({}));
            let bought = |currency: &str| json!({"date": "2026-01-05", "partyId": shop.supplier, "currency": currency});
            let order = shop.of_line("purchaseOrders", bought("USD"), json!({"itemId": goods, "quantity": 20, "unitPrice": 10}));
            let ordered = order.expect(201).data["lines"][0]["id"].clone();
            let of_order = json!({"sourceLineId": ordered, "quantity": 10});
            let refused = shop.of_line("receiptNotes", bought("EUR"), of_order.clone()).expect(400);
            assert_eq!(refused.fields(), ["currency"], "{}", refused.answer.text);
            let note = shop.of_line("receiptNotes", bought("USD"), of_order).expect(201).data;
            let of_note = json!({"sourceLineId": note["lines"][0]["id"], "quantity": 10});
            assert_eq!(shop.of_line("purchaseInvoices", bought("EUR"), of_note.clone()).expect(400).fields(), ["currency"]);
            let mut said = of_note;
            said["unitPrice"] = json!("9.2");
            let bill = shop.of_line("purchaseInvoices", bought("EUR"), said).expect(201).data;
            assert_eq!(bill["total"].to_string(), "92.00");
            // What goes back is credited at the prices of the bill, so in its currency.
            let back = json!({"date": "2026-01-14", "lines": [{"lineId": note["lines"][0]["id"], "quantity": 5}]});
            let back = shop.act("POST", "receiptNotes", &note, "returns", Some(&back)).expect(201).data;
            let credit = shop.act("POST", "receiptNotes", &back, "debit-notes", Some(&json!({"date": "2026-01-21"})));
            let credit = credit.expect(201).data;
            assert_eq!((credit["currency"].as_str(), credit["total"].to_string()), (Some("EUR"), "46.00".into()));
            // So is what is billed of goods that were ordered at a price, whatever they came in.
            let mut dear = json!({"sourceLineId": ordered, "quantity": 4});
            dear["unitCost"] = json!(8);
            let in_euros = shop.of_line("receiptNotes", bought("EUR"), dear).expect(201).data;
            let billed = shop.act("POST", "receiptNotes", &in_euros, "invoices", None).expect(201).data;
            assert_eq!((billed["currency"].as_str(), billed["total"].to_string()), (Some("USD"), "40.00".into()));
            let allocated = json!({"sourceId": id(&credit), "targetId": id(&bill), "amount": 46});
            shop.make("allocations", &allocated);
            shop.proves();
        }
    }

    fn an_action_without_a_body_is_told_nothing(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let draft = json!({"date": "2026-01-01", "status": "draft", "partyId": shop.customer, "lines": [{"unitPrice": 1}]});
            let draft = shop.make("salesInvoices", &draft);
            for (action, body) in [("post", json!({"date": "2026-01-30"})), ("copy", json!({"status": "posted"}))] {
                let refused = shop.act("POST", "salesInvoices", &draft, action, Some(&body)).expect(400);
                assert_eq!(refused.fields().len(), 1, "{}", refused.answer.text);
            }
            shop.act("POST", "salesInvoices", &draft, "copy", Some(&json!({}))).expect(201);
            shop.act("POST", "salesInvoices", &draft, "post", None).expect(200);
        }
    }

    /// What was done long ago is answered again, to however many ask at once.
    fn repeats_that_come_together_are_all_answered(server) {
        let company = server.company();
        let body = json!({"name": "Once", "isCustomer": true});
        for dialect in DIALECTS {
            let send = || {
                let request: Request = company.request(dialect, "POST", "parties", "").json(&body);
                company.say(dialect, request.header("Idempotency-Key", &format!("together {dialect:?} {}", company.id)))
            };
            let first = send().expect(201).data["id"].clone();
            std::thread::scope(|scope| {
                let all: Vec<_> = (0..20).map(|_| scope.spawn(|| (0..3).map(|_| send()).collect::<Vec<_>>())).collect();
                for said in all.into_iter().flat_map(|one| one.join().unwrap()) {
                    assert_eq!(said.expect(201).data["id"], first);
                }
            });
        }
        let named = company.ask(Dialect::B, "GET", "parties", "?q=Once", None).expect(200).data;
        assert_eq!(named["items"].as_array().unwrap().len(), 2);
    }
}
