//! What an answer says of how far it knows the books of its company, and that nobody is answered with less than they ask for.

use crate::harness::server::{DIALECTS, Said, authorised};
use crate::harness::{Company, Dialect, Request, on_both_engines};
use serde_json::json;

pub const SEQUENCE: &str = "x-ledger-sequence";
pub const AT_LEAST: &str = "X-At-Least-Sequence";

/// Up to where an answer knows the books.
pub fn knows(said: &Said) -> i64 {
    said.answer.header(SEQUENCE).expect("a sequence").parse().expect("a number")
}

pub fn read(company: &Company<'_>, dialect: Dialect, (resource, path): (&str, &str), at_least: Option<&str>) -> Said {
    let request = company.request(dialect, "GET", resource, path);
    company.say(
        dialect,
        match at_least {
            Some(sequence) => request.header(AT_LEAST, sequence),
            None => request,
        },
    )
}

pub fn made(company: &Company<'_>, name: &str) -> Said {
    let body = json!({"name": name, "isCustomer": true});
    company.ask(Dialect::B, "POST", "parties", "", Some(&body)).expect(201)
}

on_both_engines! {
    fn an_answer_says_how_far_it_knows_the_books(server) {
        let company = server.company();
        let first = made(&company, "The first");
        let (mut last, tag) = (knows(&first), first.answer.header("etag").unwrap().to_owned());
        let path = format!("/{}", first.id());
        for dialect in DIALECTS {
            let body = json!({"name": "The same once more", "isCustomer": true});
            let rehearsed = company.ask(dialect, "POST", "parties", "?dryRun=true", Some(&body)).expect(201);
            assert_eq!(knows(&rehearsed), last, "nothing is kept of it");
            let keyed = || {
                let request = company.request(dialect, "POST", "parties", "").json(&body);
                company.say(dialect, request.header("Idempotency-Key", "said twice")).expect(201)
            };
            let written = knows(&keyed());
            assert!(dialect == Dialect::B || written > last, "each write raises it: {last}, {written}");
            assert_eq!(knows(&keyed()), written, "what is said once more changes nothing");
            last = written;
            // Once as it is read, and once more as it is known.
            for _ in 0..2 {
                for place in [("parties", ""), ("parties", path.as_str()), ("reports", "/trial-balance")] {
                    assert_eq!(knows(&read(&company, dialect, place, Some(&last.to_string())).expect(200)), last);
                }
            }
            let same = company.request(dialect, "GET", "parties", &path).header("If-None-Match", &tag);
            let same = server.send(&same);
            assert!(matches!(same.status, 200 | 304) && same.header(SEQUENCE).is_some(), "{same:?}");
            let csv = company.request(dialect, "GET", "reports", "/trial-balance?format=csv").header("accept", "text/csv");
            assert_eq!(server.send(&csv).expect(200).header(SEQUENCE), Some(last.to_string().as_str()));
            let beyond = (last + 1).to_string();
            for asked in [beyond.as_str(), "-1", "soon", ""] {
                for place in [("parties", ""), ("reports", "/trial-balance")] {
                    assert_eq!(read(&company, dialect, place, Some(asked)).expect(400).fields(), [AT_LEAST], "{asked}");
                }
                let refused = company.request(dialect, "POST", "parties", "").json(&body).header(AT_LEAST, asked);
                assert_eq!(company.say(dialect, refused).expect(400).fields(), [AT_LEAST], "{asked}");
            }
            assert_eq!(knows(&read(&company, dialect, ("parties", "?pageSize=2"), None).expect(200)), last);
        }
        // Companies of others are nobody's to ask for, and what is of no company has no sequence.
        let other = Company { id: "0190a000-0000-7000-8000-000000000042".into(), ..company.clone() };
        read(&other, Dialect::A, ("parties", ""), Some("1")).expect(404);
        let all = server.send(&authorised(Request::new("GET", "/b/api/businesses"), &company.token)).expect(200);
        assert_eq!(all.header(SEQUENCE), None);
    }
}
