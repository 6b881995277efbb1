//! Signing in: sessions, passwords, guesses, keys, second factors, and files that are their owner's alone.

use crate::harness::books::{behind_the_back, connected};
use crate::harness::people::{ACCEPT, code, fresh_email, next_step, this_step};
use crate::harness::process::{eventually, fresh_folder};
use crate::harness::server::{Company, DIALECTS, OWNER_EMAIL, OWNER_PASSWORD, Said, authorised, run};
use crate::harness::{Dialect, Engine, Options, Request, Server, on_both_engines};
use sea_orm::{ConnectionTrait, Statement};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;

pub(crate) const PASSWORD: &str = "a person with a password";
const ANOTHER: &str = "lanterns over the harbour";

/// What somebody asks of their own account.
pub(crate) fn own(
    server: &Server,
    dialect: Dialect,
    token: &str,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> Said {
    let base = if dialect == Dialect::A { "/a/api/Users/me" } else { "/b/api/auth/me" };
    let request = authorised(Request::new(method, &format!("{base}{path}")), token);
    Said::of(dialect, server.send(&body.map_or(request.clone(), |body| request.json(body))))
}

fn status(server: &Server, dialect: Dialect, token: &str) -> u16 {
    own(server, dialect, token, "GET", "", None).status
}

/// A log-in from an address, as a trusted proxy tells it.
pub(crate) fn login_from(server: &Server, dialect: Dialect, address: &str, credentials: &Value) -> Said {
    let (path, field) = match dialect {
        Dialect::A => ("/a/api/Users/login", "credential"),
        Dialect::B => ("/b/api/auth/login", "email"),
    };
    let mut body = credentials.clone();
    body[field] = body["name"].take();
    body.as_object_mut().unwrap().remove("name");
    let request = Request::new("POST", path).header("X-Forwarded-For", address).header("User-Agent", "tests/1");
    Said::of(dialect, server.send(&request.json(&body)))
}

pub(crate) fn guess(server: &Server, address: &str, name: &str) -> u16 {
    login_from(server, Dialect::B, address, &json!({"name": name, "password": "wrong"})).status
}

pub(crate) fn trusting(engine: Engine) -> Server {
    let arguments = ["--set", "TrustedProxies=127.0.0.1"].map(str::to_owned).to_vec();
    Server::start(engine, Options { arguments, ..Options::default() }).unwrap()
}

/// Adds somebody by the command line, and answers their address.
pub(crate) fn added(server: &Server, more: &[&str]) -> String {
    let email = fresh_email("added");
    let mut words = vec!["user", "add", "--email", &email, "--password-stdin"];
    words.extend(more);
    let done = server.command(&words, &format!("{PASSWORD}\n"));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    email
}

pub(crate) fn said(server: &Server, words: &[&str], input: &str) -> String {
    let done = server.command(words, input);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// A text of each row that a statement finds, read behind the server's back.
pub(crate) fn texts(server: &Server, sql: &str) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let database = connected(server.database_url()).await.unwrap();
        let asked = Statement::from_string(database.get_database_backend(), sql);
        let rows = database.query_all_raw(asked).await.unwrap();
        let found = rows.iter().map(|row| row.try_get_by_index::<Option<String>>(0).unwrap().unwrap_or_default());
        let found = found.collect();
        database.close().await.unwrap();
        found
    })
}

/// A key that somebody makes in a company, and the path of it.
fn key_of<'s>(company: &Company<'s>, email: &str, name: &str) -> (Company<'s>, String) {
    let member = Company { token: company.server.login(email, PASSWORD), ..company.clone() };
    let made = member.ask(Dialect::B, "POST", "apiKeys", "", Some(&json!({"name": name}))).expect(201).data;
    let program = Company { token: made["secret"].as_str().unwrap().to_owned(), ..company.clone() };
    (program, format!("/{}", made["id"].as_str().unwrap()))
}

/// Turns a second factor on. The secret, the step whose code is spent, and the recovery codes.
pub(crate) fn with_authenticator(server: &Server, email: &str) -> (String, u64, Vec<String>) {
    let token = server.login(email, PASSWORD);
    let body = json!({"currentPassword": PASSWORD});
    let begun = own(server, Dialect::A, &token, "POST", "/totp", Some(&body)).expect(200);
    assert!(begun.data["recoveryCodes"].is_null());
    let secret = begun.data["authenticator"]["secret"].as_str().unwrap().to_owned();
    let now = this_step();
    let confirm = json!({"code": code(&secret, now)});
    let confirmed = own(server, Dialect::B, &token, "POST", "/totp-confirmation", Some(&confirm)).expect(200);
    assert_eq!(confirmed.data["recoveryCodesLeft"], 10);
    let codes = confirmed.data["recoveryCodes"].as_array().unwrap();
    (secret, now, codes.iter().map(|code| code.as_str().unwrap().to_owned()).collect())
}

