//! Numbers: without a gap, whatever fails beside them, on however many processes.

use crate::harness::server::DIALECTS;
use crate::harness::{Company, Dialect, Server, on_both_engines};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Sends 200 creates at once, one in five of which cannot succeed, and says which numbers were given.
fn race(companies: &[Company<'_>]) -> BTreeSet<String> {
    let company = &companies[0];
    let good = company.journal_body("2026-03-05", &[("6200", "1"), ("1010", "-1")]);
    let mut unbalanced = good.clone();
    unbalanced["lines"][0]["debit"] = 2.into();
    let mut unknown = good.clone();
    unknown["lines"][0]["accountId"] = company.id.clone().into();
    let bodies = [good.clone(), good.clone(), good.clone(), good, unbalanced, unknown];
    let send = |index: usize| {
        let body = if index.is_multiple_of(5) { &bodies[4 + index / 5 % 2] } else { &bodies[0] };
        let member = &companies[index % companies.len()];
        let said = member.ask(DIALECTS[index % 2], "POST", "journals", "", Some(body));
        assert_eq!(said.status, if index.is_multiple_of(5) { 400 } else { 201 }, "{}", said.answer.text);
        said.data["number"].as_str().map(str::to_owned)
    };
    std::thread::scope(|scope| {
        let worker = |first: usize| (first..200).step_by(32).filter_map(send).collect::<Vec<_>>();
        let workers: Vec<_> = (0..32).map(|first| scope.spawn(move || worker(first))).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    })
}

fn whole(count: usize) -> BTreeSet<String> {
    (1..=count).map(|number| format!("JV-2026-{number:04}")).collect()
}

fn gaps(company: &Company<'_>, series: &str) -> Value {
    company.ask(Dialect::A, "GET", "numberSeries", &format!("/{series}/gaps"), None).expect(200).data
}

/// The default series of journals.
fn default_series(company: &Company<'_>) -> Value {
    let found = company.ask(Dialect::B, "GET", "numberSeries", "?type=journal&isDefault=true", None).expect(200).data;
    found["items"][0].clone()
}

fn series(company: &Company<'_>, body: Value) -> Value {
    let mut whole = json!({"type": "journal", "name": "Own", "pattern": "X-{FY}-{000}"});
    whole.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
    company.ask(Dialect::A, "POST", "numberSeries", "", Some(&whole)).expect(201).data
}

on_both_engines! {
    fn numbers_have_no_hole_when_others_fail_beside_them(server) {
        let company = server.company();
        let given = race(std::slice::from_ref(&company));
        assert_eq!(given, whole(160));
        let items = gaps(&company, default_series(&company)["id"].as_str().unwrap());
        assert_eq!(items, json!({"items": [{"period": "2026-01-01", "first": 1, "last": 160, "missing": []}]}));
        assert_eq!(company.balance("6200", ""), "160.00");
        assert_eq!(company.failed_checks(), [""; 0]);
    }

    fn a_void_keeps_its_number_and_a_deleted_draft_had_none(server) {
        let company = server.company();
        let one = company.journal("2026-03-05", &[("6200", "1"), ("1010", "-1")]);
        company.ask(Dialect::A, "DELETE", "journals", &format!("/{}", one["id"].as_str().unwrap()), None).expect(200);
        let mut body = company.journal_body("2026-03-05", &[("6200", "1"), ("1010", "-1")]);
        body["status"] = "draft".into();
        let draft = company.post_journal(&body).expect(201);
        company.ask(Dialect::A, "DELETE", "journals", &format!("/{}", draft.id()), None).expect(200);
        assert_eq!(company.journal("2026-03-05", &[("6200", "1"), ("1010", "-1")])["number"], "JV-2026-0002");
        assert_eq!(company.failed_checks(), [""; 0]);
    }

    fn numbers_begin_anew_with_the_fiscal_year(server) {
        let body = json!({"name": "April", "baseCurrency": "EUR", "fiscalYearStartMonth": 4});
        let company = server.company_like(body);
        let numbers = ["2026-03-31", "2026-04-01", "2027-03-31", "2026-03-30"]
            .map(|day| company.journal(day, &[("6200", "1"), ("1010", "-1")])["number"].clone());
        assert_eq!(numbers, ["JV-2026-0001", "JV-2027-0001", "JV-2027-0002", "JV-2026-0002"]);
        let path = format!("/{}", company.id);
        let mut moved = company.ask(Dialect::A, "GET", "businesses", &path, None).expect(200).data;
        moved["fiscalYearStartMonth"] = 7.into();
        let refused = company.ask(Dialect::B, "PUT", "businesses", &path, Some(&moved)).expect(409);
        assert_eq!(refused.fields(), ["fiscalYearStartMonth"]);
    }

    fn a_year_of_the_calendar_does_not_tell_fiscal_years_apart(server) {
        let company = server.company_like(json!({"name": "April", "baseCurrency": "EUR", "fiscalYearStartMonth": 4}));
        for pattern in ["Y-{YYYY}-{00}", "Y-{YY}-{00}"] {
            let body = json!({"type": "journal", "name": "N", "pattern": pattern});
            for dialect in DIALECTS {
                let said = company.ask(dialect, "POST", "numberSeries", "", Some(&body)).expect(400);
                assert_eq!(said.fields(), ["pattern"], "{pattern}");
            }
        }
        let twin = json!({"type": "journal", "name": "Twin", "pattern": "JV-{FY}-{0000}"});
        let refused = company.ask(Dialect::B, "POST", "numberSeries", "", Some(&twin)).expect(409);
        assert_eq!((refused.code.as_deref(), refused.fields()), (Some("duplicate"), vec!["pattern".to_owned()]));
        let own = series(&company, json!({"pattern": "Y-{YYYY}-{FY}-{00}"}));
        let numbers = ["2026-02-01", "2026-05-01"].map(|day| {
            let mut body = company.journal_body(day, &[("6200", "1"), ("1010", "-1")]);
            body["seriesId"] = own["id"].clone();
            company.post_journal(&body).expect(201).data["number"].clone()
        });
        assert_eq!(numbers, ["Y-2026-2026-01", "Y-2026-2027-01"]);
    }

    fn an_entry_is_found_by_its_number_however_that_is_spelt(server) {
        let company = server.company();
        let own = series(&company, json!({"pattern": "Écriture_{FY}-{00}"}));
        let mut body = company.journal_body("2026-03-05", &[("6200", "1"), ("1010", "-1")]);
        company.post_journal(&body).expect(201);
        body["seriesId"] = own["id"].clone();
        company.post_journal(&body).expect(201);
        for (words, count) in [
            ("jv-2026-0001", 1), ("JV-2026-0001", 1), ("2026-0", 2), ("-2026-0", 1), ("%C3%A9criture_2026", 1), ("%C3%89CRITURE", 1), ("2026_", 0),
            ("JV%202026", 1), ("nothing", 0),
        ] {
            let found = company.ask(Dialect::B, "GET", "entries", &format!("?q={words}"), None).expect(200).data;
            let numbers: Vec<&Value> = found["items"].as_array().unwrap().iter().map(|one| &one["documentNumber"]).collect();
            assert_eq!(numbers.len(), count, "{words}: {numbers:?}");
        }
    }

    fn a_series_of_ones_own_numbers_as_it_says(server) {
        let company = server.company();
        let monthly = series(&company, json!({"pattern": "{YY}{MM}/{00}", "resetOn": "month", "firstNumber": 7}));
        let mut body = company.journal_body("2026-03-05", &[("6200", "1"), ("1010", "-1")]);
        body["seriesId"] = monthly["id"].clone();
        assert_eq!(company.post_journal(&body).expect(201).data["number"], "2603/07");
        assert_eq!(company.post_journal(&body).expect(201).data["number"], "2603/08");
        body["date"] = "2026-04-05".into();
        assert_eq!(company.post_journal(&body).expect(201).data["number"], "2604/07");
        let path = format!("/{}", monthly["id"].as_str().unwrap());
        let mut changed = company.ask(Dialect::B, "GET", "numberSeries", &path, None).expect(200).data;
        assert_eq!(changed["issuedCount"], 3);
        changed["pattern"] = "{YYYY}{MM}/{00}".into();
        assert_eq!(company.ask(Dialect::B, "PUT", "numberSeries", &path, Some(&changed)).expect(409).fields(), ["pattern"]);
        assert_eq!(company.ask(Dialect::B, "DELETE", "numberSeries", &path, None).expect(409).code.as_deref(), Some("in_use"));
        for (pattern, reset) in [("JV-{0000}", "fiscalYear"), ("{YYYY}-{00}", "month"), ("JV", "never"), ("{00}{DD}", "never")] {
            let body = json!({"type": "journal", "name": "N", "pattern": pattern, "resetOn": reset});
            assert_eq!(company.ask(Dialect::A, "POST", "numberSeries", "", Some(&body)).expect(400).fields(), ["pattern"], "{pattern}");
        }
    }

    fn there_is_one_default_of_a_kind(server) {
        let company = server.company();
        let first = default_series(&company);
        let path = format!("/{}", first["id"].as_str().unwrap());
        let mut none = first.clone();
        none["isDefault"] = false.into();
        assert_eq!(company.ask(Dialect::A, "PUT", "numberSeries", &path, Some(&none)).expect(409).fields(), ["isDefault"]);
        let second = series(&company, json!({"isDefault": true}));
        assert_eq!(default_series(&company)["id"], second["id"]);
        let before = company.ask(Dialect::A, "GET", "numberSeries", &path, None).expect(200).data;
        assert_eq!((&before["isDefault"], &before["version"]), (&json!(false), &json!(2)));
        assert_eq!(company.journal("2026-03-05", &[("6200", "1"), ("1010", "-1")])["number"], "X-2026-001");
    }

    fn a_number_by_hand_takes_its_place_in_the_series(server) {
        let company = server.company();
        let mut body = company.journal_body("2026-03-05", &[("6200", "1"), ("1010", "-1")]);
        body["number"] = "MINE".into();
        assert_eq!(company.post_journal(&body).expect(400).fields(), ["number"]);
        let own = series(&company, json!({"allowManual": true}));
        body["seriesId"] = own["id"].clone();
        let by_hand = |number: Value| {
            let mut body = body.clone();
            body["number"] = number;
            company.post_journal(&body)
        };
        assert_eq!(by_hand("MINE".into()).expect(201).data["number"], "MINE");
        let twice = by_hand("MINE".into()).expect(409);
        assert_eq!((twice.code.as_deref(), twice.fields()), (Some("duplicate"), vec!["number".to_owned()]));
        by_hand("X-2026-002".into()).expect(201);
        assert_eq!(by_hand("X-2025-004".into()).expect(400).fields(), ["number"], "it is another year's");
        let mut draft = body.clone();
        (draft["status"], draft["number"]) = ("draft".into(), "X-2026-009".into());
        assert_eq!(company.post_journal(&draft).expect(400).fields(), ["number"], "a draft may go, and leave a gap");
        draft["number"] = "LATER".into();
        let later = company.post_journal(&draft).expect(201);
        assert_eq!(by_hand("LATER".into()).expect(409).fields(), ["number"]);
        let posted = company.ask(Dialect::A, "POST", "journals", &format!("/{}/post", later.id()), None).expect(200).data;
        assert_eq!(posted["number"], "LATER");
        assert_eq!(by_hand(Value::Null).expect(201).data["number"], "X-2026-001");
        assert_eq!(by_hand(Value::Null).expect(201).data["number"], "X-2026-003");
        assert_eq!(gaps(&company, own["id"].as_str().unwrap())["items"][0]["missing"], json!([]));
        assert_eq!(company.failed_checks(), [""; 0]);
    }

    fn a_chronological_series_refuses_earlier_dates(server) {
        let company = server.company();
        let own = series(&company, json!({"chronological": "block"}));
        let on = |day: &str| {
            let mut body = company.journal_body(day, &[("6200", "1"), ("1010", "-1")]);
            body["seriesId"] = own["id"].clone();
            company.post_journal(&body)
        };
        on("2026-03-05").expect(201);
        on("2026-03-05").expect(201);
        assert_eq!(on("2026-03-04").expect(409).fields(), ["date"]);
        assert_eq!(on("2026-03-06").expect(201).data["number"], "X-2026-003");
    }
}

#[test]
fn numbers_have_no_hole_over_two_processes() {
    let Some(servers) = Server::several(2) else { return };
    let company = servers[0].company();
    let of =
        |index: usize| Company { server: &servers[index], token: servers[index].token().to_owned(), ..company.clone() };
    assert_eq!(race(&[of(0), of(1)]), whole(160));
    assert_eq!(company.balance("6200", ""), "160.00");
    assert_eq!(company.failed_checks(), [""; 0]);
}
