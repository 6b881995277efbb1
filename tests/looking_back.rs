//! What was known: with `knownAt` a report says what it said then, whatever was written since. The figures are made by hand.

use crate::harness::on_both_engines;
use crate::harness::server::DIALECTS;
use crate::harness::shop::{Shop, id};
use serde_json::{Value, json};

impl Shop<'_> {
    /// A report whose checks hold.
    fn checked(&self, path: &str) -> Value {
        let request = self.company.request_at(self.dialect, "GET", &format!("reports/{path}"));
        let report = self.company.say(self.dialect, request).expect(200).data;
        assert!(report["checks"].as_array().unwrap().iter().all(|check| check["ok"] == true), "{path}: {report}");
        report
    }

    /// By when all that was written so far is known.
    fn by_now(&self) -> String {
        format!("&knownAt={}", self.checked("pl?from=2026-01-01&to=2026-01-31")["generatedAt"].as_str().unwrap())
    }

    /// What the rows of a report and those below them are called, each with one of its columns.
    fn rows_with(&self, path: &str, column: usize) -> Vec<String> {
        let report = self.checked(path);
        let rows = report["rows"].as_array().unwrap().iter();
        let all = rows.flat_map(|row| std::iter::once(row).chain(row["children"].as_array().into_iter().flatten()));
        let said = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        all.map(|row| format!("{}: {}", row["label"].as_str().unwrap(), said(&row["values"][column]))).collect()
    }

    fn somebody(&self, name: &str) -> String {
        let party = json!({"name": name, "isCustomer": true, "isSupplier": true});
        id(&self.company.party(party)).to_owned()
    }

    /// Writes a document anew, as it is but for some members.
    fn rewrite(&self, resource: &str, document: &Value, members: &[(&str, Value)]) -> Value {
        let mut body = self.get(resource, document);
        for (member, value) in members {
            body[*member] = value.clone();
        }
        self.ask("PUT", resource, &format!("/{}", id(document)), Some(&body)).expect(200).data
    }
}

/// The total of an ageing behind its five buckets.
const TOTAL: usize = 5;

