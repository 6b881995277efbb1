//! A day at the console, from signing in to a month that is closed: on a desk in the light, and on a phone in the dark.

use crate::console::{Desk, FAULTS, THERE};
use crate::harness::{Engine, Options, Server};
use serde_json::{Value, json};

/// A document that is written, posted, and made into the next, until the money is in.
fn an_order_to_a_receipt(desk: &Desk) {
    let browser = &desk.browser;
    desk.go("/sales-orders/new");
    desk.pick("[name=partyId]", "berg");
    desk.pick(".grid [name=itemId]", "beans");
    browser.wait("document.querySelector('.grid [name=unitPrice]').value");
    browser.fill(".grid [name=quantity]", "3");
    browser.wait("document.querySelector('.preview .sum dd')");
    // What a line comes to stands beside it, and is what all of them come to, where there is one.
    browser.wait(
        "document.querySelector('.grid .comes').textContent === document.querySelector('.preview dl dd').textContent",
    );
    desk.press("#posted");
    browser.wait("document.querySelector('#act-deliver')");
    let order = desk.record()["number"].as_str().unwrap().to_owned();
    desk.derive("#act-deliver", "delivery-notes");
    browser.wait("document.querySelector('#act-invoice')");
    desk.derive("#act-invoice", "sales-invoices");
    browser.wait("document.querySelector('#act-settle')");
    // The customer may owe for others as well.
    let own = format!(".settle:has(input[aria-label$='{}'])", desk.record()["number"].as_str().unwrap());
    desk.press("#act-settle");
    browser.wait(&format!("document.querySelector(\"{own} input\") && {THERE}"));
    // The amount is what is settled, as long as nobody types another.
    browser.fill(&format!("{own} input"), "1.5");
    browser.wait("document.querySelector('[name=amount]').value === '1.50'");
    desk.press(&format!("{own} button"));
    browser.wait(&format!(
        "document.querySelector('[name=amount]').value === document.querySelector(\"{own} input\").value"
    ));
    assert_ne!(browser.run("return document.querySelector('[name=amount]').value"), json!("1.50"));
    desk.pick("[name=accountId]", "1010");
    browser.wait("document.querySelectorAll('.preview .postings tbody tr').length === 2");
    desk.press("#posted");
    browser.wait("document.querySelector('.entry')");
    assert_eq!(desk.record()["allocationStatus"], "allocated");
    // The whole chain, in the order of the day, with where the reader is.
    browser.wait("document.querySelector('.chain:not([aria-busy])')");
    let chain = browser.run(
        "return [...document.querySelectorAll('.chain a')].map(one => [one.pathname.split('/')[3], one.ariaCurrent ?? one.getAttribute('aria-current')])",
    );
    let expected =
        json!([["sales-orders", null], ["delivery-notes", null], ["sales-invoices", null], ["receipts", "true"]]);
    assert_eq!(chain, expected);
    assert!(desk.text(".chain").contains(&order));
}

/// A wrong journal, found from a report by its figure, and taken back; both entries stay.
fn a_mistake_is_found_and_voided(desk: &Desk) {
    let browser = &desk.browser;
    desk.go("/journals/new");
    browser.fill("[name=narration]", "Typed twice by mistake");
    for (row, account, column) in [(1, "6100", "debit"), (2, "1010", "credit")] {
        desk.pick(&format!(".grid tbody tr:nth-child({row}) [name=accountId]"), account);
        browser.fill(&format!(".grid tbody tr:nth-child({row}) [name={column}]"), "77.77");
    }
    browser.wait("document.querySelectorAll('.preview .postings tbody tr').length === 2");
    desk.press("#posted");
    browser.wait("document.querySelector('.entry')");
    let journal = desk.record();
    assert_eq!(journal["status"], "posted");

    desk.go("/reports/trial-balance");
    browser.wait("document.querySelectorAll('table.report tbody tr').length > 10");
    browser.run(
        "[...document.querySelectorAll('table.report th a')].find(one => one.textContent.startsWith('6100')).click()",
    );
    browser.wait("location.pathname.endsWith('/reports/general-ledger') && document.querySelector('.row-line')");
    let found = "[...document.querySelectorAll('.row-line')].find(one => one.textContent.includes('77.77'))?.querySelector('a')";
    browser.wait(found);
    browser.run(&format!("{found}.click()"));
    browser.wait(&format!("location.pathname.endsWith('{}') && {THERE}", journal["id"].as_str().unwrap()));
    desk.press("#act-more summary");
    desk.press("#act-void");
    browser.wait("document.querySelectorAll('dialog .postings tbody tr').length === 2");
    browser.fill("dialog [name=reason]", "Typed twice");
    desk.press("dialog button.grave");
    browser.wait("document.querySelectorAll('.entry').length === 2");
    let voided = desk.record();
    assert_eq!((&voided["status"], &voided["voidReason"]), (&json!("void"), &json!("Typed twice")));
    desk.press("#history summary");
    browser.wait("document.querySelectorAll('.history li').length === 2");
    // Field by field, before and after.
    let changed = desk.text(".history li:first-child table");
    assert!(changed.contains("Status") && changed.contains("Posted") && changed.contains("Void"), "{changed}");
}

