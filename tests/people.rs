//! People: who is in a company, what they may do, keys for programs, and the second factor.

use crate::harness::server::{Company, DIALECTS, authorised};
use crate::harness::{Dialect, Options, Request, Server, on_both_engines};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU32, Ordering};

const PASSWORD: &str = "a person with a password";

fn fresh_email(name: &str) -> String {
    static MADE: AtomicU32 = AtomicU32::new(0);
    format!("{name}-{}-{}@example.test", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed))
}

impl Company<'_> {
    fn set(&self, body: &Value) -> String {
        self.ask(Dialect::B, "POST", "permissions", "", Some(body)).expect(201).id()
    }

    /// A person with an account of their own, opened here.
    fn person(&self, permission: &str) -> (Value, Self) {
        let email = fresh_email("person");
        let body = json!({
            "email": email, "displayName": "A person", "password": PASSWORD,
            "memberships": [{"permissionId": permission}]
        });
        let made = self.ask(Dialect::B, "POST", "users", "", Some(&body)).expect(201).data;
        (made, Company { token: self.server.login(&email, PASSWORD), ..self.clone() })
    }
}

fn me(server: &Server, dialect: Dialect, token: &str, method: &str, path: &str, body: Option<&Value>) -> Value {
    let own = if dialect == Dialect::A { "/a/api/Users/me" } else { "/b/api/auth/me" };
    let request = authorised(Request::new(method, &format!("{own}{path}")), token);
    let answer = server.send(&body.map_or(request.clone(), |body| request.json(body)));
    json!({"status": answer.status, "code": answer.header("x-error-code"), "body": answer.json()})
}

fn payload(said: &Value) -> &Value {
    if said["body"]["data"].is_null() { &said["body"] } else { &said["body"]["data"] }
}

fn login(server: &Server, email: &str, password: &str, code: Option<&str>) -> (u16, String, Value) {
    let mut body = json!({"email": email, "password": password});
    if let Some(code) = code {
        body["totpCode"] = code.into();
    }
    let answer = server.send(&Request::new("POST", "/b/api/auth/login").json(&body));
    (answer.status, answer.header("x-error-code").unwrap_or_default().to_owned(), answer.json())
}

