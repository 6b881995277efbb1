//! A client chooses how late its body ends. Whoever is put out in between writes nothing, and learns nothing.

use crate::harness::http::{Answer, connect};
use crate::harness::people::fresh_email;
use crate::harness::server::{Company, DIALECTS, authorised};
use crate::harness::{Dialect, Request, on_both_engines};
use serde_json::{Value, json};
use std::io::{Read, Write};

const PASSWORD: &str = "a person with a password";

/// Sends a request whose body comes after something else has happened. That its head was judged is known: the server asks
/// for the body then.
fn late(company: &Company<'_>, request: &Request, meanwhile: impl FnOnce()) -> Answer {
    let bytes = request.clone().header("Expect", "100-continue").bytes("close");
    let head = bytes.windows(4).position(|window| window == b"\r\n\r\n").expect("a head") + 4;
    let mut stream = connect(company.server.address);
    stream.write_all(&bytes[..head]).expect("it is taken");
    let mut asked = Vec::new();
    while !asked.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        assert_eq!(stream.read(&mut byte).expect("an answer"), 1, "{}", String::from_utf8_lossy(&asked));
        asked.push(byte[0]);
    }
    assert!(asked.starts_with(b"HTTP/1.1 100 "), "{}", String::from_utf8_lossy(&asked));
    meanwhile();
    stream.write_all(&bytes[head..]).expect("it is taken");
    Answer::read(&mut stream, true)
}

/// A member on a seat, and where they stand among the people.
fn person<'s>(company: &Company<'s>, role: &str) -> (String, Company<'s>) {
    let (made, member) = company.joined(&fresh_email("late"), &company.permission(role), PASSWORD);
    (format!("/{}", made["id"].as_str().expect("an identifier")), member)
}

fn party(company: &Company<'_>, dialect: Dialect) -> Request {
    company.request(dialect, "POST", "parties", "").json(&json!({"name": "by who is gone", "isCustomer": true}))
}

/// What everybody may do for themselves.
fn own(company: &Company<'_>, path: &str, body: Option<&Value>) {
    let request = authorised(Request::new("POST", &format!("/b/api/auth/me/{path}")), &company.token);
    let answer = company.server.send(&body.map_or(request.clone(), |body| request.json(body)));
    assert!(answer.status < 300, "{}", answer.text);
}

fn nobody_wrote(company: &Company<'_>) {
    let listed = company.ask(Dialect::A, "GET", "parties", "", None).expect(200).data;
    assert_eq!(listed["pagination"]["totalCount"], 0);
}

on_both_engines! {
    fn who_is_put_out_while_their_body_is_on_its_way_writes_nothing(server) {
        for dialect in DIALECTS {
            let company = server.company();
            let (path, gone) = person(&company, "bookkeeper");
            let remove = || drop(company.ask(dialect, "DELETE", "users", &path, None).expect(200));
            assert_eq!(late(&company, &party(&gone, dialect), remove).status, 404);
            let (path, lowered) = person(&company, "bookkeeper");
            let lower = || {
                let mut body = company.ask(dialect, "GET", "users", &path, None).expect(200).data;
                body["memberships"][0]["permissionId"] = company.permission("auditor").into();
                company.ask(dialect, "PUT", "users", &path, Some(&body)).expect(200);
            };
            assert_eq!(late(&company, &party(&lowered, dialect), lower).status, 403);
            nobody_wrote(&company);
        }
    }

    fn a_token_that_ends_while_the_body_is_on_its_way_writes_nothing(server) {
        let company = server.company();
        let (_, out) = person(&company, "bookkeeper");
        assert_eq!(late(&company, &party(&out, Dialect::B), || own(&out, "logout", None)).status, 401);
        let (_, changed) = person(&company, "bookkeeper");
        let other = json!({"currentPassword": PASSWORD, "newPassword": "a brass lantern by the harbour"});
        let change = || own(&changed, "password", Some(&other));
        assert_eq!(late(&company, &party(&changed, Dialect::B), change).status, 401);
        let made = company.ask(Dialect::B, "POST", "apiKeys", "", Some(&json!({"name": "till"}))).expect(201);
        let key = Company { token: made.data["secret"].as_str().expect("a secret").to_owned(), ..company.clone() };
        let end = || drop(company.ask(Dialect::B, "DELETE", "apiKeys", &format!("/{}", made.id()), None).expect(200));
        assert_eq!(late(&company, &party(&key, Dialect::B), end).status, 401);
        nobody_wrote(&company);
    }

    fn an_owner_who_is_put_out_leaves_no_way_back_in(server) {
        let company = server.company();
        let friend = person(&company, "auditor").0;
        let owner = company.permission("owner");
        for (resource, method, at, body) in [
            ("users", "POST", String::new(), json!({"email": fresh_email("back"), "displayName": "Back", "memberships": [{"permissionId": owner}]})),
            ("apiKeys", "POST", String::new(), json!({"name": "left behind"})),
            ("users", "PUT", friend, json!({"memberships": [{"permissionId": owner}]})),
        ] {
            let (path, gone) = person(&company, "owner");
            let request = gone.request(Dialect::B, method, resource, &at).json(&body);
            let remove = || drop(company.ask(Dialect::B, "DELETE", "users", &path, None).expect(200));
            assert_eq!(late(&company, &request, remove).status, 404, "{method} {resource}");
        }
        let keys = company.ask(Dialect::B, "GET", "apiKeys", "", None).expect(200).data;
        assert_eq!(keys["pagination"]["totalCount"], 0);
    }

    fn who_is_out_is_not_told_what_is_wrong_with_what_they_sent(server) {
        let company = server.company();
        let (_, out) = person(&company, "bookkeeper");
        let empty = out.request(Dialect::B, "POST", "parties", "").json(&json!({}));
        assert_eq!(late(&company, &empty, || own(&out, "logout", None)).status, 401);
    }
}
