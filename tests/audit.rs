//! The audit log: every change once, in a chain; and the proof of the books against hands behind its back.

use crate::harness::books::{behind_the_back, literal};
use crate::harness::examples::creatable;
use crate::harness::server::DIALECTS;
use crate::harness::shop::Shop;
use crate::harness::{Company, Dialect, Engine, Options, Server, on_both_engines};
use ledger_core::resource::operation::Verb;
use serde_json::{Value, json};

pub(crate) fn log(company: &Company<'_>, query: &str) -> Vec<Value> {
    let path = format!("?pageSize=500{query}");
    let found = company.ask(Dialect::A, "GET", "auditLog", &path, None).expect(200).data;
    found["items"].as_array().unwrap().clone()
}

/// A secret is shown once, and in no log.
fn hide(record: &mut Value) {
    for name in ["secret", "invitationCode"] {
        if record.get(name).is_some() {
            record[name] = Value::Null;
        }
    }
}

on_both_engines! {
    fn every_change_of_every_resource_is_recorded_once(server) {
        let company = server.company();
        for operations in creatable().filter(|one| one.key.stem() != "businesses") {
            let resource = operations.key.stem();
            let dialect = DIALECTS[resource.len() % 2];
            let request = company.request(dialect, "POST", resource, "").header("X-Request-Id", &format!("audit-{resource}"));
            let made = company.say(dialect, request.json(&company.example(resource))).expect(201);
            let mut made = made;
            hide(&mut made.data);
            let of_record = |count: usize| {
                let found = log(&company, &format!("&resource={resource}&resourceId={}", made.id()));
                assert_eq!(found.len(), count, "{resource}");
                found.last().unwrap().clone()
            };
            let created = of_record(1);
            assert_eq!((&created["action"], &created["before"], &created["after"]), (&json!("created"), &Value::Null, &made.data));
            assert_eq!((&created["dialect"], &created["clientRequestId"]), (&json!(format!("{dialect:?}")), &json!(format!("audit-{resource}"))));
            assert_eq!(created["requestId"].as_str().unwrap().len(), 36, "the server's own");
            let of_request = format!("&resource={resource}&resourceId={}&clientRequestId=audit-{resource}", made.id());
            assert_eq!(log(&company, &of_request).len(), 1);
            assert_eq!((&created["actor"]["address"], &created["actor"]["userId"]), (&json!(server.is_asked_from()), &made.data["createdBy"]));
            assert_eq!((&created["versionFrom"], &created["versionTo"]), (&Value::Null, &json!(1)));
            if !operations.verbs().any(|verb| verb == Verb::Update) {
                continue;
            }
            let path = format!("/{}", made.id());
            company.ask(dialect, "PUT", resource, &path, Some(&made.data)).expect(200);
            of_record(1);
            let mut changed = made.data.clone();
            let words = ["name", "narration", "source", "displayName", "url"].into_iter().find(|name| changed.get(name).is_some()).unwrap();
            // What is behind `***` goes to the host it was said for, and to no other.
            changed[words] = if words == "url" { "https://shop.example/changed" } else { "Changed" }.into();
            company.ask(dialect, "PUT", resource, &format!("{path}?dryRun=true"), Some(&changed)).expect(200);
            of_record(1);
            let now = company.ask(dialect, "PUT", resource, &path, Some(&changed)).expect(200).data;
            let updated = of_record(2);
            assert_eq!((&updated["action"], &updated["before"], &updated["after"]), (&json!("updated"), &made.data, &now));
            company.ask(dialect, "DELETE", resource, &path, None).expect(200);
            let ended = of_record(3);
            assert_eq!(ended["before"], now);
            let history = company.ask(dialect, "GET", resource, &format!("{path}/history"), None).expect(200).data;
            let actions: Vec<_> = history["items"].as_array().unwrap().iter().map(|one| one["action"].as_str().unwrap()).collect();
            let end = if now.get("voidDate").is_some() { "voided" } else { "deleted" };
            assert_eq!(actions, ["created", "updated", end], "{resource}");
        }
        // What a record is called finds it, in capitals or not.
        for word in ["CHANGED", "changed"] {
            let found = log(&company, &format!("&resource=parties&q={word}"));
            let actions: Vec<_> = found.iter().map(|one| one["action"].as_str().unwrap()).collect();
            assert_eq!(actions, ["updated", "deleted"], "{word}");
        }
        assert!(log(&company, "&resource=parties&q=nobody-is-called-so").is_empty());
        let all = log(&company, "");
        let sequences: Vec<_> = all.iter().map(|one| one["sequence"].as_u64().unwrap()).collect();
        assert_eq!(sequences, (1..=all.len() as u64).collect::<Vec<_>>());
        for pair in all.windows(2) {
            assert_eq!(pair[1]["previousHash"], pair[0]["hash"]);
        }
        let verdict = company.ask(Dialect::B, "GET", "auditLog", "/verify", None).expect(200).data;
        assert_eq!((&verdict["ok"], &verdict["records"], &verdict["head"]), (&json!(true), &json!(all.len()), &all[all.len() - 1]["hash"]));
    }

    fn a_refused_write_leaves_no_trace(server) {
        let company = server.company();
        let before = log(&company, "").len();
        company.post_journal(&json!({})).expect(400);
        let body = company.journal_body("2026-03-05", &[("6200", "2"), ("1010", "-1")]);
        company.post_journal(&body).expect(400);
        company.ask(Dialect::A, "DELETE", "parties", &format!("/{}", company.id), None).expect(404);
        assert_eq!(log(&company, "").len(), before);
    }

    fn the_log_is_exported_line_by_line(server) {
        let company = server.company();
        for _ in 0..3 {
            company.party(json!({}));
        }
        let all = log(&company, "");
        for dialect in DIALECTS {
            let request = company.request(dialect, "GET", "auditLog", "/export?after=1&limit=2");
            let answer = server.send(&request).expect(200);
            assert_eq!(answer.header("content-type"), Some("application/x-ndjson; charset=utf-8"));
            let lines: Vec<Value> = answer.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            assert_eq!(lines, all[1..3]);
        }
        for query in ["limit=0", "limit=10001", "after=-1"] {
            company.ask(Dialect::A, "GET", "auditLog", &format!("/export?{query}"), None).expect(400);
        }
    }

    fn the_log_is_searched_by_what_who_and_when(server) {
        let company = server.company();
        let party = company.party(json!({}));
        company.journal("2026-03-05", &[("6200", "1"), ("1010", "-1")]);
        let user = party["createdBy"].as_str().unwrap();
        for (query, count) in [
            ("&resource=parties".to_owned(), 1), ("&resource=parties,journals".into(), 2), ("&action=created".into(), 3),
            ("&action=voided".into(), 0), (format!("&userId={user}"), 3), ("&from=2100-01-01T00:00:00Z".into(), 0),
            ("&to=2100-01-01T00:00:00Z".into(), 3), ("&requestId=none".into(), 0),
        ] {
            assert_eq!(log(&company, &query).len(), count, "{query}");
        }
        company.ask(Dialect::A, "GET", "auditLog", "?resource=secrets", None).expect(400);
        let one = log(&company, "&resource=parties")[0]["id"].as_str().unwrap().to_owned();
        company.ask(Dialect::B, "GET", "auditLog", &format!("/{one}"), None).expect(200);
        for method in ["POST", "PUT", "DELETE"] {
            let path = if method == "POST" { String::new() } else { format!("/{one}") };
            company.ask(Dialect::B, method, "auditLog", &path, None).expect(405);
        }
    }
}

