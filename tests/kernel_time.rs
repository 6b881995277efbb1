//! Time: cash flow, opening, closing, merging, currencies. Figures by hand, from the steps beside them.

use crate::harness::server::DIALECTS;
use crate::harness::shop::{Shop, cents, id, shown_cents};
use crate::harness::{Dialect, on_both_engines};
use serde_json::{Value, json};

impl Shop<'_> {
    fn proven(&self, path: &str) -> Value {
        let request = self.company.request_at(self.dialect, "GET", &format!("reports{path}"));
        let report = self.company.say(self.dialect, request).expect(200).data;
        let checks = report["checks"].as_array().unwrap();
        assert!(checks.iter().all(|check| check["ok"] == true), "{path}: {report}");
        report
    }

    /// The totals of a report, in the order of their names.
    fn totals(&self, path: &str, names: &[&str]) -> Vec<String> {
        let report = self.proven(path);
        names.iter().map(|name| report["totals"][name].to_string()).collect()
    }

    /// The first figure of a row, wherever it stands.
    fn figure(report: &Value, key: &str) -> Option<String> {
        let rows = report["rows"].as_array().or_else(|| report["children"].as_array())?;
        rows.iter()
            .find_map(|row| if row["key"] == key { Some(row["values"][0].to_string()) } else { Self::figure(row, key) })
    }

    /// Operating, investing, financing and all of it, the same by both methods.
    fn flow(&self, days: &str) -> Vec<String> {
        let names = ["operating", "investing", "financing", "netChange"];
        let [direct, indirect] =
            ["direct", "indirect"].map(|method| self.totals(&format!("/cash-flow?{days}&method={method}"), &names));
        assert_eq!(direct, indirect, "{days}");
        direct
    }
}