/// The books are proved, the month is locked, and what comes late is refused at its date.
fn a_month_is_closed(desk: &Desk) {
    let browser = &desk.browser;
    desk.go("");
    browser.wait("document.querySelector('.todo')");
    browser.wait("[...document.querySelectorAll('.todo a')].some(one => one.pathname.endsWith('/proof'))");
    browser.run("[...document.querySelectorAll('.todo a')].find(one => one.pathname.endsWith('/proof')).click()");
    browser.wait(&format!("location.pathname.endsWith('/proof') && {THERE}"));
    desk.press("#prove");
    browser.wait("document.querySelector('#proof .verdict.holds')");
    let faults = browser.run(FAULTS);
    assert_eq!(faults, json!([]), "of the proof");
    desk.go("");
    browser.wait("document.querySelector('a.proof.holds')");

    let end = browser.run("const now = new Date(); return new Date(Date.UTC(now.getFullYear(), now.getMonth(), 0)).toISOString().slice(0, 10)");
    let end = end.as_str().unwrap();
    let door = "[...document.querySelectorAll('.todo a')].find(one => one.pathname.endsWith('/locks/new'))";
    browser.wait(door);
    browser.run(&format!("{door}.click()"));
    browser.wait(&format!("location.pathname.endsWith('/locks/new') && {THERE}"));
    browser.wait(&format!("document.querySelector('[name=lockDate]').value === '{end}'"));
    browser.fill("[name=reason]", "The month is done");
    desk.press("#save");
    browser.wait(&format!(
        "/\\/locks\\/[^/]+$/.test(location.pathname) && !location.pathname.endsWith('/new') && {THERE}"
    ));
    assert_eq!(desk.record()["lockDate"], end);
    desk.go("");
    browser.wait("document.querySelector('.todo')");
    assert_eq!(browser.run(&format!("return {door} === undefined")), json!(true));
    // What is to stay locked stands in the next one already; to open it is asked for once more.
    desk.go("/locks/new");
    browser.wait(&format!("document.querySelector('[name=lockDate]').value === '{end}'"));
    desk.day("[name=lockDate]", "2020-01-31");
    desk.press("#save");
    browser.wait("document.querySelector('dialog .grave')");
    assert_eq!(browser.run("return document.activeElement.matches('dialog button[type=button]')"), json!(true));
    desk.press("dialog button[type=button]");
    browser.wait("!document.querySelector('dialog')");
    assert!(browser.run("return location.pathname").as_str().unwrap().ends_with("/locks/new"));
    desk.press("#cancel");
    browser.wait(&format!("location.pathname.endsWith('/locks') && {THERE}"));

    desk.go("/journals/new");
    desk.day("[name=date]", end);
    for (row, account, column) in [(1, "6100", "debit"), (2, "1010", "credit")] {
        desk.pick(&format!(".grid tbody tr:nth-child({row}) [name=accountId]"), account);
        browser.fill(&format!(".grid tbody tr:nth-child({row}) [name={column}]"), "1");
    }
    desk.press("#posted");
    browser.wait("document.querySelector('[name=date]').getAttribute('aria-invalid') === 'true'");
    let said = browser.run(
        "const date = document.querySelector('[name=date]'); return document.getElementById(date.getAttribute('aria-describedby')).textContent",
    );
    let shown = browser.run(&format!(
        "return new Intl.DateTimeFormat(navigator.language, {{dateStyle: 'medium', timeZone: 'UTC'}}).format(Date.parse('{end}'))"
    ));
    assert!(said.as_str().unwrap().contains(shown.as_str().unwrap()), "{said} says {shown}");
    // It is not lost: whoever comes back goes on with it.
    desk.go("");
    desk.go("/journals/new");
    desk.press("#take-draft");
    browser.wait("document.querySelectorAll('.grid tbody tr').length === 2 && document.querySelector('.grid [name=debit]').value === '1.00'");
    assert_eq!(browser.run("return document.querySelector('[name=date]').value"), json!(end));
    desk.press("#cancel");
    browser.wait(&format!("location.pathname.endsWith('/journals') && {THERE}"));
    assert_eq!(kept(desk), json!([]));
}