/// Takes the guards off, so that a hand behind the server's back can do its worst.
pub(crate) fn unguarded(engine: Engine) -> Vec<String> {
    let tables = [
        "entries",
        "entry_lines",
        "audit_log",
        "open_item_moves",
        "stock_facts",
        "stock_moves",
        "progress_moves",
        "tax_facts",
    ];
    match engine {
        Engine::Postgres => tables.map(|table| format!("ALTER TABLE {table} DISABLE TRIGGER ALL")).to_vec(),
        Engine::Sqlite => tables
            .iter()
            .flat_map(|table| ["updated", "deleted"].map(|done| format!("DROP TRIGGER {table}_are_not_{done}")))
            .chain(["DROP TRIGGER IF EXISTS entry_lines_come_before_their_seal".to_owned()])
            .collect(),
    }
}

/// Each way to spoil the books, and the checks that must say so.
const CORRUPTIONS: &[(&str, &str, &[&str])] = &[
    (
        "a cent moved",
        "UPDATE entry_lines SET amount = amount + 100 WHERE entry_number = 1 AND position = 1",
        &["V1", "V2", "V4a", "V4b"],
    ),
    (
        "a cent moved on both sides",
        "UPDATE entry_lines SET amount = amount + CASE WHEN amount > 0 THEN 100 ELSE -100 END WHERE entry_number = 1",
        &["V1", "V4a", "V4b"],
    ),
    (
        "an amount in another account",
        "UPDATE entry_lines SET account_id = (SELECT account_id FROM entry_lines WHERE entry_number = 1 AND position = 2) WHERE entry_number = 2 AND position = 1",
        &["V4a", "V4b"],
    ),
    (
        "another date on a line",
        "UPDATE entry_lines SET date = '2026-03-06' WHERE entry_number = 1 AND position = 1",
        &["V1", "V4a"],
    ),
    ("another date on an entry", "UPDATE entries SET date = '2026-07-01' WHERE number = 1", &["V1"]),
    (
        "a fraction of a cent",
        "UPDATE entry_lines SET currency_amount = COALESCE(currency_amount, amount) + 1 WHERE entry_number = 1 AND position = 1",
        &["V4a", "V4b", "V14"],
    ),
    ("a deleted line", "DELETE FROM entry_lines WHERE entry_number = 1 AND position = 1", &["V1", "V4a"]),
    ("a deleted entry", "DELETE FROM entries WHERE number = 2", &["V1", "V1b", "V11"]),
    (
        "a deleted entry with its lines",
        "DELETE FROM entry_lines WHERE entry_number = 2; DELETE FROM entries WHERE number = 2",
        &["V1b", "V4a", "V11"],
    ),
    (
        "a last entry cut off",
        "DELETE FROM entry_lines WHERE entry_number = 5; DELETE FROM entries WHERE number = 5",
        &["V1b", "V4a", "V11"],
    ),
    ("another total on an entry", "UPDATE entries SET total = total + 100 WHERE number = 1", &["V1"]),
    ("a day rolled up wrongly", "UPDATE account_days SET debit = debit + 100, credit = credit + 100", &["V4a"]),
    ("a month rolled up wrongly", "UPDATE account_months SET debit = debit + 100", &["V4b"]),
    ("a day of more lines than it has", "UPDATE account_days SET lines = lines + 1", &["V4a"]),
    ("a month of fewer lines than it has", "UPDATE account_months SET lines = lines - 1", &["V4b"]),
    ("a day that is missing", "DELETE FROM account_days WHERE date = '2026-03-05'", &["V4a"]),
    ("a month that is missing", "DELETE FROM account_months", &["V4b"]),
    ("a party's balance", "UPDATE party_balances SET amount = amount + 100", &["V3", "V4c"]),
    ("a party's balance that is missing", "DELETE FROM party_balances", &["V3", "V4c"]),
    ("a line without its party", "UPDATE entry_lines SET party_id = NULL WHERE party_id IS NOT NULL", &["V4c"]),
    (
        "a reversal that takes back less",
        "UPDATE entry_lines SET currency_amount = COALESCE(currency_amount, amount) * 2 WHERE entry_number = 4",
        &["V4a", "V11b"],
    ),
    ("a missing number", "UPDATE documents SET sequence = 77 WHERE number = 'JV-2026-0002'", &["V6"]),
    ("a number that was taken away", "UPDATE documents SET number = NULL WHERE number = 'JV-2026-0002'", &["V6"]),
    ("a counter turned back", "UPDATE number_counters SET last = last + 5", &["V6"]),
    ("a document that is gone", "DELETE FROM documents WHERE number = 'JV-2026-0001'", &["V6", "V11"]),
    ("a void that never was", "UPDATE documents SET status = 'v' WHERE number = 'JV-2026-0001'", &["V11"]),
    ("a void undone", "UPDATE documents SET status = 'p' WHERE status = 'v'", &["V11"]),
    ("a byte of a record", "UPDATE audit_log SET record = '{}' WHERE sequence = 3", &["V7"]),
    ("another actor", "UPDATE audit_log SET user_id = NULL WHERE sequence = 3", &["V7"]),
    ("a byte of a hash", "UPDATE audit_log SET hash = '00' WHERE sequence = 3", &["V7"]),
    ("a deleted record", "DELETE FROM audit_log WHERE sequence = 3", &["V7"]),
    ("a log cut off at its end", "DELETE FROM audit_log WHERE sequence > 3", &["V7"]),
    ("a log wiped out", "DELETE FROM audit_log", &["V7"]),
    ("an answer about nothing", "UPDATE idempotency_keys SET record_id = user_id", &["V9"]),
    ("a year closed by hand", "UPDATE fiscal_years SET status = 'closed'", &["Y1"]),
    ("an entry behind a hard lock", "UPDATE locks SET hard_lock_date = '2026-12-31', created_at = 0", &["V12"]),
];

