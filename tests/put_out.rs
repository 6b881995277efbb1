//! Who writes is remembered, and let through unasked to the transaction that judges them. Whoever was put out is nobody all the
//! same: with the next request, whatever else is wrong with it, and whatever was under way when it came.

use crate::harness::books::connected;
use crate::harness::http::{Answer, connect};
use crate::harness::process::eventually;
use crate::harness::server::{Company, OWNER_EMAIL, OWNER_PASSWORD, authorised};
use crate::harness::{Dialect, Engine, Options, Request, Server, on_both_engines};
use sea_orm::{ConnectionTrait, Statement};
use serde_json::{Value, json};
use std::io::Write;

fn party() -> Value {
    json!({"name": "Somebody", "isCustomer": true})
}

/// Somebody who signed in and wrote, so that the next time nobody asks who they are.
fn remembered<'s>(company: &Company<'s>) -> Company<'s> {
    let known = Company { token: company.server.login(OWNER_EMAIL, OWNER_PASSWORD), ..company.clone() };
    for _ in 0..2 {
        known.ask(Dialect::B, "POST", "parties", "", Some(&party())).expect(201);
    }
    known
}

fn log_out(known: &Company<'_>) {
    known.server.send(&authorised(Request::new("POST", "/b/api/auth/me/logout"), &known.token)).expect(200);
}

fn parties(company: &Company<'_>) -> Value {
    company.ask(Dialect::B, "GET", "parties", "?pageSize=1", None).expect(200).data["pagination"]["totalCount"].clone()
}

/// Requests that are refused before anybody looks into the books, each for a reason of its own.
fn refused_early(of: &Company<'_>, dialect: Dialect) -> Vec<(&'static str, Request)> {
    let make = || of.request(dialect, "POST", "parties", "");
    let put = |path: &str| of.request(dialect, "PUT", "parties", path).json(&party());
    vec![
        ("a body of another kind", make().text("text/plain", "hello")),
        ("a body that is packed", make().header("Content-Encoding", "gzip").json(&party())),
        ("a body that is none", make().text("application/json", "{")),
        ("an answer of another kind", make().header("Accept", "image/png").json(&party())),
        ("a key that is too long", make().header("Idempotency-Key", &"k".repeat(300)).json(&party())),
        ("numbers as nobody has them", make().header("X-Decimal-Format", "roman").json(&party())),
        ("a record that is none, changed", put("/garbage")),
        ("a record that is none, removed", of.request(dialect, "DELETE", "parties", "/garbage")),
        ("a record that is none, voided", of.request(dialect, "POST", "journals", "/garbage/void").json(&json!({}))),
        ("a version that does not go with it", put("/by-external-id/zz").header("If-None-Match", "\"a\"")),
    ]
}

