//! What questions cost does not depend on guesses: the steps of the engine are counted, in small books and in larger ones.

use crate::harness::server::authorised;
use crate::harness::shop::{Shop, id};
use crate::harness::{Dialect, Engine, Options, Request, Server};
use serde_json::{Value, json};

/// What the engine did for what is asked, as the server's log counts it.
fn steps(server: &Server, ask: impl FnOnce()) -> i64 {
    steps_in(&server.logged(ask))
}

fn steps_in(log: &str) -> i64 {
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter_map(|line| line["steps"].as_i64()).sum()
}

fn sell(shop: &Shop<'_>, tax: &str, count: usize) {
    for _ in 0..count {
        shop.sale("2026-03-10", json!([{"description": "Hour", "quantity": 1, "unitPrice": "90", "taxCodeId": tax}]));
    }
}

/// What answers from sums that are kept, or is one page.
const KEPT: &[&str] = &[
    "reports/trial-balance?from=2026-01-01&to=2026-12-31",
    "reports/trial-balance?from=2026-02-03&to=2026-11-07",
    "reports/pl?from=2026-01-01&to=2026-12-31",
    "reports/bs?asOf=2026-12-31",
    "reports/bs?asOf=2026-12-31&periods=3&interval=year",
    "reports/cash-flow?from=2026-01-01&to=2026-12-31",
    "reports/tax-summary?from=2026-01-01&to=2026-12-31",
    "reports/tax-return?from=2026-01-01&to=2026-06-30",
    "reports/sales-by-customer?from=2026-01-01&to=2026-12-31",
    "reports/sales-by-item?from=2026-01-01&to=2026-12-31&groupBy=quarter",
    "reports/purchases-by-supplier?from=2026-01-01&to=2026-12-31",
    "reports/general-ledger?from=2026-01-01&to=2026-12-31&pageSize=10",
    "reports/general-ledger?from=2026-03-01&to=2026-03-31&pageSize=10&page=3",
    "sales-invoices?pageSize=10",
    "sales-invoices?pageSize=10&view=summary",
    "sales-invoices?pageSize=10&view=summary&page=2",
    "sales-invoices?pageSize=10&sort=-date",
    "sales-invoices?pageSize=10&sort=-total",
    "sales-invoices?pageSize=10&number=INV-2026-0007",
    "journals?pageSize=10",
    "accounts?pageSize=10",
];

#[test]
fn what_is_kept_in_sums_costs_the_same_however_long_the_books_are() {
    let environment = vec![("Logging__Level".to_owned(), "trace".to_owned())];
    let server = Server::start(Engine::Sqlite, Options { environment, ..Options::default() }).unwrap();
    let shop = Shop::open(&server, Dialect::B);
    let (company, tax) = (&shop.company, shop.vat("20"));
    let cost = |path: &str| {
        let request = authorised(Request::new("GET", &format!("/b/api/{path}")), &company.token);
        let request = request.header("X-Business-Id", &company.id);
        steps(&server, || drop(server.send(&request).expect(200)))
    };
    sell(&shop, &tax, 20);
    let few: Vec<i64> = KEPT.iter().map(|path| cost(path)).collect();
    sell(&shop, &tax, 180);
    for (path, few) in KEPT.iter().zip(few) {
        let many = cost(path);
        assert!(few > 0, "{path}: nothing was counted");
        assert!(many < few * 2, "{path}: {few} steps with 20 invoices, {many} with 200");
    }
}

/// A list that answers as quickly however many documents lie beside what it is asked for: by counts that are kept, and by
/// indexes that say all that it is narrowed by.
const NARROWED: &[&str] = &[
    "status=open",
    "status=partiallyPaid",
    "status=open,partiallyPaid",
    "status=open&sort=-total",
    "status=paid",
    "status=paid&sort=-date",
    "status=void",
    "status=draft",
    "status=draft,void",
    "status=overdue",
    "status=overdue&sort=-total",
    "isOverdue=true",
    "isOverdue=false&sort=-date",
    "status=open&dateFrom=2026-03-01&dateTo=2026-03-31",
    "status=open&dueTo=2026-02-20",
    "number=INV-2026-0003",
    "q=INV-2026-0003",
    "q=inv-2026-0003",
    "reference=ours",
    "partyId={few}",
    "partyId={few}&status=open",
    "sort=date",
    "sort=-date",
    "sort=number",
    "sort=-number",
    "sort=total",
    "sort=-total",
    "sort=createdAt",
    "sort=-createdAt",
    "sort=updatedAt",
    "sort=-updatedAt",
];