on_both_engines! {

    /// A bill of a machine and of rent, each with tax, paid in two parts, the second one allocated a month late.
    fn what_settles_a_bill_stands_where_its_lines_do(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let vat = shop.vat("20");
            let line = |account: &str, price: u32| json!({"accountId": shop.company.account(account), "unitPrice": price, "taxCodeId": vat});
            let bill = shop.purchase("2026-01-10", json!([line("1600", 6000), line("6200", 1000)]));
            let pay = |date: &str, now: bool| {
                let mut payment = shop.payment(date, "4200");
                if now {
                    payment["allocations"] = json!([{"targetId": bill["id"], "amount": "4200"}]);
                }
                shop.make("payments", &payment)
            };
            pay("2026-01-20", true);
            let second = pay("2026-02-20", false);
            let months = |month: u32| format!("from=2026-{month:02}-01&to=2026-{month:02}-28");
            assert_eq!(shop.flow(&months(1)), ["-1200.00", "-3000.00", "0.00", "-4200.00"]);
            assert_eq!(shop.flow(&months(2)), ["-4200.00", "0.00", "0.00", "-4200.00"]);
            let settle = json!({"date": "2026-03-05", "targetId": bill["id"], "amount": "4200"});
            shop.act("POST", "payments", &second, "allocations", Some(&settle)).expect(201);
            assert_eq!(shop.flow(&months(2)), ["-4200.00", "0.00", "0.00", "-4200.00"]);
            assert_eq!(shop.flow(&months(3)), ["3000.00", "-3000.00", "0.00", "0.00"]);
            assert_eq!(shop.flow("from=2026-01-01&to=2026-03-31"), ["-2400.00", "-6000.00", "0.00", "-8400.00"]);
            shop.proves();
        }
    }

    /// What books begin with is no business of theirs; what lies between two years moves nothing.
    fn books_that_begin_and_years_that_close_bring_no_money(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let post = |date: &str, kind: &str, lines: &[(&str, &str)]| {
                let mut journal = shop.company.journal_body(date, lines);
                journal["kind"] = json!(kind);
                shop.make("journals", &journal);
            };
            post("2025-12-31", "opening", &[("1010", "500"), ("3000", "-500")]);
            assert_eq!(
                shop.totals("/cash-flow?from=2025-12-01&to=2025-12-31", &["operating", "financing", "takenOver", "closing"]),
                ["0.00", "0.00", "500.00", "500.00"]
            );
            shop.company.journal("2026-01-02", &[("1010", "1000"), ("4000", "-1000")]);
            shop.company.journal("2026-01-03", &[("6200", "300"), ("1010", "-300")]);
            post("2026-12-31", "closing", &[("4000", "1000"), ("6200", "-300"), ("3200", "-700")]);
            assert_eq!(shop.flow("from=2026-01-01&to=2026-12-31"), ["700.00", "0.00", "0.00", "700.00"]);
            let indirect = shop.proven("/cash-flow?from=2026-01-01&to=2026-12-31&method=indirect");
            assert_eq!(Shop::figure(&indirect, "netProfit").unwrap(), "700.00");
            shop.proves();
        }
    }

    /// Money in dollars that comes to be worth more was not received from anybody.
    fn money_that_is_worth_more_came_from_nobody(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let dollars = shop.make("accounts", &json!({"code": "1020", "name": "Dollars", "type": "bank", "currency": "USD"}));
            shop.make("exchangeRates", &json!({"currency": "USD", "date": "2026-01-01", "rate": 0.90}));
            shop.make("receipts", &json!({
                "date": "2026-01-05", "accountId": dollars["id"], "currency": "USD", "amount": 1000,
                "lines": [{"accountId": shop.company.account("4000"), "amount": 1000}]
            }));
            shop.make("revaluations", &json!({"date": "2026-01-31", "rates": [{"currency": "USD", "rate": 0.95}]}));
            assert_eq!(shop.flow("from=2026-01-01&to=2026-01-31"), ["900.00", "0.00", "0.00", "950.00"]);
            assert_eq!(shop.totals("/cash-flow?from=2026-01-01&to=2026-01-31", &["exchange"]), ["50.00"]);
            assert_eq!(shop.totals("/cash-flow?from=2026-02-01&to=2026-02-28", &["exchange", "operating"]), ["-50.00", "0.00"]);
        }
    }

    /// Closing a year changes no figure of it; what comes later into it needs it open.
    fn a_year_is_closed_by_an_entry_that_changes_no_report(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let year = |name: &str, days: [&str; 2]| {
                shop.make("fiscalYears", &json!({"name": name, "start": days[0], "end": days[1]}))
            };
            let (first, second) = (year("2026", ["2026-01-01", "2026-12-31"]), year("2027", ["2027-01-01", "2027-12-31"]));
            shop.company.journal("2026-03-01", &[("1010", "1000"), ("4000", "-1000")]);
            shop.company.journal("2026-04-01", &[("6200", "300"), ("1010", "-300")]);
            let of_year = "from=2026-01-01&to=2026-12-31";
            let reports = || {
                let figures = |path: &str| {
                    let report = shop.proven(path);
                    format!("{} {}", report["rows"], report["totals"])
                };
                ["pl", "trial-balance", "equity-changes", "cash-flow"]
                    .map(|name| figures(&format!("/{name}?{of_year}")))
                    .into_iter()
                    .chain([figures("/bs?asOf=2026-12-31")])
                    .collect::<Vec<_>>()
            };
            let before = reports();
            let act = |year: &Value, action: &str| shop.act("POST", "fiscalYears", year, action, None);
            assert_eq!(act(&second, "close").expect(409).code.as_deref(), Some("invalid_state"));
            assert_eq!(act(&first, "close").expect(200).data["status"], "closed");
            assert_eq!(reports(), before);
            let moved = |code: &str| shop.company.balance(code, "&asOf=2026-12-31");
            assert_eq!([moved("4000"), moved("6200"), moved("3200")], ["0.00", "0.00", "700.00"]);
            let next = shop.proven("/trial-balance?from=2027-01-01&to=2027-01-31");
            let retained = next["rows"].as_array().unwrap().iter().find(|row| row["key"] == "3200").unwrap();
            assert_eq!(retained["values"].to_string(), "[0.00,700.00,0.00,0.00,0.00,700.00]");
            for day in ["2026-12-31", "2027-01-01"] {
                assert_eq!(shop.totals(&format!("/bs?asOf={day}"), &["equity"]), ["700.00"]);
            }
            // A bill of the closed year.
            let bill = json!({"date": "2026-12-30", "partyId": shop.supplier, "lines": [{"unitPrice": 50}]});
            assert_eq!(shop.ask("POST", "purchaseInvoices", "", Some(&bill)).expect(409).code.as_deref(), Some("period_locked"));
            assert_eq!(act(&first, "close").expect(409).code.as_deref(), Some("invalid_state"));
            assert_eq!(act(&first, "reopen").expect(200).data["status"], "open");
            assert_eq!(reports(), before);
            assert_eq!(moved("4000"), "1000.00");
            shop.make("purchaseInvoices", &bill);
            act(&first, "close").expect(200);
            assert_eq!([moved("4000"), moved("6200"), moved("3200")], ["0.00", "0.00", "650.00"]);
            assert_eq!(shop.totals(&format!("/pl?{of_year}"), &["netProfit"]), ["650.00"]);
            // Closed in order, reopened the other way round.
            act(&second, "close").expect(200);
            assert_eq!(act(&first, "reopen").expect(409).code.as_deref(), Some("invalid_state"));
            act(&second, "reopen").expect(200);
            act(&first, "reopen").expect(200);
            shop.proves();
        }
    }

    /// What closes a year lies on its last day.
    fn a_closing_journal_is_dated_on_the_last_day_of_a_year(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let mut journal = shop.company.journal_body("2026-06-30", &[("4000", "10"), ("3200", "-10")]);
            journal["kind"] = json!("closing");
            let refused = shop.ask("POST", "journals", "", Some(&journal)).expect(400);
            assert!(refused.errors["date"].to_string().contains("last day of a fiscal year"), "{}", refused.answer.text);
            shop.make("fiscalYears", &json!({"name": "Short", "start": "2026-01-01", "end": "2026-06-30"}));
            shop.make("journals", &journal);
        }
    }

    /// What was owed on a day as it was known on an earlier one is what the ageing said then, whatever was changed since: days,
    /// due days, amounts, what was paid, made void or added.
    fn an_ageing_that_was_known_says_what_it_said_then(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let bill = |date: &str, due: &str| {
                let lines = json!([{"unitPrice": 100}]);
                shop.make("salesInvoices", &json!({"date": date, "dueDate": due, "partyId": shop.customer, "lines": lines}))
            };
            let bills: Vec<Value> =
                ["2026-01-05", "2026-01-06", "2026-01-07", "2026-01-08", "2026-01-09"].map(|date| bill(date, "2026-01-20")).into();
            let mut receipt = shop.receipt("2026-02-01", "40");
            receipt["allocations"] = json!([{"targetId": bills[4]["id"], "amount": 40}]);
            let receipt = shop.make("receipts", &receipt);
            let known = format!("&knownAt={}", receipt["createdAt"].as_str().unwrap());
            let said = |more: &str| {
                ["ar-aging", "ar-aging-detail"].map(|name| {
                    ["2026-01-07", "2026-03-31"].map(|day| {
                        let report = shop.proven(&format!("/{name}?asOf={day}{more}"));
                        assert_ne!(report["rows"].as_array().unwrap().len(), 0);
                        (report["rows"].clone(), report["totals"].clone())
                    })
                })
            };
            let then = said("");
            let change = |bill: &Value, field: &str, to: Value| {
                let mut changed = shop.get("salesInvoices", bill);
                changed[field] = to;
                shop.ask("PUT", "salesInvoices", &format!("/{}", id(bill)), Some(&changed)).expect(200);
            };
            change(&bills[0], "dueDate", json!("2026-03-25"));
            change(&bills[1], "date", json!("2026-01-12"));
            change(&bills[2], "lines", json!([{"unitPrice": 70}]));
            shop.act("POST", "salesInvoices", &bills[3], "void", None).expect(200);
            shop.make("receipts", &{
                let mut rest = shop.receipt("2026-02-02", "60");
                rest["allocations"] = json!([{"targetId": bills[4]["id"], "amount": 60}]);
                rest
            });
            bill("2026-01-04", "2026-01-05");
            let now = said("");
            for (place, (name, then)) in ["all", "each"].iter().zip(&then).enumerate() {
                assert_ne!(&now[place], then, "{name}");
            }
            assert_eq!(said(&known), then);
        }
    }

    /// Two parties that turn out to be one: an alias, and not one entry.
    fn a_party_that_became_part_of_another_is_read_as_that_one(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let p = shop.customer.clone();
            let twin = shop.company.party(json!({"name": "Dup"}));
            let dup = id(&twin).to_owned();
            let bill = |party: &str, date: &str, price: u32| {
                shop.make("salesInvoices", &json!({"date": date, "partyId": party, "lines": [{"unitPrice": price}]}))
            };
            let (own, other) = (bill(&p, "2026-01-10", 50), bill(&dup, "2026-01-11", 100));
            let draft = shop.make("journals", &json!({"date": "2026-01-12", "status": "draft", "lines": [
                {"accountId": shop.company.account("1200"), "partyId": dup, "debit": 5},
                {"accountId": shop.company.account("4000"), "credit": 5}
            ]}));
            let before = other["createdAt"].as_str().unwrap().to_owned();
            let entries = || shop.ask("GET", "entries", "?pageSize=1", None).expect(200).data["pagination"]["totalCount"].clone();
            let posted = entries();
            let merge = |into: &str| shop.act("POST", "parties", &twin, "merge", Some(&json!({"intoPartyId": into})));
            assert_eq!(merge(&p).expect(200).data["receivableBalance"].to_string(), "150.00");
            assert_eq!(entries(), posted);
            let mut back = shop.ask("GET", "parties", &format!("/{dup}"), None).expect(200).data;
            back["status"] = json!("active");
            let refused = shop.ask("PUT", "parties", &format!("/{dup}"), Some(&back)).expect(409);
            assert_eq!((refused.code.as_deref(), refused.fields()), (Some("invalid_state"), vec!["status".to_owned()]));
            // The party itself, and the list of them.
            let read = |party: &str| shop.ask("GET", "parties", &format!("/{party}"), None).expect(200).data;
            let listed = shop.ask("GET", "parties", "?pageSize=100", None).expect(200).data;
            for (party, owes, into) in [(&p, "150.00", Value::Null), (&dup, "0.00", json!(p))] {
                let in_list = listed["items"].as_array().unwrap().iter().find(|one| one["id"] == **party).unwrap();
                for shown in [&read(party), in_list] {
                    assert_eq!((shown["receivableBalance"].to_string().as_str(), &shown["mergedIntoId"]), (owes, &into));
                }
            }
            // Statement, ageing, open items, turnover, the ledger by party.
            let closing = |party: &str, more: &str| {
                shop.totals(&format!("/party-statement?partyId={party}&from=2026-01-01&to=2026-01-31{more}"), &["closing"])
            };
            assert_eq!([closing(&p, ""), closing(&dup, "")], [["150.00"], ["150.00"]]);
            let open = |party: &str| shop.ask("GET", "parties", &format!("/{party}/open-items"), None).expect(200).data;
            let count = |page: &Value| page["items"].as_array().unwrap().len();
            assert_eq!((count(&open(&p)), count(&open(&dup))), (2, 2));
            let parties = |path: &str| {
                let report = shop.proven(path);
                let place = report["columns"].as_array().unwrap().iter().position(|column| column["key"] == "total" || column["key"] == "amount");
                let rows = report["rows"].as_array().unwrap().iter().filter(|row| row["type"] == "party");
                rows.map(|row| format!("{} {}", if row["partyId"] == *p { "P" } else { "Dup" }, row["values"][place.unwrap()])).collect::<Vec<_>>()
            };
            for path in ["/ar-aging?asOf=2026-01-31", "/ar-aging-detail?asOf=2026-01-31", "/sales-by-customer?from=2026-01-01&to=2026-01-31"] {
                assert_eq!(parties(path), ["P 150.00"], "{path}");
            }
            assert_eq!(parties(&format!("/ar-aging?asOf=2026-01-31&partyId={p}")), ["P 150.00"]);
            assert_eq!(parties(&format!("/ar-aging?asOf=2026-01-31&partyId={dup}")), ["P 150.00"]);
            let moved = |party: &str| shop.totals(&format!("/general-ledger?from=2026-01-01&to=2026-01-31&partyId={party}"), &["debit"]);
            assert_eq!([moved(&p), moved(&dup)], [["150.00"], ["150.00"]]);
            // Lists and what they name.
            let of = |resource: &str, party: &str| shop.ask("GET", resource, &format!("?partyId={party}"), None).expect(200).data;
            for resource in ["salesInvoices", "entries"] {
                assert_eq!((count(&of(resource, &p)), count(&of(resource, &dup))), (2, 2), "{resource}");
            }
            assert_eq!((count(&of("journals", &p)), count(&of("journals", &dup))), (1, 1));
            let name = |entry: &Value| entry["lines"].as_array().unwrap().iter().find_map(|line| line["partyId"].as_str().map(str::to_owned));
            assert!(of("entries", &p)["items"].as_array().unwrap().iter().all(|entry| name(entry).as_deref() == Some(&p)));
            // What was known before tells of two.
            let known = format!("&knownAt={before}");
            assert_eq!((closing(&p, &known), closing(&dup, &known)), (vec!["50.00".to_owned()], vec!["100.00".to_owned()]));
            assert_eq!(parties(&format!("/ar-aging?asOf=2026-01-31{known}")), ["P 50.00", "Dup 100.00"]);
            // A receipt of the one settles an invoice of the other.
            let mut receipt = shop.receipt("2026-01-20", "120");
            receipt["allocations"] = json!([{"targetId": own["id"], "amount": 50}, {"targetId": other["id"], "amount": 70}]);
            let receipt = shop.make("receipts", &receipt);
            assert_eq!(shop.get("salesInvoices", &other)["balanceDue"].to_string(), "30.00");
            let settled = shop.ask("GET", "allocations", &format!("?partyId={p}"), None).expect(200).data;
            assert_eq!(settled["items"].as_array().unwrap().iter().filter(|one| one["partyId"] == *p).count(), 2);
            assert_eq!(shop.ask("GET", "allocations", &format!("?partyId={dup}"), None).expect(200).data, settled);
            // What names the one that is gone means the one that stays.
            let late = bill(&dup, "2026-01-25", 10);
            assert_eq!(late["partyId"], *p);
            assert_eq!(read(&p)["receivableBalance"].to_string(), "40.00");
            let mut journal = shop.get("journals", &draft);
            assert_eq!(journal["lines"][0]["partyId"], *p);
            journal["status"] = json!("posted");
            shop.ask("PUT", "journals", &format!("/{}", id(&draft)), Some(&journal)).expect(200);
            assert_eq!(read(&p)["receivableBalance"].to_string(), "45.00");
            // What was read is sent back and changes nothing; a change of it stays with the party.
            let read_back = shop.get("salesInvoices", &other);
            assert_eq!(read_back["partyId"], *p);
            let put = |body: &Value| shop.ask("PUT", "salesInvoices", &format!("/{}", id(&other)), Some(body));
            assert_eq!(put(&read_back).expect(200).data, read_back);
            let mut dearer = read_back.clone();
            dearer["lines"][0]["unitPrice"] = 110.into();
            put(&dearer).expect(200);
            assert_eq!(closing(&p, ""), ["55.00"]);
            let named = json!({"date": "2026-01-26", "partyId": p, "salesInvoiceId": other["id"], "lines": [{"unitPrice": 10}]});
            shop.make("creditNotes", &named);
            shop.proves();
            // It became part of one only, and who took it in does not go.
            assert_eq!(merge(&p).expect(409).code.as_deref(), Some("invalid_state"));
            assert_eq!(shop.ask("DELETE", "parties", &format!("/{p}"), None).expect(409).code.as_deref(), Some("in_use"));
            // One that became part of another stands for it here as well.
            let third = shop.company.party(json!({"name": "Third", "creditLimit": 60}));
            let into_itself = shop.act("POST", "parties", &json!({"id": p}), "merge", Some(&json!({"intoPartyId": dup})));
            assert_eq!(into_itself.expect(400).fields(), ["intoPartyId"]);
            let whole = shop.act("POST", "parties", &json!({"id": p}), "merge", Some(&json!({"intoPartyId": third["id"]}))).expect(200).data;
            assert_eq!(whole["receivableBalance"].to_string(), "45.00");
            assert_eq!([&p, &dup].map(|one| read(one)["mergedIntoId"].clone()), [third["id"].clone(), third["id"].clone()]);
            assert_eq!(closing(id(&third), ""), ["45.00"]);
            shop.proves();
            // All of it goes again.
            shop.void("receipts", &receipt);
            shop.proves();
        }
    }

    /// A debt of goods that names the party anew, and limits that count all of it.
    fn limits_count_what_all_of_a_party_owes(server) {
        for dialect in DIALECTS {
            let shop = Shop::with(server, dialect, json!({"creditLimitPolicy": "block"}));
            let stays = shop.company.party(json!({"name": "Stays", "creditLimit": 100}));
            let gone = shop.company.party(json!({"name": "Gone"}));
            let sell = |party: &Value, price: u32| {
                shop.ask("POST", "salesInvoices", "", Some(&json!({"date": "2026-01-10", "partyId": party["id"], "lines": [{"unitPrice": price}]})))
            };
            sell(&gone, 80).expect(201);
            shop.act("POST", "parties", &gone, "merge", Some(&json!({"intoPartyId": stays["id"]}))).expect(200);
            for party in [&gone, &stays] {
                assert_eq!(sell(party, 30).expect(409).code.as_deref(), Some("credit_limit_exceeded"));
            }
            sell(&gone, 20).expect(201);
            shop.proves();
        }
    }

    /// What is owed in dollars, in dollars, and beside that in the company's currency.
    fn a_statement_in_a_currency_stands_beside_what_it_is_here(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let abroad = |more: Value| {
                let mut body = json!({"partyId": shop.customer, "currency": "USD"});
                body.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
                body
            };
            let invoice = shop.make("salesInvoices", &abroad(json!({"date": "2026-01-10", "exchangeRate": "0.9", "lines": [{"unitPrice": 1000}]})));
            shop.make("receipts", &abroad(json!({
                "date": "2026-01-20", "exchangeRate": "0.93", "accountId": shop.company.account("1010"), "amount": 400,
                "allocations": [{"targetId": invoice["id"], "amount": 400}]
            })));
            shop.make("creditNotes", &abroad(json!({"date": "2026-01-25", "salesInvoiceId": invoice["id"], "lines": [{"unitPrice": 50}]})));
            shop.sale("2026-01-15", json!([{"unitPrice": 7}]));
            let days = format!("partyId={}&from=2026-01-01&to=2026-01-31", shop.customer);
            let rows = |query: &str| {
                let report = shop.proven(&format!("/party-statement?{days}{query}"));
                let rows = report["rows"].as_array().unwrap().iter();
                rows.map(|row| row["values"].as_array().unwrap()[1..].iter().map(Value::to_string).collect::<Vec<_>>().join(" ")).collect::<Vec<_>>()
            };
            assert_eq!(rows("&currency=USD"), [
                "null 0.00 null null null 0.00",
                "1000.00 1000.00 \"USD\" 1000.00 900.00 900.00",
                "-400.00 600.00 \"USD\" -400.00 -360.00 540.00",
                "-50.00 550.00 \"USD\" -50.00 -45.00 495.00",
                "null 550.00 null null null 495.00",
            ]);
            assert_eq!(rows(""), [
                "null 0.00 null null null 0.00",
                "900.00 900.00 \"USD\" 1000.00 900.00 900.00",
                "7.00 907.00 \"EUR\" 7.00 7.00 907.00",
                "-360.00 547.00 \"USD\" -400.00 -360.00 547.00",
                "-45.00 502.00 \"USD\" -50.00 -45.00 502.00",
                "null 502.00 null null null 502.00",
            ]);
            // 12.00 were gained by the exchange.
            assert_eq!(shop.company.balance("4900", ""), "12.00");
            let aged = |name: &str, query: &str| {
                let report = shop.proven(&format!("/{name}?asOf=2026-01-31&buckets=30{query}"));
                let row = &report["rows"][0];
                assert_eq!(row["partyId"], shop.customer.as_str());
                // What comes behind the buckets.
                let behind = |row: &Value| Value::from(row["values"].as_array().unwrap()[3..].to_vec()).to_string();
                (behind(row), row["children"].as_array().unwrap().iter().map(behind).collect::<Vec<_>>())
            };
            assert_eq!(aged("ar-aging", "&currency=USD").0, "[550.00,\"USD\",550.00,495.00]");
            assert_eq!(aged("ar-aging", "").0, "[502.00,null,null,502.00]");
            assert_eq!(aged("ar-aging-detail", "&currency=EUR").1, ["[7.00,\"EUR\",7.00,7.00]"]);
            assert_eq!(aged("ar-aging-detail", "").1, [
                "[540.00,\"USD\",600.00,540.00]",
                "[7.00,\"EUR\",7.00,7.00]",
                "[-45.00,\"USD\",-50.00,-45.00]",
            ]);
            // All currencies together are the control account.
            let in_base = |currency: &str| cents(&shop.proven(&format!("/ar-aging?asOf=2026-01-31&currency={currency}"))["totals"]["baseAmount"]);
            assert_eq!(shown_cents(in_base("USD") + in_base("EUR")), shop.company.balance("1200", "&asOf=2026-01-31"));
            // Before the receipt, and of nothing at all.
            assert_eq!(shop.proven("/ar-aging?asOf=2026-01-19&currency=USD")["currency"], "USD");
            assert_eq!(shop.totals("/ar-aging?asOf=2026-01-19&currency=USD", &["total", "baseAmount"]), ["1000.00", "900.00"]);
            assert_eq!(shop.totals("/ap-aging-detail?asOf=2026-01-31&currency=USD", &["total", "baseAmount"]), ["0.00", "0.00"]);
            let request = shop.company.request_at(dialect, "GET", "reports/ar-aging?currency=money");
            assert_eq!(shop.company.say(dialect, request).expect(400).fields(), ["currency"]);
            shop.proves();
        }
    }

    /// What a company has on the eve of its first day.
    fn what_books_begin_with_is_no_turnover_and_no_flow_of_money(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let (eve, opened) = ("2025-12-31", shop.company.account("3900"));
            let item = shop.item(json!({"code": "BEANS"}));
            shop.make("stockAdjustments", &json!({"date": eve, "reason": "Opening", "accountId": opened, "lines": [
                {"itemId": item, "quantityDelta": 10, "unitCost": 8}
            ]}));
            let owed = |resource: &str, party: &str, amount: u32| {
                shop.make(resource, &json!({"date": eve, "partyId": party, "isOpening": true, "lines": [{"unitPrice": amount}]}))
            };
            owed("salesInvoices", &shop.customer, 119);
            owed("purchaseInvoices", &shop.supplier, 60);
            let mut rest = shop.company.journal_body(eve, &[("1010", "500"), ("3000", "-639"), ("3900", "139")]);
            rest["kind"] = json!("opening");
            // Until all is entered, the proof says so; nothing is wrong.
            let warned = || {
                let said = shop.company.say(dialect, shop.company.request_at(dialect, "GET", "verify")).expect(200).data;
                let check = said["checks"].as_array().unwrap().iter().find(|check| check["id"] == "O1").unwrap().clone();
                (said["ok"] == true && check["ok"] == true, check["left"].as_str().unwrap().to_owned(), check["findings"].as_array().unwrap().len())
            };
            assert_eq!(warned(), (true, "-139.00".to_owned(), 1));
            shop.make("journals", &rest);
            assert_eq!(warned(), (true, "0.00".to_owned(), 0));
            assert_eq!(shop.company.balance("3900", ""), "0.00");
            let january = "from=2026-01-01&to=2026-01-31";
            let report = shop.proven(&format!("/trial-balance?{january}"));
            let rows = report["rows"].as_array().unwrap().iter().filter(|row| row["values"][0] != row["values"][1]);
            let opened: Vec<String> = rows.map(|row| format!("{} {} {}", row["key"].as_str().unwrap(), row["values"][0], row["values"][1])).collect();
            assert_eq!(opened, ["1010 500.00 0.00", "1200 119.00 0.00", "1300 80.00 0.00", "2100 0.00 60.00", "3000 0.00 639.00"]);
            let names = ["operating", "investing", "financing", "takenOver", "closing"];
            for method in ["direct", "indirect"] {
                let flow = |days: &str| shop.totals(&format!("/cash-flow?{days}&method={method}"), &names);
                assert_eq!(flow("from=2025-12-01&to=2025-12-31"), ["0.00", "0.00", "0.00", "500.00", "500.00"], "{method}");
                assert_eq!(flow(january), ["0.00", "0.00", "0.00", "0.00", "500.00"], "{method}");
            }
            let december = "from=2025-12-01&to=2025-12-31";
            assert_eq!(shop.totals(&format!("/pl?{december}"), &["netProfit"]), ["0.00"]);
            assert_eq!(shop.totals(&format!("/tax-summary?{december}"), &["netTax"]), ["0.00"]);
            for name in ["sales-by-customer", "purchases-by-supplier"] {
                assert_eq!(shop.totals(&format!("/{name}?{december}"), &["amount"]), ["0.00"], "{name}");
            }
            // What is sold of it afterwards costs what it was taken over at; what is owed is paid as anything else.
            shop.sale("2026-01-10", json!([{"itemId": item, "quantity": 2, "unitPrice": 20}]));
            assert_eq!(shop.stock(&item), ("8".to_owned(), "64.00".to_owned()));
            assert_eq!(shop.totals("/ar-aging?asOf=2026-01-31", &["total"]), ["159.00"]);
            shop.proves();
        }
    }

    /// What is entered late for the days before a revaluation makes it anew, in the same command.
    fn a_revaluation_is_what_was_open_on_its_day(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let abroad = |resource: &str, more: Value| {
                let mut body = json!({"partyId": shop.customer, "currency": "USD"});
                body.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
                shop.make(resource, &body)
            };
            let invoice = abroad("salesInvoices", json!({"date": "2026-01-10", "exchangeRate": "0.9", "lines": [{"unitPrice": 1000}]}));
            let revaluation = shop.make("revaluations", &json!({"date": "2026-01-31", "rates": [{"currency": "USD", "rate": 0.95}]}));
            let on = |day: &str| ["1210", "4910"].map(|code| shop.company.balance(code, &format!("&asOf={day}")));
            assert_eq!(on("2026-01-31"), ["50.00", "50.00"]);
            let receipt = abroad("receipts", json!({
                "date": "2026-01-20", "exchangeRate": "0.93", "accountId": shop.company.account("1010"), "amount": 400,
                "allocations": [{"targetId": invoice["id"], "amount": 400}]
            }));
            // 600 x 0.95 - 540.00
            assert_eq!((on("2026-01-30"), on("2026-01-31"), on("2026-02-01")), (["0.00", "0.00"].map(str::to_owned), ["30.00", "30.00"].map(str::to_owned), ["0.00", "0.00"].map(str::to_owned)));
            let now = shop.get("revaluations", &revaluation);
            assert_eq!((now["unrealisedGain"].to_string().as_str(), &now["lines"][0]["amount"].to_string()[..], now["version"].as_i64()), ("30.00", "600.00", Some(2)));
            assert_eq!((&now["number"], &now["rates"]), (&revaluation["number"], &revaluation["rates"]));
            let dates: Vec<String> = shop.company.entries_of(id(&revaluation)).iter().map(|entry| format!("{} {}", entry["date"].as_str().unwrap(), entry["kind"].as_str().unwrap())).collect();
            let first = ["2026-01-31 fxRevaluation", "2026-02-01 autoReversal"];
            assert_eq!(dates, [&first[..], &["2026-01-31 reversal", "2026-02-01 reversal"], &first[..]].concat());
            // Another sale of before; one of later, and one of the company's own currency, are nothing to it.
            let late = abroad("salesInvoices", json!({"date": "2026-01-31", "exchangeRate": "0.9", "lines": [{"unitPrice": 100}]}));
            assert_eq!(on("2026-01-31"), ["35.00", "35.00"]);
            abroad("salesInvoices", json!({"date": "2026-02-01", "exchangeRate": "0.9", "lines": [{"unitPrice": 100}]}));
            shop.sale("2026-01-15", json!([{"unitPrice": 7}]));
            let version = || shop.get("revaluations", &revaluation)["version"].clone();
            assert_eq!((on("2026-01-31"), version()), (["35.00", "35.00"].map(str::to_owned), json!(3)));
            // A rehearsal shows it and does nothing.
            let body = json!({"date": "2026-01-30", "partyId": shop.customer, "currency": "USD", "exchangeRate": "0.9", "lines": [{"unitPrice": 100}]});
            let shown = shop.ask("POST", "salesInvoices", "?dryRun=true", Some(&body)).expect(201).data;
            assert!(shown["postings"].as_array().unwrap().iter().any(|line| line["accountCode"] == "1210" && cents(&line["debit"]) == 4_000), "{shown}");
            assert_eq!((on("2026-01-31"), version()), (["35.00", "35.00"].map(str::to_owned), json!(3)));
            // What another currency was worth that day must be known.
            let pounds = json!({"date": "2026-01-30", "partyId": shop.customer, "currency": "GBP", "exchangeRate": "1.1", "lines": [{"unitPrice": 100}]});
            assert_eq!(shop.ask("POST", "salesInvoices", "", Some(&pounds)).expect(409).code.as_deref(), Some("invalid_state"));
            shop.make("exchangeRates", &json!({"currency": "GBP", "date": "2026-01-15", "rate": "1.2"}));
            shop.make("salesInvoices", &pounds);
            assert_eq!(on("2026-01-31"), ["45.00", "45.00"]);
            // A change and a void of what was open.
            let mut dearer = shop.get("salesInvoices", &late);
            dearer["lines"][0]["unitPrice"] = 300.into();
            shop.ask("PUT", "salesInvoices", &format!("/{}", id(&late)), Some(&dearer)).expect(200);
            assert_eq!(on("2026-01-31"), ["55.00", "55.00"]);
            shop.void("salesInvoices", &late);
            assert_eq!(on("2026-01-31"), ["40.00", "40.00"]);
            shop.void("receipts", &receipt);
            assert_eq!(on("2026-01-31"), ["60.00", "60.00"]);
            shop.proves();
            // Where its day is closed, what would change it is refused, and nothing of it is there.
            shop.make("locks", &json!({"journalLockDate": "2026-01-31"}));
            let refused = shop.ask("POST", "salesInvoices", "", Some(&body)).expect(409);
            assert_eq!(refused.code.as_deref(), Some("period_locked"));
            assert_eq!((on("2026-01-31"), shop.company.balance("1200", "&asOf=2026-01-31")), (["60.00", "60.00"].map(str::to_owned), "1017.00".to_owned()));
            shop.sale("2026-01-16", json!([{"unitPrice": 3}]));
            shop.proves();
        }
    }

    /// Money in dollars is revalued in its own account, which is nothing that the same revaluation finds.
    fn money_is_revalued_anew_by_what_it_was_before(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let dollars = shop.make("accounts", &json!({"code": "1020", "name": "Dollars", "type": "bank", "currency": "USD"}));
            let receive = |date: &str, amount: u32| {
                shop.make("receipts", &json!({
                    "date": date, "accountId": dollars["id"], "currency": "USD", "exchangeRate": "0.9", "amount": amount,
                    "lines": [{"accountId": shop.company.account("4000"), "amount": amount}]
                }))
            };
            receive("2026-01-05", 1000);
            for (date, rate) in [("2026-01-31", "0.95"), ("2026-02-01", "0.94"), ("2026-02-28", "0.8")] {
                shop.make("revaluations", &json!({"date": date, "rates": [{"currency": "USD", "rate": rate}]}));
            }
            let worth = || ["2026-01-31", "2026-02-01", "2026-02-02", "2026-02-28", "2026-03-01"].map(|day| shop.company.balance("1020", &format!("&asOf={day}")));
            assert_eq!(worth(), ["950.00", "940.00", "900.00", "800.00", "900.00"]);
            let late = receive("2026-01-20", 100);
            assert_eq!(worth(), ["1045.00", "1034.00", "990.00", "880.00", "990.00"]);
            shop.proves();
            shop.void("receipts", &late);
            assert_eq!(worth(), ["950.00", "940.00", "900.00", "800.00", "900.00"]);
            shop.proves();
        }
    }

    /// What closes a year is listed last, in no sum, and changes no figure of the ledger's own reports either.
    fn what_lies_between_two_years_is_listed_last(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let year = shop.make("fiscalYears", &json!({"name": "2026", "start": "2026-01-01", "end": "2026-12-31"}));
            shop.company.journal("2026-12-30", &[("1010", "1000"), ("4000", "-1000")]);
            let mut closing = shop.company.journal_body("2026-12-31", &[("4000", "100"), ("3200", "-100")]);
            closing["kind"] = json!("closing");
            let closing = shop.make("journals", &closing);
            let totals = || {
                let of = |path: &str, names: &[&str]| shop.totals(path, names).join(" ");
                let ledger = |more: &str| of(&format!("/general-ledger?{more}"), &["opening", "debit", "credit", "closing"]);
                let (whole, next) = ("from=2026-01-01&to=2026-12-31", "from=2027-01-01&to=2027-12-31");
                let accounts = ["4000", "3200"].map(|code| format!("&accountId={}", shop.company.account(code)));
                let mut found = vec![of(&format!("/day-book?{whole}"), &["total"]), of("/day-book?from=2026-01-01&to=2027-12-31", &["total"])];
                for days in [whole, next] {
                    found.push(ledger(days));
                    found.extend(accounts.iter().map(|account| ledger(&format!("{days}{account}"))));
                }
                found
            };
            let expected = [
                "1000.00", "1107.00",
                "0.00 1000.00 1000.00 0.00", "0.00 0.00 1000.00 -1000.00", "0.00 0.00 0.00 0.00",
                "0.00 107.00 107.00 0.00", "0.00 0.00 107.00 -107.00", "-1000.00 0.00 0.00 -1000.00",
            ];
            shop.act("POST", "fiscalYears", &year, "close", None).expect(200);
            // Entered after the year was closed, on its last day and on one of the next year.
            shop.act("POST", "fiscalYears", &year, "reopen", None).expect(200);
            shop.company.journal("2027-01-05", &[("1010", "107"), ("4000", "-107")]);
            assert_eq!(totals(), expected);
            shop.act("POST", "fiscalYears", &year, "close", None).expect(200);
            assert_eq!(totals(), expected);
            // Last in the day book, after an entry of the next year; last in its account.
            let keys = |path: &str, size: u32| {
                let mut keys = Vec::new();
                for page in 1.. {
                    let report = shop.proven(&format!("{path}&pageSize={size}&page={page}"));
                    let rows = report["rows"].as_array().unwrap();
                    if rows.is_empty() {
                        return keys;
                    }
                    let lines = rows.iter().flat_map(|row| row["children"].as_array().unwrap().iter().chain([row]).filter(|row| row["documentId"].is_string()));
                    keys.extend(lines.map(|row| row["label"].as_str().unwrap().to_owned()));
                }
                unreachable!()
            };
            let [first, between, later] = ["JV-2026-0001", "JV-2026-0002", "JV-2027-0001"];
            let all = keys("/day-book?from=2026-01-01&to=2027-12-31", 50);
            assert_eq!((all[..3].to_vec(), all.len()), (vec![first.to_owned(), later.to_owned(), between.to_owned()], 6), "{all:?}");
            assert_eq!(closing["number"], between);
            let of_account = format!("/general-ledger?from=2026-01-01&to=2027-12-31&accountId={}", shop.company.account("4000"));
            let lines = keys(&of_account, 50);
            assert_eq!((lines[..3].to_vec(), lines.len()), (vec![first.to_owned(), later.to_owned(), between.to_owned()], 6), "{lines:?}");
            for size in [1, 2] {
                assert_eq!((keys("/day-book?from=2026-01-01&to=2027-12-31", size), keys(&of_account, size)), (all.clone(), lines.clone()), "{size}");
            }
            // The same, read through.
            let text = |path: &str| shop.company.server.send(&shop.company.request_at(dialect, "GET", &format!("reports{path}&format=csv"))).expect(200).text;
            for (path, all) in [("/day-book?from=2026-01-01&to=2027-12-31", &all), (&of_account[..], &lines)] {
                let text = text(path);
                let places: Vec<usize> = [first, later, between].map(|number| text.find(number).unwrap_or_else(|| panic!("{text}"))).to_vec();
                assert!(places.is_sorted(), "{text}");
                assert_eq!(text.matches("JV-").count(), all.len(), "{text}");
            }
            shop.proves();
        }
    }
}

