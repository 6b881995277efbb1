//! The feed of a company: everything that was committed, in its order, without a hole, to whoever may see it.

use crate::harness::examples::creatable;
use crate::harness::http::Request;
use crate::harness::process::eventually;
use crate::harness::server::{DIALECTS, authorised};
use crate::harness::shop::{Shop, id};
use crate::harness::{Company, Dialect, Engine, Options, Server, on_both_engines};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

fn feed(company: &Company<'_>, dialect: Dialect, query: &str) -> Value {
    let request = company.request_at(dialect, "GET", &format!("events{query}"));
    company.say(dialect, request).expect(200).data
}

fn numbers(events: &[Value]) -> Vec<i64> {
    events.iter().map(|one| one["sequence"].as_i64().unwrap()).collect()
}

/// All there is, as a client reads it that keeps nothing but a number.
fn followed(company: &Company<'_>, limit: usize, query: &str) -> Vec<Value> {
    let (mut after, mut all) = (0, Vec::new());
    for dialect in DIALECTS.into_iter().cycle() {
        let told = feed(company, dialect, &format!("?after={after}&limit={limit}{query}"));
        all.extend(told["items"].as_array().unwrap().iter().cloned());
        after = told["lastSequence"].as_i64().unwrap();
        if told["hasMore"] == false {
            break;
        }
    }
    all
}

fn party(company: &Company<'_>, dialect: Dialect, name: &str) -> Value {
    company
        .ask(dialect, "POST", "parties", "", Some(&json!({"name": name, "isCustomer": true, "isSupplier": false})))
        .expect(201)
        .data
}

