//! What an attacker tries, by the risks of the OWASP API Security Top 10 (2023). What a role may do is in `access`, who
//! sees which company in `access` and `tenants`, how fast one may guess in `errors` and `promises`.

use crate::harness::books::behind_the_back;
use crate::harness::examples::creatable;
use crate::harness::people::fresh_email;
use crate::harness::server::{Company, DIALECTS, OWNER_EMAIL, Said, authorised};
use crate::harness::{Dialect, Engine, Options, Request, Server, on_both_engines};
use ledger_core::resource::operation::{Method, Verb};
use ledger_core::resource::registry::registry;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const SECRET: &str = "a secret of the tests, which is long enough";

/// A server whose secret the attacker knows, so that tokens differ from good ones in one thing alone.
fn with_known_secret(server: &Server) -> Server {
    let arguments = ["--set".to_owned(), format!("JwtSettings:Secret={SECRET}")].to_vec();
    Server::start(server.engine, Options { arguments, ..Options::default() }).expect("an engine")
}

fn encoded(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let held = chunk.iter().fold(0_u32, |held, byte| held << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..=chunk.len() {
            text.push(char::from(LETTERS[(held >> (18 - 6 * place) & 63) as usize]));
        }
    }
    text
}

fn decoded(text: &str) -> Vec<u8> {
    let value = |letter: u8| match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'-' => 62,
        _ => 63,
    };
    let bits = text.bytes().fold((0_u32, 0, Vec::new()), |(held, count, mut bytes), letter| {
        let (held, mut count) = (held << 6 | u32::from(value(letter)), count + 6);
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(held >> count & 255).unwrap());
        }
        (held, count, bytes)
    });
    bits.2
}

/// A token of these parts, signed with a key.
fn token(header: &Value, claims: &Value, algorithm: ring::hmac::Algorithm, key: &[u8]) -> String {
    let signed = format!("{}.{}", encoded(header.to_string().as_bytes()), encoded(claims.to_string().as_bytes()));
    let tag = ring::hmac::sign(&ring::hmac::Key::new(algorithm, key), signed.as_bytes());
    format!("{signed}.{}", encoded(tag.as_ref()))
}

fn identifiers(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::String(text) if text.len() == 36 && text.matches('-').count() == 4 => found.push(path.to_owned()),
        Value::Object(members) => {
            members.iter().for_each(|(name, one)| identifiers(one, &format!("{path}/{name}"), found));
        }
        Value::Array(elements) => {
            elements.iter().enumerate().for_each(|(place, one)| identifiers(one, &format!("{path}/{place}"), found));
        }
        _ => {}
    }
}

