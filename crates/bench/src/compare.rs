//! Two programs side by side: the one of before and the one of now, the same questions in turns.

use crate::Result;
use crate::figures::{Figure, Figures, Target};
use crate::load::{Asked, Subject, in_turns, turn};
use crate::place::{Place, Server};
use crate::posts::Turns;
use crate::shop::Shop;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Args, Clone)]
pub(crate) struct Asking {
    /// The program of before
    old: PathBuf,
    /// The program of now
    new: PathBuf,
    /// Seconds of posting before anything is measured
    #[arg(long, default_value_t = 10)]
    fill: u64,
    /// What the new one is to reach of the old one's rate, in hundredths
    #[arg(long, default_value_t = 75)]
    least: u64,
    /// Only what is called like this, such as cash-flow
    #[arg(long)]
    only: Option<String>,
}

/// As long as it takes to ask for something once.
const ONCE: Duration = Duration::from_millis(1);

/// What is asked, by how many, of one of the servers.
struct Case {
    what: String,
    clients: usize,
    asked: fn(&Shop, &Server, &str) -> Asked,
    path: String,
}

fn cases() -> Vec<Case> {
    let posting = |what: &str, clients, asked| Case { what: what.to_owned(), clients, asked, path: String::new() };
    let reading = |what: &str, path: String| Case {
        what: what.to_owned(),
        clients: 8,
        asked: |shop, server, path| shop.reads(server, path),
        path,
    };
    let mut cases = vec![
        posting("post, clients: 1", 1, |shop, server, _| shop.posts(server)),
        posting("post, clients: 32", 32, |shop, server, _| shop.posts(server)),
        posting("post goods, clients: 8", 8, |shop, server, _| shop.posts_goods(server)),
        reading("get one", "sales-invoices/{first}".into()),
        reading("list 50", "sales-invoices?pageSize=50".into()),
    ];
    let span = "from=2026-01-01&to=2026-12-31";
    for report in ["trial-balance", "pl", "cash-flow", "tax-summary", "sales-by-customer", "general-ledger"] {
        cases.push(reading(report, format!("reports/{report}?{span}")));
    }
    for report in ["bs", "ar-aging"] {
        cases.push(reading(report, format!("reports/{report}?asOf=2026-12-31")));
    }
    cases
}

pub(crate) async fn run(place: &Place, asking: &Asking, turns: &Turns, figures: &mut Figures) -> Result<()> {
    let mut sides = Vec::new();
    let length = Duration::from_secs(turns.seconds);
    for (name, program) in [("new", &asking.new), ("old", &asking.old)] {
        let program = std::path::absolute(program)?;
        let server = Server::of(program, &place.fresh(&format!("compare_{name}")).await?).await?;
        let shop = Shop::open(&server, "Side by side").await?;
        turn(server.subject(), &shop.posts(&server), 32, Duration::from_secs(asking.fill)).await?;
        turn(server.subject(), &shop.posts_goods(&server), 8, length).await?;
        let listed = server.ask("GET", "/b/api/sales-invoices?pageSize=1", Some(&shop.id), "").await?;
        let first = listed["items"][0]["id"].as_str().ok_or("there is no invoice")?.to_owned();
        sides.push((server, shop, first));
    }
    for case in cases().into_iter().filter(|case| asking.only.as_ref().is_none_or(|only| case.what.contains(only))) {
        let subjects: Vec<(Subject, Asked)> = sides
            .iter()
            .map(|(server, shop, first)| {
                let path = format!("/b/api/{}", case.path.replace("{first}", first));
                (server.subject(), (case.asked)(shop, server, &path))
            })
            .collect();
        let [of_new, of_old] = subjects.as_slice() else { return Err("two are compared".into()) };
        // What the one of before could not answer, it does not answer at any rate.
        if let Err(refused) = turn(of_old.0, &of_old.1, 1, ONCE).await {
            let new = turn(of_new.0, &of_new.1, case.clients, length).await?;
            figures.add(Figure {
                engine: place.engine(),
                what: case.what,
                unit: "a second",
                ours: new.rate,
                beside: Some(("before", 0)),
                target: Target::AtLeast(asking.least),
                told: format!("p50 {} us, p99 {} us; the one of before says {refused}", new.p50, new.p99),
            });
            continue;
        }
        let seen = in_turns(&subjects, case.clients, length, turns.turns).await?;
        let [new, old] = seen.as_slice() else { return Err("two are compared".into()) };
        figures.add(Figure {
            engine: place.engine(),
            what: case.what,
            unit: "a second",
            ours: new.rate,
            beside: Some(("before", old.rate)),
            target: Target::AtLeast(asking.least),
            told: format!(
                "p50 {} and {} us, p99 {} and {} us, CPU {} and {} us each",
                new.p50, old.p50, new.p99, old.p99, new.spent, old.spent
            ),
        });
    }
    for (server, _, _) in sides {
        let name = server.program().display().to_string();
        if !server.stop_and_verify()? {
            return Err(format!("the books of {name} are not whole").into());
        }
    }
    Ok(())
}
