//! What happens to accounts, rights and secrets is told: in the log of security of a running server, and in the
//! installation's own log.

use crate::harness::books::behind_the_back;
use crate::harness::people::fresh_email;
use crate::harness::server::{Company, DIALECTS, OWNER_EMAIL, authorised};
use crate::harness::{Dialect, Options, Request, Server, on_both_engines};
use serde_json::{Value, json};

const PASSWORD: &str = "a person with a password";

/// What the log of security says of a request.
fn told(server: &Server, request_id: &str) -> Vec<Value> {
    let lines = server.log();
    let records = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line of JSON"));
    records.filter(|one| one["target"] == "security" && one["clientRequestId"] == request_id).collect()
}

/// The one event that a request told of.
fn event(server: &Server, request_id: &str) -> Value {
    let mut told = told(server, request_id);
    assert_eq!(told.len(), 1, "{request_id}: {told:?}");
    told.remove(0)
}

/// The installation's log, as a system administrator reads it.
fn log(server: &Server, dialect: Dialect, query: &str) -> Vec<Value> {
    let path = if dialect == Dialect::A { "/a/api/InstallationLog" } else { "/b/api/installation-log" };
    let request = authorised(Request::new("GET", &format!("{path}?pageSize=500{query}")), server.token());
    let said = server.send(&request).expect(200).json();
    let page = if dialect == Dialect::A { &said["data"] } else { &said };
    page["items"].as_array().expect("records").clone()
}

