//! Lists: paging, links, search, filters, sorting, the same in both dialects.

use crate::harness::books::behind_the_back;
use crate::harness::server::DIALECTS;
use crate::harness::{Company, Dialect, Engine, Options, Server, on_both_engines};
use crate::seals::unpacked_contents;
use serde_json::{Value, json};
use std::collections::HashSet;

fn names(company: &Company<'_>, dialect: Dialect, query: &str) -> Vec<String> {
    let data = company.ask(dialect, "GET", "parties", query, None).expect(200).data;
    let name = |party: &Value| party["name"].as_str().unwrap().to_owned();
    data["items"].as_array().unwrap().iter().map(name).collect()
}

fn with_parties(company: &Company<'_>) {
    for (name, code, more) in [
        ("Åkesson & Fils", "A1", json!({"tags": ["vip", "north"], "kind": "person"})),
        ("beta", "B1", json!({"isCustomer": false, "isSupplier": true, "currency": "USD"})),
        ("Alpha_100%", "B2", json!({"contacts": [{"name": "Zoë Quinn", "email": "zoe@alpha.example"}]})),
        ("Gamma", "C1", json!({"status": "archived", "externalId": "ext/7"})),
        ("alpha two", "C2", json!({"isSupplier": true, "taxNumber": "DE999", "status": "blocked"})),
    ] {
        let mut body = json!({"name": name, "code": code});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        company.party(body);
    }
}

