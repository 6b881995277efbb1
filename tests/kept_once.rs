//! What is kept of a document is written once, in the audit log; and is read from there like any other.

use crate::audit::{log, unguarded};
use crate::harness::books::behind_the_back;
use crate::harness::{Dialect, Options, Server, on_both_engines};
use crate::seals::Place;
use serde_json::{Value, json};

on_both_engines! {
    fn what_is_kept_of_a_document_is_written_once(server) {
        let own = Server::start(server.engine, Options::default()).unwrap();
        let company = own.company();
        let place = Place::of(&own);
        let business = place.identifier(&company.id);
        // Whether it has a content of its own, and whether its record does.
        let stands = || {
            place.texts(&format!(
                "SELECT CASE WHEN content IS NULL THEN 'apart ' ELSE 'own ' END || COALESCE(CAST(record AS TEXT), 'none') AS text \
                 FROM documents WHERE business_id = {business}"
            )).remove(0)
        };
        let mut body = company.journal_body("2026-03-05", &[("6200", "10"), ("1010", "-10")]);
        body["status"] = "draft".into();
        let draft = company.post_journal(&body).expect(201);
        assert_eq!(stands(), "own none");
        let path = format!("/{}", draft.id());
        company.ask(Dialect::A, "POST", "journals", &format!("{path}/post"), None).expect(200);
        let posted = stands();
        assert!(posted.starts_with("apart ") && posted != "apart none", "{posted}");
        let mut words = company.ask(Dialect::B, "GET", "journals", &path, None).expect(200).data;
        words["narration"] = "Other words".into();
        company.ask(Dialect::B, "PUT", "journals", &path, Some(&words)).expect(200);
        assert_eq!(stands(), posted, "nothing of what is kept changed");
        words["lines"][0]["description"] = "Of a line".into();
        let changed = company.ask(Dialect::A, "PUT", "journals", &path, Some(&words)).expect(200).data;
        let reworded = stands();
        assert!(reworded.starts_with("apart ") && reworded != posted, "{reworded}");
        company.ask(Dialect::A, "POST", "journals", &format!("{path}/void"), None).expect(200);
        assert_eq!(stands(), reworded);
        // Every version is shown whole, the ones that are over as well.
        let said = log(&company, &format!("&resource=journals&resourceId={}", draft.id()));
        let states: Vec<(&Value, &Value)> =
            said.iter().map(|one| (&one["before"]["lines"][0]["description"], &one["after"]["narration"])).collect();
        assert_eq!(said.len(), 5, "{states:?}");
        assert_eq!(said[3]["after"], changed);
        assert_eq!((&said[4]["before"]["lines"], &said[4]["after"]["status"]), (&changed["lines"], &json!("void")));
        let read = company.ask(Dialect::B, "GET", "journals", &path, None).expect(200).data;
        assert_eq!(read["lines"], changed["lines"]);
        assert_eq!(company.failed_checks(), [""; 0]);
        // Where it is gone, that is said.
        behind_the_back(&own, &unguarded(own.engine)).unwrap();
        let record = reworded.strip_prefix("apart ").unwrap();
        place.run(&format!("DELETE FROM audit_log WHERE business_id = {business} AND sequence = {record}"));
        assert!(company.failed_checks().contains(&"V7".to_owned()));
    }
}