on_both_engines! {
    fn each_event_says_who_what_and_where(server) {
        for level in ["info", "error"] {
            let arguments = ["--set", "Logging:Format=json", "--set"].map(str::to_owned).into_iter().chain([format!("Logging:Level={level}")]);
            let server = &Server::start(server.engine, Options { arguments: arguments.collect(), ..Options::default() }).unwrap();
            let company = server.company();
            let owner = company.ask(Dialect::B, "GET", "users", "", None).expect(200).data["items"][0]["id"].clone();
            let mut turn = 0;
            let mut ask = |by: &Company<'_>, method: &str, resource: &str, path: &str, body: Option<Value>, status: u16| {
                turn += 1;
                let (dialect, id) = (DIALECTS[turn % 2], format!("r-{turn}"));
                let request = by.request(dialect, method, resource, path).header("X-Request-Id", &id);
                let request = match &body { Some(body) => request.json(body), None => request };
                let answer = server.send(&request).expect(status);
                let event = event(server, &id);
                assert_eq!((&event["business"], &event["address"], &event["dialect"]), (&json!(by.id), &json!("127.0.0.1"), &json!(format!("{dialect:?}"))), "{event}");
                let is_json = answer.header("content-type").is_some_and(|kind| kind.starts_with("application/json"));
                let data = if is_json { answer.json() } else { Value::Null };
                (event, if data.get("data").is_some() { data["data"].clone() } else { data })
            };
            let is = |event: &Value, name: &str, by: &Value| assert_eq!((&event["event"], &event["user"]), (&json!(name), by), "{event}");
            // Invitations, members, sets, keys.
            let email = fresh_email("watched");
            let invite = json!({"email": email, "displayName": "Watched", "memberships": [{"permissionId": company.permission("sales")}]});
            let (made, invited) = ask(&company, "POST", "users", "", Some(invite.clone()), 201);
            is(&made, "invitation_made", &owner);
            assert_eq!(made["record"], invited["id"]);
            let path = format!("/{}", invited["id"].as_str().unwrap());
            let (again, invited) = ask(&company, "POST", "users", &format!("{path}/invitation"), None, 200);
            is(&again, "invitation_changed", &owner);
            let accept = json!({"password": PASSWORD});
            let request = Request::new("POST", "/b/api/auth/accept-invitation").header("X-Request-Id", "wrong");
            server.send(&authorised(request, "join_x").json(&accept)).expect(401);
            assert_eq!((&event(server, "wrong")["event"], &event(server, "wrong")["who"]), (&json!("invitation_refused"), &json!("stranger")));
            let request = Request::new("POST", "/a/api/Users/accept-invitation").header("X-Request-Id", "right");
            let code = invited["invitationCode"].as_str().unwrap();
            server.send(&authorised(request, code).json(&accept)).expect(200);
            let names: Vec<Value> = told(server, "right").iter().map(|one| one["event"].clone()).collect();
            assert_eq!(names, [json!("account_changed"), json!("invitation_accepted")]);
            assert!(told(server, "right").iter().all(|one| one["user"] == invited["id"]));
            let member = Company { token: server.login(&email, PASSWORD), ..company.clone() };
            let (denied, _) = ask(&member, "GET", "users", "", None, 403);
            is(&denied, "denied", &invited["id"]);
            assert_eq!((&denied["operation"], &denied["why"]), (&json!("usersList"), &json!("You need the permission user.view for this")));
            let mut seen = company.ask(Dialect::B, "GET", "users", &path, None).expect(200).data;
            seen["memberships"][0]["permissionId"] = company.permission("owner").into();
            is(&ask(&company, "PUT", "users", &path, Some(seen), 200).0, "member_changed", &owner);
            let (set, made) = ask(&company, "POST", "permissions", "", Some(json!({"name": "Few", "grants": []})), 201);
            is(&set, "permissions_changed", &owner);
            let path_of_set = format!("/{}", made["id"].as_str().unwrap());
            is(&ask(&company, "DELETE", "permissions", &path_of_set, None, 200).0, "permissions_changed", &owner);
            let (key, made) = ask(&company, "POST", "apiKeys", "", Some(json!({"name": "Watched", "allowedAddresses": ["203.0.113.9"]})), 201);
            is(&key, "key_made", &owner);
            let elsewhere = Company { token: made["secret"].as_str().unwrap().to_owned(), ..company.clone() };
            elsewhere.ask(Dialect::A, "GET", "parties", "", None).expect(403);
            assert!(server.log().lines().any(|line| line.contains("key_misused") && line.contains(made["id"].as_str().unwrap())));
            let of_key = format!("/{}", made["id"].as_str().unwrap());
            is(&ask(&company, "DELETE", "apiKeys", &of_key, None, 200).0, "key_ended", &owner);
            let (refused, _) = ask(&elsewhere, "GET", "parties", "", None, 401);
            assert_eq!((&refused["event"], &refused["who"]), (&json!("token_refused"), &json!("stranger")));
            // What leaves as a file.
            is(&ask(&company, "GET", "auditLog", "/export", None, 200).0, "exported", &owner);
            is(&ask(&company, "DELETE", "users", &path, None, 200).0, "member_removed", &owner);
            let (_, invited) = ask(&company, "POST", "users", "", Some(json!({"email": fresh_email("x"), "displayName": "x", "memberships": invite["memberships"]})), 201);
            is(&ask(&company, "DELETE", "users", &format!("/{}", invited["id"].as_str().unwrap()), None, 200).0, "invitation_withdrawn", &owner);
            // A rehearsal tells nothing, since nothing happened.
            let rehearsed = company.request(Dialect::B, "POST", "users", "?dryRun=true").header("X-Request-Id", "rehearsed").json(&invite);
            server.send(&rehearsed).expect(201);
            assert!(told(server, "rehearsed").is_empty());
            // Log-ins.
            let login = |id: &str, name: &str, password: &str| {
                let request = Request::new("POST", "/b/api/auth/login").header("X-Request-Id", id);
                server.send(&request.json(&json!({"email": name, "password": password}))).status
            };
            assert_eq!(login("in", &email, PASSWORD), 200);
            is(&event(server, "in"), "logged_in", &member_id(&made_by(server, &email)));
            assert_eq!(login("out", OWNER_EMAIL, "wrong"), 401);
            assert_eq!((&event(server, "out")["event"], &event(server, "out")["record"]), (&json!("log_in_failed"), &owner));
            assert_eq!(login("nobody", "a password typed as a name", "wrong"), 401);
            assert_eq!((&event(server, "nobody")["event"], &event(server, "nobody")["record"]), (&json!("log_in_failed"), &Value::Null));
            let change = json!({"currentPassword": PASSWORD, "newPassword": "another good password"});
            let own = |id: &str| authorised(Request::new("POST", "/b/api/auth/me/password"), &member.token).header("X-Request-Id", id);
            server.send(&own("unsure").json(&json!({"currentPassword": "x", "newPassword": "another good password"}))).expect(400);
            server.send(&own("changed").json(&change)).expect(200);
            let changed = event(server, "changed");
            assert_eq!((&changed["event"], &changed["why"]), (&json!("account_changed"), &json!("password")));
            assert!(server.log().contains("confirmation_failed"));
            assert!(!server.log().contains("typed as a name") && !server.log().contains(PASSWORD));
        }
    }

    fn guesses_that_are_held_up_and_throttled_callers_are_told(server) {
        let custom = Some(r#"{"Limits": {"RequestsPerMinute": 40}, "Logging": {"Format": "json"}}"#.to_owned());
        let server = &Server::start(server.engine, Options { custom, ..Options::default() }).unwrap();
        let company = server.company();
        let owner = company.ask(Dialect::B, "GET", "users", "", None).expect(200).data["items"][0]["id"].clone();
        let last = (0..60).map(|turn| {
            let request = company.request(Dialect::A, "GET", "parties", "").header("X-Request-Id", &format!("t-{turn}"));
            (server.send(&request).status, turn)
        }).find(|(status, _)| *status == 429);
        let throttled = event(server, &format!("t-{}", last.expect("a limit").1));
        assert_eq!((&throttled["event"], &throttled["user"], &throttled["business"]), (&json!("throttled"), &owner, &json!(company.id)));
        let mut held = None;
        for turn in 0..25 {
            let request = Request::new("POST", "/a/api/Users/login").header("X-Request-Id", &format!("g-{turn}"));
            if server.send(&request.json(&json!({"credential": "somebody", "password": "wrong"}))).status == 429 {
                held = Some(turn);
                break;
            }
        }
        let held = event(server, &format!("g-{}", held.expect("a limit")));
        assert_eq!((&held["event"], &held["who"], &held["address"]), (&json!("log_in_held_up"), &json!("stranger"), &json!("127.0.0.1")));
    }

    fn a_request_line_says_who_asked_and_where(server) {
        let arguments = ["--set", "Logging:Format=json"].map(str::to_owned).to_vec();
        let server = &Server::start(server.engine, Options { arguments, ..Options::default() }).unwrap();
        let company = server.company();
        let key = company.ask(Dialect::B, "POST", "apiKeys", "", Some(&json!({"name": "x"}))).expect(201).data;
        let program = Company { token: key["secret"].as_str().unwrap().to_owned(), ..company.clone() };
        for dialect in DIALECTS {
            // Once asked, once known.
            for id in ["one", "two"] {
                let id = format!("{id}-{dialect:?}");
                server.send(&program.request(dialect, "GET", "parties", "").header("X-Request-Id", &id)).expect(200);
                let log = server.log();
                let line = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).find(|one| one["message"] == "request" && one["clientRequestId"] == id).unwrap();
                assert_eq!((&line["business"], &line["key"], &line["user"]), (&json!(company.id), &key["id"], &key["userId"]));
            }
        }
    }

    fn what_happens_to_people_stands_in_the_installations_log(server) {
        // One of its own: what is behind its back is no good for others.
        let server = &Server::start(server.engine, Options::default()).unwrap();
        let company = server.company();
        let email = fresh_email("logged");
        let (who, member) = company.joined(&email, &company.permission("owner"), PASSWORD);
        let key = member.ask(Dialect::A, "POST", "apiKeys", "", Some(&json!({"name": "Logged"}))).expect(201).data;
        company.ask(Dialect::B, "DELETE", "users", &format!("/{}", who["id"].as_str().unwrap()), None).expect(200);
        for words in [
            vec!["user", "add", "--email", "by.hand@example.test", "--admin", "--password-stdin"],
            vec!["user", "passwd", "by.hand@example.test", "--password-stdin"], vec!["user", "disable", "by.hand@example.test"],
            vec!["user", "enable", "by.hand@example.test"], vec!["user", "reset-totp", "by.hand@example.test"],
            vec!["user", "role", "by.hand@example.test", "--business", &company.id, "--role", "sales"],
        ] {
            let done = server.command(&words, "another good password");
            assert!(done.status.success(), "{words:?} {}", String::from_utf8_lossy(&done.stderr));
        }
        for dialect in DIALECTS {
            let of = |resource: &str| log(server, dialect, &format!("&resource={resource}"));
            let users: Vec<String> = of("users").iter().map(|one| format!("{} {}", one["action"].as_str().unwrap(), one["actor"]["userId"].is_string())).collect();
            assert_eq!(users, ["created true", "updated true", "deleted true", "created false"]);
            assert!(of("users").iter().all(|one| one["after"].is_null() || one["after"]["businessId"] == company.id));
            let keys: Vec<Value> = log(server, dialect, &format!("&resourceId={}", key["id"].as_str().unwrap())).iter().map(|one| json!([one["action"], one["resourceId"]])).collect();
            assert_eq!(keys, [json!(["created", key["id"]]), json!(["deleted", key["id"]])]);
            let accounts: Vec<Value> = of("profile").iter().map(|one| one["after"].clone()).collect();
            let told = |one: &Value| one["changed"].as_str().map_or_else(|| format!("made {} {}", one["email"].as_str().unwrap(), one["isSystemAdmin"]), str::to_owned);
            let first = format!("made {OWNER_EMAIL} true");
            let second = format!("made {email} false");
            assert_eq!(accounts.iter().map(told).collect::<Vec<_>>(), [first.as_str(), &second, "made by.hand@example.test true", "password", "status", "status", "twoFactorReset"]);
            assert_eq!(of("businesses").len(), 1);
            assert!(log(server, dialect, "").iter().all(|one| !one.to_string().contains(PASSWORD) && !one.to_string().contains("argon2")));
            // Not for the owner of a company, nor for a key of whom it is for.
            let own = company.ask(dialect, "POST", "apiKeys", "", Some(&json!({"name": format!("{dialect:?}")}))).expect(201).data;
            let path = if dialect == Dialect::A { "/a/api/InstallationLog" } else { "/b/api/installation-log" };
            for (token, status) in [(member.token.as_str(), 403), (own["secret"].as_str().unwrap(), 403), (server.token(), 200)] {
                for rest in ["", "/verify"] {
                    assert_eq!(server.send(&authorised(Request::new("GET", &format!("{path}{rest}")), token)).status, status);
                }
            }
        }
        let printed = server.command(&["log"], "");
        let printed = String::from_utf8(printed.stdout).unwrap();
        let lines: Vec<Value> = printed.lines().filter(|line| !line.is_empty()).map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines, log(server, Dialect::B, ""));
        assert!(lines.iter().zip(1..).all(|(line, place)| line["sequence"] == place), "{lines:?}");
        assert!(server.command(&["verify"], "").status.success());
        // It is append-only, and a hand behind its back is seen.
        let nobody = if server.engine == crate::harness::Engine::Postgres { "'00000000-0000-0000-0000-000000000000'" } else { "X'00000000000000000000000000000000'" };
        assert!(behind_the_back(server, &[format!("UPDATE audit_log SET action = 'x' WHERE business_id = {nobody}")]).is_err());
        behind_the_back(server, &[format!("UPDATE books SET audit_sequence = audit_sequence - 1 WHERE business_id = {nobody}")]).unwrap();
        let proof = server.command(&["verify"], "");
        assert!(!proof.status.success() && String::from_utf8_lossy(&proof.stdout).contains("the installation\n  FAILED"), "{}", String::from_utf8_lossy(&proof.stdout));
    }
}