/// A list that most documents are in: how many they are is counted in an index, a few steps each, and no further than to a
/// bound.
const WIDE: &[&str] = &[
    "partyId={many}",
    "partyId={many}&sort=-date",
    "partyId={many}&status=paid",
    "status=paid&dateFrom=2026-01-01",
    "dateFrom=2026-01-01",
    "dateFrom=2026-01-01&dateTo=2026-12-31&sort=-date",
    "minTotal=1",
    "maxTotal=1000000&sort=total",
    "currency=EUR",
    "dueFrom=2026-01-01",
    "dueFrom=2026-02-01&dueTo=2026-02-20",
];

/// Words that all documents hold: as many as are counted are looked into one by one, and no more.
const COMMON: &[&str] = &["q=hour", "q=hour&sort=-total"];
const A_WORD: i64 = 100;

/// Words that no document holds: blocks of documents tell that of all that are in them, a step for each row of letters that
/// is looked for, and of those that wait each is looked into. Blocks are small here: a walk would be more all the same.
const LOOKED_FOR: &[&str] = &["q=nowhere", "q=2099-77"];
const A_LOOK: i64 = 4;

/// As many steps as a document of those costs that are counted, and sorted where they are few.
const A_DOCUMENT: i64 = 24;

/// Sales that stay open, are paid in part, are late, are drafts, or were taken back; half of them of a customer of their own.
fn sell_few(shop: &Shop<'_>, few: &str, tax: &str) {
    let lines = json!([{"description": "Hour", "quantity": 1, "unitPrice": "90", "taxCodeId": tax}]);
    let body = |party: &str, more: Value| {
        let mut body = json!({"date": "2026-03-10", "partyId": party, "lines": lines});
        body.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
        body
    };
    for party in [few, shop.customer.as_str()] {
        shop.make("salesInvoices", &body(party, json!({"reference": "ours"})));
        shop.make("salesInvoices", &body(party, json!({"date": "2026-01-10", "dueDate": "2026-02-10"})));
        shop.make("salesInvoices", &body(party, json!({"status": "draft"})));
        let void = shop.make("salesInvoices", &body(party, json!({})));
        shop.void("salesInvoices", &void);
        let in_part = shop.make("salesInvoices", &body(party, json!({})));
        let mut receipt = shop.receipt("2026-03-11", "1");
        receipt["partyId"] = party.into();
        receipt["allocations"] = json!([{"targetId": id(&in_part), "amount": "1"}]);
        shop.make("receipts", &receipt);
    }
}

/// Sales that are paid at once.
fn sell_for_cash(shop: &Shop<'_>, tax: &str, count: usize) {
    let bank = shop.company.account("1010");
    for _ in 0..count {
        let lines = json!([{"description": "Hour", "quantity": 1, "unitPrice": "90", "taxCodeId": tax}]);
        let body = json!({
            "date": "2026-03-10", "dueDate": "2026-04-10", "partyId": shop.customer, "lines": lines,
            "cashReceipt": {"accountId": bank}
        });
        shop.make("salesInvoices", &body);
    }
}

