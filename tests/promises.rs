//! What the contract promises between its lines: both dialects and both engines at the edges.

use crate::harness::http::{Answer, connect};
use crate::harness::process::fresh_folder;
use crate::harness::server::{DIALECTS, OWNER_EMAIL, OWNER_PASSWORD, Said, authorised, run};
use crate::harness::{Company, Dialect, Engine, Options, Request, Server, on_both_engines};
use compare::difference::{Latitude, between};
use compare::document::shown;
use compare::twins::Twins;
use serde_json::{Value, json};
use std::io::Write;

const LOGINS: [(Dialect, &str, &str); 2] =
    [(Dialect::A, "/a/api/Users/login", "credential"), (Dialect::B, "/b/api/auth/login", "email")];

/// Somebody else who may speak for a company.
fn member<'s>(company: &Company<'s>, role: &str) -> Company<'s> {
    let email = format!("{role}.promises.{}@example.test", company.id).to_lowercase();
    let words = ["user", "add", "--email", &email, "--password-stdin", "--business", &company.id, "--role", role];
    let added = company.server.command(&words, "a long enough password");
    assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
    Company { token: company.server.login(&email, "a long enough password"), ..company.clone() }
}

fn path(record: &Value) -> String {
    format!("/{}", record["id"].as_str().unwrap())
}

/// An address out of an answer, asked as it stands.
fn follow(company: &Company<'_>, dialect: Dialect, address: &str) -> Said {
    let request = authorised(Request::new("GET", address), &company.token).header("X-Business-Id", &company.id);
    company.say(dialect, request)
}

