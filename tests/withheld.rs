//! The audit log shows nobody what they may not see, whichever door they come by.

use crate::harness::examples::{creatable, operations};
use crate::harness::server::DIALECTS;
use crate::harness::{Company, Dialect, on_both_engines};
use ledger_core::access::Action;
use ledger_core::resource::ResourceKey;
use serde_json::{Value, json};

/// A program that may view everything but one resource, and read the audit log in every form.
fn without<'c>(company: &Company<'c>, hidden: &[ResourceKey]) -> Company<'c> {
    let scopes: Vec<Value> = ResourceKey::ALL
        .into_iter()
        .filter(|key| key.actions().contains(&Action::View) && !hidden.contains(key))
        .map(|key| {
            let export = key.actions().contains(&Action::Export);
            json!({"resource": key.permission_noun(), "actions": if export { json!(["view", "export"]) } else { json!(["view"]) }})
        })
        .collect();
    let name = format!("without {hidden:?} {}", scopes.len());
    let made = company.ask(Dialect::B, "POST", "apiKeys", "", Some(&json!({"name": name, "scopes": scopes})));
    Company { token: made.expect(201).data["secret"].as_str().unwrap().to_owned(), ..company.clone() }
}

fn sequences(records: &Value) -> Vec<i64> {
    records.as_array().unwrap().iter().map(|one| one["sequence"].as_i64().unwrap()).collect()
}

on_both_engines! {
    fn whoever_may_not_see_a_resource_sees_none_of_its_changes(server) {
        let company = server.company();
        let kinds: Vec<ResourceKey> = creatable().map(|one| one.key).collect();
        for key in kinds.iter().filter(|key| **key != ResourceKey::Businesses) {
            company.make(key.stem());
        }
        let all = company.ask(Dialect::B, "GET", "auditLog", "?pageSize=500", None).expect(200).data;
        let all = all["items"].as_array().unwrap().clone();
        for key in kinds {
            let own: Vec<&Value> = all.iter().filter(|one| one["resource"] == key.stem()).collect();
            assert!(!own.is_empty(), "{key:?} left no trace");
            let last = all.last().unwrap()["sequence"].as_i64().unwrap();
            let rest: Vec<i64> = all.iter().filter(|one| one["resource"] != key.stem()).map(|one| one["sequence"].as_i64().unwrap()).collect();
            let blind = without(&company, &[key]);
            for dialect in DIALECTS {
                let until = |mut seen: Vec<i64>| { seen.retain(|sequence| *sequence <= last); seen };
                let listed = blind.ask(dialect, "GET", "auditLog", "?pageSize=500", None).expect(200).data;
                assert_eq!(until(sequences(&listed["items"])), rest, "{key:?}");
                let asked = blind.ask(dialect, "GET", "auditLog", &format!("?resource={}", key.stem()), None).expect(200).data;
                assert_eq!((&asked["pagination"]["totalCount"], asked["items"].as_array().unwrap().len()), (&json!(0), 0));
                let one = own[0];
                for query in [format!("?resourceId={}", one["resourceId"].as_str().unwrap()), format!("?q={}", one["resourceId"].as_str().unwrap())] {
                    let found = blind.ask(dialect, "GET", "auditLog", &query, None).expect(200).data;
                    assert!(found["items"].as_array().unwrap().iter().all(|found| found["resource"] != key.stem()), "{key:?} {query}");
                }
                blind.ask(dialect, "GET", "auditLog", &format!("/{}", one["id"].as_str().unwrap()), None).expect(404);
                let exported = server.send(&blind.request(dialect, "GET", "auditLog", "/export")).expect(200);
                let lines: Vec<Value> = exported.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
                assert_eq!(until(sequences(&lines.into())), rest, "{key:?}");
                let trail = |asked: &str| server.send(&blind.request_at(dialect, "GET", &format!("reports/audit-trail?from=2000-01-01&to=2100-01-01&{asked}"))).expect(200);
                assert!(!trail("format=csv").text.contains(&format!(",{},", key.stem())), "{key:?}");
                let report = trail("pageSize=500").json();
                let report = if dialect == Dialect::A { report["data"].clone() } else { report };
                let rows = report["rows"].as_array().unwrap();
                assert_eq!((rows.len().to_string(), rows.iter().filter(|row| row.to_string().contains(&format!("\"{}\"", key.stem()))).count()), (report["totals"]["records"].to_string().trim_matches('"').to_owned(), 0), "{key:?}");
                // The chain is whole all the same.
                assert!(report["checks"].as_array().unwrap().iter().all(|check| check["ok"] == true));
                assert_eq!(blind.ask(dialect, "GET", "auditLog", "/verify", None).expect(200).data["ok"], true);
                let id = one["resourceId"].as_str().unwrap();
                if key != ResourceKey::Businesses && operations(key.stem()).verbs().any(|verb| operations(key.stem()).path(verb).ends_with("/history")) {
                    blind.ask(dialect, "GET", key.stem(), &format!("/{id}/history"), None).expect(403);
                }
            }
        }
    }

    fn the_audit_trail_needs_the_right_of_the_audit_log(server) {
        let company = server.company();
        let blind = without(&company, &[ResourceKey::AuditLog]);
        for dialect in DIALECTS {
            blind.ask(dialect, "GET", "auditLog", "", None).expect(403);
            for format in ["", "&format=csv"] {
                let request = blind.request_at(dialect, "GET", &format!("reports/audit-trail?from=2000-01-01&to=2100-01-01{format}"));
                assert_eq!(server.send(&request).status, 403);
            }
        }
    }

    fn a_role_that_may_not_see_the_people_does_not_see_them_in_the_log(server) {
        let company = server.company();
        let (_, member) = company.joined(&crate::harness::people::fresh_email("sales"), &company.permission("sales"), "a person with a password");
        company.make("apiKeys");
        company.make("permissions");
        for dialect in DIALECTS {
            for resource in ["users", "apiKeys", "permissions"] {
                let found = member.ask(dialect, "GET", "auditLog", &format!("?resource={resource}"), None).expect(200).data;
                assert_eq!(found["pagination"]["totalCount"], 0, "{resource}");
            }
        }
    }
}