/// Somebody with a second factor, and codes to recover with.
pub(crate) fn with_recovery_codes(server: &Server) {
    with_authenticator(server, &added(server, &[]));
}

on_both_engines! {
    fn a_session_is_seen_and_ended_and_its_token_with_it(server) {
        for dialect in DIALECTS {
            let email = added(server, &[]);
            let credentials = json!({"name": email, "password": PASSWORD});
            let token = |dialect: Dialect| {
                let said = login_from(server, dialect, "10.0.0.1", &credentials).expect(200);
                said.data.get("token").or(said.data.get("accessToken")).unwrap().as_str().unwrap().to_owned()
            };
            let tokens: Vec<String> = DIALECTS.into_iter().chain(DIALECTS).map(token).collect();
            let list = |token: &str| own(server, dialect, token, "GET", "/sessions", None).expect(200).data["items"].as_array().unwrap().clone();
            let listed = list(&tokens[3]);
            assert_eq!(listed.len(), 4);
            // The last comes first, and is the one that asks.
            let current: Vec<bool> = listed.iter().map(|one| one["current"].as_bool().unwrap()).collect();
            assert_eq!(current, [true, false, false, false]);
            for one in &listed {
                assert_eq!((&one["address"], &one["agent"]), (&json!(server.is_asked_from()), &json!("tests/1")));
                assert!(one["createdAt"].as_str() < one["expiresAt"].as_str() && one["lastSeenAt"].is_string());
            }
            // One ends, at once and alone, in both dialects.
            let first = listed[3]["id"].as_str().unwrap();
            own(server, dialect, &tokens[3], "DELETE", &format!("/sessions/{first}"), None).expect(200);
            own(server, dialect, &tokens[3], "DELETE", &format!("/sessions/{first}"), None).expect(404);
            for other in DIALECTS {
                let over = own(server, other, &tokens[0], "GET", "", None).expect(401);
                assert_eq!(over.code.as_deref(), Some("unauthenticated"));
                assert_eq!(status(server, other, &tokens[1]), 200);
            }
            // Nobody ends another's.
            let stranger = server.login(&added(server, &[]), PASSWORD);
            let second = listed[2]["id"].as_str().unwrap();
            own(server, dialect, &stranger, "DELETE", &format!("/sessions/{second}"), None).expect(404);
            assert_eq!(list(&tokens[3]).len(), 3);
            // All others.
            let left = own(server, dialect, &tokens[3], "POST", "/sessions/end-others", None).expect(200);
            assert_eq!((&left.data["current"], &left.data["id"]), (&json!(true), &listed[0]["id"]));
            assert_eq!([&tokens[1], &tokens[2], &tokens[3]].map(|token| status(server, dialect, token)), [401, 401, 200]);
            // And this one.
            own(server, dialect, &tokens[3], "POST", "/logout", None).expect(200);
            assert_eq!(status(server, dialect, &tokens[3]), 401);
            assert_eq!(list(&server.login(&email, PASSWORD)).len(), 1);
        }
    }

    fn sessions_whose_time_is_over_are_forgotten(server) {
        let server = &Server::start(server.engine, Options::default()).unwrap();
        let email = added(server, &[]);
        let kept = || texts(server, "SELECT CAST(made_at AS TEXT) FROM sessions").len();
        let tokens = [server.login(&email, PASSWORD), server.login(&email, PASSWORD)];
        let before = kept();
        behind_the_back(server, &["UPDATE sessions SET ends_at = made_at".into()]).unwrap();
        let listed = own(server, Dialect::B, &tokens[0], "GET", "/sessions", None).expect(200).data;
        assert_eq!(listed["items"], json!([]));
        server.login(&email, PASSWORD);
        assert_eq!((before >= 2, kept()), (true, 1));
    }

    fn what_changes_an_account_ends_its_sessions(server) {
        let company = server.company();
        let email = added(server, &["--business", &company.id, "--role", "sales"]);
        let opened = || server.login(&email, PASSWORD);
        let member = {
            let found = company.ask(Dialect::B, "GET", "users", &format!("?email={email}"), None).expect(200);
            found.data["items"][0].clone()
        };
        let path = format!("/{}", member["id"].as_str().unwrap());
        let set = |by: &Company<'_>, status: &str| {
            let mut body = by.ask(Dialect::B, "GET", "users", &path, None).expect(200).data;
            body["status"] = status.into();
            by.ask(Dialect::B, "PUT", "users", &path, Some(&body))
        };
        let own_password = |from: &str, to: &str| {
            let body = json!({"currentPassword": from, "newPassword": to});
            own(server, Dialect::A, &server.login(&email, from), "POST", "/password", Some(&body)).expect(200);
        };
        let ways: [(&str, &dyn Fn()); 5] = [
            ("a password of one's own", &|| { own_password(PASSWORD, ANOTHER); own_password(ANOTHER, PASSWORD); }),
            ("a reset", &|| { said(server, &["user", "passwd", &email, "--password-stdin"], PASSWORD); }),
            ("a second factor that is reset", &|| { said(server, &["user", "reset-totp", &email], ""); }),
            ("the operator", &|| { assert!(said(server, &["user", "logout", &email], "").contains("ended 2 sessions")); }),
            ("disabling", &|| { said(server, &["user", "disable", &email], ""); said(server, &["user", "enable", &email], ""); }),
        ];
        for (way, end) in ways {
            let tokens = [opened(), opened()];
            end();
            for (token, dialect) in tokens.iter().zip(DIALECTS) {
                assert_eq!(status(server, dialect, token), 401, "{way}");
            }
            let listed = own(server, Dialect::B, &opened(), "GET", "/sessions", None).expect(200);
            assert_eq!(listed.data["items"].as_array().unwrap().len(), 1, "{way}");
            said(server, &["user", "logout", &email], "");
        }
        // By the API, by whoever administers the installation. The owner of their only company does not: the operator opened it.
        let token = opened();
        let owner = added(server, &["--business", &company.id, "--role", "owner"]);
        let owner = Company { token: server.login(&owner, PASSWORD), ..company.clone() };
        set(&owner, "disabled").expect(403);
        assert_eq!(status(server, Dialect::A, &token), 200);
        set(&company, "disabled").expect(200);
        set(&company, "active").expect(200);
        assert_eq!(status(server, Dialect::A, &token), 401);
    }

    fn who_was_given_a_password_chooses_another_first(server) {
        let company = server.company();
        for dialect in DIALECTS {
            let email = added(server, &["--business", &company.id, "--role", "owner"]);
            let before = Company { token: server.login(&email, PASSWORD), ..company.clone() };
            let key = before.ask(dialect, "POST", "apiKeys", "", Some(&json!({"name": email}))).expect(201).data;
            let program = Company { token: key["secret"].as_str().unwrap().to_owned(), ..company.clone() };
            // Answered before, and so remembered.
            program.ask(dialect, "GET", "parties", "", None).expect(200);
            said(server, &["user", "passwd", &email, "--password-stdin", "--must-change", "--keep-keys"], ANOTHER);
            let token = server.login(&email, ANOTHER);
            let member = Company { token: token.clone(), ..company.clone() };
            for caller in [&member, &program] {
                for (method, resource, body) in [("GET", "parties", None), ("GET", "businesses", None), ("GET", "users", None), ("POST", "parties", Some(json!({"name": "x", "isCustomer": true})))] {
                    let refused = caller.ask(dialect, method, resource, "", body.as_ref()).expect(403);
                    assert_eq!(refused.code.as_deref(), Some("password_change_required"), "{method} {resource}");
                    assert!(refused.title.contains("me/password"), "{}", refused.title);
                }
                assert_eq!(own(server, dialect, &caller.token, "GET", "", None).expect(200).data["mustChangePassword"], true);
            }
            own(server, dialect, &token, "GET", "/sessions", None).expect(403);
            own(server, dialect, &token, "POST", "/totp", Some(&json!({"currentPassword": ANOTHER}))).expect(403);
            let page = authorised(Request::new("POST", "/compare/api/about"), &token).json(&json!({}));
            let page = server.send(&page).expect(403);
            assert_eq!(page.header("x-error-code"), Some("password_change_required"));
            own(server, dialect, &token, "POST", "/logout", None).expect(200);
            let token = server.login(&email, ANOTHER);
            let change = json!({"currentPassword": ANOTHER, "newPassword": "somewhere a kettle sings"});
            own(server, dialect, &token, "POST", "/password", Some(&change)).expect(200);
            let member = Company { token: server.login(&email, "somewhere a kettle sings"), ..company.clone() };
            member.ask(dialect, "GET", "parties", "", None).expect(200);
            program.ask(dialect, "GET", "parties", "", None).expect(200);
        }
    }

    fn every_door_wants_a_password_that_is_hard_to_guess(server) {
        let company = server.company_like(json!({"name": "Quillfeather Holdings", "baseCurrency": "EUR"}));
        let weak = ["123456789012", "qwertyuiop12", "aaaaaaaaaaaa", "passwordpassword", "P@ssw0rd1234", "Summer2026!!", "Welcome2026!", "letmein12345"];
        let email = added(server, &["--business", &company.id, "--role", "sales"]);
        let token = server.login(&email, PASSWORD);
        let whose = [email.as_str(), "Quillfeather Holdings"];
        let change = |dialect: Dialect, new: &str| own(server, dialect, &token, "POST", "/password", Some(&json!({"currentPassword": PASSWORD, "newPassword": new})));
        for (place, new) in weak.iter().chain(&whose).enumerate() {
            let refused = change(DIALECTS[place % 2], new).expect(400);
            assert!(refused.errors["newPassword"][0].as_str().unwrap().starts_with("is too easy to guess: "), "{}", refused.answer.text);
        }
        for new in [String::from("short"), "q".repeat(257)] {
            let refused = change(Dialect::A, &new).expect(400);
            assert_eq!(refused.errors["newPassword"][0], "must be 12 to 256 characters long");
        }
        // Whoever comes in by an invitation, before they are anybody.
        for (dialect, path) in ACCEPT {
            let mail = fresh_email("invited");
            let code = company.invite(dialect, &mail, &company.permission("sales")).expect(201).data["invitationCode"].clone();
            for new in [weak[0], "Quillfeather Holdings", &mail] {
                let request = authorised(Request::new("POST", path), code.as_str().unwrap()).json(&json!({"password": new}));
                let refused = Said::of(dialect, server.send(&request)).expect(400);
                assert!(refused.errors.get("password").is_some(), "{}", refused.answer.text);
            }
        }
        // The operator.
        for new in weak.iter().chain(&whose[..1]) {
            let refused = server.command(&["user", "passwd", &email, "--password-stdin"], new);
            assert!(!refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("too easy to guess"), "{new}");
        }
        let refused = server.command(&["user", "add", "--email", "weak@example.test", "--password-stdin"], weak[1]);
        assert!(!refused.status.success());
        assert_eq!(status(server, Dialect::B, &token), 200, "nothing was changed");
    }

    fn strangers_slow_themselves_down_and_keep_nobody_out(server) {
        let server = &trusting(server.engine);
        let email = added(server, &[]);
        let right = json!({"name": email, "password": PASSWORD});
        login_from(server, Dialect::B, "10.2.0.1", &right).expect(200);
        // One network: ten guesses, and no more. Others go on.
        for number in 0..12 {
            assert_eq!(guess(server, "10.1.0.1", &email), if number < 10 { 401 } else { 429 }, "{number}");
        }
        let waits = login_from(server, Dialect::A, "10.1.0.1", &right).expect(429);
        assert!(waits.answer.header("retry-after").unwrap().parse::<u64>().unwrap() <= 901);
        login_from(server, Dialect::A, "10.2.0.1", &right).expect(200);
        login_from(server, Dialect::B, "10.3.0.1", &right).expect(200);
        // Many networks: from the thirtieth guess on they wait for one another.
        let mut told = Vec::new();
        for number in 0..40 {
            told.push(guess(server, &format!("10.4.{number}.1"), &email));
        }
        assert_eq!((told.iter().filter(|one| **one == 401).count() >= 20, told.last()), (true, Some(&429)), "{told:?}");
        let waits = login_from(server, Dialect::B, "10.5.0.1", &right).expect(429);
        assert!(waits.answer.header("retry-after").unwrap().parse::<u64>().unwrap() <= 61);
        // A code opens nothing where there is no second factor.
        let mut with_code = right.clone();
        with_code["totpCode"] = "000000".into();
        login_from(server, Dialect::B, "10.5.0.1", &with_code).expect(401);
        // Whoever was here before gets in, by either dialect; so do others from wherever strangers are not.
        for (address, dialect) in [("10.2.0.1", Dialect::A), ("10.3.0.1", Dialect::B)] {
            login_from(server, dialect, address, &right).expect(200);
        }
        let other = added(server, &[]);
        login_from(server, Dialect::B, "10.5.0.1", &json!({"name": other, "password": PASSWORD})).expect(200);
        // One network that guesses for many names is told to wait, but for those whom it knows.
        for number in 0..20 {
            guess(server, "10.2.0.1", &format!("somebody-{number}@example.test"));
        }
        assert_eq!(guess(server, "10.2.0.1", "somebody-else@example.test"), 429);
        login_from(server, Dialect::B, "10.2.0.1", &right).expect(200);
        // It is in the database, and survives a restart.
        let kept = texts(server, "SELECT subject FROM login_failures");
        assert!(kept.len() > 20 && kept.iter().all(|subject| subject.len() == 64 && !subject.contains('@')), "{kept:?}");
        assert!(!texts(server, "SELECT place FROM sign_in_places").concat().contains("10.2"));
    }

    fn a_second_factor_waits_for_no_stranger(server) {
        let server = &trusting(server.engine);
        let email = added(server, &[]);
        let (secret, spent, codes) = with_authenticator(server, &email);
        for number in 0..40 {
            guess(server, &format!("10.4.{number}.1"), &email);
        }
        let with = |code: Option<&str>, address: &str| {
            let mut body = json!({"name": email, "password": PASSWORD});
            if let Some(code) = code { body["totpCode"] = code.into(); }
            login_from(server, Dialect::B, address, &body)
        };
        with(None, "10.5.0.1").expect(429);
        with(Some("000000"), "10.5.0.2").expect(401);
        with(Some(&code(&secret, next_step(spent))), "10.5.0.3").expect(200);
        with(Some(&codes[0]), "10.5.0.4").expect(200);
        // Codes are not found by whoever has the password and many addresses.
        let mut told = BTreeSet::new();
        for number in 0..30 {
            told.insert(with(Some("000000"), &format!("10.6.{number}.1")).status);
        }
        assert_eq!(told, BTreeSet::from([401, 429]));
        with(Some(&codes[1]), "10.5.0.4").expect(200);
    }

    fn recovery_codes_are_each_good_once(server) {
        let server = &Server::start(server.engine, Options::default()).unwrap();
        let email = added(server, &[]);
        let (secret, spent, codes) = with_authenticator(server, &email);
        assert_eq!((codes.len(), codes.iter().collect::<BTreeSet<_>>().len()), (10, 10));
        assert!(codes.iter().all(|code| code.len() == 19), "{codes:?}");
        let with = |dialect: Dialect, code: &str| login_from(server, dialect, "127.0.0.1", &json!({"name": email, "password": PASSWORD, "totpCode": code}));
        let token = with(Dialect::B, &codes[0]).expect(200).data["token"].as_str().unwrap().to_owned();
        with(Dialect::A, &codes[0]).expect(401);
        with(Dialect::A, &codes[1].to_uppercase().replace('-', " ")).expect(200);
        with(Dialect::B, "aaaa-bbbb-cccc-dddd").expect(401);
        let page = json!({"login": email, "password": PASSWORD, "totpCode": codes[2]});
        server.send(&Request::new("POST", "/compare/api/sign-in").json(&page)).expect(200);
        let seen = own(server, Dialect::A, &token, "GET", "", None).expect(200).data;
        assert_eq!((&seen["recoveryCodesLeft"], &seen["recoveryCodes"]), (&json!(7), &Value::Null));
        // New ones void the old; nobody makes them without the password and one of the old, or a code.
        own(server, Dialect::A, &token, "POST", "/recovery-codes", Some(&json!({"currentPassword": "not the password", "code": codes[4]}))).expect(400);
        let renewed = own(server, Dialect::A, &token, "POST", "/recovery-codes", Some(&json!({"currentPassword": PASSWORD, "code": codes[4]}))).expect(200).data;
        let fresh = renewed["recoveryCodes"][0].as_str().unwrap();
        with(Dialect::B, &codes[3]).expect(401);
        with(Dialect::B, fresh).expect(200);
        // Neither they nor the secret can be read in the database.
        let kept = [texts(server, "SELECT digest FROM recovery_codes"), texts(server, "SELECT totp_hidden FROM sign_ins"), texts(server, "SELECT totp_secret FROM sign_ins WHERE totp_secret IS NOT NULL")];
        assert_eq!((kept[0].len(), kept[2].len()), (9, 0));
        let all = kept.concat().concat();
        assert!(!all.contains(&secret) && !all.contains(fresh) && !all.contains(&fresh.replace('-', "")));
        // Without an authenticator there is nothing to recover.
        own(server, Dialect::B, &token, "POST", "/totp-removal", Some(&json!({"currentPassword": PASSWORD, "code": renewed["recoveryCodes"][1]}))).expect(200);
        assert_eq!(texts(server, "SELECT digest FROM recovery_codes").len(), 0);
        own(server, Dialect::B, &token, "POST", "/recovery-codes", Some(&json!({"currentPassword": PASSWORD}))).expect(409);
        assert!(spent > 0);
    }

    fn secrets_that_were_kept_openly_are_hidden_at_the_next_start(server) {
        let server = Server::start(server.engine, Options::default()).unwrap();
        let email = added(&server, &[]);
        let (secret, spent, _) = with_authenticator(&server, &email);
        behind_the_back(&server, &[format!("UPDATE sign_ins SET totp_secret = '{secret}', totp_hidden = NULL WHERE totp_on")]).unwrap();
        let server = server.restarted();
        assert!(texts(&server, "SELECT totp_secret FROM sign_ins WHERE totp_secret IS NOT NULL").is_empty());
        let hidden = texts(&server, "SELECT totp_hidden FROM sign_ins WHERE totp_on");
        assert!(hidden.len() == 1 && !hidden[0].contains(&secret));
        let with = json!({"name": email, "password": PASSWORD, "totpCode": code(&secret, next_step(spent))});
        login_from(&server, Dialect::B, "127.0.0.1", &with).expect(200);
    }

    fn nobody_hashes_without_bound(server) {
        let server = &Server::start(server.engine, Options::default()).unwrap();
        let tokens: Vec<String> = (0..2).map(|_| server.login(&added(server, &[]), PASSWORD)).collect();
        let body = json!({"currentPassword": "not the password", "newPassword": ANOTHER});
        let mut told: Vec<u16> = std::thread::scope(|scope| {
            let ask = || own(server, Dialect::B, &tokens[0], "POST", "/password", Some(&body)).status;
            let asking: Vec<_> = (0..120).map(|_| scope.spawn(ask)).collect();
            asking.into_iter().map(|one| one.join().unwrap()).collect()
        });
        told.sort_unstable();
        // Ten guesses are judged, the rest is told to wait.
        let judged = told.iter().filter(|one| **one == 400).count();
        assert!(judged <= 10 && told[judged..].iter().all(|one| *one == 429), "{told:?}");
        // Somebody else does not wait behind them.
        let change = json!({"currentPassword": PASSWORD, "newPassword": ANOTHER});
        own(server, Dialect::A, &tokens[1], "POST", "/password", Some(&change)).expect(200);
    }

    fn keys_end_with_what_made_them(server) {
        let (company, other) = (server.company(), server.company());
        let email = added(server, &["--business", &company.id, "--role", "owner"]);
        said(server, &["user", "role", &email, "--business", &other.id, "--role", "owner"], "");
        let make = |company, name| key_of(company, &email, name);
        let good = |key: &Company<'_>| DIALECTS.map(|dialect| key.ask(dialect, "GET", "parties", "", None).status);
        // A reset tells of them, and ends them unless it is told not to.
        let ((shop, path), (till, _)) = (make(&company, "Web shop"), make(&other, "Till"));
        let kept = said(server, &["user", "passwd", &email, "--password-stdin", "--keep-keys"], PASSWORD);
        assert!(kept.contains("Web shop") && kept.contains("Till") && kept.contains("still good"), "{kept}");
        assert_eq!([good(&shop), good(&till)], [[200, 200]; 2]);
        let ended = said(server, &["user", "passwd", &email, "--password-stdin"], PASSWORD);
        assert!(ended.contains("Web shop") && ended.contains("Till") && ended.contains("are ended"), "{ended}");
        assert_eq!([good(&shop), good(&till)], [[401, 401]; 2]);
        let shown = company.ask(Dialect::A, "GET", "apiKeys", &path, None).expect(200).data;
        assert!(shown["endedAt"].is_string() && shown["version"] == 2);
        let history = company.ask(Dialect::B, "GET", "apiKeys", &format!("{path}/history"), None).expect(200).data;
        assert_eq!(history["items"].as_array().unwrap().len(), 2);
        assert!(!said(server, &["user", "passwd", &email, "--password-stdin"], PASSWORD).contains("API keys"));
        // Disabled and enabled again.
        let (again, _) = make(&company, "Again");
        assert_eq!(good(&again), [200, 200]);
        said(server, &["user", "disable", &email], "");
        assert_eq!(good(&again), [401, 401]);
        said(server, &["user", "enable", &email], "");
        assert_eq!(good(&again), [401, 401]);
        // Taken out of one company, and added again.
        let ((here, _), (there, _)) = (make(&company, "Here"), make(&other, "There"));
        let member = company.ask(Dialect::B, "GET", "users", &format!("?email={email}"), None).expect(200).data["items"][0].clone();
        company.ask(Dialect::B, "DELETE", "users", &format!("/{}", member["id"].as_str().unwrap()), None).expect(200);
        said(server, &["user", "role", &email, "--business", &company.id, "--role", "auditor"], "");
        assert_eq!([good(&here), good(&there)], [[401, 401], [200, 200]]);
        // A role that is lowered lowers what the key may.
        said(server, &["user", "role", &email, "--business", &other.id, "--role", "auditor"], "");
        there.ask(Dialect::A, "POST", "parties", "", Some(&json!({"name": "x", "isCustomer": true}))).expect(403);
    }

    fn no_key_manages_people(server) {
        for dialect in DIALECTS {
            let company = server.company();
            let made = company.ask(dialect, "POST", "apiKeys", "", Some(&json!({"name": "All that I may"}))).expect(201).data;
            let program = Company { token: made["secret"].as_str().unwrap().to_owned(), ..company.clone() };
            program.ask(dialect, "POST", "parties", "", Some(&json!({"name": "x", "isCustomer": true}))).expect(201);
            program.ask(dialect, "GET", "users", "", None).expect(200);
            let invite = json!({"email": fresh_email("by-key"), "displayName": "x", "memberships": [{"permissionId": company.permission("owner")}]});
            for (resource, body) in [("users", invite), ("apiKeys", json!({"name": "x"})), ("permissions", json!({"name": "x", "grants": []}))] {
                let refused = program.ask(dialect, "POST", resource, "", Some(&body)).expect(403);
                assert!(refused.title.contains("no API key has"), "{}", refused.title);
            }
            let asks = json!({"name": "More", "scopes": [{"resource": "user", "actions": ["view", "create"]}]});
            let refused = company.ask(dialect, "POST", "apiKeys", "", Some(&asks)).expect(400);
            assert!(refused.errors["scopes"][0].as_str().unwrap().contains("user.create"));
            for (method, path) in [("GET", "/sessions"), ("POST", "/logout"), ("POST", "/sessions/end-others"), ("POST", "/recovery-codes")] {
                let body = Some(json!({"currentPassword": OWNER_PASSWORD})).filter(|_| path == "/recovery-codes");
                own(server, dialect, &program.token, method, path, body.as_ref()).expect(403);
            }
        }
    }

    fn wrong_keys_slow_down_and_right_ones_go_on(server) {
        let server = &trusting(server.engine);
        let company = server.company();
        let make = |name: &str| company.ask(Dialect::B, "POST", "apiKeys", "", Some(&json!({"name": name}))).expect(201).data["secret"].as_str().unwrap().to_owned();
        let ask = |key: &str, address: &str| {
            let request = company.request(Dialect::A, "GET", "parties", "").header("X-Forwarded-For", address);
            let headers = request.headers.iter().filter(|(name, _)| name != "Authorization").cloned().collect();
            server.send(&authorised(Request { headers, ..request }, key)).status
        };
        let (known, unknown) = (make("Known"), make("Unknown"));
        assert_eq!(ask(&known, "10.1.0.1"), 200);
        let told: Vec<u16> = (0..60).map(|number| ask(&format!("duet_{number:032}"), "10.1.0.1")).collect();
        assert_eq!((told[29], told[30], told[59]), (401, 429, 429), "{told:?}");
        // Forgotten, as after each change of people, and looked for again.
        make("Another");
        assert_eq!(ask(&known, "10.1.0.1"), 200);
        // One that was never seen here is found beside the guesses; what is no key is not looked for.
        assert_eq!([ask(&unknown, "10.1.0.1"), ask(&unknown, "10.1.0.2"), ask("duet_none", "10.1.0.1")], [200, 200, 429]);
    }

    fn what_is_typed_as_a_name_is_kept_nowhere(server) {
        let server = &Server::start(server.engine, Options::default()).unwrap();
        let typed = "the-password-of-somebody@example.test";
        for (path, field) in [("/a/api/Users/login", "credential"), ("/b/api/auth/login", "email")] {
            server.send(&Request::new("POST", path).json(&json!({field: typed, "password": "wrong"}))).expect(401);
        }
        let kept = texts(server, "SELECT subject FROM login_failures");
        assert!(!kept.is_empty() && kept.iter().all(|subject| !subject.contains("password")), "{kept:?}");
        assert!(!server.log().contains(typed));
    }
}