/// The same for what stands beside the ledger.
const CORRUPTIONS_OF_TRADE: &[(&str, &str, &[&str])] = &[
    ("what is open of a document", "UPDATE open_items SET open = open + 100", &["V4d", "V5"]),
    ("what it is carried at", "UPDATE open_items SET base_open = base_open + 100", &["V4d", "V5"]),
    ("an open item that is gone", "DELETE FROM open_items WHERE kind = 'I'", &["V4d", "V5"]),
    ("a move of another day", "UPDATE open_item_moves SET date = '2026-01-01' WHERE allocation_id IS NULL", &["V3b"]),
    ("a move of less", "UPDATE open_item_moves SET base = base - 100 WHERE allocation_id IS NULL", &["V3b", "V4d"]),
    ("a move that is gone", "DELETE FROM open_item_moves WHERE allocation_id IS NOT NULL", &["V3b", "V4d"]),
    ("an open item of nobody", "UPDATE open_items SET party_id = id WHERE kind = 'B'", &["M1"]),
    ("a party that is part of itself", "UPDATE parties SET merged_into_id = id", &["M1"]),
    ("an allocation of more", "UPDATE allocations SET amount = amount + 100", &["V5"]),
    ("an allocation that was taken away", "UPDATE allocations SET removed_at = 1", &["V5", "V11"]),
    ("an allocation of another party", "UPDATE allocations SET party_id = id", &["V5"]),
    ("an allocation in another currency", "UPDATE allocations SET currency = 'GBP'", &["V5"]),
    ("an allocation without its entry", "UPDATE allocations SET entry = NULL", &["V11"]),
    ("a quantity in stock", "UPDATE stock SET quantity = quantity + 1000000", &["V4e"]),
    ("a value of the stock", "UPDATE stock SET value = value + 100", &["V4e"]),
    ("what a movement cost", "UPDATE stock_lines SET cost = cost - 100", &["S2"]),
    ("a movement of another day", "UPDATE stock_moves SET date = '2026-01-01' WHERE quantity < 0", &["V3c", "S1"]),
    ("a movement that is gone", "DELETE FROM stock_moves WHERE quantity < 0", &["V3c", "V4e", "S1"]),
    (
        "what goods were said to cost",
        "UPDATE stock_facts SET amount = amount + 100 WHERE kind = 'R'",
        &["S1", "S2", "S4"],
    ),
    ("a fact that is gone", "DELETE FROM stock_facts WHERE kind = 'i'", &["S1", "S2", "S4"]),
    ("a fact of another day", "UPDATE stock_facts SET date = '2026-03-01' WHERE kind = 'R'", &["S1"]),
    ("goods that came too late", "UPDATE stock_facts SET date = '2026-03-12' WHERE kind = 'R'", &["S1", "S3"]),
    (
        "more that went out than was there",
        "UPDATE stock_facts SET quantity = 11000000 WHERE kind = 'i'",
        &["S1", "S3", "S4"],
    ),
    (
        "a posting of stock on another day",
        "UPDATE entry_lines SET date = '2026-03-11' WHERE item_id IS NOT NULL AND amount < 0 AND date = '2026-03-10'",
        &["S1"],
    ),
    ("a count of documents", "UPDATE document_counts SET count = count + 1", &["V4f"]),
    (
        "documents that are counted as others",
        "UPDATE document_counts SET standing = 'v' WHERE standing = 'h'",
        &["V4f"],
    ),
    ("an invoice that looks paid", "UPDATE documents SET stage = 'f' WHERE kind = 'I'", &["V5c"]),
    ("an invoice that looks void", "UPDATE documents SET stage = NULL WHERE kind = 'I'", &["V5c"]),
    ("an invoice due on another day", "UPDATE documents SET due_date = 0 WHERE kind = 'I'", &["V5c"]),
    ("a tax by month of more", "UPDATE tax_months SET tax = tax + 100", &["V4h"]),
    ("a turnover by month of less", "UPDATE tax_months SET base = base - 100", &["V4h"]),
    ("what the lines of a month's tax moved", "UPDATE tax_months SET posted = posted + 100", &["V4h"]),
    ("a month of tax that is missing", "DELETE FROM tax_months", &["V4h"]),
    ("a trade by month of more", "UPDATE trade_months SET amount = amount + 100", &["V4i"]),
    ("a trade of another party", "UPDATE trade_months SET of_id = business_id WHERE grouping = 'party'", &["V4i"]),
    ("a month of trade that is missing", "DELETE FROM trade_months", &["V4i"]),
    ("a month of a party of more", "UPDATE party_months SET moved = moved + 100", &["V4l"]),
    ("a month of a party that is missing", "DELETE FROM party_months", &["V4l"]),
    ("money by day of more", "UPDATE cash_days SET amount = amount + 100", &["V4j"]),
    ("a day of money that is missing", "DELETE FROM cash_days", &["V4j"]),
    ("words that nobody looks for", "DELETE FROM search_waiting", &["V4k"]),
    ("a tax of more", "UPDATE tax_facts SET home_tax = home_tax + 100 WHERE duty = 'g'", &["T1", "V4h"]),
    ("a tax that is gone", "DELETE FROM tax_facts WHERE duty = 'g'", &["T1", "T2"]),
    ("a turnover of less", "UPDATE tax_facts SET home_base = home_base - 100 WHERE leads", &["T2"]),
    ("another rate", "UPDATE tax_facts SET rate = 7000000 WHERE duty = 'g'", &["T4"]),
    (
        "a credit of more than was sold",
        r#"UPDATE documents SET content = replace(content, '"quantity":1,"stated"', '"quantity":4,"stated"') WHERE kind = 'N'"#,
        &["L1"],
    ),
];