on_both_engines! {
    fn a_token_of_either_login_is_good_in_both_dialects(server) {
        let company = server.company();
        for ((_, target, field), place) in LOGINS.into_iter().zip(["/data/accessToken", "/token"]) {
            // Neither login minds the case of a name.
            let body = json!({field: OWNER_EMAIL.to_uppercase(), "password": OWNER_PASSWORD});
            let answer = server.send(&Request::new("POST", target).json(&body)).expect(200).json();
            let token = answer.pointer(place).and_then(Value::as_str).expect("a token").to_owned();
            let caller = Company { token, ..company.clone() };
            for dialect in DIALECTS {
                caller.ask(dialect, "GET", "parties", "", None).expect(200);
                caller.ask(dialect, "GET", "businesses", "", None).expect(200);
            }
        }
    }

    fn a_login_names_its_own_fields(server) {
        for (dialect, target, field) in LOGINS {
            let say = |body: Value| Said::of(dialect, server.send(&Request::new("POST", target).json(&body)));
            for (body, fields) in [
                (json!({}), vec![field, "password"]),
                (json!({field: 7, "password": null}), vec![field, "password"]),
                (json!({field: "x", "password": "y", "remember": true}), vec!["remember"]),
            ] {
                let said = say(body).expect(400);
                assert_eq!((said.title.as_str(), said.fields()), ("Validation failed", fields.iter().map(ToString::to_string).collect()));
            }
            let got = Said::of(dialect, server.send(&Request::new("GET", target))).expect(405);
            assert_eq!(got.answer.header("allow"), Some("POST"));
        }
    }

    fn a_fault_of_a_body_is_titled_validation_failed(server) {
        let company = server.company();
        for dialect in DIALECTS {
            for body in [r#"{"name":1}"#, r#"{"name":"x","isCustomer":true,"zzz":1}"#, r#"{"name":"x","name":"y"}"#, "[]"] {
                let request = company.request(dialect, "POST", "parties", "").text("application/json", body);
                assert_eq!(company.say(dialect, request).expect(400).title, "Validation failed", "{body}");
            }
            let unread = company.request(dialect, "POST", "parties", "").text("application/json", "{");
            assert_eq!(company.say(dialect, unread).expect(400).code.as_deref(), Some("malformed_json"));
        }
    }

    fn a_failure_speaks_as_its_caller_does_also_below_the_shared_prefix(server) {
        for (dialect, target) in [
            (Dialect::A, "/api"),
            (Dialect::A, "/api/"),
            (Dialect::A, "/api/nothing/at/all"),
            (Dialect::A, "/api/Parties"),
            (Dialect::B, "/api/auth/x"),
            (Dialect::B, "/api/parties/a/b/c"),
            // A prefix ends where a segment ends; what is outside both is answered plainly, as B would.
            (Dialect::B, "/a/apix/Businesses"),
            (Dialect::B, "/apix"),
            (Dialect::B, "/a"),
        ] {
            let said = Said::of(dialect, server.send(&Request::new("GET", target))).expect(404);
            assert_eq!(said.code.as_deref(), Some("not_found"), "{target}");
        }
    }

    fn an_address_in_an_answer_can_be_followed(server) {
        let company = server.company();
        for (dialect, base) in [
            (Dialect::A, format!("/api/{}", company.id)),
            (Dialect::A, format!("/a/api/{}", company.id)),
            (Dialect::B, "/api".into()),
            (Dialect::B, "/b/api".into()),
        ] {
            let ask = |method: &str, query: &str| {
                let request = authorised(Request::new(method, &format!("{base}/parties{query}")), &company.token);
                request.header("X-Business-Id", &company.id)
            };
            let mut made = Vec::new();
            for name in ["first", "second"] {
                let said = company.say(dialect, ask("POST", "").json(&json!({"name": name, "isCustomer": true}))).expect(201);
                let location = said.answer.header("location").unwrap().to_owned();
                assert!(location.starts_with(&base), "{location}");
                assert_eq!(follow(&company, dialect, &location).expect(200).data, said.data);
                made.push(said.data);
            }
            let page = company.say(dialect, ask("GET", "?pageSize=1&sort=name&q=s")).expect(200);
            let links = page.answer.header("link").unwrap().to_owned();
            for link in links.split(", ") {
                let address = link.strip_prefix('<').and_then(|link| link.split_once('>')).expect("an address").0;
                assert!(address.starts_with(&base), "{address}");
                assert_eq!(follow(&company, dialect, address).expect(200).data["items"].as_array().unwrap().len(), 1);
            }
        }
    }

    fn a_repeat_is_told_its_place_in_the_callers_own_dialect(server) {
        let company = server.company();
        let body = json!({"name": "Once", "isCustomer": true});
        for dialect in DIALECTS {
            let request = company.request(dialect, "POST", "parties", "").header("Idempotency-Key", "place").json(&body);
            let said = company.say(dialect, request).expect(201);
            let location = said.answer.header("location").unwrap().to_owned();
            assert_eq!(location, company.request(dialect, "GET", "parties", &path(&said.data)).path);
            follow(&company, dialect, &location).expect(200);
        }
    }

    fn a_rehearsal_does_not_use_up_its_key(server) {
        let company = server.company();
        let create = |dialect, query: &str, name: &str| {
            let request = company.request(dialect, "POST", "parties", query).header("Idempotency-Key", "rehearsed");
            company.say(dialect, request.json(&json!({"name": name, "isCustomer": true})))
        };
        create(Dialect::A, "?dryRun=true", "Tried").expect(201);
        create(Dialect::B, "?dryRun=true", "Tried again").expect(201);
        let kept = create(Dialect::A, "", "Meant").expect(201);
        assert_eq!(kept.answer.header("idempotency-replayed"), None);
        company.ask(Dialect::B, "GET", "parties", &path(&kept.data), None).expect(200);
    }

    fn a_key_belongs_to_one_user_and_to_one_request(server) {
        let (company, other) = (server.company(), server.company());
        let colleague = member(&company, "accountant");
        let key = format!("mine-{}", company.id);
        let body = json!({"name": "Keyed", "isCustomer": true});
        let create = |caller: &Company<'_>, dialect| {
            let request = caller.request(dialect, "POST", "parties", "").header("Idempotency-Key", &key);
            caller.say(dialect, request.json(&body))
        };
        let mine = create(&company, Dialect::A).expect(201).id();
        assert_ne!(create(&colleague, Dialect::A).expect(201).id(), mine);
        assert_eq!(create(&company, Dialect::B).expect(201).id(), mine);
        // The same body for another company is another request.
        for dialect in DIALECTS {
            assert_eq!(create(&other, dialect).expect(422).code.as_deref(), Some("idempotency_mismatch"));
        }
    }

    fn a_weak_version_never_permits_a_change(server) {
        let company = server.company();
        let party = company.party(json!({}));
        let tag = format!("\"{}-1\"", party["id"].as_str().unwrap());
        for dialect in DIALECTS {
            let request = |method, tag: &str| company.request(dialect, method, "parties", &path(&party)).header("If-Match", tag);
            let change = request("PUT", &format!("W/{tag}")).json(&json!({"name": "x", "isCustomer": true}));
            company.say(dialect, change).expect(412);
            company.say(dialect, request("DELETE", &format!("W/{tag}"))).expect(412);
        }
        let several = company.request(Dialect::A, "DELETE", "parties", &path(&party)).header("If-Match", &format!("\"x\", {tag}"));
        company.say(Dialect::A, several).expect(200);
    }

    fn a_record_tells_its_methods(server) {
        let company = server.company();
        let party = company.party(json!({}));
        for dialect in DIALECTS {
            for (resource, target) in [("parties", path(&party)), ("businesses", format!("/{}", company.id))] {
                let said = company.ask(dialect, "POST", resource, &target, Some(&json!({}))).expect(405);
                assert_eq!(said.answer.header("allow"), Some("GET,HEAD,PUT,DELETE"));
            }
        }
    }

    fn a_body_that_tells_no_length_is_measured_all_the_same(server) {
        let company = server.company();
        let chunked = |dialect, body: &str| {
            let request = company.request(dialect, "POST", "parties", "").header("Content-Type", "application/json");
            let mut stream = request.header("Transfer-Encoding", "chunked").begin(server.address);
            for piece in body.as_bytes().chunks(64 * 1024) {
                let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
                chunk.extend([piece, b"\r\n"].concat());
                // A server that has seen enough may hang up.
                if stream.write_all(&chunk).is_err() {
                    break;
                }
            }
            let _hung_up = stream.write_all(b"0\r\n\r\n");
            Said::of(dialect, Answer::read(&mut stream, true))
        };
        for dialect in DIALECTS {
            chunked(dialect, r#"{"name":"In pieces","isCustomer":true}"#).expect(201);
            let long = format!(r#"{{"name":"x","isCustomer":true,"notes":"{}"}}"#, "x".repeat((1 << 20) + 1));
            assert_eq!(chunked(dialect, &long).expect(413).code.as_deref(), Some("payload_too_large"));
        }
    }

    fn pages_outside_both_dialects_name_their_request_too(server) {
        for (method, target, status) in [
            ("GET", "/", 200), ("GET", "/healthz", 200), ("GET", "/readyz", 200), ("GET", "/swagger", 200),
            ("GET", "/swagger/v1/swagger.json", 200), ("GET", "/nothing", 404), ("DELETE", "/healthz", 405),
        ] {
            let answer = server.send(&Request::new(method, target).header("X-Request-Id", "root-7")).expect(status);
            assert_eq!(answer.header("x-request-id"), Some("root-7"), "{target}");
        }
    }

    fn a_refusal_names_the_permission_that_the_document_asks_for(server) {
        let company = server.company();
        let reader = member(&company, "apiReadOnly");
        let party = company.party(json!({}));
        for (dialect, letter) in [(Dialect::A, "a"), (Dialect::B, "b")] {
            let document = server.send(&Request::new("GET", &format!("/swagger/{letter}/swagger.json"))).expect(200).json();
            let base = document["servers"][0]["url"].as_str().unwrap();
            let schemas = document["components"]["schemas"].as_object().unwrap();
            let mut refused = 0;
            for (template, item) in document["paths"].as_object().unwrap() {
                for (method, operation) in item.as_object().unwrap() {
                    let Some(permission) = operation["x-required-permission"].as_str() else { continue };
                    if permission.split_once('.').is_some_and(|(_, action)| action == "view") {
                        continue;
                    }
                    let id = if operation["operationId"].as_str().unwrap().starts_with("businesses") { &company.id } else { party["id"].as_str().unwrap() };
                    let target = format!("{base}{template}").replace("{businessId}", &company.id).replace("{id}", id);
                    let request = authorised(Request::new(&method.to_uppercase(), &target), &reader.token).header("X-Business-Id", &company.id);
                    let request = match operation.pointer("/requestBody/content/application~1json") {
                        Some(media) => request.json(&shown(schemas, media).unwrap()),
                        None => request,
                    };
                    let said = company.say(dialect, request).expect(403);
                    assert_eq!(said.code.as_deref(), Some("forbidden"));
                    assert!(said.title.contains(permission), "{template} {method}: {permission}, but {}", said.title);
                    refused += 1;
                }
            }
            assert!(refused >= 6, "{refused}");
        }
    }

    fn who_asks_too_often_is_told_when_to_come_back(server) {
        let few = Options { arguments: vec!["--set".into(), "Limits:RequestsPerMinute=5".into()], ..Options::default() };
        let server = Server::start(server.engine, few).unwrap();
        let company = server.company();
        let ask = |company: &Company<'_>, dialect: Dialect| {
            let answer = server.send(&company.request(dialect, "GET", "parties", ""));
            let figure = |name: &str| answer.header(name).unwrap_or_else(|| panic!("{name}: {answer:?}")).parse::<u64>().unwrap();
            assert_eq!(figure("ratelimit-limit"), 5);
            assert!((1..=60).contains(&figure("ratelimit-reset")));
            (answer.status, figure("ratelimit-remaining"), answer)
        };
        // To make the company was the first one; both dialects count together.
        for left in (0..4).rev() {
            let (status, remaining, _) = ask(&company, if left % 2 == 0 { Dialect::A } else { Dialect::B });
            assert_eq!((status, remaining), (200, left));
        }
        for dialect in DIALECTS {
            let (status, remaining, answer) = ask(&company, dialect);
            assert_eq!((status, remaining, answer.header("x-error-code")), (429, 0, Some("rate_limited")));
            assert_eq!(answer.header("retry-after"), answer.header("ratelimit-reset"));
        }
        // Everybody has a minute of their own.
        let words = ["user", "add", "--email", "other@example.test", "--password-stdin", "--business", &company.id, "--role", "sales"];
        assert!(server.command(&words, "another long password").status.success());
        let other = Company { token: server.login("other@example.test", "another long password"), ..company.clone() };
        assert_eq!(ask(&other, Dialect::A).0, 200);
    }

    fn more_requests_than_can_run_are_turned_away_at_once(server) {
        let few = Options { arguments: vec!["--set".into(), "Limits:RequestsAtOnce=1".into()], ..Options::default() };
        let server = Server::start(server.engine, few).unwrap();
        let company = server.company();
        // To try a password takes a while.
        let slow = || {
            let body = json!({"currentPassword": "not the password"});
            authorised(Request::new("POST", "/b/api/auth/me/totp").json(&body), &company.token)
        };
        let quick = company.request(Dialect::B, "GET", "parties", "");
        // Whichever of two callers comes second.
        let turned_away = std::thread::scope(|scope| {
            let trying = scope.spawn(|| (0..8).map(|_| server.send(&slow())).find(|answer| answer.status == 503));
            let mut turned_away = None;
            while turned_away.is_none() && !trying.is_finished() {
                let answer = server.send(&quick);
                turned_away = (answer.status != 200).then_some(answer);
            }
            trying.join().unwrap().or(turned_away).expect("the one place was taken")
        });
        assert_eq!((turned_away.status, turned_away.header("x-error-code"), turned_away.header("retry-after")), (503, Some("overloaded"), Some("1")));
        company.ask(Dialect::B, "GET", "parties", "", None).expect(200);
    }

    fn an_operator_sees_who_still_speaks_which_dialect(server) {
        let company = server.company();
        let clerk = member(&company, "sales");
        let clerk_company = clerk.clone();
        let call = |who: &Company<'_>, dialect: Dialect, method: &str, agent: &str| {
            let request = who.request(dialect, method, "parties", "").header("User-Agent", agent);
            let request = if method == "POST" { request.json(&json!({"name": "x", "isCustomer": true})) } else { request };
            assert!(server.send(&request).status < 300);
        };
        for (dialect, method, agent, times) in [
            (Dialect::A, "GET", "webshop/2.1", 3), (Dialect::A, "POST", "webshop/2.1", 2), (Dialect::B, "GET", "reporting", 1),
        ] {
            for _ in 0..times {
                call(&clerk, dialect, method, agent);
            }
        }
        call(&company, Dialect::A, "GET", "webshop/2.1");
        for dialect in DIALECTS {
            let ask = |query: &str| {
                let request = company.request_at(dialect, "GET", &format!("dialect-usage{query}"));
                company.say(dialect, request.header("User-Agent", "operator")).expect(200).data["items"].as_array().unwrap().clone()
            };
            let told = |query: &str| {
                let mut told: Vec<String> = ask(query).iter().filter(|one| one["agent"] != "operator" && one["agent"] != "unnamed").map(|one| {
                    let operations = one["operations"].as_array().unwrap().iter();
                    let operations: Vec<String> = operations.map(|one| format!("{} {}", one["operation"].as_str().unwrap(), one["calls"])).collect();
                    let who = if one["email"].as_str().unwrap().starts_with("sales") { "clerk" } else { "owner" };
                    format!("{who} {} {} {}: {}", one["dialect"].as_str().unwrap(), one["agent"].as_str().unwrap(), one["calls"], operations.join(", "))
                }).collect();
                told.sort();
                told
            };
            let shop = "clerk A webshop/2.1 5: partiesCreate 2, partiesList 3";
            assert_eq!(told(""), [shop, "clerk B reporting 1: partiesList 1", "owner A webshop/2.1 1: partiesList 1"]);
            let clerk = ask("?dialect=B").iter().find(|one| one["agent"] == "reporting").unwrap()["userId"].clone();
            assert_eq!(told(&format!("?dialect=A&userId={}", clerk.as_str().unwrap())), [shop]);
            assert_eq!(told("?since=2999-01-01T00:00:00Z"), Vec::<String>::new());
            company.say(dialect, company.request_at(dialect, "GET", "dialect-usage?dialect=b")).expect(400);
            assert_eq!(told("?dialect=Z"), Vec::<String>::new(), "nobody speaks it");
            // Whoever is no operator does not see what others do.
            let request = clerk_company.request_at(dialect, "GET", "dialect-usage");
            clerk_company.say(dialect, request).expect(403);
        }
        // Whoever is turned away is not counted, in whichever company they say to be.
        let (elsewhere, nowhere) = (server.company(), "019a9f6e-6c00-7a31-8d2f-3b1c5e7f9a02");
        for id in [&elsewhere.id, nowhere] {
            let stranger = Company { id: id.to_owned(), ..clerk_company.clone() };
            let request = stranger.request(Dialect::A, "GET", "parties", "").header("User-Agent", "stranger");
            assert_eq!(server.send(&request).status, 404);
        }
        let told = elsewhere.say(Dialect::A, elsewhere.request_at(Dialect::A, "GET", "dialect-usage")).expect(200);
        assert!(!told.answer.text.contains("stranger"), "{}", told.answer.text);
        let shown = server.command(&["usage", "--json"], "");
        assert!(!String::from_utf8_lossy(&shown.stdout).contains("stranger"));
        let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
        let own = shown.as_array().unwrap().iter().find(|one| one["businessId"] == company.id).unwrap();
        let shop = own["uses"].as_array().unwrap().iter().find(|one| one["calls"] == 5 && one["agent"] == "webshop/2.1").unwrap();
        assert_eq!((&shop["dialect"], &shop["operations"][0]["calls"]), (&json!("A"), &json!(2)));
        let plain = server.command(&["usage"], "");
        assert!(String::from_utf8_lossy(&plain.stdout).contains("webshop/2.1: 5 calls"));
    }

    fn guessing_from_one_address_is_slowed_down_whatever_the_names(server) {
        let trusting = Options { environment: vec![("DUET_TrustedProxies".into(), "127.0.0.1".into())], ..Options::default() };
        let server = Server::start(server.engine, trusting).unwrap();
        let guess = |attempt: usize, address: &str| {
            let (dialect, target, field) = LOGINS[attempt % 2];
            let body = json!({field: format!("guess-{attempt}@example.test"), "password": "wrong"});
            Said::of(dialect, server.send(&Request::new("POST", target).header("X-Forwarded-For", address).json(&body)))
        };
        for attempt in 0..20 {
            guess(attempt, "10.1.1.1").expect(401);
        }
        for attempt in 20..22 {
            let said = guess(attempt, "10.1.1.1").expect(429);
            assert!(said.answer.header("retry-after").is_some());
        }
        guess(22, "10.1.1.2").expect(401);
    }
}