#[test]
fn a_list_costs_the_same_however_many_documents_lie_beside_what_it_shows() {
    let environment = vec![("Logging__Level".to_owned(), "trace".to_owned())];
    let server = Server::start(Engine::Sqlite, Options { environment, ..Options::default() }).unwrap();
    let shop = Shop::open(&server, Dialect::B);
    let (company, tax) = (&shop.company, shop.vat("20"));
    let few = company.party(json!({"name": "Rarely here"}));
    let cost = |query: &str| {
        let query = query.replace("{few}", id(&few)).replace("{many}", &shop.customer);
        let asked = |said: String| {
            let path = format!("/b/api/sales-invoices?{said}");
            let request = authorised(Request::new("GET", &path), &company.token);
            let request = request.header("X-Business-Id", &company.id);
            steps(&server, || drop(server.send(&request).expect(200)))
        };
        // The server asks for itself now and then: of several times that it is asked the same in other words, one is alone.
        let said =
            [format!("pageSize=10&{query}"), format!("{query}&pageSize=10"), format!("page=1&{query}&pageSize=10")];
        said.map(asked).into_iter().min().unwrap()
    };
    sell_few(&shop, id(&few), &tax);
    sell_for_cash(&shop, &tax, 30);
    let all = || NARROWED.iter().chain(WIDE).chain(LOOKED_FOR).chain(COMMON);
    let before: Vec<i64> = all().map(|query| cost(query)).collect();
    let more = 120;
    sell_for_cash(&shop, &tax, usize::try_from(more).unwrap());
    for (query, before) in all().zip(before) {
        let after = cost(query);
        let most = match query {
            _ if COMMON.contains(query) => A_WORD * more,
            _ if LOOKED_FOR.contains(query) => A_LOOK * more,
            _ if WIDE.contains(query) => A_DOCUMENT * more,
            _ => more,
        };
        assert!(before > 0, "{query}: nothing was counted");
        assert!(after - before < most, "{query}: {before} steps, and {after} with {more} documents more");
    }
}

/// What happened after a day, or is open: not what was settled before it.
const SINCE: &[&str] = &[
    "reports/party-statement?from=2026-04-01&to=2026-12-31&partyId=",
    "reports/cash-flow?from=2026-04-01&to=2026-12-31",
    // What moved money is kept by day.
    "reports/cash-flow?from=2026-01-01&to=2026-12-31",
    "reports/ar-aging?asOf=2026-12-31",
    "reports/ar-aging-detail?asOf=2026-12-31&partyId=",
];

#[test]
fn what_was_settled_before_a_span_costs_nothing_however_much_it_was() {
    let environment = vec![("Logging__Level".to_owned(), "trace".to_owned())];
    let server = Server::start(Engine::Sqlite, Options { environment, ..Options::default() }).unwrap();
    let shop = Shop::open(&server, Dialect::B);
    let (company, tax) = (&shop.company, shop.vat("20"));
    let settled = |count: usize| {
        for _ in 0..count {
            let lines = json!([{"description": "Hour", "quantity": 1, "unitPrice": "90", "taxCodeId": tax}]);
            let sale = shop.sale("2026-03-10", lines);
            let mut receipt = shop.receipt("2026-03-10", "108");
            receipt["allocations"] = json!([{"targetId": id(&sale), "amount": "108"}]);
            shop.make("receipts", &receipt);
        }
    };
    let cost = |path: &str| {
        let whose = if path.ends_with('=') { shop.customer.as_str() } else { "" };
        let request = authorised(Request::new("GET", &format!("/b/api/{path}{whose}")), &company.token);
        let request = request.header("X-Business-Id", &company.id);
        steps(&server, || drop(server.send(&request).expect(200)))
    };
    settled(10);
    let few: Vec<i64> = SINCE.iter().map(|path| cost(path)).collect();
    settled(110);
    for (path, few) in SINCE.iter().zip(few) {
        let many = cost(path);
        assert!(few > 0, "{path}: nothing was counted");
        // Not even a step for each that was settled.
        assert!(many - few < 100, "{path}: {few} steps after 10 that were settled, {many} after 120");
    }
}

/// Questions of a request, as the server's log counts them. Whether any webhook is to be told, and how a database fares, is asked
/// beside all requests.
pub fn questions(server: &Server, ask: impl FnOnce()) -> usize {
    let is_question = |line: &str| line.contains("\"steps\"") || line.contains("\"a flight\"");
    let is_of_request =
        |line: &&str| is_question(line) && !["webhooks", "pg_stat_activity"].iter().any(|other| line.contains(other));
    server.logged(ask).lines().filter(is_of_request).count()
}

/// As many as a report asks at most, with what lets the request in, and for the fiscal years that are kept.
const QUESTIONS: &[(&str, usize)] = &[
    ("reports/trial-balance?from=2026-01-01&to=2026-12-31", 6),
    ("reports/pl?from=2026-01-01&to=2026-12-31", 6),
    ("reports/pl?from=2026-01-01&to=2026-12-31&groupBy=month", 21),
    ("reports/bs?asOf=2026-12-31", 5),
    ("reports/bs?asOf=2026-12-31&periods=4&interval=year", 5),
    ("reports/cash-flow?from=2026-01-01&to=2026-12-31", 9),
    ("reports/tax-summary?from=2026-01-01&to=2026-12-31", 6),
    ("reports/sales-by-customer?from=2026-01-01&to=2026-12-31", 6),
];