/// Goods bought and sold abroad, and paid at another rate.
fn books_of_trade(server: &Server) -> Company<'_> {
    let shop = Shop::open(server, Dialect::B);
    let item = shop.item(json!({}));
    shop.purchase("2026-03-05", json!([{"itemId": item, "quantity": 10, "unitPrice": 4}]));
    let sold = shop.make(
        "salesInvoices",
        &json!({
            "date": "2026-03-10", "partyId": shop.customer, "currency": "USD", "exchangeRate": "0.9",
            "lines": [{"itemId": item, "quantity": 3, "unitPrice": 100}]
        }),
    );
    let mut receipt = shop.receipt("2026-03-20", "200");
    (receipt["currency"], receipt["exchangeRate"]) = ("USD".into(), "0.93".into());
    receipt["allocations"] = json!([{"targetId": sold["id"], "amount": 150}]);
    shop.make("receipts", &receipt);
    shop.sale("2026-03-21", json!([{"unitPrice": 100, "taxCodeId": shop.vat("20")}]));
    let piece = json!({"date": "2026-03-21", "lines": [{"lineId": sold["lines"][0]["id"], "quantity": 1}]});
    shop.act("POST", "salesInvoices", &sold, "credit-notes", Some(&piece)).expect(201);
    shop.company
}

