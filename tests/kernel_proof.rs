//! The proof of tax: a wrong row is told by a check that is made of other rows, with the document and the day.

use crate::harness::books::with_days;
use crate::harness::shop::{Shop, id};
use crate::harness::{Dialect, Engine};
use crate::seals::{Place, start};
use serde_json::json;

const CHECKS: [&str; 5] = ["T1", "T2", "T3", "T4", "T5"];

const INVOICE: &str = "document_kind = 'I' AND duty = 'g'";

/// A fact names the line of its account in its entry.
const POSITIONS: &str = "UPDATE tax_facts SET position = (SELECT l.position FROM entry_lines l \
     WHERE l.business_id = tax_facts.business_id AND l.entry_number = tax_facts.entry_number \
     AND l.account_id = tax_facts.account_id) WHERE document_kind = 'I' AND duty = 'g'";

/// What is changed, how it is changed back, the checks that tell it, and what one of them says.
type Case<'c> = (String, String, &'static [&'static str], Vec<&'c str>);

fn cases(number: &str) -> [Case<'_>; 12] {
    let facts = |set: &str, of: &str| format!("UPDATE tax_facts SET {set} WHERE {of}");
    let settled = "allocation_id IS NOT NULL AND amount < 0";
    [
        (
            facts("home_tax = home_tax + 100", INVOICE),
            facts("home_tax = home_tax - 100", INVOICE),
            &["T1", "T4"],
            vec!["moves -171.00"],
        ),
        (facts("position = NULL", INVOICE), POSITIONS.into(), &["T1"], vec!["names no line"]),
        (
            facts("leads = false", INVOICE),
            facts("leads = true", INVOICE),
            &["T2"],
            vec!["comes to 900.00, and 0.00 is told"],
        ),
        (
            facts("tax_box = '81'", INVOICE),
            facts("tax_box = '81T'", INVOICE),
            &["T3"],
            vec!["of 2026-03-10", "171.00", "81, and its code says 81T"],
        ),
        (
            facts("base_box = NULL", INVOICE),
            facts("base_box = '81'", INVOICE),
            &["T3"],
            vec!["of 2026-03-10", "900.00", "none, and its code says 81"],
        ),
        (
            facts("base = COALESCE(base, home_base) + 100", INVOICE),
            facts("base = NULLIF(base - 100, home_base)", INVOICE),
            &["T4"],
            vec![number, "2026-03-10, line 1"],
        ),
        (
            facts("rate = 7000000", INVOICE),
            facts("rate = 19000000", INVOICE),
            &["T4"],
            vec![number, "of 2026-03-10", "at 7 is told"],
        ),
        (
            facts("tax = COALESCE(tax, home_tax) - 100", INVOICE),
            facts("tax = NULLIF(tax + 100, home_tax)", INVOICE),
            &["T4"],
            vec![number, "2026-03-10, line 1"],
        ),
        (
            facts("not_recoverable = not_recoverable + 100", "document_kind = 'B'"),
            facts("not_recoverable = not_recoverable - 100", "document_kind = 'B'"),
            &["T4"],
            vec!["purchaseInvoice", "2026-03-11, line 1", "what is claimed"],
        ),
        (
            format!("UPDATE open_item_moves SET amount = amount + 100 WHERE {settled}"),
            format!("UPDATE open_item_moves SET amount = amount - 100 WHERE {settled}"),
            &["T5"],
            vec![number, "on 2026-04-05", "535.49 of it is due, and its settlements come to 535.50"],
        ),
        (
            format!("UPDATE open_item_moves SET date = '2026-04-06' WHERE {settled}"),
            format!("UPDATE open_item_moves SET date = '2026-04-05' WHERE {settled}"),
            &["T5"],
            vec![number, "on 2026-04-05", "0.00 of it is due, and its settlements come to 535.50"],
        ),
        (
            "UPDATE allocations SET write_off = 100".into(),
            "UPDATE allocations SET write_off = 0".into(),
            &["T5"],
            vec![number, "on 2026-04-05"],
        ),
    ]
}

fn a_wrong_row_is_told(engine: Engine) {
    let Some(server) = start(engine) else { return };
    let shop = Shop::open(&server, Dialect::B);
    let boxes = json!({"salesBase": "81", "salesTax": "81T", "purchaseClaim": "66"});
    let code = shop.tax("V19", json!([{"name": "VAT", "rate": 19, "recoverablePercent": 50, "boxes": boxes}]));
    let line = json!([{"unitPrice": 1000, "taxCodeId": code}]);
    let sale = shop.make(
        "salesInvoices",
        &json!({
            "date": "2026-03-10", "partyId": shop.customer, "currency": "USD", "exchangeRate": "0.9", "lines": line
        }),
    );
    shop.purchase("2026-03-11", line);
    let mut receipt = shop.receipt("2026-04-05", "595");
    (receipt["currency"], receipt["exchangeRate"]) = ("USD".into(), "0.9".into());
    receipt["allocations"] = json!([{"targetId": id(&sale), "amount": 595}]);
    shop.make("receipts", &receipt);
    let place = Place::of(&server);
    let told = |check: &str| place.findings(&shop.company, check);
    for check in CHECKS {
        assert_eq!(told(check), Vec::<String>::new(), "{check}");
    }
    place.unguard();
    let number = sale["number"].as_str().unwrap();
    for (wrong, right, checks, words) in cases(number) {
        place.run(&with_days(&wrong));
        for check in checks {
            let told = told(check);
            assert!(!told.is_empty(), "{check}: {wrong}");
        }
        let all: Vec<String> = checks.iter().flat_map(|check| told(check)).collect();
        assert!(all.iter().any(|one| words.iter().all(|word| one.contains(word))), "{wrong}: {all:#?}");
        place.run(&with_days(&right));
        for check in CHECKS {
            assert_eq!(told(check), Vec::<String>::new(), "{check} after {right}");
        }
    }
}

#[test]
fn a_wrong_row_of_tax_is_told_on_sqlite() {
    a_wrong_row_is_told(Engine::Sqlite);
}

#[test]
fn a_wrong_row_of_tax_is_told_on_postgres() {
    a_wrong_row_is_told(Engine::Postgres);
}
