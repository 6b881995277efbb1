//! Log-ins that fail: whether the time that they take tells who is there.

use crate::Result;
use crate::client::Connection;
use crate::place::{Place, Server, say};
use serde_json::json;
use std::time::{Duration, Instant};

/// People of each kind, and how often each is tried: fewer times than are forgiven.
const PEOPLE: usize = 12;
const TRIES: usize = 8;

const KINDS: [&str; 4] = ["unknown", "active", "disabled", "invited"];

pub(crate) async fn run(place: &Place) -> Result<()> {
    let database = place.fresh("logins").await?;
    let server = Server::start(&database).await?;
    let (company, _) = server.company("Logins").await?;
    let sets = server.ask("GET", "/b/api/permissions?role=sales", Some(&company), "").await?;
    for kind in &KINDS[1..] {
        for number in 0..PEOPLE {
            let mut body = json!({
                "email": name(kind, number), "displayName": kind, "status": kind,
                "memberships": [{"permissionId": sets["items"][0]["id"]}]
            });
            if *kind != "invited" {
                body["password"] = "a password that nobody guesses".into();
            }
            server.ask("POST", "/b/api/users", Some(&company), &body.to_string()).await?;
        }
    }
    let mut times: [Vec<Duration>; 4] = Default::default();
    let mut connection = Connection::open(server.address).await?;
    for turn in 0..PEOPLE * TRIES {
        for (place, kind) in KINDS.iter().enumerate() {
            // From another address each time, or the address would be slowed down.
            let (address, number) = (turn * KINDS.len() + place, turn % PEOPLE);
            let body = json!({"email": name(kind, number), "password": "not the password"}).to_string();
            let request = format!(
                "POST /b/api/auth/login HTTP/1.1\r\nHost: bench\r\nX-Forwarded-For: 10.0.{}.{}\r\n\
                 Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                address / 250,
                address % 250,
                body.len()
            );
            let begun = Instant::now();
            let answer = connection.send(request.as_bytes()).await?;
            times[place].push(begun.elapsed());
            if answer.status != 401 {
                return Err(format!("{kind}: {}", answer.status).into());
            }
        }
    }
    let medians = times.map(|mut times| {
        times.sort();
        times.get(times.len() / 2).copied().unwrap_or_default()
    });
    say(&format!("{}: log-ins that fail, {} of each kind in turns, medians", place.engine(), PEOPLE * TRIES));
    for (kind, median) in KINDS.iter().zip(medians) {
        let beside = median.as_micros() * 1000 / medians[0].as_micros().max(1);
        say(&format!("{kind:>10} {:>8} us   {}.{:03} x unknown", median.as_micros(), beside / 1000, beside % 1000));
    }
    Ok(())
}

fn name(kind: &str, number: usize) -> String {
    format!("{kind}-{number}@example.test")
}
