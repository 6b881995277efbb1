//! What every resource does alike, looked for in all of them: a record that is sent back as it was read is what it was, and a
//! list tells what changed since, or says that it cannot.

use crate::harness::examples::creatable;
use crate::harness::server::{DIALECTS, Said};
use crate::harness::{Company, Dialect, on_both_engines};
use ledger_core::resource::operation::Verb;
use ledger_core::resource::registry::registry;
use serde_json::Value;

/// Records of a resource, as many as there are on a page.
fn records(company: &Company<'_>, resource: &str) -> Vec<Value> {
    let found = company.ask(Dialect::B, "GET", resource, "?pageSize=100", None).expect(200).data;
    found["items"].as_array().unwrap().clone()
}

/// How many changes the company's log has.
fn changes(company: &Company<'_>) -> Value {
    company.ask(Dialect::B, "GET", "auditLog", "?pageSize=1", None).expect(200).data["pagination"]["totalCount"].clone()
}

on_both_engines! {
    fn what_is_sent_back_as_it_was_read_is_what_it_was(server) {
        let company = server.company();
        let (mut sent, mut kept) = (0, std::collections::BTreeSet::new());
        for resource in creatable() {
            let stem = resource.key.stem();
            // A company of its own would be another one's.
            if stem != "businesses" {
                company.make(stem);
            }
            if !resource.verbs().any(|verb| verb == Verb::Update) {
                continue;
            }
            let mut all = if stem == "businesses" { vec![serde_json::json!({"id": company.id})] } else { records(&company, stem) };
            // Whoever asks for all suites joins a company in each of them meanwhile.
            all.retain(|record| record["isSystemAdmin"] != true);
            for (place, record) in all.iter().enumerate() {
                let (dialect, path) = (DIALECTS[place % 2], format!("/{}", record["id"].as_str().unwrap()));
                let read = company.ask(dialect, "GET", stem, &path, None).expect(200);
                let before = changes(&company);
                let back = company.ask(dialect, "PUT", stem, &path, Some(&read.data));
                // What nobody may change is not changed either.
                if back.status == 409 {
                    kept.insert(stem);
                    continue;
                }
                let back = back.expect(200);
                assert_eq!(back.data, read.data, "{stem} {dialect:?}");
                // A write tells the version alone, a read what it says beside it.
                let tag = |said: &Said| said.answer.header("etag").unwrap().trim_matches('"').to_owned();
                assert!(tag(&read).starts_with(&tag(&back)), "{stem} {dialect:?}: {} {}", tag(&read), tag(&back));
                assert_eq!(changes(&company), before, "{stem} {dialect:?}: {}", read.data);
                sent += 1;
            }
        }
        assert!(sent > 80, "{sent}");
        // The sets of the built-in roles.
        assert_eq!(kept.into_iter().collect::<Vec<_>>(), ["permissions"]);
    }

    fn a_list_tells_what_changed_since_or_that_it_cannot(server) {
        let company = server.company();
        let mut without = Vec::new();
        for resource in registry().iter().filter(|one| one.verbs().any(|verb| verb == Verb::List)) {
            let stem = resource.key.stem();
            let is_said = crate::harness::twins::documented(Dialect::B).operation(&format!("{stem}List")).unwrap().takes("updatedSince");
            for dialect in DIALECTS {
                let ask = |query: &str| company.say(dialect, company.request_for(dialect, "GET", resource, query));
                let since = || ask("?updatedSince=2000-01-01T00:00:00Z");
                if is_said {
                    let all = ask("").expect(200).data["pagination"]["totalCount"].as_u64().unwrap();
                    // To ask may itself be noted, and others make companies meanwhile.
                    let since = since().expect(200).data["pagination"]["totalCount"].as_u64().unwrap();
                    assert!(since >= all, "{stem} {dialect:?}: {since} of {all} changed since there was nothing");
                    let ahead = ask("?updatedSince=2999-01-01T00:00:00Z").expect(200).data;
                    assert_eq!(ahead["pagination"]["totalCount"], 0, "{stem} {dialect:?}");
                } else {
                    assert_eq!(since().expect(400).fields(), ["updatedSince"], "{stem} {dialect:?}");
                    without.push(stem);
                }
            }
        }
        assert_eq!(without, ["currencies", "currencies"]);
    }

    fn several_words_are_asked_for_in_either_way(server) {
        let company = server.company();
        let listed = |dialect, query: &str| company.ask(dialect, "GET", "accounts", query, None).expect(200);
        for dialect in DIALECTS {
            let together = listed(dialect, "?type=expense,income&pageSize=5").data;
            assert!(together["pagination"]["totalCount"].as_u64().unwrap() > 5);
            for apart in ["?type=expense&type=income&pageSize=5", "?type=expense&pageSize=5&type=income"] {
                let said = listed(dialect, apart);
                assert_eq!(said.data, together, "{dialect:?} {apart}");
                // The next page asks the same.
                let links = said.answer.header("link").unwrap();
                assert!(links.contains("type=expense&type=income"), "{links}");
            }
            for (query, field) in [("?type=expense&type=expense", "type"), ("?type=expense&type=x", "type"), ("?code=1&code=2", "code")] {
                assert_eq!(company.ask(dialect, "GET", "accounts", query, None).expect(400).fields(), [field], "{query}");
            }
        }
    }

    fn each_report_has_a_path_for_its_comma_separated_values(server) {
        let company = server.company();
        for dialect in DIALECTS {
            let get = |path: &str| server.send(&company.request_at(dialect, "GET", &format!("reports/{path}")));
            let by_path = get("bs.csv?asOf=2026-12-31").expect(200);
            let by_word = get("bs?asOf=2026-12-31&format=csv").expect(200);
            assert_eq!(by_path.header("content-type"), Some("text/csv; charset=utf-8; header=present"));
            assert_eq!(by_path.text, by_word.text);
            assert_eq!(get("bs.csv?format=csv").status, 400);
            assert_eq!(get("nothing.csv").status, 404);
            let json = company.request_at(dialect, "GET", "reports/pl.csv").header("accept", "application/json");
            assert_eq!(server.send(&json).status, 406);
        }
    }
}