/// What is kept of forms that were not saved.
fn kept(desk: &Desk) -> Value {
    desk.browser.run("return Object.keys(localStorage).filter(one => one.startsWith('duet.draft'))")
}

fn a_day(width: u32, height: u32, scheme: &str) {
    // A month is closed in it: nobody else's.
    let options = Options { arguments: vec!["--demo=small".into()], ..Options::default() };
    let server = Server::start(Engine::Sqlite, options).expect("SQLite needs nothing");
    let Some(desk) = Desk::open(&server) else { return };
    desk.browser.resize(width, height);
    desk.browser.prefer(scheme);
    an_order_to_a_receipt(&desk);
    a_mistake_is_found_and_voided(&desk);
    a_month_is_closed(&desk);
    desk.is_quiet(&["status of 409", "status of 400"]);
}

#[test]
fn a_day_on_a_desk_in_the_light() {
    a_day(1440, 900, "light");
}

#[test]
fn a_day_on_a_desk_in_the_dark() {
    a_day(1440, 900, "dark");
}

#[test]
fn a_day_on_a_phone_in_the_light() {
    a_day(390, 844, "light");
}

#[test]
fn a_day_on_a_phone_in_the_dark() {
    a_day(390, 844, "dark");
}

/// What is saved is caught where the browser would write it: its first bytes, its text, and what the file is called.
fn catch_files(desk: &Desk) {
    desk.browser.run(
        "window.saved = []; const made = URL.createObjectURL; \
         URL.createObjectURL = blob => { blob.arrayBuffer().then(told => saved.push({ \
             bytes: [...new Uint8Array(told).slice(0, 3)], text: new TextDecoder().decode(told), name: window.called })); \
             return made.call(URL, blob) }; \
         const click = HTMLAnchorElement.prototype.click; \
         HTMLAnchorElement.prototype.click = function () { window.called = this.download; click.call(this) }",
    );
}

/// The file that a press of the button makes.
fn file(desk: &Desk) -> Value {
    catch_files(desk);
    desk.press("#csv");
    desk.browser.wait("window.saved.length === 1");
    desk.browser.run("return saved[0]")
}

/// A list is saved whole, over its pages, and nothing in it is a formula.
#[test]
fn a_list_is_saved_as_it_is_filtered() {
    let server = Server::demo();
    let Some(desk) = Desk::open(server) else { return };
    let browser = &desk.browser;
    desk.go("/parties/new");
    browser.fill("[name=name]", "=SUM(A1:A9), \"quoted\"");
    desk.press("#save");
    browser.wait("document.querySelector('#edit')");
    desk.go("/parties");
    let saved = file(&desk);
    assert_eq!(saved["bytes"], json!([0xef, 0xbb, 0xbf]), "a spreadsheet takes it for something else than UTF-8");
    let lines: Vec<&str> = saved["text"].as_str().unwrap().split("\r\n").filter(|line| !line.is_empty()).collect();
    let total = browser.run("return document.querySelectorAll('table.list tbody tr').length").as_u64().unwrap();
    assert_eq!(lines.len() as u64, total + 1, "{lines:?}");
    assert!(lines[0].starts_with("Code,Name,"), "{}", lines[0]);
    assert!(lines.iter().any(|line| line.contains("\"'=SUM(A1:A9), \"\"quoted\"\"\"")), "{lines:?}");
    desk.go("/parties?q=nord");
    let few = file(&desk)["text"].as_str().unwrap().trim().lines().count();
    let shown = browser.run("return document.querySelectorAll('table.list tbody tr').length").as_u64().unwrap();
    assert_eq!(few as u64, shown + 1);
    assert!(browser.run("return document.querySelectorAll('table.list tbody tr').length").as_u64().unwrap() < total);
}