#[test]
fn a_small_report_asks_a_handful_of_questions() {
    let environment = vec![("Logging__Level".to_owned(), "trace".to_owned())];
    let server = Server::start(Engine::Sqlite, Options { environment, ..Options::default() }).unwrap();
    let shop = Shop::open(&server, Dialect::B);
    sell(&shop, &shop.vat("20"), 2);
    for (path, most) in QUESTIONS {
        let request = authorised(Request::new("GET", &format!("/b/api/{path}")), &shop.company.token);
        let request = request.header("X-Business-Id", &shop.company.id);
        let asked = questions(&server, || drop(server.send(&request).expect(200)));
        assert!((1..=*most).contains(&asked), "{path}: {asked} questions");
    }
}

/// What a trader does again and again: each is done to what the one before it made.
const DONE: &[&str] = &[
    "a sale of hours",
    "an edit of it",
    "money for it",
    "a sale of goods",
    "a part of it credited",
    "a purchase of goods",
    "money for that",
    "an order",
    "a delivery of it",
    "an invoice of that",
    "a journal",
];

/// A round of it, all on one day: what each cost.
fn round(shop: &Shop<'_>, goods: &str, tax: &str) -> Vec<i64> {
    let date = "2026-03-10";
    let hours = json!([{"description": "Hour", "quantity": 1, "unitPrice": "90", "taxCodeId": tax}]);
    let pieces = json!([{"itemId": goods, "quantity": 2, "unitPrice": "9", "taxCodeId": tax}]);
    let mut spent = Vec::new();
    let mut made = |work: &dyn Fn() -> Value| -> Value {
        let mut done = None;
        spent.push(steps(shop.company.server, || done = Some(work())));
        done.unwrap()
    };
    let allocated = |document: &Value| json!([{"targetId": id(document), "amount": "1"}]);
    let with = |mut body: Value, key: &str, value: Value| {
        body[key] = value;
        body
    };
    let sale = made(&|| shop.sale(date, hours.clone()));
    let body = json!({"date": date, "partyId": shop.customer, "reference": "anew", "lines": hours});
    made(&|| shop.ask("PUT", "salesInvoices", &format!("/{}", id(&sale)), Some(&body)).expect(200).data);
    made(&|| shop.make("receipts", &with(shop.receipt(date, "1"), "allocations", allocated(&sale))));
    let sale = made(&|| shop.sale(date, pieces.clone()));
    let line = json!([{"lineId": sale["lines"][0]["id"], "quantity": 1}]);
    let credit = json!({"date": date, "lines": line});
    made(&|| shop.act("POST", "salesInvoices", &sale, "credit-notes", Some(&credit)).expect(201).data);
    let purchase = made(&|| shop.purchase(date, pieces.clone()));
    made(&|| shop.make("payments", &with(shop.payment(date, "1"), "allocations", allocated(&purchase))));
    let order = json!({"date": date, "partyId": shop.customer, "lines": pieces});
    let order = made(&|| shop.make("salesOrders", &order));
    let sent = json!({"date": date});
    let note = made(&|| shop.act("POST", "salesOrders", &order, "delivery-notes", Some(&sent)).expect(201).data);
    made(&|| shop.act("POST", "deliveryNotes", &note, "invoices", Some(&sent)).expect(201).data);
    let line = |code: &str, side: &str| json!({"accountId": shop.company.account(code), side: "5"});
    let lines = json!([line("6000", "debit"), line("1010", "credit")]);
    made(&|| shop.make("journals", &json!({"date": date, "lines": lines})));
    spent
}

/// What a round of them costs mostly: the middle one, for now and then something is kept that is asked for later.
fn mostly(rounds: &[Vec<i64>]) -> Vec<i64> {
    let middle = |at: usize| {
        let mut of_all: Vec<i64> = rounds.iter().map(|round| round[at]).collect();
        of_all.sort_unstable();
        of_all[of_all.len() / 2]
    };
    (0..DONE.len()).map(middle).collect()
}

