//! The console is worked in a real browser, as a person would: it speaks dialect B alone, and so it is proof of it.

use crate::demo::PASSWORD as DEMO_PASSWORD;
use crate::harness::browser::{Browser, ENTER};
use crate::harness::process::{piped, say_loudly};
use crate::harness::server::{OWNER_EMAIL, OWNER_PASSWORD, authorised};
use crate::harness::{Engine, Options, Request, Server};
use crate::signin::{PASSWORD, added, with_authenticator};
use crate::tidy::{root, sources};
use ledger_core::error::Code;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::Command;

const DEMO_EMAIL: &str = "demo@duet.example";

/// A view is there: it has its heading, and nothing in it is still asked for.
pub const THERE: &str = "document.querySelector('#main h1') && document.querySelector('#main').ariaBusy === 'false' \
                     && !document.querySelector('.waiting')";

/// A console with somebody signed in.
pub struct Desk<'s> {
    pub browser: Browser,
    pub server: &'s Server,
    pub home: String,
}

impl<'s> Desk<'s> {
    pub fn open(server: &'s Server) -> Option<Self> {
        let browser = Browser::start()?;
        browser.open(&format!("http://{}/", server.address));
        browser.wait("document.querySelector('#sign-in')");
        if browser.run("return document.querySelector('[name=email]').value") == "" {
            browser.fill("[name=email]", OWNER_EMAIL);
            browser.fill("[name=password]", OWNER_PASSWORD);
        }
        browser.click("#sign-in button[type=submit]");
        browser.wait(THERE);
        let home = browser.run("return location.origin + location.pathname").as_str().unwrap().to_owned();
        Some(Self { browser, server, home })
    }

    pub fn go(&self, view: &str) {
        self.browser.open(&format!("{}{view}", self.home));
        self.browser.wait(THERE);
    }

    pub fn text(&self, css: &str) -> String {
        let asked = format!("return document.querySelector({})?.textContent ?? ''", json!(css));
        self.browser.run(&asked).as_str().unwrap().to_owned()
    }

    pub fn pick(&self, css: &str, letters: &str) {
        self.browser.fill(css, letters);
        self.browser.wait("document.querySelector('[role=option][aria-selected=true]')");
        self.browser.enter(css, ENTER);
        self.browser
            .wait(&format!("!document.querySelector('[role=option]') && document.querySelector({}).value", json!(css)));
    }

    /// Clicks, with what is clicked in the middle of the window: on a phone a bar lies over its edge.
    pub fn press(&self, css: &str) {
        self.browser.wait(&format!("document.querySelector({})", json!(css)));
        self.browser.run(&format!("document.querySelector({}).scrollIntoView({{block: 'center'}})", json!(css)));
        self.browser.click(css);
    }

    /// Chooses a day as the calendar would, whatever order the browser's language has.
    pub fn day(&self, css: &str, day: &str) {
        self.browser.wait(&format!("document.querySelector({})", json!(css)));
        self.browser.run(&format!(
            "const field = document.querySelector({}); field.value = '{day}'; field.dispatchEvent(new Event('input', {{bubbles: true}}))",
            json!(css)
        ));
    }

    /// A dialog is answered, and leads to a document of another kind.
    pub fn derive(&self, button: &str, segment: &str) {
        self.press(button);
        self.browser.wait("document.querySelector('dialog[open] [data-line]')");
        self.press("dialog button[type=submit]");
        self.browser.wait(&format!("location.pathname.includes('/{segment}/') && {THERE}"));
    }

    /// What the server says of the record that is shown.
    pub fn record(&self) -> Value {
        let path = self.browser.run("return location.pathname");
        let parts: Vec<&str> = path.as_str().unwrap().split('/').collect();
        let [_, _, business, segment, id] = parts[..] else { panic!("no record at {path}") };
        let token = self.browser.run("return JSON.parse(sessionStorage['duet.session']).token");
        let asked = authorised(Request::new("GET", &format!("/b/api/{segment}/{id}")), token.as_str().unwrap());
        self.server.send(&asked.header("X-Business-Id", business)).expect(200).json()
    }

    /// The invoice that stands first where they are sorted by their day, as the server has it.
    fn first_invoice(&self) -> Value {
        let business = self.home.rsplit('/').next().unwrap();
        let token = self.browser.run("return JSON.parse(sessionStorage['duet.session']).token");
        let asked =
            authorised(Request::new("GET", "/b/api/sales-invoices?sort=date&pageSize=1"), token.as_str().unwrap());
        self.server.send(&asked.header("X-Business-Id", business)).expect(200).json()["items"][0].clone()
    }