on_both_engines! {
    fn every_change_is_told_once_in_its_order_and_with_its_record(server) {
        let company = server.company();
        for operations in creatable().filter(|one| one.key.stem() != "businesses") {
            company.make(operations.key.stem());
        }
        let log = company.ask(Dialect::A, "GET", "auditLog", "?pageSize=500", None).expect(200).data;
        let log = log["items"].as_array().unwrap().clone();
        let all = followed(&company, 7, "&payload=full");
        assert_eq!(numbers(&all), (1..=i64::try_from(log.len()).unwrap()).collect::<Vec<_>>());
        for (event, record) in all.iter().zip(&log) {
            for (told, logged) in [("id", "id"), ("occurredAt", "at"), ("resource", "resource"), ("resourceId", "resourceId"), ("dialect", "dialect")] {
                assert_eq!(event[told], record[logged], "{event}");
            }
            assert_eq!(event["actor"]["userId"], record["actor"]["userId"]);
            let shown = if record["after"].is_null() { &record["before"] } else { &record["after"] };
            assert_eq!(&event["data"]["record"], shown, "{}", event["type"]);
            assert_eq!(event["data"]["note"], record["note"]);
            let action = record["action"].as_str().unwrap();
            assert!(event["type"].as_str().unwrap().ends_with(&format!(".{action}")), "{event}");
        }
        assert!(all.iter().any(|one| one["type"] == "salesInvoice.created"));
        assert!(followed(&company, 500, "").iter().all(|one| one["data"].is_null()), "thin unless more is asked for");
    }

    fn two_hundred_who_write_at_once_leave_no_hole(server) {
        let company = server.company();
        thread::scope(|scope| {
            for writer in 0..20 {
                let company = company.clone();
                scope.spawn(move || (0..10).for_each(|number| drop(party(&company, DIALECTS[number % 2], &format!("P {writer} {number}")))));
            }
            // Whoever follows meanwhile misses nothing and has nothing twice.
            let (mut after, mut seen) = (0, 0);
            while seen < 200 {
                let told = feed(&company, Dialect::B, &format!("?after={after}&limit=7&wait=5s"));
                let items = told["items"].as_array().unwrap();
                let last = told["lastSequence"].as_i64().unwrap();
                assert_eq!(numbers(items), (after + 1..=last).collect::<Vec<_>>());
                seen += items.iter().filter(|one| one["type"] == "party.created").count();
                after = last;
            }
        });
        let all = followed(&company, 7, "");
        assert_eq!(numbers(&all), (1..=i64::try_from(all.len()).unwrap()).collect::<Vec<_>>());
        let verdict = company.ask(Dialect::A, "GET", "auditLog", "/verify", None).expect(200).data;
        assert_eq!((&verdict["ok"], verdict["records"].as_u64()), (&json!(true), Some(all.len() as u64)));
    }

    fn types_narrow_it_and_what_is_unknown_is_a_fault(server) {
        let company = server.company();
        let made = party(&company, Dialect::A, "Narrow");
        let id = made["id"].as_str().unwrap();
        company.ask(Dialect::A, "DELETE", "parties", &format!("/{id}"), None).expect(200);
        company.make("items");
        let kinds = |types: &str| -> Vec<String> {
            let found = followed(&company, 500, &format!("&types={types}"));
            found.iter().map(|one| one["type"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(kinds("party.*"), ["party.created", "party.deleted"]);
        assert_eq!(kinds("party.deleted,item.created"), ["party.deleted", "item.created"]);
        assert_eq!(kinds("*.deleted"), ["party.deleted"]);
        assert_eq!(kinds("*").len(), followed(&company, 500, "").len());
        // What is passed over is passed over for good.
        let told = feed(&company, Dialect::B, "?types=salesInvoice.*");
        let last = followed(&company, 500, "").len();
        assert_eq!((told["items"].as_array().unwrap().len(), told["lastSequence"].as_u64()), (0, Some(last as u64)));
        // A record that is gone is shown as it was.
        let gone = feed(&company, Dialect::A, "?types=party.deleted&payload=full");
        assert_eq!((&gone["items"][0]["data"]["record"]["name"], &gone["items"][0]["version"]), (&json!("Narrow"), &json!(1)));
        for (query, field) in [
            ("types=coffee.made", "types"), ("types=party.eaten", "types"), ("types=party.*,", "types"), ("limit=0", "limit"),
            ("limit=501", "limit"), ("wait=61s", "wait"), ("wait=soon", "wait"), ("after=-1", "after"), ("payload=thick", "payload"),
            ("since=1", "since"),
        ] {
            for dialect in DIALECTS {
                let refused = company.say(dialect, company.request_at(dialect, "GET", &format!("events?{query}"))).expect(400);
                assert_eq!(refused.fields(), [field], "{query}");
            }
        }
    }

    fn what_is_settled_whole_is_told_so(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let line = json!([{"description": "Work", "quantity": 2, "unitPrice": 50, "accountId": shop.company.account("4000")}]);
            let invoice = shop.sale("2026-03-10", line.clone());
            let pays = |amount: &str| {
                let mut body = shop.receipt("2026-03-12", amount);
                body["allocations"] = json!([{"targetId": id(&invoice), "amount": amount}]);
                shop.make("receipts", &body)
            };
            pays("40");
            let last = pays("60");
            shop.void("receipts", &last);
            let order = shop.make("salesOrders", &json!({"date": "2026-03-13", "partyId": shop.customer, "lines": line}));
            shop.act("POST", "salesOrders", &order, "invoices", Some(&json!({"date": "2026-03-14"}))).expect(201);
            let told = |types: &str, of: &Value| -> Vec<String> {
                let events = followed(&shop.company, 500, &format!("&types={types}"));
                let of_it = events.iter().filter(|one| one["resourceId"] == of["id"]);
                of_it.map(|one| one["type"].as_str().unwrap().to_owned()).collect()
            };
            let all = ["created", "touched", "settled", "touched"].map(|done| format!("salesInvoice.{done}"));
            assert_eq!(told("salesInvoice.*", &invoice), all);
            assert_eq!(told("*.settled", &invoice), ["salesInvoice.settled"]);
            assert_eq!(told("salesOrder.settled", &order), ["salesOrder.settled"]);
        }
    }

    fn whoever_may_not_see_a_resource_is_told_nothing_of_it(server) {
        let company = server.company();
        party(&company, Dialect::A, "Hidden");
        company.make("items");
        let all = followed(&company, 500, "");
        let scopes = json!([{"resource": "event", "actions": ["view"]}, {"resource": "item", "actions": ["view"]}]);
        let key = company.ask(Dialect::B, "POST", "apiKeys", "", Some(&json!({"name": "Items alone", "scopes": scopes})));
        let blind = Company { token: key.expect(201).data["secret"].as_str().unwrap().to_owned(), ..company.clone() };
        let seen = followed(&blind, 500, "");
        assert!(!seen.is_empty() && seen.iter().all(|one| one["resource"] == "items"), "{seen:?}");
        assert_eq!(seen, all.iter().filter(|one| one["resource"] == "items").cloned().collect::<Vec<_>>());
        assert!(feed(&blind, Dialect::A, "?types=party.*")["items"].as_array().unwrap().is_empty());
    }

    fn whoever_waits_is_woken_by_what_is_committed(server) {
        let company = server.company();
        for dialect in DIALECTS {
            let last = feed(&company, dialect, "")["lastSequence"].as_i64().unwrap();
            // Nothing comes: it is answered in the end, with nothing.
            let empty = feed(&company, dialect, &format!("?after={last}&wait=1s"));
            assert_eq!(empty, json!({"items": [], "lastSequence": last, "hasMore": false}));
            thread::scope(|scope| {
                let (listener, one) = (company.clone(), company.clone());
                let waiting = scope.spawn(move || {
                    // Other types wake nobody, and end no wait.
                    feed(&listener, dialect, &format!("?after={last}&wait=28s&types=party.*"))
                });
                scope.spawn(move || {
                    one.make("items");
                    party(&one, dialect, "Woken");
                });
                let told = waiting.join().unwrap();
                assert_eq!(told["items"][0]["type"], "party.created", "{told}");
                assert_eq!(told["items"].as_array().unwrap().len(), 1);
            });
        }
    }

    fn a_stream_tells_what_happens_as_it_happens_and_goes_on_where_it_broke_off(server) {
        let company = server.company();
        for dialect in DIALECTS {
            let last = feed(&company, dialect, "")["lastSequence"].as_i64().unwrap();
            let mut stream = Stream::open(&company, dialect, &format!("?after={last}&types=party.*"), None);
            party(&company, dialect, "First");
            let (first, name) = stream.next("party.created");
            assert!(name == "party.created" && first > last);
            drop(stream);
            company.make("items");
            party(&company, dialect, "Second");
            // Whatever its address says, it goes on behind the last one that it had.
            let mut again = Stream::open(&company, dialect, "?after=0&types=party.*", Some(first));
            let (second, _) = again.next("party.created");
            party(&company, dialect, "Third");
            let (third, _) = again.next("party.created");
            assert!(first < second && second < third);
        }
        for wrong in ["x", "", "-1"] {
            let refused = company.request_at(Dialect::A, "GET", "events").header("Accept", "text/event-stream").header("Last-Event-ID", wrong);
            assert_eq!(company.say(Dialect::A, refused).expect(400).fields(), ["Last-Event-ID"], "{wrong}");
        }
    }

    fn whoever_had_more_than_there_is_learns_that_the_feed_went_back(server) {
        let company = server.company();
        party(&company, Dialect::A, "Here");
        for dialect in DIALECTS {
            let last = feed(&company, dialect, "")["lastSequence"].as_i64().unwrap();
            let beyond = last + 1;
            for query in [format!("after={beyond}"), format!("after={beyond}&wait=20s"), format!("after={LAST_PLACE}")] {
                let refused = company.say(dialect, company.request_at(dialect, "GET", &format!("events?{query}"))).expect(400);
                assert_eq!(refused.code.as_deref(), Some("feed_went_back"));
                assert!(refused.errors["after"][0].as_str().unwrap().contains(&format!("after={last}")), "{}", refused.errors);
            }
            let stream = company.request_at(dialect, "GET", "events").header("Accept", "text/event-stream").header("Last-Event-ID", &beyond.to_string());
            let stream = company.say(dialect, stream).expect(400);
            assert_eq!((stream.code.as_deref(), stream.fields()), (Some("feed_went_back"), vec!["after".to_owned()]));
            // Where nothing ever is, nothing went back.
            let nowhere = company.request_at(dialect, "GET", &format!("events?after={}", LAST_PLACE + 1));
            assert_eq!(company.say(dialect, nowhere).expect(400).code.as_deref(), Some("validation_failed"));
        }
    }
}

/// A trial in which nothing is overdue yet, on a server that looks for new days all the time.
fn late_shop(server: &Server, dialect: Dialect) -> Shop<'_> {
    let company = server.company_like(json!({"name": "Late", "baseCurrency": "EUR", "isTrial": true}));
    company.told(dialect, "2030-12-10");
    let party = |is_customer: bool| {
        let body = json!({"name": "Partner", "isCustomer": is_customer, "isSupplier": !is_customer});
        id(&company.party(body)).to_owned()
    };
    Shop { customer: party(true), supplier: party(false), dialect, company }
}

/// What a server is started with that looks for new days all the time.
pub(crate) fn looking() -> Vec<(String, String)> {
    vec![("Events__Every".to_owned(), "20ms".to_owned())]
}

impl Shop<'_> {
    fn due(&self, resource: &str, due: &str, more: &Value) -> Value {
        let party = if resource == "salesInvoices" { &self.customer } else { &self.supplier };
        let mut body = json!({
            "date": "2030-12-10", "dueDate": due, "partyId": party, "lines": [{"description": "Work", "unitPrice": 100}]
        });
        body.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
        self.make(resource, &body)
    }

    /// What is overdue, as the feed tells it, once it tells so of this one. What was due earlier is told before it, and sales
    /// before purchases.
    fn overdue_until(&self, last: &Value) -> Vec<Value> {
        eventually("it is overdue", || {
            let all = followed(&self.company, 500, "&types=*.overdue&payload=full");
            all.iter().any(|one| one["resourceId"] == last["id"]).then_some(all)
        })
    }
}

