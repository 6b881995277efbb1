//! Walks along lists, by what the page before ended with.

use crate::harness::server::{DIALECTS, Said};
use crate::harness::{Company, Dialect, on_both_engines};
use ledger_core::resource::operation::Verb;
use ledger_core::resource::registry::registry;
use serde_json::{Value, json};

fn ids(said: &Said) -> Vec<String> {
    said.data["items"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

fn next(said: &Said) -> Option<String> {
    said.answer
        .json()
        .pointer("/pagination/nextCursor")
        .or(said.answer.json().pointer("/data/pagination/nextCursor"))
        .unwrap()
        .as_str()
        .map(str::to_owned)
}

/// The pages of a walk, from dialect to dialect.
fn walk(company: &Company<'_>, resource: &str, query: &str) -> Vec<String> {
    let (mut found, mut cursor) = (Vec::new(), String::new());
    for page in 1.. {
        let dialect = DIALECTS[page % 2];
        let said = company.ask(dialect, "GET", resource, &format!("?cursor={cursor}&{query}"), None).expect(200);
        assert_eq!(said.data["pagination"]["currentPage"], page, "{resource}");
        found.extend(ids(&said));
        let links = said.answer.header("link").unwrap();
        assert_eq!(links.contains("rel=\"next\""), next(&said).is_some(), "{links}");
        match next(&said) {
            Some(more) => {
                assert!(links.contains(&more), "{links}");
                cursor = more;
            }
            None => return found,
        }
        assert!(page < 500, "{resource} {query}: the walk does not end");
    }
    found
}

on_both_engines! {
    fn a_walk_is_all_pages_in_every_order(server) {
        let company = server.company();
        for number in 0..5 {
            // Some have what others lack, and some have the same.
            company.party(json!({"name": format!("Party {}", number % 2), "code": if number < 3 { json!(format!("P{number}")) } else { Value::Null }}));
            for resource in ["salesInvoices", "journals", "allocations", "items", "taxCodes", "exchangeRates", "numberSeries", "fiscalYears", "apiKeys", "permissions", "paymentTerms", "accounts", "users", "salesOrders"] {
                company.make(resource);
            }
            let mut draft = company.example("salesInvoices");
            draft["status"] = "draft".into();
            company.ask(Dialect::B, "POST", "salesInvoices", "", Some(&draft)).expect(201);
        }
        let mut walks = 0;
        for operations in registry().iter().filter(|one| one.verbs().any(|verb| verb == Verb::List)) {
            let resource = operations.key.stem();
            if matches!(resource, "businesses" | "installationLog" | "currencies") {
                continue;
            }
            for sort in operations.about.sorts.iter().flat_map(|name| [(*name).to_owned(), format!("-{name}")]) {
                let whole = company.ask(Dialect::B, "GET", resource, &format!("?sort={sort}&pageSize=500"), None).expect(200);
                for view in ["full", "summary"] {
                    if view == "summary" && operations.summary.is_empty() {
                        continue;
                    }
                    let view = if operations.summary.is_empty() { String::new() } else { format!("&view={view}") };
                    let walked = walk(&company, resource, &format!("sort={sort}&pageSize=7{view}"));
                    assert_eq!(walked, ids(&whole), "{resource} {sort}{view}");
                    walks += 1;
                }
            }
        }
        assert!(walks > 150, "{walks}");
        let two = company.ask(Dialect::B, "GET", "parties", "?sort=code,-name&pageSize=500", None).expect(200);
        assert_eq!(walk(&company, "parties", "sort=code,-name&pageSize=1"), ids(&two));
    }

    fn it_is_true_while_records_come_and_go(server) {
        let company = server.company();
        let party = |name: &str| company.party(json!({"name": name}))["id"].as_str().unwrap().to_owned();
        let [first_seen, second_seen, unseen, last] = ["B", "C", "D", "F"].map(party);
        let first = company.ask(Dialect::A, "GET", "parties", "?cursor=&pageSize=2&sort=name", None).expect(200);
        assert_eq!(ids(&first), [first_seen, second_seen.clone()]);
        // One comes in front, one behind; what the page ended with goes, and one that was not answered yet.
        let [_, between] = ["A", "E"].map(party);
        for gone in [&second_seen, &unseen] {
            company.ask(Dialect::B, "DELETE", "parties", &format!("/{gone}"), None).expect(200);
        }
        let rest = company.ask(Dialect::B, "GET", "parties", &format!("?cursor={}&pageSize=2&sort=name", next(&first).unwrap()), None).expect(200);
        assert_eq!((ids(&rest), next(&rest)), (vec![between, last], None));
        // By counted pages one would be told twice, or left out.
        let empty = company.ask(Dialect::B, "GET", "parties", "?cursor=&q=nobody", None).expect(200);
        assert_eq!((ids(&empty), next(&empty), &empty.data["pagination"]["totalCount"]), (vec![], None, &json!(0)));
    }

    fn nobody_makes_one_and_it_is_good_for_its_list_alone(server) {
        let (company, elsewhere) = (server.company(), server.company());
        for one in [&company, &elsewhere] {
            for name in ["A", "B", "C"] {
                one.party(json!({"name": name}));
            }
        }
        let first = company.ask(Dialect::A, "GET", "parties", "?cursor=&pageSize=1", None).expect(200);
        let cursor = next(&first).unwrap();
        let changed = format!("{}{}", &cursor[..cursor.len() - 1], if cursor.ends_with('0') { '1' } else { '0' });
        for dialect in DIALECTS {
            let refused = |company: &Company<'_>, resource: &str, query: &str, field: &str| {
                let said = company.ask(dialect, "GET", resource, query, None).expect(400);
                assert_eq!(said.fields(), [field], "{query}");
            };
            for wrong in ["nonsense", "00", &changed, &"0".repeat(9_000)] {
                refused(&company, "parties", &format!("?cursor={wrong}"), "cursor");
            }
            refused(&company, "items", &format!("?cursor={cursor}"), "cursor");
            refused(&elsewhere, "parties", &format!("?cursor={cursor}"), "cursor");
            refused(&company, "parties", &format!("?cursor={cursor}&sort=-name"), "cursor");
            refused(&company, "parties", "?cursor=&page=1", "page");
            refused(&company, "currencies", "?cursor=", "cursor");
            company.ask(dialect, "GET", "parties", &format!("?cursor={cursor}&sort=name"), None).expect(200);
            // Without it there is no word of it.
            let pages = company.ask(dialect, "GET", "parties", "?pageSize=1", None).expect(200).data;
            assert_eq!(pages["pagination"].get("nextCursor"), None);
        }
    }
}