/// The same for orders and goods that are not invoiced.
const CORRUPTIONS_OF_GOODS: &[(&str, &str, &[&str])] = &[
    ("what an order delivered", "UPDATE progress SET fulfilled = fulfilled + 1 WHERE kind = 'S'", &["V4g", "V5b"]),
    ("what a note invoiced", "UPDATE progress SET invoiced = 0 WHERE kind = 'L'", &["V4g", "V5b"]),
    ("what came back", "UPDATE progress SET returned = 1 WHERE kind = 'G'", &["V4g", "V5b"]),
    ("what goods that wait are worth", "UPDATE progress SET value = value + 100 WHERE kind = 'L'", &["V4g", "A2"]),
    ("what is to be billed", "UPDATE progress SET value = value + 100 WHERE kind = 'G'", &["V4g", "A1"]),
    ("an invoice that its goods do not know", "DELETE FROM stock_facts WHERE kind = 'in'", &["A2"]),
    (
        "a delivery that waits on another day",
        "UPDATE progress_moves SET date = '2026-03-04' WHERE kind = 'L' AND value <> 0",
        &["A2"],
    ),
    (
        "goods that wait to be billed on another day",
        "UPDATE progress_moves SET date = '2026-03-02' WHERE kind = 'G' AND value <> 0",
        &["A1"],
    ),
    ("a line of an order that is gone", "DELETE FROM progress WHERE kind = 'S'", &["V4g", "V5b"]),
    ("a line of a note that is gone", "DELETE FROM progress WHERE kind = 'L'", &["V4g", "V5b"]),
    ("a step of another day", "UPDATE progress_moves SET date = '2026-01-01' WHERE value <> 0", &["V3d"]),
    (
        "a step of less",
        "UPDATE progress_moves SET value = value - 100 WHERE kind = 'I' AND value <> 0",
        &["V3d", "V4g"],
    ),
    ("a step that is gone", "DELETE FROM progress_moves WHERE kind = 'I'", &["V3d", "V4g"]),
    ("a cent where goods wait", "UPDATE progress_moves SET account_id = id WHERE account_id IS NOT NULL", &["V3d"]),
    ("an order that looks done", "UPDATE documents SET stage = 'f' WHERE kind = 'S'", &["V5b"]),
    (
        "an order with an entry",
        "UPDATE documents SET entries = (SELECT entries FROM documents WHERE kind = 'I') WHERE kind = 'S'",
        &["V11"],
    ),
    ("an invoice of less", "UPDATE document_lines SET quantity = 1 WHERE kind = 'I'", &["V5b"]),
];