on_both_engines! {
    /// A bill of 100 of one that became part of another; then 40 of it is paid, and it is dated anew, which writes it for the
    /// one that stays.
    fn who_was_merged_since_owed_by_themselves(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let (gone, stays) = (shop.somebody("Gone"), shop.somebody("Stays"));
            let told = |known: &str| {
                let of = |party: &str| {
                    let aged = shop.checked(&format!("ap-aging?asOf=2026-02-01&partyId={party}{known}"));
                    let path = format!("party-statement?partyId={party}&from=2026-01-01&to=2026-02-01{known}");
                    (aged["totals"]["total"].to_string(), shop.checked(&path)["totals"]["closing"].to_string())
                };
                (shop.rows_with(&format!("ap-aging-detail?asOf=2026-02-01{known}"), TOTAL), [of(&gone), of(&stays)])
            };
            let owed = |aged: &str, stated: &str| (aged.to_owned(), stated.to_owned());
            let nothing = (vec!["Total: 0.00".to_owned()], [owed("0.00", "0.00"), owed("0.00", "0.00")]);
            let before = shop.by_now();
            assert_eq!(told(""), nothing);
            let lines = json!([{"description": "Work", "quantity": 1, "unitPrice": "100"}]);
            let bill = json!({"date": "2026-01-06", "dueDate": "2026-01-16", "partyId": gone, "lines": lines});
            let bill = shop.make("purchaseInvoices", &bill);
            let called = |due: &str| format!("{}, due {due}", bill["number"].as_str().unwrap());
            let billed = (
                vec!["Gone: 100.00".to_owned(), format!("{}: 100.00", called("2026-01-16")), "Total: 100.00".to_owned()],
                [owed("100.00", "-100.00"), owed("0.00", "0.00")],
            );
            let then = shop.by_now();
            assert_eq!(told(""), billed);
            shop.act("POST", "parties", &json!({"id": gone}), "merge", Some(&json!({"intoPartyId": stays}))).expect(200);
            let mut payment = shop.payment("2026-01-15", "40");
            payment["partyId"] = json!(stays);
            payment["allocations"] = json!([{"targetId": id(&bill), "amount": 40}]);
            shop.make("payments", &payment);
            shop.rewrite("purchaseInvoices", &bill, &[
                ("date", json!("2025-12-03")), ("dueDate", json!("2025-12-13")), ("taxDate", Value::Null),
            ]);
            let now = (
                vec!["Stays: 60.00".to_owned(), format!("{}: 60.00", called("2025-12-13")), "Total: 60.00".to_owned()],
                [owed("60.00", "-60.00"), owed("60.00", "-60.00")],
            );
            assert_eq!([told(&before), told(&then), told("")], [nothing, billed, now]);
            shop.proves();
        }
    }

    /// Documents without a due day count from their own, which is moved to and fro.
    fn what_was_dated_anew_since_counts_from_the_day_that_was_known(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let aged = |known: &str| shop.rows_with(&format!("ar-aging-detail?asOf=2026-02-01{known}"), TOTAL);
            let [first, last] = ["2025-12-20", "2025-12-07"];
            let receipt = shop.make("receipts", &shop.receipt(first, "30"));
            let journal = shop.company.journal_body(first, &[("1200", "100"), ("4000", "-100")]);
            let mut lines = journal["lines"].clone();
            lines[0]["partyId"] = json!(shop.customer);
            let journal = shop.make("journals", &json!({"date": first, "lines": lines}));
            let number = |document: &Value| document["number"].as_str().unwrap().to_owned();
            let on = |day: &str| {
                [
                    "Customer: 70.00".to_owned(),
                    format!("{}, due {day}: 100.00", number(&journal)),
                    format!("{}, of {day}: -30.00", number(&receipt)),
                    "Total: 70.00".to_owned(),
                ]
            };
            let mut known = vec![(first, shop.by_now())];
            for day in ["2026-01-07", last] {
                shop.rewrite("receipts", &receipt, &[("date", json!(day))]);
                shop.rewrite("journals", &journal, &[("date", json!(day))]);
                known.push((day, shop.by_now()));
            }
            for (day, known) in &known {
                assert_eq!(aged(known), on(day), "{day}");
            }
            assert_eq!(aged(""), on(last));
            shop.proves();
        }
    }

    /// A journal owes by its lines: 100 that is due on the 10th, 50 on the 20th. Then it is made void, or the first is paid.
    fn each_line_of_a_journal_was_due_when_it_said(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let line = |amount: i64, due: &str| {
                json!({"accountId": shop.company.account("1200"), "partyId": shop.customer, "debit": amount, "dueDate": due})
            };
            let income = json!({"accountId": shop.company.account("4000"), "credit": 150});
            let lines = json!([line(100, "2026-01-10"), line(50, "2026-01-20"), income]);
            let journal = || {
                let journal = shop.make("journals", &json!({"date": "2026-01-05", "lines": lines}));
                let number = journal["number"].as_str().unwrap();
                let owed = [
                    "Customer: 150.00".to_owned(),
                    format!("{number}, due 2026-01-10: 100.00"),
                    format!("{number}, due 2026-01-20: 50.00"),
                    "Total: 150.00".to_owned(),
                ];
                (journal, owed)
            };
            let aged = |day: &str, known: &str| shop.rows_with(&format!("ar-aging-detail?asOf={day}{known}"), TOTAL);
            let (void, owed) = journal();
            let then = shop.by_now();
            // It owes until the day on which it is void.
            shop.act("POST", "journals", &void, "void", Some(&json!({"date": "2026-02-10"}))).expect(200);
            assert_eq!([aged("2026-02-01", ""), aged("2026-02-01", &then)], [owed.clone(), owed]);
            let (paid, owed) = journal();
            let then = shop.by_now();
            let mut receipt = shop.receipt("2026-02-11", "100");
            receipt["allocations"] = json!([{"targetId": id(&paid["lines"][0]), "amount": 100}]);
            shop.make("receipts", &receipt);
            assert_eq!(aged("2026-02-12", &then), owed);
            shop.proves();
        }
    }

    /// An invoice of 100 euros is written anew for 100 dollars, at 0.90.
    fn what_is_owed_in_dollars_since_was_owed_in_euros(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            shop.make("exchangeRates", &json!({"currency": "USD", "date": "2026-01-01", "rate": "0.9"}));
            let sale = shop.sale("2026-01-07", json!([{"description": "Work", "quantity": 1, "unitPrice": "100"}]));
            let then = shop.by_now();
            shop.rewrite("salesInvoices", &sale, &[("currency", json!("USD")), ("exchangeRate", Value::Null)]);
            let aged = |more: &str| {
                let report = shop.checked(&format!("ar-aging?asOf=2026-02-01{more}"));
                report["rows"][0]["values"].as_array().unwrap()[TOTAL..].iter().map(Value::to_string).collect::<Vec<_>>()
            };
            assert_eq!(aged(&then), ["100.00", "\"EUR\"", "100.00", "100.00"]);
            assert_eq!(aged(&format!("&currency=EUR{then}")), ["100.00", "\"EUR\"", "100.00", "100.00"]);
            assert_eq!(aged(""), ["90.00", "\"USD\"", "100.00", "90.00"]);
            shop.proves();
        }
    }

    /// Two pieces at 5.00 come from one and go to one, and are somebody else's later.
    fn goods_wait_with_whom_they_were_known_to_be(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let goods = shop.item(json!({}));
            shop.purchase("2026-01-01", json!([{"itemId": goods, "quantity": 10, "unitPrice": "5"}]));
            let (first, second) = (shop.somebody("First"), shop.somebody("Second"));
            for (resource, report, line) in [
                ("receiptNotes", "grni", json!({"itemId": goods, "quantity": 2, "unitCost": "5"})),
                ("deliveryNotes", "gdni", json!({"itemId": goods, "quantity": 2})),
            ] {
                let told = |known: &str| {
                    let of = |more: &str| shop.checked(&format!("{report}?asOf=2026-02-01{more}{known}"));
                    let only = |party: &str| of(&format!("&partyId={party}"))["totals"]["value"].to_string();
                    (of("")["rows"][0]["values"].to_string(), [only(&first), only(&second)])
                };
                let note = shop.make(resource, &json!({"date": "2026-01-06", "partyId": first, "lines": [line]}));
                let then = shop.by_now();
                let of_first = ("[\"First\",2,10.00]".to_owned(), ["10.00".to_owned(), "0.00".to_owned()]);
                assert_eq!(told(""), of_first, "{report}");
                shop.rewrite(resource, &note, &[("partyId", json!(second))]);
                let of_second = ("[\"Second\",2,10.00]".to_owned(), ["0.00".to_owned(), "10.00".to_owned()]);
                assert_eq!([told(&then), told("")], [of_first.clone(), of_second], "{report}");
                shop.void(resource, &note);
                assert_eq!(told(&then), of_first, "{report}");
            }
            shop.proves();
        }
    }

    /// An invoice of 100 in the middle of a month turns out to be somebody else's: by months, and by days.
    fn sales_were_of_whom_they_were_known_to_be(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let (first, second) = (shop.somebody("First"), shop.somebody("Second"));
            let lines = json!([{"description": "Work", "quantity": 1, "unitPrice": "100"}]);
            let sale = json!({"date": "2026-01-06", "partyId": first, "lines": lines});
            let sale = shop.make("salesInvoices", &sale);
            let then = shop.by_now();
            shop.rewrite("salesInvoices", &sale, &[("partyId", json!(second))]);
            for days in ["from=2026-01-01&to=2026-01-31", "from=2026-01-03&to=2026-01-20"] {
                let sold = |known: &str| shop.rows_with(&format!("sales-by-customer?{days}{known}"), 0);
                assert_eq!(sold(&then), ["First: 100.00", "Total: 100.00"], "{days}");
                assert_eq!(sold(""), ["Second: 100.00", "Total: 100.00"], "{days}");
            }
            // A line of income names nobody; it is of whom its invoice was.
            let account = shop.company.account("4000");
            let ledger = |known: &str| {
                let path = format!("general-ledger?from=2026-01-01&to=2026-01-31&accountId={account}{known}");
                shop.rows_with(&path, 1)[1..].to_vec()
            };
            let number = sale["number"].as_str().unwrap();
            assert_eq!(ledger(&then), [format!("{number}: First")]);
            assert_eq!(ledger(""), vec![format!("{number}: Second"); 3]);
            shop.proves();
        }
    }
}