    /// The addresses of all reports.
    fn reports(&self) -> BTreeSet<String> {
        self.go("/reports");
        let found =
            self.browser.run("return [...document.querySelectorAll('#main a')].map(one => one.getAttribute('href'))");
        found.as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned()).collect()
    }

    /// Nothing was complained of but answers that refuse, where that was meant.
    pub fn is_quiet(&self, meant: &[&str]) {
        let complaints = self.browser.complaints();
        let unmeant: Vec<_> = complaints.iter().filter(|one| !meant.iter().any(|part| one.contains(part))).collect();
        assert!(unmeant.is_empty(), "{unmeant:#?}");
    }
}

/// An amount as it is written where thousands and cents are set off so.
fn written(amount: &Value, thousands: char, cents: char) -> String {
    let text = amount.to_string();
    let (whole, rest) = text.split_once('.').expect("cents");
    let mut told = String::new();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place) % 3 == 0 {
            told.push(thousands);
        }
        told.push(digit);
    }
    format!("{told}{cents}{rest}")
}

/// A page of somebody else's may call this machine by another name, and would be signed in by what everybody knows.
#[test]
fn a_demo_answers_by_the_names_of_this_machine_alone() {
    let server = Server::demo();
    for (host, status) in [("127.0.0.1:5000", 200), ("localhost", 200), ("a.localhost", 200), ("rebound.example", 421)]
    {
        server.send(&Request::new("GET", "/").header("Host", host)).expect(status);
    }
}

#[test]
fn who_signs_in_sees_how_the_company_stands() {
    let server = Server::demo();
    let Some(desk) = Desk::open(server) else { return };
    let browser = &desk.browser;
    assert_eq!(desk.text("#main h1"), "Harbour Trading");
    browser.wait("document.querySelectorAll('.head .big').length === 4");
    browser.wait("[...document.querySelectorAll('.head .big')].every(one => /\\d/.test(one.textContent))");
    browser.wait("document.querySelectorAll('.chart a').length > 10");
    // A bar is a link to the month that it stands for.
    let leads = browser.run("return document.querySelector('.chart a').getAttribute('href')");
    assert!(leads.as_str().unwrap().contains("/reports/pl?from="), "{leads}");
    let token = browser.run("return JSON.stringify(Object.keys(localStorage)) + location.href");
    assert!(!token.as_str().unwrap().contains("session"), "the token stays in the tab: {token}");

    desk.go("/sales-invoices?sort=date");
    browser.wait("document.querySelectorAll('table.list tbody tr').length > 10");
    let first = desk.first_invoice();
    browser.click("table.list tbody th a");
    browser.wait("document.querySelector('#history') && document.querySelector('.entry')");
    assert_eq!(desk.text("#main h1"), first["number"].as_str().unwrap());
    // As the server has it: to the last cent, and as the reader writes it.
    let unit = match first["currency"].as_str().unwrap() {
        "EUR" => "€".to_owned(),
        other => format!("{other}\u{a0}"),
    };
    assert_eq!(desk.text(".totals .sum dd"), format!("{unit}{}", written(&first["total"], ',', '.')));
    browser.click("#history summary");
    browser.wait("document.querySelectorAll('.history li').length >= 1");

    browser.click("#as-request");
    browser.wait("document.querySelectorAll('dialog .curl').length === 2");
    let [own, other] = [0, 1].map(|at| {
        let text = browser.run(&format!("return document.querySelectorAll('dialog .curl pre')[{at}].textContent"));
        text.as_str().unwrap().to_owned()
    });
    assert!(own.contains("/b/api/sales-invoices/") && own.contains("X-Business-Id"), "{own}");
    assert!(other.contains("/a/api/") && other.contains("/sales/"), "{other}");
    assert!(!own.contains("eyJ") && !other.contains("eyJ"), "a token is nobody's to copy");
    desk.is_quiet(&[]);

    browser.run("document.querySelector('dialog').close()");
    browser.click("summary[aria-label='Your account']");
    browser.click("#sign-out");
    browser.wait("document.querySelector('#sign-in')");
    assert_eq!(browser.run("return sessionStorage.getItem('duet.session')"), Value::Null);
}