/// A spreadsheet in German parts cells by semicolons and reads a comma in numbers; a report is called by its days.
#[test]
fn what_is_saved_in_german_opens_in_german() {
    let server = Server::demo();
    let Some(desk) = Desk::open(server) else { return };
    desk.browser.run("localStorage.setItem('duet.language', 'de')");
    desk.go("/sales-invoices");
    let saved = file(&desk);
    assert_eq!(saved["bytes"], json!([0xef, 0xbb, 0xbf]));
    let lines: Vec<&str> = saved["text"].as_str().unwrap().lines().collect();
    assert!(lines[0].starts_with("Nummer;Datum;"), "{}", lines[0]);
    // The total of an invoice: cents after a comma, and no mark between thousands.
    let is_amount = |cell: &str| {
        cell.split_once(',').is_some_and(|(whole, cents)| {
            cents.len() == 2 && whole.trim_start_matches('-').chars().all(|one| one.is_ascii_digit())
        })
    };
    assert!(lines[1..].iter().all(|line| line.split(';').any(is_amount)), "{lines:?}");
    assert!(!lines[1..].iter().any(|line| line.contains(";paid;") || line.contains(";open;")), "{lines:?}");
    desk.go("/reports/pl?from=2026-10-01&to=2026-10-31");
    let saved = file(&desk);
    assert_eq!(saved["name"], "pl-2026-10-01-2026-10-31.csv");
    let lines: Vec<&str> = saved["text"].as_str().unwrap().lines().collect();
    assert!(lines[0].starts_with("Ebene;Art;Zeile;"), "{}", lines[0]);
    assert!(lines[1..].iter().all(|line| line.split(';').next_back().is_some_and(is_amount)), "{lines:?}");
    desk.is_quiet(&[]);
}

/// What somebody typed and did not save is gone when they sign out.
#[test]
fn who_signs_out_leaves_no_draft() {
    let server = Server::demo();
    let Some(desk) = Desk::open(server) else { return };
    let browser = &desk.browser;
    desk.go("/parties/new");
    browser.fill("[name=name]", "Not saved");
    browser.wait("Object.keys(localStorage).some(one => one.startsWith('duet.draft'))");
    desk.go("/webhooks/new");
    browser.fill("[name=url]", "https://user:secret@example.test/");
    desk.go("");
    assert_eq!(kept(&desk).as_array().unwrap().len(), 1, "secrets are kept nowhere: {}", kept(&desk));
    // As on a slow machine: the menu opens a while after the click was answered.
    browser.run(
        "const menu = document.querySelector('details.menu'); menu.addEventListener('click', (event) => \
         { event.preventDefault(); setTimeout(() => (menu.open = true), 200); }, { once: true })",
    );
    desk.press("summary[aria-label='Your account']");
    desk.press("#sign-out");
    browser.wait("document.querySelector('#sign-in')");
    assert_eq!(kept(&desk), json!([]));
}

/// So many bags of beans are ordered.
fn order_beans(desk: &Desk, many: &str) {
    desk.go("/sales-orders/new");
    desk.pick("[name=partyId]", "berg");
    desk.pick(".grid [name=itemId]", "beans");
    desk.browser.wait("document.querySelector('.grid [name=unitPrice]').value");
    desk.browser.fill(".grid [name=quantity]", many);
    desk.press("#posted");
}

