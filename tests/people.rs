//! People: who is in a company, what they may do, keys for programs, and the second factor.

use crate::harness::people::{ACCEPT, code, fresh_email, next_step, this_step};
use crate::harness::server::{Company, DIALECTS, authorised};
use crate::harness::{Dialect, Options, Request, Server, on_both_engines};
use serde_json::{Value, json};

const PASSWORD: &str = "a person with a password";

impl Company<'_> {
    fn set(&self, body: &Value) -> String {
        self.ask(Dialect::B, "POST", "permissions", "", Some(body)).expect(201).id()
    }

    /// A person with an account of their own, opened here.
    fn person(&self, permission: &str) -> (Value, Self) {
        self.joined(&fresh_email("person"), permission, PASSWORD)
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
            assert_eq!((&moved["version"], &moved["memberships"][0]["role"]), (&json!(3), &json!("auditor")));
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
            assert_eq!(log["pagination"]["totalCount"], 6);
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
            office.invite(dialect, &fresh_email("friend"), &company.permission("owner")).expect(403);
            office.invite(dialect, &fresh_email("friend"), &manager).expect(201);
            // Nor does a new code for somebody who will have more fall into their hands.
            let waiting = company.invite(dialect, &fresh_email("friend"), &company.permission("owner")).expect(201).id();
            office.ask(dialect, "POST", "users", &format!("/{waiting}/invitation"), None).expect(403);
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
            taken_over["memberships"][0]["permissionId"] = manager.clone().into();
            office.ask(dialect, "PUT", "users", &path, Some(&taken_over)).expect(403);
            office.ask(dialect, "DELETE", "users", &path, None).expect(403);
            // What a body says of oneself counts for nothing.
            let email = fresh_email("a");
            let admin = json!({"email": email, "displayName": "A", "isSystemAdmin": true, "memberships": [{"permissionId": manager}]});
            let made = company.ask(dialect, "POST", "users", "", Some(&admin)).expect(201).data;
            server.accept(dialect, made["invitationCode"].as_str().unwrap(), PASSWORD).expect(200);
            let seen = me(server, dialect, &server.login(&email, PASSWORD), "GET", "", None);
            assert_eq!(payload(&seen)["isSystemAdmin"], false);
        }
    }

    fn who_somebody_is_is_theirs_to_change(server) {
        let (home, other) = (server.company(), server.company());
        let (who, member) = home.person(&home.permission("sales"));
        let (_, elsewhere) = other.person(&other.permission("owner"));
        let email = who["email"].as_str().unwrap();
        other.joins(Dialect::A, &member.token, email, &other.permission("sales")).expect(200);
        let query = format!("?email={email}");
        let joined = elsewhere.ask(Dialect::A, "GET", "users", &query, None).expect(200).data["items"][0].clone();
        assert_eq!((&joined["id"], &joined["displayName"]), (&who["id"], &json!("A person")));
        // Whoever sees the people of one company does not see where else somebody is, nor what they do there.
        assert_eq!(joined["memberships"].as_array().unwrap().len(), 1);
        for name in ["lastLoginAt", "twoFactorEnabled", "isSystemAdmin", "mustChangePassword"] {
            assert_eq!(joined[name], Value::Null, "{name}");
        }
        assert_eq!(elsewhere.invite(Dialect::B, email, &other.permission("sales")).expect(409).code.as_deref(), Some("duplicate"));
        let path = format!("/{}", who["id"].as_str().unwrap());
        for (change, status) in [
            (json!({"password": "taken over by somebody"}), 403), (json!({"email": fresh_email("mine")}), 400),
            (json!({"displayName": "Renamed"}), 403), (json!({"username": "renamed"}), 403), (json!({"status": "disabled"}), 403),
        ] {
            let mut body = joined.clone();
            body.as_object_mut().unwrap().extend(change.as_object().cloned().unwrap());
            for (dialect, manager) in [(Dialect::A, &elsewhere), (Dialect::B, &elsewhere)] {
                manager.ask(dialect, "PUT", "users", &path, Some(&body)).expect(status);
            }
        }
        // Not even from where it was opened.
        let mut renamed = home.ask(Dialect::B, "GET", "users", &path, None).expect(200).data;
        renamed["displayName"] = "Renamed".into();
        home.ask(Dialect::B, "PUT", "users", &path, Some(&renamed)).expect(403);
        server.login(email, PASSWORD);
    }

    fn where_else_somebody_is_is_told_to_those_who_see_it_there(server) {
        for dialect in DIALECTS {
            let (one, other) = (server.company(), server.company());
            // The first owner is of both companies, the second of one.
            let (_, second) = one.person(&one.permission("owner"));
            let (who, member) = other.person(&other.permission("sales"));
            let email = who["email"].as_str().unwrap();
            one.joins(dialect, &member.token, email, &one.permission("sales")).expect(200);
            let query = format!("?email={email}");
            let seen = |by: &Company<'_>| {
                let found = by.ask(dialect, "GET", "users", &query, None).expect(200).data["items"][0].clone();
                (found["memberships"].as_array().unwrap().len(), found["lastLoginAt"].is_string())
            };
            assert_eq!([seen(&one), seen(&second)], [(2, true), (1, false)]);
            // A key of one company sees no other, whoever made it.
            let key = one.ask(dialect, "POST", "apiKeys", "", Some(&json!({"name": "x"}))).expect(201).data;
            let program = Company { token: key["secret"].as_str().unwrap().to_owned(), ..one.clone() };
            assert_eq!(seen(&program), (1, false));
            let log = one.ask(dialect, "GET", "auditLog", "?resource=users&pageSize=100", None).expect(200);
            assert!(!log.answer.text.contains(&other.id) && log.data["items"].as_array().unwrap().iter().all(|one| one["after"]["lastLoginAt"].is_null()), "{}", log.answer.text);
        }
    }

    fn the_operator_opens_an_account_that_is_new_and_changes_none(server) {
        let company = server.company();
        for dialect in DIALECTS {
            let email = fresh_email("opened");
            let open = |password: &str| json!({"email": email, "displayName": "Opened", "password": password, "memberships": [{"permissionId": company.permission("sales")}]});
            assert_eq!(company.ask(dialect, "POST", "users", "", Some(&open("aaaaaaaaaaaa"))).expect(400).fields(), ["password"]);
            let made = company.ask(dialect, "POST", "users", "", Some(&open(PASSWORD))).expect(201).data;
            assert_eq!((&made["status"], &made["invitationCode"]), (&json!("active"), &Value::Null));
            let member = Company { token: server.login(&email, PASSWORD), ..company.clone() };
            member.ask(dialect, "GET", "parties", "", None).expect(200);
            // Not even the operator takes an account over so, nor by a key.
            company.ask(dialect, "POST", "users", "", Some(&open("another good password"))).expect(409);
            let path = format!("/{}", made["id"].as_str().unwrap());
            let mut body = made.clone();
            body["password"] = "another good password".into();
            company.ask(dialect, "PUT", "users", &path, Some(&body)).expect(403);
            server.login(&email, PASSWORD);
        }
    }

    fn nobody_becomes_a_member_by_an_address(server) {
        for dialect in DIALECTS {
            let (attacker, company) = (server.company(), server.company());
            let (_, attacker) = attacker.person(&attacker.permission("owner"));
            let email = fresh_email("future");
            // Who invites somebody can open an account in their name, since no address is proved ...
            let refused = json!({"email": email, "displayName": "x", "password": PASSWORD, "memberships": [{"permissionId": attacker.permission("auditor")}]});
            assert_eq!(attacker.ask(dialect, "POST", "users", "", Some(&refused)).expect(403).fields(), ["password"]);
            let (_, squatter) = attacker.joined(&email, &attacker.permission("auditor"), PASSWORD);
            // ... and has nothing of it: who is invited elsewhere is whoever brings that code.
            let invited = company.invite(dialect, &email, &company.permission("accountant")).expect(201);
            let squatter = Company { id: company.id.clone(), ..squatter };
            squatter.ask(dialect, "GET", "parties", "", None).expect(404);
            assert_eq!(invited.data["status"], "invited");
            assert_eq!(invited.data["memberships"].as_array().unwrap().len(), 1);
            // The squatter's account stands in the way of a new one, and is told apart from no wrong code.
            let code = invited.data["invitationCode"].as_str().unwrap().to_owned();
            let said = |code: &str| server.accept(dialect, code, "another good password").text;
            assert_eq!(said(&code), said("join_wrong"));
            squatter.ask(dialect, "GET", "parties", "", None).expect(404);
            let path = format!("/{}", invited.id());
            company.ask(dialect, "DELETE", "users", &path, None).expect(200);
            server.accept(dialect, &code, "another good password").expect(401);
        }
    }

    fn an_address_that_is_known_is_answered_like_any_other(server) {
        let company = server.company();
        let elsewhere = server.company();
        let (known, member) = elsewhere.person(&elsewhere.permission("sales"));
        let known = known["email"].as_str().unwrap().to_owned();
        let waiting = fresh_email("waiting");
        elsewhere.invite(Dialect::A, &waiting, &elsewhere.permission("sales")).expect(201);
        for dialect in DIALECTS {
            for query in ["?dryRun=true", ""] {
                let said = [known.clone(), waiting.clone(), fresh_email("unknown")].map(|email| {
                    let body = json!({"email": email, "displayName": "Somebody", "memberships": [{"permissionId": company.permission("sales")}]});
                    let mut made = company.ask(dialect, "POST", "users", query, Some(&body)).expect(201).data;
                    assert_eq!(made["email"].as_str().unwrap(), email);
                    if query.is_empty() {
                        let path = format!("/{}", made["id"].as_str().unwrap());
                        let seen = company.ask(dialect, "GET", "users", &path, None).expect(200).data;
                        assert_eq!(seen["invitationCode"], Value::Null);
                        company.ask(dialect, "DELETE", "users", &path, None).expect(200);
                    }
                    for own in ["id", "email", "createdAt", "updatedAt", "invitationCode", "invitationExpiresAt"] {
                        assert!(made[own].is_string(), "{own}: {made}");
                        made[own] = Value::Null;
                    }
                    made
                });
                assert_eq!(said[0]["displayName"], "Somebody");
                assert!(said.iter().all(|one| *one == said[0]), "{said:?}");
            }
        }
        // Who has the account notices nothing, and is where they were.
        assert_eq!(payload(&me(server, Dialect::A, &member.token, "GET", "", None))["memberships"].as_array().unwrap().len(), 1);
    }

    fn an_invitation_is_accepted_once_by_whoever_brings_the_code(server) {
        // Failed log-ins are counted by address: not on a server that others log in to.
        let server = &Server::start(server.engine, Options::default()).unwrap();
        for (dialect, path) in ACCEPT {
            let company = server.company();
            let email = fresh_email("invited");
            let invited = company.invite(dialect, &email, &company.permission("sales")).expect(201);
            let (code, path_of) = (invited.data["invitationCode"].as_str().unwrap().to_owned(), format!("/{}", invited.id()));
            assert!(code.starts_with("join_") && code.len() == 37, "{code}");
            assert_eq!(login(server, &email, "", None).0, 401);
            assert_eq!(login(server, &format!("{email} {}", invited.id()), "", None).0, 401);
            // A new code makes the one before worthless.
            let again = company.ask(dialect, "POST", "users", &format!("{path_of}/invitation"), None).expect(200);
            let newer = again.data["invitationCode"].as_str().unwrap().to_owned();
            assert_eq!(server.accept(dialect, &code, PASSWORD).status, 401);
            server.send(&Request::new("POST", path).json(&json!({"password": PASSWORD}))).expect(401);
            let missing = authorised(Request::new("POST", path), &newer).json(&json!({"password": "short", "username": "no name"}));
            let missing = server.send(&missing).expect(400);
            for field in ["password", "username"] {
                assert!(missing.text.contains(field), "{}", missing.text);
            }
            // What the company calls them, until they say who they are.
            let mut body = company.ask(dialect, "GET", "users", &path_of, None).expect(200).data;
            assert_eq!(company.ask(dialect, "PUT", "users", &path_of, Some(&body)).expect(200).data, body);
            body["memberships"][0]["permissionId"] = company.permission("cashier").into();
            company.ask(dialect, "PUT", "users", &path_of, Some(&body)).expect(200);
            for (field, value) in [("email", fresh_email("x")), ("username", "x".into()), ("status", "active".into())] {
                let mut body = body.clone();
                body[field] = value.into();
                assert_eq!(company.ask(dialect, "PUT", "users", &path_of, Some(&body)).expect(400).fields(), [field]);
            }
            let opened = json!({"password": PASSWORD, "displayName": "Mira", "locale": "de-AT"});
            let accepted = server.send(&authorised(Request::new("POST", path), &newer).json(&opened)).expect(200).json();
            let accepted = if dialect == Dialect::A { accepted["data"].clone() } else { accepted };
            assert_eq!((&accepted["role"], &accepted["businessId"]), (&json!("cashier"), &json!(company.id)));
            assert_eq!(server.accept(dialect, &newer, PASSWORD).status, 401);
            let member = Company { token: server.login(&email, PASSWORD), ..company.clone() };
            member.ask(dialect, "GET", "parties", "", None).expect(200);
            let seen = company.ask(dialect, "GET", "users", &path_of, None).expect(200).data;
            assert_eq!((&seen["status"], &seen["displayName"], &seen["locale"]), (&json!("active"), &json!("Mira"), &json!("de-AT")));
            assert_eq!(company.ask(dialect, "POST", "users", &format!("{path_of}/invitation"), None).expect(409).code.as_deref(), Some("invalid_state"));
            let log = company.ask(dialect, "GET", "users", &format!("{path_of}/history"), None).expect(200);
            let states: Vec<&Value> = log.data["items"].as_array().unwrap().iter().map(|one| &one["after"]["status"]).collect();
            assert_eq!(states, [&json!("invited"), &json!("invited"), &json!("invited"), &json!("active")]);
            assert!(!log.answer.text.contains("join_"));
        }
    }

    fn an_invitation_ends_with_its_company(server) {
        let company = server.company();
        let email = fresh_email("gone");
        let code = company.invite(Dialect::A, &email, &company.permission("sales")).expect(201).data["invitationCode"].clone();
        let listed = || String::from_utf8(server.command(&["user", "list"], "").stdout).unwrap().contains(&email);
        assert!(listed());
        company.ask(Dialect::A, "DELETE", "businesses", &format!("/{}", company.id), None).expect(200);
        server.accept(Dialect::A, code.as_str().unwrap(), PASSWORD).expect(401);
        assert!(!listed());
    }

    fn an_invitation_is_worth_what_its_maker_may_do(server) {
        for dialect in DIALECTS {
            let company = server.company();
            let (who, second) = company.person(&company.permission("owner"));
            let email = fresh_email("late");
            let code = second.invite(dialect, &email, &company.permission("owner")).expect(201).data["invitationCode"].clone();
            let path = format!("/{}", who["id"].as_str().unwrap());
            let mut demoted = company.ask(dialect, "GET", "users", &path, None).expect(200).data;
            demoted["memberships"][0]["permissionId"] = company.permission("sales").into();
            company.ask(dialect, "PUT", "users", &path, Some(&demoted)).expect(200);
            server.accept(dialect, code.as_str().unwrap(), PASSWORD).expect(401);
            // Whoever takes them over answers for them.
            let waiting = company.ask(dialect, "GET", "users", &format!("?email={email}"), None).expect(200).data["items"][0].clone();
            let again = company.ask(dialect, "POST", "users", &format!("/{}/invitation", waiting["id"].as_str().unwrap()), None).expect(200);
            server.accept(dialect, again.data["invitationCode"].as_str().unwrap(), PASSWORD).expect(200);
        }
    }

    fn who_has_an_account_accepts_with_it_or_not_at_all(server) {
        // Failed log-ins are counted by address: not on a server that others log in to.
        let server = &Server::start(server.engine, Options::default()).unwrap();
        for dialect in DIALECTS {
            let (home, other) = (server.company(), server.company());
            let (who, member) = home.person(&home.permission("sales"));
            let (_, bystander) = home.person(&home.permission("sales"));
            let email = who["email"].as_str().unwrap();
            let code = other.invite(dialect, email, &other.permission("sales")).expect(201).data["invitationCode"].clone();
            let body = json!({"invitationCode": code});
            let taken = me(server, dialect, &bystander.token, "POST", "/invitations", Some(&body));
            assert_eq!(taken["code"], "invalid_state");
            let wrong = me(server, dialect, &member.token, "POST", "/invitations", Some(&json!({"invitationCode": "join_x"})));
            assert!(wrong["body"]["errors"].get("invitationCode").is_some(), "{wrong}");
            assert_eq!(me(server, dialect, &member.token, "POST", "/invitations?dryRun=true", Some(&body))["status"], 200);
            let own = if dialect == Dialect::A { "/a/api/Users/me" } else { "/b/api/auth/me" };
            let accept = Request::new("POST", &format!("{own}/invitations")).json(&body).header("Idempotency-Key", &other.id);
            let seen = json!({"body": server.send(&authorised(accept.clone(), &member.token)).expect(200).json()});
            let again = server.send(&authorised(accept, &member.token)).expect(200);
            assert_eq!((again.header("idempotency-replayed"), &again.json()), (Some("true"), &seen["body"]));
            assert_eq!(payload(&seen)["memberships"].as_array().unwrap().len(), 2);
            assert_eq!(me(server, dialect, &member.token, "POST", "/invitations", Some(&body))["status"], 400);
            let member = Company { id: other.id.clone(), ..member };
            member.ask(dialect, "GET", "parties", "", None).expect(200);
            assert_eq!(other.ask(dialect, "GET", "users", &format!("?email={email}"), None).expect(200).data["items"][0]["id"], who["id"]);
            if dialect == Dialect::B {
                // Guessing is counted, apart from log-ins.
                let guess = || me(server, dialect, &member.token, "POST", "/invitations", Some(&json!({"invitationCode": "join_x"})))["status"].clone();
                let statuses: Vec<Value> = (0..9).map(|_| guess()).collect();
                assert_eq!(statuses.last(), Some(&json!(429)), "{statuses:?}");
            }
            server.login(email, PASSWORD);
        }
    }

    fn a_key_does_not_come_back_with_its_maker(server) {
        for dialect in DIALECTS {
            let company = server.company();
            let (who, member) = company.person(&company.permission("owner"));
            let key = member.ask(dialect, "POST", "apiKeys", "", Some(&json!({"name": "Mine"}))).expect(201).data;
            let program = Company { token: key["secret"].as_str().unwrap().to_owned(), ..company.clone() };
            program.ask(dialect, "GET", "parties", "", None).expect(200);
            company.ask(dialect, "DELETE", "users", &format!("/{}", who["id"].as_str().unwrap()), None).expect(200);
            company.joins(dialect, &member.token, who["email"].as_str().unwrap(), &company.permission("auditor")).expect(200);
            member.ask(dialect, "GET", "parties", "", None).expect(200);
            program.ask(dialect, "GET", "parties", "", None).expect(401);
            let log = company.ask(dialect, "GET", "auditLog", "?resource=apiKeys&action=deleted", None).expect(200).data;
            assert_eq!(log["items"][0]["resourceId"], key["id"]);
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
            make(json!({"name": "Here", "allowedAddresses": [server.is_asked_from()]})).ask(dialect, "GET", "parties", "", None).expect(200);
            let past = json!({"name": "Past", "expiresAt": "2020-01-01T00:00:00Z"});
            assert!(company.ask(dialect, "POST", "apiKeys", "", Some(&past)).expect(400).errors.get("expiresAt").is_some());
            let (who, member) = company.person(&company.permission("owner"));
            let theirs = member.ask(dialect, "POST", "apiKeys", "", Some(&json!({"name": "Theirs"}))).expect(201).data;
            let theirs = Company { token: theirs["secret"].as_str().unwrap().to_owned(), ..company.clone() };
            theirs.ask(dialect, "GET", "journals", "", None).expect(200);
            theirs.ask(dialect, "POST", "apiKeys", "", Some(&json!({"name": "By a key"}))).expect(403);
            company.ask(dialect, "DELETE", "users", &format!("/{}", who["id"].as_str().unwrap()), None).expect(200);
            theirs.ask(dialect, "GET", "journals", "", None).expect(401);
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
        assert_eq!((again.header("idempotency-replayed"), again.header("x-withheld")), (Some("true"), Some("secret")));
        assert_eq!(again.json()["id"], first["id"]);
        assert!(first["secret"].is_string() && again.json()["secret"].is_null());
    }

    fn a_repeat_names_what_it_does_not_show_again_and_nothing_else(server) {
        let company = server.company();
        let permission = company.permission("bookkeeper");
        let hook = json!({"url": "https://shop.example/hooks", "types": ["party.*"], "status": "paused"});
        let known = fresh_email("withheld");
        for dialect in DIALECTS {
            let invited = |email: &str| json!({"email": email, "displayName": "Mira", "memberships": [{"permissionId": permission}]});
            let mut asked = vec![
                ("apiKeys", json!({"name": format!("Shop {dialect:?}")}), "", Some("secret")),
                ("webhooks", hook.clone(), "", Some("secret")),
                ("users", invited(&fresh_email("withheld")), "", Some("invitationCode")),
                ("parties", json!({"name": "Nothing to hide", "isCustomer": true}), "", None),
            ];
            let made = company.ask(dialect, "POST", "webhooks", "", Some(&hook)).expect(201);
            let exchange = format!("/{}/rotate-secret", made.id());
            asked.push(("webhooks", json!({}), &exchange, Some("secret")));
            for (place, (resource, body, tail, shown)) in asked.iter().enumerate() {
                let key = format!("withheld-{place}-{dialect:?}-{known}");
                let ask = |dialect| {
                    let request = company.request(dialect, "POST", resource, tail).header("Idempotency-Key", &key);
                    company.say(dialect, request.json(body))
                };
                let first = ask(dialect);
                assert!(first.answer.status < 300, "{resource}: {}", first.answer.text);
                assert_eq!(first.answer.header("x-withheld"), None, "{resource}");
                // In whichever dialect it is repeated.
                for other in DIALECTS {
                    let again = ask(other);
                    assert_eq!(again.answer.header("idempotency-replayed"), Some("true"), "{resource}");
                    assert_eq!(again.answer.header("x-withheld"), *shown, "{resource}: {}", again.answer.text);
                    for (member, value) in first.data.as_object().unwrap() {
                        let expected = if Some(member.as_str()) == *shown { &Value::Null } else { value };
                        assert_eq!(&again.data[member], expected, "{resource}: {member}");
                    }
                }
                if let Some(shown) = shown {
                    assert!(first.data[*shown].is_string(), "{resource}: {}", first.data);
                }
            }
        }
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
        // Not asked for before it is confirmed.
        assert_eq!(login(server, email, PASSWORD, None).0, 200);
        assert_eq!(own("POST", "/totp-confirmation", json!({"code": "000 00"}))["status"], 409);
        let now = this_step();
        let confirmed = own("POST", "/totp-confirmation", json!({"code": code(&secret, now)}));
        assert_eq!((&confirmed["status"], &payload(&confirmed)["twoFactorEnabled"], &payload(&confirmed)["authenticator"]), (&json!(200), &json!(true), &Value::Null));
        assert_eq!(login(server, email, PASSWORD, None).1, "totp_required");
        let wrong = login(server, email, PASSWORD, Some("000000"));
        assert_eq!((wrong.0, wrong.1.as_str()), (401, "unauthenticated"));
        assert_eq!(wrong.2, login(server, email, "not the password", Some("000000")).2);
        // The code that confirmed is spent, the next one is good once.
        assert_eq!(login(server, email, PASSWORD, Some(&code(&secret, now))).0, 401);
        let next = next_step(now);
        assert_eq!(login(server, email, PASSWORD, Some(&code(&secret, next))).0, 200);
        assert_eq!(login(server, email, PASSWORD, Some(&code(&secret, next))).0, 401);
        let shown = company.ask(Dialect::B, "GET", "users", &format!("/{}", who["id"].as_str().unwrap()), None).expect(200);
        assert_eq!(shown.data["twoFactorEnabled"], true);
        assert!(shown.data["lastLoginAt"].is_string() && !shown.answer.text.contains(&secret));
        let recovering = payload(&confirmed)["recoveryCodes"][0].clone();
        assert_eq!(own("POST", "/totp-removal", json!({"currentPassword": PASSWORD, "code": recovering}))["status"], 200);
        assert_eq!(login(server, email, PASSWORD, None).0, 200);
        // Whoever loses their authenticator asks the operator.
        let secret = payload(&own("POST", "/totp", json!({"currentPassword": PASSWORD})))["authenticator"]["secret"].as_str().unwrap().to_owned();
        assert_eq!(own("POST", "/totp-confirmation", json!({"code": code(&secret, this_step())}))["status"], 200);
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

    fn a_body_that_adds_somebody_is_told_all_that_is_wrong(server) {
        let company = server.company();
        let refused = company.ask(Dialect::A, "POST", "users", "", Some(&json!({
            "email": "no address", "username": "no name", "displayName": " ", "password": "short", "locale": "Deutsch!",
            "memberships": [{"permissionId": "no identifier"}]
        }))).expect(400);
        for place in ["email", "username", "displayName", "password", "locale", "memberships[0].permissionId"] {
            assert!(refused.errors.get(place).is_some(), "{place}: {}", refused.answer.text);
        }
    }
}