/// Who is signed in to the console compares without signing in once more, and signs out where they signed in.
#[test]
fn the_page_that_compares_knows_who_is_signed_in() {
    let server = Server::demo();
    let Some(desk) = Desk::open(server) else { return };
    let browser = &desk.browser;
    browser.open(&format!("http://{}/compare", server.address));
    browser.wait("!document.querySelector('#request').hidden");
    assert_eq!(browser.run("return document.querySelector('#who').textContent"), DEMO_EMAIL);
    assert_eq!(browser.run("return document.querySelector('#own').hidden"), true);
    assert_eq!(browser.run("return sessionStorage.getItem('duet-compare-token')"), Value::Null);
    desk.is_quiet(&[]);
}

#[test]
fn an_order_becomes_a_receipt() {
    let server = Server::demo();
    let Some(desk) = Desk::open(server) else { return };
    let browser = &desk.browser;
    desk.go("/sales-orders/new");
    desk.pick("[name=partyId]", "berg");
    desk.pick(".grid [name=itemId]", "cups");
    // The item brings its price along; what it comes to, the server says.
    browser.wait("document.querySelector('.grid [name=unitPrice]').value");
    browser.fill(".grid [name=quantity]", "2");
    browser.fill(".grid [name=unitPrice]", "1,000.25");
    browser.wait("document.querySelector('.preview .sum dd')?.textContent === '€2,380.60'");
    browser.click("#posted");
    browser.wait("document.querySelector('#act-deliver')");
    assert_eq!(desk.record()["lines"][0]["unitPrice"], json!(1000.25));

    desk.derive("#act-deliver", "delivery-notes");
    browser.wait("document.querySelector('#act-invoice')");
    desk.derive("#act-invoice", "sales-invoices");
    browser.wait("document.querySelector('#act-settle')");
    browser.click("#act-settle");
    browser.wait(&format!("document.querySelector('.settle input') && {THERE}"));
    desk.pick("[name=accountId]", "1010");
    browser.wait("document.querySelectorAll('.preview .postings tbody tr').length === 2");
    browser.click("#posted");
    browser.wait("document.querySelector('.entry')");
    let receipt = desk.record();
    assert_eq!(
        (&receipt["status"], &receipt["allocationStatus"]),
        (&json!("posted"), &json!("allocated")),
        "{receipt}"
    );

    // Along the chain, back to the invoice.
    browser.click(".chain a[href*='/sales-invoices/']");
    browser.wait("location.pathname.includes('/sales-invoices/')");
    browser.wait(THERE);
    assert_eq!(desk.record()["status"], "paid");
    desk.is_quiet(&[]);
}

