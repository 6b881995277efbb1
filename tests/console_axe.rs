//! axe-core looks at every page, light and dark, on a desk and on a phone, and finds nothing that keeps somebody from reading it.

use crate::console::{Desk, THERE};
use crate::harness::Server;
use crate::harness::process::say_loudly;
use serde_json::Value;
use std::collections::BTreeSet;

const WHERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/browser/node_modules/axe-core/axe.min.js");

/// The rules, where somebody asks for them: to look at every page takes many minutes. Nothing, loudly, where nobody does.
fn rules() -> Option<String> {
    if std::env::var("DUET_TEST_AXE").is_ok_and(|value| value == "required") {
        let found = std::fs::read_to_string(WHERE);
        return Some(found.unwrap_or_else(|_| panic!("DUET_TEST_AXE=required, and tests/browser/get.sh was not run")));
    }
    say_loudly("WITHOUT DUET_TEST_AXE=required what keeps people from reading a page is not looked for");
    None
}

/// What axe says of the page that is shown, as one text a finding.
const FINDINGS: &str = "
    const done = arguments[0];
    axe.run(document, {resultTypes: ['violations']}).then(
        told => done(told.violations.flatMap(rule => rule.nodes.map(node =>
            `${rule.id}: ${node.target.join(' ')}: ${node.html.slice(0, 160)}: ${(node.any[0] ?? node.all[0] ?? node.none[0])?.message ?? ''}`))),
        error => done(['axe broke: ' + error]));";

/// Every view of the console that a link of it leads to: lists, a record of each and its form, reports, settings.
fn views(desk: &Desk) -> BTreeSet<String> {
    let links = |css: &str| -> BTreeSet<String> {
        let found = desk.browser.run(&format!(
            "return [...document.querySelectorAll('{css}')].map(one => one.getAttribute('href')).filter(one => one.startsWith('/c/'))"
        ));
        found.as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned()).collect()
    };
    desk.go("/settings");
    let mut all = links(".rail a, #main a");
    let company = format!("/c/{}", desk.home.split_once("/c/").unwrap().1);
    let lists: Vec<String> = all.iter().filter(|one| one.matches('/').count() == 3).cloned().collect();
    desk.go("/reports");
    all.extend(links("#main a"));
    for list in &lists {
        desk.go(list.strip_prefix(&company).unwrap());
        if let Some(record) = links("table.list tbody tr:first-child th a").into_iter().next() {
            all.insert(format!("{record}/edit"));
            all.insert(record);
        }
        all.extend(links("#new"));
    }
    for other in ["/account", "/search?q=hotel", "/nothing", "/sales-invoices?status=void&q=nothing-has-this"] {
        all.insert(format!("{company}{other}"));
    }
    all
}

fn nothing_is_found(width: u32, height: u32) {
    let Some(rules) = rules() else { return };
    let server = Server::demo();
    let Some(desk) = Desk::open(server) else { return };
    let browser = &desk.browser;
    let console = views(&desk);
    assert!(console.len() > 100, "{}: {console:?}", console.len());
    browser.begin_with(&rules);
    browser.resize(width, height);
    let mut found = Vec::new();
    let mut look = |address: &str| {
        for scheme in ["light", "dark"] {
            browser.prefer(scheme);
            let told = browser.run_to_its_end(FINDINGS);
            let told = told.as_array().unwrap().iter().map(Value::to_string);
            found.extend(told.map(|one| format!("{address} at {width}, {scheme}: {one}")));
        }
    };
    for address in &console {
        browser.open(&format!("http://{}{address}", server.address));
        browser.wait(THERE);
        // What is folded away is looked at as well.
        browser.run("for (const one of document.querySelectorAll('#main details')) one.open = true");
        browser.wait("!document.querySelector('.waiting')");
        look(address);
    }
    desk.go("/sales-invoices");
    browser.click("#as-request");
    browser.wait("document.querySelectorAll('dialog .curl').length > 1");
    look("the dialog of requests");
    for beside in [
        "/about",
        "/docs",
        "/docs/api",
        "/docs/accounting",
        "/errors",
        "/errors/not_found",
        "/compare",
        "/moving",
        "/nowhere",
    ] {
        browser.open(&format!("http://{}{beside}", server.address));
        look(beside);
    }
    browser.run("sessionStorage.clear()");
    browser.open(&format!("http://{}/", server.address));
    browser.wait("document.querySelector('#sign-in')");
    look("signing in");
    let count = found.len();
    let kinds: BTreeSet<String> =
        found.iter().map(|one| one.split(": ").nth(1).unwrap_or_default().to_owned()).collect();
    assert!(found.is_empty(), "{count} findings of {kinds:?}: {:#?}", &found[..count.min(60)]);
}

#[test]
fn axe_finds_nothing_on_a_desk() {
    nothing_is_found(1440, 900);
}

#[test]
fn axe_finds_nothing_on_a_phone() {
    nothing_is_found(390, 844);
}
