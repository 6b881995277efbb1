//! Balances of all accounts from the rollups: a company of many lines beside one of few.

use crate::Result;
use crate::client::{Connection, request};
use crate::journals::{median, ratio, write};
use crate::place::{Place, Raw, Server, say};
use crate::rows::{Company, clock};
use ledger_core::books::tables::entry_lines;
use ledger_core::ids::{BusinessId, RecordId, UserId};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, ConnectionTrait, QueryFilter, QuerySelect};
use std::time::Instant;

const ROUNDS: usize = 41;

/// A company of few lines and one of many, with as many invoices open in each.
async fn companies(place: &Place, server: &Server, raw: &Raw, sizes: [usize; 2]) -> Result<Vec<String>> {
    let clock = clock();
    let mut companies = Vec::new();
    for (name, wanted) in ["Few lines", "Many lines"].into_iter().zip(sizes) {
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
            write(raw, &company, &clock, &turns).await?;
        }
        if place.engine().starts_with("PostgreSQL") {
            let turn = raw.turn().await?;
            turn.session.execute_unprepared("ANALYZE").await?;
            turn.keep().await?;
        }
        let party = server.ask("POST", "/b/api/parties", Some(&id), r#"{"name":"Customer","isCustomer":true}"#).await?;
        for month in 1..=12 {
            for day in [3, 9, 17, 24, 28] {
                let body = serde_json::json!({
                    "date": format!("2026-{month:02}-{day:02}"), "partyId": party["id"], "lines": [{"unitPrice": 100 + day}]
                });
                server.ask("POST", "/b/api/sales-invoices", Some(&id), &body.to_string()).await?;
            }
        }
        companies.push(id);
    }
    Ok(companies)
}

pub(crate) async fn run(place: &Place, lines: usize, few: usize) -> Result<()> {
    let database = place.fresh("balances").await?;
    let server = Server::start(&database).await?;
    let raw = Place::open(&database).await?;
    let companies = companies(place, &server, &raw, [few, lines]).await?;
    say(&format!("{}: all balances of a company, microseconds, median of {ROUNDS} turns", place.engine()));
    say(&format!("what                                {few:>9} lines {lines:>9} lines   ratio"));
    for (what, path) in [
        ("trial balance, now", "/b/api/accounts?pageSize=500"),
        ("trial balance, 17 August", "/b/api/accounts?pageSize=500&asOf=2026-08-17"),
        ("tree, 17 August", "/b/api/accounts/tree?asOf=2026-08-17"),
    ] {
        let [of_few, of_many] = both(&server, &companies, path).await?;
        say(&format!("{what:<34} {of_few:>16} {of_many:>16} {:>7}", ratio(of_many, of_few)));
    }
    Ok(())
}

/// How long a question takes of both companies, in turns.
async fn both(server: &Server, companies: &[String], path: &str) -> Result<[usize; 2]> {
    let mut taken = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for (business, taken) in companies.iter().zip(&mut taken) {
            taken.push(once(server, business, path).await?);
        }
    }
    Ok(taken.map(median))
}

/// Reports over many lines beside the same over few, and beside the sum of the lines themselves.
pub(crate) async fn reports(place: &Place, lines: usize, few: usize) -> Result<()> {
    let database = place.fresh("reports").await?;
    let server = Server::start(&database).await?;
    let raw = Place::open(&database).await?;
    let companies = companies(place, &server, &raw, [few, lines]).await?;
    let mut summed = Vec::new();
    for _ in 0..5 {
        let large = BusinessId::parse(&companies[1]).ok_or("no identifier")?;
        let begun = Instant::now();
        let sums: Vec<(RecordId, i64)> = entry_lines::Entity::find()
            .select_only()
            .column(entry_lines::Column::AccountId)
            .column_as(Expr::cust("CAST(SUM(amount) AS BIGINT)"), "amount")
            .filter(entry_lines::Column::BusinessId.eq(large))
            .group_by(entry_lines::Column::AccountId)
            .into_tuple()
            .all(&raw.turn().await?.session)
            .await?;
        let taken = usize::try_from(begun.elapsed().as_micros())?;
        if sums.is_empty() {
            return Err("there are no lines".into());
        }
        summed.push(taken);
    }
    let summed = median(summed);
    say(&format!("{}: reports over HTTP, microseconds, median of {ROUNDS} turns", place.engine()));
    say(&format!("SELECT account, SUM(amount) over {lines} lines: {summed}"));
    say(&format!("report                              {few:>9} lines {lines:>9} lines   ratio   sum/report"));
    for path in ["trial-balance?to=2026-08-17", "pl?to=2026-08-17", "bs?asOf=2026-08-17", "ar-aging?asOf=2026-08-17"] {
        let [of_few, of_many] = both(&server, &companies, &format!("/b/api/reports/{path}")).await?;
        let (more, beside) = (ratio(of_many, of_few), ratio(summed, of_many));
        say(&format!("{path:<34} {of_few:>16} {of_many:>16} {more:>7} {beside:>12}"));
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