#[test]
fn a_fault_stands_at_its_field() {
    let server = Server::demo();
    let Some(desk) = Desk::open(server) else { return };
    let browser = &desk.browser;
    desk.go("/sales-invoices/new");
    browser.fill(".grid [name=quantity]", "a dozen");
    browser.click("#posted");
    browser.wait("document.querySelectorAll('.wrong li').length === 3");
    let fault = |css: &str| {
        let told = browser.run(&format!(
            "const field = document.querySelector({}); const by = field.getAttribute('aria-describedby'); \
             return [field.getAttribute('aria-invalid'), by && document.getElementById(by).textContent]",
            json!(css)
        ));
        (told[0].as_str().unwrap_or_default().to_owned(), told[1].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(fault("[name=partyId]"), ("true".into(), "is required".into()));
    let (marked, said) = fault(".grid [name=quantity]");
    assert!(marked == "true" && said.contains("must be a decimal number"), "{said}");
    assert_eq!(fault("[name=date]").0, "");
    assert_eq!(browser.run("return document.activeElement.getAttribute('aria-invalid')"), "true");
    // What is mended is sent again, and taken.
    desk.pick("[name=partyId]", "hansen");
    desk.pick(".grid [name=itemId]", "course");
    browser.fill(".grid [name=quantity]", "2");
    browser.click("#draft");
    browser.wait("document.querySelector('#act-post')");
    assert_eq!(desk.record()["status"], "draft");
    desk.is_quiet(&["status of 400"]);
}

#[test]
fn who_was_outrun_decides_which_version_stays() {
    let server = Server::demo();
    let Some(desk) = Desk::open(server) else { return };
    let browser = &desk.browser;
    desk.go("/parties?q=zenith");
    browser.click("table.list tbody th a");
    browser.wait("document.querySelector('#edit')");
    let party = desk.record();
    browser.click("#edit");
    browser.wait("document.querySelector('[name=phone]')");
    let token = browser.run("return JSON.parse(sessionStorage['duet.session']).token");
    let mut faster = party.clone();
    faster["phone"] = "+49 40 1".into();
    faster["website"] = "https://zenith.example".into();
    let path = format!("/b/api/parties/{}", party["id"].as_str().unwrap());
    let business = desk.home.rsplit('/').next().unwrap().to_owned();
    let put = authorised(Request::new("PUT", &path), token.as_str().unwrap()).header("X-Business-Id", &business);
    server.send(&put.json(&faster)).expect(200);

    browser.fill("[name=phone]", "+49 40 2");
    browser.fill("[name=email]", "kept@zenith.example");
    browser.click("#save");
    browser.wait("document.querySelector('dialog[open] table')");
    let told = desk.text("dialog table");
    assert!(told.contains("+49 40 1") && told.contains("+49 40 2"), "{told}");
    // What one of them changed alone is theirs or the reader's; what both did, the reader decides.
    let chosen = browser.run(
        "return [...document.querySelectorAll('dialog tr[data-field]')]
            .map(one => [one.dataset.field, one.className, one.querySelector('input:checked').value])",
    );
    assert_eq!(chosen, json!([["email", "", "mine"], ["phone", "both", "mine"], ["website", "", "theirs"]]));
    browser.click("dialog button[type=submit]");
    browser.wait("document.querySelector('#edit')");
    let kept = desk.record();
    let fields = ["phone", "website", "email", "version"].map(|name| &kept[name]);
    assert_eq!(
        fields,
        [&json!("+49 40 2"), &json!("https://zenith.example"), &json!("kept@zenith.example"), &json!(3)]
    );
    desk.is_quiet(&["status of 412"]);
}

#[test]
fn a_session_that_ends_loses_nothing() {
    let server = Server::demo();
    let Some(desk) = Desk::open(server) else { return };
    let browser = &desk.browser;
    desk.go("/parties/new");
    browser.fill("[name=name]", "Written before the end");
    let token = browser.run("return JSON.parse(sessionStorage['duet.session']).token");
    let logout = authorised(Request::new("POST", "/b/api/auth/me/logout"), token.as_str().unwrap());
    server.send(&logout).expect(200);
    browser.click("#save");
    browser.wait("document.querySelector('dialog[open] [name=password]')");
    browser.click("dialog button[type=submit]");
    browser.wait("document.querySelector('#edit')");
    assert_eq!(desk.record()["name"], "Written before the end");
    desk.is_quiet(&["status of 401"]);
}

#[test]
fn a_second_factor_is_asked_for_and_no_company_is_no_dead_end() {
    // Whoever guesses wrong uses up what all tests of a server share.
    let server = &Server::start(Engine::Sqlite, Options::default()).expect("SQLite needs nothing");
    let Some(browser) = Browser::start() else { return };
    let email = added(server, &[]);
    let (_, _, codes) = with_authenticator(server, &email);
    browser.open(&format!("http://{}/", server.address));
    browser.fill("[name=email]", &email);
    browser.fill("[name=password]", "not this one");
    browser.click("#sign-in button[type=submit]");
    browser.wait("document.querySelector('.wrong').textContent.includes('wrong')");
    browser.fill("[name=password]", PASSWORD);
    browser.click("#sign-in button[type=submit]");
    browser.wait("document.querySelector('.wrong').textContent.includes('second factor')");
    browser.fill("[name=code]", &codes[0]);
    browser.click("#sign-in button[type=submit]");
    browser.wait("document.querySelector('h1').textContent === 'Which company?'");
}

/// The picture of it, as somebody else's program reads it.
#[test]
fn an_authenticator_reads_the_secret_off_the_page() {
    let Some(desk) = Desk::open(Server::demo()) else { return };
    let browser = &desk.browser;
    desk.go("/account");
    desk.press("#begin-factor");
    browser.fill("dialog [name=currentPassword]", DEMO_PASSWORD);
    desk.press("dialog button[type=submit]");
    browser.wait("document.querySelector('dialog svg.qr')");
    let address = browser.run("return document.querySelector('dialog a[href^=otpauth]').getAttribute('href')");
    let read = "base64 -d | zbarimg --nodbus --quiet --raw -";
    if Command::new("zbarimg").arg("--version").output().is_err() {
        let required = std::env::var("DUET_TEST_BROWSER").is_ok_and(|value| value == "required");
        assert!(!required, "DUET_TEST_BROWSER=required, and there is no zbarimg here");
        return say_loudly("SKIPPED: zbarimg is not installed");
    }
    let said = piped("sh", &["-c", read], &browser.picture()).expect("sh");
    assert_eq!(said.trim_end(), address.as_str().unwrap());
}

#[test]
fn a_report_leads_to_what_it_is_made_of() {
    let server = Server::demo();
    let Some(desk) = Desk::open(server) else { return };
    let browser = &desk.browser;
    desk.go("/reports/trial-balance");
    browser.wait("document.querySelectorAll('table.report tbody tr').length > 10");
    assert!(desk.text(".checks-box").contains("hold"));
    browser.run(
        "[...document.querySelectorAll('table.report th a')].find(one => one.textContent.startsWith('1015')).click()",
    );
    browser.wait("location.pathname.endsWith('/reports/general-ledger') && document.querySelector('.row-line a')");
    browser.click(".row-line a");
    browser.wait(&format!("location.pathname.includes('/journals/') && {THERE}"));
    // One without what it needs says what that is, and asks for nothing.
    desk.go("/reports/stock-ledger");
    assert!(desk.text(".empty").contains("Item"));
    desk.is_quiet(&[]);
}

/// Faults of a view that a person with a keyboard, a screen reader or a phone would meet.
pub const FAULTS: &str = "
    const seen = one => one.checkVisibility({visibilityProperty: true}) && one.getClientRects().length > 0;
    const named = one => (one.getAttribute('aria-label') || one.labels?.[0]?.textContent || one.getAttribute('title')
        || (['A', 'BUTTON', 'SUMMARY'].includes(one.tagName) ? one.textContent : '')).trim() !== '';
    const faults = [];
    const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    if (wide > 0) faults.push('wider than the window by ' + wide);
    if (document.querySelectorAll('h1').length !== 1) faults.push('not one h1');
    if (document.documentElement.lang === '') faults.push('no language');
    for (const one of document.querySelectorAll('a[href], button, input, select, textarea, summary')) {
        if (seen(one) && !named(one)) faults.push('no name: ' + one.outerHTML.slice(0, 160));
    }
    const ids = [...document.querySelectorAll('[id]')].map(one => one.id);
    for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) faults.push('twice: ' + id);
    for (const one of document.querySelectorAll('[aria-describedby], [aria-controls]')) {
        for (const id of [one.getAttribute('aria-describedby'), one.getAttribute('aria-controls')]) {
            if (id && !document.getElementById(id)) faults.push('leads nowhere: ' + id);
        }
    }
    for (const one of document.querySelectorAll('th')) if (!one.scope) faults.push('no scope: ' + one.textContent);
    if (document.querySelector('#main')?.textContent.match(/undefined|\\[object|NaN/)) faults.push('shows ' + RegExp.lastMatch);
    return faults;";

#[test]
fn every_view_can_be_read_by_everybody_on_a_desk_and_on_a_phone() {
    let server = Server::demo();
    let Some(desk) = Desk::open(server) else { return };
    let browser = &desk.browser;
    desk.go("/settings");
    let lists = browser.run("return [...document.querySelectorAll('.rail a, #main a')].map(one => one.getAttribute('href')).filter(one => one.startsWith('/c/'))");
    let lists: BTreeSet<String> =
        lists.as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned()).collect();
    let reports = desk.reports();
    assert!(lists.len() > 30 && reports.len() > 25, "{lists:?} {reports:?}");
    let company = desk.home.split_once("/c/").unwrap().1;
    let forms = [
        "sales-invoices/new",
        "journals/new",
        "receipts/new",
        "permissions/new",
        "tax-codes/new",
        "account",
        "search?q=hotel",
        "nothing",
    ];
    let forms = forms.map(|view| format!("/c/{company}/{view}"));
    let mut faults = Vec::new();
    for (width, height) in [(1440, 900), (390, 844)] {
        browser.resize(width, height);
        for address in lists.iter().chain(&reports).chain(&forms) {
            browser.open(&format!("http://{}{address}", server.address));
            browser.wait(THERE);
            let found = browser.run(FAULTS);
            faults.extend(found.as_array().unwrap().iter().map(|fault| format!("{address} at {width}: {fault}")));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
    desk.is_quiet(&[]);
}

#[test]
fn a_trial_is_marked_and_its_forms_begin_on_its_day() {
    let server = Server::demo();
    let Some(desk) = Desk::open(server) else { return };
    let browser = &desk.browser;
    assert_eq!(browser.run("return document.querySelector('#trial')"), Value::Null, "a real company is not marked");
    let token = browser.run("return JSON.parse(sessionStorage['duet.session']).token");
    let ask = |path: &str, body: Value| {
        let request = authorised(Request::new("POST", path).json(&body), token.as_str().unwrap());
        server.send(&request).json()
    };
    let made = ask("/b/api/businesses", json!({"name": "To try out", "baseCurrency": "EUR", "isTrial": true}));
    let trial = made["id"].as_str().unwrap();
    assert_eq!(ask(&format!("/b/api/businesses/{trial}/clock"), json!({"today": "2031-03-01"}))["today"], "2031-03-01");
    let base = desk.home.rsplit_once('/').unwrap().0.to_owned();
    let tried = Desk { home: format!("{base}/{trial}"), ..desk };
    tried.go("");
    let mark = tried.text("#trial");
    assert!(mark.starts_with("Trial") && mark.contains("2031"), "{mark}");
    tried.go("/journals/new");
    assert_eq!(tried.browser.run("return document.querySelector('[name=date]').value"), "2031-03-01");
    tried.is_quiet(&[]);
}

#[test]
fn the_console_speaks_german_as_well() {
    let server = Server::demo();
    let Some(desk) = Desk::open(server) else { return };
    let browser = &desk.browser;
    browser.click("summary[aria-label='Your account']");
    browser.run(
        "const one = document.querySelector('#language'); one.value = 'de'; one.dispatchEvent(new Event('change'))",
    );
    browser.wait("document.documentElement.lang === 'de' && document.querySelector('.rail a[aria-current]').textContent === 'Übersicht'");
    // What the books of each company tell is told so, and so is where it leads.
    let stories = browser.run("return JSON.parse(document.querySelector('meta[name=duet]').content).stories");
    let sentences = stories.as_array().unwrap().iter().flat_map(|story| story[1].as_array().unwrap());
    let texts: Vec<&str> = sentences.flat_map(|one| [&one[0], &one[1]]).map(|text| text.as_str().unwrap()).collect();
    assert_eq!(texts.len(), 30);
    let catalogue = ["german", "german-more", "german-story"]
        .map(|name| std::fs::read_to_string(root().join(format!("crates/console/web/{name}.js"))).unwrap())
        .concat();
    for text in texts {
        let is_there = [format!("  \"{text}\":"), format!("  {text}:")].iter().any(|key| catalogue.contains(key));
        assert!(is_there, "no German for {text:?}");
        assert!(!desk.text("#story").contains(text), "{text:?} is told in English");
    }
    desk.go("/sales-invoices?sort=date");
    browser.wait("document.querySelector('table.list tbody tr')");
    assert_eq!(desk.text("#main h1"), "Ausgangsrechnungen");
    // What is not in the company's currency says in which it is.
    let first = desk.first_invoice();
    let abroad = if first["currency"] == "EUR" { "" } else { first["currency"].as_str().unwrap() };
    let told = format!("{} {abroad}", written(&first["total"], '.', ','));
    assert_eq!(desk.text("table.list tbody td[data-label=Summe]"), told.trim());
    // So do reports, each of them: their words, the days in them, and what must be equal. What the books say is left as it is.
    let words = "[...document.querySelectorAll('.results thead th, .checks-box li span:nth-child(2), '
        + '.results tbody tr:not(.row-account, .row-document, .row-party, .row-item) th[scope=row]:not(:has(a))')]
        .map((one) => one.textContent).filter((text) => !/^[A-Z0-9-]+ /.test(text))";
    let english = "the|equals?|what|due|to|days|and|of|without|then|before|moved|no|there|open|by|is|created|payments?";
    let company = desk.home.split_once("/c/").unwrap().1;
    let (party, item) = (first["partyId"].as_str().unwrap(), first["lines"][0]["itemId"].as_str().unwrap());
    let needed = |address: &str| match address.rsplit('/').next().unwrap() {
        "party-statement" => format!("?partyId={party}"),
        "stock-ledger" => format!("?itemId={item}"),
        "pl" => "?groupBy=quarter".to_owned(),
        "cash-flow" => "?method=indirect".to_owned(),
        _ => String::new(),
    };
    let reports = desk.reports();
    assert!(reports.len() > 25, "{reports:?}");
    for address in reports {
        desk.go(&format!("{}{}", address.strip_prefix(&format!("/c/{company}")).unwrap(), needed(&address)));
        browser.wait("document.querySelector('.results table.report, .results .empty, #main .empty')");
        let strange = format!("{words}.filter((text) => /\\d{{4}}-\\d\\d-\\d\\d|\\b({english})\\b/i.test(text))");
        let strange = browser.run(&format!("return {strange}"));
        assert_eq!(strange.as_array().map(Vec::len), Some(0), "{address}: {strange}");
        let told = browser.run("return document.querySelector('.results')?.textContent.includes(', due ') ?? false");
        assert_eq!(told, Value::Bool(false), "{address}");
    }
    // Amounts are typed as they are read.
    desk.go("/sales-invoices/new");
    desk.pick("[name=partyId]", "hansen");
    desk.pick(".grid [name=itemId]", "course");
    browser.fill(".grid [name=unitPrice]", "1.234,56");
    browser.wait("document.querySelector('.preview .sum dd')?.textContent.startsWith('1.469,13')");
    desk.is_quiet(&[]);
    // So is what the server refuses.
    browser.fill(".grid [name=quantity]", "0,00000001");
    desk.press("#posted");
    browser.wait("document.querySelector('.grid [aria-invalid=true]')");
    let wrong = desk.text(".wrong ul");
    assert!(wrong.contains("höchstens 6 Nachkommastellen"), "{wrong}");
    desk.is_quiet(&["400"]);
    // So do the pages beside it that tell of the server.
    for page in ["/about", "/compare"] {
        browser.open(&format!("http://{}{page}", server.address));
        browser.wait("document.documentElement.lang === 'de'");
        let strange = browser.run(&format!(
            "return [...document.querySelectorAll('nav.rail a, main :is(h1, h2, p, th, button, summary)')]
                .map((one) => one.textContent).filter((text) => /\\b({english})\\b/i.test(text))"
        ));
        assert_eq!(strange, json!([]), "{page}");
    }
}

/// What the console puts into German is what the server says: a sentence that was worded anew is noticed here.
#[test]
fn what_is_said_in_german_is_said_by_the_server() {
    let said: String = sources("crates").into_iter().map(|(_, text)| text).collect();
    let [texts, of_fields] = ["refusals", "refusals-fields"]
        .map(|name| std::fs::read_to_string(root().join(format!("crates/console/web/{name}.js"))).unwrap());
    let english = |line: &str| Some(line.strip_prefix("  [\"")?.split_once("\", \"")?.0.to_owned());
    let patterns = [&texts, &of_fields].map(|text| text.lines().filter_map(english).collect::<Vec<_>>());
    assert!(patterns.iter().all(|one| one.len() > 60), "{patterns:?}");
    for pattern in patterns.into_iter().flatten() {
        // As far as no figure stands in it, nor one of several words.
        let words = pattern.replace("(?:comes? to)", "comes to").replace("comes?", "come");
        let parts: Vec<&str> =
            words.split(['(', ':', '.', '[', '\\', ')', '?', '+', '*', '|']).map(str::trim).collect();
        let longest = parts.iter().max_by_key(|part| part.len()).unwrap();
        // What has short words alone is said by a line that has all of them, one behind the other.
        let short = parts.iter().filter(|part| part.len() > 1);
        let has_all = |line: &str| {
            let rest = short.clone().try_fold(line, |rest, part| Some(rest.split_once(*part)?.1));
            rest.is_some()
        };
        let is_said = if longest.len() > 5 { said.contains(*longest) } else { said.lines().any(has_all) };
        assert!(is_said, "nobody says {longest:?} of {pattern:?}");
    }
    let codes = texts.split_once("const CODES = {").unwrap().1.split_once("};").unwrap().0;
    let codes: Vec<&str> =
        codes.lines().filter_map(|line| line.trim().split_once(": \"")).map(|(code, _)| code).collect();
    assert!(codes.len() > 20, "{codes:?}");
    for code in codes {
        assert!(Code::ALL.iter().any(|known| known.as_str() == code), "{code}");
    }
}

#[test]
fn the_console_is_there_where_its_dialect_is() {
    let own = |custom: &str| {
        Server::start(Engine::Sqlite, Options { custom: Some(custom.into()), ..Options::default() }).unwrap()
    };
    let page = |server: &Server, path: &str| server.send(&Request::new("GET", path).header("Accept", "text/html"));
    for there in [own(r#"{"Dialect": "B"}"#), own(r#"{"Dialects": {"B": {"Prefix": "/books"}}}"#)] {
        let front = page(&there, "/").expect(200);
        let policy = front.header("content-security-policy").unwrap();
        assert!(!policy.contains("unsafe") && policy.contains("require-trusted-types-for 'script'"), "{policy}");
        assert!(!front.text.contains(DEMO_EMAIL) && !front.text.contains(DEMO_PASSWORD), "no demo, no user of it");
        for name in ["/main.js", "/german.js"] {
            let start = front.text.find("/console/").unwrap();
            let folder = front.text[start..].split(name).next().unwrap().split('"').next().unwrap();
            let folder = folder
                .rsplit_once('/')
                .map_or(folder, |(before, last)| if last.contains('.') { before } else { folder });
            let file = page(&there, &format!("{folder}{name}")).expect(200);
            assert!(file.header("cache-control").unwrap().contains("immutable"));
        }
        assert_eq!(page(&there, "/c/anything/sales-invoices?status=open").expect(200).text, front.text);
        assert!(page(&there, "/about").expect(200).text.contains("Served here"));
    }
    let without = own(r#"{"Dialect": "A"}"#);
    let told = page(&without, "/").expect(200);
    assert!(
        told.text.contains("dialect B") && told.text.contains("Served here") && !told.text.contains("sign-in"),
        "{}",
        told.text
    );
    assert!(page(&without, "/docs/start").expect(200).text.contains("The first five minutes"));
    assert!(page(&without, "/c/anything").expect(404).text.contains("<h1>Nothing here</h1>"));
    // Programs are answered as before.
    assert_eq!(without.send(&Request::new("GET", "/nothing")).expect(404).json()["status"], 404);
}

#[test]
fn every_page_has_the_navigation_and_the_style_of_every_other() {
    let server = Server::demo();
    let Some(browser) = Browser::start() else { return };
    let style = |browser: &Browser| {
        browser
            .run("return [...document.querySelectorAll('link[rel=stylesheet]')].map(one => one.getAttribute('href'))")
    };
    browser.open(&format!("http://{}/", server.address));
    browser.wait("document.querySelector('#sign-in')");
    let own = style(&browser)[0].clone();
    let strict = ["/about", "/docs", "/docs/api", "/errors", "/errors/not_found", "/compare", "/moving", "/nothing"];
    for page in strict.into_iter().chain(["/swagger", "/redoc"]) {
        browser.open(&format!("http://{}{page}", server.address));
        browser.wait("document.querySelector('nav.rail')");
        assert!(style(&browser).as_array().unwrap().contains(&own), "{page} has a style of its own");
        let links =
            browser.run("return [...document.querySelectorAll('nav.rail a')].map(one => one.getAttribute('href'))");
        for other in ["/", "/about", "/docs", "/swagger", "/redoc", "/errors", "/compare", "/moving"] {
            assert!(links.as_array().unwrap().contains(&json!(other)), "{page}: {links}");
        }
        let here =
            browser.run("return [...document.querySelectorAll('nav.rail [aria-current]')].map(one => one.pathname)");
        let expected = match page {
            "/nothing" => json!([]),
            "/errors/not_found" => json!(["/errors"]),
            _ => json!([page]),
        };
        assert_eq!(here, expected, "{page}");
        let wide = browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth");
        assert_eq!(wide, 0, "{page} is wider than its window");
    }
    for page in strict {
        let answer = server.send(&Request::new("GET", page).header("Accept", "text/html"));
        let policy = answer.header("content-security-policy").unwrap();
        assert!(!policy.contains("unsafe"), "{page}: {policy}");
    }
    // The guide's pages stand below it, and only there.
    browser.open(&format!("http://{}/docs/api", server.address));
    let chapters =
        browser.run("return [...document.querySelectorAll('.chapters a')].map(one => one.getAttribute('href'))");
    let expected: Vec<String> = guide::PAGES[1..].iter().map(|page| format!("/docs/{}", page.name)).collect();
    assert_eq!(chapters, json!(expected));
    // What is to be typed names the server that says so, and can be taken along.
    let typed = browser.run("return [...document.querySelectorAll('.guide pre')].map(one => one.innerText).join()");
    let typed = typed.as_str().unwrap_or_default();
    assert!(typed.contains(&server.address.to_string()) && !typed.contains(guide::SERVER), "{typed}");
    let copies =
        "return [...document.querySelectorAll('.guide pre')].every(one => one.nextElementSibling.className === 'copy')";
    assert_eq!(browser.run(copies), true);
    assert!(browser.complaints().iter().all(|one| one.contains("404")), "{:?}", browser.complaints());
}