on_both_engines! {
    fn both_dialects_list_alike(server) {
        let company = server.company();
        with_parties(&company);
        for (query, expected) in [
            ("", vec!["alpha two", "Alpha_100%", "beta", "Gamma", "Åkesson & Fils"]),
            ("?sort=-name", vec!["Åkesson & Fils", "Gamma", "beta", "Alpha_100%", "alpha two"]),
            ("?sort=-code", vec!["alpha two", "Gamma", "Alpha_100%", "beta", "Åkesson & Fils"]),
            ("?sort=createdAt&pageSize=2", vec!["Åkesson & Fils", "beta"]),
            ("?sort=createdAt&pageSize=2&page=3", vec!["alpha two"]),
            ("?page=4&pageSize=2", vec![]),
            ("?q=ALPHA", vec!["alpha two", "Alpha_100%"]),
            ("?q=alpha%20two", vec!["alpha two"]),
            ("?q=%C3%85KESSON", vec!["Åkesson & Fils"]),
            ("?q=100%25", vec!["Alpha_100%"]),
            ("?q=a_1", vec!["Alpha_100%"]),
            ("?q=zoe%40alpha", vec!["Alpha_100%"]),
            ("?q=zo%C3%AB", vec!["Alpha_100%"]),
            ("?isSupplier=true", vec!["alpha two", "beta"]),
            ("?isSupplier=true&isCustomer=false", vec!["beta"]),
            ("?status=archived,blocked", vec!["alpha two", "Gamma"]),
            ("?kind=person", vec!["Åkesson & Fils"]),
            ("?code=B1", vec!["beta"]),
            ("?currency=USD", vec!["beta"]),
            ("?taxNumber=DE999", vec!["alpha two"]),
            ("?externalId=ext/7", vec!["Gamma"]),
            ("?tag=vip", vec!["Åkesson & Fils"]),
            ("?tag=vi", vec![]),
            ("?updatedSince=2020-01-01T00:00:00Z&code=C2", vec!["alpha two"]),
            ("?updatedSince=2999-01-01T00:00:00Z", vec![]),
        ] {
            for dialect in DIALECTS {
                assert_eq!(names(&company, dialect, query), expected, "{dialect:?} {query}");
            }
        }
    }

    fn documents_are_found_by_the_beginning_of_their_number_first_and_else_by_words(server) {
        let company = server.company();
        for reference in ["first", "like JV-2026-0001", "jv-2026-0009"] {
            let mut body = company.journal_body("2026-03-05", &[("6200", "10"), ("1010", "-10")]);
            body["reference"] = reference.into();
            company.post_journal(&body).expect(201);
        }
        for (query, expected) in [
            ("JV-2026-0001", vec!["JV-2026-0001"]),
            ("jv-2026-0002", vec!["JV-2026-0002"]),
            ("Jv-2026", vec!["JV-2026-0001", "JV-2026-0002", "JV-2026-0003"]),
            // No number begins like these: all that is said of a journal is looked into.
            ("2026-0001", vec!["JV-2026-0001", "JV-2026-0002"]),
            ("jv-2026-0009", vec!["JV-2026-0003"]),
            ("like jv-2026-0001", vec!["JV-2026-0002"]),
            ("JV-2026-0004", vec![]),
            ("%", vec![]),
        ] {
            for dialect in DIALECTS {
                let path = format!("?sort=number&q={}", query.replace('%', "%25").replace(' ', "%20"));
                let found = company.ask(dialect, "GET", "journals", &path, None).expect(200).data;
                let numbers: Vec<_> = found["items"].as_array().unwrap().iter().map(|one| one["number"].clone()).collect();
                assert_eq!(numbers, expected, "{dialect:?} {query}");
                assert_eq!(found["pagination"]["totalCount"], expected.len(), "{dialect:?} {query}");
            }
        }
    }

    fn documents_are_found_by_their_total_and_by_whom_they_are_of(server) {
        let company = server.company();
        let party = |name: &str| company.party(json!({"name": name}))["id"].clone();
        for (name, price, narration) in [("Acme Zeta", "777.77", "Beans"), ("Zeta & Sons", "19.00", "for Acme"), ("Nobody", "5.00", "777")] {
            let body = json!({
                "date": "2026-03-05", "partyId": party(name), "narration": narration, "lines": [{"quantity": 1, "unitPrice": price}]
            });
            company.ask(Dialect::B, "POST", "salesInvoices", "", Some(&body)).expect(201);
        }
        for (query, totals) in [
            ("777.77", vec!["777.77"]),
            // Words of a document come first, and its party's name where there are none.
            ("777", vec!["5.00"]),
            ("acme", vec!["19.00"]),
            ("zeta", vec!["19.00", "777.77"]),
            ("zeta acme", vec!["777.77"]),
            ("19", vec!["19.00"]),
            ("778", vec![]),
        ] {
            for dialect in DIALECTS {
                let path = format!("?sort=total&q={}", query.replace(' ', "%20"));
                let found = company.ask(dialect, "GET", "salesInvoices", &path, None).expect(200).data;
                let told: Vec<String> = found["items"].as_array().unwrap().iter().map(|one| one["total"].to_string()).collect();
                assert_eq!(told, totals, "{dialect:?} {query}");
                assert_eq!(found["pagination"]["totalCount"], totals.len(), "{dialect:?} {query}");
            }
        }
        // Who may not view parties does not learn by it what they are called.
        let scopes = json!([{"resource": "salesInvoice", "actions": ["view"]}]);
        let key = company.ask(Dialect::A, "POST", "apiKeys", "", Some(&json!({"name": "Invoices", "scopes": scopes}))).expect(201);
        let narrow = Company { token: key.data["secret"].as_str().unwrap().to_owned(), ..company.clone() };
        for (query, count) in [("zeta%20acme", 0), ("777.77", 1)] {
            for dialect in DIALECTS {
                let found = narrow.ask(dialect, "GET", "salesInvoices", &format!("?q={query}"), None).expect(200).data;
                assert_eq!(found["pagination"]["totalCount"], count, "{query}");
            }
        }
    }

    fn what_is_a_list_may_be_said_several_times(server) {
        let company = server.company();
        with_parties(&company);
        for dialect in DIALECTS {
            let asked = |query: &str| company.ask(dialect, "GET", "parties", query, None).expect(200).data["items"].clone();
            assert_eq!(asked("?fields=name&fields=code"), asked("?fields=name,code"));
            assert_ne!(asked("?fields=name&fields=code"), asked("?fields=name"));
            let events = |query: &str| {
                let request = company.request_at(dialect, "GET", &format!("events?{query}"));
                company.say(dialect, request).expect(200).data["items"].as_array().unwrap().len()
            };
            assert_eq!(events("types=party.created&types=item.created"), events("types=party.created,item.created"));
            assert_eq!(company.ask(dialect, "GET", "parties", "?page=1&page=2", None).expect(400).fields(), ["page"]);
        }
    }

    fn what_has_no_number_comes_last_whichever_way_a_list_is_read(server) {
        let company = server.company();
        let journal = |number: u32| {
            let mut body = company.journal_body("2026-03-05", &[("6200", "10"), ("1010", "-10")]);
            body["reference"] = number.to_string().into();
            body["status"] = if number.is_multiple_of(2) { "draft".into() } else { "posted".into() };
            company.post_journal(&body).expect(201);
        };
        (1..=7).for_each(journal);
        let pages = |dialect: Dialect, sort: &str, size: usize| -> Vec<String> {
            let page = |number: usize| {
                let path = format!("?sort={sort}&pageSize={size}&page={number}");
                let found = company.ask(dialect, "GET", "journals", &path, None).expect(200).data;
                let of = |one: &Value| one["reference"].as_str().unwrap().to_owned();
                found["items"].as_array().unwrap().iter().map(of).collect::<Vec<_>>()
            };
            (1..=7_usize.div_ceil(size)).flat_map(page).collect()
        };
        for dialect in DIALECTS {
            for size in [1, 2, 3, 7, 60] {
                assert_eq!(pages(dialect, "number", size), ["1", "3", "5", "7", "2", "4", "6"], "{dialect:?} {size}");
                assert_eq!(pages(dialect, "-number", size), ["7", "5", "3", "1", "6", "4", "2"], "{dialect:?} {size}");
            }
        }
    }

    fn a_page_says_where_it_stands(server) {
        let company = server.company();
        with_parties(&company);
        for (dialect, base) in [(Dialect::A, format!("/a/api/{}/parties", company.id)), (Dialect::B, "/b/api/parties".into())] {
            let said = company.ask(dialect, "GET", "parties", "?pageSize=2&page=2&sort=-name", None).expect(200);
            assert_eq!(said.data["pagination"], json!({"totalCount": 5, "totalPages": 3, "currentPage": 2}));
            let link = |page: u8, relation: &str| format!("<{base}?page={page}&pageSize=2&sort=-name>; rel=\"{relation}\"");
            let links = [link(1, "first"), link(1, "prev"), link(3, "next"), link(3, "last")].join(", ");
            assert_eq!(said.answer.header("link"), Some(links.as_str()));
        }
    }

    fn a_company_sees_its_own_records_only(server) {
        let (mine, other) = (server.company(), server.company());
        let party = other.party(json!({"name": "Theirs"}));
        let path = format!("/{}", party["id"].as_str().unwrap());
        let body = json!({"name": "Stolen", "isCustomer": true});
        for dialect in DIALECTS {
            assert_eq!(names(&mine, dialect, ""), Vec::<String>::new());
            mine.ask(dialect, "GET", "parties", &path, None).expect(404);
            mine.ask(dialect, "PUT", "parties", &path, Some(&body)).expect(404);
            mine.ask(dialect, "DELETE", "parties", &path, None).expect(404);
        }
        assert_eq!(names(&other, Dialect::B, ""), ["Theirs"]);
    }
}

