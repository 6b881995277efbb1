//! Closed periods: no way into them and none out of them.

use crate::harness::server::{DIALECTS, Said};
use crate::harness::{Company, Dialect, on_both_engines};
use serde_json::{Value, json};

fn lock(company: &Company<'_>, body: Value) -> Value {
    company.ask(Dialect::A, "POST", "locks", "", Some(&body)).expect(201).data
}

fn contra(company: &Company<'_>, date: &str) -> Value {
    json!({"date": date, "fromAccountId": company.account("1010"), "toAccountId": company.account("1000"), "amount": 5})
}

fn locked(said: Said, field: &str) {
    let said = said.expect(409);
    assert_eq!((said.code.as_deref(), said.fields()), (Some("period_locked"), vec![field.to_owned()]));
}

on_both_engines! {
    fn each_lock_closes_what_it_is_for_and_nothing_else(server) {
        for (name, journals, contras) in [
            ("lockDate", true, true), ("journalLockDate", true, false), ("bankLockDate", false, true),
            ("hardLockDate", true, true), ("salesLockDate", false, false), ("purchaseLockDate", false, false), ("stockLockDate", false, false),
        ] {
            let company = server.company();
            lock(&company, json!({name: "2026-03-31"}));
            for (day, closed) in [("2026-03-31", true), ("2026-04-01", false)] {
                let body = company.journal_body(day, &[("6200", "1"), ("1010", "-1")]);
                for dialect in DIALECTS {
                    let said = company.ask(dialect, "POST", "journals", "?dryRun=true", Some(&body));
                    if closed && journals { locked(said, "date") } else { said.expect(201); }
                    let said = company.ask(dialect, "POST", "contraEntries", "?dryRun=true", Some(&contra(&company, day)));
                    if closed && contras { locked(said, "date") } else { said.expect(201); }
                }
            }
        }
    }

    fn nothing_moves_into_or_out_of_a_closed_period(server) {
        let company = server.company();
        let inside = company.journal("2026-03-05", &[("6200", "1"), ("1010", "-1")]);
        let outside = company.journal("2026-05-05", &[("6200", "2"), ("1010", "-2")]);
        lock(&company, json!({"lockDate": "2026-03-31"}));
        let path = |one: &Value| format!("/{}", one["id"].as_str().unwrap());
        let put = |one: &Value, field: &str, value: Value| {
            let mut body = one.clone();
            body[field] = value;
            company.ask(Dialect::B, "PUT", "journals", &path(one), Some(&body))
        };
        locked(put(&inside, "date", "2026-05-01".into()), "date");
        locked(put(&outside, "date", "2026-03-31".into()), "date");
        put(&inside, "narration", "Words are free".into()).expect(200);
        let mut body = company.journal_body("2026-04-05", &[("6200", "1"), ("1010", "-1")]);
        body["status"] = "draft".into();
        body["date"] = "2026-03-05".into();
        let draft = company.post_journal(&body).expect(201);
        locked(company.ask(Dialect::A, "POST", "journals", &format!("/{}/post", draft.id()), None), "date");
        let early = json!({"date": "2026-03-31"});
        locked(company.ask(Dialect::A, "POST", "journals", &format!("{}/void", path(&inside)), Some(&early)), "date");
        // Without a date the reversal falls on the first open day.
        let void = company.ask(Dialect::A, "DELETE", "journals", &path(&inside), None).expect(200);
        assert_eq!(void.data["deleted"], true);
        let entries = company.entries_of(inside["id"].as_str().unwrap());
        assert_eq!((entries.len(), &entries[1]["date"]), (2, &json!("2026-04-01")));
        assert_eq!(company.balance("6200", "&asOf=2026-03-31"), "1.00");
        assert_eq!(company.failed_checks(), [""; 0]);
    }

    fn a_derived_entry_is_judged_by_its_own_day(server) {
        let company = server.company();
        let year = json!({"name": "2027", "start": "2027-01-01", "end": "2027-12-31", "status": "softClosed"});
        company.ask(Dialect::B, "POST", "fiscalYears", "", Some(&year)).expect(201);
        let mut body = company.journal_body("2026-12-31", &[("6200", "1"), ("2500", "-1")]);
        body["reverseOn"] = "2027-01-01".into();
        locked(company.post_journal(&body), "reverseOn");
        body["reverseOn"] = "2028-01-01".into();
        company.post_journal(&body).expect(201);
    }

    fn the_hard_lock_never_moves_back(server) {
        let company = server.company();
        lock(&company, json!({"hardLockDate": "2025-12-31"}));
        for body in [json!({"hardLockDate": "2025-12-30"}), json!({"lockDate": "2026-01-31"})] {
            let said = company.ask(Dialect::B, "POST", "locks", "", Some(&body)).expect(409);
            assert_eq!((said.code.as_deref(), said.fields()), (Some("invalid_state"), vec!["hardLockDate".to_owned()]));
        }
        let newest = lock(&company, json!({"hardLockDate": "2026-01-31", "reason": "Filed"}));
        assert_eq!(newest["inForce"], true);
        let listed = company.ask(Dialect::A, "GET", "locks", "?sort=-createdAt", None).expect(200).data;
        let forces: Vec<_> = listed["items"].as_array().unwrap().iter().map(|one| one["inForce"] == true).collect();
        assert_eq!(forces, [true, false]);
        for method in ["PUT", "DELETE"] {
            let path = format!("/{}", newest["id"].as_str().unwrap());
            company.ask(Dialect::A, method, "locks", &path, (method == "PUT").then_some(&json!({}))).expect(405);
        }
    }

    fn an_exception_opens_the_soft_lock_for_one_user(server) {
        let company = server.company();
        let me = company.journal("2026-05-05", &[("6200", "1"), ("1010", "-1")])["createdBy"].clone();
        let try_it = || {
            let body = company.journal_body("2026-03-05", &[("6200", "1"), ("1010", "-1")]);
            company.ask(Dialect::B, "POST", "journals", "?dryRun=true", Some(&body)).status
        };
        lock(&company, json!({"lockDate": "2026-03-31", "exceptions": [{"userId": me, "until": "2020-01-01T00:00:00Z"}]}));
        assert_eq!(try_it(), 409);
        lock(&company, json!({"lockDate": "2026-03-31", "exceptions": [{"userId": me, "reason": "Late bill"}]}));
        assert_eq!(try_it(), 201);
        lock(&company, json!({"hardLockDate": "2026-03-31", "exceptions": [{"userId": me}]}));
        assert_eq!(try_it(), 409);
        let stranger = json!({"hardLockDate": "2026-03-31", "exceptions": [{"userId": company.id}]});
        let said = company.ask(Dialect::A, "POST", "locks", "", Some(&stranger)).expect(400);
        assert_eq!(said.fields(), ["exceptions[0].userId"]);
        let read = company.ask(Dialect::A, "GET", "businesses", &format!("/{}", company.id), None).expect(200).data;
        assert_eq!(read["lockDate"], Value::Null);
    }

    fn fiscal_years_close_and_do_not_overlap(server) {
        let company = server.company();
        let year = |start: &str, end: &str, status: &str| json!({"name": start, "start": start, "end": end, "status": status});
        let make = |body: &Value| company.ask(Dialect::A, "POST", "fiscalYears", "", Some(body));
        let made = make(&year("2025-01-01", "2025-12-31", "open")).expect(201);
        make(&year("2025-12-31", "2026-12-31", "open")).expect(409);
        assert_eq!(make(&year("2026-01-01", "2028-01-01", "open")).expect(400).fields(), ["end"]);
        assert_eq!(make(&year("2026-01-01", "2026-01-01", "open")).expect(400).fields(), ["end"]);
        let body = company.journal_body("2025-06-01", &[("6200", "1"), ("1010", "-1")]);
        company.post_journal(&body).expect(201);
        let path = format!("/{}", made.id());
        let act = |action: &str| company.ask(Dialect::B, "POST", "fiscalYears", &format!("{path}/{action}"), None).expect(200);
        act("close");
        locked(company.post_journal(&body), "date");
        company.ask(Dialect::B, "DELETE", "fiscalYears", &path, None).expect(409);
        act("reopen");
        let soft = year("2025-01-01", "2025-12-31", "softClosed");
        company.ask(Dialect::B, "PUT", "fiscalYears", &path, Some(&soft)).expect(200);
        locked(company.post_journal(&body), "date");
        company.ask(Dialect::B, "DELETE", "fiscalYears", &path, None).expect(409);
        company.ask(Dialect::B, "PUT", "fiscalYears", &path, Some(&year("2025-01-01", "2025-12-31", "open"))).expect(200);
        company.post_journal(&body).expect(201);
        company.ask(Dialect::B, "DELETE", "fiscalYears", &path, None).expect(200);
    }
}
