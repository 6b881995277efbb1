//! Balances of all accounts from the rollups: a company of many lines beside one of few.

use crate::Result;
use crate::client::{Connection, request};
use crate::journals::{median, ratio, write};
use crate::place::{Place, Server, say};
use crate::rows::{Company, clock};
use ledger_core::ids::{BusinessId, RecordId, UserId};
use std::time::Instant;

const ROUNDS: usize = 41;

pub(crate) async fn run(place: &Place, lines: usize, few: usize) -> Result<()> {
    let database = place.fresh("balances").await?;
    let server = Server::start(&database).await?;
    let raw = Place::open(&database).await?;
    let clock = clock();
    let mut companies = Vec::new();
    for (name, wanted) in [("Few lines", few), ("Many lines", lines)] {
        let (id, accounts) = server.company(name).await?;
        let parse = |text: &String| RecordId::parse(text).ok_or("no identifier");
        let company = Company {
            id: BusinessId::parse(&id).ok_or("no identifier")?,
            accounts: accounts.iter().map(parse).collect::<std::result::Result<_, _>>()?,
            user: UserId::default(),
        };
        let journals = wanted.div_ceil(6);
        for begin in (0..journals).step_by(500) {
            // All days of a year, evenly.
            let turns: Vec<usize> = (begin..journals.min(begin + 500)).map(|turn| turn * 336 / journals).collect();
            write(&raw, &company, &clock, &turns).await?;
        }
        companies.push(id);
    }
    say(&format!("{}: all balances of a company, microseconds, median of {ROUNDS} turns", place.engine()));
    say(&format!("what                                {few:>9} lines {lines:>9} lines   ratio"));
    for (what, path) in [
        ("trial balance, now", "/b/api/accounts?pageSize=500"),
        ("trial balance, 17 August", "/b/api/accounts?pageSize=500&asOf=2026-08-17"),
        ("tree, 17 August", "/b/api/accounts/tree?asOf=2026-08-17"),
    ] {
        let mut taken = [Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            for (business, taken) in companies.iter().zip(&mut taken) {
                taken.push(once(&server, business, path).await?);
            }
        }
        let [of_few, of_many] = taken.map(median);
        say(&format!("{what:<34} {of_few:>16} {of_many:>16} {:>7}", ratio(of_many, of_few)));
    }
    Ok(())
}

async fn once(server: &Server, business: &str, path: &str) -> Result<usize> {
    let mut connection = Connection::open(server.address).await?;
    let asked = request("GET", path, Some(&server.token), Some(business), "");
    let begun = Instant::now();
    let answer = connection.send(&asked).await?;
    let taken = begun.elapsed();
    if answer.status != 200 {
        return Err(String::from_utf8_lossy(&answer.body).into_owned().into());
    }
    Ok(usize::try_from(taken.as_micros())?)
}