fn of_which(events: &[Value]) -> Vec<String> {
    events
        .iter()
        .map(|one| format!("{} {}", one["type"].as_str().unwrap(), one["resourceId"].as_str().unwrap()))
        .collect()
}

fn sale(of: &Value) -> String {
    format!("salesInvoice.overdue {}", id(of))
}

fn purchase(of: &Value) -> String {
    format!("purchaseInvoice.overdue {}", id(of))
}

/// A day goes by, and nobody writes anything: the server tells what is overdue since, and of each due date once.
#[test]
fn what_is_overdue_is_told_once_for_each_day_that_it_was_due() {
    let none = json!({});
    for engine in [Engine::Sqlite, Engine::Postgres] {
        let Some(server) = Server::start(engine, Options { environment: looking(), ..Options::default() }) else {
            return;
        };
        for dialect in DIALECTS {
            let shop = late_shop(&server, dialect);
            let late = shop.due("salesInvoices", "2031-01-20", &none);
            let mut receipt = shop.receipt("2030-12-10", "40");
            receipt["allocations"] = json!([{"targetId": id(&late), "amount": 40}]);
            shop.make("receipts", &receipt);
            let late = shop.get("salesInvoices", &late);
            let paid = shop.due("salesInvoices", "2031-01-15", &none);
            let mut receipt = shop.receipt("2030-12-10", "100");
            receipt["allocations"] = json!([{"targetId": id(&paid), "amount": 100}]);
            shop.make("receipts", &receipt);
            let void = shop.due("salesInvoices", "2031-01-15", &none);
            shop.void("salesInvoices", &void);
            shop.due("salesInvoices", "2031-01-15", &json!({"status": "draft"}));
            // 32 days before the day that it becomes, and 31.
            shop.due("salesInvoices", "2030-12-24", &none);
            let eldest = shop.due("salesInvoices", "2030-12-25", &none);
            let next = shop.due("salesInvoices", "2031-01-25", &none);
            let bill = shop.due("purchaseInvoices", "2031-01-20", &none);
            shop.company.told(dialect, "2031-01-25");
            let told = shop.overdue_until(&bill);
            assert_eq!(of_which(&told), [sale(&eldest), sale(&late), purchase(&bill)]);
            // It moved nothing of the invoice: that has the version that it had.
            let event = &told[1];
            assert_eq!((&event["actor"]["userId"], &event["dialect"]), (&Value::Null, &Value::Null));
            let note = event["data"]["note"].to_string();
            assert_eq!(note, r#"{"dueDate":"2031-01-20","balanceDue":60.00}"#, "{event}");
            let is = shop.get("salesInvoices", &late);
            assert_eq!((&event["version"], &event["data"]["record"]), (&late["version"], &is));
            assert_eq!(
                (&is["version"], &is["updatedAt"], &is["daysOverdue"]),
                (&late["version"], &late["updatedAt"], &json!(5))
            );
            // The history knows what it was before, which is what was told of it last.
            let history =
                shop.ask("GET", "salesInvoices", &format!("/{}/history?pageSize=50", id(&late)), None).expect(200).data;
            let rows = history["items"].as_array().unwrap();
            let [.., moved, row] = &rows[..] else { panic!("{history}") };
            assert_eq!((&row["action"], &row["before"]), (&json!("overdue"), &moved["after"]), "{row}");
            assert_eq!((&row["versionFrom"], &row["versionTo"]), (&late["version"], &late["version"]));
            // A later day has something of its own, and what was told is not told again; nor on a day that comes once more.
            let later = shop.due("purchaseInvoices", "2031-01-26", &none);
            shop.company.told(dialect, "2031-01-30");
            let told = shop.overdue_until(&later);
            assert_eq!(of_which(&told)[3..], [sale(&next), purchase(&later)]);
            let back = shop.due("purchaseInvoices", "2031-01-24", &none);
            shop.company.told(dialect, "2031-01-25");
            assert_eq!(of_which(&shop.overdue_until(&back))[5..], [purchase(&back)]);
            // Due on another day, it is overdue once more when that is over.
            let mut moved = is.clone();
            moved["dueDate"] = "2031-02-03".into();
            let put = shop.ask("PUT", "salesInvoices", &format!("/{}", id(&late)), Some(&moved)).expect(200).data;
            assert_eq!(put["dueDate"], "2031-02-03");
            let last = shop.due("purchaseInvoices", "2031-02-04", &none);
            shop.company.told(dialect, "2031-02-05");
            let told = shop.overdue_until(&last);
            assert_eq!(of_which(&told)[6..], [sale(&late), purchase(&last)]);
            assert_eq!(told[6]["data"]["note"]["dueDate"], "2031-02-03");
            shop.proves();
            let verdict = shop.company.ask(dialect, "GET", "auditLog", "/verify", None).expect(200).data;
            assert_eq!(verdict["ok"], true, "{verdict}");
        }
    }
}

/// Whoever may not view invoices hears of none, and of those alone that they may view.
#[test]
fn what_is_overdue_is_told_to_those_who_may_view_it() {
    for engine in [Engine::Sqlite, Engine::Postgres] {
        let Some(server) = Server::start(engine, Options { environment: looking(), ..Options::default() }) else {
            return;
        };
        for dialect in DIALECTS {
            let shop = late_shop(&server, dialect);
            let invoice = shop.due("salesInvoices", "2031-01-20", &json!({}));
            let bill = shop.due("purchaseInvoices", "2031-01-20", &json!({}));
            shop.company.told(dialect, "2031-01-25");
            assert_eq!(of_which(&shop.overdue_until(&bill)), [sale(&invoice), purchase(&bill)]);
            for (resource, seen) in [("party", vec![]), ("salesInvoice", vec![sale(&invoice)])] {
                let scopes =
                    json!([{"resource": "event", "actions": ["view"]}, {"resource": resource, "actions": ["view"]}]);
                let body = json!({"name": format!("Of {resource}"), "scopes": scopes});
                let key = shop.ask("POST", "apiKeys", "", Some(&body)).expect(201).data;
                let narrow = Company { token: key["secret"].as_str().unwrap().to_owned(), ..shop.company.clone() };
                assert_eq!(of_which(&followed(&narrow, 500, "&types=*.overdue")), seen, "{resource}");
            }
        }
    }
}

fn reached<'s>(server: &'s Server, id: &str) -> Company<'s> {
    Company { server, id: id.to_owned(), token: server.token().to_owned() }
}