#[test]
fn what_is_posted_costs_the_same_however_long_the_books_are() {
    let environment = vec![("Logging__Level".to_owned(), "trace".to_owned())];
    let server = Server::start(Engine::Sqlite, Options { environment, ..Options::default() }).unwrap();
    let shop = Shop::open(&server, Dialect::B);
    let (goods, tax) = (shop.item(json!({"code": "G"})), shop.vat("20"));
    let opening = json!([{"itemId": goods, "quantityDelta": 9_000, "unitCost": "4"}]);
    shop.make("stockAdjustments", &json!({"date": "2026-01-01", "reason": "opening", "lines": opening}));
    let rounds = |count: usize| -> Vec<Vec<i64>> { (0..count).map(|_| round(&shop, &goods, &tax)).collect() };
    // The first of a kind make rows of sums that the others add to.
    rounds(3);
    let few = mostly(&rounds(9));
    let between = 300;
    for _ in 0..between {
        shop.sale("2026-03-10", json!([{"itemId": goods, "quantity": 1, "unitPrice": "9", "taxCodeId": tax}]));
    }
    let many = mostly(&rounds(9));
    for (what, (few, many)) in DONE.iter().zip(few.iter().zip(&many)) {
        assert!(*few > 0, "{what}: nothing was counted");
        // Not even a step for ten of the sales that came between.
        assert!(many - few < between / 10, "{what}: {few} steps in small books, {many} in longer ones");
    }
}

/// What is sent to PostgreSQL together and waited for once, as the server's log counts it, without who looks now and then
/// whether the database is there.
fn flights(server: &Server, ask: impl FnOnce()) -> usize {
    let is_of_request = |line: &&str| line.contains("\"a flight\"") && !line.contains("pg_stat_activity");
    server.logged(ask).lines().filter(is_of_request).count()
}

#[test]
fn a_post_takes_two_flights_to_postgresql() {
    let environment = vec![("Logging__Level".to_owned(), "trace".to_owned())];
    let Some(server) = Server::start(Engine::Postgres, Options { environment, ..Options::default() }) else { return };
    let shop = Shop::open(&server, Dialect::B);
    let tax = shop.vat("20");
    // What is prepared and remembered once is there.
    sell(&shop, &tax, 4);
    // The server writes for itself now and then: of several posts one has the wire for itself.
    let least = (0..6).map(|_| flights(&server, || sell(&shop, &tax, 1))).min();
    // Nobody asks who comes: it begins, and is judged there; then it is written and committed.
    assert_eq!(least, Some(2));
}

/// What stands alone goes with its transaction, where it fails: nothing is kept of it to be taken back by itself.
#[test]
fn a_lone_change_sets_no_savepoint() {
    let environment = vec![("Logging__Level".to_owned(), "trace".to_owned())];
    let Some(server) = Server::start(Engine::Postgres, Options { environment, ..Options::default() }) else { return };
    let shop = Shop::open(&server, Dialect::B);
    let sold = shop.sale("2026-03-10", json!([{"unitPrice": "9"}]));
    let stale = json!({"date": "2026-03-10", "partyId": shop.customer, "lines": []});
    let said = server.logged(|| {
        shop.ask("PUT", "salesInvoices", &format!("/{}", sold["id"].as_str().unwrap()), Some(&stale)).expect(400);
        shop.act("POST", "salesInvoices", &sold, "void", None).expect(200);
    });
    assert!(said.contains("a flight") && !said.contains("SAVEPOINT"), "{said}");
    assert_eq!(shop.get("salesInvoices", &sold)["status"], "void");
    shop.proves();
}