/// What an act would book stands below its question, and what is made of a document may be looked at before it is booked.
#[test]
fn what_an_act_books_is_seen_before_it_is_done() {
    let server = Server::demo();
    let Some(desk) = Desk::open(server) else { return };
    let browser = &desk.browser;
    let is_shown = "document.querySelectorAll('dialog .postings tbody tr').length > 1";
    let day = |before: u32| {
        let day = browser.run(&format!("return new Date(Date.now() - {before} * 86400000).toISOString().slice(0, 10)"));
        day.as_str().unwrap().to_owned()
    };
    desk.go("/fiscal-years/new");
    browser.fill("[name=name]", "A short year");
    desk.day("[name=start]", &day(300));
    desk.day("[name=end]", &day(3));
    desk.press("#save");
    desk.press("#act-close");
    browser.wait(is_shown);
    assert!(desk.text("dialog .postings").contains("3200"), "{}", desk.text("dialog"));
    desk.press("dialog button[type=button]");
    browser.wait("!document.querySelector('dialog')");
    assert_eq!(desk.record()["status"], "open", "it was looked at, and not done");

    order_beans(&desk, "2");
    desk.press("#act-deliver");
    browser.wait(is_shown);
    desk.press("#act-draft");
    browser.wait("!document.querySelector('dialog .postings')");
    desk.press("dialog button[type=submit]");
    browser.wait(&format!("/\\/delivery-notes\\/[^/]+\\/edit$/.test(location.pathname) && {THERE}"));
    desk.press("#posted");
    browser.wait("document.querySelector('#act-invoice') && !location.pathname.endsWith('/edit')");
    let note = desk.record();
    assert_eq!((&note["status"], &note["version"]), (&json!("posted"), &json!(2)), "{note}");
    desk.is_quiet(&[]);
}

/// What is posted is changed when somebody says so, with what that books before them; a line that names no tax is told of.
#[test]
fn what_is_posted_is_changed_by_who_means_it() {
    let server = Server::demo();
    let Some(desk) = Desk::open(server) else { return };
    let browser = &desk.browser;
    desk.go("/sales-invoices/new");
    desk.pick("[name=partyId]", "berg");
    for (name, value) in [("description", "Advice"), ("quantity", "1"), ("unitPrice", "100")] {
        browser.fill(&format!(".grid [name={name}]"), value);
    }
    browser.wait("document.querySelector('#no-tax')?.textContent.includes('line 1.')");
    desk.press("#posted");
    browser.wait(&format!("document.querySelector('.entry') && {THERE}"));
    let was = desk.record();
    desk.press("#edit");
    browser.wait(&format!("location.pathname.endsWith('/edit') && {THERE}"));
    browser.fill(".grid [name=quantity]", "2");
    desk.press("#save");
    browser.wait("document.querySelectorAll('dialog .postings tbody tr').length > 1");
    // Whoever answers without looking changes nothing.
    assert_eq!(browser.run("return document.activeElement.matches('dialog button[type=button]')"), json!(true));
    desk.press("dialog button[type=button]");
    browser.wait("!document.querySelector('dialog') && location.pathname.endsWith('/edit')");
    desk.press("#save");
    desk.press("dialog button.grave");
    browser.wait(&format!("!location.pathname.endsWith('/edit') && {THERE}"));
    let now = desk.record();
    assert_eq!((&was["version"], &now["version"]), (&json!(1), &json!(2)));
    assert_eq!(now["total"].to_string(), "200.00", "{now}");
    // What the books do not know of is nobody's question.
    desk.press("#edit");
    browser.wait(&format!("location.pathname.endsWith('/edit') && {THERE}"));
    browser.fill("[name=reference]", "As told by telephone");
    desk.press("#save");
    browser.wait(&format!("!location.pathname.endsWith('/edit') && {THERE}"));
    assert_eq!(desk.record()["reference"], "As told by telephone");
}

