//! The same request through both dialects means the same: status, error fields, data.

use crate::harness::examples::creatable;
use crate::harness::server::{DIALECTS, OWNER_EMAIL, OWNER_PASSWORD, authorised};
use crate::harness::twins::Twins;
use crate::harness::{Company, Dialect, Request, on_both_engines};
use compare::neutral::Neutral;
use ledger_core::resource::operation::{ResourceOperations, Verb};
use serde_json::{Value, json};

/// What is shown once.
fn hide_secrets(record: &mut Value) {
    for name in ["secret", "invitationCode"] {
        if record.get(name).is_some() {
            record[name] = Value::Null;
        }
    }
}

on_both_engines! {
    fn the_literal_calls_of_the_interface_work(server) {
        let company = server.company();
        for prefix in ["/api", "/a/api"] {
            let body = json!({"credential": "OWNER", "password": OWNER_PASSWORD});
            let login = server.send(&Request::new("POST", &format!("{prefix}/Users/login")).json(&body)).expect(200).json();
            assert_eq!(login["success"], true);
            assert_eq!(login["data"]["expiresIn"], 3600);
            assert_eq!(login["data"]["user"]["email"], OWNER_EMAIL);
            let token = login["data"]["accessToken"].as_str().unwrap();
            let get = |path: &str| server.send(&authorised(Request::new("GET", &format!("{prefix}{path}")), token)).expect(200).json();
            let businesses = get("/Businesses?pageSize=500&sort=-createdAt");
            assert!(businesses["data"]["items"].as_array().unwrap().iter().any(|one| one["id"] == company.id));
            assert_eq!(get(&format!("/{}/parties", company.id))["data"]["pagination"]["totalCount"], 0);
        }
        for prefix in ["/api", "/b/api"] {
            let body = json!({"email": OWNER_EMAIL, "password": OWNER_PASSWORD});
            let login = server.send(&Request::new("POST", &format!("{prefix}/auth/login")).json(&body)).expect(200).json();
            assert!(login["expiresAt"].as_str().unwrap().ends_with('Z'));
            let token = login["token"].as_str().unwrap();
            let get = |path: &str| {
                let request = Request::new("GET", &format!("{prefix}{path}")).header("X-Business-Id", &company.id);
                server.send(&authorised(request, token)).expect(200).json()
            };
            assert!(get("/businesses?pageSize=500&sort=-createdAt")["items"].as_array().unwrap().iter().any(|one| one["id"] == company.id));
            assert_eq!(get("/parties")["pagination"]["totalCount"], 0);
        }
    }

    fn the_same_body_makes_the_same_record_and_does_the_same_to_the_books(server) {
        let mut twins = Twins::of(server);
        for operations in creatable() {
            let resource = operations.key.stem();
            let (body, other) = (twins.left.example(resource), twins.right.example(resource));
            twins.pair.learn(&body, &other);
            let made = twins.equal(&Neutral::of(&format!("{resource}Create")).with(body));
            assert_eq!(made.status(), Some(201), "{resource}");
            // What reaches beyond the company is rehearsed.
            let id = made.data()["id"].as_str().unwrap();
            if made.request.query.get("dryRun").is_none() {
                twins.equal(&Neutral::of(&format!("{resource}Get")).on(id));
            }
        }
    }

    fn twins_have_the_same_books_until_one_of_them_goes_on(server) {
        let mut twins = Twins::of(server);
        let digest = |company: &Company<'_>| {
            let proof = server.send(&company.request_at(Dialect::B, "GET", "verify")).expect(200).json();
            assert_eq!(proof["ok"], true);
            proof["digest"].as_str().unwrap().to_owned()
        };
        let empty = digest(&twins.left);
        for resource in ["journals", "salesInvoices", "receipts"] {
            let (body, other) = (twins.left.example(resource), twins.right.example(resource));
            twins.pair.learn(&body, &other);
            twins.equal(&Neutral::of(&format!("{resource}Create")).with(body));
        }
        twins.equal(&Neutral::of("verificationRun"));
        let alike = digest(&twins.left);
        assert_eq!(alike, digest(&twins.right));
        assert_ne!(alike, empty);
        twins.left.make("journals");
        assert_ne!(digest(&twins.left), alike);
    }

    fn either_dialect_reads_what_the_other_wrote_to_the_letter(server) {
        let company = server.company();
        for operations in creatable() {
            let resource = operations.key.stem();
            for dialect in DIALECTS {
                let body = company.example(resource);
                let mut said = company.ask(dialect, "POST", resource, "", Some(&body)).expect(201);
                hide_secrets(&mut said.data);
                let location = said.answer.header("location").unwrap().to_owned();
                let fetched = server.send(&authorised(Request::new("GET", &location), &company.token).header("X-Business-Id", &company.id));
                fetched.expect(200);
                for reader in DIALECTS {
                    let read = company.ask(reader, "GET", resource, &format!("/{}", said.id()), None).expect(200);
                    assert_eq!(read.data, said.data);
                    // What was answered to who made it has the tag of who reads it next, where both were told the same.
                    let [read, made] = [&read, &said].map(|one| one.answer.header("etag").unwrap().to_owned());
                    assert_eq!(read == made, operations.secrets.is_empty(), "{resource}: {read} after {made}");
                }
            }
        }
    }

    fn a_record_that_was_read_can_be_sent_back(server) {
        let company = server.company();
        let replaced = |one: &&ResourceOperations| one.verbs().any(|verb| verb == Verb::Update);
        for operations in creatable().filter(replaced) {
            let resource = operations.key.stem();
            for dialect in DIALECTS {
                let body = company.example(resource);
                let mut made = company.ask(dialect, "POST", resource, "", Some(&body)).expect(201);
                hide_secrets(&mut made.data);
                let path = format!("/{}", made.id());
                let back = company.ask(dialect, "PUT", resource, &path, Some(&made.data)).expect(200);
                assert_eq!(back.data, made.data, "sending back what was read changes nothing, not even the version");
                let mut changed = made.data.clone();
                let words = ["name", "narration", "source", "displayName", "url"].into_iter().find(|name| changed.get(name).is_some()).unwrap();
                let another = if words == "url" { "https://shop.example/another" } else { "Another name" };
                changed[words] = another.into();
                let updated = company.ask(dialect, "PUT", resource, &path, Some(&changed)).expect(200);
                assert_eq!(updated.data[words], another);
                assert_eq!(updated.data["version"], 2);
                let gone = company.ask(dialect, "DELETE", resource, &path, None).expect(200);
                assert_eq!(gone.data, json!({"id": made.id(), "deleted": true}));
                if made.data.get("voidDate").is_some() {
                    let void = company.ask(dialect, "GET", resource, &path, None).expect(200).data;
                    let word = if resource.ends_with("Orders") { "cancelled" } else { "void" };
                    assert_eq!((&void["status"], &void["number"]), (&json!(word), &made.data["number"]));
                } else {
                    company.ask(dialect, "GET", resource, &path, None).expect(404);
                }
            }
        }
    }

    fn what_is_left_out_of_a_replacement_is_cleared(server) {
        let company = server.company();
        let made = company.party(json!({"notes": "to be cleared", "tags": ["x"], "billingAddress": {"city": "Bonn"}}));
        let path = format!("/{}", made["id"].as_str().unwrap());
        let body = json!({"name": "Bare", "isSupplier": true});
        let bare = company.ask(Dialect::A, "PUT", "parties", &path, Some(&body)).expect(200).data;
        assert_eq!((&bare["notes"], &bare["billingAddress"], &bare["tags"]), (&Value::Null, &Value::Null, &json!([])));
        assert_eq!((&bare["isCustomer"], &bare["isSupplier"]), (&json!(false), &json!(true)));
    }

    fn an_empty_body_names_every_missing_field_at_once(server) {
        let company = server.company();
        for dialect in DIALECTS {
            let said = company.ask(dialect, "POST", "parties", "", Some(&json!({}))).expect(400);
            assert_eq!(said.title, "Validation failed");
            assert_eq!(said.fields(), ["isCustomer", "isSupplier", "name"]);
            let said = company.ask(dialect, "POST", "businesses", "", Some(&json!({}))).expect(400);
            assert_eq!(said.fields(), ["baseCurrency", "name"]);
        }
    }

    fn decimals_come_back_digit_for_digit(server) {
        let fine = server.company_like(json!({"name": "Unidad de Fomento", "baseCurrency": "CLF"}));
        let coarse = server.company();
        for dialect in DIALECTS {
            for (company, sent, shown) in [
                (&fine, "12345678901234.5678", "12345678901234.5678"),
                (&fine, "\"12345678901234.5678\"", "12345678901234.5678"),
                (&fine, "922337203685477.5807", "922337203685477.5807"),
                (&fine, "0.1", "0.1000"),
                (&coarse, "10.00", "10.00"),
                (&coarse, "1234567890123.45", "1234567890123.45"),
                (&coarse, "0.1", "0.10"),
            ] {
                let body = format!("{{\"name\":\"D\",\"isCustomer\":true,\"discountPercent\":0.1,\"creditLimit\":{sent}}}");
                let request = company.request(dialect, "POST", "parties", "").text("application/json", &body);
                let made = company.say(dialect, request).expect(201);
                let read = company.ask(dialect, "GET", "parties", &format!("/{}", made.id()), None).expect(200);
                for text in [&made.answer.text, &read.answer.text] {
                    assert!(text.contains(&format!("\"creditLimit\":{shown},")), "{sent}: {text}");
                    assert!(text.contains("\"discountPercent\":0.1,"), "{text}");
                }
            }
        }
    }
}