/// Goods ordered, delivered in part and invoiced in part; others received and not yet billed.
fn books_of_goods(server: &Server) -> Company<'_> {
    let shop = Shop::open(server, Dialect::A);
    let item = shop.item(json!({"salePrice": 9}));
    let note = json!({"date": "2026-03-01", "partyId": shop.supplier, "lines": [{"itemId": item, "quantity": 10, "unitCost": 4}]});
    shop.make("receiptNotes", &note);
    let lines = json!([{"itemId": item, "quantity": 8}]);
    let order = shop.make("salesOrders", &json!({"date": "2026-03-02", "partyId": shop.customer, "lines": lines}));
    let part = |of: &Value, quantity: u32| json!({"date": "2026-03-05", "lines": [{"lineId": of["lines"][0]["id"], "quantity": quantity}]});
    let note = shop.act("POST", "salesOrders", &order, "delivery-notes", Some(&part(&order, 5))).expect(201).data;
    shop.act("POST", "deliveryNotes", &note, "invoices", Some(&part(&note, 2))).expect(201);
    shop.company
}

type Books = fn(&Server) -> Company<'_>;
type Corruption = (&'static str, &'static str, &'static [&'static str]);
const ALL: [(Books, &[Corruption]); 3] =
    [(books, CORRUPTIONS), (books_of_trade, CORRUPTIONS_OF_TRADE), (books_of_goods, CORRUPTIONS_OF_GOODS)];