/// A record that is gone is called what it was wherever it is named, and can be looked at.
#[test]
fn what_is_gone_is_shown_as_it_was() {
    let server = Server::demo();
    let Some(desk) = Desk::open(server) else { return };
    let browser = &desk.browser;
    desk.go("/parties/new");
    browser.fill("[name=name]", "Gone tomorrow");
    desk.press("#save");
    browser.wait(&format!("/\\/parties\\/[^/]{{30,}}$/.test(location.pathname) && {THERE}"));
    let was = desk.record();
    desk.press("#act-more summary");
    desk.press("#act-delete");
    desk.press("dialog button.grave");
    browser.wait(&format!("location.pathname.endsWith('/parties') && {THERE}"));
    desk.go(&format!("/parties/{}", was["id"].as_str().unwrap()));
    assert_eq!(desk.text("h1"), "Gone tomorrow");
    assert!(desk.text(".badge").contains("Deleted"), "{}", desk.text("main"));
    assert_eq!(browser.run("return document.querySelectorAll('#edit, #act-more').length"), json!(0));
    desk.go("/audit-log");
    let named = format!("document.querySelector('table.list a[href$=\"/parties/{}\"]')", was["id"].as_str().unwrap());
    browser.wait(&format!("{named}?.textContent === 'Gone tomorrow'"));
}

/// Nobody has to know by heart what events are called.
#[test]
fn types_of_events_are_put_together() {
    let server = Server::demo();
    let Some(desk) = Desk::open(server) else { return };
    let browser = &desk.browser;
    desk.go("/webhooks/new");
    let choose = |place: u32, value: &str| {
        let css = format!(".makes-type select:nth-child({place})");
        browser.wait(&format!("document.querySelector('{css} option[value=\"{value}\"]')"));
        browser.run(&format!(
            "const made = document.querySelector('{css}'); made.value = '{value}'; made.dispatchEvent(new Event('change'))"
        ));
    };
    for (record, what) in [("items", "low"), ("sales-invoices", "overdue"), ("parties", "*"), ("items", "low")] {
        choose(1, record);
        choose(2, what);
        desk.press("#add-type");
    }
    let said = browser.run("return document.querySelector('[name=types]').value");
    assert_eq!(said, json!("stock.low, salesInvoice.overdue, party.*"));
    choose(1, "parties");
    assert_eq!(browser.run("return document.querySelectorAll('.makes-type option[value=posted]').length"), json!(0));
    // The server takes what was put together.
    browser.fill("[name=url]", "https://example.com/hook");
    desk.press("#save");
    browser.wait(&format!("!location.pathname.endsWith('/new') && {THERE}"));
    assert!(desk.text("main").contains("stock.low"), "{}", desk.text("main"));
}

/// No lines at all would mean all that is left: where nothing is chosen, nothing is sent.
#[test]
fn what_is_not_chosen_is_not_delivered() {
    let server = Server::demo();
    let Some(desk) = Desk::open(server) else { return };
    let browser = &desk.browser;
    order_beans(&desk, "3");
    desk.press("#act-deliver");
    browser.wait("document.querySelectorAll('dialog .postings tbody tr').length > 1");
    let answered = |many: &str| {
        browser.fill("dialog [data-line]", many);
        desk.press("dialog button[type=submit]");
    };
    for none in ["", "0"] {
        answered(none);
        browser.wait("!document.querySelector('#act-nothing').hidden");
        browser.wait("!document.querySelector('dialog .postings')");
    }
    let at_field = "document.querySelector('dialog [data-line][aria-invalid=true] + .fault')";
    answered("a few");
    browser.wait(at_field);
    assert_eq!(browser.run("return document.querySelector('#act-nothing').hidden"), json!(true));
    // What the server refuses stands at the field as well, and is gone once something else is typed.
    answered("9999");
    browser.wait(&format!("{at_field}?.textContent.includes('at most')"));
    assert!(browser.run("return location.pathname").as_str().unwrap().contains("/sales-orders/"));
    browser.fill("dialog [data-line]", "1");
    browser.wait(&format!("!{at_field} && document.querySelector('dialog .wrong').hidden"));
    desk.press("dialog button[type=submit]");
    browser.wait(&format!("location.pathname.includes('/delivery-notes/') && {THERE}"));
    assert_eq!(desk.record()["lines"][0]["quantity"], json!(1));
    desk.is_quiet(&["status of 409", "status of 400"]);
}