/// A server that begins looks everywhere, and tells what was told by nobody: an archived company rests.
#[test]
fn a_server_that_begins_tells_what_was_told_by_nobody() {
    for engine in [Engine::Sqlite, Engine::Postgres] {
        let Some(server) = Server::start(engine, Options { environment: looking(), ..Options::default() }) else {
            return;
        };
        let options = || Options { environment: looking(), ..Options::default() };
        let (company, archived, told) = {
            let shop = late_shop(&server, Dialect::A);
            let invoice = shop.due("salesInvoices", "2031-01-20", &json!({}));
            shop.company.told(Dialect::A, "2031-01-25");
            (
                shop.company.id.clone(),
                late_shop(&server, Dialect::B).company.id,
                of_which(&shop.overdue_until(&invoice)),
            )
        };
        // Nobody looks, while a day goes by.
        let server = server.restarted();
        let of = |company: &Company<'_>| {
            let found = company.ask(Dialect::A, "GET", "parties", "?pageSize=50", None).expect(200).data;
            let party = |kind: &str| {
                let all = found["items"].as_array().unwrap();
                all.iter().find(|one| one[kind] == true).unwrap()["id"].as_str().unwrap().to_owned()
            };
            (party("isCustomer"), party("isSupplier"))
        };
        let bills: Vec<Value> = [&company, &archived]
            .iter()
            .map(|id| {
                let company = reached(&server, id);
                let (customer, supplier) = of(&company);
                let shop = Shop { customer, supplier, dialect: Dialect::B, company };
                let bill = shop.due("purchaseInvoices", "2031-01-09", &json!({}));
                if **id == archived {
                    shop.company.told(Dialect::B, "2031-01-25");
                    let read = shop.ask("GET", "businesses", &format!("/{id}"), None).expect(200).data;
                    let body =
                        json!({"name": read["name"], "baseCurrency": "EUR", "isTrial": true, "status": "archived"});
                    shop.ask("PUT", "businesses", &format!("/{id}"), Some(&body)).expect(200);
                }
                bill
            })
            .collect();
        let server = server.restarted_with(options());
        let company = reached(&server, &company);
        let (customer, supplier) = of(&company);
        let shop = Shop { customer, supplier, dialect: Dialect::A, company };
        let now = of_which(&shop.overdue_until(&bills[0]));
        assert_eq!(now, [told, vec![purchase(&bills[0])]].concat());
        // When the next day was seen, all was looked through before.
        let next = shop.due("purchaseInvoices", "2031-01-25", &json!({}));
        shop.company.told(Dialect::A, "2031-01-26");
        assert_eq!(of_which(&shop.overdue_until(&next)), [now, vec![purchase(&next)]].concat());
        let rests = reached(&server, &archived);
        assert!(followed(&rests, 500, "&types=*.overdue").is_empty());
        let log = server.log();
        assert!(!log.contains("overdue_not_told") && !log.contains("new_day_not_seen"), "{log}");
    }
}