#[test]
fn odd_input_is_answered_alike_by_both_dialects_and_both_engines() {
    let of = |value: &str| format!(r#"{{"name":"x","isCustomer":true,{value}}}"#).into_bytes();
    let named = |name: &str| format!(r#"{{"name":{name},"isCustomer":true}}"#).into_bytes();
    let mut bodies = vec![
        named(r#""\ud800""#),
        named(r#""\ud83d\ude00 ünï 漢字""#),
        named(r#""a\tb\nc""#),
        named(r#""   ""#),
        named(r#""  padded  ""#),
        named("\"\u{202e}reversed\u{2066}\""),
        named("\"e\u{301}\""),
        named("\"\u{feff}\""),
        named(&format!("\"{}\"", "n".repeat(100_000))),
        named(&format!("\"{}\"", "漢".repeat(200))),
        of(r#""creditLimit":1e400"#),
        of(r#""creditLimit":-0"#),
        of(r#""creditLimit":-0.00"#),
        of(r#""creditLimit":-1"#),
        of(r#""creditLimit":"1,5""#),
        of(r#""creditLimit":"""#),
        of(r#""creditLimit":" 1""#),
        of(r#""creditLimit":"1e2""#),
        of(r#""creditLimit":NaN"#),
        of(r#""creditLimit":01"#),
        of(r#""creditLimit":true"#),
        of(r#""creditLimit":9223372036854775807"#),
        of(r#""creditLimit":9223372036854775808"#),
        of(r#""creditLimit":0.00000000000000000000000000000000001"#),
        of(r#""discountPercent":-0.1"#),
        of(r#""discountPercent":100"#),
        of(r#""paymentTermDays":2147483648"#),
        of(r#""paymentTermDays":-1"#),
        of(r#""paymentTermDays":30.0"#),
        of(r#""tags":["x","x"]"#),
        of(r#""tags":[""]"#),
        of(r#""tags":["a,b","%","'"]"#),
        of(r#""tags":{}"#),
        of(r#""email":"not an address""#),
        of(r#""website":"javascript:alert(1)""#),
        of(r#""code":"'; DROP TABLE parties; --""#),
        of(r#""code":"Ä ß""#),
        of(r#""billingAddress":{"country":"de"}"#),
        of(r#""billingAddress":{"city":"x","city":"y"}"#),
        of(r#""contacts":[{"name":"a","name":"b"}]"#),
        of(r#""id":7,"version":"x","createdAt":false"#),
        of(r#""\u0000":1"#),
        of(r#""notes":"\u0000""#),
        of(r#""":1"#),
        "[".repeat(100_000).into_bytes(),
        format!("{}{}", "{\"a\":".repeat(50_000), "1").into_bytes(),
        b"{\"name\":\"\xff\xfe\",\"isCustomer\":true}".to_vec(),
        b"\xef\xbb\xbf{\"name\":\"BOM\",\"isCustomer\":true}".to_vec(),
        b"\xff\xfe{\0}\0".to_vec(),
        b"\"text\"".to_vec(),
        b"   ".to_vec(),
    ];
    bodies.push(of(&format!(
        "\"contacts\":[{}]",
        (0..2000).map(|index| format!(r#"{{"name":"{index}"}}"#)).collect::<Vec<_>>().join(",")
    )));
    let servers: Vec<_> = [Engine::Sqlite, Engine::Postgres].into_iter().filter_map(Server::shared).collect();
    for body in bodies {
        let shown = String::from_utf8_lossy(&body[..body.len().min(120)]).into_owned();
        let mut said = Vec::new();
        for server in &servers {
            for dialect in DIALECTS {
                // One company each, so that a code is free.
                let company = server.company();
                let mut request =
                    company.request(dialect, "POST", "parties", "").header("Content-Type", "application/json");
                request.body = Some(body.clone());
                let answer = company.say(dialect, request);
                assert!(matches!(answer.status, 201 | 400), "{shown}: {}", answer.answer.text);
                if answer.status == 201 {
                    let read = company.ask(dialect, "GET", "parties", &path(&answer.data), None).expect(200);
                    assert_eq!(read.data, answer.data, "{shown}: what was answered is what was kept");
                }
                said.push(answer.meaning);
            }
        }
        for other in &said[1..] {
            let differences = between(&said[0], other, &mut Latitude::Own(&mut Twins::default()));
            assert_eq!(differences, [], "{shown}");
        }
    }
}

#[test]
fn the_document_tells_of_each_way_to_fail() {
    let server = Server::shared(Engine::Sqlite).unwrap();
    for letter in ["a", "b"] {
        let document = server.send(&Request::new("GET", &format!("/swagger/{letter}/swagger.json"))).expect(200).json();
        assert_eq!(document["openapi"], "3.0.3");
        for (target, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                if operation["operationId"] == "login" || operation["operationId"] == "acceptInvitation" {
                    assert!(operation["responses"].get("429").is_some());
                    continue;
                }
                let mut expected = vec!["401", "403", "500", "503"];
                let acts = target.contains("/{id}/");
                let one = target.ends_with("/{id}") || acts;
                expected.extend(match (method.as_str(), one) {
                    ("post", _) if acts => {
                        // What makes another record of one.
                        let makes = ["copy", "empty", "allocations", "notes", "invoices", "returns"];
                        let done = if makes.iter().any(|word| target.ends_with(word)) { "201" } else { "200" };
                        vec![done, "400", "404", "409", "412", "413", "415", "422"]
                    }
                    ("get", false) => vec!["200", "400"],
                    ("get", true) if acts => vec!["200", "400", "404"],
                    ("get", true) => vec!["200", "304", "404"],
                    ("post", _) if target.ends_with("/batch") => {
                        vec!["200", "400", "409", "412", "413", "415", "422", "428"]
                    }
                    ("put", _) if target.contains("by-external-id") => vec!["200", "201", "400", "409", "412", "415"],
                    ("post", _) if target.contains("/me/") => vec!["200", "400", "409", "413", "415", "422", "429"],
                    ("post", _) => vec!["201", "400", "409", "413", "415", "422"],
                    ("put", _) => vec!["200", "400", "404", "409", "412", "413", "415", "422"],
                    ("delete", _) => vec!["200", "404", "409", "412", "422"],
                    (other, _) => panic!("{other} {target} is not expected here"),
                });
                for status in expected {
                    assert!(operation["responses"].get(status).is_some(), "{letter} {method} {target}: {status}");
                }
            }
        }
    }
}

#[test]
fn the_command_prints_what_the_server_serves() {
    let server = Server::shared(Engine::Sqlite).unwrap();
    for (name, target) in
        [("a", "/swagger/a/swagger.json"), ("b", "/swagger/b/swagger.json"), ("both", "/swagger/v1/swagger.json")]
    {
        let served = server.send(&Request::new("GET", target)).expect(200).json();
        let printed = run(&["openapi".to_owned(), name.to_owned()], "");
        let printed: Value = serde_json::from_slice(&printed.stdout).expect("a document");
        assert!(printed == served, "duet openapi {name} differs from {target}");
    }
}

/// Only 3.1 knows lists of types; the readers of 3.0.3 choke on them.
fn lists_of_types(value: &Value) -> usize {
    match value {
        Value::Object(members) => {
            let own = usize::from(members.get("type").is_some_and(Value::is_array));
            own + members.values().map(lists_of_types).sum::<usize>()
        }
        Value::Array(items) => items.iter().map(lists_of_types).sum(),
        _ => 0,
    }
}

#[test]
fn each_version_of_openapi_is_written_in_its_own_words() {
    let document =
        |target| Server::shared(Engine::Sqlite).unwrap().send(&Request::new("GET", target)).expect(200).json();
    let (old, new) = (document("/swagger/v1/swagger.json"), document("/swagger/v1/openapi-3.1.json"));
    assert_eq!((old["openapi"].as_str(), lists_of_types(&old)), (Some("3.0.3"), 0));
    assert!(new["openapi"].as_str().unwrap().starts_with("3.1."));
    assert!(!new.to_string().contains("\"nullable\""));
    let paths = |document: &Value| document["paths"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(paths(&old), paths(&new));
}

fn check(custom: &str) -> (Option<i32>, String) {
    let folder = fresh_folder("check");
    std::fs::write(folder.join("appsettings.Custom.json"), custom).unwrap();
    let output = run(&["config", "check", "--config", &folder.display().to_string()].map(str::to_owned), "");
    (
        output.status.code(),
        (String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr)).into_owned(),
    )
}

#[test]
fn the_check_of_a_configuration_says_what_to_change() {
    for (custom, words) in [
        (
            r#"{"Dialects": {"A": {"Prefix": "/x"}, "B": {"Prefix": "/x/y"}}}"#,
            &["Dialects:A:Prefix", "Dialects:B:Prefix"][..],
        ),
        (
            r#"{"Dialects": {"A": {"Prefix": "/x"}, "B": {"Prefix": "/x"}}}"#,
            &["Dialects:A:Prefix", "Dialects:B:Prefix"],
        ),
        (r#"{"Dialekt": "A"}"#, &["Dialekt", "did you mean", "Dialect"]),
        ("{\n  \"Dialect\": \"C\"\n}", &["appsettings.Custom.json:2", "Dialect", "\"C\""]),
        ("{\n  \"Dialect\": \n", &["appsettings.Custom.json"]),
    ] {
        let (code, text) = check(custom);
        assert_eq!(code, Some(2), "{custom}: {text}");
        assert!(words.iter().all(|word| text.contains(word)), "{custom}: {text}");
    }
    // As .NET reads it: comments, a comma too many, a BOM, any case of a key.
    let (code, text) = check(
        "\u{feff}{ // mine\n \"dialect\": \"A\", /* and */ \"JWTSETTINGS\": {\"expirationminutes\": \"15\",},\n}",
    );
    assert_eq!(code, Some(0), "{text}");
}

#[test]
fn a_later_layer_wins() {
    let served = |environment: &[(&str, &str)], arguments: &[&str]| {
        let server = Server::start(
            Engine::Sqlite,
            Options {
                custom: Some(r#"{"Dialect": "A"}"#.into()),
                arguments: arguments.iter().map(ToString::to_string).collect(),
                environment: environment.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
                ..Options::default()
            },
        )
        .unwrap();
        ["/api/Businesses", "/api/businesses", "/a/api/Businesses"]
            .map(|target| server.send(&Request::new("GET", target)).status == 401)
    };
    let (a, b, both) = ([true, false, false], [false, true, false], [true, true, true]);
    assert_eq!(served(&[], &[]), a);
    assert_eq!(served(&[("DUET_Dialect", "B")], &[]), b);
    assert_eq!(served(&[("DUET_Dialect", "B")], &["--dialect", "both"]), both);
}

#[test]
fn a_kept_connection_survives_refusals() {
    let server = Server::shared(Engine::Sqlite).unwrap();
    let company = server.company();
    let mut stream = connect(server.address);
    for (dialect, status, request) in [
        (Dialect::A, 400, company.request(Dialect::A, "POST", "parties", "").text("application/json", "{")),
        (Dialect::B, 415, company.request(Dialect::B, "POST", "parties", "").text("text/plain", "hello")),
        (
            Dialect::B,
            404,
            company.request(Dialect::B, "PUT", "parties", "/none").json(&json!({"name": "x", "isCustomer": true})),
        ),
        (Dialect::A, 401, Request::new("POST", "/a/api/Businesses").json(&json!({"name": "unread"}))),
        (Dialect::A, 200, company.request(Dialect::A, "GET", "parties", "")),
    ] {
        stream.write_all(&request.bytes("keep-alive")).expect("the connection is kept");
        Said::of(dialect, Answer::read(&mut stream, false)).expect(status);
    }
}
