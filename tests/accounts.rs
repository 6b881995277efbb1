//! The chart of accounts: templates, the tree, what use forbids, balances in time.

use crate::harness::server::DIALECTS;
use crate::harness::{Dialect, on_both_engines};
use serde_json::json;
use std::collections::BTreeMap;

on_both_engines! {
    fn every_template_fills_every_role(server) {
        for (template, least) in [("general", 45), ("services", 45), ("trading", 45), ("empty", 29)] {
            let company = server.company_like(json!({"name": "T", "baseCurrency": "EUR", "chartTemplate": template}));
            let made = company.ask(Dialect::A, "GET", "businesses", &format!("/{}", company.id), None).expect(200).data;
            assert_eq!(made["chartTemplate"], template);
            assert_eq!(made["systemAccounts"].as_object().unwrap().len(), 29);
            let listed = company.ask(Dialect::B, "GET", "accounts", "?pageSize=500", None).expect(200).data;
            let accounts = listed["items"].as_array().unwrap();
            assert!(accounts.len() >= least, "{template}: {}", accounts.len());
            let roles: BTreeMap<_, _> = accounts.iter().filter_map(|one| Some((one["systemRole"].as_str()?, &one["id"]))).collect();
            let named: BTreeMap<_, _> = made["systemAccounts"].as_object().unwrap().iter().map(|(role, id)| (role.as_str(), id)).collect();
            assert_eq!(roles, named);
        }
        let unknown = json!({"name": "T", "baseCurrency": "EUR", "chartTemplate": "bakery"});
        let company = server.company();
        assert_eq!(company.ask(Dialect::A, "POST", "businesses", "", Some(&unknown)).expect(400).fields(), ["chartTemplate"]);
    }

    fn an_account_shows_its_class_and_side(server) {
        let company = server.company();
        for (code, kind, class, side, control) in [
            ("7001", "bank", "asset", "debit", false), ("7002", "receivable", "asset", "debit", true),
            ("7003", "payable", "liability", "credit", true), ("7004", "creditCard", "liability", "credit", false),
            ("7005", "retainedEarnings", "equity", "credit", false), ("7006", "otherIncome", "income", "credit", false),
            ("7007", "cogs", "expense", "debit", false), ("7008", "depreciation", "expense", "debit", false),
        ] {
            let body = json!({"code": code, "name": "N", "type": kind});
            let made = company.ask(Dialect::A, "POST", "accounts", "", Some(&body)).expect(201).data;
            assert_eq!((&made["class"], &made["normalBalance"], &made["isControl"]), (&json!(class), &json!(side), &json!(control)));
        }
    }

    fn the_tree_nests_accounts_below_their_groups(server) {
        let company = server.company();
        company.journal("2026-03-05", &[("6200", "10"), ("1010", "-10")]);
        for dialect in DIALECTS {
            let tree = company.ask(dialect, "GET", "accounts", "/tree?asOf=2026-12-31", None).expect(200).data;
            let codes: Vec<_> = tree["items"].as_array().unwrap().iter().map(|one| one["code"].as_str().unwrap()).collect();
            assert_eq!(codes, ["1", "2", "3", "4", "5", "6"]);
            assert_eq!(tree["items"][5]["baseBalance"].to_string(), "10.00");
            let below = tree["items"][0]["children"].as_array().unwrap();
            let bank = below.iter().find(|one| one["code"] == "1010").unwrap();
            assert_eq!((&bank["level"], bank["balance"].to_string()), (&json!(1), "-10.00".into()));
        }
    }

    fn a_parent_is_a_group_of_the_same_class_and_not_below(server) {
        let company = server.company();
        let make = |code: &str, parent: &serde_json::Value, group: bool| {
            json!({"code": code, "name": "N", "type": "expense", "isGroup": group, "parentId": parent})
        };
        for parent in [json!("nowhere"), company.account("6200").into(), company.account("1").into()] {
            let said = company.ask(Dialect::B, "POST", "accounts", "", Some(&make("6999", &parent, false))).expect(400);
            assert_eq!(said.fields(), ["parentId"], "{parent}");
        }
        let outer = company.ask(Dialect::A, "POST", "accounts", "", Some(&make("61", &company.account("6").into(), true))).expect(201);
        let inner = company.ask(Dialect::A, "POST", "accounts", "", Some(&make("611", &outer.id().into(), true))).expect(201);
        assert_eq!(inner.data["level"], 2);
        let circle = make("61", &inner.id().into(), true);
        assert_eq!(company.ask(Dialect::A, "PUT", "accounts", &format!("/{}", outer.id()), Some(&circle)).expect(400).fields(), ["parentId"]);
        let leaf = make("61", &company.account("6").into(), false);
        assert_eq!(company.ask(Dialect::A, "PUT", "accounts", &format!("/{}", outer.id()), Some(&leaf)).expect(409).fields(), ["isGroup"]);
        let gone = company.ask(Dialect::A, "DELETE", "accounts", &format!("/{}", outer.id()), None).expect(409);
        assert_eq!(gone.code.as_deref(), Some("in_use"));
    }

    fn nothing_active_comes_below_an_archived_group(server) {
        let company = server.company();
        let make = |code: &str, parent: &serde_json::Value, changes: &serde_json::Value| {
            let mut body = json!({"code": code, "name": "N", "type": "expense", "parentId": parent});
            changes.as_object().unwrap().iter().for_each(|(name, value)| body[name] = value.clone());
            body
        };
        let archived = json!({"status": "archived"});
        let group = make("68", &company.account("6").into(), &json!({"isGroup": true, "status": "archived"}));
        let group = json!(company.ask(Dialect::A, "POST", "accounts", "", Some(&group)).expect(201).id());
        let quiet = company.ask(Dialect::A, "POST", "accounts", "", Some(&make("6801", &group, &archived))).expect(201);
        for dialect in DIALECTS {
            let path = format!("/{}", quiet.id());
            for (method, path, code) in [("POST", "", "6802"), ("PUT", path.as_str(), "6801")] {
                let said = company.ask(dialect, method, "accounts", path, Some(&make(code, &group, &json!({})))).expect(400);
                assert_eq!(said.fields(), ["parentId"], "{method}");
            }
            let elsewhere = make("6801", &company.account("6").into(), &json!({}));
            company.ask(dialect, "PUT", "accounts", &path, Some(&elsewhere)).expect(200);
            let back = company.ask(dialect, "PUT", "accounts", &path, Some(&make("6801", &group, &json!({})))).expect(400);
            assert_eq!(back.fields(), ["parentId"]);
            company.ask(dialect, "PUT", "accounts", &path, Some(&make("6801", &group, &archived))).expect(200);
        }
    }

    fn money_is_in_the_section_of_cash_and_nothing_else_is(server) {
        let company = server.company();
        for dialect in DIALECTS {
            let make = |kind: &str, section: &str| {
                json!({"code": format!("19{dialect:?}"), "name": "N", "type": kind, "cashFlowSection": section})
            };
            for (kind, section) in [("bank", "operating"), ("creditCard", "financing"), ("currentAsset", "cash")] {
                let said = company.ask(dialect, "POST", "accounts", "", Some(&make(kind, section))).expect(400);
                assert_eq!(said.fields(), ["cashFlowSection"], "{kind} {section}");
            }
            let bank = company.ask(dialect, "POST", "accounts", "", Some(&make("bank", "cash"))).expect(201).data;
            let path = format!("/{}", bank["id"].as_str().unwrap());
            // Sent back as it was read, with another type.
            let mut moved = bank.clone();
            moved["type"] = "currentAsset".into();
            let moved = company.ask(dialect, "PUT", "accounts", &path, Some(&moved)).expect(200).data;
            assert_eq!(moved["cashFlowSection"], "operating");
            let mut said = moved.clone();
            said["cashFlowSection"] = "cash".into();
            assert_eq!(company.ask(dialect, "PUT", "accounts", &path, Some(&said)).expect(400).fields(), ["cashFlowSection"]);
        }
    }

    fn use_forbids_what_would_change_the_past(server) {
        let company = server.company();
        company.journal("2026-03-05", &[("6200", "10"), ("1010", "-10")]);
        let read = |code: &str| company.ask(Dialect::A, "GET", "accounts", &format!("?code={code}"), None).expect(200).data["items"][0].clone();
        let bank = read("1010");
        let path = format!("/{}", bank["id"].as_str().unwrap());
        for (field, value) in [("type", json!("cash")), ("currency", json!("USD")), ("isGroup", json!(true))] {
            let mut body = bank.clone();
            body[field] = value;
            assert_eq!(company.ask(Dialect::B, "PUT", "accounts", &path, Some(&body)).expect(409).fields(), [field]);
        }
        assert_eq!(company.ask(Dialect::B, "DELETE", "accounts", &path, None).expect(409).code.as_deref(), Some("in_use"));
        let mut archived = bank.clone();
        archived["status"] = "archived".into();
        assert_eq!(company.ask(Dialect::B, "PUT", "accounts", &path, Some(&archived)).expect(409).code.as_deref(), Some("invalid_state"));
        let mut system = read("1200");
        system["status"] = "archived".into();
        let system_path = format!("/{}", system["id"].as_str().unwrap());
        company.ask(Dialect::B, "PUT", "accounts", &system_path, Some(&system)).expect(409);
        company.ask(Dialect::B, "DELETE", "accounts", &system_path, None).expect(409);
        company.journal("2026-03-06", &[("1010", "10"), ("6200", "-10")]);
        company.ask(Dialect::B, "PUT", "accounts", &path, Some(&archived)).expect(200);
        let body = company.journal_body("2026-03-07", &[("6200", "10"), ("1010", "-10")]);
        assert_eq!(company.post_journal(&body).expect(400).fields(), ["lines[1].accountId"]);
    }

    fn a_role_can_be_given_to_another_account_that_suits(server) {
        let company = server.company();
        let path = format!("/{}", company.id);
        let mut body = company.ask(Dialect::A, "GET", "businesses", &path, None).expect(200).data;
        for (role, id, fault) in [
            ("receivable", company.account("1010"), "systemAccounts.receivable"),
            ("bankFees", company.account("6"), "systemAccounts.bankFees"),
            ("bankFees", "nowhere".into(), "systemAccounts.bankFees"),
            ("coffee", company.account("6200"), "systemAccounts.coffee"),
        ] {
            let body = json!({"name": "N", "baseCurrency": "EUR", "systemAccounts": {role: id}});
            assert_eq!(company.ask(Dialect::B, "PUT", "businesses", &path, Some(&body)).expect(400).fields(), [fault]);
        }
        body["systemAccounts"] = json!({"bankFees": company.account("6600")});
        let changed = company.ask(Dialect::B, "PUT", "businesses", &path, Some(&body)).expect(200).data;
        assert_eq!(changed["systemAccounts"]["bankFees"], company.account("6600"));
        assert_eq!(changed["systemAccounts"].as_object().unwrap().len(), 29, "roles that are left out keep their accounts");
        let found = company.ask(Dialect::B, "GET", "accounts", "?systemRole=bankFees", None).expect(200).data;
        assert_eq!(found["items"][0]["code"], "6600");
    }

    fn a_balance_is_told_as_of_a_day_and_as_it_was_known(server) {
        let company = server.company();
        let first = company.journal("2026-01-31", &[("6200", "1"), ("1010", "-1")]);
        company.journal("2026-02-28", &[("6200", "10"), ("1010", "-10")]);
        let before = first["postedAt"].as_str().unwrap();
        company.journal("2026-01-15", &[("6200", "100"), ("1010", "-100")]);
        for (query, expected) in [
            ("", "111.00"), ("&asOf=2026-01-14", "0.00"), ("&asOf=2026-01-15", "100.00"), ("&asOf=2026-01-31", "101.00"),
            ("&asOf=2026-02-27", "101.00"), ("&asOf=2026-02-28", "111.00"), ("&asOf=2030-01-01", "111.00"),
        ] {
            assert_eq!(company.balance("6200", query), expected, "{query}");
        }
        assert_eq!(company.balance("6200", &format!("&knownAt={before}")), "1.00");
        assert_eq!(company.balance("6200", &format!("&knownAt={before}&asOf=2026-01-30")), "0.00");
        assert_eq!(company.balance("6200", "&knownAt=2020-01-01T00:00:00Z"), "0.00");
        let said = company.ask(Dialect::A, "GET", "accounts", "?asOf=2026-02-30&knownAt=now", None).expect(400);
        assert_eq!(said.fields(), ["asOf", "knownAt"]);
    }

    fn an_account_abroad_has_a_balance_of_its_own(server) {
        let company = server.company();
        company.account_in("1020", "Dollars", "bank", "USD");
        let mut body = company.journal_body("2026-03-05", &[("1020", "100"), ("4000", "-100")]);
        (body["currency"], body["exchangeRate"]) = ("USD".into(), "0.9".into());
        company.post_journal(&body).expect(201);
        let read = company.ask(Dialect::A, "GET", "accounts", "?code=1020", None).expect(200).data;
        let account = &read["items"][0];
        assert_eq!((account["balance"].to_string(), account["baseBalance"].to_string()), ("100.00".into(), "90.00".into()));
        assert_eq!(company.balance("4000", ""), "90.00");
        let wrong = company.journal_body("2026-03-05", &[("1020", "100"), ("4000", "-100")]);
        assert_eq!(company.post_journal(&wrong).expect(400).fields(), ["lines[0].accountId"]);
        let body = json!({"code": "6001", "name": "N", "type": "expense", "currency": "USD"});
        assert_eq!(company.ask(Dialect::A, "POST", "accounts", "", Some(&body)).expect(400).fields(), ["currency"]);
    }

    fn a_party_shows_what_is_open_with_it(server) {
        let company = server.company();
        let party = company.party(json!({"isSupplier": true}));
        assert_eq!((party["receivableBalance"].to_string(), &party["balances"]), ("0.00".into(), &json!([])));
        let post = |code: &str, amount: &str, other: &str, currency: &str| {
            let mut body = company.journal_body("2026-03-05", &[(code, amount), ("4000", other)]);
            body["lines"][0]["partyId"] = party["id"].clone();
            body["currency"] = currency.into();
            body["exchangeRate"] = if currency == "EUR" { json!(1) } else { json!("0.5") };
            company.post_journal(&body).expect(201);
        };
        post("1200", "120", "-120", "EUR");
        post("1200", "-20.50", "20.50", "EUR");
        post("2100", "-80", "80", "USD");
        for dialect in DIALECTS {
            let read = company.ask(dialect, "GET", "parties", &format!("/{}", party["id"].as_str().unwrap()), None).expect(200).data;
            assert_eq!((read["receivableBalance"].to_string(), read["payableBalance"].to_string()), ("99.50".into(), "40.00".into()));
            let shown: Vec<String> = read["balances"].as_array().unwrap().iter()
                .map(|one| format!("{} {} {}", one["currency"].as_str().unwrap(), one["receivable"], one["payable"]))
                .collect();
            assert_eq!(shown, ["EUR 99.50 0.00", "USD 0.00 80.00"]);
        }
        let refused = company.ask(Dialect::A, "DELETE", "parties", &format!("/{}", party["id"].as_str().unwrap()), None).expect(409);
        assert_eq!(refused.code.as_deref(), Some("in_use"));
        assert_eq!(company.failed_checks(), [""; 0]);
    }
}
