//! Posting, beside the bare server: by one client and by many, of one company and of several.

use crate::Result;
use crate::bare;
use crate::client::request;
use crate::figures::{Figure, Figures, Target};
use crate::limit::Limit;
use crate::load::{Asked, Subject, in_turns};
use crate::place::{Place, Server};
use crate::shop::Shop;
use clap::Args;
use std::time::Duration;

/// How long, and how often.
#[derive(Args, Clone)]
pub(crate) struct Turns {
    /// Seconds of each turn
    #[arg(long, default_value_t = 4)]
    pub(crate) seconds: u64,
    /// Turns of each; the middle one counts
    #[arg(long, default_value_t = 5)]
    pub(crate) turns: usize,
}

/// Clients, and what their rate is to be beside the bare server's on each engine, in hundredths.
const TARGETS: [(usize, u64, u64); 3] = [(1, 50, 40), (32, 30, 30), (128, 25, 20)];
/// What an invoice may cost of the server's time, beside the bare server's.
const COST: u64 = 450;

pub(crate) async fn run(place: &Place, turns: &Turns, figures: &mut Figures) -> Result<()> {
    let server = Server::start(&place.fresh("posts").await?).await?;
    let limit = Limit::start(&place.fresh("limit").await?)?;
    let mut shops = Vec::new();
    for number in 0..8 {
        shops.push(Shop::open(&server, &format!("Company {number}")).await?);
    }
    let [first, ..] = shops.as_slice() else { return Err("there is no company".into()) };
    let bare = request("POST", "/1/sales", Some(&bare::token()?), None, &Limit::body());
    let bare = (Subject { address: limit.address, process: limit.process() }, Asked::of(vec![bare], 201));
    let (subject, length) = (server.subject(), Duration::from_secs(turns.seconds));
    // Both have their caches and the engine its plans.
    crate::load::turn(subject, &first.posts(&server), 32, length).await?;
    for (clients, on_sqlite, on_postgres) in TARGETS {
        let pair = [(subject, first.posts(&server)), bare.clone()];
        let seen = in_turns(&pair, clients, length, turns.turns).await?;
        let [ours, theirs] = seen.as_slice() else { return Err("two are measured".into()) };
        let told = format!(
            "p50 {} and {} us, p99 {} and {} us, CPU {} and {} us an invoice",
            ours.p50, theirs.p50, ours.p99, theirs.p99, ours.spent, theirs.spent
        );
        let figure = |what: String, unit, ours, theirs, target, told| Figure {
            engine: place.engine(),
            what,
            unit,
            ours,
            beside: Some(("bare server", theirs)),
            target,
            told,
        };
        let least = if place.is_postgres() { on_postgres } else { on_sqlite };
        let what = format!("invoices posted, clients: {clients}");
        figures.add(figure(what, "a second", ours.rate, theirs.rate, Target::AtLeast(least), told));
        if clients == 32 {
            let what = "the server's time for an invoice, clients: 32".to_owned();
            figures.add(figure(what, "us", ours.spent, theirs.spent, Target::AtMost(COST), String::new()));
        }
    }
    // Others in between: each client goes from company to company.
    let many: Vec<Vec<u8>> = shops.iter().flat_map(|shop| shop.posts(&server).requests.to_vec()).collect();
    let pair = [(subject, Asked::of(many, 201)), (subject, first.posts(&server))];
    let seen = in_turns(&pair, 32, length, turns.turns).await?;
    if let [eight, one] = seen.as_slice() {
        figures.add(Figure {
            engine: place.engine(),
            what: "invoices posted in eight companies, clients: 32".into(),
            unit: "a second",
            ours: eight.rate,
            beside: Some(("in one", one.rate)),
            target: Target::AtLeast(if place.is_postgres() { 200 } else { 90 }),
            told: format!("p99 {} and {} us", eight.p99, one.p99),
        });
    }
    drop(limit);
    if server.stop_and_verify()? { Ok(()) } else { Err("the books are not whole".into()) }
}