/// Words of documents that are in blocks, of those that wait for one, and of those that changed since.
fn words_are_found_wherever_they_stand(engine: Engine) {
    let Some(server) = Server::start(engine, Options::default()) else { return };
    let company = server.company();
    let body = |number: usize| {
        let mut body = company.journal_body("2026-03-05", &[("6200", "10"), ("1010", "-10")]);
        let rare = if number.is_multiple_of(17) { " Zeppelin-Größe" } else { "" };
        body["reference"] = format!("PO-{number:03}").into();
        body["narration"] = format!("Kaffee {}{rare}", if number.is_multiple_of(2) { "bio" } else { "ab 5 kg" }).into();
        body["status"] = if number.is_multiple_of(5) { "draft".into() } else { "posted".into() };
        body
    };
    let all = 3 * words::grams::FULL + 5;
    let made: Vec<Value> = (0..all).map(|number| company.post_journal(&body(number)).expect(201).data).collect();
    let path = |one: &Value| format!("/{}", one["id"].as_str().unwrap());
    // One that is in a block says something else, one that waits does, and a draft is gone.
    for (place, words) in [(3, "Ballon"), (all - 2, "Ballon")] {
        let body = json!({"reference": format!("NEW-{place}"), "narration": words});
        let changed = company.journal_body("2026-03-05", &[("6200", "10"), ("1010", "-10")]);
        let changed = [&changed, &body].into_iter().fold(json!({}), |mut whole, part| {
            whole.as_object_mut().unwrap().extend(part.as_object().unwrap().clone());
            whole
        });
        company.ask(Dialect::B, "PUT", "journals", &path(&made[place]), Some(&changed)).expect(200);
    }
    company.ask(Dialect::B, "DELETE", "journals", &path(&made[5]), None).expect(200);
    company.post_journal(&body(all)).expect(201);
    let list = |dialect: Dialect, query: &str| -> Vec<Value> {
        let found = company.ask(dialect, "GET", "journals", &format!("?sort=createdAt&pageSize=500&{query}"), None);
        let found = found.expect(200).data;
        assert_eq!(found["pagination"]["totalCount"], found["items"].as_array().unwrap().len(), "{query}");
        found["items"].as_array().unwrap().clone()
    };
    let text = |one: &Value, field: &str| one[field].as_str().unwrap_or_default().to_lowercase();
    let everything = list(Dialect::B, "");
    assert_eq!(everything.len(), all);
    for words in [
        "zeppelin", "größe", "eppel", "kaffee", "bio", "kg", "5", "po-01", "ballon", "new-3", "PO-003", "bio zepp",
        "026-00", "none",
    ] {
        let has = |one: &&Value| {
            let said = ["number", "reference", "narration"].map(|field| text(one, field)).join(" ");
            words.to_lowercase().split(' ').all(|word| said.contains(word))
        };
        let right: Vec<&Value> = everything.iter().filter(has).map(|one| &one["id"]).collect();
        for dialect in DIALECTS {
            let found = list(dialect, &format!("q={}", words.replace(' ', "%20").replace("öß", "%C3%B6%C3%9F")));
            assert_eq!(found.iter().map(|one| &one["id"]).collect::<Vec<_>>(), right, "{dialect:?} {words}");
        }
    }
    assert_eq!(company.failed_checks(), Vec::<String>::new());
    // What a block has lost is found by nobody any more, and the proof tells of it.
    behind_the_back(&server, &["DELETE FROM search_blocks WHERE portion < 128".to_owned()]).unwrap();
    assert_eq!(company.failed_checks(), ["V4k"]);
}