on_both_engines! {
    fn api1_an_identifier_of_another_company_names_nothing_in_a_body(server) {
        let (company, other) = (server.company(), server.company());
        let mut tried = 0;
        for operations in creatable() {
            let resource = operations.key.stem();
            if resource == "businesses" {
                continue;
            }
            let (own, foreign) = (company.example(resource), other.example(resource));
            let mut places = Vec::new();
            identifiers(&own, "", &mut places);
            for place in places {
                let mut body = own.clone();
                *body.pointer_mut(&place).unwrap() = foreign.pointer(&place).unwrap().clone();
                for dialect in DIALECTS {
                    let said = company.ask(dialect, "POST", resource, "", Some(&body));
                    assert!(matches!(said.status, 400 | 404 | 409), "{resource} {place}: {} {}", said.status, said.answer.text);
                    // It is not told apart from one that nobody has.
                    *body.pointer_mut(&place).unwrap() = "019a9f6e-6c00-7a31-8d2f-3b1c5e7f9a02".into();
                    let nobody = company.ask(dialect, "POST", resource, "", Some(&body));
                    assert_eq!((said.status, &said.title, &said.errors), (nobody.status, &nobody.title, &nobody.errors), "{resource} {place}");
                    *body.pointer_mut(&place).unwrap() = foreign.pointer(&place).unwrap().clone();
                    tried += 1;
                }
            }
        }
        assert!(tried > 40, "{tried}");
        assert_eq!(other.failed_checks(), Vec::<String>::new());
    }

    fn api1_a_record_of_one_company_is_none_of_another_that_one_sees_too(server) {
        let (company, other) = (server.company(), server.company());
        for operations in creatable().filter(|one| one.key.stem() != "businesses") {
            let resource = operations.key.stem();
            let record = company.make(resource);
            let foreign = Company { id: other.id.clone(), ..company.clone() };
            // What another system calls a record is no identifier: whoever writes by it writes their own.
            let by_identifier = |verb: &Verb| operations.names_record(*verb) && *verb != Verb::Upsert;
            for verb in operations.verbs().filter(by_identifier) {
                let path = operations.path(verb).replace("{id}", record["id"].as_str().unwrap());
                let method = match operations.method(verb) {
                    Method::Get => "GET",
                    Method::Post => "POST",
                    Method::Put => "PUT",
                    Method::Delete => "DELETE",
                };
                let body = Some(other.example(resource)).filter(|_| verb == Verb::Update);
                for dialect in DIALECTS {
                    let said = foreign.ask(dialect, method, resource, &path, body.as_ref());
                    // An action may want words that are not said here; it finds no record either way.
                    let wants_words = said.status == 400 && operations.extra(verb).is_some();
                    assert!(said.status == 404 || wants_words, "{resource} {method} {path}: {}", said.status);
                }
            }
            let listed = foreign.ask(Dialect::A, "GET", resource, &format!("?q={}", record["id"].as_str().unwrap()), None);
            assert!(!listed.answer.text.contains(record["id"].as_str().unwrap()));
        }
        let party = company.party(json!({"name": "Mine"}));
        let found = other.ask(Dialect::B, "GET", "salesInvoices", &format!("?partyId={}", party["id"].as_str().unwrap()), None).expect(200).data;
        assert_eq!(found["pagination"]["totalCount"], 0);
    }

    fn api2_a_token_is_nothing_when_one_thing_about_it_is_wrong(server) {
        let server = with_known_secret(server);
        let good = server.token().to_owned();
        let parts: Vec<&str> = good.split('.').collect();
        let [header, claims] = [0, 1].map(|part| serde_json::from_slice::<Value>(&decoded(parts[part])).unwrap());
        let hs256 = ring::hmac::HMAC_SHA256;
        let status = |token: &str, dialect: Dialect| {
            let path = if dialect == Dialect::A { "/a/api/Businesses" } else { "/b/api/businesses" };
            server.send(&authorised(Request::new("GET", path), token)).status
        };
        // The attacker's tools work: a token that is as it should be is good.
        assert_eq!(status(&token(&header, &claims, hs256, SECRET.as_bytes()), Dialect::A), 200);
        let with = |of: &Value, name: &str, value: Value| {
            let mut changed = of.clone();
            if value.is_null() { changed.as_object_mut().unwrap().remove(name); } else { changed[name] = value; }
            changed
        };
        let signed = |header: &Value, claims: &Value| token(header, claims, hs256, SECRET.as_bytes());
        let now = claims["iat"].as_i64().unwrap();
        let unsigned = |name: &str| format!("{}.{}.", encoded(json!({"alg": name, "typ": "JWT"}).to_string().as_bytes()), parts[1]);
        let mut bad = vec![
            unsigned("none"), unsigned("None"), unsigned("NONE"), unsigned("HS256"),
            token(&with(&header, "alg", json!("HS512")), &claims, ring::hmac::HMAC_SHA512, SECRET.as_bytes()),
            token(&with(&header, "alg", json!("HS384")), &claims, ring::hmac::HMAC_SHA384, SECRET.as_bytes()),
            signed(&with(&header, "alg", json!("RS256")), &claims), signed(&with(&header, "alg", json!("ES256")), &claims),
            signed(&with(&header, "alg", Value::Null), &claims),
            token(&header, &claims, hs256, b"another secret that is long enough"), token(&header, &claims, hs256, b""),
        ];
        for (name, values) in [
            ("aud", vec![Value::Null, json!("another"), json!([]), json!("")]), ("iss", vec![Value::Null, json!("another")]),
            ("exp", vec![Value::Null, json!(now - 3600), json!("never"), json!(-1)]), ("iat", vec![json!(now + 3600), Value::Null]),
            ("nbf", vec![json!(now + 3600)]), ("sub", vec![Value::Null, json!("019a9f6e-6c00-7a31-8d2f-3b1c5e7f9a02"), json!("owner"), json!("")]),
            ("ver", vec![Value::Null, json!(0), json!(99)]),
        ] {
            bad.extend(values.into_iter().map(|value| signed(&header, &with(&claims, name, value))));
        }
        for part in 0..3 {
            let mut flipped: Vec<String> = parts.iter().map(ToString::to_string).collect();
            let first = if flipped[part].starts_with('A') { "B" } else { "A" };
            flipped[part].replace_range(..1, first);
            bad.push(flipped.join("."));
        }
        bad.extend([format!("{good}="), format!("{good}."), format!("{good}.x"), format!("x{good}"), good.replace('.', ".."), "x".repeat(8_000)]);
        for token in &bad {
            for dialect in DIALECTS {
                assert_eq!(status(token, dialect), 401, "{}", &token[..token.len().min(300)]);
            }
        }
        for query in ["access_token", "token", "Authorization"] {
            assert_eq!(server.send(&Request::new("GET", &format!("/b/api/businesses?{query}={good}"))).status, 401);
        }
    }

    fn api2_nobody_is_told_whether_somebody_is_there(server) {
        let trusting = Options { arguments: ["--set", "TrustedProxies=127.0.0.1"].map(str::to_owned).to_vec(), ..Options::default() };
        let server = Server::start(server.engine, trusting).unwrap();
        let company = server.company();
        let mut attempt = 0;
        let there = |name: &str| format!("{name}.there.{}@example.test", company.id);
        let (active, disabled, invited) = (there("active"), there("disabled"), there("invited"));
        for email in [&active, &disabled] {
            company.joined(email, &company.permission("sales"), "the password of somebody");
        }
        assert!(server.command(&["user", "disable", &disabled], "").status.success());
        company.invite(Dialect::B, &invited, &company.permission("sales")).expect(201);
        for (path, field) in [("/a/api/Users/login", "credential"), ("/b/api/auth/login", "email")] {
            let said: BTreeSet<String> = [(active.as_str(), "wrong"), (&disabled, "the password of somebody"), (&invited, "the password of somebody"), (&invited, ""), ("nobody@example.test", "the password of somebody")]
                .map(|(name, password)| {
                    attempt += 1;
                    let request = Request::new("POST", path).header("X-Forwarded-For", &format!("10.0.0.{attempt}"));
                    let answer = server.send(&request.json(&json!({field: name, "password": password})));
                    format!("{} {} {:?}", answer.status, answer.text, answer.header("x-error-code"))
                })
                .into();
            assert_eq!(said.len(), 1, "{said:?}");
        }
    }

    fn api2_there_are_no_default_credentials(server) {
        let fresh = Server::start(server.engine, Options { environment: vec![("Bootstrap__Password".into(), String::new())], ..Options::default() }).unwrap();
        for name in ["admin", "owner", OWNER_EMAIL, "root", "admin@localhost"] {
            for password in ["admin", "password", "changeme", "duet", "", "admin admin admin"] {
                let login = json!({"credential": name, "password": password});
                let refused = fresh.send(&Request::new("POST", "/a/api/Users/login").json(&login)).status;
                assert!(matches!(refused, 400 | 401 | 429), "{name} {password}: {refused}");
            }
        }
    }

    fn api3_a_body_sets_nothing_that_is_not_its_to_set(server) {
        let (company, other) = (server.company(), server.company());
        for operations in creatable().filter(|one| one.key.stem() != "businesses") {
            let resource = operations.key.stem();
            let mut body = company.example(resource);
            let forged = json!({
                "id": "019a9f6e-6c00-7a31-8d2f-3b1c5e7f9a02", "version": 77, "createdAt": "2001-01-01T00:00:00Z",
                "createdBy": "019a9f6e-6c00-7a31-8d2f-3b1c5e7f9a02", "updatedAt": "2001-01-01T00:00:00Z"
            });
            body.as_object_mut().unwrap().extend(forged.as_object().cloned().unwrap());
            for dialect in DIALECTS {
                // What cannot be shared by two records is another one each time.
                let mut fresh = company.example(resource);
                fresh.as_object_mut().unwrap().extend(forged.as_object().cloned().unwrap());
                let made = company.ask(dialect, "POST", resource, "", Some(&fresh)).expect(201).data;
                assert_eq!(made["version"], 1, "{resource}");
                for name in ["id", "createdAt", "createdBy", "updatedAt"] {
                    assert_ne!(made[name], forged[name], "{resource} {name}");
                }
                for (name, value) in [("isAdmin", json!(true)), ("passwordHash", json!("x")), ("tenantId", json!("x")), ("business_id", json!(other.id)), ("__proto__", json!({}))] {
                    let mut body = company.example(resource);
                    body[name] = value;
                    let refused = company.ask(dialect, "POST", resource, "", Some(&body)).expect(400);
                    assert!(refused.errors.get(name).is_some(), "{resource} {name}: {}", refused.answer.text);
                }
            }
        }
    }

    fn api4_a_request_can_only_cost_so_much(server) {
        let company = server.company();
        for dialect in DIALECTS {
            let post = |body: &str| company.say(dialect, company.request(dialect, "POST", "parties", "").text("application/json", body)).status;
            assert_eq!(post(&format!("{}{}", "[".repeat(100_000), "]".repeat(100_000))), 400);
            assert_eq!(post(&format!(r#"{{"name": {}1{}}}"#, r#"{"a":"#.repeat(5_000), "}".repeat(5_000))), 400);
            assert_eq!(post(&format!(r#"{{"name": "x", "isCustomer": true, "creditLimit": {}}}"#, "9".repeat(100_000))), 400);
            assert_eq!(post(&format!(r#"{{"name": "{}", "isCustomer": true}}"#, "x".repeat(500_000))), 400);
            let many: Vec<Value> = (0..20_000).map(|_| json!({})).collect();
            let refused = company.ask(dialect, "POST", "parties", "", Some(&json!({"name": "x", "isCustomer": true, "contacts": many}))).expect(400);
            assert!(refused.answer.text.len() < 50_000, "{} bytes of faults", refused.answer.text.len());
            for query in ["?pageSize=501", "?pageSize=0", "?page=99999999999999999999", "?page=-1"] {
                company.ask(dialect, "GET", "parties", query, None).expect(400);
            }
            company.ask(dialect, "GET", "parties", "?page=4294967295&pageSize=500", None).expect(200);
            company.ask(dialect, "GET", "parties", &format!("?q={}", "x".repeat(501)), None).expect(400);
        }
        let long = server.send(&Request::new("GET", &format!("/b/api/{}", "x".repeat(70_000)))).status;
        assert!(matches!(long, 400 | 404 | 414 | 431), "{long}");
        let heavy = server.send(&Request::new("GET", "/b/api/businesses").header("X-Heavy", &"x".repeat(400_000))).status;
        assert!(matches!(heavy, 400 | 431), "{heavy}");
    }

    fn api5_each_operation_asks_who_is_there_and_what_they_may(server) {
        let company = server.company();
        // Somebody who may do everything but one thing, by a key: whatever needs that thing is refused, by its name.
        let all: Vec<(&str, Vec<&str>)> = {
            let catalog = company.ask(Dialect::B, "GET", "permissions", "/catalog", None).expect(200).data;
            let items = catalog["items"].as_array().unwrap().clone();
            items.iter().map(|one| {
                let actions: Vec<&str> = one["actions"].as_array().unwrap().iter().map(|action| action.as_str().unwrap().to_owned().leak() as &str).collect();
                (one["resource"].as_str().unwrap().to_owned().leak() as &str, actions)
            }).collect()
        };
        let lacking = |noun: &str, action: &str| {
            let scopes: Vec<Value> = all.iter().map(|(resource, actions)| {
                // No key makes companies, nor manages people, nor says where events are sent after it is gone.
                let nobodys = |one: &str| ["business", "create"] == [*resource, one] || (["user", "permission", "apiKey", "webhook"].contains(resource) && one != "view");
                let actions: Vec<&&str> = actions.iter().filter(|one| [noun, action] != [*resource, **one] && !nobodys(one)).collect();
                json!({"resource": resource, "actions": actions})
            }).collect();
            let body = json!({"name": format!("all but {noun}.{action}"), "scopes": scopes});
            let made = company.ask(Dialect::B, "POST", "apiKeys", "", Some(&body)).expect(201).data;
            Company { token: made["secret"].as_str().unwrap().to_owned(), ..company.clone() }
        };
        let foreign_token = {
            let elsewhere = Server::start(server.engine, Options::default()).unwrap();
            elsewhere.token().to_owned()
        };
        let somebody = fresh_email("somebody");
        company.joined(&somebody, &company.permission("owner"), "a person with a password");
        let nowhere = "019a9f6e-6c00-7a31-8d2f-3b1c5e7f9a02";
        let stranger = Company { id: nowhere.into(), ..company.clone() };
        let mut without: std::collections::HashMap<String, Company<'_>> = std::collections::HashMap::new();
        let mut seen = BTreeSet::new();
        for operations in registry() {
            for verb in operations.verbs() {
                let method = match operations.method(verb) {
                    Method::Get => "GET",
                    Method::Post => "POST",
                    Method::Put => "PUT",
                    Method::Delete => "DELETE",
                };
                let id = if operations.key.stem() == "businesses" { company.id.as_str() } else { nowhere };
                let path = operations.path(verb).replace("{id}", id);
                let (key, action) = operations.needs(verb);
                let permission = operations.permission(verb);
                let is_administrators = operations.key.stem() == "installationLog";
                let is_own = key.actions().is_empty() && !is_administrators;
                let is_open = key.actions().is_empty() || (operations.key.stem() == "businesses" && verb == Verb::List);
                // As comma-separated values it is answered elsewhere, and to nobody else.
                let of_csv = operations.csv(verb).map(|_| (path.clone() + ".csv", operations.operation_id(verb) + "Csv"));
                let addresses: Vec<(String, String)> = [(path, operations.operation_id(verb))].into_iter().chain(of_csv).collect();
                seen.extend(addresses.iter().map(|(_, id)| id.clone()));
                for (dialect, path) in addresses.iter().flat_map(|(path, _)| DIALECTS.map(|dialect| (dialect, path))) {
                    let send = |company: &Company<'_>| {
                        let request = company.request_for(dialect, method, operations, path);
                        let request = if method == "GET" || method == "DELETE" { request } else { request.json(&json!({})) };
                        server.send(&request)
                    };
                    for token in ["", &foreign_token, "duet_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"] {
                        let nobody = Company { token: token.to_owned(), ..company.clone() };
                        assert_eq!(send(&nobody).status, 401, "{permission} {method} {path}");
                    }
                    let is_company = operations.key.stem() == "businesses";
                    if !is_open && !is_company {
                        assert_eq!(send(&stranger).status, 404, "{permission} {method} {path}");
                    }
                    if !is_open && permission != "business.create" {
                        let member = without.entry(permission.clone()).or_insert_with(|| lacking(key.permission_noun(), action.as_str()));
                        let refused = Said::of(dialect, send(member));
                        assert_eq!((refused.status, refused.code.as_deref()), (403, Some("forbidden")), "{permission} {method} {path}");
                        assert!(refused.title.contains(&permission), "{} {}", refused.title, permission);
                    }
                    // Whoever has it is let in; what they say may still be wrong. What ends sessions ends one of its own.
                    if !is_company || method == "GET" {
                        if is_administrators {
                            let owner = Company { token: server.login(&somebody, "a person with a password"), ..company.clone() };
                            assert_eq!(send(&owner).status, 403, "{path}: an owner is no administrator of the installation");
                        }
                        let own = if is_own { server.login(&somebody, "a person with a password") } else { company.token.clone() };
                        let owner = send(&Company { token: own, ..company.clone() }).status;
                        assert!(!matches!(owner, 401 | 403), "{permission} {method} {path}: {owner}");
                    }
                }
            }
        }
        seen.extend(["login".to_owned(), "acceptInvitation".to_owned()]);
        for letter in ["a", "b"] {
            let document = server.send(&Request::new("GET", &format!("/swagger/{letter}/swagger.json"))).expect(200).json();
            let paths = document["paths"].as_object().unwrap().values().flat_map(|item| item.as_object().unwrap().values());
            let told: BTreeSet<String> = paths.map(|one| one["operationId"].as_str().unwrap().to_owned()).collect();
            assert_eq!(told, seen, "none is missing");
        }
        assert!(without.len() > 100, "{}", without.len());
    }

    fn api8_what_is_sought_is_text_and_nothing_else(server) {
        let company = server.company();
        company.party(json!({"name": "100% wool_", "code": "W"}));
        company.party(json!({"name": "Plain", "code": "P"}));
        let evil = ["' OR 1=1 --", "'; DROP TABLE parties; --", "%27%20UNION%20SELECT%201--", "(select%201)", "name;--", "1/**/OR/**/1"];
        for dialect in DIALECTS {
            for text in evil {
                let text = text.replace(' ', "%20");
                for name in ["sort", "status", "isCustomer", "updatedSince", "page", "nothing"] {
                    company.ask(dialect, "GET", "parties", &format!("?{name}={text}"), None).expect(400);
                }
                for name in ["q", "code"] {
                    let found = company.ask(dialect, "GET", "parties", &format!("?{name}={text}"), None).expect(200).data;
                    assert_eq!(found["pagination"]["totalCount"], 0, "{name}={text}");
                }
                company.ask(dialect, "GET", "parties", &format!("/{text}"), None).expect(404);
            }
            // What is a wildcard to a database stands for itself.
            for (text, count) in [("%25", 1), ("_", 1), ("%25%25", 0), ("wool_", 1), ("w__l", 0)] {
                let found = company.ask(dialect, "GET", "parties", &format!("?q={text}"), None).expect(200).data;
                assert_eq!(found["pagination"]["totalCount"], count, "{text}");
            }
            company.ask(dialect, "GET", "parties", "?page=1&page=2", None).expect(400);
        }
    }

    fn api8_an_answer_can_do_nothing_in_a_browser(server) {
        let company = server.company();
        company.party(json!({"name": "<script>alert(1)</script>"}));
        for dialect in DIALECTS {
            for answer in [
                server.send(&company.request(dialect, "GET", "parties", "")),
                server.send(&company.request(dialect, "GET", "parties", "/%3Cscript%3E")),
                server.send(&company.request(dialect, "GET", "parties", "?%3Cscript%3E=1")),
            ] {
                assert_eq!(answer.header("content-type"), Some("application/json; charset=utf-8"));
                assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
                assert!(answer.header("content-security-policy").unwrap().starts_with("sandbox; default-src 'none'"));
                assert_eq!((answer.header("cache-control"), answer.header("referrer-policy")), (Some("no-store"), Some("no-referrer")));
                assert_eq!((answer.header("server"), answer.header("x-powered-by")), (None, None));
            }
        }
        for page in ["/", "/swagger", "/redoc/index.html"] {
            let policy = server.send(&Request::new("GET", page)).header("content-security-policy").unwrap().to_owned();
            for rule in ["default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"] {
                assert!(policy.contains(rule), "{page}: {rule} {policy}");
            }
            assert!(!policy.contains("http"), "{policy}");
        }
        // Other pages may call only where they are named.
        let foreign = Request::new("GET", "/b/api/businesses").header("Origin", "https://evil.example");
        assert_eq!(server.send(&foreign).header("access-control-allow-origin"), None);
    }

    fn api8_methods_are_what_they_say(server) {
        let company = server.company();
        for dialect in DIALECTS {
            for method in ["TRACE", "PATCH", "PROPFIND", "get"] {
                let refused = server.send(&company.request(dialect, method, "parties", ""));
                assert!(matches!(refused.status, 400 | 405 | 501), "{method}: {}", refused.status);
                assert!(!refused.text.contains("Bearer"), "{}", refused.text);
            }
            let party = company.party(json!({"name": "Stays"}));
            let path = format!("/{}", party["id"].as_str().unwrap());
            for header in ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"] {
                server.send(&company.request(dialect, "GET", "parties", &path).header(header, "DELETE")).expect(200);
            }
            company.ask(dialect, "GET", "parties", &path, None).expect(200);
        }
    }

    fn api9_nothing_is_served_that_is_not_told(server) {
        for path in [
            "/metrics", "/debug", "/debug/pprof", "/admin", "/actuator", "/.env", "/.git/config", "/config/appsettings.json", "/data/duet.db",
            "/api-docs", "/graphql", "/b/api/debug", "/a/api/metrics", "/b/api/v1/parties", "/swagger/../data/token-secret",
            "/swagger/v1/../../data/token-secret", "/swagger/%2e%2e/%2e%2e/data/token-secret", "/redoc/..%2f..%2fdata",
        ] {
            let answer = server.send(&Request::new("GET", path));
            assert!(matches!(answer.status, 400 | 404), "{path}: {}", answer.status);
        }
        assert_eq!(server.send(&Request::new("GET", "/healthz")).text, "ok");
        assert_eq!(server.send(&Request::new("GET", "/readyz")).text, "ready");
    }

    fn a_log_line_is_one_line_whatever_it_tells_of(server) {
        let arguments = ["--set", "Logging:Format=json", "--set", "Logging:Level=debug"].map(str::to_owned).to_vec();
        let server = Server::start(server.engine, Options { arguments, ..Options::default() }).unwrap();
        for path in ["/b/api/x%0a%7b%22level%22%3a%22ERROR%22%7d", "/b/api/%1b%5b31mred", "/b/api/%e2%80%a8x"] {
            let request = Request::new("GET", path).header("X-Request-Id", "forged id {}").header("User-Agent", "x\u{1b}[31m");
            let answer = server.send(&request);
            assert_ne!(answer.header("x-request-id"), Some("forged id {}"));
        }
        let name = "somebody\n{\"level\":\"ERROR\",\"forged\":true}";
        server.send(&Request::new("POST", "/b/api/auth/login").json(&json!({"email": name, "password": "x"})));
        let log = server.log();
        assert!(log.lines().count() > 3, "{log}");
        for line in log.lines() {
            let record: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
            assert!(record.get("forged").is_none() && !line.contains('\u{1b}'), "{line}");
        }
    }

    fn no_secret_is_written_down(server) {
        let arguments = ["--set", "Logging:Level=trace", "--set", "Logging:Format=json"].map(str::to_owned).to_vec();
        let server = Server::start(server.engine, Options { arguments, ..Options::default() }).unwrap();
        let company = server.company();
        let email = "canary@example.test";
        let (first, second) = ("canary-password-the-first", "canary-password-the-second");
        let body = json!({"email": email, "displayName": "Canary", "memberships": [{"permissionId": company.permission("owner")}]});
        let invite = company.request(Dialect::A, "POST", "users", "").json(&body).header("Idempotency-Key", "canary");
        let code = server.send(&invite).expect(201).json()["data"]["invitationCode"].as_str().unwrap().to_owned();
        let again = server.send(&invite).expect(201);
        assert!(again.header("idempotency-replayed").is_some() && again.json()["data"]["invitationCode"].is_null());
        server.accept(Dialect::A, "join_canarycanarycanarycanarycanary", first).expect(401);
        server.accept(Dialect::A, &code, first).expect(200);
        let canary = Company { token: server.login(email, first), ..company.clone() };
        let key = canary.request(Dialect::B, "POST", "apiKeys", "").json(&json!({"name": "Canary"})).header("Idempotency-Key", "canary-key");
        let key = server.send(&key).expect(201).json()["secret"].as_str().unwrap().to_owned();
        Company { token: key.clone(), ..company.clone() }.ask(Dialect::A, "GET", "parties", "", None).expect(200);
        let change = json!({"currentPassword": first, "newPassword": second});
        server.send(&authorised(Request::new("POST", "/b/api/auth/me/password").json(&change), &canary.token).header("Idempotency-Key", "c")).expect(200);
        server.send(&authorised(Request::new("GET", "/b/api/businesses"), &canary.token)).expect(401);
        for (email, password) in [(email, first), ("canary-nobody@example.test", second), (email, "canary-password-\u{0}")] {
            server.send(&Request::new("POST", "/a/api/Users/login").json(&json!({"credential": email, "password": password})));
        }
        server.send(&Request::new("POST", "/b/api/auth/login").text("application/json", r#"{"email": "x", "password": "canary-password-broken"#));
        server.command(&["config", "show"], "");
        let secrets = ["canary-password", "join_canary", code.as_str(), key.as_str(), canary.token.as_str(), server.token()];
        let log = server.log();
        for secret in secrets {
            assert!(!log.contains(secret), "{secret} is in the log");
        }
        let audit = server.send(&company.request(Dialect::B, "GET", "auditLog", "/export")).expect(200);
        for secret in secrets {
            assert!(!audit.text.contains(secret), "{secret} is in the audit log");
        }
        if server.engine == Engine::Sqlite {
            behind_the_back(&server, &["PRAGMA wal_checkpoint(TRUNCATE)".to_owned()]).unwrap();
            let file = std::fs::read(server.folder.join("data/duet.db")).or_else(|_| std::fs::read(server.database_url().trim_start_matches("sqlite:"))).unwrap();
            for secret in secrets {
                assert!(!file.windows(secret.len()).any(|bytes| bytes == secret.as_bytes()), "{secret} is in the database");
            }
        }
    }
}