/// To start costs the engine the same however much is in the books: nobody who waits for the first answer waits for a walk
/// along them.
#[test]
fn a_start_costs_the_same_however_long_the_books_are() {
    let custom = Some(r#"{"Logging": {"Level": "trace"}}"#.to_owned());
    let server = Server::start(Engine::Sqlite, Options { custom, ..Options::default() }).unwrap();
    // What the first start makes is there.
    let begun = |server: &Server| steps_in(&server.log());
    let server = server.restarted();
    let few = begun(&server);
    let shop = Shop::open(&server, Dialect::B);
    let (more, tax) = (150, shop.vat("20"));
    sell(&shop, &tax, more);
    let server = server.restarted();
    let many = begun(&server);
    assert!(few > 0, "nothing was counted");
    assert!(many - few < i64::try_from(more).unwrap(), "{few} steps to start, {many} with {more} invoices more");
}

/// A page of which the columns of rows say all that is asked for is one question beside who asks and how many there are; no
/// record is unpacked for it, nor is anything asked of each of its documents.
#[test]
fn a_page_of_what_columns_say_is_one_question_and_reads_no_record() {
    let environment = vec![("Logging__Level".to_owned(), "trace".to_owned())];
    let server = Server::start(Engine::Sqlite, Options { environment, ..Options::default() }).unwrap();
    let shop = Shop::open(&server, Dialect::B);
    let tax = shop.vat("20");
    sell(&shop, &tax, 3);
    let asked = |path: &str| -> Vec<String> {
        // After a write nothing is answered again.
        sell(&shop, &tax, 1);
        let log = server.logged(|| drop(shop.ask("GET", "salesInvoices", path, None).expect(200)));
        let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let sql = lines.filter_map(|line| Some(line["sql"].as_str().filter(|_| line["steps"].is_i64())?.to_owned()));
        // The server looks now and then whom it has to tell.
        sql.filter(|sql| !sql.contains("\"webhooks\"")).collect()
    };
    let record = |sql: &String| sql.contains("audit_log") || sql.contains("\"content\"");
    for path in ["?view=summary", "?fields=number,total,balanceDue", "?view=summary&sort=-total&pageSize=500"] {
        let asked = asked(path);
        assert_eq!(asked.len(), 3, "{path}: {asked:#?}");
        assert!(!asked.iter().any(record), "{path}: {asked:#?}");
    }
    assert!(asked("?fields=number,partyName").iter().any(record), "what only the body says is read from it");
}

/// What the engine does for a statement, step by step.
fn plan(server: &Server, sql: &str) -> Vec<String> {
    use sea_orm::{ConnectionTrait, DbBackend, Statement};
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let database = crate::harness::books::connected(server.database_url()).await.unwrap();
        let asked = Statement::from_string(DbBackend::Sqlite, format!("EXPLAIN QUERY PLAN {sql}"));
        let rows = database.query_all_raw(asked).await.unwrap();
        rows.iter().map(|row| row.try_get::<String>("", "detail").unwrap()).collect()
    })
}

/// A proof asks for what belongs to some records portion by portion: each time the whole of a company would be as much again
/// as all of it.
#[test]
fn a_proof_finds_what_belongs_to_some_records_by_them() {
    let environment = vec![("Logging__Level".to_owned(), "trace".to_owned())];
    let server = Server::start(Engine::Sqlite, Options { environment, ..Options::default() }).unwrap();
    let companies = crate::seals::populated(&server);
    let log = server.logged(|| {
        for company in companies {
            assert_eq!(company.failed_checks(), Vec::<String>::new());
        }
    });
    let asked = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let asked: std::collections::BTreeSet<String> =
        asked.filter_map(|line| Some(line["sql"].as_str().filter(|_| line["steps"].is_i64())?.to_owned())).collect();
    let by_records = |sql: &&String| {
        let reads = sql.starts_with("SELECT") && sql.contains("business_id\" = ?");
        reads && ["id\" IN (?", "id\" IN (SELECT", "number\" IN (SELECT"].iter().any(|list| sql.contains(list))
    };
    let by_records: Vec<&String> = asked.iter().filter(by_records).collect();
    assert!(by_records.len() > 20, "{asked:?}");
    for sql in by_records {
        // A list of identifiers is read as it was given.
        let is_given = |step: &String| step.contains("VIRTUAL TABLE");
        let whole = |step: &String| (step.starts_with("SCAN") && !is_given(step)) || step.ends_with("(business_id=?)");
        let plan = plan(&server, sql);
        assert!(!plan.iter().any(whole), "{sql}: {plan:?}");
    }
}

/// What changes what was there already.
const ANEW: [&str; 3] = ["a sale that is changed", "a sale of a day before", "its end"];

/// What is made of another document, whose chain is looked at.
const OF_ANOTHER: [&str; 4] = ["a delivery of it", "an invoice of that", "a receipt of goods", "its bill"];