/// Books in which each corruption finds something to spoil.
fn books(server: &Server) -> Company<'_> {
    let company = server.company();
    let customer = company.party(json!({}))["id"].clone();
    company.journal("2026-03-05", &[("6200", "10"), ("1010", "-10")]);
    let mut owed = company.journal_body("2026-04-05", &[("1200", "30"), ("4000", "-30")]);
    owed["lines"][0]["partyId"] = customer;
    company.post_journal(&owed).expect(201);
    let void = company.journal("2026-05-05", &[("6300", "5"), ("1000", "-5")]);
    company.ask(Dialect::A, "DELETE", "journals", &format!("/{}", void["id"].as_str().unwrap()), None).expect(200);
    let last = company.journal_body("2026-06-05", &[("6400", "7"), ("1010", "-7")]);
    let request = company.request(Dialect::B, "POST", "journals", "").header("Idempotency-Key", &company.id);
    company.say(Dialect::B, request.json(&last)).expect(201);
    company.ask(Dialect::A, "POST", "locks", "", Some(&json!({"hardLockDate": "2020-12-31"}))).expect(201);
    let year = json!({"name": "2026", "start": "2026-01-01", "end": "2026-12-31"});
    company.ask(Dialect::A, "POST", "fiscalYears", "", Some(&year)).expect(201);
    company
}

/// Books of every kind.
pub(crate) fn every_kind_of_books(server: &Server) -> [Company<'_>; 3] {
    ALL.map(|(books, _)| books(server))
}

fn each_corruption_is_found(engine: Engine) {
    let Some(server) = Server::start(engine, Options::default()) else { return };
    let whole = books(&server);
    assert_eq!(whole.failed_checks(), [""; 0]);
    let proof = server.command(&["verify"], "");
    assert_eq!(proof.status.code(), Some(0), "{}", String::from_utf8_lossy(&proof.stdout));
    assert_eq!(books_of_trade(&server).failed_checks(), [""; 0]);
    assert_eq!(books_of_goods(&server).failed_checks(), [""; 0]);
    let guards = crate::seals::guards(&server);
    behind_the_back(&server, &unguarded(engine)).unwrap();
    let each = ALL.into_iter().flat_map(|(books, corruptions)| corruptions.iter().map(move |one| (books, one)));
    for (books, (what, statements, checks)) in each {
        let company = books(&server);
        let only = format!("business_id = {}", literal(engine, &company.id));
        // What is packed is spoilt as it is said.
        if statements.contains("content") {
            behind_the_back(&server, &crate::seals::unpacked_contents(&server, &company.id)).unwrap();
        }
        let statements = match engine {
            Engine::Postgres => {
                statements.replace("replace(content,", "convert_to(replace(convert_from(content, 'UTF8'),")
            }
            Engine::Sqlite => (*statements).to_owned(),
        };
        let statements = match statements.split_once(" WHERE kind") {
            Some((set, kind)) if set.contains("convert_to(") => format!("{set}, 'UTF8') WHERE kind{kind}"),
            _ => statements,
        };
        let here: Vec<String> = statements.split("; ").map(|statement| within(statement, &only)).collect();
        behind_the_back(&server, &here).unwrap_or_else(|error| panic!("{what}: {error}"));
        let failed = company.failed_checks();
        for check in *checks {
            assert!(failed.iter().any(|found| found == check), "{what}: {check} is not among {failed:?}");
        }
    }
    assert_eq!(whole.failed_checks(), [""; 0], "one company's trouble is not another's");
    crate::seals::put_guards_back(&server, &guards);
    let proof = server.command(&["verify", "--business", &whole.id], "");
    assert_eq!(proof.status.code(), Some(0), "{}", String::from_utf8_lossy(&proof.stdout));
    let proof = server.command(&["verify"], "");
    assert_eq!(proof.status.code(), Some(1));
    let told = String::from_utf8_lossy(&proof.stdout).into_owned();
    assert!(told.contains("FAILED") && told.contains("V7"), "{told}");
}

/// A statement that touches one company alone, its sub-queries too.
fn within(statement: &str, only: &str) -> String {
    let narrowed = statement.replace("WHERE ", &format!("WHERE {only} AND "));
    if narrowed.contains("WHERE") { narrowed } else { format!("{narrowed} WHERE {only}") }
}

#[test]
fn each_way_to_spoil_the_books_is_found_on_sqlite() {
    each_corruption_is_found(Engine::Sqlite);
}

#[test]
fn each_way_to_spoil_the_books_is_found_on_postgres() {
    each_corruption_is_found(Engine::Postgres);
}
