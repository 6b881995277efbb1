//! What is refused, how, and that both dialects refuse alike.

use crate::harness::server::{DIALECTS, OWNER_PASSWORD, Said, authorised};
use crate::harness::{Company, Dialect, Options, Request, Server, on_both_engines};
use serde_json::json;

/// The same request through both dialects: the same status, code and fields.
fn refused(
    company: &Company<'_>,
    status: u16,
    code: &str,
    fields: &[&str],
    make: impl Fn(Dialect) -> Request,
) -> Vec<Said> {
    DIALECTS
        .map(|dialect| {
            let request = make(dialect);
            let said = company.say(dialect, request.clone()).expect(status);
            assert_eq!(said.code.as_deref(), Some(code), "{request:?}");
            assert_eq!(said.fields(), fields, "{request:?} {}", said.answer.text);
            assert!(!said.title.is_empty());
            said
        })
        .to_vec()
}

on_both_engines! {
    fn bodies_that_cannot_be_read(server) {
        let company = server.company();
        for (body, code, fields) in [
            ("{", "malformed_json", vec![]),
            ("", "malformed_json", vec![]),
            ("{} {}", "malformed_json", vec![]),
            ("[]", "validation_failed", vec!["body"]),
            ("null", "validation_failed", vec!["body"]),
            (r#"{"name":"x","isCustomer":true,"name":"y"}"#, "validation_failed", vec!["name"]),
            (r#"{"name":"x\u0000","isCustomer":true}"#, "validation_failed", vec!["name"]),
            (r#"{"name":["x"],"isCustomer":"yes","kind":"robot"}"#, "validation_failed", vec!["isCustomer", "isSupplier", "kind", "name"]),
            (r#"{"name":"x","isCustomer":true,"colour":"red","billingAddress":{"town":"y"}}"#, "validation_failed",
                vec!["billingAddress.town", "colour"]),
            (r#"{"name":"x","isCustomer":true,"contacts":[{"name":"a"},{"email":"b"},null]}"#, "validation_failed",
                vec!["contacts[1].email", "contacts[1].name", "contacts[2]"]),
            (r#"{"name":"x","isCustomer":true,"creditLimit":0.001}"#, "scale_exceeded", vec!["creditLimit"]),
            (r#"{"name":"x","isCustomer":true,"creditLimit":1e2}"#, "validation_failed", vec!["creditLimit"]),
            (r#"{"name":"x","isCustomer":true,"creditLimit":1000000000000000}"#, "validation_failed", vec!["creditLimit"]),
            (r#"{"name":"x","isCustomer":true,"discountPercent":100.000001}"#, "validation_failed", vec!["discountPercent"]),
            (r#"{"name":"x","isCustomer":true,"discountPercent":0.0000001}"#, "scale_exceeded", vec!["discountPercent"]),
            (r#"{"name":"x","isCustomer":true,"currency":"EURO","paymentTermDays":1.5}"#, "validation_failed",
                vec!["currency", "paymentTermDays"]),
            (r#"{"name":"x","isCustomer":true,"bankDetails":{"iban":"DE00 1234"}}"#, "validation_failed", vec!["bankDetails.iban"]),
        ] {
            refused(&company, 400, code, &fields, |dialect| {
                company.request(dialect, "POST", "parties", "").text("application/json", body)
            });
        }
    }

    fn queries_that_mean_nothing(server) {
        let company = server.company();
        for (query, field) in [
            ("?page=0", "page"),
            ("?page=x", "page"),
            ("?pageSize=501", "pageSize"),
            ("?pageSize=0", "pageSize"),
            ("?page=1&page=2", "page"),
            ("?sort=colour", "sort"),
            ("?sort=name;drop", "sort"),
            ("?isCustomer=1", "isCustomer"),
            ("?status=paid", "status"),
            ("?updatedSince=yesterday", "updatedSince"),
            ("?limit=5", "limit"),
            ("?dryRun=true", "dryRun"),
            ("?q=%00", "q"),
            ("?q=%ff", "q"),
        ] {
            let said = refused(&company, 400, "validation_failed", &[field], |dialect| company.request(dialect, "GET", "parties", query));
            assert!(said.iter().all(|said| said.title == "Validation failed"));
        }
        let faults = ["page", "pageSize", "sort"];
        refused(&company, 400, "validation_failed", &faults, |dialect| company.request(dialect, "GET", "parties", "?page=0&pageSize=0&sort=x"));
        refused(&company, 400, "validation_failed", &["dryRun"], |dialect| {
            company.request(dialect, "POST", "parties", "?dryRun=maybe").json(&json!({"name": "x", "isCustomer": true}))
        });
    }

    fn media_types_and_sizes(server) {
        let company = server.company();
        for media_type in ["text/plain", "application/json; charset=utf-16", "application/xml", ""] {
            refused(&company, 415, "unsupported_media_type", &[], |dialect| {
                company.request(dialect, "POST", "parties", "").text(media_type, "{}")
            });
        }
        refused(&company, 415, "unsupported_media_type", &[], |dialect| {
            company.request(dialect, "POST", "parties", "").header("Content-Encoding", "gzip").text("application/json", "{}")
        });
        let large = json!({"name": "x".repeat(2 << 20)}).to_string();
        for dialect in DIALECTS {
            let request = company.request(dialect, "POST", "parties", "").header("Content-Type", "application/json");
            let request = request.header("Content-Length", &large.len().to_string());
            assert_eq!(company.say(dialect, request).expect(413).code.as_deref(), Some("payload_too_large"));
        }
    }

    fn paths_and_methods(server) {
        let company = server.company();
        let nowhere = "/019a9f6e-6c00-7a31-8d2f-3b1c5e7f9a02";
        for path in [nowhere, "/x", "/019A9F6E-6C00-7A31-8D2F-3B1C5E7F9A02", "/a/b"] {
            refused(&company, 404, "not_found", &[], |dialect| company.request(dialect, "GET", "parties", path));
        }
        refused(&company, 404, "not_found", &[], |dialect| company.request(dialect, "GET", "businesses", nowhere));
        for (dialect, path) in [(Dialect::A, "/a/api"), (Dialect::B, "/b/api"), (Dialect::A, "/a/api/a/b/c/d"), (Dialect::B, "/b/api/nothing")] {
            company.say(dialect, Request::new("GET", path)).expect(404);
        }
        for said in refused(&company, 405, "method_not_allowed", &[], |dialect| company.request(dialect, "PATCH", "parties", "")) {
            assert_eq!(said.answer.header("allow"), Some("GET,HEAD,POST"));
        }
        let plain = server.send(&Request::new("GET", "/nothing")).expect(404).json();
        assert_eq!(plain, json!({"status": 404, "title": "Not found", "errors": {}}));
        let options = server.send(&Request::new("OPTIONS", "/b/api/parties")).expect(204);
        assert_eq!(options.header("allow"), Some("GET,HEAD,POST"));
        for dialect in DIALECTS {
            let head = server.send(&company.request(dialect, "HEAD", "parties", "")).expect(200);
            assert_eq!(head.text, "");
        }
    }

    fn companies_that_are_not_named_or_not_mine(server) {
        let company = server.company();
        let request = || authorised(Request::new("GET", "/b/api/parties"), server.token());
        let fields = |request: Request| company.say(Dialect::B, request).expect(400).fields();
        assert_eq!(fields(request()), ["X-Business-Id"]);
        assert_eq!(fields(request().header("X-Business-Id", "")), ["X-Business-Id"]);
        let twice = request().header("X-Business-Id", &company.id).header("X-Business-Id", &company.id);
        assert_eq!(fields(twice), ["X-Business-Id"]);
        for id in ["019a9f6e-6c00-7a31-8d2f-3b1c5e7f9a02", "' OR 1=1 --", &company.id.to_uppercase()] {
            company.say(Dialect::B, request().header("X-Business-Id", id)).expect(404);
        }
        let differing = company.request(Dialect::A, "GET", "parties", "").header("X-Business-Id", "another");
        assert_eq!(company.say(Dialect::A, differing).expect(400).fields(), ["X-Business-Id"]);
        let agreeing = company.request(Dialect::A, "GET", "parties", "").header("X-Business-Id", &company.id);
        company.say(Dialect::A, agreeing).expect(200);
    }

    fn callers_who_are_not_signed_in(server) {
        let company = server.company();
        let good = server.token();
        let flipped = format!("{}x", &good[..good.len() - 1]);
        for header in [None, Some("Bearer"), Some("Basic b3duZXI6eA=="), Some("Bearer nonsense"), Some("Bearer eyJhbGciOiJub25lIn0.e30."), Some(&format!("Bearer {flipped}"))] {
            for (dialect, path) in [(Dialect::A, format!("/a/api/{}/parties", company.id)), (Dialect::B, "/b/api/parties".into())] {
                let mut request = Request::new("GET", &path).header("X-Business-Id", &company.id);
                if let Some(header) = header {
                    request = request.header("Authorization", header);
                }
                let said = company.say(dialect, request).expect(401);
                assert_eq!(said.code.as_deref(), Some("unauthenticated"));
                assert_eq!(said.answer.header("www-authenticate"), Some("Bearer"));
            }
        }
        let lower = Request::new("GET", "/b/api/businesses").header("Authorization", &format!("bearer {good}"));
        server.send(&lower).expect(200);
        let twice = authorised(authorised(Request::new("GET", "/b/api/businesses"), good), good);
        server.send(&twice).expect(400);
    }

    fn guessing_is_slowed_down_for_known_and_unknown_names_alike(server) {
        // A server of its own that believes X-Forwarded-For, so that one machine can be many addresses.
        let trusting = Options { environment: vec![("DUET_TrustedProxies".into(), "127.0.0.1".into())], ..Options::default() };
        let server = Server::start(server.engine, trusting).unwrap();
        let user = "guessed@example.test";
        let added = server.command(&["user", "add", "--email", user, "--password-stdin"], "right password here\n");
        assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
        for (index, name) in [user, "nobody-at-all@example.test"].into_iter().enumerate() {
            let mut bodies = Vec::new();
            for attempt in 0..10 {
                let (path, field) = if attempt % 2 == 0 { ("/a/api/Users/login", "credential") } else { ("/b/api/auth/login", "email") };
                let dialect = if attempt % 2 == 0 { Dialect::A } else { Dialect::B };
                let request = Request::new("POST", path).header("X-Forwarded-For", &format!("10.{}.1.9", index + 1));
                let said = Said::of(dialect, server.send(&request.json(&json!({field: name, "password": "wrong"})))).expect(401);
                bodies.push(said.title);
            }
            assert!(bodies.iter().all(|title| title == "The name or the password is wrong"));
            let request = Request::new("POST", "/b/api/auth/login").header("X-Forwarded-For", &format!("10.{}.1.9", index + 1));
            let said = Said::of(Dialect::B, server.send(&request.json(&json!({"email": name, "password": "right password here"}))));
            let said = said.expect(429);
            assert_eq!(said.code.as_deref(), Some("rate_limited"));
            assert!(said.answer.header("retry-after").unwrap().parse::<u64>().unwrap() <= 901);
        }
        // The owner, and everyone else, is not affected.
        server.login(crate::harness::server::OWNER_EMAIL, OWNER_PASSWORD);
    }

    fn a_company_with_records_cannot_be_deleted(server) {
        let company = server.company();
        company.party(json!({}));
        refused(&company, 409, "in_use", &[], |dialect| company.request(dialect, "DELETE", "businesses", &format!("/{}", company.id)));
    }

    fn an_archived_company_can_be_read_not_written(server) {
        let company = server.company();
        let path = format!("/{}", company.id);
        let archived = json!({"name": "Closed", "baseCurrency": "EUR", "status": "archived"});
        company.ask(Dialect::A, "PUT", "businesses", &path, Some(&archived)).expect(200);
        refused(&company, 409, "invalid_state", &[], |dialect| {
            company.request(dialect, "POST", "parties", "").json(&json!({"name": "x", "isCustomer": true}))
        });
        company.ask(Dialect::B, "GET", "parties", "", None).expect(200);
        let reopened = json!({"name": "Closed", "baseCurrency": "EUR"});
        company.ask(Dialect::B, "PUT", "businesses", &path, Some(&reopened)).expect(200);
        company.party(json!({}));
    }

    fn a_value_that_must_be_unique_is_taken_once(server) {
        let company = server.company();
        company.party(json!({"code": "K-1", "externalId": "e-1"}));
        refused(&company, 409, "duplicate", &["code", "externalId"], |dialect| {
            let body = json!({"name": "x", "isCustomer": true, "code": "K-1", "externalId": "e-1"});
            company.request(dialect, "POST", "parties", "").json(&body)
        });
        let other = company.party(json!({"code": "K-2"}));
        refused(&company, 409, "duplicate", &["code"], |dialect| {
            let body = json!({"name": "x", "isCustomer": true, "code": "K-1"});
            company.request(dialect, "PUT", "parties", &format!("/{}", other["id"].as_str().unwrap())).json(&body)
        });
        server.company().party(json!({"code": "K-1", "externalId": "e-1"}));
    }
}