/// The account with an address.
fn made_by(server: &Server, email: &str) -> Value {
    let token = server.login(email, PASSWORD);
    server.send(&authorised(Request::new("GET", "/b/api/auth/me"), &token)).expect(200).json()
}

fn member_id(profile: &Value) -> Value {
    profile["id"].clone()
}

on_both_engines! {
    fn nobody_writes_lines_of_others_requests(server) {
        let arguments = ["--set", "Logging:Format=json"].map(str::to_owned).to_vec();
        let server = &Server::start(server.engine, Options { arguments, ..Options::default() }).unwrap();
        let company = server.company();
        let lines = |client: &str| -> Vec<Value> {
            let log = server.log();
            let records = log.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line of JSON"));
            records.filter(|one| one["clientRequestId"] == client).collect()
        };
        let plain = server.send(&company.request(Dialect::A, "GET", "parties", "")).expect(200);
        let victim = plain.header("x-request-id").unwrap().to_owned();
        // Somebody calls their requests by the server's name of another.
        let wild = format!("{}{}", r#"evil" level="error"#, "x".repeat(200));
        for (client, shown) in [(victim.as_str(), victim.as_str()), ("import-7", "import-7"), (&wild, &format!("{}\u{2026}", &wild[..64]))] {
            for dialect in DIALECTS {
                let request = company.request(dialect, "POST", "parties", "").header("X-Request-Id", client);
                let answer = server.send(&request.json(&json!({"name": "Elbe Books", "isCustomer": true}))).expect(201);
                let told = answer.header("x-request-id").unwrap();
                assert!(told == client || told.len() == 36 && client == wild, "{told}");
                let party = crate::harness::server::Said::of(dialect, answer);
                let record = company.ask(dialect, "GET", "auditLog", &format!("?resourceId={}", party.id()), None).expect(200).data["items"][0].clone();
                assert_eq!(record["clientRequestId"], shown);
                let own = record["requestId"].as_str().unwrap();
                assert!(own.len() == 36 && own != victim, "{own}");
                assert!(lines(shown).iter().any(|line| line["request_id"] == own && line["status"] == 201));
            }
        }
        // The name that only the server gives leads to one request.
        let log = server.log();
        let of_victim = log.lines().filter(|line| serde_json::from_str::<Value>(line).unwrap()["request_id"] == victim.as_str());
        assert_eq!(of_victim.count(), 1);
        assert_eq!(company.ask(Dialect::B, "GET", "auditLog", &format!("?requestId={victim}"), None).expect(200).data["pagination"]["totalCount"], 0);
    }
}
