//! What the console puts on paper, and what it adds up and draws by itself.

use crate::console::{Desk, THERE};
use crate::harness::process::eventually;
use crate::harness::server::authorised;
use crate::harness::{Request, Server};
use serde_json::{Value, json};

/// Letters and figures without what a language puts between them.
fn plain(text: &str) -> String {
    text.replace([',', '\u{a0}', '\u{202f}', ' '], "")
}

/// As many cents as a cell shows; nothing where it shows no amount.
fn cents(text: &str) -> Option<i64> {
    let text = plain(text).replace('\u{2212}', "-");
    let (whole, part) = text.split_once('.')?;
    format!("{whole}{part}").parse().ok()
}

#[test]
fn an_invoice_is_printed_as_one() {
    let Some(desk) = Desk::open(Server::demo()) else { return };
    let browser = &desk.browser;
    desk.go("/sales-invoices?status=partiallyPaid");
    browser.click("table.list tbody th a");
    browser.wait(&format!("document.querySelector('#print') && {THERE}"));
    let record = desk.record();
    // What stands beside it, such as where the money goes, is asked for by itself.
    browser.wait("document.querySelector('.entry')");
    browser.run("dispatchEvent(new Event('beforeprint'))");
    let paper = plain(&desk.text(".paper"));
    let said = |value: &Value| plain(&value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    // Whoever paid a part paid it, or was credited it.
    let given = ["amountPaid", "amountCredited"].map(|member| (member, plain(&said(&record[member]))));
    let given: Vec<&str> = given
        .iter()
        .filter(|(_, amount)| !amount.trim_matches(['0', '.']).is_empty())
        .map(|(member, _)| *member)
        .collect();
    assert!(!given.is_empty(), "{record}");
    for member in ["number", "total", "balanceDue"].into_iter().chain(given) {
        assert!(paper.contains(&said(&record[member])), "no {member} in {paper}");
    }
    for line in record["lines"].as_array().unwrap() {
        assert!(paper.contains(&said(&line["description"])), "{line} is not in {paper}");
    }
    assert_eq!(
        browser.run("return document.title"),
        record["number"].as_str().map(|number| format!("Invoice {number}")).unwrap()
    );
    browser.run("dispatchEvent(new Event('afterprint'))");
    assert_eq!(desk.text(".paper"), "", "the paper stays on the page");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

/// What the sheet of the record says that is shown.
fn printed(desk: &Desk) -> String {
    desk.browser.wait(&format!("document.querySelector('#print') && {THERE}"));
    desk.browser.run("dispatchEvent(new Event('beforeprint'))");
    let paper = plain(&desk.text(".paper"));
    desk.browser.run("dispatchEvent(new Event('afterprint'))");
    paper
}

/// Opens the oldest document of a kind.
fn oldest(desk: &Desk, segment: &str) {
    desk.go(&format!("/{segment}?sort=date"));
    desk.browser.click("table.list tbody th a");
    desk.browser.wait(&format!("location.pathname.split('/').length === 5 && {THERE}"));
}

#[test]
fn a_correction_names_what_it_corrects_and_why() {
    let Some(desk) = Desk::open(Server::demo()) else { return };
    oldest(&desk, "credit-notes");
    let paper = printed(&desk);
    let note = desk.record();
    let invoice = note["links"].as_array().unwrap().iter().find(|link| link["relation"] == "credits").unwrap();
    for told in [&invoice["number"], &note["reason"]] {
        assert!(paper.contains(&plain(told.as_str().unwrap())), "no {told} in {paper}");
    }
}

#[test]
fn who_gets_goods_reads_what_they_are_and_not_what_they_cost() {
    let Some(desk) = Desk::open(Server::demo()) else { return };
    oldest(&desk, "delivery-notes");
    let paper = printed(&desk);
    let note = desk.record();
    let line = &note["lines"][0];
    assert!(paper.contains(&plain(line["description"].as_str().unwrap())), "{line} is not in {paper}");
    for told in
        [plain(&note["costTotal"].to_string()), plain(&note["total"].to_string()), "Price".into(), "Amount".into()]
    {
        assert!(!paper.contains(&told), "{told} is in {paper}");
    }
}

/// What a line takes off itself is off its amount; what is off the whole stands below, with its percent.
#[test]
fn a_discount_is_taken_off_where_it_is_given() {
    let Some(desk) = Desk::open(Server::demo()) else { return };
    oldest(&desk, "sales-invoices");
    let (party, business) = (desk.record()["partyId"].clone(), desk.home.rsplit('/').next().unwrap());
    let token = desk.browser.run("return JSON.parse(sessionStorage['duet.session']).token");
    let day = desk.browser.run("return new Date().toISOString().slice(0, 10)");
    let body = json!({"partyId": party, "date": day, "status": "posted", "discountPercent": 5, "lines": [
        {"description": "Advice", "quantity": 1, "unitPrice": "99.99", "discountPercent": 10},
        {"description": "Travel", "quantity": 1, "unitPrice": 100},
    ]});
    let asked = authorised(Request::new("POST", "/b/api/sales-invoices"), token.as_str().unwrap());
    let made = desk.server.send(&asked.header("X-Business-Id", business).json(&body)).expect(201).json();
    desk.go(&format!("/sales-invoices/{}", made["id"].as_str().unwrap()));
    let paper = printed(&desk);
    for told in ["10%89.99", "189.99", "Discount5%", "9.50", "180.49"] {
        assert!(paper.contains(told), "no {told} in {paper}");
    }
}

#[test]
fn a_profit_by_quarters_has_its_total() {
    let Some(desk) = Desk::open(Server::demo()) else { return };
    let browser = &desk.browser;
    let rows = |view: &str| -> Vec<Vec<String>> {
        desk.go(view);
        browser.wait("document.querySelectorAll('table.report tbody tr').length > 5");
        let cells = "return [...document.querySelectorAll('table.report tr')].map(row => [...row.cells].map(one => one.textContent))";
        serde_json::from_value(browser.run(cells)).unwrap()
    };
    let shown = rows("/reports/pl?groupBy=quarter");
    assert_eq!(shown[0].last().unwrap(), "Total");
    let mut added = 0;
    for row in &shown[1..] {
        let figures: Vec<i64> = row.iter().skip(1).filter_map(|cell| cents(cell)).collect();
        if let [parts @ .., total] = figures.as_slice()
            && parts.len() == shown[0].len() - 2
        {
            assert_eq!(parts.iter().sum::<i64>(), *total, "{row:?}");
            added += 1;
        }
    }
    assert!(added > 5, "{shown:?}");
    // Where the stock of a day is told, a sum over days says nothing.
    let balances = rows("/reports/bs?groupBy=quarter");
    assert!(balances[0].last().is_none_or(|head| head != "Total"), "{:?}", balances[0]);
}

#[test]
fn a_long_report_is_whole_on_paper_and_soon_on_the_page() {
    let Some(desk) = Desk::open(Server::demo()) else { return };
    let browser = &desk.browser;
    let long = "/reports/general-ledger?from=2020-01-01&to=2099-12-31";
    // What only keeps the widths while names are awaited is no row of the report.
    let rows = "document.querySelectorAll('table.report tbody:not(.longest) tr').length";
    let count = || browser.run(&format!("return {rows}")).as_u64().unwrap();
    // Other tests write into these books meanwhile: then both are looked at once more.
    let whole = eventually("a page that has what the paper had", || {
        desk.go(long);
        browser.wait(&format!("{rows} > 50"));
        browser.run("dispatchEvent(new Event('beforeprint'))");
        let on_paper = count();
        browser.run("dispatchEvent(new Event('afterprint'))");
        desk.go("/");
        desk.go(long);
        browser.wait(&format!("{rows} > 50"));
        browser.wait("!document.querySelector('table.report [aria-busy=true], [aria-busy=true] table.report')");
        (count() == on_paper).then_some(on_paper)
    });
    assert!(whole > 200, "{whole} rows");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}
