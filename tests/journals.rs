//! Journals and contra entries: drafts, postings, changes by reversal, voids, currencies.

use crate::harness::books::shown;
use crate::harness::server::DIALECTS;
use crate::harness::{Dialect, on_both_engines};
use serde_json::{Value, json};

on_both_engines! {
    fn a_posted_journal_is_in_the_books_at_once(server) {
        let company = server.company();
        let journal = company.journal("2026-03-05", &[("6200", "100.50"), ("1010", "-100.5")]);
        assert_eq!((&journal["number"], &journal["status"]), (&json!("JV-2026-0001"), &json!("posted")));
        assert_eq!(journal["totalDebit"].to_string(), "100.50");
        assert_eq!(journal["allowedActions"], json!(["edit", "void", "copy"]));
        let entries = company.entries_of(journal["id"].as_str().unwrap());
        assert_eq!(entries.len(), 1);
        assert_eq!(journal["entryIds"], json!([entries[0]["id"]]));
        assert_eq!(shown(&entries[0]), ["6200 100.50 0.00", "1010 0.00 100.50"]);
        assert_eq!((company.balance("6200", ""), company.balance("1010", "")), ("100.50".into(), "-100.50".into()));
        // A group comes to what is below it.
        assert_eq!((company.balance("6", ""), company.balance("1", "")), ("100.50".into(), "-100.50".into()));
    }

    fn an_unbalanced_journal_is_refused_with_both_totals(server) {
        let company = server.company();
        for dialect in DIALECTS {
            let body = company.journal_body("2026-03-05", &[("6200", "100.00"), ("1010", "-90")]);
            let said = company.ask(dialect, "POST", "journals", "", Some(&body)).expect(400);
            assert_eq!(said.errors["lines"], json!(["debits of 100.00 and credits of 90.00 EUR must be equal"]));
        }
        assert_eq!(company.balance("6200", ""), "0.00");
    }

    fn every_fault_of_the_lines_is_named_at_once(server) {
        let company = server.company();
        let party = company.party(json!({}))["id"].clone();
        let body = json!({"lines": [
            {"accountId": company.account("1200"), "debit": "1.005"},
            {"accountId": company.account("6"), "credit": 1},
            {"accountId": "nowhere", "debit": 1, "credit": 1},
            {"accountId": company.account("1300"), "debit": -1},
        ]});
        let said = company.post_journal(&body).expect(400);
        assert_eq!(said.fields(), ["date", "lines[2].accountId", "lines[2].credit", "lines[2].debit", "lines[3].debit"]);
        let body = json!({"date": "2026-01-01", "lines": [
            {"accountId": company.account("1200"), "debit": "1.005"},
            {"accountId": company.account("6"), "credit": 1},
            {"accountId": party, "debit": 1, "partyId": company.account("6200")},
            {"accountId": company.account("1300"), "debit": 1},
            {"accountId": company.account("6200"), "debit": 1, "dueDate": "2026-02-01"},
        ]});
        let said = company.post_journal(&body).expect(400);
        assert_eq!(said.fields(), [
            "lines[0].debit", "lines[0].partyId", "lines[1].accountId", "lines[2].accountId", "lines[2].partyId",
            "lines[3].accountId", "lines[4].dueDate",
        ]);
        for body in [json!({"date": "2026-01-01"}), json!({"date": "2026-01-01", "lines": []})] {
            assert_eq!(company.post_journal(&body).expect(400).fields(), ["lines"]);
        }
    }

    fn a_draft_has_no_number_and_moves_nothing_until_it_is_posted(server) {
        let company = server.company();
        for (turn, dialect) in DIALECTS.into_iter().enumerate() {
            let mut body = company.journal_body("2026-03-05", &[("6200", "10"), ("1010", "-9")]);
            body["status"] = "draft".into();
            let draft = company.ask(dialect, "POST", "journals", "", Some(&body)).expect(201);
            assert_eq!((&draft.data["number"], &draft.data["entryIds"]), (&Value::Null, &json!([])));
            let path = format!("/{}", draft.id());
            let refused = company.ask(dialect, "POST", "journals", &format!("{path}/post"), None).expect(400);
            assert_eq!(refused.fields(), ["lines"]);
            let mut whole = draft.data.clone();
            whole["lines"][1]["credit"] = 10.into();
            let kept = company.ask(dialect, "PUT", "journals", &path, Some(&whole)).expect(200).data;
            assert_eq!((&kept["status"], &kept["version"]), (&json!("draft"), &json!(2)));
            assert_eq!(kept["lines"][0]["id"], draft.data["lines"][0]["id"], "a line keeps its identity");
            let posted = if turn == 0 {
                company.ask(dialect, "POST", "journals", &format!("{path}/post"), None).expect(200).data
            } else {
                whole["status"] = "posted".into();
                company.ask(dialect, "PUT", "journals", &path, Some(&whole)).expect(200).data
            };
            assert_eq!(posted["number"], format!("JV-2026-000{}", turn + 1));
            company.ask(dialect, "POST", "journals", &format!("{path}/post"), None).expect(409);
        }
        assert_eq!(company.balance("6200", ""), "20.00");
    }

    fn a_change_of_what_is_posted_is_a_reversal_and_a_new_entry(server) {
        let company = server.company();
        let journal = company.journal("2026-03-05", &[("6200", "100"), ("1010", "-100")]);
        let id = journal["id"].as_str().unwrap();
        let mut changed = journal.clone();
        changed["lines"][0]["debit"] = 80.into();
        changed["lines"][1]["credit"] = 80.into();
        changed["date"] = "2026-04-01".into();
        let changed = company.ask(Dialect::A, "PUT", "journals", &format!("/{id}"), Some(&changed)).expect(200).data;
        assert_eq!((&changed["version"], &changed["number"]), (&json!(2), &journal["number"]));
        let entries = company.entries_of(id);
        let kinds: Vec<_> = entries.iter().map(|entry| (entry["kind"].as_str().unwrap(), entry["date"].as_str().unwrap())).collect();
        assert_eq!(kinds, [("normal", "2026-03-05"), ("reversal", "2026-03-05"), ("normal", "2026-04-01")]);
        assert_eq!(entries[1]["reversesEntryId"], entries[0]["id"]);
        assert_eq!(shown(&entries[1]), ["6200 0.00 100.00", "1010 100.00 0.00"]);
        assert_eq!(changed["entryIds"], json!([entries[2]["id"]]));
        assert_eq!((company.balance("6200", "&asOf=2026-03-31"), company.balance("6200", "")), ("0.00".into(), "80.00".into()));
        // Words alone leave the ledger as it is.
        let mut worded = changed.clone();
        worded["narration"] = "Said better".into();
        let worded = company.ask(Dialect::B, "PUT", "journals", &format!("/{id}"), Some(&worded)).expect(200).data;
        assert_eq!((&worded["version"], company.entries_of(id).len()), (&json!(3), 3));
        let found = company.ask(Dialect::B, "GET", "journals", "?q=better", None).expect(200).data;
        assert_eq!(found["pagination"]["totalCount"], 1);
        assert_eq!(company.failed_checks(), [""; 0]);
    }

    fn a_void_takes_back_everything_and_keeps_the_number(server) {
        let company = server.company();
        let make = || company.journal("2026-03-05", &[("6200", "7"), ("1010", "-7")]);
        let one = make();
        let path = format!("/{}", one["id"].as_str().unwrap());
        let words = json!({"date": "2026-05-01", "reason": "Entered twice"});
        let early = json!({"date": "2026-01-01"});
        let refused = company.ask(Dialect::A, "POST", "journals", &format!("{path}/void"), Some(&early)).expect(400);
        assert_eq!(refused.fields(), ["date"]);
        let void = company.ask(Dialect::A, "POST", "journals", &format!("{path}/void"), Some(&words)).expect(200).data;
        assert_eq!((&void["status"], &void["number"], &void["voidReason"]), (&json!("void"), &one["number"], &words["reason"]));
        assert_eq!((company.balance("6200", "&asOf=2026-04-30"), company.balance("6200", "")), ("7.00".into(), "0.00".into()));
        // By PUT and by DELETE it is the same.
        let mut two = make();
        let path = format!("/{}", two["id"].as_str().unwrap());
        two["status"] = "void".into();
        assert_eq!(company.ask(Dialect::B, "PUT", "journals", &path, Some(&two)).expect(200).data["status"], "void");
        let three = make();
        let path = format!("/{}", three["id"].as_str().unwrap());
        company.ask(Dialect::B, "DELETE", "journals", &path, None).expect(200);
        let read = company.ask(Dialect::B, "GET", "journals", &path, None).expect(200).data;
        assert_eq!((&read["status"], &read["allowedActions"]), (&json!("void"), &json!(["copy"])));
        for (method, path) in [("POST", format!("{path}/void")), ("DELETE", path.clone())] {
            let said = company.ask(Dialect::A, method, "journals", &path, None).expect(409);
            assert_eq!(said.code.as_deref(), Some("invalid_state"));
        }
        let copy = company.ask(Dialect::A, "POST", "journals", &format!("{path}/copy"), None).expect(201);
        assert_eq!((&copy.data["status"], &copy.data["number"]), (&json!("draft"), &Value::Null));
        assert!(copy.answer.header("location").unwrap().ends_with(&format!("/journals/{}", copy.id())));
        assert_ne!(copy.data["lines"][0]["id"], three["lines"][0]["id"]);
        assert_eq!(company.balance("6200", ""), "0.00");
        assert_eq!(company.failed_checks(), [""; 0]);
    }

    fn a_foreign_total_is_converted_once(server) {
        let company = server.company();
        let mut body = company.journal_body("2026-03-05", &[
            ("6200", "10.01"), ("6300", "10.01"), ("6400", "10.01"), ("6500", "-30.03"),
        ]);
        body["currency"] = "USD".into();
        assert_eq!(company.post_journal(&body).expect(400).fields(), ["exchangeRate"]);
        body["exchangeRate"] = "0.3333".into();
        let journal = company.post_journal(&body).expect(201).data;
        let base: Vec<String> = journal["lines"].as_array().unwrap().iter().map(|line| line["baseDebit"].to_string()).collect();
        assert_eq!(base, ["3.34", "3.33", "3.34", "0.00"]);
        assert_eq!((journal["totalDebit"].to_string(), journal["baseTotal"].to_string()), ("30.03".into(), "10.01".into()));
        let entry = &company.entries_of(journal["id"].as_str().unwrap())[0];
        assert_eq!((&entry["lines"][3]["currency"], entry["lines"][3]["amountCurrency"].to_string()), (&json!("USD"), "-30.03".into()));
        let back = company.ask(Dialect::A, "PUT", "journals", &format!("/{}", journal["id"].as_str().unwrap()), Some(&journal)).expect(200);
        assert_eq!(back.data, journal);
    }

    fn a_journal_abroad_takes_the_rate_of_its_day_and_keeps_it(server) {
        let company = server.company();
        let rate = |day: &str, rate: &str| {
            let body = json!({"currency": "USD", "date": day, "rate": rate, "source": "ECB"});
            company.ask(Dialect::A, "POST", "exchangeRates", "", Some(&body))
        };
        rate("2026-03-01", "0.9").expect(201);
        let later = rate("2026-03-10", "0.8").expect(201);
        assert_eq!(rate("2026-03-10", "0.7").expect(409).fields(), ["date"]);
        for (body, field) in [
            (json!({"currency": "EUR", "date": "2026-03-11", "rate": 1}), "currency"),
            (json!({"currency": "USD", "date": "2026-03-11", "rate": 0}), "rate"),
            (json!({"currency": "USD", "date": "2026-03-11", "rate": "0.12345678901"}), "rate"),
        ] {
            assert_eq!(company.ask(Dialect::B, "POST", "exchangeRates", "", Some(&body)).expect(400).fields(), [field]);
        }
        let on = |day: &str| {
            let mut body = company.journal_body(day, &[("6200", "100"), ("6300", "-100")]);
            body["currency"] = "USD".into();
            company.post_journal(&body)
        };
        assert_eq!(on("2026-02-28").expect(400).fields(), ["exchangeRate"]);
        let journal = on("2026-03-09").expect(201).data;
        assert_eq!((journal["exchangeRate"].to_string(), journal["baseTotal"].to_string()), ("0.9".into(), "90.00".into()));
        assert_eq!(on("2026-03-10").expect(201).data["baseTotal"].to_string(), "80.00");
        // A rate that changes later changes no document, and what was read can be sent back.
        let changed = json!({"currency": "USD", "date": "2026-03-01", "rate": 2});
        let first = company.ask(Dialect::A, "GET", "exchangeRates", "?dateTo=2026-03-01", None).expect(200).data;
        let path = format!("/{}", first["items"][0]["id"].as_str().unwrap());
        company.ask(Dialect::B, "PUT", "exchangeRates", &path, Some(&changed)).expect(200);
        let path = format!("/{}", journal["id"].as_str().unwrap());
        assert_eq!(company.ask(Dialect::B, "PUT", "journals", &path, Some(&journal)).expect(200).data, journal);
        company.ask(Dialect::A, "DELETE", "exchangeRates", &format!("/{}", later.id()), None).expect(200);
        assert_eq!(on("2026-03-10").expect(201).data["baseTotal"].to_string(), "200.00");
    }

    fn an_accrual_takes_itself_back_on_its_day(server) {
        let company = server.company();
        let mut body = company.journal_body("2026-03-31", &[("6200", "50"), ("2500", "-50")]);
        (body["kind"], body["reverseOn"]) = ("accrual".into(), "2026-03-31".into());
        assert_eq!(company.post_journal(&body).expect(400).fields(), ["reverseOn"]);
        body["reverseOn"] = "2026-04-01".into();
        let journal = company.post_journal(&body).expect(201).data;
        let balances = ["2026-03-31", "2026-04-01"].map(|day| company.balance("6200", &format!("&asOf={day}")));
        assert_eq!(balances, ["50.00", "0.00"]);
        let path = format!("/{}/void", journal["id"].as_str().unwrap());
        company.ask(Dialect::A, "POST", "journals", &path, None).expect(200);
        let balances = ["2026-03-31", "2026-04-01"].map(|day| company.balance("6200", &format!("&asOf={day}")));
        assert_eq!(balances, ["0.00", "0.00"]);
        assert_eq!(company.failed_checks(), [""; 0]);
    }

    fn what_an_opening_lacks_goes_to_opening_balances(server) {
        let company = server.company();
        let customer = company.party(json!({}))["id"].clone();
        let mut body = company.journal_body("2026-01-01", &[("1010", "500"), ("1200", "120"), ("2700", "-300")]);
        body["kind"] = "opening".into();
        body["lines"][1]["partyId"] = customer;
        company.post_journal(&body).expect(201);
        assert_eq!((company.balance("3900", ""), company.balance("2700", "")), ("320.00".into(), "300.00".into()));
        assert_eq!(company.failed_checks(), [""; 0]);
    }

    fn money_sold_abroad_is_relieved_at_what_it_was_carried_at(server) {
        let company = server.company();
        let dollars = company.account_in("1020", "Dollars", "bank", "USD");
        let body = json!({"date": "2026-02-01", "fromAccountId": company.account("1010"), "toAccountId": dollars, "amount": 910, "toAmount": 1000});
        company.ask(Dialect::A, "POST", "contraEntries", "", Some(&body)).expect(201);
        let body = json!({
            "date": "2026-02-10", "fromAccountId": dollars, "toAccountId": company.account("1010"),
            "amount": 1000, "toAmount": 925, "feeAmount": 2
        });
        for dialect in DIALECTS {
            let rehearsed = company.ask(dialect, "POST", "contraEntries", "?dryRun=true", Some(&body)).expect(201).data;
            assert_eq!(rehearsed["postings"].as_array().unwrap().len(), 4);
        }
        let sold = company.ask(Dialect::B, "POST", "contraEntries", "", Some(&body)).expect(201).data;
        assert_eq!((sold["fxGainLoss"].to_string(), sold["exchangeRate"].to_string()), ("15.00".into(), "0.925".into()));
        let lines = shown(&company.entries_of(sold["id"].as_str().unwrap())[0]);
        assert_eq!(lines, ["1010 923.00 0.00", "6800 2.00 0.00", "1020 0.00 910.00", "4900 0.00 15.00"]);
        let read = company.ask(Dialect::A, "GET", "accounts", "?code=1020", None).expect(200).data;
        assert_eq!((read["items"][0]["balance"].to_string(), read["items"][0]["baseBalance"].to_string()), ("0.00".into(), "0.00".into()));
        // Sent back as it was read it is what it was, though the account is empty now.
        let path = format!("/{}", sold["id"].as_str().unwrap());
        assert_eq!(company.ask(Dialect::A, "PUT", "contraEntries", &path, Some(&sold)).expect(200).data, sold);
        company.ask(Dialect::A, "DELETE", "contraEntries", &path, None).expect(200);
        let read = company.ask(Dialect::A, "GET", "accounts", "?code=1020", None).expect(200).data;
        assert_eq!((read["items"][0]["balance"].to_string(), read["items"][0]["baseBalance"].to_string()), ("1000.00".into(), "910.00".into()));
        assert_eq!(company.failed_checks(), [""; 0]);
    }

    fn a_contra_entry_names_its_faults(server) {
        let company = server.company();
        let dollars = company.account_in("1020", "Dollars", "bank", "USD");
        let (bank, cash, rent) = (company.account("1010"), company.account("1000"), company.account("6200"));
        for (body, fields) in [
            (json!({"fromAccountId": bank, "toAccountId": bank, "amount": 0}), vec!["amount", "toAccountId"]),
            (json!({"fromAccountId": bank, "toAccountId": rent, "amount": "1.001"}), vec!["amount", "toAccountId"]),
            (json!({"fromAccountId": bank, "toAccountId": dollars, "amount": 1}), vec!["toAmount"]),
            (json!({"fromAccountId": bank, "toAccountId": cash, "amount": 1, "toAmount": 2, "feeAmount": 5}), vec!["feeAmount", "toAmount"]),
            (json!({"fromAccountId": dollars, "toAccountId": dollars, "amount": 1}), vec!["toAccountId"]),
        ] {
            let mut body = body;
            body["date"] = "2026-02-01".into();
            for dialect in DIALECTS {
                assert_eq!(company.ask(dialect, "POST", "contraEntries", "", Some(&body)).expect(400).fields(), fields, "{body}");
            }
        }
    }

    fn a_rehearsal_shows_the_lines_and_keeps_nothing(server) {
        let company = server.company();
        let body = company.journal_body("2026-03-05", &[("6200", "1"), ("1010", "-1")]);
        for dialect in DIALECTS {
            let rehearsed = company.ask(dialect, "POST", "journals", "?dryRun=true", Some(&body)).expect(201).data;
            assert_eq!(rehearsed["number"], "JV-2026-0001");
            assert_eq!(rehearsed["postings"][1]["accountCode"], "1010");
            assert_eq!(rehearsed["postings"][1]["credit"].to_string(), "1.00");
        }
        assert_eq!(company.journal("2026-03-05", &[("6200", "1"), ("1010", "-1")])["number"], "JV-2026-0001");
        assert_eq!(company.balance("6200", ""), "1.00");
    }

    fn sums_that_cannot_be_kept_are_refused_and_harm_nobody(server) {
        let company = server.company();
        let body = company.journal_body("2026-03-05", &[("6200", "100000000000000"), ("1010", "-100000000000000")]);
        for _ in 0..9 {
            company.post_journal(&body).expect(201);
        }
        for dialect in DIALECTS {
            let said = company.ask(dialect, "POST", "journals", "", Some(&body)).expect(409);
            assert_eq!(said.code.as_deref(), Some("amount_too_large"));
        }
        assert_eq!(company.journal("2026-03-05", &[("6300", "1"), ("1000", "-1")])["number"], "JV-2026-0010");
        assert_eq!(company.balance("6200", ""), "900000000000000.00");
        assert_eq!(company.failed_checks(), [""; 0]);
    }

    fn a_draft_is_posted_once_however_many_ask(server) {
        let company = server.company();
        let mut body = company.journal_body("2026-03-05", &[("6200", "1"), ("1010", "-1")]);
        body["status"] = "draft".into();
        let draft = company.post_journal(&body).expect(201);
        let path = format!("/{}/post", draft.id());
        let post = |index: usize| company.ask(DIALECTS[index % 2], "POST", "journals", &path, None).status;
        let mut statuses: Vec<u16> = std::thread::scope(|scope| {
            let post = &post;
            let posting: Vec<_> = (0..12).map(|index| scope.spawn(move || post(index))).collect();
            posting.into_iter().map(|one| one.join().unwrap()).collect()
        });
        statuses.sort_unstable();
        assert_eq!((statuses[0], &statuses[1..]), (200, &[409; 11][..]));
        assert_eq!(company.entries_of(&draft.id()).len(), 1);
        assert_eq!(company.failed_checks(), [""; 0]);
    }

    fn a_void_stands_alone(server) {
        let company = server.company();
        let mut draft = company.journal_body("2026-03-05", &[("6200", "1"), ("1010", "-1")]);
        draft["status"] = "draft".into();
        let made = company.post_journal(&draft).expect(201);
        let posted = company.journal("2026-03-05", &[("6200", "1"), ("1010", "-1")]);
        let mut changed = posted.clone();
        (changed["status"], changed["narration"]) = ("void".into(), "And changed".into());
        draft["status"] = "void".into();
        for (id, body) in [(made.id(), &draft), (posted["id"].as_str().unwrap().into(), &changed)] {
            let said = company.ask(Dialect::A, "PUT", "journals", &format!("/{id}"), Some(body)).expect(409);
            assert_eq!(said.code.as_deref(), Some("invalid_state"));
        }
        assert_eq!(company.post_journal(&draft).expect(400).fields(), ["status"]);
        assert_eq!(company.balance("6200", ""), "1.00");
    }

    fn a_key_is_for_one_action(server) {
        let company = server.company();
        let journal = company.journal("2026-03-05", &[("6200", "1"), ("1010", "-1")]);
        let act = |action: &str| {
            let path = format!("/{}/{action}", journal["id"].as_str().unwrap());
            let request = company.request(Dialect::A, "POST", "journals", &path);
            company.say(Dialect::A, request.header("Idempotency-Key", &format!("one {}", company.id)))
        };
        act("copy").expect(201);
        assert_eq!(act("void").expect(422).code.as_deref(), Some("idempotency_mismatch"));
        assert_eq!(company.balance("6200", ""), "1.00");
    }

    fn a_journal_has_a_thousand_lines_and_the_coins_of_its_currency(server) {
        for (currency, good, bad) in [("JPY", "5", "5.5"), ("KWD", "5.125", "5.1255")] {
            let company = server.company_like(json!({"name": currency, "baseCurrency": currency}));
            let body = |amount: &str| company.journal_body("2026-03-05", &[("6200", amount), ("1010", &format!("-{amount}"))]);
            assert_eq!(company.post_journal(&body(bad)).expect(400).fields(), ["lines[0].debit", "lines[1].credit"]);
            assert_eq!(company.post_journal(&body(good)).expect(201).data["totalDebit"].to_string(), good);
        }
        let company = server.company();
        let mut body = company.journal_body("2026-03-05", &[("6200", "0.01"), ("1010", "-0.01")]);
        let pair = body["lines"].as_array().unwrap().clone();
        let lines: Vec<Value> = pair.iter().cycle().take(1_000).cloned().collect();
        body["lines"] = json!(lines);
        company.post_journal(&body).expect(201);
        body["lines"] = json!([lines, pair].concat());
        assert_eq!(company.post_journal(&body).expect(400).fields(), ["lines"]);
        assert_eq!(company.balance("6200", ""), "5.00");
        assert_eq!(company.failed_checks(), [""; 0]);
    }

    // More lines together than any question may come to.
    fn many_long_entries_are_proved_in_portions(server) {
        let company = server.company();
        let mut body = company.journal_body("2026-03-05", &[("6200", "0.01"), ("1010", "-0.01")]);
        let pair = body["lines"].as_array().unwrap().clone();
        body["lines"] = json!(pair.iter().cycle().take(1_000).cloned().collect::<Vec<Value>>());
        for _ in 0..21 {
            company.post_journal(&body).expect(201);
        }
        assert_eq!(company.failed_checks(), [""; 0]);
    }

    fn actions_keep_to_versions_and_keys(server) {
        let company = server.company();
        let journal = company.journal("2026-03-05", &[("6200", "1"), ("1010", "-1")]);
        let path = format!("/{}/void", journal["id"].as_str().unwrap());
        let stale = company.request(Dialect::A, "POST", "journals", &path).header("If-Match", "\"other-1\"");
        company.say(Dialect::A, stale).expect(412);
        let key = format!("void {}", company.id);
        let void = |dialect| {
            let request = company.request(dialect, "POST", "journals", &path).header("Idempotency-Key", &key);
            company.say(dialect, request).expect(200)
        };
        let (first, again) = (void(Dialect::A), void(Dialect::B));
        assert_eq!(first.data, again.data);
        assert_eq!(again.answer.header("idempotency-replayed"), Some("true"));
        assert_eq!(company.entries_of(journal["id"].as_str().unwrap()).len(), 2);
    }

    fn companies_may_keep_posted_documents_as_they_are(server) {
        let body = json!({"name": "Strict", "baseCurrency": "EUR", "settings": {"postedEditPolicy": "correctionOnly", "defaultDocumentStatus": "draft"}});
        let company = server.company_like(body);
        let draft = company.journal("2026-03-05", &[("6200", "1"), ("1010", "-1")]);
        assert_eq!(draft["status"], "draft");
        let path = format!("/{}", draft["id"].as_str().unwrap());
        let mut posted = company.ask(Dialect::A, "POST", "journals", &format!("{path}/post"), None).expect(200).data;
        posted["date"] = "2026-03-06".into();
        let refused = company.ask(Dialect::A, "PUT", "journals", &path, Some(&posted)).expect(409);
        assert_eq!(refused.code.as_deref(), Some("invalid_state"));
    }

    fn lists_find_journals_by_what_they_hold(server) {
        let company = server.company();
        company.journal("2026-03-05", &[("6200", "10"), ("1010", "-10")]);
        company.journal("2026-04-05", &[("6300", "20"), ("1000", "-20")]);
        let rent = company.account("6200");
        for (query, count) in [
            (format!("accountId={rent}"), 1), ("dateFrom=2026-04-01".into(), 1), ("dateTo=2026-04-05".into(), 2),
            ("minTotal=10.01".into(), 1), ("maxTotal=10".into(), 1), ("status=draft".into(), 0), ("status=posted,void".into(), 2),
            ("number=JV-2026-0002".into(), 1), ("kind=general".into(), 2), ("currency=EUR".into(), 2), ("q=journal".into(), 2),
        ] {
            for dialect in DIALECTS {
                let found = company.ask(dialect, "GET", "journals", &format!("?{query}"), None).expect(200).data;
                assert_eq!(found["pagination"]["totalCount"], count, "{query}");
            }
        }
        let sorted = company.ask(Dialect::A, "GET", "journals", "?sort=-total", None).expect(200).data;
        assert_eq!(sorted["items"][0]["baseTotal"].to_string(), "20.00");
        for query in ["minTotal=ten", "dateFrom=05.03.2026", "status=paid"] {
            company.ask(Dialect::A, "GET", "journals", &format!("?{query}"), None).expect(400);
        }
    }

    fn the_database_itself_refuses_to_change_the_ledger(server) {
        let own = crate::harness::Server::start(server.engine, crate::harness::Options::default()).unwrap();
        let company = own.company();
        company.journal("2026-03-05", &[("6200", "10"), ("1010", "-10")]);
        let refused = |statement: &str| crate::harness::books::behind_the_back(&own, &[statement.to_owned()]).is_err();
        for table in ["entries", "entry_lines", "audit_log"] {
            assert!(refused(&format!("UPDATE {table} SET business_id = business_id")), "{table}");
            assert!(refused(&format!("DELETE FROM {table}")), "{table}");
        }
        // One leg more on a sealed entry, and a seal on one leg.
        let more = "INSERT INTO entry_lines (business_id, entry_number, position, account_id, date, amount, currency, currency_amount) \
                    SELECT business_id, entry_number, 9, account_id, date, 100, currency, 100 FROM entry_lines WHERE position = 1";
        assert!(refused(more));
        let single = "INSERT INTO entry_lines (business_id, entry_number, position, account_id, date, amount, currency, currency_amount) \
                      SELECT business_id, 77, 1, account_id, date, 100, currency, 100 FROM entry_lines WHERE position = 1";
        let seal = "INSERT INTO entries (business_id, id, number, date, recorded_at, recorded_by, kind, document_kind, document_id, document_version, total, search) \
                    SELECT business_id, document_id, 77, date, recorded_at, recorded_by, kind, document_kind, document_id, document_version, total, search FROM entries";
        assert!(crate::harness::books::behind_the_back(&own, &[single.to_owned()]).is_ok());
        assert!(refused(seal));
    }
}