on_both_engines! {
    fn a_company_adds_its_people_and_lets_them_go(server) {
        for dialect in DIALECTS {
            let company = server.company();
            let (made, member) = company.person(&company.permission("sales"));
            assert_eq!((&made["status"], &made["memberships"][0]["role"]), (&json!("active"), &json!("sales")));
            assert_eq!((&made["isSystemAdmin"], &made["twoFactorEnabled"]), (&json!(false), &json!(false)));
            assert!(!made.to_string().contains(PASSWORD) && !made.to_string().contains("argon2"));
            let path = format!("/{}", made["id"].as_str().unwrap());
            member.ask(dialect, "POST", "parties", "", Some(&json!({"name": "x", "isCustomer": true}))).expect(201);
            member.ask(dialect, "GET", "users", "", None).expect(403);
            // What was read may be sent back.
            let mut body = company.ask(dialect, "GET", "users", &path, None).expect(200).data;
            assert_eq!(company.ask(dialect, "PUT", "users", &path, Some(&body)).expect(200).data, body);
            body["memberships"][0]["permissionId"] = company.permission("auditor").into();
            let moved = company.ask(dialect, "PUT", "users", &path, Some(&body)).expect(200).data;
            assert_eq!((&moved["version"], &moved["memberships"][0]["role"]), (&json!(2), &json!("auditor")));
            // The very next request.
            member.ask(dialect, "POST", "parties", "", Some(&json!({"name": "y", "isCustomer": true}))).expect(403);
            let listed = member.ask(dialect, "GET", "users", "?q=person&sort=-email", None).expect(200).data;
            assert_eq!(listed["pagination"]["totalCount"], 1);
            body["status"] = "disabled".into();
            company.ask(dialect, "PUT", "users", &path, Some(&body)).expect(200);
            member.ask(dialect, "GET", "parties", "", None).expect(401);
            body["status"] = "active".into();
            company.ask(dialect, "PUT", "users", &path, Some(&body)).expect(200);
            let member = Company { token: server.login(made["email"].as_str().unwrap(), PASSWORD), ..member };
            company.ask(dialect, "DELETE", "users", &path, None).expect(200);
            member.ask(dialect, "GET", "parties", "", None).expect(404);
            company.ask(dialect, "GET", "users", &path, None).expect(404);
            let log = company.ask(dialect, "GET", "auditLog", "?resource=users&pageSize=50", None).expect(200).data;
            assert_eq!(log["pagination"]["totalCount"], 5);
            assert!(!log.to_string().contains(PASSWORD) && !log.to_string().contains("argon2"));
        }
    }

    fn the_last_owner_stays(server) {
        let company = server.company();
        let (_, own) = company.person(&company.permission("owner"));
        let first = company.ask(Dialect::A, "GET", "users", "?sort=createdAt", None).expect(200).data["items"][0].clone();
        let path = format!("/{}", first["id"].as_str().unwrap());
        own.ask(Dialect::A, "DELETE", "users", &path, None).expect(200);
        let mine = own.ask(Dialect::B, "GET", "users", "", None).expect(200).data["items"][0].clone();
        let path = format!("/{}", mine["id"].as_str().unwrap());
        let mut demoted = mine.clone();
        demoted["memberships"][0]["permissionId"] = own.permission("auditor").into();
        for dialect in DIALECTS {
            assert_eq!(own.ask(dialect, "DELETE", "users", &path, None).expect(409).code.as_deref(), Some("last_owner"));
            assert_eq!(own.ask(dialect, "PUT", "users", &path, Some(&demoted)).expect(409).code.as_deref(), Some("last_owner"));
        }
    }

    fn nobody_hands_out_more_than_they_have(server) {
        for dialect in DIALECTS {
            let company = server.company();
            let manager = company.set(&json!({
                "name": "Office", "grants": [
                    {"resource": "user", "actions": ["view", "create", "edit", "delete"]},
                    {"resource": "permission", "actions": ["view", "create", "edit"]},
                    {"resource": "apiKey", "actions": ["view", "create"]},
                    {"resource": "salesInvoice", "actions": ["view", "create", "post"]}
                ],
                "limits": {"maxDocumentAmount": 100}
            }));
            let (who, office) = company.person(&manager);
            let grant = |name: &str, resource: &str, limit: Value| {
                let grants = json!([{"resource": resource, "actions": ["view"]}]);
                json!({"name": name, "grants": grants, "limits": {"maxDocumentAmount": limit}})
            };
            office.ask(dialect, "POST", "permissions", "", Some(&grant("a", "salesInvoice", json!(100)))).expect(201);
            for (body, word) in [(grant("b", "journal", json!(50)), "journal.view"), (grant("c", "salesInvoice", json!(101)), "limits"), (grant("d", "salesInvoice", Value::Null), "limits")] {
                let refused = office.ask(dialect, "POST", "permissions", "", Some(&body)).expect(403);
                assert!(refused.answer.text.contains(word), "{}", refused.answer.text);
            }
            let with = |set: &str| json!({
                "email": fresh_email("friend"), "displayName": "Friend", "password": PASSWORD, "memberships": [{"permissionId": set}]
            });
            office.ask(dialect, "POST", "users", "", Some(&with(&company.permission("owner")))).expect(403);
            office.ask(dialect, "POST", "users", "", Some(&with(&manager))).expect(201);
            // Their own set, an owner, and a wider key are out of reach too.
            let path = format!("/{}", who["id"].as_str().unwrap());
            let mut own = office.ask(dialect, "GET", "users", &path, None).expect(200).data;
            own["memberships"][0]["permissionId"] = company.permission("owner").into();
            office.ask(dialect, "PUT", "users", &path, Some(&own)).expect(403);
            let owners = format!("?permissionId={}", company.permission("owner"));
            let owner = office.ask(dialect, "GET", "users", &owners, None).expect(200).data["items"][0].clone();
            let path = format!("/{}", owner["id"].as_str().unwrap());
            office.ask(dialect, "DELETE", "users", &path, None).expect(403);
            let mut renamed = owner.clone();
            renamed["displayName"] = "Somebody else".into();
            office.ask(dialect, "PUT", "users", &path, Some(&renamed)).expect(403);
            let key = json!({"name": "wide", "scopes": [{"resource": "journal", "actions": ["view"]}]});
            office.ask(dialect, "POST", "apiKeys", "", Some(&key)).expect(403);
            // So is a set that goes further, even to make it less, and somebody who holds one.
            let wide = json!({"name": "Wide", "grants": [{"resource": "salesInvoice", "actions": ["view"]}], "limits": {"maxDocumentAmount": 5000}});
            let held = company.set(&wide);
            let less = json!({"name": "Wide", "grants": [], "limits": {"maxDocumentAmount": 1}});
            office.ask(dialect, "PUT", "permissions", &format!("/{held}"), Some(&less)).expect(403);
            let (holder, _) = company.person(&held);
            let path = format!("/{}", holder["id"].as_str().unwrap());
            let mut taken_over = office.ask(dialect, "GET", "users", &path, None).expect(200).data;
            taken_over["password"] = "taken over by somebody".into();
            office.ask(dialect, "PUT", "users", &path, Some(&taken_over)).expect(403);
            office.ask(dialect, "DELETE", "users", &path, None).expect(403);
            // What a body says of oneself counts for nothing.
            let admin = json!({"email": fresh_email("a"), "displayName": "A", "password": PASSWORD, "isSystemAdmin": true, "memberships": [{"permissionId": manager}]});
            let made = company.ask(dialect, "POST", "users", "", Some(&admin)).expect(201).data;
            assert_eq!(made["isSystemAdmin"], false);
        }
    }

    fn an_account_is_changed_from_where_it_was_opened(server) {
        let (home, other) = (server.company(), server.company());
        let (who, _) = home.person(&home.permission("sales"));
        let (_, elsewhere) = other.person(&other.permission("owner"));
        let invite = json!({"email": who["email"], "displayName": "Mine", "memberships": [{"permissionId": other.permission("sales")}]});
        for dialect in DIALECTS {
            let mut with_password = invite.clone();
            with_password["password"] = PASSWORD.into();
            assert_eq!(elsewhere.ask(dialect, "POST", "users", "", Some(&with_password)).expect(409).code.as_deref(), Some("account_exists"));
        }
        let joined = elsewhere.ask(Dialect::A, "POST", "users", "", Some(&invite)).expect(201).data;
        assert_eq!((&joined["id"], &joined["displayName"]), (&who["id"], &json!("A person")));
        // Whoever sees the people of one company does not see where else somebody is.
        assert_eq!(joined["memberships"].as_array().unwrap().len(), 1);
        assert_eq!(elsewhere.ask(Dialect::B, "POST", "users", "", Some(&invite)).expect(409).code.as_deref(), Some("duplicate"));
        let path = format!("/{}", who["id"].as_str().unwrap());
        for change in [json!({"password": "taken over by somebody"}), json!({"email": fresh_email("mine")}), json!({"status": "disabled"})] {
            let mut body = joined.clone();
            body.as_object_mut().unwrap().extend(change.as_object().cloned().unwrap());
            for dialect in DIALECTS {
                elsewhere.ask(dialect, "PUT", "users", &path, Some(&body)).expect(403);
            }
        }
        // Not even when the home company let them go.
        home.ask(Dialect::A, "DELETE", "users", &path, None).expect(200);
        let mut body = joined.clone();
        body["password"] = "taken over by somebody".into();
        elsewhere.ask(Dialect::A, "PUT", "users", &path, Some(&body)).expect(403);
        server.login(who["email"].as_str().unwrap(), PASSWORD);
    }

    fn where_else_somebody_is_is_told_to_those_who_see_it_there(server) {
        for dialect in DIALECTS {
            let (one, other) = (server.company(), server.company());
            // The first owner is of both companies, the second of one.
            let (_, second) = one.person(&one.permission("owner"));
            let (who, _) = other.person(&other.permission("sales"));
            let email = who["email"].as_str().unwrap();
            let join = json!({"email": email, "displayName": "x", "memberships": [{"permissionId": one.permission("sales")}]});
            one.ask(dialect, "POST", "users", "", Some(&join)).expect(201);
            let query = format!("?email={email}");
            let seen = |by: &Company<'_>| {
                let found = by.ask(dialect, "GET", "users", &query, None).expect(200).data["items"][0].clone();
                (found["memberships"].as_array().unwrap().len(), found["displayName"].as_str().unwrap().to_owned())
            };
            assert_eq!([seen(&one), seen(&second)], [(2, "A person".into()), (1, "A person".into())]);
            // What changes from the other company is seen at once.
            let path = format!("/{}", who["id"].as_str().unwrap());
            let mut renamed = other.ask(dialect, "GET", "users", &path, None).expect(200).data;
            renamed["displayName"] = "Renamed".into();
            other.ask(dialect, "PUT", "users", &path, Some(&renamed)).expect(200);
            assert_eq!([seen(&one).1, seen(&second).1], ["Renamed", "Renamed"]);
            let log = one.ask(dialect, "GET", "auditLog", "?resource=users&pageSize=100", None).expect(200);
            assert!(!log.answer.text.contains(&other.id), "{}", log.answer.text);
        }
    }

    fn rights_end_at_their_limits(server) {
        for dialect in DIALECTS {
            let company = server.company();
            let clerk = company.set(&json!({
                "name": "Clerk",
                "grants": [{"resource": "salesInvoice", "actions": ["view", "create", "edit", "post", "void"]}],
                "limits": {"maxDocumentAmount": 100, "backdateDays": 5}
            }));
            let (_, member) = company.person(&clerk);
            let party = company.partner();
            let invoice = |price: u64, date: &str| json!({"date": date, "partyId": party, "lines": [{"unitPrice": price}]});
            let today = company.ask(dialect, "POST", "salesInvoices", "", Some(&json!({"date": "2030-01-01", "status": "draft", "partyId": party, "lines": [{"unitPrice": 1}]}))).expect(201).data["createdAt"].as_str().unwrap()[..10].to_owned();
            member.ask(dialect, "POST", "salesInvoices", "", Some(&invoice(100, &today))).expect(201);
            let refused = member.ask(dialect, "POST", "salesInvoices", "", Some(&invoice(101, &today))).expect(403);
            assert!(refused.answer.text.contains("at most 100.00 EUR"), "{}", refused.answer.text);
            assert_eq!(refused.code.as_deref(), Some("forbidden"));
            let refused = member.ask(dialect, "POST", "salesInvoices", "", Some(&invoice(10, "2020-01-01"))).expect(403);
            assert!(refused.answer.text.contains("must not be before"), "{}", refused.answer.text);
            // A draft may be anything; to post it may not.
            let mut draft = invoice(500, "2020-01-01");
            draft["status"] = "draft".into();
            let draft = member.ask(dialect, "POST", "salesInvoices", "", Some(&draft)).expect(201).id();
            member.ask(dialect, "POST", "salesInvoices", &format!("/{draft}/post"), None).expect(403);
            company.ask(dialect, "POST", "salesInvoices", &format!("/{draft}/post"), None).expect(200);
        }
    }

    fn permission_sets_say_what_there_is(server) {
        for dialect in DIALECTS {
            let company = server.company();
            let built_in = company.ask(dialect, "GET", "permissions", "?isSystem=true", None).expect(200).data;
            assert_eq!(built_in["pagination"]["totalCount"], 9);
            let owner = company.permission("owner");
            let body = json!({"name": "Mine", "grants": []});
            assert_eq!(company.ask(dialect, "PUT", "permissions", &format!("/{owner}"), Some(&body)).expect(409).code.as_deref(), Some("built_in"));
            assert_eq!(company.ask(dialect, "DELETE", "permissions", &format!("/{owner}"), None).expect(409).code.as_deref(), Some("built_in"));
            let catalog = company.ask(dialect, "GET", "permissions", "/catalog", None).expect(200).data;
            let all: Vec<&str> = catalog["items"].as_array().unwrap().iter().flat_map(|one| one["permissions"].as_array().unwrap()).map(|one| one.as_str().unwrap()).collect();
            let mine = company.ask(dialect, "GET", "businesses", &format!("/{}", company.id), None).expect(200).data;
            // An owner may do all there is, but for making companies.
            assert_eq!(mine["permissions"].as_array().unwrap().len(), all.len() - 1);
            assert!(!all.contains(&"profile.view"));
            let refused = company.ask(dialect, "POST", "permissions", "", Some(&json!({
                "name": "Owner", "grants": [{"resource": "nothing", "actions": []}, {"resource": "report", "actions": ["void", "fly"]}, {"resource": "item", "actions": ["view"]}, {"resource": "item", "actions": ["edit"]}],
                "limits": {"maxDocumentAmount": -1, "backdateDays": 5000}
            }))).expect(400);
            for place in ["grants[0].resource", "grants[1].actions[0]", "grants[1].actions[1]", "grants[3].resource", "limits.maxDocumentAmount", "limits.backdateDays"] {
                assert!(refused.errors.get(place).is_some(), "{place} {}", refused.answer.text);
            }
            let taken = json!({"name": "owner", "grants": []});
            assert_eq!(company.ask(dialect, "POST", "permissions", "", Some(&taken)).expect(409).code.as_deref(), Some("duplicate"));
            let mine = company.set(&json!({"name": "Mine", "grants": [{"resource": "item", "actions": ["edit", "view"]}]}));
            let (_, holder) = company.person(&mine);
            holder.ask(dialect, "GET", "items", "", None).expect(200);
            // A set that changes takes effect with the next request.
            let other = json!({"name": "Mine", "grants": [{"resource": "party", "actions": ["view"]}]});
            company.ask(dialect, "PUT", "permissions", &format!("/{mine}"), Some(&other)).expect(200);
            holder.ask(dialect, "GET", "items", "", None).expect(403);
            holder.ask(dialect, "GET", "parties", "", None).expect(200);
            assert_eq!(company.ask(dialect, "DELETE", "permissions", &format!("/{mine}"), None).expect(409).code.as_deref(), Some("in_use"));
        }
    }

    fn a_key_goes_as_far_as_its_scopes(server) {
        for dialect in DIALECTS {
            let (company, other) = (server.company(), server.company());
            let body = json!({"name": "Shop", "scopes": [{"resource": "party", "actions": ["view", "create"]}]});
            let made = company.ask(dialect, "POST", "apiKeys", "", Some(&body)).expect(201).data;
            let secret = made["secret"].as_str().unwrap().to_owned();
            assert!(secret.starts_with("duet_") && secret.len() == 37 && secret.starts_with(made["hint"].as_str().unwrap()));
            let program = Company { token: secret.clone(), ..company.clone() };
            for dialect in DIALECTS {
                program.ask(dialect, "POST", "parties", "", Some(&json!({"name": "By a program", "isCustomer": true}))).expect(201);
                program.ask(dialect, "GET", "items", "", None).expect(403);
                let seen = program.ask(dialect, "GET", "businesses", "", None).expect(200).data;
                assert_eq!((&seen["pagination"]["totalCount"], &seen["items"][0]["permissions"]), (&json!(1), &json!(["party.view", "party.create"])));
                program.ask(dialect, "POST", "businesses", "", Some(&json!({"name": "x", "baseCurrency": "EUR"}))).expect(403);
                Company { token: secret.clone(), ..other.clone() }.ask(dialect, "GET", "parties", "", None).expect(404);
                let refused = me(server, dialect, &secret, "POST", "/totp-removal", Some(&json!({"currentPassword": "x"})));
                assert!([400, 403].contains(&refused["status"].as_u64().unwrap()), "{refused}");
            }
            let path = format!("/{}", made["id"].as_str().unwrap());
            let shown = company.ask(dialect, "GET", "apiKeys", &path, None).expect(200);
            assert!(shown.data["secret"].is_null() && !shown.answer.text.contains(&secret));
            let log = company.ask(dialect, "GET", "auditLog", "?resource=apiKeys", None).expect(200);
            assert!(!log.answer.text.contains(&secret));
            company.ask(dialect, "DELETE", "apiKeys", &path, None).expect(200);
            program.ask(dialect, "GET", "parties", "", None).expect(401);
            // From elsewhere, ended, of somebody who left.
            let make = |body: Value| {
                let made = company.ask(dialect, "POST", "apiKeys", "", Some(&body)).expect(201).data;
                Company { token: made["secret"].as_str().unwrap().to_owned(), ..company.clone() }
            };
            make(json!({"name": "Elsewhere", "allowedAddresses": ["203.0.113.0/24"]})).ask(dialect, "GET", "parties", "", None).expect(403);
            make(json!({"name": "Here", "allowedAddresses": ["127.0.0.1"]})).ask(dialect, "GET", "parties", "", None).expect(200);
            let past = json!({"name": "Past", "expiresAt": "2020-01-01T00:00:00Z"});
            assert!(company.ask(dialect, "POST", "apiKeys", "", Some(&past)).expect(400).errors.get("expiresAt").is_some());
            let (who, member) = company.person(&company.permission("owner"));
            let theirs = member.ask(dialect, "POST", "apiKeys", "", Some(&json!({"name": "Theirs"}))).expect(201).data;
            let theirs = Company { token: theirs["secret"].as_str().unwrap().to_owned(), ..company.clone() };
            theirs.ask(dialect, "GET", "journals", "", None).expect(200);
            theirs.ask(dialect, "POST", "apiKeys", "", Some(&json!({"name": "By a key"}))).expect(403);
            company.ask(dialect, "DELETE", "users", &format!("/{}", who["id"].as_str().unwrap()), None).expect(200);
            theirs.ask(dialect, "GET", "journals", "", None).expect(404);
            let login = json!({"email": "owner@example.test", "password": theirs.token});
            server.send(&Request::new("POST", "/b/api/auth/login").json(&login)).expect(401);
            company.server.send(&authorised(Request::new("GET", "/b/api/businesses"), "duet_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")).expect(401);
        }
    }

    fn a_secret_is_not_kept_with_the_answer_of_a_repeated_request(server) {
        let company = server.company();
        let request = company.request(Dialect::B, "POST", "apiKeys", "").json(&json!({"name": "Once"})).header("Idempotency-Key", &company.id);
        let first = server.send(&request).expect(201).json();
        let again = server.send(&request).expect(201);
        assert_eq!(again.header("idempotency-replayed"), Some("true"));
        assert_eq!(again.json()["id"], first["id"]);
        assert!(first["secret"].is_string() && again.json()["secret"].is_null());
    }

    fn a_second_factor_is_asked_for_once_it_is_confirmed(server) {
        // Failed log-ins are counted by address: not on a server that others log in to.
        let server = &Server::start(server.engine, Options::default()).unwrap();
        let company = server.company();
        let (who, member) = company.person(&company.permission("sales"));
        let email = who["email"].as_str().unwrap();
        let own = |method: &str, path: &str, body: Value| me(server, Dialect::A, &member.token, method, path, Some(&body));
        let wrong = own("POST", "/totp", json!({"currentPassword": "not the password"}));
        assert_eq!((&wrong["status"], wrong["body"]["errors"].get("currentPassword").is_some()), (&json!(400), true));
        let begun = own("POST", "/totp", json!({"currentPassword": PASSWORD}));
        let secret = payload(&begun)["authenticator"]["secret"].as_str().unwrap().to_owned();
        // By the server's clock.
        let made: ledger_core::clock::Instant = serde_json::from_value(who["createdAt"].clone()).unwrap();
        let now = u64::try_from(made.micros()).unwrap() / 30_000_000;
        // Not asked for before it is confirmed.
        assert_eq!(login(server, email, PASSWORD, None).0, 200);
        assert_eq!(own("POST", "/totp-confirmation", json!({"code": "000 00"}))["status"], 409);
        let confirmed = own("POST", "/totp-confirmation", json!({"code": code(&secret, now)}));
        assert_eq!((&confirmed["status"], &payload(&confirmed)["twoFactorEnabled"], &payload(&confirmed)["authenticator"]), (&json!(200), &json!(true), &Value::Null));
        assert_eq!(login(server, email, PASSWORD, None).1, "totp_required");
        let wrong = login(server, email, PASSWORD, Some("000000"));
        assert_eq!((wrong.0, wrong.1.as_str()), (401, "unauthenticated"));
        assert_eq!(wrong.2, login(server, email, "not the password", Some("000000")).2);
        // The code that confirmed is spent, the next one is good once.
        assert_eq!(login(server, email, PASSWORD, Some(&code(&secret, now))).0, 401);
        assert_eq!(login(server, email, PASSWORD, Some(&code(&secret, now + 1))).0, 200);
        assert_eq!(login(server, email, PASSWORD, Some(&code(&secret, now + 1))).0, 401);
        let shown = company.ask(Dialect::B, "GET", "users", &format!("/{}", who["id"].as_str().unwrap()), None).expect(200);
        assert_eq!(shown.data["twoFactorEnabled"], true);
        assert!(shown.data["lastLoginAt"].is_string() && !shown.answer.text.contains(&secret));
        assert_eq!(own("POST", "/totp-removal", json!({"currentPassword": PASSWORD}))["status"], 200);
        assert_eq!(login(server, email, PASSWORD, None).0, 200);
        // Whoever loses their authenticator asks the operator.
        let secret = payload(&own("POST", "/totp", json!({"currentPassword": PASSWORD})))["authenticator"]["secret"].as_str().unwrap().to_owned();
        assert_eq!(own("POST", "/totp-confirmation", json!({"code": code(&secret, now)}))["status"], 200);
        assert_eq!(login(server, email, PASSWORD, None).1, "totp_required");
        assert!(server.command(&["user", "reset-totp", email], "").status.success());
        assert_eq!(login(server, email, PASSWORD, None).0, 200);
    }

    fn everybody_changes_their_own_password(server) {
        // Failed log-ins are counted by address: not on a server that others log in to.
        let server = &Server::start(server.engine, Options::default()).unwrap();
        let company = server.company();
        for dialect in DIALECTS {
            let (who, member) = company.person(&company.permission("apiReadOnly"));
            let email = who["email"].as_str().unwrap();
            let seen = me(server, dialect, &member.token, "GET", "", None);
            assert_eq!((&payload(&seen)["email"], &payload(&seen)["memberships"][0]["role"]), (&json!(email), &json!("apiReadOnly")));
            let change = |current: &str, new: &str| me(server, dialect, &member.token, "POST", "/password", Some(&json!({"currentPassword": current, "newPassword": new})));
            assert!(change(PASSWORD, "short")["body"]["errors"].get("newPassword").is_some());
            assert!(change("not the password", "another good password")["body"]["errors"].get("currentPassword").is_some());
            assert!(change(PASSWORD, PASSWORD)["body"]["errors"].get("newPassword").is_some());
            assert_eq!(change(PASSWORD, "another good password")["status"], 200);
            assert_eq!(me(server, dialect, &member.token, "GET", "", None)["status"], 401);
            assert_eq!(login(server, email, PASSWORD, None).0, 401);
            assert_eq!(login(server, email, "another good password", None).0, 200);
        }
    }

    fn who_is_invited_waits_for_a_password(server) {
        // Failed log-ins are counted by address: not on a server that others log in to.
        let server = &Server::start(server.engine, Options::default()).unwrap();
        let company = server.company();
        let email = fresh_email("invited");
        let body = json!({"email": email, "displayName": "Invited", "memberships": [{"permissionId": company.permission("sales")}]});
        let made = company.ask(Dialect::B, "POST", "users", "", Some(&body)).expect(201).data;
        assert_eq!(made["status"], "invited");
        assert_eq!(login(server, &email, "", None).0, 401);
        assert_eq!(login(server, &email, "whatever it may be", None).0, 401);
        let mut body = made.clone();
        body["password"] = PASSWORD.into();
        let path = format!("/{}", made["id"].as_str().unwrap());
        let given = company.ask(Dialect::A, "PUT", "users", &path, Some(&body)).expect(200).data;
        assert_eq!(given["status"], "active");
        assert_eq!(login(server, &email, PASSWORD, None).0, 200);
        let refused = company.ask(Dialect::A, "POST", "users", "", Some(&json!({
            "email": "no address", "username": "no name", "displayName": " ", "password": "short", "locale": "Deutsch!",
            "memberships": [{"permissionId": "no identifier"}]
        }))).expect(400);
        for place in ["email", "username", "displayName", "password", "locale", "memberships[0].permissionId"] {
            assert!(refused.errors.get(place).is_some(), "{place}: {}", refused.answer.text);
        }
    }
}

/// The code of a secret at a step, reckoned here once more by the standard.
fn code(secret: &str, step: u64) -> String {
    let mut bits: Vec<bool> = Vec::new();
    for letter in secret.bytes() {
        let value = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".iter().position(|known| *known == letter).unwrap();
        bits.extend((0..5).rev().map(|bit| value >> bit & 1 == 1));
    }
    let key: Vec<u8> =
        bits.chunks_exact(8).map(|byte| byte.iter().fold(0, |sum, bit| sum << 1 | u8::from(*bit))).collect();
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &key);
    let tag = ring::hmac::sign(&key, &step.to_be_bytes());
    let at = usize::from(tag.as_ref()[19] & 15);
    let four: [u8; 4] = tag.as_ref()[at..at + 4].try_into().unwrap();
    format!("{:06}", (u32::from_be_bytes(four) & 0x7fff_ffff) % 1_000_000)
}