/// Costs are kept in the company's currency, also of goods that are paid in another.
#[test]
fn a_figure_is_shown_in_its_own_currency() {
    let server = Server::demo();
    let Some(desk) = Desk::open(server) else { return };
    let browser = &desk.browser;
    desk.go("/receipt-notes/new");
    desk.pick("[name=partyId]", "finca");
    desk.pick(".grid [name=itemId]", "highland");
    browser.wait("document.querySelector('.grid [name=unitCost]').value");
    browser.fill(".grid [name=quantity]", "2");
    desk.press("#posted");
    browser.wait("document.querySelector('.entry')");
    let note = desk.record();
    assert_eq!(note["currency"], "USD", "{note}");
    let cell = |label: &str| desk.text(&format!("td[data-label='{label}']"));
    assert!(cell("Unit cost").ends_with("USD") && cell("Cost amount").ends_with("EUR"), "{}", desk.text("main"));
    let open = browser.run(
        "return [...document.querySelectorAll('dt')].find(one => one.textContent === 'Received, not invoiced').nextSibling.textContent",
    );
    assert!(open.as_str().unwrap().ends_with("EUR"), "{open}");
    desk.is_quiet(&[]);
}

/// More than there is, or more than is open: said where it stands, and beneath.
#[test]
fn what_is_settled_is_held_against_what_there_is() {
    let server = Server::demo();
    let Some(desk) = Desk::open(server) else { return };
    let browser = &desk.browser;
    desk.go("/sales-invoices/new");
    desk.pick("[name=partyId]", "berg");
    desk.pick(".grid [name=itemId]", "course");
    browser.fill(".grid [name=quantity]", "1");
    desk.press("#posted");
    desk.press("#act-settle");
    browser.wait(&format!("document.querySelector('.settle input') && {THERE}"));
    browser.wait("document.querySelector('.left-over').textContent.includes('0.00')");
    browser.fill("[name=amount]", "1000000");
    browser.wait("document.querySelector('.left-over').textContent.startsWith('Left to allocate')");
    browser.fill(".settle input", "2000000");
    browser.wait("document.querySelector('.left-over.minus')?.textContent.startsWith('More is allocated')");
    desk.pick("[name=accountId]", "1010");
    desk.press("#posted");
    browser.wait("document.querySelector('.settle input').getAttribute('aria-invalid') === 'true'");
    let said = browser.run(
        "const field = document.querySelector('.settle input'); return document.getElementById(field.getAttribute('aria-describedby')).textContent",
    );
    assert!(said.as_str().unwrap().contains("must be at most"), "{said}");
    desk.press("#cancel");
    desk.is_quiet(&["status of 409", "status of 400"]);
}

/// What is typed and is nobody's name is not left out of what is posted; and a line without an item goes to the account that it names.
#[test]
fn what_nobody_is_called_is_not_left_out() {
    let server = Server::demo();
    let Some(desk) = Desk::open(server) else { return };
    let browser = &desk.browser;
    desk.go("/purchase-invoices/new");
    desk.pick("[name=partyId]", "finca");
    browser.fill(".grid [name=description]", "Cleaning");
    browser.fill(".grid [name=unitPrice]", "80");
    desk.pick(".grid [name=accountId]", "6600");
    browser.fill(".grid [name=taxCodeId]", "gibberish");
    desk.press("#posted");
    browser.wait("document.querySelector('.grid [name=taxCodeId][aria-invalid=true]') && document.querySelectorAll('.wrong li').length === 1");
    assert_eq!(browser.run("return document.querySelector('.grid [name=taxCodeId]').value"), json!("gibberish"));
    assert!(browser.run("return location.pathname").as_str().unwrap().ends_with("/new"));
    desk.pick(".grid [name=taxCodeId]", "19");
    browser.wait("!document.querySelector('.grid [aria-invalid=true]')");
    desk.press("#posted");
    browser.wait(&format!("document.querySelector('.entry') && {THERE}"));
    assert!(desk.record()["lines"][0]["taxCodeId"].is_string());
    browser.wait("document.querySelector('td[data-label=Account]').textContent.startsWith('6600')");
    desk.is_quiet(&["status of 409", "status of 400"]);
}
