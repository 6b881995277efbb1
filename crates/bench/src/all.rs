//! Every figure, each beside its limit in the same run, on both engines.

use crate::cluster::Cluster;
use crate::figures::{Figure, Figures};
use crate::load::megabytes;
use crate::place::{Place, Server};
use crate::posts::Turns;
use crate::scale::Size;
use crate::{Result, bytes, far, posts, scale};
use clap::Args;
use std::path::PathBuf;
use std::time::{Duration, Instant};

#[derive(Args, Clone)]
pub(crate) struct Asking {
    #[command(flatten)]
    turns: Turns,
    #[command(flatten)]
    size: Size,
    /// Where all of it is written for programs
    #[arg(long, value_name = "FILE", default_value = "bench.json")]
    pub(crate) json: PathBuf,
}

pub(crate) async fn run(place: &Place, asking: &Asking, figures: &mut Figures) -> Result<()> {
    on(place, asking, figures).await?;
    if place.is_postgres() {
        return Ok(());
    }
    if let Some(cluster) = Cluster::start(place.folder()).await? {
        let place = place.on_postgres(cluster.url());
        let done = on(&place, asking, figures).await;
        place.clear().await?;
        done?;
    }
    Ok(())
}

async fn on(place: &Place, asking: &Asking, figures: &mut Figures) -> Result<()> {
    at_rest(place, figures).await?;
    posts::run(place, &asking.turns, figures).await?;
    if place.is_postgres() {
        far::run(place, &asking.turns, figures).await?;
    }
    figures.add(bytes::figure(place, &bytes::Asked::of_three_lines()).await?);
    scale::run(place, &asking.size, figures).await
}

/// What a server takes that has nothing to do, and how soon it answers.
async fn at_rest(place: &Place, figures: &mut Figures) -> Result<()> {
    let database = place.fresh("rest").await?;
    let stopped = Server::start(&database).await?.stopped();
    let begun = Instant::now();
    let server = stopped.start().await?;
    let started = u64::try_from(begun.elapsed().as_millis())?;
    let figure = |what: &str, unit, ours, most, told: &str| Figure {
        told: told.to_owned(),
        ..Figure::alone(place.engine(), what, unit, ours, most)
    };
    figures.add(figure("start to the first log-in answered", "ms", started, 100, "with the hash of a password"));
    for path in ["/swagger/v1/swagger.json", "/swagger/a/swagger.json", "/swagger/b/swagger.json", "/moving"] {
        let mut connection = crate::client::Connection::open(server.address).await?;
        let answer = connection.send(&crate::client::request("GET", path, None, None, "")).await?;
        if answer.status != 200 {
            return Err(format!("{path}: {}", answer.status).into());
        }
    }
    // What was used to make them is given back soon.
    tokio::time::sleep(Duration::from_secs(1)).await;
    figures.add(figure("memory at rest, all documents read", "MB", megabytes(server.subject().process)?, 64, ""));
    Ok(())
}
