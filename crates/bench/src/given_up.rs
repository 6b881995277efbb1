//! Those who ask for what is dear and go away: others are served beside them, and nothing of it goes on.

use crate::Result;
use crate::client::Connection;
use crate::figures::{Figure, Figures, Target};
use crate::load::{Asked, TICKS, ticks, turn};
use crate::place::{Place, Server};
use crate::scale::{self, Size};
use crate::shop::Shop;
use std::time::{Duration, Instant};

/// So many ask for what is dear.
const ASKING: usize = 10;
/// How long each of them waits.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long a turn is.
const LENGTH: Duration = Duration::from_secs(6);
/// Who posts meanwhile.
const POSTING: usize = 32;

/// What reads all there is, or most of it.
const DEAR: [&str; 4] = [
    "verify",
    "audit-log/verify",
    "reports/day-book?from=2026-01-01&to=2026-12-31&pageSize=500",
    "reports/general-ledger?from=2026-01-01&to=2026-12-31&pageSize=500",
];

pub(crate) async fn run(place: &Place, size: &Size, figures: &mut Figures) -> Result<()> {
    let server = Server::start(&place.fresh("given_up").await?).await?;
    let shop = Shop::open(&server, "Large books").await?;
    scale::fill(&server, &shop, size).await?;
    seen(place, &server, &shop, figures).await?;
    if !server.stop_and_verify_one(&shop.id)? {
        return Err("the books are not whole".into());
    }
    Ok(())
}

/// Posting beside those who go away, and what is left of them.
pub(crate) async fn seen(place: &Place, server: &Server, shop: &Shop, figures: &mut Figures) -> Result<()> {
    let subject = server.subject();
    let quiet = turn(subject, &shop.posts(server), POSTING, LENGTH).await?;
    let leaving: Vec<_> = (0..ASKING)
        .map(|one| {
            let path = DEAR.get(one % DEAR.len()).copied().unwrap_or("verify");
            let asked = Asked::of(vec![shop.get(server, &format!("/b/api/{path}"))], 200);
            tokio::spawn(async move {
                let until = Instant::now() + LENGTH;
                while Instant::now() < until {
                    // The connection is dropped with it.
                    let one = turn(subject, &asked, 1, Duration::from_millis(1));
                    let _given_up = tokio::time::timeout(PATIENCE, one).await;
                }
            })
        })
        .collect();
    let beside = turn(subject, &shop.posts(server), POSTING, LENGTH).await?;
    for one in leaving {
        one.await?;
    }
    figures.add(Figure {
        engine: place.engine(),
        what: format!("posts beside {ASKING} who ask for what is dear and give up"),
        unit: "a second",
        ours: beside.rate,
        beside: Some(("in quiet", quiet.rate)),
        target: Target::AtLeast(80),
        told: format!("p99 {} and {} us", beside.p99, quiet.p99),
    });
    let alone = |what: &str, unit, ours, most| Figure::alone(place.engine(), what, unit, ours, most);
    // As many as there are places for what is dear, and more: all of them are free.
    let begun = Instant::now();
    for _ in 0..ASKING {
        let mut connection = Connection::open(server.address).await?;
        let path = "/b/api/reports/trial-balance?from=2026-02-03&to=2026-11-07";
        let answer = connection.send(&shop.get(server, path)).await?;
        if answer.status != 200 {
            return Err(String::from_utf8_lossy(&answer.body).into_owned().into());
        }
    }
    let took = u64::try_from(begun.elapsed().as_millis())?;
    figures.add(alone("ten reports once they have left", "ms", took, 1_000));
    // What was given up ends within a second; in the next one there is nothing to do.
    tokio::time::sleep(PATIENCE.saturating_sub(begun.elapsed())).await;
    let before = ticks(subject.process)?;
    tokio::time::sleep(PATIENCE).await;
    let spent = (ticks(subject.process)? - before) * 100 / TICKS;
    figures.add(alone("of a core, a second after they left", "%", spent, 10));
    Ok(())
}