#[test]
fn words_are_found_wherever_they_stand_on_sqlite() {
    words_are_found_wherever_they_stand(Engine::Sqlite);
}

#[test]
fn words_are_found_wherever_they_stand_on_postgres() {
    words_are_found_wherever_they_stand(Engine::Postgres);
}

/// So many documents are counted before a list says that there are more.
const MOST_COUNTED: usize = 10_000;

/// Puts copies of a journal beside it, none of which has a number.
fn copy_journal(server: &Server, reference: &str, copies: usize) {
    let columns = || migrations::first::tables().into_iter().find(|table| table.name() == "documents").unwrap();
    let names: Vec<&str> = columns().columns().collect();
    let random = if server.engine == Engine::Sqlite { "randomblob(16)" } else { "gen_random_uuid()" };
    let value = |name: &&str| match *name {
        "id" => random.to_owned(),
        "number" | "series_id" | "period" | "sequence" => "NULL".to_owned(),
        name => format!("d.{name}"),
    };
    let values: Vec<String> = names.iter().map(value).collect();
    let numbered = if server.engine == Engine::Sqlite {
        format!("(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {copies}) SELECT i FROM n)")
    } else {
        format!("generate_series(1, {copies})")
    };
    let statement = format!(
        "INSERT INTO documents ({}) SELECT {} FROM documents d, {numbered} n WHERE d.reference = '{reference}'",
        names.join(", "),
        values.join(", ")
    );
    behind_the_back(server, &[statement]).unwrap();
}

