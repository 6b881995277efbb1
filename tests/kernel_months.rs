//! What is kept by month of tax and trade is what its days come to: with discounts that took tax along, credits that gave it
//! back, tax that waits for its money, and what was taken back since.

use crate::harness::on_both_engines;
use crate::harness::shop::{Shop, cents, id};
use crate::kernel_tax::in_both;
use serde_json::{Value, json};
use std::collections::BTreeMap;

type Figures = BTreeMap<String, i64>;

const REPORTS: [&str; 8] = [
    "tax-summary?",
    "tax-summary?taxBasis=invoice&",
    "tax-return?",
    "tax-return?taxBasis=invoice&",
    "sales-by-customer?",
    "sales-by-item?",
    "purchases-by-supplier?",
    "purchases-by-item?",
];

/// Figures of rows by their place in the tree and their column.
fn flat(rows: &Value, columns: &[&str], path: &str, into: &mut Figures) {
    for row in rows.as_array().unwrap() {
        let own = format!("{path}/{}", row["key"].as_str().unwrap());
        for (column, value) in columns.iter().zip(row["values"].as_array().unwrap()) {
            // Shares of a whole are no figures to add up.
            if !value.is_null() && *column != "share" {
                *into.entry(format!("{own} {column}")).or_default() += cents(value);
            }
        }
        flat(&row["children"], columns, &own, into);
    }
}

fn told(shop: &Shop<'_>, report: &str, (from, to): (&str, &str), more: &str) -> Figures {
    let report = shop.proved(&format!("{report}from={from}&to={to}{more}"));
    let columns: Vec<&str> =
        report["columns"].as_array().unwrap().iter().map(|one| one["key"].as_str().unwrap()).collect();
    let mut figures = Figures::new();
    flat(&report["rows"], &columns, "", &mut figures);
    figures.retain(|_, figure| *figure != 0);
    figures
}

/// Whole months, days at their ends, and both.
const PARTS: [&[(&str, &str)]; 3] = [
    &[("2026-01-01", "2026-03-31"), ("2026-04-01", "2026-06-30")],
    &[("2026-01-01", "2026-03-04"), ("2026-03-05", "2026-03-08"), ("2026-03-09", "2026-06-30")],
    &[("2026-01-01", "2026-04-15"), ("2026-04-16", "2026-04-16"), ("2026-04-17", "2026-06-30")],
];
const WHOLE: (&str, &str) = ("2026-01-01", "2026-06-30");

/// Each step is a record that was made or taken back, and each is followed by what the reports say by then.
fn business(shop: &Shop<'_>) -> Vec<(String, Vec<Figures>)> {
    let mut known: Vec<(String, Vec<Figures>)> = Vec::new();
    let mut step = |record: &Value| {
        let at = record["updatedAt"].as_str().unwrap().to_owned();
        let says = REPORTS.iter().map(|report| told(shop, report, WHOLE, "")).collect();
        known.push((at, says));
    };
    let boxes = json!({"salesBase": "81", "salesTax": "81T", "purchaseBase": "84", "purchaseClaim": "66"});
    let code = shop.tax("V10", json!([{"name": "V10", "rate": 10, "boxes": boxes}]));
    let item = shop.item(json!({"type": "service"}));
    let line = |price: i64| json!({"itemId": item, "unitPrice": price, "taxCodeId": code});
    let bill = shop.purchase("2026-02-20", json!([line(300)]));
    step(&bill);
    let sale = shop.sale("2026-03-01", json!([line(60), line(40)]));
    step(&sale);
    let settled = |body: &mut Value, target: &Value, amount: i64, discount: i64| {
        body["allocations"] = json!([{"targetId": id(target), "amount": amount, "discountAmount": discount}]);
    };
    let mut body = shop.receipt("2026-03-05", "99");
    settled(&mut body, &sale, 99, 11);
    let receipt = shop.make("receipts", &body);
    step(&receipt);
    let one = json!({"date": "2026-03-09", "lines": [{"lineId": sale["lines"][0]["id"]}]});
    let credit = shop.act("POST", "salesInvoices", &sale, "credit-notes", Some(&one)).expect(201).data;
    step(&credit);
    let rest = shop.act("POST", "salesInvoices", &sale, "credit-notes", Some(&json!({"date": "2026-04-16"})));
    step(&rest.expect(201).data);
    let mut body = shop.payment("2026-04-02", "165");
    settled(&mut body, &bill, 165, 15);
    let payment = shop.make("payments", &body);
    step(&payment);
    let back = shop.act("POST", "purchaseInvoices", &bill, "debit-notes", Some(&json!({"date": "2026-04-20"})));
    step(&back.expect(201).data);
    let mut changed = shop.get("creditNotes", &credit);
    changed["date"] = "2026-03-06".into();
    step(&shop.ask("PUT", "creditNotes", &format!("/{}", id(&credit)), Some(&changed)).expect(200).data);
    step(&shop.act("POST", "payments", &payment, "void", Some(&json!({"date": "2026-05-03"}))).expect(200).data);
    step(&shop.void("receipts", &receipt));
    // Not all of it is credited.
    let later = shop.sale("2026-04-16", json!([line(500)]));
    step(&later);
    step(&shop.purchase("2026-05-05", json!([line(80)])));
    let mut body = shop.receipt("2026-06-10", "275");
    settled(&mut body, &later, 275, 11);
    step(&shop.make("receipts", &body));
    known
}

on_both_engines! {
    fn what_is_kept_by_month_is_what_its_days_come_to(server) {
        let settings = json!({
            "discountReducesTax": true, "taxBasis": [{"validFrom": "2026-01-01", "basis": "cash"}]
        });
        in_both(server, &settings, |shop| {
            let known = business(shop);
            let last = &known.last().unwrap().1;
            assert!(last.iter().all(|figures| !figures.is_empty()), "there is something to tell of: {last:?}");
            for (report, whole) in REPORTS.iter().zip(last) {
                for parts in PARTS {
                    let mut sums = Figures::new();
                    for part in parts {
                        for (key, figure) in told(shop, report, *part, "") {
                            *sums.entry(key).or_default() += figure;
                        }
                    }
                    sums.retain(|_, figure| *figure != 0);
                    assert_eq!(&sums, whole, "{report} of {parts:?}");
                }
            }
            for (at, says) in &known {
                for (report, before) in REPORTS.iter().zip(says) {
                    assert_eq!(&told(shop, report, WHOLE, &format!("&knownAt={at}")), before, "{report} as known at {at}");
                }
            }
        });
    }
}