on_both_engines! {
    /// What was allocated since is noted of the invoice as well, and is no version that says when it is due.
    fn an_ageing_of_then_knows_the_due_day_whatever_was_allocated_since(server) {
        let shop = Shop::open(server, Dialect::B);
        let lines = json!([{"description": "Work", "quantity": 1, "unitPrice": "100"}]);
        let body = |due: &str| json!({"date": "2026-01-01", "dueDate": due, "partyId": shop.customer, "lines": lines});
        let sale = shop.make("salesInvoices", &body("2026-03-01"));
        shop.ask("PUT", "salesInvoices", &format!("/{}", id(&sale)), Some(&body("2026-10-30"))).expect(200);
        let pay = |amount: &str| {
            let body = json!({
                "date": "2026-11-02", "partyId": shop.customer, "accountId": shop.company.account("1010"), "amount": amount,
                "allocations": [{"targetId": id(&sale), "amount": amount}]
            });
            shop.make("receipts", &body)
        };
        let then = pay("60")["createdAt"].as_str().unwrap().to_owned();
        let aged = || {
            let path = format!("/ar-aging-detail?asOf=2026-11-23&knownAt={then}");
            let mut report = shop.ask("GET", "reports", &path, None).expect(200).data;
            report.as_object_mut().unwrap().remove("generatedAt");
            report
        };
        let before = aged();
        assert!(before.to_string().contains("40.00"), "{before}");
        pay("10");
        assert_eq!(aged(), before);
        shop.ask("PUT", "salesInvoices", &format!("/{}", id(&sale)), Some(&body("2026-12-24"))).expect(200);
        assert_eq!(aged(), before);
    }
}