/// What is narrowed to very many documents is counted to a bound, and says so; what lies on the later pages is all told.
fn a_wide_list_is_counted_to_a_bound(engine: Engine) {
    let Some(server) = Server::start(engine, Options::default()) else { return };
    let company = server.company();
    let mut body = company.journal_body("2026-03-05", &[("6200", "10"), ("1010", "-10")]);
    body["reference"] = "counted".into();
    company.post_journal(&body).expect(201);
    // What is kept in the log is one document's own, and no copy's.
    behind_the_back(&server, &unpacked_contents(&server, &company.id)).unwrap();
    copy_journal(&server, "counted", MOST_COUNTED + 99);
    let all = MOST_COUNTED + 100;
    let page = |dialect: Dialect, query: String| company.ask(dialect, "GET", "journals", &query, None).expect(200);
    for dialect in DIALECTS {
        let first = page(dialect, "?reference=counted&pageSize=50".into());
        let bound = json!({"totalCount": 10_001, "totalPages": 201, "currentPage": 1, "isLowerBound": true});
        assert_eq!(first.data["pagination"], bound);
        let links = first.answer.header("link").unwrap().to_owned();
        assert!(links.contains("rel=\"next\"") && !links.contains("rel=\"last\""), "{links}");
        // All of them are counted while nothing narrows them.
        let counted = json!({"totalCount": all, "totalPages": all.div_ceil(50), "currentPage": 1});
        assert_eq!(page(dialect, "?pageSize=50".into()).data["pagination"], counted);
        assert_eq!(page(dialect, "?reference=other".into()).data["pagination"]["totalCount"], 0);
    }
    for sort in ["date", "-number"] {
        let (mut met, mut number) = (HashSet::new(), 0);
        loop {
            number += 1;
            let found = page(Dialect::B, format!("?reference=counted&sort={sort}&pageSize=500&page={number}")).data;
            let (told, end) = (&found["pagination"], number * 500);
            let items = found["items"].as_array().unwrap();
            met.extend(items.iter().map(|one| one["id"].as_str().unwrap().to_owned()));
            assert_eq!(items.len(), 500.min((all + 500).saturating_sub(end)), "{sort} {told}");
            // It is told of as many as were passed, and of one more where there are more.
            let count = Ord::min(Ord::max(MOST_COUNTED, end) + 1, all);
            let is_bound = count < all;
            assert_eq!(told["totalCount"], count, "{sort} {told}");
            assert_eq!(told.get("isLowerBound"), is_bound.then_some(&json!(true)), "{sort} {told}");
            if told["totalPages"].as_u64().unwrap() <= told["currentPage"].as_u64().unwrap() {
                break;
            }
        }
        assert_eq!(met.len(), all, "{sort}");
    }
    let beyond = page(Dialect::B, "?reference=counted&pageSize=500&page=22".into()).data;
    assert_eq!((&beyond["items"], &beyond["pagination"]["totalCount"]), (&json!([]), &json!(all)));
}

#[test]
fn a_wide_list_is_counted_to_a_bound_on_sqlite() {
    a_wide_list_is_counted_to_a_bound(Engine::Sqlite);
}

#[test]
fn a_wide_list_is_counted_to_a_bound_on_postgres() {
    a_wide_list_is_counted_to_a_bound(Engine::Postgres);
}