/// Several processes of one database tell it once, and when one is gone another does.
#[test]
fn of_several_servers_one_tells_what_is_overdue() {
    let Some(servers) = Server::several_with(2, &looking()) else { return };
    let [one, other] = &servers[..] else { panic!("two servers") };
    let shop = late_shop(one, Dialect::B);
    let mut told = Vec::new();
    for (due, today) in [("2031-01-11", "2031-01-12"), ("2031-01-13", "2031-01-14"), ("2031-01-15", "2031-01-16")] {
        let made =
            ["salesInvoices", "salesInvoices", "purchaseInvoices"].map(|resource| shop.due(resource, due, &json!({})));
        shop.company.told(Dialect::B, today);
        let [first, second, last] = &made;
        told.extend([sale(first), sale(second), purchase(last)]);
        assert_eq!(of_which(&shop.overdue_until(last)), told);
    }
    one.signal("KILL");
    let company = Company { server: other, token: other.token().to_owned(), id: shop.company.id.clone() };
    let shop = Shop { company, ..shop };
    let last = shop.due("salesInvoices", "2031-01-20", &json!({}));
    shop.company.told(Dialect::B, "2031-01-21");
    told.push(sale(&last));
    assert_eq!(of_which(&shop.overdue_until(&last)), told);
    shop.proves();
}