on_both_engines! {
    fn whoever_was_put_out_hears_that_and_nothing_else(server) {
        // Nobody else's changes have everybody looked at again.
        let server = &Server::start(server.engine, Options::default()).unwrap();
        let company = server.company();
        let several = refused_early(&company, Dialect::B).len();
        for place in 0..several {
            let dialect = [Dialect::A, Dialect::B][place % 2];
            let known = remembered(&company);
            let (what, request) = refused_early(&known, dialect).swap_remove(place);
            let answer = server.send(&request);
            assert!((400..500).contains(&answer.status) && answer.status != 401, "{what}: {}", answer.text);
            // They are remembered again, and so is what they ask.
            known.ask(Dialect::B, "POST", "parties", "", Some(&party())).expect(201);
            log_out(&known);
            for turn in 0..2 {
                let answer = server.send(&request);
                assert_eq!(answer.status, 401, "{what}, asked {turn} times before: {}", answer.text);
            }
        }
        assert!(server.log().lines().filter(|line| line.contains("token_refused")).count() >= several);
    }

    /// Nobody waits for the rest of what somebody sends who is nobody any more.
    fn whoever_was_put_out_is_not_waited_for(server) {
        let server = &Server::start(server.engine, Options::default()).unwrap();
        let company = server.company();
        let out = remembered(&company);
        log_out(&out);
        let whole = out.request(Dialect::B, "POST", "parties", "").json(&party()).bytes("close");
        let mut stream = connect(server.address);
        stream.write_all(&whole[..whole.len() - 5]).unwrap();
        let answer = Answer::read(&mut stream, true);
        assert_eq!(answer.status, 401, "{}", answer.text);
    }

    /// Whoever has a token of an ended session takes nothing from whom it was.
    fn whoever_was_put_out_uses_up_nothing_of_whom_they_were(server) {
        let custom = Some(r#"{"Limits": {"RequestsPerMinute": 30}}"#.to_owned());
        let server = &Server::start(server.engine, Options { custom, ..Options::default() }).unwrap();
        let company = server.company();
        let out = remembered(&company);
        log_out(&out);
        for _ in 0..40 {
            let asked = out.request(Dialect::B, "POST", "parties", "").text("text/plain", "hello");
            assert_eq!(server.send(&asked).status, 401);
        }
        company.ask(Dialect::B, "POST", "parties", "", Some(&party())).expect(201);
    }

    fn what_starts_over_is_counted_once(server) {
        let server = &Server::start(server.engine, Options::default()).unwrap();
        let company = server.company();
        let known = remembered(&company);
        let make = || {
            let request = known.request(Dialect::B, "POST", "parties", "").header("User-Agent", "counted");
            server.send(&request.json(&party())).expect(201);
        };
        for _ in 0..5 {
            make();
            // Who may do what changes elsewhere.
            server.company();
            make();
        }
        let told = company.say(Dialect::B, company.request_at(Dialect::B, "GET", "dialect-usage")).expect(200).data;
        let counted = told["items"].as_array().unwrap().iter().find(|one| one["agent"] == "counted").unwrap();
        assert_eq!(counted["calls"], 10, "{counted}");
    }
}

/// What a batch goes by it asked as it began. Whoever came after that may have been put out meanwhile, and is asked for.
#[test]
fn who_comes_into_a_batch_is_judged_by_what_was_asked_after_they_came() {
    let Some(server) = Server::start(Engine::Postgres, Options::default()) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let [holder, looker] = [(), ()].map(|()| runtime.block_on(connected(server.database_url())).unwrap());
    let run = |sql: &str| {
        let done = runtime.block_on(holder.execute_unprepared(sql));
        done.unwrap_or_else(|error| panic!("{sql}: {error}"));
    };
    let waits = || {
        let sql = "SELECT count(*) AS waiting FROM pg_locks WHERE NOT granted AND relation = 'accounts'::regclass";
        let row = runtime.block_on(looker.query_one_raw(Statement::from_string(looker.get_database_backend(), sql)));
        row.unwrap().unwrap().try_get::<i64>("", "waiting").unwrap() > 0
    };
    for _ in 0..6 {
        let company = server.company();
        let journal = company.journal_body("2026-03-05", &[("6200", "10"), ("1010", "-10")]);
        let known = remembered(&company);
        let request = known.request(Dialect::B, "POST", "parties", "").json(&party());
        let before = parties(&company);
        run("BEGIN; LOCK TABLE accounts IN ACCESS EXCLUSIVE MODE");
        let answer = std::thread::scope(|scope| {
            let held = scope.spawn(|| company.post_journal(&journal).expect(201));
            eventually("a batch that waits", || waits().then_some(()));
            log_out(&known);
            let mut stream = connect(server.address);
            stream.write_all(&request.bytes("close")).unwrap();
            // By the time that somebody else is answered, it is on its way to the lane.
            server.send(&Request::new("GET", "/healthz")).expect(200);
            run("COMMIT");
            let answer = Answer::read(&mut stream, true);
            held.join().unwrap();
            answer
        });
        assert_eq!(answer.status, 401, "{}", answer.text);
        assert_eq!(parties(&company), before);
    }
}