#[test]
fn a_session_that_ends_on_one_server_is_over_on_another() {
    let Some(servers) = Server::several(2) else { return };
    let token = servers[0].login(OWNER_EMAIL, OWNER_PASSWORD);
    for server in &servers {
        assert_eq!(status(server, Dialect::B, &token), 200);
    }
    own(&servers[1], Dialect::A, &token, "POST", "/logout", None).expect(200);
    // At once: each request asks whether anything changed.
    for server in &servers {
        assert_eq!(status(server, Dialect::B, &token), 401);
    }
}

/// What others may do with a file.
const OTHERS: u32 = 0o077;

/// The permissions of all that is in a folder, by name.
fn modes(folder: &std::path::Path) -> Vec<(String, u32)> {
    let mut found: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .flatten()
        .map(|entry| {
            let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
            (entry.file_name().to_string_lossy().into_owned(), mode)
        })
        .collect();
    found.sort();
    found
}

#[test]
fn what_is_kept_is_its_owners_alone_whatever_the_umask_and_the_folder() {
    let folder = fresh_folder("open");
    let data = folder.join("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o755)).unwrap();
    let careless = || ["sh", "-c", "umask 000; exec \"$@\"", "sh"].map(str::to_owned).to_vec();
    let options = || Options { wrap: careless(), ..Options::default() };
    let server = Server::start_in(Engine::Sqlite, folder.clone(), options()).unwrap();
    let company = server.company();
    company.party(json!({}));
    let kept = modes(&data);
    let names: BTreeSet<&str> = kept.iter().map(|(name, _)| name.as_str()).collect();
    for name in ["duet.db", "duet.db-wal", "duet.db-shm", "token-secret", "master-key"] {
        assert!(names.contains(name), "{names:?}");
    }
    assert!(kept.iter().all(|(_, mode)| mode & OTHERS == 0), "{kept:?}");
    let out = folder.join("ledger.journal");
    said(&server, &["export", "--business", &company.id, "--out", &out.display().to_string()], "");
    assert_eq!(out.metadata().unwrap().permissions().mode() & OTHERS, 0);
    drop(server);
    // What was open is narrowed, and that is said.
    for (name, _) in &kept {
        let _gone = std::fs::set_permissions(data.join(name), std::fs::Permissions::from_mode(0o644));
    }
    let again = Server::start_in(Engine::Sqlite, folder, options()).unwrap();
    let kept = modes(&data);
    assert!(kept.iter().all(|(_, mode)| mode & OTHERS == 0), "{kept:?}");
    let log = eventually("the log tells of it", || Some(again.log()).filter(|log| log.contains("master-key")));
    assert!(log.contains("was readable by others"), "{log}");
}

#[test]
fn a_tenant_is_kept_as_privately() {
    let folder = fresh_folder("open-tenants");
    let (config, data) = (folder.join("config"), folder.join("data"));
    std::fs::create_dir_all(&config).unwrap();
    let words = ["tenant", "add", "one.example", "--email", "first@one.example", "--set", "Edition=Cloud"];
    let places = ["--config", &config.display().to_string(), "--data", &data.display().to_string()].map(str::to_owned);
    let made = run(&[words.map(str::to_owned).to_vec(), places.to_vec()].concat(), "");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let kept = modes(&data.join("tenants/one.example"));
    assert!(kept.len() >= 4 && kept.iter().all(|(_, mode)| mode & OTHERS == 0), "{kept:?}");
    let weak = run(
        &[
            [
                "tenant",
                "add",
                "two.example",
                "--email",
                "first@two.example",
                "--set",
                "Edition=Cloud",
                "--password-stdin",
            ]
            .map(str::to_owned)
            .to_vec(),
            places.to_vec(),
        ]
        .concat(),
        "Summer2026!!\n",
    );
    assert!(!weak.status.success() && String::from_utf8_lossy(&weak.stderr).contains("too easy to guess"));
}