/// As the documents have it.
const LAST_PLACE: i64 = 9_007_199_254_740_991;

/// Server-sent events, as a browser reads them.
struct Stream(BufReader<TcpStream>);

impl Stream {
    fn open(company: &Company<'_>, dialect: Dialect, query: &str, last: Option<i64>) -> Self {
        let request =
            company.request_at(dialect, "GET", &format!("events{query}")).header("Accept", "text/event-stream");
        let request = match last {
            Some(last) => request.header("Last-Event-ID", &last.to_string()),
            None => request,
        };
        let mut stream = TcpStream::connect(company.server.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream.write_all(&request.bytes("keep-alive")).unwrap();
        let mut reader = BufReader::new(stream);
        let mut head = Vec::new();
        while !matches!(head.last().map(String::as_str), Some("\r\n")) {
            let mut line = String::new();
            assert!(reader.read_line(&mut line).unwrap() > 0, "it ended: {head:?}");
            head.push(line.to_lowercase());
        }
        assert!(head[0].contains("200"), "{head:?}");
        assert!(head.iter().any(|line| line.trim() == "content-type: text/event-stream"), "{head:?}");
        assert!(head.iter().any(|line| line.trim() == "x-accel-buffering: no"), "{head:?}");
        Self(reader)
    }

    /// The number of the next event that is told, which must be of this type, and its name.
    fn next(&mut self, kind: &str) -> (i64, String) {
        let (mut id, mut name) = (0, String::new());
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "the stream ended");
            let line = line.trim_end();
            if let Some(said) = line.strip_prefix("id: ") {
                id = said.parse().unwrap();
            } else if let Some(said) = line.strip_prefix("event: ") {
                said.clone_into(&mut name);
            } else if let Some(said) = line.strip_prefix("data: ") {
                let event: Value = serde_json::from_str(said).unwrap();
                assert_eq!((event["sequence"].as_i64(), event["type"].as_str()), (Some(id), Some(kind)));
                return (id, name);
            }
        }
    }
}

