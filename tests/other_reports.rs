//! Reports agree: with their own parts, with the accounts, and with what a note took off. The figures are made by hand.

use crate::harness::on_both_engines;
use crate::harness::server::DIALECTS;
use crate::harness::shop::{Shop, id};
use serde_json::{Value, json};

on_both_engines! {
    /// 1968.02 with tax in it: 350.92, 716.77 and 691.79 without. 1082.41 and a discount of 39.36 that reduces the tax settle
    /// 57 % of it in February. Its tax counts for March.
    fn on_cash_basis_a_span_is_the_sum_of_its_months(server) {
        for dialect in DIALECTS {
            let shop = Shop::with(server, dialect, json!({"discountReducesTax": true}));
            let (vat, account) = (shop.vat("20"), |code: &str| shop.company.account(code));
            let bill = shop.make("purchaseInvoices", &json!({
                "date": "2026-02-05", "taxDate": "2026-03-18", "partyId": shop.supplier, "pricesIncludeTax": true,
                "lines": [
                    {"description": "x", "unitPrice": "421.10", "taxCodeId": vat, "accountId": account("6000")},
                    {"description": "y", "unitPrice": "716.77", "accountId": account("6200")},
                    {"description": "z", "unitPrice": "830.15", "taxCodeId": vat, "accountId": account("6300")},
                ]
            }));
            let mut paid = shop.payment("2026-02-10", "1082.41");
            paid["allocations"] = json!([{"targetId": id(&bill), "amount": "1082.41", "discountAmount": "39.36"}]);
            shop.make("payments", &paid);
            let costs = |days: &str| {
                let pl = format!("pl?{days}&basis=cash");
                ["6000", "6200", "6300", "4800", "netProfit"].map(|code| shop.row_of(&pl, code))
            };
            let settled = ["[200.02]", "[408.56]", "[394.32]", "[35.19]", "[-967.71]"].map(str::to_owned);
            assert_eq!(costs("from=2026-02-01&to=2026-02-28"), settled);
            assert_eq!(costs("from=2026-03-01&to=2026-03-31"), ["", "", "", "", "[0.00]"]);
            assert_eq!(costs("from=2026-02-01&to=2026-03-31"), settled);
            shop.proves();
        }
    }

    /// A machine of 800.00 and 200.00 of costs, with 19 % on both: 1190.00. A note of 119.00 takes 100.00 off the machine, and
    /// 1071.00 are paid. Whatever comes first, 700.00 were for the machine.
    fn what_a_note_takes_off_a_bill_is_not_paid_for(server) {
        for dialect in DIALECTS {
            for note_first in [true, false] {
                let shop = Shop::open(server, dialect);
                let (vat, account) = (shop.vat("19"), |code: &str| shop.company.account(code));
                let bill = shop.purchase("2026-02-05", json!([
                    {"description": "machine", "unitPrice": 800, "taxCodeId": vat, "accountId": account("1600")},
                    {"description": "freight", "unitPrice": 200, "taxCodeId": vat, "accountId": account("6000")},
                ]));
                let note = |date: &str| {
                    let note = shop.make("debitNotes", &json!({
                        "date": date, "partyId": shop.supplier, "purchaseInvoiceId": id(&bill), "kind": "priceAdjustment",
                        "lines": [{"sourceLineId": bill["lines"][0]["id"], "unitPrice": 100}]
                    }));
                    shop.make("allocations", &json!({"sourceId": id(&note), "targetId": id(&bill), "amount": 119, "date": date}));
                };
                let pay = |date: &str| {
                    let mut paid = shop.payment(date, "1071");
                    paid["allocations"] = json!([{"targetId": id(&bill), "amount": 1071}]);
                    shop.make("payments", &paid);
                };
                let by_month = if note_first {
                    note("2026-03-06");
                    pay("2026-04-10");
                    [["0.00", "0.00"], ["-371.00", "-700.00"]]
                } else {
                    pay("2026-03-06");
                    note("2026-04-10");
                    // 1071.00 of 1190.00; what was too much for the machine was for the rest after all.
                    [["-351.00", "-720.00"], ["-20.00", "20.00"]]
                };
                for method in ["direct", "indirect"] {
                    let sections = |days: &str| {
                        let told = shop.report_of(&format!("cash-flow?{days}&method={method}"));
                        assert!(!told.to_string().contains("\"ok\":false"), "{told}");
                        ["operating", "investing"].map(|name| told["totals"][name].to_string())
                    };
                    assert_eq!(sections("from=2026-03-01&to=2026-03-31"), by_month[0], "{method}");
                    assert_eq!(sections("from=2026-04-01&to=2026-04-30"), by_month[1], "{method}");
                    assert_eq!(sections("from=2026-01-01&to=2026-12-31"), ["-371.00", "-700.00"], "{method}");
                }
                shop.proves();
            }
        }
    }

    fn a_table_is_answered_whole_and_only_to_who_takes_one(server) {
        let company = server.company();
        let days = "from=2026-01-01&to=2026-12-31";
        for dialect in DIALECTS {
            for report in ["general-ledger", "day-book", "tax-detail", "audit-trail"] {
                for (asked, names) in [
                    (format!("{report}.csv?{days}&pageSize=2"), &["pageSize"][..]),
                    (format!("{report}?{days}&format=csv&page=2&pageSize=2"), &["page", "pageSize"]),
                ] {
                    let refused = company.say(dialect, company.request_at(dialect, "GET", &format!("reports/{asked}")));
                    assert_eq!(refused.expect(400).fields(), names, "{dialect:?} {asked}");
                }
                for asked in [format!("{report}.csv?{days}"), format!("{report}?{days}&format=json&page=1&pageSize=2")] {
                    server.send(&company.request_at(dialect, "GET", &format!("reports/{asked}"))).expect(200);
                }
            }
            for (path, accept, status) in [
                ("pl", "text/csv", 406), ("pl", "text/csv, application/json;q=0.5", 200), ("pl", "*/*", 200),
                ("pl?format=csv", "application/json", 406), ("pl?format=csv", "text/csv", 200), ("pl?format=csv", "*/*", 200),
                ("pl.csv", "application/json", 406), ("pl.csv", "text/*", 200),
            ] {
                let request = company.request_at(dialect, "GET", &format!("reports/{path}")).header("accept", accept);
                assert_eq!(server.send(&request).status, status, "{dialect:?} {path} {accept}");
            }
        }
    }

    /// In the order of the words that are shown, not of the letters that are kept for them; from page to page as well.
    fn number_series_sort_by_the_words_of_their_types(server) {
        let company = server.company();
        for dialect in DIALECTS {
            let listed = |query: &str| company.ask(dialect, "GET", "numberSeries", query, None).expect(200).data;
            let types = |list: &Value| -> Vec<String> {
                let items = list["items"].as_array().unwrap().iter();
                items.map(|one| one["type"].as_str().unwrap().to_owned()).collect()
            };
            let up = types(&listed("?sort=type&pageSize=100"));
            assert!(up.len() > 10 && up.is_sorted(), "{up:?}");
            let down = types(&listed("?sort=-type&pageSize=100"));
            assert_eq!(down, up.iter().rev().cloned().collect::<Vec<_>>());
            for (sort, whole) in [("type", &up), ("-type", &down)] {
                let (mut walked, mut cursor) = (Vec::new(), Some(String::new()));
                while let Some(from) = cursor {
                    let query = format!("?sort={sort}&pageSize=3&cursor={from}");
                    let page = company.ask(dialect, "GET", "numberSeries", &query, None).expect(200);
                    walked.extend(types(&page.data));
                    // As it is said, which differs from answer to answer.
                    let said = page.answer.json();
                    let next = said.pointer("/pagination/nextCursor").or(said.pointer("/data/pagination/nextCursor"));
                    cursor = next.unwrap().as_str().map(str::to_owned);
                }
                assert_eq!(&walked, whole, "{sort}");
            }
        }
    }
}