/// What is done with documents of so many items, and in how many flights each.
fn of_many_items(shop: &Shop<'_>, items: &[String]) -> Vec<(&'static str, usize)> {
    let lines = |more: Value| -> Value {
        let line = |item: &String| {
            let mut line = json!({"itemId": item, "quantity": 2, "unitPrice": "9"});
            line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            line
        };
        items.iter().map(line).collect()
    };
    let plain = lines(json!({}));
    let mut spent = Vec::new();
    let mut made = |what: &'static str, work: &dyn Fn() -> Value| -> Value {
        let mut done = None;
        spent.push((what, flights(shop.company.server, || done = Some(work()))));
        done.unwrap()
    };
    let date = json!({"date": "2026-03-11"});
    let sale = made("a sale", &|| shop.sale("2026-03-10", plain.clone()));
    let mut body = json!({"date": "2026-03-10", "partyId": shop.customer, "reference": "anew"});
    body["lines"] = lines(json!({"quantity": 3}));
    made("a sale that is changed", &|| {
        shop.ask("PUT", "salesInvoices", &format!("/{}", id(&sale)), Some(&body)).expect(200).data
    });
    made("a return of it", &|| shop.act("POST", "salesInvoices", &sale, "credit-notes", Some(&date)).expect(201).data);
    let purchase = made("a purchase", &|| shop.purchase("2026-03-11", plain.clone()));
    made("one that goes back", &|| {
        shop.act("POST", "purchaseInvoices", &purchase, "debit-notes", Some(&date)).expect(201).data
    });
    let order = json!({"date": "2026-03-11", "partyId": shop.customer, "lines": plain});
    let order = made("an order", &|| shop.make("salesOrders", &order));
    let note = made("a delivery of it", &|| {
        shop.act("POST", "salesOrders", &order, "delivery-notes", Some(&date)).expect(201).data
    });
    made("an invoice of that", &|| shop.act("POST", "deliveryNotes", &note, "invoices", Some(&date)).expect(201).data);
    let order = json!({"date": "2026-03-11", "partyId": shop.supplier, "lines": plain});
    let order = made("an order of ours", &|| shop.make("purchaseOrders", &order));
    let note = made("a receipt of goods", &|| {
        shop.act("POST", "purchaseOrders", &order, "receipt-notes", Some(&date)).expect(201).data
    });
    made("its bill", &|| shop.act("POST", "receiptNotes", &note, "invoices", Some(&date)).expect(201).data);
    let counted: Value = items.iter().map(|item| json!({"itemId": item, "countedQuantity": 40})).collect();
    made("a count", &|| {
        shop.make("stockAdjustments", &json!({"date": "2026-03-12", "reason": "Count", "lines": counted}))
    });
    let late = made("a sale of a day before", &|| shop.sale("2026-03-09", plain.clone()));
    made("its end", &|| shop.void("salesInvoices", &late));
    spent
}

#[test]
fn a_document_of_many_items_asks_as_little_as_one_of_few() {
    let environment = vec![("Logging__Level".to_owned(), "trace".to_owned())];
    let Some(server) = Server::start(Engine::Postgres, Options { environment, ..Options::default() }) else { return };
    let shop = Shop::open(&server, Dialect::B);
    let items: Vec<String> = (0..24).map(|number| shop.item(json!({"code": format!("G{number}")}))).collect();
    let opening: Value =
        items.iter().map(|item| json!({"itemId": item, "quantityDelta": 100, "unitCost": "4"})).collect();
    shop.make("stockAdjustments", &json!({"date": "2026-01-01", "reason": "opening", "lines": opening}));
    let few = of_many_items(&shop, &items[..2]);
    let many = of_many_items(&shop, &items[2..]);
    for ((what, few), (_, many)) in few.iter().zip(&many) {
        // What is asked at once goes at once, and nothing twice: a delivery went 42 times, and an invoice of it 53.
        if OF_ANOTHER.contains(what) {
            assert!(*few <= 32, "{what}: {few} flights");
        }
        // What changes the past values each item anew from there on, and asks for each what it was.
        if !ANEW.contains(what) {
            // Something that waits is written now and then beside.
            assert!(*many <= few + 8, "{what}: {few} flights of 2 items, {many} of 22");
        }
    }
}