/// What another process commits to the same books is told by this one too.
#[test]
fn what_another_server_commits_is_told_here() {
    let Some(servers) = Server::several(2) else { return };
    let [one, other] = &servers[..] else { panic!("two servers") };
    let here = one.company();
    let there = Company { server: other, token: other.token().to_owned(), id: here.id.clone() };
    let last = feed(&here, Dialect::A, "")["lastSequence"].as_i64().unwrap();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| feed(&here, Dialect::B, &format!("?after={last}&wait=28s")));
        party(&there, Dialect::A, "Elsewhere");
        assert_eq!(waiting.join().unwrap()["items"][0]["type"], "party.created");
    });
}

/// A server that is told to stop keeps nobody waiting, and is kept by nobody.
#[test]
fn a_server_that_stops_answers_those_who_wait() {
    let server = Server::start(Engine::Sqlite, Options::default()).unwrap();
    let company = server.company();
    let last = feed(&company, Dialect::A, "")["lastSequence"].as_i64().unwrap();
    let mut stream = Stream::open(&company, Dialect::B, "", Some(0));
    assert_eq!(stream.next("business.created").0, 1);
    let request =
        Request::new("GET", &format!("/b/api/events?after={last}&wait=28s")).header("X-Business-Id", &company.id);
    let waiting = authorised(request, &company.token);
    let mut held = TcpStream::connect(server.address).unwrap();
    held.write_all(&waiting.bytes("close")).unwrap();
    let (ended, end) = channel();
    thread::spawn(move || {
        let mut answer = String::new();
        let _reset = std::io::Read::read_to_string(&mut held, &mut answer);
        let mut rest = Vec::new();
        std::io::Read::read_to_end(&mut stream.0, &mut rest).unwrap();
        ended.send((answer, rest)).unwrap();
    });
    server.signal("TERM");
    assert_eq!(server.exit_code(), Some(0));
    let (answer, _) = end.recv_timeout(Duration::from_secs(25)).expect("nobody waits for a server that has ended");
    // It was heard and is answered with nothing, or it came too late to be heard.
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 200") && answer.contains("\"items\":[]"), "{answer}");
}
